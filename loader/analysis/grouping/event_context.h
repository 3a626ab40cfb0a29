// SPDX-License-Identifier: Apache-2.0
/* event_context.h: the stats by which XProf groups events, including those that it adds to events
 * of older profilers.
 *
 * An event may produce and consume contexts. A context is an id within a scope; the scope is a type
 * and, where it matters, a process. Each producer of a context is a parent of each of its
 * consumers. */
#ifndef PROF_EVENT_CONTEXT_H
#define PROF_EVENT_CONTEXT_H

#include "../../store/event_stats.h"
#include "event_types.h"

/* A stat that is a number, and its value as XProf's accessors return it. */
typedef struct {
    enum StatType type;
    uint64_t bits;
} Number;
/* Return the value as XProf's accessors do: 0 if the stat has another type. */
static inline int64_t number_int(Number n) { return n.type == TYPE_INT64 ? (int64_t)n.bits : 0; }
static inline uint64_t number_u64(Number n)
{
    return n.type == TYPE_INT64 || n.type == TYPE_UINT64 ? n.bits : 0;
}

/* The number stats of one event. Starts as {0}. */
typedef struct {
    Number by_stat[N_KNOWN_STATS];
    uint64_t seen[(N_KNOWN_STATS + 63) / 64], repeated[(N_KNOWN_STATS + 63) / 64];
    bool used; /* the last event had some */
} EventNumbers;
/* Returns whether the event has the stat. */
static inline bool numbers_have(const EventNumbers *n, enum KnownStat known)
{
    return n->seen[known / 64] >> (known % 64) & 1;
}
/* Returns the stat's value, 0 if the event does not have it or it has another type. */
static inline int64_t numbers_int(const EventNumbers *n, enum KnownStat known)
{
    return numbers_have(n, known) ? number_int(n->by_stat[known]) : 0;
}
static inline uint64_t numbers_u64(const EventNumbers *n, enum KnownStat known)
{
    return numbers_have(n, known) ? number_u64(n->by_stat[known]) : 0;
}
/* Like numbers_u64(), but also 0 for a stat of type int64. */
static inline uint64_t numbers_unsigned(const EventNumbers *n, enum KnownStat known)
{
    return numbers_have(n, known) && n->by_stat[known].type == TYPE_UINT64 ? n->by_stat[known].bits
                                                                           : 0;
}

/* What is needed to read the events of a plane. */
typedef struct {
    StatFilter filter;
    bool is_tpu, is_host; /* the plane is /device:TPU:... or /host:CPU */
    bool as_written;      /* add nothing to events; set after opening if wanted */
    int64_t device;       /* number of the TensorCore; -1 for other planes */
    bool has_process;
    uint64_t process; /* the plane's stat process_id, if has_process */
} ContextPlane;
/* Opens it for a plane. Close it with context_plane_close() in any case. */
bool context_plane_open(ContextPlane *cp, const Plane *plane, ProfErr *err);
void context_plane_close(ContextPlane *cp);

/* Reads the number stats of an event of this line and type, and adds those that XProf would.
 * Overwrites those of the event before. False if the event has none. */
bool event_numbers_read(EventNumbers *n, const ContextPlane *cp, const Line *line,
                        enum EventType type, StatIter stats);
/* Reads the level of a root event: its stat _r, or 1 if its type makes it a root. False if it is
 * not a root. */
bool event_root_level(const EventNumbers *n, enum EventType type, int32_t *level);

/* Returns whether the event produces (or else consumes) a context. */
static inline bool has_context(const EventNumbers *n, bool produces)
{
    return produces ? numbers_have(n, STAT_PRODUCER_TYPE) && numbers_have(n, STAT_PRODUCER)
                    : numbers_have(n, STAT_CONSUMER_TYPE) && numbers_have(n, STAT_CONSUMER);
}
/* Return id and type of the context that the event produces (or else consumes). */
static inline uint64_t context_id(const EventNumbers *n, bool produces)
{
    return numbers_u64(n, produces ? STAT_PRODUCER : STAT_CONSUMER);
}
static inline int32_t context_type(const EventNumbers *n, bool produces)
{
    return (int32_t)numbers_int(n, produces ? STAT_PRODUCER_TYPE : STAT_CONSUMER_TYPE);
}
/* Returns a hash of the type and process in which the context's id is unique. */
uint32_t context_scope(const EventNumbers *n, const ContextPlane *cp, bool produces);

#endif
