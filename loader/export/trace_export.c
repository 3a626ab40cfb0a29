// SPDX-License-Identifier: Apache-2.0
/* trace_export.c: writes what the trace viewer shows, line by line; see trace_export.h.
 *
 * The events of a line are read in stored order if they are stored by start, longer ones first.
 * Otherwise, or if regions are added, they are sorted, which takes 32 bytes of memory for each
 * event of one line. */
#include "trace_export.h"

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
    TraceTrack track;
    Open open;
} Lane;

typedef struct {
    const char *name; /* as in the file; compared by address */
    TraceTrack track;
} Counter;

typedef struct {
    TraceWriter writer;
    const TraceOptions *options;
    TraceTotals *totals;
    ProfErr *err;
    Run *run;
    const TraceViewer *viewer; /* of the current host */
    int64_t host_ns;           /* start of the host's session in the trace */
    uint64_t flow_mask;        /* makes the flows of different hosts different */
    uint32_t last_id;
    TraceTrack process;      /* of the current plane */
    const Plane *plane;      /* the plane of `process`; NULL if none */
    const Plane *line_plane; /* of the current line, and its name */
    const char *line_name;
    bool line_used; /* the current line has events */
    uint32_t line_rank;
    LIST(Lane) lanes; /* of the current line; the first n_lanes are in use */
    size_t n_lanes;
    LIST(Counter) counters; /* of the current line */
    HashTable counters_by_name;
    ViewerEvent event;
} Export;

/* An event of a line that is sorted. */
enum SpanKind { SPAN_EVENT, SPAN_REGION, SPAN_STEP };
typedef struct {
    int64_t start_ps, duration_ps;
    uint64_t index;
    enum SpanKind kind;
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

static TraceTrack new_track(Export *x, enum TrackKind kind, const char *name, size_t n_name)
{
    uint32_t id = ++x->last_id;
    return (TraceTrack){.id = id,
                        .process = kind == TRACK_PROCESS ? id : x->process.id,
                        .line = id,
                        .kind = kind,
                        .name = name,
                        .n_name = n_name};
}

/* Writes the plane's row, before its first line. */
static void open_plane(Export *x, const Plane *plane)
{
    char name[400];
    const Host *host = plane->host;
    if (x->plane == plane) return;
    x->plane = plane;
    if (x->run->n_hosts > 1)
        snprintf(name, sizeof name, "%.150s %.200s", host->name, plane->name->text);
    else
        snprintf(name, sizeof name, "%.350s", plane->name->text);
    x->process = new_track(x, TRACK_PROCESS, name, strlen(name));
    x->process.rank = plane->plane_id;
    x->writer.format->track(&x->writer, &x->process);
    x->process.name = NULL;
    x->line_rank = 0;
}

/* Writes a row when its line has its first event. */
static void open_line(Export *x, const Plane *plane, const char *name)
{
    x->line_plane = plane, x->line_name = name;
    x->n_lanes = x->counters.n = 0;
    hash_free(&x->counters_by_name);
    x->line_used = false;
}

static void use_line(Export *x)
{
    if (x->line_used) return;
    x->line_used = true;
    open_plane(x, x->line_plane);
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
    Lane *lane = &x->lanes.items[x->n_lanes++];
    lane->track =
        new_track(x, x->n_lanes == 1 ? TRACK_LINE : TRACK_LANE, x->line_name, strlen(x->line_name));
    lane->track.line = x->lanes.items[0].track.id;
    lane->track.rank = x->line_rank;
    lane->open.n = 0;
    x->writer.format->track(&x->writer, &lane->track);
    return lane;
}

static void end_last(Export *x, Lane *lane)
{
    TraceTime at = lane->open.items[--lane->open.n];
    x->writer.format->end(&x->writer, &lane->track, at);
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

static uint64_t flow_of(const Export *x, bool has, int64_t id)
{
    return has ? (uint64_t)id ^ x->flow_mask : 0;
}

static void write_slice(Export *x, int64_t start_ps, int64_t duration_ps)
{
    TraceSlice slice = {.event = &x->event, .duration_ps = duration_ps > 0 ? duration_ps : 0};
    slice.start = time_of(x, start_ps);
    slice.end = time_of(x, add_saturated(start_ps, slice.duration_ps));
    slice.flow_in = flow_of(x, x->event.has_flow_in, x->event.flow_in);
    slice.flow_out = flow_of(x, x->event.has_flow_out, x->event.flow_out);
    Lane *lane = NULL;
    for (size_t i = 0; i < x->n_lanes && !lane; i++)
        if (fits(x, &x->lanes.items[i], slice.start, slice.end)) lane = &x->lanes.items[i];
    if (!lane && x->n_lanes < MAX_LANES && !(lane = add_lane(x))) return;
    if (!lane) { /* it ends with the slice around it */
        lane = &x->lanes.items[MAX_LANES - 1];
        slice.end = lane->open.items[lane->open.n - 1];
        slice.duration_ps = (slice.end.ns - slice.start.ns) * 1000 + slice.end.ps - slice.start.ps;
        x->totals->n_cut++;
    }
    slice.track = &lane->track;
    x->writer.format->slice(&x->writer, &slice);
    x->totals->n_events++;
    TraceTime *end = PUSH(lane->open);
    if (end)
        *end = slice.end;
    else
        prof_nomem(x->err);
}

static const TraceTrack *counter_track(Export *x)
{
    const ViewerEvent *e = &x->event;
    uint64_t hash = hash64((uint64_t)(uintptr_t)e->name);
    HASH_EACH(i, &x->counters_by_name, hash)
        if (x->counters.items[i].name == e->name) return &x->counters.items[i].track;
    use_line(x);
    Counter *counter = PUSH_KEYED(x->counters, &x->counters_by_name, hash);
    if (!counter) {
        prof_nomem(x->err);
        return NULL;
    }
    TraceTrack track = new_track(x, TRACK_COUNTER, e->name, e->n_name);
    track.rank = x->line_rank;
    x->writer.format->track(&x->writer, &track);
    *counter = (Counter){e->name, track};
    return &counter->track;
}

static bool is_number(const Stat *stat)
{
    return stat_is_integer(stat) || (stat->type == TYPE_DOUBLE && isfinite(stat->number));
}

static void write_event(Export *x, const Line *line, int64_t start_ps, int64_t duration_ps)
{
    bool counts = line && line->named == NAME_COUNTERS && is_number(&x->event.first_stat);
    const TraceTrack *track = counts ? counter_track(x) : NULL;
    if (!counts) {
        write_slice(x, start_ps, duration_ps);
    } else if (track) {
        x->writer.format->counter(&x->writer, track, time_of(x, start_ps), &x->event.first_stat);
        x->totals->n_events++;
    }
}

static bool in_time(const Export *x, int64_t start_ps, int64_t duration_ps)
{
    return start_ps <= x->options->to_ps &&
           add_saturated(start_ps, duration_ps) >= x->options->from_ps;
}

static bool goes_on(Export *x)
{
    if (x->writer.no_memory) prof_nomem(x->err);
    if (x->writer.out.failed) prof_fail(x->err, PROF_IO, 0, "the trace cannot be written");
    return !interrupt_poll(1, x->err);
}

/* ---- lines ---- */

/* Writes a line whose events are stored by start, longer ones first. */
static void write_ordered(Export *x, Line *line)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, EVENT_STATS, x->err);
    while (goes_on(x) && event_reader_next(&reader, &e)) {
        if (!in_time(x, e.start_ps, e.duration_ps) || !viewer_shows(x->viewer, line, e.meta))
            continue;
        if (!viewer_event_at(x->viewer, line, &e, &x->event, x->err)) break;
        write_event(x, line, e.start_ps, e.duration_ps);
    }
    event_reader_close(&reader);
}

