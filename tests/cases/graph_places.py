# SPDX-License-Identifier: Apache-2.0
"""graph_kernels: the instructions of kernels in CUDA graphs, by their places in the program's
schedule (docs/semantics.md, Kernel of a CUDA graph)."""
from lib.cases import case, same
from lib.hlo import F32, computation, instruction, ints, module, proto, shape
from lib.shell import rows
from lib.wire import L, Plane, V, space

SHAPE = shape(F32, 8)
BODIES = ('negate', 'abs', 'exponential')  # of fusions: those with the same are equal


def schedule(**sequences):
    return L(7, b''.join(L(1, V(1, int(c[1:])) + L(2, ints(1, *ids)))
                         for c, ids in sequences.items()))


def program(items, body='', scheduled=True):
    """items: instructions of the entry computation in the order of its schedule, as they are
    called: negate.1, abs.2 are fusions; start.1 an asynchronous one of a negate.s1; loop.1 runs
    `body`; others have their name's opcode."""
    done, n = [], [100]

    def number():
        n[0] += 1
        return n[0]

    def fused(code):
        c = number()
        done.append(computation(c, 'f%d' % c, [instruction(100 * c, 'p%d' % c, 'parameter', SHAPE),
                                               instruction(100 * c + 1, 'x%d' % c, code, SHAPE,
                                                           (100 * c,))], root=100 * c + 1))
        return c

    def of(name):
        kind, id = name.split('.')[0], number()
        if kind in BODIES:
            return id, instruction(id, name, 'fusion', SHAPE, (1,), (fused(kind),), '',
                                   L(11, 'kLoop'))
        if kind == 'start':
            c = number()
            inner = instruction(10 * c, 'negate.' + name.replace('.', ''), 'fusion', SHAPE,
                                (10 * c + 1,), (fused('negate'),), '', L(11, 'kLoop'))
            done.append(computation(c, 'wrapped%d' % c, [
                instruction(10 * c + 1, 'q%d' % c, 'parameter', SHAPE), inner], root=10 * c))
            return id, instruction(id, name, 'async-start', SHAPE, (1,), (c,))
        if kind == 'loop':
            return id, instruction(id, name, 'while', SHAPE, (1,), (2, 3), '',
                                   L(43, '{"known_trip_count":{"n":"3"}}'))
        return id, instruction(id, name, kind, SHAPE, (1,))

    orders = {}
    for c, text in ((2, body), (1, items)):
        ops = [of(name) for name in text.split()]
        first = instruction(c, 'arg%d' % c, 'parameter', SHAPE)
        orders['c%d' % c] = [c] + [id for id, _ in ops]
        # instructions are stored in another order than they run
        done.append(computation(c, 'c%d' % c, [first] + [op for _, op in reversed(ops)], root=c))
    test = computation(3, 'test', [instruction(9, 'less', 'compare', SHAPE)], root=9)
    return proto(module('m', test, *done, more=schedule(**orders) if scheduled else b''))


def profile(data, *launches):
    metadata, device = Plane('/host:metadata', 9), Plane('/device:GPU:0', 1)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': data}}, key=1)
    kernels, at = [], 0
    for launch, names in enumerate(launches):
        for name in names.split():
            kernels.append((name, at, 5, {
                'program_id': {'uint64': 1}, 'hlo_op': {'str': 'graph'},
                'correlation_id': {'uint64': launch + 1}, 'cuda_graph_id': {'uint64': 7}}))
            at += 10
    device.line(1, 'Stream #1', kernels)
    return space(device.bytes(), metadata.bytes())


FOUND = "SELECT coalesce(hlo_op, '-') FROM graph_kernels('{x}') ORDER BY event_id"


def found(items, *launches, **more):
    return ' '.join(r[0] for r in rows(FOUND, x=profile(program(items, **more), *launches)))


