# SPDX-License-Identifier: Apache-2.0
"""Ops of GPU kernels, by framework op and by instruction."""
from lib import hlo
from lib.cases import case, same
from lib.shell import ask, rows
from lib.wire import L, Plane, US, V, space, stat, stat_metadata
from cases.ops import hlo_plane, hlo_program, metrics, totals


def kernels():
    tf_op = {'tf_op': {'str': 'TfOp1:TfOp1'}, 'correlation_id': {'int64': 1}}
    plane = Plane('/device:GPU:0')
    both = [('kernel1', 100 * US, 8 * US, tf_op), ('kernel2', 110 * US, 10 * US, tf_op)]
    plane.line(10, 'Stream #10', both)
    return plane, both


@case
def gpu_kernels():
    """Kernels by framework op on two streams."""
    plane, both = kernels()
    plane.line(20, 'Stream #20',
               both + [('kernel3', 120 * US, 10 * US, {'tf_op': {'str': 'TfOp2:TfOp2'}})])
    data = space(plane.bytes())
    same(metrics(data, 'device'),
         [('TfOp1/kernel1', 2, 16 * US, 16 * US), ('TfOp1/kernel2', 2, 20 * US, 20 * US),
          ('TfOp2/kernel3', 1, 10 * US, 10 * US),
          ('IDLE', 0, 0, 0)])
    same(totals(data, 'device'), (46 * US, 46 * US))


@case
def gpu_framework_ops():
    """The framework's view: an op ran as often as its busiest kernel, and says how much of its time
    is on tensor cores."""
    plane = Plane('/device:GPU:0', stats={'device_vendor': {'str': 'Nvidia'}})
    details = {'kernel_details': {'str': 'regs:32 static_shared:0 dynamic_shared:16384 grid:2,1,1 '
                                  'block:32,1,1'}}
    conv = {'tf_op': {'str': 'Conv2D:Conv2D'}, **details}
    tf_op = {'tf_op': {'str': 'TfOp1:TfOp1'}}
    both = [('kernel1', 100 * US, 8 * US, tf_op), ('kernel2', 110 * US, 10 * US, tf_op)]
    plane.line(10, 'Stream #10', both)
    plane.line(20, 'Stream #20',
               both + [('kernel3', 120 * US, 10 * US, {'tf_op': {'str': 'TfOp2:TfOp2'}}),
                       ('volta_fp16_s884gemm', 130 * US, 10 * US, conv),
                       ('kernel5', 140 * US, 10 * US, conv)])
    rows = ask("SELECT rank, operation, type, occurrences, total_self_time_us AS self, "
               "tensorcore_utilization_fraction AS tc, execution_mode AS mode, "
               "tensorcore_utilization_fraction_actual AS actual FROM tf_ops('{x}') "
               "WHERE host_or_device = 'Device'", x=space(plane.bytes()))
    same([tuple(r.values()) for r in rows], [(1, 'TfOp1', 'TfOp1', 2, 36.0, 0.0, 'Function', None),
                                             (2, 'Conv2D', 'Conv2D', 1, 20.0, 0.5, 'Function', 0.5),
                                             (3, 'TfOp2', 'TfOp2', 1, 10.0, 0.0, 'Function', None),
                                             (4, 'IDLE', 'IDLE', 0, 0.0, 0.0, 'Function', None)])


