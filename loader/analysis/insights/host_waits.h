// SPDX-License-Identifier: Apache-2.0
/* host_waits.h: how long host threads wait for devices. The rules are in docs/semantics.md. */
#ifndef PROF_HOST_WAITS_H
#define PROF_HOST_WAITS_H

#include "../../run.h"

/* The waits of one name on one thread. */
typedef struct {
    const Line *line;
    const Text *name;
    uint64_t n;
    double total_ps;
    /* The longest wait; of several the one that starts first, then the first in the file. */
    uint64_t longest; /* ordinal in the run */
    int64_t longest_ps, longest_start_ps;
} HostWait;

typedef struct {
    HostWait *rows; /* by line, then by the first wait */
    size_t n;
} HostWaits;

/* Returns the waits of a host. */
const HostWaits *host_waits(Host *host, ProfErr *err);

#endif
