// SPDX-License-Identifier: Apache-2.0
/* inference.c: collects the requests and batches of all hosts by model, and sums them; see
 * inference.h. */
#include "inference.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../program/training.h"

#include <stdio.h>

typedef struct {
    Inference result;
    InferenceRequest *requests; /* copies of the hosts' requests, with model indexes of the run */
    InferenceBatch *batches;
    size_t n_batches;
    InferenceBatch **batch_places;
    LIST(const Text *) models;
    Arena arena;
} InferenceBuilder;

bool inference_sampled(size_t i, size_t n)
{
    enum { ALL = 60, MOST = 10 };
    static const struct {
        double percentile, width;
    } wanted[] = {{50, 1}, {75, 1}, {90, 1}, {99, 0.5}, {99.9, 0.05}, {99.99, 0.005}};
    if (n <= ALL) return true;
    double percentile = 100.0 * (double)i / (double)n;
    for (size_t k = 0; k < COUNT(wanted); k++) {
        if (percentile < wanted[k].percentile ||
            percentile >= wanted[k].percentile + wanted[k].width)
            continue;
        return i < MOST || 100.0 * (double)(i - MOST) / (double)n < wanted[k].percentile;
    }
    return false;
}

/* ---- order ---- */

static int compare_spans(uint64_t start_x, uint64_t end_x, uint64_t start_y, uint64_t end_y)
{
    if (end_x - start_x != end_y - start_y) return ORDER(end_x - start_x, end_y - start_y);
    return ORDER(start_x, start_y);
}

/* Sorts by model, the shortest first; equal ones stay in the order of hosts and groups. */
static int by_model_request(const void *a, const void *b)
{
    const InferenceRequest *x = *(InferenceRequest *const *)a, *y = *(InferenceRequest *const *)b;
    if (x->model != y->model) return ORDER(x->model, y->model);
    int order = compare_spans(x->start_ps, x->end_ps, y->start_ps, y->end_ps);
    if (order) return order;
    return ORDER(x, y);
}
static int by_span_request(const void *a, const void *b)
{
    const InferenceRequest *x = *(InferenceRequest *const *)a, *y = *(InferenceRequest *const *)b;
    int order = compare_spans(x->start_ps, x->end_ps, y->start_ps, y->end_ps);
    if (order) return order;
    return ORDER(x, y);
}
static int by_actual_span(const void *a, const void *b)
{
    const InferenceRequest *x = *(InferenceRequest *const *)a, *y = *(InferenceRequest *const *)b;
    int order = compare_spans(x->start_ps, x->actual_end_ps, y->start_ps, y->actual_end_ps);
    return order ? order : ORDER(x, y);
}
static int by_model_batch(const void *a, const void *b)
{
    const InferenceBatch *x = *(InferenceBatch *const *)a, *y = *(InferenceBatch *const *)b;
    if (x->model != y->model) return ORDER(x->model, y->model);
    int order = compare_spans(x->start_ps, x->end_ps, y->start_ps, y->end_ps);
    if (order) return order;
    return ORDER(x, y);
}

/* ---- models ---- */

/* Returns the index of a host's model in the run. As in XProf, those of the first host come first.
 */
static int run_model(InferenceBuilder *m, const Text *name, ProfErr *err)
{
    for (size_t i = 0; i < m->models.n; i++)
        if (!strcmp(m->models.items[i]->text, name->text)) return (int)i;
    const Text **place = PUSH(m->models);
    if (!place) {
        prof_nomem(err);
        return -1;
    }
    *place = name;
    return (int)m->models.n - 1;
}

/* Copies a host's requests and batches, with model indexes of the run. */
static void add_host(InferenceBuilder *m, Host *host, size_t *n_requests, ProfErr *err)
{
    const HostInference *h = host_inference(host, err);
    int *models = h ? prof_alloc(h->models.n * sizeof *models) : NULL;
    if (!models) {
        if (h) prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < h->models.n && !err->code; i++)
        models[i] = run_model(m, h->models.items[i], err);
    for (size_t i = 0; i < h->requests.n && !err->code; i++) {
        InferenceRequest *r = &m->requests[(*n_requests)++];
        *r = h->requests.items[i];
        if (r->model >= 0 && (size_t)r->model < h->models.n) r->model = models[r->model];
    }
    for (size_t i = 0; i < h->batches.n && !err->code; i++) {
        InferenceBatch *b = &m->batches[m->n_batches++];
        *b = h->batches.items[i];
        if (b->model >= 0 && (size_t)b->model < h->models.n) b->model = models[b->model];
    }
    prof_free(models);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const InferenceModel *)a)->name, ((const InferenceModel *)b)->name);
}

