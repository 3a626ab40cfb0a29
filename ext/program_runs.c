// SPDX-License-Identifier: Apache-2.0
/* program_runs.c: the tables program_runs and program_gaps: when each device ran which program, and
 * when it ran none.
 *
 *   SELECT plane, before, after, duration_us, idle_percent
 *     FROM program_gaps('logs') ORDER BY duration_ps DESC LIMIT 10; */
#include "../loader/analysis/communication/program_gaps.h"

#include "prof.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

static void result_name(sqlite3_context *ctx, const ProgramRun *run)
{
    if (run && run->module) result_module(ctx, run->module);
}

static void result_program(sqlite3_context *ctx, const ProgramRun *run)
{
    if (run && run->has_program) result_id(ctx, run->program_id);
}

/* ---- program_runs ---- */

#define PROGRAM_RUNS_COLUMNS(C)                                                                    \
    C(PR_RUN, RUN_DOC)                                                                             \
    C(PR_HOST, HOST_DOC)                                                                           \
    C(PR_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(PR_PLANE, PLANE_DOC)                                                                         \
    C(PR_PROGRAM, "program_id", "TEXT", NULL, "id of the HLO program, decimal; NULL if unknown",   \
      "program_id; name of the event")                                                             \
    C(PR_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "name of the HLO module, without (program id); NULL if unknown",                             \
      "hlo_module; name of the event")                                                             \
    C(PR_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the execution, from the session start: start of the event on the line XLA "        \
      "Modules; on a GPU, start of the first kernel",                                              \
      "libprofsql")                                                                                \
    C(PR_START_US, START_US_DOC)                                                                   \
    C(PR_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the execution; on a GPU, from the start of the first kernel to the end of the " \
      "last one",                                                                                  \
      "libprofsql")                                                                                \
    C(PR_DURATION_US, DURATION_US_DOC)                                                             \
    C(PR_SOURCE, SOURCE_DOC)
enum { PROGRAM_RUNS_COLUMNS(COLUMN_ENUM) };
static const Column program_runs_columns[] = {PROGRAM_RUNS_COLUMNS(COLUMN_DOC)};

static void program_runs_list(RowCursor *c, RowList *list)
{
    const ProgramRuns *all = run_program_runs(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->runs, all->n);
}

static const Plane *program_runs_plane(const void *item)
{
    return ((const ProgramRun *)item)->plane;
}

static void program_runs_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ProgramRun *run = c->row;
    switch (column) {
    case PR_PLANE_ID: sqlite3_result_int64(ctx, run->plane->plane_id); break;
    case PR_PLANE: result_text(ctx, run->plane->name); break;
    case PR_PROGRAM: result_program(ctx, run); break;
    case PR_MODULE: result_name(ctx, run); break;
    case PR_START:
    case PR_START_US: result_time(ctx, run->start_ps, column == PR_START_US); break;
    default:
        result_span(ctx, time_between(run->start_ps, run->end_ps), column == PR_DURATION_US);
        break;
    }
}

static const RowSource program_runs_rows = {
    .list = program_runs_list,
    .plane = program_runs_plane,
    .column = program_runs_column,
    .needs = NEED_EVENTS | NEED_DEVICE,
    .nothing = "no device has a line XLA Modules, and no event on a GPU records a program (ops "
               "that run outside of XLA have none)"};
const Table program_runs_table = {
    "program_runs",
    "one execution of an HLO program on a device",
    program_runs_columns,
    COUNT(program_runs_columns),
    &row_table_module,
    &program_runs_rows,
    200,
    "0.1.0",
    "SELECT plane, hlo_module, count(*), sum(duration_us) FROM program_runs GROUP BY 1, 2"};

/* ---- program_gaps ---- */

