// SPDX-License-Identifier: Apache-2.0
/* op_executions.h: how often an HLO op of a GPU ran, by the kernels that it started.
 *
 * One execution may start several kernels. On a stream they follow each other, so the kernels of an op between those of other ops are one execution, or as
 * many as the kernel has that is there the least often. Where every kernel of the op ran equally often on the device, that is the number: kernels of CUDA
 * graphs and of several streams mix. An op that starts nothing but one kernel twice cannot be told from one that ran twice. */
#ifndef PROF_OP_EXECUTIONS_H
#define PROF_OP_EXECUTIONS_H

#include "../run.h"

typedef struct {
    const Text *name;
    uint64_t n;
    uint32_t in_row; /* since another op's kernel */
} KernelCount;

/* The kernels of an op, on a line or on a device. All zero at first. */
typedef struct {
    KernelCount *kernels;
    size_t n, capacity, last;
    bool too_many; /* some are not listed */
    uint64_t rows; /* executions by rows of kernels that are over */
} OpKernels;

bool op_kernels_add(OpKernels *k, const Text *name); /* false: no memory */
void op_kernels_end_row(OpKernels *k);
bool op_kernels_join(OpKernels *to, const OpKernels *from); /* false: no memory */
uint64_t op_kernels_executions(const OpKernels *k);
void op_kernels_free(OpKernels *k);

#endif
