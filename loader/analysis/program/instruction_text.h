// SPDX-License-Identifier: Apache-2.0
/* instruction_text.h: parses the text of one HLO instruction, "%name = SHAPE opcode(SHAPE %operand,
 * ...), attribute=value, ...". TPU profiles store it as the name of an op's metadata. Results refer
 * to the text. */
#ifndef PROF_INSTRUCTION_TEXT_H
#define PROF_INSTRUCTION_TEXT_H

#include "../../base/tf_op.h"

/* Returns the instruction's name; the entire text if it is not HLO. */
Slice instruction_name(Slice text);
/* Returns the opcode; empty if the text is not HLO. */
Slice instruction_opcode(Slice text);
/* Returns the value of an attribute, with its brackets; empty if it is missing. */
Slice instruction_attribute(Slice text, const char *key);
/* Return the bytes of the result, and of one operand (from 0) or ALL_OPERANDS, without padding. -1
 * if the text does not contain them. */
int64_t instruction_result_bytes(Slice text);
enum { ALL_OPERANDS = -1 };
int64_t instruction_operand_bytes(Slice text, int which);

#endif
