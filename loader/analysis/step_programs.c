/* step_programs.c: steps of hosts and what the program did in them; see step_programs.h.
 *
 * Markers are the events of a TPU's Steps line; a GPU's are runs of events of one group. An op's work is what its metadata
 * says of one occurrence, so it is added event by event. Steps of several hosts are aligned with those of the host whose
 * steps end soonest: the shift at which most time overlaps. */
#include "step_programs.h"

#include "device_ops.h"
#include "op_metadata.h"
#include "step_align.h"

enum { MOST_STEPS = 1 << 17 };

/* ---- groups of one device ---- */

typedef struct {
    int64_t group;
    uint64_t begin_ps, marked_ps; /* of the longest marker */
    bool marked, has_events;      /* has_events: ops on a TPU, kernels that compute on a GPU */
    uint64_t self_ps, feeds_ps;
    OpMetrics parts[N_STEP_PARTS];
} GroupWork;

typedef struct {
    GroupWork *groups;
    size_t n, capacity;
    uint32_t *slots; /* by group: position + 1 */
    size_t n_slots;
} Groups;

static void groups_free(Groups *g)
{
    prof_free(g->groups);
    prof_free(g->slots);
}

static bool slots_grow(Groups *g)
{
    if ((g->n + 1) * 2 <= g->n_slots) return true;
    size_t n_slots = g->n_slots ? g->n_slots * 2 : 64;
    uint32_t *slots = prof_alloc(n_slots * sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < g->n; i++) {
        size_t at = mix64((uint64_t)g->groups[i].group) & (n_slots - 1);
        while (slots[at]) at = (at + 1) & (n_slots - 1);
        slots[at] = (uint32_t)i + 1;
    }
    prof_free(g->slots);
    g->slots = slots, g->n_slots = n_slots;
    return true;
}

static GroupWork *group_find(const Groups *g, int64_t group)
{
    if (!g->n_slots) return NULL;
    for (size_t at = mix64((uint64_t)group) & (g->n_slots - 1); g->slots[at]; at = (at + 1) & (g->n_slots - 1))
        if (g->groups[g->slots[at] - 1].group == group) return &g->groups[g->slots[at] - 1];
    return NULL;
}

static OpMetrics nothing_done(void)
{
    return (OpMetrics){.name = empty_text,
                       .category = empty_text,
                       .provenance = empty_text,
                       .long_name = empty_text,
                       .deduplicated_name = empty_text,
                       .source_file = empty_text,
                       .source_stack = empty_text,
                       .occurrences = 1};
}

/* NULL without err: there are more steps than XProf's pages could show; the rest is left out. */
static GroupWork *group_at(Groups *g, int64_t group, Plane *plane, ProfErr *err)
{
    GroupWork *found = group_find(g, group);
    if (found) return found;
    if (g->n == MOST_STEPS) {
        host_issue(plane->host, "warning", "too_many", plane->span.offset, 0, plane, "more than %d steps; the roofline leaves out the rest", MOST_STEPS);
        return NULL;
    }
    if (!slots_grow(g) || !GROW(g->groups, g->n, g->capacity)) return prof_nomem(err), NULL;
    size_t at = mix64((uint64_t)group) & (g->n_slots - 1);
    while (g->slots[at]) at = (at + 1) & (g->n_slots - 1);
    g->slots[at] = (uint32_t)g->n + 1;
    g->groups[g->n] = (GroupWork){.group = group, .parts = {nothing_done(), nothing_done()}};
    return &g->groups[g->n++];
}

static void mark(Groups *g, int64_t group, uint64_t begin, uint64_t ps, Plane *plane, ProfErr *err)
{
    GroupWork *work = group < 0 ? NULL : group_at(g, group, plane, err);
    if (!work || (work->marked && ps <= work->marked_ps)) return;
    work->marked = true, work->begin_ps = begin, work->marked_ps = ps;
}

/* ---- a host ---- */

typedef struct {
    OpBuild build;
    const Grouping *grouping;
    StepPrograms *out;
} HostSteps;

static bool add_work(OpMetrics *to, const OpMetrics *one, uint64_t occurrences, Arena *arena)
{
    double n = (double)occurrences;
    to->flops += one->flops * n;
    to->model_flops += (one->model_flops > 0 ? one->model_flops : one->flops) * n;
    to->bytes_accessed += one->bytes_accessed * occurrences;
    for (size_t i = 0; i < one->n_memory; i++)
        if (!op_add_memory(to, arena, one->memory[i].operation, one->memory[i].space, one->memory[i].bytes * occurrences)) return false;
    return true;
}

