// SPDX-License-Identifier: Apache-2.0
/* tpu_ops.c: op metrics of TensorCores.
 *
 * Ops nest on their line: an op's self time is its time minus that of the ops directly inside, in
 * device time if events have it. An op is identified by program_id and symbol_id of its metadata.
 * If these are missing it is left out, but its span still counts for the measured span. Its costs
 * (flops, bytes) are in its metadata, for one occurrence. A TPU plane with any other name counts as
 * a TensorCore here, although it has no number for grouping. */
#include "device_ops.h"
#include "duty_cycle.h"
#include "../../format/wire.h"
#include "../../store/event_values.h"
#include "../../store/lines.h"

enum Trait {
    TRAIT_KNOWN = 1,
    TRAIT_NAMED = 2,
    TRAIT_OFF_DUTY = 4,
    TRAIT_CUSTOM = 8,
    TRAIT_FLOPS = 16,
    TRAIT_MODEL_FLOPS = 32
};

typedef struct {
    struct PlaneJob *job;
    Line *line;
    bool measures_duty;
    OpSummer sums;
    Hull spans;  /* of ops, in device time */
    Hull steps;  /* of the Steps line */
    Hull named;  /* of events with a framework op */
    Hull events; /* for the duty cycle */
    DutyLine duty;
    uint8_t *traits; /* by event metadata: enum Trait bits; 0: not examined yet */
} CoreLine;

typedef struct PlaneJob {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    CoreLine *lines; /* of the plane */
} PlaneJob;

/* Returns the traits of all events of a metadata; 0 with err set on failure. */
static unsigned traits_of(CoreLine *l, EventMeta *meta, ProfErr *err)
{
    uint8_t *traits = &l->traits[meta - l->job->plane->event_metas];
    if (*traits || event_meta_values(l->job->plane, meta, err)) return *traits;
    *traits = TRAIT_KNOWN;
    for (uint16_t i = 0; i < meta->n_facts; i++) {
        const StatValue *fact = &meta->facts[i].fact;
        enum KnownStat known = meta->facts[i].known;
        Slice text = fact->type == TYPE_STR ? slice_of(fact->text) : (Slice){"", 0};
        bool integer = fact->type == TYPE_INT64 || fact->type == TYPE_UINT64;
        if (known == STAT_TF_OP && text.n) *traits |= TRAIT_NAMED;
        if (known == STAT_HLO_CATEGORY && op_is_off_duty(text)) *traits |= TRAIT_OFF_DUTY;
        if (known == STAT_HLO_CATEGORY && slice_is(text, "custom-call")) *traits |= TRAIT_CUSTOM;
        if (known == STAT_FLOPS && integer && is_positive_int32(fact->u64)) *traits |= TRAIT_FLOPS;
        if (known == STAT_MODEL_FLOPS && integer && is_positive_int32(fact->u64))
            *traits |= TRAIT_MODEL_FLOPS;
    }
    return *traits;
}

/* Extends the span of named ops. XProf derives a line "Framework Ops" from all events with a tf_op,
 * in the profiler's time, and measures that line too. */
static void add_named(CoreLine *l, unsigned traits, const OpFacts *f)
{
    if ((f->has_tf_op ? !f->tf_op_is_empty : (traits & TRAIT_NAMED) != 0) && !f->is_async)
        hull_add(&l->named, f->event);
}

static bool add_other(void *context, const EventAt *e, ProfErr *err)
{
    CoreLine *l = context;
    OpFacts f = op_facts(&l->job->filter, e);
    add_named(l, traits_of(l, e->meta, err), &f);
    return !err->code;
}

static unsigned duties_of(unsigned traits, const OpFacts *f)
{
    if (traits & TRAIT_OFF_DUTY) return 0;
    bool works = (f->has_flops ? f->flops_positive : (traits & TRAIT_FLOPS) != 0) ||
                 (f->has_model_flops ? f->model_flops_positive : (traits & TRAIT_MODEL_FLOPS) != 0);
    return traits & TRAIT_CUSTOM && !works ? 1u << DUTY_LIKELY
                                           : 1u << DUTY_LIKELY | 1u << DUTY_SURE;
}

