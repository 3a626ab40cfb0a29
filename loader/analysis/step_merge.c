/* step_merge.c: the steps of a run: those of its host, or those that all its hosts have; see steps.h.
 *
 * Hosts start and stop apart. The one whose steps take the shortest time leads; each other host is shifted against it, by
 * whole steps, to where their steps overlap most. What all have then is the run's. */
#define _GNU_SOURCE
#include "steps.h"

/* ---- which hosts, which of their steps ---- */

typedef struct {
    const HostStep **steps;
    size_t n;
    struct StepSpan {
        uint64_t begin, end;
    } * spans;     /* around all cores */
    int64_t shift; /* step i of it goes with step i + shift of the leading host */
} HostPart;

typedef struct {
    StepDb *db;
    HostPart *parts; /* as db->hosts */
    bool all;        /* with those that XProf drops as incomplete */
    size_t leader;
    size_t first, end; /* of the leading host's steps: what all have */
} Merge;

static int choose_hosts(Merge *m, Run *run, Host *only, ProfErr *err)
{
    StepDb *db = m->db;
    size_t n_readable = 0;
    bool any_device = false;
    db->hosts = arena_alloc(&db->arena, run->n_hosts * sizeof *db->hosts);
    db->host_places = arena_alloc(&db->arena, run->n_hosts * sizeof *db->host_places);
    if (!db->hosts || !db->host_places) return prof_nomem(err);
    for (size_t i = 0; i < run->n_hosts; i++) {
        Host *host = &run->hosts[i];
        if (!host->readable || host->is_program || (only && host != only)) continue;
        const HostSteps *steps = host_steps(host, err);
        if (!steps) return err->code;
        any_device |= steps->has_device;
        db->host_places[db->n_hosts] = only ? 0 : (uint32_t)n_readable;
        db->hosts[db->n_hosts++] = steps;
        n_readable++;
    }
    m->db->merged = n_readable > 1;
    size_t n = 0;
    for (size_t i = 0; i < db->n_hosts; i++) {
        if (any_device && !db->hosts[i]->has_device) continue;
        db->hosts[n] = db->hosts[i], db->host_places[n] = db->host_places[i];
        n++;
    }
    db->n_hosts = n;
    return PROF_OK;
}

static int choose_steps(Merge *m, ProfErr *err)
{
    if (!(m->parts = prof_alloc(m->db->n_hosts * sizeof *m->parts))) return prof_nomem(err);
    for (size_t h = 0; h < m->db->n_hosts; h++) {
        const HostSteps *steps = m->db->hosts[h];
        HostPart *part = &m->parts[h];
        part->steps = prof_alloc(steps->n_steps * sizeof *part->steps), part->spans = prof_alloc(steps->n_steps * sizeof *part->spans);
        if (!part->steps || !part->spans) return prof_nomem(err);
        for (size_t i = 0; i < steps->n_steps; i++) {
            const HostStep *s = &steps->steps[i];
            if (s->dropped != STEP_KEPT && (!m->all || s->dropped != STEP_FIRST_OR_LAST)) continue;
            struct StepSpan *span = &part->spans[part->n];
            for (size_t c = 0; c < s->n_cores; c++) {
                uint64_t begin = s->cores[c].begin_ps, end = begin + s->cores[c].duration_ps;
                if (!c || begin < span->begin) span->begin = begin;
                if (!c || end > span->end) span->end = end;
            }
            part->steps[part->n++] = s;
        }
    }
    return PROF_OK;
}

/* ---- alignment ---- */

typedef struct {
    const struct StepSpan *spans;
    uint32_t *order; /* by begin */
    uint64_t *reach; /* the latest end up to each place of the order */
    size_t n;
} ByBegin;

static int compare_begin(const void *a, const void *b, void *spans)
{
    const struct StepSpan *s = spans;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (s[i].begin != s[k].begin) return s[i].begin < s[k].begin ? -1 : 1;
    return i < k ? -1 : i > k;
}

