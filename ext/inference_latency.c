// SPDX-License-Identifier: Apache-2.0
/* inference_latency.c: the table inference_latency: percentiles of the duration of all requests. */
#include "../loader/analysis/serving/inference_percentiles.h"
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

#define LATENCY_COLUMNS(C)                                                                         \
    C(IL_RUN, RUN_DOC)                                                                             \
    C(IL_PERCENTILE, "percentile", "TEXT", NULL,                                                   \
      "Avg, or the percentile of the request among the requests of all models by duration: 50.0% " \
      "to 99.9%",                                                                                  \
      "overview_page percentile")                                                                  \
    C(IL_HOST_MS, "host_ms", "REAL", "ms",                                                         \
      "time of the request at this percentile that is neither device time nor transfer time",      \
      "overview_page hostTimeMs")                                                                  \
    C(IL_DEVICE, "device_ms", "REAL", "ms",                                                        \
      "time of programs on the device in the request at this percentile",                          \
      "overview_page deviceTimeMs")                                                                \
    C(IL_COMMUNICATION, "communication_ms", "REAL", "ms",                                          \
      "time of transfers to and from the device in the request at this percentile",                \
      "overview_page communicationTimeMs")                                                         \
    C(IL_TOTAL, "total_ms", "REAL", "ms", "duration of the request at this percentile",            \
      "overview_page totalTimeMs")                                                                 \
    C(IL_THROUGHPUT, "requests_per_second", "REAL", "requests/s",                                  \
      "requests per second of all models together",                                                \
      "OverviewInferenceLatency.sessions_per_second")                                              \
    C(IL_MIN, "min_ms", "REAL", "ms", "duration of the shortest request",                          \
      "OverviewInferenceLatency.min_latency_us")                                                   \
    C(IL_MAX, "max_ms", "REAL", "ms", "duration of the longest request",                           \
      "OverviewInferenceLatency.max_latency_us")                                                   \
    C(IL_HOST_ACTUAL, "host_ms_actual", "REAL", "ms",                                              \
      "time of the request at this percentile of total_ms_actual that is neither device time nor " \
      "transfer time, including those of GPUs",                                                    \
      "libprofsql")                                                                                \
    C(IL_DEVICE_ACTUAL, "device_ms_actual", "REAL", "ms",                                          \
      "time of programs on the device, including kernels and other work of GPUs, in the request "  \
      "at this percentile of total_ms_actual",                                                     \
      "libprofsql")                                                                                \
    C(IL_COMMUNICATION_ACTUAL, "communication_ms_actual", "REAL", "ms",                            \
      "time of transfers to and from the device, including GPUs, in the request at this "          \
      "percentile of total_ms_actual",                                                             \
      "libprofsql")                                                                                \
    C(IL_TOTAL_ACTUAL, "total_ms_actual", "REAL", "ms",                                            \
      "latency_ms_actual of the request at this percentile of all requests, ordered by it",        \
      "libprofsql")                                                                                \
    C(IL_MIN_ACTUAL, "min_ms_actual", "REAL", "ms", "latency_ms_actual of the shortest request",   \
      "libprofsql")                                                                                \
    C(IL_MAX_ACTUAL, "max_ms_actual", "REAL", "ms", "latency_ms_actual of the longest request",    \
      "libprofsql")                                                                                \
    C(IL_SHOWN, "shown_by_xprof", "INTEGER", "0 or 1",                                             \
      "0: XProf's overview page shows no latencies, because a program of the run computes "        \
      "gradients",                                                                                 \
      "libprofsql")                                                                                \
    C(IL_SOURCE, SOURCE_DOC)
enum { LATENCY_COLUMNS(COLUMN_ENUM) };
static const Column latency_columns[] = {LATENCY_COLUMNS(COLUMN_DOC)};
static const double latency_percentiles[] = {0 /* 0: the average */, 50, 75, 90, 99, 99.9};

typedef struct {
    const Inference *all;
} LatencyState;

static void latency_list(RowCursor *c, RowList *list)
{
    const Inference *all = run_inference(c->from->run, c->from->only, &c->err);
    if (all && all->n_requests) *list = ROW_LIST(latency_percentiles, COUNT(latency_percentiles));
    ((LatencyState *)c->state)->all = all;
}

static void latency_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Inference *all = ((LatencyState *)c->state)->all;
    double percentile = *(const double *)c->row;
    bool actual = column >= IL_HOST_ACTUAL && column <= IL_MAX_ACTUAL;
    InferenceRequest *const *ordered = actual ? all->actual_order : all->requests;
    InferenceLatency l = percentile > 0 ? inference_latency_at(all, percentile, actual)
                                        : inference_latency_average(all, actual);
    switch (column) {
    case IL_PERCENTILE:
        if (percentile > 0)
            result_real(ctx, "%.1f%%", percentile);
        else
            result_static(ctx, "Avg");
        break;
    case IL_HOST_ACTUAL:
    case IL_HOST_MS:
        sqlite3_result_double(ctx, (l.total_us - l.device_us - l.communication_us) / 1e3);
        break;
    case IL_DEVICE_ACTUAL:
    case IL_DEVICE: sqlite3_result_double(ctx, l.device_us / 1e3); break;
    case IL_COMMUNICATION_ACTUAL:
    case IL_COMMUNICATION: sqlite3_result_double(ctx, l.communication_us / 1e3); break;
    case IL_TOTAL_ACTUAL:
    case IL_TOTAL: sqlite3_result_double(ctx, l.total_us / 1e3); break;
    case IL_THROUGHPUT: sqlite3_result_double(ctx, all->throughput); break;
    case IL_MIN_ACTUAL:
    case IL_MIN:
        sqlite3_result_double(ctx, inference_latency_of(ordered[0], actual).total_us / 1e3);
        break;
    case IL_MAX_ACTUAL:
    case IL_MAX:
        sqlite3_result_double(
            ctx, inference_latency_of(ordered[all->n_requests - 1], actual).total_us / 1e3);
        break;
    case IL_SHOWN: sqlite3_result_int(ctx, !all->trains); break;
    default: break;
    }
}

static const RowSource latency_rows = {
    .list = latency_list,
    .state_bytes = sizeof(LatencyState),
    .column = latency_column,
    .per_run = true,
    .nothing = "no event starts a request to a model server (SessionRun, TfrtModelRun, "
               "BatchingSessionRun and similar)",
    .needs = NEED_EVENTS | NEED_HOST};
const Table inference_latency_table = {
    "inference_latency",
    "one percentile of the duration of requests to a model server, with its time by activity",
    latency_columns,
    COUNT(latency_columns),
    &row_table_module,
    &latency_rows,
    6,
    "0.1.0",
    "SELECT percentile, host_ms, device_ms, total_ms FROM inference_latency"};
