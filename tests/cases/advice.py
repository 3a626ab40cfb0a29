# SPDX-License-Identifier: Apache-2.0
"""advice and missing: what costs how much time, and what a file cannot answer."""
from lib.cases import case, must, same
from lib.hlo import F32, computation, instruction, ints, module, proto, shape
from lib.shell import ask, attached
from lib.wire import L, Plane, V, space

MS = 10**9
IDLE = ('idle_launching', 'idle_compiling', 'idle_input', 'idle_host', 'idle_waiting',
        'idle_copying', 'idle_queued', 'idle_unknown', 'idle_at_ends')
NO_DEVICE = {'idle_queued': 'no GPU has work', 'tensorcore_missed': 'no GPU has work',
             'small_kernels': 'no GPU has work', 'idle_at_ends': 'no device has work',
             'exposed_communication': 'no device has work',
             'exposed_transfer': 'no device has work', 'imbalance': 'no device has work',
             'padding': 'no device has work',
             'stall_between_slices': 'no transfer between slices is recorded',
             'recomputing': 'no HLO op is recorded on a device',
             'data_movement': 'no HLO op is recorded on a device',
             'outside_compilation': 'no HLO op is recorded on a device',
             'low_utilization': "the operations and bytes of ops, or the devices' peak rates, "
                                'are unknown'}
NO_STEP = {'input': 'no complete step was found', 'slow_steps': 'no complete step was found'}


def host(*threads):
    """Threads of events (name, start, duration[, stats]) in ms."""
    plane = Plane('/host:CPU', 9)
    for i, events in enumerate(threads):
        plane.line(i + 1, 'thread%d' % i,
                   [(e[0], e[1] * MS, e[2] * MS) + e[3:] for e in events])
    return plane.bytes()


def gpu(*kernels, number=0):
    """Events (name, start, duration) in ms on one stream."""
    return Plane('/device:GPU:%d' % number, number + 1).line(
        1, 'Stream #1', [(name, int(start * MS), int(length * MS))
                         for name, start, length in kernels]).bytes()


def core(*ops):
    return Plane('/device:TPU:0', 1).line(
        3, 'XLA Ops', [('op', start * MS, length * MS) for start, length in ops]).bytes()


def costs(data, least=5):
    """{rule: (status, cost_ms, cost_percent)}, and {rule: missing} of those not checked."""
    rows = ask("SELECT * FROM advice('{x}', %r)" % least, x=data)
    same([r['rank'] for r in rows], list(range(1, len(rows) + 1)), 'ranks')
    order = ('finding', 'checked', 'not checked')
    keys = [(order.index(r['status']), -(r['cost_ms'] or 0)) for r in rows]
    must(keys == sorted(keys), 'rules are not ranked by status and cost')
    found = {r['rule']: (r['status'], round(r['cost_ms'], 6), round(r['cost_percent'], 6))
             for r in rows if r['status'] != 'not checked'}
    return found, {r['rule']: r['missing'] for r in rows if r['status'] == 'not checked'}


@case
def idle_time_by_cause():
    """Causes of idle time are rules, and with the time at the ends they add up to it."""
    events = [('PjitFunction(f)', 50, 350), ('backend_compile', 100, 200), ('Memcpy', 150, 10),
              ('load', 500, 300), ('$x.py:1 read', 600, 100)]
    data = space(core((0, 100), (1100, 100)), host(events))
    found, missing = costs(data)
    want = {'idle_unknown': 400, 'idle_host': 300, 'idle_compiling': 200, 'idle_launching': 100}
    for rule in IDLE:
        if rule == 'idle_queued':
            same(missing[rule], 'no GPU has work')
            continue
        ms = want.get(rule, 0)
        same(found[rule], ('finding' if ms else 'checked', ms, round(ms / 12, 6)), rule)
    same(costs(data, 20)[0]['idle_compiling'], ('checked', 200, round(200 / 12, 6)))
    traced = space(core((0, 100), (1100, 100)), host([('tf.function-graph_building', 100, 300)]))
    same(costs(traced)[0]['idle_compiling'], ('finding', 300, 25.0), 'tracing of TensorFlow')
    query = ask("SELECT query FROM advice('{x}') WHERE rule = 'idle_compiling'",
                x=traced)[0]['query']
    same([(r['cause'], r['idle_us']) for r in ask(query)], [('tracing', 300000)])
    rows = ask("SELECT rule, finding, evidence, query FROM advice('{x}') WHERE status = 'finding'",
               x=data)
    same([r['rule'] for r in rows],
         ['idle_unknown', 'idle_host', 'idle_compiling', 'idle_launching'])
    same(rows[1]['finding'],
         'Devices are idle for 300.000 ms (25.0 % of the run) while the host runs other code.')
    same(rows[1]['evidence'], 'load: 200.000 ms')
    same(rows[2]['evidence'], 'PjitFunction(f): 200.000 ms')


