// SPDX-License-Identifier: Apache-2.0
/* event_metadata.c: the tables event_metadata, event_metadata_stats and event_stats: what events
 * are called and carry.
 *
 *   SELECT name, value FROM event_stats('logs') WHERE event_id = 17;   -- correlation_id|60 */
#include "../loader/format/xspace.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

/* Moves to the host's next declared metadata entry that the plan leaves in; c->i the plane, c->j
 * the entry. */
static bool next_entry(RowCursor *c)
{
    for (;; c->i++, c->j = 0) {
        size_t at = row_seek(c, KEY_PLANE_ID, c->host->first_plane, c->host->n_planes, c->i);
        if (at != c->i) c->i = at, c->j = 0;
        if (at >= c->host->n_planes) return false;
        const Plane *plane = &c->host->planes[at];
        if (c->has_key[KEY_METADATA_ID]) {
            int64_t k = id_find(&plane->event_ids, plane->event_metas, sizeof(EventMeta),
                                c->key[KEY_METADATA_ID]);
            if (k >= 0 && (size_t)k >= c->j)
                return c->j = (size_t)k, c->place = (uint64_t)plane->plane_id << 32 | c->j, true;
        } else if (c->j < plane->n_declared) {
            c->place = (uint64_t)plane->plane_id << 32 | c->j;
            return true;
        }
    }
}

/* ---- event_metadata ---- */

#define EVENT_METADATA_COLUMNS(C)                                                                  \
    C(EM_RUN, RUN_DOC)                                                                             \
    C(EM_HOST, HOST_DOC)                                                                           \
    C(EM_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(EM_PLANE, PLANE_DOC)                                                                         \
    C(EM_ID, "metadata_id", "INTEGER", NULL, "id of the event metadata, unique in its plane",      \
      "XPlane.event_metadata")                                                                     \
    C(EM_NAME, "name", "TEXT", NULL,                                                               \
      "name of the events of this metadata; for a TPU op, its HLO text", "XEventMetadata.name")    \
    C(EM_DISPLAY_NAME, "display_name", "TEXT", NULL,                                               \
      "short name for display; NULL if the file has none", "XEventMetadata.display_name")          \
    C(EM_METADATA, "metadata", "BLOB", NULL,                                                       \
      "opaque bytes of the metadata; NULL if the file has none", "XEventMetadata.metadata")        \
    C(EM_CHILD_IDS, "child_ids", "TEXT", NULL,                                                     \
      "JSON array of the metadata ids of fused children; NULL if there are none",                  \
      "XEventMetadata.child_id")                                                                   \
    C(EM_STATS, "stat_count", "INTEGER", "stats",                                                  \
      "number of stats that all events of this metadata share", "XEventMetadata.stats")            \
    C(EM_EVENTS, "event_count", "INTEGER", "events", "number of events of this metadata",          \
      "libprofsql")                                                                                \
    C(EM_SOURCE, SOURCE_DOC)
enum { EVENT_METADATA_COLUMNS(COLUMN_ENUM) };
static const Column event_metadata_columns[] = {EVENT_METADATA_COLUMNS(COLUMN_DOC)};

static bool event_metadata_next(RowCursor *c)
{
    if (c->started) c->j++;
    c->item = NULL;
    return next_entry(c);
}

/* Events of each metadata of the plane in hand. */
typedef struct {
    const Plane *plane;
    uint64_t *counts;
} EventCounts;

static void counts_free(void *owned)
{
    EventCounts *e = owned;
    prof_free(e->counts);
    prof_free(e);
}

static bool count_events(RowCursor *c, const Plane *plane)
{
    EventCounts *e = c->owned;
    if (e && e->plane == plane) return true;
    if (!e && !run_totals(c->host->run, &c->err)) return false;
    if (!e && !(e = c->owned = prof_alloc(sizeof *e))) return prof_nomem(&c->err), false;
    prof_free(e->counts);
    *e = (EventCounts){NULL, prof_alloc(plane->n_event_metas * sizeof *e->counts)};
    if (!e->counts) return prof_nomem(&c->err), false;
    for (size_t i = 0; i < plane->n_lines; i++) {
        const Line *line = &c->host->lines[plane->first_line + i];
        for (size_t k = 0; k < line->n_totals; k++)
            e->counts[line->totals[k].meta] += line->totals[k].count;
    }
    e->plane = plane;
    return true;
}

static void child_ids(RowCursor *c, sqlite3_context *ctx)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    Field f = {0};
    for (const uint8_t *p = c->at; p && p < c->end;) {
        p = wire_field(p, c->end, &f);
        if (!p || f.number != 6) continue;
        const uint8_t *q = f.bytes, *end = q;
        uint64_t id = f.value;
        if (f.type == WIRE_VARINT) {
            sqlite3_str_appendf(out, "%s%lld", sqlite3_str_length(out) ? "," : "[", (long long)id);
        } else if (f.type == WIRE_BYTES) {
            for (end = q + f.value; q && q < end;)
                if ((q = wire_varint(q, end, &id)))
                    sqlite3_str_appendf(out, "%s%lld", sqlite3_str_length(out) ? "," : "[",
                                        (long long)id);
        }
    }
    if (sqlite3_str_length(out)) sqlite3_str_appendchar(out, 1, ']');
    int n = sqlite3_str_length(out);
    if (sqlite3_str_errcode(out)) sqlite3_result_error_nomem(ctx);
    char *text = sqlite3_str_finish(out);
    if (text && n) {
        sqlite3_result_text(ctx, text, n, sqlite3_free);
        sqlite3_result_subtype(ctx, 'J');
    } else {
        sqlite3_free(text);
    }
}

