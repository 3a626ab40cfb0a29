# SPDX-License-Identifier: Apache-2.0
"""HLO programs: XProf's test vectors of the memory viewer, the sources that programs come from, the
plans that spare reading them.

Expected numbers are those of the vectors, or worked out by hand in the case; none is an answer of
ours."""
import gzip
import os
import shutil

from lib.cases import case, must, refused
from lib.cases import same as equal_to
from lib.hlo import (ALLOC, F32, FREE, S32, SHARE, U64, U8, allocation, assignment, buffer,
                     computation, instruction, ints, module, proto, shape, trace, tuple_of)
from lib.shell import DATA, DIR, put, quoted, rows
from lib.wire import L, V, event_metadata, plane, space, stat, stat_metadata

MIB = 1 << 20


def ask(columns, rest, *sources):
    """Rows of one query as lists; {} stands for each source in turn."""
    for source in sources:
        rest = rest.replace("{}", quoted(source), 1)
    return [list(row) for row in rows("SELECT %s %s" % (columns, rest))]


def equal(what, got, expected):
    equal_to(got, expected, what)


def says(words, query, *sources):
    """The query is refused with these words."""
    refused(words, ask, "1", query, *sources)


# ---- test vectors of the memory viewer: every instruction a tuple of one u64, so 8 bytes without
# padding ----

def vector(name, events, buffers=2, size=524288, total=MIB, color=0, constant=True):
    instructions = [instruction(i, "fusion.%d" % i, "fusion", tuple_of(shape(U64)))
                    for i in range(1, buffers + 2)]
    placed = [(i, (i - 1) * size, size) for i in range(1, buffers + 1)]
    allocations = [allocation(0, total, placed, color=color)]
    logical = [buffer(i, size, i, (0,), color) for i in range(1, buffers + 1)]
    if constant:
        allocations.append(allocation(1, MIB, [(buffers + 1, 0, MIB)], constant=True))
        logical.append(buffer(buffers + 1, MIB, buffers + 1, (0,)))
    traced = trace(*[(kind, b, "fusion.%d" % b) + tuple(more) for kind, b, *more in events])
    return put(name + ".hlo.pb", proto(module("m", computation(1, "main", instructions)),
                                       assignment(logical, allocations, [traced])))


PEAK = "peak_heap_mib, peak_unpadded_mib, total_allocation_mib, indefinite_mib"


@case
def attributes_of_late_operations():
    """Texts of XProf 2.24.2 (graph_viewer) for the same programs."""
    rotation, groups = L(103, L(1, ints(1, 3, -2))), L(49, ints(1, 0, 1))
    add = computation(5, "sub", [instruction(i, "p%d" % i, "parameter", shape(F32),
                                             more=V(9, i - 51)) for i in (51, 52)]
                      + [instruction(53, "s", "add", shape(F32), (51, 52))])
    texts = (("shuffle", b"", "dimensions={}, mode=invalid"),
             ("shuffle", ints(14, 0, 1) + L(103), "dimensions={0,1}, mode=invalid"),
             ("shuffle", ints(14, 0, 1) + rotation, "dimensions={0,1}, mode=rotate, shifts={3,-2}"),
             ("shuffle", L(103, L(1)), "dimensions={}, mode=rotate, shifts={}"),
             ("collective-reduce", b"", "replica_groups={}, has_dynamic_root=false, to_apply=%sub"),
             ("collective-reduce", groups + V(26, 3) + V(71, 1),
              "channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true, "
              "has_dynamic_root=false, to_apply=%sub"))
    for nth, (opcode, more, text) in enumerate(texts):
        calls = (5,) if opcode == "collective-reduce" else ()
        ops = [instruction(1, "a", "parameter", shape(F32, 8, 4)),
               instruction(2, "b", opcode, shape(F32, 8, 4), (1,), calls, more=more)]
        path = put("late%d.hlo.pb" % nth,
                   proto(module("m", add, computation(1, "main", ops, root=2))))
        equal(text, ask("expression", "FROM hlo_instructions({}) WHERE instruction_id = 2", path),
              [["%%b = f32[8,4]{1,0} %s(f32[8,4]{1,0} %%a), %s" % (opcode, text)]])


@case
def expressions_of_wide_tuples():
    """Of an operand's shape 1000 bytes, of the result's all."""
    for n, cut in ((50, False), (500, True)):
        element = "f32[8,4]{1,0}"
        wide = "(" + ", ".join("/*index=%d*/" % i * (i > 0 and i % 5 == 0) + element
                               for i in range(n)) + ")"
        ops = [instruction(1, "a", "parameter", tuple_of(*[shape(F32, 8, 4)] * n)),
               instruction(2, "b", "get-tuple-element", shape(F32, 8, 4), (1,), more=V(13, n - 1))]
        path = put("wide%d.hlo.pb" % n, proto(module("m", computation(1, "main", ops, root=2))))
        equal("%d elements" % n,
              ask("expression", "FROM hlo_instructions({}) ORDER BY instruction_id", path),
              [["%%a = %s parameter(0)" % wide],
               ["%%b = %s get-tuple-element(%s %%a), index=%d"
                % (element, wide[:1000] + "..." if cut else wide, n - 1)]])


@case
def shared_before_free():
    path = vector("1", [(ALLOC, 1), (SHARE, 2, 1), (FREE, 1), (FREE, 2)])
    equal("peak", ask(PEAK, "FROM memory_peaks({})", path), [[1.5, 1 + 8 / MIB, 2.0, 1.0]])
    equal("heap", ask("heap_mib", "FROM heap_timeline({}) ORDER BY event", path),
          [[1.0], [1.5], [1.5], [1.5], [1.0]])
    equal("names", ask("hlo_op", "FROM heap_timeline({}) ORDER BY event", path),
          [["fusion.1"], ["fusion.2"], ["fusion.1"], ["fusion.2"], [None]])
    equal("position", ask("peak_event", "FROM memory_peaks({})", path), [[0]])
    equal("spans", ask("buffer_id, start_event, end_event", "FROM buffer_allocations({}) "
                       "WHERE start_event IS NOT NULL", path), [[1, 0, 3]])


