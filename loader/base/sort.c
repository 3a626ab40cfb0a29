// SPDX-License-Identifier: Apache-2.0
/* sort.c: an introsort of items of any size; see sort.h. */
#define _GNU_SOURCE
#include "sort.h"

#include "base.h"
#include "interrupt.h"

#include <assert.h>

enum { FEW = 16 };

typedef struct {
    size_t bytes; /* size of an item */
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
    uint32_t n_compared;
    bool stopped; /* interrupted: all items then compare as equal, so that the current pass ends
                     soon */
} Kind;

enum { COMPARED = 4096 };

static inline int compare(Kind *k, const void *a, const void *b)
{
    if (++k->n_compared % COMPARED == 0) k->stopped = interrupt_due(COMPARED / 4);
    return k->stopped ? 0 : k->compare(a, b, k->context);
}

#define BY_NUMBER(name, type)                                                                      \
    int name(const void *a, const void *b) { return ORDER(*(const type *)a, *(const type *)b); }
BY_NUMBER(by_uint64, uint64_t)
BY_NUMBER(by_uint32, uint32_t)
BY_NUMBER(by_double, double)

static void swap(Kind *k, char *a, char *b)
{
    char kept[SORT_ITEM_BYTES];
    memcpy(kept, a, k->bytes);
    memcpy(a, b, k->bytes);
    memcpy(b, kept, k->bytes);
}

/* Moves the item at `at` down until no child is greater. */
static void sink(Kind *k, char *items, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n &&
            compare(k, items + child * k->bytes, items + (child + 1) * k->bytes) < 0)
            child++;
        if (compare(k, items + at * k->bytes, items + child * k->bytes) >= 0) return;
        swap(k, items + at * k->bytes, items + child * k->bytes);
    }
}

static void heap_sort(Kind *k, char *items, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sink(k, items, n, i);
    for (size_t i = n; i-- > 1 && !k->stopped;) {
        swap(k, items, items + i * k->bytes);
        sink(k, items, i, 0);
    }
}

static void insertion_sort(Kind *k, char *items, size_t n)
{
    char kept[SORT_ITEM_BYTES];
    for (size_t i = 1; i < n; i++) {
        size_t to = i;
        memcpy(kept, items + i * k->bytes, k->bytes);
        while (to && compare(k, items + (to - 1) * k->bytes, kept) > 0) to--;
        memmove(items + (to + 1) * k->bytes, items + to * k->bytes, (i - to) * k->bytes);
        memcpy(items + to * k->bytes, kept, k->bytes);
    }
}

/* Splits the items around the median of three. Returns where the second part starts; neither part
 * is empty. */
static size_t partition(Kind *k, char *items, size_t n)
{
    char *first = items, *middle = items + n / 2 * k->bytes, *last = items + (n - 1) * k->bytes,
         pivot[SORT_ITEM_BYTES];
    if (compare(k, middle, first) < 0) swap(k, middle, first);
    if (compare(k, last, middle) < 0) swap(k, last, middle);
    if (compare(k, middle, first) < 0) swap(k, middle, first);
    memcpy(pivot, middle, k->bytes);
    for (;;) {
        while (compare(k, first, pivot) < 0) first += k->bytes;
        while (compare(k, pivot, last) < 0) last -= k->bytes;
        if (first >= last) break;
        swap(k, first, last);
        first += k->bytes, last -= k->bytes;
    }
    return (size_t)(first - items) / k->bytes;
}

static void sort(Kind *k, char *items, size_t n, unsigned depth)
{
    while (n > FEW && !k->stopped) {
        if (!depth--) {
            heap_sort(k, items, n);
            return;
        }
        size_t left = partition(k, items, n);
        if (left < n - left) {
            sort(k, items, left, depth);
            items += left * k->bytes, n -= left;
        } else {
            sort(k, items + left * k->bytes, n - left, depth);
            n = left;
        }
    }
    insertion_sort(k, items, n);
}

static bool is_sorted(Kind *k, const char *items, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (compare(k, items + (i - 1) * k->bytes, items + i * k->bytes) > 0) return false;
    return true;
}

void sort_in_place_by(void *items, size_t n, size_t item_bytes,
                      int (*order)(const void *a, const void *b, void *context), void *context)
{
    assert(item_bytes <= SORT_ITEM_BYTES);
    Kind k = {.bytes = item_bytes, .compare = order, .context = context};
    unsigned depth = 0;
    for (size_t i = n; i; i >>= 1) depth += 2;
    if (!is_sorted(&k, items, n)) sort(&k, items, n, depth);
}

typedef struct {
    int (*compare)(const void *a, const void *b);
} Plain;

static int compare_plain(const void *a, const void *b, void *context)
{
    return ((const Plain *)context)->compare(a, b);
}

void sort_in_place(void *items, size_t n, size_t item_bytes,
                   int (*order)(const void *a, const void *b))
{
    sort_in_place_by(items, n, item_bytes, compare_plain, &(Plain){order});
}

/* ---- qsort ---- */

enum { MANY = 16384 };

typedef struct {
    int (*compare)(const void *a, const void *b);
    uint32_t n_compared;
    bool stopped;
} Stoppable;

