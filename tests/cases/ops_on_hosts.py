# SPDX-License-Identifier: Apache-2.0
"""op_metrics of host threads."""
from lib.cases import case, same
from lib.made import host_of
from lib.shell import ask
from lib.wire import Plane, US, space
from cases.ops import metrics, totals


@case
def threads():
    """Ops of two threads; the idle time of the first comes after its ops."""
    data = host_of([('TfOp1:TfOp1', 100 * US, 8 * US)],
                   [('TfOp1:TfOp1', 100 * US, 8 * US), ('TfOp2:TfOp2', 110 * US, 10 * US)])
    same(metrics(data, 'host'), [('TfOp1', 2, 16 * US, 16 * US), ('IDLE', 0, 2 * US, 2 * US),
                                 ('TfOp2', 1, 10 * US, 10 * US)])
    same(totals(data, 'host'), (28 * US, 26 * US))


@case
def equal_ends():
    """A parent stored before a child that ends with it is recorded alone, and what is open around
    it is lost."""
    data = host_of([('G:G', 0, 30 * US), ('P:P', 0, 20 * US), ('B:B', 10 * US, 10 * US)])
    same(metrics(data, 'host'), [('P', 1, 20 * US, 20 * US), ('IDLE', 0, 10 * US, 10 * US)])
    same(totals(data, 'host'), (30 * US, 20 * US))


@case
def adjacent_ops():
    """An op that begins where the one stored before it ends is no child of it; stored the other way
    round it costs it."""
    data = host_of([('A:A', 0, 10), ('B:B', 10, 10)])
    same(metrics(data, 'host'), [('A', 1, 10, 10), ('B', 1, 10, 10), ('IDLE', 0, 0, 0)])


@case
def crossing_ops():
    """Ops that cross each other: only the first to end is recorded, and no time turns negative."""
    data = host_of([('A:A', 0, 10), ('B:B', 5, 10)])
    same(metrics(data, 'host'), [('A', 1, 10, 10), ('IDLE', 0, 5, 5)])


@case
def names_in_stats():
    """A tf_op stat makes an op of any event, also of a name that says nothing."""
    data = host_of([('xla_op', 100 * US, 8 * US, {'tf_op': {'str': 'tf_op'}}),
                    ('xla_op2', 110 * US, 10 * US, {'tf_op': {'ref': 'tf_op2'}})])
    same(metrics(data, 'host', 'name, category, self_ps'),
         [('tf_op', None, 8 * US), ('tf_op2', None, 10 * US), ('IDLE', 'IDLE', 2 * US)])
    same(totals(data, 'host'), (20 * US, 18 * US))


@case
def nested_ops_of_a_region():
    """XProf sorts the events of a thread with a region of a pool: of two ops that start together
    the longer one is outside."""
    region = [('ThreadpoolListener::StartRegion', 20000, 0, {'_c': {'uint64': 242}}),
              ('ThreadpoolListener::StopRegion', 30000, 0)]
    ops = [('a/A:A', 10000, 300), ('b/B:B', 10000, 5000)]
    for names in (('ThreadpoolListener::StartRegion', 'ThreadpoolListener::StopRegion'),
                  ('ThreadpoolListener::StopRegion', 'ThreadpoolListener::StartRegion'),
                  ('a/A:A', 'ThreadpoolListener::StartRegion')):
        plane = Plane('/host:CPU')
        for name in names:  # first in the plane
            plane.meta(name)
        found = metrics(space(plane.line(1, 'pool', ops + region).bytes()), 'host', 'name, self_ps',
                        "AND name <> 'IDLE'")
        same(sorted(found), [('a/A', 300), ('b/B', 4700)])


