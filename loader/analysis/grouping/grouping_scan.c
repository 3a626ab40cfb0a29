// SPDX-License-Identifier: Apache-2.0
/* grouping_scan.c: reads each line once: how its events nest, and marks for the events that
 * grouping needs; see grouping_parts.h. */
#include "../../base/interrupt.h"
#include "../../base/nest.h"
#include "../../store/events.h"
#include "../../base/sort.h"
#include "grouping_parts.h"
#include "../../store/lines.h"

/* ---- planes ---- */

static bool prepare_plane(const Forest *f, ForestPlane *fp, const Plane *plane, ProfErr *err)
{
    if (!context_plane_open(&fp->context, plane, err)) return false;
    fp->context.as_written = f->as_written;
    if (!plane->n_events) return true;
    if (!(fp->types = prof_alloc(plane->n_event_metas))) {
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0; i < plane->n_event_metas; i++) {
        const Text *name = plane->event_metas[i].name;
        fp->types[i] =
            (uint8_t)(fp->context.is_tpu
                          ? event_type_named(name)
                          : event_type(name)); /* the HLO text of an op is never a framework op */
    }
    return true;
}

static bool is_core(const Plane *plane)
{
    return is_numbered_core(plane) || plane->kind == PLANE_SPARSECORE;
}

/* Returns the line that groups a TPU's events: its steps, else its modules; the last of several. */
static const Line *grouping_line(const Plane *plane)
{
    const Line *lines = plane->host->lines + plane->first_line, *steps = NULL, *modules = NULL;
    for (size_t i = 0; i < plane->n_lines && is_core(plane); i++) {
        if (!lines[i].n_events) continue;
        if (is_step_line(&lines[i])) steps = &lines[i];
        if (is_module_line(&lines[i])) modules = &lines[i];
    }
    return steps ? steps : modules;
}

static void choose_roles(Forest *f, const Plane *plane)
{
    const ForestPlane *fp = &f->planes[plane - f->host->planes];
    const Line *groups_by = fp->context.is_tpu ? grouping_line(plane) : NULL;
    for (size_t i = 0; i < plane->n_lines; i++) {
        ForestLine *fl = &f->lines[plane->first_line + i];
        fl->line = &f->host->lines[plane->first_line + i];
        if (!fl->line->n_events) continue;
        if (!fp->context.is_tpu)
            fl->role = ROLE_THREAD;
        else if (groups_by)
            fl->role = fl->line == groups_by ? ROLE_STEPS : ROLE_LENDER;
    }
}

/* ---- lines that matter ---- */

/* Returns whether the line has events with one of these stats. */
static bool line_has(const Line *line, const StatSet *stats)
{
    for (size_t i = 0; i < line->n_chunks; i++)
        if (stat_sets_meet(&line->chunks[i].stats, stats)) return true;
    return false;
}

/* Returns whether an event of this type opens groups, adds regions, determines is_eager, or
 * connects lines without a context. */
static bool type_matters(enum EventType type)
{
    static const enum EventType matter[] = {
        EVENT_TF_OP,         EVENT_KERNEL_LAUNCH,        EVENT_KERNEL_EXECUTE,
        EVENT_TRACE_CONTEXT, EVENT_EXECUTOR_PROCESS,     EVENT_EAGER_EXECUTE,
        EVENT_GET_NEXT,      EVENT_GET_NEXT_OPTIONAL,    EVENT_PROCESS_BATCH,
        EVENT_START_REGION,  EVENT_BATCHING_SESSION_RUN, EVENT_STOP_REGION};
    for (size_t i = 0; i < COUNT(matter); i++)
        if (type == matter[i]) return true;
    return false;
}

/* Returns whether an event of this type on a TPU produces a context or launches a kernel. */
static bool type_produces(enum EventType type)
{
    return type == EVENT_ENQUEUE_PROGRAM || type == EVENT_ENQUEUE_REQUEST ||
           type == EVENT_EXECUTOR_PROCESS || type == EVENT_KERNEL_LAUNCH;
}

