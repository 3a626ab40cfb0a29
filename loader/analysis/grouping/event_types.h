// SPDX-License-Identifier: Apache-2.0
/* event_types.h: event names that have a meaning in XProf's grouping and trace viewer. */
#ifndef PROF_EVENT_TYPES_H
#define PROF_EVENT_TYPES_H

#include "../../base/tf_op.h"

enum EventType {
    EVENT_UNTYPED,
    EVENT_NAMED,    /* a name in XProf's table that is not used here */
    EVENT_INTERNAL, /* like EVENT_NAMED, and not shown in the trace viewer */
    EVENT_TF_OP,
    EVENT_TF_DATA,
    /* Events with names. Launches and kernels that profilers record have no fixed names; they are
       recognised by their correlation_id. */
    EVENT_KERNEL_LAUNCH,
    EVENT_KERNEL_EXECUTE,
    EVENT_TRACE_CONTEXT,
    EVENT_FUNCTION_RUN,
    EVENT_SESSION_RUN,
    EVENT_RUN_GRAPH,
    EVENT_EXECUTOR_PROCESS,
    EVENT_EAGER_EXECUTE,
    EVENT_CAPTURED_FUNCTION, /* of tf.data */
    EVENT_GET_NEXT,
    EVENT_GET_NEXT_OPTIONAL,
    EVENT_LOOP_OP,
    EVENT_PROCESS_BATCH,
    EVENT_BATCHING_SESSION_RUN,
    EVENT_TPU_EXECUTE_OP,
    EVENT_ENQUEUE_REQUEST,
    EVENT_QUEUED_REQUEST, /* the request that EVENT_ENQUEUE_REQUEST enqueues */
    EVENT_ENQUEUE_PROGRAM,
    EVENT_ENQUEUE_CONTINUATION,
    EVENT_COMPLETE_CALLBACKS,
    EVENT_START_REGION,
    EVENT_STOP_REGION,
};

/* Returns the type of an event by its exact name, or else as the name of a framework op. */
enum EventType event_type(const Text *name);
/* Returns the type of an event by its exact name only. */
enum EventType event_type_named(const Text *name);

#endif
