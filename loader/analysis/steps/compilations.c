// SPDX-License-Identifier: Apache-2.0
/* compilations.c: finds the functions and programs of compilations; see compilations.h.
 *
 * The file rarely records which program a compilation produced. It is found by name, which JAX
 * forms from the function's name, and by the program's first execution. */
#include "compilations.h"

#include "../../base/interrupt.h"
#include "../../base/marker.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/event_values.h"
#include "../grouping/grouping.h"
#include "compile_events.h"
#include "compile_parts.h"

/* A program and its first execution; INT64_MAX if it did not run. */
typedef struct {
    HloProgram *program;
    int64_t first_run;
    bool taken; /* a compilation has been assigned */
} Candidate;

/* All programs and compilations with one module name, or all compilations of a function whose
 * modules are unknown. */
typedef struct {
    const char *name;    /* NULL: unknown */
    Candidate *programs; /* sorted by id */
    size_t n_programs;
    Compilation **compilations; /* sorted by end */
    size_t n_compilations;
} Module;

typedef struct {
    Host *host;
    Compilations *out;
    CompileParts parts;
    const HloProgramList *programs;
    Candidate *candidates; /* sorted by name, then id */
    size_t n_candidates;
    LIST(Module) modules;
    HashTable by_name;
    TextTable names;
    Arena texts;
    Compilation **by_end;
} Build;

/* ---- modules by name ---- */

static Module *find_module(const Build *b, Slice name)
{
    uint64_t hash = text_hash(name.text, name.n);
    HASH_EACH(i, &b->by_name, hash)
        if (slice_is(name, b->modules.items[i].name)) return &b->modules.items[i];
    return NULL;
}

static Module *add_module(Build *b, const char *name, ProfErr *err)
{
    Module *m = name ? PUSH_KEYED(b->modules, &b->by_name, text_hash(name, strlen(name)))
                     : PUSH(b->modules);
    if (!m) {
        prof_nomem(err);
        return NULL;
    }
    *m = (Module){.name = name};
    return m;
}

static int by_name_then_id(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    int order = strcmp(x->program->name->text, y->program->name->text);
    if (order) return order;
    if (x->program->program_id != y->program->program_id)
        return ORDER(x->program->program_id, y->program->program_id);
    return ORDER(x->program, y->program);
}

/* Lists the programs; the first one with an id counts. */
static int list_modules(Build *b, ProfErr *err)
{
    size_t n = b->programs->n;
    if (!(b->candidates = prof_alloc((n + 1) * sizeof *b->candidates))) return prof_nomem(err);
    for (size_t i = 0; i < n; i++)
        b->candidates[i] = (Candidate){&b->programs->programs[i], INT64_MAX, false};
    sort_array(b->candidates, n, sizeof *b->candidates, by_name_then_id);
    for (size_t i = 0; i < n && !interrupt_poll(1, err); i++) {
        const HloProgram *program = b->candidates[i].program;
        Candidate *last = b->n_candidates ? &b->candidates[b->n_candidates - 1] : NULL;
        bool same = last && !strcmp(last->program->name->text, program->name->text);
        if (same && last->program->program_id == program->program_id) continue;
        b->candidates[b->n_candidates] = b->candidates[i];
        Module *m =
            same ? &b->modules.items[b->modules.n - 1] : add_module(b, program->name->text, err);
        if (!m) break;
        if (!same) m->programs = &b->candidates[b->n_candidates];
        m->n_programs++, b->n_candidates++;
    }
    return err->code;
}

