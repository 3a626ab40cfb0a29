// SPDX-License-Identifier: Apache-2.0
/* compile_requests.c: finds which compilers' events are separate compilations; see compile_parts.h.
 *
 * An event nested in another compiler's event of its thread is a part of that. So is an event that
 * is enclosed in time by a compiler's event with another title on another thread: that thread waits
 * for it. */
#include "compile_parts.h"

#include "../../base/interrupt.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "compile_events.h"

/* The role of an event, by its name. */
enum Mark { MARK_NONE, MARK_CALL, MARK_TRACING, MARK_LOWERING, MARK_COMPILING };

static enum Mark mark_of(Slice name)
{
    if (is_compile_event(name)) return MARK_COMPILING;
    if (is_tracing_event(name)) return MARK_TRACING;
    if (is_lowering_event(name)) return MARK_LOWERING;
    return called_function(name).n ? MARK_CALL : MARK_NONE;
}

typedef struct {
    int64_t start, end;
    uint64_t place; /* ordinal of the event in the run */
    uint32_t meta;
} Marked;

/* Time of a thread until now, and the number of events that recorded it. */
typedef struct {
    int64_t ps[2];
    uint64_t n[2];
} Prepared;

typedef struct {
    Marked event;
    uint8_t mark;
    uint8_t phase; /* the innermost of tracing, lowering and compiling */
    uint32_t part; /* while compiling: index + 1 of the outermost compiler's event around it; 0 if
                      none */
    const Text *call; /* innermost call of a function */
    size_t call_at;   /* its index among the open events */
    Prepared before;  /* for a call: the time before its start */
} Open;

typedef struct {
    const uint8_t *marks;
    CompileParts *out;
    Line *line;
    LIST(Marked) events;
    LIST(Open) open;
    int64_t reached;
    Prepared prepared;
} Thread;

static int64_t elapsed(int64_t from, int64_t until)
{
    int64_t length;
    return __builtin_sub_overflow(until, from, &length) ? INT64_MAX : length;
}

/* Counts the time up to `time`, and closes events that end by then. */
static void advance(Thread *t, int64_t time)
{
    while (t->open.n) {
        const Open *top = &t->open.items[t->open.n - 1];
        int64_t end = top->event.end < time ? top->event.end : time;
        if (end > t->reached) {
            if (top->phase == MARK_TRACING || top->phase == MARK_LOWERING)
                t->prepared.ps[top->phase - MARK_TRACING] = add_saturated(
                    t->prepared.ps[top->phase - MARK_TRACING], elapsed(t->reached, end));
            t->reached = end;
        }
        if (top->event.end > time) return;
        t->open.n--;
    }
    t->reached = time;
}

static int64_t prepared_ps(const Prepared *until, const Prepared *from, int which)
{
    return until->n[which] > from->n[which] ? until->ps[which] - from->ps[which] : -1;
}

/* Adds a compiler's event. If it is not part of another one, the preparation is what the thread did
 * since the start of the function's call, or since the compilation before it in this call. */
static bool add_part(Thread *t, Open *now)
{
    CompilePart *part = PUSH(t->out->parts);
    if (!part) return false;
    *part = (CompilePart){.line = t->line,
                          .start = now->event.start,
                          .end = now->event.end,
                          .event = now->event.place,
                          .meta = now->event.meta,
                          .owner = now->part,
                          .function = now->call,
                          .tracing_ps = -1,
                          .lowering_ps = -1};
    if (now->part) return true;
    now->part = (uint32_t)t->out->parts.n;
    if (now->call) {
        Open *call = &t->open.items[now->call_at];
        part->tracing_ps = prepared_ps(&t->prepared, &call->before, 0);
        part->lowering_ps = prepared_ps(&t->prepared, &call->before, 1);
        call->before = t->prepared;
    }
    return true;
}

static bool add_event(Thread *t, const Marked *event)
{
    advance(t, event->start);
    while (t->open.n && t->open.items[t->open.n - 1].event.end < event->end) t->open.n--;
    Open now = {.event = *event, .mark = t->marks[event->meta]};
    if (t->open.n) {
        const Open *around = &t->open.items[t->open.n - 1];
        now.phase = around->phase, now.part = around->part;
        now.call = around->call, now.call_at = around->call_at;
    }
    const Text *name = t->line->plane->event_metas[event->meta].name;
    if (now.mark != MARK_CALL)
        now.phase = now.mark;
    else if (now.call != name) /* otherwise the function calls itself, which is one call */
        now.call = name, now.call_at = t->open.n, now.before = t->prepared;
    if (now.mark == MARK_COMPILING && !add_part(t, &now)) return false;
    if (now.mark == MARK_TRACING || now.mark == MARK_LOWERING)
        t->prepared.n[now.mark - MARK_TRACING]++;
    Open *place = PUSH(t->open);
    if (place) *place = now;
    return place != NULL;
}

static int by_start_then_longest(const void *a, const void *b)
{
    const Marked *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, end, place);
}