/* ---- TensorCores ---- */

typedef struct {
    PsSpan span;
    int64_t group; /* -1: its time is nobody's own */
} Open;

typedef struct {
    HostSteps *host;
    Plane *plane;
    StatFilter filter;
    MetadataReader reader;
    const OpMetrics **known; /* by event metadata: one occurrence; no_op: it has no key */
    Groups groups;
    Open *open;
    size_t n_open, open_capacity;
} Core;
static const OpMetrics no_op;

/* What one occurrence of an op does; &no_op for what XProf drops. NULL: err is set. */
static const OpMetrics *op_of(Core *c, const EventMeta *meta, ProfErr *err)
{
    const OpMetrics **known = &c->known[meta - c->plane->event_metas];
    if (*known) return *known;
    OpMetrics *op = arena_alloc(&c->host->build.stats->arena, sizeof *op);
    OpKey key;
    if (!op) return prof_nomem(err), NULL;
    *op = nothing_done();
    if (metadata_read(&c->reader, meta, op, &key, err)) return NULL;
    return *known = key.has_program && key.has_symbol && key.symbol_id ? op : &no_op;
}

static bool take_step(void *context, const EventAt *e, ProfErr *err)
{
    Core *c = context;
    OpFacts f = op_facts(&c->filter, e);
    mark(&c->groups, event_group(c->host->grouping, e->event), f.device.begin, f.device.end - f.device.begin, c->plane, err);
    return !err->code;
}

static void read_markers(Core *c, Line *line, ProfErr *err)
{
    const LineGroups *groups = line_groups(c->host->grouping, line);
    if (!groups->merged) {
        each_event(line, false, take_step, c, err);
        return;
    }
    for (size_t i = 0; i < groups->n_steps && !err->code; i++) {
        const MergedStep *s = &groups->steps[i];
        bool device = s->device_start_ps != INT64_MIN && s->device_duration_ps != INT64_MIN;
        mark(&c->groups, s->group, (uint64_t)(device ? s->device_start_ps : s->start_ps), (uint64_t)(device ? s->device_duration_ps : s->duration_ps), c->plane,
             err);
    }
}

static bool take_op(void *context, const EventAt *e, ProfErr *err)
{
    Core *c = context;
    int64_t group = event_group(c->host->grouping, e->event);
    const OpMetrics *op = group < 0 ? NULL : op_of(c, e->meta, err);
    if (!op) return !err->code;
    PsSpan span = op_facts(&c->filter, e).device;
    uint64_t ps = span.end - span.begin;
    while (c->n_open && !span_includes(c->open[c->n_open - 1].span, span)) c->n_open--;
    GroupWork *outer = c->n_open ? group_find(&c->groups, c->open[c->n_open - 1].group) : NULL, *work = group_find(&c->groups, group);
    if (outer) outer->self_ps -= ps;
    if (!GROW(c->open, c->n_open, c->open_capacity)) return prof_nomem(err), false;
    c->open[c->n_open++] = (Open){span, op == &no_op ? -1 : group};
    if (!work) return true;
    work->has_events = true;
    if (op == &no_op) return true;
    Slice category = slice_of(op->category);
    bool feeds = op_is_infeed_or_outfeed(category);
    work->self_ps += ps;
    if (feeds) work->feeds_ps += ps;
    for (int part = 0; part < N_STEP_PARTS && !op_is_container(category); part++)
        if ((part == STEP_ALL || !feeds) && !add_work(&work->parts[part], op, e->occurrences > 1 ? (uint32_t)e->occurrences : 1, &c->host->out->arena))
            prof_nomem(err);
    return !err->code;
}

static void read_core(Core *c, ProfErr *err)
{
    static const char *const names[] = {"Steps", "XLA Ops"};
    metadata_reader_open(&c->reader, &c->host->build, c->plane, err);
    if (!err->code) stat_filter_open(&c->filter, c->plane, op_fact_stats, n_op_fact_stats, err);
    if (!err->code && !(c->known = prof_alloc(c->plane->n_event_metas * sizeof *c->known))) prof_nomem(err);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < c->plane->n_lines && !err->code; i++) {
            Line *line = &c->plane->host->lines[c->plane->first_line + i];
            if (strcmp(line->name->text, names[pass])) continue;
            c->n_open = 0;
            if (pass)
                each_event(line, c->host->grouping->by != GROUPED_BY_FILE, take_op, c, err);
            else
                read_markers(c, line, err);
        }
    metadata_reader_close(&c->reader);
    stat_filter_close(&c->filter);
    prof_free(c->known);
    prof_free(c->open);
}

