// SPDX-License-Identifier: Apache-2.0
/* gpu_ops.c: op metrics of GPUs.
 *
 * Kernels do not nest, so self time equals time. A kernel belongs to an HLO op (stats hlo_op and
 * program_id, looked up in the file's programs) or to a framework op (stat tf_op). Other kernels
 * only extend the measured span.
 *
 * A run is a series of kernels of one HLO op on a stream. Runs matter in two cases: if a stream
 * moves from one program to another and both have an op of the same name, which XProf treats as one
 * run; and if kernels have costs of their own, of which the last in a run counts. In all other
 * cases lines are summed by op first. Only lines with one of these cases are read run by run. */
#include "../program/hlo_validate.h"
#include "../../store/lines.h"
#include "op_actual.h"
#include "op_build.h"
#include "op_executions.h"
#include "op_hlo.h"

/* ---- the stats of a kernel ---- */

typedef struct {
    bool is_hlo, has_program, is_eager;
    const Text *hlo_op, *tf_op;
    int64_t group;
    uint64_t program_id, flops, bytes_accessed;
} KernelFacts;

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    /* whether stats of kernels name their op, and whether they have costs */
    bool has_ops, has_costs;
    struct GpuLine *lines;
} GpuPlane;

/* Makes *text the value of a stat that names an op. */
static bool read_op_text(const GpuPlane *p, const Stat *stat, const Text **text, ProfErr *err)
{
    if (stat->type == TYPE_STR)
        *text = op_text(p->build, stat_text(p->plane, stat), err);
    else
        *text = stat->type == TYPE_REF ? stat_ref_text(p->plane, stat->u64) : empty_text;
    return *text != NULL;
}

/* Reads the stats of a kernel. The last of a name counts. */
static int kernel_facts(const GpuPlane *p, const EventAt *e, KernelFacts *facts, ProfErr *err)
{
    *facts = (KernelFacts){.hlo_op = empty_text, .tf_op = empty_text, .group = -1};
    StatIter stats = stat_iter_of_event(e);
    Stat stat;
    unsigned known;
    while (stat_iter_next_wanted(&stats, &p->filter, &known, &stat)) {
        switch (known) {
        case STAT_HLO_OP: /* an empty text is an op without a program */
            facts->is_hlo = stat.type == TYPE_STR || stat.type == TYPE_REF;
            if (!read_op_text(p, &stat, &facts->hlo_op, err)) return err->code;
            break;
        case STAT_TF_OP:
            if (!read_op_text(p, &stat, &facts->tf_op, err)) return err->code;
            break;
        case STAT_IS_EAGER: facts->is_eager = stat_int(&stat) != 0; break;
        case STAT_GROUP_ID: facts->group = stat_int(&stat); break;
        case STAT_PROGRAM_ID:
            facts->has_program = true, facts->program_id = stat_int_or_uint(&stat);
            break;
        case STAT_FLOPS: facts->flops = stat_int_or_uint(&stat); break;
        case STAT_BYTES_ACCESSED: facts->bytes_accessed = stat_int_or_uint(&stat); break;
        default: break;
        }
    }
    return PROF_OK;
}

/* ---- a line ---- */

/* Kernels of one op: an HLO op by program, or a framework op by the kernel's metadata. */
typedef struct {
    bool is_hlo, has_program;
    const Text *op; /* value of hlo_op or tf_op */
    uint64_t program_id;
    const EventMeta *meta; /* for a framework op: of the kernel */
    bool is_eager;         /* stat of its first event */
    uint64_t first_event, time_ps;
    uint32_t occurrences;
    OpKernels kernels;                           /* for an HLO op */
    const Xla__HloInstructionProto *instruction; /* looked up when lines are joined */
    const HloModule *module;
} KernelSums;

/* Consecutive kernels with the same sums and group. */
typedef struct {
    uint32_t sums, occurrences;
    int64_t group;
    uint64_t first_event, time_ps, flops, bytes_accessed;
} KernelRun;

