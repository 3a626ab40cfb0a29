// SPDX-License-Identifier: Apache-2.0
/* graph_kernels.c: the table graph_kernels: the instruction that each kernel of a CUDA graph runs.
 *
 *   SELECT scope, pass, sum(duration_us) FROM graph_kernels('logs') GROUP BY 1, 2;
 *   SELECT e.start_us, k.hlo_op FROM graph_kernels('logs') AS k
 *     JOIN trace_events('logs') AS e USING (run, event_id); */
#include "../loader/analysis/device/graph_kernels.h"

#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#define GRAPH_KERNELS_COLUMNS(C)                                                                   \
    C(GK_RUN, RUN_DOC)                                                                             \
    C(GK_HOST, HOST_DOC)                                                                           \
    C(GK_EVENT_ID, EVENT_ID_DOC)                                                                   \
    C(GK_NAME, "name", "TEXT", NULL, "name of the kernel or copy", "XEventMetadata.name")          \
    C(GK_SHORT, EVENT_SHORT_NAME_DOC)                                                              \
    C(GK_DURATION, "duration_ps", "INTEGER", "ps", "duration on the device", "XEvent.duration_ps") \
    C(GK_DURATION_US, DURATION_US_DOC)                                                             \
    C(GK_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(GK_MODULE, HLO_MODULE_DOC)                                                                   \
    C(GK_GRAPH, "graph", "TEXT", NULL,                                                             \
      "name of the graph, such as command_buffer_1, which the kernel records as its HLO op",       \
      "stat hlo_op")                                                                               \
    C(GK_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "name of the HLO instruction that the kernel runs (docs/semantics.md, Kernel of a CUDA "     \
      "graph); NULL if unknown",                                                                   \
      "HloInstructionProto.name")                                                                  \
    C(GK_FOUND_BY, "found_by", "TEXT", NULL,                                                       \
      "how the instruction was found: name (no other instruction has kernels of this name) or "    \
      "place (between kernels whose instructions are known, in the program's schedule); NULL if "  \
      "hlo_op is NULL",                                                                            \
      "libprofsql")                                                                                \
    C(GK_IS_EXECUTION, "is_execution", "INTEGER", "0 or 1",                                        \
      "1: the kernel counts as an execution of the instruction; 0: it is a further kernel of the " \
      "same execution, as library calls have them; NULL if hlo_op is NULL",                        \
      "libprofsql")                                                                                \
    C(GK_TF_OP, TF_OP_DOC)                                                                         \
    C(GK_OWNER, OWNER_TF_OP_DOC)                                                                   \
    C(GK_OWNER_BY, OWNER_BY_DOC)                                                                   \
    C(GK_OWNER_OP, OWNER_HLO_OP_DOC)                                                               \
    C(GK_SCOPE, SCOPE_DOC)                                                                         \
    C(GK_SCOPE_BY, SCOPE_BY_DOC)                                                                   \
    C(GK_PASS, PASS_DOC)                                                                           \
    C(GK_USER_FILE, USER_FILE_DOC)                                                                 \
    C(GK_USER_LINE, USER_LINE_DOC)                                                                 \
    C(GK_USER_FUNCTION, USER_FUNCTION_DOC)                                                         \
    C(GK_SOURCE, SOURCE_DOC)
enum { GRAPH_KERNELS_COLUMNS(COLUMN_ENUM) };
static const Column graph_kernels_columns[] = {GRAPH_KERNELS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const GraphKernels *all;
} GraphKernelsState;

static void graph_kernels_list(RowCursor *c, RowList *list)
{
    GraphKernelsState *state = c->state;
    if (!c->host->readable) return;
    state->all = host_graph_kernels(c->host, &c->err);
    if (state->all) *list = ROW_LIST(state->all->kernels, state->all->n);
}

static bool graph_kernels_shows(RowCursor *c, const void *item)
{
    const GraphKernel *kernel = item;
    c->place = kernel->event;
    return row_wanted(c, KEY_EVENT_ID, (int64_t)kernel->event);
}

static void instruction_column(RowCursor *c, sqlite3_context *ctx, int column,
                               const HloModule *module, const KernelPlace *place)
{
    const Xla__HloInstructionProto *op = hlo_op(module, place->position).instruction;
    switch (column) {
    case GK_HLO_OP: sqlite3_result_text(ctx, op->name, -1, SQLITE_STATIC); break;
    case GK_FOUND_BY:
        sqlite3_result_text(ctx, place->by == FOUND_BY_NAME ? "name" : "place", -1, SQLITE_STATIC);
        break;
    case GK_IS_EXECUTION: sqlite3_result_int(ctx, place->is_execution); break;
    case GK_TF_OP: result_proto_text(ctx, op->metadata ? op->metadata->op_name : ""); break;
    default:
        result_origin(c, ctx, module, op,
                      ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - GK_OWNER));
        break;
    }
}

static void graph_kernels_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const GraphKernel *kernel = c->row;
    const GraphKernels *all = ((const GraphKernelsState *)c->state)->all;
    const KernelGraph *graph = &all->graphs[kernel->graph];
    const PlacedKernel *placed = &all->placed[kernel->placed];
    switch (column) {
    case GK_EVENT_ID: sqlite3_result_int64(ctx, (sqlite3_int64)kernel->event); break;
    case GK_NAME: result_text(ctx, placed->name); break;
    case GK_SHORT: result_kernel(c, ctx, placed->name); break;
    case GK_DURATION:
    case GK_DURATION_US: result_time(ctx, kernel->duration_ps, column == GK_DURATION_US); break;
    case GK_PROGRAM: result_id(ctx, graph->program_id); break;
    case GK_MODULE: sqlite3_result_text(ctx, graph->module->name, -1, SQLITE_STATIC); break;
    case GK_GRAPH: result_utf8(ctx, (const uint8_t *)graph->name.text, graph->name.n); break;
    default:
        if (placed->place.by != FOUND_NOT)
            instruction_column(c, ctx, column, graph->module, &placed->place);
        break;
    }
}

static const RowSource graph_kernels_rows = {
    .list = graph_kernels_list,
    .shows = graph_kernels_shows,
    .state_bytes = sizeof(GraphKernelsState),
    .column = graph_kernels_column,
    .needs = NEED_EVENTS | NEED_GPU,
    .nothing = "no kernel of a GPU records a CUDA graph as the op of a program that the file "
               "contains; XLA runs kernels in graphs unless --xla_gpu_enable_command_buffer= is "
               "empty"};
const Table graph_kernels_table = {
    "graph_kernels",
    "one kernel or copy that a CUDA graph ran, with the HLO instruction that it runs",
    graph_kernels_columns,
    COUNT(graph_kernels_columns),
    &row_table_module,
    &graph_kernels_rows,
    1000,
    "0.1.0",
    "SELECT hlo_op, found_by, sum(duration_us) FROM graph_kernels GROUP BY 1, 2 ORDER BY 3 DESC"};
