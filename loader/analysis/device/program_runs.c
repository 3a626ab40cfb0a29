// SPDX-License-Identifier: Apache-2.0
/* program_runs.c: finds the executions of programs; see program_runs.h.
 *
 * TPUs record them. On a GPU they are found from the kernels, by time: an execution ends when a
 * kernel of another program follows, or a kernel that the execution already has. Kernels of a CUDA
 * graph record the name of the graph (`command_buffer_1`) as their op. One launch runs all of them.
 */
#include "program_runs.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../format/hlo.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "devices.h"
#include "work_kind.h"

/* A kernel whose program is recorded. */
typedef struct {
    int64_t start_ps, end_ps;
    uint64_t event, program_id, launch;
    const Text *module, *op; /* NULL: not recorded */
    const EventMeta *meta;
    bool has_program, in_graph;
} ProgramKernel;

/* A kernel of a program's op, or a graph, and the last execution that has it. */
typedef struct {
    const ProgramKernel *kernel;
    const EventMeta *meta; /* NULL: the op is a graph, with all its kernels */
    bool once;             /* the entry computation runs it, so it runs once in an execution */
    bool names_entry_op;   /* the name is that of an op of the entry computation; its op is none */
    size_t last_run;
    uint64_t last_launch;
} SeenKernel;

typedef struct {
    Plane *plane;
    LIST(ProgramKernel) kernels;
    LIST(ProgramRun) runs;
} PlaneRuns;

/* ---- TPUs ---- */

static void add_modules(PlaneRuns *p, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        ProgramRun *run = e.occurrences < 0 ? PUSH(p->runs) : NULL;
        if (e.occurrences >= 0) continue;
        if (!run) {
            prof_nomem(err);
            break;
        }
        *run =
            (ProgramRun){.plane = p->plane,
                         .start_ps = e.start_ps,
                         .end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0),
                         .first_event = e.event};
        run->has_program = hlo_program_id(e.meta->name, &run->program_id);
        run->module = e.meta->name;
    }
    event_reader_close(&reader);
}

/* ---- kernels of a GPU ---- */

static const Text *kept_text(Host *host, const Plane *plane, const Stat *stat, ProfErr *err)
{
    if (stat->type == TYPE_REF) return stat_ref_text(plane, stat->u64);
    if (stat->type != TYPE_STR) return NULL;
    pthread_mutex_lock(&host->lock);
    const Text *text = text_intern(&host->texts, &host->arena, stat->bytes, stat->n_bytes);
    pthread_mutex_unlock(&host->lock);
    if (!text) prof_nomem(err);
    return text;
}

/* Reads the stats of a kernel. The event's own stats come before those of its metadata. */
static void read_facts(ProgramKernel *kernel, Plane *plane, const StatFilter *filter,
                       const EventAt *e, ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    unsigned known;
    Stat stat;
    while (filter->any && stat_iter_next_wanted(&stats, filter, &known, &stat) && !err->code)
        if (known == STAT_PROGRAM_ID && !kernel->has_program && stat_is_integer(&stat))
            kernel->has_program = true, kernel->program_id = stat.u64;
        else if (known == STAT_HLO_MODULE && !kernel->module)
            kernel->module = kept_text(plane->host, plane, &stat, err);
        else if (known == STAT_HLO_OP && !kernel->op)
            kernel->op = kept_text(plane->host, plane, &stat, err);
        else if (known == STAT_CORRELATION_ID && stat_is_integer(&stat))
            kernel->launch = stat.u64;
        else if (known == STAT_GRAPH_ID)
            kernel->in_graph = true;
    if (!e->meta->has_stats || event_meta_values(plane, e->meta, err)) return;
    for (uint16_t i = 0; i < e->meta->n_facts; i++) {
        const KnownValue *of = &e->meta->facts[i];
        bool is_text = of->fact.type == TYPE_STR;
        if (of->known == STAT_PROGRAM_ID && !kernel->has_program && !is_text)
            kernel->has_program = stat_value_integer(&of->fact, (int64_t *)&kernel->program_id);
        else if (of->known == STAT_HLO_MODULE && !kernel->module && is_text)
            kernel->module = of->fact.text;
        else if (of->known == STAT_HLO_OP && !kernel->op && is_text)
            kernel->op = of->fact.text;
    }
}

