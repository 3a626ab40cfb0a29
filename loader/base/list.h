// SPDX-License-Identifier: Apache-2.0
/* list.h: a growing array of any type. A list starts as {0}. */
#ifndef PROF_LIST_H
#define PROF_LIST_H

#include "base.h"
#include "hash_table.h"

#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n, capacity;                                                                        \
    }
/* Appends an item and returns its address for the caller to fill in; NULL if memory runs out. The
 * address is valid until the next PUSH. Free list.items with prof_free(). */
#define PUSH(list)                                                                                 \
    (GROW((list).items, (list).n, (list).capacity) ? &(list).items[(list).n++] : NULL)
/* As PUSH(), of an item that `table` finds by its hash. Without memory for both, both are as they
 * were. */
#define PUSH_KEYED(list, table, hash)                                                              \
    (GROW((list).items, (list).n, (list).capacity) && hash_add((table), (hash), (list).n)          \
         ? &(list).items[(list).n++]                                                               \
         : NULL)

#endif
