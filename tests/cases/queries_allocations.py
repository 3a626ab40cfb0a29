# SPDX-License-Identifier: Apache-2.0
"""Queries about the events of memory allocators, on events whose answers are worked out by hand."""
from lib.cases import case, must, refused, same
from lib.shell import attached, rows
from lib.wire import Plane, US, space

LIVE = 'kind, tf_op, allocations, allocated_bytes, requested_bytes, oldest_us'


def pool(*events, name='pool', stack=1):
    """Events (at_us, address, allocated, requested, bytes on the heap[, op]); a free has no op."""
    made = []
    for at, address, allocated, requested, heap, *op in events:
        stats = {
            'allocator_name': {'str': name}, 'addr': {'int64': address},
            'allocation_bytes': {'int64': allocated}, 'requested_bytes': {'int64': requested},
            'bytes_allocated': {'int64': heap}, 'bytes_reserved': {'int64': stack},
            'bytes_available': {'int64': 100 - heap}
        }
        if op:
            stats.update(
                zip(('tf_op', 'region_type', 'data_type'),
                    ({'int64' if isinstance(value, int) else 'str': value} for value in op)))
        made.append(('MemoryAllocation' if op else 'MemoryDeallocation', at * US, 0, stats))
    return made


# One byte was there earlier, one is stack. B lives for 10 us; the op without name frees at once.
EVENTS = ((0, 1, 1, 1, 2, 'f/A'), (10, 2, 8, 6, 10, 'f/B'), (20, 2, 8, 6, 2),
          (30, 3, 4, 4, 6, 'f/A'), (40, 4, 2, 2, 8, '(null)'), (40, 4, 2, 2, 6))


def host(*pools):
    plane = Plane('/host:CPU')
    for i, events in enumerate(pools):
        plane.line(i + 1, 'thread', events)
    return space(plane.bytes())


@case
def allocations_of_one_host():
    """An event is of one host: the allocators of others have no rows."""
    hosts = [host(pool((0, 1, 1, 1, 1, 'f/A'), name='a', stack=0)),
             host(pool((0, 1, 4, 4, 4, 'f/B'), name='b', stack=0))]
    events = rows("SELECT event_id, host FROM memory_events('{x}') ORDER BY host", x=hosts)
    for (event, of), want in zip(events, ('f/A', 'f/B')):
        same(rows("SELECT host, tf_op FROM live_allocations('{x}', %d)" % event, x=hosts),
             [(of, want)])


@case
def allocations_that_live():
    """At the peak and at each event; what was there earlier is what the heap has beyond them."""
    x = host(pool(*EVENTS))
    ids = [
        row[0] for row in rows("SELECT event_id FROM memory_events('{x}') ORDER BY time_ps, 1", x=x)
    ]
    earlier, stack = ('earlier', None, None, 1, None, None), ('stack', None, None, 1, None, None)
    a = ('allocation', 'f/A', 2, 5, 5, 30.0)
    for event, want in ((ids[0], [('allocation', 'f/A', 1, 1, 1, 0.0), earlier, stack]), (ids[1], [
        ('allocation', 'f/B', 1, 8, 6, 0.0), ('allocation', 'f/A', 1, 1, 1, 10.0), earlier, stack
    ]), (ids[2], [('allocation', 'f/A', 1, 1, 1, 20.0), earlier,
                  stack]), (ids[3], [a, earlier, stack]),
                        (ids[4],
                         [a[:-1] + (40.0, ), ('allocation', None, 1, 2, 2, 0.0), earlier,
                          stack]), (ids[5], [a[:-1] + (40.0, ), earlier, stack])):
        found = rows("SELECT %s FROM live_allocations('{x}', %d)" % (LIVE, event), x=x)
        same(found, want, 'event %d' % event)
        if event == ids[1]:
            same(rows("SELECT %s FROM live_allocations('{x}')" % LIVE, x=x), want, 'the peak')


@case
def nothing_lives():
    """All that an allocator has was there earlier."""
    x = host(pool((0, 1, 4, 4, 5, 'f'), (10, 1, 4, 4, 1), stack=0))
    last = rows("SELECT max(event_id) FROM memory_events('{x}')", x=x)[0][0]
    same(rows("SELECT %s FROM live_allocations('{x}', %d)" % (LIVE, last), x=x),
         [('earlier', None, None, 1, None, None)])


