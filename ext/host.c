// SPDX-License-Identifier: Apache-2.0
/* host.c: functions of the program that owns the connection; see profsql.h. SQL cannot call them.
 *
 * They call the SQL functions of admin.c under the connection's mutex. Their arguments are bound as
 * pointers with a type, which SQL cannot create. */
#include "prof.h"
#include "profsql.h"
SQLITE_EXTENSION_INIT3

#include <stdio.h>

#define TEXT_OF_HOST "profsql_text"

const char *text_of_host(sqlite3_value *value)
{
    return sqlite3_value_pointer(value, TEXT_OF_HOST);
}

/* Calls an SQL function with a text that the program binds and another value. */
static int call(sqlite3 *db, const char *sql, const char *of_host, const char *text, char **message)
{
    sqlite3_stmt *stmt = NULL;
    if (message) *message = NULL;
#ifndef SQLITE_CORE
    if (!sqlite3_api) return SQLITE_MISUSE; /* no connection has loaded the library */
#endif
    if (!sql) return SQLITE_MISUSE;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK && of_host)
        rc = sqlite3_bind_pointer(stmt, 1, (void *)(uintptr_t)of_host, TEXT_OF_HOST, NULL);
    if (rc == SQLITE_OK && text) rc = sqlite3_bind_text(stmt, 2, text, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) rc = SQLITE_OK;
    if (rc != SQLITE_OK && message) *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return rc;
}

EXPORTED int profsql_attach(sqlite3 *db, const char *path, const char *label, char **message)
{
    const char *sql = label ? "SELECT prof_attach(?1, ?2)" : "SELECT prof_attach(?1)";
    return call(db, path ? sql : NULL, path, label, message);
}

EXPORTED int profsql_detach(sqlite3 *db, const char *label, char **message)
{
    return call(db, label ? "SELECT prof_detach(?1)" : NULL, label, NULL, message);
}

EXPORTED int profsql_serve(sqlite3 *db, const char *folder, char **message)
{
    return call(db, folder ? "SELECT prof_serve(?1)" : "SELECT prof_serve()", folder, NULL,
                message);
}

/* Writes the reason to standard error, because users of a serving connection must not see paths. */
static int hide(int rc, const char *variable, char **message)
{
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT) return rc;
    fprintf(stderr, "libprofsql: %s: %s\n", variable, *message ? *message : sqlite3_errstr(rc));
    sqlite3_free(*message);
    *message = sqlite3_mprintf("%s: cannot be read; the program that serves it has the reason on "
                               "its standard error",
                               variable);
    return rc;
}

/* Attaches an entry of PROFSQL_RUNS, "label=path" or "path". */
static int attach_entry(sqlite3 *db, char *entry, char **message)
{
    char *equals = strchr(entry, '=');
    if (!*entry) return SQLITE_OK;
    if (equals == entry || (equals && !equals[1])) {
        *message = sqlite3_mprintf("'%s': give label=path, or a path", entry);
        return SQLITE_ERROR;
    }
    if (equals) *equals = 0;
    return profsql_attach(db, equals ? equals + 1 : entry, equals ? entry : NULL, message);
}

int serve_from_environment(sqlite3 *db, char **message)
{
    const char *runs = getenv("PROFSQL_RUNS"), *root = getenv("PROFSQL_ROOT");
    int rc = hide(profsql_serve(db, root && *root ? root : NULL, message), "PROFSQL_ROOT", message);
    char *entries = rc == SQLITE_OK && runs ? sqlite3_mprintf("%s", runs) : NULL;
    if (rc == SQLITE_OK && runs && !entries) rc = SQLITE_NOMEM;
    for (char *entry = entries, *next; rc == SQLITE_OK && entry; entry = next) {
        if ((next = strchr(entry, ','))) *next++ = 0;
        rc = hide(attach_entry(db, entry, message), "PROFSQL_RUNS", message);
    }
    sqlite3_free(entries);
    return rc;
}
