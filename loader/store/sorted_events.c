// SPDX-License-Identifier: Apache-2.0
/* sorted_events.c: merges or sorts the events of lines; see sorted_events.h. */
#include "sorted_events.h"

#include "../base/interrupt.h"
#include "../base/sort.h"
#include "../base/std_sort.h"
#include "chunks.h"

/* ---- a line in stored order ---- */

typedef struct {
    const SpanLine *from;
    uint32_t number;
    Window window;
    ChunkValues *values;
    size_t next;   /* next chunk; next span if there are `instead` spans */
    uint32_t i, n; /* in the chunk */
    SpanRef now;
} Track;

static Track track_open(const SpanLine *from, uint32_t number, ChunkValues *values)
{
    return (Track){.from = from,
                   .number = number,
                   .window.file = &from->line->plane->host->file,
                   .values = values};
}

/* Moves to the next event. False at the end or with err set. */
static bool track_next(Track *t, ProfErr *err)
{
    const Line *line = t->from->line;
    if (t->from->instead) {
        if (t->next == t->from->n_instead) return false;
        t->now = t->from->instead[t->next++];
        t->now.line = t->number;
        return true;
    }
    while (t->i == t->n) {
        if (t->next == line->n_chunks) return false;
        const Chunk *chunk = &line->chunks[t->next++];
        if (chunk_read(line, chunk, CHUNK_TIMES, t->values, &t->window, err)) return false;
        t->i = 0, t->n = chunk->n_events;
    }
    uint32_t i = t->i++;
    uint32_t at = (uint32_t)((t->next - 1) * CHUNK_EVENTS + i);
    t->now =
        (SpanRef){chunk_start(line, t->values, i), chunk_duration(t->values, i), t->number, at};
    return true;
}

enum { MOST_TRACKS = 64 };

/* Consecutive events of a line with the same start and duration. */
typedef struct {
    SpanRef first;
    uint32_t n;
} Alike;

typedef struct {
    const SpanLine *lines;
    size_t n;
    const SpanVisitor *visitor;
    Track tracks[MOST_TRACKS];
    /* events with the same start that are not visited yet */
    Alike *together;
    size_t n_together, capacity;
} Walk;

/* ---- merging ---- */

static int by_duration(const void *a, const void *b)
{
    const SpanRef *x = &((const Alike *)a)->first, *y = &((const Alike *)b)->first;
    if (x->duration_ps != y->duration_ps) return ORDER(x->duration_ps, y->duration_ps);
    if (x->line != y->line) return ORDER(x->line, y->line);
    return ORDER(x->at, y->at);
}

static SpanRef span_of(const Alike *same, uint32_t i)
{
    SpanRef span = same->first;
    span.at += i;
    return span;
}

static bool all_alike(const Walk *w, const Alike *before, const Alike *same, ProfErr *err)
{
    const SpanVisitor *v = w->visitor;
    SpanRef last = same->first;
    if (before && before->first.duration_ps == last.duration_ps) {
        SpanRef other = span_of(before, before->n - 1);
        if (!v->alike(v->context, &other, &last, err)) return false;
    }
    for (uint32_t i = 1; i < same->n; i++) {
        SpanRef span = span_of(same, i);
        if (!v->alike(v->context, &last, &span, err)) return false;
        last = span;
    }
    return true;
}

/* Reads the events with the next start. False without err set if the order of equal ones matters.
 */
static bool read_together(Walk *w, ProfErr *err)
{
    const SpanVisitor *v = w->visitor;
    if (w->n_together > 1)
        sort_in_place(w->together, w->n_together, sizeof *w->together, by_duration);
    for (size_t i = 0; i < w->n_together; i++)
        if (!all_alike(w, i ? &w->together[i - 1] : NULL, &w->together[i], err)) return false;
    for (size_t i = 0; i < w->n_together; i++)
        for (uint32_t k = 0; k < w->together[i].n; k++) {
            SpanRef span = span_of(&w->together[i], k);
            if (!v->take(v->context, &span, err)) return false;
        }
    w->n_together = 0;
    return !err->code;
}

static bool add_together(Walk *w, const SpanRef *span)
{
    Alike *last = w->n_together ? &w->together[w->n_together - 1] : NULL;
    if (last && last->first.line == span->line && last->first.duration_ps == span->duration_ps &&
        last->first.at + last->n == span->at) {
        last->n++;
        return true;
    }
    if (!GROW(w->together, w->n_together, w->capacity)) return false;
    w->together[w->n_together++] = (Alike){*span, 1};
    return true;
}

