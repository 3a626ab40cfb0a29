/* column.c: packing and unpacking; see column.h. */
#include "column.h"

uint8_t packed_width(const int64_t *values, size_t n, int64_t *base)
{
    int64_t least = n ? values[0] : 0, most = least;
    for (size_t i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    *base = least;
    uint64_t range = (uint64_t)most - (uint64_t)least;
    return range == 0 ? 0 : range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

#define STORE(type)                                                                                                                                            \
    {                                                                                                                                                          \
        type *to = deltas;                                                                                                                                     \
        for (size_t i = 0; i < n; i++) to[i] = (type)((uint64_t)values[i] - (uint64_t)base);                                                                   \
    }
#define LOAD(type)                                                                                                                                             \
    {                                                                                                                                                          \
        const type *from = packed->deltas;                                                                                                                     \
        for (size_t i = 0; i < n; i++) out[i] = (int64_t)((uint64_t)packed->base + from[i]);                                                                   \
    }

bool packed_make(Packed *packed, Arena *arena, const int64_t *values, size_t n)
{
    int64_t base;
    uint8_t width = packed_width(values, n, &base);
    void *deltas = NULL;
    if (width) {
        deltas = arena_alloc(arena, n * width);
        if (!deltas) return false;
    }
    switch (width) {
    case 1: STORE(uint8_t) break;
    case 2: STORE(uint16_t) break;
    case 4: STORE(uint32_t) break;
    case 8: STORE(uint64_t) break;
    default: break;
    }
    *packed = (Packed){.base = base, .deltas = deltas, .width = width};
    return true;
}

void packed_read(const Packed *packed, int64_t *out, size_t n)
{
    switch (packed->width) {
    case 0:
        for (size_t i = 0; i < n; i++) out[i] = packed->base;
        break;
    case 1: LOAD(uint8_t) break;
    case 2: LOAD(uint16_t) break;
    case 4: LOAD(uint32_t) break;
    default: LOAD(uint64_t) break;
    }
}
