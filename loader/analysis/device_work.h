// SPDX-License-Identifier: Apache-2.0
/* device_work.h: what a device does from moment to moment: its work cut into pieces that each belong to one event.
 *
 * On an op line ops nest; a moment belongs to the innermost, which is the op that started last of those that run (of several that started
 * together the shortest, then the last in the file). On a GPU's streams every event is one piece. Events without times of their own
 * (aggregated) are left out. */
#ifndef PROF_DEVICE_WORK_H
#define PROF_DEVICE_WORK_H

#include "work_kind.h"

/* A piece of an event: start < end. */
typedef struct {
    const EventMeta *meta;
    uint64_t event; /* ordinal in the run */
    int64_t start, end;
} WorkPiece;
/* Pieces of one line come in order where the line's events do. False stops the walk. */
typedef bool WorkVisitor(void *context, const WorkPiece *piece);

typedef struct {
    bool any;           /* the device has work */
    int64_t start, end; /* from the first start to the last end of its work */
} WorkRange;

/* Walks all work of a device. False with err set; a visitor that returns false is out of memory. */
bool device_work_walk(const Plane *plane, WorkVisitor *visit, void *context, WorkRange *range, ProfErr *err);

#endif
