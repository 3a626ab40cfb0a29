/* step_programs.h: the steps that XProf's roofline model shows, and what the whole program did in each.
 *
 * A step of a host is a group of events that all its TensorCores have (a GPU: one of them) with a step marker; those of several
 * hosts are aligned in time, and the steps that all have are numbered anew. Only TPUs bring work: XProf sums no ops for the
 * steps of GPUs. */
#ifndef PROF_STEP_PROGRAMS_H
#define PROF_STEP_PROGRAMS_H

#include "op_metrics.h"

enum StepPart { STEP_ALL, STEP_WITHOUT_FEEDS, N_STEP_PARTS }; /* feeds: infeed and outfeed ops, and their time */

typedef struct {
    int64_t number;                /* the group, or the place among the steps of several hosts */
    uint64_t begin_ps, end_ps;     /* around all hosts */
    OpMetrics parts[N_STEP_PARTS]; /* sums of ops that run no others; time_ps: of the step on all cores */
} StepProgram;

typedef struct {
    StepProgram *steps;
    size_t n_steps;
    bool has_complete; /* XProf has a sum over the steps: of TPUs, and where it merges hosts */
    OpMetrics complete[N_STEP_PARTS];
    Arena arena;
} StepPrograms;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const StepPrograms *run_step_programs(Run *run, Host *only, ProfErr *err);

#endif
