// SPDX-License-Identifier: Apache-2.0
/* steps.c: stacked bars of the times of steps; see chart.h. */
#include "svg.h"

#include <math.h>

enum { LABEL, TOTAL, MARK, FIRST_PART };
enum { MARK_OUTLIER = 1, MARK_DROPPED };
enum { LEFT = 64, RIGHT = 12, TOP = 34, HEIGHT = 240, BOTTOM = 30, MARKS = 12 };

static double value(const ChartData *d, size_t row, size_t column)
{
    double number = chart_cell(d, row, column)->number;
    return number > 0 ? number : 0;
}

static bool is_dropped(const ChartData *d, size_t row)
{
    return chart_cell(d, row, MARK)->number == MARK_DROPPED;
}

/* Dropped steps, such as the first, can take many times as long as the others. */
double chart_steps_most(const ChartData *d)
{
    double counted = 0, most = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        most = fmax(most, value(d, i, TOTAL));
        if (!is_dropped(d, i)) counted = fmax(counted, value(d, i, TOTAL));
    }
    return counted > 0 ? fmin(most, 1.5 * counted) : most;
}

static bool is_used(const ChartData *d, size_t column)
{
    for (size_t i = 0; i < d->n_rows; i++)
        if (value(d, i, column) > 0) return true;
    return false;
}

/* Returns the time of a step in none of its parts; 0 if it is too short to see. */
static double rest_of(const ChartData *d, size_t row, double end)
{
    double rest = value(d, row, TOTAL);
    for (size_t c = FIRST_PART; c < d->n_columns; c++) rest -= value(d, row, c);
    return HEIGHT * rest / end >= .1 ? rest : 0;
}

static void legend(const ChartData *d, double end, TextBuffer *out)
{
    double x = LEFT, rest = 0;
    for (size_t c = FIRST_PART; c < d->n_columns; c++) {
        const char *name = d->columns[c];
        if (is_used(d, c))
            x = svg_legend(out, x, 14, name, strlen(name), chart_colour(name, strlen(name)));
    }
    for (size_t i = 0; i < d->n_rows; i++) rest = fmax(rest, rest_of(d, i, end));
    if (rest > 0) svg_legend(out, x, 14, "rest", strlen("rest"), "c0 rest");
}

static void axis(TextBuffer *out, double end, double tick)
{
    char room[SVG_ROOM];
    for (double at = 0; at <= end * 1.0001; at += tick) {
        double y = TOP + HEIGHT * (1 - at / end);
        svg_line(out, at > 0 ? "rule" : "axis", LEFT, y, SVG_WIDTH - RIGHT, y);
        svg_text(out, "end", LEFT - 8, y + 4, at > 0 ? svg_time_tick(room, at * 1000) : "0");
    }
}

static void title_of(const ChartData *d, size_t row, double end, TextBuffer *out)
{
    char room[SVG_ROOM];
    const ChartCell *label = chart_cell(d, row, LABEL);
    text_add(out, "<title>");
    if (label->text) svg_escape(out, label->text, label->n_bytes);
    text_add_format(out, ": %s", svg_time(room, value(d, row, TOTAL) * 1000));
    if (is_dropped(d, row)) text_add(out, ", left out of the statistics");
    for (size_t c = FIRST_PART; c < d->n_columns; c++) {
        if (!(value(d, row, c) > 0)) continue;
        text_add(out, "\n");
        svg_escape(out, d->columns[c], strlen(d->columns[c]));
        text_add_format(out, " %s", svg_time(room, value(d, row, c) * 1000));
    }
    if (rest_of(d, row, end) > 0)
        text_add_format(out, "\nrest %s", svg_time(room, rest_of(d, row, end) * 1000));
    text_add(out, "</title>");
}

/* Draws a bar. If its parts add up to more than the step, they end with it, and all end with the
 * axis. */
