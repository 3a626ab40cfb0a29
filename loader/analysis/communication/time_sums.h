// SPDX-License-Identifier: Apache-2.0
/* time_sums.h: the columns of device_time, for each line of a device or for each step. */
#ifndef PROF_TIME_SUMS_H
#define PROF_TIME_SUMS_H

#include "device_time.h"
#include "time_breakdown.h"

/* Sums over the parts of a device, a line or a step. */
typedef struct {
    DeviceTime time;  /* span_ps: of all parts together; start_ps: of the device's span */
    const Line *line; /* NULL: the entire device */
    const Step *step; /* NULL: outside of all steps, or all steps together */
    uint64_t waiting_ps;
} TimeSum;

typedef struct {
    TimeSum *sums; /* by plane, line and step */
    size_t n, capacity;
} TimeSums;

/* Returns sums over the time breakdown of all hosts, or of `only`. A device without parts has no
 * row. */
const TimeSums *run_time_sums(Run *run, Host *only, bool by_step, bool by_line, ProfErr *err);
/* Returns a device's sum, from sums that are neither by step nor by line. NULL if it has none. */
const TimeSum *time_sum_of(const TimeSums *sums, const Plane *device);

#endif
