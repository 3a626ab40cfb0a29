// SPDX-License-Identifier: Apache-2.0
/* heap.h: the memory that a program's buffer assignment plans. It has allocations, the buffers in
 * them, and for each memory space the heap over time, its peak, and the buffers that are live at
 * the peak. The numbers are those of XProf's memory viewer.
 *
 * A compiler gives each value of a program (instruction, shape index) a logical buffer and places
 * it at an offset of an allocation. It keeps a trace of this with the events ALLOC, FREE and
 * SHARE_WITH (the buffer takes over another's storage). Allocations for parameters, constants or
 * results of the program are live at all times: they are `indefinite` and have no trace. */
#ifndef PROF_HEAP_H
#define PROF_HEAP_H

#include "../../format/hlo.h"

enum HeapKind { HEAP_PARAMETER, HEAP_OUTPUT, HEAP_THREAD_LOCAL, HEAP_CONSTANT, HEAP_TEMPORARY };
extern const char *const heap_kind_names[];

/* A logical buffer and its place in an allocation. */
typedef struct {
    const Xla__LogicalBufferProto *proto; /* NULL: the program does not declare this id */
    /* Instruction that defines it; NULL if the program has none with this id. */
    const Xla__HloInstructionProto *instruction;
    uint32_t allocation; /* position in Heap.allocations */
    int64_t id, offset;
    int64_t size_bytes;     /* size as allocated, with padding; 0 if proto is NULL */
    int64_t unpadded_bytes; /* size of heap_shape() without padding; -1: unknown */
    /* Positions of its first and last event in the trace; -1 if it is not traced. */
    int64_t start_event, end_event;
    /* Events that allocate and free its storage; the latter is proto->n_events if it is never
     * freed. Storage that buffers share is counted once, with the buffer that XProf lists for it:
     * the others have -1, as have buffers that are not traced. */
    int64_t storage_start_event, storage_end_event;
} HeapBuffer;

/* Returns the part of the instruction's shape that XProf uses for a buffer: only the last number of
 * the shape index, one level down, or the entire shape if that leads nowhere. NULL: unknown. */
const Xla__ShapeProto *heap_shape(const HeapBuffer *buffer);
/* Returns the part of the instruction's shape that the shape index means; NULL if the shape does
 * not have it. */
const Xla__ShapeProto *heap_part(const HeapBuffer *buffer);
/* Returns the bytes of data in the buffer: packed elements count packed, a tuple counts as its
 * table of pointers. -1: unknown. */
int64_t heap_data_bytes(const HeapBuffer *buffer);

/* An allocation of the buffer assignment. */
typedef struct {
    const Xla__BufferAllocationProto *proto;
    enum HeapKind kind;
    bool indefinite;
    bool last;   /* last allocation with its index; XProf ignores the others */
    bool counts; /* `last`, and not thread-local: part of its space's sums */
    size_t first_buffer, n_buffers;
    int64_t trace; /* position in Heap.traces of the trace of this allocation; -1: none */
} HeapAllocation;

/* The heap over one trace, without the indefinite allocations. */
typedef struct {
    const Xla__HeapSimulatorTrace *proto;
    bool made; /* the values below are computed */
    /* Why the events contradict each other; NULL if they do not. */
    const char *failure;
    int64_t *heap_bytes, *unpadded_bytes; /* size before each event, and at the end */
    /* Number of these sizes: proto->n_events + 1, or fewer if an event contradicts others. */
    size_t n_values;
    int64_t peak_bytes, peak_unpadded_bytes, peak_event;
    uint32_t *at_peak; /* buffers that are live at the peak, in the order of their allocation */
    size_t n_at_peak;
} HeapTrace;

/* A memory space (color): 0 is the device's main memory. */
typedef struct {
    int64_t color;
    const HeapTrace *trace; /* NULL if this space has no trace */
    /* Total of the indefinite allocations that contain data. It adds to the trace at all times. */
    int64_t indefinite_bytes;
    int64_t parameter_bytes, maybe_live_out_bytes, non_reusable_bytes, total_bytes,
        indefinite_allocation_bytes;
    /* Buffers at the peak: the largest of each indefinite allocation that contains data, then the
     * trace's. */
    const uint32_t *objects;
    size_t n_objects, n_indefinite_objects;
    /* Largest part of space 1 that an instruction reserves for itself; -1 if none does. */
    int64_t scoped_vmem_bytes;
    const Xla__HloInstructionProto *scoped_vmem_op;
} HeapSpace;

/* The planned memory of a program. */
typedef struct Heap {
    HeapAllocation *allocations; /* by index */
    HeapBuffer *buffers;         /* allocation by allocation */
    HeapTrace *traces;
    HeapSpace *spaces; /* by color; color 0 always exists if the program has a buffer assignment */
    size_t n_allocations, n_buffers, n_traces, n_spaces;
    Arena arena;
} Heap;
/* Returns the heap of a program. A program without buffer assignment has no spaces. Contradictions
 * become issues of the host. */
const Heap *hlo_heap(const HloModule *module, ProfErr *err);
const HeapSpace *heap_space(const Heap *heap, int64_t color); /* NULL: there is none */

/* Returns the instruction whose backend config reserves the most of memory space 1 (VMEM) for
 * itself, and how much. NULL if none does. */
const Xla__HloInstructionProto *scoped_vmem(const HloModule *module, int64_t *bytes);

/* Converts bytes to MiB as XProf does. */
static inline double heap_mib(int64_t bytes) { return (double)bytes / (1 << 20); }

/* An object at the peak: a buffer, or all buffers below a threshold together. */
typedef struct {
    int64_t buffer; /* position in heap->buffers; -1: the small buffers together */
    int64_t size_bytes, unpadded_bytes;
    /* Ranks in the order of the program and by size, from 0. Equal sizes are in std::sort's order,
     * because XProf shows it. */
    size_t program_order, size_rank;
} HeapObject;
/* Lists the objects of a space's peak in XProf's program order, with indefinite ones only for main
 * memory. Buffers below small_bytes are joined into a last object. *objects is freed with
 * prof_free(). False if memory runs out. */
bool heap_objects(const Heap *heap, const HeapSpace *space, int64_t small_bytes,
                  HeapObject **objects, size_t *n);

#endif
