/* enclosing.c: ops and the modules and steps around them; see enclosing.h. */
#include "enclosing.h"

#include "events.h"

enum { STEPS_LINE = 1, MODULES_LINE = 2, OPS_LINE = 3 }; /* XLine.id on a TensorCore */

typedef struct {
    int64_t start, end;
    uint64_t event;
} Place;

static Place place_of(const EventAt *e) { return (Place){e->start_ps, add_saturated(e->start_ps, e->duration_ps), e->event}; }
static bool includes(const Place *outer, const Place *inner) { return outer->start <= inner->start && inner->end <= outer->end; }

static Line *core_line(const Plane *plane, int64_t id)
{
    Line *lines = plane->host->lines + plane->first_line;
    for (size_t i = 0; i < plane->n_lines; i++)
        if (lines[i].proto_id == id) return &lines[i];
    return NULL;
}

/* The next event that does not lie inside `last`. */
static bool next_outer(EventReader *reader, const Place *last, Place *next)
{
    EventAt e;
    while (event_reader_next(reader, &e)) {
        *next = place_of(&e);
        if (!last || !includes(last, next)) return true;
    }
    return false;
}

static void walk_together(Line *ops, Line *outer, uint64_t *enclosing, ProfErr *err)
{
    EventReader inner_reader, outer_reader;
    EventAt e;
    Place in_hand, next;
    event_reader_open(&inner_reader, ops, 0, err);
    event_reader_open(&outer_reader, outer, 0, err);
    bool has_one = next_outer(&outer_reader, NULL, &in_hand), has_next = has_one && next_outer(&outer_reader, &in_hand, &next);
    while (has_one && event_reader_next(&inner_reader, &e)) {
        Place op = place_of(&e);
        while (!includes(&in_hand, &op) && has_next && next.start < op.end) {
            in_hand = next;
            has_next = next_outer(&outer_reader, &in_hand, &next);
        }
        *enclosing++ = includes(&in_hand, &op) ? in_hand.event + 1 : 0;
    }
    event_reader_close(&inner_reader);
    event_reader_close(&outer_reader);
}

const uint64_t *line_enclosing(Line *line, enum Enclosing which, ProfErr *err)
{
    Run *run = line->plane->host->run;
    Line *outer = core_line(line->plane, which == IN_STEP ? STEPS_LINE : MODULES_LINE);
    if (line->plane->kind != PLANE_TENSORCORE || line->proto_id != OPS_LINE || !outer) return NULL;
    pthread_mutex_lock(&run->lock);
    if (!line->enclosing[which]) {
        uint64_t *made = arena_alloc(&run->derived_arena, (size_t)line->n_events * sizeof *made);
        if (!made)
            prof_nomem(err);
        else
            walk_together(line, outer, made, err);
        if (!err->code) line->enclosing[which] = made;
    }
    const uint64_t *enclosing = line->enclosing[which];
    pthread_mutex_unlock(&run->lock);
    return enclosing;
}

/* ---- self times in ns ---- */

static int make_self_ns(Line *line, int64_t *self, Place *stack, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    size_t depth = 0;
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        int64_t start = e.start_ps / 1000, duration = e.duration_ps / 1000;
        Place at = {start, add_saturated(start, duration), e.event - line->first_event};
        while (depth && !includes(&stack[depth - 1], &at)) depth--;
        if (depth) {
            int64_t *outer = &self[stack[depth - 1].event];
            *outer = add_saturated(*outer, -duration); /* no int64 / 1000 is the least one */
        }
        self[at.event] = duration;
        stack[depth++] = at;
    }
    event_reader_close(&reader);
    return err->code;
}

const int64_t *line_self_ns(Line *line, ProfErr *err)
{
    Run *run = line->plane->host->run;
    pthread_mutex_lock(&run->lock);
    if (!line->self_ns) {
        int64_t *self = arena_alloc(&run->derived_arena, (size_t)line->n_events * sizeof *self);
        Place *stack = prof_buffer((size_t)line->n_events * sizeof *stack);
        if (!self || !stack)
            prof_nomem(err);
        else if (!make_self_ns(line, self, stack, err))
            line->self_ns = self;
        prof_free(stack);
    }
    const int64_t *self = line->self_ns;
    pthread_mutex_unlock(&run->lock);
    return self;
}
