// SPDX-License-Identifier: Apache-2.0
/* grouping_edges.c: joins the events of different lines; see grouping_parts.h.
 *
 * The parent of a kernel is the last launch with its correlation id; that of an iterator, the last
 * executor iteration with its ids. Contexts stay bipartite: each producer is a parent of each
 * consumer, without storing an edge for each pair. */
#include "grouping_parts.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/chunks.h"

/* ---- nodes ---- */

ForestLine *forest_line(const Forest *f, Node node)
{
    /* A line without nodes starts where the next line does. */
    return &f->lines[LOWER_BOUND(i, 1, f->host->n_lines, f->lines[i].first <= node) - 1];
}

static bool append(void *list, size_t *n, size_t *capacity, const void *items, size_t n_items,
                   size_t item_bytes, Node first)
{
    for (size_t i = 0; i < n_items; i++, ++*n) {
        if (!prof_grow(list, *n, capacity, item_bytes)) return false;
        char *array;
        memcpy(&array, list, sizeof array);
        memcpy(array + *n * item_bytes, (const char *)items + i * item_bytes, item_bytes);
        Node *node = (Node *)(array + *n * item_bytes);
        *node += first;
    }
    return true;
}
#define APPEND(to, from)                                                                           \
    append(&(to).items, &(to).n, &(to).capacity, (from).items, (from).n, sizeof *(from).items,     \
           fl->first)

/* Numbers the nodes and collects the marks of all lines, which are then sorted by node. */
static bool number_nodes(Forest *f, ProfErr *err)
{
    uint64_t first = 0;
    for (size_t i = 0; i < f->host->n_lines; i++) {
        ForestLine *fl = &f->lines[i];
        fl->first = (Node)first;
        first += fl->n;
        if (first >= NO_NODE) {
            prof_fail(err, PROF_FORMAT, 0, "%s: has more events than can be grouped",
                      f->host->file.path);
            return false;
        }
        bool fits = APPEND(f->roots, fl->roots) && APPEND(f->iterations, fl->iterations) &&
                    APPEND(f->eagers, fl->eagers) && APPEND(f->names, fl->names);
        for (size_t k = 0; k < fl->captured_steps.n && fits; k++) {
            int64_t *step = PUSH(f->captured_steps);
            fits = step != NULL;
            if (step) *step = fl->captured_steps.items[k];
        }
        if (!fits) {
            prof_nomem(err);
            return false;
        }
    }
    f->n_nodes = (Node)first;
    sort_int64(f->captured_steps.items, f->captured_steps.n);
    return true;
}

/* ---- the last item with a key ---- */

typedef struct {
    uint64_t a, b;
} Key;
typedef struct {
    LIST(Key) keys;
    uint32_t *items; /* item + 1, by key */
    HashTable by_key;
} KeyTable;

static bool keys_open(KeyTable *t, size_t n)
{
    *t = (KeyTable){0};
    t->keys.items = prof_buffer(n * sizeof *t->keys.items), t->keys.capacity = n;
    t->items = prof_alloc(n * sizeof *t->items);
    return t->keys.items && t->items && hash_reserve(&t->by_key, n);
}

static void keys_close(KeyTable *t)
{
    prof_free(t->keys.items);
    prof_free(t->items);
    hash_free(&t->by_key);
}

/* Returns the item of a key; NULL if the table does not have it. */
static uint32_t *key_item(KeyTable *t, Key key, bool add)
{
    uint64_t hash = hash64(key.a ^ hash64(key.b));
    HASH_EACH(i, &t->by_key, hash)
        if (t->keys.items[i].a == key.a && t->keys.items[i].b == key.b) return &t->items[i];
    if (!add) return NULL;
    t->keys.items[t->keys.n] = key;
    hash_add_reserved(&t->by_key, hash, t->keys.n); /* keys_open() made room */
    return &t->items[t->keys.n++];
}

/* ---- edges ---- */

bool edges_open(Edges *e, uint32_t n_from, uint32_t n_to)
{
    *e = (Edges){.n_from = n_from};
    e->from = prof_alloc(n_from * sizeof *e->from);
    e->first = prof_alloc(((size_t)n_from + 1) * sizeof *e->first);
    e->to = prof_alloc(n_to * sizeof *e->to);
    e->parent = prof_alloc(n_to * sizeof *e->parent);
    e->children = prof_alloc(n_to * sizeof *e->children);
    return e->from && e->first && e->to && e->parent && e->children;
}

void edges_add(Edges *e, uint32_t from, Node to)
{
    e->to[e->n_to] = to;
    e->parent[e->n_to++] = from;
    e->first[from + 1]++;
}

