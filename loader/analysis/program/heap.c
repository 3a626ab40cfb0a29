// SPDX-License-Identifier: Apache-2.0
/* heap.c: reads buffer assignments and simulates their traces; see heap.h. */
#include "heap.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../base/std_sort.h"
#include "../../format/shape.h"

#include <stdio.h>

const char *const heap_kind_names[] = {"parameter", "output", "thread-local", "constant",
                                       "temporary"};

/* Real chips have a few memory spaces; a file with more is not believed. */
enum { VMEM_SPACE = 1, MAX_SPACES = 64, MAX_ALIASES = 4096 };

/* State that is needed only while the heap is built. */
typedef struct {
    const HloModule *module;
    const Xla__BufferAssignmentProto *proto;
    Heap *heap;
    /* Buffers that XProf knows, by id: an array of positions + 1 if ids are small, as compilers
     * assign them; else `by_id`. */
    uint32_t *dense;
    size_t n_dense;
    HashTable by_id;
    Arena scratch;
} HeapBuilder;

/* ---- buffers and allocations ---- */

static int64_t buffer_of(const HeapBuilder *k, int64_t id)
{
    if (k->dense) return (uint64_t)id < k->n_dense ? (int64_t)k->dense[id] - 1 : -1;
    uint64_t hash = hash64((uint64_t)id);
    HASH_EACH(i, &k->by_id, hash)
        if (k->heap->buffers[i].id == id) return (int64_t)i;
    return -1;
}

/* Indexes buffers by id. If an id has several places, the last counts. */
static int index_buffers(HeapBuilder *k, ProfErr *err)
{
    const Heap *heap = k->heap;
    size_t n_dense = 2 * heap->n_buffers + 16, n_small = 0;
    for (size_t i = 0; i < heap->n_buffers; i++) n_small += (uint64_t)heap->buffers[i].id < n_dense;
    if (n_small == heap->n_buffers) {
        k->n_dense = n_dense;
        k->dense = arena_alloc(&k->scratch, n_dense * sizeof *k->dense);
        if (!k->dense) return prof_nomem(err);
    }
    for (size_t i = heap->n_buffers; i-- > 0;) {
        const HeapBuffer *b = &heap->buffers[i];
        if (!b->proto || !b->instruction || buffer_of(k, b->id) >= 0) continue;
        if (k->dense)
            k->dense[b->id] = (uint32_t)i + 1;
        else if (!hash_add(&k->by_id, hash64((uint64_t)b->id), i))
            return prof_nomem(err);
    }
    return PROF_OK;
}

const Xla__ShapeProto *heap_shape(const HeapBuffer *b)
{
    const Xla__LogicalBufferProto__Location *at = b->proto ? b->proto->defined_at : NULL;
    const Xla__ShapeProto *shape = at && b->instruction ? b->instruction->shape : NULL;
    if (!shape || !at->n_shape_index || shape->element_type != XLA_TUPLE) return shape;
    int64_t last = at->shape_index[at->n_shape_index - 1];
    return last >= 0 && (uint64_t)last < shape->n_tuple_shapes ? shape->tuple_shapes[last] : shape;
}

const Xla__ShapeProto *heap_part(const HeapBuffer *b)
{
    const Xla__LogicalBufferProto__Location *at = b->proto ? b->proto->defined_at : NULL;
    const Xla__ShapeProto *shape = at && b->instruction ? b->instruction->shape : NULL;
    for (size_t i = 0; shape && i < at->n_shape_index; i++) {
        bool there =
            at->shape_index[i] >= 0 && (uint64_t)at->shape_index[i] < shape->n_tuple_shapes;
        shape = there ? shape->tuple_shapes[at->shape_index[i]] : NULL;
    }
    return shape;
}

int64_t heap_data_bytes(const HeapBuffer *b)
{
    const Xla__ShapeProto *part = heap_part(b);
    if (!part || part->element_type == XLA_TUPLE) return part ? shape_unpadded_bytes(part) : -1;
    ShapeSizes sizes = shape_sizes(part);
    return sizes.known ? sizes.useful_bytes : -1;
}

