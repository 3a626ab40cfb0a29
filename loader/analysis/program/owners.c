// SPDX-License-Identifier: Apache-2.0
/* owners.c: finds the owners of all instructions of a program; see owners.h.
 *
 * Three searches visit each instruction at most once: inside called computations, from their roots;
 * then from all instructions with an owner at once, against the edges (which finds the nearest
 * user); then along the edges (the nearest producer). What is left gets the owner of the
 * instruction that runs its computation.
 *
 * A search starts in file order and is breadth-first, so of several nearest owners the first in the
 * file wins. */
#include "owners.h"

#include "../../base/interrupt.h"

const char *const owner_by_names[] = {NULL, "own", "fused", "user", "producer", "caller"};

enum { NOBODY = UINT32_MAX };

typedef struct {
    uint32_t owner; /* position of an instruction, or NOBODY */
    uint32_t by;    /* enum OwnerBy */
} Owned;

typedef struct {
    size_t n;
    Owned of[]; /* by position */
} Owners;

/* The edges of a program, by position: from an instruction to its operands and to its users, within
 * one computation. */
typedef struct {
    const HloModule *module;
    size_t n;
    /* those of i: from first[i] to first[i+1] */
    uint32_t *first_operand, *operands, *first_user, *users;
    uint32_t *queue;
    uint32_t *found; /* by position: the owner that a search found, or NOBODY */
} Graph;

static const Xla__HloInstructionProto *at(const HloModule *m, size_t i)
{
    return hlo_op(m, i).instruction;
}

static bool has_name(const Xla__HloInstructionProto *op)
{
    return op->metadata && *op->metadata->op_name;
}

/* Returns whether an instruction is a parameter or constant: their names are those of arguments,
 * not of ops. */
static bool is_leaf(const Xla__HloInstructionProto *op)
{
    return !strcmp(op->opcode, "parameter") || !strcmp(op->opcode, "constant");
}

/* Returns whether an instruction runs its called computations, rather than applying them to
 * elements. */
static bool runs_computations(const Xla__HloInstructionProto *op)
{
    return !strcmp(op->opcode, "fusion") || !strcmp(op->opcode, "call") ||
           !strcmp(op->opcode, "while") || !strcmp(op->opcode, "conditional") ||
           starts_with(op->opcode, "async-");
}

/* ---- edges ---- */

static void graph_free(Graph *g)
{
    prof_free(g->first_operand), prof_free(g->operands);
    prof_free(g->first_user), prof_free(g->users);
    prof_free(g->queue), prof_free(g->found);
}

static uint32_t *positions(uint64_t n, ProfErr *err)
{
    uint32_t *out = err->code ? NULL : prof_alloc((size_t)n * sizeof *out + 1);
    if (!out) prof_nomem(err);
    return out;
}

static void find_operands(Graph *g)
{
    const HloModule *m = g->module;
    uint32_t n_edges = 0;
    for (size_t i = 0; i < g->n; i++) {
        const Xla__HloInstructionProto *op = at(m, i);
        g->first_operand[i] = n_edges;
        for (size_t k = 0; k < op->n_operand_ids; k++) {
            int64_t from = hlo_position(m, op->operand_ids[k]);
            if (from < 0 || m->computation_of[from] != m->computation_of[i]) continue;
            g->operands[n_edges++] = (uint32_t)from;
            g->first_user[from + 1]++;
        }
    }
    g->first_operand[g->n] = n_edges;
}

/* On entry first_user[i + 1] is the number of i's users; on return, their end. */
static void find_users(Graph *g)
{
    for (size_t i = 0; i < g->n; i++) g->first_user[i + 1] += g->first_user[i];
    for (size_t i = g->n; i-- > 0;) /* from the end, so that users are in file order */
        for (uint32_t e = g->first_operand[i + 1]; e-- > g->first_operand[i];)
            g->users[--g->first_user[g->operands[e] + 1]] = (uint32_t)i;
    memmove(g->first_user, g->first_user + 1, g->n * sizeof *g->first_user);
    g->first_user[g->n] = g->first_operand[g->n];
}

static uint64_t count_edges(const HloModule *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->n_ops; i++) n += at(m, i)->n_operand_ids;
    return n;
}

