// SPDX-License-Identifier: Apache-2.0
/* screen.c: writes an answer that fills one screen; see screen.h. */
#define _GNU_SOURCE
#include "screen.h"

#include "text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_WIDTH = 80, WIDEST_TEXT = 100 };

bool screen_open(Screen *screen)
{
    if (!sink_open(&screen->sink, NULL)) return false;
    screen->width = sink_width(&screen->sink);
    screen->colour = sink_has_colour(&screen->sink);
    if (!screen->width) screen->width = USUAL_WIDTH;
    return true;
}

static void coloured(Screen *screen, enum Colour colour, const char *text)
{
    static const char *const codes[] = {"", "\033[1m", "\033[31m", "\033[33m"};
    bool on = screen->colour && colour != PLAIN;
    fprintf(screen->sink.file, "%s%s%s", on ? codes[colour] : "", text, on ? "\033[0m" : "");
}

void screen_heading(Screen *screen, const char *text)
{
    fputc('\n', screen->sink.file);
    coloured(screen, BOLD, text);
    fputc('\n', screen->sink.file);
    fflush(screen->sink.file);
}

void screen_paragraph(Screen *screen, enum Colour colour, const char *mark, const char *text)
{
    FILE *out = screen->sink.file;
    char *clean = text_clean(text, strlen(text), false);
    int width = screen->width < WIDEST_TEXT ? screen->width : WIDEST_TEXT, at = 2;
    coloured(screen, colour, mark ? mark : "  ");
    for (char *rest = clean, *word; (word = strsep(&rest, " "));) {
        int n = text_width(word);
        if (at > 2 && at + 1 + n > width) {
            fputs("\n  ", out);
            at = 2;
        }
        fprintf(out, "%s%s", at > 2 ? " " : "", word);
        at += n + (at > 2);
    }
    fputc('\n', out);
    free(clean);
}

static void write_line(Screen *screen, int width, const char *format, va_list ap)
{
    char *text = NULL;
    int n = vasprintf(&text, format, ap);
    if (n < 0) return;
    char *clean = text_clean(text, (size_t)n, false), *start = text_start(clean, width);
    fprintf(screen->sink.file, "%s\n", start);
    free(start);
    free(clean);
    free(text);
}

void screen_line(Screen *screen, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    write_line(screen, screen->width, format, ap);
    va_end(ap);
}

void screen_whole_line(Screen *screen, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    write_line(screen, INT_MAX, format, ap);
    va_end(ap);
}

const StatValue facts[] = {
    {"step time", "step_time_ms", "ms"},
    {"waiting for input", "input_percent", "% of step time"},
    {"launching kernels", "kernel_launch_percent", "% of step time"},
    {"devices working", "step_device_percent", "% of step time"},
    {"devices busy", "device_busy_percent", "% of the run"},
    {"computing", "compute_percent", "% of the run"},
    {"collectives", "collectives_percent", "% of the run"},
    {"not hidden", "exposed_communication_percent", "% of the run"},
    {"duty cycle", "duty_cycle_percent", "%"},
    {"peak FLOPs used", "flops_utilization_percent", "%"},
    {"peak memory", "peak_memory_mib", "MiB"},
};
const int n_facts = (int)COUNT(facts);
