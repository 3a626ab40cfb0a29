// SPDX-License-Identifier: Apache-2.0
/* cost_ops.c: the cost of each operation; see cost.h and cost_graph.h.
 *
 * By default an operation has no flops, reads each operand once and writes its output once; of a
 * tuple it reads only the table of pointers. Integers are converted to floats where XLA converts
 * them, because the digits depend on it. */
#include "cost_graph.h"

#include <math.h>

/* ---- figures ---- */

bool cost_has_room(CostGraph *g, CostNode *node, uint32_t n)
{
    if (n <= node->n_figures) return true;
    float *figures = arena_alloc(&g->arena, n * sizeof *figures);
    if (!figures) {
        prof_nomem(g->err);
        g->failed = true;
        return false;
    }
    node->figures = figures, node->n_figures = n;
    return cost_spend(g, n);
}

static int64_t operand_size(const CostGraph *g, const CostNode *node, uint32_t i)
{
    const CostNode *operand = cost_operand(g, node, i);
    return operand ? cost_size(operand->shape) : 0;
}

static void set_figure(CostNode *node, uint32_t i, float bytes)
{
    if (i < node->n_operands) node->figures[i] = bytes;
}

static void default_figures(CostGraph *g, CostNode *node)
{
    node->output = node->bytes = (float)cost_leaf_sizes(node->shape);
    node->flops = 0, node->reread = 1;
    for (uint32_t i = 0; i < node->n_operands; i++)
        node->bytes += node->figures[i] = (float)operand_size(g, node, i);
}

static void no_figures(CostNode *node)
{
    node->output = 0;
    for (uint32_t i = 0; i < node->n_operands; i++) node->figures[i] = 0;
}

static void nothing(CostNode *node)
{
    no_figures(node);
    node->bytes = 0;
}

/* ---- arithmetic ---- */

static void elementwise(CostNode *node)
{
    node->flops = (float)cost_multiply(cost_all_elements(node->shape),
                                       cost_cycles(node->opcode, node->shape->element_type));
}

int64_t cost_dot_operations(const CostGraph *g, const CostNode *node)
{
    const Xla__HloInstructionProto *op = node->op;
    const Xla__RaggedDotDimensionNumbers *ragged = op->more->rare->ragged_dot_dimension_numbers;
    const Xla__DotDimensionNumbers *d = node->opcode == HLO_RAGGED_DOT
                                            ? (ragged ? ragged->dot_dimension_numbers : NULL)
                                            : op->more->rare->dot_dimension_numbers;
    const CostNode *left = cost_operand(g, node, 0);
    int64_t n = cost_elements(node->shape);
    if (node->opcode == HLO_RAGGED_DOT) { /* each row belongs to one group only: the first
                                             dimensions of the result do not count */
        n = 1;
        for (size_t i = ragged ? ragged->n_rhs_group_dimensions : 0; i < node->shape->n_dimensions;
             i++)
            n = cost_multiply(n, cost_dimension(node->shape, (int64_t)i));
    }
    int64_t width = left ? cost_product(left->shape, d ? d->lhs_contracting_dimensions : NULL,
                                        d ? d->n_lhs_contracting_dimensions : 0)
                         : -1;
    return width < 0 || n < 0 ? -1 : cost_multiply(2, cost_multiply(n, width));
}

static void dot(const CostGraph *g, CostNode *node)
{
    int64_t operations = cost_dot_operations(g, node);
    if (operations < 0) node->unknown = true;
    node->flops = operations < 0 ? 0 : (float)operations;
}

static void concatenate(const CostGraph *g, CostNode *node)
{
    enum { COMPARE_AND_BRANCH = 6, BOTH_BRANCHES = 400, WARP = 32 };
    int64_t dimension = node->op->more->n_dimensions ? node->op->more->dimensions[0] : 0;
    const CostNode *first = cost_operand(g, node, 0);
    bool crosses = dimension > 0 && first &&
                   cost_dimension(first->shape, dimension) % WARP !=
                       0; /* a warp reads across the border of two operands */
    node->flops = (float)cost_multiply(crosses ? BOTH_BRANCHES : COMPARE_AND_BRANCH,
                                       cost_all_elements(node->shape));
}

static int64_t floor_log2(int64_t n)
{
    return n > 0 ? 63 - __builtin_clzll((unsigned long long)n) : 0;
}

int64_t cost_sort_operations(const CostGraph *g, const CostNode *node)
{
    int64_t n = operand_elements(g, node, 0);
    return cost_multiply(n, n > 1 ? floor_log2(n - 1) + 1 : 0);
}

