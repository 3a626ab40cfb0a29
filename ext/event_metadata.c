// SPDX-License-Identifier: Apache-2.0
/* event_metadata.c: the tables event_metadata, event_metadata_stats, event_stats and event_totals:
 * names and stats of events.
 *
 *   SELECT name, value FROM event_stats('logs') WHERE event_id = 17;   -- correlation_id|60 */
#include "../loader/store/events.h"
#include "../loader/format/hlo.h"
#include "../loader/store/event_values.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

/* A metadata entry that a plane declares. */
typedef struct {
    size_t plane, entry;
} EntryAt;

/* Moves to the host's next entry that the plan wants, starting with this one. */
static bool next_entry(RowCursor *c, EntryAt *at)
{
    for (;; at->plane++, at->entry = 0) {
        size_t k = row_seek(c, KEY_PLANE_ID, c->host->first_plane, c->host->n_planes, at->plane);
        if (k != at->plane) at->plane = k, at->entry = 0;
        if (k >= c->host->n_planes) return false;
        const Plane *plane = &c->host->planes[k];
        if (c->has_key[KEY_METADATA_ID]) {
            int64_t keyed = id_find(&plane->event_ids, plane->event_metas, sizeof(EventMeta),
                                    c->key[KEY_METADATA_ID]);
            if (keyed < 0 || (size_t)keyed < at->entry) continue;
            at->entry = (size_t)keyed;
        } else if (at->entry >= plane->n_declared) {
            continue;
        }
        c->place = (uint64_t)plane->plane_id << 32 | at->entry;
        return true;
    }
}

static const Plane *entry_plane(const RowCursor *c, const EntryAt *at)
{
    return &c->host->planes[at->plane];
}

static const EventMeta *entry_meta(const RowCursor *c, const EntryAt *at)
{
    return &entry_plane(c, at)->event_metas[at->entry];
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

typedef struct {
    EntryAt at;
    MetaBytes bytes;      /* of the current entry, if a column needs them */
    const Plane *counted; /* plane whose events are in `counts`, by metadata; NULL if none */
    uint64_t *counts;
} MetadataRows;

static void metadata_close(void *state)
{
    MetadataRows *rows = state;
    meta_bytes_free(&rows->bytes);
    prof_free(rows->counts);
}

static bool event_metadata_next(RowCursor *c)
{
    MetadataRows *rows = c->state;
    rows->at.entry += c->started;
    return next_entry(c, &rows->at);
}

static bool count_events(RowCursor *c, MetadataRows *e, const Plane *plane)
{
    if (e->counted == plane) return true;
    if (!e->counts && !run_totals(c->host->run, &c->err)) return false;
    prof_free(e->counts);
    e->counted = NULL;
    if (!(e->counts = prof_alloc(plane->n_event_metas * sizeof *e->counts))) {
        prof_nomem(&c->err);
        return false;
    }
    for (size_t i = 0; i < plane->n_lines; i++) {
        const LineTotals *totals = line_totals(&c->host->lines[plane->first_line + i], &c->err);
        for (size_t k = 0; totals && k < totals->n; k++)
            e->counts[totals->items[k].meta] += totals->items[k].count;
    }
    e->counted = plane;
    return true;
}

static void child_ids(const MetaBytes *bytes, sqlite3_context *ctx)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    ChildIter children = child_iter_of_meta(bytes);
    int64_t id;
    while (child_iter_next(&children, &id))
        sqlite3_str_appendf(out, "%s%lld", sqlite3_str_length(out) ? "," : "[", (long long)id);
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
    MetadataRows *rows = c->state;
    const Plane *plane = entry_plane(c, &rows->at);
    const EventMeta *meta = entry_meta(c, &rows->at);
    bool from_bytes = column == EM_METADATA || column == EM_CHILD_IDS || column == EM_STATS;
    if (from_bytes && !meta_bytes_read(&rows->bytes, c->host, meta, &c->err)) return;
    switch (column) {
    case EM_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case EM_PLANE: result_text(ctx, plane->name); break;
    case EM_ID: sqlite3_result_int64(ctx, meta->id); break;
    case EM_NAME: result_text(ctx, meta->name); break;
    case EM_DISPLAY_NAME: result_nonempty(ctx, meta->display_name); break;
    case EM_METADATA: {
        Slice metadata = meta_metadata(&rows->bytes);
        if (metadata.n) sqlite3_result_blob64(ctx, metadata.text, metadata.n, SQLITE_TRANSIENT);
        break;
    }
    case EM_CHILD_IDS: child_ids(&rows->bytes, ctx); break;
    case EM_STATS: {
        StatIter stats = stat_iter_of_meta(&rows->bytes);
        Stat stat;
        sqlite3_int64 n = 0;
        while (stat_iter_next(&stats, &stat)) n++;
        sqlite3_result_int64(ctx, n);
        break;
    }
    case EM_EVENTS:
        if (!count_events(c, rows, plane)) return;
        sqlite3_result_int64(ctx, (sqlite3_int64)rows->counts[rows->at.entry]);
        break;
    default: break;
    }
}

