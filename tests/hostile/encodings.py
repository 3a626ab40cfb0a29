# SPDX-License-Identifier: Apache-2.0
"""Valid, though unusual encodings."""
from lib.cases import case, must, same
from lib.hostile import dump, issues, one, q, rows, survives
from lib.shell import put
from lib.wire import (F32, F64, L, V, event, event_metadata, line, plane, small, space, stat,
                      stat_metadata, varint)


@case
def fields_in_any_order():
    meta, smeta = event_metadata(1, 'a', 'A', [stat(1, int64=4)]) + event_metadata(
        2, 'b'), stat_metadata(1, 'k') + stat_metadata(2, 'r')
    ea = [V(1, 1), V(2, 10), V(3, 5), L(4, V(1, 1), L(5, 'x')), L(4, V(1, 2), V(7, 2))]
    eb = [V(1, 2), V(2, 20), V(3, 6), L(4, V(1, 1), V(4, -3))]
    events = [L(4, *ea), L(4, *eb)]
    backwards = [L(4, V(3, 5), L(4, L(5, 'x'), V(1, 1)), V(2, 10), L(4, V(7, 2), V(1, 2)), V(1, 1)),
                 L(4, L(4, V(4, -3), V(1, 1)), V(3, 6), V(2, 20), V(1, 2))]
    name, head = L(2, 'p'), V(1, 3)
    stats = L(6, V(1, 1), V(3, 9))
    want = dump(put('order0.xplane.pb', L(1, head, name, L(3, V(1, 9), L(2, 'l'), V(3, 7), *events),
                                          meta, smeta, stats)))
    for i, data in enumerate([
        L(1, meta, smeta, name, head, stats, L(3, V(1, 9), L(2, 'l'), V(3, 7), *events)),
        L(1, L(3, *events, V(3, 7), L(2, 'l'), V(1, 9)), stats, smeta, meta, head, name),
        L(1, L(3, events[0], L(2, 'l'), events[1], V(1, 9), V(3, 7)), name, smeta, meta, stats,
          head),
        L(1, smeta, L(3, *backwards, V(3, 7), L(2, 'wrong'), V(1, 1), L(2, 'l'), V(1, 9)), meta,
          head, name, stats),
        L(1, head, name, L(3, V(1, 9), L(2, 'l'), V(3, 7), *events), meta, stats, smeta)]):
        same(dump(put(f'order{i + 1}.xplane.pb', data)), want, f'order {i + 1}:')
    same(len([r for r in want if r[0] == 'e']), 2)


@case
def packed_child_ids():
    forms = [V(6, 2) + V(6, 300) + V(6, -1), L(6, varint(2) + varint(300) + varint(-1)),
             V(6, 2) + L(6, varint(300) + varint(-1)),
             L(6, varint(2)) + L(6, b'') + L(6, varint(300)) + V(6, -1)]
    f = put('packed.xplane.pb',
            space(plane(1, 'p', (), b''.join(event_metadata(i + 1, f'm{i}', rest=r) for i,
                                             r in enumerate(forms)) + event_metadata(9, 'none'))))
    same([r[0] for r in rows(f"SELECT child_ids FROM event_metadata({q(f)}) "
                             f"ORDER BY metadata_id;")], ['[2,300,-1]'] * 4 + ['NULL'])
    survives(put('packed2.xplane.pb',
                 space(plane(1, 'p', (), event_metadata(1, 'm', rest=L(6, b'\x02\x80'))))),
             loss=True)


@case
def repeated_map_keys():
    meta = event_metadata(1, 'old', 'OLD', [stat(1, int64=1)]) + stat_metadata(
        1, 'oldstat') + event_metadata(1, 'new') + stat_metadata(1, 'newstat')
    f = put('keys.xplane.pb',
            space(plane(1, 'p', [line(1, 'l', [event(1, 0, 1, [stat(1, int64=5)])])], meta)))
    same(one(f"SELECT name, coalesce(nullif(display_name, ''), 'none'), stats "
             f"FROM trace_events({q(f)});"), ['new', 'none', '{"newstat":5}'])
    same(rows(f"SELECT metadata_id, name FROM event_metadata({q(f)}); SELECT metadata_id, name "
              f"FROM stat_metadata({q(f)});"), [['1', 'new'], ['1', 'newstat']])
    same(rows(f"SELECT origin, name, value FROM event_stats({q(f)});"), [['event', 'newstat', '5']])


@case
def map_entries_without_key_or_value():
    f = put('nokey.xplane.pb',
            space(plane(1, 'p', [line(1, 'l', [event(0, 0, 1), event(4, 0, 1), b''])],
                        L(4, L(2, L(2, 'zero'))) + L(4, V(1, 4)) + L(5, b''))))
    same([r[0] for r in rows(f"SELECT name FROM trace_events({q(f)});")], ['zero', '', 'zero'])


@case
def key_is_the_maps_not_the_inner_id():
    f = put('inner.xplane.pb', space(plane(1, 'p', [line(1, 'l', [event(3, 0, 1), event(8, 0, 1)])],
                                           L(4, V(1, 3), L(2, V(1, 8), L(2, 'three'))))))
    same([r[0] for r in rows(f"SELECT name FROM trace_events({q(f)});")], ['three', ''])


