// SPDX-License-Identifier: Apache-2.0
/* step_programs.c: sums the ops of steps; see step_programs.h.
 *
 * Ops with the same program and name are one op, on all hosts and cores. Their actual operations
 * are those of the op to which the table hlo_ops adds their events. Which ops these are, and
 * which memory spaces they access, is looked up once for all steps. */
#include "step_programs.h"

#include <math.h>

#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "roofline.h"

/* An op of a host, as far as it is the same in all steps. */
typedef struct {
    uint32_t key; /* number of its program and name */
    bool has_category, is_feed, is_container;
    double flops, model_flops, flops_actual,
        model_flops_actual; /* of one occurrence, like the others */
    uint64_t bytes_accessed;
    uint32_t n_memory, *spaces; /* entries of its memory breakdown */
    const MemoryAccess *memory;
} OpKind;

typedef struct {
    uint32_t operation;
    uint64_t space;
} Space;

/* Shared by all steps. */
typedef struct {
    const StepDb *db;
    OpKind **kinds; /* for each host, of its ops */
    size_t n_keys, n_spaces;
    Space *spaces; /* memory spaces that ops access */
    StepPrograms *out;
    size_t n_parts;
    Arena arena;
} Programs;

/* An op in the current step. */
typedef struct {
    const OpKind *kind; /* decides the category: the first one in the step; NULL: not in the step */
    bool has_category;
    double flops, model_flops, flops_actual, model_flops_actual;
    uint64_t bytes_accessed, time_ps;
} OpSum;

/* The sums of the current step. */
typedef struct {
    const Programs *programs;
    OpSum *ops; /* by key */
    uint32_t *touched;
    size_t n_touched;
    struct Reached {
        uint64_t *bytes; /* by space */
        bool *there;
        uint32_t *spaces; /* spaces in use */
        size_t n;
    } reached[N_FEEDS];
    Arena scratch, *arena;
} Sums;

/* ---- kinds of ops ---- */

ORDER_BY_TWO(by_space, Space, operation, space)

static bool list_spaces(Programs *p)
{
    size_t n = 0, n_spaces = 0;
    for (size_t h = 0; h < p->db->n_hosts; h++)
        for (size_t i = 0; i < p->db->hosts[h]->ops.n_ops; i++)
            n += p->db->hosts[h]->ops.ops[i].n_memory;
    Space *spaces = p->spaces = arena_buffer(&p->arena, n * sizeof *spaces);
    if (!spaces) return false;
    n = 0;
    for (size_t h = 0; h < p->db->n_hosts; h++)
        for (size_t i = 0; i < p->db->hosts[h]->ops.n_ops; i++) {
            const OpMetrics *op = &p->db->hosts[h]->ops.ops[i];
            for (size_t k = 0; k < op->n_memory; k++)
                spaces[n++] = (Space){op->memory[k].operation, op->memory[k].space};
        }
    sort_array(spaces, n, sizeof *spaces, by_space);
    for (size_t i = 0; i < n; i++)
        if (!i || by_space(&spaces[i], &spaces[n_spaces - 1])) spaces[n_spaces++] = spaces[i];
    p->n_spaces = n_spaces;
    return true;
}

static double known(double x) { return isnan(x) ? 0 : x; }

static bool know_op(Programs *p, OpMetricsDb *keys, const OpStats *stats, const OpMetrics *op,
                    OpKind *kind)
{
    const Text *name = op->meta ? op_stats_name(stats, op->meta, op->name) : op->name;
    const OpMetrics *key = op_db_at(keys, op->program_id, op->name),
                    *all = op_db_find(&stats->device, op->program_id, name->text, name->n_bytes);
    Slice category = roofline_category(op);
    *kind = (OpKind){.has_category = op->category->n_bytes > 0,
                     .is_feed = op_is_infeed_or_outfeed(category),
                     .is_container = op_is_container(category),
                     .flops = op->flops,
                     .model_flops = op->model_flops > 0 ? op->model_flops : op->flops,
                     .bytes_accessed = op->bytes_accessed,
                     .n_memory = (uint32_t)op->n_memory,
                     .spaces = arena_buffer(&p->arena, op->n_memory * sizeof *kind->spaces),
                     .memory = op->memory};
    if (!key || !kind->spaces) return false;
    if (all && all->executions) {
        kind->flops_actual = known(all->flops_actual) / (double)all->executions;
        if (!op_is_recomputed(all))
            kind->model_flops_actual = known(all->model_flops_actual) / (double)all->executions;
    }
    kind->key = (uint32_t)(key - keys->ops);
    for (size_t i = 0; i < op->n_memory; i++) {
        Space space = {op->memory[i].operation, op->memory[i].space};
        kind->spaces[i] = (uint32_t)((const Space *)bsearch(&space, p->spaces, p->n_spaces,
                                                            sizeof space, by_space) -
                                     p->spaces);
    }
    return true;
}

