// SPDX-License-Identifier: Apache-2.0
/* admin.c: prof_attach, prof_detach, prof_serve, prof_clear, prof_error, prof_version and
 * prof_debug.
 *
 *   SELECT prof_attach('logs/plugins/profile/2026_11_20', 'before');   -- before */
#include "prof.h"
SQLITE_EXTENSION_INIT3

#ifndef PROFSQL_COMMIT
#define PROFSQL_COMMIT "unknown"
#endif

static void fail(sqlite3_context *ctx, int rc, char *message)
{
    if (message) sqlite3_result_error(ctx, message, -1);
    if (rc == SQLITE_NOMEM || (!message && rc != SQLITE_INTERRUPT))
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_error_code(ctx, rc);
    sqlite3_free(message);
}

/* On a serving connection SQL must not change what the connection's next user sees. Then this fails
 * the call and returns true. */
static bool is_refused(sqlite3_context *ctx, const char *function)
{
    const Prof *prof = sqlite3_user_data(ctx);
    if (prof->serving) fail(ctx, SQLITE_ERROR, sqlite3_mprintf("%s: " SERVED_ONLY, function));
    return prof->serving;
}

static void attach_run(sqlite3_context *ctx, int argc, sqlite3_value **argv, bool streaming)
{
    const char *of_host = text_of_host(argv[0]),
               *path = of_host ? of_host : (const char *)sqlite3_value_text(argv[0]),
               *label = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
    if (!of_host && is_refused(ctx, "prof_attach")) return;
    if (!path || (argc > 1 && !label)) return;
    if (has_nul(argv[0]) || (argc > 1 && has_nul(argv[1]))) {
        fail(ctx, SQLITE_ERROR, sqlite3_mprintf(SOURCE_WITH_NUL, has_nul(argv[0]) ? path : label));
        return;
    }
    if (label && !*label) {
        fail(ctx, SQLITE_ERROR,
             sqlite3_mprintf("%s: the label is empty; give a word as the second argument", path));
        return;
    }
    char *attached_as = NULL, *message = NULL;
    int rc = prof_attach(sqlite3_user_data(ctx), path, label, streaming, &attached_as, &message);
    if (rc != SQLITE_OK)
        fail(ctx, rc, message);
    else
        sqlite3_result_text(ctx, attached_as, -1, sqlite3_free);
}

static void attach(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    attach_run(ctx, argc, argv, false);
}
static void attach_by_host(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    attach_run(ctx, argc, argv, true);
}

static void detach(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    const char *of_host = text_of_host(argv[0]),
               *label = of_host ? of_host : (const char *)sqlite3_value_text(argv[0]);
    if (!of_host && is_refused(ctx, "prof_detach")) return;
    if (!label) return;
    if (prof_detach(sqlite3_user_data(ctx), label))
        sqlite3_result_text(ctx, label, -1, SQLITE_TRANSIENT);
    else
        fail(ctx, SQLITE_ERROR,
             sqlite3_mprintf(
                 "%s: no attached run has this label; SELECT run FROM prof_runs lists the labels",
                 label));
}

static void clear(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    if (is_refused(ctx, "prof_clear")) return;
    sqlite3_result_int(ctx, prof_clear(sqlite3_user_data(ctx)));
}

static void serve(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Prof *prof = sqlite3_user_data(ctx);
    const char *of_host = argc ? text_of_host(argv[0]) : NULL,
               *folder = of_host || !argc ? of_host : (const char *)sqlite3_value_text(argv[0]);
    if (argc && !of_host && is_refused(ctx, "prof_serve")) return;
    if (argc && !folder) return;
    if (argc && !of_host && has_nul(argv[0])) {
        fail(ctx, SQLITE_ERROR, sqlite3_mprintf(SOURCE_WITH_NUL, folder));
        return;
    }
    ProfErr err = {0};
    char *message = NULL;
    bool before = prof->serving;
    int rc = prof_serve(prof, folder, &err) ? prof_error(prof, &err, &message) : SQLITE_OK;
    if (rc == SQLITE_OK && !before) rc = register_tables(prof);
    if (rc != SQLITE_OK) fail(ctx, rc, message);
}

static void version(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    result_static(ctx, PROFSQL_VERSION);
}

static void debug(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    const Prof *prof = sqlite3_user_data(ctx);
    result_owned(
        ctx, sqlite3_mprintf("libprofsql %s\ncommit %s\ncompiler %s\nsqlite headers %s, host %s\n"
                             "runs attached %d, open by path %d\nserving %s",
                             PROFSQL_VERSION, PROFSQL_COMMIT, __VERSION__, SQLITE_VERSION,
                             sqlite3_libversion(), prof->n_attached, prof->n_cached,
                             prof->serving ? "yes" : "no"));
}

static void connection_number(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    sqlite3_result_int64(ctx, ((const Prof *)sqlite3_user_data(ctx))->number);
}

