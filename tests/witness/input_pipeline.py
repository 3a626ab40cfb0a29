#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether runs wait for their input and idle: the actual columns of input_pipeline from the steps
of all cores, libprofsql's own recommendations from device_time and these steps, and the section and
severity of all recommendations from the verdicts.
tests/witness/activities.py, steps.py and device_time.py compute the rows that this starts from."""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, in_parts, main, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

PARTS = {'input': 'input', 'output': 'output', 'compute': 'device_compute',
         'kernel_launch': 'kernel_launch', 'collectives': 'device_collectives',
         'all_others': 'all_others'}


def complete_steps(run):
    return run.ask('SELECT * FROM core_steps({x}) WHERE NOT dropped')


def shares(run, cores, is_tpu):
    length = sum(r['total_us'] for r in cores)
    percents = {}
    for name, column in PARTS.items():
        known = [r[column + '_us_actual'] for r in cores]
        of_tpu = is_tpu and name in ('kernel_launch', 'all_others')
        percents[name] = None if not length or of_tpu or None in known else 100 * sum(
            known) / length
    return percents


def actual(run):
    got = run.ask('SELECT * FROM input_pipeline({x})')
    cores = complete_steps(run)
    if not got:
        agree('steps', cores, [])
        return
    got = got[0]
    is_tpu = got['hardware'] == 'TPU'
    want = shares(run, cores, is_tpu)
    agree('shares', {n: got[n + '_percent_actual'] for n in want}, want, abs_tol=1e-6)
    steps = run.ask('SELECT count(*) AS n FROM steps({x}) WHERE NOT dropped')[0]['n']
    agree('steps', got['step_count_actual'], steps)
    share, others = got['input_percent_actual'], got['all_others_percent_actual'] or 0
    marked = any(r['outside_xprof'] for r in cores)  # around them is Python that no thread shows
    verdict = 'unknown' if share is None else 'host' if share >= 20 else 'both' if share >= 5 or (
        others >= 3 and not marked) else 'device'
    agree('verdict at %s and %s' % (share, others), got['input_verdict_actual'], verdict)
    launch = got['kernel_launch_percent_actual']
    agree('launch', got['kernel_launch_verdict_actual'], None if launch is None else 'high'
          if launch >= 15 else 'moderate' if launch >= 3 else 'no')


NEXT = {'unknown': 'Record complete steps', 'device': 'The input pipeline needs no further',
        'ops': 'Query input_ops', 'no ops': 'The trace shows no tf.data pipeline'}
TF_DATA = ('Demanded file read', 'Advanced file read', 'Preprocessing')


def next_step(run):
    ops = [o for o in run.ask('SELECT category, self_ps FROM input_ops({x})')
           if o['category'] in TF_DATA and o['self_ps'] > 0]
    for r in run.ask('SELECT next_step, input_verdict_actual AS verdict FROM input_pipeline({x})'):
        said = [k for k, text in NEXT.items() if r['next_step'].startswith(text)]
        agree('next step', said, [r['verdict'] if r['verdict'] in NEXT else
                                  'ops' if ops else 'no ops'])
        in_parts(r['next_step'])


FINDINGS = {'input': (5, 20), 'output': (5, 20), 'kernel_launch': (3, 15), 'all_others': (3, 15),
            'collectives': (3, 15)}  # percents from which they are moderate and high
OF_XPROF = ('precision_16bit', 'tf_function', 'eager_host', 'eager_device', 'outside_compilation')


def section_of(r):
    """The page that shows a recommendation."""
    if r['code'].endswith('Rule'):
        return 'smart_suggestion' if r['code'] == 'BarrierCoresRule' else 'more_suggestions'
    if r['code'] in ('device_idle', 'compilation'):
        return 'libprofsql'
    is_finding = r['code'] in (*FINDINGS, *OF_XPROF, 'idle')
    return 'overview_page' if is_finding or r['tip_type'] else 'input_pipeline_analyzer'


def severity_of(code, pipeline):
    if code.endswith('Rule') or code in (*OF_XPROF, 'device_idle', 'compilation'):
        return 'warning'
    if code == 'idle' or (code == 'collectives' and pipeline['hardware'] == 'TPU'):
        return 'error'
    if code == 'input':
        return {'host': 'error', 'both': 'warning'}.get(pipeline['input_verdict_actual'], 'info')
    if code not in FINDINGS:
        return 'info'
    moderate, high = FINDINGS[code]
    share = pipeline[code + '_percent_actual']
    return 'error' if share >= high else 'warning' if share >= moderate else None


def sections(run):
    pipeline = run.ask('SELECT * FROM input_pipeline({x})')
    for r in run.ask('SELECT code, tip_type, section, severity FROM recommendations({x})'):
        agree(r['code'], [r['section'], r['severity']], [
            section_of(r), severity_of(r['code'], pipeline[0] if pipeline else {})])


def own(run, code, pattern):
    """The numbers in the text of a recommendation of libprofsql's own, and None without it."""
    rows = run.ask("SELECT statement FROM recommendations({x}) WHERE section = 'libprofsql' "
                   "AND code = '%s'" % code)
    agree('at most one', len(rows) <= 1, True)
    return [float(x) for x in re.match(pattern, rows[0]['statement']).groups()] if rows else None


