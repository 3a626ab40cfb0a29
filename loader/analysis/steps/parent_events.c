// SPDX-License-Identifier: Apache-2.0
/* parent_events.c: finds the modules and steps around ops; see parent_events.h. */
#include "parent_events.h"

#include "../../base/interrupt.h"
#include "../../base/nest.h"

enum { OPS_LINE = 3 }; /* XLine.id on a TensorCore */

typedef struct {
    int64_t start, end;
    uint64_t event;
} Place;

static Place place_of(const EventAt *e)
{
    return (Place){e->start_ps, add_saturated(e->start_ps, e->duration_ps), e->event};
}
static bool includes(const Place *outer, const Place *inner)
{
    return outer->start <= inner->start && inner->end <= outer->end;
}

/* Events that may include others, in stored order. `latest` is a tree: node i has the latest end of
 * the events below it, whose nodes are 2i and 2i + 1. The nodes of the events themselves start at
 * n_leaves. */
typedef struct {
    Place *places;
    int64_t *latest;
    size_t n, n_leaves;
} Outer;

static void outer_read(Outer *outer, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    for (outer->n_leaves = 1; outer->n_leaves < line->n_events;) outer->n_leaves *= 2;
    outer->places = prof_buffer((size_t)line->n_events * sizeof *outer->places);
    outer->latest = prof_buffer(2 * outer->n_leaves * sizeof *outer->latest);
    if (!outer->places || !outer->latest) {
        prof_nomem(err);
        return;
    }
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) outer->places[outer->n++] = place_of(&e);
    event_reader_close(&reader);
    for (size_t i = 0; i < outer->n_leaves; i++)
        outer->latest[outer->n_leaves + i] = i < outer->n ? outer->places[i].end : INT64_MIN;
    for (size_t i = outer->n_leaves - 1; i; i--)
        outer->latest[i] = outer->latest[2 * i] > outer->latest[2 * i + 1]
                               ? outer->latest[2 * i]
                               : outer->latest[2 * i + 1];
}

/* Returns the first event from `from` on that ends at `start` or later; n if there is none. */
static size_t next_not_over(const Outer *outer, size_t from, int64_t start)
{
    size_t i = outer->n_leaves + from;
    if (from >= outer->n) return outer->n;
    while (outer->latest[i] < start) {
        while (i & 1) i /= 2;
        if (!i) return outer->n;
        i++;
    }
    while (i < outer->n_leaves) i = 2 * i + (outer->latest[2 * i] < start);
    return i - outer->n_leaves;
}

static void walk_together(Line *ops, const Outer *outer, uint64_t *enclosing, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    const Place *in_hand = NULL;
    size_t next = 0;
    event_reader_open(&reader, ops, 0, err);
    while (event_reader_next(&reader, &e)) {
        Place op = place_of(&e);
        if (!in_hand || !includes(in_hand, &op)) {
            size_t i = next_not_over(outer, next, op.start);
            if (i < outer->n && outer->places[i].start <= op.end)
                in_hand = &outer->places[i], next = i + 1;
        }
        *enclosing++ = in_hand && includes(in_hand, &op) ? in_hand->event + 1 : 0;
    }
    event_reader_close(&reader);
}

static void fill_enclosing(Line *ops, Line *line, uint64_t *enclosing, ProfErr *err)
{
    Outer outer = {0};
    outer_read(&outer, line, err);
    if (!err->code) walk_together(ops, &outer, enclosing, err);
    prof_free(outer.places);
    prof_free(outer.latest);
}

static void *make_parents(Line *line, enum ParentKind which, ProfErr *err)
{
    uint64_t *made =
        arena_alloc(&line->plane->host->run->line_arena, (size_t)line->n_events * sizeof *made);
    if (made)
        fill_enclosing(line, line->plane->core_lines[which], made, err);
    else
        prof_nomem(err);
    return err->code ? NULL : made;
}
static void *make_steps(Line *line, ProfErr *err) { return make_parents(line, PARENT_STEP, err); }
static void *make_modules(Line *line, ProfErr *err)
{
    return make_parents(line, PARENT_MODULE, err);
}

const uint64_t *line_parent_events(Line *line, enum ParentKind which, ProfErr *err)
{
    static const LineAnalysis parents[] = {{make_steps, NULL}, {make_modules, NULL}};
    const Plane *plane = line->plane;
    bool has =
        plane->kind == PLANE_TENSORCORE && line->proto_id == OPS_LINE && plane->core_lines[which];
    return has ? line_analysis(line, &parents[which], err) : NULL;
}

/* ---- self times in ns ---- */

static void *make_self_ns(Line *line, ProfErr *err)
{
    int64_t *self =
        arena_alloc(&line->plane->host->run->line_arena, (size_t)line->n_events * sizeof *self);
    EventReader reader;
    EventAt e;
    LIST(Place) open = {0};
    if (!self) {
        prof_nomem(err);
        return NULL;
    }
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        int64_t duration = event_duration_ns(&e);
        Place at = {event_start_ns(line, &e), event_end_ns(line, &e), e.event - line->first_event};
        Place *around = NEST_AROUND(open, start, end, at.start, at.end, 0), *opened;
        if (around) /* -duration cannot overflow: it was divided by 1000 */
            self[around->event] = add_saturated(self[around->event], -duration);
        self[at.event] = duration;
        if (!(opened = PUSH(open))) {
            prof_nomem(err);
            break;
        }
        *opened = at;
    }
    event_reader_close(&reader);
    prof_free(open.items);
    return err->code ? NULL : self;
}

const int64_t *line_self_ns(Line *line, ProfErr *err)
{
    static const LineAnalysis self_ns = {make_self_ns, NULL};
    return line_analysis(line, &self_ns, err);
}
