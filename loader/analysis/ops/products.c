// SPDX-License-Identifier: Apache-2.0
/* products.c: see products.h. */
#include "products.h"

#include "../../base/tf_op.h"
#include "../../format/hlo_type.h"
#include "../../format/json.h"

enum {
    HAS_PRODUCT = 1,
    HAS_MULTIPLY = 2,
    HAS_REDUCE = 4,
    HAS_TENSORCORE_DOT = 8, /* on tensor cores, if Triton compiles it */
};

static bool is_narrow(const Xla__ShapeProto *shape)
{
    switch (shape ? (enum HloType)shape->element_type : XLA_INVALID) {
    case XLA_F16:
    case XLA_BF16:
    case XLA_S8:
    case XLA_U8:
    case XLA_S4:
    case XLA_U4:
    case XLA_F8E5M2:
    case XLA_F8E4M3FN:
    case XLA_F8E4M3B11FNUZ:
    case XLA_F8E5M2FNUZ:
    case XLA_F8E4M3FNUZ:
    case XLA_F8E4M3:
    case XLA_F8E3M4:
    case XLA_F4E2M1FN:
    case XLA_F6E3M2FN:
    case XLA_F6E2M3FN: return true;
    default: return false;
    }
}

/* Returns whether a product of f32 numbers is computed in TF32 or bf16. By default it is. */
static bool is_reduced(const Xla__PrecisionConfig *precision)
{
    enum { ALGORITHM_UNSET = 0, F32_F32_F32 = 11, F64_F64_F64 = 12 };
    if (!precision) return true;
    if (precision->algorithm != ALGORITHM_UNSET)
        return precision->algorithm != F32_F32_F32 && precision->algorithm != F64_F64_F64;
    for (size_t i = 0; i < precision->n_operand_precision; i++)
        if (precision->operand_precision[i]) return false;
    return true;
}

static bool is_tensorcore_dot(const HloModule *module, const Xla__HloInstructionProto *op)
{
    for (size_t i = 0; i < 2 && i < op->n_operand_ids; i++) {
        const Xla__HloInstructionProto *operand = hlo_instruction(module, op->operand_ids[i]);
        const Xla__ShapeProto *shape = operand ? operand->shape : NULL;
        bool is_f32 = shape && shape->element_type == XLA_F32;
        if (!is_narrow(shape) && !(is_f32 && is_reduced(op->more->rare->precision_config)))
            return false;
    }
    return op->n_operand_ids >= 2;
}

/* Returns what an instruction contains. `known` has the same for each computation before the
 * caller's. */
static unsigned parts_of(const HloModule *module, const Xla__HloInstructionProto *op,
                         const uint8_t *known)
{
    static const char *const products[] = {"dot", "ragged-dot", "scaled-dot", "convolution",
                                           "custom-call"};
    if (!strcmp(op->opcode, "dot") && is_tensorcore_dot(module, op))
        return HAS_PRODUCT | HAS_TENSORCORE_DOT;
    for (size_t i = 0; i < COUNT(products); i++)
        if (!strcmp(op->opcode, products[i])) return HAS_PRODUCT;
    if (!strcmp(op->opcode, "multiply")) return HAS_MULTIPLY;
    if (!strcmp(op->opcode, "reduce") || !strcmp(op->opcode, "reduce-window")) return HAS_REDUCE;
    unsigned parts = 0;
    for (size_t i = 0; i < op->more->n_called_computation_ids; i++)
        parts |= known[hlo_computation_position(module, op->more->called_computation_ids[i])];
    return parts;
}

/* Computes what each computation contains. In a valid program, callers come last. */
static void *make_parts(const HloModule *module, ProfErr *err)
{
    const Xla__HloModuleProto *hlo = module->proto->hlo_module;
    uint8_t *parts = prof_alloc(hlo->n_computations);
    if (!parts) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t c = 0; c < hlo->n_computations; c++)
        for (size_t i = 0; i < hlo->computations[c]->n_instructions; i++)
            parts[c] |= (uint8_t)parts_of(module, hlo->computations[c]->instructions[i], parts);
    return parts;
}

static unsigned all_parts_of(const HloModule *module, const Xla__HloInstructionProto *instruction,
                             ProfErr *err)
{
    static const HloAnalysis analysis = {make_parts, prof_free};
    const uint8_t *known = hlo_analysis(module, &analysis, err);
    return known ? parts_of(module, instruction, known) : 0;
}

bool hlo_is_product(const HloModule *module, const Xla__HloInstructionProto *instruction,
                    ProfErr *err)
{
    unsigned parts = all_parts_of(module, instruction, err);
    return parts & HAS_PRODUCT || (parts & HAS_MULTIPLY && parts & HAS_REDUCE);
}

/* Returns whether the backend config of a fusion has a kind like __triton_gemm. */
static bool is_triton_fusion(const HloModule *module, const Xla__HloInstructionProto *op)
{
    static const char kind[] = "\"__triton";
    size_t n_bytes;
    const char *config = (const char *)hlo_backend_config(module, op, &n_bytes);
    Json j = {config, config + n_bytes};
    return !strcmp(op->opcode, "fusion") && n_bytes && json_enter(&j, "fusion_backend_config") &&
           json_enter(&j, "kind") && slice_starts((Slice){j.p, (size_t)(j.end - j.p)}, kind);
}

bool hlo_is_triton_product(const HloModule *module, const Xla__HloInstructionProto *instruction,
                           ProfErr *err)
{
    return is_triton_fusion(module, instruction) &&
           all_parts_of(module, instruction, err) & HAS_TENSORCORE_DOT;
}
