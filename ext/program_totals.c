// SPDX-License-Identifier: Apache-2.0
/* program_totals.c: the table program_totals: how often and how long each device ran each program.
 *
 *   SELECT plane, hlo_module, executions, total_us FROM program_totals('logs'); */
#include "../loader/analysis/device/program_totals.h"

#include "prof.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

#define PROGRAM_TOTALS_COLUMNS(C)                                                                  \
    C(PT_RUN, RUN_DOC)                                                                             \
    C(PT_HOST, HOST_DOC)                                                                           \
    C(PT_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(PT_PLANE, PLANE_DOC)                                                                         \
    C(PT_PROGRAM, "program_id", "TEXT", NULL, "id of the HLO program, decimal; NULL if unknown",   \
      "program_id; name of the event")                                                             \
    C(PT_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "name of the HLO module, without (program id); NULL if unknown",                             \
      "hlo_module; name of the event")                                                             \
    C(PT_EXECUTIONS, "executions", "INTEGER", "executions",                                        \
      "number of executions on the device (rows of program_runs)", "libprofsql")                   \
    C(PT_TOTAL, "total_us", "REAL", "us",                                                          \
      "sum of their durations. On a GPU, an execution is from the start of its first kernel to "   \
      "the end of its last one, and executions on several streams overlap",                        \
      "libprofsql")                                                                                \
    C(PT_MIN, "min_us", "REAL", "us", "duration of the shortest execution", "libprofsql")          \
    C(PT_MAX, "max_us", "REAL", "us", "duration of the longest execution", "libprofsql")           \
    C(PT_SHOWN, "shown_executions", "REAL", "executions",                                          \
      "executions; the first and the last on a GPU, if the capture cut them, count as the share "  \
      "of their kernels that it shows (docs/semantics.md)",                                        \
      "libprofsql")                                                                                \
    C(PT_SOURCE, SOURCE_DOC)
enum { PROGRAM_TOTALS_COLUMNS(COLUMN_ENUM) };
static const Column program_totals_columns[] = {PROGRAM_TOTALS_COLUMNS(COLUMN_DOC)};

static void program_totals_list(RowCursor *c, RowList *list)
{
    const ProgramTotals *all = run_program_totals(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->rows, all->n);
}

static const Plane *program_totals_plane(const void *item)
{
    return ((const ProgramTotal *)item)->first->plane;
}

static void program_totals_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ProgramTotal *row = c->row;
    const ProgramRun *run = row->first;
    switch (column) {
    case PT_PLANE_ID: sqlite3_result_int64(ctx, run->plane->plane_id); break;
    case PT_PLANE: result_text(ctx, run->plane->name); break;
    case PT_PROGRAM:
        if (run->has_program) result_id(ctx, run->program_id);
        break;
    case PT_MODULE:
        if (run->module) result_module(ctx, run->module);
        break;
    case PT_EXECUTIONS: result_u64(ctx, row->n); break;
    case PT_TOTAL: sqlite3_result_double(ctx, row->total_ps / 1e6); break;
    case PT_SHOWN: sqlite3_result_double(ctx, row->shown); break;
    case PT_MIN: result_span(ctx, row->min_ps, true); break;
    case PT_MAX: result_span(ctx, row->max_ps, true); break;
    default: break;
    }
}

static const RowSource program_totals_rows = {
    .list = program_totals_list,
    .plane = program_totals_plane,
    .column = program_totals_column,
    .needs = NEED_EVENTS | NEED_DEVICE,
    .nothing = "no device has a line XLA Modules, and no event on a GPU records a program (ops "
               "that run outside of XLA have none)"};
const Table program_totals_table = {
    "program_totals",
    "one HLO program (id and module) on one device: how often it ran, and for how long",
    program_totals_columns,
    COUNT(program_totals_columns),
    &row_table_module,
    &program_totals_rows,
    50,
    "0.1.0",
    "SELECT plane, hlo_module, executions, total_us FROM program_totals ORDER BY total_us DESC"};
