// SPDX-License-Identifier: Apache-2.0
/* program_runs.c: finds the executions of programs; see program_runs.h.
 *
 * TPUs record them. On a GPU they are found from the kernels; see program_kernels.h. */
#include "program_runs.h"

#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../format/hlo.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "devices.h"
#include "program_kernels.h"
#include "work_kind.h"

/* ---- TPUs ---- */

static void add_modules(PlaneRuns *p, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        ProgramRun *run = e.occurrences < 0 ? PUSH(p->runs) : NULL;
        if (e.occurrences >= 0) continue;
        if (!run) {
            prof_nomem(err);
            break;
        }
        *run =
            (ProgramRun){.plane = p->plane,
                         .start_ps = e.start_ps,
                         .end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0),
                         .first_event = e.event};
        run->has_program = hlo_program_id(e.meta->name, &run->program_id);
        run->module = e.meta->name;
    }
    event_reader_close(&reader);
}

/* ---- kernels of a GPU ---- */

static const Text *kept_text(Host *host, const Plane *plane, const Stat *stat, ProfErr *err)
{
    if (stat->type == TYPE_REF) return stat_ref_text(plane, stat->u64);
    if (stat->type != TYPE_STR) return NULL;
    return host_text(host, stat->bytes, stat->n_bytes, err);
}

/* Reads the stats of a kernel. The event's own stats come before those of its metadata. */
static void read_facts(ProgramKernel *kernel, Plane *plane, const StatFilter *filter,
                       const EventAt *e, ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    unsigned known;
    Stat stat;
    while (filter->any && stat_iter_next_wanted(&stats, filter, &known, &stat) && !err->code)
        if (known == STAT_PROGRAM_ID && !kernel->has_program && stat_is_integer(&stat))
            kernel->has_program = true, kernel->program_id = stat.u64;
        else if (known == STAT_HLO_MODULE && !kernel->module)
            kernel->module = kept_text(plane->host, plane, &stat, err);
        else if (known == STAT_HLO_OP && !kernel->op)
            kernel->op = kept_text(plane->host, plane, &stat, err);
        else if (known == STAT_CORRELATION_ID && stat_is_integer(&stat))
            kernel->launch = stat.u64, kernel->has_launch = true;
        else if (known == STAT_GRAPH_ID)
            kernel->in_graph = true;
    if (!e->meta->has_stats || event_meta_values(plane, e->meta, err)) return;
    for (uint16_t i = 0; i < e->meta->n_facts; i++) {
        const KnownValue *of = &e->meta->facts[i];
        bool is_text = of->fact.type == TYPE_STR;
        if (of->known == STAT_PROGRAM_ID && !kernel->has_program && !is_text)
            kernel->has_program = stat_value_integer(&of->fact, (int64_t *)&kernel->program_id);
        else if (of->known == STAT_HLO_MODULE && !kernel->module && is_text)
            kernel->module = of->fact.text;
        else if (of->known == STAT_HLO_OP && !kernel->op && is_text)
            kernel->op = of->fact.text;
    }
}

static void add_kernels(PlaneRuns *p, Line *line, const StatFilter *filter, const StatSet *wanted,
                        ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, wanted, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        ProgramKernel kernel = {
            .start_ps = e.start_ps,
            .end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0),
            .event = e.event,
            .meta = e.meta};
        if (e.occurrences >= 0) continue;
        read_facts(&kernel, p->plane, filter, &e, err);
        if (!kernel.has_program && !kernel.module) continue;
        ProgramKernel *place = PUSH(p->kernels);
        if (place)
            *place = kernel;
        else
            prof_nomem(err);
    }
    event_reader_close(&reader);
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    PlaneRuns *p = &((PlaneRuns *)context)[i];
    static const enum KnownStat wanted[] = {STAT_PROGRAM_ID, STAT_HLO_MODULE, STAT_HLO_OP,
                                            STAT_CORRELATION_ID, STAT_GRAPH_ID};
    StatFilter filter;
    StatSet set = {0};
    for (size_t k = 0; k < COUNT(wanted); k++) stat_set_add(&set, wanted[k]);
    stat_filter_open(&filter, p->plane, wanted, COUNT(wanted), err);
    for (size_t k = 0; k < p->plane->n_lines && !err->code; k++) {
        Line *line = &p->plane->host->lines[p->plane->first_line + k];
        if (p->plane->kind != PLANE_GPU && is_module_line(line) && !line->derived)
            add_modules(p, line, err);
        else if (p->plane->kind == PLANE_GPU && line_is_work(line))
            add_kernels(p, line, &filter, &set, err);
    }
    stat_filter_close(&filter);
}