@case
def shared_after_free():
    path = vector("2", [(ALLOC, 1), (FREE, 1), (SHARE, 2, 1), (FREE, 2)])
    equal("peak", ask(PEAK, "FROM memory_peaks({})", path), [[1.5, 1 + 8 / MIB, 2.0, 1.0]])


@case
def shared_twice():
    path = vector("3", [(ALLOC, 1), (SHARE, 2, 1), (FREE, 1), (FREE, 2), (SHARE, 3, 2), (FREE, 3)],
                  buffers=3, total=3 * 524288, constant=False)
    equal("peak", ask("peak_heap_mib", "FROM memory_peaks({})", path), [[0.5]])
    equal("objects", ask("count(*)", "FROM buffer_allocations({}) WHERE program_order IS NOT NULL",
                         path), [[1]])


@case
def storage_used_again_shows_the_newer_buffer():
    instructions = [instruction(i, "fusion.%d" % i, "fusion", tuple_of(shape(U64)))
                    for i in range(1, 5)]
    logical = [buffer(i, 262144 if i < 4 else 524288, i, (0,), 1) for i in range(1, 5)]
    placed = [(1, 0, 262144), (2, 0, 262144), (3, 0, 262144), (4, 262144, 524288)]
    events = [(ALLOC, 1), (SHARE, 2, 1), (FREE, 1), (FREE, 2), (ALLOC, 4), (SHARE, 3, 2), (FREE, 3),
              (FREE, 4)]
    traced = trace(*[(kind, b, "fusion.%d" % b) + tuple(more) for kind, b, *more in events])
    path = put("4.hlo.pb",
               proto(module("m", computation(1, "main", instructions)),
                     assignment(logical, [allocation(0, 786432, placed, color=1)], [traced])))
    equal("peak", ask("peak_heap_mib", "FROM memory_peaks({}) WHERE memory_space = 1", path),
          [[0.75]])
    equal("objects", sorted(ask("hlo_op", "FROM buffer_allocations({}) WHERE program_order IS NOT "
                                "NULL", path)), [["fusion.3"], ["fusion.4"]])


@case
def scoped_vmem():
    def config(size):
        return L(43, '{"other":[{}],"used_scoped_memory_configs":['
                 '{"memory_space":"1","offset":"0","size":%s},'
                 '{"memory_space":2,"size":"99999999"}]}' % size)
    instructions = [
        instruction(1, "a", more=config("1048576")), instruction(2, "b", more=config('"2097152"')),
        instruction(3, "c", more=L(43, "{")),
        instruction(4, "d", more=L(43, '{"used_scoped_memory_configs":[{"memory_space":1,"size":'))]
    path = put("6.hlo.pb", proto(module("m", computation(1, "main", instructions)),
                                 assignment([], [allocation(0, 16, color=1)])))
    equal("scoped", ask("memory_space, scoped_vmem_mib, scoped_vmem_op", "FROM memory_peaks({})",
                        path), [[0, None, None], [1, 2.0, "b"]])


@case
def buffers_of_named_instructions():
    """Before 2022 XLA wrote the name of a buffer's instruction, not its id."""
    def by_name(id, size, name):
        return V(1, id) + V(2, size) + L(3, L(2, name))
    ops = [instruction(1, "a", "parameter", shape(U8, 36)),
           instruction(2, "b", shape=shape(U8, 20), operands=(1,))]
    logical = [by_name(1, 40, "a"), by_name(2, 20, "b"), by_name(3, 7, "c"), buffer(4, 20, 2)]
    path = put("named.hlo.pb", proto(
        module("m", computation(1, "main", ops)),
        assignment(logical, [allocation(0, 87, [(i + 1, 20 * i, 20) for i in range(4)])])))
    equal("names", ask("buffer_id, hlo_op, opcode, shape_actual", "FROM buffer_allocations({})",
                       path),
          [[1, "a", "parameter", "u8[36]{0}"], [2, "b", "add", "u8[20]{0}"],
           [3, None, None, None], [4, "b", "add", "u8[20]{0}"]])


@case
def unpadded_at_the_peak():
    instructions = [instruction(1, "a", shape=shape(U8, 36)),
                    instruction(2, "b", shape=shape(U8, 20))]
    logical, placed = [buffer(1, 64, 1), buffer(2, 20, 2)], [(1, 0, 64), (2, 64, 20)]
    one = put("t28a.hlo.pb", proto(module("m", computation(1, "main", instructions)),
                                   assignment(logical, [allocation(0, 84, placed)],
                                              [trace((ALLOC, 1, "a"), (FREE, 1, "a"))])))
    two = put("t28b.hlo.pb",
              proto(module("m", computation(1, "main", instructions)),
                    assignment(logical, [allocation(0, 84, placed)], [
                        trace((ALLOC, 1, "a"), (ALLOC, 2, "b"), (FREE, 1, "a"), (FREE, 2, "b"))])))
    peak = "round(peak_heap_mib * 1048576), round(peak_unpadded_mib * 1048576)"
    equal("one", ask(peak, "FROM memory_peaks({})", one), [[64.0, 36.0]])
    equal("both", ask(peak, "FROM memory_peaks({})", two), [[84.0, 56.0]])
    equal("padding", ask("padding_bytes, expansion, padding_efficiency",
                         "FROM buffer_allocations({}) WHERE buffer_id = 1", two),
          [[28, 64 / 36, 36 / 64]])


