# SPDX-License-Identifier: Apache-2.0
"""program_runs and program_gaps: executions of programs, and the time between them."""
from lib.cases import case, same
from lib.hlo import F32, computation, instruction, module, proto, shape
from lib.shell import rows
from lib.wire import L, Plane, space

GAPS = ("SELECT start_ps, duration_ps, idle_ps, before, before_program_id, after, after_program_id"
        " FROM program_gaps('{x}')")


def program(id, *ops, body=()):
    """A program with these ops in its entry computation, and others in the body of a loop."""
    made = [instruction(i + 1, op, 'custom-call', shape(F32, 8)) for i, op in enumerate(ops)]
    inner = [instruction(100 + i, op, 'custom-call', shape(F32, 8)) for i, op in enumerate(body)]
    more = L(3, computation(2, 'body', inner, root=100)) if body else b''
    return id, proto(module('m%d' % id, computation(1, 'main', made, root=len(ops)),
                            more=L(4) + more))


def gpu(kernels, *programs):
    """Kernels (name, start, length, program, op); each on a stream of its own if it has a sixth."""
    plane, streams = Plane('/device:GPU:0', 1), {}
    for name, start, length, *of in kernels:
        stats = {}
        if of and of[0]:
            stats = {'program_id': {'uint64': of[0]}, 'hlo_module': {'str': 'm%d' % of[0]},
                     'hlo_op': {'str': of[1]}}
        streams.setdefault(of[2] if len(of) > 2 else 1, []).append((name, start, length, stats))
    for stream, events in streams.items():
        plane.line(stream, 'Stream #%d' % stream, events)
    metadata = Plane('/host:metadata', 9)
    for id, data in programs:
        metadata.meta('m%d(%d)' % (id, id), stats={'Hlo Proto': {'bytes': data}}, key=id)
    return space(plane.bytes(), metadata.bytes())


@case
def modules_of_cores():
    """A core records its programs. A gap at each end of the span; programs beyond it are cut."""
    plane = Plane('/device:TPU:0', 1)
    plane.line(1, 'XLA Ops',
               [('a', 0, 10), ('b', 100, 50), ('copy', 160, 10), ('c', 200, 50), ('d', 390, 10)])
    plane.line(2, 'XLA Modules', [('jit_f(7)', 95, 55), ('jit_g(8)', 120, 60),
                                  ('jit_f(7)', 200, 60), ('jit_f(7)', 260, 40), ('jit_h', 380, 50)])
    x = space(plane.bytes())
    same(rows("SELECT program_id, hlo_module, start_ps, duration_ps FROM program_runs('{x}')", x=x),
         [('7', 'jit_f', 95, 55), ('8', 'jit_g', 120, 60), ('7', 'jit_f', 200, 60),
          ('7', 'jit_f', 260, 40), (None, 'jit_h', 380, 50)])
    same(rows("SELECT program_id, hlo_module, executions, total_us, min_us, max_us "
              "FROM program_totals('{x}')", x=x),
         [('7', 'jit_f', 3, 155e-6, 40e-6, 60e-6), ('8', 'jit_g', 1, 60e-6, 60e-6, 60e-6),
          (None, 'jit_h', 1, 50e-6, 50e-6, 50e-6)])
    same(rows(GAPS, x=x),
         [(0, 95, 85, None, None, 'jit_f', '7'), (180, 20, 20, 'jit_g', '8', 'jit_f', '7'),
          (300, 80, 80, 'jit_f', '7', 'jit_h', None)])
    same(rows("SELECT idle_percent, idle_us FROM program_gaps('{x}') LIMIT 1", x=x),
         [(100.0 * 85 / 95, 8.5e-05)])
    plane = Plane('/device:TPU:0', 1).line(1, 'XLA Ops', [('a', 0, 160)])
    plane.line(2, 'XLA Modules', [('a(1)', 0, 100), ('b(2)', 20, 30), ('c(3)', 150, 10)])
    same(rows(GAPS, x=space(plane.bytes())), [(100, 50, 0, 'a', '1', 'c', '3')],
         'the program that ended last')


