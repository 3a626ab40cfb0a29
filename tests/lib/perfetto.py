# SPDX-License-Identifier: Apache-2.0
"""Reads traces as viewers do: Perfetto's protobuf packets, of which it understands all fields that
are written and refuses others, and Chrome's JSON. Both give a Trace."""
import decimal
import functools
import json
import math
import struct


class Trace:
    """slices: dicts with process, line, track, name, start_ns or start_ps, duration, depth, args,
    flows. counters: (process, name, time, value). tracks: {id: dict}."""

    def __init__(self):
        self.slices, self.counters, self.tracks, self.clocks = [], [], {}, {}


def varint(data, at, value, shift):
    """The rest of a number of which `value` is known."""
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """[(number, value)]: varints and fixed values as int, the rest as bytes."""
    at, end, out = 0, len(data), []
    while at < end:
        tag, at = data[at], at + 1
        if tag > 127:
            tag, at = varint(data, at, tag & 127, 7)
        if tag & 7 == 1:
            value, at = struct.unpack_from('<Q', data, at)[0], at + 8
        else:
            value, at = data[at], at + 1
            if value > 127:
                value, at = varint(data, at, value & 127, 7)
            if tag & 7:
                assert tag & 7 == 2, tag
                n = value
                value, at = data[at:at + n], at + n
                assert len(value) == n, 'a field is cut off'
        out.append((tag >> 3, value))
    return out


@functools.cache
def wanted(names):
    """({number: (name, whether it is a list)}, names of lists)"""
    known = {n[0] if isinstance(n, tuple) else n: (k, isinstance(n, tuple)) for k, n in names}
    return known, [k for k, many in known.values() if many]


def message(data, **names):
    """{name: value} of the fields name=number; a list for name=(number,). No other may occur."""
    known, lists = wanted(tuple(names.items()))
    out = {name: [] for name in lists}
    for number, value in fields(data):
        assert number in known, 'field %d is not in %s' % (number, names)
        name, many = known[number]
        if many:
            out[name].append(value)
        else:
            assert name not in out, name + ' twice'
            out[name] = value
    return out


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def real(bits):
    return struct.unpack('<d', struct.pack('<Q', bits))[0]


class Perfetto:
    def __init__(self, data):
        self.trace, self.texts, self.open = Trace(), {2: {}, 3: {}, 29: {}}, {}
        for number, packet in fields(data):
            assert number == 1
            self.packet(message(packet, clock=6, time=8, sequence=10, event=11, interned=12,
                                flags=13, track=60))
        assert not any(self.open.values()), 'slices without an end'

    def packet(self, p):
        assert p['sequence'] == 1 and p['flags'] in (1, 2)
        if p['flags'] == 1:
            self.texts = {2: {}, 3: {}, 29: {}}
        for number, entry in fields(p.get('interned', b'')):
            entry = message(entry, iid=1, text=2)
            assert entry['iid'] not in self.texts[number], 'a number twice'
            self.texts[number][entry['iid']] = entry.get('text', b'').decode()
        if 'clock' in p:
            for clock in message(p['clock'], clocks=(1,), primary=2)['clocks']:
                clock = message(clock, id=1, time=2)
                self.trace.clocks[clock['id']] = clock['time']
        if 'track' in p:
            self.track(message(p['track'], uuid=1, name=2, process=3, parent=5, counter=8,
                               ordering=11, rank=12, merge=15, key=17))
        if 'event' in p:
            self.event(p['time'], message(
                p['event'], args=(4,), type=9, name=10, track=11, text=23, integer=30, real=44,
                flows=(47,)))

    def track(self, t):
        assert t['uuid'] not in self.trace.tracks, 'a track twice'
        process = message(t['process'], pid=1, name=6) if 'process' in t else None
        self.trace.tracks[t['uuid']] = {
            'name': (process or t)['name'].decode() if 'name' in (process or t) else '',
            'process': t['uuid'] if process else t['parent'], 'line': t.get('key'),
            'rank': t['rank'], 'counter': 'counter' in t}
        self.open[t['uuid']] = []

    def argument(self, data):
        a = message(data, iid=1, text_iid=17, uint=3, int=4, real=5, text=6, name=10)
        name = self.texts[3][a['iid']] if 'iid' in a else a['name'].decode()
        if 'text_iid' in a:
            return name, self.texts[29][a['text_iid']]
        if 'text' in a:
            return name, a['text'].decode()
        return name, a['uint'] if 'uint' in a else signed(a['int']) if 'int' in a else real(
            a['real'])

    def event(self, time, e):
        track, stack = self.trace.tracks[e['track']], self.open[e['track']]
        process = self.trace.tracks[track['process']]['name']
        if e['type'] == 4:
            value = real(e['real']) if 'real' in e else signed(e['integer'])
            self.trace.counters.append((process, track['name'], time, value))
        elif e['type'] == 2:
            ended = stack.pop()
            ended['duration'] = time - ended['start']
            assert ended['duration'] >= 0, 'ends before it starts'
        else:
            assert e['type'] == 1
            assert not stack or time >= stack[-1]['start'], 'out of order'
            args = dict(map(self.argument, e['args']))
            assert len(args) == len(e['args']), 'an argument twice'
            made = {'process': process, 'line': track['name'], 'track': e['track'],
                    'row': track['line'], 'start': time, 'depth': len(stack), 'args': args,
                    'flows': sorted(e['flows']),
                    'name': self.texts[2][e['name']] if 'name' in e else e['text'].decode()}
            self.trace.slices.append(made)
            stack.append(made)


def perfetto(data):
    return Perfetto(data).trace


def chrome(text):
    """Times are in ps."""
    trace, names = Trace(), {}
    file = json.loads(text, parse_float=decimal.Decimal)
    for e in file['traceEvents']:
        place = (e['pid'], e.get('tid'))
        time = int(e['ts'] * 1000000) if 'ts' in e else None
        if e['ph'] == 'M':
            names[place, e['name']] = e['args']
        elif e['ph'] == 'X':
            made = {'process': e['pid'], 'track': place, 'start': time, 'name': e['name'],
                    'duration': int(e['dur'] * 1000000), 'args': e.get('args', {}), 'flows': []}
            trace.slices.append(made)
        elif e['ph'] == 'C':
            trace.counters.append((e['pid'], e['name'], time, e['args']['value']))
        else:
            assert e['ph'] in 'sf' and time == made['start'] and place == made['track']
            assert e['ph'] == 's' or e['bp'] == 'e'
            made['flows'].append((e['ph'], int(e['id'], 16)))
    for s in trace.slices:
        s['process'] = names[(s['process'], None), 'process_name']['name']
        s['line'] = names[s['track'], 'thread_name']['name']
    trace.counters = [(names[(p, None), 'process_name']['name'], *rest)
                      for p, *rest in trace.counters]
    trace.clocks = file.get('otherData', {})
    return trace


def shown(value):
    """An argument as XProf shows it, always as text."""
    if isinstance(value, (float, decimal.Decimal)):
        return 'nan' if math.isnan(value) else '%g' % value
    return str(value)
