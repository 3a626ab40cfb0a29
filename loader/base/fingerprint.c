// SPDX-License-Identifier: Apache-2.0
/* fingerprint.c: Fingerprint64 of FarmHash; see fingerprint.h. One formula for each range of
 * lengths; all numbers are little-endian. */
#include "fingerprint.h"

#define K0 0xc3a5c85c97cb3127u
#define K1 0xb492b66fbe98f273u
#define K2 0x9ae16a3b2f90404fu

static uint64_t word64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint64_t word32(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint64_t rotate(uint64_t x, int n) { return x >> n | x << (64 - n); }
static uint64_t shift_mix(uint64_t x) { return x ^ x >> 47; }

static uint64_t join(uint64_t u, uint64_t v, uint64_t factor)
{
    uint64_t a = shift_mix((u ^ v) * factor);
    return shift_mix((v ^ a) * factor) * factor;
}

static uint64_t up_to_16(const uint8_t *s, size_t n)
{
    uint64_t factor = K2 + n * 2;
    if (n >= 8) {
        uint64_t a = word64(s) + K2, b = word64(s + n - 8);
        return join(rotate(b, 37) * factor + a, (rotate(a, 25) + b) * factor, factor);
    }
    if (n >= 4) return join(n + (word32(s) << 3), word32(s + n - 4), factor);
    if (!n) return K2;
    uint64_t y = s[0] + ((uint64_t)s[n >> 1] << 8), z = n + ((uint64_t)s[n - 1] << 2);
    return shift_mix(y * K2 ^ z * K0) * K2;
}

static uint64_t up_to_32(const uint8_t *s, size_t n)
{
    uint64_t factor = K2 + n * 2, a = word64(s) * K1, b = word64(s + 8),
             c = word64(s + n - 8) * factor, d = word64(s + n - 16) * K2;
    return join(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + K2, 18) + c, factor);
}

static uint64_t up_to_64(const uint8_t *s, size_t n)
{
    uint64_t factor = K2 + n * 2, a = word64(s) * K2, b = word64(s + 8),
             c = word64(s + n - 8) * factor, d = word64(s + n - 16) * K2;
    uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d,
             z = join(y, a + rotate(b + K2, 18) + c, factor);
    uint64_t e = word64(s + 16) * factor, f = word64(s + 24), g = (y + word64(s + n - 32)) * factor,
             h = (z + word64(s + n - 24)) * factor;
    return join(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, factor);
}

typedef struct {
    uint64_t first, second;
} Pair;

static Pair mix_32(const uint8_t *s, uint64_t a, uint64_t b)
{
    a += word64(s);
    b = rotate(b + a + word64(s + 24), 21);
    uint64_t c = a;
    a += word64(s + 8) + word64(s + 16);
    return (Pair){a + word64(s + 24), b + rotate(a, 44) + c};
}

typedef struct {
    uint64_t x, y, z;
    Pair v, w;
} State;

/* Mixes in 64 bytes. `weight` is 1 except for the last bytes of a text. */
static void mix_64(State *t, const uint8_t *s, uint64_t factor, uint64_t weight)
{
    t->x = rotate(t->x + t->y + t->v.first + word64(s + 8), 37) * factor;
    t->y = rotate(t->y + t->v.second + word64(s + 48), 42) * factor;
    t->x ^= t->w.second * weight;
    t->y += t->v.first * weight + word64(s + 40);
    t->z = rotate(t->z + t->w.first, 33) * factor;
    t->v = mix_32(s, t->v.second * factor, t->x + t->w.first);
    t->w = mix_32(s + 32, t->z + t->w.second, t->y + word64(s + 16));
    uint64_t x = t->x;
    t->x = t->z, t->z = x;
}

uint64_t fingerprint64(const void *bytes, size_t n)
{
    const uint8_t *s = bytes;
    if (n <= 16) return up_to_16(s, n);
    if (n <= 32) return up_to_32(s, n);
    if (n <= 64) return up_to_64(s, n);
    const uint64_t seed = 81;
    State t = {.x = seed * K2 + word64(s), .y = seed * K1 + 113};
    t.z = shift_mix(t.y * K2 + 113) * K2;
    const uint8_t *end = s + (n - 1) / 64 * 64, *last = s + n - 64;
    for (; s < end; s += 64) mix_64(&t, s, K1, 1);
    uint64_t factor = K1 + ((t.z & 0xff) << 1);
    t.w.first += (n - 1) & 63;
    t.v.first += t.w.first;
    t.w.first += t.v.first;
    mix_64(&t, last, factor, 9);
    return join(join(t.v.first, t.w.first, factor) + shift_mix(t.y) * K0 + t.z,
                join(t.v.second, t.w.second, factor) + t.x, factor);
}