/* Returns whether a group can reach the threads: if their roots open groups, or if the steps of a
 * TPU produce what threads consume. If not, threads matter only if they name the groups of those
 * steps, or determine is_eager. */
static bool threads_matter(const Forest *f)
{
    static const enum KnownStat on_threads[] = {STAT_ROOT, STAT_GRAPH_TYPE, STAT_ITERATION,
                                                STAT_STEP_NUM, STAT_CORRELATION_ID};
    StatSet thread_stats = {0}, tpu_stats = {0};
    for (size_t i = 0; i < COUNT(on_threads); i++) stat_set_add(&thread_stats, on_threads[i]);
    stat_set_add(&tpu_stats, STAT_PRODUCER);
    for (size_t i = 0; i < f->host->n_planes; i++) {
        const Plane *plane = &f->host->planes[i];
        const ForestPlane *fp = &f->planes[i];
        for (size_t k = 0; fp->types && k < plane->n_event_metas; k++)
            if (fp->context.is_tpu ? type_produces(fp->types[k]) : type_matters(fp->types[k]))
                return true;
        for (size_t k = 0; k < plane->n_lines; k++)
            if (line_has(&f->host->lines[plane->first_line + k],
                         fp->context.is_tpu ? &tpu_stats : &thread_stats))
                return true;
    }
    return false;
}

static void leave_threads_out(Forest *f)
{
    for (size_t i = 0; i < f->host->n_lines; i++)
        if (f->lines[i].role == ROLE_THREAD) f->lines[i].role = ROLE_NONE;
}

/* ---- a scan ---- */

/* Open events with the same start and end share one entry: each nests in the one before. */
typedef struct {
    int64_t start_ps, end_ps;
    uint32_t at, n; /* the innermost; number of events */
} Open;

typedef struct {
    Forest *forest;
    ForestLine *line;
    const ForestPlane *plane;
    LIST(Open) open;
    EventNumbers numbers;
    uint8_t
        *step_types; /* ROLE_STEPS: enum EventType + 1 of each event metadata; 0: not known yet */
    int64_t ids[CHUNK_EVENTS],
        correlations[CHUNK_EVENTS]; /* for the current chunk; both are 0 if NOT_CORRELATED */
    size_t n_in_hand;
    bool any_in_hand;
    bool region_open;
    int64_t region_start_ps;
    enum { NEST_UNLESS_VAST, NEST_PUT_OFF, NEST_ALWAYS } nesting;
} Scan;

/* Returns whether a group or a walk can reach the line's events. If not, their nesting does not
 * matter. */
static bool is_marked(const Scan *s)
{
    const ForestLine *fl = s->line;
    return fl->roots.n || fl->produced.n || fl->consumed.n || fl->iterations.n || fl->eagers.n ||
           fl->regions.n || fl->correlations || s->any_in_hand;
}

/* Returns whether a line has so many events that it is nested only after it is known to matter:
 * that takes as much memory as the file has bytes. */
static bool is_vast(const ForestLine *fl) { return fl->line->n_events > 1 << 20; }

static bool start_nesting(ForestLine *fl)
{
    size_t n = (size_t)fl->line->n_events + fl->regions.n;
    fl->parent = prof_alloc(n * sizeof *fl->parent);
    fl->end = prof_alloc(n * sizeof *fl->end);
    if (!fl->parent || !fl->end) return false;
    for (size_t i = 0; i < n; i++) fl->end[i] = (uint32_t)i + 1;
    return true;
}

/* Ends the events of the innermost entry before a place. */
static void close_last(Scan *s, uint32_t at)
{
    const ForestLine *fl = s->line;
    const Open *closed = &s->open.items[s->open.n];
    for (uint32_t i = 0, event = closed->at; i < closed->n && fl->end; i++) {
        fl->end[event] = at;
        if (i + 1 < closed->n) event = fl->parent[event] - 1;
    }
}

