// SPDX-License-Identifier: Apache-2.0
/* compiler_events.c: sums the events of compilers; see compiler_events.h.
 *
 * An event belongs to the compilation that started last of those that contain it. They are found in
 * a tree of the latest ends, because compilations of several threads overlap in any way. */
#include "compiler_events.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/slice.h"
#include "../../store/events.h"
#include "compilations.h"

/* ---- compilations that contain an event ---- */

typedef struct {
    int64_t start, end;
    const Text *function;
} Compiling;

typedef struct {
    Compiling *items; /* by start */
    size_t n;
    /* A binary tree in an array: node i has the children 2i and 2i + 1; the last n_leaves nodes are
     * the items. Each node is the latest end of the items below it. */
    int64_t *ends;
    size_t n_leaves; /* a power of 2, more than n */
} CompilingTree;

static const Text *function_of(CompilerEventList *out, const Compilation *c)
{
    Slice name = c->function;
    if (!name.n && c->module) name = slice_of_string(c->module);
    return text_intern(&out->functions, &out->arena, name.text, name.n);
}

static int make_tree(CompilingTree *t, CompilerEventList *out, const Compilations *all,
                     ProfErr *err)
{
    t->n = all->n;
    t->n_leaves = 1;
    while (t->n_leaves <= t->n) t->n_leaves *= 2;
    t->items = prof_alloc(t->n * sizeof *t->items);
    t->ends = prof_buffer(2 * t->n_leaves * sizeof *t->ends);
    if (!t->items || !t->ends) return prof_nomem(err);
    for (size_t i = 0; i < 2 * t->n_leaves; i++) t->ends[i] = INT64_MIN;
    for (size_t i = 0; i < t->n && !interrupt_poll(1, err); i++) {
        const Compilation *c = &all->compilations[i];
        int64_t end = add_saturated(c->start_ps, c->duration_ps > 0 ? c->duration_ps : 0);
        t->items[i] = (Compiling){c->start_ps, end, function_of(out, c)};
        if (!t->items[i].function) return prof_nomem(err);
        for (size_t node = t->n_leaves + i; node && t->ends[node] < end; node /= 2)
            t->ends[node] = end;
    }
    return err->code;
}

/* Returns the compilation that started last of those that contain a time; NULL if none does. */
static const Compiling *compiling_around(const CompilingTree *t, int64_t start, int64_t end)
{
    size_t after = LOWER_BOUND(i, 0, t->n, t->items[i].start <= start);
    if (after && t->items[after - 1].end >= end) return &t->items[after - 1];
    if (t->ends[1] < end) return NULL;
    size_t node = t->n_leaves + after;
    while (node > 1 && !(node % 2 && t->ends[node - 1] >= end)) node /= 2;
    if (node < 2) return NULL;
    for (node--; node < t->n_leaves;) node = 2 * node + (t->ends[2 * node + 1] >= end);
    return &t->items[node - t->n_leaves];
}

/* ---- threads ---- */

typedef struct {
    CompilingTree compiling;
    CompilerEventList *out;
    Plane *plane;
    bool *of_compilers; /* by index of event metadata: the name is one of a compiler */
    size_t *last;       /* by index of event metadata: index + 1 of the row of its last event */
    HashTable by_key;   /* rows of the line */
} Walk;

static bool is_of_compiler(Slice name)
{
    static const char *const parts[] = {"::Compile", "Compiler::"};
    return slice_contains_any(name, parts, COUNT(parts)) || slice_ends(name, "Pass") ||
           slice_starts(name, "XlaPass:#") || slice_starts(name, "XlaPassPipeline:#");
}

/* Returns the compilation of the reader's next event that is in one; NULL at the end. */
static const Compiling *next_event(const Walk *w, EventReader *reader, EventAt *e)
{
    while (event_reader_next(reader, e)) {
        if (e->occurrences >= 0) continue;
        int64_t end = add_saturated(e->start_ps, e->duration_ps > 0 ? e->duration_ps : 0);
        const Compiling *around = compiling_around(&w->compiling, e->start_ps, end);
        if (around) return around;
    }
    return NULL;
}

