# SPDX-License-Identifier: Apache-2.0
"""Steps of GPUs, TPUs and hosts, and the categories of their time, against numbers that XProf's own
tests publish or that were worked out by hand; odd steps; steps that Keras 3 marks."""
from lib.cases import case, same
from lib.shell import ask, rows
from lib.wire import L, Plane, V, line, space


def group(g, **more):
    """Stats of an event of a group, as a file brings them that XProf grouped."""
    stats = {'group_id': {'int64': g}}
    stats.update({name: {'str' if isinstance(value, str) else 'int64': value}
                  for name, value in more.items()})
    return stats


def shares(data, actual=False, where='1'):
    """{(step, core): {category: ps}}"""
    found = {}
    column = 'duration_ps_actual' if actual else 'duration_ps'
    for row in ask("SELECT step, core_id, category, %s AS ps FROM step_breakdown('{x}') "
                   "WHERE ps IS NOT NULL AND %s" % (column, where), x=data):
        found.setdefault((row['step'], row['core_id']), {})[row['category']] = row['ps']
    return found


def dropped(data):
    return [tuple(row.values()) for row in ask("SELECT group_id, step, dropped "
                                               "FROM host_steps('{x}')", x=data)]


def issues(data, table='host_steps'):
    """Codes of the issues that are known once the table was asked for."""
    return {row['code'] for row in ask("SELECT i.code FROM (SELECT count(*) AS n "
                                       "FROM %s('{x}')) AS s CROSS JOIN prof_issues('{x}') AS i "
                                       "WHERE s.n >= 0 AND i.code <> 'xprof_steps'" % table,
                                       x=data)}


def gpu_and_host():
    """From XProf's own test: two steps on the host, of which the device has one."""
    thread = [('TraceContext', 0, 100, {'_r': {'int64': 1}, 'step_num': {'int64': 123}}),
              ('FunctionRun', 10, 90, {'_pt': {'int64': 1}, '_p': {'int64': 0}}),
              ('TraceContext', 300, 100, {'_r': {'int64': 1}, 'step_num': {'int64': 456}}),
              ('FunctionRun', 310, 90, {'_pt': {'int64': 1}, '_p': {'int64': 1}})]
    executor = [('ExecutorState::Process', 20, 20, {'_ct': {'int64': 1}, '_c': {'int64': 0}}),
                ('matmul', 30, 10, {'correlation_id': {'int64': 100}}),
                ('ExecutorState::Process', 320, 20, {'_ct': {'int64': 1}, '_c': {'int64': 1}}),
                ('matmul', 330, 10, {'correlation_id': {'int64': 200}})]
    host = Plane('/host:CPU').line(0, 'main', thread).line(1, 'executor', executor)
    device = Plane('/device:GPU:0',
                   2).line(0, 'Stream #1', [('matmul', 50, 40, {'correlation_id': {'int64': 100}})])
    return space(device.bytes(), host.bytes())


@case
def device_decides():
    """Only the step that the device has counts, and it is as long as the device was busy; all of it
    computes."""
    data = gpu_and_host()
    same(shares(data), {(0, 1): {'DEVICE_COMPUTE_32': 40}})
    same(ask("SELECT step, start_ps, duration_ms, core_count, name FROM steps('{x}')", x=data),
         [{'step': 0, 'start_ps': 50, 'duration_ms': 40e-9, 'core_count': 1,
           'name': 'TraceContext 123'}])
    same(dropped(data), [(0, 0, None), (1, None, 'no event ran in it')])


@case
def the_range_that_the_program_marks():
    """Beside the device's span, also of a step that the device does not have; of a TPU; of two
    hosts the longest."""
    ranges = ("SELECT group_id AS step, range_start_ps AS start, range_ps AS ps "
              "FROM host_steps('{x}')")
    same(ask(ranges, x=gpu_and_host()),
         [{'step': 0, 'start': 0, 'ps': 100}, {'step': 1, 'start': 300, 'ps': 100}])
    of_steps = ("SELECT start_ps, range_start_ps AS start, "
                "CAST(round(range_ms * 1e9) AS INTEGER) AS ps FROM steps('{x}')")
    same(ask(of_steps, x=gpu_and_host()), [{'start_ps': 50, 'start': 0, 'ps': 100}])
    same(ask(of_steps, x=kernels(('matmul', 50, 40, {}))),
         [{'start_ps': 0, 'start': None, 'ps': None}])

    def of_host(length):
        device = Plane('/device:GPU:0').line(1, 's',
                                             [('k', 50, 40, group(0, correlation_id=0))]).line(
                                                 0xdeadbeef, 'Steps', [('0', 50, 40, group(0))])
        thread = [('TraceContext', 20, length,
                   {'_r': {'int64': 1}, 'step_num': {'int64': 7}, **group(0)})]
        return space(device.bytes(), Plane('/host:CPU', 5).line(1, 'main', thread).bytes())
    for lengths, longest in (((100, 120), 120), ((120, 100), 120)):
        same(ask(of_steps, x=[of_host(ps) for ps in lengths]),
             [{'start_ps': 50, 'start': 20, 'ps': longest}])
    root = {'_r': {'int64': 1}, 'step_num': {'int64': 7}}
    core = Plane('/device:TPU:0').line(1, 'Steps', [('7', 1000, 500, group(0))]).line(
        2, 'XLA Ops', [('fusion', 1100, 200, group(0))])
    host = Plane('/host:CPU', 5).line(1, 'main', [('TraceContext', 900, 650, {**root, **group(0)})])
    same(ask(of_steps, x=space(core.bytes(), host.bytes())),
         [{'start_ps': 1000, 'start': 900, 'ps': 650}])


