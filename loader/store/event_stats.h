// SPDX-License-Identifier: Apache-2.0
/* event_stats.h: reads chosen stats of many events fast. The ids of the stats are looked up once
 * for a plane, and stats that are not wanted are skipped without decoding.
 *
 *   StatFilter filter;
 *   enum KnownStat wanted[] = {...};
 *   stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
 *   event_reader_open_for(&reader, line, &filter.wanted, err);
 *   ...
 *   const uint8_t *p = e.message, *end = p + e.n_bytes;
 *   while ((p = stat_filter_next(&filter, p, end, 4, &known, &stat))) ...
 *   stat_filter_close(&filter); */
#ifndef PROF_EVENT_STATS_H
#define PROF_EVENT_STATS_H

#include "../format/xspace.h"
#include "../base/tf_op.h"

/* The wanted stats of one plane. */
typedef struct {
    const Plane *plane;
    uint8_t *known_of_id; /* by stat id below n_ids: its enum KnownStat, 0 if it is not wanted */
    uint64_t n_ids;
    StatSet wanted;
    bool any;   /* the plane declares at least one of the wanted stats */
    bool large; /* a wanted stat has an id of n_ids or more */
} StatFilter;

/* Prepares a filter for the wanted stats of a plane. Close it in any case. */
int stat_filter_open(StatFilter *filter, const Plane *plane, const enum KnownStat *wanted,
                     size_t n_wanted, ProfErr *err);
void stat_filter_close(StatFilter *filter);
/* Returns whether a stat was asked for. */
static inline bool stat_filter_wants(const StatFilter *filter, unsigned known)
{
    return stat_set_has(&filter->wanted, known);
}
/* Returns the enum KnownStat of a stat id if it is wanted, else STAT_UNKNOWN. */
static inline unsigned stat_filter_known(const StatFilter *filter, int64_t id)
{
    if ((uint64_t)id < filter->n_ids) return filter->known_of_id[id];
    if (!filter->large) return STAT_UNKNOWN;
    const StatMeta *meta = stat_meta(filter->plane, id);
    return meta && stat_filter_wants(filter, meta->known) ? meta->known : STAT_UNKNOWN;
}

/* Reads one field of any kind. Returns the position after it, NULL at the end. *found says whether
 * it was a wanted stat, now in *known and *stat. */
static inline const uint8_t *stat_filter_field(const StatFilter *filter, const uint8_t *p,
                                               const uint8_t *end, uint32_t stat_field,
                                               unsigned *known, Stat *stat, bool *found)
{
    Field f;
    uint64_t id;
    p = wire_field(p, end, &f);
    *found = false;
    if (!p || f.number != stat_field || f.type != WIRE_BYTES) return p;
    const uint8_t *stat_end = f.bytes + f.value;
    if (f.value && *f.bytes == (1 << 3 | WIRE_VARINT) && wire_varint(f.bytes + 1, stat_end, &id) &&
        !stat_filter_known(filter, (int64_t)id))
        return p;
    *found = stat_parse(f.bytes, stat_end, stat) && (*known = stat_filter_known(filter, stat->id));
    return p;
}

/* Reads the next wanted stat of an XEvent (stat_field 4) or XEventMetadata (5). Returns the
 * position after it, NULL at the end. Nearly all fields of nearly all events are numbers, or short
 * stats that start with a small id: those are skipped or read without calls. */
static inline const uint8_t *stat_filter_next(const StatFilter *filter, const uint8_t *p,
                                              const uint8_t *end, uint32_t stat_field,
                                              unsigned *known, Stat *stat)
{
    const uint8_t tag = (uint8_t)(stat_field << 3 | WIRE_BYTES);
    while (p && p < end) {
        if (end - p > 4 && *p == tag && p[1] > 2 && p[1] < 0x80 && p[1] <= end - p - 2 &&
            p[2] == (1 << 3 | WIRE_VARINT) && (p[3] < 0x80 || p[4] < 0x80)) {
            int64_t id = p[3] < 0x80 ? p[3] : (p[3] & 0x7f) | p[4] << 7;
            const uint8_t *value = p + (p[3] < 0x80 ? 4 : 5), *stat_end = p + 2 + p[1];
            if (!(*known = stat_filter_known(filter, id))) {
                p = stat_end;
                continue;
            }
            if (stat_number(value, stat_end, id, stat)) return stat_end;
        } else if ((*p & 0x87) == WIRE_VARINT && *p >> 3) {
            const uint8_t *behind = wire_skip_varint(p + 1, end);
            if (behind) {
                p = behind;
                continue;
            }
        }
        bool found;
        p = stat_filter_field(filter, p, end, stat_field, known, stat, &found);
        if (found) return p;
    }
    return NULL;
}

/* ---- a stat's value as XProf's accessors return it: 0 for other types ---- */

static inline int64_t stat_int(const Stat *stat)
{
    return stat->type == TYPE_INT64 ? stat->integer : 0;
}
static inline uint64_t stat_int_or_uint(const Stat *stat)
{
    return stat->type == TYPE_INT64 || stat->type == TYPE_UINT64 ? stat->natural : 0;
}
static inline double stat_double(const Stat *stat)
{
    return stat->type == TYPE_DOUBLE ? stat->number : 0;
}
/* Returns the text of a str or ref stat, valid as long as the message; empty for other types. */
static inline Slice stat_text(const Plane *plane, const Stat *stat)
{
    if (stat->type == TYPE_STR) return (Slice){(const char *)stat->bytes, stat->n_bytes};
    return stat->type == TYPE_REF ? slice_of(stat_ref_text(plane, stat->natural)) : (Slice){"", 0};
}

#endif
