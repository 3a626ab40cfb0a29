// SPDX-License-Identifier: Apache-2.0
/* events_by_metadata.c: groups the events of a line by metadata, so that GROUP BY needs no sorting.
 *
 * It is a counting sort by index of metadata. Events with ids that the plane does not declare share
 * one index: their ids are read from the file, twice, and each id becomes a group. */
#include "../base/interrupt.h"
#include "../base/sort.h"
#include "chunks.h"
#include "events.h"
#include "lines.h"

#include <stdlib.h>

static int add_group(EventsByMeta *order, size_t *capacity, LineGroup group, ProfErr *err)
{
    if (!GROW(order->groups, order->n_groups, *capacity)) return prof_nomem(err);
    order->groups[order->n_groups++] = group;
    return PROF_OK;
}

/* The events of a line whose metadata its plane does not declare. */
typedef struct {
    Line *line;
    EventsByMeta *order;
    size_t *capacity, before; /* before: number of groups of declared metadata */
    HashTable table;          /* the ids of the groups from `before` on */
} Undeclared;

static LineGroup *undeclared_group(Undeclared *u, int64_t id, ProfErr *err)
{
    LineGroup *groups = u->order->groups + u->before;
    int64_t at = id_find(&u->table, groups, sizeof *groups, id);
    if (at >= 0) return &groups[at];
    if (add_group(u->order, u->capacity,
                  (LineGroup){.id = id, .meta = (uint32_t)u->line->plane->n_declared}, err))
        return NULL;
    groups = u->order->groups + u->before, at = (int64_t)(u->order->n_groups - u->before - 1);
    if (!id_add(&u->table, groups, sizeof *groups, (size_t)at)) {
        prof_nomem(err);
        return NULL;
    }
    return &groups[at];
}

ORDER_BY(by_id, LineGroup, id)

/* Counts the events of each undeclared id. Once the ids are sorted, moves the events to their
 * groups, in stored order. */
static int each_undeclared(Undeclared *u, bool sorted, ProfErr *err)
{
    const Plane *plane = u->line->plane;
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, u->line, EVENT_STATS, err);
    while (event_reader_next(&reader, &at)) {
        Event event;
        if (at.meta != &plane->event_metas[plane->n_declared] ||
            !event_parse(at.stored.message, at.stored.message + at.stored.n_bytes, &event))
            continue;
        LineGroup wanted = {.id = event.metadata_id}, *groups = u->order->groups + u->before;
        LineGroup *group =
            sorted ? bsearch(&wanted, groups, u->order->n_groups - u->before, sizeof *groups, by_id)
                   : undeclared_group(u, event.metadata_id, err);
        if (group && sorted)
            u->order->events[group->end] = (uint32_t)(at.event - u->line->first_event);
        if (group) group->end++;
    }
    event_reader_close(&reader);
    return err->code;
}

/* Replaces the sizes in `end` by where each group starts. Returns where the last one ends. */
static uint32_t begin_groups(LineGroup *groups, size_t n, uint32_t first)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t n_events = groups[i].end;
        groups[i].end = first, first += n_events;
    }
    return first;
}

/* Splits the events from `first` on, which have undeclared ids, into groups. */
static int split_undeclared(Line *line, EventsByMeta *order, size_t *capacity, uint32_t first,
                            ProfErr *err)
{
    Undeclared u = {.line = line, .order = order, .capacity = capacity, .before = order->n_groups};
    each_undeclared(&u, false, err);
    hash_free(&u.table);
    LineGroup *groups = order->groups + u.before;
    size_t n = order->n_groups - u.before;
    if (err->code) return err->code;
    sort_in_place(groups, n, sizeof *groups, by_id);
    if (begin_groups(groups, n, first) != line->n_events)
        return prof_fail(
            err, PROF_IO, line->span.offset,
            "%s: changed while it was being read; run the query again when it is complete",
            line->plane->host->file.path);
    return each_undeclared(&u, true, err);
}

ORDER_BY(by_meta, LineGroup, meta)