/* Returns the name that JAX gives to the module of a function. */
static const Text *module_of_function(Build *b, Slice function, ProfErr *err)
{
    TextBuffer name = {0};
    text_add(&name, "jit_");
    for (size_t i = 0; i < function.n; i++) {
        char c = function.text[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '_' || c == '.' || c == '-';
        text_add_char(&name, plain ? c : '_');
    }
    const Text *text =
        name.no_memory ? NULL : text_intern(&b->names, &b->out->arena, name.text, name.n_bytes);
    if (!text) prof_nomem(err);
    text_free(&name);
    return text;
}

/* ---- names in events ---- */

/* Chooses between a module name and another text of the same compilation: the first one counts, but
 * the expected name before others. A text that may not be a module's name counts only if the file
 * has a program with this name, or if it is the expected name. */
static const char *choose_module(Build *b, const char *module, Slice text, bool is_name,
                                 const char *expected, ProfErr *err)
{
    if (is_name) text = slice_without_id(text);
    const Module *listed = find_module(b, text);
    bool is_expected = expected && slice_is(text, expected);
    if (module && !is_expected) return module;
    if (listed) return listed->name;
    if (!is_name && !is_expected) return module;
    const Text *name = text_intern(&b->names, &b->out->arena, text.text, text.n);
    if (!name) prof_nomem(err);
    return name ? name->text : NULL;
}

/* Returns the module in an argument of the part's name, as in XLA's markers, or in its stats. */
static const char *module_of_part(Build *b, EventFinder *finder, const CompilePart *part,
                                  const char *expected, ProfErr *err)
{
    const Plane *plane = part->line->plane;
    Slice named = marker_value(slice_of(plane->event_metas[part->meta].name), "module");
    const char *module = named.n ? choose_module(b, NULL, named, true, expected, err) : NULL;
    EventAt e;
    Stat stat;
    if (!event_find(finder, part->line, part->event - part->line->first_event, EVENT_STATS, &e,
                    err))
        return NULL;
    StatIter stats = stat_iter_of_event(&e);
    while (!(module && expected && !strcmp(module, expected)) && stat_iter_next(&stats, &stat)) {
        enum KnownStat known = stat_known(plane, stat.id);
        Slice text = stat_text(plane, &stat);
        if (!text.n || (known != STAT_HLO_MODULE && known != STAT_OP_NAME)) continue;
        module = choose_module(b, module, text, known == STAT_HLO_MODULE, expected, err);
    }
    return module;
}

/* Sets the module of compilations: the first name that a part has. One that the function's name
 * gives comes before others. */
static int read_modules(Build *b, ProfErr *err)
{
    EventFinder finder = {0};
    for (size_t i = 0; i < b->parts.parts.n && !interrupt_poll(1, err); i++) {
        const CompilePart *part = &b->parts.parts.items[i];
        Compilation *c = &b->out->compilations[part->owner];
        const Text *expected = c->function.n ? module_of_function(b, c->function, err) : NULL;
        const char *named = expected ? expected->text : NULL;
        if (err->code || (c->module && named && !strcmp(c->module, named))) continue;
        const char *module = module_of_part(b, &finder, part, named, err);
        if (module && (!c->module || (named && !strcmp(module, named)))) c->module = module;
    }
    event_finder_close(&finder);
    for (size_t i = 0; i < b->out->n && !err->code; i++) {
        Compilation *c = &b->out->compilations[i];
        const Text *name =
            !c->module && c->function.n ? module_of_function(b, c->function, err) : NULL;
        const Module *listed = name ? find_module(b, slice_of(name)) : NULL;
        if (listed) c->module = listed->name;
        if (!c->function.n && c->module && starts_with(c->module, "jit_"))
            c->function = slice_of_string(c->module + 4);
    }
    return err->code;
}

static int list_compilations(Build *b, ProfErr *err)
{
    Compilations *out = b->out;
    const Grouping *grouping = b->parts.n_compilations ? host_grouping(b->host, err) : NULL;
    out->n = b->parts.n_compilations;
    if (!(out->compilations = arena_alloc(&out->arena, (out->n + 1) * sizeof *out->compilations)))
        prof_nomem(err);
    for (size_t i = 0; i < out->n && !err->code; i++) {
        const CompilePart *part = &b->parts.parts.items[i];
        int64_t duration;
        if (__builtin_sub_overflow(part->end, part->start, &duration)) duration = INT64_MAX;
        out->compilations[i] = (Compilation){
            .line = part->line,
            .event = part->event,
            .name = part->line->plane->event_metas[part->meta].name,
            .start_ps = part->start,
            .duration_ps = duration,
            .step = event_last_group(grouping, part->event),
            .tracing_ps = part->tracing_ps,
            .lowering_ps = part->lowering_ps,
            .function = part->function ? called_function(slice_of(part->function)) : (Slice){"", 0},
        };
    }
    return err->code;
}

/* ---- programs ---- */

/* Sorts by module; those without one come last, by function. */
static int by_name(const char *module, Slice f, const char *other, Slice g)
{
    if (module && other) return strcmp(module, other);
    if (module || other) return module ? -1 : 1;
    return slice_order(f, g);
}

static int by_name_then_end(const void *a, const void *b)
{
    const Compilation *x = *(Compilation *const *)a, *y = *(Compilation *const *)b;
    int order = by_name(x->module, x->function, y->module, y->function);
    int64_t x_end = add_saturated(x->start_ps, x->duration_ps),
            y_end = add_saturated(y->start_ps, y->duration_ps);
    if (order) return order;
    return x_end != y_end ? ORDER(x_end, y_end) : ORDER(x->event, y->event);
}

/* Assigns the compilations to modules. */
static int distribute(Build *b, ProfErr *err)
{
    size_t n = 0;
    if (!(b->by_end = arena_alloc(&b->out->arena, (b->out->n + 1) * sizeof *b->by_end)))
        return prof_nomem(err);
    for (size_t i = 0; i < b->out->n; i++)
        if (b->out->compilations[i].module || b->out->compilations[i].function.n)
            b->by_end[n++] = &b->out->compilations[i];
    sort_array(b->by_end, n, sizeof *b->by_end, by_name_then_end);
    Module *m = NULL;
    for (size_t i = 0; i < n && !interrupt_poll(1, err); i++) {
        const Compilation *c = b->by_end[i], *last = i ? b->by_end[i - 1] : NULL;
        const char *name = c->module;
        if (!last || by_name(last->module, last->function, name, c->function))
            m = name ? find_module(b, slice_of_string(name)) : NULL;
        if (!m && !(m = add_module(b, name, err))) break;
        if (!m->n_compilations++) m->compilations = &b->by_end[i];
    }
    return err->code;
}

/* The programs of compiled modules, by id. */
typedef struct {
    Candidate **items;
    size_t n;
} Watched;

static int by_id(const void *a, const void *b)
{
    const Candidate *x = *(Candidate *const *)a, *y = *(Candidate *const *)b;
    return ORDER(x->program->program_id, y->program->program_id);
}

static void saw_run(const Watched *w, uint64_t id, int64_t start)
{
    size_t at = LOWER_BOUND(i, 0, w->n, w->items[i]->program->program_id < id);
    if (at < w->n && w->items[at]->program->program_id == id && start < w->items[at]->first_run)
        w->items[at]->first_run = start;
}

static void find_runs_of_line(const Watched *w, Line *line, const StatFilter *filter,
                              const uint64_t *ids, const bool *has_id, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    Stat stat;
    unsigned known;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    while (event_reader_next(&reader, &e)) {
        size_t meta = (size_t)(e.meta - line->plane->event_metas);
        StatIter stats = stat_iter_of_event(&e);
        bool own = false;
        if (e.occurrences >= 0) continue;
        while (!own && stat_iter_next_wanted(&stats, filter, &known, &stat))
            if ((own = stat_is_integer(&stat))) saw_run(w, stat.u64, e.start_ps);
        if (!own && has_id[meta]) saw_run(w, ids[meta], e.start_ps);
    }
    event_reader_close(&reader);
}

/* Sets the first executions, from events with a stat program_id (their own or their metadata's) and
 * from events named `module(id)`. */
static void find_runs_of_plane(const Watched *w, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_PROGRAM_ID};
    StatFilter filter = {0};
    uint64_t *ids = prof_alloc((plane->n_event_metas + 1) * sizeof *ids);
    bool *has_id = prof_alloc(plane->n_event_metas + 1),
         any = plane_declares(plane, STAT_PROGRAM_ID);
    if (!ids || !has_id) prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas && !interrupt_poll(1, err); i++) {
        EventMeta *meta = &plane->event_metas[i];
        bool device = plane->kind != PLANE_HOST;
        if (device && hlo_program_id(meta->name, &ids[i])) has_id[i] = any = true;
        if (has_id[i] || !meta->has_stats || event_meta_values(plane, meta, err)) continue;
        for (size_t k = 0; k < meta->n_facts; k++) {
            int64_t id;
            if (meta->facts[k].known == STAT_PROGRAM_ID &&
                stat_value_integer(&meta->facts[k].fact, &id))
                ids[i] = (uint64_t)id, has_id[i] = any = true;
        }
    }
    if (any && !err->code && !stat_filter_open(&filter, plane, wanted, COUNT(wanted), err))
        for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
            Line *line = &plane->host->lines[plane->first_line + i];
            if (!line->derived) find_runs_of_line(w, line, &filter, ids, has_id, err);
        }
    stat_filter_close(&filter);
    prof_free(ids);
    prof_free(has_id);
}

