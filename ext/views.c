// SPDX-License-Identifier: Apache-2.0
/* views.c: prof_views() and the second module of each table, which it uses.
 *
 *   SELECT prof_views('logs');
 *   .tables
 *   SELECT * FROM kpi;             -- of logs
 *   SELECT * FROM kpi('others');   -- arguments work as before
 *
 * A TEMP VIEW called kpi could not be called with arguments, would hide the table kpi from canned
 * queries and from itself, and would have no hidden columns. So prof_views() makes
 *
 *   CREATE VIRTUAL TABLE temp."kpi" USING "profsql.kpi"('logs')
 *
 * which has none of these problems. */
#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <ctype.h>

extern const Table profsql_live_table;

sqlite3_value *text_value(sqlite3 *db, const char *text)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3_value *value = NULL;
    if (sqlite3_prepare_v2(db, "SELECT ?1", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_value_dup(sqlite3_column_value(stmt, 0));
    sqlite3_finalize(stmt);
    return value;
}

/* Returns the text of an SQL literal such as 'it''s'. */
static char *unquoted(const char *literal)
{
    size_t n = strlen(literal), k = 0;
    char *text = sqlite3_malloc64(n + 1);
    if (!text) return NULL;
    bool is_quoted = n > 1 && *literal == '\'';
    for (size_t i = is_quoted; i < n - is_quoted; i++) {
        text[k++] = literal[i];
        if (is_quoted && literal[i] == '\'') i++;
    }
    text[k] = 0;
    return text;
}

/* argv: module, database, table, then the arguments in parentheses. Without CREATE, the table's
 * name is that of the module. */
int view_source(sqlite3 *db, int argc, const char *const *argv, sqlite3_value **source,
                char **message)
{
    bool is_call = argc == 3 && !strcmp(argv[0], argv[2]);
    if (is_call) return SQLITE_OK;
    if (sqlite3_stricmp(argv[1], "temp") != 0 || argc > 4) {
        *message = sqlite3_mprintf("\"%s\" makes temporary tables with at most one argument, their "
                                   "source; SELECT prof_views('logs') makes them",
                                   argv[0]);
        return SQLITE_ERROR;
    }
    if (argc == 3) return SQLITE_OK;
    char *text = unquoted(argv[3]);
    *source = text ? text_value(db, text) : NULL;
    sqlite3_free(text);
    return *source ? SQLITE_OK : SQLITE_NOMEM;
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

char *view_sql(const char *sql)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (const char *at; (at = strstr(sql, "temp.")); sql = at) {
        sqlite3_str_append(out, sql, (int)(at - sql) + 5);
        for (sql = at += 5; in_name(*at);) at++;
        char name[100];
        sqlite3_snprintf(sizeof name, name, "%.*s", (int)(at - sql), sql);
        sqlite3_str_appendf(out, "\"" VIEW_MODULE "\"", name);
    }
    sqlite3_str_appendall(out, sql);
    return sqlite3_str_finish(out);
}

/* ---- prof_views ---- */

enum Name { FREE, OURS, TAKEN };

/* Finds out whose a name is: of a temporary table that prof_views() made, or of the user. */
static int look_up(sqlite3 *db, const char *name, enum Name *is)
{
    sqlite3_stmt *stmt = NULL;
    *is = FREE;
    int rc =
        sqlite3_prepare_v2(db,
                           "SELECT schema = 'temp' AND EXISTS (SELECT 1 FROM temp.sqlite_schema AS "
                           "s WHERE s.name = l.name AND s.sql LIKE '% USING \"profsql.%') FROM "
                           "pragma_table_list AS l WHERE l.name = ?1 COLLATE NOCASE",
                           -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        *is = *is == TAKEN || !sqlite3_column_int(stmt, 0) ? TAKEN : OURS;
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int execute(sqlite3 *db, char *sql)
{
    int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

/* Makes a table. If the user has one of this name, adds the name to `taken`. */
static int make_view(sqlite3 *db, const char *name, const char *source, int *n, sqlite3_str *taken)
{
    enum Name is;
    int rc = look_up(db, name, &is);
    if (rc != SQLITE_OK) return rc;
    if (is == TAKEN) {
        sqlite3_str_appendf(taken, "%s%s", sqlite3_str_length(taken) ? ", " : "", name);
        return SQLITE_OK;
    }
    if (is == OURS) rc = execute(db, sqlite3_mprintf("DROP TABLE temp.\"%w\"", name));
    char *arguments = source ? sqlite3_mprintf("(%Q)", source) : sqlite3_mprintf("");
    if (rc == SQLITE_OK)
        rc = execute(db,
                     sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w\" USING \"" VIEW_MODULE "\"%s",
                                     name, name, arguments));
    sqlite3_free(arguments);
    *n += rc == SQLITE_OK;
    return rc;
}

/* Returns whether the table reads a run. The source of profsql_live is the folder of a capture.
 * Canned queries without an argument `source` do not read it. */
static bool reads_run(const Table *table)
{
    return table_column(table, "source") >= 0 && table != &profsql_live_table;
}

static int make_views(sqlite3 *db, const char *source, int *n, sqlite3_str *taken)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < n_prof_tables + n_prof_queries && rc == SQLITE_OK; i++) {
        const Query *query = i < n_prof_tables ? NULL : &prof_queries[i - n_prof_tables];
        const char *name = query ? query->name : prof_tables[i]->name;
        bool is_read = query || reads_run(prof_tables[i]);
        rc = make_view(db, name, is_read ? source : NULL, n, taken);
    }
    return rc;
}

/* Checks that the source can be read. */
static int check_source(Prof *prof, const char *source, char **message)
{
    SourceRun *runs = NULL;
    int n = 0;
    Statement s;
    statement_open(&s, prof->db);
    int rc = statement_close(&s, prof_open(prof, source, true, &runs, &n, message));
    prof_release(runs, n);
    return rc;
}

/* Returns whether it is called in a statement that writes, which could not continue after a change
 * of the schema. */
static bool in_writing_statement(sqlite3 *db)
{
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s));)
        if (sqlite3_stmt_busy(s) && !sqlite3_stmt_readonly(s)) return true;
    return false;
}

