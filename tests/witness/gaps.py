#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the time goes, from the bytes of each profile: idle_gaps, gaps, op_time_by_category,
kpi, host_bound of TensorCores, and compiling in steps."""
import collections
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, main, numbered, seeds, tried  # noqa: E402
from idle_causes import check as idle_causes, process_work  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

NO_STREAMS = {'Steps', 'Sparse Core Steps', 'XLA Modules', 'Sparse Core Modules', 'XLA Ops',
              'Sparse Core Ops', 'Async XLA Ops', 'Framework Name Scope', 'TensorFlow Name Scope',
              'Framework Ops', 'TensorFlow Ops', 'Source code', 'Launch Stats', '_counters_'}


def streams(plane):
    return [l for l in plane.lines if not l.derived and l.name not in NO_STREAMS]


def op_lines(plane):
    return [l for l in plane.lines if not l.derived and l.name in ('XLA Ops', 'Sparse Core Ops')]


def work(run):
    """{(host, plane, its place in the run): [(event id, event)]}: of GPUs and TensorCores; without
    work on these of SparseCores, then of processes."""
    found = {kinds: {} for kinds in (('gpu', 'tensorcore'), ('sparsecore',), ('host',))}
    ids = {id(e): number for number, _, _, _, e in numbered(run)}
    planes = [(host, plane) for host, planes in run.hosts.items() for plane in planes]
    for place, (host, plane) in enumerate(planes):
        lines = {'gpu': streams, 'tensorcore': op_lines, 'sparsecore': op_lines}.get(plane.kind)
        events = process_work(plane) if plane.kind == 'host' else [
            e for l in lines(plane) for e in l.events if e.occurrences is None] if lines else []
        if any(e.duration_ps > 0 for e in events):
            of = next(of for kinds, of in found.items() if plane.kind in kinds)
            of[host, plane.name, place] = [(ids[id(e)], e) for e in events]
    return next((of for of in found.values() if of), {})


def gaps(events):
    """[(start, end, what ends at the start, what begins at the end)] between events that take time,
    each with its id."""
    order = sorted((x for x in events if x[1].duration_ps > 0), key=lambda x: x[1].start_ps)
    found, until = [], None
    for _, e in order:
        if until is not None and e.start_ps > until:
            found.append((until, e.start_ps))
        until = e.end_ps if until is None else max(e.end_ps, until)
    ending, starting = collections.defaultdict(list), collections.defaultdict(dict)
    for number, e in sorted(order, key=lambda x: (-x[1].duration_ps, x[0])):
        ending[e.end_ps].append((e.start_ps, number, e))
        starting[e.start_ps].setdefault(id(e.line), (e.end_ps, number, e))  # contains the others
    return [(start, end, min(ending[start], key=lambda x: x[:2])[1:],
             min(starting[end].values(), key=lambda x: x[:2])[1:]) for start, end in found]


def idle_gaps(run):
    """Of names the one to show, if the file has it."""
    want = {(place, start): (host, plane, *gap) for (host, plane, place), of in work(run).items()
            for start, *gap in gaps(of)}
    got, some, table, few = run.ask_all(
        'SELECT * FROM idle_gaps({x})', 'SELECT * FROM idle_gaps({x}, 3)',
        'SELECT * FROM gaps({x})', 'SELECT * FROM gaps({x}, 3)')
    agree('rows of gaps', {(r['plane_id'], r['start_ps']): [
        r[c] for c in ('host', 'plane', 'duration_ps', 'before_event_id', 'before',
                       'after_event_id', 'after')] for r in table}, {
        key: [host, plane, end - key[1], i, before.short_name, k, after.short_name]
        for key, (host, plane, end, (i, before), (k, after)) in want.items()})
    longest = sorted((end - start for (_, start), (_, _, end, _, _) in want.items()), reverse=True)
    agree('longest first', [r['duration_us'] for r in got], [ps / 1e6 for ps in longest])
    agree('the three longest', [[r['duration_us'] for r in some],
                                sorted((r['duration_ps'] for r in few), reverse=True)],
          [[ps / 1e6 for ps in longest[:3]], [ps for ps in longest if ps >= longest[:3][-1]]])
    short = {r['event_id']: r['short_name']
             for r in run.ask('SELECT event_id, short_name FROM trace_events({x})')} if want else {}
    columns = ('host', 'plane', 'start_ps', 'start_us', 'duration_us',
               'before', 'before_short_name', 'after', 'after_short_name')
    agree('gaps', sorted([r[c] for c in columns] for r in got), sorted(
        [host, plane, start, start / 1e6, (end - start) / 1e6, before.short_name, short[i],
         after.short_name, short[k]]
        for (_, start), (host, plane, end, (i, before), (k, after)) in want.items()))
    agree('short names', {(r['before_event_id'], r['after_event_id']): [
        r['before_short_name'], r['after_short_name']] for r in table}, {
        (i, k): [short[i], short[k]] for _, _, _, (i, _), (k, _) in want.values()})


def length(events):
    """Time that the events cover, by the gaps that they leave."""
    timed = [e for e in events if e.duration_ps > 0]
    if not timed:
        return 0
    return max(e.end_ps for e in timed) - min(e.start_ps for e in timed) - sum(
        end - start for start, end, _, _ in gaps(list(enumerate(timed))))


def last(e):
    """A negative duration counts as 0."""
    return max(e.start_ps, e.end_ps)


def timed_gpus(run):
    """[(host, plane, events with times)] of the GPUs, and the span of those of each host."""
    gpus = []
    for host, planes in run.hosts.items():
        for plane in planes:
            events = [e for l in streams(plane) for e in l.events if e.occurrences is None]
            if plane.kind == 'gpu' and events:
                gpus.append((host, plane, events))
    spans = {host: max(last(e) for h, _, es in gpus if h == host for e in es)
             - min(e.start_ps for h, _, es in gpus if h == host for e in es) for host, _, _ in gpus}
    return gpus, spans


def gpu_shares(run):
    """Time of a run's GPUs: in all events, and in none. What part of the spans they are busy."""
    gpus, spans = timed_gpus(run)
    if not gpus or any(l.events for planes in run.hosts.values() for p in planes
                       if p.kind == 'tensorcore' for l in p.lines):
        return
    busy, span = sum(length(events) for _, _, events in gpus), sum(spans[host]
                                                                   for host, _, _ in gpus)
    ops = sum(max(e.duration_ps, 0) for _, _, events in gpus for e in events)
    rows = run.ask("SELECT category, self_time_us, occurrences, percent_of_ops "
                   "FROM op_time_by_category({x}) WHERE host_or_device = 'Device'")
    if not ops and span == busy:  # no time at all, no rows
        agree('rows', rows, [])
        return
    agree('time of ops', sum(r['self_time_us'] for r in rows if r['category'] != 'IDLE'), ops / 1e6)
    agree('events', sum(r['occurrences'] for r in rows),
          sum(e.duration_ps >= 0 for _, _, events in gpus for e in events))
    agree('time in no op', [r['self_time_us'] for r in rows if r['category'] == 'IDLE'],
          [(span - busy) / 1e6])
    agree('percents', sum(r['percent_of_ops'] or 0 for r in rows) if ops else 100, 100)
    if all(p.kind not in ('tensorcore', 'sparsecore') for planes in run.hosts.values()
           for p in planes):
        kpi = run.ask('SELECT active_device_count, device_busy_percent FROM kpi({x})')[0]
        agree('kpi', kpi, {'active_device_count': len(gpus),
                           'device_busy_percent': 100 * busy / span if span else None})


