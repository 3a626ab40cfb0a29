// SPDX-License-Identifier: Apache-2.0
/* parallel.h: independent tasks on all processors. */
#ifndef PROF_PARALLEL_H
#define PROF_PARALLEL_H

#include "base.h"

/* Runs task(context, i, err) for every i below n on up to n_workers threads, the caller's among them; which runs where is
 * not defined, i are started in order. The first error ends the rest and is returned in err. A task must not ask for an
 * analysis (run_analysis): whoever waits here may hold that lock. */
int parallel_for(size_t n_workers, size_t n, void (*task)(void *context, size_t i, ProfErr *err), void *context, ProfErr *err);

#endif
