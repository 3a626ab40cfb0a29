/* step_tpu.c: steps of TensorCores; see step_parts.h.
 *
 * A core's step has the ops of its group, each with its self time, by the device's clock where events have it. Only steps
 * that all cores have count. The host's threads say how much of the idle time was waiting for input. */
#include "op_metadata.h"
#include "step_parts.h"

/* Events of one metadata in one group, in a row or not. */
typedef struct {
    uint32_t group, meta, occurrences;
    uint64_t time_ps, self_ps;
} Record;

typedef struct {
    PsSpan span;
    uint32_t record;
} OpenEvent;

/* A line of ops or of steps. */
typedef struct {
    struct Core *core;
    Line *line;
    bool is_steps;
    Record *records;
    size_t n, capacity;
    uint32_t *last; /* of each metadata: its latest record, + 1 */
    OpenEvent *open;
    size_t n_open, open_capacity;
    LineMarker *markers;
    size_t n_markers, marker_capacity;
} CoreLine;

typedef struct Core {
    Plane *plane;
    StatFilter filter;
    uint32_t *op_of;         /* of each metadata: its op, + 1; 0: none */
    bool *used;              /* events have the metadata */
    Marker *markers;         /* by group */
    uint64_t *all_reduce_ps; /* by group: ops that name the all-reduce they are part of */
    Record *records;         /* of all lines, by group */
    size_t *first;           /* of each group's, and one more */
} Core;

typedef struct {
    StepBuild *build;
    bool sorted; /* XProf sorts lines of files that it groups */
    Core *cores;
    size_t n_cores;
    CoreLine *lines;
    size_t n_lines;
    uint32_t *counted; /* of each group: in how many cores it stands */
    size_t first_core; /* XProf begins anew where cores have no step in common: cores from here on count */
    bool *is_step;     /* groups */
    /* sums of the step in hand */
    uint32_t *category_of;   /* of each op */
    const Text **categories; /* by name */
    size_t n_categories, category_capacity;
    const Text *infeed;
    uint64_t *category_ps;
    uint32_t *touched;
    uint32_t *seen_in, n_seen; /* of each category: the last core's step that had it, counted */
    StepOpRecord *op_sums;
    uint32_t *touched_ops;
    size_t n_touched_ops;
} Tpu;

/* ---- reading lines ---- */

static bool record_event(CoreLine *l, const EventAt *e, uint32_t group)
{
    uint32_t meta = (uint32_t)(e->meta - l->core->plane->event_metas);
    OpFacts f = op_facts(&l->core->filter, e);
    uint64_t time = f.device.end - f.device.begin;
    if (f.names_all_reduce) l->core->all_reduce_ps[group] += time;
    while (l->n_open && !span_includes(l->open[l->n_open - 1].span, f.device)) l->n_open--;
    if (l->n_open) l->records[l->open[l->n_open - 1].record].self_ps -= time;
    if (!l->last[meta] || l->records[l->last[meta] - 1].group != group) {
        if (l->n == UINT32_MAX - 1 || !GROW(l->records, l->n, l->capacity)) return false;
        l->records[l->n] = (Record){.group = group, .meta = meta};
        l->last[meta] = (uint32_t)++l->n;
    }
    Record *r = &l->records[l->last[meta] - 1];
    if (!r->occurrences) r->time_ps = r->self_ps = 0; /* as in all op metrics, an op whose uint32 of occurrences is 0 begins anew */
    r->occurrences += e->occurrences > 1 ? (uint32_t)e->occurrences : 1;
    r->time_ps += time, r->self_ps += time;
    if (!GROW(l->open, l->n_open, l->open_capacity)) return false;
    l->open[l->n_open++] = (OpenEvent){f.device, l->last[meta] - 1};
    return true;
}

typedef struct {
    const Tpu *tpu;
    CoreLine *line;
    const LineGroups *groups;
    uint32_t last;
} LineRead;

