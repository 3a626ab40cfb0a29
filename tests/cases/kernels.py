# SPDX-License-Identifier: Apache-2.0
"""GPU kernels: kernel_stats, launches, tensor cores, and the queries about them."""
from lib import hlo
from lib.cases import case, same
from lib.shell import ask
from lib.wire import L, Plane, V, space


def kernels(*events, stats=(('device_vendor', {'str': 'Nvidia'}),), plane='/device:GPU:0',
            streams=1):
    """events: (name, duration_ns, details, {stat: text}); spread over the streams in turn."""
    p = Plane(plane, 1, stats)
    lines = [[] for _ in range(streams)]
    for i, (name, ns, details, more) in enumerate(events):
        texts = [('kernel_details', {'ref': details})] + [(k, {'str': v}) for k, v in more.items()]
        lines[i % streams].append((name, i * 10 ** 6, ns * 1000, texts))
    for i, line in enumerate(lines):
        p.line(i + 1, 'Stream #%d(Compute)' % (i + 1), line)
    return p


def stats_of(*planes, sql="SELECT * FROM kernel_stats('{x}')"):
    return ask(sql, x=space(*(p.bytes() for p in planes)))


@case
def kernel_reports():
    """Order, launches, eligibility and tensor cores of three kernels."""
    rows = stats_of(kernels(
        ('kernel_name_shortest', 1, 'regs:16\nstatic_shared:0\ndynamic_shared:0\ngrid:1,1,1\n'
         'block:1,1,1\nocc_pct:50.0', {'tf_op': 'mul_786'}),
        ('kernel_name_middle', 2, 'regs:32\nstatic_shared:0\ndynamic_shared:16384\ngrid:2,1,1\n'
         'block:32,1,1\nocc_pct=13.0', {'tf_op': 'Conv2D'}),
        ('volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn', 3, 'regs:32\nstatic_shared:0\n'
         'dynamic_shared:16384\ngrid:3,1,1\nblock:64,1,1', {'tf_op': 'Einsum_80'})))
    same([(r['kernel_name'], r['op_name'], r['kernel_uses_tensorcore'],
           r['op_is_tensorcore_eligible'], r['grid_dim'], r['block_dim'], r['registers_per_thread'],
           r['shared_memory_bytes'], r['occupancy_percent'], r['total_duration_us']) for r in rows],
         [('volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn', 'Einsum_80', 1, 1, '3,1,1', '64,1,1', 32,
           16384, 0.0, 0.003),
          ('kernel_name_middle', 'Conv2D', 0, 1, '2,1,1', '32,1,1', 32, 16384, 0.0, 0.002),
          ('kernel_name_shortest', 'mul_786', 0, 0, '1,1,1', '1,1,1', 16, 0, 50.0, 0.001)])
    rows = stats_of(kernels(('volta_fp16_s884gemm_fp16', 3, 'regs:32', {'tf_op': 'Einsum_80'}),
                            stats=()))
    same([(r['kernel_uses_tensorcore'], r['op_is_tensorcore_eligible'],
           r['kernel_uses_tensorcore_actual']) for r in rows], [(0, 0, 1)], 'no vendor')


@case
def kernels_of_equal_times():
    """XProf orders kernels that take equally long by name, grid, block, registers, static and
    dynamic shared memory: each kernel here is before the next by one of these, whose next one has
    the other order."""
    spelling = 'grid:%d,%d,%d block:%d,%d,%d regs:%d static_shared:%d dynamic_shared:%d'
    launches = [tuple(1 if i == at else 2 for i in range(9)) for at in range(10)]
    events = [('k', 1, spelling % launch + (' occ_pct:50' if launch[3] == 1 else ''), {})
              for launch in reversed(launches)]
    columns = ('kernel_name', 'grid_dim', 'block_dim', 'registers_per_thread',
               'static_shared_bytes', 'dynamic_shared_bytes')
    rows = stats_of(kernels(('l', 1, spelling % launches[0], {}), *events))
    same([tuple(r[c] for c in columns) for r in rows],
         [(name, '%d,%d,%d' % launch[:3], '%d,%d,%d' % launch[3:6], *launch[6:])
          for name, launch in [('k', launch) for launch in launches] + [('l', launches[0])]])


