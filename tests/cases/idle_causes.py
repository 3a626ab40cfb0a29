# SPDX-License-Identifier: Apache-2.0
"""idle_causes: what the host did while devices were idle."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space


def host(*threads):
    plane = Plane('/host:CPU', 9)
    for i, events in enumerate(threads):
        plane.line(10 * i + 10, 'thread%d' % i, events)
    return plane.bytes()


def gpu(*kernels, number=0):
    """Kernels (start, duration, correlation id), one by one on one stream."""
    return Plane('/device:GPU:%d' % number, number + 1).line(1, 'Stream #1', [('k', start, length, {
        'correlation_id': {'uint64': id}} if id else {}) for start, length, id in kernels]).bytes()


def core(*ops):
    return Plane('/device:TPU:0', 1).line(3, 'XLA Ops',
                                          [('op', start, length) for start, length in ops]).bytes()


def launch(start, length, id, name='cuLaunchKernel'):
    return (name, start, length, {'correlation_id': {'uint64': id}})


def causes(data, columns='cause, name, 1e6 * idle_us'):
    return [tuple(r.values()) for r in ask("SELECT %s FROM idle_causes('{x}')" % columns, x=data)]


@case
def by_moment():
    """A gap is divided among the innermost events of the thread; what it has no event for is
    unknown."""
    data = space(core((0, 100), (1100, 100)),
                 host([('PjitFunction(f)', 50, 350), ('backend_compile', 100, 200),
                       ('Memcpy', 150, 10), ('load', 500, 300), ('$x.py:1 read', 600, 100)]))
    same(causes(data, 'cause, name, python_frame, 1e6 * idle_us, idle_percent, device_count'),
         [('unknown', None, None, 400.0, 40.0, 1),
          ('compiling', 'PjitFunction(f)', None, 200.0, 20.0, 1),
          ('host', 'load', None, 200.0, 20.0, 1), ('launching', 'PjitFunction(f)', None, 100.0,
                                                   10.0, 1),
          ('python', 'load', '$x.py:1 read', 100.0, 10.0, 1)])
    same(causes(data, 'total(idle_percent)'), [(100.0,)])
    same(causes(space(core((0, 100), (100, 100)), host([('a', 0, 9)]))), [], 'no gap')
    same(causes(space(core((0, 100), (200, 100)))), [('unknown', None, 100.0)], 'no thread')


@case
def causes_by_name():
    """Each cause by its names; what nests in a specific cause belongs to it, in compiling and
    tracing whatever it is."""
    for name, cause in (
        ('TfrtTpuCompiler::Compile', 'compiling'), ('lower_sharding_computation', 'tracing'),
        ('$p.py:1 trace_to_jaxpr', 'tracing'), ('tf.function-graph_building', 'tracing'),
        ('IteratorGetNextOp::DoCompute', 'input'),
        ('iteratorgetnext', 'input'),
        ('Iterator::Map', 'input'), ('x/InfeedEnqueueTuple:InfeedEnqueueTuple', 'input'),
        ('hipStreamSynchronize', 'waiting'), ('$api.py:1 block_until_ready', 'waiting'),
        ('np.asarray(jax.Array)', 'waiting'),
        ('cuMemcpyHtoDAsync_v2', 'copy'), ('DevicePut', 'copy'), ('$array.py:3 shard_arg', 'copy'),
        ('$a.py:1 Launcher', 'python'), ('cuGraphLaunch', 'launching'),
        ('PJRT_LoadedExecutable_Execute', 'launching'),
        ('PjitFunction(f)', 'launching'), ('train', 'host')):
        same(causes(space(core((0, 1), (11, 1)), host([(name, 0, 12)])), 'cause'), [(cause,)], name)
        outer = causes(space(core((0, 1), (11, 1)), host([(name, 0, 12), ('work', 0, 12),
                                                          ('$w.py:1 work', 0, 12)])), 'cause')
        runs = cause == 'launching' and not name.startswith('Pjit')
        same(outer, [('python' if runs or cause in ('host', 'python') else cause,)], name)
        inner = causes(space(core((0, 1), (11, 1)), host([(name, 0, 12), ('Memset', 0, 12)])),
                       'cause')
        same(inner, [(cause if cause in ('compiling', 'tracing') else 'copy',)], name)


@case
def callbacks():
    """Python that a running program calls is python, not launching; Python that calls the program
    is launching."""
    data = space(core((0, 1), (101, 1)), host([
        ('PjitFunction(f)', 0, 101), ('$pjit.py:1 cache_miss', 1, 90),
        ('PjRtLoadedExecutable::Execute', 11, 70), ('GpuExecutable::ExecuteThunks', 21, 50),
        ('pure_callback.1', 26, 40), ('$callback.py:1 call', 31, 30), ('PjitFunction(g)', 41, 10)]))
    same(causes(data, 'cause, name, python_frame, 1e6 * idle_us'), [
        ('launching', 'PjitFunction(f)', None, 30.0),
        ('launching', 'GpuExecutable::ExecuteThunks', None, 20.0),
        ('launching', 'PjRtLoadedExecutable::Execute', None, 20.0),
        ('python', 'GpuExecutable::ExecuteThunks', '$callback.py:1 call', 20.0),
        ('launching', 'PjitFunction(g)', '$callback.py:1 call', 10.0)])


@case
def calls_named_by_their_kernel():
    """Profilers name the call that launches a kernel by it. Work of no length, of other kinds of
    device and with another cause does not count."""
    names = [('k', 300, 50), ('IteratorGetNext k', 400, 50), ('other', 500, 50), ('empty', 600, 50)]
    kernels = Plane('/device:GPU:0').line(1, 'Stream #1', [
        ('k', 0, 100), ('empty', 50, 0), ('IteratorGetNext k', 1000, 100)]).bytes()
    same(causes(space(kernels, host(names)), 'cause, name'),
         [('unknown', None), ('input', 'IteratorGetNext k'), ('launching', 'k'), ('host', 'empty'),
          ('host', 'other')])
    ops = Plane('/device:TPU:0').line(3, 'XLA Ops', [('k', 0, 100), ('k', 1000, 100)]).bytes()
    same(causes(space(ops, host(names[:1])), 'cause, name'), [('unknown', None), ('host', 'k')])


@case
def launching_thread():
    """The thread of the launch is asked, after its end none; where it has no event, the main
    thread; of a driver's line the thread that goes on around the call."""
    kernels = gpu((0, 100, 1), (1000, 100, 2), (1200, 100, 3))
    same(causes(space(kernels, host([('PjitFunction(main)', 0, 2000)], [
        ('prepare', 200, 500), launch(600, 50, 2)], [launch(1010, 20, 3, 'early')]))),
         [('queued', None, 450.0), ('host', 'prepare', 400.0),
          ('launching', 'PjitFunction(main)', 100.0), ('launching', 'prepare', 50.0)])
    driver = host([('PjitFunction(main)', 0, 2000)], [('worker', 150, 800), ('inner', 500, 200)],
                  [launch(600, 50, 2)], [('other', 300, 1000)])
    same(causes(space(gpu((0, 100, 1), (1000, 100, 2)), driver)),
         [('queued', None, 350.0), ('host', 'worker', 350.0), ('host', 'inner', 150.0),
          ('launching', 'PjitFunction(main)', 50.0)])
    same(causes(space(gpu((0, 100, 1), (1000, 100, 2)),
                      host([('a', 100, 100)], [launch(2000, 5, 2)]))),
         [('unknown', None, 800.0), ('host', 'a', 100.0)], 'clocks that disagree')
    both = host([('PjitFunction(main)', 0, 2000)], [('late', 0, 2000), launch(600, 50, 2)],
                [('early', 0, 2000), launch(300, 50, 2)], [('later', 0, 2000), launch(500, 50, 2)])
    same(causes(space(gpu((0, 100, 1), (1000, 100, 2)), both)),
         [('queued', None, 650.0), ('host', 'early', 200.0), ('launching', 'early', 50.0)],
         'several calls of one id')
    tied = host([('short', 0, 2000), launch(300, 50, 2)], [('long', 0, 2000), launch(300, 80, 2)])
    same(causes(space(gpu((0, 100, 1), (1000, 100, 2)), tied)),
         [('queued', None, 620.0), ('host', 'long', 200.0), ('launching', 'long', 80.0)],
         'calls of one id at once')
    graph = gpu((0, 100, 1), (1000, 100, 2), (1200, 100, 2))
    same(causes(space(graph, host([launch(900, 50, 2), ('b', 0, 2000)][::-1]))),
         [('host', 'b', 800.0), ('queued', None, 150.0), ('launching', 'b', 50.0)],
         'two kernels of one launch')


