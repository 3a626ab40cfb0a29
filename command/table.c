// SPDX-License-Identifier: Apache-2.0
/* table.c: writes rows as an aligned table; see table.h. The widths of columns follow from the
 * first rows. */
#define _GNU_SOURCE
#include "table.h"

#include "rows.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_FOR_WIDTHS = 1000, GAP = 2, LEAST_TEXT = 24, MANY_COLUMNS = 6 };

typedef struct {
    char *name;
    int width;    /* width in the output */
    int heading;  /* width of the heading, which may be broken at underscores */
    bool number;  /* right-aligned, never cut */
    bool has_row; /* it has a value that is not NULL */
} TableColumn;

typedef struct {
    TableColumn *columns;
    int n, n_shown;
    char **cells; /* of the first rows, row by row */
    int n_rows;
} Table;

/* ---- cells ---- */

static char *cell_text(sqlite3_stmt *stmt, int i)
{
    char number[40];
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL: return text_clean("-", 1, false);
    case SQLITE_FLOAT:
        text_of_real_short(sqlite3_column_double(stmt, i), number);
        return text_clean(number, strlen(number), false);
    case SQLITE_BLOB: return text_clean("(bytes)", 7, false);
    default: break;
    }
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    return text_clean(text ? text : "", (size_t)sqlite3_column_bytes(stmt, i), false);
}

static bool is_text(sqlite3_stmt *stmt, int i)
{
    int type = sqlite3_column_type(stmt, i);
    return type == SQLITE_TEXT || type == SQLITE_BLOB;
}

/* ---- headings ---- */

/* Returns the end of the part of a heading that fits: after an underscore, if it must be broken. */
static const char *heading_part(const char *name, int width)
{
    const char *end = name;
    if (text_width(name) <= width) return name + strlen(name);
    for (const char *p = name; *p; p++)
        if (*p == '_' && p + 1 - name <= width) end = p + 1;
    return end > name ? end : name + strlen(name);
}

/* Returns the length of the longest part between underscores, which cannot be broken. */
static int heading_least(const char *name)
{
    int longest = 0;
    for (const char *p = name; *p;) {
        int n = (int)strcspn(p, "_");
        n += p[n] == '_';
        if (n > longest) longest = n;
        p += n;
    }
    return longest;
}

static int largest(int a, int b) { return a > b ? a : b; }

/* ---- widths ---- */

static int total_width(const Table *t)
{
    int total = -GAP;
    for (int i = 0; i < t->n_shown; i++) total += GAP + t->columns[i].width;
    return total;
}

static int least_width(const TableColumn *column, int widest_cell)
{
    int least = largest(heading_least(column->name), 1);
    if (column->number) return largest(least, widest_cell);
    return largest(least, widest_cell < LEAST_TEXT ? widest_cell : LEAST_TEXT);
}

/* Narrows the widest column by one, repeatedly, until the table fits. */
static void fit(Table *t, const int *cells, int limit)
{
    while (t->n_shown > 1) {
        while (total_width(t) > limit) {
            TableColumn *widest = NULL;
            for (int i = 0; i < t->n_shown; i++) {
                TableColumn *c = &t->columns[i];
                bool can = c->width > least_width(c, cells[i]);
                if (can && (!widest || c->width > widest->width)) widest = c;
            }
            if (!widest) break;
            widest->width--;
        }
        if (total_width(t) <= limit) return;
        t->n_shown--;
        for (int i = 0; i < t->n_shown; i++)
            t->columns[i].width = largest(cells[i], t->columns[i].heading);
    }
}

static void choose_widths(Table *t, int limit)
{
    int *cells = keep_alloc((size_t)t->n * sizeof *cells);
    for (int i = 0; i < t->n; i++) {
        for (int r = 0; r < t->n_rows; r++)
            cells[i] = largest(cells[i], text_width(t->cells[r * t->n + i]));
        t->columns[i].heading = text_width(t->columns[i].name);
        t->columns[i].width = largest(cells[i], t->columns[i].heading);
    }
    t->n_shown = t->n;
    if (limit && total_width(t) > limit) fit(t, cells, limit);
    if (t->n_shown < t->n)
        note("the terminal has room for %d of %d columns; --columns a,b (or the SQL) selects some, "
             "--format csv has all",
             t->n_shown, t->n);
}

/* ---- writing ---- */

static void spaces(FILE *out, int n)
{
    if (n > 0) fprintf(out, "%*s", n, "");
}

static void write_cell(FILE *out, const Table *t, int i, const char *text)
{
    int gap = t->columns[i].width - text_width(text);
    if (i) spaces(out, GAP);
    if (t->columns[i].number) spaces(out, gap);
    fputs(text, out);
    if (!t->columns[i].number && i + 1 < t->n_shown) spaces(out, gap);
}

