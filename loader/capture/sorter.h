// SPDX-License-Identifier: Apache-2.0
/* sorter.h: sorts more elements than memory should hold: sorted runs go to an unnamed file and are
 * merged when read. */
#ifndef PROF_CAPTURE_SORTER_H
#define PROF_CAPTURE_SORTER_H

#include "../base/base.h"

enum { SORT_BYTES = 24 << 20 }; /* of elements in memory, a sorter */

typedef struct Sorter Sorter;
/* Elements have element_bytes, a multiple of 8; compare as qsort wants, never 0 for different
 * elements if their order matters. The file is made in `folder`, once it is needed. NULL without
 * memory. */
Sorter *sorter_new(size_t element_bytes, int (*compare)(const void *, const void *),
                   const char *folder);
int sorter_add(Sorter *s, const void *element, ProfErr *err);
/* The next element in order, valid until the next call; NULL at the end or with err set. The first
 * call ends adding. */
const void *sorter_next(Sorter *s, ProfErr *err);
void sorter_free(Sorter *s); /* NULL is allowed */

#endif
