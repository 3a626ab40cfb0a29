// SPDX-License-Identifier: Apache-2.0
/* wire.h: reads the protobuf wire format from bytes in memory.
 *
 * A message is a sequence of fields. A field is a varint tag (number << 3 | wire type) and a
 * value:
 *   0 varint   1 eight bytes   2 varint length and that many bytes   3, 4 group start, end   5 four
 * No read goes beyond `end`. A Field borrows from the bytes that it was read from. */
#ifndef PROF_WIRE_H
#define PROF_WIRE_H

#include "../base/base.h"

enum WireType { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_FIXED32 };
enum { WIRE_MAX_DEPTH = 100 }; /* how deep groups may nest */

typedef struct {
    uint32_t number;
    uint8_t type;         /* enum WireType */
    uint64_t value;       /* value of varint, fixed64 and fixed32; length of WIRE_BYTES */
    const uint8_t *bytes; /* payload of WIRE_BYTES */
} Field;

/* Returns the low seven bits of each of eight bytes, joined. */
static inline uint64_t wire_seven_bits(uint64_t x)
{
    x = (x & 0x007f007f007f007f) | (x & 0x7f007f007f007f00) >> 1;
    x = (x & 0x00003fff00003fff) | (x & 0x3fff00003fff0000) >> 2;
    return (x & 0x000000000fffffff) | (x & 0x0fffffff00000000) >> 4;
}

/* Like wire_varint(), for varints of three bytes or more. */
const uint8_t *wire_long_varint(const uint8_t *p, const uint8_t *end, uint64_t *value);

/* Reads a varint of at most ten bytes. Returns the position after it; NULL if it is cut off or too
 * long. */
static inline const uint8_t *wire_varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    if (p < end && *p < 0x80) {
        *value = *p;
        return p + 1;
    }
    if (end - p >= 2 && p[1] < 0x80) {
        *value = (*p & 0x7fu) | (uint64_t)p[1] << 7;
        return p + 2;
    }
    return wire_long_varint(p, end, value);
}

/* Like wire_varint(), for times and sizes, whose lengths a processor cannot predict: reads without
 * a loop if eight bytes are left. */
static inline const uint8_t *wire_wide_varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    uint64_t eight, last;
    if (end - p < 8) return wire_varint(p, end, value);
    memcpy(&eight, p, sizeof eight);
    if (!(last = ~eight & 0x8080808080808080)) return wire_long_varint(p, end, value);
    last &= -last; /* the top bit of the last byte */
    *value = wire_seven_bits(eight & (last - 1));
    return p + __builtin_ctzll(last) / 8 + 1;
}

/* Reads a varint that fills the bytes from p to end exactly. False if they are not one. At least
 * four readable bytes must precede p, because varints of four to eight bytes are read as the last
 * part of the eight bytes before `end`. */
static inline bool wire_varint_fills(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    size_t n = (size_t)(end - p);
    if (n < 4 || n > 8) return p < end && wire_varint(p, end, value) == end;
    uint64_t eight;
    memcpy(&eight, end - 8, sizeof eight);
    eight >>= 64 - 8 * n;
    if ((eight & 0x8080808080808080) != 0x8080808080808080 >> (72 - 8 * n)) return false;
    *value = wire_seven_bits(eight);
    return true;
}

/* Returns the position after a varint, NULL as in wire_varint(). */
static inline const uint8_t *wire_skip_varint(const uint8_t *p, const uint8_t *end)
{
    uint64_t eight, last;
    if (p < end && *p < 0x80) return p + 1;
    if (end - p < 8) return wire_varint(p, end, &eight);
    memcpy(&eight, p, sizeof eight);
    return (last = ~eight & 0x8080808080808080) ? p + __builtin_ctzll(last) / 8 + 1
                                                : wire_varint(p, end, &eight);
}

/* Skips the tag and length of a WIRE_BYTES field at p. Returns the position of its payload, which
 * may reach beyond `end`; NULL if the bytes are not a field. */
static inline const uint8_t *wire_header(const uint8_t *p, const uint8_t *end, uint64_t *n_bytes)
{
    p = wire_skip_varint(p, end);
    return p ? wire_varint(p, end, n_bytes) : NULL;
}

/* Skips the fields of a group including its end tag. Returns the position after it; NULL if the
 * bytes are not a group. */
const uint8_t *wire_skip_group(const uint8_t *p, const uint8_t *end, uint32_t number, int depth);

/* Reads one field. Returns the position after it; NULL if the bytes are not a field. A group is
 * skipped. */
static inline const uint8_t *wire_field(const uint8_t *p, const uint8_t *end, Field *field)
{
    uint64_t tag;
    p = wire_varint(p, end, &tag);
    if (!p || tag < 8 || tag > UINT32_MAX) return NULL;
    field->number = (uint32_t)tag >> 3, field->type = tag & 7;
    switch (field->type) {
    case WIRE_VARINT: return wire_varint(p, end, &field->value);
    case WIRE_BYTES:
        p = wire_varint(p, end, &field->value);
        if (!p || field->value > (uint64_t)(end - p)) return NULL;
        field->bytes = p;
        return p + field->value;
    case WIRE_FIXED64:
        if (end - p < 8) return NULL;
        /* supported machines are little-endian, like the wire format */
        memcpy(&field->value, p, 8);
        return p + 8;
    case WIRE_FIXED32: {
        if (end - p < 4) return NULL;
        uint32_t four;
        memcpy(&four, p, 4);
        field->value = four;
        return p + 4;
    }
    case WIRE_GROUP: return wire_skip_group(p, end, field->number, 0);
    default: return NULL;
    }
}

#endif
