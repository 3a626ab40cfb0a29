// SPDX-License-Identifier: Apache-2.0
/* hlo_instructions.c: the table hlo_instructions: every instruction of a program, with what its
 * shape takes.
 *
 *   SELECT hlo_op, opcode, padded_bytes, padding_efficiency
 *     FROM hlo_instructions('logs') WHERE padding_efficiency < 0.5;
 *   -- from events to what the compiler recorded about them
 *   SELECT e.name, i.opcode, i.padded_bytes
 *     FROM trace_events('logs') e
 *     JOIN hlo_instructions('logs') i USING (run, host, program_id, hlo_op); */
#include "../loader/analysis/device/work_kind.h"
#include "../loader/analysis/program/cost.h"
#include "../loader/analysis/program/op_runs.h"
#include "../loader/analysis/ops/metadata_costs.h"
#include "../loader/format/shape.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define HLO_INSTRUCTIONS_COLUMNS(C)                                                                \
    C(HI_RUN, RUN_DOC)                                                                             \
    C(HI_HOST, HOST_DOC)                                                                           \
    C(HI_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(HI_MODULE, HLO_MODULE_DOC)                                                                   \
    C(HI_COMPUTATION, "computation", "TEXT", NULL,                                                 \
      "name of the computation that contains the instruction", "HloComputationProto.name")         \
    C(HI_ID, "instruction_id", "INTEGER", NULL, "id of the instruction in its module",             \
      "HloInstructionProto.id")                                                                    \
    C(HI_NAME, HLO_OP_DOC)                                                                         \
    C(HI_OPCODE, "opcode", "TEXT", NULL,                                                           \
      "opcode of the instruction: dot, fusion, get-tuple-element, ...",                            \
      "HloInstructionProto.opcode")                                                                \
    C(HI_CATEGORY, "category", "TEXT", NULL,                                                       \
      "kind of op, named as in XProf's op tables: loop fusion, convolution, data formatting, ...", \
      "HloInstructionProto.opcode")                                                                \
    C(HI_FUSION_KIND, "fusion_kind", "TEXT", NULL,                                                 \
      "kind of fusion: kLoop, kInput, kOutput or kCustom; NULL if the instruction is not a "       \
      "fusion",                                                                                    \
      "HloInstructionProto.fusion_kind")                                                           \
    C(HI_SHAPE, "shape", "TEXT", NULL,                                                             \
      "shape and layout of the instruction's result, in HLO syntax", "HloInstructionProto.shape")  \
    C(HI_TYPE, "element_type", "TEXT", NULL,                                                       \
      "element type of the result: f32, bf16, ...; tuple for several results, but for a custom "   \
      "call the type of the first",                                                                \
      "ShapeProto.element_type")                                                                   \
    C(HI_BYTES, "bytes", "INTEGER", "bytes",                                                       \
      "size of the result's data without padding, summed over the arrays of a tuple; NULL if a "   \
      "dimension has no known size",                                                               \
      "HloInstructionProto.shape")                                                                 \
    C(HI_PADDED, "padded_bytes", "INTEGER", "bytes",                                               \
      "size of the result as its layout stores it, padding included; NULL if a dimension has no "  \
      "known size",                                                                                \
      "HloInstructionProto.shape")                                                                 \
    C(HI_EFFICIENCY, "padding_efficiency", "REAL", "fraction 0..1",                                \
      "fraction of padded_bytes that is data; NULL if padded_bytes is 0 or NULL",                  \
      "as the function padding_efficiency()")                                                      \
    C(HI_SPACE, "memory_space", "INTEGER", NULL,                                                   \
      "memory space of the result, 0 for the main memory; NULL if the parts of a tuple are in "    \
      "several spaces, or the layout is unknown",                                                  \
      "LayoutProto.memory_space")                                                                  \
    C(HI_FLOPS, "flops", "INTEGER", "FLOP",                                                        \
      "floating-point operations of one execution; an 8-bit operation counts as a half, a 4-bit "  \
      "one as a quarter. In profiles of TPUs: from the metadata of the events, else as "           \
      "model_flops_actual. Otherwise: from XLA's cost analysis for GPUs, in which 0 means that "   \
      "it counts none, or that the instruction never runs on its own. NULL if unknown",            \
      "HloCostAnalysis, flops; stat flops")                                                        \
    C(HI_ACCESSED, "bytes_accessed", "INTEGER", "bytes",                                           \
      "bytes read plus bytes written by one execution, from the same source as flops; NULL if "    \
      "unknown",                                                                                   \
      "HloCostAnalysis, bytes accessed; stat bytes_accessed")                                      \
    C(HI_TF_OP, TF_OP_DOC)                                                                         \
    C(HI_OP_TYPE, "op_type", "TEXT", NULL,                                                         \
      "type of the framework op in tf_op; NULL if the program does not record it",                 \
      "OpMetadata.op_type")                                                                        \
    C(HI_FILE, SOURCE_FILE_DOC)                                                                    \
    C(HI_LINE, SOURCE_LINE_DOC)                                                                    \
    C(HI_STACK, SOURCE_STACK_DOC)                                                                  \
    C(HI_ROOT, "is_root", "INTEGER", "0 or 1",                                                     \
      "1: the root of its computation; the instruction's result is the result of the computation", \
      "HloComputationProto.root_id")                                                               \
    C(HI_COMPUTATION_ID, "computation_id", "INTEGER", NULL,                                        \
      "id of the computation that contains the instruction", "HloComputationProto.id")             \
    C(HI_CALLED, "called_computations", "TEXT", NULL,                                              \
      "names of the computations that the instruction calls, separated by commas, ? for one that " \
      "the program does not contain; NULL if there are none",                                      \
      "HloInstructionProto.called_computation_ids")                                                \
    C(HI_EXPRESSION, "expression", "TEXT", NULL,                                                   \
      "text of the instruction in HLO syntax, as in hlo_ops; but the shape of an operand is cut "  \
      "after 1000 bytes and ends in ...; the operand's own row has it in full",                    \
      "hlo_stats hlo_op_expression")                                                               \
    C(HI_MODEL_FLOPS, "model_flops", "INTEGER", "FLOP",                                            \
      "floating-point operations of one execution, as flops, but each operation counts as one; "   \
      "NULL if flops is NULL",                                                                     \
      "HloCostAnalysis, model flops; stat model_flops")                                            \
    C(HI_MODEL_FLOPS_ACTUAL, "model_flops_actual", "INTEGER", "FLOP",                              \
      "operations that one execution needs on any device, as XLA's compiled.cost_analysis() "      \
      "counts them (transcendental functions count 0), including library calls (2 x m x n x k "    \
      "for a matrix product); for a loop, those of one iteration; NULL for a custom call of "      \
      "unknown work and in a damaged program",                                                     \
      "HLO program")                                                                               \
    C(HI_COST_SOURCE, "cost_source", "TEXT", NULL,                                                 \
      "where flops, model_flops and bytes_accessed come from: metadata (of a TPU's events; what "  \
      "these do not record is the program's) or program (its cost analysis); NULL if they are "    \
      "unknown, as in a program with a collective of global device ids without groups, at which "  \
      "XLA's analysis fails",                                                                      \
      "libprofsql")                                                                                \
    C(HI_FINGERPRINT, "fingerprint", "TEXT", NULL,                                                 \
      "decimal fingerprint, equal for instructions of any program that do the same with the same " \
      "shapes, whatever their names; NULL in a damaged program",                                   \
      "hlo_fingerprint of XProf's Events DB")                                                      \
    C(HI_OWNER, OWNER_TF_OP_DOC)                                                                   \
    C(HI_OWNER_BY, OWNER_BY_DOC)                                                                   \
    C(HI_OWNER_OP, OWNER_HLO_OP_DOC)                                                               \
    C(HI_SCOPE, SCOPE_DOC)                                                                         \
    C(HI_SCOPE_BY, SCOPE_BY_DOC)                                                                   \
    C(HI_PASS, PASS_DOC)                                                                           \
    C(HI_USER_FILE, USER_FILE_DOC)                                                                 \
    C(HI_USER_LINE, USER_LINE_DOC)                                                                 \
    C(HI_USER_FUNCTION, USER_FUNCTION_DOC)                                                         \
    C(HI_FLOPS_ACTUAL, "flops_actual", "REAL", "FLOP",                                             \
      "model_flops_actual, but an 8-bit operation counts as a half and a 4-bit one as a quarter, " \
      "for which peak rates are higher; NULL if model_flops_actual is NULL",                       \
      "HLO program")                                                                               \
    C(HI_RUNS, "runs_per_execution", "INTEGER", NULL,                                              \
      "number of times that the instruction runs in one execution of the program: once for each "  \
      "iteration of the loops around it. 0 if it never runs on its own, as in a fusion, and in "   \
      "the condition of a loop whose number of iterations the program records. NULL if unknown: "  \
      "inside a loop without that number, in a branch of a conditional, and in a program that "    \
      "calls itself",                                                                              \
      "known_trip_count of while loops")                                                           \
    C(HI_WORK_KIND, "work_kind", "TEXT", NULL,                                                     \
      "compute, collective or transfer: the kind of work of a TensorCore's op "                    \
      "(docs/semantics.md), on GPUs too",                                                          \
      "libprofsql")                                                                                \
    C(HI_ACCESSED_ACTUAL, "bytes_accessed_actual", "INTEGER", "bytes",                             \
      "bytes read plus bytes written by one execution, including library calls. In "               \
      "profiles of TPUs: bytes_accessed. Otherwise: of a call of cuBLAS, cuDNN or cuSOLVER "       \
      "(matrix product, convolution, attention, solver), the bytes of its operands and "           \
      "results (without the last of several results if that is an array of bytes, which is "       \
      "workspace); of a call or while that runs such calls, bytes_accessed with these "            \
      "bytes for each of them. NULL if unknown: of other custom calls, of a conditional or "       \
      "async-start if XLA counts other bytes for a library call in it, and of a call, "            \
      "while, conditional or async-start that runs one of these",                                  \
      "HloCostAnalysis, bytes accessed; HLO program")                                              \
    C(HI_SOURCE, SOURCE_DOC)
enum { HLO_INSTRUCTIONS_COLUMNS(COLUMN_ENUM) };
static const Column hlo_instructions_columns[] = {HLO_INSTRUCTIONS_COLUMNS(COLUMN_DOC)};

static bool hlo_instructions_next(RowCursor *c)
{
    if (!row_next_op(c)) return false;
    c->place = row_place(c, ((HloAt *)c->state)->op);
    return true;
}

static const HloModule *module_of(const RowCursor *c) { return ((HloAt *)c->state)->module; }

static void result_sizes(sqlite3_context *ctx, const Xla__ShapeProto *shape, int column)
{
    if (!shape) return;
    ShapeSizes sizes = shape_sizes(shape);
    double efficiency = shape_efficiency(&sizes);
    if (!sizes.known) return;
    if (column == HI_EFFICIENCY && !isnan(efficiency)) sqlite3_result_double(ctx, efficiency);
    if (column == HI_BYTES) sqlite3_result_int64(ctx, sizes.bytes);
    if (column == HI_PADDED) sqlite3_result_int64(ctx, sizes.padded_bytes);
}

/* Writes the type of the result. A library call returns its result and scratch memory. */
static void result_type(sqlite3_context *ctx, const Xla__HloInstructionProto *op)
{
    const Xla__ShapeProto *shape = op->shape;
    if (shape && shape->element_type == XLA_TUPLE && shape->n_tuple_shapes &&
        !strcmp(op->opcode, "custom-call"))
        shape = shape->tuple_shapes[0];
    if (shape && primitive_name(shape->element_type))
        result_static(ctx, primitive_name(shape->element_type));
}

static bool is_of_tpu(const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].kind == PLANE_TENSORCORE) return true;
    return false;
}

