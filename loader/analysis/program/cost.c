// SPDX-License-Identifier: Apache-2.0
/* cost.c: walks a program and costs its instructions; see cost.h. What each operation costs is in
 * cost_ops.c. */
#include "../../base/interrupt.h"
#include "../../issues.h"
#include "cost_graph.h"

#include <math.h>

enum { MAX_CALLS = 100 }; /* nested calls */
/* limit for steps that grow faster than the program */
static const uint64_t STEPS_FOR_ALL = 1 << 24;
static const uint64_t STEPS_A_NODE = 64;

static const Xla__ShapeProto no_shape = XLA__SHAPE_PROTO__INIT;

/* ---- the graph ---- */

CostComputation *cost_called(const CostGraph *g, const CostNode *node, size_t i)
{
    if (i >= node->op->more->n_called_computation_ids) return NULL;
    int64_t position =
        hlo_computation_position(g->module, node->op->more->called_computation_ids[i]);
    return position < 0 ? NULL : &g->computations[position];
}

static void fill_computation(CostGraph *g, CostComputation *c, uint32_t *next_operand,
                             float *figures)
{
    c->root = COST_NONE;
    for (uint32_t i = c->first; i < c->first + c->n; i++) {
        CostNode *node = &g->nodes[i];
        const Xla__HloInstructionProto *op = hlo_op(g->module, i).instruction;
        *node = (CostNode){.op = op,
                           .shape = op->shape ? op->shape : &no_shape,
                           .opcode = (uint16_t)hlo_opcode(op->opcode)};
        node->first_operand = *next_operand,
        node->n_operands = node->n_figures = (uint32_t)op->n_operand_ids;
        node->figures = figures + *next_operand;
        if (op->id == c->proto->root_id) c->root = i;
        for (size_t k = 0; k < op->n_operand_ids; k++) {
            int64_t at = hlo_position(g->module, op->operand_ids[k]);
            bool own = at >= c->first && at < (int64_t)c->first + c->n;
            g->operands[(*next_operand)++] = own ? (uint32_t)at : COST_NONE;
        }
    }
    for (uint32_t i = c->first; i < c->first + c->n; i++)
        for (uint32_t k = 0; k < g->nodes[i].n_operands; k++) {
            CostNode *operand = cost_operand(g, &g->nodes[i], k);
            if (operand) operand->used = true;
        }
    if (c->root == COST_NONE && c->n) c->root = c->first + c->n - 1;
}

static void refill_budget(CostGraph *g)
{
    g->budget = STEPS_FOR_ALL + STEPS_A_NODE * ((uint64_t)g->n_nodes + g->n_operands);
}

/* Returns the memory of the graph, without parts of tuples. */
static uint64_t graph_bytes(const CostGraph *g)
{
    uint64_t node = sizeof *g->nodes + sizeof *g->marks + 2 * sizeof(uint32_t),
             operand = sizeof *g->operands + sizeof(float);
    return g->n_nodes * node + g->n_operands * operand +
           g->n_computations * (sizeof *g->computations + sizeof(double) + 1);
}

static int graph_make(CostGraph *g, ProfErr *err)
{
    const Xla__HloModuleProto *hlo = g->module->proto->hlo_module;
    uint64_t n_operands = 0;
    for (size_t i = 0; i < g->module->n_ops; i++)
        n_operands += hlo_op(g->module, i).instruction->n_operand_ids;
    if (g->module->n_ops >= COST_NONE || n_operands >= COST_NONE) {
        g->failed = true;
        return PROF_OK;
    }
    g->n_nodes = (uint32_t)g->module->n_ops, g->n_computations = hlo->n_computations;
    g->n_operands = (uint32_t)n_operands;
    refill_budget(g);
    if (graph_bytes(g) > g->most_bytes) {
        g->failed = g->too_large = true;
        return PROF_OK;
    }
    g->nodes = arena_alloc(&g->arena, g->n_nodes * sizeof *g->nodes);
    g->computations = arena_alloc(&g->arena, g->n_computations * sizeof *g->computations);
    g->operands = arena_alloc(&g->arena, (size_t)n_operands * sizeof *g->operands);
    float *figures = arena_alloc(&g->arena, (size_t)n_operands * sizeof *figures);
    g->marks = arena_alloc(&g->arena, g->n_nodes);
    uint32_t *order = arena_alloc(&g->arena, g->n_nodes * sizeof *order), at = 0, next_operand = 0;
    if (!g->nodes || !g->computations || !g->operands || !figures || !g->marks || !order)
        return prof_nomem(err);
    for (size_t i = 0; i < g->n_computations; i++) {
        CostComputation *c = &g->computations[i];
        *c = (CostComputation){.proto = hlo->computations[i],
                               .first = at,
                               .n = (uint32_t)hlo->computations[i]->n_instructions,
                               .order = order + at};
        fill_computation(g, c, &next_operand, figures);
        at += c->n;
        if (interrupt_poll(c->n, err)) return err->code;
    }
    return PROF_OK;
}