/* ---- GPUs ---- */

typedef struct {
    uint64_t begin, ps;
    int64_t group;
} Grouped;
typedef struct {
    HostSteps *host;
    Plane *plane;
    StatFilter filter;
    Groups groups;
    Grouped *events;
    size_t n, capacity;
} Gpu;

static int by_time(const void *a, const void *b)
{
    const Grouped *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->ps < y->ps ? -1 : x->ps > y->ps;
}

static bool computes(Slice name)
{
    static const char *const copies[] = {"MEMCPYHToD", "MEMCPYDToH", "MEMCPYDToD"};
    for (size_t i = 0; i < COUNT(copies); i++)
        if (slice_starts_ignoring_case(name, copies[i]) && !memchr(name.text, ':', name.n)) return false;
    return !slice_starts_ignoring_case(name, "nccl");
}

static bool take_kernel(void *context, const EventAt *e, ProfErr *err)
{
    Gpu *g = context;
    int64_t group = event_group(g->host->grouping, e->event);
    if (group < 0) return true;
    if (!GROW(g->events, g->n, g->capacity)) return prof_nomem(err), false;
    g->events[g->n++] = (Grouped){(uint64_t)e->start_ps, (uint64_t)e->duration_ps, group};
    Stat stat;
    unsigned known;
    if (!stat_filter_next(&g->filter, e->message, e->message + e->n_bytes, 4, &known, &stat) || stat_int(&stat) < 0 || !computes(slice_of(e->meta->name)))
        return true;
    GroupWork *work = group_at(&g->groups, group, g->plane, err);
    if (work) work->has_events = true;
    return !err->code;
}

static bool take_marker(void *context, const EventAt *e, ProfErr *err)
{
    Gpu *g = context;
    mark(&g->groups, event_group(g->host->grouping, e->event), (uint64_t)e->start_ps, (uint64_t)e->duration_ps, g->plane, err);
    return !err->code;
}

/* A marker is what follows each other in one group. */
static void mark_runs(Gpu *g, ProfErr *err)
{
    if (g->n) qsort(g->events, g->n, sizeof *g->events, by_time);
    for (size_t i = 0, k; i < g->n && !err->code; i = k) {
        uint64_t end = g->events[i].begin;
        for (k = i; k < g->n && g->events[k].group == g->events[i].group; k++)
            if (g->events[k].begin + g->events[k].ps > end) end = g->events[k].begin + g->events[k].ps;
        mark(&g->groups, g->events[i].group, g->events[i].begin, end - g->events[i].begin, g->plane, err);
    }
}

static void read_gpu(Gpu *g, ProfErr *err)
{
    enum { STEPS_LINE = -559038737 };
    static const enum KnownStat wanted[] = {STAT_CORRELATION_ID};
    bool by_file = g->host->grouping->by == GROUPED_BY_FILE;
    stat_filter_open(&g->filter, g->plane, wanted, COUNT(wanted), err);
    for (size_t i = 0; i < g->plane->n_lines && !err->code; i++) {
        Line *line = &g->plane->host->lines[g->plane->first_line + i];
        if (!line->derived)
            each_event(line, false, take_kernel, g, err);
        else if (by_file && line->proto_id == STEPS_LINE)
            each_event(line, false, take_marker, g, err);
    }
    if (!by_file && !err->code) mark_runs(g, err);
    stat_filter_close(&g->filter);
    prof_free(g->events);
}

/* ---- devices together ---- */

static bool is_whole(const GroupWork *w) { return w && w->marked && w->has_events; }

static size_t count_whole(const Groups *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) n += is_whole(&g->groups[i]);
    return n;
}

/* The cores that share steps: a core without any is passed over, and where none is shared the next core begins anew. */
static Groups *first_core(Groups *cores, size_t n_cores)
{
    Groups *first = NULL;
    for (size_t c = 0; c < n_cores; c++) {
        if (!count_whole(&cores[c])) continue;
        if (!first || !count_whole(first)) {
            first = &cores[c];
            continue;
        }
        for (size_t i = 0; i < first->n; i++)
            if (!is_whole(group_find(&cores[c], first->groups[i].group))) first->groups[i].has_events = false;
    }
    return first;
}

