# SPDX-License-Identifier: Apache-2.0
"""Queries about steps and devices, on runs whose answers are worked out by hand."""
from lib.cases import case, same
from lib.hlo import F32, computation, instruction, module, proto, shape
from lib.made import gpu, host
from lib.shell import attached, rows
from lib.wire import L, Plane, US, space

PS = 'round(%s * 1e9) / 1e9'


def core(number, steps, stats=None, kind=''):
    """A TensorCore. A step is (start, length, ops), an op is (name, category, length[, flops])."""
    plane = Plane('/device:TPU:%d%s' % (number, kind), number + 1,
                  stats if stats is not None else {'peak_teraflops_per_second': {'double': 1.0}})
    events, symbols = [], {}
    for i, (start, _, ops) in enumerate(steps):
        for name, category, length, *flops in ops:
            symbol = symbols.setdefault(name, len(symbols) + 1)
            costs = {'flops': {'uint64': flops[0]}} if flops else {}
            meta = plane.meta(
                '%%%s = f32[1] op()' % name, name, {
                    'program_id': {'uint64': 1}, 'symbol_id': {'uint64': symbol},
                    'hlo_category': {'str': category}, **costs
                })
            events.append((meta, start, length, {'group_id': {'int64': i}}))
            start += length
    plane.line(1, 'XLA Ops', events)
    plane.line(2, 'Steps', [(str(i), start, length, {'group_id': {'int64': i}})
                            for i, (start, length, _) in enumerate(steps)])
    return plane


def gpu_host(own):
    """Seven steps of 1000 ps: a kernel, short in the first and the last, then a collective."""
    kernels, steps = [], []
    for i in range(7):
        work, group = 100 if i in (0, 6) else own, {'group_id': {'int64': i}}
        kernels.append(('gemm', 1000 * i, work, {'correlation_id': {'int64': 2 * i}, **group}))
        kernels.append(('ncclDevKernel_AllReduce', 1000 * i + work, 1000 - work,
                        {'correlation_id': {'int64': 2 * i + 1}, **group}))
        steps.append((str(i), 1000 * i, 1000, group))
    plane = Plane('/device:GPU:0').line(1, 'Stream #1', kernels)
    return space(plane.line(0xdeadbeef, 'Steps', steps).bytes())


@case
def dropped_steps_hold_nobody_up():
    """Of seven steps the first and the last are dropped: the others give a host's own time.

    The median of 600, 700 and 900 is 700, the median distance from it 100, so the last host's
    score is 0.6745 * 200 / 100."""
    columns = ('run, rank, host, step_count, round(step_ms * 1e9), round(own_ms * 1e9),'
               ' round(over_median_ms * 1e9), round(z_score, 6), straggler')
    one, two = [gpu_host(600), gpu_host(700), gpu_host(900)], [gpu_host(500), gpu_host(400)]
    same(attached('SELECT %s FROM stragglers' % columns, one=one, two=two),
         [('one', 1, 'host2', 5, 1000.0, 900.0, 200.0, 1.349, 'no'),
          ('one', 2, 'host1', 5, 1000.0, 700.0, 0.0, 0.0, 'no'),
          ('one', 3, 'host0', 5, 1000.0, 600.0, -100.0, -0.6745, 'no'),
          ('two', 1, 'host0', 5, 1000.0, 500.0, 50.0, None, None),
          ('two', 2, 'host1', 5, 1000.0, 400.0, -50.0, None, None)])
    same(
        attached(
            'SELECT run, step_count, step_time_ms * 1e9, step_time_deviation_percent,'
            ' active_device_count FROM kpi',
            one=one,
            two=two), [('one', 5, 1000.0, 0.0, 3), ('two', 5, 1000.0, 0.0, 2)])


