// SPDX-License-Identifier: Apache-2.0
/* export.c: writes tables to a database; see export.h. */
#define _GNU_SOURCE
#include "export.h"

#include "new_file.h"
#include "wrong_turns.h"

#include <string.h>

typedef struct {
    Database *d;
    NewFile file;
    int n_tables, n_empty;
    long long n_rows;
} Export;

/* ---- which tables ---- */

/* Returns whether a table shows the events again; those tables are the largest. */
static bool repeats_another(const char *name)
{
    static const char *const names[] = {"events", "timeline", "event_stats", "xprof_events"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; *p;) {
        size_t k = strcspn(p, ",");
        if (k == n && !strncmp(p, name, n)) return true;
        p += k + (p[k] == ',');
    }
    return false;
}

/* Returns whether the table has a column for the run, which rows of several runs need. */
static bool fits_runs(const Export *e, const Entry *entry)
{
    if (entry->n_sources == 2) return e->d->n_runs == 2;
    if (!entry->n_sources || e->d->n_runs == 1) return true;
    sqlite3_stmt *stmt =
        ask(e->d, "SELECT 1 FROM prof_columns WHERE table_name = ?1 AND \"column\" = 'run'",
            entry->name, NULL);
    bool has_run = next_row(e->d, stmt);
    sqlite3_finalize(stmt);
    return has_run;
}

static bool is_wanted(const Export *e, const Entry *entry, const Options *options)
{
    if (entry_takes_path(entry) || entry_asks_server(entry) || !fits_runs(e, entry)) return false;
    if (!options->tables) return !repeats_another(entry->name);
    return !strcmp(options->tables, "all") || is_listed(options->tables, entry->name);
}

static bool check_list(const Catalog *catalog, const char *list)
{
    if (!list || !strcmp(list, "all")) return true;
    for (const char *p = list; *p;) {
        size_t k = strcspn(p, ",");
        const char *name = keep_text("%.*s", (int)k, p);
        const Entry *entry = catalog_find(catalog, name);
        if (!entry || strcmp(entry->name, name)) {
            complain("--tables: '%s' is not a table or query%s", name,
                     catalog_nearest(catalog, name));
            return false;
        }
        p += k + (p[k] == ',');
    }
    return true;
}

/* ---- writing ---- */

/* Writes SQLite's error, unless a signal ends the command. */
static void complain_of(Export *e, const char *name)
{
    if (!database_is_ending()) complain("%s: %s", name, sqlite3_errmsg(e->d->db));
}

static bool execute(Export *e, const char *sql)
{
    if (sqlite3_exec(e->d->db, sql, NULL, NULL, NULL) == SQLITE_OK) return true;
    complain_of(e, e->file.path);
    return false;
}

/* Lists the columns. Hidden columns with results become ordinary ones; arguments are left out. */
static bool columns_of(Export *e, const Entry *entry, const char **declared, const char **names)
{
    sqlite3_stmt *stmt = ask(
        e->d,
        "SELECT \"column\", replace(type, ' HIDDEN', '') FROM prof_columns WHERE table_name = ?1",
        entry->name, NULL);
    *declared = *names = "";
    while (next_row(e->d, stmt)) {
        const char *name = column_text(stmt, 0), *comma = **names ? ", " : "";
        bool is_argument = entry_has_parameter(entry, name);
        for (int i = 0; i < entry->n_sources; i++) is_argument |= !strcmp(entry->sources[i], name);
        if (is_argument) continue;
        *declared = keep_text("%s%s\"%s\" %s", *declared, comma, name, column_text(stmt, 1));
        *names = keep_text("%s%s\"%s\"", *names, comma, name);
    }
    sqlite3_finalize(stmt);
    return **names;
}

