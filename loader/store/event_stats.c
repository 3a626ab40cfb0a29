// SPDX-License-Identifier: Apache-2.0
/* event_stats.c: looks up the stat ids that a filter wants, and reads the bytes of event metadata;
 * see event_stats.h. */
#include "event_stats.h"

int stat_filter_open(StatFilter *filter, const Plane *plane, const enum KnownStat *wanted,
                     size_t n_wanted, ProfErr *err)
{
    enum { MOST_IDS = 1 << 16 };
    *filter = (StatFilter){.plane = plane};
    for (size_t i = 0; i < n_wanted; i++) stat_set_add(&filter->wanted, wanted[i]);
    for (size_t i = 0; i < plane->n_known_metas; i++) {
        const StatMeta *meta = &plane->stat_metas[plane->known_metas[i]];
        if (!stat_filter_wants(filter, meta->known)) continue;
        filter->any = true;
        uint64_t id = (uint64_t)meta->id;
        if (id >= MOST_IDS)
            filter->large = true;
        else if (id >= filter->n_ids)
            filter->n_ids = id + 1;
    }
    filter->known_of_id = prof_alloc((size_t)filter->n_ids);
    if (!filter->known_of_id) return prof_nomem(err);
    for (size_t i = 0; i < plane->n_known_metas; i++) {
        const StatMeta *meta = &plane->stat_metas[plane->known_metas[i]];
        if ((uint64_t)meta->id < filter->n_ids && stat_filter_wants(filter, meta->known))
            filter->known_of_id[meta->id] = meta->known;
    }
    return PROF_OK;
}

void stat_filter_close(StatFilter *filter)
{
    prof_free(filter->known_of_id);
    filter->known_of_id = NULL;
}

bool plane_stat(const Plane *plane, size_t i, Window *window, Stat *stat, ProfErr *err)
{
    size_t n;
    const uint8_t *p = event_message(window, plane->stat_offsets[i], &n, err);
    return p && stat_parse(p, p + n, stat);
}

bool meta_bytes_read(MetaBytes *bytes, const Host *host, const EventMeta *meta, ProfErr *err)
{
    if (bytes->meta == meta) return true;
    size_t n = (size_t)meta->span.n_bytes;
    bytes->meta = NULL, bytes->n_bytes = 0;
    if (n > bytes->capacity) {
        meta_bytes_free(bytes);
        if (!(bytes->bytes = prof_buffer(n))) {
            prof_nomem(err);
            return false;
        }
        bytes->capacity = n;
    }
    if (n && file_read(&host->file, meta->span.offset, bytes->bytes, n, err)) return false;
    bytes->meta = meta, bytes->n_bytes = n;
    return true;
}

void meta_bytes_free(MetaBytes *bytes)
{
    prof_free(bytes->bytes);
    *bytes = (MetaBytes){0};
}

Slice meta_metadata(const MetaBytes *bytes)
{
    const uint8_t *p = bytes->bytes, *end = bytes->n_bytes ? p + bytes->n_bytes : p;
    Field f;
    Slice found = {"", 0};
    while (p && p < end && (p = wire_field(p, end, &f)))
        if (f.number == 3 && f.type == WIRE_BYTES)
            found = (Slice){(const char *)f.bytes, (size_t)f.value};
    return found;
}

bool child_iter_next(ChildIter *iter, int64_t *id)
{
    Field f;
    uint64_t value;
    for (;;) {
        if (iter->packed && iter->packed < iter->packed_end) {
            iter->packed = wire_varint(iter->packed, iter->packed_end, &value);
            if (iter->packed) {
                *id = (int64_t)value;
                return true;
            }
        }
        if (!iter->at || iter->at >= iter->end) return false;
        iter->at = wire_field(iter->at, iter->end, &f);
        if (!iter->at || f.number != 6) continue;
        if (f.type == WIRE_VARINT) {
            *id = (int64_t)f.value;
            return true;
        }
        if (f.type == WIRE_BYTES) iter->packed = f.bytes, iter->packed_end = f.bytes + f.value;
    }
}