static void bar(const ChartData *d, size_t row, double x, double width, double end, TextBuffer *out)
{
    double done = 0, total = fmin(value(d, row, TOTAL), end);
    text_add(out, is_dropped(d, row) ? "<g class=\"bar dropped\">" : "<g class=\"bar\">");
    title_of(d, row, end, out);
    for (size_t c = FIRST_PART; c < d->n_columns && done < total; c++) {
        double part = fmin(value(d, row, c), total - done);
        if (!(part > 0)) continue;
        done += part;
        svg_rect(out, chart_colour(d->columns[c], strlen(d->columns[c])), x,
                 TOP + HEIGHT * (1 - done / end), width, HEIGHT * part / end);
        text_add(out, "</rect>");
    }
    if (done < total && rest_of(d, row, end) > 0) {
        svg_rect(out, "c0 rest", x, TOP + HEIGHT * (1 - total / end), width,
                 HEIGHT * (total - done) / end);
        text_add(out, "</rect>");
    }
    text_add(out, "</g>\n");
}

static void mark(const ChartData *d, size_t row, double x, double end, bool labelled,
                 TextBuffer *out)
{
    char room[SVG_ROOM];
    double y = TOP + HEIGHT * (1 - value(d, row, TOTAL) / end) - 3;
    text_add_format(out, "<path class=\"outlier\" d=\"M%.1f %.1fl-4 -7h8z\"/>\n", x, y);
    if (labelled)
        svg_text(out, "mid strong", x, y - 10, svg_time(room, value(d, row, TOTAL) * 1000));
}

/* Writes the time above a bar that ends with the axis. */
static void cut(const ChartData *d, size_t row, double x, double end, TextBuffer *out)
{
    char room[SVG_ROOM];
    if (!(value(d, row, TOTAL) > end)) return;
    const char *time = svg_time(room, value(d, row, TOTAL) * 1000);
    double width = svg_text_width(strlen(time) + 2);
    x = fmin(fmax(x, width / 2), SVG_WIDTH - width / 2);
    text_add_format(out, "<text class=\"mid strong\" x=\"%.1f\" y=\"%d\">\xe2\x86\x91 %s</text>\n",
                    x, TOP - 4, time);
}

static void labels(const ChartData *d, double pitch, TextBuffer *out)
{
    double last = -1e9;
    for (size_t i = 0; i < d->n_rows; i++) {
        const ChartCell *label = chart_cell(d, i, LABEL);
        double x = LEFT + pitch * ((double)i + .5), width = svg_text_width(label->n_bytes);
        if (!label->text || x - width / 2 < last + 10 || x + width / 2 > SVG_WIDTH) continue;
        text_add_format(out, "<text class=\"mid\" x=\"%.1f\" y=\"%d\">", x, TOP + HEIGHT + 16);
        svg_escape_within(out, label->text, label->n_bytes, 120);
        text_add(out, "</text>\n");
        last = x + fmin(width, 120) / 2;
    }
}

bool chart_steps(const ChartData *d, const ChartOptions *options, TextBuffer *out)
{
    double tick, most = fmax(options->most, chart_steps_most(d));
    if (!d->n_rows || !(most > 0) || d->n_columns < FIRST_PART) return false;
    double end = svg_axis_end(most * 1.06, &tick);
    double pitch = (double)(SVG_WIDTH - LEFT - RIGHT) / (double)d->n_rows;
    double width = pitch > 2 ? fmin(pitch - (pitch > 6 ? 2 : .5), 64) : pitch;
    svg_open(out, options, "steps", TOP + HEIGHT + BOTTOM);
    legend(d, end, out);
    axis(out, end, tick);
    for (size_t i = 0; i < d->n_rows; i++)
        bar(d, i, LEFT + pitch * ((double)i + .5) - width / 2, width, end, out);
    size_t n_marks = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        double x = LEFT + pitch * ((double)i + .5);
        if (chart_cell(d, i, MARK)->number == MARK_OUTLIER)
            mark(d, i, x, end, n_marks++ < MARKS && pitch > 4, out);
        if (is_dropped(d, i)) cut(d, i, x, end, out);
    }
    labels(d, pitch, out);
    svg_close(out);
    return true;
}
