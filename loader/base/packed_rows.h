// SPDX-License-Identifier: Apache-2.0
/* packed_rows.h: a growing list of rows of four integers, packed by column and chunk (column.h).
 *
 * Rows are appended. A row may change after it was packed: such changes are collected and applied
 * to many rows at a time. Rows whose values are close to those around them take 5 to 10 bytes
 * instead of 32. */
#ifndef PROF_PACKED_ROWS_H
#define PROF_PACKED_ROWS_H

#include "column.h"
#include "list.h"

enum { ROW_VALUES = 4, ROWS_PER_CHUNK = 1024 };

typedef struct {
    int64_t values[ROW_VALUES];
} PackedRow;

/* Packed rows. ROWS_PER_CHUNK in each chunk, fewer in the last. */
typedef struct {
    Packed columns[ROW_VALUES];
    Arena arena;
} RowChunk;
typedef struct {
    LIST(RowChunk) chunks;
    size_t n; /* rows */
} PackedRows;

/* Returns one value of a row. */
static inline int64_t packed_value(const PackedRows *rows, size_t row, int column)
{
    const RowChunk *chunk = &rows->chunks.items[row / ROWS_PER_CHUNK];
    return packed_at(&chunk->columns[column], row % ROWS_PER_CHUNK);
}
/* Returns a row. */
static inline PackedRow packed_row(const PackedRows *rows, size_t row)
{
    PackedRow r;
    for (int c = 0; c < ROW_VALUES; c++) r.values[c] = packed_value(rows, row, c);
    return r;
}
void packed_rows_free(PackedRows *rows);

/* A row that changed after it was packed. */
typedef struct {
    uint32_t row;
    PackedRow now;
} RowChange;

/* Rows that are being written. Starts as {0}. */
typedef struct {
    PackedRows packed;
    LIST(PackedRow) last; /* rows that are not packed yet */
    LIST(RowChange) changes;
    bool no_memory; /* memory ran out; rows are lost */
} RowWriter;

/* Returns the number of rows that were added. */
static inline size_t rows_added(const RowWriter *writer)
{
    return writer->packed.n + writer->last.n;
}
/* Appends a row. */
void rows_add(RowWriter *writer, const PackedRow *row);
/* Changes a row. A row that was packed may change once more. */
void rows_set(RowWriter *writer, size_t row, const PackedRow *now);
/* Hands all rows over and empties the writer. False if memory ran out, now or before. */
NODISCARD bool rows_finish(RowWriter *writer, PackedRows *rows);
/* Empties the writer; its rows are lost. */
void rows_drop(RowWriter *writer);

#endif
