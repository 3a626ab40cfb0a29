// SPDX-License-Identifier: Apache-2.0
/* async_pairs.h: joins "x-start" and "x-done" (also send and send-done) of a TPU core to one
 * asynchronous op.
 *
 * A done names its start in its HLO text, otherwise by its own name. Within one run of a program, a
 * done belongs to the oldest start that has none yet and does not start after it. Events of the
 * line "Async XLA Ops" are ops of their own, unless they repeat a pair. Collectives and transfers
 * of a single event are synchronous ops. */
#ifndef PROF_ASYNC_PAIRS_H
#define PROF_ASYNC_PAIRS_H

#include "async_ops.h"

/* Appends the plane's ops in any order, without hidden_ps and cover. `kinds` comes from
 * plane_work_kinds(). Synchronous ops, of which there may be as many as events, only on request. */
bool find_async_pairs(Plane *plane, const uint8_t *kinds, bool with_synchronous, AsyncOps *ops,
                      ProfErr *err);

#endif
