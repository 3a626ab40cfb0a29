# SPDX-License-Identifier: Apache-2.0
"""Communication that no computation hides."""
import os
import subprocess

from lib.cases import case, same
from lib.shell import DIR, PROFSQL, SQLITE3, ask
from lib.wire import Plane, space
from cases.async_ops import tensorcore
from cases.steps import exposed, group, op


@case
def exposed_on_gpus():
    """A collective or copy belongs to the step that launched it, whatever step runs meanwhile; if
    several run at once, the one that started first counts."""
    work = [('k', 0, 100, group(1, correlation_id=1)), ('k', 200, 100, group(2, correlation_id=2))]
    beside = [('ncclAllReduce', 50, 100, group(1, correlation_id=1)),
              ('ncclAllGather', 250, 100, group(2, correlation_id=2)),
              ('ncclAllReduce', 400, 10, {})]
    late = [('ncclAllReduce', 130, 130, group(1, correlation_id=1)),
            ('MemcpyH2D', 20, 60, group(1, correlation_id=1)),
            ('MemcpyD2H', 20, 90, group(2, correlation_id=2))]
    planes = [Plane('/device:GPU:0', 1).line(1, 'Stream #1', work).line(
        2, 'Stream #2', beside).line(3, 'Stream #3', late),
              Plane('/device:GPU:1', 2).line(1, 'Stream #1', work)]
    for plane in planes:
        plane.line(0xdeadbeef, 'Steps', [('1', 0, 260, group(1)), ('2', 20, 330, group(2))])
    data = space(*[p.bytes() for p in planes])
    # step 1: 50..260, of which 50..100 and 200..260 are hidden; step 2: 260..350, hidden until 300.
    # The longer copy hides the shorter: 20..110, hidden until 100
    same(exposed(data), [('/device:GPU:0', 1, 210, 100, 0, 0), ('/device:GPU:0', 2, 90, 50, 90, 10),
                         ('/device:GPU:0', None, 10, 10, 0, 0)])
    same([tuple(row.values()) for row in ask(
        "SELECT step, dropped, host, plane, step_ms * 1e9 AS ps, "
        "round(exposed_communication_percent, 6) AS of_all, "
        "round(exposed_communication_step_percent, 6) AS share, round(exposed_transfer_percent, "
        "6) AS copies FROM exposed_communication_by_step('{x}')", x=data)],
         [(1, 0, 'x', '/device:GPU:0', 260.0, 47.619048, 38.461538, None),
          (2, 0, 'x', '/device:GPU:0', 330.0, 55.555556, 15.151515, 11.111111),
          (None, None, 'x', '/device:GPU:0', None, 100.0, None, None)])


@case
def unfinished_transfers():
    """A start whose done is not in the file does not count: its time is unknown."""
    core = tensorcore([('copy-start.1', 0, 2), ('fusion.1', 2, 10), ('copy-done.1', 20, 5),
                       ('fusion.2', 30, 5), ('copy-start.1', 40, 2)])
    same([tuple(row.values()) for row in ask(
        "SELECT op, occurrences, total_us * 1e6, exposed_us * 1e6 "
        "FROM exposed_communication('{x}')", x=space(core.bytes()))],
         [('copy-start.1', 1, 25.0, 15.0)])


@case
def exposed_on_tensorcores():
    """Time belongs to the step in whose interval it is: an asynchronous op across the end of a step
    is divided."""
    plane = Plane('/device:TPU:0', 1)
    start, done = (plane.meta('%%all-gather-%s.1 = f32[8]{0} all-gather-%s(f32[8]{0} '
                              '%%%s)' % (half, half, of), 'all-gather-%s.1' % half)
                   for half, of in (('start', 'p'), ('done', 'all-gather-start.1')))
    fusion, feed = op(plane, 'fusion', 'loop fusion', 2), op(plane, 'infeed', 'infeed', 4)
    plane.line(10, 'XLA Ops',
               [(fusion, 0, 40, group(1)), (start, 40, 10, group(1)), (fusion, 50, 100, group(1)),
                (done, 150, 70, group(2)), (feed, 220, 30, group(2)), (fusion, 250, 30, group(2)),
                (feed, 280, 20, {})])
    plane.line(11, 'Steps', [('1', 0, 100, group(1)), ('2', 110, 170, group(2))])
    data = space(plane.bytes())
    # 40..220: of step 1 40..100, 50 of it hidden; outside 100..110, hidden; of step 2 110..220, 40
    # of it hidden
    same(exposed(data), [('/device:TPU:0', 1, 60, 10, 0, 0), ('/device:TPU:0', 2, 110, 70, 30, 30),
                         ('/device:TPU:0', None, 10, 0, 20, 20)])


@case
def exposed_communication():
    """What computing does not hide, by op, including waits of a core, which nothing can hide. Each
    run is counted separately."""
    data = space(tensorcore([
        ('copy-start', 0, 10), ('fusion.1', 10, 30), ('copy-done', 40, 60), ('copy-start', 100, 0),
        ('add', 100, 20), ('copy-done', 120, 0), ('send', 200, 5), ('send-done', 205, 5),
        ('all-reduce.1', 210, 100), ('infeed', 310, 90)]).bytes())
    want = [('all-reduce.1', 'collective', 1, 1, 0.0001, 0.0001, 25, None),
            ('infeed', 'transfer', 1, 1, 0.00009, 0.00009, 22.5, None),
            ('copy-start', 'transfer', 0, 2, 0.00012, 0.00007, 17.5, 'add'),
            ('send', 'collective', 0, 1, 0.00001, 0.00001, 2.5, None)]
    columns = ("op, kind, is_synchronous, occurrences, round(total_us, 9), round(exposed_us, 9), "
               "round(exposed_span_percent, 9), overlapped_by")
    same([tuple(r.values()) for r in ask("SELECT %s FROM exposed_communication('{x}')" % columns,
                                         x=data)], want)
    same([r['op'] for r in ask("SELECT op FROM exposed_communication('{x}') "
                               "ORDER BY rank", x=data)], [w[0] for w in want])
    # 10 copy-start + 60 its done + 10 send + 100 + 90: all that is exposed, of 400
    same(ask("SELECT DISTINCT round(total_exposed_us * 1e6) AS ps, "
             "total_exposed_span_percent AS percent FROM exposed_communication('{x}')", x=data),
         [{'ps': 270.0, 'percent': 67.5}])
    sql = ("SELECT prof_attach('{x}', 'x') NOTNULL AS a, prof_attach('{y}', 'y') NOTNULL AS b; "
           "SELECT run, rank, op, occurrences FROM exposed_communication() WHERE rank < 3")
    paths = {}
    for name in 'xy':
        paths[name] = os.path.join(DIR, 'twice.' + name)
        with open(paths[name], 'wb') as f:
            f.write(data)
    done = subprocess.run([SQLITE3, '-batch', '-list', ':memory:', '-cmd', '.load %s' % PROFSQL,
                           sql.format(**paths)], capture_output=True, text=True, timeout=60)
    same(done.stdout.split()[1:],
         ['%s|%d|%s|1' % (run, i + 1, want[i][0]) for run in 'xy' for i in range(2)], done.stderr)
