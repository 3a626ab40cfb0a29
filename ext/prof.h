// SPDX-License-Identifier: Apache-2.0
/* prof.h: what the files of the extension share: the connection's state and the lists of tables and
 * columns. */
#ifndef PROF_EXT_H
#define PROF_EXT_H

#include "../loader/base/interrupt.h"
#include "../loader/base/text_buffer.h"
#include "../loader/base/tf_op.h"
#include "../loader/run.h"
#include "../loader/source.h"
#include "empty.h"
#include "sqlite3ext.h"

#define PROFSQL_VERSION "0.1.0"

/* ---- the connection ---- */

typedef struct {
    char *label;     /* label of an attached run, or path of a cached one as it was written */
    Run *run;        /* NULL: attached, and not read yet, because answers to it are kept */
    char *path;      /* path of such a run; NULL: that of the run */
    bool streaming;  /* attached with `streaming` */
    size_t n_others; /* older runs of the log dir that were not opened */
} NamedRun;

/* A run in the folder that a connection serves. */
typedef struct {
    char *label, *path;
} ServedRun;

/* The state of a connection, referenced by every registration and cursor. Used under the
 * connection's mutex. */
typedef struct Prof {
    sqlite3 *db;
    /* returned by prof_connection(); counts the connections of the process from 1 */
    int64_t number;
    struct Prof *next; /* next in the list of connections */
    bool serving;      /* SQL reads attached and served runs only, and opens no path: serving.c */
    char *root;        /* folder of served runs, resolved by realpath(); NULL if none */
    ServedRun *served;
    int n_served;
    int n_references;
    NamedRun *attached, *cached; /* attached: attached.h; cached: runs opened by path, the latest
                                    last */
    int n_attached, n_cached;
    int n_running;  /* number of canned queries that are being stepped; empty tables inside them are
                       not recorded */
    bool has_empty; /* a table of a run or host was not recorded for this reason */
} Prof;

Prof *prof_new(sqlite3 *db); /* returns one reference; NULL if memory runs out */
Prof *prof_ref(Prof *prof);
void prof_unref(void *prof);
/* Returns the state of a connection; NULL if it has none. */
Prof *prof_of_connection(sqlite3 *db);

/* The sources that a query names. */
typedef struct {
    char **names;
    int n;
    bool given; /* false: all attached runs */
} SourceNames;

/* A run of a query, with a reference. */
typedef struct {
    Run *run;
    Host *only; /* a single host; NULL: all */
    char *label;
    char *source; /* the argument that names it; NULL: none was given */
    bool attached;
    size_t n_others; /* older runs of the log dir that were not opened */
    int number;      /* for rowids; -1: not assigned yet */
} SourceRun;

/* Opens the runs that a source names: a label, label/host or a path. NULL: all attached runs; an
 * error if there are none. All events are in memory, unless `streaming` is set: then the caller
 * needs only one host's events at a time (run_load_all_events()). *list is freed with
 * prof_release(). Returns an SQLite code; *message is set on errors (sqlite3_malloc). */
int prof_open(Prof *prof, const char *source, bool streaming, SourceRun **list, int *n,
              char **message);
/* The same for all sources of a query. */
int prof_open_names(Prof *prof, const SourceNames *names, bool streaming, SourceRun **list, int *n,
                    char **message);
void prof_release(SourceRun *list, int n);
int prof_attach(Prof *prof, const char *path, const char *label, bool streaming, char **attached_as,
                char **message);
bool prof_detach(Prof *prof, const char *label);
/* Returns the run that a source names if it is already open. It is borrowed and may be out of date.
 * NULL if it is not open. */
const Run *prof_known_run(Prof *prof, const char *source);
int prof_clear(Prof *prof); /* drops runs opened by path; returns how many */
/* Converts a loader's error to an SQLite code, with its text in *message. */
int prof_error(const Prof *prof, const ProfErr *err, char **message);

/* ---- serving: serving.c ---- */

