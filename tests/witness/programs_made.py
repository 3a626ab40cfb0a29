#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are made at random, in which calls, loops, conditionals, async-starts and fusions
run calls of libraries and others, in each other: hlo_instructions (bytes_accessed_actual)."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, check_random, main  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, space  # noqa: E402
from programs import CALLERS, bytes_of_calls, met, programs_of  # noqa: E402

SHAPE = hlo.shape(hlo.F32, 8)
WITH_ROOM = hlo.tuple_of(SHAPE, hlo.shape(hlo.U8, 100))
TARGETS = ['__cublas$gemm', '__cublas$lt$matmul', '__cublas$triangularSolve', '__cusolver$cholesky',
           '__cudnn$fmhaSoftmax']
OTHERS = ['mine', 'Sharding']
WAYS = ['-1 shown as 0', '-1 in a sum'] + ['%s a %s' % (x, code) for code in CALLERS for x in (
    'calls in', 'NULL of')]
CONTROL = ['call', 'call', 'while', 'conditional', 'async-start', 'fusion']


class Made:
    def __init__(self, dice, others):
        self.dice, self.others, self.done, self.n = dice, others, [], 0
        self.add(0)

    def number(self):
        self.n += 1
        return self.n

    def add(self, depth, code='call'):
        c = self.number()
        ops = [hlo.instruction(100 * c, 'p%d' % c, 'parameter', SHAPE)]
        ops += [self.op(100 * c + i, depth) for i in range(
            1, 2 if code == 'async-start' else self.dice.randint(2, 4))]
        self.done.append(hlo.computation(c, 'c%d' % c, ops, 100 * c + len(ops) - 1))
        return c

    def op(self, at, depth):
        dice, more, calls, shape = self.dice, b'', [], SHAPE
        code = dice.choice(['negate', 'custom-call', 'custom-call'] + CONTROL[:6 * (depth < 3)])
        if code in CONTROL:
            calls = [self.add(depth + 1, code) for _ in range(
                2 if code in ('while', 'conditional') else 1)]
        elif code == 'custom-call':
            more = L(28, dice.choice(OTHERS if dice.random() < self.others else TARGETS))
            shape = dice.choice([SHAPE, WITH_ROOM])
        return hlo.instruction(at, '%s.%d' % (code, at), code, shape,
                               [at // 100 * 100] * dice.randint(1, 2), calls, more=more)


def random_run(dice, folder):
    os.makedirs(folder)
    path = os.path.join(folder, 'made.xplane.pb')
    metadata = Plane('/host:metadata', 9)
    for id in range(1, 5):
        made = Made(dice, dice.choice([0, 0, 0.1]))
        metadata.meta('m%d(%d)' % (id, id), key=id, stats={'Hlo Proto': {'bytes': hlo.proto(
            hlo.module('m%d' % id, *made.done, id=id))}})
    with open(path, 'wb') as f:
        f.write(space(Plane('/device:GPU:0', 1).bytes(), metadata.bytes()))
    return Run(path, [path])


def check(run):
    bytes_of_calls(run, programs_of(run))


def made():
    check_random('programs', 40, random_run, check, 'programs', WAYS, met)


if __name__ == '__main__':
    main(made=made)
