// SPDX-License-Identifier: Apache-2.0
/* table.h: the rows of a query as a table for people. */
#ifndef COMMAND_TABLE_H
#define COMMAND_TABLE_H

#include "database.h"
#include "sink.h"

/* Writes aligned columns: numbers to the right with six digits, "-" for NULL. A table wider than
 * the terminal is narrowed. One row with many columns is written vertically. `most` as in
 * rows_write(). */
bool table_write(Database *d, sqlite3_stmt *stmt, Sink *sink, long long most, long long *n_rows);

#endif
