// SPDX-License-Identifier: Apache-2.0
/* memo.h: results of analyses that are kept with a run. For run.c, host_events.c and
 * hlo_analysis(); others use run_analysis() (run.h). */
#ifndef PROF_MEMO_H
#define PROF_MEMO_H

#include "run.h"

/* Frees all results of the run and its hosts. */
void results_free(Run *run);
/* Frees the results that must go with the host's events. */
void results_free_of_events(Host *host);
/* Frees the results of a line. */
void line_results_free(Line *line);
/* Returns whether more may be read or computed now. The caller holds run->analyses_lock. False with
 * err set if this thread is computing an analysis: then the call comes from a statement that the
 * application runs in a progress handler, which must not change what the analysis uses. */
bool run_may_change(const Run *run, ProfErr *err);
/* Returns whether a result is incomplete, with err set: its `make` was interrupted, or an issue was
 * lost since run->n_issues_lost was `lost_before`. To be called also if `make` failed: then
 * prof_issues works again once the result is made. */
bool result_is_incomplete(Run *run, unsigned lost_before, ProfErr *err);

#endif
