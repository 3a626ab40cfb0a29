# SPDX-License-Identifier: Apache-2.0
"""Queries that answer one question that people ask (docs/questions.md, Further questions), on small
profiles whose answers are worked out by hand."""
import random
import statistics

from lib.cases import case, near, same
from lib.hlo import (BF16, F32, allocation, assignment, buffer, computation, instruction, module,
                     proto, shape, tuple_of)
from lib.made import gpu, host, host_of
from lib.shell import rows
from lib.wire import L, V, Plane, US, space

MIB = 1 << 20


def batch(start, number, padding, size, model):
    """A batch of 2 us on a thread, and the request of which it is."""
    return ([('BatchingSessionRun', start, 3 * US),
             ('ScheduleWithSplit', start + 1, 1, {'batching_input_task_size': {'int64': 1},
                                                  '_pt': {'int64': 4}, '_p': {'uint64': number}})],
            [('ProcessBatch', start + 10, 2 * US, {'_ct': {'int64': 4}, '_c': {'uint64': number}}),
             ('MergeInputTensors', start + 20, 1,
              {'padding_amount': {'int64': padding}, 'batch_size_after_padding': {'int64': size}}),
             ('SessionRun', start + 30, US, {'model_id': {'str': model}})])


@case
def padding_of_batches():
    """Of all batches of a model whose size is known; the model with the largest share first."""
    made = [batch(0, 1, 1, 4, 'a:1'), batch(5 * US, 2, 0, 8, 'a:1'), batch(10 * US, 3, 3, 4, 'b:1'),
            batch(15 * US, 4, 0, 0, 'b:1')]
    x = host_of(*[thread for one in made for thread in one])
    same(rows("SELECT model, batches, padded_batches, batch_size, padding, padding_percent "
              "FROM batch_padding('{x}')", x=x),
         [('b:1', 1, 1, 4.0, 3.0, 75.0), ('a:1', 2, 1, 6.0, 0.5, 100 / 12)])


def run_of(*lengths, compiles=(), aside=()):
    """Steps that follow each other with an op in each, and compilations of 4 us in some."""
    events, at = [], 0
    for i, length in enumerate(lengths):
        group = {'group_id': {'int64': i}}
        events.append(('TraceContext', at * US, length * US, group))
        if i in compiles:
            events.append(('backend_compile_and_load', (at + 1) * US, 4 * US, group))
        events.append(('f/MatMul:MatMul', (at + 6) * US, US, group))
        at += length
    return host_of(events, aside)


@case
def steady():
    """Steps after the last that compiles. If more are before it, all that do not compile."""
    ask = ("SELECT steps, left_out, compiling_steps, first_step, round(median_ms * 1e3), "
           "round(average_ms * 1e3), round(all_steps_ms * 1e3, 1) FROM steady_steps('{x}')")
    same(rows(ask, x=run_of(90, 10, 50, 12, 16, compiles=(0, 2))),
         [(2, 3, 2, 3, 14.0, 14.0, 35.6)])
    same(rows(ask, x=run_of(10, 12, 50, compiles=(2,))), [(2, 1, 1, 0, 11.0, 11.0, 24.0)])
    same(rows(ask, x=run_of(10, 12, 50, 14, compiles=(2,))), [(3, 1, 1, 0, 12.0, 12.0, 21.5)])
    same(rows(ask, x=run_of(10, 20)), [(2, 0, 0, 0, 15.0, 15.0, 15.0)])
    aside = [('XlaCompile:#module=jit_g#', 25 * US, 9 * US)]
    same(rows(ask, x=run_of(20, 20, 20, aside=aside)), [(1, 2, 1, 2, 20.0, 20.0, 20.0)],
         'a compilation without a step')
    same(rows(ask, x=run_of(50, 60, compiles=(0, 1))), [])


