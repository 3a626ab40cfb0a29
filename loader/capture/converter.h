// SPDX-License-Identifier: Apache-2.0
/* converter.h: the state of a conversion. spool_items.c turns records into items, convert.c joins
 * calls with the ranges around them and the work that they caused. */
#ifndef PROF_CAPTURE_CONVERTER_H
#define PROF_CAPTURE_CONVERTER_H

#include "timeline.h"

enum { OPEN_CHAINS = 1 << 12 };

typedef struct {
    uint32_t thread, domain;
    uint64_t range;
    bool is_push;
    uint32_t
        outer; /* index + 1 of the one opened before in the same chain, or of the next free one */
    Item item;
} OpenRange;

typedef struct {
    Timeline t;
    Sorter *threads, *groups;
    uint32_t *name_of_text; /* spool's text id - 1 to name, 0: not asked yet */
    size_t n_name_of_text;
    OpenRange *open; /* n_open used so far; of them those from free_open on are free */
    size_t n_open, open_capacity;
    uint32_t free_open,
        chains[OPEN_CHAINS]; /* index + 1; a chain begins with the range opened last */
    size_t launch_capacity, device_capacity, thread_capacity, link_capacity;
    uint32_t *launch_slots;
    size_t n_launch_slots;
    uint32_t shape_launch[MAX_SHAPES],
        shape_block; /* launches of the shapes of the block being read */
    struct {
        uint32_t device, context, line;
    } contexts[MAX_CONTEXTS];
    uint32_t n_contexts;
    uint64_t order;
    bool by_steps; /* recorded for --from-step or --steps */
    char step_range[256];
} Converter;

/* Reads all records of the spool: ranges and calls go to `threads`, device work and what is known
 * of calls to `groups`, the others to the timeline. Ranges that are still open end with the spool.
 */
void convert_records(Converter *c);

#endif