bool cost_spend(CostGraph *g, uint64_t n)
{
    if (n > g->budget) g->failed = true, g->budget = 0;
    if (!g->failed) g->budget -= n;
    return !g->failed;
}

/* ---- order ---- */

enum { OPEN = 1, LISTED = 2 };

typedef struct {
    CostGraph *g;
    const CostComputation *c;
    size_t depth;
    uint32_t *to, n;
} Walk;

static void push(Walk *w, uint32_t at)
{
    CostGraph *g = w->g;
    if (at < w->c->first || at >= w->c->first + w->c->n || g->marks[at] & LISTED || g->failed)
        return;
    if (GROW(g->stack, w->depth, g->stack_capacity))
        g->stack[w->depth++] = at;
    else
        prof_nomem(g->err), g->failed = true;
}

static void push_control(Walk *w, const CostNode *node, bool reversed)
{
    const Xla__HloInstructionProto *op = node->op;
    for (size_t i = 0; i < op->more->n_control_predecessor_ids; i++) {
        int64_t at = hlo_position(
            w->g->module,
            op->more->control_predecessor_ids[reversed ? op->more->n_control_predecessor_ids - 1 - i
                                                       : i]);
        if (at >= 0) push(w, (uint32_t)at);
    }
}

static void walk_from(Walk *w, uint32_t start, bool listed)
{
    CostGraph *g = w->g;
    push(w, start);
    while (w->depth && !g->failed) {
        uint32_t at = g->stack[w->depth - 1];
        const CostNode *node = &g->nodes[at];
        if (g->marks[at]) {
            w->depth--;
            if (!(g->marks[at] & LISTED)) g->marks[at] |= LISTED, w->to[w->n++] = at;
            continue;
        }
        g->marks[at] = OPEN;
        if (!listed)
            push_control(w, node, true); /* visited after the operands, in order; listed before
                                            them, the last first */
        for (uint32_t i = node->n_operands; i-- > 0;) push(w, g->operands[node->first_operand + i]);
        if (listed) push_control(w, node, false);
    }
}

uint32_t cost_order(CostGraph *g, const CostComputation *c, bool listed, uint32_t *to)
{
    Walk w = {.g = g, .c = c, .to = to};
    memset(g->marks + c->first, 0, c->n);
    for (uint32_t i = c->first; i < c->first + c->n; i++)
        if (!g->nodes[i].used && (listed || i != c->root)) walk_from(&w, i, listed);
    if (!listed && c->root != COST_NONE) walk_from(&w, c->root, listed);
    return w.n;
}

/* ---- costs ---- */

/* Returns the computation that an asynchronous start runs, which counts there; NULL for other
 * instructions. */
static const CostComputation *started(const CostGraph *g, const CostNode *node)
{
    return node->opcode == HLO_ASYNC_START ? cost_called(g, node, 0) : NULL;
}

static void add_instructions(CostGraph *g, CostSum *sum, const CostComputation *c)
{
    if (!cost_spend(g, c->n_order)) return;
    for (uint32_t i = 0; i < c->n_order; i++) {
        const CostNode *node = &g->nodes[c->order[i]];
        const CostComputation *inner = started(g, node);
        if (inner)
            add_instructions(g, sum, inner); /* no deeper than the calls whose cost is known */
        sum->flops += node->flops, sum->bytes += node->bytes, sum->output += node->output;
        for (uint32_t k = 0; k < node->n_figures; k++) sum->operands[k] += node->figures[k];
        cost_add_leaves(g, node->leaves);
    }
}

static void sum_up(CostGraph *g, CostComputation *c)
{
    CostSum *sum = &c->sum;
    for (uint32_t i = 0; i < c->n_order; i++) {
        const CostNode *node = &g->nodes[c->order[i]];
        const CostComputation *inner = started(g, node);
        if (node->n_figures > sum->n_operands) sum->n_operands = node->n_figures;
        if (inner && inner->sum.n_operands > sum->n_operands)
            sum->n_operands = inner->sum.n_operands;
    }
    sum->operands = arena_alloc(&g->arena, sum->n_operands * sizeof *sum->operands);
    if (sum->operands) {
        add_instructions(g, sum, c);
        sum->leaves = cost_take_leaves(g, COST_SUM_OF);
    } else {
        prof_nomem(g->err);
        g->failed = true;
    }
}

