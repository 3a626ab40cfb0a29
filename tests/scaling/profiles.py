# SPDX-License-Identifier: Apache-2.0
"""Profiles in which one thing is large: each function returns an XSpace (or a list of them, one for
each host) with n of what its name says, and with little else."""
from lib import hlo
from lib.hlo import F32, allocation, assignment, buffer, computation, instruction, module, shape
from lib.wire import L, Plane, US, V, space

PROFILES = []
METHOD = '_ZN2at6native13launch_kernelILi%dEEEv'


def profile(f):
    PROFILES.append(f)
    return f


def i64(**values):
    return {name: {'int64': value} for name, value in values.items()}


def text(**values):
    return {name: {'str': value} for name, value in values.items()}


def join(*planes):
    return space(*(p.bytes() for p in planes))


def host(*threads, name='/host:CPU', id=1, **stats):
    plane = Plane(name, id, i64(**stats))
    for i, events in enumerate(threads):
        plane.line(i + 1, 'thread %d' % i, events)
    return plane


def gpu(*streams, id=2, number=0):
    plane = Plane('/device:GPU:%d' % number, id, {
        'device_vendor': {'str': 'Nvidia'}, 'clock_rate': {'uint64': 1700000},
        'core_count': {'uint64': 80}, 'memory_bandwidth': {'uint64': 10**12},
        'compute_cap_major': {'uint64': 8}, 'compute_cap_minor': {'uint64': 0}})
    for i, events in enumerate(streams):
        plane.line(i + 1, 'Stream #%d' % (i + 1), events)
    return plane


def tpu(id=2, number=0):
    return Plane('/device:TPU:%d' % number, id, {
        'device_type_string': {'str': 'TPU v5'},
        'peak_teraflops_per_second': {'double': 400.0},
        'peak_hbm_bw_gigabytes_per_second': {'double': 2000.0},
        'core_details': {'bytes': V(5, number) + V(6, number)}})


def tpu_op(plane, name, opcode='fusion', category='loop fusion', **stats):
    given = {'hlo_category': {'str': category}, 'program_id': {'uint64': 1},
             'flops': {'uint64': 1000}, 'bytes_accessed': {'uint64': 500}}
    given.update(stats)
    return plane.meta('%%%s = f32[8]{0} %s(f32[8]{0} %%p)' % (name, opcode), name, given)


def kernel(name, start, duration=1, **stats):
    given = text(kernel_details='regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1 '
                 'occ_pct:50')
    for key, value in stats.items():
        given[key] = {'str' if isinstance(value, str) else 'int64': value}
    return name, start * US, duration * US, given


def program_of(id, name, instructions, plan=None, more=b'', *others):
    made = computation(1, 'main', instructions, root=1, more=b'')
    return id, name, hlo.proto(module(name, made, *others, id=id, more=more), plan)


def programs(*made):
    plane = Plane('/host:metadata', 9)
    for id, name, proto in made:
        plane.meta('%s(%d)' % (name, id), stats={'Hlo Proto': {'bytes': proto}}, key=id)
    return plane


def dots(n, name='dot', scope='jit(f)/layer_%d/dot_general', first=1, more=lambda i: b''):
    """n instructions that use the one before."""
    return [instruction(first + i, '%s.%d' % (name, i), 'negate' if i else 'parameter', shape(
        F32, 128, 8), (first + i - 1,) if i else (), op_name=scope % i if '%' in scope else scope,
        more=more(i)) for i in range(n)]


def plan_of(n, first=1):
    """Each instruction has a buffer of its own, live until the instruction after the next."""
    buffers = [buffer(i + 1, 4096, first + i) for i in range(n)]
    events = []
    for i in range(n):
        events.append((hlo.ALLOC, i + 1, 'dot.%d' % i))
        if i > 1:
            events.append((hlo.FREE, i - 1, 'dot.%d' % i))
    assigned = [(i + 1, 4096 * (i % 4), 4096) for i in range(n)]
    return assignment(buffers, [allocation(0, 4096 * 4, assigned)], [hlo.trace(*events)])


# ---- steps ----

