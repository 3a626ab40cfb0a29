#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are made at random, whose kernels run in CUDA graphs, in executions that the host
records or not: program_runs, scope_ops, program_flops and hlo_instructions (runs_per_execution).

Fusions do the same in pairs, in loops that go round a known number of times or not, calls,
conditionals, and sometimes in circles; some have names that one kernel could have."""
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
from compare import Run, main, seeds, tried  # noqa: E402
from graph_kernels import as_kernel  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, space  # noqa: E402
from programs import programs_of  # noqa: E402

SHAPE = hlo.shape(hlo.F32, 8)


class Made:
    """Computations of a program, and the names of its instructions that kernels have, and of
    others."""

    def __init__(self, dice):
        self.dice, self.done, self.n, self.names, self.others, self.open = dice, [], 0, [], [], []
        self.add(1, 0, True)

    def number(self):
        self.n += 1
        return self.n

    def fused(self):
        """A computation of a fusion; few are possible."""
        c, code = 1000 + self.number(), self.dice.choice(['negate', 'abs', 'exponential'])
        ops = [hlo.instruction(100 * c, 'p%d' % c, 'parameter', SHAPE)]
        for i in range(self.dice.choice([1, 1, 2])):
            ops.append(hlo.instruction(100 * c + i + 1, 'x%d.%d' % (c, i), code, SHAPE,
                                       [100 * c + i]))
        self.done.append(hlo.computation(c, 'fused%d' % c, ops, 100 * c + len(ops) - 1))
        return c

    def add(self, c, depth, in_circles):
        """A computation that runs fusions, other instructions and other computations."""
        self.open.append(c)
        dice, ops = self.dice, [hlo.instruction(100 * c, 'p%d' % c, 'parameter', SHAPE)]
        for i in range(dice.randint(1, 5)):
            kind, at, calls, more = dice.random(), 100 * c + i + 1, [], b''
            code, name, named = 'negate', 'negate', self.names
            if kind < 0.6:
                code = name = 'fusion'
                calls, more = [self.fused()], L(11, dice.choice(['kLoop', 'kLoop', 'kInput']))
                if dice.random() < 0.3:  # frontend_attributes
                    more += L(68, L(1, L(1, 'xla.pdl_launch'), L(2, 'true')))
            elif kind < 0.9 and depth < 3:
                named = self.others
                code = dice.choice(['while', 'while', 'call', 'conditional', 'async-start'])
                circles = in_circles and code != 'while'
                calls = [dice.choice(self.open) if circles and dice.random() < 0.05 else
                         self.add(1 + self.number(), depth + 1, circles)
                         for _ in range(2 if code in ('while', 'conditional') else 1)]
                if code == 'while' and dice.random() < 0.7:
                    more = L(43, '{"known_trip_count":{"n":"%d"}}' % dice.choice([0, 1, 2, 3, 7]))
            name = dice.choice(['%s.%d', '%s.%d', '%s_%d', '%s-%d.remat']) % (name, dice.choice(
                [self.number(), self.number(), 1]))
            while name in self.names + self.others:
                name += dice.choice(['x', '.', '_'])
            named.append(name)
            ops.append(hlo.instruction(at, name, code, SHAPE, [at - 1], calls,
                                       dice.choice(['', 'jit(f)/a/b', 'jit(f)/transpose(c)/d']),
                                       more))
        self.open.pop()
        self.done.append(hlo.computation(c, 'run%d' % c, ops, 100 * c + len(ops) - 1))
        return c

    def proto(self, id):
        return hlo.proto(hlo.module('m%d' % id, *self.done, id=id, more=L(4)))


def kernels(dice, programs):
    some, at, found = dice.randint(1, 12), 0, []
    choices = []
    for _ in range(some):
        id = dice.choice([1, 1, 2])
        op = dice.choice(['command_buffer', 'command_buffer_1', None,
                          dice.choice(programs[id].names)])
        name = as_kernel(dice.choice(programs[id].names)) if dice.random() < 0.9 else 'library'
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
    for i in range(dice.randint(1, 2)):
        gpu.line(i + 1, 'Stream #%d' % i, kernels(dice, programs))
    hosts = [Plane(name, 2 + i) for i, name in enumerate(
        ['/host:CPU'] + ['/host:CPU [7]'] * (dice.random() < 0.3))]
    for host in hosts:
        for i in range(dice.randint(1, 2)):
            host.line(i + 5, 'thread %d' % i, thread(dice))
    with open(path, 'wb') as f:
        f.write(space(gpu.bytes(), *(h.bytes() for h in hosts), metadata.bytes()))
    return Run(path, [path])


def made():
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(40):
            run = run_of(random.Random(seed), os.path.join(top, '%d.xplane.pb' % seed))
            for check in (program_runs.check, flops.check_instructions, program_flops.check,
                          queries.mfu):
                tried('%s of seed %d' % (check.__module__, seed), check, run)
            tried('scope_ops of seed %d' % seed, scopes.scope_ops, run,
                  programs_of(run, scopes.Program))


if __name__ == '__main__':
    main(made=made)
