// SPDX-License-Identifier: Apache-2.0
/* select.c: runs queries and writes their rows; see select.h. */
#define _GNU_SOURCE
#include "select.h"

#include "rows.h"
#include "wrong_turns.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 20 }; /* rows of a table on standard output, if --limit is not given */

/* ---- building ---- */

/* Quotes a table's name. With temp, a user's table cannot hide the extension's. */
static char *quoted_name(const char *name) { return keep_text("temp.\"%s\"", name); }

static bool has_given(const Options *options, const char *parameter)
{
    for (int i = 0; i < options->n_given; i++)
        if (!strcmp(options->given[i].name, parameter)) return true;
    return false;
}

/* Returns the term that shows rows which a table leaves out by default: a condition or order is
 * about them too. */
static const char *lift_default(const Entry *entry, const Options *options)
{
    bool asked = options->where || options->order_by || options->limit;
    bool is_tree = !strcmp(entry->name, "op_profile"); /* n limits the children of a node */
    return asked && !is_tree && !has_given(options, "row_limit") &&
                   entry_has_parameter(entry, "row_limit")
               ? " AND row_limit = 0"
               : "";
}

static char *selection(const Options *options, const char *columns, const char *from)
{
    char *sql = keep_text("SELECT %s FROM %s", options->columns ? options->columns : columns, from);
    if (options->where) sql = keep_text("%s AND (%s\n)", sql, options->where);
    if (options->order_by) sql = keep_text("%s ORDER BY %s\n", sql, options->order_by);
    if (options->limit && strcmp(options->limit, "all"))
        sql = keep_text("%s LIMIT %s", sql, options->limit);
    return sql;
}

/* Lists the visible columns for people: without `run` if there is only one, and with the names that
 * short_name shortens at the end, where a narrow terminal leaves them out first. */
static const char *table_columns(Database *d, const Entry *entry, const Options *options)
{
    if (options->format != FORMAT_TABLE || d->n_runs != 1) return "*";
    sqlite3_stmt *stmt =
        ask(d,
            "WITH seen AS (SELECT '\"' || \"column\" || '\"' AS name, \"column\" IN "
            "('kernel_name', 'kernel', 'operation', 'name') AND EXISTS (SELECT 1 FROM prof_columns "
            "WHERE table_name = ?1 AND \"column\" = 'short_name') AS is_long FROM prof_columns "
            "WHERE table_name = ?1 AND type NOT LIKE '%HIDDEN' AND \"column\" <> 'run') SELECT "
            "group_concat(name, ', ') FILTER (WHERE NOT is_long) || coalesce(', ' || "
            "group_concat(name, ', ') FILTER (WHERE is_long), '') FROM seen",
            entry->name, NULL);
    const char *columns = next_row(d, stmt) ? column_text(stmt, 0) : "";
    sqlite3_finalize(stmt);
    return *columns && strcmp(entry->name, "prof_runs") != 0 ? columns : "*";
}

/* ---- running ---- */

static int run(Database *d, sqlite3_stmt *stmt, const Options *options, long long most,
               long long *n_rows)
{
    Sink sink;
    if (!sink_open(&sink, options->output)) {
        sqlite3_finalize(stmt);
        return STATUS_FAILED;
    }
    bool ok = rows_write(d, stmt, options->format, &sink, most, n_rows);
    sqlite3_finalize(stmt);
    ok = sink_close(&sink, ok) && ok;
    return ok ? STATUS_OK : STATUS_FAILED;
}

static sqlite3_stmt *prepare(Database *d, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL);
    return stmt;
}

int select_from(Database *d, const Catalog *catalog, const char *from, const char *texts[2],
                const Options *options, long long *n_rows)
{
    sqlite3_stmt *stmt = prepare(d, selection(options, "*", keep_text("(%s) WHERE 1", from)));
    for (int i = 0; stmt && i < 2 && texts[i]; i++)
        sqlite3_bind_text(stmt, i + 1, texts[i], -1, SQLITE_TRANSIENT);
    if (stmt) return run(d, stmt, options, 0, n_rows);
    wrong_sql(d, catalog, sqlite3_errmsg(d->db));
    return STATUS_FAILED;
}

