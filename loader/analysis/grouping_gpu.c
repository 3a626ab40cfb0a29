/* grouping_gpu.c: a GPU's ungrouped events belong to the step of the grouped event before them; see grouping_parts.h.
 *
 * Before means by begin, then duration, over all streams of the GPU. Streams are nearly always stored by begin, so they are
 * merged as they are. Where they are not, or where the order of equal events decides, all events are sorted as XProf sorts
 * them. */
#include "grouping_parts.h"
#include "span_sort.h"

/* ---- a stream, read in its stored order ---- */

typedef struct {
    ForestLine *line;
    Window window;
    ChunkValues *values;
    size_t next_chunk;
    uint32_t i, n; /* in the chunk */
    SpanRef now;
} Stream;

/* Goes to the next event; false at the end or on errors. */
static bool stream_next(Stream *s, ProfErr *err)
{
    const Line *line = s->line->line;
    while (s->i == s->n) {
        if (s->next_chunk == line->n_chunks) return false;
        const Chunk *chunk = &line->chunks[s->next_chunk++];
        if (chunk_read(line, chunk, 1 << COL_OFFSET | 1 << COL_DURATION | 1 << COL_AGGREGATED, s->values, &s->window, err)) return false;
        s->i = 0, s->n = chunk->n_events;
    }
    uint32_t i = s->i++;
    s->now.start_ps = add_saturated(line->start_ps, s->values->columns[COL_AGGREGATED][i] ? 0 : s->values->columns[COL_OFFSET][i]);
    s->now.duration_ps = s->values->columns[COL_DURATION][i];
    s->now.at = (uint32_t)((s->next_chunk - 1) * CHUNK_EVENTS + i);
    return true;
}

typedef struct {
    Stream *streams;
    size_t n;
    uint32_t last;          /* group + 1 of the last grouped event, 0: none yet */
    LIST(SpanRef) together; /* events that begin together, not taken yet */
} Inherit;

static uint32_t *group_of(const Inherit *h, const SpanRef *ref)
{
    const ForestLine *fl = h->streams[ref->line].line;
    return &fl->group[fl->place ? fl->place[ref->at] : ref->at];
}

static void take(Inherit *h, const SpanRef *ref)
{
    uint32_t *group = group_of(h, ref);
    if (*group)
        h->last = *group;
    else
        *group = h->last;
}

static int by_duration(const void *a, const void *b)
{
    const SpanRef *x = a, *y = b;
    return x->duration_ps < y->duration_ps ? -1 : x->duration_ps > y->duration_ps;
}

/* Takes the events that begin together; false when they are equal and their order would matter. */
static bool take_together(Inherit *h)
{
    SpanRef *refs = h->together.items;
    if (h->together.n > 1) qsort(refs, h->together.n, sizeof *refs, by_duration);
    for (size_t i = 1; i < h->together.n; i++)
        if (!by_duration(&refs[i - 1], &refs[i]) && *group_of(h, &refs[i]) != *group_of(h, &refs[i - 1])) return false;
    for (size_t i = 0; i < h->together.n; i++) take(h, &refs[i]);
    h->together.n = 0;
    return true;
}

/* ---- merging ---- */

static void sift(Stream **heap, size_t n, size_t at)
{
    Stream *moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && heap[child + 1]->now.start_ps < heap[child]->now.start_ps) child++;
        if (heap[child]->now.start_ps >= moved->now.start_ps) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Walks all streams together. False without err set: they need sorting; what was taken by then is right. */
static bool merge(Inherit *h, ProfErr *err)
{
    enum { MOST_STREAMS = 64 };
    Stream *heap[MOST_STREAMS];
    size_t n = 0;
    if (h->n > MOST_STREAMS) return false;
    for (size_t i = 0; i < h->n; i++) {
        if (!h->streams[i].line->line->ordered) return false;
        if (!(h->streams[i].values = prof_alloc(sizeof *h->streams[i].values))) return prof_nomem(err), false;
    }
    for (size_t i = 0; i < h->n; i++)
        if (stream_next(&h->streams[i], err)) heap[n++] = &h->streams[i];
    for (size_t i = n / 2; i-- > 0;) sift(heap, n, i);
    while (n && !err->code) {
        SpanRef *now = &heap[0]->now, *place;
        if (h->together.n && h->together.items[0].start_ps < now->start_ps && !take_together(h)) return false;
        if (!(place = PUSH(h->together))) return prof_nomem(err), false;
        *place = *now;
        if (!stream_next(heap[0], err)) heap[0] = heap[--n];
        if (n) sift(heap, n, 0);
    }
    return !err->code && take_together(h);
}

/* ---- sorting ---- */

static bool sort_and_take(Inherit *h, uint64_t n_events, ProfErr *err)
{
    SpanRef *all = prof_alloc((size_t)n_events * sizeof *all);
    ChunkValues *values = prof_alloc(sizeof *values);
    size_t n = 0;
    if (!all || !values) prof_nomem(err);
    for (size_t i = 0; i < h->n && !err->code; i++) {
        Stream s = {.line = h->streams[i].line, .values = values, .window = h->streams[i].window, .now.line = (uint32_t)i};
        while (stream_next(&s, err)) all[n++] = s.now;
        h->streams[i].window = s.window;
    }
    h->last = 0;
    if (!err->code) {
        span_sort(all, n);
        for (size_t i = 0; i < n; i++) take(h, &all[i]);
    }
    prof_free(values);
    prof_free(all);
    return !err->code;
}

static bool needs_inheriting(const ForestLine *fl)
{
    if (!fl->group) return true;
    for (uint32_t i = 0; i < fl->n; i++)
        if (!fl->group[i]) return true;
    return false;
}

bool gpu_inherit(Forest *f, const Plane *plane, ProfErr *err)
{
    Inherit h = {.streams = prof_alloc(plane->n_lines * sizeof *h.streams)};
    bool any = false, needed = false;
    uint64_t n_events = 0;
    if (!h.streams) return prof_nomem(err), false;
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        ForestLine *fl = &f->lines[plane->first_line + i];
        if (fl->role != ROLE_THREAD || fl->line->derived) continue;
        any |= fl->group != NULL;
        needed |= needs_inheriting(fl);
        n_events += fl->line->n_events;
        h.streams[h.n] = (Stream){.line = fl, .window.file = &f->host->file, .now.line = (uint32_t)h.n};
        h.n++;
    }
    needed &= any;
    for (size_t i = 0; i < h.n && needed && !err->code; i++) {
        ForestLine *fl = h.streams[i].line;
        if (!fl->group && !(fl->group = prof_alloc(fl->n * sizeof *fl->group))) prof_nomem(err);
    }
    if (needed && !err->code && !merge(&h, err) && !err->code) sort_and_take(&h, n_events, err);
    for (size_t i = 0; i < h.n; i++) {
        window_free(&h.streams[i].window);
        prof_free(h.streams[i].values);
    }
    prof_free(h.together.items);
    prof_free(h.streams);
    return !err->code;
}
