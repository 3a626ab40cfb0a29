// SPDX-License-Identifier: Apache-2.0
/* inference.c: the tables inference_models, inference_requests, inference_batches,
 * inference_percentiles, inference_tensor_patterns and inference_latency: what a model server did,
 * as XProf's inference profile has it.
 *
 *   SELECT model, request_count, average_latency_ms, request_throughput FROM
 * inference_models('logs'); SELECT request_id, latency_ms, device_compute_ps * 1e-9 FROM
 * inference_requests('logs') ORDER BY latency_ms DESC LIMIT 5; */
#include "../loader/analysis/serving/inference.h"
#include "../loader/base/text_buffer.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define MODEL_DOC                                                                                  \
    "model", "TEXT", NULL,                                                                         \
        "name of the model, as requests give it; ALL if no request names a model",                 \
        "inference_profile model_name"

/* The state of tables with the requests, batches or patterns of one model after the other. */
typedef struct {
    const Inference *all;
    size_t model, nth; /* nth: of the model; model n_models: those of no model */
    uint64_t row;
} ModelAt;

/* Moves to the next of which each model, and no model, have `count`. */
static bool next_of_models(RowCursor *c, size_t (*count)(const Inference *, size_t model))
{
    ModelAt *at = c->state;
    if (!c->started) at->all = run_inference(c->from->run, c->from->only, &c->err);
    if (!at->all) return false;
    at->nth += c->started;
    c->place = at->row++;
    for (; at->model <= at->all->n_models; at->model++, at->nth = 0)
        if (at->nth < count(at->all, at->model)) return true;
    return false;
}

/* NULL for those of no model. */
static const InferenceModel *model_at(const ModelAt *at)
{
    return at->model < at->all->n_models ? &at->all->models[at->model] : NULL;
}

static void result_ms(sqlite3_context *ctx, uint64_t ps)
{
    sqlite3_result_double(ctx, (double)ps / 1e9);
}
static void result_signed_ms(sqlite3_context *ctx, int64_t ps)
{
    sqlite3_result_double(ctx, (double)ps / 1e9);
}
static void result_host(sqlite3_context *ctx, const Host *host)
{
    sqlite3_result_text(ctx, host->name, -1, SQLITE_STATIC);
}

/* ---- inference_models ---- */

