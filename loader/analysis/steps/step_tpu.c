// SPDX-License-Identifier: Apache-2.0
/* step_tpu.c: builds the steps of TensorCores; see step_parts.h.
 *
 * A core's step consists of the ops of its group, each with its self time, in device time if events
 * have it. Only steps that all cores have count. The host's threads determine how much of the idle
 * time was waiting for input. */
#include "../../base/interrupt.h"
#include "../ops/op_metadata.h"
#include "../../base/sort.h"
#include "step_tpu.h"

static bool is_whole(const CoreGroup *of) { return of->marker.there && of->has_events; }

static bool is_step(const Tpu *t, size_t group)
{
    return t->round && t->step_in[group] == t->round;
}

static int by_number_and_place(const void *a, const void *b)
{
    const Core *x = *(Core *const *)a, *y = *(Core *const *)b;
    uint32_t x_number = (uint32_t)x->plane->proto_id, y_number = (uint32_t)y->plane->proto_id;
    if (x_number != y_number) return ORDER(x_number, y_number);
    return ORDER(x, y);
}

static int by_place(const void *a, const void *b)
{
    const Core *x = *(Core *const *)a, *y = *(Core *const *)b;
    return ORDER(x, y);
}

/* Drops the steps of cores before the one at which XProf started again. */
static void close_steps(Tpu *t)
{
    if (!t->n_stepping) return;
    for (Core *core = t->stepping[0]; core < t->cores + t->n_cores; core++)
        for (size_t k = 0; k < core->n_groups; k++) {
            const CoreGroup *of = &core->groups[k];
            if (of->all_reduce_ps > t->all_reduce_ps[of->group])
                t->all_reduce_ps[of->group] = of->all_reduce_ps;
        }
    sort_array(t->stepping, t->n_stepping, sizeof *t->stepping, by_number_and_place);
    for (size_t i = 0; i < t->n_stepping; i++)
        t->stepping[i]->is_last =
            i + 1 == t->n_stepping || (uint32_t)t->stepping[i + 1]->plane->proto_id !=
                                          (uint32_t)t->stepping[i]->plane->proto_id;
    sort_array(t->stepping, t->n_stepping, sizeof *t->stepping, by_place);
}

/* Finds the groups that all cores with groups have. If there is none left, the next core starts
 * again. */
static void intersect(Tpu *t)
{
    size_t n_now = 0;
    for (size_t c = 0; c < t->n_cores; c++) {
        Core *core = &t->cores[c];
        size_t n = 0, n_common = 0;
        for (size_t k = 0; k < core->n_groups; k++) {
            if (!is_whole(&core->groups[k])) continue;
            size_t group = (size_t)core->groups[k].group;
            n++, n_common += is_step(t, group);
            t->counted[group]++;
        }
        if (!n) continue;
        bool anew = !n_now;
        if (anew) t->n_stepping = 0;
        t->stepping[t->n_stepping++] = core;
        for (size_t k = 0; k < core->n_groups; k++)
            if (is_whole(&core->groups[k]) && (anew || is_step(t, (size_t)core->groups[k].group)))
                t->step_in[core->groups[k].group] = t->round + 1;
        t->round++;
        n_now = anew ? n : n_common;
    }
    close_steps(t);
}

/* ---- ops ---- */

static bool same_memory(const OpMetrics *a, const OpMetrics *b)
{
    if (a->n_memory != b->n_memory) return false;
    for (size_t i = 0; i < a->n_memory; i++)
        if (a->memory[i].operation != b->memory[i].operation ||
            a->memory[i].space != b->memory[i].space || a->memory[i].bytes != b->memory[i].bytes)
            return false;
    return true;
}

static bool same_op(const OpMetrics *a, const OpMetrics *b)
{
    return a->category == b->category && a->flops == b->flops && a->model_flops == b->model_flops &&
           a->bytes_accessed == b->bytes_accessed && same_memory(a, b);
}

/* Adds the op of a metadata, shared by all cores on which it is the same. */
static int add_op(Tpu *t, const OpMetrics *read, uint32_t *op_of, ProfErr *err)
{
    OpMetricsDb *ops = &t->build->steps->ops;
    size_t n = ops->n_ops;
    OpMetrics *op = op_db_at(ops, read->program_id, read->name);
    if (op && ops->n_ops == n && !same_op(op, read)) op = op_db_append(ops);
    if (!op) return prof_nomem(err);
    if (ops->n_ops > n) {
        *op = *read;
        op->children = NULL;
    }
    *op_of = (uint32_t)(op - ops->ops) + 1;
    t->build->steps->has_infeed |=
        !strcmp(op->category->text, "infeed") || !strcmp(op->category->text, "sparsecorev0 infeed");
    return PROF_OK;
}

