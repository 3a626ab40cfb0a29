# SPDX-License-Identifier: Apache-2.0
"""Hostile profiles for the analyses of ops.

    PROFILES=FOLDER tests/hostile/run --only ops   leaves each file in a run of its own below the
    folder
                                                   (tests/ops/against_xprof asks XProf about them)

The files are sound, what they say is not: programs that call themselves, ids that match nothing,
times and counters beyond all bounds. Every table and every canned query ends by itself without an
error, and no number is made up: what is not known is NULL, no ratio is infinite."""
import functools
import inspect
import os

from lib.cases import CASES, case, must, same
from lib.hlo import F32, computation, instruction, ints, module, proto, shape, tuple_of
from lib.hostile import MB, one, q, rows, shell, touch_all
from lib.shell import lines, put, tables
from lib.wire import (L, US, V, event, event_metadata, line, plane, space, stat, stat_metadata,
                      varint)

kept = {}
INT64 = 2**63 - 1
STATS = ['hlo_op', 'program_id', 'hlo_module', 'tf_op', 'flops', 'bytes_accessed', 'group_id',
         'correlation_id', 'Hlo Proto', 'hlo_category', 'symbol_id', 'model_flops',
         'device_offset_ps', 'device_duration_ps', 'run_id', 'num_occurrences',
         'peak_teraflops_per_second', 'raw_bytes_accessed']
KEY = {name: i + 1 for i, name in enumerate(STATS)}


@functools.cache
def every_query():
    """{canned query: the names of its sources}"""
    queries = set(lines('SELECT name FROM prof_queries;'))
    return {name: sources for name, sources in tables().items() if name in queries}


def told(**stats):
    """Stats by name: whole numbers are uint64, negative ones int64."""
    return [stat(KEY[name.replace('__', ' ')], **({'str': v} if isinstance(v, str) else {'bytes': v}
                                                  if isinstance(v, bytes) else
                                                  {'int64': v} if v < 0 else {'uint64': v}))
            for name, v in stats.items()]


def plane_of(id, name, lines, metadata=b'', stats=()):
    """lines: (id, name, [(event's name, offset, duration, stats)])."""
    names = {n: i + 1
             for i, n in enumerate(dict.fromkeys(e[0] for _, _, events in lines for e in events))}
    made = [line(i, n, [event(names[e[0]], *e[1:]) for e in events]) for i, n, events in lines]
    declared = b''.join(event_metadata(i, n) for n, i in names.items()) + b''.join(
        stat_metadata(i, n) for n, i in KEY.items())
    return plane(id, name, made, declared + metadata, stats)


def programs(*bodies):
    """The metadata plane: (program id, name, HloModuleProto)."""
    entries = b''.join(event_metadata(i + 1, f'{name}({number})',
                                      stats=told(Hlo__Proto=proto(body)))
                       for i, (number, name, body) in enumerate(bodies))
    return plane_of(9, '/host:metadata', [], entries)


def tpu(ops, modules=(('m(1)', 0, 90 * US, ()),), name='/device:TPU:0', metadata=b''):
    return plane_of(3, name, [(1, 'Steps', [('0', 0, 95 * US, told(group_id=0))]),
                              (2, 'XLA Modules', modules), (3, 'XLA Ops', ops)], metadata)


def keep(data):
    """Leaves a file for against_xprof."""
    case_name = next(f.function for f in inspect.stack()
                     if f.function in {c.__name__ for c in CASES})
    number = kept[case_name] = kept.get(case_name, 0) + 1
    if os.environ.get('PROFILES'):
        folder = os.path.join(os.environ['PROFILES'], '%s_%d' % (case_name, number))
        os.makedirs(folder)
        with open(os.path.join(folder, 'host.xplane.pb'), 'wb') as f:
            f.write(data)
    return data


def everything(data, timeout=60, rss=None):
    """{table: rows}: every column of every table, and every query, without an error and without an
    infinite number."""
    file = put('ops.xplane.pb', keep(data))
    calls = {name: ', '.join([q(file)] * len(sources)) for name, sources in every_query().items()}
    # a query without a source asks the attached runs
    attach = f"SELECT 'prof_attach', length(prof_attach({q(file)}));"
    a = shell(touch_all(file) + attach
              + ''.join(f"SELECT '{name}', count(*) FROM (SELECT * "
                        f"FROM {name}({given}) LIMIT -1 OFFSET 0);"
                        for name, given in calls.items()), timeout=timeout)
    must(not a.err, a.err[:500])
    if rss:
        must(a.rss < rss, f'peak {a.rss // MB} MB')
    for table, column in (('tf_ops', 'normalized_gflops + memory_bw_gibps + operational_intensity '
                           '+ avg_time_us'), ('hlo_ops', 'normalized_gflops + memory_bw_gibps + '
                                              'avg_time_us'),
                          ('roofline', 'operational_intensity + avg_time_us'),
                          ('op_profile', 'flops_utilization + hbm_utilization')):
        same(rows(f"SELECT {column} FROM {table}({q(file)}) WHERE abs({column}) > 1e300;"), [],
             table)
    return file, {r[0]: int(r[1]) for r in a.rows[1:]}


