# SPDX-License-Identifier: Apache-2.0
"""Hostile HLO programs.

Whatever the bytes are, the shell ends by itself, in time and within memory, with the rows that
could be read and an issue for what could not."""
import os
import random

from lib.cases import case, must, same
from lib.hlo import (ALLOC, F32, FREE, PRED, SHARE, allocation, assignment, buffer, computation,
                     instruction, ints, module, proto, shape, trace, tuple_of)
from lib.hostile import MB, helpful, one, q, rows, shell
from lib.shell import path, put
from lib.wire import L, Plane, V, event_metadata, plane, space, stat, stat_metadata, varint

TABLES = ['hlo_modules', 'hlo_computations', 'hlo_instructions', 'hlo_operands',
          'buffer_allocations', 'heap_timeline', 'memory_peaks', 'hlo_text']


def touched(file, timeout=60, rss=None):
    """Reads every column of every table of programs; {table: rows} and the codes of what was
    lost."""
    a = shell(''.join(f"SELECT '{t}', count(*) FROM (SELECT * FROM {t}({q(file)}) "
                      f"LIMIT -1 OFFSET 0);" for t in TABLES)
              + f"SELECT 'issue:' || code, count FROM prof_issues({q(file)});", timeout=timeout)
    must(not a.err, a.err[:400])
    if rss:
        must(a.rss < rss, f'peak {a.rss // MB} MB')
    return {r[0]: int(r[1]) for r in a.rows}


def unreadable(file, **how):
    """A program that exists, but has no rows."""
    found = touched(file, **how)
    same({t: found[t] for t in TABLES}, dict.fromkeys(TABLES, 0))
    must('issue:unreadable_program' in found, f'no issue: {found}')


def plain(*instructions, buffers=None, more=b''):
    return proto(module('m', computation(1, 'main', instructions), more=more), buffers)


def nested(field, inside, depth):
    for _ in range(depth):
        inside = L(field, inside)
    return inside


# Nesting.

@case
def an_output_that_is_a_part_of_itself():
    ops = [instruction(1, 'a', 'parameter'),
           instruction(2, 'part', 'get-tuple-element', operands=(2,), more=V(13, 1)),
           instruction(3, 'long', 'negate', operands=(1,), more=L(43, b'x' * 20 * MB))]
    plan = assignment([buffer(1, 16, 2)], [allocation(0, 16, [(1, 0, 16)], live_out=True)])
    file = put('part.hlo.pb', proto(module('m', computation(1, 'main', ops, root=2)), plan))
    a = shell(f'SELECT hlo_op, output_shape IS NULL FROM buffer_allocations({q(file)});')
    must(a.rows == [['part', '1']] and a.rss < 150 * MB, f'{a.rows}, peak {a.rss // MB} MB')


@case
def nested_shapes():
    for depth in (200, 10000, 60000):
        unreadable(put('deep.hlo.pb',
                       plain(instruction(1, 'a', shape=V(2, 13) + nested(4, V(2, 11), depth)))))
    found = touched(put('ok.hlo.pb',
                        plain(instruction(1, 'a', shape=V(2, 13) + nested(4, V(2, 11), 90)))))
    same(found['hlo_instructions'], 1)


@case
def nested_in_every_place():
    """Every field number of an instruction as deeply nested messages, whatever the field is."""
    sql, pile = '', nested(4, V(1, 1), 30000)
    for number in range(1, 104):
        file = put(f'pile{number}.hlo.pb', plain(instruction(1, 'a', more=nested(number, pile, 2))))
        sql += (f"SELECT count(*) FROM hlo_instructions({q(file)}); SELECT count(*) "
                f"FROM hlo_text({q(file)});")
    a = shell(sql)
    must(not a.err, a.err[:300])


@case
def nested_text_of_shapes():
    for text in ('(' * 100000, '((((' * 20 + 'f32[]', 'b(' * 100000, 'f32[' + '1,' * 100000,
                 'f32[1]{0:P' + '(' * 100000, 'f32[1]{0:T' + '(1)' * 100000 + '}'):
        a = shell(f'SELECT padded_bytes({q(text)});')
        must(a.err or a.rows == [['4']], f'{text[:20]}: {a.rows}')


# Sizes.

