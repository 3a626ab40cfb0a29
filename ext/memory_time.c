// SPDX-License-Identifier: Apache-2.0
/* memory_time.c: the tables memory_time and memory_over_time: for how long, and when, allocators
 * have how much memory in use.
 *
 *   SELECT allocator, most_bytes, percent, at_least_percent FROM memory_time('logs');
 *   SELECT allocator, start_us, most_bytes FROM memory_over_time('logs'); */
#include "../loader/analysis/memory/memory_levels.h"
#include "../loader/analysis/memory/memory_parts.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- rows of one allocator after another ---- */

typedef struct {
    const MemoryProfile *profile;
    size_t n_wanted, next_allocator; /* n_wanted: levels or parts */
    void *rows;                      /* of one allocator */
    size_t n, at;
} AllocatorRows;

/* Writes the rows of an allocator, at most n_wanted + 1. Returns how many there are. */
typedef size_t ListRows(const MemoryAllocator *allocator, size_t n_wanted, void *rows,
                        ProfErr *err);

static bool open_rows(RowCursor *c, AllocatorRows *at, size_t otherwise, size_t row_bytes)
{
    at->n_wanted = (size_t)row_integer_parameter(c, 0, (sqlite3_int64)otherwise);
    at->rows = prof_buffer((at->n_wanted + 1) * row_bytes);
    if (!at->rows) {
        prof_nomem(&c->err);
        return false;
    }
    return (at->profile = host_memory_profile(c->host, &c->err)) != NULL;
}

/* Moves to the next row, which is rows[at]. */
static bool next_row(RowCursor *c, size_t otherwise, size_t row_bytes, ListRows *list)
{
    AllocatorRows *at = c->state;
    if (!c->started && !open_rows(c, at, otherwise, row_bytes)) return false;
    for (at->at += c->started; at->at >= at->n; at->at = 0) {
        if (at->next_allocator == at->profile->n_allocators) return false;
        const MemoryAllocator *a = &at->profile->allocators[at->next_allocator++];
        at->n = list(a, at->n_wanted, at->rows, &c->err);
        if (c->err.code) return false;
    }
    return true;
}

static uint64_t place_of(const MemoryAllocator *a, size_t number)
{
    enum { NUMBER_BITS = 10 };
    return place_pair(a->events[0]->event, NUMBER_BITS, number);
}

static void close_rows(void *state) { prof_free(((AllocatorRows *)state)->rows); }

/* ---- memory_time ---- */

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

static size_t list_levels(const MemoryAllocator *a, size_t n, void *rows, ProfErr *err)
{
    return memory_levels(a, n, rows, err);
}

static const MemoryLevel *level_at(const RowCursor *c)
{
    const AllocatorRows *at = c->state;
    return (const MemoryLevel *)at->rows + at->at;
}

static bool memory_time_next(RowCursor *c)
{
    if (!next_row(c, LEVELS, sizeof(MemoryLevel), list_levels)) return false;
    c->place = place_of(level_at(c)->allocator, level_at(c)->level);
    return true;
}

static void memory_time_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryLevel *l = level_at(c);
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
                                           .state_bytes = sizeof(AllocatorRows),
                                           .close = close_rows,
                                           .column = memory_time_column,
                                           .n_parameters = 1,
                                           .keeps_rows = true,
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

/* ---- memory_over_time ---- */

