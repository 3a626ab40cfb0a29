/* step_sweep.c: overlapping spans of a group into what counts at each moment; see step_parts.h.
 *
 * Begins and ends are walked in order of time, ends before begins, of those of one kind the more important first. From each
 * to the next the most important open type counts. An event without duration ends before it begins, which leaves its type on
 * top until another event of the type ends: XProf's numbers have that, and so do these. */
#include "step_parts.h"

typedef struct {
    int64_t ps;
    uint32_t order; /* ends before begins, the higher type first */
} Edge;

static int by_time(const void *a, const void *b)
{
    const Edge *x = a, *y = b;
    if (x->ps != y->ps) return x->ps < y->ps ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

enum { BEGINS = 0x100 };

static uint64_t overlap_ps(uint64_t begin, uint64_t end, uint64_t step_begin, uint64_t step_end)
{
    /* unsigned as XProf's: spans of negative times lie behind all others */
    uint64_t from = begin > step_begin ? begin : step_begin, to = end < step_end ? end : step_end;
    return from < to ? to - from : 0;
}

static int highest_below(const int64_t *open, int type)
{
    while (--type > TIME_UNKNOWN)
        if (open[type] > 0) return type;
    return TIME_UNKNOWN;
}

static void walk(const Edge *edges, size_t n, uint64_t begin_ps, uint64_t duration_ps, SweepResult *result)
{
    int64_t open[N_STEP_TYPES] = {0};
    int now = TIME_UNKNOWN;
    for (size_t i = 0; i + 1 < n; i++) {
        int type = N_STEP_TYPES - (int)(edges[i].order & 0xff);
        if (edges[i].order & BEGINS) {
            open[type]++;
            if (type > now) now = type;
        } else if (--open[type] == 0 && type == now) {
            now = highest_below(open, now);
        }
        uint64_t from = (uint64_t)edges[i].ps, to = (uint64_t)edges[i + 1].ps;
        result->types |= 1u << now;
        result->all_ps[now] += to - from;
        result->type_ps[now] += overlap_ps(from, to, begin_ps, begin_ps + duration_ps);
    }
}

int step_sweep(const SpanRef *spans, size_t n, bool actual, uint64_t begin_ps, uint64_t duration_ps, SweepResult *result, ProfErr *err)
{
    *result = (SweepResult){0};
    Edge *edges = prof_alloc(2 * n * sizeof *edges);
    size_t k = 0;
    if (!edges) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const SpanRef *s = &spans[i];
        if (!actual && !(s->at & SPAN_COUNTS)) continue;
        uint32_t rank = N_STEP_TYPES - (uint32_t)(actual ? span_actual_type(s) : span_type(s));
        edges[k++] = (Edge){s->start_ps, rank | BEGINS};
        edges[k++] = (Edge){(int64_t)((uint64_t)s->start_ps + (uint64_t)s->duration_ps), rank};
    }
    if (k) qsort(edges, k, sizeof *edges, by_time);
    walk(edges, k, begin_ps, duration_ps, result);
    prof_free(edges);
    uint64_t told = 0;
    for (int t = 0; t < N_STEP_TYPES; t++) told += result->type_ps[t];
    if (told < duration_ps) result->types |= 1u << TIME_UNKNOWN, result->type_ps[TIME_UNKNOWN] += duration_ps - told;
    return PROF_OK;
}
