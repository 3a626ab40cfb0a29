// SPDX-License-Identifier: Apache-2.0
/* message_stream.c: see message_stream.h. */
#include "message_stream.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, HIGHEST_NUMBER = 99 };

static uint64_t end_of_message(const MessageStream *s)
{
    return s->depth ? s->inside[s->depth - 1].end : s->n_bytes;
}

static bool damaged(const MessageStream *s, const char *what, ProfErr *err)
{
    prof_fail(err, PROF_FORMAT, s->at, "byte %llu of the answer: %s", (unsigned long long)s->at,
              what);
    return false;
}

/* Starts a field of n_bytes bytes. */
static bool start_bytes(MessageStream *s, uint64_t n_bytes, ProfErr *err)
{
    if (n_bytes > end_of_message(s) - s->at)
        return damaged(s, "a field is longer than its message", err);
    s->field_end = s->at + n_bytes;
    s->state = AT_BYTES;
    if (s->field_use == FIELD_SKIP) return true;
    if (!s->handler->begin(s->context, s->path, n_bytes)) return false;
    if (s->field_use != FIELD_ENTER) return true;
    if (s->depth == MAX_MESSAGE_DEPTH) return damaged(s, "messages are nested too deeply", err);
    s->inside[s->depth].path = s->path;
    s->inside[s->depth++].end = s->field_end;
    s->state = AT_TAG;
    return true;
}

static bool start_field(MessageStream *s, uint64_t tag, ProfErr *err)
{
    uint64_t number = tag >> 3;
    if (!number || number >= 1 << 29) return damaged(s, "a field has no valid number", err);
    bool known = number <= HIGHEST_NUMBER;
    int of = s->depth ? s->inside[s->depth - 1].path : 0;
    s->path = known ? of * (HIGHEST_NUMBER + 1) + (int)number : 0;
    s->field_use = FIELD_SKIP;
    switch (tag & 7) {
    case VARINT: s->state = AT_VARINT; return true;
    case FIXED64: return start_bytes(s, 8, err);
    case FIXED32: return start_bytes(s, 4, err);
    case BYTES:
        if (known) s->field_use = s->handler->use(s->path);
        s->state = AT_LENGTH;
        return true;
    default: return damaged(s, "a field has no valid type", err);
    }
}

/* Handles a complete varint. */
static bool handle_varint(MessageStream *s, ProfErr *err)
{
    uint64_t value = s->varint;
    s->varint = 0, s->n_varint_bytes = 0;
    if (s->state == AT_TAG) return start_field(s, value, err);
    if (s->state == AT_LENGTH) return start_bytes(s, value, err);
    if (s->path && s->handler->number) s->handler->number(s->context, s->path, value);
    s->state = AT_TAG;
    return true;
}

static bool read_varint_byte(MessageStream *s, uint8_t byte, ProfErr *err)
{
    if (s->at == end_of_message(s)) return damaged(s, "a message ends within a field", err);
    if (s->n_varint_bytes == 9 && byte > 1) return damaged(s, "a number is too long", err);
    s->varint |= (uint64_t)(byte & 127) << 7 * s->n_varint_bytes++;
    s->at++;
    return byte & 128 || handle_varint(s, err);
}

/* Handles the part of the field's bytes that has arrived. */
static bool read_field_bytes(MessageStream *s, const uint8_t *bytes, size_t n_bytes, size_t *n_read)
{
    uint64_t n_left = s->field_end - s->at;
    *n_read = n_left < n_bytes ? (size_t)n_left : n_bytes;
    s->at += *n_read;
    return s->field_use == FIELD_SKIP || !*n_read ||
           s->handler->bytes(s->context, s->path, bytes, *n_read);
}

/* Ends the field of bytes and the messages that are complete at this position. */
static void end_fields(MessageStream *s)
{
    if (s->state == AT_BYTES && s->at == s->field_end) s->state = AT_TAG;
    if (s->state != AT_TAG || s->n_varint_bytes) return;
    while (s->depth && s->at == s->inside[s->depth - 1].end) s->depth--;
}

bool message_stream_read(MessageStream *s, const uint8_t *bytes, size_t n_bytes, ProfErr *err)
{
    for (size_t n_read; n_bytes; bytes += n_read, n_bytes -= n_read) {
        n_read = 1;
        if (!(s->state == AT_BYTES ? read_field_bytes(s, bytes, n_bytes, &n_read)
                                   : read_varint_byte(s, *bytes, err)))
            return false;
        end_fields(s);
    }
    return true;
}

bool message_stream_finish(const MessageStream *s, ProfErr *err)
{
    if (s->at == s->n_bytes && s->state == AT_TAG && !s->n_varint_bytes && !s->depth) return true;
    return damaged(s, "it ends within a field", err);
}
