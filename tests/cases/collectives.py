# SPDX-License-Identifier: Apache-2.0
"""collectives: time of a collective op on all devices, and waiting for peers."""
from lib import hlo
from lib.cases import case, same
from lib.shell import attached, rows
from lib.wire import L, Plane, V, space


def core(index, *ops):
    """ops: (name, category, begin, end)."""
    plane = Plane('/device:TPU:%d' % index, index + 1)
    events = [(plane.meta('%' + name, name,
                          {'hlo_category': {'str': category}, 'program_id': {'uint64': 5}}), begin,
               end - begin) for name, category, begin, end in ops]
    plane.line(3, 'XLA Ops', events)
    return plane.bytes()


@case
def waiting_for_peers():
    """The first device waits for the last; an op in two parts lasts from begin to end."""
    data = space(
        core(0, ('all-reduce.1', 'all-reduce', 100, 200), ('fusion.1', 'loop fusion', 200, 300), (
            'all-reduce.1', 'all-reduce', 300, 450), ('all-gather-start.2', 'all-gather', 500, 510),
             ('all-gather-done.2', 'all-gather', 580, 600)),
        core(1, ('all-reduce.1', 'all-reduce', 150, 200), ('all-reduce.1', 'all-reduce', 290, 450),
             ('all-gather-start.2', 'all-gather', 505, 510),
             ('all-gather-done.2', 'all-gather', 520, 600),
             ('reduce-scatter.3', 'reduce-scatter fusion', 600, 700)))
    same(rows("SELECT plane, name, kind, occurrences, total_ps, min_ps, max_ps, wait_ps "
              "FROM collectives('{x}') ORDER BY plane, name", data),
         [('/device:TPU:0', 'all-gather-start.2', 'all-gather', 1, 100, 100, 100, 5),
          ('/device:TPU:0', 'all-reduce.1', 'all-reduce', 2, 250, 100, 150, 50),
          ('/device:TPU:1', 'all-gather-start.2', 'all-gather', 1, 95, 95, 95, 0),
          ('/device:TPU:1', 'all-reduce.1', 'all-reduce', 2, 210, 50, 160, 10),
          ('/device:TPU:1', 'reduce-scatter.3', 'reduce-scatter', 1, 100, 100, 100, None)])


@case
def unequal_peers():
    """If devices ran an op different numbers of times, the waits are unknown."""
    data = space(core(0, ('all-reduce.1', 'all-reduce', 100, 200),
                      ('all-reduce.1', 'all-reduce', 300, 450)),
                 core(1, ('all-reduce.1', 'all-reduce', 150, 200)))
    same(rows("SELECT plane, occurrences, wait_ps FROM collectives('{x}') ORDER BY plane", data),
         [('/device:TPU:0', 2, None), ('/device:TPU:1', 1, None)])


STARTS = (100, 150, 300, 200)  # of four devices in one all-reduce, which ends at 400


def waits_of_cores(op, first_id=None, hosts=1):
    """wait_ps and group_size of the cores, whose op is written so, on so many hosts."""
    planes = []
    for i, begin in enumerate(STARTS):
        details = {} if first_id is None else {'core_details': {'bytes': V(5, first_id + i)
                                                                + V(6, first_id + i)}}
        plane = Plane('/device:TPU:%d' % i, i + 1, details)
        meta = plane.meta('%x.1 = f32[8]{0} ' + op, 'x.1',
                          {'hlo_category': {'str': op.partition('(')[0]}})
        planes.append(plane.line(3, 'XLA Ops', [(meta, begin, 400 - begin)]).bytes())
    n = len(planes) // hosts
    found = rows("SELECT wait_ps, group_size FROM collectives('{x}') ORDER BY plane",
                 [space(*planes[i:i + n]) for i in range(0, len(planes), n)])
    return [wait for wait, _ in found], found[0][1]


