/* step_programs.h: what the ops of a step sum to: the program of each step in the roofline model; see roofline.h. */
#ifndef PROF_STEP_PROGRAMS_H
#define PROF_STEP_PROGRAMS_H

#include "steps.h"

/* time_ps is of the cores, idle or not; the rest is the work of ops that run no others. */
typedef struct {
    uint64_t time_ps, bytes_accessed;
    double flops, model_flops;
    MemoryAccess *memory; /* in the caller's arena */
    size_t n_memory;
} StepProgram;

enum { WITH_FEED, WITHOUT_FEED /* without ops that feed the device, or are fed by it */, N_FEEDS };

typedef struct StepPrograms StepPrograms;
/* NULL with err set. To be closed, before the steps go. */
StepPrograms *step_programs_open(const StepDb *db, ProfErr *err);
/* Of the TensorCores in a step, or in all steps together (step NULL). */
int step_programs_sum(StepPrograms *programs, const Step *step, StepProgram out[N_FEEDS], Arena *arena, ProfErr *err);
void step_programs_close(StepPrograms *programs); /* NULL: nothing to do */

#endif
