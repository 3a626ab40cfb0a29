// SPDX-License-Identifier: Apache-2.0
/* rows.c: writes rows as tables, cards and advice; see page.h. */
#include "page.h"

#include "../../loader/base/text_buffer.h"

#include <math.h>
#include <string.h>

enum { LONG_TEXT = 60, LONGEST_TEXT = 200, LONGEST_ADVICE = 1000 };

void html_text_n(FILE *out, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) switch (text[i]) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        case '\n':
        case '\t': fputc(text[i], out); break;
        default: fputc((unsigned char)text[i] < 0x20 ? ' ' : text[i], out);
        }
}
void html_text(FILE *out, const char *text) { html_text_n(out, text, strlen(text)); }

static const ChartCell no_cell = {.number = NAN};

static bool is_number(const ChartCell *cell) { return !isnan(cell->number); }
static bool is_share(const char *column)
{
    size_t n = strlen(column);
    return n && column[n - 1] == '%';
}

/* Returns the unit of a column whose name ends with one, such as "(ms)"; else NULL. */
static const char *unit_of(const char *column)
{
    const char *open = strrchr(column, '(');
    if (!open || open == column || column[strlen(column) - 1] != ')') return NULL;
    return keep_text("%.*s", (int)strlen(open) - 2, open + 1);
}

/* Writes an integer like "1,234,567". */
static void integer(FILE *out, const char *text)
{
    size_t n = strlen(text), first = *text == '-';
    for (size_t i = 0; i < n; i++) {
        if (i > first && !((n - i) % 3)) fputc(',', out);
        fputc(text[i], out);
    }
}

static int n_decimals(double size)
{
    if (size >= 1000) return 0;
    if (size >= 100) return 1;
    return size >= .01 ? 2 : 4;
}

/* Writes a number with as many digits as people compare. */
static void number(FILE *out, const ChartCell *cell, double unit)
{
    char room[40];
    double value = cell->number / unit, size = fabs(value);
    if (unit == 1 && cell->text[strspn(cell->text, "-0123456789")] == 0) {
        integer(out, cell->text);
        return;
    }
    if (size == 0) {
        fputc('0', out);
        return;
    }
    if (size >= 1e15 || size < 1e-3)
        print_real(room, sizeof room, "%.2e", value);
    else
        print_real(room, sizeof room, "%.*f", n_decimals(size), value);
    char *point = strchr(room, '.');
    if (size < 1000 || point || size >= 1e15)
        fputs(room, out);
    else
        integer(out, room);
}

/* Writes a number in the unit in which people read it, and returns this unit. */
static const char *number_in_unit(FILE *out, const ChartCell *cell, const char *unit)
{
    ChartUnit u = chart_unit(unit, cell->number);
    if (*unit == '%' && cell->number > 0 && cell->number < 5e-4)
        fputs("&lt;0.001", out);
    else
        number(out, cell, u.size);
    return u.name;
}

/* Writes a text, at most so many bytes of it. */
static void text(FILE *out, const ChartCell *cell, size_t longest)
{
    size_t n = cell->n_bytes;
    if (n > longest) {
        n = longest;
        while (n && ((unsigned char)cell->text[n] & 0xc0) == 0x80) n--;
    }
    html_text_n(out, cell->text, n);
    if (n < cell->n_bytes) fputs("\xe2\x80\xa6", out);
}

/* Writes a value. `unit` is that of a number, or NULL. */
static void value(FILE *out, const ChartCell *cell, const char *unit, size_t longest)
{
    if (!cell->text)
        fputs("\xe2\x80\x93", out);
    else if (!is_number(cell))
        text(out, cell, longest);
    else if (!unit || cell->number == 0)
        number(out, cell, 1);
    else
        fprintf(out, " %s", number_in_unit(out, cell, unit));
}

/* How the cells of a column are written. */
typedef struct {
    const char *unit;
    size_t longest; /* of its texts */
    bool is_key, is_numeric, is_share;
} Column;

static void baseline(FILE *out, const ChartCell *cell, const Column *column)
{
    fputs("<small>base ", out);
    value(out, cell ? cell : &no_cell, column->unit, column->longest);
    fputs("</small>", out);
}

/* A row: its cells in the run and in the baseline; NULL: it has no such row. */
typedef struct {
    const ChartCell *run, *base;
} Row;

static const ChartCell *cells_of(const ChartData *data, long row)
{
    return row < 0 ? NULL : chart_cell(data, (size_t)row, 0);
}

static bool same(const ChartCell *a, const ChartCell *b)
{
    return a->text && b->text ? !strcmp(a->text, b->text) : a->text == b->text;
}

static bool is_long(const ChartCell *cell)
{
    return cell && cell->text && cell->n_bytes > LONG_TEXT;
}

