// SPDX-License-Identifier: Apache-2.0
/* step_marked.c: finds steps that frameworks mark in a way by which XProf does not group: Keras 3,
 * whose callback writes events `Profiled batch` without the stat that opens a group; see
 * step_parts.h.
 *
 * These steps are always listed. If XProf finds no steps on the host, their times by type are
 * computed too: no stat links events to them, so everything that a thread or GPU did during a step
 * belongs to it. Types and their priorities are those of the actual times of other steps. Python's
 * frames
 * (`$file:line function`) do not count, because they show where a thread was, not that it worked.
 */
#include "step_parts.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"

bool is_foreign_step(Slice name) { return slice_starts(name, "Profiled batch"); }

typedef struct {
    const Text *name;
    int64_t begin_ps, duration_ps;
    int64_t number; /* the framework's number; -1 if there is none */
} Mark;

typedef struct {
    Mark *marks;
    size_t n, capacity;
} Marks;

ORDER_BY_TWO(by_begin, Mark, begin_ps, number)

/* Returns the number in the stat step_num, else the digits at the end of the name. */
static int64_t mark_number(const StatFilter *filter, const EventAt *e)
{
    Slice name = slice_of(e->meta->name);
    StatIter stats = stat_iter_of_event(e);
    Stat stat;
    unsigned known;
    int64_t number = -1;
    if (stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        number = stat_int(&stat);
    } else {
        size_t digits = 0;
        while (digits < name.n && name.text[name.n - digits - 1] >= '0' &&
               name.text[name.n - digits - 1] <= '9')
            digits++;
        if (!digits || !slice_integer((Slice){name.text + name.n - digits, digits}, &number))
            number = -1;
    }
    return number >= 0 && number < UINT32_MAX ? number : -1;
}

static int read_marks(StepBuild *b, Plane *plane, const StatFilter *filter, Marks *out,
                      ProfErr *err)
{
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        EventReader reader;
        EventAt e;
        event_reader_open_for(&reader, &b->host->lines[plane->first_line + i], &filter->wanted,
                              err);
        while (event_reader_next(&reader, &e)) {
            if (!is_foreign_step(slice_of(e.meta->name))) continue;
            if (!GROW(out->marks, out->n, out->capacity)) {
                prof_nomem(err);
                break;
            }
            int64_t end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0);
            out->marks[out->n++] =
                (Mark){e.meta->name, e.start_ps, (int64_t)((uint64_t)end_ps - (uint64_t)e.start_ps),
                       mark_number(filter, &e)};
        }
        event_reader_close(&reader);
    }
    sort_array(out->marks, out->n, sizeof *out->marks, by_begin);
    return err->code;
}

/* Returns whether the marks are numbered. Numbers that do not increase are ignored: steps are then
 * counted from 0. */
static bool has_numbers(const Marks *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->marks[i].number < 0 || (i && m->marks[i].number <= m->marks[i - 1].number))
            return false;
    return true;
}

static int list_marks(StepBuild *b, const Marks *m, ProfErr *err)
{
    HostSteps *s = b->steps;
    bool numbered = has_numbers(m);
    for (size_t i = 0; i < m->n; i++) {
        if (!GROW(s->steps, s->n_steps, s->step_capacity)) return prof_nomem(err);
        s->steps[s->n_steps++] =
            (HostStep){.group = -1,
                       .name = m->marks[i].name->text,
                       .number = numbered ? (uint32_t)m->marks[i].number : (uint32_t)i,
                       .begin_ps = (uint64_t)m->marks[i].begin_ps,
                       .duration_ps = (uint64_t)m->marks[i].duration_ps,
                       .range_begin_ps = (uint64_t)m->marks[i].begin_ps,
                       .range_ps = (uint64_t)m->marks[i].duration_ps,
                       .has_range = true,
                       .dropped = STEP_OUTSIDE_XPROF};
    }
    return err->code;
}

/* ---- times during these steps ---- */

static int add_to_covers(const LineSpans *line, Cover *covers, ProfErr *err)
{
    for (size_t i = 0; i < line->n && !interrupt_poll(1, err); i++) {
        const SpanRef *s = &line->spans[i];
        if (!cover_add(&covers[span_actual_type(s)], s->start_ps,
                       add_saturated(s->start_ps, s->duration_ps)))
            return prof_nomem(err);
    }
    return err->code;
}

static int read_covers(StepBuild *b, Plane *threads, Cover *covers, ProfErr *err)
{
    size_t n_lines = b->host->n_lines;
    LineSpans *lines = prof_alloc(n_lines * sizeof *lines);
    if (!lines) return prof_nomem(err);
    read_gpu_planes(b, lines, err);
    if (!err->code)
        read_host_plane(b, threads, b->steps->has_device, lines + threads->first_line, err);
    for (size_t i = 0; i < n_lines; i++) {
        if (!err->code) add_to_covers(&lines[i], covers, err);
        line_spans_free(&lines[i]);
    }
    prof_free(lines);
    return err->code;
}

