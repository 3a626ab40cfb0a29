// SPDX-License-Identifier: Apache-2.0
/* svg.c: see svg.h. Also the style and the colours of chart.h. */
#include "svg.h"

#include <math.h>
#include <strings.h>
#include <stdio.h>

/* Fills have a contrast of at least 4.5 to white text on them, and 3 to both backgrounds. */
const char chart_style[] =
    ".chart{--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--alert:#b3261e;"
    "font:11px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums;display:block;width:100%;height:auto}\n"
    "@media(prefers-color-scheme:dark){.chart{--ink:#e6edf3;--soft:#9ea7b3;--rule:#3a424c;"
    "--alert:#ff8b80}}\n"
    "@media print{.chart{--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--alert:#b3261e}}\n"
    ".chart text{fill:var(--soft)}.chart .strong{fill:var(--ink)}.chart .mid{text-anchor:middle}"
    ".chart .end{text-anchor:end}.chart .on{fill:#fff;pointer-events:none}\n"
    ".chart .rule{stroke:var(--rule);stroke-width:1;fill:none}"
    ".chart .axis{stroke:var(--soft);stroke-width:1;fill:none}"
    ".chart .roof{stroke:var(--ink);stroke-width:1.5;fill:none}"
    ".chart .median{stroke:var(--ink);stroke-width:1;stroke-dasharray:4 3;fill:none}"
    ".chart .outlier{fill:var(--alert)}.chart .area{fill-opacity:.22}"
    ".chart .edge{fill:none;stroke-width:1.5}.chart .dot{fill-opacity:.75}"
    ".chart .rest,.chart .dropped{fill-opacity:.45}\n"
    ".chart .c0{fill:#667080;stroke:#667080}.chart .c1{fill:#2c6cb5;stroke:#2c6cb5}"
    ".chart .c2{fill:#b3541e;stroke:#b3541e}.chart .c3{fill:#7a55b3;stroke:#7a55b3}"
    ".chart .c4{fill:#b03a5b;stroke:#b03a5b}.chart .c5{fill:#1b7872;stroke:#1b7872}"
    ".chart .c6{fill:#4d7a2e;stroke:#4d7a2e}.chart .c7{fill:#7d6212;stroke:#7d6212}"
    ".chart .c8{fill:#a13f9f;stroke:#a13f9f}.chart .c9{fill:#5b5bd6;stroke:#5b5bd6}"
    ".chart .c10{fill:#0e7490;stroke:#0e7490}\n"
    ".chart rect{stroke:none}.chart .cell{stroke:Canvas;stroke-width:1}"
    ".chart .edge{fill:none}\n";

const char *chart_colour_of_number(size_t i)
{
    static const char *const colours[] = {"c1", "c5", "c6", "c3", "c7", "c8"};
    return colours[i % COUNT(colours)];
}

const char *chart_colour(const char *category, size_t n_bytes)
{
    /* The first word that the category contains determines the colour. */
    static const struct {
        const char *word, *colour;
    } known[] = {
        {"collective", "c2"}, {"reduce", "c2"},   {"communicat", "c2"},    {"nccl", "c2"},
        {"all-", "c2"},       {"conv", "c5"},     {"output fusion", "c9"}, {"input fusion", "c10"},
        {"fusion", "c1"},     {"comput", "c1"},   {"copy", "c3"},          {"copies", "c3"},
        {"transfer", "c3"},   {"memset", "c3"},   {"formatting", "c3"},    {"infeed", "c4"},
        {"input", "c4"},      {"outfeed", "c7"},  {"output", "c7"},        {"launch", "c5"},
        {"host", "c6"},       {"compil", "c7"},   {"other", "c0"},         {"idle", "c0"},
        {"unknown", "c0"},    {"no scope", "c0"}, {"without an op", "c0"},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        for (size_t k = 0, n = strlen(known[i].word); k + n <= n_bytes; k++)
            if (!strncasecmp(category + k, known[i].word, n)) return known[i].colour;
    return chart_colour_of_number(mix64(hash_bytes((const uint8_t *)category, n_bytes)) >> 32);
}

/* ---- texts ---- */

static const char *entity(unsigned char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return c < 0x20 || c == 0x7f ? " " : NULL;
    }
}

void svg_escape(TextBuffer *out, const char *text, size_t n_bytes)
{
    size_t from = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        const char *instead = entity((unsigned char)text[i]);
        if (!instead) continue;
        text_add_bytes(out, text + from, i - from);
        text_add(out, instead);
        from = i + 1;
    }
    text_add_bytes(out, text + from, n_bytes - from);
}