static bool know_ops(Programs *p, Run *run, ProfErr *err)
{
    OpMetricsDb keys = {0};
    bool memory = (p->kinds = arena_alloc(&p->arena, p->db->n_hosts * sizeof *p->kinds)) != NULL;
    for (size_t h = 0; h < p->db->n_hosts && memory; h++) {
        const OpMetricsDb *ops = &p->db->hosts[h]->ops;
        const OpStats *stats = run_op_stats(run, p->db->hosts[h]->host, err);
        if (!stats) break;
        memory = (p->kinds[h] = arena_alloc(&p->arena, ops->n_ops * sizeof *p->kinds[h])) != NULL;
        for (size_t i = 0; i < ops->n_ops && memory; i++)
            memory = know_op(p, &keys, stats, &ops->ops[i], &p->kinds[h][i]);
    }
    p->n_keys = keys.n_ops;
    op_db_free(&keys);
    return memory;
}

/* ---- sums ---- */

static bool sums_open(Sums *s, const Programs *p, Arena *arena)
{
    *s = (Sums){.programs = p, .arena = arena};
    s->ops = arena_alloc(&s->scratch, p->n_keys * sizeof *s->ops);
    s->touched = arena_buffer(&s->scratch, p->n_keys * sizeof *s->touched);
    bool memory = s->ops && s->touched;
    for (int feed = 0; feed < N_FEEDS && memory; feed++) {
        struct Reached *r = &s->reached[feed];
        r->bytes = arena_alloc(&s->scratch, p->n_spaces * sizeof *r->bytes),
        r->there = arena_alloc(&s->scratch, p->n_spaces);
        r->spaces = arena_buffer(&s->scratch, p->n_spaces * sizeof *r->spaces);
        memory = r->bytes && r->there && r->spaces;
    }
    return memory;
}

/* Adds the ops of a host in XProf's order: first sums for each key, then over all ops. */
static void add_records(Sums *s, size_t h, const StepOpRecord *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const StepOpRecord *r = &records[i];
        const OpKind *kind = &s->programs->kinds[h][r->op];
        OpSum *sum = &s->ops[kind->key];
        if (!sum->kind)
            *sum = (OpSum){.kind = kind, .has_category = kind->has_category},
            s->touched[s->n_touched++] = kind->key;
        if (!sum->has_category && kind->has_category) sum->kind = kind, sum->has_category = true;
        sum->flops += kind->flops * r->occurrences,
            sum->model_flops += kind->model_flops * r->occurrences;
        sum->flops_actual += kind->flops_actual * r->occurrences,
            sum->model_flops_actual += kind->model_flops_actual * r->occurrences;
        sum->bytes_accessed += kind->bytes_accessed * r->occurrences, sum->time_ps += r->time_ps;
    }
}

static void add_memory(Sums *s, size_t h, const StepOpRecord *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const StepOpRecord *r = &records[i];
        const OpKind *kind = &s->programs->kinds[h][r->op], *known_as = s->ops[kind->key].kind;
        for (uint32_t k = 0; k < kind->n_memory && !known_as->is_container; k++)
            for (int feed = 0; feed < N_FEEDS - known_as->is_feed; feed++) {
                struct Reached *reached = &s->reached[feed];
                uint32_t space = kind->spaces[k];
                if (!reached->there[space])
                    reached->there[space] = true, reached->spaces[reached->n++] = space;
                reached->bytes[space] += kind->memory[k].bytes * r->occurrences;
            }
    }
}

/* Corrected operations count for every op: those of ops that only run others are 0, and an op that
 * does so in one step may work in another. */
static void add_work(Sums *s, StepProgram out[N_FEEDS])
{
    for (size_t i = 0; i < s->n_touched; i++) {
        OpSum *sum = &s->ops[s->touched[i]];
        if (sum->kind->is_feed) out[WITHOUT_FEED].time_ps -= sum->time_ps;
        for (int feed = 0; feed < N_FEEDS - sum->kind->is_feed; feed++) {
            out[feed].flops_actual += sum->flops_actual;
            out[feed].model_flops_actual += sum->model_flops_actual;
            if (sum->kind->is_container) continue;
            out[feed].flops += sum->flops, out[feed].model_flops += sum->model_flops;
            out[feed].bytes_accessed += sum->bytes_accessed;
        }
        sum->kind = NULL;
    }
    s->n_touched = 0;
}

static int read_memory(Sums *s, StepProgram out[N_FEEDS], ProfErr *err)
{
    for (int feed = 0; feed < N_FEEDS; feed++) {
        struct Reached *r = &s->reached[feed];
        MemoryAccess *memory = arena_buffer(s->arena, r->n * sizeof *memory);
        if (!memory) return prof_nomem(err);
        for (size_t i = 0; i < r->n; i++) {
            const Space *space = &s->programs->spaces[r->spaces[i]];
            memory[i] = (MemoryAccess){space->operation, space->space, r->bytes[r->spaces[i]]};
            r->there[r->spaces[i]] = false, r->bytes[r->spaces[i]] = 0;
        }
        out[feed].memory = memory, out[feed].n_memory = r->n;
        r->n = 0;
    }
    return PROF_OK;
}

