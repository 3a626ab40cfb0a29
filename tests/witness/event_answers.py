#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions about what happened during the capture: host_waits and gpu_counters from the
bytes of each file; steady_steps, memory_growth, host_only_ops, launch_queue, slow_calls and
batch_padding from the rows of events, steps, launches and batches, which are compared elsewhere."""
import collections
import math
import os
import random
import re
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, main, numbered, tried  # noqa: E402
from idle_causes import cause_of  # noqa: E402
from lib.wire import US, Plane, space  # noqa: E402
from queries import percent, ranked, rows_agree  # noqa: E402

MIB = 1048576.0


def values(rows, *but):
    return [[v for c, v in r.items() if c not in ('run', 'rank') + but] for r in rows]


# ---- steps ----

def compiling_steps(run):
    """Numbers of the steps that have a compilation, in whose time one starts on the only host, or
    whose time goes in part into compiling."""
    steps = run.ask('SELECT * FROM steps({x})')
    number = {(r['host'], r['group_id']): r['step'] if len(run.files) > 1 else r['group_id']
              for r in run.ask('SELECT host, group_id, step FROM host_steps({x})')}
    found = {s['step'] for s in steps if (s['compilation_ms_actual'] or 0) > 0}
    for c in run.ask('SELECT host, step, start_ps FROM compilations({x})'):
        if c['step'] is not None:
            found.add(number.get((c['host'], c['step'])))
        if len(run.files) == 1:
            found |= {s['step'] for s in steps
                      if 0 <= c['start_ps'] - s['start_ps'] < s['duration_ms'] * 1e9}
    return found


def steady_steps(run):
    steps, compiled = run.ask('SELECT * FROM steps({x})'), compiling_steps(run)
    last = max((s['start_ps'] for s in steps if s['step'] in compiled), default=-math.inf)
    clean = [s for s in steps if not s['dropped'] and s['step'] not in compiled]
    before, after = ([s for s in clean if (s['start_ps'] < last) == earlier]
                     for earlier in (True, False))
    steady = clean if len(before) > len(after) else after
    ms = [s['duration_ms'] for s in steady]
    want = [[len(ms), len(steps) - len(ms), sum(s['step'] in compiled for s in steps),
             min(s['step'] for s in steady), statistics.median(ms), statistics.fmean(ms), min(ms),
             max(ms), statistics.stdev(ms) if len(ms) > 1 else None,
             statistics.fmean(s['duration_ms'] for s in steps)]] if steady else []
    agree('steady_steps', values(run.ask('SELECT * FROM steady_steps({x})')), want)


# ---- memory ----

def memory_growth(run):
    levels, want = collections.defaultdict(dict), []
    for e in sorted(run.ask('SELECT * FROM memory_events({x})'),
                    key=lambda e: (e['time_ps'], e['event_id'])):
        levels[e['host'], e['allocator']][e['step']] = max(0, e['heap_bytes'] + e['stack_bytes'])
    for key, of in levels.items():
        steps, n = list(of), len(of) - 1
        mib = [of[s] / MIB for s in steps]
        growth = [b - a for a, b in zip(mib, mib[1:])]
        if n:
            want.append([*key, n + 1, steps[0], steps[-1], mib[0], mib[-1], mib[-1] - mib[0],
                         (mib[-1] - mib[0]) / n, sum(g > 0 for g in growth),
                         steps[1 + growth.index(max(growth))] if max(growth) > 0 else None])
    got = run.ask('SELECT * FROM memory_growth({x})')
    rows_agree('memory_growth', values(got), want)
    order = [r['growth_mib'] for r in got]
    agree('order', order, sorted(order, reverse=True))


# ---- hosts ----

def host_only_ops(run):
    """Ops have types; XlaModule is none."""
    ops, kernels = run.ask_all('SELECT * FROM tf_ops({x}, 0, 0)',
                               'SELECT operation FROM kernel_time_by_op({x})')
    on_device = {o['operation'] for o in ops if o['host_or_device'] == 'Device'}
    on_device |= {k['operation'] for k in kernels}
    on_host = [o for o in ops if o['host_or_device'] == 'Host' and o['type']
               and o['operation'] != 'XlaModule']
    everything = sum(o['self_ps'] for o in on_host)
    got = run.ask('SELECT * FROM host_only_ops({x})')
    ranked('host_only_ops', got, lambda r: r['self_time_us'])
    rows_agree('host_only_ops', values(got), [
        [o['operation'], o['type'], o['execution_mode'], o['occurrences'], o['time_ps'] / 1e6,
         o['self_ps'] / 1e6, percent(o['self_ps'], everything)]
        for o in on_host if o['operation'] not in on_device], rel=1e-6)
    agree('the first two', run.ask('SELECT * FROM host_only_ops({x}, 2)'), got[:2])


def is_wait(name):
    if name.startswith('$') and re.search('[ .](item|tolist)$', name):
        return True
    return cause_of(name) == 'waiting' and '(wait for completion)' not in name \
        and 'ThreadPool::Await' not in name


def is_timed_wait(e):
    return e.occurrences is None and is_wait(e.name)


def host_waits(run):
    threads, waits = {}, collections.defaultdict(list)
    for number, host, plane, line, e in numbered(run):
        if plane.kind == 'host' and not line.derived:
            threads.setdefault(line, (host, []))[1].append((number, e))
    steps = {r['event_id']: r['step'] for r in run.ask(
        "SELECT event_id, step FROM trace_events({x}) WHERE plane_kind = 'host'")}
    for line, (host, events) in threads.items():
        around = []
        for number, e in sorted(events, key=lambda x: (x[1].start_ps, -x[1].duration_ps, x[0])):
            while around and around[-1].end_ps < e.end_ps:
                around.pop()
            if is_timed_wait(e) and not any(map(is_timed_wait, around)):
                waits[line, host, line.display or line.name, e.name].append(
                    (-e.duration_ps, e.start_ps, number, around[-1].name if around else None))
            around.append(e)
    want = []
    for (_, *place), of in waits.items():
        longest, total = min(of), -sum(w[0] for w in of)
        want.append([*place, longest[3], len(of), total / 1e6, total / 1e6 / len(of),
                     -longest[0] / 1e6, longest[1] / 1e6, steps[longest[2]]])
    got = run.ask('SELECT * FROM host_waits({x})')
    rows_agree('host_waits', values(got), want)
    order = [r['total_us'] for r in got]
    agree('order', order, sorted(order, reverse=True))


# ---- devices ----

def gpu_counters(run):
    samples, want = collections.defaultdict(list), []
    for number, host, plane, line, e in numbered(run):
        if plane.kind == 'gpu' and line.name == '_counters_':
            samples[host, plane, e.name].append((e.start_ps, number, next(iter(
                e.stats.values()), None)))
    for (host, plane, name), of in samples.items():
        before = None
        for start, _, value in sorted(of, key=lambda s: s[:2]):
            number = isinstance(value, (int, float)) and math.isfinite(value)
            want.append([host, plane.name, name, start, start / 1e6,
                         None if before is None else (start - before) / 1e6,
                         float(value) if number else None])
            before = start
    got = run.ask('SELECT * FROM gpu_counters({x})')
    rows_agree('gpu_counters', values(got), want)
    for plane in {(r['host'], r['plane']) for r in got}:
        starts = [r['start_ps'] for r in got if (r['host'], r['plane']) == plane]
        agree('order', starts, sorted(starts))


def launch_queue(run):
    streams, want = collections.defaultdict(list), []
    for d in run.ask('SELECT d.*, l.name AS line FROM launch_delays({x}) AS d '
                     'JOIN lines({x}) AS l USING (line_id)'):
        if d['launch_start_ps'] < d['start_ps']:
            streams[d['host'], d['plane'], d['line_id'], d['line']].append(d)
    for (host, plane, _, line), of in streams.items():
        of.sort(key=lambda d: d['launch_start_ps'])
        queued = [(sum(x['start_ps'] > d['launch_start_ps'] for x in of[:i + 1]),
                   -d['launch_start_ps']) for i, d in enumerate(of)]
        longest, first = max(queued)
        want.append([host, plane, line, len(of), longest, -first / 1e6,
                     statistics.fmean(n for n, _ in queued), sum(n == 1 for n, _ in queued),
                     statistics.median(d['delay_ps'] for d in of) / 1e6,
                     max(d['launch_duration_ps'] for d in of) / 1e6])
    got = run.ask('SELECT * FROM launch_queue({x})')
    rows_agree('launch_queue', values(got), want)
    order = [r['longest_queue'] for r in got]
    agree('order', order, sorted(order, reverse=True))


def slow_calls(run):
    calls, by_name = [], collections.defaultdict(list)
    for e in run.ask("SELECT e.*, l.kind AS on_line, l.name AS of_line FROM trace_events({x}) AS e "
                     "JOIN lines({x}) AS l USING (line_id) WHERE NOT e.derived "
                     "AND e.occurrences IS NULL"):
        if e['plane_kind'] in ('gpu', 'tensorcore', 'sparsecore') and e['on_line'] in (
                'stream', 'ops', 'async_ops'):
            of = by_name[e['name'], e['plane_kind'], e['program_id']]
            of.append(e['duration_ps'])
            calls.append((e, of))
    medians, want = {key: statistics.median(of) for key, of in by_name.items()}, []
    for e, of in calls:
        median = medians[e['name'], e['plane_kind'], e['program_id']]
        over = e['duration_ps'] - median
        if over > 0 and len(of) > 2:
            want.append([e['host'], e['plane'], e['of_line'], e['name'], e['short_name'],
                         e['hlo_module'], e['step'], e['start_ps'] / 1e6, e['duration_ps'] / 1e6,
                         median / 1e6, over / 1e6, e['duration_ps'] / median if median else None,
                         len(of)])
    got = run.ask('SELECT * FROM slow_calls({x})')
    ranked('slow_calls', got, lambda r: r['over_median_us'])
    rows_agree('slow_calls', values(got), want)
    agree('the first two', run.ask('SELECT * FROM slow_calls({x}, NULL, 2)'), got[:2])
    agree('calls of some', values(run.ask("SELECT * FROM slow_calls({x}, 'AdD')")),
          [v for v, r in zip(values(got), got) if 'add' in r['name'].lower()])


# ---- model servers ----

def batch_padding(run):
    models, want = collections.defaultdict(list), []
    for b in run.ask('SELECT * FROM inference_batches({x})'):
        if b['batch_size_after_padding'] > 0:
            models[b['model']].append((b['batch_size_after_padding'], b['padding_amount'],
                                       b['device_compute_ps_actual'] / 1e6))
    for model, of in models.items():
        size, padding, us = map(sum, zip(*of))
        want.append([model, len(of), sum(p > 0 for _, p, _ in of), size / len(of),
                     padding / len(of), percent(padding, size), us,
                     sum(t * p / n for n, p, t in of)])
    got = run.ask('SELECT * FROM batch_padding({x})')
    rows_agree('batch_padding', values(got), want)
    order = [r['padding_percent'] for r in got]
    agree('order', order, sorted(order, reverse=True))


# ---- made at random ----

WAITS = ('block_until_ready', 'cudaStreamSynchronize', '$a.py:3 item', '$numpy tolist',
         '$a.py:3 itemsize', 'SlinkyThreadPool::Await', 'CommonPjRtBuffer::Await', 'work',
         'ThunkExecutor::Execute (wait for completion)', 'IteratorGetNextAwait')


OPS = ('f/MatMul:MatMul', 'g/Relu:Relu', 'h/Add:AddV2', 'XlaModule:XlaModule')


def nested(dice, start, end, group, depth=0):
    while start + 10 < end:
        length = dice.randint(5, end - start)
        name = dice.choice(WAITS + ('backend_compile', ) * (dice.random() < 0.05))
        yield (name, start, length, group) if dice.random() < 0.9 else (name, start, length, group,
                                                                        3)
        if depth < 3:
            yield from nested(dice, start + 1, start + length - 1, group, depth + 1)
        start += length + dice.randint(0, 20)


def random_host(dice, n):
    first, threads, at = dice.randint(0, 3), [[], [], []], 0
    for number in range(first, first + n):
        group, length = {'group_id': {'int64': number}}, dice.randint(50, 300)
        threads[0].append(('TraceContext', at, length * US, group))
        for i in (0, 1):
            threads[i] += nested(dice, at + 2, at + dice.randint(20, 500), group)
        if dice.random() < 0.2:
            threads[0].append(('backend_compile', at + 10 * US, 20 * US, group))
        threads[0].append((dice.choice(OPS), at + 40 * US, US, group))
        for i in range(dice.randint(0, 4)):
            threads[2].append(('MemoryAllocation', at + i * US, 0, {
                'allocator_name': {'str': dice.choice('ab')}, **{
                    name: {'int64': number} for name, number in {
                        'addr': dice.randint(1, 9), 'allocation_bytes': 8, 'bytes_available': 1,
                        'bytes_allocated': dice.randint(-2, 9) << 20, 'bytes_reserved': 1 << 19,
                        'group_id': number}.items()}}))
        at += length * US
    host, gpu = Plane('/host:CPU'), Plane('/device:GPU:0', 2)
    for i, events in enumerate(threads):
        host.line(i + 1, 'thread', events)
    calls, kernels, at, free = [], [], 0, 0
    for id in range(dice.randint(0, 30)):
        at += dice.randint(1, 30) * US
        free = max(free, at + dice.randint(-3, 20) * US) + dice.randint(0, 30) * US
        stats = {'correlation_id': {'int64': id}}
        calls.append(('cudaLaunchKernel', at, dice.randint(0, 5) * US, stats))
        kernels.append((dice.choice(('add', 'mul<int>(float)', 'x')), free,
                        dice.choice((0, 0, 5, 9, 30)) * US, {**stats, **{
                            dice.choice(('level 0', 'tf_op', 'annotation')): {
                                'str': dice.choice(OPS)} for _ in range(dice.random() < 0.1)}})
                       + ((4, ) if dice.random() < 0.1 else ()))
    host.line(9, 'launches', calls)
    first = ({'x': {'int64': 3}, 'y': {'int64': 4}}, {'x': {'double': 0.5}}, {'x': {'str': 'z'}},
             {})
    samples = [(dice.choice(('power_mw', 'dram__bytes.sum')), dice.randint(0, 20) * US, 0,
                dice.choice(first)) for _ in range(dice.randint(0, 20))]
    gpu.line(2, '_counters_', samples)
    return space(host.bytes(), gpu.line(1, 'Stream #1', kernels).bytes())


def host_of_tpu(dice):
    """A host that runs ops, some of which its TPU runs, too."""
    host, tpu = Plane('/host:CPU'), Plane('/device:TPU:0', 2)
    host.line(1, 'thread', [(dice.choice(OPS), i * US, US) for i in range(6)])
    keys = [tpu.meta('%%%s.1 = f32[1] add()' % 'abcd'[i], 'abcd'[i] + '.1', {
        'program_id': {'uint64': 1}, 'symbol_id': {'uint64': i + 1}, 'tf_op': {'str': op}})
            for i, op in enumerate(OPS)]
    tpu.line(1, 'XLA Ops', [(dice.choice(keys), i * US, US) for i in range(2)])
    return space(host.bytes(), tpu.bytes())


def made_of_tpus():
    for seed in range(10):
        dice = random.Random(seed)
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, 'plugins', 'profile', 'run')
            os.makedirs(folder)
            files = [os.path.join(folder, h + '.xplane.pb') for h in 'ab']
            for file in files:
                with open(file, 'wb') as f:
                    f.write(host_of_tpu(dice))
            tried('host_only_ops of TPUs %d' % seed, host_only_ops, Run(folder, files))


def made(n=25):
    made_of_tpus()
    for seed in range(n):
        dice = random.Random(seed)
        n_steps = dice.randint(2, 9)
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, 'plugins', 'profile', 'run')
            os.makedirs(folder)
            files = [os.path.join(folder, h + '.xplane.pb') for h in 'ab'[:1 + seed % 2]]
            for file in files:
                with open(file, 'wb') as f:
                    f.write(random_host(dice, n_steps))
            for check in CHECKS:
                tried('%s of made profile %d' % (check.__name__, seed), check, Run(folder, files))


CHECKS = (steady_steps, memory_growth, host_only_ops, host_waits, gpu_counters, launch_queue,
          slow_calls, batch_padding)
def each(run):
    for check in CHECKS:
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each, made)
