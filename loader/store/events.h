// SPDX-License-Identifier: Apache-2.0
/* events.h: reads the events of a line in stored order, with their times and, if wanted, their
 * stats; or single events by index.
 *
 *   EventReader reader;
 *   EventAt e;
 *   event_reader_open(&reader, line, EVENT_STATS, err);
 *   while (event_reader_next(&reader, &e)) {
 *       Stat stat;
 *       StatIter stats = stat_iter_of_event(&e);
 *       while (stat_iter_next(&stats, &stat)) ...
 *   }
 *   event_reader_close(&reader);
 *   if (err->code) ... */
#ifndef PROF_EVENTS_H
#define PROF_EVENTS_H

#include "chunks.h"
#include "event_stats.h"

/* Where the file stores an event. */
typedef struct {
    uint64_t position; /* position of the event's field in the host's file */
    /* With EVENT_STATS the bytes of the XEvent, valid until the reader's next step. Otherwise
     * n_bytes is 0. */
    const uint8_t *message;
    size_t n_bytes;
} EventBytes;

/* An event as a reader or finder returns it. */
typedef struct {
    uint64_t event; /* ordinal in the run */
    EventMeta *meta;
    /* Start counts from the session's start, with the line's start included. Times saturate at the
     * ends of int64. */
    int64_t start_ps, duration_ps;
    int64_t offset_ps;   /* start on its line: 0 for an aggregated event */
    int64_t occurrences; /* num_occurrences of an aggregated event, which starts with its line; -1
                            for others */
    const Chunk *chunk;  /* the event's chunk */
    uint32_t in_chunk;   /* index of the event in its chunk */
    EventBytes stored;   /* for loader/store alone; others use stat_iter_of_event() */
} EventAt;

/* The values of an event in the columns of its chunk. */
typedef struct {
    int64_t meta, offset, duration, aggregated, position;
} StoredEvent;
/* Fills in the i-th event of a chunk, without its message. Field by field, because compilers clear
 * a whole structure first. */
static inline __attribute__((always_inline)) void event_set(EventAt *at, const Line *line,
                                                            const Chunk *chunk, size_t i,
                                                            uint64_t event, StoredEvent stored)
{
    static const uint8_t nothing[1]; /* a valid address for pointer arithmetic */
    int64_t offset_ps = event_offset(stored.offset, stored.aggregated);
    at->event = event;
    at->meta = &line->plane->event_metas[stored.meta];
    at->start_ps = add_saturated(line->start_ps, offset_ps);
    at->duration_ps = stored.duration;
    at->offset_ps = offset_ps;
    at->occurrences = stored.aggregated ? stored.offset : -1;
    at->chunk = chunk;
    at->in_chunk = (uint32_t)i;
    at->stored.position = (uint64_t)stored.position;
    at->stored.message = nothing;
    at->stored.n_bytes = 0;
}

enum { EVENT_STATS = 1 };

/* Walks the event's own stats. There are none without EVENT_STATS. */
static inline StatIter stat_iter_of_event(const EventAt *at)
{
    const EventBytes *stored = &at->stored;
    return (StatIter){stored->message, stored->message + stored->n_bytes, EVENT_STATS_FIELD};
}
/* Returns false if stat_iter_of_event() has nothing to walk, as for an event that a reader of
 * chosen stats passes over. */
static inline bool event_has_stats(const EventAt *at) { return at->stored.n_bytes > 0; }

/* A walk over the events of a line. */
typedef struct {
    Line *line;
    ProfErr *err;
    ChunkValues *values;
    Window chunks, messages;
    const Chunk *in_hand;
    /* Bytes of the chunk in the window `messages`; NULL if they are too many to load at once. */
    const uint8_t *span;
    size_t chunk;
    uint32_t i, n;
    uint64_t event;
    int flags;
    /* has_messages: messages of the current chunk are loaded */
    bool only_wanted, beside_columns, has_messages;
    /* needed: the wanted stats that have no column in the current chunk */
    StatSet wanted, needed;
} EventReader;

/* Opens a reader of all events of a line. flags: EVENT_STATS to get their stats, or 0. On
 * failure err is set and event_reader_next() returns false. Close it in any case. The reader keeps
 * `err`. */
void event_reader_open(EventReader *reader, Line *line, int flags, ProfErr *err);
/* Like event_reader_open() with EVENT_STATS, but only of events that may have one of these stats.
 * For others event_has_stats() is false. */
void event_reader_open_for(EventReader *reader, Line *line, const StatSet *wanted, ProfErr *err);
/* Like event_reader_open_for(), for callers that ask event_stat() first: stats are only read if a
 * wanted one has no column. */