# ---- what is missing ----

@case
def no_device_plane():
    _, found = everything(space(plane_of(1, '/host:CPU', [
        (1, 'main', [('MatMul:MatMul', 0, 5 * US, ()), ('ReadFile', 6 * US, US, ())])])))
    same({t: found[t] for t in ('kernel_stats', 'hlo_ops', 'devices', 'async_ops', 'collectives',
                                'hlo_modules')},
         dict.fromkeys(
             ('kernel_stats', 'hlo_ops', 'devices', 'async_ops', 'collectives', 'hlo_modules'), 0))
    must(found['tf_ops'] >= 1, f'{found["tf_ops"]} ops of the host')


@case
def no_events_at_all():
    for planes in ((), (plane_of(1, '/host:CPU', []),),
                   (plane_of(1, '/device:GPU:0', [(1, 'Stream #1', [])]),), (tpu([], ()),)):
        everything(space(*planes) or space(plane_of(1, '', [])))


@case
def kernels_of_programs_that_are_not_there():
    """Tables of ops leave out kernels whose HLO op is not found, like XProf's."""
    body = module('m', computation(1, 'main', [instruction(1, 'known', 'custom-call')], root=1),
                  more=L(4))
    kernels = [('k', i * US, US, told(hlo_op=op, program_id=program, hlo_module='m'))
               for i, (op, program) in enumerate([('known', 1), ('unknown', 1), ('known', 2), (
                   '', 1), ('known', 2**64 - 1), ('a::b::known', 1), ('%' * 50, 1)])]
    file, found = everything(space(plane_of(2, '/device:GPU:0', [(1, 'Stream #1', kernels)]),
                                   programs((1, 'm', body))))
    same(rows(f"SELECT hlo_op, occurrences FROM hlo_ops({q(file)}) WHERE hlo_op <> 'IDLE';"),
         [['known', '2']])
    same(one(f"SELECT count(*), count(hlo_fingerprint), count(input_tensors) "
             f"FROM xprof_events({q(file)});"), ['7', '2', '0'])


@case
def texts_that_repeat_each_other():
    """The text of each element of a tuple has the shapes of all of them, and each stack the frames
    of those before it: together they grow with the square of the file."""
    n = 8000
    frames = L(1, 'a.py') + L(2, 'f') + L(3, V(1, 1) + V(2, 1) + V(3, 7))
    frames += b''.join(L(4, V(1, 1) + (V(2, i) if i else b'')) for i in range(n))
    elements = [instruction(i + 2, f'g{i}', 'get-tuple-element', operands=(1,),
                            more=L(7, V(15, i + 1)) + V(13, i)) for i in range(n)]
    whole = instruction(1, 'p', 'parameter', tuple_of(*[shape(F32)] * n))
    body = module('m', computation(1, 'main', [whole] + elements, root=2),
                  more=L(4) + L(17, frames))
    kernels = [('k', i * US, US, told(hlo_op=f'g{i}', program_id=1, hlo_module='m'))
               for i in range(n)]
    file = put('repeat.xplane.pb', space(plane_of(2, '/device:GPU:0', [(1, 'Stream #1', kernels)]),
                                         programs((1, 'm', body))))
    a = shell(f"""SELECT count(*), sum(expression LIKE '%g_% = f32[] get-tuple-element((f32[], %'),
                  min(length(expression)), max(length(source_stack)) > 1000 FROM hlo_ops({q(file)});
              SELECT severity, byte_offset IS NULL, lost_bytes FROM prof_issues({q(file)})
                  WHERE code = 'op_texts_cut';
              SELECT count(*), max(length(expression)) FROM hlo_instructions({q(file)})
                  WHERE opcode = 'get-tuple-element';""")
    must(not a.err, a.err[:300])
    same(a.rows, [[str(n), str(n), '103', '1'], ['warning', '1', '0'], [str(n), '1052']])
    must(a.rss < 2 * os.path.getsize(file) + 64 * MB, f'peak {a.rss // MB} MB')


