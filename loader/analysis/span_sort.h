/* span_sort.h: events by begin, then duration, in the very order in which XProf has them.
 *
 * XProf sorts with std::sort, which leaves equal elements in no promised order; some of its answers depend on it. This is
 * the algorithm of libstdc++, step by step, so that equal elements end where they do there. */
#ifndef PROF_SPAN_SORT_H
#define PROF_SPAN_SORT_H

#include "../base.h"

typedef struct {
    int64_t start_ps, duration_ps;
    uint32_t line, at; /* the caller's */
} SpanRef;

static inline bool span_before(const SpanRef *a, const SpanRef *b)
{
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : a->duration_ps < b->duration_ps;
}
void span_sort(SpanRef *spans, size_t n);

#endif
