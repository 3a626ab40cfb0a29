#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes up the memory at each peak (peak_holders), how long each level of an allocator's
memory was in use (memory_time) and how much was in use in each part of the allocator's time
(memory_over_time), from the bytes of each profile.

Random allocators have few events at few times, often together, also at the ends of int64."""
import collections
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import xspace  # noqa: E402
from compare import Run, agree, check_random, main, tried  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from memory import ALLOC, FREE, Program, actions_of, integer, last, message  # noqa: E402

MIB = 1048576.0
PARTS = (100, 1, 3, 1000)  # of an allocator's time; the first is the default
DATA_TYPES = dict(enumerate(
    'INVALID float double int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 '
    'bfloat16 qint16 quint16 uint16 complex128 half resource variant uint32 uint64 '
    'float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 '
    'uint4'.split()))


# ---- allocators ----

def in_use(action):
    """Heap and stack, added in 64 bits."""
    return xspace.signed((action.heap + action.stack) % 2**64)


def decimal(number):
    """As a table shows it: integers beyond int64 are texts."""
    return number if number < 2**63 else str(number)


class Allocator:
    """What an allocator did, in order of time, and its peak."""

    def __init__(self, actions):
        self.actions = actions
        self.peak = max((a for a in actions if in_use(a) >= 0), key=lambda a: (in_use(a), a.id),
                        default=None)

    @property
    def peak_bytes(self):
        return in_use(self.peak) if self.peak else 0

    def until_peak(self):
        return self.actions[:self.actions.index(self.peak) + 1]

    def live(self):
        """Allocations that are in use at the peak."""
        made = {}
        for a in self.until_peak():
            made.pop(a.address, None)
            if not a.is_free:
                made[a.address] = a
        return list(made.values())

    def earlier(self, live_bytes):
        first = self.actions[0]
        heap = first.heap + (first.taken if first.is_free else -first.taken)
        matched = {a.free.id for a in self.actions if a.free}
        heap -= sum(a.taken for a in self.until_peak() if a.is_free and a.id not in matched)
        return max(0, min(heap, self.peak.heap - live_bytes))

    def holders(self):
        """[kind, tf_op, region_type, data_type, shape, holders, bytes, since_us, held_us]"""
        groups = collections.defaultdict(list)
        for a in self.live():
            tf_op, region_type, shape = a.labels
            groups[tf_op, region_type, data_type(a), shape].append(a)
        out = []
        for key, of in groups.items():
            since = min(a.time for a in of)
            out.append(['allocation', *key, len(of), sum(a.taken for a in of), since / 1e6,
                        (self.peak.time - since) / 1e6])
        live = sum(row[6] for row in out)
        earlier = self.earlier(live)
        rest = {'earlier': earlier, 'stack': self.peak.stack,
                'unknown': self.peak.heap - live - earlier}
        return out + [[kind, None, None, None, None, None, size, None, None]
                      for kind, size in rest.items() if size]

    def levels(self, n):
        """Rows of memory_time, each level from the moments at which it is in use."""
        used = [max(0, in_use(a)) for a in self.actions]
        times = [a.time for a in self.actions]
        lasting = [after - before for before, after in zip(times, times[1:])] + [0]
        total, bounds = times[-1] - times[0], [self.peak_bytes * k // n for k in range(n + 1)]
        rows, above = [], total
        for level, most in enumerate(bounds):
            least = bounds[level - 1] + 1 if level else 0
            here = [i for i, x in enumerate(used) if least <= x <= most]
            if here:
                time = sum(lasting[i] for i in here)
                rows.append([level, least, most, decimal(time), time / 1e6,
                             100 * time / total if total else None,
                             100 * above / total if total else None, times[here[0]],
                             times[here[0]] / 1e6, sum(x * t for x, t in zip(used, lasting)) / total
                             if total else None])
                above -= time
        return rows

    def parts(self, n):
        """Rows of memory_over_time: each event is in the part that its own time names."""
        first, length = self.actions[0].time, self.actions[-1].time - self.actions[0].time + 1
        inside = collections.defaultdict(list)
        for a in self.actions:
            inside[1 + (a.time - first) * n // length].append(max(0, in_use(a)))
        # Part k starts d ps after the first event: the least d with (k - 1) <= d * n / length.
        starts = [first + -(-k * length // n) for k in range(n + 1)]
        rows, before = [], max(0, in_use(self.actions[0]))
        for part, start, end in zip(range(1, n + 1), starts, starts[1:]):
            if start < end:
                used = [before] + inside[part]
                before = used[-1]
                lasts = min(end - start, 2**64 - 1)
                rows.append([part, start, start / 1e6, decimal(lasts), lasts / 1e6,
                             len(inside[part]), max(used), min(used), used[-1]])
        return rows


def data_type(action):
    """TensorFlow's name; a reference is 100 more."""
    number = (action.data_type + 2**31) % 2**32 - 2**31
    base = number - 100 if number > 100 else number
    name = DATA_TYPES.get(base, 'unknown dtype enum (%d)' % base)
    return None if number == 0 else name + '_ref' if number > 100 else name


