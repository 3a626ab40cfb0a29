// SPDX-License-Identifier: Apache-2.0
/* scope_ops.c: the table scope_ops: the time of each op, with its layer, its line of the user's
 * program and its owner.
 *
 *   SELECT scope, pass, sum(self_us) FROM scope_ops('logs') GROUP BY scope, pass;
 *   SELECT user_file, user_line, sum(self_us) FROM scope_ops('logs') GROUP BY 1, 2; */
#include "../loader/analysis/ops/scope_ops.h"

#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define SCOPE_OPS_COLUMNS(C)                                                                       \
    C(SC_RUN, RUN_DOC)                                                                             \
    C(SC_HOST, HOST_DOC)                                                                           \
    C(SC_KIND, "plane_kind", "TEXT", NULL,                                                         \
      "kind of the planes on which the op ran, as in planes.kind: gpu, tensorcore or sparsecore; " \
      "host in a run without devices. Planes of a kind on one host are combined",                  \
      "libprofsql")                                                                                \
    C(SC_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the program, decimal; NULL for an op of no program", "stat program_id")               \
    C(SC_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "name of the program's HLO module; NULL if the file does not contain the instruction",       \
      "HloModuleProto.name")                                                                       \
    C(SC_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "name of the HLO instruction. A kernel of a CUDA graph records the graph instead, such as "  \
      "command_buffer_1: it counts as the instruction that it runs (graph_kernels), and stays "    \
      "the graph's if that is unknown. NULL for an op of no program",                              \
      "stat hlo_op; on TPUs XEventMetadata.display_name, else name up to ` = `")                   \
    C(SC_TF_OP, "tf_op", "TEXT", NULL,                                                             \
      "framework op of the instruction; if it is unknown, as the events record it, with :type if " \
      "they have it; NULL if neither is known",                                                    \
      "OpMetadata.op_name; stat tf_op, else stat name; on host threads XEventMetadata.name")       \
    C(SC_NAME, "name", "TEXT", NULL,                                                               \
      "name of the events, such as a kernel or copy, if hlo_op and tf_op are NULL, or hlo_op is "  \
      "no instruction of the program; else NULL",                                                  \
      "XEventMetadata.name")                                                                       \
    C(SC_ITERATION, "iteration", "INTEGER", NULL,                                                  \
      "iteration of the loop around the op, from 0: the layer of a model that scans over its "     \
      "layers. A backward loop is counted from its end, so that a layer has the same number in "   \
      "both passes (docs/semantics.md, Iteration). NULL outside loops, if the profile records no " \
      "event for the loop (GPUs), and beyond the first 1000",                                      \
      "libprofsql")                                                                                \
    C(SC_OCCURRENCES, "occurrences", "INTEGER", "events",                                          \
      "number of events; an op that runs as two kernels has two", "libprofsql")                    \
    C(SC_EXECUTIONS, "executions", "INTEGER", NULL,                                                \
      "number of executions of the op. On GPUs hlo_ops.occurrences_actual, and those in CUDA "     \
      "graphs; elsewhere occurrences. NULL on GPUs for an op of no program, and for kernels of "   \
      "no known instruction",                                                                      \
      "libprofsql")                                                                                \
    C(SC_TOTAL, "total_us", "REAL", "us", "sum of the durations, nested ops included",             \
      "XEvent.duration_ps")                                                                        \
    C(SC_SELF, "self_us", "REAL", "us",                                                            \
      "total_us without the durations of directly nested ops, on the event clock", "libprofsql")   \
    C(SC_FLOPS, "flops", "REAL", "FLOP",                                                           \
      "floating-point operations of the occurrences. On devices: hlo_ops.model_flops_actual of "   \
      "the op on its host, in equal parts for its events. On host threads, and for kernels of "    \
      "CUDA graphs: hlo_instructions.model_flops_actual times the executions. NULL if unknown, "   \
      "for ops that run other ops (on devices according to the HLO program; on host threads if "   \
      "other ops nest in their events), and on host threads for loops and conditionals",           \
      "libprofsql")                                                                                \
    C(SC_BYTES, "bytes_accessed", "REAL", "bytes",                                                 \
      "bytes read plus bytes written by the occurrences. On devices: "                             \
      "hlo_ops.bytes_accessed_actual of the op on its host, in equal parts for its events. On "    \
      "host threads, and for kernels of CUDA graphs: what the program's instruction needs. NULL "  \
      "if unknown; on host threads also for loops, conditionals and ops whose events contain "     \
      "other ops",                                                                                 \
      "libprofsql")                                                                                \
    C(SC_OWNER, OWNER_TF_OP_DOC)                                                                   \
    C(SC_OWNER_BY, OWNER_BY_DOC)                                                                   \
    C(SC_OWNER_OP, OWNER_HLO_OP_DOC)                                                               \
    C(SC_SCOPE, SCOPE_DOC)                                                                         \
    C(SC_SCOPE_BY, SCOPE_BY_DOC)                                                                   \
    C(SC_PASS, PASS_DOC)                                                                           \
    C(SC_USER_FILE, USER_FILE_DOC)                                                                 \
    C(SC_USER_LINE, USER_LINE_DOC)                                                                 \
    C(SC_USER_FUNCTION, USER_FUNCTION_DOC)                                                         \
    C(SC_SOURCE, SOURCE_DOC)
enum { SCOPE_OPS_COLUMNS(COLUMN_ENUM) };
static const Column scope_ops_columns[] = {SCOPE_OPS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const ScopeOps *all;
} ScopeOpsState;

static void scope_ops_list(RowCursor *c, RowList *list)
{
    ScopeOpsState *state = c->state;
    state->all = run_scope_ops(c->from->run, c->from->only, &c->err);
    if (!state->all || !state->all->n_rows) return;
    size_t h = (size_t)(c->host - c->from->run->hosts);
    *list = ROW_LIST(state->all->rows + state->all->first[h],
                     state->all->first[h + 1] - state->all->first[h]);
    list->first_place = state->all->first[h];
}

static void result_share(sqlite3_context *ctx, const ScopedOp *op, const ScopedTime *row,
                         double of_all)
{
    if (isnan(of_all)) return;
    sqlite3_result_double(ctx, row->n == op->n ? of_all : of_all / (double)op->n * (double)row->n);
}

static void scope_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ScopedTime *row = c->row;
    const ScopedOp *op = &((ScopeOpsState *)c->state)->all->ops[row->op];
    switch (column) {
    case SC_KIND: result_static(ctx, plane_kind_names[op->plane_kind]); break;
    case SC_PROGRAM:
        if (op->has_program) result_id(ctx, op->program_id);
        break;
    case SC_MODULE:
        if (op->module) result_static(ctx, op->module->name);
        break;
    case SC_HLO_OP: result_nonempty(ctx, op->hlo_op); break;
    case SC_TF_OP:
        if (op->instruction)
            result_proto_text(ctx,
                              op->instruction->metadata ? op->instruction->metadata->op_name : "");
        else
            result_nonempty(ctx, op->tf_op);
        break;
    case SC_NAME:
        if (op->name->n_bytes || (!op->hlo_op->n_bytes && !op->tf_op->n_bytes))
            result_text(ctx, op->name);
        break;
    case SC_ITERATION: result_nonnegative(ctx, row->iteration); break;
    case SC_OCCURRENCES: result_u64(ctx, row->n); break;
    case SC_EXECUTIONS:
        if (op->plane_kind != PLANE_GPU || op->executions)
            result_u64(ctx, op->plane_kind == PLANE_GPU ? op->executions : row->n);
        break;
    case SC_TOTAL: result_time(ctx, row->total_ps, true); break;
    case SC_SELF: result_time(ctx, row->self_ps, true); break;
    case SC_FLOPS: result_share(ctx, op, row, op->flops); break;
    case SC_BYTES: result_share(ctx, op, row, op->n_bytes); break;
    default:
        if (op->instruction)
            result_origin(c, ctx, op->module, op->instruction,
                          ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - SC_OWNER));
        else
            result_name_origin(ctx, op->tf_op, slice_of(op->hlo_op),
                               ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - SC_OWNER));
        break;
    }
}

static const RowSource scope_ops_rows = {.list = scope_ops_list,
                                         .state_bytes = sizeof(ScopeOpsState),
                                         .column = scope_ops_column,
                                         .needs = NEED_EVENTS,
                                         .nothing =
                                             "no device has work, and no event of a host thread is "
                                             "an op of an HLO program or of TensorFlow"};
const Table scope_ops_table = {
    "scope_ops",
    "one op (in a loop, one iteration of it) on the devices of a kind, or on a host's threads in a "
    "run without devices, with its time, scope, owner and user line",
    scope_ops_columns,
    COUNT(scope_ops_columns),
    &row_table_module,
    &scope_ops_rows,
    2000,
    "0.1.0",
    "SELECT scope, pass, sum(self_us) FROM scope_ops GROUP BY scope, pass ORDER BY 3 DESC"};
