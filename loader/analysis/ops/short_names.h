// SPDX-License-Identifier: Apache-2.0
/* short_names.h: kernel names without namespaces, template arguments and parameters, different for
 * different names of a run. docs/semantics.md has the rules. */
#ifndef PROF_SHORT_NAMES_H
#define PROF_SHORT_NAMES_H

#include "../../run.h"

/* The short names of all events that the GPU planes of a run declare. */
typedef struct ShortNames ShortNames;
const ShortNames *run_short_names(Run *run, ProfErr *err);
/* Returns the short name of a metadata's name, which must be the same pointer as in a GPU plane of
 * the run; NULL for others. */
const Text *short_name(const ShortNames *names, const Text *name);

enum { SHORT_NAME_BYTES = 60 }; /* most bytes, without the part that makes it unique */

#endif