/* Of an op XProf takes the first group it has: in a file that it groups anew, the one that the op brought. Of a step, the last. */
static int64_t group_of(const LineRead *r, uint64_t nth)
{
    int64_t brought = r->line->is_steps ? -1 : line_file_group(r->line->line, nth);
    return brought >= 0 ? brought : nth_group(r->groups, nth);
}

static bool take_event(void *context, const EventAt *e, ProfErr *err)
{
    LineRead *r = context;
    CoreLine *l = r->line;
    uint32_t group = group_number(&r->tpu->build->groups, group_of(r, e->event - l->line->first_event), &r->last);
    if (!l->is_steps) l->core->used[e->meta - l->core->plane->event_metas] = true;
    if (group == NO_GROUP) return true;
    if (!l->is_steps) return record_event(l, e, group) || (prof_nomem(err), false);
    OpFacts f = op_facts(&l->core->filter, e);
    if (!GROW(l->markers, l->n_markers, l->marker_capacity)) return prof_nomem(err), false;
    l->markers[l->n_markers++] = (LineMarker){.group = group, .begin_ps = f.device.begin, .duration_ps = f.device.end - f.device.begin};
    return true;
}

static void read_line(void *context, size_t i, ProfErr *err)
{
    Tpu *t = context;
    CoreLine *l = &t->lines[i];
    LineRead read = {t, l, line_groups(t->build->grouping, l->line), NO_GROUP};
    for (size_t k = 0; l->is_steps && read.groups->merged && k < read.groups->n_steps && !err->code; k++) {
        const MergedStep *step = &read.groups->steps[k];
        bool device = step->device_start_ps != INT64_MIN && step->device_duration_ps != INT64_MIN;
        uint32_t group = group_number(&t->build->groups, step->group, &read.last);
        if (group == NO_GROUP) continue;
        if (!GROW(l->markers, l->n_markers, l->marker_capacity)) {
            prof_nomem(err);
            break;
        }
        l->markers[l->n_markers++] = (LineMarker){.group = group,
                                                  .begin_ps = (uint64_t)(device ? step->device_start_ps : step->start_ps),
                                                  .duration_ps = (uint64_t)(device ? step->device_duration_ps : step->duration_ps)};
    }
    if (l->is_steps && read.groups->merged) return;
    if (!l->is_steps && !(l->last = prof_alloc(l->core->plane->n_event_metas * sizeof *l->last))) prof_nomem(err);
    if (!err->code) each_event(l->line, &l->core->filter, t->sorted && !l->is_steps, take_event, &read, err);
    prof_free(l->last);
    prof_free(l->open);
    l->last = NULL, l->open = NULL;
}

/* ---- cores ---- */

static bool is_op_line(const Line *line)
{
    static const char *const names[] = {"XLA Ops", "Framework Ops", "Sparse Core Ops"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (!line->derived && !strcmp(line->name->text, names[i])) return true;
    return false;
}

static int find_lines(Tpu *t, ProfErr *err)
{
    Host *host = t->build->host;
    t->cores = prof_alloc(host->n_planes * sizeof *t->cores), t->lines = prof_alloc(host->n_lines * sizeof *t->lines);
    if (!t->cores || !t->lines) return prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (plane->kind != PLANE_TENSORCORE) continue;
        Core *core = &t->cores[t->n_cores++];
        core->plane = plane;
        core->used = prof_alloc(plane->n_event_metas), core->all_reduce_ps = prof_alloc(t->build->groups.n * sizeof *core->all_reduce_ps);
        if (!core->used || !core->all_reduce_ps) return prof_nomem(err);
        stat_filter_open(&core->filter, plane, op_fact_stats, n_op_fact_stats, err);
        Line *steps = NULL, *ops = NULL; /* of several lines of a kind XProf takes the last */
        for (size_t k = plane->first_line; k < plane->first_line + plane->n_lines; k++) {
            if (!strcmp(host->lines[k].name->text, "Steps")) steps = &host->lines[k];
            if (is_op_line(&host->lines[k])) ops = &host->lines[k];
        }
        if (steps) t->lines[t->n_lines++] = (CoreLine){.core = core, .line = steps, .is_steps = true};
        if (ops) t->lines[t->n_lines++] = (CoreLine){.core = core, .line = ops};
    }
    return err->code;
}

