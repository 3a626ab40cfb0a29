// SPDX-License-Identifier: Apache-2.0
/* planes.c: the tables planes, lines, stat_metadata and plane_stats: the structure of a profile.
 *
 *   SELECT name, kind, event_count FROM planes('logs');   -- /device:GPU:0|gpu|19370 */
#include "../loader/store/event_stats.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- planes ---- */

#define PLANES_COLUMNS(C)                                                                          \
    C(PL_RUN, RUN_DOC)                                                                             \
    C(PL_HOST, HOST_DOC)                                                                           \
    C(PL_ID, PLANE_ID_DOC)                                                                         \
    C(PL_PROTO_ID, "proto_id", "TEXT", NULL, "id of the plane in the file, decimal", "XPlane.id")  \
    C(PL_NAME, "name", "TEXT", NULL, "name of the plane", "XPlane.name")                           \
    C(PL_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of the plane, from its name: host, tensorcore, sparsecore, gpu, metadata, custom "     \
      "(/device:CUSTOM:... and /custom:...) or other",                                             \
      "libprofsql")                                                                                \
    C(PL_LINES, "line_count", "INTEGER", "lines", "number of lines in the plane", "libprofsql")    \
    C(PL_EVENTS, "event_count", "INTEGER", "events", "number of events in the plane",              \
      "libprofsql")                                                                                \
    C(PL_PROCESS, "process_id", "INTEGER", NULL,                                                   \
      "id of the process that recorded the plane: its stat process_id, or the [pid] in the name "  \
      "of a subprocess's plane; NULL if neither exists",                                           \
      "XPlane.stats, XPlane.name")                                                                 \
    C(PL_SOURCE, SOURCE_DOC)
enum { PLANES_COLUMNS(COLUMN_ENUM) };
static const Column planes_columns[] = {PLANES_COLUMNS(COLUMN_DOC)};

/* State of planes, stat_metadata and plane_stats. */
typedef struct {
    size_t plane, nth; /* nth: in the plane */
    Stat stat;         /* plane_stats: the current stat */
    Window window;
} PlaneAt;

static void plane_close(void *state) { window_free(&((PlaneAt *)state)->window); }

/* Moves to the next plane that the query wants, starting with this one. False if there is none. */
static bool seek_plane(const RowCursor *c, PlaneAt *at)
{
    size_t plane = row_seek(c, KEY_PLANE_ID, c->host->first_plane, c->host->n_planes, at->plane);
    if (plane != at->plane) at->plane = plane, at->nth = 0;
    return plane < c->host->n_planes;
}

static bool planes_next(RowCursor *c)
{
    PlaneAt *at = c->state;
    at->plane += c->started;
    if (!seek_plane(c, at)) return false;
    c->place = c->host->planes[at->plane].plane_id;
    return true;
}

static void planes_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Plane *plane = &c->host->planes[((PlaneAt *)c->state)->plane];
    switch (column) {
    case PL_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case PL_PROTO_ID: result_owned(ctx, sqlite3_mprintf("%lld", (long long)plane->proto_id)); break;
    case PL_NAME: result_text(ctx, plane->name); break;
    case PL_KIND: result_static(ctx, plane_kind_names[plane->kind]); break;
    case PL_LINES: sqlite3_result_int64(ctx, (sqlite3_int64)plane->n_lines); break;
    case PL_EVENTS: sqlite3_result_int64(ctx, (sqlite3_int64)plane->n_events); break;
    case PL_PROCESS: result_nonnegative(ctx, plane->process_id); break;
    default: break;
    }
}

static double planes_count(const Counts *counts) { return counts->planes; }
static const RowSource planes_rows = {.next = planes_next,
                                      .reads_events = true,
                                      .state_bytes = sizeof(PlaneAt),
                                      .column = planes_column,
                                      .count = planes_count,
                                      .nothing = "the file has no plane"};
const Table planes_table = {"planes",
                            "one plane of a file: a device, a host's threads, or metadata",
                            planes_columns,
                            COUNT(planes_columns),
                            &row_table_module,
                            &planes_rows,
                            10,
                            "0.1.0",
                            "SELECT host, name, kind, line_count, event_count FROM planes"};

/* ---- lines ---- */

