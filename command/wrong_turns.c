// SPDX-License-Identifier: Apache-2.0
/* wrong_turns.c: explains errors; see wrong_turns.h. */
#define _GNU_SOURCE
#include "wrong_turns.h"

#include "../loader/base/file.h"
#include "nearest.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- runs ---- */

/* Returns the existing folder above a missing path; "" for the current one. */
static const char *existing_above(const char *path)
{
    char *above = keep_text("%s", path);
    for (char *slash; (slash = strrchr(above, '/'));) {
        *slash = 0;
        if (!*above) return "/";
        if (is_folder(above)) return above;
    }
    return "";
}

static void try_entries(Nearest *nearest, const char *folder)
{
    DIR *dir = opendir(*folder ? folder : ".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.') nearest_try(nearest, keep_text("%s", e->d_name));
    if (dir) closedir(dir);
}

/* Suggests paths that are near. False if there are none. */
static bool suggest_path(Database *d, const char *given)
{
    const char *above = existing_above(given), *word = given + strlen(above);
    word += *above && *word == '/';
    word = keep_text("%.*s", (int)strcspn(word, "/"), word);
    Nearest nearest = {.word = word};
    try_entries(&nearest, above);
    bool to_root = !strcmp(above, "/");
    for (int i = 0; i < nearest.n; i++)
        nearest.names[i] =
            keep_text("%s%s%s", above, *above && !to_root ? "/" : "", nearest.names[i]);
    if (nearest.n) note("%s", nearest_text(&nearest) + 2); /* without "; " */
    if (!*above || to_root) return nearest.n > 0;
    sqlite3_stmt *stmt = ask(d,
                             "SELECT count(*), max(iif(length(?2) > 3 AND name LIKE '%' || ?2 || "
                             "'%', path, NULL)) FROM prof_find(?1)",
                             above, base_name(given), NULL);
    int n = next_row(d, stmt) ? sqlite3_column_int(stmt, 0) : 0;
    const char *path = n ? column_text(stmt, 1) : "";
    sqlite3_finalize(stmt);
    if (*path)
        note("there is a run %s", path);
    else if (n)
        note("%s has %d run%s: profsql list %s", above, n, n > 1 ? "s" : "", shell_word(above));
    return nearest.n > 0 || n > 0;
}

bool path_is_missing(const char *path)
{
    struct stat st;
    return lstat(path, &st) && errno == ENOENT && *path && path[0] != '~' && !strstr(path, "://") &&
           !strpbrk(path, "*?[") && strcmp(path, "-") != 0;
}

void wrong_run(Database *d, const char *given, const char *message)
{
    bool is_missing = path_is_missing(given);
    if (is_missing) /* the tables' own message is about SQL */
        complain("%s: no such file or folder; a run is a *.xplane.pb, a run folder, a log dir or "
                 "an HLO dump",
                 given);
    else if (!*given)
        complain("the path of the run is empty");
    else if (!strcmp(given, "-"))
        complain("-: runs are not read from standard input; save the profile to a file");
    else
        complain("%s", message);
    if (is_missing && !suggest_path(d, given))
        note("profsql list FOLDER shows the runs in a folder and below it, with their paths");
}

/* ---- SQL ---- */

/* Returns the name after a prefix of SQLite's messages, without its schema or table. */
static const char *name_after(const char *message, const char *prefix)
{
    size_t n = strlen(prefix);
    if (strncmp(message, prefix, n)) return NULL;
    const char *name = keep_text("%.*s", (int)strcspn(message + n, " ("), message + n);
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Returns the nearest names among those that SQL lists; `of` is bound to ?1. */
static const char *nearest_of(Database *d, const char *sql, const char *word, const char *of)
{
    Nearest nearest = {.word = word};
    sqlite3_stmt *stmt = ask(d, sql, of, NULL);
    while (next_row(d, stmt)) nearest_try(&nearest, column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return nearest_text(&nearest);
}

/* Returns the first tables that have a column of this name; "" if none has. */
static const char *tables_with(Database *d, const char *column)
{
    sqlite3_stmt *stmt = ask(d,
                             "SELECT group_concat(name, ', ') FROM (SELECT DISTINCT table_name AS "
                             "name FROM prof_columns WHERE \"column\" = ?1 LIMIT 4)",
                             column, NULL);
    const char *text = next_row(d, stmt) ? keep_text("%s", column_text(stmt, 0)) : "";
    sqlite3_finalize(stmt);
    return text;
}

static void no_column(Database *d, const char *message, const char *name)
{
    const char *tables = tables_with(d, name);
    if (*tables)
        complain("%s; it is in other tables, such as %s", message, tables);
    else
        complain("%s%s; profsql tables NAME lists the columns of a table", message,
                 nearest_of(d, "SELECT DISTINCT \"column\" FROM prof_columns", name, NULL));
}

/* Returns whether a text has a quote that word processors write, and SQL does not know. */
static bool has_typographic_quote(const char *text)
{
    static const char *const quotes[] = {"\u2018", "\u2019", "\u201a",
                                         "\u201c", "\u201d", "\u201e"};
    for (size_t i = 0; i < COUNT(quotes); i++)
        if (strstr(text, quotes[i])) return true;
    return false;
}

/* Explains mistakes that need no names. */
static bool wrong_text(const char *message)
{
    if (has_typographic_quote(message))
        complain("%s: SQL has straight quotes, as in 'text'", message);
    else if (!strncmp(message, "unrecognized token: \"'", 22))
        complain("a quote (') is not closed: %.*s", (int)strcspn(message + 21, "\n\""),
                 message + 21);
    else
        return false;
    return true;
}

void wrong_sql(Database *d, const Catalog *catalog, const char *message)
{
    const char *name, *kept = keep_text("%s", message);
    if (wrong_text(kept)) return;
    if ((name = name_after(kept, "no such table: ")))
        complain("%s%s; profsql tables lists all", kept, catalog_nearest(catalog, name));
    else if ((name = name_after(kept, "no such column: ")))
        no_column(d, kept, name);
    else if ((name = name_after(kept, "no such function: ")))
        complain("%s%s", kept,
                 nearest_of(d, "SELECT DISTINCT name FROM prof_functions", name, NULL));
    else if (!strncmp(kept, "unsafe use of virtual table", 27))
        complain("%s: a view or trigger saved in a database reads runs only where SQL can open no "
                 "path. First SELECT prof_serve(), which leaves SQL the runs named here alone, and "
                 "keep PRAGMA trusted_schema on",
                 kept);
    else
        complain_of_query(d);
}

/* Returns the option that has the name of a missing column. */
static const char *option_with(const Options *options, const char *name)
{
    if (options->where && strstr(options->where, name)) return "--where";
    return options->columns && strstr(options->columns, name) ? "--columns" : "--order-by";
}

/* Returns the options that are SQL, as on the command line. */
static const char *options_sql(const Options *options)
{
    const struct {
        const char *name, *value;
    } all[] = {{"--where", options->where},
               {"--order-by", options->order_by},
               {"--columns", options->columns}};
    const char *text = "";
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].value)
            text = keep_text("%s%s%s %s", text, *text ? " or " : "", all[i].name,
                             shell_word(all[i].value));
    return text;
}

void wrong_selection(Database *d, const Catalog *catalog, const Entry *entry,
                     const Options *options, const char *message)
{
    const char *kept = keep_text("%s", message), *name = name_after(kept, "no such column: ");
    if (strstr(kept, "syntax error") || !strcmp(kept, "incomplete input")) {
        complain("%s in %s", kept, options_sql(options));
        return;
    }
    if (!name || has_typographic_quote(name)) {
        wrong_sql(d, catalog, kept);
        return;
    }
    const char *option = option_with(options, name),
               *nearest = nearest_of(d, "SELECT \"column\" FROM prof_columns WHERE table_name = ?1",
                                     name, entry->name);
    if (!*nearest && *tables_with(d, name))
        nearest = keep_text("; it is in other tables, such as %s", tables_with(d, name));
    else if (!*nearest && !strcmp(option, "--where"))
        nearest = keep_text("; a text needs quotes: '%s'", name);
    complain("%s: %s has no column %s%s; profsql tables %s lists its columns", option, entry->name,
             name, nearest, entry->name);
}

/* ---- no rows ---- */

bool explain_nothing(Database *d, const char *name)
{
    if (!d->n_runs) return false;
    sqlite3_stmt *stmt =
        ask(d,
            "SELECT DISTINCT run, message FROM prof_issues WHERE code = 'nothing_to_show' AND (?1 "
            "= '' OR message LIKE ?1 || ' has no rows%')",
            name ? name : "", NULL);
    bool known = false;
    while (next_row(d, stmt)) {
        note("run %s: %s", column_text(stmt, 0), column_text(stmt, 1));
        known = true;
    }
    sqlite3_finalize(stmt);
    return known;
}
