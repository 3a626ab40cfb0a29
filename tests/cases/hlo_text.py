# SPDX-License-Identifier: Apache-2.0
"""hlo_text: texts of programs as XLA prints them."""
from lib import hlo
from lib.cases import case, same
from lib.shell import rows


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