static bool add_op(void *context, const EventAt *e, ProfErr *err)
{
    CoreLine *l = context;
    OpFacts f = op_facts(&l->job->filter, e);
    unsigned traits = traits_of(l, e->meta, err);
    hull_add(&l->spans, f.device);
    add_named(l, traits, &f);
    int64_t position = traits ? op_summer_add(&l->sums, e->meta, e->occurrences, &f, 1, err) : -1;
    if (position < 0) return false;
    OpSums *sums = &l->sums.sums[position];
    if (f.has_core_id && f.has_start_id && sums->n_events == 1)
        sums->offloads = true, sums->offload_core_id = f.core_id_unsigned,
        sums->offload_start_id = f.start_id_signed;
    if (!l->measures_duty) return true;
    hull_add(&l->events, f.event);
    if (!duty_line_add(&l->duty, f.event, duties_of(traits, &f))) prof_nomem(err);
    return !err->code;
}

static bool add_step(void *context, const EventAt *e, ProfErr *err)
{
    (void)err;
    CoreLine *l = context;
    hull_add(&l->steps, op_facts(&l->job->filter, e).device);
    return true;
}

static void read_line(void *context, size_t i, ProfErr *err)
{
    CoreLine *l = &((CoreLine *)context)[i];
    const PlaneJob *job = l->job;
    if (!l->line->n_events) return;
    l->sums.plane = job->plane;
    if (!(l->traits = prof_alloc(job->plane->n_event_metas))) {
        prof_nomem(err);
    } else if (is_op_line(l->line)) {
        each_event(l->line, &job->filter, !job->build->grouped, add_op, l, err);
        if (!err->code && !duty_line_end(&l->duty)) prof_nomem(err);
    } else if (is_step_line(l->line)) {
        each_event(l->line, &job->filter, false, add_step, l, err);
    } else if (!job->build->grouped) {
        each_event(l->line, &job->filter, false, add_other, l, err);
    }
    if (is_module_line(l->line))
        for (size_t c = 0; c < l->line->n_chunks; c++) {
            const Chunk *chunk = &l->line->chunks[c];
            hull_add(&l->events,
                     (PsSpan){(uint64_t)add_saturated(l->line->start_ps, chunk->min_offset),
                              (uint64_t)add_saturated(l->line->start_ps, chunk->max_end)});
        }
    prof_free(l->traits);
    l->traits = NULL;
}

/* ---- the plane ---- */

static void hull_join(Hull *hull, const Hull *other)
{
    if (other->any) hull_add(hull, (PsSpan){other->begin, other->end});
}

/* Measures steps. Steps without a group are dropped: if the file's steps extend beyond the ops, the
 * remaining steps count. */
static int measure_steps(PlaneJob *job, Hull *measured, ProfErr *err)
{
    bool inside = true;
    for (size_t i = 0; i < job->plane->n_lines; i++) {
        const Hull *steps = &job->lines[i].steps;
        inside &= !steps->any ||
                  (measured->any && measured->begin <= steps->begin && steps->end <= measured->end);
    }
    const Grouping *grouping = inside || job->build->grouped ? NULL : op_grouping(job->build, err);
    for (size_t i = 0; i < job->plane->n_lines && !err->code; i++) {
        CoreLine *l = &job->lines[i];
        const LineGroups *groups = grouping ? line_groups(grouping, l->line) : NULL;
        if (!groups || !groups->merged) hull_join(measured, &l->steps);
        for (size_t k = 0; groups && groups->merged && l->steps.any && k < groups->n_steps; k++) {
            const MergedStep *step = &groups->steps[k];
            bool device =
                step->device_start_ps != INT64_MIN && step->device_duration_ps != INT64_MIN;
            uint64_t begin = (uint64_t)(device ? step->device_start_ps : step->start_ps);
            hull_add(measured, (PsSpan){begin, begin + (uint64_t)(device ? step->device_duration_ps
                                                                         : step->duration_ps)});
        }
    }
    return err->code;
}

