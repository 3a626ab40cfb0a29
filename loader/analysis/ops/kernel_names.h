// SPDX-License-Identifier: Apache-2.0
/* kernel_names.h: reads the name and details of a GPU kernel: its launch, whether it runs on tensor
 * cores, and whether its op could. */
#ifndef PROF_KERNEL_NAMES_H
#define PROF_KERNEL_NAMES_H

#include "../../base/tf_op.h"

/* A kernel launch. Unknown values are 0 (1,1,1 for the dimensions), with their bit of `known`
 * clear. */
enum LaunchFact {
    LAUNCH_REGISTERS = 1,
    LAUNCH_SHARED = 2,
    LAUNCH_BLOCK = 4,
    LAUNCH_GRID = 8,
    LAUNCH_OCCUPANCY = 16
};
typedef struct {
    double occupancy; /* percent; a float of XProf's, or exact */
    /* registers: of each thread; shared memory in bytes */
    uint32_t registers, static_shared, dynamic_shared;
    uint32_t block[3], grid[3];
    unsigned known; /* bits of enum LaunchFact */
} KernelLaunch;

/* Parses kernel_details as XProf does: only CUDA's current spelling ("regs:16 static_shared:0 ...
 * grid:1,1,1"). */
KernelLaunch kernel_launch_xprof(Slice details);
/* Parses all spellings that profilers have used. An occupancy of 0 counts as unknown, as do
 * registers and static shared memory if there are more registers than any GPU has. */
KernelLaunch kernel_launch_actual(Slice details);

/* Reads the number of bytes from memcpy_details. False, with 0, if there is none. */
bool copy_bytes(Slice details, uint64_t *bytes);

enum KernelVendor { VENDOR_OTHER, VENDOR_NVIDIA, VENDOR_AMD };
/* Returns whether XProf treats the kernel as one that uses tensor (matrix) cores; false for an
 * unknown vendor. */
bool kernel_uses_tensorcore_xprof(Slice name, enum KernelVendor vendor);
/* Like kernel_uses_tensorcore_xprof(), but with kernels that XProf's list lacks (Hopper, Blackwell,
 * cuDNN, attention) and without plain FMA kernels; docs/semantics.md lists the patterns. Without a
 * vendor, all patterns are tried. The name decides, because profiles do not record which units a
 * kernel uses. */
bool kernel_uses_tensorcore_actual(Slice name, enum KernelVendor vendor);

/* Returns whether an op of this name could use tensor cores. */
bool op_is_tensorcore_eligible(Slice op_name);
/* Returns whether an einsum equation has two inputs and one output. */
bool equation_is_tensorcore_eligible(Slice equation);

#endif