@case
def launches():
    """Every spelling of kernel_details, and texts that are not one."""
    for details, want in [
        ('odd grid:3,2,1', ('3,2,1', '1,1,1', 0, 0)),
        ('block:6,5,4 odd ', ('1,1,1', '6,5,4', 0, 0)),
        ('block:1,2,3 odd grid:4,5,6', ('4,5,6', '1,2,3', 0, 0)),
        ('static_shared:7 dynamic_shared:8', ('1,1,1', '1,1,1', 0, 15)),
        ('regs:10 static_shared:128 dynamic_shared:256 grid:3,2,1 block:32,8,4 occ_pct:50',
         ('3,2,1', '32,8,4', 10, 384)),
        # what XProf 2.24.2 answers
        ('regs:4294967295', ('1,1,1', '1,1,1', 4294967295, 0)),
        ('regs:4294967296', ('1,1,1', '1,1,1', 0, 0)), ('regs:-1', ('1,1,1', '1,1,1', 0, 0)),
        ('regs:5 regs: regs:x regs:5:6', ('1,1,1', '1,1,1', 5, 0)),
        ('grid:1,2 grid:1,2,3,4 grid:1,,3 grid:1,2,4294967296', ('1,1,1', '1,1,1', 0, 0)),
        ('static_shared:4294967295 dynamic_shared:2', ('1,1,1', '1,1,1', 0, 1)),
        (':: : x', ('1,1,1', '1,1,1', 0, 0)), ('regs:\t+5', ('1,1,1', '1,1,1', 5, 0))]:
        row, = stats_of(kernels(('k', 1, details, {})))
        same((row['grid_dim'], row['block_dim'], row['registers_per_thread'],
              row['shared_memory_bytes']), want, details)
    for text, want in [('33.3333333', 33.33333206176758), ('nan', None), ('1e400', None),
                       ('1e39', None), ('-5', -5.0), ('.5', 0.5), ('5e', 0.0), ('1,5', 0.0),
                       ('9' * 100, 0.0)]:
        same(stats_of(kernels(('k', 1, 'occ_pct:' + text, {})))[0]['occupancy_percent'], want, text)
    actual = '_actual, '.join('registers_per_thread shared_memory_bytes block_dim grid_dim '
                              'occupancy_percent'.split()) + '_actual'
    for details, want in [
        ('regs:16 shm:1024 grid:4,1,1 block:32,2,1', [16, 1024, '32,2,1', '4,1,1', None]),
        (' grid:4,1,1 block:32,2,1 private_mem:0 group_mem:512 occ_pct:0',
         [None, 512, '32,2,1', '4,1,1', None]),
        ('registers_per_thread:16\nstatic_shared_memory_usage:8\ndynamic_shared_memory_usage:64\n'
         'grid_x:4\ngrid_y:1\ngrid_z:1\nblock_x:32\nblock_y:2\n'
         'block_z:1\n', [16, 72, '32,2,1', '4,1,1', None]),
        ('regs:16 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1 occ_pct:50',
         [16, 0, '1,1,1', '1,1,1', 50.0]), ('x', [None] * 5),
        ('regs:1024 static_shared:1 dynamic_shared:0', [1024, 1, None, None, None]),
        ('regs:1025 static_shared:1 dynamic_shared:0', [None] * 5),
        ('occ_pct:100', [None] * 4 + [100.0]), ('occ_pct:100.5', [None] * 5),
        # halves of a pointer, from a recording on an MI300X
        ('regs:2191487992 static_shared:32462 dynamic_shared:0 grid:219,40,1 block:256,1,1 '
         'occ_pct:0', [None, None, '256,1,1', '219,40,1', None])]:
        row, = stats_of(kernels(('k', 1, details, {})),
                        sql="SELECT %s FROM kernel_stats('{x}')" % actual)
        same(list(row.values()), want, details)