const CostSum *cost_computation(CostGraph *g, CostComputation *c, int depth)
{
    if (depth > MAX_CALLS || c->state == COST_OPEN) g->failed = true;
    if (g->failed || c->state == COST_DONE) return g->failed ? NULL : &c->sum;
    c->state = COST_OPEN;
    c->n_order = cost_order(g, c, false, c->order);
    for (uint32_t i = 0; i < c->n_order && !g->failed; i++) {
        if (interrupt_poll(4, g->err)) g->failed = true;
        CostNode *node = &g->nodes[c->order[i]];
        cost_instruction(g, node, depth);
        node->visited = true;
    }
    if (!g->failed) sum_up(g, c);
    c->state = COST_DONE;
    return g->failed ? NULL : &c->sum;
}

/* ---- results ---- */

static int64_t positive(int64_t value) { return value > 0 ? value : 0; }

/* Returns the FLOPs in units of 16-bit operations, which XLA's peak is for: operations on narrower
 * operands are faster and count less. */
static int64_t device_flops(const CostGraph *g, const CostNode *node)
{
    int widest = 0;
    bool gemm = node->opcode == HLO_CUSTOM_CALL &&
                starts_with(node->op->more->custom_call_target, "__cublas$lt$");
    if (node->opcode == HLO_CUSTOM_CALL && !gemm) return cost_integer(node->flops);
    for (uint32_t i = 0; i < (gemm && node->n_operands ? 1 : node->n_operands); i++) {
        const CostNode *operand = cost_operand(g, node, i);
        int bits = operand ? cost_bits(operand->shape->element_type) : 0;
        if (bits > widest) widest = bits;
    }
    float share = widest == 8 || widest == 4 ? (float)(16 / widest) : 1;
    return cost_add(cost_integer(node->flops), -cost_integer(node->flops - node->flops / share));
}

/* Returns the bytes of an operand (COST_NONE: the output) in main memory by its layout: for an
 * array its figure, for a tuple what is known of its parts. */
static int64_t in_main_memory(const CostNode *node, const Xla__ShapeProto *shape, uint32_t operand,
                              uint64_t path, float figure)
{
    if (shape->element_type != XLA_TUPLE)
        return cost_in_main_memory(shape) ? cost_integer(figure) : 0;
    int64_t sum = 0;
    for (size_t i = 0; i < shape->n_tuple_shapes && node->leaves; i++) {
        uint64_t part = cost_path(path, i);
        sum = cost_add(sum, in_main_memory(node, shape->tuple_shapes[i], operand, part,
                                           cost_leaf(node->leaves, operand, part)));
    }
    return sum;
}

static HloCost result_of(const CostGraph *g, const CostNode *node)
{
    if (node->unknown) return (HloCost){.known = false};
    HloCost cost = {.known = true};
    if (!node->visited) return cost;
    cost.model_flops = positive(cost_integer(node->flops));
    cost.flops = positive(device_flops(g, node));
    cost.bytes_accessed = positive(cost_integer(node->bytes));
    if (!cost.bytes_accessed) return cost;
    for (uint32_t i = 0; i < node->n_operands; i++) {
        const CostNode *operand = cost_operand(g, node, i);
        if (operand)
            cost.hbm_read_bytes = cost_add(
                cost.hbm_read_bytes, in_main_memory(node, operand->shape, i, 0, node->figures[i]));
    }
    cost.hbm_read_bytes = positive(cost.hbm_read_bytes);
    cost.hbm_write_bytes = positive(in_main_memory(node, node->shape, COST_NONE, 0, node->output));
    return cost;
}

static HloCost unknown_cost(void)
{
    return (HloCost){.model_flops_actual = NAN, .flops_actual = NAN, .bytes_accessed_actual = -1};
}

static void add_need(HloCost *cost, const CostGraph *g, const CostNode *node)
{
    cost->model_flops_actual = node->need.model_flops;
    cost->flops_actual = node->need.model_flops * cost_weight(g, node);
    bool known = !isnan(node->need.bytes) && (cost->known || node->opcode == HLO_CUSTOM_CALL);
    double bytes = known ? fmax(node->need.bytes, 0) : -1;
    cost->bytes_accessed_actual = bytes < 0x1p63 ? (int64_t)bytes : INT64_MAX;
}

