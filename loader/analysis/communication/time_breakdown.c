// SPDX-License-Identifier: Apache-2.0
/* time_breakdown.c: divides a device's time by what it does simultaneously; see time_breakdown.h.
 *
 * Each activity of a device is a cover. One pass over the starts and ends of all covers and steps
 * adds up the time between consecutive ones. */
#include "time_breakdown.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../device/cover.h"
#include "../device/device_work.h"
#include "async_pairs.h"
#include "device_time.h"

const char *const activity_names[N_ACTIVITIES] = {
    "none",
    "computing",
    "communicating",
    "computing + communicating",
    "transferring",
    "computing + transferring",
    "communicating + transferring",
    "computing + communicating + transferring",
};

/* Indexes of covers. Those of activities come first, in the order of their bits. */
enum { WAITING = 3, BUSY, N_COVERS };
static const int cover_of_kind[N_WORK_KINDS] = {
    [WORK_COMPUTE] = 0, [WORK_COLLECTIVE] = 1, [WORK_TRANSFER] = 2};

/* The time of a step on one core, or on all GPUs of a host. */
typedef struct {
    int64_t core, start, end; /* core: a core_key() */
    size_t place;
    const Step *step;
} StepTime;

typedef struct {
    TimeBreakdown *result;
    bool by_line;
    LIST(StepTime) steps; /* by core; those of a core are sorted and disjoint */
} Breakdown;

/* A device, or one of its lines. */
typedef struct {
    Breakdown *of;
    const Plane *plane;
    const Line *line;
    uint8_t *kinds, *waits; /* by index of event metadata; waits: whether it is a done op */
    Cover covers[N_COVERS];
    TimePart parts[N_ACTIVITIES];
} Measured;

/* ---- steps ---- */

/* Returns a number for each TensorCore, and one for the GPUs of each host. */
static int64_t core_key(const Plane *core, const Host *host)
{
    return core && core->kind != PLANE_GPU ? core->plane_id
                                           : -1 - (int64_t)(host - host->run->hosts);
}

static int by_core(const void *a, const void *b)
{
    const StepTime *x = a, *y = b;
    if (x->core != y->core) return ORDER(x->core, y->core);
    return BY_START_THEN_LONGEST(x, y, start, end, place);
}

static void find_steps(Breakdown *b, const StepDb *db, ProfErr *err)
{
    for (size_t i = 0; i < db->n_steps && !err->code; i++)
        for (size_t k = 0; k < db->steps[i].n_cores; k++) {
            const StepCore *core = &db->steps[i].cores[k];
            int64_t start = (int64_t)core->begin_ps;
            if (core->kind == STEP_CORE_SPARSE) continue; /* core_steps does not list them */
            StepTime *place = PUSH(b->steps);
            if (!place) {
                prof_nomem(err);
                break;
            }
            *place = (StepTime){core_key(core->plane, core->host), start,
                                add_saturated(start, (int64_t)core->duration_ps), i, &db->steps[i]};
        }
    sort_array(b->steps.items, b->steps.n, sizeof *b->steps.items, by_core);
}

/* ---- activities ---- */

static bool add_piece(void *context, const WorkPiece *piece)
{
    Measured *m = context;
    size_t meta = (size_t)(piece->meta - m->plane->event_metas);
    return cover_add(&m->covers[cover_of_kind[m->kinds[meta]]], piece->start, piece->end) &&
           cover_add(&m->covers[BUSY], piece->start, piece->end) &&
           (!m->waits[meta] || cover_add(&m->covers[WAITING], piece->start, piece->end));
}

/* Adds asynchronous ops, which belong to a device, not to one of its lines. */
static void add_async(Measured *m, const FoundOps *found, const WorkRange *range, ProfErr *err)
{
    for (size_t i = 0; i < found->ops.n && !interrupt_poll(1, err); i++) {
        const AsyncOp *op = &found->ops.items[i];
        int64_t start = op->start_ps, end = add_saturated(start, op->duration_ps);
        if (start < range->start) start = range->start;
        if (end > range->end) end = range->end;
        if (op->shared->done && !cover_add(&m->covers[cover_of_kind[op->shared->kind]], start, end))
            prof_nomem(err);
    }
}

