// SPDX-License-Identifier: Apache-2.0
/* derived_gpu.c: derives the lines of a GPU: its steps and, for each stream, the programs, HLO ops,
 * framework ops, name scopes, CUDA graphs and source lines of its kernels; see derived_parts.h.
 *
 * Kernels of an op occur many times. What their stats lead to is looked up once for each set of
 * stats, as a Recipe. */
#define _GNU_SOURCE
#include "../program/hlo_validate.h"
#include "../../base/sort.h"
#include "../../base/std_sort.h"
#include "derived_parts.h"
#include "../../store/events.h"
#include "../../store/sorted_events.h"

#include <stdio.h>

/* ---- steps ---- */

typedef struct {
    Derivation *d;
    NameTable *names;
    const SpanLine *lines;
    LineMaker steps;
    int64_t group;
    uint32_t meta; /* of the group's number */
} StepWalk;

/* Returns the group of an event, by its first stat group_id. */
static int64_t group_of(const Derivation *d, const Line *line, uint32_t at)
{
    return packed_nth(line_groups(d->grouping, line)->groups, at);
}

/* The same by its last stat group_id. */
static int64_t group_of_kernel(const Derivation *d, const Line *line, uint32_t at)
{
    return packed_nth(step_groups(line_groups(d->grouping, line)), at);
}

static bool add_for_steps(void *context, const SpanRef *span, ProfErr *err)
{
    StepWalk *w = context;
    int64_t group = group_of(w->d, w->lines[span->line].line, span->at);
    if (group < 0) return true;
    if (group != w->group) {
        char digits[24];
        int n = snprintf(digits, sizeof digits, "%lld", (long long)group);
        w->group = group, w->meta = names_find(w->d, w->names, digits, (size_t)n);
        if (w->meta == NO_META) {
            prof_nomem(err);
            return false;
        }
    }
    return line_cover(w->d, &w->steps, &w->meta, 1,
                      &(CoverSpan){span->start_ps, span->duration_ps, group, NULL}, err);
}

static bool same_step(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err)
{
    (void)err;
    StepWalk *w = context;
    return group_of(w->d, w->lines[a->line].line, a->at) ==
           group_of(w->d, w->lines[b->line].line, b->at);
}

static void restart_steps(void *context)
{
    StepWalk *w = context;
    line_restart(w->d, &w->steps);
}

static bool derive_steps(Derivation *d, Plane *plane, NameTable *names, const SpanLine *lines,
                         size_t n_lines, ProfErr *err)
{
    StepWalk w = {.d = d, .names = names, .lines = lines, .group = -1};
    line_open(&w.steps, plane, DERIVED_STEPS, "Steps", LINE_STEPS);
    const SpanVisitor visitor = {&w, add_for_steps, same_step, restart_steps};
    span_lines_walk(lines, n_lines, &visitor, err);
    return line_end(d, &w.steps, err);
}

/* ---- scopes: chains of ids, each with its parent ---- */

ORDER_BY(by_child, ScopeLink, child)

bool scopes_read(ScopeTree *tree, const Host *host, ProfErr *err)
{
    const Plane *plane = host_find_plane(host, PREFIX_SCOPE_TREE);
    Window window = {.file = &host->file};
    for (size_t i = 0; plane && i < plane->n_stats && !err->code; i++) {
        Stat stat;
        if (!plane_stat(plane, i, &window, &stat, err)) continue;
        ScopeLink *link = PUSH(tree->links);
        if (!link) {
            window_free(&window);
            prof_nomem(err);
            return false;
        }
        *link = (ScopeLink){stat.id, stat_int(&stat)};
    }
    window_free(&window);
    sort_array(tree->links.items, tree->links.n, sizeof *tree->links.items, by_child);
    return !err->code;
}

enum { MOST_SCOPES = 256 };

/* Returns the ids from the root of the chain to `scope`; 0 if the chain is longer than any real
 * one. */
static size_t scope_chain(const ScopeTree *tree, int64_t scope, int64_t *chain)
{
    size_t n = 0;
    for (const ScopeLink *link;; scope = link->parent) {
        if (n == MOST_SCOPES) return 0;
        chain[n++] = scope;
        ScopeLink key = {.child = scope};
        link = tree->links.n ? bsearch(&key, tree->links.items, tree->links.n, sizeof key, by_child)
                             : NULL;
        if (!link) break;
    }
    for (size_t i = 0; i < n / 2; i++) {
        int64_t other = chain[i];
        chain[i] = chain[n - 1 - i], chain[n - 1 - i] = other;
    }
    return n;
}