/* Records of a core's lines by group, its longest markers, and which groups have both. */
static int join_core(Tpu *t, Core *core, ProfErr *err)
{
    size_t n_groups = t->build->groups.n, n = 0;
    size_t *place = core->first = prof_alloc((n_groups + 2) * sizeof *place);
    core->markers = prof_alloc(n_groups * sizeof *core->markers);
    if (!place || !core->markers) return prof_nomem(err);
    for (size_t i = 0; i < t->n_lines; i++) {
        const CoreLine *l = &t->lines[i];
        if (l->core != core) continue;
        for (size_t k = 0; k < l->n_markers; k++) marker_add(&core->markers[l->markers[k].group], l->markers[k].begin_ps, l->markers[k].duration_ps);
        for (size_t k = 0; k < l->n; k++) place[l->records[k].group + 2]++, n++;
    }
    for (size_t k = 2; k < n_groups + 2; k++) place[k] += place[k - 1];
    if (!(core->records = prof_alloc(n * sizeof *core->records))) return prof_nomem(err);
    for (size_t i = 0; i < t->n_lines; i++) {
        CoreLine *l = &t->lines[i];
        if (l->core != core) continue;
        for (size_t k = 0; k < l->n; k++) core->records[place[l->records[k].group + 1]++] = l->records[k];
        prof_free(l->records);
        l->records = NULL;
    }
    for (size_t k = 0; k < n_groups; k++) {
        t->build->facts[k].has_events |= core->first[k + 1] > core->first[k];
        marker_add(&t->build->facts[k].device, core->markers[k].begin_ps, core->markers[k].there ? core->markers[k].duration_ps : 0);
        t->build->facts[k].marked |= core->markers[k].there;
    }
    return PROF_OK;
}

static bool has_group(const Core *core, size_t group) { return core->markers[group].there && core->first[group + 1] > core->first[group]; }

/* Groups that all cores have which have any. Where that comes to none, the next core begins anew. */
static void intersect(Tpu *t)
{
    size_t n_groups = t->build->groups.n, n_now = 0;
    for (size_t c = 0; c < t->n_cores; c++) {
        size_t n = 0, n_common = 0;
        for (size_t k = 0; k < n_groups; k++) {
            bool has = has_group(&t->cores[c], k);
            n += has, n_common += has && t->is_step[k];
            t->counted[k] += has;
        }
        if (!n) continue;
        bool anew = !n_now;
        if (anew) t->first_core = c;
        for (size_t k = 0; k < n_groups; k++) t->is_step[k] = has_group(&t->cores[c], k) && (anew || t->is_step[k]);
        n_now = anew ? n : n_common;
    }
}

/* ---- ops ---- */

static bool same_memory(const OpMetrics *a, const OpMetrics *b)
{
    if (a->n_memory != b->n_memory) return false;
    for (size_t i = 0; i < a->n_memory; i++)
        if (a->memory[i].operation != b->memory[i].operation || a->memory[i].space != b->memory[i].space || a->memory[i].bytes != b->memory[i].bytes)
            return false;
    return true;
}

static bool same_op(const OpMetrics *a, const OpMetrics *b)
{
    return a->category == b->category && a->flops == b->flops && a->model_flops == b->model_flops && a->bytes_accessed == b->bytes_accessed &&
           same_memory(a, b);
}

/* The op that a metadata stands for: one for all cores where they agree. */
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
    t->build->steps->has_infeed |= !strcmp(op->category->text, "infeed") || !strcmp(op->category->text, "sparsecorev0 infeed");
    return PROF_OK;
}

