#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What runs at once on each device, in each step and on each line: time_breakdown, and the sums of
device_time by step and by line, from the bytes of each profile.

Between two moments at which something starts or ends, the same runs. When steps are on a core is
compared with XProf elsewhere (tests/parity)."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, main, tried  # noqa: E402
from device_steps import of_first_started  # noqa: E402
from device_time import (COLLECTIVE, COMPUTE, TRANSFER, devices, ends, innermost,  # noqa: E402
                         own_times, work_lines)

WORDS = {COMPUTE: 'computing', COLLECTIVE: 'communicating', TRANSFER: 'transferring'}
BUSY, WAITING = 'busy', 'waiting'


def work_of(d, line):
    """[(start, end, what)]"""
    pieces = d.pieces
    if line:
        pieces = [(e.start_ps, ends(e), e)
                  for e in own_times(line)] if d.kind == 'gpu' else innermost(own_times(line))
    dones = {id(done.meta) for start, done in d.asynchronous if done and done is not start
             and hasattr(done, 'meta')}
    found = [(start, end, what) for start, end, e in pieces
             for what in (BUSY, d.kind_of(e), WAITING if d.kind != 'gpu' and id(e.meta) in dones
                          else BUSY)]
    if d.kind != 'gpu' and not line:
        first, last = min(e.start_ps for e in d.events), max(map(ends, d.events))
        found += [(max(start.start_ps, first), min(ends(done), last), COLLECTIVE if d.kind_of(start)
                   == COLLECTIVE else TRANSFER) for start, done in d.asynchronous if done]
    return found


def breakdown(work, steps, start, end):
    """{(step, activity): [time, time waiting, time idle]} of the time from start to end."""
    changes = collections.defaultdict(collections.Counter)
    for first, last, what in work + [(first, last, ('step', step)) for first, last,
                                     step in of_first_started(steps)] + [(start, end, 'span')]:
        if first < last:
            changes[first][what] += 1
            changes[last][what] -= 1
    found, running, since = collections.defaultdict(lambda: [0, 0, 0]), collections.Counter(), 0
    for moment in sorted(changes):
        if running['span']:
            step = next((what[1] for what, n in running.items() if n and isinstance(what, tuple)),
                        None)
            part = found[step, ' + '.join(word for what, word in WORDS.items() if running[what])
                         or 'none']
            part[0] += moment - since
            part[1] += moment - since if running[WAITING] else 0
            part[2] += moment - since if not running[BUSY] else 0
        running.update(changes[moment])
        running = collections.Counter({what: n for what, n in running.items() if n})
        since = moment
    return found


def sums_of(kind, parts):
    """Times of device_time from {activity: (time, time waiting, time idle)}."""
    def of(*words):
        return {activity: part[0] for activity, part in parts.items()
                if any(word in activity for word in words)}

    def exposed(*words):
        return sum(ps for activity, ps in of(*words).items() if 'computing' not in activity)
    span, idle = (sum(part[i] for part in parts.values()) for i in (0, 2))
    sums = dict(span=span, busy=span - idle, idle=idle, computing=sum(of('computing').values()),
                communicating=sum(of('communicating').values()),
                exposed_communication=exposed('communicating'),
                transferring=sum(of('transferring').values()),
                exposed_transfer=exposed('transferring'),
                exposed=exposed('communicating', 'transferring'))
    found = {'%s_ps' % k: ps for k, ps in sums.items()}
    found.update({'%s_percent' % k: 100 * ps / span if span else None
                  for k, ps in sums.items() if k != 'span'})
    found['waiting_ps'] = None if kind == 'gpu' else sum(part[1] for part in parts.values())
    return found


def check_sums(run, by_step, by_line, breakdowns):
    """The rows of device_time against {(plane, line, step): ((plane name, kind, line name, start),
    {activity: times})}."""
    name = 'device_time by_step %d, by_line %d' % (by_step, by_line)
    rows = run.ask('SELECT * FROM device_time({x}, %d, %d)' % (by_step, by_line))
    got = {(r['plane_id'], r['line_id'], r['step']): r for r in rows if r['span_ps'] is not None}
    agree('rows of ' + name, len(got), sum(r['span_ps'] is not None for r in rows))
    want = {}
    for key, ((plane, kind, line, start), parts) in breakdowns.items():
        want[key] = dict(sums_of(kind, parts), plane=plane, kind=kind, line=line, start_ps=start,
                         start_us=start / 1e6 if start is not None else None)
    agree(name, {key: {c: r[c] for c in want.get(key, ())} for key, r in got.items()}, want)
    without = [r for r in rows if r['span_ps'] is None]
    agree('devices without work in ' + name,
          [r['plane_id'] for r in without if by_step] + [
              v for r in without for k, v in r.items()
              if k.endswith(('_ps', '_us', '_percent')) and v is not None], [])
    return rows