/* Returns the costs in the metadata of a TPU's events; NULL if there are none. */
static const OpMetrics *metadata_cost(RowCursor *c, const Xla__HloInstructionProto *op)
{
    const HloModule *m = module_of(c);
    const OpMetricsDb *costs = host_metadata_costs(c->host, &c->err);
    return costs ? op_db_find(costs, m->program_id, op->name, strlen(op->name)) : NULL;
}

/* Writes the cost that the file contains, else the one that the program needs. */
static void result_tpu_cost(RowCursor *c, sqlite3_context *ctx, const Xla__HloInstructionProto *op,
                            int column)
{
    const OpMetrics *file = metadata_cost(c, op);
    const HloCost *program = c->err.code ? NULL : hlo_cost(module_of(c), op, &c->err);
    if (!program) return;
    if (column == HI_ACCESSED || column == HI_ACCESSED_ACTUAL) {
        bool known = file && file->has_actual_bytes;
        if (known || program->bytes_accessed_actual >= 0)
            sqlite3_result_int64(ctx, known ? (sqlite3_int64)file->bytes_accessed
                                            : program->bytes_accessed_actual);
        return;
    }
    bool known = file && !isnan(file->flops_actual);
    double flops = known ? file->flops : program->flops_actual;
    if (column == HI_MODEL_FLOPS) flops = known ? file->model_flops : program->model_flops_actual;
    if (flops < 0x1p63) sqlite3_result_int64(ctx, (sqlite3_int64)flops);
}

