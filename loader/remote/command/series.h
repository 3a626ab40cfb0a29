// SPDX-License-Identifier: Apache-2.0
/* series.h: --every and --keep: a run after the other. */
#ifndef PROF_REMOTE_SERIES_H
#define PROF_REMOTE_SERIES_H

#include "options.h"

/* Profiles until a signal stops it. A time without a profile is reported and passed over, but not
 * a folder that cannot be written. Returns what became of the last. */
enum RemoteOutcome command_series(RemoteOptions *o, ProfErr *err);
/* One profile, reported: command.c. */
enum RemoteOutcome command_capture(const RemoteOptions *o, ProfErr *err);

#endif
