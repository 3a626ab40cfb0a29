# SPDX-License-Identifier: Apache-2.0
"""Answers about devices: what a share is of, what is exposed, what tensor cores miss."""
from lib.cases import case, same
from lib.made import gpu, host
from lib.shell import attached, rows
from lib.wire import L, Plane, US, V, space


def cores(n_tensor=2, n_sparse=2):
    """TensorCores that compute for 8 of 10 us, and SparseCores for 2 of 100."""
    planes = []
    for i in range(n_tensor):
        plane = Plane('/device:TPU:%d' % i, 10 + i)
        add, reduce = (plane.meta('%%%s = f32[] %s()' % (op, op), op, {'program_id': {'uint64': 1}})
                       for op in ('add', 'all-reduce'))
        ops = [(add, 0, 4 * US), (reduce, 5 * US, US), (add, 6 * US, 4 * US)]
        planes.append(plane.line(1, 'XLA Ops', ops))
    for i in range(n_sparse):
        plane = Plane('/device:TPU:0 SparseCore %d' % i, 20 + i)
        gather = plane.meta('%gather = f32[] gather()', 'gather', {'program_id': {'uint64': 1}})
        planes.append(plane.line(1, 'Sparse Core Ops', [(gather, 0, US), (gather, 99 * US, US)]))
    return space(*[plane.bytes() for plane in planes])


@case
def sparsecores_beside_tensorcores():
    """Shares, gaps and times by device are of TensorCores; SparseCores have rows of their own."""
    kpi = ("SELECT device_count, active_device_count, compute_percent, collectives_percent, "
           "exposed_communication_percent, device_busy_percent FROM kpi('{x}')")
    same(rows(kpi, x=cores()), [(4, 2, 80.0, 10.0, 10.0, 90.0)])
    same(rows(kpi, x=cores(0)), [(2, 2, 2.0, 0.0, 0.0, 2.0)])
    same(rows("SELECT kind, count(*), sum(is_main) FROM device_time('{x}') GROUP BY 1", x=cores()),
         [('sparsecore', 2, 0), ('tensorcore', 2, 2)])
    gaps = "SELECT plane, start_ps, duration_us FROM idle_gaps('{x}')"
    same(rows(gaps, x=cores(1)), [('/device:TPU:0', 4 * US, 1.0)])
    same(rows(gaps, x=cores(0, 1)), [('/device:TPU:0 SparseCore 0', US, 98.0)])
    top = "SELECT place, operation, self_time_us, self_time_percent FROM top_ops('{x}')"
    same(rows(top, x=cores()),
         [('device', 'add', 16.0, 100 * 16 / 18), ('sparsecore', 'gather', 4.0, 100.0),
          ('device', 'all-reduce', 2.0, 100 * 2 / 18)])
    compared = ("SELECT type, operation, per_device_step_us_a FROM compare_ops('{x}', '{x}') "
                "ORDER BY 2")
    same(rows(compared, x=cores()), [('device', 'add', 8.0), ('device', 'all-reduce', 1.0),
                                     ('sparsecore', 'gather', 2.0)])
    exposed = ("SELECT device, op, exposed_us, exposed_span_percent "
               "FROM exposed_communication('{x}')")
    same(rows(exposed, x=cores()), [('tensorcore', 'all-reduce', 2.0, 10.0)])