bool same_text(const Text *a, const Text *b)
{
    return a == b || (a && b && a->n_bytes == b->n_bytes && !memcmp(a->text, b->text, a->n_bytes));
}

bool same_program(const ProgramKernel *a, const ProgramKernel *b)
{
    return a->has_program == b->has_program &&
           (a->has_program ? a->program_id == b->program_id : same_text(a->module, b->module));
}

ProgramRun *program_run_of(PlaneRuns *p, const ProgramKernel *first, ProfErr *err)
{
    ProgramRun *run = PUSH(p->runs);
    if (!run) {
        prof_nomem(err);
        return NULL;
    }
    *run = (ProgramRun){p->plane,        first->has_program, first->program_id, first->module,
                        first->start_ps, first->end_ps,      first->event};
    return run;
}

void program_run_extend(ProgramRun *run, const ProgramKernel *kernel)
{
    if (kernel->end_ps > run->end_ps) run->end_ps = kernel->end_ps;
    if (!run->module) run->module = kernel->module;
}

static int by_start(const void *a, const void *b)
{
    const ProgramKernel *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, event);
}

/* ---- the analysis ---- */

static int by_start_of_run(const void *a, const void *b)
{
    const ProgramRun *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, first_event);
}

static void add_plane(ProgramRuns *all, PlaneRuns *p, ProfErr *err)
{
    sort_array(p->kernels.items, p->kernels.n, sizeof *p->kernels.items, by_start);
    add_recorded_runs(p, err);
    if (!err->code) add_runs_by_time(p, err);
    sort_array(p->runs.items, p->runs.n, sizeof *p->runs.items, by_start_of_run);
    for (size_t i = 0; i < p->runs.n && !err->code; i++)
        if (GROW(all->runs, all->n, all->capacity))
            all->runs[all->n++] = p->runs.items[i];
        else
            prof_nomem(err);
}

static void add_host(ProgramRuns *all, Host *host, ProfErr *err)
{
    size_t n = 0;
    PlaneRuns *planes = prof_alloc(host->n_planes * sizeof *planes);
    if (!planes) prof_nomem(err);
    for (size_t i = 0; planes && i < host->n_planes; i++)
        if (plane_is_device(&host->planes[i])) planes[n++].plane = &host->planes[i];
    if (n && !err->code && !host_load_only(host, err))
        parallel_for(host->run->n_workers, n, plane_task, planes, err);
    for (size_t i = 0; i < n; i++) {
        if (!err->code) add_plane(all, &planes[i], err);
        prof_free(planes[i].kernels.items);
        prof_free(planes[i].runs.items);
    }
    prof_free(planes);
}

static void program_runs_release(void *result)
{
    ProgramRuns *all = result;
    prof_free(all->runs);
    prof_free(all);
}

static void *program_runs_make(Run *run, Host *only, ProfErr *err)
{
    ProgramRuns *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (!only || only == &run->hosts[h]) add_host(all, &run->hosts[h], err);
    if (err->code) program_runs_release(all), all = NULL;
    return all;
}

const ProgramRuns *run_program_runs(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {program_runs_make, program_runs_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
