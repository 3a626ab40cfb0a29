#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why devices are idle: idle_causes from the bytes of each profile, as docs/semantics.md defines
it.

The gaps are what the work of a device leaves open. Each thread is cut into the pieces in which the
same events go on, and every gap is laid over the pieces of the thread that is asked, then over
those of the main thread, then over the input of all threads. Together the causes are as long as
the rows of gaps."""
import bisect
import collections
import functools
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, integer, main, numbered, tried  # noqa: E402
from device_time import devices, ends  # noqa: E402

ORDER = ['compiling', 'tracing', 'input', 'copy', 'waiting', 'launching', 'queued', 'python',
         'host', 'unknown']
WAITING = ('Synchronize', 'block_until_ready', 'BlockUntilReady', 'BlockHostUntilReady', 'Await',
           'Acquire semaphore', '(wait for completion)', 'np.asarray(jax.Array)')
COPY = ('Memcpy', 'Memset', 'DevicePut', 'device_put', 'shard_arg', 'HostBuffer', 'ToLiteral',
        'ToDevice', 'FromDevice', 'MapDmaBuffer', 'TransferTo')
LAUNCHING = ('Launch', 'Executable::Execute', 'Executable_Execute', 'EnqueueExecution',
             'ExecuteReplicated')
TRACING = ('trace_to_jaxpr', 'trace_to_subjaxpr', 'tf.function-graph_building')
LOWERING = ('lower_sharding_computation', 'lower_mesh_computation', 'lower_parallel_callable',
            'lower_xla_callable')
COMPILE_OPS = ('_XlaCompile', 'XlaCompile', 'TPUCompile', '_TPUCompileMlir', 'TpuCompileMlir')


# ---- names ----

@functools.cache
def op_type(name):
    """Type of an op of TensorFlow, `name:Type`; None: it is none."""
    found = re.fullmatch(r'([A-Za-z0-9.][\w./>-]*):([A-Z_]\w*)', name, re.A)
    return found.group(2) if found and found.group(1) != 'Iterator' else None


@functools.cache
def compiles(name):
    name = re.match('[^# ]*', name).group()
    return not name.startswith('$') and bool(
        re.match('(backend_compile|XlaCompile|TpuCompile|TPUCompile)(?![dr])', name)
        or re.search('::Compile(?![a-z])|Compiler::Run', name) or
        (name.endswith('_Compile') and '/' not in name) or op_type(name) in COMPILE_OPS)


@functools.cache
def function_of(name):
    """NAME of a call PjitFunction(NAME)."""
    found = re.fullmatch(r'PjitFunction\((.+)\)', name, re.S)
    return found.group(1) if found else None


def waits_for_input(name):
    return name.lower().startswith('iteratorgetnext')


@functools.cache
def cause_of(name):
    frame = re.sub(r'^\$\S* ', '', name)
    if compiles(name):
        return 'compiling'
    if frame.startswith(TRACING + LOWERING):
        return 'tracing'
    if waits_for_input(name) or name.startswith('Iterator::') or (op_type(name) or '').startswith(
        'InfeedEnqueue'):
        return 'input'
    if any(w in name for w in WAITING):
        return 'waiting'
    if re.match('memcpy(htod|dtoh|dtod|htoh)', name,
                re.I) and ':' not in name or any(w in name for w in COPY):
        return 'copy'
    if name.startswith('$'):
        return 'python'
    return 'launching' if function_of(name) or any(w in name for w in LAUNCHING) else 'host'


# ---- threads ----

def union(spans):
    found = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return found


class Thread:
    """A line of a host: at each moment the events that go on, outermost first."""

    def __init__(self, line):
        self.events = [e for e in line.events if e.occurrences is None and e.duration_ps > 0]
        self.by_start = all((a.start_ps, -a.duration_ps) <= (b.start_ps, -b.duration_ps)
                            for a, b in zip(line.events, line.events[1:]))
        self._pieces = None

    def covered(self, wanted):
        return sum(end - start for start, end in union((e.start_ps, e.end_ps) for e in self.events
                                                       if wanted(e.name)))

    @property
    def pieces(self):
        """[(start, end, names)]"""
        if self._pieces is None:
            # events with equal times stay in the order of the file
            order = sorted(self.events, key=lambda e: (e.start_ps, -e.duration_ps))
            moments, open_events, at, self._pieces = sorted(
                {m for e in order for m in (e.start_ps, e.end_ps)}), [], 0, []
            for moment, until in zip(moments, moments[1:]):
                open_events = [e for e in open_events if e.end_ps > moment]
                while at < len(order) and order[at].start_ps == moment:
                    open_events = [e for e in open_events
                                   if e.end_ps >= order[at].end_ps] + [order[at]]
                    at += 1
                if open_events:
                    self._pieces.append((moment, until, tuple(e.name for e in open_events)))
        return self._pieces

    def at(self, moment):
        """The event that started last of those that go on."""
        return max((e.start_ps for e in self.events if e.start_ps <= moment < e.end_ps),
                   default=None)

    def during(self, start, end):
        """[(start, end, names)] that divide a time; no names: no event."""
        at, found = bisect.bisect_right(self.pieces, start, key=lambda p: p[1]), []
        while start < end:
            first, last, names = self.pieces[at] if at < len(self.pieces) else (end, end, ())
            if first > start:
                found.append((start, min(first, end), ()))
            if first < end:
                found.append((max(first, start), min(last, end), names))
            start, at = max(start, last), at + 1
        return found


class Threads:
    """All of one host."""

    def __init__(self, planes):
        self.of = {id(l): Thread(l) for p in planes if p.kind == 'host' for l in p.lines
                   if not l.derived}
        best = None
        self.main = Thread(_NoEvents)
        for t in self.of.values():
            time = (t.covered(lambda n: bool(function_of(n))
                              or n.startswith(('FunctionRun', 'EagerExecute'))),
                    t.covered(lambda n: n.startswith('$')), t.covered(lambda n: True))
            if any(time) and (best is None or time > best):
                best, self.main = time, t
        self.compiling = union((e.start_ps, e.end_ps) for e in self.main.events
                               if cause_of(e.name) in ('compiling', 'tracing'))
        waiting = [e for t in self.of.values() for e in t.events if waits_for_input(e.name)]
        self.input, self.input_name = union((e.start_ps, e.end_ps)
                                            for e in waiting), waiting[0].name if waiting else None

    def launching(self, call, driver_lines):
        """The thread that is asked for a launch."""
        line, events = call.line, call.line.events
        own = self.of[id(line)]
        before = events[:next(i for i, e in enumerate(events) if e is call)]
        if not is_bare(call, before):
            return own
        around = [(t.at(call.start_ps), t) for key, t in self.of.items() if key not in driver_lines
                  and t.by_start]
        around = [(start, t) for start, t in around if start is not None]
        return max(around, key=lambda x: x[0])[1] if around else own

    def asked(self, thread, start, end, kernels):
        """[(start, end, names)] of the thread, or of the main thread instead."""
        for first, last, names in thread.during(start, end):
            if thread is self.main:
                yield first, last, names
            elif not names:
                yield from self.main.during(first, last)
            elif path_of(names, kernels)[1] not in ('host', 'python', 'waiting', 'compiling',
                                                    'tracing'):
                yield first, last, names
            else:
                for begin, until, compiles_ in pieces_of(self.compiling, first, last):
                    yield from self.main.during(begin, until) if compiles_ else [
                        (begin, until, names)]

    def divide(self, thread, start, end, kernels):
        """[(duration, names, whether a thread waits for input)]"""
        for first, last, names in self.asked(thread, start, end, kernels):
            for begin, until, waits in pieces_of(self.input, first, last):
                yield until - begin, names, waits


def pieces_of(spans, first, last):
    """[(start, end, whether it is in the spans)]"""
    at = bisect.bisect_right(spans, first, key=lambda p: p[1])
    while first < last:
        begin, until = spans[at] if at < len(spans) else (last, last)
        if begin > first:
            yield first, min(begin, last), False
        if begin < last:
            yield max(begin, first), min(until, last), True
        first, at = max(first, until), at + 1


class _NoEvents:
    events = []


def is_bare(call, before):
    return not any(e.occurrences is None and e.start_ps + max(e.duration_ps, 0) > call.start_ps
                   for e in before)


# ---- a moment ----

def names_of_kernels(run, host):
    """Names of the work of a host's GPUs, by which profilers name the calls that launch it."""
    return {e.name for d in devices(run) if d.host == host and d.kind == 'gpu' for e in d.events
            if e.duration_ps > 0}


