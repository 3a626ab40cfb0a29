// SPDX-License-Identifier: Apache-2.0
/* grouping_roots.c: opens groups at roots and passes them to descendants; see grouping_parts.h. */
#include "grouping_parts.h"
#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../base/std_sort.h"
#include "../../store/events.h"

#include <stdio.h>

/* ---- walking up ---- */

/* Returns the index of the first mark of a node or of one after it. All kinds of marks start with
 * their node. */
static size_t mark_at(const void *items, size_t n, size_t item_bytes, Node node)
{
    size_t low = LOWER_BOUND(i, 0, n, *(const Node *)((const char *)items + i * item_bytes) < node);
    return low;
}
#define MARK_AT(list, node) mark_at((list).items, (list).n, sizeof *(list).items, (node))
/* Returns the mark of a node; NULL if it has none. */
static const void *mark_of(const void *items, size_t n, size_t item_bytes, Node node)
{
    size_t i = mark_at(items, n, item_bytes, node);
    if (i == n) return NULL;
    const char *mark = (const char *)items + i * item_bytes;
    return *(const Node *)mark == node ? mark : NULL;
}
#define MARK_OF(list, node) mark_of((list).items, (list).n, sizeof *(list).items, (node))

static Node edge_parent(const Edges *e, Node node)
{
    size_t i = mark_at(e->to, e->n_to, sizeof *e->to, node);
    if (i == e->n_to) return NO_NODE;
    return e->to[i] == node ? e->from[e->parent[i]] : NO_NODE;
}

/* Returns whether a context has so many members that XProf ignores it, because it would connect
 * everything. */
static bool is_crowd(const Contexts *c, uint32_t context)
{
    enum { CROWD = 64 };
    return c->first_producer[context + 1] - c->first_producer[context] >= CROWD &&
           c->first_consumer[context + 1] - c->first_consumer[context] >= CROWD;
}

Node forest_parent(const Forest *f, ParentWalk *w)
{
    const Contexts *c = &f->contexts;
    for (;; w->stage++, w->i = 0) {
        Node parent = NO_NODE;
        switch (w->stage) {
        case 0: {
            const ForestLine *fl = forest_line(f, w->node);
            if (fl->parent && fl->parent[w->node - fl->first])
                parent = fl->first + fl->parent[w->node - fl->first] - 1;
            break;
        }
        case 1: parent = edge_parent(&f->edges[EDGE_GET_NEXT], w->node); break;
        case 2: parent = edge_parent(&f->edges[EDGE_GET_NEXT_OPTIONAL], w->node); break;
        case 3: parent = edge_parent(&f->edges[EDGE_KERNEL], w->node); break;
        case 4: w->ref = MARK_AT(c->consumed, w->node); continue;
        case 5:
            for (; w->ref < c->consumed.n && c->consumed.items[w->ref].node == w->node;
                 w->ref++, w->i = 0) {
                uint32_t context = c->consumed.items[w->ref].context,
                         first = c->first_producer[context];
                if (!is_crowd(c, context) && w->i < c->first_producer[context + 1] - first)
                    return c->producers[first + w->i++];
            }
            continue;
        case 6: parent = edge_parent(&f->edges[EDGE_LOOP], w->node); break;
        default: return NO_NODE;
        }
        if (parent != NO_NODE) {
            w->stage++;
            w->i = 0;
            return parent;
        }
    }
}

/* A breadth-first walk up from some nodes, which visits each node once. */
typedef struct {
    LIST(Node) nodes;
    size_t at;
    HashTable by_node;
    bool failed;
} Ancestors;

static void ancestors_close(Ancestors *a)
{
    prof_free(a->nodes.items);
    hash_free(&a->by_node);
}

static void ancestors_clear(Ancestors *a)
{
    hash_clear(&a->by_node);
    a->nodes.n = a->at = 0;
}

static void ancestors_add(Ancestors *a, Node node)
{
    uint64_t hash = hash64(node);
    HASH_EACH(i, &a->by_node, hash)
        if (a->nodes.items[i] == node) return;
    Node *place = PUSH_KEYED(a->nodes, &a->by_node, hash);
    if (place)
        *place = node;
    else
        a->failed = true;
}

