// SPDX-License-Identifier: Apache-2.0
/* slow_calls.c: finds the calls that took longer than their median; see slow_calls.h.
 *
 * Lines are walked twice, in parallel. The first walk collects the durations of each op of a line
 * (mostly 4 bytes for each event), which are then joined by name and program for the medians. The
 * second one keeps the calls that are longer. */
#include "slow_calls.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "../../store/lines.h"

#include <inttypes.h>
#include <stdio.h>

/* What distinguishes the ops of one line. The program is the events' own stat, if they have it. */
typedef struct {
    EventMeta *meta;
    bool has_own;
    StatValue own;
} LineKey;

typedef struct LineOp LineOp;
struct LineOp {
    LineKey key;
    LIST(uint32_t) small; /* durations that fit 32 bits */
    LIST(int64_t) large;  /* the others */
    LineOp *next; /* with the same name and program, on another line or of another metadata */
    const UsualCall *usual;
    const Text *name;
};

typedef struct {
    Line *line;
    LIST(LineOp) ops;
    HashTable by_key;
    size_t last; /* index of the op of the last event */
    TextTable texts;
    Arena arena; /* for the texts */
    LIST(SlowCall) slow;
} LineCalls;

/* Calls with the same name and program on all planes of a kind. Texts belong to Build.texts. */
typedef struct {
    enum PlaneKind kind;
    const Text *name, *program; /* program: decimal, or as recorded; NULL if there is none */
    LineOp *first;
} NamedOp;

typedef struct {
    Run *run;
    Line **lines;
    LineCalls *of_line;
    size_t n_lines;
    LIST(NamedOp) ops;
    HashTable by_name;
    TextTable texts;
    Arena arena;
    SlowCalls *result;
} Build;

static bool has_calls(const Line *line)
{
    enum PlaneKind plane = line->plane->kind;
    return !line->derived && line->n_events &&
           (plane == PLANE_GPU || plane == PLANE_TENSORCORE || plane == PLANE_SPARSECORE) &&
           (line->kind == LINE_STREAM || line->kind == LINE_OPS || line->kind == LINE_ASYNC_OPS);
}

/* ---- ops of a line ---- */

static bool same_value(const StatValue *a, const StatValue *b)
{
    return a->type == b->type && a->u64 == b->u64; /* texts are interned */
}

static bool same_key(const LineKey *a, const LineKey *b)
{
    return a->meta == b->meta && a->has_own == b->has_own && same_value(&a->own, &b->own);
}

static uint64_t key_hash(const LineKey *k)
{
    return hash64(hash64((uint64_t)(uintptr_t)k->meta) ^ k->own.u64 ^ (uint64_t)k->own.type << 56);
}

/* Returns the op of an event; NULL with err set. */
static LineOp *find_op(LineCalls *l, const EventAt *e, const StatFilter *filter, ProfErr *err)
{
    LineKey key = {.meta = e->meta};
    unsigned known;
    Stat stat;
    StatIter stats = stat_iter_of_event(e);
    if (event_has_stats(e) && stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        key.has_own = true; /* the first of several counts */
        if (!stat_value_of(&key.own, l->line->plane, &stat, &l->texts, &l->arena)) {
            prof_nomem(err);
            return NULL;
        }
    }
    if (l->last < l->ops.n && same_key(&l->ops.items[l->last].key, &key))
        return &l->ops.items[l->last];
    uint64_t hash = key_hash(&key);
    HASH_EACH(i, &l->by_key, hash)
        if (same_key(&l->ops.items[i].key, &key)) return &l->ops.items[l->last = i];
    LineOp *op = PUSH_KEYED(l->ops, &l->by_key, hash);
    if (!op) {
        prof_nomem(err);
        return NULL;
    }
    *op = (LineOp){.key = key};
    l->last = l->ops.n - 1;
    return op;
}

typedef void OnCall(LineCalls *l, LineOp *op, const EventAt *e, ProfErr *err);

