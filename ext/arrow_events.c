// SPDX-License-Identifier: Apache-2.0
/* arrow_events.c: record batches of events, directly from the chunks of a run; see arrow.h.
 *
 * A batch is a list of pieces, each a chunk of a line. Several batches are planned at a time,
 * filled on all processors, and returned one after the other. What is computed for a line on first
 * use (nesting, groups) is computed while a batch is planned. */
#include "arrow.h"

#include "../loader/base/list.h"
#include "../loader/base/parallel.h"
#include "../loader/store/event_values.h"
#include "../loader/store/events.h"
#include "../loader/store/lines.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

enum { PIECES = PROFSQL_ARROW_ROWS / CHUNK_EVENTS };

/* Where the values of a column come from. */
enum Origin {
    FROM_LINE,  /* text of the line, or of its plane, host or run */
    FROM_META,  /* text of the event's metadata */
    FROM_EVENT, /* number */
};
typedef struct {
    int column; /* EV_* */
    const char *name;
    enum Origin origin;
    enum ArrowType type;
} FastColumn;
static const FastColumn fast_columns[] = {
    {EV_RUN, "run", FROM_LINE, ARROW_NAMES},
    {EV_HOST, "host", FROM_LINE, ARROW_NAMES},
    {EV_ID, "event_id", FROM_EVENT, ARROW_INTEGER},
    {EV_PLANE, "plane", FROM_LINE, ARROW_NAMES},
    {EV_LINE, "line", FROM_LINE, ARROW_NAMES},
    {EV_NAME, "name", FROM_META, ARROW_NAMES},
    {EV_SHORT_NAME, "short_name", FROM_META, ARROW_NAMES},
    {EV_START, "start_ps", FROM_EVENT, ARROW_INTEGER},
    {EV_START_US, "start_us", FROM_EVENT, ARROW_REAL},
    {EV_DURATION, "duration_ps", FROM_EVENT, ARROW_INTEGER},
    {EV_DURATION_US, "duration_us", FROM_EVENT, ARROW_REAL},
    {EV_SELF, "self_ps", FROM_EVENT, ARROW_INTEGER},
    {EV_DEPTH, "depth", FROM_EVENT, ARROW_INTEGER},
    {EV_PARENT, "parent_id", FROM_EVENT, ARROW_INTEGER},
    {EV_OCCURRENCES, "occurrences", FROM_EVENT, ARROW_INTEGER},
    {EV_PLANE_ID, "plane_id", FROM_EVENT, ARROW_INTEGER},
    {EV_LINE_ID, "line_id", FROM_EVENT, ARROW_INTEGER},
    {EV_METADATA_ID, "metadata_id", FROM_EVENT, ARROW_INTEGER},
    {EV_DISPLAY_NAME, "display_name", FROM_META, ARROW_NAMES},
    {EV_END, "end_ps", FROM_EVENT, ARROW_INTEGER},
    {EV_PLANE_KIND, "plane_kind", FROM_LINE, ARROW_NAMES},
    {EV_LINE_KIND, "line_kind", FROM_LINE, ARROW_NAMES},
    {EV_DERIVED, "derived", FROM_EVENT, ARROW_INTEGER},
    {EV_DEVICE_SELF, "device_self_ps", FROM_EVENT, ARROW_INTEGER},
    {EV_EAGER, "is_eager", FROM_EVENT, ARROW_INTEGER},
    {EV_STEP, "step", FROM_EVENT, ARROW_INTEGER},
};

static const FastColumn *fast_column(const char *name)
{
    for (size_t i = 0; name && i < COUNT(fast_columns); i++)
        if (!sqlite3_stricmp(name, fast_columns[i].name)) return &fast_columns[i];
    return NULL;
}

bool arrow_events_has(const char *column) { return fast_column(column) != NULL; }

/* A plane that is read. By wanted column: the number of each metadata's text; -1 if it is NULL. */
typedef struct {
    const Plane *plane;
    const int32_t **numbers;
    const uint8_t *match; /* by metadata: whether it has the wanted name; NULL: any name */
} PlaneView;

