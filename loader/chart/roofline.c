// SPDX-License-Identifier: Apache-2.0
/* roofline.c: draws rates of ops over their intensity, both logarithmic, below the device's roofs;
 * see chart.h. */
#include "svg.h"

#include <math.h>

enum { KIND, NAME, CATEGORY, X, Y, WEIGHT, N_COLUMNS };
enum { LEFT = 84, RIGHT = 16, TOP = 34, HEIGHT = 330, BOTTOM = 44 };
enum { RIGHT_END = SVG_WIDTH - RIGHT, BELOW = TOP + HEIGHT };

/* The axes, in decades. */
typedef struct {
    double x1, x2, y1, y2, heaviest;
} Frame;

static double at_x(const Frame *f, double x)
{
    return LEFT + (RIGHT_END - LEFT) * (log10(x) - f->x1) / (f->x2 - f->x1);
}
static double at_y(const Frame *f, double y)
{
    return BELOW - HEIGHT * (log10(y) - f->y1) / (f->y2 - f->y1);
}

static bool is_kind(const ChartData *d, size_t row, const char *kind)
{
    const ChartCell *cell = chart_cell(d, row, KIND);
    return cell->text && !strcmp(cell->text, kind);
}

/* Decades around an op, for its circle. */
static const double MARGIN = .35;

/* Computes axes that include all ops, the ridge of each roof, and its top. */
static bool frame_of(const ChartData *d, Frame *f)
{
    bool any = false;
    *f = (Frame){0, 0, INFINITY, -INFINITY, 0};
    f->x1 = INFINITY, f->x2 = -INFINITY;
    for (size_t i = 0; i < d->n_rows; i++) {
        bool roof = is_kind(d, i, "roof");
        if (!roof && !is_kind(d, i, "op")) continue;
        double x = chart_cell(d, i, X)->number, y = chart_cell(d, i, Y)->number;
        if (roof) x = y / x;
        any |= !roof;
        double beside = roof ? 1 : MARGIN, above = roof ? .1 : MARGIN;
        f->x1 = fmin(f->x1, floor(log10(x) - beside));
        f->x2 = fmax(f->x2, ceil(log10(x) + beside));
        f->y1 = fmin(f->y1, floor(log10(y) - (roof ? 0 : MARGIN)));
        f->y2 = fmax(f->y2, ceil(log10(y) + above));
        if (!roof) f->heaviest = fmax(f->heaviest, chart_cell(d, i, WEIGHT)->number);
    }
    if (f->x2 <= f->x1) f->x2 = f->x1 + 1;
    if (f->y2 <= f->y1) f->y2 = f->y1 + 1;
    return any;
}

static void axes(const Frame *f, TextBuffer *out)
{
    char room[SVG_ROOM];
    for (double e = f->x1; e <= f->x2; e++) {
        double x = LEFT + (RIGHT_END - LEFT) * (e - f->x1) / (f->x2 - f->x1);
        svg_line(out, "rule", x, TOP, x, BELOW);
        if (fabs(e) <= 3)
            print_real(room, sizeof room, "%g", pow(10, e)),
                svg_text(out, "mid", x, BELOW + 16, room);
        else
            text_add_format(out,
                            "<text class=\"mid\" x=\"%.1f\" y=\"%d\">10<tspan dy=\"-4\" "
                            "font-size=\"8\">%.0f</tspan></text>\n",
                            x, BELOW + 16, e);
    }
    for (double e = f->y1; e <= f->y2; e++) {
        double y = BELOW - HEIGHT * (e - f->y1) / (f->y2 - f->y1);
        svg_line(out, "rule", LEFT, y, RIGHT_END, y);
        svg_text(out, "end", LEFT - 8, y + 4, svg_rate_tick(room, pow(10, e)));
    }
    svg_text(out, "mid", (double)(LEFT + RIGHT_END) / 2, BELOW + 36, "FLOP per byte of memory");
}