/* From now on SQL opens no path. folder: SQL can name its runs; NULL: attached runs only. */
int prof_serve(Prof *prof, const char *folder, ProfErr *err);
/* Returns the served run with a label, after scanning the folder again if it is not known. NULL if
 * there is none, or with err set. */
const ServedRun *served_run(Prof *prof, const char *label, size_t n_bytes, ProfErr *err);
/* The same without scanning the folder. */
const ServedRun *served_known(const Prof *prof, const char *label, size_t n_bytes);
/* Lists all runs that SQL can name, with their labels as path and name. *list is freed with
 * source_list_free(). */
int served_list(Prof *prof, Source **list, size_t *n, ProfErr *err);
void served_forget(Prof *prof);
/* Writes the reason why a run cannot be read to the program's log, and hides it from SQL. */
void served_hide_error(const Prof *prof, const char *label, ProfErr *err);
/* Copies a text; if the connection serves, paths of runs are replaced by labels. NULL if memory
 * runs out. */
char *served_text(const Prof *prof, const char *text);
#define SERVED_ONLY                                                                                \
    "this connection serves the runs that its program chose, and SQL opens no other path; SELECT " \
    "name FROM prof_find lists them"

/* ---- the host program: host.c ---- */

#ifdef __GNUC__
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif
/* Returns a text that the host program bound, which SQL cannot create; NULL for other values. */
const char *text_of_host(sqlite3_value *value);
/* Restricts a connection to the runs of PROFSQL_RUNS and PROFSQL_ROOT. */
int serve_from_environment(sqlite3 *db, char **message);

/* Runs whose texts a cursor has returned. They are kept until it closes, because SQLite may use a
 * text until the statement ends. */
typedef struct {
    Run **runs;
    int n;
} KeptRuns;
bool prof_keep(KeptRuns *kept, const SourceRun *list, int n); /* false if memory runs out */
void prof_release_kept(KeptRuns *kept);

/* ---- interrupts: statement.c ---- */

/* Work for a statement of a connection, which ends early if the statement is interrupted. */
typedef struct {
    Interrupt interrupt;
    sqlite3 *db;
    sqlite3_stmt *tick; /* NULL: not prepared yet */
} Statement;
void statement_open(Statement *s, sqlite3 *db);
int statement_close(Statement *s, int rc);      /* returns rc, or SQLITE_INTERRUPT */
void statement_end(Statement *s, ProfErr *err); /* also closes it */
/* Begins a statement that runs until it is finalized, for work outside of SQL: SQLite forgets an
 * interrupt that comes while no statement runs. Returns an SQLite code. */
int statement_run(sqlite3 *db, sqlite3_stmt **running);

/* ---- tables ---- */

typedef struct {
    const char *name, *type; /* type may end in HIDDEN */
    const char *unit, *description, *origin;
} Column;
/* A list of columns is a macro X(C) of C(id, name, type, unit, description, origin). These macros
 * turn it into the enum of its columns and the array of their documentation. */
#define COLUMN_ENUM(...) COLUMN_ENUM_(__VA_ARGS__)
#define COLUMN_DOC(...) COLUMN_DOC_(__VA_ARGS__)
#define COLUMN_ENUM_(id, name, type, unit, description, origin) id,
#define COLUMN_DOC_(id, name, type, unit, description, origin)                                     \
    {name, type, unit, description, origin},
/* Columns of many tables. */
#define RUN_DOC                                                                                    \
    "run", "TEXT", NULL,                                                                           \
        "label of the attached run; for a path, the name of the run folder or file", "libprofsql"
#define HOST_DOC                                                                                   \
    "host", "TEXT", NULL, "name of the host, taken from its file name",                            \
        "file name without .xplane.pb"
#define SOURCE_DOC                                                                                 \
    "source", "TEXT HIDDEN", NULL,                                                                 \
        "what to read: a label, label/host, a file, a run folder or a log directory; default: "    \
        "all attached runs",                                                                       \
        "argument 1"