#define LINES_COLUMNS(C)                                                                           \
    C(LN_RUN, RUN_DOC)                                                                             \
    C(LN_HOST, HOST_DOC)                                                                           \
    C(LN_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(LN_PLANE, PLANE_DOC)                                                                         \
    C(LN_ID, LINE_ID_DOC)                                                                          \
    C(LN_PROTO_ID, "proto_id", "TEXT", NULL,                                                       \
      "id of the line in the file, decimal: a thread, a stream or a number that XProf assigned",   \
      "XLine.id")                                                                                  \
    C(LN_NAME, "name", "TEXT", NULL, "name of the line", "XLine.name")                             \
    C(LN_DISPLAY_NAME, "display_name", "TEXT", NULL,                                               \
      "name to display; NULL if it is the same as name", "XLine.display_name")                     \
    C(LN_DISPLAY_ID, "display_id", "INTEGER", NULL,                                                \
      "id to display; 0 if it is the same as proto_id", "XLine.display_id")                        \
    C(LN_TIMESTAMP, "timestamp_ns", "INTEGER", "ns",                                               \
      "start of the line, from the start of the session; below 0 if the line starts earlier",      \
      "XLine.timestamp_ns")                                                                        \
    C(LN_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration that the file records for the line; often 0", "XLine.duration_ps")                 \
    C(LN_DURATION_US, DURATION_US_DOC)                                                             \
    C(LN_EVENTS, "event_count", "INTEGER", "events", "number of events in the line", "libprofsql") \
    C(LN_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of the line, from the names of plane and line: thread, stream, steps, modules, ops, "  \
      "async_ops, name_scope, framework_ops, source, launch_stats, counters or other",             \
      "libprofsql")                                                                                \
    C(LN_DERIVED, "derived", "INTEGER", "0 or 1",                                                  \
      "1: XProf derived the line from other lines (its id is -559038737, which is 0xdeadbeef in "  \
      "32 bits, or one of the next 389 ids); counting its events counts work twice",               \
      "XLine.id")                                                                                  \
    C(LN_SOURCE, SOURCE_DOC)
enum { LINES_COLUMNS(COLUMN_ENUM) };
static const Column lines_columns[] = {LINES_COLUMNS(COLUMN_DOC)};

typedef struct {
    size_t line;
} LineAt;

static bool lines_next(RowCursor *c)
{
    LineAt *at = c->state;
    const Host *host = c->host;
    size_t plane = row_seek(c, KEY_PLANE_ID, host->first_plane, host->n_planes, 0), first = 0,
           end = host->n_lines;
    if (plane == host->n_planes) return false;
    if (c->has_key[KEY_PLANE_ID])
        first = host->planes[plane].first_line, end = first + host->planes[plane].n_lines;
    at->line = row_seek(c, KEY_LINE_ID, host->first_line, host->n_lines,
                        c->started ? at->line + 1 : first);
    if (at->line < first || at->line >= end) return false;
    c->place = host->lines[at->line].line_id;
    return true;
}

static void lines_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Line *line = &c->host->lines[((LineAt *)c->state)->line];
    switch (column) {
    case LN_PLANE_ID: sqlite3_result_int64(ctx, line->plane->plane_id); break;
    case LN_PLANE: result_text(ctx, line->plane->name); break;
    case LN_ID: sqlite3_result_int64(ctx, line->line_id); break;
    case LN_PROTO_ID: result_owned(ctx, sqlite3_mprintf("%lld", (long long)line->proto_id)); break;
    case LN_NAME: result_text(ctx, line->name); break;
    case LN_DISPLAY_NAME: result_nonempty(ctx, line->display_name); break;
    case LN_DISPLAY_ID: sqlite3_result_int64(ctx, line->display_id); break;
    case LN_TIMESTAMP: sqlite3_result_int64(ctx, line->timestamp_ns); break;
    case LN_DURATION:
    case LN_DURATION_US: result_time(ctx, line->duration_ps, column == LN_DURATION_US); break;
    case LN_EVENTS: sqlite3_result_int64(ctx, (sqlite3_int64)line->n_events); break;
    case LN_KIND: result_static(ctx, line_kind_names[line->kind]); break;
    case LN_DERIVED: sqlite3_result_int(ctx, line->derived); break;
    default: break;
    }
}

static double lines_count(const Counts *counts) { return counts->lines; }
static const RowSource lines_rows = {.next = lines_next,
                                     .reads_events = true,
                                     .state_bytes = sizeof(LineAt),
                                     .column = lines_column,
                                     .count = lines_count,
                                     .nothing = "no plane has a line"};
const Table lines_table = {
    "lines",
    "one timeline in a plane: a host thread, a GPU stream, or a row of a TPU core",
    lines_columns,
    COUNT(lines_columns),
    &row_table_module,
    &lines_rows,
    100,
    "0.1.0",
    "SELECT plane, name, event_count, duration_us FROM lines ORDER BY event_count DESC"};

/* ---- stat_metadata ---- */

