// SPDX-License-Identifier: Apache-2.0
/* diagnostics.h: what XProf warns of above its pages: what the profiler said went wrong, and steps that it does not find. */
#ifndef PROF_DIAGNOSTICS_H
#define PROF_DIAGNOSTICS_H

#include "../run.h"

typedef struct {
    const char *severity, *code, *message;
    size_t n_bytes; /* of the message */
    uint64_t count;
} Diagnostic;

/* What concerns a host: the profiler's errors and warnings, each once with its count, in order of their bytes (XProf's order of
 * warnings is a hash's); with the run's first host also what concerns the run (or `only` that host). *list is freed with
 * prof_free(), may be NULL when there is none, and holds texts of the run. False with err set. */
bool host_diagnostics(Host *host, Host *only, Diagnostic **list, size_t *n, ProfErr *err);

#endif