def kernels(*events):
    """A GPU of a file that XProf grouped: one step [0, 1000] of group 0."""
    plane = Plane('/device:GPU:0').line(1, 'Stream #1',
                                        [(name, start, ps, group(0, correlation_id=n, **stats))
                                         for n, (name, start, ps, stats) in enumerate(events)])
    return space(plane.line(0xdeadbeef, 'Steps', [('0', 0, 1000, group(0))]).bytes())


@case
def kernel_names():
    """What a kernel counts as, by its name and by the shapes of its tensors."""
    data = kernels(('volta_fp16_s884gemm', 0, 100, {}),
                   ('half_kernel', 100, 50, {'shape': '(float32[2,2])'}),
                   ('any', 150, 30, {'shape': '(half[2])'}),
                   ('ncclAllReduceRingLLKernel', 200, 7, {}), ('MEMCPYHtoD', 300, 11, {}),
                   ('MemcpyH2D', 400, 13, {}), ('MEMCPYDtoH', 500, 17, {}),
                   ('MemcpyD2D', 600, 19, {}), ('CopyHostToDevice', 700, 23, {}),
                   ('CopyDeviceToHost', 800, 29, {}), ('CopyDeviceToDevice', 900, 31, {}))
    same(shares(data), {(0, 1): {'DEVICE_COMPUTE_16': 130, 'DEVICE_COMPUTE_32': 50 + 13 + 19 + 23
                                 + 29 + 31, 'DEVICE_COLLECTIVES': 7, 'HOST_TO_DEVICE': 11,
                                 'DEVICE_TO_HOST': 17, 'UNKNOWN_TIME': 1000 - 330}})
    actual = shares(data, actual=True)[0, 1]
    same({k: v for k, v in actual.items() if v},
         {'DEVICE_COMPUTE_16': 130, 'DEVICE_COMPUTE_32': 50, 'DEVICE_COLLECTIVES': 7,
          'HOST_TO_DEVICE': 24 + 23,
          'DEVICE_TO_HOST': 17 + 29, 'DEVICE_TO_DEVICE': 19 + 31, 'UNKNOWN_TIME': 1000 - 330})
    same(ask("SELECT compute_16bit_ps AS a, compute_32bit_ps AS b, compute_16bit_ps_actual AS c, "
             "compute_32bit_ps_actual AS d FROM op_metrics_totals('{x}') WHERE side = 'device'",
             x=data),
         [{'a': 130, 'b': 165, 'c': 130, 'd': 50}])
    other = kernels(('k', 0, 100, {}), ('Memset', 150, 30, {}),
                    ('__amd_rocclr_copyBuffer.kd', 200, 7, {}),
                    ('peer', 300, 5, {'memcpy_details': 'kind:Unknown'}),
                    ('MEMCPYHtoH', 400, 11, {}), ('Unified memory HtoD', 450, 13, {}),
                    ('Unified memory DtoH', 470, 17, {}), ('GPU page faults', 500, 6, {}))
    same({k: v for k, v in shares(other, actual=True)[0, 1].items() if v},
         {'DEVICE_COMPUTE_32': 100, 'DEVICE_TO_DEVICE': 48, 'HOST_TO_HOST': 11,
          'HOST_TO_DEVICE': 13, 'DEVICE_TO_HOST': 17, 'UNKNOWN_TIME': 1000 - 189})
    same(ask("SELECT device_to_device_count AS n FROM host_steps('{x}')", x=other), [{'n': 0}])


@case
def compiling():
    """Nested compile events count once, also of several threads, and take precedence over
    launching; Python functions, tracing and compiled functions do not count."""
    names = ['backend_compile_and_load', 'PjRtCpuClient::Compile', 'CpuCompiler::RunBackend',
             'XlaCompile:#module=jit_f#', 'cluster_1:_XlaCompile', 'PJRT_Client_Compile',
             'CpuCompiler::CompileCpuExecutable']
    others = ['$compiler.py:292 backend_compile_and_load', 'CompiledFunction::Call',
              'StatefulPartitionedCall/compile_loss/Cast:Cast', 'lower_sharding_computation',
              'XlaCompiledRun']
    main_thread = [('TraceContext', 0, 10000, group(0))] + [
        (n, 100 * i, 50, group(0)) for i, n in enumerate(names)] + [(names[1], 110, 20, group(0))]
    main_thread += [(n, 2000 + 100 * i, 50, group(0)) for i, n in enumerate(others)]
    other_thread = [('JitCompiler::Compile', 640, 60, group(0))]  # 640 to 650 coincides
    host = Plane('/host:CPU', 2).line(1, 'main', main_thread).line(2, 'pool', other_thread)
    found = ("SELECT host_compute_ms * 1e9 AS xprof, host_compute_ms_actual * 1e9 AS host, "
             "compilation_ms_actual * 1e9 AS compiling, compilation_ms * 1e9 AS never "
             "FROM steps('{x}')")
    same([{k: round(v) for k, v in row.items()} for row in ask(found, x=space(host.bytes()))],
         [{'xprof': 50 * 12 + 50, 'host': 50 * 5, 'compiling': 50 * 7 + 50, 'never': 0}])
    same([(row['spent_on'], row['spent_on_ms'])
          for row in ask("SELECT spent_on, spent_on_ms "
                         "FROM slowest_steps('{x}')", x=space(host.bytes()))], [(None, None)])
    device = Plane('/device:GPU:0').line(1, 'Stream #1',
                                         [('gemm', 520, 20, group(0, correlation_id=2))]).line(
                                             0xdeadbeef, 'Steps', [('0', 0, 10000, group(0))])
    host.line(3, 'executor', [('ExecutorState::Process', 0, 1000, group(0))])
    same({k: v for k, v in shares(space(device.bytes(), host.bytes()), actual=True)[0, 1].items()
          if v},
         {'HOST_COMPILE': 400 - 20, 'DEVICE_COMPUTE_32': 20, 'HOST_PREPARE': 1000 - 400,
          'HOST_COMPUTE': 250, 'UNKNOWN_TIME': 10000 - 1250})
    same([row['c'] for row in ask("SELECT compilation_ms_actual AS c "
                                  "FROM steps('{x}')", x=space(device.bytes()))], [None])