/* ---- sums ---- */

static void add_request(InferenceSum *sum, const InferenceRequest *r)
{
    sum->request.end_ps += r->end_ps - r->start_ps;
    sum->request.delay_ps = (int64_t)((uint64_t)sum->request.delay_ps + (uint64_t)r->delay_ps);
    sum->request.size = (int64_t)((uint64_t)sum->request.size + (uint64_t)r->size);
    for (int i = 0; i < N_REQUEST_TIMES; i++) sum->request.times[i] += r->times[i];
    sum->n_requests++;
}

static void add_batch(InferenceSum *sum, const InferenceBatch *b)
{
    sum->batch.end_ps += b->end_ps - b->start_ps;
    sum->batch.delay_ps = (int64_t)((uint64_t)sum->batch.delay_ps + (uint64_t)b->delay_ps);
    sum->batch.padding += b->padding, sum->batch.size += b->size,
        sum->batch.device_ps += b->device_ps;
    sum->n_batches++;
}

static int by_size(const void *a, const void *b)
{
    const InferenceBatch *x = *(const InferenceBatch *const *)a,
                         *y = *(const InferenceBatch *const *)b;
    return ORDER(x->size, y->size);
}

/* XProf identifies batches by number alone: if several hosts have a number, the last one counts. */
static int by_id(const void *a, const void *b)
{
    const InferenceBatch *x = **(InferenceBatch *const *const *)a,
                         *y = **(InferenceBatch *const *const *)b;
    if (x->id != y->id) return ORDER(x->id, y->id);
    const void *place_x = *(const void *const *)a, *place_y = *(const void *const *)b;
    return ORDER(place_x, place_y);
}

static InferenceSum *sum_of_size(InferenceSum *sums, size_t n, int64_t size)
{
    size_t low = LOWER_BOUND(i, 0, n, sums[i].batch_size < size);
    return low < n && sums[low].batch_size == size ? &sums[low] : NULL;
}

static const InferenceBatch *batch_of_id(InferenceBatch *const *const *ids, size_t n, int64_t id)
{
    size_t low = LOWER_BOUND(i, 0, n, (*ids[i])->id <= id);
    return low && (*ids[low - 1])->id == id ? *ids[low - 1] : NULL;
}

/* Adds each request to the sums of the sizes of all its batches. */
static void sum_by_size(InferenceBuilder *m, InferenceModel *model, ProfErr *err)
{
    const InferenceBatch **sorted = prof_alloc(model->n_batches * sizeof *sorted);
    InferenceBatch *const **ids = prof_alloc(model->n_batches * sizeof *ids);
    InferenceSum *sums = arena_alloc(&m->arena, model->n_batches * sizeof *sums);
    size_t n = 0;
    if (!sorted || !ids || !sums) {
        prof_nomem(err);
    } else if (model->n_batches) {
        for (size_t i = 0; i < model->n_batches; i++)
            sorted[i] = model->batches[i], ids[i] = &model->batches[i];
        sort_array(sorted, model->n_batches, sizeof *sorted, by_size);
        sort_array(ids, model->n_batches, sizeof *ids, by_id);
        interrupt_poll(model->n_batches, err);
        for (size_t i = 0; i < model->n_batches; i++) {
            if (!n || sums[n - 1].batch_size != sorted[i]->size)
                sums[n++] = (InferenceSum){.batch_size = sorted[i]->size};
            add_batch(&sums[n - 1], sorted[i]);
        }
        for (size_t i = 0; i < model->n_requests; i++)
            for (size_t k = 0; k < model->requests[i]->n_batches && !err->code; k++) {
                const InferenceBatch *b =
                    batch_of_id(ids, model->n_batches, model->requests[i]->batches[k]);
                if (b) add_request(sum_of_size(sums, n, b->size), model->requests[i]);
            }
    }
    model->by_size = sums, model->n_by_size = n;
    prof_free(sorted);
    prof_free(ids);
}

static double per_second(size_t n, uint64_t from_ps, uint64_t to_ps)
{
    return (double)n / ((double)(to_ps - from_ps) / 1e12);
}