@case
def kernels_that_xprof_keeps():
    """XProf adds to the ops the first 1000 kernels of its reports. A short name has 60 bytes."""
    many = kernels(*[('volta_fp16_s884gemm_%d' % i, 3000 - i, 'regs:32',
                      {'tf_op': 'Conv2D_%d:Conv2D' % i}) for i in range(1002)])
    same([list(r.values()) for r in stats_of(
        many, sql="SELECT operation, tensorcore_utilization_fraction FROM tf_ops('{x}') "
        "WHERE operation IN ('Conv2D_0', 'Conv2D_999', 'Conv2D_1000') AND row_limit = 0")],
         [['Conv2D_0', 1.0], ['Conv2D_999', 1.0], ['Conv2D_1000', 0.0]])
    names = stats_of(kernels(*[('k' * n, 9, 'regs:1', {}) for n in (60, 61)]),
                     sql="SELECT short_name FROM kernel_stats('{x}') ORDER BY 1")
    same([r['short_name'] for r in names], ['k' * 57 + '...', 'k' * 60])


@case
def merged_kernels():
    """(1700, 500, 1200, 2) and (900, 900, 900, 1) in either order; the average is cut to ns;
    occupancy tells nothing apart."""
    one, other = [('k', 500, 'regs:1 occ_pct:10', {}),
                  ('k', 1200, 'regs:1 occ_pct:10', {})], [('k', 900, 'regs:1 occ_pct:20', {})]
    for events, occupancy in ((one + other, 10.0), (other + one, 20.0)):
        for streams in (1, 3):
            row, = stats_of(kernels(*events, streams=streams))
            same([row[k] for k in ('total_duration_us', 'min_duration_us', 'max_duration_us',
                                   'occurrences', 'avg_duration_us', 'occupancy_percent',
                                   'occupancy_percent_actual')],
                 [2.6, 0.5, 1.2, 3, 0.866, occupancy, None])
    row, = stats_of(kernels(*one), kernels(*other, plane='/device:GPU:1'))
    same((row['occurrences'], row['occupancy_percent']), (3, 10.0), 'two devices')
    rows = stats_of(kernels(('k', 1, 'regs:1', {}), ('k', 1, 'regs:2', {}),
                            ('k', 1, 'regs:1', {'tf_op': 'a:B'}), ('k', 0, 'regs:1', {}),
                            ('k', 1, '', {})))
    same([(r['registers_per_thread'], r['op_name'], r['occurrences']) for r in rows],
         [(1, '', 1), (1, 'a', 1), (2, '', 1)], 'apart; no kernel without time or details')


@case
def tensorcores_by_op():
    """Of op1's 2000 ns 1000 are in tensor core kernels; of op2's 100 none."""
    rows = stats_of(kernels(('hmma_kernel', 1000, 'regs:1', {'tf_op': 'op1'}),
                            ('other', 1000, 'regs:1', {'tf_op': 'op1'}),
                            ('another', 100, 'regs:1', {'tf_op': 'op2'})),
                    sql="SELECT op_name, sum(total_duration_us * kernel_uses_tensorcore) AS tc, "
                    "sum(total_duration_us) AS total FROM kernel_stats('{x}') GROUP BY 1 "
                    "ORDER BY 1")
    same([tuple(r.values()) for r in rows], [('op1', 1.0, 2.0), ('op2', 0.0, 0.1)])