/* A line that is read. */
typedef struct {
    Line *line;
    const PlaneView *plane;
    const int32_t *numbers; /* by wanted column: number of its text, which all events share */
    const NestingChunk *nesting;
    const LineGroups *groups;
    const int64_t *device_self;
} LineView;

typedef struct {
    const LineView *view;
    size_t chunk;
} Piece;
typedef struct {
    Piece pieces[PIECES];
    size_t n_pieces;
    ArrowBatch batch;
} Planned;

typedef struct {
    ArrowMaker base;
    Prof *prof;            /* of the connection */
    sqlite3_stmt *running; /* for interrupts; also keeps the connection, and so `prof`, alive */
    SourceRun *sources;
    int n_sources;
    char *plane_is, *line_is, *name_is;
    Range range; /* `all`: any time */
    const FastColumn **wanted;
    ArrowNames **names; /* by wanted column; NULL for numbers */
    int n_wanted;
    unsigned chunk_columns; /* needed by the wanted columns */
    size_t n_workers;
    Arena arena; /* for views */
    LIST(LineView) views;
    size_t at_view, at_chunk; /* place of the next piece */
    size_t n_nested;          /* number of views whose lines are nested */
    Planned *planned;
    size_t n_planned, n_handed_out;
} EventsMaker;

/* ---- texts ---- */

static int32_t number(ArrowNames *names, const char *text, size_t n_bytes, ProfErr *err)
{
    int32_t code = arrow_names_add(names, text, n_bytes);
    if (code < 0) prof_nomem(err);
    return code;
}

static const Text *meta_text(int column, const EventMeta *meta, const Plane *plane,
                             const ShortNames *short_names)
{
    const Text *display = meta->display_name->n_bytes ? meta->display_name : NULL, *found;
    if (column == EV_NAME) return meta->name;
    if (column == EV_DISPLAY_NAME) return display;
    if (plane->kind != PLANE_GPU) return display ? display : meta->name;
    found = short_name(short_names, meta->name);
    return found ? found : meta->name;
}

static const int32_t *number_metas(EventsMaker *m, int wanted, const Plane *plane, ProfErr *err)
{
    const ShortNames *short_names = NULL;
    int column = m->wanted[wanted]->column;
    int32_t *numbers = arena_buffer(&m->arena, plane->n_event_metas * sizeof *numbers);
    if (!numbers) {
        prof_nomem(err);
        return NULL;
    }
    if (column == EV_SHORT_NAME && plane->kind == PLANE_GPU &&
        !(short_names = run_short_names(plane->host->run, err)))
        return NULL;
    for (size_t i = 0; i < plane->n_event_metas && !interrupt_poll(1, err); i++) {
        const Text *text = meta_text(column, &plane->event_metas[i], plane, short_names);
        numbers[i] = text ? number(m->names[wanted], text->text, text->n_bytes, err) : -1;
    }
    return numbers;
}

static const uint8_t *match_metas(EventsMaker *m, const Plane *plane, ProfErr *err)
{
    uint8_t *match = arena_buffer(&m->arena, plane->n_event_metas);
    if (!match) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < plane->n_event_metas; i++)
        match[i] = !strcmp(plane->event_metas[i].name->text, m->name_is);
    return match;
}

static const PlaneView *view_plane(EventsMaker *m, const Plane *plane, ProfErr *err)
{
    PlaneView *view = arena_alloc(&m->arena, sizeof *view);
    const int32_t **numbers = arena_alloc(&m->arena, (size_t)m->n_wanted * sizeof *numbers);
    if (!view || !numbers) {
        prof_nomem(err);
        return NULL;
    }
    *view = (PlaneView){plane, numbers, m->name_is ? match_metas(m, plane, err) : NULL};
    for (int i = 0; i < m->n_wanted && !err->code; i++)
        if (m->wanted[i]->origin == FROM_META) numbers[i] = number_metas(m, i, plane, err);
    return err->code ? NULL : view;
}

