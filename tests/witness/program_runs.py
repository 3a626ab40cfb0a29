#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executions of programs and the time between them: program_runs and program_gaps from the bytes of
each profile, as docs/semantics.md defines them, with the executions that the host recorded.

The time of a device is cut at each start and end of work and of executions. The random hosts are
those of launches.py."""
import bisect
import collections
import itertools
import re
import sys

sys.dont_write_bytecode = True
from collectives import last, programs_of, all_of, text  # noqa: E402
from compare import agree, check_random, integer, main, numbered, tried  # noqa: E402
from device_time import devices, ends, own_times, work_lines  # noqa: E402
from launches import random_run  # noqa: E402
from threads import innermost, module_of, process, threads_of  # noqa: E402

met = collections.Counter()  # what the random hosts have


def instructions_of(program):
    """Names of all instructions, and of those of the entry computation; of those of one name the
    first in the file counts."""
    computations = all_of(program.module, 3)
    entry = last(program.module, 6, 0)
    first = {}
    for c in computations:
        for message in all_of(c, 2):
            first.setdefault(text(last(message, 1, b'')), last(c, 5, 0))
    return set(first), {name for name, of in first.items() if of == entry}, {
        re.sub('[^A-Za-z0-9]', '_', text(last(message, 1, b''))) for c in computations
        if last(c, 5, 0) == entry for message in all_of(c, 2)}


def of_modules(plane, ids):
    found = []
    for line in plane.lines:
        if line.derived or line.name not in ('XLA Modules', 'Sparse Core Modules'):
            continue
        for e in own_times(line):
            named = re.fullmatch(r'(.*)\((\d+)\)', e.name, re.S)
            known = named and int(named.group(2)) < 2**64
            found.append((e.start_ps, ends(e), ids[id(e)], (named.group(1) if named else e.name)
                          or None, str(int(named.group(2))) if known else None))
    return found


class Kernel:
    """An event on a stream that records its program."""

    def __init__(self, e, event_id, programs):
        program, module, op = (e.stats.get(name) for name in ('program_id', 'hlo_module', 'hlo_op'))
        self.start, self.end, self.id, self.meta, self.name = (e.start_ps, ends(e), event_id,
                                                               id(e.meta), e.name)
        self.program = program % 2**64 if integer(program) is not None else None
        self.module, self.op = (x if isinstance(x, str) else None for x in (module, op))
        self.correlation = integer(e.stats.get('correlation_id'))
        self.launch = self.correlation or 0
        self.in_graph = 'cuda_graph_id' in e.stats and self.op is not None
        self.known = programs.get(self.program)

    def same_program(self, other):
        return self.program == other.program and (self.program is not None
                                                  or self.module == other.module)

    def is_of_entry(self):
        return bool(self.known and self.op and self.op.rpartition('::')[2] in self.known[1])

    def shows_entry(self):
        """Of a kernel in a graph: whether the entry computation runs the graph."""
        return self.is_of_entry() or bool(self.known and self.op.rpartition('::')[2]
                                          not in self.known[0] and self.name in self.known[2])


def is_again(kernel, current, of_entry):
    """Whether a kernel is of the next execution of the program that `current` ran."""
    if kernel.in_graph:
        launches = [k.launch for k in current if k.in_graph and k.op == kernel.op]
        return bool(launches) and launches[-1] != kernel.launch and (
            kernel.program, kernel.op) in of_entry
    return kernel.is_of_entry() and any(k.meta == kernel.meta and k.op == kernel.op
                                        for k in current)


class Recorded:
    """Executions that XLA recorded on a host, and the calls in them that launch kernels."""

    def __init__(self, planes, ids):
        self.calls, self.found, self.around = {}, [], {}
        self.threads = threads_of(planes, ids, met)
        for plane in planes:
            for line in plane.lines if plane.kind == 'host' else ():
                self.read(line, ids)

    def read(self, line, ids):
        ranges = []
        for e in own_times(line) if not line.derived else ():
            call = integer(e.stats.get('correlation_id'))
            if call is not None:
                self.calls.setdefault(call % 2**64, []).append((e.start_ps, -e.end_ps, ids[id(e)],
                                                                e))
            else:
                ranges.append((e.start_ps, e.end_ps))
            if module_of(e):
                self.found.append((ids[id(e)], e, module_of(e)))
        ranges.sort()
        self.around[id(line)] = [start for start, _ in ranges], list(
            itertools.accumulate((end for _, end in ranges), max))

    def is_in_a_range(self, call):
        """Whether an event of the call's line that is no call contains it."""
        starts, latest = self.around[id(call.line)]
        at = bisect.bisect_right(starts, call.start_ps)
        return at > 0 and latest[at - 1] >= call.end_ps

    def execution(self, kernel):
        """The id of the event in which a kernel was launched; None: it is not known."""
        if kernel.correlation is None or kernel.correlation % 2**64 not in self.calls:
            return None
        call = min(self.calls[kernel.correlation % 2**64])[3]
        around = [x for x in self.found if x[1].start_ps <= call.start_ps
                  and x[1].end_ps >= call.end_ps
                  and process(x[1].line.plane) == process(call.line.plane)]
        thread = self.threads.get(id(call.line))
        line = call.line if self.is_in_a_range(call) else thread
        of = innermost([x for x in around if line in (None, x[1].line)])
        if line is thread is not None:
            met['recorded by the thread'] += bool(of)
            met['thread instead of a later event'] += bool(of) and of is not innermost(around)
            met['launch outside of its thread'] += bool(around) and not of
        return of[0] if of and kernel.module in (None, of[2]) else None


