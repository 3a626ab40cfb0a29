// SPDX-License-Identifier: Apache-2.0
/* prof.h: what the files of the extension share: the connection's state and the lists of tables and
 * columns. */
#ifndef PROF_EXT_H
#define PROF_EXT_H

#include "../loader/base/interrupt.h"
#include "../loader/run.h"
#include "../loader/source.h"
#include "empty.h"
#include "sqlite3ext.h"

#define PROFSQL_VERSION "0.1.0"

/* ---- the connection ---- */

typedef struct {
    char *label; /* of an attached run; the path as typed of a cached one */
    Run *run;
    bool streaming;  /* attached so */
    size_t n_others; /* runs of the log dir that were not taken */
} NamedRun;

/* A run that SQL may name, below the folder that a connection serves. */
typedef struct {
    char *label, *path;
} ServedRun;

/* One per connection, counted by every registration and cursor. Used under the connection's mutex.
 */
typedef struct Prof {
    sqlite3 *db;
    int64_t number;    /* of all connections of the process, from 1: prof_connection() */
    struct Prof *next; /* in the list of these */
    bool serving;      /* SQL reads attached and served runs alone, and opens no path: serving.c */
    char *root;        /* the folder of served runs, as realpath() has it; NULL: none */
    ServedRun *served;
    int n_served;
    int n_references;
    NamedRun *attached, *cached; /* cached: runs opened by path, the latest last */
    int n_attached, n_cached;
    int n_running; /* canned queries that are being stepped: empty tables inside them are not worth
                      a remark */
} Prof;

Prof *prof_new(sqlite3 *db); /* with one reference; NULL: no memory */
Prof *prof_ref(Prof *prof);
void prof_unref(void *prof);
/* The state of a connection; NULL: it has none. */
Prof *prof_of_connection(sqlite3 *db);

/* The sources that a query names. */
typedef struct {
    char **names;
    int n;
    bool given; /* false: all attached runs */
} SourceNames;

/* One run of a query, held by a reference. */
typedef struct {
    Run *run;
    Host *only; /* the one host asked for, NULL: all */
    char *label;
    char *source; /* the argument that names it; NULL: none was given */
    bool attached;
    size_t n_others; /* runs of the log dir that were not taken */
    int number;      /* for rowids; -1: not known yet */
} SourceRun;

/* The runs that a source names: a label, label/host or a path; NULL: all attached runs, an error if
 * there are none.
 * All their events are in memory, unless streaming says that one host at a time is enough for the
 * caller (run_load_all_events()). *list is freed with prof_release(). Returns an SQLite code;
 * *message is set on errors (sqlite3_malloc). */
int prof_open(Prof *prof, const char *source, bool streaming, SourceRun **list, int *n,
              char **message);
/* The same for all sources of a query, one after the other. */
int prof_open_names(Prof *prof, const SourceNames *names, bool streaming, SourceRun **list, int *n,
                    char **message);
void prof_release(SourceRun *list, int n);
int prof_attach(Prof *prof, const char *path, const char *label, bool streaming, char **attached_as,
                char **message);
bool prof_detach(Prof *prof, const char *label);
/* The run that a source names, if it is open already; borrowed, perhaps out of date. NULL: not
 * known. */
const Run *prof_known_run(Prof *prof, const char *source);
int prof_clear(Prof *prof); /* drops runs opened by path; returns how many */
/* A loader's error as SQLite's: the code, and its text in *message. */
int prof_error(const Prof *prof, const ProfErr *err, char **message);

/* ---- serving: serving.c ---- */

/* From now on SQL opens no path. folder: its runs can be named by SQL; NULL: attached runs alone.
 */
int prof_serve(Prof *prof, const char *folder, ProfErr *err);
/* The served run of a label, after looking into the folder again if it is not known. NULL: there is
 * none, or err is set. */
const ServedRun *served_run(Prof *prof, const char *label, size_t n_bytes, ProfErr *err);
/* The same without looking into the folder. */
const ServedRun *served_known(const Prof *prof, const char *label, size_t n_bytes);
/* All runs that SQL can name, their labels as path and name. *list is freed with
 * source_list_free(). */
