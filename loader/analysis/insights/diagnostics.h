// SPDX-License-Identifier: Apache-2.0
/* diagnostics.h: the warnings that XProf shows above its pages: errors that the profiler recorded,
 * and missing steps. */
#ifndef PROF_DIAGNOSTICS_H
#define PROF_DIAGNOSTICS_H

#include "../../run.h"

/* One warning, with the number of times that it occurs. */
typedef struct {
    const char *severity, *code, *message;
    size_t n_bytes; /* bytes of the message */
    uint64_t count;
} Diagnostic;

/* Lists the diagnostics of a host: the profiler's errors and warnings, each once with its count,
 * sorted by bytes (XProf's order of warnings is that of a hash table). The run's first host (or
 * `only`) also lists those of the entire run. *list is freed with prof_free(); it may be NULL if it
 * is empty. Its texts live as long as the run. */
bool host_diagnostics(Host *host, Host *only, Diagnostic **list, size_t *n, ProfErr *err);

#endif