static int add_cores(StepBuild *b, HostStep *steps, size_t n, const uint64_t *type_ps, ProfErr *err)
{
    for (size_t i = 0; i < n; i++) {
        HostStep *step = &steps[i];
        uint64_t *ps = arena_alloc(&b->steps->arena, N_STEP_TYPES * sizeof *ps);
        StepCore *core = ps ? arena_alloc(&b->steps->arena, sizeof *core) : NULL;
        if (!core) return prof_nomem(err);
        if (!step->duration_ps) continue;
        memcpy(ps, type_ps + i * N_STEP_TYPES, N_STEP_TYPES * sizeof *ps);
        *core = (StepCore){.core_id = 1,
                           .kind = STEP_CORE_GENERIC,
                           .host = b->host,
                           .begin_ps = step->begin_ps,
                           .duration_ps = step->duration_ps,
                           .actual_ps = ps,
                           .has_threads = true};
        step->cores = core, step->n_cores = 1;
    }
    return PROF_OK;
}

/* Adds the times of a step that are in no cover. */
static int add_unknown(StepBuild *b, HostStep *step, const Cover *known, ProfErr *err)
{
    Cover unknown = {0};
    int64_t at = (int64_t)step->begin_ps, end = add_saturated(at, (int64_t)step->duration_ps);
    size_t i = LOWER_BOUND(k, 0, known->n, known->items[k].end <= at);
    bool fits = true;
    for (; i < known->n && known->items[i].start < end && fits; i++) {
        fits = cover_add(&unknown, at, known->items[i].start);
        at = known->items[i].end;
    }
    if (!fits || !cover_add(&unknown, at, end) || !keep_unknown(b, step, &unknown)) prof_nomem(err);
    cover_free(&unknown);
    return interrupt_poll(unknown.n, err);
}

/* Finds the times of the steps that are in none of the covers. */
static int fill_unknown(StepBuild *b, HostStep *steps, size_t n, const Cover *covers, ProfErr *err)
{
    Cover known = {0};
    for (int t = 0; t < N_STEP_TYPES; t++)
        for (size_t i = 0; i < covers[t].n && !interrupt_poll(1, err); i++)
            if (!cover_add(&known, covers[t].items[i].start, covers[t].items[i].end))
                prof_nomem(err);
    cover_finish(&known);
    for (size_t i = 0; i < n && !err->code; i++) add_unknown(b, &steps[i], &known, err);
    cover_free(&known);
    return err->code;
}

static int fill_times(StepBuild *b, Plane *threads, HostStep *steps, size_t n, ProfErr *err)
{
    Cover covers[N_STEP_TYPES] = {0};
    Marker *markers = prof_alloc(n * sizeof *markers);
    uint64_t *type_ps = prof_alloc(n * N_STEP_TYPES * sizeof *type_ps);
    if (!markers || !type_ps) prof_nomem(err);
    for (size_t i = 0; i < n && !err->code; i++)
        markers[i] = (Marker){steps[i].begin_ps, steps[i].duration_ps, true};
    b->by_time = true;
    if (!err->code && !read_covers(b, threads, covers, err) &&
        !step_sweep_by_time(covers, markers, n, type_ps, err))
        add_cores(b, steps, n, type_ps, err);
    if (b->keeps_unknown && !err->code) fill_unknown(b, steps, n, covers, err);
    for (int t = 0; t < N_STEP_TYPES; t++) cover_free(&covers[t]);
    prof_free(markers);
    prof_free(type_ps);
    return err->code;
}

int marked_steps(StepBuild *b, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_STEP_NUM};
    Plane *threads = host_find_plane(b->host, PREFIX_HOST_THREADS);
    bool any = false, known = b->steps->is_tpu;
    for (size_t k = 0; threads && k < threads->n_event_metas && !any; k++)
        any = is_foreign_step(slice_of(threads->event_metas[k].name));
    if (!any) return err->code;
    Marks marks = {0};
    StatFilter filter;
    size_t first = b->steps->n_steps;
    for (size_t i = 0; i < first; i++) known |= b->steps->steps[i].dropped == STEP_KEPT;
    if (!stat_filter_open(&filter, threads, wanted, COUNT(wanted), err) &&
        !read_marks(b, threads, &filter, &marks, err) && !list_marks(b, &marks, err) && !known &&
        marks.n)
        fill_times(b, threads, b->steps->steps + first, marks.n, err);
    stat_filter_close(&filter);
    prof_free(marks.marks);
    return err->code;
}
