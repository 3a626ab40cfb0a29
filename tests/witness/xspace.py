# SPDX-License-Identifier: Apache-2.0
"""Reads XSpace files (*.xplane.pb) by the wire format of protobuf alone: nothing of libprofsql,
nothing to install.

    for plane in read('x.xplane.pb'):
        for line in plane.lines:
            for e in line.events:
                e.name, e.start_ps, e.end_ps, e.stats['correlation_id']"""
import functools
import gzip
import re
import struct

LONGEST_NS = (2**63 - 1) // 1000


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7


def fields(data):
    """(number, value) of each field of a message: integers as unsigned numbers, doubles as 8 bytes,
    everything else as bytes. Groups, which no field of these messages is, are left out with all
    that they hold."""
    at, end, groups = 0, len(data), 0
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = varint(data, at - 1)
        kind = tag & 7
        if kind in (3, 4):
            groups += 1 if kind == 3 else -1
            continue
        if kind == 0 or kind == 2:
            value = data[at]
            at += 1
            if value > 127:
                value, at = varint(data, at - 1)
            if kind == 2:
                value, at = data[at:at + value], at + value
        else:
            n = {1: 8, 5: 4}[kind]
            value, at = data[at:at + n], at + n
        if not groups:
            yield tag >> 3, value


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def text(data):
    """The shell prints a text up to its first NUL."""
    return data.decode('utf-8', 'replace').partition('\0')[0]


def program_id(key, meta):
    """Id of the program in an entry of /host:metadata: the stat program_id, else the number in the
    name, m(7), else the entry's key."""
    stat = meta.stats.get('program_id')
    named = re.search(r'\(([0-9]+)\)$', meta.name)
    return (stat if isinstance(stat, int) else int(named.group(1)) if named else key) % 2**64


def read_map(data):
    key, value = 0, b''
    for number, x in fields(data):
        if number == 1:
            key = signed(x)
        elif number == 2:
            value = x
    return key, value


class Stats(dict):
    """Values by name; a name that comes twice keeps its first value."""

    def __init__(self, plane, messages):
        super().__init__()
        for message in messages:
            name, value = None, None
            for number, x in fields(message):
                if number == 1:
                    name = plane.stat_names.get(signed(x))
                elif number == 2:
                    value = struct.unpack('<d', x)[0]
                elif number == 3:
                    value = x
                elif number == 4:
                    value = signed(x)
                elif number == 5:
                    value = text(x)
                elif number == 6:
                    value = x
                elif number == 7:
                    value = plane.stat_names.get(signed(x), '')
            if name is not None:
                self.setdefault(name, value)


class Meta:
    """What all events of a metadata id share."""

    def __init__(self, plane, data):
        self.name = self.display = ''
        messages = []
        for number, x in fields(data):
            if number == 2:
                self.name = text(x)
            elif number == 4:
                self.display = text(x)
            elif number == 5:
                messages.append(x)
        self.stats, self.n_stats = Stats(plane, messages), len(messages)


class Event:
    __slots__ = ('line', 'meta', 'start_ps', 'duration_ps', 'occurrences', 'messages', '_stats')

    def __init__(self, line, base_ps, data):
        self.line, self.duration_ps, self.occurrences, self.messages, self._stats = (line, 0, None,
                                                                                     [], None)
        meta = offset = 0
        for number, x in fields(data):
            if number == 1:
                meta = signed(x)
            elif number == 2:
                offset, self.occurrences = signed(x), None
            elif number == 3:
                self.duration_ps = signed(x)
            elif number == 4:
                self.messages.append(x)
            elif number == 5:
                offset, self.occurrences = 0, signed(x)
        self.meta = line.plane.metas.get(meta) or NO_META
        self.start_ps = base_ps + offset

    end_ps = property(lambda self: self.start_ps + self.duration_ps)
    name = property(lambda self: self.meta.name)
    short_name = property(lambda self: self.meta.display or self.meta.name)

    @property
    def stats(self):
        """Of the event, then of its metadata."""
        if self._stats is None:
            self._stats = Stats(self.line.plane, self.messages)
            for name, value in self.meta.stats.items():
                self._stats.setdefault(name, value)
        return self._stats


class Line:
    def __init__(self, plane, data, epoch_ns):
        self.plane, self.id, self.name, self.timestamp_ns, self.events = plane, 0, '', 0, []
        self.display = ''
        for number, x in data:
            if number == 1:
                self.id = signed(x)
            elif number == 2:
                self.name = text(x)
            elif number == 3:
                self.timestamp_ns = signed(x)
            elif number == 11:
                self.display = text(x)
        base_ps = (self.timestamp_ns - (epoch_ns if self.timestamp_ns > LONGEST_NS else 0)) * 1000
        self.events = [Event(self, base_ps, x) for number, x in data if number == 4]
        self.derived = -559038737 <= self.id < -559038737 + 390


class Plane:
    def __init__(self, data):
        self.name, self.stat_names, self.metas, self.lines, self.stats = '', {}, {}, [], {}
        self.raw_lines, metas, messages = [], {}, []
        for number, x in fields(data):
            if number == 2:
                self.name = text(x)
            elif number == 3:
                self.raw_lines.append(list(fields(x)))
            elif number == 4:
                key, value = read_map(x)
                metas[key] = value
            elif number == 5:
                key, value = read_map(x)
                self.stat_names[key] = ''.join(text(v) for n, v in fields(value) if n == 2)
            elif number == 6:
                messages.append(x)
        self.metas = {key: Meta(self, value) for key, value in metas.items()}
        self.stats = Stats(self, messages)
        self.every_stat = [pair for m in messages for pair in Stats(self, [m]).items()]

    @functools.cached_property
    def kind(self):
        """gpu, tensorcore, sparsecore, host or other."""
        if self.name.startswith('/device:GPU:'):
            return 'gpu'
        if self.name.startswith('/device:TPU:'):
            rest = self.name[12:].lstrip('0123456789')
            return 'tensorcore' if not rest else 'sparsecore' if re.fullmatch(
                r'[0-9]+ SparseCore [0-9]+', self.name[12:]) else 'other'
        if self.name.startswith('/host:metadata'):
            return 'other'
        return 'host' if self.name.startswith(('/host:', 'Host CPUs', 'Syscalls')) else 'other'


class _NoMeta:
    name = display = ''
    stats, n_stats = {}, 0


NO_META = _NoMeta()


def epoch_of(planes):
    """Where line times that are too large for picoseconds count from: the session's start, else the
    earliest of them."""
    times = [signed(x) for p in planes for l in p.raw_lines for number, x in l if number == 3
             and signed(x) > LONGEST_NS]
    if not times:
        return 0
    start = [p.stats['profile_start_time'] for p in planes if p.name == 'Task Environment'
             and p.stats.get('profile_start_time')]
    if start and start[-1] > 0 and abs(min(times) - start[-1]) <= LONGEST_NS:
        return start[-1]
    return min(times)


def read(path):
    """The planes of a file."""
    with open(path, 'rb') as f:
        data = f.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    planes = [Plane(x) for number, x in fields(data) if number == 1]
    epoch_ns = epoch_of(planes)
    for plane in planes:
        plane.lines = [Line(plane, x, epoch_ns) for x in plane.raw_lines]
        plane.raw_lines = []
    return planes