@case
def modules_of_one_name():
    """A row of program_totals is what its id and module show, however the file writes them."""
    core = Plane('/device:TPU:0', 1)
    core.line(1, 'XLA Modules', [('f(7)', 0, 10), ('f(07)', 20, 20), ('', 40, 1), ('(7)', 50, 2),
                                 ('f', 60, 3), ('f(18446744073709551616)', 70, 4)])
    gpu = Plane('/device:GPU:0', 2)
    modules = ['f', 'f(7)', '', 'f', 'f(7)']
    gpu.line(1, 'Stream #1', [('k', 10 * i, 1, {'hlo_module': {'str': m}})
                              for i, m in enumerate(modules)]
             + [('k', 90, 5, {'program_id': {'uint64': 9}}), ('k', 95, 1, {}),
                ('k', 100, 5, {'program_id': {'uint64': 8}}),
                ('k', 110, 1, {'program_id': {'uint64': 9}, 'hlo_module': {'str': ''}})])
    x = space(core.bytes(), gpu.bytes())
    same(rows("SELECT plane_id, program_id, hlo_module, executions, total_us * 1e6, "
              "round(min_us * 1e6), round(max_us * 1e6) FROM program_totals('{x}')", x=x),
         [(0, '7', 'f', 2, 30, 10, 20), (0, None, None, 1, 1, 1, 1), (0, '7', None, 1, 2, 2, 2),
          (0, None, 'f', 2, 7, 3, 4), (1, None, 'f', 4, 4, 1, 1), (1, None, None, 1, 1, 1, 1),
          (1, '9', None, 2, 6, 1, 5), (1, '8', None, 1, 5, 5, 5)])


@case
def first_of_several_ids():
    """Of several correlation ids of a kernel the first is that of its launch, as in
    launch_delays."""
    host = Plane('/host:CPU', 1)
    host.line(1, 'main', [('m:XLA GPU module', 0, 10), ('m:XLA GPU module', 20, 10)])
    host.line(2, 'calls', [('launch', 1, 2, {'correlation_id': {'int64': 1}}),
                           ('launch', 21, 2, {'correlation_id': {'int64': 2}})])
    gpu = Plane('/device:GPU:0', 2)
    kernels = [('k', start, 5, [('hlo_module', {'str': 'm'}), ('program_id', {'uint64': 7})] + [
        ('correlation_id', {'int64': id}) for id in ids])
        for start, ids in ((30, [1]), (40, [1, 2]), (50, [2]))]
    x = space(host.bytes(), gpu.line(1, 'Stream #1', kernels).bytes())
    same(rows("SELECT start_ps, launch_start_ps FROM launch_delays('{x}')", x=x),
         [(30, 1), (40, 1), (50, 21)])
    same(rows("SELECT start_ps, duration_ps FROM program_runs('{x}')", x=x), [(30, 15), (50, 5)])


@case
def programs_of_metadata():
    """The event's own stats count before those of its metadata; without an id, the module tells
    programs apart."""
    plane = Plane('/device:GPU:0', 1)
    both = plane.meta('k', stats={'program_id': {'uint64': 7}, 'hlo_module': {'str': 'meta'},
                                  'hlo_op': {'str': 'a'}})
    module_only = plane.meta('l', stats={'hlo_module': {'str': 'other'}, 'hlo_op': {'str': 'b'}})
    plane.line(1, 'Stream #1', [
        (both, 0, 10), (both, 20, 10, {'hlo_module': {'str': 'own'}, 'hlo_op': {'str': 'c'}}),
        (both, 40, 10, {'program_id': {'uint64': 8}}), (module_only, 60, 10),
        (module_only, 80, 10, {'hlo_module': {'str': 'own'}}), (module_only, 100, 10)])
    same(rows("SELECT program_id, hlo_module, start_ps, duration_ps FROM program_runs('{x}')",
              x=space(plane.bytes())),
         [('7', 'meta', 0, 30), ('8', 'meta', 40, 10), (None, 'other', 60, 10),
          (None, 'own', 80, 10), (None, 'other', 100, 10)])


