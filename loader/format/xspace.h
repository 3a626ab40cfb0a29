// SPDX-License-Identifier: Apache-2.0
/* xspace.h: reads XSpace, the protobuf format of *.xplane.pb, in two passes.
 *
 * The first pass reads the structure of a host's file without touching an event: planes,
 * metadata, and where the lines are. The second pass reads the events of one line into packed
 * chunks. Lines are independent, so they are read in parallel. Stats stay in the file and are
 * decoded on demand. */
#ifndef PROF_XSPACE_H
#define PROF_XSPACE_H

#include "../plane.h"
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

/* Reads the next stat of a message whose stats are in this field. Returns the position after it, or
 * NULL at the end. Damaged stats are left out. */
const uint8_t *stat_next(const uint8_t *p, const uint8_t *end, uint32_t stat_field, Stat *stat);
/* Parses an XStat from p to end. It borrows these bytes. False if they are damaged. */
bool stat_parse(const uint8_t *p, const uint8_t *end, Stat *stat);
/* Returns the type of a stat by the tag of its value, if that is a varint. */
static inline enum StatType varint_type(uint64_t tag)
{
    if (tag == (3 << 3 | WIRE_VARINT)) return TYPE_UINT64;
    if (tag == (4 << 3 | WIRE_VARINT)) return TYPE_INT64;
    return tag == (7 << 3 | WIRE_VARINT) ? TYPE_REF : TYPE_NONE;
}
/* Parses a stat in its usual form, where the bytes from p to end, after the id, are one number.
 * False if they are not. The field of the stat must start before p, as wire_varint_fills() needs
 * readable bytes there. */
static inline bool stat_number(const uint8_t *p, const uint8_t *end, int64_t id, Stat *stat)
{
    if (p == end) return false;
    enum StatType type = varint_type(*p);
    *stat = (Stat){.id = id, .type = type};
    return type != TYPE_NONE && wire_varint_fills(p + 1, end, &stat->u64);
}

/* Parses a stat whose bytes after the id are one text of less than 128 bytes. False if they are
 * not. */
static inline bool stat_short_text(const uint8_t *p, const uint8_t *end, int64_t id, Stat *stat)
{
    if (end - p < 2 || *p != (5 << 3 | WIRE_BYTES) || p[1] >= 0x80 || p[1] != end - p - 2)
        return false;
    *stat = (Stat){.id = id, .type = TYPE_STR, .bytes = p + 2, .n_bytes = p[1]};
    return true;
}

#endif
