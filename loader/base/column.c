// SPDX-License-Identifier: Apache-2.0
/* column.c: packing and unpacking; see column.h. */
#include "column.h"

const uint64_t packed_masks[9] = {0,
                                  0xff,
                                  0xffff,
                                  0xffffff,
                                  0xffffffff,
                                  0xffffffffff,
                                  0xffffffffffff,
                                  0xffffffffffffff,
                                  0xffffffffffffffff};

ValueRange values_range(const int64_t *values, size_t n)
{
    int64_t least = n ? values[0] : 0, most = least;
    for (size_t i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return (ValueRange){least, most};
}

uint8_t range_width(ValueRange range)
{
    uint64_t delta = (uint64_t)range.most - (uint64_t)range.least;
    uint8_t width = 0;
    while (delta > packed_masks[width]) width++;
    return width;
}

bool packed_make(Packed *packed, Arena *arena, const int64_t *values, size_t n)
{
    return packed_make_of(packed, arena, values, n, values_range(values, n));
}

bool packed_make_of(Packed *packed, Arena *arena, const int64_t *values, size_t n, ValueRange range)
{
    uint8_t width = range_width(range);
    if (!width) {
        *packed = (Packed){.base = range.least};
        return true;
    }
    uint8_t *deltas = arena_buffer(arena, (n - 1) * width + sizeof(uint64_t));
    if (!deltas) return false;
    /* Each store writes 8 bytes; the next one overwrites those beyond the width. */
    for (size_t i = 0; i < n; i++) {
        uint64_t delta = (uint64_t)values[i] - (uint64_t)range.least;
        memcpy(deltas + i * width, &delta, sizeof delta);
    }
    *packed = (Packed){.base = range.least, .deltas = deltas, .width = width};
    return true;
}

bool packed_make_bytes(Packed *packed, Arena *arena, const uint8_t *values, size_t n)
{
    *packed = (Packed){.base = n ? values[0] : 0};
    if (!n || !memcmp(values, values + 1, n - 1)) return true; /* all are equal */
    uint8_t *bytes = arena_buffer(arena, n - 1 + sizeof(uint64_t));
    if (!bytes) return false;
    memcpy(bytes, values, n);
    *packed = (Packed){.deltas = bytes, .width = 1};
    return true;
}

/* With a constant width the compiler emits plain loads. */
#define READ(width)                                                                                \
    for (size_t i = 0; i < n; i++) {                                                               \
        uint64_t eight;                                                                            \
        memcpy(&eight, deltas + i * (width), sizeof eight);                                        \
        out[i] = (int64_t)(base + (eight & packed_masks[width]));                                  \
    }

void packed_read(const Packed *packed, int64_t *out, size_t n)
{
    const uint8_t *deltas = packed->deltas;
    uint64_t base = (uint64_t)packed->base;
    switch (packed->width) {
    case 0:
        for (size_t i = 0; i < n; i++) out[i] = packed->base;
        break;
    case 1: READ(1) break;
    case 2: READ(2) break;
    case 3: READ(3) break;
    case 4: READ(4) break;
    case 5: READ(5) break;
    case 6: READ(6) break;
    case 7: READ(7) break;
    default: READ(8) break;
    }
}
