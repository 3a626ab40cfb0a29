// SPDX-License-Identifier: Apache-2.0
/* hlo_listing.c: a program's text line by line, in XLA's order; see hlo_text.h.
 *
 *   HloModule NAME, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
 *
 *   %callee (p: f32[]) -> f32[] {
 *     %p = f32[] parameter(0)
 *     ROOT %r = f32[] negate(%p)
 *   }
 *
 *   ENTRY %main (...) -> ... {
 *
 * Computations come before their callers. Instructions are in the order of the schedule or, without
 * one, operands before users. */
#include "../base/interrupt.h"
#include "../base/search.h"
#include "hlo_writer.h"

#include "../base/sort.h"

typedef struct {
    const Xla__HloComputationProto *proto;
    size_t first_line; /* line of its header; its instructions, a brace and an empty line follow */
    size_t first_op, n_ops;
    const Xla__HloInstructionProto *root;
} ListedComputation;

struct HloListing {
    const HloModule *module;
    const Xla__HloComputationProto *entry;
    ListedComputation *computations;
    const Xla__HloInstructionProto **ops; /* of all listed computations */
    size_t n_computations, n_ops, n_lines;
};

enum { HEADER_LINES = 2, FRAME_LINES = 3 };

/* ---- order of computations ---- */

/* A computation, and the range of its instructions in the module's ops. */
typedef struct {
    int64_t id;
    const Xla__HloComputationProto *proto;
    const Xla__HloScheduleProto__InstructionSequence *schedule; /* NULL if it has none */
    size_t place, first, n;                                     /* place: position in the file */
    bool called, visited;
    bool hidden; /* written in the line of the asynchronous instruction that runs it */
} Node;

typedef struct {
    size_t node, at; /* the next instruction to visit */
} Frame;

typedef struct {
    const HloModule *module;
    Node *nodes;        /* sorted by id */
    size_t *in_file, n; /* nodes in file order */
    Frame *stack;
    size_t depth, capacity;
    size_t *order, n_order; /* nodes in the order of the listing */
} Order;

ORDER_BY_TWO(by_id, Node, id, first)

static Node *node_of(const Order *o, int64_t id)
{
    size_t low = LOWER_BOUND(i, 0, o->n, o->nodes[i].id < id);
    return low < o->n && o->nodes[low].id == id ? &o->nodes[low] : NULL;
}

static void index_computations(Order *o)
{
    const Xla__HloModuleProto *hlo = o->module->proto->hlo_module;
    size_t at = 0;
    for (size_t i = 0; i < hlo->n_computations; i++) {
        const Xla__HloComputationProto *c = hlo->computations[i];
        o->nodes[i] =
            (Node){.id = c->id, .proto = c, .first = at, .n = c->n_instructions, .place = i};
        at += c->n_instructions;
    }
    sort_array(o->nodes, o->n, sizeof *o->nodes, by_id);
    for (size_t i = 0; i < o->n; i++) o->in_file[o->nodes[i].place] = i;
    for (size_t i = 0; hlo->schedule && i < hlo->schedule->n_sequences; i++) {
        Node *node = node_of(o, hlo->schedule->sequences[i]->key);
        if (node) node->schedule = hlo->schedule->sequences[i]->value;
    }
    for (size_t i = 0; i < o->module->n_ops; i++) {
        const Xla__HloInstructionProto *op = hlo_op(o->module, i).instruction;
        bool starts = hlo_opcode(op->opcode) == HLO_ASYNC_START;
        for (size_t k = 0; k < op->more->n_called_computation_ids; k++) {
            Node *called = node_of(o, op->more->called_computation_ids[k]);
            if (!called) continue;
            called->called = true;
            called->hidden |= starts && hlo_async_single(o->module, op) == called->proto;
        }
    }
}

/* Pushes the computations that an instruction calls, the first on top. They count as visited when
 * they are pushed, as XLA's order shows. */
static int push_called(Order *o, const Xla__HloInstructionProto *op, ProfErr *err)
{
    for (size_t i = op->more->n_called_computation_ids; i-- > 0;) {
        Node *called = node_of(o, op->more->called_computation_ids[i]);
        if (!called || called->visited) continue;
        if (!GROW(o->stack, o->depth, o->capacity)) return prof_nomem(err);
        called->visited = true;
        o->stack[o->depth++] = (Frame){(size_t)(called - o->nodes), 0};
    }
    return PROF_OK;
}

static int list_callees(Order *o, const Node *node, ProfErr *err)
{
    for (size_t i = 0; i < node->n; i++) {
        if (push_called(o, hlo_op(o->module, node->first + i).instruction, err)) return err->code;
        while (o->depth) {
            Frame *top = &o->stack[o->depth - 1];
            const Node *c = &o->nodes[top->node];
            if (top->at < c->n) {
                if (push_called(o, hlo_op(o->module, c->first + top->at++).instruction, err))
                    return err->code;
            } else {
                o->order[o->n_order++] = top->node;
                o->depth--;
            }
        }
    }
    return PROF_OK;
}

