// SPDX-License-Identifier: Apache-2.0
/* async_pairs.h: joins "x-start" and "x-done" (also send and send-done) of a TPU core to one
 * asynchronous op.
 *
 * A done names its start in its HLO text, otherwise by its own name. Within one run of a program, a
 * done belongs to the oldest start that has none yet and does not start after it. Events of the
 * line "Async XLA Ops" are ops of their own, unless they repeat a pair. Collectives and transfers
 * of a single event are listed as synchronous. */
#ifndef PROF_ASYNC_PAIRS_H
#define PROF_ASYNC_PAIRS_H

#include "async_ops.h"

/* Appends the plane's ops in any order, without hidden_ps and cover. `kinds` comes from
 * plane_work_kinds(). */
bool find_async_pairs(Plane *plane, const uint8_t *kinds, AsyncOps *ops, ProfErr *err);

#endif
