// SPDX-License-Identifier: Apache-2.0
/* op_percentiles.h: percentiles of the durations of each op, program and step. */
#ifndef PROF_OP_PERCENTILES_H
#define PROF_OP_PERCENTILES_H

#include "../../run.h"

/* Events of one name, op and program on all lines of a kind, on the host's planes of a kind. Names
 * belong to the host, hlo_op to the result. Times in ps, as recorded by the events. */
typedef struct {
    enum PlaneKind plane_kind;
    enum LineKind line_kind;
    const Text *name, *display_name; /* display_name: empty if the file has none */
    const Text *hlo_op;              /* stat hlo_op; empty if there is none */
    bool has_program;
    uint64_t program_id;
    uint64_t n;
    double total, stddev; /* stddev: NAN for one event */
    double min, p50, p90, p99, max;
} OpPercentiles;

typedef struct {
    OpPercentiles *ops; /* the longest total first */
    size_t n;
    Arena arena;
} OpPercentilesList;

/* Returns the percentiles of one host. */
const OpPercentilesList *host_op_percentiles(Host *host, ProfErr *err);

#endif