static void write_headings(FILE *out, const Table *t, bool colour)
{
    const char **rest = keep_alloc((size_t)t->n * sizeof *rest);
    for (int i = 0; i < t->n_shown; i++) rest[i] = t->columns[i].name;
    for (bool more = true; more;) {
        more = false;
        if (colour) fputs("\033[1m", out);
        for (int i = 0; i < t->n_shown; i++) {
            const char *end = heading_part(rest[i], t->columns[i].width);
            write_cell(out, t, i, keep_text("%.*s", (int)(end - rest[i]), rest[i]));
            rest[i] = end;
            more |= *end != 0;
        }
        fputs(colour ? "\033[0m\n" : "\n", out);
    }
    for (int i = 0; i < t->n_shown; i++) {
        if (i) spaces(out, GAP);
        for (int k = 0; k < t->columns[i].width; k++) fputc('-', out);
    }
    fputc('\n', out);
}

static void write_row(FILE *out, const Table *t, char **cells, bool limited)
{
    for (int i = 0; i < t->n_shown; i++) {
        char *shorter =
            limited && !t->columns[i].number ? text_shorten(cells[i], t->columns[i].width) : NULL;
        write_cell(out, t, i, shorter ? shorter : cells[i]);
        free(shorter);
    }
    fputc('\n', out);
}

/* Writes one row with many columns as one line for each column. */
static void write_down(FILE *out, const Table *t)
{
    int width = 0;
    for (int i = 0; i < t->n; i++) width = largest(width, text_width(t->columns[i].name));
    for (int i = 0; i < t->n; i++)
        fprintf(out, "%*s  %s\n", width, t->columns[i].name, t->cells[i]);
}

static void write_start(Table *t, Sink *sink, bool complete)
{
    int limit = sink_width(sink);
    if (complete && t->n_rows == 1 && t->n > MANY_COLUMNS) {
        write_down(sink->file, t);
        return;
    }
    choose_widths(t, limit);
    write_headings(sink->file, t, sink_has_colour(sink));
    for (int r = 0; r < t->n_rows; r++)
        write_row(sink->file, t, t->cells + (size_t)r * (size_t)t->n, limit > 0);
}

static void read_row(Table *t, sqlite3_stmt *stmt, char **cells)
{
    for (int i = 0; i < t->n; i++) {
        TableColumn *column = &t->columns[i];
        bool is_null = sqlite3_column_type(stmt, i) == SQLITE_NULL;
        if (!is_null) column->number = (!column->has_row || column->number) && !is_text(stmt, i);
        column->has_row |= !is_null;
        cells[i] = cell_text(stmt, i);
    }
}

static void free_cells(char **cells, int n)
{
    for (int i = 0; i < n; i++) free(cells[i]);
}

bool table_write(Database *d, sqlite3_stmt *stmt, Sink *sink, long long most, long long *n_rows)
{
    Table t = {.n = sqlite3_column_count(stmt)};
    size_t n = (size_t)t.n;
    int first = most && most < ROWS_FOR_WIDTHS ? (int)most : ROWS_FOR_WIDTHS, rc = SQLITE_ROW;
    t.columns = keep_alloc(n * sizeof *t.columns);
    t.cells = keep_alloc(n * ROWS_FOR_WIDTHS * sizeof *t.cells);
    for (int i = 0; i < t.n; i++) {
        const char *name = sqlite3_column_name(stmt, i);
        t.columns[i].name = text_clean(name ? name : "", name ? strlen(name) : 0, false);
        t.columns[i].number = column_is_number(stmt, i);
    }
    while (t.n_rows < first && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        read_row(&t, stmt, t.cells + (size_t)t.n_rows++ * n);
    *n_rows = t.n_rows;
    if (t.n_rows) write_start(&t, sink, rc != SQLITE_ROW);
    free_cells(t.cells, t.n_rows * t.n);
    while (rc == SQLITE_ROW && (rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(sink->file)) {
        if (most && *n_rows == most) {
            /* Written even with --quiet, because it is a part of the answer. */
            complain("the first %lld rows; --limit N shows more, --limit all every one", most);
            break;
        }
        read_row(&t, stmt, t.cells);
        write_row(sink->file, &t, t.cells, sink_width(sink) > 0);
        free_cells(t.cells, t.n);
        ++*n_rows;
    }
    for (int i = 0; i < t.n; i++) free(t.columns[i].name);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        complain_of_query(d);
        return false;
    }
    return true;
}