static int join_lines(PlaneJob *job, const SparseCores *sparse, CoreDuty *duty, OpMetricsDb *db,
                      ProfErr *err)
{
    TpuOpTable *ops = tpu_op_table_new(job->build, job->plane, CORE_TENSORCORE, err);
    Hull measured = {0};
    for (size_t i = 0; i < job->plane->n_lines && !err->code; i++) {
        CoreLine *l = &job->lines[i];
        for (size_t k = 0; k < l->sums.n && !err->code; k++) {
            const OpSums *sums = &l->sums.sums[k];
            int64_t position = tpu_op_table_add(ops, sums, err);
            if (position >= 0 && sums->offloads)
                symbol_ops_offload(
                    ops, position,
                    offloaded_programs(sparse, sums->offload_core_id, sums->offload_start_id));
        }
        hull_join(&measured, &l->spans);
        if (!job->build->grouped && job->plane->kind == PLANE_TENSORCORE)
            hull_join(&measured, &l->named);
        if (!core_duty_join(duty, &l->duty.active, &l->events)) prof_nomem(err);
    }
    if (!err->code && !measure_steps(job, &measured, err) && !tpu_op_table_finish(ops, db, err)) {
        /* XProf starts with the largest uint64 as least and 0 as most, whose difference is 1. */
        uint64_t range = measured.any ? measured.end - measured.begin : 1;
        db->total_ps = db->total_op_ps > range ? db->total_op_ps : range;
        if (!op_db_add_idle(db, job->build->stats->idle)) prof_nomem(err);
    }
    tpu_op_table_free(ops);
    return err->code;
}

/* ---- the host ---- */

/* Returns the chip of a plane's core: local_chip_id of core_details, or the plane's own if that is
 * missing or damaged. */
static int64_t chip_of(const Plane *plane, ProfErr *err)
{
    Window window = {.file = &plane->host->file};
    int64_t own = -1 - (int64_t)plane->plane_id, chip = own;
    for (size_t i = 0; i < plane->n_stats && !err->code; i++) {
        Stat stat;
        if (!plane_stat(plane, i, &window, &stat, err) || stat.type != TYPE_BYTES) continue;
        const StatMeta *meta = stat_meta(plane, stat.id);
        if (!meta || meta->known != STAT_CORE_DETAILS) continue;
        chip = 0;
        Field f = {0};
        const uint8_t *q = stat.bytes, *end = q + stat.n_bytes;
        while (q && q < end)
            if ((q = wire_field(q, end, &f)) && f.number == 4 && f.type == WIRE_VARINT)
                chip = (int32_t)f.value;
        if (!q) chip = own;
        break;
    }
    window_free(&window);
    return chip;
}

/* Adds the lines of a SparseCore, which a TensorCore may also have. Module lines only extend the
 * measured span. */
static int sparsecore_duty(const Plane *plane, CoreDuty *duty, ProfErr *err)
{
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        bool modules = line->named == NAME_SPARSE_MODULES ||
                       (plane->kind == PLANE_SPARSECORE && line->named == NAME_MODULES);
        if (!modules && !is_sparse_op_line(line)) continue;
        EventReader reader;
        EventAt e;
        event_reader_open(&reader, line, 0, err);
        while (event_reader_next(&reader, &e))
            hull_add(&duty->measured, (PsSpan){(uint64_t)e.start_ps,
                                               (uint64_t)e.start_ps + (uint64_t)e.duration_ps});
        event_reader_close(&reader);
    }
    SpanList busy = {0};
    if (!err->code) sparsecore_busy(plane, &busy, err);
    for (size_t i = 0; i < busy.n && !err->code; i++)
        if (!duty_spans_add(&duty->active, busy.spans[i], 1u << DUTY_LIKELY | 1u << DUTY_SURE))
            prof_nomem(err);
    span_list_free(&busy);
    return err->code;
}