def allocators_of(actions):
    out = collections.defaultdict(list)
    for host, of_host in actions.items():
        for a in of_host:
            out[host, a.allocator].append(a)
    return {key: Allocator(of) for key, of in out.items()}


def check_levels(run, allocators):
    for n in (10, 1, 3, 1000):
        got = collections.defaultdict(list)
        for r in run.ask('SELECT host, allocator, level, least_bytes, most_bytes, duration_ps, '
                         'duration_us, percent, at_least_percent, first_ps, first_us, mean_bytes '
                         'FROM memory_time({x}%s)' % ('' if n == 10 else ', %d' % n)):
            got[r['host'], r['allocator']].append(list(r.values())[2:])
        agree('memory_time of %d levels' % n, dict(got),
              {key: a.levels(n) for key, a in allocators.items()})


def check_parts(run, allocators):
    hosts = list(run.hosts)
    order = sorted(allocators, key=lambda key: (hosts.index(key[0]), key[1].encode()))
    for n in PARTS:
        want = {key: allocators[key].parts(n) for key in order}
        rows = run.ask('SELECT host, allocator, part, start_ps, start_us, duration_ps, '
                       'duration_us, event_count, most_bytes, least_bytes, end_bytes '
                       'FROM memory_over_time({x}%s)' % ('' if n == PARTS[0] else ', %d' % n))
        got = collections.defaultdict(list)
        for r in rows:
            got[r['host'], r['allocator']].append(list(r.values())[2:])
        agree('memory_over_time of %d parts' % n, dict(got), want)
        agree('order of %d parts' % n, [tuple(r.values())[:3] for r in rows],
              [(*key, row[0]) for key in order for row in want[key]])


# ---- programs ----

def holders_of(program, color):
    """The peak of a plan, and [kind, hlo_op, tf_op, source_line, shape, bytes, since_op]."""
    storages, n = program.storages(color)
    fixed, events = program.fixed(color), program.trace_of(color)

    def at(i):
        return [s for s in storages if s[0] <= i < s[1]]
    heaps = [sum(s[2] for s in at(i)) for i in range(n)]
    largest = max(heaps, default=0)
    peak = largest + sum(size for size, _ in fixed)

    def row(buffer, since):
        size, _, (_, source, tf_op, _), _, place = program.buffers[buffer]
        a = program.allocations[place]
        kind = next((name for name, field in (('parameter', 5), ('output', 7), ('thread-local', 3),
                                              ('constant', 12)) if last(a, field)), 'temporary')
        shape = program.shape(buffer)
        return [kind, program.label(buffer), tf_op, source, shape and shape.text(), size, since]
    rows = [row(buffer, None) for _, buffer in fixed]
    for start, _, _, buffer in at(heaps.index(largest)) if largest else ():
        rows.append(row(buffer, xspace.text(last(events[start], 4, b'')) or None))
    rows.append(['unknown', None, None, None, None, peak - sum(r[5] for r in rows), None])
    return peak, [r for r in rows if r[5]]


