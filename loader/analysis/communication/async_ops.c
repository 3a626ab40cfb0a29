// SPDX-License-Identifier: Apache-2.0
/* async_ops.c: how much of the time of transfers and collectives the device's computing hides; see
 * async_ops.h.
 *
 * The pieces of work that compute are sorted and cut so that they do not overlap. In such a lane,
 * the covered time of an op is a difference of two prefix sums. The piece that covers most of the
 * op is found in a tree of maxima. */
#include "async_ops.h"

#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "async_pairs.h"
#include "../device/device_work.h"

/* ---- the lane: disjoint intervals in which the device computes ---- */

typedef struct {
    int64_t start, end;
    const EventMeta *meta;
} Interval;
typedef struct {
    Interval *items;
    size_t n, capacity;
    uint64_t *before; /* total length of the intervals before each one; less than 2^64 */
    uint32_t *tree;   /* index of the longest interval of each subtree: leaves from n on, the longer
                         of its two children above; 0 is unused */
} Lane;

ORDER_BY_TWO(by_start, Interval, start, end)

static int64_t length(const Interval *i) { return i->end - i->start; }

static uint32_t longer(const Lane *lane, uint32_t a, uint32_t b)
{
    return length(&lane->items[b]) > length(&lane->items[a]) ? b : a;
}

/* Makes the intervals disjoint: a time that several cover belongs to the one that started first. */
static bool lane_finish(Lane *lane)
{
    size_t n = 0;
    int64_t end = INT64_MIN;
    sort_array(lane->items, lane->n, sizeof *lane->items, by_start);
    if (interrupt_due(lane->n)) return false;
    for (size_t i = 0; i < lane->n; i++) {
        Interval item = lane->items[i];
        if (item.start < end) item.start = end;
        if (item.start >= item.end || item.end - (uint64_t)item.start > INT64_MAX) continue;
        lane->items[n++] = item, end = item.end;
    }
    lane->n = n;
    lane->before = prof_alloc((n + 1) * sizeof *lane->before);
    lane->tree = prof_alloc(2 * n * sizeof *lane->tree);
    if (!lane->before || !lane->tree || n > UINT32_MAX / 2) return false;
    for (size_t i = 0; i < n; i++)
        lane->before[i + 1] = lane->before[i] + (uint64_t)length(&lane->items[i]),
                         lane->tree[n + i] = (uint32_t)i;
    for (size_t i = n; i-- > 1;)
        lane->tree[i] = longer(lane, lane->tree[2 * i], lane->tree[2 * i + 1]);
    return true;
}

static void lane_free(Lane *lane)
{
    prof_free(lane->items);
    prof_free(lane->before);
    prof_free(lane->tree);
}

/* Returns the first interval that ends after a time. */
static size_t lane_find(const Lane *lane, int64_t time)
{
    size_t low = LOWER_BOUND(i, 0, lane->n, lane->items[i].end <= time);
    return low;
}

/* Returns the longest of the intervals [first, last), of which there is at least one. */
static uint32_t lane_longest(const Lane *lane, size_t first, size_t last)
{
    uint32_t best = (uint32_t)first;
    for (size_t l = first + lane->n, r = last + lane->n; l < r; l /= 2, r /= 2) {
        if (l & 1) best = longer(lane, best, lane->tree[l++]);
        if (r & 1) best = longer(lane, best, lane->tree[--r]);
    }
    return best;
}

/* Returns the longer of an overlap with another op and the overlap of this interval. */
static int64_t consider(AsyncOp *op, const Interval *i, int64_t cover_ps)
{
    int64_t start = op->start_ps, end = add_saturated(start, op->duration_ps);
    int64_t overlap = (i->end < end ? i->end : end) - (i->start > start ? i->start : start);
    if (overlap > cover_ps) op->cover = i->meta;
    return overlap > cover_ps ? overlap : cover_ps;
}

static void hide(AsyncOp *op, const Lane *lane)
{
    int64_t start = op->start_ps, end = add_saturated(start, op->duration_ps);
    size_t first = lane_find(lane, start), last = first;
    if (!op->shared->done || first == lane->n || lane->items[first].start >= end) return;
    last = lane_find(lane, end); /* the interval that ends after the span, if there is one */
    if (last < lane->n && lane->items[last].start < end) last++;
    const Interval *left = &lane->items[first], *right = &lane->items[last - 1];
    uint64_t covered = lane->before[last] - lane->before[first];
    if (left->start < start) covered -= (uint64_t)start - (uint64_t)left->start;
    if (right->end > end) covered -= (uint64_t)right->end - (uint64_t)end;
    op->hidden_ps = (int64_t)covered;
    int64_t cover_ps = consider(op, left, 0);
    cover_ps = consider(op, right, cover_ps);
    if (last - first > 2)
        consider(op, &lane->items[lane_longest(lane, first + 1, last - 1)], cover_ps);
}

/* ---- planes ---- */