@profile
def gpu_steps(n):
    """Steps with a compilation, an allocation, a wait, a range, a copy and a collective each."""
    main, work, copies = [], [], []
    for k in range(n):
        at = 100 * k
        main += [('train', at * US, 95 * US, i64(step_num=k, _r=1)),
                 ('$main.py:3 step', (at + 1) * US, 90 * US),
                 ('PjitFunction(f)', (at + 2) * US, 40 * US),
                 ('backend_compile', (at + 3) * US, 10 * US),
                 ('cuLaunchKernel', (at + 20) * US, 2 * US, i64(correlation_id=3 * k + 1)),
                 ('cuLaunchKernel', (at + 24) * US, 2 * US, i64(correlation_id=3 * k + 2)),
                 ('cuMemcpyAsync', (at + 28) * US, 2 * US, i64(correlation_id=3 * k + 3)),
                 ('IteratorGetNext:IteratorGetNext', (at + 50) * US, 10 * US),
                 ('PyClient::block_until_ready', (at + 70) * US, 5 * US)]
        work += [kernel('loop_fusion', at + 22, 10, correlation_id=3 * k + 1, hlo_op='dot.1',
                        hlo_module='jit_f', program_id=1),
                 kernel('ncclDevKernel_AllReduce', at + 35, 10, correlation_id=3 * k + 2,
                        hlo_op='dot.2', hlo_module='jit_f', program_id=1)]
        copies.append(('MemcpyH2D', (at + 40) * US, 9 * US, {
            **i64(correlation_id=3 * k + 3),
            **text(memcpy_details='kind:pageable size:4096 dest:0 async:1')}))
    return join(host(main), gpu(work, copies), programs(program_of(1, 'jit_f', dots(4))))


@profile
def tpu_steps(n):
    """Steps with an infeed, a collective and an asynchronous pair each."""
    plane, main = tpu(), []
    steps, modules, ops = [], [], []
    infeed = tpu_op(plane, 'infeed.1', 'infeed', 'infeed')
    reduce = tpu_op(plane, 'all-reduce.1', 'all-reduce', 'all-reduce')
    dot = tpu_op(plane, 'dot.1', tf_op={'str': 'jit(f)/layer/dot:'}, source={'str': 'main.py:7'})
    start = tpu_op(plane, 'copy-start.1', 'copy-start', 'copy-start')
    done = plane.meta('%copy-done.1 = f32[8]{0} copy-done(f32[8]{0} %copy-start.1)', 'copy-done.1',
                      {'hlo_category': {'str': 'copy-done'}, 'program_id': {'uint64': 1}})
    for k in range(n):
        at, of = 100 * k * US, i64(group_id=k)
        steps.append((str(k), at, 95 * US, i64(group_id=k, step_num=k)))
        modules.append(('jit_f(1)', at, 90 * US, i64(group_id=k, run_id=k)))
        ops += [(infeed, at, 10 * US, of), (start, at + 10 * US, 1 * US, of),
                (dot, at + 11 * US, 30 * US, of), (done, at + 45 * US, 5 * US, of),
                (reduce, at + 50 * US, 20 * US, of)]
        main.append(('train', at, 95 * US, i64(step_num=k, _r=1, group_id=k)))
    plane.line(1, 'Steps', steps).line(2, 'XLA Modules', modules).line(3, 'XLA Ops', ops)
    return join(host(main), plane, programs(program_of(1, 'jit_f', dots(4))))


@profile
def cpu_steps(n):
    """Steps of a thread, each with ops of other threads that a context joins to it."""
    main, pool = [], []
    for k in range(n):
        at = 100 * k
        main.append(('TraceContext', at * US, 95 * US, i64(step_num=k, _r=1)))
        main.append(('launch', (at + 1) * US, 2 * US, i64(_pt=1, _p=k)))
        main.append(('IteratorGetNext:IteratorGetNext', (at + 5) * US, 10 * US))
        pool.append(('run', (at + 20) * US, 60 * US, i64(_ct=1, _c=k)))
        pool.append(('a/MatMul:MatMul', (at + 21) * US, 50 * US))
        pool.append(('dot.1', (at + 72) * US, 5 * US, {**text(hlo_op='dot.1', hlo_module='jit_f'),
                                                     **i64(program_id=1)}))
    return join(host(main, pool), programs(program_of(1, 'jit_f', dots(4))))


@profile
def overlapping_steps(n):
    """Steps on a core that all overlap, and events of the host in all of them."""
    plane = tpu()
    dot = tpu_op(plane, 'dot.1')
    plane.line(1, 'Steps', [(str(k), k * US, n * US, i64(group_id=k)) for k in range(n)])
    plane.line(3, 'XLA Ops', [(dot, 2 * k * US, US, i64(group_id=k)) for k in range(n)])
    main = [[('train', k * US, n * US, i64(step_num=k, _r=1, group_id=k)) for k in range(n)]]
    return join(host(*main), plane)


# ---- ops, programs, source ----

def stack(n):
    """A program's index of n stack frames, each called by the one before."""
    names = L(1, 'main.py') + L(2, 'f')
    places = b''.join(L(3, V(1, 1) + V(2, 1) + V(3, i + 1)) for i in range(n))
    return names + places + b''.join(L(4, V(1, i + 1) + V(2, i)) for i in range(n))




