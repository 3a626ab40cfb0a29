#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often each program ran on each device, and for how long: program_totals and its rows in
program_runs, from the bytes of each profile and of its programs.

Random devices run few programs on several streams; the grid of time is coarse, so kernels start
together, and launches are contained in several markers of XLA or in none."""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, check_random, integer, main, numbered, tried  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, space  # noqa: E402
from programs import programs_of  # noqa: E402
from repeated import line_kind  # noqa: E402
from threads import MARKER, module_of, process, threads_of  # noqa: E402
from xspace import Stats  # noqa: E402

met = collections.Counter()  # what the random devices have


def without_id(module):
    return re.sub(r'\([0-9]+\)\Z', '', module)


# ---- TPUs ----

def of_modules(plane):
    """(program id, module, start, duration, 0, 0) of each execution on a TPU."""
    for line in plane.lines:
        is_of_modules = line.name in ('XLA Modules', 'Sparse Core Modules') and not line.derived
        for e in line.events if is_of_modules else ():
            if e.occurrences is not None:
                continue
            named = re.fullmatch(r'(.*)\(([0-9]+)\)', e.name, re.S)
            id_of = named and int(named.group(2))
            yield (str(id_of) if named and id_of < 2**64 else None, without_id(e.name) or None,
                   e.start_ps, max(0, e.duration_ps), 0, 0)


# ---- GPUs ----

def own_stats(e):
    return Stats(e.line.plane, e.messages)


class Kernel:
    def __init__(self, number, e):
        stats, self.number, self.e = e.stats, number, e
        id_of = integer(stats.get('program_id'))
        self.id = None if id_of is None else str(id_of % 2**64)
        self.module, self.op = (stats.get(x) if isinstance(stats.get(x), str) else None
                                for x in ('hlo_module', 'hlo_op'))
        self.start, self.duration = e.start_ps, max(0, e.duration_ps)
        self.order = self.start, -self.duration, number
        self.program = (self.id, None) if self.id else (None, self.module)
        self.correlation = (integer(stats.get('correlation_id')) or 0) % 2**64
        self.has_launch = integer(stats.get('correlation_id')) is not None
        is_in_graph = 'cuda_graph_id' in own_stats(e)
        self.graph = (self.program, self.op) if self.op is not None and is_in_graph else None
        self.last = (self.op or '').rpartition('::')[2]


class Threads:
    """Events of a host's threads that may contain launches."""

    def __init__(self, of_lines):
        self.calls, self.others, self.of_lines = {}, collections.defaultdict(list), of_lines

    def add(self, number, e):
        id_of = integer(e.stats.get('correlation_id'))
        if id_of is None:
            self.others[process(e.line.plane)].append((number, e))
            return
        order = e.start_ps, -e.duration_ps, number
        self.calls[id_of % 2**64] = min(self.calls.get(id_of % 2**64, (order, e)), (order, e),
                                        key=lambda x: x[0])

    def marker(self, kernel):
        """The innermost marker around the launch of a kernel."""
        if not kernel.has_launch or kernel.correlation not in self.calls:
            return None
        call = self.calls[kernel.correlation][1]
        around = [x for x in self.others[process(call.line.plane)] if x[1].start_ps <= call.start_ps
                  and x[1].end_ps >= call.end_ps]
        own = [x for x in around if x[1].line is call.line]
        met['only other threads contain the launch'] += bool(around) and not own
        thread = self.of_lines.get(id(call.line))
        if thread:
            met['launch of a known thread'] += 1
            own = around = [x for x in around if x[1].line is thread]
        markers = [x for x in own or around if module_of(x[1])]
        met['markers in markers'] += len(markers) > 1
        found = max(markers, key=lambda x: (x[1].start_ps, -x[1].end_ps, x[0]), default=None)
        if found and kernel.module is not None and found[1].name != kernel.module + MARKER:
            met['marker of another module'] += 1
            return None
        return found and found[0]


