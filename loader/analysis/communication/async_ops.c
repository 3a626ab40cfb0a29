// SPDX-License-Identifier: Apache-2.0
/* async_ops.c: which transfers and collectives a device's computing hides; see async_ops.h.
 *
 * The pieces of work that compute, sorted and cut so that they do not overlap, make a lane in which
 * the covered time of an op is a difference of two sums. The piece that covers most of it is found
 * in a tree of maxima. */
#include "async_ops.h"

#include "../../format/xspace.h"
#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "async_pairs.h"
#include "../device/device_work.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../ops/kernel_names.h"

/* ---- the lane: what computes, one interval after the other ---- */

typedef struct {
    int64_t start, end;
    const EventMeta *meta;
} Interval;
typedef struct {
    Interval *items;
    size_t n, capacity;
    uint64_t *before; /* time covered by the intervals before each: less than 2^64 */
    uint32_t *tree;   /* of the n intervals the longest: leaves at n and on, the longer of two
                         children above; 0 unused */
} Lane;

static int by_start(const void *a, const void *b)
{
    const Interval *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int64_t length(const Interval *i) { return i->end - i->start; }

static uint32_t longer(const Lane *lane, uint32_t a, uint32_t b)
{
    return length(&lane->items[b]) > length(&lane->items[a]) ? b : a;
}

/* An instant that several cover goes to the one that started first. */
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

/* The first interval that ends after a time. */
static size_t lane_find(const Lane *lane, int64_t time)
{
    size_t low = 0, high = lane->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (lane->items[mid].end > time)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* The longest of the intervals [first, last), which is not empty. */
static uint32_t lane_longest(const Lane *lane, size_t first, size_t last)
{
    uint32_t best = (uint32_t)first;
    for (size_t l = first + lane->n, r = last + lane->n; l < r; l /= 2, r /= 2) {
        if (l & 1) best = longer(lane, best, lane->tree[l++]);
        if (r & 1) best = longer(lane, best, lane->tree[--r]);
    }
    return best;
}

static void consider(AsyncOp *op, const Interval *i, int64_t start, int64_t end)
{
    int64_t overlap = (i->end < end ? i->end : end) - (i->start > start ? i->start : start);
    if (overlap > op->cover_ps) op->cover = i->meta, op->cover_ps = overlap;
}

static void hide(AsyncOp *op, const Lane *lane)
{
    int64_t start = op->start_ps, end = add_saturated(start, op->duration_ps);
    size_t first = lane_find(lane, start), last = first;
    if (!op->done || first == lane->n || lane->items[first].start >= end) return;
    last = lane_find(lane, end); /* ends after the span, or is none */
    if (last < lane->n && lane->items[last].start < end) last++;
    const Interval *left = &lane->items[first], *right = &lane->items[last - 1];
    uint64_t covered = lane->before[last] - lane->before[first];
    if (left->start < start) covered -= (uint64_t)start - (uint64_t)left->start;
    if (right->end > end) covered -= (uint64_t)right->end - (uint64_t)end;
    op->hidden_ps = (int64_t)covered;
    consider(op, left, start, end);
    consider(op, right, start, end);
    if (last - first > 2)
        consider(op, &lane->items[lane_longest(lane, first + 1, last - 1)], start, end);
}

/* ---- planes ---- */

typedef struct {
    Plane *plane;
    uint8_t *kinds; /* by metadata */
    AsyncOps ops;
    Lane lane;
} Making;

static bool take_piece(void *context, const WorkPiece *piece)
{
    Making *m = context;
    if (m->kinds[piece->meta - m->plane->event_metas] != WORK_COMPUTE) return true;
    if (!GROW(m->lane.items, m->lane.n, m->lane.capacity)) return false;
    m->lane.items[m->lane.n++] = (Interval){piece->start, piece->end, piece->meta};
    return true;
}

static const Text *intern(Host *host, Slice word, ProfErr *err)
{
    pthread_mutex_lock(&host->lock);
    const Text *text = text_intern(&host->texts, &host->arena, (const uint8_t *)word.text, word.n);
    pthread_mutex_unlock(&host->lock);
    if (!text) prof_nomem(err);
    return text;
}

static Slice kept_text(const Plane *plane, const Stat *stat, ProfErr *err)
{
    Slice text = stat_text(plane, stat);
    const Text *kept = stat->type == TYPE_STR ? intern(plane->host, text, err) : NULL;
    return kept ? slice_of(kept) : text;
}

/* What an event of a stream says of itself: what a copy copied, of which instruction a collective
 * is. */
static void read_gpu_op(AsyncOp *op, const StatFilter *filter, const EventAt *e, ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    unsigned known;
    Stat stat;
    uint64_t bytes;
    while (filter->any && stat_iter_next_wanted(&stats, filter, &known, &stat) && !err->code)
        if (known == STAT_MEMCPY_DETAILS && copy_bytes(stat_text(op->plane, &stat), &bytes) &&
            bytes <= INT64_MAX)
            op->bytes_moved = (int64_t)bytes;
        else if (known == STAT_HLO_OP && op->kind == WORK_COLLECTIVE &&
                 (stat.type == TYPE_STR || stat.type == TYPE_REF))
            op->hlo_op = slice_innermost(kept_text(op->plane, &stat, err));
        else if (known == STAT_PROGRAM_ID && (stat.type == TYPE_INT64 || stat.type == TYPE_UINT64))
            op->program_id = stat.natural, op->has_program = true;
}

static void add_gpu_op(Making *m, const EventAt *e, enum WorkKind kind, const Text *category,
                       const StatFilter *filter, ProfErr *err)
{
    Slice name = slice_of(e->meta->name);
    if (!GROW(m->ops.ops, m->ops.n_ops, m->ops.capacity)) {
        prof_nomem(err);
        return;
    }
    AsyncOp *op = &m->ops.ops[m->ops.n_ops++];
    *op = (AsyncOp){.plane = m->plane,
                    .start = e->meta,
                    .done = e->meta,
                    .op = name,
                    .done_op = name,
                    .category = category,
                    .kind = kind,
                    .hlo_op = {"", 0}};
    op->start_event = op->done_event = e->event;
    op->start_ps = e->start_ps, op->duration_ps = e->duration_ps > 0 ? e->duration_ps : 0;
    op->bytes_moved = op->bytes_accessed = -1;
    read_gpu_op(op, filter, e, err);
}

/* Only the events that are listed are read with their stats. */
static void find_gpu_ops(Making *m, Line *line, EventFinder *finder, const StatFilter *filter,
                         ProfErr *err)
{
    const Text *categories[] = {intern(m->plane->host, (Slice){"collective", 10}, err),
                                intern(m->plane->host, (Slice){"copy", 4}, err),
                                intern(m->plane->host, (Slice){"memset", 6}, err)};
    EventReader reader;
    EventAt e, with_stats;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &e)) {
        enum WorkKind kind = m->kinds[e.meta - m->plane->event_metas];
        if (kind == WORK_COMPUTE || e.occurrences >= 0 ||
            !event_find(finder, line, e.event - line->first_event, EVENT_STATS, &with_stats, err))
            continue;
        int category = kind == WORK_COLLECTIVE                    ? 0
                       : stream_is_memset(slice_of(e.meta->name)) ? 2
                                                                  : 1;
        add_gpu_op(m, &with_stats, kind, categories[category], filter, err);
    }
    event_reader_close(&reader);
}

