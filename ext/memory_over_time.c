// SPDX-License-Identifier: Apache-2.0
/* memory_over_time.c: the table memory_over_time: how much memory allocators have in use in each
 * part of the time.
 *
 *   SELECT allocator, start_us, most_bytes FROM memory_over_time('logs'); */
#include "../loader/analysis/memory/memory_parts.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

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

typedef struct {
    const MemoryProfile *profile;
    size_t n_parts, next_allocator;
    MemoryPart *parts; /* of one allocator */
    size_t n, at;
} MemoryPartAt;

static bool open_parts(RowCursor *c, MemoryPartAt *at)
{
    at->n_parts = (size_t)row_integer_parameter(c, 0, PARTS);
    at->parts = prof_buffer(at->n_parts * sizeof *at->parts);
    if (!at->parts) {
        prof_nomem(&c->err);
        return false;
    }
    return (at->profile = host_memory_profile(c->host, &c->err)) != NULL;
}

static bool memory_over_time_next(RowCursor *c)
{
    MemoryPartAt *at = c->state;
    if (!c->started && !open_parts(c, at)) return false;
    for (at->at += c->started; at->at >= at->n; at->at = 0) {
        if (at->next_allocator == at->profile->n_allocators) return false;
        const MemoryAllocator *a = &at->profile->allocators[at->next_allocator++];
        at->n = memory_parts(a, at->n_parts, at->parts, &c->err);
        if (c->err.code) return false;
    }
    enum { PART_BITS = 10 };
    const MemoryPart *p = &at->parts[at->at];
    c->place = place_pair(p->allocator->events[0]->event, PART_BITS, p->part);
    return true;
}

static void memory_over_time_close(void *state) { prof_free(((MemoryPartAt *)state)->parts); }

static void memory_over_time_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryPartAt *at = c->state;
    const MemoryPart *p = &at->parts[at->at];
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
    .state_bytes = sizeof(MemoryPartAt),
    .close = memory_over_time_close,
    .column = memory_over_time_column,
    .n_parameters = 1,
    .always_rows = true,
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
