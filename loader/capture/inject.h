// SPDX-License-Identifier: Apache-2.0
/* inject.h: how the library gets into a program and out of it. */
#ifndef PROF_CAPTURE_INJECT_H
#define PROF_CAPTURE_INJECT_H

/* Registers the end of the capture at the program's exit. Handlers run in reverse order, and ours
 * must run before CUDA's, so it is called again after CUDA has registered its own. */
void inject_at_exit(void);
/* Starts what the options ask for: recording now, or a thread that does so later. `cuda`: the
 * driver has called us. */
void inject_begin(bool cuda);

#endif
