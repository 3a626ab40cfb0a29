// SPDX-License-Identifier: Apache-2.0
/* trace_events.h: the table of all events, in four files: trace_events_plan.c decides which terms
 * of a query are pushed down, trace_events_match.c which metadata they leave, trace_events_walk.c
 * steps through the events that remain, trace_events.c writes their columns.
 *
 * The walk has units: a unit is a line, or the events of one metadata id on a line. Each unit is
 * read in batches of up to CHUNK_EVENTS events. A column of a batch is unpacked when it is first
 * read. */
#ifndef PROF_TRACE_EVENTS_H
#define PROF_TRACE_EVENTS_H

#include "../loader/store/chunks.h"
#include "../loader/store/event_values.h"
#include "../loader/analysis/grouping/grouping.h"
#include "../loader/analysis/ops/short_names.h"
#include "prof.h"

#define EVENTS_COLUMNS(C)                                                                          \
    C(EV_RUN, RUN_DOC)                                                                             \
    C(EV_HOST, HOST_DOC)                                                                           \
    C(EV_ID, EVENT_ID_DOC)                                                                         \
    C(EV_PLANE, PLANE_DOC)                                                                         \
    C(EV_LINE, "line", "TEXT", NULL, "display name of the line, or its name",                      \
      "XLine.display_name, else XLine.name")                                                       \
    C(EV_NAME, "name", "TEXT", NULL,                                                               \
      "name of the event; for a TPU op, its HLO text; empty if the plane does not declare the "    \
      "event's metadata",                                                                          \
      "XEventMetadata.name")                                                                       \
    C(EV_SHORT_NAME, EVENT_SHORT_NAME_DOC)                                                         \
    C(EV_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the event from the start of the session; below 0 if it starts earlier. "           \
      "Aggregated events have offset 0. Saturates at the limits of int64",                         \
      "XLine.timestamp_ns * 1000 + XEvent.offset_ps")                                              \
    C(EV_START_US, START_US_DOC)                                                                   \
    C(EV_DURATION, "duration_ps", "INTEGER", "ps", "duration of the event", "XEvent.duration_ps")  \
    C(EV_DURATION_US, DURATION_US_DOC)                                                             \
    C(EV_SELF, "self_ps", "INTEGER", "ps",                                                         \
      "duration of the event without the events nested directly in it on the line; below 0 if "    \
      "these overlap each other (asynchronous lines)",                                             \
      "libprofsql")                                                                                \
    C(EV_DEPTH, "depth", "INTEGER", NULL,                                                          \
      "nesting depth: number of events on the line that contain this one", "libprofsql")           \
    C(EV_PARENT, "parent_id", "INTEGER", NULL,                                                     \
      "event_id of the innermost event on the line that contains this one; NULL at depth 0",       \
      "libprofsql")                                                                                \
    C(EV_GROUP, "group_id", "INTEGER", NULL,                                                       \
      "group (step) that the file records for the event (the first, if there are several); NULL "  \
      "if there is none",                                                                          \
      "stat group_id")                                                                             \
    C(EV_OCCURRENCES, "occurrences", "INTEGER", NULL,                                              \
      "number of occurrences that an aggregated event sums up; NULL for a plain event",            \
      "XEvent.num_occurrences")                                                                    \
    C(EV_CORRELATION, "correlation_id", "INTEGER", NULL,                                           \
      "id that connects a launch with its kernel (join on run, host, correlation_id); decimal "    \
      "TEXT above 2^63-1; NULL if the event has none",                                             \
      "stat correlation_id")                                                                       \
    C(EV_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the HLO program, decimal, or the text that the file has instead; NULL if the event "  \
      "has none",                                                                                  \
      "stat program_id")                                                                           \
    C(EV_HLO_MODULE, "hlo_module", "TEXT", NULL,                                                   \
      "name of the HLO module, without (id); NULL if the event has none",                          \
      "stat hlo_module; without it on TPU the name of an event on a line of modules, and for "     \
      "others the entry of /host:metadata for their program_id")                                   \
    C(EV_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "name of the HLO instruction: the part after the last ::, without a % before it and a "      \
      "{i,j} after it; NULL if the event has none",                                                \
      "stat hlo_op; without it on the op lines of TPUs (XLA Ops, Async XLA Ops) the display "      \
      "name, else the name up to ` = `")                                                           \
    C(EV_TF_OP, "tf_op", "TEXT", NULL,                                                             \
      "path of the framework op: `name:type` in TensorFlow's profiles and on TPU; for GPU "        \
      "kernels that XLA launched, hlo_instructions.tf_op; NULL if the event has none",             \
      "stat tf_op; for XLA's GPU kernels whose tf_op names only the module, stat name, else "      \
      "OpMetadata.op_name; in GPU files until 2023, level 0 or annotation")                        \
    C(EV_CATEGORY, "category", "TEXT", NULL, "HLO category; NULL if the file does not record it",  \
      "stat hlo_category")                                                                         \
    C(EV_FLOPS, "flops", "INTEGER", "FLOP",                                                        \
      "floating-point operations of one execution, as recorded in the file; NULL if the file "     \
      "does not record them",                                                                      \
      "stat flops")                                                                                \
    C(EV_BYTES, "bytes_accessed", "INTEGER", "bytes",                                              \
      "bytes read and written by one execution, as recorded in the file; NULL if the file does "   \
      "not record them",                                                                           \
      "stat bytes_accessed")                                                                       \
    C(EV_SHAPE, "shape", "TEXT", NULL,                                                             \
      "shape of the op's result, with layout if the file has it; NULL if the file does not "       \
      "record it",                                                                                 \
      "stat shape_with_layout, else shape")                                                        \
    C(EV_SOURCE_FILE, "source_file", "TEXT", NULL,                                                 \
      "source file of the op; NULL if the file does not record it", "stat source")                 \
    C(EV_SOURCE_LINE, "source_line", "INTEGER", NULL,                                              \
      "line of the op in source_file; NULL if the file does not record it", "stat source")         \
    C(EV_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(EV_LINE_ID, LINE_ID_DOC)                                                                     \
    C(EV_METADATA_ID, METADATA_ID_DOC)                                                             \
    C(EV_DISPLAY_NAME, "display_name", "TEXT", NULL,                                               \
      "short name of the event for display; NULL if the file has none",                            \
      "XEventMetadata.display_name")                                                               \
    C(EV_END, "end_ps", "INTEGER", "ps",                                                           \
      "start_ps + duration_ps; saturates at the limits of int64", "libprofsql")                    \
    C(EV_PLANE_KIND, "plane_kind", "TEXT", NULL, "kind of the event's plane, as in planes.kind",   \
      "libprofsql")                                                                                \
    C(EV_LINE_KIND, "line_kind", "TEXT", NULL, "kind of the event's line, as in lines.kind",       \
      "libprofsql")                                                                                \
    C(EV_DERIVED, "derived", "INTEGER", "0 or 1",                                                  \
      "1: the event is on a line that XProf derived from other lines; counting it counts work "    \
      "twice",                                                                                     \
      "XLine.id")                                                                                  \
    C(EV_DEVICE_START, "device_start_ps", "INTEGER", "ps",                                         \
      "start of the event on the device clock; NULL if the file does not record it",               \
      "stat device_offset_ps")                                                                     \
    C(EV_DEVICE_DURATION, "device_duration_ps", "INTEGER", "ps",                                   \
      "duration of the event on the device clock, which XProf's op tools sum; NULL if the file "   \
      "does not record it",                                                                        \
      "stat device_duration_ps")                                                                   \
    C(EV_DEVICE_SELF, "device_self_ps", "INTEGER", "ps",                                           \
      "device_duration_ps without the events nested directly in it on the device clock, as in "    \
      "XProf's op tools (docs/semantics.md, Device clock); NULL if the event does not record "     \
      "both device_offset_ps and device_duration_ps",                                              \
      "libprofsql")                                                                                \
    C(EV_GRID, "grid_dim", "TEXT", NULL,                                                           \
      "size of the kernel's grid as x,y,z; NULL if the event does not record it or records an "    \
      "impossible size",                                                                           \
      "stat kernel_details")                                                                       \
    C(EV_BLOCK, "block_dim", "TEXT", NULL,                                                         \
      "size of the kernel's block as x,y,z; NULL if the event does not record it or records an "   \
      "impossible size",                                                                           \
      "stat kernel_details")                                                                       \
    C(EV_ASYNC, "is_async", "INTEGER", "0 or 1",                                                   \
      "1: the event is marked as not nested on its thread; NULL if the file does not record it",   \
      "stat _a")                                                                                   \
    C(EV_STEP_EVENT, "step_event_id", "INTEGER", NULL,                                             \
      "event_id of the step event that contains the op, found as in XProf's Events DB "            \
      "(docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore",    \
      "libprofsql")                                                                                \
    C(EV_MODULE_EVENT, "module_event_id", "INTEGER", NULL,                                         \
      "event_id of the HLO module execution that contains the op, found as in XProf's Events DB "  \
      "(docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore",    \
      "libprofsql")                                                                                \
    C(EV_STEP_NAME, "step_name", "TEXT", NULL,                                                     \
      "name of the step that the event belongs to; NULL if it belongs to none, or the step has "   \
      "no name, and in files that contain their groups, if the event itself does not record one",  \
      "XProf's grouping; stat step_name in files that contain their groups")                       \
    C(EV_EAGER, "is_eager", "INTEGER", "0 or 1",                                                   \
      "1: the kernel or framework op ran eagerly; 0: it did not; NULL for other events",           \
      "XProf's grouping; stat is_eager in files that XProf does not group because they contain "   \
      "groups, or loops of the device (WhileOp-StartBody and the like)")                           \
    C(EV_STEP, "step", "INTEGER", NULL,                                                            \
      "group id that XProf's grouping assigns to the event, and of several the one that XProf's "  \
      "steps use: the first on a TPU, else the last (docs/semantics.md, Step of an event); "       \
      "host_steps lists which groups are steps; NULL if the event has no group",                   \
      "XProf's grouping, else stat group_id")                                                      \
    C(EV_SOURCE, SOURCE_DOC)                                                                       \
    C(EV_STATS, "stats", "TEXT HIDDEN", "JSON",                                                    \
      "all stats of the event by name, its own stats first, then those of its metadata; bytes as " \
      "hex text",                                                                                  \
      "XStat")
enum { EVENTS_COLUMNS(COLUMN_ENUM) N_EVENTS_COLUMNS };

typedef struct {
    int64_t low, high;
} Range;
static inline bool is_all(Range r) { return r.low == INT64_MIN && r.high == INT64_MAX; }
static inline bool is_within(Range r, int64_t value) { return r.low <= value && value <= r.high; }
static inline bool is_point(Range r) { return r.low == r.high; }

/* Bits of idxNum. Without PLAN_UNITS, rows come in file order. */
enum EventsPlan {
    PLAN_UNITS = 1,    /* units are sorted by the keys in idxStr */
    PLAN_GROUPS = 2,   /* a unit is a LineGroup, not an entire line */
    PLAN_BY_START = 4, /* each line by start */
    PLAN_ONE =
        /* one row of each unit is enough, because the others are equal in all columns that the
           query reads */
    8,
    PLAN_COMPARED =
        /* rows are grouped: texts are compared for each row, but returned once for each group */
    16,
    /* file order is promised; without it, repeated lookups by name may return groups */
    PLAN_FILE_ORDER = 32,
    PLAN_MISSING = 64, /* the query reads `source` but does not give it: an error */
    PLAN_TWICE = 128   /* several terms give `source`; SQLite checks them */
};

typedef struct {
    SourceRun *from;
    Line *line;
    const LineGroup *group; /* NULL: the entire line */
} EventUnit;
/* A unit in a long list: there may be one for each event. */
typedef struct {
    const LineGroup *group; /* NULL: the entire line */
    uint32_t source, line;  /* index in the cursor's sources; ordinal in the run */
} KeptUnit;
static inline EventUnit unit_of(SourceRun *sources, const KeptUnit *kept)
{
    SourceRun *from = &sources[kept->source];
    return (EventUnit){from, from->run->lines[kept->line], kept->group};
}

typedef struct {
    sqlite3_vtab_cursor base;
    /* What the query asks for. */
    SourceNames asked;
    SourceRun *sources;
    int n_sources;
    char *run_is, *host_is, *plane_is, *line_is, *name_is, *plane_kind_is, *line_kind_is,
        *hlo_op_is, *program_is;
    Range plane_id, line_id, event_id, start, end, duration, parent_id, correlation_id, step, group;
    bool narrow; /* a term selects single events */
    int plan;
    size_t n_names; /* names, instructions or programs asked for in these sources until now */
    /* How the sources are walked: sorted units, or lines in file order, or a few events that are
     * looked up. */
    KeptUnit *units;
    size_t n_units, unit_capacity, at_unit, at_line;
    int at_source;
    const Correlated *pairs; /* found by correlation id, not visited yet */
    size_t n_pairs;
    bool eof;
    /* The current unit. */
    EventUnit unit;
    const uint32_t *events; /* indexes on the line; NULL: all events of the line in stored order */
    uint64_t next,
        stop; /* positions in `events` or on the line: start of the next batch, end of the unit */
    uint32_t *list; /* events listed for this unit */
    size_t n_list, list_capacity;
    /* The current batch: slots are indexes in the columns of `values`; the wanted ones are
     * slots[0..n). */
    uint64_t first; /* position of slot 0 */
    uint32_t n, k, slot;
    unsigned filled; /* bits of the columns that are in `values` */
    uint16_t slots[CHUNK_EVENTS];
    ChunkValues *values, *spare; /* spare: for a chunk that is read again from the file */
    const Chunk *spare_of;
    const Plane *match_plane; /* the plane whose metadata `match` is for */
    bool match_ops;           /* and line_has_hlo_ops() of its line */
    uint8_t *match;           /* events_matches() */
    /* What columns are read from. */
    const NestingChunk *nesting;
    const Line *nesting_of;
    const Grouping *grouping;
    const Host *grouping_of;
    const ShortNames *short_names;
    const Run *short_names_of;
    EventValues facts;
    const Line *facts_line;
    uint64_t facts_event;
    Window window, stat_window;
    KeptRuns kept;
    ProfErr err;
} EventsCursor;
static inline sqlite3 *events_db(const EventsCursor *c)
{
    return ((const ProfTable *)c->base.pVtab)->prof->db;
}

/* trace_events_plan.c */
int events_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);
/* Like events_best_index(). Without in_order, terms are pushed down but no order is promised. */
int events_plan(sqlite3_vtab *vtab, sqlite3_index_info *info, bool in_order);
/* Sets a plan's terms in the cursor. *keys: the rest of idxStr, for units_sort(). SQLITE_DONE: a
 * term is NULL, so no row matches. */
