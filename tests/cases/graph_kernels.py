# SPDX-License-Identifier: Apache-2.0
"""Programs whose kernels run in CUDA graphs: executions that the host records, how often each
instruction runs, the instruction of a kernel, and the operations of programs."""
from lib.cases import case, same
from lib.hlo import F32, PRED, computation, instruction, module, proto, shape
from lib.shell import attached, rows
from lib.wire import L, Plane, V, space

NEGATE = dict(opcode='negate', shape=shape(F32, 8))  # 8 FLOP
TIMES = L(43, '{"known_trip_count":{"n":"3"}}')


def fusion(id, name, to, *operands, op_name='', more=b''):
    return instruction(id, name, 'fusion', shape(F32, 8), operands, (to,), op_name,
                       L(11, 'kLoop') + more)


def parameter(id, name):
    return instruction(id, name, 'parameter', shape(F32, 8))


def negated(id, name):
    """A computation that negates its parameter."""
    return computation(id, name, [parameter(100 * id, 'p.%d' % id),
                                  instruction(100 * id + 1, 'n.%d' % id, operands=(100 * id,),
                                              **NEGATE)], root=100 * id + 1)


def added(id, name):
    return computation(id, name, [parameter(100 * id, 'p.%d' % id),
                                  instruction(100 * id + 1, 'a.%d' % id, 'add', shape(F32, 8),
                                              (100 * id, 100 * id))], root=100 * id + 1)


def scan(times=TIMES):
    """Two equal fusions, the second in a loop that goes round three times, another one, and a call
    of a library."""
    main = [parameter(1, 'x'), fusion(2, 'fusion.1', 10, 1, op_name='jit(f)/first/neg'),
            instruction(3, 'loop', 'while', shape(F32, 8), (2,), (2, 3), more=times),
            fusion(4, 'fusion.3', 12, 3, op_name='jit(f)/last/add'),
            instruction(5, 'gemm', 'custom-call', shape(F32, 8), (4,))]
    body = [parameter(20, 'y'),
            fusion(21, 'fusion.2', 11, 20, op_name='jit(f)/transpose(jvp(layer))/neg',
                   more=L(68, L(1, L(1, 'xla.pdl_launch') + L(2, 'true'))))]
    test = [parameter(30, 'z'), instruction(31, 'less', 'compare', shape(PRED, 8), (30, 30),
                                               more=L(63, 'LT'))]
    return proto(module('jit_f', negated(10, 'a'), negated(11, 'b'), added(12, 'c'),
                        computation(2, 'body', body, root=21),
                        computation(3, 'test', test, root=31),
                        computation(1, 'main', main, root=5), more=L(4)))


def programs(*data):
    metadata = Plane('/host:metadata', 9)
    for i, program in enumerate(data):
        metadata.meta('jit_f(%d)' % (i + 1), stats={'Hlo Proto': {'bytes': program}}, key=i + 1)
    return metadata.bytes()


def of(program, op='command_buffer_1', launch=None, module=None):
    stats = {'program_id': {'uint64': program}, 'hlo_op': {'str': op},
             'hlo_module': module and {'str': module},
             'correlation_id': launch and {'uint64': launch}}
    return {name: stat for name, stat in stats.items() if stat}


def profile(kernels, program, host=None):
    """kernels: (name, start, length, stats)."""
    device = Plane('/device:GPU:0', 1, {'device_vendor': {'str': 'Nvidia'}})
    device.line(1, 'Stream #1', kernels)
    return space(device.bytes(), programs(program), *([host.bytes()] if host else []))


RUNS = "SELECT hlo_op, runs_per_execution FROM hlo_instructions('{x}')"


@case
def how_often_instructions_run():
    """Once, in a loop once per iteration, in a fusion never on their own."""
    same(rows(RUNS, scan()),
         [('p.10', 0), ('n.10', 0), ('p.11', 0), ('n.11', 0), ('p.12', 0), ('a.12', 0), ('y', 3),
          ('fusion.2', 3), ('z', 0), ('less', 0), ('x', 1), ('fusion.1', 1), ('loop', 1),
          ('fusion.3', 1), ('gemm', 1)])
    unknown = [(op, None if op in ('y', 'fusion.2', 'z', 'less') else n)
               for op, n in rows(RUNS, scan())]
    same(rows(RUNS, scan(times=b'')), unknown, 'how often the loop goes round is not recorded')