def allocated(at, number, heap, name='pool'):
    return ('MemoryAllocation', at * US, 0,
            {'allocator_name': {'str': name}, 'addr': {'int64': at + 1},
             'allocation_bytes': {'int64': 1}, 'requested_bytes': {'int64': 1},
             'bytes_allocated': {'int64': heap}, 'bytes_reserved': {'int64': MIB},
             'bytes_available': {'int64': 1}, 'group_id': {'int64': number}})


@case
def growing_memory():
    """The level after the last event of each step, heap and stack; not the peaks between."""
    levels = [(0, 9), (0, 2), (1, 8), (1, 3), (2, 3), (3, 6)]
    x = host_of([allocated(i, number, heap * MIB) for i, (number, heap) in enumerate(levels)],
                [allocated(20 + i, i, (3 - i) * MIB, 'other') for i in range(2)],
                [allocated(30, 1, MIB, 'once')])
    same(rows("SELECT allocator, steps, first_step, last_step, first_mib, last_mib, growth_mib, "
              "growth_per_step_mib, growing_steps, most_growth_step FROM memory_growth('{x}')",
              x=x),
         [('pool', 4, 0, 3, 3.0, 7.0, 4.0, 4 / 3, 2, 3),
          ('other', 2, 0, 1, 4.0, 3.0, -1.0, -1.0, 0, None)])


def launched(*kernels):
    """(launch, start, duration) in us: launches of 1 us on a thread, kernels on one stream."""
    ids = [{'correlation_id': {'int64': i + 1}} for i in range(len(kernels))]
    device = gpu(*[('k', start * US, length * US, ids[i])
                   for i, (_, start, length) in enumerate(kernels)])
    calls = host(*[('cudaLaunchKernel', launch * US, US, ids[i])
                   for i, (launch, _, _) in enumerate(kernels)])
    return space(device.bytes(), calls.bytes())


@case
def queue_of_launches():
    """An event is queued from the start of its launch until it starts itself."""
    x = launched((0, 10, 5), (2, 15, 5), (4, 20, 5), (15, 25, 5), (40, 42, 1))
    same(rows("SELECT launches, longest_queue, longest_start_us, average_queue, empty_launches, "
              "median_delay_us, longest_launch_us FROM launch_queue('{x}')", x=x),
         [(5, 3, 4.0, (1 + 2 + 3 + 2 + 1) / 5, 2, 10.0, 1.0)])


@case
def waits_of_the_host():
    """The outermost wait counts, by thread and name; CPU executors wait for no device."""
    x = host_of([('train', 0, 100 * US), ('block_until_ready', US, 10 * US),
                 ('CommonPjRtBuffer::Await', 2 * US, 8 * US),
                 ('block_until_ready', 20 * US, 30 * US)],
                [('cudaStreamSynchronize', 0, 5 * US), ('$builtins item', 10 * US, 50 * US),
                 ('$array.py:1 itemsize', 70 * US, US)],
                [('ThunkExecutor::Execute (wait for completion)', 0, 90 * US),
                 ('SlinkyThreadPool::Await', 91 * US, US)])
    same(rows("SELECT name, line, called_by, calls, total_us, average_us, longest_us, "
              "longest_start_us FROM host_waits('{x}')", x=x),
         [('$builtins item', 'thread1', None, 1, 50.0, 50.0, 50.0, 10.0),
          ('block_until_ready', 'thread0', 'train', 2, 40.0, 20.0, 30.0, 20.0),
          ('cudaStreamSynchronize', 'thread1', None, 1, 5.0, 5.0, 5.0, 0.0)])
    same(rows("SELECT line, name, calls, total_us, longest_us, longest_start_us FROM "
              "wait_totals('{x}')", x=x),
         [('thread0', 'block_until_ready', 2, 40.0, 30.0, 20.0),
          ('thread1', 'cudaStreamSynchronize', 1, 5.0, 5.0, 0.0),
          ('thread1', '$builtins item', 1, 50.0, 50.0, 10.0)])