int served_list(Prof *prof, Source **list, size_t *n, ProfErr *err);
void served_forget(Prof *prof);
/* Why a run that SQL named cannot be read is for the program's log, not for SQL. */
void served_hide_error(const Prof *prof, const char *label, ProfErr *err);
/* A copy of a text with labels for the paths of runs, if the connection serves. NULL: no memory. */
char *served_text(const Prof *prof, const char *text);
#define SERVED_ONLY                                                                                \
    "this connection serves the runs that its program chose, and SQL opens no other path; "        \
    "SELECT name FROM prof_find lists them"

/* ---- the host program: host.c ---- */

#ifdef __GNUC__
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif
/* A text that the host program binds, and SQL cannot make; NULL: it is none. */
const char *text_of_host(sqlite3_value *value);
/* Restricts a connection to the runs of PROFSQL_RUNS and PROFSQL_ROOT. */
int serve_from_environment(sqlite3 *db, char **message);

/* Runs whose texts a cursor has handed out: they stay until it closes, since SQLite may hold a text
 * to the statement's end. */
typedef struct {
    Run **runs;
    int n;
} KeptRuns;
bool prof_keep(KeptRuns *kept, const SourceRun *list, int n); /* false: no memory */
void prof_release_kept(KeptRuns *kept);

/* ---- interrupts: statement.c ---- */

/* Something that is done for a statement of a connection, and ends early if that is interrupted. */
typedef struct {
    Interrupt interrupt;
    sqlite3 *db;
    sqlite3_stmt *tick; /* NULL: not asked yet */
} Statement;
void statement_open(Statement *s, sqlite3 *db);
int statement_close(Statement *s, int rc);      /* returns rc, or SQLITE_INTERRUPT */
void statement_end(Statement *s, ProfErr *err); /* closes it, too */

/* ---- tables ---- */

typedef struct {
    const char *name, *type; /* type may end in HIDDEN */
    const char *unit, *description, *origin;
} Column;
/* Lists of columns are macros X(C), C(id, name, type, unit, description, origin); these turn one
 * into the enum of its columns and the array of their documentation. */
#define COLUMN_ENUM(...) COLUMN_ENUM_(__VA_ARGS__)
#define COLUMN_DOC(...) COLUMN_DOC_(__VA_ARGS__)
#define COLUMN_ENUM_(id, name, type, unit, description, origin) id,
#define COLUMN_DOC_(id, name, type, unit, description, origin)                                     \
    {name, type, unit, description, origin},
/* Columns that many tables have. */
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
    "metadata_id", "INTEGER", NULL,                                                                \
        "id of the events' metadata, unique in its plane; NULL in the row of all events whose "    \
        "metadata the plane does not declare",                                                     \
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
    double n_rows;                /* a typical count, for the planner */
    const char *since;            /* the version that has it first */
    const char *example;          /* SQL about the attached runs; 'logs' is a folder of runs */
};
/* The table's module with functions that open a Statement and call those of Table.module: filter
 * and, of row tables, next. Also column, unless there are as many rows as events: these tables open
 * a Statement where a column derives something. */
sqlite3_module statement_module(const Table *table);
/* Registers all tables and canned queries, in place of those that are there: the modules of views
 * allow what the connection does from now on. Returns an SQLite code. */
int register_tables(Prof *prof);
extern const Table *const prof_tables[];
extern const int n_prof_tables;
/* How many of them the connection has: one that serves has none that reach other machines, which
 * are the last. */
int n_tables_of(const Prof *prof);

/* ---- tables by another name: views.c ---- */

/* Each table and canned query has a second module, which a table or view of the user cannot hide by
 * accident: canned queries call it, and prof_views() makes temporary tables of it. */
#define VIEW_MODULE "profsql.%s"
/* Of xConnect: reads the argument of CREATE VIRTUAL TABLE, the source of the table; NULL: none.
 * Returns an SQLite code. */
int view_source(sqlite3 *db, int argc, const char *const *argv, sqlite3_value **source,
                char **message);
/* The SQL of a canned query with the second modules for temp.NAME. NULL: no memory. */
char *view_sql(const char *sql);
/* A text as a value, freed with sqlite3_value_free(); NULL: no memory. */
sqlite3_value *text_value(sqlite3 *db, const char *text);
void prof_views(sqlite3_context *ctx, int argc, sqlite3_value **argv);

