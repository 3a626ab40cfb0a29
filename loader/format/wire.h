/* wire.h: the protobuf wire format over bytes in memory.
 *
 * A message is a run of fields; a field is a varint tag (number << 3 | wire type) and its value:
 *   0 varint   1 eight bytes   2 varint length and that many bytes   3..4 group start and end   5 four bytes
 * Every read is bounded by `end`. A Field borrows from the bytes it was read from. */
#ifndef PROF_WIRE_H
#define PROF_WIRE_H

#include "../base.h"

enum WireType { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_FIXED32 };
enum { WIRE_MAX_DEPTH = 100 }; /* groups inside groups */

typedef struct {
    uint32_t number;
    uint8_t type;         /* enum WireType */
    uint64_t value;       /* varint, fixed64, fixed32; the length of bytes */
    const uint8_t *bytes; /* WIRE_BYTES */
} Field;

/* Reads a varint of at most ten bytes. Returns the byte behind it, NULL when it is cut off or too long. */
static inline const uint8_t *wire_varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    if (p < end && *p < 0x80) return *value = *p, p + 1;
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
        uint8_t byte = *p++;
        v |= (uint64_t)(byte & 0x7f) << (shift & 63);
        if (byte < 0x80) return *value = v, p;
    }
    return NULL;
}

/* Skips the fields of a group up to and with its end tag. */
const uint8_t *wire_skip_group(const uint8_t *p, const uint8_t *end, uint32_t number, int depth);

/* Reads one field. Returns the byte behind it, NULL when the bytes are not a field. */
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
        memcpy(&field->value, p, 8); /* the machines we build for are little-endian, as the wire is */
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
