// SPDX-License-Identifier: Apache-2.0
/* time_sums.h: what device_time has of a device, for each of its lines or in each step. */
#ifndef PROF_TIME_SUMS_H
#define PROF_TIME_SUMS_H

#include "device_time.h"
#include "time_breakdown.h"

/* Sums over the parts of a device, a line or a step. */
typedef struct {
    DeviceTime time;  /* span_ps: all parts together; start_ps: of the device's span */
    const Line *line; /* NULL: of the device */
    const Step *step; /* NULL: outside of all steps, or all steps together */
    uint64_t waiting_ps;
} TimeSum;

typedef struct {
    TimeSum *sums; /* by plane, line and step */
    size_t n, capacity;
} TimeSums;

/* Returns the sums of the time breakdown of all hosts, or of `only`. A device without parts has
 * none. */
const TimeSums *run_time_sums(Run *run, Host *only, bool by_step, bool by_line, ProfErr *err);
/* Returns the sum of a device in sums that are neither by step nor by line; NULL: it has none. */
const TimeSum *time_sum_of(const TimeSums *sums, const Plane *device);

#endif
