// SPDX-License-Identifier: Apache-2.0
/* wrong_turns.h: suggests what to do after an error. */
#ifndef COMMAND_WRONG_TURNS_H
#define COMMAND_WRONG_TURNS_H

#include "options.h"

/* Returns whether nothing has this path, which is none of another system. */
bool path_is_missing(const char *path);
/* Explains a path that is not a run. `message` is the library's. */
void wrong_run(Database *d, const char *given, const char *message);
/* SQL that fails; `message` is SQLite's. Misspelt names get the nearest ones. */
void wrong_sql(Database *d, const Catalog *catalog, const char *message);
/* The same for the options --where, --order-by and --columns of a table or query. */
void wrong_selection(Database *d, const Catalog *catalog, const Entry *entry,
                     const Options *options, const char *message);
/* Notes the runs and the reasons why a table or query, or those of the last query (NULL), have no
 * rows. False: unknown. */
bool explain_nothing(Database *d, const char *name);

#endif