#define MODELS_COLUMNS(C)                                                                          \
    C(IM_RUN, RUN_DOC)                                                                             \
    C(IM_MODEL, MODEL_DOC)                                                                         \
    C(IM_REQUESTS, "request_count", "INTEGER", "requests", "number of requests to the model",      \
      "libprofsql")                                                                                \
    C(IM_BATCHES, "batch_count", "INTEGER", "batches", "number of batches that the model ran",     \
      "libprofsql")                                                                                \
    C(IM_THROUGHPUT, "request_throughput", "REAL", "requests/s",                                   \
      "requests per second, from the start of the first request to "                               \
      "the end of the last one; 0 without requests",                                               \
      "inference_profile throughput")                                                              \
    C(IM_LATENCY, "average_latency_ms", "REAL", "ms",                                              \
      "average duration of a request; 0 without requests", "inference_profile averageLatencyMs")   \
    C(IM_BATCH_THROUGHPUT, "batch_throughput", "REAL", "batches/s",                                \
      "batches per second, from the start of the first batch to "                                  \
      "the end of the last one; 0 without batches",                                                \
      "inference_profile throughput")                                                              \
    C(IM_BATCH_LATENCY, "average_batch_latency_ms", "REAL", "ms",                                  \
      "average duration of a batch; 0 without batches", "inference_profile averageLatencyMs")      \
    C(IM_THREADS, "batching_threads", "INTEGER", "threads",                                        \
      "number of threads of the batch scheduler; NULL if the "                                     \
      "profile has no batching parameters of the model",                                           \
      "inference_profile batchingParamNumBatchThreads")                                            \
    C(IM_MAX_SIZE, "max_batch_size", "INTEGER", NULL,                                              \
      "largest batch that the batch scheduler builds; NULL if the "                                \
      "profile has no batching parameters of the model",                                           \
      "inference_profile batchingParamMaxBatchSize")                                               \
    C(IM_TIMEOUT, "batch_timeout_us", "INTEGER", "us",                                             \
      "longest time that the batch scheduler waits for a batch to fill; "                          \
      "NULL if the profile has no batching parameters of the model",                               \
      "inference_profile batchingParamBatchTimeoutMicros")                                         \
    C(IM_ENQUEUED, "max_enqueued_batches", "INTEGER", "batches",                                   \
      "largest number of batches that may wait in the batch scheduler's "                          \
      "queue; NULL if the profile has no batching parameters of the model",                        \
      "inference_profile batchingParamMaxEnqueuedBatches")                                         \
    C(IM_ALLOWED, "allowed_batch_sizes", "TEXT", NULL,                                             \
      "batch sizes to which the batch scheduler pads; NULL if the "                                \
      "profile has no batching parameters of the model",                                           \
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
    case IM_MODEL: sqlite3_result_text(ctx, m->name, -1, SQLITE_STATIC); break;
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
const Table inference_models_table = {"inference_models",
                                      "one model on a model server, with its "
                                      "requests, batches and batching parameters",
                                      models_columns,
                                      COUNT(models_columns),
                                      &row_table_module,
                                      &models_rows,
                                      3};

/* ---- inference_requests ---- */

#define REQUESTS_COLUMNS(C)                                                                        \
    C(IR_RUN, RUN_DOC)                                                                             \
    C(IR_MODEL, "model", "TEXT", NULL,                                                             \
      "model that the request names; ALL if no request of the run "                                \
      "names a model; NULL if only this request names none",                                       \
      "inference_profile model_name")                                                              \
    C(IR_HOST, "host", "TEXT", NULL,                                                               \
      "name of the host that served the request, taken from its file name",                        \
      "file name without .xplane.pb")                                                              \
    C(IR_RANK, "rank", "INTEGER", NULL,                                                            \
      "rank of the request by duration within its model, or among "                                \
      "the requests without a model; 1 is the shortest",                                           \
      "libprofsql")                                                                                \
    C(IR_ID, "request_id", "INTEGER", NULL, "group_id of the request's events on its host",        \
      "inference_profile request_id")                                                              \
    C(IR_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the request, from the start of the session",                                       \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(IR_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time from the request's first event to the end of its last event or batch",                 \
      "inference_profile latency_ms")                                                              \
    C(IR_LATENCY, "latency_ms", "REAL", "ms", "duration_ps in milliseconds",                       \
      "inference_profile latency_ms")                                                              \
    C(IR_SIZE, "batching_request_size", "INTEGER", NULL,                                           \
      "size of the request's task in the batch, as the batch "                                     \
      "scheduler reports it; 0 if it is not reported",                                             \
      "inference_profile batching_request_size")                                                   \
    C(IR_DELAY, "batching_delay_ps", "INTEGER", "ps",                                              \
      "time from the start of the request to the start of its first batch; 0 without a batch. It " \
      "overlaps the eight times from batch_formation_ps to idle_ps, which divide up the duration", \
      "inference_profile host_batch_formation")                                                    \
    C(IR_FORMATION, "batch_formation_ps", "INTEGER", "ps",                                         \
      "time from the scheduling of the request until the input of its batch "                      \
      "is concatenated, without moments of runtime, transfers and device work",                    \
      "RequestDetail.host_batch_formation_ps")                                                     \
    C(IR_PREPROCESS, "host_preprocess_ps", "INTEGER", "ps",                                        \
      "time from the start of the request until the host executes "                                \
      "its program, without moments of any other activity",                                        \
      "inference_profile host_preprocessing")                                                      \
    C(IR_RUNTIME, "host_runtime_ps", "INTEGER", "ps",                                              \
      "time from the start of the host's execution until it launches "                             \
      "the program, without moments of transfers and device work",                                 \
      "inference_profile host_runtime")                                                            \
    C(IR_WRITE, "write_to_device_ps", "INTEGER", "ps",                                             \
      "time of transfers to the device, without moments of "                                       \
      "transfers from the device and of device work",                                              \
      "inference_profile data_transfer_h2d")                                                       \
    C(IR_READ, "read_from_device_ps", "INTEGER", "ps",                                             \
      "time of transfers from the device, without moments of device work",                         \
      "inference_profile data_transfer_d2h")                                                       \
    C(IR_DEVICE, "device_compute_ps", "INTEGER", "ps", "time of programs on the device",           \
      "inference_profile device_compute")                                                          \
    C(IR_POSTPROCESS, "host_postprocess_ps", "INTEGER", "ps",                                      \
      "time from the completion callback (without one: the end of the last program) to the end "   \
      "of the request, without moments of batch formation, runtime, transfers and device work",    \
      "inference_profile host_postprocess")                                                        \
    C(IR_IDLE, "idle_ps", "INTEGER", "ps",                                                         \
      "time between the request's first and last activity in which no activity runs",              \
      "inference_profile idle time")                                                               \
    C(IR_BATCHES, "batch_ids", "TEXT", NULL,                                                       \
      "batch_ids of the request's batches, as a JSON array", "RequestDetail.related_batch_ids")    \
    C(IR_PATTERN, "tensor_pattern", "TEXT", NULL,                                                  \
      "tensors whose layout the request converted between host and device; NULL if unknown",       \
      "inference_profile")                                                                         \
    C(IR_TENSOR, "tensor_ps", "INTEGER", "ps",                                                     \
      "time in which the request converts tensors between host and device "                        \
      "layout, also if tensor_pattern is NULL; 0 without conversions",                             \
      "inference_profile")                                                                         \
    C(IR_WRITE_ACTUAL, "write_to_device_ps_actual", "INTEGER", "ps",                               \
      "time of transfers to the device, GPUs included", "libprofsql")                              \
    C(IR_READ_ACTUAL, "read_from_device_ps_actual", "INTEGER", "ps",                               \
      "time of transfers from the device, GPUs included", "libprofsql")                            \
    C(IR_DEVICE_ACTUAL, "device_compute_ps_actual", "INTEGER", "ps",                               \
      "time of programs on the device, kernels and other work of GPUs included", "libprofsql")     \
    C(IR_SHOWN, "shown_by_xprof", "INTEGER", "0 or 1",                                             \
      "0: XProf omits the request because it names no model and other requests do", "libprofsql")  \
    C(IR_SOURCE, SOURCE_DOC)
enum { REQUESTS_COLUMNS(COLUMN_ENUM) };
static const Column requests_columns[] = {REQUESTS_COLUMNS(COLUMN_DOC)};

static size_t count_requests(const Inference *all, size_t model)
{
    return model < all->n_models ? all->models[model].n_requests : all->n_other_requests;
}

static bool requests_next(RowCursor *c) { return next_of_models(c, count_requests); }

static void result_ids(sqlite3_context *ctx, const int64_t *ids, size_t n)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < n; i++)
        sqlite3_str_appendf(out, "%s%lld", i ? "," : "[", (long long)ids[i]);
    sqlite3_str_appendall(out, n ? "]" : "[]");
    result_built(ctx, out);
}

