// SPDX-License-Identifier: Apache-2.0
/* trace_events_walk.c: steps through the events that a plan leaves; see trace_events.h. */
#include "../loader/base/sort.h"
#include "../loader/base/search.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

int events_fail(EventsCursor *c)
{
    char *message = NULL;
    int rc = prof_error(((ProfTable *)c->base.pVtab)->prof, &c->err, &message);
    return prof_table_fail(c->base.pVtab, rc, message);
}

/* ---- the columns of a batch ---- */

/* Returns a value of an event whose chunk is not packed, because that was not worth it. */
static int64_t read_again(EventsCursor *c, const Chunk *chunk, enum ChunkColumn column, size_t i)
{
    if (!c->spare && !(c->spare = prof_alloc(sizeof *c->spare))) {
        prof_nomem(&c->err);
        return 0;
    }
    if (c->spare_of != chunk) {
        c->spare_of = NULL;
        if (chunk_read(c->unit.line, chunk, CHUNK_ALL, c->spare, &c->window, &c->err)) return 0;
        c->spare_of = chunk;
    }
    return c->spare->columns[column][i];
}

static inline int64_t value_in(EventsCursor *c, const Chunk *chunk, enum ChunkColumn column,
                               size_t i)
{
    return chunk->packed ? packed_at(&chunk->columns[column], i) : read_again(c, chunk, column, i);
}

/* Reads a column for events of a group, which are far apart, so the next ones are prefetched. */
static void gather(EventsCursor *c, enum ChunkColumn column)
{
    enum { AHEAD = 16 };
    int64_t *out = c->values->columns[column];
    const uint32_t *events = c->events + c->first;
    const Chunk *chunks = c->unit.line->chunks;
    for (uint32_t k = 0; k < c->n; k++) {
        if (k + 2 * AHEAD < c->n)
            __builtin_prefetch(
                &chunks[events[c->slots[k + 2 * AHEAD]] / CHUNK_EVENTS].columns[column]);
        if (k + AHEAD < c->n) {
            uint32_t soon = events[c->slots[k + AHEAD]];
            const Packed *packed = &chunks[soon / CHUNK_EVENTS].columns[column];
            if (packed->width)
                __builtin_prefetch(packed->deltas + soon % CHUNK_EVENTS * packed->width);
        }
        uint32_t slot = c->slots[k], event = events[slot];
        out[slot] = value_in(c, &chunks[event / CHUNK_EVENTS], column, event % CHUNK_EVENTS);
    }
}

bool events_fill(EventsCursor *c, enum ChunkColumn column)
{
    unsigned bits = 1u << column;
    if (c->events && column == COL_META && c->unit.group) {
        for (uint32_t k = 0; k < c->n; k++)
            c->values->columns[COL_META][c->slots[k]] = c->unit.group->meta;
    } else if (c->events) {
        gather(c, column);
    } else {
        const Chunk *chunk = &c->unit.line->chunks[c->first / CHUNK_EVENTS];
        if (!chunk->packed) bits = CHUNK_ALL; /* is read completely from the file */
        chunk_read(c->unit.line, chunk, bits, c->values, &c->window, &c->err);
    }
    if (c->err.code) return false;
    c->filled |= bits;
    return true;
}

/* ---- filters ---- */

static bool meets(Range r, int64_t least, int64_t most) { return r.low <= most && least <= r.high; }
static bool is_text(const char *wanted, const Text *text)
{
    return !wanted || !strcmp(wanted, text->text);
}

static bool source_wanted(const EventsCursor *c, const SourceRun *from)
{
    return !c->run_is || !strcmp(c->run_is, from->label);
}

static bool line_wanted(const EventsCursor *c, const SourceRun *from, const Line *line)
{
    const Plane *plane = line->plane;
    if (!line->n_events || (from->only && plane->host != from->only)) return false;
    if (c->host_is && strcmp(c->host_is, plane->host->name)) return false;
    if (!is_within(c->plane_id, plane->plane_id) || !is_within(c->line_id, line->line_id))
        return false;
    if (!meets(c->event_id, (int64_t)line->first_event,
               (int64_t)(line->first_event + line->n_events - 1)))
        return false;
    if (c->plane_kind_is && strcmp(c->plane_kind_is, plane_kind_names[plane->kind])) return false;
    if (c->line_kind_is && strcmp(c->line_kind_is, line_kind_names[line->kind])) return false;
    return is_text(c->plane_is, plane->name) && is_text(c->line_is, line_label(line));
}