def flops_by_category(run):
    """Operations and bytes of op_time_by_category: of devices the sums of hlo_ops, whose figures
    tests/witness/flops.py works out; of GPUs and host threads those of scope_ops (scopes.py)."""
    got = {(r['host_or_device'], r['category']): (r['flops'], r['bytes_accessed'])
           for r in run.ask('SELECT * FROM op_time_by_category({x})') if r['flops'] is not None
           or r['bytes_accessed'] is not None}
    want = collections.defaultdict(lambda: [0, 0])
    on_gpus = run.ask('SELECT host, program_id, hlo_op, flops, bytes_accessed AS bytes '
                      "FROM scope_ops({x}) WHERE plane_kind = 'gpu' AND hlo_op IS NOT NULL")
    kinds = {(i['host'], i['program_id'], i['hlo_op']): i['category'] for i in run.ask(
        'SELECT host, program_id, hlo_op, category FROM hlo_instructions({x})')} if on_gpus else {}
    for o in on_gpus:
        o['category'] = kinds.get((o['host'], o['program_id'], o['hlo_op']))
    for o in on_gpus or run.ask(
            "SELECT nullif(category, '') AS category, model_flops_actual AS flops, "
            'bytes_accessed_actual AS bytes FROM hlo_ops({x}) WHERE rank > 0'):
        want['Device', o['category']][0] += o['flops'] or 0
        want['Device', o['category']][1] += o['bytes'] or 0
    if any(side == 'Host' for side, _ in got):
        on_host, instructions = run.ask_all(
            'SELECT host, program_id, hlo_op, flops, bytes_accessed AS bytes, self_us, occurrences '
            "FROM scope_ops({x}) WHERE plane_kind = 'host' AND hlo_op IS NOT NULL",
            'SELECT host, program_id, hlo_op, category FROM hlo_instructions({x})')
        kinds = {(i['host'], i['program_id'], i['hlo_op']): i['category'] for i in instructions}
        times = collections.defaultdict(lambda: [0, 0])
        for o in on_host:
            category = kinds.get((o['host'], o['program_id'], o['hlo_op']))
            want['Host', category][0] += o['flops'] or 0
            want['Host', category][1] += o['bytes'] or 0
            times[category][0] += o['self_us']
            times[category][1] += o['occurrences']
        agree('host times', {r['category']: (r['self_time_us'], r['occurrences']) for r in run.ask(
            "SELECT * FROM op_time_by_category({x}) WHERE host_or_device = 'Host'")},
              {key: tuple(x) for key, x in times.items()}, rel=1e-6)
    agree('flops and bytes', got, {key: tuple(x or None for x in sums) for key, sums in want.items()
                                   if any(sums)}, rel=1e-6)