static void sift(Track **heap, size_t n, size_t at)
{
    Track *moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && heap[child + 1]->now.start_ps < heap[child]->now.start_ps) child++;
        if (heap[child]->now.start_ps >= moved->now.start_ps) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static bool is_ordered(const SpanLine *line)
{
    for (size_t i = 1; line->instead && i < line->n_instead; i++)
        if (line->instead[i].start_ps < line->instead[i - 1].start_ps) return false;
    return line->instead || line->line->ordered;
}

/* Merges all lines. False without err set if they need sorting. */
static bool merge(Walk *w, ProfErr *err)
{
    Track *heap[MOST_TRACKS];
    size_t n = 0;
    if (w->n > MOST_TRACKS) return false;
    for (size_t i = 0; i < w->n; i++)
        if (!is_ordered(&w->lines[i])) return false;
    for (size_t i = 0; i < w->n; i++) {
        Track *t = &w->tracks[i];
        *t = track_open(&w->lines[i], (uint32_t)i, prof_alloc(sizeof *t->values));
        if (!t->values) {
            prof_nomem(err);
            return false;
        }
        if (track_next(t, err)) heap[n++] = t;
    }
    for (size_t i = n / 2; i-- > 0;) sift(heap, n, i);
    while (n && !err->code) {
        const SpanRef *now = &heap[0]->now;
        if (w->n_together && w->together[0].first.start_ps < now->start_ps &&
            !read_together(w, err))
            return false;
        if (!add_together(w, now)) {
            prof_nomem(err);
            return false;
        }
        if (!track_next(heap[0], err)) heap[0] = heap[--n];
        if (n) sift(heap, n, 0);
    }
    return !err->code && read_together(w, err);
}

/* ---- sorting ---- */

static bool before(const void *a, const void *b)
{
    const SpanRef *x = a, *y = b;
    return x->start_ps != y->start_ps ? x->start_ps < y->start_ps : x->duration_ps < y->duration_ps;
}

static bool sort(Walk *w, ProfErr *err)
{
    size_t n = 0;
    uint64_t n_events = 0;
    for (size_t i = 0; i < w->n; i++)
        n_events += w->lines[i].instead ? w->lines[i].n_instead : w->lines[i].line->n_events;
    SpanRef *spans = prof_buffer((size_t)n_events * sizeof *spans);
    void **order = prof_buffer((size_t)n_events * sizeof *order);
    ChunkValues *values = prof_alloc(sizeof *values);
    if (!spans || !order || !values) prof_nomem(err);
    for (size_t i = 0; i < w->n && !err->code; i++) {
        Track t = track_open(&w->lines[i], (uint32_t)i, values);
        while (track_next(&t, err)) order[n] = &spans[n], spans[n++] = t.now;
        window_free(&t.window);
    }
    if (!err->code) std_sort(order, n, before);
    for (size_t i = 0;
         i < n && !err->code && (i % CHUNK_EVENTS || !interrupt_poll(CHUNK_EVENTS, err)); i++)
        w->visitor->take(w->visitor->context, order[i], err);
    prof_free(values);
    prof_free(order);
    prof_free(spans);
    return !err->code;
}

bool span_lines_walk(const SpanLine *lines, size_t n_lines, const SpanVisitor *visitor,
                     ProfErr *err)
{
    Walk *w = prof_alloc(sizeof *w);
    if (!w) {
        prof_nomem(err);
        return false;
    }
    w->lines = lines, w->n = n_lines, w->visitor = visitor;
    bool merged = merge(w, err);
    for (size_t i = 0; i < MOST_TRACKS; i++) {
        window_free(&w->tracks[i].window);
        prof_free(w->tracks[i].values);
    }
    prof_free(w->together);
    if (!merged && !err->code) {
        visitor->restart(visitor->context);
        sort(w, err);
    }
    prof_free(w);
    return !err->code;
}

bool spans_walk(Line *const *lines, size_t n_lines, const SpanVisitor *visitor, ProfErr *err)
{
    SpanLine *span_lines = prof_alloc(n_lines * sizeof *span_lines);
    if (!span_lines) {
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0; i < n_lines; i++) span_lines[i].line = lines[i];
    span_lines_walk(span_lines, n_lines, visitor, err);
    prof_free(span_lines);
    return !err->code;
}
