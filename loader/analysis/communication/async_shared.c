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

/* Compares interned names by address: an equal name at another address only costs memory. */
static bool equal(const AsyncShared *a, const AsyncShared *b)
{
    if (a->start != b->start || a->done != b->done || a->form != b->form) return false;
    return a->form != ASYNC_GPU ||
           (a->hlo_op.text == b->hlo_op.text && a->hlo_op.n == b->hlo_op.n &&
            a->has_program == b->has_program && a->program_id == b->program_id &&
            a->bytes_moved == b->bytes_moved);
}

const AsyncShared *shared_find(const SharedOps *all, const AsyncShared *key)
{
    uint64_t h = hash(key);
    HASH_EACH(i, &all->by_key, h)
        if (equal(all->ops.items[i], key)) return all->ops.items[i];
    return NULL;
}

const AsyncShared *shared_add(SharedOps *all, const AsyncShared *op)
{
    AsyncShared *added = arena_alloc(&all->arena, sizeof *added);
    AsyncShared **place = added ? PUSH_KEYED(all->ops, &all->by_key, hash(op)) : NULL;
    if (!place) return NULL;
    *added = *op;
    return *place = added;
}

void shared_free(SharedOps *all)
{
    prof_free(all->ops.items);
    hash_free(&all->by_key);
    arena_free(&all->arena);
    *all = (SharedOps){0};
}
