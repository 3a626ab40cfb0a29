// SPDX-License-Identifier: Apache-2.0
/* step_tpu_times.c: what TensorCores did while steps lasted; see step_parts.h.
 *
 * XProf adds an op to the step that it belongs to, as long as it is: one that lasts across the end of a step makes that step longer than it is, and
 * leaves the next one idle. These are times on the clock: the pieces of a core's work (device_work.h) inside the step's interval. */
#include "../parallel.h"
#include "device_work.h"
#include "instruction_text.h"
#include "step_parts.h"

typedef struct {
    HostSteps *steps;
    const Plane *plane;
    Marker *markers; /* of its n cores */
    uint64_t *ps;    /* N_STEP_TYPES each */
    size_t n;
} CoreTimes;

typedef struct {
    const Plane *plane;
    uint8_t *types; /* enum StepType by metadata */
    SpanRef *spans;
    size_t n, capacity;
} Pieces;

/* A transfer brings input, takes output away, or moves what the device has. */
static enum StepType transfer_type(const EventMeta *meta)
{
    const Text *category = event_meta_text(meta, STAT_HLO_CATEGORY);
    Slice opcode = instruction_opcode(slice_of(meta->name));
    const Slice words[] = {slice_of(category ? category : empty_text), opcode.n ? opcode : event_op_name(meta)};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (slice_contains(words[i], "infeed") || slice_starts(words[i], "host recv") || slice_starts(words[i], "recv")) return TIME_HOST_TO_DEVICE;
        if (slice_contains(words[i], "outfeed") || slice_starts(words[i], "host send") || slice_starts(words[i], "send")) return TIME_DEVICE_TO_HOST;
    }
    return TIME_DEVICE_TO_DEVICE;
}

static bool take_piece(void *context, const WorkPiece *piece)
{
    Pieces *p = context;
    uint32_t type = p->types[piece->meta - p->plane->event_metas];
    SpanRef *last = p->n ? &p->spans[p->n - 1] : NULL;
    int64_t duration;
    if (__builtin_sub_overflow(piece->end, piece->start, &duration)) duration = INT64_MAX;
    if (last && span_actual_type(last) == type && add_saturated(last->start_ps, last->duration_ps) == piece->start &&
        !__builtin_add_overflow(last->duration_ps, duration, &last->duration_ps))
        return true;
    if (!GROW(p->spans, p->n, p->capacity)) return false;
    p->spans[p->n++] = (SpanRef){piece->start, duration, 0, type << SPAN_ACTUAL_SHIFT};
    return true;
}

static void measure_core(void *context, size_t i, ProfErr *err)
{
    CoreTimes *core = &((CoreTimes *)context)[i];
    Pieces p = {.plane = core->plane, .types = plane_work_kinds((Plane *)core->plane, err)};
    WorkRange range;
    for (size_t m = 0; p.types && m < core->plane->n_event_metas; m++) {
        enum WorkKind kind = p.types[m];
        p.types[m] = kind == WORK_COMPUTE ? TIME_COMPUTE_32 : kind == WORK_COLLECTIVE ? TIME_COLLECTIVES : transfer_type(&core->plane->event_metas[m]);
    }
    if (p.types && device_work_walk(core->plane, take_piece, &p, &range, err)) step_sweep_by_time(p.spans, p.n, core->markers, core->n, core->ps, err);
    prof_free(p.types);
    prof_free(p.spans);
}

typedef void CoreVisitor(CoreTimes *times, StepCore *core);

static void each_core(CoreTimes *times, CoreVisitor *visit)
{
    for (size_t i = 0; i < times->steps->n_steps; i++)
        for (size_t c = 0; c < times->steps->steps[i].n_cores; c++)
            if (times->steps->steps[i].cores[c].plane == times->plane) visit(times, &times->steps->steps[i].cores[c]);
}

static void count_core(CoreTimes *times, StepCore *core)
{
    (void)core;
    times->n++;
}

static void mark_core(CoreTimes *times, StepCore *core) { times->markers[times->n++] = (Marker){core->begin_ps, core->duration_ps, true}; }

/* Idle time in which the host says that it waits for input is input here as well. */
static void keep_times(CoreTimes *times, StepCore *core)
{
    uint64_t *ps = times->ps + N_STEP_TYPES * times->n++, input = core->input_ps < ps[TIME_UNKNOWN] ? core->input_ps : ps[TIME_UNKNOWN];
    ps[TIME_UNKNOWN] -= input, ps[TIME_WAIT_INPUT] += input;
    core->actual_ps = ps;
}

int tensorcore_times(StepBuild *b, ProfErr *err)
{
    Host *host = b->host;
    CoreTimes *cores = prof_alloc(host->n_planes * sizeof *cores);
    size_t n = 0;
    if (!cores) return prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        CoreTimes *core = &cores[n];
        *core = (CoreTimes){.steps = b->steps, .plane = &host->planes[i]};
        if (host->planes[i].kind != PLANE_TENSORCORE) continue;
        each_core(core, count_core);
        if (!core->n) continue;
        core->markers = prof_alloc(core->n * sizeof *core->markers), core->ps = arena_alloc(&b->steps->arena, core->n * N_STEP_TYPES * sizeof *core->ps);
        if (!core->markers || !core->ps) prof_nomem(err);
        core->n = 0, n++;
        if (!err->code) each_core(core, mark_core);
    }
    if (!err->code) parallel_for(host->run->n_workers, n, measure_core, cores, err);
    for (size_t i = 0; i < n; i++) {
        cores[i].n = 0;
        if (!err->code) each_core(&cores[i], keep_times);
        prof_free(cores[i].markers);
    }
    prof_free(cores);
    return err->code;
}