#define STAT_METADATA_COLUMNS(C)                                                                   \
    C(SM_RUN, RUN_DOC)                                                                             \
    C(SM_HOST, HOST_DOC)                                                                           \
    C(SM_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(SM_PLANE, PLANE_DOC)                                                                         \
    C(SM_ID, "metadata_id", "INTEGER", NULL, "id of the entry, unique in its plane",               \
      "XPlane.stat_metadata")                                                                      \
    C(SM_NAME, "name", "TEXT", NULL, "name of the stat, or a text that ref stats share",           \
      "XStatMetadata.name")                                                                        \
    C(SM_DESCRIPTION, "description", "TEXT", NULL,                                                 \
      "description of the stat; NULL if the file has none", "XStatMetadata.description")           \
    C(SM_SOURCE, SOURCE_DOC)
enum { STAT_METADATA_COLUMNS(COLUMN_ENUM) };
static const Column stat_metadata_columns[] = {STAT_METADATA_COLUMNS(COLUMN_DOC)};

static bool stat_metadata_next(RowCursor *c)
{
    PlaneAt *at = c->state;
    for (at->nth += c->started; seek_plane(c, at); at->plane++, at->nth = 0) {
        const Plane *plane = &c->host->planes[at->plane];
        for (; at->nth < plane->n_stat_metas; at->nth++)
            if (row_wanted(c, KEY_METADATA_ID, plane->stat_metas[at->nth].id)) {
                c->place = (uint64_t)plane->plane_id << 32 | at->nth;
                return true;
            }
    }
    return false;
}

static void stat_metadata_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const PlaneAt *at = c->state;
    const Plane *plane = &c->host->planes[at->plane];
    const StatMeta *meta = &plane->stat_metas[at->nth];
    switch (column) {
    case SM_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case SM_PLANE: result_text(ctx, plane->name); break;
    case SM_ID: sqlite3_result_int64(ctx, meta->id); break;
    case SM_NAME: result_text(ctx, meta->name); break;
    case SM_DESCRIPTION: result_nonempty(ctx, meta->description); break;
    default: break;
    }
}

static double stat_metadata_count(const Counts *counts) { return counts->stat_metadata; }
static const RowSource stat_metadata_rows = {.next = stat_metadata_next,
                                             .state_bytes = sizeof(PlaneAt),
                                             .column = stat_metadata_column,
                                             .count = stat_metadata_count,
                                             .nothing = "no plane declares a stat"};
const Table stat_metadata_table = {"stat_metadata",
                                   "one stat name that a plane declares",
                                   stat_metadata_columns,
                                   COUNT(stat_metadata_columns),
                                   &row_table_module,
                                   &stat_metadata_rows,
                                   1000,
                                   "0.1.0",
                                   "SELECT plane, name, description FROM stat_metadata"};

/* ---- plane_stats ---- */

#define PLANE_STATS_COLUMNS(C)                                                                     \
    C(PS_RUN, RUN_DOC)                                                                             \
    C(PS_HOST, HOST_DOC)                                                                           \
    C(PS_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(PS_PLANE, PLANE_DOC)                                                                         \
    C(PS_STAT_ID, STAT_ID_DOC)                                                                     \
    C(PS_NAME, STAT_NAME_DOC)                                                                      \
    C(PS_TYPE, STAT_TYPE_DOC)                                                                      \
    C(PS_VALUE, STAT_VALUE_DOC)                                                                    \
    C(PS_SOURCE, SOURCE_DOC)
enum { PLANE_STATS_COLUMNS(COLUMN_ENUM) };
static const Column plane_stats_columns[] = {PLANE_STATS_COLUMNS(COLUMN_DOC)};

static bool plane_stats_next(RowCursor *c)
{
    PlaneAt *at = c->state;
    at->window.file = &c->host->file;
    for (at->nth += c->started; seek_plane(c, at); at->plane++, at->nth = 0) {
        const Plane *plane = &c->host->planes[at->plane];
        for (; at->nth < plane->n_stats && !c->err.code; at->nth++)
            if (plane_stat(plane, at->nth, &at->window, &at->stat, &c->err)) {
                c->place = (uint64_t)plane->plane_id << 32 | at->nth;
                return true;
            }
    }
    return false;
}

static void plane_stats_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const PlaneAt *at = c->state;
    const Plane *plane = &c->host->planes[at->plane];
    const Stat *stat = &at->stat;
    switch (column) {
    case PS_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case PS_PLANE: result_text(ctx, plane->name); break;
    case PS_STAT_ID: sqlite3_result_int64(ctx, stat->id); break;
    case PS_NAME: result_text(ctx, stat_name(plane, stat)); break;
    case PS_TYPE: result_static(ctx, stat_type_names[stat->type]); break;
    case PS_VALUE: result_stat(ctx, plane, stat); break;
    default: break;
    }
}

static double plane_stats_count(const Counts *counts) { return counts->planes * 4; }
static const RowSource plane_stats_rows = {.next = plane_stats_next,
                                           .state_bytes = sizeof(PlaneAt),
                                           .close = plane_close,
                                           .column = plane_stats_column,
                                           .count = plane_stats_count,
                                           .nothing = "no plane has a stat"};
const Table plane_stats_table = {
    "plane_stats",
    "one stat of a plane, such as a device capability or a property of the session",
    plane_stats_columns,
    COUNT(plane_stats_columns),
    &row_table_module,
    &plane_stats_rows,
    40,
    "0.1.0",
    "SELECT plane, name, value FROM plane_stats"};
