// SPDX-License-Identifier: Apache-2.0
/* cover.c: a set of times, as intervals; see cover.h. */
#include "cover.h"

#include "../../base/sort.h"

#include <assert.h>

bool cover_add(Cover *cover, int64_t start, int64_t end)
{
    if (start >= end) return true;
    Stretch *last = cover->n ? &cover->items[cover->n - 1] : NULL;
    if (last && start >= last->start && start <= last->end) {
        if (end > last->end) last->end = end;
        return true;
    }
    if (last && start < last->start) cover->unordered = true;
    if (!GROW(cover->items, cover->n, cover->capacity)) return false;
    cover->items[cover->n++] = (Stretch){start, end};
    return true;
}

ORDER_BY(by_start, Stretch, start)

void cover_finish(Cover *cover)
{
    if (!cover->unordered) return;
    size_t n = 1;
    sort_array(cover->items, cover->n, sizeof *cover->items, by_start);
    for (size_t i = 1; i < cover->n; i++) {
        Stretch *last = &cover->items[n - 1], next = cover->items[i];
        if (next.start > last->end)
            cover->items[n++] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    cover->n = n, cover->unordered = false;
}

uint64_t cover_length(const Cover *cover)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < cover->n; i++)
        sum += (uint64_t)cover->items[i].end - (uint64_t)cover->items[i].start;
    return sum;
}

uint64_t cover_length_of_all(const Cover *covers, size_t n)
{
    uint64_t sum = 0;
    int64_t reached = INT64_MIN;
    size_t at[MOST_COVERS] = {0};
    assert(n <= MOST_COVERS);
    for (;;) {
        const Stretch *next = NULL;
        size_t of = 0;
        for (size_t i = 0; i < n; i++)
            if (at[i] < covers[i].n && (!next || covers[i].items[at[i]].start < next->start))
                next = &covers[i].items[at[i]], of = i;
        if (!next) return sum;
        int64_t start = next->start > reached ? next->start : reached;
        if (next->end > start) sum += (uint64_t)next->end - (uint64_t)start, reached = next->end;
        at[of]++;
    }
}

uint64_t cover_common(const Cover *a, const Cover *b)
{
    uint64_t sum = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        Stretch x = a->items[i], y = b->items[k];
        int64_t start = x.start > y.start ? x.start : y.start, end = x.end < y.end ? x.end : y.end;
        if (start < end) sum += (uint64_t)end - (uint64_t)start;
        if (x.end < y.end)
            i++;
        else
            k++;
    }
    return sum;
}

void cover_free(Cover *cover)
{
    prof_free(cover->items);
    *cover = (Cover){0};
}
