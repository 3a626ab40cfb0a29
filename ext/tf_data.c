// SPDX-License-Identifier: Apache-2.0
/* tf_data.c: the tables tf_data_pipelines, tf_data_calls and tf_data_iterators: what tf.data's
 * input pipelines wait for.
 *
 *   SELECT pipeline, calls, slow_calls, max_latency_ps / 1e6 AS us, bottleneck, suggestion
 *     FROM tf_data_pipelines('logs');
 *   SELECT name, self_ps
 *     FROM tf_data_iterators('logs') WHERE call = 1 AND blocking ORDER BY self_ps DESC; */
#include "../loader/analysis/input/tf_data.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define PIPELINE_DOC                                                                               \
    "pipeline", "TEXT", NULL,                                                                      \
        "name of the pipeline: Host:n, or Device:n if it feeds a device; n counts from 0, in "     \
        "file order",                                                                              \
        "libprofsql"
#define BOTTLENECK_ID_DOC                                                                          \
    "bottleneck_id", "TEXT", NULL,                                                                 \
        "id of the blocking iterator with the longest self time, decimal; NULL if no iterator "    \
        "took time",                                                                               \
        "TfDataStats"
#define BOTTLENECK_DOC                                                                             \
    "bottleneck", "TEXT", NULL,                                                                    \
        "name of the bottleneck iterator (last part of bottleneck_long_name); NULL if there is "   \
        "none",                                                                                    \
        "TfDataStats"
#define BOTTLENECK_LONG_DOC                                                                        \
    "bottleneck_long_name", "TEXT", NULL,                                                          \
        "name of the bottleneck iterator with its enclosing iterators; NULL if there is none",     \
        "TfDataStats"
#define BOTTLENECK_PS_DOC                                                                          \
    "bottleneck_ps", "INTEGER", "ps", "self time of the bottleneck iterator; 0 if there is none",  \
        "TfDataStats"
#define KINDS_DOC                                                                                  \
    "slow source, slow remote source, data service, transformation with a parallel version, "      \
    "transformation without a parallel version, or other"
#define SUGGESTION_DOC                                                                             \
    "suggestion", "TEXT", NULL,                                                                    \
        "kind of the bottleneck iterator, from its name: " KINDS_DOC "; NULL if there is none",    \
        "XProf's tf.data analysis"

static void result_pipeline(sqlite3_context *ctx, const TfDataPipeline *p)
{
    result_owned(ctx, sqlite3_mprintf("%s:%u", p->is_device ? "Device" : "Host", p->number));
}

enum Bottleneck {
    BOTTLENECK_ID,
    BOTTLENECK,
    BOTTLENECK_LONG,
    BOTTLENECK_PS,
    BOTTLENECK_SUGGESTION
};

static void bottleneck_column(sqlite3_context *ctx, const TfData *all, const TfDataCall *call,
                              int which)
{
    if (which == BOTTLENECK_PS) sqlite3_result_int64(ctx, call->bottleneck_ps);
    if (call->bottleneck < 0) return;
    const TfDataIterator *i = &all->iterators.items[call->bottleneck];
    switch (which) {
    case BOTTLENECK_ID: result_id(ctx, (uint64_t)i->id); break;
    case BOTTLENECK: result_static(ctx, i->name); break;
    case BOTTLENECK_LONG: result_text(ctx, i->long_name); break;
    case BOTTLENECK_SUGGESTION: result_static(ctx, tf_data_suggestion(i->name)); break;
    default: break;
    }
}

/* ---- tf_data_pipelines ---- */

#define PIPELINES_COLUMNS(C)                                                                       \
    C(TP_RUN, RUN_DOC)                                                                             \
    C(TP_HOST, HOST_DOC)                                                                           \
    C(TP_PIPELINE, PIPELINE_DOC)                                                                   \
    C(TP_KIND, "kind", "TEXT", NULL, "HOST, or DEVICE if the pipeline feeds a device",             \
      "TfDataStats")                                                                               \
    C(TP_ITERATOR, "iterator_id", "TEXT", NULL,                                                    \
      "id of the pipeline's outermost iterator, decimal without sign", "id")                       \
    C(TP_CALLS, "calls", "INTEGER", "calls",                                                       \
      "number of elements that were requested from the pipeline", "TfDataStats")                   \
    C(TP_SLOW, "slow_calls", "INTEGER", "calls", "number of calls that took more than 50 us",      \
      "TfDataStats")                                                                               \
    C(TP_AVG, "avg_latency_ps", "INTEGER", "ps", "average duration of a call", "TfDataStats")      \
    C(TP_MIN, "min_latency_ps", "INTEGER", "ps", "duration of the shortest call", "TfDataStats")   \
    C(TP_MAX, "max_latency_ps", "INTEGER", "ps", "duration of the longest call", "TfDataStats")    \
    C(TP_BOUND, "is_input_bound", "INTEGER", "0 or 1",                                             \
      "1: a call of a host pipeline took more than 50 us; always 0 for a pipeline that feeds a "   \
      "device",                                                                                    \
      "TfDataStats")                                                                               \
    C(TP_BOTTLENECK_ID, BOTTLENECK_ID_DOC)                                                         \
    C(TP_BOTTLENECK, BOTTLENECK_DOC)                                                               \
    C(TP_BOTTLENECK_LONG, BOTTLENECK_LONG_DOC)                                                     \
    C(TP_BOTTLENECK_PS, BOTTLENECK_PS_DOC)                                                         \
    C(TP_SUGGESTION, SUGGESTION_DOC)                                                               \
    C(TP_SOURCE, SOURCE_DOC)
