/* async_ops.h: what runs beside the ops of a device: transfers and collectives from start to done, and how much of their time
 * the device's computing hides.
 *
 * On a TPU a pair of ops, "x-start" and "x-done", is one (also send and send-done); ops between them may hide it. On a GPU it
 * is a collective (NCCL, RCCL) or a copy on a stream, and kernels on any stream of the device may hide it. XProf has no such
 * table. Times are of the events, not of the device's clock. */
#ifndef PROF_ASYNC_OPS_H
#define PROF_ASYNC_OPS_H

#include "tf_op.h"

#include "../run.h"

typedef struct {
    const Plane *plane;
    const EventMeta *start, *done; /* of a GPU the same; done NULL: the profile ends before it */
    Slice op, done_op;             /* names of the two; borrow from the run */
    const Text *category;          /* NULL: the file does not say */
    uint64_t start_event, done_event;
    int64_t start_ps, duration_ps; /* from the beginning of start to the end of done */
    int64_t hidden_ps;             /* of it beside other ops that compute */
    int64_t done_ps;               /* how long done itself took: the device waited */
    const EventMeta *cover;        /* the op that hides most of it; NULL: none */
    int64_t cover_ps;
    int64_t bytes; /* moved, -1: the file does not say */
} AsyncOp;

typedef struct {
    AsyncOp *ops; /* planes in order, by start within */
    size_t n_ops;
} AsyncOps;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const AsyncOps *run_async_ops(Run *run, Host *only, ProfErr *err);

#endif
