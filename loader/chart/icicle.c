// SPDX-License-Identifier: Apache-2.0
/* icicle.c: draws a tree from left to right, where width is time; see chart.h. Each node has its
 * place as fractions in data-a and data-b, which a page's script uses to zoom. */
#include "svg.h"

#include "../base/list.h"
#include "../base/sort.h"

#include <math.h>

enum { DEPTH, NAME, TIME, CATEGORY, N_COLUMNS };
enum { ROW = 22, MAX_DEPTH = 12 };

typedef struct {
    double time, from, to; /* from, to: fractions of the width */
    size_t row, end;       /* end: the row after its subtree */
} Node;
typedef LIST(Node) Nodes;

static int depth_of(const ChartData *d, size_t row)
{
    double depth = chart_cell(d, row, DEPTH)->number;
    return depth >= 1 && depth <= MAX_DEPTH ? (int)depth : 0;
}

static double time_of(const ChartData *d, size_t row)
{
    double time = chart_cell(d, row, TIME)->number;
    return time > 0 ? time : 0;
}

static int by_time(const void *a, const void *b)
{
    const Node *x = a, *y = b;
    if (x->time != y->time) return ORDER(y->time, x->time);
    return ORDER(x->row, y->row);
}

/* Appends the nodes at `depth` between two rows, sorted by time. Returns the sum of their times. */
static double children(const ChartData *d, size_t row, size_t end, int depth, Nodes *nodes)
{
    size_t first = nodes->n;
    double sum = 0;
    for (size_t i = row; i < end; i++) {
        if (depth_of(d, i) != depth) continue;
        Node *node = PUSH(*nodes);
        if (!node) return -1;
        *node = (Node){.time = time_of(d, i), .row = i, .end = i + 1};
        while (node->end < end && depth_of(d, node->end) != depth) node->end++;
        sum += node->time;
    }
    if (nodes->n > first)
        sort_array(nodes->items + first, nodes->n - first, sizeof *nodes->items, by_time);
    return sum;
}

static void draw(const ChartData *d, const Node *node, double whole, int depth, TextBuffer *out)
{
    char room[SVG_ROOM];
    const ChartCell *name = chart_cell(d, node->row, NAME);
    const ChartCell *category = chart_cell(d, node->row, CATEGORY);
    const ChartCell *colour = category->text ? category : name;
    double x = SVG_WIDTH * node->from, width = SVG_WIDTH * (node->to - node->from);
    double y = (depth - 1) * ROW;
    text_add_format(out, "<g class=\"node\" tabindex=\"-1\" data-a=\"%.6f\" data-b=\"%.6f\">",
                    node->from, node->to);
    text_add_format(
        out, "<rect class=\"cell %s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">",
        colour->text ? chart_colour(colour->text, colour->n_bytes) : "c0", x, y, width, ROW);
    text_add(out, "<title>");
    if (name->text) svg_escape(out, name->text, name->n_bytes);
    text_add_format(out, "\n%s", svg_time(room, node->time));
    print_real(room, sizeof room, "%.1f", whole > 0 ? 100 * node->time / whole : 0);
    text_add_format(out, ", %s %%</title></rect>", room);
    if (name->text) {
        text_add_format(out, "<text class=\"on\" x=\"%.1f\" y=\"%.1f\">", x + 4, y + 15);
        svg_escape_within(out, name->text, name->n_bytes, width - 8);
        text_add(out, "</text>");
    }
    text_add(out, "</g>\n");
}

static void subtree(const ChartData *d, size_t row, size_t end, int depth, double from, double to,
                    double parent, double whole, TextBuffer *out)
{
    Nodes nodes = {0};
    double sum = children(d, row, end, depth, &nodes);
    out->no_memory |= sum < 0;
    double scale = fmax(sum, parent) > 0 ? (to - from) / fmax(sum, parent) : 0;
    for (size_t i = 0; i < nodes.n && sum >= 0; i++) {
        Node *node = &nodes.items[i];
        node->from = from, node->to = from += node->time * scale;
        if ((node->to - node->from) * SVG_WIDTH < .3) break;
        draw(d, node, whole, depth, out);
        if (depth < MAX_DEPTH)
            subtree(d, node->row + 1, node->end, depth + 1, node->from, node->to, node->time, whole,
                    out);
    }
    prof_free(nodes.items);
}

bool chart_icicle(const ChartData *d, const ChartOptions *options, TextBuffer *out)
{
    int deepest = 0;
    double whole = 0;
    if (d->n_columns != N_COLUMNS) return false;
    for (size_t i = 0; i < d->n_rows; i++) {
        int depth = depth_of(d, i);
        if (time_of(d, i) > 0 && depth > deepest) deepest = depth;
        if (depth == 1) whole += time_of(d, i);
    }
    if (!(whole > 0)) return false;
    svg_open(out, options, "icicle", deepest * ROW);
    subtree(d, 0, d->n_rows, 1, 0, 1, whole, whole, out);
    svg_close(out);
    return true;
}