/* Finds the first executions of the programs of compiled modules. */
static int find_first_runs(Build *b, ProfErr *err)
{
    Watched w = {prof_buffer((b->n_candidates + 1) * sizeof *w.items), 0};
    if (!w.items) return prof_nomem(err);
    for (size_t i = 0; i < b->modules.n; i++) {
        const Module *m = &b->modules.items[i];
        for (size_t k = 0; m->n_compilations && k < m->n_programs; k++)
            w.items[w.n++] = &m->programs[k];
    }
    sort_array(w.items, w.n, sizeof *w.items, by_id);
    for (size_t i = 0; w.n && i < b->host->n_planes && !err->code; i++) {
        Plane *plane = &b->host->planes[i];
        if (plane->kind == PLANE_HOST || plane->kind == PLANE_GPU ||
            plane->kind == PLANE_TENSORCORE)
            find_runs_of_plane(&w, plane, err);
    }
    prof_free(w.items);
    return err->code;
}

static int by_first_run(const void *a, const void *b)
{
    const Candidate *x = *(Candidate *const *)a, *y = *(Candidate *const *)b;
    if (x->first_run != y->first_run) return ORDER(x->first_run, y->first_run);
    return ORDER(x->program->program_id, y->program->program_id);
}

/* Matches compilations with programs. A compilation's program is the one of its name that first
 * runs after the compilation and before the end of the next compilation of that name, if there is
 * exactly one; or the only program of the name, unless it runs earlier. The program before is the
 * previous one of those that ran. */
