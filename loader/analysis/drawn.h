// SPDX-License-Identifier: Apache-2.0
/* drawn.h: events as XProf's trace viewer draws them: on which track, under which name, with which arguments.
 *
 * What a file's event has is joined by what XProf adds: flows, steps, regions of thread pools, derived lines. Some events and
 * some planes are not drawn at all. */
#ifndef PROF_DRAWN_H
#define PROF_DRAWN_H

#include "../list.h"
#include "derived.h"
#include "events.h"

typedef struct {
    bool drawn;
    int64_t pid, tid; /* as for a single host */
} Track;

typedef struct {
    Host *host;
    const Grouping *grouping;
    const DerivedLines *derived;
    const Track *lines, *derived_lines; /* as host->lines, as derived->lines */
    const struct DrawnPlane *planes;    /* as host->planes */
} Drawing;

/* Of one host file; made on first use, kept with the run. NULL: err is set. */
const Drawing *host_drawing(Host *host, ProfErr *err);

/* False: an event of XProf's own, which it does not draw. */
bool is_drawn(const Drawing *drawing, const Line *line, const EventMeta *meta);

/* A stat's value as the viewer shows it: its bytes, or a text for them, written to `room` where there is none yet. */
enum { DRAWN_ROOM = 40 };
const char *drawn_value(const Plane *plane, const Stat *value, char room[DRAWN_ROOM], size_t *n_bytes);

typedef struct {
    const char *name;
    size_t n_name;
    Stat value; /* never TYPE_NONE */
    uint32_t order;
} DrawnArg;

/* One event, drawn. What it points to lives until the next one, and as long as the run. */
typedef struct {
    const char *name; /* as it is shown */
    size_t n_name;
    char room[DRAWN_ROOM]; /* for a name that is a number */
    LIST(DrawnArg) args;   /* by name, each once */
    size_t first_own;      /* argument that is the event's, not its metadata's */
    bool has_flow_in, has_flow_out;
    int64_t flow_in, flow_out; /* equal for the ends of one flow */
    Stat first_stat;           /* for counters */
    const Plane *plane;        /* what TYPE_REF values refer to */
    EventFinder finder;
    uint8_t *shared; /* the metadata's message */
    size_t n_shared, shared_capacity;
    const EventMeta *shared_of;
} DrawnEvent;

/* All return false with err set. Begin with {0}; free with drawn_free(). */
bool draw_event(const Drawing *drawing, Line *line, uint64_t index, DrawnEvent *out, ProfErr *err);
bool draw_step(const Drawing *drawing, Line *line, const MergedStep *step, DrawnEvent *out, ProfErr *err);
bool draw_region(const Drawing *drawing, Line *line, const Region *region, DrawnEvent *out, ProfErr *err);
bool draw_derived(const Drawing *drawing, const DerivedLine *line, size_t event, DrawnEvent *out, ProfErr *err);
void drawn_free(DrawnEvent *event);

/* The name that events of a metadata are shown by, if no step gives them another. */
const Text *drawn_meta_name(const Drawing *drawing, const Plane *plane, const EventMeta *meta);

#endif