/* ---- arguments: arguments.c ---- */

enum { MAX_ARGUMENTS = 16 };

/* Which terms of a query give a table's arguments. */
typedef struct {
    int term[MAX_ARGUMENTS]; /* index of the constraint, -1: none */
    bool twice;  /* further terms give an argument too: SQLite compares it with the row's */
    int missing; /* argument that the query reads without giving it, -1: none. Such a plan would
                    lose rows: xFilter fails */
} ArgumentTerms;
/* Finds the terms of the arguments, which are the n columns from `first` on. False: one is not
 * known in this join order. */
bool prof_plan_arguments(const sqlite3_index_info *info, int first, int n, ArgumentTerms *terms);
#define COST_OF_MISSING 1e99 /* any other plan is better than one that fails */
int prof_argument_missing(sqlite3_vtab *vtab, const char *table, const char *column);

/* Takes a source argument, or all of an IN with is_list. Returns an SQLite code; *names is freed by
 * the caller in any case. */
int source_names_take(SourceNames *names, sqlite3_vtab *vtab, sqlite3_value *value, bool is_list);
bool source_names_equal(const SourceNames *a, const SourceNames *b);
void source_names_free(SourceNames *names);
/* Is it a text with a NUL byte inside, which would end a path early? */
bool has_nul(sqlite3_value *value);
#define SOURCE_WITH_NUL                                                                            \
    "%s: the path or label has a NUL byte after this text; give one without NUL bytes"

typedef struct {
    char *key; /* may contain NUL bytes */
    int n_bytes, number;
} RowidKey;
/* The numbers of a table's arguments, for its rowids. */
typedef struct {
    RowidKey *sorted;
    int n, capacity, n_cursors;
} Rowids;
void rowids_open(Rowids *rowids);  /* for each cursor */
void rowids_close(Rowids *rowids); /* with the last cursor the numbers end */
/* Finds the number of a run's rows for these arguments (NULL: not given). Returns an SQLite code.
 */
int rowids_number(Rowids *rowids, const char *source, const char *run, sqlite3_value *const *values,
                  int n_values, int *number);
/* Makes a rowid; the table's error if it would not be unique. */
int rowids_make(sqlite3_vtab *vtab, const char *table, int number, uint64_t place,
                sqlite3_int64 *rowid);

/* What a registration hands to xConnect. */
typedef struct {
    Prof *prof;
    const Table *table;
    sqlite3_module module;
} TableContext;

/* A virtual table of any of our modules. */
typedef struct {
    sqlite3_vtab base;
    Prof *prof;
    const Table *table;
    Rowids rowids;
    sqlite3_value *source; /* of a table that prof_views() made; NULL: none */
    int first_argument;    /* table_first_argument(), which is asked for each cell */
} ProfTable;
int prof_table_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                       sqlite3_vtab **vtab, char **message);
int prof_table_disconnect(sqlite3_vtab *vtab);
int prof_table_fail(sqlite3_vtab *vtab, int rc, char *message);
/* Fails for an argument that is NULL and given twice, as SQLite does where it takes an OR apart: it
 * would then look whether each row's argument equals it, which a NULL never does, and drop all
 * rows. */
int prof_null_in_or(sqlite3_vtab *vtab);
/* SQLITE_OK when the value is of the type that a parameter's column declares and, a number, in the
 * range that its unit gives
 * ("1 to 1000", "0 or 1"; else from 0 on); otherwise the table's error, which names it. */
int prof_check_parameter(sqlite3_vtab *vtab, const char *table, const Column *column,
                         sqlite3_value *value);
int table_column(const Table *table, const char *name); /* its index, -1 */
/* The hidden column of the first argument (a source, folder or word), which the parameters follow;
 * -1: there are no arguments. */
int table_first_argument(const Table *table);

enum { PLACE_BITS = 56 }; /* of a row's place in its run, in its rowid: arguments.c */
/* A place made of two numbers, the lower of `bits` bits; one that no rowid can contain if they do
 * not fit. */