static int read_ops(Tpu *t, Core *core, ProfErr *err)
{
    OpBuild build = {.host = t->build->host, .stats = t->build->steps->texts};
    MetadataReader reader;
    OpMetricsDb one = {0};
    pthread_mutex_init(&build.lock, NULL);
    if (!(core->op_of = prof_alloc(core->plane->n_event_metas * sizeof *core->op_of))) prof_nomem(err);
    bool opened = !err->code && !metadata_reader_open(&reader, &build, core->plane, err);
    for (size_t i = 0; i < core->plane->n_event_metas && !err->code; i++) {
        OpKey key;
        if (!core->used[i]) continue;
        one.n_ops = 0;
        OpMetrics *read = op_db_append(&one);
        if (!read)
            prof_nomem(err);
        else if (!metadata_read(&reader, &core->plane->event_metas[i], read, &key, err) && key.has_program && key.has_symbol && key.symbol_id)
            add_op(t, read, &core->op_of[i], err);
    }
    if (opened) metadata_reader_close(&reader);
    op_db_free(&one);
    pthread_mutex_destroy(&build.lock);
    return err->code;
}

static int by_text(const void *a, const void *b) { return strcmp((*(const Text *const *)a)->text, (*(const Text *const *)b)->text); }

static size_t find_category(const Tpu *t, const Text *category)
{
    const Text **found = bsearch(&category, t->categories, t->n_categories, sizeof *t->categories, by_text);
    return found ? (size_t)(found - t->categories) : 0;
}

/* Numbers the categories by name. */
static int number_categories(Tpu *t, ProfErr *err)
{
    const OpMetricsDb *ops = &t->build->steps->ops;
    static const char *const own[] = {"IDLE", "infeed"}; /* infeed last */
    size_t n = 0;
    if (!(t->categories = prof_alloc((ops->n_ops + COUNT(own)) * sizeof *t->categories))) return prof_nomem(err);
    for (size_t i = 0; i < ops->n_ops; i++) t->categories[n++] = ops->ops[i].category;
    for (size_t i = 0; i < COUNT(own); i++) {
        OpStats *texts = t->build->steps->texts;
        if (!(t->categories[n++] = text_intern(&texts->texts, &texts->arena, (const uint8_t *)own[i], strlen(own[i])))) return prof_nomem(err);
    }
    t->infeed = t->categories[n - 1];
    qsort(t->categories, n, sizeof *t->categories, by_text);
    for (size_t i = 0; i < n; i++)
        if (!i || by_text(&t->categories[i], &t->categories[t->n_categories - 1])) t->categories[t->n_categories++] = t->categories[i];
    t->category_of = prof_alloc(ops->n_ops * sizeof *t->category_of);
    t->category_ps = prof_alloc(t->n_categories * sizeof *t->category_ps), t->touched = prof_alloc(t->n_categories * sizeof *t->touched);
    t->seen_in = prof_alloc(t->n_categories * sizeof *t->seen_in);
    t->op_sums = prof_alloc(ops->n_ops * sizeof *t->op_sums), t->touched_ops = prof_alloc(ops->n_ops * sizeof *t->touched_ops);
    if (!t->category_of || !t->category_ps || !t->touched || !t->seen_in || !t->op_sums || !t->touched_ops) return prof_nomem(err);
    for (size_t i = 0; i < ops->n_ops; i++) t->category_of[i] = (uint32_t)find_category(t, ops->ops[i].category);
    return PROF_OK;
}

/* ---- steps ---- */

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void add_op_record(Tpu *t, uint32_t op, const Record *r)
{
    StepOpRecord *sums = &t->op_sums[op];
    if (!sums->op) sums->op = op + 1, t->touched_ops[t->n_touched_ops++] = op;
    sums->occurrences += r->occurrences, sums->time_ps += r->time_ps, sums->self_ps += r->self_ps;
}

/* Lists a category of the step in hand once. */
static void touch(Tpu *t, uint32_t category, size_t *n)
{
    if (t->seen_in[category] != t->n_seen) t->touched[(*n)++] = category;
    t->seen_in[category] = t->n_seen;
}

