// SPDX-License-Identifier: Apache-2.0
/* hlo_order.c: orders a computation's instructions so that each follows what it needs; see
 * hlo_writer.h. */
#include "hlo_writer.h"

enum { OPEN = 1, DONE = 2, USED = 4 };

static uint8_t *state_of(const HloWalk *w, int64_t position)
{
    return &w->state[(size_t)position - w->base];
}

/* Returns the position of an instruction of this computation; -1 if it has none with this id. */
static int64_t own_position(const HloWalk *w, int64_t id)
{
    int64_t at = hlo_position(w->module, id);
    return at >= 0 && hlo_op(w->module, at).computation == w->computation ? at : -1;
}

static int push(HloWalk *w, int64_t position, ProfErr *err)
{
    if (position < 0 || *state_of(w, position) & DONE) return PROF_OK;
    if (!GROW(w->stack, w->depth, w->capacity)) return prof_nomem(err);
    w->stack[w->depth++] = (uint32_t)position;
    return PROF_OK;
}

/* Lists what an instruction needs, then the instruction: control predecessors before operands, the
 * last of them first. */
static int walk_from(HloWalk *w, int64_t position, ProfErr *err)
{
    if (push(w, position, err)) return err->code;
    while (w->depth) {
        uint32_t at = w->stack[w->depth - 1];
        uint8_t *state = state_of(w, at);
        const Xla__HloInstructionProto *op = hlo_op(w->module, at).instruction;
        if (*state & (OPEN | DONE)) {
            w->depth--;
            if (!(*state & DONE)) *state |= DONE, w->to[w->n++] = op;
            continue;
        }
        *state |= OPEN;
        for (size_t i = op->n_operand_ids; i-- > 0;)
            if (push(w, own_position(w, op->operand_ids[i]), err)) return err->code;
        for (size_t i = 0; i < op->more->n_control_predecessor_ids; i++)
            if (push(w, own_position(w, op->more->control_predecessor_ids[i]), err))
                return err->code;
    }
    return PROF_OK;
}

void hlo_walk_list(HloWalk *w, int64_t id)
{
    int64_t at = own_position(w, id);
    if (at < 0 || *state_of(w, at) & DONE) return;
    *state_of(w, at) |= DONE;
    w->to[w->n++] = hlo_op(w->module, at).instruction;
}

int hlo_walk_all(HloWalk *w, size_t first, size_t n, ProfErr *err)
{
    for (size_t at = first; at < first + n; at++) {
        const Xla__HloInstructionProto *op = hlo_op(w->module, at).instruction;
        for (size_t k = 0; k < op->n_operand_ids; k++) {
            int64_t operand = own_position(w, op->operand_ids[k]);
            if (operand >= 0) *state_of(w, operand) |= USED;
        }
    }
    for (int circles = 0; circles < 2;
         /* only a damaged program needs a second round */
         circles++)
        for (size_t at = first; at < first + n; at++)
            if ((circles || !(*state_of(w, (int64_t)at) & USED)) && walk_from(w, (int64_t)at, err))
                return err->code;
    return PROF_OK;
}