static void event_metadata_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Plane *plane = &c->host->planes[c->i];
    const EventMeta *meta = &plane->event_metas[c->j];
    sqlite3_int64 n = 0;
    if (column == EM_METADATA || column == EM_CHILD_IDS || column == EM_STATS) {
        if (c->item != meta && !cursor_message(c, meta->span)) return;
        c->item = meta;
    }
    switch (column) {
    case EM_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case EM_PLANE: result_text(ctx, plane->name); break;
    case EM_ID: sqlite3_result_int64(ctx, meta->id); break;
    case EM_NAME: result_text(ctx, meta->name); break;
    case EM_DISPLAY_NAME:
        if (meta->display_name->n_bytes) result_text(ctx, meta->display_name);
        break;
    case EM_METADATA: {
        Field f = {0}, last = {0};
        for (const uint8_t *p = c->at; p && p < c->end;)
            if ((p = wire_field(p, c->end, &f)) && f.number == 3 && f.type == WIRE_BYTES) last = f;
        if (last.value) sqlite3_result_blob64(ctx, last.bytes, last.value, SQLITE_TRANSIENT);
        break;
    }
    case EM_CHILD_IDS: child_ids(c, ctx); break;
    case EM_STATS: {
        Stat stat;
        for (const uint8_t *p = c->at; (p = stat_next(p, c->end, 5, &stat));) n++;
        sqlite3_result_int64(ctx, n);
        break;
    }
    case EM_EVENTS:
        if (!count_events(c, plane)) return;
        sqlite3_result_int64(ctx, (sqlite3_int64)((EventCounts *)c->owned)->counts[c->j]);
        break;
    default: break;
    }
}

static double event_metadata_count(const Counts *counts) { return counts->metadata; }
static const RowSource event_metadata_rows = {.next = event_metadata_next,
                                              .column = event_metadata_column,
                                              .release = counts_free,
                                              .count = event_metadata_count,
                                              .nothing = "no plane declares event metadata"};
const Table event_metadata_table = {
    "event_metadata",
    "one event metadata entry that a plane declares: the name and stats that its events "
    "share",
    event_metadata_columns,
    COUNT(event_metadata_columns),
    &row_table_module,
    &event_metadata_rows,
    10000};

/* ---- event_metadata_stats ---- */

