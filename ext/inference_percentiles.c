// SPDX-License-Identifier: Apache-2.0
/* inference_percentiles.c: the table inference_percentiles: requests and batches at percentiles of
 * their duration, as on XProf's page. */
#include "../loader/analysis/serving/inference_percentiles.h"
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

#define PERCENTILES_COLUMNS(C)                                                                     \
    C(IP_RUN, RUN_DOC)                                                                             \
    C(IP_MODEL, MODEL_DOC)                                                                         \
    C(IP_KIND, "kind", "TEXT", NULL, "kind of the row: request or batch", "inference_profile")     \
    C(IP_NUMBER, "number", "INTEGER", NULL,                                                        \
      "ordinal of the row within its model and kind, from 1, in XProf's order", "libprofsql")      \
    C(IP_PERCENTILE, "percentile", "TEXT", NULL,                                                   \
      "percentile of the request or batch by duration, in percent with three decimals. Up to 60 "  \
      "requests or batches are all shown; if there are more, those near 50, 75, 90, 99, 99.9 and " \
      "99.99. Averages follow: Batch size N, then Average (of all requests) or Aggregated (of "    \
      "all batches)",                                                                              \
      "inference_profile percentile")                                                              \
    C(IP_REQUEST, "request_id", "TEXT", NULL,                                                      \
      "request_id of the request; N/A in averages, NULL for batches",                              \
      "inference_profile request_id")                                                              \
    C(IP_BATCH, "batch_id", "TEXT", NULL,                                                          \
      "batch_id of the batch; N/A in averages, NULL for requests", "inference_profile batch_id")   \
    C(IP_LATENCY, "latency_ms", "REAL", "ms",                                                      \
      "duration of the request or batch, or the average duration",                                 \
      "inference_profile latency_ms, latency")                                                     \
    C(IP_THROUGHPUT, "throughput", "REAL", "1/s",                                                  \
      "requests or batches per second, of those in the average; NULL in rows that are not "        \
      "averages, and if unknown",                                                                  \
      "inference_profile throughput")                                                              \
    C(IP_SIZE, "batching_request_size", "INTEGER", NULL,                                           \
      "batching_request_size of inference_requests; averages are truncated to integers; NULL for " \
      "batches",                                                                                   \
      "inference_profile batching_request_size")                                                   \
    C(IP_FORMATION, "host_batch_formation_ms", "REAL", "ms",                                       \
      "time from the start of the request to the start of its first batch; NULL for batches",      \
      "inference_profile host_batch_formation")                                                    \
    C(IP_PREPROCESS, "host_preprocessing_ms", "REAL", "ms",                                        \
      "host_preprocess_ps of inference_requests, in milliseconds; NULL for batches",               \
      "inference_profile host_preprocessing")                                                      \
    C(IP_RUNTIME, "host_runtime_ms", "REAL", "ms",                                                 \
      "host_runtime_ps of inference_requests, in milliseconds; NULL for batches",                  \
      "inference_profile host_runtime")                                                            \
    C(IP_WRITE, "data_transfer_h2d_ms", "REAL", "ms",                                              \
      "write_to_device_ps of inference_requests, in milliseconds; NULL for batches",               \
      "inference_profile data_transfer_h2d")                                                       \
    C(IP_READ, "data_transfer_d2h_ms", "REAL", "ms",                                               \
      "read_from_device_ps of inference_requests, in milliseconds; NULL for batches",              \
      "inference_profile data_transfer_d2h")                                                       \
    C(IP_DEVICE, "device_compute_ms", "REAL", "ms",                                                \
      "time of programs on the device; in averages of requests by batch size, the average of the " \
      "batches",                                                                                   \
      "inference_profile device_compute")                                                          \
    C(IP_POSTPROCESS, "host_postprocess_ms", "REAL", "ms",                                         \
      "host_postprocess_ps of inference_requests, in milliseconds; NULL for batches",              \
      "inference_profile host_postprocess")                                                        \
    C(IP_IDLE, "idle_time_ms", "REAL", "ms",                                                       \
      "idle_ps of inference_requests, in milliseconds; NULL for batches",                          \
      "inference_profile idle time")                                                               \
    C(IP_PADDING, "padding_amount", "INTEGER", NULL,                                               \
      "padding_amount of inference_batches; averages are truncated to integers; NULL for "         \
      "requests",                                                                                  \
      "inference_profile padding_amount")                                                          \
    C(IP_PADDED, "batch_size_after_padding", "INTEGER", NULL,                                      \
      "batch_size_after_padding of inference_batches; averages are truncated to integers; NULL "   \
      "for requests",                                                                              \
      "inference_profile batch_size_after_padding")                                                \
    C(IP_EFFICIENCY, "batching_efficiency_fraction", "REAL", "fraction 0..1",                      \
      "share of the batch size that is not padding; 0 if unknown; NULL for requests",              \
      "inference_profile batching_efficiency")                                                     \
    C(IP_DELAY, "batching_delay_ms", "REAL", "ms",                                                 \
      "time from the start of the batch's earliest request to the start of the batch; NULL for "   \
      "requests",                                                                                  \
      "inference_profile batching_delay_us")                                                       \
    C(IP_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the first program that the batch ran, or of all programs of a batch size; N/A if "    \
      "unknown and in the average of all batches; NULL for requests",                              \
      "inference_profile program_id")                                                              \
    C(IP_SOURCE, SOURCE_DOC)
enum { PERCENTILES_COLUMNS(COLUMN_ENUM) };
static const Column percentiles_columns[] = {PERCENTILES_COLUMNS(COLUMN_DOC)};

static void percentiles_list(RowCursor *c, RowList *list)
{
    const InferencePercentiles *all =
        run_inference_percentiles(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->rows, all->n);
}

static void request_value(sqlite3_context *ctx, const InferencePercentile *row, int column)
{
    static const enum RequestTime times[] = {[IP_PREPROCESS - IP_PREPROCESS] = REQUEST_PREPROCESS,
                                             [IP_RUNTIME - IP_PREPROCESS] = REQUEST_RUNTIME,
                                             [IP_WRITE - IP_PREPROCESS] = REQUEST_WRITE,
                                             [IP_READ - IP_PREPROCESS] = REQUEST_READ,
                                             [IP_DEVICE - IP_PREPROCESS] = REQUEST_DEVICE,
                                             [IP_POSTPROCESS - IP_PREPROCESS] = REQUEST_POSTPROCESS,
                                             [IP_IDLE - IP_PREPROCESS] = REQUEST_IDLE};
    switch (column) {
    case IP_LATENCY: result_ms(ctx, row->latency_ps); break;
    case IP_SIZE: sqlite3_result_int64(ctx, row->size); break;
    case IP_FORMATION: result_signed_ms(ctx, row->delay_ps); break;
    case IP_DEVICE: result_ms(ctx, row->device_ps); break;
    default:
        if (column >= IP_PREPROCESS && column <= IP_IDLE)
            result_ms(ctx, row->times[times[column - IP_PREPROCESS]]);
        break;
    }
}

static void batch_value(sqlite3_context *ctx, const InferencePercentile *row, int column)
{
    switch (column) {
    case IP_LATENCY: result_ms(ctx, row->latency_ps); break;
    case IP_DEVICE: result_ms(ctx, row->device_ps); break;
    case IP_PADDING: sqlite3_result_int64(ctx, row->padding); break;
    case IP_PADDED: sqlite3_result_int64(ctx, row->size); break;
    case IP_EFFICIENCY: sqlite3_result_double(ctx, row->efficiency); break;
    case IP_DELAY: result_signed_ms(ctx, row->delay_ps); break;
    default: break;
    }
}

static void result_percentile(sqlite3_context *ctx, const InferencePercentile *row)
{
    if (!row->sum)
        result_real(ctx, "%.3f", row->percentile);
    else if (row->sum == &row->model->all)
        result_static(ctx, row->is_batch ? "Aggregated" : "Average");
    else
        result_owned(ctx, sqlite3_mprintf("Batch size %lld", (long long)row->sum->batch_size));
}

static void result_sample_id(sqlite3_context *ctx, bool known, uint64_t id)
{
    if (known)
        result_owned(ctx, sqlite3_mprintf("%llu", (unsigned long long)id));
    else
        result_static(ctx, "N/A");
}

static void result_programs(sqlite3_context *ctx, const InferencePercentile *row)
{
    const InferenceBatch *b = row->batch;
    if (!row->n_programs) {
        result_sample_id(ctx, b && b->has_program, b ? b->program_id : 0);
        return;
    }
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < row->n_programs; i++)
        sqlite3_str_appendf(out, "%s%llu", i ? ", " : "", (unsigned long long)row->programs[i]);
    result_built(ctx, out);
}

