// SPDX-License-Identifier: Apache-2.0
/* load.h: reads the files of a run into memory. For run.c and host_events.c; others open runs with
 * run_open(). */
#ifndef PROF_LOAD_H
#define PROF_LOAD_H

#include "run.h"
#include "source.h"

/* Reads structure and events of a new run; with streaming, the structure alone. PROF_OK, or err is
 * set. */
int run_load(Run *run, const Source *source, const RunOptions *options, ProfErr *err);
/* Reads the events of all hosts, or of one into host->event_arenas. PROF_OK, or err is set. */
int run_load_events(Run *run, const RunOptions *options, ProfErr *err);
int host_load_events(Host *host, ProfErr *err);
/* Frees planes and lines of a host, and forgets them. */
void host_drop_structure(Host *host);

#endif
