// SPDX-License-Identifier: Apache-2.0
/* step_tpu_times.c: what TensorCores did during steps; see step_parts.h.
 *
 * XProf adds an op's entire duration to the step that it belongs to: an op that lasts across the
 * end of a step makes that step longer than it is, and leaves the next one idle. The times here are
 * cut at the step's borders: the pieces of a core's work (device_work.h) inside the step's
 * interval. */
#include "../../base/parallel.h"
#include "../device/device_work.h"
#include "../program/instruction_text.h"
#include "step_parts.h"

typedef struct {
    const Plane *plane;
    StepCore **cores; /* one for each of its steps */
    Marker *markers;
    uint64_t *ps; /* N_STEP_TYPES for each step */
    size_t n;
} CoreTimes;

typedef struct {
    const Plane *plane;
    uint8_t *types; /* enum StepType by event metadata */
    Cover covers[N_STEP_TYPES];
} Pieces;

/* Returns whether a transfer brings input, returns output, or moves data of the device. */
static enum StepType transfer_type(const EventMeta *meta)
{
    const Text *category = event_meta_text(meta, STAT_HLO_CATEGORY);
    Slice opcode = instruction_opcode(slice_of(meta->name));
    const Slice words[] = {slice_of(category ? category : empty_text),
                           opcode.n ? opcode : event_op_name(meta)};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (slice_contains(words[i], "infeed") || slice_starts(words[i], "host recv") ||
            slice_starts(words[i], "recv"))
            return TIME_HOST_TO_DEVICE;
        if (slice_contains(words[i], "outfeed") || slice_starts(words[i], "host send") ||
            slice_starts(words[i], "send"))
            return TIME_DEVICE_TO_HOST;
    }
    return TIME_DEVICE_TO_DEVICE;
}

static bool add_piece(void *context, const WorkPiece *piece)
{
    Pieces *p = context;
    return cover_add(&p->covers[p->types[piece->meta - p->plane->event_metas]], piece->start,
                     piece->end);
}

static void measure_core(void *context, size_t i, ProfErr *err)
{
    CoreTimes *core = &((CoreTimes *)context)[i];
    if (!core->n) return;
    Pieces p = {.plane = core->plane, .types = plane_work_kinds((Plane *)core->plane, err)};
    WorkRange range;
    for (size_t m = 0; p.types && m < core->plane->n_event_metas; m++) {
        switch (p.types[m]) {
        case WORK_COMPUTE: p.types[m] = TIME_COMPUTE_32; break;
        case WORK_COLLECTIVE: p.types[m] = TIME_COLLECTIVES; break;
        default: p.types[m] = transfer_type(&core->plane->event_metas[m]); break;
        }
    }
    if (p.types && device_work_walk(core->plane, add_piece, &p, &range, err))
        step_sweep_by_time(p.covers, core->markers, core->n, core->ps, err);
    prof_free(p.types);
    for (int t = 0; t < N_STEP_TYPES; t++) cover_free(&p.covers[t]);
}

/* Keeps the times. Idle time that XProf counts as waiting for input counts as input here as well.
 */
static void keep_times(CoreTimes *times)
{
    for (size_t i = 0; i < times->n; i++) {
        StepCore *core = times->cores[i];
        uint64_t *ps = times->ps + N_STEP_TYPES * i,
                 input = core->input_ps < ps[TIME_UNKNOWN] ? core->input_ps : ps[TIME_UNKNOWN];
        ps[TIME_UNKNOWN] -= input, ps[TIME_WAIT_INPUT] += input;
        core->actual_ps = ps;
    }
}

static bool room_for_cores(CoreTimes *times, Arena *arena)
{
    times->cores = prof_alloc(times->n * sizeof *times->cores),
    times->markers = prof_alloc(times->n * sizeof *times->markers);
    times->ps = arena_alloc(arena, times->n * N_STEP_TYPES * sizeof *times->ps);
    times->n = 0;
    return times->cores && times->markers && times->ps;
}

/* Visits the cores of all steps by plane. `at` has the index in `cores` + 1 for planes that are
 * TensorCores. */
static void visit_cores(const HostSteps *steps, const Plane *planes, const size_t *at,
                        CoreTimes *cores)
{
    for (size_t i = 0; i < steps->n_steps; i++)
        for (size_t c = 0; c < steps->steps[i].n_cores; c++) {
            StepCore *core = &steps->steps[i].cores[c];
            CoreTimes *times = core->plane && at[core->plane - planes]
                                   ? &cores[at[core->plane - planes] - 1]
                                   : NULL;
            if (times && times->cores)
                times->cores[times->n] = core,
                times->markers[times->n] = (Marker){core->begin_ps, core->duration_ps, true};
            if (times) times->n++;
        }
}

void tensorcore_times(StepBuild *b, ProfErr *err)
{
    Host *host = b->host;
    CoreTimes *cores = prof_alloc(host->n_planes * sizeof *cores);
    size_t *at = prof_alloc(host->n_planes * sizeof *at), n = 0;
    if (!cores || !at) prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++)
        if (host->planes[i].kind == PLANE_TENSORCORE)
            cores[n].plane = &host->planes[i], at[i] = ++n;
    if (!err->code) visit_cores(b->steps, host->planes, at, cores);
    for (size_t i = 0; i < n && !err->code; i++)
        if (!room_for_cores(&cores[i], &b->steps->arena)) prof_nomem(err);
    if (!err->code) visit_cores(b->steps, host->planes, at, cores);
    if (!err->code) parallel_for(host->run->n_workers, n, measure_core, cores, err);
    for (size_t i = 0; i < n; i++) {
        if (!err->code) keep_times(&cores[i]);
        prof_free(cores[i].cores);
        prof_free(cores[i].markers);
    }
    prof_free(cores);
    prof_free(at);
}
