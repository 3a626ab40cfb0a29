// SPDX-License-Identifier: Apache-2.0
/* memory_ops.c: sums allocations by op; see memory_ops.h. */
#include "memory_ops.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"

#include <string.h>

/* Returns the op of an allocation: some profilers write a text for an unknown one. */
static const Text *op_of(const MemoryEvent *e)
{
    return strcmp(e->tf_op->text, "(null)") ? e->tf_op : empty_text;
}

/* Returns the row of an op among those of its allocator. NULL if memory runs out. */
static MemoryOp *find_row(MemoryOps *all, HashTable *by_op, const MemoryAllocator *a,
                          const Text *tf_op)
{
    uint64_t hash = hash64((uint64_t)(uintptr_t)tf_op);
    HASH_EACH(i, by_op, hash)
        if (all->rows[i].tf_op == tf_op) return &all->rows[i];
    if (!GROW(all->rows, all->n, all->capacity) || !hash_add(by_op, hash, all->n)) return NULL;
    all->rows[all->n] = (MemoryOp){.allocator = a, .tf_op = tf_op, .largest_bytes = INT64_MIN};
    return &all->rows[all->n++];
}

static void add_allocation(MemoryOp *row, const MemoryEvent *e)
{
    row->n++;
    row->allocation_bytes += e->allocation_bytes;
    row->requested_bytes += e->requested_bytes;
    if (e->allocation_bytes > row->largest_bytes) row->largest_bytes = e->allocation_bytes;
    if (!e->match) return;
    row->n_freed++;
    row->freed_bytes += e->allocation_bytes;
    row->life_ps += (double)sub_saturated(e->match->start_ps, e->start_ps);
}

static void add_allocator(MemoryOps *all, HashTable *by_op, const MemoryAllocator *a, ProfErr *err)
{
    MemoryOp *row = NULL;
    hash_clear(by_op);
    for (size_t i = 0; i < a->n_events && !interrupt_poll(1, err); i++) {
        const MemoryEvent *e = a->events[i];
        if (e->is_free) continue;
        const Text *tf_op = op_of(e);
        if (!row || row->tf_op != tf_op) row = find_row(all, by_op, a, tf_op);
        if (row)
            add_allocation(row, e);
        else
            prof_nomem(err);
    }
}

static void memory_ops_release(void *result)
{
    MemoryOps *all = result;
    prof_free(all->rows);
    prof_free(all);
}

static void *memory_ops_make(Run *run, Host *only, ProfErr *err)
{
    const MemoryProfile *profile = host_memory_profile(only ? only : &run->hosts[0], err);
    MemoryOps *all = profile ? prof_alloc(sizeof *all) : NULL;
    HashTable by_op = {0};
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < profile->n_allocators && !err->code; i++)
        add_allocator(all, &by_op, &profile->allocators[i], err);
    hash_free(&by_op);
    if (!err->code) return all;
    memory_ops_release(all);
    return NULL;
}

const MemoryOps *host_memory_ops(Host *host, ProfErr *err)
{
    static const Analysis analysis = {memory_ops_make, memory_ops_release, NEEDS_ALL_HOSTS};
    return run_analysis(host->run, host, &analysis, err);
}
