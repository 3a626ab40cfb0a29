// SPDX-License-Identifier: Apache-2.0
/* ask_sql.h: asks libprofsql a question in SQL.
 *
 * SQLite and the extension are loaded at run time, so the program does not depend on them. */
#ifndef PROFSQL_ASK_SQL_H
#define PROFSQL_ASK_SQL_H

#include <stdbool.h>
#include <stddef.h>

/* Runs a query with one parameter and calls `row` for each row with the texts of its n columns;
 * NULL for an SQL NULL. False if the query cannot be run: `why` then says what is missing. */
bool ask_sql(const char *sql, const char *parameter,
             void (*row)(void *context, const char *const *texts, int n), void *context, char *why,
             size_t n_why);

#endif