/* The step of a group on all cores from `first` on; none of its time is in the sums yet. */
static bool join_cores(StepProgram *step, const Groups *first, const Groups *end, int64_t group, Arena *arena)
{
    uint64_t begin = 0, ps = 0, total = 0, feeds = 0;
    for (const Groups *core = first; core < end; core++) {
        const GroupWork *w = group_find(core, group);
        if (is_whole(w) && w->marked_ps > ps) begin = w->begin_ps, ps = w->marked_ps;
    }
    *step = (StepProgram){.number = group, .begin_ps = begin, .end_ps = begin + ps, .parts = {nothing_done(), nothing_done()}};
    for (const Groups *core = first; core < end && ps; core++) {
        const GroupWork *w = group_find(core, group);
        if (!is_whole(w)) continue;
        total += w->self_ps > ps ? w->self_ps : ps, feeds += w->feeds_ps;
        for (int part = 0; part < N_STEP_PARTS; part++)
            if (!op_merge(&step->parts[part], &w->parts[part], arena, false)) return false;
    }
    step->parts[STEP_ALL].time_ps = total, step->parts[STEP_WITHOUT_FEEDS].time_ps = total - feeds;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const StepProgram *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void join_tpu(StepPrograms *out, Groups *cores, size_t n_cores, ProfErr *err)
{
    Groups *first = first_core(cores, n_cores);
    size_t n = first ? count_whole(first) : 0;
    if (n && !(out->steps = prof_alloc(n * sizeof *out->steps))) prof_nomem(err);
    for (size_t i = 0; n && i < first->n && !err->code; i++)
        if (is_whole(&first->groups[i]) && !join_cores(&out->steps[out->n_steps++], first, cores + n_cores, first->groups[i].group, &out->arena))
            prof_nomem(err);
}

/* A GPU's steps are those of any GPU. XProf leaves out the first and the last of more than five: they may be cut. */
static void join_gpus(StepPrograms *out, Groups *gpus, size_t n_gpus, Plane *plane, ProfErr *err)
{
    Groups all = {0};
    for (size_t g = 0; g < n_gpus; g++)
        for (size_t i = 0; i < gpus[g].n && !err->code; i++) {
            const GroupWork *w = &gpus[g].groups[i];
            GroupWork *to = w->marked ? group_at(&all, w->group, plane, err) : NULL;
            if (!to) continue;
            mark(&all, w->group, w->begin_ps, w->marked_ps, plane, err);
            to->has_events |= w->has_events;
        }
    size_t n = count_whole(&all);
    if (n && !(out->steps = prof_alloc(n * sizeof *out->steps))) prof_nomem(err);
    for (size_t i = 0; i < all.n && !err->code; i++) {
        const GroupWork *w = &all.groups[i];
        if (is_whole(w))
            out->steps[out->n_steps++] =
                (StepProgram){.number = w->group, .begin_ps = w->begin_ps, .end_ps = w->begin_ps + w->marked_ps, .parts = {nothing_done(), nothing_done()}};
    }
    groups_free(&all);
}

static void sort_steps(StepPrograms *out, bool gpu)
{
    if (out->n_steps) qsort(out->steps, out->n_steps, sizeof *out->steps, by_number);
    if (!gpu || out->n_steps <= 5) return;
    out->n_steps -= 2;
    memmove(out->steps, out->steps + 1, out->n_steps * sizeof *out->steps);
}

static bool is_core(const Plane *plane, bool tpu) { return plane->kind == (tpu ? PLANE_TENSORCORE : PLANE_GPU); }

static bool has_kind(const Host *host, bool tpu)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (tpu ? !strncmp(host->planes[i].name->text, "/device:TPU:", 12) : host->planes[i].kind == PLANE_GPU) return true;
    return false;
}

static void read_host(StepPrograms *out, Host *host, OpStats *texts, ProfErr *err)
{
    HostSteps h = {.build = {.host = host, .stats = texts}, .out = out};
    bool tpu = has_kind(host, true);
    size_t n = 0;
    if (!tpu && !has_kind(host, false)) return;
    out->has_complete = tpu;
    if (!(h.grouping = host_grouping(host, err))) return;
    Groups *devices = prof_alloc(host->n_planes * sizeof *devices);
    if (!devices) prof_nomem(err);
    pthread_mutex_init(&h.build.lock, NULL);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (!is_core(plane, tpu)) continue;
        Core core = {.host = &h, .plane = plane};
        Gpu gpu = {.host = &h, .plane = plane};
        if (tpu)
            read_core(&core, err);
        else
            read_gpu(&gpu, err);
        devices[n++] = tpu ? core.groups : gpu.groups;
    }
    pthread_mutex_destroy(&h.build.lock);
    if (tpu && !err->code) join_tpu(out, devices, n, err);
    if (!tpu && !err->code) join_gpus(out, devices, n, host->planes, err);
    sort_steps(out, !tpu);
    for (size_t i = 0; i < n; i++) groups_free(&devices[i]);
    prof_free(devices);
}

