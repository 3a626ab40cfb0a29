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

#include "base.h"

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

/* A piece of a text that is owned elsewhere. It need not end in a NUL byte. */
typedef struct {
    const char *text;
    size_t n;
} Slice;
/* Returns all of a text as a slice. */
static inline Slice slice_of(const Text *text) { return (Slice){text->text, text->n_bytes}; }
/* Compare a slice with a text. slice_starts_ignoring_case() ignores the case of letters. */
bool slice_is(Slice s, const char *text);
bool slice_starts(Slice s, const char *text);
bool slice_starts_ignoring_case(Slice s, const char *text);
bool slice_ends(Slice s, const char *text);
bool slice_contains(Slice s, const char *text);
/* Returns what follows the last "::", such as the HLO instruction in a kernel's stat hlo_op. */
Slice slice_innermost(Slice s);
/* Returns a module's name without the "(id)" that may follow it. */
Slice slice_without_id(Slice s);
/* Parses a decimal int64, with optional sign and blanks around it. False if it is anything else. */
bool slice_integer(Slice s, int64_t *value);

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
