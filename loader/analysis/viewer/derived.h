// SPDX-License-Identifier: Apache-2.0
/* derived.h: the lines that XProf's trace viewer adds to GPUs and TensorCores: steps, programs, HLO
 * ops, framework ops, name scopes and source lines over the kernels and ops that they cover.
 *
 * A file that was grouped when it was written already contains these lines; then none are
 * derived. */
#ifndef PROF_DERIVED_H
#define PROF_DERIVED_H

#include "../../base/packed_rows.h"
#include "../grouping/grouping.h"

/* A name of derived events. If the plane has event metadata of the same name, XProf joins the two:
 * derived events get its stats, and its own events get the display name. */
typedef struct {
    const Text *name, *display_name; /* empty if none */
    EventMeta *file;                 /* the plane's metadata of this name; NULL: none */
} DerivedMeta;

/* An event on a derived line. */
typedef struct {
    int64_t start_ps, duration_ps, group; /* group: -1 if none */
    uint32_t meta;                        /* index in DerivedPlane.metas */
} DerivedEvent;

/* A stat of a derived event besides its group and the name of its step. */
enum DerivedStatName {
    DERIVED_ASYNC,
    DERIVED_AVERAGE_LAUNCH,
    DERIVED_CORRELATION,
    DERIVED_GRAPH,
    DERIVED_LONGEST_LAUNCH,
    DERIVED_N_LAUNCHES,
    DERIVED_RAW_BYTES,
    DERIVED_SHAPE,
};
extern const char *const derived_stat_names[]; /* as XProf spells them */
typedef struct {
    uint32_t event; /* index of the event on its line */
    enum DerivedStatName name;
    StatValue value;
} DerivedStat;

/* A line that XProf adds to a plane. */
typedef struct {
    Plane *plane;
    int64_t id, display_id; /* XLine.id and XLine.display_id; display_id is 0 if it is missing */
    const char *name;
    enum LineKind kind;
    /* GPU: XLine.id of the stream that the line describes; -1: it describes the plane. */
    int64_t stream;
    PackedRows events; /* by start, the longer first; derived_event() reads them */
    PackedRows stats;  /* by event; derived_stat() reads them */
} DerivedLine;

/* The columns of DerivedLine.events. */
enum { DERIVED_START, DERIVED_DURATION, DERIVED_GROUP, DERIVED_META };
/* Returns an event of a line. */
static inline DerivedEvent derived_event(const DerivedLine *line, size_t event)
{
    PackedRow row = packed_row(&line->events, event);
    return (DerivedEvent){row.values[DERIVED_START], row.values[DERIVED_DURATION],
                          row.values[DERIVED_GROUP], (uint32_t)row.values[DERIVED_META]};
}

/* The columns of DerivedLine.stats. */
enum { DERIVED_STAT_EVENT, DERIVED_STAT_NAME, DERIVED_STAT_TYPE, DERIVED_STAT_VALUE };
/* Returns a stat of a line. */
DerivedStat derived_stat(const DerivedLine *line, size_t stat);

/* The names of a plane's derived events. */
typedef struct {
    const DerivedMeta *metas; /* includes metadata of the file that gets a display name here */
    size_t n_metas;
} DerivedPlane;

/* The derived lines of a host. */
typedef struct {
    Host *host;
    const DerivedLine *lines; /* lines that have events, plane by plane */
    size_t n_lines;
    const DerivedPlane *planes; /* in the order of host->planes */
    /* In the order of host->lines: the value to which XProf sets display_id, 0 if it does not
     * change it. NULL: it changes none. */
    const int64_t *line_display_ids;
} DerivedLines;

/* Returns the derived lines of a host. */
const DerivedLines *host_derived(Host *host, ProfErr *err);

typedef struct {
    const DerivedPlane *planes; /* in the order of host->planes; NULL: no name changes */
} DerivedNames;

/* Returns the display names that metadata of the file gets from derived lines. TPUs get them
 * without deriving lines, which takes much longer. */
const DerivedNames *host_derived_names(Host *host, ProfErr *err);

#endif