/* Returns the next node of the walk, after adding its parents; NO_NODE at the end. */
static Node ancestors_next(Forest *f, Ancestors *a)
{
    if (a->at == a->nodes.n || a->failed) return NO_NODE;
    if (!f->steps_left) {
        host_issue(f->host, "warning", "grouping_cut", f,
                   "events are nested so deeply that steps were named and chosen without looking "
                   "at all enclosing events");
        return NO_NODE;
    }
    Node node = a->nodes.items[a->at++], parent;
    for (ParentWalk w = {.node = node}; f->steps_left && (parent = forest_parent(f, &w)) != NO_NODE;
         f->steps_left--)
        ancestors_add(a, parent);
    if (f->steps_left) f->steps_left--;
    return node;
}

/* ---- names ---- */

static const Text *graph_type(Forest *f, Node node, ProfErr *err)
{
    const ForestLine *fl = forest_line(f, node);
    const Plane *plane = fl->line->plane;
    EventFinder finder = {0};
    EventAt event;
    const Text *found = NULL;
    if (event_find(&finder, fl->line, line_event(fl, node), EVENT_STATS, &event, err)) {
        StatIter stats = stat_iter_of_event(&event);
        Stat stat;
        while (!found && stat_iter_next(&stats, &stat)) {
            const StatMeta *meta = stat_meta(plane, stat.id);
            if (!meta || meta->known != STAT_GRAPH_TYPE) continue;
            Slice text = stat_text(plane, &stat);
            found = text_intern(&f->texts, &f->arena, text.text, text.n);
            if (!found) prof_nomem(err);
        }
    }
    event_finder_close(&finder);
    return found ? found : empty_text;
}

static const Text *event_name(const Forest *f, Node node, ProfErr *err)
{
    const ForestLine *fl = forest_line(f, node);
    const EventMeta *meta = event_meta_at(fl->line, line_event(fl, node), err);
    return meta ? meta->name : empty_text;
}

static bool is_implicit(const Forest *f, Node root, ProfErr *err)
{
    if (forest_line(f, root)->role == ROLE_STEPS) return true;
    enum EventType type = event_type_named(event_name(f, root, err));
    return type == EVENT_FUNCTION_RUN || type == EVENT_SESSION_RUN || type == EVENT_RUN_GRAPH ||
           type == EVENT_EXECUTOR_PROCESS;
}

/* Reads the nearest marks above a root, each kind separately: type of graph, iteration and step. */
static bool read_context(Forest *f, Node root, Ancestors *above, NameMark *found, Node *typed)
{
    ancestors_clear(above);
    ancestors_add(above, root);
    *found = (NameMark){.node = root};
    for (Node node; f->names.n && (node = ancestors_next(f, above)) != NO_NODE;) {
        const NameMark *m = MARK_OF(f->names, node);
        if (!m) continue;
        if (m->has_graph_type && !found->has_graph_type)
            found->has_graph_type = true, *typed = node;
        if (m->has_iteration && !found->has_iteration)
            found->has_iteration = true, found->iteration = m->iteration;
        if (m->has_step_num && !found->has_step_num)
            found->has_step_num = true, found->step_num = m->step_num;
        if (found->has_graph_type && found->has_iteration) break;
    }
    return !above->failed;
}

static bool name_group(Forest *f, size_t group, Ancestors *above, ProfErr *err)
{
    GroupDraft *draft = &f->groups.items[group];
    NameMark context;
    Node typed = NO_NODE;
    if (!read_context(f, draft->root, above, &context, &typed)) {
        prof_nomem(err);
        return false;
    }
    draft->explicit = !is_implicit(f, draft->root, err);
    const Text *word = NULL;
    if (context.has_graph_type)
        word = graph_type(f, typed, err);
    else if (draft->explicit)
        word = event_name(f, draft->root, err);
    if (err->code) return false;
    char number[24];
    long long n = context.has_step_num ? context.step_num : (int64_t)group;
    if (context.has_iteration) n = context.iteration;
    size_t n_number = (size_t)snprintf(number, sizeof number, "%s%lld", word ? " " : "", n),
           n_word = word ? word->n_bytes : 0;
    char *name = prof_alloc(n_word + n_number + 1);
    if (!name) {
        prof_nomem(err);
        return false;
    }
    if (word) memcpy(name, word->text, n_word);
    memcpy(name + n_word, number, n_number);
    draft->name = text_intern(&f->texts, &f->arena, name, n_word + n_number);
    prof_free(name);
    return draft->name ? true : (prof_nomem(err), false);
}

/* ---- passing groups down ---- */

