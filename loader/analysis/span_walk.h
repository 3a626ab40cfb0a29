// SPDX-License-Identifier: Apache-2.0
/* span_walk.h: the events of several lines by begin, then duration, in the very order in which XProf has them.
 *
 * Lines are nearly always stored by begin, so they are merged as they are. XProf sorts with std::sort, which leaves equal
 * events in an order of its own: where that matters, or where lines are not in order, all events are sorted as it does. */
#ifndef PROF_SPAN_WALK_H
#define PROF_SPAN_WALK_H

#include "../run.h"

typedef struct {
    int64_t start_ps, duration_ps;
    uint32_t line, at; /* index into the lines, and of the event on its line */
} SpanRef;

typedef struct {
    void *context;
    bool (*take)(void *context, const SpanRef *span, ProfErr *err); /* false: err is set */
    /* Two events that begin and last alike: is one order as good as the other? */
    bool (*alike)(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err);
    void (*restart)(void *context); /* all events will be taken again, from the first on */
} SpanVisitor;

/* A line, or what stands there in its stead: spans in the order of the line, of which `line` is not read. */
typedef struct {
    Line *line;
    const SpanRef *instead; /* NULL: the line as it is */
    size_t n_instead;
} SpanLine;

/* False: err is set. */
bool span_lines_walk(const SpanLine *lines, size_t n_lines, const SpanVisitor *visitor, ProfErr *err);
bool spans_walk(Line *const *lines, size_t n_lines, const SpanVisitor *visitor, ProfErr *err);

#endif
