// SPDX-License-Identifier: Apache-2.0
/* memory_in_use.c: memory in use by allocators; see memory_in_use.h. */
#include "memory_in_use.h"

#include "../../base/sort.h"

int64_t memory_in_use(const MemoryEvent *e)
{
    int64_t bytes = (int64_t)((uint64_t)e->heap_bytes + (uint64_t)e->stack_bytes);
    return bytes > 0 ? bytes : 0;
}

static int by_time(const void *a, const void *b)
{
    const MemoryEvent *x = *(MemoryEvent *const *)a, *y = *(MemoryEvent *const *)b;
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    return ORDER(x->event, y->event);
}

MemoryEvent **memory_by_time(const MemoryAllocator *a, ProfErr *err)
{
    MemoryEvent **events = prof_buffer(a->n_events * sizeof *events);
    if (!events) {
        prof_nomem(err);
        return NULL;
    }
    memcpy(events, a->events, a->n_events * sizeof *events);
    sort_array(events, a->n_events, sizeof *events, by_time);
    return events;
}
