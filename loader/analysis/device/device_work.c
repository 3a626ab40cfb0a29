// SPDX-License-Identifier: Apache-2.0
/* device_work.c: cuts a device's work into pieces; see device_work.h. */
#include "device_work.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/lines.h"

/* Only 24 bytes, because all work of a line that is not stored in order is sorted at once. */
typedef struct {
    int64_t start, end;
    uint32_t meta, event; /* event: index on the line */
} Work;
typedef LIST(Work) WorkList;

typedef struct {
    const Line *line;
    WorkVisitor *visit;
    void *context;
    WorkRange *range;
    WorkList open;   /* for an op line: events that have started and may still run, the last started
                        on top */
    int64_t reached; /* pieces before this time are visited */
} Walk;

static bool visit(const Walk *w, const Work *work, int64_t start, int64_t end)
{
    return w->visit(w->context, &(WorkPiece){&w->line->plane->event_metas[work->meta],
                                             w->line->first_event + work->event, start, end});
}

/* Visits the pieces before a time. An op below the top that has ended is dropped when it comes to
 * the top. */
static bool advance(Walk *w, int64_t time)
{
    while (w->open.n && w->reached < time) {
        Work *top = &w->open.items[w->open.n - 1];
        int64_t end = top->end < time ? top->end : time;
        if (end > w->reached) {
            if (!visit(w, top, w->reached, end)) return false;
            w->reached = end;
        }
        if (top->end <= w->reached) w->open.n--;
    }
    w->reached = time;
    return true;
}

static bool start_op(Walk *w, const Work *op)
{
    if (!advance(w, op->start)) return false;
    Work *place = PUSH(w->open);
    if (place) *place = *op;
    return place != NULL;
}

static bool add_work(Walk *w, const Work *work, bool nests)
{
    if (!w->range->any) *w->range = (WorkRange){true, work->start, work->end};
    if (work->start < w->range->start) w->range->start = work->start;
    if (work->end > w->range->end) w->range->end = work->end;
    if (work->start == work->end) return true;
    return nests ? start_op(w, work) : visit(w, work, work->start, work->end);
}

static int by_start_then_longest(const void *a, const void *b)
{
    const Work *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, end, event);
}

/* Sorts and visits the work. It is sorted in place, because it may be more memory than everything
 * else of the file. */
static void add_sorted(Walk *w, WorkList *all, ProfErr *err)
{
    sort_in_place(all->items, all->n, sizeof *all->items, by_start_then_longest);
    for (size_t i = 0; i < all->n && !interrupt_poll(1, err); i++)
        if (!add_work(w, &all->items[i], true)) prof_nomem(err);
}

static void walk_line(Walk *w, Line *line, ProfErr *err)
{
    bool nests = line->plane->kind != PLANE_GPU, sorts = nests && !line->ordered;
    WorkList all = {.capacity = sorts ? (size_t)line->n_events : 0};
    EventReader reader;
    EventAt e;
    if (sorts && line->n_events > UINT32_MAX) line_too_long(line, "sorted", err);
    event_reader_open(&reader, line, 0, err);
    if (sorts && !err->code && !(all.items = prof_buffer(all.capacity * sizeof *all.items)))
        prof_nomem(err);
    w->line = line, w->open.n = 0, w->reached = INT64_MIN;
    while (!err->code && event_reader_next(&reader, &e)) {
        if (e.occurrences >= 0) continue;
        int64_t end = e.duration_ps > 0 ? add_saturated(e.start_ps, e.duration_ps) : e.start_ps;
        Work work = {e.start_ps, end, (uint32_t)(e.meta - line->plane->event_metas),
                     (uint32_t)(e.event - line->first_event)};
        if (sorts)
            all.items[all.n++] = work;
        else if (!add_work(w, &work, nests))
            prof_nomem(err);
    }
    event_reader_close(&reader);
    add_sorted(w, &all, err);
    if (!err->code && !advance(w, INT64_MAX)) prof_nomem(err);
    prof_free(all.items);
}

bool device_line_walk(const Line *line, WorkVisitor *visit, void *context, WorkRange *range,
                      ProfErr *err)
{
    Walk w = {.visit = visit, .context = context, .range = range};
    *range = (WorkRange){0};
    walk_line(&w, (Line *)line, err);
    prof_free(w.open.items);
    return !err->code;
}

bool device_work_walk(const Plane *plane, WorkVisitor *visit, void *context, WorkRange *range,
                      ProfErr *err)
{
    Walk w = {.visit = visit, .context = context, .range = range};
    *range = (WorkRange){0};
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        if (line_is_work(line) && line->n_events) walk_line(&w, line, err);
    }
    prof_free(w.open.items);
    return !err->code;
}