@case
def ops_of_no_group():
    """Ops of programs that threads of a host without devices run count once in the steps during
    which they run, with less priority than compiling; other events without a group do not count."""
    op = {'hlo_op': {'str': 'dot.1'}}
    marks = [('TraceContext', 0, 1000, group(0)), ('MatMul', 0, 100, group(0)),
             ('TraceContext', 1100, 900, group(1)), ('MatMul', 1110, 10, group(1)),
             ('XlaCompile', 1250, 10, group(1))]
    host = Plane('/host:CPU').line(1, 'main', marks).line(2, 'pool', [('dot.1', 50, 250, op), (
        'dot.1', 60, 40, op), ('dot.1', 950, 250, op), ('dot.1', 2500, 10, op)])
    host.line(3, 'pool', [('dot.1', 250, 150, op), ('dot.1', 1255, 45, op),
                          ('dot.1', 1500, 100, op), ('Wait', 1700, 100)])
    found = ("SELECT host_compute_ms * 1e9 AS xprof, host_compute_ms_actual * 1e9 AS host, "
             "compilation_ms_actual * 1e9 AS compiling, all_others_ms_actual * 1e9 AS others "
             "FROM steps('{x}')")
    same([tuple(round(v) for v in row.values()) for row in ask(found, x=space(host.bytes()))],
         [(100, 400 + 50, 0, 550), (10 + 10, 100 + 40 + 100, 10, 900 - 250)])
    same([(row['verdict'], round(row['percent']))
          for row in ask("SELECT i.verdict, h.percent FROM input_bound('{x}') AS i, "
                         "host_bound('{x}') AS h WHERE h.what = 'host compute'",
                         x=space(host.bytes()))], [('both', 36)])


@case
def host_beside_gpu():
    """What host threads did in addition to a GPU, at each moment the most important activity,
    worked out by hand. XProf ignores it."""
    device = Plane('/device:GPU:0').line(1, 'Stream #1',
                                         [('MemcpyH2D', 300, 100, group(0, correlation_id=1)),
                                          ('gemm', 500, 300, group(0, correlation_id=2))])
    device.line(0xdeadbeef, 'Steps', [('0', 0, 1000, group(0))])
    host = Plane('/host:CPU', 2).line(1, 'main', [
        ('TraceContext', 0, 1000, group(0)), ('IteratorGetNext', 0, 200, group(0)),
        ('FunctionRun', 200, 800, group(0)),
        ('cudaLaunchKernel', 350, 200, group(0, correlation_id=2)), ('MatMul', 700, 200, group(0))])
    data = space(device.bytes(), host.bytes())
    same(shares(data), {(0, 1): {'DEVICE_COMPUTE_32': 400, 'UNKNOWN_TIME': 600}})
    # input 0-200, nothing 200-300, copy 300-400 (above the launch), launch 400-500, computing
    # 500-800, host 800-900
    same({k: v for k, v in shares(data, actual=True)[0, 1].items() if v},
         {'HOST_WAIT_INPUT': 200, 'HOST_TO_DEVICE': 100, 'HOST_PREPARE': 100,
          'DEVICE_COMPUTE_32': 300, 'HOST_COMPUTE': 100, 'UNKNOWN_TIME': 200})
    same([tuple(row.values()) for row in ask("SELECT input_percent, input_verdict, "
                                             "input_percent_actual, input_verdict_actual, "
                                             "kernel_launch_percent, kernel_launch_percent_actual, "
                                             "kernel_launch_verdict, kernel_launch_verdict_actual, "
                                             "compute_percent_actual, all_others_percent_actual "
                                             "FROM input_pipeline('{x}')", x=data)],
         [(0.0, 'both', 30.0, 'host', 0.0, 10.0, 'no', 'moderate', 30.0, 20.0)])
    same({row['code'] for row in ask("SELECT code FROM recommendations('{x}') WHERE severity = "
                                     "'error' AND section = 'overview_page'", x=data)},
         {'input', 'all_others'})


@case
def transfers():
    """Bytes of copies in both spellings of their details; collectives."""
    data = kernels(('MemcpyH2D', 0, 10, {'memcpy_details': 'kind:H2D\nnum_bytes:4096\nasync:1'}),
                   ('MemcpyH2D', 10, 10, {'memcpy_details': 'kind_src:pinned size:100'}),
                   ('MEMCPYDtoH', 20, 5, {}), ('ncclKernel', 30, 5, {}), ('add', 40, 1, {}))
    same(ask("SELECT host_to_device_bytes AS b, host_to_device_count AS n, "
             "device_to_host_bytes AS d, device_to_host_count AS m, device_to_device_bytes AS e, "
             "collective_count AS c FROM host_steps('{x}')", x=data),
         [{'b': 4196, 'n': 2, 'd': None, 'm': 1, 'e': 0, 'c': 1}])