static bool order_spans(ByBegin *o, const HostPart *part)
{
    *o = (ByBegin){.spans = part->spans, .order = prof_alloc(part->n * sizeof *o->order), .reach = prof_alloc(part->n * sizeof *o->reach), .n = part->n};
    if (!o->order || !o->reach) return false;
    for (size_t i = 0; i < part->n; i++) o->order[i] = (uint32_t)i;
    if (part->n) qsort_r(o->order, part->n, sizeof *o->order, compare_begin, (void *)part->spans);
    for (size_t i = 0; i < part->n; i++) {
        uint64_t end = part->spans[o->order[i]].end;
        o->reach[i] = i && o->reach[i - 1] > end ? o->reach[i - 1] : end;
    }
    return true;
}

/* Adds to scores[leader's index - the other's index + n_other - 1] what each pair of steps overlaps. False: too many pairs do. */
static bool score_shifts(const ByBegin *leader, const HostPart *other, uint64_t *scores)
{
    uint64_t n_pairs = 0, most_pairs = ((uint64_t)1 << 24) + 64 * (uint64_t)(leader->n + other->n);
    for (size_t k = 0; k < other->n; k++) {
        struct StepSpan s = other->spans[k];
        size_t low = 0, high = leader->n; /* the first place whose reach is beyond the step's begin */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (leader->reach[middle] <= s.begin)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < leader->n && leader->spans[leader->order[low]].begin < s.end; low++) {
            struct StepSpan t = leader->spans[leader->order[low]];
            uint64_t from = s.begin > t.begin ? s.begin : t.begin, to = s.end < t.end ? s.end : t.end;
            if (from < to) scores[leader->order[low] + other->n - 1 - k] += to - from;
            if (++n_pairs > most_pairs) return false;
        }
    }
    return true;
}

/* Shifts are tried from 0 up, then down from -1: the first of the best stays. */
static int64_t best_shift(const uint64_t *scores, size_t n_leader, size_t n_other)
{
    size_t zero = n_other - 1, best = zero;
    for (size_t i = zero; i < zero + n_leader; i++)
        if (scores[i] > scores[best]) best = i;
    for (size_t i = zero; i-- > 0;)
        if (scores[i] > scores[best]) best = i;
    return (int64_t)best - (int64_t)zero;
}

static int align(Merge *m, const ByBegin *leader, size_t h, ProfErr *err)
{
    HostPart *part = &m->parts[h];
    uint64_t *scores = prof_alloc((leader->n + part->n) * sizeof *scores);
    if (!scores) return prof_nomem(err);
    if (score_shifts(leader, part, scores)) {
        part->shift = best_shift(scores, leader->n, part->n);
    } else {
        Host *host = m->db->hosts[h]->host;
        host_issue(host, "warning", "steps_not_aligned", 0, 0, host,
                   "too many steps of this host overlap those of another: they are not aligned by time, but by number");
    }
    prof_free(scores);
    return PROF_OK;
}

static uint64_t whole_span(const HostPart *part) { return part->spans[part->n - 1].end - part->spans[0].begin; }

static int intersect(Merge *m, ProfErr *err)
{
    ByBegin order = {0};
    size_t n = m->db->n_hosts;
    m->first = m->end = m->leader = 0;
    for (size_t h = 0; h < n; h++)
        if (!m->parts[h].n) return PROF_OK;
    if (!n) return PROF_OK;
    for (size_t h = 1; h < n; h++)
        if (whole_span(&m->parts[h]) < whole_span(&m->parts[m->leader])) m->leader = h;
    const HostPart *leader = &m->parts[m->leader];
    if (n > 1 && !order_spans(&order, leader)) prof_nomem(err);
    m->end = leader->n;
    for (size_t h = 0; h < n && !err->code; h++) {
        HostPart *part = &m->parts[h];
        if (h == m->leader || align(m, &order, h, err)) continue;
        size_t first = part->shift > 0 ? (size_t)part->shift : 0, end = (size_t)((int64_t)part->n + part->shift);
        if (first > m->first) m->first = first;
        if (end < m->end) m->end = end;
    }
    if (m->end <= m->first) m->end = m->first, m->db->empty_intersect = true;
    prof_free(order.order);
    prof_free(order.reach);
    return err->code;
}

