// SPDX-License-Identifier: Apache-2.0
/* op_build.h: internals shared by the files that build op metrics, and the builders of one host's
 * parts. */
#ifndef PROF_OP_BUILD_H
#define PROF_OP_BUILD_H

#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../grouping/grouping.h"
#include "../../base/parallel.h"
#include "op_metrics.h"

/* The state that the builders of one host share. */
typedef struct {
    Host *host;
    OpStats *stats; /* the result, being built */
    /* The file is already grouped: XProf then derives nothing and keeps the order of lines. */
    bool grouped;
    /* NULL: not needed yet, because the events' own stats have is_eager. */
    const Grouping *grouping;
    /* Bytes of HLO texts and source stacks that were written for ops; they repeat parts of the
     * program. */
    size_t n_repeated;
    pthread_mutex_t lock; /* for stats->texts, while lines are read in parallel */
} OpBuild;

/* Returns a text interned in build->stats. May be called from several threads. */
const Text *op_text(OpBuild *build, Slice text, ProfErr *err);
/* Returns build->grouping, computed now if it was not before. */
const Grouping *op_grouping(OpBuild *build, ProfErr *err);

/* Returns the integer part of x, limited to uint64. */
static inline uint64_t truncated(double x)
{
    if (x >= 18446744073709551616.0) return UINT64_MAX;
    return x > 0 ? (uint64_t)x : 0;
}

/* Each fills its part of build->stats from build->host. */
int host_ops_build(OpBuild *build, ProfErr *err);
int tpu_ops_build(OpBuild *build, ProfErr *err);
int gpu_ops_build(OpBuild *build, ProfErr *err);
/* Adds the instructions inside a TPU's fusions, as children of the ops in stats->device. */
int fused_ops_build(OpBuild *build, ProfErr *err);
/* Sums stats->device by framework op into stats->framework. */
int framework_ops_build(OpStats *stats, ProfErr *err);

#endif
