// SPDX-License-Identifier: Apache-2.0
/* memory_levels.h: how long an allocator's memory in use was at each level, as defined in
 * docs/semantics.md. */
#ifndef PROF_MEMORY_LEVELS_H
#define PROF_MEMORY_LEVELS_H

#include "memory_profile.h"

/* The time in which the memory in use is above one bound and at most another one. */
typedef struct {
    const MemoryAllocator *allocator;
    size_t level;                    /* from 1; 0: no memory is in use */
    int64_t least_bytes, most_bytes; /* inclusive bounds */
    uint64_t ps, at_least_ps;        /* time in this level; time in this or a higher one */
    int64_t first_ps;                /* time of the first event that reached it */
    double mean_bytes;               /* average of the allocator, weighted by time */
    uint64_t total_ps;               /* time of the allocator, from its first to its last event */
} MemoryLevel;

enum { MOST_LEVELS = 1000 };

/* Divides the allocator's peak into n_levels equal levels, at most MOST_LEVELS. Writes those that
 * an event reached, the lowest first, to `levels`, which has room for n_levels + 1. Returns how
 * many there are. */
size_t memory_levels(const MemoryAllocator *allocator, size_t n_levels, MemoryLevel *levels,
                     ProfErr *err);

#endif
