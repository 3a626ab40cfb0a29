// SPDX-License-Identifier: Apache-2.0
/* chart.h: draws the rows of a query as SVG charts.
 *
 * A chart needs no script and no other file. Marks have classes; their colours come from
 * `chart_style`, which follows the reader's choice of light or dark. Text has at least the contrast
 * of WCAG AA. A category has the same colour in every chart. Each mark has a <title>, which
 * browsers show and screen readers read.
 *
 * Texts are escaped: names in a profile cannot become markup. */
#ifndef PROF_CHART_H
#define PROF_CHART_H

#include "../base/text_buffer.h"

typedef struct {
    const char *text; /* valid UTF-8; NULL: the value is NULL */
    size_t n_bytes;
    double number; /* NAN unless the value is a number */
} ChartCell;

/* The rows of a query. Borrowed by the functions that draw. */
typedef struct {
    const char *const *columns;
    size_t n_columns, n_rows;
    const ChartCell *cells; /* row by row */
} ChartData;
static inline const ChartCell *chart_cell(const ChartData *data, size_t row, size_t column)
{
    return &data->cells[row * data->n_columns + column];
}

typedef struct {
    const char *title; /* describes the chart to readers who do not see it */
    double most; /* end of the value axis, so that two charts are comparable; 0: from the data */
    bool standalone; /* the SVG contains its style and name space */
} ChartOptions;

/* Rows: label, value of the entire bar, mark (1: an outlier, which gets a label; 2: left out of
 * statistics, drawn pale and up to 1.5 times the longest of the others; else 0), then a column for
 * each part of the bar, named after its category. Values are times in milliseconds. */
bool chart_steps(const ChartData *data, const ChartOptions *options, TextBuffer *out);
/* Rows: kind, name, category, x, y, weight. kind `roof`: y is the highest rate of the device in
 * FLOP/s, x its bandwidth in bytes/s. kind `op`: x is FLOP/byte, y FLOP/s, weight its time in
 * microseconds. */
bool chart_roofline(const ChartData *data, const ChartOptions *options, TextBuffer *out);
/* Rows: series, x in milliseconds or, if the column's name contains %, in percent, bytes; sorted by
 * series, then by x. Each series is drawn as steps over an area; its last value continues to the
 * end. */
bool chart_memory(const ChartData *data, const ChartOptions *options, TextBuffer *out);
/* Rows: group, name, time in microseconds. Area is time. */
bool chart_treemap(const ChartData *data, const ChartOptions *options, TextBuffer *out);
/* Rows in preorder: depth from 1, name, time in microseconds, category. Width is time; siblings are
 * drawn by time. */
bool chart_icicle(const ChartData *data, const ChartOptions *options, TextBuffer *out);
/* All of them return false if there is nothing to draw; `out` is then unchanged. If memory runs
 * out, out->no_memory is set. */

/* Returns the end of the value axis that a chart of these data gets by default, for
 * ChartOptions.most. */
double chart_steps_most(const ChartData *data);
double chart_memory_most(const ChartData *data);

/* A unit: `size` of the unit that was asked about are 1 of this. */
typedef struct {
    const char *name;
    double size;
} ChartUnit;
/* Returns the unit in which people read a number: the largest of the same kind in which it is at
 * least 1. 280285 ms are read in s. Returns `unit` for 0 and for a kind that has one unit. */
ChartUnit chart_unit(const char *unit, double number);

/* The style sheet of all charts, for pages that contain them. */
extern const char chart_style[];
/* Returns the class of a category's colour: c0 to c10. Similar categories have the same. */
const char *chart_colour(const char *category, size_t n_bytes);
/* The same for the i-th of things that are not categories. */
const char *chart_colour_of_number(size_t i);

#endif
