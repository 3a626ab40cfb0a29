// SPDX-License-Identifier: Apache-2.0
/* buffer_allocations.c: the table buffer_allocations: every logical buffer and its place in an
 * allocation.
 *
 *   -- what fills the memory at the peak, largest first
 *   SELECT hlo_op, size_bytes, expansion, source_file, source_line FROM buffer_allocations('logs')
 *    WHERE hlo_module = 'jit_step' AND memory_space = 0 AND live_at_peak ORDER BY size_rank;
 *   -- as in XProf's memory viewer, the small ones in one row
 *   SELECT * FROM buffer_allocations('logs', 16384)
 *    WHERE program_order IS NOT NULL ORDER BY program_order;
 *
 * XProf's list of a peak may contain a buffer twice (a traced one of an allocation that is live at
 * all times, whose size XProf also counts twice), or a buffer of another memory space. These get an
 * additional row. */
#include "../loader/analysis/program/heap_peaks.h"
#include "../loader/analysis/program/outputs.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#define BUFFER_ALLOCATIONS_COLUMNS(C)                                                              \
    C(BA_RUN, RUN_DOC)                                                                             \
    C(BA_HOST, HOST_DOC)                                                                           \
    C(BA_PROGRAM, PROGRAM_ID_DOC)                                                                  \
    C(BA_MODULE, HLO_MODULE_DOC)                                                                   \
    C(BA_ALLOCATION, "allocation_id", "INTEGER", NULL,                                             \
      "id of the allocation; NULL in the row of small buffers", "BufferAllocationProto.index")     \
    C(BA_SPACE, "memory_space", "INTEGER", NULL,                                                   \
      "memory space (color) of the allocation: 0 for the device's main memory, 1 for TPU VMEM, "   \
      "...",                                                                                       \
      "BufferAllocationProto.color")                                                               \
    C(BA_ALLOCATION_BYTES, "allocation_bytes", "INTEGER", "bytes",                                 \
      "size of the entire allocation, equal in the rows of all its buffers; NULL in the row of "   \
      "small buffers",                                                                             \
      "BufferAllocationProto.size")                                                                \
    C(BA_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of the allocation: parameter, output, thread-local, constant or temporary; the first " \
      "that applies; NULL in the row of small buffers",                                            \
      "memory_viewer groupName")                                                                   \
    C(BA_ATTRIBUTES, "attributes", "TEXT", NULL,                                                   \
      "properties of the allocation, separated by commas: entry computation parameter, may-be "    \
      "live out, reusable (neither thread-local nor a tuple); NULL if none applies, and in the "   \
      "row of small buffers",                                                                      \
      "memory_viewer indefiniteLifetimes.attributes")                                              \
    C(BA_ID, "buffer_id", "INTEGER", NULL,                                                         \
      "id of the logical buffer; NULL for an allocation without buffers and in the row of small "  \
      "buffers",                                                                                   \
      "LogicalBufferProto.id")                                                                     \
    C(BA_OFFSET, "offset_bytes", "INTEGER", "bytes",                                               \
      "position of the buffer's first byte in the allocation; NULL if buffer_id is NULL, and in "  \
      "a second row for the same buffer",                                                          \
      "BufferAllocationProto.Assigned.offset")                                                     \
    C(BA_SIZE, "size_bytes", "INTEGER", "bytes",                                                   \
      "size of the buffer, padding included; in the row of small buffers their sum; NULL for an "  \
      "allocation without buffers, or if the program does not declare the buffer",                 \
      "LogicalBufferProto.size")                                                                   \
    C(BA_UNPADDED, "unpadded_bytes", "INTEGER", "bytes",                                           \
      "size of the shape in column shape without tiles, as XProf computes it; for a tuple the "    \
      "size of its table of pointers; NULL if a dimension has no known size or there is no shape", \
      "memory_viewer unpaddedShapeMib, in bytes")                                                  \
    C(BA_PADDING, "padding_bytes", "INTEGER", "bytes",                                             \
      "size_bytes - unpadded_bytes; negative if elements are packed; NULL if either is NULL",      \
      "memory viewer page")                                                                        \
    C(BA_EXPANSION, "expansion", "REAL", "ratio",                                                  \
      "size_bytes / unpadded_bytes; NULL if unpadded_bytes is 0 or NULL", "memory viewer page")    \
    C(BA_EFFICIENCY, "padding_efficiency", "REAL", "fraction 0..1",                                \
      "unpadded_bytes_actual / size_bytes, at most 1; NULL if size_bytes is 0 or either is NULL",  \
      "libprofsql")                                                                                \
    C(BA_OP, "hlo_op", "TEXT", NULL,                                                               \
      "HLO instruction whose result the buffer contains; NULL if there is no buffer_id or its "    \
      "instruction is unknown",                                                                    \
      "LogicalBufferProto.defined_at")                                                             \
    C(BA_INDEX, "shape_index", "TEXT", NULL,                                                       \
      "shape index of the part of the result that the buffer contains, as {0,1}; NULL for the "    \
      "entire result, and if there is no buffer_id",                                               \
      "LogicalBufferProto.defined_at.shape_index")                                                 \
    C(BA_SHAPE, "shape", "TEXT", NULL,                                                             \
      "shape and layout of the buffer in HLO syntax, as XProf shows them (shape_actual is "        \
      "exact); NULL if hlo_op is NULL",                                                            \
      "memory_viewer shapeString")                                                                 \
    C(BA_OPCODE, "opcode", "TEXT", NULL,                                                           \
      "opcode of the instruction hlo_op; NULL if hlo_op is NULL", "HloInstructionProto.opcode")    \
    C(BA_TF_OP, TF_OP_DOC)                                                                         \
    C(BA_FILE, SOURCE_FILE_DOC)                                                                    \
    C(BA_LINE, SOURCE_LINE_DOC)                                                                    \
    C(BA_STACK, SOURCE_STACK_DOC)                                                                  \
    C(BA_START, "start_event", "INTEGER", NULL,                                                    \
      "event of heap_timeline at which the life of the buffer starts; NULL if the heap trace "     \
      "does not contain the buffer, and in a second row for the same buffer",                      \
      "memory_viewer logicalBufferSpans.start")                                                    \
    C(BA_END, "end_event", "INTEGER", NULL,                                                        \
      "event of heap_timeline at which the life of the buffer ends; NULL if start_event is NULL",  \
      "memory_viewer logicalBufferSpans.limit")                                                    \
    C(BA_STORAGE_START, "storage_start_event", "INTEGER", NULL,                                    \
      "event of heap_timeline that allocates the storage of the buffer; NULL if start_event is "   \
      "NULL, and for all but one of the buffers that share storage, so that it counts once",       \
      "libprofsql")                                                                                \
    C(BA_STORAGE_END, "storage_end_event", "INTEGER", NULL,                                        \
      "event of heap_timeline that frees the storage, with the last buffer that shares it; the "   \
      "number of events if none frees it; NULL if storage_start_event is NULL",                    \
      "libprofsql")                                                                                \
    C(BA_LIVE, "live_at_peak", "INTEGER", "0 or 1",                                                \
      "1: part of the memory peak (only one of the buffers that share storage; only the largest "  \
      "buffer of an allocation for parameters, constants or outputs; no temporary if none has "    \
      "bytes); NULL if unknown",                                                                   \
      "memory_viewer maxHeap")                                                                     \
    C(BA_ORDER, "program_order", "INTEGER", NULL,                                                  \
      "position in XProf's list of the buffers at the peak, from 0; NULL for buffers that are "    \
      "not in the list: not at the peak, or parameters, constants and outputs in other memory "    \
      "spaces than 0",                                                                             \
      "memory_viewer maxHeap")                                                                     \
    C(BA_RANK, "size_rank", "INTEGER", NULL,                                                       \
      "position in the list of program_order sorted by size, 0 for the largest buffer; NULL if "   \
      "program_order is NULL",                                                                     \
      "memory_viewer maxHeapBySize")                                                               \
    C(BA_LABEL, "label", "TEXT", NULL,                                                             \
      "instruction, shape and framework op in one text; small (<N bytes) in the row of small "     \
      "buffers; NULL if hlo_op is NULL in another row",                                            \
      "memory_viewer label")                                                                       \
    C(BA_SHAPE_ACTUAL, "shape_actual", "TEXT", NULL,                                               \
      "shape and layout of the part of the result at shape_index; NULL if hlo_op is NULL or has "  \
      "no such part",                                                                              \
      "HloInstructionProto.shape")                                                                 \
    C(BA_OUTPUT_SHAPE, "output_shape", "TEXT", NULL,                                               \
      "shape and layout that the program's result gives to this buffer: shape_actual, or another " \
      "one if bitcasts follow; the first if the buffer is several outputs; NULL if it is no "      \
      "output",                                                                                    \
      "HloInstructionProto.shape")                                                                 \
    C(BA_UNPADDED_ACTUAL, "unpadded_bytes_actual", "INTEGER", "bytes",                             \
      "size of the data in shape_actual, packed elements as packed; for a tuple the size of its "  \
      "table of pointers; NULL if a dimension has no known size or there is no shape",             \
      "libprofsql")                                                                                \
    C(BA_PADDING_ACTUAL, "padding_bytes_actual", "INTEGER", "bytes",                               \
      "size_bytes - unpadded_bytes_actual; NULL if either is NULL", "libprofsql")                  \
    C(BA_OWNER, OWNER_TF_OP_DOC)                                                                   \
    C(BA_OWNER_BY, OWNER_BY_DOC)                                                                   \
    C(BA_OWNER_OP, OWNER_HLO_OP_DOC)                                                               \
    C(BA_SCOPE, SCOPE_DOC)                                                                         \
    C(BA_SCOPE_BY, SCOPE_BY_DOC)                                                                   \
    C(BA_PASS, PASS_DOC)                                                                           \
    C(BA_USER_FILE, USER_FILE_DOC)                                                                 \
    C(BA_USER_LINE, USER_LINE_DOC)                                                                 \
    C(BA_USER_FUNCTION, USER_FUNCTION_DOC)                                                         \
    C(BA_SOURCE, SOURCE_DOC)                                                                       \
    C(BA_SMALL, "small_buffer_bytes", "INTEGER HIDDEN", "bytes",                                   \
      "buffers at the peak below this size are combined into one row per memory space; XProf's "   \
      "page uses 16384",                                                                           \
      "argument 2, default 0")
enum { BUFFER_ALLOCATIONS_COLUMNS(COLUMN_ENUM) };
static const Column buffer_allocations_columns[] = {BUFFER_ALLOCATIONS_COLUMNS(COLUMN_DOC)};

typedef struct {
    HloAt at;
    const Heap *heap; /* heap of the module, with its peaks */
    HeapPeaks *peaks;
    size_t allocation, buffer; /* buffer: index in the allocation; 0 also if it has none */
    size_t next_extra;
    const HeapExtra *extra; /* an additional row; NULL: the row is a buffer */
} BufferAt;

static void buffer_close(void *state) { prof_free(((BufferAt *)state)->peaks); }

static bool make_peaks(RowCursor *c, BufferAt *at)
{
    prof_free(at->peaks);
    at->peaks = heap_peaks(at->heap, row_integer_parameter(c, 0, 0), &c->err);
    return at->peaks;
}

static const HeapBuffer *buffer_of(const BufferAt *at)
{
    const Heap *heap = at->heap;
    if (at->buffer >= heap->allocations[at->allocation].n_buffers) return NULL;
    return &heap->buffers[heap->allocations[at->allocation].first_buffer + at->buffer];
}

static bool wanted(const RowCursor *c, int64_t color, const HeapBuffer *b)
{
    if (c->has_key[KEY_MEMORY_SPACE] && c->key[KEY_MEMORY_SPACE] != color) return false;
    return !c->text_key[KEY_HLO_OP] ||
           (b && b->instruction && !strcmp(b->instruction->name, c->text_key[KEY_HLO_OP]));
}

static bool is_folded(const HeapPeaks *peaks, const Heap *heap, const HeapBuffer *b)
{
    return b && peaks->places[b - heap->buffers].life == LIFE_FOLDED;
}

static const HeapBuffer *extra_buffer(const Heap *heap, const HeapExtra *extra)
{
    return extra->object.buffer < 0 ? NULL : &heap->buffers[extra->object.buffer];
}

/* Moves to the program's next buffer that the plan wants, or to an allocation without buffers. */
static bool next_buffer(RowCursor *c, BufferAt *at)
{
    const Heap *heap = at->heap;
    for (; at->allocation < heap->n_allocations; at->allocation++, at->buffer = SIZE_MAX) {
        const HeapAllocation *a = &heap->allocations[at->allocation];
        while (++at->buffer < a->n_buffers || (!a->n_buffers && !at->buffer)) {
            const HeapBuffer *b = buffer_of(at);
            if (!wanted(c, a->proto->color, b) || is_folded(at->peaks, heap, b)) continue;
            c->place = row_place(c, a->n_buffers ? a->first_buffer + at->buffer
                                                 : heap->n_buffers + at->allocation);
            return true;
        }
    }
    return false;
}

static bool next_extra(RowCursor *c, BufferAt *at)
{
    const Heap *heap = at->heap;
    while (at->next_extra < at->peaks->n_extra) {
        at->extra = &at->peaks->extra[at->next_extra++];
        if (!wanted(c, at->extra->color, extra_buffer(heap, at->extra))) continue;
        c->place = row_place(c, heap->n_buffers + heap->n_allocations + at->next_extra - 1);
        return true;
    }
    return false;
}

static bool buffer_allocations_next(RowCursor *c)
{
    BufferAt *at = c->state;
    for (;;) {
        if (at->heap && (next_buffer(c, at) || next_extra(c, at))) return true;
        const HloModule *m = row_next_module(c);
        if (!m || !(at->heap = hlo_heap(m, &c->err)) || !make_peaks(c, at)) return false;
        at->allocation = at->next_extra = 0, at->buffer = SIZE_MAX, at->extra = NULL;
    }
}

static void result_attributes(sqlite3_context *ctx, const Xla__BufferAllocationProto *a)
{
    const char *parameter =
                   a->is_entry_computation_parameter ? ", entry computation parameter" : "",
               *out = a->maybe_live_out ? ", may-be live out" : "";
    const char *reusable = !a->is_thread_local && !a->is_tuple ? ", reusable" : "";
    char text[80];
    sqlite3_snprintf(sizeof text, text, "%s%s%s", parameter, out, reusable);
    if (*text) sqlite3_result_text(ctx, text + 2, -1, SQLITE_TRANSIENT);
}

static void result_shape_index(sqlite3_context *ctx, const HeapBuffer *b)
{
    const Xla__LogicalBufferProto__Location *at = b->proto ? b->proto->defined_at : NULL;
    if (!at || !at->n_shape_index) return;
    TextBuffer index = {0};
    for (size_t i = 0; i < at->n_shape_index; i++) {
        text_add_char(&index, i ? ',' : '{');
        text_add_integer(&index, at->shape_index[i]);
    }
    text_add_char(&index, '}');
    result_buffer(ctx, &index);
}

static void result_label(sqlite3_context *ctx, const HeapBuffer *b, int column)
{
    TextBuffer text = {0};
    if (column == BA_LABEL) {
        text_add(&text, b->instruction->name);
        text_add(&text, ": ");
    }
    const Xla__ShapeProto *shape = column == BA_SHAPE_ACTUAL ? heap_part(b) : heap_shape(b);
    if (shape) hlo_shape_text(shape, true, &text);
    if (column == BA_LABEL) {
        text_add(&text, " # ");
        if (b->instruction->metadata) text_add(&text, b->instruction->metadata->op_name);
    }
    result_buffer(ctx, &text);
}

static void result_output_shape(RowCursor *c, sqlite3_context *ctx, const HloModule *m,
                                const HeapBuffer *b)
{
    const Xla__LogicalBufferProto__Location *at = b->proto ? b->proto->defined_at : NULL;
    TextBuffer text = {0};
    const Xla__ShapeProto *shape =
        at ? output_shape(m, b->instruction, at->shape_index, at->n_shape_index, &c->err) : NULL;
    if (shape) hlo_shape_text(shape, true, &text);
    result_buffer(ctx, &text);
}

static void allocation_column(sqlite3_context *ctx, const HeapAllocation *a, int column)
{
    switch (column) {
    case BA_ALLOCATION: sqlite3_result_int64(ctx, a->proto->index); break;
    case BA_SPACE: sqlite3_result_int64(ctx, a->proto->color); break;
    case BA_ALLOCATION_BYTES: sqlite3_result_int64(ctx, a->proto->size); break;
    case BA_KIND: result_static(ctx, heap_kind_names[a->kind]); break;
    case BA_ATTRIBUTES: result_attributes(ctx, a->proto); break;
    default: break;
    }
}

static void padding_column(sqlite3_context *ctx, const HeapBuffer *b, int column)
{
    bool actual =
        column == BA_UNPADDED_ACTUAL || column == BA_PADDING_ACTUAL || column == BA_EFFICIENCY;
    int64_t bytes = actual ? heap_data_bytes(b) : b->unpadded_bytes;
    if (!b->proto || bytes < 0) return;
    double size = (double)b->size_bytes, unpadded = (double)bytes;
    if (column == BA_UNPADDED || column == BA_UNPADDED_ACTUAL) sqlite3_result_int64(ctx, bytes);
    if (column == BA_PADDING || column == BA_PADDING_ACTUAL)
        sqlite3_result_int64(ctx, add_saturated(b->size_bytes, -bytes));
    if (column == BA_EXPANSION && unpadded > 0) sqlite3_result_double(ctx, size / unpadded);
    if (column == BA_EFFICIENCY && size > 0)
        sqlite3_result_double(ctx, unpadded < size ? unpadded / size : 1);
}

static void buffer_column(RowCursor *c, sqlite3_context *ctx, const HloModule *m,
                          const HeapBuffer *b, int column)
{
    switch (column) {
    case BA_ID: sqlite3_result_int64(ctx, b->id); break;
    case BA_OFFSET: sqlite3_result_int64(ctx, b->offset); break;
    case BA_SIZE:
        if (b->proto) sqlite3_result_int64(ctx, b->size_bytes);
        break;
    case BA_UNPADDED:
    case BA_UNPADDED_ACTUAL:
    case BA_PADDING_ACTUAL:
    case BA_PADDING:
    case BA_EXPANSION:
    case BA_EFFICIENCY: padding_column(ctx, b, column); break;
    case BA_INDEX: result_shape_index(ctx, b); break;
    case BA_START: result_nonnegative(ctx, b->start_event); break;
    case BA_END:
        if (b->start_event >= 0) sqlite3_result_int64(ctx, b->end_event);
        break;
    case BA_STORAGE_START: result_nonnegative(ctx, b->storage_start_event); break;
    case BA_STORAGE_END:
        if (b->storage_start_event >= 0) sqlite3_result_int64(ctx, b->storage_end_event);
        break;
    default: break;
    }
    const Xla__HloInstructionProto *op = b->instruction;
    if (!op) return;
    switch (column) {
    case BA_OP: result_static(ctx, op->name); break;
    case BA_SHAPE:
    case BA_SHAPE_ACTUAL:
    case BA_LABEL: result_label(ctx, b, column); break;
    case BA_OUTPUT_SHAPE: result_output_shape(c, ctx, m, b); break;
    case BA_OPCODE: result_static(ctx, op->opcode); break;
    case BA_TF_OP: result_proto_text(ctx, op->metadata ? op->metadata->op_name : ""); break;
    case BA_FILE: result_source_file(ctx, m, op); break;
    case BA_LINE: result_source_line(ctx, m, op); break;
    case BA_STACK: result_source_stack(ctx, m, op); break;
    case BA_OWNER:
    case BA_OWNER_BY:
    case BA_OWNER_OP:
    case BA_SCOPE:
    case BA_SCOPE_BY:
    case BA_PASS:
    case BA_USER_FILE:
    case BA_USER_LINE:
    case BA_USER_FUNCTION:
        result_origin(c, ctx, m, op, ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - BA_OWNER));
        break;
    default: break;
    }
}