static void add_kernels(PlaneRuns *p, Line *line, const StatFilter *filter, const StatSet *wanted,
                        ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, wanted, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        ProgramKernel kernel = {
            .start_ps = e.start_ps,
            .end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0),
            .event = e.event,
            .meta = e.meta};
        if (e.occurrences >= 0) continue;
        read_facts(&kernel, p->plane, filter, &e, err);
        if (!kernel.has_program && !kernel.module) continue;
        ProgramKernel *place = PUSH(p->kernels);
        if (place)
            *place = kernel;
        else
            prof_nomem(err);
    }
    event_reader_close(&reader);
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    PlaneRuns *p = &((PlaneRuns *)context)[i];
    static const enum KnownStat wanted[] = {STAT_PROGRAM_ID, STAT_HLO_MODULE, STAT_HLO_OP,
                                            STAT_CORRELATION_ID, STAT_GRAPH_ID};
    StatFilter filter;
    StatSet set = {0};
    for (size_t k = 0; k < COUNT(wanted); k++) stat_set_add(&set, wanted[k]);
    stat_filter_open(&filter, p->plane, wanted, COUNT(wanted), err);
    for (size_t k = 0; k < p->plane->n_lines && !err->code; k++) {
        Line *line = &p->plane->host->lines[p->plane->first_line + k];
        if (p->plane->kind != PLANE_GPU && is_module_line(line) && !line->derived)
            add_modules(p, line, err);
        else if (p->plane->kind == PLANE_GPU && line_is_work(line))
            add_kernels(p, line, &filter, &set, err);
    }
    stat_filter_close(&filter);
}

/* ---- executions of kernels ---- */

static int by_start(const void *a, const void *b)
{
    const ProgramKernel *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, event);
}

static bool same_text(const Text *a, const Text *b)
{
    return a == b || (a && b && a->n_bytes == b->n_bytes && !memcmp(a->text, b->text, a->n_bytes));
}

static bool same_program(const ProgramKernel *a, const ProgramKernel *b)
{
    return a->has_program == b->has_program &&
           (a->has_program ? a->program_id == b->program_id : same_text(a->module, b->module));
}

/* Returns whether XLA gives the kernels of this instruction such names. */
static bool names_kernel(const char *instruction, const Text *kernel)
{
    size_t n = strlen(instruction);
    if (n != kernel->n_bytes) return false;
    for (size_t i = 0; i < n; i++) {
        char c = instruction[i];
        bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (kernel->text[i] != (kept ? c : '_')) return false;
    }
    return true;
}

static bool is_named_in(const Xla__HloComputationProto *entry, const Text *kernel)
{
    for (size_t i = 0; entry && i < entry->n_instructions; i++)
        if (names_kernel(entry->instructions[i]->name, kernel)) return true;
    return false;
}

static const HloModule *program_of(const ProgramKernel *kernel, Host *host, ProfErr *err)
{
    return kernel->has_program ? hlo_program(host, kernel->program_id, err) : NULL;
}

static int64_t position_of(const ProgramKernel *kernel, const HloModule *module)
{
    Slice op = slice_innermost(slice_of(kernel->op));
    return module ? hlo_find_position(module, op.text, op.n) : -1;
}

static void find_in_entry(SeenKernel *seen, Host *host, ProfErr *err)
{
    const HloModule *module = program_of(seen->kernel, host, err);
    int64_t at = position_of(seen->kernel, module);
    if (module && at < 0) seen->names_entry_op = is_named_in(hlo_entry(module), seen->meta->name);
    seen->once = at >= 0 && hlo_op(module, (size_t)at).computation == hlo_entry(module);
}

typedef struct {
    PlaneRuns *plane;
    HashTable by_kernel;
    LIST(SeenKernel) seen;
} Splitter;

static SeenKernel *seen_kernel(Splitter *s, const ProgramKernel *kernel, const EventMeta *meta,
                               ProfErr *err)
{
    uint64_t hash = text_hash(kernel->op->text, kernel->op->n_bytes);
    hash = hash64(hash ^ hash64(kernel->program_id + (uint64_t)(uintptr_t)meta));
    HASH_EACH(i, &s->by_kernel, hash) {
        SeenKernel *at = &s->seen.items[i];
        if (at->meta == meta && same_program(at->kernel, kernel) &&
            same_text(at->kernel->op, kernel->op))
            return at;
    }
    SeenKernel made = {.kernel = kernel, .meta = meta, .last_run = SIZE_MAX};
    if (meta) find_in_entry(&made, s->plane->plane->host, err);
    SeenKernel *at = err->code ? NULL : PUSH_KEYED(s->seen, &s->by_kernel, hash);
    if (at)
        *at = made;
    else
        prof_nomem(err);
    return at;
}

/* Returns the kernel, or the graph that it is part of. */
static SeenKernel *seen_work(Splitter *s, const ProgramKernel *kernel, ProfErr *err)
{
    return kernel->op ? seen_kernel(s, kernel, kernel->in_graph ? NULL : kernel->meta, err) : NULL;
}

