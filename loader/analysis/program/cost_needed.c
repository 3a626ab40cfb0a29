// SPDX-License-Identifier: Apache-2.0
/* cost_needed.c: the operations and bytes that instructions need on any device; see cost.h.
 *
 * This is the count of XLA's cost analysis (the flops of compiled.cost_analysis()): one for each
 * element that an operation computes, two for each pair that a matrix product multiplies, none for
 * transcendental functions and for operations that only move data. A library call counts as the
 * operation that it implements. NaN means unknown, and makes each sum unknown that it is part of.
 */
#include <math.h>

#include "../../format/json.h"
#include "cost_graph.h"

enum { MAX_CALLS = 100 };

typedef struct {
    CostGraph *g;
    double *sums;    /* by computation */
    double *lacking; /* by computation: bytes that XLA does not count; NaN: unknown */
    uint8_t *states; /* by computation */
} Needs;

static double count(int64_t n) { return n < 0 ? NAN : (double)n; }

/* ---- operations ---- */

static bool is_transcendental(enum HloOpcode opcode)
{
    switch (opcode) {
    case HLO_ACOS:
    case HLO_ACOSH:
    case HLO_ASIN:
    case HLO_ASINH:
    case HLO_ATAN2:
    case HLO_ATANH:
    case HLO_CBRT:
    case HLO_COSH:
    case HLO_COSINE:
    case HLO_ERF:
    case HLO_EXPONENTIAL:
    case HLO_EXPONENTIAL_MINUS_ONE:
    case HLO_LOG:
    case HLO_LOG_PLUS_ONE:
    case HLO_LOGISTIC:
    case HLO_POWER:
    case HLO_RSQRT:
    case HLO_SINE:
    case HLO_SINH:
    case HLO_SQRT:
    case HLO_TAN:
    case HLO_TANH: return true;
    default: return false;
    }
}

static double sum_of(Needs *n, const CostComputation *c, int depth);

static double called(Needs *n, const CostNode *node, size_t i, int depth)
{
    const CostComputation *c = cost_called(n->g, node, i);
    return c ? sum_of(n, c, depth + 1) : NAN;
}

/* Returns the operations of called computations: of a conditional the most expensive branch, of a
 * loop one iteration. */
static double called_all(Needs *n, const CostNode *node, int depth)
{
    double sum = 0;
    for (size_t i = 0; i < node->op->more->n_called_computation_ids; i++) {
        double one = called(n, node, i, depth);
        if (node->opcode != HLO_CONDITIONAL || isnan(one))
            sum += one;
        else if (one > sum)
            sum = one;
    }
    return sum;
}

static double select_and_scatter(Needs *n, const CostNode *node, int depth)
{
    double sources = (double)operand_elements(n->g, node, 1),
           window = (double)cost_window_elements(node->op->more->rare->window);
    return sources * (window - 1) * called(n, node, 0, depth) + sources * called(n, node, 1, depth);
}

/* ---- calls of libraries ---- */

/* A library call. The bytes that it reads and writes are known too. */
typedef struct {
    bool is_library;
    double operations;
} LibraryCall;

static bool config_of(const CostGraph *g, const CostNode *node, const char *member, Json *j)
{
    size_t n;
    const char *config = (const char *)hlo_backend_config(g->module, node->op, &n);
    *j = (Json){config, config + n};
    return n && json_enter(j, member);
}

/* Returns the product of the dimensions that a list in the dimension numbers names. A missing list
 * is empty. -1 if the shape lacks one of them. */
static int64_t listed_sizes(Json numbers, const char *list, const Xla__ShapeProto *shape)
{
    int64_t product = 1, dimension;
    if (!json_enter(&numbers, list) || !json_accept(&numbers, '[')) return product;
    while (json_integer(&numbers, &dimension)) {
        int64_t size = cost_dimension(shape, dimension);
        if (size < 0) return -1;
        product = cost_multiply(product, size);
        if (!json_accept(&numbers, ',')) break;
    }
    return product;
}

/* Finds the dimension numbers of a matrix product. Before 2024 nothing enclosed them in the
 * configuration. */
static bool product_numbers(const CostGraph *g, const CostNode *node, Json *j)
{
    if (config_of(g, node, "gemm_backend_config", j) && json_enter(j, "dot_dimension_numbers"))
        return true;
    return config_of(g, node, "dot_dimension_numbers", j);
}