@case
def samples_of_gpus():
    """One row for each moment of a GPU; values of other lines and names do not count."""
    def value(number):
        return {'counter_value': {'uint64': number}}
    all_of_them = [('power_mw', 512500), ('sm_clock_mhz', 1980), ('memory_clock_mhz', 3201),
                   ('gpu_utilization_percent', 97), ('memory_utilization_percent', 31),
                   ('gpu_temp_c', 61), ('memory_used_bytes', 3 << 30)]
    counters = [(name, 5 * US, 0, value(number - less)) for name, number in all_of_them
                for less in (1, 0, 2)]
    counters += [('power_mw', 7 * US, 0, value(600000)),
                 ('fan_speed_percent', 8 * US, 0, value(40))]
    planes = [Plane('/device:GPU:%d' % i, i + 1).line(1, '_counters_', counters[:len(counters) - i])
              .line(2, 'Stream #1', [('power_mw', 9 * US, US, value(1))]) for i in range(2)]
    full = (512.5, 1980, 3201, 97.0, 31.0, 61, 3 << 30)
    want = [('/device:GPU:%d' % i, *moment) for i in range(2)
            for moment in ((5 * US, *full), (7 * US, 600.0, *[None] * 6))]
    asked = ("SELECT plane, start_ps, power_w, sm_clock_mhz, memory_clock_mhz, "
             "gpu_utilization_percent, ")
    asked += "memory_utilization_percent, temperature_c, memory_used_bytes FROM gpu_samples('{x}')"
    x = space(*[plane.bytes() for plane in planes])
    same(rows(asked, x=x), want)
    same(attached('SELECT run, plane, start_ps FROM gpu_samples', b=x, a=x),
         [(run, *moment[:2]) for run in 'ab' for moment in want])


@case
def counters_of_gpus():
    def counted(name, start, value):
        return (name, start, 0, {name: value})
    samples = [counted('dram__bytes_read.sum', 9 * US, {'double': 2.5}),
               counted('dram__bytes_read.sum', 5 * US, {'int64': 7}),
               counted('sm__cycles_active.sum', 5 * US, {'uint64': 2**63}),
               counted('broken', 6 * US, {'str': 'no number'}), ('empty', 7 * US, 0, {})]
    gpu = Plane('/device:GPU:0').line(1, '_counters_', samples)
    gpu.line(2, 'Stream #1', [counted('not a sample', US, {'int64': 1})])
    host = Plane('/host:CPU', 2).line(1, '_counters_', samples)
    asked = "SELECT name, start_ps, interval_us, value FROM gpu_counters('{x}')"
    same(rows(asked, x=space(gpu.bytes(), host.bytes())), [
        ('dram__bytes_read.sum', 5 * US, None, 7.0),
        ('sm__cycles_active.sum', 5 * US, None, 2.0**63), ('broken', 6 * US, None, None),
        ('empty', 7 * US, None, None), ('dram__bytes_read.sum', 9 * US, 4.0, 2.5)])


@case
def a_profile_on_one_screen():
    """Copies as CUPTI and as XLA write their bytes; eight GPUs have lines, of nine the last two are
    counted."""
    def copied(text):
        return {'memcpy_details': {'str': text}}
    kernels = [('k', 0, 3 * US, {'kernel_details': {'str': 'regs:32'}}),
               ('MemcpyH2D', 4 * US, US, copied('num_bytes:1000\nsize:1000 dest:0')),
               ('MemcpyH2D', 6 * US, US, copied('kind_src:pinned size:3000 dest:0')),
               ('memcpyDtoH', 8 * US, 2 * US, {})]
    plane = Plane('/device:GPU:0').line(1, 'Stream #1', kernels)
    asked = "SELECT topic, text FROM capture_summary('{x}')"
    same(rows(asked, x=space(plane.bytes()))[1:],
         [('steps', 'none'),
          ('GPU:0', 'busy 70.0 % of 0.010 ms: computing 30.0 %, collectives 0.0 %, '
           'copies 40.0 % (host x)'),
          ('kernels', '1 with 1 names, 0.003 ms'), ('kernel', '100.0 %  0.003 ms  1 x  k'),
          ('copies', 'MemcpyH2D: 2, 0.002 ms, 0.004 MB, 2.000 GB/s'),
          ('copies', 'memcpyDtoH: 1, 0.002 ms'), ('lost', 'nothing')])
    short = Plane('/device:GPU:0').line(1, 's', [('k', 0, 999, kernels[0][3])])
    same(rows(asked, x=space(short.bytes()))[4:5], [('kernel', '    - %  0.000 ms  1 x  k')])
    lost = Plane('Task Environment', 9,
                 {'capture_dropped_records': {'uint64': 5}, 'capture_missing_steps': {'uint64': 2}})
    many = [Plane('/device:GPU:%d' % i, i + 1).line(1, 's', [('k', 0, US)]).bytes()
            for i in range(9)]
    topics = [row for row in rows(asked, x=space(*many, lost.bytes()))
              if row[0] in ('GPU:6', 'GPUs', 'GPU:8', 'lost')]
    same([(topic, text[:9]) for topic, text in topics],
         [('GPU:6', 'busy 100.'), ('GPUs', '2 more'), ('lost', '2 of the '), ('lost', '5 records')])
    same([(topic, text[:9]) for topic, text in rows(asked, x=space(*many[:8]))[2:10]],
         [('GPU:%d' % i, 'busy 100.') for i in range(8)])
    same(rows(asked, x=space(host(('f', 0, US)).bytes()))[1:],
         [('steps', 'none'), ('GPUs', 'none did any work'), ('lost', 'nothing')])
    core = Plane('/device:TPU:0').line(3, 'XLA Ops', [('%f = f32[] fusion()', 0, 3 * US),
                                                      ('%i = f32[] infeed()', 6 * US, 4 * US)])
    damaged = space(core.bytes(), host(('f', 0, US)).bytes())[:-40]
    topics = rows(asked, x=damaged)[1:]
    same(topics[:2], [('steps', 'none'),
                      ('TPU:0', 'busy 70.0 % of 0.010 ms: computing 30.0 %, collectives 0.0 %, '
                       'transfers 40.0 % (host x)')])
    same([(topic, text == 'nothing') for topic, text in topics[2:]], [('lost', False)] * 2)


