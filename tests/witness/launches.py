#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What launched each kernel, and what the host was doing: launch_delays and range_kernels from the
bytes of each profile, as docs/semantics.md defines them.

Every launch is compared with every event of its host. Random hosts have launches on lines of their
own or among the frames of Python, which are on several threads and in several processes; some have
threads on which XLA launches executions at the same time."""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, check_random, integer, main, numbered, tried  # noqa: E402
import threads  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from threads import MARKER, innermost, process  # noqa: E402

met = collections.Counter()  # what the random hosts have


def ends(e):
    return e.start_ps + e.duration_ps


class Nesting:
    """What the events of a line are nested in."""

    def __init__(self, line):
        self.parents, running = {}, []
        for _, _, _, e in sorted((e.start_ps, -e.duration_ps, i, e)
                                 for i, e in enumerate(line.events)):
            while running and ends(running[-1]) < ends(e):
                running.pop()
            self.parents[id(e)] = running[-1] if running else None
            running.append(e)

    def around(self, e):
        """Innermost first."""
        while e := self.parents[id(e)]:
            yield e


class Context:
    """The events of a host's threads."""

    def __init__(self):
        self.calls, self.others = collections.defaultdict(list), collections.defaultdict(list)

    def every(self):
        """All events of host threads, calls too: a call is a range around itself."""
        yield from (x for of in self.others.values() for _, x in of)
        yield from (x[3] for of in self.calls.values() for x in of)

    def around(self, plane, call):
        return [x for x in self.others[process(plane)] if x[1].start_ps <= call.start_ps
                and ends(x[1]) >= ends(call)]


def launched(run):
    """[(host, plane, line, id, event, time at which the stream was free, (id, call), plane of the
    call)] and the Context of each host"""
    hosts, lines = collections.defaultdict(Context), collections.defaultdict(list)
    for event_id, host, plane, line, e in numbered(run):
        if line.derived or e.occurrences is not None:
            continue
        call = integer(e.stats.get('correlation_id'))
        if plane.kind == 'host' and call is not None:
            hosts[host].calls[call % 2**64].append((e.start_ps, -e.duration_ps, event_id, e, plane))
        elif plane.kind == 'host':
            hosts[host].others[process(plane)].append((event_id, e))
        elif plane.kind == 'gpu':
            lines[host,
                  id(line)].append((e.start_ps, -e.duration_ps, event_id, e, plane, line, call))
    found = []
    for (host, _), events in lines.items():
        free = None
        for *_, event_id, e, plane, line, call in sorted(events, key=lambda x: x[:3]):
            calls = hosts[host].calls[call % 2**64] if call is not None else []
            if calls:
                *_, call_id, launch, of = min(calls, key=lambda x: x[:3])
                found.append((host, plane, line, event_id, e, free, (call_id, launch), of))
            free = ends(e) if free is None else max(free, ends(e))
    return found, hosts


def lines_of(run):
    """{id of a line: its number in the run}"""
    lines = [l for planes in run.hosts.values() for p in planes for l in p.lines]
    return {id(l): i for i, l in enumerate(lines)}


def threads_in(run):
    """{id of a line of launches: the line that is its thread}"""
    ids, found = {id(e): event_id for event_id, *_, e in numbered(run)}, {}
    for planes in run.hosts.values():
        found.update(threads.threads_of(planes, ids, met))
    return found


