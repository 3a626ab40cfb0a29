/* span_sort.c: introsort as libstdc++ has it; see span_sort.h. */
#include "span_sort.h"

enum { SMALL = 16 };

static void swap(SpanRef *a, SpanRef *b)
{
    SpanRef t = *a;
    *a = *b, *b = t;
}

/* ---- heap sort, for what quicksort takes too long for ---- */

static void sift(SpanRef *heap, size_t hole, size_t n, SpanRef value)
{
    size_t top = hole, child = hole;
    while (n > 1 && child < (n - 1) / 2) {
        child = 2 * (child + 1);
        if (span_before(&heap[child], &heap[child - 1])) child--;
        heap[hole] = heap[child];
        hole = child;
    }
    if (n % 2 == 0 && n >= 2 && child == (n - 2) / 2) {
        child = 2 * child + 1;
        heap[hole] = heap[child];
        hole = child;
    }
    while (hole > top && span_before(&heap[(hole - 1) / 2], &value)) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = value;
}

static void heap_sort(SpanRef *a, size_t n)
{
    for (size_t parent = n / 2; parent-- > 0;) sift(a, parent, n, a[parent]);
    for (size_t last = n; last-- > 1;) {
        SpanRef value = a[last];
        a[last] = a[0];
        sift(a, 0, last, value);
    }
}

/* ---- quicksort down to small pieces, then one insertion sort ---- */

/* The median of three goes to the front. */
static void median_to_front(SpanRef *front, SpanRef *a, SpanRef *b, SpanRef *c)
{
    if (span_before(a, b))
        swap(front, span_before(b, c) ? b : span_before(a, c) ? c : a);
    else
        swap(front, span_before(a, c) ? a : span_before(b, c) ? c : b);
}

static SpanRef *partition(SpanRef *first, SpanRef *last)
{
    median_to_front(first, first + 1, first + (last - first) / 2, last - 1);
    SpanRef *i = first + 1, *j = last;
    for (;; i++) {
        while (span_before(i, first)) i++;
        j--;
        while (span_before(first, j)) j--;
        if (i >= j) return i;
        swap(i, j);
    }
}

static void sort_pieces(SpanRef *first, SpanRef *last, int depth)
{
    for (; last - first > SMALL; depth--) {
        if (!depth) {
            heap_sort(first, (size_t)(last - first));
            return;
        }
        SpanRef *cut = partition(first, last);
        sort_pieces(cut, last, depth - 1);
        last = cut;
    }
}

static void insert(SpanRef *at, const SpanRef *first, bool bounded)
{
    SpanRef value = *at;
    for (; (!bounded || at > first) && span_before(&value, at - 1); at--) *at = at[-1];
    *at = value;
}

void span_sort(SpanRef *a, size_t n)
{
    int depth = 0;
    for (size_t k = n; k > 1; k /= 2) depth += 2;
    if (n) sort_pieces(a, a + n, depth);
    /* behind the first piece no element belongs before it */
    for (size_t i = 1; i < n; i++) insert(&a[i], a, i < SMALL);
}