def of_kernels(plane, ids, programs, recorded):
    kernels = [Kernel(e, ids[id(e)], programs) for line in work_lines(plane)
               for e in own_times(line)]
    kernels = [k for k in kernels if k.program is not None or k.module is not None]
    of_entry = {(k.program, k.op) for k in kernels if k.in_graph and k.shows_entry()}
    runs_of, by_event = [], collections.defaultdict(list)
    for k in sorted(kernels, key=lambda k: (k.start, -k.end, k.id)):
        event = recorded.execution(k)
        if event is not None:
            by_event[k.program, k.module if k.program is None else None, event].append(k)
            continue
        if not runs_of or not k.same_program(runs_of[-1][-1]) or is_again(k, runs_of[-1], of_entry):
            runs_of.append([])
        runs_of[-1].append(k)
    runs_of += by_event.values()
    modules = [next((k.module for k in of if k.module is not None), '') for of in runs_of]
    return [(of[0].start, max(k.end for k in of), of[0].id,
             re.sub(r'\(\d+\)$', '', module) or None,
             str(of[0].program) if of[0].program is not None else None)
            for of, module in zip(runs_of, modules)]


def check(run):
    ids = {id(e): event_id for event_id, _, _, _, e in numbered(run)}
    entries, recorded = {}, {}
    for host, planes in run.hosts.items():
        recorded[host] = Recorded(planes, ids)
        entries[host] = {program: instructions_of(p) for program, p in programs_of(planes).items()}
    mine, ranges = devices(run), {}
    for d in mine:
        if d.events:
            start, end = ranges.get((d.host, d.kind),
                                    (min(e.start_ps for e in d.events), max(map(ends, d.events))))
            ranges[d.host, d.kind] = min(start, min(e.start_ps for e in d.events)), max(
                end, max(map(ends, d.events)))
    executions, gaps = [], []
    for d in mine:
        of = sorted(of_kernels(d.plane, ids, entries[d.host], recorded[d.host]) if d.kind == 'gpu'
                    else of_modules(d.plane, ids), key=lambda x: (x[0], -x[1], x[2]))
        executions += [(d.host, d.plane.name, start, end - start, module, program)
                       for start, end, _, module, program in of]
        if not of or not d.events:
            continue
        first, until = ranges[d.host, d.kind]
        changes = collections.defaultdict(collections.Counter)
        for start, end, what in [(s, e, 'work') for s, e, _ in d.pieces] + [
            (s, e, 'program') for s, e, *_ in of] + [(first, until, 'span')]:
            if start < end:
                changes[start][what] += 1
                changes[end][what] -= 1
        moments = {s for s, e, *_ in of if s == e}  # executions without length, which divide a gap
        for moment in moments:
            changes[moment].update(())
        running, since, free = collections.Counter(), None, []
        for moment in sorted(changes):
            if running['span'] and not running['program'] and moment > since:
                if not free or free[-1][1] != since or since in moments:
                    free.append([since, since, 0])
                free[-1][1] = moment
                free[-1][2] += moment - since if not running['work'] else 0
            running.update(changes[moment])
            since = moment
        for start, end, idle in free:
            before = [x for x in of if x[1] <= start and x[0] < end]
            latest = max((x[1] for x in before), default=None)
            before = next((x for x in before if x[1] == latest), None)
            after = next((x for x in of if x[0] >= end), None)
            gaps.append((d.host, d.plane.name, start, end - start, idle) + (
                before[3:] if before else (None, None)) + (after[3:] if after else (None, None)))
    got = run.ask('SELECT host, plane, start_ps, duration_ps, hlo_module, program_id '
                  'FROM program_runs({x})')
    agree('program_runs', sorted((tuple(r.values()) for r in got), key=repr),
          sorted(executions, key=repr))
    got = run.ask('SELECT host, plane, start_ps, duration_ps, idle_ps, before, before_program_id, '
                  'after, after_program_id FROM program_gaps({x})')
    agree('program_gaps', sorted((tuple(r.values()) for r in got), key=repr),
          sorted(gaps, key=repr))


def each(run):
    tried('program_runs ' + run.path, check, run)


WAYS = ['recorded by the thread', 'thread instead of a later event', 'launch outside of its thread']


def made():
    check_random('program_runs', 60, random_run, check, 'hosts', WAYS, met)


if __name__ == '__main__':
    main(each, made)
