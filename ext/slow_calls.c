// SPDX-License-Identifier: Apache-2.0
/* slow_calls.c: the table slow_calls: single calls of an op that took longer than its other calls.
 *
 *   SELECT short_name, start_us, duration_us, median_us FROM slow_calls('logs', 'AllReduce', 10);
 */
#include "../loader/analysis/ops/slow_calls.h"

#include "../loader/analysis/grouping/grouping.h"
#include "../loader/format/hlo.h"
#include "../loader/store/event_values.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

#define SLOW_CALLS_COLUMNS(C)                                                                      \
    C(SL_RUN, RUN_DOC)                                                                             \
    C(SL_RANK, "rank", "INTEGER", NULL, "rank by over_median_us within the run", "libprofsql")     \
    C(SL_HOST, HOST_DOC)                                                                           \
    C(SL_PLANE, PLANE_DOC)                                                                         \
    C(SL_LINE, "line", "TEXT", NULL, "name of the stream or row of the device", "XLine.name")      \
    C(SL_NAME, "name", "TEXT", NULL, "name of the op, kernel or copy", "XEventMetadata.name")      \
    C(SL_SHORT, EVENT_SHORT_NAME_DOC)                                                              \
    C(SL_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "HLO module of the op; NULL if the file does not record it", "stat hlo_module, program_id")  \
    C(SL_STEP, "step", "INTEGER", NULL, "step of the call; NULL if it is in none", "group_id")     \
    C(SL_START_US, START_US_DOC)                                                                   \
    C(SL_DURATION_US, DURATION_US_DOC)                                                             \
    C(SL_MEDIAN_US, "median_us", "REAL", "us",                                                     \
      "median duration of the calls with this name and program id, on all planes of this kind "    \
      "in the run. Calls that are not longer than the median, and names with fewer than three "    \
      "calls, have no row",                                                                        \
      "libprofsql")                                                                                \
    C(SL_OVER_US, "over_median_us", "REAL", "us", "duration_us - median_us", "libprofsql")         \
    C(SL_RATIO, "ratio", "REAL", "ratio",                                                          \
      "duration_us divided by median_us; NULL if the median is 0", "libprofsql")                   \
    C(SL_CALLS, "calls", "INTEGER", "events", "number of calls in the median", "libprofsql")       \
    C(SL_SOURCE, SOURCE_DOC)                                                                       \
    C(SL_OP, "op", "TEXT HIDDEN", NULL,                                                            \
      "part of the op's name, such as AllReduce, ignoring case; default: all ops", "argument 2")   \
    C(SL_N, "n", "INTEGER HIDDEN", "calls",                                                        \
      "number of calls of each run, largest over_median_us first; default: all", "argument 3")
enum { SLOW_CALLS_COLUMNS(COLUMN_ENUM) };
static const Column slow_calls_columns[] = {SLOW_CALLS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const SlowCalls *all;
    const SlowCall *call;
    sqlite3_int64 rank;
    const Text *matched; /* the name that was compared last with the argument op */
    bool matches;
    EventFinder finder;
    EventAt event;
    EventValues values;
    Window window;
    const Host *grouping_of;
    const Grouping *grouping;
} SlowCallsState;

static bool contains(const Text *name, const char *part)
{
    int n = (int)strlen(part);
    for (const char *s = name->text; *s; s++)
        if (!sqlite3_strnicmp(s, part, n)) return true;
    return !n;
}

static bool is_wanted(const RowCursor *c, SlowCallsState *s, const SlowCall *call)
{
    const char *op = row_text_parameter(c, 0, NULL);
    if (op && s->matched != call->name)
        s->matches = contains(call->name, op), s->matched = call->name;
    return !op || s->matches;
}

static bool slow_calls_next(RowCursor *c)
{
    SlowCallsState *s = c->state;
    if (!c->started && !(s->all = run_slow_calls(c->from->run, c->from->only, &c->err)))
        return false;
    if (s->rank >= row_integer_parameter(c, 1, INT64_MAX)) return false;
    const SlowCall *end = s->all->calls + s->all->n,
                   *call = c->started ? s->call + 1 : s->all->calls;
    while (call < end && !is_wanted(c, s, call)) call++;
    if (call == end) return false;
    s->call = call, s->rank++;
    c->place = call->event;
    Line *line = call->line;
    if (!event_find(&s->finder, line, call->event - line->first_event, 0, &s->event, &c->err))
        return false;
    event_values_of(&s->values, line->plane, s->event.meta, s->event.stored.position);
    return true;
}

