// SPDX-License-Identifier: Apache-2.0
/* step_tpu_lines.c: reads the lines of TensorCores for their steps: ops by group, and markers; see
 * step_tpu.h. */
#include "step_tpu.h"

#include "../../base/nest.h"
#include "../../store/chunks.h"

const CoreGroup *core_group(const Core *core, uint32_t group)
{
    int64_t i = id_find(&core->group_ids, core->groups, sizeof *core->groups, group);
    return i < 0 ? NULL : &core->groups[i];
}

/* Returns a group of a core, adding it if necessary. NULL if memory runs out. Valid until the next
 * one is added. */
static CoreGroup *group_of_core(Core *core, uint32_t group)
{
    if (core->latest < core->n_groups && core->groups[core->latest].group == group)
        return &core->groups[core->latest];
    int64_t i = id_find(&core->group_ids, core->groups, sizeof *core->groups, group);
    if (i < 0) {
        if (!GROW(core->groups, core->n_groups, core->group_capacity)) return NULL;
        core->groups[core->n_groups] = (CoreGroup){.group = group};
        if (!id_add(&core->group_ids, core->groups, sizeof *core->groups, core->n_groups))
            return NULL;
        i = (int64_t)core->n_groups++;
    }
    core->latest = (size_t)i;
    return &core->groups[i];
}

/* ---- reading lines ---- */

/* Ends the current run; its records are complete. */
static bool end_run(CoreLine *l)
{
    if (!l->n_runs) return true;
    GroupRun *run = &l->runs[l->n_runs - 1];
    if (!(run->records = arena_buffer(&l->arena, l->n_in_hand * sizeof *run->records)))
        return false;
    memcpy(run->records, l->in_hand, l->n_in_hand * sizeof *run->records);
    run->n = (uint32_t)l->n_in_hand;
    l->n_in_hand = 0;
    return true;
}

static bool begin_run(CoreLine *l, uint32_t group)
{
    if (!end_run(l) || l->n_runs == UINT32_MAX - 1 || !GROW(l->runs, l->n_runs, l->run_capacity))
        return false;
    l->runs[l->n_runs++] = (GroupRun){.group = group};
    return true;
}

static Record *record_at(const CoreLine *l, RecordAt at)
{
    return at.run == l->n_runs ? &l->in_hand[at.at] : &l->runs[at.run - 1].records[at.at];
}

/* Finds the record of a metadata in the current run. False if memory runs out. */
static bool find_record(CoreLine *l, uint32_t meta, uint32_t group, RecordAt *at)
{
    if ((!l->n_runs || l->runs[l->n_runs - 1].group != group) && !begin_run(l, group)) return false;
    if (l->last[meta].run != l->n_runs) {
        if (l->n_in_hand == UINT32_MAX - 1 || !GROW(l->in_hand, l->n_in_hand, l->in_hand_capacity))
            return false;
        l->last[meta] = (RecordAt){(uint32_t)l->n_runs, (uint32_t)l->n_in_hand};
        l->in_hand[l->n_in_hand++] = (Record){.meta = meta};
    }
    *at = l->last[meta];
    return true;
}

/* Returns an event in device time. Nearly always the columns are sufficient. */
static PsSpan device_span(const Core *core, const EventAt *e, bool *names_all_reduce)
{
    Stat offset = event_stat(e, STAT_COLUMN_DEVICE_OFFSET),
         duration = event_stat(e, STAT_COLUMN_DEVICE_DURATION);
    if (event_has_stats(e) || !offset.type || !duration.type) {
        OpFacts f = op_facts(&core->filter, e);
        *names_all_reduce = f.names_all_reduce;
        return f.device;
    }
    uint64_t begin = stat_int_or_uint(&offset);
    *names_all_reduce = false;
    return (PsSpan){begin, begin + stat_int_or_uint(&duration)};
}

static bool record_event(CoreLine *l, const EventAt *e, uint32_t group, bool marked)
{
    bool names_all_reduce;
    PsSpan span = device_span(l->core, e, &names_all_reduce);
    uint64_t time = span.end - span.begin;
    RecordAt at = {0};
    CoreGroup *of = group_of_core(l->core, group);
    if (!of) return false;
    of->has_events = true;
    if (names_all_reduce) of->all_reduce_ps += time;
    OpenEvent *around = NEST_AROUND(l->open, span.begin, span.end, span.begin, span.end, 0),
              *opened;
    if (around && around->record.run) record_at(l, around->record)->self_ps -= time;
    if (marked) {
        if (!find_record(l, (uint32_t)(e->meta - l->core->plane->event_metas), group, &at))
            return false;
        Record *r = record_at(l, at);
        if (!r->occurrences)
            r->time_ps = r->self_ps =
                0; /* as in all op metrics, an op whose uint32 of occurrences is 0 starts again */
        r->occurrences += e->occurrences > 1 ? (uint32_t)e->occurrences : 1;
        r->time_ps += time, r->self_ps += time;
    }
    if ((opened = PUSH(l->open))) *opened = (OpenEvent){span, at};
    return opened != NULL;
}

