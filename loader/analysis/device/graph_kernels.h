// SPDX-License-Identifier: Apache-2.0
/* graph_kernels.h: the kernels of a run that record a CUDA graph as their op, with the instructions
 * of the program that they run. The rules are in docs/semantics.md, Kernel of a CUDA graph. */
#ifndef PROF_GRAPH_KERNELS_H
#define PROF_GRAPH_KERNELS_H

#include "../../base/tf_op.h"
#include "../program/graph_places.h"

/* An op of a program that is no instruction of it, but the name of a graph. */
typedef struct {
    const HloModule *module; /* NULL: it is an instruction, or the program is unknown */
    uint64_t program_id;
    Slice name; /* the part of the recorded op after the last :: */
} KernelGraph;

typedef struct {
    uint64_t event;
    int64_t duration_ps;
    uint32_t graph, placed; /* indexes of `graphs` and `placed` */
} GraphKernel;

typedef struct {
    KernelGraph *graphs;
    PlacedKernel *placed;
    GraphKernel *kernels; /* by event */
    size_t n;             /* of kernels */
} GraphKernels;

/* Returns the kernels of a host. */
const GraphKernels *host_graph_kernels(Host *host, ProfErr *err);

#endif
