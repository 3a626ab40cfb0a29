// SPDX-License-Identifier: Apache-2.0
/* sparsecore_ops.c: ops of SparseCores in the programs that TensorCores offload.
 *
 * A module event with the stats offload_core_id and tc_offload_start_id is one execution of an
 * offloaded program. The ops inside it belong to the program. The TensorCore op with the same two
 * stats should get them as children. XProf reads both ids of a module as unsigned integers, and
 * those of an op as unsigned and signed; an id of the other type is read as 0. Profilers write
 * signed ids: then all programs are one, and belong to the ops whose start id is 0. Of several
 * planes, the last one that has ops of a program counts. This file does the same. */
#include "device_ops.h"

typedef struct {
    PsSpan span;
    uint32_t program; /* index */
} Module;

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    SparseCores *sparse;
    Module *modules; /* by time */
    size_t n_modules, capacity;
    size_t at;      /* the module that ops are compared with */
    size_t inside;  /* the module of the last op; SIZE_MAX if none */
    bool mixed;     /* programs that XProf does not distinguish */
    OpSummer *sums; /* by program */
} SparsePlane;

static struct OffloadedPrograms *find_program(const SparseCores *sparse, uint64_t core_id,
                                              uint64_t start_id)
{
    for (size_t i = sparse->n; i-- > 0;)
        if (sparse->programs[i].core_id == core_id && sparse->programs[i].start_id == start_id)
            return &sparse->programs[i];
    return NULL;
}

const OpMetricsDb *offloaded_programs(const SparseCores *sparse, uint64_t core_id,
                                      uint64_t start_id)
{
    const struct OffloadedPrograms *found = find_program(sparse, core_id, start_id);
    return found && found->plane ? &found->db : NULL;
}

void sparsecores_free(SparseCores *sparse)
{
    for (size_t i = 0; i < sparse->n; i++) op_db_free(&sparse->programs[i].db);
    prof_free(sparse->programs);
    *sparse = (SparseCores){0};
}

static bool add_module(void *context, const EventAt *e, ProfErr *err)
{
    enum { MAX_PROGRAMS = 1024 }; /* few enough for a linear search */
    SparsePlane *p = context;
    OpFacts f = op_facts(&p->filter, e);
    if (!f.has_core_id || !f.has_start_id) return true;
    struct OffloadedPrograms *program =
        find_program(p->sparse, f.core_id_unsigned, f.start_id_unsigned);
    if (!program && p->sparse->n == MAX_PROGRAMS) return true;
    if (!program) {
        if (!GROW(p->sparse->programs, p->sparse->n, p->sparse->capacity)) {
            prof_nomem(err);
            return false;
        }
        program = &p->sparse->programs[p->sparse->n++];
        *program = (struct OffloadedPrograms){.core_id = f.core_id_unsigned,
                                              .start_id = f.start_id_unsigned};
    }
    p->mixed |= f.start_id_signed != 0;
    if (!GROW(p->modules, p->n_modules, p->capacity)) {
        prof_nomem(err);
        return false;
    }
    p->modules[p->n_modules++] = (Module){f.device, (uint32_t)(program - p->sparse->programs)};
    return true;
}

static bool add_op(void *context, const EventAt *e, ProfErr *err)
{
    SparsePlane *p = context;
    OpFacts f = op_facts(&p->filter, e);
    while (p->at < p->n_modules && p->modules[p->at].span.end < f.device.begin) p->at++;
    if (p->at == p->n_modules || !span_includes(p->modules[p->at].span, f.device)) return true;
    OpSummer *sums = &p->sums[p->modules[p->at].program];
    if (p->inside != p->at) op_summer_close_spans(sums);
    p->inside = p->at;
    sums->plane = p->plane;
    return op_summer_add(sums, e->meta, e->occurrences, &f, 0, err) >= 0;
}

static int read_lines(SparsePlane *p, enum LineName name,
                      bool (*take)(void *context, const EventAt *e, ProfErr *err), ProfErr *err)
{
    Line *lines = &p->build->host->lines[p->plane->first_line];
    for (size_t i = 0; i < p->plane->n_lines && !err->code; i++) {
        if (lines[i].named != name) continue;
        p->at = 0, p->inside = SIZE_MAX;
        each_event(&lines[i], &p->filter, !p->build->grouped, take, p, err);
    }
    return err->code;
}

/* Replaces a program's ops from the planes before by those of this plane. */
static int finish_program(SparsePlane *p, size_t i, ProfErr *err)
{
    struct OffloadedPrograms *program = &p->sparse->programs[i];
    uint64_t modules_ps = 0;
    p->mixed |= program->plane != NULL;
    program->plane = p->plane;
    op_db_free(&program->db);
    for (size_t k = 0; k < p->n_modules; k++)
        modules_ps +=
            p->modules[k].program == i ? p->modules[k].span.end - p->modules[k].span.begin : 0;
    TpuOpTable *ops = tpu_op_table_new(p->build, p->plane, CORE_SPARSECORE, err);
    if (!ops) return err->code;
    for (size_t k = 0; k < p->sums[i].n && !err->code; k++)
        tpu_op_table_add(ops, &p->sums[i].sums[k], err);
    if (!err->code && !tpu_op_table_finish(ops, &program->db, err)) {
        program->db.total_ps =
            modules_ps > program->db.total_op_ps ? modules_ps : program->db.total_op_ps;
        if (!op_db_add_idle(&program->db, p->build->stats->idle)) prof_nomem(err);
    }
    tpu_op_table_free(ops);
    return err->code;
}

static int read_plane(SparsePlane *p, ProfErr *err)
{
    if (stat_filter_open(&p->filter, p->plane, op_fact_stats, n_op_fact_stats, err))
        return err->code;
    if (read_lines(p, NAME_SPARSE_MODULES, add_module, err)) return err->code;
    if (!(p->sums = prof_alloc(p->sparse->n * sizeof *p->sums))) return prof_nomem(err);
    read_lines(p, NAME_SPARSE_OPS, add_op, err);
    for (size_t i = 0; i < p->sparse->n && !err->code; i++)
        if (p->sums[i].n) finish_program(p, i, err);
    return err->code;
}

int sparsecore_ops(OpBuild *build, SparseCores *sparse, ProfErr *err)
{
    Host *host = build->host;
    bool mixed = false;
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        if (host->planes[i].kind != PLANE_SPARSECORE) continue;
        SparsePlane p = {.build = build, .plane = &host->planes[i], .sparse = sparse};
        read_plane(&p, err);
        mixed |= p.mixed;
        for (size_t k = 0; p.sums && k < sparse->n; k++) op_summer_free(&p.sums[k]);
        stat_filter_close(&p.filter);
        prof_free(p.sums);
        prof_free(p.modules);
    }
    if (mixed)
        host_issue(host, "warning", "sparsecore_programs_mixed", host,
                   "XProf treats all programs with the same id that are offloaded to SparseCores "
                   "as one, keeps those of the last core, and assigns them to the ops that offload "
                   "with start id 0; op_metrics does the same");
    return err->code;
}
