#!/usr/bin/env python3
"""How much of each step's communication and transfers computing does not hide: device_steps and
exposed_communication_by_step, from the bytes of each profile.

Which steps there are, when they run on a core and which group an event is of is compared with XProf
elsewhere (tests/parity); what runs when, what overlaps and what belongs to a step is worked out
here."""
import bisect
import collections
import heapq
import sys

sys.dont_write_bytecode = True
from compare import agree, main, tried  # noqa: E402
from device_time import COLLECTIVE, TRANSFER, devices, ends  # noqa: E402

TIMES = {COLLECTIVE: ('communicating', 'exposed_communication'),
         TRANSFER: ('transferring', 'exposed_transfer')}


def of_first_started(intervals):
    """[(start, end, step)] as disjoint pieces: a moment of several stays with the one that started
    first, then with the longest, then with the lowest step."""
    moments = sorted({m for start, end, _ in intervals for m in (start, end)})
    order, running, found, following = sorted(intervals, key=lambda x: x[0]), [], [], 0
    for moment, until in zip(moments, moments[1:]):
        while following < len(order) and order[following][0] <= moment:
            start, end, step = order[following]
            heapq.heappush(running, (start, -end, step is None, step or 0, step))
            following += 1
        while running and -running[0][1] <= moment:
            heapq.heappop(running)
        if running:
            found.append((moment, until, running[0][4]))
    return found


def united(intervals):
    found = []
    for start, end in sorted(x for x in intervals if x[0] < x[1]):
        if found and start <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return found


def by_time(intervals, steps):
    """Pieces of the intervals by the step whose interval includes them; None: outside."""
    steps, found = of_first_started(steps), []
    starts = [start for start, _, _ in steps]
    for start, end in united(intervals):
        at = start
        for i in range(max(bisect.bisect_right(starts, start) - 1, 0), len(steps)):
            first, last, step = steps[i]
            if first >= end:
                break
            if last <= at:
                continue
            if first > at:
                found.append((at, first, None))
            found.append((max(first, at), min(last, end), step))
            at = min(last, end)
        if at < end:
            found.append((at, end, None))
    return found


def intervals_of(d, kind):
    """(start, end, event) in which work of the kind runs; asynchronous ops between the device's
    first start and last end."""
    found = [(start, end, e) for start, end, e in d.pieces if d.kind_of(e) == kind]
    if d.kind != 'gpu':
        first, last = min(e.start_ps for e in d.events), max(map(ends, d.events))
        found += [(max(start.start_ps, first), min(ends(done), last), start)
                  for start, done in d.asynchronous
                  if done and (d.kind_of(start) == COLLECTIVE) == (kind == COLLECTIVE)]
    return found


def plane_ids(run):
    """{id(plane): ordinal in the run}"""
    places = [plane for planes in run.hosts.values() for plane in planes]
    return {id(plane): i for i, plane in enumerate(places)}


def steps_of_kernels(run):
    """{(host, plane id, start, name): step} of GPU events; events alike in all of that have one
    step."""
    numbers = {(r['host'], r['group_id']): r['step'] for r in run.ask('SELECT host, group_id, step '
                                                                      'FROM host_steps({x}) '
                                                                      'WHERE group_id IS NOT NULL')}
    merged = len(run.ask('SELECT DISTINCT host FROM host_steps({x})')) > 1
    dropped = set() if merged else {r['step']
                                    for r in run.ask('SELECT step FROM steps({x}) WHERE dropped')}
    found = collections.defaultdict(list)
    for r in run.ask("SELECT host, plane_id, line_id, start_ps, name, step FROM trace_events({x}) "
                     "WHERE plane_kind = 'gpu' AND NOT derived"):
        step = numbers.get((r['host'], r['step']))
        found[r['host'], r['plane_id'], r['start_ps'],
              r['name']].append(r['step'] if step is None and r['step'] in dropped else step)
    return found


