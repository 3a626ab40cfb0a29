# SPDX-License-Identifier: Apache-2.0
"""step_ops, step_op_spread, slow_step_ops and step_variance: what took longer in a slow step, and
what makes steps differ."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space


def rows(data, query):
    return [tuple(r.values()) for r in ask(query, x=data)]


def marked(*steps):
    """A thread with steps of these (start, duration) in ps; each calls for 1 us, as a step without
    events is none."""
    events = []
    for i, (start, length) in enumerate(steps):
        events += [('train', start, length, {'_r': {'int64': 1}, 'step_num': {'int64': i}}),
                   ('call', start, 1000000)]
    return events


def three_steps():
    """Steps of 10, 10 and 30 us; each has op, the last has also 19 us of a compiler, on a thread
    that no group reaches."""
    us = 1000000
    ops = [('op', 1 * us, 2 * us), ('op', 21 * us, 4 * us), ('op', 41 * us, 6 * us),
           ('inner', 42 * us, 1 * us), ('compile', 50 * us, 19 * us), ('after', 71 * us, us)]
    return space(Plane('/host:CPU').line(1, 'main', marked(
        (0, 10 * us), (20 * us, 10 * us), (40 * us, 30 * us))).line(2, 'other', ops).bytes())


@case
def events_by_time():
    """An event of a thread without groups belongs to the step in whose range it starts; after the
    last it belongs to none."""
    same(rows(three_steps(), "SELECT step, plane_kind, name, in_group, occurrences, total_us, "
              "self_us FROM step_ops('{x}') WHERE name <> 'train' AND (name <> 'call' OR step = 1) "
              "ORDER BY step, name"),
         [(0, 'host', 'op', 0, 1, 2.0, 2.0), (1, 'host', 'call', 1, 1, 1.0, 1.0),
          (1, 'host', 'op', 0, 1, 4.0, 4.0), (2, 'host', 'compile', 0, 1, 19.0, 19.0),
          (2, 'host', 'inner', 0, 1, 1.0, 1.0), (2, 'host', 'op', 0, 1, 6.0, 5.0)])


@case
def events_of_one_row():
    """Events of a name and step are one row, also when others lie between; an event that starts
    where a step ends is not of it, and aggregated events are of none."""
    us = 1000000
    ops = [('a', us, us), ('b', 2 * us, us), ('a', 3 * us, us), ('b', 4 * us, us),
           ('edge', 10 * us, us), ('a', 21 * us, us), ('a', 22 * us, us), ('b', 23 * us, us),
           ('a', 24 * us, us), ('sum', None, 5 * us, {}, 3), ('none', None, 5 * us, {}, 0)]
    data = space(Plane('/host:CPU').line(1, 'main', marked((0, 10 * us), (20 * us, 10 * us)))
                 .line(2, 'other', ops).bytes())
    same(rows(data, "SELECT step, name, occurrences, total_us FROM step_ops('{x}') "
              "WHERE name NOT IN ('train', 'call')"),
         [(0, 'a', 2, 2.0), (0, 'b', 2, 2.0), (1, 'a', 3, 3.0), (1, 'b', 1, 1.0)])


@case
def more_than_the_median():
    """What ran in the longest step alone is compared with 0; the median of two is between them."""
    same(rows(three_steps(), "SELECT step, over_median_us, name, self_us, median_us, "
              "difference_us, other_steps FROM slow_step_ops('{x}') "
              "WHERE name NOT IN ('train', 'call')"),
         [(2, 20.0, 'compile', 19.0, 0.0, 19.0, 0), (2, 20.0, 'op', 5.0, 3.0, 2.0, 2),
          (2, 20.0, 'inner', 1.0, 0.0, 1.0, 0)])
    same(rows(three_steps(), "SELECT step, name, difference_us FROM slow_step_ops('{x}', 0) "
              "WHERE name IN ('op', 'compile')"),
         [(0, 'op', -2.5), (0, 'compile', -9.5)])


@case
def short_names_of_one_name():
    """Events of one name with several display names have the last of these in byte order, of all
    steps and hosts."""
    us = 1000000

    def worker(*displays):
        plane = Plane('/host:CPU')
        plane.line(1, 'main', marked((0, 10 * us), (20 * us, 30 * us)))
        return space(plane.line(2, 'other', [(plane.meta('op', display), (1 + 20 * step) * us, us)
                                             for display, step in displays]).bytes())
    for query in ('slow_step_ops', 'step_variance'):
        for hosts in ([worker(('A', 0), ('a', 1)), worker(('b', 1))],
                      [worker(('b', 1)), worker(('A', 0), ('a', 1))]):
            same(rows(hosts, "SELECT short_name FROM %s('{x}') WHERE name = 'op'" % query),
                 [('b',)], query)


@case
def shares_of_the_variance():
    """op has 2, 4 and 5 us in steps of 10, 10 and 30 us: covariance 13.33 of 133.33 is 10 percent.
    All rows make 100."""
    same([(n, round(p, 6)) for n, p in rows(three_steps(), "SELECT name, variance_percent "
                                            "FROM step_variance('{x}') WHERE name IN ('op', "
                                            "'compile', 'inner') ORDER BY name")],
         [('compile', 95.0), ('inner', 5.0), ('op', 10.0)])
    same([round(p, 9) for p, in rows(three_steps(), "SELECT sum(variance_percent) "
                                     "FROM step_variance('{x}')")], [100.0])


@case
def what_only_ran_at_the_time():
    """A client waits 29 us for the last step on a thread of its own: its event comes after those of
    the step's group, though these took 20 us longer at most."""
    us = 1000000
    waits = [('request', 40 * us, 29 * us)]
    data = space(Plane('/host:CPU').line(1, 'main', marked((0, 10 * us), (20 * us, 10 * us), (
        40 * us, 30 * us)) + [('compile', 50 * us, 18 * us)]).line(2, 'other', waits).bytes())
    same(rows(data, "SELECT name, in_group, difference_us FROM slow_step_ops('{x}') WHERE name <> "
              "'call'"), [('compile', 1, 18.0), ('train', 1, 2.0), ('request', 0, 29.0)])
    same(rows(data, "SELECT name, in_group FROM step_variance('{x}', 2)"),
         [('compile', 1), ('train', 1)])
    same(rows(data, "SELECT name, rank FROM slow_step_ops('{x}', NULL, 1)"), [('compile', 1)])