static int match_module(const Module *m, Candidate **sorted, ProfErr *err)
{
    size_t at = 0;
    HloProgram *before = NULL;
    for (size_t k = 0; k < m->n_programs; k++) sorted[k] = &m->programs[k];
    sort_array(sorted, m->n_programs, sizeof *sorted, by_first_run);
    for (size_t i = 0; i < m->n_compilations && !interrupt_poll(1, err); i++) {
        Compilation *c = m->compilations[i];
        int64_t end = add_saturated(c->start_ps, c->duration_ps), until = INT64_MAX;
        if (i + 1 < m->n_compilations)
            until = add_saturated(m->compilations[i + 1]->start_ps,
                                  m->compilations[i + 1]->duration_ps);
        while (at < m->n_programs && sorted[at]->first_run < end) before = sorted[at++]->program;
        size_t first = at;
        while (at < m->n_programs && sorted[at]->first_run < until) at++;
        bool only = m->n_programs == 1 && m->n_compilations == 1 && sorted[0]->first_run >= end;
        if (at > first || only) {
            Candidate *made = sorted[first];
            made->taken = true, c->program = made->program, c->program_before = before;
            before = sorted[at > first ? at - 1 : first]->program;
        }
    }
    return err->code;
}

static int match_programs(Build *b, ProfErr *err)
{
    Candidate **sorted = prof_buffer((b->n_candidates + 1) * sizeof *sorted);
    if (!sorted) return prof_nomem(err);
    for (size_t i = 0; i < b->modules.n && !err->code; i++)
        match_module(&b->modules.items[i], sorted, err);
    prof_free(sorted);
    return err->code;
}

