// SPDX-License-Identifier: Apache-2.0
/* training.h: whether a run trains its model, that is, whether a program computes gradients. */
#ifndef PROF_TRAINING_H
#define PROF_TRAINING_H

#include "../../run.h"

/* Returns whether the last host (or `only`) has a program with gradients in its op names, the rule
 * of XProf. False without err set also if that host has no programs. */
bool run_trains(Run *run, Host *only, ProfErr *err);

#endif
