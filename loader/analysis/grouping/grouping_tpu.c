// SPDX-License-Identifier: Apache-2.0
/* grouping_tpu.c: merges a TPU's steps after grouping, and gives their groups to the events of its
 * other lines; see grouping_parts.h. */
#include "../../store/chunks.h"
#include "../../store/events.h"
#include "grouping_parts.h"

#define NOT_KNOWN INT64_MIN

/* ---- reading ---- */

/* Reads the stats of a step; the first of a name counts. The file's own group is used if grouping
 * did not set one. */
static void read_stats(const StatFilter *filter, const EventAt *e, MergedStep *step)
{
    Stat stat;
    unsigned known;
    int64_t own = NOT_KNOWN;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        int64_t *to = &step->device_duration_ps, value = (int64_t)stat_int_or_uint(&stat);
        if (known == STAT_STEP_IDLE_PS) to = &step->idle_ps;
        if (known == STAT_DEVICE_OFFSET_PS) to = &step->device_start_ps;
        if (known == STAT_GROUP_ID) to = &own, value = stat_int(&stat);
        if (*to == NOT_KNOWN) *to = value;
    }
    if (step->group < 0 && own != NOT_KNOWN) step->group = own;
    if (step->device_start_ps == NOT_KNOWN || step->device_duration_ps == NOT_KNOWN)
        step->device_start_ps = step->device_duration_ps = NOT_KNOWN;
}

bool tpu_read_steps(const ForestLine *line, MergedStep **steps, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_STEP_IDLE_PS, STAT_DEVICE_OFFSET_PS,
                                            STAT_DEVICE_DURATION_PS, STAT_GROUP_ID};
    MergedStep *list = *steps = prof_alloc(line->n * sizeof *list);
    StatFilter filter;
    EventReader reader;
    EventAt e;
    if (!list) {
        prof_nomem(err);
        return false;
    }
    stat_filter_open(&filter, line->line->plane, wanted, COUNT(wanted), err);
    event_reader_open_for(&reader, line->line, &filter.wanted, err);
    for (Node i = 0; event_reader_next(&reader, &e); i++) {
        list[i] =
            (MergedStep){e.event,   e.start_ps, e.duration_ps, node_group(line, line->first + i),
                         NOT_KNOWN, NOT_KNOWN,  NOT_KNOWN,     false};
        read_stats(&filter, &e, &list[i]);
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
    return !err->code;
}

/* ---- merging ---- */

/* Returns the duration between two times. XProf's durations are unsigned: if the end comes first,
 * it shows a very long one; here it is negative. */
static int64_t until(int64_t start_ps, int64_t end_ps)
{
    return (int64_t)((uint64_t)end_ps - (uint64_t)start_ps);
}

/* Joins two spans as XProf does: a span without length at time 0 does not count. */
static void join_span(int64_t *start_ps, int64_t *duration_ps, int64_t by_start,
                      int64_t by_duration)
{
    if (!by_start && !by_duration) return;
    if (!*start_ps && !*duration_ps) {
        *start_ps = by_start, *duration_ps = by_duration;
        return;
    }
    int64_t end = add_saturated(*start_ps, *duration_ps),
            by_end = add_saturated(by_start, by_duration);
    if (by_start < *start_ps) *start_ps = by_start;
    *duration_ps = until(*start_ps, by_end > end ? by_end : end);
}

/* Extends a step by another. As in XProf, an event without device times uses its own times for
 * them. */
static void extend_step(MergedStep *step, const MergedStep *by)
{
    bool measured = by->device_start_ps != NOT_KNOWN;
    step->extended = true;
    step->duration_ps = until(step->start_ps, add_saturated(by->start_ps, by->duration_ps));
    if (step->device_start_ps != NOT_KNOWN)
        join_span(&step->device_start_ps, &step->device_duration_ps,
                  measured ? by->device_start_ps : by->start_ps,
                  measured ? by->device_duration_ps : by->duration_ps);
}

/* As in XProf, idle time carries over: a step without the stat has that of the step before, unless
 * an ungrouped event is between them, and merged events add theirs. */
