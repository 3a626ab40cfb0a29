// SPDX-License-Identifier: Apache-2.0
/* buffers.c: lists of buffers, without locks; see buffers.h. */
#define _GNU_SOURCE
#include "buffers.h"
#include "../base/base.h"

#include <string.h>
#include <sys/mman.h>

static uint64_t head_of(uint64_t old, int32_t index)
{
    return ((old >> 32) + 1) << 32 | (uint32_t)index;
}

static void push(Buffers *b, BufferList *list, int32_t i)
{
    uint64_t old = atomic_load_explicit(&list->head, memory_order_relaxed);
    do atomic_store_explicit(&b->all[i].next, (int32_t)(uint32_t)old, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&list->head, &old, head_of(old, i),
                                                  memory_order_release, memory_order_relaxed));
}

static int32_t pop(Buffers *b, BufferList *list)
{
    uint64_t old = atomic_load_explicit(&list->head, memory_order_acquire);
    for (;;) {
        int32_t i = (int32_t)(uint32_t)old;
        if (i == NO_BUFFER) return i;
        int32_t next = atomic_load_explicit(&b->all[i].next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&list->head, &old, head_of(old, next),
                                                  memory_order_acquire, memory_order_acquire))
            return i;
    }
}

void buffers_init(Buffers *b, size_t buffer_bytes, int limit)
{
    b->buffer_bytes = buffer_bytes;
    b->limit_bytes = buffer_bytes * size_within(limit > 0 ? (size_t)limit : 0, 2, MAX_BUFFERS);
    atomic_store(&b->epoch, 1);
    atomic_store(&b->free.head, (uint32_t)NO_BUFFER);
    atomic_store(&b->filled.head, (uint32_t)NO_BUFFER);
}

/* Precedes each buffer, to find its number from its address. */
typedef struct {
    uint64_t magic;
    int32_t index;
} Label;
enum { LABEL_BYTES = 64, LABEL_MAGIC = 0x42515350, SMALL_BYTES = 256 << 10 };

static bool reserve(Buffers *b, size_t n_bytes, size_t limit)
{
    size_t now = atomic_load(&b->n_bytes);
    do
        if (n_bytes > limit || now > limit - n_bytes) return false;
    while (!atomic_compare_exchange_weak(&b->n_bytes, &now, now + n_bytes));
    return true;
}

int32_t buffers_make(Buffers *b, bool beyond_limit)
{
    size_t small = b->buffer_bytes < SMALL_BYTES ? b->buffer_bytes : SMALL_BYTES,
           n_bytes = b->buffer_bytes;
    if (!reserve(b, n_bytes, b->limit_bytes / 4 * 3) &&
        !reserve(b, n_bytes = small, beyond_limit ? SIZE_MAX : b->limit_bytes))
        return NO_BUFFER;
    int32_t i = atomic_load(&b->n_made);
    do /* n_made only grows: a number that was taken and returned could be assigned twice */
        if (i >= MAX_BUFFERS) return NO_BUFFER;
    while (!atomic_compare_exchange_weak(&b->n_made, &i, i + 1));
    /* MAP_POPULATE: the pages exist before a thread of the program writes to them */
    uint8_t *p = mmap(NULL, LABEL_BYTES + n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) return NO_BUFFER; /* the number is lost */
    *(Label *)(void *)p = (Label){LABEL_MAGIC, i};
    b->all[i].bytes = p + LABEL_BYTES, b->all[i].size = n_bytes;
    return i;
}

void buffers_keep_ready(Buffers *b, int n_ready)
{
    while (atomic_load(&b->n_free) < n_ready) {
        int32_t i = buffers_make(b, false);
        if (i == NO_BUFFER) return;
        atomic_fetch_add(&b->n_free, 1);
        push(b, &b->free, i);
    }
}

int32_t buffers_take(Buffers *b)
{
    int32_t i = pop(b, &b->free);
    if (i != NO_BUFFER) atomic_fetch_sub(&b->n_free, 1);
    return i;
}

int32_t buffers_take_filled(Buffers *b) { return pop(b, &b->filled); }

void buffers_zero(Buffers *b, int32_t i)
{
    memset(b->all[i].bytes, 0, b->all[i].n_valid);
    b->all[i].n_valid = 0;
}

void buffers_give(Buffers *b, int32_t i)
{
    buffers_zero(b, i); /* here, not in the program's thread, where CUPTI would do it */
    atomic_fetch_add(&b->n_free, 1);
    push(b, &b->free, i);
}

void buffers_fill(Buffers *b, int32_t i, size_t n_valid)
{
    b->all[i].n_valid = n_valid;
    atomic_store(&b->all[i].out, 0);
    push(b, &b->filled, i);
}

int32_t buffers_take_all_filled(Buffers *b)
{
    uint64_t old = atomic_load_explicit(&b->filled.head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&b->filled.head, &old, head_of(old, NO_BUFFER),
                                                  memory_order_acquire, memory_order_relaxed))
        continue;
    int32_t newest = (int32_t)(uint32_t)old, oldest = NO_BUFFER;
    while (newest != NO_BUFFER) { /* reverse the list, which starts with the newest */
        int32_t next = atomic_load_explicit(&b->all[newest].next, memory_order_relaxed);
        atomic_store_explicit(&b->all[newest].next, oldest, memory_order_relaxed);
        oldest = newest, newest = next;
    }
    return oldest;
}

void buffers_lend(Buffers *b, int32_t i) { atomic_store(&b->all[i].out, atomic_load(&b->epoch)); }
void buffers_next_epoch(Buffers *b) { atomic_fetch_add(&b->epoch, 1); }

uint32_t buffers_kept_out(const Buffers *b)
{
    uint32_t n = 0, epoch = atomic_load(&b->epoch);
    for (int32_t i = 0; i < atomic_load(&b->n_made); i++) {
        uint32_t since = atomic_load(&b->all[i].out);
        n += since && since < epoch;
    }
    return n;
}

int32_t buffers_find(const uint8_t *bytes)
{
    const Label *label = (const Label *)(const void *)(bytes - LABEL_BYTES);
    return label->magic == LABEL_MAGIC ? label->index : NO_BUFFER;
}
