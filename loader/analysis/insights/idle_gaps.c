// SPDX-License-Identifier: Apache-2.0
/* idle_gaps.c: finds when devices are idle, and the threads that launch the next work; see
 * idle_parts.h. */
#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../plane.h"
#include "../../store/events.h"
#include "../device/device_work.h"
#include "../device/host_ops.h"
#include "../device/launches.h"
#include "idle_parts.h"

/* A piece of work; later, the event that ends a gap. */
typedef struct {
    int64_t start, end;
    uint64_t event;
} Piece;

/* A gap and the launch of the work after it. */
typedef struct {
    int64_t start, end;
    int64_t launch_start, launch_end;
    uint64_t correlation;
    Line *line; /* line of the launch; NULL if unknown */
    bool correlated, bare;
} Gap;

typedef struct {
    Plane *plane;
    LIST(Piece) work;
    bool *works; /* for a GPU, by event metadata: it has work with this name */
    bool unordered;
    LIST(Gap) gaps;
    const Launches *launches; /* of the host */
    IdleStretch *stretches;   /* space for one of each gap */
    size_t n_stretches;
    uint64_t queued_ps;
} Device;

static bool add_work(Device *d, int64_t start, int64_t end, uint64_t event)
{
    Piece *last = d->work.n ? &d->work.items[d->work.n - 1] : NULL;
    if (last && start >= last->start && start <= last->end) { /* it does not end a gap */
        if (end > last->end) last->end = end;
        return true;
    }
    if (last && start < last->start) d->unordered = true;
    Piece *piece = PUSH(d->work);
    if (piece) *piece = (Piece){start, end, event};
    return piece != NULL;
}

static bool visit_work(void *context, const WorkPiece *piece)
{
    Device *d = context;
    if (d->works) d->works[piece->meta - d->plane->event_metas] = true;
    return add_work(d, piece->start, piece->end, piece->event);
}

ORDER_BY_TWO(by_start_then_event, Piece, start, event)

/* Finds the gaps, which start when all earlier work has ended. If several events end one, the first
 * in the file counts. */
static void find_gaps(Device *d, ProfErr *err)
{
    int64_t busy_until = 0;
    if (d->unordered)
        sort_in_place(d->work.items, d->work.n, sizeof *d->work.items, by_start_then_event);
    for (size_t i = 0; i < d->work.n && !interrupt_poll(1, err); i++) {
        const Piece *work = &d->work.items[i];
        if (i && work->start > busy_until) {
            Gap *gap = PUSH(d->gaps);
            if (!gap) {
                prof_nomem(err);
                break;
            }
            *gap = (Gap){.start = busy_until, .end = work->start, .correlation = work->event};
        }
        if (!i || work->end > busy_until) busy_until = work->end;
    }
    prof_free(d->work.items);
    d->work.items = NULL;
}

/* ---- launches ---- */

static bool event_correlation(const Plane *plane, const EventAt *e, uint64_t *id)
{
    Stat stat;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next(&stats, &stat)) {
        if (stat_known(plane, stat.id) != STAT_CORRELATION_ID) continue;
        if (!stat_is_integer(&stat)) return false;
        *id = stat.u64;
        return true;
    }
    return false;
}

/* Replaces the event that ends each gap by its correlation id. */
static void read_correlations(Device *d, ProfErr *err)
{
    EventFinder finder = {0};
    EventAt e;
    bool any = plane_declares(d->plane, STAT_CORRELATION_ID);
    for (size_t i = 0; any && i < d->gaps.n && !interrupt_poll(1, err); i++) {
        Gap *gap = &d->gaps.items[i];
        Line *line = run_line_of_event(d->plane->host->run, gap->correlation);
        if (!line ||
            !event_find(&finder, line, gap->correlation - line->first_event, EVENT_STATS, &e, err))
            continue;
        gap->correlated = event_correlation(d->plane, &e, &gap->correlation);
    }
    event_finder_close(&finder);
}

/* Sets the launch of the work after a gap. */
static void find_launch(const Device *d, Gap *gap)
{
    const Launch *launch = gap->correlated ? launch_of(d->launches, gap->correlation) : NULL;
    if (!launch) return;
    gap->line = (Line *)launch->line, gap->bare = launch->bare;
    gap->launch_start = launch->start_ps;
    gap->launch_end =
        add_saturated(launch->start_ps, launch->duration_ps > 0 ? launch->duration_ps : 0);
}

/* ---- ops of a host without devices ---- */

static bool visit_op(void *context, const EventAt *e)
{
    return add_work(context, e->start_ps, add_saturated(e->start_ps, e->duration_ps), e->event);
}