static enum HeapKind kind_of(const Xla__BufferAllocationProto *a)
{
    if (a->is_entry_computation_parameter) return HEAP_PARAMETER;
    if (a->maybe_live_out) return HEAP_OUTPUT;
    if (a->is_thread_local) return HEAP_THREAD_LOCAL;
    return a->is_constant ? HEAP_CONSTANT : HEAP_TEMPORARY;
}

typedef struct {
    const Xla__BufferAllocationProto *proto;
    size_t place;
} Numbered;

ORDER_BY_TWO(by_index, Numbered, proto->index, place)

static int by_id(const void *a, const void *b)
{
    const Xla__LogicalBufferProto *x = *(Xla__LogicalBufferProto *const *)a,
                                  *y = *(Xla__LogicalBufferProto *const *)b;
    return ORDER(x->id, y->id);
}

static const Xla__LogicalBufferProto *logical_of(Xla__LogicalBufferProto *const *sorted, size_t n,
                                                 int64_t id)
{
    size_t guess = n ? (uint64_t)id - (uint64_t)sorted[0]->id : 0;
    if (guess < n && sorted[guess]->id == id && (!guess || sorted[guess - 1]->id != id))
        return sorted[guess];
    size_t low = LOWER_BOUND(i, 0, n, sorted[i]->id < id);
    return low < n && sorted[low]->id == id ? sorted[low] : NULL;
}

static int place_buffers(HeapBuilder *k, HeapAllocation *allocation,
                         Xla__LogicalBufferProto *const *sorted, ProfErr *err)
{
    Heap *heap = k->heap;
    const Xla__BufferAllocationProto *a = allocation->proto;
    allocation->first_buffer = heap->n_buffers, allocation->n_buffers = a->n_assigned;
    for (size_t i = 0; i < a->n_assigned && !interrupt_poll(4, err); i++) {
        HeapBuffer *b = &heap->buffers[heap->n_buffers++];
        *b = (HeapBuffer){.id = a->assigned[i]->logical_buffer_id,
                          .offset = a->assigned[i]->offset,
                          .allocation = (uint32_t)(allocation - heap->allocations),
                          .unpadded_bytes = -1,
                          .start_event = -1,
                          .end_event = -1,
                          .storage_start_event = -1,
                          .storage_end_event = -1};
        b->proto = logical_of(sorted, k->proto->n_logical_buffers, b->id);
        if (!b->proto) continue;
        b->size_bytes = b->proto->size;
        const Xla__LogicalBufferProto__Location *at = b->proto->defined_at;
        bool by_name = at && !at->instruction_id && *at->instruction_name; /* before 2022 */
        if (at)
            b->instruction =
                by_name ? hlo_find(k->module, at->instruction_name, strlen(at->instruction_name))
                        : hlo_instruction(k->module, at->instruction_id);
        if (!b->instruction) continue;
        const Xla__ShapeProto *shape = heap_shape(b);
        if (shape) b->unpadded_bytes = shape_unpadded_bytes(shape);
    }
    return err->code;
}

