/* step_programs.c: sums over the ops of steps; see step_programs.h.
 *
 * Ops of one program and name are one op, whichever host or core they ran on: which these are, and into which spaces they
 * reach, is looked up once for all steps. */
#include "step_programs.h"

#include "roofline.h"

/* What is known of an op of a host. */
typedef struct {
    uint32_t key; /* of its program and name */
    bool has_category, is_feed, is_container;
    uint32_t *spaces; /* of each of its breakdown's entries */
} OpKind;

/* An op in the step in hand. */
typedef struct {
    const OpKind *kind; /* as its category says: the first that there is; NULL: not in the step */
    bool has_category;
    double flops, model_flops;
    uint64_t bytes_accessed, time_ps;
} OpSum;

typedef struct {
    uint32_t operation;
    uint64_t space;
} Space;

typedef struct {
    const StepOpRecord *ops;
    size_t n;
} Records;

struct StepPrograms {
    const StepDb *db;
    OpKind **kinds; /* of each host's ops */
    OpSum *sums;    /* by key */
    uint32_t *touched;
    size_t n_touched;
    Space *spaces;
    size_t n_spaces;
    uint64_t *bytes[N_FEEDS];   /* by space */
    uint32_t *reached[N_FEEDS]; /* spaces of the step in hand */
    bool *is_reached[N_FEEDS];
    size_t n_reached[N_FEEDS];
    Records *records; /* of the step in hand, on each host */
    Arena arena;
};

/* ---- what ops are ---- */

static int by_space(const void *a, const void *b)
{
    const Space *x = a, *y = b;
    if (x->operation != y->operation) return x->operation < y->operation ? -1 : 1;
    return x->space < y->space ? -1 : x->space > y->space;
}

/* The spaces that any op reaches into. */
static bool list_spaces(StepPrograms *p)
{
    size_t n = 0, n_spaces = 0;
    for (size_t h = 0; h < p->db->n_hosts; h++)
        for (size_t i = 0; i < p->db->hosts[h]->ops.n_ops; i++) n += p->db->hosts[h]->ops.ops[i].n_memory;
    Space *spaces = p->spaces = arena_take(&p->arena, n * sizeof *spaces);
    if (!spaces) return false;
    n = 0;
    for (size_t h = 0; h < p->db->n_hosts; h++)
        for (size_t i = 0; i < p->db->hosts[h]->ops.n_ops; i++) {
            const OpMetrics *op = &p->db->hosts[h]->ops.ops[i];
            for (size_t k = 0; k < op->n_memory; k++) spaces[n++] = (Space){op->memory[k].operation, op->memory[k].space};
        }
    if (n) qsort(spaces, n, sizeof *spaces, by_space);
    for (size_t i = 0; i < n; i++)
        if (!i || by_space(&spaces[i], &spaces[n_spaces - 1])) spaces[n_spaces++] = spaces[i];
    p->n_spaces = n_spaces;
    for (int feed = 0; feed < N_FEEDS; feed++) {
        p->bytes[feed] = arena_alloc(&p->arena, n_spaces * sizeof *p->bytes[feed]);
        p->is_reached[feed] = arena_alloc(&p->arena, n_spaces);
        p->reached[feed] = arena_take(&p->arena, n_spaces * sizeof *p->reached[feed]);
        if (!p->bytes[feed] || !p->is_reached[feed] || !p->reached[feed]) return false;
    }
    return true;
}

static bool know_op(StepPrograms *p, OpMetricsDb *keys, const OpMetrics *op, OpKind *kind)
{
    const OpMetrics *key = op_db_at(keys, op->program_id, op->name);
    Slice category = roofline_category(op);
    *kind = (OpKind){.has_category = op->category->n_bytes > 0, .is_feed = op_is_infeed_or_outfeed(category), .is_container = op_is_container(category)};
    kind->spaces = arena_take(&p->arena, op->n_memory * sizeof *kind->spaces);
    if (!key || !kind->spaces) return false;
    kind->key = (uint32_t)(key - keys->ops);
    for (size_t i = 0; i < op->n_memory; i++) {
        Space space = {op->memory[i].operation, op->memory[i].space};
        kind->spaces[i] = (uint32_t)((const Space *)bsearch(&space, p->spaces, p->n_spaces, sizeof space, by_space) - p->spaces);
    }
    return true;
}

