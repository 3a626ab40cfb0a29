// SPDX-License-Identifier: Apache-2.0
/* compiler_events.c: the table compiler_events: what the threads of compilers did.
 *
 *   SELECT name, function, self_us FROM compiler_events('logs') ORDER BY self_us DESC; */
#include "../loader/analysis/steps/compiler_events.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define COMPILER_EVENTS_COLUMNS(C)                                                                 \
    C(CE_RUN, RUN_DOC)                                                                             \
    C(CE_HOST, HOST_DOC)                                                                           \
    C(CE_LINE_ID, LINE_ID_DOC)                                                                     \
    C(CE_NAME, "name", "TEXT", NULL, "name of the events", "XEventMetadata.name")                  \
    C(CE_FUNCTION, "function", "TEXT", NULL,                                                       \
      "function that was compiled, else the HLO module, as in compilations; NULL if neither is "   \
      "known. An event during several compilations counts for the one that started last",          \
      "libprofsql")                                                                                \
    C(CE_OCCURRENCES, "occurrences", "INTEGER", "events", "number of events", "libprofsql")        \
    C(CE_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "sum of the durations of the events, nested events included", "XEvent.duration_ps")          \
    C(CE_DURATION_US, DURATION_US_DOC)                                                             \
    C(CE_SELF, "self_ps", "INTEGER", "ps",                                                         \
      "duration_ps without the durations of directly nested events; negative if these overlap "    \
      "each other",                                                                                \
      "libprofsql")                                                                                \
    C(CE_SELF_US, "self_us", "REAL", "us", "self_ps in microseconds", "libprofsql")                \
    C(CE_SOURCE, SOURCE_DOC)
enum { COMPILER_EVENTS_COLUMNS(COLUMN_ENUM) };
static const Column compiler_events_columns[] = {COMPILER_EVENTS_COLUMNS(COLUMN_DOC)};

static void compiler_events_list(RowCursor *c, RowList *list)
{
    const CompilerEventList *all = host_compiler_events(c->host, &c->err);
    if (!all) return;
    *list = ROW_LIST(all->rows, all->n);
    list->first_place = place_pair(c->at_host, 32, 0);
}

static void compiler_events_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const CompilerEvents *row = c->row;
    switch (column) {
    case CE_LINE_ID: sqlite3_result_int64(ctx, row->line->line_id); break;
    case CE_NAME: result_text(ctx, row->name); break;
    case CE_FUNCTION: result_nonempty(ctx, row->function); break;
    case CE_OCCURRENCES: result_u64(ctx, row->n); break;
    case CE_DURATION:
    case CE_DURATION_US: result_time(ctx, row->duration_ps, column == CE_DURATION_US); break;
    case CE_SELF:
    case CE_SELF_US: result_time(ctx, row->self_ps, column == CE_SELF_US); break;
    default: break;
    }
}

static const RowSource compiler_events_rows = {
    .list = compiler_events_list,
    .column = compiler_events_column,
    .needs = NEED_EVENTS,
    .nothing = "no program was compiled during the capture, or no thread of the compiler is "
               "recorded"};
const Table compiler_events_table = {
    "compiler_events",
    "one name of events on one thread of a compiler, during the compilations of one function: how "
    "often and how long these ran (docs/semantics.md)",
    compiler_events_columns,
    COUNT(compiler_events_columns),
    &row_table_module,
    &compiler_events_rows,
    100,
    "0.1.0",
    "SELECT name, function, occurrences, self_us FROM compiler_events ORDER BY self_us DESC"};