int64_t cost_fft_operations(const CostGraph *g, const CostNode *node)
{
    int64_t logs = 1;
    for (size_t i = 0; i < node->op->more->rare->n_fft_length; i++)
        logs = cost_multiply(logs, floor_log2(node->op->more->rare->fft_length[i]));
    return cost_multiply(cost_multiply(8, logs), operand_elements(g, node, 0));
}

static int64_t last_dimension(const CostNode *operand)
{
    int64_t size =
        operand ? cost_dimension(operand->shape, (int64_t)operand->shape->n_dimensions - 1) : -1;
    return size < 0 ? 0 : size;
}

static void triangular_solve(CostGraph *g, CostNode *node)
{
    float a = (float)operand_size(g, node, 0), b = (float)operand_size(g, node, 1);
    node->bytes = (float)cost_size(node->shape) + a / 2 + b;
    set_figure(node, 0, b); /* XLA assigns the size of the second operand to the first */
    set_figure(node, 1, b);
    node->flops = (float)cost_multiply(
        2, cost_multiply(last_dimension(cost_operand(g, node, 0)), operand_elements(g, node, 1)));
}

static void cholesky(CostGraph *g, CostNode *node)
{
    float half = (float)operand_size(g, node, 0) / 2;
    node->bytes = half + half;
    node->output = half;
    set_figure(node, 0, half);
    node->flops = (float)(cost_multiply(last_dimension(cost_operand(g, node, 0)),
                                        operand_elements(g, node, 0)) /
                          3);
}

/* ---- operations that apply a computation ---- */

/* Returns the flops of one application of the i-th called computation. If there is none, 0, and the
 * cost becomes unknown. */
static float applied(CostGraph *g, CostNode *node, size_t i, int depth)
{
    CostComputation *c = cost_called(g, node, i);
    const CostSum *sum = c ? cost_computation(g, c, depth + 1) : NULL;
    if (!sum) node->unknown = true;
    return sum ? sum->flops : 0;
}

static void reduce(CostGraph *g, CostNode *node, int depth)
{
    uint32_t n_inputs = node->n_operands / 2;
    int64_t n = cost_elements(cost_array(node->shape)), bytes = cost_leaf_sizes(node->shape);
    node->flops = applied(g, node, 0, depth) * (float)cost_add(operand_elements(g, node, 0), -n);
    node->output = (float)bytes;
    for (uint32_t i = 0; i < n_inputs; i++) bytes = cost_integer((float)bytes + node->figures[i]);
    for (uint32_t i = n_inputs; i < node->n_operands;
         i++) { /* an initial value is read for each element of the output */
        int64_t read = cost_multiply(n, operand_size(g, node, i));
        node->figures[i] = (float)read;
        bytes = cost_add(bytes, read);
    }
    node->reread = (float)n;
    node->bytes = (float)bytes;
}

int64_t cost_window_elements(const Xla__Window *window)
{
    int64_t n = 1;
    for (size_t i = 0; window && i < window->n_dimensions; i++)
        n = cost_multiply(n, window->dimensions[i]->size);
    return n;
}

int64_t cost_reduce_window_applications(const CostNode *node)
{
    const Xla__Window *window = node->op->more->rare->window;
    const Xla__ShapeProto *result = cost_array(node->shape);
    int64_t n = cost_elements(result),
            applications = cost_multiply(cost_add(cost_window_elements(window), -1), n);
    size_t n_wide = 0, wide = 0;
    for (size_t i = 0; window && i < window->n_dimensions; i++)
        if (window->dimensions[i]->size != 1) wide = i, n_wide++;
    if (n_wide == 1) { /* a window over everything before, as for cumulative sums, needs one pass */
        const Xla__WindowDimension *d = window->dimensions[wide];
        int64_t size = cost_dimension(result, (int64_t)wide);
        if (size > 1 && d->padding_low == size - 1 && d->padding_high == size - 1 &&
            d->size == cost_add(cost_multiply(2, size), -1))
            applications = cost_add(n / size, size - 1);
    }
    return applications;
}

static void select_and_scatter(CostGraph *g, CostNode *node, int depth)
{
    int64_t sources = operand_elements(g, node, 1),
            selected = cost_multiply(
                sources, cost_add(cost_window_elements(node->op->more->rare->window), -1));
    node->flops =
        (float)selected * applied(g, node, 0, depth) + (float)sources * applied(g, node, 1, depth);
}