@case
def programs_of_other_ids():
    """XProf's Events DB has no operands of a program whose metadata has another id than the
    program, or none."""
    kernel = Plane('/device:GPU:0', 3).line(1, 'Stream #1', [('k', 0, 10, {
        'hlo_op': {'str': 'add'}, 'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1}})])
    for own_id, known in ((V(1, 1), 1), (b'', 0), (V(1, 2), 0)):
        entry = own_id + L(2, 'm(1)') + L(5, stat(1, bytes=hlo_program(1, ('add', 'custom-call'))))
        metadata = V(1, 9) + L(2, '/host:metadata') + L(4, V(1, 1),
                                                        L(2, entry)) + stat_metadata(1, 'Hlo Proto')
        rows = ask("SELECT hlo_op, output_tensors IS NOT NULL AS known FROM xprof_events('{x}') "
                   "WHERE hlo_op IS NOT NULL",
                   x=space(kernel.bytes(), metadata))
        same(rows, [{'hlo_op': 'add', 'known': known}])


@case
def gpu_hlo_ops():
    """Kernels of one HLO op; a path of ops counts for its last; what no program has only widens the
    span."""
    def hlo(op, program):
        return {'hlo_op': {'str': op}, 'program_id': {'uint64': program}}
    for program in (1, 0):  # 0 is the first program of a process
        plane = Plane('/device:GPU:0').line(
            1, 'Stream #1', [('k1', 100, 10, hlo('xla::op::custom-call.1', program)),
                             ('k2', 110, 15, hlo('xla::op::custom-call.1', program)),
                             ('k3', 125, 5, hlo('nothing', program)),
                             ('k4', 130, 5, hlo('custom-call.1', 2)), ('k5', 140, 10)])
        data = space(plane.bytes(), hlo_plane(program, ('custom-call.1', 'custom-call')))
        same(metrics(data, 'device', 'name, program_id, occurrences, time_ps'),
             [('custom-call.1', str(program), 2, 25), ('IDLE', None, 0, 25)])
        same(totals(data, 'device'), (50, 25))


@case
def programs_of_id_0():
    """The program whose id is 0 is one; kernels of framework ops, which have this id too, are in no
    program. Operations and bytes go to the category of the program's op."""
    made = [hlo.instruction(1, 'a', 'custom-call', hlo.shape(hlo.F32, 8)),
            hlo.instruction(2, 'n', 'negate', hlo.shape(hlo.F32, 8), (1,))]
    program = hlo.proto(hlo.module('m', hlo.computation(1, 'main', made, root=2), id=0, more=L(4)))
    metadata = Plane('/host:metadata', 9)
    metadata.meta('m(0)', stats={'Hlo Proto': {'bytes': program}}, key=1)
    plane = Plane('/device:GPU:0', stats={'device_vendor': {'str': 'Nvidia'}})
    plane.line(1, 'Stream #1', [
        ('n', 0, US, {'hlo_op': {'str': 'n'}, 'program_id': {'uint64': 0}}),
        ('gemm', 2 * US, US, {'tf_op': {'str': 'MatMul:MatMul'}})])
    data = space(plane.bytes(), metadata.bytes())
    same(rows("SELECT hlo_op, program_id, hlo_module FROM hlo_ops('{x}') WHERE rank > 0 ORDER BY 1",
              x=data), [('MatMul/gemm', '0', None), ('n', '0', 'm')])
    same(rows("SELECT name, program_id FROM op_metrics('{x}') WHERE side = 'device' "
              "AND name <> 'IDLE' ORDER BY 1", x=data), [('MatMul/gemm', None), ('n', '0')])
    same(rows("SELECT scope, program_id, name, model_flops, round(busy_ms * 1e9) "
              "FROM mfu('{x}', 1e12)", x=data),
         [('run', None, None, 8.0, 2 * US), ('program', '0', 'm', 8.0, US)])
    same(rows("SELECT category, flops, bytes_accessed FROM op_time_by_category('{x}') "
              "WHERE category = 'non-fusion elementwise'", x=data),
         [('non-fusion elementwise', 8.0, 64.0)])


@case
def bytes_of_library_calls():
    """Operands and results, without the last one if that is bytes, in which the library works. The
    groups of a grouped product are data, so its operations are unknown; its bytes are not. Of other
    code nothing is known."""
    room = hlo.shape(hlo.U8, 1000)
    parameters = [hlo.instruction(1, 'a', 'parameter', hlo.shape(hlo.F32, 6, 4)),
                  hlo.instruction(2, 'b', 'parameter', hlo.shape(hlo.F32, 4, 10), more=V(9, 1))]
    for target, parts, want in (
            ('__cublas$lt$matmul', (hlo.shape(hlo.F32, 6, 10), room), 96 + 160 + 240),
            ('__cublas$lt$groupedMatmul', (hlo.shape(hlo.F32, 6, 10), room), 96 + 160 + 240),
            ('__cudnn$fmhaSoftmax', (hlo.shape(hlo.F32, 6, 10), hlo.shape(hlo.F32, 6), room),
             96 + 160 + 240 + 24),
            ('__cublas$triangularSolve', (room, hlo.shape(hlo.F32, 6)), 96 + 160 + 1000 + 24),
            ('cusolver_getrf_ffi', (hlo.shape(hlo.F32, 6, 10), room), None)):
        call = hlo.instruction(3, 'c', 'custom-call', hlo.tuple_of(*parts), (1, 2),
                               more=L(28, target))
        program = hlo.proto(hlo.module('m', hlo.computation(1, 'main', [*parameters, call], root=3),
                                       more=L(4)))
        metadata = Plane('/host:metadata', 9)
        metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': program}}, key=1)
        plane = Plane('/device:GPU:0', stats={'device_vendor': {'str': 'Nvidia'}})
        plane.line(1, 'Stream #1', [('k', i * US, 10, {
            'hlo_op': {'str': 'c'}, 'program_id': {'uint64': 1}}) for i in range(3)])
        data = space(plane.bytes(), metadata.bytes())
        same(rows("SELECT occurrences_actual, bytes_accessed_actual FROM hlo_ops('{x}') "
                  "WHERE rank > 0", x=data), [(3, want and 3 * want)], target)
        same(rows("SELECT bytes_accessed_actual FROM hlo_instructions('{x}') WHERE hlo_op = 'c'",
                  x=data), [(want,)], target)
        same(rows("SELECT bytes_accessed FROM program_cost('{x}')", x=data), [(want,)], target)


@case
def bytes_of_library_calls_that_are_called():
    """What runs a library call has its bytes too, for each level."""
    square = hlo.shape(hlo.F32, 8, 8)

    def costs(target, opcode='call', branches=((10,),)):
        """Of the instruction x that runs the call, and of the program."""
        parts = []
        for n, in branches:
            parts.append(hlo.computation(n, 'called%d' % n, [
                hlo.instruction(n, 'p%d' % n, 'parameter', square),
                hlo.instruction(n + 1, 'c%d' % n, 'custom-call', square, [n, n],
                                more=L(28, target if n == 10 else '__cublas$gemm')),
                hlo.instruction(n + 2, 'n%d' % n, 'negate', square, [n + 1])], root=n + 2))
        parts.append(hlo.computation(2, 'outer', [
            hlo.instruction(3, 'o', 'parameter', square),
            hlo.instruction(4, 'x', opcode, square, [3] * len(branches), [n for n, in branches])],
            root=4))
        parts.append(hlo.computation(1, 'main', [
            hlo.instruction(1, 'p', 'parameter', square),
            hlo.instruction(2, 'y', 'call', square, [1], [2])], root=2))
        plane = Plane('/host:metadata', 9)
        plane.meta('m(1)', key=1,
                   stats={'Hlo Proto': {'bytes': hlo.proto(hlo.module('m', *parts, id=1))}})
        gpu = Plane('/device:GPU:0', 1).line(1, 'Stream #1', [('k', 0, 9)])
        x = space(gpu.bytes(), plane.bytes())
        return [of for of, in rows("SELECT bytes_accessed_actual FROM hlo_instructions('{x}') "
                                   "WHERE hlo_op IN ('x', 'y') UNION ALL "
                                   "SELECT bytes_accessed FROM program_cost('{x}')", x=x)]
    for target in '__cublas$gemm', '__cudnn$fmhaSoftmax':
        same(costs(target), 3 * [5 * 256], target)
    same(costs('foo'), 3 * [None], 'of unknown work')
    same(costs('__cublas$gemm', 'conditional', ((10,), (20,))), 3 * [None],
         'which branch is the most expensive')
    same(costs('__cublas$gemm', 'async-start'), 3 * [None])


@case
def bytes_of_library_calls_that_are_called_often():
    """70 levels of two calls each: the bytes are doubled in each, up to the greatest integer."""
    square, levels = hlo.shape(hlo.F32, 8, 8), []
    for n in range(2, 72):
        of = [hlo.instruction(10 * n, 'p%d' % n, 'parameter', square)]
        of += [hlo.instruction(10 * n + i, '%s%d' % ('xy'[i - 1], n), 'call', square,
                               [10 * n + i - 1], [n - 1]) for i in (1, 2)]
        levels.append(hlo.computation(n, 'level%d' % n, of, root=10 * n + 2))
    leaf = hlo.computation(1, 'leaf', [
        hlo.instruction(1, 'p', 'parameter', square),
        hlo.instruction(2, 'c', 'custom-call', square, [1, 1], more=L(28, '__cublas$gemm'))],
        root=2)
    main = hlo.computation(99, 'main', [
        hlo.instruction(3, 'q', 'parameter', square),
        hlo.instruction(4, 'z', 'call', square, [3], [71])], root=4)
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', key=1, stats={'Hlo Proto': {
        'bytes': hlo.proto(hlo.module('m', leaf, *levels, main, entry=99, id=1))}})
    gpu = Plane('/device:GPU:0', 1).line(1, 'Stream #1', [('k', 0, 9)])
    got = [of for of, in rows("SELECT bytes_accessed_actual FROM hlo_instructions('{x}') WHERE "
                              "hlo_op GLOB '[xz]*' ORDER BY 1",
                              x=space(gpu.bytes(), plane.bytes()))]
    same(got, [min(768 << n, (1 << 63) - 1) for n in range(71)])

@case
def gpu_hlo_runs():
    """Kernels of one op in a row and in one group are one run: its first program counts, and the
    costs of its last kernel. Asked of XProf 2.24.2."""
    def kernel(i, op, program=1, group=None, is_eager=None, **costs):
        stats = {'hlo_op': {'str': op}, 'program_id': {'uint64': program},
                 **{k: {'uint64': v} for k, v in costs.items()}}
        if group is not None:
            stats['group_id'] = {'int64': group}
        if is_eager is not None:
            stats['is_eager'] = {'int64': is_eager}
        return 'k', i * 10, 5, stats

    def ops(*events):
        plane = Plane('/device:GPU:0')
        plane.names['group_id'] = 50
        plane.line(1, 'Stream #1', events)
        programs = [hlo_plane(i, ('cc', 'custom-call'), also='group_id') for i in (1, 2)]
        return metrics(space(plane.bytes(), *programs), 'device', 'program_id, name, occurrences, '
                       'flops, model_flops, bytes_accessed, is_eager', "AND name <> 'IDLE'")
    cost, last = {'flops': 10, 'bytes_accessed': 100}, {'flops': 5, 'bytes_accessed': 7}
    same(ops(kernel(0, 'cc', group=0, **cost), kernel(1, 'cc', group=0, **last)),
         [('1', 'cc', 2, 10.0, 10.0, 14, 0)])
    same(ops(kernel(0, 'cc', **cost), kernel(1, 'cc', **last)),
         [('1', 'cc', 2, 15.0, 15.0, 107, 0)])
    same(ops(kernel(0, 'cc', group=0, flops=10), kernel(1, 'xx', group=0, flops=3),
             kernel(2, 'cc', group=0, flops=5)), [('1', 'cc', 2, 10.0, 10.0, 0, 0)])
    same(ops(kernel(0, 'cc', group=0), kernel(1, 'cc', 2, group=0)),
         [('1', 'cc', 2, 0.0, 0.0, 0, 0)])
    same(ops(kernel(0, 'cc', group=0), kernel(1, 'cc', 2, group=1)),
         [('1', 'cc', 1, 0.0, 0.0, 0, 0), ('2', 'cc', 1, 0.0, 0.0, 0, 0)])
    same(ops(kernel(0, 'cc'), kernel(1, 'cc', 2)),
         [('1', 'cc', 1, 0.0, 0.0, 0, 0), ('2', 'cc', 1, 0.0, 0.0, 0, 0)])
    for first, second in ((1, 0), (0, 1)):
        same([row[-1]
              for row in ops(kernel(0, 'cc', is_eager=first), kernel(1, 'cc', is_eager=second))],
             [first], 'the first kernel says whether an op is eager')
    odd = [('k', 0, 5, {'hlo_op': {'str': ''}, 'tf_op': {'str': 'A:A'}}),
           ('k', 10, 5, {'hlo_op': {'int64': 7}, 'tf_op': {'str': 'B:B'}}), kernel(2, 'a:::cc'),
           kernel(3, 'a:::b::cc')]
    same([row[1:3] for row in ops(*odd)], [('B/k', 1), ('cc', 1)])


@case
def ops_of_one_name():
    """Ops of one name in two programs that follow each other in a step are one run of XProf's. Our
    own numbers keep them apart: each has the time, executions and bytes of its own kernels."""
    plane = Plane('/device:GPU:0', 3, stats={
        'device_vendor': {'str': 'Nvidia'}, 'peak_hbm_bw_gigabytes_per_second': {'double': 0.001}})
    plane.line(1, 'Stream #1', [
        ('k', at * US, length * US, {'hlo_op': {'str': 'n'}, 'program_id': {'uint64': program},
                                     'group_id': {'int64': group}})
        for at, length, program, group in ((0, 5, 1, 0), (10, 20, 2, 0), (40, 10, 2, 1))])
    metadata = Plane('/host:metadata', 9)
    metadata.names['group_id'] = 50
    made = [hlo.instruction(1, 'a', 'parameter', hlo.shape(hlo.F32, 8)),
            hlo.instruction(2, 'n', 'negate', hlo.shape(hlo.F32, 8), (1,))]
    for id in 1, 2:
        program = hlo.module('m%d' % id, hlo.computation(1, 'main', made, root=2), id=id, more=L(4))
        metadata.meta('m%d(%d)' % (id, id), stats={'Hlo Proto': {'bytes': hlo.proto(program)}},
                      key=id)
    data = space(plane.bytes(), metadata.bytes())
    same(rows("SELECT program_id, occurrences, total_time_us, occurrences_actual, "
              "time_ps_actual / 1000000, round(hbm_utilization, 9) FROM hlo_ops('{x}') "
              "WHERE rank > 0 ORDER BY 1", x=data),
         [('1', 2, 25.0, 1, 5, 12.8), ('2', 1, 10.0, 2, 30, round(128 / 30, 9))])
    same(rows("SELECT program_id, self_us, bytes_accessed FROM scope_ops('{x}') ORDER BY 1",
              x=data), [('1', 5.0, 64.0), ('2', 30.0, 128.0)])
    same(rows("SELECT program_id, occurrences, self_time_us, round(hbm_utilization, 9) "
              "FROM top_hlo_ops('{x}')", x=data),
         [('2', 2, 30.0, round(128 / 30, 9)), ('1', 1, 5.0, 12.8)])


@case
def groups_of_other_planes():
    """The file's groups alone count if every plane of a device names them; else kernels take the
    group of the one before. '/custom:' starts the name of one, '/customx' of none. Asked of XProf
    2.24.2."""
    events = [('k', i * 10, 5, {'hlo_op': {'str': 'cc'}, 'program_id': {'uint64': 1}, **group,
                                'flops': {'uint64': flops}})
              for i, (flops, group) in enumerate(((10, {'group_id': {'int64': 0}}), (5, {})))]
    program = hlo_plane(1, ('cc', 'custom-call'), also='group_id')
    for name, occurrences, flops in (('/customx', 2, 15.0), ('/custom', 2, 15.0),
                                     ('/custom:x', 2, 10.0), ('/device:CUSTOM:x', 2, 10.0)):
        data = space(Plane('/device:GPU:0').line(1, 'Stream #1', events).bytes(), program,
                     Plane(name, 7).bytes())
        same(metrics(data, 'device', 'name, occurrences, flops', "AND name <> 'IDLE'"),
             [('cc', occurrences, flops)], name)


@case
def groups_over_streams():
    """A kernel without a group takes that of the kernel before it on any stream, in whichever order
    the streams are listed. Asked of XProf 2.24.2."""
    one, two = ({'group_id': {'int64': i}} for i in (1, 2))
    streams = [('a', 400, 5)], [('b', 300, 1)], [('c', 350, 4, two)], [('d', 100, 3, one),
                                                                       ('e', 200, 2)]
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)):
        plane = Plane('/device:GPU:0')
        for i in order:
            plane.line(i + 1, 'Stream #%d' % (i + 1), streams[i])
        rows = ask("SELECT name, step FROM timeline('{x}') WHERE line LIKE 'Stream%' ORDER BY name",
                   x=space(plane.bytes(), Plane('/host:CPU', 2).bytes()))
        same([tuple(r.values()) for r in rows], [('a', 2), ('b', 1), ('c', 2), ('d', 1), ('e', 1)],
             order)


