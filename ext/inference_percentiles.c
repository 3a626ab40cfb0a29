// SPDX-License-Identifier: Apache-2.0
/* inference_percentiles.c: the table inference_percentiles: requests and batches at percentiles of
 * their duration, as on XProf's page. */
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

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
    case IP_EFFICIENCY: sqlite3_result_double(ctx, batch_efficiency(b->padding, b->size)); break;
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