static void scatter(CostGraph *g, CostNode *node, int depth)
{
    uint32_t n = node->n_operands / 2; /* n arrays, the indices, n updates */
    int64_t updates = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t update = operand_size(g, node, n + 1 + i);
        updates = cost_add(updates, update);
        node->figures[i] = (float)update;
    }
    node->bytes = (float)cost_add(cost_multiply(3, updates), operand_size(g, node, n));
    node->output = (float)updates;
    node->flops = applied(g, node, 0, depth) * (float)operand_elements(g, node, n + 1);
}

/* ---- slices ---- */

static float share(int64_t part, int64_t whole)
{
    return whole ? (float)((double)part / (double)whole) : 0;
}

static void slice(CostGraph *g, CostNode *node)
{
    int64_t out = cost_size(node->shape),
            indices = node->opcode == HLO_SLICE ? 0 : operand_size(g, node, 1);
    node->bytes = (float)cost_add(cost_multiply(2, out), indices);
    set_figure(node, 0, (float)out);
    node->reread = share(cost_elements(node->shape), operand_elements(g, node, 0));
}

static void dynamic_update_slice(CostGraph *g, CostNode *node)
{
    int64_t update = operand_size(g, node, 1), n = cost_elements(node->shape);
    node->bytes = (float)cost_add(cost_multiply(2, update), operand_size(g, node, 2));
    node->output = (float)update;
    set_figure(node, 0, 0);
    node->reread = share(cost_add(n, -operand_elements(g, node, 1)), n);
}

/* ---- collectives ---- */

/* Returns the size of a group along axes of a mesh. */
static int64_t mesh_ranks(const Xla__MeshAxesReplicaGroupListProto *list)
{
    int64_t n = 1;
    for (size_t i = 0; list->mesh && i < list->n_axes; i++) {
        const Xla__AxisRefProto *axis = list->axes[i];
        if (axis->sub_axis_info)
            n = cost_multiply(n, axis->sub_axis_info->size);
        else if (axis->mesh_axis_index >= 0 && (uint64_t)axis->mesh_axis_index < list->mesh->n_axes)
            n = cost_multiply(n, list->mesh->axes[axis->mesh_axis_index]->size);
    }
    return n;
}

/* Returns the number of devices in the largest group. Fails as XLA does if a collective of global
 * ids has no groups. */
static int64_t ranks(CostGraph *g, const Xla__HloInstructionProto *op)
{
    const Xla__HloInstructionRare *rare = op->more->rare;
    const Xla__CollectiveDeviceListProto *list =
        rare->n_replica_groups ? NULL : rare->collective_device_list;
    Xla__ReplicaGroup *const *groups = list ? list->replica_groups : rare->replica_groups;
    size_t n_groups = list ? list->n_replica_groups : rare->n_replica_groups;
    int64_t n = 1;
    if (rare->mesh_axes_replica_group_list) {
        n = mesh_ranks(rare->mesh_axes_replica_group_list);
    } else if (rare->iota_collective_device_list) {
        n = rare->iota_collective_device_list->num_devices_per_group;
    } else if (!n_groups && rare->channel_id > 0 && rare->use_global_device_ids) {
        g->failed = true;
    }
    for (size_t i = 0; i < n_groups; i++)
        if (n < (int64_t)groups[i]->n_replica_ids) n = (int64_t)groups[i]->n_replica_ids;
    return n > 0 ? n : 1;
}

static void all_reduce(CostGraph *g, CostNode *node)
{
    int64_t bytes = cost_leaf_sizes(node->shape);
    ranks(g, node->op);
    for (uint32_t i = 0; i < node->n_operands && node->opcode == HLO_ALL_REDUCE; i++)
        bytes = cost_add(bytes, operand_size(g, node, i));
    node->bytes = (float)bytes;
    const CostComputation *reducer = cost_called(g, node, 0);
    enum HloOpcode opcode =
        reducer && reducer->root != COST_NONE ? g->nodes[reducer->root].opcode : HLO_UNKNOWN;
    node->flops = (float)cost_multiply(cost_all_elements(node->shape),
                                       cost_cycles(opcode, node->shape->element_type));
}

/* Returns the bytes that a ring moves for shares of `bytes`: there are n shares, and each is passed
 * on 2n-1 times. */
static int64_t ring_bytes(int64_t bytes, int64_t n)
{
    int64_t part = bytes / n;
    return cost_add(cost_multiply(part, cost_add(cost_multiply(2, n), -1)), cost_multiply(part, n));
}