def programs_of(run):
    """[program, first host, number of hosts] of each program: of several with one id in a host, of
    the first (the issue duplicate_program)."""
    found = {}
    for host, planes in zip([r['host'] for r in run.ask('SELECT host FROM hosts({x})')],
                            run.hosts.values()):
        of_host = {}
        for p in planes:
            for key, meta in p.metas.items() if p.name == '/host:metadata' else ():
                proto = meta.stats.get('Hlo Proto')
                if isinstance(proto, bytes) and message(proto)[1]:
                    of_host.setdefault(str(xspace.program_id(key, meta)), proto)
        for program in of_host.items():
            found.setdefault(program, []).append(host)
    return [(Program(id, message(proto)), hosts[0], len(set(hosts)))
            for (id, proto), hosts in found.items()]


# ---- both ----

def check_order(rows):
    """Peaks in order, their holders together and in order; each peak is the sum of its parts."""
    peaks = collections.defaultdict(list)
    for r in rows:
        peaks[r['recorded_by'], r['host'], r['peak_of'], r['program_id']].append(r)
    agree('ranks', [r['rank'] for r in rows], list(range(1, len(rows) + 1)))
    agree('holders of a peak together', [r['rank'] for of in peaks.values() for r in of],
          list(range(1, len(rows) + 1)))
    order = [(of[0]['recorded_by'], -of[0]['peak_mib']) for of in peaks.values()]
    agree('order of the peaks', order, sorted(order))
    for key, of in peaks.items():
        sizes = [r['size_bytes'] for r in of]
        agree('order of the holders', sizes, sorted(sizes, reverse=True))
        agree('peaks of %r' % (key, ), {r['peak_mib'] for r in of}, {sum(sizes) / MIB})
        if sum(sizes):
            agree('shares of %r' % (key, ), sum(r['percent'] for r in of), 100)


def by_first(rows, n):
    """In order of the first n values, then of the others."""
    return sorted(rows, key=lambda row: (repr(row[:n]), repr(row[n:])))


def check_holders(run, allocators, programs, color):
    rows = run.ask('SELECT * FROM peak_holders({x}, NULL, %d)' % color)
    check_order(rows)
    agree('the first rows', run.ask('SELECT * FROM peak_holders({x}, 3, %d)' % color), rows[:3])
    want = [[host, name] + h + shares(a.peak_bytes, h[6]) + [1, 'allocator']
            for (host, name), a in allocators.items() if a.peak for h in a.holders()]
    columns = ('host', 'peak_of', 'kind', 'tf_op', 'region_type', 'data_type', 'shape', 'holders',
               'size_bytes', 'since_us', 'held_us', 'peak_mib', 'size_mib', 'percent', 'hosts',
               'recorded_by')
    got = [[r[c] for c in columns] for r in rows if r['recorded_by'] == 'allocator']
    agree('peak_holders of allocators', by_first(got, 7), by_first(want, 7))
    want = []
    for program, host, hosts in programs:
        peak, holders = holders_of(program, color)
        want += [[host, program.id, program.name] + h + shares(peak, h[5])
                 + [None if h[0] == 'unknown' else 1, hosts, 'compiler'] for h in holders]
    columns = ('host', 'program_id', 'peak_of', 'kind', 'hlo_op', 'tf_op', 'source_line', 'shape',
               'size_bytes', 'since_op', 'peak_mib', 'size_mib', 'percent', 'holders', 'hosts',
               'recorded_by')
    ids = {program.id for program, _, _ in programs}
    got = [[r[c] for c in columns] for r in rows if r['program_id'] in ids]
    agree('peak_holders of programs', by_first(got, 5), by_first(want, 5))


def shares(peak, size):
    return [peak / MIB, size / MIB, 100 * size / peak if peak else None]


def each(run):
    allocators, programs = allocators_of(actions_of(run)), programs_of(run)
    colors = {integer(a, 8) for program, _, _ in programs for a in program.allocations}
    if allocators:
        tried('memory_time ' + run.path, check_levels, run, allocators)
        tried('memory_over_time ' + run.path, check_parts, run, allocators)
    for color in sorted(colors | ({0} if allocators else set())):
        tried('%s, memory space %d' % (run.path, color), check_holders, run, allocators, programs,
              color)