static Slice line_text(int column, const SourceRun *from, const Line *line)
{
    const char *text = NULL;
    switch (column) {
    case EV_PLANE: return slice_of(line->plane->name);
    case EV_LINE: return slice_of(line_label(line));
    case EV_RUN: text = from->label; break;
    case EV_HOST: text = line->plane->host->name; break;
    case EV_PLANE_KIND: text = plane_kind_names[line->plane->kind]; break;
    default: text = line_kind_names[line->kind];
    }
    return slice_of_string(text);
}

static bool view_line(EventsMaker *m, const SourceRun *from, Line *line, ProfErr *err)
{
    const LineView *before = m->views.n ? &m->views.items[m->views.n - 1] : NULL;
    const PlaneView *plane = before && before->plane->plane == line->plane
                                 ? before->plane
                                 : view_plane(m, line->plane, err);
    int32_t *numbers = arena_buffer(&m->arena, (size_t)m->n_wanted * sizeof *numbers);
    LineView *view = plane && numbers ? PUSH(m->views) : NULL;
    if (!view) {
        prof_nomem(err);
        return false;
    }
    *view = (LineView){.line = line, .plane = plane, .numbers = numbers};
    for (int i = 0; i < m->n_wanted && !err->code; i++) {
        if (m->wanted[i]->origin != FROM_LINE) continue;
        Slice text = line_text(m->wanted[i]->column, from, line);
        numbers[i] = number(m->names[i], text.text, text.n, err);
    }
    return !err->code;
}

static bool line_wanted(const EventsMaker *m, const SourceRun *from, const Line *line)
{
    return line->n_events && (!from->only || line->plane->host == from->only) &&
           (!m->plane_is || !strcmp(m->plane_is, line->plane->name->text)) &&
           (!m->line_is || !strcmp(m->line_is, line_label(line)->text));
}

static void view_lines(EventsMaker *m, ProfErr *err)
{
    for (int s = 0; s < m->n_sources; s++) {
        const SourceRun *from = &m->sources[s];
        if (from->run->n_workers > m->n_workers) m->n_workers = from->run->n_workers;
        for (uint32_t i = 0; i < from->run->n_lines && !err->code; i++)
            if (line_wanted(m, from, from->run->lines[i]))
                view_line(m, from, from->run->lines[i], err);
    }
}

/* ---- a piece ---- */

/* Memory of one thread. */
typedef struct {
    ChunkValues values;
    Window window;
    uint16_t slots[CHUNK_EVENTS]; /* events of the chunk that are rows */
    size_t n;
} Scratch;

static bool in_range(const EventsMaker *m, const LineView *view, const Scratch *x, size_t i)
{
    return chunk_end(view->line, &x->values, i) >= m->range.low &&
           chunk_start(view->line, &x->values, i) <= m->range.high;
}

static void choose_rows(const EventsMaker *m, const LineView *view, const Chunk *chunk, Scratch *x)
{
    bool all_times = is_all(m->range);
    const uint8_t *match = view->plane->match;
    x->n = 0;
    for (size_t i = 0; i < chunk->n_events; i++) {
        x->slots[x->n] = (uint16_t)i;
        x->n +=
            (!match || match[chunk_meta(&x->values, i)]) && (all_times || in_range(m, view, x, i));
    }
}

static int64_t packed_of(const Packed *columns, size_t chunk, size_t i)
{
    return packed_at(&columns[chunk], i);
}

/* Returns the id of an event's metadata, also of one that the plane does not declare. */
static int64_t metadata_id(const LineView *view, Scratch *x, size_t i, ProfErr *err)
{
    const Plane *plane = view->line->plane;
    uint32_t meta = chunk_meta(&x->values, i);
    int64_t id = 0;
    if (meta < plane->n_declared) return plane->event_metas[meta].id;
    event_id_at(&x->window, (uint64_t)x->values.columns[COL_POSITION][i], &id, err);
    return id;
}