static void result_cost(RowCursor *c, sqlite3_context *ctx, const Xla__HloInstructionProto *op,
                        int column)
{
    if (is_of_tpu(c->host)) {
        result_tpu_cost(c, ctx, op, column);
        return;
    }
    const HloCost *cost = hlo_cost(module_of(c), op, &c->err);
    if (!cost) return;
    if (column == HI_ACCESSED_ACTUAL) {
        if (cost->bytes_accessed_actual >= 0)
            sqlite3_result_int64(ctx, cost->bytes_accessed_actual);
        return;
    }
    if (!cost->known) return;
    switch (column) {
    case HI_FLOPS: sqlite3_result_int64(ctx, cost->flops); break;
    case HI_MODEL_FLOPS: sqlite3_result_int64(ctx, cost->model_flops); break;
    default: sqlite3_result_int64(ctx, cost->bytes_accessed); break;
    }
}

static void result_cost_source(RowCursor *c, sqlite3_context *ctx,
                               const Xla__HloInstructionProto *op)
{
    const OpMetrics *file = is_of_tpu(c->host) ? metadata_cost(c, op) : NULL;
    const HloCost *program = c->err.code || file ? NULL : hlo_cost(module_of(c), op, &c->err);
    if (file || (program && program->known)) result_static(ctx, file ? "metadata" : "program");
}