class Entry:
    """What the entry computation of a program runs."""

    def __init__(self, program):
        self.all = set(program.names.values()) if program else set()
        self.ops = {i.text(1) for i in program.instructions.get(program.entry, ())
                    } if program else set()
        self.kernels = {re.sub(rb'[^0-9A-Za-z]', b'_', op.encode()).decode() for op in self.ops}

    def runs(self, kernel):
        """Whether it runs the graph of a kernel."""
        return kernel.last in self.ops or (kernel.last not in self.all
                                           and kernel.e.name in self.kernels)


def by_time(kernels, entries):
    """Lists of kernels, each an execution."""
    graphs = collections.defaultdict(list)
    for k in kernels:
        graphs[k.graph].append(k)
    found = []
    for k in kernels:
        entry, current = entries(k.program[0]), found[-1] if found else []
        is_new = not current or current[-1].program != k.program
        if not is_new and k.graph:
            before = [o for o in current if o.graph == k.graph]
            is_new = bool(before) and before[-1].correlation != k.correlation and any(
                entry.runs(o) for o in graphs[k.graph])
            met['graph again'] += is_new
        elif not is_new:
            is_new = k.last in entry.ops and any(
                o.e.meta is k.e.meta and o.op == k.op for o in current)
            met['op again'] += is_new
        if is_new:
            found.append([])
        found[-1].append(k)
    return found


def of_kernels(kernels, threads, entries):
    """(program id, module, start, duration, first kernel, number of kernels) of each execution on a
    GPU."""
    recorded, others = collections.defaultdict(list), []
    for k in sorted(kernels, key=lambda k: k.order):
        marker = threads.marker(k)
        if marker is None:
            others.append(k)
        else:
            recorded[k.program, marker].append(k)
    met['recorded and not'] += bool(recorded) and bool(others)
    for of in [*recorded.values(), *by_time(others, entries)]:
        start = of[0].start
        module = next((k.module for k in of if k.module is not None), '')
        yield (of[0].id, without_id(module) or None, start,
               max(k.start + k.duration for k in of) - start, of[0].number, len(of))


# ---- both ----

def events_of(run):
    """(kernels of each GPU, Threads of each host)"""
    ids = {id(e): number for number, *_, e in numbered(run)}
    kernels, threads = collections.defaultdict(list), {
        host: Threads(threads_of(planes, ids, met)) for host, planes in run.hosts.items()}
    for number, host, plane, line, e in numbered(run):
        if line.derived or e.occurrences is not None:
            continue
        if plane.kind == 'host':
            threads[host].add(number, e)
        elif line_kind(line) == 'stream':
            k = Kernel(number, e)
            if k.id is not None or k.module is not None:
                kernels[id(plane)].append(k)
    return kernels, threads


def executions(run):
    """(host, number of the plane, plane, program id, module, start, duration, first kernel, number
    of kernels) of each execution"""
    kernels, threads = events_of(run)
    programs, known = programs_of(run), {}

    def entry_of(host, id_of):
        if (host, id_of) not in known:
            known[host, id_of] = Entry(programs.get((host, id_of)))
        return known[host, id_of]

    planes = [(host, plane) for host, of in run.hosts.items() for plane in of]
    for number, (host, plane) in enumerate(planes):
        found = ()
        if plane.kind == 'gpu':
            found = of_kernels(kernels[id(plane)], threads[host],
                               lambda id_of, host=host: entry_of(host, id_of))
        elif plane.kind in ('tensorcore', 'sparsecore'):
            found = of_modules(plane)
        for of in found:
            yield (host, number, plane.name, *of)