#define PLANE_ID_DOC                                                                               \
    "plane_id", "INTEGER", NULL, "number of the plane in the run, from 0", "libprofsql"
#define PLANE_DOC "plane", "TEXT", NULL, "name of the plane", "XPlane.name"
#define LINE_ID_DOC                                                                                \
    "line_id", "INTEGER", NULL, "number of the line in the run, from 0", "libprofsql"
#define EVENT_ID_DOC                                                                               \
    "event_id", "INTEGER", NULL, "number of the event in the run, from 0", "libprofsql"
#define START_US_DOC                                                                               \
    "start_us", "REAL", "us", "start_ps in microseconds; NULL if start_ps is NULL", "libprofsql"
#define DURATION_US_DOC                                                                            \
    "duration_us", "REAL", "us", "duration_ps in microseconds; NULL if duration_ps is NULL",       \
        "libprofsql"
#define KERNEL_SHORT_NAME_DOC                                                                      \
    "short_name", "TEXT", NULL,                                                                    \
        "name of the kernel without namespaces, template arguments and parameters, unique in the " \
        "run; docs/semantics.md has the rules",                                                    \
        "libprofsql"
#define EVENT_SHORT_NAME_DOC                                                                       \
    "short_name", "TEXT", NULL,                                                                    \
        "readable name: for events of GPUs the name without namespaces, template arguments and "   \
        "parameters, unique in the run (docs/semantics.md); for others the display name, else "    \
        "the name",                                                                                \
        "libprofsql"
#define METADATA_ID_DOC                                                                            \
    "metadata_id", "INTEGER", NULL, "id of the event's metadata, unique in its plane",             \
        "XEvent.metadata_id"
#define STAT_ID_DOC                                                                                \
    "stat_id", "INTEGER", NULL, "id of the stat's metadata, unique in its plane",                  \
        "XStat.metadata_id"
#define STAT_NAME_DOC                                                                              \
    "name", "TEXT", NULL, "name of the stat; empty if the plane does not declare it",              \
        "XStatMetadata.name"
#define STAT_TYPE_DOC                                                                              \
    "type", "TEXT", NULL,                                                                          \
        "type of the value: double, uint64, int64, str, bytes, ref (text stored as a stat name) "  \
        "or none",                                                                                 \
        "XStat.value"
#define STAT_VALUE_DOC                                                                             \
    "value", "", NULL,                                                                             \
        "value of the stat; a uint64 above 2^63-1 is decimal TEXT; NULL for type none and for "    \
        "NaN",                                                                                     \
        "XStat.value"

typedef struct Table Table;
struct Table {
    const char *name, *description;
    const Column *columns;
    int n_columns;
    const sqlite3_module *module;
    const struct RowSource *rows; /* for row_table_module */
    double n_rows;                /* typical number of rows, for the planner */
    const char *since;            /* first version that has it */
    const char *example;          /* SQL about the attached runs; 'logs' is a folder of runs */
};
/* Returns the table's module with functions that open a Statement and then call those of
 * Table.module: filter and, for row tables, next. Also column, except in tables with a row for each
 * event: these open a Statement where a column computes something. */
sqlite3_module statement_module(const Table *table);
/* Registers all tables and canned queries, replacing existing ones, because what views may use has
 * to follow what the connection allows. Returns an SQLite code. */
int register_tables(Prof *prof);
extern const Table *const prof_tables[];
extern const int n_prof_tables;
/* Returns how many tables the connection has. A serving connection lacks the last ones, which
 * connect to other machines. */
int n_tables_of(const Prof *prof);

/* ---- tables by another name: views.c ---- */

/* Each table and canned query also has a second module, which a user's table or view cannot hide by
 * accident: canned queries use it, and prof_views() creates temporary tables with it. */
#define VIEW_MODULE "profsql.%s"
/* For xConnect: reads the argument of CREATE VIRTUAL TABLE, the source of the table; NULL if there
 * is none. Returns an SQLite code. */
int view_source(sqlite3 *db, int argc, const char *const *argv, sqlite3_value **source,
                char **message);
