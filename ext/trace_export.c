// SPDX-License-Identifier: Apache-2.0
/* trace_export.c: exports the run that a source names; see trace_export.h. */
#include "prof.h"

#include "trace_export.h"
SQLITE_EXTENSION_INIT3

static int export_run(Prof *prof, const SourceRun *from, TraceOptions options, TraceTotals *totals,
                      char **message)
{
    ProfErr err = {0};
    Statement s;
    sqlite3_stmt *running;
    int rc = statement_run(prof->db, &running);
    if (rc != SQLITE_OK) return rc;
    options.only = from->only;
    statement_open(&s, prof->db);
    trace_export(from->run, &options, totals, &err);
    statement_end(&s, &err);
    sqlite3_finalize(running);
    return err.code ? prof_error(prof, &err, message) : SQLITE_OK;
}

int prof_export_trace(sqlite3 *db, const char *source, const char *format,
                      const TraceOptions *options, TraceTotals *totals, char **message)
{
    SourceRun *list = NULL;
    int n = 0;
    Prof *prof = prof_of_connection(db);
    TraceOptions chosen = *options;
    chosen.format = strcmp(format, "perfetto") != 0 ? &chrome_format : &perfetto_format;
    int rc = prof_open(prof, source, false, &list, &n, message);
    for (int i = 0; i < n && rc == SQLITE_OK; i++)
        rc = export_run(prof, &list[i], chosen, totals, message);
    prof_release(list, n);
    return rc;
}