@case
def waiting_in_groups():
    """A device waits only for members of its own group on its host."""
    reduce = ('all-reduce(f32[8]{0} %%a), channel_id=1, replica_groups=%s, '
              'use_global_device_ids=true, to_apply=%%add')
    same(waits_of_cores(reduce % '{{0,1},{2,3}}'), ([50, 0, 0, 100], 2))
    same(waits_of_cores(reduce % '{{3,2},{1,0}}'), ([50, 0, 0, 100], 2), 'in another order')
    same(waits_of_cores(reduce % '{{1,0},{3,2}}'), ([50, 0, 0, 100], 2), 'in another order')
    same(waits_of_cores(reduce % '[2,2]<=[4]'), ([50, 0, 0, 100], 2), 'numbers in order')
    same(waits_of_cores(reduce % '[2,2]<=[2,2]T(1,0)'), ([200, 50, 0, 0], 2),
         'of the transposed array: {0,2}, {1,3}')
    same(waits_of_cores(reduce % '{{0,1,2,3}}'), ([200, 150, 0, 100], 4))
    same(waits_of_cores(reduce % '{}'), ([200, 150, 0, 100], None), 'all')
    same(waits_of_cores('all-reduce(f32[8]{0} %a), to_apply=%add'), ([200, 150, 0, 100], None),
         'unknown: all of the host')
    same(waits_of_cores(reduce % '{{0},{1},{2},{3}}'), ([None] * 4, 1), 'alone')
    same(waits_of_cores(reduce % '{{0,1,2}}'), ([200, 150, 0, None], 3), 'one takes no part')
    same(waits_of_cores('collective-permute(f32[8]{0} %a), channel_id=3, '
                        'source_target_pairs={{0,1},{1,0},{2,3}}'), ([50, 0, 0, 100], None))
    same(waits_of_cores('collective-permute(f32[8]{0} %a), channel_id=3, '
                        'source_target_pairs={{0,1},{1,2}}'), ([50, 150, 0, None], None),
         'its source and its target')
    same(waits_of_cores(reduce % '[4,2]<=[2,4]T(1,0)', 4), ([None] * 4, 2),
         'peers i and i + 4 are on two hosts')
    same(waits_of_cores(reduce % '{{0,1},{2,3}}', 4), ([None] * 4, 2), 'other devices')
    same(waits_of_cores(reduce % '{{4,5},{6,7}}', 4), ([50, 0, 0, 100], 2),
         'by the number of the core among all hosts')
    same(waits_of_cores(reduce % '{{0,4},{1,5},{2,6},{3,7}}'), ([None] * 4, 2),
         'more devices than the host has: unknown which are here')
    same(waits_of_cores(reduce % '{}', hosts=2), ([50, 0, 0, 100], None),
         'all, whichever number a core has')
    same(waits_of_cores(reduce % '{{0,1,2,3}}', hosts=2), ([None] * 4, 4), 'unknown which they are')
    for nonsense in ('[4,2]<=[0,4]T(1,7)', '[2,2]<=[2,2]T(0)'):
        same(waits_of_cores(reduce % nonsense)[1], None, nonsense)
    same(waits_of_cores(reduce
                        % '[99999999999999999999,2]<=[9223372036854775807,9223372036854775807]')[1],
         None, 'nonsense')


@case
def collectives_of_programs():
    """Kernels of two programs are two collectives. Their instructions have the bytes and the
    groups."""
    groups = [L(49, hlo.ints(1, 0, 1)), L(49, hlo.ints(1, 2, 3))]
    f32 = hlo.shape(hlo.F32, 8)
    add = hlo.instruction(1, 'a', 'parameter', f32)
    of_program = lambda more, assigned: L(1, hlo.module('m', hlo.computation(1, 'main', [
        add, hlo.instruction(2, 'all-reduce-start.1', 'all-reduce-start', f32, [1], more=more)], 2),
                                                        more=assigned))
    # partitions 0..3 run on devices 0, 2, 1, 3: the groups are devices 0 and 2, 1 and 3
    partitions = L(15, V(1, 1) + V(2, 4) + b''.join(L(3, hlo.ints(1, n)) for n in (0, 2, 1, 3)))
    replicas = L(15, V(1, 4) + V(2, 1) + L(3, hlo.ints(1, 0, 1, 2, 3)))
    programs = Plane('/host:metadata', 9)
    programs.meta('m(1)', stats={'Hlo Proto': {'bytes': of_program(b''.join(groups) + V(26, 5)
                                                                   + V(71, 1), partitions)}}, key=1)
    programs.meta('m(2)', stats={'Hlo Proto': {'bytes': of_program(b''.join(groups), replicas)}},
                  key=2)
    planes = []
    for i, begin in enumerate(STARTS):
        plane = Plane('/device:GPU:%d' % i, i + 1)
        stats = lambda program: {'hlo_op': {'ref': 'all-reduce-start.1'},
                                 'program_id': {'uint64': program}}
        name = 'ncclDevKernel_SendRecv'
        planes.append(plane.line(7, 'Stream #7', [(name, begin, 400 - begin, stats(1)), (
            name, 1000 + begin, 400 - begin, stats(2)), (name, 2000 + begin, 10)]).bytes())
    found = rows("SELECT program_id, hlo_op, kind, bytes, group_size, "
                 "group_concat(coalesce(wait_ps, '-')) FROM (SELECT * FROM collectives('{x}') "
                 "ORDER BY plane) GROUP BY program_id", space(*planes, programs.bytes()))
    same(found, [(None, None, 'collective-permute', None, None, '10,10,0,10'),
                 ('1', 'all-reduce-start.1', 'all-reduce', 32, 2, '200,50,0,0'),
                 ('2', 'all-reduce-start.1', 'all-reduce', 32, 2, '50,0,0,100')])