/* ---- recipes ---- */

typedef struct {
    const Text *module, *hlo_op, *tf_op; /* NULL if there is no such stat */
    uint64_t program;
    bool has_program;
} RecipeKey;

typedef struct {
    RecipeKey key;
    uint32_t module; /* NO_META if none */
    uint32_t *ops;
    size_t n_ops;
    bool has_op; /* it has a framework op */
    OpMetas op;
    uint32_t source; /* NO_META if none */
} Recipe;

/* The lines of a stream, in the order of their ids. */
static const struct {
    const char *name;
    enum LineKind kind;
} stream_lines[] = {{"Framework Name Scope", LINE_NAME_SCOPE},
                    {"Framework Ops", LINE_FRAMEWORK_OPS},
                    {"XLA Modules", LINE_MODULES},
                    {"XLA Ops", LINE_OPS},
                    {"Command Buffers", LINE_OTHER},
                    {"Source code", LINE_SOURCE}};
/* The order in which they are shown. */
static const int shown_at[] = {1, 2, 3, 4, 6, 5};
enum { N_STREAM_LINES = COUNT(stream_lines) };

typedef struct {
    Derivation *d;
    NameTable *names;
    const SpanLine *lines;
    EventFinder *finder;
    StatFilter filter;
    LIST(Recipe) recipes;
    HashTable by_key; /* of recipes */
    union {
        LineMaker makers[N_STREAM_LINES];
        struct {
            LineMaker name_scope, framework_ops, modules, ops, graphs, source;
        };
    };
} StreamWalk;

static size_t key_hash(const RecipeKey *k)
{
    uint64_t h = (uintptr_t)k->module;
    h = hash64(h) ^ (uintptr_t)k->hlo_op;
    h = hash64(h) ^ (uintptr_t)k->tf_op;
    return (size_t)hash64(hash64(h) ^ (k->program * 2 + k->has_program));
}

static bool key_equal(const RecipeKey *a, const RecipeKey *b)
{
    return a->module == b->module && a->hlo_op == b->hlo_op && a->tf_op == b->tf_op &&
           a->program == b->program && a->has_program == b->has_program;
}

