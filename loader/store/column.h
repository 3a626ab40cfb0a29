// SPDX-License-Identifier: Apache-2.0
/* column.h: a column of integers of one chunk, packed to the bytes it needs.
 *
 * A value is base + an unsigned delta of 0 to 8 bytes, little end first (0: all values are equal). Sums wrap, so every int64
 * fits. Times of a chunk lie close together: eight bytes of int64 become two to five. A delta is read as eight bytes of which
 * those above its width are masked off, so there is room behind the last one. */
#ifndef PROF_COLUMN_H
#define PROF_COLUMN_H

#include "../base.h"

typedef struct {
    int64_t base;
    const uint8_t *deltas;
    uint8_t width; /* bytes a delta */
} Packed;

/* The least and the greatest of n values (0 of none), and the width that they need. */
typedef struct {
    int64_t least, most;
} ValueRange;
ValueRange values_range(const int64_t *values, size_t n);
uint8_t range_width(ValueRange range);
/* Packs n values into the arena. False when there is no memory. */
bool packed_make(Packed *packed, Arena *arena, const int64_t *values, size_t n);
/* The same where the range is known already. */
bool packed_make_of(Packed *packed, Arena *arena, const int64_t *values, size_t n, ValueRange range);
/* The same of small values. */
bool packed_make_bytes(Packed *packed, Arena *arena, const uint8_t *values, size_t n);
/* Writes the first n values to out. */
void packed_read(const Packed *packed, int64_t *out, size_t n);

extern const uint64_t packed_masks[9]; /* by width */
static inline int64_t packed_at(const Packed *packed, size_t i)
{
    if (!packed->width) return packed->base;
    uint64_t eight;
    memcpy(&eight, packed->deltas + i * packed->width, sizeof eight);
    return (int64_t)((uint64_t)packed->base + (eight & packed_masks[packed->width]));
}

#endif
