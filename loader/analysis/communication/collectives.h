// SPDX-License-Identifier: Apache-2.0
/* collectives.h: sums of collective ops on TensorCores and of collective kernels on GPUs, with the
 * time that devices waited for each other.
 *
 * XProf has no table of these. An op in two parts, "x-start" and "x-done", lasts from the start of
 * the one to the end of the other. Only devices of one replica group (or pair of source and target)
 * wait for each other: collective_waits.h. */
#ifndef PROF_COLLECTIVES_H
#define PROF_COLLECTIVES_H

#include "collective_waits.h"

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
    uint64_t total_ps;
    int64_t min_ps, max_ps;
    CollectiveWait wait, wait_of_all; /* for peers on this host, and for peers on all hosts */
} Collective;

typedef struct {
    LIST(Collective) collectives; /* by plane, then by total_ps, the longest first */
} Collectives;

/* Returns the size of one occurrence as NCCL's tests count it; -1: unknown. */
int64_t collective_message_bytes(const Collective *collective);
/* Returns the factor from message bandwidth to bus bandwidth, which NCCL's tests define for each
 * kind. NaN if unknown. */
double collective_bus_factor(const Collective *collective);
/* Returns the collectives of all hosts, or of `only`. */
const Collectives *run_collectives(Run *run, Host *only, ProfErr *err);

#endif
