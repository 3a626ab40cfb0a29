/* trace_events.c: the table of all events.
 *
 *   SELECT name, start_ps, duration_ps, self_ps FROM trace_events('logs') WHERE plane = '/device:GPU:0' ORDER BY start_ps LIMIT 3;
 *
 * Plan: idxStr holds two characters an argument, the column's letter (pushed[]) and = < or >; SQLite checks every term
 * again, so a bound may be wider than the term. idxNum: BY_NAME walks events in the order of their names, so that GROUP BY
 * name needs no sorting; BY_START walks each line by start. Otherwise rows come by event_id.
 *
 * A row is a place: line, chunk, index. Columns are unpacked a chunk at a time when a query reads them; stats are decoded
 * only for rows whose stat columns are read. */
#include "../loader/analysis/facts.h"
#include "../loader/format/xspace.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#define EVENTS_COLUMNS(C)                                                                                                                                      \
    C(EV_RUN, RUN_DOC)                                                                                                                                         \
    C(EV_HOST, HOST_DOC)                                                                                                                                       \
    C(EV_ID, EVENT_ID_DOC)                                                                                                                                     \
    C(EV_PLANE, PLANE_DOC)                                                                                                                                     \
    C(EV_LINE, "line", "TEXT", NULL, "name of the line as shown", "XLine.display_name, else XLine.name")                                                       \
    C(EV_NAME, "name", "TEXT", NULL, "name of the event; a TPU op's is its HLO text; empty when the plane does not declare it", "XEventMetadata.name")         \
    C(EV_START, "start_ps", "INTEGER", "ps", "start from the session's start; 0 offset for aggregated events; held at int64's ends",                           \
      "XLine.timestamp_ns * 1000 + XEvent.offset_ps")                                                                                                          \
    C(EV_DURATION, "duration_ps", "INTEGER", "ps", "duration", "XEvent.duration_ps")                                                                           \
    C(EV_SELF, "self_ps", "INTEGER", "ps", "duration without the events nested directly inside on the line", "libprofsql")                                     \
    C(EV_DEPTH, "depth", "INTEGER", NULL, "how many events of the line include it, one inside the other", "libprofsql")                                        \
    C(EV_PARENT, "parent_id", "INTEGER", NULL, "event_id of the innermost event of the line that includes it; NULL at depth 0", "libprofsql")                  \
    C(EV_GROUP, "group_id", "INTEGER", NULL, "the host's own step group, where the file has it", "stat group_id")                                              \
    C(EV_OCCURRENCES, "occurrences", "INTEGER", NULL, "how often an aggregated event happened; NULL for a plain event", "XEvent.num_occurrences")              \
    C(EV_CORRELATION, "correlation_id", "INTEGER", NULL, "joins a launch with its kernel on (run, host, correlation_id); decimal TEXT beyond 2^63-1",          \
      "stat correlation_id")                                                                                                                                   \
    C(EV_PROGRAM, "program_id", "TEXT", NULL, "the HLO program, decimal", "stat program_id")                                                                   \
    C(EV_HLO_MODULE, "hlo_module", "TEXT", NULL, "HLO module, without (id)", "stat hlo_module; on TPU the module's entry of /host:metadata")                   \
    C(EV_HLO_OP, "hlo_op", "TEXT", NULL, "HLO instruction: last :: part, without % and {i,j}", "stat hlo_op; on TPU op lines the display name")                \
    C(EV_TF_OP, "tf_op", "TEXT", NULL, "framework op path", "stat tf_op")                                                                                      \
    C(EV_CATEGORY, "category", "TEXT", NULL, "HLO category", "stat hlo_category")                                                                              \
    C(EV_FLOPS, "flops", "INTEGER", "FLOP", "floating point operations of one execution, as the file says", "stat flops")                                      \
    C(EV_BYTES, "bytes_accessed", "INTEGER", "bytes", "bytes read and written by one execution, as the file says", "stat bytes_accessed")                      \
    C(EV_SHAPE, "shape", "TEXT", NULL, "shape of the result, with layout where the file has it", "stat shape_with_layout, else shape")                         \
    C(EV_SOURCE_FILE, "source_file", "TEXT", NULL, "source file of the op", "stat source")                                                                     \
    C(EV_SOURCE_LINE, "source_line", "INTEGER", NULL, "line in the source file", "stat source")                                                                \
    C(EV_PLANE_ID, PLANE_ID_DOC)                                                                                                                               \
    C(EV_LINE_ID, LINE_ID_DOC)                                                                                                                                 \
    C(EV_METADATA_ID, METADATA_ID_DOC)                                                                                                                         \
    C(EV_DISPLAY_NAME, "display_name", "TEXT", NULL, "short name to show; NULL when the file has none", "XEventMetadata.display_name")                         \
    C(EV_END, "end_ps", "INTEGER", "ps", "start_ps + duration_ps, held at int64's ends", "libprofsql")                                                         \
    C(EV_PLANE_KIND, "plane_kind", "TEXT", NULL, "as planes.kind", "libprofsql")                                                                               \
    C(EV_LINE_KIND, "line_kind", "TEXT", NULL, "as lines.kind", "libprofsql")                                                                                  \
    C(EV_DERIVED, "derived", "INTEGER", "0 or 1", "1: on a line that XProf derived from others, not to be counted twice", "XLine.id")                          \
    C(EV_DEVICE_START, "device_start_ps", "INTEGER", "ps", "start by the device's own clock", "stat device_offset_ps")                                         \
    C(EV_DEVICE_DURATION, "device_duration_ps", "INTEGER", "ps", "duration by the device's own clock: XProf's op tools sum this one",                          \
      "stat device_duration_ps")                                                                                                                               \
    C(EV_DEVICE_SELF, "device_self_ps", "INTEGER", "ps", "device_duration_ps without the events nested directly inside by that clock", "libprofsql")           \
    C(EV_GRID, "grid_dim", "TEXT", NULL, "x,y,z of a kernel's grid", "stat kernel_details")                                                                    \
    C(EV_BLOCK, "block_dim", "TEXT", NULL, "x,y,z of a kernel's block", "stat kernel_details")                                                                 \
    C(EV_ASYNC, "is_async", "INTEGER", "0 or 1", "1: marked as not nested on its thread; NULL when the file does not say", "stat _a")                          \
    C(EV_SOURCE, SOURCE_DOC)                                                                                                                                   \
    C(EV_STATS, "stats", "TEXT HIDDEN", "JSON", "all stats by name, the event's own first; bytes as hex text", "XStat")
