// SPDX-License-Identifier: Apache-2.0
/* fused_ops.c: adds the instructions inside TPU fusions as children of the ops, if the program has
 * the fusion.
 *
 * They show what a fusion consists of. The cost of each one is unknown. */
#include "../program/hlo_validate.h"
#include "../../base/sort.h"
#include "op_actual.h"
#include "op_hlo.h"

/* An instruction takes more than LEAST_BYTES bytes of the file, and is in only one fusion. */
enum { MAX_DEPTH = 64, STRAY_CHILDREN = 1 << 15, LEAST_BYTES = 32 };

/* A fusion that is being read, and the fusion that contains it. */
typedef struct Outer {
    const struct Outer *outer;
    const Xla__HloComputationProto *computation;
    int depth;
} Outer;

typedef struct {
    OpBuild *build;
    const HloModule *module;
    size_t n_children;
} Opening;

static int by_id(const void *a, const void *b)
{
    const Xla__HloInstructionProto *x = *(Xla__HloInstructionProto *const *)a,
                                   *y = *(Xla__HloInstructionProto *const *)b;
    return ORDER(x->id, y->id);
}

static int open_fusion(Opening *o, const Xla__HloInstructionProto *fusion, const Outer *outer,
                       OpMetricsDb *children, ProfErr *err);

static int add_instruction(Opening *o, const Xla__HloInstructionProto *i, const Outer *outer,
                           OpMetricsDb *children, ProfErr *err)
{
    if (!strcmp(i->opcode, "parameter") || !strcmp(i->opcode, "tuple")) return PROF_OK;
    OpMetrics *op = op_db_append(children);
    if (!op) return prof_nomem(err);
    o->n_children++;
    op->occurrences = 1, op->n_cores = 1;
    if (op_describe_fused(o->build, op, o->module, i, err)) return err->code;
    OpMetricsDb inside = {0};
    if (!open_fusion(o, i, outer, &inside, err) && inside.n_ops &&
        !(op->children = op_db_keep(&inside, &o->build->stats->arena)))
        prof_nomem(err);
    op_db_free(&inside);
    return err->code;
}

static int open_fusion(Opening *o, const Xla__HloInstructionProto *fusion, const Outer *outer,
                       OpMetricsDb *children, ProfErr *err)
{
    if (strcmp(fusion->opcode, "fusion") != 0 || !fusion->more->n_called_computation_ids)
        return PROF_OK;
    const Xla__HloComputationProto *computation =
        hlo_computation(o->module, fusion->more->called_computation_ids[0]);
    if (!computation) return PROF_OK;
    Outer self = {outer, computation, outer ? outer->depth + 1 : 0};
    for (; outer; outer = outer->outer)
        if (outer->computation == computation) return PROF_OK;
    if (self.depth == MAX_DEPTH ||
        o->n_children > o->build->host->file.n_bytes / LEAST_BYTES + STRAY_CHILDREN) {
        host_issue(o->build->host, "warning", "too_many_children", o->module,
                   "fusions share children or are nested too deeply; some children were left out");
        return PROF_OK;
    }
    Xla__HloInstructionProto **order = prof_alloc(computation->n_instructions * sizeof *order);
    if (!order) return prof_nomem(err);
    if (computation->n_instructions)
        memcpy(order, computation->instructions, computation->n_instructions * sizeof *order);
    sort_array(order, computation->n_instructions, sizeof *order, by_id);
    for (size_t i = 0; i < computation->n_instructions && !err->code; i++)
        add_instruction(o, order[i], &self, children, err);
    prof_free(order);
    return err->code;
}

int fused_ops_build(OpBuild *build, ProfErr *err)
{
    Opening o = {.build = build};
    for (size_t i = 0; i < build->stats->device.n_ops && !err->code; i++) {
        OpMetrics *op = &build->stats->device.ops[i];
        if (!op->has_program) continue;
        if (!o.module || o.module->program_id != op->program_id)
            o.module = hlo_valid_program(build->host, op->program_id, err);
        const Xla__HloInstructionProto *instruction =
            o.module ? hlo_find(o.module, op->name->text, op->name->n_bytes) : NULL;
        if (instruction && op_set_needs(build, &build->stats->device, op, err)) break;
        OpMetricsDb children = {0};
        if (instruction && op->children) {
            children.total_ps = op->children->total_ps,
            children.total_op_ps = op->children->total_op_ps;
            children.normalized_total_ps = op->children->normalized_total_ps;
            if (!op_db_append_all(&children, op->children)) prof_nomem(err);
        }
        if (instruction && !open_fusion(&o, instruction, NULL, &children, err) && children.n_ops &&
            !(op->children = op_db_keep(&children, &build->stats->arena)))
            prof_nomem(err);
        op_db_free(&children);
    }
    return err->code;
}