def idle_cores(run):
    """Time of the steps in which TensorCores run no op; only if an op brings input: otherwise
    XProf's guess at waiting for input is taken off."""
    planes = [p for planes in run.hosts.values() for p in planes]
    ops = {i: [e for l in p.lines if l.name == 'XLA Ops' for e in l.events if e.occurrences is None
               and e.duration_ps > 0] for i, p in enumerate(planes) if p.kind == 'tensorcore'}
    steps = run.ask('SELECT plane_id, start_ps, total_us FROM core_steps({x}) WHERE NOT dropped '
                    'AND plane_id IS NOT NULL')
    if not steps or not all(any('infeed' in e.name for e in ops[s['plane_id']]) for s in steps):
        return
    idle, total = 0, 0
    for s in steps:
        start, end = s['start_ps'], s['start_ps'] + round(s['total_us'] * 1e6)
        at, total = start, total + end - start
        for e in sorted(ops[s['plane_id']], key=lambda e: e.start_ps):
            if e.end_ps > at and e.start_ps < end:
                idle, at = idle + max(0, e.start_ps - at), max(at, min(e.end_ps, end))
        idle += end - at
    total += sum(round(r['total_us'] * 1e6)
                 for r in run.ask('SELECT total_us FROM core_steps({x}) WHERE NOT dropped '
                                  'AND plane_id IS NULL'))
    rows = {r['what']: r for r in run.ask('SELECT what, percent FROM host_bound({x})')}
    agree('parts', sum(r['percent'] for r in rows.values()), 100)
    agree('idle', rows['idle']['percent'], 100 * idle / total)


