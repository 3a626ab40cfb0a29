// SPDX-License-Identifier: Apache-2.0
/* diff.c: compares two runs; see diff.h.
 *
 * A difference of step times is more than noise if Welch's t-test at 95 % says so: if steps with
 * this variation would differ as much in fewer than 5 of 100 pairs of runs. */
#define _GNU_SOURCE
#include "diff.h"

#include "screen.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = 8 };

typedef struct {
    double average, deviation;
    int n;
} Sample;

/* Returns the two-sided 95 % quantile of Student's t, within 0.5 % for 2 degrees of freedom or more
 * (3 % below). Its logarithm is nearly linear in 1 / degrees. */
static double t_quantile(double degrees)
{
    static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                       2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                       2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                       2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    enum { N = COUNT(quantiles) };
    if (!(degrees > 1)) return quantiles[0];
    if (degrees >= N) return 1.96 + (quantiles[N - 1] - 1.96) * N / degrees;
    int below = (int)degrees;
    double part = (1.0 / below - 1 / degrees) / (1.0 / below - 1.0 / (below + 1));
    return quantiles[below - 1] * pow(quantiles[below] / quantiles[below - 1], part);
}

static const char *verdict(Sample a, Sample b)
{
    if (a.n < 2 || b.n < 2) return "too few steps";
    double va = a.deviation * a.deviation / a.n, vb = b.deviation * b.deviation / b.n;
    double error = sqrt(va + vb), difference = fabs(b.average - a.average);
    if (difference == 0) return "equal";
    if (error == 0) return "more than noise";
    double degrees = (va + vb) * (va + vb) / (va * va / (a.n - 1) + vb * vb / (b.n - 1));
    return difference > t_quantile(degrees) * error ? "more than noise" : "within noise";
}

static const char *number(sqlite3_stmt *stmt, int column)
{
    char text[40];
    double value = sqlite3_column_double(stmt, column);
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL) return "-";
    text_of_real_short(value, text);
    if (fabs(value) < 1e6) snprintf(text, sizeof text, "%.3f", value);
    return keep_text("%s", text);
}

static void which_runs(const Database *d, Screen *s)
{
    static const char *const marks[] = {"A ", "B "};
    for (int i = 0; i < 2; i++)
        screen_paragraph(s, BOLD, marks[i],
                         keep_text("%s (%s)", database_run_text(&d->runs[i]), d->runs[i].path));
    if (!strcmp(d->runs[0].path, d->runs[1].path))
        screen_paragraph(s, YELLOW, NULL, "both are the same run");
}

/* Returns a text such as "GPU with 2 devices". */
static const char *hardware_text(sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL) return "unknown";
    if (sqlite3_column_type(stmt, column + 1) == SQLITE_NULL) return column_text(stmt, column);
    long long n = sqlite3_column_int64(stmt, column + 1);
    return keep_text("%s with %lld device%s", column_text(stmt, column), n, n == 1 ? "" : "s");
}

/* Writes the kinds of hardware if they differ. */
static void hardware(Database *d, Screen *s)
{
    sqlite3_stmt *stmt = ask(
        d,
        "SELECT a.hardware, a.device_count, b.hardware, b.device_count FROM kpi(?1) AS a, kpi(?2) "
        "AS b WHERE a.hardware IS NOT b.hardware OR a.device_count IS NOT b.device_count",
        d->runs[0].label, d->runs[1].label, NULL);
    if (next_row(d, stmt))
        screen_paragraph(s, YELLOW, NULL,
                         keep_text("The hardware differs: A is %s, B is %s.",
                                   hardware_text(stmt, 0), hardware_text(stmt, 2)));
    sqlite3_finalize(stmt);
}

