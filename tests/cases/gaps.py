# SPDX-License-Identifier: Apache-2.0
"""gaps: which times are gaps, and which ops lie around them."""
from lib.cases import case, same
from lib.shell import ask, rows
from lib.wire import Plane, event, event_metadata, line, plane, space

GPU = "SELECT start_ps, duration_ps, before, after FROM gaps('{x}'%s)"


def gpu(*streams):
    """A GPU with streams of (name, start, duration)."""
    plane = Plane('/device:GPU:0', 1)
    metas = {name: plane.meta(name) for events in streams for name, _, _ in events}
    for i, events in enumerate(streams):
        plane.line(i + 1, 'Stream #%d' % (i + 1), [
            (metas[name], start, duration) for name, start, duration in events])
    return plane


@case
def between_streams():
    """A gap is a time in which no stream has an event; events that touch leave no gap, and events
    without a duration do not end one."""
    x = space(gpu([('a', 0, 10), ('b', 10, 5), ('c', 40, 5)],
                  [('d', 2, 20), ('zero', 25, 0), ('e', 30, 2), ('f', 41, 1)]).bytes())
    same(rows(GPU % '', x), [(22, 8, 'd', 'e'), (32, 8, 'e', 'c')])
    same(rows("SELECT count(*) FROM gaps('{x}') WHERE before_event_id <> (SELECT event_id FROM "
              "trace_events('{x}') WHERE name = before) OR after_event_id <> (SELECT event_id FROM "
              "trace_events('{x}') WHERE name = after)", x), [(0,)])


@case
def several_events():
    """Among events that start together, the shortest counts; among those that end together, the one
    that starts first, else the first of the file; an event inside another one never counts."""
    x = space(gpu([('long', 0, 10), ('inside', 0, 3), ('late', 20, 9), ('twin', 50, 4)],
                  [('early', 0, 8), ('ends', 2, 8), ('short', 20, 4), ('twin 2', 50, 4)]).bytes())
    same(rows(GPU % '', x), [(10, 10, 'long', 'short'), (29, 21, 'late', 'twin')])


@case
def aggregated():
    """An aggregated event has no time of its own, so it is not work, in whatever order the line
    is."""
    for events in ([(0, 10), (300, 10)], [(300, 10), (0, 10)]):
        x = space(plane(1, '/device:GPU:0', [line(1, 'Stream #1', [
            event(2, None, 100, occurrences=5)] + [event(1, *e) for e in events])],
            event_metadata(1, 'a') + event_metadata(2, 'many')))
        same(rows(GPU % '', x), [(10, 290, 'a', 'a')])


@case
def unordered():
    """The order in which a line stores its events does not matter."""
    x = space(gpu([('c', 40, 5), ('inside', 1, 2), ('a', 0, 10), ('b', 20, 5)]).bytes())
    same(rows(GPU % '', x), [(10, 10, 'a', 'b'), (25, 15, 'b', 'c')])


@case
def longest():
    """n gives the longest gaps of each run, ties included."""
    x = space(gpu([('a', at, 1) for at in (0, 4, 6, 10, 20, 24)]).bytes())
    for n, want in ((1, [9]), (2, [9, 3, 3, 3]), (4, [9, 3, 3, 3]), (5, [9, 3, 3, 3, 1]),
                    (100, [9, 3, 3, 3, 1]), ('NULL', [9, 3, 3, 3, 1]), (0, [])):
        got = ask("SELECT duration_ps AS d FROM gaps('{x}', %s) ORDER BY 1 DESC" % n, x=x)
        same([r['d'] for r in got], want)
    same(rows("SELECT duration_us FROM idle_gaps('{x}', 3)", x), [(9e-6,), (3e-6,), (3e-6,)])


@case
def without_device():
    """Threads of a process run ops together, whatever else they do; a device's work comes first, if
    it has any."""
    plane = Plane('/host:CPU', 2)
    op, add = ('x:MatMul', 0, 5), {'hlo_op': {'str': 'add'}}
    for i, events in enumerate(([op, ('wait', 5, 20)],
                                [('add', 3, 5, add), ('IteratorGetNext:IteratorGetNext', 8, 2),
                                 ('add', 10, 5, add), ('wait', 20, 5)])):
        for order in (1, -1):
            plane.line(2 * i + order, 'thread', events[::order])
    x = space(plane.bytes())
    same(rows(GPU % '', x), [(8, 2, 'add', 'add')])
    same(rows("SELECT sum(idle_us) * 1e6 FROM idle_causes('{x}')", x), [(2,)])
    same(rows(GPU % '', space(plane.bytes(), gpu([('a', 0, 1), ('b', 3, 1)]).bytes())),
         [(1, 2, 'a', 'b')])
