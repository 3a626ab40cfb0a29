// SPDX-License-Identifier: Apache-2.0
/* launch_delays.c: the table launch_delays: each kernel with its launch, how long it waited, and
 * what the host was doing.
 *
 *   SELECT short_name, delay_us, python_frame
 *     FROM launch_delays('logs') ORDER BY delay_ps DESC LIMIT 10; */
#include "../loader/analysis/device/launches.h"
#include "../loader/store/events.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define LAUNCH_DELAYS_COLUMNS(C)                                                                   \
    C(LD_RUN, RUN_DOC)                                                                             \
    C(LD_HOST, HOST_DOC)                                                                           \
    C(LD_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(LD_PLANE, PLANE_DOC)                                                                         \
    C(LD_LINE_ID, LINE_ID_DOC)                                                                     \
    C(LD_EVENT_ID, EVENT_ID_DOC)                                                                   \
    C(LD_NAME, "name", "TEXT", NULL, "name of the kernel, copy or other event on the device",      \
      "XEventMetadata.name")                                                                       \
    C(LD_SHORT, EVENT_SHORT_NAME_DOC)                                                              \
    C(LD_START, "start_ps", "INTEGER", "ps", "start on the device, from the session start",        \
      "XEvent.offset_ps")                                                                          \
    C(LD_START_US, START_US_DOC)                                                                   \
    C(LD_DURATION, "duration_ps", "INTEGER", "ps", "duration on the device", "XEvent.duration_ps") \
    C(LD_DURATION_US, DURATION_US_DOC)                                                             \
    C(LD_LAUNCH, "launch_name", "TEXT", NULL,                                                      \
      "name of the call that launched the work: the host event with the same correlation_id (the " \
      "first, if there are several; the longest of those that start together)",                    \
      "XEventMetadata.name")                                                                       \
    C(LD_LAUNCH_EVENT, "launch_event_id", "INTEGER", NULL, "event_id of the launch call",          \
      "libprofsql")                                                                                \
    C(LD_LAUNCH_START, "launch_start_ps", "INTEGER", "ps",                                         \
      "start of the launch call, from the session start", "XEvent.offset_ps")                      \
    C(LD_LAUNCH_START_US, "launch_start_us", "REAL", "us", "launch_start_ps in microseconds",      \
      "libprofsql")                                                                                \
    C(LD_LAUNCH_DURATION, "launch_duration_ps", "INTEGER", "ps", "duration of the launch call",    \
      "XEvent.duration_ps")                                                                        \
    C(LD_LAUNCH_DURATION_US, "launch_duration_us", "REAL", "us",                                   \
      "launch_duration_ps in microseconds", "libprofsql")                                          \
    C(LD_DELAY, "delay_ps", "INTEGER", "ps",                                                       \
      "launch latency: time from the start of the launch call to the start on the device, the "    \
      "call included; below 0 if the two clocks disagree",                                         \
      "libprofsql")                                                                                \
    C(LD_DELAY_US, "delay_us", "REAL", "us", "delay_ps in microseconds", "libprofsql")             \
    C(LD_QUEUED, "queued_ps", "INTEGER", "ps",                                                     \
      "part of delay_ps in which events that started earlier on the same stream were still "       \
      "running: from the start of the launch call until the last of them ended; 0 if they had "    \
      "ended",                                                                                     \
      "libprofsql")                                                                                \
    C(LD_QUEUED_US, "queued_us", "REAL", "us", "queued_ps in microseconds", "libprofsql")          \
    C(LD_ANNOTATION, "annotation", "TEXT", NULL,                                                   \
      "name of the innermost event of the host that contains the launch call in time and is "      \
      "neither a call with a correlation_id nor a Python frame, such as a TraceMe range; events "  \
      "of other lines count only if nothing on the call's own line, or else on that of its "       \
      "thread if it is known, contains it. NULL if there is none",                                 \
      "libprofsql")                                                                                \
    C(LD_ANNOTATION_EVENT, "annotation_event_id", "INTEGER", NULL,                                 \
      "event_id of annotation; NULL if there is none", "libprofsql")                               \
    C(LD_PYTHON, "python_frame", "TEXT", NULL,                                                     \
      "name of the innermost Python frame that contains the launch call in time: an event of the " \
      "host whose name starts with $, on the call's own line first; NULL if there is none "        \
      "(python_tracer_level = 0 records none)",                                                    \
      "libprofsql")                                                                                \
    C(LD_STACK, "python_stack", "TEXT", NULL,                                                      \
      "python_frame and the Python frames around it on its line, one per line of text, innermost " \
      "first; NULL if there is no Python frame",                                                   \
      "libprofsql")                                                                                \
    C(LD_LAUNCH_LINE, "launch_line_id", "INTEGER", NULL,                                           \
      "line_id of the launch call: the thread that made it, unless the driver records its calls "  \
      "on lines of their own",                                                                     \
      "libprofsql")                                                                                \
    C(LD_OWN, "context_is_own", "INTEGER", "0 or 1",                                               \
      "1: an event on the launch call's own line that has no correlation_id contains the call, "   \
      "so annotation is of the thread that made it; 0: only events of other lines contain it, "    \
      "which can be unrelated unless the thread of the call's line is known; NULL if none does",   \
      "libprofsql")                                                                                \
    C(LD_SOURCE, SOURCE_DOC)
enum { LAUNCH_DELAYS_COLUMNS(COLUMN_ENUM) };
static const Column launch_delays_columns[] = {LAUNCH_DELAYS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const Launches *all;
    const LaunchContexts *contexts; /* NULL until a column needs them */
} LaunchDelaysState;

static void launch_delays_list(RowCursor *c, RowList *list)
{
    LaunchDelaysState *state = c->state;
    if (!c->host->readable) return;
    state->all = host_launches(c->host, &c->err);
    if (state->all) *list = ROW_LIST(state->all->work, state->all->n_work);
}

static bool launch_delays_shows(RowCursor *c, const void *item)
{
    const LaunchedWork *work = item;
    c->place = work->event;
    return row_wanted(c, KEY_PLANE_ID, work->line->plane->plane_id) &&
           row_wanted(c, KEY_LINE_ID, work->line->line_id) &&
           row_wanted(c, KEY_EVENT_ID, (int64_t)work->event);
}

static int64_t queued_ps(const LaunchedWork *work, const Launch *launch)
{
    int64_t until = work->free_ps < work->start_ps ? work->free_ps : work->start_ps;
    return until > launch->start_ps ? sub_saturated(until, launch->start_ps) : 0;
}

enum { MOST_FRAMES = 4096 };

/* Writes the Python stack: the parents of a frame on its line are the outer frames. */
static void stack_column(RowCursor *c, sqlite3_context *ctx, const LaunchContext *frame)
{
    sqlite3_str *text = sqlite3_str_new(row_db(c));
    Line *line = run_line_of_event(c->from->run, frame->event);
    uint64_t i = frame->event - line->first_event;
    const NestingChunk *nesting = line_nesting(line, &c->err);
    for (int n = 0; nesting && n < MOST_FRAMES; n++) {
        const EventMeta *meta = event_meta_at(line, i, &c->err);
        if (!meta) break;
        if (is_python_frame(meta))
            sqlite3_str_appendf(text, "%s%s", sqlite3_str_length(text) ? "\n" : "",
                                meta->name->text);
        int64_t up = packed_at(&nesting[i / CHUNK_EVENTS].columns[NEST_PARENT], i % CHUNK_EVENTS);
        if (!up) break;
        i -= (uint64_t)up;
    }
    result_built(ctx, text);
}

/* Returns the contexts of the row's launch. NULL with an error set. */
static const LaunchContexts *contexts_of(RowCursor *c)
{
    LaunchDelaysState *state = c->state;
    if (!state->contexts && !(state->contexts = host_launch_contexts(c->host, &c->err)))
        return NULL;
    return &state->contexts[((const LaunchedWork *)c->row)->launch];
}

static void own_column(RowCursor *c, sqlite3_context *ctx)
{
    const LaunchContexts *launch = contexts_of(c);
    if (launch && (launch->annotation.meta || launch->python.meta))
        sqlite3_result_int(ctx, launch->on_own_line);
}

static void context_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const LaunchContexts *launch = contexts_of(c);
    if (!launch) return;
    const LaunchContext *of = column == LD_ANNOTATION || column == LD_ANNOTATION_EVENT
                                  ? &launch->annotation
                                  : &launch->python;
    if (!of->meta) return;
    if (column == LD_STACK)
        stack_column(c, ctx, of);
    else if (column == LD_ANNOTATION_EVENT)
        sqlite3_result_int64(ctx, (sqlite3_int64)of->event);
    else
        result_text(ctx, of->meta->name);
}

