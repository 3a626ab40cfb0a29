// SPDX-License-Identifier: Apache-2.0
/* search.h: binary search. */
#ifndef PROF_SEARCH_H
#define PROF_SEARCH_H

#include <stddef.h>

/* Returns the first index of [first, end) whose item does not come before what is searched for, or
 * `end`. `before` is an expression of the index i: true up to some place, false from there on.
 *
 *     size_t at = LOWER_BOUND(i, 0, n, items[i].id < id);
 *     return at < n && items[at].id == id ? &items[at] : NULL; */
#define LOWER_BOUND(i, first, end, before)                                                         \
    __extension__({                                                                                \
        size_t i##_low = (first), i##_high = (end);                                                \
        while (i##_low < i##_high) {                                                               \
            size_t i = i##_low + (i##_high - i##_low) / 2;                                         \
            if (before)                                                                            \
                i##_low = i + 1;                                                                   \
            else                                                                                   \
                i##_high = i;                                                                      \
        }                                                                                          \
        i##_low;                                                                                   \
    })

#endif