# ---- by hand ----

def small_program(name="m", id=7, text="f"):
    body = computation(2, "body", [instruction(11, "p", "parameter", shape(F32, 4)),
                                   instruction(12, "r", "negate", shape(F32, 4), (11,))], 12)
    main = computation(
        1, "main", [instruction(21, "x", "parameter", shape(F32, 128, 3, tile=(8, 128)),
                                op_name="train/" + text),
                    instruction(22, "f", "fusion", shape(F32, 4), (21,), (2,), more=L(11, "kLoop")),
                    instruction(23, "t", "tuple",
                                tuple_of(shape(F32, 4), shape(S32, 2, 2, space=1)), (22, 99))], 23)
    return proto(module(name, body, main, id=id))


@case
def instructions_and_operands():
    path = put("small.hlo.pb", small_program())
    equal("module", ask("program_id, hlo_module, entry_computation, computation_count, "
                        "instruction_count, parameter_bytes, peak_heap_bytes",
                        "FROM hlo_modules({})", path),
          [["7", "m", "main", 2, 5, 65536, None]])
    equal("computations", ask("computation_id, computation, is_entry, is_fusion, instruction_count",
                              "FROM hlo_computations({})", path),
          [[2, "body", 0, 1, 2], [1, "main", 1, 0, 3]])
    equal("parameter", ask("computation, opcode, shape, element_type, bytes, padded_bytes, "
                           "padding_efficiency, memory_space, tf_op, is_root",
                           "FROM hlo_instructions({}) WHERE hlo_op = 'x'", path),
          [["main", "parameter", "f32[128,3]{1,0:T(8,128)}", "f32", 1536, 65536, 3 / 128, 0,
            "train/f", 0]])
    equal("fusion", ask("category, fusion_kind, called_computations, expression",
                        "FROM hlo_instructions({}) WHERE instruction_id = 22", path),
          [["loop fusion", "kLoop", "body", "%f = f32[4]{0} fusion(f32[128,3]{1,0:T(8,128)} %x), "
            "kind=kLoop, calls=%body"]])
    equal("tuple", ask("element_type, bytes, memory_space, is_root", "FROM hlo_instructions({}) "
                       "WHERE opcode = 'tuple'", path), [["tuple", 32, None, 1]])
    equal("operands", ask("instruction_id, operand_index, operand_id, hlo_op, operand",
                          "FROM hlo_operands({})", path),
          [[12, 0, 11, "r", "p"], [22, 0, 21, "f", "x"], [23, 0, 22, "t", "f"],
           [23, 1, 99, "t", None]])
    equal("one op's", ask("operand_id", "FROM hlo_operands({}) WHERE hlo_op = 't'", path),
          [[22], [99]])


@case
def stacks():
    frames = L(17, L(1, "a.py") + L(1, "b.py") + L(2, "f") + L(3, V(1, 1) + V(2, 1) + V(3, 10) + V(
        4, 5)) + L(3, V(1, 2) + V(3, 20)) + L(4, V(1, 1) + V(2, 2)) + L(4, V(1, 2)))
    circle = L(17, L(1, "a.py") + L(3, V(1, 1) + V(3, 10)) + L(4, V(1, 1) + V(2, 2))
               + L(4, V(1, 1) + V(2, 1)))
    ops = [instruction(1, "a", more=L(7, V(15, 1))),
           instruction(2, "b", more=L(7, L(3, "own.py") + V(4, 3) + V(15, 2))),
           instruction(3, "c", more=L(7, V(15, 77))),
           instruction(4, "d")]
    path = put("stack.hlo.pb", proto(module("m", computation(1, "main", ops), more=frames)))
    equal("sources",
          ask("source_file, source_line, source_stack", "FROM hlo_instructions({})", path),
          [["a.py", 10, "a.py:10:5\nb.py:20:0"], ["own.py", 3, "b.py:20:0"], [None, None, None],
           [None, None, None]])
    path = put("circle.hlo.pb", proto(module("m", computation(1, "main", ops), more=circle)))
    equal("a circle ends", ask("length(source_stack) < 20000", "FROM hlo_instructions({}) "
                               "WHERE hlo_op = 'a'", path), [[1]])


