// SPDX-License-Identifier: Apache-2.0
/* step_align.h: aligns the steps of several hosts as XProf does. */
#ifndef PROF_STEP_ALIGN_H
#define PROF_STEP_ALIGN_H

#include "../../base/base.h"

typedef struct {
    uint64_t begin_ps, end_ps;
} StepSpan;

/* The steps of one host. */
typedef struct {
    const StepSpan *spans; /* in the order of the steps */
    size_t n;
    size_t first; /* out: index of its step that matches the first common step */
    /* Out: none of its steps overlaps a step of the leader, so it is aligned by number. */
    bool apart;
} HostSpans;

/* Aligns the hosts and returns how many steps they have in common; 0 if there are none, or with err
 * set if memory runs out.
 *
 * The leader is the host with the shortest time from the first start to the last end of its steps;
 * the first of equal ones. Every other host is shifted by as many steps as make most of its time
 * overlap that of the leader, or not at all if nothing overlaps. *is_empty: the hosts share
 * separate ranges of the leader's steps, so no step is common, and XProf reports that. It does not
 * report it if one range ends exactly where the next starts. */
size_t steps_align(HostSpans *hosts, size_t n_hosts, bool *is_empty, ProfErr *err);

#endif
