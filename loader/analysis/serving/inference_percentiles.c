// SPDX-License-Identifier: Apache-2.0
/* inference_percentiles.c: computes percentiles of requests and batches; see
 * inference_percentiles.h. */
#include "inference_percentiles.h"

#include <math.h>

double batch_efficiency(int64_t padding, int64_t size)
{
    return size ? (double)(size - padding) / (double)size : 0;
}

/* ---- values of a row ---- */

/* `r` is a sum over n requests, or a single request. */
static void set_request(InferencePercentile *row, const InferenceRequest *r, uint64_t n)
{
    row->latency_ps = (r->end_ps - r->start_ps) / n;
    for (int i = 0; i < N_REQUEST_TIMES; i++) row->times[i] = r->times[i] / n;
    row->device_ps = row->times[REQUEST_DEVICE];
    row->size = r->size / (int64_t)n;
    row->delay_ps = r->delay_ps / (int64_t)n;
}

static void set_batch(InferencePercentile *row, const InferenceBatch *b, uint64_t n)
{
    row->latency_ps = (b->end_ps - b->start_ps) / n;
    row->device_ps = b->device_ps / n;
    row->padding = b->padding / (int64_t)n;
    row->size = b->size / (int64_t)n;
    row->delay_ps = b->delay_ps / (int64_t)n;
    row->efficiency = batch_efficiency(b->padding, b->size);
}

static void set_sample(InferencePercentile *row, size_t i)
{
    const InferenceModel *m = row->model;
    row->percentile = 100.0 * (double)i / (double)(row->is_batch ? m->n_batches : m->n_requests);
    if (row->is_batch)
        set_batch(row, row->batch = m->batches[i], 1);
    else
        set_request(row, row->request = m->requests[i], 1);
}

/* Returns the model's throughput times the row's share of all requests or batches. */
static double throughput(const InferencePercentile *row)
{
    const InferenceModel *m = row->model;
    double all = row->is_batch ? m->batch_throughput : m->request_throughput;
    if (row->sum == &m->all) return all;
    double n = (double)(row->is_batch ? row->sum->n_batches : row->sum->n_requests),
           of = (double)(row->is_batch ? m->n_batches : m->n_requests);
    return n * all / of; /* NAN for 0 / 0 */
}

static void set_average(InferencePercentile *row)
{
    const InferenceSum *sum = row->sum;
    row->throughput = throughput(row);
    if (row->is_batch && sum->n_batches) set_batch(row, &sum->batch, sum->n_batches);
    if (!row->is_batch && sum->n_requests) set_request(row, &sum->request, sum->n_requests);
    /* In XProf's averages of requests by batch size, the times are those of the batches. */
    if (!row->is_batch && sum != &row->model->all)
        row->device_ps = sum->n_batches ? sum->batch.device_ps / sum->n_batches : 0;
}

/* Lists the programs of the batches of one size. */
static int list_programs(InferencePercentiles *all, InferencePercentile *row, ProfErr *err)
{
    enum { MOST = 100 };
    uint64_t *programs = arena_alloc(&all->arena, MOST * sizeof *programs);
    size_t n = 0;
    if (!programs) return prof_nomem(err);
    for (size_t i = 0; i < row->model->n_batches && n < MOST; i++) {
        const InferenceBatch *b = row->model->batches[i];
        size_t k = 0;
        while (k < n && programs[k] != b->program_id) k++;
        if (b->has_program && b->size == row->sum->batch_size && k == n)
            programs[n++] = b->program_id;
    }
    row->programs = programs;
    row->n_programs = n;
    return PROF_OK;
}

/* ---- rows ---- */

/* Lists the rows of a model's requests or batches: samples, then sizes, then all. If `rows` is NULL
 * it only counts them. */
static size_t rows_of(InferencePercentiles *all, const InferenceModel *m, bool is_batch,
                      InferencePercentile *rows, ProfErr *err)
{
    size_t n_samples = is_batch ? m->n_batches : m->n_requests, n = 0;
    for (size_t i = 0; i < n_samples + m->n_by_size + 1 && !err->code; i++) {
        if (i < n_samples && !inference_sampled(i, n_samples)) continue;
        if (!rows && ++n) continue;
        InferencePercentile *row = &rows[n++];
        *row =
            (InferencePercentile){.model = m, .is_batch = is_batch, .number = n, .throughput = NAN};
        if (i < n_samples) {
            set_sample(row, i);
            continue;
        }
        row->sum = i - n_samples < m->n_by_size ? &m->by_size[i - n_samples] : &m->all;
        set_average(row);
        if (is_batch && row->sum != &m->all) list_programs(all, row, err);
    }
    return n;
}

static size_t all_rows(InferencePercentiles *all, const Inference *inference,
                       InferencePercentile *rows, ProfErr *err)
{
    size_t n = 0;
    for (size_t i = 0; i < inference->n_models; i++) {
        const InferenceModel *m = &inference->models[i];
        n += rows_of(all, m, false, rows ? rows + n : NULL, err);
        if (inference->has_batches) n += rows_of(all, m, true, rows ? rows + n : NULL, err);
    }
    return n;
}

static void percentiles_free(void *result)
{
    InferencePercentiles *all = result;
    arena_free(&all->arena);
    prof_free(all);
}

static void *percentiles_make(Run *run, Host *only, ProfErr *err)
{
    const Inference *inference = run_inference(run, only, err);
    InferencePercentiles *all = inference ? prof_alloc(sizeof *all) : NULL;
    if (inference && !all) prof_nomem(err);
    if (!all) return NULL;
    all->n = all_rows(all, inference, NULL, err);
    all->rows = arena_alloc(&all->arena, all->n * sizeof *all->rows);
    if (!all->rows)
        prof_nomem(err);
    else
        all_rows(all, inference, all->rows, err);
    if (!err->code) return all;
    percentiles_free(all);
    return NULL;
}

const InferencePercentiles *run_inference_percentiles(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {percentiles_make, percentiles_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

/* ---- latency ---- */

InferenceLatency inference_latency_of(const InferenceRequest *r, bool actual)
{
    const uint64_t *times = actual ? r->actual : r->times;
    uint64_t end_ps = actual ? r->actual_end_ps : r->end_ps;
    return (InferenceLatency){(double)(end_ps - r->start_ps) / 1e6,
                              (double)times[REQUEST_DEVICE] / 1e6,
                              (double)(times[REQUEST_READ] + times[REQUEST_WRITE]) / 1e6};
}

InferenceLatency inference_latency_at(const Inference *all, double percentile, bool actual)
{
    size_t i = (size_t)(percentile / 100 * (double)all->n_requests);
    return inference_latency_of((actual ? all->actual_order : all->requests)[i], actual);
}

InferenceLatency inference_latency_average(const Inference *all, bool actual)
{
    InferenceLatency sum = {0};
    for (size_t i = 0; i < all->n_requests; i++) {
        InferenceLatency l = inference_latency_of(all->requests[i], actual);
        sum.total_us += l.total_us;
        sum.device_us += l.device_us;
        sum.communication_us += l.communication_us;
    }
    double n = (double)all->n_requests;
    return (InferenceLatency){sum.total_us / n, sum.device_us / n, sum.communication_us / n};
}
