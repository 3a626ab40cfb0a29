// SPDX-License-Identifier: Apache-2.0
/* device_steps.c: a device's communication and transfers in each step; see device_steps.h.
 *
 * A device's activity is cut into pieces that each belong to one step: on a GPU, work belongs to
 * the step that launched it; on a TensorCore, to the step whose interval includes it. Pieces of one
 * kind do not overlap, so their lengths add up to those of device_covers.h. */
#include "device_steps.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/parallel.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "device_covers.h"
#include "../grouping/grouping.h"

typedef struct {
    int64_t start, end;
    size_t row; /* index in the device's rows */
} Piece;
typedef LIST(Piece) PieceList;

/* A device. Its last row is for the time outside of all steps. */
typedef struct {
    DeviceStep *rows;
    size_t n_steps;
    const Grouping *grouping;
    const FoundOps *pairs;
    DeviceCovers covers;
    PieceList pieces[N_WORK_KINDS]; /* unused for computing */
} StepDevice;

/* ---- pieces of steps ---- */

static int first_started(const void *a, const void *b)
{
    const Piece *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, end, row);
}

/* Makes pieces disjoint: a time that several cover belongs to the one that started first. */
static void make_disjoint(PieceList *pieces)
{
    size_t n = 0;
    int64_t reached = INT64_MIN;
    sort_array(pieces->items, pieces->n, sizeof *pieces->items, first_started);
    for (size_t i = 0; i < pieces->n; i++) {
        Piece piece = pieces->items[i];
        if (piece.start < reached) piece.start = reached;
        if (piece.start >= piece.end) continue;
        reached = piece.end;
        pieces->items[n++] = piece;
    }
    pieces->n = n;
}

static bool add_piece(PieceList *pieces, int64_t start, int64_t end, size_t row)
{
    Piece *piece = PUSH(*pieces);
    if (piece) *piece = (Piece){start, end, row};
    return piece != NULL;
}

/* Cuts a cover at the borders of steps, whose intervals are disjoint. */
static bool cut_by_steps(const Cover *cover, const PieceList *steps, size_t outside,
                         PieceList *pieces)
{
    size_t k = 0;
    for (size_t i = 0; i < cover->n; i++)
        for (int64_t at = cover->items[i].start, end; at < cover->items[i].end; at = end) {
            while (k < steps->n && steps->items[k].end <= at) k++;
            const Piece *step = k < steps->n ? &steps->items[k] : NULL;
            bool inside = step && step->start <= at;
            end = cover->items[i].end;
            if (step && (inside ? step->end : step->start) < end)
                end = inside ? step->end : step->start;
            if (!add_piece(pieces, at, end, inside ? step->row : outside)) return false;
        }
    return true;
}

static bool cut_by_time(StepDevice *d)
{
    PieceList steps = {0};
    bool ok = true;
    for (size_t i = 0; i < d->n_steps && ok; i++) {
        int64_t start = (int64_t)d->rows[i].core->begin_ps;
        ok = add_piece(&steps, start, add_saturated(start, (int64_t)d->rows[i].core->duration_ps),
                       i);
    }
    make_disjoint(&steps);
    for (int kind = 0; kind < N_WORK_KINDS && ok; kind++)
        if (kind != WORK_COMPUTE)
            ok = cut_by_steps(&d->covers.covers[kind], &steps, d->n_steps, &d->pieces[kind]);
    prof_free(steps.items);
    return ok;
}

/* Returns the row of a group on the device's host. */
static size_t row_of(const StepDevice *d, int64_t group)
{
    size_t low = LOWER_BOUND(i, 0, d->n_steps, d->rows[i].group < group);
    return low < d->n_steps && d->rows[low].group == group ? low : d->n_steps;
}

static bool add_launched(void *context, const WorkPiece *work)
{
    StepDevice *d = context;
    enum WorkKind kind = d->covers.kinds[work->meta - d->rows->plane->event_metas];
    if (kind == WORK_COMPUTE) return true;
    int64_t group = event_step_group(d->grouping, work->event);
    return add_piece(&d->pieces[kind], work->start, work->end,
                     group < 0 ? d->n_steps : row_of(d, group));
}