@case
def nested_calls_and_branches():
    """Loops multiply, calls from two places add up. Of several branches, none is known to run."""
    def loop(id, name, *of, n=3):
        return instruction(id, name, 'while', calls=of,
                           more=L(43, '{"known_trip_count":{"n":"%d"}}' % n))
    main = [loop(1, 'outer', 2, 9), instruction(2, 'call', 'call', calls=(4,)),
            instruction(3, 'either', 'conditional', calls=(5, 6)),
            instruction(4, 'only', 'conditional', calls=(7,)),
            instruction(5, 'start', 'async-start', calls=(8,)),
            instruction(6, 'sum', 'reduce', calls=(10,))]
    inner = [loop(20, 'inner', 3, 9, n=5), instruction(21, 'call.2', 'call', calls=(4,))]
    rest = [computation(i, 'c%d' % i, [instruction(10 * i, 'op%d' % i)]) for i in range(3, 11)]
    x = proto(module('m', computation(1, 'main', main), computation(2, 'body', inner), *rest))
    same([r for r in rows(RUNS, x) if r[0].startswith('op')],
         [('op3', 15), ('op4', 4), ('op5', None), ('op6', None), ('op7', 1), ('op8', 1), ('op9', 0),
          ('op10', 0)])
    same(rows(RUNS + " WHERE computation IN ('main', 'body')", x),
         [('outer', 1), ('call', 1), ('either', 1), ('only', 1), ('start', 1), ('sum', 1),
          ('inner', 3), ('call.2', 3)])


@case
def programs_that_call_themselves():
    """Nothing is known of them, nor is of a program without an entry computation."""
    def made(entry):
        return proto(module(
            'm', computation(1, 'main', [instruction(1, 'a', 'call', calls=(2,))]),
            computation(2, 'body', [instruction(2, 'b', 'call', calls=(1,)),
                                    instruction(3, 'c', 'call', calls=(7,))]), entry=entry))
    same(rows(RUNS, made(1)), [('a', None), ('b', None), ('c', None)])
    same(rows(RUNS, made(5)), [('a', 0), ('b', 0), ('c', 0)])


OPS = ("SELECT hlo_op, name, occurrences, round(self_us * 1e6) AS ps, flops, scope, pass"
       " FROM scope_ops('{x}') ORDER BY min(ps) OVER (PARTITION BY hlo_op), ps")
GRAPH = [('fusion_1', 0, 100, of(1)), ('fusion_1', 100, 100, of(1)), ('fusion_1', 200, 100, of(1)),
         ('fusion_1', 300, 101, of(1)), ('fusion_3', 401, 7, of(1)), ('nvjet', 408, 50, of(1))]


@case
def instructions_of_kernels():
    """A kernel counts as the instruction with its name, if no equal one may be it. Others stay the
    graph's."""
    same(rows(OPS, profile(GRAPH, scan())),
         [('fusion.3', None, 1, 7, 8.0, 'last', 'forward'),
          ('command_buffer_1', 'nvjet', 1, 50, None, None, None),
          ('command_buffer_1', 'fusion_1', 4, 401, None, None, None)])
    outside = [('fusion_1', 0, 30, of(1, 'fusion.2')), ('fusion_3', 40, 9, of(1))]
    same([r[:4] for r in rows(OPS, profile(outside, scan()))],
         [('fusion.3', None, 1, 9), ('fusion.2', None, 1, 30)], 'its op is recorded')


@case
def kernels_of_no_instruction():
    """Names that two instructions have, that only a fused one has, and of an unknown program."""
    main = [parameter(1, 'x'), fusion(2, 'f.1', 10, 1), fusion(3, 'f_1', 11, 2)]
    data = proto(module('jit_f', computation(1, 'main', main, root=3), negated(10, 'a'),
                        negated(11, 'b')))
    kernels = [('f_1', 0, 10, of(1)), ('n_10', 10, 20, of(1)), ('f_1', 40, 30, of(5))]
    same([r[:4] for r in rows(OPS, profile(kernels, data))],
         [('command_buffer_1', 'f_1', 1, 10), ('command_buffer_1', 'n_10', 1, 20),
          ('command_buffer_1', None, 1, 30)])


FLOPS = ("SELECT executions, occurrences, round(op_ms * 1e9), round(unlisted_percent, 4), flops_by,"
         " model_flops, hardware_flops FROM program_flops('{x}') WHERE program_id = '1'")


