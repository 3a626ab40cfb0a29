// SPDX-License-Identifier: Apache-2.0
/* cost_fusion.c: costs of fusions; see cost.h.
 *
 * Each fused instruction has a utilization: how often its entire value is computed for one value of
 * the fusion. If the user of an instruction is elementwise, the instruction is computed as often as
 * its user; for every other use it is computed again. Bytes are counted at the fusion's border
 * only: arrays that are written, parameters that are read (at most once), and large constants. */
#include "cost_graph.h"
#include "../../base/search.h"

#include "../../base/sort.h"

#include <math.h>

enum { IMMEDIATE_ELEMENTS = 8 }; /* constants of up to so many elements are part of the code */

/* A list of the roots whose utilizations an instruction shares, each once. */
typedef struct {
    uint32_t root, next; /* root: index of a node in the computation; next: index in `cells` + 1 */
} Cell;

/* A get-tuple-element. */
typedef struct {
    uint32_t tuple, node; /* indexes in the computation */
    int64_t index;
} TupleReader;

typedef struct {
    CostGraph *g;
    CostNode *fusion;
    const CostComputation *c;
    uint32_t *order, n_order; /* operands before users */
    uint32_t *heads, *tails,
        *marks; /* by index of a node: its list, and the list that visited it last */
    float *root_utilization, *utilization;
    Cell *cells;
    size_t n_cells, capacity;
    uint32_t *parameters; /* by number: index of the node, or COST_NONE */
    TupleReader *readers; /* sorted by what they read */
    size_t n_readers;
} Fusion;

static CostNode *node_at(const Fusion *f, uint32_t i) { return &f->g->nodes[f->c->first + i]; }

static void no_memory(Fusion *f)
{
    prof_nomem(f->g->err);
    f->g->failed = true;
}

/* ---- utilization ---- */

static void list_root(Fusion *f, uint32_t node, uint32_t root)
{
    if (!GROW(f->cells, f->n_cells, f->capacity)) {
        no_memory(f);
        return;
    }
    f->cells[f->n_cells] = (Cell){root, 0};
    if (f->tails[node])
        f->cells[f->tails[node] - 1].next = (uint32_t)f->n_cells + 1;
    else
        f->heads[node] = (uint32_t)f->n_cells + 1;
    f->tails[node] = (uint32_t)++f->n_cells;
}

/* Adds the roots of `from`, or `from` itself, to those of `to`. */
static void share_roots(Fusion *f, uint32_t to, uint32_t from, bool itself)
{
    uint64_t steps = 1;
    for (uint32_t cell = f->heads[to]; cell; cell = f->cells[cell - 1].next, steps++)
        f->marks[f->cells[cell - 1].root] = to + 1;
    if (itself) {
        if (f->marks[from] != to + 1) list_root(f, to, from);
    } else {
        for (uint32_t cell = f->heads[from]; cell && !f->g->failed;
             cell = f->cells[cell - 1].next, steps++) {
            uint32_t root = f->cells[cell - 1].root;
            if (f->marks[root] == to + 1) continue;
            f->marks[root] = to + 1;
            list_root(f, to, root);
        }
    }
    for (uint32_t cell = f->heads[to]; cell; cell = f->cells[cell - 1].next)
        f->marks[f->cells[cell - 1].root] = 0;
    cost_spend(f->g, steps);
}

static bool same_dimensions(const Xla__ShapeProto *a, const Xla__ShapeProto *b)
{
    if (a->n_dimensions != b->n_dimensions) return false;
    for (size_t i = 0; i < a->n_dimensions; i++)
        if (a->dimensions[i] != b->dimensions[i]) return false;
    return true;
}

static int stored_bits(const Xla__ShapeProto *shape)
{
    return shape->element_type == XLA_PRED ? 8 : cost_bits(shape->element_type);
}

/* Returns whether each element of the operand is used only for the element at the same place. */
static bool uses_in_place(const CostNode *node, const CostNode *operand)
{
    switch ((enum HloOpcode)node->opcode) {
    case HLO_TUPLE:
    case HLO_GET_TUPLE_ELEMENT: return true;
    case HLO_BITCAST: return same_dimensions(node->shape, operand->shape);
    case HLO_BITCAST_CONVERT: return stored_bits(node->shape) == stored_bits(operand->shape);
    default: return hlo_is_elementwise((enum HloOpcode)node->opcode);
    }
}

/* Returns whether the instruction writes an output of the fusion. */
static bool is_output(const Fusion *f, uint32_t i)
{
    uint32_t root = f->c->root;
    if (f->c->first + i == root) return true;
    const CostNode *tuple = &f->g->nodes[root];
    for (uint32_t k = 0; tuple->opcode == HLO_TUPLE && k < tuple->n_operands; k++)
        if (f->g->operands[tuple->first_operand + k] == f->c->first + i) return true;
    return false;
}

/* Returns the share of an operand that one value of the instruction needs; above 1 if it is read
 * several times. */
