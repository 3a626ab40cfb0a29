#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries that rank, filter, sum or pair the rows of tables which are compared elsewhere
(tests/parity, other witnesses): top_hlo_ops, top_wasted, eager_ops, tensorcore_missed, input_bound,
gpu_samples, mfu, async_op_totals and time_by_pass. Each starts from all rows of such a table and
works the answer out in Python."""
import collections
import math
import os
import random
import re
import sys
import tempfile
import types

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, agree_one_of, in_parts, main, seeds, tried  # noqa: E402
from device_time import COMPUTE, kind_of_op  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from program_flops import are_operations_unknown, programs_that_ran  # noqa: E402

ALL = 1000000000


def text_row(r, *columns):
    return tuple(r[c] for c in columns)


def percent(part, whole):
    return 100 * part / whole if whole else None


def rows_agree(what, got, want, **near):
    """Rows as a multiset: sorted by their texts and integers, then by rounded numbers."""
    def key(row):
        return repr([x for x in row if not isinstance(x, float)] + [round(x, 5) for x in row
                                                                    if isinstance(x, float)])
    agree(what, sorted(map(list, got), key=key), sorted(map(list, want), key=key), **near)


def ranked(what, rows, value):
    agree('ranks of ' + what, [r['rank'] for r in rows], list(range(1, len(rows) + 1)))
    agree('order of ' + what, [value(r) for r in rows], sorted(map(value, rows), reverse=True))


# ---- HLO ops ----

IN_CONTAINERS = ('while', 'call', 'conditional', 'megacore fusion')


def recorded(o):
    """An op of hlo_ops as the queries about ops show it."""
    moved = (o['hbm_bytes'] * o['occurrences_actual'] / o['occurrences'] if o['hbm_bytes']
             and o['occurrences'] else None) or o['bytes_accessed_actual']
    return {**o, 'n': o['occurrences_actual'], 'us': o['self_ps'] / 1e6,
            'event_us': o['event_self_ps'] / 1e6, 'total_us': o['total_time_us'],
            'done': o['flops_actual'], 'moved': moved,
            'is_recomputed': int(o['rematerialization'] == 'Yes')}


def of_an_instruction(i, key, module):
    """An op of a GPU or host thread that hlo_ops lacks; i: its instruction, None for a graph."""
    name = key[1]
    i = i or {'category': 'unknown', 'expression': '', 'tf_op': None}
    return {'program_id': key[0], 'hlo_op': name, 'hlo_module': module, 'category': i['category'],
            'core_type': '', 'n': None, 'us': 0, 'event_us': 0, 'total_us': 0, 'done': None,
            'moved': None, 'is_container': int(i['category'] in IN_CONTAINERS),
            'is_recomputed': int('.remat' in name
                                 or 'rematted_computation' in (i['tf_op'] or '')),
            'flops_utilization': None, 'hbm_utilization': None,
            'expression': i['expression'] or name}


def add(row, us, done=None, moved=None):
    """Adds time, operations and bytes that hlo_ops lacks."""
    for c, value in (('done', done), ('moved', moved)):
        row[c] = None if value is None and row[c] is None else (row[c] or 0) + (value or 0)
    for c in ('us', 'event_us', 'total_us'):
        row[c] += us


def add_graphs(kernels, row_of, instructions, scoped):
    for k in kernels:
        key = k['program_id'], k['hlo_op']
        row, i = row_of(key), instructions.get(key)
        if k['n'] is None or not i:
            add(row, k['us'])
        else:
            own = row.get('bytes_accessed_actual') or 0
            add(row, k['us'], i['flops_actual'] and i['flops_actual'] * k['n'],
                scoped[key]['bytes'] and scoped[key]['bytes'] - own)


def ops_of(run):
    """The ops of the devices: those of hlo_ops, with what it lacks of GPUs: kernels of CUDA graphs,
    and ops of programs that XLA refuses or the file does not contain. In a run without devices, the
    ops of host threads. Their use of the devices is worked out if these have the same peaks."""
    found = [recorded(o) for o in run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0')]
    kernels, ops = run.ask_all(
        'SELECT program_id, coalesce(hlo_op, graph) AS hlo_op, total(duration_ps) / 1e6 AS us, '
        'sum(is_execution) AS n FROM graph_kernels({x}) GROUP BY 1, 2',
        'SELECT program_id, hlo_op, max(hlo_module) AS hlo_module, total(self_us) AS us, '
        'sum(bytes_accessed) AS bytes, sum(coalesce(executions, occurrences)) AS n '
        'FROM scope_ops({x}) '
        "WHERE plane_kind IN ('gpu', 'host') AND hlo_op IS NOT NULL GROUP BY 1, 2")
    scoped = {(r['program_id'], r['hlo_op']): r for r in ops}
    found = [o for o in found if o['core_type'] or (o['program_id'], o['hlo_op']) in scoped]
    of_key = {(o['program_id'], o['hlo_op']): o for o in found}
    instructions = {(i['program_id'], i['hlo_op']): i for i in run.ask(
        'SELECT program_id, hlo_op, category, tf_op, expression, flops_actual '
        'FROM hlo_instructions({x})')} if ops else {}

    def row_of(key):
        if key not in of_key:
            of_key[key] = of_an_instruction(instructions.get(key), key, scoped[key]['hlo_module'])
            found.append(of_key[key])
        return of_key[key]
    add_graphs(kernels, row_of, instructions, scoped)
    for key, r in scoped.items():
        if key not in of_key or abs(r['us'] - of_key[key]['us']) > 1e-7:  # or of other programs
            add(row_of(key), r['us'] - row_of(key)['us'])
        of_key[key]['n'] = r['n']
    peaks = run.ask('SELECT DISTINCT peak_flops_per_second AS flops, peak_hbm_bytes_per_second '
                    'AS bytes FROM devices({x})')
    for row in found if len(peaks) == 1 and ops else ():
        for c, of, peak in (('flops', 'done', 'flops'), ('hbm', 'moved', 'bytes')):
            seconds = row['total_us'] / 1e6
            row[c + '_utilization'] = row[of] / seconds / peaks[0][peak] if row[
                of] and seconds and peaks[0][peak] else None
    return found


def kind_of(o):
    text = types.SimpleNamespace(stats={'hlo_category': o['category']}, name=o['expression']
                                 if ' = ' in o['expression'] else '', display=o['hlo_op'])
    if 'work_kind' in o:
        agree('kind of %s' % o['hlo_op'], o['work_kind'], kind_of_op(text))
    return kind_of_op(text)


def kinds_of_instructions(run):
    for i in run.ask('SELECT hlo_op, category, expression, work_kind FROM hlo_instructions({x})'):
        kind_of(i)


def bound_by(o):
    """On GPUs the larger of the two shares."""
    if o['core_type']:
        return o['bound_by']
    shares = [(o['flops_utilization'] or 0, 'Compute'), (o['hbm_utilization'] or 0, 'HBM')]
    return max(shares, key=lambda x: x[0])[1] if any(x for x, _ in shares) else 'Unknown'


def top_hlo_ops(run):
    ops = ops_of(run)
    got = run.ask('SELECT * FROM top_hlo_ops({x}, %d)' % ALL)
    ranked('top_hlo_ops', got, lambda r: r['self_time_us'])
    everything, above = sum(o['us'] for o in ops), 0
    for r in got:
        above += r['self_time_us']
        agree('cumulative', r['cumulative_percent'], percent(above, everything), rel=1e-6)
    want = [[o['hlo_op'], o['program_id'], o['category'], o['hlo_module'], o['n'], o['us'],
             percent(o['us'], everything), o['us'] / o['n'] if o['n'] else None,
             o['flops_utilization'], o['hbm_utilization'], bound_by(o), kind_of(o),
             o['is_container'], o['is_recomputed'], o['event_us']] for o in ops]
    rows_agree('top_hlo_ops', [text_row(
        r, 'hlo_op', 'program_id', 'category', 'hlo_module', 'occurrences', 'self_time_us',
        'percent', 'avg_self_time_us', 'flops_utilization', 'hbm_utilization', 'bound_by',
        'work_kind', 'is_container', 'is_recomputed', 'event_self_time_us') for r in got], want,
               rel=1e-6)


def top_wasted(run):
    ops = ops_of(run)
    got = run.ask('SELECT * FROM top_wasted({x}, %d)' % ALL)
    ranked('top_wasted', got, lambda r: r['wasted_time_us'])
    everything, want = sum(o['us'] for o in ops), []
    for o in ops:
        used = [u for u in (o['flops_utilization'], o['hbm_utilization']) if u is not None]
        if kind_of(o) == COMPUTE and used and not o['is_container']:
            wasted = max(0.0, o['us'] * (1 - max(used)))
            want.append([o['hlo_op'], o['program_id'], o['category'], o['hlo_module'], o['n'],
                         o['us'], wasted, percent(wasted, everything), o['flops_utilization'],
                         o['hbm_utilization'], bound_by(o)])
    rows_agree('top_wasted', [text_row(
        r, 'hlo_op', 'program_id', 'category', 'hlo_module', 'occurrences', 'self_time_us',
        'wasted_time_us', 'wasted_percent', 'flops_utilization', 'hbm_utilization',
        'bound_by') for r in got], want, rel=1e-6)


# ---- samples ----

SAMPLED = {'power_mw': 'power_w', 'sm_clock_mhz': 'sm_clock_mhz',
           'memory_clock_mhz': 'memory_clock_mhz',
           'gpu_utilization_percent': 'gpu_utilization_percent',
           'memory_utilization_percent': 'memory_utilization_percent',
           'gpu_temp_c': 'temperature_c', 'memory_used_bytes': 'memory_used_bytes'}


def gpu_samples(run):
    values = {r['event_id']: r['value']
              for r in run.ask("SELECT event_id, value FROM event_stats({x}) "
                               "WHERE name = 'counter_value'")}
    want = {}
    for e in run.ask("SELECT e.event_id, e.host, e.plane, e.start_ps, e.name "
                     "FROM trace_events({x}) AS e JOIN lines({x}) AS l USING (line_id) "
                     "WHERE l.name = '_counters_' AND e.plane_kind = 'gpu'"):
        if e['name'] in SAMPLED and values.get(e['event_id']) is not None:
            row = want.setdefault((e['host'], e['plane'], e['start_ps']),
                                  dict.fromkeys(SAMPLED.values()))
            of_name, value = SAMPLED[e['name']], values[e['event_id']] / (
                1000 if e['name'] == 'power_mw' else 1)
            row[of_name] = value if row[of_name] is None else max(row[of_name], value)
    got = run.ask('SELECT * FROM gpu_samples({x})')
    rows_agree('gpu_samples', [text_row(r, 'host', 'plane', 'start_ps', *SAMPLED.values())
                               for r in got], [[*key, *row.values()] for key, row in want.items()])


def sampling(dice, top, name):
    """A GPU with counters at random, some twice at a time."""
    counters = [(dice.choice(list(SAMPLED)), dice.randrange(3) * 10**6, 0,
                 {'counter_value': {'uint64': dice.randrange(1, 99)}}) for _ in range(12)]
    path = os.path.join(top, name + '.xplane.pb')
    with open(path, 'wb') as f:
        f.write(space(Plane('/device:GPU:0').line(1, '_counters_', counters).bytes()))
    return Run(path, [path])


def utilization(run):
    """Of devices whose clock was the default one: operations and bytes over the time and the peaks
    of one device. On GPUs the time is that of the op's own kernels."""
    ops = run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0')
    peaks = run.ask('SELECT DISTINCT peak_flops_per_second AS flops, peak_hbm_bytes_per_second '
                    'AS bytes, time_scale_multiplier AS scale FROM devices({x})')
    if len(peaks) != 1 or peaks[0]['scale'] not in (None, 1.0):
        return
    kernels = {(k['program_id'], k['op']): k['ps'] for k in run.ask(
        "SELECT program_id, hlo_op AS op, sum(duration_ps) AS ps FROM trace_events({x}) "
        "WHERE plane_kind = 'gpu' AND line_kind = 'stream' AND NOT derived AND hlo_op IS NOT NULL "
        "AND json_extract(stats, '$.cuda_graph_id') IS NULL GROUP BY 1, 2")}
    for o in ops:
        own = kernels.get((o['program_id'], o['hlo_op']))
        seconds = own / 1e12 if own and not o['core_type'] else o['total_time_us'] / 1e6
        want = o['flops_actual'] / seconds / peaks[0]['flops'] if o[
            'flops_actual'] and seconds and peaks[0]['flops'] else None
        agree('use of compute units by %s' % o['hlo_op'], o['flops_utilization'], want, rel=1e-6)
        moved = (o['hbm_bytes'] * o['occurrences_actual'] / o['occurrences'] if o['hbm_bytes']
                 and o['occurrences'] else None) or o['bytes_accessed_actual']
        want = moved / seconds / peaks[0]['bytes'] if moved and seconds and peaks[0][
            'bytes'] else None
        agree('use of memory by %s' % o['hlo_op'], o['hbm_utilization'], want, rel=1e-6)


