// SPDX-License-Identifier: Apache-2.0
/* kernel_names.h: what the texts of a GPU kernel tell: its launch, whether it runs on tensor cores, whether its op could. */
#ifndef PROF_KERNEL_NAMES_H
#define PROF_KERNEL_NAMES_H

#include "tf_op.h"

/* A launch. What the text does not tell is 0 (1,1,1 for the dimensions), and its bit of `known` is clear. */
enum LaunchFact { LAUNCH_REGISTERS = 1, LAUNCH_SHARED = 2, LAUNCH_BLOCK = 4, LAUNCH_GRID = 8, LAUNCH_OCCUPANCY = 16 };
typedef struct {
    uint32_t registers, static_shared, dynamic_shared; /* a thread's; bytes */
    uint32_t block[3], grid[3];
    float occupancy; /* percent */
    unsigned known;  /* bits of enum LaunchFact */
} KernelLaunch;

/* Reads kernel_details as XProf does: of its spellings only the present one of CUDA ("regs:16 static_shared:0 ... grid:1,1,1"). */
KernelLaunch kernel_launch_xprof(Slice details);
/* Reads all spellings that profilers have used; an occupancy of 0 counts as not known, nor do registers and static shared memory where
 * there are more registers than any GPU has. */
KernelLaunch kernel_launch_actual(Slice details);

/* What memcpy_details says was copied; false, with 0, when it does not say. */
bool copy_bytes(Slice details, uint64_t *bytes);

enum KernelVendor { VENDOR_OTHER, VENDOR_NVIDIA, VENDOR_AMD };
/* Whether XProf counts the kernel as one that uses tensor (matrix) cores; never for an unknown vendor. */
bool kernel_uses_tensorcore_xprof(Slice name, enum KernelVendor vendor);
/* The same with the kernels that XProf's list lacks (Hopper, Blackwell, cuDNN, attention) and without plain FMA kernels;
 * without a vendor all patterns count. By name, as no profile says what a kernel does. */
bool kernel_uses_tensorcore_actual(Slice name, enum KernelVendor vendor);

/* Whether an op of this name does what tensor cores do. */
bool op_is_tensorcore_eligible(Slice op_name);
/* Whether an einsum equation has two inputs and one output. */
bool equation_is_tensorcore_eligible(Slice equation);

#endif
