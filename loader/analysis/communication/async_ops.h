// SPDX-License-Identifier: Apache-2.0
/* async_ops.h: transfers and collectives that a device can hide behind computing: when they start
 * and end, and during how much of that time the device computes.
 *
 * On a TPU, a pair of ops "x-start" and "x-done" (also send and send-done) is one asynchronous op.
 * Each collective or transfer that the core waits for, a single event, is listed as synchronous. On
 * a GPU, each collective kernel (NCCL, RCCL), copy or memset on a stream is one. XProf has no table
 * of these. Times are by the events' clock. */
#ifndef PROF_ASYNC_OPS_H
#define PROF_ASYNC_OPS_H

#include "../device/work_kind.h"

/* One execution of a transfer or collective. */
typedef struct {
    const Plane *plane;
    /* Metadata of the two events; on a GPU the same. done is NULL if the profile ends before it. */
    const EventMeta *start, *done;
    Slice op, done_op;    /* names of the two */
    const Text *category; /* NULL if unknown */
    enum WorkKind kind;   /* WORK_COLLECTIVE or WORK_TRANSFER */
    bool is_synchronous;  /* a single op during which the core computes nothing */
    uint64_t program_id;
    bool has_program;
    Slice hlo_op; /* GPU collective: its HLO instruction; empty if unknown */
    uint64_t start_event, done_event;
    int64_t start_ps, duration_ps;       /* from the start of `start` to the end of `done` */
    int64_t hidden_ps;                   /* part of duration_ps in which the device computes */
    int64_t done_ps;                     /* duration of the done event: the device waited */
    const EventMeta *cover;              /* the op that hides most of it; NULL: none */
    int64_t cover_ps;                    /* part of duration_ps that `cover` hides */
    int64_t bytes_moved, bytes_accessed; /* -1 if unknown */
} AsyncOp;

typedef struct {
    AsyncOp *ops; /* by plane, then by start */
    size_t n_ops, capacity;
} AsyncOps;

/* Returns the ops of all hosts, or of `only`. */
const AsyncOps *run_async_ops(Run *run, Host *only, ProfErr *err);

#endif