@case
def tensorcore_names():
    """XProf's lists, and the kernels that they lack."""
    for vendor, name, xprof, actual in [
        ('Nvidia', 'ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn', 1, 1),
        ('Nvidia', 'sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32', 1, 1),
        ('Nvidia',
         'sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4',
         1, 0), ('Nvidia', 'conv2d_c1_k1_nhwc', 1, 0),
        ('Nvidia', 'cutlass3x_sm90_tensorop_s64x128x16gemm_bf16', 0, 1),
        ('Nvidia', 'nvjet_tst_128x256_64x4_2x1_v_bz_coopB_TNN', 0, 1),
        ('Nvidia', 'void cutlass::device_kernel<flash::flash_fwd_wgmma>', 0, 1),
        ('Nvidia', 'volta_sgemm_128x64_nn', 0, 0),
        ('Nvidia', 'sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize32x32x32_tensor16x8x16', 1, 1),
        ('Nvidia', 'fmha_cutlassF_f32_aligned_64x64_rf_sm80', 0, 1),
        ('Nvidia', 'fmha_cutlassF_bf16_aligned_64x64_rf_sm80', 0, 1),
        ('Nvidia', 'fmha_cutlassF_f32_aligned_64x64_rf_sm75', 0, 0),
        ('Nvidia', 'fmha_cutlassB_f16_aligned_64x64_k64_sm75', 0, 1),
        ('Nvidia', 'fmha_cutlassB_f16_aligned_64x64_k64_sm50', 0, 0),
        ('AMD', 'volta_fp16_s884gemm', 0, 0),
        ('AMD', 'Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN', 1, 1),
        ('AMD', 'Cijk_MI32x32', 0, 0), ('AMD', '_MI_MI1x2x3', 1, 1), ('AMD', 'WMMA', 0, 0),
        ('AMD', 'void ck_tile::kentry<ck_tile::gfx950_t, 1, ck_tile::FmhaBwdDQDKDVKernel<...>', 0,
         1), ('AMD', 'void ck_tile::kentry<2, ck_tile::FmhaFwdKernel<...>', 0, 1),
        ('AMD', 'void ck_tile::kentry<2, ck_tile::FmhaBwdOGradDotOKernel<...>', 0, 0),
        ('AMD', 'void ck_tile::kentry<2, ck_tile::FmhaBwdConvertQGradKernel<...>', 0, 0),
        ('Intel', 'hmma', 0, 1)]:
        row, = stats_of(kernels((name, 1, 'regs:1', {}),
                                stats=(('device_vendor', {'str': vendor}),)))
        same((row['kernel_uses_tensorcore'], row['kernel_uses_tensorcore_actual']), (xprof, actual),
             name)
    for op, want in [('a/MatMul:MatMul', 1), ('MatMul:MatMul', 0),
                     ('x/BatchMatMulV2:BatchMatMulV2', 1), ('jit(f)/dot_general:', 1),
                     ('foo:dot_general', 0), ('jit(f)/conv_general_dilated:', 1),
                     ('jit(f)/dot:', 0), ('Conv3D', 1), ('Conv3DBackpropFilter', 0)]:
        same(stats_of(kernels(('k', 1, 'regs:1', {'tf_op': op})))[0]['op_is_tensorcore_eligible'],
             want, op)
    for equation, want in [('ab,bc->ac', 1), ('ab,bc->ac->', 0), ('ab->ac', 0), (',->', 1),
                           ('a,b,c->d', 0), ('a,b', 0)]:
        same(stats_of(kernels(('k', 1, 'regs:1', {
            'tf_op': 'einsum:Einsum', 'equation': equation})))[0]['op_is_tensorcore_eligible'],
             want, equation)


@case
def kernels_that_multiply_on_ordinary_cores():
    """XProf takes the op of a kernel that it believes to be on tensor cores to be one for these;
    by its name, which is that of no product, it is none."""
    gpu = kernels(('sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_ffma', 1, 'regs:1',
                   {'tf_op': 'jit(f)/jit(qr)/householder_product:'}),
                  stats=(('device_vendor', {'str': 'Nvidia'}),))
    row, = stats_of(gpu)
    same((row['op_is_tensorcore_eligible'], row['op_is_tensorcore_eligible_actual']), (1, 0))
    row, = stats_of(gpu, sql="SELECT * FROM kernel_ops('{x}')")
    same((row['op_is_tensorcore_eligible'], row['kernel_uses_tensorcore']), (0, 0))