@case
def address_allocated_again_at_once():
    """An allocation lives until its address is allocated again, also if both have one time."""
    x = host(pool((10, 2, 8, 6, 8, 'f/B'), (10, 2, 4, 3, 4, 'f/C'), stack=0))
    for event, op, taken, wanted in ((0, 'f/B', 8, 6), (1, 'f/C', 4, 3)):
        same(rows("SELECT %s FROM live_allocations('{x}', %d)" % (LIVE, event), x=x),
             [('allocation', op, 1, taken, wanted, 0.0)], 'event %d' % event)


@case
def allocations_over_and_over():
    """The most freed memory first; what is kept, as by f/A, is no churn."""
    kept = (50, 5, 9, 9, 15, 'f/C'), (60, 6, 3, 3, 18, 'f/C'), (70, 6, 3, 3, 15)
    x = {'one': host(pool(*EVENTS, *kept)), 'two': host(pool((0, 1, 8, 8, 8, 'f/B')))}
    same(
        attached(
            'SELECT run, allocator, tf_op, allocations, allocated_bytes, largest_bytes, freed,'
            ' freed_bytes, avg_life_us, rounding_percent FROM allocation_churn',
            **x), [('one', 'pool', 'f/B', 1, 8, 8, 1, 8, 10.0, 25.0),
                   ('one', 'pool', 'f/C', 2, 12, 9, 1, 3, 10.0, 0.0),
                   ('one', 'pool', None, 1, 2, 2, 1, 2, 0.0, 0.0)])
    same(rows("SELECT allocator, tf_op, allocations, allocated_bytes, requested_bytes, "
              "largest_bytes, freed, freed_bytes, avg_life_us FROM memory_ops('{x}')", x=x['one']),
         [('pool', 'f/A', 2, 5, 5, 4, 0, 0, None), ('pool', 'f/B', 1, 8, 6, 8, 1, 8, 10.0),
          ('pool', None, 1, 2, 2, 2, 1, 2, 0.0), ('pool', 'f/C', 2, 12, 12, 9, 1, 3, 10.0)])
    same(rows("SELECT 1 FROM allocation_churn('{x}')", x=x['two']), [])
    same(rows("SELECT message FROM (SELECT count(*) AS n FROM allocation_churn('{x}')) AS s CROSS "
              "JOIN prof_issues('{x}')"
              " WHERE s.n = 0 AND message LIKE 'allocation_churn%'", x=x['two']),
         [('allocation_churn has no rows: none found: '
           'no allocation of the profile was freed in it', )])


@case
def sums_beyond_int64():
    """They are cut at the ends of int64, but not on the way: -2^63 is no size, but a file may have
    it."""
    sizes = [2**62, 2**62, -2**63, 2**62]
    events = [('MemoryAllocation', i, 0, {'allocation_bytes': {'int64': size},
                                          'requested_bytes': {'int64': 2**62},
                                          'addr': {'int64': i}}) for i, size in enumerate(sizes)]
    events += [('MemoryDeallocation', 9, 0, {'addr': {'int64': i}}) for i in range(4)]
    same(rows("SELECT allocations, allocated_bytes, requested_bytes, freed_bytes FROM "
              "memory_ops('{x}')", x=space(Plane('/host:CPU').line(1, 'main', events).bytes())),
         [(4, 2**62, 2**63 - 1, 2**62)])


@case
def equal_allocations():
    """Of equal sizes the order is by allocator, op, shape, region and type of the data."""

    def at(i, op, region, kind):
        return (i, i + 1, 4, 4, 4 * (i + 1), op, region, kind)

    first = pool(at(0, 'g', 'temp', 1),
                 at(1, 'f', 'temp', 3),
                 at(2, 'f', 'out', 9),
                 at(3, 'f', 'out', 1),
                 stack=0)
    second = pool(at(0, 'f', 'out', 1), name='another', stack=0)
    same(
        rows("SELECT allocator, tf_op, region_type, data_type FROM live_allocations('{x}')",
             x=host(first, second)),
        [('another', 'f', 'out', 'float'), ('pool', 'f', 'out', 'float'),
         ('pool', 'f', 'out', 'int64'), ('pool', 'f', 'temp', 'int32'),
         ('pool', 'g', 'temp', 'float')])