static void each_call(LineCalls *l, OnCall *on_call, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_PROGRAM_ID};
    StatFilter filter;
    EventReader reader;
    EventAt e;
    stat_filter_open(&filter, l->line->plane, wanted, COUNT(wanted), err);
    event_reader_open_for(&reader, l->line, &filter.wanted, err);
    while (!err->code && event_reader_next(&reader, &e)) {
        LineOp *op = e.occurrences < 0 ? find_op(l, &e, &filter, err) : NULL;
        if (op) on_call(l, op, &e, err);
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
}

static void keep_duration(LineCalls *l, LineOp *op, const EventAt *e, ProfErr *err)
{
    (void)l;
    if ((uint64_t)e->duration_ps <= UINT32_MAX) {
        uint32_t *small = PUSH(op->small);
        if (small) *small = (uint32_t)e->duration_ps;
        if (!small) prof_nomem(err);
    } else {
        int64_t *large = PUSH(op->large);
        if (large) *large = e->duration_ps;
        if (!large) prof_nomem(err);
    }
}

static void read_line(void *context, size_t i, ProfErr *err)
{
    each_call(&((Build *)context)->of_line[i], keep_duration, err);
}

/* ---- names ---- */

/* Sets the program of an op as trace_events shows it. */
static bool read_program(Build *b, const Plane *plane, const LineKey *key, const Text **program,
                         ProfErr *err)
{
    StatValue value = key->own;
    if (!key->has_own && event_meta_values(plane, key->meta, err)) return false;
    for (size_t i = 0; i < key->meta->n_facts && !key->has_own; i++)
        if (key->meta->facts[i].known == STAT_PROGRAM_ID) value = key->meta->facts[i].fact;
    char digits[24];
    int64_t id;
    Slice text = {digits, 0};
    *program = NULL;
    if (stat_value_integer(&value, &id))
        text.n = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)id);
    else if (value.type == TYPE_STR)
        text = slice_of(value.text);
    else
        return true;
    *program = text_intern(&b->texts, &b->arena, text.text, text.n);
    return *program || (prof_nomem(err), false);
}

/* Adds the ops of a line to those with the same name. */
static void join_op(Build *b, const Plane *plane, LineOp *op, ProfErr *err)
{
    const Text *program, *name = op->key.meta->name;
    if (!read_program(b, plane, &op->key, &program, err)) return;
    name = text_intern(&b->texts, &b->arena, name->text, name->n_bytes);
    if (!name) {
        prof_nomem(err);
        return;
    }
    uint64_t hash = hash64(hash64((uint64_t)(uintptr_t)name) ^ (uint64_t)(uintptr_t)program) ^
                    (uint64_t)plane->kind;
    HASH_EACH(i, &b->by_name, hash) {
        NamedOp *named = &b->ops.items[i];
        if (named->kind != plane->kind || named->name != name || named->program != program)
            continue;
        op->next = named->first, named->first = op;
        return;
    }
    NamedOp *named = PUSH_KEYED(b->ops, &b->by_name, hash);
    if (named)
        *named = (NamedOp){plane->kind, name, program, op};
    else
        prof_nomem(err);
}

/* ---- medians ---- */

/* Returns the number of the half that has the k-th smallest value, of those whose upper half is
 * `high` (-1: all, by their upper halves), and takes from *k those before it. */
