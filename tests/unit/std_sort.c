// SPDX-License-Identifier: Apache-2.0
/* std_sort.c: equal items come in the order in which libstdc++ leaves them.
 *
 * The sums are those of a C++ program that sorts the same pointers with std::sort of GCC 12. */
#include "../../loader/base/std_sort.h"
#include "check.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint32_t key, index;
} Item;

static bool less(const void *a, const void *b)
{
    return ((const Item *)a)->key < ((const Item *)b)->key;
}

enum Pattern { RANDOM, RISING, FALLING, EQUAL, ORGAN_PIPE, KILLER };

/* Keys of a pattern below n_keys. KILLER: the median of three is always the second least, so that
 * heap sort takes over; n_keys of them are equal. */
static void fill(Item *items, uint32_t n, enum Pattern pattern, uint32_t n_keys)
{
    uint32_t seed = n * 2654435761u + n_keys;
    for (uint32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t keys[] = {(seed >> 8) % n_keys, i / 3, (n - i) / 3, 7, i < n / 2 ? i : n - i, 0};
        items[i] = (Item){keys[pattern], i};
    }
    for (uint32_t i = 1; pattern == KILLER && i <= n / 2; i++) {
        if (i % 2) items[i - 1].key = i, items[i].key = n / 2 + i;
        items[n / 2 + i - 1].key = 2 * i;
    }
    for (uint32_t i = 0; pattern == KILLER && i < n; i++) items[i].key /= n_keys;
}

static uint64_t order_of(enum Pattern pattern, uint32_t n, uint32_t n_keys)
{
    Item *items = calloc(n + 1, sizeof *items);
    void **order = calloc(n + 1, sizeof *order);
    if (!items || !order) abort();
    fill(items, n, pattern, n_keys);
    for (uint32_t i = 0; i < n; i++) order[i] = &items[i];
    std_sort(order, n, less);
    uint64_t sum = 14695981039346656037u;
    for (uint32_t i = 0; i < n; i++) sum = (sum ^ ((Item *)order[i])->index) * 1099511628211u;
    free(order);
    free(items);
    return sum;
}

int main(void)
{
    static const struct {
        enum Pattern pattern;
        uint32_t n, n_keys;
        uint64_t sum;
        const char *what;
    } cases[] = {
        {RANDOM, 0, 1, 0xcbf29ce484222325u, "random, 0 of 1 keys"},
        {RANDOM, 1, 1, 0xaf63bd4c8601b7dfu, "random, 1 of 1 keys"},
        {RANDOM, 16, 3, 0x6660b6dff329ceb1u, "random, 16 of 3 keys"},
        {RANDOM, 17, 3, 0x122716c86c9b65a7u, "random, 17 of 3 keys"},
        {RANDOM, 100, 5, 0x1d1974a85e89ce31u, "random, 100 of 5 keys"},
        {RANDOM, 1000, 10, 0xc8b5e7dded267a1u, "random, 1000 of 10 keys"},
        {RANDOM, 5000, 4000, 0xc3f63abe7159111bu, "random, 5000 of 4000 keys"},
        {RISING, 500, 1, 0xbe8df5ea64b7c5bu, "rising, 500 of 1 keys"},
        {FALLING, 500, 1, 0x2be08c4a01dcfcddu, "falling, 500 of 1 keys"},
        {EQUAL, 17, 1, 0x93354466f7a37cefu, "equal, 17 of 1 keys"},
        {EQUAL, 400, 1, 0xfe2739f53f004505u, "equal, 400 of 1 keys"},
        {ORGAN_PIPE, 1000, 1, 0xf4c95c685a61c151u, "organ pipe, 1000 of 1 keys"},
        {KILLER, 4096, 1, 0xc255bec11109b25u, "killer, 4096"},
        {KILLER, 1024, 2, 0x32778da4c460f801u, "killer, 1024, two equal"},
        {KILLER, 4096, 4, 0xa0de9a2a642bb3f3u, "killer, 4096, four equal"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(order_of(cases[i].pattern, cases[i].n, cases[i].n_keys) == cases[i].sum,
              cases[i].what);
    return finish();
}
