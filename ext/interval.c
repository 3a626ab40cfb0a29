// SPDX-License-Identifier: Apache-2.0
/* interval.c: functions of intervals (start, duration): interval_overlap(), interval_union() and
 * the window function self_time().
 *
 *   SELECT interval_overlap(0, 10, 4, 20);                                              -- 6
 *   WITH t(a, d) AS (VALUES (0, 10), (5, 10), (40, 2)) SELECT interval_union(a, d) FROM t; -- 17
 *   WITH t(a, d) AS (VALUES (0, 10), (1, 5), (2, 3)) SELECT self_time(a, d) OVER (
 *     ORDER BY a, d DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM t;      -- 5, 2, 3
 *
 * Integers are exact. The end of an interval is never computed, because it may exceed an int64: the
 * unsigned gap between two starts is compared with a duration. If one argument is REAL, the entire
 * computation is. A negative duration counts as empty. */
#include "../loader/base/base.h"
#include "functions.h"
SQLITE_EXTENSION_INIT3

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_ARGS_MAX 4
#define NO_ROW UINT32_MAX

typedef union {
    int64_t i;
    double r;
} Number;

enum { ARGS_NULL, ARGS_INTEGER, ARGS_REAL, ARGS_ERROR };

/* Reads all arguments as the same kind of number. ARGS_NULL if one is NULL; ARGS_ERROR if an error
 * was set. */
static int read_numbers(sqlite3_context *ctx, const char *name, int argc, sqlite3_value **argv,
                        Number *out)
{
    int type[N_ARGS_MAX], kind = ARGS_INTEGER;
    for (int i = 0; i < argc; i++)
        if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return ARGS_NULL;
    for (int i = 0; i < argc; i++) {
        type[i] = sqlite3_value_numeric_type(argv[i]);
        if (type[i] == SQLITE_FLOAT) {
            kind = ARGS_REAL;
        } else if (type[i] != SQLITE_INTEGER) {
            function_error(ctx, "input to %s() is not numeric", name);
            return ARGS_ERROR;
        }
    }
    for (int i = 0; i < argc; i++) {
        if (kind == ARGS_REAL)
            out[i].r = sqlite3_value_double(argv[i]);
        else
            out[i].i = sqlite3_value_int64(argv[i]);
    }
    return kind;
}

/* Returns the difference between a start and a later one, which always fits in uint64. */
static uint64_t gap_of(int64_t from, int64_t to) { return (uint64_t)to - (uint64_t)from; }

static void overlap_func(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Number n[N_ARGS_MAX];
    int kind = read_numbers(ctx, "interval_overlap", argc, argv, n);
    if (kind == ARGS_INTEGER) {
        int swap = n[0].i > n[2].i;
        int64_t first = n[swap ? 2 : 0].i, first_dur = n[swap ? 3 : 1].i;
        int64_t second = n[swap ? 0 : 2].i, second_dur = n[swap ? 1 : 3].i, length = 0;
        uint64_t gap = gap_of(first, second);
        if (first_dur > 0 && second_dur > 0 && gap < (uint64_t)first_dur) {
            length = first_dur - (int64_t)gap;
            if (length > second_dur) length = second_dur;
        }
        sqlite3_result_int64(ctx, length);
    } else if (kind == ARGS_REAL) {
        int swap = n[0].r > n[2].r;
        double first = n[swap ? 2 : 0].r, first_dur = n[swap ? 3 : 1].r;
        double second = n[swap ? 0 : 2].r, second_dur = n[swap ? 1 : 3].r;
        double length = first_dur - (second - first);
        if (isnan(length)) /* infinity minus infinity is unknown: NULL */
            return;
        if (length > second_dur) length = second_dur;
        sqlite3_result_double(ctx, length > 0 && first_dur > 0 ? length : 0);
    }
}

/* The union of the intervals until now. An interval that touches the last one is merged into it at
 * once. When the array is full, the others are sorted and merged; the array only grows if more than
 * half of it remains. */
typedef struct {
    Number start, length;
} Interval;

typedef struct {
    Interval *items;
    sqlite3_int64 n, capacity;
    int any_row; /* an empty interval counts as a row: the result is then 0 */
    int is_real;
    int is_unsorted; /* otherwise the items are sorted and disjoint */
} Union;

enum { MERGE_APART, MERGE_DONE, MERGE_OVERFLOW };

