// SPDX-License-Identifier: Apache-2.0
/* memory_peaks.c: the tables memory_peaks and heap_timeline: how much memory a program needs, and
 * when.
 *
 *   SELECT hlo_module, peak_heap_mib, fragmentation_fraction
 *     FROM memory_peaks('logs') WHERE memory_space = 0 ORDER BY peak_heap_mib DESC;
 *   SELECT event, hlo_op, heap_mib
 *     FROM heap_timeline('logs') WHERE hlo_module = 'jit_step' AND memory_space = 0; */
#include "../loader/analysis/program/heap_peaks.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define SPACE_DOC                                                                                  \
    "memory_space", "INTEGER", NULL,                                                               \
        "memory space (color) on the device: 0 is the main memory, 1 is TPU VMEM",                 \
        "BufferAllocationProto.color"

/* ---- memory_peaks ---- */

#define MEMORY_PEAKS_COLUMNS(C)                                                                    \
    C(MP_RUN, RUN_DOC)                                                                             \
    C(MP_HOST, HOST_DOC)                                                                           \
    C(MP_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(MP_MODULE, HLO_MODULE_DOC)                                                                   \
    C(MP_SPACE, SPACE_DOC)                                                                         \
    C(MP_PEAK, "peak_heap_mib", "REAL", "MiB",                                                     \
      "largest memory in use at one time, parameters and outputs included; NULL if the heap "      \
      "trace is inconsistent",                                                                     \
      "memory_viewer peakHeapMib")                                                                 \
    C(MP_UNPADDED, "peak_unpadded_mib", "REAL", "MiB",                                             \
      "memory in use at the peak without the padding of temporaries; parameters and outputs with " \
      "their padding; NULL if the heap trace is inconsistent",                                     \
      "memory_viewer peakUnpaddedHeapMib")                                                         \
    C(MP_EVENT, "peak_event", "INTEGER", NULL,                                                     \
      "event of the heap trace at which the peak is reached; NULL without a heap trace or if it "  \
      "is inconsistent",                                                                           \
      "memory_viewer peakHeapSizePosition")                                                        \
    C(MP_PARAMETERS, "parameters_mib", "REAL", "MiB",                                              \
      "size of the allocations of the entry computation's parameters",                             \
      "memory_viewer entryComputationParametersMib")                                               \
    C(MP_NON_REUSABLE, "non_reusable_mib", "REAL", "MiB",                                          \
      "size of thread-local and tuple allocations", "memory_viewer nonReusableMib")                \
    C(MP_LIVE_OUT, "maybe_live_out_mib", "REAL", "MiB",                                            \
      "size of the allocations that the program may return", "memory_viewer maybeLiveOutMib")      \
    C(MP_TOTAL, "total_allocation_mib", "REAL", "MiB",                                             \
      "size of all allocations except thread-local ones",                                          \
      "memory_viewer totalBufferAllocationMib")                                                    \
    C(MP_INDEFINITE, "indefinite_mib", "REAL", "MiB",                                              \
      "size of the allocations that live during the entire program: parameters, constants and "    \
      "possible outputs",                                                                          \
      "memory_viewer indefiniteBufferAllocationMib")                                               \
    C(MP_FRAGMENTATION, "fragmentation_fraction", "REAL", "fraction 0..1",                         \
      "share of the temporary allocations that is unused even at the peak: (total - peak) / "      \
      "(total - indefinite). 0 without temporaries; NULL if the heap trace is inconsistent or "    \
      "its peak exceeds the allocations",                                                          \
      "memory viewer page")                                                                        \
    C(MP_SCOPED, "scoped_vmem_mib", "REAL", "MiB",                                                 \
      "memory_space 1: largest amount that one instruction reserves for itself, not part of the "  \
      "peak; NULL if no instruction reserves memory",                                              \
      "memory_viewer maxScopedVmemAllocationMib")                                                  \
    C(MP_SCOPED_OP, "scoped_vmem_op", "TEXT", NULL,                                                \
      "name of the instruction that reserves scoped_vmem_mib; NULL if no instruction reserves "    \
      "memory",                                                                                    \
      "memory_viewer maxScopedVmemInstructionName")                                                \
    C(MP_SOURCE, SOURCE_DOC)
enum { MEMORY_PEAKS_COLUMNS(COLUMN_ENUM) };
static const Column memory_peaks_columns[] = {MEMORY_PEAKS_COLUMNS(COLUMN_DOC)};

typedef struct {
    HloAt at;
    const Heap *heap; /* of the module */
    size_t space;
    size_t event; /* heap_timeline: index in the space's trace */
} SpaceAt;

static const HeapSpace *space_of(const SpaceAt *at) { return &at->heap->spaces[at->space]; }

/* Moves to the next space that the plan wants. */
static bool next_space(RowCursor *c)
{
    SpaceAt *at = c->state;
    for (at->space++;; at->space++) {
        while (!at->heap || at->space >= at->heap->n_spaces) {
            const HloModule *m = row_next_module(c);
            if (!m || !(at->heap = hlo_heap(m, &c->err))) return false;
            at->space = 0;
        }
        if (row_wanted(c, KEY_MEMORY_SPACE, space_of(at)->color)) return true;
    }
}

static bool memory_peaks_next(RowCursor *c)
{
    if (!next_space(c)) return false;
    c->place = row_place(c, ((SpaceAt *)c->state)->space);
    return true;
}

static void memory_peaks_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    if (row_program_column(c, ctx, column)) return;
    const HeapSpace *s = space_of(c->state);
    const HeapTrace *t = s->trace;
    switch (column) {
    case MP_SPACE: sqlite3_result_int64(ctx, s->color); break;
    case MP_PEAK: sqlite3_result_double(ctx, heap_peak_mib(s)); break;
    case MP_UNPADDED: sqlite3_result_double(ctx, heap_unpadded_peak_mib(s)); break;
    case MP_EVENT:
        if (t && !t->failure) sqlite3_result_int64(ctx, t->peak_event);
        break;
    case MP_PARAMETERS: sqlite3_result_double(ctx, heap_mib(s->parameter_bytes)); break;
    case MP_NON_REUSABLE: sqlite3_result_double(ctx, heap_mib(s->non_reusable_bytes)); break;
    case MP_LIVE_OUT: sqlite3_result_double(ctx, heap_mib(s->maybe_live_out_bytes)); break;
    case MP_TOTAL: sqlite3_result_double(ctx, heap_mib(s->total_bytes)); break;
    case MP_INDEFINITE: sqlite3_result_double(ctx, heap_mib(s->indefinite_allocation_bytes)); break;
    case MP_FRAGMENTATION: sqlite3_result_double(ctx, heap_fragmentation(s)); break;
    case MP_SCOPED:
        if (s->scoped_vmem_op) sqlite3_result_double(ctx, heap_mib(s->scoped_vmem_bytes));
        break;
    case MP_SCOPED_OP:
        if (s->scoped_vmem_op) result_static(ctx, s->scoped_vmem_op->name);
        break;
    default: break;
    }
}

