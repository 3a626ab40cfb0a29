// SPDX-License-Identifier: Apache-2.0
/* timeline.c: the table timeline: events as XProf's trace viewer shows them, including those that
 * it derives from others.
 *
 *   SELECT line, shown_name, start_ps, duration_ps
 *     FROM timeline('logs') WHERE pid = 1 AND line LIKE 'XLA Modules%' LIMIT 3;
 *
 * The files' events come first, as in trace_events, except those that XProf does not show. Then the
 * extras follow: merged steps of TPUs, regions of thread pools, and derived lines. The columns of
 * trace_events are read from an EventsCursor that is positioned on the file's event; a derived
 * event only has those that apply to it.
 *
 * The plan is that of trace_events, but promises no order. Its terms select the files' events; for
 * extras they select lines. */
#include "../loader/analysis/viewer/trace_viewer.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

#define TIMELINE_COLUMNS(C)                                                                        \
    C(TL_PID, "pid", "INTEGER", NULL,                                                              \
      "process number in XProf's trace viewer: 1 + plane id for devices, from 501 for custom "     \
      "planes, from 701 for hosts; with several hosts, plus 1000 for each",                        \
      "XProf")                                                                                     \
    C(TL_TID, "tid", "INTEGER", NULL,                                                              \
      "thread number in XProf's trace viewer: the line's display id",                              \
      "XLine.display_id, else XLine.id; for derived lines, XProf's number")                        \
    C(TL_FLOW_IN, "flow_in", "INTEGER", NULL,                                                      \
      "id of the flow that leads to this event: equals flow_out of the events that it comes "      \
      "from, on the same host, if the file contains them; NULL without a flow",                    \
      "stat flow, else XProf's context")                                                           \
    C(TL_FLOW_OUT, "flow_out", "INTEGER", NULL,                                                    \
      "id of the flow that starts at this event: equals flow_in of the events that it leads to, "  \
      "on the same host, if the file contains them; NULL without a flow",                          \
      "stat flow, else XProf's context")                                                           \
    C(TL_COUNTER, "counter_value", "", NULL,                                                       \
      "value of the counter from start_ps on; NULL for events on lines other than _counters_",     \
      "the first stat, on lines _counters_")                                                       \
    C(TL_SHOWN, "shown_name", "TEXT", NULL, "name that the trace viewer displays",                 \
      "stat step_name, else display name, else name")                                              \
    C(TL_ARGS, "args", "TEXT HIDDEN", "JSON",                                                      \
      "arguments that the trace viewer displays, all as text",                                     \
      "stats, and arguments that XProf adds")
enum { TL_BEFORE = N_EVENTS_COLUMNS - 1, TIMELINE_COLUMNS(COLUMN_ENUM) };
static const Column timeline_columns[] = {EVENTS_COLUMNS(COLUMN_DOC) TIMELINE_COLUMNS(COLUMN_DOC)};

/* What is shown besides the files' events, in this order for each host. */
enum Extra { MERGED_STEPS, REGIONS, DERIVED_LINES, N_EXTRAS };

typedef struct {
    EventsCursor events; /* positioned on the row's event, or on the one it was derived from */
    bool in_files;       /* false: the row is an extra */
    bool eof;
    const TraceViewer *viewer;
    const Host *drawing_of;
    /* Position among the extras. */
    int at_source;
    size_t at_host;
    SourceRun *from;
    Host *host;
    enum Extra kind;
    size_t at_line, at_event,
        n_events;     /* of the current unit: a line's steps or regions, or a derived line */
    uint64_t ordinal; /* number of the row among the host's extras */
    /* The row as XProf shows it, computed when it is needed. */
    ViewerEvent drawn;
    bool viewer_shows;
    /* Nesting of the current derived line, computed when it is needed. */
    PackedRows nesting; /* NESTED_SELF and NESTED_DEPTH of each event */
    const DerivedLine *nesting_of;
} TimelineCursor;

