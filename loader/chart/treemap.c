// SPDX-License-Identifier: Apache-2.0
/* treemap.c: draws rectangles whose areas are times, nearly squares (Bruls, Huizing, van Wijk); see
 * chart.h. Groups are laid out first, then the ops in each group. */
#include "svg.h"

#include "../base/list.h"
#include "../base/sort.h"

#include <math.h>
#include <stdio.h>

enum { GROUP, NAME, TIME, N_COLUMNS };
enum { HEIGHT = 420, HEAD = 17 };

typedef struct {
    double x, y, width, height;
} Box;
typedef struct {
    double time;
    size_t row; /* its own row, or the first of a group */
    Box box;
} Item;
typedef LIST(Item) Items;

static int by_time(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    if (x->time != y->time) return ORDER(y->time, x->time);
    return ORDER(x->row, y->row);
}

static double time_of(const ChartData *d, size_t row)
{
    double time = chart_cell(d, row, TIME)->number;
    return time > 0 ? time : 0;
}

static bool same_group(const ChartData *d, size_t a, size_t b)
{
    const char *x = chart_cell(d, a, GROUP)->text, *y = chart_cell(d, b, GROUP)->text;
    return x && y ? !strcmp(x, y) : x == y;
}

/* Returns the worst aspect ratio in a row of items with this side length. */
static double worst(const Item *items, size_t n, double sum, double side, double scale)
{
    double most = items[0].time * scale, least = items[n - 1].time * scale, area = sum * scale;
    return fmax(side * side * most / (area * area), area * area / (side * side * least));
}

/* Lays sorted items out in a box, row by row along the shorter side. */
static void lay_out(Item *items, size_t n, Box box)
{
    double rest = 0;
    for (size_t i = 0; i < n; i++) rest += items[i].time;
    for (size_t i = 0, k; i < n && rest > 0 && box.width > 0 && box.height > 0; i += k) {
        double side = fmin(box.width, box.height), scale = box.width * box.height / rest;
        double sum = items[i].time;
        for (k = 1; i + k < n; k++) {
            double with = sum + items[i + k].time;
            if (worst(items + i, k + 1, with, side, scale) > worst(items + i, k, sum, side, scale))
                break;
            sum = with;
        }
        double thick = sum * scale / side, at = 0;
        bool upright = box.width >= box.height;
        for (size_t j = i; j < i + k; j++) {
            double length = side * items[j].time / sum;
            items[j].box = upright ? (Box){box.x, box.y + at, thick, length}
                                   : (Box){box.x + at, box.y, length, thick};
            at += length;
        }
        if (upright)
            box.x += thick, box.width -= thick;
        else
            box.y += thick, box.height -= thick;
        rest -= sum;
    }
}

static void draw(const ChartData *d, const Item *item, const char *colour, TextBuffer *out)
{
    char room[SVG_ROOM], classes[SVG_ROOM];
    const ChartCell *name = chart_cell(d, item->row, NAME);
    const Box *b = &item->box;
    if (b->width < .6 || b->height < .6) return;
    snprintf(classes, sizeof classes, "cell %s", colour);
    svg_rect(out, classes, b->x, b->y, b->width, b->height);
    text_add(out, "<title>");
    if (name->text) svg_escape(out, name->text, name->n_bytes);
    text_add_format(out, ": %s</title></rect>", svg_time(room, item->time));
    if (name->text && b->height > 16 && b->width > 30) {
        text_add_format(out, "<text class=\"on\" x=\"%.1f\" y=\"%.1f\">", b->x + 4, b->y + 13);
        svg_escape_within(out, name->text, name->n_bytes, b->width - 8);
        text_add(out, "</text>");
    }
    if (b->height > 32 && b->width > 60) svg_text(out, "on", b->x + 4, b->y + 27, room);
    text_add(out, "\n");
}

static void draw_group(const ChartData *d, const Item *group, Items *items, TextBuffer *out)
{
    char room[SVG_ROOM];
    const ChartCell *name = chart_cell(d, group->row, GROUP);
    const char *title = name->text ? name->text : "other";
    const char *colour = chart_colour(title, strlen(title));
    Box box = group->box;
    bool headed = box.height > 3 * HEAD && box.width > 90;
    items->n = 0;
    for (size_t i = group->row; i < d->n_rows; i++) {
        Item *item = same_group(d, i, group->row) && time_of(d, i) > 0 ? PUSH(*items) : NULL;
        if (item) *item = (Item){.time = time_of(d, i), .row = i};
    }
    if (headed) {
        text_add_format(out, "<text class=\"strong\" x=\"%.1f\" y=\"%.1f\">", box.x + 2,
                        box.y + 12);
        size_t n = strlen(title);
        svg_escape_within(out, title, n, box.width - 70);
        text_add_format(out, " <tspan>%s</tspan></text>\n", svg_time(room, group->time));
        box.y += HEAD, box.height -= HEAD;
    }
    sort_array(items->items, items->n, sizeof *items->items, by_time);
    lay_out(items->items, items->n, box);
    for (size_t i = 0; i < items->n; i++) draw(d, &items->items[i], colour, out);
}

bool chart_treemap(const ChartData *d, const ChartOptions *options, TextBuffer *out)
{
    Items groups = {0}, items = {0};
    if (d->n_columns != N_COLUMNS) return false;
    for (size_t i = 0; i < d->n_rows; i++) {
        Item *group = NULL;
        if (!(time_of(d, i) > 0)) continue;
        for (size_t k = 0; k < groups.n && !group; k++)
            if (same_group(d, groups.items[k].row, i)) group = &groups.items[k];
        if (!group && (group = PUSH(groups))) *group = (Item){.row = i};
        if (group) group->time += time_of(d, i);
        out->no_memory |= !group;
    }
    bool any = groups.n > 0;
    if (any) {
        sort_array(groups.items, groups.n, sizeof *groups.items, by_time);
        lay_out(groups.items, groups.n, (Box){0, 0, SVG_WIDTH, HEIGHT});
        svg_open(out, options, "treemap", HEIGHT);
        for (size_t i = 0; i < groups.n; i++) draw_group(d, &groups.items[i], &items, out);
        svg_close(out);
    }
    prof_free(groups.items);
    prof_free(items.items);
    return any;
}
