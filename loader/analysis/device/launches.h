// SPDX-License-Identifier: Apache-2.0
/* launches.h: the call on the host that launched each kernel, and what the host was doing then.
 *
 * Calls are often on a line of their own, next to the threads that made them. The containers of a
 * call are found by time, on its line first, then on all lines of its process; see
 * docs/semantics.md. */
#ifndef PROF_LAUNCHES_H
#define PROF_LAUNCHES_H

#include "../../base/tf_op.h"
#include "../../run.h"

/* An event of the host that contains a call. */
typedef struct {
    uint64_t event;
    const EventMeta *meta; /* NULL if there is none */
} LaunchContext;

/* A call that launched something. */
typedef struct {
    uint64_t correlation_id, event;
    int64_t start_ps, duration_ps;
    Line *line;
    uint32_t meta; /* index in the plane's event_metas */
    bool bare;     /* it starts after all events before it on its line have ended */
} Launch;

static inline const EventMeta *launch_meta(const Launch *launch)
{
    return &launch->line->plane->event_metas[launch->meta];
}

/* The innermost events that contain a call. */
typedef struct {
    LaunchContext annotation, python;
    LaunchContext execution; /* of an HLO program on a GPU, `MODULE:XLA GPU module` */
    bool on_own_line;        /* an event on the call's own line contains it */
} LaunchContexts;

/* A kernel or other work of a device, and its launch. */
typedef struct {
    const Line *line;
    uint64_t event;
    const EventMeta *meta;
    int64_t start_ps, duration_ps;
    int64_t free_ps; /* when the stream had finished everything that started before; INT64_MIN if
                        there was nothing */
    uint32_t launch; /* index in Launches.launches */
} LaunchedWork;

typedef struct {
    Launch *launches; /* by correlation id */
    size_t n_launches;
    LaunchedWork *work; /* by line, then by start */
    size_t n_work;
    uint64_t *calls; /* all events of the host with a correlation id, in order */
    size_t n_calls;
} Launches;

/* Returns the launched work of a host. */
const Launches *host_launches(Host *host, ProfErr *err);
/* Returns the launch with this correlation id, or NULL. */
const Launch *launch_of(const Launches *all, uint64_t correlation_id);
/* Returns the contexts of each of a host's launches. */
const LaunchContexts *host_launch_contexts(Host *host, ProfErr *err);
/* Returns the time from the start of its launch to that of the work; saturates at the ends of
 * int64. */
int64_t launch_delay_ps(const Launches *all, const LaunchedWork *work);
/* Returns whether the event is a frame of JAX's Python tracer. */
bool is_python_frame(const EventMeta *meta);
/* Returns the module of an event during which XLA runs a program on a GPU; an empty slice for other
 * events. */
Slice executed_module(const EventMeta *meta);

#endif