/* Returns whether the searches fit in the memory that the program's size allows. */
static bool is_affordable(const HloModule *m, uint64_t n_edges)
{
    const uint64_t bytes = 4 * sizeof(uint32_t) * (m->n_ops + 2) + sizeof(Owned) * m->n_ops +
                           2 * sizeof(uint32_t) * n_edges;
    if (n_edges < UINT32_MAX && m->n_ops < NOBODY && bytes <= m->spare_bytes) return true;
    host_issue(m->host, "warning", "program_owners", m,
               "the HLO program %.200s(%llu) needs too much memory for its size in bytes: the "
               "owners of its unnamed instructions are unknown",
               m->name, (unsigned long long)m->program_id);
    return false;
}

static int graph_make(Graph *g, uint64_t n_edges, ProfErr *err)
{
    g->first_operand = positions(g->n + 1, err);
    g->operands = positions(n_edges, err);
    g->first_user = positions(g->n + 2, err);
    g->users = positions(n_edges, err);
    g->queue = positions(g->n, err);
    g->found = positions(g->n, err);
    if (err->code) return err->code;
    find_operands(g);
    find_users(g);
    return interrupt_poll(g->n + n_edges, err);
}

/* ---- searches ---- */

/* Returns the instruction of the computation that is nearest to its root and has a name. `found`
 * marks those that were visited; each computation is searched once. */
static uint32_t nearest_to_root(const Graph *g, size_t computation)
{
    const HloModule *m = g->module;
    const Xla__HloComputationProto *c = m->proto->hlo_module->computations[computation];
    int64_t root = hlo_position(m, c->root_id);
    if (root < 0 || m->computation_of[root] != computation) return NOBODY;
    size_t n = 0;
    g->queue[n++] = (uint32_t)root, g->found[root] = 0;
    for (size_t done = 0; done < n; done++) {
        uint32_t i = g->queue[done];
        if (has_name(at(m, i)) && !is_leaf(at(m, i))) return i;
        for (uint32_t e = g->first_operand[i]; e < g->first_operand[i + 1]; e++) {
            uint32_t operand = g->operands[e];
            if (g->found[operand] != NOBODY) continue;
            g->queue[n++] = operand, g->found[operand] = 0;
        }
    }
    return NOBODY;
}

static void own_and_fused(const Graph *g, uint32_t *of_computation, Owners *owners)
{
    const HloModule *m = g->module;
    for (size_t i = 0; i < g->n; i++) {
        const Xla__HloInstructionProto *op = at(m, i);
        owners->of[i] = (Owned){NOBODY, OWNER_NONE};
        if (has_name(op)) owners->of[i] = (Owned){(uint32_t)i, OWNER_OWN};
        if (has_name(op) || !runs_computations(op)) continue;
        for (size_t k = 0; k < op->more->n_called_computation_ids; k++) {
            int64_t c = hlo_computation_position(m, op->more->called_computation_ids[k]);
            if (c < 0 || owners->of[i].by) continue;
            if (!of_computation[c]) of_computation[c] = nearest_to_root(g, (size_t)c) + 2;
            uint32_t inside = of_computation[c] - 2;
            if (inside != NOBODY) owners->of[i] = (Owned){inside, OWNER_FUSED};
        }
    }
}

/* Spreads owners to instructions without one: from users to their operands, or from producers to
 * their users. */
static void spread(const Graph *g, const Owners *owners, bool to_operands)
{
    const uint32_t *first = to_operands ? g->first_operand : g->first_user,
                   *next = to_operands ? g->operands : g->users;
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        bool starts = owners->of[i].by == OWNER_OWN || owners->of[i].by == OWNER_FUSED;
        g->found[i] = starts ? owners->of[i].owner : NOBODY;
        if (starts && (to_operands || !is_leaf(at(g->module, i)))) g->queue[n++] = (uint32_t)i;
    }
    for (size_t done = 0; done < n; done++) {
        uint32_t i = g->queue[done];
        for (uint32_t e = first[i]; e < first[i + 1]; e++) {
            if (g->found[next[e]] != NOBODY) continue;
            g->found[next[e]] = g->found[i];
            g->queue[n++] = next[e];
        }
    }
}

