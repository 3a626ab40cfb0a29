// SPDX-License-Identifier: Apache-2.0
/* hold.h: runs of many hosts of which one host's events are in memory at a time; see run_hold() and
 * host_hold() in run.h. */
#ifndef PROF_HOLD_H
#define PROF_HOLD_H

#include "run.h"

/* Drops the events of the host that is in memory, if there is one. */
void run_give_back(Run *run);

#endif
