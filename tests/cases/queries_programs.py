# SPDX-License-Identifier: Apache-2.0
"""Queries about programs and their plans, on programs whose numbers are worked out by hand."""
from lib.cases import case, refused, same
from lib.hlo import (ALLOC, F32, FREE, S32, U8, allocation, assignment, buffer, computation,
                     instruction, module, proto, shape, trace, tuple_of)
from lib.made import host
from lib.shell import attached, rows
from lib.wire import L, Plane, US, V, space

MIB = 1 << 20
KIB = 1024 / MIB


def at(file, line):
    """Metadata of an instruction: an op type, an op name, a source line."""
    return L(7, L(1, 't'), L(2, 'f/' + file), L(3, file), V(4, line))


def plan(unit=MIB, program_id=1, root=14, padded=1024):
    """A parameter of 4 units; b (2), c (1), d (one byte, padded to a KiB) and e (2) come and go:

        event    0   1   2   3   4   5   6   7
                +b  +c  +d  -c  +e  -b  -d  -e      the heap is fullest after +e: 4 + b + d + e

    The temporaries have an allocation of 6 units. f lives in memory space 1. g is a fusion."""
    def u8(n, **layout):
        return shape(U8, n, **layout)
    inside = [instruction(11, 'p', 'parameter', u8(8)),
              instruction(12, 'n1', 'negate', u8(8), (11,)),
              instruction(13, 'n2', 'negate', u8(8), (12,)),
              instruction(14, 's', 'add', u8(8), (12, 13))]
    made = [instruction(1, 'a', 'parameter', u8(4 * unit), more=at('x.py', 1)),
            instruction(2, 'b', 'negate', u8(2 * unit), (1,), more=at('x.py', 2)),
            instruction(3, 'c', 'negate', u8(unit), (2,), more=at('x.py', 2)),
            instruction(4, 'd', 'copy', u8(1, tile=(padded,)), (3,), more=at('y.py', 7)),
            instruction(5, 'e', 'add', u8(2 * unit), (2,), more=at('x.py', 3)),
            instruction(6, 'f', 'negate', u8(256), (4,), more=at('y.py', 8)),
            instruction(7, 'g', 'fusion', u8(8), (6,), (2,), more=at('y.py', 9))]
    sizes = [4 * unit, 2 * unit, unit, padded, 2 * unit, 256]
    placed = [(2, 0, 2 * unit), (3, 2 * unit, unit), (4, 3 * unit, padded), (5, 4 * unit, 2 * unit)]
    allocations = [allocation(0, 4 * unit, [(1, 0, 4 * unit)], parameter=True),
                   allocation(1, 6 * unit, placed), allocation(2, 256, [(6, 0, 256)], color=1)]
    traced = [trace((ALLOC, 2, 'b'), (ALLOC, 3, 'c'), (ALLOC, 4, 'd'), (FREE, 3, 'd'),
                    (ALLOC, 5, 'e'), (FREE, 2, 'e'), (FREE, 4, 'e'), (FREE, 5, 'e')),
              trace((ALLOC, 6, 'f'), (FREE, 6, 'g'))]
    logical = [buffer(i + 1, size, i + 1, color=int(i == 5)) for i, size in enumerate(sizes)]
    computations = computation(2, 'fused', inside, root=root), computation(1, 'main', made, root=5)
    return proto(module('m', *computations, id=program_id),
                 assignment(logical, allocations, traced))


def profile(program, *events, also=None):
    """A host that ran events (instruction, start_us, duration_us[, id]) of the programs 1 and 2."""
    def ran(op, start, length, program_id=1):
        return op, start * US, length * US, {'hlo_op': {'str': op}, 'hlo_module': {'str': 'm'},
                                             'program_id': {'uint64': program_id}}
    metadata = Plane('/host:metadata', 9)
    for key, one in enumerate([program, also][:2 if also else 1]):
        metadata.meta('m(%d)' % (key + 1), stats={'Hlo Proto': {'bytes': one}}, key=key + 1)
    return space(metadata.bytes(), host(*[ran(*event) for event in events]).bytes())


