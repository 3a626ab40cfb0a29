/* sparsecore_ops.c: ops of SparseCores in the programs that TensorCores offload.
 *
 * A module event with offload_core_id and tc_offload_start_id is one run of such a program; the ops inside it are its. The
 * TensorCore op with the same two stats should get them as children. XProf takes all programs of one core id for one, those of
 * the last plane that has ops of any, and gives them to the ops whose start id is 0; so do we. */
#include "device_ops.h"

typedef struct {
    PsSpan span;
    uint32_t core; /* position */
} Module;

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    SparseCores *sparse;
    Module *modules; /* in order of time */
    size_t n_modules, capacity;
    size_t at;      /* the module that ops are compared with */
    size_t inside;  /* the module of the last op, SIZE_MAX: none */
    bool mixed;     /* programs that XProf does not tell apart */
    OpSummer *sums; /* by core id */
} SparsePlane;

static struct OffloadedPrograms *find_core(const SparseCores *sparse, uint64_t core_id)
{
    for (size_t i = 0; i < sparse->n; i++)
        if (sparse->cores[i].core_id == core_id) return &sparse->cores[i];
    return NULL;
}

const OpMetricsDb *offloaded_programs(const SparseCores *sparse, uint64_t core_id)
{
    const struct OffloadedPrograms *found = find_core(sparse, core_id);
    return found && found->plane ? &found->db : NULL;
}

void sparsecores_free(SparseCores *sparse)
{
    for (size_t i = 0; i < sparse->n; i++) op_db_free(&sparse->cores[i].db);
    prof_free(sparse->cores);
    *sparse = (SparseCores){0};
}

static bool take_module(void *context, const EventAt *e, ProfErr *err)
{
    enum { MAX_CORES = 1024 }; /* ids of cores are small; searched one by one */
    SparsePlane *p = context;
    OpFacts f = op_facts(&p->filter, e);
    if (!f.has_core_id || !f.has_start_id) return true;
    struct OffloadedPrograms *core = find_core(p->sparse, f.core_id);
    if (!core && p->sparse->n == MAX_CORES) return true;
    if (!core) {
        if (!GROW(p->sparse->cores, p->sparse->n, p->sparse->capacity)) return prof_nomem(err), false;
        core = &p->sparse->cores[p->sparse->n++];
        *core = (struct OffloadedPrograms){.core_id = f.core_id};
    }
    p->mixed |= f.start_id != 0;
    if (!GROW(p->modules, p->n_modules, p->capacity)) return prof_nomem(err), false;
    p->modules[p->n_modules++] = (Module){f.device, (uint32_t)(core - p->sparse->cores)};
    return true;
}

static bool take_op(void *context, const EventAt *e, ProfErr *err)
{
    SparsePlane *p = context;
    OpFacts f = op_facts(&p->filter, e);
    while (p->at < p->n_modules && p->modules[p->at].span.end < f.device.begin) p->at++;
    if (p->at == p->n_modules || !span_includes(p->modules[p->at].span, f.device)) return true;
    OpSummer *sums = &p->sums[p->modules[p->at].core];
    if (p->inside != p->at) op_summer_close_spans(sums);
    p->inside = p->at;
    sums->plane = p->plane;
    return op_summer_add(sums, e->meta, e->occurrences, &f, 0, err) >= 0;
}

static int read_lines(SparsePlane *p, const char *name, bool (*take)(void *context, const EventAt *e, ProfErr *err), ProfErr *err)
{
    Line *lines = &p->build->host->lines[p->plane->first_line];
    for (size_t i = 0; i < p->plane->n_lines && !err->code; i++) {
        if (strcmp(lines[i].name->text, name) != 0) continue;
        p->at = 0, p->inside = SIZE_MAX;
        each_event(&lines[i], &p->filter, !p->build->grouped, take, p, err);
    }
    return err->code;
}

/* The plane's ops of a core's programs, in place of those of the plane before. */
static int finish_core(SparsePlane *p, size_t i, ProfErr *err)
{
    struct OffloadedPrograms *core = &p->sparse->cores[i];
    uint64_t modules_ps = 0;
    p->mixed |= core->plane != NULL;
    core->plane = p->plane;
    op_db_free(&core->db);
    for (size_t k = 0; k < p->n_modules; k++) modules_ps += p->modules[k].core == i ? p->modules[k].span.end - p->modules[k].span.begin : 0;
    SymbolOps *ops = symbol_ops_new(p->build, p->plane, CORE_SPARSECORE, err);
    if (!ops) return err->code;
    for (size_t k = 0; k < p->sums[i].n && !err->code; k++) symbol_ops_add(ops, &p->sums[i].sums[k], err);
    if (!err->code && !symbol_ops_finish(ops, &core->db, err)) {
        core->db.total_ps = modules_ps > core->db.total_op_ps ? modules_ps : core->db.total_op_ps;
        if (!op_db_add_idle(&core->db, p->build->stats->idle)) prof_nomem(err);
    }
    symbol_ops_free(ops);
    return err->code;
}

static int read_plane(SparsePlane *p, ProfErr *err)
{
    if (stat_filter_open(&p->filter, p->plane, op_fact_stats, n_op_fact_stats, err)) return err->code;
    if (read_lines(p, "Sparse Core Modules", take_module, err)) return err->code;
    if (!(p->sums = prof_alloc(p->sparse->n * sizeof *p->sums))) return prof_nomem(err);
    read_lines(p, "Sparse Core Ops", take_op, err);
    for (size_t i = 0; i < p->sparse->n && !err->code; i++)
        if (p->sums[i].n) finish_core(p, i, err);
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
        host_issue(
            host, "warning", "sparsecore_programs_mixed", 0, 0, host,
            "XProf takes all programs offloaded to SparseCores of one id for one, keeps those of the last core, and gives them to the ops that offload with "
            "start id 0; so do the op metrics");
    return err->code;
}
