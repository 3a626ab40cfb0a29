// SPDX-License-Identifier: Apache-2.0
/* step_op_spread.h: how the self time of each op varies from step to step. */
#ifndef PROF_STEP_OP_SPREAD_H
#define PROF_STEP_OP_SPREAD_H

#include "step_ops.h"

/* The rows of a run's ops, op by op. Times are in ps, as double: sums of most are exact. */
typedef struct {
    const StepOps *ops;
    uint32_t *rows;    /* indexes in StepOps.rows, by op, then as stored */
    size_t *first;     /* index in `rows` of each op's first row, and one more */
    size_t n_complete; /* number of steps that are not dropped */
    size_t longest;    /* index of the longest step, the first of equal ones */
    double *over;      /* for each step: duration - average duration of the complete steps */
    double squares;    /* sum of the squares of `over` of complete steps; 0 if all are equal */
} StepOpIndex;

/* Returns the index of run_step_ops(). */
const StepOpIndex *run_step_op_index(Run *run, Host *only, ProfErr *err);

/* An op in all steps. Statistics are of complete steps, in which a step without the op counts as
 * 0. */
typedef struct {
    const StepOpKey *key;
    const EventMeta *meta; /* of the readable name that is the last in byte order */
    size_t n_steps;        /* number of complete steps in which it ran */
    double average;        /* self time; NAN if no step is complete */
    double stddev;         /* NAN if fewer than two are */
    double percent;        /* share of the variance of the durations; NAN if these are equal */
    uint64_t n_chosen;     /* number of events in the chosen step */
    double self_chosen;    /* self time in it */
    size_t n_others;       /* number of other complete steps in which it ran */
    double median;         /* self time in the other complete steps; NAN if there are none */
} StepOpSpread;

/* Memory for step_op_spread(). Starts as {0}. */
typedef struct {
    struct StepSum *sums; /* for each step */
    uint32_t *places;     /* steps with an event of the op */
    double *selfs;
} StepOpScratch;

/* Computes an op's spread, compared with the step of an index. */
int step_op_spread(const StepOpIndex *index, size_t op, size_t chosen, StepOpScratch *scratch,
                   StepOpSpread *out, ProfErr *err);
void step_op_scratch_free(StepOpScratch *scratch);
/* Returns the median duration of the complete steps other than this one; NAN if there are none. */
double other_steps_median(const StepOpIndex *index, size_t chosen, ProfErr *err);

#endif
