// SPDX-License-Identifier: Apache-2.0
/* memory_parts.h: how much memory an allocator has in use in each part of its time, as defined in
 * docs/semantics.md. */
#ifndef PROF_MEMORY_PARTS_H
#define PROF_MEMORY_PARTS_H

#include "memory_profile.h"

/* A part of the time from an allocator's first event to its last one. */
typedef struct {
    const MemoryAllocator *allocator;
    size_t part; /* from 1 */
    int64_t start_ps;
    uint64_t ps;
    uint64_t n_events;
    int64_t most_bytes, least_bytes, end_bytes;
} MemoryPart;

enum { MOST_PARTS = 1000 };

/* Divides the allocator's time into n_parts equal parts, at most MOST_PARTS. Writes those that
 * contain a picosecond, in order, to `parts`, which has room for n_parts. Returns how many there
 * are. */
size_t memory_parts(const MemoryAllocator *allocator, size_t n_parts, MemoryPart *parts,
                    ProfErr *err);

#endif
