// SPDX-License-Identifier: Apache-2.0
/* step_sweep.c: finds the most important of overlapping spans at each moment; see step_parts.h.
 *
 * Starts and ends are sorted by time, ends before starts, and the more important types first.
 * Between two of them the most important open type counts. An event without duration ends before it
 * starts, so its type stays on top until another event of the type ends. XProf's numbers include
 * that; in the actual numbers such events do not count. */
#include "step_parts.h"

#include "../../base/interrupt.h"
#include "../../base/sort.h"

/* ---- priorities ---- */

static const uint8_t xprof_types[N_STEP_TYPES] = {0, 1, 2, 3,  4,  5,  6,
                                                  7, 8, 9, 10, 11, 12, 13}; /* by rank */
static const uint8_t actual_types[N_STEP_TYPES] = {
    TIME_UNKNOWN,          TIME_HOST_COMPUTE,   TIME_HOST_PREPARE, TIME_HOST_COMPILE,
    TIME_HOST_TO_HOST,     TIME_HOST_TO_DEVICE, TIME_COLLECTIVES,  TIME_WAIT_INPUT,
    TIME_DEVICE_TO_DEVICE, TIME_DEVICE_TO_HOST, TIME_COMPUTE_32,   TIME_COMPUTE_16,
    TIME_WAIT_DEVICE,      TIME_WAIT_HOST};

unsigned actual_rank(enum StepType type)
{
    unsigned rank = 0;
    while (actual_types[rank] != type) rank++;
    return rank;
}

/* ---- edges ---- */

typedef struct {
    int64_t ps;
    uint32_t order; /* sorts ends before starts, higher ranks first */
} Edge;

static bool is_before(const Edge *x, const Edge *y)
{
    return x->ps != y->ps ? x->ps < y->ps : x->order < y->order;
}

static size_t end_of_run(const Edge *edges, size_t n, size_t at)
{
    for (at++; at < n && !is_before(&edges[at], &edges[at - 1]);) at++;
    return at;
}

/* Merges the run that starts at `at` with the next one. Returns where that ends. */
static size_t merge_runs(const Edge *from, Edge *to, size_t n, size_t at)
{
    size_t i = at, middle = end_of_run(from, n, at), j = middle,
           end = middle < n ? end_of_run(from, n, middle) : n;
    while (i < middle && j < end) to[at++] = is_before(&from[j], &from[i]) ? from[j++] : from[i++];
    if (i < middle) memcpy(to + at, from + i, (middle - i) * sizeof *to);
    if (j < end) memcpy(to + at, from + j, (end - j) * sizeof *to);
    return end;
}

/* Sorts the edges. Spans of a line usually follow each other, so their edges form sorted runs:
 * these are merged in pairs until one is left. */
static int sort_edges(Edge *edges, size_t n, ProfErr *err)
{
    if (end_of_run(edges, n, 0) >= n) return PROF_OK;
    Edge *scratch = prof_buffer(n * sizeof *scratch), *from = edges, *to = scratch;
    if (!scratch) return prof_nomem(err);
    for (size_t n_merged = 2; n_merged > 1;) {
        n_merged = 0;
        for (size_t at = 0, next; at < n && !interrupt_poll(16, err); n_merged++, at = next) {
            next = merge_runs(from, to, n, at);
            interrupt_poll((next - at) / 4, err);
        }
        if (err->code) break;
        Edge *other = from;
        from = to, to = other;
    }
    if (from != edges) memcpy(edges, from, n * sizeof *edges);
    prof_free(scratch);
    return err->code;
}

enum { BEGINS = 0x100 };

static uint64_t overlap_ps(uint64_t begin, uint64_t end, uint64_t step_begin, uint64_t step_end)
{
    if (step_begin > end || begin > step_end) return 0;
    return (end < step_end ? end : step_end) - (begin > step_begin ? begin : step_begin);
}

/* Returns the highest rank below `rank` that is open; 0 if none is. */
static int highest_below(const int64_t *open, int rank)
{
    while (--rank > 0)
        if (open[rank] > 0) return rank;
    return 0;
}

/* XProf's times are unsigned: spans before time 0 come after all others, and one that includes time
 * 0 ends before it starts. This converts between that order and the order of signed numbers;
 * differences stay the same. */
static uint64_t turned(uint64_t ps) { return ps ^ (uint64_t)1 << 63; }

/* What the sweep of a step finds. */
typedef struct {
    uint64_t begin, end; /* of the step */
    SweepResult *result;
    Cover *unknown; /* NULL: not wanted */
} Found;

/* Adds the part of the step from one time to another, in which no type counts. */
static bool add_unknown(const Found *f, uint64_t from, uint64_t to)
{
    if (from < f->begin) from = f->begin;
    if (to > f->end) to = f->end;
    return !f->unknown || from >= to || cover_add(f->unknown, (int64_t)from, (int64_t)to);
}

static bool walk(const Edge *edges, size_t n, const uint8_t *types, const Found *found)
{
    SweepResult *result = found->result;
    int64_t open[N_STEP_TYPES] = {0};
    int now = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        int rank = N_STEP_TYPES - (int)(edges[i].order & 0xff);
        if (edges[i].order & BEGINS) {
            open[rank]++;
            if (rank > now) now = rank;
        } else if (--open[rank] == 0 && rank == now) {
            now = highest_below(open, now);
        }
        uint64_t from = turned((uint64_t)edges[i].ps), to = turned((uint64_t)edges[i + 1].ps);
        result->types |= 1u << types[now];
        result->all_ps[types[now]] += to - from;
        result->type_ps[types[now]] += overlap_ps(from, to, found->begin, found->end);
        if (!now && !add_unknown(found, from, to)) return false;
    }
    if (!n) return add_unknown(found, found->begin, found->end);
    return add_unknown(found, found->begin, turned((uint64_t)edges[0].ps)) &&
           add_unknown(found, turned((uint64_t)edges[n - 1].ps), found->end);
}

