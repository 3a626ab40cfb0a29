// SPDX-License-Identifier: Apache-2.0
/* ask_sql.h: questions of a program to libprofsql.
 *
 * SQLite and the extension are found at run time: nothing else of the program needs them. */
#ifndef PROFSQL_ASK_SQL_H
#define PROFSQL_ASK_SQL_H

#include <stdbool.h>
#include <stddef.h>

/* Calls `row` for each row of a query with one parameter, with the texts of its n columns; a NULL
 * is NULL. False when it could not be asked: `why` says what was missing. */
bool ask_sql(const char *sql, const char *parameter,
             void (*row)(void *context, const char *const *texts, int n), void *context, char *why,
             size_t n_why);

#endif
