// SPDX-License-Identifier: Apache-2.0
/* op_runs.c: see op_runs.h.
 *
 * All instructions of a computation run equally often. A search from the entry computation along
 * the calls orders computations so that each comes after those that call it. Then each gives its
 * number to those that it calls. */
#include "op_runs.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../format/hlo_opcode.h"
#include "../../format/json.h"

#include <math.h>

enum State { UNSEEN, OPEN, DONE };
enum { BODY, CONDITION }; /* the computations that a loop calls */

typedef struct {
    uint32_t computation, next; /* next: its instruction that is read next */
    uint32_t next_call;         /* of that instruction */
} Frame;

typedef struct {
    const HloModule *module;
    uint8_t *states; /* enum State, by computation position */
    LIST(Frame) stack;
    LIST(uint32_t) order; /* computations, those that are called first */
    bool circular;
} Search;

/* Returns the number of iterations that a program records for a loop; NAN if it does not. */
static double iterations(const HloModule *module, const Xla__HloInstructionProto *loop)
{
    size_t n_bytes;
    const char *config = (const char *)hlo_backend_config(module, loop, &n_bytes);
    Json j = {config, config + n_bytes};
    int64_t n;
    bool known = n_bytes && json_enter(&j, "known_trip_count") && json_enter(&j, "n") &&
                 json_integer(&j, &n);
    return known ? (double)n : NAN;
}

/* Returns how often an instruction runs the i-th computation that it calls; 0 if it applies it to
 * elements. */
static double runs_of_call(const HloModule *module, const Xla__HloInstructionProto *op, size_t i)
{
    switch (hlo_opcode(op->opcode)) {
    case HLO_CALL:
    case HLO_ASYNC_START: return 1;
    case HLO_WHILE:
        if (i != BODY && i != CONDITION) return 0;
        return iterations(module, op) * (i == BODY);
    case HLO_CONDITIONAL: return op->more->n_called_computation_ids > 1 ? NAN : 1;
    default: return 0;
    }
}

static void enter(Search *s, int64_t computation, ProfErr *err)
{
    if (computation < 0 || s->states[computation] == DONE) return;
    if (s->states[computation] == OPEN) {
        s->circular = true;
        return;
    }
    Frame *frame = PUSH(s->stack);
    if (frame)
        *frame = (Frame){.computation = (uint32_t)computation}, s->states[computation] = OPEN;
    else
        prof_nomem(err);
}

static void leave(Search *s, ProfErr *err)
{
    uint32_t computation = s->stack.items[--s->stack.n].computation, *place = PUSH(s->order);
    s->states[computation] = DONE;
    if (place)
        *place = computation;
    else
        prof_nomem(err);
}

/* Goes to the next computation that the innermost open one calls, or back. */
static void step(Search *s, ProfErr *err)
{
    const Xla__HloModuleProto *proto = s->module->proto->hlo_module;
    Frame *frame = &s->stack.items[s->stack.n - 1];
    const Xla__HloComputationProto *c = proto->computations[frame->computation];
    while (frame->next < c->n_instructions) {
        const Xla__HloInstructionProto *op = c->instructions[frame->next];
        size_t call = frame->next_call++;
        if (call >= op->more->n_called_computation_ids) {
            frame->next++, frame->next_call = 0;
        } else if (runs_of_call(s->module, op, call) != 0) {
            enter(s, hlo_computation_position(s->module, op->more->called_computation_ids[call]),
                  err);
            return;
        }
    }
    leave(s, err);
}

static void add_calls(double *runs, const HloModule *module, uint32_t caller)
{
    const Xla__HloComputationProto *c = module->proto->hlo_module->computations[caller];
    for (size_t i = 0; i < c->n_instructions; i++) {
        const Xla__HloInstructionProto *op = c->instructions[i];
        for (size_t k = 0; k < op->more->n_called_computation_ids; k++) {
            int64_t called = hlo_computation_position(module, op->more->called_computation_ids[k]);
            double n = runs_of_call(module, op, k);
            if (called >= 0 && n != 0) runs[called] += n * runs[caller];
        }
    }
}

static void *make(const HloModule *module, ProfErr *err)
{
    size_t n = module->proto->hlo_module->n_computations;
    const Xla__HloComputationProto *entry = hlo_entry(module);
    Search s = {.module = module, .states = prof_alloc(n)};
    double *runs = prof_alloc(n * sizeof *runs); /* by computation position */
    if (!runs || !s.states) prof_nomem(err);
    if (entry && !err->code) enter(&s, hlo_computation_position(module, entry->id), err);
    while (s.stack.n && !interrupt_poll(1, err)) step(&s, err);
    for (size_t i = s.order.n; i-- && !interrupt_poll(1, err);) {
        uint32_t computation = s.order.items[i];
        if (i == s.order.n - 1) runs[computation] = 1; /* the entry computation */
        if (s.circular) runs[computation] = NAN;
        add_calls(runs, module, computation);
    }
    prof_free(s.states), prof_free(s.stack.items), prof_free(s.order.items);
    if (err->code) prof_free(runs), runs = NULL;
    return runs;
}

double hlo_op_runs(const HloModule *module, size_t position, ProfErr *err)
{
    static const HloAnalysis analysis = {make, prof_free};
    const double *runs = hlo_analysis(module, &analysis, err);
    return runs ? runs[module->computation_of[position]] : NAN;
}