@case
def kernels_in_events():
    """A kernel with an HLO op is identified only by its program, whether the file has it or not;
    without one, by its framework op. Asked of XProf 2.24.2."""
    plane = Plane('/device:GPU:0')
    both = {'tf_op': {'str': 'x/y:Z'}, 'shape': {'str': '(half[2];s32[])'}}
    kernels = [({'hlo_op': 'a', 'program_id': 1, 'hlo_module': 'm'}, ('a', 'm', '', None)),
               ({'hlo_op': 'zz', 'program_id': 1, 'hlo_module': 'm'}, ('zz', 'm', None, None)),
               ({'hlo_op': 'a', 'program_id': 9, 'hlo_module': 'm'}, ('a', 'm', None, None)),
               ({'hlo_op': 'a'}, ('a', '', None, None)),
               ({'hlo_op': '', 'hlo_module': 'm'}, ('', 'm', None, None)),
               ({'hlo_module': 'm', 'program_id': 1}, (None, None, 'x/y', '["half[2]","s32[]"]')),
               ({}, (None, None, 'x/y', '["half[2]","s32[]"]'))]
    plane.line(1, 'Stream #1', [('k%d' % i, i * US, US, {
        **both, **{k: {'uint64' if k == 'program_id' else 'str': v} for k, v in stats.items()}})
                                for i, (stats, _) in enumerate(kernels)])
    rows = ask("SELECT hlo_op, hlo_module, tf_op_name, input_tensors FROM xprof_events('{x}') "
               "ORDER BY start_ns", x=space(plane.bytes(), hlo_plane(1, ('a', 'custom-call'))))
    same([tuple(r.values()) for r in rows], [want for _, want in kernels])


