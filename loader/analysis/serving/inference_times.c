// SPDX-License-Identifier: Apache-2.0
/* inference_times.c: computes the times of requests and their tensors; see inference_parts.h. */
#include "inference_parts.h"

#include "../../base/sort.h"

#include <stdio.h>

/* ---- the time of requests ---- */

static int by_request(const void *a, const void *b)
{
    const MomentOf *x = a, *y = b;
    if (x->request != y->request) return ORDER(x->request, y->request);
    if (x->group != y->group) return ORDER(x->group, y->group);
    return ORDER(x->turn, y->turn);
}

typedef struct {
    bool there[N_MOMENTS];
    uint64_t ps[N_MOMENTS];
} Moments;

static void add_span(InferenceBuilder *m, SpanOf span, ProfErr *err)
{
    SpanOf *place = PUSH(m->spans);
    if (span.end_ps < span.begin_ps) span.end_ps = span.begin_ps;
    if (place)
        *place = span;
    else
        prof_nomem(err);
}

static void own_span(InferenceBuilder *m, uint32_t request, enum RequestTime type,
                     uint64_t begin_ps, uint64_t end_ps, ProfErr *err)
{
    add_span(m, (SpanOf){request, (uint8_t)type, false, begin_ps, end_ps}, err);
}

/* Adds the time from `begin_ps` to the end of the request. */
static void postprocess(InferenceBuilder *m, uint32_t request, uint64_t begin_ps, ProfErr *err)
{
    const InferenceRequest *r = &m->result->requests.items[request];
    own_span(m, request, REQUEST_POSTPROCESS, begin_ps, r->end_ps, err);
    if (!err->code)
        add_span(m, (SpanOf){request, REQUEST_POSTPROCESS, true, begin_ps, r->actual_end_ps}, err);
}

/* Reads the moments of one group in a request: the first launch counts, of other moments the last.
 */
static size_t read_group(const MomentOf *moments, size_t n, Moments *found)
{
    size_t i = 0;
    *found = (Moments){0};
    for (; i < n && moments[i].request == moments->request && moments[i].group == moments->group;
         i++) {
        uint8_t at = moments[i].moment;
        if (at == AT_LAUNCH && found->there[at] && found->ps[at] < moments[i].ps) continue;
        found->there[at] = true, found->ps[at] = moments[i].ps;
    }
    return i;
}

/* Adds the times between the moments of a request. Returns the number of moments. */
static size_t read_request(InferenceBuilder *m, const MomentOf *moments, size_t n,
                           bool *has_callback, ProfErr *err)
{
    uint32_t request = moments->request;
    const InferenceRequest *r = &m->result->requests.items[request];
    Moments all = {0};
    size_t i = 0;
    while (i < n && moments[i].request == request) {
        Moments of_group;
        i += read_group(&moments[i], n - i, &of_group);
        if (of_group.there[AT_EXECUTE] && of_group.there[AT_LAUNCH])
            own_span(m, request, REQUEST_RUNTIME, of_group.ps[AT_EXECUTE], of_group.ps[AT_LAUNCH],
                     err);
        for (int at = 0; at < N_MOMENTS; at++) {
            if (!of_group.there[at]) continue;
            bool better = at == AT_CALLBACK ? of_group.ps[at] > all.ps[at]
                                            : at != AT_SCHEDULE && of_group.ps[at] < all.ps[at];
            if (!all.there[at] || better) all.there[at] = true, all.ps[at] = of_group.ps[at];
        }
    }
    if (all.there[AT_EXECUTE])
        own_span(m, request, REQUEST_PREPROCESS, r->start_ps, all.ps[AT_EXECUTE], err);
    if ((*has_callback = all.there[AT_CALLBACK])) postprocess(m, request, all.ps[AT_CALLBACK], err);
    if (all.there[AT_SCHEDULE] && all.there[AT_CONCAT])
        own_span(m, request, REQUEST_BATCH_FORMATION, all.ps[AT_SCHEDULE], all.ps[AT_CONCAT], err);
    return i;
}

/* A request without a callback is postprocessed from the end of its last program on. */
static void postprocess_without_callback(InferenceBuilder *m, const bool *has_callback,
                                         ProfErr *err)
{
    uint64_t *ends = prof_alloc(m->result->requests.n * sizeof *ends);
    if (!ends) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < m->spans.n; i++) {
        const SpanOf *s = &m->spans.items[i];
        if (s->type == REQUEST_DEVICE && !s->unseen && s->end_ps > ends[s->owner])
            ends[s->owner] = s->end_ps;
    }
    for (uint32_t i = 0; i < m->result->requests.n && !err->code; i++)
        if (!has_callback[i] && ends[i]) postprocess(m, i, ends[i], err);
    prof_free(ends);
}