enum { EVENTS_COLUMNS(COLUMN_ENUM) };
static const Column events_columns[] = {EVENTS_COLUMNS(COLUMN_DOC)};

enum Plan { BY_NAME = 1, BY_START = 2 };

/* Columns whose comparisons are pushed down. */
static const struct {
    int column;
    char letter;
    bool range;  /* < and > too */
    double rows; /* of a million, that an equality leaves */
} pushed[] = {
    {EV_SOURCE, 's', false, 1e6}, {EV_RUN, 'r', false, 5e5},     {EV_HOST, 'h', false, 5e5},   {EV_PLANE, 'p', false, 1e5},     {EV_LINE, 'l', false, 3e4},
    {EV_NAME, 'n', false, 1e3},   {EV_PLANE_ID, 'P', true, 1e5}, {EV_LINE_ID, 'L', true, 3e4}, {EV_ID, 'E', true, 1},           {EV_START, 'S', true, 10},
    {EV_END, 'N', true, 10},      {EV_DURATION, 'D', true, 1e3}, {EV_PARENT, 'A', false, 10},  {EV_CORRELATION, 'C', false, 3},
};

typedef struct {
    int64_t low, high;
} Range;

typedef struct {
    sqlite3_vtab_cursor base;
    SourceRun *sources;
    int n_sources, at_source;
    char *source, *run_is, *host_is, *plane_is, *line_is, *name_is;
    Range plane_id, line_id, event_id, start, end, duration;
    int64_t parent_is, correlation_is;
    bool has_parent, has_correlation, narrow; /* narrow: a term on single events is set */
    int plan;
    bool eof;
    /* the place */
    const SourceRun *from;
    Run *run;
    Line *line;
    const Chunk *chunk;
    size_t at_line, at_chunk;
    uint32_t i;
    bool point; /* rows come one by one: no chunk is unpacked */
    /* rows from a list of ordinals */
    uint64_t *list;
    size_t n_list, at_list;
    const EventOrder *order;
    uint64_t at_order;
    /* names that match on this plane */
    const Plane *match_plane;
    uint8_t *match;
    /* unpacked */
    ChunkValues *values;
    const Chunk *values_of;
    unsigned unpacked;
    const NestingChunk *nesting;
    const Line *nesting_of;
    EventFacts facts;
    const Chunk *facts_of;
    uint32_t facts_at;
    Window window, stat_window;
    KeptRuns kept;
    ProfErr err;
} EventsCursor;

/* ---- plan ---- */