/* ---- adding up ---- */

/* Moves *at to the first interval that ends after a time. Returns whether the time is in it, and
 * lowers *next to where that changes. */
static bool is_in(const Cover *cover, size_t *at, int64_t time, int64_t *next)
{
    while (*at < cover->n && cover->items[*at].end <= time) ++*at;
    if (*at == cover->n) return false;
    bool in = cover->items[*at].start <= time;
    int64_t change = in ? cover->items[*at].end : cover->items[*at].start;
    if (change < *next) *next = change;
    return in;
}

static int longest_first(const void *a, const void *b)
{
    const TimePart *x = a, *y = b;
    if (x->ps != y->ps) return ORDER(y->ps, x->ps);
    return ORDER(x->activity, y->activity);
}

/* Limits the rows: a small file may have thousands of lines and thousands of steps, and each pair
 * of them has rows. */
static bool too_many(const TimeBreakdown *all, const Run *run, ProfErr *err)
{
    enum { FREE_ROWS = 500000, BYTES_A_ROW = 64 };
    if (all->n <= FREE_ROWS + run->size_bytes / BYTES_A_ROW) return false;
    prof_fail(err, PROF_LIMIT, 0,
              "%s: more than %zu parts of a device or line and a step; ask time_breakdown without "
              "by_step or by_line",
              run->path, all->n - 1);
    return true;
}

/* Appends the parts that have time, and clears them. */
static void add_parts(TimePart *parts, const Step *step, TimeBreakdown *all, ProfErr *err)
{
    size_t first = all->n;
    for (unsigned k = 0; k < N_ACTIVITIES && !err->code; k++) {
        if (parts[k].ps && !too_many(all, parts->plane->host->run, err)) {
            if (GROW(all->parts, all->n, all->capacity))
                all->parts[all->n] = parts[k], all->parts[all->n++].step = step;
            else
                prof_nomem(err);
        }
        parts[k].ps = parts[k].waiting_ps = parts[k].idle_ps = 0;
    }
    if (all->n - first > 1)
        sort_array(&all->parts[first], all->n - first, sizeof *all->parts, longest_first);
}

/* Measures the parts of a device's span, or of a line's. A time that several steps cover belongs to
 * the one that started first. */
static void sweep(Measured *m, const DeviceTime *time, ProfErr *err)
{
    const Breakdown *b = m->of;
    int64_t core = core_key(m->plane, m->plane->host), next;
    int64_t start = time->start_ps, end = add_saturated(start, (int64_t)time->span_ps);
    size_t at[N_COVERS] = {0};
    size_t step = LOWER_BOUND(i, 0, b->steps.n, b->steps.items[i].core < core);
    TimePart inside[N_ACTIVITIES], outside[N_ACTIVITIES];
    for (unsigned k = 0; k < N_ACTIVITIES; k++)
        inside[k] = outside[k] =
            (TimePart){.plane = m->plane, .line = m->line, .activity = k, .span_ps = time->span_ps};
    for (int64_t now = start; now < end && !interrupt_poll(0, err); now = next) {
        next = end;
        const StepTime *s = step < b->steps.n ? &b->steps.items[step] : NULL;
        if (s && s->core != core) s = NULL;
        if (s && s->end <= now) {
            add_parts(inside, s->step, b->result, err);
            step++, next = now;
            continue;
        }
        bool in_step = s && s->start <= now;
        if (s && (in_step ? s->end : s->start) < next) next = in_step ? s->end : s->start;
        unsigned runs = 0;
        for (int i = 0; i < N_COVERS; i++)
            if (is_in(&m->covers[i], &at[i], now, &next)) runs |= 1u << i;
        TimePart *part = &(in_step ? inside : outside)[runs % N_ACTIVITIES];
        uint64_t ps = (uint64_t)next - (uint64_t)now;
        part->ps += ps;
        if (runs >> WAITING & 1) part->waiting_ps += ps;
        if (!(runs >> BUSY & 1)) part->idle_ps += ps;
    }
    if (step < b->steps.n) add_parts(inside, b->steps.items[step].step, b->result, err);
    add_parts(outside, NULL, b->result, err);
}