void prof_views(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Prof *prof = sqlite3_user_data(ctx);
    const char *source = argc ? (const char *)sqlite3_value_text(argv[0]) : NULL;
    char *message = NULL;
    int n = 0, rc = SQLITE_OK;
    if (argc && !source) return;
    if (prof->serving)
        message = sqlite3_mprintf("prof_views: " SERVED_ONLY), rc = SQLITE_ERROR;
    else if (in_writing_statement(prof->db))
        message = sqlite3_mprintf(
            "prof_views: call it in a SELECT of its own, not in a statement that writes"),
        rc = SQLITE_ERROR;
    else if (argc && has_nul(argv[0]))
        message = sqlite3_mprintf(SOURCE_WITH_NUL, source), rc = SQLITE_ERROR;
    else if (source)
        rc = check_source(prof, source, &message);
    sqlite3_str *taken = sqlite3_str_new(NULL);
    if (rc == SQLITE_OK && (rc = make_views(prof->db, source, &n, taken)) != SQLITE_OK)
        message = sqlite3_mprintf("%s", sqlite3_errmsg(prof->db));
    if (!rc) rc = sqlite3_str_errcode(taken);
    char *names = sqlite3_str_finish(taken);
    if (rc == SQLITE_OK)
        result_owned(
            ctx, sqlite3_mprintf("%d tables read %s%s%s", n, source ? source : "the attached runs",
                                 names ? "; you have others called " : "", names ? names : ""));
    else if (message)
        sqlite3_result_error(ctx, message, -1);
    if (rc != SQLITE_OK) sqlite3_result_error_code(ctx, rc);
    sqlite3_free(names);
    sqlite3_free(message);
}
