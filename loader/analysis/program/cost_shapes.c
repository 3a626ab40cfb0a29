// SPDX-License-Identifier: Apache-2.0
/* cost_shapes.c: sizes of shapes as in XLA's cost analysis for GPUs, and operations for each
 * element; see cost_graph.h. */
#include "cost_graph.h"
#include "../../format/shape.h"

#include <math.h>

enum { POINTER_BYTES = 8 };

int64_t cost_multiply(int64_t a, int64_t b)
{
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

int64_t cost_add(int64_t a, int64_t b) { return add_saturated(a, b); }

int64_t cost_integer(float value)
{
    if (isnan(value)) return 0;
    if (value >= 0x1p63f) return INT64_MAX;
    return value <= -0x1p63f ? INT64_MIN : (int64_t)value;
}

int cost_bits(int type) { return type == XLA_PRED ? 1 : primitive_bits(type); }

static bool is_array(const Xla__ShapeProto *shape)
{
    int type = shape->element_type;
    return type != XLA_TUPLE && type != XLA_OPAQUE && type != XLA_TOKEN && type != XLA_BUFFER;
}

int64_t cost_elements(const Xla__ShapeProto *shape)
{
    int64_t n = 1;
    if (!is_array(shape)) return 0;
    for (size_t i = 0; i < shape->n_dimensions; i++) {
        if (shape->dimensions[i] <= 0) return 0; /* empty or unbounded */
        n = cost_multiply(n, shape->dimensions[i]);
    }
    return n;
}

int64_t cost_all_elements(const Xla__ShapeProto *shape)
{
    if (shape->element_type != XLA_TUPLE) return cost_elements(shape);
    int64_t n = 0;
    for (size_t i = 0; i < shape->n_tuple_shapes; i++)
        n = cost_add(n, cost_all_elements(shape->tuple_shapes[i]));
    return n;
}

int64_t cost_size(const Xla__ShapeProto *shape)
{
    if (shape->element_type == XLA_TUPLE)
        return cost_multiply((int64_t)shape->n_tuple_shapes, POINTER_BYTES);
    if (shape->element_type == XLA_OPAQUE || shape->element_type == XLA_BUFFER)
        return POINTER_BYTES;
    if (shape->element_type == XLA_TOKEN || !shape->layout) return 0;
    int64_t n = cost_elements(shape), bits = shape->layout->element_size_in_bits;
    if (bits <= 0) return cost_multiply(n, primitive_bytes(shape->element_type));
    n = cost_multiply(n, bits);
    return n / 8 + (n % 8 != 0);
}

int64_t cost_leaf_sizes(const Xla__ShapeProto *shape)
{
    if (shape->element_type != XLA_TUPLE) return cost_size(shape);
    int64_t n = 0;
    for (size_t i = 0; i < shape->n_tuple_shapes; i++)
        n = cost_add(n, cost_leaf_sizes(shape->tuple_shapes[i]));
    return n;
}

const Xla__ShapeProto *cost_array(const Xla__ShapeProto *shape)
{
    return shape->element_type == XLA_TUPLE && shape->n_tuple_shapes ? shape->tuple_shapes[0]
                                                                     : shape;
}

int64_t cost_dimension(const Xla__ShapeProto *shape, int64_t i)
{
    return i >= 0 && (uint64_t)i < shape->n_dimensions && shape->dimensions[i] >= 0
               ? shape->dimensions[i]
               : -1;
}

int64_t cost_product(const Xla__ShapeProto *shape, const int64_t *dimensions, size_t n)
{
    int64_t product = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t size = cost_dimension(shape, dimensions[i]);
        if (size < 0) return -1;
        product = cost_multiply(product, size);
    }
    return product;
}

bool cost_in_main_memory(const Xla__ShapeProto *shape)
{
    return is_array(shape) && (!shape->layout || !shape->layout->memory_space);
}