/* ---- steps and group ids ---- */

const Grouping *events_grouping(EventsCursor *c)
{
    Host *host = c->unit.line->plane->host;
    if (c->grouping_of == host) return c->grouping;
    c->grouping_of = NULL;
    c->grouping = host_grouping(host, &c->err);
    if (c->grouping) c->grouping_of = host;
    return c->grouping;
}

/* Returns the column of the line's steps, a Packed for each chunk. NULL if no event has a step. */
static const Packed *steps_of_line(EventsCursor *c)
{
    const Grouping *grouping = events_grouping(c);
    return grouping ? step_groups(line_groups(grouping, c->unit.line)) : NULL;
}

/* Returns whether a packed column may have a value of the range. */
static bool packed_meets(Range r, const Packed *packed)
{
    int64_t most;
    if (__builtin_add_overflow(packed->base, (int64_t)packed_masks[packed->width], &most) ||
        packed->width == 8)
        return true;
    return meets(r, packed->base, most);
}

/* Returns whether the chunk may have an event of the wanted steps and groups. */
static bool chunk_groups_wanted(EventsCursor *c, uint64_t chunk)
{
    const Packed *steps = is_all(c->step) ? NULL : steps_of_line(c);
    const StatColumn *groups = &c->unit.line->chunks[chunk].stat_columns[STAT_COLUMN_GROUP];
    bool all_int64 = !groups->types.width && groups->types.base == TYPE_INT64;
    if (all_int64 && !packed_meets(c->group, &groups->values)) return false;
    return is_all(c->step) || (steps && packed_meets(c->step, &steps[chunk]));
}

static bool step_wanted(EventsCursor *c)
{
    const Packed *steps = steps_of_line(c);
    uint64_t at = index_of(c);
    return steps && is_within(c->step, packed_at(&steps[at / CHUNK_EVENTS], at % CHUNK_EVENTS));
}

/* Returns whether the event may have a wanted group id: its own, or else one of its metadata, which
 * SQLite compares. */
static bool group_wanted(EventsCursor *c)
{
    uint64_t at = index_of(c);
    const StatColumn *column =
        &c->unit.line->chunks[at / CHUNK_EVENTS].stat_columns[STAT_COLUMN_GROUP];
    int64_t type = packed_at(&column->types, at % CHUNK_EVENTS);
    if (type == TYPE_NONE) return meta_of(c)->has_stats;
    return (type != TYPE_INT64 && type != TYPE_UINT64) ||
           is_within(c->group, packed_at(&column->values, at % CHUNK_EVENTS));
}

static bool chunk_wanted(const EventsCursor *c, const Line *line, const Chunk *k)
{
    int64_t start = line->start_ps;
    return meets(c->duration, k->min_duration, k->max_duration) &&
           meets(c->start, add_saturated(start, k->min_offset),
                 add_saturated(start, k->max_offset)) &&
           meets(c->end,
                 add_saturated(start, k->min_end < k->min_offset ? k->min_end : k->min_offset),
                 INT64_MAX) &&
           c->end.low <= (k->max_end == INT64_MAX ? INT64_MAX : add_saturated(start, k->max_end));
}

/* Keeps the slots whose value, computed for c->slot, passes. False on an error. */
#define KEEP(passes)                                                                               \
    {                                                                                              \
        uint32_t n = 0;                                                                            \
        for (uint32_t k = 0; k < c->n; k++) {                                                      \
            c->slot = c->slots[k];                                                                 \
            c->slots[n] = (uint16_t)c->slot;                                                       \
            n += (passes);                                                                         \
        }                                                                                          \
        c->n = n;                                                                                  \
    }

