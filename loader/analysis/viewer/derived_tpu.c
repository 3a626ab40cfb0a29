// SPDX-License-Identifier: Apache-2.0
/* derived_tpu.c: derives the lines of a TensorCore: framework ops, name scopes and source lines of
 * its ops, and transfers to and from host memory; see derived_parts.h. */
#include "../../base/interrupt.h"
#include "derived_parts.h"
#include "../../store/events.h"
#include "../../store/event_values.h"
#include "../../store/sorted_events.h"

#include <stdio.h>

/* ---- transfers: from a start to its done ---- */

enum OffloadEnd { NO_OFFLOAD, OFFLOAD_START, OFFLOAD_DONE };
enum { MOST_ROWS = 41 };

typedef struct {
    int64_t start_ps;
    uint32_t meta; /* index in the plane's event_metas */
    uint32_t next; /* index + 1 of the next start with the same key, or of the next unused one */
} OffloadStart;

typedef struct {
    const Text *key;
    uint32_t meta;        /* of its transfers, + 1; 0: not created yet */
    uint32_t first, last; /* starts without a done, + 1 */
} OffloadQueue;

typedef struct {
    int64_t last_end_ps;
    LineMaker maker;
} OffloadRow;

/* ---- the walk ---- */

/* What an op's metadata leads to, looked up once. */
typedef struct {
    bool known, has_op, is_async;
    enum OffloadEnd offload;
    OpMetas op;
    uint32_t source; /* NO_META if none */
    int64_t group;   /* of all its events; -1 if none */
    uint32_t queue;  /* index + 1 of the queue of its transfers; 0: not looked up yet */
} MetaRecipe;

typedef struct {
    Derivation *d;
    NameTable *names;
    Plane *plane;
    SpanLine *lines;
    EventFinder *finder;
    StatFilter filter;
    MetaRecipe *recipes; /* by event metadata */
    LineMaker name_scope, framework_ops, source;
    LIST(OffloadStart) starts;
    uint32_t unused_start; /* index + 1 */
    LIST(OffloadQueue) queues;
    HashTable by_key; /* of `queues` */
    OffloadRow *rows;
    size_t n_rows;
} CoreWalk;

static const enum KnownStat wanted[] = {STAT_TF_OP, STAT_SOURCE, STAT_ASYNC, STAT_GROUP_ID};

static enum OffloadEnd offload_end(const EventMeta *meta)
{
    static const char *const ops[] = {
        "copy-start", "dynamic-slice-start", "dynamic-update-slice-start",
        "copy-done",  "dynamic-slice-done",  "dynamic-update-slice-done"};
    if (!strstr(meta->name->text, "S(5)")) return NO_OFFLOAD; /* the host's memory */
    for (size_t i = 0; i < COUNT(ops); i++)
        if (strstr(meta->display_name->text, ops[i]))
            return strstr(meta->display_name->text, "-start") ? OFFLOAD_START : OFFLOAD_DONE;
    return NO_OFFLOAD;
}

static bool set_source(CoreWalk *w, Slice text, uint32_t *source, ProfErr *err)
{
    *source = text.n ? names_find(w->d, w->names, text.text, text.n) : NO_META;
    if (text.n && *source == NO_META) prof_nomem(err);
    return !err->code;
}

/* Reads the stats of a metadata, then those of the event itself. The last of a name counts. */
static bool read_recipe(CoreWalk *w, StatIter stats, MetaRecipe *r, ProfErr *err)
{
    Stat stat;
    unsigned known;
    while (!err->code && stat_iter_next_wanted(&stats, &w->filter, &known, &stat)) {
        if (known == STAT_ASYNC) {
            r->is_async = stat_int_or_uint(&stat) != 0;
        } else if (known == STAT_GROUP_ID) {
            r->group = (int64_t)stat_int_or_uint(&stat);
        } else if (known == STAT_SOURCE) {
            set_source(w, stat_text(w->plane, &stat), &r->source, err);
        } else {
            Slice name = stat_text(w->plane, &stat);
            r->has_op = name.n && op_metas(w->d, w->names, name, &r->op, err);
        }
    }
    return !err->code;
}

static MetaRecipe *meta_recipe(CoreWalk *w, const EventMeta *meta, ProfErr *err)
{
    MetaRecipe *r = &w->recipes[meta - w->plane->event_metas];
    if (r->known) return r;
    *r = (MetaRecipe){.known = true, .source = NO_META, .group = -1, .offload = offload_end(meta)};
    if (!meta->has_stats) return r;
    MetaBytes bytes = {0};
    if (meta_bytes_read(&bytes, w->d->host, meta, err))
        read_recipe(w, stat_iter_of_meta(&bytes), r, err);
    meta_bytes_free(&bytes);
    return err->code ? NULL : r;
}