static void read_line(Thread *t, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    bool compiles = false;
    t->events.n = t->open.n = 0, t->reached = INT64_MIN, t->prepared = (Prepared){0};
    event_reader_open(&reader, t->line, 0, err);
    while (event_reader_next(&reader, &e)) {
        uint32_t meta = (uint32_t)(e.meta - t->line->plane->event_metas);
        if (!t->marks[meta] || e.occurrences >= 0) continue;
        compiles |= t->marks[meta] == MARK_COMPILING;
        Marked *event = PUSH(t->events);
        if (!event) {
            prof_nomem(err);
            break;
        }
        int64_t end = e.duration_ps > 0 ? add_saturated(e.start_ps, e.duration_ps) : e.start_ps;
        *event = (Marked){e.start_ps, end, e.event, meta};
    }
    event_reader_close(&reader);
    if (!compiles || err->code) return;
    sort_array(t->events.items, t->events.n, sizeof *t->events.items, by_start_then_longest);
    for (size_t i = 0; i < t->events.n && !interrupt_poll(1, err); i++)
        if (!add_event(t, &t->events.items[i])) prof_nomem(err);
}

static void read_plane(Thread *t, const Plane *plane, ProfErr *err)
{
    bool compiles = false;
    uint8_t *marks = prof_alloc(plane->n_event_metas + 1);
    if (!marks) prof_nomem(err);
    for (size_t i = 0; marks && i < plane->n_event_metas; i++) {
        marks[i] = (uint8_t)mark_of(slice_of(plane->event_metas[i].name));
        compiles |= marks[i] == MARK_COMPILING;
    }
    t->marks = marks;
    for (size_t i = 0; compiles && i < plane->n_lines && !err->code; i++) {
        t->line = &plane->host->lines[plane->first_line + i];
        if (!t->line->derived) read_line(t, err);
    }
    prof_free(marks);
}

/* ---- threads together ---- */

static int parts_by_start(const void *a, const void *b)
{
    const CompilePart *x = *(CompilePart *const *)a, *y = *(CompilePart *const *)b;
    return BY_START_THEN_LONGEST(x, y, start, end, event);
}

/* Of the events until now, the one that ends last, and the last to end of those with another title.
 */
typedef struct {
    CompilePart *longest, *other;
} Longest;

static bool same_title(const CompilePart *a, const CompilePart *b)
{
    Slice x = compile_event_title(slice_of(a->line->plane->event_metas[a->meta].name)),
          y = compile_event_title(slice_of(b->line->plane->event_metas[b->meta].name));
    return x.n == y.n && !memcmp(x.text, y.text, x.n);
}

static CompilePart *waiting_for(const Longest *l, const CompilePart *part)
{
    CompilePart *candidates[] = {l->longest, l->other};
    for (size_t i = 0; i < COUNT(candidates); i++) {
        CompilePart *c = candidates[i];
        if (c && c->end >= part->end && !same_title(c, part)) return c;
    }
    return NULL;
}

/* Of a part that waits for none: it ends after the longest, unless they have one title. */
static void keep_longest(Longest *l, CompilePart *part)
{
    if (l->longest && part->end <= l->longest->end) return;
    if (l->longest && !same_title(l->longest, part)) l->other = l->longest;
    l->longest = part;
}

/* Sets the owner of all parts to an index + 1 (0 for compilations), and moves the compilations to
 * the front. */
static int join_threads(CompileParts *all, ProfErr *err)
{
    size_t n = all->parts.n, n_outer = 0, n_kept = 0;
    CompilePart *parts = all->parts.items, *sorted = prof_buffer(n * sizeof *sorted),
                **outer = prof_buffer(n * sizeof *outer);
    uint32_t *place = prof_alloc(n * sizeof *place);
    Longest longest = {0};
    if (!sorted || !outer || !place) prof_nomem(err);
    for (size_t i = 0; i < n && !err->code; i++)
        if (!parts[i].owner) outer[n_outer++] = &parts[i];
    if (!err->code) sort_array(outer, n_outer, sizeof *outer, parts_by_start);
    for (size_t i = 0; i < n_outer && !interrupt_poll(1, err); i++) {
        const CompilePart *owner = waiting_for(&longest, outer[i]);
        if (owner) {
            outer[i]->owner = (uint32_t)(owner - parts) + 1;
            continue;
        }
        keep_longest(&longest, outer[i]);
        place[outer[i] - parts] = (uint32_t)n_kept;
        sorted[n_kept++] = *outer[i];
    }
    all->n_compilations = n_kept;
    for (size_t i = 0; i < n && !err->code; i++) {
        const CompilePart *part = &parts[i];
        if (!part->owner) continue;
        const CompilePart *top = &parts[part->owner - 1];
        while (top->owner) top = &parts[top->owner - 1];
        sorted[n_kept] = *part, sorted[n_kept++].owner = place[top - parts];
    }
    for (uint32_t i = 0; i < all->n_compilations && !err->code; i++) sorted[i].owner = i;
    prof_free(outer), prof_free(place);
    if (err->code) {
        prof_free(sorted);
        return err->code;
    }
    prof_free(parts);
    all->parts.items = sorted, all->parts.capacity = n;
    return PROF_OK;
}

int find_compile_parts(Host *host, CompileParts *parts, ProfErr *err)
{
    Thread t = {.out = parts};
    for (size_t i = 0; i < host->n_planes && !err->code; i++)
        if (host->planes[i].kind == PLANE_HOST) read_plane(&t, &host->planes[i], err);
    prof_free(t.events.items);
    prof_free(t.open.items);
    if (parts->parts.n > UINT32_MAX / 2)
        return prof_fail(err, PROF_LIMIT, 0, "%s: too many events of compilers", host->name);
    return err->code || !parts->parts.n ? err->code : join_threads(parts, err);
}
