#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory: what programs plan (buffer_allocations, heap_timeline, memory_peaks, live_at,
largest_buffers, memory_by_source_line, peak_memory, fragmentation) and what allocators did
(live_allocations, allocation_churn, the matches of memory_events), from the bytes of
each profile.

A plan's heap is not walked event by event: each storage has intervals, from the event that first
refers to it to the one that ends the last reference, and the heap at a moment is the sum of the
storages whose interval includes it."""
import bisect
import collections
import itertools
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import xspace  # noqa: E402
from compare import Run, agree, main, tried  # noqa: E402
from hlo import Message  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from shapes import POINTER, TUPLE, Shape  # noqa: E402

MIB = 1048576.0
ALLOC, FREE, SHARE = 0, 1, 2


def message(data):
    """{field: [values]}"""
    found = collections.defaultdict(list)
    for number, value in xspace.fields(data):
        found[number].append(value)
    return found


def last(m, number, default=0):
    return m[number][-1] if m[number] else default


def integer(m, number):
    return xspace.signed(last(m, number))


def integers(m, number):
    """A repeated integer, packed or not."""
    out = []
    for x in m[number]:
        at = 0
        if isinstance(x, int):
            out.append(xspace.signed(x))
        while not isinstance(x, int) and at < len(x):
            value, at = xspace.varint(x, at)
            out.append(xspace.signed(value))
    return out


class Program:
    """A program's buffers, the intervals of its storages, and its allocations."""

    def __init__(self, id, hlo):
        self.id = id
        module = message(last(hlo, 1, b''))
        self.name = xspace.text(last(module, 1, b''))
        self.read_instructions(module)
        assignment = message(last(hlo, 3, b''))
        self.allocations = sorted((message(x) for x in assignment[3]), key=lambda a: integer(a, 1))
        logical = {integer(m, 1): m for m in map(message, assignment[1])}
        self.buffers = {}  # id: size, color, instruction and part, place of the allocation
        self.indices = {}
        for i, a in enumerate(self.allocations):
            for x in map(message, a[9]):
                m = logical.get(integer(x, 1))
                at = message(last(m, 3, b'')) if m else None
                if m and (integer(at, 4) in self.instructions
                          or xspace.text(last(at, 2, b'')) in self.by_name):
                    op = self.instructions.get(integer(at, 4)) or self.by_name[
                        xspace.text(last(at, 2, b''))]
                    index = self.indices[integer(x, 1)] = integers(at, 3)
                    self.buffers[integer(x, 1)] = (integer(m, 2), integer(m, 4), op, '{%s}'
                                                   % ','.join(map(str, index)) if index else '', i)
        self.traces = [[message(e) for e in message(t)[1]] for t in assignment[4]]

    def read_instructions(self, module):
        frames = message(last(module, 17, b''))
        locations = [message(x) for x in frames[3]]
        frame_of = [message(x) for x in frames[4]]
        self.instructions, self.by_name = {}, {}
        for computation in module[3]:
            for x in message(computation)[2]:
                m = message(x)
                metadata = message(last(m, 7, b''))
                file, line, frame = xspace.text(last(metadata, 3, b'')), integer(
                    metadata, 4), integer(metadata, 15)
                if not file and 0 < frame <= len(frame_of) and 0 < integer(frame_of[frame - 1],
                                                                           1) <= len(locations):
                    location = locations[integer(frame_of[frame - 1], 1) - 1]
                    names = frames[1]
                    file = xspace.text(names[integer(location, 1) - 1]) if 0 < integer(
                        location, 1) <= len(names) else ''
                    line = integer(location, 3)
                source = '%s:%d' % (file, line) if file and line else None
                op = (xspace.text(last(m, 1, b'')), source,
                      xspace.text(last(metadata, 2, b'')) or None, last(m, 3, b''))
                self.instructions[integer(m, 35)] = op
                self.by_name[op[0]] = op

    def shape(self, buffer):
        """Of the part of the instruction's result; None: it has no such part."""
        shape = Shape(Message(self.buffers[buffer][2][3]))
        for i in self.indices[buffer]:
            if shape.type != TUPLE or not 0 <= i < len(shape.parts):
                return None
            shape = shape.parts[i]
        return shape

    def is_fixed(self, a):
        return bool(last(a, 5) or last(a, 12) or last(a, 7))

    def trace_of(self, color):
        """The trace that works in the first allocation of temporaries, else the one with the most
        events of the memory space."""
        places = {}
        for t, events in enumerate(self.traces):
            first = self.buffers.get(integer(events[0], 2)) if events else None
            if first:
                places[first[4]] = t
        for i, a in enumerate(self.allocations):
            if integer(a, 8) == color and not self.is_fixed(a) and i in places:
                return self.traces[places[i]]
        best = max(self.traces, key=lambda t: sum(self.buffers.get(integer(e, 2), (0, None))[1]
                                                  == color for e in t), default=[])
        return best if any(self.buffers.get(integer(e, 2), (0, None))[1] == color
                           for e in best) else []

    def storages(self, color):
        """Intervals [first event, last event, bytes, buffer that stands for it], and how many
        events there are."""
        events, found, root, references, open_at, shown = self.trace_of(
            color), [], {}, collections.Counter(), {}, {}
        for i, e in enumerate(events):
            kind, buffer = integer(e, 1), integer(e, 2)
            if buffer not in self.buffers or (kind == SHARE and integer(e, 5) not in self.buffers):
                continue
            if kind == SHARE:
                root[buffer] = root.get(integer(e, 5), integer(e, 5))
            storage = root.get(buffer, buffer)
            references[storage] += -1 if kind == FREE else 1
            if kind != FREE and references[storage] == 1:
                if kind == SHARE:
                    shown[storage] = buffer
                open_at[storage] = i
            elif kind == FREE and references[storage] == 0:
                found.append([open_at.pop(storage), i, self.buffers[storage][0],
                              shown.get(storage, storage)])
        return found + [[i, len(events), self.buffers[s][0], shown.get(s, s)]
                        for s, i in open_at.items()], len(events)

    def fixed(self, color):
        """(bytes in the plan, the largest buffer) of each allocation that lives throughout and has
        data."""
        out = []
        for i, a in enumerate(self.allocations):
            if integer(a, 8) == color and self.is_fixed(a) and self.counts(i):
                inside = [(b[0], key) for key, b in self.buffers.items() if b[4] == i and b[0] > 0]
                if inside:
                    largest = max(size for size, _ in inside)
                    order = [integer(message(x), 1) for x in a[9]]
                    out.append((integer(a, 2), min((key for size, key in inside if size == largest),
                                                   key=order.index)))
        return out

    def counts(self, i):
        a = self.allocations[i]
        return not last(a, 3) and (i + 1 == len(self.allocations)
                                   or integer(self.allocations[i + 1], 1) != integer(a, 1))

    def total(self, color, *flags):
        return sum(integer(a, 2) for i, a in enumerate(self.allocations) if integer(a, 8) == color
                   and self.counts(i) and (not flags or any(last(a, f) for f in flags)))

    def label(self, buffer):
        return self.buffers[buffer][2][0] + self.buffers[buffer][3]