/* ---- a table or canned query ---- */

/* Binds a value with the type of the parameter, if it looks like one. The extension rejects other
 * values. */
static void bind_value(sqlite3_stmt *stmt, int i, const char *value, const char *type)
{
    char *end;
    double real = strtod(value, &end);
    bool is_number = *value && !*end && strncmp(type, "TEXT", 4) != 0;
    if (is_number && value[strspn(value, "+-0123456789")] == 0)
        sqlite3_bind_int64(stmt, i, strtoll(value, NULL, 10));
    else if (is_number)
        sqlite3_bind_double(stmt, i, real);
    else
        sqlite3_bind_text(stmt, i, value, -1, SQLITE_TRANSIENT);
}

static const char *type_of(Database *d, const Entry *entry, const char *parameter)
{
    sqlite3_stmt *stmt =
        ask(d, "SELECT type FROM prof_columns WHERE table_name = ?1 AND \"column\" = ?2",
            entry->name, parameter, NULL);
    const char *type = next_row(d, stmt) ? column_text(stmt, 0) : "";
    sqlite3_finalize(stmt);
    return type;
}

static void bind_all(Database *d, const Entry *entry, const Options *options, const char *path,
                     sqlite3_stmt *stmt)
{
    for (int i = 0; i < entry->n_sources; i++) {
        const char *name = keep_text(":%s", entry->sources[i]);
        int at = sqlite3_bind_parameter_index(stmt, name);
        const char *value = path ? path : d->runs[i].label;
        if (at) sqlite3_bind_text(stmt, at, value, -1, SQLITE_TRANSIENT);
    }
    for (int i = 0; i < options->n_given; i++) {
        const Given *g = &options->given[i];
        int at = sqlite3_bind_parameter_index(stmt, keep_text(":%s", g->name));
        if (at) bind_value(stmt, at, g->value, type_of(d, entry, g->name));
    }
}

static bool check_given(const Entry *entry, const Options *options)
{
    for (int i = 0; i < options->n_given; i++) {
        const char *name = options->given[i].name;
        if (entry_has_parameter(entry, name)) continue;
        complain("%s has no parameter %s; it has %s. --limit N cuts any answer", entry->name, name,
                 entry_options(entry));
        return false;
    }
    return true;
}

static bool check_runs(const Database *d, const Entry *entry)
{
    if (entry->n_sources != 2 || d->n_runs == 2) return true;
    complain("%s compares two runs: profsql A B %s", entry->name, entry->name);
    return false;
}

static char *where_of(const Entry *entry, const Options *options, bool all_runs)
{
    char *where = keep_text("%s WHERE 1", quoted_name(entry->name));
    for (int i = 0; i < entry->n_sources && !all_runs; i++)
        where = keep_text("%s AND \"%s\" = :%s", where, entry->sources[i], entry->sources[i]);
    for (int i = 0; i < options->n_given; i++)
        where =
            keep_text("%s AND \"%s\" = :%s", where, options->given[i].name, options->given[i].name);
    return keep_text("%s%s", where, lift_default(entry, options));
}

/* Explains an empty answer: by the reason in prof_issues, which is that of the table whatever the
 * options are, or by the options. */
static void explain_table(Database *d, const Entry *entry, const Options *options)
{
    const char *run = d->n_runs == 1 ? keep_text("run %s: ", d->runs[0].label) : "";
    if (options->limit && !strcmp(options->limit, "0")) return;
    if (options->where) note("%sno row of %s matches --where %s", run, entry->name, options->where);
    if (explain_nothing(d, entry->name) || options->where) return;
    if (options->n_given)
        note("%sno row of %s for these parameters", run, entry->name);
    else
        note("%s has no rows", entry->name);
}

