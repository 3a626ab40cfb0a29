// SPDX-License-Identifier: Apache-2.0
/* event_context.h: how an event says what it belongs to: the stats that XProf groups by, and those that it adds to events of
 * older profilers.
 *
 * An event may produce and consume contexts: a context is an id within a scope, which is of a type and where it matters of a
 * process. Each producer of a context leads to each of its consumers. */
#ifndef PROF_EVENT_CONTEXT_H
#define PROF_EVENT_CONTEXT_H

#include "event_stats.h"
#include "event_types.h"

/* A stat as XProf's accessors read it. */
typedef struct {
    enum StatType type;
    uint64_t bits;
} Number;
static inline int64_t number_int(Number n) { return n.type == TYPE_INT64 ? (int64_t)n.bits : 0; }
static inline uint64_t number_natural(Number n) { return n.type == TYPE_INT64 || n.type == TYPE_UINT64 ? n.bits : 0; }

typedef struct {
    Number by_stat[N_KNOWN_STATS];
    uint64_t seen[(N_KNOWN_STATS + 63) / 64], repeated[(N_KNOWN_STATS + 63) / 64];
    bool used; /* an event had some */
} EventNumbers;
static inline bool numbers_have(const EventNumbers *n, enum KnownStat known) { return n->seen[known / 64] >> (known % 64) & 1; }
/* 0 where there is none. */
static inline int64_t numbers_int(const EventNumbers *n, enum KnownStat known) { return numbers_have(n, known) ? number_int(n->by_stat[known]) : 0; }
static inline uint64_t numbers_natural(const EventNumbers *n, enum KnownStat known) { return numbers_have(n, known) ? number_natural(n->by_stat[known]) : 0; }
/* 0 also for one of type int64. */
static inline uint64_t numbers_unsigned(const EventNumbers *n, enum KnownStat known)
{
    return numbers_have(n, known) && n->by_stat[known].type == TYPE_UINT64 ? n->by_stat[known].bits : 0;
}

/* What reading a plane's events needs. Always to be closed. */
typedef struct {
    StatFilter filter;
    bool is_tpu, is_host; /* /device:TPU:..., /host:CPU */
    bool as_written;      /* nothing is added to events; false unless set after opening */
    int64_t device;       /* number of a TensorCore, -1 */
    bool has_process;
    uint64_t process; /* the plane's stat process_id */
} ContextPlane;
bool context_plane_open(ContextPlane *cp, const Plane *plane, ProfErr *err); /* false: err is set */
void context_plane_close(ContextPlane *cp);

/* Reads an event's numbers and adds what XProf would. False: there are none. Begin with {0}, or used; what the event before had is forgotten. */
bool event_numbers_read(EventNumbers *n, const ContextPlane *cp, const Line *line, enum EventType type, const uint8_t *message, size_t n_bytes);
/* The root's level: of the event's own stat, or as its type has it. False: it is none. */
bool event_root_level(const EventNumbers *n, enum EventType type, int32_t *level);

/* Does the event produce (or consume) a context? */
static inline bool has_context(const EventNumbers *n, bool produces)
{
    return produces ? numbers_have(n, STAT_PRODUCER_TYPE) && numbers_have(n, STAT_PRODUCER)
                    : numbers_have(n, STAT_CONSUMER_TYPE) && numbers_have(n, STAT_CONSUMER);
}
static inline uint64_t context_id(const EventNumbers *n, bool produces) { return numbers_natural(n, produces ? STAT_PRODUCER : STAT_CONSUMER); }
static inline int32_t context_type(const EventNumbers *n, bool produces) { return (int32_t)numbers_int(n, produces ? STAT_PRODUCER_TYPE : STAT_CONSUMER_TYPE); }
/* A hash of the type and the process in which the id is unique. */
uint32_t context_scope(const EventNumbers *n, const ContextPlane *cp, bool produces);

#endif
