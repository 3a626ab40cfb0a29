/* nesting.c: self time, depth and parents on a line, totals by name, and events ordered by name.
 *
 * An event nests in the innermost earlier event of its line that includes it: parent.start <= start and end <= parent.end,
 * both closed, the longer first where two begin together. Its self time is its duration without its direct children's.
 * Lines are nearly always stored in that order; others are sorted for the walk. */
#include "../format/xspace.h"

typedef struct {
    int64_t start, end, duration, self;
    uint64_t event; /* ordinal on the line */
    uint32_t meta;
} Open;

typedef struct {
    Line *line;
    Open *stack;
    size_t depth, capacity;
    /* called when an event's self time is known */
    void (*close)(void *context, const Open *event);
    /* called when its place is known */
    void (*open)(void *context, uint64_t event, uint64_t parent_distance, size_t depth);
    void *context;
} Walk;

static void pop(Walk *w)
{
    w->depth--;
    w->close(w->context, &w->stack[w->depth]);
}

static bool push(Walk *w, Open event)
{
    while (w->depth && !(w->stack[w->depth - 1].start <= event.start && event.end <= w->stack[w->depth - 1].end)) pop(w);
    if (w->depth) w->stack[w->depth - 1].self = add_saturated(w->stack[w->depth - 1].self, event.duration == INT64_MIN ? INT64_MAX : -event.duration);
    if (w->open) w->open(w->context, event.event, w->depth ? event.event - w->stack[w->depth - 1].event : 0, w->depth);
    if (!GROW(w->stack, w->depth, w->capacity)) return false;
    w->stack[w->depth++] = event;
    return true;
}

static int outer_first(const void *a, const void *b)
{
    const Open *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->duration != y->duration) return x->duration > y->duration ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int walk_line(Walk *w, ProfErr *err)
{
    const Line *line = w->line;
    ChunkValues *v = prof_alloc(sizeof *v);
    Open *sorted = line->ordered ? NULL : prof_alloc((size_t)line->n_events * sizeof *sorted);
    Window window = {.file = &line->plane->host->file};
    if (!v || (!line->ordered && !sorted)) prof_nomem(err);
    uint64_t event = 0;
    for (size_t c = 0; c < line->n_chunks && !err->code; c++) {
        const Chunk *chunk = &line->chunks[c];
        if (chunk_read(line, chunk, 1 << COL_OFFSET | 1 << COL_DURATION | 1 << COL_META | 1 << COL_AGGREGATED, v, &window, err)) break;
        for (uint32_t i = 0; i < chunk->n_events; i++, event++) {
            int64_t start = v->columns[COL_AGGREGATED][i] ? 0 : v->columns[COL_OFFSET][i], duration = v->columns[COL_DURATION][i];
            Open e = {start, add_saturated(start, duration), duration, duration, event, (uint32_t)v->columns[COL_META][i]};
            if (sorted)
                sorted[event] = e;
            else if (!push(w, e)) {
                prof_nomem(err);
                break;
            }
        }
    }
    if (sorted && !err->code) {
        qsort(sorted, (size_t)event, sizeof *sorted, outer_first);
        for (uint64_t i = 0; i < event && !err->code; i++)
            if (!push(w, sorted[i])) prof_nomem(err);
    }
    while (w->depth && !err->code) pop(w);
    window_free(&window);
    prof_free(w->stack);
    prof_free(sorted);
    prof_free(v);
    return err->code;
}

/* ---- columns ---- */

typedef struct {
    int64_t *columns[N_NESTING_COLUMNS]; /* of the whole line */
} NestingColumns;

static void keep_self(void *context, const Open *event) { ((NestingColumns *)context)->columns[NEST_SELF][event->event] = event->self; }

static void keep_place(void *context, uint64_t event, uint64_t parent_distance, size_t depth)
{
    NestingColumns *n = context;
    n->columns[NEST_DEPTH][event] = (int64_t)depth;
    n->columns[NEST_PARENT][event] = (int64_t)parent_distance;
}

static NestingChunk *make_nesting(Line *line, ProfErr *err)
{
    Arena *arena = &line->plane->host->run->derived_arena;
    NestingColumns n = {{NULL}};
    NestingChunk *chunks = NULL;
    bool memory = true;
    for (int c = 0; c < N_NESTING_COLUMNS; c++) memory &= (n.columns[c] = prof_alloc((size_t)line->n_events * sizeof(int64_t))) != NULL;
    Walk walk = {.line = line, .close = keep_self, .open = keep_place, .context = &n};
    if (!memory || !(chunks = arena_alloc(arena, line->n_chunks * sizeof *chunks))) {
        prof_nomem(err);
    } else if (!walk_line(&walk, err)) {
        for (size_t i = 0; i < line->n_chunks && memory; i++)
            for (int c = 0; c < N_NESTING_COLUMNS && memory; c++)
                memory = packed_make(&chunks[i].columns[c], arena, n.columns[c] + i * CHUNK_EVENTS, line->chunks[i].n_events);
        if (!memory) prof_nomem(err);
    }
    for (int c = 0; c < N_NESTING_COLUMNS; c++) prof_free(n.columns[c]);
    return err->code ? NULL : chunks;
}