enum { PIPELINES_COLUMNS(COLUMN_ENUM) };
static const Column pipelines_columns[] = {PIPELINES_COLUMNS(COLUMN_DOC)};

typedef struct {
    const TfData *all;
} PipelineRows;

static void pipelines_list(RowCursor *c, RowList *list)
{
    PipelineRows *state = c->state;
    if ((state->all = host_tf_data(c->host, &c->err)))
        *list = ROW_LIST(state->all->pipelines.items, state->all->pipelines.n);
}

static bool pipelines_shows(RowCursor *c, const void *item)
{
    const PipelineRows *state = c->state;
    c->place = state->all->calls.items[((const TfDataPipeline *)item)->first_call].event;
    return true;
}

static void pipelines_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const TfData *all = ((PipelineRows *)c->state)->all;
    const TfDataPipeline *p = c->row;
    switch (column) {
    case TP_PIPELINE: result_pipeline(ctx, p); break;
    case TP_KIND: result_static(ctx, p->is_device ? "DEVICE" : "HOST"); break;
    case TP_ITERATOR: result_id(ctx, (uint64_t)all->iterators.items[p->iterator].id); break;
    case TP_CALLS: sqlite3_result_int64(ctx, (sqlite3_int64)p->n_calls); break;
    case TP_SLOW: sqlite3_result_int64(ctx, (sqlite3_int64)p->n_slow); break;
    case TP_AVG: sqlite3_result_int64(ctx, p->avg_ps); break;
    case TP_MIN: sqlite3_result_int64(ctx, p->min_ps); break;
    case TP_MAX: sqlite3_result_int64(ctx, p->max_ps); break;
    case TP_BOUND: sqlite3_result_int(ctx, !p->is_device && p->n_slow > 0); break;
    default:
        if (column >= TP_BOTTLENECK_ID)
            bottleneck_column(ctx, all, &all->calls.items[p->first_call],
                              column - TP_BOTTLENECK_ID);
        break;
    }
}

static const RowSource pipelines_rows = {
    .list = pipelines_list,
    .shows = pipelines_shows,
    .state_bytes = sizeof(PipelineRows),
    .column = pipelines_column,
    .nothing =
        "no element was requested from a tf.data pipeline (events `Iterator::` with the stat id)",
    .needs = NEED_EVENTS | NEED_HOST};
const Table tf_data_pipelines_table = {
    "tf_data_pipelines",
    "one tf.data input pipeline, with the bottleneck of its longest call",
    pipelines_columns,
    COUNT(pipelines_columns),
    &row_table_module,
    &pipelines_rows,
    3,
    "0.1.0",
    "SELECT pipeline, calls, slow_calls, bottleneck, suggestion FROM tf_data_pipelines"};

/* ---- tf_data_calls ---- */

