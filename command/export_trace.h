// SPDX-License-Identifier: Apache-2.0
/* export_trace.h: `profsql export --format perfetto|chrome`: writes events for a trace viewer. */
#ifndef COMMAND_EXPORT_TRACE_H
#define COMMAND_EXPORT_TRACE_H

#include "options.h"

/* Writes the events of the attached run to a new file, or to standard output for "-". Returns an
 * exit status. */
int export_trace(Database *d, const char *path, const Options *options);

#endif