def path_of(names, kernels):
    """((name, cause), ...), outermost first."""
    path, cause, call, runs_program = (), None, None, False
    for name in names:
        own = cause_of(name)
        if own == 'host' and name in kernels:
            own = 'launching'
        called_back = own == 'python' and cause == 'launching' and runs_program
        if cause in ('compiling', 'tracing') or (cause not in (None, 'python', 'host')
                                                 and own in ('python', 'host')
                                                 and not called_back):
            continue
        cause, runs_program = own, not function_of(name)
        if cause in ('compiling', 'tracing') and call:
            path = call + ((call[-1][0], cause),)
        else:
            path += ((name, cause),)
        if function_of(name):
            call = path
    return path, cause or 'unknown'


# ---- gaps ----

def gaps_of(work):
    """[(start, end, first event that starts at the end)]"""
    found, busy_until = [], None
    for event_id, e in sorted((x for x in work if x[1].duration_ps > 0),
                              key=lambda x: (x[1].start_ps, x[0])):
        if busy_until is not None and e.start_ps > busy_until:
            found.append((busy_until, e.start_ps, e))
        busy_until = ends(e) if busy_until is None else max(busy_until, ends(e))
    return found


def process_work(plane):
    """Ops that threads of a host run; in a run without devices, each process counts as one."""
    return [e for l in plane.lines if not l.derived for e in l.events if e.occurrences is None
            and e.duration_ps > 0 and
            ('hlo_op' in own_stats(e) or (op_type(e.name) and not waits_for_input(e.name)
                                          and not waits_for_input(op_type(e.name))))]