/* ---- cursor ---- */

static int timeline_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    return events_plan(vtab, info, false);
}

static int timeline_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    TimelineCursor *c = sqlite3_malloc64(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    rowids_open(&((ProfTable *)vtab)->rowids);
    *c = (TimelineCursor){.events = {.eof = true}, .eof = true};
    *cursor = &c->events.base;
    return SQLITE_OK;
}

static void forget_nesting(TimelineCursor *c)
{
    packed_rows_free(&c->nesting);
    c->nesting_of = NULL;
}

static int timeline_close(sqlite3_vtab_cursor *cursor)
{
    TimelineCursor *c = (TimelineCursor *)cursor;
    viewer_event_free(&c->drawn);
    forget_nesting(c);
    events_free(&c->events);
    sqlite3_free(c);
    return SQLITE_OK;
}

static bool open_drawing(TimelineCursor *c, Host *host)
{
    if (c->drawing_of == host) return true;
    c->drawing_of = NULL;
    Statement s;
    statement_open(&s, events_db(&c->events));
    c->viewer = host_event_viewer(host, &c->events.err);
    statement_end(&s, &c->events.err);
    if (c->viewer) c->drawing_of = host;
    return c->viewer != NULL;
}

/* Adds derived lines and tracks to the viewer. Few queries need them, and they take long. */
static bool open_tracks(TimelineCursor *c)
{
    if (c->viewer->derived) return true;
    Statement s;
    statement_open(&s, events_db(&c->events));
    const TraceViewer *all = host_trace_viewer(c->viewer->host, &c->events.err);
    statement_end(&s, &c->events.err);
    if (all) c->viewer = all;
    return all != NULL;
}

/* ---- the files' events ---- */

/* Moves from the current event to the next one that is shown, starting with this one. */
static int seek_file_event(TimelineCursor *c)
{
    EventsCursor *e = &c->events;
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK && !e->eof) {
        const Line *line = e->unit.line;
        if (!open_drawing(c, line->plane->host)) return events_fail(e);
        bool whole_line =
            viewer_draws(c->viewer, line->plane) && !line_groups(c->viewer->grouping, line)->merged;
        if (whole_line && viewer_shows(c->viewer, line, meta_of(e)))
            return e->err.code ? events_fail(e) : SQLITE_OK;
        if (!whole_line) e->next = e->stop, e->k = e->n - 1;
        rc = events_next(&e->base);
    }
    return rc;
}

/* ---- extras ---- */

static bool fits(const char *wanted, const char *text) { return !wanted || !strcmp(wanted, text); }

static const DerivedLine *derived_line(const TimelineCursor *c)
{
    return &c->viewer->derived->lines[c->at_line];
}
static Line *file_line(const TimelineCursor *c) { return &c->host->lines[c->at_line]; }
static const Plane *plane_of(const TimelineCursor *c)
{
    return c->kind == DERIVED_LINES ? derived_line(c)->plane : file_line(c)->plane;
}

static size_t n_lines(const TimelineCursor *c)
{
    return c->kind == DERIVED_LINES ? c->viewer->derived->n_lines : c->host->n_lines;
}

static size_t n_extras(const TimelineCursor *c)
{
    if (c->kind == DERIVED_LINES) return derived_line(c)->events.n;
    const LineGroups *groups = line_groups(c->viewer->grouping, file_line(c));
    if (c->kind == REGIONS) return groups->n_regions;
    return groups->merged ? groups->n_steps : 0;
}

/* Returns whether the query may want a derived line. None has an id, nor do their events. */
static bool derived_wanted(const EventsCursor *e)
{
    return is_all(e->line_id) && is_all(e->event_id);
}

/* Returns whether the query may want the line. An event that is not in the file has no id to ask
 * for. */
