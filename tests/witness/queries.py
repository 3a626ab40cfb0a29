#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries that rank, filter, sum or pair the rows of tables which are compared elsewhere
(tests/parity, other witnesses): top_hlo_ops, top_wasted, eager_ops, tensorcore_missed, input_bound,
gpu_samples, mfu and async_op_totals. Each starts from all rows of such a table and works the answer
out in Python."""
import collections
import math
import statistics
import sys
import types

sys.dont_write_bytecode = True
from compare import agree, checking, finish, runs  # noqa: E402
from device_time import COMPUTE, kind_of_op  # noqa: E402

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

def top_hlo_ops(run, ops):
    got = run.ask('SELECT * FROM top_hlo_ops({x}, %d)' % ALL)
    ranked('top_hlo_ops', got, lambda r: r['self_time_us'])
    everything, above = sum(o['self_ps'] for o in ops), 0
    for r in got:
        above += r['self_time_us']
        agree('cumulative', r['cumulative_percent'], percent(above, everything / 1e6), rel=1e-6)
    want = [[o['hlo_op'], o['category'], o['hlo_module'], o['occurrences_actual'],
             o['self_ps'] / 1e6, percent(o['self_ps'], everything),
             o['self_ps'] / 1e6 / o['occurrences_actual'] if o['occurrences_actual'] else None,
             o['flops_utilization'], o['hbm_utilization']] for o in ops]
    rows_agree('top_hlo_ops',
               [text_row(r, 'hlo_op', 'category', 'hlo_module', 'occurrences', 'self_time_us',
                         'percent', 'avg_self_time_us', 'flops_utilization',
                         'hbm_utilization') for r in got], want, rel=1e-6)


def top_wasted(run, ops):
    got = run.ask('SELECT * FROM top_wasted({x}, %d)' % ALL)
    ranked('top_wasted', got, lambda r: r['wasted_time_us'])
    everything, want = sum(o['self_ps'] for o in ops), []
    for o in ops:
        text = types.SimpleNamespace(stats={'hlo_category': o['category']}, name=o['expression']
                                     if ' = ' in o['expression'] else '', display=o['hlo_op'])
        agree('kind of %s' % o['hlo_op'], o['work_kind'], kind_of_op(text))
        used = [u for u in (o['flops_utilization'], o['hbm_utilization']) if u is not None]
        if used and not o['is_container'] and o['work_kind'] == COMPUTE:
            wasted = max(0.0, o['self_ps'] / 1e6 * (1 - max(used)))
            want.append([o['hlo_op'], o['hlo_module'], o['occurrences_actual'], o['self_ps'] / 1e6,
                         wasted, percent(wasted * 1e6, everything)])
    rows_agree('top_wasted', [text_row(r, 'hlo_op', 'hlo_module', 'occurrences', 'self_time_us',
                                       'wasted_time_us', 'wasted_percent') for r in got], want,
               rel=1e-6)


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
            row[SAMPLED[e['name']]] = values[e['event_id']] / (1000 if e['name'] == 'power_mw'
                                                               else 1)
    got = run.ask('SELECT * FROM gpu_samples({x})')
    rows_agree('gpu_samples', [text_row(r, 'host', 'plane', 'start_ps', *SAMPLED.values())
                               for r in got], [[*key, *row.values()] for key, row in want.items()])


def utilization(run, ops):
    """Of devices whose clock was the default one: operations and bytes over the time and the peaks
    of one device."""
    peaks = run.ask('SELECT DISTINCT peak_flops_per_second AS flops, peak_hbm_bytes_per_second '
                    'AS bytes, time_scale_multiplier AS scale FROM devices({x})')
    if len(peaks) != 1 or peaks[0]['scale'] not in (None, 1.0):
        return
    for o in ops:
        seconds = o['total_time_us'] / 1e6
        want = o['flops_actual'] / seconds / peaks[0]['flops'] if o[
            'flops_actual'] and seconds and peaks[0]['flops'] else None
        agree('use of compute units by %s' % o['hlo_op'], o['flops_utilization'], want, rel=1e-6)
        moved = (o['hbm_bytes'] * o['occurrences_actual'] / o['occurrences'] if o['hbm_bytes']
                 and o['occurrences'] else None) or o['bytes_accessed_actual']
        want = moved / seconds / peaks[0]['bytes'] if moved and seconds and peaks[0][
            'bytes'] else None
        agree('use of memory by %s' % o['hlo_op'], o['hbm_utilization'], want, rel=1e-6)


def mfu(run, ops):
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
    model, hardware, self_ps = collections.Counter(), collections.Counter(), collections.Counter()
    for o in ops:
        for program in (o['program_id'], None):  # None: the run
            model[program] += (o['model_flops_actual']
                               or 0) if o['rematerialization'] == 'No' else 0
            hardware[program] += o['flops_actual'] or 0
        self_ps[o['program_id']] += o['event_self_ps']
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
            want['run', None, None] = row(model[None], hardware[None],
                                          sum(t['span_ps'] for t in times),
                                          sum(t['busy_ps'] for t in times),
                                          *(sum(p * t[time] for p, t in zip(of, times)) if known
                                            else None for time in ('span_ps', 'busy_ps')))
            for r in steps:
                ps = r['duration_ms'] * 1e9 * n
                want['step', r['step'], None] = row(r['model_flops'], r['flops'], ps, None,
                                                    ps * mean if known else None, None)
            for program in set(self_ps) - {'0'}:
                span, busy = spans.get(program), self_ps[program]
                want['program', None, program] = row(model[program], hardware[program], span, busy,
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
        uses = any('uses' in flags.get(k, ()) for k in kernels)
        (beside if uses else alone).update(kernels)
    for kernel, of in flags.items():
        agree('helpers %s' % (kernel,), of['helps'] <= beside[kernel], True)
        agree('missed %s' % (kernel,), of['missed'] <= alone[kernel], True)


def verdict_of_input(run, share):
    """What tests/witness/input_pipeline.py judges; perhaps, if no input is recorded while other
    code of the host lets the devices idle for 5 % of the steps."""
    pipeline, = run.ask('SELECT input_verdict_actual AS verdict FROM input_pipeline({x})')
    idle = math.fsum(r['idle_us'] for r in run.ask('SELECT * FROM idle_causes({x})')
                     if r['cause'] in ('host', 'python'))
    steps = math.fsum(r['duration_us'] for r in run.ask('SELECT * FROM steps({x})')
                      if not r['dropped'])
    no_input = share == 0 and not run.ask('SELECT 1 FROM input_ops({x})')
    perhaps = pipeline['verdict'] == 'device' and no_input and idle > 0 and idle >= 0.05 * steps
    return 'both' if perhaps else pipeline['verdict']


def input_bound(run):
    """The verdict by XProf's limits, on the share of the steps that goes to input as
    tests/witness/steps.py computes it."""
    got = run.ask('SELECT * FROM input_bound({x})')[0]
    shares = {r['what']: r['percent'] for r in run.ask('SELECT what, percent FROM host_bound({x})')}
    share = shares.get('input')
    if shares:  # hosts can have steps in common that each of them alone drops
        agree('input_percent', got['input_percent'], share)
    if got['input_percent'] is None:
        agree('verdict', got['verdict'], 'unknown')
    else:
        share = got['input_percent']
        agree('verdict at %s' % share, got['verdict'], verdict_of_input(run, share))
    parts = [p for p in run.ask('SELECT category, time_us, fraction FROM input_breakdown({x})')
             if p['time_us'] > 0]
    largest = max(parts, key=lambda p: p['time_us'], default=None)
    agree('largest part', [got['largest_part'], got['part_percent']],
          [largest['category'], 100 * largest['time_us'] / sum(p['time_us'] for p in parts)]
          if largest else [None, None], rel=1e-6)
    ops = run.ask('SELECT operation, total_self_time_ms AS ms FROM input_ops({x})')
    longest = max((o['ms'] for o in ops), default=None)
    agree('top operation', got['top_operation_ms'], longest)
    agree('its name', got['top_operation'] in [o['operation'] for o in ops if o['ms'] == longest]
          if ops else got['top_operation'] is None, True)


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


if __name__ == '__main__':
    for one in runs():
        hlo_ops = one.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0')
        for check in (top_hlo_ops, top_wasted, utilization, mfu):
            with checking('%s %s' % (check.__name__, one.path)):
                check(one, hlo_ops)
        for check in (eager_ops, tensorcore_missed, helpers, input_bound, gpu_samples,
                      async_op_totals):
            with checking('%s %s' % (check.__name__, one.path)):
                check(one)
    finish()
