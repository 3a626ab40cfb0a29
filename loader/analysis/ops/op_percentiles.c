// SPDX-License-Identifier: Apache-2.0
/* op_percentiles.c: computes percentiles of the durations of ops; see op_percentiles.h.
 *
 * The durations are collected in one walk over the events of a host (8 bytes for each event) and
 * sorted op by op. */
#include "op_percentiles.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../format/hlo.h"
#include "../../store/event_values.h"
#include "../../store/events.h"

#include <math.h>

/* What distinguishes ops. Texts belong to Build.texts. */
typedef struct {
    enum PlaneKind plane_kind;
    enum LineKind line_kind;
    const Text *name, *hlo_op;
    bool has_program;
    uint64_t program_id;
} Key;

typedef struct {
    Key key;
    const EventMeta *meta;
    LIST(int64_t) durations;
} Op;

/* The values that an event metadata entry gives to its events, and the op of the last event. */
typedef struct {
    bool read;
    Key key;
    uint32_t last; /* index in Build.ops + 1; 0 if none */
} MetaOp;

typedef struct {
    LIST(Op) ops;
    HashTable by_key;
    TextTable texts;
    Arena *arena; /* for the texts */
    MetaOp *metas;
} Build;

static uint64_t key_hash(const Key *k)
{
    uint64_t hash = hash64((uint64_t)k->plane_kind << 8 | (uint64_t)k->line_kind);
    hash = hash64(hash ^ (uint64_t)(uintptr_t)k->name);
    hash = hash64(hash ^ (uint64_t)(uintptr_t)k->hlo_op);
    return hash64(hash ^ k->program_id ^ (uint64_t)k->has_program << 63);
}

static bool same_key(const Key *a, const Key *b)
{
    return a->plane_kind == b->plane_kind && a->line_kind == b->line_kind && a->name == b->name &&
           a->hlo_op == b->hlo_op && a->has_program == b->has_program &&
           a->program_id == b->program_id;
}

/* Returns the index of the op; SIZE_MAX if memory runs out. */
static size_t find_op(Build *b, const Key *key, const EventMeta *meta)
{
    uint64_t hash = key_hash(key);
    HASH_EACH(i, &b->by_key, hash) {
        if (same_key(&b->ops.items[i].key, key)) return i;
    }
    Op *op = PUSH_KEYED(b->ops, &b->by_key, hash);
    if (!op) return SIZE_MAX;
    *op = (Op){.key = *key, .meta = meta};
    return b->ops.n - 1;
}

static void set_program(Key *key, int64_t id)
{
    key->has_program = true, key->program_id = (uint64_t)id;
}

static bool read_meta(Build *b, const Line *line, EventMeta *meta, MetaOp *out, ProfErr *err)
{
    *out = (MetaOp){.read = true, .key = {.plane_kind = line->plane->kind, .hlo_op = empty_text}};
    if (!(out->key.name = slice_intern(&b->texts, b->arena, slice_of(meta->name), err)) ||
        event_meta_values(line->plane, meta, err))
        return false;
    for (size_t i = 0; i < meta->n_facts; i++) {
        const StatValue *fact = &meta->facts[i].fact;
        int64_t id;
        if (meta->facts[i].known == STAT_PROGRAM_ID && stat_value_integer(fact, &id))
            set_program(&out->key, id);
        if (meta->facts[i].known == STAT_HLO_OP && fact->type == TYPE_STR &&
            !(out->key.hlo_op = slice_intern(&b->texts, b->arena, slice_of(fact->text), err)))
            return false;
    }
    uint64_t id;
    if (line->kind == LINE_MODULES && hlo_program_id(meta->name, &id))
        set_program(&out->key, (int64_t)id);
    return true;
}

/* Reads an event's own stats. The first of a name counts, as in trace_events. */
static bool read_own(Build *b, const Plane *plane, const EventAt *e, const StatFilter *filter,
                     Key *key, ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    bool has_op = false, has_program = false;
    unsigned known;
    Stat stat;
    while (stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        if (known == STAT_PROGRAM_ID && !has_program) {
            has_program = true, key->has_program = stat_is_integer(&stat);
            key->program_id = stat_int_or_uint(&stat);
        } else if (known == STAT_HLO_OP && !has_op) {
            has_op = true;
            if (!(key->hlo_op = slice_intern(&b->texts, b->arena, stat_text(plane, &stat), err)))
                return false;
        }
    }
    return true;
}

static void add_event(Build *b, Line *line, const EventAt *e, const StatFilter *filter,
                      ProfErr *err)
{
    MetaOp *of_meta = &b->metas[e->meta - line->plane->event_metas];
    if (!of_meta->read && !read_meta(b, line, e->meta, of_meta, err)) return;
    Key key = of_meta->key;
    key.line_kind = line->kind;
    if (event_has_stats(e) && !read_own(b, line->plane, e, filter, &key, err)) return;
    size_t at = (size_t)of_meta->last - 1;
    if (!of_meta->last || !same_key(&b->ops.items[at].key, &key)) at = find_op(b, &key, e->meta);
    int64_t *duration = at != SIZE_MAX ? PUSH(b->ops.items[at].durations) : NULL;
    if (!duration) {
        prof_nomem(err);
        return;
    }
    of_meta->last = (uint32_t)at + 1;
    *duration = e->duration_ps;
}