@case
def kernel_stats_of_older_files():
    """The op's name is in other stats; a report shows it if its kernels agree."""
    row, = stats_of(kernels(('k', 1, 'regs:1', {'annotation': 'a/MatMul:MatMul#shape=(float[])#'})))
    same((row['op_name'], row['op_name_actual'], row['op_is_tensorcore_eligible'],
          row['op_is_tensorcore_eligible_actual']), ('', 'a/MatMul', 0, 1))
    row, = stats_of(kernels(('k', 1, 'regs:1', {'level 0': 'a:A'}),
                            ('k', 1, 'regs:1', {'level 0': 'b:B'})))
    same((row['op_name'], row['op_name_actual'], row['occurrences']), ('', None, 2))


@case
def hostile_kernels():
    """Large counts and large texts end, and in time."""
    many = [('k%d' % (i % 50), 1, 'regs:%d %s' % (i % 300, 'x' * 5000), {}) for i in range(20000)]
    same(ask("SELECT count(*) AS n, sum(occurrences) AS k FROM kernel_stats('{x}', 0)",
             x=space(kernels(*many).bytes())), [{'n': 300, 'k': 20000}])
    same(len(stats_of(kernels(*many[:500]), sql="SELECT * FROM kernel_stats('{x}', 7)")), 7)
    text = 'a' * (4 << 20)
    row, = stats_of(kernels((text, 1, text,
                             {'tf_op': text, 'hlo_op': text + '::b', 'equation': text})),
                    sql="SELECT length(op_name) AS n FROM kernel_stats('{x}')")
    same(row['n'], 4 << 20)


@case
def kernel_queries():
    """The most common queries about kernels."""
    a = kernels(('gemm', 100, 'regs:1', {'tf_op': 'x/MatMul:MatMul'}),
                ('gemm', 300, 'regs:2', {'tf_op': 'y/MatMul:MatMul'}),
                ('h884', 50, 'regs:1', {'tf_op': 'z/MatMul:MatMul'}),
                ('add', 50, 'regs:1', {})).bytes()
    b = kernels(('gemm', 500, 'regs:9', {'tf_op': 'x/MatMul:MatMul'}),
                ('new', 10, 'regs:1', {})).bytes()
    rows = ask("SELECT rank, kernel_name, occurrences, total_duration_us, percent, "
               "cumulative_percent, avg_duration_us, min_duration_us, max_duration_us, op_count, "
               "op_name, uses_tensorcore"
               " FROM top_kernels('{x}', 2)", x=space(a))
    same([tuple(r.values()) for r in rows],
         [(1, 'gemm', 2, 0.4, 80.0, 80.0, 0.2, 0.1, 0.3, 2, 'y/MatMul', 0),
          (2, 'add', 1, 0.05, 10.0, 90.0, 0.05, 0.05, 0.05, 0, None, 0)])
    rows = ask("SELECT op_name, kernel_name, occurrences, total_duration_us, percent "
               "FROM tensorcore_missed('{x}')", x=space(a))
    same([tuple(r.values()) for r in rows],
         [('y/MatMul', 'gemm', 1, 0.3, 60.0), ('x/MatMul', 'gemm', 1, 0.1, 20.0)])
    rows = ask("SELECT change, delta_percent FROM compare_kernels('{x}', '{y}')", x=space(a),
               y=space(b))
    same([(r['change'], r['delta_percent'] and round(r['delta_percent'], 6)) for r in rows],
         [('both', 400.0), ('vanished', -100.0), ('vanished', -100.0), ('vanished', -100.0),
          ('appeared', None)])
    rows = ask("SELECT kernel_name, op_name, occurrences_a, occurrences_b, delta_us, avg_ratio "
               "FROM compare_kernels('{x}', '{y}')", x=space(a), y=space(b))
    same([(r['kernel_name'], r['op_name'], r['occurrences_a'], r['occurrences_b'],
           round(r['delta_us'], 6), r['avg_ratio']) for r in rows],
         [('gemm', 'x/MatMul', 1, 1, 0.4, 5.0), ('gemm', 'y/MatMul', 1, 0, -0.3, None),
          ('add', None, 1, 0, -0.05, None), ('h884', 'z/MatMul', 1, 0, -0.05, None),
          ('new', None, 0, 1, 0.01, None)])


TRITON = '{"fusion_backend_config":{"kind":"__triton_gemm","triton_gemm_config":{}}}'


