// SPDX-License-Identifier: Apache-2.0
/* program_totals.h: how often and how long each device ran each program. */
#ifndef PROF_PROGRAM_TOTALS_H
#define PROF_PROGRAM_TOTALS_H

#include "program_runs.h"

/* The executions of one program on one device. */
typedef struct {
    const ProgramRun *first; /* names the device and the program */
    uint64_t n;
    uint64_t min_ps, max_ps;
    double total_ps;
    /* Of the executions, as far as the capture shows their kernels: see docs/semantics.md. */
    double shown;
    /* The first and the last execution on the device, if they are of this program, which the
     * capture may have cut; NULL: others are. */
    const ProgramRun *edges[2];
    uint64_t fewest_kernels; /* of the executions between the two; UINT64_MAX: there is none */
} ProgramTotal;

typedef struct {
    ProgramTotal *rows; /* by plane, then by the first execution */
    size_t n, capacity;
} ProgramTotals;

/* Returns the totals of the devices of all hosts, or of `only`. */
const ProgramTotals *run_program_totals(Run *run, Host *only, ProfErr *err);

#endif
