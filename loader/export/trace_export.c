// SPDX-License-Identifier: Apache-2.0
/* trace_export.c: lists what the trace viewer shows, line by line; see trace_export.h.
 *
 * Here are only places and times: trace_parts.c reads the events and formats them. The events of a
 * line are read in stored order if they are stored by start, longer ones first.
 * Otherwise, or if regions are added, they are sorted, which takes 32 bytes of memory for each
 * event of one line. */
#include "trace_parts.h"

#include "../base/hash_table.h"
#include "../base/interrupt.h"
#include "../base/sort.h"
#include "../plane.h"
#include "../store/chunks.h"

#include <math.h>
#include <stdio.h>

/* Rows of one line. An event that overlaps events on all of them ends early. */
enum { MAX_LANES = 64 };

typedef LIST(TraceTime) Open; /* ends of the open slices, the innermost last */
typedef struct {
    uint32_t track;
    Open open;
} Lane;

typedef struct {
    const char *name; /* as in the file; compared by address */
    uint32_t track;
} Counter;

typedef struct {
    TraceParts *parts;
    const TraceOptions *options;
    TraceTotals *totals;
    ProfErr *err;
    Run *run;
    const TraceViewer *viewer; /* of the current host */
    int64_t host_ns;           /* start of the host's session in the trace */
    Arena names;               /* of processes */
    uint32_t process;          /* track of the current plane */
    const Plane *plane;        /* the plane of `process`; NULL if none */
    TraceSource source;        /* the current line, its plane and its name */
    const Plane *line_plane;
    const char *line_name;
    uint32_t source_number; /* of `source`, if line_used */
    bool line_used;         /* the current line has events */
    uint32_t line_rank;
    LIST(Lane) lanes; /* of the current line; the first n_lanes are in use */
    size_t n_lanes;
    LIST(Counter) counters; /* of the current line */
    HashTable counters_by_name;
    ViewerEvent event; /* a value of a counter */
} Export;

/* What is shown on a line. */
typedef struct {
    int64_t start_ps, duration_ps;
    uint64_t index;
    enum TraceItemOf of;
} LineSpan;

/* ---- times ---- */

/* Returns a time of the trace. Earlier times, which only damaged files have, become its start. */
static TraceTime time_of(const Export *x, int64_t ps)
{
    int64_t ns = ps / 1000;
    int32_t rest = (int32_t)(ps % 1000);
    if (rest < 0) ns--, rest += 1000;
    ns = add_saturated(ns, x->host_ns);
    return ns < 0 ? (TraceTime){0, 0} : (TraceTime){ns, rest};
}

static bool is_before(TraceTime a, TraceTime b)
{
    return a.ns < b.ns || (a.ns == b.ns && a.ps < b.ps);
}

/* Returns the earliest start of an event of the host, at most 0. */
static int64_t earliest_ns(const Host *host)
{
    int64_t first = 0;
    for (size_t i = 0; i < host->n_lines; i++)
        for (size_t k = 0; k < host->lines[i].n_chunks; k++) {
            const Line *line = &host->lines[i];
            int64_t start = add_saturated(line->start_ps, line->chunks[k].min_offset);
            if (start < first) first = start;
        }
    return first / 1000 - (first % 1000 != 0);
}

/* Returns the start of the first session. Sessions of hosts are shifted by their clocks, if all of
 * these are known and within a year. */
static int64_t first_unix_ns(const Run *run, const Host *only)
{
    const int64_t year = (int64_t)366 * 24 * 3600 * 1000000000;
    int64_t first = INT64_MAX, last = 0;
    EACH_HOST(host, (Run *)(uintptr_t)run, (Host *)(uintptr_t)only) {
        if (host->start_unix_ns < 0) return -1;
        if (host->start_unix_ns < first) first = host->start_unix_ns;
        if (host->start_unix_ns > last) last = host->start_unix_ns;
    }
    return last - first <= year ? first : -1;
}

/* ---- rows ---- */

/* Adds a row to the trace. Returns its id; 0 if memory ran out. */
static uint32_t add_track(Export *x, TraceTrack track)
{
    TraceTrack *added = trace_parts_add_track(x->parts, x->err);
    if (!added) return 0;
    track.id = added->id;
    if (track.kind == TRACK_PROCESS) track.process = track.id;
    if (!track.line) track.line = track.id;
    *added = track;
    trace_parts_add(x->parts, &(TraceItem){.kind = ITEM_TRACK, .track = track.id}, x->err);
    return track.id;
}