@case
def devices_that_start_late():
    """Time before a device's first and after its last work, while others of its host work."""
    data = space(gpu(('k', 0, 100), ('k', 400, 100)), gpu(('k', 300, 100), number=1),
                 host([('a', 0, 1)]))
    found, _ = costs(data)
    same(found['idle_unknown'], ('finding', 150, 30.0))
    same(found['idle_at_ends'], ('finding', 200, 40.0))
    same(ask("SELECT avg(idle_ps) / 1e9 AS ms FROM device_time('{x}')", x=data)[0]['ms'], 350.0)


@case
def without_device_or_step():
    """What a run lacks is the reason for rules that are not checked; the base is the capture."""
    op = {'hlo_op': {'str': 'add'}}
    data = space(host([('add', 0, 100, op), ('load', 100, 300), ('add', 400, 100, op)]))
    found, missing = costs(data)
    same(missing, {**NO_DEVICE, **NO_STEP})
    same(found['idle_host'], ('finding', 300, 60.0))
    same(ask("SELECT finding FROM advice('{x}') WHERE rule = 'idle_host'", x=data)[0]['finding'],
         'No op runs for 300.000 ms (60.0 % of the run) while the host runs other code.')
    _, missing = costs(space(host([('load', 0, 100)])))
    same(missing['idle_host'], 'no device has work, and no op on a host thread leaves a gap')
    _, missing = costs(space(core((0, 1), (5, 1))))
    same({missing[rule] for rule in ('idle_host', 'retracing')}, {'no host thread has an event'})
    must('idle_unknown' not in missing, 'idle_unknown needs no host thread')


@case
def transfers_and_collectives():
    """Exposed time is that of device_time, averaged over the devices."""
    data = space(gpu(('k', 0, 10), ('ncclAllReduce', 10, 20), ('MemcpyD2H', 30, 70)),
                 gpu(('k', 0, 100), number=1), host([('a', 0, 1)]))
    found, _ = costs(data)
    same(found['exposed_communication'], ('finding', 10, 10.0))
    same(found['exposed_transfer'], ('finding', 35, 35.0))
    same(ask("SELECT evidence FROM advice('{x}') WHERE rule = 'exposed_transfer'",
             x=data)[0]['evidence'],
         'longest transfer, with its hidden part: MemcpyD2H, 35.000 ms')


@case
def small_kernels():
    """Kernels that take less than 5 us on average, by name. Copies, migrations of unified memory
    and collectives cannot be fused."""
    data = space(gpu(('small', 0, 0.003), ('small', 1, 0.006), ('five', 2, 0.005),
                     ('MemcpyH2D', 2.25, 0.001), ('Unified memory HtoD', 2.5, 0.001),
                     ('ncclDevKernel_AllReduce', 2.75, 0.002), ('large', 3, 1)),
                 host([('a', 0, 1)]))
    found, _ = costs(data)
    same(found['small_kernels'], ('checked', 0.009, 0.225))
    same(found['exposed_transfer'], ('checked', 0.002, 0.05))
    query = ask("SELECT query FROM advice('{x}') WHERE rule = 'small_kernels'", x=data)[0]['query']
    same([r['name'] for r in ask(query)], ['small'])
    found, _ = costs(space(gpu(('six', 0, 0.006), ('four', 1, 0.004), ('large', 3, 1)),
                           gpu(('six', 0, 0.006), ('four', 1, 0.006), ('large', 3, 1), number=1),
                           host([('a', 0, 1)])))
    same(found['small_kernels'], ('checked', 0.0, 0.0), 'the average over all GPUs')


@case
def tensorcore_missed():
    """The evidence names the op of the kernel that takes most of the time; the kernel itself, if
    its instruction records no op."""
    square = shape(F32, 4, 4)
    for op_name, evidence in (('jit(f)/dot', 'jit(f)/dot: 40.000 ms'),
                              ('', 'kernel_of_dot: 40.000 ms')):
        ops = [instruction(1, 'p', 'parameter', square, more=V(9, 0)),
               instruction(2, 'dot.1', 'dot', square, (1, 1), op_name=op_name,
                           more=L(30, ints(1, 1) + ints(2, 0)))]
        programs = Plane('/host:metadata', 9)
        programs.meta('m(1)', key=1, stats={'Hlo Proto': {'bytes': proto(module(
            'm', computation(1, 'main', ops, root=2), more=L(4)))}})
        kernel = ('kernel_of_dot', 0, 40 * MS, {
            'tf_op': {'str': 'dot/MatMul:MatMul'}, 'hlo_op': {'str': 'dot.1'},
            'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1},
            'kernel_details': {'str': 'regs:1'}})
        plane = Plane('/device:GPU:0', 1).line(1, 'Stream #1', [kernel])
        x = space(plane.bytes(), programs.bytes())
        same(ask("SELECT evidence FROM advice('{x}') WHERE rule = 'tensorcore_missed'", x=x),
             [{'evidence': evidence}])