/* Gives a metadata an op of its own, because its core may have its events under another name than
 * other cores. */
static int separate_op(Tpu *t, const Core *core, uint32_t meta, ProfErr *err)
{
    OpMetricsDb *ops = &t->build->steps->ops;
    OpMetrics *op = op_db_append(ops);
    if (!op) return prof_nomem(err);
    *op = ops->ops[core->op_of[meta] - 1];
    op->meta = &core->plane->event_metas[meta];
    core->op_of[meta] = (uint32_t)(op - ops->ops) + 1;
    return PROF_OK;
}

typedef struct {
    uint64_t program_id, symbol_id;
    uint32_t meta;
} MetaSymbol;

static int by_symbol(const void *a, const void *b)
{
    const MetaSymbol *x = a, *y = b;
    if (x->program_id != y->program_id) return ORDER(x->program_id, y->program_id);
    if (x->symbol_id != y->symbol_id) return ORDER(x->symbol_id, y->symbol_id);
    return ORDER(x->meta, y->meta);
}

static bool same_symbol(const MetaSymbol *a, const MetaSymbol *b)
{
    return a->program_id == b->program_id && a->symbol_id == b->symbol_id;
}

/* Finds metadata with the same symbol. XProf identifies the ops of a step by symbol: if several
 * metadata have the same, the first to end describes the op. */
static int find_twins(Tpu *t, Core *core, MetaSymbol *symbols, size_t n, ProfErr *err)
{
    size_t first = 0;
    sort_array(symbols, n, sizeof *symbols, by_symbol);
    for (size_t i = 1; i < n && !err->code; i++) {
        if (!same_symbol(&symbols[i], &symbols[first])) {
            first = i;
            continue;
        }
        size_t n_metas = core->plane->n_event_metas;
        if (!core->twin_of && !(core->twin_of = prof_alloc(n_metas * sizeof *core->twin_of)))
            return prof_nomem(err);
        if (n_metas > t->n_twins) t->n_twins = n_metas;
        core->twin_of[symbols[i].meta] = core->twin_of[symbols[first].meta] =
            symbols[first].meta + 1;
    }
    return err->code;
}

/* The metadata of ops that have another one may name them differently elsewhere. That one may also
 * only occur on another line. */
static int separate_ops(Tpu *t, const Core *core, const MetaSymbol *symbols, size_t n, ProfErr *err)
{
    for (size_t i = 0; i < n && !err->code; i++)
        if (core->n_op_lines > 1 || (core->twin_of && core->twin_of[symbols[i].meta]))
            separate_op(t, core, symbols[i].meta, err);
    return err->code;
}

static int read_ops(Tpu *t, Core *core, ProfErr *err)
{
    OpBuild build = {.host = t->build->host, .stats = t->build->steps->texts};
    MetadataReader reader;
    OpMetricsDb one = {0};
    MetaSymbol *symbols = prof_alloc(core->plane->n_event_metas * sizeof *symbols);
    size_t n_symbols = 0;
    pthread_mutex_init(&build.lock, NULL);
    if (!symbols || !(core->op_of = prof_alloc(core->plane->n_event_metas * sizeof *core->op_of)))
        prof_nomem(err);
    bool opened = !err->code && !metadata_reader_open(&reader, &build, core->plane, err);
    for (size_t i = 0; i < core->plane->n_event_metas && !err->code; i++) {
        OpKey key;
        if (!core->used[i]) continue;
        one.n_ops = 0;
        OpMetrics *read = op_db_append(&one);
        if (!read) {
            prof_nomem(err);
        } else if (!metadata_read(&reader, &core->plane->event_metas[i], read, &key, err) &&
                   read->has_program && key.has_symbol && key.symbol_id) {
            symbols[n_symbols++] = (MetaSymbol){read->program_id, key.symbol_id, (uint32_t)i};
            add_op(t, read, &core->op_of[i], err);
        }
    }
    if (!err->code && !find_twins(t, core, symbols, n_symbols, err))
        separate_ops(t, core, symbols, n_symbols, err);
    prof_free(symbols);
    if (opened) metadata_reader_close(&reader);
    op_db_free(&one);
    pthread_mutex_destroy(&build.lock);
    return err->code;
}

