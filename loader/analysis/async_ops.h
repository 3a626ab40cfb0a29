// SPDX-License-Identifier: Apache-2.0
/* async_ops.h: transfers and collectives of a device that computing may hide: from start to done, and how much of their time the device
 * computes.
 *
 * On a TPU a pair of ops, "x-start" and "x-done", is one (also send and send-done), and so is each collective or transfer that the core waits
 * for (synchronous: one event). On a GPU each collective kernel (NCCL, RCCL), copy or
 * memset of a stream is one. XProf has no such table. Times are of the event clock. */
#ifndef PROF_ASYNC_OPS_H
#define PROF_ASYNC_OPS_H

#include "work_kind.h"

typedef struct {
    const Plane *plane;
    const EventMeta *start, *done; /* on a GPU the same; done NULL: the profile ends before it */
    Slice op, done_op;             /* names of the two; borrow from the run */
    const Text *category;          /* NULL: unknown */
    enum WorkKind kind;            /* collective or transfer */
    bool is_synchronous;           /* one op of a core that computes nothing meanwhile */
    uint64_t program_id;
    bool has_program;
    Slice hlo_op; /* of a GPU's collective: the instruction; empty: unknown */
    uint64_t start_event, done_event;
    int64_t start_ps, duration_ps; /* from the start of start to the end of done */
    int64_t hidden_ps;             /* part in which the device computes */
    int64_t done_ps;               /* duration of done itself: the device waited */
    const EventMeta *cover;        /* the op that hides most of it; NULL: none */
    int64_t cover_ps;
    int64_t bytes_moved, bytes_accessed; /* -1: unknown */
} AsyncOp;

typedef struct {
    AsyncOp *ops; /* planes in order, by start within */
    size_t n_ops, capacity;
} AsyncOps;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const AsyncOps *run_async_ops(Run *run, Host *only, ProfErr *err);

#endif
