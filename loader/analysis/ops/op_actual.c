// SPDX-License-Identifier: Apache-2.0
/* op_actual.c: computes the FLOPs and bytes of ops from their programs; see op_actual.h. */
#include "op_actual.h"

#include <math.h>

#include "../../format/hlo_opcode.h"
#include "../program/cost.h"
#include "../program/hlo_validate.h"

enum { MOST_STEPS = 1 << 16, MAX_DEPTH = 64 };

static bool runs_others(enum HloOpcode opcode)
{
    return opcode == HLO_CALL || opcode == HLO_WHILE || opcode == HLO_CONDITIONAL ||
           opcode == HLO_ASYNC_START;
}

typedef struct {
    const OpMetricsDb *db;
    const HloModule *module;
    unsigned steps; /* steps that are left, because computations of damaged programs may call each
                       other in circles */
} Search;

/* Returns whether db has an op of the computations that an instruction calls. Also true if the
 * search was not completed. */
static bool has_inner_ops(Search *s, const Xla__HloInstructionProto *caller, int depth)
{
    for (size_t i = 0; i < caller->more->n_called_computation_ids; i++) {
        const Xla__HloComputationProto *c =
            hlo_computation(s->module, caller->more->called_computation_ids[i]);
        for (size_t k = 0; c && k < c->n_instructions; k++) {
            const Xla__HloInstructionProto *inner = c->instructions[k];
            if (depth == MAX_DEPTH || !s->steps--) {
                s->steps = 0;
                return true;
            }
            if (op_db_find(s->db, s->module->program_id, inner->name, strlen(inner->name)))
                return true;
            if (runs_others(hlo_opcode(inner->opcode)) && has_inner_ops(s, inner, depth + 1))
                return true;
        }
    }
    return false;
}

/* Returns whether the cost of an instruction can be counted. A loop may run any number of times,
 * and a conditional any branch. */
static bool is_counted(const OpMetricsDb *db, const HloModule *module,
                       const Xla__HloInstructionProto *instruction)
{
    enum HloOpcode opcode = hlo_opcode(instruction->opcode);
    if (!runs_others(opcode)) return true;
    return opcode != HLO_WHILE && opcode != HLO_CONDITIONAL &&
           !has_inner_ops(&(Search){db, module, MOST_STEPS}, instruction, 0);
}

int op_set_needs(OpBuild *build, const OpMetricsDb *db, OpMetrics *op, ProfErr *err)
{
    double n = (double)op->executions;
    const HloModule *module = hlo_valid_program(build->host, op->program_id, err);
    const Xla__HloInstructionProto *instruction =
        module ? hlo_find(module, op->name->text, op->name->n_bytes) : NULL;
    const HloCost *cost = instruction ? hlo_cost(module, instruction, err) : NULL;
    if (!cost || !is_counted(db, module, instruction)) return err->code;
    if (isnan(op->model_flops_actual))
        op->model_flops_actual = cost->model_flops_actual * n,
        op->flops_actual = cost->flops_actual * n;
    if (isnan(op->model_flops_actual) && op->flops > 0 &&
        !(cost->known && cost->flops > 0)) /* kernels have costs of their own */
        op->model_flops_actual = op->flops_actual = op->flops / op->occurrences * n;
    if (!op->has_actual_bytes && cost->bytes_accessed_actual >= 0)
        op->has_actual_bytes = true,
        op->bytes_actual = (uint64_t)cost->bytes_accessed_actual * op->executions;
    return PROF_OK;
}
