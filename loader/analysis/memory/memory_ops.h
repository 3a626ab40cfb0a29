// SPDX-License-Identifier: Apache-2.0
/* memory_ops.h: what each op allocated, and how much of that was freed. */
#ifndef PROF_MEMORY_OPS_H
#define PROF_MEMORY_OPS_H

#include "memory_profile.h"

/* The allocations of one op from one allocator. Sums are saturated. */
typedef struct {
    const MemoryAllocator *allocator;
    const Text *tf_op; /* empty if unknown */
    uint64_t n, n_freed;
    int64_t allocation_bytes, requested_bytes, largest_bytes, freed_bytes;
    double life_ps; /* of those that were freed */
} MemoryOp;

typedef struct {
    MemoryOp *rows; /* by allocator, then by the first allocation in XProf's order */
    size_t n, capacity;
} MemoryOps;

/* Returns the ops of one host. */
const MemoryOps *host_memory_ops(Host *host, ProfErr *err);

#endif