static int events_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    char plan[2 * 64 + 1];
    int n = 0;
    double rows = 1e6;
    bool one_run = false, one_line = false, unique = false;
    for (int i = 0; i < info->nConstraint && n < 64; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        char op = c->op == SQLITE_INDEX_CONSTRAINT_EQ                                          ? '='
                  : c->op == SQLITE_INDEX_CONSTRAINT_GT || c->op == SQLITE_INDEX_CONSTRAINT_GE ? '>'
                  : c->op == SQLITE_INDEX_CONSTRAINT_LT || c->op == SQLITE_INDEX_CONSTRAINT_LE ? '<'
                                                                                               : 0;
        if (!op) continue;
        for (size_t k = 0; k < COUNT(pushed); k++) {
            if (c->iColumn != pushed[k].column || (op != '=' && !pushed[k].range)) continue;
            bool is_source = pushed[k].letter == 's';
            if (!c->usable) {
                if (is_source && op == '=') return SQLITE_CONSTRAINT;
                continue;
            }
            bool is_text = strchr("srhpln", pushed[k].letter) != NULL;
            if (is_text && !is_source && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY")) continue;
            if (op == '=' && (is_source || pushed[k].letter == 'r')) one_run = true;
            if (op == '=' && pushed[k].letter == 'L') one_line = true;
            if (op == '=' && pushed[k].letter == 'E') unique = true;
            double left = op == '=' ? pushed[k].rows / 1e6 : pushed[k].letter == 'E' ? 0.3 : 0.4;
            rows *= left;
            plan[2 * n] = pushed[k].letter, plan[2 * n + 1] = op;
            n++;
            info->aConstraintUsage[i].argvIndex = n;
            info->aConstraintUsage[i].omit = is_source;
        }
    }
    plan[2 * n] = 0;
    const struct sqlite3_index_orderby *by = info->aOrderBy;
    if (one_run && info->nOrderBy == 1 && !by[0].desc) {
        if (by[0].iColumn == EV_NAME) info->idxNum = BY_NAME, info->orderByConsumed = 1;
        if (by[0].iColumn == EV_ID || by[0].iColumn == EV_LINE_ID) info->orderByConsumed = 1;
        if (by[0].iColumn == EV_START && one_line) info->idxNum = BY_START, info->orderByConsumed = 1;
    }
    if (one_run && info->nOrderBy == 2 && !by[0].desc && !by[1].desc && by[0].iColumn == EV_LINE_ID && by[1].iColumn == EV_START)
        info->idxNum = BY_START, info->orderByConsumed = 1;
    info->idxStr = sqlite3_mprintf("%s", plan);
    if (!info->idxStr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    if (rows < 1) rows = 1;
    if (unique && one_run) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE, rows = 1;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows * (info->idxNum == BY_NAME ? 6 : 2) + 20;
    return SQLITE_OK;
}

/* ---- cursor ---- */

static int events_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    (void)vtab;
    EventsCursor *c = sqlite3_malloc64(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    *c = (EventsCursor){.eof = true};
    *cursor = &c->base;
    return SQLITE_OK;
}

static void events_reset(EventsCursor *c)
{
    prof_release(c->sources, c->n_sources);
    sqlite3_free(c->source), sqlite3_free(c->run_is), sqlite3_free(c->host_is);
    sqlite3_free(c->plane_is), sqlite3_free(c->line_is), sqlite3_free(c->name_is);
    prof_free(c->list);
    sqlite3_free(c->match);
    event_facts_free(&c->facts);
    window_free(&c->window);
    window_free(&c->stat_window);
    *c = (EventsCursor){.base = c->base, .values = c->values, .kept = c->kept, .eof = true};
}

static int events_close(sqlite3_vtab_cursor *cursor)
{
    EventsCursor *c = (EventsCursor *)cursor;
    events_reset(c);
    prof_keep_none(&c->kept);
    sqlite3_free(c->values);
    sqlite3_free(c);
    return SQLITE_OK;
}

static int events_fail(EventsCursor *c)
{
    char *message = NULL;
    int rc = prof_error(&c->err, &message);
    return prof_table_fail(c->base.pVtab, rc, message);
}

static int64_t value_of(EventsCursor *c, enum ChunkColumn column)
{
    if (c->point && c->chunk->packed) return packed_at(&c->chunk->columns[column], c->i);
    if (c->values_of != c->chunk) c->values_of = c->chunk, c->unpacked = 0;
    if (!(c->unpacked >> column & 1)) {
        /* what stays in the file is read whole, what is packed column by column */
        unsigned bits = c->chunk->packed ? 1u << column : (1u << N_CHUNK_COLUMNS) - 1;
        if (chunk_read(c->line, c->chunk, bits, c->values, &c->window, &c->err)) return c->values_of = NULL, 0;
        c->unpacked |= bits;
    }
    return c->values->columns[column][c->i];
}

static int64_t offset_of(EventsCursor *c) { return value_of(c, COL_AGGREGATED) ? 0 : value_of(c, COL_OFFSET); }
static int64_t start_of(EventsCursor *c) { return add_saturated(c->line->start_ps, offset_of(c)); }
static int64_t end_of(EventsCursor *c) { return add_saturated(start_of(c), value_of(c, COL_DURATION)); }
static uint64_t event_of(const EventsCursor *c) { return c->line->first_event + c->at_chunk * CHUNK_EVENTS + c->i; }
static const EventMeta *meta_of(EventsCursor *c) { return &c->line->plane->event_metas[value_of(c, COL_META)]; }

static void set_line(EventsCursor *c, Line *line)
{
    c->line = line;
    const File *file = &line->plane->host->file;
    if (c->window.file != file) {
        window_free(&c->window), window_free(&c->stat_window);
        c->window.file = c->stat_window.file = file;
    }
}

static void set_place(EventsCursor *c, Line *line, uint64_t index)
{
    if (c->line != line) set_line(c, line);
    c->at_chunk = (size_t)(index / CHUNK_EVENTS), c->i = (uint32_t)(index % CHUNK_EVENTS);
    c->chunk = &line->chunks[c->at_chunk];
}

static bool within(Range r, int64_t value) { return r.low <= value && value <= r.high; }
static bool meets(Range r, int64_t least, int64_t most) { return r.low <= most && least <= r.high; }
static bool is_text(const char *wanted, const Text *text) { return !wanted || !strcmp(wanted, text->text); }

static bool line_wanted(EventsCursor *c, const Line *line)
{
    const Plane *plane = line->plane;
    if (!line->n_events || (c->from->only && plane->host != c->from->only)) return false;
    if (c->host_is && strcmp(c->host_is, plane->host->name)) return false;
    if (!within(c->plane_id, plane->plane_id) || !within(c->line_id, line->line_id)) return false;
    if (!meets(c->event_id, (int64_t)line->first_event, (int64_t)(line->first_event + line->n_events - 1))) return false;
    return is_text(c->plane_is, plane->name) && is_text(c->line_is, line_label(line));
}

static bool chunk_wanted(const EventsCursor *c, const Line *line, size_t index)
{
    const Chunk *k = &line->chunks[index];
    int64_t first = (int64_t)(line->first_event + index * CHUNK_EVENTS), start = line->start_ps;
    return meets(c->event_id, first, first + k->n_events - 1) && meets(c->duration, k->min_duration, k->max_duration) &&
           meets(c->start, add_saturated(start, k->min_offset), add_saturated(start, k->max_offset)) &&
           meets(c->end, add_saturated(start, k->min_end < k->min_offset ? k->min_end : k->min_offset), INT64_MAX) &&
           c->end.low <= (k->max_end == INT64_MAX ? INT64_MAX : add_saturated(start, k->max_end));
}

static bool name_wanted(EventsCursor *c)
{
    const Plane *plane = c->line->plane;
    if (c->match_plane != plane) {
        sqlite3_free(c->match);
        c->match_plane = NULL;
        c->match = sqlite3_malloc64(plane->n_event_metas + 1);
        if (!c->match) return prof_nomem(&c->err), false;
        for (size_t i = 0; i < plane->n_event_metas; i++) c->match[i] = !strcmp(plane->event_metas[i].name->text, c->name_is);
        c->match_plane = plane;
    }
    return c->match[value_of(c, COL_META)];
}

static bool event_wanted(EventsCursor *c)
{
    if (!c->narrow) return true;
    if (c->name_is && !name_wanted(c)) return false;
    if (!within(c->event_id, (int64_t)event_of(c))) return false;
    if ((c->duration.low != INT64_MIN || c->duration.high != INT64_MAX) && !within(c->duration, value_of(c, COL_DURATION))) return false;
    if ((c->start.low != INT64_MIN || c->start.high != INT64_MAX) && !within(c->start, start_of(c))) return false;
    return (c->end.low == INT64_MIN && c->end.high == INT64_MAX) || within(c->end, end_of(c));
}

/* ---- walking ---- */

static bool list_add(EventsCursor *c, size_t *capacity, uint64_t event)
{
    if (!GROW(c->list, c->n_list, *capacity)) return prof_nomem(&c->err), false;
    c->list[c->n_list++] = event;
    return true;
}

/* The children of an event lie behind it on its line, until one begins after its end. */
static void list_children(EventsCursor *c, int64_t parent)
{
    size_t capacity = 0;
    Line *line = parent < 0 ? NULL : run_line_of_event(c->run, (uint64_t)parent);
    if (!line) return;
    const NestingChunk *nesting = line_nesting(line, &c->err);
    uint64_t at = (uint64_t)parent - line->first_event;
    c->point = true;
    set_place(c, line, at);
    int64_t stop = nesting ? add_saturated(offset_of(c), value_of(c, COL_DURATION)) : 0;
    for (uint64_t i = line->ordered ? at + 1 : 0; nesting && !c->err.code && i < line->n_events; i++) {
        set_place(c, line, i);
        if (line->ordered && offset_of(c) > stop) break;
        int64_t distance = packed_at(&nesting[c->at_chunk].columns[NEST_PARENT], c->i);
        if (distance && (int64_t)i - distance == (int64_t)at) list_add(c, &capacity, line->first_event + i);
    }
}

static void list_correlated(EventsCursor *c)
{
    size_t n, capacity = 0;
    const Correlated *pairs = run_correlation(c->run, &n, &c->err);
    if (!pairs) return;
    uint64_t id = (uint64_t)c->correlation_is;
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (pairs[mid].correlation_id < id)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < n && pairs[low].correlation_id == id; low++)
        if (!list_add(c, &capacity, pairs[low].event)) return;
}

