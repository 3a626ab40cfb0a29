// SPDX-License-Identifier: Apache-2.0
/* charts.h: charts of the rows of queries. SQL functions and the command's reports use them. */
#ifndef PROF_CHARTS_H
#define PROF_CHARTS_H

#include "../loader/chart/chart.h"

#include <sqlite3.h>

/* A chart, and the SQL of its rows, in which ?1 is a source. */
typedef struct {
    const char *name; /* of the SQL function; for a chart that only reports use, its kind */
    const char *title;
    bool (*draw)(const ChartData *data, const ChartOptions *options, TextBuffer *out);
    /* NULL: the chart has no axis that two charts could share */
    double (*most)(const ChartData *data);
    const char *sql;
} Chart;

extern const Chart step_chart, roofline_chart, memory_chart, op_treemap;
/* Only in reports. */
extern const Chart heap_chart, scope_icicle, op_icicle;

/* A copy of a statement's rows. */
typedef struct {
    ChartData data;
    Arena arena;
} ChartRows;
/* Runs a prepared statement to its end. Returns an SQLite code. Freed with chart_rows_free() in any
 * case. */
int chart_rows_read(sqlite3_stmt *stmt, ChartRows *rows);
void chart_rows_free(ChartRows *rows);

#endif
