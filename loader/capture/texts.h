// SPDX-License-Identifier: Apache-2.0
/* texts.h: copies of the texts that CUPTI's records point to, taken while they are sure to be
 * there.
 *
 * A kernel's name is the loaded module's: when the program unloads it, the pointers in buffers that
 * wait for the writer dangle. So they are turned to copies of our own when a buffer comes back, in
 * CUPTI's thread. */
#ifndef PROF_CAPTURE_TEXTS_H
#define PROF_CAPTURE_TEXTS_H

#include "cupti.h"

/* Replaces the pointers of a buffer's records. From any thread. */
void texts_keep(const Cupti *cupti, uint8_t *bytes, size_t n_valid);
void texts_child(void); /* in a forked child */

#endif
