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
    bool only_wanted, has_messages; /* of the chunk in hand */
    StatSet wanted;
} EventReader;

/* Always to be closed; on failure err is set and the first step ends the walk. */
void event_reader_open(EventReader *reader, Line *line, int flags, ProfErr *err);
/* With the messages of events that may have one of these stats; the others come without bytes. */
void event_reader_open_for(EventReader *reader, Line *line, const StatSet *wanted, ProfErr *err);
bool event_reader_next(EventReader *reader, EventAt *at);
void event_reader_close(EventReader *reader);
/* A stat of the event in hand that has a column, without bytes where it is a text; TYPE_NONE: the event has none. */
static inline Stat event_reader_stat(const EventReader *reader, enum StatColumnName column)
{
    const StatColumn *c = &reader->in_hand->stat_columns[column];
    return (Stat){.type = (enum StatType)packed_at(&c->types, reader->i - 1), .integer = packed_at(&c->values, reader->i - 1)};
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