static int64_t half_of(const uint32_t *values, size_t n, int64_t high, uint32_t *counts, size_t *k)
{
    memset(counts, 0, (UINT16_MAX + 1) * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        if (high < 0)
            counts[values[i] >> 16]++;
        else if (values[i] >> 16 == high)
            counts[values[i] & UINT16_MAX]++;
    int64_t half = 0;
    while (*k >= counts[half]) *k -= counts[half++];
    return half;
}

/* The durations of one op. */
typedef struct {
    uint32_t *small, *counts; /* counts: NULL if `small` is sorted */
    int64_t *large;           /* sorted */
    size_t n_small, n_large, n_negative;
} Durations;

static double kth_smallest(const Durations *d, size_t k)
{
    if (k < d->n_negative) return (double)d->large[k];
    k -= d->n_negative;
    if (k >= d->n_small) return (double)d->large[k - d->n_small + d->n_negative];
    if (!d->counts) return d->small[k];
    int64_t high = half_of(d->small, d->n_small, -1, d->counts, &k);
    return (double)(high << 16 | half_of(d->small, d->n_small, high, d->counts, &k));
}

enum { SORTED_BELOW = 1 << 14 }; /* sorting few values is faster than counting */

static bool collect(const NamedOp *op, Durations *d, ProfErr *err)
{
    for (const LineOp *of = op->first; of; of = of->next)
        d->n_small += of->small.n, d->n_large += of->large.n;
    d->small = prof_buffer(d->n_small * sizeof *d->small);
    d->large = prof_buffer(d->n_large * sizeof *d->large);
    if (d->n_small >= SORTED_BELOW) d->counts = prof_buffer((UINT16_MAX + 1) * sizeof *d->counts);
    if (!d->small || !d->large || (d->n_small >= SORTED_BELOW && !d->counts)) {
        prof_nomem(err);
        return false;
    }
    size_t n_small = 0, n_large = 0;
    for (const LineOp *of = op->first; of; of = of->next) {
        if (of->small.n)
            memcpy(&d->small[n_small], of->small.items, of->small.n * sizeof *d->small);
        if (of->large.n)
            memcpy(&d->large[n_large], of->large.items, of->large.n * sizeof *d->large);
        n_small += of->small.n, n_large += of->large.n;
    }
    if (!d->counts) sort_array(d->small, d->n_small, sizeof *d->small, by_uint32);
    sort_int64(d->large, d->n_large);
    while (d->n_negative < d->n_large && d->large[d->n_negative] < 0) d->n_negative++;
    return true;
}

/* Finds the median of an op, the same as the SQL function median(). */
static void find_median(void *context, size_t i, ProfErr *err)
{
    Build *b = context;
    const NamedOp *op = &b->ops.items[i];
    UsualCall *usual = &b->result->usual[i];
    Durations d = {0};
    if (collect(op, &d, err) && !interrupt_poll(d.n_small + d.n_large, err)) {
        size_t n = usual->n = d.n_small + d.n_large, middle = (n - 1) / 2;
        double low = kth_smallest(&d, middle);
        usual->median_ps = n % 2 ? low : low + (kth_smallest(&d, middle + 1) - low) * 0.5;
    }
    for (LineOp *of = op->first; of; of = of->next) {
        of->usual = usual, of->name = of->key.meta->name;
        prof_free(of->small.items), prof_free(of->large.items);
        of->small.items = NULL, of->large.items = NULL;
    }
    prof_free(d.small);
    prof_free(d.large);
    prof_free(d.counts);
}

/* ---- slow calls ---- */

enum { FEWEST_CALLS = 3 };

static void keep_slow(LineCalls *l, LineOp *op, const EventAt *e, ProfErr *err)
{
    if (op->usual->n < FEWEST_CALLS || (long double)e->duration_ps <= op->usual->median_ps) return;
    SlowCall *slow = PUSH(l->slow);
    if (slow)
        *slow = (SlowCall){op->usual, op->name,    l->line,
                           e->event,  e->start_ps, (double)e->duration_ps - op->usual->median_ps};
    else
        prof_nomem(err);
}

static int slowest_first(const void *a, const void *b)
{
    const SlowCall *x = a, *y = b;
    if (x->over_ps != y->over_ps) return ORDER(y->over_ps, x->over_ps);
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    const Plane *p = x->line->plane, *q = y->line->plane;
    int order = strcmp(p->host->name, q->host->name);
    if (!order) order = strcmp(p->name->text, q->name->text);
    if (!order) order = strcmp(line_label(x->line)->text, line_label(y->line)->text);
    if (!order) order = strcmp(x->name->text, y->name->text);
    return order ? order : ORDER(x->event, y->event);
}

static void find_slow(void *context, size_t i, ProfErr *err)
{
    LineCalls *l = &((Build *)context)->of_line[i];
    each_call(l, keep_slow, err);
    sort_array(l->slow.items, l->slow.n, sizeof *l->slow.items, slowest_first);
}

static void join_slow(Build *b, ProfErr *err)
{
    SlowCalls *out = b->result;
    size_t n = 0;
    for (size_t i = 0; i < b->n_lines; i++) n += b->of_line[i].slow.n;
    if (!(out->calls = prof_buffer(n * sizeof *out->calls))) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < b->n_lines; i++) {
        LineCalls *l = &b->of_line[i];
        if (l->slow.n) memcpy(&out->calls[out->n], l->slow.items, l->slow.n * sizeof *out->calls);
        out->n += l->slow.n;
        prof_free(l->slow.items), l->slow.items = NULL;
    }
    sort_array(out->calls, out->n, sizeof *out->calls, slowest_first);
}

