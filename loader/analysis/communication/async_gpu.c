// SPDX-License-Identifier: Apache-2.0
/* async_gpu.c: collectives, copies and memsets of a GPU; see async_pairs.h. */
#include "../device/device_work.h"
#include "../ops/kernel_names.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "async_pairs.h"

typedef struct {
    Plane *plane;
    const uint8_t *kinds; /* enum WorkKind by index of event metadata */
    SharedOps *shared;
    const AsyncVisitor *visitor;
} AsyncGpuBuilder;

static Slice kept_text(const Plane *plane, const Stat *stat, ProfErr *err)
{
    Slice text = stat_text(plane, stat);
    const Text *kept =
        stat->type == TYPE_STR ? host_text(plane->host, text.text, text.n, err) : NULL;
    return kept ? slice_of(kept) : text;
}

/* Reads an event's own stats: the details of a copy, or the HLO instruction of a collective. */
static void read_gpu_op(AsyncShared *op, const StatFilter *filter, const EventAt *e, ProfErr *err)
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
            op->program_id = stat.u64, op->has_program = true;
}

static void add_gpu_op(AsyncGpuBuilder *m, const EventAt *e, enum WorkKind kind,
                       const Text *category, const StatFilter *filter, ProfErr *err)
{
    Slice name = slice_of(e->meta->name);
    AsyncShared own = {.plane = m->plane,
                       .form = ASYNC_GPU,
                       .start = e->meta,
                       .done = e->meta,
                       .op = name,
                       .done_op = name,
                       .category = category,
                       .kind = kind,
                       .hlo_op = {"", 0},
                       .bytes_moved = -1,
                       .bytes_accessed = -1};
    read_gpu_op(&own, filter, e, err);
    if (err->code) return;
    const AsyncShared *shared = shared_find(m->shared, &own);
    if (!shared) shared = shared_add(m->shared, &own);
    AsyncOp op = {.shared = shared,
                  .start_event = e->event,
                  .done_event = e->event,
                  .start_ps = e->start_ps,
                  .duration_ps = e->duration_ps > 0 ? e->duration_ps : 0};
    if (!shared)
        prof_nomem(err);
    else
        m->visitor->take(m->visitor->context, &op, err);
}

/* Reads stats only of the events that are listed. */
static void find_gpu_ops(AsyncGpuBuilder *m, Line *line, EventFinder *finder,
                         const StatFilter *filter, ProfErr *err)
{
    const Text *collective = host_text(m->plane->host, "collective", 10, err),
               *copy = host_text(m->plane->host, "copy", 4, err),
               *memset = host_text(m->plane->host, "memset", 6, err);
    EventReader reader;
    EventAt e, with_stats;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &e)) {
        enum WorkKind kind = m->kinds[e.meta - m->plane->event_metas];
        if (kind == WORK_COMPUTE || e.occurrences >= 0 ||
            !event_find(finder, line, e.event - line->first_event, EVENT_STATS, &with_stats, err))
            continue;
        const Text *category = stream_is_memset(slice_of(e.meta->name)) ? memset : copy;
        if (kind == WORK_COLLECTIVE) category = collective;
        add_gpu_op(m, &with_stats, kind, category, filter, err);
    }
    event_reader_close(&reader);
}

bool find_gpu_async(Plane *plane, const uint8_t *kinds, const AsyncVisitor *visitor,
                    SharedOps *shared, ProfErr *err)
{
    AsyncGpuBuilder m = {plane, kinds, shared, visitor};
    static const enum KnownStat wanted[] = {STAT_MEMCPY_DETAILS, STAT_HLO_OP, STAT_PROGRAM_ID};
    StatFilter filter;
    EventFinder *finder = prof_alloc(sizeof *finder);
    if (!finder) {
        prof_nomem(err);
        return false;
    }
    stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        if (line_is_work(line) && line->n_events) find_gpu_ops(&m, line, finder, &filter, err);
    }
    stat_filter_close(&filter);
    event_finder_close(finder);
    prof_free(finder);
    return !err->code;
}
