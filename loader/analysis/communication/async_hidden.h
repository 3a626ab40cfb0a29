// SPDX-License-Identifier: Apache-2.0
/* async_hidden.h: visits the transfers and collectives of devices, with the part of their time in
 * which the device computes. For async_ops.h and async_totals.h. */
#ifndef PROF_ASYNC_HIDDEN_H
#define PROF_ASYNC_HIDDEN_H

#include "async_pairs.h"

/* A device. */
typedef struct {
    Plane *plane;
    const FoundOps *pairs;
    SharedOps shared; /* of synchronous ops, and of a GPU; the others are kept with the pairs */
} AsyncPlane;

/* Returns the devices of all hosts, or of `only`. To be freed by the caller. */
AsyncPlane *list_async_planes(Run *run, Host *only, size_t *n, ProfErr *err);
/* Visits the ops of a device in any order. */
bool visit_async_ops(AsyncPlane *p, bool with_synchronous, const AsyncVisitor *visitor,
                     ProfErr *err);

#endif
