// SPDX-License-Identifier: Apache-2.0
/* launch_times.c: the tables launch_latency and launch_queue: how long kernels wait between their
 * launch and their start, and how many of a stream wait.
 *
 *   SELECT short_name, launches, median_latency_us FROM launch_latency('logs', 10);
 *   SELECT plane, line, longest_queue, median_delay_us FROM launch_queue('logs'); */
#include "../loader/analysis/device/launch_times.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define NO_LAUNCHES                                                                                \
    "no event on a GPU has the correlation_id of a host call (host_tracer_level = 0 records no "   \
    "host calls)"

/* ---- launch_latency ---- */

#define LATENCY_COLUMNS(C)                                                                         \
    C(LL_RUN, RUN_DOC)                                                                             \
    C(LL_KERNEL, "kernel", "TEXT", NULL, "name of the kernel, copy or other event on the device",  \
      "XEventMetadata.name")                                                                       \
    C(LL_SHORT, KERNEL_SHORT_NAME_DOC)                                                             \
    C(LL_LAUNCHES, "launches", "INTEGER", "events",                                                \
      "number of device events with this name whose launch is known (the host call with the same " \
      "correlation_id)",                                                                           \
      "libprofsql")                                                                                \
    C(LL_AVG, "avg_latency_us", "REAL", "us",                                                      \
      "average time from the start of the launch call to the start on the device, the call "       \
      "included; below 0 if the two clocks disagree",                                              \
      "libprofsql")                                                                                \
    C(LL_MEDIAN, "median_latency_us", "REAL", "us",                                                \
      "median time from the start of the launch call to the start on the device, interpolated",    \
      "libprofsql")                                                                                \
    C(LL_MAX, "max_latency_us", "REAL", "us",                                                      \
      "longest time from the start of the launch call to the start on the device", "libprofsql")   \
    C(LL_LAUNCH, "avg_launch_us", "REAL", "us",                                                    \
      "average duration of the launch call on the host (the first call with the correlation_id; "  \
      "the longest of those that start together)",                                                 \
      "XEvent.duration_ps")                                                                        \
    C(LL_WORK, "avg_kernel_us", "REAL", "us", "average duration on the device",                    \
      "XEvent.duration_ps")                                                                        \
    C(LL_SOURCE, SOURCE_DOC)                                                                       \
    C(LL_N, "n", "INTEGER HIDDEN", "kernels",                                                      \
      "number of kernels of each run, largest total wait first; default: all", "argument 2")
enum { LATENCY_COLUMNS(COLUMN_ENUM) };
static const Column latency_columns[] = {LATENCY_COLUMNS(COLUMN_DOC)};

static void latency_list(RowCursor *c, RowList *list)
{
    const LaunchLatencies *all = run_launch_latencies(c->from->run, c->from->only, &c->err);
    uint64_t n = (uint64_t)row_integer_parameter(c, 0, INT64_MAX);
    if (all) *list = ROW_LIST(all->names, all->n < n ? all->n : (size_t)n);
}

static void latency_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const LaunchLatency *l = c->row;
    double n = (double)l->n;
    switch (column) {
    case LL_KERNEL: result_text(ctx, l->name); break;
    case LL_SHORT: result_kernel(c, ctx, l->name); break;
    case LL_LAUNCHES: sqlite3_result_int64(ctx, (sqlite3_int64)l->n); break;
    case LL_AVG: sqlite3_result_double(ctx, l->total_delay / n / 1e6); break;
    case LL_MEDIAN: sqlite3_result_double(ctx, l->median_delay / 1e6); break;
    case LL_MAX: result_time(ctx, l->max_delay, true); break;
    case LL_LAUNCH: sqlite3_result_double(ctx, l->total_launch / n / 1e6); break;
    case LL_WORK: sqlite3_result_double(ctx, l->total_work / n / 1e6); break;
    default: break;
    }
}

static const RowSource latency_rows = {.list = latency_list,
                                       .column = latency_column,
                                       .per_run = true,
                                       .n_parameters = 1,
                                       .needs = NEED_EVENTS | NEED_GPU,
                                       .nothing = NO_LAUNCHES};