static inline uint64_t place_pair(uint64_t high, unsigned bits, uint64_t low)
{
    return low >> bits || high >> (PLACE_BITS - bits) ? UINT64_MAX : high << bits | low;
}
/* The rowid of a row of a run. */
int prof_rowid(sqlite3_vtab *vtab, SourceRun *from, uint64_t place, sqlite3_int64 *rowid);

/* ---- small tables: rows of one host after the other ---- */

/* Columns by which rows are looked up, found by name in the table's columns. */
enum RowKey {
    KEY_PLANE_ID,
    KEY_LINE_ID,
    KEY_EVENT_ID,
    KEY_METADATA_ID,
    KEY_INSTRUCTION_ID,
    KEY_MEMORY_SPACE,
    N_ROW_KEYS
};
enum TextKey { KEY_PROGRAM_ID, KEY_HLO_MODULE, KEY_HLO_OP, N_TEXT_KEYS };
extern const char *const row_key_names[N_ROW_KEYS], *const text_key_names[N_TEXT_KEYS];
enum { MAX_PARAMETERS = 8 };

/* Rows that are the items of an array. */
typedef struct {
    const void *items;
    size_t n, stride;
    uint64_t first_place; /* of items[0]; the places of the others follow */
} RowList;
#define ROW_LIST(items, n) ((RowList){items, n, sizeof *(items), 0})

typedef struct {
    sqlite3_vtab_cursor base;
    SourceNames asked, opened; /* opened: what `sources` are, from this filter or the one before */
    SourceRun *sources;
    int n_sources, at_source, number; /* number: of the arguments, for rowids; -1: not known yet */
    const SourceRun *from;
    Host *host;
    size_t at_host;
    bool eof;
    uint64_t place; /* unique in the run: set by RowSource.next, makes the rowid */
    RowList list;   /* of the host, with RowSource.list */
    size_t at_row;
    const void *row; /* items[at_row] */
    void *state;     /* the table's own, of RowSource.state_bytes */
    bool started;    /* next() was called for this host */
    bool has_rows;   /* of the host */
    bool has_key[N_ROW_KEYS];
    sqlite3_int64 key[N_ROW_KEYS];
    char *text_key[N_TEXT_KEYS];               /* NULL: not given */
    char *run_is, *host_is;                    /* equality asked for, or NULL */
    sqlite3_value *parameters[MAX_PARAMETERS]; /* NULL: not given */
    KeptRuns kept;
    ProfErr err;
} RowCursor;

static inline bool row_wanted(const RowCursor *c, enum RowKey key, int64_t value)
{
    return !c->has_key[key] || c->key[key] == value;
}
/* For rows that are numbered from `first` on by a key: the first of n places from `at` on whose row
 * is wanted, n: none. */
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

/* What the runs of a query hold together. */
typedef struct {
    double runs, hosts, planes, lines, metadata, stat_metadata, events;
} Counts;
/* Counts for a plan whose source is given by this term (-1: all attached runs); false when the runs
 * are not known yet. */
bool prof_counts(Prof *prof, sqlite3_index_info *info, int source_term, Counts *counts);

typedef struct RowSource {
    /* A table has list or next. Both are called for each host, or once if per_run, and set c->err
     * on failure. */
    /* Sets *list to an array whose items are the rows. Called once. The items stay as they are
     * until the next host. The place of a row is its index, unless the list says otherwise. */
    void (*list)(RowCursor *c, RowList *list);
    /* The plane of an item, if the list has the items of all hosts, in order of planes: those of
     * the host, or of the one plane that is asked for, are the rows. NULL: the list is the host's.
     */
    const Plane *(*plane)(const void *item);
    /* Is this item of the list a row? It may set c->place. NULL: all items are. */
    bool (*shows)(RowCursor *c, const void *item);
    /* Moves to the host's next row and sets c->place to a number that no other row of the run has,
     * whatever the plan (SQLite merges the arms of an OR by rowid); false at its end or when c->err
     * is set. The first call of a host has started false. */
    bool (*next)(RowCursor *c);
    /* What the table keeps from one call to the next: bytes at c->state, zero at the start of each
     * host. */
    size_t state_bytes;
    void (*close)(void *state); /* frees what the state holds, at the host's end; may be NULL */
    /* Writes a column; run, host and hidden columns are not asked for. */
    void (*column)(RowCursor *c, sqlite3_context *ctx, int column);
    /* Run once for tables that are of the run, not of its hosts: rows come for its first host only.
     */
    bool per_run;
    bool reads_events;   /* it looks at events or their numbers itself, not through an analysis: a
                            run that was attached by host then loads those of all hosts */
    bool lists_runs;     /* lists the attached runs: no error if there are none */
    bool without_source; /* rows do not depend on any run: next() is called once, with host NULL */
    unsigned needs; /* enum Need: what its rows are made of; prof_issues names what a run lacks of
                       it (nothing_to_show) */
    const char *nothing; /* the reason for no rows if nothing of that is lacking; NULL: it always
                            has rows then */
    double (*count)(
        const Counts *counts); /* rows of the table, where the runs are known; NULL: Table.n_rows */
    int n_parameters;          /* number of hidden columns after `source`, which are arguments 2 and
                                  following: INTEGER HIDDEN, REAL HIDDEN or TEXT HIDDEN */
} RowSource;
extern const sqlite3_module row_table_module;

