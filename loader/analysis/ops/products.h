// SPDX-License-Identifier: Apache-2.0
/* products.h: which instructions of a program multiply matrices, or convolve. */
#ifndef PROF_PRODUCTS_H
#define PROF_PRODUCTS_H

#include "../../format/hlo.h"

/* Both need a program without faults (hlo_valid_program()). */

/* Returns whether an instruction is or contains a matrix product, convolution or library call, or a
 * product that XLA turned into a sum of products. Transposes before it and sums of its parts do not
 * count. */
bool hlo_is_product(const HloModule *module, const Xla__HloInstructionProto *instruction,
                    ProfErr *err);
/* Returns whether an instruction is a fusion that XLA compiles with Triton, with a product that
 * tensor cores compute: of numbers of at most 16 bits, or of f32 in TF32 or bf16. */
bool hlo_is_triton_product(const HloModule *module, const Xla__HloInstructionProto *instruction,
                           ProfErr *err);

#endif