/* Adds the plane's row, before its first line. */
static void open_plane(Export *x, const Plane *plane)
{
    enum { NAME_BYTES = 400 };
    const Host *host = plane->host;
    if (x->plane == plane) return;
    x->plane = plane;
    x->line_rank = 0;
    char *name = arena_buffer(&x->names, NAME_BYTES);
    if (!name)
        prof_nomem(x->err);
    else if (x->run->n_hosts > 1)
        snprintf(name, NAME_BYTES, "%.150s %.200s", host->name, plane->name->text);
    else
        snprintf(name, NAME_BYTES, "%.350s", plane->name->text);
    if (name)
        x->process = add_track(x, (TraceTrack){.kind = TRACK_PROCESS,
                                               .rank = plane->plane_id,
                                               .name = name,
                                               .n_name = strlen(name)});
}

/* Adds a row when its line has its first event. */
static void open_line(Export *x, const Plane *plane, const char *name, Line *line,
                      const DerivedLine *derived)
{
    size_t host = (size_t)(plane->host - x->run->hosts);
    x->line_plane = plane, x->line_name = name;
    x->source = (TraceSource){x->viewer, line, derived, host ? mix64(host) : 0};
    x->n_lanes = x->counters.n = 0;
    hash_free(&x->counters_by_name);
    x->line_used = false;
}

static void use_line(Export *x)
{
    if (x->line_used) return;
    x->line_used = true;
    open_plane(x, x->line_plane);
    x->source_number = trace_parts_add_source(x->parts, &x->source, x->err);
    x->line_rank++;
    x->totals->n_lines++;
}

static Lane *add_lane(Export *x)
{
    use_line(x);
    if (x->n_lanes == x->lanes.n) {
        Lane *made = PUSH(x->lanes);
        if (!made) {
            prof_nomem(x->err);
            return NULL;
        }
        *made = (Lane){0};
    }
    Lane *lane = &x->lanes.items[x->n_lanes];
    lane->track = add_track(x, (TraceTrack){.kind = x->n_lanes ? TRACK_LANE : TRACK_LINE,
                                            .process = x->process,
                                            .line = x->n_lanes ? x->lanes.items[0].track : 0,
                                            .rank = x->line_rank,
                                            .name = x->line_name,
                                            .n_name = strlen(x->line_name)});
    lane->open.n = 0;
    x->n_lanes++;
    return lane->track ? lane : NULL;
}

static void end_last(Export *x, Lane *lane)
{
    TraceTime at = lane->open.items[--lane->open.n];
    trace_parts_add(x->parts, &(TraceItem){.kind = ITEM_END, .track = lane->track, .at = at},
                    x->err);
}

static void close_line(Export *x)
{
    for (size_t i = 0; i < x->n_lanes; i++)
        while (x->lanes.items[i].open.n) end_last(x, &x->lanes.items[i]);
    x->n_lanes = 0;
}

/* Ends what has ended by `start`. Returns whether a slice with these times then nests. */
static bool fits(Export *x, Lane *lane, TraceTime start, TraceTime end)
{
    while (lane->open.n && lane->open.items[lane->open.n - 1].ns <= start.ns &&
           !is_before(start, lane->open.items[lane->open.n - 1]))
        end_last(x, lane);
    return !lane->open.n || !is_before(lane->open.items[lane->open.n - 1], end);
}

/* ---- events ---- */

static void add_item(Export *x, enum TraceItemKind kind, uint32_t track, const LineSpan *span,
                     int64_t duration_ps)
{
    trace_parts_add(x->parts,
                    &(TraceItem){.kind = (uint8_t)kind,
                                 .of = (uint8_t)span->of,
                                 .track = track,
                                 .source = x->source_number,
                                 .at = time_of(x, span->start_ps),
                                 .duration_ps = duration_ps,
                                 .index = span->index},
                    x->err);
    x->totals->n_events++;
}