static void walk_gpu(Making *m, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_MEMCPY_DETAILS, STAT_HLO_OP, STAT_PROGRAM_ID};
    StatFilter filter;
    EventFinder *finder = prof_alloc(sizeof *finder);
    if (!finder) {
        prof_nomem(err);
        return;
    }
    stat_filter_open(&filter, m->plane, wanted, COUNT(wanted), err);
    for (size_t i = 0; i < m->plane->n_lines && !err->code; i++) {
        Line *line = &m->plane->host->lines[m->plane->first_line + i];
        if (line_is_work(line) && line->n_events) find_gpu_ops(m, line, finder, &filter, err);
    }
    stat_filter_close(&filter);
    event_finder_close(finder);
    prof_free(finder);
}

static int by_time(const void *a, const void *b)
{
    const AsyncOp *x = a, *y = b;
    if (x->start_ps != y->start_ps) return x->start_ps < y->start_ps ? -1 : 1;
    return x->start_event < y->start_event ? -1 : x->start_event > y->start_event;
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    Making *m = &((Making *)context)[i];
    WorkRange range;
    if (!(m->kinds = plane_work_kinds(m->plane, err))) return;
    if (m->plane->kind == PLANE_GPU)
        walk_gpu(m, err);
    else
        find_async_pairs(m->plane, m->kinds, true, &m->ops, err);
    if (m->ops.n_ops && !err->code && device_work_walk(m->plane, take_piece, m, &range, err) &&
        !lane_finish(&m->lane))
        prof_nomem(err);
    for (size_t k = 0; k < m->ops.n_ops && !interrupt_poll(2, err); k++)
        hide(&m->ops.ops[k], &m->lane);
    if (m->ops.n_ops && !err->code)
        sort_array(m->ops.ops, m->ops.n_ops, sizeof *m->ops.ops, by_time);
    lane_free(&m->lane);
    prof_free(m->kinds);
}

/* ---- all together ---- */

static void release(void *result)
{
    AsyncOps *all = result;
    prof_free(all->ops);
    prof_free(all);
}

static void *make(Run *run, Host *only, ProfErr *err)
{
    size_t n = 0, n_ops = 0;
    AsyncOps *all = prof_alloc(sizeof *all);
    Making *makings = prof_alloc(run->n_planes * sizeof *makings);
    if (!all || !makings) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes && (!only || only == &run->hosts[h]); i++)
            if (plane_is_device(&run->hosts[h].planes[i]))
                makings[n++].plane = &run->hosts[h].planes[i];
    if (!err->code) parallel_for(run->n_workers, n, plane_task, makings, err);
    for (size_t i = 0; i < n; i++) n_ops += makings[i].ops.n_ops;
    if (n == 1 && !err->code) { /* nothing to join: there may be as many ops as events */
        *all = makings[0].ops;
        prof_free(makings);
        return all;
    }
    if (!err->code && !(all->ops = prof_buffer(n_ops * sizeof *all->ops))) prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        AsyncOps *ops = &makings[i].ops;
        for (size_t k = 0, n_copied; k < ops->n_ops && !interrupt_poll(1024, err);
             k += n_copied, all->n_ops += n_copied) {
            n_copied = ops->n_ops - k < 4096 ? ops->n_ops - k : 4096;
            memcpy(all->ops + all->n_ops, ops->ops + k, n_copied * sizeof *all->ops);
        }
        prof_free(ops->ops);
    }
    prof_free(makings);
    if (err->code && all) release(all), all = NULL;
    return all;
}

const AsyncOps *run_async_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make, release};
    return run_analysis(run, only, &analysis, err);
}
