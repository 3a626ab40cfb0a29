#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What hosts did in the time of their steps that XProf calls All others: all_others from the bytes
of each profile, as docs/semantics.md defines it.

Which steps there are and when they run is compared with XProf elsewhere (tests/parity). The time is
what the events of a step leave open; the threads are laid over it as over an idle gap."""
import collections
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from activities import events_of, of_gpu, of_thread  # noqa: E402
from compare import Run, agree, main, seeds, tried  # noqa: E402
from idle_causes import Threads, cause_of_moment, names_of_kernels, rows_of  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

# By importance to XProf, the least first
XPROF = ['host_compute', 'host_copies', 'input', 'device_collectives', 'wait', 'device_to_device',
         'output', 'compute_32', 'compute_16']


def of_xprof(e, step_name, at):
    """XProf counts what runs on GPUs and has a correlation id; on a host without a device, what
    threads do. It has no compiling, and recognizes few names of copies."""
    if at.is_work:
        correlation = e.stats.get('correlation_id', -1)  # a text is 0 to XProf
        if isinstance(correlation, int) and correlation < 0:
            return None
        copy = re.match('memcpy(HtoD|DtoH|DtoD)', e.name, re.I)
        if copy and ':' not in e.name:
            return {'htod': 'input', 'dtoh': 'output', 'dtod': 'device_to_device'}[
                copy.group(1).lower()]
        if e.name.lower().startswith('nccl'):
            return 'device_collectives'
        return 'compute_16' if re.search('half|fp16', e.name) else 'compute_32'
    if not at.on_threads or at.has_device:
        return None
    what = of_thread(e, step_name, False)
    return 'host_compute' if what == 'compilation' else what


def open_times(spans, start, end):
    """[(start, end)] of a step in which no activity counts. At each moment ends come first, then
    starts, the more important ones first. So an event without duration ends before it starts, and
    its activity goes on until another one of the kind ends, or the last event does."""
    edges, running, now, since, found = [], collections.Counter(), 0, start, []
    for first, last, what in spans:
        rank = 1 + XPROF.index(what)
        edges += [(first, 1, -rank), (last, 0, -rank)]
    for moment, begins, rank in sorted(edges):
        if not now and min(moment, end) > since:
            found.append((since, min(moment, end)))
        running[rank] += 1 if begins else -1
        if begins:
            now = min(now, rank)
        elif rank == now and not running[rank]:
            now = min((r for r in running if r > rank and running[r] > 0), default=0)
        since = max(start, moment)
    return found + [(since, end)] * (since < end)


def by_time(spans, start, end):
    """The same for steps that only the framework marks: what no event with a duration covers."""
    found, since = [], start
    for first, last, _ in sorted(s for s in spans if s[1] > max(start, s[0]) and s[0] < end):
        if first > since:
            found.append((since, first))
        since = max(since, last)
    return found + [(since, end)] * (since < end)


def spans_of(run, outside):
    """{(host, step): [(start, end, activity)]}; step None: of all"""
    steps = {(r['host'], r['group_id']): r['step']
             for r in run.ask('SELECT host, group_id, step FROM host_steps({x}) '
                              'WHERE group_id IS NOT NULL AND step IS NOT NULL')}
    events = {r['event_id']: (r['step'], r['step_name'])
              for r in run.ask('SELECT event_id, step, step_name FROM trace_events({x}) '
                               'WHERE step IS NOT NULL')}
    found = collections.defaultdict(list)
    for event_id, at, e in events_of(run):
        group, name = events.get(event_id, (None, None))
        step = None if outside else steps.get((at.host, group))
        if not outside and step is None:
            continue
        if not outside:
            what = of_xprof(e, name, at)
        elif at.is_work:
            what = of_gpu(e, at.detailed)
        else:
            what = of_thread(e, name, at.has_device) if at.on_threads else None
        if what:
            found[at.host, step].append((e.start_ps, e.end_ps, what))
    return found


def check(run):
    cores = run.ask('SELECT * FROM core_steps({x}) WHERE plane_id IS NULL AND step IS NOT NULL '
                    'AND NOT dropped')
    got = run.ask('SELECT cause, name, python_frame, all_others_ms, percent, step_percent, '
                  'step_count FROM all_others({x})')
    if any(m.name == 'ThreadpoolListener::StartRegion' for planes in run.hosts.values()
           for p in planes for m in p.metas.values()):
        return  # the regions that XProf adds also count
    if any(r['start_ps'] < 0 for r in cores):
        return  # XProf's times are unsigned
    outside = any(r['outside_xprof'] for r in cores)
    spans, moments, length = spans_of(run, outside), collections.Counter(), 0
    threads = {host: Threads(planes) for host, planes in run.hosts.items()}
    for r in cores:
        host, start = r['host'], r['start_ps']
        end = start + round(r['total_us'] * 1e6)
        length += end - start
        kernels = names_of_kernels(run, host)
        for first, last in (by_time if outside else open_times)(
                spans[host, None if outside else r['step']], start, end):
            for ps, names, input_elsewhere in threads[host].divide(threads[host].main, first, last,
                                                                   kernels):
                moments[cause_of_moment(threads[host], names, kernels, input_elsewhere)] += ps
    total, rows = rows_of(moments)
    want = [r + (ps / 1e9 / len(cores), 100 * ps / total, 100 * ps / length,
                 len({r['step'] for r in cores})) for r, ps in rows]
    agree('all_others', [tuple(r.values()) for r in got], want)


# ---- random runs ----

NAMES = ['PjitFunction(f)', '$a.py:1 f', '$b.py:2 g', 'load', 'Await', 'IteratorGetNext',
         'XlaCompile', 'TraceContext', 'cuLaunchKernel', 'IteratorGetNextOp', 'InfeedEnqueue',
         'MEMCPYHtoH']


def nested(dice, events, start, end, depth):
    """Events between two times, in each of which are others."""
    at = start
    while at < end and dice.randint(0, 4):
        first = at + dice.randint(0, 3)
        last = min(end, first + dice.choice((0, 1, 5, 9)))
        if first <= last:
            events.append((dice.choice(NAMES), first, last - first))
            if depth < 3:
                nested(dice, events, first, last, depth + 1)
        at = last + dice.randint(0, 2)


def random_host(dice):
    """A thread of steps, one that runs beside it, and perhaps a GPU."""
    main_thread, beside, kernels, at, on_gpu = [], [], [], 0, dice.randint(0, 1)
    for i in range(dice.randint(1, 7)):
        length, launches = dice.randint(10, 30), {'correlation_id': {'int64': i}}
        main_thread.append(('train', at, length, {'_r': {'int64': 1},
                                                  'step_num': {'int64': i}}))
        main_thread.append(('launch', at, 1, launches if on_gpu else {}))
        nested(dice, main_thread, at + 1, at + length, 1)
        nested(dice, beside, at, at + length + 3, 1)
        kernels += [(dice.choice(['gemm', 'MEMCPYHtoD', 'nccl', 'half']), at + dice.randint(1, 9),
                     dice.randint(0, 9), launches) for _ in range(dice.randint(1, 3))]
        at += length + dice.randint(0, 5)
    plane = Plane('/host:CPU')
    for number, events in enumerate((main_thread, beside), 1):
        plane.line(number, 'thread %d' % number, sorted(events, key=lambda e: (e[1], -e[2])))
    gpu = Plane('/device:GPU:0', 1).line(7, 'Stream #7', sorted(kernels, key=lambda e: e[1]))
    return space(plane.bytes(), *[gpu.bytes()] * on_gpu)


def random_run(dice, folder):
    os.makedirs(folder)
    path = os.path.join(folder, 'host.xplane.pb')
    with open(path, 'wb') as f:
        f.write(random_host(dice))
    return Run(folder, [path])


def each(run):
    tried('all_others ' + run.path, check, run)


def made():
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(40):
            each(random_run(random.Random(seed), os.path.join(top, 'plugins/profile/%d' % seed)))


if __name__ == '__main__':
    main(each, made)