void inference_add_spans(InferenceBuilder *m, ProfErr *err)
{
    bool *has_callback = prof_alloc(m->result->requests.n);
    if (!has_callback) {
        prof_nomem(err);
        return;
    }
    sort_array(m->moments.items, m->moments.n, sizeof *m->moments.items, by_request);
    for (size_t i = 0; i < m->moments.n && !err->code;) {
        uint32_t request = m->moments.items[i].request;
        i += read_request(m, &m->moments.items[i], m->moments.n - i, &has_callback[request], err);
    }
    if (!err->code) postprocess_without_callback(m, has_callback, err);
    prof_free(has_callback);
}

/* ---- overlapping spans: the type that counts at each moment ---- */

typedef struct {
    uint64_t ps;
    uint32_t owner, order; /* sorts ends before starts, higher types first */
} Edge;
enum { BEGINS = 0x100 };

static int by_owner_and_time(const void *a, const void *b)
{
    const Edge *x = a, *y = b;
    if (x->owner != y->owner) return ORDER(x->owner, y->owner);
    if (x->ps != y->ps) return ORDER(x->ps, y->ps);
    return ORDER(x->order, y->order);
}

/* Sums the times by type. A span without duration ends before it starts, so its type stays on top
 * until another span of the type ends, as in XProf; for the actual times make_edges() prevents it.
 */
static size_t sweep(const Edge *edges, size_t n, uint64_t times[N_REQUEST_TIMES])
{
    int64_t open[N_REQUEST_TIMES] = {0};
    int now = REQUEST_IDLE;
    size_t i = 0;
    for (; i < n && edges[i].owner == edges->owner; i++) {
        int type = N_REQUEST_TIMES - (int)(edges[i].order & 0xff);
        if (edges[i].order & BEGINS) {
            open[type]++;
            if (type > now) now = type;
        } else if (--open[type] == 0 && type == now) {
            while (now > REQUEST_IDLE && open[--now] <= 0) {
            }
        }
        if (i + 1 < n && edges[i + 1].owner == edges->owner)
            times[now] += edges[i + 1].ps - edges[i].ps;
    }
    return i;
}

/* Lists the starts and ends of all spans, or of those that XProf counts. */
static Edge *make_edges(const SpanOf *spans, size_t n, bool all, size_t *n_edges, ProfErr *err)
{
    Edge *edges = prof_alloc(2 * n * sizeof *edges);
    *n_edges = 0;
    if (!edges) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (spans[i].unseen && !all) continue;
        bool is_empty = all && spans[i].begin_ps == spans[i].end_ps;
        uint32_t order = (uint32_t)(N_REQUEST_TIMES - (is_empty ? REQUEST_IDLE : spans[i].type));
        edges[(*n_edges)++] = (Edge){spans[i].begin_ps, spans[i].owner, order | BEGINS};
        edges[(*n_edges)++] = (Edge){spans[i].end_ps, spans[i].owner, order};
    }
    sort_array(edges, *n_edges, sizeof *edges, by_owner_and_time);
    return edges;
}

/* Adds idle spans, so that the actual times of a request begin and end with it. */
static void add_idle(InferenceBuilder *m, ProfErr *err)
{
    for (uint32_t i = 0; i < m->result->requests.n && !err->code; i++) {
        const InferenceRequest *r = &m->result->requests.items[i];
        add_span(m, (SpanOf){i, REQUEST_IDLE, true, r->start_ps, r->actual_end_ps}, err);
    }
}

static uint64_t clamp_time(uint64_t ps, const InferenceRequest *r)
{
    if (ps < r->start_ps) return r->start_ps;
    return ps > r->actual_end_ps ? r->actual_end_ps : ps;
}

/* Cuts off what goes on before or after a request: devices can go on after its end. */
static void cut_spans(InferenceBuilder *m)
{
    for (size_t i = 0; i < m->spans.n; i++) {
        SpanOf *s = &m->spans.items[i];
        const InferenceRequest *r = &m->result->requests.items[s->owner];
        s->begin_ps = clamp_time(s->begin_ps, r);
        s->end_ps = clamp_time(s->end_ps, r);
    }
}

/* The actual times come last: spans are cut for them. */
static void sum_requests(InferenceBuilder *m, bool all, ProfErr *err)
{
    size_t n;
    if (all) {
        cut_spans(m);
        add_idle(m, err);
    }
    if (err->code) return;
    Edge *edges = make_edges(m->spans.items, m->spans.n, all, &n, err);
    for (size_t i = 0; edges && i < n;) {
        InferenceRequest *r = &m->result->requests.items[edges[i].owner];
        i += sweep(&edges[i], n - i, all ? r->actual : r->times);
    }
    prof_free(edges);
}

