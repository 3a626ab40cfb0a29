// SPDX-License-Identifier: Apache-2.0
/* trace_parts.h: formats a trace on several threads.
 *
 * trace_export.c adds the items of the trace in order. They are collected in parts, which other
 * threads format while more are added, and which are written in order. Names and arguments of
 * events are only read here. */
#ifndef PROF_TRACE_PARTS_H
#define PROF_TRACE_PARTS_H

#include "trace_export.h"

/* The line that events come from. */
typedef struct {
    const TraceViewer *viewer;
    Line *line; /* NULL: a derived line */
    const DerivedLine *derived;
    uint64_t flow_mask; /* makes the flows of different hosts different */
} TraceSource;

enum TraceItemKind { ITEM_TRACK, ITEM_END, ITEM_SLICE, ITEM_COUNTER };
/* What `index` counts. */
enum TraceItemOf { OF_EVENTS, OF_REGIONS, OF_STEPS, OF_DERIVED };

typedef struct {
    uint8_t kind; /* enum TraceItemKind */
    uint8_t of;   /* enum TraceItemOf, of an ITEM_SLICE or ITEM_COUNTER */
    uint32_t track;
    uint32_t source; /* of an ITEM_SLICE or ITEM_COUNTER */
    TraceTime at;
    int64_t duration_ps; /* of an ITEM_SLICE */
    uint64_t index;
} TraceItem;

typedef struct TraceParts TraceParts;

/* NULL with err set. */
TraceParts *trace_parts_open(const Run *run, const TraceOptions *options, int64_t unix_ns,
                             ProfErr *err);
/* Returns the address of the track, which the caller fills in before it adds the next item. */
TraceTrack *trace_parts_add_track(TraceParts *p, ProfErr *err);
/* Returns the number for TraceItem.source; any number with err set. */
uint32_t trace_parts_add_source(TraceParts *p, const TraceSource *source, ProfErr *err);
/* Returns the track of an id. */
const TraceTrack *trace_parts_track(const TraceParts *p, uint32_t id);
void trace_parts_add(TraceParts *p, const TraceItem *item, ProfErr *err);
/* Writes the rest, and sets *n_bytes to the size of the trace. Frees everything. */
void trace_parts_close(TraceParts *p, uint64_t *n_bytes, ProfErr *err);

#endif