static int order_computations(Order *o, ProfErr *err)
{
    for (size_t i = 0; i < o->n && !err->code; i++) {
        Node *node = &o->nodes[o->in_file[i]];
        if (node->called || node->visited) continue;
        node->visited = true;
        if (!list_callees(o, node, err)) o->order[o->n_order++] = o->in_file[i];
    }
    for (size_t i = 0; i < o->n && !err->code;
         i++) /* only in a damaged program do computations call each other in a circle */
        if (!o->nodes[o->in_file[i]].visited) o->order[o->n_order++] = o->in_file[i];
    return err->code;
}

/* ---- order of instructions ---- */

static int list_ops(HloWalk *w, const Node *node, ProfErr *err)
{
    const Xla__HloScheduleProto__InstructionSequence *schedule = node->schedule;
    w->computation = node->proto;
    for (size_t i = 0; schedule && i < schedule->n_instruction_ids; i++)
        hlo_walk_list(w, schedule->instruction_ids[i]);
    return schedule ? PROF_OK : hlo_walk_all(w, node->first, node->n, err);
}

/* ---- the listing ---- */

static int list_all(HloListing *l, Order *o, HloWalk *w, ProfErr *err)
{
    l->n_lines = HEADER_LINES;
    for (size_t i = 0; i < o->n_order; i++) {
        const Node *node = &o->nodes[o->order[i]];
        if (node->hidden) continue;
        size_t first = w->n;
        if (list_ops(w, node, err) || interrupt_poll(w->n - first, err)) return err->code;
        l->computations[l->n_computations++] = (ListedComputation){
            node->proto, l->n_lines, first, w->n - first, hlo_root(node->proto)};
        l->n_lines += w->n - first + FRAME_LINES;
    }
    l->n_ops = w->n;
    return PROF_OK;
}

static void listing_free(void *result)
{
    HloListing *l = result;
    if (!l) return;
    prof_free(l->computations);
    prof_free(l->ops);
    prof_free(l);
}

static void *listing_make(const HloModule *module, ProfErr *err)
{
    size_t n = module->proto->hlo_module->n_computations, n_ops = module->n_ops;
    HloListing *l = prof_alloc(sizeof *l);
    Order o = {.module = module,
               .n = n,
               .nodes = prof_alloc(n * sizeof *o.nodes),
               .in_file = prof_alloc(n * sizeof *o.in_file),
               .order = prof_alloc(n * sizeof *o.order)};
    HloWalk w = {.module = module, .state = prof_alloc(n_ops)};
    if (l)
        *l = (HloListing){.module = module,
                          .entry = hlo_entry(module),
                          .computations = prof_alloc(n * sizeof *l->computations),
                          .ops = prof_alloc(n_ops * sizeof *l->ops)};
    if (!l || !o.nodes || !o.in_file || !o.order || !w.state || !l->computations || !l->ops) {
        prof_nomem(err);
    } else {
        w.to = l->ops;
        index_computations(&o);
        if (!order_computations(&o, err)) list_all(l, &o, &w, err);
    }
    prof_free(o.nodes);
    prof_free(o.in_file);
    prof_free(o.order);
    prof_free(o.stack);
    prof_free(w.state);
    prof_free(w.stack);
    if (!err->code) return l;
    listing_free(l);
    return NULL;
}

static const HloAnalysis listing_analysis = {listing_make, listing_free};
const HloListing *hlo_listing(const HloModule *module, ProfErr *err)
{
    return hlo_analysis(module, &listing_analysis, err);
}

size_t hlo_listing_count(const HloListing *l) { return l->n_lines; }

/* ---- lines ---- */

static void write_index(TextBuffer *out, const int64_t *values, size_t n)
{
    text_add_char(out, '{');
    hlo_write_integers(out, values, n);
    text_add_char(out, '}');
}

static void write_aliases(TextBuffer *out, const Xla__HloInputOutputAliasProto *aliases)
{
    if (!aliases || !aliases->n_entries) return;
    text_add(out, ", input_output_alias={ ");
    for (size_t i = 0; i < aliases->n_entries; i++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *a = aliases->entries[i];
        if (i) text_add(out, ", ");
        write_index(out, a->output_shape_index, a->n_output_shape_index);
        text_add_format(out, ": (%lld, ", (long long)a->parameter_number);
        write_index(out, a->parameter_shape_index, a->n_parameter_shape_index);
        text_add(out, a->kind == 2 ? ", must-alias)" : ", may-alias)");
    }
    text_add(out, " }");
}

