# SPDX-License-Identifier: Apache-2.0
"""What a query or a sum leaves out: a row on each side of its conditions."""
from lib.cases import case, same
from lib.hlo import (ALLOC, F32, FREE, allocation, assignment, buffer, computation, instruction,
                     module, proto, shape, trace)
from lib.made import gpu, host
from lib.shell import rows
from lib.wire import L, Plane, US, space

MIB = 1 << 20


@case
def gaps_beside_an_empty_stream():
    """A GPU whose stream has no event is no device with work: gaps are those of a process."""
    idle = Plane('/device:GPU:0').line(1, 'Stream #1', []).bytes()
    busy = host(('a:Add', 0, US), ('b:Add', 3 * US, US)).bytes()
    same(rows("SELECT plane, start_ps, duration_us, before, after FROM idle_gaps('{x}')",
              x=space(idle, busy)), [('/host:CPU', US, 2.0, 'a:Add', 'b:Add')])


@case
def peak_of_the_main_memory():
    """kpi has the peak of memory space 0, however large that of another space is."""
    made = [instruction(1, 'a', 'constant', shape(F32, MIB // 4)),
            instruction(2, 'b', 'negate', shape(F32, MIB), (1,))]
    placed = assignment(
        [buffer(1, MIB, 1), buffer(2, 4 * MIB, 2, color=1)],
        [allocation(0, MIB, [(1, 0, MIB)]), allocation(1, 4 * MIB, [(2, 0, 4 * MIB)], color=1)],
        [trace((ALLOC, 1, 'a'), (FREE, 1, 'b')), trace((ALLOC, 2, 'b'), (FREE, 2, 'b'))])
    program = proto(module('m', computation(1, 'main', made, root=2)), placed)
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': program}}, key=1)
    x = space(plane.bytes(), host(('a', 0, US)).bytes())
    same(rows("SELECT memory_space, peak_heap_mib FROM memory_peaks('{x}') ORDER BY 1", x=x),
         [(0, 1.0), (1, 4.0)])
    same(rows("SELECT peak_memory_mib, peak_memory_of FROM kpi('{x}')", x=x), [(1.0, 'm')])


@case
def a_profile_without_a_plane():
    """Neither a device nor a host recorded anything, and missing says so of both."""
    same(rows("SELECT missing FROM missing('{x}') WHERE missing IN ('work of devices', "
              "'events of host threads')", x=space()),
         [('events of host threads',), ('work of devices',)])


@case
def one_event_is_enough():
    """A host and a GPU of one event each recorded something."""
    gpu = Plane('/device:GPU:0').line(1, 'Stream #1', [('k', 0, US)]).bytes()
    same(rows("SELECT missing FROM missing('{x}') WHERE missing LIKE '%events of host threads%' "
              "OR missing = 'work of devices'", x=space(gpu, host(('a', 0, US)).bytes())), [])


@case
def categories_of_gpu_work_without_a_program():
    """By the type of the framework op, or else by the name; 13 us of one stream without a gap."""
    work = [('k', 1, 'a/MatMul:MatMul'), ('k', 1, ':Add'), ('k', 1, 'a:'), ('ncclAllReduce', 2, ''),
            ('rcclKernel', 1, ''), ('MemcpyH2D', 1, ''), ('MemcpyH2D', 1, ''),
            ('CopyHostToDevice', 1, ''), ('__amd_rocclr_copyBuffer', 1, ''), ('Copying', 1, ''),
            ('Memset', 1, ''), ('__amd_rocclr_fillBufferAligned', 1, '')]
    events, at = [], 0
    for name, length, tf_op in work:
        events.append((name, at * US, length * US, {'tf_op': {'str': tf_op}} if tf_op else {}))
        at += length
    plane = Plane('/device:GPU:0').line(1, 'Stream #1', events)
    got = rows("SELECT category, op_count, occurrences, self_time_us, percent, percent_of_ops "
               "FROM op_time_by_category('{x}')", x=space(plane.bytes()))
    same(got, [(category, ops, n, us, 100 * us / 13, None if category == 'IDLE' else 100 * us / 13)
               for category, ops, n, us in (
                   ('copy', 3, 4, 4.0), (None, 3, 3, 3.0), ('collective', 2, 2, 3.0),
                   ('memset', 2, 2, 2.0), ('MatMul', 1, 1, 1.0), ('IDLE', 1, 0, 0.0))])


@case
def kernels_of_instructions_without_an_op():
    """An instruction without the name of a framework op has no type, though its metadata has one;
    its kernels are those of its own name, and so are those of a host without the program."""
    made = [instruction(1, 'a', 'constant', shape(F32)),
            instruction(2, 'b', 'negate', shape(F32), (1,), more=L(7, L(1, 'Neg'))),
            instruction(3, 'c', 'abs', shape(F32), (2,), more=L(7, L(1, 'Abs'), L(2, 'f/abs')))]
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': proto(
        module('m', computation(1, 'main', made, root=3)))}}, key=1)
    kernels = [(op, i * US, (9 - i) * US, {'hlo_op': {'str': op}, 'program_id': {'uint64': 1}})
               for i, op in enumerate('bc')]
    x = space(gpu(*kernels).bytes(), plane.bytes())
    same(rows("SELECT type, operation FROM kernel_time_by_op('{x}')", x=x),
         [(None, 'b'), ('Abs', 'f/abs')])
    for hosts in ([x, space(gpu(*kernels).bytes())], [space(gpu(*kernels).bytes()), x]):
        same(rows("SELECT type, operation, total_time_us FROM kernel_time_by_op('{x}')",
                  x=hosts), [(None, 'b', 18.0), (None, 'c', 8.0), ('Abs', 'f/abs', 8.0)])


@case
def cost_of_a_call():
    """A call costs what all instructions cost that it runs, the first of them too: iota writes 16
    bytes, negate reads and writes 16 and needs 4 operations."""
    body = [instruction(11, 'i', 'iota', shape(F32, 4)),
            instruction(12, 'n', 'negate', shape(F32, 4), (11,))]
    made = [instruction(1, 'c', 'call', shape(F32, 4), (), (2,))]
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': proto(module(
        'm', computation(2, 'body', body, root=12), computation(1, 'main', made, root=1)))}}, key=1)
    same(rows("SELECT hlo_op, bytes_accessed, model_flops_actual FROM hlo_instructions('{x}') "
              "WHERE bytes_accessed > 0 ORDER BY 1", x=space(plane.bytes())),
         [('c', 48, 4.0), ('i', 16, 0.0), ('n', 32, 4.0)])
