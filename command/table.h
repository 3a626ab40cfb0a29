// SPDX-License-Identifier: Apache-2.0
/* table.h: the rows of a query as a table for people. */
#ifndef COMMAND_TABLE_H
#define COMMAND_TABLE_H

#include "database.h"
#include "sink.h"

/* Aligned columns, numbers to the right with six digits, "-" for NULL. What is wider than the
 * terminal is made to fit. One row of many columns is written down the page. `most` as in
 * rows_write(). */
bool table_write(Database *d, sqlite3_stmt *stmt, Sink *sink, long long most, long long *n_rows);

#endif
