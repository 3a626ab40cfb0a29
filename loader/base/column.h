// SPDX-License-Identifier: Apache-2.0
/* column.h: packs the integers of one column of a chunk into as few bytes as their range needs.
 *
 * A value is a base plus an unsigned delta of 0 to 8 bytes, little-endian; width 0 means that all
 * values are equal. The sum wraps, so every int64 can be stored. Times in one chunk are close
 * together: instead of 8 bytes each takes 2 to 5. A delta is read as 8 bytes, then masked to its
 * width, so 8 bytes can be read at the last delta too. */
#ifndef PROF_COLUMN_H
#define PROF_COLUMN_H

#include "base.h"

/* A packed column. Its deltas belong to the arena that they were packed into. */
typedef struct {
    int64_t base;
    const uint8_t *deltas;
    uint8_t width; /* bytes of one delta, 0 to 8 */
} Packed;

/* Smallest and largest of some values. */
typedef struct {
    int64_t least, most;
} ValueRange;
/* Returns the range of n values; 0 to 0 if n is 0. */
ValueRange values_range(const int64_t *values, size_t n);
/* Returns how many bytes a delta needs in this range. */
uint8_t range_width(ValueRange range);
/* Packs n values into the arena. False if memory runs out. */
NODISCARD bool packed_make(Packed *packed, Arena *arena, const int64_t *values, size_t n);
/* Like packed_make(), for callers that already have the range of the values. */
NODISCARD bool packed_make_of(Packed *packed, Arena *arena, const int64_t *values, size_t n,
                              ValueRange range);
/* Like packed_make(), for values of one byte. */
NODISCARD bool packed_make_bytes(Packed *packed, Arena *arena, const uint8_t *values, size_t n);
/* Unpacks the first n values to `out`. */
void packed_read(const Packed *packed, int64_t *out, size_t n);

extern const uint64_t packed_masks[9]; /* mask of a delta, by its width */
/* Returns the i-th value. */
static inline int64_t packed_at(const Packed *packed, size_t i)
{
    if (!packed->width) return packed->base;
    uint64_t eight;
    memcpy(&eight, packed->deltas + i * packed->width, sizeof eight);
    return (int64_t)((uint64_t)packed->base + (eight & packed_masks[packed->width]));
}

#endif