static void requests_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ModelAt *at = c->state;
    const InferenceModel *model = model_at(at);
    const InferenceRequest *r = model ? model->requests[at->nth] : at->all->other_requests[at->nth];
    static const enum RequestTime times[] = {[IR_FORMATION - IR_FORMATION] =
                                                 REQUEST_BATCH_FORMATION,
                                             [IR_PREPROCESS - IR_FORMATION] = REQUEST_PREPROCESS,
                                             [IR_RUNTIME - IR_FORMATION] = REQUEST_RUNTIME,
                                             [IR_WRITE - IR_FORMATION] = REQUEST_WRITE,
                                             [IR_READ - IR_FORMATION] = REQUEST_READ,
                                             [IR_DEVICE - IR_FORMATION] = REQUEST_DEVICE,
                                             [IR_POSTPROCESS - IR_FORMATION] = REQUEST_POSTPROCESS,
                                             [IR_IDLE - IR_FORMATION] = REQUEST_IDLE};
    switch (column) {
    case IR_HOST: result_host(ctx, r->host); break;
    case IR_MODEL:
        if (model) sqlite3_result_text(ctx, model->name, -1, SQLITE_STATIC);
        break;
    case IR_SHOWN: sqlite3_result_int(ctx, model != NULL); break;
    case IR_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)at->nth + 1); break;
    case IR_ID: sqlite3_result_int64(ctx, r->id); break;
    case IR_START: sqlite3_result_int64(ctx, (sqlite3_int64)r->start_ps); break;
    case IR_DURATION: sqlite3_result_int64(ctx, (sqlite3_int64)(r->end_ps - r->start_ps)); break;
    case IR_LATENCY: result_ms(ctx, r->end_ps - r->start_ps); break;
    case IR_SIZE: sqlite3_result_int64(ctx, r->size); break;
    case IR_DELAY: sqlite3_result_int64(ctx, r->delay_ps); break;
    case IR_BATCHES: result_ids(ctx, r->batches, r->n_batches); break;
    case IR_PATTERN:
        if (r->pattern) result_text(ctx, r->pattern);
        break;
    case IR_TENSOR: sqlite3_result_int64(ctx, (sqlite3_int64)r->tensor_ps); break;
    case IR_WRITE_ACTUAL: sqlite3_result_int64(ctx, (sqlite3_int64)r->actual[REQUEST_WRITE]); break;
    case IR_READ_ACTUAL: sqlite3_result_int64(ctx, (sqlite3_int64)r->actual[REQUEST_READ]); break;
    case IR_DEVICE_ACTUAL:
        sqlite3_result_int64(ctx, (sqlite3_int64)r->actual[REQUEST_DEVICE]);
        break;
    default:
        if (column >= IR_FORMATION && column <= IR_IDLE)
            sqlite3_result_int64(ctx, (sqlite3_int64)r->times[times[column - IR_FORMATION]]);
        break;
    }
}

static const RowSource requests_rows = {.next = requests_next,
                                        .state_bytes = sizeof(ModelAt),
                                        .column = requests_column,
                                        .per_run = true,
                                        .nothing = "no event starts a request to a model "
                                                   "server (SessionRun, TfrtModelRun, "
                                                   "BatchingSessionRun and similar)",
                                        .needs = NEED_EVENTS | NEED_HOST};
const Table inference_requests_table = {"inference_requests",
                                        "one request to a model server, with its time by "
                                        "activity; ordered by model, shortest request first",
                                        requests_columns,
                                        COUNT(requests_columns),
                                        &row_table_module,
                                        &requests_rows,
                                        1000};

/* ---- inference_batches ---- */

