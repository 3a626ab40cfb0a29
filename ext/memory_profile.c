// SPDX-License-Identifier: Apache-2.0
/* memory_profile.c: the tables memory_events, memory_allocators and memory_active: the activity of
 * allocators, as in XProf's memory profile.
 *
 *   SELECT allocator, profile_peak_bytes >> 20 AS peak_mib
 *     FROM memory_allocators('logs');   -- GPU_0_bfc|252
 *   SELECT tf_op, allocation_bytes, occurrences
 *     FROM memory_active('logs') WHERE special IS NULL LIMIT 3;   -- what was live at the peak */
#include "../loader/analysis/memory/memory_profile.h"
#include "../loader/base/search.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define ALLOCATOR_DOC                                                                              \
    "allocator", "TEXT", NULL,                                                                     \
        "name of the allocator, or its number on the host; empty if its events name none",         \
        "memory_profile memoryId"

static void result_event(sqlite3_context *ctx, const MemoryEvent *e)
{
    if (e) sqlite3_result_int64(ctx, (sqlite3_int64)e->event);
}

/* State of all tables here: the items of one allocator after another. */
typedef struct {
    const MemoryProfile *profile;
    size_t allocator, item;
    const MemoryEvent *event; /* memory_events: the event, and what memory_sampled() keeps */
    size_t sample;
} MemoryAt;

static bool open_profile(RowCursor *c, MemoryAt *at)
{
    if (!c->started) at->profile = host_memory_profile(c->host, &c->err);
    return at->profile;
}

/* Returns the first allocator of the cursor; they are in the order of their names. */
static size_t first_allocator(const RowCursor *c, const MemoryProfile *profile)
{
    const char *name = c->text_key[KEY_ALLOCATOR];
    return name ? LOWER_BOUND(i, 0, profile->n_allocators,
                              strcmp(profile->allocators[i].name->text, name) < 0)
                : 0;
}

static bool is_wanted(const RowCursor *c, const MemoryAllocator *a)
{
    const char *name = c->text_key[KEY_ALLOCATOR];
    return !name || !strcmp(name, a->name->text);
}

/* Moves to the next item; `count` returns how many an allocator has. NULL if there is none, or with
 * c->err set. */
static const MemoryAllocator *next_item(RowCursor *c, size_t (*count)(const MemoryAllocator *))
{
    MemoryAt *at = c->state;
    if (!open_profile(c, at)) return NULL;
    if (!c->started) at->allocator = first_allocator(c, at->profile);
    at->item += c->started;
    for (; at->allocator < at->profile->n_allocators; at->allocator++, at->item = 0) {
        const MemoryAllocator *a = &at->profile->allocators[at->allocator];
        if (!is_wanted(c, a)) return NULL;
        if (at->item < count(a)) return a;
    }
    return NULL;
}

/* ---- memory_events ---- */

