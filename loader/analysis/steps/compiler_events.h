// SPDX-License-Identifier: Apache-2.0
/* compiler_events.h: what the threads of compilers did during compilations. */
#ifndef PROF_COMPILER_EVENTS_H
#define PROF_COMPILER_EVENTS_H

#include "../../run.h"

/* Events of one name on one thread during compilations of one function. */
typedef struct {
    const Line *line;
    const Text *name;
    const Text *function; /* else the HLO module; NULL if neither is known */
    uint64_t n;
    int64_t duration_ps, self_ps; /* sums */
} CompilerEvents;

typedef struct {
    CompilerEvents *rows; /* by line, then by the first event */
    size_t n, capacity;
    TextTable functions;
    Arena arena;
} CompilerEventList;
/* Returns the events of a host that start and end within a compilation, on threads with an event of
 * a compiler among them. */
const CompilerEventList *host_compiler_events(Host *host, ProfErr *err);

#endif