static bool unit_wanted(const TimelineCursor *c)
{
    const EventsCursor *e = &c->events;
    const Plane *plane = plane_of(c);
    bool by_id = !is_all(e->event_id) || !is_all(e->parent_id) || !is_all(e->correlation_id);
    if (!viewer_draws(c->viewer, plane) || (by_id && c->kind == REGIONS)) return false;
    if (!fits(e->plane_is, plane->name->text) || !is_within(e->plane_id, plane->plane_id))
        return false;
    if (c->kind == DERIVED_LINES) return fits(e->line_is, derived_line(c)->name);
    return fits(e->line_is, line_label(file_line(c))->text) &&
           is_within(e->line_id, file_line(c)->line_id);
}

/* Moves to the next host whose extras are wanted. False at the end or on errors. */
static bool next_host(TimelineCursor *c)
{
    EventsCursor *e = &c->events;
    for (; c->at_source < e->n_sources; c->at_source++, c->at_host = 0) {
        c->from = &e->sources[c->at_source];
        while (c->at_host < c->from->run->n_hosts && fits(e->run_is, c->from->label)) {
            c->host = &c->from->run->hosts[c->at_host++];
            if ((c->from->only && c->host != c->from->only) || !fits(e->host_is, c->host->name))
                continue;
            c->kind = MERGED_STEPS, c->at_line = 0, c->ordinal = 0, c->n_events = c->at_event = 0;
            return open_drawing(c, c->host);
        }
    }
    return false;
}

/* Moves to the next unit that has events. False if the host has no more. */
static bool next_unit(TimelineCursor *c)
{
    for (; c->kind < N_EXTRAS; c->kind++, c->at_line = 0) {
        if (c->kind == DERIVED_LINES && (!derived_wanted(&c->events) || !open_tracks(c)))
            return false;
        for (; c->at_line < n_lines(c); c->at_line++) {
            c->n_events = n_extras(c);
            c->at_event = 0;
            if (c->n_events && unit_wanted(c)) return true;
            c->ordinal += c->n_events;
        }
    }
    return false;
}

static int next_extra(TimelineCursor *c)
{
    EventsCursor *e = &c->events;
    bool there = false;
    if (c->host && ++c->ordinal && ++c->at_event < c->n_events) return SQLITE_OK;
    if (c->host) c->at_line++, there = next_unit(c);
    while (!there && !e->err.code && next_host(c)) there = next_unit(c);
    c->eof = !there;
    return e->err.code ? events_fail(e) : SQLITE_OK;
}

/* ---- stepping ---- */

static int seek_row(TimelineCursor *c)
{
    c->viewer_shows = false;
    if (c->in_files) {
        int rc = seek_file_event(c);
        if (rc != SQLITE_OK || !c->events.eof) return rc;
        c->in_files = false;
        c->host = NULL, c->at_source = 0, c->at_host = 0;
        return next_extra(c);
    }
    return SQLITE_OK;
}

static int timeline_next(sqlite3_vtab_cursor *cursor)
{
    TimelineCursor *c = (TimelineCursor *)cursor;
    int rc = c->in_files ? events_next(cursor) : next_extra(c);
    return rc == SQLITE_OK ? seek_row(c) : rc;
}

static int timeline_filter(sqlite3_vtab_cursor *cursor, int plan, const char *terms, int argc,
                           sqlite3_value **argv)
{
    TimelineCursor *c = (TimelineCursor *)cursor;
    viewer_event_free(&c->drawn);
    forget_nesting(c);
    c->drawing_of = NULL, c->eof = true;
    int rc = events_filter(cursor, plan, terms, argc, argv);
    if (rc != SQLITE_OK) return rc;
    bool nothing = false; /* a term that no row can match */
    for (int i = 0; i < argc; i++)
        nothing |= sqlite3_value_type(argv[i]) == SQLITE_NULL && terms[2 * i] != 's';
    if (nothing) return SQLITE_OK;
    c->eof = false, c->in_files = true;
    rc = seek_row(c);
    return rc == SQLITE_OK && c->eof ? events_explain_nothing(&c->events, argc) : rc;
}

