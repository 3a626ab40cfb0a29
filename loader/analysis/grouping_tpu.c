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

/* XProf's durations are unsigned: one that ends before it begins is shown as a very long one, here as negative. */
static int64_t until(int64_t start_ps, int64_t end_ps) { return (int64_t)((uint64_t)end_ps - (uint64_t)start_ps); }

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

/* Steps so far; idle_ps runs on from step to step, as XProf lets it: a step without the stat shows that of the step before,
 * and events that are merged add theirs. */
typedef struct {
    MergedStep *steps;
    size_t n;
    int64_t idle_ps;
    bool open; /* the last event was of the last step */
} Merge;

static void begin_step(Merge *m, const EventAt *e, int64_t group, const StepStats *s)
{
    bool has_device = s->has_start && s->has_duration;
    if (s->has_idle) m->idle_ps = s->idle_ps;
    m->steps[m->n++] = (MergedStep){.event = e->event,
                                    .start_ps = e->start_ps,
                                    .duration_ps = e->duration_ps,
                                    .group = group,
                                    .idle_ps = m->idle_ps,
                                    .device_start_ps = has_device ? s->start_ps : INT64_MIN,
                                    .device_duration_ps = has_device ? s->duration_ps : INT64_MIN};
}

static void extend_step(Merge *m, const EventAt *e, const StepStats *s)
{
    MergedStep *step = &m->steps[m->n - 1];
    step->duration_ps = until(step->start_ps, add_saturated(e->start_ps, e->duration_ps));
    if (s->has_idle) m->idle_ps = add_saturated(m->idle_ps, s->idle_ps);
    step->idle_ps = m->idle_ps;
    if (!s->has_start || !s->has_duration || step->device_start_ps == INT64_MIN) return;
    int64_t end = add_saturated(step->device_start_ps, step->device_duration_ps), other_end = add_saturated(s->start_ps, s->duration_ps);
    if (s->start_ps < step->device_start_ps) step->device_start_ps = s->start_ps;
    step->device_duration_ps = until(step->device_start_ps, other_end > end ? other_end : end);
}

bool tpu_merge_steps(const ForestLine *line, LineGroups *out, Arena *arena, ProfErr *err)
{
    if (!line->group) return true; /* none is grouped: XProf leaves them all */
    Merge m = {.steps = arena_alloc(arena, line->n * sizeof *m.steps)};
    if (!m.steps) return prof_nomem(err), false;
    static const enum KnownStat wanted[] = {STAT_STEP_IDLE_PS, STAT_DEVICE_OFFSET_PS, STAT_DEVICE_DURATION_PS};
    StatFilter filter;
    EventReader reader;
    EventAt e;
    stat_filter_open(&filter, line->line->plane, wanted, COUNT(wanted), err);
    event_reader_open(&reader, line->line, EVENT_STATS, err);
    for (Node i = line->first; event_reader_next(&reader, &e); i++) {
        StepStats s = step_stats(&filter, &e);
        int64_t group = node_group(line, i);
        if (m.open && m.steps[m.n - 1].group == group)
            extend_step(&m, &e, &s);
        else if (group >= 0)
            begin_step(&m, &e, group, &s);
        m.open = group >= 0;
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
    out->merged = true, out->steps = m.steps, out->n_steps = m.n;
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
            if (of[i] < 0 && line->n) of[i] = node_group(line, line->first + (Node)(c * CHUNK_EVENTS + i));
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
