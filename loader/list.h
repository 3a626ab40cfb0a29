// SPDX-License-Identifier: Apache-2.0
/* list.h: an array that grows, of any type. */
#ifndef PROF_LIST_H
#define PROF_LIST_H

#include "base.h"

#define LIST(type)                                                                                                                                             \
    struct {                                                                                                                                                   \
        type *items;                                                                                                                                           \
        size_t n, capacity;                                                                                                                                    \
    }
/* The place of one more item, NULL: no memory. The items are freed with prof_free(). */
#define PUSH(list) (GROW((list).items, (list).n, (list).capacity) ? &(list).items[(list).n++] : NULL)

#endif
