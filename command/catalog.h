// SPDX-License-Identifier: Apache-2.0
/* catalog.h: the names of tables and canned queries, and their parameters. */
#ifndef COMMAND_CATALOG_H
#define COMMAND_CATALOG_H

#include "database.h"

enum { MAX_PARAMETERS = 16 };

typedef struct {
    const char *name;
    const char *what;      /* what a row is, or the question that a query answers */
    const char *signature; /* with its arguments */
    bool is_query;
    const char *sources[2]; /* arguments that name a run: none, `source`, or `a` and `b` */
    int n_sources;
    const char *parameters[MAX_PARAMETERS]; /* the other arguments */
    int n_parameters;
} Entry;

typedef struct {
    Entry *entries;
    int n;
} Catalog;

bool catalog_load(Catalog *catalog, Database *d);
/* Returns the table or query with this name, in any case and with dashes for underscores; NULL if
 * there is none. */
const Entry *catalog_find(const Catalog *catalog, const char *name);
bool entry_has_parameter(const Entry *entry, const char *name);
/* Returns its parameters as options, "none" without any. */
const char *entry_options(const Entry *entry);
/* Returns whether its argument is a path that need not be a run: prof_find, profsql_live. */
bool entry_takes_path(const Entry *entry);
/* Returns whether it calls a server in a running program: prof_capture, prof_monitor. */
bool entry_asks_server(const Entry *entry);
/* Returns "; nearest: ..." for a word that is not a name. */
const char *catalog_nearest(const Catalog *catalog, const char *word);

#endif