def mfu(run):
    """Operations over what the devices' peaks allow in their time, with the peaks of the file and
    with one that is given."""
    peaks = {r['plane_id']: r['peak_flops_per_second']
             for r in run.ask('SELECT plane_id, peak_flops_per_second FROM devices({x})')}
    times = [t for t in run.ask("SELECT * FROM device_time({x}) WHERE kind IN ('gpu', "
                                "'tensorcore') AND busy_ps IS NOT NULL") if t['plane_id'] in peaks]
    spans, steps = collections.Counter(), run.ask('SELECT step, duration_ms, flops, model_flops '
                                                  'FROM flops_utilization_by_step({x})')
    for r in run.ask('SELECT program_id, duration_ps FROM program_runs({x})'):
        spans[r['program_id']] += r['duration_ps']
    ran = programs_that_ran(run)
    model, hardware = ([math.fsum(p.done[i] or 0 for p in ran.values()) for i in (0, 1)]
                       if not are_operations_unknown(run, ran) else [None, None])
    for given in (None, 3e14):
        of = [given or peaks[t['plane_id']] for t in times]
        known, n = bool(times) and all(of), len(times)
        mean = sum(of) / n if known else None

        def row(flops, more, span, busy, allowed, allowed_busy):
            return [flops or None, more or None, span / n / 1e9 if span is not None else None,
                    busy / n / 1e9 if busy is not None else None, mean] + [
                        100 * part / (of_peak / 1e12) if part and of_peak else None
                        for part, of_peak in ((flops, allowed), (flops, allowed_busy),
                                              (more, allowed))]
        want = {}
        if times:
            want['run', None, None] = row(model, hardware,
                                          sum(t['span_ps'] for t in times),
                                          sum(t['busy_ps'] for t in times),
                                          *(sum(p * t[time] for p, t in zip(of, times)) if known
                                            else None for time in ('span_ps', 'busy_ps')))
            for r in steps:
                ps = r['duration_ms'] * 1e9 * n
                want['step', r['step'], None] = row(r['model_flops'], r['flops'], ps, None,
                                                    ps * mean if known else None, None)
            for program in ran.keys() - {None}:
                span, busy = spans.get(program), ran[program].time
                want['program', None, program] = row(*ran[program].done, span, busy,
                                                     span * mean if known and span else None,
                                                     busy * mean if known else None)
        got = run.ask('SELECT scope, step, program_id, model_flops, hardware_flops, span_ms, '
                      'busy_ms, peak_flops, mfu_percent, mfu_busy_percent, hfu_percent '
                      'FROM mfu({x}%s)' % (
                          ', %f' % given if given else ''))
        agree('mfu, peak %s' % given, {tuple(r.values())[:3]: list(r.values())[3:] for r in got},
              want, rel=1e-6)


