// SPDX-License-Identifier: Apache-2.0
/* hash_table.h: a hash table that finds items of an array by key. It has the hash of each key and
 * the item's index; the keys stay in the array, which the table never sees. So a key may be
 * anything:
 *
 *     uint64_t hash = hash64(address);             // or text_hash(name, n), or a mix of several
 *     HASH_EACH(i, &table, hash)                  // the items that may have the key
 *         if (items[i].address == address) return &items[i];
 *     Item *item = PUSH_KEYED(items, &table, hash); // list.h
 *     if (!item) return NULL;
 *
 * Hashes have to come from hash64() or text_hash(), because a file can choose keys that collide
 * under a hash that it can compute. Items are never removed one by one. */
#ifndef PROF_HASH_TABLE_H
#define PROF_HASH_TABLE_H

#include "nodiscard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t hash; /* low half */
    uint32_t item; /* index + 1; 0: the slot is free */
} HashSlot;

/* Starts as {0}. Probing is linear; a quarter of the slots is free. */
typedef struct {
    HashSlot *slots;
    size_t n_slots; /* 0 or a power of 2 */
    size_t n;       /* items */
} HashTable;

/* Adds an item. False if memory runs out or the index does not fit 32 bits; the table is then
 * unchanged. */
NODISCARD bool hash_add(HashTable *table, uint64_t hash, size_t item);
/* Makes room for n items in total, so that hash_add_reserved() may add them. */
NODISCARD bool hash_reserve(HashTable *table, size_t n);
/* Adds an item below UINT32_MAX for which hash_reserve() made room. */
void hash_add_reserved(HashTable *table, uint64_t hash, size_t item);
/* Removes all items. Keeps the memory if it is small. */
void hash_clear(HashTable *table);
void hash_free(HashTable *table);

/* Loops over the indexes of the items that were added with this hash, in the order in which they
 * were added, and rarely others: compare their keys. `hash` is a variable. The table may not change
 * within the loop, unless it ends there. */
#define HASH_EACH(i, table, hash)                                                                  \
    for (size_t i, i##_slot = (uint32_t)(hash);                                                    \
         (i = hash_next((table), (hash), &i##_slot)) != HASH_END;)

#define HASH_END SIZE_MAX
static inline size_t hash_next(const HashTable *table, uint64_t hash, size_t *slot)
{
    if (!table->n_slots) return HASH_END;
    for (;;) {
        HashSlot s = table->slots[*slot & (table->n_slots - 1)];
        ++*slot;
        if (!s.item || s.hash == (uint32_t)hash) return (size_t)s.item - 1;
    }
}

/* A table for a number of items that is known before: 4 bytes a slot, of which a quarter is free.
 * A slot has an item's index + 1 and, in the bits above it, a part of its hash. */
typedef struct {
    uint32_t *slots;
    size_t n_slots;
    uint32_t index_bits; /* mask */
} SmallTable;

/* Makes room for n items in an empty table. False if memory runs out or n does not fit 31 bits. */
bool small_reserve(SmallTable *table, size_t n);
/* Adds an item, of those that there is room for. */
void small_add(SmallTable *table, uint64_t hash, size_t item);
void small_free(SmallTable *table);

/* As HASH_EACH(). */
#define SMALL_EACH(i, table, hash)                                                                 \
    for (size_t i, i##_slot = small_slot((table), (hash));                                         \
         (i = small_next((table), (hash), &i##_slot)) != HASH_END;)

static inline size_t small_slot(const SmallTable *table, uint64_t hash)
{
    return (size_t)((hash >> 32) * table->n_slots >> 32);
}

static inline size_t small_next(const SmallTable *table, uint64_t hash, size_t *slot)
{
    if (!table->n_slots) return HASH_END;
    for (;;) {
        uint32_t s = table->slots[*slot];
        *slot = *slot + 1 < table->n_slots ? *slot + 1 : 0;
        if (!s) return HASH_END;
        if (!((s ^ (uint32_t)hash) & ~table->index_bits)) return (s & table->index_bits) - 1;
    }
}

/* Items that begin with an int64_t, their id: position in the array of the item with this id that
 * was added first; -1 if there is none. */
int64_t id_find(const HashTable *table, const void *array, size_t element_bytes, int64_t id);
/* Adds the item at `index` of the array. False if memory runs out. */
NODISCARD bool id_add(HashTable *table, const void *array, size_t element_bytes, size_t index);

#endif
