// SPDX-License-Identifier: Apache-2.0
/* memory_levels.c: sums the time at each level of memory; see memory_levels.h. */
#include "memory_levels.h"

#include "memory_in_use.h"

#include "../../base/interrupt.h"

__extension__ typedef __int128 Int128; /* products of two 64-bit numbers */

/* The upper bound of a level. */
static int64_t most_of(int64_t peak, size_t level, size_t n_levels)
{
    return (int64_t)((Int128)peak * (Int128)level / (Int128)n_levels);
}

/* Returns the lowest level whose upper bound is not less than the bytes. */
static size_t level_of(int64_t bytes, int64_t peak, size_t n_levels)
{
    return (size_t)(((Int128)bytes * (Int128)n_levels + peak - 1) / peak);
}

typedef struct {
    uint64_t ps;
    int64_t first_ps;
    bool reached;
} Level;

/* Adds up the time from each event to the next one. Returns the sum of bytes x ps. */
static double add_times(MemoryEvent *const *events, size_t n, int64_t peak, size_t n_levels,
                        Level *levels, ProfErr *err)
{
    double sum = 0;
    for (size_t i = 0; i < n && !interrupt_poll(0, err); i++) {
        int64_t bytes = memory_in_use(events[i]);
        Level *level = &levels[bytes ? level_of(bytes, peak, n_levels) : 0];
        uint64_t ps =
            i + 1 < n ? (uint64_t)events[i + 1]->start_ps - (uint64_t)events[i]->start_ps : 0;
        if (!level->reached) level->first_ps = events[i]->start_ps;
        level->reached = true;
        level->ps += ps;
        sum += (double)bytes * (double)ps;
    }
    return sum;
}

size_t memory_levels(const MemoryAllocator *a, size_t n_levels, MemoryLevel *out, ProfErr *err)
{
    Level levels[MOST_LEVELS + 1] = {0};
    int64_t peak = a->peak_bytes;
    MemoryEvent **events = memory_by_time(a, err);
    if (!events) return 0;
    double sum = add_times(events, a->n_events, peak, n_levels, levels, err);
    prof_free(events);
    size_t n = 0;
    uint64_t total = 0, below = 0;
    for (size_t k = 0; k <= n_levels; k++) total += levels[k].ps;
    for (size_t k = 0; k <= n_levels; below += levels[k++].ps)
        if (levels[k].reached)
            out[n++] = (MemoryLevel){.allocator = a,
                                     .level = k,
                                     .least_bytes = k ? most_of(peak, k - 1, n_levels) + 1 : 0,
                                     .most_bytes = most_of(peak, k, n_levels),
                                     .ps = levels[k].ps,
                                     .at_least_ps = total - below,
                                     .first_ps = levels[k].first_ps,
                                     .mean_bytes = sum / (double)total,
                                     .total_ps = total};
    return n;
}