/* XLA's cycles for sm_86 devices, which XProf uses for all GPUs. */
static const struct {
    uint8_t opcode, type;
    uint16_t cycles;
} measured[] = {
    {HLO_ADD, XLA_F64, 97},
    {HLO_ADD, XLA_C128, 97},
    {HLO_SUBTRACT, XLA_F64, 97},
    {HLO_SUBTRACT, XLA_C128, 97},
    {HLO_MULTIPLY, XLA_F64, 97},
    {HLO_MULTIPLY, XLA_C128, 270},
    {HLO_DIVIDE, XLA_S8, 370},
    {HLO_DIVIDE, XLA_S16, 367},
    {HLO_DIVIDE, XLA_S32, 306},
    {HLO_DIVIDE, XLA_S64, 918},
    {HLO_DIVIDE, XLA_U8, 306},
    {HLO_DIVIDE, XLA_U16, 302},
    {HLO_DIVIDE, XLA_U32, 115},
    {HLO_DIVIDE, XLA_U64, 838},
    {HLO_DIVIDE, XLA_F64, 2016},
    {HLO_DIVIDE, XLA_C64, 687},
    {HLO_DIVIDE, XLA_C128, 7941},
    {HLO_POWER, XLA_S8, 392},
    {HLO_POWER, XLA_S16, 396},
    {HLO_POWER, XLA_S64, 601},
    {HLO_POWER, XLA_U8, 388},
    {HLO_POWER, XLA_U16, 399},
    {HLO_POWER, XLA_U64, 604},
    {HLO_POWER, XLA_F16, 975},
    {HLO_POWER, XLA_F32, 925},
    {HLO_POWER, XLA_F64, 5511},
    {HLO_POWER, XLA_C64, 3351},
    {HLO_POWER, XLA_C128, 18205},
    {HLO_ATAN2, XLA_F16, 482},
    {HLO_ATAN2, XLA_F32, 486},
    {HLO_ATAN2, XLA_F64, 3747},
    {HLO_ATAN2, XLA_C64, 5353},
    {HLO_ATAN2, XLA_C128, 39027},
    {HLO_CBRT, XLA_F16, 925},
    {HLO_CBRT, XLA_F32, 867},
    {HLO_CBRT, XLA_F64, 6339},
    {HLO_COSINE, XLA_F16, 691},
    {HLO_COSINE, XLA_F32, 662},
    {HLO_COSINE, XLA_F64, 1717},
    {HLO_COSINE, XLA_C128, 6613},
    {HLO_SINE, XLA_F32, 662},
    {HLO_SINE, XLA_F64, 1789},
    {HLO_SINE, XLA_C128, 5878},
    {HLO_EXPONENTIAL, XLA_F16, 108},
    {HLO_EXPONENTIAL, XLA_F32, 86},
    {HLO_EXPONENTIAL, XLA_F64, 1652},
    {HLO_EXPONENTIAL, XLA_C64, 1360},
    {HLO_EXPONENTIAL, XLA_C128, 4028},
    {HLO_EXPONENTIAL_MINUS_ONE, XLA_F16, 396},
    {HLO_EXPONENTIAL_MINUS_ONE, XLA_F32, 381},
    {HLO_EXPONENTIAL_MINUS_ONE, XLA_F64, 1900},
    {HLO_EXPONENTIAL_MINUS_ONE, XLA_C64, 1400},
    {HLO_EXPONENTIAL_MINUS_ONE, XLA_C128, 4161},
    {HLO_LOG, XLA_F16, 266},
    {HLO_LOG, XLA_F32, 244},
    {HLO_LOG, XLA_F64, 608},
    {HLO_LOG, XLA_C64, 950},
    {HLO_LOG, XLA_C128, 7599},
    {HLO_LOG_PLUS_ONE, XLA_F16, 284},
    {HLO_LOG_PLUS_ONE, XLA_F32, 262},
    {HLO_LOG_PLUS_ONE, XLA_F64, 2073},
    {HLO_LOG_PLUS_ONE, XLA_C64, 842},
    {HLO_LOG_PLUS_ONE, XLA_C128, 6962},
    {HLO_LOGISTIC, XLA_F16, 226},
    {HLO_LOGISTIC, XLA_F32, 176},
    {HLO_LOGISTIC, XLA_F64, 2412},
    {HLO_RSQRT, XLA_F16, 97},
    {HLO_RSQRT, XLA_F32, 75},
    {HLO_RSQRT, XLA_F64, 698},
    {HLO_RSQRT, XLA_C64, 2383},
    {HLO_RSQRT, XLA_C128, 11318},
    {HLO_SQRT, XLA_F16, 97},
    {HLO_SQRT, XLA_F32, 75},
    {HLO_SQRT, XLA_F64, 986},
    {HLO_SQRT, XLA_C64, 3193},
    {HLO_SQRT, XLA_C128, 15606},
    {HLO_TANH, XLA_F16, 212},
    {HLO_TANH, XLA_F32, 190},
    {HLO_TANH, XLA_F64, 1609},
    {HLO_TANH, XLA_C128, 9939},
};
enum { USUAL_CYCLES = 3 };

int64_t cost_cycles(enum HloOpcode opcode, int type)
{
    for (size_t i = 0; i < COUNT(measured); i++)
        if (measured[i].opcode == opcode && measured[i].type == type) return measured[i].cycles;
    return USUAL_CYCLES;
}
