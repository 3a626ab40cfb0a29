// SPDX-License-Identifier: Apache-2.0
/*
 * walk: the yardstick for loading. A bare walk over the wire format of an XSpace, single thread,
 * over a fresh mmap for every round: every plane, line, event and stat is visited and every number
 * decoded, strings are skipped by length; nothing is stored. Only a reader that leaves stats for
 * later can do less. All numbers go into a checksum, so that nothing is optimised away.
 *
 *     walk FILE [ROUNDS]
 *     bytes=1065137808 events=12812912 stats=55375118 seconds=1.316851 gb_per_s=0.809
 * checksum=8f7a65d3d27bb11f
 *
 * The layout read (field numbers of xplane.proto):
 *
 *     XSpace  1 planes        XPlane  3 lines, 4 event_metadata, 5 stat_metadata, 6 stats
 *     XLine   4 events        XEvent  1 metadata_id, 2 offset_ps, 3 duration_ps, 4 stats
 *     XEventMetadata 5 stats  XStat   1 metadata_id, 2..7 the value
 *     the two metadata fields are maps: entries of 1 key, 2 value
 *
 * Every length is checked against what is left of the message around it; a damaged file ends the
 * walk with exit status 1.
 */
#define _POSIX_C_SOURCE 200809L
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

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct {
    const uint8_t *p, *end;
    bool bad;
} Span;

typedef struct {
    uint64_t events, stats, checksum;
    bool bad;
} Walk;

static uint64_t varint(Span *s)
{
    uint64_t v = 0;

    if (s->p < s->end && *s->p < 0x80) return *s->p++;
    for (int shift = 0; shift < 70 && s->p < s->end; shift += 7) {
        uint8_t b = *s->p++;
        v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
        if (b < 0x80) return v;
    }
    s->bad = true;
    s->p = s->end;
    return 0;
}

/* The next tag, or 0 at the end of the message (0 is no valid tag, and ends a damaged one too). */
static uint64_t tag(Span *s)
{
    uint64_t t;

    if (s->p >= s->end) return 0;
    t = varint(s);
    if (t >> 3 == 0) s->bad = true;
    return s->bad ? 0 : t;
}

static Span sub(Span *s)
{
    uint64_t n = varint(s);
    Span inner;

    if (n > (uint64_t)(s->end - s->p)) {
        s->bad = true;
        n = 0;
        s->p = s->end;
    }
    inner = (Span){s->p, s->p + n, false};
    s->p += n;
    return inner;
}

static uint64_t fixed(Span *s, size_t n)
{
    uint64_t v = 0;

    if ((size_t)(s->end - s->p) < n) {
        s->bad = true;
        s->p = s->end;
        return 0;
    }
    memcpy(&v, s->p, n);
    s->p += n;
    return v;
}

/* The number of a field whose meaning does not matter here; bytes count as their length. */
static uint64_t value(Span *s, uint64_t t)
{
    Span inner;

    switch (t & 7) {
    case VARINT: return varint(s);
    case FIXED64: return fixed(s, 8);
    case BYTES: inner = sub(s); return (uint64_t)(inner.end - inner.p);
    case FIXED32: return fixed(s, 4);
    }
    s->bad = true;
    s->p = s->end;
    return 0;
}

static void walk_stat(Walk *w, Span s)
{
    uint64_t t;

    while ((t = tag(&s))) w->checksum += value(&s, t);
    w->stats++;
    w->bad |= s.bad;
}

/* A message in which only one field holds stats: an event, event metadata. */
static void walk_holder(Walk *w, Span s, uint64_t stats_tag)
{
    uint64_t t;

    while ((t = tag(&s))) {
        if (t == stats_tag)
            walk_stat(w, sub(&s));
        else
            w->checksum += value(&s, t);
    }
    w->bad |= s.bad;
}

static void walk_line(Walk *w, Span s)
{
    uint64_t t;

    while ((t = tag(&s))) {
        if (t == (4 << 3 | BYTES)) {
            walk_holder(w, sub(&s), 4 << 3 | BYTES);
            w->events++;
        } else {
            w->checksum += value(&s, t);
        }
    }
    w->bad |= s.bad;
}

static void walk_map_entry(Walk *w, Span s)
{
    uint64_t t;

    while ((t = tag(&s))) {
        if (t == (2 << 3 | BYTES))
            walk_holder(w, sub(&s), 5 << 3 | BYTES);
        else
            w->checksum += value(&s, t);
    }
    w->bad |= s.bad;
}

static void walk_plane(Walk *w, Span s)
{
    uint64_t t;

    while ((t = tag(&s))) {
        switch (t) {
        case 3 << 3 | BYTES: walk_line(w, sub(&s)); break;
        case 4 << 3 | BYTES:
        case 5 << 3 | BYTES: walk_map_entry(w, sub(&s)); break;
        case 6 << 3 | BYTES: walk_stat(w, sub(&s)); break;
        default: w->checksum += value(&s, t);
        }
    }
    w->bad |= s.bad;
}

static Walk walk_space(Span s)
{
    Walk w = {0};
    uint64_t t;

    while ((t = tag(&s))) {
        if (t == (1 << 3 | BYTES))
            walk_plane(&w, sub(&s));
        else
            w.checksum += value(&s, t);
    }
    w.bad |= s.bad;
    return w;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int walk_file(const char *path)
{
    double begin = now(), seconds;
    uint8_t *map = NULL;
    size_t size;
    struct stat st;
    Walk w;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st)) {
        fprintf(stderr, "walk: %s: %s\n", path, strerror(errno));
        if (fd >= 0) close(fd);
        return 1;
    }
    size = (size_t)st.st_size;
    if (size) {
        map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED) {
            fprintf(stderr, "walk: %s: %s\n", path, strerror(errno));
            close(fd);
            return 1;
        }
    }
    close(fd);
    w = walk_space((Span){map, map + size, false});
    if (map) munmap(map, size);
    seconds = now() - begin;
    if (w.bad) {
        fprintf(stderr, "walk: %s: not an XSpace, or a damaged one\n", path);
        return 1;
    }
    printf("bytes=%zu events=%llu stats=%llu seconds=%.6f gb_per_s=%.3f checksum=%016llx\n", size,
           (unsigned long long)w.events, (unsigned long long)w.stats, seconds,
           (double)size / 1e9 / seconds, (unsigned long long)w.checksum);
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
