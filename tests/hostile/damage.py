# SPDX-License-Identifier: Apache-2.0
"""Damaged profiles: what comes before the damage is there, and prof_issues accounts for the
rest."""
import random
import re

from lib.cases import case, must, same
from lib.hostile import accounted, one, q, rows, shell, survives, touch_all
from lib.shell import put
from lib.wire import (L, V, event, event_metadata, line, plane, small, space, stat, stat_metadata,
                      varint)


def counted(n=400, plane_name='/host:CPU'):
    """A plane whose event i lasts i+1 ps, metadata first; the file and, for each event, the offset
    of its end in the file."""
    meta = event_metadata(1, 'op') + stat_metadata(1, 'note')
    parts = [L(4, event(1, i * 10, i + 1, [stat(1, str='x' * (i % 7))])) for i in range(n)]
    head = V(1, 5) + L(2, 'line') + V(3, 1)
    body = head + b''.join(parts)
    p = V(1, 1) + L(2, plane_name) + meta + L(3, body)
    data = L(1, p)
    at, ends = len(data) - len(body) + len(head), []
    for e in parts:
        at += len(e)
        ends.append(at)
    return data, ends


def there(file, n, exactly=True):
    """Events 1..n, the ones before the damage, are all there, with their values."""
    got = rows(f"SELECT duration_ps, name, start_ps FROM trace_events({q(file)}) "
               f"ORDER BY event_id;")
    want = [[str(i + 1), 'op', str(1000 + i * 10)] for i in range(n)]
    must(got[:n] == want, f'{len(got)} events of the {n} before the damage, or other values: '
         f'{got[:2]}')


@case
def truncated():
    data, ends = counted()
    rnd = random.Random(4)
    for cut in sorted({*(rnd.randrange(ends[0], len(data)) for _ in range(30)), ends[100],
                       ends[100] + 1, ends[100] + 2, len(data) - 1}):
        f = put(f'cut{cut}.xplane.pb', data[:cut])
        whole = [e for e in ends if e <= cut]
        must(survives(f, loss=True) is not None, 'refused, though it has events: ' + str(cut))
        there(f, len(whole))
        accounted(f, {len(data) - cut, cut - whole[-1], len(data) - whole[-1],
                      *(len(data) - cut + k for k in range(1, 12))})


@case
def truncated_before_the_events():
    data, ends = counted()
    for cut in [1, 2, 3, 5, 9, 17, 30, 45, 60]:
        survives(put(f'early{cut}.xplane.pb', data[:cut]), loss=True)


@case
def truncated_second_plane():
    data, ends = counted()
    tail = space(plane(2, '/device:GPU:0', [line(1, 'x', [event(1, 0, 5)] * 50)],
                       event_metadata(1, 'k')), hostname='')
    f = put('cut2.xplane.pb', data, tail[:-20])
    there(f, len(ends))
    survives(f, loss=True)
    accounted(f, {20, *range(21, 60), len(tail), len(tail) - 20})


@case
def damaged_in_the_middle():
    """Bytes in the middle that are not a field: what comes before them and what is in later planes
    is read."""
    data, ends = counted()
    at = ends[200]
    broken = data[:at] + b'\xff' * 12 + data[at + 12:]
    tail = space(plane(2, '/device:GPU:0', [line(1, 'x', [event(1, 0, 5)] * 50)],
                       event_metadata(1, 'k')), hostname='')
    f = put('middle.xplane.pb', broken + tail)
    there(f, 201)
    same(one(f"SELECT count(*) FROM trace_events({q(f)}) WHERE plane = '/device:GPU:0';"), '50',
         'events of the next plane')
    accounted(f, {len(data) - at, *range(len(data) - at - 24, len(data) - at + 1)})


@case
def damaged_event():
    """An event with broken content costs that event, not its line."""
    events = [event(1, i * 10, i + 1) for i in range(100)]
    events[50] = V(1, 1) + V(2, 500) + V(3, 51) + b'\x22\x7f\x01'
    f = put('inside.xplane.pb',
            space(plane(1, '/host:CPU', [line(1, 'x', events, 1)], event_metadata(1, 'op'))))
    there(f, 50)
    must(int(one(f"SELECT count(*) FROM trace_events({q(f)}) WHERE duration_ps > 51;")) == 49,
         'the events after it are lost')
    survives(f, loss=True)


@case
def damaged_metadata():
    """A map entry with broken content costs that entry, and its bytes are counted."""
    inside = V(1, 2) + b'\x12\x50ab'  # a name of 80 bytes of which two are there
    for tag, what in ((4, 'an event metadata entry'), (5, 'a stat metadata entry')):
        entry = V(1, 2) + L(2, inside)
        good = plane(1, '/host:CPU', [line(1, 'x', [event(1, 0, 5)], 1)], event_metadata(1, 'op'))
        f = put('metadata%d.xplane.pb' % tag, space(good + L(tag, entry)))
        told = rows(f"SELECT code, substr(message, 1, {len(what)}), lost_bytes "
                    f"FROM prof_issues({q(f)}) WHERE severity = 'error';")
        must(told == [['damaged', what, str(len(entry))]], f'{told}')
        same(one(f"SELECT count(*) FROM trace_events({q(f)}) WHERE name = 'op';"), '1')