/* Returns the SQL of a canned query with temp.NAME replaced by the second modules. NULL if memory
 * runs out. */
char *view_sql(const char *sql);
/* Returns a text as a value, freed with sqlite3_value_free(). NULL if memory runs out. */
sqlite3_value *text_value(sqlite3 *db, const char *text);
void prof_views(sqlite3_context *ctx, int argc, sqlite3_value **argv);

/* ---- arguments: arguments.c ---- */

enum { MAX_ARGUMENTS = 16 };

/* The terms of a query that give a table's arguments. */
typedef struct {
    int term[MAX_ARGUMENTS]; /* index of the constraint; -1 if none */
    bool twice;  /* several terms give one argument: SQLite compares it with the column */
    int missing; /* argument that the query reads but does not give; -1 if none. Such a plan would
                    lose rows, so xFilter fails */
} ArgumentTerms;
/* Finds the terms of the arguments, which are the n columns from `first` on. False if one is not
 * known in this join order. */
bool prof_plan_arguments(const sqlite3_index_info *info, int first, int n, ArgumentTerms *terms);
#define COST_OF_MISSING 1e99 /* any other plan is better than one that fails */
int prof_argument_missing(sqlite3_vtab *vtab, const char *table, const char *column);

/* Reads a source argument or, with is_list, all values of an IN. Returns an SQLite code. The caller
 * frees *names in any case. */
int source_names_read(SourceNames *names, sqlite3_vtab *vtab, sqlite3_value *value, bool is_list);
bool source_names_equal(const SourceNames *a, const SourceNames *b);
void source_names_free(SourceNames *names);
/* Returns whether it is a text that contains a NUL byte, which would end a path early. */
bool has_nul(sqlite3_value *value);
#define SOURCE_WITH_NUL                                                                            \
    "%s: the path or label has a NUL byte after this text; give one without NUL bytes"

typedef struct {
    char *key; /* may contain NUL bytes */
    int n_bytes, number;
} RowidKey;
/* The numbers of a table's arguments, for rowids. */
typedef struct {
    RowidKey *sorted;
    int n, capacity, n_cursors;
} Rowids;
void rowids_open(Rowids *rowids);  /* called for each cursor */
void rowids_close(Rowids *rowids); /* closing the last cursor drops the numbers */
/* Finds the number for the rows of a run with these arguments (NULL: not given). Returns an SQLite
 * code. */
int rowids_number(Rowids *rowids, const char *source, const char *run, sqlite3_value *const *values,
                  int n_values, int *number);
/* Makes a rowid. Fails with the table's error if it would not be unique. */
int rowids_make(sqlite3_vtab *vtab, const char *table, int number, uint64_t place,
                sqlite3_int64 *rowid);
uint64_t rowids_place(sqlite3_int64 rowid); /* returns the place in a rowid */

/* The context that a registration passes to xConnect. */
typedef struct {
    Prof *prof;
    const Table *table;
    sqlite3_module module;
} TableContext;

/* A virtual table of any of our modules. */
typedef struct {
    sqlite3_vtab base;
    Prof *prof;
    const Table *table;        /* NULL for a canned query */
    const struct Query *query; /* NULL for a table */
    Rowids rowids;
    sqlite3_value *source; /* source of a table that prof_views() made; NULL if none */
    int first_argument;    /* table_first_argument(), kept because every cell needs it */
} ProfTable;
/* Makes a virtual table like `as` with these columns, for xConnect. Returns an SQLite code. */
int prof_connect(sqlite3 *db, ProfTable as, const Column *columns, int n_columns, int argc,
                 const char *const *argv, sqlite3_vtab **vtab, char **message);
int prof_table_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                       sqlite3_vtab **vtab, char **message);
int prof_table_disconnect(sqlite3_vtab *vtab);
int prof_table_fail(sqlite3_vtab *vtab, int rc, char *message);
/* Rejects a NULL argument that SQLite passes twice when it splits an OR: it would re-check `column
 * = NULL` and drop every row. */