@case
def bandwidth_of_the_bus():
    """Sizes and bandwidths as NCCL's tests define them: 8 devices, 1 KiB from each in 1 ns, 4 of a
    group.

    An all-gather's message is what each receives; a permutation has no factor."""
    kinds = [('all-reduce', 1024, 1.5), ('all-gather', 4096, 0.75), ('reduce-scatter', 1024, 0.75),
             ('all-to-all', 1024, 0.75), ('collective-broadcast', 1024, 1),
             ('ragged-all-to-all', None, None), ('collective-permute', 1024, 1)]
    four, gibps = 'replica_groups={{0,1,2,3},{4,5,6,7}}', 1024 / 2 ** 30 / 1e-9
    for kind, message, factor in kinds:
        groups = 'source_target_pairs={{0,1}}' if kind == 'collective-permute' else four
        plane = Plane('/device:TPU:0')
        meta = plane.meta('%%x.1 = f32[8]{0} %s(f32[256]{0} %%a), channel_id=1, %s, '
                          'use_global_device_ids=true' % (kind, groups), 'x.1',
                          {'hlo_category': {'str': kind}, 'bytes_accessed': {'uint64': 2048},
                           'program_id': {'uint64': 1}})
        f32 = hlo.shape(hlo.F32, 256)
        more = L(52, V(2, 1)) if kind == 'collective-permute' else L(
            49, hlo.ints(1, 0, 1, 2, 3)) + L(49, hlo.ints(1, 4, 5, 6, 7)) + V(26, 5) + V(71, 1)
        module = hlo.module('m', hlo.computation(1, 'main', [hlo.instruction(
            1, 'a', 'parameter', f32), hlo.instruction(2, 'x.1', kind, f32, [1], more=more)], 2))
        programs = Plane('/host:metadata', 9)
        programs.meta('m(1)', stats={'Hlo Proto': {'bytes': L(1, module)}}, key=1)
        data = space(plane.line(3, 'XLA Ops', [(meta, 0, 1000), (meta, 2000, 1000)]).bytes(),
                     programs.bytes())
        got = rows("SELECT kind, bytes, message_bytes, group_size, algorithm_gibps, bus_gibps, "
                   "bandwidth_gibps FROM collectives('{x}')", data)[0]
        same(got[:4], (kind, 1024, message, None if kind == 'collective-permute' else 4))
        near = lambda a, b: (a is None and b is None) or (a is not None and b is not None
                                                          and abs(a - b) < 1e-9 * b)
        same([near(got[4], message and gibps * message / 1024),
              near(got[5], factor and gibps * message / 1024 * factor), near(got[6], gibps)],
             [True] * 3, '%s %s' % (kind, got))


