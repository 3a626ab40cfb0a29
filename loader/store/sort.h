/* sort.h: sorting without memory: qsort() of the C library copies what it sorts. */
#ifndef PROF_SORT_H
#define PROF_SORT_H

#include <stddef.h>

enum { SORT_ITEM_BYTES = 64 };
/* Sorts n items of up to SORT_ITEM_BYTES where they lie, in n log n steps at most. Equal items come in no certain order. */
void sort_in_place(void *items, size_t n, size_t item_bytes, int (*order)(const void *a, const void *b));
void sort_in_place_by(void *items, size_t n, size_t item_bytes, int (*order)(const void *a, const void *b, void *context), void *context);

#endif
