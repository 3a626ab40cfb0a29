// SPDX-License-Identifier: Apache-2.0
/* collective_waits.h: how long the devices of a group wait for each other in one collective.
 *
 * The k-th occurrences on devices that ran the op equally often belong together: the first to start
 * waits for the last, but no longer than it lasts. */
#ifndef PROF_COLLECTIVE_WAITS_H
#define PROF_COLLECTIVE_WAITS_H

#include "async_shared.h"
#include "collective_groups.h"

/* One occurrence on one device. */
typedef struct {
    const AsyncShared *op;
    int64_t start_ps, duration_ps;
} CollectiveInstance;

/* How long a device waited. */
typedef struct {
    bool known;      /* it has peers, and all of them ran the op equally often */
    bool over_hosts; /* a peer is on another host */
    uint64_t ps;
} CollectiveWait;

/* A device that ran the op. */
typedef struct {
    const Plane *plane;
    const CollectiveInstance *instances; /* by start */
    size_t n;
    bool has_groups; /* false: it is grouped with all other devices whose groups are unknown */
    GroupPlace place;
    CollectiveWait on_host, of_all; /* for peers on the same host, and for peers on all hosts */
} CollectiveDevice;

/* Sets `on_host` of n devices, and `of_all` if over_hosts. Times of several hosts are compared by
 * start_unix_ns; `of_all` is unknown if a host of the group lacks it. */
int collective_waits(CollectiveDevice *devices, size_t n, const CollectiveGroups *groups,
                     bool over_hosts, ProfErr *err);

#endif
