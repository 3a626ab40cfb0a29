// SPDX-License-Identifier: Apache-2.0
/* trace_export.h: the events of a run as a file for a trace viewer.
 *
 * The file has the events of the table `timeline`: those of the files that XProf's trace viewer
 * shows, merged steps, regions, and derived lines. A process is a plane, in order of plane_id; its
 * rows are the plane's lines. Events of a line that overlap without nesting are on additional rows
 * of the same name. */
#ifndef PROF_TRACE_EXPORT_H
#define PROF_TRACE_EXPORT_H

#include "trace_writer.h"

typedef struct {
    const TraceFormat *format;
    const Host *only; /* NULL: all hosts */
    /* only events that run in this period of their host's session, both ends included */
    int64_t from_ps, to_ps;
    /* Returns whether a line is wanted, by the name of its plane and its own. NULL: all are. */
    bool (*wants_line)(void *context, const char *plane, const char *line);
    /* Called from several threads, never by two at a time. */
    bool (*write)(void *context, const void *bytes, size_t n_bytes);
    void *context; /* for both functions */
} TraceOptions;

typedef struct {
    uint64_t n_events; /* slices and values of counters */
    uint64_t n_lines;
    uint64_t n_cut; /* number of these that end early, because more than MAX_LANES events overlap */
    uint64_t n_bytes;
} TraceTotals;

/* Writes a run. PROF_OK, or err is set; PROF_IO: `write` failed. */
int trace_export(Run *run, const TraceOptions *options, TraceTotals *totals, ProfErr *err);

#endif
