#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory_events: the group, the ends of steps and the event that ends an allocation, from the bytes
of each event and the order in which an allocator's events happened."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, main, numbered, tried  # noqa: E402
from xspace import fields, signed  # noqa: E402

INT64 = 4  # field of a stat's value


def groups_of(event):
    """The group ids that the event records, in the order of the file. XProf takes what is no int64
    for 0."""
    for message in event.messages:
        stat = list(fields(message))
        names = [event.line.plane.stat_names.get(signed(x)) for number, x in stat if number == 1]
        if names and names[-1] == 'group_id':
            values = [(number, x) for number, x in stat if number > 1]
            yield signed(values[-1][1]) if values and values[-1][0] == INT64 else 0


def ends(events):
    """For each allocator from the last event to the first: the next one at the address, and the
    steps of which an event comes later."""
    later, steps = {}, set()
    for e in reversed(events):
        yield e['event_id'], (later.get(e['address']) if e['activity'] == 'ALLOCATION' else None,
                              int(e['step'] not in steps))
        later[e['address']] = e['event_id']
        steps.add(e['step'])


def check(run):
    of_allocators, rows = collections.defaultdict(list), run.ask('SELECT * FROM memory_events({x})')
    if not rows:
        return
    recorded = {id: list(groups_of(e)) for id, _, plane, _, e in numbered(run)
                if plane.kind == 'host'}
    grouped = {r['event_id']: r['step'] for r in run.ask(
        "SELECT event_id, step FROM trace_events({x}) WHERE plane_kind = 'host'")}
    for r in rows:
        of_allocators[r['host'], r['allocator']].append(r)
        id = r['event_id']
        agree('group of event %d' % id, r['group_id'],
              recorded[id][-1] if recorded[id] else grouped[id])
    for events in of_allocators.values():
        events.sort(key=lambda e: (e['time_ps'], e['event_id']))
        want, seen = dict(ends(events)), set()
        for e in events:
            is_first = int(e['step'] not in seen)
            seen.add(e['step'])
            agree('ends at event %d' % e['event_id'], [
                e['live_until_event_id'], e['last_of_step'], e['first_of_step']],
                [*want[e['event_id']], is_first])


def each(run):
    tried('allocator events ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
