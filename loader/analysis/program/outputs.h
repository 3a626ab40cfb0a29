// SPDX-License-Identifier: Apache-2.0
/* outputs.h: which instructions make the outputs of a program, and the shapes that the program's
 * result gives them.
 *
 * The result is that of the entry computation's root: an array, or a tuple of arrays in tuples. Its
 * arrays are traced back through tuples, calls, and instructions that copy nothing
 * (get-tuple-element, bitcast, opt-barrier) to the part of a result that is the buffer. A bitcast
 * gives it another shape. */
#ifndef PROF_OUTPUTS_H
#define PROF_OUTPUTS_H

#include "../../format/hlo.h"

/* Returns the shape that the program's result gives to the part `index` of what an instruction
 * makes: the first such, if several outputs are this part. NULL if no output is, if the program is
 * damaged, or if memory runs out. */
const Xla__ShapeProto *output_shape(const HloModule *module, const Xla__HloInstructionProto *op,
                                    const int64_t *index, size_t n_index, ProfErr *err);

#endif
