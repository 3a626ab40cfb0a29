# SPDX-License-Identifier: Apache-2.0
"""hlo_text: texts of programs as XLA prints them."""
import math
import re

from lib import hlo
from lib.cases import case, refused, same
from lib.shell import rows
from lib.wire import L, Plane, V, space


@case
def values_that_are_json():
    """XLA prints a frontend attribute's value as it is if its lexer takes it for one object of
    JSON, with nothing after it but space and comments."""
    plain = ['{}', ' {"a":{}}', '{"}": 1}', '{"a\\"}": {}}', '{} ', '{}\t/* c */', '{}/**/',
             '{}// c', '{}// c\n/* c */', '{a}']
    quoted = ['', 'x', '{', '{}}', '{} x', '{}/', '{}/* c', '{}/*/', '{}/* *', '{}// c\nx', '{"a}',
              '{{}', '/* c */{}', '{/* } */}']
    for values, marks in ((plain, ''), (quoted, '"')):
        for value in values:
            text = '{key=%s%s%s}' % (marks, value.replace('\\', '\\\\').replace('"', '\\"').replace(
                '\n', '\\n').replace('\t', '\\t') if marks else value, marks)
            attributes = hlo.L(68, hlo.L(1, hlo.L(1, 'key'), hlo.L(2, value)))
            data = hlo.proto(hlo.module('m', hlo.computation(
                1, 'c', [hlo.instruction(1, 'p', 'parameter', more=attributes)], root=1)))
            lines = [row[0] for row in rows("SELECT text FROM hlo_text('{x}') "
                                            "WHERE text LIKE '%frontend_attributes%'", data)]
            same([text in line for line in lines], [True], '%r in %r' % (text, lines))


@case
def numbers_beyond_enums():
    """The last number of each enum has its word; the next is unknown."""
    def found(opcode, more, made=hlo.shape(hlo.F32)):
        op = hlo.instruction(2, 'op', opcode, made, [1], more=more)
        data = hlo.proto(hlo.module('m', hlo.computation(
            1, 'c', [hlo.instruction(1, 'p', 'parameter'), op], root=2)))
        (line,), = rows("SELECT text FROM hlo_text('{x}') WHERE text LIKE '%op = %'", data)
        return line
    for opcode, last, key, word, of in (
            ('rng', 2, 'distribution', 'rng_normal', lambda n: V(23, n)),
            ('rng-bit-generator', 2, 'algorithm', 'rng_philox', lambda n: V(70, n)),
            ('fft', 3, 'fft_type', 'IRFFT', lambda n: V(31, n)),
            ('triangular-solve', 3, 'transpose_a', 'ADJOINT', lambda n: L(59, V(4, n))),
            ('custom-call', 2, 'padding_type', 'PADDING_SAME', lambda n: V(75, n)),
            ('custom-call', 2, 'schedule', 'SCHEDULE_EARLIEST', lambda n: V(76, n)),
            ('custom-call', 4, 'api_version', 'API_VERSION_TYPED_FFI', lambda n: V(77, n)),
            ('dot', 15, 'algorithm', 'dot_bf16_bf16_fp8x4', lambda n: L(51, V(2, n))),
            ('dot', 2, 'operand_precision', '{high,highest}', lambda n: L(51, hlo.ints(1, 1, n)))):
        same(key + '=' + word in found(opcode, of(last)), True, opcode)
        unknown = word.replace('highest', 'unknown') if '{' in word else 'unknown'
        same(key + '=' + unknown in found(opcode, of(last + 1)), True, opcode)
    for number, word in ((6, 'unreduced'), (7, 'unknown')):
        same('sharding={%s}' % word in found('add', L(40, V(1, number))), True, word)
    same('= f6e2m3fn[] add' in found('add', b'', hlo.shape(36)), True)
    same('= invalid[] add' in found('add', b'', hlo.shape(37)), True)


# Number of the type, and field of LiteralProto.
SMALL_TYPES = {'f8e5m2': (19, 19), 'f8e4m3fn': (20, 20), 'f8e4m3b11fnuz': (23, 23),
               'f8e5m2fnuz': (24, 24), 'f8e4m3fnuz': (25, 25), 'f8e4m3': (28, 28),
               'f8e3m4': (29, 29), 'f4e2m1fn': (32, 32), 'f8e8m0fnu': (33, 33),
               'f6e3m2fn': (35, 35), 'f6e2m3fn': (36, 36), 's2': (26, 26), 'u2': (27, 27),
               's1': (30, 30), 'u1': (31, 31), 's4': (21, 21), 'u4': (22, 22), 's8': (2, 15),
               'u8': (6, 3)}


def number(name, bits):
    """What the bits stand for, as XLA prints it: the name says how many of them are what."""
    width, exponent, mantissa, bias, kind = re.fullmatch(
        r'.(\d)(?:e(\d)m(\d)(?:b(\d+))?(\w*))?', name).groups()
    width, top = int(width), bits >> int(width) - 1
    if not exponent:
        return str(bits - (top << width) if name[0] == 's' else bits)
    exponent, mantissa = int(exponent), int(mantissa)
    bias = int(bias) if bias else (1 << exponent - 1) - (kind != 'fnuz')
    high, low = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
    all_high, all_low = high + 1 == 1 << exponent, low + 1 == 1 << mantissa
    if {'fnu': all_high, 'fnuz': top and not high and not low, '': all_high and low,
            'fn': width == 8 and all_high and all_low}[kind]:
        return 'nan'
    fraction = low / (1 << mantissa)
    value = math.ldexp(1 + fraction, high - bias) if high or kind == 'fnu' else math.ldexp(
        fraction, 1 - bias)
    digits = 1 + math.ceil((mantissa + 1) * math.log10(2))  # max_digits10
    return '%.*g' % (digits, math.copysign(math.inf if kind == '' and all_high else value,
                                           -1 if kind != 'fnu' and top else 1))