#define EVENTS_COLUMNS(C)                                                                          \
    C(ME_RUN, RUN_DOC)                                                                             \
    C(ME_HOST, HOST_DOC)                                                                           \
    C(ME_ALLOCATOR, ALLOCATOR_DOC)                                                                 \
    C(ME_GROUP, "group_id", "INTEGER", NULL,                                                       \
      "group_id of the step that the event belongs to, on its host: the last that the event "      \
      "records (0 if that is no int64, as in XProf), or in a file without groups "                 \
      "trace_events.step; NULL if the event belongs to no step",                                   \
      "group_id")                                                                                  \
    C(ME_STEP, "step", "INTEGER", NULL,                                                            \
      "step of the event: its group_id; without one, XProf's guess: 1 + the group_id of the last " \
      "event before it that has one, or 0 if there is none",                                       \
      "memory_profile stepId")                                                                     \
    C(ME_TIME, "time_ps", "INTEGER", "ps", "time of the event, from the start of the session",     \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(ME_TIME_US, "time_us", "REAL", "us", "time_ps in microseconds", "libprofsql")                \
    C(ME_LINE_TIME, "line_time_ps", "INTEGER", "ps",                                               \
      "time of the event, from the start of its line; XProf orders events by it",                  \
      "memory_profile timeOffsetPs")                                                               \
    C(ME_ACTIVITY, "activity", "TEXT", NULL, "kind of the event: ALLOCATION or DEALLOCATION",      \
      "memory_profile memoryActivity")                                                             \
    C(ME_REQUESTED, "requested_bytes", "INTEGER", "bytes",                                         \
      "number of bytes requested; 0 if the event does not record it",                              \
      "memory_profile requestedBytes")                                                             \
    C(ME_ALLOCATED, "allocation_bytes", "INTEGER", "bytes",                                        \
      "number of bytes allocated; 0 if the event does not record it",                              \
      "memory_profile allocationBytes")                                                            \
    C(ME_ADDRESS, "address", "TEXT", NULL,                                                         \
      "address of the memory, decimal; 0 if the event does not record it",                         \
      "memory_profile address")                                                                    \
    C(ME_HEAP, "heap_bytes", "INTEGER", "bytes",                                                   \
      "bytes allocated on the heap after the event; 0 if the event does not record it",            \
      "memory_profile heapAllocatedBytes")                                                         \
    C(ME_STACK, "stack_bytes", "INTEGER", "bytes",                                                 \
      "bytes reserved in addition to the heap; 0 if the event does not record it",                 \
      "memory_profile stackReservedBytes")                                                         \
    C(ME_FREE, "free_bytes", "INTEGER", "bytes",                                                   \
      "bytes free after the event; 0 if the event does not record it",                             \
      "memory_profile freeMemoryBytes")                                                            \
    C(ME_PEAK, "peak_bytes_in_use", "INTEGER", "bytes",                                            \
      "largest number of bytes in use during the allocator's lifetime until the event; 0 if the "  \
      "event does not record it",                                                                  \
      "memory_profile peakBytesInUse")                                                             \
    C(ME_FRAGMENTATION, "fragmentation_fraction", "REAL", "fraction 0..1",                         \
      "share of the free memory that is outside the largest free block; 0 if the event does not "  \
      "record it, NULL if it records NaN",                                                         \
      "memory_profile fragmentation")                                                              \
    C(ME_TF_OP, "tf_op", "TEXT", NULL,                                                             \
      "op that requested the memory; for a free, the op of the previous allocation at the "        \
      "address; NULL if unknown. Some ROCm profilers write the text (null) for unknown",           \
      "memory_profile tfOpName")                                                                   \
    C(ME_REGION, "region_type", "TEXT", NULL,                                                      \
      "kind of memory region: temp, output, persist/dynamic and others; NULL if unknown. Some "    \
      "ROCm profilers write the text (null) for unknown",                                          \
      "memory_profile regionType")                                                                 \
    C(ME_DATA_TYPE, "data_type", "TEXT", NULL,                                                     \
      "element type of the tensor, by TensorFlow's name; INVALID for type 0; NULL if unknown",     \
      "memory_profile dataType")                                                                   \
    C(ME_SHAPE, "shape", "TEXT", NULL, "shape of the tensor; NULL if unknown",                     \
      "memory_profile tensorShape")                                                                \
    C(ME_SAMPLED, "sampled", "INTEGER", "0 or 1",                                                  \
      "1: XProf's timeline shows the event. XProf divides the allocator's events, in order of "    \
      "line_time_ps, into `samples` parts of equally many events (the last parts have one more "   \
      "if they cannot be equal) and shows the event of each part with the most memory in use, "    \
      "the first if there are several",                                                            \
      "memory_profile sampledTimelineSnapshots")                                                   \
    C(ME_EVENT, EVENT_ID_DOC)                                                                      \
    C(ME_MATCH, "match_event_id", "INTEGER", NULL,                                                 \
      "event_id of the free of an allocation, or of the allocation that a free releases, matched " \
      "by address and time_ps; NULL if the profile does not contain it",                           \
      "libprofsql")                                                                                \
    C(ME_LIVE_UNTIL, "live_until_ps", "INTEGER", "ps",                                             \
      "for an allocation: moment at which it was freed, or at which its address was allocated "    \
      "again without a recorded free; NULL for a free, and for an allocation that was live until " \
      "the end",                                                                                   \
      "libprofsql")                                                                                \
    C(ME_END, "live_until_event_id", "INTEGER", NULL,                                              \
      "event_id of the event at live_until_ps: the free of an allocation (match_event_id), or "    \
      "the next allocation at its address; NULL where live_until_ps is",                           \
      "libprofsql")                                                                                \
    C(ME_LIVE, "live_at_peak", "INTEGER", "0 or 1",                                                \
      "1: memory of the allocation is in use at the allocator's peak (peak_event_id of "           \
      "memory_allocators): allocated until then, in order of time_ps and event_id, and not freed " \
      "or allocated again until then; 0 for others and for frees",                                 \
      "libprofsql")                                                                                \
    C(ME_FIRST, "first_of_step", "INTEGER", "0 or 1",                                              \
      "1: first event of its allocator in its step, in order of time_ps and event_id",             \
      "libprofsql")                                                                                \
    C(ME_LAST, "last_of_step", "INTEGER", "0 or 1",                                                \
      "1: last event of its allocator in its step, in order of time_ps and event_id",              \
      "libprofsql")                                                                                \
    C(ME_SOURCE, SOURCE_DOC)                                                                       \
    C(ME_SAMPLES, "samples", "INTEGER HIDDEN", "events",                                           \
      "number of events of an allocator that are `sampled`; default 1000", "argument 2")
enum { EVENTS_COLUMNS(COLUMN_ENUM) };
static const Column events_columns[] = {EVENTS_COLUMNS(COLUMN_DOC)};
enum { XPROF_SAMPLES = 1000 };

static size_t n_events(const MemoryAllocator *a) { return a->n_events; }

/* Returns the next event: a single one if the query asks for its number, else one after another. */
static const MemoryEvent *next_event(RowCursor *c)
{
    MemoryAt *at = c->state;
    if (!c->has_key[KEY_EVENT_ID]) {
        const MemoryAllocator *a = next_item(c, n_events);
        return a ? a->events[at->item] : NULL;
    }
    return !c->started && open_profile(c, at)
               ? memory_event(at->profile, (uint64_t)c->key[KEY_EVENT_ID])
               : NULL;
}

static bool events_next(RowCursor *c)
{
    MemoryAt *at = c->state;
    if (!(at->event = next_event(c))) return false;
    if (!at->item) at->sample = SIZE_MAX;
    c->place = at->event->event;
    return true;
}

static bool is_sampled(const RowCursor *c, MemoryAt *at)
{
    sqlite3_int64 n_samples = row_integer_parameter(c, 0, XPROF_SAMPLES);
    return memory_sampled(at->event, n_samples > 0 ? (size_t)n_samples : 0, &at->sample);
}

static void events_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    MemoryAt *at = c->state;
    const MemoryEvent *e = at->event;
    switch (column) {
    case ME_ALLOCATOR: result_text(ctx, e->allocator); break;
    case ME_GROUP:
        if (e->group != -1) sqlite3_result_int64(ctx, e->group);
        break;
    case ME_STEP: sqlite3_result_int64(ctx, e->step); break;
    case ME_TIME:
    case ME_TIME_US: result_time(ctx, e->start_ps, column == ME_TIME_US); break;
    case ME_LINE_TIME: sqlite3_result_int64(ctx, e->line_time_ps); break;
    case ME_ACTIVITY: result_static(ctx, e->is_free ? "DEALLOCATION" : "ALLOCATION"); break;
    case ME_REQUESTED: sqlite3_result_int64(ctx, e->requested_bytes); break;
    case ME_ALLOCATED: sqlite3_result_int64(ctx, e->allocation_bytes); break;
    case ME_ADDRESS: result_id(ctx, e->address); break;
    case ME_HEAP: sqlite3_result_int64(ctx, e->heap_bytes); break;
    case ME_STACK: sqlite3_result_int64(ctx, e->stack_bytes); break;
    case ME_FREE: sqlite3_result_int64(ctx, e->free_bytes); break;
    case ME_PEAK: sqlite3_result_int64(ctx, e->peak_bytes); break;
    case ME_FRAGMENTATION: sqlite3_result_double(ctx, e->fragmentation); break;
    case ME_TF_OP: result_nonempty(ctx, e->tf_op); break;
    case ME_REGION: result_nonempty(ctx, e->region_type); break;
    case ME_DATA_TYPE: result_nonempty(ctx, e->data_type); break;
    case ME_SHAPE: result_nonempty(ctx, e->shape); break;
    case ME_SAMPLED: sqlite3_result_int(ctx, is_sampled(c, at)); break;
    case ME_EVENT: result_event(ctx, e); break;
    case ME_MATCH: result_event(ctx, e->match); break;
    case ME_LIVE_UNTIL:
        if (memory_end(e)) sqlite3_result_int64(ctx, memory_end(e)->start_ps);
        break;
    case ME_END: result_event(ctx, memory_end(e)); break;
    case ME_FIRST: sqlite3_result_int(ctx, e->first_of_step); break;
    case ME_LAST: sqlite3_result_int(ctx, e->last_of_step); break;
    case ME_LIVE: sqlite3_result_int(ctx, memory_live_at_peak(e)); break;
    default: break;
    }
}