@case
def input_stages():
    """Stages of tf.data by their ids."""
    def stage(id, name):
        return {'_ipl_stage_id': {'int64': id}, '_ipl_stage_name': {'str': name},
                '_ipl_stage_cat': {'str': 'preprocessing'}}
    data = host_of([('Shuffle', 100 * US, 10 * US, stage(1, 'Shuffle')),
                    ('Map', 100 * US, 8 * US, stage(2, 'Map')),
                    ('Shuffle', 120 * US, 10 * US, stage(3, 'Shuffle')),
                    ('Map', 120 * US, 8 * US, stage(4, 'Map'))])
    rows = metrics(data, 'host', 'program_id, name, category, time_ps, self_ps')
    same(sorted(r for r in rows if r[0]), [('1', 'Shuffle', 'preprocessing', 10 * US, 2 * US),
                                           ('2', 'Map', 'preprocessing', 8 * US, 8 * US),
                                           ('3', 'Shuffle', 'preprocessing', 10 * US, 2 * US),
                                           ('4', 'Map', 'preprocessing', 8 * US, 8 * US)])
    same([r for r in rows if not r[0]], [(None, 'IDLE', 'IDLE', 10 * US, 10 * US)])
    same(totals(data, 'host')[0], 30 * US)


@case
def eager_host_ops():
    """Eager once is eager for good, whatever the order."""
    for first, second in ((1, 0), (0, 1)):
        data = space(Plane('/host:CPU').line(
            1, 't', [('A:A', 0, 1, {'is_eager': {'int64': first}, 'group_id': {'int64': 0}}),
                     ('A:A', 2, 1, {'is_eager': {'int64': second}})]).bytes())
        same(metrics(data, 'host', 'is_eager', "AND name = 'A'"), [(1,)])


@case
def infeed_enqueues():
    """All but the last enqueue of a thread, and the time from begin to begin."""
    data = host_of([('a/enqueue/1:InfeedEnqueueTuple', 100, 10),
                    ('a/enqueue/1:InfeedEnqueueTuple', 300, 20),
                    ('a/enqueue/2:InfeedEnqueue', 600, 40)])
    same(totals(data, 'host', 'infeed_enqueue_ps, infeed_interval_ps'), (30, 500))


@case
def eager_by_the_events_around():
    """Without a stat, an op is eager in an EagerExecute event that runs no function. XProf 2.24.2
    has 17.8 % for this file too."""
    data = space(Plane('/host:CPU').line(1, 't', [
        ('EagerExecute', 0, 10, {'is_func': {'int64': 0}}), ('op_a:A', 1, 8),
        ('EagerExecute', 20, 30, {'is_func': {'int64': 1}}), ('op_b:B', 21, 28),
        ('EagerExecute', 60, 10), ('op_c:C', 61, 4), ('op_d:D', 80, 5)]).bytes())
    same(ask("SELECT name, is_eager FROM trace_events('{x}') WHERE is_eager IS NOT NULL", x=data),
         [{'name': name, 'is_eager': int(name == 'op_a:A')}
          for name in ('op_a:A', 'op_b:B', 'op_c:C', 'op_d:D')])
    same(ask("SELECT value FROM overview('{x}') WHERE name = 'host_op_time_eager_percent'",
             x=data), [{'value': '17.8%'}])


@case
def much_eager_execution():
    """More than a tenth of the op time, on the host or on devices, is worth a recommendation; a
    tenth is not."""
    host = lambda ps: Plane('/host:CPU').line(
        1, 't', [('A:A', 0, ps, {'is_eager': {'int64': 1}, 'group_id': {'int64': 0}}),
                 ('B:B', ps, 100 - ps, {'is_eager': {'int64': 0}})])
    gpu = lambda ps: Plane('/device:GPU:0', 2).line(1, 'Stream #1', [
        ('k', 0, ps, {'tf_op': {'str': 'A:A'}, 'is_eager': {'int64': 1},
                      'kernel_details': {'str': 'regs:1'}}),
        ('k', ps, 100 - ps, {'tf_op': {'str': 'B:B'}, 'kernel_details': {'str': 'regs:1'}})])
    found = lambda plane: [row['code']
                           for row in ask("SELECT code FROM recommendations('{x}') "
                                          "WHERE code LIKE 'eager%'", x=space(plane.bytes()))]
    same([found(host(10)), found(host(11)), found(gpu(10)), found(gpu(11))],
         [[], ['eager_host'], [], ['eager_device']])