/* The planes that count as TensorCores, and all their lines, which are read in parallel. */
typedef struct {
    PlaneJob *jobs;
    CoreLine *lines;
    Line **file_lines; /* the lines in the file, for each of `lines` */
    size_t n_jobs, n_lines;
} Cores;

static bool counts_as_tensorcore(const Plane *plane)
{
    return is_tpu(plane) && plane->kind != PLANE_SPARSECORE;
}

static int cores_open(Cores *cores, OpBuild *build, ProfErr *err)
{
    Host *host = build->host;
    cores->jobs = prof_alloc(host->n_planes * sizeof *cores->jobs),
    cores->lines = prof_alloc(host->n_lines * sizeof *cores->lines);
    cores->file_lines = prof_alloc(host->n_lines * sizeof *cores->file_lines);
    if (!cores->jobs || !cores->lines || !cores->file_lines) return prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (!counts_as_tensorcore(plane)) continue;
        PlaneJob *job = &cores->jobs[cores->n_jobs++];
        *job = (PlaneJob){.build = build, .plane = plane, .lines = cores->lines + cores->n_lines};
        stat_filter_open(&job->filter, plane, op_fact_stats, n_op_fact_stats, err);
        for (size_t k = 0; k < plane->n_lines; k++) {
            Line *line = &host->lines[plane->first_line + k];
            cores->file_lines[cores->n_lines] = line;
            cores->lines[cores->n_lines++] =
                (CoreLine){.job = job, .line = line, .measures_duty = line->named == NAME_OPS};
        }
    }
    return err->code;
}

static void cores_close(Cores *cores)
{
    for (size_t i = 0; i < cores->n_lines; i++) {
        op_summer_free(&cores->lines[i].sums);
        duty_line_free(&cores->lines[i].duty);
    }
    for (size_t i = 0; i < cores->n_jobs; i++) stat_filter_close(&cores->jobs[i].filter);
    prof_free(cores->lines);
    prof_free(cores->file_lines);
    prof_free(cores->jobs);
}

static int tensorcore_ops(PlaneJob *job, const SparseCores *sparse, CoreDuty *duty, ProfErr *err)
{
    OpMetricsDb db = {0};
    OpStats *stats = job->build->stats;
    if (!join_lines(job, sparse, duty, &db, err) &&
        !op_db_merge(&stats->device, &db, &stats->arena, true))
        prof_nomem(err);
    op_db_free(&db);
    return err->code;
}

int tpu_ops_build(OpBuild *build, ProfErr *err)
{
    Host *host = build->host;
    SparseCores sparse = {0};
    Cores cores = {0};
    CoreDuty *duty = prof_alloc(host->n_planes * sizeof *duty);
    size_t n_duty = 0, n_tensorcores = 0;
    if (!duty) return prof_nomem(err);
    if (!sparsecore_ops(build, &sparse, err) && !cores_open(&cores, build, err))
        parallel_lines_at(cores.file_lines, cores.n_lines, read_line, cores.lines, err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (!is_tpu(plane)) continue;
        duty[n_duty].chip = chip_of(plane, err);
        if (!err->code && counts_as_tensorcore(plane))
            tensorcore_ops(&cores.jobs[n_tensorcores++], &sparse, &duty[n_duty], err);
        sparsecore_duty(plane, &duty[n_duty++], err);
    }
    if (!err->code) duty_cycle(duty, n_duty, &build->stats->device, err);
    for (size_t i = 0; i < n_duty; i++) duty_spans_free(&duty[i].active);
    cores_close(&cores);
    sparsecores_free(&sparse);
    prof_free(duty);
    return err->code ? err->code : fused_ops_build(build, err);
}