/* ---- the run's steps ---- */

static int by_core(const void *a, const void *b)
{
    const StepCore *x = a, *y = b;
    return x->core_id < y->core_id ? -1 : x->core_id > y->core_id;
}

static int make_step(Merge *m, Step *step, size_t nth, ProfErr *err)
{
    StepDb *db = m->db;
    const HostStep **of = arena_alloc(&db->arena, db->n_hosts * sizeof *of);
    size_t n_cores = 0;
    if (!of) return prof_nomem(err);
    for (size_t h = 0; h < db->n_hosts; h++) {
        of[h] = m->parts[h].steps[(size_t)((int64_t)(m->first + nth) - m->parts[h].shift)];
        n_cores += of[h]->n_cores;
    }
    StepCore *cores = step->cores = arena_alloc(&db->arena, n_cores * sizeof *cores);
    if (!cores) return prof_nomem(err);
    step->of_hosts = of;
    step->number = m->db->merged ? (uint32_t)nth : (uint32_t)of[0]->group;
    step->name = of[0]->name;
    step->begin_ps = of[0]->begin_ps;
    for (size_t h = 0; h < db->n_hosts; h++) {
        for (size_t c = 0; c < of[h]->n_cores; c++) {
            cores[step->n_cores] = of[h]->cores[c];
            cores[step->n_cores++].core_id += db->host_places[h] * 1000;
            if (of[h]->cores[c].kind != STEP_CORE_SPARSE && of[h]->cores[c].duration_ps > step->duration_ps) step->duration_ps = of[h]->cores[c].duration_ps;
        }
        step->dropped |= of[h]->dropped == STEP_FIRST_OR_LAST;
    }
    if (n_cores) qsort(cores, n_cores, sizeof *cores, by_core);
    return PROF_OK;
}

static int make_steps(Merge *m, ProfErr *err)
{
    StepDb *db = m->db;
    db->n_steps = m->end - m->first;
    if (!(db->steps = arena_alloc(&db->arena, db->n_steps * sizeof *db->steps))) return prof_nomem(err);
    for (size_t i = 0; i < db->n_steps && !err->code; i++) make_step(m, &db->steps[i], i, err);
    for (size_t h = 0; h < db->n_hosts; h++) {
        const HostSteps *host = db->hosts[h];
        db->compute_16bit_ps += host->compute_16bit_ps, db->compute_32bit_ps += host->compute_32bit_ps;
        db->has_complete_steps |= host->is_tpu;
        enum Hardware hardware = host->is_tpu ? HARDWARE_TPU : host->has_device ? HARDWARE_GPU : HARDWARE_CPU;
        if (hardware > db->hardware) db->hardware = hardware;
    }
    db->has_complete_steps |= db->merged;
    return err->code;
}

static void release(void *result)
{
    StepDb *db = result;
    arena_free(&db->arena);
    prof_free(db);
}

static StepDb *merge(Run *run, Host *only, bool all, ProfErr *err)
{
    Merge m = {.db = prof_alloc(sizeof *m.db), .all = all};
    if (!m.db) return prof_nomem(err), NULL;
    if (!choose_hosts(&m, run, only, err) && !choose_steps(&m, err) && !intersect(&m, err)) make_steps(&m, err);
    for (size_t h = 0; m.parts && h < m.db->n_hosts; h++) {
        prof_free(m.parts[h].steps);
        prof_free(m.parts[h].spans);
    }
    prof_free(m.parts);
    if (!err->code) return m.db;
    release(m.db);
    return NULL;
}

static void *make_kept(Run *run, Host *only, ProfErr *err) { return merge(run, only, false, err); }

