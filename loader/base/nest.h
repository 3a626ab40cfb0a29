// SPDX-License-Identifier: Apache-2.0
/* nest.h: a stack of the events that are open around the current one.
 *
 * A walk visits events by start, and events with equal starts by decreasing length. The stack has
 * the events that are open around the current one, the outermost first. It is a LIST() whose items
 * contain an event's start and end, in any clock, and whatever else the walk needs. */
#ifndef PROF_NEST_H
#define PROF_NEST_H

#include "list.h"

/* Returns the innermost item of a stack, or NULL. */
#define NEST_INNERMOST(stack) ((stack).n ? &(stack).items[(stack).n - 1] : NULL)

/* Closes the items that do not include an event, the innermost first. Returns the innermost item
 * that includes it, or NULL. An item includes an event that neither starts before it nor ends after
 * it. `start` and `end` name the fields of an item. `close` is an expression, evaluated for each
 * item that closes, which is then stack.items[stack.n]. */
#define NEST_AROUND(stack, start, end, event_start, event_end, close)                              \
    __extension__({                                                                                \
        while ((stack).n && !((stack).items[(stack).n - 1].start <= (event_start) &&               \
                              (event_end) <= (stack).items[(stack).n - 1].end)) {                  \
            (stack).n--;                                                                           \
            (void)(close);                                                                         \
        }                                                                                          \
        NEST_INNERMOST(stack);                                                                     \
    })

/* Closes all items, the innermost first. */
#define NEST_CLOSE_ALL(stack, close)                                                               \
    do                                                                                             \
        while ((stack).n) {                                                                        \
            (stack).n--;                                                                           \
            (void)(close);                                                                         \
        }                                                                                          \
    while (0)

#endif