@case
def several_launching_threads():
    """Each gap is asked of the thread that launched what ends it."""
    threads = host([('PjitFunction(main)', 0, 5000)], [('a', 100, 850), launch(900, 50, 2)],
                   [('b', 1100, 850), launch(1900, 50, 3)])
    same(causes(space(gpu((0, 100, 1), (1000, 100, 2), (2000, 100, 3)), threads)),
         [('host', 'a', 800.0), ('host', 'b', 800.0), ('queued', None, 100.0),
          ('launching', 'a', 50.0), ('launching', 'b', 50.0)])


@case
def compiling_threads():
    """While the main thread compiles, other threads work for it: they compile, and try kernels.
    What they launch and copy is that; so is all that they do while it does not compile."""
    threads = host([('PjitFunction(f)', 0, 5000), ('XlaCompile:#module=jit_f#', 300, 400)],
                   [('XlaCompileBackend:#module=g#', 100, 300), ('tries', 400, 600),
                    launch(600, 50, 2)])
    same(causes(space(gpu((0, 100, 1), (1000, 100, 2)), threads)),
         [('compiling', 'PjitFunction(f)', 300.0), ('queued', None, 350.0)][::-1] +
         [('compiling', 'XlaCompileBackend:#module=g#', 200.0), ('launching', 'tries', 50.0)])


