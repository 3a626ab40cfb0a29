# SPDX-License-Identifier: Apache-2.0
"""trace_events and lines: chunks that stay in the file, the step and module of an op, derived
lines."""
from lib.cases import case, same
from lib.shell import ask, rows
from lib.wire import L, Plane, V, event, event_metadata, line, plane, space, stat, stat_metadata


@case
def events_that_are_cheaper_in_the_file():
    """Small numbers among a few large ones: thousands of events keep their times and names, in
    their order and by each bound."""
    made = [('large' if i % 500 == 7 else 'small', i * 10 if i % 500 != 7 else (1 << 60) + i,
             1 + i % 7 if i % 500 != 9 else (1 << 59) - i) for i in range(3000)]
    data = space(Plane('/host:CPU').line(1, 'main', made).bytes())
    same(rows("SELECT name, start_ps, duration_ps FROM trace_events('{x}') ORDER BY event_id",
              data), made)
    same(rows("SELECT name, start_ps, duration_ps FROM trace_events('{x}') WHERE start_ps >= 20000 "
              "AND duration_ps > 1000 ORDER BY event_id", data),
         [e for e in made if e[1] >= 20000 and e[2] > 1000])
    same(rows("SELECT sum(occurrences), max(max_ps) FROM event_totals('{x}')", data),
         [(3000, max(e[2] for e in made))])


@case
def events_around_an_op():
    """An op without length where one step ends and the next begins is of the first: so XProf 2.24.2
    answers."""
    plane = Plane('/device:TPU:0').line(1, 'Steps', [('0', 0, 100), ('1', 100, 100)]).line(
        2, 'XLA Modules', [('m(1)', 0, 100), ('m(1)', 100, 100)])
    plane.line(3, 'XLA Ops', [('z', 100, 0), ('y', 150, 10)])
    same(rows("SELECT name, step_event_id, module_event_id FROM trace_events('{x}') "
              "WHERE line = 'XLA Ops' ORDER BY event_id", space(plane.bytes())),
         [('z', 0, 2), ('y', 1, 3)])


@case
def events_by_correlation_id():
    """Events of one id are found in whichever order the ids come, and in how many of their bytes
    they differ."""
    for ids in ((9, 8, 5, 5, 3), (0x901, 0x808, 0x502, 0x502, 0x305), (1 << 62, 5, 5, 1 << 40, 1)):
        events = [('e%d' % i, 10 * i, 5, {'correlation_id': {'uint64': n}})
                  for i, n in enumerate(ids)]
        data = space(Plane('/host:CPU').line(1, 'main', events).bytes())
        same([rows("SELECT name FROM trace_events('{x}') WHERE correlation_id = %d ORDER BY 1"
                   % n, data) for n in ids],
             [[('e%d' % i,) for i, other in enumerate(ids) if other == n] for n in ids], ids)


@case
def self_times_on_the_device_clock():
    """As hlo_ops sums them: a stat without a value is 0, and the order is that of the events, not
    of the device."""
    def op(plane, name, at, length, **device):
        return (plane.meta('%%%s = f32[] add()' % name, name, {
            'program_id': {'uint64': 1}, 'symbol_id': {'uint64': ord(name[0])},
            'hlo_category': {'str': 'add'}}), at, length, {
                'device_%s_ps' % k: {} if v is None else {'uint64': v} for k, v in device.items()})
    ops = [('a', 0, 100, 1000, 110), ('b', 10, 50, 1010, None), ('c', 70, 20, 1080, 22),
           ('d', 200, 10, 1200, 10), ('e', 300, 50, 1190, 60)]
    for in_file in (ops, ops[::-1]):
        plane = Plane('/device:TPU:0')
        plane.line(3, 'XLA Ops', [op(plane, *times, offset=start, duration=ps)
                                  for *times, start, ps in in_file] + [op(plane, 'f', 400, 9)])
        data = space(plane.bytes())
        same(rows("SELECT display_name, device_self_ps FROM trace_events('{x}') ORDER BY 1", data),
             [('a', 88), ('b', 0), ('c', 22), ('d', 10), ('e', 60), ('f', None)])
        same(rows("SELECT hlo_op, self_ps FROM hlo_ops('{x}') WHERE rank > 0 ORDER BY 1", data),
             [('a', 88), ('b', 0), ('c', 22), ('d', 10), ('e', 60), ('f', 9)])


@case
def lines_that_xprof_derives():
    """XProf keeps the ids from 0xdeadbeef on, 390 of them, for lines that it derives: those of a
    GPU are no streams."""
    first = 0xdeadbeef - (1 << 32)
    plane = Plane('/device:GPU:0')
    for id in (first - 1, first, first + 389, first + 390):
        plane.line(id, 'any', [('k', 0, 1)])
    same(rows("SELECT derived, kind FROM lines('{x}') ORDER BY line_id", space(plane.bytes())),
         [(0, 'stream'), (1, 'other'), (1, 'other'), (0, 'stream')])


@case
def several_groups():
    """The step is that of the last group, by which XProf's steps count the event; group_id is the
    first stat of that name."""
    groups = [('group_id', {'int64': g}) for g in (3, 5)]
    host = Plane('/host:CPU').line(1, 'main', [('train', 0, 1000, {
        'group_id': {'int64': 5}, 'step_name': {'str': 'train 5'}}), ('a:MatMul', 0, 200, groups)])
    gpu = Plane('/device:GPU:0', 2).line(1, 'Stream #1', [('k', 300, 100, groups)])
    data = space(host.bytes(), gpu.bytes())
    same(rows("SELECT name, group_id, step FROM trace_events('{x}') ORDER BY event_id", data),
         [('train', 5, 5), ('a:MatMul', 3, 5), ('k', 3, 5)])
    same(rows("SELECT DISTINCT e.name FROM trace_events('{x}') AS e JOIN host_steps('{x}') AS s ON "
              "s.host = e.host AND s.group_id = e.step WHERE e.name IN ('a:MatMul', 'k')"
              " AND s.name = 'train 5'", data), [('a:MatMul',), ('k',)])
    alone = space(host.bytes())
    same(rows("SELECT step, host_compute_us * 1e6 FROM core_steps('{x}')", alone), [(5, 200.0)])


