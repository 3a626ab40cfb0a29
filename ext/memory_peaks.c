// SPDX-License-Identifier: Apache-2.0
/* memory_peaks.c: the tables memory_peaks and heap_timeline: how much memory a program needs, and
 * when.
 *
 *   SELECT hlo_module, peak_heap_mib, fragmentation_fraction FROM memory_peaks('logs') WHERE
 * memory_space = 0 ORDER BY peak_heap_mib DESC; SELECT event, hlo_op, heap_mib FROM
 * heap_timeline('logs') WHERE hlo_module = 'jit_step' AND memory_space = 0; */
#include "../loader/analysis/program/heap.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

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
      "largest memory in use at one time, parameters and outputs "                                 \
      "included; NULL if the heap trace is inconsistent",                                          \
      "memory_viewer peakHeapMib")                                                                 \
    C(MP_UNPADDED, "peak_unpadded_mib", "REAL", "MiB",                                             \
      "memory in use at the peak without the padding of temporaries; parameters "                  \
      "and outputs with their padding; NULL if the heap trace is inconsistent",                    \
      "memory_viewer peakUnpaddedHeapMib")                                                         \
    C(MP_EVENT, "peak_event", "INTEGER", NULL,                                                     \
      "event of the heap trace at which the peak is reached; NULL "                                \
      "without a heap trace or if it is inconsistent",                                             \
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
      "size of the allocations that live during the entire "                                       \
      "program: parameters, constants and possible outputs",                                       \
      "memory_viewer indefiniteBufferAllocationMib")                                               \
    C(MP_FRAGMENTATION, "fragmentation_fraction", "REAL", "fraction 0..1",                         \
      "share of the temporary allocations that is unused even at the peak: "                       \
      "(total - peak) / (total - indefinite). 0 without temporaries; NULL if "                     \
      "the heap trace is inconsistent or its peak exceeds the allocations",                        \
      "memory viewer page")                                                                        \
    C(MP_SCOPED, "scoped_vmem_mib", "REAL", "MiB",                                                 \
      "memory_space 1: largest amount that one instruction reserves for "                          \
      "itself, not part of the peak; NULL if no instruction reserves memory",                      \
      "memory_viewer maxScopedVmemAllocationMib")                                                  \
    C(MP_SCOPED_OP, "scoped_vmem_op", "TEXT", NULL,                                                \
      "name of the instruction that reserves scoped_vmem_mib; NULL "                               \
      "if no instruction reserves memory",                                                         \
      "memory_viewer maxScopedVmemInstructionName")                                                \
    C(MP_SOURCE, SOURCE_DOC)
enum { MEMORY_PEAKS_COLUMNS(COLUMN_ENUM) };
static const Column memory_peaks_columns[] = {MEMORY_PEAKS_COLUMNS(COLUMN_DOC)};

/* The heap of c->item; NULL with c->err set. Made already when a row is shown. */
static const Heap *heap_of(RowCursor *c) { return hlo_heap(c->item, &c->err); }

/* Moves c->j to the next space that the plan leaves in. */
static bool next_space(RowCursor *c)
{
    for (c->j++;; c->j++) {
        const Heap *heap = c->item ? heap_of(c) : NULL;
        while (!c->err.code && (!heap || c->j >= heap->n_spaces)) {
            if (!row_next_module(c)) return false;
            heap = heap_of(c), c->j = 0;
        }
        if (c->err.code) return false;
        if (!c->has_key[KEY_MEMORY_SPACE] || c->key[KEY_MEMORY_SPACE] == heap->spaces[c->j].color)
            return true;
    }
}

static bool memory_peaks_next(RowCursor *c)
{
    if (!next_space(c)) return false;
    c->place = row_place(c, c->j);
    return true;
}

/* A heap trace that holds more than the allocations says nothing of what they leave unused. */
static void result_fragmentation(sqlite3_context *ctx, const HeapSpace *s, double peak_mib)
{
    double total = heap_mib(s->total_bytes),
           temporary = total - heap_mib(s->indefinite_allocation_bytes);
    if (peak_mib <= total)
        sqlite3_result_double(ctx, temporary ? (total - peak_mib) / temporary : 0);
}

