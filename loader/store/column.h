/* column.h: a column of integers of one chunk, packed to the width it needs.
 *
 * A value is base + an unsigned delta of 0, 1, 2, 4 or 8 bytes (0: all values are equal and no byte is stored). Sums
 * wrap, so every int64 fits. Times of a chunk lie close together: eight bytes of int64 become two to four. */
#ifndef PROF_COLUMN_H
#define PROF_COLUMN_H

#include "../base.h"

typedef struct {
    int64_t base;
    const void *deltas;
    uint8_t width; /* bytes a delta: 0, 1, 2, 4, 8 */
} Packed;

/* The width that n values need. */
uint8_t packed_width(const int64_t *values, size_t n, int64_t *base);
/* Packs n values into the arena. False when there is no memory. */
bool packed_make(Packed *packed, Arena *arena, const int64_t *values, size_t n);
/* Writes the first n values to out. */
void packed_read(const Packed *packed, int64_t *out, size_t n);

static inline int64_t packed_at(const Packed *packed, size_t i)
{
    uint64_t delta;
    switch (packed->width) {
    case 0: delta = 0; break;
    case 1: delta = ((const uint8_t *)packed->deltas)[i]; break;
    case 2: delta = ((const uint16_t *)packed->deltas)[i]; break;
    case 4: delta = ((const uint32_t *)packed->deltas)[i]; break;
    default: delta = ((const uint64_t *)packed->deltas)[i]; break;
    }
    return (int64_t)((uint64_t)packed->base + delta);
}

#endif