def heap(program, color):
    """(bytes in use before each event, those that are in use throughout)"""
    storages, n = program.storages(color)
    change = [0] * (n + 2)
    for start, end, size, _ in storages:
        change[start + 1] += size
        change[end + 1 if end < n else n + 1] -= size
    return list(itertools.accumulate(change[:n + 1])), sum(size for size, _ in program.fixed(color))


def plan(program, color=0):
    """Of a memory space: its bytes at each moment, the peak and what lives at it."""
    storages, n = program.storages(color)
    before, always = heap(program, color)
    peak = max(before, default=0)
    at = before.index(peak) - 1  # -1: nothing has bytes, so nothing is allocated until the peak
    fixed = program.fixed(color)
    live = [buffer for _, buffer in fixed] + [b for start, end, _, b in storages if start <= at
                                              < end] if n else [buffer for _, buffer in fixed]
    return storages, n, fixed, always, peak, live


def programs_of(planes):
    for p in planes:
        for key, meta in p.metas.items() if p.name == '/host:metadata' else ():
            proto = meta.stats.get('Hlo Proto')
            if isinstance(proto, bytes):
                hlo = message(proto)
                if hlo[1]:
                    yield Program(str(xspace.program_id(key, meta)), hlo)


def check_plans(run, programs):
    peaks, unused, largest, lines, moments, heaps = [], [], [], [], [], []
    for program in programs:
        if not program.allocations:
            continue
        storages, n, fixed, always, peak, live = plan(program)
        total, kept = program.total(0), program.total(0, 5, 7, 12)
        if total > 0:
            unused_mib = (total - peak - always) / MIB if total >= peak + always else None
            peaks.append([program.id, program.name] + [
                x / MIB for x in (peak + always, program.total(0, 5), program.total(0, 7), peak)]
                         + [unused_mib, total / MIB])
        heaps.append((program.id, peak + always))
        if total > peak + always:
            unused.append([program.id, program.name, 0, (total - kept) / MIB,
                           (peak + always - kept) / MIB, (total - peak - always) / MIB,
                           100 * (total - peak - always) / (total - kept)])
        sizes = [program.buffers[b][0] for b in live]
        if sum(sizes):
            largest += [[program.name, program.label(b), size / MIB, 100 * size / (peak + always),
                         program.buffers[b][2][1]] for b, size in zip(live, sizes)]
        if live:
            lines.append([program.id, len(live), sum(sizes) / MIB, 100 if sum(sizes) else None])
        for event in sorted({0, n // 3, n // 2, n - 1, n} if n else ()):
            there = ([(program.label(b), program.buffers[b][0] / MIB) for _, b in fixed]
                     + [(program.label(b), program.buffers[b][0] / MIB)
                        for start, end, _, b in storages if start <= event <= end])
            moments.append((program.id, event, sorted([op, size] for op, size in there)))
    agree('peak_memory', sorted(list(r.values()) for r in run.ask(
        'SELECT program_id, hlo_module, peak_mib, parameters_mib, outputs_mib, temporaries_mib, '
        'fragmentation_mib, allocated_mib '
        'FROM peak_memory({x}, 1000000)')), sorted(peaks), abs_tol=1e-6)
    agree('fragmentation', sorted(
        list(r.values()) for r in run.ask(
            'SELECT program_id, hlo_module, memory_space, allocated_mib, peak_mib, unused_mib, '
            'unused_percent FROM fragmentation({x}, 1000000) WHERE memory_space = 0')),
          sorted(unused), abs_tol=1e-6)
    agree('hlo_modules', [(r['program_id'], r['peak_heap_bytes']) for r in run.ask(
        'SELECT * FROM hlo_modules({x}) WHERE peak_heap_bytes IS NOT NULL '
        'ORDER BY program_id, peak_heap_bytes')], sorted(heaps))
    agree('largest_buffers', sorted((list(r.values()) for r in run.ask(
        'SELECT hlo_module, hlo_op, size_mib, peak_percent, source_line '
        'FROM largest_buffers({x}, 1000000)')), key=repr), sorted(largest, key=repr), abs_tol=1e-6)
    got = run.ask('SELECT program_id, sum(buffers), sum(size_mib), sum(percent) '
                  'FROM memory_by_source_line({x}, 1000000) GROUP BY program_id')
    agree('memory_by_source_line', sorted((list(r.values()) for r in got), key=repr),
          sorted(lines, key=repr), abs_tol=1e-6)
    for i in range(0, len(moments), 100):
        some = moments[i:i + 100]
        sql = ' UNION ALL '.join("SELECT %d AS i, hlo_op, size_mib "
                                 "FROM live_at({x}, %d, '%s', 1000000)" % (k, event, program)
                                 for k, (program, event, _) in enumerate(some))
        got = collections.defaultdict(list)
        for r in run.ask(sql):
            got[r['i']].append([r['hlo_op'], r['size_mib']])
        agree('live_at', [sorted(got[k]) for k in range(len(some))], [rows for _, _, rows in some])


def unpadded_bytes(shape):
    """Elements that are packed count as packed."""
    if shape.type == TUPLE:
        return POINTER * len(shape.parts)
    bits = shape.layout.int(7) if shape.layout else 0
    if bits and shape.is_known():
        return -(-shape.elements() * bits // 8)
    return shape.data_bytes()


def check_buffers(run, programs):
    """Sizes and life of each buffer that has an instruction."""
    rows = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM buffer_allocations({x}) WHERE hlo_op IS NOT NULL'):
        rows[r['program_id'], r['buffer_id']].append(r)
    for program in programs:
        spaces = {integer(a, 8) for a in program.allocations}
        lives = {c: plan(program, c) for c in spaces}
        at_peak = {c: set(lives[c][5]) for c in spaces}
        stored = {c: {b: [start, end] for start, end, _, b in lives[c][0]} for c in spaces}
        for buffer, (size, _, op, _, place) in program.buffers.items():
            shape, of = program.shape(buffer), rows[program.id, buffer]
            actual = unpadded_bytes(shape) if shape else None
            color = integer(program.allocations[place], 8)
            want = dict(
                program_id=program.id, hlo_module=program.name, size_bytes=size,
                shape_actual=shape.text() if shape else None, unpadded_bytes_actual=actual,
                padding_bytes_actual=size - actual if actual is not None else None,
                padding_efficiency=min(actual / size, 1) if size and actual is not None else None)
            for r in of:
                agree('buffer %s of %s' % (buffer, program.id), {k: r[k] for k in want}, want)
                unpadded = r['unpadded_bytes']
                if unpadded is not None:
                    agree('padding of %s' % buffer, [r['padding_bytes'], r['expansion']],
                          [size - unpadded, size / unpadded if unpadded else None])
            agree('storage of %s' % buffer,
                  [[of[-1]['storage_start_event'], of[-1]['storage_end_event']],
                   max(r['live_at_peak'] or 0 for r in of)],
                  [stored[color].get(buffer, [None, None]), int(buffer in at_peak[color])])


def check_heaps(run, programs):
    """Of all memory spaces, event by event."""
    got = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM heap_timeline({x}) ORDER BY event'):
        got[r['program_id'], r['hlo_module'], r['memory_space']].append(r['heap_mib'])
    want, shares, parts = {}, {}, {}
    for program in programs:
        for color in {integer(a, 8) for a in program.allocations}:
            before, always = heap(program, color)
            total, fixed = program.total(color), program.total(color, 5, 7, 12)
            if len(before) > 1:
                want[program.id, program.name, color] = [(x + always) / MIB for x in before]
            peak = max(before) + always
            shares[program.id, color] = None if peak > total else (
                (total - peak) / (total - fixed) if total > fixed else 0)
    agree('heap_timeline', dict(got), want, abs_tol=1e-6)
    agree('memory_peaks', {(r['program_id'], r['memory_space']): r['fragmentation_fraction']
                           for r in run.ask('SELECT * FROM memory_peaks({x})')}, shares)


# ---- allocators ----

def known(text):
    return text if isinstance(text, str) and text not in ('', '(null)') else None


def text_of(value):
    return value if isinstance(value, str) else ''


def is_signed(message):
    """Whether a stat's number is of the type that profilers write; XProf reads others as 0."""
    return any(number == 4 for number, _ in xspace.fields(message))


class Action:
    def __init__(self, event_id, e):
        self.id, self.time, self.line = event_id, e.start_ps, e.line
        self.is_free = e.name == 'MemoryDeallocation'
        stats = [pair for m in e.messages for pair in xspace.Stats(e.line.plane, [m]).items()]
        named = dict(stats)  # the last of a name counts
        numbers = {name: value for m in e.messages if is_signed(m)
                   for name, value in xspace.Stats(e.line.plane, [m]).items()}
        name = next((name for name, _ in reversed(stats) if name in (
            'allocator_name', 'index_on_host', 'device_ordinal')), None)
        self.allocator = str(numbers.get(name, 0)) if name in (
            'index_on_host', 'device_ordinal') else text_of(named.get(name))
        self.taken, self.wanted, self.address, self.heap, self.stack = (
            numbers.get(name, 0) for name in ('allocation_bytes', 'requested_bytes', 'addr',
                                              'bytes_allocated', 'bytes_reserved'))
        self.labels = known(named.get('tf_op')), known(named.get('region_type')), known(
            named.get('shape'))
        self.data_type = numbers.get('data_type', 0)
        self.end = self.free = None  # when it is over; the free


def actions_of(run):
    """{host: actions in order of time}; events are counted through all files, as event_id is."""
    out, event_id = {}, 0
    for host, planes in zip([r['host'] for r in run.ask('SELECT host FROM hosts({x})')],
                            run.hosts.values()):
        out[host], found = [], False
        for p in planes:
            reads = p.name == '/host:CPU' and not found
            found |= reads
            for line in p.lines:
                for e in line.events:
                    if reads and e.name in ('MemoryAllocation', 'MemoryDeallocation'):
                        out[host].append(Action(event_id, e))
                    event_id += 1
        out[host].sort(key=lambda a: (a.time, a.id))
        held = {}
        for a in out[host]:
            place = a.allocator, a.address
            before = held.pop(place, None)
            if before:
                before.end = a
                before.free = a if a.is_free else None
            if not a.is_free:
                held[place] = a
    return out


def live_rows(host, actions, at):
    """What each allocator has at an action, with what it had before."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    newest, inside = {}, collections.Counter()
    for a in actions[:bisect.bisect_right([(x.time, x.id) for x in actions], (at.time, at.id))]:
        newest[a.allocator] = a
        if not a.is_free and (a.end is None or (a.end.time, a.end.id) > (at.time, at.id)):
            row = rows[(host, a.allocator, 'allocation') + a.labels]
            row[0], row[1], row[2], row[3] = row[0] + 1, row[1] + a.taken, row[2] + a.wanted, max(
                row[3], (at.time - a.time) / 1e6)
            inside[a.allocator] += a.taken
    out = dict(rows)
    for allocator, a in newest.items():
        if a.heap > inside[allocator]:
            out[host, allocator, 'earlier', None, None, None] = [None,
                                                                         a.heap - inside[allocator],
                                                                         None, None]
        if a.stack > 0:
            out[host, allocator, 'stack', None, None, None] = [None, a.stack, None, None]
    return out


def check_allocators(run, actions):
    churn = collections.defaultdict(list)
    for host, of_host in actions.items():
        for a in of_host:
            if not a.is_free:
                churn[host, a.allocator, a.labels[0]].append(a)

    def life(made):
        freed = [(a.free.time - a.time) / 1e6 for a in made if a.free]
        taken = sum(a.taken for a in made)
        return [len(made), taken, max(a.taken for a in made), len(freed),
                sum(a.taken for a in made if a.free), sum(freed) / len(freed) if freed else None,
                100 * (taken - sum(a.wanted for a in made)) / taken if taken > 0 else None]
    got = run.ask('SELECT host, allocator, tf_op, allocations, allocated_bytes, largest_bytes, '
                  'freed, freed_bytes, avg_life_us, rounding_percent '
                  'FROM allocation_churn({x}, 1000000)')
    agree('allocation_churn',
          {tuple(list(r.values())[:3]): list(r.values())[3:] for r in got},
          {key: life(made) for key, made in churn.items() if any(a.free for a in made)})
    agree('order of allocation_churn', [r['freed_bytes'] for r in got],
          sorted((r['freed_bytes'] for r in got), reverse=True))
    got = {r['event_id']: (r['match_event_id'], r['live_until_ps']) for r in run.ask(
        'SELECT event_id, match_event_id, live_until_ps FROM memory_events({x})')}
    want = {}
    for of_host in actions.values():
        freed = {a.free.id: a.id for a in of_host if a.free}
        for a in of_host:
            want[a.id] = (freed.get(a.id) if a.is_free else a.free and a.free.id,
                          a.end.time if a.end and not a.is_free else None)
    agree('memory_events', got, want)
    for host, of_host in actions.items():
        for at in {a.id: a for a in of_host[::max(1, len(of_host) // 5)] + of_host[-1:]}.values():
            got = run.ask('SELECT host, allocator, kind, tf_op, region_type, shape, '
                          'sum(allocations) AS n, sum(allocated_bytes) AS taken, '
                          'sum(requested_bytes) AS wanted, max(oldest_us) AS oldest '
                          'FROM live_allocations({x}, %d, 1000000) '
                          'GROUP BY 1, 2, 3, 4, 5, 6' % at.id)
            agree('live_allocations', {tuple(list(r.values())[:6]): list(r.values())[6:]
                                       for r in got}, live_rows(host, of_host, at))


def more_than_allocated():
    """Two buffers of 1 MiB at one place of an allocation of 1 MiB, in use together."""
    ops = [hlo.instruction(i, 'op%d' % i, 'negate', hlo.shape(hlo.U8, 1 << 20)) for i in (1, 2)]
    events = hlo.trace(*[(kind, i, 'op%d' % i) for kind in (ALLOC, FREE) for i in (1, 2)])
    plan = hlo.assignment([hlo.buffer(i, 1 << 20, i) for i in (1, 2)],
                          [hlo.allocation(0, 1 << 20, [(1, 0, 1 << 20), (2, 0, 1 << 20)])],
                          [events])
    plane = Plane('/host:metadata')
    plane.meta('m(1)', stats={'Hlo Proto': {
        'bytes': hlo.proto(hlo.module('m', hlo.computation(1, 'main', ops)), plan)}}, key=1)
    return space(plane.bytes())


def each(run):
    programs = list(programs_of(list(run.hosts.values())[0])) if len(run.hosts) == 1 else []
    if programs and len(programs) == run.ask('SELECT count(*) AS n FROM hlo_modules({x})')[0]['n']:
        for check in (check_plans, check_buffers, check_heaps):
            tried('%s %s' % (check.__name__, run.path), check, run, programs)
    actions = actions_of(run)
    if any(actions.values()):
        tried('check_allocators ' + run.path, check_allocators, run, actions)


def check_more_than_allocated(made):
    check_plans(made, list(programs_of(xspace.read(made.path))))
    agree('unused', [r['fragmentation_mib'] for r in made.ask('SELECT fragmentation_mib '
                                                              'FROM peak_memory({x})')], [None])


def made():
    with tempfile.TemporaryDirectory() as top:
        run = Run(os.path.join(top, 'h.xplane.pb'), [])
        with open(run.path, 'wb') as f:
            f.write(more_than_allocated())
        tried('a heap that exceeds the allocations', check_more_than_allocated, run)


if __name__ == '__main__':
    main(each, made)
