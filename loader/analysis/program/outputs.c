// SPDX-License-Identifier: Apache-2.0
/* outputs.c: see outputs.h. */
#include "outputs.h"

#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../format/hlo_opcode.h"
#include "../../format/hlo_type.h"

/* A damaged program may lead in circles, and ever deeper into tuples. */
enum { MAX_INDEX = 100, STEPS_PER_BYTE = 1, STEPS_AT_LEAST = 1 << 16 };
/* Calls may lead in circles too. Memory for them is below 3 bytes for each byte of a program. */
enum { STEPS_OF_CALL = 256 };

typedef struct {
    int64_t op; /* position of the instruction that makes it */
    const int64_t *index;
    size_t n_index, order;
    const Xla__ShapeProto *shape;
} Output;

typedef struct {
    LIST(Output) outputs; /* by instruction and index */
    Arena arena;
} Outputs;

typedef struct {
    const HloModule *module;
    Outputs *to;
    LIST(int64_t) path;  /* to an array of the program's result */
    LIST(int64_t) index; /* the same within what an instruction makes, its first number last */
    LIST(const Xla__HloInstructionProto *) calls; /* whose computations the search has entered */
    int64_t steps;                                /* that are left */
    ProfErr *err;
} Search;

static int compare(const Output *x, const Output *y)
{
    if (x->op != y->op) return ORDER(x->op, y->op);
    if (x->n_index != y->n_index) return ORDER(x->n_index, y->n_index);
    for (size_t i = 0; i < x->n_index; i++)
        if (x->index[i] != y->index[i]) return ORDER(x->index[i], y->index[i]);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const Output *x = a, *y = b;
    int order = compare(x, y);
    return order ? order : ORDER(x->order, y->order);
}

/* Returns the operand whose part an instruction only passes on, and makes s->index that of the part
 * in the operand; -1 if it makes the part itself. */
static int64_t passed_on(Search *s, const Xla__HloInstructionProto *op)
{
    enum HloOpcode opcode = hlo_opcode(op->opcode);
    if (opcode == HLO_TUPLE && s->index.n) return s->index.items[--s->index.n];
    if (opcode == HLO_BITCAST || opcode == HLO_OPT_BARRIER) return 0;
    if (opcode != HLO_GET_TUPLE_ELEMENT) return -1;
    int64_t *number = PUSH(s->index);
    if (number)
        *number = op->more->tuple_index;
    else
        prof_nomem(s->err);
    return 0;
}

/* Returns the root of the computation that a call returns; NULL if the program is damaged. */
static const Xla__HloInstructionProto *called_root(const HloModule *module,
                                                   const Xla__HloInstructionProto *call)
{
    const Xla__HloComputationProto *c =
        call->more->n_called_computation_ids
            ? hlo_computation(module, call->more->called_computation_ids[0])
            : NULL;
    return c ? hlo_instruction(module, c->root_id) : NULL;
}

/* Lists the part s->index of what `op` makes. */
static void keep_output(Search *s, const Xla__HloInstructionProto *op, const Xla__ShapeProto *shape)
{
    size_t n = s->index.n, order = s->to->outputs.n;
    int64_t *index = arena_buffer(&s->to->arena, (n + 1) * sizeof *index);
    Output *output = index ? PUSH(s->to->outputs) : NULL;
    if (!output) {
        prof_nomem(s->err);
        return;
    }
    for (size_t i = 0; i < n; i++) index[i] = s->index.items[n - 1 - i];
    *output = (Output){hlo_position(s->module, op->id), index, n, order, shape};
}

/* Returns the operand at a position; NULL if the program is damaged. */
static const Xla__HloInstructionProto *operand_at(const HloModule *module,
                                                  const Xla__HloInstructionProto *op, int64_t at)
{
    if ((uint64_t)at >= op->n_operand_ids) return NULL;
    return hlo_instruction(module, op->operand_ids[at]);
}

/* Returns the root of the computation that a call runs, for a parameter of that computation the
 * call's operand; NULL if neither, if the program is damaged, or if memory runs out. */