static const RowSource events_rows = {.next = events_next,
                                      .state_bytes = sizeof(MemoryAt),
                                      .column = events_column,
                                      .n_parameters = 1,
                                      .needs = NEED_EVENTS | NEED_ALLOCATIONS,
                                      .nothing = "no allocation event records a number of bytes"};
const Table memory_events_table = {
    "memory_events",
    "one allocation or free that an allocator recorded",
    events_columns,
    COUNT(events_columns),
    &row_table_module,
    &events_rows,
    10000,
    "0.1.0",
    "SELECT allocator, time_us, activity, allocation_bytes, tf_op FROM memory_events LIMIT 10"};

/* ---- memory_allocators ---- */

#define ALLOCATORS_COLUMNS(C)                                                                      \
    C(MA_RUN, RUN_DOC)                                                                             \
    C(MA_HOST, HOST_DOC)                                                                           \
    C(MA_ALLOCATOR, ALLOCATOR_DOC)                                                                 \
    C(MA_CAPACITY, "capacity_bytes", "INTEGER", "bytes",                                           \
      "heap, stack and free memory at the peak, added up", "memory_profile memoryCapacity")        \
    C(MA_LIFETIME, "lifetime_peak_bytes", "INTEGER", "bytes",                                      \
      "largest memory in use during the allocator's lifetime, from its last event in the file, "   \
      "which may not be the last in time",                                                         \
      "memory_profile peakBytesUsageLifetime")                                                     \
    C(MA_PEAK, "profile_peak_bytes", "INTEGER", "bytes",                                           \
      "largest memory in use (heap plus stack) during the profile",                                \
      "memory_profile peakStats.peakBytesInUse")                                                   \
    C(MA_TIME, "peak_time_ps", "INTEGER", "ps",                                                    \
      "time of the peak, from the start of the session (the last in the file, if several peaks "   \
      "are equal); NULL if heap plus stack is negative in all events",                             \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(MA_LINE_TIME, "peak_line_time_ps", "INTEGER", "ps",                                          \
      "time of the peak, from the start of its line; 0 if heap plus stack is negative in all "     \
      "events",                                                                                    \
      "memory_profile peakStatsTimePs")                                                            \
    C(MA_HEAP, "heap_bytes_at_peak", "INTEGER", "bytes",                                           \
      "bytes allocated on the heap at the peak", "memory_profile peakStats.heapAllocatedBytes")    \
    C(MA_STACK, "stack_bytes_at_peak", "INTEGER", "bytes", "bytes of stack reserved at the peak",  \
      "memory_profile peakStats.stackReservedBytes")                                               \
    C(MA_FREE, "free_bytes_at_peak", "INTEGER", "bytes", "bytes free at the peak",                 \
      "memory_profile peakStats.freeMemoryBytes")                                                  \
    C(MA_FRAGMENTATION, "fragmentation_at_peak_fraction", "REAL", "fraction 0..1",                 \
      "share of the free memory at the peak that is outside the largest free block; NULL if the "  \
      "event records NaN",                                                                         \
      "memory_profile peakStats.fragmentation")                                                    \
    C(MA_STEP, "peak_step", "INTEGER", NULL,                                                       \
      "step of the last event at the peak, in XProf's order of time", "memory_profile stepId")     \
    C(MA_EVENT, "peak_event_id", "INTEGER", NULL,                                                  \
      "event_id of the peak; NULL if heap plus stack is negative in all events", "libprofsql")     \
    C(MA_LIFETIME_ACTUAL, "lifetime_peak_bytes_actual", "INTEGER", "bytes",                        \
      "largest memory in use during the allocator's lifetime, over all its events",                \
      "peak_bytes_in_use")                                                                         \
    C(MA_ALLOCATIONS, "allocation_count", "INTEGER", "events",                                     \
      "number of allocations in the profile (XProf's page counts only the sampled ones)",          \
      "libprofsql")                                                                                \
    C(MA_FREES, "free_count", "INTEGER", "events", "number of frees in the profile", "libprofsql") \
    C(MA_UNMATCHED, "unmatched_free_count", "INTEGER", "events",                                   \
      "number of frees of memory that was allocated before the profile or whose allocation was "   \
      "not recorded",                                                                              \
      "libprofsql")                                                                                \
    C(MA_EARLIER, "earlier_bytes_at_peak", "INTEGER", "bytes",                                     \
      "part of heap_bytes_at_peak that was allocated before the allocator's first event in the "   \
      "profile: the heap before this event, minus the bytes freed until the peak whose "           \
      "allocation is not in the profile. At least 0, and at most the heap minus the allocations "  \
      "that are live at the peak (memory_events.live_at_peak)",                                    \
      "libprofsql")                                                                                \
    C(MA_UNKNOWN, "unknown_bytes_at_peak", "INTEGER", "bytes",                                     \
      "rest of heap_bytes_at_peak: neither allocated during the profile nor earlier; negative if " \
      "the live allocations exceed the heap",                                                      \
      "libprofsql")                                                                                \
    C(MA_SOURCE, SOURCE_DOC)
enum { ALLOCATORS_COLUMNS(COLUMN_ENUM) };
static const Column allocators_columns[] = {ALLOCATORS_COLUMNS(COLUMN_DOC)};

static void allocators_list(RowCursor *c, RowList *list)
{
    const MemoryProfile *profile = host_memory_profile(c->host, &c->err);
    if (profile) *list = ROW_LIST(profile->allocators, profile->n_allocators);
}

static bool allocators_shows(RowCursor *c, const void *item)
{
    c->place = ((const MemoryAllocator *)item)->events[0]->event;
    return true;
}

static void allocators_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryAllocator *a = c->row;
    static const MemoryEvent none;
    const MemoryEvent *peak = a->peak ? a->peak : &none;
    switch (column) {
    case MA_ALLOCATOR: result_text(ctx, a->name); break;
    case MA_CAPACITY: sqlite3_result_int64(ctx, a->capacity_bytes); break;
    case MA_LIFETIME: sqlite3_result_int64(ctx, a->last_peak_bytes); break;
    case MA_PEAK: sqlite3_result_int64(ctx, a->peak_bytes); break;
    case MA_TIME:
        if (a->peak) sqlite3_result_int64(ctx, peak->start_ps);
        break;
    case MA_LINE_TIME: sqlite3_result_int64(ctx, peak->line_time_ps); break;
    case MA_HEAP: sqlite3_result_int64(ctx, peak->heap_bytes); break;
    case MA_STACK: sqlite3_result_int64(ctx, peak->stack_bytes); break;
    case MA_FREE: sqlite3_result_int64(ctx, peak->free_bytes); break;
    case MA_FRAGMENTATION: sqlite3_result_double(ctx, peak->fragmentation); break;
    case MA_STEP: sqlite3_result_int64(ctx, a->peak_step); break;
    case MA_EVENT: result_event(ctx, a->peak); break;
    case MA_LIFETIME_ACTUAL: sqlite3_result_int64(ctx, a->max_peak_bytes); break;
    case MA_ALLOCATIONS: sqlite3_result_int64(ctx, a->n_allocations); break;
    case MA_FREES: sqlite3_result_int64(ctx, a->n_frees); break;
    case MA_UNMATCHED: sqlite3_result_int64(ctx, a->n_unmatched_frees); break;
    case MA_EARLIER: sqlite3_result_int64(ctx, a->earlier_bytes); break;
    case MA_UNKNOWN: sqlite3_result_int64(ctx, a->unknown_bytes); break;
    default: break;
    }
}

