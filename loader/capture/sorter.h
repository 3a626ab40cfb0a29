// SPDX-License-Identifier: Apache-2.0
/* sorter.h: sorts more elements than memory should contain: sorted runs are written to an unnamed
 * file and merged when they are read. */
#ifndef PROF_CAPTURE_SORTER_H
#define PROF_CAPTURE_SORTER_H

#include "../base/base.h"

enum { SORT_BYTES = 24 << 20 }; /* memory for elements of a sorter */

typedef struct Sorter Sorter;
/* Creates a sorter. element_bytes is a multiple of 8. `compare` is like qsort()'s; it must not
 * return 0 for different elements if their order matters. The file is created in `folder` when it
 * is needed. NULL if memory runs out. */
Sorter *sorter_new(size_t element_bytes, int (*compare)(const void *, const void *),
                   const char *folder);
int sorter_add(Sorter *s, const void *element, ProfErr *err);
/* Returns the next element in order, valid until the next call; NULL at the end or with err set.
 * Nothing can be added after the first call. */
const void *sorter_next(Sorter *s, ProfErr *err);
void sorter_free(Sorter *s); /* may be NULL */

#endif