@case
def hosts_with_one_allocator():
    """Allocators of one name on two hosts are two."""
    x = [host(pool(*EVENTS)), host(pool((0, 1, 8, 8, 8, 'f/A'), (9, 1, 8, 8, 0), stack=0))]
    same(rows("SELECT host, tf_op, allocations, allocated_bytes, freed"
              " FROM allocation_churn('{x}')", x=x),
         [('host0', 'f/B', 1, 8, 1), ('host1', 'f/A', 1, 8, 1), ('host0', None, 1, 2, 1)])
    same(rows("SELECT host, kind, tf_op, allocated_bytes FROM live_allocations('{x}')", x=x),
         [('host0', 'allocation', 'f/B', 8), ('host1', 'allocation', 'f/A', 8),
          ('host0', 'allocation', 'f/A', 1), ('host0', 'earlier', None, 1),
          ('host0', 'stack', None, 1)])


@case
def look_up_an_allocator():
    """By name, with a filter, and with samples that are read of some rows only: as without."""
    many = [(at, at, 1, 1, 1 + at % 3, 'f/A') for at in range(9)]
    x = host(pool(*many, name='b'), pool(*many[:7], name=''), pool(*many, name='a'))
    for name in ('a', 'b', '', 'c'):
        same(*(rows("SELECT event_id, allocator FROM memory_events('{x}') WHERE %sallocator = '%s'"
                    % (plus, name), x=x) for plus in ('', '+')))
    columns = "SELECT event_id, sampled FROM memory_events('{x}', 4)"
    of = dict(rows(columns, x=x))
    for condition in ("allocator = 'b'", 'last_of_step', 'time_ps > 4e6', 'event_id % 2'):
        found = rows(columns + ' WHERE ' + condition, x=x)
        same(found, [(event, of[event]) for event, _ in found])
    same(sum(of.values()), 12)


@case
def what_ends_an_allocation():
    """A free, or the next allocation at the address; the first and the last event of a step."""
    x = host(pool((0, 1, 1, 1, 1, 'f/A'), (1, 1, 2, 2, 2, 'f/B'), (2, 1, 2, 2, 0), (2, 2, 1, 1, 1,
                                                                                 'f/A')))
    same(rows("SELECT event_id, match_event_id, live_until_event_id, first_of_step, last_of_step "
              "FROM memory_events('{x}') ORDER BY event_id", x=x),
         [(0, None, 1, 1, 0), (1, 2, 2, 0, 0), (2, 1, None, 0, 0), (3, None, None, 0, 1)])


@case
def holders_of_the_peak():
    """The allocations that live, what was there earlier, the stack and the rest are the peak."""
    columns = 'kind, tf_op, holders, size_bytes, since_us, held_us'

    def holders(*events, stack=0):
        x = host(pool(*events, stack=stack))
        peak, = rows("SELECT profile_peak_bytes FROM memory_allocators('{x}')", x=x)[0]
        same(rows("SELECT total(size_bytes), round(total(percent)) FROM peak_holders('{x}')", x=x),
             [(peak, 100.0)])
        return rows("SELECT %s FROM peak_holders('{x}')" % columns, x=x)

    earlier, stack = ('earlier', None, None, 1, None, None), ('stack', None, None, 1, None, None)
    same(holders(*EVENTS, stack=1),
         [('allocation', 'f/B', 1, 8, 10.0, 0.0), ('allocation', 'f/A', 1, 1, 0.0, 10.0), earlier,
          stack])
    same(holders((0, 1, 2, 2, 2, 'f'), (5, 2, 3, 3, 5, 'f')),
         [('allocation', 'f', 2, 5, 0.0, 5.0)], 'equal ones are one row')
    same(holders((0, 1, 2, 2, 10, 'f'), (10, 2, 4, 4, 20, 'f')),
         [('earlier', None, None, 8, None, None), ('allocation', 'f', 2, 6, 0.0, 10.0),
          ('unknown', None, None, 6, None, None)], 'a heap that grew without an event')
    same(holders((0, 1, 10, 10, 10, 'f'), (10, 2, 5, 5, 12, 'g')),
         [('allocation', 'f', 1, 10, 0.0, 10.0), ('allocation', 'g', 1, 5, 10.0, 0.0),
          ('unknown', None, None, -3, None, None)], 'more than the heap')
    same(holders((0, 9, 4, 4, 6), (10, 1, 8, 8, 14, 'f')),
         [('allocation', 'f', 1, 8, 10.0, 0.0), ('earlier', None, None, 6, None, None)],
         'what was there earlier is freed')


@case
def peak_of_an_address_in_use():
    """At the peak, an address has what was allocated there last."""
    x = host(pool((10, 2, 8, 8, 8, 'f/B'), (10, 2, 9, 9, 9, 'f/C'), (20, 2, 9, 9, 0), stack=0))
    same(rows("SELECT activity, allocation_bytes, live_at_peak FROM memory_events('{x}')"
              " ORDER BY event_id", x=x),
         [('ALLOCATION', 8, 0), ('ALLOCATION', 9, 1), ('DEALLOCATION', 9, 0)])
    same(rows("SELECT tf_op, size_bytes FROM peak_holders('{x}')", x=x), [('f/C', 9)])


