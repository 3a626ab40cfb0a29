// SPDX-License-Identifier: Apache-2.0
/* help.h: what the command and each table can do. */
#ifndef COMMAND_HELP_H
#define COMMAND_HELP_H

#include "catalog.h"
#include "options.h"

#include <stdio.h>

void help_write(FILE *out);
/* One table or query: its arguments and columns, from prof_columns. Returns an exit status. */
int help_table(Database *d, const Entry *entry);
/* The tables and queries whose texts contain a word; all of them for NULL. */
int help_tables(Database *d, const Catalog *catalog, const char *word, const Options *options);

#endif
