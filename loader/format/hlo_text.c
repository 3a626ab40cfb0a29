// SPDX-License-Identifier: Apache-2.0
/* hlo_text.c: writes shapes and instructions as text; see hlo_text.h.
 *
 *   %add.1 = f32[4,8]{1,0} add(%a, %b), sharding={replicated}, backend_config={...} */
#include "hlo_writer.h"

#include "shape.h"
#include "hlo_type.h"

enum { SMALL_CONSTANT = 10 }; /* most elements of a constant in short texts */
enum {
    MAX_ASYNC_CHAIN = 64,
    MAX_ASYNC_OPS = 1024
}; /* most updates between a start and its done; most instructions that one may wrap */

/* ---- shapes ---- */

static void write_layout(TextBuffer *out, const Xla__LayoutProto *l, bool scalar)
{
    size_t start = out->n_bytes;
    text_add_char(out, '{');
    hlo_write_integers(out, l->minor_to_major, l->n_minor_to_major);
    size_t colon = out->n_bytes;
    text_add_char(out, ':');
    for (size_t i = 0; i < l->n_tiles; i++) {
        text_add(out, i ? "(" : "T(");
        for (size_t k = 0; k < l->tiles[i]->n_dimensions; k++) {
            if (k) text_add_char(out, ',');
            if (l->tiles[i]->dimensions[k] == INT64_MIN)
                text_add_char(out, '*');
            else
                text_add_integer(out, l->tiles[i]->dimensions[k]);
        }
        text_add_char(out, ')');
    }
    if (l->tail_padding_alignment_in_elements > 1)
        text_add_format(out, "L(%lld)", (long long)l->tail_padding_alignment_in_elements);
    if (l->element_size_in_bits)
        text_add_format(out, "E(%lld)", (long long)l->element_size_in_bits);
    if (l->memory_space) text_add_format(out, "S(%lld)", (long long)l->memory_space);
    for (size_t i = 0; i < l->n_split_configs; i++) {
        text_add_format(out, "%s%lld:", i ? "(" : "SC(", (long long)l->split_configs[i]->dimension);
        hlo_write_integers(out, l->split_configs[i]->split_indices,
                           l->split_configs[i]->n_split_indices);
        text_add_char(out, ')');
    }
    if (l->dynamic_shape_metadata_prefix_bytes)
        text_add_format(out, "M(%lld)", (long long)l->dynamic_shape_metadata_prefix_bytes);
    bool plain = out->n_bytes == colon + 1;
    /* nothing follows the colon */
    if (plain && out->n_bytes) out->n_bytes = scalar ? start : colon;
    if (!plain || !scalar) text_add_char(out, '}');
}

void hlo_write_shape(TextBuffer *out, const Xla__ShapeProto *shape, bool layout)
{
    if (!shape) return;
    const char *name = primitive_name(shape->element_type);
    if (shape->element_type == XLA_TUPLE || shape->element_type == XLA_BUFFER) {
        text_add(out, shape->element_type == XLA_BUFFER ? "b(" : "(");
        for (size_t i = 0; i < shape->n_tuple_shapes && !out->cut; i++) {
            if (i) text_add(out, ", ");
            if (i && i % 5 == 0) text_add_format(out, "/*index=%zu*/", i);
            hlo_write_shape(out, shape->tuple_shapes[i], layout);
        }
        {
            text_add_char(out, ')');
            return;
        }
    }
    text_add(out, name ? name : "invalid");
    text_add_char(out, '[');
    for (size_t i = 0; i < shape->n_dimensions && !out->cut; i++) {
        bool dynamic = i < shape->n_is_dynamic_dimension && shape->is_dynamic_dimension[i];
        if (i) text_add_char(out, ',');
        if (dynamic && shape->dimensions[i] == INT64_MIN) {
            text_add_char(out, '?');
            continue;
        }
        if (dynamic) text_add(out, "<=");
        text_add_integer(out, shape->dimensions[i]);
    }
    text_add_char(out, ']');
    if (layout && shape->layout && shape->element_type != XLA_TOKEN &&
        shape->element_type != XLA_OPAQUE)
        write_layout(out, shape->layout, !shape->n_dimensions);
}

char *hlo_shape_text(const Xla__ShapeProto *shape, bool layout, TextBuffer *out)
{
    hlo_write_shape(out, shape, layout);
    return out->no_memory ? NULL : out->text;
}

/* ---- asynchronous operations ---- */

const Xla__HloInstructionProto *hlo_root(const Xla__HloComputationProto *c)
{
    for (size_t i = c->n_instructions; i-- > 0;) /* from the end, where the root usually is */
        if (c->instructions[i]->id == c->root_id) return c->instructions[i];
    return c->n_instructions ? c->instructions[c->n_instructions - 1] : NULL;
}

