// SPDX-License-Identifier: Apache-2.0
/* select.h: queries whose rows are the answer. Each returns an exit status. */
#ifndef COMMAND_SELECT_H
#define COMMAND_SELECT_H

#include "options.h"

/* A table or canned query of the attached runs. `path`: for tables that take one. */
int select_table(Database *d, const Catalog *catalog, const Entry *entry, const Options *options,
                 const char *path);
/* SQL text. :a is the first run, :b the second. */
int select_sql(Database *d, const Catalog *catalog, const char *sql, const Options *options);
/* SELECT ... FROM `from`, with the options' selection; texts are bound to ?1, ?2. */
int select_from(Database *d, const Catalog *catalog, const char *from, const char *texts[2],
                const Options *options, long long *n_rows);

#endif