static uint32_t find_joined(StreamWalk *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static uint32_t find_joined(StreamWalk *w, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    char *text = n < 0 ? NULL : prof_alloc((size_t)n + 1);
    if (text) vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(ap);
    uint32_t meta = text ? names_find(w->d, w->names, text, (size_t)n) : NO_META;
    prof_free(text);
    return meta;
}

/* Creates the levels outer::inner of an HLO op, with names that no other program uses. */
static bool make_op_levels(StreamWalk *w, Recipe *r, Slice *innermost)
{
    const Text *path = r->key.hlo_op;
    size_t n = 1;
    for (size_t i = 0; i + 1 < path->n_bytes; i++)
        if (path->text[i] == ':' && path->text[i + 1] == ':') n++, i++;
    if (!(r->ops = arena_alloc(&w->d->arena, n * sizeof *r->ops))) return false;
    for (size_t from = 0, to; r->n_ops < n; from = to + 2) {
        for (to = from; to < path->n_bytes && !(to + 1 < path->n_bytes && path->text[to] == ':' &&
                                                path->text[to + 1] == ':');)
            to++;
        int length = (int)(to - from);
        uint32_t meta = r->key.has_program
                            ? find_joined(w, "%llu/%.*s", (unsigned long long)r->key.program,
                                          length, path->text + from)
                            : find_joined(w, "%s/%.*s", r->key.module ? r->key.module->text : "",
                                          length, path->text + from);
        if (meta == NO_META || !names_display(w->d, w->names, meta, path->text + from, to - from))
            return false;
        r->ops[r->n_ops++] = meta;
        *innermost = (Slice){path->text + from, to - from};
    }
    return true;
}

/* Looks up an instruction's framework op and source location in the program. */
static bool resolve_op(StreamWalk *w, Recipe *r, Slice name, ProfErr *err)
{
    const HloModule *module =
        r->key.has_program ? hlo_valid_program(w->d->host, r->key.program, err) : NULL;
    const Xla__HloInstructionProto *instruction =
        module ? hlo_find(module, name.text, name.n) : NULL;
    if (!instruction || err->code) return !err->code;
    const Xla__OpMetadata *m = instruction->metadata;
    const char *op_name = m && m->op_name ? m->op_name : "",
               *op_type = m && m->op_type ? m->op_type : "",
               *file = m && m->source_file ? m->source_file : "";
    size_t n = strlen(op_name) + 1 + strlen(op_type);
    char *full_name = prof_alloc(n + 1);
    if (!full_name) {
        prof_nomem(err);
        return false;
    }
    stpcpy(stpcpy(stpcpy(full_name, op_name), ":"), op_type);
    r->has_op = op_metas(w->d, w->names, (Slice){full_name, n}, &r->op, err);
    prof_free(full_name);
    if (!r->has_op || !*file) return !err->code;
    const char *slash = strrchr(file, '/');
    r->source = find_joined(w, "%s:%d", slash ? slash + 1 : file, m->source_line);
    return r->source != NO_META ? true : (prof_nomem(err), false);
}

static bool make_recipe(StreamWalk *w, Recipe *r, ProfErr *err)
{
    const Text *module = r->key.module;
    r->module = r->source = NO_META;
    if (module && module->n_bytes) {
        r->module = r->key.has_program ? find_joined(w, "%s(%llu)", module->text,
                                                     (unsigned long long)r->key.program)
                                       : find_joined(w, "%s", module->text);
        if (r->module == NO_META) {
            prof_nomem(err);
            return false;
        }
    }
    if (r->key.hlo_op) {
        Slice innermost = {"", 0};
        if (!make_op_levels(w, r, &innermost)) {
            prof_nomem(err);
            return false;
        }
        return resolve_op(w, r, innermost, err);
    }
    if (r->key.tf_op && r->key.tf_op->n_bytes)
        r->has_op = op_metas(w->d, w->names, slice_of(r->key.tf_op), &r->op, err);
    return !err->code;
}

static const Recipe *recipe_of(StreamWalk *w, const RecipeKey *key, ProfErr *err)
{
    uint64_t hash = key_hash(key);
    HASH_EACH(i, &w->by_key, hash)
        if (key_equal(&w->recipes.items[i].key, key)) return &w->recipes.items[i];
    Recipe r = {.key = *key};
    if (!make_recipe(w, &r, err)) return NULL;
    Recipe *place = PUSH_KEYED(w->recipes, &w->by_key, hash);
    if (!place) {
        prof_nomem(err);
        return NULL;
    }
    *place = r;
    return place;
}

/* ---- kernels ---- */

typedef struct {
    RecipeKey key;
    bool is_kernel, has_scope, has_correlation;
    int64_t scope, correlation;
    uint64_t graph;
} KernelStats;

static const Text *stat_as_text(StreamWalk *w, const Plane *plane, const Stat *stat, ProfErr *err)
{
    if (stat->type == TYPE_REF) return stat_ref_text(plane, stat->u64);
    if (stat->type != TYPE_STR) return empty_text;
    const Text *text = text_intern(&w->d->texts, &w->d->arena, stat->bytes, stat->n_bytes);
    if (!text) prof_nomem(err);
    return text;
}

static bool is_text(const Stat *stat) { return stat->type == TYPE_STR || stat->type == TYPE_REF; }

/* Reads the stats of a kernel. Of several with one name, the last counts. A stat hlo_op that is not
 * a text names no op; an empty text is an op without a name. */
static bool read_kernel(StreamWalk *w, const Plane *plane, const EventAt *e, KernelStats *k,
                        ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    Stat stat;
    unsigned known;
    bool has_details = false;
    while (stat_iter_next_wanted(&stats, &w->filter, &known, &stat) && !err->code) {
        switch (known) {
        case STAT_TF_OP: k->key.tf_op = stat_as_text(w, plane, &stat, err); break;
        case STAT_HLO_OP:
            k->key.hlo_op = is_text(&stat) ? stat_as_text(w, plane, &stat, err) : NULL;
            break;
        case STAT_HLO_MODULE: k->key.module = stat_as_text(w, plane, &stat, err); break;
        case STAT_PROGRAM_ID:
            k->key.program = stat_int_or_uint(&stat), k->key.has_program = true;
            break;
        case STAT_KERNEL_DETAILS: has_details = stat_text(plane, &stat).n != 0; break;
        case STAT_GRAPH_EXEC_ID: k->is_kernel = true; break;
        case STAT_GRAPH_ID: k->graph = stat.type == TYPE_UINT64 ? stat.u64 : 0; break;
        case STAT_CORRELATION_ID:
            k->correlation = (int64_t)stat_int_or_uint(&stat), k->has_correlation = true;
            break;
        case STAT_SCOPE_RANGE_ID: k->scope = stat_int(&stat), k->has_scope = true; break;
        default: break;
        }
    }
    k->is_kernel |= has_details;
    return !err->code;
}

/* Adds a CUDA graph's id and correlation id to an open event, replacing earlier ones. */
static void note_graph(LineMaker *maker, size_t at, const KernelStats *k)
{
    Level *level = &maker->levels.items[at];
    level->has_graph = true, level->graph = k->graph;
    if (k->has_correlation) level->has_correlation = true, level->correlation = k->correlation;
}

/* Covers the kernels of one launch of a graph by one event. */
static bool cover_graph(StreamWalk *w, const KernelStats *k, CoverSpan span, ProfErr *err)
{
    uint32_t meta = find_joined(w, "Command Buffer %llu", (unsigned long long)k->graph);
    if (meta == NO_META) {
        prof_nomem(err);
        return false;
    }
    span.scopes = k->has_correlation ? &k->correlation : NULL;
    if (!line_cover(w->d, &w->graphs, &meta, 1, &span, err)) return false;
    note_graph(&w->graphs, 0, k);
    return true;
}

static bool add_kernel(void *context, const SpanRef *ref, ProfErr *err)
{
    StreamWalk *w = context;
    Line *line = w->lines[ref->line].line;
    EventAt e;
    KernelStats k = {0};
    if (!event_find(w->finder, line, ref->at, EVENT_STATS, &e, err)) return false;
    if (!read_kernel(w, line->plane, &e, &k, err)) return false;
    if (!k.is_kernel) return true;
    const Recipe *r = recipe_of(w, &k.key, err);
    if (!r) return false;
    int64_t chain[MOST_SCOPES];
    size_t n_chain = k.has_scope ? scope_chain(&w->d->scopes, k.scope, chain) : 0;
    CoverSpan span = {ref->start_ps, ref->duration_ps, group_of_kernel(w->d, line, ref->at),
                      n_chain ? chain : NULL};
    if (r->module != NO_META && !line_cover(w->d, &w->modules, &r->module, 1, &span, err))
        return false;
    span.scopes = n_chain && n_chain == r->n_ops ? chain : NULL;
    if (r->n_ops && !line_cover(w->d, &w->ops, r->ops, r->n_ops, &span, err)) return false;
    if (r->n_ops && k.graph) note_graph(&w->ops, r->n_ops - 1, &k);
    if (k.graph && !cover_graph(w, &k, span, err)) return false;
    span.scopes = NULL;
    if (r->has_op && !line_cover_op(w->d, &w->name_scope, &w->framework_ops, &r->op, &span, err))
        return false;
    return r->source == NO_META || line_cover(w->d, &w->source, &r->source, 1, &span, err);
}

/* ---- streams ---- */

static bool is_kernel(StreamWalk *w, const SpanRef *ref, ProfErr *err)
{
    EventAt e;
    KernelStats k = {0};
    Line *line = w->lines[ref->line].line;
    return event_find(w->finder, line, ref->at, EVENT_STATS, &e, err) &&
           read_kernel(w, line->plane, &e, &k, err) && k.is_kernel;
}

static bool neither_is_kernel(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err)
{
    return !is_kernel(context, a, err) && !is_kernel(context, b, err);
}

static void restart_stream(void *context)
{
    StreamWalk *w = context;
    for (size_t i = 0; i < N_STREAM_LINES; i++) line_restart(w->d, &w->makers[i]);
}

static bool open_stream_line(StreamWalk *w, const Line *stream, size_t number, int k)
{
    char text[80];
    int n = snprintf(text, sizeof text, "%s - from #%lld", stream_lines[k].name,
                     (long long)stream->proto_id);
    char *name = arena_alloc(&w->d->arena, (size_t)n + 1);
    if (!name) return false;
    line_open(&w->makers[k], stream->plane, DERIVED_STREAMS + N_STREAM_LINES * (int64_t)number + k,
              memcpy(name, text, (size_t)n), stream_lines[k].kind);
    w->makers[k].line.display_id = 1 + (1 + N_STREAM_LINES) * (int64_t)number + shown_at[k];
    w->makers[k].line.stream = stream->proto_id;
    return true;
}

static bool derive_stream(StreamWalk *w, const Line *stream, size_t number, const SpanLine *lines,
                          size_t n_lines, ProfErr *err)
{
    for (int k = 0; k < N_STREAM_LINES && !err->code; k++)
        if (!open_stream_line(w, stream, number, k)) prof_nomem(err);
    w->modules.dependents[0] = &w->name_scope, w->modules.dependents[1] = &w->ops,
    w->modules.dependents[2] = &w->graphs;
    w->name_scope.dependents[0] = &w->framework_ops;
    w->lines = lines;
    const SpanVisitor visitor = {w, add_kernel, neither_is_kernel, restart_stream};
    if (!err->code) span_lines_walk(lines, n_lines, &visitor, err);
    for (int k = 0; k < N_STREAM_LINES; k++) line_end(w->d, &w->makers[k], err);
    return !err->code;
}

static bool computes(const Line *line) { return strstr(line->name->text, "Compute") != NULL; }

/* Streams that compute come first, then those with more events. */
static bool more_important(const void *a, const void *b)
{
    const Line *x = a, *y = b;
    if (computes(x) != computes(y)) return computes(x);
    return x->n_events > y->n_events;
}

static bool derive_streams(Derivation *d, const Plane *plane, NameTable *names,
                           const SpanLine *lines, size_t n_lines, ProfErr *err)
{
    enum { MOST_STREAMS = 16 };
    static const enum KnownStat wanted[] = {
        STAT_TF_OP,      STAT_HLO_OP,         STAT_HLO_MODULE,
        STAT_PROGRAM_ID, STAT_KERNEL_DETAILS, STAT_GRAPH_EXEC_ID,
        STAT_GRAPH_ID,   STAT_CORRELATION_ID, STAT_SCOPE_RANGE_ID};
    StreamWalk w = {.d = d, .names = names, .finder = prof_alloc(sizeof *w.finder)};
    Line **streams = prof_alloc(n_lines * sizeof *streams);
    SpanLine *of_stream = prof_alloc(n_lines * sizeof *of_stream);
    if (!w.finder || !streams || !of_stream) prof_nomem(err);
    for (size_t i = 0; i < n_lines && !err->code; i++) streams[i] = lines[i].line;
    if (!err->code) std_sort((void **)streams, n_lines, more_important);
    if (!err->code) stat_filter_open(&w.filter, plane, wanted, COUNT(wanted), err);
    for (size_t i = 0; i < n_lines && i < MOST_STREAMS && !err->code; i++) {
        size_t n = 0;
        for (size_t k = 0; k < n_lines; k++)
            if (lines[k].line->proto_id == streams[i]->proto_id) of_stream[n++] = lines[k];
        for (size_t k = 0; k < n; k++)
            d->display_ids[of_stream[k].line - d->host->lines] =
                1 + (1 + N_STREAM_LINES) * (int64_t)i;
        derive_stream(&w, streams[i], i, of_stream, n, err);
    }
    stat_filter_close(&w.filter);
    prof_free(w.recipes.items);
    hash_free(&w.by_key);
    if (w.finder) event_finder_close(w.finder);
    prof_free(w.finder);
    prof_free(streams);
    prof_free(of_stream);
    return !err->code;
}

bool derive_gpu(Derivation *d, Plane *plane, ProfErr *err)
{
    SpanLine *lines = prof_alloc(plane->n_lines * sizeof *lines);
    size_t n = 0;
    NameTable *names = &d->names[plane - d->host->planes];
    if (!lines || !names_open(names, plane)) prof_nomem(err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &d->host->lines[plane->first_line + i];
        if (!line->derived) lines[n++].line = line;
    }
    if (n && !err->code && derive_steps(d, plane, names, lines, n, err))
        derive_streams(d, plane, names, lines, n, err);
    prof_free(lines);
    return !err->code;
}