def shown(of_device):
    """{program: executions} of a device: the first and the last count as a share of their program's
    kernels if all executions of it between them have more; without any, the other of the two."""
    counts, found = collections.defaultdict(list), {}
    in_order = sorted(of_device, key=lambda of: (of[5], -of[6], of[7]))
    for of in in_order:
        is_edge = of is in_order[0] or of is in_order[-1]
        counts[of[:5]].append((is_edge, of[8]))
    for program, of in counts.items():
        parts = []
        for i, (is_edge, n) in enumerate(of):
            others = is_edge and ([kernels for at_edge, kernels in of if not at_edge] or [
                kernels for k, (_, kernels) in enumerate(of) if k != i])
            is_cut = others and n < min(others)
            met['cut executions'] += bool(is_cut)
            parts.append(n / min(others) if is_cut else 1)
        found[program] = sum(parts)
    return found


def check(run):
    programs, runs = collections.defaultdict(list), collections.Counter()
    devices, as_shown = collections.defaultdict(list), {}
    for of in executions(run):
        runs[of[:7]] += 1
        programs[of[:5]].append(of[6])
        devices[of[:3]].append(of)
    for of_device in devices.values():
        as_shown.update(shown(of_device))
    columns = 'host, plane_id, plane, program_id, hlo_module'
    got = run.ask('SELECT %s, start_ps, duration_ps FROM program_runs({x})' % columns)
    agree('executions', dict(collections.Counter(tuple(r.values()) for r in got)), dict(runs))
    got = [list(r.values()) for r in run.ask(
        'SELECT %s, executions, total_us, min_us, max_us, shown_executions '
        'FROM program_totals({x})' % columns)]
    agree('programs', {tuple(r[:5]): r[5:] for r in got}, {
        key: [len(of), sum(of) / 1e6, min(of) / 1e6, max(of) / 1e6, as_shown[key]]
        for key, of in programs.items()})
    agree('rows of programs', len(got), len(programs))


def each(run):
    tried('program_totals ' + run.path, check, run)


# ---- random devices ----

DERIVED = -559038737  # id of a line that XProf derives
WAYS = ['only other threads contain the launch', 'markers in markers', 'marker of another module',
        'graph again', 'op again', 'recorded and not', 'cut executions', 'launch of a known thread']
IDS = [{'uint64': 5}, {'int64': 5}, {'uint64': 6}, {'uint64': 0}, {'int64': -1}, {'str': '5'}]
MODULES = ['f', 'g', 'f(5)', '']
OPS = ['fusion', 'w/dot.1', 'loop::dot.1', 'dot.1', 'body.2', 'command_buffer', '']
NAMES = ['gemm', 'dot_1', 'body_2', 'MemcpyD2D']


def program(key, module):
    inner = hlo.computation(2, 'body', [hlo.instruction(3, 'body.2')], 3)
    entry = hlo.computation(1, 'main', [hlo.instruction(1, 'fusion'), hlo.instruction(2, 'dot.1')],
                            2)
    return {'Hlo Proto': {'bytes': L(1, hlo.module(module, entry, inner, id=key))}}


def programs(dice):
    plane = Plane('/host:metadata', 9)
    for key in dice.sample([5, 6], dice.randint(0, 2)):
        plane.meta('f(%d)' % key, stats=program(key, 'f'), key=key)
    return plane


def kernel(dice, plane, ids, modules, ops):
    stats = {}
    if dice.random() < 0.8:
        stats['program_id'] = dice.choice(ids)
    if dice.random() < 0.6:
        stats['hlo_module'] = {'str': dice.choice(modules)}
    if dice.random() < 0.8:
        stats['hlo_op'] = {'str': dice.choice(ops)}
    if dice.random() < 0.3:
        stats['cuda_graph_id'] = dice.choice([{'uint64': 1}, {'int64': 0}])
    of_meta = {k: v for k, v in stats.items() if dice.random() < 0.1}
    own = [x for x in stats.items() if x[0] not in of_meta] + [
        ('correlation_id', {'uint64': dice.randint(1, 9)})
        for _ in range(dice.choice([0, 1, 1, 1, 1, 1, 2]))]
    return (plane.meta(dice.choice(NAMES), stats=of_meta), dice.randint(0, 30) * 1000,
            dice.choice([0, 1000, 1000, 5000, -2000]), own, dice.choice([None] * 19 + [2]))