typedef struct {
    int64_t start;
    uint64_t event;
} Started;

static int by_start(const void *a, const void *b)
{
    const Started *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* A line that is not stored by start, for BY_START. */
static void list_by_start(EventsCursor *c, Line *line)
{
    Started *s = prof_alloc((size_t)line->n_events * sizeof *s);
    c->list = prof_alloc((size_t)line->n_events * sizeof *c->list);
    if (!s || !c->list) prof_nomem(&c->err);
    for (uint64_t i = 0; i < line->n_events && !c->err.code; i++) {
        set_place(c, line, i);
        s[i] = (Started){start_of(c), line->first_event + i};
    }
    if (!c->err.code) {
        qsort(s, (size_t)line->n_events, sizeof *s, by_start);
        for (uint64_t i = 0; i < line->n_events; i++) c->list[i] = s[i].event;
        c->n_list = (size_t)line->n_events, c->at_list = 0;
    }
    prof_free(s);
}

/* Steps to the next listed event that is wanted. */
static bool next_listed(EventsCursor *c)
{
    while (c->at_list < c->n_list && !c->err.code) {
        uint64_t event = c->list[c->at_list++];
        Line *line = c->line && event - c->line->first_event < c->line->n_events && event >= c->line->first_event ? c->line : run_line_of_event(c->run, event);
        if (!line_wanted(c, line)) continue;
        set_place(c, line, event - line->first_event);
        if (event_wanted(c)) return true;
    }
    return false;
}

static bool next_ordered(EventsCursor *c)
{
    while (c->at_order < c->order->n_events && !c->err.code) {
        uint64_t event = order_at(c->order, c->at_order++);
        bool same = c->line && event >= c->line->first_event && event - c->line->first_event < c->line->n_events;
        Line *line = same ? c->line : run_line_of_event(c->run, event);
        if (!same && !line_wanted(c, line)) continue; /* a line that a row came from was wanted */
        set_place(c, line, event - line->first_event);
        if (event_wanted(c)) return true;
    }
    return false;
}

/* Steps through lines and chunks in file order. */
static bool next_scanned(EventsCursor *c)
{
    if (c->chunk) c->i++;
    for (; c->at_line < c->run->n_lines && !c->err.code; c->at_line++, c->at_chunk = 0, c->i = 0, c->chunk = NULL) {
        Line *line = c->run->lines[c->at_line];
        if (c->list) { /* within a sorted line */
            if (next_listed(c)) return true;
            prof_free(c->list);
            c->list = NULL, c->n_list = 0, c->point = false;
            continue;
        }
        if (!c->chunk) {
            if (!line_wanted(c, line)) continue;
            set_line(c, line);
            if ((c->plan & BY_START) && !line->ordered) {
                list_by_start(c, line);
                c->point = true;
                if (!c->err.code && next_listed(c)) return true;
                prof_free(c->list);
                c->list = NULL, c->n_list = 0, c->point = false;
                continue;
            }
            if (c->event_id.low > (int64_t)line->first_event) {
                uint64_t first = (uint64_t)c->event_id.low - line->first_event;
                c->at_chunk = (size_t)(first / CHUNK_EVENTS), c->i = (uint32_t)(first % CHUNK_EVENTS);
            }
        }
        for (; c->at_chunk < line->n_chunks && !c->err.code; c->at_chunk++, c->i = 0) {
            c->chunk = &line->chunks[c->at_chunk];
            if (!chunk_wanted(c, line, c->at_chunk)) continue;
            for (; c->i < c->chunk->n_events; c->i++)
                if (event_wanted(c)) return true;
        }
    }
    return false;
}

static bool start_run(EventsCursor *c)
{
    for (; c->at_source < c->n_sources; c->at_source++) {
        c->from = &c->sources[c->at_source];
        if (c->run_is && strcmp(c->run_is, c->from->label)) continue;
        c->run = c->from->run;
        c->line = NULL, c->chunk = NULL, c->at_line = 0, c->at_chunk = 0, c->i = 0;
        c->match_plane = NULL, c->values_of = NULL, c->nesting_of = NULL, c->facts_of = NULL;
        window_free(&c->window), window_free(&c->stat_window);
        c->window.file = c->stat_window.file = NULL;
        prof_free(c->list);
        c->list = NULL, c->n_list = c->at_list = 0, c->order = NULL, c->at_order = 0;
        c->point = c->has_parent || c->has_correlation || (c->plan & BY_NAME) || c->event_id.low == c->event_id.high;
        if (c->has_correlation)
            list_correlated(c);
        else if (c->has_parent)
            list_children(c, c->parent_is);
        else if (c->plan & BY_NAME)
            c->order = run_order_by_name(c->run, &c->err);
        else if (c->event_id.low == c->event_id.high) {
            Line *line = c->event_id.low < 0 ? NULL : run_line_of_event(c->run, (uint64_t)c->event_id.low);
            if (!line) continue;
            c->at_line = line->line_id; /* chunk and index are found by the walk */
        }
        return true;
    }
    return false;
}

static int events_next(sqlite3_vtab_cursor *cursor)
{
    EventsCursor *c = (EventsCursor *)cursor;
    for (;;) {
        bool listed = c->has_correlation || c->has_parent;
        bool found = !c->err.code && (listed ? next_listed(c) : c->order ? next_ordered(c) : next_scanned(c));
        if (c->err.code) return events_fail(c);
        if (found) return SQLITE_OK;
        c->at_source++;
        if (!start_run(c)) {
            c->eof = true;
            return SQLITE_OK;
        }
    }
}

/* Narrows a range by a term; a bound that is no number leaves it to SQLite. */
static void narrow(Range *r, char op, sqlite3_value *value)
{
    int64_t low, high;
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        low = high = sqlite3_value_int64(value);
    } else if (sqlite3_value_type(value) == SQLITE_FLOAT) {
        double x = sqlite3_value_double(value);
        if (!(x > -9e18 && x < 9e18)) return;
        low = (int64_t)x - 1, high = (int64_t)x + 1;
    } else {
        return;
    }
    if (op != '<' && low > r->low) r->low = low;
    if (op != '>' && high < r->high) r->high = high;
}