# ---- framework ops and kernels ----

def eager_ops(run):
    ops = [o for o in run.ask('SELECT * FROM tf_ops({x}, 0, 0)')]
    sides = collections.Counter()
    for o in ops:
        sides[o['host_or_device']] += o['self_ps']
    want = [[o['host_or_device'], o['type'], o['operation'], o['occurrences'], o['self_ps'] / 1e6,
             o['self_ps'] / 1e6 / o['occurrences'] if o['occurrences'] else None,
             percent(o['self_ps'], sides[o['host_or_device']])] for o in ops
            if o['execution_mode'] == 'Eager']
    got = run.ask('SELECT * FROM eager_ops({x})')
    rows_agree('eager_ops', [list(r.values())[1:] for r in got], want, rel=1e-6)


def tensorcore_missed(run):
    kernels = run.ask('SELECT * FROM kernel_ops({x})')
    everything, sums = sum(k['total_duration_us']
                           for k in kernels), collections.defaultdict(lambda: [0, 0])
    for k in kernels:
        if k['op_is_tensorcore_eligible'] and not k['kernel_uses_tensorcore'] and not k[
            'is_helper'] and not any(w in k['kernel_name'].lower()
                                     for w in ('fft', 'cgemm', 'zgemm', 'complex')):
            of = sums[k['op_name'], k['kernel_name']]
            of[0], of[1] = of[0] + k['occurrences'], of[1] + k['total_duration_us']
    want = [[op, kernel, n, us, percent(us, everything), us / n]
            for (op, kernel), (n, us) in sums.items()]
    got = run.ask('SELECT * FROM tensorcore_missed({x}, %d)' % ALL)
    ranked('tensorcore_missed', got, lambda r: r['total_duration_us'])
    rows_agree('tensorcore_missed',
               [text_row(r, 'op_name', 'kernel_name', 'occurrences', 'total_duration_us', 'percent',
                         'avg_duration_us') for r in got], want, rel=1e-6)


