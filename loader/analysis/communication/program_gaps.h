// SPDX-License-Identifier: Apache-2.0
/* program_gaps.h: when a device ran no program, as defined in docs/semantics.md. */
#ifndef PROF_PROGRAM_GAPS_H
#define PROF_PROGRAM_GAPS_H

#include "../device/program_runs.h"

/* A maximal part of a device's span in which no program ran. */
typedef struct {
    const Plane *plane;
    int64_t start_ps, end_ps;
    uint64_t busy_ps;                 /* part of it in which the device was busy */
    const ProgramRun *before, *after; /* NULL: at the start or end of the span */
} ProgramGap;

typedef struct {
    ProgramGap *gaps; /* by plane, then by start */
    size_t n, capacity;
} ProgramGaps;

/* Returns the gaps of the devices of all hosts, or of `only`, that ran programs. */
const ProgramGaps *run_program_gaps(Run *run, Host *only, ProfErr *err);

#endif
