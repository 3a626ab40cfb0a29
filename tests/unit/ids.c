// SPDX-License-Identifier: Apache-2.0
/* ids.c: the table from ids to indexes. */
#include "../../loader/run.h"
#include "check.h"

typedef struct {
    int64_t id; /* first, as IdTable wants it */
    char other[9];
} Item;

static void *no_memory(uint64_t n_bytes)
{
    (void)n_bytes;
    return NULL;
}
static void *no_more(void *old, uint64_t n_bytes)
{
    (void)old, (void)n_bytes;
    return NULL;
}

/* n ids of a kind are all found, at their index, and the ids between are not. */
static void ids(int64_t (*id_of)(size_t i), int64_t (*absent)(size_t i), size_t n, const char *what)
{
    Item *items = calloc(n, sizeof *items);
    IdTable table = {0};
    bool good = items != NULL;
    for (size_t i = 0; i < n && good; i++) {
        items[i].id = id_of(i);
        good = id_find(&table, items, sizeof *items, items[i].id) == -1 &&
               id_add(&table, items, sizeof *items, i);
    }
    for (size_t i = 0; i < n && good; i++)
        good = id_find(&table, items, sizeof *items, id_of(i)) == (int64_t)i &&
               id_find(&table, items, sizeof *items, absent(i)) == -1;
    check(good && table.n_ids == n && table.n_slots >= 2 * n, what);
    free(table.slots);
    free(items);
}

static int64_t ordinal(size_t i) { return (int64_t)i; }
static int64_t negative(size_t i) { return -1 - (int64_t)i; }
static int64_t high(size_t i) { return (int64_t)((uint64_t)i << 40); }
static int64_t above_high(size_t i) { return (int64_t)((uint64_t)i << 40 | 1); }
static int64_t extreme(size_t i) { return i % 2 ? INT64_MAX - (int64_t)i : INT64_MIN + (int64_t)i; }
static int64_t middle(size_t i) { return (int64_t)i - 500; }

int main(void)
{
    IdTable table = {0};
    Item item = {.id = 5};
    check(id_find(&table, &item, sizeof item, 5) == -1, "an empty table");
    ids(ordinal, negative, 100000, "ordinals");
    ids(negative, ordinal, 1000, "negative ids");
    ids(high, above_high, 100000, "ids that differ in high bits only");
    ids(extreme, middle, 1000, "ids at the ends of int64");
    ProfMemory none = {no_memory, no_more, free};
    prof_use_memory(none);
    check(!id_add(&table, &item, sizeof item, 0) && !table.slots && !table.n_ids,
          "no memory: nothing is added");
    return finish();
}
