/* collectives.h: what devices exchange with each other: collective ops of TensorCores, and collective kernels of GPUs.
 *
 * XProf has no such table. An op in two parts, "x-start" and "x-done", lasts from the begin of the one to the end of the
 * other. Devices of a host take part in one occurrence if they ran the op equally often: then the first that comes waits for
 * the last. Clocks of several hosts are not compared. */
#ifndef PROF_COLLECTIVES_H
#define PROF_COLLECTIVES_H

#include "../list.h"
#include "../run.h"
#include "tf_op.h"

typedef struct {
    const Plane *plane;
    Slice name; /* borrows from the run */
    const char *kind;
    uint64_t program_id;
    bool has_program;
    int64_t group_size; /* devices of a group, 0: unknown */
    int64_t bytes;      /* that a device brings in, -1: unknown */
    uint64_t occurrences;
    uint64_t total_ps, wait_ps;
    int64_t min_ps, max_ps;
    uint32_t n_peers; /* devices of the host that ran it equally often, itself included */
} Collective;

typedef struct {
    LIST(Collective) collectives; /* by plane, the longest total first */
} Collectives;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const Collectives *run_collectives(Run *run, Host *only, ProfErr *err);

#endif