@case
def fields_that_writers_leave_out():
    """An id to display, a line's own duration, opaque bytes of a metadata and the description of a
    stat."""
    threads = line(7, 'main', [event(1, 0, 5)], 3) + V(9, 2500000) + V(10, 42) + L(11, 'shown')
    metadata = event_metadata(1, 'x', rest=L(3, b'\x00\xff')) + event_metadata(2, 'y') + L(
        5, V(1, 4), L(2, V(1, 4), L(2, 's'), L(3, 'what s counts')))
    data = space(plane(1, '/host:CPU', [threads], metadata))
    same(rows("SELECT proto_id, name, display_name, display_id, timestamp_ns, duration_ps, "
              "duration_us FROM lines('{x}')", data), [('7', 'main', 'shown', 42, 3, 2500000, 2.5)])
    same(rows("SELECT name, hex(metadata) FROM event_metadata('{x}') ORDER BY 1", data),
         [('x', '00FF'), ('y', '')])
    same(rows("SELECT name, description FROM stat_metadata('{x}')", data), [('s', 'what s counts')])


@case
def stats_of_other_types():
    """XProf 2.24.2 reads the flow and the source of a host event, of whatever type, as an unsigned
    number and as a text."""
    flows = [('uint64', 77), ('int64', -3), ('str', 'x'), ('double', 2.5), ('uint64', 2 ** 63 + 5)]
    sources = [('str', 'f.py:3'), ('ref', 'g.py:4'), ('uint64', 77), ('bytes', b'f.py:3'),
               ('double', 1.5)]
    host = Plane('/host:CPU').line(1, 'main', [('a', i, 1, {'flow': dict([flow]), 'source': dict(
        [source])}) for i, (flow, source) in enumerate(zip(flows, sources))] + [('b', 9, 1)])
    same(rows("SELECT CAST(flow AS TEXT), source_line FROM xprof_events('{x}') "
              "ORDER BY rowid", space(host.bytes())),
         [('77', 'f.py:3'), ('18446744073709551613', 'g.py:4'), ('0', ''), ('0', ''),
          ('9223372036854775813', ''), (None, None)])


@case
def group_of_the_metadata():
    """A group id that only the event's metadata has is found by its value, too."""
    own = [event(1, 0, 5), event(2, 10, 5, [stat(1, int64=4)])]
    data = space(plane(1, '/host:CPU', [line(1, 'l', own)],
                       event_metadata(1, 'a', stats=[stat(1, int64=9)]) + event_metadata(2, 'b')
                       + stat_metadata(1, 'group_id')))
    for group, name in (9, 'a'), (4, 'b'):
        same(ask("SELECT name FROM trace_events('{x}') WHERE group_id = %d" % group, x=data),
             [{'name': name}])


@case
def events_of_an_instruction_or_program():
    """Found wherever the name and the id are: in the name, display name or stats of the metadata,
    or in the events' own stats, which count first."""
    core, gpu = Plane('/device:TPU:0'), Plane('/device:GPU:0', 2)
    one, text = {'program_id': {'uint64': 2**64 - 1}}, {'program_id': {'str': 'seven'}}
    most = str(2**64 - 1)
    events = [(core.meta('%a = f32[] add()'), 0, 1),
              (core.meta('%x = f32[] add()', 'a', one), 10, 1),
              (core.meta('%a', '', text), 20, 1, {'hlo_op': {'str': 'm::%b{1,2}'}}),
              (core.meta('%c', '', {'hlo_op': {'str': 'm::%b{0}'}, **one}), 30, 1,
               {'program_id': {'int64': 7}}),
              (core.meta('%c', '', {'hlo_op': {'str': 'm::%b{0}'}, **one}), 40, 1)]
    core.line(2, 'XLA Modules', events[:3]).line(3, 'XLA Ops', events)
    gpu.line(1, 'Stream #1', [(gpu.meta('a', 'a', one), 0, 1),
                              ('a', 5, 1, {'hlo_op': {'str': 'a'}}),
                              ('a', 7, 1, {'hlo_op': {'str': 'b'}, **text})])
    data = space(core.bytes(), gpu.bytes())
    for column, want in (('hlo_op', [None, None, 'b', 'a', 'a', 'b', 'b', 'b', None, 'a', 'b']),
                         ('program_id', [None, most, 'seven', None, most, 'seven', '7', most, most,
                                         None, 'seven'])):
        same(rows("SELECT %s FROM trace_events('{x}') ORDER BY event_id" % column, data),
             [(value,) for value in want])
        for value in set(want) - {None} | {'none'}:
            ids = [(i,) for i, v in enumerate(want) if v == value]
            for term in ("= '%s'" % value, "IN ('no', '%s', 'nor')" % value):
                same(rows("SELECT event_id FROM trace_events('{x}') WHERE %s %s ORDER BY event_id"
                          % (column, term), data), ids, term)
        same(rows("SELECT count(*) FROM trace_events('{x}') WHERE %s = 'a' AND name = 'a'" % column,
                  data), [(sum(v == 'a' for v in want[8:]),)])
    same(rows("SELECT event_id FROM trace_events('{x}') WHERE hlo_op = 'b' AND program_id = '7'",
              data), [(6,)])
    same(rows("SELECT count(*) FROM trace_events('{x}') WHERE program_id = 7", data), [(1,)])