@case
def executions_of_kernels():
    """An op of the entry computation runs once in an execution, an op of a loop any number of
    times."""
    kernels = [('k', 0, 5, 1, 'a'), ('l', 10, 5, 1, 'b'), ('l', 20, 5, 1, 'b'), ('copy', 26, 3),
               ('k', 30, 5, 1, 'a'), ('k2', 36, 2, 1, 'a'), ('l', 40, 5, 1, 'b'),
               ('k', 50, 5, 2, 'a'), ('k', 60, 5, 1, 'a')]
    runs = "SELECT program_id, start_ps, duration_ps FROM program_runs('{x}')"
    x = gpu(kernels, program(1, 'a', body=['b']), program(2, 'a'))
    same(rows(runs, x=x), [('1', 0, 25), ('1', 30, 15), ('2', 50, 5), ('1', 60, 5)])
    same(rows(GAPS, x=x), [(25, 5, 2, 'm1', '1', 'm1', '1'), (45, 5, 5, 'm1', '1', 'm2', '2'),
                           (55, 5, 5, 'm2', '2', 'm1', '1')])
    same(rows(runs, x=gpu(kernels)), [('1', 0, 45), ('2', 50, 5), ('1', 60, 5)],
         'programs that the file lacks')
    one = [('k', 10 * i, 5, 1, 'a') for i in range(3)]
    same(rows(runs, x=gpu(one, program(1, 'a'))), [('1', 0, 5), ('1', 10, 5), ('1', 20, 5)],
         'one kernel')
    two = [('k', 0, 5, 1, 'a'), ('l', 3, 9, 1, 'b', 2), ('k', 10, 5, 1, 'a'),
           ('l', 13, 9, 1, 'b', 2)]
    x = gpu(two, program(1, 'a', 'b'))
    same(rows(runs, x=x), [('1', 0, 12), ('1', 10, 12)], 'executions that overlap, on two streams')
    same(rows(GAPS, x=x), [], 'no gap')


