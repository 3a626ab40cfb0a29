# SPDX-License-Identifier: Apache-2.0
"""collectives: time of a collective op on all devices, and waiting for peers."""
from lib import hlo
from lib.cases import case, same
from lib.shell import rows
from lib.wire import L, Plane, V, space


def core(index, *ops):
    """ops: (name, category, begin, end)."""
    plane = Plane('/device:TPU:%d' % index, index + 1)
    events = [(plane.meta('%' + name, name, {'hlo_category': {'str': category}, 'program_id': {'uint64': 5}}), begin, end - begin) for name, category, begin, end in ops]
    plane.line(3, 'XLA Ops', events)
    return plane.bytes()


@case
def waiting_for_peers():
    """The first device waits for the last; an op in two parts lasts from begin to end."""
    data = space(core(0, ('all-reduce.1', 'all-reduce', 100, 200), ('fusion.1', 'loop fusion', 200, 300), ('all-reduce.1', 'all-reduce', 300, 450), ('all-gather-start.2', 'all-gather', 500, 510), ('all-gather-done.2', 'all-gather', 580, 600)),
                 core(1, ('all-reduce.1', 'all-reduce', 150, 200), ('all-reduce.1', 'all-reduce', 290, 450), ('all-gather-start.2', 'all-gather', 505, 510), ('all-gather-done.2', 'all-gather', 520, 600), ('reduce-scatter.3', 'reduce-scatter fusion', 600, 700)))
    same(rows("SELECT plane, name, kind, occurrences, total_ps, min_ps, max_ps, wait_ps FROM collectives('{x}') ORDER BY plane, name", data),
         [('/device:TPU:0', 'all-gather-start.2', 'all-gather', 1, 100, 100, 100, 5), ('/device:TPU:0', 'all-reduce.1', 'all-reduce', 2, 250, 100, 150, 50),
          ('/device:TPU:1', 'all-gather-start.2', 'all-gather', 1, 95, 95, 95, 0), ('/device:TPU:1', 'all-reduce.1', 'all-reduce', 2, 210, 50, 160, 10),
          ('/device:TPU:1', 'reduce-scatter.3', 'reduce-scatter', 1, 100, 100, 100, None)])


@case
def unequal_peers():
    """Devices that ran an op unequally often do not tell who waited."""
    data = space(core(0, ('all-reduce.1', 'all-reduce', 100, 200), ('all-reduce.1', 'all-reduce', 300, 450)), core(1, ('all-reduce.1', 'all-reduce', 150, 200)))
    same(rows("SELECT plane, occurrences, wait_ps FROM collectives('{x}') ORDER BY plane", data), [('/device:TPU:0', 2, None), ('/device:TPU:1', 1, None)])


STARTS = (100, 150, 300, 200)  # of four devices in one all-reduce, which ends at 400


def waits_of_cores(op, first_id=None):
    """wait_ps and group_size of the cores, whose op is written so."""
    planes = []
    for i, begin in enumerate(STARTS):
        details = {} if first_id is None else {'core_details': {'bytes': V(5, first_id + i) + V(6, first_id + i)}}
        plane = Plane('/device:TPU:%d' % i, i + 1, details)
        meta = plane.meta('%x.1 = f32[8]{0} ' + op, 'x.1', {'hlo_category': {'str': op.partition('(')[0]}})
        planes.append(plane.line(3, 'XLA Ops', [(meta, begin, 400 - begin)]).bytes())
    found = rows("SELECT wait_ps, group_size FROM collectives('{x}') ORDER BY plane", space(*planes))
    return [wait for wait, _ in found], found[0][1]


