// SPDX-License-Identifier: Apache-2.0
/* std_sort.h: sorts exactly as libstdc++'s std::sort and std::partial_sort do.
 *
 * XProf sorts with them where several items may be equal. Their order is then a result of the
 * algorithm, and XProf shows it. std::sort is stable only for up to 16 items.
 *
 * If the statement is interrupted, sorting ends early and leaves the items in an undefined order;
 * the caller learns of it from its next interrupt_poll(). */
#ifndef PROF_STD_SORT_H
#define PROF_STD_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts n pointers like std::sort. `less` is a strict weak order of what they point to. O(n log n),
 * needs no memory. */
void std_sort(void **items, size_t n, bool (*less)(const void *a, const void *b));
/* Sorts like std::partial_sort: moves the n_first smallest items, in order, to the front; the
 * others follow in an undefined order. Equal items get std::partial_sort's order, which differs
 * from std::sort's even if n_first is n. */
void std_partial_sort(void **items, size_t n, size_t n_first,
                      bool (*less)(const void *a, const void *b));

#endif