@case
def kinds_and_small_buffers():
    ops = [instruction(i, "op%d" % i, shape=shape(F32, 1000)) for i in range(1, 9)]
    allocations = [allocation(0, 4000, [(1, 0, 4000)], parameter=True),
                   allocation(1, 40000, [(2, 0, 40000), (3, 0, 4000)], live_out=True,
                              is_tuple=True),
                   allocation(2, 100, [(4, 0, 100)], thread_local=True),
                   allocation(3, 100, [(5, 0, 100)], constant=True),
                   allocation(4, 60000, [(6, 0, 50000), (7, 50000, 9000)]),
                   allocation(5, 8)]
    logical = [buffer(1, 4000, 1), buffer(2, 40000, 2), buffer(3, 4000, 3), buffer(4, 100, 4),
               buffer(5, 100, 5), buffer(6, 50000, 6), buffer(7, 9000, 7), buffer(8, 5, 8)]
    traced = trace((ALLOC, 6, "op6"), (ALLOC, 7, "op7"), (FREE, 6, "op6"), (FREE, 7, "op7"))
    path = put("kinds.hlo.pb", proto(module("m", computation(1, "main", ops)),
                                     assignment(logical, allocations, [traced])))
    equal("kinds", ask("allocation_id, kind, attributes, buffer_id, live_at_peak, program_order",
                       "FROM buffer_allocations({})", path),
          [[0, "parameter", "entry computation parameter, reusable", 1, 1, 0],
           [1, "output", "may-be live out", 2, 1, 1], [1, "output", "may-be live out", 3, 0, None],
           [2, "thread-local", None, 4, None, None], [3, "constant", "reusable", 5, 1, 2],
           [4, "temporary", "reusable", 6, 1, 3], [4, "temporary", "reusable", 7, 1, 4],
           [5, "temporary", "reusable", None, None, None]])
    equal("small",
          ask("allocation_id, buffer_id, size_bytes, live_at_peak, program_order, size_rank, label",
              "FROM buffer_allocations({}, 16384) WHERE live_at_peak ORDER BY program_order", path),
          [[1, 2, 40000, 1, 0, 1, "op2: f32[1000]{0} # "],
           [4, 6, 50000, 1, 1, 0, "op6: f32[1000]{0} # "],
           [None, None, 13100, 1, 2, 2, "small (<16384 bytes)"]])
    for limit, small in ((9000, 4100), (9001, 13100)):
        equal("smaller", ask("size_bytes", "FROM buffer_allocations({}, %d) WHERE buffer_id IS "
                             "NULL AND live_at_peak" % limit, path), [[small]])
        equal("folded", ask("count(*)", "FROM buffer_allocations({}, %d) WHERE buffer_id = 7 AND "
                            "program_order IS NOT NULL" % limit, path), [[int(limit == 9000)]])
    total = 4000 + 40000 + 100 + 60000 + 8
    equal("sums", ask("round(parameters_mib * 1048576), round(non_reusable_mib * 1048576), "
                      "round(maybe_live_out_mib * 1048576), round(total_allocation_mib * 1048576),"
                      "round(indefinite_mib * 1048576), round(peak_heap_mib * 1048576)",
                      "FROM memory_peaks({})", path),
          [[4000.0, 40100.0, 40000.0, float(total), 44100.0, 44100.0 + 59000]])
    equal("fragmentation", ask("round(fragmentation_fraction, 9)", "FROM memory_peaks({})", path),
          [[round((total - 103100) / (total - 44100), 9)]])


@case
def values_to_compute_again():
    """Storage counts until the last buffer in it is freed; collectives, asynchronous copies,
    unknown calls and other memory spaces are no candidates."""
    opcodes = ["add", "add", "all-reduce", "copy-start", "custom-call", "add", "add", "add"]
    ops = [instruction(i + 1, "op%d" % (i + 1), opcode, shape(F32, 10))
           for i, opcode in enumerate(opcodes)]
    logical = [buffer(i, 40, i, color=int(i == 8)) for i in range(1, 9)]
    traced = trace((ALLOC, 1, "op1"), (SHARE, 2, "op2", 1), (FREE, 1, "op1"),
                   *[(ALLOC, i, "op%d" % i) for i in range(3, 8)],
                   *[(FREE, i, "op%d" % i) for i in (7, 6, 5, 4, 3, 2)])
    other = trace((ALLOC, 8, "op8"), (FREE, 8, "op8"))
    path = put("again.hlo.pb", proto(module("m", computation(1, "main", ops)), assignment(
        logical, [allocation(0, 320, [(i, 40 * i - 40, 40) for i in range(1, 8)]),
                  allocation(1, 40, [(8, 0, 40)], color=1)], [traced, other])))
    equal("candidates", ask("hlo_op, round(lived_percent, 6)", "FROM remat_candidates({})", path),
          [["op1", round(100 * 13 / 14, 6)], ["op6", round(100 * 3 / 14, 6)]])


@case
def values_that_are_computed_again_already():
    """Neither what XLA or JAX computes again, nor tuples and results of loops, is a candidate."""
    values = [("kept", "add", ""), ("add.remat", "add", ""), ("add.remat2", "add", ""),
              ("fusion.1.remat_compressed", "add", ""),
              ("in_jax", "add", "jit(f)/transpose(jvp(checkpoint))/rematted_computation/add"),
              ("scope", "add", "jit(f)/jvp(checkpoint)/add"),
              ("t", "tuple", ""), ("loop", "while", ""), ("branch", "conditional", ""),
              ("called", "call", ""), ("part", "get-tuple-element", ""), ("last", "add", "")]
    n = len(values)
    ops = [instruction(i + 1, name, opcode, shape(F32, 10), op_name=op_name)
           for i, (name, opcode, op_name) in enumerate(values)]
    traced = trace(*[(ALLOC, i, values[i - 1][0]) for i in range(1, n + 1)],
                   *[(FREE, i, values[i - 1][0]) for i in range(n, 0, -1)])
    path = put("already.hlo.pb", proto(module("m", computation(1, "main", ops)), assignment(
        [buffer(i, 40, i) for i in range(1, n + 1)],
        [allocation(0, 40 * n, [(i, 40 * i - 40, 40) for i in range(1, n + 1)])], [traced])))
    equal("candidates", ask("hlo_op", "FROM remat_candidates({}, 100, 1e9)", path),
          [["kept"], ["scope"]])


@case
def more_in_use_than_allocated():
    """A heap trace that holds more than the allocations says nothing of what they leave unused."""
    path = vector("beyond", [(ALLOC, 1), (ALLOC, 2), (FREE, 1), (FREE, 2)], total=524288,
                  constant=False)
    equal("peak", ask("peak_heap_mib, total_allocation_mib, fragmentation_fraction",
                      "FROM memory_peaks({})", path), [[1.0, 0.5, None]])
    equal("of a program", ask("peak_mib, allocated_mib, fragmentation_mib", "FROM peak_memory({})",
                              path), [[1.0, 0.5, None]])
    equal("fragmentation", ask("count(*)", "FROM fragmentation({})", path), [[0]])