int prof_null_in_or(sqlite3_vtab *vtab);
/* Returns SQLITE_OK if the value has the type of the parameter's column and, for a number, is in
 * the range of the column's unit ("1 to 1000", "0 or 1"; without one, 0 or more). Otherwise sets
 * the table's error, which names the parameter. So the unit of a parameter is not only
 * documentation. */
int prof_check_parameter(sqlite3_vtab *vtab, const char *table, const Column *column,
                         sqlite3_value *value);
int table_column(const Table *table, const char *name); /* returns its index, or -1 */
/* Returns the hidden column of the first argument (a source, folder or word); parameters follow it.
 * -1 if there are no arguments. */
int table_first_argument(const Table *table);

enum { PLACE_BITS = 56 }; /* size of a row's place in its run, in a rowid; see arguments.c */
/* Combines two numbers into a place, the lower one in `bits` bits. If they do not fit, returns a
 * place that no rowid can contain. */
static inline uint64_t place_pair(uint64_t high, unsigned bits, uint64_t low)
{
    return low >> bits || high >> (PLACE_BITS - bits) ? UINT64_MAX : high << bits | low;
}
/* Returns the rowid of a row of a run. */
int prof_rowid(sqlite3_vtab *vtab, SourceRun *from, uint64_t place, sqlite3_int64 *rowid);

/* ---- small tables: rows of one host after another ---- */

/* Columns that select rows, found by their names. */
enum RowKey {
    KEY_PLANE_ID,
    KEY_LINE_ID,
    KEY_EVENT_ID,
    KEY_METADATA_ID,
    KEY_INSTRUCTION_ID,
    KEY_MEMORY_SPACE,
    N_ROW_KEYS
};
enum TextKey { KEY_PROGRAM_ID, KEY_HLO_MODULE, KEY_HLO_OP, KEY_ALLOCATOR, N_TEXT_KEYS };
extern const char *const row_key_names[N_ROW_KEYS], *const text_key_names[N_TEXT_KEYS];
enum { MAX_PARAMETERS = 8 };

/* Rows that are the items of an array. */
typedef struct {
    const void *items;
    size_t n, stride;
    uint64_t first_place; /* place of items[0]; those of other items follow */
} RowList;
#define ROW_LIST(items, n) ((RowList){items, n, sizeof *(items), 0})

typedef struct {
    sqlite3_vtab_cursor base;
    SourceNames asked, opened; /* opened: names of `sources`, from this filter or the one before */
    SourceRun *sources;
    /* number: of the arguments, for rowids; -1: not assigned yet */
    int n_sources, at_source, number;
    const SourceRun *from;
    Host *host;
    size_t at_host;
    bool eof;
    uint64_t place; /* unique in the run; RowSource.next sets it, the rowid is made from it */
    RowList list;   /* rows of the host, if the table has RowSource.list */
    size_t at_row;
    const void *row;       /* items[at_row] */
    struct Answer *answer; /* kept rows, shown in place of those of the runs; NULL: none */
    void *state;           /* the table's own state, RowSource.state_bytes long */
    bool started;          /* next() was called for this host */
    bool has_rows;         /* the host has rows */
    bool has_key[N_ROW_KEYS];
    sqlite3_int64 key[N_ROW_KEYS];
    char *text_key[N_TEXT_KEYS];               /* NULL: not given */
    char *run_is, *host_is;                    /* required values, or NULL */
    sqlite3_value *parameters[MAX_PARAMETERS]; /* NULL: not given */
    KeptRuns kept;
    ProfErr err;
} RowCursor;

static inline bool row_wanted(const RowCursor *c, enum RowKey key, int64_t value)
{
    return !c->has_key[key] || c->key[key] == value;
}
/* For rows that a key numbers from `first` on: returns the first of n places, from `at` on, whose
 * row is wanted; n if none is. */