@case
def copies_of_an_amd_gpu():
    """Copies as ROCm's profiler names them: by copy engines, and by kernels of the runtime, which
    fills memory by kernels too."""
    size = {'memcpy_details': {'str': 'kind_src:device kind_dst:device size:3000 dest:1'}}
    stream = gpu(('CopyDeviceToDevice', 0, 2 * US, size), ('CopyDeviceToDevice', 3 * US, US, size),
                 ('__amd_rocclr_copyBuffer.kd', 5 * US, US, {}),
                 ('__amd_rocclr_fillBufferAligned.kd', 7 * US, US, {}))
    same(rows("SELECT text FROM capture_summary('{x}') WHERE topic = 'copies'",
              x=space(stream.bytes())),
         [('CopyDeviceToDevice: 2, 0.003 ms, 0.006 MB, 2.000 GB/s',),
          ('__amd_rocclr_copyBuffer.kd: 1, 0.001 ms',)])


@case
def exposed_communication_by_device():
    """Each device by itself; what is exposed in all, where ops that run at once count once."""
    planes = []
    for i in range(2):
        plane = Plane('/device:GPU:%d' % i, i + 1)
        plane.line(1, 'Stream #1', [('k', 0, 10 * US), ('ncclAllReduce', 8 * US, 4 * US)])
        other = [('ncclAllGather', 10 * US, 4 * US), ('MemcpyD2D', 12 * US, 8 * US)]
        planes.append(plane.line(2, 'Stream #2', other[:2 - i]).bytes())
    columns = ('SELECT device, op, occurrences, exposed_us, kind_exposed_us, '
               'kind_exposed_span_percent ')
    same(rows(columns + "FROM exposed_communication('{x}')", x=space(*planes)),
         [('gpu', 'MemcpyD2D', 1, 8.0, 8.0, 20.0), ('gpu', 'ncclAllGather', 2, 8.0, 8.0, 20.0),
          ('gpu', 'ncclAllReduce', 2, 4.0, 8.0, 20.0)])
    collectives = "FROM exposed_communication('{x}', 1) WHERE kind = 'collective'"
    same(rows(columns + collectives, x=space(*planes)),
         [('x//device:GPU:%d' % i, op, 1, us, 4.0, 20.0)
          for op, us in (('ncclAllGather', 4.0), ('ncclAllReduce', 2.0)) for i in range(2)])


