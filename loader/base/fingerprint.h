// SPDX-License-Identifier: Apache-2.0
/* fingerprint.h: FarmHash's Fingerprint64, the hash with which TensorFlow and XLA identify a text.
 * Its result is the same on every machine and in every version. */
#ifndef PROF_FINGERPRINT_H
#define PROF_FINGERPRINT_H

#include "base.h"

/* Returns the fingerprint of n_bytes bytes. */
uint64_t fingerprint64(const void *bytes, size_t n_bytes);

#endif
