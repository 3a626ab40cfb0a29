// SPDX-License-Identifier: Apache-2.0
/* metadata_costs.h: what one execution of an op costs by the event metadata of a host's TPU cores: the figures of the compiler for TPUs. */
#ifndef PROF_METADATA_COSTS_H
#define PROF_METADATA_COSTS_H

#include "op_metrics.h"

/* By program and name of the instruction: flops, model_flops, bytes_accessed and, from 0 on, what is known: flops_actual (NaN: no flops), has_actual_bytes.
 * Reads no events. Lives as long as the run. NULL: err is set. */
const OpMetricsDb *host_metadata_costs(Host *host, ProfErr *err);

#endif
