// SPDX-License-Identifier: Apache-2.0
/*
 * walk: the yardstick for loading. A bare walk over the wire format of an XSpace, single thread,
 * over a fresh mmap for every round: every plane, line, event and stat is visited and every number
 * decoded, strings are skipped by length; nothing is stored. Only a reader that leaves stats for
 * later can do less. All numbers go into a checksum, so that nothing is optimised away.
 *
 *     walk FILE [ROUNDS]
 *     bytes=1065137808 events=12812912 stats=55375118 seconds=S gb_per_s=G checksum=...
 *
 * The layout read (field numbers of xplane.proto):
 *
 *     XSpace  1 planes        XPlane  3 lines, 4 event_metadata, 5 stat_metadata, 6 stats
 *     XLine   4 events        XEvent  1 metadata_id, 2 offset_ps, 3 duration_ps, 4 stats
 *     XEventMetadata 5 stats  XStat   1 metadata_id, 2..7 the value
 *     the two metadata fields are maps: entries of 1 key, 2 value
 *
 * Every length is checked against what is left of the message around it; a damaged file ends the
 * walk with exit status 1. It is fast because a page of zeros follows the file, so that a number is
 * read before it is checked; because a number of one byte needs no decoding, and longer ones no
 * loop; and because the pointer and the sums stay in registers.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, SPARE = 1 << 16 };
#define TAG(number, type) ((number) << 3 | (type))
#define INLINE static inline __attribute__((always_inline))

typedef const uint8_t *Bytes;

static uint64_t n_events, n_stats, checksum;
static bool bad;

/* ---- numbers ---- */

/* The seven bits of each of up to eight bytes, put together. */
INLINE uint64_t join(uint64_t x)
{
    x = (x & 0x7f007f007f007f00) >> 1 | (x & 0x007f007f007f007f);
    x = (x & 0x3fff00003fff0000) >> 2 | (x & 0x00003fff00003fff);
    return (x & 0x0fffffff00000000) >> 4 | (x & 0x000000000fffffff);
}

static Bytes long_varint(Bytes p, uint64_t *v)
{
    uint64_t eight;
    memcpy(&eight, p, 8);
    *v = join(eight) | (uint64_t)(p[8] & 0x7f) << 56;
    if (p[8] < 0x80) return p + 9;
    *v |= (uint64_t)p[9] << 63;
    bad |= p[9] >= 0x80;
    return p + 10;
}

/* Decodes a varint and returns its end, which can be after the end of the message: see ends(). */
INLINE Bytes varint(Bytes p, uint64_t *v)
{
    uint64_t eight, last;
    if (*p < 0x80) {
        *v = *p;
        return p + 1;
    }
    memcpy(&eight, p, 8);
    last = ~eight & 0x8080808080808080;
    if (!last) return long_varint(p, v);
    *v = join(eight & (last ^ (last - 1)));
    return p + (__builtin_ctzll(last) >> 3) + 1;
}

/* Reads the length at *p, moves *p to the first of the bytes, and returns their end, which is at
 * most `end`. */
INLINE Bytes bytes_end(Bytes *p, Bytes end)
{
    uint64_t n;
    *p = varint(*p, &n);
    if (*p <= end && n <= (uint64_t)(end - *p)) return *p + n;
    bad = true;
    return *p = end;
}

/* Reads the value of a field that is no message, and returns its end. The value of bytes is their
 * length. */
INLINE Bytes value(Bytes p, Bytes end, uint64_t tag, uint64_t *v)
{
    uint32_t four;
    Bytes to;
    switch (tag & 7) {
    case VARINT: return varint(p, v);
    case FIXED64: memcpy(v, p, 8); return p + 8;
    case BYTES: to = bytes_end(&p, end), *v = (uint64_t)(to - p); return to;
    case FIXED32: memcpy(&four, p, 4), *v = four; return p + 4;
    }
    bad = true;
    *v = 0;
    return end;
}

/* A message has to end where its last field does. */
INLINE void ends(Bytes p, Bytes end) { bad |= p != end; }

/* Reads a tag, of which 0 is none. */
INLINE Bytes tag_at(Bytes p, uint64_t *tag)
{
    p = varint(p, tag);
    bad |= *tag >> 3 == 0;
    return p;
}

/* ---- messages ---- */

/* Adds the value of a field that is no message to the checksum, and returns the field's end. */
INLINE Bytes other_field(Bytes p, Bytes end, uint64_t *sum)
{
    uint64_t tag, v;
    p = tag_at(p, &tag);
    p = value(p, end, tag, &v);
    *sum += v;
    return p;
}

