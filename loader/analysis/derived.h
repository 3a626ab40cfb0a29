// SPDX-License-Identifier: Apache-2.0
/* derived.h: the lines that XProf's trace viewer adds to GPUs and TensorCores: steps, programs, HLO ops, framework ops, name
 * scopes and source lines over the kernels and ops that they stand for.
 *
 * A file that was grouped when it was written brings these lines itself; then none are derived here. */
#ifndef PROF_DERIVED_H
#define PROF_DERIVED_H

#include "grouping.h"

/* What derived events are called. XProf makes it one with a metadata entry of the plane that has the same name: its stats are
 * then the events' too, and the display name is shown for its own events. */
typedef struct {
    const Text *name, *display_name; /* empty: none */
    EventMeta *file;                 /* of the plane; NULL: it has none of this name */
} DerivedMeta;

typedef struct {
    int64_t start_ps, duration_ps, group; /* group -1: none */
    uint32_t meta;                        /* in the metas of the DerivedPlane */
} DerivedEvent;

/* A stat of a derived event besides its group. */
typedef struct {
    uint32_t event;   /* on its line */
    const char *name; /* in XProf's spelling */
    Stat value;       /* TYPE_INT64, TYPE_UINT64, TYPE_DOUBLE, or TYPE_STR whose bytes live as long as the run */
} DerivedStat;

typedef struct {
    Plane *plane;
    int64_t id, display_id; /* as XLine.id and XLine.display_id; display_id 0: none */
    const char *name;
    enum LineKind kind;
    int64_t stream;             /* XLine.id of the stream that a line is for, of a GPU; -1 for lines of the whole plane */
    const DerivedEvent *events; /* by start, the longer first */
    size_t n_events;
    const DerivedStat *stats; /* by event */
    size_t n_stats;
} DerivedLine;

typedef struct {
    const DerivedMeta *metas; /* those with a file entry that got a display name here come with it */
    size_t n_metas;
} DerivedPlane;

typedef struct {
    Host *host;
    const DerivedLine *lines; /* without empty ones; those of a plane together */
    size_t n_lines;
    const DerivedPlane *planes;      /* as host->planes */
    const int64_t *line_display_ids; /* as host->lines: what XProf sets display_id to, 0: it leaves it; NULL: it leaves them all */
} DerivedLines;

/* The derived lines of a host file: made on first use, kept with the run. NULL: err is set. */
const DerivedLines *host_derived(Host *host, ProfErr *err);

#endif