#define AT_START "; NULL for the time from the start of the span to the first program"
#define AT_END "; NULL for the time from the last program to the end of the span"
#define PROGRAM_GAPS_COLUMNS(C)                                                                    \
    C(PG_RUN, RUN_DOC)                                                                             \
    C(PG_HOST, HOST_DOC)                                                                           \
    C(PG_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(PG_PLANE, PLANE_DOC)                                                                         \
    C(PG_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the gap, from the session start: end of the programs before it, or start of the "  \
      "device's span",                                                                             \
      "libprofsql")                                                                                \
    C(PG_START_US, START_US_DOC)                                                                   \
    C(PG_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the gap. Gaps and the time of programs add up to device_time.span_ps",          \
      "libprofsql")                                                                                \
    C(PG_DURATION_US, DURATION_US_DOC)                                                             \
    C(PG_IDLE, "idle_ps", "INTEGER", "ps",                                                         \
      "part of the gap in which the device is idle; in the rest it works outside programs, for "   \
      "example on copies",                                                                         \
      "libprofsql")                                                                                \
    C(PG_IDLE_US, "idle_us", "REAL", "us", "idle_ps in microseconds", "libprofsql")                \
    C(PG_IDLE_PERCENT, "idle_percent", "REAL", "percent 0..100",                                   \
      "idle_ps as a percentage of duration_ps", "libprofsql")                                      \
    C(PG_BEFORE, "before", "TEXT", NULL,                                                           \
      "HLO module of the program that ends at the start of the gap" AT_START                       \
      ", and if its name is unknown",                                                              \
      "libprofsql")                                                                                \
    C(PG_BEFORE_PROGRAM, "before_program_id", "TEXT", NULL,                                        \
      "id of the program that ends at the start of the gap, decimal" AT_START                      \
      ", and if it is unknown",                                                                    \
      "libprofsql")                                                                                \
    C(PG_AFTER, "after", "TEXT", NULL,                                                             \
      "HLO module of the program that starts at the end of the gap" AT_END                         \
      ", and if its name is unknown",                                                              \
      "libprofsql")                                                                                \
    C(PG_AFTER_PROGRAM, "after_program_id", "TEXT", NULL,                                          \
      "id of the program that starts at the end of the gap, decimal" AT_END                        \
      ", and if it is unknown",                                                                    \
      "libprofsql")                                                                                \
    C(PG_SOURCE, SOURCE_DOC)
enum { PROGRAM_GAPS_COLUMNS(COLUMN_ENUM) };
static const Column program_gaps_columns[] = {PROGRAM_GAPS_COLUMNS(COLUMN_DOC)};

static void program_gaps_list(RowCursor *c, RowList *list)
{
    const ProgramGaps *all = run_program_gaps(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->gaps, all->n);
}

static const Plane *program_gaps_plane(const void *item)
{
    return ((const ProgramGap *)item)->plane;
}

static void program_gaps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ProgramGap *gap = c->row;
    uint64_t duration = time_between(gap->start_ps, gap->end_ps), idle = duration - gap->busy_ps;
    switch (column) {
    case PG_PLANE_ID: sqlite3_result_int64(ctx, gap->plane->plane_id); break;
    case PG_PLANE: result_text(ctx, gap->plane->name); break;
    case PG_START:
    case PG_START_US: result_time(ctx, gap->start_ps, column == PG_START_US); break;
    case PG_DURATION:
    case PG_DURATION_US: result_span(ctx, duration, column == PG_DURATION_US); break;
    case PG_IDLE:
    case PG_IDLE_US: result_span(ctx, idle, column == PG_IDLE_US); break;
    case PG_IDLE_PERCENT:
        sqlite3_result_double(ctx, 100.0 * (double)idle / (double)duration);
        break;
    case PG_BEFORE: result_name(ctx, gap->before); break;
    case PG_BEFORE_PROGRAM: result_program(ctx, gap->before); break;
    case PG_AFTER: result_name(ctx, gap->after); break;
    default: result_program(ctx, gap->after); break;
    }
}

static const RowSource program_gaps_rows = {
    .list = program_gaps_list,
    .plane = program_gaps_plane,
    .column = program_gaps_column,
    .needs = NEED_EVENTS | NEED_DEVICE,
    .nothing = "no device has a gap: either none ran a program (program_runs), or programs fill "
               "the devices' spans"};
const Table program_gaps_table = {
    "program_gaps",
    "one part of a device's span in which it ran no HLO program, between two programs or at an end",
    program_gaps_columns,
    COUNT(program_gaps_columns),
    &row_table_module,
    &program_gaps_rows,
    200,
    "0.1.0",
    "SELECT plane, before, after, duration_us, idle_percent FROM program_gaps ORDER BY duration_ps "
    "DESC"};