static int timeline_eof(sqlite3_vtab_cursor *cursor) { return ((TimelineCursor *)cursor)->eof; }

/* Extras are numbered by host, after all events. */
static int timeline_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    enum { EXTRA_SHIFT = 55, HOST_SHIFT = 38 };
    const TimelineCursor *c = (TimelineCursor *)cursor;
    const EventsCursor *e = &c->events;
    if (c->in_files) return prof_rowid(cursor->pVtab, e->unit.from, event_of(e), rowid);
    return prof_rowid(
        cursor->pVtab, c->from,
        place_pair(place_pair(1, EXTRA_SHIFT - HOST_SHIFT, c->at_host), HOST_SHIFT, c->ordinal),
        rowid);
}

/* ---- columns ---- */

static const MergedStep *step_of(const TimelineCursor *c)
{
    return &line_groups(c->viewer->grouping, file_line(c))->steps[c->at_event];
}
static const Region *region_of(const TimelineCursor *c)
{
    return &line_groups(c->viewer->grouping, file_line(c))->regions[c->at_event];
}

/* Returns the row as XProf shows it. */
static const ViewerEvent *draw(TimelineCursor *c)
{
    EventsCursor *e = &c->events;
    if (c->viewer_shows) return &c->drawn;
    if (c->in_files)
        c->viewer_shows = viewer_event(c->viewer, e->unit.line, index_of(e), &c->drawn, &e->err);
    else if (c->kind == MERGED_STEPS)
        c->viewer_shows = viewer_step(c->viewer, file_line(c), step_of(c), &c->drawn, &e->err);
    else if (c->kind == REGIONS)
        c->viewer_shows = viewer_region(c->viewer, file_line(c), region_of(c), &c->drawn, &e->err);
    else
        c->viewer_shows =
            viewer_derived(c->viewer, derived_line(c), c->at_event, &c->drawn, &e->err);
    return c->viewer_shows ? &c->drawn : NULL;
}

static bool arg_json(sqlite3_str *out, const Plane *plane, const Stat *value)
{
    char room[VIEWER_ROOM];
    size_t n;
    const char *text = viewer_value(plane, value, room, &n);
    char *fixed = sqlite3_malloc64(n * 3 + 1);
    if (!fixed) return false;
    json_text(out, fixed, utf8_repair((const uint8_t *)text, n, fixed));
    sqlite3_free(fixed);
    return true;
}

static void args_column(TimelineCursor *c, sqlite3_context *ctx)
{
    const ViewerEvent *drawn = draw(c);
    if (!drawn) return;
    sqlite3_str *out = sqlite3_str_new(NULL);
    bool complete = true;
    sqlite3_str_appendchar(out, 1, '{');
    for (size_t i = 0; i < drawn->args.n && complete; i++) {
        const ViewerArg *arg = &drawn->args.items[i];
        if (i) sqlite3_str_appendchar(out, 1, ',');
        json_text(out, arg->name, arg->n_name);
        sqlite3_str_appendchar(out, 1, ':');
        complete = arg_json(out, drawn->plane, &arg->value);
    }
    sqlite3_str_appendchar(out, 1, '}');
    int length = sqlite3_str_length(out);
    complete &= sqlite3_str_errcode(out) == SQLITE_OK;
    char *text = sqlite3_str_finish(out);
    if (!complete || !text) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(ctx);
    } else {
        sqlite3_result_text(ctx, text, length, sqlite3_free);
        sqlite3_result_subtype(ctx, 'J');
    }
}