static bool nest(Scan *s, uint32_t at, int64_t start_ps, int64_t end_ps)
{
    ForestLine *fl = s->line;
    Open *top = NEST_AROUND(s->open, start_ps, end_ps, start_ps, end_ps, close_last(s, at));
    if (top) {
        if (s->nesting == NEST_UNLESS_VAST && !fl->parent && is_vast(fl) && !is_marked(s)) {
            s->open.n = 0;
            s->nesting = NEST_PUT_OFF;
            return true;
        }
        if (!fl->parent && !start_nesting(fl)) return false;
        fl->parent[at] = top->at + 1;
        if (top->start_ps == start_ps && top->end_ps == end_ps) {
            top->at = at;
            top->n++;
            return true;
        }
    }
    if (!(top = PUSH(s->open))) return false;
    *top = (Open){start_ps, end_ps, at, 1};
    return true;
}

static void end_nesting(Scan *s, uint32_t n) { NEST_CLOSE_ALL(s->open, close_last(s, n)); }

static bool mark_context(Scan *s, uint32_t at, bool produces, const EventAt *e)
{
    ForestLine *fl = s->line;
    ContextMark mark = {at, context_scope(&s->numbers, &s->plane->context, produces),
                        context_id(&s->numbers, produces)};
    if (fl->role == ROLE_LENDER) {
        LentMark *lent = PUSH(fl->lent);
        if (lent)
            *lent =
                (LentMark){mark, produces, e->start_ps, add_saturated(e->start_ps, e->duration_ps)};
        return lent != NULL;
    }
    ContextMark *place = produces ? PUSH(fl->produced) : PUSH(fl->consumed);
    if (place) *place = mark;
    return place != NULL;
}

static bool mark_contexts(Scan *s, uint32_t at, const EventAt *e)
{
    if (has_context(&s->numbers, true) && !mark_context(s, at, true, e)) return false;
    return !has_context(&s->numbers, false) || mark_context(s, at, false, e);
}

static bool mark_root(Scan *s, uint32_t at, enum EventType type, int64_t start_ps)
{
    const EventNumbers *n = &s->numbers;
    int32_t level;
    if (!event_root_level(n, type, &level)) return true;
    RootMark *mark = PUSH(s->line->roots);
    if (!mark) return false;
    *mark = (RootMark){at, level, start_ps, numbers_have(n, STAT_STEP_ID),
                       numbers_int(n, STAT_STEP_ID)};
    return true;
}

static bool mark_name(Scan *s, uint32_t at)
{
    const EventNumbers *n = &s->numbers;
    if (!numbers_have(n, STAT_GRAPH_TYPE) && !numbers_have(n, STAT_ITERATION) &&
        !numbers_have(n, STAT_STEP_NUM))
        return true;
    NameMark *mark = PUSH(s->line->names);
    if (!mark) return false;
    *mark = (NameMark){at,
                       numbers_have(n, STAT_GRAPH_TYPE),
                       numbers_have(n, STAT_ITERATION),
                       numbers_have(n, STAT_STEP_NUM),
                       numbers_int(n, STAT_ITERATION),
                       numbers_int(n, STAT_STEP_NUM)};
    return true;
}

static bool mark_by_type(Scan *s, uint32_t at, enum EventType type, const EventAt *e)
{
    const EventNumbers *n = &s->numbers;
    if (type == EVENT_EAGER_EXECUTE) {
        EagerMark *mark = PUSH(s->line->eagers);
        if (!mark) return false;
        *mark =
            (EagerMark){at, numbers_have(n, STAT_IS_FUNCTION) && !numbers_int(n, STAT_IS_FUNCTION)};
    } else if (type == EVENT_CAPTURED_FUNCTION && numbers_have(n, STAT_STEP_ID)) {
        int64_t *step = PUSH(s->line->captured_steps);
        if (!step) return false;
        *step = numbers_int(n, STAT_STEP_ID);
    } else if ((type == EVENT_EXECUTOR_PROCESS || type == EVENT_GET_NEXT ||
                type == EVENT_GET_NEXT_OPTIONAL) &&
               numbers_have(n, STAT_STEP_ID) && numbers_have(n, STAT_ITERATION)) {
        IterationMark *mark = PUSH(s->line->iterations);
        if (!mark) return false;
        *mark = (IterationMark){at, type, n->by_stat[STAT_STEP_ID], n->by_stat[STAT_ITERATION],
                                e->start_ps};
    }
    return true;
}

