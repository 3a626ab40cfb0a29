// SPDX-License-Identifier: Apache-2.0
/* sort.h: sorting that can be interrupted: it then ends early, with the items in some order (interrupt_poll() says so). */
#ifndef PROF_SORT_H
#define PROF_SORT_H

#include <stddef.h>

enum { SORT_ITEM_BYTES = 64 };
/* Without memory. Sorts n items of up to SORT_ITEM_BYTES where they lie, in n log n steps at most. Equal items come in no certain order. */
void sort_in_place(void *items, size_t n, size_t item_bytes, int (*order)(const void *a, const void *b));
void sort_in_place_by(void *items, size_t n, size_t item_bytes, int (*order)(const void *a, const void *b, void *context), void *context);

/* qsort(), which is quicker, but copies what it sorts. */
void sort_array(void *items, size_t n, size_t item_bytes, int (*order)(const void *a, const void *b));

#endif
