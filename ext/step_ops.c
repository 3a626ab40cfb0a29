// SPDX-License-Identifier: Apache-2.0
/* step_ops.c: the table step_ops: how often and how long each op ran in each step.
 *
 *   SELECT step, name, self_us FROM step_ops('logs') WHERE name LIKE '%compile%'; */
#include "../loader/analysis/steps/step_ops.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define STEP_OPS_COLUMNS(C)                                                                        \
    C(SO_RUN, RUN_DOC)                                                                             \
    C(SO_HOST, HOST_DOC)                                                                           \
    C(SO_STEP, "step", "INTEGER", NULL, "number of the step, as in steps", "steps")                \
    C(SO_PLANE_KIND, "plane_kind", "TEXT", NULL,                                                   \
      "kind of the planes, as in planes.kind: host, gpu, tensorcore or sparsecore; planes of a "   \
      "kind on one host are combined",                                                             \
      "libprofsql")                                                                                \
    C(SO_NAME, "name", "TEXT", NULL, "name of the events; on TPUs the op's HLO text",              \
      "XEventMetadata.name")                                                                       \
    C(SO_SHORT_NAME, EVENT_SHORT_NAME_DOC)                                                         \
    C(SO_IN_GROUP, "in_group", "INTEGER", "0 or 1",                                                \
      "1: the events have the step's group; 0: they belong to the step by their time, and may "    \
      "only run at the same time as it",                                                           \
      "stat group_id, or libprofsql's grouping")                                                   \
    C(SO_OCCURRENCES, "occurrences", "INTEGER", "events", "number of events in the step",          \
      "libprofsql")                                                                                \
    C(SO_TOTAL, "total_us", "REAL", "us",                                                          \
      "sum of the durations of the events in the step, nested events included; simultaneous "      \
      "events of several threads or devices add up",                                               \
      "XEvent.duration_ps")                                                                        \
    C(SO_SELF, "self_us", "REAL", "us",                                                            \
      "total_us without the durations of directly nested events; negative if these overlap each "  \
      "other",                                                                                     \
      "libprofsql")                                                                                \
    C(SO_SOURCE, SOURCE_DOC)
enum { STEP_OPS_COLUMNS(COLUMN_ENUM) };
static const Column step_ops_columns[] = {STEP_OPS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const StepOps *ops;
} StepOpsState;

static void step_ops_list(RowCursor *c, RowList *list)
{
    const StepOpOrder *all = run_step_op_order(c->from->run, c->from->only, &c->err);
    if (!all || !all->ops->n) return;
    ((StepOpsState *)c->state)->ops = all->ops;
    size_t h = (size_t)(c->host - c->from->run->hosts), first = all->ops->first[h];
    *list = ROW_LIST(all->rows + first, all->ops->first[h + 1] - first);
    list->first_place = first;
}

static void step_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const StepOps *all = ((StepOpsState *)c->state)->ops;
    const StepOp *row = &all->rows[*(const uint32_t *)c->row];
    const StepOpKey *op = &all->ops[row->op];
    const EventMeta *meta = row->meta;
    switch (column) {
    case SO_STEP: sqlite3_result_int64(ctx, all->steps->steps[row->place].number); break;
    case SO_PLANE_KIND: result_static(ctx, plane_kind_names[op->plane_kind]); break;
    case SO_NAME: result_text(ctx, meta->name); break;
    case SO_SHORT_NAME:
        if (op->plane_kind == PLANE_GPU)
            result_kernel(c, ctx, meta->name);
        else
            result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
        break;
    case SO_IN_GROUP: sqlite3_result_int(ctx, op->in_group); break;
    case SO_OCCURRENCES: result_u64(ctx, row->n); break;
    case SO_TOTAL: result_time(ctx, row->total_ps, true); break;
    case SO_SELF: result_time(ctx, row->self_ps, true); break;
    default: break;
    }
}

static const RowSource step_ops_rows = {.list = step_ops_list,
                                        .state_bytes = sizeof(StepOpsState),
                                        .column = step_ops_column,
                                        .needs = NEED_EVENTS | NEED_STEPS,
                                        .nothing =
                                            "no event of a host thread or device is in a step"};
const Table step_ops_table = {
    "step_ops",
    "one op or host event in one step: how often and how long it ran (docs/semantics.md)",
    step_ops_columns,
    COUNT(step_ops_columns),
    &row_table_module,
    &step_ops_rows,
    5000,
    "0.1.0",
    "SELECT step, plane_kind, name, self_us FROM step_ops ORDER BY self_us DESC LIMIT 10"};
