// SPDX-License-Identifier: Apache-2.0
/* hlo_category.c: XProf's category of an HLO instruction; see hlo_text.h. */
#include "hlo_writer.h"

#include "shape.h"

/* The category of a convolution depends on how its window is dilated. */
static const char *convolution_category(const Xla__Window *window)
{
    static const char *const names[] = {"convolution", "convolution base-dilated",
                                        "convolution window-dilated",
                                        "convolution base-dilated window-dilated"};
    bool base = false, dilated = false;
    for (size_t i = 0; window && i < window->n_dimensions; i++) {
        base |= window->dimensions[i]->base_dilation > 1;
        dilated |= window->dimensions[i]->window_dilation > 1;
    }
    return names[base + 2 * dilated];
}

static const char *fusion_category(const char *kind)
{
    if (!strcmp(kind, "kLoop")) return "loop fusion";
    if (!strcmp(kind, "kInput")) return "input fusion";
    if (!strcmp(kind, "kOutput")) return "output fusion";
    if (!strcmp(kind, "kCustom")) return "custom fusion";
    return "unknown fusion";
}

static int bits(const Xla__ShapeProto *shape)
{
    return shape ? primitive_bits(shape->element_type) : 0;
}

/* Returns whether an instruction is elementwise. A bitcast between types of equal width is, too. */
static bool acts_elementwise(const HloModule *m, const Xla__HloInstructionProto *op,
                             enum HloOpcode opcode)
{
    if (opcode == HLO_CONSTANT) return true; /* as in XLA */
    if (opcode != HLO_BITCAST_CONVERT) return hlo_is_elementwise(opcode);
    const Xla__HloInstructionProto *operand =
        op->n_operand_ids ? hlo_instruction(m, op->operand_ids[0]) : NULL;
    return operand && bits(operand->shape) == bits(op->shape);
}

const char *hlo_category(const HloModule *m, const Xla__HloInstructionProto *op)
{
    enum HloOpcode opcode = hlo_opcode(op->opcode);
    switch (opcode) {
    case HLO_FUSION: return fusion_category(op->more->fusion_kind);
    case HLO_CONVOLUTION: return convolution_category(op->more->rare->window);
    case HLO_TRANSPOSE:
    case HLO_COPY:
    case HLO_RESHAPE:
    case HLO_DYNAMIC_RESHAPE: return "data formatting";
    case HLO_CONSTANT: return "non-fusion elementwise"; /* as in XLA */
    default: return acts_elementwise(m, op, opcode) ? "non-fusion elementwise" : op->opcode;
    }
}
