// SPDX-License-Identifier: Apache-2.0
/* database.h: a connection with libprofsql in it, and the runs attached to it. */
#ifndef COMMAND_DATABASE_H
#define COMMAND_DATABASE_H

#include "profsql.h"

#include <sqlite3.h>

enum { MAX_RUNS = 64 };

typedef struct {
    const char *given; /* as on the command line */
    const char *label; /* under which it is attached */
    const char *path;  /* of the run that was opened */
    int n_runs;        /* number of runs in the given folder; 1 for a file */
} AttachedRun;

typedef struct {
    sqlite3 *db;
    AttachedRun runs[MAX_RUNS];
    int n_runs;
    bool failed; /* a query failed; the error is written */
} Database;

/* Opens a connection. Signals that end the command interrupt queries first. */
bool database_open(Database *d);
/* Closes it. If a signal interrupted a query, exits by that signal. */
void database_close(Database *d);
/* Opens another connection with the same runs, for another thread; at most one at a time. If that
 * is not possible, returns false and writes no error. */
bool database_open_beside(Database *d, const Database *first);
void database_close_beside(Database *d);
/* Returns whether a signal ends the command. Errors that follow from it are not written. */
bool database_is_ending(void);

/* Reads a run and attaches it. On failure writes the reason and what to do next. */
bool database_attach(Database *d, const char *given);
/* Attaches all runs. Notes which run a folder stands for, and damaged files. */
bool database_attach_all(Database *d, char **given, int n);
/* Returns "run X, the newest of 3 in logs", in kept memory. */
const char *database_run_text(const AttachedRun *run);

/* Prepares SQL and binds texts to ?1, ?2, ..., up to a NULL. Returns NULL on failure, after writing
 * the error. */
sqlite3_stmt *ask_texts(Database *d, const char *sql, const char *const *texts);
#define ask(d, sql, ...) ask_texts(d, sql, (const char *const[]){__VA_ARGS__})
/* Moves to the next row. False at the end, or after writing an error. */
bool next_row(Database *d, sqlite3_stmt *stmt);
/* Returns a column as a kept text; "" for NULL. */
const char *column_text(sqlite3_stmt *stmt, int column);
/* Writes the connection's message. */
void complain_of_query(Database *d);

#endif
