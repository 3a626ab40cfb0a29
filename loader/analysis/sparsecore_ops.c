/* sparsecore_ops.c: ops of SparseCores by the program that a TensorCore offloaded.
 *
 * A module event with offload_core_id and tc_offload_start_id is one run of such a program; the ops inside it are its. The
 * TensorCore op with the same two stats gets them as children. */
#include "device_ops.h"

typedef struct {
    PsSpan span;
    uint32_t program; /* position */
} ModuleRun;

typedef struct {
    OpSummer sums;
} ProgramSums;

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    OffloadedPrograms *programs;
    ModuleRun *runs;
    size_t n_runs, run_capacity;
    size_t at;         /* the run that events are compared with */
    int64_t inside;    /* the run of the last op */
    ProgramSums *sums; /* by program */
} SparseJob;

static struct OffloadedProgram *find_program(const OffloadedPrograms *programs, OffloadKey key)
{
    for (size_t i = 0; i < programs->n; i++)
        if (programs->programs[i].key.core_id == key.core_id && programs->programs[i].key.start_id == key.start_id) return &programs->programs[i];
    return NULL;
}

const OpMetricsDb *offloaded_program(const OffloadedPrograms *programs, OffloadKey key)
{
    const struct OffloadedProgram *found = find_program(programs, key);
    return found ? &found->db : NULL;
}

void offloaded_programs_free(OffloadedPrograms *programs)
{
    for (size_t i = 0; i < programs->n; i++) op_db_free(&programs->programs[i].db);
    prof_free(programs->programs);
    *programs = (OffloadedPrograms){0};
}

static bool take_module(void *context, const EventAt *e, ProfErr *err)
{
    SparseJob *job = context;
    OpFacts f = op_facts(&job->filter, e);
    if (!f.has_core_id || !f.has_start_id) return true;
    struct OffloadedProgram *program = find_program(job->programs, f.offload);
    if (!program) {
        if (!GROW(job->programs->programs, job->programs->n, job->programs->capacity)) return prof_nomem(err), false;
        program = &job->programs->programs[job->programs->n++];
        *program = (struct OffloadedProgram){.key = f.offload};
    }
    program->db.total_ps += f.device.end - f.device.begin;
    if (!GROW(job->runs, job->n_runs, job->run_capacity)) return prof_nomem(err), false;
    job->runs[job->n_runs++] = (ModuleRun){f.device, (uint32_t)(program - job->programs->programs)};
    return true;
}

/* Modules and ops both come in order of time. */
static bool take_op(void *context, const EventAt *e, ProfErr *err)
{
    SparseJob *job = context;
    OpFacts f = op_facts(&job->filter, e);
    while (job->at < job->n_runs && job->runs[job->at].span.end < f.device.begin) job->at++;
    if (job->at == job->n_runs || !span_includes(job->runs[job->at].span, f.device)) return true;
    OpSummer *sums = &job->sums[job->runs[job->at].program].sums;
    if (job->inside != (int64_t)job->at) op_summer_close_spans(sums);
    job->inside = (int64_t)job->at;
    sums->plane = job->plane;
    return op_summer_add(sums, e->meta, e->occurrences, &f, 0, err) >= 0;
}

static int finish_program(SparseJob *job, size_t i, ProfErr *err)
{
    SymbolOps *ops = symbol_ops_new(job->build, job->plane, CORE_SPARSECORE, err);
    if (!ops) return err->code;
    const OpSummer *sums = &job->sums[i].sums;
    for (size_t k = 0; k < sums->n && !err->code; k++) symbol_ops_add(ops, &sums->sums[k], err);
    if (!err->code) symbol_ops_finish(ops, &job->programs->programs[i].db, err);
    symbol_ops_free(ops);
    return err->code;
}

static int plane_ops(SparseJob *job, bool grouped, ProfErr *err)
{
    Line *lines = &job->build->host->lines[job->plane->first_line];
    for (size_t i = 0; i < job->plane->n_lines && !err->code; i++)
        if (!strcmp(lines[i].name->text, "Sparse Core Modules")) each_event(&lines[i], !grouped, take_module, job, err);
    job->sums = prof_alloc(job->programs->n * sizeof *job->sums);
    if (!job->sums) return prof_nomem(err);
    for (size_t i = 0; i < job->plane->n_lines && !err->code; i++) {
        if (strcmp(lines[i].name->text, "Sparse Core Ops")) continue;
        job->at = 0, job->inside = -1;
        each_event(&lines[i], !grouped, take_op, job, err);
    }
    for (size_t i = 0; i < job->programs->n && !err->code; i++) finish_program(job, i, err);
    return err->code;
}

int sparsecore_ops(OpBuild *build, bool grouped, OffloadedPrograms *programs, ProfErr *err)
{
    Host *host = build->host;
    for (size_t p = 0; p < host->n_planes && !err->code; p++) {
        if (host->planes[p].kind != PLANE_SPARSECORE) continue;
        SparseJob job = {.build = build, .plane = &host->planes[p], .programs = programs};
        if (!stat_filter_open(&job.filter, job.plane, op_fact_stats, n_op_fact_stats, err)) plane_ops(&job, grouped, err);
        for (size_t i = 0; job.sums && i < programs->n; i++) op_summer_free(&job.sums[i].sums);
        stat_filter_close(&job.filter);
        prof_free(job.sums);
        prof_free(job.runs);
    }
    for (size_t i = 0; i < programs->n && !err->code; i++) {
        OpMetricsDb *db = &programs->programs[i].db;
        if (db->total_op_ps > db->total_ps) db->total_ps = db->total_op_ps;
        if (!op_db_add_idle(db, build->stats->idle)) prof_nomem(err);
    }
    return err->code;
}
