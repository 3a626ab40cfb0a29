// SPDX-License-Identifier: Apache-2.0
/* grouping_parts.h: internals shared by the files that group events; grouping.h is the public
 * part.
 *
 *   grouping_scan.c    reads each line once: nesting, and marks for the events whose stats matter
 *   grouping_edges.c   joins lines: launches and kernels, producers and consumers, iterations
 *   grouping_roots.c   finds roots, opens groups and passes them to descendants; is_eager
 *   grouping_gpu.c     groups of a GPU's ungrouped events
 *   grouping_tpu.c     steps of TPUs, and groups of their other events
 *   grouping.c         the result
 *
 * A node is an event or region that takes part in the forest. Nodes are numbered through the host,
 * line by line in the order in which XProf visits them. */
#ifndef PROF_GROUPING_PARTS_H
#define PROF_GROUPING_PARTS_H

#include "event_context.h"
#include "../../base/list.h"
#include "grouping.h"

typedef uint32_t Node;
#define NO_NODE UINT32_MAX

/* ---- marks: what a scan keeps of an event, with its node ---- */

typedef struct {
    Node node;
    uint32_t scope; /* context_scope(): hash of the context's type and process */
    uint64_t id;
} ContextMark;
typedef struct {
    ContextMark context;
    bool produces;
    int64_t start_ps, end_ps;
} LentMark; /* a context of a line that passes its contexts to the TPU's steps */
typedef struct {
    Node node;
    int32_t level;
    int64_t start_ps;
    bool has_step_id;
    int64_t step_id;
} RootMark;
typedef struct {
    Node node;
    enum EventType type; /* EVENT_EXECUTOR_PROCESS, EVENT_GET_NEXT or EVENT_GET_NEXT_OPTIONAL */
    Number step_id, iteration;
    int64_t start_ps;
} IterationMark;
typedef struct {
    Node node;
    bool eager;
} EagerMark;
typedef struct {
    Node node;
    bool has_graph_type, has_iteration, has_step_num;
    int64_t iteration, step_num;
} NameMark;

enum LineRole {
    ROLE_NONE,
    ROLE_THREAD, /* events nest, and each is a node */
    ROLE_STEPS,  /* the line that groups a TPU's events: nodes without nesting */
    ROLE_LENDER, /* another line of a TPU: passes its contexts to the steps */
};
/* What an event is for correlation and is_eager. From CORRELATED_KERNEL on, events take part in
 * is_eager. */
enum Correlation { NOT_CORRELATED, CORRELATED_LAUNCH, CORRELATED_KERNEL, ASKS_EAGER };

/* A line of the host and its nodes. */
typedef struct {
    Line *line;
    enum LineRole role;
    Node first; /* the line's first node */
    uint32_t n; /* number of nodes */
    /* If regions changed the order: the event at each place of the line (n_events + i for region
     * i), and the place of each event. */
    uint32_t *order, *place;
    /* NULL if nothing nests. parent: place + 1 of the parent, 0: none. end: first place after all
     * descendants. */
    uint32_t *parent, *end;
    uint32_t *group; /* group + 1 of each node; NULL: no groups yet */
    /* By node: (distance from an EagerExecute event + 1) << 1 | eager. NULL if there is none. */
    uint32_t *near;
    Packed *correlation_ids, *correlations; /* per chunk, by event; NULL: none */
    LIST(Region) regions;
    LIST(ContextMark) produced, consumed;
    LIST(LentMark) lent;
    LIST(RootMark) roots;
    LIST(IterationMark) iterations;
    LIST(EagerMark) eagers;
    LIST(NameMark) names;
    LIST(int64_t) captured_steps; /* step ids of functions that tf.data calls */
    LIST(Node) asyncs;
    Arena arena;
} ForestLine;

typedef struct {
    uint8_t *types; /* by index of event metadata: enum EventType; NULL: not read */
    ContextPlane context;
} ForestPlane;

/* Edges from nodes to nodes, both in the order of nodes. A child has one parent. */
typedef struct {
    Node *from, *to;
    uint32_t n_from, n_to;
    uint32_t *parent; /* by index in `to`: index of its parent in `from` */
    /* n_from + 1 entries: where the children of each `from` start in `children`. */
    uint32_t *first;
    uint32_t *children; /* indices in `to` */
} Edges;
/* edges_open() makes room for n_from parents, which the caller writes to `from`, and n_to
 * children. Then edges_add() is called for each child in order, then edges_end(). False if
 * memory runs out. */
