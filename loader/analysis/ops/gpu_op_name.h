// SPDX-License-Identifier: Apache-2.0
/* gpu_op_name.h: the framework op that an event of a GPU names. */
#ifndef PROF_GPU_OP_NAME_H
#define PROF_GPU_OP_NAME_H

#include "../../base/slice.h"

/* Texts of an event's stats; empty if absent. */
typedef struct {
    Slice tf_op, name, level_0, annotation;
} GpuOpTexts;

/* Returns whether a tf_op names only a module of XLA, where TensorFlow's name the op. */
bool names_module_only(Slice tf_op);

/* Returns the op: tf_op, for XLA's kernels name; older software wrote it as level 0 or annotation.
 * Empty if there is none. */
Slice gpu_op_name(const GpuOpTexts *texts);

#endif
