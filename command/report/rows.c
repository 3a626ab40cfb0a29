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

static bool is_number(const ChartCell *cell) { return !isnan(cell->number); }
static bool is_share(const char *column)
{
    size_t n = strlen(column);
    return n && column[n - 1] == '%';
}

/* Returns whether a column has numbers, by its first value. */
static bool is_numeric(const ChartData *data, size_t column)
{
    for (size_t i = 0; i < data->n_rows; i++)
        if (chart_cell(data, i, column)->text) return is_number(chart_cell(data, i, column));
    return false;
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
static void number(FILE *out, const ChartCell *cell)
{
    char room[40];
    double size = fabs(cell->number);
    if (cell->text[strspn(cell->text, "-0123456789")] == 0) {
        integer(out, cell->text);
        return;
    }
    if (size == 0) {
        fputc('0', out);
        return;
    }
    if (size >= 1e15 || (size < 1e-3 && size > 0))
        print_real(room, sizeof room, "%.2e", cell->number);
    else
        print_real(room, sizeof room, "%.*f", n_decimals(size), cell->number);
    char *point = strchr(room, '.');
    if (size < 1000 || point || size >= 1e15)
        fputs(room, out);
    else
        integer(out, room);
}

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

static void value(FILE *out, const ChartCell *cell)
{
    if (!cell->text)
        fputs("\xe2\x80\x93", out);
    else if (is_number(cell))
        number(out, cell);
    else
        text(out, cell, LONGEST_TEXT);
}

static bool same(const ChartCell *a, const ChartCell *b)
{
    return a->text && b->text ? !strcmp(a->text, b->text) : a->text == b->text;
}

static bool same_keys(const ChartData *a, size_t row, const ChartData *b, size_t other, int keys)
{
    for (size_t k = 0; k < (size_t)keys; k++)
        if (!same(chart_cell(a, row, k), chart_cell(b, other, k))) return false;
    return true;
}

/* Returns the row of the baseline with the same keys; -1 if there is none. If several rows have
 * these keys, the first is compared with the first, and so on. */
static long base_row(const ChartData *data, size_t row, const ChartData *base, int keys)
{
    size_t before = 0;
    for (size_t i = 0; i < row; i++) before += same_keys(data, row, data, i, keys);
    for (size_t i = 0; i < base->n_rows; i++)
        if (same_keys(data, row, base, i, keys) && !before--) return (long)i;
    return -1;
}

static void baseline(FILE *out, const ChartCell *cell)
{
    fputs("<small>base ", out);
    if (cell)
        value(out, cell);
    else
        fputs("\xe2\x80\x93", out);
    fputs("</small>", out);
}

static void cell_write(FILE *out, const ChartCell *cell, bool numeric, bool share,
                       const ChartCell *base, bool has_base)
{
    fputs("<td", out);
    if (numeric)
        fputs(share && is_number(cell) ? " class=\"n p\"" : " class=n", out);
    else if (cell->text && cell->n_bytes > LONG_TEXT)
        fputs(" class=long", out);
    if (share && is_number(cell))
        fprintf(out, " style=\"--p:%d%%\"", (int)(fmin(fmax(cell->number, 0), 100) + .5));
    if (numeric) {
        fputs(" data-v=\"", out);
        if (cell->text) html_text(out, cell->text);
        fputs("\"", out);
    }
    fputc('>', out);
    value(out, cell);
    if (has_base && numeric) baseline(out, base);
    fputs("</td>", out);
}

static void head(FILE *out, const ChartData *data)
{
    fputs("<thead><tr>", out);
    for (size_t c = 0; c < data->n_columns; c++) {
        fputs(is_numeric(data, c) ? "<th scope=col class=n>" : "<th scope=col>", out);
        html_text(out, data->columns[c]);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void html_table(Page *page, const Figure *figure, const ChartData *data, const ChartData *base)
{
    FILE *out = page->out;
    fputs("<div class=wide role=region tabindex=0 aria-label=\"", out);
    html_text(out, figure->title);
    fputs("\"><table class=sortable>\n", out);
    head(out, data);
    for (size_t i = 0; i < data->n_rows; i++) {
        long there = base ? base_row(data, i, base, figure->keys) : -1;
        fputs("<tr>", out);
        for (size_t c = 0; c < data->n_columns; c++) {
            const ChartCell *of = base && there >= 0 ? chart_cell(base, (size_t)there, c) : NULL;
            cell_write(out, chart_cell(data, i, c), is_numeric(data, c), is_share(data->columns[c]),
                       of, base && c >= (size_t)figure->keys);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* Writes a card. A column's name has its title, unit and remark: "step time|ms|of step time". */
void html_cards(Page *page, const ChartData *data, const ChartData *base)
{
    FILE *out = page->out;
    fputs("<dl class=cards>\n", out);
    for (size_t c = 0; c < data->n_columns && data->n_rows; c++) {
        const ChartCell *cell = chart_cell(data, 0, c);
        const ChartCell *of = base && base->n_rows ? chart_cell(base, 0, c) : NULL;
        const char *unit = strchr(data->columns[c], '|');
        size_t n_name = unit ? (size_t)(unit - data->columns[c]) : strlen(data->columns[c]);
        if (!cell->text && !(of && of->text)) continue;
        fputs("<div class=card><dt>", out);
        html_text_n(out, data->columns[c], n_name);
        fputs("</dt><dd>", out);
        value(out, cell);
        fputs(" <small>", out);
        html_text(out, unit ? unit + 1 : "");
        if (base) {
            fputs("</small><small class=base>base ", out);
            value(out, of ? of : cell);
        }
        fputs("</small></dd></div>\n", out);
    }
    fputs("</dl>\n", out);
}

enum { ADVICE_RULE, ADVICE_PERCENT, ADVICE_FINDING, ADVICE_EVIDENCE, ADVICE_ACTION };

static void cost(FILE *out, const ChartCell *percent)
{
    if (percent && is_number(percent)) {
        number(out, percent);
        fputs(" %", out);
    } else {
        fputs("no finding", out);
    }
}

/* Writes a finding of one or both runs, in the words of `row`. NULL: it is none of the run's. */
static void finding(FILE *out, const ChartCell *row, const ChartCell *percent,
                    const ChartCell *base_percent, bool has_base)
{
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
    fputs("</li>\n", out);
}

/* What only the baseline has comes last. */
void html_advice(Page *page, const ChartData *data, const ChartData *base)
{
    FILE *out = page->out;
    fputs("<ol class=advice>\n", out);
    for (size_t i = 0; i < data->n_rows; i++) {
        long there = base ? base_row(data, i, base, 1) : -1;
        finding(out, chart_cell(data, i, ADVICE_RULE), chart_cell(data, i, ADVICE_PERCENT),
                there >= 0 ? chart_cell(base, (size_t)there, ADVICE_PERCENT) : NULL, base != NULL);
    }
    for (size_t i = 0; base && i < base->n_rows; i++)
        if (base_row(base, i, data, 1) < 0)
            finding(out, chart_cell(base, i, ADVICE_RULE), NULL,
                    chart_cell(base, i, ADVICE_PERCENT), true);
    fputs("</ol>\n", out);
}