@case
def ends_are_dropped():
    """The first and last of six steps are dropped, none of five; the pod viewer has all of them."""
    def steps(n):
        plane = Plane('/device:GPU:0').line(
            1, 'Stream #1', [('k', i * 100, 50, group(i + 1, correlation_id=i)) for i in range(n)])
        return space(plane.line(0xdeadbeef, 'Steps', [(str(i + 1), i * 100, 60, group(i + 1))
                                                      for i in range(n)]).bytes())
    for n in (5, 6):
        data, ends = steps(n), {1, n} if n > 5 else set()
        same({row['step'] for row in ask("SELECT step FROM steps('{x}') WHERE dropped", x=data)},
             ends)
        same([(row['step'], row['pod_step'], row['dropped'])
              for row in ask("SELECT step, pod_step, dropped FROM core_steps('{x}')", x=data)],
             [(i, i, int(i in ends)) for i in range(1, n + 1)])
        same([row[0] for row in dropped(data) if row[2]], sorted(ends))
        for table in ('slowest_steps', 'step_time_graph'):
            same({row['step'] for row in ask("SELECT step FROM %s('{x}') "
                                             "WHERE dropped" % table, x=data)}, ends)


@case
def dropped_steps_are_in_no_median():
    """Steps of 90, 10, 20, 30, 40 and 1: the complete ones' median is 25; the list has all."""
    lengths, starts = (90, 10, 20, 30, 40, 1), (0, 100, 200, 300, 400, 500)
    plane = Plane('/device:GPU:0').line(1, 'Stream #1',
                                        [('k', s, n, group(i, correlation_id=i))
                                         for i, (s, n) in enumerate(zip(starts, lengths))])
    data = space(plane.line(0xdeadbeef, 'Steps', [
        (str(i), s, n, group(i)) for i, (s, n) in enumerate(zip(starts, lengths))]).bytes())
    same([(row['step'], row['dropped'], round(row['over_median_ms'] * 1e9))
          for row in ask("SELECT * FROM slowest_steps('{x}')", x=data)],
         [(0, 1, 65), (4, 0, 15), (3, 0, 5), (2, 0, -5), (1, 0, -15), (5, 1, -24)])


@case
def bars_end_with_their_steps():
    """Ops of a TensorCore that overlap do not lengthen its bar: a moment belongs to the one that
    started last."""
    plane = Plane('/device:TPU:0', 1)
    plane.line(10, 'XLA Ops', [(op(plane, 'op', 'fusion', 1), 0, 90, group(1)),
                               (op(plane, 'op2', 'all-reduce', 2), 40, 90, group(1)),
                               (op(plane, 'op3', 'fusion', 3), 200, 200, group(2))])
    data = space(plane.line(11, 'Steps',
                            [('1', 0, 100, group(1)), ('2', 200, 200, group(2))]).bytes())
    same([row['graph'] for row in ask("SELECT graph FROM step_time_graph('{x}', 20)", x=data)],
         ['CCCCAAAAAA', 'C' * 20])


@case
def ops_across_the_end_of_a_step():
    """An op of a TensorCore counts in each step for the time in it, by the innermost op; parts are
    of all cores together."""
    planes = []
    for core, idle in ((0, 0), (1, 50)):
        plane = Plane('/device:TPU:%d' % core, core)
        loop, fusion = op(plane, 'while', 'while', 1), op(plane, 'fusion', 'loop fusion', 2)
        reduce, feed, copy = op(plane, 'all-gather', 'all-gather', 3), op(plane, 'infeed', 'infeed',
                                                                          4), op(plane, 'copy-done',
                                                                                 'copy-done', 5)
        plane.line(10, 'XLA Ops',
                   [(loop, 0, 200, group(1)), (fusion, 0, 50, group(1)), (reduce, 60, 80, group(1)),
                    (feed, 200, 10, group(2)), (copy, 210, 40, group(2)),
                    (fusion, 250, 50 - idle, group(2))][:5 if idle else 6])
        planes.append(plane.line(11, 'Steps', [('1', 0, 100, group(1)), ('2', 100, 200, group(2))]))
    data = space(*[p.bytes() for p in planes])
    # step 1: 60 computing, 40 collective; step 2: 40 collective, 60 computing, 10 input, 40 copy,
    # 50 computing on one core and idle on the other
    same([tuple(round(v * 1e9) for v in row.values()) for row in
          ask("SELECT device_compute_ms_actual, device_collectives_ms_actual, input_ms_actual, "
              "device_to_device_ms_actual, all_others_ms_actual FROM steps('{x}')", x=data)],
         [(60, 40, 0, 0, 0), (85, 40, 10, 40, 25)])
    same({row['what']: round(row['percent'] * 6) for row in ask("SELECT what, percent "
                                                                "FROM host_bound('{x}')", x=data)},
         {'devices': 530, 'idle': 50, 'input': 20, 'output': 0})
    same({row['bound'] for row in ask("SELECT bound FROM host_bound('{x}')", x=data)}, {'no'})
    same([tuple(round(v * 6) for v in row.values()) for row in ask(
        "SELECT compute_percent, collectives_percent, exposed_communication_percent, "
        "device_busy_percent FROM kpi('{x}')", x=data)],
         [(290, 160, 160, 550)])


def exposed(data):
    return [tuple(row.values())
            for row in ask("SELECT plane, step, communicating_ps, exposed_communication_ps, "
                           "transferring_ps, exposed_transfer_ps FROM device_steps('{x}')", x=data)]


@case
def several_gpus():
    """A moment counts once, however many GPUs of the host are busy."""
    planes = [Plane('/device:GPU:%d' % i,
                    i + 1).line(1, 'Stream #1', [('k', 10 * i, 50, group(7, correlation_id=i))])
              .line(0xdeadbeef, 'Steps', [('7', 10 * i, 50, group(7))]) for i in range(2)]
    data = space(*[p.bytes() for p in planes])
    same(shares(data), {(7, 1): {'DEVICE_COMPUTE_32': 50}})
    # each works for 50 of the 60 ps from the first event to the last
    same(ask("SELECT round(device_busy_percent, 6) AS busy FROM kpi('{x}')", x=data),
         [{'busy': 83.333333}])