/* Computes the value of an event, which is the i-th of its chunk. False: NULL. */
static inline bool event_value(const LineView *view, size_t chunk, int column, Scratch *x, size_t i,
                               int64_t *value, ProfErr *err)
{
    const Line *line = view->line;
    const Packed *packed;
    uint64_t event = chunk * CHUNK_EVENTS + i; /* index on the line */
    switch (column) {
    case EV_ID: *value = (int64_t)(line->first_event + event); return true;
    case EV_START:
    case EV_START_US: *value = chunk_start(line, &x->values, i); return true;
    case EV_DURATION:
    case EV_DURATION_US: *value = chunk_duration(&x->values, i); return true;
    case EV_END: *value = chunk_end(line, &x->values, i); return true;
    case EV_SELF: *value = packed_of(view->nesting[chunk].columns, NEST_SELF, i); return true;
    case EV_DEPTH: *value = packed_of(view->nesting[chunk].columns, NEST_DEPTH, i); return true;
    case EV_PARENT:
        *value = packed_of(view->nesting[chunk].columns, NEST_PARENT, i);
        if (!*value) return false;
        *value = (int64_t)(line->first_event + event) - *value;
        return true;
    case EV_OCCURRENCES:
        *value = x->values.columns[COL_OFFSET][i];
        return x->values.columns[COL_AGGREGATED][i] != 0;
    case EV_METADATA_ID: *value = metadata_id(view, x, i, err); return true;
    case EV_PLANE_ID: *value = line->plane->plane_id; return true;
    case EV_LINE_ID: *value = line->line_id; return true;
    case EV_DERIVED: *value = line->derived; return true;
    case EV_DEVICE_SELF:
        return view->device_self && (*value = view->device_self[event]) != INT64_MIN;
    default: /* EV_EAGER, EV_STEP */
        packed = column == EV_EAGER ? view->groups->eager : step_groups(view->groups);
        return packed && (*value = packed_of(packed, chunk, i)) >= 0;
    }
}

/* Expands to a separate loop for each value of `column`. */
#define FILL_NUMBERS(COLUMN)                                                                       \
    case COLUMN:                                                                                   \
        for (size_t k = 0; k < x->n && complete; k++) {                                            \
            int64_t value;                                                                         \
            if (event_value(view, chunk, COLUMN, x, x->slots[k], &value, err))                     \
                store(out, row + (int64_t)k, value);                                               \
            else                                                                                   \
                complete = arrow_set_null(out, row + (int64_t)k);                                  \
        }                                                                                          \
        break;

static inline void store(ArrowColumn *out, int64_t row, int64_t value)
{
    if (out->type == ARROW_REAL)
        out->reals[row] = (double)value / 1e6;
    else
        out->integers[row] = value;
}

static void fill_numbers(const LineView *view, size_t chunk, int column, Scratch *x,
                         ArrowColumn *out, int64_t row, ProfErr *err)
{
    bool complete = true;
    switch (column) {
        FILL_NUMBERS(EV_ID)
        FILL_NUMBERS(EV_START)
        FILL_NUMBERS(EV_START_US)
        FILL_NUMBERS(EV_DURATION)
        FILL_NUMBERS(EV_DURATION_US)
        FILL_NUMBERS(EV_END)
        FILL_NUMBERS(EV_SELF)
        FILL_NUMBERS(EV_DEPTH)
        FILL_NUMBERS(EV_PARENT)
        FILL_NUMBERS(EV_OCCURRENCES)
        FILL_NUMBERS(EV_METADATA_ID)
        FILL_NUMBERS(EV_PLANE_ID)
        FILL_NUMBERS(EV_LINE_ID)
        FILL_NUMBERS(EV_DERIVED)
        FILL_NUMBERS(EV_DEVICE_SELF)
        FILL_NUMBERS(EV_EAGER)
        FILL_NUMBERS(EV_STEP)
    }
    if (!complete) prof_nomem(err);
}

