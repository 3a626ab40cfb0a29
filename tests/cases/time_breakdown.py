# SPDX-License-Identifier: Apache-2.0
"""time_breakdown: what runs at once on a device."""
from lib.cases import case, same
from lib.shell import rows
from lib.wire import Plane, space
from cases.async_ops import tensorcore
from cases.steps import group

PARTS = ("SELECT activity, duration_ps, waiting_ps, idle_ps FROM time_breakdown('{x}') "
         "WHERE plane_id = 0")


@case
def cores():
    """Parts of the span that another core makes longer. A core waits in done ops; it can be idle
    while asynchronous ops run."""
    data = space(tensorcore([('while.1', 0, 100), ('fusion.1', 10, 20), ('all-reduce.1', 40, 30),
                             ('copy-start.1', 100, 2), ('fusion.2', 102, 48),
                             ('all-gather-start.1', 150, 0), ('copy-done.1', 160, 40),
                             ('infeed.1', 210, 5), ('fusion.3', 215, 35),
                             ('all-gather-done.1', 250, 10),
                             ('all-gather-start.9', 270, 5)]).bytes(),
                 tensorcore([('add', 300, 50)], plane_id=1).bytes())
    same(rows(PARTS, x=data), [
        ('none', 85, 0, 85),  # 260..270, 275..350
        ('computing', 70, 0, 0),  # 0..40, 70..100
        ('communicating', 55, 10, 10),  # 40..70, 200..210, 250..260, 270..275
        ('communicating + transferring', 55, 40, 10),  # 150..200, 210..215
        ('computing + transferring', 48, 0, 0),  # 102..150
        ('computing + communicating', 35, 0, 0),  # 215..250
        ('transferring', 2, 0, 0)])
    # the line alone: 160..200 is copy-done, 150..160 nothing
    same(rows("SELECT line, activity, duration_ps, waiting_ps, idle_ps "
              "FROM time_breakdown('{x}', 0, 1) WHERE plane_id = 0", x=data), [
                  ('XLA Ops', 'computing', 153, 0, 0), ('XLA Ops', 'none', 105, 0, 105),
                  ('XLA Ops', 'transferring', 47, 40, 0), ('XLA Ops', 'communicating', 45, 10, 0)])
    same(rows("SELECT span_percent, sum(duration_us) * 1e6 FROM time_breakdown('{x}') "
              "WHERE plane LIKE '%1' AND activity = 'computing'", x=data), [(100 * 50 / 350, 50)])


@case
def steps_and_streams():
    """By time, a moment belongs to the step that started first; rows of a device and of each stream
    add up to the span."""
    work = [('k', 0, 100, group(1, correlation_id=1)), ('k', 200, 100, group(2, correlation_id=2))]
    beside = [('ncclAllReduce', 50, 300, group(1, correlation_id=1)),
              ('ncclAllReduce', 400, 10, {}), ('MemcpyH2D', 20, 90, group(1, correlation_id=1))]
    plane = Plane('/device:GPU:0', 1).line(1, 'Stream #1', work).line(2, 'Stream #2', beside)
    data = space(plane.line(0xdeadbeef, 'Steps',
                            [('1', 0, 260, group(1)), ('2', 20, 330, group(2))]).bytes())
    same(rows("SELECT step, activity, duration_ps, waiting_ps FROM time_breakdown('{x}', 1)",
              x=data), [
                  (1, 'communicating', 90, None), (1, 'computing + communicating', 60, None),
                  (1, 'computing + communicating + transferring', 50, None),
                  (1, 'computing + transferring', 30, None), (1, 'computing', 20, None),
                  (1, 'communicating + transferring', 10, None),
                  (2, 'communicating', 50, None), (2, 'computing + communicating', 40, None),
                  (None, 'none', 50, None), (None, 'communicating', 10, None)])
    same(rows("SELECT step, line, activity, duration_ps FROM time_breakdown('{x}') "
              "WHERE by_step = 1 AND by_line = 1 AND line_id = 0", x=data), [
                  (1, 'Stream #1', 'computing', 160), (1, 'Stream #1', 'none', 100),
                  (2, 'Stream #1', 'none', 50), (2, 'Stream #1', 'computing', 40),
                  (None, 'Stream #1', 'none', 60)])


@case
def steps_within_others():
    """A moment belongs to the step that started first, even where a shorter step that began later
    is over before it."""
    work = [('k', at, 10, group(step, correlation_id=at + 1))
            for at, step in [(0, 1), (10, 2), (40, 1), (60, 3), (90, 3), (120, 3), (190, 3)]]
    plane = Plane('/device:GPU:0', 1).line(1, 'Stream #1', work)
    data = space(plane.line(0xdeadbeef, 'Steps', [('1', 0, 100, group(1)), ('2', 10, 40, group(2)),
                                                  ('3', 60, 140, group(3))]).bytes())
    same(rows("SELECT step, activity, duration_ps FROM time_breakdown('{x}', 1) ORDER BY 1, 2",
              x=data), [(1, 'computing', 50), (1, 'none', 50), (3, 'computing', 20),
                        (3, 'none', 80)])


@case
def no_span():
    data = space(Plane('/device:GPU:0', 1).line(1, 'Stream #1', [('k', 5, 0, ())]).bytes())
    same(rows("SELECT message FROM (SELECT count(*) FROM time_breakdown('{x}')) CROSS "
              "JOIN prof_issues('{x}') WHERE message LIKE 'time_breakdown%'", x=data),
         [("time_breakdown has no rows: the devices' spans are 0: "
           "all of their work starts and ends at one moment",)])
