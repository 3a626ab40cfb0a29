// SPDX-License-Identifier: Apache-2.0
/* xplane_out.c: writes messages; see xplane_out.h. */
#define _GNU_SOURCE
#include "xplane_out.h"

#include "../base/varint.h"

#include <errno.h>
#include <unistd.h>

enum { LENGTH_BYTES = 5 };

static void write_out(XOut *out, const uint8_t *p, size_t n, uint64_t at)
{
    while (n && !out->err->code) {
        ssize_t k = pwrite(out->fd, p, n, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0)
            prof_fail(out->err, PROF_IO, at, "cannot write the profile: %s",
                      k < 0 ? strerror(errno) : "no space left");
        else
            p += k, n -= (size_t)k, at += (uint64_t)k;
    }
}

static void flush(XOut *out)
{
    write_out(out, out->bytes, out->n, out->at);
    out->at += out->n, out->n = 0;
}

int xout_open(XOut *out, int fd, ProfErr *err)
{
    *out = (XOut){.fd = fd, .err = err, .bytes = prof_alloc(XOUT_BYTES)};
    return out->bytes ? PROF_OK : prof_nomem(err);
}

void xout_close(XOut *out)
{
    if (out->bytes) flush(out);
    prof_free(out->bytes);
    *out = (XOut){.fd = -1};
}

static void append(XOut *out, const void *bytes, size_t n)
{
    if (out->n + n > XOUT_BYTES) flush(out);
    if (n > XOUT_BYTES) {
        write_out(out, bytes, n, out->at);
        out->at += n;
    } else {
        memcpy(out->bytes + out->n, bytes, n);
        out->n += n;
    }
}

static void append_tag(XOut *out, uint32_t field, unsigned type)
{
    uint8_t tag[10] = {0};
    append(out, tag, (size_t)(put_varint(tag, (uint64_t)field << 3 | type) - tag));
}

uint64_t xout_begin(XOut *out, uint32_t field)
{
    static const uint8_t room[LENGTH_BYTES];
    append_tag(out, field, 2);
    append(out, room, sizeof room);
    return out->at + out->n;
}

void xout_end(XOut *out, uint64_t begun)
{
    uint64_t n = out->at + out->n - begun, at = begun - LENGTH_BYTES;
    uint8_t length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++, n >>= 7)
        length[i] = (uint8_t)(n & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0);
    if (n)
        prof_fail(out->err, PROF_IO, begun,
                  "the profile is larger than 32 GiB; capture less, or shorter");
    if (at >= out->at) {
        memcpy(out->bytes + (at - out->at), length, sizeof length);
        return;
    }
    if (begun > out->at) flush(out); /* the start of the message is partly in the buffer */
    write_out(out, length, sizeof length, at);
}

void xout_varint(XOut *out, uint32_t field, uint64_t value)
{
    uint8_t bytes[20], *p = put_varint(bytes, (uint64_t)field << 3);
    append(out, bytes, (size_t)(put_varint(p, value) - bytes));
}

void xout_bytes(XOut *out, uint32_t field, const void *bytes, size_t n)
{
    uint8_t head[20], *p = put_varint(head, (uint64_t)field << 3 | 2);
    append(out, head, (size_t)(put_varint(p, n) - head));
    append(out, bytes, n);
}

void xout_text(XOut *out, uint32_t field, const char *text)
{
    xout_bytes(out, field, text, strlen(text));
}

/* ---- small messages ---- */

static bool fits(Small *m, size_t n)
{
    if (m->n + n <= sizeof m->bytes) return true;
    m->cut = true;
    return false;
}

void small_varint(Small *m, uint32_t field, uint64_t value)
{
    if (!fits(m, 20)) return;
    uint8_t *p = put_varint(m->bytes + m->n, (uint64_t)field << 3);
    m->n = (size_t)(put_varint(p, value) - m->bytes);
}

void small_bytes(Small *m, uint32_t field, const void *bytes, size_t n)
{
    if (!fits(m, n + 20)) return;
    uint8_t *p = put_varint(m->bytes + m->n, (uint64_t)field << 3 | 2);
    p = put_varint(p, n);
    memcpy(p, bytes, n);
    m->n = (size_t)(p + n - m->bytes);
}

static void small_message(Small *m, uint32_t field, const Small *inner)
{
    small_bytes(m, field, inner->bytes, inner->n);
}

enum { STAT_ID = 1, STAT_DOUBLE, STAT_UINT, STAT_INT, STAT_TEXT, STAT_REF = 7 };

static void stat_number(Small *m, uint32_t field, uint64_t id, uint32_t kind, uint64_t value)
{
    if (!fits(m, 32)) return;
    uint8_t body[24], *p = put_varint(body, STAT_ID << 3);
    p = put_varint(p, id);
    p = put_varint(p, kind << 3);
    small_bytes(m, field, body, (size_t)(put_varint(p, value) - body));
}

void small_stat_uint(Small *m, uint32_t field, uint64_t id, uint64_t value)
{
    stat_number(m, field, id, STAT_UINT, value);
}
void small_stat_int(Small *m, uint32_t field, uint64_t id, int64_t value)
{
    stat_number(m, field, id, STAT_INT, (uint64_t)value);
}
void small_stat_ref(Small *m, uint32_t field, uint64_t id, uint64_t ref)
{
    stat_number(m, field, id, STAT_REF, ref);
}

void small_stat_double(Small *m, uint32_t field, uint64_t id, double value)
{
    uint8_t body[24], *p = put_varint(body, STAT_ID << 3);
    p = put_varint(p, id);
    *p++ = STAT_DOUBLE << 3 | 1;
    memcpy(p, &value, sizeof value);
    small_bytes(m, field, body, (size_t)(p + sizeof value - body));
}

void small_stat_text(Small *m, uint32_t field, uint64_t id, const char *text)
{
    Small stat = {.n = 0};
    small_varint(&stat, STAT_ID, id);
    small_bytes(&stat, STAT_TEXT, text, strnlen(text, 1024));
    small_message(m, field, &stat);
}