/* ---- modules with several programs ---- */

static void add_time(int64_t *sum, int64_t ps)
{
    if (ps >= 0) *sum = *sum < 0 ? ps : add_saturated(*sum, ps);
}

static int list_recompiled(Build *b, const Module *m, ProfErr *err)
{
    CompiledModule *r = &b->out->modules[b->out->n_modules++];
    size_t n = 0;
    *r = (CompiledModule){.module = m->name,
                          .n_compilations = m->n_compilations,
                          .duration_ps = -1,
                          .tracing_ps = -1,
                          .lowering_ps = -1,
                          .n_programs = m->n_programs};
    if (!(r->programs = arena_alloc(&b->out->arena, (m->n_programs + 1) * sizeof *r->programs)))
        return prof_nomem(err);
    for (size_t i = 0; i < m->n_programs; i++)
        if (!m->programs[i].taken) r->programs[n++] = m->programs[i].program;
    for (size_t i = 0; i < m->n_compilations && !interrupt_poll(1, err); i++) {
        const Compilation *c = m->compilations[i];
        if (c->program) r->programs[n++] = c->program;
        if (c->function.n) r->function = c->function;
        add_time(&r->duration_ps, c->duration_ps);
        add_time(&r->tracing_ps, c->tracing_ps);
        add_time(&r->lowering_ps, c->lowering_ps);
    }
    if (!r->function.n && m->name && starts_with(m->name, "jit_"))
        r->function = slice_of_string(m->name + 4);
    return err->code;
}

static int longest_first(const void *a, const void *b)
{
    const CompiledModule *x = a, *y = b;
    if (x->duration_ps != y->duration_ps) return ORDER(y->duration_ps, x->duration_ps);
    if (x->n_programs != y->n_programs) return ORDER(y->n_programs, x->n_programs);
    return by_name(x->module, x->function, y->module, y->function);
}

static int list_all_recompiled(Build *b, ProfErr *err)
{
    Compilations *out = b->out;
    if (!(out->modules = arena_alloc(&out->arena, (b->modules.n + 1) * sizeof *out->modules)))
        return prof_nomem(err);
    for (size_t i = 0; i < b->modules.n && !err->code; i++) {
        const Module *m = &b->modules.items[i];
        if (m->n_programs > 1 || m->n_compilations > 1) list_recompiled(b, m, err);
    }
    sort_array(out->modules, out->n_modules, sizeof *out->modules, longest_first);
    return err->code;
}

/* ---- the analysis ---- */

static void compilations_release(void *result)
{
    Compilations *out = result;
    arena_free(&out->arena);
    prof_free(out);
}

static void *compilations_make(Run *run, Host *only, ProfErr *err)
{
    Build b = {.host = only ? only : &run->hosts[0], .out = prof_alloc(sizeof *b.out)};
    if (!b.out) {
        prof_nomem(err);
        return NULL;
    }
    if (!(b.programs = hlo_program_list(b.host, err)) || list_modules(&b, err) ||
        find_compile_parts(b.host, &b.parts, err) || list_compilations(&b, err) ||
        read_modules(&b, err) || distribute(&b, err) || find_first_runs(&b, err) ||
        match_programs(&b, err) || list_all_recompiled(&b, err))
        compilations_release(b.out), b.out = NULL;
    prof_free(b.parts.parts.items);
    prof_free(b.candidates);
    prof_free(b.modules.items);
    hash_free(&b.by_name);
    text_table_free(&b.names);
    return b.out;
}

const Compilations *host_compilations(Host *host, ProfErr *err)
{
    static const Analysis analysis = {compilations_make, compilations_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
