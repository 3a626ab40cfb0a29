// SPDX-License-Identifier: Apache-2.0
/* async_totals.h: sums over the executions of each asynchronous op (async_ops.h). */
#ifndef PROF_ASYNC_TOTALS_H
#define PROF_ASYNC_TOTALS_H

#include "async_ops.h"

/* All finished executions of one op that one other op hides most. Sums stop at the ends of int64.
 */
typedef struct {
    const AsyncShared *shared;
    const EventMeta *cover; /* NULL: none */
    int64_t n, duration_ps, hidden_ps, done_ps;
    int64_t n_waits; /* of them, those that end with an event of their own, whose sum done_ps is */
} AsyncTotal;

typedef struct {
    AsyncTotal *totals; /* by plane, then as they first occur */
    size_t n_totals;
} AsyncTotals;

/* Returns the sums over run_async_ops() of the same arguments. */
const AsyncTotals *run_async_totals(Run *run, Host *only, bool with_synchronous, ProfErr *err);

#endif