static uint64_t cores_ps(const HostStep *step)
{
    uint64_t ps = 0;
    for (size_t c = 0; c < step->n_cores; c++)
        if (step->cores[c].kind == STEP_CORE_TENSOR && step->cores[c].core_id < SPARSECORE_IDS)
            ps += step->cores[c].total_ps;
    return ps;
}

static int sum_step(Sums *s, const Step *step, StepProgram out[N_FEEDS], ProfErr *err)
{
    uint64_t time_ps = 0;
    for (size_t h = 0; h < s->programs->db->n_hosts; h++) {
        time_ps += cores_ps(step->of_hosts[h]);
        add_records(s, h, step->of_hosts[h]->ops, step->of_hosts[h]->n_ops);
    }
    for (size_t h = 0; h < s->programs->db->n_hosts; h++)
        add_memory(s, h, step->of_hosts[h]->ops, step->of_hosts[h]->n_ops);
    for (int feed = 0; feed < N_FEEDS; feed++) out[feed].time_ps = time_ps;
    add_work(s, out);
    return read_memory(s, out, err);
}

/* Returns the ops of all steps on a host. NULL if memory runs out. */
static StepOpRecord *all_records(Sums *s, size_t h, size_t *n)
{
    const StepDb *db = s->programs->db;
    size_t n_ops = db->hosts[h]->ops.n_ops;
    StepOpRecord *sums = arena_alloc(&s->scratch, n_ops * sizeof *sums);
    for (size_t i = 0; sums && i < db->n_steps && !interrupt_due(64); i++) {
        const HostStep *step = db->steps[i].of_hosts[h];
        for (size_t k = 0; k < step->n_ops; k++) {
            const StepOpRecord *r = &step->ops[k];
            sums[r->op].occurrences += r->occurrences, sums[r->op].time_ps += r->time_ps;
        }
    }
    *n = 0;
    for (size_t i = 0; sums && i < n_ops; i++)
        if (sums[i].occurrences)
            sums[(*n)++] = (StepOpRecord){(uint32_t)i, sums[i].occurrences, sums[i].time_ps};
    return sums;
}

static int sum_all(Sums *s, StepProgram out[N_FEEDS], ProfErr *err)
{
    const StepDb *db = s->programs->db;
    uint64_t time_ps = 0;
    StepOpRecord **records = arena_alloc(&s->scratch, db->n_hosts * sizeof *records);
    size_t *n = arena_alloc(&s->scratch, db->n_hosts * sizeof *n);
    if (!records || !n) return prof_nomem(err);
    for (size_t h = 0; h < db->n_hosts; h++) {
        for (size_t i = 0; i < db->n_steps; i++) time_ps += cores_ps(db->steps[i].of_hosts[h]);
        if (!(records[h] = all_records(s, h, &n[h]))) return prof_nomem(err);
        add_records(s, h, records[h], n[h]);
    }
    for (size_t h = 0; h < db->n_hosts; h++) add_memory(s, h, records[h], n[h]);
    for (int feed = 0; feed < N_FEEDS; feed++) out[feed].time_ps = time_ps;
    add_work(s, out);
    return read_memory(s, out, err);
}

/* ---- all steps, in parallel ---- */

static void sum_part(void *context, size_t part, ProfErr *err)
{
    const Programs *p = context;
    size_t n = p->db->n_steps, first = n * part / p->n_parts, end = n * (part + 1) / p->n_parts;
    Sums s;
    if (!sums_open(&s, p, &p->out->arenas[part])) prof_nomem(err);
    for (size_t i = first; i < end && !err->code; i++)
        sum_step(&s, &p->db->steps[i], p->out->steps[i], err);
    if (!part && !err->code) sum_all(&s, p->out->all, err);
    arena_free(&s.scratch);
}

int step_programs_make(StepPrograms *out, Run *run, const StepDb *db, ProfErr *err)
{
    Programs p = {.db = db, .out = out, .n_parts = run->n_workers};
    *out = (StepPrograms){.steps = prof_alloc(db->n_steps * sizeof *out->steps),
                          .arenas = prof_alloc(run->n_workers * sizeof *out->arenas)};
    if (out->arenas) out->n_arenas = run->n_workers;
    bool memory = out->steps && out->arenas && list_spaces(&p) && know_ops(&p, run, err);
    if (!memory && !err->code) prof_nomem(err);
    if (!err->code) parallel_for(p.n_parts, p.n_parts, sum_part, &p, err);
    arena_free(&p.arena);
    return err->code;
}

void step_programs_free(StepPrograms *programs)
{
    for (size_t i = 0; i < programs->n_arenas; i++) arena_free(&programs->arenas[i]);
    prof_free(programs->arenas);
    prof_free(programs->steps);
    *programs = (StepPrograms){0};
}
