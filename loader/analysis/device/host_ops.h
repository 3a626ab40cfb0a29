// SPDX-License-Identifier: Apache-2.0
/* host_ops.h: ops that the threads of a process run. In a run without devices they are the work.
 *
 * An op is an event with a stat `hlo_op`, or one named like an op of TensorFlow (`name:Type`) that
 * fetches no input. Only events with a time of their own and a duration count. */
#ifndef PROF_HOST_OPS_H
#define PROF_HOST_OPS_H

#include "../../store/events.h"

typedef struct {
    StatFilter filter;
    bool *by_name; /* by index of event metadata: it is named like an op */
} HostOps;
/* Called for each op, in stored order. Returns false only if memory runs out. */
typedef bool HostOpVisitor(void *context, const EventAt *e);

/* Prepares a plane of kind host. False with err set; host_ops_close() is needed in any case. */
bool host_ops_open(HostOps *ops, const Plane *plane, ProfErr *err);
void host_ops_close(HostOps *ops);
/* Calls `visit` for the ops of a line of this plane; of a derived line, for none. */
bool host_ops_walk(const HostOps *ops, Line *line, HostOpVisitor *visit, void *context,
                   ProfErr *err);

#endif