typedef struct {
    const Tpu *tpu;
    CoreLine *line;
    const LineGroups *groups;
    uint32_t last;
} LineRead;

static LineRead line_read(const Tpu *t, CoreLine *l)
{
    return (LineRead){t, l, line_groups(t->build->grouping, l->line), NO_GROUP};
}

/* Returns the group of an event. In a file that contains groups, XProf reads that of a step as a
 * signed number. */
static uint32_t group_of(LineRead *r, uint64_t nth)
{
    const GroupList *groups = &r->tpu->build->groups;
    if (r->line->is_steps && !r->tpu->sorted)
        return group_number(groups, line_signed_file_group(r->line->line, nth), &r->last);
    return group_number(groups, nth_group(r->groups, nth), &r->last);
}

static bool add_marker(CoreLine *l, LineMarker marker)
{
    if (!GROW(l->markers, l->n_markers, l->marker_capacity)) return false;
    l->markers[l->n_markers++] = marker;
    return true;
}

static bool add_step(void *context, const EventAt *e, ProfErr *err)
{
    LineRead *r = context;
    CoreLine *l = r->line;
    uint32_t group = group_of(r, e->event - l->line->first_event);
    if (group == NO_GROUP) return true;
    OpFacts f = op_facts(&l->core->filter, e);
    return add_marker(l, (LineMarker){.group = group,
                                      .begin_ps = f.device.begin,
                                      .duration_ps = f.device.end - f.device.begin}) ||
           (prof_nomem(err), false);
}

static void read_steps(void *context, size_t i, ProfErr *err)
{
    Tpu *t = context;
    CoreLine *l = t->step_lines[i];
    LineRead read = line_read(t, l);
    if (!read.groups->merged) {
        each_event(l->line, &l->core->filter, false, add_step, &read, err);
        return;
    }
    for (size_t k = 0; k < read.groups->n_steps && !err->code; k++) {
        const MergedStep *step = &read.groups->steps[k];
        bool device = step->device_start_ps != INT64_MIN && step->device_duration_ps != INT64_MIN;
        uint32_t group = group_number(&t->build->groups, step->group, &read.last);
        LineMarker marker = {
            .group = group,
            .begin_ps = (uint64_t)(device ? step->device_start_ps : step->start_ps),
            .duration_ps = (uint64_t)(device ? step->device_duration_ps : step->duration_ps)};
        if (group != NO_GROUP && !add_marker(l, marker)) prof_nomem(err);
    }
}

static bool add_op(void *context, const EventAt *e, ProfErr *err)
{
    LineRead *r = context;
    CoreLine *l = r->line;
    uint32_t group = group_of(r, e->event - l->line->first_event);
    l->core->used[e->meta - l->core->plane->event_metas] = true;
    if (group == NO_GROUP) return true;
    return record_event(l, e, group, r->tpu->marked[group]) || (prof_nomem(err), false);
}

/* Records which ops and groups there are, if no core has a step: nothing else is needed then. */
static void note_ops(LineRead *read, ProfErr *err)
{
    CoreLine *l = read->line;
    ChunkValues *v = prof_buffer(sizeof *v);
    Window window = {.file = &l->line->plane->host->file};
    uint64_t nth = 0;
    if (!v) prof_nomem(err);
    for (size_t c = 0; c < l->line->n_chunks && !err->code; c++) {
        const Chunk *chunk = &l->line->chunks[c];
        if (chunk_read(l->line, chunk, CHUNK_METAS, v, &window, err)) break;
        for (uint32_t i = 0; i < chunk->n_events; i++, nth++) {
            uint32_t group = group_of(read, nth);
            l->core->used[chunk_meta(v, i)] = true;
            CoreGroup *of = group == NO_GROUP ? NULL : group_of_core(l->core, group);
            if (of) of->has_events = true;
            if (!of && group != NO_GROUP) {
                prof_nomem(err);
                break;
            }
        }
    }
    window_free(&window);
    prof_free(v);
}