def product(left, right=None, config=TRITON, precision=b''):
    """A fusion of a product of numbers of two types."""
    types = (left, right or left)
    body = [hlo.instruction(10 + i, 'p%d' % i, 'parameter', hlo.shape(t, 8, 8), more=V(9, i))
            for i, t in enumerate(types)]
    body.append(hlo.instruction(12, 'dot', 'dot', hlo.shape(hlo.F32, 8, 8), (10, 11),
                                more=L(30, hlo.ints(1, 1) + hlo.ints(2, 0)) + precision))
    main = [hlo.instruction(i, 'x%d' % i, 'parameter', hlo.shape(t, 8, 8), more=V(9, i))
            for i, t in enumerate(types)]
    main.append(hlo.instruction(2, 'gemm.1', 'fusion', hlo.shape(hlo.F32, 8, 8), (0, 1), (5,),
                                'jit(f)/dot_general', L(11, 'kCustom') + L(43, config)))
    return hlo.proto(hlo.module('m', hlo.computation(5, 'gemm', body, root=12),
                                hlo.computation(1, 'main', main, root=2), more=L(4)))


@case
def products_of_triton():
    """Triton's products run on tensor cores, except of wide numbers. Its kernels are named after
    instructions, so names do not tell. In a CUDA graph the instruction goes by the name."""
    def uses(op, *types, **how):
        metadata = Plane('/host:metadata', 9)
        metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': product(*types, **how)}}, key=1)
        gpu = Plane('/device:GPU:0', 1, (('device_vendor', {'str': 'Nvidia'}),))
        gpu.line(1, 'Stream #1', [('gemm_1', 0, 5000, {
            'kernel_details': {'str': 'regs:1'}, 'hlo_op': {'str': op},
            'program_id': {'uint64': 1}})])
        row, = ask("SELECT kernel_uses_tensorcore AS x, kernel_uses_tensorcore_actual AS a,"
                   " (SELECT count(*) FROM tensorcore_missed('{x}')) AS missed"
                   " FROM kernel_stats('{x}')", x=space(gpu.bytes(), metadata.bytes()))
        return row['x'], row['a'], row['missed']
    for op in ('gemm.1', 'command_buffer_1'):
        same([uses(op, hlo.BF16), uses(op, 25), uses(op, hlo.F32), uses(op, hlo.F64),
              uses(op, hlo.BF16, hlo.F64), uses(op, hlo.BF16, config='{}')],
             [(0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1), (0, 0, 1)], op)
        same([uses(op, hlo.F32, precision=L(51, p))
              for p in (hlo.ints(1, 0, 0), hlo.ints(1, 0, 2), V(2, 9), V(2, 11))],
             [(0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)], 'of f32')


OPERATIONS = {'add': 2, 'multiply': 2, 'dot': (2, L(30)), 'scaled-dot': (4, L(30)),
              'ragged-dot': (3, L(90)), 'convolution': (2, L(15) + L(16)), 'custom-call': 1,
              'transpose': 1,
              'call': 1, 'while': 1, 'all-reduce': 1, 'reduce-precision': 1, 'reduce': 2,
              'reduce-window': 2, 'fusion': (1, L(11, 'kLoop'))}


def operation(id, opcode, operand, calls=(), op_name=''):
    """An instruction of one operand, as often as the operation takes it."""
    n, more = OPERATIONS[opcode] if isinstance(OPERATIONS[opcode], tuple) else (OPERATIONS[opcode],
                                                                                b'')
    return hlo.instruction(id, 'i%d' % id, opcode, hlo.shape(hlo.F32), [operand] * n, calls
                           or ([2] if opcode in ('reduce', 'reduce-window', 'all-reduce') else ()),
                           op_name, more)


