// SPDX-License-Identifier: Apache-2.0
/* tf_op.h: parses the full name of a framework op into its category, its name and its type.
 *
 *   "model/dense/MatMul:MatMul"          TensorFlow, name model/dense/MatMul, type MatMul
 *   "jit(f)/jit(main)/dot_general:"      JAX, name jit(f)/jit(main)/dot_general, type dot_general
 *   "Iterator::Batch::Map"               tf.data, name as given, type Dataset
 *
 * Results borrow from the text that was parsed. */
#ifndef PROF_TF_OP_H
#define PROF_TF_OP_H

#include "slice.h"

enum OpCategory {
    OP_UNKNOWN,
    OP_TENSORFLOW,
    OP_JAX,
    OP_TF_DATA,
    OP_MEMCPY_HTOD,
    OP_MEMCPY_DTOH,
    OP_MEMCPY_DTOD,
    OP_MEMCPY_HTOH,
};

/* The parts of an op's full name. */
typedef struct {
    enum OpCategory category;
    Slice name, type; /* type: empty for an unknown op */
} TfOp;
/* Parses a full name. */
TfOp tf_op_parse(Slice full_name);

/* Returns the short name that is shown. If *is_iterator, it is shown after "Iterator::"
 * (tf.data). */
Slice tf_op_display(const TfOp *op, bool *is_iterator);

/* ---- rules by name and category: the type of a framework op, or the category of an HLO op ---- */

bool op_is_infeed_enqueue(Slice type);
bool op_is_infeed_or_outfeed(Slice category);
/* it runs other ops: call, conditional, while, megacore fusion */
bool op_is_container(Slice category);
bool op_is_off_duty(Slice category); /* the core waits for something else, such as infeed */
bool op_is_outside_compilation(Slice framework_name, Slice hlo_text);
bool op_is_rematerialization(Slice framework_name, Slice hlo_text);

#endif