static inline size_t row_seek(const RowCursor *c, enum RowKey key, uint64_t first, size_t n,
                              size_t at)
{
    uint64_t wanted = (uint64_t)c->key[key] - first;
    if (!c->has_key[key]) return at;
    return wanted < n && wanted >= at ? (size_t)wanted : n;
}

static inline const Prof *row_prof(const RowCursor *c)
{
    return ((const ProfTable *)c->base.pVtab)->prof;
}
static inline sqlite3 *row_db(const RowCursor *c) { return row_prof(c)->db; }

/* Sizes of the runs of a query. */
typedef struct {
    double runs, hosts, planes, lines, metadata, stat_metadata, events;
} Counts;
/* Gets the counts for a plan whose source is this term (-1: all attached runs). False if the runs
 * are not open. */
bool prof_counts(Prof *prof, sqlite3_index_info *info, int source_term, Counts *counts);

typedef struct RowSource {
    /* A table has `list` or `next`. They are called for each host, or once if per_run, and set
     * c->err on failure. */
    /* Sets *list to an array whose items are the rows. The items must not change until the next
     * host. The place of a row is its index, unless the list sets it. */
    void (*list)(RowCursor *c, RowList *list);
    /* Returns the plane of an item, for a list with the items of all hosts in the order of planes:
     * the rows are those of the current host, or of the wanted plane. NULL: the list has the host's
     * items only. */
    const Plane *(*plane)(const void *item);
    /* Returns whether this item of the list is a row. It may set c->place. NULL: all items are
     * rows. */
    bool (*shows)(RowCursor *c, const void *item);
    /* Moves to the host's next row and sets c->place to a number that no other row of the run has,
     * in any plan (SQLite merges the arms of an OR by rowid). False at the end or with c->err set.
     * At the first call of a host, c->started is false. */
    bool (*next)(RowCursor *c);
    /* Bytes of the table's state at c->state, zeroed for each host. */
    size_t state_bytes;
    void (*close)(void *state); /* frees what the state contains, after each host; may be NULL */
    /* Writes a column. Not called for run and hidden columns, nor for host unless per_run. */
    void (*column)(RowCursor *c, sqlite3_context *ctx, int column);
    /* For tables of runs, not of hosts: rows only come for the first host. */
    bool per_run;
    bool reads_events;   /* reads events or their numbers directly, not through an analysis: a
                            streaming run then loads the events of all hosts */
    bool lists_runs;     /* lists the attached runs: no error if there are none */
    bool tells_asked;    /* its rows depend on what was asked of the open runs before */
    bool without_source; /* rows do not depend on a run: next() is called once, with host NULL */
    unsigned needs; /* bits of enum Need: what its rows are computed from; prof_issues names what a
                       run lacks of it (nothing_to_show) */
    const char *nothing; /* the reason for no rows if the run has all that is needed; NULL: it then
                            always has rows */
    double (*count)(
        const Counts *counts); /* estimates the rows if the runs are open; NULL: Table.n_rows */
    int n_parameters; /* number of hidden columns after `source`, which are the arguments from 2 on:
                         INTEGER HIDDEN, REAL HIDDEN or TEXT HIDDEN */
    bool keeps_rows;  /* no value of a parameter leaves the table without rows */
} RowSource;
extern const sqlite3_module row_table_module;

/* Return the value of a parameter, counted from 0; `otherwise` if it is not given or NULL. A text
 * lives until the next filter. */
sqlite3_int64 row_integer_parameter(const RowCursor *c, int parameter, sqlite3_int64 otherwise);
const char *row_text_parameter(const RowCursor *c, int parameter, const char *otherwise);

/* Returns the source argument of the row; NULL if none was given. */
const char *row_source(const RowCursor *c);

/* ---- values: values.c ---- */

