// SPDX-License-Identifier: Apache-2.0
/* compile_events.h: recognises events of host threads in which a compiler works, or that lead to a
 * compilation. */
#ifndef PROF_COMPILE_EVENTS_H
#define PROF_COMPILE_EVENTS_H

#include "../../base/tf_op.h"

#include "../../run.h"

/* Returns whether an event with this name is compiling: JAX's backend_compile..., XLA's
 * ...::Compile..., ...Compiler::Run... and XlaCompile..., PJRT's ..._Compile, and the compile ops
 * of TPUs and TensorFlow. Events of one compilation nest in each other. Tracing, lowering and
 * Python functions do not count. */
bool is_compile_event(Slice name);
/* Returns the name without its arguments, which follow the first # or blank. */
Slice compile_event_title(Slice name);

/* Return whether an event or Python frame with this name traces a function of JAX to a jaxpr
 * (trace_to_jaxpr...) or one of TensorFlow to a graph (tf.function-graph_building), or lowers it to
 * a program for the compiler (lower_sharding_computation and its predecessors). */
bool is_tracing_event(Slice name);
bool is_lowering_event(Slice name);

/* Returns NAME of an event PjitFunction(NAME): the call of a compiled function. Empty for other
 * events. */
Slice called_function(Slice name);

#endif