static bool link_groups(Forest *f, uint32_t group, uint32_t other)
{
    if (group == other) return true;
    uint64_t link = (uint64_t)group << 32 | other;
    size_t n = f->links.n;
    if (n && f->links.items[n - 1] == link) return true;
    uint64_t *place = PUSH(f->links);
    if (place) *place = link;
    return place != NULL;
}

static bool push_node(Forest *f, Node node)
{
    Node *place = PUSH(f->todo);
    if (place) *place = node;
    return place != NULL;
}

/* Positions in the lists of edges and contexts, for a walk over nodes in order. */
typedef struct {
    size_t edge[N_EDGE_KINDS], produced;
    Node next; /* the next node that is in any of the lists */
} OutPlaces;

static void out_next(const Forest *f, OutPlaces *out)
{
    out->next = NO_NODE;
    for (int k = 0; k < N_EDGE_KINDS; k++)
        if (out->edge[k] < f->edges[k].n_from && f->edges[k].from[out->edge[k]] < out->next)
            out->next = f->edges[k].from[out->edge[k]];
    if (out->produced < f->contexts.produced.n &&
        f->contexts.produced.items[out->produced].node < out->next)
        out->next = f->contexts.produced.items[out->produced].node;
}

static void out_seek(const Forest *f, OutPlaces *out, Node node)
{
    for (int k = 0; k < N_EDGE_KINDS; k++)
        out->edge[k] = mark_at(f->edges[k].from, f->edges[k].n_from, sizeof(Node), node);
    out->produced = MARK_AT(f->contexts.produced, node);
    out_next(f, out);
}

/* Calls visit() for the children of out->next by edges and contexts, and moves to the next such
 * node. */
static bool out_visit(Forest *f, OutPlaces *out,
                      bool (*visit)(Forest *f, Node child, void *context), void *context)
{
    Node node = out->next;
    bool memory = true;
    for (int k = 0; k < N_EDGE_KINDS; k++) {
        const Edges *e = &f->edges[k];
        if (out->edge[k] >= e->n_from || e->from[out->edge[k]] != node) continue;
        for (uint32_t i = e->first[out->edge[k]]; i < e->first[out->edge[k] + 1] && memory; i++)
            memory = visit(f, e->to[e->children[i]], context);
        out->edge[k]++;
    }
    const Contexts *c = &f->contexts;
    for (; out->produced < c->produced.n && c->produced.items[out->produced].node == node;
         out->produced++) {
        uint32_t of = c->produced.items[out->produced].context;
        if (is_crowd(c, of)) continue;
        for (uint32_t i = c->first_consumer[of]; i < c->first_consumer[of + 1] && memory; i++)
            memory = visit(f, c->consumers[i], context);
    }
    out_next(f, out);
    return memory;
}

static bool push_child(Forest *f, Node child, void *context)
{
    (void)context;
    return push_node(f, child);
}

/* Gives the group to a node without one and to the events nested in it, except those that have
 * another group. Nodes that edges lead to are added to the work list. */
static bool assign_group(Forest *f, ForestLine *fl, uint32_t at, uint32_t group)
{
    if (!fl->group && !(fl->group = prof_alloc(fl->n * sizeof *fl->group))) return false;
    uint32_t end = fl->end ? fl->end[at] : at + 1;
    OutPlaces out;
    out_seek(f, &out, fl->first + at);
    for (uint32_t i = at; i < end;) {
        if (i % CHUNK_EVENTS == 0 && interrupt_due(CHUNK_EVENTS)) return false;
        if (i != at && !fl->parent[i]) { /* asynchronous, so not nested */
            i++;
        } else if (fl->group[i]) { /* and everything below it */
            if (!link_groups(f, group, fl->group[i] - 1)) return false;
            i = fl->end[i];
        } else {
            fl->group[i] = group + 1;
            while (out.next < fl->first + i) out_seek(f, &out, fl->first + i);
            if (out.next == fl->first + i && !out_visit(f, &out, push_child, NULL)) return false;
            i++;
        }
    }
    return true;
}

static bool propagate(Forest *f, Node root, uint32_t group)
{
    if (!push_node(f, root)) return false;
    ForestLine *fl = NULL;
    for (uint32_t n = 1; f->todo.n; n++) {
        Node node = f->todo.items[--f->todo.n];
        if (n % CHUNK_EVENTS == 0 && interrupt_due(CHUNK_EVENTS)) return false;
        if (!fl || node < fl->first || node - fl->first >= fl->n) fl = forest_line(f, node);
        uint32_t at = node - fl->first;
        if (fl->group && fl->group[at] ? !link_groups(f, group, fl->group[at] - 1)
                                       : !assign_group(f, fl, at, group))
            return false;
    }
    return true;
}

