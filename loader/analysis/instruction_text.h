// SPDX-License-Identifier: Apache-2.0
/* instruction_text.h: one HLO instruction as text, "%name = SHAPE opcode(SHAPE %operand, ...), attribute=value, ...", which TPU profiles
 * have as the name of an op's metadata. What is returned borrows from the text. */
#ifndef PROF_INSTRUCTION_TEXT_H
#define PROF_INSTRUCTION_TEXT_H

#include "tf_op.h"

/* Text that is no HLO is a name entirely. */
Slice instruction_name(Slice text);
/* Empty if the text is no HLO. */
Slice instruction_opcode(Slice text);
/* The value of an attribute, with its brackets; empty if absent. */
Slice instruction_attribute(Slice text, const char *key);
/* Bytes of the result, of all operands, or of one operand from 0 on, without padding; -1 if the text does not say. */
int64_t instruction_result_bytes(Slice text);
enum { ALL_OPERANDS = -1 };
int64_t instruction_operand_bytes(Slice text, int which);

#endif
