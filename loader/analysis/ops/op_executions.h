// SPDX-License-Identifier: Apache-2.0
/* op_executions.h: counts how often an HLO op of a GPU ran, by the kernels that it started.
 *
 * One execution may start several kernels. On a stream they follow each other. So the kernels of an
 * op between those of other ops are one execution, or as many as its least frequent kernel there.
 * If every kernel of the op ran equally often on the device, that is the number, since kernels of
 * CUDA graphs and of several streams mix. An op that only starts one kernel twice looks the same as
 * one that ran twice. */
#ifndef PROF_OP_EXECUTIONS_H
#define PROF_OP_EXECUTIONS_H

#include "../../run.h"

typedef struct {
    const Text *name;
    uint64_t n;
    uint32_t in_row; /* in the current row: since the last kernel of another op */
} KernelCount;

/* The kernels of an op, on a line or on a device. Starts as {0}. */
typedef struct {
    KernelCount *kernels;
    size_t n, capacity, last;
    bool too_many; /* some kernels are not listed */
    uint64_t rows; /* executions in the rows that have ended */
} OpKernels;

/* Adds a kernel to the current row. False if memory runs out. */
bool op_kernels_add(OpKernels *k, const Text *name);
/* Ends the current row, because a kernel of another op follows. */
void op_kernels_end_row(OpKernels *k);
/* Adds the counts of another line to those of the device. */
bool op_kernels_join(OpKernels *to, const OpKernels *from); /* false if memory runs out */
/* Returns the number of executions. */
uint64_t op_kernels_executions(const OpKernels *k);
void op_kernels_free(OpKernels *k);

#endif