/* Links are repeated; duplicates are removed whenever the list has doubled. */
static void sort_links(Forest *f)
{
    size_t n = 0;
    sort_array(f->links.items, f->links.n, sizeof *f->links.items, by_uint64);
    for (size_t i = 0; i < f->links.n; i++)
        if (!n || f->links.items[n - 1] != f->links.items[i])
            f->links.items[n++] = f->links.items[i];
    f->links.n = f->n_sorted_links = n;
}

static bool open_group(Forest *f, Node root, Ancestors *above, ProfErr *err)
{
    if (interrupt_poll(16, err)) return false;
    GroupDraft *draft = PUSH(f->groups);
    if (!draft) {
        prof_nomem(err);
        return false;
    }
    *draft = (GroupDraft){.root = root};
    if (!propagate(f, root, (uint32_t)f->groups.n - 1)) {
        prof_nomem(err);
        return false;
    }
    if (f->links.n > 2 * f->n_sorted_links + 65536) sort_links(f);
    return name_group(f, f->groups.n - 1, above, err);
}

/* ---- loops ---- */

static bool is_captured(const Forest *f, int64_t step)
{
    size_t at = LOWER_BOUND(i, 0, f->captured_steps.n, f->captured_steps.items[i] < step);
    return at < f->captured_steps.n && f->captured_steps.items[at] == step;
}

static int by_iteration(const void *a, const void *b)
{
    const IterationMark *x = a, *y = b;
    int64_t p = number_int(x->step_id), q = number_int(y->step_id), i = number_int(x->iteration),
            k = number_int(y->iteration);
    if (p != q) return ORDER(p, q);
    if (i != k) return ORDER(i, k);
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    return ORDER(x->node, y->node);
}

static int by_start(const void *a, const void *b)
{
    const IterationMark *x = *(IterationMark *const *)a, *y = *(IterationMark *const *)b;
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    return ORDER(x->node, y->node);
}

typedef LIST(IterationMark) Iterations;
typedef LIST(const IterationMark *) FirstMarks;

/* Finds executor events of functions other than tf.data's, by step and iteration, and the first
 * event of each iteration of a loop. A step whose only iteration is 0 is not a loop. */
static bool find_loops(const Forest *f, Iterations *all, FirstMarks *firsts)
{
    for (size_t i = 0; i < f->iterations.n; i++) {
        const IterationMark *m = &f->iterations.items[i];
        if (i % CHUNK_EVENTS == 0 && interrupt_due(CHUNK_EVENTS)) return false;
        if (m->type != EVENT_EXECUTOR_PROCESS || is_captured(f, number_int(m->step_id))) continue;
        IterationMark *place = PUSH(*all);
        if (!place) return false;
        *place = *m;
    }
    sort_array(all->items, all->n, sizeof *all->items, by_iteration);
    for (size_t i = 0, next; i < all->n; i = next) {
        const IterationMark *first = &all->items[i];
        size_t n_firsts = firsts->n;
        bool loop = false;
        for (next = i;
             next < all->n && number_int(all->items[next].step_id) == number_int(first->step_id);
             next++) {
            int64_t iteration = number_int(all->items[next].iteration);
            if (next > i && iteration == number_int(all->items[next - 1].iteration)) continue;
            loop |= iteration != 0;
            const IterationMark **place = PUSH(*firsts);
            if (!place) return false;
            *place = &all->items[next];
        }
        if (!loop) firsts->n = n_firsts;
    }
    sort_array(firsts->items, firsts->n, sizeof *firsts->items, by_start);
    return true;
}

static bool is_same_iteration(const IterationMark *a, const IterationMark *b)
{
    return number_int(a->step_id) == number_int(b->step_id) &&
           number_int(a->iteration) == number_int(b->iteration);
}