def check(run):
    found, hosts = launched(run)
    want, kernels, nesting, on_own_line = {}, collections.defaultdict(list), {}, set()
    line_ids, thread_of = lines_of(run), threads_in(run)
    for host, plane, _, event_id, e, free, (call_id, call), of in found:
        around = hosts[host].around(of, call)
        thread = thread_of.get(id(call.line))
        own = [x for x in around if x[1].line is (thread or call.line)]
        of_call = any(x[1].line is call.line for x in around)
        frame = innermost([x for x in own if x[1].name.startswith('$')]
                          or [x for x in around if x[1].name.startswith('$')])
        annotation = innermost([x for x in own or around if not x[1].name.startswith('$')])
        stack = None
        if frame:
            line = frame[1].line
            nesting[id(line)] = nesting.get(id(line)) or Nesting(line)
            stack = '\n'.join(x.name for x in [frame[1], *nesting[id(line)].around(frame[1])]
                              if x.name.startswith('$'))
        note(call, around, frame, annotation, stack)
        note_thread(thread, own, around, frame, annotation)
        queued = 0 if free is None else max(0, min(free, e.start_ps) - call.start_ps)
        want[event_id] = (host, plane.name, e.name, e.start_ps, e.duration_ps, call.name, call_id,
                          call.start_ps, call.duration_ps, e.start_ps - call.start_ps, queued,
                          annotation[1].name if annotation else None, annotation[0] if annotation
                          else None, frame[1].name if frame else None, stack,
                          line_ids[id(call.line)], int(of_call) if around else None)
        on_own_line |= {event_id} if of_call else set()
        if annotation:
            kernels[annotation[1].name, e.name].append((e.duration_ps, e.start_ps - call.start_ps,
                                                        True))
    got = run.ask('SELECT event_id, host, plane, name, start_ps, duration_ps, launch_name, '
                  'launch_event_id, launch_start_ps, launch_duration_ps, delay_ps, queued_ps, '
                  'annotation, '
                  'annotation_event_id, python_frame, python_stack, launch_line_id, '
                  'context_is_own FROM launch_delays({x})')
    agree('launch_delays', {r['event_id']: tuple(r.values())[1:] for r in got}, want)
    agree_on_ranges(run, '', kernels)
    names = collections.Counter(x[1].name for host in hosts.values() for of in host.others.values()
                                for x in of)
    for name in [n for n, _ in names.most_common(2)] + sorted({n for n, _ in kernels})[:2]:
        kernels = collections.defaultdict(list)
        ranges = {host: [x for x in of.every() if x.name == name] for host, of in hosts.items()}
        for host, _, _, event_id, e, _, (_, call), _ in found:
            over = [x for x in ranges[host]
                    if x.start_ps <= call.start_ps and ends(x) >= ends(call)]
            if over:
                own = event_id not in on_own_line or any(x.line is call.line for x in over)
                met['launch of another thread'] += not own
                kernels[name, e.name].append((e.duration_ps, e.start_ps - call.start_ps, own))
        agree_on_ranges(run, ", '%s'" % name.replace("'", "''"), kernels)


def note(call, around, frame, annotation, stack):
    """What the random hosts are for."""
    met['frame of the own line'] += bool(frame) and frame[1].line is call.line
    met['frame of another line'] += bool(frame) and frame[1].line is not call.line
    met['no frame'] += frame is None
    met['annotation of another line'] += bool(annotation) and annotation[1].line is not call.line
    met['no annotation'] += annotation is None
    met['frames of a stack'] += bool(stack) and '\n' in stack
    met['started together'] += len({x[1].start_ps for x in around}) < len(around)


def note_thread(thread, own, around, frame, annotation):
    lines = [x[1].line for x in (frame, annotation) if x]
    met['thread has the context'] += any(line is thread for line in lines)
    met['frame of another line than the thread'] += (
        bool(thread and own and frame) and frame[1].line is not thread)
    met['launch outside of its thread'] += bool(thread and around) and not own
    met['thread instead of a later event'] += bool(
        thread and own and innermost([x for x in around if not x[1].name.startswith('$')])
        is not annotation)


WAYS = ['frame of the own line', 'frame of another line', 'no frame', 'annotation of another line',
        'no annotation', 'frames of a stack', 'started together', 'launch of another thread',
        'thread has the context', 'frame of another line than the thread',
        'launch outside of its thread', 'thread instead of a later event', *threads.WAYS]


def figures(times, whole):
    total = sum(t for t, _, _ in times)
    return (len(times), total / 1e6, total / len(times) / 1e6,
            100 * total / whole if whole else None, sum(d for _, d, _ in times) / len(times) / 1e6,
            sum(own for _, _, own in times), sum(t for t, _, own in times if own) / 1e6)


def agree_on_ranges(run, argument, kernels):
    whole = collections.Counter()
    for (name, _), times in kernels.items():
        whole[name] += sum(t for t, _, _ in times)
    got = run.ask('SELECT range_name, kernel, launches, total_us, avg_us, percent, avg_delay_us, '
                  'own_launches, own_us '
                  'FROM range_kernels({x}%s)' % argument)
    want = {(name, kernel): figures(times, whole[name])
            for (name, kernel), times in kernels.items()}
    agree('range_kernels%s' % argument, {tuple(r.values())[:2]: tuple(r.values())[2:] for r in got},
          want)


# ---- random hosts ----

FRAMES = ['$train.py:1 step', '$train.py:9 <lambda>', '$loop.py:3 run', '$builtins isinstance']
RANGES = ['forward', 'backward', 'train 1', 'PjitFunction(f)']
CALLS = ['cuLaunchKernel', 'cudaMemcpyAsync']
MODULES = ['f', 'g']
EXECUTIONS = [module + MARKER for module in MODULES]
PROGRAMS = [{}, {'program_id': {'uint64': 1}}] + [{'hlo_module': {'str': m}} for m in MODULES]


