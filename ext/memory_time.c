// SPDX-License-Identifier: Apache-2.0
/* memory_time.c: the table memory_time: for how long allocators have how much memory in use.
 *
 *   SELECT allocator, most_bytes, percent, at_least_percent FROM memory_time('logs'); */
#include "../loader/analysis/memory/memory_levels.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define WITHOUT_TIME "; NULL if all events have one time"
#define MEMORY_TIME_COLUMNS(C)                                                                     \
    C(MT_RUN, RUN_DOC)                                                                             \
    C(MT_HOST, HOST_DOC)                                                                           \
    C(MT_ALLOCATOR, "allocator", "TEXT", NULL, "name of the allocator, as in memory_allocators",   \
      "memory_profile memoryId")                                                                   \
    C(MT_LEVEL, "level", "INTEGER", NULL,                                                          \
      "number of the level, from 1: the allocator's peak is divided into `levels` levels of "      \
      "equal size; 0 if nothing is in use",                                                        \
      "libprofsql")                                                                                \
    C(MT_LEAST, "least_bytes", "INTEGER", "bytes",                                                 \
      "lower bound of the level: 1 + the upper bound of the level below; 0 for level 0",           \
      "libprofsql")                                                                                \
    C(MT_MOST, "most_bytes", "INTEGER", "bytes",                                                   \
      "upper bound of the level: level / levels of the peak (profile_peak_bytes of "               \
      "memory_allocators), rounded down",                                                          \
      "libprofsql")                                                                                \
    C(MT_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time in which the memory in use is within these bounds. Memory in use is heap_bytes + "     \
      "stack_bytes of each row of memory_events (0 if negative), from its time_ps until that of "  \
      "the next one, in order of time_ps and event_id. The rows of an allocator add up to the "    \
      "time between its first and its last event",                                                 \
      "libprofsql")                                                                                \
    C(MT_DURATION_US, DURATION_US_DOC)                                                             \
    C(MT_PERCENT, "percent", "REAL", "percent 0..100",                                             \
      "duration_ps as a share of the time between the allocator's first and last "                 \
      "event" WITHOUT_TIME,                                                                        \
      "libprofsql")                                                                                \
    C(MT_AT_LEAST, "at_least_percent", "REAL", "percent 0..100",                                   \
      "share of the time between the allocator's first and last event in which the memory in use " \
      "is at this level or a higher one" WITHOUT_TIME,                                             \
      "libprofsql")                                                                                \
    C(MT_FIRST, "first_ps", "INTEGER", "ps",                                                       \
      "first moment at which the memory in use is within these bounds, from the session start",    \
      "libprofsql")                                                                                \
    C(MT_FIRST_US, "first_us", "REAL", "us", "first_ps in microseconds", "libprofsql")             \
    C(MT_MEAN, "mean_bytes", "REAL", "bytes",                                                      \
      "average of the allocator's memory in use, weighted by time; equal in all rows of the "      \
      "allocator" WITHOUT_TIME,                                                                    \
      "libprofsql")                                                                                \
    C(MT_SOURCE, SOURCE_DOC)                                                                       \
    C(MT_LEVELS, "levels", "INTEGER HIDDEN", "1 to 1000", "number of levels; default 10",          \
      "argument 2")
enum { MEMORY_TIME_COLUMNS(COLUMN_ENUM) };
static const Column memory_time_columns[] = {MEMORY_TIME_COLUMNS(COLUMN_DOC)};
enum { LEVELS = 10 };

typedef struct {
    const MemoryProfile *profile;
    size_t n_levels, next_allocator;
    MemoryLevel *levels; /* of one allocator */
    size_t n, at;
} MemoryTimeAt;

static bool open_levels(RowCursor *c, MemoryTimeAt *at)
{
    at->n_levels = (size_t)row_integer_parameter(c, 0, LEVELS);
    at->levels = prof_buffer((at->n_levels + 1) * sizeof *at->levels);
    if (!at->levels) {
        prof_nomem(&c->err);
        return false;
    }
    return (at->profile = host_memory_profile(c->host, &c->err)) != NULL;
}

static bool memory_time_next(RowCursor *c)
{
    MemoryTimeAt *at = c->state;
    if (!c->started && !open_levels(c, at)) return false;
    for (at->at += c->started; at->at >= at->n; at->at = 0) {
        if (at->next_allocator == at->profile->n_allocators) return false;
        const MemoryAllocator *a = &at->profile->allocators[at->next_allocator++];
        at->n = memory_levels(a, at->n_levels, at->levels, &c->err);
        if (c->err.code) return false;
    }
    enum { LEVEL_BITS = 10 };
    const MemoryLevel *l = &at->levels[at->at];
    c->place = place_pair(l->allocator->events[0]->event, LEVEL_BITS, l->level);
    return true;
}

static void memory_time_close(void *state) { prof_free(((MemoryTimeAt *)state)->levels); }

static void memory_time_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryTimeAt *at = c->state;
    const MemoryLevel *l = &at->levels[at->at];
    switch (column) {
    case MT_ALLOCATOR: result_text(ctx, l->allocator->name); break;
    case MT_LEVEL: sqlite3_result_int64(ctx, (sqlite3_int64)l->level); break;
    case MT_LEAST: sqlite3_result_int64(ctx, l->least_bytes); break;
    case MT_MOST: sqlite3_result_int64(ctx, l->most_bytes); break;
    case MT_DURATION:
    case MT_DURATION_US: result_span(ctx, l->ps, column == MT_DURATION_US); break;
    case MT_PERCENT: result_percent(ctx, l->ps, l->total_ps); break;
    case MT_AT_LEAST: result_percent(ctx, l->at_least_ps, l->total_ps); break;
    case MT_FIRST:
    case MT_FIRST_US: result_time(ctx, l->first_ps, column == MT_FIRST_US); break;
    case MT_MEAN:
        if (l->total_ps) sqlite3_result_double(ctx, l->mean_bytes);
        break;
    default: break;
    }
}

static const RowSource memory_time_rows = {.next = memory_time_next,
                                           .state_bytes = sizeof(MemoryTimeAt),
                                           .close = memory_time_close,
                                           .column = memory_time_column,
                                           .n_parameters = 1,
                                           .always_rows = true,
                                           .needs = NEED_EVENTS | NEED_ALLOCATIONS,
                                           .nothing =
                                               "no allocation event records a number of bytes"};
const Table memory_time_table = {
    "memory_time",
    "one level of an allocator's memory in use, with the time that the allocator spent at it; "
    "lowest level first",
    memory_time_columns,
    COUNT(memory_time_columns),
    &row_table_module,
    &memory_time_rows,
    100,
    "0.1.0",
    "SELECT allocator, most_bytes, percent, at_least_percent FROM memory_time"};
