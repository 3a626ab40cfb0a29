// SPDX-License-Identifier: Apache-2.0
/* roofline.h: XProf's roofline model: how close the program and its ops are to the device's peaks.
 */
#ifndef PROF_ROOFLINE_H
#define PROF_ROOFLINE_H

#include "../ops/op_rates.h"
#include "step_programs.h"

enum RooflineRecord { ROOFLINE_TOTAL, ROOFLINE_AVERAGE, ROOFLINE_STEP };

/* The program or an op, in the entire run, on average or in one step. */
typedef struct {
    enum RooflineRecord record;
    int64_t step; /* number of the step, for ROOFLINE_STEP */
    bool with_infeed_outfeed;
    uint64_t rank; /* 0: the entire program; ops from 1, in XProf's order */
    OpMetrics op;  /* texts borrow from the run; for the program, the sum of its ops */
    OpRates rates;
    double total_us, average_us, self_us, average_self_us, self_fraction, cumulative_fraction,
        dma_stall_fraction;
    double total_us_per_core, total_fraction;
    /* Efficiencies and utilizations are fractions of the peaks. */
    double optimal_gflops, efficiency, compute_efficiency, memory_utilization;
} RooflineRow;

typedef struct {
    RooflineRow *rows; /* in XProf's order: with infeed and outfeed, then without */
    size_t n_rows;
    bool gpu; /* XProf shows the columns for GPUs */
    StepPrograms programs;
    Arena arena;
} Roofline;

/* Returns the op's category in the model. If the op has none or "unknown", it is the opcode in the
 * op's name, else "unknown". Refers to the op's texts. */
Slice roofline_category(const OpMetrics *op);
/* Returns the rows of all hosts, or of `only`; empty without a device. */
const Roofline *run_roofline(Run *run, Host *only, ProfErr *err);

#endif