#define BATCHES_COLUMNS(C)                                                                         \
    C(IB_RUN, RUN_DOC)                                                                             \
    C(IB_MODEL, "model", "TEXT", NULL,                                                             \
      "model of the batch's first request; NULL if no request that "                               \
      "names a model refers to the batch",                                                         \
      "inference_profile model_name")                                                              \
    C(IB_HOST, "host", "TEXT", NULL,                                                               \
      "name of the host that ran the batch, taken from its file name",                             \
      "file name without .xplane.pb")                                                              \
    C(IB_RANK, "rank", "INTEGER", NULL,                                                            \
      "rank of the batch by duration within its model, or among "                                  \
      "the batches without a model; 1 is the shortest",                                            \
      "libprofsql")                                                                                \
    C(IB_ID, "batch_id", "INTEGER", NULL, "group_id of the batch's events on its host",            \
      "inference_profile batch_id")                                                                \
    C(IB_START, "start_ps", "INTEGER", "ps", "start of the batch, from the start of the session",  \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(IB_DURATION, "duration_ps", "INTEGER", "ps", "duration of the batch's ProcessBatch event",   \
      "inference_profile latency")                                                                 \
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
      "time from the start of the batch's earliest request to the "                                \
      "start of the batch; 0 if no request of the batch is known",                                 \
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
      "time in which the batch converts tensors between host and device "                          \
      "layout, also if tensor_pattern is NULL; 0 without conversions",                             \
      "inference_profile")                                                                         \
    C(IB_DEVICE_ACTUAL, "device_compute_ps_actual", "INTEGER", "ps",                               \
      "time of programs on the device, kernels and other work of GPUs included", "libprofsql")     \
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

static double efficiency(int64_t padding, int64_t size)
{
    return size ? (double)(size - padding) / (double)size : 0;
}

static void batches_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ModelAt *at = c->state;
    const InferenceModel *model = model_at(at);
    const InferenceBatch *b = model ? model->batches[at->nth] : at->all->others[at->nth];
    switch (column) {
    case IB_HOST: result_host(ctx, b->host); break;
    case IB_MODEL:
        if (model) sqlite3_result_text(ctx, model->name, -1, SQLITE_STATIC);
        break;
    case IB_SHOWN: sqlite3_result_int(ctx, model != NULL); break;
    case IB_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)at->nth + 1); break;
    case IB_ID: sqlite3_result_int64(ctx, b->id); break;
    case IB_START: sqlite3_result_int64(ctx, (sqlite3_int64)b->start_ps); break;
    case IB_DURATION: sqlite3_result_int64(ctx, (sqlite3_int64)(b->end_ps - b->start_ps)); break;
    case IB_LATENCY: result_ms(ctx, b->end_ps - b->start_ps); break;
    case IB_PADDING: sqlite3_result_int64(ctx, b->padding); break;
    case IB_SIZE: sqlite3_result_int64(ctx, b->size); break;
    case IB_EFFICIENCY: sqlite3_result_double(ctx, efficiency(b->padding, b->size)); break;
    case IB_DELAY: sqlite3_result_int64(ctx, b->delay_ps); break;
    case IB_DEVICE: sqlite3_result_int64(ctx, (sqlite3_int64)b->device_ps); break;
    case IB_PROGRAM:
        if (b->has_program) result_id(ctx, b->program_id);
        break;
    case IB_REQUESTS: result_ids(ctx, b->requests, b->n_requests); break;
    case IB_PATTERN:
        if (b->pattern) result_text(ctx, b->pattern);
        break;
    case IB_TENSOR: sqlite3_result_int64(ctx, (sqlite3_int64)b->tensor_ps); break;
    case IB_DEVICE_ACTUAL: sqlite3_result_int64(ctx, (sqlite3_int64)b->actual_device_ps); break;
    default: break;
    }
}

static const RowSource batches_rows = {.next = batches_next,
                                       .state_bytes = sizeof(ModelAt),
                                       .column = batches_column,
                                       .per_run = true,
                                       .nothing = "no ProcessBatch event: the server did "
                                                  "not batch requests, or served none",
                                       .needs = NEED_EVENTS | NEED_HOST};
const Table inference_batches_table = {"inference_batches",
                                       "one batch that a model server ran; "
                                       "ordered by model, shortest batch first",
                                       batches_columns,
                                       COUNT(batches_columns),
                                       &row_table_module,
                                       &batches_rows,
                                       500};

/* ---- inference_percentiles ---- */

