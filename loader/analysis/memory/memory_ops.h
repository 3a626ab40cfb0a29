// SPDX-License-Identifier: Apache-2.0
/* memory_ops.h: what each op allocated, and how much of that was freed. */
#ifndef PROF_MEMORY_OPS_H
#define PROF_MEMORY_OPS_H

#include "memory_profile.h"

/* Sizes of a file can add up to more than int64 holds, and be negative. As aligned as our memory.
 */
__extension__ typedef __int128 ByteSum __attribute__((aligned(8)));

/* The allocations of one op from one allocator. */
typedef struct {
    const MemoryAllocator *allocator;
    const Text *tf_op; /* empty if unknown */
    uint64_t n, n_freed;
    ByteSum allocation_bytes, requested_bytes, freed_bytes;
    int64_t largest_bytes;
    double life_ps; /* of those that were freed */
} MemoryOp;

typedef struct {
    MemoryOp *rows; /* by allocator, then by the first allocation in XProf's order */
    size_t n, capacity;
} MemoryOps;

/* Returns the ops of one host. */
const MemoryOps *host_memory_ops(Host *host, ProfErr *err);

#endif