static void roof(const ChartData *d, size_t row, const Frame *f, TextBuffer *out)
{
    char room[SVG_ROOM];
    double bandwidth = chart_cell(d, row, X)->number, peak = chart_cell(d, row, Y)->number;
    double ridge = peak / bandwidth, left = fmax(pow(10, f->x1), pow(10, f->y1) / bandwidth);
    const ChartCell *name = chart_cell(d, row, NAME);
    text_add_format(out, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fL%d %.1f\"><title>",
                    at_x(f, left), at_y(f, left * bandwidth), at_x(f, ridge), at_y(f, peak),
                    RIGHT_END, at_y(f, peak));
    if (name->text) svg_escape(out, name->text, name->n_bytes);
    text_add_format(out, ": at most %s", svg_rate(room, peak));
    text_add_format(out, ", %s/s</title></path>\n", svg_bytes(room, bandwidth));
    text_add_format(out, "<text class=\"end strong\" x=\"%d\" y=\"%.1f\">", RIGHT_END - 4,
                    at_y(f, peak) - 6);
    if (name->text) svg_escape(out, name->text, name->n_bytes);
    text_add_format(out, " %s</text>\n", svg_rate(room, peak));
}

static const char *colour_of(const ChartData *d, size_t row)
{
    const ChartCell *category = chart_cell(d, row, CATEGORY);
    return category->text ? chart_colour(category->text, category->n_bytes) : "c0";
}

static void point(const ChartData *d, size_t row, const Frame *f, TextBuffer *out)
{
    char room[SVG_ROOM];
    const ChartCell *name = chart_cell(d, row, NAME), *category = chart_cell(d, row, CATEGORY);
    double x = chart_cell(d, row, X)->number, y = chart_cell(d, row, Y)->number;
    double weight = fmax(chart_cell(d, row, WEIGHT)->number, 0);
    double radius = 3 + 11 * sqrt(f->heaviest > 0 ? weight / f->heaviest : 0);
    text_add_format(out, "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
                    colour_of(d, row), at_x(f, x), at_y(f, y), radius);
    if (name->text) svg_escape(out, name->text, name->n_bytes);
    if (category->text) {
        text_add(out, "\n");
        svg_escape(out, category->text, category->n_bytes);
    }
    text_add_format(out, "\n%s", svg_rate(room, y));
    print_real(room, sizeof room, "%.3g", x);
    text_add_format(out, ", %s FLOP/byte", room);
    text_add_format(out, ", %s</title></circle>\n", svg_time(room, weight));
}

static bool same_colour(const ChartData *d, size_t a, size_t b)
{
    return !strcmp(colour_of(d, a), colour_of(d, b));
}
static bool same_category(const ChartData *d, size_t a, size_t b)
{
    return !strcmp(chart_cell(d, a, CATEGORY)->text, chart_cell(d, b, CATEGORY)->text);
}
static bool has_category(const ChartData *d, size_t row)
{
    return is_kind(d, row, "op") && chart_cell(d, row, CATEGORY)->text;
}

/* Returns whether an op with a category is the first that is `same`. */
static bool is_first(const ChartData *d, size_t row,
                     bool (*same)(const ChartData *, size_t, size_t))
{
    if (!has_category(d, row)) return false;
    for (size_t i = 0; i < row; i++)
        if (has_category(d, i) && same(d, i, row)) return false;
    return true;
}

/* Writes an entry for each colour, with the names of its categories. */
static void legend(const ChartData *d, TextBuffer *out)
{
    double x = LEFT, y = 14;
    for (size_t i = 0; i < d->n_rows; i++) {
        TextBuffer names = {0};
        if (!is_first(d, i, same_colour)) continue;
        for (size_t k = i; k < d->n_rows; k++) {
            const ChartCell *name = chart_cell(d, k, CATEGORY);
            if (!is_first(d, k, same_category) || !same_colour(d, i, k)) continue;
            if (names.n_bytes) text_add(&names, ", ");
            text_add_bytes(&names, name->text, name->n_bytes);
        }
        if (x > 640 && y < TOP - 14) x = LEFT, y += 14;
        if (names.text) x = svg_legend(out, x, y, names.text, names.n_bytes, colour_of(d, i));
        out->no_memory |= names.no_memory;
        text_free(&names);
    }
}

bool chart_roofline(const ChartData *d, const ChartOptions *options, TextBuffer *out)
{
    Frame f;
    if (d->n_columns != N_COLUMNS || !frame_of(d, &f)) return false;
    svg_open(out, options, "roofline", BELOW + BOTTOM);
    legend(d, out);
    axes(&f, out);
    for (size_t i = 0; i < d->n_rows; i++)
        if (is_kind(d, i, "roof")) roof(d, i, &f, out);
    for (size_t i = 0; i < d->n_rows; i++)
        if (is_kind(d, i, "op")) point(d, i, &f, out);
    svg_close(out);
    return true;
}
