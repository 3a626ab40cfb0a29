// SPDX-License-Identifier: Apache-2.0
/* step_align.h: which steps of several hosts belong together, as XProf aligns them. */
#ifndef PROF_STEP_ALIGN_H
#define PROF_STEP_ALIGN_H

#include "../base.h"

typedef struct {
    uint64_t begin_ps, end_ps;
} StepSpan;

typedef struct {
    const StepSpan *spans; /* in order of the steps */
    size_t n;
    size_t first; /* out: its step that goes with the first of the common steps */
    bool apart;   /* out: none of its steps overlaps any of the leader's; it is aligned by number */
} HostSpans;

/* How many steps the hosts have in common; *is_empty: what they share with the leader lies apart (XProf says so then, but not
 * where one ends as the next begins, though that leaves none either). The leader is the host whose steps end soonest after the
 * first begins, the first of equal ones; every other host is shifted to where most of its time overlaps that of the leader, by
 * no step at all if nowhere any does. 0 with err set when there is no memory. */
size_t steps_align(HostSpans *hosts, size_t n_hosts, bool *is_empty, ProfErr *err);

#endif
