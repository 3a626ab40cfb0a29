#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run of several files against each file alone: every table with a column host says of each what
its file alone says.

The tables and their columns come from prof_columns. What the other files change is listed below,
with the reason. A reason that no run needs is a failure, and so is a column whose cell can change
unnoticed."""
import collections
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, ask, looks_at_all, main, tried  # noqa: E402
from lib.shell import tables_of_a_run  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

# Numbers that count through the files of a run: a host's number is that of its file plus the counts
# of the files before. XProf reserves a thousand cores for each host, and a thousand processes from
# 1000 on.
COUNTED = {'plane_id': 'planes', 'line_id': 'lines', 'event_id': 'events',
           'step_event_id': 'events', 'module_event_id': 'events', 'start_event_id': 'events',
           'done_event_id': 'events', 'match_event_id': 'events', 'before_event_id': 'events',
           'live_until_event_id': 'events', 'longest_event_id': 'events',
           'after_event_id': 'events', 'peak_event_id': 'events',
           ('trace_events', 'parent_id'): 'events', ('events', 'parent_id'): 'events',
           ('timeline', 'parent_id'): 'events', 'launch_event_id': 'events',
           'annotation_event_id': 'events', 'launch_line_id': 'lines', 'core_id': 'cores',
           'pid': 'processes', 'host_index': 'hosts'}

# Tables of which only some rows of a file are in the run, or that look at all hosts together.
ALIGNED = 'the run has the steps that its hosts have in common'
SOME = {'step_breakdown': ALIGNED, 'core_steps': ALIGNED, 'device_steps': ALIGNED,
        'exposed_communication_by_step': ALIGNED,
        'step_ops': ALIGNED, 'idle_gaps': 'gaps of the main devices of the run',
        'gaps': 'gaps of the main devices of the run',
        'scope_ops': 'ops of host threads only if no host of the run has a device'}
# Rows that are compared only in part: without issues of the run or of several hosts, and without
# cores whose steps in the run differ from those in the file.
ABOUT_THE_RUN = {'xprof_steps', 'no_steps', 'host_without_steps', 'steps_apart', 'clocks_differ',
                 'programs_mixed'}
PARTLY = ('prof_issues', 'stragglers')
# Each row compares a host with the others, so the run need not have the rows of its files.
AMONG_HOSTS = {'slow_calls': 'medians of the calls of all devices of the run'}
# Equal programs of several hosts share a row, with their number.
JOINED = ('fragmentation', 'peak_holders', 'peak_memory')

OF_ALL_HOSTS = 'order of the rows of all hosts'
COLUMNS = {('kernel_stats', 'rank'): OF_ALL_HOSTS, ('inference_requests', 'rank'): OF_ALL_HOSTS,
           ('inference_batches', 'rank'): OF_ALL_HOSTS, ('peak_holders', 'rank'): OF_ALL_HOSTS,
           ('devices', 'time_scale_multiplier'): 'of the TPUs of the source',
           ('collectives', 'global_wait_ps'): 'waits for devices of all hosts',
           ('collectives', 'spans_hosts'): 'compares devices of all hosts',
           ('device_time', 'is_main'): 'a main device of the run',
           ('host_steps', 'step'): 'number of the step in the run',
           ('step_breakdown', 'step'): 'number of the step in the run',
           ('core_steps', 'step'): 'number of the step in the run',
           ('core_steps', 'pod_step'): 'number of the step in the run',
           ('core_steps', 'dropped'): ALIGNED,
           ('core_steps', 'hostname'): "NULL for steps that XProf's pod viewer omits, "
           "those of the run",
           ('device_steps', 'step'): 'number of the step in the run',
           ('step_ops', 'step'): 'number of the step in the run',
           ('exposed_communication_by_step', 'step'): 'number of the step in the run',
           ('exposed_communication_by_step', 'name'): 'name of the step on the first host',
           ('stragglers', 'rank'): OF_ALL_HOSTS,
           ('stragglers', 'over_median_ms'): 'against the cores of the run',
           ('stragglers', 'z_score'): 'against the cores of the run',
           ('stragglers', 'straggler'): 'against the cores of the run'}
# Hosts of different kinds, taken from kept runs of one host.
MIXED = (('perf_counters_odd', 'gpu_samples', 'tpu_train_54'), ('gpu_train_38', 'cpu_tf_82'),
         ('edge_nested', 'gpu_dropped_steps'), ('cpu_tf_82', 'perf_counters_odd'),
         ('jax_recompiles', 'jax_train_mlp'), ('h100_jax', 'h100_kinds'))
needed, falsified = set(), set()


def tables():
    """{table: {column: is hidden}}"""
    of_a_run, found = tables_of_a_run(), collections.defaultdict(dict)
    for r in ask('SELECT table_name, "column" AS name, type FROM prof_columns'):
        if r['table_name'] in of_a_run:
            found[r['table_name']][r['name']] = r['type'].endswith('HIDDEN')
    return {t: columns for t, columns in found.items() if 'host' in columns and 'source' in columns}


def rows_of(run, table, columns):
    """All rows; texts, which may be no UTF-8, as hex, and reals as texts of nine digits."""
    shown = [c for c, hidden in columns.items() if not hidden and c != 'run']
    cells = ', '.join("CASE WHEN typeof({0}) IN ('text', 'blob') THEN hex({0}) WHEN typeof({0}) = "
                      "'real' THEN printf('%.9g', {0}) ELSE {0} END AS {0}".format('"%s"' % c)
                      for c in shown)
    if table == 'prof_issues':  # what the tables asked before found would be there too
        ask('SELECT prof_clear()')
    return run.ask('SELECT %s FROM %s WHERE source = {x}%s' % (cells, table, ' AND n = 1000000'
                                                               if 'n' in columns else ''))


def keys(rows, but=()):
    """The rows without some columns, as tuples."""
    columns = [c for c in rows[0] if c not in but] if but and rows else None
    return [tuple([r[c] for c in columns]) for r in rows] if columns else [
        tuple(r.values()) for r in rows]


def bag(rows, but=()):
    return collections.Counter(keys(rows, but))


def difference(whole, parts, but):
    """Columns that differ in rows of the run that no file has and the rows of files nearest to
    them."""
    a, b = ([r for r, key in zip(rows, keys(rows, but)) if key not in others]
            for rows, others in ((whole, bag(parts, but)), (parts, bag(whole, but))))
    if not a or not b:
        return '%d rows of the run, %d of the files: %s' % (len(whole), len(parts), (a or b)[:1])
    near = min(b, key=lambda r: sum(r[c] != a[0][c] for c in r if c not in but))
    return {c: (a[0][c], near[c]) for c in near if c not in but and a[0][c] != near[c]}


def steps_of_cores(run, offset=0):
    """{(host, core): the complete steps}"""
    found = collections.defaultdict(set)
    for r in run.ask('SELECT hex(host) AS host, core_id, start_ps, total_us '
                     'FROM core_steps({x}) WHERE NOT dropped'):
        found[r['host'], r['core_id'] + offset].add((r['start_ps'], r['total_us']))
    return found


def comparable(table, rows, same_steps):
    """The rows of a table of PARTLY that the run and its files should have alike."""
    if table == 'stragglers':
        return [r for r in rows if (r['host'], r['core_id']) in same_steps]
    return [r for r in rows if bytes.fromhex(r['code']).decode() not in ABOUT_THE_RUN]


def problem(table, whole, parts, main, difference=difference):
    """What the rows of the run and those of its files say differently; None: nothing. Exceptions
    that matter are noted."""
    but = {c for t, c in COLUMNS if t == table}
    if table in AMONG_HOSTS:
        if bag(whole) != bag(parts):
            needed.add(table)
        return None
    if table in JOINED:
        aside = {'host', 'hosts', *but}
        apart, together = bag(parts, aside), bag(whole, aside)
        if set(apart) != set(together):
            return difference(whole, parts, aside)
        if bag(whole) != bag(parts):
            needed.update({table, *((table, c) for c in but)})
        return None if sum(r['hosts'] for r in whole) == len(parts) else 'hosts: %d, %d rows' % (
            sum(r['hosts'] for r in whole), len(parts))
    if table in ('gaps', 'idle_gaps') and main is not None:
        kept = [r for r in parts if (r['host'], r['plane']) in main]
        if len(kept) < len(parts):
            needed.add(table)
        parts = kept
    elif table in SOME:
        if table in ('device_steps', 'exposed_communication_by_step'):  # time of no step of the run
            whole, parts = ([r for r in rows if r['step'] is not None] for rows in (whole, parts))
        if bag(whole, but) != bag(parts, but):
            needed.add(table)
        # a step with two numbers, of the pod viewer and of the other tools, has two rows
        if set(bag(whole, but)) - set(bag(parts, but)):
            return difference(whole, parts, but)
        for c in but:
            if set(bag(whole, but - {c})) - set(bag(parts, but - {c})):
                needed.add((table, c))
        return None
    for c in but:
        if bag(whole, but - {c}) != bag(parts, but - {c}):
            needed.add((table, c))
    return None if bag(whole, but) == bag(parts, but) else difference(whole, parts, but)


def changed(value):
    return 1 if value is None else value + '00' if isinstance(value, str) else value + 1


def falsify(table, columns, whole, parts, main):
    """A changed cell of each column is noticed."""
    rows = [r for r in whole if not (table in SOME and r.get('step', 0) is None)]
    if table in AMONG_HOSTS:
        falsified.add((table, None))
        return
    for c in rows[0] if rows else ():
        if (table, c) not in COLUMNS and (table, c) not in falsified and not (table in JOINED
                                                                              and c == 'host'):
            at = whole.index(rows[0])
            wrong = whole[:at] + [{**whole[at], c: changed(whole[at][c])}] + whole[at + 1:]
            kept = set(needed)
            agree('%s.%s can be wrong unnoticed' % (table, c),
                  problem(table, wrong, parts, main, lambda *rows: 'some') is None, False)
            needed.intersection_update(kept)
            falsified.add((table, c))


def check(run, known):
    alone = [Run(f, [f]) for f in run.files]
    counts = [one.ask('SELECT (SELECT count(*) FROM planes({x})) AS planes, (SELECT count(*) '
                      'FROM lines({x})) AS lines, (SELECT sum(event_count) '
                      'FROM lines({x})) AS events')[0] for one in alone]
    main = {(r['host'], r['plane']) for r in rows_of(run, 'device_time', known['device_time'])
            if r['is_main'] and r['busy_ps']} or None
    of_run = steps_of_cores(run)
    of_files = [steps_of_cores(one, 1000 * i) for i, one in enumerate(alone)]
    same_steps = {core for steps in of_files for core in steps if steps[core] == of_run.get(core)}
    for table, columns in known.items():
        whole, parts = rows_of(run, table, columns), []
        for i, one in enumerate(alone):
            of_file = rows_of(one, table, columns)
            before = {'cores': 1000 * i, 'processes': 1000 * i + 1000, 'hosts': i,
                      **{what: sum(n[what] or 0 for n in counts[:i]) for what in counts[i]}}
            for c in of_file[0] if of_file else ():
                what = COUNTED.get((table, c)) or COUNTED.get(c)
                for r in of_file if what else ():
                    if r[c] is not None:
                        r[c] += before[what]
            parts += of_file
        if table in PARTLY:
            compared = [comparable(table, rows, same_steps) for rows in (whole, parts)]
            if [len(whole), len(parts)] != list(map(len, compared)):
                needed.add(table)
            whole, parts = compared
        agree(table, problem(table, whole, parts, main), None)
        falsify(table, columns, whole, parts, main)


def together(folder, files):
    """A run of hosts whose files come from other runs."""
    os.makedirs(folder)
    made = [os.path.join(folder, 'host%d.xplane.pb' % i) for i in range(len(files))]
    for to, file in zip(made, files):
        shutil.copy(file, to)
    return Run(folder, made)


def sampled(path):
    """A host whose GPU was sampled twice."""
    samples = [(name, at, 0, {'counter_value': {'uint64': at + i}}) for at in (1000, 2000)
               for i, name in enumerate(('power_mw', 'sm_clock_mhz', 'gpu_temp_c'))]
    with open(path, 'wb') as f:
        f.write(space(Plane('/device:GPU:0').line(1, '_counters_', samples).line(
            2, 'Stream #1', [('kernel', 1500, 700)]).bytes()))
    return path


known, alone = {}, {}


def each(run):
    if not known:
        known.update(tables())
    if len(run.files) > 1:
        tried('hosts_apart ' + run.path, check, run, known)
    elif run.files[0].endswith('.pb'):
        alone[run.path.split('tests/data/')[-1].split('/')[0]] = run.files[0]


def made():
    with tempfile.TemporaryDirectory() as top:
        alone['gpu_samples'] = sampled(os.path.join(top, 'samples.pb'))
        for names in MIXED:
            if all(name in alone for name in names):
                folder = os.path.join(top, 'plugins', 'profile', '_'.join(names))
                tried('hosts_apart ' + ' and '.join(names), check,
                      together(folder, [alone[name] for name in names]), known)
    if looks_at_all():
        unneeded = {*COLUMNS, *SOME, *JOINED, *PARTLY, *AMONG_HOSTS} - needed
        tried('hosts_apart needs its exceptions', agree, 'exceptions that no run needs',
              sorted(map(str, unneeded)), [])
        tried('hosts_apart sees every table', agree, 'tables without rows in all runs',
              sorted(set(known) - {t for t, _ in falsified}), [])


if __name__ == '__main__':
    main(each, made)