@case
def groups_of_several_sizes():
    """Two groups of different size have no common size; then no factor is known."""
    found = lambda groups: rows("SELECT group_size, bus_gibps IS NULL FROM collectives('{x}')",
                                space(core_with('all-reduce(f32[8]{0} %%a), channel_id=1, '
                                                'replica_groups=%s, '
                                                'use_global_device_ids=true' % groups)))
    same([found(g) for g in ('{{0,1},{2}}', '{{0},{1,2},{3,4,5}}', '{{0,1},{2,3}}')],
         [[(None, 1)], [(None, 1)], [(2, 0)]])


def core_with(op, number=0, begins=(0,), name='/device:TPU:%d'):
    details = {'core_details': {'bytes': V(5, number) + V(6, number)}}
    plane = Plane(name % number, number + 1, details)
    meta = plane.meta('%x.1 = f32[8]{0} ' + op, 'x.1',
                      {'hlo_category': {'str': op.partition('(')[0]}})
    return plane.line(3, 'XLA Ops', [(meta, begin, 1000) for begin in begins]).bytes()


@case
def waiting_over_hosts():
    """Devices 0, 1 of a host and 2, 3 of another, whose session starts 1 us later. Each waits for
    the last of its group on all hosts."""
    def waits(groups, starts=(5000, 6000), op='all-reduce(f32[8]{0} %%a), channel_id=1, '
              'replica_groups=%s, use_global_device_ids=true', source='x', counts=(1, 1, 1, 1)):
        hosts = []
        for start, first, begins in ((starts[0], 0, (1000200, 1000100)), (starts[1], 2, (700, 0))):
            planes = [core_with(op % groups, first + i,
                                [begin + 10 ** 7 * k for k in range(counts[first + i])])
                      for i, begin in enumerate(begins)]
            hosts.append(space(*planes, Plane('Task Environment', 90, {
                'profile_start_time': {'uint64': start}} if start else {}).bytes()))
        return attached("SELECT wait_ps, global_wait_ps, spans_hosts FROM collectives('%s') "
                        "ORDER BY host, plane" % source, x=hosts)
    same(waits('{{0,1,2,3}}'), [(0, 500, 1), (100, 600, 1), (0, 0, 1), (700, 700, 1)])
    same(waits('{{0,1},{2,3}}'), [(0, 0, 0), (100, 100, 0), (0, 0, 0), (700, 700, 0)],
         'groups within hosts')
    same(waits('{{0,3},{1,2}}'), [(None, 0, 1), (None, 600, 1), (None, 0, 1), (None, 200, 1)],
         'groups over hosts')
    same(waits('{{0,1,2,3}}', (5000, 7000)),
         [(0, 1000, 1), (100, 1000, 1), (0, 0, 1), (700, 700, 1)], 'no longer than it lasts')
    same(waits('{{0,1,2,3}}', (5000, 0)),
         [(0, None, None), (100, None, None), (0, None, None), (700, None, None)], 'unknown start')
    same(waits('{{0,3},{1,2}}', counts=(1, 2, 1, 1)),
         [(None, 0, 1), (None, None, None), (None, None, None), (None, 200, 1)], 'unequally often')
    pairs = 'collective-permute(f32[8]{0} %%a), channel_id=1, source_target_pairs=%s'
    same(waits('{{0,3},{3,0},{1,1}}', op=pairs),
         [(None, 0, 1), (None, None, None), (None, None, None), (None, 200, 1)], 'pairs')
    same(waits('{{0,1},{1,2}}', op=pairs),
         [(0, 0, 0), (100, 600, 1), (None, 0, 1), (None, None, None)], 'a chain')
    same(waits('{{0,1,2,3}}', source='x/host0'), [(0, None, None), (100, None, None)],
         'one host of several')


