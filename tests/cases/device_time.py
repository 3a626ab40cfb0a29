# SPDX-License-Identifier: Apache-2.0
"""device_time: what a device does at each moment."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space
from cases.async_ops import tensorcore


TIMES = """SELECT plane, start_ps, span_ps, busy_ps, idle_ps, computing_ps, communicating_ps,
           exposed_communication_ps, transferring_ps, exposed_transfer_ps, exposed_ps
           FROM device_time('{x}')"""


@case
def device_time():
    """Times worked out by hand. Cores of a host share a span; a loop computes where no op in it
    runs; asynchronous ops last from start to done."""
    first = tensorcore([('while.1', 0, 100), ('fusion.1', 10, 20), ('all-reduce.1', 40, 30),
                        ('copy-start.1', 100, 2), ('fusion.2', 102, 48),
                        ('all-gather-start.1', 150, 0),
                        ('copy-done.1', 160, 40), ('infeed.1', 210, 5), ('fusion.3', 215, 35),
                        ('all-gather-done.1', 250, 10), ('all-gather-start.9', 270, 5)])
    second, third = tensorcore([('add', 300, 50)], plane_id=1), tensorcore([], plane_id=2)
    sparse = Plane('/device:TPU:0 SparseCore 0', 9).line(1, 'Sparse Core Ops',
                                                         [('gather', 5, 5, ())])
    rows = ask(TIMES, x=space(first.bytes(), second.bytes(), third.bytes(), sparse.bytes()))
    same([tuple(r.values()) for r in rows], [
        # of both kinds 195 in 40..70, 100..260 and 270..275, of which 83 are hidden
        # computing: 70 of the loop, 48, 35; communicating: 40..70, 150..260 with its done,
        # 270..275: 35 of it hidden by fusion.3; transferring: 100..200, 210..215: fusion.2 hides 48
        ('/device:TPU:0', 0, 350, 245, 105, 153, 145, 110, 105, 57, 112),
        ('/device:TPU:1', 0, 350, 50, 300, 50, 0, 0, 0, 0, 0),
        ('/device:TPU:2',) + (None,) * 10,
        ('/device:TPU:0 SparseCore 0', 5, 5, 5, 0, 5, 0, 0, 0, 0, 0)])
    gpu = Plane('/device:GPU:0')
    gpu.line(1, 'Stream #1', [('gemm', 100, 100, ()), ('gemm', 300, 50, ())]).line(
        2, 'Stream #2', [('ncclDevKernel', 150, 100, ()), ('MemcpyD2D', 240, 80, ())])
    gpu.line(3, 'Steps', [('1', 0, 900, ())]).line(4, '_counters_', [('c', 0, 900, ())])
    same([tuple(r.values()) for r in ask(TIMES, x=space(gpu.bytes()))],
         [('/device:GPU:0', 100, 250, 250, 0, 150, 100, 50, 80, 60, 100)])
    same(ask(TIMES, x=space(Plane('/host:CPU').bytes())), [])
    same([r['code'] for r in ask("SELECT code FROM (SELECT count(*) FROM device_time('{x}')) CROSS "
                                 "JOIN prof_issues('{x}') WHERE message LIKE 'device_time%'",
                                 x=space(Plane('/host:CPU').bytes()))], ['nothing_to_show'])


@case
def parts_of_a_device():
    """Streams one by one, within the device's span; steps add up to it; cores wait for done ops."""
    streams = Plane('/device:GPU:0').line(1, 'Stream #1', [('k', 0, 10)])
    data = space(streams.line(2, 'Stream #2', [('MemcpyH2D', 5, 15)]).bytes())
    columns = ('line, step, start_ps, span_ps, busy_ps, idle_ps, computing_ps, transferring_ps, '
               'exposed_transfer_ps, exposed_ps, waiting_ps')

    def parts(*arguments):
        return [tuple(r.values()) for r in ask("SELECT %s FROM device_time('{x}'%s)" % (
            columns, ''.join(', %d' % a for a in arguments)), x=data)]

    same(parts(), [(None, None, 0, 20, 20, 0, 10, 15, 10, 10, None)])
    same(parts(0, 1), [('Stream #1', None, 0, 20, 10, 10, 10, 0, 0, 0, None),
                       ('Stream #2', None, 0, 20, 15, 5, 0, 15, 15, 15, None)])
    same(parts(1), [(None, None, None, 20, 20, 0, 10, 15, 10, 10, None)], 'no step')
    core = tensorcore([('fusion.1', 0, 100), ('copy-start.1', 100, 2), ('fusion.2', 102, 48),
                       ('copy-done.1', 160, 40), ('fusion.3', 250, 10)])
    data = space(core.bytes(), tensorcore([], plane_id=1).bytes())
    same(parts(), [(None, None, 0, 260, 200, 60, 158, 100, 52, 52, 40),
                   (None,) * 11])
    same(parts(0, 1), [('XLA Ops', None, 0, 260, 200, 60, 158, 42, 42, 42, 40)])