static void sum_model(InferenceModel *model)
{
    uint64_t from = UINT64_MAX, to = 0;
    model->all.batch_size = -1;
    for (size_t i = 0; i < model->n_requests; i++) {
        const InferenceRequest *r = model->requests[i];
        if (r->start_ps < from) from = r->start_ps;
        if (r->end_ps > to) to = r->end_ps;
        add_request(&model->all, r);
    }
    if (model->n_requests) {
        model->request_throughput = per_second(model->n_requests, from, to);
        model->request_latency_us =
            (double)model->all.request.end_ps / 1e6 / (double)model->n_requests;
    }
    from = UINT64_MAX, to = 0;
    for (size_t i = 0; i < model->n_batches; i++) {
        const InferenceBatch *b = model->batches[i];
        if (b->start_ps < from) from = b->start_ps;
        if (b->end_ps > to) to = b->end_ps;
        add_batch(&model->all, b);
    }
    if (!model->n_batches) return;
    model->batch_throughput = per_second(model->n_batches, from, to);
    model->batch_latency_us = (double)model->all.batch.end_ps / 1e6 / (double)model->n_batches;
}

/* ---- tensor patterns ---- */

typedef struct {
    const Text *pattern;
    uint64_t ps;
} TensorUse;

static int by_pattern(const void *a, const void *b)
{
    const TensorUse *x = a, *y = b;
    int order = x->pattern == y->pattern ? 0 : strcmp(x->pattern->text, y->pattern->text);
    return order ? order : ORDER(x->ps, y->ps);
}

static void find_patterns(InferenceBuilder *m, InferenceModel *model, ProfErr *err)
{
    size_t n = 0;
    TensorUse *uses = prof_alloc((model->n_requests + model->n_batches) * sizeof *uses);
    uint64_t *times =
        arena_alloc(&m->arena, (model->n_requests + model->n_batches) * sizeof *times);
    TensorPattern *patterns =
        arena_alloc(&m->arena, (model->n_requests + model->n_batches) * sizeof *patterns);
    if (!uses || !times || !patterns) {
        prof_free(uses);
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < model->n_requests; i++)
        if (model->requests[i]->pattern)
            uses[n++] = (TensorUse){model->requests[i]->pattern, model->requests[i]->tensor_ps};
    for (size_t i = 0; i < model->n_batches; i++)
        if (model->batches[i]->pattern)
            uses[n++] = (TensorUse){model->batches[i]->pattern, model->batches[i]->tensor_ps};
    sort_array(uses, n, sizeof *uses, by_pattern);
    for (size_t i = 0; i < n; i++) {
        times[i] = uses[i].ps;
        if (!i || strcmp(uses[i].pattern->text, uses[i - 1].pattern->text))
            patterns[model->n_patterns++] =
                (TensorPattern){.pattern = uses[i].pattern, .times = &times[i]};
        patterns[model->n_patterns - 1].n++;
    }
    model->patterns = patterns;
    prof_free(uses);
}

/* ---- parameters ---- */

/* Compares a model's name with that of a scheduler, which lacks the version that requests add after
 * a colon. */
static bool names_model(const char *model, const Text *name)
{
    const char *colon = strrchr(model, ':');
    if (!colon) return !strcmp(model, name->text);
    char *end;
    strtoll(colon + 1, &end, 10);
    return end != colon + 1 && !*end && (size_t)(colon - model) == name->n_bytes &&
           !memcmp(model, name->text, name->n_bytes);
}

/* Finds the parameters of each model; the first host that has them counts. */
static void find_parameters(Run *run, Host *only, InferenceModel *model, ProfErr *err)
{
    for (size_t h = 0; h < run->n_hosts && !model->parameters && !err->code; h++) {
        const HostInference *host =
            !only || only == &run->hosts[h] ? host_inference(&run->hosts[h], err) : NULL;
        for (size_t i = 0; host && i < host->parameters.n; i++)
            if (names_model(model->name, host->parameters.items[i].model))
                model->parameters = &host->parameters.items[i];
    }
}

/* ---- the analysis ---- */

static void inference_release(void *result)
{
    InferenceBuilder *m = result;
    prof_free(m->result.models);
    prof_free(m->result.requests);
    prof_free(m->result.actual_order);
    prof_free(m->requests);
    prof_free(m->batches);
    prof_free(m->batch_places);
    prof_free(m->models.items);
    arena_free(&m->arena);
    prof_free(m);
}

static bool has_host(const Run *run, const Host *only, size_t h)
{
    return (!only || only == &run->hosts[h]) && !run->hosts[h].reader->is_program;
}

