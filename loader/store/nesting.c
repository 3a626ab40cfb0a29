// SPDX-License-Identifier: Apache-2.0
/* nesting.c: self time, depth and parents on a line, and totals by metadata.
 *
 * An event nests in the innermost earlier event of its line that includes it: parent.start <= start
 * and end <= parent.end. Of events with equal starts, the longer comes first. The self time of an
 * event is its duration without its direct children's. Nearly all lines are stored in that order;
 * others are sorted for the walk. */
#include "../base/interrupt.h"
#include "../base/nest.h"
#include "../base/sort.h"
#include "chunks.h"
#include "lines.h"

/* An event, in the order of the walk. */
typedef struct {
    int64_t start, duration;
    uint64_t event, place; /* index on the line, and position in the walk */
    uint32_t meta;
} Met;

/* Open events with the same start and end share one entry: each is the only child of the one
 * before, which is closed then, so that only the last can get children. Starts need not be kept,
 * because the walk visits events by start. */
typedef struct {
    int64_t start, end, self; /* self: of the last event */
    uint64_t place;           /* position of the last event in the walk */
    uint32_t n, meta;         /* n: number of events; meta: of the last */
} Open;

/* An event of a line that is not stored in order. Such a line has less than 2^31 events. */
typedef struct {
    union {
        struct {
            int64_t start, duration;
        };
        struct { /* filled in by the walk */
            int64_t self;
            int32_t depth, parent; /* parent: distance to it */
        };
    };
    uint32_t event, meta;
} Unordered;

typedef struct {
    Line *line;
    LIST(Open) open;
    uint64_t depth;
    bool failed;       /* memory ran out */
    Unordered *sorted; /* the events in the order of the walk, if the line is not stored in order */
    /* Called for each event in the order of the walk, with its parent. False: memory ran out. */
    bool (*meet)(void *context, const Met *event, int64_t parent_distance, uint64_t depth);
    /* Called when an event's self time is known. False: memory ran out. */
    bool (*close)(void *context, const Open *event);
    void *context;
} Walk;

static uint64_t event_at(const Walk *w, uint64_t place)
{
    return w->sorted ? w->sorted[place].event : place;
}

static void close_last(Walk *w)
{
    const Open *closed = &w->open.items[w->open.n];
    w->depth -= closed->n;
    if (!w->failed) w->failed = !w->close(w->context, closed);
}

static bool push(Walk *w, const Met *event)
{
    int64_t end = add_saturated(event->start, event->duration);
    Open *top = NEST_AROUND(w->open, start, end, event->start, end, close_last(w)), *opened;
    if (w->failed) return false;
    if (top)
        top->self =
            add_saturated(top->self, event->duration == INT64_MIN ? INT64_MAX : -event->duration);
    /* Unsigned, because on a line that is not stored in order a parent may follow its child. */
    if (!w->meet(w->context, event, top ? (int64_t)(event->event - event_at(w, top->place)) : 0,
                 w->depth++))
        return false;
    if (top && top->start == event->start && top->end == end && top->n < UINT32_MAX) {
        if (!w->close(w->context, top)) return false;
        top->self = event->duration, top->place = event->place, top->meta = event->meta, top->n++;
        return true;
    }
    if (!(opened = PUSH(w->open))) return false;
    *opened = (Open){event->start, end, event->duration, event->place, 1, event->meta};
    return true;
}

static int by_start_then_longest(const void *a, const void *b)
{
    const Unordered *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, duration, event);
}

/* The caller frees w->sorted. */
static int walk_line(Walk *w, ProfErr *err)
{
    const Line *line = w->line;
    ChunkValues *v = prof_alloc(sizeof *v);
    if (!line->ordered && line->n_events > INT32_MAX) line_too_long(line, "nested", err);
    Unordered *sorted = w->sorted =
        line->ordered || err->code ? NULL : prof_buffer((size_t)line->n_events * sizeof *sorted);
    Window window = {.file = &line->plane->host->file};
    if (!v || (!line->ordered && !sorted)) prof_nomem(err); /* the first error counts */
    uint64_t event = 0;
    for (size_t c = 0; c < line->n_chunks && !err->code; c++) {
        const Chunk *chunk = &line->chunks[c];
        if (chunk_read(line, chunk, CHUNK_TIMES | CHUNK_METAS, v, &window, err)) break;
        for (uint32_t i = 0; i < chunk->n_events && !err->code; i++, event++) {
            Met met = {chunk_offset(v, i), chunk_duration(v, i), event, event, chunk_meta(v, i)};
            if (sorted)
                sorted[event] = (Unordered){.start = met.start,
                                            .duration = met.duration,
                                            .event = (uint32_t)event,
                                            .meta = met.meta};
            else if (!push(w, &met))
                prof_nomem(err);
        }
    }
    if (sorted && !err->code) {
        sort_in_place(sorted, (size_t)event, sizeof *sorted, by_start_then_longest);
        for (uint64_t i = 0;
             i < event && (i % CHUNK_EVENTS || !interrupt_poll(CHUNK_EVENTS, err)) && !err->code;
             i++)
            if (!push(w, &(Met){sorted[i].start, sorted[i].duration, sorted[i].event, i,
                                sorted[i].meta}))
                prof_nomem(err);
    }
    if (!err->code) NEST_CLOSE_ALL(w->open, close_last(w));
    if (w->failed) prof_nomem(err);
    window_free(&window);
    prof_free(w->open.items);
    prof_free(v);
    return err->code;
}