const NestingChunk *line_nesting(Line *line, ProfErr *err)
{
    Run *run = line->plane->host->run;
    pthread_mutex_lock(&run->lock);
    if (!line->nesting) line->nesting = make_nesting(line, err);
    pthread_mutex_unlock(&run->lock);
    return line->nesting;
}

/* ---- totals ---- */

typedef struct {
    uint32_t *index; /* metadata -> position in totals + 1 */
    LineTotal *totals;
    size_t n, capacity;
    bool failed;
} Totals;

static void add_total(void *context, const Open *e)
{
    Totals *t = context;
    uint32_t *index = &t->index[e->meta];
    if (!*index) {
        if (!GROW(t->totals, t->n, t->capacity)) {
            t->failed = true;
            return;
        }
        t->totals[t->n] = (LineTotal){.meta = e->meta, .min_ps = INT64_MAX, .max_ps = INT64_MIN};
        *index = (uint32_t)++t->n;
    }
    LineTotal *total = &t->totals[*index - 1];
    total->count++;
    total->total_ps = add_saturated(total->total_ps, e->duration);
    total->self_ps = add_saturated(total->self_ps, e->self);
    if (e->duration < total->min_ps) total->min_ps = e->duration;
    if (e->duration > total->max_ps) total->max_ps = e->duration;
}

static int by_meta(const void *a, const void *b)
{
    const LineTotal *x = a, *y = b;
    return x->meta < y->meta ? -1 : x->meta > y->meta;
}

bool line_totals(Line *line, ProfErr *err)
{
    Run *run = line->plane->host->run;
    bool made = __atomic_load_n(&line->totals_made, __ATOMIC_ACQUIRE);
    if (made || !line->n_events) return true;
    Totals t = {.index = prof_alloc(line->plane->n_event_metas * sizeof *t.index)};
    Walk walk = {.line = line, .close = add_total, .context = &t};
    if (!t.index)
        prof_nomem(err);
    else if (!walk_line(&walk, err) && t.failed)
        prof_nomem(err);
    if (!err->code) {
        qsort(t.totals, t.n, sizeof *t.totals, by_meta);
        pthread_mutex_lock(&run->lock);
        if (!line->totals_made) {
            LineTotal *kept = arena_alloc(&run->derived_arena, t.n * sizeof *kept);
            if (kept) {
                line->totals = memcpy(kept, t.totals, t.n * sizeof *kept), line->n_totals = t.n;
                __atomic_store_n(&line->totals_made, true, __ATOMIC_RELEASE);
            } else {
                prof_nomem(err);
            }
        }
        pthread_mutex_unlock(&run->lock);
    }
    prof_free(t.index);
    prof_free(t.totals);
    return !err->code;
}

typedef struct {
    Run *run;
    atomic_uint next;
    pthread_mutex_t lock;
    ProfErr err;
} TotalsJob;

static void *totals_work(void *argument)
{
    TotalsJob *job = argument;
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->run->n_lines;) {
        ProfErr err = {0};
        if (line_totals(job->run->lines[i], &err)) continue;
        pthread_mutex_lock(&job->lock);
        if (!job->err.code) job->err = err;
        pthread_mutex_unlock(&job->lock);
        break;
    }
    return NULL;
}

bool run_totals(Run *run, ProfErr *err)
{
    enum { FEW_EVENTS = 200000 };
    TotalsJob job = {.run = run};
    pthread_t threads[64];
    size_t n = 0;
    pthread_mutex_init(&job.lock, NULL);
    if (run->n_events > FEW_EVENTS)
        while (n + 1 < run->n_workers && !pthread_create(&threads[n], NULL, totals_work, &job)) n++;
    totals_work(&job);
    while (n) pthread_join(threads[--n], NULL);
    pthread_mutex_destroy(&job.lock);
    if (job.err.code && !err->code) *err = job.err;
    return !err->code;
}

/* ---- order ---- */

typedef struct {
    const EventMeta *meta;
    uint32_t rank;
} Ranked;

