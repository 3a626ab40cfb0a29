// SPDX-License-Identifier: Apache-2.0
/* events.h: walking the events of a line in stored order, with their times and, where wanted, their stats.
 *
 *   EventReader reader;
 *   EventAt e;
 *   event_reader_open(&reader, line, EVENT_STATS, err);
 *   while (event_reader_next(&reader, &e)) {
 *       Stat stat;
 *       const uint8_t *p = e.message;
 *       while ((p = stat_next(p, e.message + e.n_bytes, 4, &stat))) ...
 *   }
 *   event_reader_close(&reader);
 *   if (err->code) ... */
#ifndef PROF_EVENTS_H
#define PROF_EVENTS_H

#include "../format/xspace.h"

typedef struct {
    uint64_t event; /* ordinal in the run */
    EventMeta *meta;
    int64_t start_ps, duration_ps; /* start: from the session's start, the line's own included; stops at the ends of int64 */
    int64_t occurrences;           /* num_occurrences of an aggregated event (whose offset is 0), else -1 */
    uint64_t position;             /* of the event's field in the host's file */
    const uint8_t *message;        /* with EVENT_STATS: the XEvent, until the next step; else no bytes */
    size_t n_bytes;
    const Chunk *chunk;
    uint32_t in_chunk;
} EventAt;

enum { EVENT_STATS = 1 };

typedef struct {
    Line *line;
    ProfErr *err;
    ChunkValues *values;
    Window chunks, messages;
    const Chunk *in_hand;
    const uint8_t *span; /* the chunk's bytes in the window `messages`; NULL: too many to hold */
    size_t chunk;
    uint32_t i, n;
    uint64_t event;
    int flags;
    bool only_wanted, beside_columns, has_messages; /* has_messages: of the chunk in hand */
    StatSet wanted, needed;                         /* needed: those of the wanted that have no column in the chunk in hand */
} EventReader;

/* Always to be closed; on failure err is set and the first step ends the walk. */
void event_reader_open(EventReader *reader, Line *line, int flags, ProfErr *err);
/* With the messages of events that may have one of these stats; the others come without bytes. */
void event_reader_open_for(EventReader *reader, Line *line, const StatSet *wanted, ProfErr *err);
/* The same for who asks event_stat() first: for stats that stand in columns no message is read. */
void event_reader_open_beside_columns(EventReader *reader, Line *line, const StatSet *wanted, ProfErr *err);
bool event_reader_next(EventReader *reader, EventAt *at);
void event_reader_close(EventReader *reader);
/* A stat that has a column, without the bytes of a text; TYPE_NONE: the event has none, or the column was not kept and the message
 * tells. */
static inline Stat event_stat(const EventAt *at, enum StatColumnName column)
{
    const StatColumn *c = &at->chunk->stat_columns[column];
    return (Stat){.type = (enum StatType)packed_at(&c->types, at->in_chunk), .integer = packed_at(&c->values, at->in_chunk)};
}
/* Does its column tell all of the stat? */
static inline bool event_column_kept(const EventAt *at, enum StatColumnName column) { return at->chunk->columns_kept >> column & 1; }

/* The text of a tf_op from its column; empty of what is no text. */
static inline const Text *event_stat_text(const Plane *plane, const Stat *stat)
{
    if (stat->type == TYPE_STR) return (const Text *)(intptr_t)stat->integer;
    return stat->type == TYPE_REF ? stat_ref_text(plane, stat->natural) : empty_text;
}

/* Single events, by their index on a line. Quick where those asked for of a line follow each other, and come from few lines. */
enum { FINDER_LINES = 64 };
typedef struct {
    struct FinderLine {
        Line *line;
        Window chunks, messages;
        ChunkValues *values; /* of a chunk that is not packed */
        const Chunk *values_of;
    } lines[FINDER_LINES]; /* by number of the line, modulo */
} EventFinder;
/* Begin with {0}. False with err set. The message is there until the next call. */
bool event_find(EventFinder *finder, Line *line, uint64_t index, int flags, EventAt *at, ProfErr *err);
void event_finder_close(EventFinder *finder);

#endif
