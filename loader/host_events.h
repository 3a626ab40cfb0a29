// SPDX-License-Identifier: Apache-2.0
/* host_events.h: runs of many hosts of which one host's events are in memory at a time; see
 * run_load_all_events() and host_load_only() in run.h. */
#ifndef PROF_HOST_EVENTS_H
#define PROF_HOST_EVENTS_H

#include "run.h"

/* Drops the events of the host that is in memory, if there is one. */
void run_drop_events(Run *run);

#endif