/* XProf has IDLE always, even of no time. There is room for one more share. */
static int add_shares(Tpu *t, StepCore *core, const Core *of, size_t group, ProfErr *err)
{
    size_t n = 0;
    uint32_t idle = (uint32_t)find_category(t, t->build->steps->texts->idle);
    uint64_t told = 0;
    t->n_seen++;
    for (size_t i = of->first[group]; i < of->first[group + 1]; i++) {
        const Record *r = &of->records[i];
        if (!of->op_of[r->meta]) continue;
        uint32_t op = of->op_of[r->meta] - 1, category = t->category_of[op];
        if (core->core_id < SPARSECORE_IDS) add_op_record(t, op, r);
        told += r->self_ps, t->category_ps[category] += r->self_ps;
        touch(t, category, &n);
    }
    core->total_ps = told > core->duration_ps ? told : core->duration_ps;
    touch(t, idle, &n);
    t->category_ps[idle] += core->total_ps - told;
    qsort(t->touched, n, sizeof *t->touched, by_number);
    StepShare *shares = arena_alloc(&t->build->steps->arena, (n + 1) * sizeof *shares);
    for (size_t k = 0; k < n; k++) {
        if (shares) shares[k] = (StepShare){t->categories[t->touched[k]], t->category_ps[t->touched[k]]};
        t->category_ps[t->touched[k]] = 0;
    }
    core->shares = shares, core->n_shares = n;
    return shares ? PROF_OK : prof_nomem(err);
}

/* The step's ops, all cores together. */
static int keep_ops(Tpu *t, HostStep *step, ProfErr *err)
{
    HostSteps *s = t->build->steps;
    step->first_op = s->n_records;
    for (size_t i = 0; i < t->n_touched_ops; i++) {
        StepOpRecord *sums = &t->op_sums[t->touched_ops[i]];
        if (!err->code && !GROW(s->records, s->n_records, s->record_capacity)) prof_nomem(err);
        if (!err->code) {
            s->records[s->n_records] = *sums;
            s->records[s->n_records++].op = t->touched_ops[i];
        }
        *sums = (StepOpRecord){0};
    }
    t->n_touched_ops = 0;
    step->n_ops = s->n_records - step->first_op;
    return err->code;
}

static size_t count_sparsecores(const Host *host)
{
    size_t n = 0;
    for (size_t i = 0; i < host->n_planes; i++) n += host->planes[i].kind == PLANE_SPARSECORE;
    return n;
}

/* XProf tells cores by a number: of several of one the last counts. */
static bool is_last_of_its_id(const Tpu *t, size_t core, size_t group)
{
    for (size_t c = core + 1; c < t->n_cores; c++)
        if ((uint32_t)t->cores[c].plane->proto_id == (uint32_t)t->cores[core].plane->proto_id && has_group(&t->cores[c], group)) return false;
    return true;
}

static int add_step(Tpu *t, uint32_t group, size_t n_sparse, ProfErr *err)
{
    StepBuild *b = t->build;
    GroupFacts *f = &b->facts[group];
    if (!f->has_events && !f->marked) return PROF_OK;
    HostStep *step = add_host_step(b, group, t->is_step[group] ? t->n_cores + n_sparse : 0);
    if (!step) return prof_nomem(err);
    if (t->is_step[group]) {
        f->device = (Marker){0};
        for (size_t c = t->first_core; c < t->n_cores; c++)
            if (has_group(&t->cores[c], group)) marker_add(&f->device, t->cores[c].markers[group].begin_ps, t->cores[c].markers[group].duration_ps);
    }
    if (f->marked) step->begin_ps = f->device.begin_ps, step->duration_ps = f->device.duration_ps;
    if (!t->is_step[group]) {
        step->dropped = t->counted[group] ? STEP_NOT_ON_ALL_CORES : !f->has_events ? STEP_NO_EVENTS : !f->marked ? STEP_NO_MARKER : STEP_NOT_ON_ALL_CORES;
        return PROF_OK;
    }
    for (size_t c = t->first_core; c < t->n_cores && step->duration_ps && !err->code; c++) {
        const Core *of = &t->cores[c];
        if (of->all_reduce_ps[group] > step->xprof_all_reduce_ps) step->xprof_all_reduce_ps = of->all_reduce_ps[group];
        if (!has_group(of, group) || !is_last_of_its_id(t, c, group)) continue;
        StepCore *core = &step->cores[step->n_cores++];
        *core = (StepCore){.core_id = (uint32_t)of->plane->proto_id,
                           .kind = STEP_CORE_TENSOR,
                           .host = b->host,
                           .plane = of->plane,
                           .begin_ps = step->begin_ps,
                           .duration_ps = step->duration_ps};
        add_shares(t, core, of, group, err);
    }
    return err->code ? err->code : keep_ops(t, step, err);
}

