# SPDX-License-Identifier: Apache-2.0
"""compilations and recompilations: which functions were compiled, how long it took, and why
again."""
from lib import hlo
from lib.cases import case, same
from lib.hlo import F32, shape
from lib.shell import ask
from lib.wire import L, Plane, V, space


def threads(*lines, stats=None):
    plane = Plane('/host:CPU')
    for i, events in enumerate(lines):
        plane.line(10 * i + 10, 'thread%d' % i, events)
    return plane.bytes()


def program(id, name, *shapes, names=(), result=shape(F32)):
    """A program with parameters of these shapes, in the file in falling order of their numbers."""
    ops = [hlo.instruction(i + 1, 'p%d' % i, 'parameter', s, op_name=names[i] if i < len(names)
                           else '', more=V(9, i)) for i, s in enumerate(shapes)]
    made = hlo.computation(1, 'main', [hlo.instruction(99, 'root', 'add', result)] + ops[::-1],
                           root=99)
    return id, name, hlo.proto(hlo.module(name, made, id=id))


def metadata(*programs):
    plane = Plane('/host:metadata', 9)
    for id, name, proto in programs:
        plane.meta('%s(%d)' % (name, id), stats={'Hlo Proto': {'bytes': proto}}, key=id)
    return plane.bytes()


def run(name, id, start):
    return (name, start, 5, {'hlo_op': {'str': 'add'}, 'program_id': {'uint64': id}})


def compiled(data, columns='name, start_ps, duration_ps'):
    return [tuple(r.values()) for r in ask("SELECT %s FROM compilations('{x}')" % columns, x=data)]


@case
def parts_of_one():
    """Events nested in a compiler's event, and what another thread compiles meanwhile, are part of
    it; equal events of two threads are two compilations."""
    same(compiled(
        space(threads([('backend_compile_and_load', 10, 90), ('XlaCompile', 20, 10),
                       ('backend_compile_and_load', 200, 50)],
                      [('PjRtCpuClient::Compile', 15, 80), ('CpuCompiler::RunBackend', 20, 60)],
                      [('FusionCompiler::Compile', 30, 5), ('FusionCompiler::Compile', 98, 5)]))),
         [('backend_compile_and_load', 10, 90), ('FusionCompiler::Compile', 98, 5),
          ('backend_compile_and_load', 200, 50)])
    same(compiled(space(threads([('backend_compile', 10, 90)], [('backend_compile', 10, 90)],
                                [('A::Compile', 10, 90)]))), [('backend_compile', 10, 90)] * 2)
    same(compiled(space(threads([('A::Compile', 0, 100), ('B::Compile', 50, 100)]))),
         [('A::Compile', 0, 100), ('B::Compile', 50, 100)], 'events that cross')
    same(compiled(space(threads([('A::Compile', 0, 100)], [('B::Compile', 10, 50)],
                                [('A::Compile', 20, 10)]))),
         [('A::Compile', 0, 100), ('A::Compile', 20, 10)],
         'a part is none that others are parts of')
    same(compiled(space(threads([('A::Compile', 0, 100), ('A::Compile', 60, 40)]))),
         [('A::Compile', 0, 100)], 'a part that ends with the other')
    same(compiled(space(threads([('A::Compile', 0, 100), ('A::Compile', None, 50, {}, 3)]))),
         [('A::Compile', 0, 100)], 'aggregated events')
    same(compiled(space(threads([('A::Compiled', 0, 100), ('$x.py:1 backend_compile', 0, 100),
                                 ('trace_to_jaxpr_dynamic', 0, 100)]))), [])