static void read_ops_line(void *context, size_t i, ProfErr *err)
{
    Tpu *t = context;
    CoreLine *l = t->op_lines[i];
    LineRead read = line_read(t, l);
    if (!t->any_marked) {
        note_ops(&read, err);
        return;
    }
    if (!(l->last = prof_alloc(l->core->plane->n_event_metas * sizeof *l->last))) prof_nomem(err);
    if (!err->code) each_event(l->line, &l->core->filter, t->sorted, add_op, &read, err);
    if (!err->code && !end_run(l)) prof_nomem(err);
    for (size_t k = l->n_runs; k-- > 0;) {
        CoreGroup *of = group_of_core(l->core, l->runs[k].group); /* which exists */
        l->runs[k].next = of->first_run;
        of->first_run = (uint32_t)k + 1;
    }
    void *owned[] = {l->last, l->open.items, l->in_hand};
    for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
    l->last = NULL, l->open.items = NULL, l->in_hand = NULL;
}

/* ---- cores ---- */

static bool open_core(Core *core, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_DEVICE_OFFSET_PS, STAT_DEVICE_DURATION_PS,
                                            /* the stats that op_facts() reads */
                                            STAT_ALL_REDUCE_ID};
    core->plane = plane;
    core->used = prof_alloc(plane->n_event_metas);
    if (!core->used) {
        prof_nomem(err);
        return false;
    }
    return !stat_filter_open(&core->filter, plane, wanted, COUNT(wanted), err);
}

int tpu_find_lines(Tpu *t, ProfErr *err)
{
    Host *host = t->build->host;
    t->cores = prof_alloc(host->n_planes * sizeof *t->cores),
    t->lines = prof_alloc(host->n_lines * sizeof *t->lines);
    t->step_lines = prof_alloc(host->n_lines * sizeof *t->step_lines),
    t->op_lines = prof_alloc(host->n_lines * sizeof *t->op_lines);
    if (!t->cores || !t->lines || !t->step_lines || !t->op_lines) return prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (!is_numbered_core(plane)) continue;
        Core *core = &t->cores[t->n_cores++];
        if (!open_core(core, plane, err)) break;
        Line *steps = NULL, *ops = NULL; /* of several lines of a kind, XProf uses the last */
        for (size_t k = plane->first_line; k < plane->first_line + plane->n_lines; k++) {
            if (host->lines[k].named == NAME_STEPS) steps = &host->lines[k];
            if (is_op_line(&host->lines[k]) && !host->lines[k].derived)
                ops = &host->lines[k], core->n_op_lines++;
        }
        if (steps)
            t->lines[t->n_lines] = (CoreLine){.core = core, .line = steps, .is_steps = true},
            t->step_lines[t->n_step_lines++] = &t->lines[t->n_lines++];
        if (ops)
            t->lines[t->n_lines] = (CoreLine){.core = core, .line = ops},
            core->ops = t->op_lines[t->n_op_lines++] = &t->lines[t->n_lines++];
    }
    return err->code;
}

/* Keeps the longest markers of each core. */
static int join_markers(Tpu *t, ProfErr *err)
{
    for (size_t i = 0; i < t->n_step_lines; i++) {
        const CoreLine *l = t->step_lines[i];
        for (size_t k = 0; k < l->n_markers; k++) {
            CoreGroup *of = group_of_core(l->core, l->markers[k].group);
            if (!of) return prof_nomem(err);
            marker_add(&of->marker, l->markers[k].begin_ps, l->markers[k].duration_ps);
            t->marked[l->markers[k].group] = t->any_marked = true;
        }
    }
    return PROF_OK;
}

int tpu_read_lines(Tpu *t, ProfErr *err)
{
    size_t n_workers = t->build->host->run->n_workers;
    if (parallel_for(n_workers, t->n_step_lines, read_steps, t, err)) return err->code;
    if (join_markers(t, err)) return err->code;
    if (parallel_for(n_workers, t->n_op_lines, read_ops_line, t, err)) return err->code;
    for (size_t c = 0; c < t->n_cores; c++)
        for (size_t k = 0; k < t->cores[c].n_groups; k++) {
            const CoreGroup *of = &t->cores[c].groups[k];
            GroupFacts *f = &t->build->facts[of->group];
            f->has_events |= of->has_events;
            marker_add(&f->device, of->marker.begin_ps,
                       of->marker.there ? of->marker.duration_ps : 0);
            f->marked |= of->marker.there;
        }
    return PROF_OK;
}