/* ---- devices ---- */

static void measure(const PieceList *pieces, const Cover *compute, DeviceStep *rows,
                    bool communicating)
{
    size_t k = 0;
    for (size_t i = 0; i < pieces->n; i++) {
        Piece piece = pieces->items[i];
        ExposedTime *time =
            communicating ? &rows[piece.row].communicating : &rows[piece.row].transferring;
        uint64_t length = (uint64_t)piece.end - (uint64_t)piece.start, hidden = 0;
        while (k < compute->n && compute->items[k].end <= piece.start) k++;
        for (size_t j = k; j < compute->n && compute->items[j].start < piece.end; j++) {
            Stretch s = compute->items[j];
            hidden += (uint64_t)(s.end < piece.end ? s.end : piece.end) -
                      (uint64_t)(s.start > piece.start ? s.start : piece.start);
        }
        time->ps += length;
        time->exposed_ps += length - hidden;
    }
}

static void device_task(void *context, size_t i, ProfErr *err)
{
    StepDevice *d = &((StepDevice *)context)[i];
    WorkRange range;
    bool launched =
        d->rows->plane->kind == PLANE_GPU && !(d->n_steps && d->rows->step->outside_xprof);
    if (device_covers_of_work(&d->covers, d->rows->plane, err) &&
        device_covers_add_async(&d->covers, d->pairs, err)) {
        if (launched ? !device_work_walk(d->rows->plane, add_launched, d, &range, err)
                     : !cut_by_time(d))
            prof_nomem(err);
        for (int kind = 0; kind < N_WORK_KINDS; kind++) make_disjoint(&d->pieces[kind]);
        measure(&d->pieces[WORK_COLLECTIVE], &d->covers.covers[WORK_COMPUTE], d->rows, true);
        measure(&d->pieces[WORK_TRANSFER], &d->covers.covers[WORK_COMPUTE], d->rows, false);
    }
    for (int kind = 0; kind < N_WORK_KINDS; kind++) prof_free(d->pieces[kind].items);
    device_covers_free(&d->covers);
}

static bool has_steps(const Plane *plane)
{
    return plane->kind == PLANE_GPU || plane->kind == PLANE_TENSORCORE;
}

/* Measures the devices of a host, whose rows are consecutive from *row on. */
static void measure_host(DeviceSteps *all, Host *host, size_t *row, ProfErr *err)
{
    size_t n = 0;
    StepDevice *devices = prof_alloc(host->n_planes * sizeof *devices);
    if (!devices) prof_nomem(err);
    for (size_t i = 0; devices && i < host->n_planes; i++) {
        if (!has_steps(&host->planes[i])) continue;
        StepDevice *d = &devices[n++];
        for (d->rows = &all->rows[*row]; all->rows[*row].step; ++*row) d->n_steps++;
        ++*row;
    }
    if (n && !err->code && !host_load_only(host, err)) {
        const Grouping *grouping = host_grouping(host, err);
        const FoundOps *pairs = grouping ? host_async_pairs(host, err) : NULL;
        for (size_t i = 0; i < n && pairs; i++)
            devices[i].grouping = grouping,
            devices[i].pairs = &pairs[devices[i].rows->plane - host->planes];
        if (pairs) parallel_for(host->run->n_workers, n, device_task, devices, err);
    }
    prof_free(devices);
}

/* ---- rows ---- */

/* Limits the rows: a small file may have thousands of GPUs and thousands of steps, and each pair of
 * them is a row. */
static bool too_many(const DeviceSteps *all, const Run *run)
{
    enum { FREE_ROWS = 500000, BYTES_A_ROW = 64 };
    return all->n_rows > FREE_ROWS + run->size_bytes / BYTES_A_ROW;
}

static bool add_row(DeviceSteps *all, const DeviceStep *row)
{
    if (too_many(all, row->plane->host->run) || !GROW(all->rows, all->n_rows, all->capacity))
        return false;
    all->rows[all->n_rows++] = *row;
    return true;
}

