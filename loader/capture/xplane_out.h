// SPDX-License-Identifier: Apache-2.0
/* xplane_out.h: writes an XSpace as a stream: planes and lines of any length with a small buffer.
 *
 * A message is preceded by its length. If that is not known yet, five bytes are reserved and filled
 * in when the message ends, because a varint may be padded. Errors are sticky in `err`; later calls
 * have no effect. */
#ifndef PROF_CAPTURE_XPLANE_OUT_H
#define PROF_CAPTURE_XPLANE_OUT_H

#include "../base/base.h"

enum { XOUT_BYTES = 256 << 10 };
typedef struct {
    int fd;
    uint8_t *bytes;
    size_t n;
    uint64_t at; /* of bytes[0] in the file */
    ProfErr *err;
} XOut;

int xout_open(XOut *out, int fd, ProfErr *err); /* fd still belongs to the caller */
void xout_close(XOut *out);                     /* writes the rest and frees the memory */
/* starts a message of unknown length; may be nested */
uint64_t xout_begin(XOut *out, uint32_t field);
void xout_end(XOut *out, uint64_t begun);
void xout_varint(XOut *out, uint32_t field, uint64_t value);
void xout_bytes(XOut *out, uint32_t field, const void *bytes, size_t n);
void xout_text(XOut *out, uint32_t field, const char *text);

/* A small message in memory. What does not fit is left out, and `cut` is set. */
typedef struct {
    uint8_t bytes[2048];
    size_t n;
    bool cut;
} Small;
void small_varint(Small *m, uint32_t field, uint64_t value);
void small_bytes(Small *m, uint32_t field, const void *bytes, size_t n);
/* Append XStats, as field `field` of m. */
void small_stat_uint(Small *m, uint32_t field, uint64_t id, uint64_t value);
void small_stat_int(Small *m, uint32_t field, uint64_t id, int64_t value);
void small_stat_double(Small *m, uint32_t field, uint64_t id, double value);
void small_stat_text(Small *m, uint32_t field, uint64_t id, const char *text);
void small_stat_ref(Small *m, uint32_t field, uint64_t id, uint64_t ref);

#endif