/* Texts that live until the statement ends, as those of runs and constants do; NULL for NULL. */
void result_text(sqlite3_context *ctx, const Text *text);
void result_nonempty(sqlite3_context *ctx, const Text *text); /* NULL also for an empty text */
void result_static(sqlite3_context *ctx, const char *text);
void result_slice(sqlite3_context *ctx, Slice text);
/* Writes the short name of a kernel. `name` must be the pointer in a GPU plane of the run. */
void result_kernel(RowCursor *c, sqlite3_context *ctx, const Text *name);
/* Writes a text from sqlite3_mprintf() and frees it; NULL: fails because memory ran out. */
void result_owned(sqlite3_context *ctx, char *text);
/* Finishes the text; NULL if it is empty, an error if memory ran out. */
void result_built(sqlite3_context *ctx, sqlite3_str *text);
/* Writes a copy, with invalid UTF-8 replaced. */
void result_utf8(sqlite3_context *ctx, const void *bytes, size_t n);
/* Writes the same of a buffer and frees it. NULL if it is empty, an error if memory ran out. */
void result_buffer(sqlite3_context *ctx, TextBuffer *text);
/* Writes a copy of a path, or of a message with paths, as valid UTF-8; if the connection serves,
 * with labels for paths. NULL for NULL. */
void result_file_path(const RowCursor *c, sqlite3_context *ctx, const char *text);

/* Numbers. sqlite3_result_double() writes NULL for NaN. */
void result_nonnegative(sqlite3_context *ctx, int64_t value);  /* NULL for a negative one */
void result_u64(sqlite3_context *ctx, uint64_t value);         /* decimal TEXT if above 2^63-1 */
void result_u64_or_real(sqlite3_context *ctx, uint64_t value); /* REAL if above 2^63-1 */
void result_id(sqlite3_context *ctx, uint64_t id);             /* always as decimal TEXT */
void result_percent(sqlite3_context *ctx, uint64_t part, uint64_t whole); /* NULL of 0 */
void result_time(sqlite3_context *ctx, int64_t ps, bool in_us);  /* in ps, or in us as REAL */
void result_span(sqlite3_context *ctx, uint64_t ps, bool in_us); /* the same, like result_u64() */
/* Self times wrap if the children's time exceeds the parent's; such values are returned as
 * negative. */
void result_self(sqlite3_context *ctx, uint64_t self, uint64_t whole);
/* Writes a number as text, formatted like C++ does. */
void result_real(sqlite3_context *ctx, const char *format, double value);

void result_stat(sqlite3_context *ctx, const Plane *plane, const Stat *stat);
const Text *stat_name(const Plane *plane, const Stat *stat);
/* Appends a text as a JSON string, without escaping UTF-8. */
void json_text(sqlite3_str *out, const char *s, size_t n);
/* Appends "name":value to an object whose { is written: bytes as hex text, NaN as null, infinity
 * as 9.0e+999. False if memory runs out. */
bool json_stat(sqlite3_str *out, const Plane *plane, const Stat *stat);

/* ---- canned queries: generated from queries/NAME.sql ---- */

typedef struct {
    const char *name, *default_sql, *description; /* default "": the parameter is required */
} QueryParameter;
typedef struct Query {
    const char *name, *question, *sql;
    const char *since, *example; /* as in Table */
    unsigned needs;              /* bits of enum Need: what its rows are computed from */
    const char *nothing; /* the reason for no rows if the run has all that is needed; NULL: it then
                            always has rows */
    const QueryParameter *parameters;
    int n_parameters;
    const Column *columns; /* those of the answer, then the parameters as HIDDEN columns */
    int n_columns;
} Query;
extern const Query prof_queries[];
extern const int n_prof_queries;
extern const sqlite3_module query_module; /* its context is a QueryContext */
extern const sqlite3_module query_view_module;
typedef struct {
    Prof *prof;
    const Query *query;
} QueryContext;

/* ---- functions ---- */

#include "functions.h"
extern const FunctionDef admin_functions[]; /* their user data is the Prof */
extern const int n_admin_functions;
typedef struct {
    const FunctionDef *functions;
    const int *n;
} FunctionList;
extern const FunctionList prof_function_lists[];
extern const int n_prof_function_lists;

#endif
