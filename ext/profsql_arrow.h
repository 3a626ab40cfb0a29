/* SPDX-License-Identifier: Apache-2.0 */
/* profsql_arrow.h: answers of libprofsql as Apache Arrow record batches.
 *
 *   struct ArrowArrayStream stream;
 *   profsql_arrow_query(db, "SELECT * FROM top_ops('logs')", NULL, &stream, &message);
 *
 * A stream follows the Arrow C stream interface: DuckDB, Polars, pyarrow, nanoarrow and others read
 * it. Its caller releases it, and each array that it took from it; arrays may outlive the stream
 * and the connection.
 *
 * Functions return SQLITE_OK or an SQLite error code. On errors stream->release is NULL, and
 * *message, if `message` is not NULL, is a text in English, which the caller frees with
 * sqlite3_free(); otherwise it is NULL. Texts are UTF-8, end with a NUL byte and are copied.
 *
 * A stream uses the connection until it is released: release it before sqlite3_close()
 * (sqlite3_close_v2() waits for it). get_next() ends early with EINTR after sqlite3_interrupt().
 * get_next() may be called by another thread if the connection is in serialized mode, SQLite's
 * default.
 *
 * Types: a column of a table has the type that the table declares: INTEGER is int64, REAL float64,
 * TEXT utf8, BLOB binary. An expression has the type of its values in the first batch: int64;
 * float64 if there are both kinds of numbers; utf8, with numbers as SQLite writes them, if there
 * are values of other types as well; null if all are NULL. A value of a later batch that does not
 * fit this type is an error, whose text names the column and advises a CAST. */
#ifndef PROFSQL_ARROW_H
#define PROFSQL_ARROW_H

#include <sqlite3.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The structures of the Arrow C data interface and stream interface, as their specification has
 * them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* Rows in a record batch, at most. */
#define PROFSQL_ARROW_ROWS 65536

/* The rows of an SQL query. The statement is executed up to its first batch here. parameters: its
 * values as JSON, an array for ?, an object for :name; NULL: none. */
int profsql_arrow_query(sqlite3 *db, const char *sql, const char *parameters,
                        struct ArrowArrayStream *stream, char **message);

/* Which rows and columns of a table a stream has. All zero: all. */
typedef struct {
    const char *const *columns; /* names; NULL: all that `SELECT *` shows */
    int n_columns;
    const char *plane, *line, *name; /* only rows with this value; NULL: any */
    int has_range;                   /* 1: only rows that overlap from_ps..to_ps, both included */
    int64_t from_ps, to_ps;
} ProfsqlArrowOptions;

/* The rows of a table or canned query. source: a label, label/host or a path; NULL: the attached
 * runs. options may be NULL.
 *
 * Columns of `trace_events` that are not read from stats (profsql_arrow_is_fast()) come straight
 * from memory, on all processors, if only such columns are asked for: texts are then dictionaries
 * of utf8 with int32 indexes. All others come through SQL. */
int profsql_arrow_stream(sqlite3 *db, const char *source, const char *table,
                         const ProfsqlArrowOptions *options, struct ArrowArrayStream *stream,
                         char **message);
/* 1 if the column of trace_events comes straight from memory, else 0. */
int profsql_arrow_is_fast(const char *column);

/* The connection of a number, which the SQL function prof_connection() returns on it; NULL: no
 * connection of this process has it. For programs in other languages whose SQLite module hides the
 * connection. */
sqlite3 *profsql_connection(int64_t number);

#ifdef __cplusplus
}
#endif

#endif