def helpers(run):
    """Kernels that tensor cores could run: a helper if and only if another kernel of the HLO op
    (without one: of the framework op) uses them."""
    flags = {}
    for k in run.ask('SELECT * FROM kernel_ops({x})'):
        of = flags.setdefault((k['host'], k['kernel_name']), collections.Counter())
        of['uses' if k['kernel_uses_tensorcore'] else '' if not k['op_is_tensorcore_eligible']
           else 'helps' if k['is_helper'] else 'missed'] += k['occurrences']
    known = {tuple(r.values()) for r in run.ask('SELECT DISTINCT host, program_id, hlo_op '
                                                'FROM hlo_instructions({x})')} if flags else set()
    groups = collections.defaultdict(collections.Counter)
    for e in run.ask("SELECT host, program_id, hlo_op, tf_op, name, count(*) AS n "
                     "FROM trace_events({x}) WHERE plane_kind = 'gpu' AND duration_ps > 0 "
                     "GROUP BY 1, 2, 3, 4, 5") if flags else ():
        key = (e['host'], e['program_id'], e['hlo_op'])
        groups[key if key in known else (e['host'], e['tf_op'])][e['host'], e['name']] += e['n']
    beside, alone = collections.Counter(), collections.Counter()
    for kernels in groups.values():
        of = [flags.get(k, collections.Counter()) for k in kernels]
        if any(x['uses'] for x in of):
            beside.update(kernels)
        if not any(x['uses'] and not x['missed'] for x in of):  # some use them, in another program
            alone.update(kernels)
    for kernel, of in flags.items():
        agree('helpers %s' % (kernel,), of['helps'] <= beside[kernel], True)
        agree('missed %s' % (kernel,), of['missed'] <= alone[kernel], True)


