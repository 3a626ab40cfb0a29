// SPDX-License-Identifier: Apache-2.0
/* memory_in_use.h: how much memory an allocator has in use, and in which order that changes, as
 * defined in docs/semantics.md. */
#ifndef PROF_MEMORY_IN_USE_H
#define PROF_MEMORY_IN_USE_H

#include "memory_profile.h"

/* Returns the bytes in use from this event until the next one of its allocator. */
int64_t memory_in_use(const MemoryEvent *event);

/* Returns the events of an allocator by session time, which the caller frees; NULL without memory,
 * with err set. */
MemoryEvent **memory_by_time(const MemoryAllocator *allocator, ProfErr *err);

#endif
