// SPDX-License-Identifier: Apache-2.0
/* events.c: reads the events of a line; see events.h. */
#include "events.h"

#include "../base/interrupt.h"

/* ---- in stored order ---- */

void event_reader_open(EventReader *reader, Line *line, int flags, ProfErr *err)
{
    *reader = (EventReader){.line = line, .err = err, .event = line->first_event, .flags = flags};
    reader->chunks.file = reader->messages.file = &line->plane->host->file;
    if (!(reader->values = prof_alloc(sizeof *reader->values))) prof_nomem(err);
}

void event_reader_open_for(EventReader *reader, Line *line, const StatSet *wanted, ProfErr *err)
{
    event_reader_open(reader, line, EVENT_STATS, err);
    reader->only_wanted = true, reader->wanted = *wanted;
}

void event_reader_open_beside_columns(EventReader *reader, Line *line, const StatSet *wanted,
                                      ProfErr *err)
{
    event_reader_open_for(reader, line, wanted, err);
    reader->beside_columns = true;
}

void event_reader_close(EventReader *reader)
{
    window_free(&reader->chunks);
    window_free(&reader->messages);
    prof_free(reader->values);
    reader->values = NULL;
}

void event_reader_skip_to(EventReader *reader, size_t chunk)
{
    reader->chunk = chunk;
    reader->event = reader->line->first_event + chunk * CHUNK_EVENTS;
    reader->i = reader->n = 0;
}

enum { SPAN_BYTES = 1 << 20 }; /* chunks of larger events are read one event at a time */

static StatSet needed_of(const EventReader *reader, const Chunk *chunk)
{
    StatSet needed = reader->wanted;
    for (int c = 0; c < N_STAT_COLUMNS && reader->beside_columns; c++)
        if (chunk->columns_kept >> c & 1) stat_set_remove(&needed, stat_column_stats[c]);
    return needed;
}

bool event_reader_next_chunk(EventReader *reader)
{
    if (reader->chunk == reader->line->n_chunks) return false;
    const Chunk *chunk = reader->in_hand = &reader->line->chunks[reader->chunk++];
    if (chunk_read(reader->line, chunk, CHUNK_ALL, reader->values, &reader->chunks, reader->err))
        return false;
    reader->i = 0, reader->n = chunk->n_events;
    reader->span = NULL;
    reader->needed = needed_of(reader, chunk);
    reader->has_messages = reader->flags & EVENT_STATS &&
                           (!reader->only_wanted || stat_sets_meet(&chunk->stats, &reader->needed));
    if (!reader->has_messages || chunk->span.n_bytes > SPAN_BYTES) return true;
    size_t there;
    reader->span = window_at(&reader->messages, chunk->span.offset, (size_t)chunk->span.n_bytes,
                             &there, reader->err);
    return reader->span != NULL;
}

const uint8_t *event_reader_message(EventReader *reader, uint64_t position, size_t *n_bytes)
{
    const Span *span = &reader->in_hand->span;
    if (reader->span) {
        const uint8_t *end = reader->span + span->n_bytes,
                      *p = reader->span + (position - span->offset);
        uint64_t n;
        p = wire_header(p, end, &n);
        if (p && n <= (uint64_t)(end - p)) {
            *n_bytes = (size_t)n;
            return p;
        }
    }
    reader->span = NULL;
    return event_message(&reader->messages, position, n_bytes, reader->err);
}

/* ---- events by index ---- */

static void forget_line(struct FinderLine *f)
{
    window_free(&f->chunks);
    window_free(&f->messages);
    prof_free(f->values);
    *f = (struct FinderLine){0};
}

void event_finder_close(EventFinder *finder)
{
    for (size_t i = 0; i < FINDER_LINES; i++) forget_line(&finder->lines[i]);
}

/* Reads the values of a chunk that stayed in the file. */
static bool hold_chunk(struct FinderLine *f, const Chunk *chunk, ProfErr *err)
{
    if (chunk->packed || f->values_of == chunk) return true;
    if (!f->values && !(f->values = prof_alloc(sizeof *f->values))) {
        prof_nomem(err);
        return false;
    }
    f->values_of = NULL;
    if (chunk_read(f->line, chunk, CHUNK_ALL, f->values, &f->chunks, err)) return false;
    f->values_of = chunk;
    return true;
}

static int64_t value_at(const struct FinderLine *f, const Chunk *chunk, enum ChunkColumn column,
                        size_t i)
{
    return chunk->packed ? packed_at(&chunk->columns[column], i) : f->values->columns[column][i];
}

static struct FinderLine finder_line(Line *line)
{
    const File *file = &line->plane->host->file;
    return (struct FinderLine){.line = line, .chunks.file = file, .messages.file = file};
}

EventMeta *event_meta_at(Line *line, uint64_t index, ProfErr *err)
{
    const Chunk *chunk = &line->chunks[index / CHUNK_EVENTS];
    size_t i = (size_t)(index % CHUNK_EVENTS);
    struct FinderLine f = finder_line(line);
    EventMeta *meta = NULL;
    if (hold_chunk(&f, chunk, err))
        meta = &line->plane->event_metas[value_at(&f, chunk, COL_META, i)];
    forget_line(&f);
    return meta;
}

bool event_find(EventFinder *finder, Line *line, uint64_t index, int flags, EventAt *at,
                ProfErr *err)
{
    struct FinderLine *f = &finder->lines[line->line_id % FINDER_LINES];
    const Chunk *chunk = &line->chunks[index / CHUNK_EVENTS];
    size_t i = (size_t)(index % CHUNK_EVENTS);
    if (f->line != line) {
        forget_line(f);
        *f = finder_line(line);
    }
    if (interrupt_poll(1, err) || !hold_chunk(f, chunk, err)) return false;
    event_set(at, line, chunk, i, line->first_event + index,
              (StoredEvent){.meta = value_at(f, chunk, COL_META, i),
                            .offset = value_at(f, chunk, COL_OFFSET, i),
                            .duration = value_at(f, chunk, COL_DURATION, i),
                            .aggregated = value_at(f, chunk, COL_AGGREGATED, i),
                            .position = value_at(f, chunk, COL_POSITION, i)});
    if (!(flags & EVENT_STATS)) return true;
    EventBytes *bytes = &at->stored;
    bytes->message = event_message(&f->messages, bytes->position, &bytes->n_bytes, err);
    return bytes->message != NULL;
}

/* ---- by position ---- */

StatIter stat_iter_at(Window *window, uint64_t position, ProfErr *err)
{
    size_t n;
    const uint8_t *p = event_message(window, position, &n, err);
    return p ? (StatIter){p, p + n, EVENT_STATS_FIELD} : (StatIter){0};
}

StatIter stat_iter_read(Window *window, const EventAt *at, ProfErr *err)
{
    return stat_iter_at(window, at->stored.position, err);
}

bool event_id_at(Window *window, uint64_t position, int64_t *metadata_id, ProfErr *err)
{
    size_t n;
    Event event;
    const uint8_t *p = event_message(window, position, &n, err);
    if (!p || !event_parse(p, p + n, &event)) return false;
    *metadata_id = event.metadata_id;
    return true;
}