static void drop_unwanted(EventsCursor *c)
{
    if (c->events && !is_all(c->event_id)) KEEP(is_within(c->event_id, (int64_t)event_of(c)))
    const uint8_t *match = events_match_metas(c) ? events_matches(c, c->unit.line) : NULL;
    if (match) KEEP(match[value_of(c, COL_META)])
    if (!is_all(c->duration)) KEEP(is_within(c->duration, value_of(c, COL_DURATION)))
    if (!is_all(c->start)) KEEP(is_within(c->start, start_of(c)))
    if (!is_all(c->end)) KEEP(is_within(c->end, end_of(c)))
    if (!is_all(c->step)) KEEP(step_wanted(c))
    if (!is_all(c->group)) KEEP(group_wanted(c))
}

/* ---- events listed for a unit ---- */

static bool list_add(EventsCursor *c, uint64_t index)
{
    if (index > UINT32_MAX)
        prof_fail(
            &c->err, PROF_FORMAT, c->unit.line->span.offset,
            "%s: a line of %llu events is too long for this query; add a bound on start_ps to it",
            c->unit.line->plane->host->file.path, (unsigned long long)c->unit.line->n_events);
    else if (!GROW(c->list, c->n_list, c->list_capacity))
        prof_nomem(&c->err);
    else
        c->list[c->n_list++] = (uint32_t)index;
    return !c->err.code;
}

/* Computes offset and end of an event, both from the line's start. */
static void place_of(EventsCursor *c, uint64_t index, int64_t *offset, int64_t *end)
{
    const Chunk *chunk = &c->unit.line->chunks[index / CHUNK_EVENTS];
    size_t i = index % CHUNK_EVENTS;
    *offset =
        event_offset(value_in(c, chunk, COL_OFFSET, i), value_in(c, chunk, COL_AGGREGATED, i));
    *end = add_saturated(*offset, value_in(c, chunk, COL_DURATION, i));
}

/* Lists the children of an event. They follow it on its line, until an event starts after its end.
 */
static void list_children(EventsCursor *c, uint64_t parent)
{
    Line *line = c->unit.line;
    const NestingChunk *nesting = line_nesting(line, &c->err);
    uint64_t at = parent - line->first_event;
    int64_t offset, end, stop;
    place_of(c, at, &offset, &stop);
    for (uint64_t i = line->ordered ? at + 1 : 0; nesting && !c->err.code && i < line->n_events;
         i++) {
        place_of(c, i, &offset, &end);
        if (line->ordered && offset > stop) break;
        int64_t distance =
            packed_at(&nesting[i / CHUNK_EVENTS].columns[NEST_PARENT], i % CHUNK_EVENTS);
        if (distance && (int64_t)i - distance == (int64_t)at) list_add(c, i);
    }
}

typedef struct {
    int64_t offset;
    uint32_t event;
} Started;

ORDER_BY_TWO(by_start, Started, offset, event)

/* Lists the events by start, for a line that is not stored that way. */
static void list_by_start(EventsCursor *c)
{
    Line *line = c->unit.line;
    Started *s = prof_alloc((size_t)line->n_events * sizeof *s);
    if (!s) prof_nomem(&c->err);
    for (uint64_t i = 0; i < line->n_events && !c->err.code; i++) {
        int64_t end;
        place_of(c, i, &s[i].offset, &end);
        s[i].event = (uint32_t)i;
        list_add(c, i);
    }
    if (!c->err.code) {
        sort_in_place(s, (size_t)line->n_events, sizeof *s, by_start);
        for (uint64_t i = 0; i < line->n_events; i++) c->list[i] = s[i].event;
    }
    prof_free(s);
}

/* ---- units ---- */

static void open_unit(EventsCursor *c, EventUnit unit)
{
    const File *file = &unit.line->plane->host->file;
    if (c->window.file != file) {
        window_free(&c->window), window_free(&c->stat_window);
        c->window.file = c->stat_window.file = file;
    }
    c->unit = unit;
    c->events = NULL;
    c->n_list = 0;
    c->next = 0, c->stop = unit.line->n_events;
}

/* Opens a unit for the events in c->list. */
static bool open_list(EventsCursor *c)
{
    c->events = c->list, c->next = 0, c->stop = c->n_list;
    return true;
}

/* Skips chunks before the range of starts, by the chunks' own ranges. */
static void skip_to_start(EventsCursor *c)
{
    const Line *line = c->unit.line;
    size_t low =
        LOWER_BOUND(i, (size_t)(c->next / CHUNK_EVENTS), line->n_chunks,
                    add_saturated(line->start_ps, line->chunks[i].max_offset) < c->start.low);
    if (c->next < (uint64_t)low * CHUNK_EVENTS) c->next = (uint64_t)low * CHUNK_EVENTS;
}