@case
def operations_of_programs():
    """An execution needs 8 FLOP in each of five fusions. Without the number of iterations they are
    unknown, unless less than a tenth of the time has no instruction."""
    x = profile(GRAPH, scan())
    same(rows(FLOPS, x=x), [(1, 6, 458, 100.0, 'program', 40.0, 40.0)])
    same(rows("SELECT scope, model_flops, missing FROM mfu('{x}', 1e12)", x=x),
         [('run', 40.0, None), ('program', 40.0, None)])
    x = profile(GRAPH, scan(times=b''))
    same(rows(FLOPS, x=x), [(1, 6, 458, 100.0, None, None, None)])
    same(rows("SELECT DISTINCT missing FROM mfu('{x}', 1e12)", x=x),
         [('operations: 100 % of the busy time is in kernels that record no instruction, such as '
           'those of CUDA graphs, and the file does not say how many operations their '
           'programs need; see program_flops',)])
    mostly = [('k', 0, 90, of(1, 'fusion.1', None, 'jit_f')), ('fusion_3', 90, 9, of(1))]
    same(rows(FLOPS, profile(mostly, scan(times=b''))), [(1, 2, 99, 9.0909, 'ops', 8.0, 8.0)])
    same(rows(FLOPS, profile(mostly, scan())), [(1, 2, 99, 9.0909, 'program', 40.0, 40.0)])
    same(rows(FLOPS, profile(mostly[:1], scan())), [(1, 1, 90, 0.0, 'ops', 8.0, 8.0)])


@case
def executions_that_the_capture_cuts():
    """The first and the last count as the share of their kernels that the profile has, if each
    execution of the program between them has more; an only execution counts as entire."""
    names = ['fusion_1', 'gemm', 'fusion_3', 'nvjet']
    shown = ("SELECT executions, shown_executions FROM program_totals('{x}') "
             "WHERE program_id = '1'")

    def launches(*parts):
        return profile([(name, 100 * i + 10 * k, 5, {
            **of(1, launch=i + 1), 'cuda_graph_id': {'uint64': 5}})
                        for i, part in enumerate(parts) for k, name in enumerate(part)], scan())
    for parts, n, want in [
        ((names[1:], names, names, names[:1]), 4, 0.75 + 2 + 0.25),
        ((names, names, names), 3, 3), ((names[:3],), 1, 1), ((names[:2], names), 2, 1.5),
        ((names, names[:2], names), 3, 3), ((names[:2], names, names[:1], names), 4, 4)]:
        x = launches(*parts)
        same(rows(shown, x=x), [(n, float(want))])
        same([(r[0], r[4], r[5]) for r in rows(FLOPS, x=x)], [(n, 'program', 40.0 * want)])


@case
def limit_of_unknown_operations():
    """They are unknown if kernels of unknown operations take more than a tenth of the time: of a
    program, of its ops' time; of a run and its steps, of the devices' busy time. A run of two
    programs, each of which does 8 FLOP in an op; the first has a kernel without an op. Devices of
    other runs do not count."""
    def found(first, without_op, second):
        """Whether the operations of the first program, the run and its step are known."""
        kernels, at = [], 0
        for name, length, program, op in (('k', first, 1, 'fusion.1'),
                                          ('fusion_3', without_op, 1, 'command_buffer_1'),
                                          ('k', second, 2, 'fusion.2')):
            group = {'group_id': {'int64': 0}, 'correlation_id': {'uint64': at}}
            kernels.append((name, at, length, dict(of(program, op), **group)))
            at += length
        plane = Plane('/device:GPU:0', 1, {'device_vendor': {'str': 'Nvidia'}})
        plane.line(1, 'Stream #1', kernels)
        plane.line(0xdeadbeef, 'Steps', [('0', 0, at, {'group_id': {'int64': 0}})])
        threads = Plane('/host:CPU', 2).line(1, 'main', kernels)
        x = space(plane.bytes(), programs(*[scan(times=b'')] * 2), threads.bytes())
        known = rows("SELECT scope, model_flops, hardware_flops, "
                     "missing LIKE '% record no instruction%' FROM mfu('{x}', 1e12) "
                     "WHERE coalesce(program_id, '1') = '1' ORDER BY scope", x=x)
        same([r[2:] for r in known], [(flops, None if flops else 1) for _, flops, *_ in known])
        known = [r[:2] for r in known]
        busy = space(Plane('/device:GPU:0').line(1, 'Stream #1', [('k', 0, 10000)]).bytes())
        step, = attached("SELECT model_flops FROM flops_utilization_by_step WHERE run = 'x'", x=x,
                         busy=busy)
        same(step[0], dict(known)['step'])
        return known

    same(found(90, 10, 100), [('program', 8.0), ('run', 16.0), ('step', 16.0)])
    same(found(900, 101, 99), [('program', None), ('run', 8.0), ('step', 8.0)])
    same(found(80, 20, 100), [('program', None), ('run', 8.0), ('step', 8.0)])
    same(found(800, 200, 999), [('program', None), ('run', None), ('step', None)])


