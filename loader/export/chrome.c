// SPDX-License-Identifier: Apache-2.0
/* chrome.c: writes a trace as Chrome's trace-event JSON. A slice is a complete event (X) with times
 * in microseconds, exact to the picosecond; a flow is a pair of events (s, f); a counter value is
 * an event (C). Integers that a double cannot represent are written as texts, and so are numbers
 * that JSON does not have. */
#include "trace_writer.h"

#include "../base/text_buffer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void add(TraceWriter *w, const char *text) { trace_out_add(&w->out, text, strlen(text)); }

static void add_format(TraceWriter *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_format(TraceWriter *w, const char *format, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    add(w, text);
}

/* ---- values ---- */

static void add_valid_text(TraceWriter *w, const char *text, size_t n)
{
    size_t from = 0;
    trace_out_char(&w->out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        char escape[8] = {'\\', (char)c, 0};
        if (c < 0x20) snprintf(escape, sizeof escape, "\\u%04x", c);
        trace_out_add(&w->out, text + from, i - from);
        add(w, escape);
        from = i + 1;
    }
    trace_out_add(&w->out, text + from, n - from);
    trace_out_char(&w->out, '"');
}

/* Replaces invalid UTF-8, as in the tables. */
static void add_text(TraceWriter *w, const char *text, size_t n)
{
    char *fixed = NULL;
    if (!utf8_valid((const uint8_t *)text, n)) {
        if (!(fixed = prof_buffer(3 * n))) {
            w->no_memory = true;
            return;
        }
        n = utf8_repair((const uint8_t *)text, n, fixed);
    }
    add_valid_text(w, fixed ? fixed : text, n);
    prof_free(fixed);
}

static char *put_digits(char *end, uint64_t value, int least)
{
    for (; value || least > 0; value /= 10, least--) *--end = (char)('0' + value % 10);
    return end;
}

/* Writes nanoseconds and picoseconds as microseconds, without trailing zeros. */
static void add_us(TraceWriter *w, uint64_t ns, uint32_t ps)
{
    char room[32], *end = room + sizeof room;
    uint32_t below = (uint32_t)(ns % 1000) * 1000 + ps;
    if (below) {
        int n_digits = 6;
        for (; !(below % 10); below /= 10) n_digits--;
        end = put_digits(end, below, n_digits);
        *--end = '.';
    }
    end = put_digits(end, ns / 1000, 1);
    trace_out_add(&w->out, end, (size_t)(room + sizeof room - end));
}

static void add_time(TraceWriter *w, TraceTime at) { add_us(w, (uint64_t)at.ns, (uint32_t)at.ps); }

static void add_integer(TraceWriter *w, int64_t value)
{
    char room[32], *end = room + sizeof room;
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    end = put_digits(end, size, 1);
    if (value < 0) *--end = '-';
    trace_out_add(&w->out, end, (size_t)(room + sizeof room - end));
}

/* Writes a finite number so that readers see it as a real number. */
static void add_real(TraceWriter *w, double value)
{
    char room[VIEWER_ROOM];
    print_real(room, sizeof room, "%.17g", value);
    add(w, room);
    if (!strpbrk(room, ".e")) add(w, ".0");
}

static void add_value(TraceWriter *w, const Plane *plane, const Stat *value)
{
    enum { EXACT_BITS = 53 };
    const int64_t exact = (int64_t)1 << EXACT_BITS;
    char room[VIEWER_ROOM];
    size_t n;
    if (value->type == TYPE_INT64 && value->integer >= -exact && value->integer <= exact) {
        add_integer(w, value->integer);
    } else if (value->type == TYPE_UINT64 && value->u64 <= (uint64_t)exact) {
        add_integer(w, value->integer);
    } else if (value->type == TYPE_DOUBLE && isfinite(value->number)) {
        add_real(w, value->number);
    } else {
        const char *text = viewer_value(plane, value, room, &n);
        add_text(w, text, n);
    }
}

/* ---- the functions of the format ---- */

/* Separates rows. Part 0 has at least one, if the file has any. */
static void next(TraceWriter *w)
{
    bool *written = w->state;
    add(w, *written ? ",\n" : "\n");
    *written = true;
}

static bool chrome_open(TraceWriter *w)
{
    bool *written = w->state = prof_alloc(sizeof(bool));
    if (written) *written = w->part > 0;
    return written != NULL;
}

static void chrome_start(TraceWriter *w, int64_t unix_ns)
{
    add(w, "{\"displayTimeUnit\":\"ns\",");
    if (unix_ns >= 0) add_format(w, "\"otherData\":{\"start_unix_ns\":\"%" PRId64 "\"},", unix_ns);
    add(w, "\"traceEvents\":[");
}

static void add_metadata(TraceWriter *w, const TraceTrack *track, const char *what)
{
    next(w);
    add_format(w, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,", what, track->process);
    if (track->kind != TRACK_PROCESS) add_format(w, "\"tid\":%u,", track->id);
    add(w, "\"args\":{");
}

static void chrome_track(TraceWriter *w, const TraceTrack *track)
{
    bool process = track->kind == TRACK_PROCESS;
    if (track->kind == TRACK_COUNTER) return; /* its events have its name */
    add_metadata(w, track, process ? "process_name" : "thread_name");
    add(w, "\"name\":");
    add_text(w, track->name, track->n_name);
    add(w, "}}");
    add_metadata(w, track, process ? "process_sort_index" : "thread_sort_index");
    add_format(w, "\"sort_index\":%u}}", track->rank);
}

static void add_place(TraceWriter *w, const TraceTrack *track, TraceTime at)
{
    add(w, "\"pid\":");
    add_integer(w, track->process);
    if (track->kind != TRACK_COUNTER) add(w, ",\"tid\":"), add_integer(w, track->id);
    add(w, ",\"ts\":");
    add_time(w, at);
}

static void add_flow(TraceWriter *w, const TraceSlice *slice, const char *phase, uint64_t id)
{
    next(w);
    add_format(w, "{\"ph\":\"%s\",\"cat\":\"flow\",\"name\":\"flow\",\"id\":\"0x%" PRIx64 "\",",
               phase, id);
    if (*phase == 'f') add(w, "\"bp\":\"e\",");
    add_place(w, slice->track, slice->start);
    add(w, "}");
}

static void chrome_slice(TraceWriter *w, const TraceSlice *slice)
{
    const ViewerEvent *e = slice->event;
    next(w);
    add(w, "{\"ph\":\"X\",");
    add_place(w, slice->track, slice->start);
    add(w, ",\"dur\":");
    add_us(w, (uint64_t)slice->duration_ps / 1000, (uint32_t)(slice->duration_ps % 1000));
    add(w, ",\"name\":");
    add_text(w, e->name, e->n_name);
    if (e->args.n) add(w, ",\"args\":{");
    for (size_t i = 0; i < e->args.n; i++) {
        if (i) add(w, ",");
        add_text(w, e->args.items[i].name, e->args.items[i].n_name);
        add(w, ":");
        add_value(w, e->plane, &e->args.items[i].value);
    }
    add(w, e->args.n ? "}}" : "}");
    if (slice->flow_out) add_flow(w, slice, "s", slice->flow_out);
    if (slice->flow_in) add_flow(w, slice, "f", slice->flow_in);
}

static void chrome_end(TraceWriter *w, const TraceTrack *track, TraceTime at)
{
    (void)w, (void)track, (void)at;
}

static void chrome_counter(TraceWriter *w, const TraceTrack *track, TraceTime at, const Stat *value)
{
    next(w);
    add(w, "{\"ph\":\"C\",");
    add_place(w, track, at);
    add(w, ",\"name\":");
    add_text(w, track->name, track->n_name);
    add(w, ",\"args\":{\"value\":");
    if (value->type == TYPE_DOUBLE) {
        add_real(w, value->number);
    } else if (value->type == TYPE_UINT64) {
        add_format(w, "%" PRIu64, value->u64);
    } else {
        add_integer(w, value->integer);
    }
    add(w, "}}");
}

static void chrome_finish(TraceWriter *w) { add(w, "\n]}\n"); }

static void chrome_close(TraceWriter *w)
{
    prof_free(w->state);
    w->state = NULL;
}

const TraceFormat chrome_format = {.open = chrome_open,
                                   .start = chrome_start,
                                   .track = chrome_track,
                                   .slice = chrome_slice,
                                   .end = chrome_end,
                                   .counter = chrome_counter,
                                   .finish = chrome_finish,
                                   .close = chrome_close};