@case
def numbers_of_small_types():
    """All numbers of the types of up to 8 bits."""
    for name, (type, field) in SMALL_TYPES.items():
        numbers = range(1 << int(name[1]))
        ops = [hlo.instruction(1 + i, 'c%d' % i, 'constant', hlo.shape(type, len(numbers[i:i + 8])),
                               more=L(8, L(1, hlo.shape(type, len(numbers[i:i + 8]))) + L(
                                   field, bytes(numbers[i:i + 8]))))
               for i in range(0, len(numbers), 8)]
        data = hlo.proto(hlo.module('m', hlo.computation(1, 'c', ops, root=1)))
        texts = [text for row in rows("SELECT expression FROM hlo_instructions('{x}')", data)
                 for text in re.search(r'constant\(\{(.*?)\}\)', row[0]).group(1).split(', ')]
        same(['nan' if 'nan' in text else text for text in texts],
             [number(name, bits) for bits in numbers], name)


@case
def layouts_of_constants():
    """The numbers of a constant lie as its layout says; without a layout, or with one that does not
    name each dimension once, the last dimension is the dense one."""
    def constant(*layout):
        made = V(2, 6) + L(3, b'\x02\x03') + b''.join(L(5, L(1, bytes(order))) for order in layout)
        op = hlo.instruction(1, 'c', 'constant', made,
                             more=L(8, L(1, made) + L(3, bytes(range(6)))))
        data = hlo.proto(hlo.module('m', hlo.computation(1, 'main', [op])))
        text = rows("SELECT expression FROM hlo_instructions('{x}')", data)[0][0]
        return re.sub(r'[^0-9,]', '', text.split('constant(')[1])
    same([constant(layout) for layout in ((1, 0), (0, 1), (1,), (1, 1), (0, 1, 2), (2, 0))],
         ['0,1,2,3,4,5', '0,2,4,1,3,5'] + ['0,1,2,3,4,5'] * 4)
    same(constant(), '0,1,2,3,4,5', 'without a layout')


@case
def programs_by_name():
    """A program is called by its module, its id, or both; several may have one module's name. Its
    style is long or short, in any case."""
    plane, numbers = Plane('/host:metadata'), {('f', 7): 3, ('f', 12): 4, ('f(7)', 2): 5}
    for (name, id), n in numbers.items():
        ops = [hlo.instruction(i + 1, 'c%d' % i, 'parameter', more=V(9, i)) for i in range(n)]
        program = hlo.proto(hlo.module(name, hlo.computation(1, 'main', ops), id=id))
        plane.meta('%s(%d)' % (name, id), stats={'Hlo Proto': {'bytes': program}}, key=id)
    x = space(plane.bytes())

    def found(*arguments):
        return rows("SELECT program_id, count(hlo_op) FROM hlo_text('{x}', %s) GROUP BY 1 "
                    "ORDER BY 2" % ', '.join(arguments), x=x)
    first, second, third = ('7', 3), ('12', 4), ('2', 5)
    for name, programs in (('f', [first, second]), ('7', [first]), ('f(7)', [first, third]),
                           ('f(12)', [second]), ('2', [third]), ('f(7)(2)', [third])):
        same(found("'%s'" % name), programs, name)
    for name in ('', 'F', '1', '70', 'f(2)', 'f(7', 'f[7]', 'f(71)', 'f7', 'g(7)', 'f(7)(7)'):
        refused("no program is called '%s'" % name, found, "'%s'" % name)
    same([found('NULL'), found('NULL', "'SHORT'"), found("'7'", "'Long'")],
         [[first, second, third]] * 2 + [[first]])
    refused("style must be 'long' or 'short', not 'wide'", found, "'7'", "'wide'")
    same([rows("SELECT text FROM hlo_text('{x}', '7', '%s') WHERE hlo_op = 'c1'" % style, x=x)[0][
        0].strip() for style in ('short', 'long')],
         ['c1 = f32[] parameter(1)', '%c1 = f32[] parameter(1)'])


@case
def large_constants_of_short_texts():
    """A short text has the numbers of constants of up to 10 elements, as XLA's."""
    for shape, n in (((10,), 10), ((2, 5), 10), ((11,), 11), ((3, 4), 12)):
        constant = hlo.instruction(1, 'c', 'constant', hlo.shape(6, *shape), more=L(
            8, L(1, hlo.shape(6, *shape)) + L(3, bytes(range(n)))))
        data = hlo.proto(hlo.module('m', hlo.computation(1, 'main', [constant])))
        for style in ('long', 'short'):
            (text,), = rows("SELECT text FROM hlo_text('{x}', NULL, '%s') WHERE hlo_op = 'c'"
                            % style, data)
            same(('{...}' in text, '9' in text), (style == 'short' and n > 10,
                                                  style == 'long' or n == 10), text)