/* The costs of all instructions. Most are equal to another's. */
typedef struct {
    HloCost *distinct; /* different costs; the first is unknown */
    size_t n, capacity, most;
    HashTable by_value; /* while they are computed */
    uint32_t *of;       /* index in `distinct`, by position of the instruction */
    bool cut;           /* there are more than `most` */
} Costs;

static void costs_free(void *result)
{
    Costs *costs = result;
    hash_free(&costs->by_value);
    prof_free(costs->distinct);
    prof_free(costs->of);
    prof_free(costs);
}

/* Returns the index of a cost; 0 (unknown) if there are too many. */
static uint32_t keep_cost(Costs *costs, const HloCost *cost, ProfErr *err)
{
    const char *bytes = (const char *)cost; /* as bytes, so that NaN equals itself */
    uint64_t hash = text_hash(bytes, sizeof *cost);
    HASH_EACH(i, &costs->by_value, hash) {
        const char *other = (const char *)&costs->distinct[i];
        if (!memcmp(other, bytes, sizeof *cost)) return (uint32_t)i;
    }
    if (costs->n >= costs->most) {
        costs->cut = true;
        return 0;
    }
    if (!GROW(costs->distinct, costs->n, costs->capacity) ||
        !hash_add(&costs->by_value, hash, costs->n)) {
        prof_nomem(err);
        return 0;
    }
    costs->distinct[costs->n] = *cost;
    return (uint32_t)costs->n++;
}

/* Keeps the costs, first without needs, which are then computed in the memory of the figures.
 * Finally keeps each different pair. */
static void keep_costs(CostGraph *g, Costs *costs, ProfErr *err)
{
    HloCost blank = unknown_cost();
    bool failed = g->failed;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        HloCost cost = failed ? blank : result_of(g, &g->nodes[i]);
        costs->of[i] = keep_cost(costs, &cost, err);
    }
    g->failed = false;
    refill_budget(g);
    if (err->code || !cost_needs(g)) return;
    Costs last = *costs;
    *costs = (Costs){.of = last.of, .most = last.most};
    keep_cost(costs, &blank, err);
    for (uint32_t i = 0; i < g->n_nodes && !err->code; i++) {
        HloCost cost;
        memcpy(&cost, &last.distinct[costs->of[i]], sizeof cost); /* with its padding */
        add_need(&cost, g, &g->nodes[i]);
        costs->of[i] = keep_cost(costs, &cost, err);
    }
    hash_free(&last.by_value);
    prof_free(last.distinct);
}

static void *costs_make(const HloModule *module, ProfErr *err)
{
    CostGraph g = {.module = module, .err = err, .most_bytes = module->spare_bytes / 10 * 9};
    Costs *costs = prof_alloc(sizeof *costs);
    if (!costs) {
        prof_nomem(err);
        return NULL;
    }
    HloCost blank = unknown_cost();
    costs->of = prof_alloc((module->n_ops + 1) * sizeof *costs->of);
    costs->most = 1 + (size_t)(module->spare_bytes / 16 / sizeof(HloCost));
    if (!costs->of) prof_nomem(err);
    if (!err->code) keep_cost(costs, &blank, err);
    const Xla__HloComputationProto *entry = hlo_entry(module);
    if (entry && !err->code && !graph_make(&g, err) && !g.failed) {
        for (size_t i = 0; i < g.n_computations; i++)
            if (g.computations[i].proto == entry) cost_computation(&g, &g.computations[i], 0);
        if (!err->code) keep_costs(&g, costs, err);
    }
    if (g.too_large || costs->cut)
        host_issue(module->host, "warning", "program_costs", module,
                   "the HLO program %.200s(%llu) needs too much memory for its size in bytes: its "
                   "costs and FLOPs are unknown",
                   module->name, (unsigned long long)module->program_id);
    arena_free(&g.arena);
    prof_free(g.stack);
    prof_free(g.pending);
    hash_free(&costs->by_value);
    if (!err->code) return costs;
    costs_free(costs);
    return NULL;
}

static const HloAnalysis cost_analysis = {costs_make, costs_free};

const HloCost *hlo_cost(const HloModule *module, const Xla__HloInstructionProto *op, ProfErr *err)
{
    const Costs *costs = hlo_analysis(module, &cost_analysis, err);
    int64_t at = costs ? hlo_position(module, op->id) : -1;
    return costs ? &costs->distinct[at < 0 ? 0 : costs->of[at]] : NULL;
}