@case
def steps_of_which_some_have_flops():
    """Steps without known operations are in no average: 50 % for 1000 ps and 10 % for 3000 ps.

    Devices without work are in no peak."""
    steps = [(0, 1000, [('z', 'copy', 1000)]), (1000, 1000, [('m', 'fusion', 800, 500)]),
             (2000, 3000, [('n', 'fusion', 2000, 300)]), (5000, 1000, [('z', 'copy', 1000)])]
    x = space(core(0, steps).bytes(), core(1, [], kind=' SparseCore 0').bytes(),
              core(2, []).bytes())
    columns = ('run, step, flops, peak_gflops, round(utilization_percent, 9),'
               ' round(model_utilization_percent, 9)')
    want = [(0, None, 1000.0, None, None), (1, 500.0, 1000.0, 50.0, 50.0),
            (2, 300.0, 1000.0, 10.0, 10.0), (3, None, 1000.0, None, None)]
    y = space(core(0, [(0, 1000, [('m', 'fusion', 800, 250)])]).bytes())
    same(attached('SELECT %s FROM flops_utilization_by_step' % columns, one=x, two=y),
         [('one',) + row for row in want] + [('two', 0, 250.0, 1000.0, 25.0, 25.0)])
    same(attached('SELECT run, round(flops_utilization_percent, 9) FROM kpi', one=x, two=y),
         [('one', 20.0), ('two', 25.0)])


TIMES_OF_STEPS = [
    'Average step time', 'Deviation of step time', 'Idle time', 'Input time', 'Compute time'
]
ALWAYS = ['FLOPS utilization of the matrix units', 'TPU duty cycle', 'HBM bandwidth utilization']


@case
def overview_with_and_without_steps():
    """Without steps no time of a step is known: NULL, not 0. The rest is there all the same."""
    stats = {
        'matrix_unit_utilization_percent': {'double': 42.0},
        'hbm_utilization_percent': {'double': 7.0}
    }
    with_steps = core(0, [(0, 10**9, [('m', 'fusion', 10**9, 500)])], stats)
    without = core(0, [(0, 10**9, [('m', 'fusion', 10**9, 500)])], stats)
    without.lines.pop()
    found = attached(
        "SELECT run, item, value, unit FROM overview_page WHERE section = 'Performance'",
        one=space(with_steps.bytes()),
        two=space(without.bytes()))
    same([row[1:] for row in found if row[0] == 'one'][:8],
         [(item, value, 'ms')
          for item, value in zip(TIMES_OF_STEPS, ('1.00', '0.00', '0.00', '0.00', '1.00'))] +
         [(item, value, None) for item, value in zip(ALWAYS, ('42.0%', '100.0%', '7.0%'))])
    same([row[1:3] for row in found if row[0] == 'two'][:8],
         [(item, None) for item in TIMES_OF_STEPS] + list(zip(ALWAYS, ('42.0%', '100.0%', '7.0%'))))
    same(sorted({row[0] for row in found}), ['one', 'two'])


@case
def compare_runs_of_which_one_has_steps():
    """Times are divided by steps only if both runs have some."""
    one = space(core(0, [(0, US, [('m', 'fusion', US)])]).bytes())
    three = space(core(0, [(i * US, US, [('m', 'fusion', US)]) for i in range(3)]).bytes())
    two = space(core(0, [(i * US, US, [('m', 'fusion', US)]) for i in range(2)]).bytes())
    none = core(0, [(i * US, US, [('m', 'fusion', US)]) for i in range(3)])
    none.lines.pop()
    none = space(none.bytes())
    query = ("SELECT per_device_step_us_a, per_device_step_us_b, delta_per_device_step_us"
             " FROM compare_ops('{a}', '{b}')")
    same(rows(query, a=three, b=two), [(1.0, 1.0, 0.0)])
    same(rows(query, a=three, b=one), [(1.0, 1.0, 0.0)])
    same(rows(query, a=one, b=three), [(1.0, 1.0, 0.0)])
    same(rows(query, a=three, b=none), [(3.0, 3.0, 0.0)])
    same(rows(query, a=none, b=two), [(3.0, 2.0, -1.0)])


