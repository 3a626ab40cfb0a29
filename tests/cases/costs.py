# SPDX-License-Identifier: Apache-2.0
"""Operations and bytes of HLO instructions, by XLA's rules, from shapes that differ in every
operand."""
import math
import random
import struct

from lib.cases import case, same
from lib.hlo import F32, computation, ints, instruction, module, proto, shape
from lib.made import programs
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


@case
def packed_numbers():
    """Numbers that the layout packs take the bits that it says, all of them in whole bytes; others
    take a byte."""
    for type, bits, n, size in ((21, 4, 11, 6), (21, 4, 2, 1), (26, 2, 5, 2), (21, 0, 11, 11),
                                (F32, 32, 3, 12)):
        packed = shape(type, n, bits=bits)
        ops = [instruction(1, 'p', 'parameter', packed),
               instruction(2, 'n', 'negate', packed, (1,))]
        data = proto(module('m', computation(1, 'main', ops, root=2)))
        same(rows("SELECT bytes_accessed FROM hlo_instructions('{x}') WHERE hlo_op = 'n'", data),
             [(2 * size,)], (type, bits, n))


@case
def nested_calls():
    """Calls inside of calls cost what the innermost addition does, an element 3 operations; of a
    program with more than 100 inside of each other, no cost is known."""
    for n, flops in ((2, 3 * 7), (100, 3 * 7), (101, None)):
        vector = shape(F32, 7)
        done = [computation(i, 'c%d' % i, [
            instruction(2 * i, 'p%d' % i, 'parameter', vector),
            instruction(2 * i + 1, 'x%d' % i, 'call', vector, (2 * i,), calls=(i + 1,))])
                for i in range(1, n + 1)]
        last = n + 1
        done.append(computation(last, 'last', [
            instruction(2 * last, 'p', 'parameter', vector),
            instruction(2 * last + 1, 'sum', 'add', vector, (2 * last, 2 * last))]))
        same(rows("SELECT hlo_op, flops FROM hlo_instructions('{x}') WHERE hlo_op IN ('x1', 'sum') "
                  "ORDER BY 1", proto(module('m', *done, entry=1))),
             [('sum', flops), ('x1', flops)], n)


@case
def constants_of_fusions():
    """A constant of up to 8 numbers is part of a fusion's code, a larger one is read: so XProf
    2.24.2 answers."""
    ops, done = [], []
    for n in (7, 8, 9, 10):
        f = shape(F32, n)
        literal = L(8, L(1, f) + L(8, struct.pack('<%df' % n, *range(n))))
        done.append(computation(10 * n, 'fused%d' % n, [
            instruction(100 * n, 'p%d' % n, 'parameter', f),
            instruction(100 * n + 1, 'c%d' % n, 'constant', f, more=literal),
            instruction(100 * n + 2, 'a%d' % n, 'add', f, (100 * n, 100 * n + 1))],
            root=100 * n + 2))
        ops += [instruction(2 * n, 'x%d' % n, 'parameter', f, more=V(9, n)),
                instruction(2 * n + 1, 'f%d' % n, 'fusion', f, (2 * n,), (10 * n,),
                            more=L(11, 'kLoop'))]
    data = proto(module('m', *done, computation(1, 'main', ops, root=21)))
    same(rows("SELECT hlo_op, bytes_accessed FROM hlo_instructions('{x}') WHERE opcode = 'fusion'",
              data), [('f7', 56), ('f8', 64), ('f9', 108), ('f10', 120)])


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


# Operations for an element of what takes other than 3: XLA's measurements, asked of XProf 2.24.2.
CYCLES = """
add f64:97 c128:97
subtract f64:97 c128:97
multiply f64:97 c128:270
divide s8:370 s16:367 s32:306 s64:918 u8:306 u16:302 u32:115 u64:838 f64:2016 c64:687 c128:7941
power s8:392 s16:396 s64:601 u8:388 u16:399 u64:604 f16:975 f32:925 f64:5511 c64:3351 c128:18205
atan2 f16:482 f32:486 f64:3747 c64:5353 c128:39027
cbrt f16:925 f32:867 f64:6339
cosine f16:691 f32:662 f64:1717 c128:6613
sine f32:662 f64:1789 c128:5878
exponential f16:108 f32:86 f64:1652 c64:1360 c128:4028
exponential-minus-one f16:396 f32:381 f64:1900 c64:1400 c128:4161
log f16:266 f32:244 f64:608 c64:950 c128:7599
log-plus-one f16:284 f32:262 f64:2073 c64:842 c128:6962
logistic f16:226 f32:176 f64:2412
rsqrt f16:97 f32:75 f64:698 c64:2383 c128:11318
sqrt f16:97 f32:75 f64:986 c64:3193 c128:15606
tanh f16:212 f32:190 f64:1609 c128:9939
tan
erf
maximum
remainder
negate"""
TYPES = {'s8': 2, 's16': 3, 's32': 4, 's64': 5, 'u8': 6, 'u16': 7, 'u32': 8, 'u64': 9, 'f16': 10,
         'f32': 11, 'f64': 12, 'c64': 15, 'bf16': 16, 'c128': 18}
OF_TWO = ('add', 'subtract', 'multiply', 'divide', 'power', 'atan2', 'maximum', 'remainder')


@case
def cycles():
    """Operations of each kind and type, for two elements; those of 8 bits count half."""
    ops = [instruction(n, 'p' + name, 'parameter', shape(number, 2), more=V(9, n))
           for n, (name, number) in enumerate(TYPES.items())]
    want = {}
    for line in CYCLES.split('\n')[1:]:
        opcode, *measured = line.split()
        of = dict(pair.split(':') for pair in measured)
        for n, (name, number) in enumerate(TYPES.items()):
            op = '%s.%s' % (opcode.replace('-', '_'), name)
            want[op] = int(of.get(name, 3)) * (1 if name in ('s8', 'u8') else 2)
            ops.append(instruction(len(ops), op, opcode, shape(number, 2),
                                   [n] * (1 + (opcode in OF_TWO))))
    data = proto(module('m', computation(1, 'main', ops, root=len(ops) - 1)))
    same(dict(rows("SELECT hlo_op, flops FROM hlo_instructions('{x}') WHERE opcode <> 'parameter'",
                   data)), want)


@case
def metadata_of_other_types():
    """What is no integer in the metadata of a TPU's events is no cost: the program's counts
    instead."""
    def asked(**stats):
        core = Plane('/device:TPU:0', 1)
        op = core.meta('%a = f32[2] add(%b, %b)', 'a', {'program_id': {'uint64': 7}, **stats})
        core.line(1, 'XLA Ops', [(op, 0, 10)])
        return rows("SELECT flops, model_flops, bytes_accessed, cost_source "
                    "FROM hlo_instructions('{x}')",
                    space(core.bytes(), programs(7, ('a', 'parameter', ''))))[0]
    number = {'flops': {'uint64': 40}, 'bytes_accessed': {'uint64': 50}}
    same(asked(**number), (40, 40, 50, 'metadata'))
    for other in ({'str': 'x'}, {'double': 9.0}):
        same(asked(flops=number['flops'], bytes_accessed=other)[2:], (0, 'metadata'))
        same(asked(flops=number['flops'], model_flops=other)[:2], (40, 40))
        same(asked(flops=other, bytes_accessed=number['bytes_accessed'])[2:], (50, 'metadata'))
        same(asked(flops=other, bytes_accessed=other)[3], 'program')
