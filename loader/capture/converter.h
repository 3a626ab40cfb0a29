// SPDX-License-Identifier: Apache-2.0
/* converter.h: the state of a conversion. spool_items.c turns records into items; convert.c joins
 * calls with the ranges around them and with the work that they caused. */
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
    uint32_t *name_of_text; /* name, by text id of the spool - 1; 0: not looked up yet */
    size_t n_name_of_text;
    OpenRange *open; /* n_open entries were used; those in the list free_open are free */
    size_t n_open, open_capacity;
    uint32_t free_open;
    uint32_t chains[OPEN_CHAINS]; /* index + 1 of the range opened last in each chain */
    size_t launch_capacity, device_capacity, thread_capacity, link_capacity;
    uint32_t *launch_slots;
    size_t n_launch_slots;
    uint32_t shape_launch[MAX_SHAPES],
        shape_block; /* launches of the shapes of the current block */
    struct {
        uint32_t device, context, line;
    } contexts[MAX_CONTEXTS];
    uint32_t n_contexts;
    uint64_t order;
    bool by_steps; /* recorded with --from-step or --steps */
    char step_range[256];
} Converter;

/* Reads all records of the spool: ranges and calls go to `threads`, device work and facts about
 * calls to `groups`, others to the timeline. Ranges that are still open end with the spool. */
void convert_records(Converter *c);

#endif