@profile
def gpu_ops(n):
    """Kernels of different names and instructions, of one program with a memory plan."""
    main, work = [('train', 0, 10 * n * US, i64(step_num=1, _r=1))], []
    for i in range(n):
        main.append(('cuLaunchKernel', 10 * i * US, US, i64(correlation_id=i + 1)))
        work.append(kernel('loop_negate_fusion_%d' % i, 10 * i + 5, 4, correlation_id=i + 1,
                           hlo_op='dot.%d' % i, hlo_module='jit_f', program_id=1))
    made = program_of(1, 'jit_f', dots(n), plan_of(n))
    return join(host(main), gpu(work), programs(made))


@profile
def gpu_names(n):
    """Kernels of different C++ names without a program, of ops of TensorFlow."""
    work = [kernel('void at::native::f<%d>(float*)' % i, 10 * i, 4,
                   tf_op='layer_%d/MatMul:MatMul' % i) for i in range(n)]
    return join(gpu(work))


@profile
def tpu_ops(n):
    """Different ops of one program with a memory plan."""
    plane = tpu()
    ops = [(tpu_op(plane, 'dot.%d' % i, tf_op={'str': 'jit(f)/layer_%d/dot:' % i},
                   source={'str': 'main.py:%d' % i}), 10 * i * US, 9 * US, i64(group_id=1))
           for i in range(n)]
    plane.line(1, 'Steps', [('1', 0, 10 * n * US, i64(group_id=1))])
    plane.line(2, 'XLA Modules', [('jit_f(1)', 0, 10 * n * US, i64(group_id=1))])
    plane.line(3, 'XLA Ops', ops)
    return join(plane, programs(program_of(1, 'jit_f', dots(n), plan_of(n))))


@profile
def gpu_programs(n):
    """Programs, each compiled and executed once."""
    main, work, made = [], [], []
    for i in range(n):
        at = 100 * i
        main += [('PjitFunction(f%d)' % i, at * US, 80 * US),
                 ('backend_compile', at * US, 40 * US, text(hlo_module='jit_f%d' % i)),
                 ('XlaModule:#hlo_module=jit_f%d,program_id=%d#' % (i, i + 1), (at + 50) * US,
                  20 * US),
                 ('cuLaunchKernel', (at + 51) * US, US, i64(correlation_id=i + 1))]
        work.append(kernel('fusion_%d' % i, at + 60, 9, correlation_id=i + 1, hlo_op='dot.1',
                           hlo_module='jit_f%d' % i, program_id=i + 1))
        made.append(program_of(i + 1, 'jit_f%d' % i, dots(3), plan_of(3)))
    return join(host(main), gpu(work), programs(*made))


@profile
def recompiled(n):
    """Compilations of one function with other shapes."""
    main, made = [], []
    for i in range(n):
        at = 100 * i
        main += [('PjitFunction(f)', at * US, 80 * US),
                 ('trace_to_jaxpr_dynamic', at * US, 10 * US),
                 ('backend_compile', (at + 20) * US, 40 * US, text(hlo_module='jit_f')),
                 ('dot.1', (at + 70) * US, US, {**text(hlo_op='dot.1', hlo_module='jit_f'),
                                               **i64(program_id=i + 1)})]
        made.append(program_of(i + 1, 'jit_f', [instruction(1, 'p', 'parameter', shape(F32, i + 1)),
                                                instruction(2, 'dot.1', 'negate',
                                                            shape(F32, i + 1), (1,))]))
    return join(host(main), programs(*made))


@profile
def tpu_programs(n):
    plane = tpu()
    modules, ops, made = [], [], []
    for i in range(n):
        at = 100 * i * US
        modules.append(('jit_f%d(%d)' % (i, i + 1), at, 90 * US, i64(run_id=i)))
        ops.append((tpu_op(plane, 'dot.1', program_id={'uint64': i + 1}), at, 80 * US))
        made.append(program_of(i + 1, 'jit_f%d' % i, dots(3), plan_of(3)))
    plane.line(2, 'XLA Modules', modules).line(3, 'XLA Ops', ops)
    return join(plane, programs(*made))


@profile
def executions(n):
    """Executions of one program on a CPU's threads, a TPU and a GPU."""
    plane, host_ops, kernels = tpu(), [], []
    dot = tpu_op(plane, 'dot.1')
    for i in range(n):
        at = 100 * i
        host_ops.append(('dot.1', at * US, 80 * US, {**text(hlo_op='dot.1', hlo_module='jit_f'),
                                                   **i64(program_id=1, run_id=i)}))
        kernels.append(kernel('fusion', at, 80, hlo_op='dot.1', hlo_module='jit_f', program_id=1,
                              run_id=i))
    plane.line(2, 'XLA Modules', [('jit_f(1)', 100 * i * US, 90 * US, i64(run_id=i))
                                  for i in range(n)])
    plane.line(3, 'XLA Ops', [(dot, 100 * i * US, 80 * US) for i in range(n)])
    return join(host(host_ops), plane, gpu(kernels, id=3),
                programs(program_of(1, 'jit_f', dots(3), plan_of(3))))