static int make_buffers(HeapBuilder *k, ProfErr *err)
{
    Heap *heap = k->heap;
    const Xla__BufferAssignmentProto *proto = k->proto;
    size_t n_buffers = 0, n = proto->n_buffer_allocations;
    for (size_t i = 0; i < n; i++) n_buffers += proto->buffer_allocations[i]->n_assigned;
    Numbered *numbered = arena_buffer(&k->scratch, n * sizeof *numbered);
    Xla__LogicalBufferProto **sorted =
        arena_buffer(&k->scratch, proto->n_logical_buffers * sizeof *sorted);
    heap->allocations = arena_alloc(&heap->arena, n * sizeof *heap->allocations);
    heap->buffers = arena_buffer(&heap->arena, n_buffers * sizeof *heap->buffers);
    if (!numbered || !sorted || !heap->allocations || !heap->buffers) return prof_nomem(err);
    bool in_order = true;
    for (size_t i = 0; i < proto->n_logical_buffers; i++) {
        sorted[i] = proto->logical_buffers[i];
        in_order &= !i || sorted[i - 1]->id <= sorted[i]->id;
    }
    if (!in_order) sort_array(sorted, proto->n_logical_buffers, sizeof *sorted, by_id);
    for (size_t i = 0; i < n; i++) numbered[i] = (Numbered){proto->buffer_allocations[i], i};
    sort_array(numbered, n, sizeof *numbered, by_index);
    for (size_t i = 0; i < n; i++) {
        const Xla__BufferAllocationProto *a = numbered[i].proto;
        bool last = i + 1 == n || numbered[i + 1].proto->index != a->index;
        heap->allocations[i] = (HeapAllocation){.proto = a,
                                                .kind = kind_of(a),
                                                .indefinite = a->is_entry_computation_parameter ||
                                                              a->is_constant || a->maybe_live_out,
                                                .last = last,
                                                .counts = last && !a->is_thread_local,
                                                .trace = -1};
        if (place_buffers(k, &heap->allocations[i], sorted, err)) return err->code;
    }
    heap->n_allocations = n;
    return index_buffers(k, err);
}

/* ---- simulation ---- */

enum { EVENT_ALLOC, EVENT_FREE, EVENT_SHARE_WITH };

typedef struct {
    int64_t references;
    uint32_t alias;   /* position + 1 of the buffer whose storage this one shares; 0: its own */
    uint32_t display; /* position + 1 of the buffer that took over this one's storage last */
    uint32_t live;    /* 1 + the latest index of this buffer in the list of live ones */
    bool died, seen;
} Sharing;

/* An entry of a buffer in the list of live ones. */
typedef struct {
    uint32_t buffer, display;
    uint32_t same; /* 1 + an earlier entry of the same buffer that has not ended */
    int64_t until; /* event that ended it; INT64_MAX if none */
} Stay;

typedef struct {
    const HeapBuilder *k;
    HeapTrace *trace;
    Sharing *sharing;
    Stay *stays;
    size_t n_stays, n_stays_at_peak;
    int64_t heap_bytes, unpadded_bytes;
} Simulation;

/* Returns the buffer whose storage this one uses; -1 if it cannot be determined. */
static int64_t root_of(const Simulation *s, int64_t buffer)
{
    for (int n = 0; n < MAX_ALIASES; n++) {
        if (!s->sharing[buffer].alias) return buffer;
        buffer = s->sharing[buffer].alias - 1;
    }
    return -1;
}

static const char *add_stay(Simulation *s, int64_t buffer, int64_t event)
{
    HeapBuffer *buffers = s->k->heap->buffers;
    const HeapBuffer *b = &buffers[buffer];
    Sharing *sharing = &s->sharing[buffer];
    uint32_t display = sharing->display ? sharing->display - 1 : (uint32_t)buffer;
    s->stays[s->n_stays] = (Stay){(uint32_t)buffer, display, sharing->live, INT64_MAX};
    buffers[display].storage_start_event = event,
    buffers[display].storage_end_event = (int64_t)s->trace->proto->n_events;
    sharing->live = (uint32_t)++s->n_stays;
    if (b->size_bytes < 0 || __builtin_add_overflow(s->heap_bytes, b->size_bytes, &s->heap_bytes))
        return "sizes are negative or beyond int64";
    s->unpadded_bytes =
        add_saturated(s->unpadded_bytes, b->unpadded_bytes < 0 ? 0 : b->unpadded_bytes);
    if (s->heap_bytes > s->trace->peak_bytes) {
        s->trace->peak_bytes = s->heap_bytes, s->trace->peak_unpadded_bytes = s->unpadded_bytes,
        s->trace->peak_event = event;
        s->n_stays_at_peak = s->n_stays;
    }
    return NULL;
}

