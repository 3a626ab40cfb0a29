// SPDX-License-Identifier: Apache-2.0
/* serving.h: decode steps of a language model that is served by several machines, as XProf finds them. */
#ifndef PROF_SERVING_H
#define PROF_SERVING_H

#include "../run.h"

/* Runs of programs named jit_generate... on the devices' lines XLA Modules... of hosts that have events named WizServable... */
typedef struct {
    uint64_t n;
    double total_ps; /* of each host its whole average, n times: as XProf merges them */
} DecodeSteps;

/* Of all hosts together, or of one. On failure err is set. */
int run_decode_steps(Run *run, Host *only, DecodeSteps *steps, ProfErr *err);

#endif