static double matrix_product(const CostGraph *g, const CostNode *node)
{
    Json numbers;
    const CostNode *left = cost_operand(g, node, 0);
    if (!left || !product_numbers(g, node, &numbers)) return NAN;
    int64_t width = listed_sizes(numbers, "lhs_contracting_dimensions", left->shape);
    return width < 0 ? NAN
                     : count(cost_multiply(
                           2, cost_multiply(cost_elements(cost_array(node->shape)), width)));
}

/* Counts a convolution. Window and dimension numbers are those of the forward convolution; for
 * gradients, the operands and the result are other parts of it. */
static double convolution(CostGraph *g, const CostNode *node)
{
    const CostNode *a = cost_operand(g, node, 0), *b = cost_operand(g, node, 1);
    const char *target = node->op->more->custom_call_target;
    const Xla__ShapeProto *result = cost_array(node->shape);
    if (!a || !b) return NAN;
    if (!strcmp(target, "__cudnn$convBackwardInput"))
        return count(cost_convolution_operations(g, node, result, b->shape, a->shape));
    if (!strcmp(target, "__cudnn$convBackwardFilter"))
        return count(cost_convolution_operations(g, node, a->shape, result, b->shape));
    return count(cost_convolution_operations(g, node, a->shape, b->shape, result));
}

/* Returns the number of scores, batch x heads x queries x keys; -1 if the configuration has no such
 * shape. */
static int64_t scores(const CostGraph *g, const CostNode *node)
{
    Json j;
    int64_t n = 1, size;
    if (!config_of(g, node, "cudnn_fmha_backend_config", &j) ||
        !json_enter(&j, "intermediate_tensor_shape") || !json_enter(&j, "dimensions") ||
        !json_accept(&j, '['))
        return -1;
    do {
        if (!json_integer(&j, &size)) return -1;
        n = cost_multiply(n, size);
    } while (json_accept(&j, ','));
    return n;
}

/* Returns the length of a key, which the first product sums over. */
static int64_t key_length(const CostGraph *g, const CostNode *node, bool backward)
{
    Json j;
    const CostNode *query = cost_operand(g, node, 0);
    const char *numbers =
        backward ? "bmm1_grad_gemm2_dot_dimension_numbers" : "bmm1_dot_dimension_numbers";
    if (!query || !query->shape->n_dimensions) return -1;
    if (!backward && config_of(g, node, "cudnn_fmha_backend_config", &j) && json_enter(&j, numbers))
        return listed_sizes(j, "lhs_contracting_dimensions", query->shape);
    return cost_dimension(query->shape, (int64_t)query->shape->n_dimensions - 1);
}

/* Counts attention: scores = queries x keys, output = scores x values; backwards two products for
 * each. Scores that a backward call computes again, and masked parts, are not taken into account.
 * Values are as long as keys unless the output shows otherwise. */
static double attention(const CostGraph *g, const CostNode *node)
{
    bool backward = strstr(node->op->more->custom_call_target, "Backward") != NULL;
    int64_t n = scores(g, node), key = key_length(g, node, backward), value = key;
    const CostNode *query = cost_operand(g, node, 0);
    if (n < 0 || key <= 0 || !query) return NAN;
    int64_t queries = cost_elements(query->shape) / key,
            outputs = cost_elements(cost_array(node->shape));
    if (!backward && queries > 0 && outputs % queries == 0) value = outputs / queries;
    return count(cost_multiply(backward ? 4 : 2, cost_multiply(n, cost_add(key, value))));
}

static int64_t last_dimension(const CostNode *operand)
{
    return operand ? cost_dimension(operand->shape, (int64_t)operand->shape->n_dimensions - 1) : -1;
}

/* The same as the operations triangular-solve and cholesky. */
static double triangular_solve(const CostGraph *g, const CostNode *node)
{
    int64_t n = last_dimension(cost_operand(g, node, 0));
    return n < 0 ? NAN : count(cost_multiply(2, cost_multiply(n, operand_elements(g, node, 1))));
}

static double cholesky(const CostGraph *g, const CostNode *node)
{
    int64_t n = last_dimension(cost_operand(g, node, 0));
    return n < 0 ? NAN : count(cost_multiply(n, operand_elements(g, node, 0)) / 3);
}

