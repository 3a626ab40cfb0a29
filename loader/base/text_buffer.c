// SPDX-License-Identifier: Apache-2.0
/* text_buffer.c: growing text; see text_buffer.h. */
#include "text_buffer.h"

#include <stdio.h>

static bool has_room(TextBuffer *out, size_t n_bytes)
{
    if (out->capacity - out->n_bytes > n_bytes) return true;
    size_t capacity = out->capacity ? out->capacity : 256;
    while (capacity - out->n_bytes <= n_bytes) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    char *grown = prof_alloc(capacity);
    if (!grown) return false;
    if (out->n_bytes) memcpy(grown, out->text, out->n_bytes);
    prof_free(out->text);
    out->text = grown, out->capacity = capacity;
    return true;
}

void text_add_bytes(TextBuffer *out, const char *bytes, size_t n_bytes)
{
    if (out->no_memory || out->cut) return;
    if (out->limit && n_bytes > out->limit - out->n_bytes)
        out->cut = true, n_bytes = out->limit - out->n_bytes;
    if (!has_room(out, n_bytes)) {
        out->no_memory = true;
        return;
    }
    if (n_bytes) memcpy(out->text + out->n_bytes, bytes, n_bytes);
    out->n_bytes += n_bytes;
    out->text[out->n_bytes] = 0;
}

void text_add(TextBuffer *out, const char *text) { text_add_bytes(out, text, strlen(text)); }
void text_add_char(TextBuffer *out, char c) { text_add_bytes(out, &c, 1); }

void text_add_integer(TextBuffer *out, int64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0) *--p = '-';
    text_add_bytes(out, p, (size_t)(digits + sizeof digits - p));
}

void text_add_format(TextBuffer *out, const char *format, ...)
{
    char piece[400];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(piece, sizeof piece, format, ap);
    va_end(ap);
    if (n > 0) text_add_bytes(out, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

int print_real(char *room, size_t n_bytes, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(room, n_bytes, format, ap);
    va_end(ap);
    for (char *p = room; n > 0 && *p; p++)
        if (*p == ',') *p = '.';
    return n;
}

void text_add_real(TextBuffer *out, double value, int digits)
{
    char text[48];
    int n = print_real(text, sizeof text, "%.*g", digits, value);
    if (n > 0) text_add_bytes(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void text_add_escaped(TextBuffer *out, const char *bytes, size_t n_bytes)
{
    static const char escaped[] = "\n\r\t\"'\\", letters[] = "nrt\"'\\";
    for (size_t i = 0, plain = 0;; i++) {
        bool end = i == n_bytes;
        uint8_t c = end ? 0 : (uint8_t)bytes[i];
        const char *special = end || !c ? NULL : strchr(escaped, c);
        if (!end && !special && c >= 0x20 && c < 0x7f) continue;
        text_add_bytes(out, bytes + plain, i - plain);
        plain = i + 1;
        if (end) return;
        if (special)
            text_add_bytes(out, (char[]){'\\', letters[special - escaped]}, 2);
        else
            text_add_bytes(out,
                           (char[]){'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
                                    (char)('0' + (c & 7))},
                           4);
    }
}

void text_free(TextBuffer *out)
{
    prof_free(out->text);
    *out = (TextBuffer){.limit = out->limit};
}