static void place_column(sqlite3_context *ctx, const HeapPlace *place, int column)
{
    if (column == BA_LIVE && place->life != LIFE_UNKNOWN)
        sqlite3_result_int(ctx, place->life == LIFE_LIVE);
    if (column == BA_ORDER && place->program_order >= 0)
        sqlite3_result_int64(ctx, place->program_order);
    if (column == BA_RANK && place->size_rank >= 0) sqlite3_result_int64(ctx, place->size_rank);
}

static void extra_column(RowCursor *c, sqlite3_context *ctx, const BufferAt *at, int column)
{
    const Heap *heap = at->heap;
    const HeapExtra *extra = at->extra;
    const HeapBuffer *b = extra_buffer(heap, extra);
    place_column(ctx,
                 &(HeapPlace){(int64_t)extra->object.program_order,
                              (int64_t)extra->object.size_rank, LIFE_LIVE},
                 column);
    if (column == BA_SPACE) {
        sqlite3_result_int64(ctx, extra->color);
    } else if (b && column != BA_OFFSET && column != BA_START && column != BA_END &&
               column != BA_STORAGE_START &&
               column != BA_STORAGE_END) { /* its own row has its place and lifetime */
        allocation_column(ctx, &heap->allocations[b->allocation], column);
        buffer_column(c, ctx, at->at.module, b, column);
    } else if (!b && column == BA_SIZE) {
        sqlite3_result_int64(ctx, extra->object.size_bytes);
    } else if (!b && column == BA_LABEL) {
        result_owned(ctx, sqlite3_mprintf("small (<%lld bytes)", row_integer_parameter(c, 0, 0)));
    }
}