@case
def programs_that_cannot_be_read():
    broken = [b'', b'\xff' * 40, b'\x0a', proto(b'')[:1], b'text']
    entries = b''.join(event_metadata(i + 1, f'm({i})', stats=told(Hlo__Proto=body))
                       for i, body in enumerate(broken))
    everything(space(plane_of(9, '/host:metadata', [], entries),
                     tpu([('%a = f32[] add()', 0, US, told(program_id=1, hlo_op='a'))])))


@case
def programs_that_xla_refuses():
    """Their ops do not count, as in XProf 2.24.2 for each of these, and prof_issues has the reason;
    their instructions are still shown."""
    f8, says = shape(F32, 8), L(4)

    def op(id, name, opcode='custom-call', operands=(), calls=(), more=b''):
        return instruction(id, name, opcode, f8, operands, calls, more=more)

    def main(*ops, root=2):
        return computation(1, 'main', ops, root=root)
    sub, a, b = computation(5, 'sub', [op(51, 's')], root=51), op(1, 'a'), op(2, 'b')
    good = {'plain': module('m', main(a, b), more=says), 'a call of what stands '
            'before': module('m', sub, main(a, op(2, 'b', 'call', (), (5,))), more=says),
            'ids of computations': module('m', computation(5, 'sub', [op(1, 's')], root=1),
                                          main(a, op(2, 'b', 'call', (), (5,))), more=says),
            'an early root': module('m', main(a, b, root=1), more=says),
            'all that an operation needs': module('m', sub, main(
                a, op(2, 'b', 'fusion', (1,), (5,), more=L(11, 'kLoop'))), more=says),
            'operations of late': module('m', main(a, op(2, 'b', 'shuffle', (1,))), more=says),
            'a rotation': module('m', main(a, op(2, 'b', 'shuffle', (1,), more=ints(14, 0)
                                                 + L(103, L(1, ints(1, 3))))), more=says),
            'a collective reduction': module('m', sub, main(a, op(2, 'b', 'collective-reduce', (
                1,), (5,), more=L(49, ints(1, 0, 1)) + V(26, 3))), more=says),
            'an all-reduce': module('m', sub, main(a, op(2, 'b', 'all-reduce', (1,), (5,))),
                                    more=says), 'large '
            'ids': module('m', main(op(2**40, 'a'), op(2**40 + 1, 'b'), root=2**40), more=says)}
    bad = {'no shape of the program': module('m', main(a, b)),
           'no root': module('m', main(a, b, root=None), more=says),
           'a root elsewhere': module('m', main(a, b, root=99), more=says),
           'no entry': module('m', main(a, b), entry=77, more=says),
           'nothing': module('m', more=says),
           'an empty computation': module('m', computation(5, 'sub', []), main(a, b), more=says),
           'an operand behind': module('m', main(op(1, 'a', 'negate', (2,)), b), more=says),
           'an operand nowhere': module('m', main(a, op(2, 'b', 'negate', (55,))), more=says),
           'a predecessor behind': module('m', main(op(1, 'a', more=L(37, b'\x02')), b), more=says),
           'a call of nothing': module('m', main(a, op(2, 'b', 'call', (), (66,))), more=says),
           'a call of what stands behind': module('m', main(a, op(2, 'b', 'call', (), (5,))), sub,
                                                  more=says),
           'a call of itself': module('m', main(a, op(2, 'b', 'call', (), (1,))), more=says),
           'an id twice': module('m', main(op(2, 'a'), b), more=says),
           'a name twice': module('m', computation(5, 'sub', [op(51, 'a')], root=51), main(a, b),
                                  more=says),
           "a computation's id twice": module('m', computation(1, 'sub', [op(51, 's')], root=51),
                                              main(a, b), more=says),
           "a computation's name twice": module('m', computation(5, 'main', [op(51, 's')], root=51),
                                                main(a, b), more=says),
           'no name': module('m', main(op(1, ''), b), more=says),
           'an id below 0': module('m', main(op(-1, 'a'), b), more=says),
           'another opcode': module('m', main(a, op(2, 'b', 'frobnicate')), more=says),
           'no operand': module('m', main(a, op(2, 'b', 'negate')), more=says),
           'two operands': module('m', main(a, op(2, 'b', 'negate', (1, 1))), more=says),
           'a precision of what has none': module('m', main(a, op(2, 'b', 'negate', (1,),
                                                                  more=L(51))), more=says),
           'a fusion of no kind': module('m', sub, main(a, op(2, 'b', 'fusion', (1,), (5,))),
                                         more=says),
           'a while of one': module('m', sub, main(a, op(2, 'b', 'while', (1,), (5,))), more=says),
           'an all-reduce of nothing': module('m', main(a, op(2, 'b', 'all-reduce', (1,))),
                                              more=says),
           'an iota without a dimension': module('m', main(a, op(2, 'b', 'iota')), more=says),
           'a comparison of no kind': module('m', main(a, op(2, 'b', 'compare', (1, 1))),
                                             more=says), 'a gather without '
           'numbers': module('m', main(a, op(2, 'b', 'gather', (1, 1))), more=says),
           'a reshape to another size': module('m', main(L(1, 'a') + L(2, 'custom-call') + L(
               3, shape(F32, 9)) + V(35, 1), op(2, 'b', 'reshape', (1,))), more=says),
           'a slice without begins': module('m', main(a, op(2, 'b', 'dynamic-slice', (1,))),
                                            more=says), 'a second parameter '
           '0': module('m', main(op(1, 'a', 'parameter'), op(2, 'b', 'parameter')), more=says),
           'a shape of no type': module('m', main(L(1, 'a') + L(2, 'custom-call') + L(3, V(2, 0))
                                                  + V(35, 1), b), more=says),
           'a dimension below 0': module('m', main(L(1, 'a') + L(2, 'custom-call') + L(
               3, V(2, F32) + V(3, -2)) + V(35, 1), b), more=says),
           'a layout of two': module('m', main(L(1, 'a') + L(2, 'custom-call') + L(
               3, V(2, F32) + V(3, 8) + L(5, V(1, 0) + V(1, 1))) + V(35, 1), b), more=says),
           'no shape': module('m', main(L(1, 'a') + L(2, 'custom-call') + V(35, 1), b), more=says),
           'an empty fusion': module('m', main(a, op(2, 'b', 'fusion', (1,))), more=says)}
    kernels = [('k', i * US, US, told(hlo_op=name, program_id=1, hlo_module='m'))
               for i, name in enumerate('ab')]
    for sound, bodies in ((True, good), (False, bad)):
        for what, body in bodies.items():
            file = put('ops.xplane.pb',
                       keep(space(plane_of(2, '/device:GPU:0', [(1, 'Stream #1', kernels)]),
                                  programs((1, 'm', body)))))
            ops, refused = (f"SELECT count(*) FROM hlo_ops({q(file)});",
                            f"SELECT count(*), total(count) FROM prof_issues({q(file)}) "
                            f"WHERE code = 'refused_program';")
            for queries in (ops + refused, refused + ops + refused): # whoever is asked first
                same(rows(queries)[-2:],
                     ([['2'], ['0', '0.0']] if sound else [['0'], ['1', '1.0']]), what)
    file = put('ops.xplane.pb', space(plane_of(2, '/device:GPU:0', [(1, 'Stream #1', kernels)]),
                                      programs((1, 'm', bad['no root']))))
    same(one(f"SELECT count(*), (SELECT count(*) FROM hlo_instructions({q(file)})) "
             f"FROM hlo_ops({q(file)});"), ['0', '2'])
    everything(space(plane_of(2, '/device:GPU:0', [(1, 'Stream #1', kernels)]),
                     programs((1, 'm', bad['a call of itself']))))


