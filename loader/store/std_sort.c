/* std_sort.c: introsort step by step as libstdc++ has it; see std_sort.h.
 *
 * Ranges above SMALL are split around the median of three, the upper part first; a range that was split too often is heap
 * sorted. What is left is nearly sorted and finished by one insertion sort over everything. */
#include "std_sort.h"

enum { SMALL = 16 };
typedef bool Less(const void *a, const void *b);

static void swap(void **a, void **b)
{
    void *c = *a;
    *a = *b, *b = c;
}

/* ---- heap sort ---- */

/* Puts `item` into the heap at `hole`, moving the larger children up to the end and the item from there to its place. */
static void adjust_heap(void **items, size_t hole, size_t n, void *item, Less *less)
{
    size_t top = hole, child = hole;
    while (child < (n - 1) / 2) {
        child = 2 * (child + 1);
        if (less(items[child], items[child - 1])) child--;
        items[hole] = items[child];
        hole = child;
    }
    if (n % 2 == 0 && child == (n - 2) / 2) {
        child = 2 * child + 1;
        items[hole] = items[child];
        hole = child;
    }
    while (hole > top && less(items[(hole - 1) / 2], item)) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

/* The greatest to the end, the rest again a heap. */
static void pop_heap(void **items, size_t n, Less *less)
{
    void *item = items[n - 1];
    items[n - 1] = items[0];
    if (n > 1) adjust_heap(items, 0, n - 1, item, less);
}

static void make_heap(void **items, size_t n, Less *less)
{
    for (size_t parent = n / 2; parent-- > 0;) adjust_heap(items, parent, n, items[parent], less);
}

static void sort_heap(void **items, size_t n, Less *less)
{
    for (; n > 1; n--) pop_heap(items, n, less);
}

/* ---- quick sort ---- */

static void median_to_first(void **first, void **a, void **b, void **c, Less *less)
{
    if (less(*a, *b))
        swap(first, less(*b, *c) ? b : less(*a, *c) ? c : a);
    else
        swap(first, less(*a, *c) ? a : less(*b, *c) ? c : b);
}

/* Splits [low, high) around *pivot, which lies before low and is neither the least nor the greatest: no bounds are needed. */
static void **partition(void **low, void **high, void **pivot, Less *less)
{
    for (;; low++) {
        while (less(*low, *pivot)) low++;
        high--;
        while (less(*pivot, *high)) high--;
        if (low >= high) return low;
        swap(low, high);
    }
}

static void split(void **first, void **last, unsigned depth, Less *less)
{
    while (last - first > SMALL) {
        if (!depth--) {
            make_heap(first, (size_t)(last - first), less);
            sort_heap(first, (size_t)(last - first), less);
            return;
        }
        median_to_first(first, first + 1, first + (last - first) / 2, last - 1, less);
        void **cut = partition(first + 1, last, first, less);
        split(cut, last, depth, less);
        last = cut;
    }
}

/* ---- insertion sort ---- */

/* Moves items[at] left past all that are greater; one that is not lies before them. */
static void insert(void **items, size_t at, Less *less)
{
    void *item = items[at];
    for (; less(item, items[at - 1]); at--) items[at] = items[at - 1];
    items[at] = item;
}

static void insertion_sort(void **items, size_t n, Less *less)
{
    for (size_t i = 1; i < n; i++) {
        if (i >= SMALL || !less(items[i], items[0])) {
            insert(items, i, less);
            continue;
        }
        void *item = items[i];
        for (size_t k = i; k > 0; k--) items[k] = items[k - 1];
        items[0] = item;
    }
}

void std_sort(void **items, size_t n, bool (*less)(const void *a, const void *b))
{
    unsigned log2 = 0;
    for (size_t rest = n; rest > 1; rest >>= 1) log2++;
    split(items, items + n, 2 * log2, less);
    insertion_sort(items, n, less);
}

void std_partial_sort(void **items, size_t n, size_t n_first, bool (*less)(const void *a, const void *b))
{
    if (n_first > n) n_first = n;
    if (!n_first) return;
    make_heap(items, n_first, less); /* the worst of them on top */
    for (size_t i = n_first; i < n; i++) {
        if (!less(items[i], items[0])) continue;
        void *item = items[i];
        items[i] = items[0];
        adjust_heap(items, 0, n_first, item, less);
    }
    sort_heap(items, n_first, less);
}