def gpu(dice, number):
    plane = Plane('/device:GPU:%d' % number, number + 10)
    ids = dice.choice([IDS[:1], IDS[:3], IDS[3:4], IDS])
    modules = dice.choice([MODULES[:1], MODULES])
    ops = dice.choice([OPS, dice.sample(OPS, 2)])
    for i in range(dice.randint(1, 3)):
        plane.line(dice.choice([i + 1] * 9 + [DERIVED]), dice.choice(
            ['Stream #1', 'Stream #1', '', '_counters_', 'XLA Modules']),
            [kernel(dice, plane, ids, modules, ops) for _ in range(dice.randint(0, 12))])
    return plane


def core(dice, name, number):
    plane = Plane(name, number + 20)
    names = ['f(5)', 'f(5)', 'f(6)', 'f', 'f(-5)', 'f(0)', 'g(5)', '(5)', '', 'f(5) ', 'f(05)',
             'a\nb(7)', 'f(18446744073709551615)', 'f(18446744073709551616)', 'f()', 'f(5)(6)']
    for i in range(dice.randint(1, 3)):
        plane.line(dice.choice([i + 1] * 9 + [DERIVED]), dice.choice(
            ['XLA Modules', 'XLA Modules', 'Sparse Core Modules', 'XLA Ops', 'Steps']), [
                (plane.meta(dice.choice(names), stats=dice.choice(
                    [None, {'program_id': {'uint64': 77}}])), dice.randint(-2, 30) * 1000,
                 dice.choice([0, 1000, 5000, -2000]), None, dice.choice([None] * 9 + [2]))
                for _ in range(dice.randint(0, 9))])
    return plane


def threads(dice, name, number):
    plane = Plane(name, number)
    for i in range(dice.randint(0, 3)):
        kinds, events = dice.choice(['cm', 'c', 'mo', 'cmo']), []
        for _ in range(dice.randint(0, 9)):
            kind = dice.choice(kinds)
            what = {'c': 'cuLaunchKernel', 'o': 'step', 'm': dice.choice(MODULES) + MARKER}[kind]
            events.append((what, dice.randint(0, 12) * 1000, dice.choice(
                [0, 1000, 5000, 9000, 20000] + [-1000] * (kind != 'c')), [
                    ('correlation_id', {'int64': dice.randint(1, 9)})
                    for _ in range(dice.choice([1, 1, 1, 2]))] if kind == 'c' else None,
                dice.choice([None] * 19 + [2])))
        plane.line(dice.choice([i + 1] * 9 + [DERIVED]), 'thread', events)
    return plane


def random_run(dice, folder):
    os.makedirs(folder)
    files = []
    for i in range(dice.choice([1, 1, 2])):
        planes = [threads(dice, name, n) for n, name in enumerate(dice.choice(
            [['/host:CPU'], ['/host:CPU', '/host:CPU [7]'], ['/host:CPU [7]', '/host:CPU [77]'],
             []]), 1)]
        if dice.random() < 0.8:
            planes += [gpu(dice, n) for n in range(dice.randint(1, 2))]
        if dice.random() < 0.3:
            planes += [core(dice, name, n) for n, name in enumerate(
                ['/device:TPU:0', '/device:TPU:0', '/device:TPU:0 SparseCore 1'])]
        planes.append(programs(dice))
        dice.shuffle(planes)
        files.append(os.path.join(folder, 'host%d.xplane.pb' % i))
        with open(files[-1], 'wb') as f:
            f.write(space(*[p.bytes() for p in planes]))
    return Run(folder, files)


def made():
    check_random('program_totals', 100, random_run, check, 'devices', WAYS, met)


if __name__ == '__main__':
    main(each, made)