static void begin_span(HeapBuffer *b, int64_t event, const HeapTrace *trace)
{
    b->start_event = event, b->end_event = (int64_t)trace->proto->n_events - 1;
}

static const char *free_buffer(Simulation *s, int64_t buffer, int64_t event)
{
    HeapBuffer *buffers = s->k->heap->buffers;
    int64_t root = root_of(s, buffer);
    if (root < 0) return "a chain of shared buffers is too long";
    Sharing *sharing = &s->sharing[root];
    if (--sharing->references < 0) return "a buffer is freed more often than it was allocated";
    if (!sharing->references) {
        if (buffers[root].size_bytes < 0 || (s->heap_bytes -= buffers[root].size_bytes) < 0)
            return "the size of the heap becomes negative";
        s->unpadded_bytes =
            add_saturated(s->unpadded_bytes,
                          buffers[root].unpadded_bytes < 0 ? 0 : -buffers[root].unpadded_bytes);
        for (uint32_t stay = sharing->live; stay; stay = s->stays[stay - 1].same)
            s->stays[stay - 1].until = buffers[s->stays[stay - 1].display].storage_end_event =
                event;
        sharing->live = 0;
        if (!sharing->died && buffers[root].start_event >= 0) buffers[root].end_event = event;
        sharing->died = true;
    }
    if (root != buffer && buffers[buffer].start_event >= 0) buffers[buffer].end_event = event;
    return NULL;
}

static const char *share_buffer(Simulation *s, int64_t buffer, int64_t with, int64_t event)
{
    int64_t root = root_of(s, with);
    if (root < 0) return "a chain of shared buffers is too long";
    if (root == buffer) return "buffers share each other's storage in a circle";
    s->sharing[buffer].alias = (uint32_t)with + 1;
    if (++s->sharing[root].references != 1) return NULL;
    s->sharing[root].display =
        (uint32_t)buffer + 1; /* the storage is used again after it was freed */
    begin_span(&s->k->heap->buffers[buffer], event, s->trace);
    return add_stay(s, root, event);
}

static const char *simulate_event(Simulation *s, const Xla__HeapSimulatorTrace__Event *e,
                                  int64_t event)
{
    int64_t buffer = buffer_of(s->k, e->buffer_id), root, with;
    if (buffer < 0) return NULL;
    s->sharing[buffer].seen = true;
    switch (e->kind) {
    case EVENT_ALLOC:
        root = root_of(s, buffer);
        if (root < 0) return "a chain of shared buffers is too long";
        s->sharing[root].references++;
        begin_span(&s->k->heap->buffers[buffer], event, s->trace);
        return add_stay(s, buffer, event);
    case EVENT_FREE: return free_buffer(s, buffer, event);
    case EVENT_SHARE_WITH:
        with = buffer_of(s->k, e->share_with_canonical_id);
        return with < 0 ? NULL : share_buffer(s, buffer, with, event);
    default: return "an event is not ALLOC, FREE or SHARE_WITH";
    }
}

static const char *one_allocation(const Simulation *s)
{
    const Heap *heap = s->k->heap;
    int64_t first = -1;
    for (size_t i = 0; i < heap->n_buffers; i++) {
        if (!s->sharing[i].seen) continue;
        if (first >= 0 && heap->buffers[i].allocation != first)
            return "its buffers are in several allocations";
        first = heap->buffers[i].allocation;
    }
    return first < 0 ? "its buffers are in no allocation" : NULL;
}

static void keep_value(const Simulation *s)
{
    HeapTrace *t = s->trace;
    t->heap_bytes[t->n_values] = s->heap_bytes,
    t->unpadded_bytes[t->n_values++] = s->unpadded_bytes;
}

