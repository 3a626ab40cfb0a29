// SPDX-License-Identifier: Apache-2.0
/* screen.h: headings, wrapped text and facts, for the answers that fill one screen. */
#ifndef COMMAND_SCREEN_H
#define COMMAND_SCREEN_H

#include "database.h"
#include "sink.h"

typedef struct {
    Sink sink;
    int width;
    bool colour;
} Screen;

enum Colour { PLAIN, BOLD, RED, YELLOW };

bool screen_open(Screen *screen);
/* Writes an empty line and a bold line. Flushes what was written before. */
void screen_heading(Screen *screen, const char *text);
/* Writes a mark such as "- " and a paragraph, wrapped between words. A NULL mark is two spaces. */
void screen_paragraph(Screen *screen, enum Colour colour, const char *mark, const char *text);
/* Writes a line, cut at the edge of the screen. */
void screen_line(Screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a line that can be copied, such as a command, without cutting it. */
void screen_whole_line(Screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A fact of the table kpi. */
typedef struct {
    const char *label, *column, *unit;
} StatValue;
extern const StatValue facts[];
extern const int n_facts;

#endif