#define PERCENTILES_COLUMNS(C)                                                                     \
    C(IP_RUN, RUN_DOC)                                                                             \
    C(IP_MODEL, MODEL_DOC)                                                                         \
    C(IP_KIND, "kind", "TEXT", NULL, "kind of the row: request or batch", "inference_profile")     \
    C(IP_NUMBER, "number", "INTEGER", NULL,                                                        \
      "ordinal of the row within its model and kind, from 1, in XProf's order", "libprofsql")      \
    C(IP_PERCENTILE, "percentile", "TEXT", NULL,                                                   \
      "percentile of the request or batch by duration, in percent with three "                     \
      "decimals. Up to 60 have all their rows; of more, rows near 50, 75, "                        \
      "90, 99, 99.9 and 99.99 are shown. Averages follow: Batch size N, then "                     \
      "Average (of all requests) or Aggregated (of all batches)",                                  \
      "inference_profile percentile")                                                              \
    C(IP_REQUEST, "request_id", "TEXT", NULL,                                                      \
      "request_id of the request; N/A in averages, NULL for batches",                              \
      "inference_profile request_id")                                                              \
    C(IP_BATCH, "batch_id", "TEXT", NULL,                                                          \
      "batch_id of the batch; N/A in averages, NULL for requests", "inference_profile batch_id")   \
    C(IP_LATENCY, "latency_ms", "REAL", "ms",                                                      \
      "duration of the request or batch, or the average duration",                                 \
      "inference_profile latency_ms, latency")                                                     \
    C(IP_THROUGHPUT, "throughput", "REAL", "a second",                                             \
      "requests or batches per second that the average is computed "                               \
      "from; NULL in rows that are not averages, and if unknown",                                  \
      "inference_profile throughput")                                                              \
    C(IP_SIZE, "batching_request_size", "INTEGER", NULL,                                           \
      "batching_request_size of inference_requests; averages are "                                 \
      "truncated to integers; NULL for batches",                                                   \
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
      "time of programs on the device; in averages of requests by "                                \
      "batch size, the average of the batches",                                                    \
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
      "batch_size_after_padding of inference_batches; averages are "                               \
      "truncated to integers; NULL for requests",                                                  \
      "inference_profile batch_size_after_padding")                                                \
    C(IP_EFFICIENCY, "batching_efficiency_fraction", "REAL", "fraction 0..1",                      \
      "share of the batch size that is not padding; 0 if unknown; NULL for requests",              \
      "inference_profile batching_efficiency")                                                     \
    C(IP_DELAY, "batching_delay_ms", "REAL", "ms",                                                 \
      "time from the start of the batch's earliest request to the "                                \
      "start of the batch; NULL for requests",                                                     \
      "inference_profile batching_delay_us")                                                       \
    C(IP_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the first program that the batch ran, or of all programs of a batch "                 \
      "size; N/A if unknown and in the average of all batches; NULL for requests",                 \
      "inference_profile program_id")                                                              \
    C(IP_SOURCE, SOURCE_DOC)
enum { PERCENTILES_COLUMNS(COLUMN_ENUM) };
static const Column percentiles_columns[] = {PERCENTILES_COLUMNS(COLUMN_DOC)};

/* A row of the table: one sample, or an average over `n`. */
typedef struct {
    const InferenceModel *model;
    const InferenceSum *sum; /* NULL: a sample */
    bool is_batch;
    size_t sample, number; /* number: of the row within model and kind, from 1 */
} PercentileRow;

static bool is_row(size_t i, size_t n_samples)
{
    return i >= n_samples || inference_sampled(i, n_samples);
}

typedef struct {
    const Inference *all;
    size_t model;
    bool is_batch;   /* requests of a model, then its batches */
    size_t nth;      /* of them: samples, then sizes, then the sum of all */
    uint64_t n_rows; /* so far */
    PercentileRow row;
} PercentileAt;

static bool percentiles_next(RowCursor *c)
{
    PercentileAt *at = c->state;
    if (!c->started) at->all = run_inference(c->from->run, c->from->only, &c->err);
    if (!at->all) return false;
    c->place = at->n_rows++;
    for (at->nth += c->started; at->model < at->all->n_models;
         at->model += at->is_batch, at->is_batch = !at->is_batch, at->nth = 0, at->row.number = 0) {
        const InferenceModel *m = &at->all->models[at->model];
        size_t n = at->is_batch ? m->n_batches : m->n_requests,
               n_rows = at->is_batch && !at->all->has_batches ? 0 : n + m->n_by_size + 1;
        while (at->nth < n_rows && !is_row(at->nth, n)) at->nth++;
        if (at->nth >= n_rows) continue;
        at->row = (PercentileRow){
            .model = m, .is_batch = at->is_batch, .sample = at->nth, .number = at->row.number + 1};
        if (at->nth >= n)
            at->row.sum = at->nth - n < m->n_by_size ? &m->by_size[at->nth - n] : &m->all;
        return true;
    }
    return false;
}

static void request_value(sqlite3_context *ctx, const InferenceRequest *r, uint64_t n, int column)
{
    static const enum RequestTime times[] = {[IP_PREPROCESS - IP_PREPROCESS] = REQUEST_PREPROCESS,
                                             [IP_RUNTIME - IP_PREPROCESS] = REQUEST_RUNTIME,
                                             [IP_WRITE - IP_PREPROCESS] = REQUEST_WRITE,
                                             [IP_READ - IP_PREPROCESS] = REQUEST_READ,
                                             [IP_DEVICE - IP_PREPROCESS] = REQUEST_DEVICE,
                                             [IP_POSTPROCESS - IP_PREPROCESS] = REQUEST_POSTPROCESS,
                                             [IP_IDLE - IP_PREPROCESS] = REQUEST_IDLE};
    switch (column) {
    case IP_LATENCY: result_ms(ctx, (r->end_ps - r->start_ps) / n); break;
    case IP_SIZE: sqlite3_result_int64(ctx, r->size / (int64_t)n); break;
    case IP_FORMATION: result_signed_ms(ctx, r->delay_ps / (int64_t)n); break;
    default:
        if (column >= IP_PREPROCESS && column <= IP_IDLE)
            result_ms(ctx, r->times[times[column - IP_PREPROCESS]] / n);
        break;
    }
}

static void batch_value(sqlite3_context *ctx, const InferenceBatch *b, uint64_t n, int column)
{
    switch (column) {
    case IP_LATENCY: result_ms(ctx, (b->end_ps - b->start_ps) / n); break;
    case IP_DEVICE: result_ms(ctx, b->device_ps / n); break;
    case IP_PADDING: sqlite3_result_int64(ctx, b->padding / (int64_t)n); break;
    case IP_PADDED: sqlite3_result_int64(ctx, b->size / (int64_t)n); break;
    case IP_EFFICIENCY: sqlite3_result_double(ctx, efficiency(b->padding, b->size)); break;
    case IP_DELAY: result_signed_ms(ctx, b->delay_ps / (int64_t)n); break;
    default: break;
    }
}

/* How many a second: the model's throughput by the row's share of all. */
static void result_throughput(sqlite3_context *ctx, const PercentileRow *row)
{
    const InferenceModel *m = row->model;
    if (!row->sum) return;
    double all = row->is_batch ? m->batch_throughput : m->request_throughput;
    double n = (double)(row->is_batch ? row->sum->n_batches : row->sum->n_requests),
           of = (double)(row->is_batch ? m->n_batches : m->n_requests);
    sqlite3_result_double(ctx, row->sum == &m->all ? all : n * all / of); /* NULL for 0 / 0 */
}

static void result_percentile(sqlite3_context *ctx, const PercentileRow *row)
{
    const InferenceModel *m = row->model;
    if (!row->sum)
        result_real(ctx, "%.3f",
                    100.0 * (double)row->sample /
                        (double)(row->is_batch ? m->n_batches : m->n_requests));
    else if (row->sum == &m->all)
        sqlite3_result_text(ctx, row->is_batch ? "Aggregated" : "Average", -1, SQLITE_STATIC);
    else
        result_owned(ctx, sqlite3_mprintf("Batch size %lld", (long long)row->sum->batch_size));
}

static void result_sample_id(sqlite3_context *ctx, bool known, uint64_t id)
{
    if (known)
        result_owned(ctx, sqlite3_mprintf("%llu", (unsigned long long)id));
    else
        sqlite3_result_text(ctx, "N/A", -1, SQLITE_STATIC);
}

/* The programs of all batches of a size, in order of the first batch of each. */
static void result_programs(sqlite3_context *ctx, const PercentileRow *row)
{
    enum { MOST = 100 };
    uint64_t programs[MOST];
    size_t n = 0;
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < row->model->n_batches && n < MOST; i++) {
        const InferenceBatch *b = row->model->batches[i];
        size_t k = 0;
        while (k < n && programs[k] != b->program_id) k++;
        if (!b->has_program || b->size != row->sum->batch_size || k < n) continue;
        programs[n++] = b->program_id;
        sqlite3_str_appendf(out, "%s%llu", k ? ", " : "", (unsigned long long)b->program_id);
    }
    if (!n) sqlite3_str_appendall(out, "N/A");
    result_built(ctx, out);
}

