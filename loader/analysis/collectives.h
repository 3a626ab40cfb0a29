// SPDX-License-Identifier: Apache-2.0
/* collectives.h: what devices exchange with each other: collective ops of TensorCores, and collective kernels of GPUs.
 *
 * XProf has no such table. An op in two parts, "x-start" and "x-done", lasts from the start of the one to the end of the other. The k-th
 * occurrences on devices that ran the op equally often belong together: there the first waits for the last. Only devices of one replica
 * group (or pair of source and target) wait for each other. Clocks of several hosts are not compared. */
#ifndef PROF_COLLECTIVES_H
#define PROF_COLLECTIVES_H

#include "../list.h"
#include "../run.h"
#include "tf_op.h"

typedef struct {
    const Plane *plane;
    Slice name;   /* borrows from the run */
    Slice hlo_op; /* the instruction, empty: unknown */
    const char *kind;
    uint64_t program_id;
    bool has_program;
    int64_t group_size; /* devices of a group, 0: unknown */
    int64_t bytes;      /* that a device gives, -1: unknown */
    uint64_t occurrences;
    uint64_t total_ps, wait_ps;
    int64_t min_ps, max_ps;
    bool has_wait; /* another device of the group is on the host, and all of these ran it equally often */
} Collective;

typedef struct {
    LIST(Collective) collectives; /* by plane, the longest total first */
} Collectives;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const Collectives *run_collectives(Run *run, Host *only, ProfErr *err);

#endif
