# SPDX-License-Identifier: Apache-2.0
"""tf_functions: calls of tf.function by mode."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space


def functions(*threads):
    plane = Plane('/host:CPU')
    for i, calls in enumerate(threads):
        plane.line(i + 1, 'thread%d' % i,
                   [(name, begin, end - begin,
                     {'tf_function_call': {'str': how}, 'tracing_count': {'int64': traced}})
                    for name, how, begin, end, traced in calls])
    rows = ask("SELECT name, compiler, tracing_count, expensive_call_percent, mode, count, "
               "self_time_ps FROM tf_functions('{x}')", x=space(plane.bytes()))
    return [tuple(r.values()) for r in rows]


@case
def tf_functions():
    """Calls of tf.function by mode; threads add up."""
    same(functions(
        [('decrement', 'traced-nonXla', 10, 110, 1), ('decrement', 'notTraced-nonXla', 150, 170, 2),
         ('decrement', 'traced-nonXla', 200, 280, 3)],
        [('decrement', 'traced-nonXla', 20, 120, 2), ('decrement', 'notTraced-nonXla', 160, 180, 2),
         ('decrement', 'traced-xla', 210, 290, 4)]),
         [('decrement', 'MIXED', 4, 90.0, 'TRACED', 4, 360),
          ('decrement', 'MIXED', 4, 90.0, 'NOT_TRACED', 2, 40)])
    same(functions([('outer', 'traced-nonXla', 10, 110, 1), ('inner', 'notTraced-xla', 30, 70, 0)]),
         [('inner', 'XLA', 0, 0.0, 'NOT_TRACED', 1, 40),
          ('outer', 'OTHER', 1, 100.0, 'TRACED', 1, 60)])
    same(functions([('f', 'eager', 0, 200, 0), ('g', 'concrete', 300, 340, 0),
                    ('h', 'something', 400, 410, 0)]),
         [('f', 'INVALID', 0, 100.0, 'EAGER', 1, 200), ('g', 'INVALID', 0, 0.0, 'CONCRETE', 1, 40),
          ('h', 'INVALID', 0, 0.0, 'INVALID', 1, 10)])
    same(len(functions([('f', 'eager', i * 3, i * 3 + 5, 0) for i in range(100)])), 1,
         'calls that cross')


@case
def expensive_functions():
    """Functions whose calls are expensive for a fifth of their time or more are named, the worst
    first, at most three."""
    def named(**percent):
        calls, at = [], 0
        for name, expensive in percent.items():
            for how, length in ('traced-nonXla', expensive), ('notTraced-nonXla', 100 - expensive):
                calls.append((name, at, length, {'tf_function_call': {'str': how}}))
                at += length
        plane = Plane('/host:CPU').line(1, 'thread', calls)
        found = [r['statement'] for r in ask("SELECT statement FROM recommendations('{x}') "
                                             "WHERE code = 'tf_function'", x=space(plane.bytes()))]
        return [next(name for name in percent if name in text) for text in found]
    same(named(f_one=19, f_two=20), ['f_two'])
    same(named(f_one=21, f_two=50, f_three=20, f_four=90), ['f_four', 'f_two', 'f_one'])
