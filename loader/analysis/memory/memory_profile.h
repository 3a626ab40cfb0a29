// SPDX-License-Identifier: Apache-2.0
/* memory_profile.h: the allocations and frees of each allocator, from the MemoryAllocation and
 * MemoryDeallocation events of a host.
 *
 * The fields have XProf's values and, where those are known to be wrong, the correct ones too.
 * XProf orders the events of an allocator by their offset in their line; the correct order is by
 * session time. XProf treats as live at the peak what the peak's step allocated; the correct list
 * is what no later event freed. */
#ifndef PROF_MEMORY_PROFILE_H
#define PROF_MEMORY_PROFILE_H

#include "../../run.h"

typedef struct MemoryEvent MemoryEvent;
/* An allocation or a free. */
struct MemoryEvent {
    uint64_t event;        /* ordinal in the run */
    uint64_t turn;         /* position in the order in which XProf reads events */
    const Text *allocator; /* empty if the event names none */
    const struct MemoryAllocator *owner;
    size_t place; /* index in owner->events */
    /* start_ps: session time; line_time_ps: offset in the line, which XProf shows */
    int64_t start_ps, line_time_ps;
    int64_t duration_ps;
    /* 0 if the event does not record it. */
    int64_t requested_bytes, allocation_bytes, heap_bytes, stack_bytes, free_bytes, peak_bytes;
    double fragmentation;
    uint64_t address;
    /* Empty if unknown. A free has those of its allocation. */
    const Text *tf_op, *region_type, *data_type, *shape;
    int64_t group; /* -1: none */
    int64_t step;  /* the group or, if there is none, XProf's guess */
    /* The free of an allocation, or the allocation of a free, by session time. NULL if it is not in
     * the profile. */
    MemoryEvent *match;
    /* The next allocation at this address that was made while this one was live: its free was not
     * recorded. NULL if there is none. */
    const MemoryEvent *reuse;
    bool is_free;
    /* Whether it is its allocator's first or last event in its step, by session time. */
    bool first_of_step, last_of_step;
};

enum SpecialMemory { MEMORY_ORDINARY, MEMORY_UNUSED, MEMORY_STACK };
extern const char *const special_memory_names[]; /* NULL for MEMORY_ORDINARY */

/* Equal allocations that are live at the peak, by XProf's rules. */
typedef struct {
    enum SpecialMemory special;
    const MemoryEvent *event; /* the first in the file; NULL for special ones */
    int64_t requested_bytes, allocation_bytes, occurrences;
    const Text *tf_op, *region_type, *data_type, *shape;
} ActiveMemory;

/* An allocator with its events and its peak. */
typedef struct MemoryAllocator {
    const Text *name;
    MemoryEvent **events; /* in XProf's order of time */
    size_t n_events;
    int64_t n_allocations, n_frees, n_unmatched_frees;
    const MemoryEvent *peak;            /* last event with the largest heap + stack */
    int64_t peak_bytes, capacity_bytes; /* at `peak` */
    /* Heap at `peak` that no allocation in the profile explains: memory that was allocated before
     * the first event and not freed since, and the rest, which is negative if live allocations
     * exceed the heap. */
    int64_t earlier_bytes, unknown_bytes;
    /* Peaks that events record for the allocator's lifetime: that of the last event (XProf's
     * value), and the largest. */
    int64_t last_peak_bytes, max_peak_bytes;
    int64_t peak_step;
    ActiveMemory *active; /* in XProf's order */
    size_t n_active;
} MemoryAllocator;

enum { N_DATA_TYPES = 256 };
/* The allocators of a host. */
typedef struct {
    MemoryAllocator *allocators; /* by name */
    size_t n_allocators;
    MemoryEvent *events; /* by ordinal */
    size_t n_events;
    MemoryEvent **by_allocator;                     /* sorted by allocator */
    _Atomic(const Text *) data_types[N_DATA_TYPES]; /* names of the types seen so far */
    TextTable texts;                                /* texts and arena: under the lock */
    Arena arena;
    pthread_mutex_t lock;
} MemoryProfile;

/* Returns the memory profile of one host. */
const MemoryProfile *host_memory_profile(Host *host, ProfErr *err);

/* Returns the event with this ordinal; NULL if it is not an event of an allocator. */
const MemoryEvent *memory_event(const MemoryProfile *profile, uint64_t event);

/* Returns the event that ends an allocation: its free, or the next allocation at its address. NULL
 * if it was live until the end, and for a free. */
const MemoryEvent *memory_end(const MemoryEvent *event);

/* Returns whether the memory of an allocation is live right after its allocator's peak: allocated
 * until then, and neither freed nor allocated again. False for a free. */
bool memory_live_at_peak(const MemoryEvent *event);

/* Returns whether XProf draws this event if it draws n_samples of its allocator: the events in
 * order of time are split into parts of equal size, and each part is represented by its event with
 * the most memory in use. *winner is SIZE_MAX for the first event of an allocator; it keeps the
 * result of a part for the next call. */
bool memory_sampled(const MemoryEvent *event, size_t n_samples, size_t *winner);

#endif
