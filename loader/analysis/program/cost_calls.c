// SPDX-License-Identifier: Apache-2.0
/* cost_calls.c: costs of convolutions and of library calls; see cost.h. */
#include "../../format/json.h"
#include "cost_graph.h"

enum { MAX_PERIOD = 1 << 16, MAX_POSITIONS = 1 << 20 };

/* ---- convolutions ---- */

__extension__ typedef __int128 Int128; /* products of two 64-bit numbers */

static int64_t ceil_div(Int128 a, int64_t b)
{
    return (int64_t)(a > 0 ? (a + b - 1) / b : -(-a / b));
}
static int64_t floor_div(Int128 a, int64_t b)
{
    return (int64_t)(a >= 0 ? a / b : -((-a + b - 1) / b));
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* Returns how many i in [0, n) have an x = i * step + start with 0 <= x < limit * dilation that is
 * a multiple of dilation; -1 if that takes too long to count. */
static int64_t positions(int64_t n, int64_t step, Int128 start, int64_t limit, int64_t dilation)
{
    Int128 end = (Int128)limit * dilation - dilation; /* the last valid x */
    if (n <= 0 || limit <= 0) return 0;
    if (!step) return start >= 0 && start <= end && start % dilation == 0 ? n : 0;
    Int128 bound = (Int128)n * step;
    if (start > end || start + bound < 0) return 0;
    int64_t low = start < 0 ? ceil_div(-start, step) : 0, high = floor_div(end - start, step);
    if (high > n - 1) high = n - 1;
    int64_t common = gcd(step % dilation, dilation),
            period = dilation / (common ? common : dilation);
    if (period > MAX_PERIOD) return -1;
    for (int64_t i = 0; i < period && low <= high; i++, low++)
        if (((Int128)low * step + start) % dilation == 0) return (high - low) / period + 1;
    return 0;
}

/* Returns the number of pairs of a kernel and an output position that use an element of the input;
 * -1 if there are too many to count. */
static int64_t valid_positions(CostGraph *g, const Xla__WindowDimension *d, int64_t kernel,
                               int64_t input, int64_t output)
{
    int64_t dilation = d->base_dilation > 1 ? d->base_dilation : 1;
    if (d->stride < 0 || d->window_dilation < 0) return -1;
    /* Two forms of full convolutions are computed without a loop. */
    if (input == output && kernel == output && input == d->base_dilation &&
        d->window_dilation == 1 && d->stride == (input > 2 ? input - 1 : 1) && !d->padding_low &&
        !d->padding_high)
        return input;
    if (input == 1 && kernel == output && d->window_dilation == 1 && d->base_dilation == 1 &&
        d->stride == 1 && d->padding_low == output - 1 && d->padding_high == output - 1)
        return output;
    bool by_kernel = kernel < output; /* loops over the shorter one */
    int64_t n = by_kernel ? kernel : output, sum = 0;
    if (n > MAX_POSITIONS || !cost_spend(g, (uint64_t)(n > 0 ? n : 0))) return -1;
    for (int64_t i = 0; i < n; i++) {
        Int128 start = (Int128)i * (by_kernel ? d->window_dilation : d->stride) - d->padding_low;
        int64_t here =
            positions(by_kernel ? output : kernel, by_kernel ? d->stride : d->window_dilation,
                      start, input, dilation);
        if (here < 0) return -1;
        sum = cost_add(sum, here);
    }
    return sum;
}

static int64_t limit(const Xla__ShapeProto *shape, const int64_t *dimensions, size_t n, size_t i)
{
    return i < n ? cost_dimension(shape, dimensions[i]) : -1;
}

/* Returns the pairs over all spatial dimensions; -1 if they cannot be counted. */
static int64_t all_positions(CostGraph *g, const CostNode *node, const Xla__ShapeProto *input,
                             const Xla__ShapeProto *kernel, const Xla__ShapeProto *output)
{
    const Xla__ConvolutionDimensionNumbers *d = node->op->more->rare->convolution_dimension_numbers;
    const Xla__Window *window = node->op->more->rare->window;
    int64_t product = 1;
    for (size_t i = 0; window && i < window->n_dimensions; i++) {
        int64_t k = limit(kernel, d->kernel_spatial_dimensions, d->n_kernel_spatial_dimensions, i);
        int64_t in = limit(input, d->input_spatial_dimensions, d->n_input_spatial_dimensions, i);
        int64_t out =
            limit(output, d->output_spatial_dimensions, d->n_output_spatial_dimensions, i);
        int64_t pairs =
            k < 0 || in < 0 || out < 0 ? -1 : valid_positions(g, window->dimensions[i], k, in, out);
        if (pairs < 0) return -1;
        product = cost_multiply(product, pairs);
    }
    return product;
}

int64_t cost_convolution_operations(CostGraph *g, const CostNode *node,
                                    const Xla__ShapeProto *input, const Xla__ShapeProto *kernel,
                                    const Xla__ShapeProto *output)
{
    const Xla__ConvolutionDimensionNumbers *d = node->op->more->rare->convolution_dimension_numbers;
    int64_t features = d ? cost_dimension(input, d->input_feature_dimension) : -1;
    int64_t batch = d ? cost_dimension(input, d->input_batch_dimension) : -1;
    int64_t outputs = d ? cost_dimension(output, d->output_feature_dimension) : -1;
    int64_t pairs = features < 0 || batch < 0 || outputs < 0
                        ? -1
                        : all_positions(g, node, input, kernel, output);
    if (pairs < 0) return -1;
    int64_t groups = node->op->more->rare->feature_group_count > 1
                         ? node->op->more->rare->feature_group_count
                         : 1;
    int64_t batches =
        node->op->more->rare->batch_group_count > 1 ? node->op->more->rare->batch_group_count : 1;
    return cost_multiply(
        2, cost_multiply(cost_multiply(cost_multiply(features / groups, outputs), batch / batches),
                         pairs));
}

void cost_convolution(CostGraph *g, CostNode *node, const Xla__ShapeProto *result)
{
    const CostNode *input = cost_operand(g, node, 0), *kernel = cost_operand(g, node, 1);
    int64_t operations =
        input && kernel ? cost_convolution_operations(g, node, input->shape, kernel->shape, result)
                        : -1;
    if (operations < 0) node->unknown = true;
    node->flops = operations < 0 ? 0 : (float)operations;
}

/* ---- calls of libraries ---- */

/* Returns the product of the dimensions that a matrix product sums over, by its configuration; -1
 * if the operand lacks one. */
static int64_t contracted(const CostGraph *g, const CostNode *node, const Xla__ShapeProto *left)
{
    size_t n;
    const char *config = (const char *)hlo_backend_config(g->module, node->op, &n);
    Json j = {config, config + n};
    int64_t product = 1, dimension;
    if (!n || !json_enter(&j, "gemm_backend_config") || !json_enter(&j, "dot_dimension_numbers") ||
        !json_enter(&j, "lhs_contracting_dimensions"))
        return product;
    if (!json_accept(&j, '[')) return product;
    do {
        if (!json_integer(&j, &dimension)) return product;
        int64_t size = cost_dimension(left, dimension);
        if (size < 0) return -1;
        product = cost_multiply(product, size);
    } while (json_accept(&j, ','));
    return product;
}

/* Counts only the first result of calls that also return scratch memory. */
static void count_first_output(CostNode *node)
{
    if (node->shape->element_type != XLA_TUPLE || !node->shape->n_tuple_shapes) return;
    node->output = node->bytes = (float)cost_size(node->shape->tuple_shapes[0]);
    for (uint32_t i = 0; i < node->n_operands; i++) node->bytes += node->figures[i];
}

static bool is_gemm(const char *target)
{
    static const char *const targets[] = {"__cublas$lt$matmul", "__cublas$lt$matmul$f8",
                                          "__cublas$lt$matmul$mx", "__cublas$lt$groupedMatmul"};
    for (size_t i = 0; i < COUNT(targets); i++)
        if (!strcmp(target, targets[i])) return true;
    return false;
}

static bool is_convolution(const char *target)
{
    static const char *const targets[] = {
        "__cudnn$convForward", "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter",
        "__cudnn$convBiasActivationForward", "__cudnn$convForwardGraph"};
    for (size_t i = 0; i < COUNT(targets); i++)
        if (!strcmp(target, targets[i])) return true;
    return false;
}

void cost_custom_call(CostGraph *g, CostNode *node)
{
    const char *target = node->op->more->custom_call_target;
    const CostNode *left = cost_operand(g, node, 0);
    if (is_gemm(target)) {
        count_first_output(node);
        int64_t width = left ? contracted(g, node, left->shape) : -1;
        if (width < 0) node->unknown = true;
        node->flops = (float)cost_multiply(
            2, cost_multiply(cost_elements(cost_array(node->shape)), width < 0 ? 0 : width));
    } else if (is_convolution(target)) {
        count_first_output(node);
        cost_convolution(g, node, cost_array(node->shape));
    } else { /* unknown: XLA uses -1 for everything, and adds it up */
        node->flops = node->bytes = node->output = -1;
        for (uint32_t i = 0; i < node->n_operands; i++) node->figures[i] = -1;
    }
}
