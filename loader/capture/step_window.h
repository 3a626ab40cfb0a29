// SPDX-License-Identifier: Apache-2.0
/* step_window.h: --from-step and --steps: recording from one of the program's steps to another.
 *
 * Steps are the ranges that --step-range names, counted from 0 in the order in which they start, on
 * whichever thread. A range inside another one of its thread and domain belongs to it and is not
 * counted. Recording starts before the first of the window and stops when all of the window have
 * ended, both times once the GPUs have done what they were given: so the window has all work of its
 * steps and none of others. */
#ifndef PROF_CAPTURE_STEP_WINDOW_H
#define PROF_CAPTURE_STEP_WINDOW_H

#include "rings.h"

void step_window_begin(void); /* counts from now on, if the options ask for it */
/* Every range and mark of the program comes through here, to its thread's ring. */
void step_window_put(RangeEvent *event, const char *text, size_t n_text);
void step_window_end(void);   /* the program ends: reports the steps that did not come */
void step_window_child(void); /* in a forked child: counts no more */

#endif