static bool know_ops(StepPrograms *p)
{
    OpMetricsDb keys = {0};
    size_t n_hosts = p->db->n_hosts;
    bool memory = (p->kinds = arena_alloc(&p->arena, n_hosts * sizeof *p->kinds)) && (p->records = arena_alloc(&p->arena, n_hosts * sizeof *p->records));
    for (size_t h = 0; h < n_hosts && memory; h++) {
        const OpMetricsDb *ops = &p->db->hosts[h]->ops;
        memory = (p->kinds[h] = arena_alloc(&p->arena, ops->n_ops * sizeof *p->kinds[h])) != NULL;
        for (size_t i = 0; i < ops->n_ops && memory; i++) memory = know_op(p, &keys, &ops->ops[i], &p->kinds[h][i]);
    }
    p->sums = arena_alloc(&p->arena, keys.n_ops * sizeof *p->sums);
    p->touched = arena_take(&p->arena, keys.n_ops * sizeof *p->touched);
    op_db_free(&keys);
    return memory && p->sums && p->touched;
}

StepPrograms *step_programs_open(const StepDb *db, ProfErr *err)
{
    StepPrograms *p = prof_alloc(sizeof *p);
    if (!p) return prof_nomem(err), NULL;
    p->db = db;
    if (list_spaces(p) && know_ops(p)) return p;
    step_programs_close(p);
    return prof_nomem(err), NULL;
}

void step_programs_close(StepPrograms *p)
{
    if (p) arena_free(&p->arena);
    prof_free(p);
}

/* ---- sums ---- */

/* In XProf's order: first what ops of one key come to, then all ops. */
static void add_records(StepPrograms *p, size_t h)
{
    for (size_t i = 0; i < p->records[h].n; i++) {
        const StepOpRecord *r = &p->records[h].ops[i];
        const OpMetrics *op = &p->db->hosts[h]->ops.ops[r->op];
        const OpKind *kind = &p->kinds[h][r->op];
        OpSum *sum = &p->sums[kind->key];
        if (!sum->kind) *sum = (OpSum){.kind = kind, .has_category = kind->has_category}, p->touched[p->n_touched++] = kind->key;
        if (!sum->has_category && kind->has_category) sum->kind = kind, sum->has_category = true;
        sum->flops += op->flops * r->occurrences, sum->model_flops += (op->model_flops > 0 ? op->model_flops : op->flops) * r->occurrences;
        sum->bytes_accessed += op->bytes_accessed * r->occurrences, sum->time_ps += r->time_ps;
    }
}

static void add_bytes(StepPrograms *p, int feed, uint32_t space, uint64_t bytes)
{
    if (!p->is_reached[feed][space]) p->is_reached[feed][space] = true, p->reached[feed][p->n_reached[feed]++] = space;
    p->bytes[feed][space] += bytes;
}

static void add_memory(StepPrograms *p, size_t h)
{
    for (size_t i = 0; i < p->records[h].n; i++) {
        const StepOpRecord *r = &p->records[h].ops[i];
        const OpMetrics *op = &p->db->hosts[h]->ops.ops[r->op];
        const OpKind *kind = &p->kinds[h][r->op], *known_as = p->sums[kind->key].kind;
        for (size_t k = 0; k < op->n_memory && !known_as->is_container; k++)
            for (int feed = 0; feed < N_FEEDS - known_as->is_feed; feed++) add_bytes(p, feed, kind->spaces[k], op->memory[k].bytes * r->occurrences);
    }
}