int select_table(Database *d, const Catalog *catalog, const Entry *entry, const Options *options,
                 const char *path)
{
    if (!check_given(entry, options) || !check_runs(d, entry)) return STATUS_USAGE;
    bool all_runs = entry->n_sources == 1 && !path && d->n_runs != 1;
    const char *columns = table_columns(d, entry, options);
    sqlite3_stmt *stmt =
        prepare(d, selection(options, columns, where_of(entry, options, all_runs)));
    if (!stmt) {
        wrong_selection(d, catalog, entry, options, sqlite3_errmsg(d->db));
        return STATUS_FAILED;
    }
    bind_all(d, entry, options, path, stmt);
    long long n_rows = 0;
    bool limited = options->limit || options->output || has_given(options, "n");
    int status = run(d, stmt, options, limited ? 0 : ROWS_SHOWN, &n_rows);
    if (status == STATUS_OK && !n_rows) explain_table(d, entry, options);
    return status;
}

/* ---- SQL ---- */

static bool bind_runs(const Database *d, sqlite3_stmt *stmt)
{
    int n = sqlite3_bind_parameter_count(stmt);
    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);
        int run = name && name[0] == ':' && name[1] >= 'a' && !name[2] ? name[1] - 'a' : -1;
        if (run < 0 || run >= d->n_runs) {
            complain("nothing is bound to %s: :a is the first run, :b the second, and %d %s given",
                     name ? name : "?", d->n_runs, d->n_runs == 1 ? "is" : "are");
            return false;
        }
        sqlite3_bind_text(stmt, i, d->runs[run].label, -1, SQLITE_TRANSIENT);
    }
    return true;
}

/* Returns whether something other than comments and spaces follows. */
static bool has_more(Database *d, const char *tail)
{
    sqlite3_stmt *stmt = NULL;
    while (*tail) {
        const char *next = tail;
        if (sqlite3_prepare_v2(d->db, tail, -1, &stmt, &next) != SQLITE_OK || stmt) {
            sqlite3_finalize(stmt);
            return true;
        }
        tail = next;
    }
    return false;
}

/* Says that what SQL without rows has made is lost, unless it is in a database of ATTACH. */
static void note_lost(Database *d)
{
    sqlite3_stmt *stmt = ask(d, "SELECT count(*) FROM pragma_database_list WHERE seq > 1", NULL);
    if (next_row(d, stmt) && !sqlite3_column_int(stmt, 0))
        note("the SQL has no rows, and what it made ends with this command; SQL that selects from "
             "it can follow after a semicolon, and ATTACH 'FILE.db' keeps it");
    sqlite3_finalize(stmt);
}

/* Statements before the last may prepare what it needs. */
int select_sql(Database *d, const Catalog *catalog, const char *sql, const Options *options)
{
    long long n_rows = 0;
    for (const char *tail = sql; *tail;) {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(d->db, tail, -1, &stmt, &tail) != SQLITE_OK) {
            wrong_sql(d, catalog, sqlite3_errmsg(d->db));
            return STATUS_FAILED;
        }
        if (!stmt) continue;
        if (!bind_runs(d, stmt)) {
            sqlite3_finalize(stmt);
            return STATUS_USAGE;
        }
        if (sqlite3_column_count(stmt)) {
            if (has_more(d, tail)) {
                sqlite3_finalize(stmt);
                complain("only the last statement of the SQL may have rows; ask twice, or use "
                         "profsql shell");
                return STATUS_USAGE;
            }
            int status = run(d, stmt, options, 0, &n_rows);
            if (status == STATUS_OK && !n_rows && !explain_nothing(d, NULL)) note("no rows");
            return status;
        }
        int rc = sqlite3_step(stmt);
        if (rc != SQLITE_DONE) wrong_sql(d, catalog, sqlite3_errmsg(d->db));
        sqlite3_finalize(stmt);
        if (rc != SQLITE_DONE) return STATUS_FAILED;
    }
    note_lost(d);
    return STATUS_OK;
}