static int keep_peak(Simulation *s, ProfErr *err)
{
    HeapTrace *t = s->trace;
    t->at_peak = arena_alloc(&s->k->heap->arena, s->n_stays_at_peak * sizeof *t->at_peak);
    if (!t->at_peak) return prof_nomem(err);
    for (size_t i = 0; i < s->n_stays_at_peak; i++)
        if (s->stays[i].until > t->peak_event) t->at_peak[t->n_at_peak++] = s->stays[i].display;
    return PROF_OK;
}

/* Computes the heap over time for a trace, once. */
static int simulate(const HeapBuilder *k, HeapTrace *trace, ProfErr *err)
{
    if (trace->made) return PROF_OK;
    size_t n = trace->proto->n_events;
    Simulation s = {.k = k, .trace = trace};
    Arena scratch = {0};
    s.sharing = arena_alloc(&scratch, k->heap->n_buffers * sizeof *s.sharing);
    s.stays = arena_buffer(&scratch, n * sizeof *s.stays);
    trace->heap_bytes = arena_buffer(&k->heap->arena, (n + 1) * sizeof *trace->heap_bytes);
    trace->unpadded_bytes = arena_buffer(&k->heap->arena, (n + 1) * sizeof *trace->unpadded_bytes);
    if (!s.sharing || !s.stays || !trace->heap_bytes || !trace->unpadded_bytes) prof_nomem(err);
    for (size_t i = 0; i < n && !interrupt_poll(4, err) && !trace->failure; i++) {
        keep_value(&s);
        trace->failure = simulate_event(&s, trace->proto->events[i], (int64_t)i);
    }
    if (!err->code && !trace->failure) {
        keep_value(&s);
        trace->failure = one_allocation(&s);
    }
    if (!err->code && !trace->failure) keep_peak(&s, err);
    for (size_t i = 0; trace->failure && i < k->heap->n_buffers;
         i++) /* lifetimes in a contradictory trace are unknown too */
        if (s.sharing[i].seen) {
            HeapBuffer *b = &k->heap->buffers[i];
            b->start_event = b->end_event = b->storage_start_event = b->storage_end_event = -1;
        }
    if (trace->failure)
        host_issue(k->module->host, "warning", "heap_simulation", trace,
                   "the heap of %.200s(%llu) cannot be simulated beyond event %zu: %s; XProf shows "
                   "no memory profile of it",
                   k->module->name, (unsigned long long)k->module->program_id, trace->n_values - 1,
                   trace->failure);
    trace->made = true;
    arena_free(&scratch);
    return err->code;
}

/* ---- traces and spaces ---- */

static int make_traces(HeapBuilder *k, ProfErr *err)
{
    Heap *heap = k->heap;
    size_t n = k->proto->n_heap_simulator_traces;
    heap->traces = arena_alloc(&heap->arena, n * sizeof *heap->traces);
    if (!heap->traces) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const Xla__HeapSimulatorTrace *proto = k->proto->heap_simulator_traces[i];
        heap->traces[heap->n_traces++] = (HeapTrace){.proto = proto};
        if (!proto->n_events) continue;
        int64_t buffer = buffer_of(
            k, proto->events[0]
                   ->buffer_id); /* the proto's own buffer_allocation_index is unreliable */
        if (buffer >= 0) heap->allocations[heap->buffers[buffer].allocation].trace = (int64_t)i;
    }
    return PROF_OK;
}

static HeapSpace *space_of(const Heap *heap, int64_t color)
{
    for (size_t i = 0; i < heap->n_spaces; i++)
        if (heap->spaces[i].color == color) return &heap->spaces[i];
    return NULL;
}

const HeapSpace *heap_space(const Heap *heap, int64_t color) { return space_of(heap, color); }

