#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Columns that follow from others by what their descriptions say, starting from tables that are
compared elsewhere: kpi, the actual columns of steps from core_steps, flops_utilization_by_step,
counts and bytes of memory_allocators from memory_events, amounts of hlo_ops, tf_ops and roofline
from the rates that XProf shows, names of top_kernels and shares of op_time_by_category; and the
microseconds of each table."""
import collections
import statistics
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, ask, main, tried  # noqa: E402

ALL, MIB, GIB = 1000000000, 1048576.0, 2.0**30
ACTIVITIES = {'device_compute': 'Device compute', 'device_to_device': 'Device to device',
              'device_collectives': 'Device collective communication',
              'host_compute': 'Host compute', 'kernel_launch': 'Kernel launch', 'input': 'Input',
              'output': 'Output', 'compilation': 'Compilation', 'all_others': 'All others'}


def percent(part, whole):
    return 100 * part / whole if whole and part is not None else None


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


# ---- microseconds ----

def pairs():
    """{table: [(column in us, column in ps)]} of tables that need no argument but a source."""
    of = collections.defaultdict(set)
    for r in ask('SELECT table_name AS t, "column" AS c, type FROM prof_columns'):
        of[r['t']].add('source' if r['c'] == 'source' and 'HIDDEN' in r['type'] else r['c'])
    return {t: found for t, names in of.items() if 'source' in names and t not in (
        'events', 'xprof_events', 'timeline') for found in [[
            (c, c[:-3] + '_ps') for c in sorted(names) if c.endswith('_us')
            and c[:-3] + '_ps' in names]] if found}


PAIRS = pairs()


def microseconds(run):
    for table, columns in PAIRS.items():
        for r in run.ask('SELECT DISTINCT %s FROM %s({x})' % (
                ', '.join(c for pair in columns for c in pair), table)):
            agree('microseconds of ' + table, [r[us] for us, _ in columns],
                  [None if r[ps] is None else r[ps] / 1e6 for _, ps in columns])


# ---- the run ----

def kpi(run):
    got, steps, devices, times, mfu, bound, peaks, plans, totals, pipeline = run.ask_all(
        'SELECT * FROM kpi({x})', 'SELECT * FROM steps({x}) WHERE NOT dropped',
        'SELECT * FROM devices({x})',
        'SELECT * FROM device_time({x}) WHERE is_main AND busy_ps IS NOT NULL',
        "SELECT mfu_percent FROM mfu({x}) WHERE scope = 'run'", 'SELECT * FROM input_bound({x})',
        'SELECT * FROM memory_allocators({x})', 'SELECT * FROM peak_memory({x}, 100000)',
        "SELECT * FROM host_bound({x})", 'SELECT hardware FROM input_pipeline({x})')
    got, lengths = got[0], [s['duration_ms'] for s in steps]
    if not run.ask('SELECT sum(event_count) AS n FROM planes({x})')[0]['n']:
        return
    average, span = mean(lengths), sum(t['span_ps'] for t in times)
    want = {'device_count': len(devices), 'step_count': len(steps), 'step_time_ms': average,
            'step_time_deviation_percent': percent(statistics.stdev(lengths), average)
            if len(lengths) > 1 else None, 'mfu_percent': mfu[0]['mfu_percent'] if mfu else None,
            'input_verdict': bound[0]['verdict']}
    for column, of in (('compute', 'computing'), ('collectives', 'communicating'),
                       ('exposed_communication', 'exposed_communication'),
                       ('device_busy', 'busy')):
        want[column + '_percent'] = percent(sum(t[of + '_ps'] for t in times), span)
    launch = [r['percent'] for r in totals if r['what'] == 'kernel launch']
    if launch and times and not any(t['kind'] == 'tensorcore' for t in times):
        want['kernel_launch_percent'] = launch[0]
    work = [r['percent'] for r in totals if r['what'] == 'devices']
    want['step_device_percent'] = work[0] if work and devices else None
    if pipeline:
        want['hardware'] = pipeline[0]['hardware']
    agree('kpi', {c: got[c] for c in want}, want, rel=1e-6)
    sizes = [(p['profile_peak_bytes'] / MIB, ('allocator ' if p['allocator'][:1].isdigit() else '')
              + p['allocator']) for p in peaks] or [
        (p['peak_mib'], p['hlo_module']) for p in plans]
    agree_one_of('peak', [got['peak_memory_mib'], got['peak_memory_of']],
                 [[size, name] for size, name in sizes if size == max(sizes)[0]] or [[None, None]])


# ---- steps ----

def steps(run):
    cores = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM core_steps({x}) WHERE step IS NOT NULL'):
        cores[r['step']].append(r)
    for s in run.ask('SELECT * FROM steps({x})'):
        want = {'duration_us': s['duration_ms'] * 1e3}
        of = cores[s['step']]
        for c in ACTIVITIES if of else ():
            values = [r[c + '_us_actual'] for r in of]
            unknown = None in values if c == 'compilation' else set(values) == {None}
            want[c + '_ms_actual'] = None if unknown else sum(v or 0
                                                              for v in values) / len(of) / 1e3
        agree('step %s' % s['step'], {c: s[c] for c in want}, want, rel=1e-6)
        shares = {label: s[c + '_ms_actual'] for c, label in ACTIVITIES.items()
                  if s[c + '_ms_actual'] is not None}
        if shares and max(shares.values()) > 0:
            agree_one_of('bottleneck of step %s' % s['step'], s['bottleneck'],
                         [label for label, ms in shares.items() if ms == max(shares.values())])
        for r in of:
            shares = {label: r[c + '_us_actual'] for c, label in ACTIVITIES.items()
                      if r[c + '_us_actual'] is not None}
            if shares and max(shares.values()) > 0:
                agree_one_of('bottleneck of a core', r['bottleneck_actual'], [
                    label for label, us in shares.items() if us == max(shares.values())])


def flops_by_step(run):
    named = {s['step']: s for s in run.ask('SELECT * FROM steps({x})')}
    n = run.ask("SELECT count(*) AS n FROM device_time({x}) WHERE kind <> 'sparsecore' "
                "AND busy_ps IS NOT NULL")[0]['n']
    peaks = {r['peak'] for r in run.ask("SELECT d.peak_flops_per_second AS peak FROM devices({x}) "
                                        "AS d JOIN device_time({x}) AS t USING (plane_id) "
                                        "WHERE t.kind <> 'sparsecore' AND busy_ps IS NOT NULL")}
    for r in run.ask('SELECT * FROM flops_utilization_by_step({x})'):
        s = named[r['step']]
        seconds = s['duration_ms'] / 1e3
        rate = r['flops'] / seconds / n / 1e9 if r['flops'] is not None and seconds else None
        model = r['model_flops'] / seconds / n / 1e9 if r[
            'model_flops'] is not None and seconds else None
        agree('step', [r['step'], r['name'], r['duration_ms'], r['gflops_per_device']],
              [s['step'], s['name'], s['duration_ms'], rate], rel=1e-6)
        if len(peaks) == 1:
            peak = max(peaks) and max(peaks) / 1e9
            agree('peak', [r['peak_gflops'], r['utilization_percent'],
                           r['model_utilization_percent']],
                  [peak, percent(rate, peak), percent(model, peak)], rel=1e-6)


# ---- allocators ----

def allocators(run):
    of = collections.defaultdict(list)
    for e in run.ask('SELECT * FROM memory_events({x})'):
        of[e['host'], e['allocator']].append(e)
    for a in run.ask('SELECT * FROM memory_allocators({x})'):
        events = of[a['host'], a['allocator']]
        frees = [e for e in events if e['activity'] == 'DEALLOCATION']
        agree('events of %s' % a['allocator'], [a['allocation_count'], a['free_count'],
                                                a['unmatched_free_count']],
              [len(events) - len(frees), len(frees),
               sum(e['match_event_id'] is None for e in frees)])


# ---- amounts and rates ----

def amounts(run):
    """Operations and bytes are what XProf's rates make in the time; no rate, none or not known."""
    for table, time in (('hlo_ops', 'total_time_us'), ('tf_ops', 'total_time_us')):
        for o in run.ask('SELECT * FROM %s({x})' % table):
            seconds = o[time] / 1e6
            agree('times of %s' % table, [o['time_ps'], o['self_ps']],
                  [o[time] * 1e6, o['total_self_time_us'] * 1e6], rel=1e-9)
            for amount, rate, unit in (('flops', 'normalized_gflops', 1e9),
                                       ('model_flops', 'model_gflops', 1e9),
                                       ('bytes_accessed', 'memory_bw_gibps', GIB),
                                       ('hbm_bytes', 'hbm_bw_gibps', GIB)):
                if amount in o and rate in o and seconds:
                    agree('%s of %s' % (amount, table), o[amount] or 0, o[rate] * unit * seconds,
                          rel=1e-6, abs_tol=1e-3)


