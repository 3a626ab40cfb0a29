/* step_align.c: aligning the steps of hosts; see step_align.h.
 *
 * Which shift is best is a sum over pairs of steps that overlap, one sum a shift. Steps of a host follow each other, so that
 * few pairs do: they are found by time. */
#define _GNU_SOURCE
#include "step_align.h"

typedef struct {
    const StepSpan *spans;
    size_t n;
    uint32_t *order; /* by begin */
    uint64_t *reach; /* the latest end up to each place of the order */
} ByBegin;

static int compare_begin(const void *a, const void *b, void *spans)
{
    const StepSpan *s = spans;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (s[i].begin_ps != s[k].begin_ps) return s[i].begin_ps < s[k].begin_ps ? -1 : 1;
    return i < k ? -1 : i > k;
}

static bool order_spans(ByBegin *o, const HostSpans *host)
{
    *o = (ByBegin){host->spans, host->n, prof_alloc(host->n * sizeof *o->order), prof_alloc(host->n * sizeof *o->reach)};
    if (!o->order || !o->reach) return false;
    for (size_t i = 0; i < o->n; i++) o->order[i] = (uint32_t)i;
    qsort_r(o->order, o->n, sizeof *o->order, compare_begin, (void *)o->spans);
    for (size_t i = 0; i < o->n; i++) {
        uint64_t end = o->spans[o->order[i]].end_ps;
        o->reach[i] = i && o->reach[i - 1] > end ? o->reach[i - 1] : end;
    }
    return true;
}

/* Where the steps begin that may end after a moment. */
static size_t first_reaching(const ByBegin *o, uint64_t ps)
{
    size_t low = 0, high = o->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->reach[middle] <= ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds what pairs of steps overlap to scores[the leader's step - the other's + other->n - 1]. False: too many pairs do. */
static bool score_shifts(const ByBegin *leader, const HostSpans *other, uint64_t *scores)
{
    uint64_t n_pairs = 0, most_pairs = ((uint64_t)1 << 24) + 64 * (uint64_t)(leader->n + other->n);
    for (size_t k = 0; k < other->n; k++) {
        StepSpan s = other->spans[k];
        for (size_t i = first_reaching(leader, s.begin_ps); i < leader->n; i++) {
            StepSpan t = leader->spans[leader->order[i]];
            if (t.begin_ps >= s.end_ps) break;
            if (++n_pairs > most_pairs) return false;
            uint64_t from = s.begin_ps > t.begin_ps ? s.begin_ps : t.begin_ps, to = s.end_ps < t.end_ps ? s.end_ps : t.end_ps;
            if (from < to) scores[leader->order[i] + other->n - 1 - k] += to - from;
        }
    }
    return true;
}

/* From which step of the leader, or else of the other, they go together. Shifts of the leader are tried first; the first of
 * the best stays. False: at no shift do any overlap. */
static bool best_shift(const uint64_t *scores, size_t n_leader, size_t n_other, size_t *leader, size_t *other)
{
    size_t zero = n_other - 1, best = zero;
    for (size_t i = zero; i < zero + n_leader; i++)
        if (scores[i] > scores[best]) best = i;
    for (size_t i = zero; i-- > 0;)
        if (scores[i] > scores[best]) best = i;
    *leader = best > zero ? best - zero : 0, *other = best < zero ? zero - best : 0;
    return scores[best] > 0;
}

static int align(const ByBegin *leader, HostSpans *host, size_t *from_leader, size_t *from_host, ProfErr *err)
{
    uint64_t *scores = prof_alloc((leader->n + host->n) * sizeof *scores);
    if (!scores) return prof_nomem(err);
    *from_leader = *from_host = 0;
    host->unaligned = !score_shifts(leader, host, scores);
    host->apart = !host->unaligned && !best_shift(scores, leader->n, host->n, from_leader, from_host);
    prof_free(scores);
    return PROF_OK;
}

static uint64_t whole_span(const HostSpans *host) { return host->spans[host->n - 1].end_ps - host->spans[0].begin_ps; }

size_t steps_align(HostSpans *hosts, size_t n_hosts, bool *is_empty, ProfErr *err)
{
    ByBegin order = {0};
    size_t leader = 0, begin = 0, end, from_leader = 0, from_host = 0;
    *is_empty = false;
    for (size_t h = 0; h < n_hosts; h++) hosts[h].first = 0, hosts[h].unaligned = hosts[h].apart = false;
    for (size_t h = 0; h < n_hosts; h++)
        if (!hosts[h].n || hosts[h].n >= UINT32_MAX) return 0;
    if (n_hosts < 2) return n_hosts ? hosts[0].n : 0;
    for (size_t h = 1; h < n_hosts; h++)
        if (whole_span(&hosts[h]) < whole_span(&hosts[leader])) leader = h;
    end = hosts[leader].n;
    if (!order_spans(&order, &hosts[leader])) prof_nomem(err);
    for (size_t h = 0; h < n_hosts && !err->code; h++) {
        if (h == leader || align(&order, &hosts[h], &from_leader, &from_host, err)) continue;
        size_t left = hosts[h].n - from_host;
        hosts[h].first = from_host - from_leader; /* wraps; right again when the first common step is added */
        if (from_leader > begin) begin = from_leader;
        if (from_leader + left < end) end = from_leader + left;
    }
    for (size_t h = 0; h < n_hosts; h++) hosts[h].first += begin;
    prof_free(order.order);
    prof_free(order.reach);
    *is_empty = !err->code && begin >= end;
    return err->code || begin >= end ? 0 : end - begin;
}
