// SPDX-License-Identifier: Apache-2.0
/* wire.c: the wire cursor at the borders of what protobuf's encoding allows. */
#include "../../loader/format/wire.h"
#include "../../loader/format/xspace.h"
#include "check.h"

/* The bytes are copied to a block of their own size, so that the sanitizer sees one read too many.
 */
static uint8_t *exactly(const char *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy) abort();
    return memcpy(copy, bytes, n);
}

static void varint(const char *bytes, size_t n, size_t taken, uint64_t value, const char *what)
{
    uint8_t *p = exactly(bytes, n);
    uint64_t got = 0;
    const uint8_t *behind = wire_varint(p, p + n, &got);
    check(taken ? behind == p + taken && got == value : behind == NULL, what);
    free(p);
}

/* All ways to read a varint agree: of n bytes whose last is `last`, with others before and behind.
 */
static void varint_of(size_t n, uint8_t last)
{
    enum { BEFORE = 4 };
    bool whole = last < 0x80 && n <= 10;
    uint64_t want = 0;
    for (size_t behind = 0; behind < 10; behind++) {
        uint8_t *bytes = malloc(BEFORE + n + behind);
        if (!bytes) abort();
        memset(bytes, 0xff, BEFORE), memset(bytes + BEFORE + n, 0x80, behind);
        for (size_t i = 0; i < n; i++)
            bytes[BEFORE + i] = i + 1 < n ? (uint8_t)(0x80 | (7 * i + 3)) : last;
        const uint8_t *p = bytes + BEFORE, *end = p + n + behind;
        uint64_t got[3] = {0};
        want = 0;
        for (size_t i = 0; i < n && i < 10; i++) want |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        bool good = whole ? wire_varint(p, end, &got[0]) == p + n && got[0] == want
                          : !wire_varint(p, end, &got[0]);
        good &= whole ? wire_wide_varint(p, end, &got[1]) == p + n && got[1] == want
                      : !wire_wide_varint(p, end, &got[1]);
        good &= whole ? wire_skip_varint(p, end) == p + n : !wire_skip_varint(p, end);
        good &= wire_varint_fills(p, end, &got[2]) == (whole && !behind) &&
                (!whole || behind || got[2] == want);
        check(good, "a varint, read in four ways");
        free(bytes);
    }
}

static void field(const char *bytes, size_t n, size_t taken, uint32_t number, int type,
                  uint64_t value, const char *what)
{
    uint8_t *p = exactly(bytes, n);
    Field f = {0};
    const uint8_t *behind = wire_field(p, p + n, &f);
    bool good = taken ? behind == p + taken && f.number == number && f.type == type &&
                            (type == WIRE_GROUP || f.value == value)
                      : behind == NULL;
    if (taken && good && type == WIRE_BYTES) good = f.bytes == behind - value;
    check(good, what);
    free(p);
}

static void groups(int depth, bool good, const char *what)
{
    char *bytes = malloc(2 * (size_t)depth);
    if (!bytes) abort();
    memset(bytes, 0x0b, (size_t)depth), memset(bytes + depth, 0x0c, (size_t)depth);
    field(bytes, 2 * (size_t)depth, good ? 2 * (size_t)depth : 0, 1, WIRE_GROUP, 0, what);
    free(bytes);
}

static void a_stat(const char *bytes, size_t n, bool good, enum StatType type, int64_t id,
                   uint64_t value, const char *what)
{
    uint8_t *p = exactly(bytes, n);
    Stat s;
    bool parsed = stat_parse(p, p + n, &s);
    check(parsed == good && (!good || (s.type == type && s.id == id &&
                                       (type == TYPE_STR || type == TYPE_BYTES ? s.n_bytes == value
                                                                               : s.u64 == value))),
          what);
    free(p);
}

static void event(const char *bytes, size_t n, bool good, Event want, const char *what)
{
    uint8_t *p = exactly(bytes, n);
    Event e;
    bool parsed = event_parse(p, p + n, &e);
    check(parsed == good &&
              (!good || (e.metadata_id == want.metadata_id && e.offset_ps == want.offset_ps &&
                         e.duration_ps == want.duration_ps &&
                         e.n_occurrences == want.n_occurrences && e.aggregated == want.aggregated)),
          what);
    free(p);
}

