#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are made at random, whose kernels run in CUDA graphs, in executions that the host
records or not: graph_kernels, scope_ops, program_runs, program_flops and hlo_instructions
(runs_per_execution). A rule of graph_kernels that no program reaches is a failure.

Fusions do the same in pairs, in loops that go round a known number of times or not, calls,
conditionals, and sometimes in circles; some have names that one kernel could have. Most programs
have schedules, and most launches follow them, with kernels of libraries, copies and sets."""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import flops  # noqa: E402
import program_flops  # noqa: E402
import program_runs  # noqa: E402
import queries  # noqa: E402
import scopes  # noqa: E402
import graph_kernels  # noqa: E402
import places  # noqa: E402
import scopes_made  # noqa: E402
from compare import Run, agree, looks_at_all, main, seeds, tried  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, V, space  # noqa: E402
from places import as_kernel  # noqa: E402
from programs import programs_of  # noqa: E402

SHAPE = hlo.shape(hlo.F32, 8)
N_FRAMES = 9  # of a program's stacks


FUSION, COPY, LIBRARY, CONTROL, ASYNC, NOTHING = range(6)
OPCODES = {COPY: ['copy', 'copy-start'], LIBRARY: ['custom-call', 'sort', 'all-reduce'],
           CONTROL: ['while', 'while', 'call', 'conditional'],
           NOTHING: sorted(places.NO_WORK) + ['copy-done', 'all-reduce-done', 'async-done']}
MIXES = [(4, 1, 2, 1, 1, 1), (4, 1, 3, 0, 0, 0), (3, 0, 1, 0, 0, 0), (2, 2, 2, 0, 1, 0),
         (6, 0, 0, 4, 0, 1), (2, 1, 3, 1, 1, 0)]  # weights of the kinds
CODES = 'negate abs exponential sine cosine tanh floor sqrt'.split()
RULES = ['name in 1 directions', 'name in 2 directions', 'directions differ', 'one item for two',
         'sets between neighbours', 'a single item', 'a part of a single item',
         'a copy of as many', 'one by one',
         'a call at the end of the schedule'] + [
    '%s %+d' % (x, step) for x in ('the last item', 'a copy in a step', 'a call in a step')
    for step in (1, -1)]


class Op:
    """An instruction, as it runs: its kind, the name of its kernel and what it runs."""

    def __init__(self, id, kind, kernel, runs):
        self.id, self.kind, self.kernel, self.runs = id, kind, kernel, runs


class Made:
    """Computations of a program, the names of its instructions that kernels have, and of others,
    and what runs in what order."""

    def __init__(self, dice):
        self.dice, self.done, self.n, self.open = dice, [], 0, []
        self.names, self.others = [], []
        self.order, self.equal = {}, {}  # of the ops of computations; kernels of equal fusions
        self.mix, self.sets = dice.choice(MIXES), dice.choice([0, 0.1, 0.4])
        self.size, self.codes = dice.choice([4, 9, 16]), CODES[:dice.choice([2, 3, 8])]
        self.add(1, 0, True)
        self.schedule = self.scheduled() if dice.random() < 0.85 else b''

    def number(self):
        self.n += 1
        return self.n

    def fused(self):
        """A computation of a fusion, and what it does; few are possible."""
        c, code = 100000 + self.number(), self.dice.choice(self.codes)
        ops = [hlo.instruction(100 * c, 'p%d' % c, 'parameter', SHAPE)]
        for i in range(self.dice.choice([1, 1, 2])):
            ops.append(hlo.instruction(100 * c + i + 1, 'x%d.%d' % (c, i), code, SHAPE,
                                       [100 * c + i]))
        self.done.append(hlo.computation(c, 'fused%d' % c, ops, 100 * c + len(ops) - 1))
        return c, (code, len(ops))

    def named(self, name, of):
        dice = self.dice
        name = dice.choice(['%s.%d', '%s.%d', '%s_%d', '%s-%d.remat']) % (
            name, dice.choice([self.number(), self.number(), self.number(), 1]))
        while name in self.names + self.others:
            name += dice.choice(['x', '.', '_'])
        of.append(name)
        return name

    def fusion(self, at):
        """A fusion, which may have the kernel of an equal one."""
        (c, does), kind = self.fused(), self.dice.choice(['kLoop', 'kLoop', 'kInput'])
        more = L(11, kind) + (L(68, L(1, L(1, 'xla.pdl_launch'), L(2, 'true')))
                              if self.dice.random() < 0.3 else b'')
        name = self.named('fusion', self.names)
        kernel = self.equal.setdefault((does, kind), as_kernel(name))
        return self.made(at, name, 'fusion', [c], more), Op(
            at, FUSION, kernel if self.dice.random() < 0.9 else as_kernel(name), [])

    def made(self, at, name, code, calls=(), more=b''):
        places = random.Random(at)
        metadata = L(2, self.dice.choice(['', 'jit(f)/a/b', 'jit(f)/transpose(c)/d']))
        if places.random() < 0.5:
            metadata += V(15, places.randint(1, N_FRAMES))
        if places.random() < 0.3:
            metadata += L(3, places.choice(scopes_made.FILES)) + V(4, places.randint(0, 99))
        return hlo.instruction(at, name, code, SHAPE, [at - 1], calls,
                               more=more + L(7, metadata))

    def wrapped(self):
        """A computation that an async-start runs, and its root."""
        c, dice = 1 + self.number(), self.dice
        if dice.random() < 0.6:
            made, op = self.fusion(100 * c + 1)
        else:
            kind = dice.choice([COPY, LIBRARY])
            code = OPCODES[kind][0]
            made, op = self.made(100 * c + 1, self.named(code, self.others), code), Op(
                100 * c + 1, kind, None, [])
        self.done.append(hlo.computation(c, 'run%d' % c, [
            hlo.instruction(100 * c, 'p%d' % c, 'parameter', SHAPE), made], 100 * c + 1))
        self.order[c] = [op]
        return c, Op(op.id, COPY if op.kind == FUSION and dice.random() < 0.7 else op.kind,
                     op.kernel, [])

    def instruction(self, at, kind, depth, in_circles):
        dice, more, calls = self.dice, b'', []
        if kind == FUSION:
            return self.fusion(at)
        if kind == ASYNC:
            c, op = self.wrapped()
            return self.made(at, self.named('start', self.others), 'async-start', [c]), Op(
                at, op.kind, op.kernel, [])
        code = dice.choice(OPCODES[kind])
        if kind == CONTROL:
            circles = in_circles and code != 'while'
            calls = [dice.choice(self.open) if circles and dice.random() < 0.05 else
                     self.add(1 + self.number(), depth + 1, circles)
                     for _ in range(2 if code in ('while', 'conditional') else 1)]
            if code == 'while' and dice.random() < 0.7:
                more = L(43, '{"known_trip_count":{"n":"%d"}}' % dice.choice([0, 1, 2, 3, 7]))
        of = self.names if kind == LIBRARY and dice.random() < 0.2 else self.others
        name = self.named(code, of)
        return self.made(at, name, code, calls, more), Op(at, kind, as_kernel(
            name) if of is self.names else None, calls)

    def add(self, c, depth, in_circles):
        """A computation that runs fusions, other instructions and other computations."""
        self.open.append(c)
        dice, made = self.dice, [hlo.instruction(100 * c, 'p%d' % c, 'parameter', SHAPE)]
        self.order[c] = []
        for i in range(dice.randint(1, self.size if not depth else 4)):
            kind, = dice.choices(range(6), self.mix)
            instruction, op = self.instruction(
                100 * c + i + 1, FUSION if kind == CONTROL and (depth == 3 or self.n > 120)
                else kind, depth,
                in_circles)
            made.append(instruction)
            self.order[c].append(op)
        self.open.pop()
        self.done.append(hlo.computation(c, 'run%d' % c, made, 100 * c + len(made) - 1))
        return c

    def scheduled(self):
        """The schedule of all computations or some, in an order of its own or that of the file."""
        dice, found = self.dice, b''
        for c, ops in self.order.items():
            if dice.random() < 0.2:
                dice.shuffle(ops)
            ids = [op.id for op in ops]
            if dice.random() < 0.1:  # some are missing, or no instruction's
                ids = [x for x in ids if dice.random() < 0.8]
                ids.insert(dice.randint(0, len(ids)), 999999)
            ids = [100 * c] + ids
            if dice.random() < 0.95:
                packed = hlo.ints(1, *ids) if dice.random() < 0.8 else b''.join(
                    V(1, x) for x in ids)
                found += L(1, V(1, c), L(2, packed))
        return L(7, found)

    def proto(self, id):
        stacks = L(17, scopes_made.stack_index(random.Random(self.n), N_FRAMES))
        return hlo.proto(hlo.module('m%d' % id, *self.done, id=id,
                                    more=L(4) + self.schedule + stacks))

    # ---- its kernels ----

    def kernels(self, c, left=60, depth=0):
        """Names of the kernels of a computation as it runs."""
        dice, found = self.dice, []
        for op in self.order.get(c, ()):
            if len(found) > left or depth > 6:
                break
            if op.runs:
                runs = op.runs[:1] if len(op.runs) < 2 else [dice.choice(op.runs)]
                for x in runs * dice.choice([0, 1, 1, 2, 3]):
                    found += self.kernels(x, left - len(found), depth + 1)
            elif op.kind == FUSION:
                found += ['memset32'] * (dice.random() < self.sets) + [
                    op.kernel if dice.random() < 0.9 else 'MemcpyD2D']
            elif op.kind == COPY:
                found.append(op.kernel if op.kernel and dice.random() < 0.3 else dice.choice(
                    ['MemcpyD2D', 'memcpy32_post', 'MEMCPYHtoD', 'copies']))
            elif op.kind == LIBRARY:
                found += ['Memset (Device)'] * (dice.random() < 0.2) + dice.choices(
                    ['gemm', 'reduce', 'splitK', 'MemcpyD2D', 'Memset (Device)'],
                    [5, 3, 2, 1, 1], k=dice.choice([1, 1, 1, 2, 3]))
                if op.kernel and dice.random() < 0.5:
                    found.append(op.kernel)
        return found

    def launched(self):
        """Names of the kernels of a launch; in some it starts late, ends early, lacks some, or has
        them in another order."""
        dice = self.dice
        found = self.kernels(1 if dice.random() < 0.7 else dice.choice(sorted(self.order)))
        found *= dice.choice([1, 1, 1, 2])  # a loop around it
        if dice.random() < 0.3:
            found = found[dice.randint(0, len(found)):][:dice.randint(1, 40)]
        for _ in range(dice.choice([0, 0, 0, 0, 1, 2]) if found else 0):
            i, k = (dice.randrange(len(found)) for _ in range(2))
            change = dice.random()
            if change < 0.4:
                del found[i]
            elif change < 0.7:
                found[i], found[k] = found[k], found[i]
            else:
                found.insert(i, dice.choice(['memset', 'MemcpyD2D', 'gemm', found[k]]))
            found = found or ['gemm']
        return found


def launches(dice, programs, graph):
    """Kernels of launches of graphs, one after the other or in between."""
    found, at = [], 0
    for launch in range(1, dice.randint(2, 5)):
        id = dice.choice([1, 1, 2])
        stats = {'program_id': {'uint64': id}, 'hlo_module': {'str': 'm%d' % id},
                 'hlo_op': {'str': graph},
                 'cuda_graph_id': {'uint64': 1}}
        if dice.random() < 0.95:
            stats['correlation_id'] = {'uint64': launch if dice.random() < 0.9 else 1}
        for name in programs[id].launched():
            found.append((name, at, dice.choice([0, 1, 100, 2000]), stats))
            at += dice.choice([0, 100, 100, 3000])
        if dice.random() < 0.1:
            at = dice.randint(0, at)
    return found


def kernels(dice, programs, graph):
    some, at, found = dice.randint(1, 12), 0, []
    choices = []
    for _ in range(some):
        id = dice.choice([1, 1, 2])
        op = dice.choice([graph, 'command_buffer_1', None,
                          dice.choice(programs[id].names or ['x'])])
        name = as_kernel(dice.choice(programs[id].names or ['x'])) if dice.random(
            ) < 0.9 else 'library'
        stats = {'program_id': {'uint64': id if dice.random() < 0.95 else 3}}
        if op:
            stats['hlo_op'] = {'str': op}
        if dice.random() < 0.8:
            stats['hlo_module'] = {'str': dice.choice(['m%d' % id] * 9 + ['m3'])}
        if dice.random() < 0.5:
            stats['cuda_graph_id'] = {'uint64': 1}
        choices.append((name, stats))
    for _ in range(dice.randint(1, 40)):
        name, stats = dice.choice(choices)
        at += dice.randint(0, 3000)
        launch = {'correlation_id': {'uint64': dice.randint(1, 20)}} if dice.random() < 0.9 else {}
        found.append((name, at, dice.randint(0, 2000), {**stats, **launch}))
    return found


def thread(dice):
    """Calls that launch kernels, in executions, in other ranges or in none."""
    found = []
    for _ in range(dice.randint(1, 12)):
        at, length = dice.randint(0, 900), dice.choice([0, 5, 100, 400])
        name = dice.choice(['m1:XLA GPU module', 'm1:XLA GPU module', 'm2:XLA GPU module', 'range'])
        found.append((name, at * 100, length * 100))
    for _ in range(dice.randint(0, 14)):
        found.append(('launch', dice.randint(0, 90000), dice.randint(0, 200),
                      {'correlation_id': {'uint64': dice.randint(1, 20)}}))
    return sorted(found, key=lambda e: (e[1], -e[2])) if dice.random() < 0.8 else found


def run_of(dice, path):
    programs = {id: Made(dice) for id in (1, 2)}
    metadata, gpu = Plane('/host:metadata', 9), Plane('/device:GPU:0', 1)
    for id, program in programs.items():
        metadata.meta('m%d(%d)' % (id, id), stats={'Hlo Proto': {'bytes': program.proto(id)}},
                      key=id)
    graph = dice.choice(['command_buffer', 'a::command_buffer'])
    of_gpu = launches(dice, programs, graph) + (kernels(dice, programs, graph)
                                                if dice.random() < 0.5 else [])
    streams = [[], []]
    for e in of_gpu:
        streams[dice.random() < 0.2].append(e)
    for i, events in enumerate(streams):
        gpu.line(i + 1, 'Stream #%d' % i, events)
    other = Plane('/device:GPU:1', 8).line(1, 'Stream #1', launches(dice, programs, graph))
    hosts = [Plane(name, 2 + i) for i, name in enumerate(
        ['/host:CPU'] + ['/host:CPU [7]'] * (dice.random() < 0.3))]
    for host in hosts:
        for i in range(dice.randint(1, 2)):
            host.line(i + 5, 'thread %d' % i, thread(dice))
    with open(path, 'wb') as f:
        f.write(space(*(p.bytes() for p in [gpu] + [other] * (dice.random() < 0.2) + hosts
                        + [metadata])))
    return Run(path, [path])


def checks(is_whole):
    """(check, whether it is given the programs)"""
    return [(graph_kernels.check, True)] + is_whole * [
        (scopes.scope_ops, True), (program_runs.check, False), (flops.check_instructions, False),
        (program_flops.check, False), (queries.mfu, False), (queries.top_hlo_ops, False)]


def made():
    places.met.clear()
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(100):
            run = run_of(random.Random(seed), os.path.join(top, '%d.xplane.pb' % seed))
            for check, takes_programs in checks(seed % 3 == 0):
                tried('%s, seed %d' % (check.__module__, seed), check, run, *(
                    [programs_of(run, scopes.Program)] if takes_programs else []))
    if looks_at_all():
        tried('each rule is reached', lambda: agree(
            'rules that no program reaches', [x for x in RULES if not places.met[x]], []))


if __name__ == '__main__':
    main(made=made)