/* Returns whether the line is a thread of the compiler. */
static bool is_compiler(const Walk *w, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    bool found = false;
    event_reader_open(&reader, line, 0, err);
    while (!found && next_event(w, &reader, &e))
        found = w->of_compilers[e.meta - w->plane->event_metas];
    event_reader_close(&reader);
    return found;
}

/* Returns the row of a name and function on the current line. NULL if memory runs out. */
static CompilerEvents *find_row(Walk *w, const Line *line, const EventAt *e, const Text *function)
{
    CompilerEventList *out = w->out;
    size_t *last = &w->last[e->meta - w->plane->event_metas];
    const Text *name = e->meta->name;
    if (*last && out->rows[*last - 1].line == line && out->rows[*last - 1].function == function)
        return &out->rows[*last - 1];
    uint64_t hash = hash64(hash64((uint64_t)(uintptr_t)name) ^ (uint64_t)(uintptr_t)function);
    HASH_EACH(i, &w->by_key, hash)
        if (out->rows[i].name == name && out->rows[i].function == function)
            return &out->rows[(*last = i + 1) - 1];
    if (!GROW(out->rows, out->n, out->capacity) || !hash_add(&w->by_key, hash, out->n)) return NULL;
    out->rows[out->n] = (CompilerEvents){.line = line, .name = name, .function = function};
    *last = ++out->n;
    return &out->rows[out->n - 1];
}

static int add_line(Walk *w, Line *line, ProfErr *err)
{
    const NestingChunk *nesting = line_nesting(line, err);
    const Compiling *around;
    EventReader reader;
    EventAt e;
    if (!nesting) return err->code;
    hash_clear(&w->by_key);
    event_reader_open(&reader, line, 0, err);
    while ((around = next_event(w, &reader, &e))) {
        CompilerEvents *row = find_row(w, line, &e, around->function);
        if (!row) {
            prof_nomem(err);
            break;
        }
        uint64_t i = e.event - line->first_event;
        int64_t self = packed_at(&nesting[i / CHUNK_EVENTS].columns[NEST_SELF], i % CHUNK_EVENTS);
        row->n++;
        row->duration_ps = add_saturated(row->duration_ps, e.duration_ps);
        row->self_ps = add_saturated(row->self_ps, self);
    }
    event_reader_close(&reader);
    return err->code;
}

static int add_plane(Walk *w, Plane *plane, ProfErr *err)
{
    bool any = false;
    w->plane = plane;
    w->of_compilers = prof_alloc(plane->n_event_metas * sizeof *w->of_compilers);
    w->last = prof_alloc(plane->n_event_metas * sizeof *w->last);
    if (!w->of_compilers || !w->last) prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas && !interrupt_poll(1, err); i++)
        any |= w->of_compilers[i] = is_of_compiler(slice_of(plane->event_metas[i].name));
    for (size_t k = 0; any && k < plane->n_lines && !err->code; k++) {
        Line *line = &plane->host->lines[plane->first_line + k];
        if (!line->derived && line->n_events && is_compiler(w, line, err)) add_line(w, line, err);
    }
    prof_free(w->of_compilers), prof_free(w->last);
    return err->code;
}

/* ---- the analysis ---- */

static void compiler_events_release(void *result)
{
    CompilerEventList *out = result;
    prof_free(out->rows);
    text_table_free(&out->functions);
    arena_free(&out->arena);
    prof_free(out);
}

static void *compiler_events_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    const Compilations *all = host_compilations(host, err);
    Walk w = {.out = all ? prof_alloc(sizeof *w.out) : NULL};
    if (!w.out) {
        prof_nomem(err);
        return NULL;
    }
    if (all->n) make_tree(&w.compiling, w.out, all, err);
    for (size_t i = 0; i < host->n_planes && all->n && !err->code; i++)
        if (host->planes[i].kind == PLANE_HOST) add_plane(&w, &host->planes[i], err);
    prof_free(w.compiling.items), prof_free(w.compiling.ends);
    hash_free(&w.by_key);
    if (!err->code) return w.out;
    compiler_events_release(w.out);
    return NULL;
}

const CompilerEventList *host_compiler_events(Host *host, ProfErr *err)
{
    static const Analysis analysis = {compiler_events_make, compiler_events_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