# ---- random allocators ----

LEAST, MOST = -2**63, 2**63 - 1
BYTES = [0, 1, 5, 70, 900, 2**40, -1, -80, 2**62, MOST, LEAST]
met = collections.Counter()  # what the random allocators have
WAYS = ['one event', 'events of several threads at one time', 'heap and stack below 0',
        'heap and stack wrap', 'fewer picoseconds than parts', 'most parts without an event',
        'near the least time', 'near the most time', 'longer than int64',
        'an event in the first picosecond of a part', 'an event in the last picosecond of a part',
        'most before the first event of a part', 'most between events of a part',
        'least before the first event of a part', 'least between events of a part']


def note_ways(allocator, n):
    actions, rows = allocator.actions, allocator.parts(n)
    times, sums = {a.time for a in actions}, {a.heap + a.stack for a in actions}
    met['one event'] += len(actions) == 1
    met['events of several threads at one time'] += any(
        a.time == b.time and a.line != b.line for a, b in zip(actions, actions[1:]))
    met['heap and stack below 0'] += any(LEAST <= x < 0 for x in sums)
    met['heap and stack wrap'] += any(not LEAST <= x <= MOST for x in sums)
    met['fewer picoseconds than parts'] += len(rows) < n
    met['most parts without an event'] += sum(not row[5] for row in rows) > len(rows) / 2
    met['near the least time'] += min(times) < LEAST + 9
    met['near the most time'] += max(times) > MOST - 9
    met['longer than int64'] += max(times) - min(times) > MOST
    for before, (_, start, _, lasts, _, _, most, least, last) in zip(rows, rows[1:]):
        inside = [max(0, in_use(a)) for a in actions if start <= a.time < start + lasts]
        if inside:
            met['an event in the first picosecond of a part'] += start in times
            met['an event in the last picosecond of a part'] += start + lasts - 1 in times
            met['most before the first event of a part'] += most > max(inside)
            met['least before the first event of a part'] += least < min(inside)
            met['most between events of a part'] += most > max(before[-1], last)
            met['least between events of a part'] += least < min(before[-1], last)


def random_times(dice):
    """Of the events of an allocator: in few picoseconds, on a coarse grid, around few moments, or
    at the ends of int64."""
    around = dice.choice([[0], [-10**6, 0, 10**6], [0, 10**9, 10**12], [LEAST], [MOST],
                          [LEAST, 0, MOST], [dice.randint(LEAST, MOST) for _ in range(4)]])
    grid, most = dice.choice([(1, 3), (1000, 6), (7, 200), (10**6, 10**4)])
    times = [dice.choice(around) + grid * dice.randint(-most, most)
             for _ in range(dice.choice([1, 2, 5, 30]))]
    return [max(LEAST, min(time, MOST)) for time in times]


def random_run(dice, folder):
    """Hosts whose allocators record events on several threads. Times count from the start of the
    line, which is at an end of int64, or near 0."""
    os.makedirs(folder)
    files = []
    for i in range(dice.choice([1, 1, 2])):
        lines = {start: [] for start in (0, 3, -xspace.LONGEST_NS, xspace.LONGEST_NS)}
        for name in dice.sample(['pool', 'Pool', '', '7', 'é'], dice.choice([1, 2, 3])):
            sizes = dice.sample(BYTES, dice.choice([2, 4, len(BYTES)]))
            for time in random_times(dice):
                start = dice.choice([x for x in lines if LEAST <= time - 1000 * x <= MOST])
                numbers = {stat: {'int64': dice.choice(sizes)}
                           for stat in ('bytes_allocated', 'bytes_reserved') if dice.random() < 0.8}
                lines[start].append((dice.choice(['MemoryAllocation', 'MemoryDeallocation']),
                                     time - 1000 * start, 0,
                                     {'allocator_name': {'str': name}, **numbers}))
        plane = Plane('/host:CPU')
        for id, (start, events) in enumerate(lines.items()):
            plane.line(id, 'thread', events, timestamp_ns=start)
        files.append(os.path.join(folder, 'host%d.xplane.pb' % i))
        with open(files[-1], 'wb') as f:
            f.write(space(plane.bytes()))
    return Run(folder, files)