static void note_correlation(Scan *s, size_t i, enum EventType type)
{
    bool untyped = type == EVENT_UNTYPED || type == EVENT_START_REGION || type == EVENT_STOP_REGION,
         known = numbers_have(&s->numbers, STAT_CORRELATION_ID);
    enum Correlation c = NOT_CORRELATED;
    if (untyped && known) c = s->plane->context.is_host ? CORRELATED_LAUNCH : CORRELATED_KERNEL;
    if (type == EVENT_KERNEL_LAUNCH && known) c = CORRELATED_LAUNCH;
    if (type == EVENT_KERNEL_EXECUTE) c = known ? CORRELATED_KERNEL : ASKS_EAGER;
    if (type == EVENT_TF_OP) c = ASKS_EAGER;
    if (c == NOT_CORRELATED) return;
    s->correlations[i] = c;
    s->ids[i] = (int64_t)numbers_u64(&s->numbers, STAT_CORRELATION_ID);
    s->any_in_hand = true;
}

static bool pack_correlations(Scan *s, uint64_t next_event)
{
    ForestLine *fl = s->line;
    size_t chunk = (size_t)(next_event - 1) / CHUNK_EVENTS,
           n = (size_t)(next_event - chunk * CHUNK_EVENTS);
    if (!s->any_in_hand) return true;
    if (!fl->correlations) {
        fl->correlations = arena_alloc(&fl->arena, fl->line->n_chunks * sizeof *fl->correlations);
        fl->correlation_ids =
            arena_alloc(&fl->arena, fl->line->n_chunks * sizeof *fl->correlation_ids);
        if (!fl->correlations || !fl->correlation_ids) return false;
    }
    bool memory = packed_make(&fl->correlations[chunk], &fl->arena, s->correlations, n) &&
                  packed_make(&fl->correlation_ids[chunk], &fl->arena, s->ids, n);
    s->any_in_hand = false;
    memset(s->correlations, 0, sizeof s->correlations), memset(s->ids, 0, sizeof s->ids);
    return memory;
}

/* Records the start or end of a region: a StartRegion with a consumer opens one, and each
 * StopRegion after it ends one. */
static bool note_region(Scan *s, enum EventType type, int64_t start_ps)
{
    if (type == EVENT_START_REGION && numbers_have(&s->numbers, STAT_CONSUMER)) {
        s->region_open = start_ps != 0;
        s->region_start_ps = start_ps;
    } else if (type == EVENT_STOP_REGION && s->region_open) {
        Region *region = PUSH(s->line->regions);
        if (!region) return false;
        *region = (Region){s->region_start_ps, start_ps, -1};
    }
    return true;
}

/* Returns an event's type. On a TPU, names are read only if its events are nodes. */
static enum EventType type_of(Scan *s, const EventMeta *meta)
{
    size_t i = (size_t)(meta - s->line->line->plane->event_metas);
    if (!s->step_types) return (enum EventType)s->plane->types[i];
    if (!s->step_types[i]) s->step_types[i] = (uint8_t)(event_type(meta->name) + 1);
    return (enum EventType)(s->step_types[i] - 1);
}

