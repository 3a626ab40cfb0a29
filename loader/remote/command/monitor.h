// SPDX-License-Identifier: Apache-2.0
/* monitor.h: --monitor: how well a program performs, in the format of capture_tpu_profile. */
#ifndef PROF_REMOTE_MONITOR_H
#define PROF_REMOTE_MONITOR_H

#include "options.h"

/* Prints one measurement. */
enum RemoteOutcome monitor_once(const RemoteOptions *o, ProfErr *err);

#endif
