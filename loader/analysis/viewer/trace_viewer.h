// SPDX-License-Identifier: Apache-2.0
/* trace_viewer.h: events as XProf's trace viewer shows them: track, name and arguments.
 *
 * XProf adds to the events of the file: flows, steps, regions of thread pools, derived lines. Some
 * events and planes are not shown at all. */
#ifndef PROF_TRACE_VIEWER_H
#define PROF_TRACE_VIEWER_H

#include "../../base/list.h"
#include "derived.h"
#include "../../store/events.h"

/* Where the viewer draws the events of a line. */
typedef struct {
    bool drawn;
    int64_t pid, tid; /* process and thread id, as if the run had a single host */
} Track;

/* The data that is needed to show the events of a host. */
typedef struct {
    Host *host;
    const Grouping *grouping;
    const DerivedNames *names;
    const struct ViewerPlane *planes; /* in the order of host->planes */
    /* Only of host_trace_viewer(). */
    const DerivedLines *derived;
    /* In the order of host->lines and of derived->lines. */
    const Track *lines, *derived_lines;
} TraceViewer;

/* Returns the viewer of one host. */
const TraceViewer *host_trace_viewer(Host *host, ProfErr *err);
/* Returns one without derived lines and tracks, which is made sooner. */
const TraceViewer *host_event_viewer(Host *host, ProfErr *err);

/* Returns whether the events of a plane are shown. */
bool viewer_draws(const TraceViewer *viewer, const Plane *plane);

/* Returns false for XProf's internal events, which it does not show. */
bool viewer_shows(const TraceViewer *viewer, const Line *line, const EventMeta *meta);

/* Returns a stat's value as the viewer shows it: its bytes, or a text that is written to `room`.
 * *n_bytes is its length. */
enum { VIEWER_ROOM = 40 };
const char *viewer_value(const Plane *plane, const Stat *value, char room[VIEWER_ROOM],
                         size_t *n_bytes);

/* An argument of an event. */
typedef struct {
    const char *name;
    size_t n_name;
    Stat value; /* never TYPE_NONE */
    uint32_t order;
} ViewerArg;

/* One event as it is shown. Its pointers are valid until the next viewer_event() or
 * viewer_event_at(). Starts as {0}. */
typedef struct {
    const char *name; /* name that is shown */
    size_t n_name;
    char room[VIEWER_ROOM]; /* space for a name that is a number */
    LIST(ViewerArg) args;   /* by name, each name once */
    bool has_flow_in, has_flow_out;
    int64_t flow_in, flow_out; /* equal at both ends of one flow */
    Stat first_stat;           /* value of a counter */
    const Plane *plane;        /* plane that TYPE_REF values refer to */
    LIST(ViewerArg) own;       /* arguments that do not come from the metadata, as they are found */
    const struct SharedArgs *shared; /* those of the metadata */
    struct ArgPlan *plans;           /* N_PLANS; NULL before the first event */
    EventFinder finder;
    MetaBytes bytes; /* of the metadata */
    /* What events of the same metadata share, kept because nearly all events repeat one. */
    LIST(struct SharedArgs) kept;
    HashTable kept_by_meta;
    Arena kept_arena;
} ViewerEvent;

/* What the events of one metadata entry have in common. */
struct SharedArgs {
    const void *of; /* EventMeta or DerivedMeta */
    const char *name;
    size_t n_name;
    ViewerArg *args; /* by name, each name once */
    size_t n_args;
    Stat first_stat;
};

/* Fill `out` for an event, a merged step, a region or a derived event. Freed with
 * viewer_event_free(). */
bool viewer_event(const TraceViewer *viewer, Line *line, uint64_t index, ViewerEvent *out,
                  ProfErr *err);
/* For an event that a reader with EVENT_STATS returned. */
bool viewer_event_at(const TraceViewer *viewer, const Line *line, const EventAt *at,
                     ViewerEvent *out, ProfErr *err);
bool viewer_step(const TraceViewer *viewer, Line *line, const MergedStep *step, ViewerEvent *out,
                 ProfErr *err);
bool viewer_region(const TraceViewer *viewer, Line *line, const Region *region, ViewerEvent *out,
                   ProfErr *err);
bool viewer_derived(const TraceViewer *viewer, const DerivedLine *line, size_t event,
                    ViewerEvent *out, ProfErr *err);
void viewer_event_free(ViewerEvent *event);

#endif