/* ---- the analysis ---- */

static void find_lines(Build *b, Host *only, ProfErr *err)
{
    b->lines = prof_buffer(b->run->n_lines * sizeof(Line *));
    b->of_line = prof_alloc(b->run->n_lines * sizeof *b->of_line);
    if (!b->lines || !b->of_line) {
        prof_nomem(err);
        return;
    }
    EACH_HOST(host, b->run, only)
        for (size_t i = 0; i < host->n_lines; i++)
            if (has_calls(&host->lines[i])) {
                b->of_line[b->n_lines].line = &host->lines[i];
                b->lines[b->n_lines++] = &host->lines[i];
            }
}

static void find_all(Build *b, ProfErr *err)
{
    if (err->code || parallel_lines_at(b->lines, b->n_lines, read_line, b, err)) return;
    for (size_t i = 0; i < b->n_lines; i++)
        for (size_t k = 0; k < b->of_line[i].ops.n && !interrupt_poll(1, err); k++)
            join_op(b, b->lines[i]->plane, &b->of_line[i].ops.items[k], err);
    if (!err->code && !(b->result->usual = prof_alloc(b->ops.n * sizeof *b->result->usual)))
        prof_nomem(err);
    if (!err->code && !parallel_for(b->run->n_workers, b->ops.n, find_median, b, err) &&
        !parallel_lines_at(b->lines, b->n_lines, find_slow, b, err))
        join_slow(b, err);
}

static void line_calls_free(LineCalls *l)
{
    for (size_t i = 0; i < l->ops.n; i++) {
        prof_free(l->ops.items[i].small.items);
        prof_free(l->ops.items[i].large.items);
    }
    prof_free(l->ops.items);
    prof_free(l->slow.items);
    hash_free(&l->by_key);
    text_table_free(&l->texts);
    arena_free(&l->arena);
}

static void slow_calls_release(void *result)
{
    SlowCalls *all = result;
    prof_free(all->calls);
    prof_free(all->usual);
    prof_free(all);
}

static void *slow_calls_make(Run *run, Host *only, ProfErr *err)
{
    Build b = {.run = run, .result = prof_alloc(sizeof(SlowCalls))};
    if (!b.result)
        prof_nomem(err);
    else
        find_lines(&b, only, err);
    find_all(&b, err);
    for (size_t i = 0; i < b.n_lines; i++) line_calls_free(&b.of_line[i]);
    prof_free(b.of_line);
    prof_free(b.lines);
    prof_free(b.ops.items);
    hash_free(&b.by_name);
    text_table_free(&b.texts);
    arena_free(&b.arena);
    if (err->code && b.result) slow_calls_release(b.result), b.result = NULL;
    return b.result;
}

const SlowCalls *run_slow_calls(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {slow_calls_make, slow_calls_release, NEEDS_ALL_HOSTS};
    return run_analysis(run, only, &analysis, err);
}
