// SPDX-License-Identifier: Apache-2.0
/* op_scope.h: what the name of a framework op says of its place in the model.
 *
 *   "jit(step)/transpose(jvp(Net))/block_1/dot_general"    Net/block_1, backward
 *   "gradient_tape/model/dense/MatMul/MatMul_1:MatMul"     model/dense/MatMul, backward
 *
 * docs/semantics.md has the rules. */
#ifndef PROF_OP_SCOPE_H
#define PROF_OP_SCOPE_H

#include "../../base/text_buffer.h"
#include "../../base/tf_op.h"

/* Ranges that a program marks (name:NVTX) say no pass, whose name is NULL. */
enum OpPass { PASS_FORWARD, PASS_BACKWARD, PASS_RECOMPUTED, PASS_UNKNOWN };
extern const char *const op_pass_names[];

/* Appends the scope of an op's name, which is empty if the name has no scope. `scope` may be NULL.
 * Returns the pass that the name says. */
enum OpPass op_scope(Slice name, TextBuffer *scope);
/* Returns the first `depth` components of a scope; all of it if there are no more. */
Slice op_scope_prefix(Slice scope, int64_t depth);

#endif