/* Measures a device, or one of its lines. */
static void measure(Measured *m, const DeviceTime *time, const FoundOps *found, ProfErr *err)
{
    WorkRange range;
    bool walked = m->line ? device_line_walk(m->line, add_piece, m, &range, err)
                          : device_work_walk(m->plane, add_piece, m, &range, err);
    if (walked && !m->line) add_async(m, found, &range, err);
    for (int i = 0; i < N_COVERS; i++) cover_finish(&m->covers[i]);
    if (!err->code) sweep(m, time, err);
    for (int i = 0; i < N_COVERS; i++) cover_free(&m->covers[i]);
}

static void measure_device(Breakdown *b, const DeviceTime *time, ProfErr *err)
{
    Plane *plane = (Plane *)time->plane;
    const FoundOps *pairs = host_async_pairs(plane->host, err),
                   *found = pairs ? &pairs[plane - plane->host->planes] : NULL;
    Measured m = {.of = b,
                  .plane = plane,
                  .kinds = plane_work_kinds(plane, err),
                  .waits = prof_alloc(plane->n_event_metas)};
    if (!m.waits) prof_nomem(err);
    for (size_t i = 0; !err->code && i < found->shared.ops.n; i++)
        if (found->shared.ops.items[i]->form == ASYNC_PAIR)
            m.waits[found->shared.ops.items[i]->done - plane->event_metas] = 1;
    if (!b->by_line && !err->code) measure(&m, time, found, err);
    for (size_t i = 0; i < plane->n_lines && b->by_line && !err->code; i++) {
        m.line = &plane->host->lines[plane->first_line + i];
        if (line_is_work(m.line) && m.line->n_events) measure(&m, time, found, err);
    }
    prof_free(m.kinds);
    prof_free(m.waits);
}

/* ---- the analysis ---- */

static void time_breakdown_release(void *result)
{
    TimeBreakdown *all = result;
    prof_free(all->parts);
    prof_free(all);
}

static void *breakdown_make(Run *run, Host *only, bool by_step, bool by_line, ProfErr *err)
{
    const DeviceTimes *times = run_device_times(run, only, err);
    const StepDb *db = times && by_step ? run_shown_steps(run, only, err) : NULL;
    TimeBreakdown *all = err->code ? NULL : prof_alloc(sizeof *all);
    if (!all) return err->code ? NULL : (prof_nomem(err), NULL);
    Breakdown b = {.result = all, .by_line = by_line};
    if (db) find_steps(&b, db, err);
    for (size_t i = 0; i < times->n_devices && !err->code; i++)
        if (times->devices[i].has_work && !host_load_only(times->devices[i].plane->host, err))
            measure_device(&b, &times->devices[i], err);
    prof_free(b.steps.items);
    if (err->code) time_breakdown_release(all), all = NULL;
    return all;
}

static void *make_devices(Run *r, Host *only, ProfErr *err)
{
    return breakdown_make(r, only, false, false, err);
}
static void *make_steps(Run *r, Host *only, ProfErr *err)
{
    return breakdown_make(r, only, true, false, err);
}
static void *make_lines(Run *r, Host *only, ProfErr *err)
{
    return breakdown_make(r, only, false, true, err);
}
static void *make_both(Run *r, Host *only, ProfErr *err)
{
    return breakdown_make(r, only, true, true, err);
}

const TimeBreakdown *run_time_breakdown(Run *run, Host *only, bool by_step, bool by_line,
                                        ProfErr *err)
{
    static const Analysis analyses[2][2] = {
        {{make_devices, time_breakdown_release, NEEDS_ONE_HOST_AT_A_TIME},
         {make_lines, time_breakdown_release, NEEDS_ONE_HOST_AT_A_TIME}},
        {{make_steps, time_breakdown_release, NEEDS_ONE_HOST_AT_A_TIME},
         {make_both, time_breakdown_release, NEEDS_ONE_HOST_AT_A_TIME}}};
    return run_analysis(run, only, &analyses[by_step][by_line], err);
}
