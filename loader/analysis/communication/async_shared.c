// SPDX-License-Identifier: Apache-2.0
/* async_shared.c: a hash table of shared parts of ops; see async_shared.h. */
#include "async_shared.h"

static uint64_t hash(const AsyncShared *op)
{
    uint64_t h = hash64((uintptr_t)op->start);
    h = hash64(h ^ (uintptr_t)op->done);
    h = hash64(h ^ op->form);
    if (op->form != ASYNC_GPU) return h;
    h = hash64(h ^ (uintptr_t)op->hlo_op.text);
    h = hash64(h ^ op->program_id);
    return hash64(h ^ (uint64_t)op->bytes_moved);
}

/* Names of instructions are interned: two that differ in their address only cost memory. */
static bool equal(const AsyncShared *a, const AsyncShared *b)
{
    if (a->start != b->start || a->done != b->done || a->form != b->form) return false;
    return a->form != ASYNC_GPU ||
           (a->hlo_op.text == b->hlo_op.text && a->hlo_op.n == b->hlo_op.n &&
            a->has_program == b->has_program && a->program_id == b->program_id &&
            a->bytes_moved == b->bytes_moved);
}

static AsyncShared **slot_of(const SharedOps *all, const AsyncShared *key)
{
    size_t at = (size_t)hash(key) & (all->n_slots - 1);
    while (all->slots[at] && !equal(all->slots[at], key)) at = (at + 1) & (all->n_slots - 1);
    return &all->slots[at];
}

const AsyncShared *shared_find(const SharedOps *all, const AsyncShared *key)
{
    return all->n_slots ? *slot_of(all, key) : NULL;
}

static bool has_room(SharedOps *all)
{
    if (2 * (all->n + 1) <= all->n_slots) return true;
    SharedOps grown = {.n_slots = all->n_slots ? 2 * all->n_slots : 64};
    if (!(grown.slots = prof_alloc(grown.n_slots * sizeof *grown.slots))) return false;
    for (size_t i = 0; i < all->n_slots; i++)
        if (all->slots[i]) *slot_of(&grown, all->slots[i]) = all->slots[i];
    prof_free(all->slots);
    all->slots = grown.slots, all->n_slots = grown.n_slots;
    return true;
}

const AsyncShared *shared_add(SharedOps *all, const AsyncShared *op)
{
    AsyncShared *added = has_room(all) ? arena_alloc(&all->arena, sizeof *added) : NULL;
    if (!added) return NULL;
    *added = *op;
    all->n++;
    return *slot_of(all, added) = added;
}

void shared_free(SharedOps *all)
{
    prof_free(all->slots);
    arena_free(&all->arena);
    *all = (SharedOps){0};
}