@case
def empty_messages_by_the_million():
    """Two bytes on the wire, hundreds in memory."""
    unreadable(put('empty.hlo.pb', L(1, L(1, 'm'), L(3, b'\x12\x00' * (4 * MB)), V(5, 1))),
               rss=600 * MB)
    unreadable(put('shapes.hlo.pb',
                   plain(instruction(1, 'a', shape=V(2, 13) + b'\x22\x00' * (4 * MB)))),
               rss=600 * MB)


@case
def dimensions_beyond_int64():
    big = 2 ** 62
    shapes = [shape(F32, big, big), shape(F32, -1), V(2, F32) + ints(3, 4) + L(5, ints(1, 7)),
              V(2, F32) + ints(3, 4, 4) + L(5, ints(1, 0, 0) + L(6, ints(1, 8, 128))),
              V(2, F32) + ints(3, 4) + L(5, ints(1, 0) + L(6, ints(1, 0))),
              V(2, F32) + ints(3, 4) + L(5, ints(1, 0) + L(6, ints(1, -8))), V(2, 99) + ints(3, 4),
              V(2, F32) + ints(3, 4) + L(5, ints(1, 0) + V(7, 2 ** 62)),
              V(2, F32) + ints(3, 4) + L(5, ints(1, 0) + V(7, -4)),
              V(2, F32) + ints(3, 4) + L(5, ints(1, 0) + L(6, ints(1, 2 ** 62)) + V(16, -3)),
              V(2, -5), tuple_of(*[shape(F32, 2 ** 60)] * 9),
              V(2, F32) + ints(3, 100)
              + L(5, ints(1, 0) + L(6, ints(1, 8)) + L(17, V(1, 0) + ints(2, 90, 30, -5)))]
    file = put('dims.hlo.pb',
               plain(*[instruction(i + 1, f'i{i}', shape=s) for i, s in enumerate(shapes)],
                     instruction(99, 'ok', shape=shape(F32, 4))))
    same(touched(file)['hlo_instructions'], len(shapes) + 1)
    same(rows(f"SELECT hlo_op, padded_bytes FROM hlo_instructions({q(file)}) "
              f"WHERE padded_bytes IS NOT NULL;"), [['i2', '16'], ['ok', '16']])


@case
def buffers_beyond_int64():
    big = 2 ** 63 - 1
    ops = [instruction(i, f'i{i}') for i in range(1, 5)]
    buffers = assignment([buffer(i, big, i) for i in range(1, 5)],
                         [allocation(0, big, [(i, big, big) for i in range(1, 5)]),
                          allocation(1, big, parameter=True), allocation(2, big)],
                         [trace(*[(ALLOC, i, 'x') for i in range(1, 5)])])
    found = touched(put('big.hlo.pb', plain(*ops, buffers=buffers)))
    same((found['memory_peaks'], found['heap_timeline'], found.get('issue:heap_simulation')),
         (1, 2, 1))


@case
def colors_by_the_thousand():
    buffers = assignment([buffer(i, 8, 1, color=i) for i in range(1, 5000)],
                         [allocation(i, 8, [(i, 0, 8)], color=i) for i in range(1, 5000)],
                         [trace(*[(ALLOC, i, 'x') for i in range(1, 5000)])])
    found = touched(put('colors.hlo.pb', plain(instruction(1, 'a'), buffers=buffers)))
    must(found['memory_peaks'] == 64 and 'issue:memory_spaces' in found, str(found))