const StepDb *run_steps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make_kept, release};
    return run_analysis(run, only, &analysis, err);
}

/* Where each step that XProf keeps stands among them. */
static void *make_all(Run *run, Host *only, ProfErr *err)
{
    const StepDb *kept = run_steps(run, only, err);
    StepDb *all = kept ? merge(run, only, true, err) : NULL;
    size_t k = 0;
    for (size_t i = 0; all && i < all->n_steps; i++) {
        Step *step = &all->steps[i];
        bool same = all->n_hosts && k < kept->n_steps && kept->steps[k].of_hosts[0] == step->of_hosts[0];
        step->kept_number = same ? (int64_t)kept->steps[k++].number : -1;
        step->dropped = !same;
    }
    return all;
}

const StepDb *run_all_steps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make_all, release};
    return run_analysis(run, only, &analysis, err);
}

/* ---- ops of steps ---- */

static int add_ops(const HostSteps *host, const uint32_t *occurrences, const uint64_t *time_ps, const uint64_t *self_ps, OpMetricsDb *out, Arena *arena,
                   ProfErr *err)
{
    for (size_t i = 0; i < host->ops.n_ops; i++) {
        if (!occurrences[i]) continue;
        OpMetrics one = host->ops.ops[i];
        OpMetrics *op = op_db_at(out, one.program_id, one.name);
        MemoryAccess *memory = arena_alloc(arena, one.n_memory * sizeof *memory);
        if (!op || !memory) return prof_nomem(err);
        one.occurrences = occurrences[i], one.time_ps = time_ps[i], one.self_ps = self_ps[i];
        one.flops *= occurrences[i], one.bytes_accessed *= occurrences[i];
        one.model_flops = one.model_flops > 0 ? one.model_flops * occurrences[i] : one.flops;
        for (size_t k = 0; k < one.n_memory; k++) {
            memory[k] = one.memory[k];
            memory[k].bytes *= occurrences[i];
        }
        one.memory = memory;
        out->total_op_ps += one.self_ps;
        if (!op_merge(op, &one, arena, false)) return prof_nomem(err);
    }
    return PROF_OK;
}

static int add_host_ops(const HostSteps *host, size_t h, const StepDb *db, const Step *one, OpMetricsDb *out, Arena *arena, ProfErr *err)
{
    size_t n = host->ops.n_ops;
    uint64_t *time_ps = prof_alloc(2 * n * sizeof *time_ps), *self_ps = time_ps ? time_ps + n : NULL;
    uint32_t *occurrences = prof_alloc(n * sizeof *occurrences);
    if (!time_ps || !occurrences) prof_nomem(err);
    const Step *first = one ? one : db->steps, *end = one ? one + 1 : db->steps + db->n_steps;
    for (const Step *step = first; step < end && !err->code; step++) {
        const HostStep *of = step->of_hosts[h];
        for (size_t i = of->first_op; i < of->first_op + of->n_ops; i++) {
            const StepOpRecord *r = &host->records[i];
            occurrences[r->op] += r->occurrences, time_ps[r->op] += r->time_ps, self_ps[r->op] += r->self_ps;
        }
        for (size_t c = 0; c < of->n_cores; c++)
            if (of->cores[c].kind == STEP_CORE_TENSOR) out->total_ps += of->cores[c].total_ps;
    }
    if (!err->code) add_ops(host, occurrences, time_ps, self_ps, out, arena, err);
    prof_free(time_ps);
    prof_free(occurrences);
    return err->code;
}

int step_ops(const StepDb *db, const Step *step, OpMetricsDb *out, Arena *arena, ProfErr *err)
{
    *out = (OpMetricsDb){0};
    for (size_t h = 0; h < db->n_hosts && !err->code; h++)
        if (db->hosts[h]->is_tpu) add_host_ops(db->hosts[h], h, db, step, out, arena, err);
    if (err->code) op_db_free(out);
    return err->code;
}
