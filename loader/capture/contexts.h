// SPDX-License-Identifier: Apache-2.0
/* contexts.h: the program's CUDA contexts, and waiting for their work: CUPTI gives a kernel that
 * still runs when recording stops back without an end, and never again. */
#ifndef PROF_CAPTURE_CONTEXTS_H
#define PROF_CAPTURE_CONTEXTS_H

#include <stdbool.h>

void contexts_add(void *context); /* a CUcontext that was made */
void contexts_remove(void *context);
/* Waits for all work that was given to them. False when some still ran after so many seconds, or
 * when the driver is not there. Not for a program that captures a graph at this moment: waiting for
 * a context breaks the graph. */
bool contexts_wait(int seconds);
void contexts_child(void); /* in a forked child: forgets them */

#endif
