// SPDX-License-Identifier: Apache-2.0
/* async_pairs.h: the asynchronous ops of a TPU's core: "x-start" and "x-done" (also send and send-done) as one op.
 *
 * A done names its start in its HLO text, otherwise by its own name. Within one run of a program, a done belongs to the oldest start that
 * has none and does not start after it. Events of the line "Async XLA Ops" are ops of their own, except where they repeat a pair. Collectives
 * and transfers of one event are listed as synchronous. */
#ifndef PROF_ASYNC_PAIRS_H
#define PROF_ASYNC_PAIRS_H

#include "async_ops.h"

/* Appends the plane's ops in any order; hidden_ps and cover are not set. kinds: plane_work_kinds(). False with err set. */
bool find_async_pairs(Plane *plane, const uint8_t *kinds, AsyncOps *ops, ProfErr *err);

#endif