static void buffer_allocations_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    if (row_program_column(c, ctx, column)) return;
    const BufferAt *at = c->state;
    if (at->extra) {
        extra_column(c, ctx, at, column);
        return;
    }
    const HeapBuffer *b = buffer_of(at);
    allocation_column(ctx, &at->heap->allocations[at->allocation], column);
    if (!b) return;
    buffer_column(c, ctx, at->at.module, b, column);
    place_column(ctx, &at->peaks->places[b - at->heap->buffers], column);
}

static const RowSource buffer_allocations_rows = {
    .next = buffer_allocations_next,
    .state_bytes = sizeof(BufferAt),
    .close = buffer_close,
    .column = buffer_allocations_column,
    .n_parameters = 1,
    .needs = NEED_PROGRAMS,
    .nothing = "no HLO program contains a buffer assignment (programs dumped before optimization "
               "have none)"};
const Table buffer_allocations_table = {
    "buffer_allocations",
    "one logical buffer of an HLO program, with its position in an allocation",
    buffer_allocations_columns,
    COUNT(buffer_allocations_columns),
    &row_table_module,
    &buffer_allocations_rows,
    2000,
    "0.1.0",
    "SELECT hlo_op, shape, size_bytes, padding_bytes FROM buffer_allocations ORDER BY size_bytes "
    "DESC LIMIT 10"};
