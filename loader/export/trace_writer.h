// SPDX-License-Identifier: Apache-2.0
/* trace_writer.h: the interface of a format of trace files: tracks, slices and counters.
 *
 * A trace is written in parts, which several threads format at the same time (trace_parts.h). Each
 * part has a TraceWriter of its own and can be read after those before it: what it refers to, it
 * has itself. Slices of a track nest: an inner one starts after and ends before the slice around
 * it, and is ended first. Memory is bounded: bytes go to TraceOut, and formats limit the texts that
 * they remember. */
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
enum { TRACE_OUT_BYTES = 4 << 20 };

void trace_out_flush(TraceOut *out);
void trace_out_add(TraceOut *out, const void *bytes, size_t n_bytes);
static inline void trace_out_char(TraceOut *out, char c)
{
    if (out->n == TRACE_OUT_BYTES) trace_out_flush(out);
    out->bytes[out->n++] = c;
}
/* Returns room for n bytes, at most TRACE_OUT_BYTES; the caller adds what it wrote to out->n. */
static inline void *trace_out_room(TraceOut *out, size_t n)
{
    if (TRACE_OUT_BYTES - out->n < n) trace_out_flush(out);
    return out->bytes + out->n;
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
    TraceTime start;
    int64_t duration_ps;        /* at least 0 */
    uint64_t flow_in, flow_out; /* 0: none */
    const ViewerEvent *event;   /* name and arguments */
} TraceSlice;

typedef struct TraceWriter TraceWriter;
typedef struct {
    /* Starts a part. False if memory runs out. */
    bool (*open)(TraceWriter *w);
    /* Writes the start of the file. unix_ns: time of the trace's start; -1 if unknown */
    void (*start)(TraceWriter *w, int64_t unix_ns);
    void (*track)(TraceWriter *w, const TraceTrack *track);
    void (*slice)(TraceWriter *w, const TraceSlice *slice);
    void (*end)(TraceWriter *w, const TraceTrack *track, TraceTime at);
    void (*counter)(TraceWriter *w, const TraceTrack *track, TraceTime at, const Stat *value);
    void (*finish)(TraceWriter *w); /* writes the end of the file, if there is one */
    void (*close)(TraceWriter *w);  /* frees the state */
} TraceFormat;

struct TraceWriter {
    const TraceFormat *format;
    TraceOut out;
    size_t part;    /* number of the part, from 0 */
    void *state;    /* the format's own */
    bool no_memory; /* memory ran out: the file is incomplete */
};

extern const TraceFormat perfetto_format, chrome_format;

#endif
