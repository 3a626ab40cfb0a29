# SPDX-License-Identifier: Apache-2.0
"""hlo_text: texts of programs as XLA prints them."""
from lib import hlo
from lib.cases import case, same
from lib.shell import rows
from lib.wire import L, V


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
