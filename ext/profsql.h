/* SPDX-License-Identifier: Apache-2.0 */
/* profsql.h: libprofsql for C and C++ programs.
 *
 *   sqlite3_profsql_nofile_init(db, &message, NULL);             // SQL opens no path
 *   profsql_attach(db, "/logs/run_a", "run_a", &message);        // and reads this run
 *   ... SELECT * FROM kpi('run_a') ...
 *
 * Functions return SQLITE_OK or an SQLite error code. On errors *message, if `message` is not NULL,
 * is a text in English, which the caller frees with sqlite3_free(); otherwise it is NULL. Texts are
 * UTF-8 and end with a NUL byte; paths are bytes as the file system has them. All texts are copied.
 *
 * What is attached belongs to the connection and goes with sqlite3_close(). Connections of a
 * process share what is loaded: attaching a run again on another connection costs little. Threads
 * may use different connections at the same time, and one connection as SQLite allows it: with
 * SQLITE_OPEN_FULLMUTEX from several threads, else from one thread at a time. Reading a run ends
 * early with SQLITE_INTERRUPT after sqlite3_interrupt().
 *
 * Programs link libprofsql.a (`pkg-config --cflags --libs libprofsql`) and pass NULL for `api`.
 * Programs that load libprofsql.so with sqlite3_load_extension() find the other functions in it
 * with dlsym(). */
#ifndef PROFSQL_H
#define PROFSQL_H

#include <sqlite3.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3_api_routines;

/* Registers all tables, canned queries and functions with a connection. Has no effect if it has
 * them. Also a value for sqlite3_auto_extension(). */
int sqlite3_profsql_init(sqlite3 *db, char **message, const struct sqlite3_api_routines *api);

/* The same, but SQL opens no path: tables read the runs that the program attaches, those of the
 * environment variable PROFSQL_RUNS (label=path,label=path) and those in the folder PROFSQL_ROOT.
 * An error if a run of PROFSQL_RUNS cannot be read or PROFSQL_ROOT is no folder. If the connection
 * has the tables already, SQL opens no path from now on. */
int sqlite3_profsql_nofile_init(sqlite3 *db, char **message,
                                const struct sqlite3_api_routines *api);

/* Reads a run (a file, a run folder, or a log dir: its newest run) and attaches it, also to a
 * connection on which SQL opens no path. label: a name for SQL, not empty; NULL: the run's name.
 * The same run and label again have no effect; SQLITE_ERROR if another run has the label. */
int profsql_attach(sqlite3 *db, const char *path, const char *label, char **message);

/* Detaches a run. SQLITE_ERROR if none has this label. Statements that are reading it finish. */
int profsql_detach(sqlite3 *db, const char *label, char **message);

/* From now on SQL opens no path on this connection. folder: SQL also reads the runs in it and below
 * it, by their paths below it without "plugins/profile/"; links that lead out of it are not
 * followed. A second call replaces the folder. NULL: attached runs alone, and a folder of an
 * earlier call stays. */
int profsql_serve(sqlite3 *db, const char *folder, char **message);

#ifdef __cplusplus
}
#endif

#endif
