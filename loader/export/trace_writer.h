// SPDX-License-Identifier: Apache-2.0
/* trace_writer.h: the interface of a format of trace files: tracks, slices and counters.
 *
 * trace_export.c calls the functions of a TraceFormat. Slices of a track nest: an inner one starts
 * after and ends before the slice around it, and is ended first. Memory is bounded: bytes go to
 * TraceOut, and formats limit the texts that they remember. */
#ifndef PROF_TRACE_WRITER_H
#define PROF_TRACE_WRITER_H

#include "../analysis/viewer/trace_viewer.h"

/* Where the bytes go. `write` returns false if they cannot be written. */
typedef struct {
    bool (*write)(void *context, const void *bytes, size_t n_bytes);
    void *context;
    char *bytes; /* not yet written */
    size_t n;
    uint64_t n_written;
    bool failed; /* `write` failed; nothing more is written */
} TraceOut;
enum { TRACE_OUT_BYTES = 1 << 20 };

void trace_out_flush(TraceOut *out);
void trace_out_add(TraceOut *out, const void *bytes, size_t n_bytes);
static inline void trace_out_char(TraceOut *out, char c)
{
    if (out->n == TRACE_OUT_BYTES) trace_out_flush(out);
    out->bytes[out->n++] = c;
}

/* A time in the trace: picoseconds since its start, in two parts. */
typedef struct {
    int64_t ns;
    int32_t ps; /* 0 to 999 */
} TraceTime;

enum TrackKind { TRACK_PROCESS, TRACK_LINE, TRACK_LANE, TRACK_COUNTER };

/* A row of the trace. Ids are unique in the trace and above 0. */
typedef struct {
    uint32_t id, process; /* process: id of the plane's track; for TRACK_PROCESS, its own */
    uint32_t line;        /* TRACK_LANE: the line whose overlapping events it shows */
    uint32_t rank;        /* order among the rows of its process, or among processes */
    enum TrackKind kind;
    const char *name; /* valid UTF-8 */
    size_t n_name;
} TraceTrack;

typedef struct {
    const TraceTrack *track;
    TraceTime start, end;
    int64_t duration_ps;        /* of the event, at least 0 */
    uint64_t flow_in, flow_out; /* 0: none */
    const ViewerEvent *event;   /* name and arguments */
} TraceSlice;

typedef struct TraceWriter TraceWriter;
typedef struct {
    /* unix_ns: time of the trace's start; -1 if unknown */
    bool (*open)(TraceWriter *w, int64_t unix_ns);
    void (*track)(TraceWriter *w, const TraceTrack *track);
    void (*slice)(TraceWriter *w, const TraceSlice *slice);
    void (*end)(TraceWriter *w, const TraceTrack *track, TraceTime at);
    void (*counter)(TraceWriter *w, const TraceTrack *track, TraceTime at, const Stat *value);
    /* writes the end of the file, if there is one, and frees the state */
    void (*close)(TraceWriter *w);
} TraceFormat;

struct TraceWriter {
    const TraceFormat *format;
    TraceOut out;
    void *state;    /* the format's own */
    bool no_memory; /* memory ran out: the file is incomplete */
};

extern const TraceFormat perfetto_format, chrome_format;

#endif