static const Xla__HloInstructionProto *through_call(Search *s, const Xla__HloInstructionProto *op)
{
    enum HloOpcode opcode = hlo_opcode(op->opcode);
    if (opcode == HLO_PARAMETER && s->calls.n)
        return operand_at(s->module, s->calls.items[--s->calls.n], op->more->parameter_number);
    if (opcode != HLO_CALL) return NULL;
    const Xla__HloInstructionProto **call = PUSH(s->calls);
    if (!call) {
        prof_nomem(s->err);
        return NULL;
    }
    *call = op;
    s->steps -= STEPS_OF_CALL + (int64_t)s->index.n;
    return called_root(s->module, op);
}

/* Lists the instruction that makes the part s->index of what `op` returns, if the program is not
 * damaged. On the way, calls and parameters of their computations: some programs have buffers of
 * them. */
static void add_makers(Search *s, const Xla__HloInstructionProto *op, const Xla__ShapeProto *shape)
{
    s->calls.n = 0;
    while (op && s->steps-- > 0 && s->index.n <= MAX_INDEX && !s->err->code) {
        int64_t operand = passed_on(s, op);
        if (operand >= 0) {
            op = operand_at(s->module, op, operand);
            continue;
        }
        keep_output(s, op, shape);
        op = through_call(s, op);
    }
}

static void add_output(Search *s, const Xla__HloInstructionProto *root,
                       const Xla__ShapeProto *shape)
{
    s->index.n = 0;
    for (size_t i = s->path.n; i-- > 0 && !s->err->code;) {
        int64_t *number = PUSH(s->index);
        if (number)
            *number = s->path.items[i];
        else
            prof_nomem(s->err);
    }
    add_makers(s, root, shape);
}

static void add_outputs(Search *s, const Xla__HloInstructionProto *root,
                        const Xla__ShapeProto *shape)
{
    if (shape->element_type != XLA_TUPLE) {
        add_output(s, root, shape);
        return;
    }
    for (size_t i = 0; i < shape->n_tuple_shapes && !s->err->code; i++) {
        int64_t *number = PUSH(s->path);
        if (!number) {
            prof_nomem(s->err);
            return;
        }
        *number = (int64_t)i;
        add_outputs(s, root, shape->tuple_shapes[i]);
        s->path.n--;
    }
}

static void outputs_free(void *result)
{
    Outputs *o = result;
    if (!o) return;
    prof_free(o->outputs.items);
    arena_free(&o->arena);
    prof_free(o);
}

static void *outputs_make(const HloModule *module, ProfErr *err)
{
    Outputs *o = prof_alloc(sizeof *o);
    if (!o) {
        prof_nomem(err);
        return NULL;
    }
    const Xla__HloComputationProto *entry = hlo_entry(module);
    const Xla__HloInstructionProto *root = entry ? hlo_instruction(module, entry->root_id) : NULL;
    int64_t steps = (int64_t)module->n_bytes * STEPS_PER_BYTE + STEPS_AT_LEAST;
    Search s = {.module = module, .to = o, .steps = steps, .err = err};
    if (root && root->shape) add_outputs(&s, root, root->shape);
    prof_free(s.path.items);
    prof_free(s.index.items);
    prof_free(s.calls.items);
    sort_array(o->outputs.items, o->outputs.n, sizeof *o->outputs.items, by_place);
    if (!err->code) return o;
    outputs_free(o);
    return NULL;
}

const Xla__ShapeProto *output_shape(const HloModule *module, const Xla__HloInstructionProto *op,
                                    const int64_t *index, size_t n_index, ProfErr *err)
{
    static const HloAnalysis analysis = {outputs_make, outputs_free};
    const Outputs *o = hlo_analysis(module, &analysis, err);
    if (!o) return NULL;
    Output wanted = {.op = hlo_position(module, op->id), .index = index, .n_index = n_index};
    size_t at = LOWER_BOUND(i, 0, o->outputs.n, compare(&o->outputs.items[i], &wanted) < 0);
    const Output *found = at < o->outputs.n ? &o->outputs.items[at] : NULL;
    return found && !compare(found, &wanted) ? found->shape : NULL;
}
