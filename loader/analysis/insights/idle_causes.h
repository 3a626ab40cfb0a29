// SPDX-License-Identifier: Apache-2.0
/* idle_causes.h: what host threads did while devices were idle; the rules are in docs/semantics.md.
 */
#ifndef PROF_IDLE_CAUSES_H
#define PROF_IDLE_CAUSES_H

#include "../../base/slice.h"
#include "../../run.h"

/* From the least specific to the most specific. */
enum IdleCause {
    IDLE_UNKNOWN, /* the thread has no event */
    IDLE_HOST,    /* another event */
    IDLE_PYTHON,  /* a Python frame */
    IDLE_QUEUED,  /* the next work was launched */
    IDLE_LAUNCHING,
    IDLE_WAITING,
    IDLE_COPY,
    IDLE_INPUT,
    IDLE_TRACING,
    IDLE_COMPILING,
    N_IDLE_CAUSES
};
extern const char *const idle_cause_names[N_IDLE_CAUSES];
/* Returns the cause that an event's name shows, on its own. */
enum IdleCause idle_cause_of(Slice name);

typedef struct {
    enum IdleCause cause;
    const Text *name; /* innermost event that is not a Python frame; NULL if there is none */
    const Text *python_frame; /* innermost frame; NULL if there is none */
    uint64_t idle_ps;         /* sum over the devices */
} IdleRow;

typedef struct {
    IdleRow *rows; /* the longest first */
    size_t n;
    uint64_t idle_ps; /* sum of the rows */
    size_t n_devices; /* devices with work or, if the run has no device, its processes with ops */
    Arena arena, names;
} IdleCauses;
/* Returns the causes of all hosts together, or of `only`. */
const IdleCauses *run_idle_causes(Run *run, Host *only, ProfErr *err);

#endif