static void percentiles_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const InferencePercentile *row = c->row;
    switch (column) {
    case IP_MODEL: result_static(ctx, row->model->name); break;
    case IP_KIND: result_static(ctx, row->is_batch ? "batch" : "request"); break;
    case IP_NUMBER: sqlite3_result_int64(ctx, (sqlite3_int64)row->number); break;
    case IP_PERCENTILE: result_percentile(ctx, row); break;
    case IP_THROUGHPUT: sqlite3_result_double(ctx, row->throughput); break; /* NAN becomes NULL */
    case IP_REQUEST:
        if (!row->is_batch)
            result_sample_id(ctx, row->request, row->request ? (uint64_t)row->request->id : 0);
        break;
    case IP_BATCH:
        if (row->is_batch)
            result_sample_id(ctx, row->batch, row->batch ? (uint64_t)row->batch->id : 0);
        break;
    case IP_PROGRAM:
        if (row->is_batch) result_programs(ctx, row);
        break;
    default:
        if (row->is_batch)
            batch_value(ctx, row, column);
        else
            request_value(ctx, row, column);
        break;
    }
}

static const RowSource percentiles_rows = {
    .list = percentiles_list, .column = percentiles_column, .per_run = true, .needs = NEED_EVENTS};
const Table inference_percentiles_table = {
    "inference_percentiles",
    "one request or batch at a percentile of the duration, or an average, as in XProf's inference "
    "profile",
    percentiles_columns,
    COUNT(percentiles_columns),
    &row_table_module,
    &percentiles_rows,
    100,
    "0.1.0",
    "SELECT model, kind, percentile, latency_ms FROM inference_percentiles"};
