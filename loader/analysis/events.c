/* events.c: a walk over a line's events; see events.h. */
#include "events.h"

void event_reader_open(EventReader *reader, Line *line, int flags, ProfErr *err)
{
    *reader = (EventReader){.line = line, .err = err, .event = line->first_event, .flags = flags};
    reader->chunks.file = reader->messages.file = &line->plane->host->file;
    if (!(reader->values = prof_alloc(sizeof *reader->values))) prof_nomem(err);
}

void event_reader_close(EventReader *reader)
{
    window_free(&reader->chunks);
    window_free(&reader->messages);
    prof_free(reader->values);
    reader->values = NULL;
}

bool event_reader_next(EventReader *reader, EventAt *at)
{
    const Line *line = reader->line;
    if (reader->err->code) return false;
    while (reader->i == reader->n) {
        if (reader->chunk == line->n_chunks) return false;
        const Chunk *chunk = &line->chunks[reader->chunk++];
        if (chunk_read(line, chunk, (1u << N_CHUNK_COLUMNS) - 1, reader->values, &reader->chunks, reader->err)) return false;
        reader->i = 0, reader->n = chunk->n_events;
    }
    uint32_t i = reader->i++;
    int64_t(*columns)[CHUNK_EVENTS] = reader->values->columns;
    bool aggregated = columns[COL_AGGREGATED][i];
    *at = (EventAt){
        .event = reader->event++,
        .meta = &line->plane->event_metas[columns[COL_META][i]],
        .start_ps = aggregated ? line->start_ps : add_saturated(line->start_ps, columns[COL_OFFSET][i]),
        .duration_ps = columns[COL_DURATION][i],
        .occurrences = aggregated ? columns[COL_OFFSET][i] : -1,
        .position = (uint64_t)columns[COL_POSITION][i],
    };
    if (!(reader->flags & EVENT_STATS)) return true;
    at->message = event_message(&reader->messages, at->position, &at->n_bytes, reader->err);
    return at->message != NULL;
}
