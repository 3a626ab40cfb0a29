// SPDX-License-Identifier: Apache-2.0
/* gaps.c: finds when devices do nothing; see gaps.h.
 *
 * Each line is read separately into pieces: events without a gap between them. The pieces of all
 * lines of a plane are then sorted and joined. What remains between them are the plane's gaps. */
#include "gaps.h"

#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../store/chunks.h"
#include "host_ops.h"

enum WorkClass { MAIN_DEVICES, SPARSECORES, THREADS, NO_WORK };

typedef struct {
    enum WorkClass wanted;
    LIST(PlaneGaps) planes;
} GapsBuilder;

/* ---- which lines ---- */

static enum WorkClass class_of(const Line *line)
{
    if (line->derived || !line->n_events) return NO_WORK;
    switch (line->plane->kind) {
    case PLANE_GPU: return line->kind == LINE_STREAM ? MAIN_DEVICES : NO_WORK;
    case PLANE_TENSORCORE: return line->kind == LINE_OPS ? MAIN_DEVICES : NO_WORK;
    case PLANE_SPARSECORE: return line->kind == LINE_OPS ? SPARSECORES : NO_WORK;
    case PLANE_HOST: return THREADS;
    default: return NO_WORK;
    }
}

static bool has_line_of(const Plane *plane, enum WorkClass class)
{
    for (size_t i = 0; i < plane->n_lines; i++)
        if (class_of(&plane->host->lines[plane->first_line + i]) == class) return true;
    return false;
}

static void find_planes(GapsBuilder *b, Run *run, Host *only, ProfErr *err)
{
    EACH_HOST(host, run, only) {
        for (size_t p = 0; p < host->n_planes && !err->code; p++) {
            if (!has_line_of(&host->planes[p], b->wanted)) continue;
            PlaneGaps *place = PUSH(b->planes);
            if (place)
                *place = (PlaneGaps){.plane = &host->planes[p]};
            else
                prof_nomem(err);
        }
    }
}

/* ---- the pieces of a line ---- */

/* An event, with times relative to its line. */
typedef struct {
    int64_t start, end;
    uint64_t event;
} Opened;

typedef struct {
    const Line *line;
    PlaneGaps *out; /* its pieces from `first` on belong to this line */
    size_t first;
    int64_t end; /* latest end of the events before */
    bool any;
    Opened *opened; /* if the line is not stored by start: all events, to be sorted */
    size_t n_opened;
} LineWalk;

/* Adds an event. Events come by start, the longest first: one that is nested in another ends no
 * later than those before. */
static bool add_event(LineWalk *w, const Opened *e)
{
    if (w->any && e->end <= w->end) return true;
    w->any = true, w->end = e->end;
    if (e->end <= e->start) return true;
    int64_t start = add_saturated(w->line->start_ps, e->start),
            end = add_saturated(w->line->start_ps, e->end);
    uint64_t event = w->line->first_event + e->event;
    size_t n = w->out->pieces.n;
    BusyPiece *last = n > w->first ? &w->out->pieces.items[n - 1] : NULL;
    if (last && start <= last->end_ps) {
        if (end > last->end_ps) last->end_ps = end, last->last = event;
        return true;
    }
    BusyPiece *piece = PUSH(w->out->pieces);
    if (piece) *piece = (BusyPiece){start, end, event, event};
    return piece != NULL;
}

static int by_opening(const void *a, const void *b)
{
    const Opened *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, end, event);
}

static bool take_event(LineWalk *w, int64_t start, int64_t duration, uint64_t event)
{
    Opened e = {start, add_saturated(start, duration), event};
    if (!w->opened) return add_event(w, &e);
    w->opened[w->n_opened++] = e;
    return true;
}

/* Aggregated events have no time of their own and are not work. */
static void read_events(LineWalk *w, ProfErr *err)
{
    const Line *line = w->line;
    ChunkValues *values = prof_buffer(sizeof *values);
    Window window = {.file = &line->plane->host->file};
    uint64_t event = 0;
    if (!values) prof_nomem(err);
    for (size_t c = 0; c < line->n_chunks && !err->code; c++) {
        if (chunk_read(line, &line->chunks[c], CHUNK_TIMES, values, &window, err)) break;
        for (uint32_t i = 0; i < line->chunks[c].n_events && !err->code; i++, event++) {
            if (values->columns[COL_AGGREGATED][i]) continue;
            if (!take_event(w, chunk_offset(values, i), chunk_duration(values, i), event))
                prof_nomem(err);
        }
    }
    window_free(&window);
    prof_free(values);
}

static bool visit_op(void *context, const EventAt *e)
{
    LineWalk *w = context;
    return take_event(w, e->offset_ps, e->duration_ps, e->event - w->line->first_event);
}