@case
def executions_of_graphs():
    """Kernels of a CUDA graph record the graph as their op. Each launch of a graph in the entry
    computation is another execution, launches of one in a loop are not."""
    def runs(*ops, body=()):
        plane, stats = Plane('/device:GPU:0', 1), [{
            'program_id': {'uint64': 1}, 'hlo_op': {'str': 'command_buffer'},
            'cuda_graph_id': {'uint64': 7}, 'correlation_id': {'uint64': launch}}
            for launch in (1, 2, 3)]
        plane.line(1, 'Stream #1', [(name, start, 5, stats[start // 100]) for start, name in (
            (0, 'gemm'), (10, 'fusion_1'), (20, 'fusion_1'), (100, 'gemm'), (110, 'fusion_1'),
            (200, 'gemm'))])
        metadata = Plane('/host:metadata', 9)
        metadata.meta('m1(1)', stats={'Hlo Proto': {'bytes': program(1, *ops, body=body)[1]}},
                      key=1)
        return rows("SELECT start_ps, duration_ps FROM program_runs('{x}')",
                    x=space(plane.bytes(), metadata.bytes()))
    same(runs('fusion.1'), [(0, 25), (100, 15), (200, 5)])
    same(runs('other', body=['fusion.1']), [(0, 205)], 'in a loop')
    recorded = 'tests/data/h100_jax'
    same(rows(f"SELECT count(*), max(duration_ps) < 1.5e9 FROM program_runs('{recorded}')"),
         [(4, 1)], 'four steps, each one execution')
    same(rows(f"SELECT executions FROM program_cost('{recorded}') WHERE program_id = '7954'"),
         [(4,)])


@case
def kernels_in_and_outside_of_a_graph():
    """Outside of a graph a kernel ends the execution that ran it in a graph. There it goes by its
    op alone: its name counts in graphs only, where the op is a command buffer."""
    def runs(op, made, *kernels):
        plane = Plane('/device:GPU:0', 1)
        meta = plane.meta('dot_1')
        plane.line(1, 'Stream #1', [(meta, at, 5, {
            'program_id': {'uint64': 7}, 'hlo_module': {'str': 'm7'}, 'hlo_op': {'str': op},
            **({'cuda_graph_id': {'uint64': 1}, 'correlation_id': {'uint64': at}} if graph else {})
        }) for at, graph in kernels])
        metadata = Plane('/host:metadata', 9)
        metadata.meta('m7(7)', stats={'Hlo Proto': {'bytes': made[1]}}, key=7)
        return rows("SELECT start_ps, duration_ps FROM program_runs('{x}')",
                    space(plane.bytes(), metadata.bytes()))
    of_entry = program(7, 'dot.1', 'add.2')
    same(runs('dot.1', of_entry, (0, True), (10, False)), [(0, 5), (10, 5)])
    same(runs('dot.1', of_entry, (0, False), (10, True), (20, True)), [(0, 15), (20, 5)])
    same(runs('command_buffer', of_entry, (0, False), (10, False), (20, True)), [(0, 25)])
    same(runs('command_buffer', of_entry, (0, True), (10, True)), [(0, 5), (10, 5)])


@case
def devices_without_programs():
    """Kernels without a program have no gaps, and the reason is there."""
    x = gpu([('k', 0, 5), ('k', 10, 5)])
    same(rows(GAPS, x=x), [])
    same(rows("SELECT program_id FROM program_runs('{x}')", x=x), [])
    x = gpu([('copy', 0, 5), ('k', 10, 5, 1, 'a'), ('copy', 20, 5)], program(1, 'a'))
    same(rows(GAPS, x=x), [(0, 10, 5, None, None, 'm1', '1'), (15, 10, 5, 'm1', '1', None, None)])


EXECUTION = 'm:XLA GPU module'


def launches_of(*threads, calls, more=()):
    """Executions of two GPUs: {gpu: [(start, duration)]}, and the annotations of the launches.
    threads: events (name, start, length) of each; calls: of each GPU the starts of its launches,
    which take 1 each, on a line of its own."""
    host = Plane('/host:CPU', 1)
    for i, events in enumerate(threads):
        host.line(i + 1, 'thread', events)
    gpus = []
    for g, starts in enumerate(calls):
        ids = [{'correlation_id': {'int64': 100 * g + start}} for start in starts]
        host.line(1000 + g, 'calls', [('launch', start, 1, id) for start, id in zip(starts, ids)]
                  + [e for e in more if not g])
        gpus.append(Plane('/device:GPU:%d' % g, 2 + g).line(1, 'Stream #1', [
            ('k%d' % start, 1000 + start, 1, {'hlo_module': {'str': 'm'}, **id})
            for start, id in zip(starts, ids)]))
    x = space(host.bytes(), *[gpu.bytes() for gpu in gpus])
    runs = rows("SELECT plane_id, start_ps - 1000, duration_ps FROM program_runs('{x}')", x=x)
    around = rows("SELECT annotation FROM launch_delays('{x}') ORDER BY plane_id, start_ps", x=x)
    return ({g: [(start, length) for gpu, start, length in runs if gpu == g + 1]
             for g in range(len(calls))}, [name for name, in around])


@case
def threads_of_launches():
    """Two threads launch at once; the calls of each are on a line with another id."""
    a, b = (EXECUTION, 0, 100), (EXECUTION, 10, 60)
    together = [3, 20, 30], [15, 40, 50]
    same(launches_of([a], [b], calls=together),
         ({0: [(3, 28)], 1: [(15, 36)]}, 6 * [EXECUTION]), 'the thread of 3 is that of 20 and 30')
    inner = [(EXECUTION, 0, 99), ('op', 19, 3), ('op', 29, 3)]
    same(launches_of([(EXECUTION, 1, 98)], inner, calls=([20, 30], [])),
         ({0: [(20, 11)], 1: []}, ['op', 'op']), 'within other events of the thread')
    same(launches_of([a], [(EXECUTION, 0, 10), (EXECUTION, 10, 60)], calls=([3, 20], [])),
         ({0: [(3, 18)], 1: []}, 2 * [EXECUTION]), 'as many points: the first line')
    same(launches_of([(EXECUTION, 0, 10)], [(EXECUTION, 20, 9), ('x', 5, 1)],
                     calls=([3, 8, 21], []))[0][0], [(3, 6), (21, 1)],
         'in an execution of another thread: by time')
    same(launches_of([a], [b], calls=together, more=[('step', 19, 3)])[0][0],
         [(3, 1), (20, 1), (30, 1)], 'its own line has an event around one')


@case
def threads_of_launches_at_once():
    """More than 64 threads at once tell nothing."""
    first, last = [(EXECUTION, 0, 100), ('op', 59, 3)], [(EXECUTION, 2, 48), (EXECUTION, 55, 50)]
    for n, want in (64, [(11, 50)]), (65, [(11, 1), (60, 1)]):
        others = [[(EXECUTION, 10, 100)] for _ in range(n - 2)]
        same(launches_of(first, *others, last, calls=([11, 60], []))[0][0], want, n)