static void write_donors(TextBuffer *out, const Xla__HloBufferDonorProto *donors)
{
    if (!donors || !donors->n_entries) return;
    text_add(out, ", buffer_donor={ ");
    for (size_t i = 0; i < donors->n_entries; i++) {
        text_add_format(out, "%s(%lld, ", i ? ", " : "",
                        (long long)donors->entries[i]->parameter_number);
        write_index(out, donors->entries[i]->parameter_shape_index,
                    donors->entries[i]->n_parameter_shape_index);
        text_add_char(out, ')');
    }
    text_add(out, " }");
}

static void write_module(const HloModule *m, TextBuffer *out)
{
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    const Xla__ProgramShapeProto *shape = hlo->host_program_shape;
    text_add(out, "HloModule ");
    text_add(out, hlo->name);
    if (hlo->schedule) text_add(out, ", is_scheduled=true");
    write_aliases(out, hlo->input_output_alias);
    write_donors(out, hlo->buffer_donor);
    if (shape) {
        text_add(out, ", entry_computation_layout={(");
        for (size_t i = 0; i < shape->n_parameters; i++) {
            if (i) text_add(out, ", ");
            if (i && i % 5 == 0) text_add_format(out, "/*index=%zu*/", i);
            hlo_write_shape(out, shape->parameters[i], true);
        }
        text_add(out, ")->");
        hlo_write_shape(out, shape->result, true);
        text_add_char(out, '}');
    }
    hlo_write_frontend_attributes(out, hlo->frontend_attributes);
}

static int by_number(const void *a, const void *b)
{
    const Xla__HloInstructionProto *x = *(Xla__HloInstructionProto *const *)a,
                                   *y = *(Xla__HloInstructionProto *const *)b;
    if (x->more->parameter_number != y->more->parameter_number)
        return ORDER(x->more->parameter_number, y->more->parameter_number);
    return ORDER(x->id, y->id);
}

/* Appends "(p0: f32[4], p1: f32[]) -> f32[4] ": parameters by number, without layouts. */
static void write_signature(const ListedComputation *c, TextBuffer *out)
{
    const Xla__HloInstructionProto **parameters =
        prof_alloc(c->proto->n_instructions * sizeof *parameters);
    size_t n = 0;
    if (!parameters) {
        out->no_memory = true;
        return;
    }
    for (size_t i = 0; i < c->proto->n_instructions; i++)
        if (hlo_opcode(c->proto->instructions[i]->opcode) == HLO_PARAMETER)
            parameters[n++] = c->proto->instructions[i];
    sort_array(parameters, n, sizeof *parameters, by_number);
    text_add_char(out, '(');
    for (size_t i = 0; i < n; i++) {
        if (i) text_add(out, ", ");
        text_add(out, parameters[i]->name);
        text_add(out, ": ");
        hlo_write_shape(out, parameters[i]->shape, false);
    }
    text_add(out, ") -> ");
    if (c->root) hlo_write_shape(out, c->root->shape, false);
    text_add_char(out, ' ');
    prof_free(parameters);
}

static void write_header(const HloListing *l, const ListedComputation *c, const HloWriter *w)
{
    if (c->proto == l->entry) text_add(w->out, "ENTRY ");
    if (w->percent) text_add_char(w->out, '%');
    text_add(w->out, c->proto->name);
    text_add_char(w->out, ' ');
    if (w->percent) write_signature(c, w->out);
    text_add_char(w->out, '{');
}

static void write_end(const ListedComputation *c, TextBuffer *out)
{
    const char *thread = c->proto->execution_thread;
    text_add_char(out, '}');
    if (!*thread || !strcmp(thread, "main")) return;
    text_add(out, ", execution_thread=\"");
    text_add(out, thread);
    text_add_char(out, '"');
}

/* Returns the computation that a line belongs to; NULL for the module's header. */
static const ListedComputation *computation_of(const HloListing *l, size_t line)
{
    size_t low = LOWER_BOUND(i, 0, l->n_computations, l->computations[i].first_line <= line);
    return low ? &l->computations[low - 1] : NULL;
}

const Xla__HloInstructionProto *hlo_listing_instruction(const HloListing *l, size_t line)
{
    const ListedComputation *c = computation_of(l, line);
    return c && line > c->first_line && line - c->first_line <= c->n_ops
               ? l->ops[c->first_op + line - c->first_line - 1]
               : NULL;
}

void hlo_listing_line(const HloListing *l, size_t line, enum HloTextStyle style, TextBuffer *out)
{
    HloWriter w = hlo_writer(l->module, style, out);
    const ListedComputation *c = computation_of(l, line);
    const Xla__HloInstructionProto *op = hlo_listing_instruction(l, line);
    if (!line) {
        write_module(l->module, out);
    } else if (op) {
        text_add(out, op == c->root ? "  ROOT " : "  ");
        hlo_write_instruction(&w, op);
    } else if (c && line == c->first_line) {
        write_header(l, c, &w);
    } else if (c && line == c->first_line + c->n_ops + 1) {
        write_end(c, out);
    }
}