void event_reader_open_beside_columns(EventReader *reader, Line *line, const StatSet *wanted,
                                      ProfErr *err);
/* Continues with the first event of a chunk. */
void event_reader_skip_to(EventReader *reader, size_t chunk);
/* For event_reader_next(): goes on to the line's next chunk. False at the end or with err set. */
bool event_reader_next_chunk(EventReader *reader);
/* For event_reader_next(): returns the message of an event of the current chunk. NULL with err set.
 */
const uint8_t *event_reader_message(EventReader *reader, uint64_t position, size_t *n_bytes);
/* Reads the next event. False at the end of the line or with err set. Inline, because most callers
 * use few fields of the event. */
static inline bool event_reader_next(EventReader *reader, EventAt *at)
{
    if (reader->err->code) return false;
    while (reader->i == reader->n)
        if (!event_reader_next_chunk(reader)) return false;
    uint32_t i = reader->i++;
    int64_t(*columns)[CHUNK_EVENTS] = reader->values->columns;
    event_set(at, reader->line, reader->in_hand, i, reader->event++,
              (StoredEvent){.meta = columns[COL_META][i],
                            .offset = columns[COL_OFFSET][i],
                            .duration = columns[COL_DURATION][i],
                            .aggregated = columns[COL_AGGREGATED][i],
                            .position = columns[COL_POSITION][i]});
    if (!reader->has_messages ||
        (reader->only_wanted && !meta_events_have(at->meta, &reader->needed)))
        return true;
    size_t n_bytes = 0;
    at->stored.message = event_reader_message(reader, at->stored.position, &n_bytes);
    at->stored.n_bytes = n_bytes;
    return at->stored.message != NULL;
}
/* Frees what the reader holds. */
void event_reader_close(EventReader *reader);
/* Returns a stat of the event from its column; a text's bytes are not set (event_stat_text()).
 * TYPE_NONE if the event has no such stat, or if event_column_kept() is false: then only
 * stat_iter_of_event() has it. */
static inline Stat event_stat(const EventAt *at, enum StatColumnName column)
{
    const StatColumn *c = &at->chunk->stat_columns[column];
    return (Stat){.type = (enum StatType)packed_at(&c->types, at->in_chunk),
                  .integer = packed_at(&c->values, at->in_chunk)};
}
/* Returns whether the stat's column is complete for this event's chunk, so that its stats need not
 * be walked. */
static inline bool event_column_kept(const EventAt *at, enum StatColumnName column)
{
    return at->chunk->columns_kept >> column & 1;
}

/* Returns the text of a tf_op stat that event_stat() returned. Empty if the stat is not a text. */
static inline const Text *event_stat_text(const Plane *plane, const Stat *stat)
{
    if (stat->type == TYPE_STR) return (const Text *)(intptr_t)stat->integer;
    return stat->type == TYPE_REF ? stat_ref_text(plane, stat->u64) : empty_text;
}

/* Random access to events by their index on a line. Fast if requests for one line move forward and
 * come from few lines. Starts as {0}. */
enum { FINDER_LINES = 64 };
typedef struct {
    struct FinderLine {
        Line *line;
        Window chunks, messages;
        ChunkValues *values; /* values of a chunk that stayed in the file */
        const Chunk *values_of;
    } lines[FINDER_LINES]; /* cache, by line_id modulo FINDER_LINES */
} EventFinder;
/* Reads the event with this index on the line. flags as for event_reader_open(). Its stats are
 * valid until the next call. */
bool event_find(EventFinder *finder, Line *line, uint64_t index, int flags, EventAt *at,
                ProfErr *err);
/* Frees what the finder holds. */
void event_finder_close(EventFinder *finder);
/* Returns the metadata of the event with this index on the line. */
EventMeta *event_meta_at(Line *line, uint64_t index, ProfErr *err);

/* Walks the own stats of an event that was read without EVENT_STATS. stat_iter_at() does so for the
 * event whose value in COL_POSITION is `position`. The window is that of the host's file. The walk
 * is valid until its next use. On failure err is set, and the walk is empty. */
StatIter stat_iter_read(Window *window, const EventAt *at, ProfErr *err);
StatIter stat_iter_at(Window *window, uint64_t position, ProfErr *err);
/* Reads the metadata id of the event at `position`. It differs from that of its EventMeta only if
 * the plane does not declare it. */
bool event_id_at(Window *window, uint64_t position, int64_t *metadata_id, ProfErr *err);

#endif
