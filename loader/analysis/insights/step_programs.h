// SPDX-License-Identifier: Apache-2.0
/* step_programs.h: sums over the ops of each step, which are the step's program in the roofline
 * model (roofline.h). */
#ifndef PROF_STEP_PROGRAMS_H
#define PROF_STEP_PROGRAMS_H

#include "../steps/steps.h"

/* time_ps is the time of the TensorCores, including idle time. The other sums are over ops that do
 * not run other ops. */
typedef struct {
    uint64_t time_ps, bytes_accessed;
    double flops, model_flops;
    /* Of the ops whose work is known. Each occurrence counts the same. */
    double flops_actual, model_flops_actual;
    MemoryAccess *memory;
    size_t n_memory;
} StepProgram;

/* WITHOUT_FEED: without ops that feed the device or read from it. */
enum { WITH_FEED, WITHOUT_FEED, N_FEEDS };

/* The programs of the steps of a StepDb. */
typedef struct {
    StepProgram (*steps)[N_FEEDS]; /* in the order of StepDb.steps */
    StepProgram all[N_FEEDS];      /* sums over all steps */
    Arena *arenas;                 /* for the memory breakdowns */
    size_t n_arenas;
} StepPrograms;
/* Sums the ops of the steps in db. Freed with step_programs_free(), also after a failure. */
int step_programs_make(StepPrograms *out, Run *run, const StepDb *db, ProfErr *err);
void step_programs_free(StepPrograms *programs);

#endif
