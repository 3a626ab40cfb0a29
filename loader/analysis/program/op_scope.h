// SPDX-License-Identifier: Apache-2.0
/* op_scope.h: the place of a framework op in the model, by its name.
 *
 *   "jit(step)/transpose(jvp(Net))/block_1/dot_general"    Net/block_1, backward
 *   "gradient_tape/model/dense/MatMul/MatMul_1:MatMul"     model/dense/MatMul, backward
 *   "train_step.1/attention.2/aten__add.3/aten__mul"       train_step.1/attention.2
 *   "jit(step)/(transpose(jvp(mlp))/dot:jvp()/sum)"        mlp, backward (merged by XLA)
 *
 * The rules are in docs/semantics.md. */
#ifndef PROF_OP_SCOPE_H
#define PROF_OP_SCOPE_H

#include "../../base/text_buffer.h"
#include "../../base/tf_op.h"

/* These have no name: PASS_UNKNOWN, for ranges that a program marks (name:NVTX), and PASS_BY_STACK,
 * for operators of PyTorch, whose pass the name alone does not show (torch_pass.h). */
enum OpPass { PASS_FORWARD, PASS_BACKWARD, PASS_RECOMPUTED, PASS_UNKNOWN, PASS_BY_STACK };
extern const char *const op_pass_names[];

/* Appends the scope in an op's name; nothing if the name has none. `scope` may be NULL. Returns the
 * pass in the name. */
enum OpPass op_scope(Slice name, TextBuffer *scope);
/* Returns the first `depth` components of a scope; all of it if there are no more. */
Slice op_scope_prefix(Slice scope, int64_t depth);

#endif
