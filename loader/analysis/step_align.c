/* step_align.c: aligning the steps of hosts; see step_align.h. */
#include "step_align.h"

enum { MOST_COMPARED = 1 << 28 }; /* pairs of steps looked at for one host: beyond, larger shifts are not tried */

typedef struct {
    size_t chief, other, n; /* the first step of each that go together, and how many do */
} Alignment;

static uint64_t overlap(const StepSpan *a, const StepSpan *b)
{
    uint64_t begin = a->begin_ps > b->begin_ps ? a->begin_ps : b->begin_ps, end = a->end_ps < b->end_ps ? a->end_ps : b->end_ps;
    return end > begin ? end - begin : 0;
}

/* Tries one shift; true when more time overlaps than at the best so far. */
static bool try(const HostSpans *chief, const HostSpans *other, size_t c, size_t o, double *most, Alignment *best)
{
    size_t n = chief->n - c < other->n - o ? chief->n - c : other->n - o;
    double total = 0;
    for (size_t i = 0; i < n; i++) total += (double)overlap(&chief->spans[c + i], &other->spans[o + i]);
    if (total <= *most) return false;
    *most = total, *best = (Alignment){c, o, n};
    return true;
}

static Alignment align(const HostSpans *chief, const HostSpans *other)
{
    Alignment best = {0};
    double most = -1;
    if (!chief->n || !other->n) return best;
    size_t shorter = chief->n < other->n ? chief->n : other->n, tries = MOST_COMPARED / shorter + 1;
    for (size_t c = 0; c < chief->n && c < tries; c++) try(chief, other, c, 0, &most, &best);
    for (size_t o = 1; o < other->n && o < tries; o++) try(chief, other, 0, o, &most, &best);
    return best;
}

static uint64_t whole_span(const HostSpans *host)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < host->n; i++) {
        if (host->spans[i].begin_ps < begin) begin = host->spans[i].begin_ps;
        if (host->spans[i].end_ps > end) end = host->spans[i].end_ps;
    }
    return end > begin ? end - begin : 0;
}

size_t steps_align(HostSpans *hosts, size_t n_hosts, bool *is_empty)
{
    size_t chief = 0, begin = 0, end = SIZE_MAX;
    *is_empty = false;
    for (size_t h = 1; h < n_hosts; h++)
        if (whole_span(&hosts[h]) < whole_span(&hosts[chief])) chief = h;
    for (size_t h = 0; h < n_hosts; h++) {
        Alignment a = h == chief ? (Alignment){0, 0, hosts[h].n} : align(&hosts[chief], &hosts[h]);
        hosts[h].first = a.other - a.chief; /* wraps; right again when the first common step is added */
        if (a.chief > begin) begin = a.chief;
        if (a.chief + a.n < end) end = a.chief + a.n;
    }
    for (size_t h = 0; h < n_hosts; h++) hosts[h].first += begin;
    *is_empty = n_hosts && begin > end;
    return n_hosts && begin < end ? end - begin : 0;
}