static bool copy(Export *e, const Entry *entry)
{
    const char *declared, *names;
    if (!columns_of(e, entry, &declared, &names)) return false;
    if (!execute(e, keep_text("CREATE TABLE out.\"%s\" (%s)", entry->name, declared))) return false;
    const char *of = "";
    if (entry->n_sources == 2)
        of = keep_text(" WHERE \"%s\" = ?1 AND \"%s\" = ?2", entry->sources[0], entry->sources[1]);
    sqlite3_stmt *stmt = ask(e->d,
                             keep_text("INSERT INTO out.\"%s\" SELECT %s FROM temp.\"%s\"%s",
                                       entry->name, names, entry->name, of),
                             NULL);
    if (!stmt) return false;
    for (int i = 0; entry->n_sources == 2 && i < 2; i++)
        sqlite3_bind_text(stmt, i + 1, e->d->runs[i].label, -1, SQLITE_TRANSIENT);
    bool ok = sqlite3_step(stmt) == SQLITE_DONE;
    if (!ok) complain_of(e, entry->name);
    sqlite3_finalize(stmt);
    long long n = sqlite3_changes64(e->d->db);
    e->n_tables++, e->n_rows += n, e->n_empty += !n;
    return ok;
}

/* Copies all tables. prof_issues comes last, because it has the reasons for empty ones. */
static bool copy_all(Export *e, const Catalog *catalog, const Options *options)
{
    const Entry *issues = catalog_find(catalog, "prof_issues");
    for (int i = 0; i < catalog->n; i++) {
        const Entry *entry = &catalog->entries[i];
        if (entry != issues && is_wanted(e, entry, options) && !copy(e, entry)) return false;
    }
    return !is_wanted(e, issues, options) || copy(e, issues);
}

static bool write_part(Export *e, const Catalog *catalog, const Options *options)
{
    sqlite3_stmt *stmt = ask(e->d, "ATTACH ?1 AS out", e->file.part, NULL);
    bool ok = stmt && sqlite3_step(stmt) == SQLITE_DONE;
    if (!ok) complain_of(e, e->file.path);
    sqlite3_finalize(stmt);
    ok = ok && execute(e, "PRAGMA out.journal_mode = OFF") &&
         execute(e, "PRAGMA out.synchronous = OFF") && execute(e, "BEGIN") &&
         copy_all(e, catalog, options) && execute(e, "COMMIT");
    if (!sqlite3_get_autocommit(e->d->db)) sqlite3_exec(e->d->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(e->d->db, "DETACH out", NULL, NULL, NULL);
    return ok;
}

/* ---- the file ---- */

/* Rejects a file name with the suffix of another format, because the result is a database. */
static bool check_name(const char *path)
{
    static const char *const others[] = {".csv",     ".tsv", ".txt",  ".json",           ".jsonl",
                                         ".md",      ".xls", ".gz",   ".xlsx",           ".parquet",
                                         ".pftrace", ".pb",  ".html", ".perfetto-trace", NULL};
    bool is_output = !strcmp(path, "-");
    if (is_output)
        complain("export writes a database of SQLite, which standard output cannot be: profsql "
                 "export RUN FILE.db");
    else if (new_file_has_suffix(path, others))
        complain(
            "%s: export writes a database of SQLite: name it FILE.db. profsql RUN NAME --output "
            "FILE.csv writes a table in another format, export --format chrome or perfetto a trace",
            path);
    else
        return true;
    return false;
}

int export_to(Database *d, const Catalog *catalog, const char *path, const Options *options)
{
    Export e = {.d = d};
    if (!check_list(catalog, options->tables) || !check_name(path)) return STATUS_USAGE;
    if (!new_file_open(&e.file, path, options->force)) return STATUS_FAILED;
    bool ok = write_part(&e, catalog, options);
    double megabytes = new_file_megabytes(&e.file);
    ok = new_file_close(&e.file, ok);
    bool has_reasons = e.n_empty && is_wanted(&e, catalog_find(catalog, "prof_issues"), options);
    if (ok)
        note("wrote %s: %d table%s, %lld rows, %.1f MB%s%s", path, e.n_tables,
             e.n_tables == 1 ? "" : "s", e.n_rows, megabytes,
             e.n_empty ? keep_text("; %d empty", e.n_empty) : "",
             has_reasons ? ", prof_issues has why" : "");
    return ok ? STATUS_OK : STATUS_FAILED;
}