/* ---- waiting for input, as the host says ---- */

static int read_host(StepBuild *b, ProfErr *err)
{
    Plane *threads = host_plane(b->host, "/host:CPU");
    LineSpans *lines = threads ? prof_alloc(threads->n_lines * sizeof *lines) : NULL;
    if (!threads) return PROF_OK;
    if (!lines) return prof_nomem(err);
    read_host_plane(b, threads, false, lines, err);
    for (size_t i = 0; i < threads->n_lines; i++) {
        for (size_t k = 0; k < lines[i].n; k++) {
            const SpanRef *s = &lines[i].spans[k];
            GroupFacts *f = &b->facts[s->line];
            f->host_spoke = true;
            if (span_type(s) == TIME_WAIT_INPUT || span_type(s) == TIME_HOST_TO_DEVICE) f->host_input_ps += (uint64_t)s->duration_ps;
        }
        for (size_t k = 0; k < lines[i].n_markers; k++)
            if (lines[i].markers[k].name) b->facts[lines[i].markers[k].group].name = lines[i].markers[k].name;
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
            if (step->cores[c].kind == STEP_CORE_TENSOR) attribute(&step->cores[c], part < 1 ? part : 1, t->infeed);
    }
}

/* ---- all ---- */

static void free_all(Tpu *t)
{
    for (size_t i = 0; t->lines && i < t->n_lines; i++) {
        void *owned[] = {t->lines[i].records, t->lines[i].last, t->lines[i].open, t->lines[i].markers};
        for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
    }
    for (size_t i = 0; t->cores && i < t->n_cores; i++) {
        void *owned[] = {t->cores[i].op_of, t->cores[i].used, t->cores[i].markers, t->cores[i].all_reduce_ps, t->cores[i].records, t->cores[i].first};
        for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
        stat_filter_close(&t->cores[i].filter);
    }
    void *owned[] = {t->cores,       t->lines,   t->counted, t->is_step, t->category_of, t->categories,
                     t->category_ps, t->touched, t->seen_in, t->op_sums, t->touched_ops};
    for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
}

int tpu_steps(StepBuild *build, ProfErr *err)
{
    size_t n_groups = build->groups.n, n_sparse = count_sparsecores(build->host);
    Tpu t = {.build = build, .sorted = build->grouping->by != GROUPED_BY_FILE};
    OpStats *texts = build->steps->texts;
    t.counted = prof_alloc(n_groups * sizeof *t.counted), t.is_step = prof_alloc(n_groups);
    texts->idle = text_intern(&texts->texts, &texts->arena, (const uint8_t *)"IDLE", 4);
    if (!t.counted || !t.is_step || !texts->idle) prof_nomem(err);
    if (!err->code && !find_lines(&t, err)) parallel_for(build->host->run->n_workers, t.n_lines, read_line, &t, err);
    for (size_t i = 0; i < t.n_cores && !err->code; i++)
        if (!join_core(&t, &t.cores[i], err)) read_ops(&t, &t.cores[i], err);
    if (!err->code) intersect(&t);
    if (!err->code && !number_categories(&t, err)) read_host(build, err);
    for (size_t i = 0; i < n_groups && !err->code; i++) add_step(&t, (uint32_t)i, n_sparse, err);
    if (!err->code) attribute_input(&t);
    free_all(&t);
    return err->code ? err->code : sparsecore_steps(build, err);
}