@case
def spread_of_an_op():
    """op has 2, 4 and 5 us in steps of 10, 10 and 30 us. The median without the longest step is 3;
    without the first, 4.5. A number that no step has leaves the columns of one step unknown."""
    asked = ("SELECT steps, avg_us, round(stddev_us, 9), round(variance_percent, 9), step, "
             "over_median_us, occurrences, self_us, median_us, other_steps "
             "FROM step_op_spread('{x}'%s) WHERE name = 'op'")
    all_steps = (3, 11 / 3, 1.527525232, 10.0)
    for argument, of_step in (('', (2, 20.0, 1, 5.0, 3.0, 2)), (', 0', (0, -10.0, 1, 2.0, 4.5, 2)),
                              (', 7', (None,) * 6)):
        same(rows(three_steps(), asked % argument), [all_steps + of_step], argument)
    same(rows(three_steps(), "SELECT name, steps, avg_us, median_us, other_steps "
              "FROM step_op_spread('{x}', 1) WHERE name IN ('compile', 'inner', 'after')"),
         [('compile', 1, 19 / 3, 9.5, 1), ('inner', 1, 1 / 3, 0.5, 1)])


@case
def spread_of_steps_without_variation():
    """One step has no other one; equal steps have no variance to explain."""
    us, columns = 1000000, 'steps, avg_us, stddev_us, variance_percent, over_median_us, median_us'
    for ends, want in (((0,), (1, 1.0, None, None, None, None)),
                       ((0, 20 * us), (2, 1.0, 0.0, None, 0.0, 1.0))):
        plane = Plane('/host:CPU').line(1, 'main', marked(*((at, 10 * us) for at in ends)))
        same(rows(space(plane.bytes()), "SELECT %s FROM step_op_spread('{x}') WHERE name = 'call'"
                  % columns), [want])


@case
def spread_over_hosts():
    """The self times of the two hosts in a step are one value: 3 and 6 us."""
    us = 1000000

    def worker(*lengths):
        ops = [('op', (1 + 20 * i) * us, length * us) for i, length in enumerate(lengths)]
        return space(Plane('/host:CPU').line(1, 'main', marked((0, 10 * us), (20 * us, 15 * us)))
                     .line(2, 'other', ops).bytes())
    same(rows([worker(1, 2), worker(2, 4)], "SELECT steps, avg_us, occurrences, self_us, "
              "median_us, other_steps FROM step_op_spread('{x}') WHERE name = 'op'"),
         [(2, 4.5, 2, 6.0, 3.0, 1)])


@case
def median_of_self_times_below_zero():
    """outer has -3 us in the first step (two calls of 4 us in 5 us overlap), none in the second,
    and 1 us in the third: the median is 0 of -3, 0 and 1. In the longest step it did not run."""
    us = 1000000
    ops = [('outer', us, 5 * us), ('a', us, 4 * us), ('b', 2 * us, 4 * us),
           ('outer', 41 * us, us)]
    steps = ((0, 10 * us), (20 * us, 10 * us), (40 * us, 10 * us), (60 * us, 30 * us))
    data = space(Plane('/host:CPU').line(1, 'main', marked(*steps)).line(2, 'other', ops).bytes())
    same(rows(data, "SELECT self_us FROM step_ops('{x}') WHERE name = 'outer' ORDER BY step"),
         [(-3.0,), (1.0,)])
    same(rows(data, "SELECT occurrences, self_us, median_us, other_steps "
              "FROM step_op_spread('{x}') WHERE name = 'outer'"), [(0, 0.0, 0.0, 2)])
