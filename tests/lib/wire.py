# SPDX-License-Identifier: Apache-2.0
"""Writes XSpaces, good and bad ones: the pieces of the protobuf wire format that this needs, and
Plane, which declares names and stats as they are used.

Every function returns bytes; a message is the concatenation of its fields, in the order that the
test wants. The names of the fields are those of schema/xplane.proto."""
import random
import struct

US = 1000000  # picoseconds


def long_varint(x):
    if 1 << 14 <= x < 1 << 21:
        return bytes((x & 127 | 128, x >> 7 & 127 | 128, x >> 14))
    if 1 << 21 <= x < 1 << 28:
        return bytes((x & 127 | 128, x >> 7 & 127 | 128, x >> 14 & 127 | 128, x >> 21))
    x &= (1 << 64) - 1
    out = bytearray()
    while x > 127:
        out.append(x & 127 | 128)
        x >>= 7
    out.append(x)
    return bytes(out)


SHORT = [long_varint(x) for x in range(1 << 14)]  # most are


def varint(x):
    return SHORT[x] if 0 <= x < 1 << 14 else long_varint(x)


def V(field, x):
    """A varint field; a negative number takes ten bytes, as int64 does."""
    return varint(field << 3) + varint(x)


def L(field, *parts):
    """A length-delimited field: text, bytes or the fields of a message."""
    if len(parts) == 1:
        body = parts[0].encode() if isinstance(parts[0], str) else parts[0]
    else:
        body = b''.join([p.encode() if isinstance(p, str) else p for p in parts])
    return varint(field << 3 | 2) + varint(len(body)) + body


def F64(field, x):
    return varint(field << 3 | 1) + (struct.pack('<d', x) if isinstance(x, float)
                                     else struct.pack('<q', x))


def F32(field, x):
    return varint(field << 3 | 5) + struct.pack('<i', x)


def stat(key, **value):
    """stat(3, str='x'): one of double, uint64, int64, str, bytes, ref, or nothing."""
    out = V(1, key)
    for kind, x in value.items():
        field, encode = STAT_VALUES[kind]
        out += encode(field, x)
    return out


STAT_VALUES = {'double': (2, lambda field, x: F64(field, float(x))), 'uint64': (3, V),
               'int64': (4, V), 'str': (5, L), 'bytes': (6, L), 'ref': (7, V)}


def event(meta, offset=None, duration=None, stats=(), occurrences=None):
    out = V(1, meta)
    if offset is not None:
        out += V(2, offset)
    if duration is not None:
        out += V(3, duration)
    if occurrences is not None:
        out += V(5, occurrences)
    return out + b''.join(L(4, s) for s in stats)


def line(id, name, events=(), timestamp_ns=0):
    return V(1, id) + L(2, name) + V(3, timestamp_ns) + b''.join(L(4, e) for e in events)


def event_metadata(key, name, display='', stats=(), rest=b''):
    """An entry of the map XPlane.event_metadata, with its tag."""
    return L(4, V(1, key), L(2, V(1, key), L(2, name), L(4, display) if display else b'',
                             *(L(5, s) for s in stats), rest))


def stat_metadata(key, name):
    return L(5, V(1, key), L(2, V(1, key), L(2, name)))


def plane(id, name, lines=(), metadata=b'', stats=()):
    return V(1, id) + L(2, name) + b''.join(L(3, x) for x in lines) + metadata + b''.join(
        L(6, s) for s in stats)


def space(*planes, hostname='h'):
    return b''.join(L(1, p) for p in planes) + (L(4, hostname) if hostname else b'')


def small(seed=1, n_lines=3, n_events=12):
    """A valid profile of a few kilobytes with a bit of everything: nesting, correlated events, all
    types of stats, occurrences."""
    rnd = random.Random(seed)
    names = ['flops', 'correlation_id', 'note', 'blob', 'ratio', 'source', 'group_id',
             'a name that stats refer to', 'program_id']
    smeta = b''.join(stat_metadata(i + 1, n) for i, n in enumerate(names))
    out = []
    for p, plane_name in enumerate(['/host:CPU', '/device:GPU:0', '/device:CUSTOM:x']):
        emeta = b''.join(event_metadata(k, n, d, s, r) for k, n, d, s, r in [
            (1, 'step', '', (), b''),
            (2, 'fusion.1', 'fusion', (stat(1, uint64=4000), stat(6, ref=8)), V(6, 3) + V(6, 4)),
            (3, 'copy', '', (stat(3, str='from metadata'),), b''),
            (-7, 'negative key', '', (), L(3, b'\x00\xff\x01')),
            (2**40, "it's 100%_x", 'Shown', (), b'')])
        lines = []
        for i in range(n_lines):
            events, at = [], 0
            for k in range(n_events):
                at += rnd.randrange(0, 3000)
                stats = [s for s in (stat(2, uint64=k), stat(3, str=f'text {k}'),
                                     stat(4, bytes=bytes([k, 0, 200])), stat(5, double=k / 3),
                                     stat(6, ref=8), stat(1, int64=-k), stat(7, int64=k // 4),
                                     stat(9, uint64=2**63 + k)) if rnd.random() < .4]
                if k == 5:
                    events.append(event(3, None, 77, stats, occurrences=4))
                else:
                    events.append(event(rnd.choice([1, 2, 3, -7, 2**40, 999, 998 + p]), at,
                                        rnd.choice([0, 10, 500, 9000, 20000]), stats))
            lines.append(line(i + 10 if i < 2 else -i, ['main', 'Stream #1', ''][i % 3], events,
                              timestamp_ns=1000 * i - 500))
        out.append(plane(p * 5, plane_name, lines, emeta + smeta,
                         [stat(3, str='plane stat'), stat(1, double=1.5)]))
    return space(*out)


class Plane:
    """A plane whose metadata is declared as it is used. Stats are {name: {type: value}}, or pairs
    of them, of which a name may come twice."""

    def __init__(self, name, id=1, stats=None):
        self.name, self.id, self.names, self.metas, self.lines = name, id, {}, {}, []
        self.stats = self.stats_of(stats or {})

    def stats_of(self, stats):
        out = []
        for name, value in stats.items() if isinstance(stats, dict) else stats:
            value = dict(value)
            if 'ref' in value:
                value['ref'] = self.names.setdefault(value['ref'], len(self.names) + 1)
            out.append(stat(self.names.setdefault(name, len(self.names) + 1), **value))
        return out

    def meta(self, name, display='', stats=None, children=(), key=None):
        """The key of an event metadata of this content."""
        known = (name, display, repr(stats), repr(children)) if stats or children else (name,
                                                                                        display)
        if known not in self.metas:
            key = key or len(self.metas) + 1
            rest = b''.join(b'\x30' + bytes([child]) for child in children)
            made = event_metadata(key, name, display, self.stats_of(stats or {}), rest)
            self.metas[known] = (key, made)
        return self.metas[known][0]

    def line(self, id, name, events, timestamp_ns=0):
        """events: (metadata key or name, start_ps, duration_ps[, stats[, occurrences]])"""
        made = []
        for e in events:
            m, start, duration, stats, occurrences = tuple(e) + (None,) * (5 - len(e))
            key = m if isinstance(m, int) else self.meta(m)
            made.append(event(key, start, duration, self.stats_of(stats or {}), occurrences))
        self.lines.append(line(id, name, made, timestamp_ns))
        return self

    def bytes(self):
        metadata = b''.join(m for _, m in self.metas.values())
        metadata += b''.join(stat_metadata(k, n) for n, k in self.names.items())
        return plane(self.id, self.name, self.lines, metadata, self.stats)
