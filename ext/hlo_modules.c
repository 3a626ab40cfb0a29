// SPDX-License-Identifier: Apache-2.0
/* hlo_modules.c: the tables hlo_modules, hlo_computations and hlo_operands: what HLO programs
 * consist of.
 *
 *   SELECT hlo_module, instruction_count, peak_heap_bytes FROM hlo_modules('logs');
 *   -- what feeds an instruction
 *   SELECT operand FROM hlo_operands('logs') WHERE hlo_module = 'jit_step' AND hlo_op = 'fusion.3';
 */
#include "../loader/analysis/program/heap.h"
#include "../loader/format/shape.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

/* ---- hlo_modules ---- */

#define HLO_MODULES_COLUMNS(C)                                                                     \
    C(HM_RUN, RUN_DOC)                                                                             \
    C(HM_HOST, HOST_DOC)                                                                           \
    C(HM_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(HM_MODULE, HLO_MODULE_DOC)                                                                   \
    C(HM_PATH, "path", "TEXT", NULL,                                                               \
      "file that contains the program: the profile itself, a *.hlo_proto.pb next to it, or a "     \
      "file of an HLO dump",                                                                       \
      "libprofsql")                                                                                \
    C(HM_ENTRY, "entry_computation", "TEXT", NULL, "name of the entry computation",                \
      "HloModuleProto.entry_computation_name")                                                     \
    C(HM_COMPUTATIONS, "computation_count", "INTEGER", "computations",                             \
      "number of computations in the module", "HloModuleProto.computations")                       \
    C(HM_INSTRUCTIONS, "instruction_count", "INTEGER", "instructions",                             \
      "number of instructions in all computations of the module",                                  \
      "HloComputationProto.instructions")                                                          \
    C(HM_PARAMETERS, "parameter_bytes", "INTEGER", "bytes",                                        \
      "size of the entry computation's parameters as their layouts store them, padding included; " \
      "NULL if a dimension has no known size",                                                     \
      "HloInstructionProto.shape")                                                                 \
    C(HM_PEAK, "peak_heap_bytes", "INTEGER", "bytes",                                              \
      "peak memory of the program in the main memory, parameters and outputs included; NULL if "   \
      "it has no buffer assignment that can be simulated",                                         \
      "memory_viewer peakHeapMib, in bytes")                                                       \
    C(HM_HASH, "content_hash", "TEXT", NULL,                                                       \
      "hash of the program's bytes; equal programs have equal hashes on all hosts", "libprofsql")  \
    C(HM_SIZE, "size_bytes", "INTEGER", "bytes", "size of the program's protobuf message",         \
      "libprofsql")                                                                                \
    C(HM_PLANE, "plane", "TEXT", NULL,                                                             \
      "plane that contains the program: /host:metadata, or the plane of a subprocess; NULL if "    \
      "the program has a file of its own",                                                         \
      "XPlane.name")                                                                               \
    C(HM_SOURCE, SOURCE_DOC)
enum { HLO_MODULES_COLUMNS(COLUMN_ENUM) };
static const Column hlo_modules_columns[] = {HLO_MODULES_COLUMNS(COLUMN_DOC)};

static bool hlo_modules_next(RowCursor *c)
{
    if (!row_next_module(c)) return false;
    c->place = row_place(c, 0);
    return true;
}

static void result_parameter_bytes(sqlite3_context *ctx, const HloModule *module)
{
    const Xla__HloComputationProto *entry = hlo_entry(module);
    int64_t sum = 0;
    if (!entry) return;
    for (size_t i = 0; i < entry->n_instructions; i++) {
        const Xla__HloInstructionProto *op = entry->instructions[i];
        if (strcmp(op->opcode, "parameter") != 0 || !op->shape) continue;
        ShapeSizes sizes = shape_sizes(op->shape);
        if (!sizes.known) return;
        sum = add_saturated(sum, sizes.padded_bytes);
    }
    sqlite3_result_int64(ctx, sum);
}

static void result_peak(RowCursor *c, sqlite3_context *ctx, const HloModule *module)
{
    const Heap *heap = hlo_heap(module, &c->err);
    const HeapSpace *space = heap ? heap_space(heap, 0) : NULL;
    if (!space || (space->trace && space->trace->failure)) return;
    sqlite3_result_int64(
        ctx, add_saturated(space->trace ? space->trace->peak_bytes : 0, space->indefinite_bytes));
}

static void hlo_modules_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const HloModule *m = ((HloAt *)c->state)->module;
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    const Xla__HloComputationProto *entry;
    if (row_program_column(c, ctx, column)) return;
    switch (column) {
    case HM_PATH: result_file_path(c, ctx, row_program(c)->path); break;
    case HM_ENTRY:
        entry = hlo_entry(m);
        result_proto_text(ctx, *hlo->entry_computation_name || !entry ? hlo->entry_computation_name
                                                                      : entry->name);
        break;
    case HM_COMPUTATIONS: sqlite3_result_int64(ctx, (sqlite3_int64)hlo->n_computations); break;
    case HM_INSTRUCTIONS: sqlite3_result_int64(ctx, (sqlite3_int64)m->n_ops); break;
    case HM_PARAMETERS: result_parameter_bytes(ctx, m); break;
    case HM_PEAK: result_peak(c, ctx, m); break;
    case HM_HASH:
        result_owned(ctx, sqlite3_mprintf("%016llx", (unsigned long long)m->content_hash));
        break;
    case HM_SIZE: sqlite3_result_int64(ctx, (sqlite3_int64)m->n_bytes); break;
    case HM_PLANE:
        if (row_program(c)->plane) result_text(ctx, row_program(c)->plane);
        break;
    default: break;
    }
}