static void percentiles_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    static const InferenceRequest no_request;
    static const InferenceBatch no_batch;
    const PercentileRow *row = &((PercentileAt *)c->state)->row;
    const InferenceRequest *r = row->is_batch ? NULL
                                : row->sum
                                    ? (row->sum->n_requests ? &row->sum->request : &no_request)
                                    : row->model->requests[row->sample];
    const InferenceBatch *b = !row->is_batch ? NULL
                              : row->sum     ? (row->sum->n_batches ? &row->sum->batch : &no_batch)
                                             : row->model->batches[row->sample];
    uint64_t n = !row->sum ? 1 : row->is_batch ? row->sum->n_batches : row->sum->n_requests;
    switch (column) {
    case IP_MODEL: sqlite3_result_text(ctx, row->model->name, -1, SQLITE_STATIC); break;
    case IP_KIND:
        sqlite3_result_text(ctx, row->is_batch ? "batch" : "request", -1, SQLITE_STATIC);
        break;
    case IP_NUMBER: sqlite3_result_int64(ctx, (sqlite3_int64)row->number); break;
    case IP_PERCENTILE: result_percentile(ctx, row); break;
    case IP_THROUGHPUT: result_throughput(ctx, row); break;
    case IP_REQUEST:
        if (r) result_sample_id(ctx, !row->sum, (uint64_t)r->id);
        break;
    case IP_BATCH:
        if (b) result_sample_id(ctx, !row->sum, (uint64_t)b->id);
        break;
    case IP_PROGRAM:
        if (b && row->sum && row->sum != &row->model->all)
            result_programs(ctx, row);
        else if (b)
            result_sample_id(ctx, b->has_program && !row->sum, b->program_id);
        break;
    case IP_DEVICE:
        /* XProf's averages of requests by the size of their batches have the time of the batches */
        if (r && row->sum && row->sum != &row->model->all)
            batch_value(ctx, &row->sum->batch, row->sum->n_batches, column);
        else if (r)
            request_value(ctx, r, n ? n : 1, column);
        else
            batch_value(ctx, b, n ? n : 1, column);
        break;
    default:
        if (r)
            request_value(ctx, r, n ? n : 1, column);
        else
            batch_value(ctx, b, n ? n : 1, column);
        break;
    }
}