def idle_code(run):
    """Rows of idle_causes of host code that is not known."""
    return [r for r in run.ask('SELECT * FROM idle_causes({x})') if r['cause'] in ('host',
                                                                                   'python')]


def verdict_of_input(run, pipeline, share, has_ops):
    """What tests/witness/input_pipeline.py judges; perhaps, if no input is recorded while other
    code of the host lets the devices idle for 5 % of the steps. And what tells it: the share of
    input, of nothing known, or the idle time."""
    idle = math.fsum(r['idle_us'] for r in idle_code(run))
    steps = math.fsum(r['duration_us'] for r in run.ask('SELECT * FROM steps({x})')
                      if not r['dropped'])
    if share is None:
        return 'unknown', None
    if pipeline['verdict'] == 'device' and share == 0 and not has_ops and idle and (
            idle >= 0.05 * steps):
        return 'both', ('for %.3f ms', idle / 1e3)
    if pipeline['verdict'] == 'both' and share < 5:
        return 'both', ('in %.1f%%', pipeline['others'])
    return pipeline['verdict'], (' %.1f%%', share)


SENTENCES = {'host': 'Input bound:', 'device': 'Not input bound:', 'unknown': 'Unknown whether'}


def statement_of_input(got, tells):
    """It starts as the verdict says, and has the number that told it, rounded as it is printed."""
    sure = 'Partly' if tells and tells[0].startswith(' ') else 'Perhaps'
    agree('statement', got['statement'].startswith(SENTENCES.get(
        got['verdict'], sure + ' input bound:')), True)
    if tells:
        form, number = tells
        near = {form % x for x in (number, number - 1e-9, number + 1e-9)}
        agree('%s has %s' % (got['statement'], near), any(x in got['statement'] for x in near),
              True)
    in_parts(got['statement'])


