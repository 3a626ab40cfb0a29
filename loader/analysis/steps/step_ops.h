// SPDX-License-Identifier: Apache-2.0
/* step_ops.h: how often and how long each op ran in each step. */
#ifndef PROF_STEP_OPS_H
#define PROF_STEP_OPS_H

#include "steps.h"

/* The events of one name in one step, on all lines of a host's planes of a kind: those with the
 * step's group, or those that belong to it by time. */
typedef struct {
    const Step *step;
    uint32_t place; /* index of the step in the list of steps */
    enum PlaneKind plane_kind;
    bool in_group;
    const EventMeta *meta; /* the first with this name */
    uint64_t n;
    int64_t total_ps, self_ps;
} StepOp;

typedef struct {
    StepOp *rows; /* by host, step, self time */
    size_t n, capacity;
    size_t *first; /* index of the first row of each host of the run, and one more */
} StepOps;

/* Returns the ops of the steps that the table `steps` shows. */
const StepOps *run_step_ops(Run *run, Host *only, ProfErr *err);

#endif