static void slow_calls_close(void *state)
{
    SlowCallsState *s = state;
    event_finder_close(&s->finder);
    event_values_free(&s->values);
    window_free(&s->window);
}

static const StatValue *stat_of(RowCursor *c, enum KnownStat known)
{
    SlowCallsState *s = c->state;
    const File *file = &s->call->line->plane->host->file;
    if (s->window.file != file) window_free(&s->window), s->window.file = file;
    return event_values_get(&s->values, known, &s->window, &c->err);
}

static void module_column(RowCursor *c, sqlite3_context *ctx)
{
    const Plane *plane = ((SlowCallsState *)c->state)->call->line->plane;
    const StatValue *module = stat_of(c, STAT_HLO_MODULE);
    int64_t id;
    if (module->type == TYPE_STR) {
        result_module(ctx, module->text);
    } else if (plane->kind != PLANE_GPU && stat_value_integer(stat_of(c, STAT_PROGRAM_ID), &id)) {
        const Text *name = hlo_program_entry(plane->host, (uint64_t)id);
        if (name) result_module(ctx, name);
    }
}

static void step_column(RowCursor *c, sqlite3_context *ctx)
{
    SlowCallsState *s = c->state;
    Line *line = s->call->line;
    if (s->grouping_of != line->plane->host) {
        if (!(s->grouping = host_grouping(line->plane->host, &c->err))) return;
        s->grouping_of = line->plane->host;
    }
    const LineGroups *groups = line_groups(s->grouping, line);
    const Packed *steps = groups ? step_groups(groups) : NULL;
    uint64_t i = s->call->event - line->first_event;
    int64_t step = steps ? packed_at(&steps[i / CHUNK_EVENTS], i % CHUNK_EVENTS) : -1;
    result_nonnegative(ctx, step);
}

static void slow_calls_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const SlowCallsState *s = c->state;
    const Plane *plane = s->call->line->plane;
    const EventMeta *meta = s->event.meta;
    double median_ps = s->call->usual->median_ps;
    switch (column) {
    case SL_RANK: sqlite3_result_int64(ctx, s->rank); break;
    case SL_HOST: result_static(ctx, plane->host->name); break;
    case SL_PLANE: result_text(ctx, plane->name); break;
    case SL_LINE: result_text(ctx, line_label(s->call->line)); break;
    case SL_NAME: result_text(ctx, meta->name); break;
    case SL_SHORT:
        if (plane->kind == PLANE_GPU)
            result_kernel(c, ctx, meta->name);
        else
            result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
        break;
    case SL_MODULE: module_column(c, ctx); break;
    case SL_STEP: step_column(c, ctx); break;
    case SL_START_US: result_time(ctx, s->event.start_ps, true); break;
    case SL_DURATION_US: result_time(ctx, s->event.duration_ps, true); break;
    case SL_MEDIAN_US: sqlite3_result_double(ctx, median_ps / 1e6); break;
    case SL_OVER_US: sqlite3_result_double(ctx, s->call->over_ps / 1e6); break;
    case SL_RATIO:
        if (median_ps != 0) sqlite3_result_double(ctx, (double)s->event.duration_ps / median_ps);
        break;
    case SL_CALLS: sqlite3_result_int64(ctx, (sqlite3_int64)s->call->usual->n); break;
    default: break;
    }
}

static double slow_calls_count(const Counts *counts) { return counts->events / 4; }

static const RowSource slow_calls_rows = {.next = slow_calls_next,
                                          .close = slow_calls_close,
                                          .state_bytes = sizeof(SlowCallsState),
                                          .column = slow_calls_column,
                                          .per_run = true,
                                          .reads_events = true,
                                          .count = slow_calls_count,
                                          .n_parameters = 2,
                                          .needs = NEED_EVENTS | NEED_DEVICE,
                                          .nothing =
                                              "no op on a device ran three times or more and "
                                              "longer than its median, or none has this name"};
const Table slow_calls_table = {
    "slow_calls",
    "one call of an op, kernel or copy on a device that took longer than the median of its calls, "
    "the slowest first: which single calls of an op took much longer than its other calls?",
    slow_calls_columns,
    COUNT(slow_calls_columns),
    &row_table_module,
    &slow_calls_rows,
    1000,
    "0.1.0",
    "SELECT name, duration_us, median_us, plane, start_us FROM slow_calls WHERE n = 10"};
