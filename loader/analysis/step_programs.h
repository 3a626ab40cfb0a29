// SPDX-License-Identifier: Apache-2.0
/* step_programs.h: what the ops of a step sum to: the program of each step in the roofline model; see roofline.h. */
#ifndef PROF_STEP_PROGRAMS_H
#define PROF_STEP_PROGRAMS_H

#include "steps.h"

/* time_ps is of the TensorCores, idle or not; the rest is the work of ops that run no others. */
typedef struct {
    uint64_t time_ps, bytes_accessed;
    double flops, model_flops;
    double flops_actual, model_flops_actual; /* of the ops whose work is known, each occurrence as much as another */
    MemoryAccess *memory;
    size_t n_memory;
} StepProgram;

enum { WITH_FEED, WITHOUT_FEED /* without ops that feed the device, or are fed by it */, N_FEEDS };

typedef struct {
    StepProgram (*steps)[N_FEEDS]; /* as in the StepDb */
    StepProgram all[N_FEEDS];      /* of all steps together */
    Arena *arenas;                 /* own breakdowns of memory */
    size_t n_arenas;
} StepPrograms;
/* To be freed even on failure, which sets err. */
int step_programs_make(StepPrograms *out, Run *run, const StepDb *db, ProfErr *err);
void step_programs_free(StepPrograms *programs);

#endif
