// SPDX-License-Identifier: Apache-2.0
/* hlo_verify_rules.c: XLA's requirements for each operation; see hlo_verify_rules.h. */
#include "hlo_verify_rules.h"

#include "../../format/hlo_opcode.h"
#include "../../format/shape.h"

/* ---- shapes ---- */

static bool is_array(const Xla__ShapeProto *shape)
{
    return primitive_bits(shape->element_type) != 0;
}

/* Returns whether the order is a permutation. Not checked for more dimensions than arrays can have.
 */
static bool is_permutation(const int64_t *order, size_t n_order, size_t n)
{
    enum { MOST = 1024 };
    bool seen[MOST] = {false};
    if (n_order != n || n > MOST) return n_order == n;
    for (size_t i = 0; i < n; i++) {
        if (order[i] < 0 || (uint64_t)order[i] >= n || seen[order[i]]) return false;
        seen[order[i]] = true;
    }
    return true;
}

/* INT64_MIN: a dimension without a bound. */
static const char *array_fault(const Xla__ShapeProto *shape)
{
    int64_t bytes = primitive_bytes(shape->element_type);
    for (size_t i = 0; i < shape->n_dimensions; i++) {
        int64_t n = shape->dimensions[i];
        if (n < 0 && n != INT64_MIN) return "a dimension is negative in the shape of";
        if (n && n != INT64_MIN && __builtin_mul_overflow(bytes, n, &bytes))
            return "an array is larger than any memory in the shape of";
    }
    if (shape->n_is_dynamic_dimension && shape->n_is_dynamic_dimension != shape->n_dimensions)
        return "the number of is_dynamic_dimension is not that of dimensions in the shape of";
    if (!shape->layout) return NULL;
    return is_permutation(shape->layout->minor_to_major, shape->layout->n_minor_to_major,
                          shape->n_dimensions)
               ? NULL
               : "a layout does not fit its array in the shape of";
}

const char *hlo_shape_fault(const Xla__ShapeProto *shape)
{
    if (shape->element_type <= XLA_INVALID || shape->element_type >= N_HLO_TYPES)
        return "there is no valid element type in the shape of";
    if (shape->element_type == XLA_BUFFER && !shape->n_tuple_shapes)
        return "a buffer has no content in the shape of";
    if (is_array(shape)) return array_fault(shape);
    if (shape->layout) return "something other than an array has a layout in the shape of";
    for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
        const char *fault = hlo_shape_fault(shape->tuple_shapes[i]);
        if (fault) return fault;
    }
    return NULL;
}

/* Compares arrays without their layouts. */
static bool same_array(const Xla__ShapeProto *a, const Xla__ShapeProto *b)
{
    if (a->element_type != b->element_type || a->n_dimensions != b->n_dimensions ||
        a->n_tuple_shapes != b->n_tuple_shapes)
        return false;
    for (size_t i = 0; i < a->n_dimensions; i++)
        if (a->dimensions[i] != b->dimensions[i]) return false;
    for (size_t i = 0; i < a->n_tuple_shapes; i++)
        if (!same_array(a->tuple_shapes[i], b->tuple_shapes[i])) return false;
    return true;
}

/* ---- operations ---- */

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(text, *words)) return true;
    return false;
}

static bool compares(const Xla__HloInstructionProto *op)
{
    static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL},
                             *const types[] = {"",       "FLOAT",    "TOTALORDER",
                                               "SIGNED", "UNSIGNED", NULL};
    return is_one_of(op->more->comparison_direction, directions) &&
           is_one_of(op->more->comparison_type, types);
}

static bool fuses(const Xla__HloInstructionProto *op)
{
    static const char *const kinds[] = {"kLoop", "kInput", "kOutput", "kCustom", NULL};
    return op->more->n_called_computation_ids == 1 && is_one_of(op->more->fusion_kind, kinds);
}

static bool branches(const Xla__HloInstructionProto *op, const Xla__HloInstructionProto *chooser)
{
    size_t n = op->more->n_called_computation_ids;
    return n && op->n_operand_ids == n + 1 && (chooser->shape->element_type != XLA_PRED || n == 2);
}

/* Returns whether the start of a slice is valid: an operand for each dimension, or one array.
 * `first` is the first of them. */
static bool begins_are_told(const Xla__HloInstructionProto *op,
                            const Xla__HloInstructionProto *const *operands, size_t first)
{
    size_t n = op->n_operand_ids;
    if (n <= first) return false;
    return (n == first + 1 && operands[first]->shape->n_dimensions == 1) ||
           n == first + operands[0]->shape->n_dimensions;
}

static bool has_elements_of(const Xla__HloInstructionProto *op,
                            const Xla__HloInstructionProto *operand)
{
    return operand && is_array(op->shape) && is_array(operand->shape) &&
           shape_sizes(op->shape).elements == shape_sizes(operand->shape).elements;
}

static bool precisions_are_known(const Xla__HloInstructionProto *op)
{
    enum { N_PRECISIONS = 4 };
    const Xla__PrecisionConfig *config = op->more->rare->precision_config;
    for (size_t i = 0; config && i < config->n_operand_precision; i++)
        if (config->operand_precision[i] < 0 || config->operand_precision[i] >= N_PRECISIONS)
            return false;
    return true;
}

