// SPDX-License-Identifier: Apache-2.0
/* op_build.h: what the builders of op metrics share, and one host's parts that the whole is put together from. */
#ifndef PROF_OP_BUILD_H
#define PROF_OP_BUILD_H

#include "event_stats.h"
#include "events.h"
#include "grouping.h"
#include "../parallel.h"
#include "op_metrics.h"

typedef struct {
    Host *host;
    OpStats *stats;           /* being made */
    bool grouped;             /* the file brings XProf's groups: XProf then derives nothing and leaves the order of lines as it is */
    const Grouping *grouping; /* NULL: nothing asked for it yet; events say themselves whether they are eager, or none is */
    pthread_mutex_t lock;     /* of stats->texts while lines are read in parallel */
} OpBuild;

/* Interned in stats; NULL with err set. */
const Text *op_text(OpBuild *build, Slice text, ProfErr *err);
/* The first plane of a name, NULL: none. */
Plane *host_plane(Host *host, const char *name);
/* build->grouping, made now if it was not before. */
const Grouping *op_grouping(OpBuild *build, ProfErr *err);

/* The whole part of x, held where no uint64 goes. */
static inline uint64_t truncated(double x) { return x >= 18446744073709551616.0 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0; }

/* Each fills its part of build->stats from build->host. */
int host_ops_build(OpBuild *build, ProfErr *err);
int tpu_ops_build(OpBuild *build, ProfErr *err);
int gpu_ops_build(OpBuild *build, ProfErr *err);
/* What the TPU's fusions are made of, as children of stats->device. */
int fused_ops_build(OpBuild *build, ProfErr *err);
/* The framework's view of stats->device. */
int framework_ops_build(OpStats *stats, ProfErr *err);

#endif
