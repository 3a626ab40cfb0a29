/* grouping_tpu.c: a TPU's steps after grouping, and what the events of its other lines get from them; see grouping_parts.h. */
#include "events.h"
#include "grouping_parts.h"

bool tpu_grouping_events(const ForestLine *line, const LineGroups *merged, MergedStep **steps, size_t *n_steps, ProfErr *err)
{
    *n_steps = merged->merged ? merged->n_steps : (size_t)line->n;
    MergedStep *list = *steps = prof_alloc(*n_steps * sizeof *list);
    if (!list) return prof_nomem(err), false;
    if (merged->merged) {
        if (*n_steps) memcpy(list, merged->steps, *n_steps * sizeof *list);
        return true;
    }
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line->line, 0, err);
    for (size_t i = 0; event_reader_next(&reader, &e); i++)
        list[i] = (MergedStep){.event = e.event, .start_ps = e.start_ps, .duration_ps = e.duration_ps, .group = node_group(line, line->first + (Node)i)};
    event_reader_close(&reader);
    return !err->code;
}

/* ---- merging ---- */

typedef struct {
    bool has_idle, has_start, has_duration;
    int64_t idle_ps, start_ps, duration_ps;
} StepStats;

static int64_t until(int64_t start_ps, int64_t end_ps)
{
    int64_t duration_ps;
    return end_ps <= start_ps ? 0 : __builtin_sub_overflow(end_ps, start_ps, &duration_ps) ? INT64_MAX : duration_ps;
}

static StepStats step_stats(const StatFilter *filter, const EventAt *e)
{
    StepStats s = {0};
    Stat stat;
    unsigned known;
    for (const uint8_t *p = e->message, *end = p + e->n_bytes; (p = stat_filter_next(filter, p, end, 4, &known, &stat));) {
        bool *has = known == STAT_STEP_IDLE_PS ? &s.has_idle : known == STAT_DEVICE_OFFSET_PS ? &s.has_start : &s.has_duration;
        int64_t *value = known == STAT_STEP_IDLE_PS ? &s.idle_ps : known == STAT_DEVICE_OFFSET_PS ? &s.start_ps : &s.duration_ps;
        if (!*has) *has = true, *value = (int64_t)stat_int_or_uint(&stat);
    }
    return s;
}

/* Takes the next grouped event: into the last step when it is of its group. XProf's idle time runs on from step to step: one
 * without the stat shows that of the step before, and events that are merged add theirs. */
static void take_step(MergedStep *steps, size_t *n, int64_t *idle_ps, const EventAt *e, int64_t group, const StepStats *s)
{
    MergedStep *last = *n ? &steps[*n - 1] : NULL;
    bool has_device = s->has_start && s->has_duration;
    if (last && last->group == group) {
        last->duration_ps = until(last->start_ps, add_saturated(e->start_ps, e->duration_ps));
        if (s->has_idle) *idle_ps = add_saturated(*idle_ps, s->idle_ps);
        if (has_device && last->device_start_ps != INT64_MIN) {
            int64_t device_end = add_saturated(last->device_start_ps, last->device_duration_ps), other_end = add_saturated(s->start_ps, s->duration_ps);
            if (s->start_ps < last->device_start_ps) last->device_start_ps = s->start_ps;
            last->device_duration_ps = until(last->device_start_ps, other_end > device_end ? other_end : device_end);
        }
    } else {
        if (s->has_idle) *idle_ps = s->idle_ps;
        last = &steps[(*n)++];
        *last = (MergedStep){e->event, e->start_ps, e->duration_ps, group, 0, has_device ? s->start_ps : INT64_MIN, has_device ? s->duration_ps : INT64_MIN};
    }
    last->idle_ps = *idle_ps;
}

bool tpu_merge_steps(const ForestLine *line, LineGroups *out, Arena *arena, ProfErr *err)
{
    if (!line->group) return true; /* none is grouped: XProf leaves them all */
    size_t n = 0;
    int64_t idle_ps = 0;
    MergedStep *steps = arena_alloc(arena, line->n * sizeof *steps);
    if (!steps) return prof_nomem(err), false;
    static const enum KnownStat wanted[] = {STAT_STEP_IDLE_PS, STAT_DEVICE_OFFSET_PS, STAT_DEVICE_DURATION_PS};
    StatFilter filter;
    EventReader reader;
    EventAt e;
    stat_filter_open(&filter, line->line->plane, wanted, COUNT(wanted), err);
    event_reader_open(&reader, line->line, EVENT_STATS, err);
    for (Node i = line->first; event_reader_next(&reader, &e); i++) {
        StepStats s = step_stats(&filter, &e);
        if (node_group(line, i) >= 0) take_step(steps, &n, &idle_ps, &e, node_group(line, i), &s);
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
    out->merged = true, out->steps = steps, out->n_steps = n;
    return !err->code;
}

/* ---- overlap ---- */

/* The latest ends below each place of a binary tree over the steps. */
typedef struct {
    int64_t *ends;
    size_t size, n;
} EndTree;

static bool tree_open(EndTree *t, const MergedStep *steps, size_t n)
{
    *t = (EndTree){.size = 1, .n = n};
    while (t->size < n) t->size *= 2;
    if (!(t->ends = prof_alloc(2 * t->size * sizeof *t->ends))) return false;
    for (size_t i = 0; i < t->size; i++) t->ends[t->size + i] = i < n ? add_saturated(steps[i].start_ps, steps[i].duration_ps) : INT64_MIN;
    for (size_t i = t->size - 1; i > 0; i--) t->ends[i] = t->ends[2 * i] > t->ends[2 * i + 1] ? t->ends[2 * i] : t->ends[2 * i + 1];
    return true;
}

/* The first step from `from` on that ends at or behind start_ps; n: none does. */
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

/* An event belongs to the step that it touches: the last one found while that lasts, else the next. */
typedef struct {
    const MergedStep *steps;
    EndTree tree;
    size_t next; /* behind the last one found */
} Overlap;

static bool touches(const Overlap *o, size_t at, int64_t start_ps, int64_t end_ps)
{
    return at < o->tree.n && o->steps[at].start_ps <= end_ps && o->tree.ends[o->tree.size + at] >= start_ps;
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

bool tpu_overlap(const ForestLine *line, const MergedStep *steps, size_t n_steps, LineGroups *out, Arena *arena, ProfErr *err)
{
    Overlap o = {.steps = steps};
    Packed *groups = arena_alloc(arena, line->line->n_chunks * sizeof *groups);
    ChunkValues *v = prof_alloc(sizeof *v);
    Window window = {.file = &line->line->plane->host->file};
    bool any = false;
    if (!groups || !v || !tree_open(&o.tree, steps, n_steps)) prof_nomem(err);
    for (size_t c = 0; c < line->line->n_chunks && !err->code; c++) {
        const Chunk *chunk = &line->line->chunks[c];
        if (chunk_read(line->line, chunk, 1 << COL_OFFSET | 1 << COL_DURATION | 1 << COL_AGGREGATED, v, &window, err)) break;
        int64_t *of = v->columns[COL_META];
        for (uint32_t i = 0; i < chunk->n_events; i++) {
            int64_t start = add_saturated(line->line->start_ps, v->columns[COL_AGGREGATED][i] ? 0 : v->columns[COL_OFFSET][i]);
            of[i] = overlapped_group(&o, start, add_saturated(start, v->columns[COL_DURATION][i]));
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