static int by_text(const void *a, const void *b)
{
    return strcmp((*(const Text *const *)a)->text, (*(const Text *const *)b)->text);
}

static size_t find_category(const Tpu *t, const Text *category)
{
    const Text **found =
        bsearch(&category, t->categories, t->n_categories, sizeof *t->categories, by_text);
    return found ? (size_t)(found - t->categories) : 0;
}

/* Numbers the categories by name. */
static int number_categories(Tpu *t, ProfErr *err)
{
    const OpMetricsDb *ops = &t->build->steps->ops;
    static const char *const own[] = {"IDLE", "infeed"}; /* infeed comes last */
    size_t n = 0;
    if (!(t->categories = prof_alloc((ops->n_ops + COUNT(own)) * sizeof *t->categories)))
        return prof_nomem(err);
    for (size_t i = 0; i < ops->n_ops; i++) t->categories[n++] = ops->ops[i].category;
    for (size_t i = 0; i < COUNT(own); i++) {
        OpStats *texts = t->build->steps->texts;
        if (!(t->categories[n++] =
                  text_intern(&texts->texts, &texts->arena, own[i], strlen(own[i]))))
            return prof_nomem(err);
    }
    t->infeed = t->categories[n - 1];
    sort_array(t->categories, n, sizeof *t->categories, by_text);
    for (size_t i = 0; i < n; i++)
        if (!i || by_text(&t->categories[i], &t->categories[t->n_categories - 1]))
            t->categories[t->n_categories++] = t->categories[i];
    if (!(t->category_of = prof_alloc(ops->n_ops * sizeof *t->category_of))) return prof_nomem(err);
    t->idle = (uint32_t)find_category(t, t->build->steps->texts->idle);
    for (size_t i = 0; i < ops->n_ops; i++)
        t->category_of[i] = (uint32_t)find_category(t, ops->ops[i].category);
    return PROF_OK;
}

/* ---- steps ---- */

typedef struct {
    uint32_t seen_in, op; /* the last core's step that had one of the twins, as counted below; the
                             op of the first one, + 1 */
} TwinOp;

/* Sums of the current step. */
typedef struct {
    const Tpu *tpu;
    Arena *arena;
    uint64_t *category_ps;
    uint32_t *touched; /* categories with time */
    /* for each category: the number of the last core's step that had it */
    uint32_t *seen_in, n_seen;
    TwinOp *twins; /* by event metadata */
    StepOpRecord *ops;
    uint32_t *touched_ops;
    size_t n_touched_ops;
} StepSums;

static void add_op_record(StepSums *s, uint32_t op, const Record *r)
{
    StepOpRecord *sums = &s->ops[op];
    if (!sums->op) sums->op = op + 1, s->touched_ops[s->n_touched_ops++] = op;
    sums->occurrences += r->occurrences, sums->time_ps += r->time_ps;
}

/* Adds a category of the current step to the list, once. */
static void touch(StepSums *s, uint32_t category, size_t *n)
{
    if (s->seen_in[category] != s->n_seen) s->touched[(*n)++] = category;
    s->seen_in[category] = s->n_seen;
}

/* Sorts the touched categories. */
static void order_touched(StepSums *s, size_t n)
{
    enum { FEW = 64 };
    size_t at = 0;
    if (s->tpu->n_categories > FEW) {
        sort_array(s->touched, n, sizeof *s->touched, by_uint32);
        return;
    }
    for (uint32_t i = 0; i < s->tpu->n_categories; i++)
        if (s->seen_in[i] == s->n_seen) s->touched[at++] = i;
}

/* Returns the op of a record + 1; 0 if it has none. Called for records in order. */
static uint32_t op_of_record(StepSums *s, const Core *core, const Record *r)
{
    uint32_t twin = core->twin_of ? core->twin_of[r->meta] : 0;
    if (!twin) return core->op_of[r->meta];
    TwinOp *first = &s->twins[twin - 1];
    if (first->seen_in != s->n_seen) *first = (TwinOp){s->n_seen, core->op_of[r->meta]};
    return first->op;
}

/* Adds the shares of a core. XProf always has IDLE, even with time 0. There is room for one more
 * share. */