@case
def host_only():
    """Without devices, the threads of the host count; copies within the host are in none of the
    nine categories."""
    events = [('TraceContext', 0, 100, group(3)), ('MatMul', 10, 50, group(3)),
              ('MEMCPYHtoH', 20, 10, group(3)), ('IteratorGetNext', 70, 20, group(3)),
              ('EagerExecute: x', 0, 100, group(3))]
    data = space(Plane('/host:CPU').line(1, 'main', events).bytes())
    same(shares(data), {(3, 1): {'HOST_COMPUTE': 40, 'HOST_TO_HOST': 10, 'HOST_WAIT_INPUT': 20,
                                 'UNKNOWN_TIME': 30}})
    same(ask("SELECT input_us * 1e6 AS i, host_compute_us * 1e6 AS h, bottleneck AS b "
             "FROM core_steps('{x}')", x=data), [{'i': 20.0, 'h': 40.0, 'b': 'Host compute'}])


@case
def foreign_steps():
    """Steps that Keras 3 marks show what happened during their time; XProf's columns do not have
    them."""
    data = space(Plane('/host:CPU').line(1, 'main',
                                         [('Profiled batch 4', 5, 10), ('x', 6, 1)]).bytes())
    same(ask("SELECT group_id, step, name, start_ps, duration_ps, dropped FROM host_steps('{x}')",
             x=data),
         [{'group_id': None, 'step': 4, 'name': 'Profiled batch 4', 'start_ps': 5,
           'duration_ps': 10, 'dropped': 'XProf does not recognize its marker'}])
    same([tuple(row.values()) for row in ask("SELECT step, name, start_ps, duration_ms, "
                                             "host_compute_ms, host_compute_ms_actual, "
                                             "all_others_ms, all_others_ms_actual, bottleneck, "
                                             "outside_xprof, dropped FROM steps('{x}')", x=data)],
         [(4, 'Profiled batch 4', 5, 10e-9, None, 1e-9, None, 9e-9, 'All others', 1, 0)])
    same(shares(data), {})
    same([tuple(row.values()) for row in ask("SELECT step, pod_step, hostname, chip_id, "
                                             "bottleneck, bottleneck_actual, total_us, input_us, "
                                             "outside_xprof FROM core_steps('{x}')", x=data)],
         [(4, None, None, None, None, 'All others', 10e-6, None, 1)])
    same(issues(data), {'no_steps'})
    same([tuple(row.values()) for row in ask("SELECT step_count, step_count_actual, input_verdict, "
                                             "input_verdict_actual, all_others_percent_actual "
                                             "FROM input_pipeline('{x}')", x=data)],
         [(0, 1, 'unknown', 'device', 90.0)])


def foreign(*marks, rest=(), gpu=()):
    """A host with marks (begin, duration, step_num) and events on its main thread, and what a GPU
    did."""
    marks = [('Profiled batch', begin, ps, {'step_num': {'int64': number}} if number is not None
              else {}) for begin, ps, number in marks]
    planes = [Plane('/host:CPU', 9).line(1, 'main',
                                         sorted(marks + list(rest), key=lambda e: (e[1], -e[2])))]
    if gpu:
        planes.append(Plane('/device:GPU:0', 1).line(1, 'Stream #1', list(gpu)))
    return space(*[p.bytes() for p in planes])


@case
def foreign_steps_by_time():
    """Worked out by hand: what host and GPU did during each step, the most important activity at
    each moment; Python frames are not work."""
    data = foreign((0, 1000, 7), (1000, 1000, 8),
                   rest=[('IteratorGetNext', 100, 200),
                         ('cudaLaunchKernel', 400, 100, {'correlation_id': {'int64': 1}}),
                         ('$train.py:3 fit', 0, 2000)],
                   gpu=[('gemm', 450, 750, {'correlation_id': {'int64': 1}}),
                        ('MemcpyD2H', 1200, 50, {'correlation_id': {'int64': 2}})])
    same({step: {k: v for k, v in parts.items() if v}
          for step, parts in shares(data, actual=True, where='duration_ps_actual').items()},
         {(7, 1): {'HOST_WAIT_INPUT': 200, 'HOST_PREPARE': 50, 'DEVICE_COMPUTE_32': 550,
                   'UNKNOWN_TIME': 200},
          (8, 1): {'DEVICE_COMPUTE_32': 200, 'DEVICE_TO_HOST': 50, 'UNKNOWN_TIME': 750}})
    same([tuple(row.values()) for row in ask(
        "SELECT input_percent_actual, output_percent_actual, round(compute_percent_actual, 9), "
        "kernel_launch_percent_actual, round(all_others_percent_actual, 9), "
        "input_verdict_actual FROM input_pipeline('{x}')", x=data)],
         [(10.0, 2.5, 37.5, 2.5, 47.5, 'both')])
    same([(row['step'], row['graph']) for row in ask("SELECT step, graph "
                                                     "FROM step_time_graph('{x}', 20)", x=data)],
         [(7, 'CCCCCCCCCCCIIIIL....'), (8, 'CCCCO...............')])
    same([(row['rank'], row['step']) for row in ask("SELECT rank, step FROM slowest_steps('{x}')",
                                                    x=data)], [(1, 7), (2, 8)])
    same([(row['what'], row['percent']) for row in ask("SELECT what, round(percent, 9) AS percent "
                                                       "FROM host_bound('{x}') LIMIT 2", x=data)],
         [('all others', 47.5), ('devices', 37.5)])
    same(exposed(data), [('/device:GPU:0', 7, 0, 0, 0, 0), ('/device:GPU:0', 8, 0, 0, 50, 50)])
    same([row['step_count'] for row in ask("SELECT step_count FROM stragglers('{x}')", x=data)],
         [2])
    same([(row['step_count'], round(row['step_time_ms'] * 1e9))
          for row in ask("SELECT step_count, step_time_ms FROM kpi('{x}')", x=data)], [(2, 1000)])


