// SPDX-License-Identifier: Apache-2.0
/* database.c: opens a connection and attaches runs; see database.h. */
#define _GNU_SOURCE
#include "database.h"

#include "../ext/profsql.h"
#include "../loader/base/file.h"
#include "wrong_turns.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

static sqlite3 *interruptible, *interruptible_beside;
static volatile sig_atomic_t ended_by;

static void interrupt(int number)
{
    ended_by = number;
    if (interruptible) sqlite3_interrupt(interruptible);
    if (interruptible_beside) sqlite3_interrupt(interruptible_beside);
    signal(number, SIG_DFL); /* a second one ends the command at once */
}

static bool connect_to(sqlite3 **db, char **message)
{
    return sqlite3_open(":memory:", db) == SQLITE_OK &&
           sqlite3_profsql_init(*db, message, NULL) == SQLITE_OK;
}

bool database_open(Database *d)
{
    char *message = NULL;
    *d = (Database){0};
    if (!connect_to(&d->db, &message)) {
        complain("%s", message ? message : sqlite3_errmsg(d->db));
        sqlite3_free(message);
        sqlite3_close(d->db);
        return false;
    }
    interruptible = d->db;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    signal(SIGHUP, interrupt);
    return true;
}

void database_close(Database *d)
{
    interruptible = NULL;
    sqlite3_close(d->db);
    if (!ended_by) return;
    signal(ended_by, SIG_DFL);
    raise(ended_by);
}

bool database_is_ending(void) { return ended_by != 0; }

/* ---- queries ---- */

void complain_of_query(Database *d)
{
    const char *message = sqlite3_errmsg(d->db);
    d->failed = true;
    if (database_is_ending()) return;
    if (!d->n_runs && !strncmp(message, "no run is attached", 18))
        message =
            "the SQL reads a table of a run: name the run before it, profsql RUN 'SELECT ...'";
    complain("%s", message);
}

sqlite3_stmt *ask_texts(Database *d, const char *sql, const char *const *texts)
{
    sqlite3_stmt *stmt = NULL;
    if (database_is_ending() || sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        complain_of_query(d);
        return NULL;
    }
    for (int i = 0; texts[i]; i++) sqlite3_bind_text(stmt, i + 1, texts[i], -1, SQLITE_TRANSIENT);
    return stmt;
}

bool next_row(Database *d, sqlite3_stmt *stmt)
{
    if (!stmt) return false;
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) complain_of_query(d);
    return rc == SQLITE_ROW;
}

const char *column_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return text ? keep_text("%s", text) : "";
}

/* ---- runs ---- */

static int count_runs(Database *d, const char *folder)
{
    sqlite3_stmt *stmt = ask(d, "SELECT count(*) FROM prof_find(?1)", folder, NULL);
    int n = next_row(d, stmt) ? sqlite3_column_int(stmt, 0) : 1;
    sqlite3_finalize(stmt);
    return n;
}

/* Attaches a run under its name, or under the given path if another run has the name. */
static const char *attach(Database *d, const char *given)
{
    static const char *const calls[] = {"SELECT prof_attach(?1)", "SELECT prof_attach(?1, ?1)"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        sqlite3_stmt *stmt = ask(d, calls[i], given, NULL);
        if (!stmt) return NULL;
        const char *label = sqlite3_step(stmt) == SQLITE_ROW ? column_text(stmt, 0) : NULL;
        sqlite3_finalize(stmt);
        if (label) return label;
        if (!strstr(sqlite3_errmsg(d->db), "already has this label")) break;
    }
    return NULL;
}

bool database_attach(Database *d, const char *given)
{
    if (d->n_runs == MAX_RUNS) {
        complain("at most %d runs at a time", MAX_RUNS);
        return false;
    }
    AttachedRun run = {.given = given, .label = attach(d, given), .n_runs = 1};
    if (!run.label) {
        if (!database_is_ending()) wrong_run(d, given, sqlite3_errmsg(d->db));
        return false;
    }
    sqlite3_stmt *stmt = ask(d, "SELECT path FROM prof_runs(?1)", run.label, NULL);
    run.path = next_row(d, stmt) ? column_text(stmt, 0) : given;
    sqlite3_finalize(stmt);
    if (is_folder(given)) run.n_runs = count_runs(d, given);
    d->runs[d->n_runs++] = run;
    return true;
}

/* Attaches the run that another connection has; its files are not read again. */
static bool attach_again(Database *d, const AttachedRun *run)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3_prepare_v2(d->db, "SELECT prof_attach(?1, ?2)", -1, &stmt, NULL);
    sqlite3_bind_text(stmt, 1, run->path, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, run->label, -1, SQLITE_STATIC);
    bool ok = sqlite3_step(stmt) == SQLITE_ROW;
    sqlite3_finalize(stmt);
    d->runs[d->n_runs++] = *run;
    return ok;
}

bool database_open_beside(Database *d, const Database *first)
{
    char *message = NULL;
    *d = (Database){0};
    bool ok = sqlite3_threadsafe() && connect_to(&d->db, &message);
    sqlite3_free(message);
    for (int i = 0; i < first->n_runs && ok; i++) ok = attach_again(d, &first->runs[i]);
    if (ok)
        interruptible_beside = d->db;
    else
        sqlite3_close(d->db);
    return ok;
}

void database_close_beside(Database *d)
{
    interruptible_beside = NULL;
    sqlite3_close(d->db);
}

const char *database_run_text(const AttachedRun *run)
{
    const char *name = strrchr(run->path, '/');
    name = name ? name + 1 : run->path;
    if (run->n_runs < 2) return keep_text("run %s", name);
    return keep_text("run %s, the newest of %d in %s", name, run->n_runs, run->given);
}

/* Warns about a damaged file, because that affects every answer. */
static void warn_of_damage(Database *d, const AttachedRun *run)
{
    sqlite3_stmt *stmt =
        ask(d, "SELECT host, damage FROM hosts(?1) WHERE damage IS NOT NULL", run->label, NULL);
    while (next_row(d, stmt)) note("%s: %s", column_text(stmt, 0), column_text(stmt, 1));
    sqlite3_finalize(stmt);
}

static bool is_attached_twice(const Database *d, const AttachedRun *run)
{
    for (const AttachedRun *other = d->runs; other < run; other++)
        if (!strcmp(other->label, run->label)) return true;
    return false;
}

bool database_attach_all(Database *d, char **given, int n)
{
    for (int i = 0; i < n; i++) {
        if (!database_attach(d, given[i])) return false;
        const AttachedRun *run = &d->runs[d->n_runs - 1];
        if (is_attached_twice(d, run)) {
            note("%s is given twice", database_run_text(run));
            continue;
        }
        if (run->n_runs > 1) note("%s", database_run_text(run));
        warn_of_damage(d, run);
    }
    return true;
}