@case
def unordered_threads():
    """A thread whose events are stored last first."""
    events = [('late', 600, 100), ('inner', 210, 90), ('early', 200, 100), ('work', 0, 1000)]
    same(causes(space(core((0, 100), (1000, 100)), host(events))),
         [('host', 'work', 700.0), ('host', 'late', 100.0), ('host', 'inner', 90.0),
          ('host', 'early', 10.0)])


@case
def main_thread():
    """Calls of functions come before Python frames, these before events, and the lower line before
    the other."""
    def name(*threads):
        return causes(space(core((0, 1), (11, 1)), host(*threads)), 'coalesce(name, python_frame)')
    same(name([('long', 0, 100)], [('PjitFunction(f)', 0, 12)]), [('PjitFunction(f)',)])
    same(name([('PjitFunction(f)', 0, 12)],
              [('PjitFunction(g)', 0, 13), ('PjitFunction(g)', 0, 13)]), [('PjitFunction(g)',)])
    same(name([('PjitFunction(f)', 0, 13)],
              [('PjitFunction(g)', 0, 12), ('PjitFunction(g)', 0, 12)]), [('PjitFunction(f)',)],
         'nested calls count once')
    same(name([('long', 0, 100)], [('$frame', 0, 12)]), [('$frame',)])
    same(name([('a', 0, 12)], [('b', 0, 13)]), [('b',)])
    same(name([('a', 0, 12)], [('b', 0, 12)]), [('a',)])


@case
def input_elsewhere():
    """Where the thread's cause says little and another thread waits for input, it is that."""
    data = space(core((0, 100), (1100, 100)),
                 host([('PjitFunction(f)', 0, 2), ('wait', 100, 300), ('DevicePut', 400, 100),
                       ('block_until_ready', 500, 100)],
                      [('IteratorGetNext', 200, 700), ('Iterator::Map', 250, 100)]))
    same(causes(data), [('input', 'IteratorGetNext', 600.0), ('unknown', None, 200.0),
                        ('copy', 'DevicePut', 100.0), ('host', 'wait', 100.0)])


