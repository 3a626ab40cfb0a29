// SPDX-License-Identifier: Apache-2.0
/* select.h: queries whose rows are the answer. Each function returns an exit status. */
#ifndef COMMAND_SELECT_H
#define COMMAND_SELECT_H

#include "options.h"

/* Queries a table or canned query of the attached runs. `path`: for tables that take one. */
int select_table(Database *d, const Catalog *catalog, const Entry *entry, const Options *options,
                 const char *path);
/* Runs SQL text. :a is the first run, :b the second. */
int select_sql(Database *d, const Catalog *catalog, const char *sql, const Options *options);
/* Runs SELECT ... FROM `from` with the options' selection. Binds texts to ?1, ?2. */
int select_from(Database *d, const Catalog *catalog, const char *from, const char *texts[2],
                const Options *options, long long *n_rows);

#endif