static bool starts_character(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

double svg_text_width(size_t n_characters) { return 6.3 * (double)n_characters; }

void svg_escape_within(TextBuffer *out, const char *text, size_t n_bytes, double width)
{
    size_t room = width > 0 ? (size_t)(width / svg_text_width(1)) : 0, n = 0, cut = n_bytes;
    for (size_t i = 0; i < n_bytes; i++) {
        n += starts_character(text[i]);
        if (n == room && cut == n_bytes && starts_character(text[i])) cut = i;
    }
    if (room < 3) return;
    if (n <= room) cut = n_bytes;
    svg_escape(out, text, cut);
    if (cut < n_bytes) text_add(out, "\xe2\x80\xa6");
}

/* Turns "10.0 ms" into "10 ms". */
static const char *without_zeros(char *room)
{
    char *point = strchr(room, '.'), *space = strchr(room, ' '), *end = space;
    if (!point || !space) return room;
    while (end[-1] == '0') end--;
    if (end - 1 == point) end--;
    memmove(end, space, strlen(space) + 1);
    return room;
}

static int n_decimals(double value)
{
    if (fabs(value) < 10) return 2;
    return fabs(value) < 100 ? 1 : 0;
}

static const ChartUnit *family_of(const char *unit, size_t *at)
{
    static const ChartUnit families[][8] = {
        {{"ns", 1e-3}, {"\xc2\xb5s", 1}, {"ms", 1e3}, {"s", 1e6}},
        {{"B", 1},
         {"KiB", 0x1p10},
         {"MiB", 0x1p20},
         {"GiB", 0x1p30},
         {"TiB", 0x1p40},
         {"PiB", 0x1p50},
         {"EiB", 0x1p60}},
        {{"B/s", 1}, {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}},
        {{"bytes", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}},
        {{"FLOP/s", 1},
         {"kFLOP/s", 1e3},
         {"MFLOP/s", 1e6},
         {"GFLOP/s", 1e9},
         {"TFLOP/s", 1e12},
         {"PFLOP/s", 1e15},
         {"EFLOP/s", 1e18}},
    };
    for (size_t i = 0; i < COUNT(families); i++)
        for (*at = 0; families[i][*at].name; ++*at)
            if (!strcmp(families[i][*at].name, unit)) return families[i];
    return NULL;
}

ChartUnit chart_unit(const char *unit, double number)
{
    size_t at, i = 0;
    const ChartUnit *units = family_of(unit, &at);
    double size = units ? fabs(number) * units[at].size : 0;
    if (!(size > 0)) return (ChartUnit){unit, 1};
    while (units[i + 1].name && size >= units[i + 1].size) i++;
    return (ChartUnit){units[i].name, units[i].size / units[at].size};
}

static const char *scaled(char room[SVG_ROOM], double number, const char *unit, bool counts)
{
    ChartUnit u = chart_unit(unit, number);
    double value = number / u.size + 0.; /* 0, not -0 */
    bool is_whole = counts && u.size == 1 && value == floor(value);
    print_real(room, SVG_ROOM, "%.*f %s", is_whole ? 0 : n_decimals(value), value, u.name);
    return room;
}

const char *svg_time(char room[SVG_ROOM], double us)
{
    return scaled(room, us, "\xc2\xb5s", false);
}
const char *svg_bytes(char room[SVG_ROOM], double bytes) { return scaled(room, bytes, "B", true); }
const char *svg_rate(char room[SVG_ROOM], double flops)
{
    return scaled(room, flops, "FLOP/s", true);
}

/* ---- elements ---- */

void svg_open(TextBuffer *out, const ChartOptions *options, const char *kind, double height)
{
    text_add_format(out, "<svg class=\"chart %s\" viewBox=\"0 0 %d %.0f\" role=\"img\"", kind,
                    SVG_WIDTH, height);
    if (options->standalone)
        text_add_format(out, " xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\"",
                        SVG_WIDTH, height);
    text_add(out, "><title>");
    svg_escape(out, options->title, strlen(options->title));
    text_add(out, "</title>\n");
    if (options->standalone)
        text_add(out, "<style>"), text_add(out, chart_style), text_add(out, "</style>\n");
}

void svg_close(TextBuffer *out) { text_add(out, "</svg>\n"); }

void svg_rect(TextBuffer *out, const char *classes, double x, double y, double width, double height)
{
    text_add_format(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">",
                    classes, x, y, width > 0 ? width : 0, height > 0 ? height : 0);
}

void svg_text(TextBuffer *out, const char *classes, double x, double y, const char *text)
{
    text_add_format(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", classes, x, y);
    svg_escape(out, text, strlen(text));
    text_add(out, "</text>\n");
}

void svg_line(TextBuffer *out, const char *classes, double x1, double y1, double x2, double y2)
{
    text_add_format(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", classes, x1, y1, x2,
                    y2);
}

double svg_axis_end(double most, double *tick)
{
    if (!(most > 0)) most = 1;
    static const double steps[] = {1, 2, 5, 10};
    double size = pow(10, floor(log10(most / 4)));
    size_t i = 0;
    while (i + 1 < COUNT(steps) && most / 4 / size > steps[i]) i++;
    *tick = size * steps[i];
    return ceil(most / *tick - 1e-9) * *tick;
}

double svg_axis_end_bytes(double most, double *tick)
{
    if (!(most > 0)) most = 1;
    *tick = exp2(ceil(log2(most / 4)));
    if (*tick < 1) *tick = 1;
    return ceil(most / *tick - 1e-9) * *tick;
}

double svg_legend(TextBuffer *out, double x, double y, const char *name, size_t n_bytes,
                  const char *colour)
{
    enum { MOST = 40 };
    size_t n = 0;
    for (size_t i = 0; i < n_bytes; i++) n += starts_character(name[i]);
    if (n > MOST) n = MOST;
    svg_rect(out, colour, x, y - 8, 9, 9);
    text_add_format(out, "</rect><text x=\"%.1f\" y=\"%.1f\">", x + 13, y);
    svg_escape_within(out, name, n_bytes, svg_text_width(MOST));
    text_add(out, "</text>\n");
    return x + 13 + svg_text_width(n) + 16;
}

const char *svg_time_tick(char room[SVG_ROOM], double us)
{
    svg_time(room, us);
    return without_zeros(room);
}

const char *svg_bytes_tick(char room[SVG_ROOM], double bytes)
{
    svg_bytes(room, bytes);
    return without_zeros(room);
}

const char *svg_rate_tick(char room[SVG_ROOM], double flops)
{
    svg_rate(room, flops);
    return without_zeros(room);
}
