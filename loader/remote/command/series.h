// SPDX-License-Identifier: Apache-2.0
/* series.h: --every and --keep: one run after another. */
#ifndef PROF_REMOTE_SERIES_H
#define PROF_REMOTE_SERIES_H

#include "options.h"

/* Takes profiles until a signal stops it. A failed profile is reported and skipped, but if the
 * folder cannot be written, it ends. Returns the outcome of the last one. */
enum RemoteOutcome command_series(RemoteOptions *o, ProfErr *err);
/* Takes one profile and reports it; in command.c. */
enum RemoteOutcome command_capture(const RemoteOptions *o, ProfErr *err);

#endif
