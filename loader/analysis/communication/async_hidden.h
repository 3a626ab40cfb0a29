// SPDX-License-Identifier: Apache-2.0
/* async_hidden.h: visits the transfers and collectives of devices, with the part of their time in
 * which the device computes. For async_ops.h and async_totals.h. */
#ifndef PROF_ASYNC_HIDDEN_H
#define PROF_ASYNC_HIDDEN_H

#include "async_pairs.h"

/* Visits the ops of a device like visit_device_ops(), with hidden_ps and cover. */
bool visit_async_ops(AsyncPlane *p, bool with_synchronous, const AsyncVisitor *visitor,
                     ProfErr *err);

#endif
