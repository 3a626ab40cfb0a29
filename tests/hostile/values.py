# SPDX-License-Identifier: Apache-2.0
"""Any bytes in texts and any value in numbers."""
import random

from lib.cases import case, same
from lib.hostile import one, q, refused, rows, survives
from lib.shell import put
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata


TEXTS = [bytes([b]) for b in range(256)] + [b'a\0b', b'\0', b'\xed\xa0\x80', b'\xf0\x90\x80',
                                            b'\xf4\x90\x80\x80', b'\xc0\x80', b'\xe2\x82',
                                            b'ok\xff\xfeok', b'"\\/\b\f\n\r\t',
                                            b'\xe2\x80\xa8\xe2\x80\xa9', b'\xef\xbf\xbf',
                                            b'\xf0\x9f\x98\x80', b'\xc3(', b'\xfa\xa1\xa1\xa1\xa1',
                                            b'\x80' * 9, b'\xf0\x9f\x98', b'e\xcc\x81', b'']


def repaired(b):
    return b.decode('utf-8', 'replace').encode().hex().upper()


@case
def invalid_utf8_in_names():
    events = [event(i + 1, i, 1) for i in range(len(TEXTS))]
    meta = b''.join(event_metadata(i + 1, t, t) for i, t in enumerate(TEXTS))
    f = put('utf8.xplane.pb', space(plane(1, b'p\0\xff', [line(1, b'l\xfe', events)], meta)))
    got = rows(f"SELECT hex(name), hex(plane), hex(line), typeof(name) FROM trace_events({q(f)});")
    for t, r in zip(TEXTS, got):
        same(r, [repaired(t), repaired(b'p\0\xff'), repaired(b'l\xfe'), 'text'], f'{t!r}:')
    same(len(got), len(TEXTS))
    got = [r[0] for r in rows(f"SELECT hex(name) FROM event_metadata({q(f)}) "
                              f"ORDER BY metadata_id;")]
    same(got, [repaired(t) for t in TEXTS], 'event_metadata')


@case
def copied_as_text():
    """A file that was read as UTF-8 and written again: its lengths are wrong. Nothing can be read,
    and no plane is invented."""
    rnd = random.Random(4)
    events = [event(300 + k, 10**6 * k, 10**5 + k, [stat(1, bytes=rnd.randbytes(300))])
              for k in range(200)]
    whole = space(plane(3, '/device:TPU:0', [line(200, 'XLA Ops', events, timestamp_ns=10**9)],
                        event_metadata(300, 'op') + stat_metadata(1, 'note')))
    refused(put('text.xplane.pb', whole.decode('utf-8', 'replace').encode()),
            'is damaged from byte 0 on, and nothing in it can be read')
    good = put('whole.xplane.pb', whole)
    same(one(f"SELECT count(*) FROM trace_events({q(good)});"), '200')


@case
def any_bytes_in_stats():
    rnd = random.Random(8)
    texts = TEXTS + [rnd.randbytes(rnd.randrange(1, 40)) for _ in range(300)]
    events = [event(1, i, 1, [stat(1, str=t), stat(2, bytes=t), stat(i + 10, str=b'v'),
                              stat(3, ref=i + 10)]) for i, t in enumerate(texts)]
    smeta = b''.join(stat_metadata(i + 10, t) for i, t in enumerate(texts)) + stat_metadata(
        1, 'text') + stat_metadata(2, 'blob') + stat_metadata(3, 'ref')
    f = put('stats.xplane.pb',
            space(plane(1, 'p', [line(1, 'l', events)], smeta + event_metadata(1, 'e'))))
    same(one(f"SELECT count(*), sum(json_valid(stats)), sum(json_type(stats) = 'object') "
             f"FROM trace_events({q(f)});"), [str(len(texts))] * 3)
    got = rows(f"SELECT stat_id, hex(value), typeof(value), hex(name) FROM event_stats({q(f)});")
    for i, t in enumerate(texts):
        want = [['1', repaired(t), 'text', b'text'.hex().upper()],
                ['2', t.hex().upper(), 'blob', b'blob'.hex().upper()],
                [str(i + 10), b'v'.hex().upper(), 'text', repaired(t)],
                ['3', repaired(t), 'text', b'ref'.hex().upper()]]
        same(got[i * 4:i * 4 + 4], want, f'{t!r}:')