bool edges_end(Edges *e)
{
    for (uint32_t i = 0; i < e->n_from; i++) e->first[i + 1] += e->first[i];
    uint32_t *next = prof_alloc(e->n_from * sizeof *next);
    if (!next) return false;
    for (uint32_t i = 0; i < e->n_from; i++) next[i] = e->first[i];
    for (uint32_t i = 0; i < e->n_to; i++) e->children[next[e->parent[i]]++] = i;
    prof_free(next);
    return true;
}

/* ---- launches and kernels ---- */

typedef struct {
    enum Correlation wanted;
    uint32_t n;
    uint64_t least, most;
} CorrelationCount;

/* Calls take() for each node of a kind, in order. */
static void each_correlated(const Forest *f, enum Correlation wanted,
                            void (*take)(void *context, Node node, uint64_t id), void *context)
{
    for (size_t i = 0; i < f->host->n_lines; i++) {
        const ForestLine *fl = &f->lines[i];
        for (uint32_t at = 0; fl->correlations && at < fl->n; at++) {
            if (at % CHUNK_EVENTS == 0 && interrupt_due(CHUNK_EVENTS)) return;
            uint32_t event = fl->order ? fl->order[at] : at;
            if (event >= fl->line->n_events) continue;
            const Packed *kinds = &fl->correlations[event / CHUNK_EVENTS];
            if (!kinds->width && kinds->base != (int64_t)wanted &&
                !fl->order) { /* no event of the chunk has one */
                at |= CHUNK_EVENTS - 1;
                continue;
            }
            if (packed_at(kinds, event % CHUNK_EVENTS) == (int64_t)wanted)
                take(context, fl->first + at,
                     (uint64_t)packed_at(&fl->correlation_ids[event / CHUNK_EVENTS],
                                         event % CHUNK_EVENTS));
        }
    }
}

static void count_correlated(void *context, Node node, uint64_t id)
{
    (void)node;
    CorrelationCount *c = context;
    c->least = !c->n || id < c->least ? id : c->least;
    c->most = !c->n || id > c->most ? id : c->most;
    c->n++;
}

/* Launches by id: an array if the ids are dense, as they are if a profiler counts them. */
typedef struct {
    Edges *edges;
    uint64_t least, n_direct;
    uint32_t *direct; /* launch + 1, by id */
    KeyTable keys;
    uint32_t n;
} Launches;

static uint32_t *launch_item(Launches *l, uint64_t id, bool add)
{
    if (!l->direct) return key_item(&l->keys, (Key){id, 0}, add);
    return id >= l->least && id - l->least < l->n_direct ? &l->direct[id - l->least] : NULL;
}

static void add_launch(void *context, Node node, uint64_t id)
{
    Launches *l = context;
    l->edges->from[l->n++] = node;
    *launch_item(l, id, true) = l->n;
}

static void add_kernel(void *context, Node node, uint64_t id)
{
    Launches *l = context;
    const uint32_t *launch = launch_item(l, id, false);
    if (launch && *launch) edges_add(l->edges, *launch - 1, node);
}

static bool connect_kernels(Forest *f, ProfErr *err)
{
    CorrelationCount launches = {0}, kernels = {0};
    each_correlated(f, CORRELATED_LAUNCH, count_correlated, &launches);
    each_correlated(f, CORRELATED_KERNEL, count_correlated, &kernels);
    if (!launches.n || !kernels.n) return true;
    Launches l = {.edges = &f->edges[EDGE_KERNEL], .least = launches.least};
    bool memory = edges_open(l.edges, launches.n, kernels.n);
    uint64_t range = launches.most - launches.least;
    if (range < 8 * (uint64_t)launches.n + 4096) {
        l.n_direct = range + 1;
        memory &= (l.direct = prof_alloc((size_t)l.n_direct * sizeof *l.direct)) != NULL;
    } else {
        memory &= keys_open(&l.keys, launches.n);
    }
    if (memory) {
        each_correlated(f, CORRELATED_LAUNCH, add_launch, &l);
        each_correlated(f, CORRELATED_KERNEL, add_kernel, &l);
        memory = edges_end(l.edges);
    }
    prof_free(l.direct);
    keys_close(&l.keys);
    return memory ? !interrupt_poll(0, err) : (prof_nomem(err), false);
}

/* ---- executor iterations and iterators ---- */

static Key iteration_key(const IterationMark *m)
{
    return (Key){number_u64(m->step_id), number_u64(m->iteration)};
}

