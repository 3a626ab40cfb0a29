// SPDX-License-Identifier: Apache-2.0
/* step_ops.h: how often and how long each op ran in each step. */
#ifndef PROF_STEP_OPS_H
#define PROF_STEP_OPS_H

#include "steps.h"

/* An op: the events of one name on the planes of a kind, of all hosts. Those that have the group of
 * their step, and those that belong to it by time, are two. */
typedef struct {
    const Text *name; /* of one of its events */
    enum PlaneKind plane_kind;
    bool in_group;
} StepOpKey;

/* An op in one step on one host. */
typedef struct {
    const EventMeta *meta; /* the first with this name */
    uint32_t op;           /* index of the op */
    uint32_t place;        /* index of the step in the list of steps */
    uint64_t n;
    int64_t total_ps, self_ps;
} StepOp;

typedef struct {
    const StepDb *steps; /* those that the table `steps` shows */
    StepOpKey *ops;      /* by plane kind and name; in_group first */
    StepOp *rows;        /* by host */
    size_t n_ops, op_capacity, n, capacity;
    size_t *first; /* index of the first row of each host of the run, and one more */
} StepOps;

/* Returns the ops of the steps that the table `steps` shows. */
const StepOps *run_step_ops(Run *run, Host *only, ProfErr *err);

typedef struct {
    const StepOps *ops;
    uint32_t *rows; /* indexes in StepOps.rows, by host, step, self time */
} StepOpOrder;

/* Returns the order of the rows of run_step_ops(). */
const StepOpOrder *run_step_op_order(Run *run, Host *only, ProfErr *err);

#endif
