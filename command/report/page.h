// SPDX-License-Identifier: Apache-2.0
/* page.h: what the files that write a page share. */
#ifndef COMMAND_REPORT_PAGE_H
#define COMMAND_REPORT_PAGE_H

#include "../../ext/charts.h"
#include "../database.h"

#include <stdio.h>

/* How the rows of a figure are shown. */
enum Shape {
    SHAPE_CARDS,  /* one row: a card for each column that is not NULL */
    SHAPE_ADVICE, /* percent, finding, evidence, action */
    SHAPE_CHART,  /* a chart, and its rows as a table that opens */
    SHAPE_TABLE,
};

/* A figure. Names of columns are what the page shows; a column whose name ends in % has a bar. In
 * `sql`, ?1 is the run and ?2 the number of rows. */
typedef struct {
    enum Shape shape;
    const char *title;
    const char *table;  /* whose reason is given if there are no rows */
    const Chart *chart; /* SHAPE_CHART: has the SQL */
    int keys;           /* first columns, which name a row: its baseline has the same */
    int rows;           /* at most */
    const char *sql;
} Figure;

enum { MAX_FIGURES = 8 };
typedef struct {
    const char *id, *title, *about;
    Figure figures[MAX_FIGURES];
} Section;
extern const Section sections[];
extern const int n_sections;

/* A page that is being written. */
typedef struct {
    Database *d;
    FILE *out;
    bool failed;
    int n_runs;          /* 2: with a baseline */
    const char *shown;   /* numbers of the sections with figures, a line each */
    const char *missing; /* figures without rows: \1 title \2 reason */
} Page;

/* Text for the content of an element or an attribute in double quotes. */
void html_text(FILE *out, const char *text);
void html_text_n(FILE *out, const char *text, size_t n_bytes);

/* The rows of a figure for one of the runs, of at most `n` rows. False: the query failed, which is
 * written. */
bool figure_rows(Page *page, const Figure *figure, int run, int n, ChartRows *rows);
/* What a figure shows of its rows. `base` has the rows of the baseline, or is NULL. */
void html_table(Page *page, const Figure *figure, const ChartData *data, const ChartData *base);
void html_cards(Page *page, const ChartData *data, const ChartData *base);
void html_advice(Page *page, const ChartData *data);

/* The events for the timeline of the page, packed. */
bool timeline_write(Page *page);

#endif