static float operand_utilization(const Fusion *f, const CostNode *node, uint32_t i, uint32_t k)
{
    switch ((enum HloOpcode)node->opcode) {
    case HLO_SLICE:
    case HLO_DYNAMIC_SLICE:
    case HLO_GATHER: return k ? 1 : node->reread;
    case HLO_DYNAMIC_UPDATE_SLICE:
        if (k) return 1;
        return is_output(f, i) ? 0 : node->reread;
    case HLO_REDUCE: return k < node->n_operands / 2 ? 1 : node->reread;
    default: return 1;
    }
}

/* Rounds a utilization to entire elements of the operand. */
static float whole_elements(float utilization, const CostNode *operand)
{
    float n = (float)cost_all_elements(operand->shape);
    return n > 0 ? ceilf(utilization * n) / n : 0;
}

static void set_utilizations(Fusion *f)
{
    CostGraph *g = f->g;
    f->n_order = cost_order(g, f->c, true, f->order);
    if (f->c->root == COST_NONE) return;
    uint32_t root = f->c->root - f->c->first;
    f->root_utilization[root] = 1;
    list_root(f, root, root);
    for (uint32_t at = f->n_order; at-- > 0 && !g->failed;) {
        uint32_t i = f->order[at] - f->c->first;
        const CostNode *node = node_at(f, i);
        for (uint32_t cell = f->heads[i]; cell; cell = f->cells[cell - 1].next)
            f->utilization[i] += f->root_utilization[f->cells[cell - 1].root];
        f->fusion->flops += f->utilization[i] * node->flops;
        for (uint32_t k = 0; k < node->n_operands && !g->failed; k++) {
            const CostNode *operand = cost_operand(g, node, k);
            if (!operand) continue;
            uint32_t o = (uint32_t)(operand - g->nodes) - f->c->first;
            if (uses_in_place(node, operand)) {
                share_roots(f, o, i, false);
            } else {
                share_roots(f, o, o, true);
                f->root_utilization[o] +=
                    whole_elements(f->utilization[i] * operand_utilization(f, node, i, k), operand);
            }
        }
    }
}

/* ---- bytes ---- */

/* Adds the bytes of arrays that are written; for one that is updated in place, of the update. root:
 * the instruction that computes the shape; NULL if unknown. */
static void write_leaves(Fusion *f, const Xla__ShapeProto *shape, const CostNode *root,
                         uint64_t path)
{
    if (shape->element_type == XLA_TUPLE) {
        bool tuple = root && root->opcode == HLO_TUPLE;
        for (size_t i = 0; i < shape->n_tuple_shapes; i++)
            write_leaves(f, shape->tuple_shapes[i],
                         tuple ? cost_operand(f->g, root, (uint32_t)i) : NULL, cost_path(path, i));
        return;
    }
    const CostNode *update =
        root && root->opcode == HLO_DYNAMIC_UPDATE_SLICE ? cost_operand(f->g, root, 1) : NULL;
    float size = (float)cost_size(update ? update->shape : shape);
    f->fusion->bytes += size;
    f->fusion->output += size;
    if (path) cost_add_leaf(f->g, COST_NONE, path, size);
}

static void read_constants(Fusion *f)
{
    for (uint32_t i = 0; i < f->c->n; i++) {
        const CostNode *node = node_at(f, i);
        if (node->opcode != HLO_CONSTANT || cost_elements(node->shape) <= IMMEDIATE_ELEMENTS)
            continue;
        f->fusion->bytes += (float)cost_size(node->shape) * fminf(f->utilization[i], 1);
    }
}

static int64_t bytes_read(const Fusion *f, uint32_t i)
{
    return cost_integer(
        roundf((float)cost_size(node_at(f, i)->shape) * fminf(f->utilization[i], 1)));
}

static int by_tuple(const void *a, const void *b)
{
    const TupleReader *x = a, *y = b;
    if (x->tuple != y->tuple) return ORDER(x->tuple, y->tuple);
    if (x->index != y->index) return ORDER(x->index, y->index);
    return ORDER(x->node, y->node);
}

static void find_readers(Fusion *f)
{
    f->readers = prof_alloc(f->c->n * sizeof *f->readers);
    if (!f->readers) {
        no_memory(f);
        return;
    }
    for (uint32_t i = 0; i < f->c->n; i++) {
        const CostNode *node = node_at(f, i), *tuple = node->opcode == HLO_GET_TUPLE_ELEMENT
                                                           ? cost_operand(f->g, node, 0)
                                                           : NULL;
        if (tuple)
            f->readers[f->n_readers++] = (TupleReader){
                (uint32_t)(tuple - f->g->nodes) - f->c->first, i, node->op->more->tuple_index};
    }
    sort_array(f->readers, f->n_readers, sizeof *f->readers, by_tuple);
}

/* Returns the get-tuple-element that reads a part of a node's tuple; COST_NONE if there is none. */
static uint32_t reader_of(const Fusion *f, uint32_t tuple, int64_t index)
{
    TupleReader wanted = {tuple, 0, index};
    size_t low = LOWER_BOUND(i, 0, f->n_readers, by_tuple(&f->readers[i], &wanted) < 0);
    if (low == f->n_readers) return COST_NONE;
    const TupleReader *found = &f->readers[low];
    return found->tuple == tuple && found->index == index ? found->node : COST_NONE;
}