static void fill_texts(const int32_t *numbers, const Scratch *x, ArrowColumn *out, int64_t row,
                       ProfErr *err)
{
    for (size_t k = 0; k < x->n; k++) {
        int32_t code = numbers[chunk_meta(&x->values, x->slots[k])];
        out->codes[row + (int64_t)k] = code;
        if (code < 0 && !arrow_set_null(out, row + (int64_t)k)) prof_nomem(err);
    }
}

static void fill_piece(const EventsMaker *m, const Piece *piece, Scratch *x, ArrowBatch *batch,
                       ProfErr *err)
{
    const LineView *view = piece->view;
    const Chunk *chunk = &view->line->chunks[piece->chunk];
    const File *file = &view->line->plane->host->file;
    if (x->window.file != file) window_free(&x->window), x->window.file = file;
    if (chunk_read(view->line, chunk, chunk->packed ? m->chunk_columns : CHUNK_ALL, &x->values,
                   &x->window, err))
        return;
    choose_rows(m, view, chunk, x);
    for (int i = 0; i < m->n_wanted && !err->code; i++) {
        ArrowColumn *out = &batch->columns[i];
        if (m->wanted[i]->origin == FROM_EVENT)
            fill_numbers(view, piece->chunk, m->wanted[i]->column, x, out, batch->n, err);
        else if (m->wanted[i]->origin == FROM_META)
            fill_texts(view->plane->numbers[i], x, out, batch->n, err);
        else
            for (size_t k = 0; k < x->n; k++) out->codes[batch->n + (int64_t)k] = view->numbers[i];
    }
    batch->n += (int64_t)x->n;
}

/* ---- batches ---- */

static bool open_columns(const EventsMaker *m, ArrowBatch *batch, int64_t n_rows)
{
    if (!(batch->columns = prof_alloc((size_t)m->n_wanted * sizeof *batch->columns))) return false;
    batch->n_columns = m->n_wanted;
    for (int i = 0; i < m->n_wanted; i++) {
        batch->columns[i].type = m->wanted[i]->type;
        if (m->names[i]) batch->columns[i].names = arrow_names_ref(m->names[i]);
    }
    return arrow_batch_grow(batch, n_rows);
}

static void fill_batch(void *context, size_t at, ProfErr *err)
{
    const EventsMaker *m = context;
    Planned *planned = &m->planned[at];
    Scratch *x = prof_buffer(sizeof *x);
    if (!x || !open_columns(m, &planned->batch, (int64_t)planned->n_pieces * CHUNK_EVENTS)) {
        prof_free(x), prof_nomem(err);
        return;
    }
    x->window = (Window){0};
    for (size_t i = 0; i < planned->n_pieces && !err->code; i++)
        fill_piece(m, &planned->pieces[i], x, &planned->batch, err);
    window_free(&x->window);
    prof_free(x);
}

static bool asks(const EventsMaker *m, int first, int last)
{
    bool does = false;
    for (int i = 0; i < m->n_wanted; i++)
        does |= m->wanted[i]->column >= first && m->wanted[i]->column <= last;
    return does;
}

/* Computes the nesting of the next lines of a host together, so that all processors have work. */
static bool nest_lines(EventsMaker *m, ProfErr *err)
{
    enum { MOST = 32 };
    Line *lines[MOST];
    const Host *host = m->views.items[m->at_view].line->plane->host;
    size_t n = 0, most = 2 * m->n_workers < MOST ? 2 * m->n_workers : MOST;
    if (m->at_view < m->n_nested) return true;
    for (size_t i = m->at_view; i < m->views.n && n < most; i++) {
        if (m->views.items[i].line->plane->host != host) break;
        lines[n++] = m->views.items[i].line;
    }
    m->n_nested = m->at_view + n;
    return !lines_nest(lines, n, err);
}