static const RowSource memory_peaks_rows = {.next = memory_peaks_next,
                                            .state_bytes = sizeof(SpaceAt),
                                            .column = memory_peaks_column,
                                            .needs = NEED_PROGRAMS,
                                            .nothing =
                                                "no HLO program contains a buffer assignment "
                                                "(programs dumped before optimization have none)"};
const Table memory_peaks_table = {
    "memory_peaks",
    "one memory space of an HLO program that has an allocation in it, with its peak and totals, as "
    "in XProf's memory viewer",
    memory_peaks_columns,
    COUNT(memory_peaks_columns),
    &row_table_module,
    &memory_peaks_rows,
    20,
    "0.1.0",
    "SELECT hlo_module, memory_space, peak_heap_mib, total_allocation_mib FROM memory_peaks"};

/* ---- heap_timeline ---- */

#define HEAP_TIMELINE_COLUMNS(C)                                                                   \
    C(HT_RUN, RUN_DOC)                                                                             \
    C(HT_HOST, HOST_DOC)                                                                           \
    C(HT_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(HT_MODULE, HLO_MODULE_DOC)                                                                   \
    C(HT_SPACE, SPACE_DOC)                                                                         \
    C(HT_EVENT, "event", "INTEGER", NULL,                                                          \
      "ordinal of the event in the heap trace, from 0. The last row, one past the last event, is " \
      "the end of the trace. If the trace is inconsistent, the rows stop at the first invalid "    \
      "event",                                                                                     \
      "HeapSimulatorTrace.events")                                                                 \
    C(HT_OP, "hlo_op", "TEXT", NULL,                                                               \
      "instruction at which buffers are allocated, freed or shared; NULL in the last row",         \
      "memory_viewer hloInstructionNames")                                                         \
    C(HT_HEAP, "heap_mib", "REAL", "MiB", "memory in use before the event",                        \
      "memory_viewer heapSizes")                                                                   \
    C(HT_UNPADDED, "unpadded_heap_mib", "REAL", "MiB",                                             \
      "memory in use before the event, without the padding of temporaries",                        \
      "memory_viewer unpaddedHeapSizes")                                                           \
    C(HT_SOURCE, SOURCE_DOC)
enum { HEAP_TIMELINE_COLUMNS(COLUMN_ENUM) };
static const Column heap_timeline_columns[] = {HEAP_TIMELINE_COLUMNS(COLUMN_DOC)};

static bool heap_timeline_next(RowCursor *c)
{
    enum { EVENT_BITS = 28 };
    SpaceAt *at = c->state;
    const HeapTrace *t = c->started ? space_of(at)->trace : NULL;
    for (at->event++; !t || at->event >= t->n_values; at->event = 0) {
        if (!next_space(c)) return false;
        t = space_of(at)->trace;
    }
    c->place = row_place(c, (uint64_t)at->space << EVENT_BITS | at->event);
    return true;
}

static void heap_timeline_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    if (row_program_column(c, ctx, column)) return;
    const SpaceAt *at = c->state;
    const HeapSpace *s = space_of(at);
    const HeapTrace *t = s->trace;
    switch (column) {
    case HT_SPACE: sqlite3_result_int64(ctx, s->color); break;
    case HT_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)at->event); break;
    case HT_OP:
        if (at->event < t->proto->n_events)
            result_proto_text(ctx, t->proto->events[at->event]->instruction_name);
        break;
    case HT_HEAP:
        sqlite3_result_double(ctx,
                              heap_mib(t->heap_bytes[at->event]) + heap_mib(s->indefinite_bytes));
        break;
    case HT_UNPADDED:
        sqlite3_result_double(ctx, heap_mib(t->unpadded_bytes[at->event]) +
                                       heap_mib(s->indefinite_bytes));
        break;
    default: break;
    }
}

static const RowSource heap_timeline_rows = {
    .next = heap_timeline_next,
    .state_bytes = sizeof(SpaceAt),
    .column = heap_timeline_column,
    .needs = NEED_PROGRAMS,
    .nothing = "no HLO program contains a buffer assignment with a heap trace (programs dumped "
               "before optimization have none)"};
const Table heap_timeline_table = {
    "heap_timeline",
    "one event of an HLO program's heap trace, with the memory in use before it",
    heap_timeline_columns,
    COUNT(heap_timeline_columns),
    &row_table_module,
    &heap_timeline_rows,
    10000,
    "0.1.0",
    "SELECT hlo_module, event, hlo_op, heap_mib FROM heap_timeline"};
