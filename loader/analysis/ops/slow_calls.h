// SPDX-License-Identifier: Apache-2.0
/* slow_calls.h: single calls of ops of devices that took longer than their median. */
#ifndef PROF_SLOW_CALLS_H
#define PROF_SLOW_CALLS_H

#include "../../run.h"

/* The calls of one name and program on all planes of a kind. */
typedef struct {
    double median_ps;
    uint64_t n;
} UsualCall;

typedef struct {
    const UsualCall *usual;
    const Text *name;
    Line *line;
    uint64_t event; /* ordinal in the run */
    int64_t start_ps;
    double over_ps; /* duration - usual->median_ps */
} SlowCall;

typedef struct {
    SlowCall *calls; /* the largest over_ps first */
    size_t n;
    UsualCall *usual;
} SlowCalls;

/* Returns the calls of a run, or of one of its hosts, that took longer than the median of at least
 * three calls. */
const SlowCalls *run_slow_calls(Run *run, Host *only, ProfErr *err);

#endif
