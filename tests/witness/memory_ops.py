#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each op allocated from each allocator: memory_ops, from the bytes of each profile. Which op
comes first is the order of memory_events, which is compared with XProf elsewhere (tests/parity).

Random hosts have few addresses and a coarse grid of time, so addresses are used again, and events
happen together."""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, check_random, main, numbered, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from xspace import Stats, fields  # noqa: E402

COLUMNS = ('host', 'allocator', 'tf_op', 'allocations', 'allocated_bytes', 'requested_bytes',
           'largest_bytes', 'freed', 'freed_bytes', 'avg_life_us')
NAMES = {'MemoryAllocation': True, 'MemoryDeallocation': False}
INT64 = 4  # field of a stat's value
met = collections.Counter()  # what the random hosts have


class Event:
    """Only what the event itself records counts, and of several stats of a name the last."""

    def __init__(self, number, e):
        self.is_allocation, self.at = NAMES[e.name], (e.start_ps, number)
        self.allocator, self.op, self.numbers = '', None, collections.Counter()
        for message in e.messages:
            for name, value in Stats(e.line.plane, [message]).items():
                self.read(name, value, any(number == INT64 for number, _ in fields(message)))

    def read(self, name, value, is_int64):
        """XProf takes a number that is no int64 for 0, and of stats that name the allocator the
        last."""
        self.numbers[name] = value if is_int64 else 0
        if name == 'allocator_name':
            self.allocator = value if isinstance(value, str) else ''
        elif name in ('index_on_host', 'device_ordinal'):
            self.allocator = str(self.numbers[name])
        elif name == 'tf_op':
            self.op = value if isinstance(value, str) and value not in ('', '(null)') else None


def allocators(run):
    """{(host, allocator): its events in order of time}, in the order of the table."""
    found, hosts = collections.defaultdict(list), list(run.hosts)
    first = {host: next((p for p in planes if p.name == '/host:CPU'), None)
             for host, planes in run.hosts.items()}
    for number, host, plane, _, e in numbered(run):
        if plane is first[host] and e.name in NAMES:
            one = Event(number, e)
            found[host, one.allocator].append(one)
    return {key: sorted(found[key], key=lambda e: e.at) for key in sorted(
        found, key=lambda key: (hosts.index(key[0]), key[1].encode()))}


def allocations(events):
    """(allocation, its free) of an allocator: the next event at its address, if that is a free."""
    at_address = collections.defaultdict(list)
    for e in events:
        at_address[e.numbers['addr']].append(e)
    for of in at_address.values():
        for e, after in zip(of, of[1:] + [None]):
            if e.is_allocation:
                met['never freed'] += after is None
                met['allocated again'] += after is not None and after.is_allocation
                yield e, after if after and not after.is_allocation else None


def row(ops):
    """ops: (allocation, its free) of one op."""
    lives = [f.at[0] - a.at[0] for a, f in ops if f]
    met['none of an op is freed'] += not lives
    met['freed when allocated'] += 0 in lives
    sizes, requested = ([a.numbers[name] for a, _ in ops]
                        for name in ('allocation_bytes', 'requested_bytes'))
    freed = [a.numbers['allocation_bytes'] for a, f in ops if f]
    return [len(ops), int64(sum(sizes)), int64(sum(requested)), max(sizes), len(freed),
            int64(sum(freed)), sum(lives) / len(lives) / 1e6 if lives else None]


def int64(total):
    return max(-2**63, min(total, 2**63 - 1))


def check(run):
    place = {r['event_id']: i for i, r in enumerate(run.ask(
        'SELECT event_id FROM memory_events({x})'))}
    want = {}
    for key, events in allocators(run).items():
        ops = collections.defaultdict(list)
        for one in sorted(allocations(events), key=lambda one: place[one[0].at[1]]):
            ops[one[0].op].append(one)
        met['op unknown'] += None in ops
        want.update({(*key, op): row(of) for op, of in ops.items()})
    got = [[r[c] for c in COLUMNS] for r in run.ask('SELECT * FROM memory_ops({x})')]
    agree('ops that allocate', {tuple(r[:3]): r[3:] for r in got}, want)
    agree('their order', [tuple(r[:3]) for r in got], list(want))


def each(run):
    tried('memory_ops ' + run.path, check, run)


# ---- random hosts ----

DERIVED = -559038737  # id of a line that XProf derives
WAYS = ['allocated again', 'never freed', 'none of an op is freed', 'freed when allocated',
        'op unknown']


NAMING = [{'allocator_name': {'str': 'gpu_bfc'}}, {'allocator_name': {'ref': 'cpu'}},
          {'index_on_host': {'int64': 1}}, {'device_ordinal': {'int64': 0}}, {},
          {'allocator_name': {'int64': 5}}, {'index_on_host': {'uint64': 1}},
          {'allocator_name': {'str': '1'}, 'device_ordinal': {'int64': 0}},
          {'device_ordinal': {'int64': -4}, 'allocator_name': {'str': 'cpu'}}]
OPS = [{}, {'tf_op': {'int64': 3}}] + [{'tf_op': {'str': op}} for op in (
    'a', 'b:Relu', '', '(null)', ' ')]
ADDRESSES = [{'addr': {'uint64': 2**64 - 256}}, {'addr': {'int64': 1}}, {'addr': {'int64': -256}},
             {}]


def random_event(dice, plane, few):
    """few: in how many ways the events of a plane name their allocators."""
    size = dice.choice([{}, {'allocation_bytes': {'int64': dice.choice([0, 1, 256, 2**40, -3])},
                             'requested_bytes': {'int64': dice.choice([0, 1, 200])}},
                        {'allocation_bytes': {'uint64': 7}, 'requested_bytes': {'double': 2.0}}])
    stats = [*dice.choice(NAMING[:few]).items(), *dice.choice(OPS).items(), *size.items(),
             *dice.choice(ADDRESSES).items()]
    if dice.random() < 0.1:
        stats.append(dice.choice(stats or [('addr', {'int64': 1})]))
        stats += dice.choice(OPS).items()
    name = dice.choice([*NAMES, 'MemoryAllocation', 'work'])
    of_all = dice.choice([None, None, {'allocator_name': {'str': 'of all'}, 'addr': {'int64': 9}}])
    return (plane.meta(name, stats=of_all), dice.randint(-3, 6) * 1000,
            dice.choice([0, 0, 500, -4000]), stats, dice.choice([None] * 9 + [3]))


def random_run(dice, folder):
    """Hosts with events of allocators on several threads, in the order of time or not."""
    os.makedirs(folder)
    files = []
    for i in range(dice.choice([1, 1, 2])):
        planes, few = [], dice.choice([1, 2, len(NAMING)])
        for name in dice.choice([['/host:CPU'], ['/host:CPU [7]', '/host:CPU'],
                                 ['/host:CPU', '/host:CPU']]):
            plane = Plane(name, len(planes) + 1)
            for line in range(dice.randint(0, 3)):
                events = [random_event(dice, plane, few) for _ in range(dice.randint(0, 12))]
                plane.line(dice.choice([line, line, DERIVED]), 'thread', events,
                           timestamp_ns=dice.choice([0, 0, 1, 5]))
            planes.append(plane)
        files.append(os.path.join(folder, 'host%d.xplane.pb' % i))
        with open(files[-1], 'wb') as f:
            f.write(space(*[p.bytes() for p in planes]))
    return Run(folder, files)


def made():
    check_random('memory_ops', 60, random_run, check, 'hosts', WAYS, met)


if __name__ == '__main__':
    main(each, made)
