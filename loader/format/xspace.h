// SPDX-License-Identifier: Apache-2.0
/* xspace.h: reads XSpace, the protobuf format of *.xplane.pb, in two passes.
 *
 * The first pass reads the structure of a host's file without touching an event: planes,
 * metadata, and where the lines are. The second pass reads the events of one line into packed
 * chunks. Lines are independent, so they are read in parallel. Stats stay in the file and are
 * decoded on demand. */
#ifndef PROF_XSPACE_H
#define PROF_XSPACE_H

#include "../run.h"
#include "wire.h"

/* The fields of one XEvent. */
typedef struct {
    int64_t metadata_id, offset_ps, duration_ps, n_occurrences;
    bool aggregated; /* n_occurrences is set and offset_ps is 0 */
} Event;
/* Returns the message of the event whose field is at `position` of the host's file. It is valid
 * until the next use of the window. */
const uint8_t *event_message(Window *window, uint64_t position, size_t *n_bytes, ProfErr *err);
/* Parses an XEvent from p to end. False if the bytes are damaged. */
bool event_parse(const uint8_t *p, const uint8_t *end, Event *event);

/* Reads the next stat of an XEvent (stat_field 4) or XEventMetadata (5). Returns the position after
 * it, or NULL at the end. */
const uint8_t *stat_next(const uint8_t *p, const uint8_t *end, uint32_t stat_field, Stat *stat);
/* Parses an XStat from p to end. It borrows these bytes. False if they are damaged. */
bool stat_parse(const uint8_t *p, const uint8_t *end, Stat *stat);
/* Parses a stat in its usual form, where the bytes from p to end, after the id, are one number.
 * False if they are not. The field of the stat must start before p, as wire_varint_fills() needs
 * readable bytes there. */
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
/* Returns the stat's metadata; NULL if the plane has none of this id. */
const StatMeta *stat_meta(const Plane *plane, int64_t id);
/* Returns the known stat of an id; STAT_UNKNOWN for others. */
enum KnownStat stat_known_by_table(const Plane *plane, int64_t id);
static inline enum KnownStat stat_known(const Plane *plane, int64_t id)
{
    return (uint64_t)id < plane->n_known_ids ? (enum KnownStat)plane->known_of_id[id]
                                             : stat_known_by_table(plane, id);
}
/* Reads the plane's i-th stat. Its bytes are valid until the next use of the window. False without
 * err set if it is damaged. */
bool plane_stat(const Plane *plane, size_t i, Window *window, Stat *stat, ProfErr *err);
/* Returns whether the plane has metadata for the stat. If not, none of its events has the stat. */
bool plane_declares(const Plane *plane, enum KnownStat known);
/* Returns the text that a TYPE_REF stat refers to; empty_text if the plane does not have it. */
const Text *stat_ref_text(const Plane *plane, uint64_t ref);

/* Reads the known stats of an event metadata into meta->facts and meta->n_facts, once. Returns the
 * code in err. May be called from several threads. */
int event_meta_facts(const Plane *plane, EventMeta *meta, ProfErr *err);

#endif