static bool only_marks(const char *target)
{
    static const char *const targets[] = {"Sharding",
                                          "SPMDFullToShardShape",
                                          "SPMDShardToFullShape",
                                          "annotate_device_placement",
                                          "MoveToHost",
                                          "MoveToDevice",
                                          "AllocateBuffer",
                                          "PadToStatic",
                                          "SliceToDynamic",
                                          "xla.sdy.FuncResultSharding"};
    for (size_t i = 0; i < COUNT(targets); i++)
        if (!strcmp(target, targets[i])) return true;
    return false;
}

/* Returns the cost that the author of a Pallas kernel declared. */
static double estimate(const CostGraph *g, const CostNode *node)
{
    Json j;
    int64_t flops;
    bool found = config_of(g, node, "custom_call_config", &j) && json_enter(&j, "cost_estimate") &&
                 json_enter(&j, "flops") && json_integer(&j, &flops);
    return found ? count(flops) : NAN;
}

static LibraryCall library_call(CostGraph *g, const CostNode *node)
{
    const char *target = node->op->more->custom_call_target;
    if (!strcmp(target, "__cublas$gemm") || starts_with(target, "__cublas$lt$matmul"))
        return (LibraryCall){true, matrix_product(g, node)};
    if (!strcmp(target, "__cublas$lt$groupedMatmul")) // the sizes of its groups are data
        return (LibraryCall){true, NAN};
    if (starts_with(target, "__cudnn$conv") && strcmp(target, "__cudnn$convReorderFilter") &&
        strcmp(target, "__cudnn$convReorderFilterAndBias"))
        return (LibraryCall){true, convolution(g, node)};
    if (starts_with(target, "__cudnn$fmha")) return (LibraryCall){true, attention(g, node)};
    if (!strcmp(target, "__cublas$triangularSolve"))
        return (LibraryCall){true, triangular_solve(g, node)};
    if (!strcmp(target, "__cusolver$cholesky")) return (LibraryCall){true, cholesky(g, node)};
    return (LibraryCall){false, only_marks(target) ? 0 : estimate(g, node)};
}

/* Returns the bytes of the operands and of the result, without scratch memory (the last of several
 * results). */
static int64_t library_bytes(const CostGraph *g, const CostNode *node)
{
    int64_t bytes = cost_leaf_sizes(node->shape);
    if (node->shape->element_type == XLA_TUPLE && node->shape->n_tuple_shapes > 1) {
        const Xla__ShapeProto *last = node->shape->tuple_shapes[node->shape->n_tuple_shapes - 1];
        if (last->element_type == XLA_S8 || last->element_type == XLA_U8)
            bytes = cost_add(bytes, -cost_leaf_sizes(last));
    }
    for (uint32_t i = 0; i < node->n_operands; i++) {
        const CostNode *operand = cost_operand(g, node, i);
        if (operand) bytes = cost_add(bytes, cost_leaf_sizes(operand->shape));
    }
    return bytes;
}

/* ---- by opcode ---- */

static double needed(Needs *n, const CostNode *node, int depth)
{
    CostGraph *g = n->g;
    const CostNode *a = cost_operand(g, node, 0), *b = cost_operand(g, node, 1);
    switch ((enum HloOpcode)node->opcode) {
    case HLO_DOT:
    case HLO_SCALED_DOT:
    case HLO_RAGGED_DOT: return count(cost_dot_operations(g, node));
    case HLO_CONVOLUTION:
        return a && b ? count(cost_convolution_operations(g, node, a->shape, b->shape, node->shape))
                      : NAN;
    case HLO_SORT: return count(cost_sort_operations(g, node));
    case HLO_FFT: return count(cost_fft_operations(g, node));
    case HLO_TRIANGULAR_SOLVE: return triangular_solve(g, node);
    case HLO_CHOLESKY: return cholesky(g, node);
    case HLO_CUSTOM_CALL: return library_call(g, node).operations;
    case HLO_MAP: return called(n, node, 0, depth) * (double)cost_all_elements(node->shape);
    case HLO_REDUCE:
        return called(n, node, 0, depth) *
               (double)(operand_elements(g, node, 0) - cost_elements(cost_array(node->shape)));
    case HLO_REDUCE_WINDOW:
        return called(n, node, 0, depth) * (double)cost_reduce_window_applications(node);
    case HLO_SELECT_AND_SCATTER: return select_and_scatter(n, node, depth);
    case HLO_SCATTER:
        return called(n, node, 0, depth) *
               (double)operand_elements(g, node, node->n_operands / 2 + 1);
    case HLO_ALL_REDUCE:
    case HLO_ALL_REDUCE_START: return (double)cost_all_elements(node->shape);
    case HLO_FUSION:
    case HLO_CALL:
    case HLO_WHILE:
    case HLO_CONDITIONAL:
    case HLO_ASYNC_START: return called_all(n, node, depth);
    case HLO_SCAN:
    case HLO_UNKNOWN: return NAN;
    case HLO_COPY:
    case HLO_RNG:
    case HLO_BITCAST: return 0;
    default: break;
    }
    bool each =
        hlo_is_elementwise((enum HloOpcode)node->opcode) || node->opcode == HLO_BITCAST_CONVERT;
    return each && !is_transcendental((enum HloOpcode)node->opcode)
               ? (double)cost_all_elements(node->shape)
               : 0;
}