@case
def kernels_by_odd_names_of_ops():
    """The op is what is before the colon, its type what is after it. Iterators keep their name."""
    names = ('a/MatMul:MatMul', 'Iterator:Map', 'plain', ':Late', 'a/MatMul:Late')
    kernels = [('k', 10 * i * US, (9 - i) * US, {'tf_op': {'str': name}})
               for i, name in enumerate(names)]
    same(
        rows("SELECT type, operation, total_time_us FROM kernel_time_by_op('{x}')",
             x=space(gpu(*kernels).bytes())), [('MatMul', 'a/MatMul', 9.0),
                                               ('Map', 'Iterator:Map', 8.0), (None, 'plain', 7.0),
                                               ('Late', ':Late', 6.0), ('Late', 'a/MatMul', 5.0)])


@case
def categories_of_host_ops():
    """HLO ops of host threads have rows where a run has neither a GPU nor framework ops."""
    hlo = ('dot', 0, US,
           {'hlo_op': {'str': 'dot'}, 'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1}})
    framework = ('f/A:A', 2 * US, 3 * US)
    kernel = gpu(('a_kernel', 0, US, {'tf_op': {'str': 'f/B:B'}})).bytes()
    sources = {
        'hlo': space(host(hlo).bytes()), 'both': space(host(hlo, framework).bytes()),
        'gpu': space(host(hlo).bytes(), kernel)
    }
    same(
        attached(
            "SELECT run, host_or_device, category, self_time_us FROM op_time_by_category"
            " WHERE category IS NOT 'IDLE'", **sources), [('both', 'Host', 'A', 3.0),
                                                          ('gpu', 'Device', 'B', 1.0),
                                                          ('hlo', 'Host', None, 1.0)])


@case
def events_without_times_are_no_work():
    """A stream's event that stands for several has no time of its own."""
    plane = gpu(('a', 0, US, {'tf_op': {'str': 'f/A:A'}}))
    plane.line(2, 'Stream #2', [('sum', 0, 5 * US, {'tf_op': {'str': 'f/B:B'}}, 3)])
    same(
        rows(
            "SELECT category, occurrences, self_time_us FROM op_time_by_category('{x}')"
            " WHERE category <> 'IDLE'",
            x=space(plane.bytes())), [('A', 1, 1.0)])


@case
def what_hides_a_transfer():
    """The op that hides most of most occurrences of a transfer is named, for each transfer."""
    copy = {'memcpy_details': {'str': 'size:1024'}}
    plane = gpu(('a', 0, 10 * US, {}), ('b', 10 * US, 10 * US, {}))
    plane.line(2, 'Stream #2', [
        ('MemcpyH2D', 0, 5 * US, copy), ('MemcpyD2H', 11 * US, 4 * US, copy),
        ('MemcpyD2H', 16 * US, 2 * US, copy), ('MemcpyD2H', 8 * US, 2 * US, copy)])
    plane.line(3, 'Stream #3', [('MemcpyD2D', 12 * US, US, copy), ('MemcpyD2D', 17 * US, US, copy)])
    found = rows("SELECT op, occurrences, total_us, exposed_us, bytes, overlapped_by"
                 " FROM exposed_communication('{x}') ORDER BY op", x=space(plane.bytes()))
    same(found, [('MemcpyD2D', 2, 2.0, 0.0, 2048, 'b'), ('MemcpyD2H', 3, 8.0, 0.0, 3072, 'b'),
                 ('MemcpyH2D', 1, 5.0, 0.0, 1024, 'a')])


@case
def calls_with_one_correlation():
    """Of nested calls with one correlation id the first start and the longest duration count."""
    one = {'correlation_id': {'int64': 1}}
    launches = host(('outer', 0, 10 * US, one), ('inner', 2 * US, 5 * US, one))
    x = space(gpu(('k', 20 * US, 3 * US, one)).bytes(), launches.bytes())
    same(rows("SELECT launches, avg_latency_us, max_latency_us, avg_launch_us, avg_kernel_us"
              " FROM launch_latency('{x}')", x=x), [(1, 20.0, 20.0, 10.0, 3.0)])


def numbered_host(first_group, *counts):
    """Steps of 1000 ps; in each an operation of 8 FLOP runs so often, with a copy after each."""
    made = [instruction(1, 'a', 'custom-call', shape(F32, 8)),
            instruction(2, 'n', 'negate', shape(F32, 8), (1,)),
            instruction(3, 'c', 'copy', shape(F32, 8), (2,))]
    program = proto(module('m', computation(1, 'main', made, root=3), more=L(4)))
    metadata = Plane('/host:metadata', 9)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': program}}, key=1)
    kernels, steps = [], []
    for i, count in enumerate(counts):
        group = {'group_id': {'int64': first_group + i}}
        for k in range(2 * count):
            kernels.append(('k', 1000 * i + 40 * k, 40, {
                'hlo_op': {'str': 'nc'[k % 2]}, 'hlo_module': {'str': 'm'},
                'program_id': {'uint64': 1}, 'correlation_id': {'int64': len(kernels)}, **group}))
        steps.append((str(i), 1000 * i, 1000, group))
    plane = Plane('/device:GPU:0').line(1, 'Stream #1', kernels)
    plane.line(0xdeadbeef + 5 - (1 << 32), 'XLA Ops', kernels)  # derived: no work
    plane.line(0xdeadbeef, 'Steps', steps)
    thread = host(*[(name, *times, {**stats, 'correlation_id': {'int64': 99}})
                    for name, *times, stats in kernels])
    return space(plane.bytes(), metadata.bytes(), thread.bytes())


@case
def groups_of_hosts():
    """What hosts call group 1 is the second step of one and the first of the other."""
    x = [numbered_host(0, 1, 2), numbered_host(1, 4, 8)]
    same(rows("SELECT step, flops FROM flops_utilization_by_step('{x}')", x=x),
         [(0, 40.0), (1, 80.0)])


@case
def transfers_of_a_chip():
    """A TensorCore and its SparseCore each have a copy of one name, which an op hides."""
    def device(name, id, line):
        plane = Plane(name, id)
        events = []
        for symbol, (op, category, start, length) in enumerate((
                ('copy-start.1 = (f32[8]{0}, f32[8]{0}) copy-start(f32[8]{0} %p)',
                 'copy-start', 0, 1),
                ('a = f32[8]{0} fusion()', 'fusion', 1, 5),
                ('copy-done.1 = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0}) %copy-start.1)',
                 'copy-done', 6, 1))):
            meta = plane.meta('%' + op, op.split(' ')[0], {
                'program_id': {'uint64': 1}, 'symbol_id': {'uint64': symbol + 1},
                'hlo_category': {'str': category}})
            events.append((meta, start * US, length * US))
        return plane.line(1, line, events).bytes()
    x = space(device('/device:TPU:0', 1, 'XLA Ops'),
              device('/device:TPU:0 SparseCore 0', 2, 'Sparse Core Ops'))
    same(rows("SELECT device, op, total_us, exposed_us, overlapped_by"
              " FROM exposed_communication('{x}')", x=x),
         [('sparsecore', 'copy-start.1', 7.0, 2.0, 'a'),
          ('tensorcore', 'copy-start.1', 7.0, 2.0, 'a')])


@case
def kernels_of_one_execution():
    """An op that runs as two kernels, each on a stream of its own, ran as often as each of them."""
    made = [instruction(1, 'n', 'custom-call', shape(F32, 8))]
    program = proto(module('m', computation(1, 'main', made, root=1), more=L(4)))
    metadata = Plane('/host:metadata', 9)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': program}}, key=1)
    of_op = {'hlo_op': {'str': 'n'}, 'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1}}
    plane = Plane('/device:GPU:0')
    for stream, name in enumerate(('k1', 'k2')):
        kernels = [(name, 10 * i * US, US, of_op) for i in range(3)]
        plane.line(stream + 1, 'Stream #%d' % stream, kernels)
    x = space(plane.bytes(), metadata.bytes())
    same(rows("SELECT occurrences, occurrences_actual FROM hlo_ops('{x}')", x=x), [(6, 3)])
    same(rows("SELECT occurrences FROM top_hlo_ops('{x}')", x=x), [(3,)])