@case
def function_and_phases():
    """The function is the innermost call; its tracing and lowering before the compilation count
    once, without what nests in them."""
    events = [('PjitFunction(f)', 0, 1000), ('PjitFunction(f)', 1, 999),
              ('trace_to_jaxpr_dynamic', 10, 100), ('PjitFunction(g)', 20, 70),
              ('trace_to_jaxpr_dynamic', 25, 10), ('backend_compile', 40, 20),
              ('lower_sharding_computation', 120, 30), ('trace_to_jaxpr', 130, 5),
              ('backend_compile', 200, 300), ('$p.py:3 trace_to_jaxpr_final', 600, 7),
              ('backend_compile', 700, 10), ('backend_compile', 2000, 10)]
    same(compiled(space(threads(events)), 'function, start_ps, 1e6 * tracing_us, '
                  '1e6 * lowering_us, line'),
         [('g', 40, 20.0, None, 'thread0'), ('f', 200, 85.0, 25.0, 'thread0'),
          ('f', 700, 7.0, None, 'thread0'), (None, 2000, None, None, 'thread0')])
    ends = [('PjitFunction(f)', 0, 100), ('trace_to_jaxpr', 10, 20), ('backend_compile', 50, 50)]
    same(compiled(space(threads(ends)), 'function, 1e6 * tracing_us'), [('f', 20.0)],
         'a compilation that ends with the call')
    twice = [('PjitFunction(f)', 0, 1000), ('lower_xla_callable', 10, 20),
             ('PjitFunction(f)', 50, 300), ('trace_to_jaxpr', 60, 7), ('backend_compile', 100, 50),
             ('trace_to_jaxpr', 400, 5), ('backend_compile', 500, 50)]
    same(compiled(space(threads(twice)), 'function, 1e6 * tracing_us, 1e6 * lowering_us'),
         [('f', 7.0, 20.0), ('f', 5.0, None)], 'a call within itself is one call')
    same(compiled(space(threads([('trace_to_jaxpr', 0, 5), ('backend_compile', 10, 5)])),
                  'tracing_us, lowering_us'), [(None, None)], 'without a call')


@case
def modules_and_programs():
    """Stats name the module; the program is the one of that name with the next first run."""
    f32 = [shape(F32, n) for n in (1, 2, 4)]
    programs = metadata(program(7, 'jit_f', f32[0], f32[2], names=['x']),
                        program(5, 'jit_f', f32[1], f32[2], names=['x']),
                        program(3, 'jit_f', f32[2], f32[2]), program(9, 'jit__lambda_', f32[0]))
    host = threads([('PjitFunction(f)', 0, 110), ('backend_compile', 10, 90),
                    ('PjitFunction(f)', 200, 200), ('backend_compile', 210, 90),
                    ('PjitFunction(<lambda>)', 500, 200), ('backend_compile', 510, 10),
                    ('Compiler::Compile', 800, 10, {'name': {'str': 'jit_f'}}),
                    ('Compiler::Compile', 900, 10, {'name': {'str': 'kernel'}}),
                    ('Compiler::Compile', 950, 10, {'hlo_module': {'str': 'other'}})],
                   [run('add', 3, 5), run('add', 5, 120), run('add', 7, 310)],
                   [('X::Compile', 20, 5, {'hlo_module': {'str': 'kernel'}}),
                    ('X::Compile', 30, 5, {'name': {'str': 'jit_f'}})])
    same(compiled(space(host, programs), 'function, hlo_module, program_id, parameter_shapes, '
                  'differs'),
         [('f', 'jit_f', '5', 'f32[2], f32[4]', 'parameter 0 (x): f32[4] -> f32[2]'),
          ('f', 'jit_f', '7', 'f32[1], f32[4]', 'parameter 0 (x): f32[2] -> f32[1]'),
          ('<lambda>', 'jit__lambda_', '9', 'f32[1]', None), ('f', 'jit_f', None, None, None),
          (None, None, None, None, None), (None, 'other', None, None, None)])
    same([tuple(r.values()) for r in ask("SELECT function, program_count, compilation_count, "
                                         "1e6 * duration_us, differs FROM recompilations('{x}')",
                                         x=space(host, programs))],
         [('f', 3, 3, 190.0, 'parameter 0 (x): f32[4] -> f32[2] -> f32[1]')])
    device = Plane('/device:TPU:0').line(2, 'XLA Modules',
                                         [('jit_f(3)', 5, 5), ('jit_f(5)', 120, 5),
                                          ('jit_f(7)', 310, 5)]).bytes()
    host = threads([('PjitFunction(f)', 0, 110), ('backend_compile', 10, 90),
                    ('PjitFunction(f)', 200, 200), ('backend_compile', 210, 90)])
    same(compiled(space(host, device, programs), 'program_id'), [('5',), ('7',)],
         'programs by the names of modules on a device')
    same(compiled(space(host, programs), 'program_id'), [(None,), (None,)], 'nothing runs')
    for start, found in ((99, None), (100, '5'), (299, '5'), (300, None)):
        same(compiled(space(host, programs, Plane('/device:TPU:0').line(
            2, 'XLA Modules', [('jit_f(5)', start, 5)]).bytes()), 'program_id')[0], (found,), start)
    same(compiled(space(threads([('PjitFunction(<lambda>)', 500, 200), (
        'backend_compile', 510, 10)], [run('add', 9, 400)]), programs), 'hlo_module, program_id'),
         [('jit__lambda_', None)], 'the only program ran before')
    stat_of_metadata = Plane('/device:TPU:0')
    stat_of_metadata.meta('op', stats={'program_id': {'uint64': 5}}, key=1)
    same(compiled(space(host, stat_of_metadata.line(3, 'XLA Ops', [(1, 150, 5)]).bytes(), programs),
                  'program_id'), [('5',), (None,)])


