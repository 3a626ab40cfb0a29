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

enum { BY_TIME, BY_GROUP, N_WAYS };

typedef struct {
    StepOps *out;
    const StepDb *db;
    const Grouping *grouping;
    Range *by_group, *by_time;
    size_t n_ranges;
    const Range *last;         /* range of the last group that was looked up */
    HashTable by_op, by_step;  /* index in StepOps.ops, in StepOps.rows */
    LIST(size_t) last_rows;    /* for each op: index + 1 of its last row; 0 if none */
    uint32_t (*metas)[N_WAYS]; /* for each metadata entry of the plane: index + 1 of its op */
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

static const Range *range_of_group(Walk *w, int64_t group)
{
    if (w->last && w->last->group == group) return w->last;
    size_t at = LOWER_BOUND(i, 0, w->n_ranges, w->by_group[i].group < group);
    if (at == w->n_ranges || w->by_group[at].group != group) return NULL;
    return w->last = &w->by_group[at];
}

static const Range *range_at(const Walk *w, int64_t time)
{
    if (time < 0) return NULL;
    size_t at = LOWER_BOUND(i, 0, w->n_ranges, w->by_time[i].begin_ps <= (uint64_t)time);
    return at && (uint64_t)time < w->by_time[at - 1].end_ps ? &w->by_time[at - 1] : NULL;
}

/* Returns the step of an event. Sets *in_group to whether the event has the step's group. */
static const Range *range_of(Walk *w, const Line *line, const Packed *groups, const EventAt *e,
                             bool *in_group)
{
    uint64_t i = e->event - line->first_event;
    int64_t group = groups ? packed_at(&groups[i / CHUNK_EVENTS], i % CHUNK_EVENTS) : -1;
    const Range *range = group >= 0 ? range_of_group(w, group) : NULL;
    bool by_time = line->plane->kind == PLANE_HOST || w->db->steps[0].outside_xprof;
    *in_group = range != NULL;
    return range || !by_time ? range : range_at(w, e->start_ps);
}

/* ---- rows ---- */

static bool same_op(const StepOpKey *a, const StepOpKey *b)
{
    return a->plane_kind == b->plane_kind && a->in_group == b->in_group &&
           a->name->n_bytes == b->name->n_bytes &&
           !memcmp(a->name->text, b->name->text, a->name->n_bytes);
}

/* Returns the index of an op, which it adds if it is new; UINT32_MAX if memory runs out. */
static uint32_t find_op(Walk *w, const StepOpKey *key)
{
    StepOps *out = w->out;
    uint64_t hash = text_hash(key->name->text, key->name->n_bytes);
    hash = hash64(hash ^ ((uint64_t)key->plane_kind << 1 | key->in_group));
    HASH_EACH(i, &w->by_op, hash)
        if (same_op(&out->ops[i], key)) return (uint32_t)i;
    if (!GROW(out->ops, out->n_ops, out->op_capacity)) return UINT32_MAX;
    size_t *last_row = PUSH_KEYED(w->last_rows, &w->by_op, hash);
    if (!last_row) return UINT32_MAX;
    *last_row = 0;
    out->ops[out->n_ops] = *key;
    return (uint32_t)out->n_ops++;
}

/* Returns the index of the row of an op in a step, which it adds if it is new; SIZE_MAX if memory
 * runs out. */
static size_t find_row(Walk *w, uint32_t op, uint32_t place, const EventMeta *meta)
{
    StepOps *out = w->out;
    uint64_t hash = hash64((uint64_t)op << 32 | place);
    HASH_EACH(i, &w->by_step, hash)
        if (out->rows[i].op == op && out->rows[i].place == place) return i;
    if (!GROW(out->rows, out->n, out->capacity) || !hash_add(&w->by_step, hash, out->n))
        return SIZE_MAX;
    out->rows[out->n] = (StepOp){.meta = meta, .op = op, .place = place};
    return out->n++;
}

/* Adds an event to the row of its op and step. */
static int add_event(Walk *w, const Plane *plane, const EventAt *e, const Range *range,
                     bool in_group, int64_t self, ProfErr *err)
{
    uint32_t *op = &w->metas[e->meta - plane->event_metas][in_group ? BY_GROUP : BY_TIME];
    if (!*op) *op = find_op(w, &(StepOpKey){e->meta->name, plane->kind, in_group}) + 1;
    if (!*op) return prof_nomem(err);
    size_t *at = &w->last_rows.items[*op - 1];
    if (!*at || w->out->rows[*at - 1].place != range->place)
        *at = find_row(w, *op - 1, range->place, e->meta) + 1;
    if (!*at) return prof_nomem(err);
    StepOp *row = &w->out->rows[*at - 1];
    row->n++;
    row->total_ps = add_saturated(row->total_ps, e->duration_ps);
    row->self_ps = add_saturated(row->self_ps, self);
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
        int64_t self = packed_at(&nesting[i / CHUNK_EVENTS].columns[NEST_SELF], i % CHUNK_EVENTS);
        if (add_event(w, line->plane, &e, range, in_group, self, err)) break;
    }
    event_reader_close(&reader);
}