/* Adds edges from the first event of an iteration to its other events. */
static bool connect_loops(Forest *f, const Iterations *all, const FirstMarks *firsts)
{
    Edges *e = &f->edges[EDGE_LOOP];
    typedef struct {
        Node to, from;
    } Pair;
    size_t n = 0;
    Pair *pairs = prof_alloc(all->n * sizeof *pairs);
    bool memory = edges_open(e, (uint32_t)firsts->n, (uint32_t)all->n) && pairs;
    for (size_t i = 0; i < firsts->n && memory; i++) {
        const IterationMark *first = firsts->items[i], *m = first;
        e->from[i] = first->node;
        while (++m < all->items + all->n && is_same_iteration(m, first))
            pairs[n++] = (Pair){m->node, first->node};
    }
    if (memory) {
        sort_array(e->from, firsts->n, sizeof *e->from, by_uint32);
        sort_array(pairs, n, sizeof *pairs, by_uint32);
        if (interrupt_due(0)) n = 0; /* an interrupted sort leaves events that cannot be found */
        for (size_t i = 0; i < n; i++)
            edges_add(e, (uint32_t)mark_at(e->from, firsts->n, sizeof *e->from, pairs[i].from),
                      pairs[i].to);
        memory = edges_end(e);
    }
    prof_free(pairs);
    return memory;
}

/* ---- roots ---- */

/* Compares nothing else: as in XProf, the sorting algorithm decides which of two with the same
 * start comes first. */
static bool comes_before(const void *a, const void *b)
{
    const RootMark *x = a, *y = b;
    return x->level != y->level ? x->level > y->level : x->start_ps < y->start_ps;
}

/* Returns whether a root is below another root of its level: then it opens no group. */
static bool is_below_its_like(Forest *f, const RootMark *root, Ancestors *above)
{
    ancestors_clear(above);
    ancestors_add(above, root->node);
    Node parent, node;
    for (ParentWalk w = {.node = root->node}; (parent = forest_parent(f, &w)) != NO_NODE;)
        if (parent == root->node) return true; /* a root that is its own producer */
    ancestors_next(f, above);
    while ((node = ancestors_next(f, above)) != NO_NODE) {
        const RootMark *m = MARK_OF(f->roots, node);
        if (m && m->level == root->level) return true;
    }
    return false;
}

static void group_roots(Forest *f, Ancestors *above, ProfErr *err)
{
    RootMark **roots = prof_alloc(f->roots.n * sizeof *roots);
    if (!roots) {
        prof_nomem(err);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < f->roots.n; i++) {
        RootMark *m = &f->roots.items[i];
        if (!m->has_step_id || !is_captured(f, m->step_id)) roots[n++] = m;
    }
    std_sort((void **)roots, n, comes_before);
    for (size_t i = 0; i < n && !interrupt_poll(4, err); i++) {
        if (node_group(forest_line(f, roots[i]->node), roots[i]->node) >= 0) continue;
        bool below = is_below_its_like(f, roots[i], above);
        if (above->failed) prof_nomem(err);
        if (!below && !err->code) open_group(f, roots[i]->node, above, err);
    }
    prof_free(roots);
}

/* ---- TensorCores without steps on a host ---- */

/* Numbers the steps of TensorCores that no group and no root of level 0 reaches: the k-th steps of
 * all cores are one group. */
static void number_core(Forest *f, const ForestLine *fl, size_t group, ProfErr *err)
{
    for (Node k = 0; k < fl->n && !interrupt_poll(4, err); k++) {
        /* has a group, by an edge from an earlier core */
        if (node_group(fl, fl->first + k) >= 0) continue;
        GroupDraft *draft = group < f->groups.n ? &f->groups.items[group] : PUSH(f->groups);
        if (!draft) {
            prof_nomem(err);
            return;
        }
        *draft = (GroupDraft){.root = fl->first + k};
        if (!propagate(f, draft->root, (uint32_t)group++)) {
            prof_nomem(err);
            return;
        }
    }
}

static bool is_core_line(const ForestLine *fl)
{
    return fl->role == ROLE_STEPS && fl->line->plane->kind == PLANE_TENSORCORE;
}

static bool has_level_0(const Forest *f)
{
    for (size_t i = 0; i < f->roots.n; i++)
        if (!f->roots.items[i].level) return true;
    return false;
}

static void group_cores(Forest *f, Ancestors *above, ProfErr *err)
{
    size_t first = f->groups.n;
    Node node;
    bool reached = false, may_reach = has_level_0(f);
    ancestors_clear(above);
    for (size_t i = 0; i < f->host->n_lines; i++) {
        const ForestLine *fl = &f->lines[i];
        if (!is_core_line(fl)) continue;
        reached |= fl->group != NULL;
        for (Node k = 0; k < fl->n && may_reach && !reached; k++)
            ancestors_add(above, fl->first + k);
    }
    while (!reached && may_reach && (node = ancestors_next(f, above)) != NO_NODE) {
        const RootMark *m = MARK_OF(f->roots, node);
        reached = m && !m->level;
    }
    if (above->failed) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < f->host->n_lines && !reached && !err->code; i++)
        if (is_core_line(&f->lines[i])) number_core(f, &f->lines[i], first, err);
    for (size_t group = first; group < f->groups.n && !interrupt_poll(16, err); group++)
        name_group(f, group, above, err);
}

