// SPDX-License-Identifier: Apache-2.0
/* cost.h: what the instructions of a GPU program cost: operations, bytes moved, traffic of the device's memory; the numbers
 * of XLA's analysis for GPUs as XProf asks it, whatever device the program was compiled for.
 *
 * The analysis runs once for a program, from its entry computation. Each figure is a float, as in XLA: sums beyond 2^24 lose
 * digits. A loop counts one round, a conditional its dearest branch. */
#ifndef PROF_COST_H
#define PROF_COST_H

#include "../format/hlo.h"

typedef struct {
    bool known;                              /* false: the analysis gives nothing (a damaged program, an operation that XLA does not know) */
    int64_t flops;                           /* per execution; 8-bit work counts half, 4-bit work a quarter */
    int64_t model_flops;                     /* all of it */
    int64_t bytes_accessed;                  /* read and written */
    int64_t hbm_read_bytes, hbm_write_bytes; /* of bytes_accessed, what XProf finds in memory space 0; 0: it finds nothing */
    /* What one execution needs on any device, with calls of libraries (cost_needed.c); NaN, -1: not known. */
    double model_flops_actual, flops_actual; /* flops_actual: 8-bit work counts half, 4-bit work a quarter */
    int64_t bytes_accessed_actual;
} HloCost; /* no other value is negative */

/* The cost of one execution of an instruction; instructions that never run on their own cost 0. Lives as long as the module.
 * NULL: err is set. */
const HloCost *hlo_cost(const HloModule *module, const Xla__HloInstructionProto *op, ProfErr *err);

#endif