@case
def extreme_stats():
    values = [dict(double=float('nan')), dict(double=float('inf')), dict(double=float('-inf')),
              dict(double=1.7e308), dict(double=5e-324), dict(double=-0.0), dict(uint64=2**64 - 1),
              dict(uint64=2**63), dict(uint64=2**63 - 1), dict(int64=-2**63), dict(int64=2**63 - 1),
              dict(ref=2**64 - 1), dict(ref=1), dict(ref=77), dict(bytes=b''), dict(str=''), {}]
    f = put('extreme.xplane.pb', space(plane(
        1, 'p', [line(1, 'l', [event(1, i, 1, [stat(1, **v)]) for i, v in enumerate(values)])],
        event_metadata(1, 'e') + stat_metadata(1, 'v'))))
    same(one(f"SELECT count(*), sum(json_valid(stats)) FROM trace_events({q(f)});"),
         [str(len(values))] * 2)
    got = rows(f"SELECT type, typeof(value), CASE typeof(value) WHEN 'text' THEN value "
               f"WHEN 'integer' THEN value END FROM event_stats({q(f)});")
    same(got, [['double', 'null', 'NULL']] + [['double', 'real', 'NULL']] * 5
         + [['uint64', 'text', str(2**64 - 1)], ['uint64', 'text', str(2**63)],
            ['uint64', 'integer', str(2**63 - 1)],
            ['int64', 'integer', str(-2**63)], ['int64', 'integer', str(2**63 - 1)],
            ['ref', 'text', ''], ['ref', 'text', 'v'], ['ref', 'text', ''],
            ['bytes', 'blob', 'NULL'], ['str', 'text', ''], ['none', 'null', 'NULL']])


@case
def extreme_ids():
    keys = [0, -1, -2**63, 2**63 - 1, 2**64 - 5, 2**40]
    events = [event(k, i, 1) for i, k in enumerate(keys)]
    meta = b''.join(event_metadata(k, f'n{i}') for i, k in enumerate(keys))
    f = put('ids.xplane.pb',
            space(plane(-2**63, 'p', [line(2**64 - 1, 'l', events), line(-5, 'm')], meta)))
    same(rows(f"SELECT name, metadata_id FROM trace_events({q(f)});"),
         [[f'n{i}', str(k if k < 2**63 else k - 2**64)] for i, k in enumerate(keys)])
    same([r[0] for r in rows(f"SELECT proto_id FROM lines({q(f)});")], ['-1', '-5'])
    survives(f)


@case
def extreme_times():
    top = 2**63 - 1
    unix = top // 1000 + 1
    cases = [(top, 0, 1), (top, top, top), (-top - 1, -top - 1, top), (0, top, top), (0, 5, -5),
             (1, 0, -top - 1), (top // 1000, 999, 1), (0, -10, 4), (top // 1000 + 1, 0, 7),
             (-top - 1, 0, 0)]
    f = put('times.xplane.pb', space(plane(
        1, 'p', [line(i, f'l{i}', [event(1, off, dur), event(1, off, dur), event(1, 3, 3)], ts)
                 for i, (ts, off, dur) in enumerate(cases)], event_metadata(1, 'e'))))
    survives(f)
    got = rows(f"SELECT start_ps, duration_ps, typeof(start_ps) || typeof(end_ps) || "
               f"typeof(self_ps) FROM trace_events({q(f)}) ORDER BY event_id;")
    for i, (ts, off, dur) in enumerate(cases):
        # of Unix times, the session's start is the earliest
        since = ts - unix if ts > top // 1000 else ts
        start = max(-top - 1, min(top, max(-top - 1, min(top, since * 1000)) + off))
        same(got[3 * i], [str(start), str(dur), 'integer' * 3], f'{cases[i]}:')
    rows(f"SELECT count(*) FROM event_totals({q(f)}); SELECT name, total_ps "
         f"FROM event_totals({q(f)}); SELECT count(*) FROM trace_events({q(f)}) WHERE start_ps > 0 "
         f"AND end_ps < 10;")
    same(rows(f"SELECT count(*) FROM hosts({q(f)}); SELECT count(*), sum(event_count) "
              f"FROM lines({q(f)}); SELECT count(*) FROM planes({q(f)});"),
         [['1'], [str(len(cases)), str(3 * len(cases))], ['1']])
@case
def chunks_that_stay_in_the_file():
    """Few large values among tiny events: their columns would take more memory than the events,
    which are read again from the file."""
    values = [(3, 2**62 + i, 2**61 - i) if i % 8 == 5 else (1 + i % 2, i % 100, i % 7)
              for i in range(5000)]
    f = put('unpacked.xplane.pb',
            space(plane(1, 'p', [line(1, 'l', [event(*v) for v in values])],
                        event_metadata(1, 'a') + event_metadata(2, 'b') + event_metadata(3, 'c'))))
    got = rows(f"SELECT metadata_id, start_ps, duration_ps FROM trace_events({q(f)});")
    same(got, [[str(x) for x in v] for v in values])
    got = rows(f"SELECT metadata_id, count(*), min(start_ps), max(duration_ps) "
               f"FROM trace_events({q(f)}) GROUP BY metadata_id;")
    same(got, [[str(m), str(len(of)), str(min(v[1] for v in of)), str(max(v[2] for v in of))]
               for m in (1, 2, 3) for of in [[v for v in values if v[0] == m]]])
    same([r[0] for r in rows(f"SELECT start_ps FROM trace_events({q(f)}) WHERE line_id = 0 ORDER "
                             f"BY start_ps;")], [str(x) for x in sorted(v[1] for v in values)])
    same(rows(f"SELECT event_id FROM trace_events({q(f)}) WHERE name = 'c' AND start_ps > "
              f"{2**62 + 4000};"), [[str(i)] for i, v in enumerate(values) if v[1] > 2**62 + 4000])
    survives(f)