#define CALLS_COLUMNS(C)                                                                           \
    C(TC_RUN, RUN_DOC)                                                                             \
    C(TC_HOST, HOST_DOC)                                                                           \
    C(TC_PIPELINE, PIPELINE_DOC)                                                                   \
    C(TC_CALL, "call", "INTEGER", NULL,                                                            \
      "rank of the call by duration within its pipeline; 1 is the longest", "TfDataStats")         \
    C(TC_START, "start_ps", "INTEGER", "ps", "start of the call, from the start of the session",   \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(TC_START_US, START_US_DOC)                                                                   \
    C(TC_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the call: time that the caller waited for the element", "XEvent.duration_ps")   \
    C(TC_DURATION_US, DURATION_US_DOC)                                                             \
    C(TC_GROUP, "group_id", "INTEGER", NULL,                                                       \
      "group_id of the step that the call belongs to, on its host; NULL if the call belongs to "   \
      "no step",                                                                                   \
      "group_id")                                                                                  \
    C(TC_EVENT, EVENT_ID_DOC)                                                                      \
    C(TC_BOTTLENECK_ID, BOTTLENECK_ID_DOC)                                                         \
    C(TC_BOTTLENECK, BOTTLENECK_DOC)                                                               \
    C(TC_BOTTLENECK_LONG, BOTTLENECK_LONG_DOC)                                                     \
    C(TC_BOTTLENECK_PS, BOTTLENECK_PS_DOC)                                                         \
    C(TC_SUGGESTION, SUGGESTION_DOC)                                                               \
    C(TC_SOURCE, SOURCE_DOC)
enum { CALLS_COLUMNS(COLUMN_ENUM) };
static const Column calls_columns[] = {CALLS_COLUMNS(COLUMN_DOC)};

/* State of tf_data_calls and tf_data_iterators. */
typedef struct {
    const TfData *all;
    size_t pipeline, call; /* call: index in the pipeline */
    size_t part;           /* index in all calls */
} CallAt;

static const TfDataCall *call_at(const CallAt *at)
{
    return &at->all->calls.items[at->all->pipelines.items[at->pipeline].first_call + at->call];
}

static bool calls_next(RowCursor *c)
{
    CallAt *at = c->state;
    if (!c->started) at->all = host_tf_data(c->host, &c->err);
    if (!at->all) return false;
    at->call += c->started;
    for (; at->pipeline < at->all->pipelines.n; at->pipeline++, at->call = 0)
        for (; at->call < at->all->pipelines.items[at->pipeline].n_calls; at->call++) {
            c->place = call_at(at)->event;
            if (row_wanted(c, KEY_EVENT_ID, (int64_t)c->place)) return true;
        }
    return false;
}

static void calls_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const CallAt *at = c->state;
    const TfData *all = at->all;
    const TfDataCall *call = call_at(at);
    switch (column) {
    case TC_PIPELINE: result_pipeline(ctx, &all->pipelines.items[at->pipeline]); break;
    case TC_CALL: sqlite3_result_int64(ctx, (sqlite3_int64)at->call + 1); break;
    case TC_START:
    case TC_START_US: result_time(ctx, call->start_ps, column == TC_START_US); break;
    case TC_DURATION:
    case TC_DURATION_US: result_time(ctx, call->duration_ps, column == TC_DURATION_US); break;
    case TC_GROUP:
        if (call->group != -1) sqlite3_result_int64(ctx, call->group);
        break;
    case TC_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)call->event); break;
    default:
        if (column >= TC_BOTTLENECK_ID)
            bottleneck_column(ctx, all, call, column - TC_BOTTLENECK_ID);
        break;
    }
}

static const RowSource calls_rows = {
    .next = calls_next,
    .state_bytes = sizeof(CallAt),
    .column = calls_column,
    .nothing =
        "no element was requested from a tf.data pipeline (events `Iterator::` with the stat id)",
    .needs = NEED_EVENTS | NEED_HOST};
const Table tf_data_calls_table = {
    "tf_data_calls",
    "one request for an element of a tf.data pipeline; longest request first",
    calls_columns,
    COUNT(calls_columns),
    &row_table_module,
    &calls_rows,
    200,
    "0.1.0",
    "SELECT pipeline, start_us, duration_us, bottleneck FROM tf_data_calls"};

/* ---- tf_data_iterators ---- */