@case
def equal_fusions_by_their_places():
    """From a fixed kernel on, forwards and backwards, kernels and instructions go together."""
    same(found('negate.1 negate.2 abs.1 negate.3', 'negate_1 negate_1 abs_1 negate_1'),
         'negate.1 negate.2 abs.1 negate.3')
    same(found('negate.1 negate.2 abs.1 negate.3', 'negate_1 abs_1'), 'negate.2 abs.1',
         'the graph starts later')
    same(found('negate.1 negate.2', 'negate_1 negate_1'), '- -', 'nothing is fixed')
    same(found('abs.1 negate.1 negate.2', 'abs_1 negate_1', scheduled=False), 'abs.1 -')
    same(found('abs.1 negate.1 exponential.1 negate.2', 'abs_1 negate_1 negate_1'),
         'abs.1 negate.1 -', 'another fusion would come first')
    same(found('abs.1 negate.1 exponential.1 negate.2', 'abs_1 negate_1 memcpy negate_1'),
         'abs.1 negate.1 exponential.1 negate.2', 'which runs as a copy')
    same(found('abs.1 negate.1 loop.1 negate.2', 'abs_1 negate_1 negate_1'), 'abs.1 negate.1 -',
         'a loop lies between')
    same(found('abs.1 negate.1 negate.2 exponential.1', 'abs_1 negate_1 exponential_1'),
         'abs.1 - exponential.1', 'from both sides, two instructions')
    same(found('abs.1 negate.1 exponential.1 negate.2', 'abs_1 negate_1 negate_1 exponential_1'),
         'abs.1 - - exponential.1', 'from both sides, two kernels')
    same(found('abs.1 negate.1 negate.2', 'abs_1', 'negate_1 abs_1', 'abs_1 negate_1'),
         'abs.1 - abs.1 abs.1 negate.1', 'each launch is one')
    for n, first in ((1000, 'negate.1'), (1001, '-')):
        calls = ' '.join('custom-call.%d' % i for i in range(n))
        same(found('abs.1 %s negate.1 negate.2' % calls, 'abs_1 negate_1'), 'abs.1 ' + first,
             '%d items between' % n)


@case
def calls_of_libraries():
    """Kernels with other names are what lies between."""
    same(found('abs.1 custom-call.1 exponential.1', 'abs_1 memset gemm reduce exponential_1'),
         'abs.1 custom-call.1 custom-call.1 custom-call.1 exponential.1')
    between = 'abs.1 custom-call.1 custom-call.2 exponential.1'
    same(found(between, 'abs_1 gemm gemm exponential_1'),
         'abs.1 custom-call.1 custom-call.2 exponential.1', 'as many')
    same(found(between, 'abs_1 Memset gemm MEMSET gemm exponential_1'),
         'abs.1 custom-call.1 custom-call.1 custom-call.2 custom-call.2 exponential.1', 'sets')
    same(found(between, 'abs_1 gemm reduce gemm exponential_1'), 'abs.1 - - - exponential.1')
    same(found(between, 'abs_1 memcpy gemm exponential_1'), 'abs.1 - - exponential.1',
         'no call copies')
    same(found('abs.1 custom-call.1 copy.1 custom-call.2 copy.2 exponential.1',
               'abs_1 gemm reduce memcpy32 gemm MemcpyD2D exponential_1'),
         'abs.1 custom-call.1 custom-call.1 copy.1 custom-call.2 copy.2 exponential.1',
         'copies divide')
    same(found('abs.1 start.1 custom-call.1 tuple.1 copy-start.1 copy-done.1 exponential.1',
               'abs_1 memcpy gemm gemm memcpy exponential_1'),
         'abs.1 negate.start1 custom-call.1 custom-call.1 copy-start.1 exponential.1')
    same(found('abs.1 negate.1 custom-call.1 negate.2 exponential.1',
               'abs_1 memcpy gemm memcpy exponential_1'),
         'abs.1 negate.1 custom-call.1 negate.2 exponential.1', 'fusions that copy')
    same(found('abs.1 exponential.1', 'abs_1 memset exponential_1'),
         'abs.1 exponential.1 exponential.1', 'a set before a kernel')
    same(found('abs.1 exponential.1', 'abs_1 other exponential_1'), 'abs.1 - exponential.1')