/* Extends an interval by one that does not start before it. */
static int merge_into(Interval *into, const Interval *next, int is_real)
{
    if (is_real) {
        double gap = next->start.r - into->start.r;
        if (gap > into->length.r) return MERGE_APART;
        if (gap + next->length.r > into->length.r) into->length.r = gap + next->length.r;
        return MERGE_DONE;
    }
    uint64_t gap = gap_of(into->start.i, next->start.i);
    if (gap > (uint64_t)into->length.i) return MERGE_APART;
    uint64_t length = gap + (uint64_t)next->length.i; /* both fit in 63 bits */
    if (length > INT64_MAX) return MERGE_OVERFLOW;
    if (length > (uint64_t)into->length.i) into->length.i = (int64_t)length;
    return MERGE_DONE;
}

static int compare_integer(const void *a, const void *b)
{
    int64_t x = ((const Interval *)a)->start.i, y = ((const Interval *)b)->start.i;
    return ORDER(x, y);
}

static int compare_real(const void *a, const void *b)
{
    double x = ((const Interval *)a)->start.r, y = ((const Interval *)b)->start.r;
    return ORDER(x, y);
}

/* Sorts and merges the items. False on overflow. */
static int union_compact(Union *u)
{
    sqlite3_int64 n = 0;
    if (!u->is_unsorted) return 1;
    qsort(u->items, (size_t)u->n, sizeof *u->items, u->is_real ? compare_real : compare_integer);
    for (sqlite3_int64 i = 0; i < u->n; i++) {
        int merged = n ? merge_into(&u->items[n - 1], &u->items[i], u->is_real) : MERGE_APART;
        if (merged == MERGE_OVERFLOW) return 0;
        if (merged == MERGE_APART) u->items[n++] = u->items[i];
    }
    u->n = n;
    u->is_unsorted = 0;
    return 1;
}

static void overflow_error(sqlite3_context *ctx)
{
    sqlite3_result_error(ctx, "integer overflow", -1); /* same text as SQLite's sum() */
}

static void union_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Number n[N_ARGS_MAX];
    int kind = read_numbers(ctx, "interval_union", argc, argv, n);
    if (kind == ARGS_NULL || kind == ARGS_ERROR) return;
    Union *u = sqlite3_aggregate_context(ctx, sizeof *u);
    if (!u) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    u->any_row = 1;
    if (kind == ARGS_REAL && isinf(n[0].r)) {
        sqlite3_result_error(ctx, "Inf input to interval_union()", -1);
        return;
    }
    if (kind == ARGS_REAL && !u->is_real) {
        for (sqlite3_int64 i = 0; i < u->n; i++) {
            u->items[i].start.r = (double)u->items[i].start.i;
            u->items[i].length.r = (double)u->items[i].length.i;
        }
        u->is_real = 1;
    } else if (kind == ARGS_INTEGER && u->is_real) {
        n[0].r = (double)n[0].i;
        n[1].r = (double)n[1].i;
    }
    if (u->is_real ? n[1].r <= 0 : n[1].i <= 0) return;
    Interval next = {n[0], n[1]};
    if (u->n) {
        Interval *last = &u->items[u->n - 1];
        if (u->is_real ? next.start.r < last->start.r : next.start.i < last->start.i) {
            u->is_unsorted = 1;
        } else {
            int merged = merge_into(last, &next, u->is_real);
            if (merged == MERGE_OVERFLOW) overflow_error(ctx);
            if (merged != MERGE_APART) return;
        }
    }
    if (u->n == u->capacity) {
        int was_unsorted = u->is_unsorted;
        if (!union_compact(u)) {
            overflow_error(ctx);
            return;
        }
        if (u->n > u->capacity / 2 || !u->capacity) {
            Interval *items = functions_grow(u->items, &u->capacity, sizeof *items);
            if (!items) {
                sqlite3_result_error_nomem(ctx);
                return;
            }
            u->items = items;
        }
        u->is_unsorted = was_unsorted;
    }
    u->items[u->n++] = next;
}

static void union_final(sqlite3_context *ctx)
{
    Union *u = sqlite3_aggregate_context(ctx, 0);
    if (!u) return;
    int64_t total = 0;
    double real_total = 0;
    int ok = union_compact(u);
    for (sqlite3_int64 i = 0; ok && i < u->n; i++) {
        if (u->is_real)
            real_total += u->items[i].length.r;
        else if (u->items[i].length.i > INT64_MAX - total)
            ok = 0;
        else
            total += u->items[i].length.i;
    }
    if (!ok)
        overflow_error(ctx);
    else if (u->is_real)
        sqlite3_result_double(ctx, real_total);
    else if (u->any_row)
        sqlite3_result_int64(ctx, total);
    sqlite3_free(u->items);
    memset(u, 0, sizeof *u);
}

