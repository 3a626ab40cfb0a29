# SPDX-License-Identifier: Apache-2.0
"""prof_issues of small faults in files: code, severity, count and place."""
import gzip

from lib import hlo
from lib.cases import case, must, same
from lib.shell import put, quoted, rows
from lib.wire import L, Plane, event, event_metadata, line, plane, space

NAMES = event_metadata(1, 'op') + event_metadata(2, 'other')


def found(data, code, name='x.xplane.pb'):
    """(severity, count, byte_offset, lost_bytes) of the issues with the code, and the texts."""
    where = "FROM prof_issues(%s) WHERE code = '%s'" % (quoted(put(name, data)), code)
    return (rows('SELECT severity, count, byte_offset, lost_bytes ' + where),
            ' '.join(text for text, in rows('SELECT message ' + where)))


def of_events(*events, names=NAMES, timestamp_ns=0):
    return space(plane(1, '/host:CPU', [line(1, 'main', events, timestamp_ns)], names))


@case
def compressed_files():
    """Bytes after the end of the compressed file are counted; what is before a cut is read."""
    data = of_events(*[event(1, 10 * i, 5) for i in range(50)])
    packed = gzip.compress(data, mtime=0)
    events = 'SELECT count(*) FROM trace_events(%s)'
    for name, end, code, issue in (
            ('whole', packed, 'gzip_cut_short', []), ('whole', packed, 'gzip_trailing_bytes', []),
            ('more', packed + b'junk', 'gzip_trailing_bytes', [('warning', 1, len(data), 4)]),
            ('less', packed[:-4], 'gzip_cut_short', [('error', 1, len(data), 0)])):
        file = name + '.xplane.pb.gz'
        same(found(end, code, file)[0], issue, name)
        same(rows(events % quoted(put(file, end))), [(50,)], name)
    must('; %d inflated bytes were read' % len(data) in found(packed[:-4], 'gzip_cut_short',
                                                              'less.xplane.pb.gz')[1], 'bytes')


@case
def files_that_end_early():
    """The place is that of the field that the file cuts: none if it is the first byte."""
    first = L(1, plane(1, '/host:CPU', [line(1, 'main', [event(1, 0, 5)])], NAMES))
    text = first + L(2, 'an error')
    for name, data, issue in (('a plane', first[:-1], [('error', 1, None, 0)]),
                              ('a text', text[:-1], [('error', 1, len(first), 0)]),
                              ('sound', text, [])):
        found_issues, told = found(data, 'truncated')
        same(found_issues[:1], issue, name)  # a message inside of the plane is cut too
        must(not issue or told.startswith(name + ' claims 1 bytes more'), told)
    data = first + L(9, 'unknown')
    same(found(data[:-1], 'damaged')[0], [('error', 1, len(first), len(data) - 1 - len(first))])
    same(found(data, 'damaged')[0], [])


@case
def names():
    """A name with a NUL byte, and events without a name: each is one issue, however often it is
    met."""
    nul = event_metadata(1, 'a\0b') + event_metadata(2, 'b')
    data = of_events(event(1, 0, 5), event(1, 10, 5), event(2, 20, 5), names=nul)
    (issue,), _ = found(data, 'nul_in_name')
    same((issue[0], issue[1], data[issue[2]:issue[2] + 3]), ('warning', 1, b'a\0b'))
    same(found(of_events(event(1, 0, 5)), 'nul_in_name')[0], [])
    data = of_events(event(1, 0, 5), event(7, 10, 5), event(8, 20, 5))
    same([row[:2] for row in found(data, 'unknown_metadata')[0]], [('warning', 1)])
    same(found(of_events(event(1, 0, 5), event(2, 1, 1)), 'unknown_metadata')[0], [])


@case
def times():
    """Times beyond 64 bits stay at the end; lines that count from 1970 start at the session's
    start."""
    most = 2**63 - 1
    data = of_events(event(1, 0, 7), timestamp_ns=-2**54)
    same([row[:2] for row in found(data, 'time_overflow')[0]], [('warning', 1)])
    ask = 'SELECT start_ps, duration_ps FROM trace_events(%s)'
    same(rows(ask % quoted(put('x.xplane.pb', data))), [(-2**63, 7)])
    fits = of_events(event(1, 807, 0), timestamp_ns=most // 1000)
    same(found(fits, 'time_overflow')[0], [])
    over = of_events(event(1, 808, 0), timestamp_ns=most // 1000)
    same([row[:2] for row in found(over, 'time_overflow')[0]], [('warning', 1)])
    for data in (fits, over):
        same(rows(ask % quoted(put('x.xplane.pb', data))), [(most, 0)])
    begin = 1700000000 * 10**9
    unix = space(plane(1, '/host:CPU', [line(1, 'a', [event(1, 3000, 5)], begin + 7),
                                        line(2, 'b', [event(1, 1000, 5)], begin)], NAMES))
    issues, text = found(unix, 'unix_times')
    same([row[:2] for row in issues], [('info', 1)])
    must(' relative to %d ns,' % begin in text, text)
    same(rows('SELECT start_ps FROM trace_events(%s) ORDER BY line_id'
              % quoted(put('x.xplane.pb', unix))), [(10000,), (1000,)])
    same(found(of_events(event(1, 0, 5)), 'unix_times')[0], [])


def of_program(proto):
    """A file with a program."""
    plane = Plane('/host:metadata')
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': proto}}, key=1)
    return space(plane.bytes())


@case
def damage_in_programs():
    """The place of the field that damages a program; of texts that are not UTF-8 the program's."""
    sound = hlo.module('m', hlo.computation(1, 'main', [hlo.instruction(1, 'a')]))
    same(found(of_program(L(1, sound)), 'unreadable_program')[0], [])
    for name, proto, at in (('the key of no field', L(1, sound) + b'\x0f', -1),
                            ('a varint for a text', L(1, sound + b'\x08\x01'), -2),
                            ('deeper', L(1, sound + L(3, L(1, 'b') + b'\x0f')), -1)):
        data = of_program(proto)
        end = data.index(proto) + len(proto)
        same(found(data, 'unreadable_program')[0], [('error', 1, end + at, len(proto))], name)
    proto = L(1, sound + L(3, L(1, b'\xff')))
    data = of_program(proto)
    same(found(data, 'invalid_utf8')[0], [('warning', 1, data.index(proto), 0)])


@case
def captures():
    """What our own capture reports of itself: each issue only if its number is not 0, at the stat's
    place, and only in the session's plane."""
    for name, code, severity, count, words in (
            ('capture_dropped_records', 'capture_dropped', 'error', 7, '7 records were lost'),
            ('capture_missing_steps', 'capture_missing_steps', 'warning', 7,
             '7 of the requested steps'),
            ('capture_ended_abruptly', 'capture_ended_abruptly', 'warning', 1, 'was killed')):
        for kind in 'uint64', 'int64':
            data = space(Plane('Task Environment', 9, {name: {kind: 7}}).bytes())
            issues, text = found(data, code)
            same([row[:2] + row[3:] for row in issues], [(severity, count, 0)], name)
            same(data[issues[0][2]:][:1], b'\x32', name)  # field 6, the plane's stats
            must(words in text, text)
        for plane_name, n in ('Task Environment', 0), ('/host:CPU', 7):
            data = space(Plane(plane_name, 9, {name: {'uint64': n}}).bytes())
            same(found(data, code)[0], [], name)