@case
def shared_storage_lives_as_long_as_its_last_buffer():
    """Storage counts once, from its allocation to the free of the last buffer in it; a buffer that
    takes it over after that has it again."""
    ops = [instruction(i, "op%d" % i, shape=shape(F32, 10 * i)) for i in range(1, 6)]
    logical = [buffer(i, 40 if i < 4 else 8 * i, i) for i in range(1, 6)]
    traced = trace((ALLOC, 1, "op1"), (SHARE, 2, "op2", 1), (FREE, 1, "op1"), (ALLOC, 4, "op4"),
                   (FREE, 2, "op2"), (SHARE, 3, "op3", 1), (ALLOC, 5, "op5"), (FREE, 4, "op4"),
                   (FREE, 3, "op3"))
    lives = [[1, 0, 4], [2, None, None], [3, 5, 8], [4, 3, 7], [5, 6, 9]]
    path = put("shared.hlo.pb", proto(module("m", computation(1, "main", ops)), assignment(
        logical, [allocation(0, 200, [(i, 40 * i - 40, 8) for i in range(1, 6)])], [traced])))
    equal("storage", ask("buffer_id, storage_start_event, storage_end_event",
                         "FROM buffer_allocations({}) ORDER BY 1", path), lives)
    sizes = {1: 40, 3: 40, 4: 32, 5: 40}
    for event in range(10):
        there = [[b, sizes[b]] for b, start, end in lives if start is not None
                 and start <= event <= end]
        equal("live at %d" % event,
              ask("CAST(substr(hlo_op, 3) AS INTEGER), CAST(size_mib * 1048576 AS INTEGER)",
                  "FROM live_at({}, %d) ORDER BY 1" % event, path), there)


@case
def memory_spaces_without_end():
    """64 memory spaces of a program have rows; further ones have none, and an issue says so."""
    ops = [instruction(1, "op", shape=shape(F32, 10))]
    for n, left_out in ((64, 0), (65, 1), (70, 1)):
        path = put("spaces.hlo.pb", proto(module("m", computation(1, "main", ops)), assignment(
            [], [allocation(color, 8, color=color) for color in range(n)])))
        equal("spaces", ask("p.n, count(i.code)", "FROM (SELECT count(*) AS n FROM "
                            "memory_peaks({})) AS p LEFT JOIN prof_issues({}) AS i ON p.n > 0 AND "
                            "i.code = 'memory_spaces'", path, path), [[64, left_out]])


@case
def listed_twice():
    """XProf's list of the peak and its size have a traced buffer of an allocation that lives
    throughout twice; a buffer of another space is in both."""
    ops = [instruction(i, "op%d" % i, shape=shape(F32, 10 * i)) for i in range(1, 4)]
    logical = [buffer(1, 40, 1), buffer(2, 80, 2), buffer(3, 120, 3, color=5)]
    path = put("twice.hlo.pb", proto(module("m", computation(1, "main", ops)), assignment(
        logical, [allocation(0, 256, [(1, 0, 40), (2, 64, 80)], live_out=True),
                  allocation(1, 120, [(3, 0, 120)], color=1)],
        [trace((ALLOC, 1, "op1"), (ALLOC, 2, "op2"), (FREE, 1, "op1"), (FREE, 2, "op2")),
         trace((ALLOC, 3, "op3"), (FREE, 3, "op3"))])))
    equal("peaks", ask("memory_space, round(peak_heap_mib * 1048576)", "FROM memory_peaks({})",
                       path), [[0, 256.0 + 120], [1, 120.0], [5, 120.0]])
    equal("objects",
          ask("memory_space, program_order, buffer_id, size_bytes, offset_bytes, start_event",
              "FROM buffer_allocations({}) WHERE program_order IS NOT NULL ORDER BY 1, 2", path),
          [[0, 0, 2, 80, 64, 1], [0, 1, 1, 40, 0, 0], [0, 2, 2, 80, None, None],
           [1, 0, 3, 120, 0, 0], [5, 0, 3, 120, None, None]])
    equal("by op", ask("count(*)", "FROM buffer_allocations({}) WHERE hlo_op = 'op2'", path), [[2]])


@case
def parts_of_nested_tuples():
    """XProf goes by the last index alone; beside it stands what the whole index means."""
    inner = tuple_of(shape(F32, 10), shape(F32, 100))
    ops = [instruction(1, "start", "all-gather-start",
                       tuple_of(inner, tuple_of(shape(F32, 20), shape(F32, 200)))),
           instruction(2, "packed", shape=shape(21, 64, bits=4)),
           instruction(3, "wide", shape=shape(1, 64, bits=32))]
    logical = [buffer(1, 80, 1, (1, 0)), buffer(2, 800, 1, (1, 1)), buffer(3, 16, 1, (1,)),
               buffer(4, 32, 2), buffer(5, 8, 1, (7,)), buffer(6, 256, 3)]
    path = put("parts.hlo.pb",
               proto(module("m", computation(1, "main", ops)),
                     assignment(logical, [allocation(0, 1000, [(i, 0, 8) for i in range(1, 7)])])))
    equal("parts", ask("shape_index, unpadded_bytes, unpadded_bytes_actual, padding_bytes_actual, "
                       "shape_actual", "FROM buffer_allocations({})", path),
          [["{1,0}", 16, 80, 0, "f32[20]{0}"], ["{1,1}", 16, 800, 0, "f32[200]{0}"],
           ["{1}", 16, 16, 0, "(f32[20]{0}, f32[200]{0})"], [None, 32, 32, 0, "s4[64]{0:E(4)}"],
           ["{7}", 16, None, None, None], [None, 256, 64, 192, "pred[64]{0:E(32)}"]])


