/* grouping_gpu.c: a GPU's ungrouped events belong to the step of the grouped event before them; see grouping_parts.h.
 *
 * Before means by begin, then duration, over all streams of the GPU. */
#include "grouping_parts.h"
#include "span_walk.h"

typedef struct {
    ForestLine **streams;
    Line **lines;
    size_t n;
    uint32_t last; /* group + 1 of the last grouped event, 0: none yet */
} Inherit;

static uint32_t *group_of(const Inherit *h, const SpanRef *span)
{
    const ForestLine *fl = h->streams[span->line];
    return &fl->group[fl->place ? fl->place[span->at] : span->at];
}

static bool take(void *context, const SpanRef *span, ProfErr *err)
{
    (void)err;
    Inherit *h = context;
    uint32_t *group = group_of(h, span);
    if (*group)
        h->last = *group;
    else
        *group = h->last;
    return true;
}

static bool alike(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err)
{
    (void)err;
    return *group_of(context, a) == *group_of(context, b);
}

/* What was inherited by then is what the events would inherit again. */
static void restart(void *context) { ((Inherit *)context)->last = 0; }

static bool needs_inheriting(const ForestLine *fl)
{
    if (!fl->group) return true;
    for (uint32_t i = 0; i < fl->n; i++)
        if (!fl->group[i]) return true;
    return false;
}

bool gpu_inherit(Forest *f, const Plane *plane, ProfErr *err)
{
    Inherit h = {.streams = prof_alloc(plane->n_lines * sizeof *h.streams), .lines = prof_alloc(plane->n_lines * sizeof *h.lines)};
    bool any = false, needed = false;
    if (!h.streams || !h.lines) prof_nomem(err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        ForestLine *fl = &f->lines[plane->first_line + i];
        if (fl->role != ROLE_THREAD || fl->line->derived) continue;
        any |= fl->group != NULL;
        needed |= needs_inheriting(fl);
        h.streams[h.n] = fl, h.lines[h.n++] = fl->line;
    }
    needed &= any;
    for (size_t i = 0; i < h.n && needed && !err->code; i++)
        if (!h.streams[i]->group && !(h.streams[i]->group = prof_alloc(h.streams[i]->n * sizeof(uint32_t)))) prof_nomem(err);
    const SpanVisitor visitor = {&h, take, alike, restart};
    if (needed && !err->code) spans_walk(h.lines, h.n, &visitor, err);
    prof_free(h.lines);
    prof_free(h.streams);
    return !err->code;
}