static void track_column(TimelineCursor *c, sqlite3_context *ctx, bool process)
{
    if (!open_tracks(c)) return;
    const TraceViewer *d = c->viewer;
    const SourceRun *from = c->in_files ? c->events.unit.from : c->from;
    bool derived = !c->in_files && c->kind == DERIVED_LINES;
    const Track *track =
        derived ? &d->derived_lines[c->at_line]
                : &d->lines[(c->in_files ? c->events.unit.line : file_line(c)) - d->host->lines];
    int64_t several =
        from->run->n_hosts > 1 && !from->only ? 1000 * (d->host - from->run->hosts + 1) : 0;
    sqlite3_result_int64(ctx, process ? track->pid + several : track->tid);
}

static void drawn_column(TimelineCursor *c, sqlite3_context *ctx, int column)
{
    if (column == TL_PID || column == TL_TID) {
        track_column(c, ctx, column == TL_PID);
        return;
    }
    if (column == TL_ARGS) {
        args_column(c, ctx);
        return;
    }
    bool counter = c->in_files && !strcmp(c->events.unit.line->name->text, "_counters_");
    const ViewerEvent *drawn = column == TL_COUNTER && !counter ? NULL : draw(c);
    if (!drawn) return;
    if (column == TL_FLOW_IN && drawn->has_flow_in) sqlite3_result_int64(ctx, drawn->flow_in);
    if (column == TL_FLOW_OUT && drawn->has_flow_out) sqlite3_result_int64(ctx, drawn->flow_out);
    if (column == TL_COUNTER) result_stat(ctx, drawn->plane, &drawn->first_stat);
    if (column == TL_SHOWN) result_utf8(ctx, drawn->name, drawn->n_name);
}

/* Times and group of an extra. */
typedef struct {
    int64_t start_ps, duration_ps, group;
} ExtraSpan;

static ExtraSpan span_of(const TimelineCursor *c)
{
    if (c->kind == MERGED_STEPS)
        return (ExtraSpan){step_of(c)->start_ps, step_of(c)->duration_ps, step_of(c)->group};
    if (c->kind == REGIONS) {
        const Region *r = region_of(c);
        return (ExtraSpan){r->start_ps, (int64_t)((uint64_t)r->end_ps - (uint64_t)r->start_ps),
                           r->group};
    }
    const PackedRows *events = &derived_line(c)->events;
    return (ExtraSpan){packed_value(events, c->at_event, DERIVED_START),
                       packed_value(events, c->at_event, DERIVED_DURATION),
                       packed_value(events, c->at_event, DERIVED_GROUP)};
}

enum { NESTED_SELF, NESTED_DEPTH };

/* An event of a derived line that may include later events. */
typedef struct {
    int64_t end_ps, self_ps;
    uint32_t event;
    bool is_parent;
} OpenEvent;

static PackedRow nested_row(int64_t self_ps, size_t depth)
{
    return (PackedRow){{[NESTED_SELF] = self_ps, [NESTED_DEPTH] = (int64_t)depth}};
}

/* Computes depth and self time on a derived line, whose events are in nesting order. */
static bool nest_derived(TimelineCursor *c)
{
    const DerivedLine *line = derived_line(c);
    if (c->nesting_of == line) return true;
    forget_nesting(c);
    RowWriter rows = {0};
    LIST(OpenEvent) open = {0};
    for (size_t i = 0; i <= line->events.n && !rows.no_memory; i++) {
        bool at_end = i == line->events.n;
        DerivedEvent e = {0};
        if (!at_end) e = derived_event(line, i);
        int64_t end_ps = add_saturated(e.start_ps, e.duration_ps);
        for (; open.n && (at_end || open.items[open.n - 1].end_ps < end_ps); open.n--) {
            const OpenEvent *closed = &open.items[open.n - 1];
            PackedRow row = nested_row(closed->self_ps, open.n - 1);
            if (closed->is_parent) rows_set(&rows, closed->event, &row);
        }
        if (at_end) break;
        OpenEvent *parent = open.n ? &open.items[open.n - 1] : NULL;
        if (parent)
            parent->is_parent = true,
            parent->self_ps =
                add_saturated(parent->self_ps, e.duration_ps == INT64_MIN ? 0 : -e.duration_ps);
        PackedRow row = nested_row(e.duration_ps, open.n);
        rows_add(&rows, &row);
        OpenEvent *opened = PUSH(open);
        if (opened) *opened = (OpenEvent){end_ps, e.duration_ps, (uint32_t)i, false};
        if (!opened) rows.no_memory = true;
    }
    prof_free(open.items);
    if (!rows_finish(&rows, &c->nesting)) {
        prof_nomem(&c->events.err);
        return false;
    }
    c->nesting_of = line;
    return true;
}