static void add_space(HeapBuilder *k, int64_t color)
{
    Heap *heap = k->heap;
    if (space_of(heap, color)) return;
    if (heap->n_spaces == MAX_SPACES) {
        host_issue(k->module->host, "warning", "memory_spaces", k->module,
                   "%.200s(%llu) has buffers in more than %d memory spaces; those in the others "
                   "were left out",
                   k->module->name, (unsigned long long)k->module->program_id, MAX_SPACES);
        return;
    }
    size_t i = heap->n_spaces++;
    for (; i > 0 && heap->spaces[i - 1].color > color; i--) heap->spaces[i] = heap->spaces[i - 1];
    heap->spaces[i] = (HeapSpace){.color = color, .scoped_vmem_bytes = -1};
}

/* Returns the trace with the most events of buffers with a color; -1 if there is none. */
static int64_t busiest_trace(const HeapBuilder *k, int64_t color)
{
    int64_t best = -1;
    size_t most = 0;
    for (size_t i = 0; i < k->heap->n_traces; i++) {
        const Xla__HeapSimulatorTrace *proto = k->heap->traces[i].proto;
        size_t n = 0;
        for (size_t e = 0; e < proto->n_events; e++) {
            int64_t buffer = buffer_of(k, proto->events[e]->buffer_id);
            n += buffer >= 0 && k->heap->buffers[buffer].proto->color == color;
        }
        if (n > most) most = n, best = (int64_t)i;
    }
    return best;
}

static int choose_trace(const HeapBuilder *k, HeapSpace *space, ProfErr *err)
{
    Heap *heap = k->heap;
    int64_t trace = -1;
    for (size_t i = 0; i < heap->n_allocations && trace < 0; i++) {
        const HeapAllocation *a = &heap->allocations[i];
        if (a->last && a->proto->color == space->color && !a->indefinite) trace = a->trace;
    }
    if (trace < 0) trace = busiest_trace(k, space->color);
    if (trace < 0) return PROF_OK;
    space->trace = &heap->traces[trace];
    return simulate(k, &heap->traces[trace], err);
}

/* Returns the largest buffer of an allocation, the first of several; -1 if none has data. */
static int64_t largest_buffer(const Heap *heap, const HeapAllocation *a)
{
    int64_t best = -1, size = 0;
    for (size_t i = a->first_buffer; i < a->first_buffer + a->n_buffers; i++)
        if (heap->buffers[i].instruction && heap->buffers[i].size_bytes > size)
            size = heap->buffers[i].size_bytes, best = (int64_t)i;
    return best;
}

static void add_to_space(HeapSpace *s, const HeapAllocation *a)
{
    int64_t size = a->proto->size;
    if (a->proto->is_thread_local || a->proto->is_tuple)
        s->non_reusable_bytes = add_saturated(s->non_reusable_bytes, size);
    if (!a->counts) return;
    s->total_bytes = add_saturated(s->total_bytes, size);
    if (a->proto->is_entry_computation_parameter)
        s->parameter_bytes = add_saturated(s->parameter_bytes, size);
    if (a->proto->maybe_live_out)
        s->maybe_live_out_bytes = add_saturated(s->maybe_live_out_bytes, size);
    if (a->indefinite)
        s->indefinite_allocation_bytes = add_saturated(s->indefinite_allocation_bytes, size);
}

static int fill_space(const HeapBuilder *k, HeapSpace *space, ProfErr *err)
{
    Heap *heap = k->heap;
    if (choose_trace(k, space, err)) return err->code;
    const HeapTrace *trace = space->trace && !space->trace->failure ? space->trace : NULL;
    size_t n = trace ? trace->n_at_peak : 0;
    for (size_t i = 0; i < heap->n_allocations; i++)
        n += heap->allocations[i].proto->color == space->color;
    uint32_t *objects = arena_alloc(&heap->arena, n * sizeof *objects);
    if (!objects) return prof_nomem(err);
    for (size_t i = 0; i < heap->n_allocations; i++) {
        const HeapAllocation *a = &heap->allocations[i];
        if (a->proto->color != space->color) continue;
        add_to_space(space, a);
        int64_t largest = a->counts && a->indefinite ? largest_buffer(heap, a) : -1;
        if (largest < 0) continue;
        space->indefinite_bytes = add_saturated(space->indefinite_bytes, a->proto->size);
        objects[space->n_objects++] = (uint32_t)largest;
    }
    space->n_indefinite_objects = space->n_objects;
    for (size_t i = 0; trace && i < trace->n_at_peak; i++)
        objects[space->n_objects++] = trace->at_peak[i];
    space->objects = objects;
    return PROF_OK;
}