/* Reads the marks of an event. *async: it does not nest. */
static bool mark_event(Scan *s, uint32_t at, enum EventType type, const EventAt *e, bool *async)
{
    ForestLine *fl = s->line;
    bool any =
        event_numbers_read(&s->numbers, &s->plane->context, fl->line, type, stat_iter_of_event(e));
    if (any && !mark_contexts(s, at, e)) return false;
    if (fl->role == ROLE_LENDER) return true;
    if (any) {
        *async = numbers_int(&s->numbers, STAT_ASYNC) != 0;
        if (!mark_name(s, at) || !mark_by_type(s, at, type, e)) return false;
    }
    if (type == EVENT_EAGER_EXECUTE && !any && !mark_by_type(s, at, type, e)) return false;
    note_correlation(s, at % CHUNK_EVENTS, type);
    if (fl->role == ROLE_STEPS) return true;
    if ((any || type == EVENT_TRACE_CONTEXT) && !mark_root(s, at, type, e->start_ps)) return false;
    return s->forest->as_written || (type != EVENT_START_REGION && type != EVENT_STOP_REGION) ||
           note_region(s, type, e->start_ps);
}

static bool add_event(Scan *s, uint32_t at, const EventAt *e)
{
    ForestLine *fl = s->line;
    enum EventType type = type_of(s, e->meta);
    bool async = false,
         plain = !event_has_stats(e) &&
                 (type == EVENT_UNTYPED || type == EVENT_NAMED || type == EVENT_INTERNAL);
    if (!plain && !mark_event(s, at, type, e, &async)) return false;
    if (fl->role == ROLE_LENDER) return true;
    if (at % CHUNK_EVENTS == CHUNK_EVENTS - 1 && !pack_correlations(s, (uint64_t)at + 1))
        return false;
    if (fl->role == ROLE_STEPS) return true;
    if (!async)
        return s->nesting == NEST_PUT_OFF ||
               nest(s, at, e->start_ps, add_saturated(e->start_ps, e->duration_ps));
    Node *mark = PUSH(fl->asyncs);
    if (mark) *mark = at;
    return mark != NULL;
}

/* ---- a line with regions: sorted, and nested again ---- */

typedef struct {
    uint64_t offset_ps, duration_ps; /* as XProf compares them: negative values are very large */
    uint32_t event;
} Placed;

static int by_start_then_longest(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, offset_ps, duration_ps, event);
}

static Placed placed_at(const Line *line, int64_t start_ps, int64_t duration_ps, uint32_t event)
{
    return (Placed){(uint64_t)start_ps - (uint64_t)line->start_ps, (uint64_t)duration_ps, event};
}

/* Moves the marks of events with the events. All kinds of marks start with their node. */
static void move_marks(void *items, size_t n, size_t item_bytes, const uint32_t *place)
{
    for (size_t i = 0; i < n; i++) {
        Node *node = (Node *)((char *)items + i * item_bytes);
        *node = place[*node];
    }
    sort_array(items, n, item_bytes, by_uint32);
}
#define MOVE(list) move_marks((list).items, (list).n, sizeof *(list).items, fl->place)

static bool read_times(Line *line, Placed *placed, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    uint32_t n = 0;
    event_reader_open(&reader, line, 0, err);
    for (; event_reader_next(&reader, &e); n++)
        placed[n] = placed_at(line, e.start_ps, e.duration_ps, n);
    event_reader_close(&reader);
    return !err->code;
}

static bool sort_line(Scan *s, ProfErr *err)
{
    ForestLine *fl = s->line;
    uint32_t n_events = (uint32_t)fl->line->n_events, n = n_events + (uint32_t)fl->regions.n;
    prof_free(fl->parent), prof_free(fl->end);
    fl->parent = fl->end = NULL, s->nesting = NEST_ALWAYS;
    Placed *placed = prof_buffer(n * sizeof *placed);
    fl->order = prof_buffer(n * sizeof *fl->order);
    fl->place = prof_buffer(n * sizeof *fl->place);
    uint8_t *async = prof_alloc(n);
    if (!placed || !fl->order || !fl->place || !async || !start_nesting(fl)) prof_nomem(err);
    if (!err->code && read_times(fl->line, placed, err)) {
        for (size_t i = 0; i < fl->regions.n; i++) {
            const Region *r = &fl->regions.items[i];
            int64_t duration_ps = (int64_t)((uint64_t)r->end_ps - (uint64_t)r->start_ps);
            placed[n_events + i] =
                placed_at(fl->line, r->start_ps, duration_ps, n_events + (uint32_t)i);
        }
        for (size_t i = 0; i < fl->asyncs.n; i++) async[fl->asyncs.items[i]] = 1;
        sort_array(placed, n, sizeof *placed, by_start_then_longest);
        interrupt_poll(n, err);
        for (uint32_t i = 0; i < n; i++)
            fl->order[i] = placed[i].event, fl->place[placed[i].event] = i;
        for (uint32_t i = 0; i < n && !err->code; i++) {
            if (i % CHUNK_EVENTS == 0 && interrupt_poll(CHUNK_EVENTS, err)) break;
            int64_t start_ps = (int64_t)((uint64_t)fl->line->start_ps + placed[i].offset_ps);
            if (!async[placed[i].event] &&
                !nest(s, i, start_ps, add_saturated(start_ps, (int64_t)placed[i].duration_ps)))
                prof_nomem(err);
        }
        end_nesting(s, n);
        MOVE(fl->produced), MOVE(fl->consumed), MOVE(fl->roots), MOVE(fl->iterations),
            MOVE(fl->eagers), MOVE(fl->names);
    }
    prof_free(placed);
    prof_free(async);
    return !err->code;
}