static void sum_batches(InferenceBuilder *m, bool all, ProfErr *err)
{
    size_t n;
    Edge *edges = make_edges(m->batch_spans.items, m->batch_spans.n, all, &n, err);
    for (size_t i = 0; edges && i < n;) {
        uint64_t times[N_REQUEST_TIMES] = {0};
        InferenceBatch *b = &m->result->batches.items[edges[i].owner];
        i += sweep(&edges[i], n - i, times);
        *(all ? &b->actual_device_ps : &b->device_ps) = times[REQUEST_DEVICE];
    }
    prof_free(edges);
}

void inference_sum_times(InferenceBuilder *m, ProfErr *err)
{
    for (int all = 0; all < 2 && !err->code; all++) {
        sum_requests(m, all, err);
        if (!err->code) sum_batches(m, all, err);
    }
}

/* ---- tensors ---- */

static int compare_tensors(const TensorOf *x, const TensorOf *y)
{
    int order = strcmp(x->seen->name->text, y->seen->name->text);
    if (!order) order = strcmp(x->seen->shape->text, y->seen->shape->text);
    return order ? order : strcmp(x->seen->layout->text, y->seen->layout->text);
}

/* Those without shape or layout come first. */
static int by_owner_and_text(const void *a, const void *b)
{
    const TensorOf *x = a, *y = b;
    if (x->owner != y->owner) return ORDER(x->owner, y->owner);
    bool known_x = x->seen->shape && x->seen->layout, known_y = y->seen->shape && y->seen->layout;
    if (!known_x || !known_y) return known_x - known_y;
    return compare_tensors(x, y);
}

static size_t part_bytes(const Seen *s)
{
    return (size_t)s->name->n_bytes + s->shape->n_bytes + s->layout->n_bytes + sizeof " " - 1 +
           sizeof " <br>" - 1;
}

/* Returns "name shape layout" of each tensor, separated by <br>. NULL without err set if that is
 * too long. */
static const Text *pattern_text(InferenceBuilder *m, const TensorOf *tensors, size_t n,
                                ProfErr *err)
{
    enum { MOST_BYTES = 1 << 20 };
    size_t n_bytes = 0, at = 0;
    for (size_t i = 0; i < n && n_bytes <= MOST_BYTES; i++) n_bytes += part_bytes(tensors[i].seen);
    if (n_bytes > MOST_BYTES || n_bytes > m->budget) {
        m->result->cut = true;
        return NULL;
    }
    m->budget -= n_bytes;
    char *text = prof_alloc(n_bytes + 1);
    if (!text) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const Seen *s = tensors[i].seen;
        at += (size_t)snprintf(text + at, n_bytes + 1 - at, "%s%s %s %s", i ? "<br>" : "",
                               s->name->text, s->shape->text, s->layout->text);
    }
    const Text *pattern = inference_intern(m, (Slice){text, at}, err);
    prof_free(text);
    return pattern;
}

/* Finds the pattern and the time of the tensors of the first owner. Returns how many tensors it
 * has. */
static size_t read_owner(InferenceBuilder *m, const TensorOf *tensors, size_t n,
                         const Text **pattern, uint64_t *time_ps, ProfErr *err)
{
    size_t i = 0;
    bool known = tensors->seen->shape && tensors->seen->layout;
    for (; i < n && tensors[i].owner == tensors->owner; i++)
        *time_ps += tensors[i].seen->end_ps - tensors[i].seen->start_ps;
    if (known) *pattern = pattern_text(m, tensors, i, err);
    return i;
}

void inference_find_patterns(InferenceBuilder *m, ProfErr *err)
{
    EACH_SEEN(s, KIND_TENSOR, KIND_OTHER)
    {
        const GroupSpan *group = inference_group(m, s->group);
        if (!group->request && !group->batch) continue;
        TensorOf *place = group->request ? PUSH(m->tensors) : PUSH(m->batch_tensors);
        if (place)
            *place = (TensorOf){(group->request ? group->request : group->batch) - 1, s};
        else
            prof_nomem(err);
    }
    if (err->code) return;
    sort_array(m->tensors.items, m->tensors.n, sizeof *m->tensors.items, by_owner_and_text);
    sort_array(m->batch_tensors.items, m->batch_tensors.n, sizeof *m->batch_tensors.items,
               by_owner_and_text);
    for (size_t i = 0; i < m->tensors.n && !err->code;) {
        InferenceRequest *r = &m->result->requests.items[m->tensors.items[i].owner];
        i += read_owner(m, &m->tensors.items[i], m->tensors.n - i, &r->pattern, &r->tensor_ps, err);
    }
    for (size_t i = 0; i < m->batch_tensors.n && !err->code;) {
        InferenceBatch *b = &m->result->batches.items[m->batch_tensors.items[i].owner];
        i += read_owner(m, &m->batch_tensors.items[i], m->batch_tensors.n - i, &b->pattern,
                        &b->tensor_ps, err);
    }
}
