// SPDX-License-Identifier: Apache-2.0
/* inference_batches.c: the table inference_batches: the batches that a model server ran.
 *
 *   SELECT batch_id, batch_size_after_padding
 *     FROM inference_batches('logs') ORDER BY latency_ms DESC LIMIT 5; */
#include "../loader/analysis/serving/inference_percentiles.h"
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

#define BATCHES_COLUMNS(C)                                                                         \
    C(IB_RUN, RUN_DOC)                                                                             \
    C(IB_MODEL, "model", "TEXT", NULL,                                                             \
      "model of the batch's first request; NULL if no request that names a model refers to the "   \
      "batch",                                                                                     \
      "inference_profile model_name")                                                              \
    C(IB_HOST, "host", "TEXT", NULL,                                                               \
      "name of the host that ran the batch, taken from its file name",                             \
      "file name without .xplane.pb")                                                              \
    C(IB_RANK, "rank", "INTEGER", NULL,                                                            \
      "rank of the batch by duration within its model, or among the batches without a model; 1 "   \
      "is the shortest",                                                                           \
      "libprofsql")                                                                                \
    C(IB_ID, "batch_id", "INTEGER", NULL, "group_id of the batch's events on its host",            \
      "inference_profile batch_id")                                                                \
    C(IB_START, "start_ps", "INTEGER", "ps", "start of the batch, from the start of the session",  \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(IB_START_US, START_US_DOC)                                                                   \
    C(IB_DURATION, "duration_ps", "INTEGER", "ps", "duration of the batch's ProcessBatch event",   \
      "inference_profile latency")                                                                 \
    C(IB_DURATION_US, DURATION_US_DOC)                                                             \
    C(IB_LATENCY, "latency_ms", "REAL", "ms", "duration_ps in milliseconds",                       \
      "inference_profile latency")                                                                 \
    C(IB_PADDING, "padding_amount", "INTEGER", NULL,                                               \
      "size of the padding in the batch; 0 if unknown", "inference_profile padding_amount")        \
    C(IB_SIZE, "batch_size_after_padding", "INTEGER", NULL,                                        \
      "batch size including padding; 0 if unknown", "inference_profile batch_size_after_padding")  \
    C(IB_EFFICIENCY, "batching_efficiency_fraction", "REAL", "fraction 0..1",                      \
      "share of the batch that is not padding; 0 if unknown",                                      \
      "inference_profile batching_efficiency")                                                     \
    C(IB_DELAY, "batching_delay_ps", "INTEGER", "ps",                                              \
      "time from the start of the batch's earliest request to the start of the batch; 0 if no "    \
      "request of the batch is known",                                                             \
      "inference_profile batching_delay_us")                                                       \
    C(IB_DEVICE, "device_compute_ps", "INTEGER", "ps", "time of programs on the device",           \
      "inference_profile device_compute")                                                          \
    C(IB_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the first program that the batch ran, decimal; NULL if unknown",                      \
      "inference_profile program_id")                                                              \
    C(IB_REQUESTS, "request_ids", "TEXT", NULL,                                                    \
      "request_ids of the batch's requests, as a JSON array", "BatchDetail.related_request_ids")   \
    C(IB_PATTERN, "tensor_pattern", "TEXT", NULL,                                                  \
      "tensors whose layout the batch converted between host and device; NULL if unknown",         \
      "inference_profile")                                                                         \
    C(IB_TENSOR, "tensor_ps", "INTEGER", "ps",                                                     \
      "time in which the batch converts tensors between host and device layout, also if "          \
      "tensor_pattern is NULL; 0 without conversions",                                             \
      "inference_profile")                                                                         \
    C(IB_DEVICE_ACTUAL, "device_compute_ps_actual", "INTEGER", "ps",                               \
      "time of programs on the device, including kernels and other work of GPUs", "libprofsql")    \
    C(IB_SHOWN, "shown_by_xprof", "INTEGER", "0 or 1",                                             \
      "0: XProf omits the batch because no request that names a model refers to it", "libprofsql") \
    C(IB_SOURCE, SOURCE_DOC)
enum { BATCHES_COLUMNS(COLUMN_ENUM) };
static const Column batches_columns[] = {BATCHES_COLUMNS(COLUMN_DOC)};

static size_t count_batches(const Inference *all, size_t model)
{
    return model < all->n_models ? all->models[model].n_batches : all->n_others;
}

static bool batches_next(RowCursor *c) { return next_of_models(c, count_batches); }

static void batches_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ModelAt *at = c->state;
    const InferenceModel *model = model_at(at);
    const InferenceBatch *b = model ? model->batches[at->nth] : at->all->others[at->nth];
    switch (column) {
    case IB_HOST: result_host(ctx, b->host); break;
    case IB_MODEL:
        if (model) result_static(ctx, model->name);
        break;
    case IB_SHOWN: sqlite3_result_int(ctx, model != NULL); break;
    case IB_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)at->nth + 1); break;
    case IB_ID: sqlite3_result_int64(ctx, b->id); break;
    case IB_START:
    case IB_START_US: result_time(ctx, (int64_t)b->start_ps, column == IB_START_US); break;
    case IB_DURATION:
    case IB_DURATION_US:
        result_time(ctx, (int64_t)(b->end_ps - b->start_ps), column == IB_DURATION_US);
        break;
    case IB_LATENCY: result_ms(ctx, b->end_ps - b->start_ps); break;
    case IB_PADDING: sqlite3_result_int64(ctx, b->padding); break;
    case IB_SIZE: sqlite3_result_int64(ctx, b->size); break;
    case IB_EFFICIENCY: sqlite3_result_double(ctx, batch_efficiency(b->padding, b->size)); break;
    case IB_DELAY: sqlite3_result_int64(ctx, b->delay_ps); break;
    case IB_DEVICE: sqlite3_result_int64(ctx, (sqlite3_int64)b->device_ps); break;
    case IB_PROGRAM:
        if (b->has_program) result_id(ctx, b->program_id);
        break;
    case IB_REQUESTS: result_ids(ctx, b->requests, b->n_requests); break;
    case IB_PATTERN: result_text(ctx, b->pattern); break;
    case IB_TENSOR: sqlite3_result_int64(ctx, (sqlite3_int64)b->tensor_ps); break;
    case IB_DEVICE_ACTUAL: sqlite3_result_int64(ctx, (sqlite3_int64)b->actual_device_ps); break;
    default: break;
    }
}

static const RowSource batches_rows = {
    .next = batches_next,
    .state_bytes = sizeof(ModelAt),
    .column = batches_column,
    .per_run = true,
    .nothing = "no ProcessBatch event: the server did not batch requests, or served none",
    .needs = NEED_EVENTS | NEED_HOST};
const Table inference_batches_table = {
    "inference_batches",
    "one batch that a model server ran; ordered by model, shortest batch first",
    batches_columns,
    COUNT(batches_columns),
    &row_table_module,
    &batches_rows,
    500,
    "0.1.0",
    "SELECT model, batch_id, latency_ms, padding_amount FROM inference_batches"};