def terse(name, n):
    """A program of n parts with hardly any content."""
    rest = instruction(0, '')[2:-1]  # between the name and the id
    add = [L(1, b'add.%d' % i) + rest + varint(i) for i in range(1, n + 1)] if name in (
        'instructions', 'computations', 'allocations') else []
    if name == 'nothing':
        return proto(L(1, 'm') + L(3, L(1, 'main') + b''.join(L(2, V(35, i)) for i in range(n))
                                   + V(5, 1)) + V(6, 1))
    if name == 'computations':
        return proto(module('m', *[computation(i, f'c{i}', [op]) for i, op in enumerate(add, 1)]))
    if name == 'allocations':
        return plain(*add, buffers=assignment(
            [buffer(i, 512, i) for i in range(1, n + 1)],
            [allocation(i, 512, [(i, 0, 512)]) for i in range(1, n + 1)],
            [L(1, V(1, ALLOC) + V(2, i)) + L(1, V(1, FREE) + V(2, i)) for i in range(1, n + 1)]))
    if name == 'aliases':
        return plain(instruction(1, 'p'),
                     buffers=b''.join(L(2, V(1, 1) + L(2, V(4, 1) + ints(3, i % 100)))
                                      for i in range(n)))
    if name == 'events':
        return plain(instruction(1, 'p'),
                     buffers=assignment([buffer(1, 8, 1)], [allocation(0, 8, [(1, 0, 8)])],
                                        [(L(1, V(2, 1)) + L(1, V(1, FREE) + V(2, 1))) * (n // 2)]))
    if name == 'compiled':
        kind, rest = L(1, 'add'), instruction(0, '', 'fusion', shape(F32, 8, 16))[2:-1]
        file, more = L(3, '/opt/layers/attentions.py'), L(11, 'kLoop') + L(68) + L(82)
        return plain(*[L(1, b'loop_add_fusion.%d' % i) + rest + varint(i + 1) + ints(36, i) + L(
            7, kind, L(2, b'jit(train_step)/jit(main)/layer_%d/mlp/add_%d' % (i % 96, i)), file,
            V(4, i % 900)) + more for i in range(n)])
    return plain(*add)


@case
def memory_of_programs():
    """Twice the size plus 64 MB, whatever the parts contain. For programs of very small parts,
    costs are left out if there are many parts, and everything if there are too many."""
    bare = shell('SELECT 1;').rss
    sql = ''.join(f"SELECT '{t}', count(*) FROM (SELECT * FROM {t}({{0}}) LIMIT -1 OFFSET 0);"
                  for t in TABLES)
    sql += ("SELECT code, 1 FROM prof_issues({0}) WHERE code IN ('unreadable_program', "
            "'program_costs');")
    whole, costs, refused = [], [['program_costs', '1']], [['unreadable_program', '1']]
    for name, n, lost in (('nothing', 400000, costs), ('computations', 80000, whole),
                          ('computations', 400000, refused), ('allocations', 50000, whole),
                          ('allocations', 150000, refused),
                          ('instructions', 250000, whole), ('instructions', 700000, costs),
                          ('aliases', 400000, whole), ('events', 2500000, refused),
                          ('compiled', 250000, whole)):
        f = put(f'{name}.hlo.pb', terse(name, n))
        a = shell(sql.format(q(f)), timeout=120)
        must(not a.err, a.err[:300])
        same((name, n, a.rows[0], a.rows[len(TABLES):]),
             (name, n, ['hlo_modules', str(int(lost is not refused))], lost))
        limit = 2 * os.path.getsize(f) + 64 * MB + bare
        must(a.rss < limit, f'{name}, {os.path.getsize(f) // MB} MB: peak {a.rss // MB} MB, '
             f'limit {limit // MB} MB')
        os.unlink(f)


@case
def programs_of_long_profiles():
    """What a program may take does not depend on how long the profile is: those for GPUs and CPUs
    take four times their size."""
    metadata = Plane('/host:metadata', 1)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': terse('instructions', 3000)}}, key=1)
    file = put('long.xplane.pb', space(metadata.bytes()) + L(100, bytes(96 * MB)))
    same(rows(f"SELECT count(*) FROM hlo_instructions({q(file)});"), [['3000']])
    os.unlink(file)


@case
def graphs_along_long_schedules():
    """Kernels that are named after the first and the last of 100,000 instructions in turn, with
    others between them: no place is searched for far away."""
    n = 100000
    fused = [computation(i, f'f{i}', [instruction(10 * i, f'p{i}', 'parameter'),
                                      instruction(10 * i + 1, f'x{i}', code, operands=(10 * i,))],
                         root=10 * i + 1) for i, code in ((2, 'negate'), (3, 'abs'), (4, 'abs'))]
    ops = [instruction(100, 'negate_1', 'fusion', calls=(2,)),
           instruction(101, 'abs_1', 'fusion', calls=(3,)),
           instruction(102, 'abs_2', 'fusion', calls=(4,))]
    ops += [instruction(1000 + i, f'call_{i}', 'custom-call') for i in range(n)]
    order = [100, *range(1000, 1000 + n), 101, 102]
    data = proto(module('m', *fused, computation(1, 'main', ops, root=102),
                        more=L(7, L(1, V(1, 1) + L(2, ints(1, *order))))))
    metadata, gpu = Plane('/host:metadata', 1), Plane('/device:GPU:0', 2)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': data}}, key=1)
    stats = {'program_id': {'uint64': 1}, 'hlo_op': {'str': 'graph'},
             'correlation_id': {'uint64': 1}}
    gpu.line(1, 'Stream #1', [(('negate_1', 'abs_1', 'gemm')[i % 3], i * 10, 5, stats)
                              for i in range(n)])
    file = put('long.xplane.pb', space(gpu.bytes(), metadata.bytes()))
    got = shell(f"SELECT hlo_op, count(*) FROM graph_kernels({q(file)}) GROUP BY 1 ORDER BY 1;",
                timeout=30)
    same(got.rows, [['NULL', str(n // 3 * 2)], ['negate_1', str(n // 3 + 1)]])
    os.unlink(file)


@case
def messages_in_pieces():
    """A message that comes several times is merged from all its bytes, at every level; for numbers,
    the last counts; lists have all items."""
    pieces = [V(2, PRED), V(2, F32), ints(3, 8), V(3, 128), L(5, ints(1, 1)), L(5, ints(1, 0)),
              L(5, L(6, ints(1, 8))), L(5, V(8, 5))]
    split = b''.join(L(3, p) for p in pieces)
    ops = [instruction(1, 'whole', shape=V(2, F32) + ints(3, 8, 128)
                       + L(5, ints(1, 1, 0) + L(6, ints(1, 8)) + V(8, 5))),
           L(1, 'x') + L(1, 'split') + L(2, 'add') + split + V(35, 2)]
    body = L(1, 'main') + V(5, 1)
    file = put('pieces.hlo.pb', L(1, L(1, 'm') + L(3, body + b''.join(L(2, o) for o in ops)))
               + L(1, V(5, 7)) + L(1, V(6, 1)))
    got = rows(f"SELECT hlo_op, program_id, shape FROM hlo_instructions({q(file)}) ORDER BY 1;")
    same(got, [[name, '7', 'f32[8,128]{1,0:T(8)S(5)}'] for name in ('split', 'whole')])


@case
def large_messages_in_pieces():
    """The bytes of a large program are given back while it is read, but not those that are read
    twice."""
    ops = [[instruction(i, f'op.{i}', 'add', shape(F32, 8, 16), (i - 1,),
                        op_name=f'jit(step)/layer_{i}/add') for i in range(first, first + 30000)]
           for first in (1, 30001)]
    parts = [L(1, 'm') + L(3, computation(1, 'one', ops[0])) + V(5, 7),
             L(3, computation(2, 'two', ops[1]))]
    buffers = L(3, assignment([buffer(1, 64, 5)], [allocation(0, 64, [(1, 0, 64)])]))
    sql = (''.join(f"SELECT '{t}', count(*) FROM {t}({{0}});" for t in TABLES) + "SELECT "
           "sum(instruction_id), sum(length(hlo_op)), sum(length(expression)), "
           "count(DISTINCT computation) FROM hlo_instructions({0});")
    answers = []
    for name, bytes_ in (('one', L(1, b''.join(parts)) + buffers),
                         ('two', L(1, parts[0]) + buffers + L(1, parts[1]))):
        a = shell(sql.format(q(put(f'{name}_piece.hlo.pb', bytes_))))
        must(not a.err and len(bytes_) > 4 * MB, a.err[:300])
        answers.append(a.rows)
    same(answers[1], answers[0])
    same(answers[0][-1][0], str(60000 * 60001 // 2))


# Time.

@case
def a_chain_of_a_hundred_thousand_aliases():
    n = 100000
    buffers = assignment([buffer(i, 8, 1) for i in range(n)],
                         [allocation(0, 8, [(i, 0, 8) for i in range(n)])],
                         [trace((ALLOC, 0, 'x'), *[(SHARE, i, 'x', i - 1) for i in range(1, n)],
                                *[(FREE, i, 'x') for i in range(n)])])
    touched(put('chain.hlo.pb', plain(instruction(1, 'a'), buffers=buffers)), timeout=20)


@case
def a_heap_that_grows_for_ever():
    n = 200000
    buffers = assignment([buffer(i, 8, 1) for i in range(n)],
                         [allocation(0, 8 * n, [(i, 8 * i, 8) for i in range(n)])],
                         [trace(*[(ALLOC, i, 'x') for i in range(n)])])
    file = put('grows.hlo.pb', plain(instruction(1, 'a'), buffers=buffers))
    same(one(f"SELECT count(*), sum(live_at_peak), max(size_rank) "
             f"FROM buffer_allocations({q(file)});", timeout=20), [str(n), str(n), str(n - 1)])


@case
def one_id_for_everything():
    n = 50000
    buffers = assignment([buffer(1, 8, 1)] * n,
                         [allocation(0, 8, [(1, 0, 8)] * n), allocation(0, 8, [(1, 0, 8)] * n)],
                         [trace(*[(ALLOC, 1, 'x'), (FREE, 1, 'x')] * n)])
    found = touched(put('same.hlo.pb', plain(*[instruction(1, 'a', operands=(1,), calls=(1,))] * n,
                                             buffers=buffers)), timeout=40)
    same((found['hlo_instructions'], found['hlo_operands'], found['buffer_allocations']),
         (n, n, 2 * n))


def with_programs(entries, names=('Hlo Proto', 'program_id')):
    """An XSpace whose metadata plane has (metadata id, name, stats)."""
    return space(plane(1, '/host:metadata', metadata=b''.join(
        [event_metadata(i, name, stats=stats) for i, name, stats in entries]
        + [stat_metadata(i + 1, n) for i, n in enumerate(names)])))


@case
def programs_by_the_hundred_thousand():
    tiny = proto(module('t', computation(1, 'c', [instruction(1, 'a')])))
    file = put('many.xplane.pb',
               with_programs([(i, f't({i})', [stat(1, bytes=tiny)]) for i in range(100000)]))
    same(one(f"SELECT count(*), count(DISTINCT program_id) FROM hlo_modules({q(file)});",
             timeout=30), ['100000', '100000'])
    same(one(f"SELECT hlo_op FROM hlo_instructions({q(file)}) WHERE program_id = '77777';",
             timeout=10), 'a')
    bad = put('bad.xplane.pb',
              with_programs([(i, 't(5)', [stat(1, bytes=b'\xff')]) for i in range(100000)]))
    same(one(f"SELECT count(*) FROM hlo_modules({q(bad)});", timeout=30), '0')


# Identity.

@case
def programs_of_one_name_or_one_id():
    def body(op):
        return proto(module('jit_f', computation(1, 'c', [instruction(1, op)]), id=3))
    file = put('ids.xplane.pb', with_programs(
        [(1, 'jit_f(10)', [stat(1, bytes=b'\xff\xff')]),
         (2, 'jit_f(10)', [stat(1, bytes=body('second'))]),
         (3, 'jit_f(10)', [stat(1, bytes=body('third'))]),
         (4, 'jit_f(11)', [stat(1, bytes=body('other'))]),
         (5, 'jit_f', [stat(1, bytes=body('by_stat')), stat(2, uint64=2 ** 64 - 1)]),
         (6, 'jit_f', [stat(1, bytes=body('by_key'))]),
         (7, 'jit_f(99999999999999999999999)', [stat(1, bytes=body('too_long'))]),
         (8, 'no proto', [stat(1, str='x')]),
         (9, 'empty', [stat(1, bytes=b'')])]))
    same(rows(f"SELECT program_id, hlo_op FROM hlo_instructions({q(file)});"),
         [['10', 'second'], ['11', 'other'], ['18446744073709551615', 'by_stat'], ['6', 'by_key'],
          ['7', 'too_long']])
    told = dict(rows(f"SELECT code, count FROM (SELECT code, sum(count) AS count "
                     f"FROM prof_issues({q(file)}) WHERE code NOT IN ('xprof_steps', 'no_steps') "
                     f"GROUP BY code);"))
    same(told, {'duplicate_program': '2', 'unreadable_program': '2', 'refused_program': '5'})
    a = shell(f"SELECT count(*) FROM hlo_instructions({q(file)}); SELECT code, sum(count) "
              f"FROM prof_issues({q(file)}) WHERE code NOT IN ('xprof_steps', 'no_steps') "
              f"GROUP BY code ORDER BY code;")
    same(a.rows[1:],
         [['duplicate_program', '2'], ['refused_program', '5'], ['unreadable_program', '2']])


@case
def spellings_of_libtpu():
    body = proto(module('jit_f', computation(1, 'c', [instruction(1, 'a')])))
    file = put('libtpu.xplane.pb',
               with_programs([(1, 'jit_f(12190760917235803885)', [stat(1, bytes=body)])],
                             names=('HLO Proto', 'program_id')))
    same(one(f"SELECT program_id FROM hlo_modules({q(file)});"), '12190760917235803885')


@case
def a_key_reads_one_program():
    """Reading one of forty programs takes a fortieth of the memory of all."""
    ops = [instruction(i, f'op{i}', op_name='a/b/c') for i in range(10000)]
    os.makedirs(path('dump'), exist_ok=True)
    for i in range(40):
        put(f'dump/m{i}.hlo.pb', proto(module(f'm{i}', computation(1, 'main', ops), id=i)))
    folder = q(path('dump'))
    idle = shell(f'SELECT count(*) FROM hosts({folder});').rss
    for where in ("hlo_module = 'm7'", "program_id = '7' AND hlo_op = 'op77'", "host = 'm7'"):
        a = shell(f"SELECT count(*) > 0 FROM hlo_instructions({folder}) WHERE {where};")
        must(a.rows == [['1']] and a.rss - idle < 8 * MB,
             f'{where}: {a.rows} in {(a.rss - idle) // MB} MB')
    a = shell(f"SELECT count(*) FROM hlo_instructions({folder});")
    must(a.rows == [['400000']] and a.rss - idle > 25 * MB,
         f'all: {a.rows} in {(a.rss - idle) // MB} MB')


@case
def a_thousand_programs_in_a_run():
    """They cost nothing until they are queried one by one."""
    main = computation(1, 'main', [instruction(k, f'op{k}', op_name='a/b/c') for k in range(200)])
    body = [proto(module(f'm{i}', main)) for i in range(1000)]
    file = put('thousand.xplane.pb',
               with_programs([(i, f'm{i}({i})', [stat(1, bytes=b)]) for i, b in enumerate(body)]))
    a = shell(f'SELECT count(*) FROM planes({q(file)}); SELECT count(*) '
              f'FROM trace_events({q(file)});')
    one = shell(f"SELECT count(*) FROM planes({q(file)}); SELECT count(*) "
                f"FROM hlo_instructions({q(file)}) WHERE program_id = '777';")
    all = shell(f'SELECT count(*) FROM planes({q(file)}); SELECT count(*) '
                f'FROM hlo_instructions({q(file)});')
    same((one.rows[1], all.rows[1]), (['200'], ['200000']))
    must(one.rss - a.rss < 4 * MB and all.rss - a.rss > 20 * MB,
         f'{a.rss // MB} MB without, {one.rss // MB} for one, {all.rss // MB} for all')


# Text.

@case
def names_that_are_not_utf8():
    file = put('utf8.hlo.pb', plain(
        instruction(1, b'a\xff\xfeb'.decode('latin1').encode('latin1').decode('latin1'))))
    bad = open(file, 'rb').read().replace('a\xff\xfeb'.encode(), b'a\xff\xfeb\xff\xff')
    with open(file, 'wb') as f:
        f.write(bad)
    found = touched(file)
    same((found['hlo_instructions'], found['issue:invalid_utf8']), (1, 1))
    same(one(f"SELECT hlo_op FROM hlo_instructions({q(file)});"), 'a??b??')


# Damage.

@case
def flipped_bytes():
    ops = [instruction(i, f'op{i}', 'fusion',
                       tuple_of(shape(F32, 8, 128, tile=(8, 128)), shape(F32)), (i - 1,), (1,),
                       'a/b', L(43, '{"x":1}')) for i in range(1, 9)]
    buffers = assignment([buffer(i, 64 * i, i, (i % 2,)) for i in range(1, 9)],
                         [allocation(0, 4096, [(i, 64 * i, 64) for i in range(1, 9)])],
                         [trace(*[(ALLOC, i, f'op{i}') for i in range(1, 9)],
                                *[(FREE, i, f'op{i}') for i in range(1, 9)])])
    good = bytearray(plain(*ops, buffers=buffers))
    r = random.Random(7)
    for n in range(150):
        bytes_ = bytearray(good)
        for _ in range(r.randint(1, 6)):
            bytes_[r.randrange(len(bytes_))] = r.randrange(256)
        a = shell(''.join(f"SELECT count(*) FROM (SELECT * "
                          f"FROM {t}({q(put('flip.hlo.pb', bytes_))}) "
                          f"LIMIT -1 OFFSET 0);" for t in TABLES))
        if a.err:
            helpful(a.err.split('\n')[0], path('flip.hlo.pb'))