/* Finds the groups and their sizes. numbers[] become positions in groups + 1. */
static int count_groups(Line *line, EventsByMeta *order, size_t *capacity, uint32_t *numbers,
                        ChunkValues *v, Window *window, ProfErr *err)
{
    const EventMeta *metas = line->plane->event_metas;
    for (size_t c = 0;
         c < line->n_chunks && !chunk_read(line, &line->chunks[c], CHUNK_METAS, v, window, err);
         c++)
        for (uint32_t i = 0; i < line->chunks[c].n_events; i++) {
            uint32_t meta = chunk_meta(v, i);
            if (!numbers[meta]) {
                if (add_group(order, capacity, (LineGroup){.id = metas[meta].id, .meta = meta},
                              err))
                    return err->code;
                numbers[meta] = (uint32_t)order->n_groups;
            }
            order->groups[numbers[meta] - 1].end++;
        }
    sort_in_place(order->groups, order->n_groups, sizeof *order->groups, by_meta);
    return err->code;
}

static int place_events(Line *line, EventsByMeta *order, uint32_t *numbers, ChunkValues *v,
                        Window *window, ProfErr *err)
{
    uint32_t event = 0;
    for (size_t i = 0; i < order->n_groups; i++) numbers[order->groups[i].meta] = (uint32_t)i + 1;
    begin_groups(order->groups, order->n_groups, 0);
    for (size_t c = 0;
         c < line->n_chunks && !chunk_read(line, &line->chunks[c], CHUNK_METAS, v, window, err);
         c++)
        for (uint32_t i = 0; i < line->chunks[c].n_events; i++)
            order->events[order->groups[numbers[chunk_meta(v, i)] - 1].end++] = event++;
    return err->code;
}

static void free_order(void *result)
{
    EventsByMeta *order = result;
    if (!order) return;
    prof_free(order->events);
    prof_free(order->groups);
    prof_free(order);
}

static EventsByMeta *order_events(Line *line, MetaNumbers *m, ProfErr *err)
{
    const Plane *plane = line->plane;
    if (line->n_events >= UINT32_MAX) {
        prof_fail(err, PROF_FORMAT, line->span.offset,
                  "%s: a line of %llu events is too long to be grouped; group by an expression, "
                  "like name || '', instead",
                  plane->host->file.path, (unsigned long long)line->n_events);
        return NULL;
    }
    uint32_t *numbers = meta_numbers(m, plane, err);
    ChunkValues *v = prof_alloc(sizeof *v);
    EventsByMeta *order = prof_alloc(sizeof *order);
    Window window = {.file = &plane->host->file};
    size_t capacity = 0;
    if (order) order->events = prof_alloc((size_t)line->n_events * sizeof *order->events);
    if (!numbers || !v || !order || !order->events)
        prof_nomem(err);
    else if (!count_groups(line, order, &capacity, numbers, v, &window, err))
        place_events(line, order, numbers, v, &window, err);
    for (size_t i = 0; order && i < order->n_groups; i++) numbers[order->groups[i].meta] = 0;
    LineGroup *last = !err->code && order->n_groups ? &order->groups[order->n_groups - 1] : NULL;
    if (last && last->meta == plane->n_declared) {
        order->n_groups--; /* replaced by the groups of the undeclared ids */
        split_undeclared(line, order, &capacity, group_begin(order, last), err);
    }
    window_free(&window);
    prof_free(v);
    if (!err->code) return order;
    free_order(order);
    return NULL;
}

static void *make_order(Line *line, ProfErr *err)
{
    MetaNumbers numbers = {0};
    EventsByMeta *order = order_events(line, &numbers, err);
    prof_free(numbers.numbers);
    return order;
}

static const LineAnalysis by_metadata = {make_order, free_order};

const EventsByMeta *line_events_by_meta(Line *line, ProfErr *err)
{
    return line->n_events ? line_analysis(line, &by_metadata, err) : NULL;
}

const EventsByMeta *line_events_ordered(const Line *line)
{
    return line_analysis_made(line, &by_metadata);
}

static bool order_line(Line *line, MetaNumbers *numbers, ProfErr *err)
{
    if (!line->n_events || line_analysis_made(line, &by_metadata)) return true;
    return line_analysis_keep(line, &by_metadata, order_events(line, numbers, err), err);
}

bool run_events_by_meta(Run *run, ProfErr *err) { return run_each_line(run, order_line, err); }