def waits_of_program(fields, opcode='all-reduce', partitions=((0,), (2,), (1,), (3,)), name='x.1',
                     others=()):
    """group_size and wait_ps of four devices in a collective of a program: its instruction's
    further fields, and the devices of each partition's replicas."""
    f32 = hlo.shape(hlo.F32, 8)
    assigned = L(15, V(1, len(partitions[0])) + V(2, len(partitions)) + b''.join(
        L(3, hlo.ints(1, *devices)) for devices in partitions)) if partitions else b''
    main = hlo.computation(1, 'main', [hlo.instruction(1, 'a', 'parameter', f32),
                                       hlo.instruction(2, name, opcode, f32, [1], more=fields)], 2)
    programs = Plane('/host:metadata', 9)
    programs.meta('m(1)', stats={'Hlo Proto': {'bytes': L(1, hlo.module('m', main, *others,
                                                                        more=assigned))}}, key=1)
    stats = {'hlo_op': {'ref': name}, 'program_id': {'uint64': 1}}
    planes = [Plane('/device:GPU:%d' % i, i + 1).line(7, 'Stream #7', [
        ('ncclKernel_AllReduce', begin, 400 - begin, stats)]) for i, begin in enumerate(STARTS)]
    found = rows("SELECT group_size, wait_ps, kind, bytes FROM collectives('{x}') ORDER BY plane",
                 space(*(p.bytes() for p in planes), programs.bytes()))
    return found[0][0], [wait for _, wait, _, _ in found], found[0][2:]


@case
def forms_of_groups():
    """Groups as lists, as an array of numbers reshaped and transposed, in each of the fields that
    XLA has for them, and along axes of a mesh or parts of axes; all devices if there are none."""
    def listed(*groups):
        return b''.join(L(1, hlo.ints(1, *g)) for g in groups)

    def array(groups, size, dims, transpose=()):
        return V(1, groups) + V(2, size) + hlo.ints(3, *dims) + hlo.ints(4, *transpose)

    def mesh(sizes, axes, ids=(), dims=(), order=()):
        """axes: of a group, each a number, or (number, size of the parts before, size)."""
        devices = (hlo.ints(2, *ids) if ids else b'') + (
            L(3, hlo.ints(1, *dims) + hlo.ints(2, *order)) if dims else b'')
        return device + L(93, L(1, b''.join(
            L(1, L(1, 'axis %d' % i) + V(2, n)) for i, n in enumerate(sizes)) + devices) + b''.join(
                L(2, V(1, a) if isinstance(a, int) else V(1, a[0]) + L(2, V(1, a[1]) + V(2, a[2])))
                for a in axes))
    # channel_id, use_global_device_ids: the ids are places in the assignment, partitions are on
    # devices 0, 2, 1, 3
    device = V(26, 5) + V(71, 1)
    # of a program on 6 devices, it is unknown which of them the file's 4 are
    same(waits_of_program(device + L(87, listed((0, 1), (2, 3), (4, 5))), partitions=(
        (0,), (2,), (1,), (3,), (4,), (5,)))[:2], (2, [None] * 4))
    rows_of_2, columns, nonsense = array(2, 2, (4,)), array(2, 2, (2, 2),
                                                            (1, 0)), array(2, 2, (2, 2), (0, 0))
    pairs, across, everyone = (2, [200, 50, 0, 0]), (2, [50, 0, 0, 100]), (4, [200, 150, 0, 100])
    for what, fields, want in [
        ('a list of devices', device + L(87, listed((0, 1), (2, 3))), pairs),
        ('an array', device + L(92, rows_of_2), pairs),
        ('in the list of devices', device + L(87, L(2, rows_of_2)), pairs),
        ('transposed', device + L(92, columns), across),
        ('transposed in the list', device + L(87, L(2, columns)), across),
        ('none', device, everyone),
        ('an axis twice', device + L(92, nonsense), (None, everyone[1])),
        ('more axes in the order than there are', device + L(92, array(2, 2, (4,), (0, 1))),
         (None, everyone[1])),
        ('fewer', device + L(92, array(2, 2, (2, 2), (1,))), (None, everyone[1])),
        ('another number', device + L(92, array(2, 2, (3,))), (None, everyone[1])),
        ('33 axes', device + L(92, array(2, 2, (1,) * 32 + (4,))), (None, everyone[1])),
        ('32', device + L(92, array(2, 2, (1,) * 31 + (4,))), pairs),
        ('no mesh', device + L(93, b''), (None, everyone[1])),
        ('the last axis of a mesh', mesh((2, 2), [1]), pairs),
        ('its first', mesh((2, 2), [0]), across),
        ('both', mesh((2, 2), [1, 0]), everyone),
        ('an axis of one', mesh((2, 1, 2), [2, 1]), pairs),
        ('the end of an axis', mesh((4,), [(0, 2, 2)]), pairs),
        ('its beginning', mesh((4,), [(0, 1, 2)]), across),
        ('all parts of it', mesh((4,), [(0, 1, 2), (0, 2, 2)]), everyone),
        ('a mesh of listed devices', mesh((2, 2), [1], ids=(0, 2, 1, 3)), across),
        ('a mesh of transposed devices', mesh((2, 2), [1], dims=(2, 2), order=(1, 0)), across),
        ('a mesh of transposed devices of another rank',
         mesh((4,), [(0, 2, 2)], dims=(2, 2), order=(1, 0)), across),
        ('an axis of the mesh twice', mesh((2, 2), [1, 1]), (None, everyone[1])),
        ('parts that overlap', mesh((4,), [(0, 1, 4), (0, 2, 2)]), (None, everyone[1])),
        ('a part that does not fit', mesh((4,), [(0, 1, 3)]), (None, everyone[1])),
        ('a part before the axis', mesh((4,), [(0, 0, 2)]), (None, everyone[1])),
        ('an axis that is not there', mesh((2, 2), [2]), (None, everyone[1])),
        ('too few devices', mesh((2, 2), [1], ids=(0, 1)), (None, everyone[1])),
        ('too few transposed', mesh((2, 2), [1], dims=(2,), order=(0,)), (None, everyone[1])),
        ('no order of them', mesh((2, 2), [1], dims=(2, 2), order=(0,)), (None, everyone[1])),
        ('axes beyond all numbers', mesh((2**40, 2**40), [0, 1]), (None, everyone[1])),
        ('an axis of none', mesh((2, 0), [0]), (None, everyone[1]))]:
        same(waits_of_program(fields)[:2], want, what)
    same(waits_of_program(device, opcode='all-to-all')[2], ('all-to-all', 32),
         'the instruction says its kind, not the kernel')