int events_read_terms(EventsCursor *c, const char *plan, int argc, sqlite3_value **argv,
                      const char **keys);
void units_sort(KeptUnit *units, size_t n, SourceRun *sources, const char *keys);

/* trace_events.c */
int events_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column);
void events_free(EventsCursor *c); /* frees everything that it has, but not the cursor itself */

/* Writes a module's name without its (program id). */
void result_module(sqlite3_context *ctx, const Text *name);

/* trace_events_match.c */
/* Returns whether terms depend on the metadata of events. */
bool events_match_metas(const EventsCursor *c);
/* Returns which metadata of a line's plane may have wanted events. NULL with c->err set. */
const uint8_t *events_matches(EventsCursor *c, const Line *line);
/* Returns an instruction's name as HLO tables spell it; empty if there is none. */
Slice hlo_op_in(Slice text);
/* Returns whether the line's events are instructions that their metadata names. */
bool line_has_hlo_ops(const Line *line);
Slice hlo_op_of_meta(const EventMeta *meta);

/* trace_events_walk.c */
int events_explain_nothing(EventsCursor *c,
                           int argc); /* for a filter with argc arguments that found no rows */
int events_filter(sqlite3_vtab_cursor *cursor, int plan, const char *terms, int argc,
                  sqlite3_value **argv);