/* ---- hosts together ---- */

/* Steps of hosts with devices; a host without any coordinates the others and has no say. */
static void merge_hosts(StepPrograms *out, const StepPrograms **hosts, size_t n_hosts, ProfErr *err)
{
    HostSpans *spans = prof_alloc(n_hosts * sizeof *spans);
    StepSpan **lists = prof_alloc(n_hosts * sizeof *lists);
    bool is_empty;
    if (!spans || !lists) prof_nomem(err);
    for (size_t h = 0; h < n_hosts && !err->code; h++) {
        if (!(lists[h] = prof_alloc(hosts[h]->n_steps * sizeof **lists))) prof_nomem(err);
        for (size_t i = 0; i < hosts[h]->n_steps && !err->code; i++) lists[h][i] = (StepSpan){hosts[h]->steps[i].begin_ps, hosts[h]->steps[i].end_ps};
        spans[h] = (HostSpans){.spans = lists[h], .n = hosts[h]->n_steps};
    }
    size_t n = err->code ? 0 : steps_align(spans, n_hosts, &is_empty);
    if (n && !(out->steps = prof_alloc(n * sizeof *out->steps))) prof_nomem(err);
    for (size_t i = 0; i < n && !err->code; i++) {
        StepProgram *to = &out->steps[out->n_steps++];
        *to = (StepProgram){.number = (int64_t)i, .begin_ps = UINT64_MAX, .parts = {nothing_done(), nothing_done()}};
        for (size_t h = 0; h < n_hosts; h++) {
            const StepProgram *from = &hosts[h]->steps[spans[h].first + i];
            if (from->begin_ps < to->begin_ps) to->begin_ps = from->begin_ps;
            if (from->end_ps > to->end_ps) to->end_ps = from->end_ps;
            for (int part = 0; part < N_STEP_PARTS; part++)
                if (!op_merge(&to->parts[part], &from->parts[part], &out->arena, false)) prof_nomem(err);
        }
    }
    for (size_t h = 0; lists && h < n_hosts; h++) prof_free(lists[h]);
    prof_free(lists);
    prof_free(spans);
}

static void read_hosts(StepPrograms *out, Run *run, ProfErr *err)
{
    const StepPrograms **hosts = prof_alloc(run->n_hosts * sizeof *hosts);
    size_t n = 0;
    if (!hosts) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        Host *host = &run->hosts[h];
        if (host->readable && (has_kind(host, true) || has_kind(host, false)) && (hosts[n] = run_step_programs(run, host, err))) n++;
    }
    out->has_complete = true;
    if (!err->code && n) merge_hosts(out, hosts, n, err);
    prof_free(hosts);
}

static void release(void *result)
{
    StepPrograms *out = result;
    prof_free(out->steps);
    arena_free(&out->arena);
    prof_free(out);
}

static void *make(Run *run, Host *only, ProfErr *err)
{
    StepPrograms *out = prof_alloc(sizeof *out);
    OpStats texts = {0};
    if (!out) return prof_nomem(err), NULL;
    if (!only && run->n_hosts > 1)
        read_hosts(out, run, err);
    else if ((only ? only : run->hosts)->readable)
        read_host(out, only ? only : run->hosts, &texts, err);
    for (int part = 0; part < N_STEP_PARTS; part++) {
        out->complete[part] = nothing_done();
        for (size_t i = 0; i < out->n_steps && !err->code; i++)
            if (!op_merge(&out->complete[part], &out->steps[i].parts[part], &out->arena, false)) prof_nomem(err);
        out->complete[part].occurrences = 1;
        for (size_t i = 0; i < out->n_steps; i++) out->steps[i].parts[part].occurrences = 1;
    }
    text_table_free(&texts.texts);
    arena_free(&texts.arena);
    if (err->code) return release(out), NULL;
    return out;
}

const StepPrograms *run_step_programs(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make, release};
    return run_analysis(run, only, &analysis, err);
}
