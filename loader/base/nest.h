// SPDX-License-Identifier: Apache-2.0
/* nest.h: which events are open around the one in hand.
 *
 * A walk meets events in the order of their starts, of equal starts the longest first. The events
 * that are open around the one in hand are on a stack, the outermost first: a LIST() whose items
 * contain the start and the end of an event, by whatever clock, and what the walk needs of it. */
#ifndef PROF_NEST_H
#define PROF_NEST_H

#include "list.h"

/* Returns the innermost item of a stack, or NULL. */
#define NEST_INNERMOST(stack) ((stack).n ? &(stack).items[(stack).n - 1] : NULL)

/* Closes the items that do not include an event, the innermost first, and returns the innermost of
 * those that do, or NULL. An item includes what neither starts before it nor ends after it. `start`
 * and `end` name the fields of an item. `close` is an expression, evaluated for each item that
 * closes, which is then the one after the last: stack.items[stack.n]. */
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