@case
def names_of_waits():
    """By their parts; compiling, tracing, input and pools of threads of the host are none."""
    names = ('cuStreamSynchronize', 'x block_until_ready y', 'BlockUntilReady', 'Await',
             'PjRt::BlockHostUntilReady', 'Acquire semaphore 3', 'np.asarray(jax.Array)',
             '$a.py:1 item', '$.tolist')
    others = ('IteratorGetNext Synchronize', 'iteratorgetnextSynchronize', 'Iterator::Await',
              'ThreadPool::Await', '(wait for completion)', '$item', '$a.py:1 itemize', 'a item',
              '$a_item', 'synchronize', 'Await (wait for completion)', 'XlaCompile Await',
              'XlaCompileAwait', 'X::Compile(Await)', 'trace_to_jaxpr Synchronize',
              '$pe.py:1 trace_to_jaxpr_Await', 'a/Await:InfeedEnqueueTuple')
    x = host_of([(name, i * US, US) for i, name in enumerate(names + others)])
    same(rows("SELECT name FROM wait_totals('{x}')", x=x), [(name,) for name in names])
    same(sorted(rows("SELECT name FROM host_waits('{x}')", x=x)),
         sorted((name,) for name in names))


@case
def waits_that_overlap():
    """In any order in the file, and of equal ones the first counts. A wait that starts in another
    one does not count, but hides what starts before it ends."""
    waits = [('Await', 30 * US, 5 * US), ('Await', 0, 10 * US), ('Await', 5 * US, 10 * US),
             ('Await', 12 * US, US), ('Await', 15 * US, 10 * US), ('Await', 15 * US, 2 * US)]
    for order in (waits, sorted(waits, key=lambda w: (w[1], -w[2]))):
        x = host_of(order)
        found = rows("SELECT calls, total_us, longest_us, longest_start_us, longest_event_id "
                     "FROM wait_totals('{x}')", x=x)
        same(found, [(3, 25.0, 10.0, 0.0, order.index(waits[1]))])
    least = -2**63  # the only wait of its name is the longest, whatever its duration
    same(rows("SELECT calls, longest_event_id FROM wait_totals('{x}')",
              x=host_of([('f', 0, US), ('Await', 0, least)])), [(1, 1)])


@case
def one_slow_call():
    """A call against the median of its name; names that ran twice have none."""
    x = space(gpu(('ncclAllReduce', 0, 2 * US, {}), ('ncclAllReduce', 10 * US, 2 * US, {}),
                  ('ncclAllReduce', 20 * US, 9 * US, {}), ('add', 40 * US, US, {}),
                  ('add', 50 * US, 2 * US, {}), ('add', 60 * US, 4 * US, {}),
                  ('twice', 70 * US, US, {}), ('twice', 80 * US, 19 * US, {})).bytes())
    ask = ("SELECT rank, name, start_us, duration_us, median_us, over_median_us, ratio, calls "
           "FROM slow_calls('{x}'%s)")
    slow = [(1, 'ncclAllReduce', 20.0, 9.0, 2.0, 7.0, 4.5, 3),
            (2, 'add', 60.0, 4.0, 2.0, 2.0, 2.0, 3)]
    same(rows(ask % '', x=x), slow)
    same(rows(ask % ", 'allreduce'", x=x), slow[:1])
    same(rows(ask % ", NULL, 1", x=x), slow[:1])
    same(rows(ask % ", 'twice'", x=x), [])