@case
def waiting_in_groups():
    """Only members of one's own group are waited for, and only those of the host."""
    reduce = 'all-reduce(f32[8]{0} %%a), channel_id=1, replica_groups=%s, use_global_device_ids=true, to_apply=%%add'
    same(waits_of_cores(reduce % '{{0,1},{2,3}}'), ([50, 0, 0, 100], 2))
    same(waits_of_cores(reduce % '[2,2]<=[4]'), ([50, 0, 0, 100], 2), 'numbers in order')
    same(waits_of_cores(reduce % '[2,2]<=[2,2]T(1,0)'), ([200, 50, 0, 0], 2), 'of the transposed array: {0,2}, {1,3}')
    same(waits_of_cores(reduce % '{{0,1,2,3}}'), ([200, 150, 0, 100], 4))
    same(waits_of_cores(reduce % '{}'), ([200, 150, 0, 100], None), 'all')
    same(waits_of_cores('all-reduce(f32[8]{0} %a), to_apply=%add'), ([200, 150, 0, 100], None), 'unknown: all of the host')
    same(waits_of_cores(reduce % '{{0},{1},{2},{3}}'), ([None] * 4, 1), 'alone')
    same(waits_of_cores(reduce % '{{0,1,2}}'), ([200, 150, 0, None], 3), 'one takes no part')
    same(waits_of_cores('collective-permute(f32[8]{0} %a), channel_id=3, source_target_pairs={{0,1},{1,0},{2,3}}'), ([50, 0, 0, 100], None))
    same(waits_of_cores('collective-permute(f32[8]{0} %a), channel_id=3, source_target_pairs={{0,1},{1,2}}'), ([50, 150, 0, None], None), 'its source and its target')
    same(waits_of_cores(reduce % '[4,2]<=[2,4]T(1,0)', 4), ([None] * 4, 2), 'peers i and i + 4 are on two hosts')
    same(waits_of_cores(reduce % '{{0,1},{2,3}}', 4), ([None] * 4, 2), 'other devices')
    same(waits_of_cores(reduce % '{{4,5},{6,7}}', 4), ([50, 0, 0, 100], 2), 'by the number of the core among all hosts')
    same(waits_of_cores(reduce % '{{0,4},{1,5},{2,6},{3,7}}'), ([None] * 4, 2), 'more devices than the host has: unknown which are here')
    same(waits_of_cores(reduce % '[4,2]<=[0,4]T(1,7)')[1], None, 'nonsense')
    same(waits_of_cores(reduce % '[99999999999999999999,2]<=[9223372036854775807,9223372036854775807]')[1], None, 'nonsense')


@case
def collectives_of_programs():
    """Kernels of two programs are two collectives. Their instructions say what they move, and whom they wait for."""
    groups = [L(49, hlo.ints(1, 0, 1)), L(49, hlo.ints(1, 2, 3))]
    f32 = hlo.shape(hlo.F32, 8)
    add = hlo.instruction(1, 'a', 'parameter', f32)
    of_program = lambda more, assigned: L(1, hlo.module('m', hlo.computation(1, 'main', [add, hlo.instruction(2, 'all-reduce-start.1', 'all-reduce-start', f32, [1], more=more)], 2), more=assigned))
    # partitions 0..3 run on devices 0, 2, 1, 3: the groups are devices 0 and 2, 1 and 3
    partitions = L(15, V(1, 1) + V(2, 4) + b''.join(L(3, hlo.ints(1, n)) for n in (0, 2, 1, 3)))
    replicas = L(15, V(1, 4) + V(2, 1) + L(3, hlo.ints(1, 0, 1, 2, 3)))
    programs = Plane('/host:metadata', 9)
    programs.meta('m(1)', stats={'Hlo Proto': {'bytes': of_program(b''.join(groups) + V(26, 5) + V(71, 1), partitions)}}, key=1)
    programs.meta('m(2)', stats={'Hlo Proto': {'bytes': of_program(b''.join(groups), replicas)}}, key=2)
    planes = []
    for i, begin in enumerate(STARTS):
        plane = Plane('/device:GPU:%d' % i, i + 1)
        stats = lambda program: {'hlo_op': {'ref': 'all-reduce-start.1'}, 'program_id': {'uint64': program}}
        name = 'ncclDevKernel_SendRecv'
        planes.append(plane.line(7, 'Stream #7', [(name, begin, 400 - begin, stats(1)), (name, 1000 + begin, 400 - begin, stats(2)), (name, 2000 + begin, 10)]).bytes())
    found = rows("SELECT program_id, hlo_op, kind, bytes, group_size, group_concat(coalesce(wait_ps, '-')) FROM (SELECT * FROM collectives('{x}') ORDER BY plane) GROUP BY program_id", space(*planes, programs.bytes()))
    same(found, [(None, None, 'collective-permute', None, None, '10,10,0,10'), ('1', 'all-reduce-start.1', 'all-reduce', 32, 2, '200,50,0,0'), ('2', 'all-reduce-start.1', 'all-reduce', 32, 2, '50,0,0,100')])
