// SPDX-License-Identifier: Apache-2.0
/* Aggregates over numbers: percentile(), median() and stddev().
**
**   WITH t(x) AS (VALUES (1), (2), (4), (8)) SELECT percentile(x, 50), median(x), stddev(x) FROM t;
**   -- 3.0|3.0|3.09569593683445
**
** percentile() and median() behave as those of SQLite's own percentile extension, which newer
*shells have built in:
** also as window functions, and with the same error texts. NULLs are ignored everywhere. stddev()
*is no window
** function: taking a large value back out of a running variance leaves nothing but its rounding
*error. */
#include "../loader/base/base.h"
#include "../loader/base/sort.h"
#include "functions.h"
SQLITE_EXTENSION_INIT3

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALLOCATION_MAX 2147483391 /* SQLite's own limit for one allocation, in bytes */
#define P_TOLERANCE 0.001         /* SQLite treats fractions that differ by less as equal */

void *functions_grow(void *array, sqlite3_int64 *capacity, size_t item_size)
{
    sqlite3_int64 max = (sqlite3_int64)(ALLOCATION_MAX / item_size);
    sqlite3_int64 n = *capacity ? *capacity * 2 : 64;
    if (n > max) n = max;
    if (n <= *capacity) return NULL;
    void *grown = sqlite3_realloc64(array, (sqlite3_uint64)n * item_size);
    if (grown) *capacity = n;
    return grown;
}

typedef struct {
    double *values;
    sqlite3_int64 n, capacity;
    double p;
    int has_p;
    int is_sorted; /* in a window the values stay sorted after the first result */
} Percentile;

void function_error(sqlite3_context *ctx, const char *format, const char *name)
{
    char *text = sqlite3_mprintf(format, name);
    if (text)
        sqlite3_result_error(ctx, text, -1);
    else
        sqlite3_result_error_nomem(ctx);
    sqlite3_free(text);
}

static void swap(double *a, double *b)
{
    double c = *a;
    *a = *b;
    *b = c;
}

/* Partitions n values so that values[k] is the k-th smallest, with smaller values before it and
 * larger ones after it. After several bad pivots it sorts, so the worst case is that of qsort(). */
static void select_kth(double *values, sqlite3_int64 n, sqlite3_int64 k)
{
    sqlite3_int64 lo = 0, hi = n - 1;
    int budget = 8;
    for (sqlite3_int64 m = n; m; m >>= 1) budget += 2;
    while (lo < hi) {
        if (budget-- == 0) {
            qsort(values + lo, (size_t)(hi - lo + 1), sizeof *values, by_double);
            return;
        }
        sqlite3_int64 mid = lo + (hi - lo) / 2, i = lo, j = hi;
        if (values[mid] < values[lo]) swap(&values[mid], &values[lo]);
        if (values[hi] < values[mid]) swap(&values[hi], &values[mid]);
        if (values[mid] < values[lo]) swap(&values[mid], &values[lo]);
        double pivot = values[mid];
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) swap(&values[i++], &values[j--]);
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            return;
    }
}

/* Returns the first place in the sorted values where `value` can be inserted. */
static sqlite3_int64 place_of(const Percentile *q, double value)
{
    sqlite3_int64 lo = 0, hi = q->n;
    while (lo < hi) {
        sqlite3_int64 mid = lo + (hi - lo) / 2;
        if (q->values[mid] < value)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void percentile_add(sqlite3_context *ctx, const char *name, sqlite3_value *x, double p)
{
    Percentile *q = sqlite3_aggregate_context(ctx, sizeof *q);
    if (!q) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    if (!q->has_p) {
        q->p = p;
        q->has_p = 1;
    } else if (fabs(q->p - p) > P_TOLERANCE) {
        function_error(ctx, "the fraction argument to %s() is not the same for all input rows",
                       name);
        return;
    }
    int type = sqlite3_value_type(x);
    if (type == SQLITE_NULL) return;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        function_error(ctx, "input to %s() is not numeric", name);
        return;
    }
    double value = sqlite3_value_double(x);
    if (isinf(value)) {
        function_error(ctx, "Inf input to %s()", name);
        return;
    }
    if (q->n == q->capacity) {
        double *values = functions_grow(q->values, &q->capacity, sizeof *values);
        if (!values) {
            sqlite3_result_error_nomem(ctx);
            return;
        }
        q->values = values;
    }
    if (q->is_sorted) {
        sqlite3_int64 at = place_of(q, value);
        memmove(q->values + at + 1, q->values + at, (size_t)(q->n - at) * sizeof value);
        q->values[at] = value;
    } else {
        q->values[q->n] = value;
    }
    q->n++;
}

static void percentile_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    int type = sqlite3_value_numeric_type(argv[1]);
    double p = sqlite3_value_double(argv[1]);
    (void)argc;
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || p < 0 || p > 100)
        function_error(ctx, "the fraction argument to %s() is not between 0.0 and 100.0",
                       "percentile");
    else
        percentile_add(ctx, "percentile", argv[0], p);
}

static void median_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    percentile_add(ctx, "median", argv[0], 50);
}