bool edges_open(Edges *edges, uint32_t n_from, uint32_t n_to);
void edges_add(Edges *edges, uint32_t from, Node to);
bool edges_end(Edges *edges);
enum EdgeKind { EDGE_GET_NEXT, EDGE_GET_NEXT_OPTIONAL, EDGE_KERNEL, EDGE_LOOP, N_EDGE_KINDS };

typedef struct {
    Node node;
    uint32_t context;
} ContextRef;

/* Producers and consumers of each context, an id within a scope. */
typedef struct {
    uint64_t id;
    uint32_t scope;
} ContextKey;
typedef struct {
    LIST(ContextKey) keys;
    uint32_t *slots; /* hash table: index in keys + 1 */
    size_t n_slots;
    /* n + 1 entries each: where the producers and consumers of each key start. */
    uint32_t *first_producer, *first_consumer;
    Node *producers, *consumers;
    LIST(ContextRef) produced, consumed; /* by node */
} Contexts;

/* A group while it is opened. */
typedef struct {
    Node root;
    const Text *name;
    bool explicit;
} GroupDraft;

/* The forest of a host, while it is built. */
typedef struct {
    Host *host;
    bool as_written; /* neither stats nor regions are added to the file's */
    ForestPlane *planes;
    ForestLine *lines;
    Node n_nodes;
    Edges edges[N_EDGE_KINDS];
    Contexts contexts;
    /* marks of all lines, sorted by node */
    LIST(RootMark) roots;
    LIST(IterationMark) iterations;
    LIST(EagerMark) eagers;
    LIST(NameMark) names;
    LIST(int64_t) captured_steps; /* ascending */
    LIST(GroupDraft) groups;
    LIST(uint64_t) links; /* group << 32 | child group */
    size_t n_sorted_links;
    LIST(Node) todo;
    /* Limits the steps of walks up the forest, which a hostile file could make very long. */
    uint64_t steps_left;
    Arena arena;
    TextTable texts;
} Forest;

/* ---- the parts ---- */

/* Run one part for the entire forest, in this order. */
bool forest_scan(Forest *forest, ProfErr *err);
bool forest_connect(Forest *forest, ProfErr *err);
bool forest_group(Forest *forest, ProfErr *err);
bool forest_mark_eager(Forest *forest, ProfErr *err);
/* Gives ungrouped events of a GPU the group of the last grouped event before them. `lines` and
 * `arenas` are those of the host. */
bool gpu_inherit(const Plane *plane, LineGroups *lines, Arena *arenas, ProfErr *err);
/* Lists the events of a TPU's grouping line in order, with their groups. Freed with prof_free(). */
bool tpu_read_steps(const ForestLine *line, MergedStep **steps, ProfErr *err);
/* Merges consecutive steps of one group and drops ungrouped ones, unless all are ungrouped. Returns
 * the new number of steps. */
size_t tpu_merge_steps(MergedStep *steps, size_t n);
/* Gives the events of a TPU's line the groups of the steps that they overlap. */
bool tpu_overlap(const ForestLine *line, const MergedStep *steps, size_t n_steps, LineGroups *out,
                 Arena *arena, ProfErr *err);

/* forest_line() returns the line of a node. line_event() returns the event of a node on its line:
 * its index, or n_events + i for region i. */
ForestLine *forest_line(const Forest *forest, Node node);
static inline uint32_t line_event(const ForestLine *line, Node node)
{
    return line->order ? line->order[node - line->first] : node - line->first;
}
/* Walks the parents of a node in XProf's order. Starts as {.node = node}; forest_parent() returns
 * NO_NODE at the end. */
typedef struct {
    Node node;
    int stage;
    size_t i, ref;
} ParentWalk;
Node forest_parent(const Forest *forest, ParentWalk *walk);
/* Returns the group of a node; -1 if it has none. */
static inline int64_t node_group(const ForestLine *line, Node node)
{
    return line->group ? (int64_t)line->group[node - line->first] - 1 : -1;
}

#endif