@case
def odd_foreign_steps():
    """Overlapping marks each have their time; numbers that do not increase are not steps; marks
    without an end are not steps; XProf's own steps take precedence."""
    work = [('MatMul', 10, 30)]
    data = foreign((0, 40, 5), (20, 40, 5), (70, 0, 6), rest=work)
    same(shares(data, actual=True, where='duration_ps_actual'),
         {(0, 1): {'HOST_COMPUTE': 30, 'UNKNOWN_TIME': 10},
          (1, 1): {'HOST_COMPUTE': 20, 'UNKNOWN_TIME': 20}})
    same([row[1] for row in dropped(data)], [0, 1, None])
    data = foreign((0, 40, 5), rest=[('train', 0, 50, group(3)), ('MatMul', 10, 30, group(3))])
    same(ask("SELECT step, outside_xprof FROM steps('{x}')", x=data),
         [{'step': 3, 'outside_xprof': 0}])
    two = [foreign((0, 40, 5), (40, 40, 6), rest=work),
           foreign((40, 40, 9), (80, 40, 10), rest=[('MatMul', 40, 10)])]
    same(shares(two, actual=True, where='duration_ps_actual'),
         {(0, 1): {'UNKNOWN_TIME': 40}, (0, 1001): {'HOST_COMPUTE': 10, 'UNKNOWN_TIME': 30}})
    many = foreign(*[(10 * i, 10, i) for i in range(100000)], rest=[('MatMul', 0, 10 ** 6)])
    same(ask("SELECT count(*) AS n, sum(host_compute_ms_actual = 10e-9) AS work FROM steps('{x}')",
             x=many), [{'n': 100000, 'work': 100000}])
    for begin, ps in ((2 ** 63 - 10, 100), (-2 ** 63, 2 ** 63 - 1), (0, -5)):
        ask("SELECT * FROM step_breakdown('{x}')",
            x=foreign((begin, ps, 1), (0, 10, 2), rest=[('MatMul', begin, ps)]))


def op(plane, name, category, symbol):
    return plane.meta(name, stats={'program_id': {'uint64': 1}, 'symbol_id': {'uint64': symbol},
                                   'hlo_category': {'str': category}})


@case
def tpu_steps():
    """XProf's own test: ops and steps of two groups; with an empty line of steps there are none."""
    def data(steps):
        plane = Plane('/device:TPU:0', 1)
        a, b = op(plane, 'op', 'fusion', 1), op(plane, 'op2', 'copy', 2)
        plane.line(10, 'XLA Ops',
                   [(a, 0, 50, group(1)), (b, 50, 50, group(1)), (a, 100, 50, group(2))])
        return space(plane.line(11, 'Steps', steps).bytes())
    same(shares(data([('1', 0, 100, group(1)), ('2', 100, 100, group(2))])),
         {(1, 1): {'fusion': 50, 'copy': 50, 'IDLE': 0}, (2, 1): {'fusion': 50, 'IDLE': 50}})
    same(shares(data([])), {})
    same([row[2] for row in dropped(data([('1', 0, 100, group(1))]))],
         [None, 'no marker records its duration'])


@case
def ops_without_a_program():
    """An op of a TensorCore counts if its metadata has a program and an instruction other than 0:
    asked of XProf 2.24.2."""
    for program, symbol, counts in ((1, 2, True), (None, 2, False), (1, None, False), (1, 0, False),
                                    (None, None, False)):
        plane = Plane('/device:TPU:0', 1)
        ids = {'program_id': {'uint64': program}, 'symbol_id': {'uint64': symbol}}
        other = plane.meta('other', stats={'hlo_category': {'str': 'copy'}, **{
            name: value for name, value in ids.items() if value['uint64'] is not None}})
        plane.line(10, 'XLA Ops', [(op(plane, 'op', 'fusion', 1), 0, 50, group(1)),
                                   (other, 50, 20, group(1))])
        plane.line(11, 'Steps', [('1', 0, 100, group(1))])
        same(shares(space(plane.bytes())), {(1, 1): (
            {'fusion': 50, 'copy': 20, 'IDLE': 30} if counts else {'fusion': 50, 'IDLE': 50})},
             (program, symbol))


@case
def sparse_cores():
    """A SparseCore has the TensorCore's steps, and is busy where its innermost ops run, and those
    around them that have a category: asked of XProf 2.24.2."""
    plane = Plane('/device:TPU:0', 2).line(11, 'Steps', [('1', 0, 1000, group(1))])
    plane.line(10, 'XLA Ops', [(op(plane, 'op', 'fusion', 1), 0, 900, group(1))])
    for category, own, busy in ((None, None, 110), ('sparsecore gather', None, 890),
                                (None, 'sparsecore gather', 890)):
        sparse = Plane('/device:TPU:0 SparseCore 0', 1, {'group_id': {'int64': 0}})
        around = op(sparse, 'op', category, 1) if category else 'op'
        stats = {'hlo_category': {'str': own}} if own else {}
        sparse.line(10, 'Sparse Core Ops',
                    [(around, 100, 880, stats), ('other', 500, 100), ('later', 990, 100)])
        same(shares(space(plane.bytes(), sparse.bytes())),
             {(1, 2): {'fusion': 900, 'IDLE': 100},
              (1, 1000001): {'sc_busy_ps': busy, 'sc_compute_ps': busy, 'sc_idle_ps': 1000 - busy}})


