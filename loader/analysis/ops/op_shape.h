// SPDX-License-Identifier: Apache-2.0
/* op_shape.h: the name of an op and the padding of its result, from its HLO text. */
#ifndef PROF_OP_SHAPE_H
#define PROF_OP_SHAPE_H

#include "op_metrics.h"

/* Returns the instruction's name in "%name = f32[2]{0} add(...)"; the entire text if it has no
 * equals sign. Refers to the text. */
Slice op_instruction_name(const Text *expression);
/* Returns the share of the result's stored bytes that contain data. NAN if the op's text has no
 * readable shape. */
double op_padding_efficiency(const OpMetrics *op);

#endif
