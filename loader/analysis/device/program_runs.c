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

static void plane_task(void *context, size_t i, ProfErr *err)
{
    PlaneRuns *p = &((PlaneRuns *)context)[i];
    if (p->plane->kind == PLANE_GPU) {
        read_program_kernels(p->plane, &p->kernels, err);
        return;
    }
    for (size_t k = 0; k < p->plane->n_lines && !err->code; k++) {
        Line *line = &p->plane->host->lines[p->plane->first_line + k];
        if (is_module_line(line) && !line->derived) add_modules(p, line, err);
    }
}

ProgramRun *program_run_of(PlaneRuns *p, const ProgramKernel *first, ProfErr *err)
{
    ProgramRun *run = PUSH(p->runs);
    if (!run) {
        prof_nomem(err);
        return NULL;
    }
    *run = (ProgramRun){.plane = p->plane,
                        .has_program = first->has_program,
                        .program_id = first->program_id,
                        .module = first->module,
                        .start_ps = first->start_ps,
                        .end_ps = first->end_ps,
                        .first_event = first->event};
    return run;
}

void program_run_extend(ProgramRun *run, const ProgramKernel *kernel)
{
    run->n_kernels++;
    if (kernel->end_ps > run->end_ps) run->end_ps = kernel->end_ps;
    if (!run->module) run->module = kernel->module;
}

/* ---- the analysis ---- */

static int by_start_of_run(const void *a, const void *b)
{
    const ProgramRun *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, first_event);
}

static void add_plane(ProgramRuns *all, PlaneRuns *p, ProfErr *err)
{
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
