// SPDX-License-Identifier: Apache-2.0
/* page.h: shared by the files that write a page. */
#ifndef COMMAND_REPORT_PAGE_H
#define COMMAND_REPORT_PAGE_H

#include "../../ext/charts.h"
#include "../database.h"

#include <stdio.h>

/* How the rows of a figure are displayed. */
enum Shape {
    SHAPE_CARDS,  /* one row, as a card for each column that is not NULL */
    SHAPE_ADVICE, /* rule, percent, finding, evidence, action, query */
    SHAPE_CHART,  /* a chart, with its rows in a table that can be opened */
    SHAPE_TABLE,
};

/* A figure. The page shows the names of columns. A column whose name ends in % has a bar; one that
 * ends in a unit, such as "(ms)", has values with units in which people read them. In `sql`, ?1 is
 * the run and ?2 the number of rows. */
typedef struct {
    enum Shape shape;
    const char *title;
    const char *table;       /* its reason is shown if there are no rows */
    const Chart *chart;      /* SHAPE_CHART: contains the SQL */
    int keys;                /* number of first columns that identify a row; see rows_paired() */
    int rows;                /* most rows */
    int longest;             /* most bytes of a text; 0: 200 */
    const char *none;        /* shown if the table has rows, but none of them is in the figure */
    const char *limit;       /* part of the names of columns with shares of a limit, in percent */
    const char *above_limit; /* shown below the figure if one of them is above 100 */
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
    int n_runs;          /* 2: there is a baseline */
    const char *shown;   /* numbers of the sections with figures, one in each line */
    const char *missing; /* figures that are not drawn: \1 title \2 reason */
    ChartRows hosts;     /* of the baseline that the run lacks, each with the run's host for it */
} Page;

/* Writes text for the content of an element or an attribute in double quotes. */
void html_text(FILE *out, const char *text);
void html_text_n(FILE *out, const char *text, size_t n_bytes);

enum { ALL_ROWS = 100000 };
/* The rows of a figure. Without a baseline, only `shown` is read. */
typedef struct {
    ChartRows shown; /* first rows of the run, as many as the figure has */
    ChartRows all;   /* first ALL_ROWS of the run; only of tables */
    ChartRows base;  /* first ALL_ROWS of the baseline */
} FigureRows;
/* Reads the rows of a figure. False after writing an error. Freed in any case. */
bool figure_rows_read(Page *page, const Figure *figure, FigureRows *rows);
void figure_rows_free(FigureRows *rows);

/* Reads which hosts belong together: those with the same name, and the others in the order of their
 * names. False after writing an error. */
bool hosts_paired(Page *page);
/* Returns for each row of the baseline the number of the run's row with the same keys; -1 if there
 * is none. Of several rows with the same keys, the first belongs to the first, and so on. In a key
 * `host`, hosts that belong together are the same; in a key `device` or `core`, only what follows
 * the kind of the device counts: GPU 0 is compared with TPU 0. Freed with prof_free(). NULL after
 * writing an error. */
long *rows_paired(Page *page, const Figure *figure, const ChartData *run, const ChartData *base);

/* Write the rows of a figure, with those of the baseline if there is one. */
void html_table(Page *page, const Figure *figure, const FigureRows *rows);
void html_cards(Page *page, const FigureRows *rows);
void html_advice(Page *page, const Figure *figure, const FigureRows *rows);
/* Writes rows of one run as a table. */
void html_rows(Page *page, const Figure *figure, const ChartData *data);
/* Writes a query of one of the runs with the run as the user gave it. */
void html_query(Page *page, int run, const char *query);
/* Writes the SQL as a user would type it: with the run for ?1 and the number for ?2. */
void html_sql(Page *page, const Figure *figure);

/* Writes the timeline of the page, and the events of the runs, compressed. */
bool timeline_write(Page *page);
/* What it draws: the events with the names of their lines. */
extern const Figure timeline_events;

#endif
