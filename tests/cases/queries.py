# SPDX-License-Identifier: Apache-2.0
"""Canned queries and the columns that they read, on small profiles whose answers are worked out by
hand. Those of one subject are in queries_*.py."""
from lib.cases import case, refused, same
from lib.made import gpu, host, programs
from lib.shell import attached, rows
from lib.wire import Plane, US, space


@case
def op_of_a_gpu_event():
    """tf_op names the op; where it names XLA's module only, the stat name does, else the
    instruction; files until 2023 have it elsewhere."""
    hlo = {'hlo_op': {'str': 'x::dot.1'}, 'program_id': {'uint64': 1}}
    kernels = [({'tf_op': 'a/MatMul:MatMul', 'name': 'other'}, 'a/MatMul:MatMul'),
               ({'tf_op': 'XlaModule:', 'name': 'jit(f)/add'}, 'jit(f)/add'),
               ({'tf_op': 'XlaModule:', **hlo}, 'jit(f)/dot_general'),
               ({'tf_op': 'XlaModule:', 'name': 'jit(f)/mul', **hlo}, 'jit(f)/mul'),
               ({'tf_op': 'XlaModule:', 'hlo_op': 'nothing', 'program_id': {'uint64': 1}}, None),
               ({'tf_op': 'XlaModule:'}, None), ({'tf_op': ''}, None), ({'name': 'k'}, None),
               ({'level 0': 'a/Add:Add'}, 'a/Add:Add'), ({'level 0': '#edge_name=copy#'}, None),
               ({'level 0': '#edge_name=copy#', 'annotation': 'a/B:B#x=1#'}, 'a/B:B')]
    plane = Plane('/device:GPU:0')
    plane.line(1, 'Stream #1', [('k', i * US, US, {k: v if isinstance(v, dict) else {'str': v}
                                                   for k, v in stats.items()})
                                for i, (stats, _) in enumerate(kernels)])
    same(rows("SELECT tf_op FROM trace_events('{x}') WHERE plane_kind = 'gpu' ORDER BY start_ps",
              x=space(plane.bytes(), programs(1, ('dot.1', 'dot', 'jit(f)/dot_general')))),
         [(want,) for _, want in kernels])


@case
def runs_are_kept_apart():
    """Without a source each run has rows of its own, and its own kind: devices where it has any,
    else threads."""
    conv = {'tf_op': {'str': 'a/Conv2D:Conv2D'}}
    on_gpu = [space(gpu(('k', 0, 4 * US, {**conv, 'correlation_id': {'int64': 1}})).bytes(),
                    host(('launch', 0, US, {'correlation_id': {'int64': 1}})).bytes())
              for _ in range(2)]
    sources = {'one': on_gpu[0], 'two': on_gpu[1],
               'three': space(host(('f', 0, 2 * US), ('g', 3 * US, US)).bytes())}
    same(attached('SELECT run, rank, operation, place, occurrences, self_time_us '
                  'FROM top_ops', **sources),
         [('one', 1, 'k', 'device', 1, 4.0), ('three', 1, 'f', 'host', 1, 2.0),
          ('three', 2, 'g', 'host', 1, 1.0), ('two', 1, 'k', 'device', 1, 4.0)])
    same(attached('SELECT run, rank, operation FROM top_ops WHERE n = 1', **sources),
         [('one', 1, 'k'), ('three', 1, 'f'), ('two', 1, 'k')])
    for query, columns in (('top_kernels', 'kernel_name, occurrences, percent'),
                           ('launch_latency', "kernel, launches, 100.0"),
                           ('kernel_time_by_op', "'k', occurrences, percent"),
                           ('tensorcore_missed', 'kernel_name, occurrences, percent')):
        same(attached('SELECT run, %s FROM %s' % (columns, query), **sources),
             [('one', 'k', 1, 100.0), ('two', 'k', 1, 100.0)], query)
    one = space(host(('f:F', 0, 2 * US)).bytes())
    same(attached('SELECT "Operation Name" FROM tf_stats WHERE "Operation Name" <> \'IDLE\'',
                  one=one), [('f',)])
    refused('tf_stats: 3 runs are attached; give one of them: one, two, three',
            attached, 'SELECT * FROM tf_stats', **sources)