/* A parameter's value, counted from 0; `otherwise` when it is not given or NULL. Text lives until
 * the next filter. */
sqlite3_int64 row_integer_parameter(const RowCursor *c, int parameter, sqlite3_int64 otherwise);
const char *row_text_parameter(const RowCursor *c, int parameter, const char *otherwise);

/* The source argument that the row is of; NULL: none was given. */
const char *row_source(const RowCursor *c);

void result_text(sqlite3_context *ctx, const Text *text);
/* The short name of a kernel's name, which is a pointer that a GPU plane of the run has. */
void result_kernel(RowCursor *c, sqlite3_context *ctx, const Text *name);
void result_owned(sqlite3_context *ctx,
                  char *text); /* of sqlite3_mprintf(), freed here; NULL: no memory, an error */
void result_built(sqlite3_context *ctx,
                  sqlite3_str *text); /* finishes it; NULL if empty, an error if memory ended */
void result_u64(sqlite3_context *ctx,
                uint64_t value); /* INTEGER where it fits, else decimal TEXT */
/* A self time that events inside have overdrawn has wrapped: it is below 0. */
void result_self(sqlite3_context *ctx, uint64_t self, uint64_t whole);
void result_real(sqlite3_context *ctx, const char *format,
                 double value);                                 /* as text, printed like C++ does */
void result_time(sqlite3_context *ctx, int64_t ps, bool in_us); /* in ps, or as REAL in us */
void result_span(sqlite3_context *ctx, uint64_t ps, bool in_us); /* the same, as result_u64() */
void result_id(sqlite3_context *ctx, uint64_t id);               /* always decimal TEXT */
void result_utf8(sqlite3_context *ctx, const uint8_t *bytes, size_t n); /* a copy, as valid UTF-8 */
/* Copies a path, or a message with paths, as valid UTF-8, with labels for paths if the connection
 * serves; NULL for NULL. */
void result_file_path(const RowCursor *c, sqlite3_context *ctx, const char *text);
void result_stat(sqlite3_context *ctx, const Plane *plane, const Stat *stat);
const Text *stat_name(const Plane *plane, const Stat *stat);
/* Appends text as a JSON string; UTF-8 as it is. */
void json_text(sqlite3_str *out, const char *s, size_t n);
/* Appends "name":value to an object whose { is there; bytes as hex text, NaN as null, infinity
 * as 9.0e+999. False: no memory. */
bool json_stat(sqlite3_str *out, const Plane *plane, const Stat *stat);

/* ---- canned queries: generated from queries/NAME.sql ---- */

typedef struct {
    const char *name, *default_sql, *description; /* default "": it must be given */
} QueryParameter;
typedef struct {
    const char *name, *question, *sql;
    const char *since, *example; /* as in Table */
    unsigned needs;              /* enum Need: what its rows are made of */
    const char *nothing; /* the reason for no rows if nothing of that is lacking; NULL: it always
                            has rows then */
    const QueryParameter *parameters;
    int n_parameters;
    const Column *columns; /* the answer's, then the parameters as HIDDEN columns */
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