typedef struct GpuLine {
    GpuPlane *plane;
    Line *line;
    KernelSums *sums; /* in order of first occurrence */
    size_t n_sums, capacity;
    HashTable by_key;
    uint32_t last_hlo; /* index + 1 of the last kernel with an HLO op */
    bool crosses; /* consecutive kernels are of two programs that both have an op of this name */
    bool by_runs;
    KernelRun *runs;
    size_t n_runs, run_capacity;
} GpuLine;

static uint64_t key_hash(const KernelSums *key)
{
    const void *which = key->is_hlo ? NULL : (const void *)key->meta;
    return hash64((uint64_t)(uintptr_t)key->op ^
                  hash64(key->program_id + (uint64_t)(uintptr_t)which));
}

static bool same_key(const KernelSums *a, const KernelSums *b)
{
    return a->op == b->op && a->is_hlo == b->is_hlo && a->program_id == b->program_id &&
           a->has_program == b->has_program && a->meta == b->meta;
}

/* Returns the index of the kernel's sums; -1 if memory runs out. */
static int64_t sums_of(GpuLine *l, const EventAt *e, const KernelFacts *f)
{
    KernelSums key = {.is_hlo = f->is_hlo,
                      .op = f->is_hlo ? f->hlo_op : f->tf_op,
                      .first_event = e->event,
                      .is_eager = f->is_eager};
    if (f->is_hlo)
        key.has_program = f->has_program, key.program_id = f->program_id;
    else
        key.meta = e->meta;
    uint64_t hash = key_hash(&key);
    HASH_EACH(i, &l->by_key, hash)
        if (same_key(&l->sums[i], &key)) return (int64_t)i;
    if (!GROW(l->sums, l->n_sums, l->capacity) || !hash_add(&l->by_key, hash, l->n_sums)) return -1;
    l->sums[l->n_sums] = key;
    return (int64_t)l->n_sums++;
}

static bool add_to_runs(GpuLine *l, const EventAt *e, const KernelFacts *f, uint32_t sums)
{
    const OpBuild *build = l->plane->build;
    int64_t group = -1;
    if (build->grouped)
        group = f->group;
    else if (build->grouping)
        group = event_step_group(build->grouping, e->event);
    KernelRun *last = l->n_runs ? &l->runs[l->n_runs - 1] : NULL;
    if (!last || last->sums != sums || !f->is_hlo || group < 0 || last->group != group) {
        if (!GROW(l->runs, l->n_runs, l->run_capacity)) return false;
        last = &l->runs[l->n_runs++];
        *last = (KernelRun){.sums = sums, .group = group, .first_event = e->event};
    }
    last->occurrences++, last->time_ps += (uint64_t)e->duration_ps;
    last->flops = f->flops, last->bytes_accessed = f->bytes_accessed;
    return true;
}

static int add_kernel(GpuLine *l, const EventAt *e, ProfErr *err)
{
    KernelFacts f;
    if (kernel_facts(l->plane, e, &f, err)) return err->code;
    if (!f.is_hlo && !f.tf_op->n_bytes) return PROF_OK;
    int64_t position = sums_of(l, e, &f);
    if (position < 0) return prof_nomem(err);
    KernelSums *sums = &l->sums[position];
    sums->occurrences++, sums->time_ps += (uint64_t)e->duration_ps;
    if (f.is_hlo) {
        if (l->last_hlo && l->last_hlo != position + 1) {
            const KernelSums *last = &l->sums[l->last_hlo - 1];
            op_kernels_end_row(&l->sums[l->last_hlo - 1].kernels);
            l->crosses |= last->program_id != sums->program_id &&
                          slice_equal(slice_innermost(slice_of(last->op)),
                                      slice_innermost(slice_of(sums->op)));
        }
        l->last_hlo = (uint32_t)position + 1;
        if (!op_kernels_add(&sums->kernels, e->meta->name)) return prof_nomem(err);
    }
    if (l->by_runs && !add_to_runs(l, e, &f, (uint32_t)position)) return prof_nomem(err);
    return PROF_OK;
}

