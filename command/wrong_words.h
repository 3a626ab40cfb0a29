// SPDX-License-Identifier: Apache-2.0
/* wrong_words.h: explains runs and a question that the command does not understand. */
#ifndef COMMAND_WRONG_WORDS_H
#define COMMAND_WRONG_WORDS_H

#include "catalog.h"

/* Returns whether a path exists. */
bool path_exists(const char *path);
/* Explains SQL without quotes, and a table or query that is not the last word. False if there is
 * neither. */
bool wrong_order(const Catalog *catalog, char **words, int n);
/* Explains a last word that is neither a table or query nor SQL. */
void wrong_question(Database *d, const Catalog *catalog, char **words, int n);

#endif
