// SPDX-License-Identifier: Apache-2.0
/* op_hlo.h: fills an op from its HLO instruction: names, costs, source. Internal to op metrics. */
#ifndef PROF_OP_HLO_H
#define PROF_OP_HLO_H

#include "../../format/hlo.h"
#include "op_build.h"

/* Fills names, category, provenance and source of an op. */
int op_describe_hlo(OpBuild *build, OpMetrics *op, const HloModule *module,
                    const Xla__HloInstructionProto *instruction, ProfErr *err);
/* Fills name, text, category and provenance of an op for an instruction inside a fusion. */
int op_describe_fused(OpBuild *build, OpMetrics *op, const HloModule *module,
                      const Xla__HloInstructionProto *instruction, ProfErr *err);
/* Adds the cost of `occurrences` occurrences: by the program's cost analysis, or if that has none
 * by the event's own stats. */
int op_add_cost(OpBuild *build, OpMetrics *op, const HloModule *module,
                const Xla__HloInstructionProto *instruction, uint32_t occurrences,
                uint64_t event_flops, uint64_t event_bytes, ProfErr *err);

#endif
