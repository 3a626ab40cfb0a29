// SPDX-License-Identifier: Apache-2.0
/* texts.h: copies the texts that CUPTI's records point to, while they are valid.
 *
 * The name of a kernel belongs to its module. When the program unloads the module, the pointers in
 * buffers that wait for the writer dangle. So they are replaced by pointers to copies when a buffer
 * is returned, in CUPTI's thread. */
#ifndef PROF_CAPTURE_TEXTS_H
#define PROF_CAPTURE_TEXTS_H

#include "cupti.h"

/* Replaces the pointers in a buffer's records. May be called from any thread. */
void texts_keep(const Cupti *cupti, uint8_t *bytes, size_t n_valid);
void texts_child(void); /* for a forked child */

#endif
