// SPDX-License-Identifier: Apache-2.0
/* derived_line.c: packs the events of a derived line as they are created, and sorts them at the
 * end; see derived_parts.h. */
#include "../../base/sort.h"
#include "derived_parts.h"

static PackedRow row_of(const DerivedEvent *e)
{
    return (PackedRow){{[DERIVED_START] = e->start_ps,
                        [DERIVED_DURATION] = e->duration_ps,
                        [DERIVED_GROUP] = e->group,
                        [DERIVED_META] = e->meta}};
}

uint32_t line_add(LineMaker *m, const DerivedEvent *event)
{
    PackedRow row = row_of(event);
    rows_add(&m->events, &row);
    return (uint32_t)rows_added(&m->events) - 1;
}

void line_add_stat(LineMaker *m, uint32_t event, enum DerivedStatName name, StatValue value)
{
    PackedRow row = {{[DERIVED_STAT_EVENT] = event,
                      [DERIVED_STAT_NAME] = name,
                      [DERIVED_STAT_TYPE] = value.type,
                      [DERIVED_STAT_VALUE] = value.integer}};
    rows_add(&m->stats, &row);
}

DerivedStat derived_stat(const DerivedLine *line, size_t stat)
{
    PackedRow row = packed_row(&line->stats, stat);
    return (DerivedStat){(uint32_t)row.values[DERIVED_STAT_EVENT],
                         (enum DerivedStatName)row.values[DERIVED_STAT_NAME],
                         {.type = (enum StatType)row.values[DERIVED_STAT_TYPE],
                          .integer = row.values[DERIVED_STAT_VALUE]}};
}

void level_write(LineMaker *m, Level *level)
{
    if (!level->open) return;
    PackedRow row = row_of(&level->event);
    if (level->changed) rows_set(&m->events, level->place, &row);
    if (level->has_graph)
        line_add_stat(m, level->place, DERIVED_GRAPH,
                      (StatValue){.type = TYPE_UINT64, .u64 = level->graph});
    if (level->has_correlation)
        line_add_stat(m, level->place, DERIVED_CORRELATION,
                      (StatValue){.type = TYPE_INT64, .integer = level->correlation});
    level->changed = level->has_graph = level->has_correlation = false;
}

void line_restart(Derivation *d, LineMaker *m)
{
    d->events_left += rows_added(&m->events);
    rows_drop(&m->events);
    rows_drop(&m->stats);
    m->levels.n = 0;
}

void line_drop(LineMaker *m)
{
    rows_drop(&m->events);
    rows_drop(&m->stats);
    prof_free(m->levels.items);
    *m = (LineMaker){.line = m->line};
}

/* ---- sorting ---- */

static int compare(const PackedRows *rows, size_t x, size_t y)
{
    int64_t start = packed_value(rows, x, DERIVED_START),
            other = packed_value(rows, y, DERIVED_START);
    if (start != other) return ORDER(start, other);
    int64_t duration = packed_value(rows, x, DERIVED_DURATION);
    other = packed_value(rows, y, DERIVED_DURATION);
    return duration > other ? -1 : duration < other;
}

static int by_start_then_longest(const void *a, const void *b, void *rows)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare(rows, x, y);
    if (order) return order;
    return ORDER(x, y);
}

enum Sortedness { UNSORTED, STARTS_SORTED, SORTED };

static enum Sortedness sortedness(const PackedRows *rows)
{
    enum Sortedness found = SORTED;
    int64_t start_ps = INT64_MIN, duration_ps = 0;
    for (size_t i = 0; i < rows->n; i++) {
        int64_t last_start_ps = start_ps, last_duration_ps = duration_ps;
        start_ps = packed_value(rows, i, DERIVED_START);
        duration_ps = packed_value(rows, i, DERIVED_DURATION);
        if (start_ps < last_start_ps) return UNSORTED;
        if (i && start_ps == last_start_ps && duration_ps > last_duration_ps) found = STARTS_SORTED;
    }
    return found;
}

/* Sorts the events. Most lines are sorted except for events that start together, so only these are
 * sorted. *places: the new place of each event; NULL if all stay. */