static void end_query(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    const char *message = (const char *)sqlite3_value_text(argv[0]);
    if (message)
        sqlite3_result_error(ctx, message, -1);
    else if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
        sqlite3_result_error_nomem(ctx);
}

/* Functions that open a path are for direct use only: views and triggers of a database must not
 * call them. */
enum { DIRECT = SQLITE_UTF8 | SQLITE_DIRECTONLY, HARMLESS = SQLITE_UTF8 | SQLITE_INNOCUOUS };
#define SCALAR(name_, n, flags_, f, signature_, description_, example_)                            \
    {                                                                                              \
        .name = name_, .n_args = n, .kind = FUNCTION_SCALAR, .flags = flags_, .xFunc = f,          \
        .signature = signature_, .description = description_, .origin = "libprofsql",              \
        .since = "0.1.0", .example = example_                                                      \
    }

const FunctionDef admin_functions[] = {
    SCALAR("prof_attach", 1, DIRECT, attach, "prof_attach(path)",
           "Reads a run and attaches it under its name; returns this label. NULL if path is NULL; "
           "an error if the run cannot be read or another run has the label.",
           "SELECT prof_attach('logs')"),
    SCALAR("prof_attach", 2, DIRECT, attach, "prof_attach(path, label)",
           "Reads a run and attaches it under a label; returns the label. NULL if an argument is "
           "NULL; an error if the run cannot be read or another run has the label.",
           "SELECT prof_attach('logs', 'after')"),
    SCALAR("prof_attach_by_host", 1, DIRECT, attach_by_host, "prof_attach_by_host(path)",
           "Attaches a run of many hosts with less memory: events are read when a table needs "
           "them. Tables that combine the ops, kernels and steps of all hosts load the events of "
           "one host at a time; a table of events loads all of them, which then stay in memory.",
           "SELECT prof_attach_by_host('logs')"),
    SCALAR("prof_attach_by_host", 2, DIRECT, attach_by_host, "prof_attach_by_host(path, label)",
           "Like prof_attach_by_host(path), with a label as in prof_attach(path, label).",
           "SELECT prof_attach_by_host('logs', 'after')"),
    SCALAR("prof_detach", 1, DIRECT, detach, "prof_detach(label)",
           "Detaches a run; returns its label. NULL if label is NULL; an error if no attached run "
           "has this label.",
           "SELECT prof_detach('before')"),
    SCALAR("prof_serve", 0, DIRECT, serve, "prof_serve()",
           "From now on, SQL on this connection reads only the attached runs and opens no path, "
           "and views saved in a database may use the tables. This cannot be undone. Returns NULL.",
           "SELECT prof_attach('logs', 'after'), prof_serve()"),
    SCALAR("prof_serve", 1, DIRECT, serve, "prof_serve(folder)",
           "Like prof_serve(), but SQL also reads the runs in a folder and below it, by the names "
           "that prof_find lists. NULL has no effect; an error if the connection already serves.",
           "SELECT prof_serve('logs')"),
    SCALAR("prof_views", 0, DIRECT, prof_views, "prof_views()",
           "Creates a temporary table for each table and canned query, so that .tables, .schema, "
           "completion and other programs list them. They read the attached runs, and still accept "
           "arguments. Leaves out names that your own tables or views have. Returns a sentence "
           "with the number of tables and the names left out.",
           "SELECT prof_views()"),
    SCALAR("prof_views", 1, DIRECT, prof_views, "prof_views(source)",
           "Like prof_views(), but the tables read this source by default. Calling it again "
           "replaces the tables. NULL has no effect; an error if the source cannot be read.",
           "SELECT prof_views('logs')"),
    SCALAR("prof_clear", 0, DIRECT, clear, "prof_clear()",
           "Closes the runs that queries opened by path; returns their number.",
           "SELECT prof_clear()"),
    SCALAR("prof_connection", 0, HARMLESS, connection_number, "prof_connection()",
           "Returns the number of this connection among those of the process, for the C function "
           "profsql_connection().",
           "SELECT prof_connection()"),
    SCALAR("prof_error", 1, HARMLESS, end_query, "prof_error(message)",
           "Fails the query with this error message, as canned queries do if an argument names "
           "something that does not exist. NULL if message is NULL.",
           "SELECT prof_error('no step') WHERE NOT EXISTS (SELECT 1 FROM steps)"),
    SCALAR("prof_version", 0, HARMLESS, version, "prof_version()",
           "Returns the version of libprofsql.", "SELECT prof_version()"),
    SCALAR("prof_debug", 0, HARMLESS, debug, "prof_debug()",
           "Returns the version, commit, compiler, SQLite versions and number of open runs, one "
           "fact per line.",
           "SELECT prof_debug()"),
};
const int n_admin_functions = COUNT(admin_functions);
