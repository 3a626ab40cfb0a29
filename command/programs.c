// SPDX-License-Identifier: Apache-2.0
/* programs.c: starts other programs; see programs.h. */
#define _GNU_SOURCE
#include "programs.h"

#include "../loader/base/beside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds profsql-capture, which is installed in the same folder. */
static const char *find_capture(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return NULL;
    self[n] = 0;
    *strrchr(self, '/') = 0;
    const char *beside = keep_text("%s/profsql-capture", self);
    return access(beside, X_OK) ? NULL : beside;
}

static int failed_to_run(const char *program)
{
    complain("%s: %s", program, strerror(errno));
    return STATUS_NO_COMMAND;
}

int run_capture(char **arguments)
{
    const char *beside = find_capture();
    arguments[0] = keep_text("%s", beside ? beside : "profsql-capture");
    if (beside) execv(beside, arguments);
    execvp("profsql-capture", arguments);
    if (errno != ENOENT) return failed_to_run("profsql-capture");
    complain("profsql-capture is not installed: it is neither next to this command nor in PATH. It "
             "comes with the sources of libprofsql (make install) and with Debian's package "
             "profsql, not with pip");
    return STATUS_NO_COMMAND;
}

/* ---- the shell ---- */

/* Returns a text as an SQL literal. */
static const char *quoted(const char *text)
{
    char *sql = sqlite3_mprintf("%Q", text);
    const char *kept = keep_text("%s", sql ? sql : "''");
    sqlite3_free(sql);
    return kept;
}

/* Returns a text as an argument of a dot command: "a\"b". */
static const char *quoted_argument(const char *text)
{
    char *argument = keep_alloc(2 * strlen(text) + 3), *p = argument;
    *p++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') *p++ = '\\';
        *p++ = *text;
    }
    *p = '"';
    return argument;
}

/* Returns statements that attach the runs and print nothing. */
static const char *attach_statements(const Database *d)
{
    const char *sql = "";
    for (int i = 0; i < d->n_runs; i++)
        sql = keep_text("%sSELECT 1 WHERE prof_attach(%s, %s) IS NULL;\n", sql,
                        quoted(d->runs[i].path), quoted(d->runs[i].label));
    return keep_text("%sSELECT 1 WHERE prof_views() IS NULL;", sql);
}

static bool has_settings(void)
{
    const char *home = getenv("HOME");
    return home && !access(keep_text("%s/.sqliterc", home), R_OK);
}

int run_shell(Database *d)
{
    char library[4096];
    const char *shell = getenv("SQLITE3");
    if (!find_library_beside("libprofsql.so", library, sizeof library)) {
        complain("%s: no such file, nor is it next to this command; reinstall libprofsql", library);
        return STATUS_FAILED;
    }
    if (!shell || !*shell) shell = "sqlite3";
    const char *arguments[] = {shell,
                               "-cmd",
                               keep_text(".load %s", quoted_argument(library)),
                               "-cmd",
                               attach_statements(d),
                               has_settings() ? ":memory:" : "-box",
                               has_settings() ? NULL : ":memory:",
                               NULL};
    for (int i = 0; i < d->n_runs; i++)
        if (d->runs[i].n_runs < 2) note("%s is attached", database_run_text(&d->runs[i]));
    note("tables need no argument: SELECT * FROM top_ops; .tables lists them");
    execvp(shell, (char **)arguments);
    failed_to_run(shell);
    if (errno == ENOENT)
        complain("SQLite's shell is missing: install the package sqlite3, or name it in SQLITE3");
    return STATUS_NO_COMMAND;
}