@case
def names_of_modules():
    """JAX names a module after its function, with _ for other characters. Without a program of
    that name, the stat must have it. The name of such a module gives the function."""
    def names(*events):
        return compiled(space(threads(list(events))), 'function, hlo_module')

    def called(module):
        return (('PjitFunction(My-f.9Z_x@a)', 0, 100),
                ('A::Compile', 10, 50, {'name': {'str': module}}))
    same(names(*called('jit_My-f.9Z_x_a')), [('My-f.9Z_x@a', 'jit_My-f.9Z_x_a')])
    same(names(*called('jit_My-f.9Z_x@a')), [('My-f.9Z_x@a', None)])
    same(names(('A::Compile', 10, 50, {'hlo_module': {'str': 'jit_g'}}),
               ('B::Compile', 70, 5, {'hlo_module': {'str': 'jit'}})),
         [('g', 'jit_g'), (None, 'jit')])


@case
def several_names_in_one_event():
    """A name without (id), and the function's own before others."""
    stats = [{'hlo_module': {'str': 'jit_f(3)'}}, {'hlo_module': {'str': 'a'}, 'name': {
        'str': 'jit_f'}}, {'name': {'str': 'jit_f(3)'}, 'hlo_module': {'str': 'b(x)'}}]
    same([compiled(space(threads([('PjitFunction(f)', 0, 90), ('backend_compile', 10, 50, s)])),
                   'hlo_module') for s in stats], [[('jit_f',)], [('jit_f',)], [('b(x)',)]])


@case
def markers_of_xla():
    """A capture has XLA's NVTX ranges: their names have the module as an argument, and the pass."""
    ms = 10**9
    main = [('XlaCompile:#module=jit_f#', 0, 100 * ms),
            ('XlaPassPipeline:#name=fusion,module=jit_f,program_id=7#', 10 * ms, 50 * ms),
            ('XlaPass:#name=priority-fusion,module=jit_f,program_id=7#', 20 * ms, 5 * ms),
            ('XlaPass:#name=priority-fusion,module=other,program_id=8#', 30 * ms, 20 * ms)]
    pool = [('XlaCompileBackend:#module=kernel.1,program_id=8#', 40 * ms, 30 * ms),
            ('XlaPass:#name=a, b#', 41 * ms, 9 * ms)]
    runs = [('XlaModule:#hlo_module=jit_g#', 60 * ms, 20 * ms)]
    data = space(threads(main, pool, runs))
    same(compiled(data, 'function, hlo_module, duration_us'), [('f', 'jit_f', 1e5)])
    same([r['longest_function'] for r in ask("SELECT * FROM compile_time('{x}')", x=data)], ['f'])
    same([tuple(r.values()) for r in ask(
        "SELECT pass, occurrences, self_ms, threads, top_function FROM compile_passes('{x}')",
        x=data)],
         [('XlaCompile', 1, 50.0, 1, 'f'), ('fusion', 1, 25.0, 1, 'f'),
          ('priority-fusion', 2, 25.0, 1, 'f'), ('XlaCompileBackend', 1, 21.0, 1, 'f'),
          ('a, b', 1, 9.0, 1, 'f')])