bool forest_group(Forest *f, ProfErr *err)
{
    Ancestors above = {0};
    Iterations all = {0};
    FirstMarks firsts = {0};
    f->steps_left = 16 * (uint64_t)f->n_nodes + (4 << 20);
    if (!find_loops(f, &all, &firsts) || (firsts.n && !connect_loops(f, &all, &firsts)))
        prof_nomem(err);
    for (size_t i = 0; i < firsts.n && !err->code; i++)
        open_group(f, firsts.items[i]->node, &above, err);
    if (!firsts.n && !err->code) group_roots(f, &above, err);
    if (!err->code) group_cores(f, &above, err);
    sort_links(f);
    prof_free(all.items);
    prof_free(firsts.items);
    ancestors_close(&above);
    return !err->code;
}

/* ---- is_eager ----
 * Each node is as eager as the nearest EagerExecute event above it or itself: one walk down from
 * all of these events at once. */

typedef struct {
    uint32_t distance;
    LIST(Node) next;
} EagerWalk;

static bool reach(Forest *f, Node node, void *context)
{
    EagerWalk *w = context;
    ForestLine *fl = forest_line(f, node);
    if (!fl->near && !(fl->near = prof_alloc(fl->n * sizeof *fl->near))) return false;
    if (fl->near[node - fl->first]) return true;
    fl->near[node - fl->first] = (w->distance + 1) << 1;
    Node *place = PUSH(w->next);
    if (place) *place = node;
    return place != NULL;
}

static bool is_reached(const Forest *f, Node node, uint32_t distance, bool *eager)
{
    const ForestLine *fl = forest_line(f, node);
    uint32_t near = fl->near ? fl->near[node - fl->first] : 0;
    *eager = near & 1;
    return near >> 1 == distance + 1;
}

/* If several parents are equally near to an EagerExecute event, the first decides. */
static void inherit_eager(const Forest *f, Node node, uint32_t distance)
{
    Node parent;
    bool eager = false;
    for (ParentWalk w = {.node = node}; (parent = forest_parent(f, &w)) != NO_NODE;)
        if (is_reached(f, parent, distance - 1, &eager)) break;
    const ForestLine *fl = forest_line(f, node);
    if (eager && parent != NO_NODE) fl->near[node - fl->first] |= 1;
}

static bool reach_children(Forest *f, Node node, EagerWalk *w)
{
    const ForestLine *fl = forest_line(f, node);
    uint32_t at = node - fl->first, end = fl->end ? fl->end[at] : at + 1;
    for (uint32_t i = at + 1; i < end; i = fl->end[i])
        if (fl->parent[i] == at + 1 && !reach(f, fl->first + i, w)) return false;
    OutPlaces out;
    out_seek(f, &out, node);
    return out.next != node || out_visit(f, &out, reach, w);
}

bool forest_mark_eager(Forest *f, ProfErr *err)
{
    EagerWalk w = {0};
    bool memory = true;
    for (size_t i = 0; i < f->eagers.n && memory; i++) {
        const EagerMark *m = &f->eagers.items[i];
        memory = reach(f, m->node, &w);
        const ForestLine *fl = forest_line(f, m->node);
        if (memory && m->eager) fl->near[m->node - fl->first] |= 1;
    }
    for (size_t done = 0, level_end; done < w.next.n && memory; done = level_end) {
        level_end = w.next.n;
        for (size_t i = done;
             w.distance && i < level_end && (i % CHUNK_EVENTS || !interrupt_due(CHUNK_EVENTS)); i++)
            inherit_eager(f, w.next.items[i], w.distance);
        w.distance++;
        for (size_t i = done; i < level_end && memory; i++)
            memory = (i % CHUNK_EVENTS || !interrupt_due(CHUNK_EVENTS)) &&
                     reach_children(f, w.next.items[i], &w);
    }
    prof_free(w.next.items);
    return memory ? true : (prof_nomem(err), false);
}