static void all_gather(CostGraph *g, CostNode *node)
{
    int64_t bytes = cost_leaf_sizes(node->shape);
    const Xla__ShapeProto *shape = node->shape;
    if (node->opcode == HLO_ALL_GATHER_START && shape->element_type == XLA_TUPLE &&
        shape->n_tuple_shapes)
        bytes = cost_add(
            /* the shape includes the operand, too */
            bytes, -cost_leaf_sizes(shape->tuple_shapes[0]));
    node->bytes = (float)ring_bytes(bytes, ranks(g, node->op));
}

/* Sets the flops and bytes of `to` for a reduce-scatter, or for one that an async-start wraps. */
static void reduce_scatter(CostGraph *g, const CostNode *node, CostNode *to)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < node->n_operands; i++)
        bytes = cost_add(bytes, operand_size(g, node, i));
    to->bytes = (float)ring_bytes(bytes, ranks(g, node->op));
    const CostComputation *reducer = cost_called(g, node, 0);
    enum HloOpcode opcode =
        reducer && reducer->root != COST_NONE ? g->nodes[reducer->root].opcode : HLO_UNKNOWN;
    to->flops = (float)cost_multiply(cost_all_elements(node->shape),
                                     cost_cycles(opcode, node->shape->element_type));
}

static void async_start(CostGraph *g, CostNode *node, int depth)
{
    nothing(node);
    CostComputation *c = cost_called(g, node, 0);
    if (!c || !cost_computation(g, c, depth + 1)) return;
    const CostNode *wrapped = c->root != COST_NONE ? &g->nodes[c->root] : NULL;
    if (wrapped && wrapped->opcode == HLO_REDUCE_SCATTER) reduce_scatter(g, wrapped, node);
}

/* ---- control flow ---- */

static float larger(float a, float b) { return a < b ? b : a; }

/* Adds the sums of a computation. With `largest`, only what exceeds those of the branches before.
 */
static void set_sum(CostNode *node, const CostSum *sum, bool largest)
{
    node->flops = largest ? larger(node->flops, sum->flops) : node->flops + sum->flops;
    node->bytes = largest ? larger(node->bytes, sum->bytes) : node->bytes + sum->bytes;
    node->output = largest ? larger(node->output, sum->output) : node->output + sum->output;
    for (uint32_t i = 0; i < sum->n_operands; i++)
        node->figures[i] = largest ? larger(node->figures[i], sum->operands[i])
                                   : node->figures[i] + sum->operands[i];
}

/* Makes room for the figures of all operand numbers of the callees. */
static bool call_has_room(CostGraph *g, CostNode *node)
{
    uint32_t n = 0;
    for (size_t i = 0; i < node->op->more->n_called_computation_ids; i++) {
        const CostComputation *c = cost_called(g, node, i);
        if (c && c->sum.n_operands > n) n = c->sum.n_operands;
    }
    return cost_has_room(g, node, n);
}

static void call(CostGraph *g, CostNode *node, int depth)
{
    bool conditional = node->opcode == HLO_CONDITIONAL, first = true;
    nothing(node);
    for (size_t i = 0; i < node->op->more->n_called_computation_ids && !g->failed; i++) {
        CostComputation *c = cost_called(g, node, i);
        if (c) cost_computation(g, c, depth + 1);
    }
    if (g->failed || !call_has_room(g, node)) return;
    for (size_t i = 0; i < node->op->more->n_called_computation_ids; i++) {
        const CostComputation *c = cost_called(g, node, i);
        if (!c) continue;
        set_sum(node, &c->sum, conditional && !first);
        cost_add_leaves(g, c->sum.leaves);
        first = false;
    }
    node->leaves = cost_take_leaves(g, conditional ? COST_LARGEST_OF : COST_SUM_OF);
}

/* ---- transfers ---- */

static void add_leaves(CostGraph *g, const Xla__ShapeProto *shape, uint32_t operand, uint64_t path)
{
    if (shape->element_type != XLA_TUPLE) {
        cost_add_leaf(g, operand, path, (float)cost_size(shape));
        return;
    }
    for (size_t i = 0; i < shape->n_tuple_shapes; i++)
        add_leaves(g, shape->tuple_shapes[i], operand, cost_path(path, i));
}

/* Data from the host counts as written, data to the host as read, each part separately. */
static void feed(CostGraph *g, CostNode *node)
{
    int64_t bytes = 0;
    if (node->opcode == HLO_INFEED) {
        node->bytes = node->output = (float)cost_leaf_sizes(node->shape);
        add_leaves(g, node->shape, COST_NONE, 0);
    }
    for (uint32_t i = 0; i < node->n_operands && node->opcode == HLO_OUTFEED; i++) {
        const CostNode *operand = cost_operand(g, node, i);
        if (!operand) continue;
        int64_t leaves = cost_leaf_sizes(operand->shape);
        node->figures[i] = (float)leaves;
        node->bytes = (float)(bytes = cost_add(bytes, leaves));
        add_leaves(g, operand->shape, i, 0);
    }
    node->leaves = cost_take_leaves(g, COST_SUM_OF);
}