static int events_filter(sqlite3_vtab_cursor *cursor, int plan, const char *letters, int argc, sqlite3_value **argv)
{
    EventsCursor *c = (EventsCursor *)cursor;
    events_reset(c);
    if (!c->values && !(c->values = sqlite3_malloc64(sizeof *c->values))) return SQLITE_NOMEM;
    static const Range all = {INT64_MIN, INT64_MAX};
    c->plane_id = c->line_id = c->event_id = c->start = c->end = c->duration = all;
    c->plan = plan;
    for (int i = 0; i < argc; i++) {
        char letter = letters[2 * i], op = letters[2 * i + 1];
        int type = sqlite3_value_type(argv[i]);
        if (type == SQLITE_NULL && letter != 's') return SQLITE_OK;
        char **text = letter == 's'   ? &c->source
                      : letter == 'r' ? &c->run_is
                      : letter == 'h' ? &c->host_is
                      : letter == 'p' ? &c->plane_is
                      : letter == 'l' ? &c->line_is
                      : letter == 'n' ? &c->name_is
                                      : NULL;
        Range *range = letter == 'P'   ? &c->plane_id
                       : letter == 'L' ? &c->line_id
                       : letter == 'E' ? &c->event_id
                       : letter == 'S' ? &c->start
                       : letter == 'N' ? &c->end
                       : letter == 'D' ? &c->duration
                                       : NULL;
        if (text) {
            if (type == SQLITE_NULL || (letter != 's' && type != SQLITE_TEXT)) continue;
            const char *s = (const char *)sqlite3_value_text(argv[i]);
            bool has_nul = s && strlen(s) != (size_t)sqlite3_value_bytes(argv[i]);
            if (*text || (has_nul && letter != 's')) continue; /* SQLite compares it */
            if (!s || !(*text = sqlite3_mprintf("%s", s))) return SQLITE_NOMEM;
        } else if (range) {
            narrow(range, op, argv[i]);
        } else if (type == SQLITE_INTEGER) {
            *(letter == 'A' ? &c->parent_is : &c->correlation_is) = sqlite3_value_int64(argv[i]);
            *(letter == 'A' ? &c->has_parent : &c->has_correlation) = true;
        }
    }
    c->narrow = c->name_is || c->event_id.low != INT64_MIN || c->event_id.high != INT64_MAX || c->start.low != INT64_MIN || c->start.high != INT64_MAX ||
                c->end.low != INT64_MIN || c->end.high != INT64_MAX || c->duration.low != INT64_MIN || c->duration.high != INT64_MAX;
    if (plan) c->has_parent = c->has_correlation = false; /* an order was promised: walk in it */
    char *message = NULL;
    int rc = prof_open(((ProfTable *)cursor->pVtab)->prof, c->source, &c->sources, &c->n_sources, &message);
    if (rc != SQLITE_OK) return prof_table_fail(cursor->pVtab, rc, message);
    if (!prof_keep(&c->kept, c->sources, c->n_sources)) return SQLITE_NOMEM;
    c->eof = false;
    if (!start_run(c)) {
        c->eof = true;
        return SQLITE_OK;
    }
    return events_next(cursor);
}