# ---- programs in circles ----

def around(*computations, entry=1):
    """A TPU that runs each instruction of the entry computation once."""
    body = module('m', *computations, id=1, entry=entry)
    names = ['loop', 'call', 'fusion', 'cond', 'start', 'done', 'reduce', 'sort']
    metadata = b''.join(event_metadata(100 + i, f'%{n} = f32[8]{{0}} while()', n,
                                       told(program_id=1, symbol_id=i, hlo_category='while'))
                        for i, n in enumerate(names))
    lines = [line(2, 'XLA Modules', [event(1, 0, 90 * US)]),
             line(3, 'XLA Ops', [event(100 + i, i * US, US) for i in range(len(names))])]
    core = plane(3, '/device:TPU:0', lines, event_metadata(1, 'm(1)') + metadata
                 + b''.join(stat_metadata(i, n) for n, i in KEY.items()))
    kernels = [('k', i * US, US, told(hlo_op=n, program_id=1, hlo_module='m'))
               for i, n in enumerate(names)]
    return space(core, programs((1, 'm', body))), space(plane_of(2, '/device:GPU:0',
                                                                 [(1, 'Stream #1', kernels)]),
                                                        programs((1, 'm', body)))


def every_call(target):
    """An instruction of each opcode that calls."""
    one_of = shape(F32, 8)
    return [instruction(10, 'p', 'parameter', one_of),
            instruction(11, 'loop', 'while', one_of, (10,), (target, target)),
            instruction(12, 'call', 'call', one_of, (10,), (target,)),
            instruction(13, 'fusion', 'fusion', one_of, (10,), (target,)),
            instruction(14, 'cond', 'conditional', one_of, (10, 10), (target, target)),
            instruction(15, 'start', 'async-start', tuple_of(one_of), (10,), (target,)),
            instruction(16, 'done', 'async-done', one_of, (15,), (target,)),
            instruction(17, 'reduce', 'reduce', one_of, (10, 10), (target,)),
            instruction(18, 'sort', 'sort', one_of, (10,), (target,))]


