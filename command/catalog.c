// SPDX-License-Identifier: Apache-2.0
/* catalog.c: reads the names of tables and canned queries; see catalog.h. */
#define _GNU_SOURCE
#include "catalog.h"

#include "nearest.h"

#include <string.h>
#include <strings.h>

static bool is_source(const char *name)
{
    return !strcmp(name, "source") || !strcmp(name, "dir") || !strcmp(name, "a") ||
           !strcmp(name, "b");
}

/* Parses "top_ops(source = NULL, n = 10)": the names before = or a comma. */
static void parse_signature(Entry *entry)
{
    const char *p = strchr(entry->signature, '(');
    while (p && *p && *p != ')') {
        p += 1 + strspn(p + 1, " ");
        const char *name = keep_text("%.*s", (int)strcspn(p, " ,=)"), p);
        if (!*name) break;
        if (is_source(name) && entry->n_sources < (int)COUNT(entry->sources))
            entry->sources[entry->n_sources++] = name;
        else if (entry->n_parameters < MAX_PARAMETERS)
            entry->parameters[entry->n_parameters++] = name;
        p += strcspn(p, ",)");
    }
}

bool catalog_load(Catalog *catalog, Database *d)
{
    enum { MOST = 1000 };
    sqlite3_stmt *stmt = ask(d,
                             "SELECT name, row_is, signature, 0 FROM prof_tables UNION ALL SELECT "
                             "name, question, signature, 1 FROM prof_queries",
                             NULL);
    *catalog = (Catalog){keep_alloc(MOST * sizeof(Entry)), 0};
    while (catalog->n < MOST && next_row(d, stmt)) {
        Entry *entry = &catalog->entries[catalog->n++];
        entry->name = column_text(stmt, 0);
        entry->what = column_text(stmt, 1);
        entry->signature = column_text(stmt, 2);
        entry->is_query = sqlite3_column_int(stmt, 3);
        parse_signature(entry);
    }
    sqlite3_finalize(stmt);
    return catalog->n > 0;
}

const Entry *catalog_find(const Catalog *catalog, const char *name)
{
    char *wanted = keep_text("%s", name);
    for (char *p = wanted; (p = strchr(p, '-'));) *p = '_';
    for (int i = 0; i < catalog->n; i++)
        if (!strcmp(catalog->entries[i].name, wanted)) return &catalog->entries[i];
    for (int i = 0; i < catalog->n; i++)
        if (!strcasecmp(catalog->entries[i].name, wanted)) return &catalog->entries[i];
    return NULL;
}

bool entry_has_parameter(const Entry *entry, const char *name)
{
    for (int i = 0; i < entry->n_parameters; i++)
        if (!strcmp(entry->parameters[i], name)) return true;
    return false;
}

const char *entry_options(const Entry *entry)
{
    const char *text = "";
    for (int i = 0; i < entry->n_parameters; i++)
        text = keep_text("%s%s--%s", text, i ? ", " : "", entry->parameters[i]);
    return *text ? text : "none";
}

bool entry_takes_path(const Entry *entry)
{
    return !strcmp(entry->name, "prof_find") || !strcmp(entry->name, "profsql_live");
}

bool entry_asks_server(const Entry *entry) { return entry_has_parameter(entry, "address"); }

const char *catalog_nearest(const Catalog *catalog, const char *word)
{
    Nearest nearest = {.word = word};
    for (int i = 0; i < catalog->n; i++) nearest_try(&nearest, catalog->entries[i].name);
    return nearest_text(&nearest);
}
