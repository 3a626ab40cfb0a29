// SPDX-License-Identifier: Apache-2.0
/* hash_table.c: hash tables. */
#include "../../loader/base/base.h"
#include "check.h"
#include "no_memory.h"

typedef struct {
    int64_t id; /* first, as id_find() wants it */
    char other[9];
} Item;

/* n ids of a kind are all found, at their index, and the ids between are not. */
static void ids(int64_t (*id_of)(size_t i), int64_t (*absent)(size_t i), size_t n, const char *what)
{
    Item *items = calloc(n, sizeof *items);
    HashTable table = {0};
    bool good = items != NULL;
    for (size_t i = 0; i < n && good; i++) {
        items[i].id = id_of(i);
        good = id_find(&table, items, sizeof *items, items[i].id) == -1 &&
               id_add(&table, items, sizeof *items, i);
    }
    for (size_t i = 0; i < n && good; i++)
        good = id_find(&table, items, sizeof *items, id_of(i)) == (int64_t)i &&
               id_find(&table, items, sizeof *items, absent(i)) == -1;
    check(good && table.n == n && table.n_slots >= n + n / 3, what);
    hash_free(&table);
    free(items);
}

static int64_t ordinal(size_t i) { return (int64_t)i; }
static int64_t negative(size_t i) { return -1 - (int64_t)i; }
static int64_t high(size_t i) { return (int64_t)((uint64_t)i << 40); }
static int64_t above_high(size_t i) { return (int64_t)((uint64_t)i << 40 | 1); }
static int64_t extreme(size_t i) { return i % 2 ? INT64_MAX - (int64_t)i : INT64_MIN + (int64_t)i; }
static int64_t middle(size_t i) { return (int64_t)i - 500; }

/* Items of one hash come in the order in which they were added, however the table grew and wherever
 * they go round its end; other items come only if their hash has the same low half. */
static void in_order(uint64_t hash, const char *what)
{
    HashTable table = {0};
    bool good = true;
    size_t n = 5000, expected = 0, others = 0;
    for (size_t i = 0; i < n && good; i++) good = hash_add(&table, i % 10 ? hash64(i) : hash, i);
    HASH_EACH(i, &table, hash) {
        if (i % 10) {
            others++;
            continue;
        }
        good &= i == expected;
        expected += 10;
    }
    check(good && expected == n && others < 3 && table.n == n, what);
    hash_clear(&table);
    HASH_EACH(i, &table, hash) good = false;
    check(good && !table.n && hash_add(&table, hash, 7) &&
              hash_next(&table, hash, &(size_t){hash}) == 7,
          "an emptied table");
    hash_free(&table);
}

/* Room that was asked for suffices without more memory. */
static void reserved(size_t n)
{
    HashTable table = {0};
    bool good = hash_reserve(&table, n);
    size_t n_slots = table.n_slots;
    for (size_t i = 0; i < n; i++) good &= hash_add(&table, hash64(i), i);
    check(good && table.n_slots == n_slots && !hash_add(&table, 0, UINT32_MAX), "reserved room");
    hash_free(&table);
}

int main(void)
{
    in_order(0, "order of items at the start of the table");
    in_order(UINT32_MAX - 3, "order of items at its end");
    in_order((uint64_t)1 << 40 | 77, "order of items of a hash with high bits");
    for (size_t n = 0; n < 200; n++) reserved(n);

    HashTable table = {0};
    Item item = {.id = 5};
    check(id_find(&table, &item, sizeof item, 5) == -1, "an empty table");
    ids(ordinal, negative, 100000, "ordinals");
    ids(negative, ordinal, 1000, "negative ids");
    ids(high, above_high, 100000, "ids that differ in high bits only");
    ids(extreme, middle, 1000, "ids at the ends of int64");
    use_no_memory();
    check(!id_add(&table, &item, sizeof item, 0) && !table.slots && !table.n,
          "no memory: nothing is added");
    return finish();
}
