#!/usr/bin/env python3
"""When devices are idle: idle_gaps from the bytes of each profile."""
import sys

sys.dont_write_bytecode = True
from compare import agree, checking, finish, runs  # noqa: E402


def work(hosts):
    """[(host, place of the plane, plane, its events of work)]: of the run's devices, or without any of its host threads."""
    found = []
    for host, planes in hosts.items():
        for place, plane in enumerate(planes):
            if plane.kind in ('tensorcore', 'sparsecore'):
                lines = [l for l in plane.lines if l.name in ('XLA Ops', 'Sparse Core Ops') and not l.derived]
            elif plane.kind in ('gpu', 'host'):
                lines = [l for l in plane.lines if l.name != '_counters_' and not l.derived]
            else:
                lines = []
            events = [e for l in lines for e in l.events]
            if events:
                found.append((host, place, plane, events))
    devices = [w for w in found if w[2].kind != 'host']
    return devices or found


def gaps(events):
    """{start: (end, names that end there, names that start there)}: counts how many events are open at each moment."""
    moments = {}
    for e in events:
        if e.duration_ps > 0:
            opened, closed = moments.setdefault(e.start_ps, ([], [])), moments.setdefault(e.end_ps, ([], []))
            opened[0].append(e.short_name)
            closed[1].append(e.short_name)
    found, n_open, since = {}, 0, None
    for at in sorted(moments):
        opened, closed = moments[at]
        if since is not None and opened:
            found[since[0]] = (at, since[1], opened)
        n_open += len(opened) - len(closed)
        since = (at, closed) if n_open == 0 else None
    return found


def idle_gaps(run):
    want = {(host, plane.name, start): gap for host, _, plane, events in work(run.hosts) for start, gap in gaps(events).items()}
    got = {(r['host'], r['plane'], r['start_ps']): r for r in run.ask('SELECT * FROM idle_gaps({x}, 10000000)')}
    agree('gaps', {k: r['duration_us'] for k, r in got.items()}, {k: (end - k[2]) / 1e6 for k, (end, _, _) in want.items()})
    for key, (_, before, after) in want.items():
        agree('before %s' % (key,), got[key]['before'] in before, True)
        agree('after %s' % (key,), got[key]['after'] in after, True)


if __name__ == '__main__':
    for one in runs():
        with checking('idle_gaps ' + one.path):
            idle_gaps(one)
    finish()