static void walk_host(Walk *w, size_t place, Host *host, ProfErr *err)
{
    if (host_load_only(host, err) || !(w->grouping = host_grouping(host, err))) return;
    if (!find_ranges(w, place)) prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        const Plane *plane = &host->planes[i];
        if (!(w->metas = prof_alloc(plane->n_event_metas * sizeof *w->metas))) prof_nomem(err);
        for (size_t k = 0; k < plane->n_lines && !err->code; k++)
            if (has_ops(&host->lines[plane->first_line + k]))
                walk_line(w, &host->lines[plane->first_line + k], err);
        prof_free(w->metas);
    }
    prof_free(w->by_group), prof_free(w->by_time);
    hash_clear(&w->by_step);
    if (w->last_rows.n) memset(w->last_rows.items, 0, w->last_rows.n * sizeof(size_t));
    w->last = NULL;
}

/* ---- the order of ops ---- */

typedef struct {
    StepOpKey key;
    uint32_t was; /* index before */
} OrderedOp;

static int by_key(const void *a, const void *b)
{
    const StepOpKey *x = &((const OrderedOp *)a)->key, *y = &((const OrderedOp *)b)->key;
    if (x->plane_kind != y->plane_kind) return ORDER(x->plane_kind, y->plane_kind);
    int names = strcmp(x->name->text, y->name->text);
    return names ? names : (int)y->in_group - (int)x->in_group;
}

/* Orders the ops, and gives the rows their new indexes. */
static int order_ops(StepOps *out, ProfErr *err)
{
    OrderedOp *ordered = prof_buffer(out->n_ops * sizeof *ordered);
    uint32_t *now = prof_buffer(out->n_ops * sizeof *now);
    if (!ordered || !now) prof_nomem(err);
    for (size_t i = 0; i < out->n_ops && !err->code; i++)
        ordered[i] = (OrderedOp){out->ops[i], (uint32_t)i};
    if (!err->code) sort_array(ordered, out->n_ops, sizeof *ordered, by_key);
    for (size_t i = 0; i < out->n_ops && !err->code; i++)
        out->ops[i] = ordered[i].key, now[ordered[i].was] = (uint32_t)i;
    for (size_t i = 0; i < out->n && !err->code; i++) out->rows[i].op = now[out->rows[i].op];
    prof_free(ordered), prof_free(now);
    return interrupt_poll(out->n, err);
}

/* ---- the analysis ---- */

static void step_ops_release(void *result)
{
    StepOps *out = result;
    prof_free(out->ops);
    prof_free(out->rows);
    prof_free(out->first);
    prof_free(out);
}