@case
def levels_of_memory():
    """How long the memory in use was at each level of the peak, which the last event ends."""
    columns = ('level, least_bytes, most_bytes, duration_us, percent, at_least_percent, first_us, '
               'mean_bytes')
    x = host(pool(*EVENTS))
    same(rows("SELECT %s FROM memory_time('{x}')" % columns, x=x),
         [(3, 3, 3, 20.0, 50.0, 100.0, 0.0, 6.0), (7, 7, 7, 10.0, 25.0, 50.0, 30.0, 6.0),
          (9, 9, 9, 0.0, 0.0, 25.0, 40.0, 6.0), (10, 10, 11, 10.0, 25.0, 25.0, 10.0, 6.0)])
    same(rows("SELECT %s FROM memory_time('{x}', 1)" % columns, x=x),
         [(1, 1, 11, 40.0, 100.0, 100.0, 0.0, 6.0)])
    same(rows("SELECT %s FROM memory_time('{x}', 2)" % columns, x=x),
         [(1, 1, 5, 20.0, 50.0, 100.0, 0.0, 6.0), (2, 6, 11, 20.0, 50.0, 50.0, 10.0, 6.0)])
    x = host(pool((5, 1, 4, 4, 4, 'f'), (9, 1, 4, 4, 0), (13, 1, 4, 4, 4, 'f'), stack=0),
             pool((0, 1, 4, 4, -7, 'f'), name='less', stack=0))
    same(rows("SELECT allocator, %s FROM memory_time('{x}', 1)" % columns, x=x),
         [('less', 0, 0, 0, 0.0, None, None, 0.0, None), ('pool', 0, 0, 0, 4.0, 50.0, 100.0, 9.0,
                                                          2.0),
          ('pool', 1, 1, 4, 4.0, 50.0, 50.0, 5.0, 2.0)])
    refused('levels cannot be 0', lambda: rows("SELECT 1 FROM memory_time('{x}', 0)", x=x))
    refused('levels cannot be 1001', lambda: rows("SELECT 1 FROM memory_time('{x}', 1001)", x=x))


@case
def parts_of_the_time():
    """What was in use in each part of an allocator's time, also in parts without events."""
    columns = 'part, start_ps, duration_ps, event_count, most_bytes, least_bytes, end_bytes'
    x = host(pool((0, 1, 4, 4, 4, 'f'), (1, 2, 90, 90, 94, 'f'), (1, 2, 90, 90, 4),
                  (9, 3, 1, 1, 5, 'f'), stack=0),
             pool((3, 1, 4, 4, -7, 'f'), name='less', stack=0))
    same(rows("SELECT %s FROM memory_over_time('{x}', 2) WHERE allocator = 'pool'" % columns, x=x),
         [(1, 0, 4500001, 3, 94, 4, 4), (2, 4500001, 4500000, 1, 5, 4, 5)])
    same(rows("SELECT %s FROM memory_over_time('{x}', 3) WHERE allocator = 'pool'" % columns, x=x),
         [(1, 0, 3000001, 3, 94, 4, 4), (2, 3000001, 3000000, 0, 4, 4, 4),
          (3, 6000001, 3000000, 1, 5, 4, 5)])
    same(rows("SELECT %s FROM memory_over_time('{x}') WHERE allocator = 'less'" % columns, x=x),
         [(1, 3000000, 1, 1, 0, 0, 0)])
    same(rows("SELECT count(*), max(most_bytes) FROM memory_over_time('{x}')", x=x), [(101, 94)])
    refused('parts cannot be 0', lambda: rows("SELECT 1 FROM memory_over_time('{x}', 0)", x=x))
    refused('parts cannot be 1001',
            lambda: rows("SELECT 1 FROM memory_over_time('{x}', 1001)", x=x))
    nothing = space(Plane('/host:CPU').line(1, 'main', [('f', 0, 1)]).bytes())
    for table in ('memory_over_time', 'memory_time'):
        [(why,)] = rows("SELECT message FROM (SELECT count(*) AS n FROM %s('{x}', 7)) "
                        "CROSS JOIN prof_issues('{x}') "
                        "WHERE message LIKE '%s has no rows: %%'" % (table, table), x=nothing)
        must('no allocator reported' in why, why)