@case
def kernels_without_a_program():
    """A kernel with an op and no program id is of no program: nothing is known of its operations,
    and it takes most of the time. One that is named after a loop is the loop, whose operations are
    those of what it runs."""
    stats = {'hlo_op': {'str': 'x'}, 'hlo_module': {'str': 'z'}}
    x = profile([('k', 0, 90, of(1, 'fusion.1', None, 'jit_f')), ('x', 90, 910, stats)], scan())
    same(rows("SELECT program_id, occurrences, unlisted_percent, model_flops"
              " FROM program_flops('{x}')", x=x), [(None, 1, 100.0, None), ('1', 1, 0.0, 8.0)])
    same(rows("SELECT scope, model_flops FROM mfu('{x}', 1e12)", x=x),
         [('run', None), ('program', 8.0)])
    same([r[:5] for r in rows(OPS, profile([('loop', 0, 9, of(1))], scan()))],
         [('loop', None, 1, 9, None)])


@case
def operations_computed_again():
    """They do not count for the model, by their name or by that of their framework op."""
    main = [parameter(1, 'x'), fusion(2, 'f.1', 10, 1), fusion(3, 'f.2.remat', 11, 2),
            fusion(4, 'f.3', 12, 3, op_name='jit(f)/rematted_computation/neg')]
    data = proto(module('jit_f', computation(1, 'main', main, root=4), negated(10, 'a'),
                        negated(11, 'b'), negated(12, 'c'), more=L(4)))
    same([r[-3:] for r in rows(FLOPS, profile([('f_1', 0, 9, of(1))], data))],
         [('program', 8.0, 24.0)])


def host(*lines):
    """lines of a process: (name, start, length[, correlation id]) each."""
    plane = Plane('/host:CPU', 2)
    for i, events in enumerate(lines):
        plane.line(i + 1, 'thread', [
            (name, start, length, {'correlation_id': {'uint64': launch[0]}} if launch else {})
            for name, start, length, *launch in events])
    return plane


PROGRAM_RUNS = "SELECT start_ps, duration_ps FROM program_runs('{x}')"
RUN = 'jit_f:XLA GPU module'


@case
def executions_that_the_host_records():
    """A library call launches one kernel twice; two events of the host are two executions, also
    when they overlap on the device."""
    def gemm(start, launch, module='jit_f'):
        return ('k', start, 5, of(1, 'gemm', launch, module))
    kernels = [gemm(100, 1), gemm(110, 2), gemm(120, 4), gemm(130, 3), gemm(140, 5)]
    calls = [(RUN, 0, 30), ('launch', 5, 2, 1), ('launch', 10, 2, 2), ('launch', 20, 2, 3),
             (RUN, 30, 40), ('launch', 35, 2, 4), ('launch', 60, 2, 5)]
    same(rows(PROGRAM_RUNS, profile(kernels, scan())), [(s, 5) for s in range(100, 150, 10)],
         'by time: an op of the entry computation runs once')
    same(rows(PROGRAM_RUNS, profile(kernels, scan(), host(calls))), [(100, 35), (120, 25)])
    apart = [c for c in calls if len(c) == 4], [c for c in calls if len(c) == 3]
    same(rows(PROGRAM_RUNS, profile(kernels, scan(), host(*apart))), [(100, 35), (120, 25)],
         'calls on a line of their own')
    other = [('jit_g:XLA GPU module', 0, 100)], [('step', 0, 100)] + apart[0]
    same(len(rows(PROGRAM_RUNS, profile(kernels, scan(), host(*other)))), 5,
         "another thread's, but the call's own thread is known")
    wrong = [gemm(100, 1, 'jit_g'), gemm(110, 2, 'jit_g'), gemm(120, 4), gemm(130, 5)]
    same(rows(PROGRAM_RUNS, profile(wrong, scan(), host(calls))),
         [(100, 5), (110, 5), (120, 15)], 'of another module')
    mixed = [gemm(100, 1), gemm(110, 9), gemm(120, 2), gemm(130, 8)]
    same(rows(PROGRAM_RUNS, profile(mixed, scan(), host(calls))),
         [(100, 25), (110, 5), (130, 5)], 'launches 8 and 9 are not recorded')