static int64_t group_of(const StepDb *db, const Step *step, const Host *host)
{
    for (size_t h = 0; h < db->n_hosts; h++)
        if (db->hosts[h]->host == host) return step->of_hosts[h]->group;
    return -1;
}

/* Adds the rows of a step's core, which is a TensorCore or all GPUs of a host. */
static bool add_core(DeviceSteps *all, const StepDb *db, size_t place, const StepCore *core)
{
    const Step *step = &db->steps[place];
    DeviceStep row = {
        .plane = core->plane, .step = step, .core = core, .place = place, .group = -1};
    if (core->kind == STEP_CORE_TENSOR) return add_row(all, &row);
    if (core->kind == STEP_CORE_SPARSE) return true;
    row.group = group_of(db, step, core->host);
    for (size_t i = 0; i < core->host->n_planes; i++) {
        row.plane = &core->host->planes[i];
        if (row.plane->kind == PLANE_GPU && !add_row(all, &row)) return false;
    }
    return true;
}

static bool add_outside(DeviceSteps *all, const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (has_steps(&host->planes[i]) &&
            !add_row(all, &(DeviceStep){.plane = &host->planes[i], .place = SIZE_MAX, .group = -1}))
            return false;
    return true;
}

static int by_plane(const void *a, const void *b)
{
    const DeviceStep *x = a, *y = b;
    if (x->plane->plane_id != y->plane->plane_id)
        return ORDER(x->plane->plane_id, y->plane->plane_id);
    return ORDER(x->place, y->place);
}

/* Drops devices that never communicate or transfer, and the rows outside of steps that are empty.
 */
static void drop_empty(DeviceSteps *all)
{
    size_t n = 0;
    for (size_t i = 0, end; i < all->n_rows; i = end) {
        uint64_t sum = 0;
        for (end = i; end < all->n_rows && all->rows[end].plane == all->rows[i].plane; end++)
            sum += all->rows[end].communicating.ps + all->rows[end].transferring.ps;
        for (size_t k = i; k < end && sum; k++)
            if (all->rows[k].step || all->rows[k].communicating.ps || all->rows[k].transferring.ps)
                all->rows[n++] = all->rows[k];
    }
    all->n_rows = n;
}

static void device_steps_release(void *result)
{
    DeviceSteps *all = result;
    prof_free(all->rows);
    prof_free(all);
}

static void find_rows(DeviceSteps *all, Run *run, Host *only, const StepDb *db, ProfErr *err)
{
    bool ok = true;
    for (size_t i = 0; i < db->n_steps; i++)
        for (size_t k = 0; k < db->steps[i].n_cores && ok; k++)
            ok = add_core(all, db, i, &db->steps[i].cores[k]);
    for (size_t h = 0; h < run->n_hosts && ok; h++)
        if (!only || only == &run->hosts[h]) ok = add_outside(all, &run->hosts[h]);
    if (!ok && too_many(all, run))
        prof_fail(err, PROF_LIMIT, 0,
                  "%s: more than %zu pairs of a device and a step; use device_time, which has a "
                  "row for each device",
                  run->path, all->n_rows - 1);
    if (!ok) prof_nomem(err);
    sort_array(all->rows, all->n_rows, sizeof *all->rows, by_plane);
    interrupt_poll(all->n_rows, err);
}

static void *device_steps_make(Run *run, Host *only, ProfErr *err)
{
    const StepDb *db = run_shown_steps(run, only, err);
    DeviceSteps *all = db ? prof_alloc(sizeof *all) : NULL;
    size_t row = 0;
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    if (db->n_steps) find_rows(all, run, only, db, err);
    for (size_t h = 0; h < run->n_hosts && db->n_steps && !err->code; h++)
        if (!only || only == &run->hosts[h]) measure_host(all, &run->hosts[h], &row, err);
    drop_empty(all);
    if (err->code) device_steps_release(all), all = NULL;
    return all;
}

const DeviceSteps *run_device_steps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {device_steps_make, device_steps_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