static int events_eof(sqlite3_vtab_cursor *cursor) { return ((EventsCursor *)cursor)->eof; }
static int events_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    const EventsCursor *c = (EventsCursor *)cursor;
    *rowid = (sqlite3_int64)((uint64_t)c->at_source << ROWID_RUN_SHIFT | event_of(c));
    return SQLITE_OK;
}

/* ---- columns ---- */

static const Fact *fact(EventsCursor *c, enum KnownStat known)
{
    static const Fact none;
    if (c->facts_of != c->chunk || c->facts_at != c->i) {
        EventMeta *meta = &c->line->plane->event_metas[value_of(c, COL_META)];
        if (c->err.code || event_facts_read(&c->facts, c->line->plane, meta, (uint64_t)value_of(c, COL_POSITION), &c->stat_window, &c->err)) return &none;
        c->facts_of = c->chunk, c->facts_at = c->i;
    }
    return &c->facts.by_stat[known];
}

static void result_number(sqlite3_context *ctx, const Fact *f)
{
    if (f->type == TYPE_INT64) sqlite3_result_int64(ctx, f->integer);
    if (f->type == TYPE_UINT64) result_u64(ctx, f->natural);
    if (f->type == TYPE_DOUBLE) sqlite3_result_double(ctx, f->number);
}

static void result_string(sqlite3_context *ctx, const char *text, size_t n) { sqlite3_result_text64(ctx, text, n, SQLITE_TRANSIENT, SQLITE_UTF8); }

/* An instruction's name as HLO tables spell it. */
static void result_hlo_op(sqlite3_context *ctx, const char *s, size_t n)
{
    for (size_t i = n; i >= 2; i--)
        if (s[i - 1] == ':' && s[i - 2] == ':') {
            s += i, n -= i;
            break;
        }
    if (n && *s == '%') s++, n--;
    if (n && s[n - 1] == '}') { /* {i,j}: the part of a tuple */
        size_t k = n;
        while (k && s[k - 1] != '{') k--;
        if (k) n = k - 1;
    }
    if (n) result_string(ctx, s, n);
}

/* A module's name without its (program id). */
static void result_module(sqlite3_context *ctx, const char *s, size_t n)
{
    if (n && s[n - 1] == ')') {
        size_t k = n - 1;
        while (k && s[k - 1] >= '0' && s[k - 1] <= '9') k--;
        if (k && s[k - 1] == '(' && k < n - 1) n = k - 1;
    }
    if (n) result_string(ctx, s, n);
}

static bool on_tpu(const Line *line) { return line->plane->kind == PLANE_TENSORCORE || line->plane->kind == PLANE_SPARSECORE; }