static const RowSource allocators_rows = {.list = allocators_list,
                                          .shows = allocators_shows,
                                          .column = allocators_column,
                                          .needs = NEED_EVENTS | NEED_ALLOCATIONS,
                                          .nothing =
                                              "no allocation event records a number of bytes"};
const Table memory_allocators_table = {
    "memory_allocators",
    "one allocator, with its peaks and the composition of its memory at the profile's peak",
    allocators_columns,
    COUNT(allocators_columns),
    &row_table_module,
    &allocators_rows,
    10,
    "0.1.0",
    "SELECT allocator, capacity_bytes, profile_peak_bytes FROM memory_allocators"};

/* ---- memory_active ---- */

#define ACTIVE_COLUMNS(C)                                                                          \
    C(MC_RUN, RUN_DOC)                                                                             \
    C(MC_HOST, HOST_DOC)                                                                           \
    C(MC_ALLOCATOR, ALLOCATOR_DOC)                                                                 \
    C(MC_RANK, "rank", "INTEGER", NULL,                                                            \
      "rank of the row within its allocator, from 1; largest allocation first",                    \
      "memory_profile activeAllocations")                                                          \
    C(MC_TF_OP, "tf_op", "TEXT", NULL,                                                             \
      "op that requested the memory, or XProf's name of a special row; NULL if unknown",           \
      "memory_profile tfOpName")                                                                   \
    C(MC_ALLOCATED, "allocation_bytes", "INTEGER", "bytes", "bytes of one allocation",             \
      "memory_profile allocationBytes")                                                            \
    C(MC_REQUESTED, "requested_bytes", "INTEGER", "bytes",                                         \
      "bytes that were requested for one allocation", "memory_profile requestedBytes")             \
    C(MC_OCCURRENCES, "occurrences", "INTEGER", "allocations",                                     \
      "number of live allocations that are equal in the columns of this row",                      \
      "memory_profile numOccurrences")                                                             \
    C(MC_REGION, "region_type", "TEXT", NULL,                                                      \
      "kind of memory region: temp, output, persist/dynamic and others; NULL if unknown",          \
      "memory_profile regionType")                                                                 \
    C(MC_DATA_TYPE, "data_type", "TEXT", NULL,                                                     \
      "element type of the tensor, by TensorFlow's name; NULL if unknown",                         \
      "memory_profile dataType")                                                                   \
    C(MC_SHAPE, "shape", "TEXT", NULL, "shape of the tensor; NULL if unknown",                     \
      "memory_profile tensorShape")                                                                \
    C(MC_SPECIAL, "special", "TEXT", NULL,                                                         \
      "unused: heap that no allocation in the peak's step explains (allocated earlier, or kept "   \
      "by the allocator); stack: reserved stack memory; NULL for allocations",                     \
      "memory_profile specialAllocations")                                                         \
    C(MC_STEP, "step", "INTEGER", NULL,                                                            \
      "step of the peak; as in XProf, only allocations of this step are listed",                   \
      "memory_profile stepId")                                                                     \
    C(MC_EVENT, "event_id", "INTEGER", NULL,                                                       \
      "event_id of the allocation (the first in the file, if there are several); NULL for "        \
      "special rows",                                                                              \
      "libprofsql")                                                                                \
    C(MC_SOURCE, SOURCE_DOC)