size_t tpu_merge_steps(MergedStep *steps, size_t n)
{
    size_t n_merged = 0;
    int64_t idle_ps = 0;
    bool open = false, any = false; /* open: the event before belongs to the last step */
    for (size_t i = 0; i < n; i++) any |= steps[i].group >= 0;
    for (size_t i = 0; i < n && any; i++) {
        const MergedStep step = steps[i];
        MergedStep *last = open ? &steps[n_merged - 1] : NULL;
        if (last && last->group == step.group) {
            extend_step(last, &step);
            if (step.idle_ps != NOT_KNOWN) idle_ps = add_saturated(idle_ps, step.idle_ps);
        } else if (step.group >= 0) {
            last = &steps[n_merged++];
            *last = step;
            if (step.idle_ps != NOT_KNOWN) idle_ps = step.idle_ps;
        } else {
            idle_ps = 0;
        }
        open = step.group >= 0;
        if (open) last->idle_ps = idle_ps;
    }
    return any ? n_merged : n;
}

/* ---- overlap ---- */

/* A binary tree over the steps, with the latest end below each node. */
typedef struct {
    int64_t *ends;
    size_t size, n;
} EndTree;

static bool tree_open(EndTree *t, const MergedStep *steps, size_t n)
{
    *t = (EndTree){.size = 1, .n = n};
    while (t->size < n) t->size *= 2;
    if (!(t->ends = prof_alloc(2 * t->size * sizeof *t->ends))) return false;
    for (size_t i = 0; i < t->size; i++)
        t->ends[t->size + i] =
            i < n ? add_saturated(steps[i].start_ps, steps[i].duration_ps) : INT64_MIN;
    for (size_t i = t->size - 1; i > 0; i--)
        t->ends[i] = t->ends[2 * i] > t->ends[2 * i + 1] ? t->ends[2 * i] : t->ends[2 * i + 1];
    return true;
}

/* Returns the first step from `from` on that ends at or after start_ps; n if none does. */
static size_t first_reaching(const EndTree *t, size_t from, int64_t start_ps)
{
    if (from >= t->n) return t->n;
    for (size_t i = from + t->size;;) {
        while (i % 2 == 0) i /= 2;
        if (t->ends[i] >= start_ps) {
            while (i < t->size) {
                i *= 2;
                if (t->ends[i] < start_ps) i++;
            }
            return i - t->size < t->n ? i - t->size : t->n;
        }
        i++;
        if ((i & (i - 1)) == 0) return t->n;
    }
}

/* Finds the step that an event touches: the last one found as long as it lasts, else the next. */
typedef struct {
    const MergedStep *steps;
    EndTree tree;
    size_t next; /* after the last one found */
} Overlap;

static bool touches(const Overlap *o, size_t at, int64_t start_ps, int64_t end_ps)
{
    return at < o->tree.n && o->steps[at].start_ps <= end_ps &&
           o->tree.ends[o->tree.size + at] >= start_ps;
}

static int64_t overlapped_group(Overlap *o, int64_t start_ps, int64_t end_ps)
{
    size_t at = o->next;
    if (!at || !touches(o, --at, start_ps, end_ps)) {
        at = first_reaching(&o->tree, o->next, start_ps);
        if (!touches(o, at, start_ps, end_ps)) return -1;
        o->next = at + 1;
    }
    return o->steps[at].group;
}

bool tpu_overlap(const ForestLine *line, const MergedStep *steps, size_t n_steps, LineGroups *out,
                 Arena *arena, ProfErr *err)
{
    Overlap o = {.steps = steps};
    Packed *groups = arena_alloc(arena, line->line->n_chunks * sizeof *groups);
    ChunkValues *v = prof_alloc(sizeof *v);
    int64_t *of = v ? v->columns[COL_META] : NULL; /* the times do not use this column */
    Window window = {.file = &line->line->plane->host->file};
    bool any = false;
    if (!groups || !v || !tree_open(&o.tree, steps, n_steps)) prof_nomem(err);
    for (size_t c = 0; c < line->line->n_chunks && !err->code; c++) {
        const Chunk *chunk = &line->line->chunks[c];
        if (chunk_read(line->line, chunk, CHUNK_TIMES, v, &window, err)) break;
        for (uint32_t i = 0; i < chunk->n_events; i++) {
            of[i] =
                overlapped_group(&o, chunk_start(line->line, v, i), chunk_end(line->line, v, i));
            if (of[i] < 0 && line->n)
                of[i] = node_group(line, line->first + (Node)(c * CHUNK_EVENTS + i));
            any |= of[i] >= 0;
        }
        if (!packed_make(&groups[c], arena, of, chunk->n_events)) prof_nomem(err);
    }
    if (any) out->groups = groups;
    window_free(&window);
    prof_free(v);
    prof_free(o.tree.ends);
    return !err->code;
}