#define EVENT_METADATA_STATS_COLUMNS(C)                                                            \
    C(MS_RUN, RUN_DOC)                                                                             \
    C(MS_HOST, HOST_DOC)                                                                           \
    C(MS_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(MS_METADATA_ID, "metadata_id", "INTEGER", NULL,                                              \
      "id of the event metadata, unique in its plane", "XPlane.event_metadata")                    \
    C(MS_STAT_ID, STAT_ID_DOC)                                                                     \
    C(MS_NAME, STAT_NAME_DOC)                                                                      \
    C(MS_TYPE, STAT_TYPE_DOC)                                                                      \
    C(MS_VALUE, STAT_VALUE_DOC)                                                                    \
    C(MS_SOURCE, SOURCE_DOC)
enum { EVENT_METADATA_STATS_COLUMNS(COLUMN_ENUM) };
static const Column event_metadata_stats_columns[] = {EVENT_METADATA_STATS_COLUMNS(COLUMN_DOC)};

static bool event_metadata_stats_next(RowCursor *c)
{
    for (;;) {
        if (c->at && (c->at = stat_next(c->at, c->end, 5, &c->stat))) /* plane, entry, nth stat */
            return c->place = place_pair(place_pair(c->host->planes[c->i].plane_id, 28, c->j), 12,
                                         c->nth++),
                   true;
        if (c->item) c->j++;
        c->item = NULL, c->at = NULL, c->nth = 0;
        if (!next_entry(c)) return false;
        const EventMeta *meta = &c->host->planes[c->i].event_metas[c->j];
        c->item = meta;
        if (!meta->has_stats) continue;
        if (!cursor_message(c, meta->span)) return false;
    }
}

static void stat_column(RowCursor *c, sqlite3_context *ctx, const Plane *plane, int column)
{
    switch (column) {
    case 0: sqlite3_result_int64(ctx, c->stat.id); break;
    case 1: result_text(ctx, stat_name(plane, &c->stat)); break;
    case 2: sqlite3_result_text(ctx, stat_type_names[c->stat.type], -1, SQLITE_STATIC); break;
    case 3: result_stat(ctx, plane, &c->stat); break;
    default: break;
    }
}

static void event_metadata_stats_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Plane *plane = &c->host->planes[c->i];
    if (column == MS_PLANE_ID)
        sqlite3_result_int64(ctx, plane->plane_id);
    else if (column == MS_METADATA_ID)
        sqlite3_result_int64(ctx, plane->event_metas[c->j].id);
    else
        stat_column(c, ctx, plane, column - MS_STAT_ID);
}

static double event_metadata_stats_count(const Counts *counts) { return counts->metadata * 5; }
static const RowSource event_metadata_stats_rows = {.next = event_metadata_stats_next,
                                                    .column = event_metadata_stats_column,
                                                    .count = event_metadata_stats_count,
                                                    .nothing = "no event metadata has a stat"};
const Table event_metadata_stats_table = {"event_metadata_stats",
                                          "one stat that all events of one metadata share",
                                          event_metadata_stats_columns,
                                          COUNT(event_metadata_stats_columns),
                                          &row_table_module,
                                          &event_metadata_stats_rows,
                                          50000};

/* ---- event_stats ---- */

#define EVENT_STATS_COLUMNS(C)                                                                     \
    C(ES_RUN, RUN_DOC)                                                                             \
    C(ES_HOST, HOST_DOC)                                                                           \
    C(ES_EVENT_ID, EVENT_ID_DOC)                                                                   \
    C(ES_ORIGIN, "origin", "TEXT", NULL,                                                           \
      "event: a stat of the event itself; metadata: a stat that all events of its metadata "       \
      "share",                                                                                     \
      "libprofsql")                                                                                \
    C(ES_STAT_ID, STAT_ID_DOC)                                                                     \
    C(ES_NAME, STAT_NAME_DOC)                                                                      \
    C(ES_TYPE, STAT_TYPE_DOC)                                                                      \
    C(ES_VALUE, STAT_VALUE_DOC)                                                                    \
    C(ES_SOURCE, SOURCE_DOC)
enum { EVENT_STATS_COLUMNS(COLUMN_ENUM) };
static const Column event_stats_columns[] = {EVENT_STATS_COLUMNS(COLUMN_DOC)};