def is_compiler(name):
    """By hand: the events that the kept profiles have, and of GPU and TPU compilers."""
    words = ('backend_compile', 'XLAGraphExecutor::Compile', 'PjRtComputationClient::Compile',
             'JitCompiler::Compile', 'FusionCompiler::Compile',
             'PjRtCpuClient::Compile', 'CpuCompiler::RunBackend',
             'CpuCompiler::CompileCpuExecutable',
             'XlaCompile', 'GpuCompiler::', 'TfrtTpuCompiler::Compile')
    return name.startswith(words)


def compiling(run):
    """In steps of a host without devices that XProf finds by JAX's or TensorFlow's markers: compile
    events of the threads while the step lasts."""
    if any(p.kind in ('gpu', 'tensorcore') for planes in run.hosts.values()
           for p in planes) or len(run.hosts) != 1:
        return
    events = [e for planes in run.hosts.values() for p in planes if p.name == '/host:CPU'
              for l in p.lines for e in l.events if is_compiler(e.name)]
    for r in run.ask('SELECT start_ps, duration_ms, compilation_ms_actual AS ms FROM steps({x}) '
                     'WHERE core_count'):
        start, end = r['start_ps'], r['start_ps'] + round(r['duration_ms'] * 1e9)
        inside = 0
        edges = sorted({start, end} | {t for e in events for t in (e.start_ps, e.end_ps)
                                       if start < t < end})
        for a, b in zip(edges, edges[1:]):
            inside += (b - a) * any(e.start_ps <= a and b <= e.end_ps for e in events)
        agree('step from %d' % start, r['ms'], inside / 1e9)


def each(run):
    for check in (idle_gaps, gpu_shares, flops_by_category, idle_cores, compiling):
        tried('%s %s' % (check.__name__, run.path), check, run)


# ---- random runs without devices ----

NAMES = ['dot', 'load', 'net/a_1.b>c-d:MatMul', '.1:_Send', 'A:B', '1:_', '_a:MatMul', 'a b:MatMul',
         'a:matMul', 'a:Mat-Mul', 'a::B', ':B', 'a:', '\u00e9:B', 'a:\u00c9', 'IteratorGetNext',
         'IteratorGetNext:IteratorGetNext', 'a:iteratorgetNEXT', 'ITERATORGETNEXT_1/_2:Identity',
         'x/IteratorGetNext:A', 'Iterator::Batch', 'Await', 'PjitFunction(f)', '$a.py:1 f']


def random_process(dice, name):
    plane = Plane(name)
    for number in range(dice.randint(1, 4)):
        events = []
        for _ in range(dice.randint(0, 12)):  # stored in any order
            stats = {'hlo_op': dice.choice([{'str': 'add'}, {'str': ''}, {'int64': 0}])}
            events.append((dice.choice(NAMES), dice.randint(0, 60), dice.choice((0, 1, 2, 3, 9)),
                           dice.choice([stats, None, None]), dice.choice([2] + [None] * 15)))
        plane.line(dice.choice((number, number, -559038737)), 'thread', events)
    return plane.bytes()


def random_run(dice, folder):
    """In some runs a GPU has work, perhaps of duration 0, or only aggregated events."""
    os.makedirs(folder)
    paths = [os.path.join(folder, host + '.xplane.pb') for host in 'ab'[:dice.randint(1, 2)]]
    for path in paths:
        planes = [random_process(dice, name) for name in ('/host:CPU', '/host:x', 'Syscalls')
                  if dice.randint(0, 1)]
        if not dice.randint(0, 5):
            work = ('kernel', dice.randint(0, 9), dice.randint(0, 1), None, dice.choice([None, 2]))
            planes.append(Plane('/device:GPU:0').line(7, 'Stream #7', [work]).bytes())
        with open(path, 'wb') as f:
            f.write(space(*planes))
    return Run(folder, paths)


def made():
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(60):
            run = random_run(random.Random(seed), os.path.join(top, 'plugins/profile/%d' % seed))
            for name, check in (('gaps', idle_gaps), ('causes', idle_causes)):
                tried('%s of seed %d' % (name, seed), check, run)


if __name__ == '__main__':
    main(each, made)
