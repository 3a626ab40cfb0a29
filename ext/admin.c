// SPDX-License-Identifier: Apache-2.0
/* admin.c: prof_attach, prof_detach, prof_clear, prof_error, prof_version and prof_debug.
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
    if (rc == SQLITE_NOMEM || !message)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_error_code(ctx, rc);
    sqlite3_free(message);
}

static void attach_run(sqlite3_context *ctx, int argc, sqlite3_value **argv, bool by_host)
{
    const char *path = (const char *)sqlite3_value_text(argv[0]), *label = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
    if (!path || (argc > 1 && !label)) return;
    if (has_nul(argv[0]) || (argc > 1 && has_nul(argv[1]))) {
        fail(ctx, SQLITE_ERROR, sqlite3_mprintf(SOURCE_WITH_NUL, has_nul(argv[0]) ? path : label));
        return;
    }
    if (label && !*label) {
        fail(ctx, SQLITE_ERROR, sqlite3_mprintf("%s: an empty label names no run; give a word as second argument", path));
        return;
    }
    char *attached_as = NULL, *message = NULL;
    int rc = prof_attach(sqlite3_user_data(ctx), path, label, by_host, &attached_as, &message);
    if (rc != SQLITE_OK)
        fail(ctx, rc, message);
    else
        sqlite3_result_text(ctx, attached_as, -1, sqlite3_free);
}

static void attach(sqlite3_context *ctx, int argc, sqlite3_value **argv) { attach_run(ctx, argc, argv, false); }
static void attach_by_host(sqlite3_context *ctx, int argc, sqlite3_value **argv) { attach_run(ctx, argc, argv, true); }

static void detach(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    const char *label = (const char *)sqlite3_value_text(argv[0]);
    if (!label) return;
    if (prof_detach(sqlite3_user_data(ctx), label))
        sqlite3_result_text(ctx, label, -1, SQLITE_TRANSIENT);
    else
        fail(ctx, SQLITE_ERROR, sqlite3_mprintf("%s: no run is attached under this label; SELECT run FROM prof_runs lists them", label));
}

static void clear(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    sqlite3_result_int(ctx, prof_clear(sqlite3_user_data(ctx)));
}

static void version(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    sqlite3_result_text(ctx, PROFSQL_VERSION, -1, SQLITE_STATIC);
}

static void debug(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    const Prof *prof = sqlite3_user_data(ctx);
    result_owned(ctx, sqlite3_mprintf("libprofsql %s\ncommit %s\ncompiler %s\nsqlite headers %s, host %s\n"
                                      "runs attached %d, open by path %d",
                                      PROFSQL_VERSION, PROFSQL_COMMIT, __VERSION__, SQLITE_VERSION, sqlite3_libversion(), prof->n_attached, prof->n_cached));
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

/* What opens a path is for direct use only: a view or trigger of somebody's database must not. */
enum { DIRECT = SQLITE_UTF8 | SQLITE_DIRECTONLY, HARMLESS = SQLITE_UTF8 | SQLITE_INNOCUOUS };
#define SCALAR(name_, n, flags_, f, signature_, description_)                                                                                                  \
    {                                                                                                                                                          \
        .name = name_, .n_args = n, .kind = FUNCTION_SCALAR, .flags = flags_, .xFunc = f, .signature = signature_, .description = description_,                \
        .origin = "libprofsql"                                                                                                                                 \
    }

const FunctionDef admin_functions[] = {
    SCALAR("prof_attach", 1, DIRECT, attach, "prof_attach(path)",
           "reads a run and keeps it under its name; returns the label; an error when it cannot be read; NULL for NULL"),
    SCALAR("prof_attach", 2, DIRECT, attach, "prof_attach(path, label)",
           "reads a run and keeps it under a label; returns the label; an error when it cannot be read or the label is taken by another run"),
    SCALAR("prof_attach_by_host", 1, DIRECT, attach_by_host, "prof_attach_by_host(path)",
           "the same for a run of many hosts: their events are read when a table asks for them and, where ops, kernels and steps of all hosts are put "
           "together, held for one host at a time; a table of events holds all from then on"),
    SCALAR("prof_attach_by_host", 2, DIRECT, attach_by_host, "prof_attach_by_host(path, label)", "the same, under a label"),
    SCALAR("prof_detach", 1, DIRECT, detach, "prof_detach(label)", "forgets an attached run; returns the label; an error when there is none"),
    SCALAR("prof_clear", 0, DIRECT, clear, "prof_clear()", "forgets the runs opened by path; returns how many"),
    SCALAR("prof_error", 1, HARMLESS, end_query, "prof_error(message)",
           "ends the query with this error, as canned queries do when an argument names what is not there; NULL for NULL"),
    SCALAR("prof_version", 0, HARMLESS, version, "prof_version()", "the version of libprofsql"),
    SCALAR("prof_debug", 0, HARMLESS, debug, "prof_debug()", "version, commit, compiler, SQLite, and what is open; one fact a line"),
};
const int n_admin_functions = COUNT(admin_functions);
