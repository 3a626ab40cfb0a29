// SPDX-License-Identifier: Apache-2.0
/* tf_op.h: what the full name of a framework op says: its category, its own name, and the type of the op.
 *
 *   "model/dense/MatMul:MatMul"          TensorFlow, name model/dense/MatMul, type MatMul
 *   "jit(f)/jit(main)/dot_general:"      JAX, name jit(f)/jit(main)/dot_general, type dot_general
 *   "Iterator::Batch::Map"               tf.data, the whole as name, type Dataset
 *
 * Everything borrows from the text that was parsed. */
#ifndef PROF_TF_OP_H
#define PROF_TF_OP_H

#include "../base.h"

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

/* A piece of text that somebody else owns. */
typedef struct {
    const char *text;
    size_t n;
} Slice;
static inline Slice slice_of(const Text *text) { return (Slice){text->text, text->n_bytes}; }
bool slice_is(Slice s, const char *text);
bool slice_starts(Slice s, const char *text);
bool slice_starts_ignoring_case(Slice s, const char *text);
bool slice_ends(Slice s, const char *text);
bool slice_contains(Slice s, const char *text);
/* What follows the last "::": the HLO instruction of a kernel's stat hlo_op. */
Slice slice_innermost(Slice s);
/* An int64 as text; blanks around it and a sign are allowed. */
bool slice_integer(Slice s, int64_t *value);

typedef struct {
    enum OpCategory category;
    Slice name, type; /* type: empty for an unknown op */
} TfOp;
TfOp tf_op_parse(Slice full_name);

/* The short name to show. tf.data ops are shown as "Iterator::" and this; *is_iterator says so. */
Slice tf_op_display(const TfOp *op, bool *is_iterator);

/* ---- what names and categories tell; categories are the type of a framework op or the category of an HLO op ---- */

bool op_is_infeed_enqueue(Slice type);
bool op_is_infeed_or_outfeed(Slice category);
bool op_is_container(Slice category); /* runs other ops: call, conditional, while, megacore fusion */
bool op_is_off_duty(Slice category);  /* the core waits for others */
bool op_is_outside_compilation(Slice framework_name, Slice hlo_text);
bool op_is_rematerialization(Slice framework_name, Slice hlo_text);

#endif
