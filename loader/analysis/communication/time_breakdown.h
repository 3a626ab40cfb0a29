// SPDX-License-Identifier: Apache-2.0
/* time_breakdown.h: the span of each device, divided by what the device does simultaneously, as
 * defined in docs/semantics.md. */
#ifndef PROF_TIME_BREAKDOWN_H
#define PROF_TIME_BREAKDOWN_H

#include "../steps/steps.h"

/* Activities, as bits that are added if they run simultaneously. */
enum Activity { ACTIVITY_COMPUTING = 1, ACTIVITY_COMMUNICATING = 2, ACTIVITY_TRANSFERRING = 4 };
enum { N_ACTIVITIES = 8 };
extern const char *const activity_names[N_ACTIVITIES]; /* by sum of the activities' bits */

/* Time of a device, or of one of its lines, in which exactly this combination runs. */
typedef struct {
    const Plane *plane;
    const Line *line; /* NULL: the entire device */
    const Step *step; /* NULL: outside of all steps, or all steps together */
    unsigned activity;
    uint64_t ps, waiting_ps, idle_ps; /* idle_ps: part in which no work runs */
    uint64_t span_ps;                 /* of the device */
} TimePart;

typedef struct {
    TimePart *parts; /* by plane, line and step, then the longest first */
    size_t n, capacity;
} TimeBreakdown;

/* Returns the parts of all hosts, or of `only`: of each device or each of its lines, in all steps
 * together or in each. Parts of a device, or of a line, add up to the device's span. */
const TimeBreakdown *run_time_breakdown(Run *run, Host *only, bool by_step, bool by_line,
                                        ProfErr *err);

#endif