static void read_kernels(GpuLine *l, ProfErr *err)
{
    const GpuPlane *p = l->plane;
    if (l->line->derived || !p->has_ops) return;
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, l->line, &p->filter.wanted, err);
    while (event_reader_next(&reader, &e) && !add_kernel(l, &e, err)) {
    }
    event_reader_close(&reader);
    if (l->last_hlo) op_kernels_end_row(&l->sums[l->last_hlo - 1].kernels);
}

/* context: an array with an entry for each plane of the host. */
static void read_line(void *context, size_t i, ProfErr *err)
{
    GpuPlane *planes = context;
    const Host *host = planes->build->host;
    Line *line = &host->lines[i];
    GpuPlane *p = &planes[line->plane - host->planes];
    GpuLine *l = &p->lines[i - line->plane->first_line];
    l->plane = p, l->line = line;
    read_kernels(l, err);
}

static void line_free(GpuLine *l)
{
    for (size_t i = 0; i < l->n_sums; i++) op_kernels_free(&l->sums[i].kernels);
    prof_free(l->sums);
    hash_free(&l->by_key);
    prof_free(l->runs);
}

/* ---- joining lines ---- */

static int resolve(GpuLine *l, size_t *n_dropped, ProfErr *err)
{
    for (size_t i = 0; i < l->n_sums && !err->code; i++) {
        KernelSums *sums = &l->sums[i];
        if (!sums->is_hlo) continue;
        Slice name = slice_innermost(slice_of(sums->op));
        sums->module = sums->has_program
                           ? hlo_valid_program(l->plane->build->host, sums->program_id, err)
                           : NULL;
        if (sums->module) sums->instruction = hlo_find(sums->module, name.text, name.n);
        *n_dropped += !sums->instruction;
    }
    return err->code;
}

/* Returns whether runs give another result than sums: kernels have costs, or ops of the same name
 * in two programs follow each other (kernels of unknown ops may be between them). */
static bool needs_runs(const GpuLine *l, size_t n_dropped)
{
    bool programs = false;
    const KernelSums *first = NULL;
    for (size_t i = 0; i < l->n_sums; i++) {
        if (!l->sums[i].is_hlo) continue;
        if (!first) first = &l->sums[i];
        programs |= l->sums[i].program_id != first->program_id;
    }
    return first && (l->plane->has_costs || l->crosses || (n_dropped && programs));
}

typedef struct {
    const KernelSums *sums;
    uint32_t occurrences;
    int64_t group;
    uint64_t first_event, time_ps, flops, bytes_accessed;
} HloRun;

static bool is_eager(const GpuPlane *p, const KernelSums *sums, uint64_t event)
{
    if (p->build->grouped) return sums->is_eager;
    return p->build->grouping && event_eager(p->build->grouping, event) == 1;
}

static void add_time(OpMetricsDb *db, OpMetrics *op, uint32_t occurrences, uint64_t time_ps)
{
    op->occurrences += occurrences;
    op->time_ps += time_ps, op->self_ps += time_ps;
    op->event_time_ps += time_ps, op->event_self_ps += time_ps;
    db->total_op_ps += time_ps;
}

static int add_hlo(GpuPlane *p, OpMetricsDb *db, const HloRun *run, ProfErr *err)
{
    const KernelSums *sums = run->sums;
    const Text *name = op_text(p->build, slice_innermost(slice_of(sums->op)), err);
    if (!name) return err->code;
    size_t n = db->n_ops;
    OpMetrics *op = op_db_at(db, sums->program_id, name);
    if (!op) return prof_nomem(err);
    if (db->n_ops > n) {
        op->is_eager = is_eager(p, sums, run->first_event);
        op->has_program = true, op->n_cores = 1;
        if (op_describe_hlo(p->build, op, sums->module, sums->instruction, err)) return err->code;
    }
    add_time(db, op, run->occurrences, run->time_ps);
    return op_add_cost(p->build, op, sums->module, sums->instruction, run->occurrences, run->flops,
                       run->bytes_accessed, err);
}

