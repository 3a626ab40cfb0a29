// SPDX-License-Identifier: Apache-2.0
/* empty.c: finds the reason for an empty table; see empty.h. */
#include "empty.h"

#include "../loader/analysis/memory/memory_profile.h"
#include "../loader/analysis/steps/steps.h"
#include "../loader/format/hlo.h"

#include <stdio.h>

static bool of_kind(const Host *host, enum PlaneKind kind)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].kind == kind && host->planes[i].n_events) return true;
    return false;
}

static bool host_has(Host *host, enum Need need, ProfErr *err)
{
    const HloProgramList *programs;
    const MemoryProfile *memory;
    if (need == NEED_PROGRAMS) return (programs = hlo_program_list(host, err)) && programs->n;
    if (host->reader->is_program) return false;
    switch (need) {
    case NEED_EVENTS: return host->n_events > 0;
    case NEED_HOST: return of_kind(host, PLANE_HOST);
    case NEED_GPU: return of_kind(host, PLANE_GPU);
    case NEED_TPU: return of_kind(host, PLANE_TENSORCORE);
    case NEED_DEVICE:
        return of_kind(host, PLANE_GPU) || of_kind(host, PLANE_TENSORCORE) ||
               of_kind(host, PLANE_SPARSECORE);
    case NEED_ALLOCATIONS: return (memory = host_memory_profile(host, err)) && memory->n_events;
    default: return false;
    }
}

static bool run_has_steps(Run *run, Host *only, ProfErr *err)
{
    const StepDb *steps = run_steps(run, only, err);
    if (steps && !steps->n_steps) steps = run_marked_steps(run, only, err);
    return steps && steps->n_steps;
}

static bool has(Run *run, Host *only, enum Need need, ProfErr *err)
{
    if (need == NEED_STEPS) return run_has_steps(run, only, err);
    EACH_HOST(host, run, only)
        if (host->readable && !err->code && host_has(host, need, err)) return true;
    return false;
}

static const struct {
    enum Need need;
    const char *reason;
} reasons[] = {
    {NEED_EVENTS, "the source has no events"},
    {NEED_HOST,
     "no host thread has an event (the profiler option host_tracer_level = 0 turns them off)"},
    {NEED_DEVICE, "no GPU, TensorCore or SparseCore has an event: the run used only the CPU, or "
                  "the profiler recorded no device (the table `session` has its errors)"},
    {NEED_GPU, "no GPU has an event"},
    {NEED_TPU, "no TensorCore of a TPU has an event"},
    {NEED_STEPS, "no step was found (see prof_issues, code no_steps, for what marks a step)"},
    {NEED_PROGRAMS, "the source has no HLO program: XLA compiled none, or the profiler option "
                    "enable_hlo_proto was off"},
    {NEED_ALLOCATIONS, "no allocator reported an allocation (events MemoryAllocation and "
                       "MemoryDeallocation; host_tracer_level = 2 records them)"},
};

static const char *reason_of(const Empty *empty, Run *run, Host *only, ProfErr *err)
{
    if (empty->needs & ~(unsigned)NEED_PROGRAMS && run->n_hosts && run->hosts[0].reader->is_program)
        return "the source is an HLO program, which has no events; give a profile (*.xplane.pb)";
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (empty->needs & reasons[i].need && !has(run, only, reasons[i].need, err))
            return reasons[i].reason;
    return empty->nothing;
}

bool empty_record(const Empty *empty, Run *run, Host *only, ProfErr *err)
{
    Host *host = only;
    for (size_t h = 0; h < run->n_hosts && !host; h++)
        if (run->hosts[h].readable) host = &run->hosts[h];
    const char *reason = host ? reason_of(empty, run, only, err) : NULL;
    if (err->code || !reason) return !err->code;
    bool is_damaged = run_has_losses(run, only), of_events = empty->needs & NEED_EVENTS;
    if (is_damaged && of_events && !host->reader->is_program && !has(run, only, NEED_EVENTS, err))
        prof_fail(err, PROF_FORMAT, 0,
                  "%s: damaged or cut off, and what is left has no events, so %s would have no "
                  "rows; SELECT * FROM prof_issues('%s') lists the losses. Copy the file again, or "
                  "record again",
                  run->path, empty->name, run->path);
    if (err->code) return false;
    char message[600];
    snprintf(message, sizeof message, "%s has no rows: %s%s", empty->name, reason,
             is_damaged ? "; it may have been in the parts that are damaged or cut off" : "");
    unsigned lost = run->n_issues_lost;
    host_remark(host, "info", "nothing_to_show", empty->name, message);
    return !run_issue_lost_since(run, lost, err);
}
