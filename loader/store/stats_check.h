// SPDX-License-Identifier: Apache-2.0
/* stats_check.h: finds damaged stats.
 *
 * Loading leaves the stats of events and metadata in the file, and readers skip damaged ones
 * silently. A caller that wants to know what was lost (prof_issues) has all of them parsed once, on
 * all processors. That takes about as long as loading. */
#ifndef PROF_STATS_CHECK_H
#define PROF_STATS_CHECK_H

#include "../run.h"

/* Records an issue of the host wherever bytes do not parse as stats. */
bool run_check_stats(Run *run, ProfErr *err);

#endif