/* self_time(): the rows of the frame by start, longest first. Open rows form a stack, linked
 * through `parent`. A new row closes the rows that do not contain it; its duration is subtracted
 * from the row that is then on top, and it is pushed. So a row's value is final when the last row
 * of the frame was stepped, even if rows before it have left the frame. Step, value and inverse
 * have amortized cost O(1). Containment is closed: a row contains its duplicates. */
typedef struct {
    Number start, length, self;
    uint32_t parent;
    uint8_t is_null, is_overflow;
} TimeRow;

typedef struct {
    TimeRow *rows;
    sqlite3_int64 n, capacity;
    sqlite3_int64 head; /* first row of the frame; earlier rows have left it */
    uint32_t top;       /* NO_ROW or an index; also the last row that is not NULL */
    int is_open;        /* `top` is valid */
    int is_real;
    int is_head_valued;
    int any_value;
} SelfTime;

static const char self_time_usage[] =
    "use self_time(start, duration) OVER (PARTITION BY track ORDER BY start, duration DESC ROWS "
    "BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), without FILTER";

static int contains(const TimeRow *outer, const TimeRow *inner, int is_real)
{
    if (is_real)
        return inner->start.r >= outer->start.r &&
               inner->start.r + inner->length.r <= outer->start.r + outer->length.r;
    if (inner->start.i < outer->start.i) return 0;
    uint64_t gap = gap_of(outer->start.i, inner->start.i), length = (uint64_t)outer->length.i;
    return gap <= length && (uint64_t)inner->length.i <= length - gap;
}

/* Duration order is not checked for REAL: two starts that differ as integers may be one double. */
static int is_in_order(const TimeRow *last, const TimeRow *next, int is_real)
{
    if (is_real) return last->start.r <= next->start.r;
    return last->start.i < next->start.i ||
           (last->start.i == next->start.i && last->length.i >= next->length.i);
}

static void self_time_to_real(SelfTime *s)
{
    for (sqlite3_int64 i = 0; i < s->n; i++) {
        TimeRow *row = &s->rows[i];
        row->start.r = (double)row->start.i;
        row->length.r = (double)row->length.i;
        row->self.r = (double)row->self.i;
    }
    s->is_real = 1;
}

static void self_time_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Number n[N_ARGS_MAX];
    TimeRow row = {.parent = NO_ROW};
    int kind = read_numbers(ctx, "self_time", argc, argv, n);
    if (kind == ARGS_ERROR) return;
    SelfTime *s = sqlite3_aggregate_context(ctx, sizeof *s);
    if (!s) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    if (s->n == s->capacity) {
        TimeRow *rows = functions_grow(s->rows, &s->capacity, sizeof *rows);
        if (!rows) {
            sqlite3_result_error_nomem(ctx);
            return;
        }
        s->rows = rows;
    }
    if (kind == ARGS_NULL) { /* stays in the frame, but is not a child */
        row.is_null = 1;
        s->rows[s->n++] = row;
        return;
    }
    if (kind == ARGS_REAL && !s->is_real) self_time_to_real(s);
    if (kind == ARGS_INTEGER && s->is_real) {
        row.start.r = (double)n[0].i;
        row.length.r = n[1].i > 0 ? (double)n[1].i : 0;
    } else if (s->is_real) {
        row.start.r = n[0].r;
        row.length.r = n[1].r > 0 ? n[1].r : 0;
    } else {
        row.start.i = n[0].i;
        row.length.i = n[1].i > 0 ? n[1].i : 0;
    }
    row.self = row.length;
    if (s->is_open && !is_in_order(&s->rows[s->top], &row, s->is_real)) {
        char *text = sqlite3_mprintf("self_time() received rows out of order: %s", self_time_usage);
        if (text)
            sqlite3_result_error(ctx, text, -1);
        else
            sqlite3_result_error_nomem(ctx);
        sqlite3_free(text);
        return;
    }
    uint32_t top = s->is_open ? s->top : NO_ROW;
    while (top != NO_ROW && !contains(&s->rows[top], &row, s->is_real)) top = s->rows[top].parent;
    if (top != NO_ROW) {
        TimeRow *parent = &s->rows[top];
        if (s->is_real)
            parent->self.r -= row.length.r;
        else if (parent->self.i < INT64_MIN + row.length.i)
            parent->is_overflow = 1; /* children that overlap each other may sum to anything */
        else
            parent->self.i -= row.length.i;
    }
    row.parent = top;
    s->is_open = 1;
    s->top = (uint32_t)s->n; /* fits, because an allocation is below 2 GiB */
    s->rows[s->n++] = row;
}