const Xla__HloComputationProto *hlo_async_single(const HloModule *m,
                                                 const Xla__HloInstructionProto *op)
{
    for (int i = 0; op && hlo_opcode(op->opcode) != HLO_ASYNC_START; i++) {
        if (i == MAX_ASYNC_CHAIN || !op->n_operand_ids) return NULL;
        const Xla__HloInstructionProto *before = hlo_instruction(m, op->operand_ids[0]);
        enum HloOpcode opcode = before ? hlo_opcode(before->opcode) : HLO_UNKNOWN;
        if (opcode != HLO_ASYNC_START && opcode != HLO_ASYNC_UPDATE) return NULL;
        op = before;
    }
    const Xla__HloComputationProto *c =
        op && op->more->n_called_computation_ids
            ? hlo_computation(m, op->more->called_computation_ids[0])
            : NULL;
    const Xla__HloInstructionProto *root = c ? hlo_root(c) : NULL;
    if (!root || c->n_instructions > MAX_ASYNC_OPS) return NULL;
    for (size_t i = 0; i < c->n_instructions; i++)
        if (c->instructions[i] != root && strcmp(c->instructions[i]->opcode, "parameter") != 0)
            return NULL;
    return c;
}

static void write_opcode(const HloWriter *w, const Xla__HloInstructionProto *op,
                         enum HloOpcode opcode)
{
    static const char *const suffixes[] = {"-done", "-start", "-update"};
    bool async =
        opcode == HLO_ASYNC_DONE || opcode == HLO_ASYNC_START || opcode == HLO_ASYNC_UPDATE;
    const Xla__HloComputationProto *single = async ? hlo_async_single(w->module, op) : NULL;
    text_add(w->out, single ? hlo_root(single)->opcode : op->opcode);
    if (single) text_add(w->out, suffixes[opcode - HLO_ASYNC_DONE]);
}

/* ---- instructions ---- */

static void write_constant(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const Xla__ShapeProto *shape = op->shape;
    if (w->canonical) {
        hlo_write_essential_literal(w->out, op->more->literal);
        return;
    }
    int64_t n = shape && shape->element_type != XLA_TUPLE ? hlo_element_count(shape) : -1;
    if (op->more->literal && (w->all_constants || (n >= 0 && n <= SMALL_CONSTANT)))
        hlo_write_literal(w->out, op->more->literal);
    else
        text_add(w->out, "{...}");
}

static void write_operand_shape(const HloWriter *w, const Xla__ShapeProto *shape)
{
    enum { SHAPE_MAX = 1000 };
    TextBuffer *out = w->out;
    size_t limit = out->limit, most = out->n_bytes + SHAPE_MAX;
    if (w->cut_shapes) out->limit = limit && limit < most ? limit : most;
    hlo_write_shape(out, shape, true);
    out->limit = limit;
    if (!out->cut || out->n_bytes == limit) return;
    out->cut = false;
    text_add(out, "...");
}

static void write_operands(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    for (size_t i = 0; i < op->n_operand_ids; i++) {
        const Xla__HloInstructionProto *operand = hlo_instruction(w->module, op->operand_ids[i]);
        if (i) text_add(w->out, ", ");
        if (i && i % 5 == 0 && w->index_comments) text_add_format(w->out, "/*index=%zu*/", i);
        if (!operand) continue;
        if (w->operand_shapes) write_operand_shape(w, operand->shape);
        if (w->operand_shapes && (!w->canonical || w->body)) text_add_char(w->out, ' ');
        if (w->canonical) {
            hlo_write_number(w, operand);
            continue;
        }
        if (w->percent) text_add_char(w->out, '%');
        text_add(w->out, operand->name);
    }
}

HloWriter hlo_writer(const HloModule *module, enum HloTextStyle style, TextBuffer *out)
{
    bool is_short = style == HLO_TEXT_SHORT, is_canonical = style == HLO_TEXT_CANONICAL,
         is_brief = style == HLO_TEXT_BRIEF,
         shapes = style == HLO_TEXT_LONG_NAME || is_brief || is_canonical;
    return (HloWriter){.module = module,
                       .out = out,
                       .percent = !is_short && !is_canonical,
                       .operand_shapes = shapes,
                       .cut_shapes = is_brief,
                       .all_constants = style == HLO_TEXT_LONG,
                       .index_comments = !is_short && !is_canonical,
                       .control = !is_short && !is_canonical,
                       .configs = !shapes,
                       .canonical = is_canonical};
}

void hlo_write_instruction(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    enum HloOpcode opcode = hlo_opcode(op->opcode);
    if (w->percent) text_add_char(w->out, '%');
    if (w->canonical)
        hlo_write_number(w, op);
    else
        text_add(w->out, op->name);
    if (!w->canonical || w->body) text_add(w->out, " = ");
    hlo_write_shape(w->out, op->shape, true);
    text_add_char(w->out, ' ');
    write_opcode(w, op, opcode);
    text_add_char(w->out, '(');
    if (opcode == HLO_PARAMETER)
        text_add_integer(w->out, op->more->parameter_number);
    else if (opcode == HLO_CONSTANT)
        write_constant(w, op);
    else
        write_operands(w, op);
    text_add_char(w->out, ')');
    hlo_write_attributes(w, op);
    hlo_write_backend_config(w, op);
}

char *hlo_instruction_text(const HloModule *module, const Xla__HloInstructionProto *op,
                           enum HloTextStyle style, TextBuffer *out)
{
    HloWriter w = hlo_writer(module, style, out);
    hlo_write_instruction(&w, op);
    return out->no_memory ? NULL : out->text;
}
