// SPDX-License-Identifier: Apache-2.0
/* compile_events.h: which events of host threads are a compiler at work. */
#ifndef PROF_COMPILE_EVENTS_H
#define PROF_COMPILE_EVENTS_H

#include "tf_op.h"

#include "../run.h"

/* By the name: JAX's backend_compile..., XLA's ...::Compile..., ...Compiler::Run... and XlaCompile..., PJRT's ..._Compile, TPU's and TensorFlow's compile
 * ops. Events of one compilation nest in each other. Tracing and lowering before it, and functions of Python, are not compiling. */
bool is_compile_event(Slice name);
/* Whether events of the plane could be: its metadata name one. */
bool plane_compiles(const Plane *plane);

#endif
