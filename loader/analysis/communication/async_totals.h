// SPDX-License-Identifier: Apache-2.0
/* async_totals.h: sums over the executions of each asynchronous op (async_ops.h). */
#ifndef PROF_ASYNC_TOTALS_H
#define PROF_ASYNC_TOTALS_H

#include "async_ops.h"

/* All finished executions of one op that are hidden most by the same other op. Sums saturate at the
 * ends of int64. */
typedef struct {
    const AsyncShared *shared;
    const EventMeta *cover; /* the op that hides them; NULL if none does */
    int64_t n, duration_ps, hidden_ps, done_ps;
    int64_t n_waits; /* number of executions that end with a done event; done_ps is the sum of those
                        events */
} AsyncTotal;

typedef struct {
    AsyncTotal *totals; /* by plane, then by first occurrence */
    size_t n_totals;
    SharedOps *shared; /* of synchronous ops, and of GPUs, one set for each device */
    size_t n_shared;
} AsyncTotals;

/* Returns the sums over run_async_ops() of the same arguments. */
const AsyncTotals *run_async_totals(Run *run, Host *only, bool with_synchronous, ProfErr *err);

#endif
