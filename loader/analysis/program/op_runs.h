// SPDX-License-Identifier: Apache-2.0
/* op_runs.h: how often each instruction runs in one execution of its program. */
#ifndef PROF_OP_RUNS_H
#define PROF_OP_RUNS_H

#include "../../format/hlo.h"

/* Returns how often the instruction at a position runs in one execution: in a loop, once for each
 * iteration. 0 if it never runs separately, as in a fusion. NAN if unknown: in a loop whose number
 * of iterations the program does not record, in a branch of a conditional, and in a program that
 * calls itself, which is damaged. */
double hlo_op_runs(const HloModule *module, size_t position, ProfErr *err);

#endif
