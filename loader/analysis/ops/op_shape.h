// SPDX-License-Identifier: Apache-2.0
/* op_shape.h: what the HLO text of an op says: its name, and the padding of its result. */
#ifndef PROF_OP_SHAPE_H
#define PROF_OP_SHAPE_H

#include "op_metrics.h"

/* Returns the instruction's name in "%name = f32[2]{0} add(...)"; the entire text without an equals
 * sign. Borrows from the text. */
Slice op_instruction_name(const Text *expression);
/* Returns the share of the result's stored bytes that contain data. NAN if the op's text has no
 * readable shape. */
double op_padding_efficiency(const OpMetrics *op);

#endif