def check_random_run(run):
    allocators = allocators_of(actions_of(run))
    check_levels(run, allocators)
    check_parts(run, allocators)
    for allocator in allocators.values():
        for n in PARTS:
            note_ways(allocator, n)


# ---- made profiles ----

def program_with_a_rest():
    """A parameter of 2 MiB with a buffer of 1 MiB, one of 0 bytes, and temporaries of 3 and 0."""
    shape = hlo.shape(hlo.U8, 1 << 20, tile=(8, 128), space=1)
    nested = hlo.tuple_of(hlo.shape(hlo.F32), hlo.tuple_of(hlo.shape(hlo.S32, 2), shape))
    ops = [hlo.instruction(i, 'op%d' % i, 'negate', nested if i == 3 else shape,
                           op_name='f/op%d' % i) for i in range(1, 6)]
    sizes = {1: 1 << 20, 2: 0, 3: 3 << 20, 4: 0, 5: 7}
    places = [hlo.allocation(0, 2 << 20, [(1, 0, 1 << 20)], parameter=True),
              hlo.allocation(1, 0, [(2, 0, 0)], constant=True),
              hlo.allocation(2, 4 << 20, [(3, 0, 3 << 20), (4, 0, 0), (5, 0, 7)])]
    buffers = [hlo.buffer(i, size, i, (1, 1) if i == 3 else ()) for i, size in sizes.items()]
    events = hlo.trace((ALLOC, 5, 'op5'), (FREE, 5, 'op5'), (ALLOC, 4, 'op4'), (ALLOC, 3, 'op1'),
                       (FREE, 3, 'op4'), (FREE, 4, 'op5'))
    plane = Plane('/host:metadata')
    plan = hlo.proto(hlo.module('m', hlo.computation(1, 'main', ops)),
                     hlo.assignment(buffers, places, [events]))
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': plan}}, key=1)
    return plane.bytes()


def allocator_without_texts():
    """Two allocations whose texts are unknown, once as ROCm writes it and once empty."""
    events = []
    for i, text in enumerate(('(null)', '')):
        numbers = {'allocation_bytes': 8, 'addr': i, 'bytes_allocated': 8 * i + 8}
        events.append(('MemoryAllocation', 1000 * i, 1, {
            'allocator_name': {'str': 'bfc'},
            **{name: {'int64': number} for name, number in numbers.items()},
            **{name: {'str': text} for name in ('tf_op', 'region_type')}}))
    events.append(('MemoryAllocation', 5000, 1, {
        'allocator_name': {'str': 'other'}, 'allocation_bytes': {'int64': 8}, 'addr': {'int64': 1},
        'bytes_allocated': {'int64': 8}, 'data_type': {'int64': 101},
        'region_type': {'str': 'temp'}, 'tf_op': {'str': 'f/op'}}))
    return Plane('/host:CPU').line(1, 'thread', events).bytes()


def kinds(run):
    agree('kinds', [[r['kind'], r['size_bytes'], r['hosts']] for r in run.ask(
        'SELECT kind, size_bytes, hosts FROM peak_holders({x})')],
          [['allocation', 16, 1]] * 2 + [['allocation', 8, 1]] * 2
          + [[kind, mib << 20, 2] for kind, mib in (('temporary', 3), ('parameter', 1),
                                                    ('unknown', 1))])


def made():
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, 'plugins', 'profile', 'run')
        os.makedirs(folder)
        files = [os.path.join(folder, '%s.xplane.pb' % host) for host in 'ab']
        for file in files:
            with open(file, 'wb') as f:
                f.write(space(program_with_a_rest(), allocator_without_texts()))
        run = Run(folder, files)
        each(run)
        tried('kinds of a made profile', kinds, run)
    check_random('memory in use', 60, random_run, check_random_run, 'allocators', WAYS, met)


if __name__ == '__main__':
    main(each, made)
