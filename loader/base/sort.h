// SPDX-License-Identifier: Apache-2.0
/* sort.h: sorting that can be interrupted. If interrupt_due() says stop, sorting ends early and
 * leaves the items in an undefined order; the caller learns of it from its next
 * interrupt_poll(). */
#ifndef PROF_SORT_H
#define PROF_SORT_H

#include <stddef.h>
#include <stdint.h>

enum { SORT_ITEM_BYTES = 64 };
/* Sorts n items in place, without allocating memory, in O(n log n). Not stable. An item has at most
 * SORT_ITEM_BYTES. `order` compares like qsort()'s function. */
void sort_in_place(void *items, size_t n, size_t item_bytes,
                   int (*order)(const void *a, const void *b));
void sort_in_place_by(void *items, size_t n, size_t item_bytes,
                      int (*order)(const void *a, const void *b, void *context), void *context);

/* Sorts like qsort(): faster than sort_in_place(), but it may copy the items. Fast for items that
 * are sorted, or consist of few sorted runs. */
void sort_array(void *items, size_t n, size_t item_bytes,
                int (*order)(const void *a, const void *b));

/* Sorts numbers, in O(n); like sort_array() if there is no memory for a copy. */
void sort_int64(int64_t *values, size_t n);

/* Compare two numbers through pointers, as sort_array() asks. */
int by_uint64(const void *a, const void *b);
int by_uint32(const void *a, const void *b);
int by_double(const void *a, const void *b);

/* Define such a function, which compares two items by a field; ORDER_BY_TWO by another if they have
 * the same value in the first. */
#define ORDER_BY(name, Item, field)                                                                \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const Item *x = a, *y = b;                                                                 \
        return ORDER(x->field, y->field);                                                          \
    }
#define ORDER_BY_TWO(name, Item, first, second)                                                    \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const Item *x = a, *y = b;                                                                 \
        return x->first != y->first ? ORDER(x->first, y->first) : ORDER(x->second, y->second);     \
    }

/* The order in which nested intervals open: by start, then the longest, then as stored. Compares
 * what x and y point at, like qsort()'s function; `end` names a duration or an end. */
#define BY_START_THEN_LONGEST(x, y, start, end, place)                                             \
    ((x)->start != (y)->start                                                                      \
         ? ORDER((x)->start, (y)->start)                                                           \
         : ((x)->end != (y)->end ? ORDER((y)->end, (x)->end) : ORDER((x)->place, (y)->place)))

#endif