static int add_shares(StepSums *s, StepCore *core, const Core *of, uint32_t group, ProfErr *err)
{
    const Tpu *t = s->tpu;
    size_t n = 0;
    uint64_t told = 0;
    s->n_seen++;
    for (uint32_t run = core_group(of, group)->first_run; run; run = of->ops->runs[run - 1].next) {
        const Record *records = of->ops->runs[run - 1].records;
        for (size_t i = 0; i < of->ops->runs[run - 1].n; i++) {
            const Record *r = &records[i];
            uint32_t known = op_of_record(s, of, r);
            if (!known) continue;
            uint32_t op = known - 1, category = t->category_of[op];
            if (core->core_id < SPARSECORE_IDS) add_op_record(s, op, r);
            told += r->self_ps, s->category_ps[category] += r->self_ps;
            touch(s, category, &n);
        }
    }
    core->total_ps = told > core->duration_ps ? told : core->duration_ps;
    touch(s, t->idle, &n);
    s->category_ps[t->idle] += core->total_ps - told;
    order_touched(s, n);
    StepShare *shares = arena_buffer(s->arena, (n + 1) * sizeof *shares);
    for (size_t k = 0; k < n; k++) {
        if (shares)
            shares[k] = (StepShare){t->categories[s->touched[k]], s->category_ps[s->touched[k]]};
        s->category_ps[s->touched[k]] = 0;
    }
    core->shares = shares, core->n_shares = n;
    return shares ? PROF_OK : prof_nomem(err);
}

/* Keeps the step's ops, of all cores together. */
static int keep_ops(StepSums *s, HostStep *step, ProfErr *err)
{
    StepOpRecord *ops = arena_buffer(s->arena, s->n_touched_ops * sizeof *ops);
    if (!ops) return prof_nomem(err);
    for (size_t i = 0; i < s->n_touched_ops; i++) {
        uint32_t op = s->touched_ops[i];
        ops[i] = (StepOpRecord){op, s->ops[op].occurrences, s->ops[op].time_ps};
        s->ops[op] = (StepOpRecord){0};
    }
    step->ops = ops, step->n_ops = s->n_touched_ops;
    s->n_touched_ops = 0;
    return PROF_OK;
}

/* Returns how many SparseCores each step gets: none if the file has so many that listing them in
 * each step would take too much memory. */
static size_t count_sparsecores(Tpu *t)
{
    enum { BYTES_OF_EACH = 8 };
    Host *host = t->build->host;
    size_t n = 0, n_steps = 0;
    for (size_t i = 0; i < host->n_planes; i++) n += host->planes[i].kind == PLANE_SPARSECORE;
    for (size_t i = 0; i < t->build->groups.n; i++) n_steps += is_step(t, i);
    t->few_sparsecores =
        !n_steps || n <= ((1 << 20) + host->file.n_bytes / BYTES_OF_EACH) / n_steps;
    if (t->few_sparsecores) return n;
    host_issue(host, "warning", "sparsecores_cut", host,
               "%zu SparseCores in each of %zu steps need too much memory for the file's size: the "
               "tables of steps leave them out",
               n, n_steps);
    return 0;
}

/* Sums what the cores did in a step. */
static int sum_step(StepSums *s, HostStep *step, uint32_t group, ProfErr *err)
{
    const Tpu *t = s->tpu;
    step->xprof_all_reduce_ps = t->all_reduce_ps[group];
    for (size_t c = 0; c < t->n_stepping && !err->code; c++) {
        const Core *of = t->stepping[c];
        if (!of->is_last) continue;
        StepCore *core = &step->cores[step->n_cores++];
        *core = (StepCore){.core_id = (uint32_t)of->plane->proto_id,
                           .kind = STEP_CORE_TENSOR,
                           .host = t->build->host,
                           .plane = of->plane,
                           .begin_ps = step->begin_ps,
                           .duration_ps = step->duration_ps};
        add_shares(s, core, of, group, err);
    }
    return err->code ? err->code : keep_ops(s, step, err);
}