class Threads:
    """Threads whose events nest; the grid of time is coarse, so many times are equal."""

    def __init__(self, dice):
        self.dice, self.calls = dice, []

    def call(self, start, end):
        start = self.dice.randint(start, end)
        id = self.dice.randint(1, len(self.calls) + 3)
        self.calls.append((start, id))
        return (self.dice.choice(CALLS), start * 1000, self.dice.randint(0, end - start) * 1000,
                {'correlation_id': {'int64': id}})

    def nested(self, start, end, depth, kinds):
        """What runs on a thread from one time to another, in the order of a file."""
        dice, found = self.dice, []
        while start < end and len(found) < 20:
            first = dice.randint(start, end)
            last = dice.randint(first, end)
            kind = dice.choice(kinds)
            if kind is CALLS:
                found.append(self.call(first, last))
                last = first + found[-1][2] // 1000
            else:
                found.append((dice.choice(kind), first * 1000, (last - first) * 1000))
                if depth:
                    found += self.nested(first, last, depth - 1, kinds)
            start = last + dice.choice([0, 0, 1])
        return found

    def plane(self, name, id):
        plane = Plane(name, id)
        for i in range(1, self.dice.randint(1, 4) + 1):
            kinds = self.dice.choice([[CALLS], [CALLS, FRAMES], [FRAMES], [RANGES, FRAMES, FRAMES],
                                      [CALLS, FRAMES, RANGES], [RANGES, CALLS]])
            plane.line(i, 'thread %d' % i, self.nested(0, 60, self.dice.randint(0, 6), kinds))
        return plane

    def executions(self, n):
        """(events, calls) of a thread on which XLA launches n executions."""
        dice, events, calls, at = self.dice, [], [], self.dice.randint(0, 9)
        for _ in range(n):
            first = at + dice.choice([0, 0, 1, 5])
            at = first + dice.randint(1, 60 // n)
            inside = self.nested(first, at, 2, dice.choice(
                [[RANGES], [RANGES, FRAMES], [FRAMES], [EXECUTIONS, RANGES]]))
            marker = (dice.choice(EXECUTIONS), first * 1000, (at - first) * 1000)
            events += [marker] + dice.choice([[], inside, inside])
            calls += [self.call(first, at) for _ in range(dice.randint(0, 3))]
        return events, calls

    def of_xla(self, name, id):
        """Threads with executions at the same time, and their calls on lines of their own."""
        dice, lines = self.dice, []
        for _ in range(dice.choice([1, 2, 2, 3, 4] * 3 + [99])):
            n = dice.randint(1, 5) if len(lines) < 10 else 1
            events, calls = self.executions(n)
            if dice.random() < 0.2:  # calls of no execution
                calls += [self.call(0, 60) for _ in range(2)]
            for of, chance in (calls, 0.1), (events, 0.2):  # ranges that executions do not contain
                of += self.nested(0, 60, 1, [RANGES]) if dice.random() < chance else []
            if lines and dice.random() < 0.3:  # calls of two threads, or on another thread's line
                lines[dice.choice([-2, -2, -1])] += calls
                calls = []
            lines += [calls, events]
        dice.shuffle(lines)
        plane = Plane(name, id)
        for i, events in enumerate(lines, 1):
            plane.line(i, 'line %d' % i, sorted(events, key=lambda e: (e[1], -e[2])))
        return plane

    def streams(self, id):
        dice, gpu = self.dice, Plane('/device:GPU:%d' % id, id + 10)
        for i in range(1, dice.randint(1, 3) + 1):
            kernels = []
            for start, call in dice.sample(self.calls, min(len(self.calls), dice.randint(0, 9))):
                kernels.append((dice.choice(['gemm', 'add', 'MemcpyH2D']), (start + dice.randint(
                    -2, 20)) * 1000, dice.choice([0, 1000, 9000]), {'correlation_id': {
                        'int64': dice.choice([call, call, call, 99])}, **dice.choice(PROGRAMS)}))
            gpu.line(i, 'Stream #%d' % i, sorted(kernels, key=lambda e: (e[1], -e[2]))
                     if dice.random() < 0.8 else kernels)
        return gpu


def random_run(dice, folder):
    os.makedirs(folder)
    path = os.path.join(folder, 'host.xplane.pb')
    made = Threads(dice)
    planes = [dice.choice([made.plane, made.of_xla])(name, i) for i, name in enumerate(dice.choice([
        ['/host:CPU'], ['/host:CPU', '/host:CPU [77]'], ['/host:CPU [7]', '/host:CPU [77]'],
        ['/host:CPU', '/host:XLA']]), 1)]
    planes += [made.streams(i) for i in range(dice.randint(1, 2))]
    with open(path, 'wb') as f:
        f.write(space(*[p.bytes() for p in planes]))
    return Run(folder, [path])


def each(run):
    tried('launches ' + run.path, check, run)


def made():
    check_random('launches', 60, random_run, check, 'hosts', WAYS, met)


if __name__ == '__main__':
    main(each, made)