static const RowSource hlo_modules_rows = {
    .next = hlo_modules_next,
    .state_bytes = sizeof(HloAt),
    .column = hlo_modules_column,
    .needs = NEED_PROGRAMS,
    .nothing = "no HLO program can be read (prof_issues has the reason)"};
const Table hlo_modules_table = {
    "hlo_modules",
    "one HLO program of a host",
    hlo_modules_columns,
    COUNT(hlo_modules_columns),
    &row_table_module,
    &hlo_modules_rows,
    20,
    "0.1.0",
    "SELECT hlo_module, instruction_count, peak_heap_bytes FROM hlo_modules"};

/* ---- hlo_computations ---- */

#define HLO_COMPUTATIONS_COLUMNS(C)                                                                \
    C(HC_RUN, RUN_DOC)                                                                             \
    C(HC_HOST, HOST_DOC)                                                                           \
    C(HC_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(HC_MODULE, HLO_MODULE_DOC)                                                                   \
    C(HC_ID, "computation_id", "INTEGER", NULL, "id of the computation in its module",             \
      "HloComputationProto.id")                                                                    \
    C(HC_NAME, "computation", "TEXT", NULL, "name of the computation", "HloComputationProto.name") \
    C(HC_ENTRY, "is_entry", "INTEGER", "0 or 1",                                                   \
      "1: the entry computation, with which the program starts",                                   \
      "HloModuleProto.entry_computation_id")                                                       \
    C(HC_FUSION, "is_fusion", "INTEGER", "0 or 1",                                                 \
      "1: the body of a fusion (marked as one, or called by a fusion)",                            \
      "HloComputationProto.is_fusion_computation, HloInstructionProto.called_computation_ids")     \
    C(HC_INSTRUCTIONS, "instruction_count", "INTEGER", "instructions",                             \
      "number of instructions in the computation", "HloComputationProto.instructions")             \
    C(HC_THREAD, "execution_thread", "TEXT", NULL,                                                 \
      "name of the thread that runs the computation; NULL for the main thread",                    \
      "HloComputationProto.execution_thread")                                                      \
    C(HC_SOURCE, SOURCE_DOC)
enum { HLO_COMPUTATIONS_COLUMNS(COLUMN_ENUM) };
static const Column hlo_computations_columns[] = {HLO_COMPUTATIONS_COLUMNS(COLUMN_DOC)};

typedef struct {
    HloAt at;
    size_t computation;
} ComputationAt;

static bool hlo_computations_next(RowCursor *c)
{
    ComputationAt *state = c->state;
    const HloModule *m = state->at.module;
    state->computation++;
    for (; !m || state->computation >= m->proto->hlo_module->n_computations; state->computation = 0)
        if (!(m = row_next_module(c))) return false;
    c->place = row_place(c, state->computation);
    return true;
}

static void hlo_computations_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ComputationAt *state = c->state;
    const HloModule *m = state->at.module;
    const Xla__HloComputationProto *computation =
        m->proto->hlo_module->computations[state->computation];
    if (row_program_column(c, ctx, column)) return;
    switch (column) {
    case HC_ID: sqlite3_result_int64(ctx, computation->id); break;
    case HC_NAME: result_static(ctx, computation->name); break;
    case HC_ENTRY: sqlite3_result_int(ctx, computation == hlo_entry(m)); break;
    case HC_FUSION: sqlite3_result_int(ctx, m->is_fusion[state->computation]); break;
    case HC_INSTRUCTIONS:
        sqlite3_result_int64(ctx, (sqlite3_int64)computation->n_instructions);
        break;
    case HC_THREAD:
        result_proto_text(ctx, strcmp(computation->execution_thread, "main") != 0
                                   ? computation->execution_thread
                                   : "");
        break;
    default: break;
    }
}