int events_next(sqlite3_vtab_cursor *cursor);
void events_forget(
    EventsCursor *c); /* frees what a filter allocated; sources, buffers and returned texts stay */
int events_fail(EventsCursor *c); /* sets c->err as the table's error */
/* Returns the grouping of the current line's host. NULL with c->err set. */
const Grouping *events_grouping(EventsCursor *c);
/* Positions the cursor on one event, as if the query only asked for that. False with c->err set. */
bool events_point(EventsCursor *c, SourceRun *from, Line *line, uint64_t index);
/* Unpacks a column of the current batch. False with c->err set. */
bool events_fill(EventsCursor *c, enum ChunkColumn column);

static inline int64_t value_of(EventsCursor *c, enum ChunkColumn column)
{
    if (!(c->filled >> column & 1) && !events_fill(c, column)) return 0;
    return c->values->columns[column][c->slot];
}
/* Returns the event's index on its line. */
static inline uint64_t index_of(const EventsCursor *c)
{
    return c->events ? c->events[c->first + c->slot] : c->first + c->slot;
}
static inline uint64_t event_of(const EventsCursor *c)
{
    return c->unit.line->first_event + index_of(c);
}
static inline int64_t offset_of(EventsCursor *c)
{
    return event_offset(value_of(c, COL_OFFSET), value_of(c, COL_AGGREGATED));
}
static inline int64_t start_of(EventsCursor *c)
{
    return add_saturated(c->unit.line->start_ps, offset_of(c));
}
static inline int64_t end_of(EventsCursor *c)
{
    return add_saturated(start_of(c), value_of(c, COL_DURATION));
}
static inline EventMeta *meta_of(EventsCursor *c)
{
    return &c->unit.line->plane
                ->event_metas[c->unit.group ? (int64_t)c->unit.group->meta : value_of(c, COL_META)];
}

#endif