def check_parts(by):
    """What the rows by step, or by line and step, add up to is without steps: each time, of each
    device or line."""
    for by_line in (0, 1):
        whole, parts = {}, collections.defaultdict(collections.Counter)
        for r in by[0, by_line]:
            if r['span_ps']:
                whole[r['plane_id'], r['line_id']] = {k: v for k, v in r.items() if k != 'start_ps'
                                                      and k.endswith('_ps') and v is not None}
                agree('busy + idle', r['busy_ps'] + r['idle_ps'], r['span_ps'])
        for r in by[1, by_line]:
            of = parts[r['plane_id'], r['line_id']]
            for k in r:
                if k.endswith('_ps') and r[k] is not None:
                    of[k] += r[k]
        agree('steps of lines' if by_line else 'steps', {k: dict(v) for k, v in parts.items()},
              whole)


def check(run):
    mine = [d for d in devices(run) if d.events]
    ids, ranges = {id(plane): i for i, plane in enumerate(p for planes in run.hosts.values()
                                                          for p in planes)}, {}
    for d in mine:
        start, end = ranges.get((d.host, d.kind),
                                (min(e.start_ps for e in d.events), max(map(ends, d.events))))
        ranges[d.host, d.kind] = min(start, min(e.start_ps for e in d.events)), max(
            end, max(map(ends, d.events)))
    shown = {r['step'] for r in run.ask('SELECT step FROM steps({x})')}
    cores = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM core_steps({x}) WHERE step IS NOT NULL'):
        if r['step'] in shown:
            cores[r['host'], r['plane_id']].append((r['start_ps'], r['start_ps']
                                                    + round(r['total_us'] * 1e6), r['step']))
    line_ids = {id(line): i for i, line in enumerate(l for planes in run.hosts.values()
                                                     for p in planes for l in p.lines)}
    by = {}
    for by_step in (0, 1):
        for by_line in (0, 1):
            want, breakdowns = {}, {}
            for d in mine:
                start, end = ranges[d.host, d.kind]
                steps = cores[d.host,
                              None if d.kind == 'gpu' else ids[id(d.plane)]] if by_step else []
                if not by_step and not by_line:
                    breakdowns[ids[id(d.plane)], None, None] = (d.plane.name, d.kind, None,
                                                                start), {}
                for i, line in enumerate([l for l in work_lines(d.plane) if l.events] if by_line
                                         else [None]):
                    for (step, activity), (ps, waiting, idle) in breakdown(work_of(d, line), steps,
                                                                           start, end).items():
                        want[ids[id(d.plane)], i, step,
                             activity] = (line.name if line else None, ps, None if d.kind == 'gpu'
                                          else waiting, idle, 100 * ps / (end - start))
                        breakdowns.setdefault(
                            (ids[id(d.plane)], line_ids[id(line)] if line else None, step),
                            ((d.plane.name, d.kind, line.name if line else None,
                              None if by_step else start), {}))[1][activity] = (ps, waiting, idle)
            got, lines = {}, collections.defaultdict(list)
            for r in run.ask('SELECT * FROM time_breakdown({x}, %d, %d) '
                             'ORDER BY line_id' % (by_step, by_line)):
                here = lines[r['plane_id']]
                if r['line_id'] not in here:
                    here.append(r['line_id'])
                got[r['plane_id'], here.index(r['line_id']), r['step'],
                    r['activity']] = (r['line'], r['duration_ps'], r['waiting_ps'], r['idle_ps'],
                                      r['span_percent'])
            agree('by_step %d, by_line %d' % (by_step, by_line), got, want)
            by[by_step, by_line] = check_sums(run, by_step, by_line, breakdowns)
    check_parts(by)


def each(run):
    tried('time_breakdown ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