@case
def computations_that_call_themselves():
    for data in around(computation(1, 'main', every_call(1))):
        file, _ = everything(data)
        same(one(f"SELECT count(fingerprint) FROM hlo_instructions({q(file)}) "
                 f"WHERE opcode <> 'parameter';"), '1')
        must(one(f"SELECT count(*) - count(hlo_fingerprint) FROM xprof_events({q(file)}) "
                 f"WHERE hlo_op = 'loop';") == '1', 'a fingerprint of what never ends')


@case
def computations_that_call_each_other():
    ring = [computation(i, f'c{i}', [instruction(100 * i, f'x{i}', 'call', shape(F32), (),
                                                 (i % 30 + 1,))]) for i in range(1, 30)]
    for data in around(computation(30, 'main', every_call(1)), *ring, entry=30):
        everything(data)


@case
def computations_called_twice_at_each_level():
    """2^40 lines of text without a limit."""
    tree = [computation(i, f'c{i}', [instruction(100 * i, f'x{i}', 'call', shape(F32), (), (
        i + 1,)), instruction(100 * i + 1, f'y{i}', 'call', shape(F32), (100 * i,), (i + 1,))])
            for i in range(2, 42)]
    for data in around(computation(1, 'main', every_call(2)), *tree,
                       computation(42, 'leaf', [instruction(9000, 'leaf')])):
        everything(data, timeout=30, rss=150 * MB)


@case
def fusions_that_share_what_they_consist_of():
    """2^40 fused instructions, from a valid program of 4 KB."""
    one_of = shape(F32, 8)
    tree = [computation(i, f'c{i}', [instruction(100 * i + k, f'{n}{i}', 'fusion', one_of,
                                                 (100 * i,) * k, (i + 1,), more=L(11, 'kLoop'))
                                     for k, n in enumerate('xy')], root=100 * i + 1)
            for i in range(41, 1, -1)]
    body = module('m', computation(42, 'leaf', [instruction(9000, 'leaf', 'custom-call')],
                                   root=9000), *tree,
                  computation(1, 'main', [instruction(10, 'fusion', 'fusion', one_of, (), (2,),
                                                      more=L(11, 'kLoop'))], root=10),
                  more=b'\x22\x00')
    op = event_metadata(1, '%fusion = f32[8] fusion()', 'fusion', told(program_id=1, symbol_id=2))
    core = plane(3, '/device:TPU:0', [line(3, 'XLA Ops', [event(1, 0, 5)])],
                 op + b''.join(stat_metadata(i, n) for n, i in KEY.items()))
    file, found = everything(space(core, programs((1, 'm', body))), rss=150 * MB)
    must(found['op_metrics'] > 30000, f'{found["op_metrics"]} ops')
    same(one(f"SELECT count(DISTINCT code) || ', lost ' || max(lost_bytes) "
             f"FROM op_metrics({q(file)}) CROSS JOIN prof_issues({q(file)})"
             " WHERE code = 'too_many_children' AND name = 'fusion';"), '1, lost 0')


@case
def children_that_share_children():
    """Each metadata entry has the next two as children: a million of ops, of a file of a
    megabyte."""
    n = 20000
    shared = b''.join(event_metadata(i, f'%c{i} = f32[] add()', 'c', told(
        program_id=1, symbol_id=i), b''.join(b'\x30' + varint(k) for k in (i + 1, i + 2) if k <= n))
                      for i in range(1, n + 1))
    core = plane(3, '/device:TPU:0', [line(3, 'XLA Ops', [event(1, 0, 5)])],
                 shared + b''.join(stat_metadata(i, n) for n, i in KEY.items()))
    everything(space(core), rss=150 * MB)


