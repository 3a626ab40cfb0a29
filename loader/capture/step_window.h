// SPDX-License-Identifier: Apache-2.0
/* step_window.h: --from-step and --steps: records from one of the program's steps to another.
 *
 * Steps are the ranges that --step-range names, counted from 0 by start, on all threads. A range
 * inside another step of its thread and domain belongs to it and is not counted. Recording starts
 * before the first step of the window and stops when all steps of the window have ended, in both
 * cases after the GPUs have finished their work. So the window has all work of its steps and none
 * of others. */
#ifndef PROF_CAPTURE_STEP_WINDOW_H
#define PROF_CAPTURE_STEP_WINDOW_H

#include "rings.h"

void step_window_begin(void); /* starts counting, if the options ask for it */
/* Receives every range and mark of the program, and adds it to its thread's ring. */
void step_window_put(RangeEvent *event, const char *text, size_t n_text);
void step_window_end(void);   /* at the end of the program: reports the steps that did not occur */
void step_window_child(void); /* for a forked child: stops counting */

#endif