def clocked(start, ps, **more):
    """Stats of an event that a TPU timed itself."""
    stats = {'device_offset_ps': {'uint64': start}, 'device_duration_ps': {'uint64': ps}}
    stats.update({name: {'uint64': value} for name, value in more.items()})
    return stats


def barrier_host(*cores, steps=((0, 10000),), name='barrier-cores'):
    """TensorCores of lists of (begin, duration) of events of this name."""
    planes = []
    for i, events in enumerate(cores):
        plane = Plane('/device:TPU:%d' % i, i + 1)
        plane.line(11, 'Steps', [(str(n), begin, ps, dict(clocked(begin, ps), **group(n)))
                                 for n, (begin, ps) in enumerate(steps)])
        numbered = [(begin, ps, max(n for n, step in enumerate(steps) if step[0] <= begin))
                    for begin, ps in events]
        planes.append(plane.line(10, 'XLA TraceMe',
                                 [(name, begin, ps, dict(clocked(begin, ps), **group(n)))
                                  for begin, ps, n in numbered]).bytes())
    return space(*planes)


def suggestions(data):
    return {row['code']: row['statement']
            for row in ask("SELECT code, statement FROM recommendations('{x}') "
                           "WHERE section IN ('smart_suggestion', 'more_suggestions')", x=data)}


@case
def time_of_events_by_name():
    """XProf's own test of such shares: events of 200 and 100 in a step of 1000 are 30 % of it. Here
    of those that print."""
    found = suggestions(barrier_host([(0, 200), (300, 100)], steps=((0, 1000),),
                                     name='debug_print'))
    same('30.0%' in found['DebugPrintRule'], True, found)
    # asked of XProf 2.24.2: 0, 0.3 and 0 of five steps, the ends left out; events of no length are
    # events, but at barriers
    thousand = tuple((1000 * i, 1000) for i in range(5))
    found = suggestions(barrier_host([(0, 0), (1000, 0), (2000, 300), (3000, 0), (4000, 50)],
                                     steps=thousand, name='debug_print'))
    same('10.0%' in found['DebugPrintRule'], True, found)
    # events of no step are left out, and steps without events: 0.3 and 0.05
    plane = Plane('/device:TPU:0')
    plane.line(11, 'Steps', [(str(n), 1000 * n, ps, dict(clocked(1000 * n, ps), **group(n)))
                             for n, ps in ((1, 1000), (2, 500), (4, 2000))])
    plane.line(10, 'XLA TraceMe', [
        ('debug_print', 1000 * n, ps, dict(clocked(1000 * n, ps), **group(n)))
        for n, ps in ((0, 500), (1, 300), (3, 700), (4, 100), (5, 900))])
    found = suggestions(space(plane.bytes()))
    same('17.5%' in found['DebugPrintRule'], True, found)


@case
def cores_that_differ():
    """Only steps that all cores have count."""
    planes = []
    for core, steps in ((0, (1, 2)), (1, (2, 3))):
        plane = Plane('/device:TPU:%d' % core, core + 1)
        plane.line(10, 'XLA Ops',
                   [(op(plane, 'op', 'fusion', 1), 100 * s, 50, group(s)) for s in steps])
        planes.append(plane.line(11, 'Steps',
                                 [(str(s), 100 * s, 100, group(s)) for s in steps]).bytes())
    data = space(*planes)
    same(sorted(shares(data)), [(2, 1), (2, 2)])
    same([row[1:] for row in dropped(data)],
         [(None, 'not all cores ran it'), (2, None), (None, 'not all cores ran it')])


def gpu_host(first, n, begin, stride=100, length=80):
    plane = Plane('/device:GPU:0')
    plane.stats_of(group(0, correlation_id=0))
    groups, numbers = (V(1, plane.names[name]) for name in ('group_id', 'correlation_id'))

    def of_group(i):
        return L(4, groups + V(4, first + i))
    kernel, size = V(1, plane.meta('k')), V(3, length)
    plane.lines.append(line(1, 'Stream #1', [
        kernel + V(2, begin + i * stride) + size + of_group(i) + L(4, numbers + V(4, i))
        for i in range(n)]))
    plane.lines.append(line(0xdeadbeef, 'Steps', [
        V(1, plane.meta(str(i))) + V(2, begin + i * stride) + size + of_group(i)
        for i in range(n)]))
    return space(plane.bytes())


@case
def one_step():
    """A single step is enough: averages, but no deviation; nothing is typical of it."""
    data = kernels(('k', 0, 400, {}))
    same([tuple(row.values()) for row in ask("SELECT step_count, step_time_ms_average * 1e9, "
                                             "step_time_ms_deviation, compute_percent "
                                             "FROM input_pipeline('{x}')", x=data)],
         [(1, 1000.0, None, 40.0)])
    same([tuple(row.values()) for row in ask("SELECT rank, over_median_ms, spent_on "
                                             "FROM slowest_steps('{x}')", x=data)],
         [(1, 0.0, None)])
    same(len(ask("SELECT * FROM step_time_graph('{x}', 10)", x=data)), 1)
    same([tuple(row.values()) for row in ask("SELECT step_count, step_time_deviation_percent "
                                             "FROM kpi('{x}')", x=data)], [(1, None)])


@case
def steps_without_end():
    """A marker that was cut off has no length: the group is listed, with the reason."""
    host = Plane('/host:CPU').line(1, 'main',
                                   [('train', 0, 0, group(0)), ('MatMul', 5, 10, group(0)),
                                    ('train', 100, 50, group(1)), ('MatMul', 110, 10, group(1))])
    data = space(host.bytes())
    same(dropped(data), [(0, None, 'its marker has no duration'), (1, 1, None)])
    same([row['step'] for row in ask("SELECT step FROM steps('{x}')", x=data)], [1])


