// SPDX-License-Identifier: Apache-2.0
/* device_work.h: cuts a device's work into pieces that each belong to one event.
 *
 * Ops nest on an op line. Each moment belongs to the innermost running op: the one that started
 * last; if several started together the shortest, then the last in the file. On a GPU's streams
 * every event is one piece. Aggregated events, which have no times of their own, are left out. */
#ifndef PROF_DEVICE_WORK_H
#define PROF_DEVICE_WORK_H

#include "work_kind.h"

/* A piece of an event. start < end, in ps. */
typedef struct {
    const EventMeta *meta;
    uint64_t event; /* ordinal in the run */
    int64_t start, end;
} WorkPiece;
/* Called for each piece. Pieces of one line come by time if the line's events do. A visitor returns
 * false only if memory runs out; that ends the walk with PROF_NOMEM. */
typedef bool WorkVisitor(void *context, const WorkPiece *piece);

/* When a device works. */
typedef struct {
    bool any;           /* the device has work; else start and end are 0 */
    int64_t start, end; /* first start and last end of its work, in ps */
} WorkRange;

/* Calls `visit` for all work of a device and sets *range. */
bool device_work_walk(const Plane *plane, WorkVisitor *visit, void *context, WorkRange *range,
                      ProfErr *err);
/* Like device_work_walk(), for one of the device's lines (line_is_work()). */
bool device_line_walk(const Line *line, WorkVisitor *visit, void *context, WorkRange *range,
                      ProfErr *err);

#endif
