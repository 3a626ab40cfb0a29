// SPDX-License-Identifier: Apache-2.0
/* decode_steps.h: decode steps of a language model that several machines serve, by XProf's rule. */
#ifndef PROF_DECODE_STEPS_H
#define PROF_DECODE_STEPS_H

#include "../../run.h"

/* Executions of programs named jit_generate... on device lines "XLA Modules...", of hosts that have
 * events named WizServable... */
typedef struct {
    uint64_t n;
    /* Sum over hosts of n times the host's truncated average, as XProf merges them. */
    double total_ps;
} DecodeSteps;

/* Counts the decode steps of all hosts together, or of `only`. */
int run_decode_steps(Run *run, Host *only, DecodeSteps *steps, ProfErr *err);

#endif
