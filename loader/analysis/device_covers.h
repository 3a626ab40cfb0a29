// SPDX-License-Identifier: Apache-2.0
/* device_covers.h: when a device computes, communicates and transfers, as docs/semantics.md defines it.
 *
 * A device's work is cut into pieces, and the pieces of each kind are united to sorted intervals. Asynchronous ops are added to the
 * intervals of their kind from start to done.
 *
 *   DeviceCovers d = {0};
 *   if (device_covers_of_work(&d, plane, err) && d.range.any && device_covers_add_async(&d, err)) ...
 *   device_covers_free(&d);      also after a failure */
#ifndef PROF_DEVICE_COVERS_H
#define PROF_DEVICE_COVERS_H

#include "cover.h"
#include "device_work.h"

typedef struct {
    const Plane *plane;
    uint8_t *kinds; /* enum WorkKind by metadata */
    WorkRange range;
    Cover covers[N_WORK_KINDS]; /* finished */
} DeviceCovers;

/* The work of the device's own lines. False with err set. */
bool device_covers_of_work(DeviceCovers *d, const Plane *plane, ProfErr *err);
/* Adds asynchronous ops between the device's first start and last end of work. A GPU has none: its collectives and copies are events of
 * streams. False with err set. */
bool device_covers_add_async(DeviceCovers *d, ProfErr *err);
void device_covers_free(DeviceCovers *d);

#endif
