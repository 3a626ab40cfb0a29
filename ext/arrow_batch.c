// SPDX-License-Identifier: Apache-2.0
/* arrow_batch.c: memory of record batches; see arrow.h.
 *
 * Each column of a batch is an array with its own release callback, because the consumer of a batch
 * may move its columns elsewhere. */
#include "arrow.h"

#include <errno.h>
#include <stdatomic.h>

enum { VALID_BYTES = PROFSQL_ARROW_ROWS / 8 };

/* ---- dictionaries ---- */

struct ArrowNames {
    atomic_int n_references;
    int32_t *ends; /* ends[i]: where text i - 1 ends; ends[0] is 0 */
    char *bytes;
    size_t n, n_bytes, ends_capacity, bytes_capacity;
    HashTable by_text;
};

ArrowNames *arrow_names_new(void)
{
    ArrowNames *names = prof_alloc(sizeof *names);
    if (!names) return NULL;
    atomic_init(&names->n_references, 1);
    if (!GROW(names->ends, 0, names->ends_capacity)) {
        arrow_names_unref(names);
        return NULL;
    }
    names->ends[0] = 0;
    return names;
}

ArrowNames *arrow_names_ref(ArrowNames *names)
{
    atomic_fetch_add(&names->n_references, 1);
    return names;
}

void arrow_names_unref(ArrowNames *names)
{
    if (!names || atomic_fetch_sub(&names->n_references, 1) > 1) return;
    hash_free(&names->by_text);
    prof_free(names->ends);
    prof_free(names->bytes);
    prof_free(names);
}

static bool add_bytes(char **to, size_t *n, size_t *capacity, const void *bytes, size_t n_bytes)
{
    while (*capacity - *n < n_bytes)
        if (!prof_grow(to, *capacity, capacity, 1)) return false;
    if (n_bytes) memcpy(*to + *n, bytes, n_bytes);
    *n += n_bytes;
    return true;
}

int32_t arrow_names_add(ArrowNames *names, const char *text, size_t n_bytes)
{
    uint64_t hash = text_hash(text, n_bytes);
    HASH_EACH(i, &names->by_text, hash) {
        size_t begin = (size_t)names->ends[i], n = (size_t)names->ends[i + 1] - begin;
        if (n == n_bytes && (!n || !memcmp(names->bytes + begin, text, n))) return (int32_t)i;
    }
    if (n_bytes > INT32_MAX - names->n_bytes || names->n == INT32_MAX) return -1;
    if (!GROW(names->ends, names->n + 1, names->ends_capacity)) return -1;
    if (!hash_add(&names->by_text, hash, names->n)) return -1;
    if (!add_bytes(&names->bytes, &names->n_bytes, &names->bytes_capacity, text, n_bytes))
        return -1;
    names->ends[++names->n] = (int32_t)names->n_bytes;
    return (int32_t)names->n - 1;
}

/* ---- columns ---- */

/* Returns the bytes of a value, or of an offset. */
static size_t width_of(enum ArrowType type)
{
    if (type == ARROW_NULL) return 0;
    return type == ARROW_INTEGER || type == ARROW_REAL ? 8 : 4;
}

bool arrow_column_open(ArrowColumn *column, int64_t n_rows)
{
    size_t width = width_of(column->type);
    if (!width) return true;
    column->values = prof_buffer((size_t)(n_rows + 1) * width);
    if (column->values && (column->type == ARROW_TEXT || column->type == ARROW_BLOB))
        column->ends[0] = 0;
    return column->values != NULL;
}

bool arrow_batch_grow(ArrowBatch *batch, int64_t n_rows)
{
    for (int i = 0; i < batch->n_columns; i++) {
        ArrowColumn *column = &batch->columns[i];
        void *before = column->values;
        if (!arrow_column_open(column, n_rows)) {
            column->values = before;
            return false;
        }
        if (before) memcpy(column->values, before, (size_t)(batch->n + 1) * width_of(column->type));
        if (before != column->values) prof_free(before);
    }
    batch->room = n_rows;
    return true;
}

void arrow_column_free(ArrowColumn *column)
{
    prof_free(column->valid);
    prof_free(column->values);
    prof_free(column->bytes);
    arrow_names_unref(column->names);
    *column = (ArrowColumn){0};
}

bool arrow_set_null(ArrowColumn *column, int64_t row)
{
    column->n_nulls++;
    if (column->type == ARROW_NULL) return true;
    if (!column->valid) {
        if (!(column->valid = prof_buffer(VALID_BYTES))) return false;
        memset(column->valid, 0xff, VALID_BYTES);
    }
    column->valid[row / 8] &= (uint8_t) ~(1u << row % 8);
    if (column->type == ARROW_TEXT || column->type == ARROW_BLOB)
        column->ends[row + 1] = (int32_t)column->n_bytes;
    else if (column->type == ARROW_NAMES)
        column->codes[row] = 0;
    else
        column->integers[row] = 0;
    return true;
}