static bool connect_iterators(Forest *f, enum EventType child, Edges *edges, ProfErr *err)
{
    uint32_t n_from = 0, n_to = 0, n = 0;
    for (size_t i = 0; i < f->iterations.n; i++) {
        n_from += f->iterations.items[i].type == EVENT_EXECUTOR_PROCESS;
        n_to += f->iterations.items[i].type == child;
    }
    if (!n_from || !n_to) return true;
    KeyTable keys;
    bool memory = keys_open(&keys, n_from) && edges_open(edges, n_from, n_to);
    for (size_t i = 0;
         i < f->iterations.n && memory && (i % CHUNK_EVENTS || !interrupt_due(CHUNK_EVENTS)); i++) {
        const IterationMark *m = &f->iterations.items[i];
        if (m->type != EVENT_EXECUTOR_PROCESS) continue;
        edges->from[n++] = m->node;
        *key_item(&keys, iteration_key(m), true) = n;
    }
    for (size_t i = 0;
         i < f->iterations.n && memory && (i % CHUNK_EVENTS || !interrupt_due(CHUNK_EVENTS)); i++) {
        const IterationMark *m = &f->iterations.items[i];
        const uint32_t *parent = m->type == child ? key_item(&keys, iteration_key(m), false) : NULL;
        if (parent && *parent) edges_add(edges, *parent - 1, m->node);
    }
    memory = memory && edges_end(edges);
    keys_close(&keys);
    return memory ? !interrupt_poll(0, err) : (prof_nomem(err), false);
}

/* ---- contexts ---- */

/* Ids that are counted up are adjacent in the table, sixteen in a cache line, so events in order
 * find them in the cache. A HashTable, whose slots are twice as large, makes the grouping of
 * millions of contexts 7 % slower. */
static size_t context_slot(const Contexts *c, uint64_t id, uint32_t scope)
{
    return (id ^ (hash64((id >> 4) ^ hash64(scope)) << 4)) & (c->n_slots - 1);
}

static bool context_of(Contexts *c, const ContextMark *m, uint32_t *context)
{
    size_t slot = context_slot(c, m->id, m->scope);
    for (; c->slots[slot]; slot = (slot + 1) & (c->n_slots - 1)) {
        const ContextKey *key = &c->keys.items[c->slots[slot] - 1];
        if (key->id == m->id && key->scope == m->scope) {
            *context = c->slots[slot] - 1;
            return true;
        }
    }
    ContextKey *key = PUSH(c->keys);
    if (!key) return false;
    *key = (ContextKey){m->id, m->scope};
    c->slots[slot] = (uint32_t)c->keys.n;
    *context = c->slots[slot] - 1;
    return true;
}

static bool add_ref(Contexts *c, const ContextMark *m, bool produces, Node node)
{
    ContextRef ref = {.node = node};
    if (!context_of(c, m, &ref.context)) return false;
    ContextRef *place = produces ? PUSH(c->produced) : PUSH(c->consumed);
    if (place) *place = ref;
    return place != NULL;
}

typedef struct {
    int64_t start_ps, end_ps;
} Span64;

/* Gives the contexts of a lender's events to the TPU steps that include these events. As in XProf,
 * a step that has ended before an event is not considered again for later ones. */
static bool add_contexts_of_step_line(Forest *f, const ForestLine *lender, const ForestLine *steps,
                                      const Span64 *spans)
{
    uint32_t at = 0;
    for (size_t i = 0; i < lender->lent.n; i++) {
        const LentMark *m = &lender->lent.items[i];
        while (at < steps->n && spans[at].end_ps <= m->start_ps) at++;
        if (at == steps->n) break;
        if (spans[at].start_ps <= m->start_ps && m->end_ps <= spans[at].end_ps &&
            !add_ref(&f->contexts, &m->context, m->produces, steps->first + at))
            return false;
    }
    return true;
}

static bool add_contexts_of_steps(Forest *f, const ForestLine *steps, ProfErr *err)
{
    const Plane *plane = steps->line->plane;
    Span64 *spans = prof_alloc(steps->n * sizeof *spans);
    ChunkValues *v = prof_alloc(sizeof *v);
    Window window = {.file = &f->host->file};
    if (!spans || !v) prof_nomem(err);
    uint32_t n = 0;
    for (size_t c = 0; c < steps->line->n_chunks && !err->code; c++) {
        if (chunk_read(steps->line, &steps->line->chunks[c], CHUNK_TIMES, v, &window, err)) break;
        for (uint32_t i = 0; i < steps->line->chunks[c].n_events; i++, n++)
            spans[n] = (Span64){chunk_start(steps->line, v, i), chunk_end(steps->line, v, i)};
    }
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        const ForestLine *lender = &f->lines[plane->first_line + i];
        if (lender->role == ROLE_LENDER && !add_contexts_of_step_line(f, lender, steps, spans))
            prof_nomem(err);
    }
    window_free(&window);
    prof_free(v);
    prof_free(spans);
    return !err->code;
}