const Table launch_latency_table = {
    "launch_latency",
    "one name of kernels, copies or other events on GPUs: how long does a kernel wait between its "
    "launch on the host and its start on the device?",
    latency_columns,
    COUNT(latency_columns),
    &row_table_module,
    &latency_rows,
    100,
    "0.1.0",
    "SELECT short_name, launches, median_latency_us FROM launch_latency WHERE n = 10"};

/* ---- launch_queue ---- */

#define QUEUE_COLUMNS(C)                                                                           \
    C(LQ_RUN, RUN_DOC)                                                                             \
    C(LQ_HOST, HOST_DOC)                                                                           \
    C(LQ_PLANE, PLANE_DOC)                                                                         \
    C(LQ_LINE, "line", "TEXT", NULL, "name of the stream", "XLine.name")                           \
    C(LQ_LAUNCHES, "launches", "INTEGER", "events",                                                \
      "number of events on the stream whose launch is known and starts before them", "libprofsql") \
    C(LQ_LONGEST, "longest_queue", "INTEGER", "events",                                            \
      "largest number of events that were launched and had not started, counted from the start "   \
      "of the launch call; CUDA blocks a launch when about 1024 are queued",                       \
      "libprofsql")                                                                                \
    C(LQ_LONGEST_START, "longest_start_us", "REAL", "us",                                          \
      "when the queue was first that long, from the session start", "libprofsql")                  \
    C(LQ_AVERAGE, "average_queue", "REAL", "events",                                               \
      "average number of events in the queue when one is added, this one included", "libprofsql")  \
    C(LQ_EMPTY, "empty_launches", "INTEGER", "events",                                             \
      "number of launches that found an empty queue: a stream whose queue is always empty runs "   \
      "no faster than the host launches",                                                          \
      "libprofsql")                                                                                \
    C(LQ_DELAY, "median_delay_us", "REAL", "us",                                                   \
      "median time from the start of a launch call to the start on the stream", "libprofsql")      \
    C(LQ_LAUNCH, "longest_launch_us", "REAL", "us",                                                \
      "duration of the longest launch call; it grows to that of kernels if the host is blocked "   \
      "by a full queue",                                                                           \
      "XEvent.duration_ps")                                                                        \
    C(LQ_SOURCE, SOURCE_DOC)
enum { QUEUE_COLUMNS(COLUMN_ENUM) };
static const Column queue_columns[] = {QUEUE_COLUMNS(COLUMN_DOC)};

static void queue_list(RowCursor *c, RowList *list)
{
    const LaunchQueues *all = run_launch_queues(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->streams, all->n);
}

/* The rows of all hosts come together, in order of their queues. */
static void queue_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const LaunchQueue *q = c->row;
    switch (column) {
    case LQ_HOST: result_static(ctx, q->line->plane->host->name); break;
    case LQ_PLANE: result_text(ctx, q->line->plane->name); break;
    case LQ_LINE: result_text(ctx, q->line->name); break;
    case LQ_LAUNCHES: sqlite3_result_int64(ctx, (sqlite3_int64)q->n); break;
    case LQ_LONGEST: sqlite3_result_int64(ctx, (sqlite3_int64)q->longest); break;
    case LQ_LONGEST_START: result_time(ctx, q->longest_start, true); break;
    case LQ_AVERAGE: sqlite3_result_double(ctx, q->average); break;
    case LQ_EMPTY: sqlite3_result_int64(ctx, (sqlite3_int64)q->n_empty); break;
    case LQ_DELAY: sqlite3_result_double(ctx, q->median_delay / 1e6); break;
    case LQ_LAUNCH: result_time(ctx, q->longest_launch, true); break;
    default: break;
    }
}

static const RowSource queue_rows = {.list = queue_list,
                                     .column = queue_column,
                                     .per_run = true,
                                     .needs = NEED_EVENTS | NEED_GPU,
                                     .nothing = NO_LAUNCHES};
const Table launch_queue_table = {
    "launch_queue",
    "one stream of a GPU: how long are the launch queues of GPU streams, and is the host blocked "
    "because one is full?",
    queue_columns,
    COUNT(queue_columns),
    &row_table_module,
    &queue_rows,
    10,
    "0.1.0",
    "SELECT plane, line, longest_queue, median_delay_us FROM launch_queue"};