#define BYTES(text) text, sizeof text - 1
int main(void)
{
    varint(BYTES("\x00"), 1, 0, "varint 0");
    varint(BYTES("\x7f\xff"), 1, 127, "one byte");
    varint(BYTES("\x96\x01"), 2, 150, "the documentation's 150");
    varint(BYTES("\x80\x00"), 2, 0, "a longer way to write 0");
    varint(BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 10, UINT64_MAX, "ten bytes");
    varint(BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80\x01"), 0, 0, "eleven bytes");
    varint(BYTES("\x80"), 0, 0, "cut off");
    varint(BYTES(""), 0, 0, "nothing");

    for (size_t n = 1; n <= 11; n++) varint_of(n, 0x01), varint_of(n, 0x00), varint_of(n, 0x81);

    field(BYTES("\x08\x96\x01"), 3, 1, WIRE_VARINT, 150, "varint field");
    field(BYTES("\x09\x01\x02\x03\x04\x05\x06\x07\x08"), 9, 1, WIRE_FIXED64, 0x0807060504030201u,
          "eight bytes, little end first");
    field(BYTES("\x09\x01\x02\x03\x04\x05\x06\x07"), 0, 0, 0, 0, "seven of eight bytes");
    field(BYTES("\x0d\x01\x02\x03\x04"), 5, 1, WIRE_FIXED32, 0x04030201u, "four bytes");
    field(BYTES("\x0d\x01\x02\x03"), 0, 0, 0, 0, "three of four bytes");
    field(BYTES("\x12\x07testing"), 9, 2, WIRE_BYTES, 7, "the documentation's testing");
    field(BYTES("\x12\x08testing"), 0, 0, 0, 0, "a length beyond the end");
    field(BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, 0, 0, 0,
          "a length of 2^64 - 1");
    field(BYTES("\x12\x00"), 2, 2, WIRE_BYTES, 0, "no bytes");
    field(BYTES("\x00\x00"), 0, 0, 0, 0, "field number 0");
    field(BYTES("\x07\x00"), 0, 0, 0, 0, "wire type 7");
    field(BYTES("\x0e\x00"), 0, 0, 0, 0, "wire type 6");
    field(BYTES("\xf8\xff\xff\xff\x0f\x05"), 6, (1u << 29) - 1, WIRE_VARINT, 5,
          "the largest field number");
    field(BYTES("\x88\x80\x80\x80\x10\x00"), 0, 0, 0, 0, "a tag beyond 32 bits");
    field(BYTES("\x0b\x10\x05\x0c"), 4, 1, WIRE_GROUP, 0, "a group");
    field(BYTES("\x0b\x14"), 0, 0, 0, 0, "a group that another ends");
    field(BYTES("\x0b\x10\x05"), 0, 0, 0, 0, "a group without end");
    field(BYTES("\x0c"), 0, 0, 0, 0, "an end without a group");
    groups(100, true, "a hundred groups deep");
    groups(101, false, "a hundred and one groups deep");
    groups(200000, false, "groups that would overflow the stack");

    a_stat(BYTES("\x08\x03\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true, TYPE_INT64, 3,
           UINT64_MAX, "int64 stat -1");
    a_stat(BYTES("\x08\x03\x18\x05"), true, TYPE_UINT64, 3, 5, "uint64 stat");
    a_stat(BYTES("\x08\x03\x38\x05"), true, TYPE_REF, 3, 5, "ref stat");
    a_stat(BYTES("\x08\x03\x2a\x02hi"), true, TYPE_STR, 3, 2, "str stat");
    a_stat(BYTES("\x08\x03\x32\x01\xff"), true, TYPE_BYTES, 3, 1, "bytes stat");
    a_stat(BYTES("\x11\x00\x00\x00\x00\x00\x00\xf0\x3f\x08\x04"), true, TYPE_DOUBLE, 4,
           0x3ff0000000000000u, "double stat, its id behind");
    a_stat(BYTES("\x08\x03\x18\x05\x20\x06"), true, TYPE_INT64, 3, 6,
           "the last value of a oneof counts");
    a_stat(BYTES("\x08\x03"), true, TYPE_NONE, 3, 0, "no value");
    a_stat(BYTES("\x08\x03\x2a\x05hi"), false, TYPE_NONE, 0, 0, "a text beyond the stat");

    event(BYTES(""), true, (Event){0}, "an empty event");
    event(BYTES("\x08\x07\x10\x64\x18\x0a"), true,
          (Event){.metadata_id = 7, .offset_ps = 100, .duration_ps = 10}, "an event");
    event(BYTES("\x18\x0a\x22\x02\x08\x01\x08\x07\x10\x64"), true,
          (Event){.metadata_id = 7, .offset_ps = 100, .duration_ps = 10},
          "in another order, with a stat");
    event(BYTES("\x08\x07\x28\x03"), true,
          (Event){.metadata_id = 7, .n_occurrences = 3, .aggregated = true}, "aggregated");
    event(BYTES("\x10\x64\x28\x03"), true, (Event){.n_occurrences = 3, .aggregated = true},
          "the last of offset and occurrences counts");
    event(BYTES("\x28\x03\x10\x64"), true, (Event){.offset_ps = 100}, "the other way round");
    event(BYTES("\x10\x01\x10\x02"), true, (Event){.offset_ps = 2},
          "the last of equal fields counts");
    event(BYTES("\xaa\x06\x01x\x08\x01"), true, (Event){.metadata_id = 1}, "an unknown field");
    event(BYTES("\x22\x05\x08"), false, (Event){0}, "a stat beyond the event");
    return finish();
}