static const DerivedMeta *meta_of_derived(const TimelineCursor *c)
{
    const DerivedLine *line = derived_line(c);
    const DerivedPlane *plane = &c->viewer->derived->planes[line->plane - c->host->planes];
    return &plane->metas[packed_value(&line->events, c->at_event, DERIVED_META)];
}

/* Writes a column that follows from the kind of a derived line. */
static void kind_column(const TimelineCursor *c, sqlite3_context *ctx, int column)
{
    const DerivedLine *line = derived_line(c);
    const DerivedMeta *meta = meta_of_derived(c);
    const char *name = meta->name->text;
    size_t n = meta->name->n_bytes;
    if (column == EV_HLO_OP && line->kind == LINE_OPS) result_text(ctx, meta->display_name);
    if (column == EV_TF_OP && line->kind == LINE_FRAMEWORK_OPS) result_text(ctx, meta->name);
    if (column == EV_HLO_MODULE && line->kind == LINE_MODULES) {
        const char *bracket = n && name[n - 1] == ')' ? strrchr(name, '(') : NULL;
        result_slice(ctx, (Slice){name, bracket ? (size_t)(bracket - name) : n});
    }
    const char *colon = strrchr(name, ':');
    if (line->kind != LINE_SOURCE || !colon) return;
    if (column == EV_SOURCE_FILE) result_slice(ctx, (Slice){name, (size_t)(colon - name)});
    if (column == EV_SOURCE_LINE && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
        strlen(colon + 1) < 10 && colon[1])
        sqlite3_result_int(ctx, atoi(colon + 1));
}

static void derived_column(TimelineCursor *c, sqlite3_context *ctx, int column)
{
    const DerivedLine *line = derived_line(c);
    switch (column) {
    case EV_LINE: result_static(ctx, line->name); break;
    case EV_NAME: result_text(ctx, meta_of_derived(c)->name); break;
    case EV_SHORT_NAME:
        result_text(ctx, meta_of_derived(c)->display_name->n_bytes
                             ? meta_of_derived(c)->display_name
                             : meta_of_derived(c)->name);
        break;
    case EV_DISPLAY_NAME:
        if (meta_of_derived(c)->display_name->n_bytes)
            result_text(ctx, meta_of_derived(c)->display_name);
        break;
    case EV_SELF:
    case EV_DEPTH:
        if (nest_derived(c))
            sqlite3_result_int64(ctx, packed_value(&c->nesting, c->at_event,
                                                   column == EV_SELF ? NESTED_SELF : NESTED_DEPTH));
        break;
    case EV_LINE_KIND: result_static(ctx, line_kind_names[line->kind]); break;
    case EV_DERIVED: sqlite3_result_int(ctx, 1); break;
    default: kind_column(c, ctx, column); break;
    }
}

/* Writes a column of a region, which is on the line of its thread and only has a name. */
static void region_column(TimelineCursor *c, sqlite3_context *ctx, int column)
{
    const Line *line = file_line(c);
    switch (column) {
    case EV_LINE: result_text(ctx, line_label(line)); break;
    case EV_LINE_ID: sqlite3_result_int64(ctx, line->line_id); break;
    case EV_LINE_KIND: result_static(ctx, line_kind_names[line->kind]); break;
    case EV_DERIVED: sqlite3_result_int(ctx, 1); break;
    case EV_SHORT_NAME:
    case EV_NAME: drawn_column(c, ctx, TL_SHOWN); break;
    default: break;
    }
}