@case
def oneof_last_wins():
    f = put('oneof.xplane.pb',
            space(plane(1, 'p', [line(1, 'l', [V(1, 1) + V(2, 7) + V(3, 1), V(1, 1) + V(5, 9) + V(
                2, 7), V(1, 1) + V(2, 7) + V(5, 9), V(5, 0), V(2, 0)])], event_metadata(1, 'e'))))
    same(rows(f"SELECT start_ps, occurrences FROM trace_events({q(f)});"),
         [['7', 'NULL'], ['7', 'NULL'], ['0', '9'], ['0', '0'], ['0', 'NULL']])
    s = V(1, 1) + V(4, 3) + L(5, 'x') + V(3, 8)
    f = put('oneof2.xplane.pb', space(plane(1, 'p', [line(1, 'l', [
        V(1, 1) + L(4, s) + L(4, V(4, 2) + F64(2, 1.5) + V(1, 1))])], stat_metadata(1, 'k'))))
    same(rows(f"SELECT type, value FROM event_stats({q(f)});"),
         [['uint64', '8'], ['double', '1.5']])


def seasoned(*fields):
    """The fields of a message with unknown ones of every wire type between them."""
    extra = V(100, 5) + L(101, b'\x01\x02\x03') + F64(102, 3) + F32(103, 4) + varint(
        104 << 3 | 3) + V(1, 9) + L(2, 'in a group') + varint(105 << 3 | 3) + varint(
            105 << 3 | 4) + varint(104 << 3 | 4) + V(2**29 - 1, 1)
    return extra + extra.join(fields) + extra


@case
def unknown_fields():
    """Fields with very large numbers, and with the first unknown number, of every wire type, are
    ignored without an issue."""
    def build(w):
        ev = w(5, V(1, 1), V(2, 10), V(3, 5), L(4, w(7, V(1, 1), L(5, 'x'))))
        ln = w(11, V(1, 9), L(2, 'l'), V(3, 7), L(4, ev), L(4, ev))
        metadata = [L(4,
                      w(2, V(1, 1), L(2, w(7, V(1, 1), L(2, 'a'), L(5, w(7, V(1, 1), V(4, 4))))))),
                    L(5, w(2, V(1, 1), L(2, w(3, V(1, 1), L(2, 'k')))))]
        return w(4, L(1, w(6, V(1, 3), L(2, '/host:CPU'), L(3, ln), *metadata)))

    def spaced(last, *fields):
        extra = V(last + 1, 5) + L(last + 1, b'\x01\x02\x03') + F64(last + 1, 3) + F32(last + 1, 4)
        return extra + extra.join(fields) + extra
    want = dump(put('known.xplane.pb', build(lambda last, *f: b''.join(f))))
    must(len(want) > 5, str(want))
    for w in (lambda last, *f: seasoned(*f)), spaced:
        f = put('unknown.xplane.pb', build(w))
        same(dump(f), want)
        same(issues(f), [])


@case
def wrong_wire_types():
    """A known field of another wire type is treated as an unknown field: skipped, whatever it
    contains."""
    ev = V(1, 1) + V(2, 10) + V(3, 5)
    extra = F64(1, 7) + L(2, b'abc') + F32(3, 9) + V(4, 3) + F64(5, 1)
    ln = V(1, 9) + L(2, 'l') + V(3, 7)
    lx = L(1, b'zz') + V(2, 3) + F64(3, 9) + V(4, 1) + F32(4, 1)
    pl = V(1, 3) + L(2, '/host:CPU') + event_metadata(1, 'a') + stat_metadata(1, 'k')
    px = L(1, b'q') + V(2, 7) + V(3, 1) + F64(4, 4) + V(5, 5) + F32(6, 6)
    want = dump(put('right.xplane.pb', L(1, pl, L(3, ln, L(4, ev, L(4, stat(1, int64=2)))))))
    f = put('wrong.xplane.pb', V(1, 3), F64(1, 2),
            L(1, pl, px, L(3, ln, lx, L(4, ev, L(4, stat(1, int64=2)), extra))), V(4, 1), F32(2, 1))
    same(dump(f), want)


@case
def concatenated():
    one_file, two = put('one.xplane.pb', small(1)), put('two.xplane.pb', small(2))
    f = put('both.xplane.pb', small(1), small(2))
    same(one(f"SELECT count(*), max(plane_id) FROM planes({q(f)});"), ['6', '5'])
    names = ("SELECT plane, line, name, start_ps, duration_ps, stats FROM trace_events({}) "
             "ORDER BY event_id;")
    same(rows(names.format(q(f))), rows(names.format(q(one_file)) + names.format(q(two))))
    survives(f, loss=False)


@case
def split_lines_and_planes():
    """Lines and planes with the same id are never merged."""
    p = plane(1, 'p', [line(1, 'l', [event(1, 0, 1)]), line(1, 'l', [event(1, 0, 2)])],
              event_metadata(1, 'e'))
    f = put('twice.xplane.pb', space(p, p))
    same(one(f"SELECT count(*), count(DISTINCT line_id), count(DISTINCT plane_id) "
             f"FROM trace_events({q(f)});"), ['4', '4', '2'])