static int add_framework(GpuPlane *p, OpMetricsDb *db, const KernelSums *sums, uint32_t occurrences,
                         uint64_t time_ps, uint64_t first_event, ProfErr *err)
{
    TfOp parsed = tf_op_parse(slice_of(sums->op));
    size_t n = parsed.name.n + 1 + sums->meta->name->n_bytes;
    char *joined = prof_alloc(n);
    if (!joined) return prof_nomem(err);
    memcpy(joined, parsed.name.text, parsed.name.n);
    joined[parsed.name.n] = '/';
    memcpy(joined + parsed.name.n + 1, sums->meta->name->text, sums->meta->name->n_bytes);
    const Text *name = op_text(p->build, (Slice){joined, n}, err);
    prof_free(joined);
    n = db->n_ops;
    OpMetrics *op = name ? op_db_at(db, 0, name) : NULL;
    if (!op) return prof_nomem(err);
    if (db->n_ops > n) {
        op->is_eager = is_eager(p, sums, first_event);
        op->n_cores = 1, op->has_source = true, op->source_line = -1;
        op->provenance = sums->op;
        if (!(op->category =
                  op_text(p->build, parsed.type.n ? parsed.type : slice_of_string("unknown"), err)))
            return err->code;
    }
    add_time(db, op, occurrences, time_ps);
    return PROF_OK;
}

static void join_sums(GpuLine *l, OpMetricsDb *db, ProfErr *err)
{
    for (size_t i = 0; i < l->n_sums && !err->code; i++) {
        const KernelSums *s = &l->sums[i];
        HloRun run = {.sums = s,
                      .occurrences = s->occurrences,
                      .first_event = s->first_event,
                      .time_ps = s->time_ps};
        if (!s->is_hlo)
            add_framework(l->plane, db, s, s->occurrences, s->time_ps, s->first_event, err);
        else if (s->instruction)
            add_hlo(l->plane, db, &run, err);
    }
}

static void join_runs(GpuLine *l, OpMetricsDb *db, ProfErr *err)
{
    HloRun open = {0};
    for (size_t i = 0; i < l->n_runs && !err->code; i++) {
        const KernelRun *r = &l->runs[i];
        const KernelSums *s = &l->sums[r->sums];
        if (s->is_hlo && !s->instruction) continue;
        if (open.sums && s->is_hlo && open.group >= 0 && open.group == r->group &&
            slice_equal(slice_innermost(slice_of(open.sums->op)),
                        slice_innermost(slice_of(s->op)))) {
            open.occurrences += r->occurrences, open.time_ps += r->time_ps;
            open.flops = r->flops, open.bytes_accessed = r->bytes_accessed;
            continue;
        }
        if (open.sums) add_hlo(l->plane, db, &open, err);
        open = (HloRun){s->is_hlo ? s : NULL, r->occurrences, r->group,         r->first_event,
                        r->time_ps,           r->flops,       r->bytes_accessed};
        if (!s->is_hlo && !err->code)
            add_framework(l->plane, db, s, r->occurrences, r->time_ps, r->first_event, err);
    }
    if (open.sums && !err->code) add_hlo(l->plane, db, &open, err);
}

static void join_line(GpuLine *l, OpMetricsDb *db, ProfErr *err)
{
    GpuPlane *p = l->plane;
    size_t n_dropped = 0;
    if (resolve(l, &n_dropped, err)) return;
    if (!needs_runs(l, n_dropped)) {
        join_sums(l, db, err);
        return;
    }
    if (!p->build->grouped && !op_grouping(p->build, err)) return;
    line_free(l);
    *l = (GpuLine){.plane = p, .line = l->line, .by_runs = true};
    read_kernels(l, err);
    if (!err->code && !resolve(l, &n_dropped, err)) join_runs(l, db, err);
}

/* ---- planes ---- */