/* ---- transfers ---- */

/* Returns "offload-copy.3" for copy-start.3 and copy-done.3; a name without a number gets 0. */
static const Text *offload_key(CoreWalk *w, const Text *display)
{
    const char *end = strstr(display->text, "-start"), *dot = strrchr(display->text, '.');
    if (!end) end = strstr(display->text, "-done");
    size_t n = strlen("offload-") + (size_t)(end - display->text) + 1 + (dot ? strlen(dot + 1) : 1);
    char *text = prof_alloc(n + 1);
    if (!text) return NULL;
    snprintf(text, n + 1, "offload-%.*s.%s", (int)(end - display->text), display->text,
             dot ? dot + 1 : "0");
    const Text *key = text_intern(&w->d->texts, &w->d->arena, text, n);
    prof_free(text);
    return key;
}

/* Returns the index + 1 of the queue with a key; 0 if memory runs out. */
static uint32_t queue_with_key(CoreWalk *w, const Text *key)
{
    uint64_t hash = hash64((uintptr_t)key);
    HASH_EACH(i, &w->by_key, hash)
        if (w->queues.items[i].key == key) return (uint32_t)i + 1;
    OffloadQueue *queue = PUSH_KEYED(w->queues, &w->by_key, hash);
    if (!queue) return 0;
    *queue = (OffloadQueue){.key = key};
    return (uint32_t)w->queues.n;
}

/* Returns the queue of transfers that start or end with an op; NULL if memory runs out. */
static OffloadQueue *queue_of(CoreWalk *w, uint32_t meta)
{
    MetaRecipe *r = &w->recipes[meta];
    const Text *key = r->queue ? NULL : offload_key(w, w->plane->event_metas[meta].display_name);
    if (key) r->queue = queue_with_key(w, key);
    return r->queue ? &w->queues.items[r->queue - 1] : NULL;
}

/* Adds a stat of a metadata to a derived event. */
static bool copy_stat(CoreWalk *w, LineMaker *maker, uint32_t event, uint32_t meta,
                      enum KnownStat known, enum DerivedStatName name, ProfErr *err)
{
    EventMeta *entry = &w->plane->event_metas[meta];
    if (event_meta_values(w->plane, entry, err)) return false;
    for (uint16_t i = 0; i < entry->n_facts; i++) {
        const KnownValue *f = &entry->facts[i];
        if (f->known != known) continue;
        line_add_stat(maker, event, name, f->fact);
    }
    return true;
}

/* Returns the row whose last transfer ended first, and not after the start; of several that ended
 * together, the last. Otherwise a new row, or the last one if there are MOST_ROWS, like XProf. */
static OffloadRow *choose_row(CoreWalk *w, int64_t start_ps)
{
    OffloadRow *found = NULL;
    int64_t limit = start_ps;
    for (size_t i = 0; i < w->n_rows; i++)
        if (w->rows[i].last_end_ps <= limit) found = &w->rows[i], limit = found->last_end_ps;
    if (found) return found;
    if (w->n_rows == MOST_ROWS) return &w->rows[MOST_ROWS - 1];
    char *name = arena_alloc(&w->d->arena, sizeof "Host Offload Ops row " + 4);
    if (!name) return NULL;
    snprintf(name, sizeof "Host Offload Ops row " + 4, "Host Offload Ops row %zu", w->n_rows);
    line_open(&w->rows[w->n_rows].maker, w->plane, DERIVED_OFFLOAD + (int64_t)w->n_rows, name,
              LINE_OTHER);
    return &w->rows[w->n_rows++];
}

/* Returns the index + 1 of the meta that all transfers of a key share; 0 if memory runs out. */
static uint32_t transfer_meta(CoreWalk *w, OffloadQueue *queue)
{
    if (queue->meta) return queue->meta;
    DerivedMeta *meta = PUSH(w->names->metas);
    if (!meta) return 0;
    *meta = (DerivedMeta){empty_text, queue->key, NULL};
    return queue->meta = (uint32_t)w->names->metas.n;
}

static bool add_transfer(CoreWalk *w, OffloadQueue *queue, const OffloadStart *start,
                         const SpanRef *done, uint32_t done_meta, ProfErr *err)
{
    int64_t end = add_saturated(done->start_ps, done->duration_ps);
    OffloadRow *row = choose_row(w, start->start_ps);
    uint32_t meta = row ? transfer_meta(w, queue) : 0;
    if (!meta) {
        prof_nomem(err);
        return false;
    }
    uint32_t e =
        line_add(&row->maker, &(DerivedEvent){start->start_ps, span_between(start->start_ps, end),
                                              -1, meta - 1});
    line_add_stat(&row->maker, e, DERIVED_ASYNC, (StatValue){.type = TYPE_INT64, .integer = 1});
    row->last_end_ps = end;
    return copy_stat(w, &row->maker, e, done_meta, STAT_RAW_BYTES_ACCESSED, DERIVED_RAW_BYTES,
                     err) &&
           copy_stat(w, &row->maker, e, start->meta, STAT_SHAPE_WITH_LAYOUT, DERIVED_SHAPE, err);
}

