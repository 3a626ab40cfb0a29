// SPDX-License-Identifier: Apache-2.0
/* program_kernels_recorded.c: finds executions of programs from what the host recorded; see
 * program_kernels.h.
 *
 * XLA records an event on the host while it launches the kernels of an execution. A kernel belongs
 * to the event that contains its launch. */
#include "../../base/interrupt.h"
#include "launches.h"
#include "program_kernels.h"

/* An execution, and the kernel that it starts with. */
typedef struct {
    const ProgramKernel *first;
    size_t run;
} Recorded;

static bool has_executions(const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++) {
        const Plane *plane = &host->planes[i];
        for (size_t k = 0; plane->kind == PLANE_HOST && k < plane->n_event_metas; k++)
            if (executed_module(&plane->event_metas[k]).n) return true;
    }
    return false;
}

/* Returns the event of the execution that launched a kernel, and one more; 0 if it is unknown. */
static uint64_t execution_of(const ProgramKernel *kernel, const Launches *all,
                             const LaunchContexts *contexts)
{
    const Launch *launch = kernel->has_launch ? launch_of(all, kernel->launch) : NULL;
    if (!launch) return 0;
    const LaunchContext *execution = &contexts[launch - all->launches].execution;
    if (!execution->meta) return 0;
    Slice module = executed_module(execution->meta);
    bool agrees = !kernel->module || (kernel->module->n_bytes == module.n &&
                                      !memcmp(kernel->module->text, module.text, module.n));
    return agrees ? execution->event + 1 : 0;
}

static void find_executions(PlaneRuns *p, ProfErr *err)
{
    Host *host = p->plane->host;
    if (!p->kernels.n || !has_executions(host)) return;
    const Launches *all = host_launches(host, err);
    const LaunchContexts *contexts = all ? host_launch_contexts(host, err) : NULL;
    for (size_t i = 0; contexts && i < p->kernels.n && !interrupt_poll(1, err); i++)
        p->kernels.items[i].execution = execution_of(&p->kernels.items[i], all, contexts);
}

/* The executions of one GPU that its kernels have reached. */
typedef struct {
    HashTable by_event;
    LIST(Recorded) all;
} Reached;

static uint64_t execution_hash(const ProgramKernel *kernel)
{
    return hash64(kernel->execution ^ hash64(kernel->program_id));
}

/* Returns the execution of a kernel, added if this is its first. */
static ProgramRun *recorded_run(PlaneRuns *p, Reached *reached, const ProgramKernel *kernel,
                                ProfErr *err)
{
    uint64_t hash = execution_hash(kernel);
    HASH_EACH(i, &reached->by_event, hash) {
        const Recorded *at = &reached->all.items[i];
        if (at->first->execution == kernel->execution && same_program(at->first, kernel))
            return &p->runs.items[at->run];
    }
    ProgramRun *run = program_run_of(p, kernel, err);
    Recorded *place = run ? PUSH_KEYED(reached->all, &reached->by_event, hash) : NULL;
    if (place)
        *place = (Recorded){kernel, p->runs.n - 1};
    else
        prof_nomem(err);
    return place ? run : NULL;
}

void add_recorded_runs(PlaneRuns *p, ProfErr *err)
{
    Reached reached = {0};
    find_executions(p, err);
    for (size_t i = 0; i < p->kernels.n && !interrupt_poll(1, err); i++) {
        const ProgramKernel *kernel = &p->kernels.items[i];
        ProgramRun *run = kernel->execution ? recorded_run(p, &reached, kernel, err) : NULL;
        if (run) program_run_extend(run, kernel);
    }
    hash_free(&reached.by_event);
    prof_free(reached.all.items);
}
