// SPDX-License-Identifier: Apache-2.0
/* drawn.h: events as XProf's trace viewer draws them: track, name and arguments.
 *
 * XProf adds to the events of the file: flows, steps, regions of thread pools, derived lines. It
 * does not draw some events and planes at all. */
#ifndef PROF_DRAWN_H
#define PROF_DRAWN_H

#include "../../base/list.h"
#include "derived.h"
#include "../../store/events.h"

/* Where the viewer draws the events of a line. */
typedef struct {
    bool drawn;
    int64_t pid, tid; /* process and thread id, as if the run had a single host */
} Track;

/* What is needed to draw the events of a host. */
typedef struct {
    Host *host;
    const Grouping *grouping;
    const DerivedLines *derived;
    /* In the order of host->lines and of derived->lines. */
    const Track *lines, *derived_lines;
    const struct DrawnPlane *planes; /* in the order of host->planes */
} Drawing;

/* Returns the drawing of one host, computed on first use. */
const Drawing *host_drawing(Host *host, ProfErr *err);

/* Returns false for XProf's internal events, which it does not draw. */
bool is_drawn(const Drawing *drawing, const Line *line, const EventMeta *meta);

/* Returns a stat's value as the viewer shows it: its bytes, or a text that is written to `room`.
 * *n_bytes is its length. */
enum { DRAWN_ROOM = 40 };
const char *drawn_value(const Plane *plane, const Stat *value, char room[DRAWN_ROOM],
                        size_t *n_bytes);

/* An argument of a drawn event. */
typedef struct {
    const char *name;
    size_t n_name;
    Stat value; /* never TYPE_NONE */
    uint32_t order;
} DrawnArg;

/* One event as it is drawn. Its pointers are valid until the next draw_*() call. Starts as {0}. */
typedef struct {
    const char *name; /* name that is shown */
    size_t n_name;
    char room[DRAWN_ROOM]; /* space for a name that is a number */
    LIST(DrawnArg) args;   /* by name, each name once */
    /* First argument that comes from the event and not from its metadata. */
    size_t first_own;
    bool has_flow_in, has_flow_out;
    int64_t flow_in, flow_out; /* equal at both ends of one flow */
    Stat first_stat;           /* value of a counter */
    const Plane *plane;        /* plane that TYPE_REF values refer to */
    EventFinder finder;
    MetaBytes shared; /* of the metadata */
} DrawnEvent;

/* Fill `out` for an event, a merged step, a region or a derived event. Freed with drawn_free(). */
bool draw_event(const Drawing *drawing, Line *line, uint64_t index, DrawnEvent *out, ProfErr *err);
bool draw_step(const Drawing *drawing, Line *line, const MergedStep *step, DrawnEvent *out,
               ProfErr *err);
bool draw_region(const Drawing *drawing, Line *line, const Region *region, DrawnEvent *out,
                 ProfErr *err);
bool draw_derived(const Drawing *drawing, const DerivedLine *line, size_t event, DrawnEvent *out,
                  ProfErr *err);
void drawn_free(DrawnEvent *event);

/* Returns the name that events of a metadata are shown by, unless a step gives them another. */
const Text *drawn_meta_name(const Drawing *drawing, const Plane *plane, const EventMeta *meta);

#endif