/* Adds a group's step, without what its cores did. */
static int add_step(Tpu *t, uint32_t group, size_t n_sparse, ProfErr *err)
{
    StepBuild *b = t->build;
    GroupFacts *f = &b->facts[group];
    if (!f->has_events && !f->marked) return PROF_OK;
    HostStep *step = add_host_step(b, group, is_step(t, group) ? t->n_stepping + n_sparse : 0);
    if (!step) return prof_nomem(err);
    if (is_step(t, group)) {
        f->device = (Marker){0};
        for (size_t c = 0; c < t->n_stepping; c++) {
            const Marker *marker = &core_group(t->stepping[c], group)->marker;
            marker_add(&f->device, marker->begin_ps, marker->duration_ps);
        }
    } else if (t->counted[group] || (f->has_events && f->marked)) {
        step->dropped = STEP_NOT_ON_ALL_CORES;
    } else {
        step->dropped = f->has_events ? STEP_NO_MARKER : STEP_NO_EVENTS;
    }
    if (f->marked) step->begin_ps = f->device.begin_ps, step->duration_ps = f->device.duration_ps;
    return PROF_OK;
}

typedef struct {
    const Tpu *tpu;
    const uint32_t *groups; /* groups of the steps */
    Arena *arenas;          /* one for each part */
    size_t n_parts;
} StepsJob;

static void sums_close(StepSums *s)
{
    void *owned[] = {s->category_ps, s->touched, s->seen_in, s->twins, s->ops, s->touched_ops};
    for (size_t i = 0; i < COUNT(owned); i++) prof_free(owned[i]);
}

static void sum_part(void *context, size_t part, ProfErr *err)
{
    const StepsJob *job = context;
    const Tpu *t = job->tpu;
    HostSteps *steps = t->build->steps;
    size_t n_ops = steps->ops.n_ops, first = steps->n_steps * part / job->n_parts,
           end = steps->n_steps * (part + 1) / job->n_parts;
    StepSums s = {.tpu = t, .arena = &job->arenas[part]};
    s.category_ps = prof_alloc(t->n_categories * sizeof *s.category_ps),
    s.touched = prof_alloc(t->n_categories * sizeof *s.touched);
    s.seen_in = prof_alloc(t->n_categories * sizeof *s.seen_in),
    s.twins = prof_alloc(t->n_twins * sizeof *s.twins);
    s.ops = prof_alloc(n_ops * sizeof *s.ops),
    s.touched_ops = prof_alloc(n_ops * sizeof *s.touched_ops);
    if (!s.category_ps || !s.touched || !s.seen_in || !s.twins || !s.ops || !s.touched_ops)
        prof_nomem(err);
    for (size_t i = first; i < end && !interrupt_poll(256, err); i++)
        if (steps->steps[i].dropped == STEP_KEPT && steps->steps[i].duration_ps)
            sum_step(&s, &steps->steps[i], job->groups[i], err);
    sums_close(&s);
}

static int make_steps(Tpu *t, ProfErr *err)
{
    HostSteps *steps = t->build->steps;
    size_t n_groups = t->build->groups.n, n_sparse = count_sparsecores(t),
           n_workers = t->build->host->run->n_workers;
    uint32_t *groups = prof_alloc(n_groups * sizeof *groups);
    StepsJob job = {t, groups, prof_alloc(n_workers * sizeof *job.arenas), n_workers};
    steps->arenas = job.arenas;
    if (!groups || !job.arenas) prof_nomem(err);
    for (size_t i = 0; i < n_groups && !interrupt_poll(16, err); i++) {
        size_t n = steps->n_steps;
        add_step(t, (uint32_t)i, n_sparse, err);
        if (steps->n_steps > n) groups[n] = (uint32_t)i;
    }
    if (!err->code)
        steps->n_arenas = n_workers, parallel_for(n_workers, n_workers, sum_part, &job, err);
    prof_free(groups);
    return err->code;
}

/* ---- waiting for input, from the host's threads ---- */

static int read_host(StepBuild *b, ProfErr *err)
{
    Plane *threads = host_find_plane(b->host, PREFIX_HOST_THREADS);
    LineSpans *lines = threads ? prof_alloc(threads->n_lines * sizeof *lines) : NULL;
    if (!threads) return PROF_OK;
    if (!lines) return prof_nomem(err);
    read_host_plane(b, threads, false, lines, err);
    for (size_t i = 0; i < threads->n_lines; i++) {
        for (size_t k = 0; k < lines[i].n; k++) {
            const SpanRef *s = &lines[i].spans[k];
            GroupFacts *f = &b->facts[s->line];
            f->host_spoke = true;
            if (span_type(s) == TIME_WAIT_INPUT || span_type(s) == TIME_HOST_TO_DEVICE)
                f->host_input_ps += (uint64_t)s->duration_ps;
        }
        for (size_t k = 0; k < lines[i].n_markers; k++) {
            const LineMarker *m = &lines[i].markers[k];
            marker_add(&b->facts[m->group].host, m->begin_ps, m->duration_ps);
            if (m->name) b->facts[m->group].name = m->name;
        }
        line_spans_free(&lines[i]);
    }
    prof_free(lines);
    return err->code;
}

