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
    int64_t first_run;        /* INT64_MAX if it does not run */
    Compilation *compilation; /* that made it; NULL: none during the capture */
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

/* Returns a module's name without the number that XLA's builder appends, which can differ between
 * programs of one function: "step" of "step.12". */
static Slice module_title(const char *name)
{
    size_t n = strlen(name), end = n;
    while (end && name[end - 1] >= '0' && name[end - 1] <= '9') end--;
    bool has_number = end > 1 && end < n && name[end - 1] == '.';
    return (Slice){name, has_number ? end - 1 : n};
}

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
        b->candidates[i] = (Candidate){&b->programs->programs[i], INT64_MAX, NULL};
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
            .step = event_step_group(grouping, part->event),
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

static int by_end(const void *a, const void *b)
{
    const Compilation *x = *(Compilation *const *)a, *y = *(Compilation *const *)b;
    int64_t x_end = add_saturated(x->start_ps, x->duration_ps),
            y_end = add_saturated(y->start_ps, y->duration_ps);
    return x_end != y_end ? ORDER(x_end, y_end) : ORDER(x->event, y->event);
}

static int by_name_then_end(const void *a, const void *b)
{
    const Compilation *x = *(Compilation *const *)a, *y = *(Compilation *const *)b;
    int order = by_name(x->module, x->function, y->module, y->function);
    return order ? order : by_end(a, b);
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

/* The programs, by id. */
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

/* Finds the first executions of the programs, if something was compiled. */
static int find_first_runs(Build *b, ProfErr *err)
{
    Watched w = {prof_buffer((b->n_candidates + 1) * sizeof *w.items), 0};
    if (!w.items) return prof_nomem(err);
    for (size_t i = 0; i < b->modules.n; i++) {
        const Module *m = &b->modules.items[i];
        for (size_t k = 0; b->out->n && k < m->n_programs; k++) w.items[w.n++] = &m->programs[k];
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
 * exactly one; or the only program of the name, unless it runs earlier. */
static int match_module(const Module *m, Candidate **sorted, ProfErr *err)
{
    size_t at = 0;
    for (size_t k = 0; k < m->n_programs; k++) sorted[k] = &m->programs[k];
    sort_array(sorted, m->n_programs, sizeof *sorted, by_first_run);
    for (size_t i = 0; i < m->n_compilations && !interrupt_poll(1, err); i++) {
        Compilation *c = m->compilations[i];
        int64_t end = add_saturated(c->start_ps, c->duration_ps), until = INT64_MAX;
        if (i + 1 < m->n_compilations)
            until = add_saturated(m->compilations[i + 1]->start_ps,
                                  m->compilations[i + 1]->duration_ps);
        while (at < m->n_programs && sorted[at]->first_run < end) at++;
        size_t first = at;
        while (at < m->n_programs && sorted[at]->first_run < until) at++;
        bool only = m->n_programs == 1 && m->n_compilations == 1 && sorted[0]->first_run >= end;
        if (at > first || only) {
            c->program = sorted[first]->program;
            sorted[first]->compilation = c;
        }
    }
    return err->code;
}

static int by_title_then_run(const void *a, const void *b)
{
    const Candidate *x = *(Candidate *const *)a, *y = *(Candidate *const *)b;
    int order =
        slice_order(module_title(x->program->name->text), module_title(y->program->name->text));
    return order ? order : by_first_run(a, b);
}

/* Finds the program before that of each compilation: the one of its title that first ran last
 * before it. */
static int find_programs_before(Build *b, Candidate **sorted, ProfErr *err)
{
    for (size_t i = 0; i < b->n_candidates; i++) sorted[i] = &b->candidates[i];
    sort_array(sorted, b->n_candidates, sizeof *sorted, by_title_then_run);
    HloProgram *before = NULL;
    for (size_t i = 0; i < b->n_candidates && !interrupt_poll(1, err); i++) {
        if (i && slice_order(module_title(sorted[i - 1]->program->name->text),
                             module_title(sorted[i]->program->name->text)))
            before = NULL;
        if (sorted[i]->compilation) sorted[i]->compilation->program_before = before;
        if (sorted[i]->first_run < INT64_MAX) before = sorted[i]->program;
    }
    return err->code;
}

static int match_programs(Build *b, ProfErr *err)
{
    Candidate **sorted = prof_buffer((b->n_candidates + 1) * sizeof *sorted);
    if (!sorted) return prof_nomem(err);
    for (size_t i = 0; i < b->modules.n && !err->code; i++)
        match_module(&b->modules.items[i], sorted, err);
    if (!err->code) find_programs_before(b, sorted, err);
    prof_free(sorted);
    return err->code;
}

/* ---- modules with several programs ---- */

static void add_time(int64_t *sum, int64_t ps)
{
    if (ps >= 0) *sum = *sum < 0 ? ps : add_saturated(*sum, ps);
}

static int by_program_id(const void *a, const void *b)
{
    const HloProgram *x = *(HloProgram *const *)a, *y = *(HloProgram *const *)b;
    return ORDER(x->program_id, y->program_id);
}

/* Returns the name of modules with one title. NULL with err set. */
static const char *common_name(Build *b, Module *const *of, size_t n, ProfErr *err)
{
    if (n == 1) return of[0]->name;
    Slice title = module_title(of[0]->name);
    const Text *name = text_intern(&b->names, &b->out->arena, title.text, title.n);
    if (!name) prof_nomem(err);
    return name ? name->text : NULL;
}

/* Lists the programs and compilations of modules with one title, if there are several. */
static int list_recompiled(Build *b, Module *const *of, size_t n, ProfErr *err)
{
    CompiledModule r = {.duration_ps = -1, .tracing_ps = -1, .lowering_ps = -1};
    size_t n_made = 0, at = 0;
    for (size_t k = 0; k < n; k++) {
        r.n_programs += of[k]->n_programs;
        r.n_compilations += of[k]->n_compilations;
    }
    if (r.n_programs < 2 && r.n_compilations < 2) return err->code;
    Compilation **made = arena_alloc(&b->out->arena, (r.n_compilations + 1) * sizeof *made);
    r.programs = arena_alloc(&b->out->arena, (r.n_programs + 1) * sizeof *r.programs);
    if (!made || !r.programs) return prof_nomem(err);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < of[k]->n_programs; i++)
            if (!of[k]->programs[i].compilation) r.programs[at++] = of[k]->programs[i].program;
        for (size_t i = 0; i < of[k]->n_compilations; i++) made[n_made++] = of[k]->compilations[i];
    }
    sort_array(r.programs, at, sizeof *r.programs, by_program_id);
    sort_array(made, n_made, sizeof *made, by_end);
    for (size_t i = 0; i < n_made && !interrupt_poll(1, err); i++) {
        const Compilation *c = made[i];
        if (c->program) r.programs[at++] = c->program;
        if (c->function.n) r.function = c->function;
        add_time(&r.duration_ps, c->duration_ps);
        add_time(&r.tracing_ps, c->tracing_ps);
        add_time(&r.lowering_ps, c->lowering_ps);
    }
    r.module = common_name(b, of, n, err);
    if (!r.function.n && r.module && starts_with(r.module, "jit_"))
        r.function = slice_of_string(r.module + 4);
    b->out->modules[b->out->n_modules++] = r;
    return err->code;
}

/* Sorts by title; those without a name come last. */
static int by_title(const void *a, const void *b)
{
    const Module *x = *(Module *const *)a, *y = *(Module *const *)b;
    if (x->name && !y->name) return -1;
    if (!x->name) return y->name ? 1 : ORDER(x, y);
    int order = slice_order(module_title(x->name), module_title(y->name));
    return order ? order : ORDER(x, y);
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
    size_t n = b->modules.n;
    Module **sorted = prof_buffer((n + 1) * sizeof *sorted);
    out->modules = arena_alloc(&out->arena, (n + 1) * sizeof *out->modules);
    if (!sorted || !out->modules) prof_nomem(err);
    for (size_t i = 0; i < n && !err->code; i++) sorted[i] = &b->modules.items[i];
    if (!err->code) sort_array(sorted, n, sizeof *sorted, by_title);
    for (size_t i = 0, end; i < n && !err->code; i = end) {
        const char *name = sorted[i]->name;
        for (end = i + 1; name && end < n && sorted[end]->name; end++)
            if (slice_order(module_title(name), module_title(sorted[end]->name))) break;
        list_recompiled(b, &sorted[i], end - i, err);
    }
    prof_free(sorted);
    if (!err->code) sort_array(out->modules, out->n_modules, sizeof *out->modules, longest_first);
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
