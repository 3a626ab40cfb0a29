// SPDX-License-Identifier: Apache-2.0
/* launch_contexts.h: events that contain launches, for the two files that search them. */
#ifndef PROF_LAUNCH_CONTEXTS_H
#define PROF_LAUNCH_CONTEXTS_H

#include "../../base/list.h"
#include "launches.h"

/* An event that contains the start of a launch. */
typedef struct {
    int64_t start_ps, end_ps, place; /* place: as in Moment */
    const Line *line;
    LaunchContext event;
} Container;

/* The start of a launch. Its containers have the same place: process, or index of a line. */
typedef struct {
    int64_t place, start_ps, end_ps;
    uint32_t launch;
} Moment;

typedef LIST(Container) Containers;
typedef struct {
    Host *host;
    const Launches *all;
    Containers *lines; /* those of each line */
    Containers events; /* those of all lines, by place, then by start */
    Moment *moments;   /* likewise */
    LaunchContexts *result;
    size_t n_moments;
} ContextsBuilder;

/* Containers of one kind that have started, the innermost last. Each ends before those below it. */
typedef LIST(const Container *) Open;

/* Adds the next container. False if memory runs out. */
bool open_container(Open *open, const Container *c);
/* Returns the innermost that contains a launch, or NULL. */
const Container *innermost(const Open *open, const Moment *moment);
/* Returns whether a container comes before a launch. */
static inline bool has_begun(const Container *c, const Moment *moment)
{
    return c->place < moment->place ||
           (c->place == moment->place && c->start_ps <= moment->start_ps);
}
static inline size_t launch_line(const ContextsBuilder *m, const Moment *moment)
{
    return (size_t)(m->all->launches[moment->launch].line - m->host->lines);
}

/* Finds the threads of lines that have launches alone: at the index of such a line, that of the
 * thread's line and one more; 0 for other lines. Places are processes. The caller frees the array
 * with prof_free(). Returns NULL if there are none, or sets err. */
uint32_t *find_launch_threads(const ContextsBuilder *m, ProfErr *err);

#endif