@case
def ops_of_one_name():
    """Ops of one name in two programs are two; kernels are one function; metadata of one name on a
    line are one operation."""
    plane = Plane('/device:TPU:0')
    first, second = (plane.meta('%%fusion = f32[%d]{0} fusion()' % i, 'fusion',
                                {'program_id': {'uint64': i}}) for i in (1, 2))
    plane.line(1, 'XLA Ops',
               [(first, 0, 5 * US), (second, 5 * US, 3 * US), (first, 8 * US, 1 * US)])
    same_name = [plane.meta('barrier', stats={'id': {'int64': i}}) for i in range(3)]
    plane.line(2, 'XLA TraceMe', [(m, i * US, US) for i, m in enumerate(same_name)])
    metadata = Plane('/host:metadata', 9)
    metadata.meta('jit_a(1)', key=1), metadata.meta('jit_b(2)', key=2)
    data = space(plane.bytes(), metadata.bytes())
    same(rows("SELECT rank, operation, hlo_module, occurrences, self_time_us FROM top_ops('{x}')",
              x=data), [(1, 'fusion', 'jit_a', 2, 6.0), (2, 'fusion', 'jit_b', 1, 3.0)])
    same(rows("SELECT line, rank, operation, hlo_module, occurrences FROM op_time_by_line('{x}')",
              x=data),
         [('XLA Ops', 1, 'fusion', 'jit_a', 2), ('XLA Ops', 2, 'fusion', 'jit_b', 1),
          ('XLA TraceMe', 1, 'barrier', None, 3)])
    in_module = [('dot', i * US, US, {'hlo_op': {'str': 'dot'}, 'hlo_module': {'str': m}})
                 for i, m in enumerate(('jit_a', 'jit_b', 'jit_a'))]
    data = space(host(*in_module, ('other', 5 * US, US // 2)).bytes())
    same(rows("SELECT rank, operation, hlo_module, occurrences FROM top_ops('{x}')", x=data),
         [(1, 'dot', 'jit_a', 2), (2, 'dot', 'jit_b', 1), (3, 'other', None, 1)])
    custom = Plane('/device:CUSTOM:x', 3).line(1, 'l', [('c', 0, 9, {'hlo_module': {'str': 'm'}})])
    same(rows("SELECT operation FROM top_ops('{x}')", x=data + space(custom.bytes(), hostname='')),
         [('dot',), ('dot',), ('other',)], 'a plane that is neither a host nor a device')


@case
def ops_of_kernels():
    """Kernels that XProf's rows merge, since it reads no op of theirs, have each op in kernel_ops;
    and so in the queries over it."""
    def level_0(op):
        return {'level 0': {'str': op}}
    data = space(gpu(('volta_cgemm', 0, 30 * US, level_0('a/Conv2D:Conv2D')),
                     ('volta_cgemm', 30 * US, 10 * US, level_0('b/Conv2D:Conv2D')),
                     ('gemv', 50 * US, 5 * US, level_0('c/MatMul:MatMul')),
                     ('fft2d_r2c', 60 * US, 4 * US, level_0('a/Conv2D:Conv2D')),
                     ('k', 70 * US, US,
                      {'tf_op': {'str': 'XlaModule:'}, 'name': {'str': 'jit(f)/add'}})).bytes())
    same(rows("SELECT kernel_name, op_name, occurrences, total_duration_us FROM kernel_ops('{x}')",
              x=data),
         [('volta_cgemm', 'a/Conv2D', 1, 30.0), ('volta_cgemm', 'b/Conv2D', 1, 10.0),
          ('gemv', 'c/MatMul', 1, 5.0), ('fft2d_r2c', 'a/Conv2D', 1, 4.0),
          ('k', 'jit(f)/add', 1, 1.0)])
    same(rows("SELECT kernel_name, op_count, op_name FROM top_kernels('{x}')", x=data),
         [('volta_cgemm', 2, 'a/Conv2D'), ('gemv', 1, 'c/MatMul'), ('fft2d_r2c', 1, 'a/Conv2D'),
          ('k', 1, 'jit(f)/add')])
    same(rows("SELECT kernel_name, op_name, percent FROM tensorcore_missed('{x}')", x=data),
         [('gemv', 'c/MatMul', 10.0)])


@case
def launch_sizes():
    """Sizes that no launch has are not known: old profilers left them uninitialised in some
    events."""
    texts = [('grid:8,2,1 block:128,1,1', ('8,2,1', '128,1,1')),
             ('grid:0,139909901849920,6432 block:1,1,1', (None, '1,1,1')),
             ('grid:1,1 block:2147483648,1,1', (None, None)),
             ('grid:2147483647,1,1 block:1,,1', ('2147483647,1,1', None)),
             ('grid:1,1,1,1 block:00000000000000000000000000000001,1,1',
              (None, '00000000000000000000000000000001,1,1'))]
    plane = host(*[('launch', i * US, US, {'kernel_details': {'str': text}})
                   for i, (text, _) in enumerate(texts)])
    same(rows("SELECT grid_dim, block_dim FROM trace_events('{x}') ORDER BY start_ps",
              x=space(plane.bytes())), [want for _, want in texts])


@case
def session_start():
    """The session starts when Task Environment says so; what starts before it has times below 0,
    whatever clock its line has."""
    start = 1700000000000000000
    plane = Plane('/host:CPU').line(1, 'relative', [('a', 5, 5)],
                                    7).line(2, 'early', [('b', 0, 5)],
                                            start - 5000).line(3, 'late', [('c', 0, 5)], start + 1)
    session = Plane('Task Environment', 3, {'profile_start_time': {'uint64': start},
                                            'profile_stop_time': {'uint64': start + 10000}})
    data = space(plane.bytes(), session.bytes())
    same(rows("SELECT start_unix_ns FROM hosts('{x}')", x=data), [(start,)])
    for ns, ps in ((10000, 10000000), (9223372036854774, 9223372036854774000),
                   (9223372036854776, None), (-1, None)):
        session = Plane('Task Environment', 3, {'profile_start_time': {'uint64': start},
                                                'profile_stop_time': {'uint64': start + ns}})
        same(rows("SELECT duration_ps FROM prof_runs('{x}')", space(session.bytes())), [(ps,)])
    same(rows("SELECT name, start_ps FROM trace_events('{x}') ORDER BY name", x=data),
         [('a', 7005), ('b', -5000000), ('c', 1000)])
    same(rows("SELECT h.start_unix_ns, e.start_ps FROM hosts('{x}') AS h, trace_events('{x}') AS e "
              "ORDER BY name", x=space(plane.bytes())),
         [(start - 5000, 7005), (start - 5000, 0), (start - 5000, 5001000)])


@case
def compare_runs():
    """Ops of two runs by name, then by the instruction's fingerprint, then by similar names; times
    by devices and steps beside the sums."""
    def run(names, n_devices, length, opcode='custom-call'):
        def kernel(name, op, hlo, i):
            return name, i * 10 * US, length * US, {
                'tf_op': {'str': op}, 'hlo_op': {'str': hlo}, 'hlo_module': {'str': 'jit_f'},
                'program_id': {'uint64': 1},
                'kernel_details': {'str': 'regs:32 grid:1,1,1 block:32,1,1'}}
        devices = [Plane('/device:GPU:%d' % d, d + 10).line(1, 'Stream #1', [
            kernel(*names[i], i) for i in range(len(names))]).bytes() for d in range(n_devices)]
        return space(*devices,
                     programs(1, ('same', 'custom-call', 'x'),
                              (names[1][2], opcode, 'y')))
    names = [('k1', 'f/jit(main)/same:', 'same'), ('k2', 'f/y:', 'before.1.0'),
             ('gone', 'f/z:', 'lost')]
    a = run(names, 1, 2)
    b = run([('k1.kd', 'f/same:', 'same'), ('k2', 'f/y:', 'after')], 2, 3)
    columns = ('change, matched_by, name_b, occurrences_a, occurrences_b, delta_us, '
               'per_device_step_us_a, per_device_step_us_b, delta_per_device_step_us')
    same(rows("SELECT hlo_op, %s FROM compare_hlo_ops('{a}', '{b}')" % columns, a=a, b=b),
         [('lost', 'vanished', None, None, 1, 0, -2.0, 2.0, 0.0, -2.0),
          ('before.1.0', 'both', 'fingerprint', 'after', 1, 2, 4.0, 2.0, 3.0, 1.0),
          ('same', 'both', 'name', None, 1, 2, 4.0, 2.0, 3.0, 1.0)])
    # two hosts whose programs of one id differ: the fingerprint is unknown
    for other in ('rng', 'infeed', 'iota', 'parameter'):
        same(rows("SELECT hlo_op, change FROM compare_hlo_ops('{a}', '{b}') WHERE change <> 'both' "
                  "ORDER BY 1", a=[a, run(names, 1, 2, other)], b=b),
             [('after', 'appeared'), ('before.1.0', 'vanished'), ('lost', 'vanished')], other)
    same(rows("SELECT operation, %s FROM compare_ops('{a}', '{b}')" % columns, a=a, b=b),
         [('gone', 'vanished', None, None, 1, 0, -2.0, 2.0, 0.0, -2.0),
          ('k1', 'both', 'similar name', 'k1.kd', 1, 2, 4.0, 2.0, 3.0, 1.0),
          ('k2', 'both', 'name', None, 1, 2, 4.0, 2.0, 3.0, 1.0)])
    numbered = [run([(name + tail, 'f/' + name + ':', name) for name in names], 1, 2)
                for names, tail in ((('h', 'h_1', 'i_2'), ''), (('h', 'h_1', 'i_3'), '.kd'))]
    same(rows("SELECT operation, name_b, matched_by FROM compare_ops('{a}', '{b}') ORDER BY 1",
              a=numbered[0], b=numbered[1]),
         [('h', 'h.kd', 'similar name'), ('h_1', 'h_1.kd', 'similar name'),
          ('i_2', 'i_3.kd', 'similar name')])
    on_host = [space(host(('f', 0, t * US), ('g', 20 * US, US)).bytes()) for t in (2, 5)]
    same(rows("SELECT operation, type, change, delta_us, delta_percent FROM compare_ops('{a}', "
              "'{b}')", a=on_host[0], b=on_host[1]),
         [('f', 'host', 'both', 3.0, 150.0), ('g', 'host', 'both', 0.0, 0.0)])
    refused('it must be operation, hlo, framework or kernel',
            rows, "SELECT * FROM compare_ops('{a}', '{b}', 'nonsense')", a=a, b=b)