static double event_metadata_count(const Counts *counts) { return counts->metadata; }
static const RowSource event_metadata_rows = {.next = event_metadata_next,
                                              .reads_events = true,
                                              .column = event_metadata_column,
                                              .state_bytes = sizeof(MetadataRows),
                                              .close = metadata_close,
                                              .count = event_metadata_count,
                                              .nothing = "no plane declares event metadata"};
const Table event_metadata_table = {
    "event_metadata",
    "one event metadata entry that a plane declares: the name and stats that its events share",
    event_metadata_columns,
    COUNT(event_metadata_columns),
    &row_table_module,
    &event_metadata_rows,
    10000,
    "0.1.0",
    "SELECT plane, name, event_count FROM event_metadata ORDER BY event_count DESC LIMIT 10"};

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

typedef struct {
    EntryAt at;
    bool has_entry;
    StatIter stats;
    MetaBytes bytes;
    Stat stat;
    uint64_t nth; /* index of the entry's next stat */
} MetadataStatRows;

static void metadata_stats_close(void *state)
{
    meta_bytes_free(&((MetadataStatRows *)state)->bytes);
}

/* Starts a walk over the stats of an event metadata entry. */
static bool walk_meta(RowCursor *c, StatIter *stats, MetaBytes *bytes, const EventMeta *meta)
{
    if (!meta->has_stats) return true;
    if (!meta_bytes_read(bytes, c->host, meta, &c->err)) return false;
    *stats = stat_iter_of_meta(bytes);
    return true;
}

static bool event_metadata_stats_next(RowCursor *c)
{
    MetadataStatRows *rows = c->state;
    for (;;) {
        if (stat_iter_next(&rows->stats, &rows->stat)) {
            uint64_t entry = place_pair(entry_plane(c, &rows->at)->plane_id, 28, rows->at.entry);
            c->place = place_pair(entry, 12, rows->nth++);
            return true;
        }
        rows->at.entry += rows->has_entry;
        rows->nth = 0;
        if (!next_entry(c, &rows->at)) return false;
        rows->has_entry = true;
        if (!walk_meta(c, &rows->stats, &rows->bytes, entry_meta(c, &rows->at))) return false;
    }
}

static void stat_column(sqlite3_context *ctx, const Plane *plane, const Stat *stat, int column)
{
    switch (column) {
    case 0: sqlite3_result_int64(ctx, stat->id); break;
    case 1: result_text(ctx, stat_name(plane, stat)); break;
    case 2: result_static(ctx, stat_type_names[stat->type]); break;
    case 3: result_stat(ctx, plane, stat); break;
    default: break;
    }
}

static void event_metadata_stats_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MetadataStatRows *rows = c->state;
    const Plane *plane = entry_plane(c, &rows->at);
    if (column == MS_PLANE_ID)
        sqlite3_result_int64(ctx, plane->plane_id);
    else if (column == MS_METADATA_ID)
        sqlite3_result_int64(ctx, entry_meta(c, &rows->at)->id);
    else
        stat_column(ctx, plane, &rows->stat, column - MS_STAT_ID);
}

static double event_metadata_stats_count(const Counts *counts) { return counts->metadata * 5; }
static const RowSource event_metadata_stats_rows = {.next = event_metadata_stats_next,
                                                    .column = event_metadata_stats_column,
                                                    .state_bytes = sizeof(MetadataStatRows),
                                                    .close = metadata_stats_close,
                                                    .count = event_metadata_stats_count,
                                                    .nothing = "no event metadata has a stat"};
const Table event_metadata_stats_table = {
    "event_metadata_stats",
    "one stat that all events of one metadata entry share",
    event_metadata_stats_columns,
    COUNT(event_metadata_stats_columns),
    &row_table_module,
    &event_metadata_stats_rows,
    50000,
    "0.1.0",
    "SELECT name, count(*), min(value) FROM event_metadata_stats GROUP BY name"};

/* ---- event_stats ---- */