enum { ACTIVE_COLUMNS(COLUMN_ENUM) };
static const Column active_columns[] = {ACTIVE_COLUMNS(COLUMN_DOC)};

static size_t n_active(const MemoryAllocator *a) { return a->n_active; }

static const ActiveMemory *active_at(const MemoryAt *at)
{
    return &at->profile->allocators[at->allocator].active[at->item];
}

static bool active_next(RowCursor *c)
{
    const MemoryAllocator *a = next_item(c, n_active);
    if (!a) return false;
    const ActiveMemory *active = active_at(c->state);
    const MemoryEvent *event = active->event ? active->event : a->events[0];
    c->place = event->event << 2 | active->special;
    return true;
}

static void active_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryAt *at = c->state;
    const MemoryAllocator *a = &at->profile->allocators[at->allocator];
    const ActiveMemory *active = active_at(at);
    switch (column) {
    case MC_ALLOCATOR: result_text(ctx, a->name); break;
    case MC_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)at->item + 1); break;
    case MC_TF_OP: result_nonempty(ctx, active->tf_op); break;
    case MC_ALLOCATED: sqlite3_result_int64(ctx, active->allocation_bytes); break;
    case MC_REQUESTED: sqlite3_result_int64(ctx, active->requested_bytes); break;
    case MC_OCCURRENCES: sqlite3_result_int64(ctx, active->occurrences); break;
    case MC_REGION: result_nonempty(ctx, active->region_type); break;
    case MC_DATA_TYPE: result_nonempty(ctx, active->data_type); break;
    case MC_SHAPE: result_nonempty(ctx, active->shape); break;
    case MC_SPECIAL: result_static(ctx, special_memory_names[active->special]); break;
    case MC_STEP: sqlite3_result_int64(ctx, a->peak_step); break;
    case MC_EVENT: result_event(ctx, active->event); break;
    default: break;
    }
}

static const RowSource active_rows = {.next = active_next,
                                      .state_bytes = sizeof(MemoryAt),
                                      .column = active_column,
                                      .needs = NEED_EVENTS | NEED_ALLOCATIONS,
                                      .nothing = "no memory was live at an allocator's peak"};
const Table memory_active_table = {
    "memory_active",
    "one group of equal allocations that were live at their allocator's peak, or heap or stack "
    "that no allocation explains",
    active_columns,
    COUNT(active_columns),
    &row_table_module,
    &active_rows,
    100,
    "0.1.0",
    "SELECT allocator, tf_op, allocation_bytes, occurrences FROM memory_active"};
