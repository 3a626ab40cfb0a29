// SPDX-License-Identifier: Apache-2.0
/* chunks.h: times and metadata of the events of a chunk, from the columns that chunk_read() fills.
 *
 *   chunk_read(line, chunk, CHUNK_TIMES, values, &window, err);
 *   start_ps = chunk_start(line, values, i), end_ps = chunk_end(line, values, i); */
#ifndef PROF_CHUNKS_H
#define PROF_CHUNKS_H

#include "../run.h"

/* Columns to ask of chunk_read(). */
enum {
    CHUNK_TIMES = 1 << COL_OFFSET | 1 << COL_DURATION | 1 << COL_AGGREGATED,
    CHUNK_METAS = 1 << COL_META,
    CHUNK_ALL = (1 << N_CHUNK_COLUMNS) - 1,
};

/* Returns where an event starts on its line, from its values in COL_OFFSET and COL_AGGREGATED. An
 * aggregated event has no offset: it starts with its line. */
static inline int64_t event_offset(int64_t stored, int64_t aggregated)
{
    return aggregated ? 0 : stored;
}

/* Return times of the i-th event of a chunk: the offset counts from the line's start, start and end
 * from the session's. Times saturate at the ends of int64. They need CHUNK_TIMES. */
static inline int64_t chunk_offset(const ChunkValues *values, size_t i)
{
    return event_offset(values->columns[COL_OFFSET][i], values->columns[COL_AGGREGATED][i]);
}
static inline int64_t chunk_duration(const ChunkValues *values, size_t i)
{
    return values->columns[COL_DURATION][i];
}
static inline int64_t chunk_start(const Line *line, const ChunkValues *values, size_t i)
{
    return add_saturated(line->start_ps, chunk_offset(values, i));
}
static inline int64_t chunk_end(const Line *line, const ChunkValues *values, size_t i)
{
    return add_saturated(chunk_start(line, values, i), chunk_duration(values, i));
}
/* Returns the index of the i-th event's metadata in the plane's event_metas. It needs CHUNK_METAS.
 */
static inline uint32_t chunk_meta(const ChunkValues *values, size_t i)
{
    return (uint32_t)values->columns[COL_META][i];
}

#endif