def suspect_of_input(run, verdict, has_ops):
    """[[name, idle ms]] of what may be the suspect: of several as long any. A step's own event is
    named like the step, which ends in its number."""
    steps = {x for r in run.ask('SELECT name FROM steps({x})') if r['name']
             for x in (r['name'], re.sub(r' -?\d+$', '', r['name']))}
    idle = collections.Counter()
    for r in idle_code(run) if verdict in ('host', 'both') and not has_ops else ():
        idle[r['python_frame'] if r['name'] in steps | {None} else r['name']] += r['idle_us']
    idle.pop(None, None)
    longest = max(idle.values(), default=None)
    return [[x, us / 1e3] for x, us in idle.items() if us >= longest - 1e-6] or [[None, None]]


PARALLEL, SERIAL = re.compile('::(ParallelMap|MapAndBatch)'), re.compile('::Map(::|$)')


def advice_of_input(got, ops, parts, largest):
    """None if it is not needed or nothing is known to be slow; that no op of input is recorded;
    that a Python function takes most of the time, or that it maps in parallel already; or that of
    the part that is slow."""
    text, most = got['advice'], max((o['ms'] for o in ops), default=0)
    category = largest and largest['category']
    if not largest and most > 0:
        category = next(o['category'] for o in ops if o['operation'] == got['top_operation'])
        category = 'Unclassified' if category == 'Unknown' else category
    names = [o['operation'] for o in ops]
    if got['verdict'] == 'device' or not category and (ops or got['verdict'] == 'unknown'):
        agree('advice', text, None)
    elif not ops and got['verdict'] != 'unknown':
        agree('advice without ops', text.startswith('The trace has no ops'), True)
    elif category == 'Preprocessing' and (got['python_ms'] or 0) >= 0.5 * most:
        agree('advice about Python', 'is a Python function' in text, True)
    elif category == 'Preprocessing' and any(map(PARALLEL.search, names)) and not any(
            map(SERIAL.search, names)):
        agree('advice if it is parallel', text.startswith('Preprocessing already runs'), True)
    else:
        agree('advice about %s' % category, text, parts[category])


