// SPDX-License-Identifier: Apache-2.0
/* foreign.h: files that people take for a profile. */
#ifndef PROF_FOREIGN_H
#define PROF_FOREIGN_H

#include "../base/file.h"

/* Says what a file that is no profile is and what to give instead, going by its name and first
 * bytes. NULL if it looks like nothing known. */
const char *foreign_advice(const File *file);

#endif