/* Most stats are an id of one byte and a number. */
INLINE uint64_t walk_stat(Bytes p, Bytes end)
{
    uint64_t v, sum = 0;
    if (end - p >= 4 && *p == TAG(1, VARINT) && p[1] < 0x80 &&
        (p[2] == TAG(3, VARINT) || p[2] == TAG(4, VARINT) || p[2] == TAG(7, VARINT))) {
        sum = p[1];
        p = varint(p + 3, &v), sum += v;
    }
    while (p < end) p = other_field(p, end, &sum);
    ends(p, end);
    return sum;
}

/* A message in which only one field holds stats: an event, event metadata. */
INLINE void walk_holder(Bytes p, Bytes end, unsigned stats_tag)
{
    uint64_t v, sum = 0, stats = 0;
    while (p < end) {
        if (*p == stats_tag) {
            Bytes to = (p++, bytes_end(&p, end));
            sum += walk_stat(p, to), stats++;
            p = to;
        } else if (*p == TAG(2, VARINT) || *p == TAG(3, VARINT)) {
            p = varint(p + 1, &v), sum += v;
        } else {
            p = other_field(p, end, &sum);
        }
    }
    ends(p, end);
    checksum += sum, n_stats += stats;
}

/* Messages of a field of another; its other fields are numbers and text. */
#define WALK_FIELDS(p, end, CASES)                                                                 \
    do {                                                                                           \
        uint64_t tag, v;                                                                           \
        Bytes to;                                                                                  \
        while (p < end) {                                                                          \
            p = tag_at(p, &tag);                                                                   \
            switch (tag) {                                                                         \
                CASES                                                                              \
            default: p = value(p, end, tag, &v), checksum += v; continue;                          \
            }                                                                                      \
            p = to;                                                                                \
        }                                                                                          \
        ends(p, end);                                                                              \
    } while (0)
#define CASE(number, work)                                                                         \
    case TAG(number, BYTES): to = bytes_end(&p, end), work; break;

static void walk_line(Bytes p, Bytes end)
{
    WALK_FIELDS(p, end, CASE(4, (walk_holder(p, to, TAG(4, BYTES)), n_events++)));
}

static void walk_map_entry(Bytes p, Bytes end)
{
    WALK_FIELDS(p, end, CASE(2, walk_holder(p, to, TAG(5, BYTES))));
}

static void walk_plane(Bytes p, Bytes end)
{
    WALK_FIELDS(p, end,
                CASE(3, walk_line(p, to)) CASE(4, walk_map_entry(p, to))
                    CASE(5, walk_map_entry(p, to))
                        CASE(6, (checksum += walk_stat(p, to), n_stats++)));
}

static void walk_space(Bytes p, Bytes end) { WALK_FIELDS(p, end, CASE(1, walk_plane(p, to))); }

/* ---- files ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Maps the file, followed by zeros. Returns NULL with errno set on failure. */
static uint8_t *map_file(const char *path, size_t *size)
{
    struct stat st;
    uint8_t *map = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    if (!fstat(fd, &st)) {
        *size = (size_t)st.st_size;
        map = mmap(NULL, *size + SPARE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) map = NULL;
    }
    if (map && *size && mmap(map, *size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        map = NULL;
    close(fd);
    return map;
}

static int walk_file(const char *path)
{
    double begin = now(), seconds;
    size_t size = 0;
    uint8_t *map = map_file(path, &size);
    if (!map) {
        fprintf(stderr, "walk: %s: %s\n", path, strerror(errno));
        return 1;
    }
    n_events = n_stats = checksum = 0, bad = false;
    walk_space(map, map + size);
    munmap(map, size + SPARE);
    seconds = now() - begin;
    if (bad) {
        fprintf(stderr, "walk: %s: not an XSpace, or a damaged one\n", path);
        return 1;
    }
    printf("bytes=%zu events=%llu stats=%llu seconds=%.6f gb_per_s=%.3f checksum=%016llx\n", size,
           (unsigned long long)n_events, (unsigned long long)n_stats, seconds,
           (double)size / 1e9 / seconds, (unsigned long long)checksum);
    return 0;
}

int main(int argc, char **argv)
{
    int rc = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: walk FILE [ROUNDS]\n");
        return 2;
    }
    for (long n = argc > 2 ? atol(argv[2]) : 1; n > 0 && !rc; n--) rc = walk_file(argv[1]);
    return rc;
}