static void result_whole(sqlite3_context *ctx, double number)
{
    if (number < 0x1p63) sqlite3_result_int64(ctx, (sqlite3_int64)number);
}

static void result_needed(RowCursor *c, sqlite3_context *ctx, const Xla__HloInstructionProto *op,
                          int column)
{
    const HloCost *cost = hlo_cost(module_of(c), op, &c->err);
    if (!cost || isnan(cost->model_flops_actual)) return;
    if (column == HI_FLOPS_ACTUAL)
        sqlite3_result_double(ctx, cost->flops_actual);
    else
        result_whole(ctx, cost->model_flops_actual);
}

static void result_called(sqlite3_context *ctx, const HloModule *m,
                          const Xla__HloInstructionProto *op)
{
    if (!op->more->n_called_computation_ids) return;
    TextBuffer names = {0};
    for (size_t i = 0; i < op->more->n_called_computation_ids; i++) {
        const Xla__HloComputationProto *called =
            hlo_computation(m, op->more->called_computation_ids[i]);
        if (i) text_add_char(&names, ',');
        text_add(&names, called ? called->name : "?");
    }
    result_buffer(ctx, &names);
}

static void result_work_kind(sqlite3_context *ctx, const HloModule *m,
                             const Xla__HloInstructionProto *op)
{
    TextBuffer text = {0};
    const char *category = hlo_category(m, op);
    hlo_instruction_text(m, op, HLO_TEXT_BRIEF, &text);
    enum WorkKind kind =
        op_work_kind((Slice){category, strlen(category)}, (Slice){text.text, text.n_bytes},
                     (Slice){op->name, strlen(op->name)});
    sqlite3_result_text(ctx, work_kind_names[kind], -1, SQLITE_STATIC);
    if (text.no_memory) sqlite3_result_error_nomem(ctx);
    text_free(&text);
}

