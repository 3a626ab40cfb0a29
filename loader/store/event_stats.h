// SPDX-License-Identifier: Apache-2.0
/* event_stats.h: walks the stats of an event or of an event metadata entry.
 *
 *   StatIter stats = stat_iter_of_event(&event);
 *   while (stat_iter_next(&stats, &stat)) ...
 *
 * Chosen stats of many events are read fast with a StatFilter. It looks the ids of the stats up
 * once for a plane, and stats that are not wanted are skipped without decoding.
 *
 *   StatFilter filter;
 *   enum KnownStat wanted[] = {...};
 *   stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
 *   event_reader_open_for(&reader, line, &filter.wanted, err);
 *   ...
 *   StatIter stats = stat_iter_of_event(&event);
 *   while (stat_iter_next_wanted(&stats, &filter, &known, &stat)) ...
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

/* ---- walks ---- */

/* A walk over the stats of one message, an XEvent or an XEventMetadata. It borrows the message's
 * bytes. {0} is a walk over none. */
typedef struct {
    const uint8_t *at, *end;
    uint32_t field; /* number of the field `stats` in this kind of message */
} StatIter;
enum { EVENT_STATS_FIELD = 4, META_STATS_FIELD = 5 };

/* Reads the next stat. False at the end. A damaged stat is left out. */
static inline bool stat_iter_next(StatIter *iter, Stat *stat)
{
    iter->at = stat_next(iter->at, iter->end, iter->field, stat);
    return iter->at != NULL;
}

/* Reads one field of any kind and moves after it. Returns whether it was a wanted stat, now in
 * *known and *stat. */
static inline bool stat_iter_field(StatIter *iter, const StatFilter *filter, unsigned *known,
                                   Stat *stat)
{
    Field f;
    uint64_t id;
    iter->at = wire_field(iter->at, iter->end, &f);
    if (!iter->at || f.number != iter->field || f.type != WIRE_BYTES) return false;
    const uint8_t *stat_end = f.bytes + f.value;
    if (f.value && *f.bytes == (1 << 3 | WIRE_VARINT) && wire_varint(f.bytes + 1, stat_end, &id) &&
        !stat_filter_known(filter, (int64_t)id))
        return false;
    return stat_parse(f.bytes, stat_end, stat) && (*known = stat_filter_known(filter, stat->id));
}

/* Reads the next stat that the filter wants. False at the end. Nearly all fields of nearly all
 * events are numbers, or short stats that start with a small id: those are skipped or read without
 * calls. */
static inline bool stat_iter_next_wanted(StatIter *iter, const StatFilter *filter, unsigned *known,
                                         Stat *stat)
{
    const uint8_t tag = (uint8_t)(iter->field << 3 | WIRE_BYTES), *end = iter->end;
    while (iter->at && iter->at < end) {
        const uint8_t *p = iter->at;
        if (end - p > 4 && *p == tag && p[1] > 2 && p[1] < 0x80 && p[1] <= end - p - 2 &&
            p[2] == (1 << 3 | WIRE_VARINT) && (p[3] < 0x80 || p[4] < 0x80)) {
            int64_t id = p[3] < 0x80 ? p[3] : (p[3] & 0x7f) | p[4] << 7;
            const uint8_t *value = p + (p[3] < 0x80 ? 4 : 5), *stat_end = p + 2 + p[1];
            *known = stat_filter_known(filter, id);
            if (!*known || stat_number(value, stat_end, id, stat)) {
                iter->at = stat_end;
                if (*known) return true;
                continue;
            }
        } else if ((*p & 0x87) == WIRE_VARINT && *p >> 3) {
            const uint8_t *after = wire_skip_varint(p + 1, end);
            if (after) {
                iter->at = after;
                continue;
            }
        }
        if (stat_iter_field(iter, filter, known, stat)) return true;
    }
    return false;
}

/* The bytes of one event metadata entry at a time. Starts as {0}, freed with meta_bytes_free(). */
typedef struct {
    const EventMeta *meta; /* the entry whose bytes are here; NULL: none */
    uint8_t *bytes;
    size_t n_bytes, capacity;
} MetaBytes;
/* Reads the bytes of an entry in the host's file, unless they are here already. There are none if
 * the file has no such entry. False with err set. */
bool meta_bytes_read(MetaBytes *bytes, const Host *host, const EventMeta *meta, ProfErr *err);
void meta_bytes_free(MetaBytes *bytes);
static inline StatIter stat_iter_of_meta(const MetaBytes *bytes)
{
    if (!bytes->n_bytes) return (StatIter){0};
    return (StatIter){bytes->bytes, bytes->bytes + bytes->n_bytes, META_STATS_FIELD};
}
/* Returns the entry's opaque bytes `metadata`; empty if it has none. */
Slice meta_metadata(const MetaBytes *bytes);

/* A walk over the ids of an entry's fused children. */
typedef struct {
    const uint8_t *at, *end, *packed, *packed_end;
} ChildIter;
static inline ChildIter child_iter_of_meta(const MetaBytes *bytes)
{
    if (!bytes->n_bytes) return (ChildIter){0};
    return (ChildIter){.at = bytes->bytes, .end = bytes->bytes + bytes->n_bytes};
}
/* Reads the next id. False at the end. */
bool child_iter_next(ChildIter *iter, int64_t *id);

/* Reads the plane's i-th stat. Its bytes are valid until the next use of the window. False without
 * err set if it is damaged. */
bool plane_stat(const Plane *plane, size_t i, Window *window, Stat *stat, ProfErr *err);

/* ---- a stat's value, as XProf's accessors return it: 0 for other types ---- */

static inline int64_t stat_int(const Stat *stat)
{
    return stat->type == TYPE_INT64 ? stat->integer : 0;
}
static inline bool stat_is_integer(const Stat *stat)
{
    return stat->type == TYPE_INT64 || stat->type == TYPE_UINT64;
}
static inline uint64_t stat_int_or_uint(const Stat *stat)
{
    return stat_is_integer(stat) ? stat->u64 : 0;
}
static inline double stat_double(const Stat *stat)
{
    return stat->type == TYPE_DOUBLE ? stat->number : 0;
}
/* Returns the text of a str or ref stat, valid as long as the message; empty for other types. */
static inline Slice stat_text(const Plane *plane, const Stat *stat)
{
    if (stat->type == TYPE_STR) return (Slice){(const char *)stat->bytes, stat->n_bytes};
    return stat->type == TYPE_REF ? slice_of(stat_ref_text(plane, stat->u64)) : (Slice){"", 0};
}

#endif