def input_bound(run):
    """The verdict by XProf's limits, on the share of the steps that goes to input as
    tests/witness/steps.py computes it; the parts and ops that take longest; the suspect."""
    got, = run.ask('SELECT * FROM input_bound({x})')
    pipeline, = run.ask('SELECT run, input_percent_actual AS share, input_verdict_actual AS '
                        'verdict, all_others_percent_actual AS others FROM input_pipeline({x})')
    ops = run.ask('SELECT operation, category, total_self_time_ms AS ms FROM input_ops({x})')
    shares = {r['what']: r['percent'] for r in run.ask('SELECT what, percent FROM host_bound({x})')}
    agree('run and share', [got['run'], got['input_percent']], [pipeline['run'],
                                                                pipeline['share']])
    if shares:  # hosts can have steps in common that each of them alone drops
        agree('input_percent', got['input_percent'], shares.get('input'))
    verdict, tells = verdict_of_input(run, pipeline, got['input_percent'], bool(ops))
    agree('verdict at %s' % got['input_percent'], got['verdict'], verdict)
    statement_of_input(got, tells)
    every_part = run.ask('SELECT * FROM input_breakdown({x})')
    parts = [p for p in every_part if p['time_us'] > 0]
    largest = max(parts, key=lambda p: p['time_us'], default=None)
    agree('largest part', [got['largest_part'], got['part_percent']],
          [largest['category'], 100 * largest['time_us'] / sum(p['time_us'] for p in parts)]
          if largest else [None, None], rel=1e-6)
    longest = max((o['ms'] for o in ops), default=None)
    agree('top operation', got['top_operation_ms'], longest)
    agree_one_of('its name', got['top_operation'],
                 [o['operation'] for o in ops if o['ms'] == longest] or [None])
    suspects = suspect_of_input(run, verdict, bool(ops))
    agree('suspect', [got['suspect'], got['suspect_ms']],
          next((x for x in suspects if x[0] == got['suspect']), suspects[0]))
    called = run.ask("SELECT sum(duration_ps) / 1e9 AS ms FROM trace_events({x}) "
                     "WHERE plane_kind = 'host' AND NOT derived AND occurrences IS NULL "
                     "AND (name LIKE '%:EagerPyFunc' OR name LIKE '%:PyFunc' "
                     "OR name IN ('EagerPyFunc', 'PyFunc'))")
    agree('time of Python functions', got['python_ms'], called[0]['ms'])
    advice_of_input(got, ops, {p['category']: p['advice'] for p in every_part}, largest)


# ---- passes ----

OPTIMIZERS = set("""adadelta adafactor adagrad adam adamax adamw applygradients applyupdates ftrl
    lamb lars lion momentum muon nadam optax optimizer radam rmsprop sgd shampoo""".split())


def is_of_optimizer(scope):
    return any(re.split('[0-9:.]', x.lower().replace('_', ''))[0] in OPTIMIZERS
               for x in (scope or '').split('/'))


def time_by_pass(run):
    ops = run.ask('SELECT * FROM scope_ops({x})')
    groups, everything = collections.defaultdict(list), collections.Counter()
    for o in ops:
        of_pass = o['pass']
        if of_pass in (None, 'forward') and is_of_optimizer(o['scope']):
            of_pass = 'optimizer'
        groups[o['plane_kind'], of_pass].append(o)
        everything[o['plane_kind']] += o['self_us']
    got = run.ask('SELECT * FROM time_by_pass({x})')
    ranked('time_by_pass', got, lambda r: r['self_us'])
    agree('passes', sorted(((r['plane_kind'], r['pass']) for r in got), key=repr),
          sorted(groups, key=repr))
    for r in got:
        of, scopes = groups[r['plane_kind'], r['pass']], collections.Counter()
        for o in of:
            scopes[o['scope']] += o['self_us']
        us = math.fsum(o['self_us'] for o in of)
        agree('time_by_pass', {k: x for k, x in r.items() if k not in ('rank', 'top_scope')},
              {'run': of[0]['run'], 'plane_kind': r['plane_kind'], 'pass': r['pass'],
               'self_us': us, 'percent': percent(us, everything[r['plane_kind']]),
               'occurrences': sum(o['occurrences'] for o in of),
               'top_scope_us': max(scopes.values())}, abs_tol=1e-6)
        agree_one_of('top scope', r['top_scope'],
                     [s for s, x in scopes.items() if x > max(scopes.values()) - 1e-6])


# ---- random runs ----

SCOPES = ['', 'layer/', 'a/b/', 'Adam/', 'adam_w_2/', 'opt/sgd12/', 'sgd.1/', 'x.adam/', 'sgd_/y/',
          'adamish/', 'Adam_100/', 'apply_gradients/', '3d/', 'LION_/', 'update[adam]/',
          'rms_prop1_/', 'Adam:12/', 'sgdx/']