static void self_time_frame_error(sqlite3_context *ctx)
{
    char *text = sqlite3_mprintf("self_time() needs a frame that starts at the current row: %s",
                                 self_time_usage);
    if (text)
        sqlite3_result_error(ctx, text, -1);
    else
        sqlite3_result_error_nomem(ctx);
    sqlite3_free(text);
}

static void self_time_result(sqlite3_context *ctx, const SelfTime *s)
{
    if (s->head >= s->n || s->rows[s->head].is_null) return;
    const TimeRow *row = &s->rows[s->head];
    if (s->is_real)
        sqlite3_result_double(ctx, row->self.r);
    else if (row->is_overflow)
        overflow_error(ctx);
    else
        sqlite3_result_int64(ctx, row->self.i);
}

/* A frame that starts at the current row asks for each row once, then drops it. With any other
 * frame a row would show the value of another row, so that is an error. One case is detected only
 * at the next call: SQLite shows one value for many rows, with OVER () or for duplicates under
 * RANGE. */
static void self_time_value(sqlite3_context *ctx)
{
    SelfTime *s = sqlite3_aggregate_context(ctx, 0);
    if (!s) return;
    if (s->is_head_valued || s->head >= s->n) {
        self_time_frame_error(ctx);
        return;
    }
    s->is_head_valued = s->any_value = 1;
    self_time_result(ctx, s);
}

static void self_time_inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    SelfTime *s = sqlite3_aggregate_context(ctx, 0);
    (void)argc, (void)argv;
    if (!s) return;
    if (!s->is_head_valued) self_time_frame_error(ctx);
    s->is_head_valued = 0;
    s->head++;
}

/* After the values of a window this only frees memory. Rows without any value mean a plain
 * aggregate. */
static void self_time_final(sqlite3_context *ctx)
{
    SelfTime *s = sqlite3_aggregate_context(ctx, 0);
    if (!s) return;
    if (!s->any_value && s->n)
        self_time_frame_error(ctx);
    else
        self_time_result(ctx, s);
    sqlite3_free(s->rows);
    memset(s, 0, sizeof *s);
}

const FunctionDef interval_functions[] = {
    {.name = "interval_overlap",
     .n_args = 4,
     .kind = FUNCTION_SCALAR,
     .flags = FUNCTION_PURE,
     .xFunc = overlap_func,
     .signature = "interval_overlap(a, a_dur, b, b_dur)",
     .unit = "unit of the arguments",
     .description = "Length of the overlap of two intervals. NULL if an argument is NULL, REAL if "
                    "an argument is REAL. An interval with a negative duration is empty.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT interval_overlap(0, 10, 5, 10)"},
    {.name = "interval_union",
     .n_args = 2,
     .kind = FUNCTION_AGGREGATE,
     .flags = FUNCTION_PURE,
     .xStep = union_step,
     .xFinal = union_final,
     .signature = "interval_union(start, dur)",
     .unit = "unit of the arguments",
     .description = "Aggregate, not a window function: total length covered by at least one of the "
                    "intervals. Ignores rows with a NULL argument; NULL if there is no other row. "
                    "Fastest if rows arrive ordered by start.",
     .origin = "computed",
     .since = "0.1.0",
     .example =
         "SELECT plane, interval_union(start_ps, duration_ps) FROM trace_events GROUP BY plane"},
    {.name = "self_time",
     .n_args = 2,
     .kind = FUNCTION_WINDOW,
     .flags = FUNCTION_PURE,
     .xStep = self_time_step,
     .xFinal = self_time_final,
     .xValue = self_time_value,
     .xInverse = self_time_inverse,
     .signature = "self_time(start_ps, duration_ps) OVER (PARTITION BY track ORDER BY start_ps, "
                  "duration_ps DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
     .unit = "unit of the arguments",
     .description =
         "Window function: duration of the row minus the durations of its direct children. Rows "
         "must be ordered as in the signature: each row closes the earlier rows that do not "
         "contain it, and is a child of the last row that remains open. Another frame or order, "
         "FILTER, and use without OVER are errors if the function can detect them. It cannot "
         "detect a frame that is the same for all rows, such as that of OVER ().",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT name, self_time(start_ps, duration_ps) OVER (PARTITION BY line_id ORDER BY "
                "start_ps, duration_ps DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM "
                "trace_events"},
};
const int n_interval_functions = sizeof interval_functions / sizeof interval_functions[0];
