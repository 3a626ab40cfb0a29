// SPDX-License-Identifier: Apache-2.0
/* buffers.h: the buffers that CUPTI fills.
 *
 * CUPTI asks for one in the program's own threads, inside their CUDA calls, and gives it back
 * filled from a thread of its own. Both sides are lists without locks; fresh memory is made ahead
 * of need by whoever calls buffers_keep_ready() (our writer thread). All buffers together take at
 * most `limit` times `buffer_bytes`. When three quarters of that are made, the rest is made as
 * small buffers, so that many threads can have one each; when all of it is, a caller gets none. */
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
    size_t n_valid;       /* filled by CUPTI */
    _Atomic uint32_t out; /* CUPTI has had it since this epoch; 0: it has not */
    _Atomic int32_t next;
} Buffer;

/* Indices into `all`, with a count in the upper half so that a head that comes back is known. */
typedef struct {
    _Atomic uint64_t head;
} BufferList;

typedef struct {
    size_t buffer_bytes, limit_bytes;
    _Atomic size_t n_bytes; /* of all that are made */
    _Atomic uint32_t epoch;
    _Atomic int32_t n_made, n_free;
    BufferList free, filled;
    Buffer all[MAX_BUFFERS];
} Buffers;

void buffers_init(Buffers *b, size_t buffer_bytes, int limit);
/* Makes buffers until n_ready are free or the limit is reached. */
void buffers_keep_ready(Buffers *b, int n_ready);
int32_t buffers_take(Buffers *b);        /* a free one, NO_BUFFER when there is none */
int32_t buffers_take_filled(Buffers *b); /* the one filled last */
/* A fresh one, NO_BUFFER without memory or at the limit. beyond_limit: a small one whatever the
 * limit, at most MAX_BUFFERS in all, for libraries that cannot be refused. */
int32_t buffers_make(Buffers *b, bool beyond_limit);
void buffers_zero(Buffers *b, int32_t i); /* what CUPTI filled: it expects zeroed buffers */
void buffers_give(Buffers *b, int32_t i); /* to the free ones, zeroed */
void buffers_fill(Buffers *b, int32_t i, size_t n_valid);
/* Takes all filled buffers, in the order in which they were filled, linked by `next`; NO_BUFFER
 * when there is none. */
int32_t buffers_take_all_filled(Buffers *b);
void buffers_lend(Buffers *b, int32_t i); /* CUPTI gets it; buffers_fill() takes it back */
/* A new epoch begins; then: the buffers that CUPTI has had since before it. */
void buffers_next_epoch(Buffers *b);
uint32_t buffers_kept_out(const Buffers *b);
int32_t buffers_find(const uint8_t *bytes); /* the number of a buffer that buffers_make() made */

#endif