@case
def several_devices():
    """A moment at which all devices are idle counts once, one at which one of two is idle a half;
    each host its own."""
    main = host([('PjitFunction(f)', 0, 2), ('both', 100, 300), ('one', 400, 100)])
    data = space(gpu((0, 100, 0), (500, 100, 0)), gpu((0, 100, 0), (400, 200, 0), number=1), main)
    same(causes(data, 'cause, name, 1e6 * idle_us, device_count'),
         [('host', 'both', 300.0, 2), ('host', 'one', 50.0, 2)])
    same(causes([data, data], 'cause, name, 1e6 * idle_us, device_count'),
         [('host', 'both', 300.0, 4), ('host', 'one', 50.0, 4)])
    same(causes(space(gpu((0, 100, 0), (500, 100, 0)), core((0, 100)), main)),
         [('host', 'both', 150.0), ('host', 'one', 50.0)], 'a device without a gap')
    sparse = Plane('/device:TPU:0 SparseCore 0', 3).line(3, 'Sparse Core Ops',
                                                         [('op', 0, 100), ('op', 500, 10)]).bytes()
    same(causes(space(sparse, main), 'name, 1e6 * idle_us'), [('both', 300.0), ('one', 100.0)])
    same(causes(space(sparse, core((0, 100), (150, 10)), main), 'name, 1e6 * idle_us'),
         [('both', 50.0)])


@case
def without_devices():
    """Without a device, a process is idle while no thread of it runs an op."""
    op = {'hlo_op': {'str': 'add'}}
    data = space(host([('PjitFunction(f)', 0, 150), ('load', 150, 300), ('add', 500, 10, op)],
                      [('add', 100, 50, op), ('x/MatMul:MatMul', 200, 50),
                       ('IteratorGetNext:IteratorGetNext', 300, 5)]))
    same(causes(data), [('host', 'load', 245.0), ('unknown', None, 50.0), ('input', 'load', 5.0)])
    same(causes(
        space(host([('a:MatMul', 0, 5), (':', 50, 5), ('b:', 60, 5), ('c:MatMul', 100, 5)]))),
         [('unknown', None, 85.0), ('host', ':', 5.0), ('host', 'b:', 5.0)], 'names without a type')
    same([r['message'].split(': ')[0]
          for r in ask("SELECT message FROM idle_causes('{x}') RIGHT JOIN prof_issues('{x}') ON 1 "
                       "WHERE code = 'nothing_to_show'",
                       x=space(host([('a', 0, 5), ('b', 100, 5)])))], ['idle_causes has no rows'])


@case
def names_that_are_cut():
    """A path is cut where less than a tenth of the idle time goes on; equal names of other paths
    are one row."""
    events = [('PjitFunction(f)', 0, 2),
              ('outer', 100, 1000)] + [('small%d' % i, 100 + 50 * i, 50)
                                       for i in range(4)] + [('large', 500, 100), ('deep', 500, 99)]
    same(causes(space(core((0, 100), (1100, 100)), host(events))),
         [('host', 'outer', 900.0), ('host', 'large', 100.0)])
    frames = [('PjitFunction(f)', 0, 2), ('$a.py:1 main', 100, 1000), ('note', 100, 600),
              ('$b.py:2 load', 200, 500), ('$c.py:3 tiny', 300, 50)]
    same(causes(space(core((0, 100), (1100, 100)), host(frames)), 'cause, name, python_frame, '
                '1e6 * idle_us'),
         [('python', 'note', '$b.py:2 load', 500.0), ('python', None, '$a.py:1 main', 400.0),
          ('host', 'note', '$a.py:1 main', 100.0)])
    twice = [('PjitFunction(f)', 0, 2), ('a', 100, 400), ('x', 100, 400), ('b', 500, 600),
             ('x', 500, 600)]
    same(causes(space(core((0, 100), (1100, 100)), host(twice))), [('host', 'x', 1000.0)])
    often = [('PjitFunction(f)', 0, 2), ('train', 100, 1000)]
    often += [('inner', 110 + 40 * i, 20) for i in range(20)]
    same(causes(space(core((0, 100), (1100, 100)), host(often))),
         [('host', 'train', 600.0), ('host', 'inner', 400.0)], 'twenty of 2 %')
