// SPDX-License-Identifier: Apache-2.0
/* grouping_gpu.c: gives a GPU's ungrouped events the group of the last grouped event before them;
 * see grouping_parts.h.
 *
 * Events of all streams of the GPU are ordered by start, then duration. */
#include "grouping_parts.h"
#include "../../store/sorted_events.h"

typedef struct {
    SpanLine *lines;
    int64_t **groups; /* for each line, the groups of its events */
    size_t n;
    int64_t last; /* group of the last grouped event; -1 before the first */
} Inherit;

static bool pass_group(void *context, const SpanRef *span, ProfErr *err)
{
    (void)err;
    Inherit *h = context;
    int64_t *group = &h->groups[span->line][span->at];
    if (*group >= 0)
        h->last = *group;
    else
        *group = h->last;
    return true;
}

static bool alike(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err)
{
    (void)err;
    const Inherit *h = context;
    return h->groups[a->line][a->at] == h->groups[b->line][b->at];
}

/* Starts again. Groups that were already passed on would be passed on again. */
static void restart(void *context) { ((Inherit *)context)->last = -1; }

static uint64_t count_grouped(const Line *line, const Packed *groups)
{
    uint64_t n = 0;
    for (uint64_t i = 0; groups && i < line->n_events; i++)
        n += packed_at(&groups[i / CHUNK_EVENTS], (size_t)(i % CHUNK_EVENTS)) >= 0;
    return n;
}

static int64_t *unpack(const Line *line, const Packed *groups)
{
    int64_t *values = prof_buffer((size_t)line->n_events * sizeof *values);
    for (uint64_t i = 0; values && i < line->n_events; i++)
        values[i] = groups ? packed_at(&groups[i / CHUNK_EVENTS], (size_t)(i % CHUNK_EVENTS)) : -1;
    return values;
}

static bool pack(const Line *line, const int64_t *values, LineGroups *out, Arena *arena)
{
    Packed *groups = arena_alloc(arena, line->n_chunks * sizeof *groups);
    for (size_t c = 0; groups && c < line->n_chunks; c++)
        if (!packed_make(&groups[c], arena, values + c * CHUNK_EVENTS, line->chunks[c].n_events))
            return false;
    out->groups = groups;
    return groups != NULL;
}

bool gpu_inherit(const Plane *plane, LineGroups *lines, Arena *arenas, ProfErr *err)
{
    Host *host = plane->host;
    Inherit h = {.lines = prof_alloc(plane->n_lines * sizeof *h.lines),
                 .groups = prof_alloc(plane->n_lines * sizeof *h.groups),
                 .last = -1};
    uint64_t n_grouped = 0, n_events = 0;
    if (!h.lines || !h.groups) prof_nomem(err);
    for (size_t i = plane->first_line; i < plane->first_line + plane->n_lines && !err->code; i++) {
        Line *line = &host->lines[i];
        if (!line->n_events || line->derived) continue;
        h.lines[h.n++].line = line;
        n_grouped += count_grouped(line, lines[i].groups), n_events += line->n_events;
    }
    const SpanVisitor visitor = {&h, pass_group, alike, restart};
    bool needed = n_grouped && n_grouped < n_events && !err->code;
    for (size_t i = 0; i < h.n && needed && !err->code; i++)
        if (!(h.groups[i] = unpack(h.lines[i].line, lines[h.lines[i].line - host->lines].groups)))
            prof_nomem(err);
    if (needed && !err->code && span_lines_walk(h.lines, h.n, &visitor, err)) {
        for (size_t i = 0; i < h.n && !err->code; i++) {
            size_t at = (size_t)(h.lines[i].line - host->lines);
            if (!pack(h.lines[i].line, h.groups[i], &lines[at], &arenas[at])) prof_nomem(err);
        }
    }
    for (size_t i = 0; h.groups && i < h.n; i++) prof_free(h.groups[i]);
    prof_free(h.groups);
    prof_free(h.lines);
    return !err->code;
}
