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
    const char *path;  /* of the run that was taken */
    int n_runs;        /* that the given folder has; 1 for a file */
} AttachedRun;

typedef struct {
    sqlite3 *db;
    AttachedRun runs[MAX_RUNS];
    int n_runs;
    bool failed; /* a query did, which is written */
} Database;

/* Signals that end the command interrupt queries first. */
bool database_open(Database *d);
/* Exits by the signal that interrupted a query, if one did. */
void database_close(Database *d);

/* Reads a run and attaches it. On failure the reason is written, and what to do next. */
bool database_attach(Database *d, const char *given);
/* Attaches all; notes which run a folder stands for, and damaged files. */
bool database_attach_all(Database *d, char **given, int n);
/* "run X, the newest of 3 in logs". Kept memory. */
const char *database_run_text(const AttachedRun *run);

/* Prepares SQL and binds texts to ?1, ?2, ..., up to a NULL. NULL on failure, which is written. */
sqlite3_stmt *ask_texts(Database *d, const char *sql, const char *const *texts);
#define ask(d, sql, ...) ask_texts(d, sql, (const char *const[]){__VA_ARGS__})
/* True while there are rows; writes what fails. */
bool next_row(Database *d, sqlite3_stmt *stmt);
/* A column as kept text; "" for NULL. */
const char *column_text(sqlite3_stmt *stmt, int column);
/* Writes the connection's message. */
void complain_of_query(Database *d);

#endif