/* Adds the pieces of a line. ops: of a thread; NULL for a device's line. */
static void read_line(PlaneGaps *out, Line *line, const HostOps *ops, ProfErr *err)
{
    LineWalk walk = {.line = line, .out = out, .first = out->pieces.n};
    if (!line->ordered && !(walk.opened = prof_buffer((size_t)line->n_events * sizeof(Opened)))) {
        prof_nomem(err);
        return;
    }
    if (ops)
        host_ops_walk(ops, line, visit_op, &walk, err);
    else
        read_events(&walk, err);
    if (walk.opened && !err->code) {
        sort_in_place(walk.opened, walk.n_opened, sizeof(Opened), by_opening);
        interrupt_poll(0, err);
        for (size_t e = 0; e < walk.n_opened && !err->code; e++)
            if (!add_event(&walk, &walk.opened[e])) prof_nomem(err);
    }
    prof_free(walk.opened);
}

/* ---- the gaps of a plane ---- */

static bool find_event(EventFinder *finder, const Run *run, uint64_t event, EventAt *at,
                       ProfErr *err)
{
    Line *line = run_line_of_event(run, event);
    return line && event_find(finder, line, event - line->first_event, 0, at, err);
}

/* Returns which of two events counts, if both end a gap or both end last: the one that starts
 * first, then the shortest, then the first in the file. */
static uint64_t counted(EventFinder *finder, const Run *run, uint64_t x, uint64_t y, ProfErr *err)
{
    EventAt a, c;
    if (!find_event(finder, run, x, &a, err) || !find_event(finder, run, y, &c, err)) return x;
    if (a.start_ps != c.start_ps) return a.start_ps < c.start_ps ? x : y;
    if (a.duration_ps != c.duration_ps) return a.duration_ps < c.duration_ps ? x : y;
    return x < y ? x : y;
}

ORDER_BY_TWO(by_start, BusyPiece, start_ps, first)

/* Joins a piece with the one before, if there is no gap between them. */
static void join(BusyPiece *before, const BusyPiece *next, EventFinder *finder, const Run *run,
                 ProfErr *err)
{
    if (next->start_ps == before->start_ps)
        before->first = counted(finder, run, before->first, next->first, err);
    if (next->end_ps == before->end_ps)
        before->last = counted(finder, run, before->last, next->last, err);
    else if (next->end_ps > before->end_ps)
        before->end_ps = next->end_ps, before->last = next->last;
}

/* Joins the pieces of all lines. */
static void join_lines(PlaneGaps *plane, ProfErr *err)
{
    EventFinder *finder = prof_alloc(sizeof *finder);
    BusyPiece *pieces = plane->pieces.items;
    size_t n = 0;
    if (!finder) prof_nomem(err);
    sort_in_place(pieces, plane->pieces.n, sizeof *pieces, by_start);
    for (size_t i = 0; i < plane->pieces.n && !interrupt_poll(1, err); i++) {
        if (n && pieces[i].start_ps <= pieces[n - 1].end_ps)
            join(&pieces[n - 1], &pieces[i], finder, plane->plane->host->run, err);
        else
            pieces[n++] = pieces[i];
    }
    plane->pieces.n = n;
    if (finder) event_finder_close(finder);
    prof_free(finder);
}

static void read_plane(void *context, size_t i, ProfErr *err)
{
    GapsBuilder *b = context;
    PlaneGaps *out = &b->planes.items[i];
    bool is_host = b->wanted == THREADS;
    HostOps ops = {0};
    size_t n_lines = 0;
    if (is_host) host_ops_open(&ops, out->plane, err);
    for (size_t l = 0; l < out->plane->n_lines && !err->code; l++) {
        Line *line = &out->plane->host->lines[out->plane->first_line + l];
        if (class_of(line) != b->wanted) continue;
        read_line(out, line, is_host ? &ops : NULL, err);
        n_lines++;
    }
    if (is_host) host_ops_close(&ops);
    if (n_lines > 1 && !err->code) join_lines(out, err);
}

static void free_planes(PlaneGaps *planes, size_t n)
{
    for (size_t i = 0; i < n; i++) prof_free(planes[i].pieces.items);
    prof_free(planes);
}

static void gaps_release(void *result)
{
    Gaps *gaps = result;
    free_planes(gaps->planes, gaps->n_planes);
    prof_free(gaps);
}

/* Drops planes without work. */
static void drop_idle(GapsBuilder *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->planes.n; i++)
        if (b->planes.items[i].pieces.n) b->planes.items[n++] = b->planes.items[i];
    b->planes.n = n;
}

static void *gaps_make(Run *run, Host *only, ProfErr *err)
{
    GapsBuilder b = {0};
    Gaps *result = prof_alloc(sizeof *result);
    if (!result) {
        prof_nomem(err);
        return NULL;
    }
    for (int class = MAIN_DEVICES; class < NO_WORK && !b.planes.n && !err->code; class ++) {
        b.wanted = (enum WorkClass) class;
        find_planes(&b, run, only, err);
        if (!err->code) parallel_for(run->n_workers, b.planes.n, read_plane, &b, err);
        if (!err->code) drop_idle(&b);
    }
    *result = (Gaps){b.planes.items, b.planes.n};
    if (err->code) gaps_release(result), result = NULL;
    return result;
}

const Gaps *run_gaps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {gaps_make, gaps_release, NEEDS_ALL_HOSTS};
    return run_analysis(run, only, &analysis, err);
}