/* ---- columns ----
 * A chunk is packed when the walk leaves it. Events that are still open get their self time
 * later, as a patch. A line that is not stored in order is walked across its chunks, so all its
 * values are needed at once. */

typedef struct {
    uint64_t event;
    int64_t self;
} Patch;

/* Each has an arena of its own, because lines are nested in parallel. */
typedef struct {
    Arena arena;
    NestingChunk *chunks;
} Nesting;

typedef struct {
    Line *line;
    Arena *arena;
    NestingChunk *chunks;
    int64_t (*columns)[CHUNK_EVENTS]; /* of the current chunk */
    size_t in_hand;                   /* index of the current chunk */
    Walk *walk;
    Patch *patches;
    size_t n_patches, capacity;
} NestingMaker;

static bool pack_chunk(NestingMaker *m, size_t chunk)
{
    uint32_t n = m->line->chunks[chunk].n_events;
    for (uint32_t i = 0; i < n && m->walk->sorted; i++) {
        const Unordered *place = &m->walk->sorted[chunk * CHUNK_EVENTS + i];
        m->columns[NEST_SELF][i] = place->self, m->columns[NEST_DEPTH][i] = place->depth,
        m->columns[NEST_PARENT][i] = place->parent;
    }
    for (int c = 0; c < N_NESTING_COLUMNS; c++)
        if (!packed_make(&m->chunks[chunk].columns[c], m->arena, m->columns[c], n)) return false;
    return true;
}

static bool keep_place(void *context, const Met *met, int64_t parent_distance, uint64_t depth)
{
    NestingMaker *m = context;
    size_t at = (size_t)met->event;
    if (m->walk->sorted) {
        Unordered *place = &m->walk->sorted[met->place];
        place->depth = (int32_t)depth;
        place->parent = (int32_t)parent_distance;
        return true;
    }
    if (at / CHUNK_EVENTS != m->in_hand && !pack_chunk(m, m->in_hand)) return false;
    m->in_hand = at / CHUNK_EVENTS;
    at %= CHUNK_EVENTS;
    m->columns[NEST_SELF][at] = 0;
    m->columns[NEST_DEPTH][at] = (int64_t)depth;
    m->columns[NEST_PARENT][at] = parent_distance;
    return true;
}

static bool keep_self(void *context, const Open *closed)
{
    NestingMaker *m = context;
    uint64_t event = closed->place;
    int64_t self_ps = closed->self;
    if (m->walk->sorted) {
        m->walk->sorted[event].self = self_ps;
        return true;
    }
    if (event / CHUNK_EVENTS == m->in_hand) {
        m->columns[NEST_SELF][event % CHUNK_EVENTS] = self_ps;
        return true;
    }
    if (!self_ps) return true; /* it was packed as 0 */
    if (!GROW(m->patches, m->n_patches, m->capacity)) return false;
    m->patches[m->n_patches++] = (Patch){event, self_ps};
    return true;
}

ORDER_BY(by_event, Patch, event)

static bool apply_patches(NestingMaker *m)
{
    sort_in_place(m->patches, m->n_patches, sizeof *m->patches, by_event);
    for (size_t i = 0; i < m->n_patches;) {
        size_t chunk = (size_t)(m->patches[i].event / CHUNK_EVENTS),
               n = m->line->chunks[chunk].n_events;
        Packed *packed = &m->chunks[chunk].columns[NEST_SELF];
        packed_read(packed, m->columns[NEST_SELF], n);
        for (; i < m->n_patches && m->patches[i].event / CHUNK_EVENTS == chunk; i++)
            m->columns[NEST_SELF][m->patches[i].event % CHUNK_EVENTS] = m->patches[i].self;
        if (!packed_make(packed, m->arena, m->columns[NEST_SELF], n)) return false;
    }
    return true;
}

/* Moves events from the order of the walk to that of the line, in place. */
static void put_in_place(Unordered *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        while (events[i].event != i) {
            Unordered there = events[events[i].event];
            events[events[i].event] = events[i];
            events[i] = there;
        }
}

static void release_nesting(void *result)
{
    Nesting *nesting = result;
    arena_free(&nesting->arena);
    prof_free(nesting);
}