static void memory_peaks_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    if (row_program_column(c, ctx, column)) return;
    const HeapSpace *s = &heap_of(c)->spaces[c->j];
    const HeapTrace *t = s->trace;
    bool failed = t && t->failure;
    double indefinite = heap_mib(s->indefinite_bytes),
           peak = (t ? heap_mib(t->peak_bytes) : 0) + indefinite;
    switch (column) {
    case MP_SPACE: sqlite3_result_int64(ctx, s->color); break;
    case MP_PEAK:
        if (!failed) sqlite3_result_double(ctx, peak);
        break;
    case MP_UNPADDED:
        if (!failed)
            sqlite3_result_double(ctx, (t ? heap_mib(t->peak_unpadded_bytes) : 0) + indefinite);
        break;
    case MP_EVENT:
        if (t && !failed) sqlite3_result_int64(ctx, t->peak_event);
        break;
    case MP_PARAMETERS: sqlite3_result_double(ctx, heap_mib(s->parameter_bytes)); break;
    case MP_NON_REUSABLE: sqlite3_result_double(ctx, heap_mib(s->non_reusable_bytes)); break;
    case MP_LIVE_OUT: sqlite3_result_double(ctx, heap_mib(s->maybe_live_out_bytes)); break;
    case MP_TOTAL: sqlite3_result_double(ctx, heap_mib(s->total_bytes)); break;
    case MP_INDEFINITE: sqlite3_result_double(ctx, heap_mib(s->indefinite_allocation_bytes)); break;
    case MP_FRAGMENTATION:
        if (!failed) result_fragmentation(ctx, s, peak);
        break;
    case MP_SCOPED:
        if (s->scoped_vmem_op) sqlite3_result_double(ctx, heap_mib(s->scoped_vmem_bytes));
        break;
    case MP_SCOPED_OP:
        if (s->scoped_vmem_op) sqlite3_result_text(ctx, s->scoped_vmem_op->name, -1, SQLITE_STATIC);
        break;
    default: break;
    }
}

static const RowSource memory_peaks_rows = {.next = memory_peaks_next,
                                            .column = memory_peaks_column,
                                            .needs = NEED_PROGRAMS,
                                            .nothing = "no HLO program contains a buffer "
                                                       "assignment (programs dumped before "
                                                       "optimization have none)"};
const Table memory_peaks_table = {"memory_peaks",
                                  "one memory space of an HLO program, with its "
                                  "peak and totals, as in XProf's memory viewer",
                                  memory_peaks_columns,
                                  COUNT(memory_peaks_columns),
                                  &row_table_module,
                                  &memory_peaks_rows,
                                  20};

/* ---- heap_timeline ---- */

#define HEAP_TIMELINE_COLUMNS(C)                                                                   \
    C(HT_RUN, RUN_DOC)                                                                             \
    C(HT_HOST, HOST_DOC)                                                                           \
    C(HT_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(HT_MODULE, HLO_MODULE_DOC)                                                                   \
    C(HT_SPACE, SPACE_DOC)                                                                         \
    C(HT_EVENT, "event", "INTEGER", NULL,                                                          \
      "ordinal of the event in the heap trace, from 0. The last row, "                             \
      "one past the last event, is the end of the trace. If the trace "                            \
      "is inconsistent, the rows stop at the first invalid event",                                 \
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

/* c->nth: the event of the space at c->j */
static bool heap_timeline_next(RowCursor *c)
{
    enum { EVENT_BITS = 28 };
    const HeapTrace *t = c->started ? heap_of(c)->spaces[c->j].trace : NULL;
    for (c->nth++; !t || c->nth >= t->n_values; c->nth = 0) {
        if (!next_space(c)) return false;
        t = heap_of(c)->spaces[c->j].trace;
    }
    c->place = row_place(c, (uint64_t)c->j << EVENT_BITS | c->nth);
    return true;
}

static void heap_timeline_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    if (row_program_column(c, ctx, column)) return;
    const HeapSpace *s = &heap_of(c)->spaces[c->j];
    const HeapTrace *t = s->trace;
    switch (column) {
    case HT_SPACE: sqlite3_result_int64(ctx, s->color); break;
    case HT_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)c->nth); break;
    case HT_OP:
        if (c->nth < t->proto->n_events)
            result_proto_text(ctx, t->proto->events[c->nth]->instruction_name);
        break;
    case HT_HEAP:
        sqlite3_result_double(ctx, heap_mib(t->heap_bytes[c->nth]) + heap_mib(s->indefinite_bytes));
        break;
    case HT_UNPADDED:
        sqlite3_result_double(ctx,
                              heap_mib(t->unpadded_bytes[c->nth]) + heap_mib(s->indefinite_bytes));
        break;
    default: break;
    }
}

static const RowSource heap_timeline_rows = {.next = heap_timeline_next,
                                             .column = heap_timeline_column,
                                             .needs = NEED_PROGRAMS,
                                             .nothing = "no HLO program contains a buffer "
                                                        "assignment with a heap trace (programs "
                                                        "dumped before optimization have none)"};
const Table heap_timeline_table = {"heap_timeline",
                                   "one event of an HLO program's heap "
                                   "trace, with the memory in use before it",
                                   heap_timeline_columns,
                                   COUNT(heap_timeline_columns),
                                   &row_table_module,
                                   &heap_timeline_rows,
                                   10000};
