// SPDX-License-Identifier: Apache-2.0
/* stats_check.c: walks over all stats to find damaged ones; see stats_check.h. */
#include "stats_check.h"

#include "../base/parallel.h"
#include "events.h"

static void damaged(Host *host, const void *where, uint64_t offset, uint64_t n_bytes,
                    const char *what)
{
    host_issue_in_file(host, "error", "damaged_stat", offset, n_bytes, where,
                       "a stat of %s is not valid and was skipped; its other stats were read",
                       what);
}

/* Returns the end of a stat in its usual form: an id of one or two bytes, then one number or one
 * short text. NULL if the field at p has another form, which may still be valid. */
static inline const uint8_t *after_usual_stat(const uint8_t *p, const uint8_t *end, uint8_t tag)
{
    Stat stat;
    if (end - p < 6 || *p != tag || p[1] < 4 || p[1] >= 0x80 || p[1] > end - p - 2 ||
        p[2] != (1 << 3 | WIRE_VARINT) || (p[3] & p[4]) >= 0x80)
        return NULL;
    const uint8_t *value = p + 4 + (p[3] >> 7), *stat_end = p + 2 + p[1];
    if ((*value == (5 << 3 | WIRE_BYTES) || *value == (6 << 3 | WIRE_BYTES)) &&
        stat_end - value >= 2 && value[1] == stat_end - value - 2)
        return value[1] < 0x80 ? stat_end : NULL;
    return stat_number(value, stat_end, 0, &stat) ? stat_end : NULL;
}

/* Checks the stats of the message at `offset` of the file. */
static void check_message(Host *host, const void *where, const uint8_t *message, size_t n_bytes,
                          uint64_t offset, uint32_t stat_field, const char *what)
{
    const uint8_t *end = message + n_bytes;
    const uint8_t tag = (uint8_t)(stat_field << 3 | WIRE_BYTES);
    Field f;
    Stat stat;
    for (const uint8_t *p = message, *next; p < end; p = next) {
        if ((*p & 0x87) == WIRE_VARINT && *p >> 3) { /* a number, with a tag of one byte */
            if (!(next = wire_skip_varint(p + 1, end))) break;
            continue;
        }
        if ((next = after_usual_stat(p, end, tag))) continue;
        if (!(next = wire_field(p, end, &f))) break;
        if (f.number == stat_field && f.type == WIRE_BYTES &&
            !stat_parse(f.bytes, f.bytes + f.value, &stat))
            damaged(host, where, offset + (uint64_t)(p - message), f.value, what);
    }
}

static void check_line(Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, EVENT_STATS, err);
    while (event_reader_next(&reader, &e)) {
        uint64_t header = 2; /* tag and length before the message */
        for (size_t n = e.stored.n_bytes; n >= 0x80; n >>= 7) header++;
        check_message(line->plane->host, line, e.stored.message, e.stored.n_bytes,
                      e.stored.position + header, EVENT_STATS_FIELD, "an event");
    }
    event_reader_close(&reader);
}

static void check_plane(Plane *plane, ProfErr *err)
{
    Host *host = plane->host;
    Window window = {.file = &host->file};
    size_t n;
    Stat stat;
    for (size_t i = 0; i < plane->n_declared && !err->code; i++) {
        const EventMeta *meta = &plane->event_metas[i];
        const uint8_t *p = meta->has_stats ? window_at(&window, meta->span.offset,
                                                       (size_t)meta->span.n_bytes, &n, err)
                                           : NULL;
        if (p)
            check_message(host, plane->event_metas, p, (size_t)meta->span.n_bytes,
                          meta->span.offset, META_STATS_FIELD, "an event metadata entry");
    }
    for (size_t i = 0; i < plane->n_stats && !err->code; i++) {
        const uint8_t *p = event_message(&window, plane->stat_offsets[i], &n, err);
        if (p && !stat_parse(p, p + n, &stat))
            damaged(host, plane, plane->stat_offsets[i], n, "a plane");
    }
    window_free(&window);
}

/* Checks a line or, after the lines, a plane. */
static void check_part(void *context, size_t i, ProfErr *err)
{
    const Run *run = context;
    if (i < run->n_lines) {
        check_line(run->lines[i], err);
        return;
    }
    i -= run->n_lines;
    for (size_t h = 0; h < run->n_hosts; i -= run->hosts[h++].n_planes)
        if (i < run->hosts[h].n_planes) {
            check_plane(&run->hosts[h].planes[i], err);
            return;
        }
}

static void *check(Run *run, Host *only, ProfErr *err)
{
    (void)only;
    enum { SMALL = 4 << 20 };
    size_t n_workers = run->size_bytes < SMALL ? 1 : run->n_workers;
    return parallel_for(n_workers, run->n_lines + run->n_planes, check_part, run, err) ? NULL : run;
}

static void nothing(void *result) { (void)result; }

bool run_check_stats(Run *run, ProfErr *err)
{
    static const Analysis stats = {check, nothing, NEEDS_ALL_HOSTS};
    return run_analysis(run, NULL, &stats, err) != NULL;
}
