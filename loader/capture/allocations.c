// SPDX-License-Identifier: Apache-2.0
/* allocations.c: writes CUPTI's allocations and frees as the events that XProf's memory profile
 * reads, each with the totals after it.
 *
 * If a framework has its own allocator, these are the growths of its arena, not tensors. */
#include "timeline.h"

enum { STATS = 4, OPERATION_ALLOCATE = 1, OPERATION_FREE = 2 };

static size_t slot_of(const Allocations *a, uint64_t address)
{
    size_t slot = mix64(address * 0x9e3779b97f4a7c15u) & (a->n_slots - 1);
    while (a->slots[slot].address && a->slots[slot].address != address)
        slot = (slot + 1) & (a->n_slots - 1);
    return slot;
}

static bool has_room(Allocations *a)
{
    if ((a->n_used + 1) * 2 <= a->n_slots) return true;
    size_t n_live = 0;
    for (size_t i = 0; i < a->n_slots; i++) n_live += a->slots[i].bytes != 0;
    Allocations grown = *a;
    grown.n_slots = 256;
    while (grown.n_slots < (n_live + 1) * 4) grown.n_slots *= 2;
    if (!(grown.slots = prof_alloc(grown.n_slots * sizeof *grown.slots))) return false;
    grown.n_used = n_live;
    for (size_t i = 0; i < a->n_slots; i++)
        if (a->slots[i].bytes) grown.slots[slot_of(&grown, a->slots[i].address)] = a->slots[i];
    prof_free(a->slots);
    *a = grown;
    return true;
}

void allocations_free(Allocations *a)
{
    prof_free(a->slots);
    *a = (Allocations){0};
}

/* Returns the bytes of the operation; 0 for a free of memory that was allocated before recording
 * began. */
static uint64_t apply(Timeline *t, Allocations *a, const Item *item)
{
    if (!item->node) return item->amount;
    if (!has_room(a)) {
        prof_nomem(t->err);
        return 0;
    }
    size_t slot = slot_of(a, item->node);
    uint64_t old = a->slots[slot].bytes;
    a->n_used += !a->slots[slot].address;
    a->slots[slot].address = item->node;
    a->slots[slot].bytes = item->detail == OPERATION_ALLOCATE ? item->amount : 0;
    a->allocated -=
        /* the free of an address that is allocated again was not recorded */
        old < a->allocated ? old : a->allocated;
    if (item->detail != OPERATION_ALLOCATE) return old;
    if (__builtin_add_overflow(a->allocated, item->amount, &a->allocated) ||
        a->allocated > INT64_MAX)
        a->allocated = INT64_MAX;
    if (a->allocated > a->peak) a->peak = a->allocated;
    return item->amount;
}

void allocations_describe(Timeline *t, Allocations *a, const Item *item, Description *d)
{
    static const char *const pool_events[] = {"Memory pool", "Memory pool created",
                                              "Memory pool destroyed", "Memory pool trimmed"};
    Small *s = &d->stats;
    d->name = d->type_bit = 0, s->n = 0, s->cut = false;
    memset(d->refs, 0, sizeof d->refs);
    if (item->kind == REC_POOL) {
        d->name = name_id(
            &t->names, pool_events[item->detail < COUNT(pool_events) ? item->detail : 0], t->err);
        small_stat_int(s, STATS, XS_BYTES, (int64_t)item->amount);
        small_stat_int(s, STATS, XS_ADDRESS, (int64_t)item->node);
        return;
    }
    uint64_t bytes = apply(t, a, item);
    bool on_host = item->line & HOST_MEMORY;
    const Device *device = (size_t)item->device < t->n_devices ? &t->devices[item->device] : NULL;
    d->name =
        name_id(&t->names,
                item->detail == OPERATION_FREE ? "MemoryDeallocation" : "MemoryAllocation", t->err);
    d->refs[0] = on_host ? name_id(&t->names, "cuda_host", t->err)
                         : name_id_format(&t->names, t->err, "GPU_%d_cuda", item->device);
    small_stat_ref(s, STATS, XS_ALLOCATOR, FIRST_REF + (uint64_t)d->refs[0]);
    small_stat_int(s, STATS, XS_ALLOCATED, (int64_t)a->allocated);
    small_stat_int(s, STATS, XS_RESERVED, 0);
    if (!on_host && device && device->known) {
        uint64_t total = record_get(&device->record, FIELD_BYTES);
        small_stat_int(s, STATS, XS_AVAILABLE,
                       total > a->allocated && total <= INT64_MAX ? (int64_t)(total - a->allocated)
                                                                  : 0);
    }
    small_stat_int(s, STATS, XS_PEAK, (int64_t)a->peak);
    small_stat_int(s, STATS, XS_REQUESTED, (int64_t)bytes);
    small_stat_int(s, STATS, XS_ALLOCATION, (int64_t)bytes);
    small_stat_int(s, STATS, XS_ADDRESS, (int64_t)item->node);
}