def convolutions():
    """A program that copies, convolves twice, sums, and sums products: each of one framework op."""
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))

    def instruction(i, name, opcode, *more):
        return L(2, L(1, name), L(2, opcode), L(3, shape), V(35, i), *more,
                 L(7, L(2, 'jit(f)/conv_general_dilated')))
    call = L(28, '__cudnn$convForward')
    made = [instruction(1, 'p', 'parameter'), instruction(2, 'copy', 'copy', L(36, b'\x01')),
            instruction(3, 'conv', 'custom-call', L(36, b'\x02'), call),
            instruction(4, 'other', 'custom-call', L(36, b'\x03'), call),
            instruction(5, 'sums', 'fusion', L(36, b'\x04'), L(38, b'\x03'), L(11, 'kInput')),
            instruction(6, 'gemv', 'fusion', L(36, b'\x05'), L(38, b'\x04'), L(11, 'kInput'))]

    def reduce(i, operand):
        return instruction(i, 'r%d' % i, 'reduce', L(36, bytes([operand, operand])), L(38, b'\x02'))
    added = [instruction(10, 'x', 'parameter'), instruction(11, 'y', 'parameter', V(9, 1)),
             instruction(12, 'z', 'add', L(36, b'\x0a\x0b'))]
    sums = [instruction(20, 'q', 'parameter'), reduce(21, 20)]
    products = [instruction(30, 'u', 'parameter'),
                instruction(31, 'v', 'multiply', L(36, b'\x1e\x1e')), reduce(32, 31)]
    signature = L(1, shape) + L(2, shape)
    module = L(1, 'm') + L(2, 'main') + L(4, signature) + V(5, 1) + V(6, 1)
    for i, name, body, root, of in ((2, 'add', added, 12, L(1, shape) + signature),
                                    (3, 'sum', sums, 21, signature),
                                    (4, 'dots', products, 32, signature),
                                    (1, 'main', made, 6, signature)):
        module += L(3, L(1, name), *body, L(4, of), V(5, i), V(6, root))
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': L(1, module)}}, key=1)
    return plane.bytes()


@case
def helpers_of_tensor_cores():
    """Kernels beside one on tensor cores, and of ops without a product, miss nothing."""
    def of(op):
        return {'hlo_op': {'str': op}, 'program_id': {'uint64': 1}}
    kernels = gpu(('transpose', 0, US, of('copy')), ('im2col', 2 * US, US, of('conv')),
                  ('sm80_xmma_fprop_tensorop', 4 * US, US, of('conv')),
                  ('im2col', 6 * US, US, of('other')), ('sums', 8 * US, US, of('sums')),
                  ('gemv', 10 * US, 2 * US, of('gemv')))
    data = space(kernels.bytes(), convolutions())
    columns = 'kernel_name, op_is_tensorcore_eligible, kernel_uses_tensorcore, is_helper'
    same(rows("SELECT %s FROM kernel_ops('{x}') ORDER BY 1, 4" % columns, x=data),
         [('gemv', 1, 0, 0), ('im2col', 1, 0, 0), ('im2col', 1, 0, 1),
          ('sm80_xmma_fprop_tensorop', 1, 1, 0), ('sums', 0, 0, 0), ('transpose', 0, 0, 0)])
    missed = "SELECT op_name, kernel_name, occurrences, percent FROM tensorcore_missed('{x}')"
    name = 'jit(f)/conv_general_dilated'
    same(rows(missed, x=data), [(name, 'gemv', 1, 200 / 7), (name, 'im2col', 1, 100 / 7)])
    by_name = [(kernel, i * US, US, {'tf_op': {'str': op}}) for i, (kernel, op) in enumerate((
        ('nchwToNhwc', 'a/Conv2D:Conv2D'), ('sm80_xmma_fprop_tensorop', 'a/Conv2D:Conv2D'),
        ('nchwToNhwc', 'b/Conv2D:Conv2D')))]
    same(rows(missed, x=space(gpu(*by_name).bytes())), [('b/Conv2D', 'nchwToNhwc', 1, 100 / 3)])
