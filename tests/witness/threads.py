# SPDX-License-Identifier: Apache-2.0
"""The thread of a line of launches, as docs/semantics.md defines it: what launches.py,
program_runs.py and program_totals.py share. Every launch is compared with every event of the lines
that may be its thread."""
import collections
import re

from compare import integer

MARKER = ':XLA GPU module'
MOST_LINES = 64
# What random hosts are to have.
WAYS = ['thread is known', 'no thread', 'thread by a second point', 'first of equal threads',
        'executions on too many lines', 'annotation that outlasts the execution']


def process(plane):
    found = re.search(r' \[(\d+)\]$', plane.name)
    return found.group(1) if found else None


def module_of(e):
    """Of an event that XLA records around launches."""
    return e.name[:-len(MARKER)] or None if e.name.endswith(MARKER) else None


def contains(e, other):
    return e.start_ps <= other.start_ps and e.end_ps >= other.end_ps


def innermost(found):
    """Of (id, event), the one that started last, then ends first, then is the last in the file."""
    return max(found, key=lambda x: (x[1].start_ps, -x[1].end_ps, x[0]), default=None)


def is_second(found):
    """Whether what contains a launch on a line gives it a second point; found: (id, event)."""
    _, annotation = innermost(found)
    return not module_of(annotation)


def points_of(launches, lines, met):
    """{number of a line: [points, of these second ones]}; lines: {number: [(id, event)]}"""
    points = collections.defaultdict(lambda: [0, 0])
    for call in launches:
        if sum(any(module_of(e) and e.start_ps <= call.start_ps <= e.end_ps for _, e in of)
               for of in lines.values()) > MOST_LINES:
            met['executions on too many lines'] += 1
            continue
        for number, of in lines.items():
            found = [x for x in of if contains(x[1], call) and not x[1].name.startswith('$')]
            if any(module_of(e) for _, e in found):
                second = is_second(found)
                points[number][0] += 1 + second
                points[number][1] += second
                met['annotation that outlasts the execution'] += second and not any(
                    contains(e, innermost(found)[1]) for _, e in found if module_of(e))
    return points


def best(points):
    """The first line of those with the most points."""
    return min(points, key=lambda number: (-points[number], number))


def threads_of(planes, ids, met):
    """{id of a line of launches: the line that is its thread} of the planes of a host; ids: {id of
    an event: its number}"""
    kernels, calls, others, lines = set(), {}, collections.defaultdict(list), []
    for line in (line for plane in planes for line in plane.lines if not line.derived):
        lines.append(line)
        for e in line.events if line.plane.kind in ('gpu', 'host') else ():
            call = integer(e.stats.get('correlation_id')) if e.occurrences is None else None
            if line.plane.kind == 'gpu':
                kernels |= {call % 2**64} if call is not None else set()
            elif call is not None:
                order = e.start_ps, -e.duration_ps, ids[id(e)]
                calls[call % 2**64] = min(calls.get(call % 2**64, (order, e)), (order, e),
                                          key=lambda x: x[0])
            elif e.occurrences is None:
                others[id(line)].append((ids[id(e)], e))
    launches, threads = collections.defaultdict(list), {}
    for _, e in (calls[call] for call in sorted(kernels & calls.keys())):
        launches[id(e.line)].append(e)
    for line, of in launches.items():
        if any(contains(e, call) for call in of for _, e in others[line]):
            continue
        points = points_of(of, {i: others[id(l)] for i, l in enumerate(lines)
                                if process(l.plane) == process(of[0].line.plane)
                                and any(module_of(e) for _, e in others[id(l)])}, met)
        met['thread is known' if points else 'no thread'] += 1
        if points:
            all_points = {number: n for number, (n, _) in points.items()}
            found = best(all_points)
            threads[line] = lines[found]
            met['thread by a second point'] += found != best(
                {number: n - second for number, (n, second) in points.items()})
            met['first of equal threads'] += sorted(all_points.values())[-2:] == [
                all_points[found]] * 2
    return threads