static void add_slice(Export *x, const LineSpan *span)
{
    int64_t duration_ps = span->duration_ps > 0 ? span->duration_ps : 0;
    TraceTime start = time_of(x, span->start_ps),
              end = time_of(x, add_saturated(span->start_ps, duration_ps));
    Lane *lane = NULL;
    for (size_t i = 0; i < x->n_lanes && !lane; i++)
        if (fits(x, &x->lanes.items[i], start, end)) lane = &x->lanes.items[i];
    if (!lane && x->n_lanes < MAX_LANES && !(lane = add_lane(x))) return;
    if (!lane) { /* it ends with the slice around it */
        lane = &x->lanes.items[MAX_LANES - 1];
        end = lane->open.items[lane->open.n - 1];
        duration_ps = (end.ns - start.ns) * 1000 + end.ps - start.ps;
        x->totals->n_cut++;
    }
    add_item(x, ITEM_SLICE, lane->track, span, duration_ps);
    TraceTime *open = PUSH(lane->open);
    if (open)
        *open = end;
    else
        prof_nomem(x->err);
}

static uint32_t counter_track(Export *x)
{
    const ViewerEvent *e = &x->event;
    uint64_t hash = hash64((uint64_t)(uintptr_t)e->name);
    HASH_EACH(i, &x->counters_by_name, hash)
        if (x->counters.items[i].name == e->name) return x->counters.items[i].track;
    use_line(x);
    Counter *counter = PUSH_KEYED(x->counters, &x->counters_by_name, hash);
    if (!counter) {
        prof_nomem(x->err);
        return 0;
    }
    uint32_t track = add_track(x, (TraceTrack){.kind = TRACK_COUNTER,
                                               .process = x->process,
                                               .rank = x->line_rank,
                                               .name = e->name,
                                               .n_name = e->n_name});
    *counter = (Counter){e->name, track};
    return track;
}

static bool is_number(const Stat *stat)
{
    return stat_is_integer(stat) || (stat->type == TYPE_DOUBLE && isfinite(stat->number));
}

static bool read_event(Export *x, const LineSpan *span)
{
    Line *line = x->source.line;
    const LineGroups *groups = line_groups(x->viewer->grouping, line);
    switch (span->of) {
    case OF_REGIONS:
        return viewer_region(x->viewer, line, &groups->regions[span->index], &x->event, x->err);
    case OF_STEPS:
        return viewer_step(x->viewer, line, &groups->steps[span->index], &x->event, x->err);
    default: return viewer_event(x->viewer, line, span->index, &x->event, x->err);
    }
}

/* Only whether an event is a counter's value depends on its content. */
static void add_event(Export *x, const LineSpan *span)
{
    const Line *line = x->source.line;
    if (!line || line->named != NAME_COUNTERS) {
        add_slice(x, span);
        return;
    }
    if (!read_event(x, span)) return;
    uint32_t track = is_number(&x->event.first_stat) ? counter_track(x) : 0;
    if (track)
        add_item(x, ITEM_COUNTER, track, span, 0);
    else
        add_slice(x, span);
}

static bool in_time(const Export *x, int64_t start_ps, int64_t duration_ps)
{
    return start_ps <= x->options->to_ps &&
           add_saturated(start_ps, duration_ps) >= x->options->from_ps;
}

static bool goes_on(Export *x) { return !interrupt_poll(1, x->err); }

/* ---- lines ---- */

/* Adds a line whose events are stored by start, longer ones first. */
static void add_ordered(Export *x, Line *line)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, x->err);
    while (goes_on(x) && event_reader_next(&reader, &e))
        if (in_time(x, e.start_ps, e.duration_ps) && viewer_shows(x->viewer, line, e.meta))
            add_event(
                x, &(LineSpan){e.start_ps, e.duration_ps, e.event - line->first_event, OF_EVENTS});
    event_reader_close(&reader);
}

typedef LIST(LineSpan) Spans;

static void add_span(Export *x, Spans *spans, int64_t start, int64_t duration, uint64_t index,
                     enum TraceItemOf of)
{
    LineSpan *span = in_time(x, start, duration) ? PUSH(*spans) : NULL;
    if (span)
        *span = (LineSpan){start, duration, index, of};
    else if (in_time(x, start, duration))
        prof_nomem(x->err);
}

static void list_events(Export *x, Line *line, Spans *spans)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, x->err);
    while (goes_on(x) && event_reader_next(&reader, &e))
        if (viewer_shows(x->viewer, line, e.meta))
            add_span(x, spans, e.start_ps, e.duration_ps, e.event - line->first_event, OF_EVENTS);
    event_reader_close(&reader);
}

static int by_start(const void *a, const void *b)
{
    const LineSpan *x = a, *y = b;
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    if (x->duration_ps != y->duration_ps) return ORDER(y->duration_ps, x->duration_ps);
    if (x->of != y->of) return ORDER(y->of, x->of);
    return ORDER(x->index, y->index);
}

