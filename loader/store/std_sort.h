// SPDX-License-Identifier: Apache-2.0
/* std_sort.h: sorting as libstdc++'s std::sort and std::partial_sort do, equal items included.
 *
 * XProf sorts with them where several items may be equal, so which of them comes first is the algorithm's doing; what
 * it shows depends on it. std::sort is stable for at most 16 items. */
#ifndef PROF_STD_SORT_H
#define PROF_STD_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* Interrupted, they end early, with the items in some order (interrupt_poll() says so).
 * Sorts n pointers by `less`, a strict weak order of what they point to. Never more than n log n steps, needs no memory. */
void std_sort(void **items, size_t n, bool (*less)(const void *a, const void *b));
/* The same of std::partial_sort: the n_first first items in order at the front, what follows in none. Equal items come in the
 * algorithm's order even where n_first is n. */
void std_partial_sort(void **items, size_t n, size_t n_first, bool (*less)(const void *a, const void *b));

#endif