static bool fits(const Xla__HloInstructionProto *op, enum HloOpcode opcode,
                 const Xla__HloInstructionProto *const *operands)
{
    size_t n = op->n_operand_ids, n_called = op->more->n_called_computation_ids,
           n_dimensions = op->more->n_dimensions;
    const Xla__ShapeProto *shape = op->shape;
    switch (opcode) {
    case HLO_ALL_GATHER:
    case HLO_ALL_GATHER_START:
    case HLO_CONCATENATE:
    case HLO_GET_DIMENSION_SIZE:
    case HLO_IOTA:
    case HLO_SET_DIMENSION_SIZE: return n_dimensions == 1;
    case HLO_ALL_TO_ALL: return !n_dimensions || (n_dimensions == 1 && n == 1);
    case HLO_ALL_REDUCE:
    case HLO_ALL_REDUCE_START:
    case HLO_ASYNC_START:
    case HLO_CALL:
    case HLO_COLLECTIVE_REDUCE:
    case HLO_MAP: return n_called == 1;
    case HLO_SELECT_AND_SCATTER:
    case HLO_WHILE: return n_called == 2;
    case HLO_REDUCE_SCATTER: return n_called == 1 && n_dimensions == 1;
    case HLO_SORT: return n_called == 1 && n_dimensions == 1 && n;
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW: return n_called == 1 && n && n % 2 == 0;
    case HLO_SCAN: return n_called == 1 && n > 1;
    case HLO_SCATTER: return n_called == 1 && n > 1 && op->more->rare->scatter_dimension_numbers;
    case HLO_ASYNC_UPDATE:
    case HLO_COLLECTIVE_PERMUTE:
    case HLO_COLLECTIVE_PERMUTE_START: return n;
    case HLO_CONVOLUTION:
        return n && op->more->rare->window && op->more->rare->convolution_dimension_numbers &&
               precisions_are_known(op);
    case HLO_DOT: return n > 1 && op->more->rare->dot_dimension_numbers && precisions_are_known(op);
    case HLO_SCALED_DOT: return op->more->rare->dot_dimension_numbers && precisions_are_known(op);
    case HLO_RAGGED_DOT:
        return op->more->rare->ragged_dot_dimension_numbers && precisions_are_known(op);
    case HLO_CUSTOM_CALL: return precisions_are_known(op);
    case HLO_GATHER: return op->more->rare->gather_dimension_numbers;
    case HLO_PAD: return op->more->rare->padding_config;
    case HLO_INFEED: return shape->element_type == XLA_TUPLE && shape->n_tuple_shapes == 2;
    case HLO_OUTFEED:
        return op->more->rare->outfeed_shape && !hlo_shape_fault(op->more->rare->outfeed_shape);
    case HLO_RECV: return shape->n_tuple_shapes;
    case HLO_RECV_DONE: return !strcmp(operands[0]->opcode, "recv");
    case HLO_SEND_DONE: return !strcmp(operands[0]->opcode, "send");
    case HLO_COMPARE: return compares(op);
    case HLO_FUSION: return fuses(op);
    case HLO_CONDITIONAL: return branches(op, operands[0]);
    case HLO_DYNAMIC_SLICE: return begins_are_told(op, operands, 1);
    case HLO_DYNAMIC_UPDATE_SLICE: return begins_are_told(op, operands, 2);
    case HLO_RESHAPE: return has_elements_of(op, operands[0]);
    case HLO_DYNAMIC_RESHAPE:
        return has_elements_of(op, operands[0]) && n == 1 + shape->n_dimensions;
    case HLO_TRANSPOSE:
        return is_permutation(op->more->dimensions, n_dimensions, operands[0]->shape->n_dimensions);
    case HLO_CONSTANT:
        return !op->more->literal ||
               (op->more->literal->shape && same_array(op->more->literal->shape, shape));
    default: return true;
    }
}

const char *hlo_instruction_fault(const Xla__HloInstructionProto *op,
                                  const Xla__HloInstructionProto *const operands[RULED_OPERANDS])
{
    enum HloOpcode opcode = hlo_opcode(op->opcode);
    int arity = hlo_arity(opcode);
    if (arity >= 0 && op->n_operand_ids != (size_t)arity)
        return "the number of operands is wrong for";
    if (hlo_is_plain(opcode) &&
        (op->more->rare->precision_config || op->more->rare->dot_dimension_numbers))
        return "precision or dot dimensions are not allowed for";
    return fits(op, opcode, operands)
               ? NULL
               : "operands, called computations, dimensions or attributes do not fit";
}

bool hlo_parameters_fault(const Xla__HloComputationProto *computation, const char **fault,
                          ProfErr *err)
{
    size_t n = 0, n_seen = 0;
    for (size_t i = 0; i < computation->n_instructions; i++)
        n += !strcmp(computation->instructions[i]->opcode, "parameter");
    bool *seen = prof_alloc(n);
    if (!seen) {
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0; i < computation->n_instructions; i++) {
        const Xla__HloInstructionProto *op = computation->instructions[i];
        if (strcmp(op->opcode, "parameter") != 0 || op->more->parameter_number < 0 ||
            (uint64_t)op->more->parameter_number >= n)
            continue;
        n_seen += !seen[op->more->parameter_number];
        seen[op->more->parameter_number] = true;
    }
    prof_free(seen);
    *fault = n_seen < n ? "parameters are not numbered consecutively from 0 in" : NULL;
    return true;
}