@case
def names_with_arguments():
    """The first argument of the key, up to the comma before another key. Programs of two modules
    that are compiled at once by two threads are two compilations."""
    def modules(*names):
        return compiled(space(threads([(name, 10 * i, 5) for i, name in enumerate(names)])),
                        'hlo_module')
    same(modules('XlaCompile:#id=3,module=a,b,module=c#', 'XlaCompile:#module=d', 'XlaCompile:#x#'
                 'module=e#', 'XlaCompile:#module=,x=1#', 'XlaCompile:#modules=f#',
                 'XlaCompile:#,module=jit_g(7)#'),
         [('a,b',), ('d',), (None,), (None,), (None,), ('jit_g',)])
    same(compiled(space(threads([('XlaCompile:#module=jit_f#', 0, 100)],
                                [('XlaCompile:#module=jit_g#', 10, 50)])), 'function'),
         [('f',), ('g',)])
    stats = {'hlo_module': {'str': 'b'}}
    same(compiled(space(threads([('XlaCompile:#module=a#', 0, 100, stats)])), 'hlo_module'),
         [('a',)], 'before the stats')
    same(compiled(space(threads([('PjitFunction(f)', 0, 100), ('A::Compile', 1, 90),
                                 ('XlaCompile:#module=b#', 2, 5),
                                 ('XlaCompile:#module=jit_f#', 10, 5)])), 'function, hlo_module'),
         [('f', 'jit_f')], 'that of the function before others')


@case
def functions_without_a_module():
    """A function that was compiled several times is listed even if nothing names its module."""
    def calls(name, *starts):
        return [e for s in starts for e in (('PjitFunction(%s)' % name, s, 90),
                                            ('backend_compile', s + 10, 50))]
    data = space(threads(calls('g', 0, 200) + calls('f', 400) + calls('gg', 600, 800, 1000)
                         + [('backend_compile', 2000, 5), ('backend_compile', 2010, 5)]))
    same([tuple(r.values()) for r in ask(
        "SELECT function, hlo_module, program_count, compilation_count, 1e6 * duration_us, differs "
        "FROM recompilations('{x}')", x=data)],
         [('gg', None, 0, 3, 150.0, None), ('g', None, 0, 2, 100.0, None)])


@case
def what_differs():
    """Shapes of parameters, else of the result, else their layouts; long texts are cut."""
    def differs(*programs):
        return [r['differs'] for r in ask("SELECT differs FROM recompilations('{x}')",
                                          x=space(metadata(*programs)))]
    a, b = shape(F32, 2, 3), shape(F32, 3, 3)
    same(differs(program(1, 'm', a, a), program(2, 'm', a, b, a)),
         ['parameter 1: f32[2,3] -> f32[3,3]; parameter 2: none -> f32[2,3]'])
    same(differs(program(1, 'm', a, result=a), program(2, 'm', a, result=b)),
         ['result: f32[2,3] -> f32[3,3]'])
    other = V(2, F32) + hlo.ints(3, 2, 3) + L(5, hlo.ints(1, 0, 1))
    same(differs(program(1, 'm', a), program(2, 'm', other)),
         ['parameter 0: f32[2,3]{1,0} -> f32[2,3]{0,1}'])
    same(differs(program(1, 'm', a), program(2, 'm', a)),
         ['the parameters and the result are equal'])
    same(differs(program(1, 'm', a), program(2, 'n', a)), [])
    many = [program(i + 1, 'm', *[shape(F32, i + k) for k in range(10)]) for i in range(20)]
    text = differs(*many)[0]
    same((text.count('; parameter'), text.endswith('; and 2 parameters more'),
          text.count('... (20 shapes)')), (7, True, 8))
    for n, parameters, shapes in ((8, 7, 0), (9, 7, 8)):
        many = [program(i + 1, 'm', *[shape(F32, i + k) for k in range(n)]) for i in range(n)]
        text = differs(*many)[0]
        same((text.count('; parameter'), text.count('; and 1 parameters more'),
              text.count('... (9 shapes)')), (parameters, n - 8, shapes), n)