@case
def kernels_at_the_ends():
    """Beside a kernel with a place, without one on the other side."""
    same(found('custom-call.1 abs.1 custom-call.2', 'gemm reduce abs_1 memset gemm'),
         'custom-call.1 custom-call.1 abs.1 custom-call.2 custom-call.2')
    same(found('negate.1 custom-call.1 abs.1 custom-call.2 negate.2', 'gemm gemm abs_1 gemm gemm'),
         'custom-call.1 custom-call.1 abs.1 custom-call.2 custom-call.2')
    same(found('custom-call.1 custom-call.2 abs.1', 'gemm gemm abs_1'), '- - abs.1', 'two calls')
    same(found('negate.1 copy.1 custom-call.1 copy.2 abs.1', 'memcpy memcpy gemm memcpy abs_1'),
         'negate.1 copy.1 custom-call.1 copy.2 abs.1', 'nothing comes before the first')
    same(found('copy.1 negate.1 negate.2 abs.1', 'gemm memcpy abs_1'), '- negate.2 abs.1',
         'a fusion that copies, and one that has its own kernel')
    same(found('negate.1 copy.1 abs.1', 'gemm gemm abs_1'), '- - abs.1', 'a copy is none')
    same(found('loop.1 custom-call.1 abs.1', 'gemm gemm abs_1'),
         'custom-call.1 custom-call.1 abs.1', 'after a loop')
    same(found('abs.1 copy.1 loop.1 copy.2 exponential.1', 'abs_1 memcpy x memcpy exponential_1'),
         'abs.1 copy.1 - copy.2 exponential.1', 'a loop in between')
    same(found('abs.1 custom-call.1 loop.1', 'abs_1 gemm', 'abs_1 gemm abs_1'),
         'abs.1 custom-call.1 abs.1 - abs.1', 'the loop may run in the graph')
    same(found('abs.1 loop.1 exponential.1', 'abs_1 gemm gemm negate_1 exponential_1',
               body='copy.1 custom-call.1 negate.1'),
         'abs.1 custom-call.1 custom-call.1 negate.1 exponential.1', 'the loop does')
    same(found('loop.1 abs.1', 'gemm negate_1 gemm gemm negate_1 gemm abs_1',
               body='custom-call.1 negate.1 custom-call.2'),
         'custom-call.1 negate.1 - - negate.1 - abs.1', 'calls at both ends of what a loop runs')


@case
def executions_in_graphs():
    """An execution of a library call may have several kernels; each kernel of a fusion is one."""
    x = profile(program('abs.1 custom-call.1 exponential.1', body='negate.1'),
                *2 * ['abs_1 memset gemm reduce exponential_1'])
    same(rows("SELECT hlo_op, occurrences, executions, flops FROM scope_ops('{x}') ORDER BY 1",
              x=x), [('abs.1', 2, 2, 16.0), ('custom-call.1', 6, 2, None),
                     ('exponential.1', 2, 2, 0.0)])
    same(rows("SELECT name, found_by, is_execution, duration_ps FROM graph_kernels('{x}')"
              " WHERE event_id < 5", x=x),
         [('abs_1', 'name', 1, 5), ('memset', 'place', 1, 5), ('gemm', 'place', 0, 5),
          ('reduce', 'place', 0, 5), ('exponential_1', 'name', 1, 5)])
    x = profile(program('loop.1 abs.1', body='negate.1 copy.1'),
                'negate_1 negate_1 memset abs_1 other')
    same(rows("SELECT hlo_op, is_execution FROM graph_kernels('{x}')", x=x),
         [('negate.1', 1), ('negate.1', 1), (None, None), ('abs.1', 1), (None, None)])


@case
def answers_with_graphs():
    """Ops, categories and operations of kernels in graphs are those of their instructions."""
    x = profile(program('abs.1 custom-call.1 exponential.1'),
                'abs_1 gemm reduce exponential_1 other')
    same(rows("SELECT hlo_op, category, occurrences, round(percent) FROM top_hlo_ops('{x}')", x=x),
         [('custom-call.1', 'custom-call', 1, 40.0), ('abs.1', 'loop fusion', 1, 20.0),
          ('exponential.1', 'loop fusion', 1, 20.0), ('graph', 'unknown', 1, 20.0)])
    same(rows("SELECT category, op_count, occurrences FROM op_time_by_category('{x}')"
              " WHERE category <> 'IDLE' ORDER BY 1", x=x),
         [('custom-call', 1, 2), ('loop fusion', 2, 2), ('unknown', 1, 1)])
    same(rows("SELECT operation, occurrences, kernel_count FROM kernel_time_by_op('{x}')"
              " ORDER BY 1", x=x),
         [('abs.1', 1, 1), ('custom-call.1', 2, 2), ('exponential.1', 1, 1), ('graph', 1, 1)])
    other = Plane('/device:GPU:1', 2)
    for line, stats in (('Stream #1', {}), ('Stream #2', {'program_id': {'uint64': 1}})):
        stats['hlo_op'] = {'str': 'graph' if line == 'Stream #1' else '%graph'}
        other.line(len(line) + len(stats), line, [('k', 0, 5, stats)])
    same(rows("SELECT sum(occurrences), round(sum(total_time_us), 9) FROM kernel_time_by_op('{x}')",
              x=x + space(other.bytes())),
         [(7, 0.000035)], 'without a program, and with a sign before the name')
    same(rows("SELECT hlo_op, occurrences FROM fusion_breakdown('{x}') ORDER BY 1", x=x),
         [('abs.1', 1), ('exponential.1', 1)])
    same(rows("SELECT top_op FROM time_by_scope('{x}')", x=x), [('custom-call.1',)])