static void cell_start(FILE *out, const ChartCell *cell, const ChartCell *base,
                       const Column *column)
{
    bool share = column->is_share && is_number(cell);
    fputs("<td", out);
    if (column->is_numeric)
        fputs(share ? " class=\"n p\"" : " class=n", out);
    else if (is_long(cell) || is_long(base))
        fputs(" class=long", out);
    if (share) fprintf(out, " style=\"--p:%d%%\"", (int)(fmin(fmax(cell->number, 0), 100) + .5));
    if (column->is_numeric) {
        fputs(" data-v=\"", out);
        if (cell->text) html_text(out, cell->text);
        fputs("\"", out);
    }
    fputc('>', out);
    value(out, cell, column->unit, column->longest);
}

/* A table that is being written. */
typedef struct {
    FILE *out;
    const ChartData *run, *base; /* base: NULL if there is no baseline */
    Column *columns;
} Table;

/* Returns whether a column has numbers, by its first value. */
static bool is_numeric(const ChartData *run, const ChartData *base, size_t column)
{
    const ChartData *const runs[] = {run, base};
    for (size_t r = 0; r < COUNT(runs); r++)
        for (size_t i = 0; runs[r] && i < runs[r]->n_rows; i++)
            if (chart_cell(runs[r], i, column)->text)
                return is_number(chart_cell(runs[r], i, column));
    return false;
}

/* Numbers have the baseline's below them, texts only where they differ. */
static void write_row(const Table *table, Row row, const char *start)
{
    fputs(start, table->out);
    for (size_t c = 0; c < table->run->n_columns; c++) {
        const Column *column = &table->columns[c];
        const ChartCell *base = row.base ? &row.base[c] : NULL;
        const ChartCell *cell = column->is_key ? base : &no_cell;
        if (row.run) cell = &row.run[c];
        cell_start(table->out, cell, base, column);
        bool always = table->base && column->is_numeric && !column->is_key;
        if (always || (base && !same(cell, base))) baseline(table->out, base, column);
        fputs("</td>", table->out);
    }
    fputs("</tr>\n", table->out);
}

static void write_head(const Table *table)
{
    fputs("<thead><tr>", table->out);
    for (size_t c = 0; c < table->run->n_columns; c++) {
        const Column *column = &table->columns[c];
        fputs(column->is_numeric ? "<th scope=col class=n>" : "<th scope=col>", table->out);
        size_t n = strlen(table->run->columns[c]);
        if (column->unit) n -= strlen(column->unit) + strlen(" ()");
        html_text_n(table->out, table->run->columns[c], n);
        fputs("</th>", table->out);
    }
    fputs("</tr></thead>\n<tbody>\n", table->out);
}

static Table table_start(FILE *out, const Figure *figure, const ChartData *run,
                         const ChartData *base)
{
    Table table = {out, run, base, keep_alloc(run->n_columns * sizeof *table.columns)};
    for (size_t c = 0; c < run->n_columns; c++)
        table.columns[c] = (Column){.is_key = c < (size_t)figure->keys,
                                    .is_numeric = is_numeric(run, base, c),
                                    .is_share = is_share(run->columns[c]),
                                    .unit = unit_of(run->columns[c]),
                                    .longest = figure->longest ? figure->longest : LONGEST_TEXT};
    fputs("<div class=wide role=region tabindex=0 aria-label=\"", out);
    html_text(out, figure->title);
    fputs("\"><table class=sortable>\n", out);
    write_head(&table);
    return table;
}

static void table_end(const Table *table) { fputs("</tbody></table></div>\n", table->out); }

void html_rows(Page *page, const Figure *figure, const ChartData *data)
{
    Table table = table_start(page->out, figure, data, NULL);
    for (size_t i = 0; i < data->n_rows; i++)
        write_row(&table, (Row){chart_cell(data, i, 0), NULL}, "<tr>");
    table_end(&table);
}

/* Writes the first rows of both runs: those of rank 1, then of rank 2, and so on. */
static void write_both(const Table *table, const Figure *figure, const FigureRows *rows,
                       const long *shown, const long *all)
{
    const ChartData *run = &rows->shown.data, *base = &rows->base.data;
    for (size_t i = 0; i < (size_t)figure->rows; i++) {
        long there = -1;
        for (size_t k = 0; there < 0 && k < base->n_rows; k++)
            if (shown[k] == (long)i) there = (long)k;
        if (i < run->n_rows)
            write_row(table, (Row){chart_cell(run, i, 0), cells_of(base, there)}, "<tr>");
        if (i < base->n_rows && shown[i] < 0)
            write_row(table, (Row){cells_of(&rows->all.data, all[i]), chart_cell(base, i, 0)},
                      "<tr class=base>");
    }
}