static bool open_line(EventsCursor *c, EventUnit unit)
{
    const Line *line = unit.line;
    open_unit(c, unit);
    if (unit.group) {
        const EventsByMeta *ordered = line_events_ordered(line);
        c->events = ordered->events;
        c->next = group_begin(ordered, unit.group), c->stop = unit.group->end;
        return true;
    }
    if (c->plan & PLAN_BY_START && !line->ordered) {
        list_by_start(c);
        return open_list(c);
    }
    if (c->event_id.low > (int64_t)line->first_event)
        c->next = (uint64_t)c->event_id.low - line->first_event;
    if (c->event_id.high < (int64_t)(line->first_event + line->n_events))
        c->stop = (uint64_t)c->event_id.high + 1 - line->first_event;
    if (line->ordered && c->start.low > line->start_ps) skip_to_start(c);
    return true;
}

/* Moves to the next line in file order. */
static bool next_line(EventsCursor *c)
{
    for (; c->at_source < c->n_sources; c->at_source++, c->at_line = 0) {
        SourceRun *from = &c->sources[c->at_source];
        if (!source_wanted(c, from)) continue;
        if (c->line_id.low > (int64_t)c->at_line) c->at_line = (size_t)c->line_id.low;
        while (c->at_line < from->run->n_lines && (int64_t)c->at_line <= c->line_id.high) {
            Line *line = from->run->lines[c->at_line++];
            if (line_wanted(c, from, line)) return open_line(c, (EventUnit){from, line, NULL});
        }
    }
    return false;
}

/* Moves to an event given by id, or to its children. */
static bool next_event(EventsCursor *c, int64_t event, bool children)
{
    while (c->at_source < c->n_sources && !c->err.code) {
        SourceRun *from = &c->sources[c->at_source++];
        Line *line = event < 0 || !source_wanted(c, from)
                         ? NULL
                         : run_line_of_event(from->run, (uint64_t)event);
        if (!line || !line_wanted(c, from, line)) continue;
        open_unit(c, (EventUnit){from, line, NULL});
        if (children)
            list_children(c, (uint64_t)event);
        else
            list_add(c, (uint64_t)event - line->first_event);
        return open_list(c);
    }
    return false;
}

/* Finds the pairs of a source with the wanted correlation id. */
static void find_pairs(EventsCursor *c, const SourceRun *from)
{
    const Correlation *all = source_wanted(c, from) ? run_correlation(from->run, &c->err) : NULL;
    uint64_t id = (uint64_t)c->correlation_id.low;
    if (!all) return;
    size_t low = LOWER_BOUND(i, 0, all->n, all->items[i].correlation_id < id);
    c->pairs = all->items + low;
    while (low + c->n_pairs < all->n && c->pairs[c->n_pairs].correlation_id == id) c->n_pairs++;
}

/* Moves to the next events with one correlation id, those of one line at a time. */
static bool next_correlated(EventsCursor *c)
{
    while (!c->err.code) {
        if (!c->n_pairs) {
            if (c->at_source == c->n_sources) return false;
            find_pairs(c, &c->sources[c->at_source++]);
            continue;
        }
        SourceRun *from = &c->sources[c->at_source - 1];
        Line *line = run_line_of_event(from->run, c->pairs->event);
        open_unit(c, (EventUnit){from, line, NULL});
        for (; c->n_pairs && c->pairs->event - line->first_event < line->n_events;
             c->pairs++, c->n_pairs--)
            if (!list_add(c, c->pairs->event - line->first_event)) return false;
        if (line_wanted(c, from, line)) return open_list(c);
    }
    return false;
}

static bool next_unit(EventsCursor *c)
{
    if (c->plan & PLAN_UNITS)
        return c->at_unit < c->n_units &&
               open_line(c, unit_of(c->sources, &c->units[c->at_unit++]));
    if (is_point(c->correlation_id)) return next_correlated(c);
    if (is_point(c->parent_id)) return next_event(c, c->parent_id.low, true);
    if (is_point(c->event_id)) return next_event(c, c->event_id.low, false);
    return next_line(c);
}