static void hlo_module_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Fact *f = fact(c, STAT_HLO_MODULE);
    int64_t id;
    if (f->type == TYPE_STR) {
        result_module(ctx, f->text->text, f->text->n_bytes);
    } else if (on_tpu(c->line) && c->line->kind == LINE_MODULES) {
        const Text *name = meta_of(c)->name;
        result_module(ctx, name->text, name->n_bytes);
    } else if (on_tpu(c->line) && fact_integer(fact(c, STAT_PROGRAM_ID), &id)) {
        const Host *host = c->line->plane->host;
        for (size_t i = 0; i < host->n_planes; i++) {
            const Plane *plane = &host->planes[i];
            int64_t k = strcmp(plane->name->text, "/host:metadata") ? -1 : id_find(&plane->event_ids, plane->event_metas, sizeof(EventMeta), id);
            if (k >= 0) return result_module(ctx, plane->event_metas[k].name->text, plane->event_metas[k].name->n_bytes);
        }
    }
}

static void hlo_op_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Fact *f = fact(c, STAT_HLO_OP);
    if (f->type == TYPE_STR) return result_hlo_op(ctx, f->text->text, f->text->n_bytes);
    if (!on_tpu(c->line) || (c->line->kind != LINE_OPS && c->line->kind != LINE_ASYNC_OPS)) return;
    const EventMeta *meta = meta_of(c);
    const Text *text = meta->display_name->n_bytes ? meta->display_name : meta->name;
    const char *end = meta->display_name->n_bytes ? NULL : strstr(text->text, " = ");
    result_hlo_op(ctx, text->text, end ? (size_t)(end - text->text) : text->n_bytes);
}

static void source_column(EventsCursor *c, sqlite3_context *ctx, bool line)
{
    const Fact *f = fact(c, STAT_SOURCE);
    if (f->type != TYPE_STR || !f->text->n_bytes) return;
    const char *s = f->text->text, *colon = strrchr(s, ':');
    bool numbered = colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) && strlen(colon + 1) < 10;
    if (line && numbered) sqlite3_result_int(ctx, atoi(colon + 1));
    if (!line) result_string(ctx, s, numbered ? (size_t)(colon - s) : f->text->n_bytes);
}

/* The value of a key in kernel_details, "regs:32 grid:8,1,1 block:128,1,1": the last token of two parts wins. */
static void details_column(EventsCursor *c, sqlite3_context *ctx, const char *key)
{
    const Fact *f = fact(c, STAT_KERNEL_DETAILS);
    if (f->type != TYPE_STR) return;
    size_t key_length = strlen(key), n;
    const char *found = NULL;
    size_t found_length = 0;
    for (const char *s = f->text->text; *s; s += n + (s[n] != 0)) {
        n = strcspn(s, " \n");
        if (n > key_length + 1 && !memcmp(s, key, key_length) && s[key_length] == ':' && strspn(s + key_length + 1, "0123456789,") == n - key_length - 1)
            found = s + key_length + 1, found_length = n - key_length - 1;
    }
    if (found) result_string(ctx, found, found_length);
}

static void nesting_column(EventsCursor *c, sqlite3_context *ctx, enum NestingColumn column)
{
    if (c->nesting_of != c->line) {
        c->nesting = line_nesting(c->line, &c->err);
        if (!c->nesting) return;
        c->nesting_of = c->line;
    }
    int64_t value = packed_at(&c->nesting[c->at_chunk].columns[column], c->i);
    if (column != NEST_PARENT)
        sqlite3_result_int64(ctx, value);
    else if (value)
        sqlite3_result_int64(ctx, (int64_t)event_of(c) - value);
}

static void stats_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Plane *plane = c->line->plane;
    const EventMeta *meta = meta_of(c);
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(out, 1, '{');
    Stat stat;
    size_t n;
    const uint8_t *p = event_message(&c->stat_window, (uint64_t)value_of(c, COL_POSITION), &n, &c->err), *end = p ? p + n : NULL;
    bool complete = true;
    while (p && (p = stat_next(p, end, 4, &stat))) complete &= json_stat(out, plane, &stat);
    uint8_t *shared = meta->has_stats && !c->err.code ? sqlite3_malloc64(meta->span.n_bytes) : NULL;
    if (shared && !file_read(&plane->host->file, meta->span.offset, shared, (size_t)meta->span.n_bytes, &c->err))
        for (p = shared, end = shared + meta->span.n_bytes; (p = stat_next(p, end, 5, &stat));) complete &= json_stat(out, plane, &stat);
    bool nomem = !complete || sqlite3_str_errcode(out) || (meta->has_stats && !shared && !c->err.code);
    sqlite3_free(shared);
    sqlite3_str_appendchar(out, 1, '}');
    int length = sqlite3_str_length(out);
    char *text = sqlite3_str_finish(out);
    if (nomem || !text) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(ctx);
    } else {
        sqlite3_result_text(ctx, text, length, sqlite3_free);
        sqlite3_result_subtype(ctx, 'J');
    }
}