typedef struct {
    Plane *plane;
    bool with_synchronous;
    uint8_t *kinds; /* enum WorkKind by index of event metadata */
    FoundOps found;
    Lane lane;
} AsyncOpsBuilder;

static bool add_piece(void *context, const WorkPiece *piece)
{
    AsyncOpsBuilder *m = context;
    if (m->kinds[piece->meta - m->plane->event_metas] != WORK_COMPUTE) return true;
    if (!GROW(m->lane.items, m->lane.n, m->lane.capacity)) return false;
    m->lane.items[m->lane.n++] = (Interval){piece->start, piece->end, piece->meta};
    return true;
}

ORDER_BY_TWO(by_time, AsyncOp, start_ps, start_event)

static bool keep_op(void *context, const AsyncOp *op, ProfErr *err)
{
    AsyncOpsBuilder *m = context;
    AsyncOp *kept = PUSH(m->found.ops);
    if (!kept) {
        prof_nomem(err);
        return false;
    }
    *kept = *op;
    return true;
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    AsyncOpsBuilder *m = &((AsyncOpsBuilder *)context)[i];
    FoundOps *found = &m->found;
    const AsyncVisitor keep = {m, keep_op};
    WorkRange range;
    if (!(m->kinds = plane_work_kinds(m->plane, err))) return;
    if (m->plane->kind == PLANE_GPU)
        find_gpu_async(m->plane, m->kinds, &keep, &found->shared, err);
    else
        find_async_pairs(m->plane, m->kinds, m->with_synchronous ? &keep : NULL, found, err);
    if (found->ops.n && !err->code && device_work_walk(m->plane, add_piece, m, &range, err) &&
        !lane_finish(&m->lane))
        prof_nomem(err);
    for (size_t k = 0; k < found->ops.n && !interrupt_poll(2, err); k++)
        hide(&found->ops.items[k], &m->lane);
    if (found->ops.n && !err->code)
        sort_array(found->ops.items, found->ops.n, sizeof *found->ops.items, by_time);
    lane_free(&m->lane);
    prof_free(m->kinds);
}

/* ---- all together ---- */

static void async_ops_release(void *result)
{
    AsyncOps *all = result;
    for (size_t i = 0; i < all->n_shared; i++) shared_free(&all->shared[i]);
    prof_free(all->shared);
    prof_free(all->ops);
    prof_free(all);
}

/* Moves the ops of all planes into one array. The array of a single plane is used as it is, because
 * there may be as many ops as events. */
static bool join(AsyncOps *all, AsyncOpsBuilder *makings, size_t n)
{
    size_t n_ops = 0;
    for (size_t i = 0; i < n; i++) n_ops += makings[i].found.ops.n;
    if (!(all->shared = prof_alloc(n * sizeof *all->shared))) return false;
    if (n == 1)
        all->ops = makings[0].found.ops.items, makings[0].found.ops.items = NULL;
    else if (!(all->ops = prof_buffer(n_ops * sizeof *all->ops)))
        return false;
    for (size_t i = 0; i < n; i++) {
        FoundOps *found = &makings[i].found;
        if (found->ops.n && found->ops.items)
            memcpy(all->ops + all->n_ops, found->ops.items, found->ops.n * sizeof *all->ops);
        all->n_ops += found->ops.n;
        all->shared[all->n_shared++] = found->shared;
        found->shared = (SharedOps){0};
        found_ops_free(found);
    }
    return true;
}

static void *async_ops_make(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    size_t n = 0;
    AsyncOps *all = prof_alloc(sizeof *all);
    AsyncOpsBuilder *makings = prof_alloc(run->n_planes * sizeof *makings);
    if (!all || !makings) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes && (!only || only == &run->hosts[h]); i++)
            if (plane_is_device(&run->hosts[h].planes[i]))
                makings[n++] = (AsyncOpsBuilder){.plane = &run->hosts[h].planes[i],
                                                 .with_synchronous = with_synchronous};
    if (!err->code) parallel_for(run->n_workers, n, plane_task, makings, err);
    if (!err->code && !join(all, makings, n)) prof_nomem(err);
    for (size_t i = 0; i < n; i++) found_ops_free(&makings[i].found);
    prof_free(makings);
    if (err->code && all) async_ops_release(all), all = NULL;
    return all;
}

static void *async_ops_make_all(Run *run, Host *only, ProfErr *err)
{
    return async_ops_make(run, only, true, err);
}

static void *async_ops_make_asynchronous(Run *run, Host *only, ProfErr *err)
{
    return async_ops_make(run, only, false, err);
}

const AsyncOps *run_async_ops(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    static const Analysis all = {async_ops_make_all, async_ops_release, NEEDS_ALL_HOSTS},
                          asynchronous = {async_ops_make_asynchronous, async_ops_release,
                                          NEEDS_ALL_HOSTS};
    return run_analysis(run, only, with_synchronous ? &all : &asynchronous, err);
}
