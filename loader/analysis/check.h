// SPDX-License-Identifier: Apache-2.0
/* check.h: are the stats of a run what stats are?
 *
 * Loading leaves the stats of events and of metadata in the file, where a damaged one is skipped by every reader. Whoever asks
 * what was lost gets all of them walked once, on all processors: about as long as loading took. */
#ifndef PROF_CHECK_H
#define PROF_CHECK_H

#include "../run.h"

/* Adds an issue for each place that holds stats that are none. False with err set. */
bool run_check_stats(Run *run, ProfErr *err);

#endif
