// SPDX-License-Identifier: Apache-2.0
/* memory_parts.c: finds the most and the least memory in each part of the time; see memory_parts.h.
 */
#include "memory_parts.h"

#include "memory_in_use.h"

#include "../../base/interrupt.h"

__extension__ typedef unsigned __int128 Uint128; /* times of up to 2^64 ps, times parts */

/* The events of an allocator, and what the current one leaves in use. */
typedef struct {
    MemoryEvent **events;
    size_t n, next;
    int64_t bytes;
} InUse;

static Uint128 since_first(const InUse *use, size_t i)
{
    return (uint64_t)use->events[i]->start_ps - (uint64_t)use->events[0]->start_ps;
}

/* Adds the events that start before `end`, a time since the first event. */
static void add_events(InUse *use, Uint128 end, MemoryPart *part, ProfErr *err)
{
    for (; use->next < use->n && since_first(use, use->next) < end; use->next++) {
        if (interrupt_poll(0, err)) return;
        use->bytes = memory_in_use(use->events[use->next]);
        if (use->bytes > part->most_bytes) part->most_bytes = use->bytes;
        if (use->bytes < part->least_bytes) part->least_bytes = use->bytes;
        part->n_events++;
    }
    part->end_bytes = use->bytes;
}

size_t memory_parts(const MemoryAllocator *a, size_t n_parts, MemoryPart *out, ProfErr *err)
{
    InUse use = {.events = memory_by_time(a, err), .n = a->n_events};
    if (!use.events) return 0;
    Uint128 all = since_first(&use, use.n - 1) + 1, start = 0;
    int64_t first_ps = use.events[0]->start_ps;
    size_t n = 0;
    use.bytes = memory_in_use(use.events[0]);
    for (size_t k = 0; k < n_parts && !err->code; k++) {
        Uint128 end = (all * (k + 1) + n_parts - 1) / n_parts;
        if (end == start) continue;
        MemoryPart *part = &out[n++];
        *part = (MemoryPart){.allocator = a,
                             .part = k + 1,
                             .start_ps = (int64_t)((uint64_t)first_ps + (uint64_t)start),
                             .ps = end - start > UINT64_MAX ? UINT64_MAX : (uint64_t)(end - start),
                             .most_bytes = use.bytes,
                             .least_bytes = use.bytes};
        add_events(&use, end, part, err);
        start = end;
    }
    prof_free(use.events);
    return n;
}
