// SPDX-License-Identifier: Apache-2.0
/* all_others.h: what hosts did in the part of their steps that XProf calls All others. */
#ifndef PROF_ALL_OTHERS_H
#define PROF_ALL_OTHERS_H

#include "idle_causes.h"

typedef struct {
    IdleCauses *causes; /* idle_ps: sum over steps and hosts */
    size_t n_steps;     /* complete steps */
    size_t n_cores;     /* sum of their cores */
    uint64_t steps_ps;  /* sum of the cores' durations */
} AllOthers;
/* Returns the activities of all hosts without TPUs together, or of `only`. */
const AllOthers *run_all_others(Run *run, Host *only, ProfErr *err);

#endif