/* Counts the executions of the plane's ops, each in its own program, their time and their work. */
static int add_executions(GpuPlane *p, OpMetricsDb *db, ProfErr *err)
{
    OpKernels *kernels = prof_alloc(db->n_ops * sizeof *kernels);
    if (!kernels) return prof_nomem(err);
    for (size_t i = 0; i < p->plane->n_lines; i++)
        for (size_t k = 0; k < p->lines[i].n_sums && !err->code; k++) {
            const KernelSums *sums = &p->lines[i].sums[k];
            Slice name = slice_innermost(slice_of(sums->op));
            const OpMetrics *op =
                sums->instruction ? op_db_find(db, sums->program_id, name.text, name.n) : NULL;
            if (!op) continue;
            size_t at = (size_t)(op - db->ops);
            db->ops[at].kernels_ps += sums->time_ps;
            if (!op_kernels_join(&kernels[at], &sums->kernels)) prof_nomem(err);
        }
    for (size_t i = 0; i < db->n_ops && !err->code; i++) {
        OpMetrics *op = &db->ops[i];
        op->executions = kernels[i].n ? op_kernels_executions(&kernels[i]) : op->occurrences;
        if (kernels[i].n) op_set_needs(p->build, db, op, err);
    }
    for (size_t i = 0; i < db->n_ops; i++) op_kernels_free(&kernels[i]);
    prof_free(kernels);
    return err->code;
}

/* Returns the time from the first start to the last end of all events except those of derived
 * lines. Each line counts from its own start. */
static uint64_t measured_ps(const Plane *plane)
{
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < plane->n_lines; i++) {
        const Line *line = &plane->host->lines[plane->first_line + i];
        for (size_t c = 0; c < line->n_chunks && !line->derived; c++) {
            if (line->chunks[c].min_offset < first) first = line->chunks[c].min_offset;
            if (line->chunks[c].max_end > last) last = line->chunks[c].max_end;
        }
    }
    return last ? (uint64_t)last - (uint64_t)first : 0;
}

static int open_plane(GpuPlane *p, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_HLO_OP,  STAT_PROGRAM_ID,     STAT_TF_OP,
                                            STAT_FLOPS,   STAT_BYTES_ACCESSED, STAT_IS_EAGER,
                                            STAT_GROUP_ID};
    const Plane *plane = p->plane;
    if (!(p->lines = prof_alloc(plane->n_lines * sizeof *p->lines))) return prof_nomem(err);
    p->has_ops = plane_declares(plane, STAT_HLO_OP) || plane_declares(plane, STAT_TF_OP);
    p->has_costs = plane_declares(plane, STAT_FLOPS) || plane_declares(plane, STAT_BYTES_ACCESSED);
    return stat_filter_open(&p->filter, plane, wanted, COUNT(wanted) - (p->build->grouped ? 0 : 2),
                            err);
}

static int join_plane(GpuPlane *p, ProfErr *err)
{
    OpStats *stats = p->build->stats;
    OpMetricsDb db = {0};
    for (size_t i = 0; i < p->plane->n_lines && !err->code; i++) join_line(&p->lines[i], &db, err);
    if (!err->code && !add_executions(p, &db, err)) {
        uint64_t measured = measured_ps(p->plane);
        db.total_ps = db.total_op_ps > measured ? db.total_op_ps : measured;
        if (!op_db_add_idle(&db, stats->idle) ||
            !op_db_merge(&stats->device, &db, &stats->arena, true))
            prof_nomem(err);
    }
    op_db_free(&db);
    return err->code;
}

static void close_plane(GpuPlane *p)
{
    for (size_t i = 0; p->lines && i < p->plane->n_lines; i++) line_free(&p->lines[i]);
    stat_filter_close(&p->filter);
    prof_free(p->lines);
}

int gpu_ops_build(OpBuild *build, ProfErr *err)
{
    Host *host = build->host;
    GpuPlane *planes = prof_alloc(host->n_planes * sizeof *planes);
    if (!planes) return prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        planes[i] = (GpuPlane){.build = build, .plane = &host->planes[i]};
        if (planes[i].plane->kind == PLANE_GPU) open_plane(&planes[i], err);
    }
    if (!err->code) parallel_lines_of(host, PLANE_GPU, read_line, planes, err);
    for (size_t i = 0; i < host->n_planes; i++) {
        if (planes[i].lines && !err->code) join_plane(&planes[i], err);
        close_plane(&planes[i]);
    }
    prof_free(planes);
    return err->code;
}
