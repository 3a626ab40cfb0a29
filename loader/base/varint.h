// SPDX-License-Identifier: Apache-2.0
/* varint.h: protobuf's variable-length integers, in which profiles, spools and sorted runs are
 * written; see ../format/wire.h for reading. */
#ifndef PROF_VARINT_H
#define PROF_VARINT_H

#include <stdint.h>

enum { VARINT_BYTES = 10 }; /* at most */

/* Writes a varint. Returns the address of the byte after it. */
static inline uint8_t *put_varint(uint8_t *p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) *p++ = (uint8_t)(value | 0x80);
    *p++ = (uint8_t)value;
    return p;
}

/* Maps small differences of either sign to small numbers. */
static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}
static inline uint64_t unzigzag(uint64_t v) { return v >> 1 ^ (0 - (v & 1)); }

#endif
