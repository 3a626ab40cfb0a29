// SPDX-License-Identifier: Apache-2.0
/* hlo_rules.h: what XLA demands of an instruction by its operation, and of a shape.
 *
 * As XProf 2.24.2 answers for programs with one such instruction; where XLA would end the process instead of refusing the program, that counts
 * as refused too. */
#ifndef PROF_HLO_RULES_H
#define PROF_HLO_RULES_H

#include "../format/hlo.h"

enum { RULED_OPERANDS = 3 }; /* so many of the first operands matter */

/* What is wrong, a text that lives for ever; NULL: nothing. operands: the first of the instruction's, which all have shapes; NULL behind the last. */
const char *hlo_instruction_fault(const Xla__HloInstructionProto *op, const Xla__HloInstructionProto *const operands[RULED_OPERANDS]);
const char *hlo_shape_fault(const Xla__ShapeProto *shape);
/* The parameters of a computation are numbered from 0 on, each once. False: no memory, with err set. */
bool hlo_parameters_fault(const Xla__HloComputationProto *computation, const char **fault, ProfErr *err);

#endif
