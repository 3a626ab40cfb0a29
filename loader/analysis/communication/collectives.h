// SPDX-License-Identifier: Apache-2.0
/* collectives.h: sums of collective ops on TensorCores and of collective kernels on GPUs, with the
 * time that devices waited for each other.
 *
 * XProf has no table of these. An op in two parts, "x-start" and "x-done", lasts from the start of
 * the one to the end of the other. The k-th occurrences on devices that ran the op equally often
 * belong together: the first to start waits for the last. Only devices of one replica group (or
 * pair of source and target) wait for each other. Clocks of different hosts are not compared. */
#ifndef PROF_COLLECTIVES_H
#define PROF_COLLECTIVES_H

#include "../../base/list.h"
#include "../../run.h"
#include "../../base/tf_op.h"

/* A collective on one device. Times are sums over its occurrences. */
typedef struct {
    const Plane *plane;
    Slice name;       /* name of the op or kernel */
    Slice hlo_op;     /* HLO instruction; empty if unknown */
    const char *kind; /* kind of collective, such as "all-reduce" */
    uint64_t program_id;
    bool has_program;
    int64_t group_size; /* devices in a group; 0: unknown */
    int64_t bytes;      /* bytes that one device contributes; -1: unknown */
    uint64_t occurrences;
    uint64_t total_ps, wait_ps;
    int64_t min_ps, max_ps;
    /* wait_ps is known: another device of the group is on this host, and all of these ran it
     * equally often. */
    bool has_wait;
} Collective;

typedef struct {
    LIST(Collective) collectives; /* by plane, then by total_ps, the longest first */
} Collectives;

/* Returns the collectives of all hosts, or of `only`. */
const Collectives *run_collectives(Run *run, Host *only, ProfErr *err);

#endif
