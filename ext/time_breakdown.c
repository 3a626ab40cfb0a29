// SPDX-License-Identifier: Apache-2.0
/* time_breakdown.c: the table time_breakdown: for how long each device does what simultaneously.
 *
 *   SELECT plane, activity, duration_us, span_percent FROM time_breakdown('logs'); */
#include "../loader/analysis/communication/time_breakdown.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define TIME_BREAKDOWN_COLUMNS(C)                                                                  \
    C(TB_RUN, RUN_DOC)                                                                             \
    C(TB_HOST, HOST_DOC)                                                                           \
    C(TB_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(TB_PLANE, PLANE_DOC)                                                                         \
    C(TB_LINE_ID, "line_id", "INTEGER", NULL,                                                      \
      "number of the line in the run, from 0; NULL unless by_line is 1", "libprofsql")             \
    C(TB_LINE, "line", "TEXT", NULL, "name of the line; NULL unless by_line is 1", "XLine.name")   \
    C(TB_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step (as in steps) whose interval on the device includes this time; NULL "    \
      "outside all steps, on a SparseCore, and unless by_step is 1",                               \
      "steps")                                                                                     \
    C(TB_ACTIVITY, "activity", "TEXT", NULL,                                                       \
      "activities that run at the same time: computing, communicating, transferring, joined by ' " \
      "+ '; none if there is no activity",                                                         \
      "libprofsql")                                                                                \
    C(TB_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "part of the device's span in which exactly these activities run; the rows of a device, or " \
      "of a line, add up to device_time.span_ps",                                                  \
      "libprofsql")                                                                                \
    C(TB_DURATION_US, DURATION_US_DOC)                                                             \
    C(TB_PERCENT, "span_percent", "REAL", "percent 0..100",                                        \
      "duration_ps as a percentage of the device's span", "libprofsql")                            \
    C(TB_WAITING, "waiting_ps", "INTEGER", "ps",                                                   \
      "part of duration_ps in which the core waits for an asynchronous op: the innermost op is "   \
      "its done op; NULL on a GPU, whose streams do not record when they wait",                    \
      "libprofsql")                                                                                \
    C(TB_IDLE, "idle_ps", "INTEGER", "ps",                                                         \
      "part of duration_ps in which the device is idle: all of it if activity is none; on a TPU "  \
      "asynchronous ops can run meanwhile",                                                        \
      "libprofsql")                                                                                \
    C(TB_SOURCE, SOURCE_DOC)                                                                       \
    C(TB_BY_STEP, "by_step", "INTEGER HIDDEN", "0 or 1",                                           \
      "1: separate rows for each step; 0: all time together; default 0", "argument 2")             \
    C(TB_BY_LINE, "by_line", "INTEGER HIDDEN", "0 or 1",                                           \
      "1: separate rows for each stream of a GPU and each op line of a TPU core, which count "     \
      "only the work on that line (an asynchronous op counts as its start and done ops); 0: rows " \
      "for the device; default 0",                                                                 \
      "argument 3")
enum { TIME_BREAKDOWN_COLUMNS(COLUMN_ENUM) };
static const Column time_breakdown_columns[] = {TIME_BREAKDOWN_COLUMNS(COLUMN_DOC)};

static void time_breakdown_list(RowCursor *c, RowList *list)
{
    bool by_step = row_integer_parameter(c, 0, 0) != 0,
         by_line = row_integer_parameter(c, 1, 0) != 0;
    const TimeBreakdown *all =
        run_time_breakdown(c->from->run, c->from->only, by_step, by_line, &c->err);
    if (all) *list = ROW_LIST(all->parts, all->n);
}

static const Plane *time_breakdown_plane(const void *item)
{
    return ((const TimePart *)item)->plane;
}

static bool time_breakdown_shows(RowCursor *c, const void *item)
{
    const TimePart *part = item;
    return part->line ? row_wanted(c, KEY_LINE_ID, part->line->line_id) : !c->has_key[KEY_LINE_ID];
}

static void time_breakdown_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const TimePart *part = c->row;
    switch (column) {
    case TB_PLANE_ID: sqlite3_result_int64(ctx, part->plane->plane_id); break;
    case TB_PLANE: result_text(ctx, part->plane->name); break;
    case TB_LINE_ID:
        if (part->line) sqlite3_result_int64(ctx, part->line->line_id);
        break;
    case TB_LINE:
        if (part->line) result_text(ctx, part->line->name);
        break;
    case TB_STEP:
        if (part->step) sqlite3_result_int64(ctx, part->step->number);
        break;
    case TB_ACTIVITY: result_static(ctx, activity_names[part->activity]); break;
    case TB_DURATION:
    case TB_DURATION_US: result_span(ctx, part->ps, column == TB_DURATION_US); break;
    case TB_PERCENT:
        sqlite3_result_double(ctx, 100.0 * (double)part->ps / (double)part->span_ps);
        break;
    case TB_WAITING:
        if (part->plane->kind != PLANE_GPU) result_u64(ctx, part->waiting_ps);
        break;
    default: result_u64(ctx, part->idle_ps); break;
    }
}

static const RowSource time_breakdown_rows = {
    .list = time_breakdown_list,
    .plane = time_breakdown_plane,
    .shows = time_breakdown_shows,
    .column = time_breakdown_column,
    .n_parameters = 2,
    .needs = NEED_EVENTS | NEED_DEVICE,
    .nothing = "the devices' spans are 0: all of their work starts and ends at one moment"};
const Table time_breakdown_table = {
    "time_breakdown",
    "one combination of activities of a device (computing, communicating, transferring, or none of "
    "them), with the part of its span in which exactly these run",
    time_breakdown_columns,
    COUNT(time_breakdown_columns),
    &row_table_module,
    &time_breakdown_rows,
    20,
    "0.1.0",
    "SELECT plane, activity, duration_us, span_percent FROM time_breakdown"};