static bool add_unit(EventsCursor *c, KeptUnit unit)
{
    if (!GROW(c->units, c->n_units, c->unit_capacity)) {
        prof_nomem(&c->err);
        return false;
    }
    c->units[c->n_units++] = unit;
    return true;
}

/* Lists all units of the plan, sorted. */
static void make_units(EventsCursor *c, const char *keys)
{
    bool few_lines = c->host_is || c->plane_is || c->line_is || c->plane_kind_is ||
                     c->line_kind_is || !is_all(c->plane_id) || !is_all(c->line_id) ||
                     !is_all(c->event_id);
    for (int s = 0; s < c->n_sources && !c->err.code; s++) {
        SourceRun *from = &c->sources[s];
        if (!source_wanted(c, from)) continue;
        if (c->plan & PLAN_GROUPS && !few_lines && !from->only &&
            !run_events_by_meta(from->run, &c->err))
            return;
        for (uint32_t l = 0; l < from->run->n_lines && !c->err.code; l++) {
            Line *line = from->run->lines[l];
            if (!line_wanted(c, from, line)) continue;
            const EventsByMeta *order =
                c->plan & PLAN_GROUPS ? line_events_by_meta(line, &c->err) : NULL;
            if (!(c->plan & PLAN_GROUPS)) add_unit(c, (KeptUnit){NULL, (uint32_t)s, l});
            const uint8_t *match = order && events_match_metas(c) ? events_matches(c, line) : NULL;
            for (size_t g = 0; order && g < order->n_groups && !c->err.code; g++)
                if (!match || match[order->groups[g].meta])
                    add_unit(c, (KeptUnit){&order->groups[g], (uint32_t)s, l});
        }
    }
    if (!c->err.code) units_sort(c->units, c->n_units, c->sources, keys);
}

/* ---- stepping ---- */

/* Reads the unit's next events into the batch. False at its end. */
static bool load_batch(EventsCursor *c)
{
    const Line *line = c->unit.line;
    while (c->next < c->stop) {
        uint32_t low = 0, n;
        c->filled = 0;
        if (c->events) {
            c->first = c->next;
            n = c->stop - c->next < CHUNK_EVENTS ? (uint32_t)(c->stop - c->next) : CHUNK_EVENTS;
            c->next += n;
        } else {
            const Chunk *chunk = &line->chunks[c->next / CHUNK_EVENTS];
            c->first = c->next - c->next % CHUNK_EVENTS;
            low = (uint32_t)(c->next - c->first);
            c->next = c->first + chunk->n_events;
            n = (uint32_t)((c->next < c->stop ? c->next : c->stop) - c->first) - low;
            if (line->ordered && add_saturated(line->start_ps, chunk->min_offset) > c->start.high)
                return false;
            if (!chunk_wanted(c, line, chunk) || !chunk_groups_wanted(c, c->first / CHUNK_EVENTS))
                continue;
        }
        for (uint32_t k = 0; k < n; k++) c->slots[k] = (uint16_t)(low + k);
        c->n = n;
        return true;
    }
    return false;
}

static int find_batch(EventsCursor *c)
{
    if (c->plan & PLAN_ONE) c->next = c->stop; /* the current unit has returned its row */
    for (;;) {
        while (!c->err.code && load_batch(c)) {
            if (c->narrow) drop_unwanted(c);
            if (!c->n || c->err.code) continue;
            if (c->plan & PLAN_ONE) c->n = 1;
            c->k = 0, c->slot = c->slots[0];
            return SQLITE_OK;
        }
        if (c->err.code) return events_fail(c);
        if (!next_unit(c)) {
            c->eof = true;
            return c->err.code ? events_fail(c) : SQLITE_OK;
        }
    }
}

static int next_batch(EventsCursor *c)
{
    Statement s;
    statement_open(&s, events_db(c));
    return statement_close(&s, find_batch(c));
}

bool events_point(EventsCursor *c, SourceRun *from, Line *line, uint64_t index)
{
    open_unit(c, (EventUnit){from, line, NULL});
    if (!list_add(c, index) || !open_list(c) || !load_batch(c)) return false;
    c->k = 0, c->slot = c->slots[0];
    return true;
}