/* c->i the line, c->j the event on it, c->part 0: not read, 1: own stats, 2: the metadata's. */
static bool event_stats_next(RowCursor *c)
{
    for (;;) {
        if (c->at && (c->at = stat_next(c->at, c->end, c->part == 1 ? 4 : 5, &c->stat)))
            return c->place = place_pair(c->host->lines[c->i].first_event + c->j, 16, c->nth++),
                   true;
        if (c->i >= c->host->n_lines) return false;
        Line *line = &c->host->lines[c->i];
        if (!c->started && c->has_key[KEY_EVENT_ID] &&
            c->part == 0) { /* straight to the one event */
            uint64_t event = (uint64_t)c->key[KEY_EVENT_ID];
            Line *found = c->key[KEY_EVENT_ID] < 0 ? NULL : run_line_of_event(c->host->run, event);
            if (!found || found->plane->host != c->host) return c->i = c->host->n_lines, false;
            line = found;
            c->i = (size_t)(found - c->host->lines), c->j = (size_t)(event - found->first_event);
        }
        if (c->part == 2) { /* this event is done */
            c->part = 0, c->nth = 0, c->j++;
            if (c->has_key[KEY_EVENT_ID]) return c->i = c->host->n_lines, false;
        }
        if (c->j >= line->n_events) {
            c->i++, c->j = 0;
            continue;
        }
        const Chunk *chunk = &line->chunks[c->j / CHUNK_EVENTS];
        int64_t position, meta_index;
        if (chunk->packed) {
            position = packed_at(&chunk->columns[COL_POSITION], c->j % CHUNK_EVENTS);
            meta_index = packed_at(&chunk->columns[COL_META], c->j % CHUNK_EVENTS);
        } else {
            ChunkValues *v = sqlite3_malloc64(sizeof *v);
            if (!v) return prof_nomem(&c->err), false;
            int rc =
                chunk_read(line, chunk, 1 << COL_POSITION | 1 << COL_META, v, &c->window, &c->err);
            position = v->columns[COL_POSITION][c->j % CHUNK_EVENTS],
            meta_index = v->columns[COL_META][c->j % CHUNK_EVENTS];
            sqlite3_free(v);
            if (rc) return false;
        }
        if (c->part == 0) {
            size_t n;
            const uint8_t *p = event_message(&c->window, (uint64_t)position, &n, &c->err);
            if (!p) return false;
            c->at = p, c->end = p + n,
            c->part = 1; /* the window stays: no other read until the stats are walked */
            continue;
        }
        c->part = 2;
        const EventMeta *meta = &line->plane->event_metas[meta_index];
        if (!meta->has_stats) continue;
        if (c->item != meta) { /* events of one metadata often follow each other */
            if (!cursor_message(c, meta->span)) return false;
            c->item = meta;
        }
        c->at = c->message, c->end = c->message + meta->span.n_bytes;
    }
}

static void event_stats_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Line *line = &c->host->lines[c->i];
    if (column == ES_EVENT_ID)
        sqlite3_result_int64(ctx, (sqlite3_int64)(line->first_event + c->j));
    else if (column == ES_ORIGIN)
        sqlite3_result_text(ctx, c->part == 1 ? "event" : "metadata", -1, SQLITE_STATIC);
    else
        stat_column(c, ctx, line->plane, column - ES_STAT_ID);
}

static double event_stats_count(const Counts *counts) { return counts->events * 4; }
static const RowSource event_stats_rows = {.next = event_stats_next,
                                           .column = event_stats_column,
                                           .count = event_stats_count,
                                           .needs = NEED_EVENTS,
                                           .nothing = "no event has a stat"};
const Table event_stats_table = {
    "event_stats",
    "one stat of one event: the event's own stats first, then those of its metadata",
    event_stats_columns,
    COUNT(event_stats_columns),
    &row_table_module,
    &event_stats_rows,
    4000000};

/* ---- event_totals ---- */

