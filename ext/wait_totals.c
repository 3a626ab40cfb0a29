// SPDX-License-Identifier: Apache-2.0
/* wait_totals.c: the table wait_totals: how long host threads wait for devices.
 *
 *   SELECT line, name, calls, total_us FROM wait_totals('logs') ORDER BY total_us DESC; */
#include "../loader/analysis/insights/host_waits.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define WAIT_TOTALS_COLUMNS(C)                                                                     \
    C(WT_RUN, RUN_DOC)                                                                             \
    C(WT_HOST, HOST_DOC)                                                                           \
    C(WT_LINE_ID, LINE_ID_DOC)                                                                     \
    C(WT_LINE, "line", "TEXT", NULL, "name of the thread", "XLine.display_name, else XLine.name")  \
    C(WT_NAME, "name", "TEXT", NULL, "name of the waiting events, as in host_waits",               \
      "XEventMetadata.name")                                                                       \
    C(WT_CALLS, "calls", "INTEGER", "events",                                                      \
      "number of waits. A wait that starts within an earlier wait of its thread does not count. "  \
      "Of waits that start together the longest is the earliest, then the first in the file. "     \
      "Aggregated events are no waits",                                                            \
      "libprofsql")                                                                                \
    C(WT_TOTAL, "total_us", "REAL", "us", "sum of the durations of the waits",                     \
      "XEvent.duration_ps")                                                                        \
    C(WT_LONGEST, "longest_us", "REAL", "us", "duration of the longest wait",                      \
      "XEvent.duration_ps")                                                                        \
    C(WT_LONGEST_START, "longest_start_us", "REAL", "us",                                          \
      "start of the longest wait, from the session start; if there are several, the earliest",     \
      "libprofsql")                                                                                \
    C(WT_LONGEST_EVENT, "longest_event_id", "INTEGER", NULL,                                       \
      "event_id of this wait: its parent_id in trace_events is what called it", "libprofsql")      \
    C(WT_SOURCE, SOURCE_DOC)
enum { WAIT_TOTALS_COLUMNS(COLUMN_ENUM) };
static const Column wait_totals_columns[] = {WAIT_TOTALS_COLUMNS(COLUMN_DOC)};

static void wait_totals_list(RowCursor *c, RowList *list)
{
    const HostWaits *all = host_waits(c->host, &c->err);
    if (!all) return;
    *list = ROW_LIST(all->rows, all->n);
    list->first_place = place_pair(c->at_host, 32, 0);
}

static void wait_totals_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const HostWait *row = c->row;
    switch (column) {
    case WT_LINE_ID: sqlite3_result_int64(ctx, row->line->line_id); break;
    case WT_LINE: result_text(ctx, line_label(row->line)); break;
    case WT_NAME: result_text(ctx, row->name); break;
    case WT_CALLS: result_u64(ctx, row->n); break;
    case WT_TOTAL: sqlite3_result_double(ctx, row->total_ps / 1e6); break;
    case WT_LONGEST: result_time(ctx, row->longest_ps, true); break;
    case WT_LONGEST_START: result_time(ctx, row->longest_start_ps, true); break;
    case WT_LONGEST_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)row->longest); break;
    default: break;
    }
}

static const RowSource wait_totals_rows = {.list = wait_totals_list,
                                           .column = wait_totals_column,
                                           .needs = NEED_EVENTS,
                                           .nothing =
                                               "no event of a host thread is a wait for a device "
                                               "by its name"};
const Table wait_totals_table = {
    "wait_totals",
    "one name of waits for a device on one host thread: how many there are, and how long they "
    "take. host_waits also says what calls them",
    wait_totals_columns,
    COUNT(wait_totals_columns),
    &row_table_module,
    &wait_totals_rows,
    100,
    "0.1.0",
    "SELECT line, name, calls, total_us FROM wait_totals ORDER BY total_us DESC"};
