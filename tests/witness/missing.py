#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a file lacks: missing has a row for each thing that is in no host of the run, and for no
other, and what it calls empty is empty."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from compare import Run, agree, ask, in_parts, main, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from program_flops import are_operations_unknown  # noqa: E402

OF_NVIDIA = {'hardware counters', 'power, temperature and clocks of GPUs'}  # no profiler of AMD's
COLUMNS = {}
for r in ask('SELECT table_name AS t, "column" AS c FROM prof_columns'):
    COLUMNS.setdefault(r['t'], set()).add(r['c'])
# Not empty if the information is missing, because they also show other things.
PARTLY = {'steps', 'device_time', 'stragglers', 'idle_causes', 'tf_functions', 'compilations',
          'roofline', 'mfu',
          'recompilations', 'hlo_ops.bound_by', 'peak_holders', 'collectives.global_wait_ps',
          'collectives.wait_ps', 'input_pipeline', 'input_bound', 'mfu.mfu_percent',
          'hosts.start_unix_ns', 'devices.peak_flops_per_second', 'hlo_ops.flops_actual',
          'program_runs', 'collectives', 'host_steps'}


def rows(run, sql):
    return run.ask('SELECT count(*) AS n FROM ' + sql)[0]['n']


def facts(run):
    """{what can be missing: whether it is}"""
    events = [e for planes in run.hosts.values() for p in planes if p.kind == 'host'
              for line in p.lines for e in line.events]
    has = {name: rows(run, sql) > 0 for name, sql in {
        'work': 'device_time({x}) WHERE busy_ps IS NOT NULL',
        'steps': 'host_steps({x}) WHERE step IS NOT NULL',
        'gpu': "device_time({x}) WHERE busy_ps IS NOT NULL AND kind = 'gpu'",
        'programs': 'hlo_modules({x})', 'plans': 'memory_peaks({x})',
        'instructions': 'hlo_instructions({x})', 'scopes': 'hlo_instructions({x}) WHERE tf_op <> 0',
        'lines': 'hlo_instructions({x}) WHERE source_file <> 0',
        'allocators': 'memory_events({x})', 'counters': 'perf_counters({x})',
        'gpu counters': "gpu_counters({x}) WHERE name GLOB '*__*'",
        'allocations': "memory_events({x}) WHERE activity = 'ALLOCATION'",
        'names': "memory_events({x}) WHERE activity = 'ALLOCATION' AND tf_op <> '(null)'",
        'samples': 'gpu_samples({x})', 'launches': 'launch_delays({x})',
        'waits': 'collectives({x}) WHERE wait_ps IS NOT NULL '
        'OR global_wait_ps IS NOT NULL', 'collectives': 'collectives({x})',
        'flops': 'program_flops({x}) WHERE model_flops > 0',
        'no peak': 'devices({x}) WHERE peak_flops_per_second IS NULL',
        'no start': 'hosts({x}) WHERE start_unix_ns IS NULL'}.items()}
    frames = any(e.name.startswith('$') for e in events)
    return {'events of host threads': not events, 'work of devices': not has['work'],
            'Python frames': bool(events) and not frames, 'marks of steps': not has['steps'],
            'HLO programs': not has['programs'],
            'memory plans of programs (buffer assignment)': has['programs'] and not has['plans'],
            'source lines of HLO instructions': has['instructions'] and not has['lines'],
            'names of framework ops (scopes) in programs':
                has['instructions'] and not has['scopes'],
            'events of allocators': not has['allocators'],
            'names of what allocated the memory': has['allocations'] and not has['names'],
            'hardware counters': has['work'] and not (has['counters']
                                                   or has['gpu counters']),
            'power, temperature and clocks of GPUs': has['gpu'] and not has['samples'],
            'launches of GPU work (correlation ids on host threads)':
                has['gpu'] and not has['launches'],
            'FLOPs of ops that ran on devices': has['work'] and (
                not has['flops'] or are_operations_unknown(run)),
            'peak rates of the devices': has['work'] and has['no peak'],
            "devices of a collective's group": has['collectives'] and not has['waits'],
            'time of day at which the capture started': has['no start']}


def is_empty(run, name):
    table, _, column = name.partition('.')
    # some profilers write '(null)' for a name that they do not have
    where = ' WHERE nullif("%s", \'(null)\') IS NOT NULL' % column if column else ''
    return not rows(run, '%s({x})%s' % (table, where))


def missing(run):
    got = run.ask('SELECT * FROM missing({x})')
    want = facts(run)
    vendors = {d['vendor'] for d in run.ask('SELECT vendor FROM devices({x})')}
    agree('missing', sorted(r['missing'] for r in got), sorted(k for k, v in want.items() if v))
    for r in got:
        names = r['tables'].split(', ')
        agree('tables and columns of %s' % r['missing'], [
            n for n in names if n.partition('.')[0] not in COLUMNS
            or '.' in n and n.partition('.')[2] not in COLUMNS[n.partition('.')[0]]], [])
        agree('what is empty without ' + r['missing'],
              [n for n in names if n not in PARTLY and not is_empty(run, n)], [])
        in_parts(r['tables'])
        if r['missing'] in OF_NVIDIA and vendors in ({'AMD'}, {'Nvidia'}):
            agree('an option for %s' % r['missing'], r['option'] is None, vendors == {'AMD'})
            agree('words for %s' % r['missing'], 'amd-smi' in r['how'] or 'rocprof' in r['how'],
                  vendors == {'AMD'})
        agree('words', [r['cannot_answer'].endswith(('?', '.')), bool(r['how'])], [True, True])


def each(run):
    tried('missing ' + run.path, missing, run)


def made():
    """GPUs of both vendors."""
    for vendors in (['AMD'], ['Nvidia'], ['AMD', 'AMD']):
        gpus = [Plane('/device:GPU:%d' % i, i, stats={'device_vendor': {'str': vendor}}).line(
            1, 'Stream #1', [('kernel', 0, 9)]).bytes() for i, vendor in enumerate(vendors)]
        with tempfile.TemporaryDirectory() as top:
            path = os.path.join(top, 'h.xplane.pb')
            with open(path, 'wb') as f:
                f.write(space(*gpus))
            tried('missing of GPUs of ' + ', '.join(vendors), missing, Run(path, [path]))


if __name__ == '__main__':
    main(each, made)