/* Moves a part of IDLE to infeed. The shares have room for one more. */
static void attribute(StepCore *core, double part, const Text *infeed)
{
    StepShare *shares = (StepShare *)core->shares;
    size_t at = 0;
    for (size_t i = 0; i < core->n_shares; i++) {
        if (strcmp(shares[i].category->text, "IDLE") != 0) continue;
        core->input_ps = truncated((double)shares[i].ps * part);
        shares[i].ps -= core->input_ps;
    }
    if (!core->input_ps) return;
    while (at < core->n_shares && strcmp(shares[at].category->text, infeed->text) < 0) at++;
    memmove(shares + at + 1, shares + at, (core->n_shares - at) * sizeof *shares);
    shares[at] = (StepShare){infeed, core->input_ps};
    core->n_shares++;
}

static void attribute_input(Tpu *t)
{
    HostSteps *s = t->build->steps;
    for (size_t i = 0; i < s->n_steps && !s->has_infeed; i++) {
        HostStep *step = &s->steps[i];
        if (step->dropped || !step->host_input_ps || !step->n_cores) continue;
        const Step whole = {.cores = step->cores, .n_cores = step->n_cores};
        double part = safe_div((double)step->host_input_ps / 1e9, tpu_step(&whole).tc_idle_ms);
        for (size_t c = 0; c < step->n_cores && part > 0; c++)
            if (step->cores[c].kind == STEP_CORE_TENSOR)
                attribute(&step->cores[c], part < 1 ? part : 1, t->infeed);
    }
}

/* ---- the analysis ---- */

static void free_all(Tpu *t)
{
    for (size_t i = 0; t->lines && i < t->n_lines; i++) {
        void *owned[] = {t->lines[i].runs, t->lines[i].in_hand, t->lines[i].last,
                         t->lines[i].open.items, t->lines[i].markers};
        for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
        arena_free(&t->lines[i].arena);
    }
    for (size_t i = 0; t->cores && i < t->n_cores; i++) {
        Core *core = &t->cores[i];
        void *owned[] = {core->op_of, core->twin_of, core->used, core->groups};
        for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
        hash_free(&core->group_ids);
        stat_filter_close(&core->filter);
    }
    void *owned[] = {t->cores,    t->lines,       t->step_lines,    t->op_lines,
                     t->marked,   t->counted,     t->all_reduce_ps, t->step_in,
                     t->stepping, t->category_of, t->categories};
    for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
}

int tpu_steps(StepBuild *build, ProfErr *err)
{
    size_t n_groups = build->groups.n;
    Tpu t = {.build = build, .sorted = build->grouping->by != GROUPED_BY_FILE};
    OpStats *texts = build->steps->texts;
    t.marked = prof_alloc(n_groups), t.counted = prof_alloc(n_groups * sizeof *t.counted);
    t.all_reduce_ps = prof_alloc(n_groups * sizeof *t.all_reduce_ps),
    t.step_in = prof_alloc(n_groups * sizeof *t.step_in);
    t.stepping = prof_alloc(build->host->n_planes * sizeof *t.stepping);
    texts->idle = text_intern(&texts->texts, &texts->arena, "IDLE", 4);
    if (!t.marked || !t.counted || !t.all_reduce_ps || !t.step_in || !t.stepping || !texts->idle)
        prof_nomem(err);
    if (!err->code && !tpu_find_lines(&t, err)) tpu_read_lines(&t, err);
    for (size_t i = 0; i < t.n_cores && !err->code; i++) read_ops(&t, &t.cores[i], err);
    if (!err->code) intersect(&t);
    if (!err->code && !number_categories(&t, err) && !read_host(build, err)) make_steps(&t, err);
    if (!err->code) attribute_input(&t);
    if (!err->code) tensorcore_times(build, err);
    free_all(&t);
    return err->code || !t.few_sparsecores ? err->code : sparsecore_steps(build, err);
}
