// SPDX-License-Identifier: Apache-2.0
/* step_ops.c: sums ops by step; see step_ops.h.
 *
 * One walk over the events of each host. An event belongs to the step of its group or, on threads
 * without groups, to the step in whose range it starts. */
#include "step_ops.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../grouping/grouping.h"

/* A step on the host. */
typedef struct {
    int64_t group; /* -1: identified by time only */
    uint64_t begin_ps, end_ps;
    uint32_t place;
} Range;

/* The name of an event metadata entry, and the row of its last event. */
typedef struct {
    const Text *name; /* in Walk.texts */
    size_t last;      /* index + 1 in Walk.rows; 0 if none */
} MetaRow;

typedef struct {
    StepOp op;
    const Text *name;
} Row;

typedef struct {
    const StepDb *db;
    const Grouping *grouping;
    Range *by_group, *by_time;
    size_t n_ranges;
    LIST(Row) rows; /* of this host */
    HashTable by_key;
    TextTable texts;
    Arena arena;
    MetaRow *metas;
} Walk;

/* ---- the step of an event ---- */

ORDER_BY_TWO(by_group, Range, group, place)

ORDER_BY_TWO(by_begin, Range, begin_ps, place)

static bool find_ranges(Walk *w, size_t host)
{
    size_t n = w->n_ranges = w->db->n_steps;
    w->by_group = prof_alloc(n * sizeof(Range)), w->by_time = prof_alloc(n * sizeof(Range));
    if (!w->by_group || !w->by_time) return false;
    for (size_t i = 0; i < n; i++) {
        const HostStep *s = w->db->steps[i].of_hosts[host];
        uint64_t begin = s->has_range ? s->range_begin_ps : s->begin_ps;
        uint64_t length = s->has_range ? s->range_ps : s->duration_ps, end;
        if (__builtin_add_overflow(begin, length, &end)) end = UINT64_MAX;
        int64_t group = w->db->steps[i].outside_xprof ? -1 : s->group;
        w->by_group[i] = w->by_time[i] = (Range){group, begin, end, (uint32_t)i};
    }
    sort_array(w->by_group, n, sizeof(Range), by_group);
    sort_array(w->by_time, n, sizeof(Range), by_begin);
    return true;
}

static const Range *range_of_group(const Walk *w, int64_t group)
{
    size_t at = LOWER_BOUND(i, 0, w->n_ranges, w->by_group[i].group < group);
    return at < w->n_ranges && w->by_group[at].group == group ? &w->by_group[at] : NULL;
}

static const Range *range_at(const Walk *w, int64_t time)
{
    if (time < 0) return NULL;
    size_t at = LOWER_BOUND(i, 0, w->n_ranges, w->by_time[i].begin_ps <= (uint64_t)time);
    return at && (uint64_t)time < w->by_time[at - 1].end_ps ? &w->by_time[at - 1] : NULL;
}

/* Returns the step of an event. Sets *in_group to whether the event has the step's group. */
static const Range *range_of(const Walk *w, const Line *line, const Packed *groups,
                             const EventAt *e, bool *in_group)
{
    uint64_t i = e->event - line->first_event;
    int64_t group = groups ? packed_at(&groups[i / CHUNK_EVENTS], i % CHUNK_EVENTS) : -1;
    const Range *range = group >= 0 ? range_of_group(w, group) : NULL;
    bool by_time = line->plane->kind == PLANE_HOST || w->db->steps[0].outside_xprof;
    *in_group = range != NULL;
    return range || !by_time ? range : range_at(w, e->start_ps);
}

/* ---- rows ---- */

static bool is_row(const Row *row, const StepOp *key, const Text *name)
{
    return row->name == name && row->op.place == key->place &&
           row->op.plane_kind == key->plane_kind && row->op.in_group == key->in_group;
}

static size_t find_row(Walk *w, const StepOp *key, const Text *name)
{
    uint64_t hash =
        hash64((uint64_t)key->place << 8 | (uint64_t)key->plane_kind << 1 | key->in_group);
    hash = hash64(hash ^ (uint64_t)(uintptr_t)name);
    HASH_EACH(i, &w->by_key, hash)
        if (is_row(&w->rows.items[i], key, name)) return i;
    Row *row = PUSH_KEYED(w->rows, &w->by_key, hash);
    if (!row) return SIZE_MAX;
    *row = (Row){*key, name};
    return w->rows.n - 1;
}