#define EVENT_STATS_COLUMNS(C)                                                                     \
    C(ES_RUN, RUN_DOC)                                                                             \
    C(ES_HOST, HOST_DOC)                                                                           \
    C(ES_EVENT_ID, EVENT_ID_DOC)                                                                   \
    C(ES_ORIGIN, "origin", "TEXT", NULL,                                                           \
      "event: a stat of the event itself; metadata: a stat that all events of its metadata share", \
      "libprofsql")                                                                                \
    C(ES_STAT_ID, STAT_ID_DOC)                                                                     \
    C(ES_NAME, STAT_NAME_DOC)                                                                      \
    C(ES_TYPE, STAT_TYPE_DOC)                                                                      \
    C(ES_VALUE, STAT_VALUE_DOC)                                                                    \
    C(ES_SOURCE, SOURCE_DOC)
enum { EVENT_STATS_COLUMNS(COLUMN_ENUM) };
static const Column event_stats_columns[] = {EVENT_STATS_COLUMNS(COLUMN_DOC)};

typedef struct {
    StatIter stats; /* of the event, then of its metadata */
    MetaBytes bytes;
    Stat stat;
    uint64_t nth;                 /* index of the event's next stat */
    size_t n_lines;               /* lines of the host that were visited */
    EventReader reader;           /* for one line after another, while `reading` */
    EventFinder finder;           /* for a single event */
    bool reading, found, has_own; /* has_own: the walk over the event's own stats was started */
    const Line *line;
    EventAt event;
} StatRows;

static void stat_rows_close(void *state)
{
    StatRows *rows = state;
    if (rows->reading) event_reader_close(&rows->reader);
    event_finder_close(&rows->finder);
    meta_bytes_free(&rows->bytes);
}

/* Reads a single event. */
static bool find_event(RowCursor *c, StatRows *rows)
{
    sqlite3_int64 event = c->key[KEY_EVENT_ID];
    Line *line = event < 0 ? NULL : run_line_of_event(c->host->run, (uint64_t)event);
    if (rows->found || !line || line->plane->host != c->host) return false;
    rows->found = true, rows->line = line;
    return event_find(&rows->finder, line, (uint64_t)event - line->first_event, EVENT_STATS,
                      &rows->event, &c->err);
}

/* Reads the host's next event. */
static bool next_event(RowCursor *c, StatRows *rows)
{
    if (c->has_key[KEY_EVENT_ID]) return find_event(c, rows);
    for (;;) {
        if (rows->reading && event_reader_next(&rows->reader, &rows->event)) return true;
        if (rows->reading) event_reader_close(&rows->reader);
        rows->reading = false;
        while (rows->n_lines < c->host->n_lines && !c->host->lines[rows->n_lines].n_events)
            rows->n_lines++;
        if (c->err.code || rows->n_lines == c->host->n_lines) return false;
        rows->line = &c->host->lines[rows->n_lines];
        event_reader_open(&rows->reader, &c->host->lines[rows->n_lines++], EVENT_STATS, &c->err);
        rows->reading = true;
    }
}

/* Moves to the event's next own stat, then to those of its metadata. */
static bool event_stats_next(RowCursor *c)
{
    StatRows *rows = c->state;
    for (;;) {
        if (stat_iter_next(&rows->stats, &rows->stat)) {
            c->place = place_pair(rows->event.event, 16, rows->nth++);
            return true;
        }
        if (rows->has_own) {
            rows->has_own = false;
            if (!walk_meta(c, &rows->stats, &rows->bytes, rows->event.meta)) return false;
        } else {
            if (!next_event(c, rows)) return false;
            rows->stats = stat_iter_of_event(&rows->event);
            rows->has_own = true, rows->nth = 0;
        }
    }
}

static void event_stats_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const StatRows *rows = c->state;
    if (column == ES_EVENT_ID)
        sqlite3_result_int64(ctx, (sqlite3_int64)rows->event.event);
    else if (column == ES_ORIGIN)
        result_static(ctx, rows->has_own ? "event" : "metadata");
    else
        stat_column(ctx, rows->line->plane, &rows->stat, column - ES_STAT_ID);
}

