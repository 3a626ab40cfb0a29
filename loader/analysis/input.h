// SPDX-License-Identifier: Apache-2.0
/* input.h: is a run waiting for its input, and which part of the input pipeline takes the time: XProf's input pipeline analyzer. */
#ifndef PROF_INPUT_H
#define PROF_INPUT_H

#include "op_metrics.h"
#include "steps.h"

/* What an op of the host's input pipeline does. */
enum InputCategory { INPUT_ENQUEUE, INPUT_DEMANDED_READ, INPUT_ADVANCED_READ, INPUT_PREPROCESSING, INPUT_UNKNOWN, N_INPUT_CATEGORIES };
extern const char *const input_category_names[N_INPUT_CATEGORIES]; /* as XProf's table names them */
/* The category of a host op, -1: it is no op of an input pipeline. */
int input_category(const OpMetrics *op);

typedef struct {
    const OpMetrics *op;
    enum InputCategory category;
} InputOp;

/* A step, in ms. Columns of the other flavour are 0. */
typedef struct {
    const Step *step;
    double step_ms;   /* TPU: what the times of its TensorCores add up to */
    double judged_ms; /* the step by which XProf judges: of a TPU with the all-reduces a second time */
    double input_ms, output_ms, compute_ms, collectives_ms, launch_ms, others_ms; /* what verdicts are made of */
    double category_ms[N_STEP_CATEGORIES];                                        /* generic: GPU and CPU */
    double host_to_device_ms;
    TpuStep tpu;
} InputStep;

/* Verdicts, as XProf words its classifications. */
enum InputVerdict { VERDICT_UNKNOWN, VERDICT_DEVICE, VERDICT_BOTH, VERDICT_POTENTIALLY, VERDICT_HOST };
enum ShareVerdict { SHARE_NO, SHARE_MODERATE, SHARE_HIGH };

typedef struct {
    enum Hardware hardware;
    bool is_tpu;
    bool is_named;      /* XProf calls steps by their names, which it reads from hosts without devices alone */
    const InputOp *ops; /* the longest self time first */
    size_t n_ops;
    uint64_t ops_self_ps;                                                           /* of all of them */
    double enqueue_us, demanded_us, advanced_us, preprocessing_us, unclassified_us; /* scaled to what the devices waited */
    const InputStep *steps;
    size_t n_steps;      /* that XProf reads */
    StepSummary step_ms; /* of all steps, those that it does not read too */
    StepSummary category_ms[N_STEP_CATEGORIES];
    StepSummary infeed_percent; /* TPU: of the steps' largest; generic: of input */
    /* percent of the steps' time, NAN without steps */
    double input_percent, output_percent, idle_percent, compute_percent, launch_percent, collectives_percent, others_percent;
    enum InputVerdict input;
    enum ShareVerdict output, launch, collectives, others;
    bool uses_tf_data;
    /* The same as it is, by enum StepCategory, NAN: not known: time of all cores together over the length of their steps. "All others" of a TPU is
     * idle. */
    double actual_percent[N_STEP_CATEGORIES];
    enum InputVerdict actual_input;
    enum ShareVerdict actual_output, actual_launch, actual_collectives, actual_others;
    size_t n_marked_steps; /* steps that frameworks mark where XProf finds none: the actual shares are theirs */
    Arena arena;
} InputAnalysis;

/* Of all hosts together, or of one. Lives as long as the run. NULL with err set. */
const InputAnalysis *run_input(Run *run, Host *only, ProfErr *err);

#endif
