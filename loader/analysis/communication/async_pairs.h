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

#include "../../base/list.h"
#include "async_ops.h"

/* Ops of one plane, without hidden_ps and cover. Starts as {0}. */
typedef struct {
    LIST(AsyncOp) ops;
    SharedOps shared;
} FoundOps;

/* Callbacks for ops that are not kept, because there may be as many as events. If a callback
 * returns false with err set, the walk stops. */
typedef struct {
    void *context;
    bool (*take)(void *context, const AsyncOp *op, ProfErr *err);
} AsyncVisitor;

/* Returns the asynchronous ops of a host's planes, by index of the plane, in any order. Only TPU
 * cores have some. They are kept, because several analyses need them. */
const FoundOps *host_async_pairs(Host *host, ProfErr *err);
/* A device. */
typedef struct {
    Plane *plane;
    const FoundOps *pairs;
    SharedOps shared; /* of synchronous ops, and of a GPU; the others are kept with the pairs */
} AsyncPlane;
/* Returns the devices of all hosts, or of `only`. To be freed by the caller. */
AsyncPlane *list_async_planes(Run *run, Host *only, size_t *n, ProfErr *err);
/* Appends the asynchronous ops of one plane. For host_async_pairs(). */
bool find_async_pairs(Plane *plane, const uint8_t *kinds, FoundOps *found, ProfErr *err);
/* Visits the synchronous ops of a TPU plane. `kinds` comes from plane_work_kinds(). */
bool find_synchronous(Plane *plane, const uint8_t *kinds, const AsyncVisitor *visitor,
                      SharedOps *shared, ProfErr *err);
/* Visits the collectives, copies and memsets on the streams of a GPU. */
bool find_gpu_async(Plane *plane, const uint8_t *kinds, const AsyncVisitor *visitor,
                    SharedOps *shared, ProfErr *err);
/* Visits the ops of a device in any order: those of the functions above, and its pairs. `kinds`
 * comes from plane_work_kinds(). */
bool visit_device_ops(AsyncPlane *p, const uint8_t *kinds, bool with_synchronous,
                      const AsyncVisitor *visitor, ProfErr *err);

#endif