static void read_hosts(InferenceBuilder *m, Run *run, Host *only, ProfErr *err)
{
    size_t n_requests = 0, n_batches = 0, n = 0;
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        const HostInference *host =
            has_host(run, only, h) ? host_inference(&run->hosts[h], err) : NULL;
        if (host) n_requests += host->requests.n, n_batches += host->batches.n;
    }
    if (err->code) return;
    m->requests = prof_alloc(n_requests * sizeof *m->requests);
    m->batches = prof_alloc(n_batches * sizeof *m->batches);
    m->result.requests = prof_alloc(n_requests * sizeof *m->result.requests);
    m->result.actual_order = prof_alloc(n_requests * sizeof *m->result.actual_order);
    m->batch_places = prof_alloc(n_batches * sizeof *m->batch_places);
    if (!m->requests || !m->batches || !m->result.requests || !m->result.actual_order ||
        !m->batch_places) {
        prof_nomem(err);
        return;
    }
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (has_host(run, only, h)) add_host(m, &run->hosts[h], &n, err);
    if (err->code) return;
    for (size_t i = 0; i < n; i++) {
        if (!m->models.n) m->requests[i].model = 0;
        m->result.requests[m->result.n_requests++] = &m->requests[i];
    }
    for (size_t i = 0; i < m->n_batches; i++) {
        if (!m->models.n) m->batches[i].model = 0;
        m->batch_places[i] = &m->batches[i];
    }
}

/* Splits requests and batches by model. Those without a model are in none; XProf leaves them out if
 * others have one. */
static void split_models(InferenceBuilder *m, ProfErr *err)
{
    size_t n = m->models.n ? m->models.n : 1, r = 0, b = 0;
    InferenceRequest **places =
        m->result.n_requests ? arena_alloc(&m->arena, m->result.n_requests * sizeof *places) : NULL;
    m->result.models = prof_alloc(n * sizeof *m->result.models);
    if (!m->result.models || (m->result.n_requests && !places)) {
        prof_nomem(err);
        return;
    }
    m->result.n_models = n;
    if (m->result.n_requests) {
        memcpy(places, m->result.requests, m->result.n_requests * sizeof *places);
        sort_array(places, m->result.n_requests, sizeof *places, by_model_request);
    }
    sort_array(m->batch_places, m->n_batches, sizeof *m->batch_places, by_model_batch);
    while (r < m->result.n_requests && places[r]->model < 0) r++;
    while (b < m->n_batches && m->batch_places[b]->model < 0) b++;
    m->result.other_requests = places, m->result.n_other_requests = r;
    m->result.others = m->batch_places, m->result.n_others = b;
    for (size_t i = 0; i < n; i++) {
        InferenceModel *model = &m->result.models[i];
        model->name = m->models.n ? m->models.items[i]->text : "ALL";
        model->requests = m->result.n_requests ? places + r : NULL,
        model->batches = m->n_batches ? m->batch_places + b : NULL;
        while (r < m->result.n_requests && places[r]->model == (int)i) r++, model->n_requests++;
        while (b < m->n_batches && m->batch_places[b]->model == (int)i) b++, model->n_batches++;
    }
}

static void *inference_make(Run *run, Host *only, ProfErr *err)
{
    InferenceBuilder *m = prof_alloc(sizeof *m);
    if (!m) {
        prof_nomem(err);
        return NULL;
    }
    bool any = false;
    for (size_t h = 0; h < run->n_hosts; h++) any |= has_host(run, only, h);
    if (any) read_hosts(m, run, only, err);
    if (any && !err->code) split_models(m, err);
    for (size_t i = 0; i < m->result.n_models && !err->code; i++) {
        InferenceModel *model = &m->result.models[i];
        sum_model(model);
        sum_by_size(m, model, err);
        if (!err->code) find_patterns(m, model, err);
        if (!err->code) find_parameters(run, only, model, err);
        m->result.throughput += model->request_throughput,
            m->result.has_batches |= model->n_batches != 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->result.n_requests; i++)
        if (m->result.requests[i]->model >= 0) m->result.requests[kept++] = m->result.requests[i];
    m->result.n_requests = kept;
    if (kept && !err->code) {
        memcpy(m->result.actual_order, m->result.requests, kept * sizeof *m->result.requests);
        sort_array(m->result.requests, kept, sizeof *m->result.requests, by_span_request);
        sort_array(m->result.actual_order, kept, sizeof *m->result.requests, by_actual_span);
    }
    sort_array(m->result.models, m->result.n_models, sizeof *m->result.models, by_name);
    if (kept && !err->code) m->result.trains = run_trains(run, only, err);
    if (!err->code) return m;
    inference_release(m);
    return NULL;
}

const Inference *run_inference(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {inference_make, inference_release, NEEDS_ONE_HOST_AT_A_TIME};
    const InferenceBuilder *m = run_analysis(run, only, &analysis, err);
    return m ? &m->result : NULL;
}