/* Returns whether a transpose only renames dimensions, without moving data. */
static bool is_bitcast(const CostGraph *g, const CostNode *node)
{
    const CostNode *operand = cost_operand(g, node, 0);
    const Xla__LayoutProto *to = node->shape->layout,
                           *from = operand ? operand->shape->layout : NULL;
    const Xla__HloInstructionProto *op = node->op;
    if (!to || !from || operand->shape->element_type != node->shape->element_type) return false;
    if (to->n_minor_to_major != op->more->n_dimensions ||
        from->n_minor_to_major != op->more->n_dimensions)
        return false;
    for (size_t i = 0; i < op->more->n_dimensions; i++) {
        int64_t d = to->minor_to_major[i];
        if (d < 0 || (uint64_t)d >= op->more->n_dimensions ||
            op->more->dimensions[d] != from->minor_to_major[i])
            return false;
    }
    return true;
}

/* ---- by opcode ---- */

static void by_opcode(CostGraph *g, CostNode *node, int depth)
{
    switch ((enum HloOpcode)node->opcode) {
    case HLO_COPY:
    case HLO_RNG: break;
    case HLO_MAP:
        node->flops = applied(g, node, 0, depth) * (float)cost_all_elements(node->shape);
        break;
    case HLO_SCAN:
        node->flops = applied(g, node, 0, depth) * (float)operand_elements(g, node, 1);
        break; /* XLA uses the second operand, whatever it is */
    case HLO_DOT:
    case HLO_SCALED_DOT:
    case HLO_RAGGED_DOT: dot(g, node); break;
    case HLO_CONVOLUTION: cost_convolution(g, node, node->shape); break;
    case HLO_CUSTOM_CALL: cost_custom_call(g, node); break;
    case HLO_CONCATENATE: concatenate(g, node); break;
    case HLO_REDUCE: reduce(g, node, depth); break;
    case HLO_REDUCE_WINDOW:
        node->flops = applied(g, node, 0, depth) * (float)cost_reduce_window_applications(node);
        break;
    case HLO_SELECT_AND_SCATTER: select_and_scatter(g, node, depth); break;
    case HLO_SORT: node->flops = (float)cost_sort_operations(g, node); break;
    case HLO_FFT: node->flops = (float)cost_fft_operations(g, node); break;
    case HLO_TRIANGULAR_SOLVE: triangular_solve(g, node); break;
    case HLO_CHOLESKY: cholesky(g, node); break;
    case HLO_ALL_REDUCE:
    case HLO_ALL_REDUCE_START: all_reduce(g, node); break;
    case HLO_REDUCE_SCATTER: reduce_scatter(g, node, node); break;
    case HLO_ALL_GATHER:
    case HLO_ALL_GATHER_START: all_gather(g, node); break;
    case HLO_SLICE:
    case HLO_DYNAMIC_SLICE:
    case HLO_GATHER: slice(g, node); break;
    case HLO_DYNAMIC_UPDATE_SLICE: dynamic_update_slice(g, node); break;
    case HLO_SCATTER: scatter(g, node, depth); break;
    case HLO_TRANSPOSE:
        if (is_bitcast(g, node)) nothing(node);
        break;
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_BITCAST:
    case HLO_AFTER_ALL:
    case HLO_ADD_DEPENDENCY:
    case HLO_DOMAIN: nothing(node); break;
    case HLO_TUPLE:
        no_figures(node);
        node->bytes = node->output = (float)cost_size(node->shape);
        break;
    case HLO_INFEED:
    case HLO_OUTFEED: feed(g, node); break;
    case HLO_ASYNC_START: async_start(g, node, depth); break;
    case HLO_CALL:
    case HLO_WHILE:
    case HLO_CONDITIONAL: call(g, node, depth); break;
    case HLO_FUSION: cost_fusion(g, node, depth); break;
    case HLO_UNKNOWN: node->unknown = true; break;
    case HLO_BITCAST_CONVERT: elementwise(node); break;
    default:
        if (hlo_is_elementwise((enum HloOpcode)node->opcode)) elementwise(node);
        break;
    }
}

void cost_instruction(CostGraph *g, CostNode *node, int depth)
{
    default_figures(g, node);
    by_opcode(g, node, depth);
}
