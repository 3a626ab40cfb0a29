// SPDX-License-Identifier: Apache-2.0
/* metadata_costs.h: the cost of one execution of an op from the event metadata of a host's TPU
 * cores, which contain the figures of the TPU compiler. */
#ifndef PROF_METADATA_COSTS_H
#define PROF_METADATA_COSTS_H

#include "op_metrics.h"

/* Returns the costs by program and name of the instruction: flops, model_flops, bytes_accessed and,
 * if they are known and not negative, flops_actual (NaN: unknown) and has_actual_bytes. Reads no
 * events. */
const OpMetricsDb *host_metadata_costs(Host *host, ProfErr *err);

#endif