# ---- kernels and categories ----

def kernels(run):
    ops = collections.defaultdict(lambda: collections.defaultdict(float))
    uses = collections.defaultdict(set)
    for k in run.ask('SELECT * FROM kernel_ops({x})'):
        uses[k['kernel_name']].add(k['kernel_uses_tensorcore'])
        if k['op_name']:
            ops[k['kernel_name']][k['op_name']] += k['total_duration_us']
    above = 0
    for r in run.ask('SELECT * FROM top_kernels({x}, %d)' % ALL):
        of = ops[r['kernel_name']]
        above += r['percent'] or 0
        agree('kernel', [r['cumulative_percent'], r['op_count']],
              [above if r['percent'] is not None else None, len(of)], rel=1e-6)
        agree_one_of('op of %s' % r['kernel_name'], r['op_name'], [
            name for name, us in of.items() if us >= max(of.values()) - 1e-6] or [None])
        agree_one_of('tensor cores', r['uses_tensorcore'], uses[r['kernel_name']])
    for r in run.ask('SELECT * FROM kernel_time_by_op({x}, %d)' % ALL):
        agree('average', r['avg_time_us'], r['total_time_us'] / r['occurrences'])


def categories(run):
    rows = run.ask('SELECT * FROM op_time_by_category({x})')
    sides = collections.Counter()
    for r in rows:
        sides[r['host_or_device']] += r['self_time_us']
    for r in rows:
        agree('share of %s' % r['category'], r['percent'],
              percent(r['self_time_us'] + 0, sides[r['host_or_device']]), rel=1e-6)


def each(run):
    for check in (microseconds, kpi, steps, flops_by_step, allocators, amounts, kernels,
                  categories):
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