static double event_stats_count(const Counts *counts) { return counts->events * 4; }
static const RowSource event_stats_rows = {.next = event_stats_next,
                                           .reads_events = true,
                                           .column = event_stats_column,
                                           .state_bytes = sizeof(StatRows),
                                           .close = stat_rows_close,
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
    4000000,
    "0.1.0",
    "SELECT name, count(*), min(value), max(value) FROM event_stats GROUP BY name"};

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
    C(ET_METADATA_ID, "metadata_id", "INTEGER", NULL,                                              \
      "id of the events' metadata, unique in its plane; NULL in the row of all events whose "      \
      "metadata the plane does not declare",                                                       \
      "XEvent.metadata_id")                                                                        \
    C(ET_NAME, "name", "TEXT", NULL, "name of the events; empty if the plane does not declare it", \
      "XEventMetadata.name")                                                                       \
    C(ET_SHORT_NAME, EVENT_SHORT_NAME_DOC)                                                         \
    C(ET_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "HLO module of the events, without (id), if their metadata records it, as on TPUs; NULL on " \
      "GPUs and hosts, where each event records its own module (trace_events.hlo_module)",         \
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

typedef struct {
    size_t line, total; /* total: index on the line */
    const LineTotals *totals;
} TotalAt;

static bool event_totals_next(RowCursor *c)
{
    TotalAt *at = c->state;
    if (!c->started && !run_totals(c->host->run, &c->err)) return false;
    for (at->total += c->started;; at->line++, at->total = 0) {
        size_t k = row_seek(c, KEY_LINE_ID, c->host->first_line, c->host->n_lines, at->line);
        if (k != at->line) at->line = k, at->total = 0;
        if (k >= c->host->n_lines) return false;
        Line *line = &c->host->lines[k];
        at->totals = line_totals(line, &c->err);
        if (!at->totals) return false;
        if (row_wanted(c, KEY_PLANE_ID, line->plane->plane_id) && at->total < at->totals->n) {
            c->place = (uint64_t)line->line_id << 32 | at->total;
            return true;
        }
    }
}

static void metadata_module(RowCursor *c, sqlite3_context *ctx, const Plane *plane, EventMeta *meta)
{
    if ((plane->kind != PLANE_TENSORCORE && plane->kind != PLANE_SPARSECORE) ||
        event_meta_values(plane, meta, &c->err))
        return;
    for (uint16_t i = 0; i < meta->n_facts; i++) {
        int64_t id;
        if (meta->facts[i].known != STAT_PROGRAM_ID ||
            !stat_value_integer(&meta->facts[i].fact, &id))
            continue;
        const Text *name = hlo_program_entry(plane->host, (uint64_t)id);
        if (name) result_module(ctx, name);
    }
}

static void event_totals_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const TotalAt *at = c->state;
    const Line *line = &c->host->lines[at->line];
    const LineTotal *total = &at->totals->items[at->total];
    const EventMeta *meta = &line->plane->event_metas[total->meta];
    switch (column) {
    case ET_PLANE_ID: sqlite3_result_int64(ctx, line->plane->plane_id); break;
    case ET_PLANE: result_text(ctx, line->plane->name); break;
    case ET_PLANE_KIND: result_static(ctx, plane_kind_names[line->plane->kind]); break;
    case ET_LINE_ID: sqlite3_result_int64(ctx, line->line_id); break;
    case ET_LINE: result_text(ctx, line_label(line)); break;
    case ET_LINE_KIND: result_static(ctx, line_kind_names[line->kind]); break;
    case ET_DERIVED: sqlite3_result_int(ctx, line->derived); break;
    case ET_METADATA_ID:
        if (total->meta < line->plane->n_declared) sqlite3_result_int64(ctx, meta->id);
        break;
    case ET_NAME: result_text(ctx, meta->name); break;
    case ET_SHORT_NAME:
        if (line->plane->kind == PLANE_GPU) {
            result_kernel(c, ctx, meta->name);
            break;
        } /* fall through */
    case ET_DISPLAY_NAME:
        result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
        break;
    case ET_MODULE:
        metadata_module(c, ctx, line->plane, &line->plane->event_metas[total->meta]);
        break;
    case ET_OCCURRENCES: sqlite3_result_int64(ctx, total->count); break;
    case ET_TOTAL: sqlite3_result_int64(ctx, total->total_ps); break;
    case ET_SELF: sqlite3_result_int64(ctx, total->self_ps); break;
    case ET_MIN: sqlite3_result_int64(ctx, total->min_ps); break;
    case ET_MAX: sqlite3_result_int64(ctx, total->max_ps); break;
    default: break;
    }
}

static double event_totals_count(const Counts *counts) { return counts->metadata + counts->lines; }
static const RowSource event_totals_rows = {.next = event_totals_next,
                                            .reads_events = true,
                                            .state_bytes = sizeof(TotalAt),
                                            .column = event_totals_column,
                                            .count = event_totals_count,
                                            .needs = NEED_EVENTS,
                                            .nothing = "no line has an event"};
const Table event_totals_table = {
    "event_totals",
    "one event metadata entry on one line (one name; on TPUs, one op of one program): number of "
    "events; total, self, shortest and longest time",
    event_totals_columns,
    COUNT(event_totals_columns),
    &row_table_module,
    &event_totals_rows,
    5000,
    "0.1.0",
    "SELECT line, name, occurrences, self_ps FROM event_totals ORDER BY self_ps DESC LIMIT 10"};
