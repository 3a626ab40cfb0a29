// SPDX-License-Identifier: Apache-2.0
/* torch_pass.h: the pass of an operator in a program of PyTorch/XLA, by its Python stack. */
#ifndef PROF_TORCH_PASS_H
#define PROF_TORCH_PASS_H

#include "../../format/hlo.h"
#include "op_scope.h"

/* Returns the pass of an operator with this innermost frame (0: it has none). PASS_UNKNOWN if the
 * program has no frames, or with err set. */
enum OpPass torch_pass(const HloModule *module, int32_t frame_id, ProfErr *err);

#endif
