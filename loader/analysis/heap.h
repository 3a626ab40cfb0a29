// SPDX-License-Identifier: Apache-2.0
/* heap.h: the memory that a program's buffer assignment plans: allocations, the buffers in them, and for each memory space
 * the heap over time, its peak, and what lives then. The numbers are those of XProf's memory viewer.
 *
 * Compilers give each value of a program (instruction, shape index) a logical buffer, place it at an offset of an allocation,
 * and keep a trace of the placing: events ALLOC, FREE and SHARE_WITH (the buffer takes over another's storage). Allocations
 * that hold parameters, constants or what the program returns live throughout: they are `indefinite` and have no trace. */
#ifndef PROF_HEAP_H
#define PROF_HEAP_H

#include "../format/hlo.h"

enum HeapKind { HEAP_PARAMETER, HEAP_OUTPUT, HEAP_THREAD_LOCAL, HEAP_CONSTANT, HEAP_TEMPORARY };
extern const char *const heap_kind_names[];

/* A logical buffer at its place in an allocation. */
typedef struct {
    const Xla__LogicalBufferProto *proto;        /* NULL: the program declares none of this id */
    const Xla__HloInstructionProto *instruction; /* that defines it; NULL: the program has none of this id */
    uint32_t allocation;                         /* position in allocations */
    int64_t id, offset;
    int64_t size_bytes;             /* as allocated, padding included; 0 where the proto is NULL */
    int64_t unpadded_bytes;         /* of heap_shape() without layout; -1: unknown */
    int64_t start_event, end_event; /* its life, in events of the trace; -1: not traced */
    /* When its storage is allocated and freed. Storage that several buffers share is counted once, with the buffer that XProf lists for it; -1: with another
     * one, or not traced. An end of proto->n_events: never freed. */
    int64_t storage_start_event, storage_end_event;
} HeapBuffer;

/* The part of the instruction's shape that XProf takes for a buffer: it goes by the last number of the shape index alone, one
 * level down, and where that leads nowhere takes the whole. NULL: none. */
const Xla__ShapeProto *heap_shape(const HeapBuffer *buffer);
/* The part that the shape index means; NULL: the shape has none such. */
const Xla__ShapeProto *heap_part(const HeapBuffer *buffer);
/* Its data: packed elements as packed, of a tuple its table of pointers; -1: unknown. */
int64_t heap_data_bytes(const HeapBuffer *buffer);

typedef struct {
    const Xla__BufferAllocationProto *proto;
    enum HeapKind kind;
    bool indefinite;
    bool last;   /* of its index: XProf knows no other */
    bool counts; /* the last, and not thread-local: part of its space's sums */
    size_t first_buffer, n_buffers;
    int64_t trace; /* position in traces of the one that works in it, -1 */
} HeapAllocation;

/* A heap simulation. Sizes in bytes, without the indefinite allocations. */
typedef struct {
    const Xla__HeapSimulatorTrace *proto;
    bool made;
    const char *failure;                  /* why the events make no sense; NULL: they do */
    int64_t *heap_bytes, *unpadded_bytes; /* before each event, and at the end */
    size_t n_values;                      /* of them: proto->n_events + 1, or as many as there are up to an event that makes no sense */
    int64_t peak_bytes, peak_unpadded_bytes, peak_event;
    uint32_t *at_peak; /* buffers that live at the peak, in the order in which they came */
    size_t n_at_peak;
} HeapTrace;

/* A memory space (color): 0 is the device's main memory. */
typedef struct {
    int64_t color;
    const HeapTrace *trace;   /* NULL: none is of this space */
    int64_t indefinite_bytes; /* of indefinite allocations that hold data: on top of the trace at all times */
    int64_t parameter_bytes, maybe_live_out_bytes, non_reusable_bytes, total_bytes, indefinite_allocation_bytes;
    const uint32_t *objects; /* buffers at the peak: the largest of each indefinite allocation that holds data, then the trace's */
    size_t n_objects, n_indefinite_objects;
    int64_t scoped_vmem_bytes; /* the most that an instruction sets aside in space 1 on its own; -1: none does */
    const Xla__HloInstructionProto *scoped_vmem_op;
} HeapSpace;

typedef struct Heap {
    HeapAllocation *allocations; /* by index */
    HeapBuffer *buffers;         /* allocation by allocation */
    HeapTrace *traces;
    HeapSpace *spaces; /* by color; 0 is always there */
    size_t n_allocations, n_buffers, n_traces, n_spaces;
    Arena arena;
} Heap;
/* NULL: err is set. A program without buffer assignment has no space at all. What makes no sense becomes an issue of the host. */
const Heap *hlo_heap(const HloModule *module, ProfErr *err);
const HeapSpace *heap_space(const Heap *heap, int64_t color); /* NULL: none */

/* The instruction whose backend config sets aside the most memory of space 1 (VMEM) for itself, and how much, NULL: none does. */
const Xla__HloInstructionProto *scoped_vmem(const HloModule *module, int64_t *bytes);

/* MiB as XProf adds them up. */
static inline double heap_mib(int64_t bytes) { return (double)bytes / (1 << 20); }

/* An object of the peak: a buffer, or all smaller than a threshold folded into one. */
typedef struct {
    int64_t buffer; /* position in heap->buffers, -1: the small ones */
    int64_t size_bytes, unpadded_bytes;
    size_t program_order, size_rank; /* from 0; equal sizes as std::sort leaves them, since XProf shows it */
} HeapObject;
/* The objects of a space's peak in XProf's program order, indefinite ones only of the main memory; buffers below small_bytes are folded
 * into a last one. *objects is freed with prof_free(). False: no memory. */
bool heap_objects(const Heap *heap, const HeapSpace *space, int64_t small_bytes, HeapObject **objects, size_t *n);

#endif