#define IN_USE "memory in use (heap_bytes + stack_bytes of memory_events, 0 if negative)"
#define MEMORY_OVER_TIME_COLUMNS(C)                                                                \
    C(MP_RUN, RUN_DOC)                                                                             \
    C(MP_HOST, HOST_DOC)                                                                           \
    C(MP_ALLOCATOR, "allocator", "TEXT", NULL, "name of the allocator, as in memory_allocators",   \
      "memory_profile memoryId")                                                                   \
    C(MP_PART, "part", "INTEGER", NULL,                                                            \
      "number of the part, from 1: the time from the allocator's first event up to and including " \
      "its last one is divided into `parts` equal parts. A part without a whole picosecond, as "   \
      "if there are more parts than picoseconds, has no row",                                      \
      "libprofsql")                                                                                \
    C(MP_START, "start_ps", "INTEGER", "ps",                                                       \
      "first picosecond of the part, from the session start", "libprofsql")                        \
    C(MP_START_US, START_US_DOC)                                                                   \
    C(MP_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time from start_ps until the next part starts; the last part ends 1 ps after the last "     \
      "event",                                                                                     \
      "libprofsql")                                                                                \
    C(MP_DURATION_US, DURATION_US_DOC)                                                             \
    C(MP_EVENTS, "event_count", "INTEGER", "events",                                               \
      "number of rows of memory_events with a time_ps in the part", "libprofsql")                  \
    C(MP_MOST, "most_bytes", "INTEGER", "bytes",                                                   \
      "most " IN_USE " at any moment of the part: when it starts, and after each of its events, "  \
      "also after those that another one follows at the same time_ps",                             \
      "libprofsql")                                                                                \
    C(MP_LEAST, "least_bytes", "INTEGER", "bytes",                                                 \
      "least memory in use at any moment of the part, as for most_bytes", "libprofsql")            \
    C(MP_END, "end_bytes", "INTEGER", "bytes",                                                     \
      "memory in use when the part ends, before the events at the start of the next part",         \
      "libprofsql")                                                                                \
    C(MP_SOURCE, SOURCE_DOC)                                                                       \
    C(MP_PARTS, "parts", "INTEGER HIDDEN", "1 to 1000", "number of parts; default 100",            \
      "argument 2")
enum { MEMORY_OVER_TIME_COLUMNS(COLUMN_ENUM) };
static const Column memory_over_time_columns[] = {MEMORY_OVER_TIME_COLUMNS(COLUMN_DOC)};
enum { PARTS = 100 };

static size_t list_parts(const MemoryAllocator *a, size_t n, void *rows, ProfErr *err)
{
    return memory_parts(a, n, rows, err);
}

static const MemoryPart *part_at(const RowCursor *c)
{
    const AllocatorRows *at = c->state;
    return (const MemoryPart *)at->rows + at->at;
}

static bool memory_over_time_next(RowCursor *c)
{
    if (!next_row(c, PARTS, sizeof(MemoryPart), list_parts)) return false;
    c->place = place_of(part_at(c)->allocator, part_at(c)->part);
    return true;
}

static void memory_over_time_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryPart *p = part_at(c);
    switch (column) {
    case MP_ALLOCATOR: result_text(ctx, p->allocator->name); break;
    case MP_PART: sqlite3_result_int64(ctx, (sqlite3_int64)p->part); break;
    case MP_START:
    case MP_START_US: result_time(ctx, p->start_ps, column == MP_START_US); break;
    case MP_DURATION:
    case MP_DURATION_US: result_span(ctx, p->ps, column == MP_DURATION_US); break;
    case MP_EVENTS: result_u64(ctx, p->n_events); break;
    case MP_MOST: sqlite3_result_int64(ctx, p->most_bytes); break;
    case MP_LEAST: sqlite3_result_int64(ctx, p->least_bytes); break;
    case MP_END: sqlite3_result_int64(ctx, p->end_bytes); break;
    default: break;
    }
}

static const RowSource memory_over_time_rows = {
    .next = memory_over_time_next,
    .state_bytes = sizeof(AllocatorRows),
    .close = close_rows,
    .column = memory_over_time_column,
    .n_parameters = 1,
    .keeps_rows = true,
    .needs = NEED_EVENTS | NEED_ALLOCATIONS,
    .nothing = "no allocation event records a number of bytes"};
const Table memory_over_time_table = {
    "memory_over_time",
    "one part of an allocator's time, with the most and the least memory in use in it; in the "
    "order of the allocators' names and of time",
    memory_over_time_columns,
    COUNT(memory_over_time_columns),
    &row_table_module,
    &memory_over_time_rows,
    500,
    "0.1.0",
    "SELECT allocator, start_us, most_bytes, end_bytes FROM memory_over_time"};
