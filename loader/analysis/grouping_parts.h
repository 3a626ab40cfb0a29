// SPDX-License-Identifier: Apache-2.0
/* grouping_parts.h: what the parts of the grouping share; see grouping.h.
 *
 *   grouping_scan.c    reads each line once: nesting, and marks for the events whose stats matter
 *   grouping_edges.c   joins the lines: launches with kernels, producers with consumers, executor iterations
 *   grouping_roots.c   finds roots, opens groups and hands them down; is_eager
 *   grouping_gpu.c     what a GPU's ungrouped events get
 *   grouping_tpu.c     steps of TPUs, and what their other events get
 *   grouping.c         the result
 *
 * A node is an event or a region of a line that takes part in the forest; nodes are numbered through the host, line by line
 * in the order in which XProf sees them. */
#ifndef PROF_GROUPING_PARTS_H
#define PROF_GROUPING_PARTS_H

#include "event_context.h"
#include "../list.h"
#include "grouping.h"

typedef uint32_t Node;
#define NO_NODE UINT32_MAX

/* ---- marks: what a scan keeps of an event; all begin with its node ---- */

typedef struct {
    Node node;
    uint32_t scope; /* of the id: a hash of the context's type and process */
    uint64_t id;
} ContextMark;
typedef struct {
    ContextMark context;
    bool produces;
    int64_t start_ps, end_ps;
} LentMark; /* of a line that lends its contexts to the steps of its TPU */
typedef struct {
    Node node;
    int32_t level;
    int64_t start_ps;
    bool has_step_id;
    int64_t step_id;
} RootMark;
typedef struct {
    Node node;
    enum EventType type; /* EVENT_EXECUTOR_PROCESS, EVENT_GET_NEXT, EVENT_GET_NEXT_OPTIONAL */
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
    ROLE_THREAD, /* events nest and are nodes */
    ROLE_STEPS,  /* the line that groups a TPU's events: nodes without nesting */
    ROLE_LENDER, /* another line of a TPU: lends its contexts to the steps */
};
/* What an event is to launches and to is_eager: kernels and those behind them have it. */
enum Correlation { NOT_CORRELATED, CORRELATED_LAUNCH, CORRELATED_KERNEL, ASKS_EAGER };

typedef struct {
    Line *line;
    enum LineRole role;
    Node first;
    uint32_t n; /* nodes */
    /* where regions changed the order: place on the line -> event (n_events + i: region i), and back */
    uint32_t *order, *place;
    /* NULL while nothing nests. parent: its place + 1, 0: none. end: the place behind all that is below */
    uint32_t *parent, *end;
    uint32_t *group;                        /* group + 1; NULL: none yet */
    uint32_t *near;                         /* (distance from an EagerExecute event + 1) << 1 | eager; NULL: none */
    Packed *correlation_ids, *correlations; /* per chunk, by event; NULL: none */
    LIST(Region) regions;
    LIST(ContextMark) produced, consumed;
    LIST(LentMark) lent;
    LIST(RootMark) roots;
    LIST(IterationMark) iterations;
    LIST(EagerMark) eagers;
    LIST(NameMark) names;
    LIST(int64_t) captured_steps; /* ids of tf.data's functions */
    LIST(Node) asyncs;
    Arena arena;
} ForestLine;

typedef struct {
    uint8_t *types; /* enum EventType of each event metadata; NULL: not read */
    ContextPlane context;
} ForestPlane;

/* Edges from some nodes to others, both in the order of nodes; a child has one parent. */
typedef struct {
    Node *from, *to;
    uint32_t n_from, n_to;
    uint32_t *parent;   /* of each `to`: its index in from */
    uint32_t *first;    /* of each `from`, and one more: its children's place in `children` */
    uint32_t *children; /* indices in to */
} Edges;
/* n_from parents, set in `from` by the caller, and room for n_to children; then the edges in the order of the children. */
bool edges_open(Edges *edges, uint32_t n_from, uint32_t n_to);
void edges_add(Edges *edges, uint32_t from, Node to);
bool edges_end(Edges *edges);
enum EdgeKind { EDGE_GET_NEXT, EDGE_GET_NEXT_OPTIONAL, EDGE_KERNEL, EDGE_LOOP, N_EDGE_KINDS };

typedef struct {
    Node node;
    uint32_t context;
} ContextRef;

/* Producers and consumers by context: an id within a scope. */
typedef struct {
    uint64_t id;
    uint32_t scope;
} ContextKey;
typedef struct {
    LIST(ContextKey) keys;
    uint32_t *slots; /* of keys, + 1 */
    size_t n_slots;
    uint32_t *first_producer, *first_consumer; /* n + 1 of each */
    Node *producers, *consumers;
    LIST(ContextRef) produced, consumed; /* by node */
} Contexts;

typedef struct {
    Node root;
    const Text *name;
    bool explicit;
} GroupDraft;

typedef struct {
    Host *host;
    bool as_written; /* neither stats nor regions are added */
    ForestPlane *planes;
    ForestLine *lines;
    Node n_nodes;
    Edges edges[N_EDGE_KINDS];
    Contexts contexts;
    /* marks of all lines, by node */
    LIST(RootMark) roots;
    LIST(IterationMark) iterations;
    LIST(EagerMark) eagers;
    LIST(NameMark) names;
    LIST(int64_t) captured_steps; /* ascending */
    LIST(GroupDraft) groups;
    LIST(uint64_t) links; /* group << 32 | child group */
    size_t n_sorted_links;
    LIST(Node) todo;
    uint64_t steps_left; /* of walks up the forest, which a hostile file could make long */
    Arena arena;
    TextTable texts;
} Forest;

/* ---- the parts; false: err is set ---- */

bool forest_scan(Forest *forest, ProfErr *err);
bool forest_connect(Forest *forest, ProfErr *err);
bool forest_group(Forest *forest, ProfErr *err);
bool forest_mark_eager(Forest *forest, ProfErr *err);
/* Ungrouped events of a GPU get the group of the last grouped event before them. Lines and arenas are the host's. */
bool gpu_inherit(const Plane *plane, LineGroups *lines, Arena *arenas, ProfErr *err);
/* The events of a TPU's grouping line, one after the other, with their groups; freed with prof_free(). */
bool tpu_read_steps(const ForestLine *line, MergedStep **steps, ProfErr *err);
/* Merges what of them is consecutive and of one group, and leaves out what has none, unless none has one. Returns how many are left. */
size_t tpu_merge_steps(MergedStep *steps, size_t n);
/* Gives the events of a line of the TPU the groups of the steps that they touch. */
bool tpu_overlap(const ForestLine *line, const MergedStep *steps, size_t n_steps, LineGroups *out, Arena *arena, ProfErr *err);

/* The line of a node (one with nodes), and the event that a node is: its ordinal on the line, n_events + i for region i. */
ForestLine *forest_line(const Forest *forest, Node node);
static inline uint32_t line_event(const ForestLine *line, Node node) { return line->order ? line->order[node - line->first] : node - line->first; }
/* Walks the parents of a node in XProf's order; NO_NODE at the end. Begin with {.node = node}. */
typedef struct {
    Node node;
    int stage;
    size_t i, ref;
} ParentWalk;
Node forest_parent(const Forest *forest, ParentWalk *walk);
static inline int64_t node_group(const ForestLine *line, Node node) { return line->group ? (int64_t)line->group[node - line->first] - 1 : -1; }

#endif
