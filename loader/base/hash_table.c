// SPDX-License-Identifier: Apache-2.0
/* hash_table.c: see hash_table.h. */
#include "base.h"

enum { FEWEST_SLOTS = 16, SLOTS_KEPT = 4096 };

static void put(HashTable *table, HashSlot item)
{
    size_t slot = item.hash & (table->n_slots - 1);
    while (table->slots[slot].item) slot = (slot + 1) & (table->n_slots - 1);
    table->slots[slot] = item;
}

bool hash_reserve(HashTable *table, size_t n)
{
    size_t n_slots = table->n_slots ? table->n_slots : FEWEST_SLOTS;
    while (n > n_slots / 4 * 3) n_slots *= 2;
    if (n_slots == table->n_slots) return true;
    HashTable grown = {prof_alloc(n_slots * sizeof *grown.slots), n_slots, table->n};
    if (!grown.slots) return false;
    /* Starts after a free slot, so that items of one hash keep their order if they wrap around the
     * end. */
    size_t first = 0;
    while (first < table->n_slots && table->slots[first].item) first++;
    for (size_t i = 0; i < table->n_slots; i++) {
        HashSlot slot = table->slots[(first + i) & (table->n_slots - 1)];
        if (slot.item) put(&grown, slot);
    }
    prof_free(table->slots);
    *table = grown;
    return true;
}

void hash_add_reserved(HashTable *table, uint64_t hash, size_t item)
{
    put(table, (HashSlot){(uint32_t)hash, (uint32_t)item + 1});
    table->n++;
}

bool hash_add(HashTable *table, uint64_t hash, size_t item)
{
    if (item >= UINT32_MAX || !hash_reserve(table, table->n + 1)) return false;
    hash_add_reserved(table, hash, item);
    return true;
}

void hash_clear(HashTable *table)
{
    if (table->n_slots > SLOTS_KEPT)
        hash_free(table);
    else if (table->n)
        memset(table->slots, 0, table->n_slots * sizeof *table->slots);
    table->n = 0;
}

void hash_free(HashTable *table)
{
    prof_free(table->slots);
    *table = (HashTable){0};
}

/* ---- small tables ---- */

bool small_reserve(SmallTable *table, size_t n)
{
    if (n >= INT32_MAX) return false;
    uint32_t index_bits = 1;
    while (index_bits <= n) index_bits = index_bits << 1 | 1;
    *table = (SmallTable){.n_slots = n + n / 3 + 1, .index_bits = index_bits};
    table->slots = prof_alloc(table->n_slots * sizeof *table->slots);
    if (!table->slots) *table = (SmallTable){0};
    return table->slots;
}

void small_add(SmallTable *table, uint64_t hash, size_t item)
{
    size_t slot = small_slot(table, hash);
    while (table->slots[slot]) slot = slot + 1 < table->n_slots ? slot + 1 : 0;
    table->slots[slot] = ((uint32_t)hash & ~table->index_bits) | ((uint32_t)item + 1);
}

void small_free(SmallTable *table)
{
    prof_free(table->slots);
    *table = (SmallTable){0};
}

/* ---- items with an id ---- */

static int64_t id_of(const void *array, size_t element_bytes, size_t i)
{
    int64_t id;
    memcpy(&id, (const char *)array + i * element_bytes, sizeof id);
    return id;
}

int64_t id_find(const HashTable *table, const void *array, size_t element_bytes, int64_t id)
{
    uint64_t hash = hash64((uint64_t)id);
    HASH_EACH(i, table, hash)
        if (id_of(array, element_bytes, i) == id) return (int64_t)i;
    return -1;
}

bool id_add(HashTable *table, const void *array, size_t element_bytes, size_t index)
{
    return hash_add(table, hash64((uint64_t)id_of(array, element_bytes, index)), index);
}