/* Returns the weight of an operation. Peaks are for 16-bit operations; those on narrower operands
 * are faster and count less. A library call goes by its first operand. */
double cost_weight(const CostGraph *g, const CostNode *node)
{
    int widest = 0;
    uint32_t n = node->opcode == HLO_CUSTOM_CALL && node->n_operands ? 1 : node->n_operands;
    for (uint32_t i = 0; i < n; i++) {
        const CostNode *operand = cost_operand(g, node, i);
        int bits = operand ? cost_bits(operand->shape->element_type) : 0;
        if (bits > widest) widest = bits;
    }
    if (widest == 8) return 0.5;
    return widest == 4 ? 0.25 : 1;
}

/* Returns the bytes that XLA does not count of the library calls in called computations. It counts
 * the most expensive branch of a conditional: which one that is depends on what it does not count.
 * What an asynchronous start runs counts in the computation around it. */
static double called_lack(const Needs *n, const CostNode *node)
{
    double sum = 0;
    for (size_t i = 0; i < node->op->more->n_called_computation_ids; i++) {
        const CostComputation *c = cost_called(n->g, node, i);
        size_t at = c ? (size_t)(c - n->g->computations) : 0;
        if (!c || n->states[at] != COST_DONE) return NAN;
        if (n->lacking[at] != 0 && node->opcode != HLO_CALL && node->opcode != HLO_WHILE)
            return NAN;
        sum += n->lacking[at];
    }
    return sum;
}

/* xla: the bytes that XLA counts, which are 0 if the node never runs. */
static double needed_bytes(const Needs *n, const CostNode *node, double xla)
{
    switch ((enum HloOpcode)node->opcode) {
    case HLO_CUSTOM_CALL:
        return library_call(n->g, node).is_library ? (double)library_bytes(n->g, node) : NAN;
    case HLO_CALL:
    case HLO_WHILE:
    case HLO_CONDITIONAL:
    case HLO_ASYNC_START: return node->visited ? xla + called_lack(n, node) : 0;
    default: return xla;
    }
}

static double sum_of(Needs *n, const CostComputation *c, int depth)
{
    CostGraph *g = n->g;
    size_t at = (size_t)(c - g->computations);
    if (n->states[at] == COST_DONE) return n->sums[at];
    if (n->states[at] == COST_OPEN || depth > MAX_CALLS || !cost_spend(g, c->n)) return NAN;
    n->states[at] = COST_OPEN;
    double sum = 0, lacking = 0;
    for (uint32_t i = c->first; i < c->first + c->n; i++) {
        CostNode *node = &g->nodes[i];
        double xla = node->need.bytes, operations = needed(n, node, depth);
        node->need = (CostNeed){operations, needed_bytes(n, node, xla)};
        sum += operations;
        lacking += node->need.bytes - xla;
    }
    n->states[at] = COST_DONE, n->lacking[at] = lacking;
    return n->sums[at] = sum;
}

bool cost_needs(CostGraph *g)
{
    Needs n = {.g = g,
               .sums = arena_alloc(&g->arena, g->n_computations * sizeof *n.sums),
               .lacking = arena_alloc(&g->arena, g->n_computations * sizeof *n.lacking),
               .states = arena_alloc(&g->arena, g->n_computations)};
    if (!n.sums || !n.lacking || !n.states) {
        prof_nomem(g->err);
        return false;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        CostNode *node = &g->nodes[i];
        double xla = node->visited ? (double)node->bytes : 0;
        node->need = (CostNeed){0, xla};
    }
    for (size_t i = 0; i < g->n_computations; i++) sum_of(&n, &g->computations[i], 0);
    for (uint32_t i = 0; i < g->n_nodes && g->failed; i++) g->nodes[i].need = (CostNeed){NAN, NAN};
    return true;
}
