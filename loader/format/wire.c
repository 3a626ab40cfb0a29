// SPDX-License-Identifier: Apache-2.0
/* wire.c: the parts of wire.h that are not worth inlining. */
#include "wire.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "fixed fields are read as the machine stores them");

const uint8_t *wire_long_varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
        uint8_t byte = *p++;
        v |= (uint64_t)(byte & 0x7f) << (shift & 63);
        if (byte < 0x80) {
            *value = v;
            return p;
        }
    }
    return NULL;
}

const uint8_t *wire_skip_group(const uint8_t *p, const uint8_t *end, uint32_t number, int depth)
{
    if (depth == WIRE_MAX_DEPTH) return NULL;
    while (p && p < end) {
        uint64_t tag;
        const uint8_t *after = wire_varint(p, end, &tag);
        if (!after || tag < 8 || tag > UINT32_MAX) return NULL;
        if ((tag & 7) == WIRE_GROUP_END) return tag >> 3 == number ? after : NULL;
        Field field;
        p = (tag & 7) == WIRE_GROUP ? wire_skip_group(after, end, (uint32_t)(tag >> 3), depth + 1)
                                    : wire_field(p, end, &field);
    }
    return NULL;
}
