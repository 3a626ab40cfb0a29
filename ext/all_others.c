// SPDX-License-Identifier: Apache-2.0
/* all_others.c: the table all_others: what the host did in the part of the steps that XProf calls
 * All others.
 *
 *   SELECT cause, name, all_others_ms, step_percent FROM all_others('logs') LIMIT 5; */
#include "../loader/analysis/insights/all_others.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define ALL_OTHERS_COLUMNS(C)                                                                      \
    C(AO_RUN, RUN_DOC)                                                                             \
    C(AO_CAUSE, "cause", "TEXT", NULL,                                                             \
      "what the main thread of the host did: compiling, tracing (and lowering), input, copy, "     \
      "waiting, launching, python (a Python frame), host (another event) or unknown (no event), "  \
      "as in idle_causes",                                                                         \
      "libprofsql")                                                                                \
    C(AO_NAME, "name", "TEXT", NULL,                                                               \
      "name of the innermost annotation or other event around this activity, among those with "    \
      "at least a tenth of the run's All others inside them (the outermost if none has that "      \
      "much); the step's own event if nothing else runs; for compiling and tracing, the call of "  \
      "the function; NULL if there is none",                                                       \
      "XEventMetadata.name")                                                                       \
    C(AO_FRAME, "python_frame", "TEXT", NULL,                                                      \
      "name of the innermost Python frame around this activity, no deeper than name; NULL if "     \
      "there is none",                                                                             \
      "XEventMetadata.name")                                                                       \
    C(AO_TIME, "all_others_ms", "REAL", "ms",                                                      \
      "time in a complete step, averaged over steps and cores. All rows of a run add up to the "   \
      "average of steps.all_others_ms; of all_others_ms_actual if outside_xprof is 1",             \
      "libprofsql")                                                                                \
    C(AO_PERCENT, "percent", "REAL", "percent 0..100",                                             \
      "all_others_ms as a percentage of the sum of all rows of the run", "libprofsql")             \
    C(AO_OF_STEP, "step_percent", "REAL", "percent 0..100",                                        \
      "all_others_ms as a percentage of the average duration of the steps on their cores",         \
      "libprofsql")                                                                                \
    C(AO_STEPS, "step_count", "INTEGER", "steps", "number of complete steps of the run",           \
      "libprofsql")                                                                                \
    C(AO_SOURCE, SOURCE_DOC)
enum { ALL_OTHERS_COLUMNS(COLUMN_ENUM) };
static const Column all_others_columns[] = {ALL_OTHERS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const AllOthers *all;
} AllOthersState;

static void all_others_list(RowCursor *c, RowList *list)
{
    const AllOthers *all = run_all_others(c->from->run, c->from->only, &c->err);
    if (!all) return;
    ((AllOthersState *)c->state)->all = all;
    *list = ROW_LIST(all->causes->rows, all->causes->n);
}

static void all_others_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const AllOthers *all = ((AllOthersState *)c->state)->all;
    const IdleRow *row = c->row;
    switch (column) {
    case AO_CAUSE: result_static(ctx, idle_cause_names[row->cause]); break;
    case AO_NAME: result_text(ctx, row->name); break;
    case AO_FRAME: result_text(ctx, row->python_frame); break;
    case AO_TIME:
        sqlite3_result_double(ctx, (double)row->idle_ps / 1e9 / (double)all->n_cores);
        break;
    case AO_PERCENT: result_percent(ctx, row->idle_ps, all->causes->idle_ps); break;
    case AO_OF_STEP: result_percent(ctx, row->idle_ps, all->steps_ps); break;
    case AO_STEPS: result_u64(ctx, all->n_steps); break;
    default: break;
    }
}

static const RowSource all_others_rows = {
    .list = all_others_list,
    .state_bytes = sizeof(AllOthersState),
    .column = all_others_column,
    .per_run = true,
    .needs = NEED_EVENTS | NEED_STEPS,
    .nothing = "no complete step is on a host without TPUs (idle_causes shows what hosts did while "
               "TPUs were idle), or known activities take all of their time"};
const Table all_others_table = {
    "all_others",
    "one activity of the host in the time of the steps that XProf calls All others, because no "
    "known activity runs: what is in All others? The longest first",
    all_others_columns,
    COUNT(all_others_columns),
    &row_table_module,
    &all_others_rows,
    20,
    "0.1.0",
    "SELECT cause, name, python_frame, all_others_ms, step_percent FROM all_others"};