static void read_ops(Device *d, ProfErr *err)
{
    HostOps ops;
    host_ops_open(&ops, d->plane, err);
    for (size_t i = 0; i < d->plane->n_lines && !err->code; i++)
        host_ops_walk(&ops, &d->plane->host->lines[d->plane->first_line + i], visit_op, d, err);
    host_ops_close(&ops);
}

/* ---- all devices of a host ---- */

static void device_task(void *context, size_t i, ProfErr *err)
{
    Device *d = &((Device *)context)[i];
    WorkRange range;
    if (d->plane->kind == PLANE_GPU && !(d->works = prof_alloc(d->plane->n_event_metas + 1)))
        prof_nomem(err);
    else if (plane_is_device(d->plane))
        device_work_walk(d->plane, visit_work, d, &range, err);
    else
        read_ops(d, err);
    bool works = d->work.n > 0;
    if (!err->code) find_gaps(d, err);
    if (!works) d->plane = NULL;
    if (works && d->plane->kind == PLANE_GPU && !err->code) read_correlations(d, err);
}

static bool is_of_class(const Plane *plane, enum IdleClass which)
{
    if (which == CLASS_HOSTS) return plane->kind == PLANE_HOST;
    if (which == CLASS_SPARSECORES) return plane->kind == PLANE_SPARSECORE;
    return plane->kind == PLANE_GPU || plane->kind == PLANE_TENSORCORE;
}

/* Lists the device's gaps. The part after the launch of the next work is the device's. */
static void list_task(void *context, size_t i, ProfErr *err)
{
    Device *d = &((Device *)context)[i];
    for (size_t k = 0; k < d->gaps.n && !interrupt_poll(1, err); k++) {
        Gap *gap = &d->gaps.items[k];
        find_launch(d, gap);
        int64_t until = gap->end;
        if (gap->line && gap->launch_end < until) until = gap->launch_end;
        if (until < gap->start) until = gap->start;
        if (until > gap->start)
            d->stretches[d->n_stretches++] =
                (IdleStretch){gap->line, gap->start, until, 1, gap->launch_start, gap->bare};
        d->queued_ps += (uint64_t)gap->end - (uint64_t)until;
    }
}

/* Lists the gaps of all devices, in parallel: each device has space for its own. */
static void list_gaps(Host *host, Device *devices, size_t n, IdleStretches *out, ProfErr *err)
{
    size_t n_gaps = 0;
    for (size_t i = 0; i < n; i++) n_gaps += devices[i].gaps.n;
    const Launches *launches = n_gaps ? host_launches(host, err) : NULL;
    if (!launches) return;
    if (!(out->items = prof_buffer(n_gaps * sizeof *out->items))) {
        prof_nomem(err);
        return;
    }
    out->capacity = n_gaps;
    IdleStretch *space = out->items;
    for (size_t i = 0; i < n; i++) {
        devices[i].launches = launches;
        devices[i].stretches = space;
        space += devices[i].gaps.n;
    }
    if (parallel_for(host->run->n_workers, n, list_task, devices, err)) return;
    for (size_t i = 0; i < n; i++) {
        size_t n_stretches = devices[i].n_stretches;
        memmove(out->items + out->n, devices[i].stretches, n_stretches * sizeof *out->items);
        out->n += n_stretches;
    }
}

static int by_pointer(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const Text *const *)a, y = (uintptr_t) * (const Text *const *)b;
    return ORDER(x, y);
}

/* Adds the names of a device's work. Equal names of a host are one text. */
static void name_work(const Device *d, IdleNames *out, ProfErr *err)
{
    for (size_t i = 0; d->plane && d->works && i < d->plane->n_event_metas && !err->code; i++) {
        const Text **name = d->works[i] ? PUSH(*out) : NULL;
        if (name) *name = d->plane->event_metas[i].name;
        if (d->works[i] && !name) prof_nomem(err);
    }
}

int idle_gaps_of_host(Host *host, enum IdleClass which, IdleStretches *out, IdleNames *kernels,
                      IdleTree *tree, ProfErr *err)
{
    size_t n = 0;
    Device *devices = prof_alloc((host->n_planes + 1) * sizeof *devices);
    if (!devices) return prof_nomem(err);
    for (size_t i = 0; i < host->n_planes; i++)
        if (is_of_class(&host->planes[i], which)) devices[n++].plane = &host->planes[i];
    if (n) parallel_for(host->run->n_workers, n, device_task, devices, err);
    if (!err->code) list_gaps(host, devices, n, out, err);
    for (size_t i = 0; i < n; i++) {
        tree->n_devices += devices[i].plane != NULL;
        tree->queued_ps += devices[i].queued_ps;
        name_work(&devices[i], kernels, err);
        prof_free(devices[i].work.items);
        prof_free(devices[i].gaps.items);
        prof_free(devices[i].works);
    }
    sort_array(kernels->items, kernels->n, sizeof *kernels->items, by_pointer);
    prof_free(devices);
    return err->code;
}