def device_idle(run):
    """The main devices' idle time is at least half of their spans."""
    got = own(run, 'device_idle', r'Devices are idle for ([0-9.]+)% .* \((\d+) devices with work\)')
    devices = run.ask('SELECT span_ps, idle_ps FROM device_time({x}) WHERE is_main AND span_ps > 0')
    idle = 100 * sum(d['idle_ps'] for d in devices) / sum(d['span_ps']
                                                          for d in devices) if devices else 0
    agree('idle %s' % idle, got and got[1:], [len(devices)] if idle >= 50 else None)
    if got:
        agree('percent', got[0], idle, abs_tol=0.0501)


def compilation(run):
    """Of all steps, dropped ones too; a step compiles as long as its core that does so the
    longest."""
    got = own(run, 'compilation', r'Programs are compiled in (\d+) of (\d+) steps, for ([0-9.]+) '
              r'ms \(([0-9.]+)%.*starts at (-?[0-9.]+) ms compiles longest: ([0-9.]+) ms')
    steps = {}
    for r in run.ask('SELECT * FROM core_steps({x})'):
        key = r['pod_step'] if r['step'] is None else r['step']
        length, compiling, start = steps.get(key, (0, 0, 0))
        own_us = r['compilation_us_actual'] or 0
        steps[key] = (max(length, r['total_us']), max(compiling, own_us),
                      r['start_ps'] if length == 0 else start)
    total, length = sum(s[1] for s in steps.values()) / 1e3, sum(s[0] for s in steps.values()) / 1e3
    if not total or total < 0.05 * length:
        agree('compiling %s of %s ms' % (total, length), got, None)
        return
    longest = max(s[1] for s in steps.values())
    want = [sum(s[1] > 0 for s in steps.values()), len(steps), total, 100 * total / length,
            got[4] if got else None, longest / 1e3]
    agree('compiling', got, want, abs_tol=0.0501)
    agree('its start',
          any(abs(s[2] / 1e9 - got[4]) < 0.000501 for s in steps.values() if s[1] == longest), True)


def compiling_steps(folder, lengths):
    """A run of steps of 100 us each, which compile for so many microseconds."""
    events = []
    for i, length in enumerate(lengths):
        events += [('train', i * 10**8, 10**8 - 1, {'step_num': {'int64': i}, '_r': {'int64': 1}}),
                   ('work', i * 10**8 + 1, 9 * 10**7)]
        events += [('backend_compile', i * 10**8 + 2, length * 10**6)] if length else []
    path = os.path.join(folder, 'compiling_%s.xplane.pb' % '_'.join(map(str, lengths)))
    with open(path, 'wb') as f:
        f.write(space(Plane('/host:CPU').line(5, 'main', events).bytes()))
    return Run(path, [path])


def made_compiling(made):
    compilation(made)
    told = made.ask("SELECT count(*) AS n FROM recommendations({x}) "
                    "WHERE code = 'compilation'")[0]['n']
    lengths = [int(x) for x in re.findall('_([0-9]+)', os.path.basename(made.path))]
    agree('told of %s' % lengths, told, int(sum(lengths) >= 5 * len(lengths)))


def each(run):
    for check in (actual, next_step, sections, device_idle, compilation):
        tried('%s %s' % (check.__name__, run.path), check, run)


def made():
    with tempfile.TemporaryDirectory() as top:
        for lengths in ([10, 0], [0, 19, 0, 0], [12, 0, 9, 0], [20, 0, 0],
                        [60, 3, 2, 1, 1, 20, 4, 4]):
            tried('compilation in made steps', made_compiling, compiling_steps(top, lengths))


if __name__ == '__main__':
    main(each, made)