static int by_name(const void *a, const void *b)
{
    const Text *x = (*(Ranked *const *)a)->meta->name, *y = (*(Ranked *const *)b)->meta->name;
    if (x == y) return 0;
    uint32_t n = x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes;
    int c = memcmp(x->text, y->text, n);
    return c ? c : x->n_bytes < y->n_bytes ? -1 : x->n_bytes > y->n_bytes;
}

/* Counting sort of all events by the rank of their name. */
static EventOrder *make_order(Run *run, ProfErr *err)
{
    size_t n_metas = 0, at = 0;
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes; i++) n_metas += run->hosts[h].planes[i].n_event_metas;
    Ranked *ranked = prof_alloc(n_metas * sizeof *ranked), **sorted = prof_alloc(n_metas * sizeof *sorted);
    uint32_t *plane_base = prof_alloc(run->n_planes * sizeof *plane_base);
    uint64_t *starts = prof_alloc((n_metas + 1) * sizeof *starts);
    ChunkValues *v = prof_alloc(sizeof *v);
    EventOrder *order = prof_alloc(sizeof *order);
    if (!ranked || !sorted || !plane_base || !starts || !v || !order) {
        prof_nomem(err);
        goto done;
    }
    for (size_t h = 0, p = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes; i++, p++) {
            const Plane *plane = &run->hosts[h].planes[i];
            plane_base[p] = (uint32_t)at;
            for (size_t k = 0; k < plane->n_event_metas; k++, at++) ranked[at].meta = &plane->event_metas[k], sorted[at] = &ranked[at];
        }
    qsort(sorted, n_metas, sizeof *sorted, by_name);
    uint32_t rank = 0;
    for (size_t i = 0; i < n_metas; i++) {
        if (i && by_name(&sorted[i - 1], &sorted[i])) rank++;
        sorted[i]->rank = rank;
    }
    order->n_events = run->n_events;
    bool wide = run->n_events > UINT32_MAX;
    size_t n_blocks = (size_t)(run->n_events / ORDER_BLOCK + 1);
    if (wide)
        order->wide = prof_alloc(n_blocks * sizeof *order->wide);
    else
        order->blocks = prof_alloc(n_blocks * sizeof *order->blocks);
    if (!order->wide && !order->blocks) prof_nomem(err);
    for (size_t i = 0; i * ORDER_BLOCK < run->n_events && !err->code; i++) {
        if (wide ? !(order->wide[i] = prof_alloc(ORDER_BLOCK * sizeof **order->wide)) : !(order->blocks[i] = prof_alloc(ORDER_BLOCK * sizeof **order->blocks)))
            prof_nomem(err);
    }
    for (int pass = 0; pass < 2 && !err->code; pass++) {
        for (uint32_t l = 0; l < run->n_lines && !err->code; l++) {
            const Line *line = run->lines[l];
            uint64_t event = line->first_event;
            uint32_t base = plane_base[line->plane->plane_id];
            Window window = {.file = &line->plane->host->file};
            for (size_t c = 0; c < line->n_chunks && !err->code; c++) {
                if (chunk_read(line, &line->chunks[c], 1 << COL_META, v, &window, err)) break;
                for (uint32_t i = 0; i < line->chunks[c].n_events; i++, event++) {
                    uint32_t r = ranked[base + (size_t)v->columns[COL_META][i]].rank;
                    if (!pass) {
                        starts[r + 1]++;
                    } else {
                        uint64_t to = starts[r]++;
                        if (wide)
                            order->wide[to / ORDER_BLOCK][to % ORDER_BLOCK] = event;
                        else
                            order->blocks[to / ORDER_BLOCK][to % ORDER_BLOCK] = (uint32_t)event;
                    }
                }
            }
            window_free(&window);
        }
        for (size_t r = 0; !pass && r < n_metas; r++) starts[r + 1] += starts[r];
    }
done:
    prof_free(ranked);
    prof_free(sorted);
    prof_free(plane_base);
    prof_free(starts);
    prof_free(v);
    if (err->code && order) {
        event_order_free(order);
        order = NULL;
    }
    return order;
}

const EventOrder *run_order_by_name(Run *run, ProfErr *err)
{
    pthread_mutex_lock(&run->lock);
    if (!run->by_name) run->by_name = make_order(run, err);
    pthread_mutex_unlock(&run->lock);
    return run->by_name;
}

void event_order_free(EventOrder *order)
{
    if (!order) return;
    for (uint64_t i = 0; i * ORDER_BLOCK < order->n_events; i++) {
        if (order->blocks) prof_free(order->blocks[i]);
        if (order->wide) prof_free(order->wide[i]);
    }
    prof_free(order->blocks);
    prof_free(order->wide);
    prof_free(order);
}
