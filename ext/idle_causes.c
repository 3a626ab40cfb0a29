// SPDX-License-Identifier: Apache-2.0
/* idle_causes.c: the table idle_causes: what the host did while devices were idle.
 *
 *   SELECT cause, name, idle_us, idle_percent FROM idle_causes('logs') LIMIT 5; */
#include "../loader/analysis/insights/idle_causes.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define IDLE_CAUSES_COLUMNS(C)                                                                     \
    C(IC_RUN, RUN_DOC)                                                                             \
    C(IC_CAUSE, "cause", "TEXT", NULL,                                                             \
      "what the thread that launches the next work did: compiling, tracing (and lowering), "       \
      "input, copy, waiting, launching, queued (the next work was launched before: the device's "  \
      "own delay), python (a Python frame), host (another event) or unknown (no event)",           \
      "libprofsql")                                                                                \
    C(IC_NAME, "name", "TEXT", NULL,                                                               \
      "name of the innermost annotation or other event around this activity, among those with "    \
      "at least a tenth of the run's idle time inside them (the outermost if none has that "       \
      "much); for compiling and tracing, the call of the function; NULL if there is none",         \
      "XEventMetadata.name")                                                                       \
    C(IC_FRAME, "python_frame", "TEXT", NULL,                                                      \
      "name of the innermost Python frame around this activity, no deeper than name; NULL if "     \
      "there is none",                                                                             \
      "XEventMetadata.name")                                                                       \
    C(IC_IDLE, "idle_us", "REAL", "us",                                                            \
      "idle time, averaged over the devices: a moment at which all are idle counts once. All "     \
      "rows of a run add up to the sum of its idle gaps divided by device_count",                  \
      "libprofsql")                                                                                \
    C(IC_PERCENT, "idle_percent", "REAL", "percent 0..100",                                        \
      "idle_us as a percentage of the sum of all rows of the run", "libprofsql")                   \
    C(IC_DEVICES, "device_count", "INTEGER", "devices",                                            \
      "number of GPUs and TensorCores of the run with work; SparseCores if none of these has "     \
      "work; if the run has no device, processes that run ops",                                    \
      "libprofsql")                                                                                \
    C(IC_SOURCE, SOURCE_DOC)
enum { IDLE_CAUSES_COLUMNS(COLUMN_ENUM) };
static const Column idle_causes_columns[] = {IDLE_CAUSES_COLUMNS(COLUMN_DOC)};

static const IdleCauses *causes_of(RowCursor *c)
{
    return run_idle_causes(c->from->run, c->from->only, &c->err);
}

static void idle_causes_list(RowCursor *c, RowList *list)
{
    const IdleCauses *all = causes_of(c);
    if (all) *list = ROW_LIST(all->rows, all->n);
}

static void idle_causes_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const IdleRow *row = c->row;
    const IdleCauses *all = causes_of(c); /* computed before */
    if (!all) return;
    switch (column) {
    case IC_CAUSE: result_static(ctx, idle_cause_names[row->cause]); break;
    case IC_NAME: result_text(ctx, row->name); break;
    case IC_FRAME: result_text(ctx, row->python_frame); break;
    case IC_IDLE:
        sqlite3_result_double(ctx, (double)row->idle_ps / 1e6 / (double)all->n_devices);
        break;
    case IC_PERCENT:
        sqlite3_result_double(ctx, 100 * (double)row->idle_ps / (double)all->idle_ps);
        break;
    case IC_DEVICES: sqlite3_result_int64(ctx, (sqlite3_int64)all->n_devices); break;
    default: break;
    }
}

static const RowSource idle_causes_rows = {
    .list = idle_causes_list,
    .column = idle_causes_column,
    .per_run = true,
    .needs = NEED_EVENTS,
    .nothing = "no device is idle between its first and its last work; in a run without devices, "
               "no op runs on a host thread, or there is no gap between ops"};
const Table idle_causes_table = {
    "idle_causes",
    "one activity of the host during which devices were idle, with the idle time; longest first",
    idle_causes_columns,
    COUNT(idle_causes_columns),
    &row_table_module,
    &idle_causes_rows,
    20,
    "0.1.0",
    "SELECT cause, name, python_frame, idle_us, idle_percent FROM idle_causes"};
