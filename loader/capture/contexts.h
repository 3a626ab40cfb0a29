// SPDX-License-Identifier: Apache-2.0
/* contexts.h: the program's CUDA contexts, and waiting for their work: a kernel that still runs
 * when recording stops has no end in CUPTI's record, and is not recorded again. */
#ifndef PROF_CAPTURE_CONTEXTS_H
#define PROF_CAPTURE_CONTEXTS_H

#include <stdbool.h>

void contexts_add(void *context); /* adds a CUcontext that was created */
void contexts_remove(void *context);
/* Waits for all work in the contexts. False if some was still running after so many seconds, or if
 * the driver is missing. Must not be called while the program captures a graph: waiting for a
 * context breaks the graph. */
bool contexts_wait(int seconds);
void contexts_child(void); /* for a forked child: forgets the contexts */

#endif