void html_table(Page *page, const Figure *figure, const FigureRows *rows)
{
    if (page->n_runs < 2) {
        html_rows(page, figure, &rows->shown.data);
        return;
    }
    const ChartData *base = &rows->base.data;
    long *shown = rows_paired(page, figure, &rows->shown.data, base);
    long *all = rows_paired(page, figure, &rows->all.data, base);
    Table table = table_start(page->out, figure, &rows->shown.data, base);
    if (shown && all) write_both(&table, figure, rows, shown, all);
    table_end(&table);
    prof_free(shown);
    prof_free(all);
}

static void card_number(FILE *out, const ChartCell *cell, const char *unit)
{
    if (cell->text)
        unit = number_in_unit(out, cell, unit);
    else
        fputs("\xe2\x80\x93", out);
    fprintf(out, " <small>%s</small>", unit);
}

/* Writes a card. A column's name has its title and unit: "step time|ms". */
static void card(FILE *out, const char *column, const ChartCell *cell, const ChartCell *base,
                 bool has_base)
{
    size_t n_name = strcspn(column, "|");
    const char *unit = column[n_name] ? column + n_name + 1 : "";
    fputs("<div class=card><dt>", out);
    html_text_n(out, column, n_name);
    fputs("</dt><dd>", out);
    card_number(out, cell, unit);
    if (has_base) {
        fputs(" <small class=base>base ", out);
        value(out, base ? base : &no_cell, *unit ? unit : NULL, LONGEST_TEXT);
        fputs("</small>", out);
    }
    fputs("</dd></div>\n", out);
}

void html_cards(Page *page, const FigureRows *rows)
{
    const ChartData *data = &rows->shown.data, *base = &rows->base.data;
    fputs("<dl class=cards>\n", page->out);
    for (size_t c = 0; c < data->n_columns && data->n_rows; c++) {
        const ChartCell *cell = chart_cell(data, 0, c);
        const ChartCell *of = base->n_rows ? chart_cell(base, 0, c) : NULL;
        if (cell->text || (of && of->text))
            card(page->out, data->columns[c], cell, of, page->n_runs > 1);
    }
    fputs("</dl>\n", page->out);
}

enum { ADVICE_RULE, ADVICE_PERCENT, ADVICE_FINDING, ADVICE_EVIDENCE, ADVICE_ACTION, ADVICE_QUERY };

static void cost(FILE *out, const ChartCell *percent)
{
    if (percent && is_number(percent)) {
        number(out, percent, 1);
        fputs(" %", out);
    } else {
        fputs("no finding", out);
    }
}

/* Writes a finding of one or both runs, in the words of `row`. NULL: it is none of the run's. */
static void finding(Page *page, const ChartCell *row, const ChartCell *percent,
                    const ChartCell *base_percent, bool has_base)
{
    FILE *out = page->out;
    fputs(percent && percent->number >= 20 ? "<li class=heavy>" : "<li>", out);
    fputs("<span class=cost>", out);
    cost(out, percent);
    if (has_base) {
        fputs(" <small>base ", out);
        cost(out, base_percent);
        fputs("</small>", out);
    }
    fputs(percent ? "</span> <span>" : "</span> <span>Baseline: ", out);
    text(out, &row[ADVICE_FINDING], LONGEST_ADVICE);
    fputs("</span>", out);
    for (int c = ADVICE_EVIDENCE; c <= ADVICE_ACTION; c++) {
        if (!row[c].text) continue;
        fputs(c == ADVICE_EVIDENCE ? "<p class=soft>" : "<p>", out);
        text(out, &row[c], LONGEST_ADVICE);
        fputs("</p>", out);
    }
    if (row[ADVICE_QUERY].text) html_query(page, percent ? 0 : 1, row[ADVICE_QUERY].text);
    fputs("</li>\n", out);
}

/* What only the baseline has comes last. */
void html_advice(Page *page, const Figure *figure, const FigureRows *rows)
{
    const ChartData *data = &rows->shown.data, *base = &rows->base.data;
    bool has_base = page->n_runs > 1;
    long *pairs = has_base ? rows_paired(page, figure, data, base) : NULL;
    fputs("<ol class=advice>\n", page->out);
    for (size_t i = 0; i < data->n_rows; i++) {
        const ChartCell *percent = NULL;
        for (size_t k = 0; pairs && k < base->n_rows; k++)
            if (pairs[k] == (long)i) percent = chart_cell(base, k, ADVICE_PERCENT);
        finding(page, chart_cell(data, i, ADVICE_RULE), chart_cell(data, i, ADVICE_PERCENT),
                percent, has_base);
    }
    for (size_t i = 0; pairs && i < base->n_rows; i++)
        if (pairs[i] < 0)
            finding(page, chart_cell(base, i, ADVICE_RULE), NULL,
                    chart_cell(base, i, ADVICE_PERCENT), true);
    fputs("</ol>\n", page->out);
    prof_free(pairs);
}
