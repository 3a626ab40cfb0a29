// SPDX-License-Identifier: Apache-2.0
/* trace_export.h: exports the events of an attached run for trace viewers. For the command. */
#ifndef PROF_EXT_TRACE_EXPORT_H
#define PROF_EXT_TRACE_EXPORT_H

#include "../loader/export/trace_export.h"

#include <sqlite3.h>

/* Writes the one run that a source names. Sets options->format and ->only. `format`: perfetto or
 * chrome. Returns an SQLite code; *message is set on errors, and freed with sqlite3_free(). */
int prof_export_trace(sqlite3 *db, const char *source, const char *format,
                      const TraceOptions *options, TraceTotals *totals, char **message);

#endif