@case
def usual_time_of_many_calls():
    """The median of short and long, of few and many calls; negative durations are of damaged
    files."""
    def check(lengths):
        x = space(Plane('/device:GPU:0').line(1, 'Stream #1', [
            ('f', i, length) for i, length in enumerate(lengths)]).bytes())
        got, = rows("SELECT duration_us, median_us, calls FROM slow_calls('{x}', 'f', 1)", x=x)
        near(got[1] * 1e6, statistics.median(lengths), len(lengths))
        same(got[::2], (max(lengths) / 1e6, len(lengths)))

    check([-3, 9, 4, -2, 1 << 50])
    check([1, 2, 1 << 40, 1 << 41, 1 << 50])
    rng = random.Random(3)
    for n, longest in ((3, 10), (1000, 1 << 40), (16383, 10), (16384, 1 << 31), (16385, 1 << 33),
                       (20000, 1 << 17)):
        lengths = [rng.randrange(longest) for _ in range(n - 1)] + [1 << 50]
        if n < 20000:
            lengths[:n // 20] = [-x for x in lengths[:n // 20]]
        check(lengths)


def program(*instructions, fused=(), plan=None, root=None):
    """A profile of one program, id 1, whose instructions ran for 1 us times their id."""
    made = [computation(1, 'main', instructions, root=root)]
    if fused:
        made.append(computation(2, 'fused', fused))
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': proto(module('m', *made), plan)}}, key=1)
    return plane.bytes()


def ran(*ops):
    return host(*[(op, i * 100 * US, us * US, {'hlo_op': {'str': op}, 'hlo_module': {'str': 'm'},
                                               'program_id': {'uint64': 1}})
                  for i, (op, us) in enumerate(ops)]).bytes()


@case
def donated_parameters():
    """What has an output in its memory is donated; what has an output's shape beside it could be.
    One output stands for one parameter."""
    wide, narrow = shape(F32, 4), shape(F32, 2)
    ops = [instruction(1, 'a', 'parameter', wide, more=V(9, 0)),
           instruction(2, 'b', 'parameter', wide, more=V(9, 1)),
           instruction(3, 'c', 'parameter', wide, more=V(9, 2)),
           instruction(4, 'd', 'parameter', narrow, more=V(9, 3)),
           instruction(5, 'x', 'negate', wide, (1,)), instruction(6, 'y', 'negate', wide, (2,)),
           instruction(7, 'z', 'add', narrow, (4,))]
    sizes = [16, 16, 16, 8, 16, 16, 8]
    buffers = [buffer(i + 1, size, i + 1) for i, size in enumerate(sizes)]
    plan = assignment(buffers, [
        allocation(0, 16, [(1, 0, 16), (5, 0, 16)], parameter=True, live_out=True),
        allocation(1, 16, [(2, 0, 16)], parameter=True),
        allocation(2, 16, [(3, 0, 16)], parameter=True),
        allocation(3, 8, [(4, 0, 8)], parameter=True),
        allocation(4, 16, [(6, 0, 16)], live_out=True), allocation(5, 8, [(7, 0, 8)])])
    x = space(program(*ops, plan=plan))
    same(rows("SELECT hlo_op, donated, could_be, output, size_mib * 1048576, "
              "could_save_mib * 1048576 FROM donation('{x}')", x=x),
         [('b', 0, 1, None, 16.0, 16.0), ('a', 1, 0, 'x', 16.0, 16.0),
          ('c', 0, 0, None, 16.0, 16.0), ('d', 0, 0, None, 8.0, 16.0)])


@case
def outputs_of_another_shape():
    """An output's shape is that which the program returns, not that of the instruction that makes
    it: c makes a row of 4 numbers, which the program returns as 2 x 2, like its parameter."""
    square, row, flat = shape(F32, 2, 2), shape(F32, 1, 4), shape(F32, 4)
    made = [instruction(1, 'a', 'parameter', square, more=V(9, 0)),
            instruction(2, 'c', 'custom-call', tuple_of(flat, row), (1,)),
            instruction(3, 'part', 'get-tuple-element', row, (2,), more=V(13, 1)),
            instruction(4, 'bits', 'bitcast', square, (3,)),
            instruction(5, 'guard', 'opt-barrier', square, (4,)),
            instruction(6, 'other', 'get-tuple-element', flat, (2,)),
            instruction(7, 'root', 'tuple', tuple_of(tuple_of(square, flat), square), (8, 5)),
            instruction(8, 'inner', 'tuple', tuple_of(square, flat), (5, 6))]
    plan = assignment([buffer(1, 16, 1), buffer(2, 16, 2, (1,)), buffer(3, 16, 2, (0,)),
                       buffer(4, 16, 7), buffer(5, 16, 8)],
                      [allocation(0, 16, [(1, 0, 16)], parameter=True),
                       allocation(1, 16, [(2, 0, 16)], live_out=True),
                       allocation(2, 16, [(3, 0, 16)], live_out=True),
                       allocation(3, 16, [(4, 0, 16)], live_out=True),
                       allocation(4, 16, [(5, 0, 16)], live_out=True)])
    x = proto(module('m', computation(1, 'main', made, root=7)), plan)
    same(rows("SELECT hlo_op, shape_index, shape_actual, output_shape "
              "FROM buffer_allocations('{x}')", x=x),
         [('a', None, 'f32[2,2]{1,0}', None), ('c', '{1}', 'f32[1,4]{1,0}', 'f32[2,2]{1,0}'),
          ('c', '{0}', 'f32[4]{0}', 'f32[4]{0}'),
          ('root', None, '((f32[2,2]{1,0}, f32[4]{0}), f32[2,2]{1,0})', None),
          ('inner', None, '(f32[2,2]{1,0}, f32[4]{0})', None)])
    same(rows("SELECT hlo_op, donated, could_be, could_save_mib * 1048576 FROM donation('{x}')",
              x=x), [('a', 0, 1, 16.0)])


@case
def outputs_in_the_memory_of_parameters():
    """The output is what a call returns: the root of its computation. A later temporary is in the
    parameter's memory too. A call without a computation that exists makes no output."""
    flat = shape(F32, 4)
    for called, output in ((2, 'inner'), (9, 'late')):
        made = [instruction(1, 'p', 'parameter', flat),
                instruction(2, 'called', 'call', flat, (1,), (called,)),
                instruction(3, 'late', 'negate', flat, (2,)),
                instruction(4, 'root', 'tuple', tuple_of(flat), (2,))]
        inside = [instruction(21, 'q', 'parameter', flat),
                  instruction(22, 'inner', 'negate', flat, (21,))]
        plan = assignment([buffer(1, 16, 1), buffer(2, 16, 22), buffer(3, 16, 3)], [
            allocation(0, 16, [(1, 0, 16), (2, 0, 16), (3, 0, 16)], parameter=True, live_out=True)])
        x = proto(module('m', computation(1, 'main', made, root=4),
                         computation(2, 'c', inside, root=22)), plan)
        same(rows("SELECT hlo_op, donated, output FROM donation('{x}')", x=x), [('p', 1, output)])


@case
def outputs_of_calls():
    """A call returns what its computation makes of x, and y as it is. The program returns both, and
    its own parameter. x is no output."""
    flat = shape(F32, 4)
    made = [instruction(1, 'p', 'parameter', flat), instruction(2, 'x', 'negate', flat, (1,)),
            instruction(3, 'y', 'negate', flat, (1,)),
            instruction(4, 'called', 'call', tuple_of(flat, flat), (2, 3), (2,)),
            instruction(5, 'first', 'get-tuple-element', flat, (4,), more=V(13, 0)),
            instruction(6, 'second', 'get-tuple-element', flat, (4,), more=V(13, 1)),
            instruction(7, 'root', 'tuple', tuple_of(flat, flat, flat), (6, 5, 1))]
    inside = [instruction(21, 'a', 'parameter', flat, more=V(9, 0)),
              instruction(22, 'b', 'parameter', flat, more=V(9, 1)),
              instruction(23, 'inner', 'negate', flat, (21,)),
              instruction(24, 'both', 'tuple', tuple_of(flat, flat), (23, 22))]
    ids = (1, 2, 3, 23)
    plan = assignment([buffer(id, 16, id) for id in ids],
                      [allocation(i, 16, [(id, 0, 16)]) for i, id in enumerate(ids)])
    x = proto(module('m', computation(1, 'main', made, root=7),
                     computation(2, 'c', inside, root=24)), plan)
    same(rows("SELECT hlo_op, output_shape IS NOT NULL FROM buffer_allocations('{x}')", x=x),
         [('p', 1), ('x', 0), ('y', 1), ('inner', 1)])


@case
def cost_of_programs():
    """Operations of the entry computation, what fusions run in it counted once; loops by number."""
    four = shape(F32, 4)
    inside = [instruction(11, 'p', 'parameter', four), instruction(12, 'q', 'add', four, (11, 11))]
    ops = [instruction(1, 'a', 'parameter', four), instruction(2, 'b', 'fusion', four, (1,), (2,)),
           instruction(3, 'c', 'multiply', four, (1, 2))]
    x = space(program(*ops, fused=inside), host(
        ('backend_compile_and_load', 0, 5 * US)).bytes())
    same(rows("SELECT hlo_module, instructions, computations, loops, flops, compile_ms, executions,"
              " hosts FROM program_cost('{x}')", x=x), [('m', 5, 2, 0, 8.0, None, None, 1)])


@case
def ops_of_the_host():
    """Ops that have a kernel in no run of theirs, the longest first."""
    kernels = gpu(('k', 0, US, {'tf_op': {'str': 'f/MatMul:MatMul'}}))
    ops = host(('f/MatMul:MatMul', 0, 2 * US), ('f/Concat:ConcatV2', 5 * US, 3 * US),
               ('f/Where:Where', 10 * US, 5 * US))
    x = space(kernels.bytes(), ops.bytes())
    same(rows("SELECT rank, operation, type, occurrences, self_time_us, percent "
              "FROM host_only_ops('{x}')", x=x),
         [(1, 'f/Where', 'Where', 1, 5.0, 50.0), (2, 'f/Concat', 'ConcatV2', 1, 3.0, 30.0)])


@case
def ops_of_older_gpu_files():
    """A kernel may name its op as older TensorFlow does. Records of allocators and launches of
    programs are no ops."""
    kernels = gpu(('k', 0, US, {'annotation': {'str': 'f/MatMul:MatMul#id=1#'}}))
    ops = host(('f/MatMul:MatMul', 0, 2 * US), ('f/Where:Where', 10 * US, 2 * US),
               ('MemoryAllocation', 15 * US, 0, {'tf_op': {'str': '(null)'}}),
               ('hipModuleLaunchKernel', 20 * US, US, {'tf_op': {'str': 'XlaModule:'}}))
    same(rows("SELECT operation, self_time_us, percent FROM host_only_ops('{x}')",
              x=space(kernels.bytes(), ops.bytes())), [('f/Where', 2.0, 50.0)])


LAYOUTS = [instruction(1, 'a', 'parameter', shape(BF16, 4, 2)),
           instruction(2, 'moved', 'fusion', shape(BF16, 2, 4), (1,), (2,)),
           instruction(3, 'copied', 'copy', shape(BF16, 2, 4), (2,)),
           instruction(4, 'sum', 'add', shape(BF16, 2, 4), (3, 2)),
           instruction(5, 'wide', 'convert', shape(F32, 2, 4), (4,)),
           instruction(6, 'product', 'dot', shape(F32, 2, 2), (4, 1))]
MOVED = [instruction(11, 'p', 'parameter', shape(BF16, 4, 2)),
         instruction(12, 'q', 'transpose', shape(BF16, 2, 4), (11,))]


@case
def layouts():
    """Copies, transposes and fusions of them alone, with the first op that uses the result."""
    x = space(program(*LAYOUTS, fused=MOVED),
              ran(('moved', 6), ('copied', 3), ('sum', 1), ('wide', 2), ('product', 8)))
    same(rows("SELECT rank, hlo_op, opcode, self_us, percent, all_percent, needed_by "
              "FROM layout_ops('{x}')", x=x),
         [(1, 'moved', 'fusion', 6.0, 30.0, 45.0, 'copied'),
          (2, 'copied', 'copy', 3.0, 15.0, 45.0, 'sum')])
    same(rows("SELECT shape, operand_shape FROM layout_ops('{x}', 1)", x=x),
         [('bf16[2,4]{1,0}', 'bf16[4,2]{1,0}')])


@case
def advice_about_layouts():
    """The rule data_movement has the ops of layout_ops, fusions included."""
    kernels = gpu(*[(op, at * US, us * US, {'hlo_op': {'str': op}, 'hlo_module': {'str': 'm'},
                                            'program_id': {'uint64': 1}})
                    for op, at, us in (('moved', 0, 6), ('copied', 6, 3), ('sum', 9, 1))])
    x = space(program(*LAYOUTS, fused=MOVED), kernels.bytes())
    same(rows("SELECT round(cost_ms, 6), evidence FROM advice('{x}') "
              "WHERE rule = 'data_movement'", x=x), [(0.009, 'moved: 0.006 ms')])


@case
def element_types():
    """A product computes in its operand's type; a conversion counts for the type of its result."""
    x = space(program(*LAYOUTS, fused=MOVED),
              ran(('moved', 6), ('copied', 3), ('sum', 1), ('wide', 2), ('product', 8)))
    same(rows("SELECT rank, element_type, ops, occurrences, self_us, percent, product_us, "
              "convert_us FROM time_by_type('{x}')", x=x),
         [(1, 'bf16', 4, 4, 18.0, 90.0, 8.0, 0.0), (2, 'f32', 1, 1, 2.0, 10.0, 0.0, 2.0)])


# ---- where the first version of an answer was wrong ----

@case
def steady_beside_a_compiler():
    """On a GPU, the kernels that a compiler tries in step 1 belong to step 0, which they make
    long: only step 2 is steady."""
    def of(group, name, at, length, **stats):
        return name, at * US, length * US, {'group_id': {'int64': group}, **stats}

    def ran(group, at):
        return of(group, 'k', at, 5, correlation_id={'int64': 1})
    thread = host(of(0, 'TraceContext', 0, 20), of(0, 'cuLaunchKernel', 1, 2,
                                                   correlation_id={'int64': 1}),
                  of(1, 'TraceContext', 20, 180), of(1, 'backend_compile_and_load', 30, 150),
                  of(2, 'TraceContext', 200, 20))
    stream = gpu(ran(0, 12), ran(0, 100), ran(1, 190), ran(2, 210))
    stream.line(0xdeadbeef, 'Steps', [of(0, '0', 12, 93), of(1, '1', 190, 5), of(2, '2', 210, 5)])
    same(rows("SELECT steps, compiling_steps, first_step, median_ms * 1e3 FROM steady_steps('{x}')",
              x=space(thread.bytes(), stream.bytes())), [(1, 2, 2, 5.0)])


@case
def steady_of_two_hosts():
    """Hosts that are merged count their steps anew, without those that are dropped: step 2 here is
    group 3 of each host."""
    one = run_of(10, 20, 30, 40, 50, 60, 70, compiles=(3,))
    same(rows("SELECT compiling_steps, steps, first_step FROM steady_steps('{x}')", x=[one, one]),
         [(1, 2, 3)])


@case
def growth_from_below_nothing():
    """Memory in use is 0 where heap and stack are negative together."""
    x = host_of([allocated(0, 0, -5 * MIB), allocated(1, 1, 2 * MIB)])
    same(rows("SELECT first_mib, last_mib, growth_mib FROM memory_growth('{x}')", x=x),
         [(0.0, 3.0, 3.0)])


@case
def calls_without_times():
    """Aggregated events are no calls and no waits."""
    x = space(gpu(*[('k', i * 10 * US, US, {}) for i in range(3)]).line(
        2, 'Stream #2', [('k', 0, 900 * US, {}, 5)]).bytes(),
              host(('block_until_ready', 0, US), ('block_until_ready', 0, 50 * US, {}, 3)).bytes())
    same(rows("SELECT name FROM slow_calls('{x}')", x=x), [])
    same(rows("SELECT calls, total_us FROM host_waits('{x}')", x=x), [(1, 1.0)])


@case
def many_ops_of_the_host():
    """All ops of a device count, also beyond the 500 that XProf's page shows."""
    kernels = gpu(*[('k%d' % i, i * US, (601 - i) * 1000, {'tf_op': {'str': 'op%d:Op' % i}})
                    for i in range(600)])
    ops = host(('op599:Op', 0, 2 * US), ('alone:Op', 5 * US, US))
    same(rows("SELECT operation FROM host_only_ops('{x}')", x=space(kernels.bytes(), ops.bytes())),
         [('alone',)])


def of_one_id(element_type, *lengths):
    """A host whose program 1 copies and runs a few times."""
    made = [instruction(1, 'a', 'parameter', shape(element_type, 4)),
            instruction(2, 'copied', 'copy', shape(element_type, 4), (1,))]
    return space(program(*made), gpu(*[
        ('copied', i * 9 * US, us * US, {'hlo_op': {'str': 'copied'}, 'hlo_module': {'str': 'm'},
                                         'program_id': {'uint64': 1}})
        for i, us in enumerate(lengths)]).bytes())


@case
def programs_of_one_id():
    """Programs of one id on several hosts are one if they are equal, and else have their own
    numbers. Those that differ in names only have one cost."""
    hosts = [of_one_id(F32, 1, 1), of_one_id(BF16, 4, 5, 6), of_one_id(F32, 2)]
    same(rows("SELECT hosts, executions FROM program_cost('{x}') ORDER BY hosts", x=hosts),
         [(1, 3), (2, 3)])
    same(rows("SELECT shape, occurrences, self_us FROM layout_ops('{x}')", x=hosts),
         [('bf16[4]{0}', 3, 15.0), ('f32[4]{0}', 3, 4.0)])
    same(rows("SELECT element_type, ops FROM time_by_type('{x}')", x=hosts),
         [('bf16', 1), ('f32', 1)])
    hosts.append(of_one_id(F32, 2).replace(b'copied', b'CoPied'))
    same(rows("SELECT hosts, executions FROM program_cost('{x}') ORDER BY hosts", x=hosts),
         [(1, 3), (3, 4)])
    same(rows("SELECT element_type, ops FROM time_by_type('{x}')", x=hosts),
         [('bf16', 1), ('f32', 2)])


@case
def unknown_operations():
    """A call of unknown work makes the operations of the program unknown, not fewer; a product is
    what a call's target says, not the name of its operand."""
    ops = [instruction(1, 'my_gemm', 'parameter', shape(BF16, 4)),
           instruction(2, 'called', 'custom-call', shape(F32, 4), (1,), more=L(28, 'foo')),
           instruction(3, 'grouped', 'custom-call', shape(F32, 4), (1,),
                       more=L(28, '__cublas$lt$groupedMatmul')),
           instruction(4, 'ragged', 'ragged-dot', shape(F32, 4), (1, 1))]
    x = space(program(*ops), ran(('called', 1), ('grouped', 2), ('ragged', 4)))
    same(rows("SELECT flops FROM program_cost('{x}')", x=x), [(None,)])
    same(rows("SELECT element_type, self_us, product_us FROM time_by_type('{x}')", x=x),
         [('bf16', 6.0, 6.0), ('f32', 1.0, 0.0)])
