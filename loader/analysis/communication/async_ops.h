// SPDX-License-Identifier: Apache-2.0
/* async_ops.h: transfers and collectives that can overlap with computing: when they start and end,
 * and for how much of that time the device computes.
 *
 * On a TPU, a pair of ops "x-start" and "x-done" (also send and send-done) is one asynchronous op.
 * Each collective or transfer that the core waits for, a single event, is a synchronous op. On a
 * GPU, each collective kernel (NCCL, RCCL), copy or memset on a stream is one. XProf has no table
 * of these. Times are by the events' clock. */
#ifndef PROF_ASYNC_OPS_H
#define PROF_ASYNC_OPS_H

#include "async_shared.h"

/* One execution of a transfer or collective. */
typedef struct {
    const AsyncShared *shared; /* what it has in common with other executions */
    uint64_t start_event, done_event;
    /* from the start of the start event to the end of the done event */
    int64_t start_ps, duration_ps;
    int64_t hidden_ps;      /* part of duration_ps in which the device computes */
    int64_t done_ps;        /* duration of the done event, in which the device waited */
    const EventMeta *cover; /* the op that hides most of it; NULL if none does */
} AsyncOp;

typedef struct {
    AsyncOp *ops; /* by plane, then by start */
    size_t n_ops;
    SharedOps *shared; /* of synchronous ops, and of GPUs, one set for each device */
    size_t n_shared;
} AsyncOps;

/* Returns the ops of all hosts, or of `only`. Includes synchronous ops only on request, because
 * there may be as many as events. */
const AsyncOps *run_async_ops(Run *run, Host *only, bool with_synchronous, ProfErr *err);

#endif