/* Returns a new start, reusing one that is done if there is any, as index + 1. 0 if memory runs
 * out. */
static uint32_t new_start(CoreWalk *w, const OffloadStart *start)
{
    uint32_t place = w->unused_start;
    if (place)
        w->unused_start = w->starts.items[place - 1].next;
    else if (PUSH(w->starts))
        place = (uint32_t)w->starts.n;
    if (place) w->starts.items[place - 1] = *start;
    return place;
}

static bool read_transfer(CoreWalk *w, const SpanRef *span, const EventMeta *meta,
                          enum OffloadEnd which, ProfErr *err)
{
    uint32_t at = (uint32_t)(meta - w->plane->event_metas);
    OffloadQueue *queue = queue_of(w, at);
    if (!queue) {
        prof_nomem(err);
        return false;
    }
    if (which == OFFLOAD_DONE) {
        if (!queue->first) return true;
        uint32_t first = queue->first;
        const OffloadStart start = w->starts.items[first - 1];
        queue->first = start.next;
        w->starts.items[first - 1].next = w->unused_start;
        w->unused_start = first;
        return add_transfer(w, queue, &start, span, at, err);
    }
    uint32_t start = new_start(w, &(OffloadStart){span->start_ps, at, 0});
    if (!start) {
        prof_nomem(err);
        return false;
    }
    *(queue->first ? &w->starts.items[queue->last - 1].next : &queue->first) = start;
    queue->last = start;
    return true;
}

/* ---- ops ---- */

static int64_t group_of(const CoreWalk *w, const SpanRef *span)
{
    const Packed *groups = line_groups(w->d->grouping, w->lines[span->line].line)->groups;
    return groups ? packed_at(&groups[span->at / CHUNK_EVENTS], span->at % CHUNK_EVENTS) : -1;
}

static bool event_recipe(CoreWalk *w, const SpanRef *ref, EventAt *e, MetaRecipe *r, ProfErr *err)
{
    Line *line = w->lines[ref->line].line;
    if (!event_find(w->finder, line, ref->at, 0, e, err)) return false;
    const MetaRecipe *shared = meta_recipe(w, e->meta, err);
    if (!shared) return false;
    *r = *shared;
    if (meta_events_have(e->meta, &w->filter.wanted) &&
        (!event_find(w->finder, line, ref->at, EVENT_STATS, e, err) ||
         !read_recipe(w, stat_iter_of_event(e), r, err)))
        return false;
    int64_t group = group_of(w, ref);
    if (group >= 0) r->group = group;
    return true;
}

static bool add_op(void *context, const SpanRef *ref, ProfErr *err)
{
    CoreWalk *w = context;
    EventAt e;
    MetaRecipe r;
    if (!event_recipe(w, ref, &e, &r, err)) return false;
    if (r.is_async) return true;
    CoverSpan span = {ref->start_ps, ref->duration_ps, r.group, NULL};
    if (r.has_op && !line_cover_op(w->d, &w->name_scope, &w->framework_ops, &r.op, &span, err))
        return false;
    if (r.source != NO_META && !line_cover(w->d, &w->source, &r.source, 1, &span, err))
        return false;
    return r.offload == NO_OFFLOAD || read_transfer(w, ref, e.meta, r.offload, err);
}

static bool says_nothing(const MetaRecipe *r)
{
    return r->is_async || (!r->has_op && r->source == NO_META && r->offload == NO_OFFLOAD);
}

static bool alike(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err)
{
    CoreWalk *w = context;
    EventAt e;
    MetaRecipe x, y;
    if (!event_recipe(w, a, &e, &x, err) || !event_recipe(w, b, &e, &y, err)) return false;
    if (says_nothing(&x) || says_nothing(&y)) return true;
    if (x.offload || y.offload || x.has_op != y.has_op || x.source != y.source ||
        x.group != y.group)
        return false;
    return !x.has_op || x.op.op == y.op.op;
}

static void restart(void *context)
{
    CoreWalk *w = context;
    LineMaker *makers[] = {&w->name_scope, &w->framework_ops, &w->source};
    for (size_t i = 0; i < COUNT(makers); i++) line_restart(w->d, makers[i]);
    for (size_t i = 0; i < w->n_rows; i++) line_drop(&w->rows[i].maker);
    hash_clear(&w->by_key);
    for (size_t i = 0; i < w->plane->n_event_metas; i++) w->recipes[i].queue = 0;
    w->n_rows = w->starts.n = w->queues.n = w->unused_start = 0;
}

