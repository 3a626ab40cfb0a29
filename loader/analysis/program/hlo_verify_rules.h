// SPDX-License-Identifier: Apache-2.0
/* hlo_verify_rules.h: XLA's rules for single instructions and shapes.
 *
 * The rules were found by asking XProf 2.24.2 about programs with one such instruction. If XLA
 * would end the process instead of rejecting the program, that counts as rejecting it. */
#ifndef PROF_HLO_VERIFY_RULES_H
#define PROF_HLO_VERIFY_RULES_H

#include "../../format/hlo.h"

enum { RULED_OPERANDS = 3 }; /* the rules depend on this many of the first operands */

/* Returns what is wrong with an instruction or shape, as a static text; NULL if nothing is.
 * `operands` are the instruction's first operands, each with a shape, NULL after the last. */
const char *hlo_instruction_fault(const Xla__HloInstructionProto *op,
                                  const Xla__HloInstructionProto *const operands[RULED_OPERANDS]);
const char *hlo_shape_fault(const Xla__ShapeProto *shape);
/* Checks that a computation's parameters are numbered from 0, each number once. *fault is a static
 * text, NULL if nothing is wrong. */
bool hlo_parameters_fault(const Xla__HloComputationProto *computation, const char **fault,
                          ProfErr *err);

#endif