static void percentile_result(sqlite3_context *ctx, Percentile *q)
{
    if (!q->n) return;
    /* in this order of operations, integers stay exact */
    double at = q->p * (double)(q->n - 1) / 100;
    sqlite3_int64 i = (sqlite3_int64)at;
    if (i > q->n - 1) i = q->n - 1;
    if (!q->is_sorted) select_kth(q->values, q->n, i);
    double low = q->values[i], part = at - (double)i;
    if (part <= 0 || i == q->n - 1) {
        sqlite3_result_double(ctx, low);
        return;
    }
    double high = q->values[i + 1];
    for (sqlite3_int64 j = i + 2; !q->is_sorted && j < q->n; j++)
        if (q->values[j] < high) high = q->values[j];
    double range = high - low;
    sqlite3_result_double(ctx, isinf(range) ? low * (1 - part) + high * part : low + range * part);
}

static void percentile_value(sqlite3_context *ctx)
{
    Percentile *q = sqlite3_aggregate_context(ctx, 0);
    if (!q) return;
    if (!q->is_sorted && q->n) qsort(q->values, (size_t)q->n, sizeof *q->values, by_double);
    q->is_sorted = 1;
    percentile_result(ctx, q);
}

static void percentile_inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Percentile *q = sqlite3_aggregate_context(ctx, 0);
    (void)argc;
    if (!q || sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
    if (!q->is_sorted && q->n) qsort(q->values, (size_t)q->n, sizeof *q->values, by_double);
    q->is_sorted = 1;
    sqlite3_int64 at = place_of(q, sqlite3_value_double(argv[0]));
    if (at == q->n) /* step rejected the row, so the statement has already failed */
        return;
    q->n--;
    memmove(q->values + at, q->values + at + 1, (size_t)(q->n - at) * sizeof *q->values);
}

static void percentile_final(sqlite3_context *ctx)
{
    Percentile *q = sqlite3_aggregate_context(ctx, 0);
    if (!q) return;
    percentile_result(ctx, q);
    sqlite3_free(q->values);
    memset(q, 0, sizeof *q);
}

/* Welford's running mean and sum of squares, of the differences from the first value. Differences
 * of integers are exact, so large timestamps that are close together keep their spread. */
typedef struct {
    sqlite3_int64 n;
    int64_t base;
    double real_base, mean, squares;
} Deviation;

static void stddev_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    int type = sqlite3_value_numeric_type(argv[0]);
    (void)argc;
    if (type == SQLITE_NULL) return;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        function_error(ctx, "input to %s() is not numeric", "stddev");
        return;
    }
    Deviation *d = sqlite3_aggregate_context(ctx, sizeof *d);
    if (!d) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    double x;
    if (type == SQLITE_INTEGER) {
        int64_t value = sqlite3_value_int64(argv[0]);
        if (!d->n) d->base = value;
        x = value >= d->base ? (double)((uint64_t)value - (uint64_t)d->base)
                             : -(double)((uint64_t)d->base - (uint64_t)value);
        x -= d->real_base;
    } else {
        double value = sqlite3_value_double(argv[0]);
        if (!d->n) d->real_base = value;
        x = value - (double)d->base - d->real_base;
    }
    d->n++;
    double delta = x - d->mean;
    d->mean += delta / (double)d->n;
    d->squares += delta * (x - d->mean);
}

static void stddev_final(sqlite3_context *ctx)
{
    Deviation *d = sqlite3_aggregate_context(ctx, 0);
    if (d && d->n >= 2) sqlite3_result_double(ctx, sqrt(d->squares / (double)(d->n - 1)));
}

const FunctionDef statistics_functions[] = {
    {.name = "percentile",
     .n_args = 2,
     .kind = FUNCTION_WINDOW,
     .flags = FUNCTION_PURE,
     .xStep = percentile_step,
     .xFinal = percentile_final,
     .xValue = percentile_value,
     .xInverse = percentile_inverse,
     .signature = "percentile(x, p)",
     .unit = "unit of x",
     .description =
         "Aggregate and window function: percentile p (0 to 100) of the numbers x, interpolated "
         "linearly. The result is REAL. Ignores NULLs; NULL if there is no number.",
     .origin = "as SQLite's percentile extension",
     .since = "0.1.0",
     .example = "SELECT percentile(duration_ms, 95) FROM steps"},
    {.name = "median",
     .n_args = 1,
     .kind = FUNCTION_WINDOW,
     .flags = FUNCTION_PURE,
     .xStep = median_step,
     .xFinal = percentile_final,
     .xValue = percentile_value,
     .xInverse = percentile_inverse,
     .signature = "median(x)",
     .unit = "unit of x",
     .description = "Aggregate and window function: percentile(x, 50).",
     .origin = "as SQLite's percentile extension",
     .since = "0.1.0",
     .example = "SELECT median(duration_ms) FROM steps"},
    {.name = "stddev",
     .n_args = 1,
     .kind = FUNCTION_AGGREGATE,
     .flags = FUNCTION_PURE,
     .xStep = stddev_step,
     .xFinal = stddev_final,
     .signature = "stddev(x)",
     .unit = "unit of x",
     .description =
         "Aggregate, not a window function: sample standard deviation of the numbers x (divisor n "
         "- 1). The result is REAL. Ignores NULLs; NULL for fewer than two numbers.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT stddev(duration_ms) FROM steps"},
};
const int n_statistics_functions = sizeof statistics_functions / sizeof statistics_functions[0];
