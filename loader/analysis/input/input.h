// SPDX-License-Identifier: Apache-2.0
/* input.h: whether a run waits for its input, and which part of the input pipeline takes the time,
 * as in XProf's input pipeline analyzer. */
#ifndef PROF_INPUT_H
#define PROF_INPUT_H

#include "../ops/op_metrics.h"
#include "../steps/steps.h"

/* What an op of the host's input pipeline does. */
enum InputCategory {
    INPUT_ENQUEUE,
    INPUT_DEMANDED_READ,
    INPUT_ADVANCED_READ,
    INPUT_PREPROCESSING,
    INPUT_UNKNOWN,
    N_INPUT_CATEGORIES
};
extern const char *const input_category_names[N_INPUT_CATEGORIES]; /* as in XProf's table */

/* An op of the host's input pipeline. */
typedef struct {
    const OpMetrics *op;
    enum InputCategory category;
} InputOp;

/* A step, in ms. Fields that do not apply to the kind of device are 0. */
typedef struct {
    const Step *step;
    double step_ms; /* TPU: sum of the times of its TensorCores */
    /* Duration that XProf divides by. On a TPU it counts all-reduces twice. */
    double judged_ms;
    /* Input of the verdicts. */
    double input_ms, output_ms, compute_ms, collectives_ms, launch_ms, others_ms;
    double category_ms[N_STEP_CATEGORIES]; /* GPU and CPU */
    double host_to_device_ms;
    TpuStep tpu;
} InputStep;

/* Verdicts, after XProf's classifications. */
enum InputVerdict {
    VERDICT_UNKNOWN,
    VERDICT_DEVICE,
    VERDICT_BOTH,
    VERDICT_POTENTIALLY,
    VERDICT_HOST
};
enum ShareVerdict { SHARE_NO, SHARE_MODERATE, SHARE_HIGH };

/* The result of the analysis. */
typedef struct {
    enum Hardware hardware;
    bool is_tpu;
    /* XProf shows steps by their names, which it reads only from hosts without devices. */
    bool is_named;
    const InputOp *ops; /* by self time, the longest first */
    size_t n_ops;
    uint64_t ops_self_ps; /* total self time of `ops` */
    /* In us, scaled to the time that the devices waited. */
    double enqueue_us, demanded_us, advanced_us, preprocessing_us, unclassified_us;
    const InputStep *steps;
    size_t n_steps;      /* steps that XProf reads */
    StepSummary step_ms; /* of all steps, also those that XProf does not read */
    StepSummary category_ms[N_STEP_CATEGORIES];
    StepSummary infeed_percent; /* TPU: the largest of each step; GPU and CPU: input */
    /* percent of the steps' time; NAN without steps */
    double input_percent, output_percent, idle_percent, compute_percent, launch_percent,
        collectives_percent, others_percent;
    enum InputVerdict input;
    enum ShareVerdict output, launch, collectives, others;
    bool uses_tf_data; /* to XProf: a part of tf.data takes time after scaling */
    bool has_tf_data;  /* an op of tf.data takes time */
    /* Correct percentages, by enum StepCategory: time of all cores together, as a share of the
     * duration of their steps. NAN if unknown. "All others" of a TPU is idle time. */
    double actual_percent[N_STEP_CATEGORIES];
    enum InputVerdict actual_input;
    enum ShareVerdict actual_output, actual_launch, actual_collectives, actual_others;
    /* Number of steps that frameworks mark, if XProf finds none. The actual shares are then
     * theirs. */
    size_t n_marked_steps;
    size_t n_actual_steps; /* number of complete steps, else of marked ones; n_steps leaves out
                              steps without core 1 */
    Arena arena;
} InputAnalysis;

/* Returns the analysis of all hosts together, or of `only`. */
const InputAnalysis *run_input(Run *run, Host *only, ProfErr *err);

#endif
