// SPDX-License-Identifier: Apache-2.0
/* program_runs.h: when each device ran which program, as defined in docs/semantics.md. */
#ifndef PROF_PROGRAM_RUNS_H
#define PROF_PROGRAM_RUNS_H

#include "../../run.h"

/* One execution of a program on a device. */
typedef struct {
    const Plane *plane;
    bool has_program;
    uint64_t program_id;
    const Text *module; /* name of the HLO module; NULL: unknown */
    int64_t start_ps, end_ps;
    uint64_t first_event; /* an event of the line of modules, or the first kernel */
    uint64_t n_kernels;   /* on a GPU; else 0 */
} ProgramRun;

typedef struct {
    ProgramRun *runs; /* by plane, then by start */
    size_t n, capacity;
} ProgramRuns;

/* Returns the time between two times; 0 if the end is not after the start. */
static inline uint64_t time_between(int64_t start_ps, int64_t end_ps)
{
    return end_ps > start_ps ? (uint64_t)end_ps - (uint64_t)start_ps : 0;
}

/* Returns the executions on the devices of all hosts, or of `only`. */
const ProgramRuns *run_program_runs(Run *run, Host *only, ProfErr *err);

#endif