static int take_memory(StepPrograms *p, StepProgram out[N_FEEDS], Arena *arena, ProfErr *err)
{
    for (int feed = 0; feed < N_FEEDS; feed++) {
        size_t n = p->n_reached[feed];
        MemoryAccess *memory = arena_take(arena, n * sizeof *memory);
        for (size_t i = 0; i < n; i++) {
            uint32_t space = p->reached[feed][i];
            if (memory) memory[i] = (MemoryAccess){p->spaces[space].operation, p->spaces[space].space, p->bytes[feed][space]};
            p->is_reached[feed][space] = false, p->bytes[feed][space] = 0;
        }
        if (!memory) return prof_nomem(err);
        out[feed].memory = memory, out[feed].n_memory = n;
        p->n_reached[feed] = 0;
    }
    return PROF_OK;
}

static void add_work(StepPrograms *p, StepProgram out[N_FEEDS])
{
    for (size_t i = 0; i < p->n_touched; i++) {
        OpSum *sum = &p->sums[p->touched[i]];
        if (sum->kind->is_feed) out[WITHOUT_FEED].time_ps -= sum->time_ps;
        for (int feed = 0; feed < N_FEEDS - sum->kind->is_feed && !sum->kind->is_container; feed++) {
            out[feed].flops += sum->flops, out[feed].model_flops += sum->model_flops;
            out[feed].bytes_accessed += sum->bytes_accessed;
        }
        sum->kind = NULL;
    }
    p->n_touched = 0;
}

static uint64_t cores_ps(const HostStep *step)
{
    uint64_t ps = 0;
    for (size_t c = 0; c < step->n_cores; c++)
        if (step->cores[c].kind == STEP_CORE_TENSOR && step->cores[c].core_id < SPARSECORE_IDS) ps += step->cores[c].total_ps;
    return ps;
}

/* The ops of all steps on a host; NULL: no memory. */
static StepOpRecord *all_records(const StepPrograms *p, size_t h, size_t *n)
{
    size_t n_ops = p->db->hosts[h]->ops.n_ops;
    StepOpRecord *sums = prof_alloc(n_ops * sizeof *sums);
    for (size_t i = 0; sums && i < p->db->n_steps; i++) {
        const HostStep *step = p->db->steps[i].of_hosts[h];
        for (size_t k = 0; k < step->n_ops; k++)
            sums[step->ops[k].op].occurrences += step->ops[k].occurrences, sums[step->ops[k].op].time_ps += step->ops[k].time_ps;
    }
    *n = 0;
    for (size_t i = 0; sums && i < n_ops; i++)
        if (sums[i].occurrences) sums[(*n)++] = (StepOpRecord){(uint32_t)i, sums[i].occurrences, sums[i].time_ps};
    return sums;
}

int step_programs_sum(StepPrograms *p, const Step *step, StepProgram out[N_FEEDS], Arena *arena, ProfErr *err)
{
    const StepDb *db = p->db;
    uint64_t time_ps = 0;
    for (size_t h = 0; h < db->n_hosts; h++) {
        for (size_t i = 0; !step && i < db->n_steps; i++) time_ps += cores_ps(db->steps[i].of_hosts[h]);
        if (step) time_ps += cores_ps(step->of_hosts[h]), p->records[h] = (Records){step->of_hosts[h]->ops, step->of_hosts[h]->n_ops};
        if (!step && !(p->records[h].ops = all_records(p, h, &p->records[h].n))) p->records[h].n = 0, prof_nomem(err);
    }
    for (int feed = 0; feed < N_FEEDS; feed++) out[feed] = (StepProgram){.time_ps = time_ps};
    for (size_t h = 0; h < db->n_hosts; h++) add_records(p, h);
    for (size_t h = 0; h < db->n_hosts; h++) add_memory(p, h);
    add_work(p, out);
    take_memory(p, out, arena, err);
    for (size_t h = 0; h < db->n_hosts && !step; h++) prof_free((void *)p->records[h].ops);
    return err->code;
}
