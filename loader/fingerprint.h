// SPDX-License-Identifier: Apache-2.0
/* fingerprint.h: Fingerprint64 of FarmHash: the hash by which TensorFlow and XLA know a text, the same everywhere. */
#ifndef PROF_FINGERPRINT_H
#define PROF_FINGERPRINT_H

#include "base.h"

uint64_t fingerprint64(const void *bytes, size_t n_bytes);

#endif
