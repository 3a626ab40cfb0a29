// SPDX-License-Identifier: Apache-2.0
/* packed_rows.c: packed rows give back what was added and what was changed later. */
#include "../../loader/base/packed_rows.h"
#include "check.h"
#include "no_memory.h"

static PackedRow row_of(int64_t i)
{
    return (PackedRow){{i, i % 7 ? -i : INT64_MIN, i % 1000 ? 5 : INT64_MAX, i * i}};
}

static PackedRow changed(int64_t i) { return (PackedRow){{i + 1, INT64_MAX, 6, -i}}; }

static bool same(const PackedRow *a, const PackedRow *b) { return !memcmp(a, b, sizeof *a); }

/* Adds n rows; every `step`-th changes when `late` rows were added after it. */
static void write_rows(int64_t n, int64_t step, int64_t late, const char *what)
{
    RowWriter writer = {0};
    PackedRows rows;
    for (int64_t i = 0; i < n + late; i++) {
        PackedRow row = row_of(i), now = changed(i - late);
        if (i < n) rows_add(&writer, &row);
        if (i >= late && (i - late) % step == 0) rows_set(&writer, (size_t)(i - late), &now);
    }
    bool good = rows_added(&writer) == (size_t)n && rows_finish(&writer, &rows);
    good = good && rows.n == (size_t)n && !rows_added(&writer);
    for (int64_t i = 0; i < n && good; i++) {
        PackedRow found = packed_row(&rows, (size_t)i),
                  wanted = i % step == 0 ? changed(i) : row_of(i);
        good = same(&found, &wanted);
    }
    check(good, what);
    packed_rows_free(&rows);
}

int main(void)
{
    write_rows(0, 1, 0, "no rows");
    write_rows(1, 2, 0, "one row");
    write_rows(ROWS_PER_CHUNK, 3, 0, "a chunk");
    write_rows(ROWS_PER_CHUNK + 1, 1, 0, "a chunk and a row, all changed at once");
    write_rows(5000, 3, 2500, "rows changed after they were packed");
    write_rows(200000, 1, 150000, "more changes than are collected");

    RowWriter writer = {0};
    PackedRow row = row_of(1);
    for (int i = 0; i < 3000; i++) rows_add(&writer, &row);
    rows_drop(&writer);
    check(!rows_added(&writer), "an emptied writer");

    use_no_memory();
    PackedRows rows;
    rows_add(&writer, &row);
    check(!rows_finish(&writer, &rows) && !rows.n, "no memory");
    return finish();
}