#define EVENT_TOTALS_COLUMNS(C)                                                                    \
    C(ET_RUN, RUN_DOC)                                                                             \
    C(ET_HOST, HOST_DOC)                                                                           \
    C(ET_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(ET_PLANE, PLANE_DOC)                                                                         \
    C(ET_PLANE_KIND, "plane_kind", "TEXT", NULL, "kind of the plane, as in planes.kind",           \
      "libprofsql")                                                                                \
    C(ET_LINE_ID, LINE_ID_DOC)                                                                     \
    C(ET_LINE, "line", "TEXT", NULL,                                                               \
      "name of the line for display: its display name, else its name",                             \
      "XLine.display_name, else XLine.name")                                                       \
    C(ET_LINE_KIND, "line_kind", "TEXT", NULL, "kind of the line, as in lines.kind", "libprofsql") \
    C(ET_DERIVED, "derived", "INTEGER", "0 or 1",                                                  \
      "1: the line is derived from other lines, as in lines.derived", "XLine.id")                  \
    C(ET_METADATA_ID, METADATA_ID_DOC)                                                             \
    C(ET_NAME, "name", "TEXT", NULL, "name of the events; empty if the plane does not declare it", \
      "XEventMetadata.name")                                                                       \
    C(ET_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "HLO module of the events, without (id), if their metadata records it, as on TPUs; NULL "    \
      "on GPUs and hosts, where each event records its own module (trace_events.hlo_module)",      \
      "stat program_id of the metadata")                                                           \
    C(ET_OCCURRENCES, "occurrences", "INTEGER", "events",                                          \
      "number of events of this metadata on this line", "libprofsql")                              \
    C(ET_TOTAL, "total_ps", "INTEGER", "ps",                                                       \
      "total duration of the events on the event clock, including nested events",                  \
      "XEvent.duration_ps")                                                                        \
    C(ET_SELF, "self_ps", "INTEGER", "ps",                                                         \
      "self time: total_ps without the durations of directly nested events; negative if these "    \
      "overlap each other",                                                                        \
      "libprofsql")                                                                                \
    C(ET_MIN, "min_ps", "INTEGER", "ps", "shortest duration of one of the events",                 \
      "XEvent.duration_ps")                                                                        \
    C(ET_MAX, "max_ps", "INTEGER", "ps", "longest duration of one of the events",                  \
      "XEvent.duration_ps")                                                                        \
    C(ET_DISPLAY_NAME, "display_name", "TEXT", NULL,                                               \
      "name of the events for display: the display name, else the name",                           \
      "XEventMetadata.display_name")                                                               \
    C(ET_SOURCE, SOURCE_DOC)
enum { EVENT_TOTALS_COLUMNS(COLUMN_ENUM) };
static const Column event_totals_columns[] = {EVENT_TOTALS_COLUMNS(COLUMN_DOC)};

static bool event_totals_next(RowCursor *c)
{
    if (!c->started && !run_totals(c->host->run, &c->err)) return false;
    for (c->j += c->started;; c->i++, c->j = 0) {
        size_t at = row_seek(c, KEY_LINE_ID, c->host->first_line, c->host->n_lines, c->i);
        if (at != c->i) c->i = at, c->j = 0;
        if (at >= c->host->n_lines) return false;
        const Line *line = &c->host->lines[at];
        if (row_wanted(c, KEY_PLANE_ID, line->plane->plane_id) && c->j < line->n_totals)
            return c->place = (uint64_t)line->line_id << 32 | c->j, true;
    }
}

static void metadata_module(RowCursor *c, sqlite3_context *ctx, const Plane *plane, EventMeta *meta)
{
    if ((plane->kind != PLANE_TENSORCORE && plane->kind != PLANE_SPARSECORE) ||
        event_meta_facts(plane, meta, &c->err))
        return;
    for (uint16_t i = 0; i < meta->n_facts; i++) {
        int64_t id;
        if (meta->facts[i].known != STAT_PROGRAM_ID || !fact_integer(&meta->facts[i].fact, &id))
            continue;
        const Text *name = program_entry_name(plane->host, id);
        if (name) result_module(ctx, name);
    }
}

static void event_totals_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Line *line = &c->host->lines[c->i];
    const LineTotal *total = &line->totals[c->j];
    const EventMeta *meta = &line->plane->event_metas[total->meta];
    switch (column) {
    case ET_PLANE_ID: sqlite3_result_int64(ctx, line->plane->plane_id); break;
    case ET_PLANE: result_text(ctx, line->plane->name); break;
    case ET_PLANE_KIND:
        sqlite3_result_text(ctx, plane_kind_names[line->plane->kind], -1, SQLITE_STATIC);
        break;
    case ET_LINE_ID: sqlite3_result_int64(ctx, line->line_id); break;
    case ET_LINE: result_text(ctx, line_label(line)); break;
    case ET_LINE_KIND:
        sqlite3_result_text(ctx, line_kind_names[line->kind], -1, SQLITE_STATIC);
        break;
    case ET_DERIVED: sqlite3_result_int(ctx, line->derived); break;
    case ET_METADATA_ID:
        if (total->meta < line->plane->n_declared) sqlite3_result_int64(ctx, meta->id);
        break;
    case ET_NAME: result_text(ctx, meta->name); break;
    case ET_MODULE:
        metadata_module(c, ctx, line->plane, &line->plane->event_metas[total->meta]);
        break;
    case ET_OCCURRENCES: sqlite3_result_int64(ctx, total->count); break;
    case ET_TOTAL: sqlite3_result_int64(ctx, total->total_ps); break;
    case ET_SELF: sqlite3_result_int64(ctx, total->self_ps); break;
    case ET_MIN: sqlite3_result_int64(ctx, total->min_ps); break;
    case ET_MAX: sqlite3_result_int64(ctx, total->max_ps); break;
    case ET_DISPLAY_NAME:
        result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
        break;
    default: break;
    }
}

static double event_totals_count(const Counts *counts) { return counts->metadata + counts->lines; }
static const RowSource event_totals_rows = {.next = event_totals_next,
                                            .column = event_totals_column,
                                            .count = event_totals_count,
                                            .needs = NEED_EVENTS,
                                            .nothing = "no line has an event"};
const Table event_totals_table = {
    "event_totals",
    "one event name on one line (on TPUs, one op of one program): number of events; total, "
    "self, shortest and longest time",
    event_totals_columns,
    COUNT(event_totals_columns),
    &row_table_module,
    &event_totals_rows,
    5000};