/* Writes a column of a merged step: those of its first event, except for the times. */
static void step_column(TimelineCursor *c, sqlite3_context *ctx, int column)
{
    const MergedStep *step = step_of(c);
    EventsCursor *e = &c->events;
    switch (column) {
    case EV_SELF: sqlite3_result_int64(ctx, step->duration_ps); break;
    case EV_DEVICE_START:
    case EV_DEVICE_DURATION:
        if (step->device_start_ps != INT64_MIN)
            sqlite3_result_int64(ctx, column == EV_DEVICE_START ? step->device_start_ps
                                                                : step->device_duration_ps);
        break;
    case EV_DEVICE_SELF: break;
    default:
        if (events_point(e, c->from, file_line(c), step->event - file_line(c)->first_event))
            events_column(&e->base, ctx, column);
    }
}

static void extra_column(TimelineCursor *c, sqlite3_context *ctx, int column)
{
    const Plane *plane = plane_of(c);
    bool in_span = column == EV_START || column == EV_START_US || column == EV_DURATION ||
                   column == EV_DURATION_US || column == EV_END || column == EV_STEP ||
                   column == EV_STEP_NAME;
    const ExtraSpan span = in_span ? span_of(c) : (ExtraSpan){0};
    switch (column) {
    case EV_RUN: sqlite3_result_text(ctx, c->from->label, -1, SQLITE_TRANSIENT); break;
    case EV_HOST: result_static(ctx, plane->host->name); break;
    case EV_PLANE: result_text(ctx, plane->name); break;
    case EV_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case EV_PLANE_KIND: result_static(ctx, plane_kind_names[plane->kind]); break;
    case EV_START:
    case EV_START_US: result_time(ctx, span.start_ps, column == EV_START_US); break;
    case EV_DURATION:
    case EV_DURATION_US: result_time(ctx, span.duration_ps, column == EV_DURATION_US); break;
    case EV_END: sqlite3_result_int64(ctx, add_saturated(span.start_ps, span.duration_ps)); break;
    case EV_STEP: result_nonnegative(ctx, span.group); break;
    case EV_STEP_NAME: {
        const char *name = group_name(c->viewer->grouping, span.group);
        result_static(ctx, name);
        break;
    }
    case EV_SOURCE: sqlite3_result_text(ctx, c->from->source, -1, SQLITE_TRANSIENT); break;
    default:
        if (c->kind == MERGED_STEPS)
            step_column(c, ctx, column);
        else if (c->kind == REGIONS)
            region_column(c, ctx, column);
        else
            derived_column(c, ctx, column);
    }
}

static int timeline_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    TimelineCursor *c = (TimelineCursor *)cursor;
    if (column > TL_BEFORE)
        drawn_column(c, ctx, column);
    else if (c->in_files)
        return events_column(cursor, ctx, column);
    else
        extra_column(c, ctx, column);
    return c->events.err.code ? events_fail(&c->events) : SQLITE_OK;
}

static const sqlite3_module timeline_module = {
    .iVersion = 2,
    .xConnect = prof_table_connect,
    .xBestIndex = timeline_best_index,
    .xDisconnect = prof_table_disconnect,
    .xOpen = timeline_open,
    .xClose = timeline_close,
    .xFilter = timeline_filter,
    .xNext = timeline_next,
    .xEof = timeline_eof,
    .xColumn = timeline_column,
    .xRowid = timeline_rowid,
};
const Table timeline_table = {
    "timeline",
    "one event that XProf's trace viewer displays; `derived = 1` marks events on lines that XProf "
    "adds",
    timeline_columns,
    COUNT(timeline_columns),
    &timeline_module,
    NULL,
    1e6,
    "0.1.0",
    "SELECT line, name, start_us, duration_us FROM timeline WHERE derived = 1 LIMIT 10"};
