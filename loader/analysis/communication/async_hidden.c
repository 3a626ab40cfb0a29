// SPDX-License-Identifier: Apache-2.0
/* async_hidden.c: how much of the time of transfers and collectives the device's computing hides;
 * see async_hidden.h.
 *
 * The pieces of work that compute are sorted and cut so that they do not overlap. In such a lane,
 * the covered time of an op is a difference of two prefix sums. The piece that covers most of the
 * op is found in a tree of maxima. */
#include "async_hidden.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
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
    const uint8_t *kinds; /* enum WorkKind by index of event metadata */
    const AsyncVisitor *visitor;
    Lane lane;
    bool has_lane;
} HiddenBuilder;

static bool add_piece(void *context, const WorkPiece *piece)
{
    HiddenBuilder *m = context;
    if (m->kinds[piece->meta - m->plane->event_metas] != WORK_COMPUTE) return true;
    if (!GROW(m->lane.items, m->lane.n, m->lane.capacity)) return false;
    m->lane.items[m->lane.n++] = (Interval){piece->start, piece->end, piece->meta};
    return true;
}

/* The lane is made for the first op: many planes have none. */
static bool make_lane(HiddenBuilder *m, ProfErr *err)
{
    WorkRange range;
    m->has_lane = true;
    if (device_work_walk(m->plane, add_piece, m, &range, err) && !lane_finish(&m->lane))
        prof_nomem(err);
    return !err->code;
}

static bool visit_hidden(void *context, const AsyncOp *op, ProfErr *err)
{
    HiddenBuilder *m = context;
    AsyncOp full = *op;
    if ((!m->has_lane && !make_lane(m, err)) || interrupt_poll(2, err)) return false;
    hide(&full, &m->lane);
    return m->visitor->take(m->visitor->context, &full, err);
}

bool visit_async_ops(AsyncPlane *p, bool with_synchronous, const AsyncVisitor *visitor,
                     ProfErr *err)
{
    uint8_t *kinds = plane_work_kinds(p->plane, err);
    HiddenBuilder m = {.plane = p->plane, .kinds = kinds, .visitor = visitor};
    const AsyncVisitor hidden = {&m, visit_hidden};
    if (kinds) visit_device_ops(p, kinds, with_synchronous, &hidden, err);
    lane_free(&m.lane);
    prof_free(kinds);
    return !err->code;
}
