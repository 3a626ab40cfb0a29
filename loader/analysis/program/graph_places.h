// SPDX-License-Identifier: Apache-2.0
/* graph_places.h: the instructions of the kernels of a CUDA graph, by their names and by their
 * places in the program's schedule. The rules are in docs/semantics.md, Kernel of a CUDA graph. */
#ifndef PROF_GRAPH_PLACES_H
#define PROF_GRAPH_PLACES_H

#include "../../format/hlo.h"

enum FoundBy { FOUND_NOT, FOUND_BY_NAME, FOUND_BY_PLACE };

typedef struct {
    uint32_t position; /* of the instruction, unless by is FOUND_NOT */
    enum FoundBy by;
    bool is_execution; /* this kernel counts as an execution of the instruction */
} KernelPlace;

/* A kernel of a launch, which all launches that run the same kernels share. */
typedef struct {
    const Text *name;
    KernelPlace place;
} PlacedKernel;

/* Finds the instructions of the kernels of one launch, in the order in which they ran: sets their
 * places. */
int hlo_place_kernels(const HloModule *module, PlacedKernel *kernels, size_t n, ProfErr *err);

#endif
