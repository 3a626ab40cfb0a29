// SPDX-License-Identifier: Apache-2.0
/* inference_requests.c: the table inference_requests: what each request to a model server spent its
 * time on.
 *
 *   SELECT request_id, latency_ms, device_compute_ps * 1e-9
 *     FROM inference_requests('logs') ORDER BY latency_ms DESC LIMIT 5; */
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

#define REQUESTS_COLUMNS(C)                                                                        \
    C(IR_RUN, RUN_DOC)                                                                             \
    C(IR_MODEL, "model", "TEXT", NULL,                                                             \
      "model that the request names; ALL if no request of the run names a model; NULL if only "    \
      "this request names none",                                                                   \
      "inference_profile model_name")                                                              \
    C(IR_HOST, "host", "TEXT", NULL,                                                               \
      "name of the host that served the request, taken from its file name",                        \
      "file name without .xplane.pb")                                                              \
    C(IR_RANK, "rank", "INTEGER", NULL,                                                            \
      "rank of the request by duration within its model, or among the requests without a model; "  \
      "1 is the shortest",                                                                         \
      "libprofsql")                                                                                \
    C(IR_ID, "request_id", "INTEGER", NULL, "group_id of the request's events on its host",        \
      "inference_profile request_id")                                                              \
    C(IR_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the request, from the start of the session",                                       \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(IR_START_US, START_US_DOC)                                                                   \
    C(IR_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time from the request's first event to the end of its last event or, if later, of its "     \
      "batch with the smallest number",                                                            \
      "inference_profile latency_ms")                                                              \
    C(IR_DURATION_US, DURATION_US_DOC)                                                             \
    C(IR_LATENCY, "latency_ms", "REAL", "ms", "duration_ps in milliseconds",                       \
      "inference_profile latency_ms")                                                              \
    C(IR_SIZE, "batching_request_size", "INTEGER", NULL,                                           \
      "size of the request's task in the batch, as the batch scheduler reports it; 0 if it is "    \
      "not reported",                                                                              \
      "inference_profile batching_request_size")                                                   \
    C(IR_DELAY, "batching_delay_ps", "INTEGER", "ps",                                              \
      "time from the start of the request to the start of its first batch; 0 without a batch. It " \
      "overlaps the times of activities and idle_ps_actual; those eight whose names end in "       \
      "_ps_actual divide up duration_ps_actual",                                                   \
      "inference_profile host_batch_formation")                                                    \
    C(IR_FORMATION, "batch_formation_ps", "INTEGER", "ps",                                         \
      "time from the scheduling of the request until the input of its batch is concatenated, "     \
      "excluding times of runtime, transfers and device work",                                     \
      "RequestDetail.host_batch_formation_ps")                                                     \
    C(IR_PREPROCESS, "host_preprocess_ps", "INTEGER", "ps",                                        \
      "time from the start of the request until the host executes its program, excluding times "   \
      "of any other activity",                                                                     \
      "inference_profile host_preprocessing")                                                      \
    C(IR_RUNTIME, "host_runtime_ps", "INTEGER", "ps",                                              \
      "time from the start of the host's execution until it launches the program, excluding "      \
      "times of transfers and device work",                                                        \
      "inference_profile host_runtime")                                                            \
    C(IR_WRITE, "write_to_device_ps", "INTEGER", "ps",                                             \
      "time of transfers to the device, excluding times of transfers from the device and of "      \
      "device work",                                                                               \
      "inference_profile data_transfer_h2d")                                                       \
    C(IR_READ, "read_from_device_ps", "INTEGER", "ps",                                             \
      "time of transfers from the device, excluding times of device work",                         \
      "inference_profile data_transfer_d2h")                                                       \
    C(IR_DEVICE, "device_compute_ps", "INTEGER", "ps", "time of programs on the device",           \
      "inference_profile device_compute")                                                          \
    C(IR_POSTPROCESS, "host_postprocess_ps", "INTEGER", "ps",                                      \
      "time from the completion callback (without one: the end of the last program) to the end "   \
      "of the request, excluding times of batch formation, runtime, transfers and device work",    \
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
      "time in which the request converts tensors between host and device layout, also if "        \
      "tensor_pattern is NULL; 0 without conversions",                                             \
      "inference_profile")                                                                         \
    C(IR_DURATION_ACTUAL, "duration_ps_actual", "INTEGER", "ps",                                   \
      "time from the request's first event to the end of its last event or batch; longer than "    \
      "duration_ps if the request was split over several batches and a later one ends later",      \
      "libprofsql")                                                                                \
    C(IR_LATENCY_ACTUAL, "latency_ms_actual", "REAL", "ms", "duration_ps_actual in milliseconds",  \
      "libprofsql")                                                                                \
    C(IR_FORMATION_ACTUAL, "batch_formation_ps_actual", "INTEGER", "ps",                           \
      "batch_formation_ps without the work and transfers of GPUs, which XProf does not exclude",   \
      "libprofsql")                                                                                \
    C(IR_PREPROCESS_ACTUAL, "host_preprocess_ps_actual", "INTEGER", "ps",                          \
      "host_preprocess_ps without the work and transfers of GPUs, which XProf does not exclude",   \
      "libprofsql")                                                                                \
    C(IR_RUNTIME_ACTUAL, "host_runtime_ps_actual", "INTEGER", "ps",                                \
      "host_runtime_ps without the work and transfers of GPUs, which XProf does not exclude",      \
      "libprofsql")                                                                                \
    C(IR_WRITE_ACTUAL, "write_to_device_ps_actual", "INTEGER", "ps",                               \
      "time of transfers to the device, including GPUs", "libprofsql")                             \
    C(IR_READ_ACTUAL, "read_from_device_ps_actual", "INTEGER", "ps",                               \
      "time of transfers from the device, including GPUs", "libprofsql")                           \
    C(IR_DEVICE_ACTUAL, "device_compute_ps_actual", "INTEGER", "ps",                               \
      "time of programs on the device, including kernels and other work of GPUs", "libprofsql")    \
    C(IR_POSTPROCESS_ACTUAL, "host_postprocess_ps_actual", "INTEGER", "ps",                        \
      "host_postprocess_ps until the end of the last batch, without the work and transfers of "    \
      "GPUs",                                                                                      \
      "libprofsql")                                                                                \
    C(IR_IDLE_ACTUAL, "idle_ps_actual", "INTEGER", "ps",                                           \
      "time between the start of the request and the end of its last batch in which no activity "  \
      "runs, neither on a GPU",                                                                    \
      "libprofsql")                                                                                \
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
        if (model) result_static(ctx, model->name);
        break;
    case IR_SHOWN: sqlite3_result_int(ctx, model != NULL); break;
    case IR_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)at->nth + 1); break;
    case IR_ID: sqlite3_result_int64(ctx, r->id); break;
    case IR_START:
    case IR_START_US: result_time(ctx, (int64_t)r->start_ps, column == IR_START_US); break;
    case IR_DURATION:
    case IR_DURATION_US:
        result_time(ctx, (int64_t)(r->end_ps - r->start_ps), column == IR_DURATION_US);
        break;
    case IR_LATENCY: result_ms(ctx, r->end_ps - r->start_ps); break;
    case IR_DURATION_ACTUAL:
        sqlite3_result_int64(ctx, (sqlite3_int64)(r->actual_end_ps - r->start_ps));
        break;
    case IR_LATENCY_ACTUAL: result_ms(ctx, r->actual_end_ps - r->start_ps); break;
    case IR_SIZE: sqlite3_result_int64(ctx, r->size); break;
    case IR_DELAY: sqlite3_result_int64(ctx, r->delay_ps); break;
    case IR_BATCHES: result_ids(ctx, r->batches, r->n_batches); break;
    case IR_PATTERN: result_text(ctx, r->pattern); break;
    case IR_TENSOR: sqlite3_result_int64(ctx, (sqlite3_int64)r->tensor_ps); break;
    default:
        if (column >= IR_FORMATION_ACTUAL && column <= IR_IDLE_ACTUAL)
            sqlite3_result_int64(ctx,
                                 (sqlite3_int64)r->actual[times[column - IR_FORMATION_ACTUAL]]);
        if (column >= IR_FORMATION && column <= IR_IDLE)
            sqlite3_result_int64(ctx, (sqlite3_int64)r->times[times[column - IR_FORMATION]]);
        break;
    }
}

static const RowSource requests_rows = {
    .next = requests_next,
    .state_bytes = sizeof(ModelAt),
    .column = requests_column,
    .per_run = true,
    .nothing = "no event starts a request to a model server (SessionRun, TfrtModelRun, "
               "BatchingSessionRun and similar)",
    .needs = NEED_EVENTS | NEED_HOST};
const Table inference_requests_table = {
    "inference_requests",
    "one request to a model server, with its time by activity; ordered by model, shortest request "
    "first",
    requests_columns,
    COUNT(requests_columns),
    &row_table_module,
    &requests_rows,
    1000,
    "0.1.0",
    "SELECT model, request_id, latency_ms, batching_delay_ps FROM inference_requests"};
