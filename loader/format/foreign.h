// SPDX-License-Identifier: Apache-2.0
/* foreign.h: recognises files that are often mistaken for a profile. */
#ifndef PROF_FOREIGN_H
#define PROF_FOREIGN_H

#include "../base/file.h"

/* Returns what a file that is not a profile is, by its name and first bytes, and what to give
 * instead. NULL if the file is not recognised. */
const char *foreign_advice(const File *file);

#endif