@case
def slow_steps():
    """What steps above 1.2 times the median take more than it."""
    def steps(*lengths):
        events = []
        for i, length in enumerate(lengths):
            events += [('train', 100 * i, length, {'_r': {'int64': 1}, 'step_num': {'int64': i}}),
                       ('call', 100 * i, 1)]
        return costs(space(host(events)))[0]['slow_steps'][1]

    same(steps(10, 10, 10, 20), 10)
    same(steps(10, 10, 10, 12), 0)
    same(steps(10, 10, 14, 31), 19, 'the median is between two')
    same(steps(10, 10, 250, 260, 10, 30, 10), 250 - 10 + 110, 'overlapping: at most the rest')


@case
def queries_of_findings():
    """Each query can be run unchanged, and has rows for a finding."""
    folders = ['tests/data/' + name for name in ('gpu_train_38', 'multi_host_111', 'tpu_train_54',
                                                 'jax_recompiles', 'tf_fit_input_bound')]
    for folder in folders:
        for row in ask("SELECT rule, status, query FROM advice('%s')" % folder):
            found = ask(row['query'] + ' LIMIT 1' if ' LIMIT ' not in row['query']
                        else row['query'])
            must(found or row['status'] != 'finding', '%s: %s' % (folder, row['query']))


@case
def attached_runs():
    """Each attached run is judged separately; its queries name its label."""
    busy = space(core((0, 100), (100, 100)), host([('a', 0, 1)]))
    idle = space(core((0, 100), (300, 100)), host([('a', 0, 1)]))
    same(attached("SELECT run, rule, query FROM advice WHERE status = 'finding'",
                  busy=busy, idle=idle),
         [('idle', 'idle_unknown', "SELECT * FROM idle_causes('idle') WHERE cause = 'unknown'")])


@case
def what_is_missing():
    """Each thing that a file lacks, and the option that records it."""
    def missing(data):
        return [r['missing'] for r in ask("SELECT missing FROM missing('{x}')", x=data)]

    host_only = space(host([('$a.py:1 f', 0, 10), ('train', 0, 10)]))
    same(missing(host_only), ['work of devices', 'marks of steps', 'HLO programs',
                              'events of allocators',
                              'time of day at which the capture started'])
    step = {'_r': {'int64': 1}, 'step_num': {'int64': 0}}
    same(missing(space(host([('train', 0, 10, step), ('call', 0, 1)]))),
         ['work of devices', 'Python frames', 'HLO programs', 'events of allocators',
          'time of day at which the capture started'])
    same(missing(space(gpu(('ncclAllReduce', 0, 10)))),
         ['events of host threads', 'marks of steps',
          'launches of GPU work (correlation ids on host threads)', 'HLO programs',
          'events of allocators', 'peak rates of the devices',
          'devices of a collective\'s group', 'time of day at which the capture started',
          'hardware counters', 'FLOPs of ops that ran on devices',
          'power, temperature and clocks of GPUs'])
    same([r['option'] for r in ask("SELECT option FROM missing('tests/data/jax_train_mlp')")],
         ['device_tracer_level = 1', 'python_tracer_level = 1', 'host_tracer_level = 2'])
    same([r['option'] for r in ask("SELECT option FROM missing('tests/data/h100_kinds')")],
         ['--step-range NAME', 'NVTX ranges', "JAX's own profiler", None, "JAX's own profiler"])
    vendors = [Plane('/device:GPU:0', stats={'device_vendor': {'str': vendor}}).line(
        1, 'Stream #1', [('k', 0, MS)]).bytes() for vendor in ('Nvidia', 'AMD')]
    same([ask("SELECT option, how LIKE '% NVIDIA GPUs %' AS names FROM missing('{x}') "
              "WHERE missing LIKE 'power%'", x=space(gpu)) for gpu in vendors],
         [[{'option': 'profsql-capture', 'names': 1}], [{'option': None, 'names': 1}]])
    same([r['missing'] for r in ask("SELECT missing FROM missing('tests/data/jax_dump_sharded')")],
         ['events: the source is a compiled program'])


@case
def allocators_that_are_missing():
    """Only the events of allocators on /host:CPU count, as in memory_events."""
    def lacks(*planes):
        return [r['missing'] for r in ask("SELECT missing FROM missing('{x}') "
                                          "WHERE missing LIKE '%alloca%'",
                                          x=space(*planes))]

    def plane(name, *events):
        return Plane(name).line(1, 'thread', [(event, 0, 0, {'tf_op': {'str': op}} if op else {})
                                              for event, op in events]).bytes()

    named, unnamed = ('MemoryAllocation', 'f/A'), ('MemoryAllocation', '(null)')
    free, other = ('MemoryDeallocation', None), ('MemoryAllocations', 'f/A')
    process = plane('/host:CPU [7]', named, free)
    no_events, no_names = ['events of allocators'], ['names of what allocated the memory']
    for events, want in (((), no_events), ((other,), no_events), ((unnamed,), no_names),
                         ((free, unnamed, ('MemoryAllocation', None)), no_names), ((free,), []),
                         ((unnamed, named), [])):
        for planes in ([plane('/host:CPU', *events), process],
                       [process, plane('/host:CPU', *events)]):
            same(lacks(*planes), want, events)
