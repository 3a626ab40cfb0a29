// SPDX-License-Identifier: Apache-2.0
/* parent_events.c: ops and the modules and steps around them; see parent_events.h. */
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

/* The events around, as they are stored. `latest` is a tree: of node i the latest end of the events
 * below, whose nodes are 2i and 2i + 1; those of the events themselves begin at n_leaves. */
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

/* The first event from `from` on that ends at `start` or later; n: none. */
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

const uint64_t *line_parent_events(Line *line, enum ParentKind which, ProfErr *err)
{
    Run *run = line->plane->host->run;
    Line *outer = line->plane->core_lines[which];
    if (line->plane->kind != PLANE_TENSORCORE || line->proto_id != OPS_LINE || !outer) return NULL;
    if (!interrupt_lock(&run->lock, err)) return NULL;
    if (!line->enclosing[which]) {
        uint64_t *made = arena_alloc(&run->derived_arena, (size_t)line->n_events * sizeof *made);
        if (!made)
            prof_nomem(err);
        else
            fill_enclosing(line, outer, made, err);
        if (!err->code) line->enclosing[which] = made;
    }
    const uint64_t *enclosing = line->enclosing[which];
    pthread_mutex_unlock(&run->lock);
    return enclosing;
}

/* ---- self times in ns ---- */

static int make_self_ns(Line *line, int64_t *self, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    LIST(Place) open = {0};
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        int64_t duration = event_duration_ns(&e);
        Place at = {event_start_ns(line, &e), event_end_ns(line, &e), e.event - line->first_event};
        Place *around = NEST_AROUND(open, start, end, at.start, at.end, 0), *opened;
        if (around) /* no int64 / 1000 is the least one */
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
    return err->code;
}

const int64_t *line_self_ns(Line *line, ProfErr *err)
{
    Run *run = line->plane->host->run;
    if (!interrupt_lock(&run->lock, err)) return NULL;
    if (!line->self_ns) {
        int64_t *self = arena_alloc(&run->derived_arena, (size_t)line->n_events * sizeof *self);
        if (!self)
            prof_nomem(err);
        else if (!make_self_ns(line, self, err))
            line->self_ns = self;
    }
    const int64_t *self = line->self_ns;
    pthread_mutex_unlock(&run->lock);
    return self;
}