#define ITERATORS_COLUMNS(C)                                                                       \
    C(TI_RUN, RUN_DOC)                                                                             \
    C(TI_HOST, HOST_DOC)                                                                           \
    C(TI_PIPELINE, PIPELINE_DOC)                                                                   \
    C(TI_CALL, "call", "INTEGER", NULL,                                                            \
      "rank of the call by duration within its pipeline; 1 is the longest", "TfDataStats")         \
    C(TI_ID, "iterator_id", "TEXT", NULL, "id of the iterator, decimal without sign", "id")        \
    C(TI_PARENT, "parent_id", "TEXT", NULL,                                                        \
      "id of the iterator that calls this one, decimal, as in the first event of the file with "   \
      "this iterator_id; NULL if that event does not record it",                                   \
      "parent_id")                                                                                 \
    C(TI_NAME, "name", "TEXT", NULL, "name of the iterator: last part of long_name",               \
      "XEventMetadata.name")                                                                       \
    C(TI_LONG, "long_name", "TEXT", NULL,                                                          \
      "name of the iterator with its enclosing iterators, from the same event as parent_id",       \
      "XEventMetadata.name")                                                                       \
    C(TI_ASYNC, "is_async", "INTEGER", "0 or 1",                                                   \
      "1: the iterator has its own threads that work ahead, by XProf's list of names",             \
      "TfDataStats")                                                                               \
    C(TI_START, "start_ps", "INTEGER", "ps",                                                       \
      "earliest start of the iterator in the call, from the start of the session", "TfDataStats")  \
    C(TI_START_US, START_US_DOC)                                                                   \
    C(TI_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time of the iterator in the call, over all threads", "TfDataStats")                         \
    C(TI_DURATION_US, DURATION_US_DOC)                                                             \
    C(TI_SELF, "self_ps", "INTEGER", "ps",                                                         \
      "duration_ps without the iterators that this one calls; negative if these overlap each "     \
      "other",                                                                                     \
      "TfDataStats")                                                                               \
    C(TI_BLOCKING, "blocking", "INTEGER", "0 or 1", "1: the call waited for the iterator",         \
      "TfDataStats")                                                                               \
    C(TI_CALLS, "calls", "INTEGER", "calls",                                                       \
      "number of times that the iterator was called during the call", "TfDataStats")               \
    C(TI_SUGGESTION, "suggestion", "TEXT", NULL,                                                   \
      "kind of the iterator, from its name: " KINDS_DOC, "XProf's tf.data analysis")               \
    C(TI_ASYNC_ACTUAL, "is_async_actual", "INTEGER", "0 or 1",                                     \
      "is_async, also for newer versions of an iterator (ParallelMapV2, ParallelInterleaveV4)",    \
      "libprofsql")                                                                                \
    C(TI_SOURCE, SOURCE_DOC)
enum { ITERATORS_COLUMNS(COLUMN_ENUM) };
static const Column iterators_columns[] = {ITERATORS_COLUMNS(COLUMN_DOC)};

static bool iterators_next(RowCursor *c)
{
    CallAt *at = c->state;
    if (!c->started) at->all = host_tf_data(c->host, &c->err);
    if (!at->all) return false;
    at->part += c->started;
    if (at->part >= at->all->parts.n) return false;
    for (;;) { /* calls and their parts are in the same order; each call has a part */
        bool has_call = at->call < at->all->pipelines.items[at->pipeline].n_calls;
        const TfDataCall *call = has_call ? call_at(at) : NULL;
        if (call && at->part < call->first_part + call->n_parts) break;
        if (call)
            at->call++;
        else
            at->pipeline++, at->call = 0;
    }
    c->place = place_pair(c->host->first_line, 32, at->part);
    return true;
}

static void iterators_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const CallAt *at = c->state;
    const TfData *all = at->all;
    const TfDataPart *part = &all->parts.items[at->part];
    const TfDataIterator *i = &all->iterators.items[part->iterator];
    switch (column) {
    case TI_PIPELINE: result_pipeline(ctx, &all->pipelines.items[at->pipeline]); break;
    case TI_CALL: sqlite3_result_int64(ctx, (sqlite3_int64)at->call + 1); break;
    case TI_ID: result_id(ctx, (uint64_t)i->id); break;
    case TI_PARENT:
        if (i->has_parent) result_id(ctx, (uint64_t)i->parent_id);
        break;
    case TI_NAME: result_static(ctx, i->name); break;
    case TI_LONG: result_text(ctx, i->long_name); break;
    case TI_ASYNC: sqlite3_result_int(ctx, i->is_async); break;
    case TI_ASYNC_ACTUAL: sqlite3_result_int(ctx, i->is_async_actual); break;
    case TI_START:
    case TI_START_US: result_time(ctx, part->start_ps, column == TI_START_US); break;
    case TI_DURATION:
    case TI_DURATION_US: result_time(ctx, part->duration_ps, column == TI_DURATION_US); break;
    case TI_SELF: sqlite3_result_int64(ctx, part->self_ps); break;
    case TI_BLOCKING: sqlite3_result_int(ctx, part->blocking); break;
    case TI_CALLS: sqlite3_result_int64(ctx, (sqlite3_int64)part->calls); break;
    case TI_SUGGESTION: result_static(ctx, tf_data_suggestion(i->name)); break;
    default: break;
    }
}

static const RowSource iterators_rows = {
    .next = iterators_next,
    .state_bytes = sizeof(CallAt),
    .column = iterators_column,
    .nothing =
        "no element was requested from a tf.data pipeline (events `Iterator::` with the stat id)",
    .needs = NEED_EVENTS | NEED_HOST};
const Table tf_data_iterators_table = {
    "tf_data_iterators",
    "one iterator in one request for an element of a tf.data pipeline, with its share of the time",
    iterators_columns,
    COUNT(iterators_columns),
    &row_table_module,
    &iterators_rows,
    1000,
    "0.1.0",
    "SELECT name, sum(self_ps), sum(calls) FROM tf_data_iterators GROUP BY name"};