@case
def extreme_times():
    """Steps at the ends of int64, and of groups at its ends, are shown or left out, but never
    crash."""
    for start, ps, g in ((2 ** 63 - 10, 100, 2 ** 63 - 1), (-2 ** 63, 2 ** 63 - 1, 0), (0, -5, 1),
                         (5, 10, -1), (-1, 2, 2 ** 32 + 1)):
        plane = Plane('/device:GPU:0').line(1, 's', [('k', start, ps, group(g, correlation_id=1)),
                                                     ('c', start, 0, group(g, correlation_id=2))])
        data = space(plane.line(0xdeadbeef, 'Steps', [('0', start, ps, group(g))]).bytes())
        found = rows("SELECT group_id, start_ps, CASE WHEN %d >= 0 THEN duration_ps END "
                     "FROM host_steps('{x}')" % ps, data)
        same(found, [(g, start, ps if ps >= 0 else None)] if g >= 0 else [], 'host_steps')
        for table in ('steps', 'core_steps'):
            same(rows("SELECT count(*) FROM %s('{x}')" % table, data), [(int(g >= 0),)], table)
        for table in ('step_breakdown', 'roofline'):
            ask("SELECT * FROM %s('{x}')" % table, x=data)


@case
def many_steps():
    """100,000 steps on two hosts: in time with their number, and aligned."""
    n = 100000
    data = [gpu_host(0, n, 0), gpu_host(0, n, 100)]
    same(ask("SELECT count(*) AS n, max(step) AS last FROM steps('{x}')", x=data),
         [{'n': n - 3, 'last': n - 4}])


@case
def nested_steps():
    """Steps that all overlap each other are aligned in one walk too, and in time."""
    def host(shift):
        n = 20000
        plane = Plane('/device:GPU:0').line(
            1, 's', [('k', i, 10 ** 6 - i + shift, group(i, correlation_id=i)) for i in range(n)])
        return space(plane.line(0xdeadbeef, 'Steps', [(str(i), i, 10 ** 6 - i + shift, group(i))
                                                      for i in range(n)]).bytes())
    data = [host(0), host(7)]
    same(ask("SELECT count(*) > 19000 AS enough FROM steps('{x}')", x=data), [{'enough': 1}])


@case
def events_without_duration_take_no_time():
    """To XProf an event of duration 0 or below goes on until another of its kind ends. The actual
    columns count nothing for it."""
    thread = [('train', 0, 1000, group(0, step_name='train 0')), ('a:Mul', 100, 0, group(0)),
              ('b:Add', 300, 200, group(0)), ('c:Mul', 800, -50, group(0))]
    data = space(Plane('/host:CPU').line(0, 'main', thread).bytes())
    same(ask("SELECT host_compute_us * 1e6 AS xprof, host_compute_us_actual * 1e6 AS actual, "
             "all_others_us_actual * 1e6 AS others FROM core_steps('{x}')", x=data),
         [{'xprof': 400.0, 'actual': 200.0, 'others': 800.0}])


@case
def parts_of_tpu_steps():
    """What XProf's input pipeline page tells of two cores: the least computing, the most infeed,
    the average outfeed, the longest wait for a SparseCore of the first kind, and what these leave
    of the shorter step."""
    ms, planes = 10**9, []
    for core, parts in enumerate((
            {'fusion': 400, 'infeed': 100, 'outfeed': 50, 'sparsecorev0 infeed': 200,
             'sparsecorev0 outfeed': 80, 'host send': 7, 'host recv-done': 5},
            {'fusion': 500, 'infeed': 60, 'outfeed': 70, 'sparsecorev0 infeed': 250,
             'sparsecorev0 outfeed': 100, 'host recv': 9})):
        plane, at, ops = Plane('/device:TPU:%d' % core, core + 1), 0, []
        for i, (category, n) in enumerate(parts.items()):
            ops.append((op(plane, 'op%d' % i, category, i + 1), at * ms, n * ms, group(1)))
            at += n
        planes.append(plane.line(10, 'XLA Ops', ops).line(
            11, 'Steps', [('1', 0, 1000 * ms, group(1))]).bytes())
    # 200 - 80 and 250 - 100 are waited; idle are 158 and 11
    same(ask("SELECT tc_compute_ms, tc_infeed_ms, tc_outfeed_ms, scv0_compute_ms, scv0_infeed_ms, "
             "tc_idle_ms, host_transfer_ms, infeed_percent_average, infeed_percent_min, "
             "infeed_percent_max, round(step_time_ms, 9) AS step FROM input_steps('{x}')",
             x=space(*planes)),
         [{'tc_compute_ms': 1000 - 100 - 50 - 12 - 158 - 120, 'tc_infeed_ms': 100,
           'tc_outfeed_ms': 60, 'scv0_compute_ms': 150, 'scv0_infeed_ms': 0, 'tc_idle_ms': 130,
           'host_transfer_ms': 12, 'infeed_percent_average': 8, 'infeed_percent_min': 6,
           'infeed_percent_max': 10, 'step': 1000}])


@case
def cores_without_ops():
    """A core that runs no op in its steps does not make them longer: as XProf 2.24.2 has them."""
    cores = [Plane('/device:TPU:%d' % i, i + 1).line(
        11, 'Steps', [(str(n), 4000 * n, ps + n, group(n)) for n in range(3)])
             for i, ps in enumerate((1000, 3000))]
    f = op(cores[0], 'f', 'fusion', 1)
    cores[0].line(10, 'XLA Ops', [(f, 4000 * n, 800, group(n)) for n in range(3)])
    same(rows("SELECT step, round(duration_ms * 1e9) FROM steps('{x}')",
              x=space(*[core.bytes() for core in cores])), [(0, 1000), (1, 1001), (2, 1002)])