static void fill_nesting(Line *line, Nesting *out, ProfErr *err)
{
    NestingMaker m = {.line = line, .arena = &out->arena};
    bool memory = (m.chunks = arena_alloc(m.arena, line->n_chunks * sizeof *m.chunks)) != NULL;
    memory = memory && (m.columns = prof_alloc(N_NESTING_COLUMNS * sizeof *m.columns));
    Walk walk = {.line = line, .meet = keep_place, .close = keep_self, .context = &m};
    m.walk = &walk;
    if (!memory) {
        prof_nomem(err);
    } else if (!walk_line(&walk, err)) {
        if (line->ordered) {
            memory = pack_chunk(&m, m.in_hand) && apply_patches(&m);
        } else {
            put_in_place(walk.sorted, (size_t)line->n_events);
            for (size_t i = 0; i < line->n_chunks && memory && !interrupt_poll(CHUNK_EVENTS, err);
                 i++)
                memory = pack_chunk(&m, i);
        }
        if (!memory) prof_nomem(err);
        interrupt_poll(0, err); /* patches may be unsorted then */
    }
    prof_free(m.patches);
    prof_free(walk.sorted);
    prof_free(m.columns);
    out->chunks = m.chunks;
}

static void *make_nesting(Line *line, ProfErr *err)
{
    Nesting *nesting = prof_alloc(sizeof *nesting);
    if (!nesting) {
        prof_nomem(err);
        return NULL;
    }
    fill_nesting(line, nesting, err);
    if (!err->code) return nesting;
    release_nesting(nesting);
    return NULL;
}

static const LineAnalysis nesting_analysis = {make_nesting, release_nesting};

const NestingChunk *line_nesting(Line *line, ProfErr *err)
{
    const Nesting *nesting = line_analysis(line, &nesting_analysis, err);
    return nesting ? nesting->chunks : NULL;
}

static void nest_task(void *context, size_t i, ProfErr *err)
{
    Line *line = ((Line *const *)context)[i];
    if (!line_analysis_made(line, &nesting_analysis))
        line_analysis_keep(line, &nesting_analysis, make_nesting(line, err), err);
}

int lines_nest(Line **lines, size_t n, ProfErr *err)
{
    return parallel_lines_at(lines, n, nest_task, lines, err);
}

/* ---- totals ---- */

typedef struct {
    uint32_t *index; /* position in totals + 1, by metadata */
    LineTotal *totals;
    size_t n, capacity;
} Totals;

static bool add_met(void *context, const Met *met, int64_t parent_distance, uint64_t depth)
{
    (void)parent_distance, (void)depth;
    Totals *t = context;
    uint32_t *index = &t->index[met->meta];
    if (!*index) {
        if (!GROW(t->totals, t->n, t->capacity)) return false;
        t->totals[t->n] = (LineTotal){.meta = met->meta, .min_ps = INT64_MAX, .max_ps = INT64_MIN};
        *index = (uint32_t)++t->n;
    }
    LineTotal *total = &t->totals[*index - 1];
    total->count++;
    total->total_ps = add_saturated(total->total_ps, met->duration);
    if (met->duration < total->min_ps) total->min_ps = met->duration;
    if (met->duration > total->max_ps) total->max_ps = met->duration;
    return true;
}

static bool add_self(void *context, const Open *closed)
{
    Totals *t = context;
    LineTotal *total = &t->totals[t->index[closed->meta] - 1];
    total->self_ps = add_saturated(total->self_ps, closed->self);
    return true;
}

ORDER_BY(by_meta, LineTotal, meta)

static LineTotals *add_up(Line *line, MetaNumbers *numbers, ProfErr *err)
{
    Totals t = {.index = meta_numbers(numbers, line->plane, err)};
    Walk walk = {.line = line, .meet = add_met, .close = add_self, .context = &t};
    LineTotals *totals = NULL;
    if (t.index) walk_line(&walk, err);
    prof_free(walk.sorted);
    for (size_t i = 0; i < t.n; i++) t.index[t.totals[i].meta] = 0;
    sort_array(t.totals, t.n, sizeof *t.totals, by_meta);
    if (!interrupt_poll(t.n, err)) {
        if ((totals = prof_alloc(sizeof *totals + t.n * sizeof *t.totals))) {
            totals->n = t.n;
            if (t.n) memcpy(totals->items, t.totals, t.n * sizeof *t.totals);
        } else {
            prof_nomem(err);
        }
    }
    prof_free(t.totals);
    return totals;
}

static void *make_totals(Line *line, ProfErr *err)
{
    MetaNumbers numbers = {0};
    LineTotals *totals = add_up(line, &numbers, err);
    prof_free(numbers.numbers);
    return totals;
}

static const LineAnalysis totals_analysis = {make_totals, prof_free};

const LineTotals *line_totals(Line *line, ProfErr *err)
{
    static const LineTotals none;
    return line->n_events ? line_analysis(line, &totals_analysis, err) : &none;
}

static bool total_line(Line *line, MetaNumbers *numbers, ProfErr *err)
{
    if (!line->n_events || line_analysis_made(line, &totals_analysis)) return true;
    return line_analysis_keep(line, &totals_analysis, add_up(line, numbers, err), err);
}

static void *make_all_totals(Run *run, Host *only, ProfErr *err)
{
    (void)only;
    return run_each_line(run, total_line, err) ? run : NULL;
}

static void release_nothing(void *run) { (void)run; }

bool run_totals(Run *run, ProfErr *err)
{
    static const Analysis all = {make_all_totals, release_nothing, NEEDS_ALL_HOSTS};
    return run_analysis(run, NULL, &all, err) != NULL;
}