static int events_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    EventsCursor *c = (EventsCursor *)cursor;
    const Plane *plane = c->line->plane;
    const Fact *f;
    int64_t n;
    switch (column) {
    case EV_RUN: sqlite3_result_text(ctx, c->from->label, -1, SQLITE_TRANSIENT); break;
    case EV_HOST: sqlite3_result_text(ctx, plane->host->name, -1, SQLITE_STATIC); break;
    case EV_ID: sqlite3_result_int64(ctx, (sqlite3_int64)event_of(c)); break;
    case EV_PLANE: result_text(ctx, plane->name); break;
    case EV_LINE: result_text(ctx, line_label(c->line)); break;
    case EV_NAME: result_text(ctx, meta_of(c)->name); break;
    case EV_START: sqlite3_result_int64(ctx, start_of(c)); break;
    case EV_DURATION: sqlite3_result_int64(ctx, value_of(c, COL_DURATION)); break;
    case EV_SELF: nesting_column(c, ctx, NEST_SELF); break;
    case EV_DEPTH: nesting_column(c, ctx, NEST_DEPTH); break;
    case EV_PARENT: nesting_column(c, ctx, NEST_PARENT); break;
    case EV_GROUP:
        if (fact_integer(fact(c, STAT_GROUP_ID), &n)) sqlite3_result_int64(ctx, n);
        break;
    case EV_OCCURRENCES:
        if (value_of(c, COL_AGGREGATED)) sqlite3_result_int64(ctx, value_of(c, COL_OFFSET));
        break;
    case EV_CORRELATION:
        f = fact(c, STAT_CORRELATION_ID);
        if (f->type != TYPE_DOUBLE) result_number(ctx, f);
        break;
    case EV_PROGRAM:
        f = fact(c, STAT_PROGRAM_ID);
        if (fact_integer(f, &n)) result_id(ctx, (uint64_t)n);
        if (f->type == TYPE_STR) result_string(ctx, f->text->text, f->text->n_bytes);
        break;
    case EV_HLO_MODULE: hlo_module_column(c, ctx); break;
    case EV_HLO_OP: hlo_op_column(c, ctx); break;
    case EV_TF_OP:
    case EV_CATEGORY:
        f = fact(c, column == EV_TF_OP ? STAT_TF_OP : STAT_HLO_CATEGORY);
        if (f->type == TYPE_STR) result_string(ctx, f->text->text, f->text->n_bytes);
        break;
    case EV_FLOPS: result_number(ctx, fact(c, STAT_FLOPS)); break;
    case EV_BYTES: result_number(ctx, fact(c, STAT_BYTES_ACCESSED)); break;
    case EV_SHAPE:
        f = fact(c, STAT_SHAPE_WITH_LAYOUT);
        if (f->type != TYPE_STR) f = fact(c, STAT_SHAPE);
        if (f->type == TYPE_STR) result_string(ctx, f->text->text, f->text->n_bytes);
        break;
    case EV_SOURCE_FILE: source_column(c, ctx, false); break;
    case EV_SOURCE_LINE: source_column(c, ctx, true); break;
    case EV_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case EV_LINE_ID: sqlite3_result_int64(ctx, c->line->line_id); break;
    case EV_METADATA_ID: {
        size_t meta = (size_t)value_of(c, COL_META), n_bytes;
        if (meta < plane->n_declared) {
            sqlite3_result_int64(ctx, plane->event_metas[meta].id);
        } else { /* undeclared: only the event itself knows */
            Event event;
            const uint8_t *p = event_message(&c->stat_window, (uint64_t)value_of(c, COL_POSITION), &n_bytes, &c->err);
            if (p && event_parse(p, p + n_bytes, &event)) sqlite3_result_int64(ctx, event.metadata_id);
        }
        break;
    }
    case EV_DISPLAY_NAME:
        if (meta_of(c)->display_name->n_bytes) result_text(ctx, meta_of(c)->display_name);
        break;
    case EV_END: sqlite3_result_int64(ctx, end_of(c)); break;
    case EV_PLANE_KIND: sqlite3_result_text(ctx, plane_kind_names[plane->kind], -1, SQLITE_STATIC); break;
    case EV_LINE_KIND: sqlite3_result_text(ctx, line_kind_names[c->line->kind], -1, SQLITE_STATIC); break;
    case EV_DERIVED: sqlite3_result_int(ctx, c->line->derived); break;
    case EV_DEVICE_START:
        if (fact_integer(fact(c, STAT_DEVICE_OFFSET_PS), &n)) sqlite3_result_int64(ctx, n);
        break;
    case EV_DEVICE_DURATION:
        if (fact_integer(fact(c, STAT_DEVICE_DURATION_PS), &n)) sqlite3_result_int64(ctx, n);
        break;
    case EV_DEVICE_SELF: {
        const int64_t *self = line_device_self(c->line, &c->err);
        n = self ? self[event_of(c) - c->line->first_event] : INT64_MIN;
        if (n != INT64_MIN) sqlite3_result_int64(ctx, n);
        break;
    }
    case EV_GRID: details_column(c, ctx, "grid"); break;
    case EV_BLOCK: details_column(c, ctx, "block"); break;
    case EV_ASYNC:
        if (fact_integer(fact(c, STAT_ASYNC), &n)) sqlite3_result_int(ctx, n != 0);
        break;
    case EV_STATS: stats_column(c, ctx); break;
    case EV_SOURCE: sqlite3_result_text(ctx, c->source, -1, SQLITE_TRANSIENT); break;
    default: break;
    }
    return c->err.code ? events_fail(c) : SQLITE_OK;
}

static const sqlite3_module events_module = {
    .iVersion = 2,
    .xConnect = prof_table_connect,
    .xBestIndex = events_best_index,
    .xDisconnect = prof_table_disconnect,
    .xOpen = events_open,
    .xClose = events_close,
    .xFilter = events_filter,
    .xNext = events_next,
    .xEof = events_eof,
    .xColumn = events_column,
    .xRowid = events_rowid,
};
const Table trace_events_table = {
    "trace_events", "one row for each event of the files, in stored order", events_columns, COUNT(events_columns), &events_module, NULL, 1e6};