static int compare_until_stopped(const void *a, const void *b, void *context)
{
    Stoppable *s = context;
    if (++s->n_compared % COMPARED == 0) s->stopped = interrupt_due(COMPARED / 4);
    return s->stopped ? 0 : s->compare(a, b);
}

/* ---- items that consist of few ascending runs ---- */

enum { LEAST_MERGED = 256, LEAST_RUN = 64 };

/* Merges the items from `a` to `b` with those from `b` to `end`. */
static void merge_two(Stoppable *s, size_t bytes, const char *a, const char *b, const char *end,
                      char *out)
{
    const char *a_end = b;
    while (a < a_end && b < end) {
        const char **next = compare_until_stopped(a, b, s) > 0 ? &b : &a;
        memcpy(out, *next, bytes);
        *next += bytes, out += bytes;
    }
    memcpy(out, a, (size_t)(a_end - a));
    memcpy(out + (a_end - a), b, (size_t)(end - b));
}

/* Writes where the runs end, if there are at most `most`. Returns their number, else 0. */
static size_t find_runs(Stoppable *s, const char *items, size_t n, size_t bytes, size_t *ends,
                        size_t most)
{
    size_t n_runs = 0;
    for (size_t i = 1; i < n; i++) {
        if (compare_until_stopped(items + (i - 1) * bytes, items + i * bytes, s) <= 0) continue;
        if (n_runs + 1 == most) return 0;
        ends[n_runs++] = i;
    }
    ends[n_runs++] = n;
    return n_runs;
}

/* The events of several lines, one after another, are such items. Stable. Returns false, with the
 * items as they were, if there are many runs or no memory. */
static bool merge_runs(Stoppable *s, char *items, size_t n, size_t bytes)
{
    size_t most = n / LEAST_RUN, *ends = prof_buffer(most * sizeof *ends);
    size_t n_runs = ends ? find_runs(s, items, n, bytes, ends, most) : 0;
    char *copy = n_runs > 1 ? prof_buffer(n * bytes) : NULL, *from = items, *to = copy;
    bool sorted = n_runs == 1 || copy;
    while (copy && n_runs > 1) {
        size_t n_merged = 0, first = 0;
        for (size_t i = 0; i < n_runs; i += 2) {
            size_t end = ends[i + 1 < n_runs ? i + 1 : i];
            merge_two(s, bytes, from + first * bytes, from + ends[i] * bytes, from + end * bytes,
                      to + first * bytes);
            ends[n_merged++] = first = end;
        }
        n_runs = n_merged;
        char *other = from;
        from = to, to = other;
    }
    if (from != items) memcpy(items, from, n * bytes);
    prof_free(copy);
    prof_free(ends);
    return sorted;
}

void sort_array(void *items, size_t n, size_t item_bytes,
                int (*order)(const void *a, const void *b))
{
    Stoppable s = {.compare = order};
    if (n < 2 || (n >= LEAST_MERGED && merge_runs(&s, items, n, item_bytes))) return;
    if (n < MANY)
        qsort(items, n, item_bytes, order);
    else
        qsort_r(items, n, item_bytes, compare_until_stopped, &s);
}

/* ---- numbers ---- */

static int by_int64(const void *a, const void *b)
{
    return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

enum { MANY_NUMBERS = 256, BYTE_VALUES = 256, SIGN_BYTE = 56 };

/* Returns the place of a number among those that differ from it only in one byte. */
static inline size_t byte_at(int64_t value, unsigned shift)
{
    size_t byte = (uint64_t)value >> shift & (BYTE_VALUES - 1);
    return shift == SIGN_BYTE ? byte ^ BYTE_VALUES / 2 : byte;
}

/* Copies numbers in the order of one of their bytes; those with the same keep their order. */
static void order_by_byte(const int64_t *from, int64_t *to, size_t n, unsigned shift)
{
    size_t places[BYTE_VALUES] = {0}, place = 0;
    for (size_t i = 0; i < n; i++) places[byte_at(from[i], shift)]++;
    for (size_t b = 0; b < BYTE_VALUES; b++) {
        size_t count = places[b];
        places[b] = place, place += count;
    }
    for (size_t i = 0; i < n; i++) to[places[byte_at(from[i], shift)]++] = from[i];
}

/* By each byte in which the numbers differ, from the last on. */
void sort_int64(int64_t *values, size_t n)
{
    int64_t *copy = n < MANY_NUMBERS ? NULL : prof_buffer(n * sizeof *copy);
    if (!copy) {
        sort_array(values, n, sizeof *values, by_int64);
        return;
    }
    int64_t *from = values, *to = copy;
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) differ |= (uint64_t)(values[i] ^ values[0]);
    for (unsigned shift = 0; shift <= SIGN_BYTE; shift += 8) {
        if (!(differ >> shift & (BYTE_VALUES - 1))) continue;
        if (interrupt_due(n)) break;
        order_by_byte(from, to, n, shift);
        int64_t *other = from;
        from = to, to = other;
    }
    if (from != values) memcpy(values, from, n * sizeof *values);
    prof_free(copy);
}
