// SPDX-License-Identifier: Apache-2.0
/* hlo_validate.c: checks that the parts of a program fit together; see hlo_validate.h.
 *
 * XLA builds a module computation by computation, and each of these instruction by instruction.
 * Whatever is referred to has to come before, so nothing can call itself. Ids are unique in a
 * computation, names in the entire module. */
#include "hlo_validate.h"
#include "../../base/search.h"

#include "../../format/hlo_opcode.h"
#include "../../base/sort.h"
#include "hlo_verify_rules.h"

#include <stdio.h>

enum { LONGEST_WHY = 200 };
typedef struct {
    char why[LONGEST_WHY]; /* empty if it is valid */
} Soundness;

typedef struct {
    int64_t id;
    size_t place;
} Numbered;

typedef struct {
    const HloModule *module;
    Soundness *out;
    Numbered *seen; /* instructions of the computation, by id */
    const char **names;
    ProfErr *err;
} Check;

static bool fault(Check *c, const char *what, const char *of)
{
    snprintf(c->out->why, LONGEST_WHY, "%s %.100s", what, of);
    return false;
}

ORDER_BY_TWO(by_id, Numbered, id, place)

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the index of an id in the computation; SIZE_MAX if it is not there. */
static size_t place_of(const Check *c, size_t n_seen, int64_t id)
{
    size_t low = LOWER_BOUND(i, 0, n_seen, c->seen[i].id < id);
    return low < n_seen && c->seen[low].id == id ? c->seen[low].place : SIZE_MAX;
}

/* Returns whether all these ids come before an index of the computation. */
static bool stand_before(const Check *c, size_t n_seen, const int64_t *ids, size_t n, size_t place)
{
    for (size_t i = 0; i < n; i++)
        if (place_of(c, n_seen, ids[i]) >= place) return false;
    return true;
}

/* Returns the rule that an instruction breaks; its operands come before it. */
static const char *rule_broken(const Check *c, const Xla__HloComputationProto *of,
                               const Xla__HloInstructionProto *op)
{
    const Xla__HloInstructionProto *operands[RULED_OPERANDS] = {NULL};
    for (size_t i = 0; i < op->n_operand_ids && i < RULED_OPERANDS; i++)
        operands[i] = of->instructions[place_of(c, of->n_instructions, op->operand_ids[i])];
    const char *fault = hlo_shape_fault(op->shape);
    return fault ? fault : hlo_instruction_fault(op, operands);
}

static bool instruction_is_sound(Check *c, const Xla__HloComputationProto *of, size_t nth,
                                 size_t place)
{
    const Xla__HloInstructionProto *op = of->instructions[place];
    size_t n = of->n_instructions;
    if (!*op->name || op->id < 0)
        return fault(c, "an instruction has no name or no id in", of->name);
    if (hlo_find(c->module, op->name, strlen(op->name)) != op)
        return fault(c, "several instructions have the name", op->name);
    if (hlo_opcode(op->opcode) == HLO_UNKNOWN) return fault(c, "unknown operation", op->opcode);
    if (!op->shape) return fault(c, "no shape is given for", op->name);
    if (!stand_before(c, n, op->operand_ids, op->n_operand_ids, place))
        return fault(c, "an operand does not come before", op->name);
    if (!stand_before(c, n, op->more->control_predecessor_ids, op->more->n_control_predecessor_ids,
                      place))
        return fault(c, "a control predecessor does not come before", op->name);
    for (size_t i = 0; i < op->more->n_called_computation_ids; i++) {
        int64_t called = hlo_computation_position(c->module, op->more->called_computation_ids[i]);
        if (called < 0 || (size_t)called >= nth)
            return fault(c, "a called computation does not come before its caller", op->name);
    }
    const char *broken = rule_broken(c, of, op);
    return broken ? fault(c, broken, op->name) : true;
}

static bool computation_is_sound(Check *c, size_t nth)
{
    const Xla__HloComputationProto *of = c->module->proto->hlo_module->computations[nth];
    size_t n = of->n_instructions;
    if (!n) return fault(c, "there is no instruction in", of->name);
    if (hlo_computation(c->module, of->id) != of)
        return fault(c, "another computation has the id of", of->name);
    for (size_t i = 0; i < n; i++) c->seen[i] = (Numbered){of->instructions[i]->id, i};
    sort_array(c->seen, n, sizeof *c->seen, by_id);
    for (size_t i = 1; i < n; i++)
        if (c->seen[i].id == c->seen[i - 1].id)
            return fault(c, "several instructions have the same id in", of->name);
    if (!stand_before(c, n, &of->root_id, 1, n)) return fault(c, "there is no root in", of->name);
    for (size_t i = 0; i < n; i++)
        if (!instruction_is_sound(c, of, nth, i)) return false;
    const char *parameters = NULL;
    return hlo_parameters_fault(of, &parameters, c->err) &&
           (parameters ? fault(c, parameters, of->name) : true);
}

static bool module_is_sound(Check *c)
{
    const Xla__HloModuleProto *hlo = c->module->proto->hlo_module;
    if (!hlo->host_program_shape)
        return fault(c, "it has no shapes of its parameters and result", "");
    if (!hlo_computation(c->module, hlo->entry_computation_id))
        return fault(c, "there is no entry computation", "");
    for (size_t i = 0; i < hlo->n_computations; i++) c->names[i] = hlo->computations[i]->name;
    sort_array(c->names, hlo->n_computations, sizeof *c->names, by_text);
    for (size_t i = 1; i < hlo->n_computations; i++)
        if (!strcmp(c->names[i - 1], c->names[i]))
            return fault(c, "several computations have the name", c->names[i]);
    for (size_t i = 0; i < hlo->n_computations; i++)
        if (!computation_is_sound(c, i)) return false;
    return true;
}

static Soundness *make_soundness(const HloModule *module, ProfErr *err)
{
    const Xla__HloModuleProto *hlo = module->proto->hlo_module;
    size_t most = 0;
    for (size_t i = 0; i < hlo->n_computations; i++)
        if (hlo->computations[i]->n_instructions > most)
            most = hlo->computations[i]->n_instructions;
    Check c = {module, prof_alloc(sizeof *c.out), prof_alloc(most * sizeof *c.seen),
               prof_alloc(hlo->n_computations * sizeof *c.names), err};
    if (!c.out || !c.seen || !c.names) {
        prof_nomem(err);
    } else if (!module_is_sound(&c) && !err->code) {
        char message[LONGEST_WHY + 400];
        snprintf(
            message, sizeof message,
            "XLA rejects the HLO program %.200s(%llu), so none of its ops count, as in XProf: %s",
            module->name, (unsigned long long)module->program_id, c.out->why);
        host_remark(module->host, "warning", "refused_program", module->state, message);
    }
    if (err->code) prof_free(c.out), c.out = NULL;
    prof_free(c.seen);
    prof_free(c.names);
    return c.out;
}

static void *soundness_make(const HloModule *module, ProfErr *err)
{
    return make_soundness(module, err);
}

void hlo_validate(const HloModule *module, ProfErr *err) { prof_free(make_soundness(module, err)); }

const HloModule *hlo_valid_program(Host *host, uint64_t program_id, ProfErr *err)
{
    static const HloAnalysis analysis = {soundness_make, prof_free};
    const HloModule *module = hlo_program(host, program_id, err);
    const Soundness *soundness = module ? hlo_analysis(module, &analysis, err) : NULL;
    return soundness && !*soundness->why ? module : NULL;
}