static void how_well(Database *d, Screen *s)
{
    screen_heading(s, "How well they did");
    screen_line(s, "  %-18s %12s %12s %12s", "", "A", "B", "B - A");
    for (int i = 1; i < n_facts; i++) { /* the step time is shown with the steps */
        const char *sql =
            keep_text("SELECT a.%s, b.%s, b.%s - a.%s FROM kpi(?1) AS a, kpi(?2) AS b",
                      facts[i].column, facts[i].column, facts[i].column, facts[i].column);
        sqlite3_stmt *stmt = ask(d, sql, d->runs[0].label, d->runs[1].label, NULL);
        if (next_row(d, stmt) && (sqlite3_column_type(stmt, 0) != SQLITE_NULL ||
                                  sqlite3_column_type(stmt, 1) != SQLITE_NULL))
            screen_line(s, "  %-18s %12s %12s %12s %s", facts[i].label, number(stmt, 0),
                        number(stmt, 1), number(stmt, 2), facts[i].unit);
        sqlite3_finalize(stmt);
    }
}

static void steps(Database *d, Screen *s)
{
    screen_heading(s, "A step, in milliseconds");
    sqlite3_stmt *stmt = ask(
        d,
        "SELECT category, a_ms, b_ms, difference_ms, a_deviation_ms, b_deviation_ms, a_steps, "
        "b_steps FROM compare_steps(?1, ?2) WHERE coalesce(a_ms, 0) > 0 OR coalesce(b_ms, 0) > 0",
        d->runs[0].label, d->runs[1].label, NULL);
    int n = 0;
    for (; next_row(d, stmt); n++) {
        Sample a = {sqlite3_column_double(stmt, 1), sqlite3_column_double(stmt, 4),
                    sqlite3_column_int(stmt, 6)};
        Sample b = {sqlite3_column_double(stmt, 2), sqlite3_column_double(stmt, 5),
                    sqlite3_column_int(stmt, 7)};
        if (!n)
            screen_line(s, "  %-18s %12s %12s %12s", "", keep_text("A (%d steps)", a.n),
                        keep_text("B (%d steps)", b.n), "B - A");
        bool known = sqlite3_column_type(stmt, 3) != SQLITE_NULL;
        screen_line(s, "  %-18.18s %12s %12s %12s  %s", column_text(stmt, 0), number(stmt, 1),
                    number(stmt, 2), number(stmt, 3), known ? verdict(a, b) : "");
    }
    sqlite3_finalize(stmt);
    if (!n) screen_paragraph(s, PLAIN, NULL, "unknown: a run has no complete step");
}

static void operations(Database *d, Screen *s)
{
    sqlite3_stmt *steps =
        ask(d, "SELECT EXISTS (SELECT 1 FROM steps(?1)) AND EXISTS (SELECT 1 FROM steps(?2))",
            d->runs[0].label, d->runs[1].label, NULL);
    bool by_step = next_row(d, steps) && sqlite3_column_int(steps, 0);
    sqlite3_finalize(steps);
    screen_heading(
        s,
        by_step
            ? "Operations that changed most, in microseconds for each device and step"
            : "Operations that changed most, in microseconds for each device (a run has no steps)");
    sqlite3_stmt *stmt =
        ask(d,
            "SELECT per_device_step_us_a, per_device_step_us_b, delta_per_device_step_us, change, "
            "short_name FROM compare_ops(?1, ?2) WHERE delta_per_device_step_us <> 0 LIMIT ?3",
            d->runs[0].label, d->runs[1].label, NULL);
    if (stmt) sqlite3_bind_int(stmt, 3, OPS);
    int n = 0;
    for (; next_row(d, stmt); n++) {
        const char *name = column_text(stmt, 4), *change = column_text(stmt, 3);
        if (!n) screen_line(s, "  %12s %12s %12s", "A", "B", "B - A");
        char *clean = text_clean(name, strlen(name), false),
             *shorter = text_shorten(clean, s->width > 70 ? s->width - 53 : 20);
        screen_line(s, "  %12s %12s %12s  %-8s %s", number(stmt, 0), number(stmt, 1),
                    number(stmt, 2), strcmp(change, "both") ? change : "", shorter);
        free(shorter);
        free(clean);
    }
    sqlite3_finalize(stmt);
    if (!n) screen_paragraph(s, PLAIN, NULL, "none");
}

int diff(Database *d)
{
    Screen s;
    if (!screen_open(&s)) return STATUS_FAILED;
    which_runs(d, &s);
    hardware(d, &s);
    steps(d, &s);
    how_well(d, &s);
    operations(d, &s);
    return sink_close(&s.sink, true) && !d->failed ? STATUS_OK : STATUS_FAILED;
}