/* Marks graphs as run by the entry computation if it runs one of their ops. */
static void add_graphs(Splitter *s, ProfErr *err)
{
    for (size_t i = 0; i < s->plane->kernels.n && !interrupt_poll(0, err); i++) {
        const ProgramKernel *kernel = &s->plane->kernels.items[i];
        if (!kernel->op || !kernel->in_graph) continue;
        SeenKernel *one = seen_kernel(s, kernel, kernel->meta, err);
        bool once = one && (one->once || one->names_entry_op);
        SeenKernel *graph = one ? seen_work(s, kernel, err) : NULL;
        if (graph) graph->once |= once;
    }
}

/* Returns whether the kernel or its graph cannot be part of the current execution. */
static bool starts_again(const SeenKernel *seen, const ProgramKernel *kernel, size_t n_runs)
{
    return seen && seen->once && n_runs && seen->last_run == n_runs - 1 &&
           (seen->meta || seen->last_launch != kernel->launch);
}

/* Notes the kernel in its execution: as itself, and as part of its graph. */
static void note_kernel(Splitter *s, SeenKernel *seen, const ProgramKernel *kernel, ProfErr *err)
{
    size_t run = s->plane->runs.n - 1;
    if (!seen) return;
    seen->last_run = run, seen->last_launch = kernel->launch;
    SeenKernel *own = seen->meta ? NULL : seen_kernel(s, kernel, kernel->meta, err);
    if (own) own->last_run = run;
}

static void split_kernels(PlaneRuns *p, ProfErr *err)
{
    Splitter s = {.plane = p};
    const ProgramKernel *last = NULL;
    sort_array(p->kernels.items, p->kernels.n, sizeof *p->kernels.items, by_start);
    add_graphs(&s, err);
    for (size_t i = 0; i < p->kernels.n && !interrupt_poll(0, err); i++) {
        const ProgramKernel *kernel = &p->kernels.items[i];
        SeenKernel *seen = seen_work(&s, kernel, err);
        if (err->code) break;
        bool again = starts_again(seen, kernel, p->runs.n);
        ProgramRun *run = last ? &p->runs.items[p->runs.n - 1] : NULL;
        if (!last || again || !same_program(last, kernel)) {
            if (!(run = PUSH(p->runs))) {
                prof_nomem(err);
                break;
            }
            *run = (ProgramRun){p->plane,       kernel->has_program, kernel->program_id,
                                kernel->module, kernel->start_ps,    kernel->end_ps,
                                kernel->event};
        }
        if (kernel->end_ps > run->end_ps) run->end_ps = kernel->end_ps;
        if (!run->module) run->module = kernel->module;
        note_kernel(&s, seen, kernel, err);
        last = kernel;
    }
    hash_free(&s.by_kernel);
    prof_free(s.seen.items);
}

/* ---- the analysis ---- */

static int by_start_of_run(const void *a, const void *b)
{
    const ProgramRun *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, first_event);
}

static void add_plane(ProgramRuns *all, PlaneRuns *p, ProfErr *err)
{
    split_kernels(p, err);
    sort_array(p->runs.items, p->runs.n, sizeof *p->runs.items, by_start_of_run);
    for (size_t i = 0; i < p->runs.n && !err->code; i++)
        if (GROW(all->runs, all->n, all->capacity))
            all->runs[all->n++] = p->runs.items[i];
        else
            prof_nomem(err);
}

static void add_host(ProgramRuns *all, Host *host, ProfErr *err)
{
    size_t n = 0;
    PlaneRuns *planes = prof_alloc(host->n_planes * sizeof *planes);
    if (!planes) prof_nomem(err);
    for (size_t i = 0; planes && i < host->n_planes; i++)
        if (plane_is_device(&host->planes[i])) planes[n++].plane = &host->planes[i];
    if (n && !err->code && !host_load_only(host, err))
        parallel_for(host->run->n_workers, n, plane_task, planes, err);
    for (size_t i = 0; i < n; i++) {
        if (!err->code) add_plane(all, &planes[i], err);
        prof_free(planes[i].kernels.items);
        prof_free(planes[i].runs.items);
    }
    prof_free(planes);
}

static void program_runs_release(void *result)
{
    ProgramRuns *all = result;
    prof_free(all->runs);
    prof_free(all);
}

static void *program_runs_make(Run *run, Host *only, ProfErr *err)
{
    ProgramRuns *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (!only || only == &run->hosts[h]) add_host(all, &run->hosts[h], err);
    if (err->code) program_runs_release(all), all = NULL;
    return all;
}

const ProgramRuns *run_program_runs(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {program_runs_make, program_runs_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
