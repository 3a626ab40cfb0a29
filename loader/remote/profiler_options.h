// SPDX-License-Identifier: Apache-2.0
/* profiler_options.h: the ProfileOptions of a request, while they are set. For requests.c and
 * profiler_options.c only. */
#ifndef PROF_REMOTE_PROFILER_OPTIONS_H
#define PROF_REMOTE_PROFILER_OPTIONS_H

#include "requests.h"
#include "schema/profiler_service.pb-c.h"

typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry AdvancedEntry;
struct ProfilerOptions {
    Tensorflow__ProfileOptions message; /* its texts are in `memory` */
    Tensorflow__ProfileOptions__TraceOptions trace;
    AdvancedEntry **entries;
    size_t n_entries, entries_capacity;
    Arena memory;
};

#endif