/* Returns the bytes that are read from a parameter, or from the part of it that `reader` (a
 * get-tuple-element, or the parameter itself) returns. A tuple that nothing takes apart counts as
 * its table of pointers, as in XLA. */
static int64_t read_leaves(Fusion *f, const Xla__ShapeProto *shape, uint32_t operand,
                           uint32_t reader, uint64_t path)
{
    int64_t n = 0;
    if (shape->element_type == XLA_TUPLE) {
        for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
            uint32_t part = reader_of(f, reader, (int64_t)i);
            n = cost_add(n, read_leaves(f, shape->tuple_shapes[i], operand,
                                        part == COST_NONE ? reader : part, cost_path(path, i)));
        }
        return n;
    }
    n = bytes_read(f, reader);
    if (path) cost_add_leaf(f->g, operand, path, (float)n);
    return n;
}

static void read_parameters(Fusion *f)
{
    CostNode *fusion = f->fusion;
    for (uint32_t i = 0; i < f->c->n; i++) {
        const CostNode *node = node_at(f, i);
        int64_t number = node->op->more->parameter_number;
        if (node->opcode == HLO_PARAMETER && number >= 0 && number < fusion->n_operands)
            f->parameters[number] = i;
    }
    for (uint32_t k = 0; k < fusion->n_operands; k++) {
        if (f->parameters[k] == COST_NONE) continue;
        if (!f->readers && node_at(f, f->parameters[k])->shape->element_type == XLA_TUPLE)
            find_readers(f);
        float bytes =
            (float)read_leaves(f, node_at(f, f->parameters[k])->shape, k, f->parameters[k], 0);
        fusion->figures[k] = bytes;
        fusion->bytes += bytes;
    }
}

/* ---- fusions ---- */

/* Gives a fusion around a gather or scatter the cost of that instruction. XLA ignores the rest of
 * such fusions. */
static bool cost_as_gather(CostGraph *g, CostNode *fusion, const CostComputation *c,
                           uint32_t *order, int depth)
{
    if (strcmp(fusion->op->more->fusion_kind, "kCustom") != 0) return false;
    uint32_t n = cost_order(g, c, true, order);
    for (uint32_t i = 0; i < n && !g->failed; i++) {
        CostNode *node = &g->nodes[order[i]];
        if (node->opcode != HLO_GATHER && node->opcode != HLO_SCATTER) continue;
        cost_instruction(g, node, depth + 1);
        fusion->flops = node->flops, fusion->bytes = node->bytes, fusion->output = node->output;
        if (!cost_has_room(g, fusion, node->n_operands)) return true;
        for (uint32_t k = 0; k < node->n_operands; k++) fusion->figures[k] = node->figures[k];
        return true;
    }
    return false;
}

static void cost_fused(Fusion *f)
{
    CostNode *fusion = f->fusion;
    fusion->flops = fusion->bytes = fusion->output = 0;
    if (!cost_has_room(f->g, fusion, f->c->sum.n_operands)) return;
    for (uint32_t k = 0; k < fusion->n_operands; k++)
        fusion->figures[k] = 0, f->parameters[k] = COST_NONE;
    /* What XLA leaves of the fused instructions' figures: those of operands and of parts that the
     * fusion itself lacks. */
    for (uint32_t k = fusion->n_operands; k < f->c->sum.n_operands; k++)
        fusion->figures[k] = f->c->sum.operands[k];
    cost_add_leaves(f->g, f->c->sum.leaves);
    set_utilizations(f);
    if (f->g->failed) return;
    write_leaves(f, fusion->shape, f->c->root == COST_NONE ? NULL : &f->g->nodes[f->c->root], 0);
    read_constants(f);
    read_parameters(f);
    fusion->leaves = cost_take_leaves(f->g, COST_LAST_OF);
}

void cost_fusion(CostGraph *g, CostNode *fusion, int depth)
{
    CostComputation *c = cost_called(g, fusion, 0);
    if (!c) fusion->unknown = true;
    if (!c || !cost_spend(g, c->n)) return;
    size_t n = c->n;
    uint32_t *words = prof_alloc((4 * n + fusion->n_operands + 1) * sizeof *words);
    float *reals = prof_alloc((2 * n + 1) * sizeof *reals);
    if (!words || !reals) {
        prof_nomem(g->err);
        g->failed = true;
    } else if (!cost_as_gather(g, fusion, c, words, depth) && cost_computation(g, c, depth + 1)) {
        Fusion f = {.g = g,
                    .fusion = fusion,
                    .c = c,
                    .order = words,
                    .heads = words + n,
                    .tails = words + 2 * n,
                    .marks = words + 3 * n,
                    .parameters = words + 4 * n,
                    .utilization = reals,
                    .root_utilization = reals + n};
        cost_fused(&f);
        prof_free(f.cells);
        prof_free(f.readers);
    }
    prof_free(words);
    prof_free(reals);
}