def check(run):
    mine = [d for d in devices(run) if d.kind != 'sparsecore' and d.events]
    steps = {r['step']: r for r in run.ask('SELECT * FROM steps({x})')}
    got = run.ask('SELECT * FROM device_steps({x})')
    if not steps:
        agree('without steps', got, [])
        return
    cores = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM core_steps({x}) WHERE step IS NOT NULL'):
        if r['step'] in steps:
            cores[r['host'], r['plane_id']].append((r['start_ps'], r['start_ps']
                                                    + round(r['total_us'] * 1e6), r['step']))
    marked = any(s['outside_xprof'] for s in steps.values())
    ids, launched, want = plane_ids(run), steps_of_kernels(run), {}
    for d in mine:
        plane_id = ids[id(d.plane)]
        of_core = cores[d.host, plane_id if d.kind == 'tensorcore' else None]
        sums = {step: collections.Counter() for _, _, step in of_core}
        sums[None] = collections.Counter()
        for kind, (whole, exposed) in TIMES.items():
            intervals = intervals_of(d, kind)
            if d.kind == 'gpu' and not marked:
                pieces = of_first_started([(start, end, launched[
                    d.host, plane_id, e.start_ps, e.name][0]) for start, end, e in intervals])
            else:
                pieces = by_time([(start, end) for start, end, _ in intervals], of_core)
            for start, end, step in pieces:
                sums[step][whole] += end - start
                sums[step][exposed] += end - start - d.hidden(start, end)
        if any(x[whole] for x in sums.values() for whole, _ in TIMES.values()):
            lengths = {step: (start, end - start) for start, end, step in of_core}
            want.update({(plane_id, step): lengths.get(step, (None, None))
                         + tuple(x[name] for pair in TIMES.values() for name in pair)
                         for step, x in sums.items() if step is not None or any(x.values())})
    agree('device_steps',
          {(r['plane_id'], r['step']): (r['start_ps'], r['duration_ps'], r['communicating_ps'],
                                        r['exposed_communication_ps'], r['transferring_ps'],
                                        r['exposed_transfer_ps']) for r in got}, want)
    whole = run.ask('SELECT plane_id, communicating_ps, exposed_communication_ps, transferring_ps, '
                    'exposed_transfer_ps FROM device_time({x}) WHERE busy_ps IS NOT NULL')
    for r in whole:
        parts = [x for (plane_id, _), x in want.items() if plane_id == r['plane_id']]
        if parts:
            agree('parts of plane %d' % r['plane_id'],
                  [sum(p[i] for p in parts) for i in range(2, 6)], list(r.values())[1:])
    names = {id_: plane.name for plane, id_ in ((p, ids[id(p)]) for planes in run.hosts.values()
                                                for p in planes)}

    def share(part, of):
        return 100 * part / of if of else None
    rows = [[names[plane_id], step, steps[step]['name'] if step is not None else None,
             steps[step]['dropped'] if step is not None else None,
             length / 1e9 if step is not None else None, a / 1e9, b / 1e9, share(b, a),
             share(b, length), c / 1e9, e / 1e9, share(e, c), share(e, length)]
            for (plane_id, step), (_, length, a, b, c, e) in want.items()]
    shown = run.ask('SELECT plane, step, name, dropped, step_ms, communicating_ms, '
                    'exposed_communication_ms, exposed_communication_percent, '
                    'exposed_communication_step_percent, '
                    'transferring_ms, exposed_transfer_ms, exposed_transfer_percent, '
                    'exposed_transfer_step_percent, host FROM exposed_communication_by_step({x})')

    def key(row):
        return repr([round(x, 6) if isinstance(x, float) else x for x in row])
    agree('exposed_communication_by_step', sorted((list(r.values())[:-1] for r in shown), key=key),
          sorted(rows, key=key), abs_tol=1e-6)


def each(run):
    tried('device_steps ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