@case
def compile_inside_a_step():
    """Compilations of a step add up to its compilation_ms_actual."""
    step = {'_r': {'int64': 1}, 'step_num': {'int64': 0}, 'group_id': {'int64': 0}}
    grouped = {'group_id': {'int64': 0}}
    ms = 10 ** 9
    data = space(threads([('train', 0, 100 * ms, step), ('PjitFunction(f)', ms, 90 * ms, grouped),
                          ('backend_compile', 10 * ms, 20 * ms, grouped),
                          ('backend_compile', 40 * ms, 7 * ms, grouped)],
                         [('A::Compile', 11 * ms, 10 * ms, grouped)]))
    same([tuple(r.values())
          for r in ask("SELECT step, sum(duration_us) / 1e3 AS ms, (SELECT compilation_ms_actual "
                       "FROM steps('{x}')) AS actual FROM compilations('{x}') GROUP BY 1", x=data)],
         [(0, 27.0, 27.0)])


@case
def orders():
    """Longest compilation time first, then most programs, then by name; each host separately."""
    a = shape(F32, 1)
    programs = metadata(*[program(i + 1, n, a) for i, n in enumerate(
        ['jit_b', 'jit_b', 'jit_a', 'jit_a', 'jit_c', 'jit_c', 'jit_c', 'jit_d', 'jit_d'])])
    data = space(threads([('PjitFunction(d)', 0, 10), ('backend_compile', 1, 5)]), programs)
    same([r['hlo_module'] for r in ask("SELECT hlo_module FROM recompilations('{x}')", x=data)],
         ['jit_d', 'jit_c', 'jit_a', 'jit_b'])
    same([(r['host'], r['n']) for r in ask("SELECT host, count(*) AS n FROM recompilations('{x}') "
                                           "GROUP BY 1", x=[data, data])],
         [('host0', 4), ('host1', 4)])
    same(ask("SELECT count(*) AS n, count(DISTINCT event_id) AS events FROM compilations('{x}')",
             x=[data, data]), [{'n': 2, 'events': 2}])


@case
def time_and_passes():
    """Threads that compile at once count once in the elapsed time; the passes are what the
    compiler's threads do during compilations, without what waits for them."""
    ms = 10**9
    main = [('PjitFunction(f)', 0, 60 * ms), ('trace_to_jaxpr_dynamic', 2 * ms, 3 * ms),
            ('lower_sharding_computation', 6 * ms, 2 * ms),
            ('backend_compile', 10 * ms, 40 * ms, {'group_id': {'int64': 4}})]
    other = [('PjitFunction(g)', 29 * ms, 60 * ms), ('backend_compile', 30 * ms, 50 * ms)]
    pool = [('X::Compile', 12 * ms, 30 * ms), ('algsimp', 13 * ms, 4 * ms),
            ('algsimp', 20 * ms, 6 * ms), ('algsimp', 90 * ms, 9 * ms), ('X::Compile', 45 * ms, ms)]
    codegen = [('CSEPass', 31 * ms, 7 * ms), ('dispatch', 60 * ms, 5 * ms)]
    data = space(threads(main, other, pool, codegen, [('read', 20 * ms, 9 * ms)]))
    same([tuple(r.values()) for r in ask(
        "SELECT compilations, elapsed_ms, total_ms, compiling_ms, tracing_ms, lowering_ms, "
        "longest_function, longest_ms FROM compile_time('{x}')", x=data)],
         [(2, 70.0, 95.0, 90.0, 3.0, 2.0, 'g', 50.0)])
    same([tuple(r.values()) for r in ask(
        "SELECT rank, pass, occurrences, self_ms, percent, total_ms, threads, top_function "
        "FROM compile_passes('{x}')", x=data)],
         [(1, 'X::Compile', 2, 21.0, 100 * 21 / 43, 31.0, 1, 'f'),
          (2, 'algsimp', 2, 10.0, 100 * 10 / 43, 10.0, 1, 'f'),
          (3, 'CSEPass', 1, 7.0, 100 * 7 / 43, 7.0, 1, 'g'),
          (4, 'dispatch', 1, 5.0, 100 * 5 / 43, 5.0, 1, 'g')])
    no_pass = space(threads(main, [('read', 20 * ms, 9 * ms)]))
    same(ask("SELECT * FROM compile_passes('{x}')", x=no_pass), [])
    same([r['compilations'] for r in ask("SELECT * FROM compile_time('{x}')", x=no_pass)], [1])


