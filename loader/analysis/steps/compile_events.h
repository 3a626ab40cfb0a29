// SPDX-License-Identifier: Apache-2.0
/* compile_events.h: recognises events of host threads in which a compiler works. */
#ifndef PROF_COMPILE_EVENTS_H
#define PROF_COMPILE_EVENTS_H

#include "../../base/tf_op.h"

#include "../../run.h"

/* Returns whether an event with this name is compiling: JAX's backend_compile..., XLA's
 * ...::Compile..., ...Compiler::Run... and XlaCompile..., PJRT's ..._Compile, and the compile ops
 * of TPUs and TensorFlow. Events of one compilation nest in each other. Tracing, lowering and
 * Python functions do not count. */
bool is_compile_event(Slice name);

#endif