/* Adds an event to the row of `key`. */
static int add_event(Walk *w, const Plane *plane, const EventAt *e, const StepOp *key, int64_t self,
                     ProfErr *err)
{
    MetaRow *meta = &w->metas[e->meta - plane->event_metas];
    const Text *text = e->meta->name;
    if (!meta->name) {
        meta->name = text_intern(&w->texts, &w->arena, text->text, text->n_bytes);
        if (!meta->name) return prof_nomem(err);
    }
    size_t at = meta->last - 1;
    if (!meta->last || !is_row(&w->rows.items[at], key, meta->name))
        at = find_row(w, key, meta->name);
    if (at == SIZE_MAX) return prof_nomem(err);
    meta->last = at + 1;
    StepOp *op = &w->rows.items[at].op;
    op->n++;
    op->total_ps = add_saturated(op->total_ps, e->duration_ps);
    op->self_ps = add_saturated(op->self_ps, self);
    return PROF_OK;
}

static bool has_ops(const Line *line)
{
    if (line->derived) return false;
    switch (line->plane->kind) {
    case PLANE_HOST: return true;
    case PLANE_GPU: return line->kind == LINE_STREAM;
    case PLANE_TENSORCORE:
    case PLANE_SPARSECORE: return line->kind == LINE_OPS;
    default: return false;
    }
}

static void walk_line(Walk *w, Line *line, ProfErr *err)
{
    const NestingChunk *nesting = line->n_events ? line_nesting(line, err) : NULL;
    const Packed *groups = step_groups(line_groups(w->grouping, line));
    EventReader reader;
    EventAt e;
    if (!nesting) return;
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        bool in_group = false;
        const Range *range = e.occurrences < 0 ? range_of(w, line, groups, &e, &in_group) : NULL;
        uint64_t i = e.event - line->first_event;
        if (!range) continue;
        StepOp key = {.step = &w->db->steps[range->place],
                      .place = range->place,
                      .plane_kind = line->plane->kind,
                      .in_group = in_group,
                      .meta = e.meta};
        int64_t self = packed_at(&nesting[i / CHUNK_EVENTS].columns[NEST_SELF], i % CHUNK_EVENTS);
        if (add_event(w, line->plane, &e, &key, self, err)) break;
    }
    event_reader_close(&reader);
}

static int by_step_and_time(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    if (x->op.place != y->op.place) return ORDER(x->op.place, y->op.place);
    if (x->op.self_ps != y->op.self_ps) return ORDER(y->op.self_ps, x->op.self_ps);
    if (x->op.plane_kind != y->op.plane_kind) return ORDER(x->op.plane_kind, y->op.plane_kind);
    int names = strcmp(x->name->text, y->name->text);
    return names ? names : (int)y->op.in_group - (int)x->op.in_group;
}

static int keep_rows(StepOps *out, Walk *w, ProfErr *err)
{
    sort_array(w->rows.items, w->rows.n, sizeof(Row), by_step_and_time);
    for (size_t i = 0; i < w->rows.n; i++) {
        if (!GROW(out->rows, out->n, out->capacity)) return prof_nomem(err);
        out->rows[out->n++] = w->rows.items[i].op;
    }
    return interrupt_poll(w->rows.n, err);
}

static void walk_host(StepOps *out, const StepDb *db, size_t place, Host *host, ProfErr *err)
{
    Walk w = {.db = db};
    if (host_load_only(host, err) || !(w.grouping = host_grouping(host, err))) return;
    if (!find_ranges(&w, place)) prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        const Plane *plane = &host->planes[i];
        if (!(w.metas = prof_alloc(plane->n_event_metas * sizeof *w.metas))) prof_nomem(err);
        for (size_t k = 0; k < plane->n_lines && !err->code; k++)
            if (has_ops(&host->lines[plane->first_line + k]))
                walk_line(&w, &host->lines[plane->first_line + k], err);
        prof_free(w.metas);
    }
    if (!err->code) keep_rows(out, &w, err);
    prof_free(w.by_group), prof_free(w.by_time), prof_free(w.rows.items);
    hash_free(&w.by_key);
    text_table_free(&w.texts);
    arena_free(&w.arena);
}

static void step_ops_release(void *result)
{
    StepOps *out = result;
    prof_free(out->rows);
    prof_free(out->first);
    prof_free(out);
}

static void *step_ops_make(Run *run, Host *only, ProfErr *err)
{
    const StepDb *db = run_shown_steps(run, only, err);
    StepOps *out = db ? prof_alloc(sizeof *out) : NULL;
    if (!out) {
        prof_nomem(err);
        return NULL;
    }
    if (!(out->first = prof_alloc((run->n_hosts + 1) * sizeof *out->first))) prof_nomem(err);
    for (size_t h = 0, place = 0; h < run->n_hosts && !err->code; h++) {
        if (db->n_steps && place < db->n_hosts && db->hosts[place]->host == &run->hosts[h])
            walk_host(out, db, place++, &run->hosts[h], err);
        out->first[h + 1] = out->n;
    }
    if (err->code) step_ops_release(out), out = NULL;
    return out;
}

const StepOps *run_step_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {step_ops_make, step_ops_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