def own_stats(e):
    return type(e.meta.stats)(e.line.plane, e.messages) if e.messages else {}


def idle(run):
    """[(host, gap, whether a launch is sought)] and the number of devices."""
    ids = {id(e): event_id for event_id, _, _, _, e in numbered(run)}
    mine = [(d.host, d.kind, d.events) for d in devices(run)]
    mine += [(host, 'host', process_work(p)) for host, planes in run.hosts.items() for p in planes
             if p.kind == 'host']
    for kinds in (('gpu', 'tensorcore'), ('sparsecore',), ('host',)):
        working = [(host, kind, events) for host, kind, events in mine if kind in kinds
                   and any(e.duration_ps > 0 for e in events)]
        if working:
            return [(host, kind == 'gpu', gap) for host, kind, events in working
                    for gap in gaps_of([(ids[id(e)], e) for e in events])], len(working)
    return [], 0


def calls_of(planes):
    """{correlation id: call}: the first, of several at once the longest."""
    found = {}
    for e in (e for p in planes if p.kind == 'host' for l in p.lines if not l.derived
              for e in l.events):
        key = integer(own_stats(e).get('correlation_id')) if e.occurrences is None else None
        if key is not None and (key not in found or (e.start_ps, -e.duration_ps)
                                < (found[key].start_ps, -found[key].duration_ps)):
            found[key] = e
    return found


def rows_of(moments):
    """The sum, and [((cause, name, frame), ps)], from {(path, cause): ps}."""
    total, of_path, rows = sum(moments.values()), collections.Counter(), collections.Counter()
    for (path, _), ps in moments.items():
        for n in range(1, len(path) + 1):
            of_path[path[:n]] += ps
    for (path, cause), ps in moments.items():
        while len(path) > 1 and of_path[path] < total // 10:
            path = path[:-1]
        names = [n for n, _ in path]
        rows[cause, next((n for n in reversed(names) if not n.startswith('$')), None),
             next((n for n in reversed(names) if n.startswith('$')), None)] += ps
    return total, sorted(rows.items(), key=lambda x: (
        -x[1], ORDER.index(x[0][0]), (x[0][1] or '').encode(), (x[0][2] or '').encode()))


def cause_of_moment(threads, names, kernels, input_elsewhere):
    """(path, cause)"""
    path, cause = path_of(names, kernels)
    if input_elsewhere and cause in ('unknown', 'host', 'python', 'waiting'):
        return path + ((threads.input_name, 'input'),), 'input'
    return path, cause


def causes(run):
    gaps, n_devices = idle(run)
    moments = collections.Counter()      # (path, cause): ps
    for host, planes in run.hosts.items():
        threads, calls, kernels = Threads(planes), calls_of(planes), names_of_kernels(run, host)
        here = [(gap, calls.get(integer(own_stats(gap[2]).get('correlation_id'))) if launched
                 else None) for of, launched, gap in gaps if of == host]
        bare = {id(c): is_bare(c, c.line.events[:next(i for i, e in enumerate(c.line.events)
                                                      if e is c)])
                for c in {id(c): c for _, c in here if c}.values()}
        driver_lines = {id(call.line) for (start, end, _), call in here if call and bare[id(call)]
                        and ends(call) > start}
        for (start, end, _), call in here:
            until = min(end, max(start, ends(call))) if call else end
            if until < end:
                moments[(), 'queued'] += end - until
            if until == start:
                continue
            for ps, names, input_elsewhere in threads.divide(threads.launching(call, driver_lines)
                                                             if call else threads.main, start,
                                                             until, kernels):
                moments[cause_of_moment(threads, names, kernels, input_elsewhere)] += ps
    total, order = rows_of(moments)
    return [r + (ps / 1e6 / n_devices, 100 * ps / total, n_devices) for r, ps in order]


def check(run):
    got = run.ask('SELECT cause, name, python_frame, idle_us, idle_percent, device_count '
                  'FROM idle_causes({x})')
    agree('idle_causes', [tuple(r.values()) for r in got], causes(run))
    gaps = run.ask('SELECT duration_ps FROM gaps({x})')
    agree('sum of gaps', sum(r['idle_us'] * r['device_count'] for r in got),
          sum(r['duration_ps'] for r in gaps) / 1e6)
    agree('percents', sum(r['idle_percent'] for r in got), 100 if gaps else 0)


def each(run):
    tried('idle_causes ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
