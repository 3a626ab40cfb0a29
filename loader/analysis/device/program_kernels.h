// SPDX-License-Identifier: Apache-2.0
/* program_kernels.h: the kernels of a GPU whose program is recorded, and the two ways to find the
 * executions that they belong to. Private to program_runs.c, program_kernels*.c and
 * graph_kernels.c. */
#ifndef PROF_PROGRAM_KERNELS_H
#define PROF_PROGRAM_KERNELS_H

#include "../../base/list.h"
#include "program_runs.h"

/* A kernel whose program is recorded. */
typedef struct {
    int64_t start_ps, end_ps;
    uint64_t event, program_id, launch;
    uint64_t execution;      /* event of the host, and one more; 0: not recorded */
    const Text *module, *op; /* NULL: not recorded */
    const EventMeta *meta;
    bool has_program, has_launch, in_graph;
} ProgramKernel;

typedef LIST(ProgramKernel) ProgramKernels;
/* Adds the kernels of a GPU, in order of start, then the longer, then as in the file. Free
 * kernels->items. */
void read_program_kernels(Plane *plane, ProgramKernels *kernels, ProfErr *err);

typedef struct {
    Plane *plane;
    ProgramKernels kernels;
    LIST(ProgramRun) runs;
} PlaneRuns;

/* Add the executions of a GPU's kernels, which are in order of time: of those whose execution the
 * host recorded, and of the others. */
void add_recorded_runs(PlaneRuns *p, ProfErr *err);
void add_runs_by_time(PlaneRuns *p, ProfErr *err);

/* Adds an execution that starts with this kernel. NULL with err set if memory runs out. */
ProgramRun *program_run_of(PlaneRuns *p, const ProgramKernel *first, ProfErr *err);
/* Adds a kernel to an execution. */
void program_run_extend(ProgramRun *run, const ProgramKernel *kernel);
/* Returns whether two kernels record the same program. */
bool same_program(const ProgramKernel *a, const ProgramKernel *b);
bool same_text(const Text *a, const Text *b);

#endif
