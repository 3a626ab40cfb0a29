// SPDX-License-Identifier: Apache-2.0
/* op_actual.h: FLOPs and bytes that the executions of an op needed, by the program; see
 * cost_needed.c. */
#ifndef PROF_OP_ACTUAL_H
#define PROF_OP_ACTUAL_H

#include "op_build.h"

/* Sets flops_actual, model_flops_actual and bytes_actual of an op from its instruction, where they
 * are not known yet. op->executions must be set. `db` has the other ops of its core: an op that
 * runs other ops needs nothing beyond them, so it only counts if none of them is in `db` (such as a
 * CUDA graph that was recorded as one event). */
int op_set_needs(OpBuild *build, const OpMetricsDb *db, OpMetrics *op, ProfErr *err);

#endif