@profile
def fusions(n):
    """Instructions that each call a computation of their own."""
    inner = [computation(10 + i, 'fused.%d' % i,
                         [instruction(10 * n + 2 * i, 'p.%d' % i, 'parameter', shape(F32, 8)),
                          instruction(10 * n + 2 * i + 1, 'c.%d' % i, 'copy', shape(F32, 8),
                                      (10 * n + 2 * i,))], root=10 * n + 2 * i + 1)
             for i in range(n)]
    main = [instruction(i + 1, 'dot.%d' % i, 'fusion', shape(F32, 8), (i,) if i else (), (10 + i,))
            for i in range(n)]
    work = [kernel('fusion_%d' % i, 10 * i, 4, hlo_op='dot.%d' % i, hlo_module='jit_f',
                   program_id=1) for i in range(n)]
    return join(gpu(work), programs(program_of(1, 'jit_f', main, plan_of(n), b'', *inner)))


@profile
def copies(n):
    """Instructions that copy the result of another, each with a padded buffer."""
    made = []
    for i in range(n):
        tiled = shape(F32, 7, 3, tile=(8, 128))
        made += [instruction(2 * i + 1, 'dot.%d' % i, 'negate' if i else 'parameter', tiled, (
            2 * i,) if i else ()),
                 instruction(2 * i + 2, 'copy.%d' % i, 'copy', tiled, (2 * i + 1,))]
    buffers = [buffer(i + 1, 4096, i + 1) for i in range(2 * n)]
    plan = assignment(buffers, [allocation(0, 4096, [(i + 1, 0, 4096) for i in range(2 * n)])], [
        hlo.trace(*[(hlo.ALLOC, i + 1, '%s.%d' % (('dot', 'copy')[i % 2], i // 2))
                    for i in range(2 * n)])])
    work = [kernel('k', 10 * i, 4, hlo_op='copy.%d' % i, hlo_module='jit_f', program_id=1)
            for i in range(n)]
    return join(gpu(work), programs(program_of(1, 'jit_f', made, plan)))


@profile
def nested_calls(n):
    """Computations that each call the next one."""
    inner = [computation(2 + i, 'c.%d' % i, [
        instruction(2 + i, 'call.%d' % i, 'call', shape(F32, 8), (),
                    (3 + i,) if i + 1 < n else ())], root=2 + i) for i in range(n)]
    main = [instruction(1, 'dot.0', 'call', shape(F32, 8), (), (2,))]
    work = [kernel('k', 10 * i, 4, hlo_op='call.%d' % i, hlo_module='jit_f', program_id=1)
            for i in range(n)]
    return join(gpu(work), programs(program_of(1, 'jit_f', main, None, b'', *inner)))


@profile
def operands(n):
    """A tuple of n operands, and the reading of each of its elements."""
    made = dots(n)
    made.append(instruction(n + 1, 'tuple', 'tuple', hlo.tuple_of(*[shape(F32, 8)] * n),
                            range(1, n + 1)))
    made += [instruction(n + 2 + i, 'part.%d' % i, 'get-tuple-element', shape(F32, 8), (n + 1,),
                         more=V(13, i)) for i in range(n)]
    made.append(instruction(2 * n + 2, 'loop', 'while', hlo.tuple_of(shape(F32, 8)), (n + 1,)))
    work = [kernel('k', 10 * i, 4, hlo_op='part.%d' % i, hlo_module='jit_f', program_id=1)
            for i in range(n)]
    return join(gpu(work), programs(program_of(1, 'jit_f', made, plan_of(n))))


@profile
def stack_frames(n):
    """Instructions whose Python frames have n callers."""
    made = [instruction(i + 1, 'dot.%d' % i, 'negate' if i else 'parameter', shape(F32, 8),
                        (i,) if i else (), more=L(7, L(2, 'jit(f)/dot') + V(15, i + 1)))
            for i in range(n)]
    work = [kernel('k', 10 * i, 4, hlo_op='dot.%d' % i, hlo_module='jit_f', program_id=1)
            for i in range(n)]
    return join(gpu(work), programs(program_of(1, 'jit_f', made, plan_of(n), L(25, stack(n)))))


@profile
def scopes(n):
    """An op whose name has n scopes, and ops of 50 scopes each."""
    long = '/'.join('s%d' % i for i in range(n))
    work = [kernel('k', 0, 4, hlo_op='dot.0', hlo_module='jit_f', program_id=1),
            kernel('k', 5, 4, tf_op=long + '/MatMul:MatMul')]
    work += [kernel('k%d' % i, 10 * i + 10, 4, tf_op='/'.join(
        'l%d_%d' % (i, k) for k in range(50)) + ':Add') for i in range(n // 16)]
    return join(gpu(work), programs(program_of(1, 'jit_f', dots(3, scope=long))))


# ---- lines, planes, hosts ----

@profile
def threads(n):
    """Threads with an op, an iterator and a launch each."""
    return join(host(*([('train', i * US, 9 * US, i64(step_num=i, _r=1)),
                        ('Iterator::Map', i * US, 3 * US, i64(id=i)),
                        ('backend_compile', (i + 3) * US, 2 * US),
                        ('cuLaunchKernel', (i + 5) * US, US, i64(correlation_id=i + 1)),
                        ('await', (i + 7) * US, US)] for i in range(n))),
                gpu([kernel('k', 2 * i + 7, 1, correlation_id=i + 1) for i in range(n)]))


@profile
def streams(n):
    """Streams with a kernel each; all run at once."""
    return join(host([('train', 0, 10 * n * US, i64(step_num=1, _r=1))]),
                gpu(*([kernel('k', i, n, hlo_op='dot.1', hlo_module='jit_f', program_id=1)]
                      for i in range(n))))


@profile
def gpus(n):
    """GPUs that take part in one collective."""
    main = [('train', 0, 100 * US, i64(step_num=1, _r=1))]
    return join(host(main), *(gpu([kernel('ncclDevKernel_AllReduce', i % 50, 10, hlo_op='ar',
                                          program_id=1), kernel('k', 70, 5)],
                                  id=i + 2, number=i) for i in range(n)))


@profile
def tpus(n):
    """Cores that take part in one collective."""
    planes = []
    for i in range(n):
        plane = tpu(i + 2, i)
        reduce = tpu_op(plane, 'all-reduce.1', 'all-reduce', 'all-reduce')
        plane.line(1, 'Steps', [('1', 0, 100 * US, i64(group_id=1))])
        plane.line(3, 'XLA Ops', [(reduce, i % 50 * US, 10 * US, i64(group_id=1)),
                                  (tpu_op(plane, 'dot.1'), 70 * US, 5 * US, i64(group_id=1))])
        planes.append(plane)
    return join(host([('train', 0, 100 * US, i64(step_num=1, _r=1))]), *planes)


# ---- memory ----

def memory(name, at, address, size, heap, allocator='pool', **more):
    return (name, at * US, 0, {
        **text(allocator_name=allocator), **i64(
            addr=address, allocation_bytes=size, requested_bytes=size, bytes_allocated=heap,
            bytes_reserved=0, bytes_available=10**9, peak_bytes_in_use=heap),
        **{key: {'str': value} for key, value in more.items()}})


@profile
def allocations(n):
    """Allocations that are freed, and as many that are not, in n / 10 steps."""
    events, heap = [], 0
    for k in range(n // 10):
        events.append(('train', 100 * k * US, 99 * US, i64(step_num=k, _r=1)))
    for k in range(n):
        heap += 200
        events += [memory('MemoryAllocation', 10 * k, 2 * k, 100, heap, tf_op='op_%d' % k,
                          region_type='temp', data_type='float', tensor_shapes='[%d]' % k),
                   memory('MemoryAllocation', 10 * k + 1, 2 * k + 1, 100, heap,
                          tf_op='kept_%d' % k, region_type='output', data_type='float')]
        heap -= 100
        events.append(memory('MemoryDeallocation', 10 * k + 2, 2 * k, 100, heap))
    return join(host(sorted(events, key=lambda e: (e[1], -e[2]))))


@profile
def allocators(n):
    """Allocators with two allocations each."""
    events = []
    for k in range(n):
        name = 'pool_%d' % k
        events += [memory('MemoryAllocation', 10 * k, 1, 100, 100, name, tf_op='a'),
                   memory('MemoryAllocation', 10 * k + 1, 2, 100, 200, name, tf_op='b'),
                   memory('MemoryDeallocation', 10 * k + 2, 1, 100, 100, name)]
    return join(host(events))


@profile
def reused_addresses(n):
    """Allocations at one address, and frees of addresses that nothing allocated."""
    events = []
    for k in range(n):
        events += [memory('MemoryAllocation', 10 * k, 1, 100, 100, tf_op='a'),
                   memory('MemoryDeallocation', 10 * k + 2, k + 7, 100, 100)]
    return join(host(events))


# ---- input, serving, TensorFlow ----

@profile
def input_calls(n):
    """Calls of one pipeline."""
    return join(host([event for k in range(n) for event in (
        ('Iterator::Root', 100 * k * US, 80 * US, i64(id=1)),
        ('Iterator::Root::Map', 100 * k * US, 60 * US, i64(id=2, parent_id=1)),
        ('Iterator::Root::Map::Range', 100 * k * US, 10 * US, i64(id=3, parent_id=2)))]))


@profile
def input_pipelines(n):
    return join(host([event for k in range(n) for event in (
        ('Iterator::Root%d' % k, 100 * k * US, 80 * US, i64(id=2 * k + 1)),
        ('Iterator::Root%d::Map' % k, 100 * k * US, 60 * US,
         i64(id=2 * k + 2, parent_id=2 * k + 1)))]))


@profile
def input_iterators(n):
    """A chain of iterators, one in the other."""
    return join(host([('Iterator::I%d' % k, k * US, 2 * (n - k) * US,
                       i64(id=k + 1, **{'parent_id': k} if k else {})) for k in range(n)]))


@profile
def input_elements(n):
    """Elements that a thread produces before another consumes any of them."""
    produced = [event for k in range(n) for event in (
        ('PrefetchProduce', 100 * k * US, 80 * US, i64(element_id=k)),
        ('Iterator::Prefetch::Range', 100 * k * US, 80 * US, i64(id=456, parent_id=123)))]
    consumed = [event for k in range(n) for event in (
        ('Iterator::Prefetch', (100 * n + 100 * k) * US, 60 * US, i64(id=123)),
        ('PrefetchConsume', (100 * n + 100 * k + 10) * US, 40 * US, i64(element_id=k)))]
    return join(host(produced, consumed))


@profile
def requests(n):
    """Requests to a server, and a batch for each."""
    asked, batches = [], []
    for k in range(n):
        at = 100 * k
        asked += [('BatchingSessionRun', at * US, 30 * US),
                  ('ScheduleWithSplit', (at + 1) * US, US, i64(batching_input_task_size=200, _pt=4,
                                                              _p=k + 1))]
        batches += [('ProcessBatch', (at + 40) * US, 50 * US, i64(_ct=4, _c=k + 1)),
                    ('MergeInputTensors', (at + 41) * US, US,
                     i64(padding_amount=3, batch_size_after_padding=32)),
                    ('SessionRun', (at + 43) * US, 40 * US, text(model_id='model:%d' % (k % 5)))]
    return join(host(asked, batches))


@profile
def requests_at_once(n):
    """Requests of one batch, on a thread each, and of different models."""
    asked = [[('BatchingSessionRun', k * US, 30 * US),
              ('ScheduleWithSplit', (k + 1) * US, US,
               i64(batching_input_task_size=1, _pt=4, _p=k // (n // 4) + 1))] for k in range(n)]
    batches = [event for b in range(4) for event in (
        ('ProcessBatch', (n + 100 * b) * US, 90 * US, i64(_ct=4, _c=b + 1)),
        ('MergeInputTensors', (n + 100 * b) * US, US,
         i64(padding_amount=3, batch_size_after_padding=n)),
        ('SessionRun', (n + 100 * b + 2) * US, 40 * US, text(model_id='m:%d' % b)))]
    return join(host(*asked, batches))


@profile
def models(n):
    asked, batches = [], []
    for k in range(n):
        at = 100 * k
        asked += [('BatchingSessionRun', at * US, 30 * US),
                  ('ScheduleWithSplit', (at + 1) * US, US, i64(batching_input_task_size=200, _pt=4,
                                                              _p=k + 1))]
        batches += [('ProcessBatch', (at + 40) * US, 50 * US, i64(_ct=4, _c=k + 1)),
                    ('SessionRun', (at + 43) * US, 40 * US, {
                        **text(model_id='model_%d:1' % k, tensor_shapes='[%d]' % k)})]
    return join(host(asked, batches))


@profile
def functions(n):
    """tf.functions, and calls that nest in each other."""
    return join(host(
        [('f%d' % k, 10 * k * US, 9 * US, {**text(tf_function_call='traced-xla'),
                                          **i64(tracing_count=k)}) for k in range(n)],
        [('g', k * US, 2 * (n - k) * US, {**text(tf_function_call='notTraced-xla'),
                                         **i64(tracing_count=k)}) for k in range(n)]))


@profile
def framework_ops(n):
    return join(host([('scope/op_%d:Type%d' % (k, k), 10 * k * US, 9 * US) for k in range(n)]))


@profile
def ops_of_both(n):
    """Framework ops that run on the host and on the GPU, and others that run on the host alone."""
    main, work = [], []
    for k in range(n):
        main += [('l/op_%d:MatMul' % k, 20 * k * US, 5 * US), ('l/host_%d:Add' % k,
                                                              (20 * k + 6) * US, 5 * US)]
        work.append(kernel('k%d' % k, 20 * k + 3, 9, tf_op='l/op_%d:MatMul' % k))
    return join(host(main), gpu(work))


# ---- devices: collectives, pairs, launches, counters ----

@profile
def collectives(n):
    """Different collectives of two cores, and n occurrences of one more."""
    planes = []
    for core in range(2):
        plane, ops = tpu(core + 2, core), []
        again = tpu_op(plane, 'all-gather.0', 'all-gather', 'all-gather')
        for k in range(n):
            ops.append((tpu_op(plane, 'all-reduce.%d' % k, 'all-reduce', 'all-reduce'),
                        (20 * k + core) * US, 5 * US))
            ops.append((again, (20 * k + 10 + core) * US, 5 * US))
        planes.append(plane.line(3, 'XLA Ops', ops))
    return join(*planes)


@profile
def async_pairs(n):
    """Pairs of one name, all of which start before the first is done; starts without a done."""
    plane, ops = tpu(), []
    start = tpu_op(plane, 'copy-start.1', 'copy-start', 'copy-start')
    done = plane.meta('%copy-done.1 = f32[8]{0} copy-done(f32[8]{0} %copy-start.1)', 'copy-done.1',
                      {'hlo_category': {'str': 'copy-done'}})
    dot = tpu_op(plane, 'dot.1')
    for k in range(n):
        ops.append((start, 2 * k * US, US))
    for k in range(n):
        ops += [(dot, (2 * n + 10 * k) * US, 5 * US), (done, (2 * n + 10 * k + 5) * US, 2 * US)]
    for k in range(n):
        ops.append((tpu_op(plane, 'send-start.%d' % k, 'send', 'send'), (12 * n + k) * US, US // 2))
    plane.line(3, 'XLA Ops', ops)
    plane.line(4, 'Async XLA Ops', [(tpu_op(plane, 'slice-start.%d' % k, 'async-start', 'copy'),
                                     k * US, n * US) for k in range(n)])
    return join(plane)


@profile
def launches(n):
    """Launches whose kernels wait in a queue; others without kernels; kernels without launches."""
    main = [('cuLaunchKernel', 2 * k * US, US, i64(correlation_id=k + 1)) for k in range(n)]
    main += [('cuLaunchKernel', (2 * n + 2 * k) * US, US, i64(correlation_id=10 * n + k))
             for k in range(n)]
    work = [kernel('k', 4 * n + 10 * k, 10, correlation_id=k + 1) for k in range(n)]
    return join(host(main), gpu(work, [kernel('lost', 10 * k, 5, correlation_id=20 * n + k)
                                       for k in range(n)]))


@profile
def launches_of_one_id(n):
    main = [('cuLaunchKernel', 2 * k * US, US, i64(correlation_id=7)) for k in range(n)]
    return join(host(main), gpu([kernel('k', 2 * k, 1, correlation_id=7) for k in range(n)]))


@profile
def graphs(n):
    """Executions of a CUDA graph whose kernels name no instruction."""
    main = [event for k in range(n) for event in (
        ('XlaModule:#hlo_module=jit_f,program_id=1#', 100 * k * US, 20 * US),
        ('cuGraphLaunch', (100 * k + 1) * US, 2 * US, i64(correlation_id=k + 1)))]
    work = [kernel('loop_negate_fusion', 100 * k + 10 * i + 5, 4, correlation_id=k + 1,
                   cuda_graph_id=5, graph_node_id=i) for k in range(n) for i in range(3)]
    return join(host(main), gpu(work), programs(program_of(1, 'jit_f', dots(4))))


@profile
def gaps(n):
    """Idle gaps of a GPU, during which many threads work."""
    work = [kernel('k', 10 * k, 5) for k in range(n)]
    pool = [[('poll %d' % i, 10 * k * US, 9 * US) for k in range(n // 8)] for i in range(8)]
    long = [[('wait %d' % i, i * US, 10 * n * US)] for i in range(n // 8)]
    return join(host(*pool, *long), gpu(work))


@profile
def counters(n):
    """Values of a counter and of n counters."""
    plane = gpu([kernel('k', 0, 10 * n)])
    plane.line(100, '_counters_', [('sm__cycles', 10 * k * US, 0, {'counter_value': {
        'double': float(k)}}) for k in range(n)] + [
            ('c%d' % k, 10 * k * US, 0, {'counter_value': {'double': float(k)}})
            for k in range(n)] + [('power_mw', 10 * k * US, 0, {'counter_value': {'double': 5.0}})
                                  for k in range(n)])
    return join(plane)


@profile
def perf_counters(n):
    plane = tpu()
    plane.line(0, 'Kernel', [('counter %d' % k, 0, 0, {
        'performance_counter_id': {'uint64': k % 5000}, 'counter_value': {'uint64': k},
        'symbol_name': {'str': 'c%d' % k}}) for k in range(n)])
    return join(plane)


@profile
def messages(n):
    """Messages between slices that all overlap."""
    return join(host([('MegaScale: Communication Transport Receive', (n + k) * US, 0, {
        **i64(dcn_source_slice_id=2, dcn_destination_slice_id=1, dcn_source_per_slice_device_id=3,
              dcn_destination_per_slice_device_id=k, dcn_chunk=0, dcn_loop_index=k,
              duration_us=n, payload_size_bytes=1000), **text(dcn_label='c.%d' % k)})
                      for k in range(n)]))


# ---- events ----

@profile
def deep_stack(n):
    """Python frames, each in the one before, with launches at the bottom."""
    main = [('$f.py:%d f' % k, k * US, 4 * (n - k) * US) for k in range(n)]
    main += [('cuLaunchKernel', (n + 2 * k) * US, US, i64(correlation_id=k + 1))
             for k in range(n // 2)]
    return join(host(main), gpu([kernel('k', n + 3 * k, 2, correlation_id=k + 1)
                                 for k in range(n // 2)]))


@profile
def ranges(n):
    """NVTX ranges of different names, each with a launch, and annotations of kernels."""
    main, work = [], []
    for k in range(n):
        main += [('range %d' % k, 10 * k * US, 9 * US),
                 ('cudaLaunchKernel', (10 * k + 1) * US, US, i64(correlation_id=k + 1))]
        work.append(kernel('k', 10 * k + 5, 4, correlation_id=k + 1, annotation='range %d' % k,
                           nvtx_range='a/range %d' % k))
    return join(host(main), gpu(work))


@profile
def equal_times(n):
    """Events that start and end together, on all kinds of lines."""
    plane = tpu()
    dot, start = tpu_op(plane, 'dot.1'), tpu_op(plane, 'copy-start.1', 'copy-start', 'copy-start')
    plane.line(3, 'XLA Ops', [(dot, 0, 100 * US)] * n + [(start, 0, 100 * US)] * n)
    plane.line(2, 'XLA Modules', [('jit_f(1)', 0, 100 * US)] * n)
    main = [('MatMul:MatMul', 0, 100 * US)] * n + [('wait', 200 * US, 0)] * n
    return join(host(main), plane, gpu([kernel('k', 0, 100)] * n, id=3))


@profile
def crossing(n):
    """Events of a thread that cross each other."""
    return join(host([('a:A', 2 * k * US, n * US) for k in range(n)]),
                gpu([kernel('k', 2 * k, n) for k in range(n)]))


@profile
def flows(n):
    """Producers with a consumer each, one with n consumers, and a chain of contexts."""
    return join(host(
        [('p', 10 * k * US, US, i64(_pt=1, _p=k)) for k in range(n)],
        [('c', 10 * k * US, US, i64(_ct=1, _c=k)) for k in range(n)],
        [('one', 0, US, i64(_pt=2, _p=1, _r=1))] + [('many', 10 * k * US, US, i64(_ct=2, _c=1))
                                                   for k in range(n)],
        [('link', 10 * k * US, 5 * US, i64(_pt=3, _p=k + 1, _ct=3, _c=k)) for k in range(n)]))


@profile
def stats(n):
    """An event with n stats, and n events with a stat of a name of their own."""
    many = {'stat %d' % k: {'int64': k} for k in range(n)}
    return join(host([('many', 0, US, many)] + [
        ('few', 10 * k * US, US, {'own %d' % k: {'str': 'v%d' % k}}) for k in range(n)], **{
            'plane %d' % k: k for k in range(n)}))


@profile
def texts_of_stats(n):
    """Threads whose events have correlation ids, on a plane with n texts that stats refer to."""
    plane = host(*([('cuLaunchKernel', k * US, US, {**i64(correlation_id=k + 1), 'note': {
        'ref': 'text %d' % k}})] for k in range(n)))
    return join(plane, gpu([kernel('k', k, 1, correlation_id=k + 1) for k in range(n)]))


@profile
def waits(n):
    """Waits of different names on one thread, and nested ones."""
    return join(host([('await %d BlockHostUntilReady' % k, 10 * k * US, 9 * US) for k in range(n)],
                     [('block_until_ready', k * US, 2 * (n - k) * US) for k in range(n)]))


@profile
def passes(n):
    """Passes of a compiler, nested in one compilation."""
    main = [('backend_compile', 0, 10 * n * US)]
    main += [('XlaPass:#name=pass_%d,module=jit_f#' % k, 10 * k * US, 9 * US) for k in range(n)]
    return join(host(main))


# ---- hosts ----

@profile
def tpu_hosts(n):
    """Hosts with two cores and three steps each."""
    made = []
    for h in range(n):
        planes = []
        for core in range(2):
            plane = tpu(core + 2, core)
            reduce = tpu_op(plane, 'all-reduce.1', 'all-reduce', 'all-reduce')
            dot = tpu_op(plane, 'dot.1')
            plane.line(1, 'Steps', [(str(k), (100 * k + h % 9) * US, 90 * US, i64(group_id=k))
                                    for k in range(3)])
            plane.line(3, 'XLA Ops', [(op, (100 * k + h % 9 + at) * US, 20 * US, i64(group_id=k))
                                      for k in range(3) for at, op in ((0, dot), (30, reduce))])
            planes.append(plane)
        main = [('train', 100 * k * US, 95 * US, i64(step_num=k, _r=1)) for k in range(3)]
        made.append(space(*(p.bytes() for p in [host(main), *planes]), hostname='h%d' % h))
    return made
