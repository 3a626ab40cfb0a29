// SPDX-License-Identifier: Apache-2.0
/* hlo_opcode.h: the operations of HLO and XLA's requirements for each. */
#ifndef PROF_HLO_OPCODE_H
#define PROF_HLO_OPCODE_H

#include "../base/base.h"

/* X(identifier, name in the proto, whether it is elementwise, number of operands or -1 for any,
 * whether it may have neither a precision nor dimension numbers of a dot), sorted by name. */
#define HLO_OPCODES(X)                                                                             \
    X(ABS, "abs", 1, 1, 1)                                                                         \
    X(ACOS, "acos", 1, 1, 0)                                                                       \
    X(ACOSH, "acosh", 1, 1, 0)                                                                     \
    X(ADD, "add", 1, 2, 1)                                                                         \
    X(ADD_DEPENDENCY, "add-dependency", 0, 2, 1)                                                   \
    X(AFTER_ALL, "after-all", 0, -1, 1)                                                            \
    X(ALL_GATHER, "all-gather", 0, -1, 0)                                                          \
    X(ALL_GATHER_DONE, "all-gather-done", 0, 1, 1)                                                 \
    X(ALL_GATHER_START, "all-gather-start", 0, -1, 0)                                              \
    X(ALL_REDUCE, "all-reduce", 0, -1, 0)                                                          \
    X(ALL_REDUCE_DONE, "all-reduce-done", 0, 1, 1)                                                 \
    X(ALL_REDUCE_START, "all-reduce-start", 0, -1, 0)                                              \
    X(ALL_TO_ALL, "all-to-all", 0, -1, 0)                                                          \
    X(AND, "and", 1, 2, 1)                                                                         \
    X(ASIN, "asin", 1, 1, 0)                                                                       \
    X(ASINH, "asinh", 1, 1, 0)                                                                     \
    X(ASYNC_DONE, "async-done", 0, 1, 0)                                                           \
    X(ASYNC_START, "async-start", 0, -1, 0)                                                        \
    X(ASYNC_UPDATE, "async-update", 0, -1, 0)                                                      \
    X(ATAN2, "atan2", 1, 2, 1)                                                                     \
    X(ATANH, "atanh", 1, 1, 0)                                                                     \
    X(BATCH_NORM_GRAD, "batch-norm-grad", 0, 5, 0)                                                 \
    X(BATCH_NORM_INFERENCE, "batch-norm-inference", 0, 5, 0)                                       \
    X(BATCH_NORM_TRAINING, "batch-norm-training", 0, 3, 0)                                         \
    X(BITCAST, "bitcast", 0, 1, 1)                                                                 \
    X(BITCAST_CONVERT, "bitcast-convert", 0, 1, 1)                                                 \
    X(BROADCAST, "broadcast", 0, 1, 0)                                                             \
    X(CALL, "call", 0, -1, 1)                                                                      \
    X(CBRT, "cbrt", 1, 1, 0)                                                                       \
    X(CEIL, "ceil", 1, 1, 1)                                                                       \
    X(CHOLESKY, "cholesky", 0, 1, 0)                                                               \
    X(CLAMP, "clamp", 1, 3, 1)                                                                     \
    X(COLLECTIVE_BROADCAST, "collective-broadcast", 0, -1, 0)                                      \
    X(COLLECTIVE_PERMUTE, "collective-permute", 0, -1, 0)                                          \
    X(COLLECTIVE_PERMUTE_DONE, "collective-permute-done", 0, 1, 1)                                 \
    X(COLLECTIVE_PERMUTE_START, "collective-permute-start", 0, -1, 0)                              \
    X(COLLECTIVE_REDUCE, "collective-reduce", 0, -1, 0)                                            \
    X(COMPARE, "compare", 1, 2, 0)                                                                 \
    X(COMPLEX, "complex", 1, 2, 1)                                                                 \
    X(CONCATENATE, "concatenate", 0, -1, 0)                                                        \
    X(CONDITIONAL, "conditional", 0, -1, 0)                                                        \
    X(CONSTANT, "constant", 0, 0, 0)                                                               \
    X(CONVERT, "convert", 1, 1, 1)                                                                 \
    X(CONVOLUTION, "convolution", 0, -1, 0)                                                        \
    X(COPY, "copy", 1, 1, 1)                                                                       \
    X(COPY_DONE, "copy-done", 0, 1, 1)                                                             \
    X(COPY_START, "copy-start", 0, 1, 0)                                                           \
    X(COSH, "cosh", 1, 1, 0)                                                                       \
    X(COSINE, "cosine", 1, 1, 0)                                                                   \
    X(COUNT_LEADING_ZEROS, "count-leading-zeros", 1, 1, 1)                                         \
    X(CUSTOM_CALL, "custom-call", 0, -1, 0)                                                        \
    X(DIVIDE, "divide", 1, 2, 1)                                                                   \
    X(DOMAIN, "domain", 0, 1, 0)                                                                   \
    X(DOT, "dot", 0, -1, 0)                                                                        \
    X(DYNAMIC_RESHAPE, "dynamic-reshape", 0, -1, 0)                                                \
    X(DYNAMIC_SLICE, "dynamic-slice", 0, -1, 0)                                                    \
    X(DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", 0, -1, 0)                                      \
    X(ERF, "erf", 1, 1, 0)                                                                         \
    X(EXPONENTIAL, "exponential", 1, 1, 0)                                                         \
    X(EXPONENTIAL_MINUS_ONE, "exponential-minus-one", 1, 1, 0)                                     \
    X(FFT, "fft", 0, 1, 0)                                                                         \
    X(FLOOR, "floor", 1, 1, 1)                                                                     \
    X(FUSION, "fusion", 0, -1, 0)                                                                  \
    X(GATHER, "gather", 0, 2, 0)                                                                   \
    X(GET_DIMENSION_SIZE, "get-dimension-size", 0, 1, 0)                                           \
    X(GET_TUPLE_ELEMENT, "get-tuple-element", 0, 1, 0)                                             \
    X(IMAG, "imag", 1, 1, 1)                                                                       \
    X(INFEED, "infeed", 0, 1, 0)                                                                   \
    X(IOTA, "iota", 0, 0, 0)                                                                       \
    X(IS_FINITE, "is-finite", 1, 1, 1)                                                             \
    X(LOG, "log", 1, 1, 0)                                                                         \
    X(LOG_PLUS_ONE, "log-plus-one", 1, 1, 0)                                                       \
    X(LOGISTIC, "logistic", 1, 1, 0)                                                               \
    X(MAP, "map", 1, -1, 0)                                                                        \
    X(MAXIMUM, "maximum", 1, 2, 1)                                                                 \
    X(MINIMUM, "minimum", 1, 2, 1)                                                                 \
    X(MULHI, "mulhi", 1, 2, 1)                                                                     \
    X(MULTIPLY, "multiply", 1, 2, 1)                                                               \
    X(NEGATE, "negate", 1, 1, 1)                                                                   \
    X(NOT, "not", 1, 1, 1)                                                                         \
    X(OPT_BARRIER, "opt-barrier", 0, 1, 1)                                                         \
    X(OR, "or", 1, 2, 1)                                                                           \
    X(OUTFEED, "outfeed", 0, 2, 0)                                                                 \
    X(PAD, "pad", 0, 2, 0)                                                                         \
    X(PARAMETER, "parameter", 0, 0, 0)                                                             \
    X(PARTITION_ID, "partition-id", 0, 0, 0)                                                       \
    X(POPCNT, "popcnt", 1, 1, 1)                                                                   \
    X(POWER, "power", 1, 2, 1)                                                                     \
    X(RAGGED_ALL_TO_ALL, "ragged-all-to-all", 0, 6, 0)                                             \
    X(RAGGED_DOT, "ragged-dot", 0, 3, 0)                                                           \
    X(REAL, "real", 1, 1, 1)                                                                       \
    X(RECV, "recv", 0, 1, 0)                                                                       \
    X(RECV_DONE, "recv-done", 0, 1, 0)                                                             \
    X(REDUCE, "reduce", 0, -1, 0)                                                                  \
    X(REDUCE_PRECISION, "reduce-precision", 1, 1, 0)                                               \
    X(REDUCE_SCATTER, "reduce-scatter", 0, -1, 0)                                                  \
    X(REDUCE_WINDOW, "reduce-window", 0, -1, 0)                                                    \
    X(REMAINDER, "remainder", 1, 2, 1)                                                             \
    X(REPLICA_ID, "replica-id", 0, 0, 0)                                                           \
    X(RESHAPE, "reshape", 0, 1, 0)                                                                 \
    X(REVERSE, "reverse", 0, 1, 0)                                                                 \
    X(RNG, "rng", 1, -1, 0)                                                                        \
    X(RNG_BIT_GENERATOR, "rng-bit-generator", 0, 1, 0)                                             \
    X(RNG_GET_AND_UPDATE_STATE, "rng-get-and-update-state", 0, 0, 0)                               \
    X(ROUND_NEAREST_AFZ, "round-nearest-afz", 1, 1, 1)                                             \
    X(ROUND_NEAREST_EVEN, "round-nearest-even", 1, 1, 1)                                           \
    X(RSQRT, "rsqrt", 1, 1, 0)                                                                     \
    X(SCALED_DOT, "scaled-dot", 0, 4, 0)                                                           \
    X(SCAN, "scan", 0, -1, 0)                                                                      \
    X(SCATTER, "scatter", 0, -1, 0)                                                                \
    X(SELECT, "select", 1, 3, 1)                                                                   \
    X(SELECT_AND_SCATTER, "select-and-scatter", 0, 3, 0)                                           \
    X(SEND, "send", 0, 2, 0)                                                                       \
    X(SEND_DONE, "send-done", 0, 1, 0)                                                             \
    X(SET_DIMENSION_SIZE, "set-dimension-size", 0, 2, 0)                                           \
    X(SHIFT_LEFT, "shift-left", 1, 2, 1)                                                           \
    X(SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic", 1, 2, 1)                                   \
    X(SHIFT_RIGHT_LOGICAL, "shift-right-logical", 1, 2, 1)                                         \
    X(SHUFFLE, "shuffle", 0, 1, 0)                                                                 \
    X(SIGN, "sign", 1, 1, 1)                                                                       \
    X(SINE, "sine", 1, 1, 0)                                                                       \
    X(SINH, "sinh", 1, 1, 0)                                                                       \
    X(SLICE, "slice", 0, 1, 0)                                                                     \
    X(SORT, "sort", 0, -1, 0)                                                                      \
    X(SQRT, "sqrt", 1, 1, 0)                                                                       \
    X(STOCHASTIC_CONVERT, "stochastic-convert", 1, 2, 1)                                           \
    X(SUBTRACT, "subtract", 1, 2, 1)                                                               \
    X(TAN, "tan", 1, 1, 0)                                                                         \
    X(TANH, "tanh", 1, 1, 0)                                                                       \
    X(TOPK, "topk", 0, 1, 0)                                                                       \
    X(TRANSPOSE, "transpose", 0, 1, 0)                                                             \
    X(TRIANGULAR_SOLVE, "triangular-solve", 0, 2, 0)                                               \
    X(TUPLE, "tuple", 0, -1, 1)                                                                    \
    X(WHILE, "while", 0, 1, 1)                                                                     \
    X(XOR, "xor", 1, 2, 1)
#define HLO_ENUM(id, ...) HLO_##id,
enum HloOpcode { HLO_OPCODES(HLO_ENUM) N_HLO_OPCODES, HLO_UNKNOWN = N_HLO_OPCODES };
#undef HLO_ENUM

/* Returns the opcode of a name in the proto; HLO_UNKNOWN if XLA's current version does not have
 * it. */
enum HloOpcode hlo_opcode(const char *name);
/* Returns whether the operation is elementwise whatever its attributes. False for bitcast-convert,
 * which depends on its shapes. */
bool hlo_is_elementwise(enum HloOpcode opcode);
/* Returns the number of operands that XLA demands; -1 if any number is allowed or it depends on
 * more than the operation. */
int hlo_arity(enum HloOpcode opcode);
/* Returns whether the operation may have neither a precision_config nor dot_dimension_numbers. */
bool hlo_is_plain(enum HloOpcode opcode);

#endif
