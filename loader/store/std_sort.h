/* std_sort.h: sorting as libstdc++'s std::sort does, equal items included.
 *
 * XProf sorts with std::sort where several items may be equal, so which of them comes first is the algorithm's doing; what
 * it shows depends on it. At most 16 items are sorted stably. */
#ifndef PROF_STD_SORT_H
#define PROF_STD_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts n pointers by `less`, a strict weak order of what they point to. Never more than n log n steps, needs no memory. */
void std_sort(void **items, size_t n, bool (*less)(const void *a, const void *b));
/* The n_kept first of n items in order, as XProf's TopN leaves them, at the front; what follows is rubbish. All are sorted
 * where n_kept is 0 or at least n. */
void std_top(void **items, size_t n, size_t n_kept, bool (*less)(const void *a, const void *b));

#endif