@case
def the_first_allocation_names_the_trace():
    """A memory space has the trace of its first traced allocation, however short that is."""
    ops = [instruction(i, "op%d" % i, "fusion", shape(U64)) for i in range(1, 4)]
    logical = [buffer(i, 8, i) for i in range(1, 4)]
    short, long = [(ALLOC, 1, "op1"), (FREE, 1, "op1")], [
        (kind, i, "op%d" % i) for kind in (ALLOC, FREE) for i in (2, 3)]
    for traces, found in (((short, long), ["op1", "op1"]),
                          ((long, short), ["op2", "op3", "op2", "op3"])):
        places = [allocation(0, 8, [(1, 0, 8)]), allocation(1, 16, [(2, 0, 8), (3, 8, 8)])]
        if traces[0] is long:
            places = [allocation(0, 16, [(2, 0, 8), (3, 8, 8)]), allocation(1, 8, [(1, 0, 8)])]
        path = put("first.hlo.pb", proto(module("m", computation(1, "main", ops)), assignment(
            logical, places, [trace(*events) for events in traces])))
        equal("ops", ask("hlo_op", "FROM heap_timeline({}) ORDER BY event", path),
              [[op] for op in found + [None]])


@case
def traces_that_make_no_sense():
    ops = [instruction(i, "op%d" % i, shape=shape(F32, 10)) for i in range(1, 4)]
    logical = [buffer(i, 40, i) for i in range(1, 4)]
    places = [allocation(0, 80, [(1, 0, 40), (2, 40, 40)]), allocation(1, 40, [(3, 0, 40)])]
    for name, events, why, heap in (
        ("free", [(ALLOC, 1, "a"), (FREE, 1, "a"), (FREE, 1, "a")], "beyond event 2: "
         "a buffer is freed more often", [0, 40, 0]),
        ("two", [(ALLOC, 1, "a"), (ALLOC, 3, "a")], "several allocations", [0, 40, 80]),
        ("kind", [(ALLOC, 1, "a"), (9, 1, "a")], "not ALLOC", [0, 40]),
        ("circle", [(ALLOC, 1, "a"), (SHARE, 2, "b", 1), (SHARE, 1, "a", 2)], "circle",
         [0, 40, 40]),
        ("itself", [(ALLOC, 1, "a"), (SHARE, 1, "a", 1)], "circle", [0, 40])):
        path = put(name + ".hlo.pb", proto(module("m", computation(1, "main", ops)),
                                           assignment(logical, places, [trace(*events)])))
        equal(name, ask("peak_heap_mib, total_allocation_mib > 0", "FROM memory_peaks({})", path),
              [[None, 1]])
        equal(name, ask("CAST(heap_mib * 1048576 AS INT)", "FROM heap_timeline({}) "
                        "ORDER BY event", path), [[bytes_] for bytes_ in heap])
        issues = ask("i.code, i.message", "FROM (SELECT count(*) AS n FROM memory_peaks({})) AS p "
                     "CROSS JOIN prof_issues({}) AS i WHERE p.n >= 0", path, path)
        must(len(issues) == 1 and issues[0][0] == "heap_simulation" and why in issues[0][1],
             "%s: issues %r" % (name, issues))
    negative = put("negative.hlo.pb",
                   proto(module("m", computation(1, "main", ops)),
                         assignment([buffer(1, -5, 1)], [allocation(0, 80, [(1, 0, 40)])],
                                    [trace((ALLOC, 1, "a"), (FREE, 1, "a"))])))
    equal("negative size", ask("peak_heap_mib", "FROM memory_peaks({})", negative), [[None]])


# ---- sources ----

@case
def a_dump_is_a_source():
    for stage in ("before_optimizations", "cpu_after_optimizations"):
        put("dump/module_0007.m.%s.hlo.pb" % stage, small_program(text=stage))
    put("dump/module_0008.n.cpu_after_optimizations.hlo.pb.gz",
        gzip.compress(small_program("n", 8)))
    put("dump/module_0007.m.before_optimizations.txt", b"HloModule m")
    folder = os.path.join(DIR, "dump")
    equal("hosts", ask("host, format, event_count", "FROM hosts({})", folder),
          [["module_0007.m.before_optimizations", "hlo", 0],
           ["module_0007.m.cpu_after_optimizations", "hlo", 0],
           ["module_0008.n.cpu_after_optimizations", "hlo.gz", 0]])
    equal("run", ask("run, format, device_type, host_count", "FROM prof_runs({})", folder),
          [["dump", "hlo", None, 3]])
    equal("programs", ask("host, program_id, hlo_module", "FROM hlo_modules({})", folder + "/"),
          [["module_0007.m.before_optimizations", "7", "m"],
           ["module_0007.m.cpu_after_optimizations", "7", "m"],
           ["module_0008.n.cpu_after_optimizations", "8", "n"]])
    equal("one of an id", ask("tf_op", "FROM hlo_instructions({}) WHERE program_id = '7' "
                              "AND host GLOB '*before*' AND hlo_op = 'x'", folder),
          [["train/before_optimizations"]])
    equal("no events", ask("count(*)", "FROM trace_events({})", folder), [[0]])
    equal("found", ask("name, host_count", "FROM prof_find({})", folder), [["dump", 3]])


@case
def a_file_by_its_name_and_by_its_bytes():
    equal("id in the name", ask("program_id", "FROM hlo_modules({})",
                                put("m(18446744073709551615).hlo_proto.pb", small_program())),
          [["18446744073709551615"]])
    equal("no number in the name", ask("program_id", "FROM hlo_modules({})",
                                       put("m(x).hlo_proto.pb", small_program())), [["7"]])
    equal("any name", ask("program_id, hlo_module", "FROM hlo_modules({})",
                          put("thing.pb", small_program())), [["7", "m"]])
    equal("gzip", ask("hlo_module", "FROM hlo_modules({})",
                      put("thing.hlo.pb.gz", gzip.compress(small_program()))), [["m"]])
    says("not a complete HloProto", "FROM hlo_modules({})", put("cut.hlo.pb", small_program()[:-3]))
    says("not a complete HloProto", "FROM hlo_modules({})", put("text.hlo.pb", b"HloModule m"))
    says("empty", "FROM hlo_modules({})", put("NO_MODULE.hlo_proto.pb"))