static void walk_run(StepOps *out, Run *run, ProfErr *err)
{
    Walk w = {.out = out, .db = out->steps};
    for (size_t h = 0, place = 0; h < run->n_hosts && !err->code; h++) {
        if (w.db->n_steps && place < w.db->n_hosts && w.db->hosts[place]->host == &run->hosts[h])
            walk_host(&w, place++, &run->hosts[h], err);
        out->first[h + 1] = out->n;
    }
    hash_free(&w.by_op), hash_free(&w.by_step);
    prof_free(w.last_rows.items);
}

static void *step_ops_make(Run *run, Host *only, ProfErr *err)
{
    const StepDb *db = run_shown_steps(run, only, err);
    StepOps *out = db ? prof_alloc(sizeof *out) : NULL;
    if (!out) {
        prof_nomem(err);
        return NULL;
    }
    out->steps = db;
    out->first = prof_alloc((run->n_hosts + 1) * sizeof *out->first);
    if (out->first)
        walk_run(out, run, err);
    else
        prof_nomem(err);
    if (!err->code) order_ops(out, err);
    if (err->code) step_ops_release(out), out = NULL;
    return out;
}

const StepOps *run_step_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {step_ops_make, step_ops_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

/* ---- the order of rows ---- */

/* What the order of the rows of a step depends on. */
typedef struct {
    int64_t self_ps;
    uint32_t op, row;
} RowOrder;

static int by_self_time(const void *a, const void *b)
{
    const RowOrder *x = a, *y = b;
    return x->self_ps != y->self_ps ? ORDER(y->self_ps, x->self_ps) : ORDER(x->op, y->op);
}

/* Puts the rows from `first` to `end` together by step. Sets ends[place] to where those of each
 * step end. */
static void group_rows(const StepOps *ops, RowOrder *rows, size_t *ends, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) ends[ops->rows[i].place]++;
    for (size_t place = 0, n = 0; place < ops->steps->n_steps; place++) {
        size_t count = ends[place];
        ends[place] = n, n += count;
    }
    for (size_t i = first; i < end; i++) {
        const StepOp *row = &ops->rows[i];
        rows[ends[row->place]++] = (RowOrder){row->self_ps, row->op, (uint32_t)i};
    }
}

/* Orders the rows from `first` to `end`. */
static int order_rows(const StepOps *ops, uint32_t *order, size_t first, size_t end, ProfErr *err)
{
    size_t n_steps = ops->steps->n_steps, begin = 0, *ends = prof_alloc(n_steps * sizeof *ends);
    RowOrder *rows = prof_buffer((end - first) * sizeof *rows);
    if (!rows || !ends) prof_nomem(err);
    if (!err->code) group_rows(ops, rows, ends, first, end);
    for (size_t place = 0; place < n_steps && !err->code; place++) {
        sort_array(rows + begin, ends[place] - begin, sizeof *rows, by_self_time);
        interrupt_poll(ends[place] - begin, err);
        begin = ends[place];
    }
    for (size_t i = first; i < end && !err->code; i++) order[i] = rows[i - first].row;
    prof_free(rows), prof_free(ends);
    return err->code;
}

static void release_order(void *result)
{
    StepOpOrder *out = result;
    prof_free(out->rows);
    prof_free(out);
}

static void *make_order(Run *run, Host *only, ProfErr *err)
{
    const StepOps *ops = run_step_ops(run, only, err);
    StepOpOrder *out = ops ? prof_alloc(sizeof *out) : NULL;
    if (!out) {
        prof_nomem(err);
        return NULL;
    }
    out->ops = ops;
    out->rows = prof_buffer(ops->n * sizeof *out->rows);
    if (!out->rows) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        order_rows(ops, out->rows, ops->first[h], ops->first[h + 1], err);
    if (err->code) release_order(out), out = NULL;
    return out;
}

const StepOpOrder *run_step_op_order(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make_order, release_order, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