/* Computes what the columns need of a line. */
static bool prepare_line(EventsMaker *m, LineView *view, ProfErr *err)
{
    bool nests = asks(m, EV_SELF, EV_PARENT);
    if (nests && (!nest_lines(m, err) || !(view->nesting = line_nesting(view->line, err))))
        return false;
    if (asks(m, EV_DEVICE_SELF, EV_DEVICE_SELF))
        view->device_self = line_device_self(view->line, err);
    if (asks(m, EV_EAGER, EV_STEP)) {
        const Grouping *grouping = host_grouping(view->line->plane->host, err);
        if (!grouping) return false;
        view->groups = line_groups(grouping, view->line);
    }
    return !err->code;
}

static bool chunk_wanted(const EventsMaker *m, const Line *line, const Chunk *chunk)
{
    return add_saturated(line->start_ps, chunk->min_offset) <= m->range.high &&
           (chunk->max_end == INT64_MAX ||
            add_saturated(line->start_ps, chunk->max_end) >= m->range.low);
}

/* Finds the next piece. False at the end of all lines. */
static bool next_piece(EventsMaker *m, Piece *piece, ProfErr *err)
{
    for (; m->at_view < m->views.n && !err->code; m->at_view++, m->at_chunk = 0) {
        LineView *view = &m->views.items[m->at_view];
        if (!m->at_chunk && !prepare_line(m, view, err)) return false;
        while (m->at_chunk < view->line->n_chunks) {
            *piece = (Piece){view, m->at_chunk++};
            if (chunk_wanted(m, view->line, &view->line->chunks[piece->chunk])) return true;
        }
    }
    return false;
}

/* Plans the next batches and fills them. */
static int make_batches(EventsMaker *m, ProfErr *err)
{
    size_t n = 2 * m->n_workers;
    Piece piece;
    m->n_planned = m->n_handed_out = 0;
    if (!m->planned && !(m->planned = prof_alloc(n * sizeof *m->planned))) return prof_nomem(err);
    memset(m->planned, 0, n * sizeof *m->planned);
    while (m->n_planned < n && next_piece(m, &piece, err)) {
        Planned *planned = &m->planned[m->n_planned];
        planned->pieces[planned->n_pieces++] = piece;
        m->n_planned += planned->n_pieces == PIECES;
    }
    if (m->n_planned < n && m->planned[m->n_planned].n_pieces) m->n_planned++;
    return parallel_for(m->n_workers, m->n_planned, fill_batch, m, err);
}

static int next(ArrowMaker *maker, ArrowBatch *batch, char **message)
{
    EventsMaker *m = (EventsMaker *)maker;
    ProfErr err = {0};
    for (;;) {
        while (m->n_handed_out < m->n_planned) {
            ArrowBatch *made = &m->planned[m->n_handed_out++].batch;
            if (!made->n) {
                arrow_batch_free(made);
                continue;
            }
            *batch = *made;
            *made = (ArrowBatch){0};
            return SQLITE_OK;
        }
        if (m->at_view == m->views.n) return SQLITE_OK;
        Statement s;
        statement_open(&s, m->prof->db);
        if (!interrupt_ask(&err)) make_batches(m, &err);
        statement_end(&s, &err);
        if (err.code) return prof_error(m->prof, &err, message);
    }
}

/* ---- opening ---- */

static void close_events(ArrowMaker *maker)
{
    EventsMaker *m = (EventsMaker *)maker;
    for (size_t i = 0; m->planned && i < 2 * m->n_workers; i++)
        arrow_batch_free(&m->planned[i].batch);
    for (int i = 0; m->names && i < m->n_wanted; i++) arrow_names_unref(m->names[i]);
    prof_free(m->planned);
    prof_free(m->names);
    prof_free(m->wanted);
    prof_free(m->views.items);
    arena_free(&m->arena);
    sqlite3_free(m->plane_is), sqlite3_free(m->line_is), sqlite3_free(m->name_is);
    prof_release(m->sources, m->n_sources);
    sqlite3_finalize(m->running); /* last, because the connection may end here */
    prof_free(m);
}