static void hlo_instructions_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const HloModule *m = module_of(c);
    HloOp at = hlo_op(m, ((HloAt *)c->state)->op);
    const Xla__HloInstructionProto *op = at.instruction;
    TextBuffer text = {0};
    int64_t space;
    uint64_t fingerprint;
    if (row_program_column(c, ctx, column)) return;
    switch (column) {
    case HI_COMPUTATION: result_static(ctx, at.computation->name); break;
    case HI_ID: sqlite3_result_int64(ctx, op->id); break;
    case HI_NAME: result_static(ctx, op->name); break;
    case HI_OPCODE: result_static(ctx, op->opcode); break;
    case HI_CATEGORY: result_static(ctx, hlo_category(m, op)); break;
    case HI_FUSION_KIND: result_proto_text(ctx, op->more->fusion_kind); break;
    case HI_SHAPE:
        if (op->shape) hlo_shape_text(op->shape, true, &text);
        result_buffer(ctx, &text);
        break;
    case HI_EXPRESSION:
        hlo_instruction_text(m, op, HLO_TEXT_BRIEF, &text);
        result_buffer(ctx, &text);
        break;
    case HI_TYPE: result_type(ctx, op); break;
    case HI_BYTES:
    case HI_PADDED:
    case HI_EFFICIENCY: result_sizes(ctx, op->shape, column); break;
    case HI_SPACE:
        if (op->shape && shape_memory_space(op->shape, &space)) sqlite3_result_int64(ctx, space);
        break;
    case HI_FLOPS:
    case HI_MODEL_FLOPS:
    case HI_ACCESSED:
    case HI_ACCESSED_ACTUAL: result_cost(c, ctx, op, column); break;
    case HI_MODEL_FLOPS_ACTUAL:
    case HI_FLOPS_ACTUAL: result_needed(c, ctx, op, column); break;
    case HI_RUNS: result_whole(ctx, hlo_op_runs(m, ((HloAt *)c->state)->op, &c->err)); break;
    case HI_WORK_KIND: result_work_kind(ctx, m, op); break;
    case HI_COST_SOURCE: result_cost_source(c, ctx, op); break;
    case HI_TF_OP: result_proto_text(ctx, op->metadata ? op->metadata->op_name : ""); break;
    case HI_OP_TYPE: result_proto_text(ctx, op->metadata ? op->metadata->op_type : ""); break;
    case HI_FILE: result_source_file(ctx, m, op); break;
    case HI_LINE: result_source_line(ctx, m, op); break;
    case HI_STACK: result_source_stack(ctx, m, op); break;
    case HI_OWNER:
    case HI_OWNER_BY:
    case HI_OWNER_OP:
    case HI_SCOPE:
    case HI_SCOPE_BY:
    case HI_PASS:
    case HI_USER_FILE:
    case HI_USER_LINE:
    case HI_USER_FUNCTION:
        result_origin(c, ctx, m, op, ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - HI_OWNER));
        break;
    case HI_ROOT: sqlite3_result_int(ctx, at.computation->root_id == op->id); break;
    case HI_COMPUTATION_ID: sqlite3_result_int64(ctx, at.computation->id); break;
    case HI_CALLED: result_called(ctx, m, op); break;
    case HI_FINGERPRINT:
        if (hlo_fingerprint(m, op, &fingerprint, &c->err)) result_id(ctx, fingerprint);
        break;
    default: break;
    }
}

static const RowSource hlo_instructions_rows = {
    .next = hlo_instructions_next,
    .state_bytes = sizeof(HloAt),
    .column = hlo_instructions_column,
    .needs = NEED_PROGRAMS,
    .nothing = "no HLO program can be read (prof_issues has the reason)"};
const Table hlo_instructions_table = {
    "hlo_instructions",
    "one instruction of an HLO program",
    hlo_instructions_columns,
    COUNT(hlo_instructions_columns),
    &row_table_module,
    &hlo_instructions_rows,
    10000,
    "0.1.0",
    "SELECT opcode, count(*), sum(flops) FROM hlo_instructions GROUP BY opcode"};