static void add_line(Export *x, Line *line)
{
    const LineGroups *groups = line_groups(x->viewer->grouping, line);
    Spans spans = {0};
    if (!groups->merged && line->ordered && !groups->n_regions) {
        add_ordered(x, line);
        return;
    }
    if (!groups->merged) list_events(x, line, &spans);
    for (size_t i = 0; groups->merged && i < groups->n_steps; i++)
        add_span(x, &spans, groups->steps[i].start_ps, groups->steps[i].duration_ps, i, OF_STEPS);
    for (size_t i = 0; i < groups->n_regions; i++) {
        const Region *r = &groups->regions[i];
        add_span(x, &spans, r->start_ps, (int64_t)((uint64_t)r->end_ps - (uint64_t)r->start_ps), i,
                 OF_REGIONS);
    }
    sort_array(spans.items, spans.n, sizeof *spans.items, by_start);
    for (size_t i = 0; i < spans.n && goes_on(x); i++) add_event(x, &spans.items[i]);
    prof_free(spans.items);
}

static void add_derived(Export *x, const DerivedLine *line)
{
    for (size_t i = 0; i < line->events.n && goes_on(x); i++) {
        DerivedEvent e = derived_event(line, i);
        if (in_time(x, e.start_ps, e.duration_ps))
            add_event(x, &(LineSpan){e.start_ps, e.duration_ps, i, OF_DERIVED});
    }
}

static bool is_wanted(const Export *x, const Plane *plane, const char *line)
{
    const TraceOptions *o = x->options;
    return !o->wants_line || o->wants_line(o->context, plane->name->text, line);
}

/* Adds the lines of a plane: derived ones first, because they describe the others. */
static void add_plane(Export *x, const Plane *plane)
{
    const TraceViewer *d = x->viewer;
    for (size_t i = 0; i < d->derived->n_lines && goes_on(x); i++) {
        const DerivedLine *line = &d->derived->lines[i];
        if (line->plane != plane || !d->derived_lines[i].drawn || !is_wanted(x, plane, line->name))
            continue;
        open_line(x, plane, line->name, NULL, line);
        add_derived(x, line);
        close_line(x);
    }
    for (size_t i = plane->first_line; i < plane->first_line + plane->n_lines && goes_on(x); i++) {
        Line *line = &plane->host->lines[i];
        const char *name = line_label(line)->text;
        if (!d->lines[i].drawn || !is_wanted(x, plane, name)) continue;
        open_line(x, plane, name, line, NULL);
        add_line(x, line);
        close_line(x);
    }
}

static void add_host(Export *x, Host *host, int64_t first_ns, int64_t shift_ns)
{
    x->viewer = host_trace_viewer(host, x->err);
    if (!x->viewer) return;
    x->host_ns = add_saturated(shift_ns, first_ns < 0 ? 0 : host->start_unix_ns - first_ns);
    x->plane = NULL;
    for (size_t i = 0; i < host->n_planes && goes_on(x); i++) add_plane(x, &host->planes[i]);
}

/* ---- the file ---- */

static void export_free(Export *x)
{
    for (size_t i = 0; i < x->lanes.n; i++) prof_free(x->lanes.items[i].open.items);
    prof_free(x->lanes.items);
    prof_free(x->counters.items);
    hash_free(&x->counters_by_name);
    arena_free(&x->names);
    viewer_event_free(&x->event);
}

int trace_export(Run *run, const TraceOptions *options, TraceTotals *totals, ProfErr *err)
{
    Export x = {.options = options, .totals = totals, .err = err, .run = run};
    *totals = (TraceTotals){0};
    Host *only = (Host *)(uintptr_t)options->only;
    int64_t first_ns = first_unix_ns(run, only), shift_ns = 0;
    EACH_HOST(host, run, only)
        if (-earliest_ns(host) > shift_ns) shift_ns = -earliest_ns(host);
    x.parts = trace_parts_open(run, options,
                               first_ns < 0 || first_ns < shift_ns ? -1 : first_ns - shift_ns, err);
    if (!x.parts) return err->code;
    EACH_HOST(host, run, only)
        if (!err->code) add_host(&x, host, first_ns, shift_ns);
    trace_parts_close(x.parts, &totals->n_bytes, err);
    export_free(&x);
    return err->code;
}