@case
def size_of_groups():
    """Replicas 0 and 1 of partitions 0 and 1 are on devices 0 and 1, 2 and 3. Ids count replicas
    without a channel, partitions in an all-to-all with one; a reduction's replicas exchange with
    all their partitions unless use_global_device_ids counts devices."""
    replicas, channel, device = ((0, 1), (2, 3)), V(26, 5), V(26, 5) + V(71, 1)
    alone, both = L(49, hlo.ints(1, 0)) + L(49, hlo.ints(1, 1)), L(49, hlo.ints(1, 0, 1))
    everyone = (4, [200, 150, 0, 100])
    for what, fields, opcode, want in [
        ('replicas', both, 'all-reduce', (2, [50, 0, 0, 100])),
        ('all replicas', b'', 'all-reduce', (2, [50, 0, 0, 100])),
        ('partitions', channel + both, 'all-to-all', (2, [200, 50, 0, 0])),
        ('all partitions', channel, 'all-to-all', (2, [200, 50, 0, 0])),
        ('replicas of all partitions', channel + both, 'all-reduce', everyone),
        ('all of them', channel, 'all-reduce', everyone),
        ('one replica, both partitions', channel + alone, 'all-reduce', (2, [200, 50, 0, 0])),
        ('devices', device + L(49, hlo.ints(1, 0, 1)) + L(49, hlo.ints(1, 2, 3)), 'all-reduce',
         (2, [200, 50, 0, 0])), ('all devices', device, 'all-reduce', everyone)]:
        same(waits_of_program(fields, opcode, replicas)[:2], want, what)


@case
def wrapped_collectives():
    """A generic asynchronous op has the groups and the operands of the op that it wraps."""
    f32 = hlo.shape(hlo.F32, 100)
    inner = hlo.instruction(12, 'inner', 'all-to-all', f32, [11],
                            more=V(26, 5) + L(49, hlo.ints(1, 0, 1)) + L(49, hlo.ints(1, 2, 3)))
    wrapped = hlo.computation(10, 'wrapped', [hlo.instruction(11, 'p', 'parameter', f32), inner],
                              12)
    for opcode, want in (('async-start', (2, [200, 50, 0, 0], ('all-to-all', 400))),
                         ('asynchronous', (None, [200, 150, 0, 100], ('all-reduce', None)))):
        same(waits_of_program(hlo.ints(38, 10), opcode, others=[wrapped]), want, opcode)