/* Nests a line after the scan, if that was postponed. */
static void nest_after_all(Scan *s, ProfErr *err)
{
    const Node *async = s->line->asyncs.items, *end = async + s->line->asyncs.n;
    EventReader reader;
    EventAt e;
    uint32_t at = 0;
    event_reader_open(&reader, s->line->line, 0, err);
    for (; event_reader_next(&reader, &e); at++) {
        if (async < end && *async == at)
            async++;
        else if (!nest(s, at, e.start_ps, add_saturated(e.start_ps, e.duration_ps)))
            prof_nomem(err);
    }
    event_reader_close(&reader);
    end_nesting(s, at);
}

/* ---- all lines ---- */

/* Returns whether no stat of the line can matter. */
static bool is_silent(const ForestLine *fl, const ForestPlane *fp)
{
    return fl->role == ROLE_LENDER &&
           !(fp->context.filter.any && line_has(fl->line, &fp->context.filter.wanted));
}

static void scan_line(void *context, size_t i, ProfErr *err)
{
    Forest *f = context;
    ForestLine *fl = &f->lines[i];
    const ForestPlane *fp = fl->role ? &f->planes[fl->line->plane - f->host->planes] : NULL;
    if (!fp || is_silent(fl, fp)) return;
    Scan *s = prof_alloc(sizeof *s);
    if (!s) {
        prof_nomem(err);
        return;
    }
    s->forest = f, s->line = fl, s->plane = fp;
    if (fl->role == ROLE_STEPS && !(s->step_types = prof_alloc(fl->line->plane->n_event_metas)))
        prof_nomem(err);
    EventReader reader;
    EventAt e;
    uint32_t at = 0;
    event_reader_open_for(&reader, fl->line, &fp->context.filter.wanted, err);
    for (; event_reader_next(&reader, &e); at++)
        if (!add_event(s, at, &e)) prof_nomem(err);
    event_reader_close(&reader);
    if (!err->code && at && !pack_correlations(s, at)) prof_nomem(err);
    end_nesting(s, at);
    if (!err->code && fl->regions.n)
        sort_line(s, err);
    else if (!err->code && s->nesting == NEST_PUT_OFF && is_marked(s))
        nest_after_all(s, err);
    fl->n = fl->role == ROLE_LENDER ? 0 : at + (uint32_t)fl->regions.n;
    prof_free(s->step_types);
    prof_free(s->open.items);
    prof_free(s);
}

bool forest_scan(Forest *f, ProfErr *err)
{
    Host *host = f->host;
    for (size_t i = 0; i < host->n_planes; i++) {
        if (!prepare_plane(f, &f->planes[i], &host->planes[i], err)) return false;
        choose_roles(f, &host->planes[i]);
    }
    if (!threads_matter(f)) leave_threads_out(f);
    return !parallel_lines(host->lines, host->n_lines, scan_line, f, err);
}