/* Adds a line. Merged steps are used in place of the events. */
static bool add_line(CoreWalk *w, SpanLine *to, Line *line, ProfErr *err)
{
    const LineGroups *groups = line_groups(w->d->grouping, line);
    to->line = line;
    if (!groups->merged) return true;
    SpanRef *spans = arena_alloc(&w->d->arena, groups->n_steps * sizeof *spans);
    if (!spans) {
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0; i < groups->n_steps; i++) {
        const MergedStep *step = &groups->steps[i];
        spans[i] = (SpanRef){.start_ps = step->start_ps,
                             .duration_ps = step->duration_ps,
                             .at = (uint32_t)(step->event - line->first_event)};
    }
    to->instead = spans, to->n_instead = groups->n_steps;
    return true;
}

/* Prepares what looking up recipes needs. */
static void recipes_open(CoreWalk *w, const enum KnownStat *stats, size_t n_stats, ProfErr *err)
{
    w->names = &w->d->names[w->plane - w->d->host->planes];
    w->recipes = prof_alloc(w->plane->n_event_metas * sizeof *w->recipes);
    w->finder = prof_alloc(sizeof *w->finder);
    if (!w->recipes || !w->finder || !names_open(w->names, w->plane)) prof_nomem(err);
    if (!err->code) stat_filter_open(&w->filter, w->plane, stats, n_stats, err);
}

static void recipes_close(CoreWalk *w)
{
    stat_filter_close(&w->filter);
    if (w->finder) event_finder_close(w->finder);
    prof_free(w->finder);
    prof_free(w->recipes);
}

bool derive_tensorcore(Derivation *d, Plane *plane, ProfErr *err)
{
    CoreWalk w = {.d = d, .plane = plane};
    w.lines = prof_alloc(plane->n_lines * sizeof *w.lines);
    w.rows = prof_alloc(MOST_ROWS * sizeof *w.rows);
    if (!w.lines || !w.rows) prof_nomem(err);
    recipes_open(&w, wanted, COUNT(wanted), err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++)
        add_line(&w, &w.lines[i], &d->host->lines[plane->first_line + i], err);
    line_open(&w.name_scope, plane, DERIVED_NAME_SCOPE, "Framework Name Scope", LINE_NAME_SCOPE);
    line_open(&w.framework_ops, plane, DERIVED_FRAMEWORK_OPS, "Framework Ops", LINE_FRAMEWORK_OPS);
    line_open(&w.source, plane, DERIVED_SOURCE, "Source code", LINE_SOURCE);
    w.name_scope.dependents[0] = &w.framework_ops;
    const SpanVisitor visitor = {&w, add_op, alike, restart};
    if (!err->code) span_lines_walk(w.lines, plane->n_lines, &visitor, err);
    line_close(&w.name_scope, 0);
    line_end(d, &w.name_scope, err);
    line_end(d, &w.framework_ops, err);
    line_end(d, &w.source, err);
    for (size_t i = 0; i < w.n_rows; i++) line_end(d, &w.rows[i].maker, err);
    recipes_close(&w);
    prof_free(w.lines);
    prof_free(w.starts.items);
    prof_free(w.queues.items);
    hash_free(&w.by_key);
    prof_free(w.rows);
    return !err->code;
}

/* ---- names alone ---- */

static bool name_event(CoreWalk *w, const EventAt *e, ProfErr *err)
{
    MetaRecipe own;
    return meta_recipe(w, e->meta, err) &&
           (!event_has_stats(e) || read_recipe(w, stat_iter_of_event(e), &own, err));
}

static void name_steps(CoreWalk *w, Line *line, const LineGroups *groups, ProfErr *err)
{
    EventAt e;
    for (size_t i = 0; i < groups->n_steps && !interrupt_poll(1, err); i++)
        if (event_find(w->finder, line, groups->steps[i].event - line->first_event, EVENT_STATS, &e,
                       err))
            name_event(w, &e, err);
}

static void name_events(CoreWalk *w, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, &w->filter.wanted, err);
    while (event_reader_next(&reader, &e) && name_event(w, &e, err)) continue;
    event_reader_close(&reader);
}

bool name_tensorcore(Derivation *d, Plane *plane, ProfErr *err)
{
    static const enum KnownStat named_by[] = {STAT_TF_OP};
    CoreWalk w = {.d = d, .plane = plane};
    recipes_open(&w, named_by, COUNT(named_by), err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &d->host->lines[plane->first_line + i];
        const LineGroups *groups = line_groups(d->grouping, line);
        if (groups->merged)
            name_steps(&w, line, groups, err);
        else
            name_events(&w, line, err);
    }
    recipes_close(&w);
    return !err->code;
}