/* ---- the analysis ---- */

static void heap_free(void *result)
{
    Heap *heap = result;
    arena_free(&heap->arena);
    prof_free(heap);
}

static void *heap_make(const HloModule *module, ProfErr *err)
{
    Heap *heap = prof_alloc(sizeof *heap);
    if (!heap) {
        prof_nomem(err);
        return NULL;
    }
    HeapBuilder k = {.module = module, .proto = module->proto->buffer_assignment, .heap = heap};
    heap->spaces = arena_alloc(&heap->arena, MAX_SPACES * sizeof *heap->spaces);
    if (!heap->spaces) prof_nomem(err);
    if (!err->code && k.proto && !make_buffers(&k, err) && !make_traces(&k, err)) {
        add_space(&k, 0);
        int64_t scoped = -1;
        const Xla__HloInstructionProto *scoped_op = scoped_vmem(module, &scoped);
        if (scoped_op) add_space(&k, VMEM_SPACE);
        for (size_t i = 0; i < heap->n_allocations; i++)
            add_space(&k, heap->allocations[i].proto->color);
        for (size_t i = 0; i < heap->n_buffers; i++)
            if (heap->buffers[i].proto &&
                heap->buffers[i].proto->color !=
                    heap->allocations[heap->buffers[i].allocation].proto->color)
                add_space(&k, heap->buffers[i].proto->color);
        for (size_t i = 0; i < heap->n_spaces && !err->code; i++)
            fill_space(&k, &heap->spaces[i], err);
        HeapSpace *vmem = space_of(heap, VMEM_SPACE);
        if (vmem && scoped_op) vmem->scoped_vmem_bytes = scoped, vmem->scoped_vmem_op = scoped_op;
    }
    hash_free(&k.by_id);
    arena_free(&k.scratch);
    if (!err->code) return heap;
    heap_free(heap);
    return NULL;
}

static const HloAnalysis heap_analysis = {heap_make, heap_free};

const Heap *hlo_heap(const HloModule *module, ProfErr *err)
{
    return hlo_analysis(module, &heap_analysis, err);
}

/* ---- objects of the peak ---- */

static bool larger(const void *a, const void *b)
{
    return ((const HeapObject *)a)->size_bytes > ((const HeapObject *)b)->size_bytes;
}

bool heap_objects(const Heap *heap, const HeapSpace *space, int64_t small_bytes,
                  HeapObject **objects, size_t *n)
{
    HeapObject *list = prof_alloc((space->n_objects + 1) * sizeof *list),
               **by_size = prof_alloc((space->n_objects + 1) * sizeof *by_size);
    HeapObject small = {.buffer = -1};
    *n = 0;
    if (!list || !by_size) {
        prof_free(list);
        prof_free(by_size);
        return false;
    }
    for (size_t i = space->color ? space->n_indefinite_objects : 0; i < space->n_objects; i++) {
        const HeapBuffer *b = &heap->buffers[space->objects[i]];
        if (b->size_bytes < small_bytes)
            small.size_bytes = add_saturated(small.size_bytes, b->size_bytes);
        else
            list[*n] = (HeapObject){space->objects[i], b->size_bytes, b->unpadded_bytes, *n, 0},
            (*n)++;
    }
    if (small.size_bytes) small.program_order = *n, list[(*n)++] = small;
    for (size_t i = 0; i < *n; i++) by_size[i] = &list[i];
    std_sort((void **)by_size, *n, larger);
    for (size_t i = 0; i < *n; i++) by_size[i]->size_rank = i;
    prof_free(by_size);
    *objects = list;
    return true;
}
