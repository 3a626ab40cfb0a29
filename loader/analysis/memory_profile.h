// SPDX-License-Identifier: Apache-2.0
/* memory_profile.h: what allocators did, by the MemoryAllocation and MemoryDeallocation events of a host.
 *
 * XProf's rules, and beside them what is true where they are known to be wrong: XProf orders the events of an allocator by
 * their offset in their line, ours is the time in the session; XProf takes for live at the peak what the step of the peak
 * allocated, ours is what no later event had freed. */
#ifndef PROF_MEMORY_PROFILE_H
#define PROF_MEMORY_PROFILE_H

#include "../run.h"

typedef struct MemoryEvent MemoryEvent;
struct MemoryEvent {
    uint64_t event;        /* ordinal in the run */
    uint64_t turn;         /* the ordinal by which XProf comes upon it */
    const Text *allocator; /* empty: the event names none */
    const struct MemoryAllocator *owner;
    size_t place;                   /* in the owner's events */
    int64_t start_ps, line_time_ps; /* from the session's start; the offset in the line, which XProf shows */
    int64_t duration_ps;
    int64_t requested_bytes, allocation_bytes, heap_bytes, stack_bytes, free_bytes, peak_bytes; /* 0: the event does not say */
    double fragmentation;
    uint64_t address;
    const Text *tf_op, *region_type, *data_type, *shape; /* empty: not known; of a free: the allocation's that it undoes */
    int64_t group;                                       /* -1: none */
    int64_t step;                                        /* the group, or XProf's guess where there is none */
    MemoryEvent *match;                                  /* the free of an allocation and back, by true time; NULL: not in the profile */
    const MemoryEvent *reuse;                            /* the allocation that found this one's address live: its free was not seen */
    bool is_free;
};

enum SpecialMemory { MEMORY_ORDINARY, MEMORY_UNUSED, MEMORY_STACK };
extern const char *const special_memory_names[]; /* NULL for MEMORY_ORDINARY */

/* Equal allocations that were live at the peak, by XProf's rules. */
typedef struct {
    enum SpecialMemory special;
    const MemoryEvent *event; /* the first of them in the file; NULL for special ones */
    int64_t requested_bytes, allocation_bytes, occurrences;
    const Text *tf_op, *region_type, *data_type, *shape;
} ActiveMemory;

typedef struct MemoryAllocator {
    const Text *name;
    MemoryEvent **events; /* in XProf's order of time */
    size_t n_events;
    int64_t n_allocations, n_frees, n_unmatched_frees;
    const MemoryEvent *peak;                 /* the last event with the largest heap + stack */
    int64_t peak_bytes, capacity_bytes;      /* at it */
    int64_t last_peak_bytes, max_peak_bytes; /* of the allocator's life: of the last event (XProf's), the largest said */
    int64_t peak_step;
    ActiveMemory *active; /* in XProf's order */
    size_t n_active;
} MemoryAllocator;

typedef struct {
    MemoryAllocator *allocators; /* by name */
    size_t n_allocators;
    MemoryEvent **events; /* by ordinal */
    size_t n_events, event_capacity;
    MemoryEvent **by_allocator; /* those of one allocator after those of another */
    TextTable texts;
    Arena arena;
} MemoryProfile;

/* The memory profile of one host; NULL with err set. Lives as long as the run. */
const MemoryProfile *host_memory_profile(Host *host, ProfErr *err);

/* The event of an ordinal, NULL when it is none of an allocator. */
const MemoryEvent *memory_event(const MemoryProfile *profile, uint64_t event);

/* Is this one of the `n_samples` events of its allocator that XProf draws? Equal stretches of the order of time give one
 * each, the largest in use. *winner keeps the place of a stretch's while events are asked for in order; SIZE_MAX at first. */
bool memory_sampled(const MemoryEvent *event, size_t n_samples, size_t *winner);

#endif