typedef LIST(LineSpan) Spans;

static void add_span(Export *x, Spans *spans, int64_t start, int64_t duration, uint64_t index,
                     enum SpanKind kind)
{
    LineSpan *span = in_time(x, start, duration) ? PUSH(*spans) : NULL;
    if (span)
        *span = (LineSpan){start, duration, index, kind};
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
            add_span(x, spans, e.start_ps, e.duration_ps, e.event - line->first_event, SPAN_EVENT);
    event_reader_close(&reader);
}

static int by_start(const void *a, const void *b)
{
    const LineSpan *x = a, *y = b;
    if (x->start_ps != y->start_ps) return x->start_ps < y->start_ps ? -1 : 1;
    if (x->duration_ps != y->duration_ps) return x->duration_ps > y->duration_ps ? -1 : 1;
    if (x->kind != y->kind) return x->kind > y->kind ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void write_spans(Export *x, Line *line, const LineGroups *groups, const Spans *spans)
{
    const TraceViewer *d = x->viewer;
    for (size_t i = 0; i < spans->n && goes_on(x); i++) {
        const LineSpan *s = &spans->items[i];
        bool ok = s->kind == SPAN_REGION
                      ? viewer_region(d, line, &groups->regions[s->index], &x->event, x->err)
                  : s->kind == SPAN_STEP
                      ? viewer_step(d, line, &groups->steps[s->index], &x->event, x->err)
                      : viewer_event(d, line, s->index, &x->event, x->err);
        if (ok) write_event(x, line, s->start_ps, s->duration_ps);
    }
}

static void write_line(Export *x, Line *line)
{
    const LineGroups *groups = line_groups(x->viewer->grouping, line);
    Spans spans = {0};
    if (!groups->merged && line->ordered && !groups->n_regions) {
        write_ordered(x, line);
        return;
    }
    if (!groups->merged) list_events(x, line, &spans);
    for (size_t i = 0; groups->merged && i < groups->n_steps; i++)
        add_span(x, &spans, groups->steps[i].start_ps, groups->steps[i].duration_ps, i, SPAN_STEP);
    for (size_t i = 0; i < groups->n_regions; i++) {
        const Region *r = &groups->regions[i];
        add_span(x, &spans, r->start_ps, (int64_t)((uint64_t)r->end_ps - (uint64_t)r->start_ps), i,
                 SPAN_REGION);
    }
    sort_array(spans.items, spans.n, sizeof *spans.items, by_start);
    write_spans(x, line, groups, &spans);
    prof_free(spans.items);
}

static void write_derived(Export *x, const DerivedLine *line)
{
    for (size_t i = 0; i < line->events.n && goes_on(x); i++) {
        DerivedEvent e = derived_event(line, i);
        if (!in_time(x, e.start_ps, e.duration_ps)) continue;
        if (viewer_derived(x->viewer, line, i, &x->event, x->err))
            write_event(x, NULL, e.start_ps, e.duration_ps);
    }
}

static bool is_wanted(const Export *x, const Plane *plane, const char *line)
{
    const TraceOptions *o = x->options;
    return !o->wants_line || o->wants_line(o->context, plane->name->text, line);
}

/* Writes the lines of a plane: derived ones first, because they describe the others. */
static void write_plane(Export *x, const Plane *plane)
{
    const TraceViewer *d = x->viewer;
    for (size_t i = 0; i < d->derived->n_lines && goes_on(x); i++) {
        const DerivedLine *line = &d->derived->lines[i];
        if (line->plane != plane || !d->derived_lines[i].drawn || !is_wanted(x, plane, line->name))
            continue;
        open_line(x, plane, line->name);
        write_derived(x, line);
        close_line(x);
    }
    for (size_t i = plane->first_line; i < plane->first_line + plane->n_lines && goes_on(x); i++) {
        Line *line = &plane->host->lines[i];
        const char *name = line_label(line)->text;
        if (!d->lines[i].drawn || !is_wanted(x, plane, name)) continue;
        open_line(x, plane, name);
        write_line(x, line);
        close_line(x);
    }
}

static void write_host(Export *x, Host *host, int64_t first_ns, int64_t shift_ns)
{
    size_t number = (size_t)(host - x->run->hosts);
    x->viewer = host_trace_viewer(host, x->err);
    if (!x->viewer) return;
    x->host_ns = add_saturated(shift_ns, first_ns < 0 ? 0 : host->start_unix_ns - first_ns);
    x->flow_mask = number ? mix64(number) : 0;
    x->plane = NULL;
    for (size_t i = 0; i < host->n_planes && goes_on(x); i++) write_plane(x, &host->planes[i]);
}

/* ---- the file ---- */

static void export_free(Export *x)
{
    x->writer.format->close(&x->writer);
    trace_out_flush(&x->writer.out);
    x->totals->n_bytes = x->writer.out.n_written;
    for (size_t i = 0; i < x->lanes.n; i++) prof_free(x->lanes.items[i].open.items);
    prof_free(x->lanes.items);
    prof_free(x->counters.items);
    hash_free(&x->counters_by_name);
    prof_free(x->writer.out.bytes);
    viewer_event_free(&x->event);
}

int trace_export(Run *run, const TraceOptions *options, TraceTotals *totals, ProfErr *err)
{
    Export x = {.options = options, .totals = totals, .err = err, .run = run};
    *totals = (TraceTotals){0};
    Host *only = (Host *)(uintptr_t)options->only;
    x.writer.format = options->format;
    x.writer.out = (TraceOut){.write = options->write, .context = options->context};
    if (!(x.writer.out.bytes = prof_buffer(TRACE_OUT_BYTES))) return prof_nomem(err);
    int64_t first_ns = first_unix_ns(run, only), shift_ns = 0;
    EACH_HOST(host, run, only)
        if (-earliest_ns(host) > shift_ns) shift_ns = -earliest_ns(host);
    if (!options->format->open(&x.writer,
                               first_ns < 0 || first_ns < shift_ns ? -1 : first_ns - shift_ns))
        prof_nomem(err);
    EACH_HOST(host, run, only)
        if (!err->code) write_host(&x, host, first_ns, shift_ns);
    bool complete = goes_on(&x);
    export_free(&x);
    if (complete && x.writer.out.failed) prof_fail(err, PROF_IO, 0, "the trace cannot be written");
    return err->code;
}