@case
def operands_in_a_circle():
    ops = [instruction(10 + i, n, 'add', shape(F32, 8), (10 + (i + 1) % 3, 10 + i, 77))
           for i, n in enumerate(('loop', 'call', 'fusion'))]
    for data in around(computation(1, 'main', ops)):
        everything(data)


@case
def a_long_chain_of_calls():
    chain = [computation(i, f'c{i}', [instruction(100 * i, f'x{i}', 'call', shape(F32), (),
                                                  (i + 1,))]) for i in range(2, 5000)]
    for data in around(computation(1, 'main', every_call(2)), *chain,
                       computation(5000, 'leaf', [instruction(999999, 'leaf')])):
        everything(data)


@case
def ids_that_match_nothing():
    ops = [instruction(10, 'loop', 'while', shape(F32, 8), (999,), (888, 777)),
           instruction(11, 'call', 'call', shape(F32, 8), (10, 10), (666,)),
           instruction(12, 'fusion', 'fusion', shape(F32, 8), (-1,), (2**62,)),
           instruction(12, 'cond', 'conditional', shape(F32, 8)), instruction(11, 'loop', 'add')]
    for data in around(computation(1, 'main', ops, root=555), computation(1, 'again', ops),
                       entry=444):
        everything(data)
    kernels = [('k', i * US, US, told(correlation_id=i * 1000, group_id=2**63 + i, program_id=i))
               for i in range(5)]
    launches = [('cuLaunchKernel', i * US, US, told(correlation_id=i * 1000 + 1, group_id=77 - i))
                for i in range(5)]
    everything(space(plane_of(2, '/device:GPU:0', [(1, 'Stream #1', kernels)]),
                     plane_of(1, '/host:CPU', [(1, 'main', launches)])))


# ---- times and counters ----

def ops_of_both(events):
    """The same events as ops of a TPU's core and as kernels of a GPU, beside a host thread."""
    host = plane_of(1, '/host:CPU', [(1, 'main', [(n + ':' + n, *rest) for n, *rest in events])])
    return (space(host, tpu([(f'%{n} = f32[] add()', at, duration, stats)
                             for n, at, duration, stats in events])),
            space(host, plane_of(2, '/device:GPU:0', [(1, 'Stream #1', [
                (n, at, d, list(s) + told(tf_op='a/' + n + ':' + n)) for n, at, d, s in events])])))


@case
def zero_durations():
    for data in ops_of_both([(n, 0, 0, told(flops=1000, bytes_accessed=1000)) for n in 'abc']):
        everything(data)


@case
def negative_and_overlapping():
    for data in ops_of_both([('a', 0, -5, ()), ('b', -9, 3, ()), ('c', 0, 10 * US, ()),
                             ('d', 5 * US, 10 * US, ()), ('e', 5 * US, 5 * US, ()),
                             ('f', 4 * US, -INT64, ())]):
        everything(data)


@case
def times_at_the_ends_of_int64():
    for data in ops_of_both([('a', INT64, INT64, ()), ('b', 0, INT64, ()), ('c', -INT64, INT64, ()),
                             ('d', -INT64 - 1, -INT64 - 1, ()), ('e', 1, INT64 - 1, ())]):
        everything(data)


@case
def counters_beyond_64_bits():
    """Sums of such counters wrap, as in XProf, or are doubles; nothing overflows in between."""
    most = told(flops=2**64 - 1, bytes_accessed=2**64 - 1, model_flops=2**64 - 1,
                raw_bytes_accessed=2**64 - 1, device_duration_ps=2**64 - 1,
                device_offset_ps=2**64 - 1)
    for data in ops_of_both([(n, i * US, US, most) for i, n in enumerate('aaabbbccc')]):
        everything(data)
    for data in ops_of_both([(n, i * US, US,
                              told(flops=-INT64, bytes_accessed=-1, device_duration_ps=-5))
                             for i, n in enumerate('aab')]):
        everything(data)
    aggregated = plane_of(2, '/device:GPU:0', [(1, 'Stream #1', [('k', None, INT64, told(
        tf_op='x:X'), INT64), ('k', None, 5, told(tf_op='x:X'), -INT64), ('k', None, 0, (), 0)])])
    everything(space(aggregated))