static void launch_delays_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const LaunchedWork *work = c->row;
    const LaunchDelaysState *state = c->state;
    const Launch *launch = &state->all->launches[work->launch];
    switch (column) {
    case LD_PLANE_ID: sqlite3_result_int64(ctx, work->line->plane->plane_id); break;
    case LD_PLANE: result_text(ctx, work->line->plane->name); break;
    case LD_LINE_ID: sqlite3_result_int64(ctx, work->line->line_id); break;
    case LD_EVENT_ID: sqlite3_result_int64(ctx, (sqlite3_int64)work->event); break;
    case LD_NAME: result_text(ctx, work->meta->name); break;
    case LD_SHORT: result_kernel(c, ctx, work->meta->name); break;
    case LD_START:
    case LD_START_US: result_time(ctx, work->start_ps, column == LD_START_US); break;
    case LD_DURATION:
    case LD_DURATION_US: result_time(ctx, work->duration_ps, column == LD_DURATION_US); break;
    case LD_LAUNCH: result_text(ctx, launch_meta(launch)->name); break;
    case LD_LAUNCH_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)launch->event); break;
    case LD_LAUNCH_LINE: sqlite3_result_int64(ctx, launch->line->line_id); break;
    case LD_LAUNCH_START:
    case LD_LAUNCH_START_US:
        result_time(ctx, launch->start_ps, column == LD_LAUNCH_START_US);
        break;
    case LD_LAUNCH_DURATION:
    case LD_LAUNCH_DURATION_US:
        result_time(ctx, launch->duration_ps, column == LD_LAUNCH_DURATION_US);
        break;
    case LD_DELAY:
    case LD_DELAY_US:
        result_time(ctx, launch_delay_ps(state->all, work), column == LD_DELAY_US);
        break;
    case LD_QUEUED:
    case LD_QUEUED_US: result_time(ctx, queued_ps(work, launch), column == LD_QUEUED_US); break;
    case LD_OWN: own_column(c, ctx); break;
    default: context_column(c, ctx, column); break;
    }
}

static double launch_delays_count(const Counts *counts) { return counts->events / 8; }

static const RowSource launch_delays_rows = {
    .list = launch_delays_list,
    .shows = launch_delays_shows,
    .state_bytes = sizeof(LaunchDelaysState),
    .column = launch_delays_column,
    .count = launch_delays_count,
    .reads_events = true,
    .needs = NEED_EVENTS | NEED_GPU,
    .nothing = "no event on a GPU has the correlation_id of a host call (host_tracer_level = 0 "
               "records no host calls)"};
const Table launch_delays_table = {
    "launch_delays",
    "one kernel, copy or other event on a GPU whose launch is known: when it was launched, how "
    "long it waited, and what the host was doing",
    launch_delays_columns,
    COUNT(launch_delays_columns),
    &row_table_module,
    &launch_delays_rows,
    1000,
    "0.1.0",
    "SELECT short_name, delay_us, queued_us, python_frame FROM launch_delays LIMIT 10"};
