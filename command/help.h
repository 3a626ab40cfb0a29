// SPDX-License-Identifier: Apache-2.0
/* help.h: help on the command and on each table. */
#ifndef COMMAND_HELP_H
#define COMMAND_HELP_H

#include "catalog.h"
#include "options.h"

#include <stdio.h>

void help_write(FILE *out);
/* Writes the arguments and columns of a table or query, from prof_columns. Returns an exit status.
 */
int help_table(Database *d, const Entry *entry);
/* Writes the tables and queries whose texts contain a word; all of them if it is NULL. */
int help_tables(Database *d, const Catalog *catalog, const char *word, const Options *options);

#endif