/* Returns the chunk columns that a column needs. */
static unsigned chunk_columns_of(const FastColumn *column)
{
    switch (column->column) {
    case EV_METADATA_ID: return CHUNK_METAS | 1 << COL_POSITION;
    case EV_DURATION:
    case EV_DURATION_US: return 1 << COL_DURATION;
    case EV_START:
    case EV_START_US:
    case EV_OCCURRENCES: return 1 << COL_OFFSET | 1 << COL_AGGREGATED;
    case EV_END: return CHUNK_TIMES;
    default: return column->origin == FROM_META ? CHUNK_METAS : 0;
    }
}

static bool copy_text(char **to, const char *text)
{
    return !text || (*to = sqlite3_mprintf("%s", text));
}

static bool read_options(EventsMaker *m, const ProfsqlArrowOptions *o)
{
    size_t n = (size_t)o->n_columns;
    m->range = o->has_range ? (Range){o->from_ps, o->to_ps} : (Range){INT64_MIN, INT64_MAX};
    m->wanted = prof_alloc(n * sizeof *m->wanted);
    m->names = prof_alloc(n * sizeof *m->names);
    m->base.fields = prof_alloc(n * sizeof *m->base.fields);
    if (!m->wanted || !m->names || !m->base.fields) return false;
    m->n_wanted = m->base.n_fields = o->n_columns;
    for (size_t i = 0; i < n; i++) {
        m->wanted[i] = fast_column(o->columns[i]);
        m->base.fields[i].type = m->wanted[i]->type;
        if (!copy_text(&m->base.fields[i].name, m->wanted[i]->name)) return false;
        if (m->wanted[i]->type == ARROW_NAMES && !(m->names[i] = arrow_names_new())) return false;
        m->chunk_columns |= chunk_columns_of(m->wanted[i]);
    }
    if (!is_all(m->range)) m->chunk_columns |= CHUNK_TIMES;
    if (o->name) m->chunk_columns |= CHUNK_METAS;
    return copy_text(&m->plane_is, o->plane) && copy_text(&m->line_is, o->line) &&
           copy_text(&m->name_is, o->name);
}

/* Like the table: if the runs have no events, records the reason in prof_issues. */
static void explain_nothing(const EventsMaker *m, ProfErr *err)
{
    static const Empty empty = {"trace_events", NEED_EVENTS, NULL};
    if (m->views.n || m->plane_is || m->line_is || m->name_is || !is_all(m->range)) return;
    for (int i = 0; i < m->n_sources && !err->code; i++)
        empty_record(&empty, m->sources[i].run, m->sources[i].only, err);
}

static int open_events(EventsMaker *m, sqlite3 *db, const char *source, char **message)
{
    ProfErr err = {0};
    int rc = statement_run(db, &m->running);
    if (rc != SQLITE_OK) return rc;
    Statement s;
    statement_open(&s, db);
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    rc = prof_open(m->prof, source, false, &m->sources, &m->n_sources, message);
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
    if (rc == SQLITE_OK) view_lines(m, &err);
    if (rc == SQLITE_OK && !err.code) explain_nothing(m, &err);
    statement_end(&s, &err);
    return err.code && rc == SQLITE_OK ? prof_error(m->prof, &err, message) : rc;
}

ArrowMaker *arrow_events(sqlite3 *db, const char *source, const ProfsqlArrowOptions *options,
                         int *rc, char **message)
{
    EventsMaker *m = prof_alloc(sizeof *m);
    if (!m) {
        *rc = SQLITE_NOMEM;
        return NULL;
    }
    *m = (EventsMaker){.base = {.next = next, .close = close_events}, .n_workers = 1};
    m->prof = prof_of_connection(db);
    if (!m->prof)
        *rc = SQLITE_MISUSE, *message = sqlite3_mprintf("libprofsql is not loaded into this "
                                                        "connection; load it first");
    else
        *rc = read_options(m, options) ? open_events(m, db, source, message) : SQLITE_NOMEM;
    if (*rc == SQLITE_OK) return &m->base;
    arrow_fields_free(&m->base);
    close_events(&m->base);
    return NULL;
}
