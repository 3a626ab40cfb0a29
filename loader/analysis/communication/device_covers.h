// SPDX-License-Identifier: Apache-2.0
/* device_covers.h: when a device computes, communicates and transfers, as defined in
 * docs/semantics.md.
 *
 * A device's work is cut into pieces, and the pieces of each kind are joined to sorted intervals.
 * Asynchronous ops add the time from start to done to the intervals of their kind.
 *
 *   DeviceCovers d = {0};
 *   const FoundOps *pairs = host_async_pairs(host, err);
 *   if (device_covers_of_work(&d, plane, err) && d.range.any)
 *       device_covers_add_async(&d, &pairs[plane - host->planes], err);
 *   device_covers_free(&d);      also after a failure */
#ifndef PROF_DEVICE_COVERS_H
#define PROF_DEVICE_COVERS_H

#include "../device/cover.h"
#include "../device/device_work.h"
#include "async_pairs.h"

typedef struct {
    const Plane *plane;
    uint8_t *kinds; /* by index of event metadata: enum WorkKind */
    WorkRange range;
    Cover covers[N_WORK_KINDS]; /* by enum WorkKind; finished */
} DeviceCovers;

/* Sets the covers from the work on the device's own lines. */
bool device_covers_of_work(DeviceCovers *d, const Plane *plane, ProfErr *err);
/* Adds asynchronous ops, clipped to d->range. GPUs have none: their collectives and copies are
 * events of streams. */
bool device_covers_add_async(DeviceCovers *d, const FoundOps *pairs, ProfErr *err);
void device_covers_free(DeviceCovers *d);

#endif
