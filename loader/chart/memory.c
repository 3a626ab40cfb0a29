// SPDX-License-Identifier: Apache-2.0
/* memory.c: memory in use over time; see chart.h. */
#include "svg.h"

#include <math.h>

enum { SERIES, PLACE, BYTES, N_COLUMNS };
enum { LEFT = 74, RIGHT = 12, TOP = 34, HEIGHT = 220, BOTTOM = 30, MAX_SERIES = 8 };
enum { RIGHT_END = SVG_WIDTH - RIGHT, BELOW = TOP + HEIGHT };

double chart_memory_most(const ChartData *d)
{
    double most = 0;
    for (size_t i = 0; i < d->n_rows; i++) most = fmax(most, chart_cell(d, i, BYTES)->number);
    return most;
}

static bool same_series(const ChartData *d, size_t a, size_t b)
{
    const char *x = chart_cell(d, a, SERIES)->text, *y = chart_cell(d, b, SERIES)->text;
    return x && y ? !strcmp(x, y) : x == y;
}

typedef struct {
    double first, last, end;
    bool is_time;
} Frame;

static double at_x(const Frame *f, double x)
{
    return LEFT +
           (RIGHT_END - LEFT) * (f->last > f->first ? (x - f->first) / (f->last - f->first) : 0);
}
static double at_y(const Frame *f, double bytes)
{
    return BELOW - HEIGHT * fmax(bytes, 0) / f->end;
}

static void axes(const Frame *f, double tick, TextBuffer *out)
{
    char room[SVG_ROOM];
    double step;
    for (double at = 0; at <= f->end * 1.0001; at += tick) {
        svg_line(out, at > 0 ? "rule" : "axis", LEFT, at_y(f, at), RIGHT_END, at_y(f, at));
        svg_text(out, "end", LEFT - 8, at_y(f, at) + 4, at > 0 ? svg_bytes_tick(room, at) : "0");
    }
    svg_axis_end((f->last - f->first) * 1.5, &step);
    for (double n = ceil(f->first / step); n * step <= f->last; n++) {
        double x = fmin(at_x(f, n * step), RIGHT_END - 24);
        if (f->is_time)
            svg_text(out, "mid", x, BELOW + 16, svg_time_tick(room, n * step * 1000));
        else
            print_real(room, sizeof room, "%g %%", n * step),
                svg_text(out, "mid", x, BELOW + 16, room);
    }
}

/* Draws rows [first, end): an area down to the axis, and its upper edge. */
static void series(const ChartData *d, size_t first, size_t end, const Frame *f, const char *colour,
                   TextBuffer *out)
{
    char room[SVG_ROOM];
    const ChartCell *name = chart_cell(d, first, SERIES);
    double most = 0, y = 0;
    text_add(out, "<g><title>");
    if (name->text) svg_escape(out, name->text, name->n_bytes);
    for (size_t i = first; i < end; i++) most = fmax(most, chart_cell(d, i, BYTES)->number);
    text_add_format(out, ": at most %s</title>", svg_bytes(room, most));
    for (int edge = 0; edge < 2; edge++) {
        text_add_format(out, "<path class=\"%s %s\" d=\"M%.1f ", edge ? "edge" : "area", colour,
                        at_x(f, chart_cell(d, first, PLACE)->number));
        text_add_format(out, "%.1f",
                        edge ? at_y(f, chart_cell(d, first, BYTES)->number) : (double)BELOW);
        for (size_t i = first; i < end; i++) {
            y = at_y(f, chart_cell(d, i, BYTES)->number);
            text_add_format(out, "H%.1fV%.1f", at_x(f, chart_cell(d, i, PLACE)->number), y);
        }
        text_add_format(out, edge ? "H%d\"/>" : "H%dV%dZ\"/>", RIGHT_END, BELOW);
    }
    text_add(out, "</g>\n");
}

bool chart_memory(const ChartData *d, const ChartOptions *options, TextBuffer *out)
{
    double tick, x = LEFT, most = fmax(options->most, chart_memory_most(d));
    Frame f = {INFINITY, -INFINITY, 0, true};
    if (d->n_columns != N_COLUMNS || !(most > 0)) return false;
    for (size_t i = 0; i < d->n_rows; i++) {
        f.first = fmin(f.first, chart_cell(d, i, PLACE)->number);
        f.last = fmax(f.last, chart_cell(d, i, PLACE)->number);
    }
    f.is_time = !strchr(d->columns[PLACE], '%');
    f.end = svg_axis_end_bytes(most, &tick);
    svg_open(out, options, "memory", BELOW + BOTTOM);
    axes(&f, tick, out);
    size_t n = 0;
    for (size_t i = 0, end; i < d->n_rows && n < MAX_SERIES; i = end, n++) {
        for (end = i + 1; end < d->n_rows && same_series(d, i, end);) end++;
        series(d, i, end, &f, chart_colour_of_number(n), out);
        const ChartCell *name = chart_cell(d, i, SERIES);
        if (name->text)
            x = svg_legend(out, x, 14, name->text, name->n_bytes, chart_colour_of_number(n));
    }
    svg_close(out);
    return true;
}
