// SPDX-License-Identifier: Apache-2.0
/* sorted_events.h: visits the events of several lines by start, then duration, in exactly XProf's
 * order.
 *
 * Lines are nearly always stored by start, so they are merged. XProf sorts all events with
 * std::sort, which puts equal events in an order of its own. If that order matters, or if a line is
 * not sorted, all events are sorted with std_sort(). */
#ifndef PROF_SORTED_EVENTS_H
#define PROF_SORTED_EVENTS_H

#include "../run.h"

/* An event of one of the lines. */
typedef struct {
    int64_t start_ps, duration_ps;
    uint32_t line, at; /* index of the line in `lines`, and of the event on it */
} SpanRef;

/* Callbacks of a walk. */
typedef struct {
    void *context;
    /* visits an event; returns false with err set to stop */
    bool (*take)(void *context, const SpanRef *span, ProfErr *err);
    /* Called for two events with the same start and duration. Returns whether their order does not
     * matter. */
    bool (*alike)(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err);
    /* called before all events are visited again, from the first on */
    void (*restart)(void *context);
} SpanVisitor;

/* A line, or spans to visit in place of its events. `line` of such spans is ignored. */
typedef struct {
    Line *line;
    const SpanRef *instead; /* sorted spans to visit; NULL: the line's own events */
    size_t n_instead;
} SpanLine;

/* Visits the events of the lines. spans_walk() is for lines without `instead`. */
bool span_lines_walk(const SpanLine *lines, size_t n_lines, const SpanVisitor *visitor,
                     ProfErr *err);
bool spans_walk(Line *const *lines, size_t n_lines, const SpanVisitor *visitor, ProfErr *err);

#endif