static void keep_found(const Graph *g, Owners *owners, enum OwnerBy by)
{
    for (size_t i = 0; i < g->n; i++)
        if (!owners->of[i].by && g->found[i] != NOBODY) owners->of[i] = (Owned){g->found[i], by};
}

enum { MOST_LEVELS = 100 }; /* of nested computations: in a damaged program one may call itself */

/* Returns the owner of the instruction that runs a computation, or of the one that runs that. */
static Owned owner_of_caller(const HloModule *m, const Owners *owners, const uint32_t *callers,
                             uint32_t computation)
{
    for (int level = 0; level < MOST_LEVELS && callers[computation]; level++) {
        uint32_t caller = callers[computation] - 1;
        if (owners->of[caller].by) return (Owned){owners->of[caller].owner, OWNER_CALLER};
        computation = m->computation_of[caller];
    }
    return (Owned){NOBODY, OWNER_NONE};
}

/* callers: by computation, position + 1 of the first instruction that runs it. */
static void inherit_from_callers(const Graph *g, Owners *owners, uint32_t *callers)
{
    const HloModule *m = g->module;
    for (size_t i = 0; i < g->n; i++) {
        const Xla__HloInstructionProto *op = at(m, i);
        for (size_t k = 0; runs_computations(op) && k < op->more->n_called_computation_ids; k++) {
            int64_t c = hlo_computation_position(m, op->more->called_computation_ids[k]);
            if (c >= 0 && !callers[c]) callers[c] = (uint32_t)i + 1;
        }
    }
    Owned found = {NOBODY, OWNER_NONE};
    for (size_t i = 0; i < g->n; i++) { /* instructions are sorted by computation */
        if (!i || m->computation_of[i] != m->computation_of[i - 1])
            found = owner_of_caller(m, owners, callers, m->computation_of[i]);
        g->found[i] = owners->of[i].by ? NOBODY : found.owner;
    }
    keep_found(g, owners, OWNER_CALLER);
}

static int find_owners(Graph *g, Owners *owners, ProfErr *err)
{
    uint32_t *of_computation =
        positions(g->module->proto->hlo_module->n_computations, err); /* position + 2; 0: unknown */
    if (!err->code) {
        for (size_t i = 0; i < g->n; i++) g->found[i] = NOBODY;
        own_and_fused(g, of_computation, owners);
    }
    prof_free(of_computation);
    uint32_t *callers = positions(g->module->proto->hlo_module->n_computations, err);
    if (!interrupt_poll(g->n, err)) {
        spread(g, owners, true);
        keep_found(g, owners, OWNER_USER);
        spread(g, owners, false);
        keep_found(g, owners, OWNER_PRODUCER);
        inherit_from_callers(g, owners, callers);
    }
    prof_free(callers);
    return interrupt_poll(g->n, err);
}

static void *owners_make(const HloModule *module, ProfErr *err)
{
    uint64_t n_edges = count_edges(module);
    Graph g = {.module = module, .n = is_affordable(module, n_edges) ? module->n_ops : 0};
    Owners *owners = prof_alloc(sizeof *owners + g.n * sizeof *owners->of);
    if (!owners) {
        prof_nomem(err);
        return NULL;
    }
    owners->n = g.n;
    bool failed = g.n && (graph_make(&g, n_edges, err) || find_owners(&g, owners, err));
    graph_free(&g);
    if (failed) prof_free(owners), owners = NULL;
    return owners;
}

OpOwner hlo_owner(const HloModule *module, const Xla__HloInstructionProto *op, ProfErr *err)
{
    static const HloAnalysis analysis = {owners_make, prof_free};
    if (has_name(op)) return (OpOwner){op, OWNER_OWN};
    int64_t position = hlo_position(module, op->id);
    const Owners *owners = position < 0 ? NULL : hlo_analysis(module, &analysis, err);
    if (!owners || (size_t)position >= owners->n) return (OpOwner){NULL, OWNER_NONE};
    Owned owned = owners->of[position];
    return (OpOwner){owned.by ? at(module, owned.owner) : NULL, (enum OwnerBy)owned.by};
}