@case
def programs_beside_a_run():
    run = os.path.join(DIR, "beside")
    shutil.copytree(os.path.join(DATA, "jax_train_mlp/plugins/profile"), run)
    run = os.path.join(run, os.listdir(run)[0])
    known = ask("program_id, hlo_module", "FROM hlo_modules({})", run)
    put(os.path.join(run, "%s(%s).hlo_proto.pb" % (known[0][1], known[0][0])),
        small_program("not read"))
    put(os.path.join(run, "NO_MODULE.hlo_proto.pb"))
    put(os.path.join(run, "extra(999999).hlo_proto.pb"), small_program("extra"))
    put(os.path.join(run, "broken(999998).hlo_proto.pb"), b"\x0a\xff")
    # without an id in their names: one that the run has, by its name, and one that it has not
    put(os.path.join(run, "known.hlo_proto.pb"), small_program(known[0][1], 5))
    put(os.path.join(run, "new.hlo_proto.pb"), small_program("new", 999997))
    equal("programs", sorted(ask("program_id, hlo_module", "FROM hlo_modules({})", run)),
          sorted(known + [["999999", "extra"], ["999997", "new"]]))
    equal("its file", ask("path LIKE '%/extra(999999).hlo_proto.pb'", "FROM hlo_modules({}) "
                          "WHERE program_id = '999999'", run), [[1]])


@case
def programs_of_subprocesses():
    """XProf's lists end with the host's own; where ids are taken, the host's count."""
    def programs(plane_id, name, *entries):
        return plane(plane_id, name, metadata=b"".join([event_metadata(i, "%s(%d)" % (
            text, i), stats=[stat(1, bytes=small_program(text, i))]) for i, text in entries]
                                                       + [stat_metadata(1, "Hlo Proto")]))
    path = put("forked.xplane.pb",
               space(programs(1, "/host:metadata [77]", (2, "taken"), (3, "free")),
                     programs(2, "/host:metadata", (1, "a"), (2, "b"))))
    equal("programs", ask("program_id, hlo_module, plane", "FROM hlo_modules({})", path),
          [["1", "a", "/host:metadata"], ["2", "b", "/host:metadata"],
           ["3", "free", "/host:metadata [77]"]])
    equal("its ops", ask("count(*)", "FROM hlo_instructions({}) WHERE program_id = '3'", path),
          [[5]])
    equal("told", ask("code", "FROM prof_issues({}) WHERE code GLOB '*program*' ORDER BY 1", path),
          # 1 and 2 do not say what they take and give
          [["duplicate_program"], ["programs_of_subprocesses"], ["refused_program"],
           ["refused_program"]])
    equal("how many", ask("substr(message, 1, 61)", "FROM prof_issues({}) "
                          "WHERE code = 'programs_of_subprocesses'", path),
          [["XProf does not show the 2 programs of /host:metadata [77]; th"]])


# ---- plans ----

@case
def keys_find_what_a_scan_finds():
    run = os.path.join(DATA, "jax_train_mlp")
    for table in ("hlo_modules", "hlo_computations", "hlo_instructions", "hlo_operands",
                  "buffer_allocations", "heap_timeline", "memory_peaks"):
        equal(table, ask("count(*), count(DISTINCT x.rowid)", "FROM %s({}) AS x" % table,
                         run)[0][0], ask("count(*)", "FROM %s({})" % table, run)[0][0])
        for key, more in (("program_id", ""), ("hlo_module", ""), ("hlo_op", ""),
                          ("instruction_id", ""), ("memory_space", ""),
                          ("hlo_op", " OR program_id = '20'")):
            columns = [row[0] for row in ask("name", "FROM pragma_table_xinfo('%s')" % table)]
            if key not in columns:
                continue
            for value, in ask(key, "FROM (SELECT DISTINCT %s FROM %s({}) WHERE %s IS NOT NULL "
                              "LIMIT 4)" % (key, table, key), run):
                literal = quoted(value) if isinstance(value, str) else str(value)
                fast = ask("x.rowid, program_id", "FROM %s({}) AS x WHERE %s = %s%s "
                           "ORDER BY 1" % (table, key, literal, more), run)
                slow = ask("x.rowid, program_id", "FROM %s({}) AS x WHERE +%s = %s%s ORDER BY 1"
                           % (table, key, literal, more.replace("program_id", "+program_id")), run)
                must(fast, "%s: nothing of %s = %s" % (table, key, literal))
                equal("%s by %s" % (table, key), fast, slow)


@case
def rowids_of_hosts():
    """Rows of two hosts have different rowids, whichever host has more programs."""
    def host(*ids):
        return space(plane(1, "/host:metadata", metadata=b"".join(
            [event_metadata(i, "m(%d)" % i, stats=[stat(1, bytes=small_program("m", i))])
             for i in ids] + [stat_metadata(1, "Hlo Proto")])))
    for first, second in (((1, 2, 3), (4,)), ((1,), (2, 3, 4))):
        for name, ids in (("a", first), ("b", second)):
            folder = os.path.dirname(put("rowids/%s.xplane.pb" % name, host(*ids)))
        for table, n in (("hlo_modules", 4), ("hlo_computations", 8), ("hlo_instructions", 20)):
            equal(table, ask("count(*), count(DISTINCT x.rowid)", "FROM %s({}) AS x" % table,
                             folder), [[n, n]])