int step_sweep(const SpanRef *spans, size_t n, bool actual, uint64_t begin_ps, uint64_t duration_ps,
               SweepResult *result, Cover *unknown, ProfErr *err)
{
    *result = (SweepResult){0};
    Edge *edges = interrupt_poll(n, err) ? NULL : prof_buffer(2 * n * sizeof *edges);
    size_t k = 0;
    if (!edges) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const SpanRef *s = &spans[i];
        if (actual ? s->duration_ps <= 0 : !(s->at & SPAN_COUNTS)) continue;
        uint32_t order =
            N_STEP_TYPES - (actual ? actual_rank(span_actual_type(s)) : (uint32_t)span_type(s));
        uint64_t begin = (uint64_t)s->start_ps, end = begin + (uint64_t)s->duration_ps;
        edges[k++] = (Edge){(int64_t)(actual ? begin : turned(begin)), order | BEGINS};
        edges[k++] = (Edge){(int64_t)(actual ? end : turned(end)), order};
    }
    uint64_t end_ps = begin_ps + duration_ps;
    Found found = {.begin = actual ? turned(begin_ps) : begin_ps,
                   .end = actual ? turned(end_ps) : end_ps,
                   .result = result,
                   .unknown = unknown};
    if (!sort_edges(edges, k, err) && !walk(edges, k, actual ? actual_types : xprof_types, &found))
        prof_nomem(err);
    if (unknown) cover_finish(unknown);
    prof_free(edges);
    if (err->code) return err->code;
    uint64_t told = 0;
    for (int t = 0; t < N_STEP_TYPES; t++) told += result->type_ps[t];
    if (told < duration_ps)
        result->types |= 1u << TIME_UNKNOWN, result->type_ps[TIME_UNKNOWN] += duration_ps - told;
    return PROF_OK;
}

/* ---- many steps at once ---- */

typedef struct {
    int64_t ps;
    size_t step;
    bool ends;
} Cut;

ORDER_BY(by_cut, Cut, ps)

/* Time of each type until now, as uint64_t, in which differences are right even between the ends of
 * int64_t. */
typedef struct {
    uint64_t type_ps[N_STEP_TYPES];
    int64_t at_ps;
    Cut *next, *end; /* starts and ends of steps */
    uint64_t *out;
} Clock;

static void advance(Clock *c, int now, int64_t to_ps)
{
    while (c->next < c->end && c->next->ps <= to_ps) {
        uint64_t *step = c->out + c->next->step * N_STEP_TYPES;
        c->type_ps[now] += (uint64_t)c->next->ps - (uint64_t)c->at_ps;
        c->at_ps = c->next->ps;
        for (int t = 0; t < N_STEP_TYPES; t++)
            step[t] += c->next->ends ? c->type_ps[t] : -c->type_ps[t];
        c->next++;
    }
    c->type_ps[now] += (uint64_t)to_ps - (uint64_t)c->at_ps;
    c->at_ps = to_ps;
}

static size_t make_cuts(const Marker *steps, size_t n, Cut *cuts)
{
    for (size_t i = 0; i < n; i++) {
        cuts[2 * i] = (Cut){(int64_t)steps[i].begin_ps, i, false};
        cuts[2 * i + 1] = (Cut){(int64_t)(steps[i].begin_ps + steps[i].duration_ps), i, true};
    }
    if (n) sort_array(cuts, 2 * n, sizeof *cuts, by_cut);
    return 2 * n;
}

/* The times of a type that are still ahead. */
typedef struct {
    enum StepType type;
    const Stretch *next, *end;
} Turn;

/* Lists the types that occur, the most important first. */
static size_t make_turns(Cover *covers, Turn *turns)
{
    size_t n = 0;
    for (unsigned rank = N_STEP_TYPES; rank-- > 0;) {
        enum StepType type = (enum StepType)actual_types[rank];
        cover_finish(&covers[type]);
        if (covers[type].n)
            turns[n++] = (Turn){type, covers[type].items, covers[type].items + covers[type].n};
    }
    return n;
}

/* Returns the type that counts at a time, and in *until how long it does. */
static enum StepType type_at(Turn *turns, size_t n, int64_t ps, int64_t *until)
{
    *until = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        Turn *t = &turns[i];
        while (t->next < t->end && t->next->end <= ps) t->next++;
        if (t->next == t->end) continue;
        bool runs = t->next->start <= ps;
        int64_t changes = runs ? t->next->end : t->next->start;
        if (changes < *until) *until = changes;
        if (runs) return t->type;
    }
    return TIME_UNKNOWN;
}

int step_sweep_by_time(Cover *covers, const Marker *steps, size_t n_steps, uint64_t *type_ps,
                       ProfErr *err)
{
    Turn turns[N_STEP_TYPES];
    Cut *cuts = prof_alloc(2 * n_steps * sizeof *cuts);
    if (!cuts) return prof_nomem(err);
    size_t n_turns = make_turns(covers, turns);
    Clock clock = {.at_ps = INT64_MIN,
                   .next = cuts,
                   .end = cuts + make_cuts(steps, n_steps, cuts),
                   .out = type_ps};
    memset(type_ps, 0, n_steps * N_STEP_TYPES * sizeof *type_ps);
    while (clock.at_ps < INT64_MAX && !interrupt_poll(1, err)) {
        int64_t until;
        enum StepType now = type_at(turns, n_turns, clock.at_ps, &until);
        advance(&clock, now, until);
    }
    prof_free(cuts);
    return err->code;
}
