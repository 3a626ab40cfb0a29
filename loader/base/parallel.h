// SPDX-License-Identifier: Apache-2.0
/* parallel.h: runs independent tasks on several threads. */
#ifndef PROF_PARALLEL_H
#define PROF_PARALLEL_H

#include "base.h"

/* Returns the number of processors that this process may use: with `taskset`, in a batch job or in
 * a container these can be fewer than the machine has. */
size_t processor_count(void);

/* Runs task(context, i, err) for every i below n, on up to n_workers threads (at most 65), one of
 * which is the caller's. Tasks start in order of i and run in any order. Each call gets an err of
 * its own. After the first error no further task starts; that error is returned in err. A task must
 * not call run_analysis(): the caller, which waits for the tasks, may hold its lock. */
int parallel_for(size_t n_workers, size_t n, void (*task)(void *context, size_t i, ProfErr *err),
                 void *context, ProfErr *err);

#endif