ORDER_BY_TWO(by_ref, ContextRef, node, context)

/* Sorts nodes by context, which were sorted by node: first[c] is where those of context c start. */
static bool by_context(const ContextRef *refs, size_t n_refs, uint32_t n, uint32_t **first,
                       Node **nodes)
{
    uint32_t *starts = *first = prof_alloc(((size_t)n + 2) * sizeof **first);
    *nodes = prof_alloc(n_refs * sizeof **nodes);
    if (!starts || !*nodes) return false;
    for (size_t i = 0; i < n_refs; i++) starts[refs[i].context + 2]++;
    for (uint32_t i = 0; i < n; i++) starts[i + 2] += starts[i + 1];
    for (size_t i = 0; i < n_refs; i++) (*nodes)[starts[refs[i].context + 1]++] = refs[i].node;
    return true;
}

/* Sorts by node and context. Only contexts that come from lenders can be out of order. */
static void sort_refs(ContextRef *refs, size_t n)
{
    size_t i = 1;
    while (i < n && by_ref(&refs[i - 1], &refs[i]) <= 0) i++;
    if (i < n) sort_array(refs, n, sizeof *refs, by_ref);
}

/* Counts how often contexts are produced and consumed. False if they cannot join anything. */
static bool count_contexts(const Forest *f, size_t *produced, size_t *consumed)
{
    size_t n_produced = 0, n_consumed = 0;
    for (size_t i = 0; i < f->host->n_lines; i++) {
        const ForestLine *fl = &f->lines[i];
        n_produced += fl->produced.n, n_consumed += fl->consumed.n;
        for (size_t k = 0; k < fl->lent.n; k++)
            n_produced += fl->lent.items[k].produces, n_consumed += !fl->lent.items[k].produces;
    }
    *produced = n_produced, *consumed = n_consumed;
    return n_produced && n_consumed;
}

static bool connect_contexts(Forest *f, ProfErr *err)
{
    enum { AHEAD = 16 };
    Contexts *c = &f->contexts;
    size_t n_produced, n_consumed;
    if (!count_contexts(f, &n_produced, &n_consumed)) return true;
    c->n_slots = 16;
    while (c->n_slots < 2 * (n_produced + n_consumed)) c->n_slots *= 2;
    c->produced.items = prof_buffer(n_produced * sizeof *c->produced.items),
    c->consumed.items = prof_buffer(n_consumed * sizeof *c->consumed.items);
    c->produced.capacity = n_produced, c->consumed.capacity = n_consumed;
    bool memory = (c->slots = prof_alloc(c->n_slots * sizeof *c->slots)) && c->produced.items &&
                  c->consumed.items;
    for (size_t i = 0; i < f->host->n_lines && memory && !err->code; i++) {
        const ForestLine *fl = &f->lines[i];
        for (int produces = 0; produces < 2; produces++) {
            const ContextMark *marks = produces ? fl->produced.items : fl->consumed.items;
            size_t n = produces ? fl->produced.n : fl->consumed.n;
            for (size_t k = 0; k < n && memory; k++) {
                if (k % CHUNK_EVENTS == 0 && interrupt_poll(CHUNK_EVENTS, err)) break;
                if (k + AHEAD < n)
                    __builtin_prefetch(
                        &c->slots[context_slot(c, marks[k + AHEAD].id, marks[k + AHEAD].scope)]);
                memory = add_ref(c, &marks[k], produces, fl->first + marks[k].node);
            }
        }
        if (fl->role == ROLE_STEPS && memory) add_contexts_of_steps(f, fl, err);
    }
    uint32_t n = (uint32_t)c->keys.n;
    sort_refs(c->produced.items, c->produced.n);
    sort_refs(c->consumed.items, c->consumed.n);
    memory = memory &&
             by_context(c->produced.items, c->produced.n, n, &c->first_producer, &c->producers) &&
             by_context(c->consumed.items, c->consumed.n, n, &c->first_consumer, &c->consumers);
    if (!memory) prof_nomem(err);
    return !interrupt_poll(n, err);
}

bool forest_connect(Forest *f, ProfErr *err)
{
    return number_nodes(f, err) &&
           connect_iterators(f, EVENT_GET_NEXT, &f->edges[EDGE_GET_NEXT], err) &&
           connect_iterators(f, EVENT_GET_NEXT_OPTIONAL, &f->edges[EDGE_GET_NEXT_OPTIONAL], err) &&
           connect_kernels(f, err) && connect_contexts(f, err);
}
