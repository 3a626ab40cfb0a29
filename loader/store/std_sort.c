/* std_sort.c: introsort step by step as libstdc++ has it; see std_sort.h.
 *
 * Ranges above SMALL are split around the median of three, the upper part first; a range that was split too often is heap
 * sorted. What is left is nearly sorted and finished by one insertion sort over everything. */
#include "std_sort.h"

#include "../interrupt.h"

enum { SMALL = 16 };

typedef struct {
    bool (*less)(const void *a, const void *b);
    uint32_t n_compared;
    bool stopped; /* no item is less than another then, so that what is being done soon ends */
} Order;

static inline bool is_less(Order *o, const void *a, const void *b)
{
    enum { COMPARED = 4096 };
    if (++o->n_compared % COMPARED == 0) o->stopped = interrupt_due(COMPARED / 4);
    return !o->stopped && o->less(a, b);
}

static void swap(void **a, void **b)
{
    void *c = *a;
    *a = *b, *b = c;
}

/* ---- heap sort ---- */

/* Puts `item` into the heap at `hole`, moving the larger children up to the end and the item from there to its place. */
static void adjust_heap(void **items, size_t hole, size_t n, void *item, Order *o)
{
    size_t top = hole, child = hole;
    while (child < (n - 1) / 2) {
        child = 2 * (child + 1);
        if (is_less(o, items[child], items[child - 1])) child--;
        items[hole] = items[child];
        hole = child;
    }
    if (n % 2 == 0 && child == (n - 2) / 2) {
        child = 2 * child + 1;
        items[hole] = items[child];
        hole = child;
    }
    while (hole > top && is_less(o, items[(hole - 1) / 2], item)) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

/* The greatest to the end, the rest again a heap. */
static void pop_heap(void **items, size_t n, Order *o)
{
    void *item = items[n - 1];
    items[n - 1] = items[0];
    if (n > 1) adjust_heap(items, 0, n - 1, item, o);
}

static void make_heap(void **items, size_t n, Order *o)
{
    for (size_t parent = n / 2; parent-- > 0;) adjust_heap(items, parent, n, items[parent], o);
}

static void sort_heap(void **items, size_t n, Order *o)
{
    for (; n > 1; n--) pop_heap(items, n, o);
}

/* ---- quick sort ---- */

static void median_to_first(void **first, void **a, void **b, void **c, Order *o)
{
    if (is_less(o, *a, *b))
        swap(first, is_less(o, *b, *c) ? b : is_less(o, *a, *c) ? c : a);
    else
        swap(first, is_less(o, *a, *c) ? a : is_less(o, *b, *c) ? c : b);
}

/* Splits [low, high) around *pivot, which lies before low and is neither the least nor the greatest: no bounds are needed. */
static void **partition(void **low, void **high, void **pivot, Order *o)
{
    for (;; low++) {
        while (is_less(o, *low, *pivot)) low++;
        high--;
        while (is_less(o, *pivot, *high)) high--;
        if (low >= high) return low;
        swap(low, high);
    }
}

static void split(void **first, void **last, unsigned depth, Order *o)
{
    while (last - first > SMALL) {
        if (!depth--) {
            make_heap(first, (size_t)(last - first), o);
            sort_heap(first, (size_t)(last - first), o);
            return;
        }
        median_to_first(first, first + 1, first + (last - first) / 2, last - 1, o);
        void **cut = partition(first + 1, last, first, o);
        split(cut, last, depth, o);
        last = cut;
    }
}

/* ---- insertion sort ---- */

/* Moves items[at] left past all that are greater; one that is not lies before them. */
static void insert(void **items, size_t at, Order *o)
{
    void *item = items[at];
    for (; is_less(o, item, items[at - 1]); at--) items[at] = items[at - 1];
    items[at] = item;
}

static void insertion_sort(void **items, size_t n, Order *o)
{
    for (size_t i = 1; i < n; i++) {
        if (i >= SMALL || !is_less(o, items[i], items[0])) {
            insert(items, i, o);
            continue;
        }
        void *item = items[i];
        for (size_t k = i; k > 0; k--) items[k] = items[k - 1];
        items[0] = item;
    }
}

void std_sort(void **items, size_t n, bool (*less)(const void *a, const void *b))
{
    Order o = {.less = less};
    unsigned log2 = 0;
    for (size_t rest = n; rest > 1; rest >>= 1) log2++;
    split(items, items + n, 2 * log2, &o);
    insertion_sort(items, n, &o);
}

void std_partial_sort(void **items, size_t n, size_t n_first, bool (*less)(const void *a, const void *b))
{
    Order o = {.less = less};
    if (n_first > n) n_first = n;
    if (!n_first) return;
    make_heap(items, n_first, &o); /* the worst of them on top */
    for (size_t i = n_first; i < n; i++) {
        if (!is_less(&o, items[i], items[0])) continue;
        void *item = items[i];
        items[i] = items[0];
        adjust_heap(items, 0, n_first, item, &o);
    }
    sort_heap(items, n_first, &o);
}
