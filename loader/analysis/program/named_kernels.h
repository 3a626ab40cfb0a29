// SPDX-License-Identifier: Apache-2.0
/* named_kernels.h: the instructions of a program that run as a GPU kernel of a given name. */
#ifndef PROF_NAMED_KERNELS_H
#define PROF_NAMED_KERNELS_H

#include "../../base/tf_op.h"
#include "../../format/hlo.h"

/* Returns whether XLA gives kernels of this instruction such a name: its own, with _ for each byte
 * that is no ASCII letter or digit. */
bool hlo_names_kernel(const char *instruction, Slice kernel);

typedef struct {
    const uint32_t *positions; /* in order */
    size_t n;
    uint32_t namesake; /* position of the instruction with the kernel's name */
} HloKernelOps;

/* Returns the instruction after which a kernel is named, and those that do the same: XLA compiles
 * equal fusions once, and names the kernel after one of them. Empty if none has the name, or
 * several have. */
HloKernelOps hlo_kernel_ops(const HloModule *module, Slice kernel, ProfErr *err);

#endif