@case
def products_in_programs():
    """What a framework op calls a product is one for tensor cores if its instruction is a product,
    a convolution or a library's, or contains one.

    A multiplication and a reduction in one fusion are a product too; each alone is none."""
    def chain(first, n, last):
        return {first + i: ['fusion:%d' % (first + i + 1)] if i < n else [last]
                for i in range(n + 1)}
    computations = {2: ['add'], 10: ['dot'], 11: ['add', 'convolution'], 12: ['multiply', 'reduce'],
                    13: ['multiply', 'add'], 14: ['reduce'], 15: ['transpose', 'reduce-window'],
                    16: ['custom-call'], 17: ['reduce', 'scaled-dot'],
                    18: ['multiply', 'reduce-precision'], 19: ['multiply', 'reduce-window'],
                    20: ['add', 'fusion:10'], 21: ['fusion:13', 'reduce'],
                    22: ['fusion:13', 'fusion:14'], 23: ['fusion:13', 'fusion:15', 'fusion:15'],
                    24: ['fusion:14', 'fusion:14'], 25: ['fusion:2', 'fusion:2'], 26: ['call:20'],
                    **chain(40, 15, 'add'), **chain(60, 15, 'dot')}
    eligible = {'dot': 1, 'ragged-dot': 1, 'scaled-dot': 1, 'convolution': 1, 'custom-call': 1,
                'call:26': 1, 'call:13': 0, 'while:10,2': 1, 'while:2,2': 0, 'all-reduce': 0,
                'add': 0, 'multiply': 0, 'reduce': 0, 'reduce-window': 0, 'transpose': 0,
                'fusion:2': 0, 'fusion:10': 1, 'fusion:11': 1, 'fusion:12': 1, 'fusion:13': 0,
                'fusion:14': 0, 'fusion:15': 0, 'fusion:16': 1, 'fusion:17': 1, 'fusion:18': 0,
                'fusion:19': 1, 'fusion:20': 1,
                'fusion:21': 1, 'fusion:22': 1, 'fusion:23': 1, 'fusion:24': 0, 'fusion:25': 0,
                'fusion:26': 1,
                'fusion:40': 0, 'fusion:60': 1}  # as deep as may be

    def body(number, operations, op_name=''):
        first = 100 * number
        made = [hlo.instruction(first, 'p%d' % number, 'parameter')]
        for i, text in enumerate(operations):
            opcode, _, called = text.partition(':')
            made.append(operation(first + i + 1, opcode, first + i,
                                  [int(c) for c in called.split(',')] if called else (), op_name))
        return hlo.computation(number, 'c%d' % number, made, first + len(operations))
    called_first = sorted(computations,
                          key=lambda number: (number > 39, number * (-1 if number > 39 else 1)))
    program = hlo.module('m', *(body(n, computations[n]) for n in called_first),
                         body(1, eligible, 'jit(f)/dot_general'), more=L(2, 'main') + L(4))
    programs = Plane('/host:metadata', 9)
    programs.meta('m(1)', stats={'Hlo Proto': {'bytes': hlo.proto(program)}}, key=1)
    details = {'program_id': {'uint64': 1}, 'kernel_details': {'str': 'regs:1'}}
    events = [(text, 10000 * i, 5000, {'hlo_op': {'str': 'i%d' % (101 + i)}, **details})
              for i, text in enumerate(eligible)]
    events += [('sm80_xmma_gemm_tensorop', 10 ** 6, 5000,
                {'hlo_op': {'str': 'i%d' % (101 + list(eligible).index('add'))}, **details})]
    gpu = Plane('/device:GPU:0', 2, {'device_vendor': {'str': 'Nvidia'}}).line(1, 'Stream #1',
                                                                               events)
    same(stats_of(gpu, programs, sql="SELECT message FROM prof_issues('{x}') "
                  "WHERE code = 'refused_program'"), [], 'XLA takes the program')
    rows = stats_of(gpu, programs, sql="SELECT * FROM kernel_ops('{x}')")
    same({r['kernel_name']: r['op_is_tensorcore_eligible'] for r in rows},
         {**eligible, 'sm80_xmma_gemm_tensorop': 1})
    rows = stats_of(gpu, programs)
    same({r['kernel_name']: r['op_is_tensorcore_eligible_actual'] for r in rows},
         {**eligible, 'sm80_xmma_gemm_tensorop': 1}, 'kernel_stats has the same')
