// SPDX-License-Identifier: Apache-2.0
/* op_actual.h: what the executions of an op needed: operations and bytes as the program has them; see cost_needed.c. */
#ifndef PROF_OP_ACTUAL_H
#define PROF_OP_ACTUAL_H

#include "op_build.h"

/* Sets those of flops_actual, model_flops_actual and bytes_actual that are not known yet, of an op with executions, from its instruction. db has the other ops
 * of its core: an op that runs others needs nothing that they do not, and counts only where none of them is there (a CUDA graph that was recorded as one
 * event). */
int op_take_needs(OpBuild *build, const OpMetricsDb *db, OpMetrics *op, ProfErr *err);

#endif