bool arrow_append(ArrowColumn *column, int64_t row, const void *bytes, size_t n_bytes)
{
    if (!add_bytes(&column->bytes, &column->n_bytes, &column->capacity, bytes, n_bytes))
        return false;
    column->ends[row + 1] = (int32_t)column->n_bytes;
    return true;
}

void arrow_batch_free(ArrowBatch *batch)
{
    for (int i = 0; i < batch->n_columns; i++) arrow_column_free(&batch->columns[i]);
    prof_free(batch->columns);
    *batch = (ArrowBatch){0};
}

/* ---- handing out ---- */

/* private_data of the array of a column and of its dictionary; the dictionary only has `names`. */
typedef struct {
    ArrowColumn column;
    const void *buffers[3];
    struct ArrowArray dictionary;
} HandedColumn;

static void release_names(struct ArrowArray *array)
{
    HandedColumn *handed = array->private_data;
    arrow_names_unref(handed->column.names);
    prof_free(handed);
    array->release = NULL;
}

static void release_column(struct ArrowArray *array)
{
    HandedColumn *handed = array->private_data;
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    arrow_column_free(&handed->column);
    prof_free(handed);
    array->release = NULL;
}

/* Hands out a dictionary. It needs a data buffer even if it is empty. */
static bool hand_out_names(ArrowNames *names, struct ArrowArray *out)
{
    HandedColumn *handed = prof_alloc(sizeof *handed);
    if (!handed) return false;
    handed->column.names = arrow_names_ref(names);
    handed->buffers[1] = names->ends;
    handed->buffers[2] = names->bytes ? names->bytes : "";
    *out = (struct ArrowArray){.length = (int64_t)names->n,
                               .n_buffers = 3,
                               .buffers = handed->buffers,
                               .release = release_names,
                               .private_data = handed};
    return true;
}

static bool hand_out_column(ArrowColumn *column, int64_t n, struct ArrowArray *out)
{
    static const int8_t n_buffers[] = {[ARROW_NULL] = 0, [ARROW_INTEGER] = 2, [ARROW_REAL] = 2,
                                       [ARROW_TEXT] = 3, [ARROW_BLOB] = 3,    [ARROW_NAMES] = 2};
    HandedColumn *handed = prof_alloc(sizeof *handed);
    if (!handed) return false;
    bool has_names = column->type == ARROW_NAMES;
    if (has_names && !hand_out_names(column->names, &handed->dictionary)) {
        prof_free(handed);
        return false;
    }
    handed->column = *column;
    *column = (ArrowColumn){0};
    handed->buffers[0] = handed->column.valid;
    handed->buffers[1] = handed->column.values;
    handed->buffers[2] = handed->column.bytes ? handed->column.bytes : "";
    *out = (struct ArrowArray){.length = n,
                               .null_count = handed->column.n_nulls,
                               .n_buffers = n_buffers[handed->column.type],
                               .buffers = handed->buffers,
                               .dictionary = has_names ? &handed->dictionary : NULL,
                               .release = release_column,
                               .private_data = handed};
    return true;
}

/* private_data of a batch's array. */
typedef struct {
    const void *buffers[1];
    struct ArrowArray **pointers, arrays[];
} HandedBatch;

static void release_batch(struct ArrowArray *array)
{
    HandedBatch *handed = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (handed->arrays[i].release) handed->arrays[i].release(&handed->arrays[i]);
    prof_free(handed->pointers);
    prof_free(handed);
    array->release = NULL;
}

int arrow_hand_out(ArrowBatch *batch, struct ArrowArray *out)
{
    size_t n = (size_t)batch->n_columns;
    HandedBatch *handed = prof_alloc(sizeof *handed + n * sizeof handed->arrays[0]);
    struct ArrowArray **pointers = prof_alloc((n ? n : 1) * sizeof *pointers);
    if (!handed || !pointers) {
        prof_free(handed);
        prof_free(pointers);
        return ENOMEM;
    }
    handed->pointers = pointers;
    *out = (struct ArrowArray){.length = batch->n,
                               .n_buffers = 1,
                               .n_children = batch->n_columns,
                               .buffers = handed->buffers,
                               .children = pointers,
                               .release = release_batch,
                               .private_data = handed};
    for (size_t i = 0; i < n; i++) {
        pointers[i] = &handed->arrays[i];
        if (!hand_out_column(&batch->columns[i], batch->n, pointers[i])) {
            release_batch(out);
            return ENOMEM;
        }
    }
    prof_free(batch->columns);
    *batch = (ArrowBatch){0};
    return 0;
}
