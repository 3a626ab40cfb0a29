// SPDX-License-Identifier: Apache-2.0
/* cost.h: the cost of HLO instructions: operations, bytes, and traffic of device memory. The
 * numbers are those of XLA's cost analysis for GPUs, which XProf uses for all devices.
 *
 * The analysis runs once for a program, from its entry computation. Each figure is a float, as in
 * XLA, so sums above 2^24 lose digits. A loop counts one iteration, a conditional its most
 * expensive branch. */
#ifndef PROF_COST_H
#define PROF_COST_H

#include "../../format/hlo.h"

/* The cost of one instruction. */
typedef struct {
    /* 0: unknown, because the program is damaged or too large for its size, or XLA does not have
     * the operation. */
    int64_t known;
    int64_t flops;          /* per execution; 8-bit operations count half, 4-bit a quarter */
    int64_t model_flops;    /* per execution; every operation counts fully */
    int64_t bytes_accessed; /* bytes read and written per execution */
    /* Part of bytes_accessed that XProf attributes to memory space 0; 0 if it finds none. */
    int64_t hbm_read_bytes, hbm_write_bytes;
    /* What one execution needs on any device, including calls of libraries, also those that it runs
     * (cost_needed.c). NaN or -1 if unknown. In flops_actual, 8-bit operations count half and 4-bit
     * a quarter. */
    double model_flops_actual, flops_actual;
    int64_t bytes_accessed_actual;
} HloCost; /* the other values are never negative */

/* Returns the cost of one execution of an instruction. An instruction that never runs separately
 * costs 0. */
const HloCost *hlo_cost(const HloModule *module, const Xla__HloInstructionProto *op, ProfErr *err);

#endif