@case
def numbers_that_xla_appends():
    """Graph.5 is compiled again as Graph.7, whose number alone differs; Graph is another name with
    this title; Graphs.5, Graph.7a, .5 and .7 are other titles."""
    programs = metadata(*(program(i, name, shape(F32, n)) for i, (name, n) in enumerate(
        (('Graph.5', 8), ('Graph.7', 6), ('Graph', 4), ('Graphs.5', 2), ('Graph.7a', 1),
         ('.5', 1), ('.7', 2)), 1)))
    events = [run('op', 1, 0), ('XlaCompile:#module=Graph.7#', 10, 20), run('op', 2, 40),
              run('op', 3, 50), ('XlaCompile:#module=Graph.5#', 60, 9)]
    data = space(threads(events), programs)
    same(compiled(data, 'hlo_module, program_id, differs'),
         [('Graph.7', '2', 'parameter 0: f32[8] -> f32[6]'), ('Graph.5', None, None)])
    same([tuple(r.values()) for r in ask(
        "SELECT hlo_module, program_count, compilation_count, duration_us * 1e6, differs "
        "FROM recompilations('{x}')", x=data)],
         [('Graph', 3, 2, 29.0, 'parameter 0: f32[8] -> f32[4] -> f32[6]')])


@case
def events_of_compilers():
    """Functions f (0 to 100 ms), g (20 to 80) and h (30 to 40) are compiled at once. An event
    counts for the one that started last of those that contain it: what ends after 80 ms is of f.
    The second pool has no compiler."""
    ms = 10**9
    mains = [[('PjitFunction(%s)' % f, start * ms, length * ms),
              ('backend_compile', start * ms, length * ms)]
             for f, start, length in (('f', 0, 100), ('g', 20, 60), ('h', 30, 10))]
    pool = [('MyCompiler::run', ms, 9 * ms), ('opt', 2 * ms, 3 * ms), ('opt', 6 * ms, ms),
            ('opt', 21 * ms, 5 * ms), ('opt', 30 * ms, 10 * ms), ('opt', 41 * ms, 39 * ms),
            ('opt', 80 * ms, 0), ('opt', 81 * ms, 19 * ms), ('opt', 95 * ms, 6 * ms),
            ('opt', 101 * ms, 0)]
    spans = [('opt', 35 * ms, 40 * ms), ('Passage', 36 * ms, 2 * ms)]
    same([tuple(r.values()) for r in ask(
        "SELECT line_id, name, function, occurrences, duration_ps / 1e9, self_ps / 1e9 "
        "FROM compiler_events('{x}')", x=space(threads(*mains, pool, spans)))],
         [(3, 'MyCompiler::run', 'f', 1, 9.0, 5.0), (3, 'opt', 'f', 3, 23.0, 23.0),
          (3, 'opt', 'g', 3, 44.0, 44.0), (3, 'opt', 'h', 1, 10.0, 10.0)])


@case
def many_compilations_at_once():
    """Each of 300 ends before the ones that started before it; an event in the n-th that is too
    long for the later ones is of the n-th."""
    mains = [[('PjitFunction(f%d)' % i, i, 2000 - 3 * i),
              ('backend_compile', i, 2000 - 3 * i)] for i in range(300)]
    pool = [('XPass', 600 + i, 1400 - 3 * i) for i in range(300)]
    same([r['function'] for r in ask("SELECT function FROM compiler_events('{x}') "
                                     "WHERE name = 'XPass'", x=space(threads(*mains, pool)))],
         ['f%d' % i for i in range(300)])
