// SPDX-License-Identifier: Apache-2.0
/* svg.h: pieces of SVG that the charts share: the frame, texts, axes, a legend. */
#ifndef PROF_SVG_H
#define PROF_SVG_H

#include "chart.h"

enum { SVG_WIDTH = 960, SVG_ROOM = 32 };

void svg_open(TextBuffer *out, const ChartOptions *options, const char *kind, double height);
void svg_close(TextBuffer *out);

/* Appends a text for the content of an element or of an attribute in double quotes. Characters that
 * XML does not allow become spaces. */
void svg_escape(TextBuffer *out, const char *text, size_t n_bytes);
/* The same, cut to a width in pixels (for text of 11 pixels), with "..." at its end. Nothing if not
 * even three characters fit. */
void svg_escape_within(TextBuffer *out, const char *text, size_t n_bytes, double width);
/* Returns the approximate width of a text of 11 pixels. */
double svg_text_width(size_t n_characters);

void svg_rect(TextBuffer *out, const char *classes, double x, double y, double width,
              double height); /* open: svg_end() or a <title> follows */
void svg_text(TextBuffer *out, const char *classes, double x, double y, const char *text);
void svg_line(TextBuffer *out, const char *classes, double x1, double y1, double x2, double y2);

/* Return a number with a unit and three or four digits: "12.3 ms", "1.50 GiB". */
const char *svg_time(char room[SVG_ROOM], double us);
const char *svg_bytes(char room[SVG_ROOM], double bytes);
const char *svg_rate(char room[SVG_ROOM], double flops);

/* The same without trailing zeros, for axes. */
const char *svg_time_tick(char room[SVG_ROOM], double us);
const char *svg_bytes_tick(char room[SVG_ROOM], double bytes);
const char *svg_rate_tick(char room[SVG_ROOM], double flops);

/* Returns a round number of at least `most`, and the distance between about four ticks. */
double svg_axis_end(double most, double *tick);
/* The same for bytes: the distance is a power of 2. */
double svg_axis_end_bytes(double most, double *tick);

/* Draws coloured squares with names from x on, at y. Returns where the last one ends. */
double svg_legend(TextBuffer *out, double x, double y, const char *name, size_t n_bytes,
                  const char *colour);

#endif