int events_next(sqlite3_vtab_cursor *cursor)
{
    EventsCursor *c = (EventsCursor *)cursor;
    if (++c->k == c->n) return next_batch(c);
    c->slot = c->slots[c->k];
    return SQLITE_OK;
}

void events_forget(EventsCursor *c)
{
    char **const texts[] = {&c->run_is,       &c->host_is,   &c->plane_is,
                            &c->line_is,      &c->name_is,   &c->plane_kind_is,
                            &c->line_kind_is, &c->hlo_op_is, &c->program_is};
    for (size_t i = 0; i < COUNT(texts); i++) {
        sqlite3_free(*texts[i]);
        *texts[i] = NULL;
    }
    c->at_source = 0, c->at_line = c->at_unit = c->n_units = c->n_pairs = c->n_list = 0;
    c->unit = (EventUnit){0}, c->events = NULL, c->next = c->stop = 0, c->n = c->k = 0;
    c->eof = true;
    c->err = (ProfErr){0};
}

/* Opens the sources, unless the previous filter opened the same: the inner table of a join is
 * filtered for every row of the outer one. */
static int open_sources(EventsCursor *c, SourceNames *before)
{
    bool same = c->sources && source_names_equal(before, &c->asked);
    source_names_free(before);
    if (same) return SQLITE_OK;
    prof_release(c->sources, c->n_sources);
    c->sources = NULL, c->n_sources = 0;
    c->n_names = 0, c->match_plane = NULL, c->nesting_of = NULL, c->facts_line = NULL,
    c->spare_of = NULL, c->grouping_of = NULL;
    window_free(&c->window), window_free(&c->stat_window);
    c->window.file = c->stat_window.file = NULL;
    char *message = NULL;
    int rc = prof_open_names(((ProfTable *)c->base.pVtab)->prof, &c->asked, false, &c->sources,
                             &c->n_sources, &message);
    if (rc != SQLITE_OK) return prof_table_fail(c->base.pVtab, rc, message);
    return prof_keep(&c->kept, c->sources, c->n_sources) ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns whether the events of each line should be sorted by metadata: a single name, instruction
 * or program is searched in all events; for those of an IN or a join, sorting is faster. */
static bool by_meta_again(EventsCursor *c)
{
    if (!events_match_metas(c) || c->plan & (PLAN_UNITS | PLAN_FILE_ORDER) ||
        is_point(c->correlation_id) || is_point(c->parent_id))
        return false;
    if (!is_all(c->event_id) || !is_all(c->start) || !is_all(c->end) || c->n_names++ == 0)
        return false;
    for (int s = 0; s < c->n_sources; s++)
        if (c->sources[s].run->n_events > UINT32_MAX) return false;
    return true;
}

int events_filter(sqlite3_vtab_cursor *cursor, int plan, const char *terms, int argc,
                  sqlite3_value **argv)
{
    EventsCursor *c = (EventsCursor *)cursor;
    const char *keys;
    events_forget(c);
    c->match_plane = NULL;
    if (!c->values && !(c->values = prof_alloc(sizeof *c->values))) return SQLITE_NOMEM;
    if (plan & PLAN_MISSING)
        return prof_argument_missing(cursor->pVtab, ((ProfTable *)cursor->pVtab)->table->name,
                                     "source");
    SourceNames before = c->asked;
    c->asked = (SourceNames){0};
    c->plan = plan;
    int rc = events_read_terms(c, terms, argc, argv, &keys);
    sqlite3_value *source = ((ProfTable *)cursor->pVtab)->source;
    if (rc == SQLITE_OK && !c->asked.given && source)
        rc = source_names_read(&c->asked, cursor->pVtab, source, false);
    int opened = rc == SQLITE_OK ? open_sources(c, &before) : SQLITE_OK;
    if (rc != SQLITE_OK) {
        source_names_free(&c->asked);
        c->asked = before;
        return rc == SQLITE_DONE ? SQLITE_OK : rc;
    }
    if (opened != SQLITE_OK) return opened;
    if (by_meta_again(c)) c->plan |= PLAN_UNITS | PLAN_GROUPS;
    if (c->plan & PLAN_UNITS) make_units(c, keys);
    if (c->err.code) return events_fail(c);
    c->eof = false;
    return next_batch(c);
}
