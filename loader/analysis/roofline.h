// SPDX-License-Identifier: Apache-2.0
/* roofline.h: XProf's roofline model: how near to the device's peaks the whole program and its ops come. */
#ifndef PROF_ROOFLINE_H
#define PROF_ROOFLINE_H

#include "op_rates.h"
#include "step_programs.h"

enum RooflineRecord { ROOFLINE_TOTAL, ROOFLINE_AVERAGE, ROOFLINE_STEP };

typedef struct {
    enum RooflineRecord record;
    int64_t step; /* of ROOFLINE_STEP */
    bool with_infeed_outfeed;
    uint64_t rank; /* 0: the whole program; else from 1, in XProf's order */
    OpMetrics op;  /* texts borrow from the run; of the program a sum over its ops */
    OpRates rates;
    double total_us, average_us, self_us, average_self_us, self_fraction, cumulative_fraction, dma_stall_fraction;
    double total_us_per_core, total_fraction;
    double optimal_gflops, efficiency, compute_efficiency, memory_utilization; /* fractions of the peaks */
} RooflineRow;

typedef struct {
    RooflineRow *rows; /* in XProf's order: with infeed and outfeed, then without */
    size_t n_rows;
    bool gpu; /* XProf shows the columns of a GPU */
    StepPrograms programs;
    Arena arena;
} Roofline;

/* The category by which the model knows an op: where it has none, or "unknown", the opcode that it is named as; else "unknown". Borrows from the op. */
Slice roofline_category(const OpMetrics *op);
/* Of all hosts, or of one. Empty without a device. Lives as long as the run. NULL with err set. */
const Roofline *run_roofline(Run *run, Host *only, ProfErr *err);

#endif