def runs():
    """Two runs of one program; all that is counted in units is half as large in the second."""
    return {'one': profile(plan(), ('d', 0, 3), ('g', 4, 5)),
            'two': profile(plan(MIB // 2), ('d', 0, 7), ('g', 8, 1))}


@case
def plans_of_two_runs():
    """Programs of one id and name in two runs are two, the larger first."""
    same(attached('SELECT run, peak_mib, parameters_mib, outputs_mib, temporaries_mib, padding_mib,'
                  ' fragmentation_mib, allocated_mib, peak_op, hosts FROM peak_memory', **runs()),
         [('one', 8 + KIB, 4.0, 0.0, 4 + KIB, 1023 / MIB, 2 - KIB, 10.0, 'e', 1),
          ('two', 4 + KIB, 2.0, 0.0, 2 + KIB, 1023 / MIB, 1 - KIB, 5.0, 'e', 1)])
    same(attached('SELECT run, memory_space, allocated_mib, peak_mib, unused_mib,'
                  ' round(unused_percent, 9), hosts FROM fragmentation WHERE n = 2', **runs()),
         [('one', 0, 6.0, 4 + KIB, 2 - KIB, round(100 * (2 - KIB) / 6, 9), 1),
          ('two', 0, 3.0, 2 + KIB, 1 - KIB, round(100 * (1 - KIB) / 3, 9), 1)])
    same(attached('SELECT run, hlo_op, kind, size_mib, round(peak_percent, 9), expansion, tf_op,'
                  ' source_line FROM largest_buffers', **runs()),
         [(run, op, kind, size, round(100 * size / peak, 9), expansion, tf_op, line)
          for run, op, kind, size, peak, expansion, tf_op, line in (
              ('one', 'a', 'parameter', 4.0, 8 + KIB, 1.0, 'f/x.py', 'x.py:1'),
              ('one', 'b', 'temporary', 2.0, 8 + KIB, 1.0, 'f/x.py', 'x.py:2'),
              ('one', 'e', 'temporary', 2.0, 8 + KIB, 1.0, 'f/x.py', 'x.py:3'),
              ('one', 'd', 'temporary', KIB, 8 + KIB, 1024.0, 'f/y.py', 'y.py:7'),
              ('two', 'a', 'parameter', 2.0, 4 + KIB, 1.0, 'f/x.py', 'x.py:1'),
              ('two', 'b', 'temporary', 1.0, 4 + KIB, 1.0, 'f/x.py', 'x.py:2'),
              ('two', 'e', 'temporary', 1.0, 4 + KIB, 1.0, 'f/x.py', 'x.py:3'),
              ('two', 'd', 'temporary', KIB, 4 + KIB, 1024.0, 'f/y.py', 'y.py:7'))])
    same(attached("SELECT run, user_file || ':' || user_line, buffers, size_mib, padding_mib,"
                  ' round(percent, 9), largest_op FROM memory_by_source_line', **runs()),
         [(run, line, 1, size, padding, round(100 * size / whole, 9), op)
          for run, line, size, padding, whole, op in (
              ('one', 'x.py:1', 4.0, 0.0, 8 + KIB, 'a'), ('one', 'x.py:2', 2.0, 0.0, 8 + KIB, 'b'),
              ('one', 'x.py:3', 2.0, 0.0, 8 + KIB, 'e'),
              ('one', 'y.py:7', KIB, 1023 / MIB, 8 + KIB, 'd'),
              ('two', 'x.py:1', 2.0, 0.0, 4 + KIB, 'a'), ('two', 'x.py:2', 1.0, 0.0, 4 + KIB, 'b'),
              ('two', 'x.py:3', 1.0, 0.0, 4 + KIB, 'e'),
              ('two', 'y.py:7', KIB, 1023 / MIB, 4 + KIB, 'd'))])
    same(attached('SELECT run, hlo_op, self_time_us, padding_time_us FROM padding_waste', **runs()),
         [('one', 'd', 3.0, 3 * 1023 / 1024), ('two', 'd', 7.0, 7 * 1023 / 1024)])
    same(attached('SELECT run, hlo_op, self_time_us, occurrences FROM fusion_breakdown', **runs()),
         [('one', 'g', 5.0, 1), ('two', 'g', 1.0, 1)])


@case
def other_memory_spaces():
    """Only the space that is asked for counts; an error about another lists those that are."""
    data = runs()['one']
    same(rows("SELECT peak_mib, allocated_mib, peak_op FROM peak_memory('{x}', 10, 1)", x=data),
         [(256 / MIB, 256 / MIB, 'f')])
    for query, given in (('largest_buffers', '10, 1'), ('live_at', 'NULL, NULL, 20, 1')):
        same(rows("SELECT hlo_op, size_mib FROM %s('{x}', %s)" % (query, given), x=data),
             [('f', 256 / MIB)], query)
    same(rows("SELECT user_file || ':' || user_line, percent "
              "FROM memory_by_source_line('{x}', 20, 1)", x=data),
         [('y.py:8', 100.0)])
    for term in ("peak_memory('{x}', 10, 2)", "largest_buffers('{x}', 10, 2)",
                 "memory_by_source_line('{x}', 20, 2)", "live_at('{x}', NULL, NULL, 20, 2)",
                 "live_at('{x}', NULL, 'm', 20, 2)", "live_at('{x}', NULL, '1', 20, 2)"):
        says('SELECT * FROM ' + term, 'no program uses memory space 2; spaces in use: 0,1',
                x=[data, data])
    same(rows("SELECT hlo_op FROM remat_candidates('{x}', 10, 16.0, 1)", x=data), [])


def says(sql, words, **sources):
    """The query is refused with an error that ends with these words."""
    refused(words + '\n', rows, sql, **sources)


@case
def live_at_an_event():
    """What an event allocates is live at it, and what it frees still is; parameters always are."""
    data = runs()['one']
    for event, live in enumerate(('ab', 'abc', 'abcd', 'abcd', 'abed', 'abed', 'aed', 'ae', 'a')):
        found = rows("SELECT group_concat(hlo_op, '') FROM live_at('{x}', %d)" % event, x=data)
        same(found, [(live,)], 'event %d' % event)
    same(rows("SELECT at_event, hlo_op, kind, size_mib, expansion, start_event, end_event,"
              " source_line, hosts FROM live_at('{x}')", x=data),
         [(4, 'a', 'parameter', 4.0, 1.0, None, None, 'x.py:1', 1),
          (4, 'b', 'temporary', 2.0, 1.0, 0, 5, 'x.py:2', 1),
          (4, 'e', 'temporary', 2.0, 1.0, 4, 7, 'x.py:3', 1),
          (4, 'd', 'temporary', KIB, 1024.0, 2, 6, 'y.py:7', 1)])
    for module_or_id in ("'m'", "'1'"):
        same(rows("SELECT count(*) FROM live_at('{x}', 4, %s)" % module_or_id, x=data), [(4,)])
    says("SELECT * FROM live_at('{x}', 9)", 'there is no event 9; events are 0 to 8', x=data)
    says("SELECT * FROM live_at('{x}', 9, NULL, 20, 1)", 'there is no event 9; events are 0 to 2',
         x=data)
    says("SELECT * FROM live_at('{x}', 4, 'n')", "no program is called 'n'; SELECT DISTINCT"
            " hlo_module FROM hlo_modules lists them", x=data)


@case
def hosts_of_one_plan():
    """Hosts with equal numbers are one row, with the sum of their times; others have their own."""
    hosts = [profile(plan(), ('d', 0, 3), ('g', 4, 5)),
             profile(plan(), ('d', 0, 7), ('g', 8, 1)),
             profile(plan(MIB // 2), ('d', 0, 1))]
    same(rows("SELECT hlo_op, memory_space, padding_mib, size_mib, expansion, live_at_peak,"
              " source_line, self_time_us, padding_time_us, hosts FROM padding_waste('{x}')",
              x=hosts[:2]),
         [('d', 0, 1023 / MIB, KIB, 1024.0, 1, 'y.py:7', 10.0, 10 * 1023 / 1024, 2)])
    same(rows("SELECT hlo_op, self_time_us, occurrences, instructions, opcodes, tf_op,"
              " source_line, hosts FROM fusion_breakdown('{x}')", x=hosts[:2]),
         [('g', 6.0, 2, 3, 'negate 2, add 1', 'f/y.py', 'y.py:9', 2)])
    for query, column in (('peak_memory', 'allocated_mib'), ('fragmentation', 'allocated_mib + 4'),
                          ('largest_buffers', 'size_mib + 6'), ('live_at', 'size_mib + 6'),
                          ('memory_by_source_line', 'size_mib + 6')):
        first = rows("SELECT %s, hosts FROM %s('{x}') LIMIT 1" % (column, query), x=hosts)
        same(first, [(10.0, 2)], query)
    same(rows("SELECT host, peak_mib, hosts FROM peak_memory('{x}')", x=hosts),
         [('host0', 8 + KIB, 2), ('host2', 4 + KIB, 1)])
    same(rows("SELECT hlo_op, size_mib, hosts FROM largest_buffers('{x}')", x=hosts),
         [('a', 4.0, 2), ('a', 2.0, 1), ('b', 2.0, 2), ('e', 2.0, 2), ('b', 1.0, 1), ('e', 1.0, 1),
          ('d', KIB, 2), ('d', KIB, 1)])


@case
def cheap_to_compute_again():
    """b and d live across the peak: b is an operation a byte, d none. The trace has 8 events."""
    columns = ('hlo_op, opcode, size_mib, round(peak_percent, 9), lived_percent, flops,'
               ' flops_per_byte')
    want = [('b', 'negate', 2.0, round(200 / (8 + KIB), 9), 100 * 5 / 8, 2 * MIB, 1.0),
            ('d', 'copy', KIB, round(100 * KIB / (8 + KIB), 9), 100 * 4 / 8, 0, 0.0)]
    data = runs()['one']
    same(rows("SELECT %s FROM remat_candidates('{x}')" % columns, x=data), want)
    same(rows("SELECT %s FROM remat_candidates('{x}', 10, 1.0)" % columns, x=data), want)
    same(rows("SELECT %s FROM remat_candidates('{x}', 10, 0.999)" % columns, x=data), want[1:])
    same(attached('SELECT run, hlo_op FROM remat_candidates', **runs()),
         [('one', 'b'), ('one', 'd'), ('two', 'b'), ('two', 'd')])


@case
def programs_of_one_name():
    """Two equal programs of one name have rows and times of their own, the smaller id first."""
    data = profile(plan(), ('d', 0, 3), ('g', 4, 5), ('d', 10, 1, 2), ('g', 12, 2, 2),
                   also=plan(program_id=2))
    for query, n in (('peak_memory', 10), ('fragmentation', 2)):
        same(rows("SELECT program_id, hosts FROM %s('{x}', %d)" % (query, n), x=data),
             [('1', 1), ('2', 1)], query)
    for query, first in (('largest_buffers', 'aa'), ('live_at', 'aa'), ('padding_waste', 'dd'),
                         ('remat_candidates', 'bb'), ('fusion_breakdown', 'gg')):
        found = rows("SELECT hlo_op, hosts FROM %s WHERE source = '{x}' AND n = 2" % query, x=data)
        same(found, [(op, 1) for op in first], query)
    same(rows("SELECT user_file || ':' || user_line, hosts "
              "FROM memory_by_source_line('{x}', 2)", x=data),
         [('x.py:1', 1), ('x.py:1', 1)])
    same(rows("SELECT self_time_us FROM padding_waste('{x}')", x=data), [(3.0,), (1.0,)])
    same(rows("SELECT self_time_us, occurrences FROM fusion_breakdown('{x}')", x=data),
         [(5.0, 1), (2.0, 1)])


@case
def operations_of_a_fusion():
    """Two negations and an addition of 8 elements. Without root a body ends with its last."""
    query = ("SELECT model_flops_actual, flops > 0, bytes_accessed > 0, flops, bytes_accessed"
             " FROM hlo_instructions('{x}') WHERE hlo_op = 'g'")
    known = rows(query, x=profile(plan()))
    same(known[0][:3], (24, 1, 1))
    same(rows(query, x=profile(plan(root=None))), known)
    same(rows("SELECT flops, instructions FROM fusion_breakdown('{x}')", x=profile(plan())),
         [(24, 3)])


@case
def programs_without_memory():
    """A program has a peak in a memory space in which something is allocated."""
    made = [instruction(1, 'a', 'negate', shape(U8, 256))]
    def program(*assigned):
        return proto(module('m', computation(1, 'main', made, root=1)), *assigned)
    far = assignment([buffer(1, 256, 1, color=1)], [allocation(0, 256, [(1, 0, 256)], color=1)])
    for space_asked, want in ((0, []), (1, [('m', 256 / MIB)])):
        same(rows("SELECT hlo_module, allocated_mib FROM peak_memory('{x}', 10, %d)" % space_asked,
                  x=program(far)), want)


@case
def one_instruction_twice_on_a_device():
    """A TPU may have an instruction under several symbols: the times of all are those of the op."""
    core = Plane('/device:TPU:0')
    events = []
    for i, (name, length) in enumerate((('g', 3), ('g', 4), ('d', 1), ('d', 5))):
        meta = core.meta('%%%s = u8[%d] op()' % (name, i + 1), name, {
            'program_id': {'uint64': 1}, 'symbol_id': {'uint64': i + 1}})
        events.append((meta, 10 * i * US, length * US))
    metadata = Plane('/host:metadata', 9)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': plan()}}, key=1)
    x = space(core.line(1, 'XLA Ops', events).bytes(), metadata.bytes())
    same(rows("SELECT hlo_op, self_time_us, occurrences FROM fusion_breakdown('{x}')", x=x),
         [('g', 7.0, 2)])
    same(rows("SELECT hlo_op, self_time_us FROM padding_waste('{x}')", x=x), [('d', 6.0)])


@case
def lines_that_xprof_derives():
    """Events of a derived line repeat others: they are no time of an instruction."""
    derived, metadata = -0x21524111, Plane('/host:metadata', 9)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': plan()}}, key=1)
    stats = {'hlo_op': {'str': 'g'}, 'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1}}
    events = [(op, 0, US, {**stats, 'hlo_op': {'str': op}}) for op in ('g', 'd')]
    x = space(Plane('/device:GPU:0').line(derived, 'XLA Ops', events).bytes(), metadata.bytes())
    same(rows("SELECT count(*) FROM trace_events('{x}') WHERE derived AND hlo_op = 'g'", x=x),
         [(1,)])
    same(rows("SELECT self_time_us, occurrences FROM fusion_breakdown('{x}')", x=x),
         [(None, None)])
    same(rows("SELECT self_time_us FROM padding_waste('{x}')", x=x), [(None,)])


@case
def fingerprint_of_an_operand_elsewhere():
    """An operand of another computation is not the first of the body."""
    def fused(operand):
        inside = [instruction(11, 'p', 'parameter', shape(U8, 8)),
                  instruction(12, 'n', 'negate', shape(U8, 8), (operand,))]
        main = [instruction(1, 'a', 'parameter', shape(U8, 8)),
                instruction(2, 'g', 'fusion', shape(U8, 8), (1,), (2,))]
        data = proto(module('m', computation(2, 'fused', inside, root=12),
                            computation(1, 'main', main, root=2)))
        query = "SELECT fingerprint FROM hlo_instructions('{x}') WHERE hlo_op = 'g'"
        return rows(query, x=data)[0][0]
    same(fused(11) is not None and fused(11) == fused(11), True)
    same(fused(11) == fused(1), False)


@case
def convolution_of_nothing():
    """Padding alone is convolved: no element of the input is met, so there is no operation."""
    window = L(15, L(1, V(1, 3), V(2, 1), V(3, 2), V(4, 2), V(5, 1), V(6, 1)))
    numbers = L(16, V(7, 0), V(8, 2), L(11, b'\x01'), V(3, 2), V(4, 1), L(6, b'\x00'), V(9, 0),
                V(10, 2), L(12, b'\x01'))
    for length, flops in ((0, 0), (1, 2 * 3)):
        made = [instruction(1, 'i', 'parameter', shape(F32, 1, length, 1)),
                instruction(2, 'k', 'parameter', shape(F32, 3, 1, 1), more=V(9, 1)),
                instruction(3, 'c', 'convolution', shape(F32, 1, length + 2, 1), (1, 2),
                            more=window + numbers)]
        x = proto(module('m', computation(1, 'main', made, root=3)))
        same(rows("SELECT flops, model_flops_actual FROM hlo_instructions('{x}')"
                  " WHERE hlo_op = 'c'", x=x), [(flops, flops)])


@case
def one_name_for_two_ops():
    """Hosts whose programs of one id have other ops of a name: whose the time is is not known."""
    hosts = [profile(plan(), ('d', 0, 3)), profile(plan(), ('d', 0, 4)),
             profile(plan(padded=2048), ('d', 0, 5))]
    query = ("SELECT hlo_op, padding_mib, self_time_us, padding_time_us, hosts"
             " FROM padding_waste('{x}')")
    same(rows(query, x=hosts), [('d', 2047 / MIB, None, None, 1), ('d', 1023 / MIB, None, None, 2)])
    same(rows(query, x=hosts[:2]), [('d', 1023 / MIB, 7.0, 7 * 1023 / 1024, 2)])


@case
def padding_of_several_results():
    """Each result has the time of the instruction, and pays for its own padding."""
    parts = tuple_of(shape(U8, 1, tile=(1024,)), shape(U8, 3, tile=(3072,)))
    made = [instruction(1, 'a', 'parameter', shape(U8, 64)),
            instruction(2, 'd', 'fusion', parts, (1,)),
            instruction(3, 'e', 'negate', shape(U8, 64), (1,))]
    program = proto(module('m', computation(1, 'main', made, root=3)), assignment(
        [buffer(1, 64, 1), buffer(2, 1024, 2, (0,)), buffer(3, 3072, 2, (1,))],
        [allocation(0, 64, [(1, 0, 64)], parameter=True),
         allocation(1, 4096, [(2, 0, 1024), (3, 1024, 3072)])],
        [trace((ALLOC, 2, 'd'), (ALLOC, 3, 'd'), (FREE, 2, 'e'), (FREE, 3, 'e'))]))
    same(rows("SELECT hlo_op, self_time_us, padding_time_us FROM padding_waste('{x}')",
              x=profile(program, ('d', 0, 4))),
         [('d{1}', 4.0, 4 * 3069 / 4096), ('d{0}', 4.0, 4 * 1023 / 4096)])


@case
def library_calls_to_compute_again():
    """A call of a library whose operations are known: 2 x 1024 x 512 x 8 for 2 MiB are 4 a byte.

    What another call costs is not known: 0 operations say nothing."""
    config = ('{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
              '"rhs_contracting_dimensions":["0"]}}}')
    for target, want in (('__cublas$gemm', [('b', 4.0)]), ('Sharding', [])):
        made = [instruction(1, 'a', 'parameter', shape(F32, 1024, 8)),
                instruction(2, 'c', 'parameter', shape(F32, 8, 512), more=V(9, 1)),
                instruction(3, 'b', 'custom-call', shape(F32, 1024, 512), (1, 2),
                            more=L(28, target) + L(43, config)),
                instruction(4, 'e', 'negate', shape(F32, 1024, 512), (3,))]
        placed = [(1, 0, 2 * MIB), (2, 2 * MIB, 2 * MIB)]
        traced = trace((ALLOC, 1, 'b'), (ALLOC, 2, 'e'), (FREE, 2, 'e'), (FREE, 1, 'e'))
        x = proto(module('m', computation(1, 'main', made, root=4)),
                  assignment([buffer(1, 2 * MIB, 3), buffer(2, 2 * MIB, 4)],
                             [allocation(0, 4 * MIB, placed)], [traced]))
        same(rows("SELECT hlo_op, flops_per_byte FROM remat_candidates('{x}')", x=x), want)


@case
def parts_to_compute_again():
    """Parts of one result are values of their own. The memory in which the call at the peak works
    does not live across the peak, although it is allocated before the call's result."""
    whole, config = shape(F32, 1024, 512), (
        '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
        '"rhs_contracting_dimensions":["0"]}}}')
    parts = computation(2, 'parts', [instruction(10, 'p', 'parameter', whole),
                                     instruction(11, 'n', 'negate', whole, (10,)),
                                     instruction(12, 't', 'tuple', tuple_of(whole, whole),
                                                 (11, 11))], root=12)
    made = [instruction(1, 'a', 'parameter', whole),
            instruction(5, 'l', 'parameter', shape(F32, 1024, 8), more=V(9, 1)),
            instruction(6, 'r', 'parameter', shape(F32, 8, 512), more=V(9, 2)),
            instruction(2, 'b', 'fusion', tuple_of(whole, whole), (1,), (2,)),
            instruction(3, 'c', 'custom-call', tuple_of(whole, shape(S32, 1024, 512)), (5, 6),
                        more=L(28, '__cublas$gemm') + L(43, config)),
            instruction(4, 'e', 'add', whole, (2, 3))]
    at = [(i, 2 * MIB * (i - 1), 2 * MIB) for i in range(1, 5)]
    traced = trace((ALLOC, 1, 'b'), (ALLOC, 2, 'b'), (ALLOC, 3, 'c'), (ALLOC, 4, 'c'),
                   (FREE, 3, 'c'), (FREE, 4, 'e'), (FREE, 2, 'e'), (FREE, 1, 'e'))
    x = proto(module('m', parts, computation(1, 'main', made, root=4)), assignment(
        [buffer(1, 2 * MIB, 2, (0,)), buffer(2, 2 * MIB, 2, (1,)), buffer(3, 2 * MIB, 3, (1,)),
         buffer(4, 2 * MIB, 3, (0,))], [allocation(0, 8 * MIB, at)], [traced]))
    same(rows("SELECT peak_op FROM peak_memory('{x}')", x=x), [('c',)])
    same(rows("SELECT hlo_op, size_mib, round(lived_percent, 9), shape "
              "FROM remat_candidates('{x}')", x=x),
         [('b{0}', 2.0, 87.5, 'f32[1024,512]{1,0}'), ('b{1}', 2.0, 62.5, 'f32[1024,512]{1,0}')])


@case
def temporaries_without_bytes():
    """A library that needs no memory to work in: the program needs the same memory at all times."""
    parts = tuple_of(shape(F32, 1024, 512), shape(U8, 0))
    made = [instruction(1, 'a', 'parameter', shape(F32, 1024, 512)),
            instruction(2, 'c', 'custom-call', parts, (1,), more=L(28, '__cudnn$convForward')),
            instruction(3, 'e', 'get-tuple-element', shape(F32, 1024, 512), (2,))]
    x = proto(module('m', computation(1, 'main', made, root=3)), assignment(
        [buffer(1, 2 * MIB, 1), buffer(2, 2 * MIB, 2, (0,)), buffer(3, 0, 2, (1,))],
        [allocation(0, 2 * MIB, [(1, 0, 2 * MIB)], parameter=True),
         allocation(1, 2 * MIB, [(2, 0, 2 * MIB)], live_out=True), allocation(2, 256, [(3, 0, 0)])],
        [trace((ALLOC, 3, 'c'), (FREE, 3, 'c'))]))
    same(rows("SELECT peak_mib, temporaries_mib, peak_op FROM peak_memory('{x}')", x=x),
         [(4.0, 0.0, None)])
    same(rows("SELECT hlo_op, size_mib FROM largest_buffers('{x}') ORDER BY 1", x=x),
         [('a', 2.0), ('c{0}', 2.0)])


@case
def one_instruction_offloaded_twice():
    """Two ops offload a program with the same instructions: the times under both are theirs."""
    def key(start):
        return {'offload_core_id': {'uint64': 0}, 'tc_offload_start_id': {'uint64': start}}

    def op(plane, name, symbol):
        return plane.meta('%%%s = u8[8] op()' % name, name, {
            'program_id': {'uint64': 1}, 'symbol_id': {'uint64': symbol}})
    core, sparse = Plane('/device:TPU:0', 1), Plane('/device:TPU:0 SparseCore 0', 2)
    core.line(1, 'XLA Ops', [(op(core, 'call1', 1), 0, 200 * US, key(0)),
                             (op(core, 'call2', 2), 300 * US, 200 * US, key(1))])
    sparse.line(1, 'Sparse Core Modules', [('module', US, 100 * US, key(0)),
                                           ('module', 301 * US, 100 * US, key(1))])
    sparse.line(2, 'Sparse Core Ops', [(op(sparse, name, symbol), (start + symbol) * US, 3 * US)
                                       for start in (0, 300)
                                       for name, symbol in (('g', 3), ('d', 9))])
    metadata = Plane('/host:metadata', 9)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': plan()}}, key=1)
    x = space(core.bytes(), sparse.bytes(), metadata.bytes())
    same(rows("SELECT hlo_op, self_time_us, occurrences FROM fusion_breakdown('{x}')", x=x),
         [('g', 6.0, 2)])
    same(rows("SELECT hlo_op, self_time_us FROM padding_waste('{x}')", x=x), [('d', 6.0)])