def loading(dice, folder, name):
    """A run of steps in which ops leave gaps to code of the host."""
    events, at, unit = [], 0, 10**6
    code = dice.sample(['load', 'train', '$data.py:3 next', '$loader.py:9 get', 'prepare', 'eval'],
                       dice.randint(1, 5))
    first = dice.choice([0, 0, 7, 100])
    for step in range(first, first + dice.randint(1, 4)):
        begin = at
        for _ in range(dice.randint(1, 4)):
            events.append(('op', at + 1, 9 * unit, {'hlo_op': {'str': 'dot.1'}}))
            at += 10 * unit
            for part in dice.sample(code, dice.randint(0, len(code))):
                length = dice.choice([1, 2, 5, 30]) * unit
                events.append((part, at, length))
                at += length
        events.append((dice.choice(['train', 'eval']), begin, at - begin,
                       {'step_num': {'int64': step}, '_r': {'int64': 1}}))
        at += dice.choice([0, 1, 50]) * unit + 10
    path = os.path.join(folder, name + '.xplane.pb')
    with open(path, 'wb') as f:
        f.write(space(Plane('/host:CPU').line(5, 'main', sorted(
            events, key=lambda e: (e[1], -e[2]))).bytes()))
    return Run(path, [path])


def passing(dice, folder, name):
    """A run of ops of GPUs in scopes of optimizers, and of others."""
    events = []
    for i in range(dice.randint(1, 30)):
        around = dice.choice(['', 'jvp(%s)/', 'transpose(jvp(%s))/', 'rematted_computation/'])
        tf_op = 'jit(f)/' + (around % 'm' if '%' in around else around) + dice.choice(
            SCOPES) + 'op%d' % dice.randint(1, 3) + dice.choice(['', '', ':NVTX'])
        events.append(('kernel%d' % dice.randint(1, 4), i * 10**6, dice.randint(0, 9) * 10**5,
                       {'tf_op': {'str': tf_op}} if dice.randint(0, 4) else {}))
    path = os.path.join(folder, name + '.xplane.pb')
    with open(path, 'wb') as f:
        f.write(space(Plane('/device:GPU:0', 1).line(1, 'Stream #1', events).bytes()))
    return Run(path, [path])


# ---- asynchronous ops ----

ASYNC_KEY = ('host', 'plane', 'hlo_op', 'category', 'kind', 'is_synchronous', 'overlapped_by',
             'bytes')
ASYNC_SUMS = ('duration_ps', 'exposed_ps', 'hidden_ps', 'wait_ps')


def sums_by_key(rows, occurrences):
    """Sums of rows that are equal in ASYNC_KEY; NULL if all values are."""
    sums = {}
    for r in rows:
        found = sums.setdefault(text_row(r, *ASYNC_KEY), [0] + [None] * len(ASYNC_SUMS))
        found[0] += occurrences(r)
        for i, column in enumerate(ASYNC_SUMS, 1):
            if r[column] is not None:
                found[i] = (found[i] or 0) + r[column]
    return sums


def async_op_totals(run):
    agree('totals', sums_by_key(run.ask('SELECT * FROM async_op_totals({x})'),
                                lambda r: r['occurrences']),
          sums_by_key(run.ask('SELECT * FROM async_ops({x}) WHERE done_op IS NOT NULL'),
                      lambda r: 1))
    agree('with synchronous ops', sums_by_key(run.ask('SELECT * FROM async_op_totals({x}, 1)'),
                                              lambda r: r['occurrences']),
          sums_by_key(run.ask('SELECT * FROM async_ops({x}, 1) WHERE done_op IS NOT NULL'),
                      lambda r: 1))


def each(run):
    for check in (top_hlo_ops, kinds_of_instructions, top_wasted, utilization, mfu, eager_ops,
                  tensorcore_missed, helpers, input_bound, gpu_samples, time_by_pass,
                  async_op_totals):
        tried('%s %s' % (check.__name__, run.path), check, run)


def made():
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(40):
            dice = random.Random(seed)
            for check, make in ((input_bound, loading), (time_by_pass, passing),
                                (gpu_samples, sampling)):
                tried('%s of seed %d' % (check.__name__, seed), check,
                      make(dice, top, '%s%d' % (make.__name__, seed)))


if __name__ == '__main__':
    main(each, made)
