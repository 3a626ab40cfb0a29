# SPDX-License-Identifier: Apache-2.0
"""SQL functions of numbers and shapes: what they refuse, and where a number is beyond 64 bits.
tests/sql/functions.sql compares what they return with naive definitions."""
import re

from lib.cases import case, must, same
from lib.shell import lines, run

MOST = 2**63 - 1
FRAME = 'OVER (ORDER BY column1, column2 DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)'


def of_rows(call, *rows):
    return 'SELECT %s FROM (VALUES %s)' % (call, ', '.join(
        '(%s)' % ', '.join(map(str, row)) for row in rows))


def errors(statements):
    """The error of each statement; None if it has none."""
    done = run(''.join(sql + ';\n' for sql in statements))
    found = {int(line): words for line, words in re.findall(
        r'^(?:Runtime|Parse) error near line (\d+): (.*)$', done.stderr, re.M)}
    return [found.get(line) for line, _ in enumerate(statements, 2)]


@case
def refusals():
    """Values that are not numbers, are infinite or in the wrong order give an error that names the
    function."""
    intervals = ('interval_union', 'self_time')
    numbers = ['%s(%s)' % (name, ', '.join("'x'" if i == k else '1' for i in range(n)))
               for name, n in (('interval_overlap', 4), ('flops_utilization', 3),
                               ('bandwidth_utilization', 3), ('roofline_flops', 3),
                               ('arithmetic_intensity', 2)) for k in range(n)]
    wanted = [('SELECT ' + call, 'input to %s() is not numeric' % call.split('(')[0])
              for call in numbers]
    wanted += [(of_rows("%s(column1, column2)%s" % (name, ' ' + FRAME if name == 'self_time'
                                                    else ''), (1, "'x'")),
                'input to %s() is not numeric' % name) for name in intervals]
    wanted += [(of_rows(call, (1,), ("'x'",)), 'input to %s() is not numeric' % call.split('(')[0])
               for call in ('stddev(column1)', 'median(column1)', 'percentile(column1, 50)')]
    wanted += [(of_rows(call, (1,), ('9e999',)), 'Inf input to %s()' % call.split('(')[0])
               for call in ('median(column1)', 'percentile(column1, 50)')]
    wanted += [(of_rows('interval_union(column1, 1)', ('9e999',)),
                'Inf input to interval_union()')]
    wanted += [(of_rows('percentile(column1, %s)' % p, (1,)),
                'the fraction argument to percentile() is not between 0.0 and 100.0')
               for p in ('-0.5', '100.5', "'x'", 'NULL')]
    wanted += [(of_rows('percentile(column1, column2)', (1, 50), (2, 51)),
                'the fraction argument to percentile() is not the same for all input rows')]
    order = 'self_time() received rows out of order: use self_time(start, duration) OVER '
    wanted += [(of_rows('self_time(column1, column2) OVER (ORDER BY %s ROWS BETWEEN CURRENT ROW '
                        'AND UNBOUNDED FOLLOWING)' % by, (1, 5), (1, 9), (2, 3)), order)
               for by in ('column1 DESC', 'column1, column2')]
    frame = 'self_time() needs a frame that starts at the current row: use self_time('
    wanted += [(of_rows('self_time(column1, column2)' + over, (1, 5), (2, 3)), frame)
               for over in ('', ' OVER (ORDER BY column1)', ' OVER (ORDER BY column1 ROWS BETWEEN '
                            '1 FOLLOWING AND UNBOUNDED FOLLOWING)')]
    pairs = 'padding_efficiency: sizes and alignments must be integers of 0 or more'
    wanted += [('SELECT padding_efficiency(%s)' % arguments, pairs)
               for arguments in ("'f32[2]', 'f32[2]'", '16, -1', '-1, 16', '16, 8.5')]
    wanted += [('SELECT padding_efficiency(%s)' % arguments,
                'padding_efficiency: give a shape, or pairs of size and alignment')
               for arguments in ('', '1, 2, 3')]
    wanted += [("SELECT %s('f32[')" % name, name + ': ') for name in
               ('shape_bytes', 'shape_elements', 'padded_bytes', 'padding_efficiency')]
    for (sql, words), error in zip(wanted, errors([sql for sql, _ in wanted])):
        must(error and words in error, '%s: %s, not %s' % (sql, error, words))


@case
def allowed():
    """The limits of what is rejected: NULL and the ends of ranges are not errors."""
    known = [('interval_overlap(0, 1, NULL, \'x\')', None), ('flops_utilization(NULL, 1, 1)', None),
             ('flops_utilization(-1, 1, 1)', None), ('flops_utilization(1, 0, 1)', None),
             ('flops_utilization(1, 1, 0)', None), ('flops_utilization(0, 1, 1)', 0),
             ('flops_utilization(6, 2e12, 3)', 1), ("flops_utilization('6', '2e12', 3)", 1),
             ('bandwidth_utilization(8, 1e12, 4)', 2), ('arithmetic_intensity(-1, 2)', None),
             ('arithmetic_intensity(3, 2)', 1.5), ('arithmetic_intensity(3, 0)', None),
             ('arithmetic_intensity(0, 2)', 0), ('roofline_flops(2, 100, 30)', 60),
             ('roofline_flops(4, 100, 30)', 100), ('roofline_flops(-1, 100, 30)', None),
             ('roofline_flops(4, 0, 30)', None), ('roofline_flops(4, 100, 0)', None),
             ('roofline_flops(0, 100, 30)', 0), ('percentile(7, 0)', 7), ('percentile(7, 100)', 7),
             ('padding_efficiency(0, 8)', None), ('padding_efficiency(8, 0)', 1),
             ('padding_efficiency(9, 8)', 9 / 16), ('padding_efficiency(12, 16, 3, 4)', 9 / 16),
             ('padding_efficiency(NULL, 8)', None)]
    got = lines('.nullvalue NULL\n' + ''.join('SELECT %s;\n' % call for call, _ in known))
    for (call, wanted), value in zip(known, got, strict=True):
        same(None if value == 'NULL' else float(value), wanted, call)


@case
def beyond_64_bits():
    """Lengths that do not fit in 64 bits are an error, those that just fit are not."""
    union = 'interval_union(column1, column2)'
    self_time = 'self_time(column1, column2) ' + FRAME
    overlapping = [(start, MOST - 4) for start in (1, 2, 3)]
    for error in errors([of_rows(union, (0, MOST), (1, MOST)),
                         of_rows(union, (1, MOST), (0, MOST)),
                         of_rows(union, (-MOST, MOST), (1, 1)),
                         of_rows(self_time, (0, MOST), *overlapping)]):
        must(error and 'integer overflow' in error, error)
    fits = [(of_rows(union, (0, MOST), (1, MOST - 1)), MOST),
            (of_rows(union, (1, MOST - 1), (0, MOST)), MOST),
            (of_rows(union, (-MOST, MOST - 1), (1, 1)), MOST),
            (of_rows(self_time, (0, MOST), *overlapping[:2]) + ' LIMIT 1', MOST - 2 * (MOST - 4))]
    same(lines(''.join('%s;\n' % sql for sql, _ in fits)), [str(n) for _, n in fits])