static void read_line(Build *b, Line *line, const StatFilter *filter, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    while (event_reader_next(&reader, &e) && !err->code)
        if (e.occurrences < 0) add_event(b, line, &e, filter, err);
    event_reader_close(&reader);
}

static int read_plane(Build *b, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_HLO_OP, STAT_PROGRAM_ID};
    StatFilter filter;
    stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
    if (!(b->metas = prof_alloc(plane->n_event_metas * sizeof *b->metas))) prof_nomem(err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        if (!line->derived) read_line(b, line, &filter, err);
    }
    prof_free(b->metas);
    stat_filter_close(&filter);
    return err->code;
}

/* ---- summing up ---- */

/* The same as the SQL function percentile(). */
static double percentile_of(const int64_t *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1) / 100;
    size_t i = (size_t)at;
    double low = (double)sorted[i], part = at - (double)i;
    return part <= 0 || i == n - 1 ? low : low + ((double)sorted[i + 1] - low) * part;
}

static double deviation_of(const int64_t *values, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)values[i] - (double)values[0], delta = x - mean;
        mean += delta / (double)(i + 1);
        squares += delta * (x - mean);
    }
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static OpPercentiles op_percentiles(Op *op)
{
    const Key *key = &op->key;
    int64_t *values = op->durations.items;
    size_t n = op->durations.n;
    OpPercentiles out = {.plane_kind = key->plane_kind,
                         .line_kind = key->line_kind,
                         .name = op->meta->name,
                         .display_name = op->meta->display_name,
                         .hlo_op = key->hlo_op,
                         .has_program = key->has_program,
                         .program_id = key->program_id,
                         .n = n};
    sort_int64(values, n);
    for (size_t i = 0; i < n; i++) out.total += (double)values[i];
    out.stddev = deviation_of(values, n);
    out.min = (double)values[0], out.max = (double)values[n - 1];
    out.p50 = percentile_of(values, n, 50);
    out.p90 = percentile_of(values, n, 90);
    out.p99 = percentile_of(values, n, 99);
    return out;
}

static int longest_first(const void *a, const void *b)
{
    const OpPercentiles *x = a, *y = b;
    if (x->total != y->total) return ORDER(y->total, x->total);
    if (x->plane_kind != y->plane_kind) return (int)x->plane_kind - (int)y->plane_kind;
    if (x->line_kind != y->line_kind) return (int)x->line_kind - (int)y->line_kind;
    int order = strcmp(x->name->text, y->name->text);
    if (!order) order = strcmp(x->hlo_op->text, y->hlo_op->text);
    if (!order) order = x->has_program - y->has_program;
    return order ? order : ORDER(x->program_id, y->program_id);
}

typedef struct {
    Op *ops;
    OpPercentiles *out;
} Sums;

static void sum_op(void *context, size_t i, ProfErr *err)
{
    Sums *sums = context;
    Op *op = &sums->ops[i];
    if (interrupt_poll(op->durations.n, err)) return;
    sums->out[i] = op_percentiles(op);
    prof_free(op->durations.items), op->durations.items = NULL;
}

static int sum_up(Build *b, const Run *run, OpPercentilesList *out, ProfErr *err)
{
    if (!(out->ops = arena_alloc(&out->arena, (b->ops.n + 1) * sizeof *out->ops)))
        return prof_nomem(err);
    Sums sums = {b->ops.items, out->ops};
    if (parallel_for(run->n_workers, b->ops.n, sum_op, &sums, err)) return err->code;
    out->n = b->ops.n;
    sort_array(out->ops, out->n, sizeof *out->ops, longest_first);
    return err->code;
}

static void percentiles_release(void *result)
{
    OpPercentilesList *out = result;
    arena_free(&out->arena);
    prof_free(out);
}

static void *percentiles_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    OpPercentilesList *out = prof_alloc(sizeof *out);
    if (!out) {
        prof_nomem(err);
        return NULL;
    }
    Build b = {.arena = &out->arena};
    for (size_t i = 0; i < host->n_planes && !read_plane(&b, &host->planes[i], err); i++) continue;
    if (err->code || sum_up(&b, run, out, err)) percentiles_release(out), out = NULL;
    for (size_t i = 0; i < b.ops.n; i++) prof_free(b.ops.items[i].durations.items);
    prof_free(b.ops.items);
    hash_free(&b.by_key);
    text_table_free(&b.texts);
    return out;
}

const OpPercentilesList *host_op_percentiles(Host *host, ProfErr *err)
{
    static const Analysis analysis = {percentiles_make, percentiles_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
