// SPDX-License-Identifier: Apache-2.0
/* async_shared.h: what executions of one transfer or collective have in common. It is kept once,
 * however often the op ran. */
#ifndef PROF_ASYNC_SHARED_H
#define PROF_ASYNC_SHARED_H

#include "../../base/list.h"
#include "../device/work_kind.h"

/* Which events an execution consists of. */
enum AsyncForm {
    ASYNC_UNFINISHED,  /* a start event without a done */
    ASYNC_PAIR,        /* a start and a done */
    ASYNC_SYNCHRONOUS, /* a single event during which the core computes nothing */
    ASYNC_SPAN,        /* a single event of the line "Async XLA Ops" */
    ASYNC_START_SPAN,  /* a start without a done, and the event of that line that shows its end */
    ASYNC_GPU,         /* a kernel, copy or memset on a stream */
};

typedef struct {
    const Plane *plane;
    enum AsyncForm form;
    /* Metadata of the two events; the same for a single event. done is NULL if the profile ends
     * before it. */
    const EventMeta *start, *done;
    Slice op, done_op;    /* names of the two */
    const Text *category; /* NULL if unknown */
    enum WorkKind kind;   /* WORK_COLLECTIVE or WORK_TRANSFER */
    bool has_program;
    uint64_t program_id;
    Slice hlo_op;                        /* GPU collective: its HLO instruction; empty if unknown */
    int64_t bytes_moved, bytes_accessed; /* -1 if unknown */
} AsyncShared;

/* A set of them. Starts as {0}. */
typedef struct {
    LIST(AsyncShared *) ops; /* in the arena */
    HashTable by_key;
    Arena arena;
} SharedOps;

/* Returns the one that equals `key` in form, start and done, and on a GPU in hlo_op, program and
 * bytes_moved; NULL if there is none. */
const AsyncShared *shared_find(const SharedOps *all, const AsyncShared *key);
/* Adds one that shared_find() does not find. NULL if memory runs out. */
const AsyncShared *shared_add(SharedOps *all, const AsyncShared *op);
void shared_free(SharedOps *all);

#endif