static bool sort_events(PackedRows *rows, bool has_stats, uint32_t **places_out)
{
    enum Sortedness sorted = sortedness(rows);
    if (sorted == SORTED) return true;
    RowWriter out = {0};
    LIST(uint32_t) together = {0};
    uint32_t *places = has_stats ? prof_alloc(rows->n * sizeof *places) : NULL;
    int64_t start_ps = 0;
    bool memory = places || !has_stats;
    for (size_t i = 0; i <= rows->n && memory; i++) {
        int64_t last_start_ps = start_ps;
        start_ps = i < rows->n ? packed_value(rows, i, DERIVED_START) : 0;
        bool is_new = i == rows->n || (sorted == STARTS_SORTED && start_ps != last_start_ps);
        if (is_new && together.n) {
            sort_in_place_by(together.items, together.n, sizeof *together.items,
                             by_start_then_longest, rows);
            for (size_t k = 0; k < together.n; k++) {
                PackedRow moved = packed_row(rows, together.items[k]);
                if (places) places[together.items[k]] = (uint32_t)rows_added(&out);
                rows_add(&out, &moved);
            }
            together.n = 0;
        }
        uint32_t *place = i < rows->n ? PUSH(together) : &(uint32_t){0};
        if (place) *place = (uint32_t)i;
        memory = place != NULL;
    }
    packed_rows_free(rows);
    memory &= rows_finish(&out, rows);
    prof_free(together.items);
    *places_out = places;
    return memory;
}

static int by_event(const void *a, const void *b, void *stats)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (int c = DERIVED_STAT_EVENT; c <= DERIVED_STAT_NAME; c++) {
        int64_t p = packed_value(stats, x, c), q = packed_value(stats, y, c);
        if (p != q) return ORDER(p, q);
    }
    return ORDER(x, y);
}

/* Sorts the stats by the places of their events. */
static bool sort_stats(PackedRows *stats, const uint32_t *places)
{
    bool sorted = !places;
    for (size_t i = 1; i < stats->n && sorted; i++)
        sorted = by_event(&(uint32_t){(uint32_t)i - 1}, &(uint32_t){(uint32_t)i}, stats) < 0;
    if (sorted) return true;
    RowWriter out = {0};
    uint32_t *order = prof_alloc(stats->n * sizeof *order);
    for (size_t i = 0; i < stats->n && order; i++) {
        PackedRow row = packed_row(stats, i);
        if (places) row.values[DERIVED_STAT_EVENT] = places[row.values[DERIVED_STAT_EVENT]];
        rows_add(&out, &row);
        order[i] = (uint32_t)i;
    }
    size_t n = stats->n;
    packed_rows_free(stats);
    PackedRows unsorted;
    bool memory = rows_finish(&out, &unsorted) && order;
    if (memory) sort_in_place_by(order, n, sizeof *order, by_event, &unsorted);
    for (size_t i = 0; i < n && memory; i++) {
        PackedRow row = packed_row(&unsorted, order[i]);
        rows_add(&out, &row);
    }
    memory &= rows_finish(&out, stats);
    packed_rows_free(&unsorted);
    prof_free(order);
    return memory;
}

/* ---- the end of a line ---- */

bool line_end(Derivation *d, LineMaker *m, ProfErr *err)
{
    for (size_t i = 0; i < m->levels.n; i++) level_write(m, &m->levels.items[i]);
    bool any = rows_added(&m->events) || m->events.no_memory;
    PackedRows events = {0}, stats = {0};
    uint32_t *places = NULL;
    DerivedLine *kept = NULL;
    if (any && !err->code && rows_finish(&m->events, &events) && rows_finish(&m->stats, &stats) &&
        sort_events(&events, stats.n != 0, &places) && sort_stats(&stats, places))
        kept = PUSH(d->lines);
    if (kept) {
        *kept = m->line;
        kept->events = events, kept->stats = stats;
    } else {
        packed_rows_free(&events);
        packed_rows_free(&stats);
        if (any) prof_nomem(err);
    }
    prof_free(places);
    line_drop(m);
    return !err->code;
}
