// SPDX-License-Identifier: Apache-2.0
/* packed_rows.c: writing packed rows; see packed_rows.h. */
#include "packed_rows.h"

#include "sort.h"

void packed_rows_free(PackedRows *rows)
{
    for (size_t i = 0; i < rows->chunks.n; i++) arena_free(&rows->chunks.items[i].arena);
    prof_free(rows->chunks.items);
    *rows = (PackedRows){0};
}

/* Packs rows into one block of exactly the memory that they need. */
static bool pack(RowChunk *chunk, const PackedRow *rows, size_t n)
{
    int64_t column[ROWS_PER_CHUNK];
    ValueRange ranges[ROW_VALUES];
    *chunk = (RowChunk){0};
    for (int c = 0; c < ROW_VALUES; c++) {
        ranges[c] = (ValueRange){rows[0].values[c], rows[0].values[c]};
        for (size_t i = 1; i < n; i++) {
            int64_t value = rows[i].values[c];
            if (value < ranges[c].least) ranges[c].least = value;
            if (value > ranges[c].most) ranges[c].most = value;
        }
        size_t width = range_width(ranges[c]);
        if (width) chunk->arena.block_bytes += (width * (n - 1) + 15) / 8 * 8;
    }
    for (int c = 0; c < ROW_VALUES; c++) {
        for (size_t i = 0; i < n; i++) column[i] = rows[i].values[c];
        if (!packed_make_of(&chunk->columns[c], &chunk->arena, column, n, ranges[c])) {
            arena_free(&chunk->arena);
            return false;
        }
    }
    return true;
}

static bool pack_last(RowWriter *w)
{
    RowChunk chunk;
    if (!w->last.n) return true;
    if (!pack(&chunk, w->last.items, w->last.n)) return false;
    RowChunk *place = PUSH(w->packed.chunks);
    if (!place) {
        arena_free(&chunk.arena);
        return false;
    }
    *place = chunk;
    w->packed.n += w->last.n;
    w->last.n = 0;
    return true;
}

ORDER_BY(by_row, RowChange, row)

static bool apply_changes(RowWriter *w)
{
    PackedRow rows[ROWS_PER_CHUNK];
    sort_in_place(w->changes.items, w->changes.n, sizeof *w->changes.items, by_row);
    for (size_t i = 0; i < w->changes.n;) {
        size_t at = w->changes.items[i].row / ROWS_PER_CHUNK;
        for (size_t k = 0; k < ROWS_PER_CHUNK; k++)
            rows[k] = packed_row(&w->packed, at * ROWS_PER_CHUNK + k);
        for (; i < w->changes.n && w->changes.items[i].row / ROWS_PER_CHUNK == at; i++)
            rows[w->changes.items[i].row % ROWS_PER_CHUNK] = w->changes.items[i].now;
        RowChunk changed;
        if (!pack(&changed, rows, ROWS_PER_CHUNK)) return false;
        arena_free(&w->packed.chunks.items[at].arena);
        w->packed.chunks.items[at] = changed;
    }
    w->changes.n = 0;
    return true;
}

void rows_add(RowWriter *w, const PackedRow *row)
{
    PackedRow *place = w->no_memory ? NULL : PUSH(w->last);
    if (place) *place = *row;
    if (!place || (w->last.n == ROWS_PER_CHUNK && !pack_last(w))) w->no_memory = true;
}

void rows_set(RowWriter *w, size_t row, const PackedRow *now)
{
    enum { MOST_CHANGES = 1 << 16 };
    if (w->no_memory) return;
    if (row >= w->packed.n) {
        w->last.items[row - w->packed.n] = *now;
        return;
    }
    RowChange *change = PUSH(w->changes);
    if (change) *change = (RowChange){(uint32_t)row, *now};
    if (!change || (w->changes.n == MOST_CHANGES && !apply_changes(w))) w->no_memory = true;
}

bool rows_finish(RowWriter *w, PackedRows *rows)
{
    bool done = !w->no_memory && apply_changes(w) && pack_last(w);
    *rows = (PackedRows){0};
    if (done) *rows = w->packed, w->packed = (PackedRows){0};
    rows_drop(w);
    return done;
}

void rows_drop(RowWriter *w)
{
    packed_rows_free(&w->packed);
    prof_free(w->last.items);
    prof_free(w->changes.items);
    *w = (RowWriter){0};
}
