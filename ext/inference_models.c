// SPDX-License-Identifier: Apache-2.0
/* inference_models.c: the table inference_models: the models of a model server, with their requests
 * and batches.
 *
 *   SELECT model, request_count, average_latency_ms, request_throughput
 *     FROM inference_models('logs'); */
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

#define MODELS_COLUMNS(C)                                                                          \
    C(IM_RUN, RUN_DOC)                                                                             \
    C(IM_MODEL, MODEL_DOC)                                                                         \
    C(IM_REQUESTS, "request_count", "INTEGER", "requests", "number of requests to the model",      \
      "libprofsql")                                                                                \
    C(IM_BATCHES, "batch_count", "INTEGER", "batches", "number of batches that the model ran",     \
      "libprofsql")                                                                                \
    C(IM_THROUGHPUT, "request_throughput", "REAL", "requests/s",                                   \
      "requests per second, from the start of the first request to the end of the last one; 0 "    \
      "without requests",                                                                          \
      "inference_profile throughput")                                                              \
    C(IM_LATENCY, "average_latency_ms", "REAL", "ms",                                              \
      "average duration of a request; 0 without requests", "inference_profile averageLatencyMs")   \
    C(IM_BATCH_THROUGHPUT, "batch_throughput", "REAL", "batches/s",                                \
      "batches per second, from the start of the first batch to the end of the last one; 0 "       \
      "without batches",                                                                           \
      "inference_profile throughput")                                                              \
    C(IM_BATCH_LATENCY, "average_batch_latency_ms", "REAL", "ms",                                  \
      "average duration of a batch; 0 without batches", "inference_profile averageLatencyMs")      \
    C(IM_THREADS, "batching_threads", "INTEGER", "threads",                                        \
      "number of threads of the batch scheduler; NULL if the profile has no batching parameters "  \
      "of the model",                                                                              \
      "inference_profile batchingParamNumBatchThreads")                                            \
    C(IM_MAX_SIZE, "max_batch_size", "INTEGER", NULL,                                              \
      "largest batch that the batch scheduler builds; NULL if the profile has no batching "        \
      "parameters of the model",                                                                   \
      "inference_profile batchingParamMaxBatchSize")                                               \
    C(IM_TIMEOUT, "batch_timeout_us", "INTEGER", "us",                                             \
      "longest time that the batch scheduler waits for a batch to fill; NULL if the profile has "  \
      "no batching parameters of the model",                                                       \
      "inference_profile batchingParamBatchTimeoutMicros")                                         \
    C(IM_ENQUEUED, "max_enqueued_batches", "INTEGER", "batches",                                   \
      "largest number of batches that may wait in the batch scheduler's queue; NULL if the "       \
      "profile has no batching parameters of the model",                                           \
      "inference_profile batchingParamMaxEnqueuedBatches")                                         \
    C(IM_ALLOWED, "allowed_batch_sizes", "TEXT", NULL,                                             \
      "batch sizes to which the batch scheduler pads; NULL if the profile has no batching "        \
      "parameters of the model",                                                                   \
      "inference_profile batchingParamAllowedBatchSizes")                                          \
    C(IM_SOURCE, SOURCE_DOC)
enum { MODELS_COLUMNS(COLUMN_ENUM) };
static const Column models_columns[] = {MODELS_COLUMNS(COLUMN_DOC)};

static void models_list(RowCursor *c, RowList *list)
{
    const Inference *all = run_inference(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->models, all->n_models);
}

static void parameter_column(sqlite3_context *ctx, const BatchingParameters *p, int column)
{
    if (!p) return;
    switch (column) {
    case IM_THREADS: sqlite3_result_int64(ctx, p->threads); break;
    case IM_MAX_SIZE: sqlite3_result_int64(ctx, p->max_batch_size); break;
    case IM_TIMEOUT: sqlite3_result_int64(ctx, p->timeout_us); break;
    case IM_ENQUEUED: sqlite3_result_int64(ctx, p->max_enqueued); break;
    case IM_ALLOWED: result_text(ctx, p->allowed_sizes); break;
    default: break;
    }
}

static void models_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const InferenceModel *m = c->row;
    switch (column) {
    case IM_MODEL: result_static(ctx, m->name); break;
    case IM_REQUESTS: sqlite3_result_int64(ctx, (sqlite3_int64)m->n_requests); break;
    case IM_BATCHES: sqlite3_result_int64(ctx, (sqlite3_int64)m->n_batches); break;
    case IM_THROUGHPUT: sqlite3_result_double(ctx, m->request_throughput); break;
    case IM_LATENCY: sqlite3_result_double(ctx, m->request_latency_us / 1e3); break;
    case IM_BATCH_THROUGHPUT: sqlite3_result_double(ctx, m->batch_throughput); break;
    case IM_BATCH_LATENCY: sqlite3_result_double(ctx, m->batch_latency_us / 1e3); break;
    default: parameter_column(ctx, m->parameters, column); break;
    }
}

static const RowSource models_rows = {
    .list = models_list, .column = models_column, .per_run = true, .needs = NEED_EVENTS};
const Table inference_models_table = {
    "inference_models",
    "one model on a model server, with its requests, batches and batching parameters",
    models_columns,
    COUNT(models_columns),
    &row_table_module,
    &models_rows,
    3,
    "0.1.0",
    "SELECT model, request_count, average_latency_ms, max_batch_size FROM inference_models"};