def all_answered(files, names):
    """Damaged copies of small() in groups of 20: each is either rejected with its name in the
    error, or read, and then its stats are JSON."""
    for k in range(0, len(files), 20):
        sql = ''.join(f"SELECT '{f}', count(*), coalesce(min(json_valid(stats)), 1) "
                      f"FROM trace_events({q(f)});\n" + touch_all(f).replace(';', ';\n')
                      for f in files[k:k + 20])
        a = shell(sql)
        for message in re.split(r'\n(?=Error|Runtime|Parse)', a.err) if a.err else []:
            must(names in message, f'an error that names no file: {message[:300]}')
        read = {r[0]: r[1:] for r in a.rows if r[0] in files}
        for f in files[k:k + 20]:
            must(f in read or f in a.err, f'{f} has neither rows nor an error')
            must(f not in read or read[f][1] == '1', f'{f}: {read.get(f)}')


@case
def bit_flips():
    data, rnd, files = small(), random.Random(5), []
    for i in range(200):
        broken = bytearray(data)
        for _ in range(1 if i < 150 else 8):
            broken[rnd.randrange(len(data))] ^= 1 << rnd.randrange(8)
        files.append(put(f'flip{i}.xplane.pb', broken))
    all_answered(files, 'flip')


@case
def bytes_set_to_extremes():
    data, rnd, files = small(), random.Random(6), []
    for i in range(200):
        broken = bytearray(data)
        for _ in range(3):
            broken[rnd.randrange(len(data))] = rnd.choice([0, 0x7f, 0x80, 0xff])
        files.append(put(f'set{i}.xplane.pb', broken))
    all_answered(files, 'set')


@case
def trailing_bytes():
    data = small()
    for i, tail in enumerate([b'\x07\xff\xff', b'\x00' * 16, b'\x0a', b'\x0a\x05abc', b'\xff' * 11,
                              b'\x0c']):
        f = put(f'trailing{i}.xplane.pb', data, tail)
        count = survives(f, loss=True)
        must(count, f'{tail} after a good file: refused')
        same(count['trace_events'], 108, f'events before {tail}')
        accounted(f, range(1, 17))


@case
def damaged_stats():
    """An invalid stat is left out of every table, its neighbours stay, and prof_issues shows where
    and how much was lost."""
    # an int64 claimed as bytes that are not there
    good, bad = stat(1, int64=7), V(1, 1) + b'\x22\x7f'
    events = [event(1, 0, 5, [good, bad, good]), event(1, 10, 5, [good]), event(1, 20, 5, [bad])]
    data = space(plane(0, '/host:CPU', [line(1, 'main', events), line(2, 'idle', [event(1, 0, 1)])],
                       event_metadata(1, 'step', '', [bad, stat(1, int64=8)])
                       + stat_metadata(1, 'flops'), [bad, good]))
    f = put('damaged_stats.xplane.pb', data)
    survives(f, loss=True)
    told = rows(f"SELECT byte_offset, count, lost_bytes FROM prof_issues({q(f)}) "
                f"WHERE code = 'damaged_stat' ORDER BY 1;")
    places = [data.index(L(4, good) + L(4, bad)) + len(L(4, good)), data.index(L(5, bad)),
              data.index(L(6, bad))]
    same(told, [[str(places[0]), '2', '8'], [str(places[1]), '1', '4'], [str(places[2]), '1', '4']],
         'prof_issues')
    same(rows(f"SELECT event_id, count(*) FROM event_stats({q(f)}) WHERE origin = 'event' "
              f"GROUP BY 1;"), [['0', '2'], ['1', '1']], 'event_stats')


@case
def length_beyond_the_file():
    good, ends = counted()
    for i, n in enumerate([2**63, 2**63 - 1, 2**64 - 1, 2**32, 2**31 - 1, 2**31, 2**40]):
        for k, bad in enumerate([b'\x0a' + varint(n), L(1, b'\x12' + varint(n)),
                                 L(1, b'\x1a' + varint(n)), L(1, L(3, b'\x22' + varint(n))),
                                 L(1, b'\x22' + varint(n)), L(1, L(3, L(4, b'\x22' + varint(n)))),
                                 b'\x9a\x06' + varint(n)]):
            f = put(f'length{i}_{k}.xplane.pb', good, bad)
            must(survives(f, loss=True), 'refused, though it has events')
            there(f, len(ends))


@case
def long_varints():
    for i, bad in enumerate([b'\x08' + b'\x80' * 10 + b'\x01', b'\x08' + b'\xff' * 11,
                             b'\x08' + b'\x80' * 9 + b'\x02',
                             b'\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00']):
        survives(put(f'varint{i}.xplane.pb',
                     L(1, V(1, 1), L(3, L(4, V(1, 1), bad), L(4, V(1, 1))))))


@case
def field_number_zero():
    for i, bad in enumerate([b'\x00\x01', b'\x02\x00', b'\x01' + bytes(8)]):
        survives(put(f'zero{i}.xplane.pb', small(), L(1, bad)), loss=True)