static const RowSource percentiles_rows = {.next = percentiles_next,
                                           .state_bytes = sizeof(PercentileAt),
                                           .column = percentiles_column,
                                           .per_run = true,
                                           .needs = NEED_EVENTS};
const Table inference_percentiles_table = {"inference_percentiles",
                                           "one request or batch at a percentile "
                                           "of the duration, or an average, as "
                                           "in XProf's inference profile",
                                           percentiles_columns,
                                           COUNT(percentiles_columns),
                                           &row_table_module,
                                           &percentiles_rows,
                                           100};

/* ---- inference_tensor_patterns ---- */

#define PATTERNS_COLUMNS(C)                                                                        \
    C(IT_RUN, RUN_DOC)                                                                             \
    C(IT_MODEL, MODEL_DOC)                                                                         \
    C(IT_ID, "pattern_id", "INTEGER", NULL,                                                        \
      "ordinal of the pattern within the model, from 0, ordered by "                               \
      "pattern (XProf's order comes from a hash table)",                                           \
      "inference_profile id")                                                                      \
    C(IT_PATTERN, "pattern", "TEXT", NULL,                                                         \
      "names of the conversion events with shape and layout of their tensors, separated by <br>",  \
      "inference_profile tensor_pattern")                                                          \
    C(IT_COUNT, "occurrences", "INTEGER", NULL,                                                    \
      "number of requests and batches that have the pattern", "inference_profile count")           \
    C(IT_TEXT, "percentiles", "TEXT", NULL,                                                        \
      "the percentiles of the following columns as one text, in XProf's format",                   \
      "inference_profile percentile")                                                              \
    C(IT_P50, "p50_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 50 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P75, "p75_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 75 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P90, "p90_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 90 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P95, "p95_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 95 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P99, "p99_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 99 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P999, "p999_ms", "REAL", "ms",                                                            \
      "time to convert the tensors, at percentile 99.9 of the occurrences",                        \
      "inference_profile percentile")                                                              \
    C(IT_SOURCE, SOURCE_DOC)
enum { PATTERNS_COLUMNS(COLUMN_ENUM) };
static const Column patterns_columns[] = {PATTERNS_COLUMNS(COLUMN_DOC)};
static const double pattern_percentiles[] = {50, 75, 90, 95, 99, 99.9};

static size_t count_patterns(const Inference *all, size_t model)
{
    return model < all->n_models ? all->models[model].n_patterns : 0;
}

static bool patterns_next(RowCursor *c) { return next_of_models(c, count_patterns); }

static double pattern_ms(const TensorPattern *p, int percentile)
{
    return (double)p->times[(size_t)(pattern_percentiles[percentile] / 100 * (double)p->n)] / 1e9;
}

static void patterns_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ModelAt *at = c->state;
    const InferenceModel *model = model_at(at);
    const TensorPattern *p = &model->patterns[at->nth];
    switch (column) {
    case IT_MODEL: sqlite3_result_text(ctx, model->name, -1, SQLITE_STATIC); break;
    case IT_ID: sqlite3_result_int64(ctx, (sqlite3_int64)at->nth); break;
    case IT_PATTERN: result_text(ctx, p->pattern); break;
    case IT_COUNT: sqlite3_result_int64(ctx, (sqlite3_int64)p->n); break;
    case IT_TEXT: {
        sqlite3_str *out = sqlite3_str_new(NULL);
        for (int i = 0; i < (int)COUNT(pattern_percentiles); i++) {
            char room[400];
            print_real(room, sizeof room, "%.2f%%: %.6fms", pattern_percentiles[i],
                       pattern_ms(p, i));
            sqlite3_str_appendf(out, "%s%s", i ? "<br>" : "", room);
        }
        result_built(ctx, out);
        break;
    }
    default:
        if (column >= IT_P50 && column <= IT_P999)
            sqlite3_result_double(ctx, pattern_ms(p, column - IT_P50));
        break;
    }
}

static const RowSource patterns_rows = {.next = patterns_next,
                                        .state_bytes = sizeof(ModelAt),
                                        .column = patterns_column,
                                        .per_run = true,
                                        .nothing = "no request or batch converted tensors "
                                                   "whose shape and layout are known",
                                        .needs = NEED_EVENTS | NEED_HOST};
const Table inference_tensor_patterns_table = {
    "inference_tensor_patterns",
    "one pattern of tensors that requests and batches converted "
    "between host and device layout, with the time that took",
    patterns_columns,
    COUNT(patterns_columns),
    &row_table_module,
    &patterns_rows,
    10};

/* ---- inference_latency ---- */

