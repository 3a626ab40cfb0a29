// SPDX-License-Identifier: Apache-2.0
/* rows.h: writes the rows of a query as CSV, JSON, Markdown or a table. */
#ifndef COMMAND_ROWS_H
#define COMMAND_ROWS_H

#include "database.h"
#include "options.h"
#include "sink.h"

/* Runs a prepared statement and writes its rows; *n_rows is their number. A table ends after `most`
 * rows, with a note; 0: no limit. False after writing an error. */
bool rows_write(Database *d, sqlite3_stmt *stmt, enum Format format, Sink *sink, long long most,
                long long *n_rows);

/* Returns whether a column is right-aligned: by its declared type, else by the value in the first
 * row. */
bool column_is_number(sqlite3_stmt *stmt, int column);

#endif
