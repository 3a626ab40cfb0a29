# SPDX-License-Identifier: Apache-2.0
"""Operations and bytes of HLO instructions, by XLA's rules, from shapes that differ in every
operand."""
import math
import random

from lib.cases import case, same
from lib.hlo import F32, computation, ints, instruction, module, proto, shape
from lib.shell import rows
from lib.wire import L, Plane, V, space


def costs(*instructions, columns='flops, bytes_accessed'):
    """{name: (flops, bytes accessed), or other columns} of instructions (name, opcode, result,
    operands[, fields]) of one program, where an operand and a result are f32 of these dimensions.
    What they apply is an addition."""
    ops, n = [], 2
    for name, opcode, result, operands, *more in instructions:
        ids = []
        for dimensions in operands:
            n += 1
            ids.append(n)
            ops.append(instruction(n, 'p%d' % n, 'parameter', shape(F32, *dimensions),
                                   more=V(9, n)))
        n += 1
        ops.append(instruction(n, name, opcode, shape(F32, *result), ids, more=b''.join(more)))
    add = computation(1, 'sum', [instruction(1, 'a', 'parameter'),
                                 instruction(2, 'add', 'add', operands=(1, 1))], root=2)
    made = proto(module('m', add, computation(2, 'main', ops, root=n), entry=2))
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': made}}, key=1)
    found = rows("SELECT hlo_op, %s FROM hlo_instructions('{x}') "
                 "WHERE opcode <> 'parameter' AND hlo_op <> 'add'" % columns, space(plane.bytes()))
    return {row[0]: row[1:] for row in found}


def window(*sizes):
    return L(15, *(L(1, V(1, size) + V(2, 1) + V(5, 1) + V(6, 1)) for size in sizes))


SUM = ints(38, 1)
DIMENSIONS = 14


@case
def operands():
    """Which operand's size counts, in rules that use one of several. An addition of floats counts
    as 3 operations."""
    same(costs(
        # a warp of 32 that reads across the border of two operands takes both branches: 400, else 6
        ('crossed', 'concatenate', (4, 38), [(4, 6), (4, 32)], ints(DIMENSIONS, 1)),
        ('within', 'concatenate', (4, 38), [(4, 32), (4, 6)], ints(DIMENSIONS, 1)),
        ('outermost', 'concatenate', (10, 32), [(6, 32), (4, 32)], ints(DIMENSIONS, 0)),
        ('solved', 'triangular-solve', (5, 7), [(5, 5), (5, 7)]),
        ('factored', 'cholesky', (6, 6), [(6, 6)]),
        ('sorted', 'sort', (11,), [(11,)], SUM),
        ('reduced', 'reduce', (4,), [(4, 6), ()], ints(DIMENSIONS, 1), SUM),
        ('mapped', 'map', (4, 6), [(4, 6)], SUM),
        ('windows', 'reduce-window', (4, 4), [(4, 6), ()], window(1, 3), SUM),
        ('scattered', 'scatter', (9, 5), [(9, 5), (2, 1), (2, 5)], SUM),
        ('selected', 'select-and-scatter', (4, 6), [(4, 6), (4, 2), ()], window(1, 3),
         ints(38, 1, 1)),
        ('sliced', 'dynamic-slice', (2, 3), [(8, 9), (), ()]),
        ('updated', 'dynamic-update-slice', (8, 9), [(8, 9), (2, 3), (), ()])), {
            'crossed': (400 * 4 * 38, 2 * 4 * 4 * 38), 'within': (6 * 4 * 38, 2 * 4 * 4 * 38),
            'outermost': (6 * 10 * 32, 2 * 4 * 10 * 32),
            'solved': (2 * 5 * 35, 4 * 35 + 4 * 25 / 2 + 4 * 35),  # half of the triangle's square
            'factored': (6 * 36 / 3, 4 * 36 / 2 + 4 * 36 / 2),
            'sorted': (11 * 4, 2 * 4 * 11),  # the logarithm is rounded up
            'reduced': (3 * (24 - 4), 4 * (24 + 4 + 4)),  # the initial value is read 4 times
            'mapped': (3 * 24, 2 * 4 * 24), 'windows': (3 * 2 * 16, 4 * (24 + 1 + 16)),
            'scattered': (3 * 10, 4 * (3 * 10 + 2)), 'selected': (3 * (2 * 8 + 8), 4 * 57),
            'sliced': (0, 4 * (2 * 6 + 1)), 'updated': (0, 4 * (2 * 6 + 1))})


def convolved(size, stride, low, dilation, base, n_in, n_out):
    """Pairs of an element of the kernel and of the output that use an element of the input, and
    not the zeros around it and between its elements."""
    at = [out * stride + k * dilation - low for out in range(n_out) for k in range(size)]
    return sum(x % base == 0 and 0 <= x // base < n_in for x in at)


@case
def convolutions():
    """Products count where both factors are there, counted here one by one: with strides, padding
    on either side (also negative), dilations of kernel and input, and groups."""
    rnd, made, want, categories = random.Random(3), [], {}, {}
    for i in range(120):
        groups, batches = rnd.choice([(1, 1), (1, 1), (3, 1), (1, 2), (0, 0), (2, 1)])
        features, outputs, batch, dims = 6, 4, 2, []
        for _ in range(rnd.choice([1, 1, 2])):
            size, n_in = rnd.randint(1, 5), rnd.randint(1, 7)
            stride, dilation, base = rnd.randint(1, 3), rnd.randint(1, 3), rnd.randint(1, 4)
            low, high = rnd.randint(-1, 4), rnd.randint(-1, 4)
            room = (n_in - 1) * base + 1 + low + high - (size - 1) * dilation - 1
            n_out = room // stride + 1 if room >= 0 else 0
            if i % 10 == 0:  # full convolutions, which are computed in another way
                size = n_out = n_in = base = rnd.randint(1, 5)
                stride, dilation, low, high = max(1, n_in - 1), 1, 0, 0
            elif i % 10 == 1:
                n_in, stride, dilation, base, n_out = 1, 1, 1, 1, size
                low = high = size - 1
            dims.append((size, stride, low, high, dilation, base, n_in, n_out))
        spatial = range(2, 2 + len(dims))
        windows = L(15, *(L(1, *map(V, range(1, 7), d[:6])) for d in dims))
        numbers = L(16, V(3, 0), V(4, 1), ints(6, *spatial), V(7, 0), V(8, 1), V(9, 0), V(10, 1),
                    ints(11, *spatial), ints(12, *spatial))
        made.append(('c%d' % i, 'convolution', (batch, outputs, *(d[7] for d in dims)),
                     [(batch, features, *(d[6] for d in dims)),
                      (features, outputs, *(d[0] for d in dims))],
                     windows, numbers, V(50, groups), V(58, batches)))
        pairs = math.prod(convolved(size, stride, low, dilation, base, n_in, n_out)
                          for size, stride, low, _, dilation, base, n_in, n_out in dims)
        want['c%d' % i] = 2 * (features // max(groups, 1)) * outputs * (
            batch // max(batches, 1)) * pairs
        categories['c%d' % i] = ('convolution' + ' base-dilated' * any(d[5] > 1 for d in dims)
                                 + ' window-dilated' * any(d[4] > 1 for d in dims),)
    same(costs(*made, columns='category'), categories)
    found = costs(*made)
    same({name: flops for name, (flops, _) in found.items()}, want)