@case
def events_join_instructions():
    run = os.path.join(DATA, "jax_train_mlp")
    joined, events = ask("count(i.hlo_op), count(*)", "FROM trace_events({}) AS e LEFT "
                         "JOIN hlo_instructions({}) AS i USING (run, host, program_id, hlo_op)"
                         " WHERE e.hlo_op IS NOT NULL AND e.program_id IS NOT NULL", run, run)[0]
    must(events and joined == events, "%d of %d events found their instruction" % (joined, events))


@case
def queries_agree_with_the_tables():
    run = os.path.join(DATA, "jax_train_mlp")
    equal("peaks", ask("hlo_module, program_id, peak_mib", "FROM peak_memory({}, 1000)", run),
          ask("hlo_module, program_id, peak_heap_mib", "FROM memory_peaks({}) WHERE memory_space = "
              "0 AND total_allocation_mib > 0 ORDER BY 3 DESC, run, 1, 2", run))
    equal("lines sum to what lives",
          ask("hlo_module, round(sum(size_mib), 9), round(sum(percent), 6)",
              "FROM memory_by_source_line({}, 100000) GROUP BY 1 ORDER BY 1", run),
          ask("hlo_module, round(sum(size_bytes) / 1048576.0, 9), "
              "100.0 * count(DISTINCT program_id)",
              "FROM buffer_allocations({}) WHERE live_at_peak AND memory_space = 0 GROUP BY 1 "
              "ORDER BY 1", run))
    equal("buffers", ask("count(*), sum(size_mib)", "FROM largest_buffers({}, 100000)", run),
          ask("count(*), sum(size_bytes / 1048576.0)", "FROM (SELECT size_bytes "
              "FROM buffer_allocations({}) WHERE live_at_peak AND memory_space = 0 "
              "ORDER BY size_bytes DESC)", run))
    equal("fragmentation", ask("count(*), count(hlo_module)", "FROM fragmentation({}, 100000) "
                               "WHERE unused_mib BETWEEN 0 AND allocated_mib "
                               "AND unused_percent BETWEEN 0 AND 100", run),
          ask("count(*), count(*)", "FROM memory_peaks({}) "
              "WHERE total_allocation_mib > peak_heap_mib", run))
    equal("fusions", ask("count(*)", "FROM fusion_breakdown({}, 100000)", run),
          ask("count(*)", "FROM hlo_instructions({}) WHERE opcode = 'fusion'", run))
    equal("opcodes", ask("opcodes, instructions, occurrences", "FROM fusion_breakdown({}, 100000) "
                         "WHERE hlo_op = 'subtract_exponential_fusion'", run),
          [["bitcast 1, broadcast 1, exponential 1, subtract 1", 4, 6]])
    tpu = os.path.join(DATA, "tpu_train_54")
    equal("padding", ask("hlo_op, padding_mib, expansion, padding_time_us = self_time_us * 15 / 16",
                         "FROM padding_waste({}, 1)", tpu),
          [["transpose.1", 512 * 128 * 120 * 4 / MIB, 16.0, 1]])
    equal("its time", ask("self_time_us", "FROM padding_waste({}, 1)", tpu),
          ask("sum(total_self_time_us)", "FROM hlo_ops({}) WHERE hlo_op = 'transpose.1' "
              "AND hlo_module = 'jit_train_step'", tpu))
    moments = ("FROM (SELECT program_id, event, max(heap_mib, lead(heap_mib) "
               "OVER (PARTITION BY program_id ORDER BY event)) AS heap "
               "FROM heap_timeline({})) AS m WHERE heap IS NOT NULL")
    live = ("abs((SELECT sum(size_mib) FROM live_at(%s, m.event, m.program_id, "
            "10000)) - heap) < 1e-9" % quoted(run))
    equal("what is live at an event fills the heap",
          ask("count(*) > 50, min(%s)" % live, moments, run), [[1, 1]])
    first, last = ask("min(event), max(event)", "FROM heap_timeline({})", run)[0]
    says("live_at: %s: there is no event 1000000; events are %d to %d" % (run, first, last),
         "FROM live_at({}, 1000000)", run)
    for table in ("live_at", "hlo_text"):
        says("%s: %s: no program is called 'nosuch'; SELECT DISTINCT hlo_module" % (table, run),
             "FROM %s({}, %s'nosuch')" % (table, "NULL, " * (table == "live_at")), run)
    for table in ("live_at({}, NULL, NULL, 20", "peak_memory({}, 10", "largest_buffers({}, 10",
                  "memory_by_source_line({}, 10"):
        says("%s: %s: no program uses memory space 7; spaces in use: "
             "0" % (table.split("(")[0], run), "FROM %s, 7)" % table, run)
        equal("a memory space that is there", ask("count(*) > 0", "FROM %s, 0)" % table, run),
              [[1]])
    two = os.path.join(DATA, "jax_two_hosts")
    equal("an all-reduce is no candidate", ask("count(*)", "FROM remat_candidates({})", two), [[0]])
    equal("equal candidates of three hosts are one",
          ask("count(*) > 0, min(hosts), max(hosts)", "FROM remat_candidates({})",
              os.path.join(DATA, "hosts_tied")), [[1, 3, 3]])
    for query in ("peak_memory", "largest_buffers", "memory_by_source_line", "fragmentation",
                  "live_at"):
        equal("%s: programs of two hosts with equal numbers are one" % query,
              ask("count(*) > 0, min(hosts), max(hosts)", "FROM %s({})" % query, two), [[1, 2, 2]])
    crossing = ask("count(*), min(size_mib) > 0, max(lived_percent) <= 100, "
                   "max(flops_per_byte) <= 16", "FROM remat_candidates({}, 1000)", run)
    must(crossing[0][0] >= 1 and crossing[0][1:] == [1, 1, 1], "remat candidates: %r" % crossing)
