// SPDX-License-Identifier: Apache-2.0
/* xspace.h: reading XSpace, in two passes.
 *
 * The first reads the structure of a host's file: planes, metadata, and where lines lie, without touching an event. The
 * second reads the events of one line into packed chunks; lines are independent of each other, so they run in parallel.
 * Stats stay in the file and are decoded on demand. */
#ifndef PROF_XSPACE_H
#define PROF_XSPACE_H

#include "../run.h"
#include "wire.h"

/* Reads the structure. Damage becomes issues; an error is set when nothing can be read or memory ends. */
int xspace_read_structure(Host *host, ProfErr *err);
/* Reads a line's fields and events, taking memory from `arena`. Ends early, with the line half read, when *stop is set;
 * adds what it has read to *bytes_done. */
int xspace_read_line(Line *line, Window *window, Arena *arena, const atomic_bool *stop, atomic_uint_fast64_t *bytes_done, ProfErr *err);
/* Sets what needs the whole host read: session times, kinds. */
int xspace_finish(Host *host, ProfErr *err);

/* The fields of one XEvent. */
typedef struct {
    int64_t metadata_id, offset_ps, duration_ps, n_occurrences;
    bool aggregated; /* n_occurrences is set, offset_ps is 0 */
} Event;
/* The event whose field lies at `position` of the host's file: its message, valid until the window moves. */
const uint8_t *event_message(Window *window, uint64_t position, size_t *n_bytes, ProfErr *err);
bool event_parse(const uint8_t *p, const uint8_t *end, Event *event);

/* Walks the stats of an XEvent (stat_field 4) or XEventMetadata (5): the byte behind the next stat, NULL at the end. */
const uint8_t *stat_next(const uint8_t *p, const uint8_t *end, uint32_t stat_field, Stat *stat);
bool stat_parse(const uint8_t *p, const uint8_t *end, Stat *stat);
/* A stat whose value, from p on behind the id, is one number: the usual form. The stat's own field begins before p. */
static inline bool stat_number(const uint8_t *p, const uint8_t *end, int64_t id, Stat *stat)
{
    if (p == end) return false;
    enum StatType type = *p == (3 << 3 | WIRE_VARINT)   ? TYPE_UINT64
                         : *p == (4 << 3 | WIRE_VARINT) ? TYPE_INT64
                         : *p == (7 << 3 | WIRE_VARINT) ? TYPE_REF
                                                        : TYPE_NONE;
    *stat = (Stat){.id = id, .type = type};
    return type != TYPE_NONE && wire_varint_fills(p + 1, end, &stat->natural);
}
/* The stat's metadata, NULL if the plane has none of this id. */
const StatMeta *stat_meta(const Plane *plane, int64_t id);
/* The known stat of an id, STAT_UNKNOWN for others. */
enum KnownStat stat_known_by_table(const Plane *plane, int64_t id);
static inline enum KnownStat stat_known(const Plane *plane, int64_t id)
{
    return (uint64_t)id < plane->n_known_ids ? (enum KnownStat)plane->known_of_id[id] : stat_known_by_table(plane, id);
}
/* The plane's i-th stat, its bytes valid until the window moves; false when those in the file are none, or with err set. */
bool plane_stat(const Plane *plane, size_t i, Window *window, Stat *stat, ProfErr *err);
/* The plane has metadata for the stat: its events may have it, none does otherwise. */
bool plane_declares(const Plane *plane, enum KnownStat known);
/* The text that a TYPE_REF stat stands for. */
const Text *stat_ref_text(const Plane *plane, uint64_t ref);

/* What an XEventMetadata knows of its events; read once. NULL with err set, or the array of meta->n_facts. */
int event_meta_facts(const Plane *plane, EventMeta *meta, ProfErr *err);

#endif