#define LATENCY_COLUMNS(C)                                                                         \
    C(IL_RUN, RUN_DOC)                                                                             \
    C(IL_PERCENTILE, "percentile", "TEXT", NULL,                                                   \
      "Avg, or the percentile of the request among the requests of "                               \
      "all models by duration: 50.0% to 99.9%",                                                    \
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
      "host_ms without time and transfers of GPUs, which XProf counts as host time", "libprofsql") \
    C(IL_DEVICE_ACTUAL, "device_ms_actual", "REAL", "ms",                                          \
      "device_ms with kernels and other work of GPUs", "libprofsql")                               \
    C(IL_COMMUNICATION_ACTUAL, "communication_ms_actual", "REAL", "ms",                            \
      "communication_ms with transfers to and from GPUs", "libprofsql")                            \
    C(IL_SHOWN, "shown_by_xprof", "INTEGER", "0 or 1",                                             \
      "0: XProf's overview page shows no latencies because a program of the run computes "         \
      "gradients",                                                                                 \
      "libprofsql")                                                                                \
    C(IL_SOURCE, SOURCE_DOC)
enum { LATENCY_COLUMNS(COLUMN_ENUM) };
static const Column latency_columns[] = {LATENCY_COLUMNS(COLUMN_DOC)};
static const double latency_percentiles[] = {0 /* the average */, 50, 75, 90, 99, 99.9};

typedef struct {
    const Inference *all;
} LatencyState;

static void latency_list(RowCursor *c, RowList *list)
{
    const Inference *all = run_inference(c->from->run, c->from->only, &c->err);
    if (all && all->n_requests) *list = ROW_LIST(latency_percentiles, COUNT(latency_percentiles));
    ((LatencyState *)c->state)->all = all;
}

typedef struct {
    double total_us, device_us, communication_us;
} Latency;

static Latency latency_of(const InferenceRequest *r, bool actual)
{
    const uint64_t *times = actual ? r->actual : r->times;
    return (Latency){(double)(r->end_ps - r->start_ps) / 1e6, (double)times[REQUEST_DEVICE] / 1e6,
                     (double)(times[REQUEST_READ] + times[REQUEST_WRITE]) / 1e6};
}

static Latency average_latency(const Inference *all, bool actual)
{
    Latency sum = {0};
    for (size_t i = 0; i < all->n_requests; i++) {
        Latency l = latency_of(all->requests[i], actual);
        sum.total_us += l.total_us, sum.device_us += l.device_us,
            sum.communication_us += l.communication_us;
    }
    double n = (double)all->n_requests;
    return (Latency){sum.total_us / n, sum.device_us / n, sum.communication_us / n};
}

static void latency_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Inference *all = ((LatencyState *)c->state)->all;
    double percentile = *(const double *)c->row;
    bool actual = column >= IL_HOST_ACTUAL && column <= IL_COMMUNICATION_ACTUAL;
    Latency l =
        percentile > 0
            ? latency_of(all->requests[(size_t)(percentile / 100 * (double)all->n_requests)],
                         actual)
            : average_latency(all, actual);
    switch (column) {
    case IL_PERCENTILE:
        if (percentile > 0)
            result_real(ctx, "%.1f%%", percentile);
        else
            sqlite3_result_text(ctx, "Avg", -1, SQLITE_STATIC);
        break;
    case IL_HOST_ACTUAL:
    case IL_HOST_MS:
        sqlite3_result_double(ctx, (l.total_us - l.device_us - l.communication_us) / 1e3);
        break;
    case IL_DEVICE_ACTUAL:
    case IL_DEVICE: sqlite3_result_double(ctx, l.device_us / 1e3); break;
    case IL_COMMUNICATION_ACTUAL:
    case IL_COMMUNICATION: sqlite3_result_double(ctx, l.communication_us / 1e3); break;
    case IL_TOTAL: sqlite3_result_double(ctx, l.total_us / 1e3); break;
    case IL_THROUGHPUT: sqlite3_result_double(ctx, all->throughput); break;
    case IL_MIN:
        sqlite3_result_double(ctx, latency_of(all->requests[0], false).total_us / 1e3);
        break;
    case IL_MAX:
        sqlite3_result_double(ctx,
                              latency_of(all->requests[all->n_requests - 1], false).total_us / 1e3);
        break;
    case IL_SHOWN: sqlite3_result_int(ctx, !all->trains); break;
    default: break;
    }
}

static const RowSource latency_rows = {.list = latency_list,
                                       .state_bytes = sizeof(LatencyState),
                                       .column = latency_column,
                                       .per_run = true,
                                       .nothing = "no event starts a request to a model "
                                                  "server (SessionRun, TfrtModelRun, "
                                                  "BatchingSessionRun and similar)",
                                       .needs = NEED_EVENTS | NEED_HOST};
const Table inference_latency_table = {"inference_latency",
                                       "one percentile of the duration of requests "
                                       "to a model server, with its time by activity",
                                       latency_columns,
                                       COUNT(latency_columns),
                                       &row_table_module,
                                       &latency_rows,
                                       6};
