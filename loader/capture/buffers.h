// SPDX-License-Identifier: Apache-2.0
/* buffers.h: the buffers that CUPTI fills.
 *
 * CUPTI asks for a buffer in the program's own threads, inside their CUDA calls, and returns it
 * filled from a thread of its own. Both sides are lists without locks. New buffers are allocated
 * ahead of need by the caller of buffers_keep_ready(), our writer thread. All buffers together take
 * at most `limit` times `buffer_bytes`. When three quarters of that are allocated, the rest is
 * allocated as small buffers, so that many threads can have one each. When the limit is reached,
 * callers get none. */
#ifndef PROF_CAPTURE_BUFFERS_H
#define PROF_CAPTURE_BUFFERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_BUFFERS = 4096, NO_BUFFER = -1 };

typedef struct {
    uint8_t *bytes;
    size_t size;
    size_t n_valid;       /* bytes that CUPTI filled */
    _Atomic uint32_t out; /* epoch in which CUPTI got it; 0: CUPTI does not have it */
    _Atomic int32_t next;
} Buffer;

/* Index in `all`, with a counter in the upper half, so that a head that was removed and added again
 * differs. */
typedef struct {
    _Atomic uint64_t head;
} BufferList;

typedef struct {
    size_t buffer_bytes, limit_bytes;
    _Atomic size_t n_bytes; /* of all allocated buffers */
    _Atomic uint32_t epoch;
    _Atomic int32_t n_made, n_free;
    BufferList free, filled;
    Buffer all[MAX_BUFFERS];
} Buffers;

void buffers_init(Buffers *b, size_t buffer_bytes, int limit);
/* Allocates buffers until n_ready are free or the limit is reached. */
void buffers_keep_ready(Buffers *b, int n_ready);
int32_t buffers_take(Buffers *b);        /* returns a free buffer; NO_BUFFER if there is none */
int32_t buffers_take_filled(Buffers *b); /* returns the one that was filled last */
/* Allocates a buffer. NO_BUFFER if memory runs out or at the limit. beyond_limit: a small one even
 * at the limit, up to MAX_BUFFERS in total, for libraries that crash if they get none. */
int32_t buffers_make(Buffers *b, bool beyond_limit);
/* clears what CUPTI filled, because it expects zeroed buffers */
void buffers_zero(Buffers *b, int32_t i);
void buffers_give(Buffers *b, int32_t i); /* returns it to the free ones, zeroed */
void buffers_fill(Buffers *b, int32_t i, size_t n_valid);
/* Takes all filled buffers, in the order in which they were filled, linked by `next`. NO_BUFFER if
 * there are none. */
int32_t buffers_take_all_filled(Buffers *b);
void buffers_lend(Buffers *b, int32_t i); /* passes it to CUPTI; buffers_fill() takes it back */
/* buffers_next_epoch() starts a new epoch. The other one returns the buffers that CUPTI has had
 * since before it. */
void buffers_next_epoch(Buffers *b);
uint32_t buffers_kept_out(const Buffers *b);
int32_t buffers_find(const uint8_t *bytes); /* returns the number of a buffer from buffers_make() */

#endif