static const RowSource hlo_computations_rows = {
    .next = hlo_computations_next,
    .state_bytes = sizeof(ComputationAt),
    .column = hlo_computations_column,
    .needs = NEED_PROGRAMS,
    .nothing = "no HLO program can be read (prof_issues has the reason)"};
const Table hlo_computations_table = {
    "hlo_computations",
    "one computation of an HLO program",
    hlo_computations_columns,
    COUNT(hlo_computations_columns),
    &row_table_module,
    &hlo_computations_rows,
    1000,
    "0.1.0",
    "SELECT hlo_module, computation, instruction_count FROM hlo_computations"};

/* ---- hlo_operands ---- */

#define HLO_OPERANDS_COLUMNS(C)                                                                    \
    C(OP_RUN, RUN_DOC)                                                                             \
    C(OP_HOST, HOST_DOC)                                                                           \
    C(OP_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(OP_MODULE, HLO_MODULE_DOC)                                                                   \
    C(OP_ID, "instruction_id", "INTEGER", NULL, "id of the instruction that uses the operand",     \
      "HloInstructionProto.id")                                                                    \
    C(OP_INDEX, "operand_index", "INTEGER", NULL,                                                  \
      "position of the operand in the instruction, from 0", "HloInstructionProto.operand_ids")     \
    C(OP_OPERAND_ID, "operand_id", "INTEGER", NULL,                                                \
      "id of the instruction that produces the operand", "HloInstructionProto.operand_ids")        \
    C(OP_NAME, "hlo_op", "TEXT", NULL,                                                             \
      "name of the instruction that uses the operand, unique in its module",                       \
      "HloInstructionProto.name")                                                                  \
    C(OP_OPERAND, "operand", "TEXT", NULL,                                                         \
      "name of the instruction that produces the operand; NULL if the module has no instruction "  \
      "of this id",                                                                                \
      "HloInstructionProto.name")                                                                  \
    C(OP_SOURCE, SOURCE_DOC)
enum { HLO_OPERANDS_COLUMNS(COLUMN_ENUM) };
static const Column hlo_operands_columns[] = {HLO_OPERANDS_COLUMNS(COLUMN_DOC)};

typedef struct {
    HloAt at;
    bool has_op;
    size_t operand; /* index in the instruction */
} OperandAt;

static const Xla__HloInstructionProto *instruction_of(const HloAt *at)
{
    return hlo_op(at->module, at->op).instruction;
}

static bool hlo_operands_next(RowCursor *c)
{
    OperandAt *state = c->state;
    state->operand++;
    while (!state->has_op || state->operand >= instruction_of(&state->at)->n_operand_ids) {
        if (!row_next_op(c)) return false;
        state->operand = 0, state->has_op = true;
    }
    c->place = row_place(c, place_pair(state->at.op, 14, state->operand));
    return true;
}

static void hlo_operands_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const OperandAt *state = c->state;
    const HloModule *m = state->at.module;
    const Xla__HloInstructionProto *op = instruction_of(&state->at), *operand;
    if (row_program_column(c, ctx, column)) return;
    switch (column) {
    case OP_ID: sqlite3_result_int64(ctx, op->id); break;
    case OP_INDEX: sqlite3_result_int64(ctx, (sqlite3_int64)state->operand); break;
    case OP_OPERAND_ID: sqlite3_result_int64(ctx, op->operand_ids[state->operand]); break;
    case OP_NAME: result_static(ctx, op->name); break;
    case OP_OPERAND:
        operand = hlo_instruction(m, op->operand_ids[state->operand]);
        if (operand) result_static(ctx, operand->name);
        break;
    default: break;
    }
}

static const RowSource hlo_operands_rows = {
    .next = hlo_operands_next,
    .state_bytes = sizeof(OperandAt),
    .column = hlo_operands_column,
    .needs = NEED_PROGRAMS,
    .nothing = "no instruction of a readable program has an operand"};
const Table hlo_operands_table = {
    "hlo_operands",
    "one operand of an HLO instruction",
    hlo_operands_columns,
    COUNT(hlo_operands_columns),
    &row_table_module,
    &hlo_operands_rows,
    10000,
    "0.1.0",
    "SELECT hlo_op, operand_index, operand FROM hlo_operands LIMIT 10"};
