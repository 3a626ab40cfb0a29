// SPDX-License-Identifier: Apache-2.0
/* sort.c: sort_in_place() against the C library's qsort(), also where a median of three is led
 * astray; sort_array() of runs that are sorted already; sort_int64(). */
#include "../../loader/base/sort.h"
#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t key, index, more[3];
} Item;

static size_t n_compared;

static int by_key(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    n_compared++;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

enum Pattern { RANDOM, RISING, FALLING, EQUAL, ORGAN_PIPE, KILLER };

/* KILLER: the median of three is always the second least, so that heap sort takes over. */
static void fill(Item *items, uint32_t n, enum Pattern pattern)
{
    uint32_t seed = n * 2654435761u;
    for (uint32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t keys[] = {seed >> 8, i / 3, (n - i) / 3, 7, i < n / 2 ? i : n - i, 0};
        items[i] = (Item){keys[pattern], i * 7919 % n, {i, i, i}};
    }
    for (uint32_t i = 1; pattern == KILLER && i <= n / 2; i++) {
        if (i % 2) items[i - 1].key = i, items[i].key = n / 2 + i;
        items[n / 2 + i - 1].key = 2 * i;
    }
}

static bool as_qsort(uint32_t n, enum Pattern pattern)
{
    Item *items = calloc(n + 1, sizeof *items), *others = calloc(n + 1, sizeof *others);
    if (!items || !others) abort();
    fill(items, n, pattern);
    memcpy(others, items, n * sizeof *items);
    qsort(others, n, sizeof *others, by_key);
    n_compared = 0;
    sort_in_place(items, n, sizeof *items, by_key);
    size_t most = 40;
    for (uint32_t i = n; i; i >>= 1) most += 4 * n;
    bool same = !memcmp(items, others, n * sizeof *items) && n_compared < most;
    free(items);
    free(others);
    return same;
}

static int by_key_alone(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Equal items in any order, each still there. */
static bool with_equal_keys(uint32_t n, enum Pattern pattern)
{
    Item *items = calloc(n + 1, sizeof *items);
    if (!items) abort();
    fill(items, n, pattern);
    for (uint32_t i = 0; i < n; i++) items[i].key %= 5;
    sort_in_place(items, n, sizeof *items, by_key_alone);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += items[i].more[0];
    bool sorted = sum == (uint64_t)n * (n - 1) / 2;
    for (uint32_t i = 1; i < n; i++) sorted &= items[i - 1].key <= items[i].key;
    free(items);
    return sorted;
}

/* Runs of `length` items, sorted: as by index among equal keys, because sort_array() keeps their
 * order. */
static bool of_runs(uint32_t n, uint32_t length)
{
    Item *items = calloc(n + 1, sizeof *items), *others = calloc(n + 1, sizeof *others);
    if (!items || !others) abort();
    for (uint32_t i = 0; i < n; i++)
        items[i] = (Item){i % length / 3 * (1 + i / length % 5), i, {i, i, i}};
    memcpy(others, items, n * sizeof *items);
    qsort(others, n, sizeof *others, by_key);
    sort_array(items, n, sizeof *items, by_key_alone);
    bool same = !memcmp(items, others, n * sizeof *items);
    free(items);
    free(others);
    return same;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Random numbers of which only some bits differ. */
static bool numbers(size_t n, uint64_t differ, uint64_t rest)
{
    int64_t *values = calloc(n + 1, sizeof *values), *others = calloc(n + 1, sizeof *others);
    if (!values || !others) abort();
    uint64_t seed = n;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (int64_t)(((seed ^ seed >> 29) & differ) | (rest & ~differ));
    }
    memcpy(others, values, n * sizeof *values);
    qsort(others, n, sizeof *others, by_value);
    sort_int64(values, n);
    bool same = !memcmp(values, others, n * sizeof *values);
    free(values);
    free(others);
    return same;
}

int main(void)
{
    static const char *const what[] = {"random", "rising",     "falling",
                                       "equal",  "organ pipe", "killer"};
    for (enum Pattern pattern = RANDOM; pattern <= KILLER; pattern++) {
        bool all = true;
        for (uint32_t n = 0; n < 300; n++) all &= as_qsort(n, pattern);
        all &= as_qsort(4096, pattern) && as_qsort(100003, pattern) &&
               with_equal_keys(17, pattern) && with_equal_keys(5000, pattern);
        check(all, what[pattern]);
    }
    bool runs = true;
    for (uint32_t length = 1; length < 5000; length = length * 3 / 2 + 1)
        for (uint32_t n = 200; n < 20000; n = n * 2 + 61) runs &= of_runs(n, length);
    check(runs, "sorted runs");
    static const uint64_t bits[] = {
        0, 0xFF, 0xFF00, 0xFFFFFFFF, 1 << 20, UINT64_C(1) << 63, UINT64_C(0xFF) << 56, UINT64_MAX};
    bool ints = true;
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (size_t n = 0; n < 3000; n = n * 3 / 2 + 1)
            ints &= numbers(n, bits[b], 0) && numbers(n, bits[b], UINT64_MAX);
    check(ints, "numbers");
    return finish();
}
