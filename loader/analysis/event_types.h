// SPDX-License-Identifier: Apache-2.0
/* event_types.h: event names that mean something to XProf's grouping and trace viewer. */
#ifndef PROF_EVENT_TYPES_H
#define PROF_EVENT_TYPES_H

#include "tf_op.h"

enum EventType {
    EVENT_UNTYPED,
    EVENT_NAMED,    /* a name of XProf's table that nothing here asks for */
    EVENT_INTERNAL, /* the same, and left out of the trace viewer */
    EVENT_TF_OP,
    EVENT_TF_DATA,
    EVENT_KERNEL_LAUNCH, /* by its name; launches and kernels of profilers are known by their correlation_id */
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
    EVENT_QUEUED_REQUEST, /* what EVENT_ENQUEUE_REQUEST enqueues */
    EVENT_ENQUEUE_PROGRAM,
    EVENT_ENQUEUE_CONTINUATION,
    EVENT_COMPLETE_CALLBACKS,
    EVENT_START_REGION,
    EVENT_STOP_REGION,
};

/* By the exact name, else as the name of a framework op. */
enum EventType event_type(const Text *name);
/* By the exact name alone. */
enum EventType event_type_named(const Text *name);

#endif
