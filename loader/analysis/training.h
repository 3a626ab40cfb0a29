// SPDX-License-Identifier: Apache-2.0
/* training.h: whether a run trains its model: whether a program holds gradients. */
#ifndef PROF_TRAINING_H
#define PROF_TRAINING_H

#include "../run.h"

/* As XProf has it: the last host speaks for all. False when not known, and with err set on failure. */
bool run_trains(Run *run, Host *only, ProfErr *err);

#endif
