// SPDX-License-Identifier: Apache-2.0
/* std_sort.c: introsort, as D. R. Musser describes it ("Introspective Sorting and Selection
 * Algorithms", 1997); see std_sort.h.
 *
 * Quicksort splits ranges of more than SMALL items around a median of three. A range that was split
 * more than 2 log2(n) times is heap sorted. One insertion sort over everything finishes the small
 * ranges. Musser leaves open how ties fall: which of three equal items is the median, which of two
 * equal children moves up. Here they fall as in libstdc++; tests/unit/std_sort.c compares the
 * orders. */
#include "std_sort.h"

#include "interrupt.h"

enum { SMALL = 16 };

typedef struct {
    bool (*less)(const void *a, const void *b);
    uint32_t n_compared;
    bool stopped; /* interrupted: every comparison is then false, so that the sort ends soon */
} Order;

static inline bool is_less(Order *o, const void *a, const void *b)
{
    enum { COMPARED = 4096 };
    if (++o->n_compared % COMPARED == 0) o->stopped = interrupt_due(COMPARED / 4);
    return !o->stopped && o->less(a, b);
}

static void swap(void **items, size_t a, size_t b)
{
    void *item = items[a];
    items[a] = items[b];
    items[b] = item;
}

/* ---- heap sort ---- */

/* Puts an item into the heap of n items below the empty place `hole`. The hole first sinks to a
 * leaf, along the larger children (the right one of two equal), then the item rises from there
 * (Floyd's variant). */
static void fill_hole(void **items, size_t hole, size_t n, void *item, Order *o)
{
    size_t top = hole;
    for (size_t child; (child = 2 * hole + 2) <= n; hole = child) {
        if (child == n || is_less(o, items[child], items[child - 1])) child--;
        items[hole] = items[child];
    }
    for (size_t parent; hole > top; hole = parent) {
        parent = (hole - 1) / 2;
        if (!is_less(o, items[parent], item)) break;
        items[hole] = items[parent];
    }
    items[hole] = item;
}

static void make_heap(void **items, size_t n, Order *o)
{
    for (size_t i = n / 2; i-- > 0;) fill_hole(items, i, n, items[i], o);
}

/* Sorts a heap: the greatest item goes to the end, and the item from there into the heap of the
 * rest. */
static void sort_heap(void **items, size_t n, Order *o)
{
    while (n-- > 1) {
        void *item = items[n];
        items[n] = items[0];
        fill_hole(items, 0, n, item, o);
    }
}

/* ---- quicksort ---- */

static size_t median(void **items, size_t a, size_t b, size_t c, Order *o)
{
    bool rising = is_less(o, items[a], items[b]);
    size_t low = rising ? a : b, high = rising ? b : a;
    if (is_less(o, items[high], items[c])) return high;
    return is_less(o, items[low], items[c]) ? c : low;
}

/* Splits items[1..n) around items[0], which is neither the least nor the greatest of them: the
 * scans need no bounds. Returns where the upper part starts. */
static size_t partition(void **items, size_t n, Order *o)
{
    size_t low = 1, high = n;
    for (;; low++) {
        while (is_less(o, items[low], items[0])) low++;
        do high--;
        while (is_less(o, items[0], items[high]));
        if (low >= high) return low;
        swap(items, low, high);
    }
}

static void quicksort(void **items, size_t n, unsigned n_splits, Order *o)
{
    while (n > SMALL && n_splits > 0) {
        n_splits--;
        swap(items, 0, median(items, 1, n / 2, n - 1, o));
        size_t cut = partition(items, n, o);
        quicksort(items + cut, n - cut, n_splits, o);
        n = cut;
    }
    if (n <= SMALL) return;
    make_heap(items, n, o);
    sort_heap(items, n, o);
}

/* ---- insertion sort ---- */

/* Items less than the first one are only in the first small range. libstdc++ tests that before
 * anything else, which matters if the order contradicts itself (NaN). */
static void insertion_sort(void **items, size_t n, Order *o)
{
    for (size_t i = 1; i < n; i++) {
        void *item = items[i];
        bool is_first = i < SMALL && is_less(o, item, items[0]);
        size_t at = i;
        for (; at > 0 && (is_first || is_less(o, item, items[at - 1])); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

void std_sort(void **items, size_t n, bool (*less)(const void *a, const void *b))
{
    Order o = {.less = less};
    unsigned n_splits = 0;
    for (size_t rest = n; rest > 1; rest >>= 1) n_splits += 2;
    quicksort(items, n, n_splits, &o);
    insertion_sort(items, n, &o);
}

void std_partial_sort(void **items, size_t n, size_t n_first,
                      bool (*less)(const void *a, const void *b))
{
    Order o = {.less = less};
    if (n_first > n) n_first = n;
    if (!n_first) return;
    make_heap(items, n_first, &o); /* the greatest of them is on top */
    for (size_t i = n_first; i < n; i++) {
        if (!is_less(&o, items[i], items[0])) continue;
        void *item = items[i];
        items[i] = items[0];
        fill_hole(items, 0, n_first, item, &o);
    }
    sort_heap(items, n_first, &o);
}