@case
def sources_of_ops():
    """The source of an op is its instruction's, and the stack the frames from the innermost on;
    what XLA added has its name as its type too."""
    frames = L(
        17, L(1, 'a.py') + L(1, 'b.py') + L(2, 'f') + L(3, V(1, 1) + V(2, 1) + V(3, 10) + V(4, 5))
        + L(3, V(1, 2) + V(2, 1) + V(3, 20) + V(4, 7)) + L(4, V(1, 1) + V(2, 2)) + L(4, V(1, 2)))
    described = {'inner': L(2, 'f/x') + L(1, 'Mul') + V(15, 1),
                 'own': L(2, 'XLA_Args') + L(3, 'own.py') + V(4, 3) + V(15, 2),
                 'ret': L(2, 'XLA_Retvals') + L(1, 'T'), 'typed': L(1, 'Add'), 'bare': b''}
    main = hlo.computation(1, 'main', [hlo.instruction(i + 1, name, 'custom-call', more=L(
        7, metadata)) for i, (name, metadata) in enumerate(described.items())], len(described))
    programs = Plane('/host:metadata', 9)
    programs.meta('m(1)', stats={'Hlo Proto': {
        'bytes': hlo.proto(hlo.module('m', main, more=L(2, 'main') + L(4) + frames))}}, key=1)
    gpu = Plane('/device:GPU:0').line(7, 'Stream #7', [('k', 10 * i, 5, {
        'hlo_op': {'ref': name}, 'program_id': {'uint64': 1}, 'correlation_id': {'int64': i}})
                                                       for i, name in enumerate(described)])
    same([tuple(row.values())
          for row in ask("SELECT name, provenance, source_file, source_line, source_stack "
                         "FROM op_metrics('{x}') WHERE side = 'device' AND name <> 'IDLE'",
                         x=space(gpu.bytes(), programs.bytes()))],
         [('inner', 'f/x:Mul', 'a.py', 10, 'a.py:10:5\nb.py:20:7\n'),
          ('own', 'XLA_Args:XLA_Args', 'own.py', 3, 'b.py:20:7\n'),
          ('ret', 'XLA_Retvals:T', None, None, None),
          ('typed', ':Add', None, None, None), ('bare', None, None, None, None)])
