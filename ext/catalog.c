// SPDX-License-Identifier: Apache-2.0
/* catalog.c: the tables that document the extension (prof_tables, prof_columns, prof_functions,
 * prof_queries), and prof_find, which lists the runs on disk.
 *
 *   SELECT "column", unit, description FROM prof_columns WHERE table_name = 'trace_events';
 *   SELECT path, host_count FROM prof_find('logs'); */
#include "../loader/source.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- prof_tables ---- */

#define TABLES_COLUMNS(C)                                                                          \
    C(PT_NAME, "name", "TEXT", NULL, "name of the table", "libprofsql")                            \
    C(PT_SIGNATURE, "signature", "TEXT", NULL, "table with its arguments, as written after FROM",  \
      "libprofsql")                                                                                \
    C(PT_ROW, "row_is", "TEXT", NULL, "what one row of the table represents", "libprofsql")        \
    C(PT_SINCE, "since", "TEXT", NULL, "first version of libprofsql that has it", "libprofsql")    \
    C(PT_EXAMPLE, "example", "TEXT", NULL,                                                         \
      "example query on the attached runs, ready to run; replace 'logs' by a folder of runs",      \
      "libprofsql")
enum { TABLES_COLUMNS(COLUMN_ENUM) };
static const Column tables_columns[] = {TABLES_COLUMNS(COLUMN_DOC)};

static void tables_list(RowCursor *c, RowList *list)
{
    *list = ROW_LIST(prof_tables, (size_t)n_tables_of(row_prof(c)));
}

static void table_signature(sqlite3_context *ctx, const Table *table)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendall(out, table->name);
    int first = table_first_argument(table);
    int n = first < 0 ? 0 : 1 + (table->rows ? table->rows->n_parameters : 0);
    for (int i = 0; i < n; i++)
        sqlite3_str_appendf(out, "%s%s", i ? ", " : "(", table->columns[first + i].name);
    if (n) sqlite3_str_appendchar(out, 1, ')');
    result_built(ctx, out);
}

static void tables_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Table *table = *(const Table *const *)c->row;
    switch (column) {
    case PT_NAME: result_static(ctx, table->name); break;
    case PT_SIGNATURE: table_signature(ctx, table); break;
    case PT_ROW: result_static(ctx, table->description); break;
    case PT_SINCE: result_static(ctx, table->since); break;
    case PT_EXAMPLE: result_static(ctx, table->example); break;
    default: break;
    }
}

static const RowSource tables_rows = {
    .list = tables_list, .column = tables_column, .without_source = true};
const Table prof_tables_table = {"prof_tables",
                                 "one table of the extension",
                                 tables_columns,
                                 COUNT(tables_columns),
                                 &row_table_module,
                                 &tables_rows,
                                 80,
                                 "0.1.0",
                                 "SELECT name, signature, row_is, example FROM prof_tables"};

/* ---- prof_columns ---- */

#define COLUMNS_COLUMNS(C)                                                                         \
    C(PC_TABLE, "table_name", "TEXT", NULL, "name of the table or canned query", "libprofsql")     \
    C(PC_COLUMN, "column", "TEXT", NULL,                                                           \
      "name of the column; hidden columns and parameters are listed too", "libprofsql")            \
    C(PC_TYPE, "type", "TEXT", NULL, "declared type; HIDDEN columns are not part of SELECT *",     \
      "libprofsql")                                                                                \
    C(PC_UNIT, "unit", "TEXT", NULL, "unit or range of the values; NULL if there is none",         \
      "libprofsql")                                                                                \
    C(PC_DESCRIPTION, "description", "TEXT", NULL,                                                 \
      "meaning of the column, and when its value is NULL", "libprofsql")                           \
    C(PC_ORIGIN, "origin", "TEXT", NULL,                                                           \
      "field, stat or XProf page that the value or its definition comes from", "libprofsql")
enum { COLUMNS_COLUMNS(COLUMN_ENUM) };
static const Column columns_columns[] = {COLUMNS_COLUMNS(COLUMN_DOC)};

typedef struct {
    size_t table, column; /* canned queries come after the tables */
} ColumnAt;

static bool columns_next(RowCursor *c)
{
    size_t n_visible = (size_t)n_tables_of(row_prof(c));
    ColumnAt *at = c->state;
    at->column += c->started;
    size_t n_tables = (size_t)n_prof_tables, n_all = n_tables + (size_t)n_prof_queries;
    for (; at->table < n_all; at->table++, at->column = 0) {
        if (at->table >= n_visible && at->table < n_tables) continue;
        int n = at->table < n_tables ? prof_tables[at->table]->n_columns
                                     : prof_queries[at->table - n_tables].n_columns;
        if (at->column < (size_t)n) {
            c->place = at->table << 32 | at->column;
            return true;
        }
    }
    return false;
}

static void columns_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ColumnAt *at = c->state;
    size_t n_tables = (size_t)n_prof_tables;
    const Table *table = at->table < n_tables ? prof_tables[at->table] : NULL;
    const Query *query = table ? NULL : &prof_queries[at->table - n_tables];
    const Column *col = table ? &table->columns[at->column] : &query->columns[at->column];
    switch (column) {
    case PC_TABLE: result_static(ctx, table ? table->name : query->name); break;
    case PC_COLUMN: result_static(ctx, col->name); break;
    case PC_TYPE: result_static(ctx, col->type); break;
    case PC_UNIT: result_static(ctx, col->unit); break;
    case PC_DESCRIPTION: result_static(ctx, col->description); break;
    case PC_ORIGIN: result_static(ctx, col->origin); break;
    default: break;
    }
}

static const RowSource columns_rows = {.next = columns_next,
                                       .state_bytes = sizeof(ColumnAt),
                                       .column = columns_column,
                                       .without_source = true};
const Table prof_columns_table = {
    "prof_columns",
    "one column of a table or canned query",
    columns_columns,
    COUNT(columns_columns),
    &row_table_module,
    &columns_rows,
    400,
    "0.1.0",
    "SELECT \"column\", unit, description FROM prof_columns WHERE table_name = 'steps'"};

/* ---- prof_functions ---- */

#define FUNCTIONS_COLUMNS(C)                                                                       \
    C(PF_NAME, "name", "TEXT", NULL, "name of the function", "libprofsql")                         \
    C(PF_SIGNATURE, "signature", "TEXT", NULL, "function with its arguments", "libprofsql")        \
    C(PF_KIND, "kind", "TEXT", NULL, "kind of function: scalar, aggregate or window",              \
      "libprofsql")                                                                                \
    C(PF_UNIT, "unit", "TEXT", NULL, "unit of the result; NULL if there is none", "libprofsql")    \
    C(PF_DESCRIPTION, "description", "TEXT", NULL,                                                 \
      "what the function returns, and when it returns NULL or fails", "libprofsql")                \
    C(PF_ORIGIN, "origin", "TEXT", NULL, "where the definition comes from", "libprofsql")          \
    C(PF_SINCE, "since", "TEXT", NULL, "first version of libprofsql that has the function",        \
      "libprofsql")                                                                                \
    C(PF_EXAMPLE, "example", "TEXT", NULL,                                                         \
      "query that calls the function; replace 'logs' by a path", "libprofsql")
enum { FUNCTIONS_COLUMNS(COLUMN_ENUM) };
static const Column functions_columns[] = {FUNCTIONS_COLUMNS(COLUMN_DOC)};

typedef struct {
    size_t list, function;
} FunctionAt;

static bool functions_next(RowCursor *c)
{
    FunctionAt *at = c->state;
    at->function += c->started;
    for (; at->list < (size_t)n_prof_function_lists; at->list++, at->function = 0)
        if (at->function < (size_t)*prof_function_lists[at->list].n) {
            c->place = at->list << 32 | at->function;
            return true;
        }
    return false;
}

static void functions_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    static const char *const kinds[] = {[FUNCTION_SCALAR] = "scalar",
                                        [FUNCTION_AGGREGATE] = "aggregate",
                                        [FUNCTION_WINDOW] = "window"};
    const FunctionAt *at = c->state;
    const FunctionDef *f = &prof_function_lists[at->list].functions[at->function];
    switch (column) {
    case PF_NAME: result_static(ctx, f->name); break;
    case PF_SIGNATURE: result_static(ctx, f->signature); break;
    case PF_KIND: result_static(ctx, kinds[f->kind]); break;
    case PF_UNIT: result_static(ctx, f->unit); break;
    case PF_DESCRIPTION: result_static(ctx, f->description); break;
    case PF_ORIGIN: result_static(ctx, f->origin); break;
    case PF_SINCE: result_static(ctx, f->since); break;
    case PF_EXAMPLE: result_static(ctx, f->example); break;
    default: break;
    }
}

static const RowSource functions_rows = {.next = functions_next,
                                         .state_bytes = sizeof(FunctionAt),
                                         .column = functions_column,
                                         .without_source = true};
const Table prof_functions_table = {"prof_functions",
                                    "one SQL function",
                                    functions_columns,
                                    COUNT(functions_columns),
                                    &row_table_module,
                                    &functions_rows,
                                    12,
                                    "0.1.0",
                                    "SELECT signature, description FROM prof_functions"};

/* ---- prof_queries ---- */

#define QUERIES_COLUMNS(C)                                                                         \
    C(PQ_NAME, "name", "TEXT", NULL, "name of the canned query, which is also a table function",   \
      "queries/")                                                                                  \
    C(PQ_QUESTION, "question", "TEXT", NULL, "question that the query answers", "queries/")        \
    C(PQ_SIGNATURE, "signature", "TEXT", NULL, "query with its parameters and their defaults",     \
      "queries/")                                                                                  \
    C(PQ_SQL, "sql", "TEXT", NULL, "SQL text of the query", "queries/")                            \
    C(PQ_SINCE, "since", "TEXT", NULL, "first version of libprofsql that has it", "libprofsql")    \
    C(PQ_EXAMPLE, "example", "TEXT", NULL,                                                         \
      "example query on the attached runs, ready to run; replace 'logs' by a folder of runs",      \
      "queries/")
enum { QUERIES_COLUMNS(COLUMN_ENUM) };
static const Column queries_columns[] = {QUERIES_COLUMNS(COLUMN_DOC)};

static void queries_list(RowCursor *c, RowList *list)
{
    (void)c;
    *list = ROW_LIST(prof_queries, (size_t)n_prof_queries);
}

static void queries_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Query *q = c->row;
    if (column == PQ_NAME) result_static(ctx, q->name);
    if (column == PQ_QUESTION) result_static(ctx, q->question);
    if (column == PQ_SQL) result_static(ctx, q->sql);
    if (column == PQ_SINCE) result_static(ctx, q->since);
    if (column == PQ_EXAMPLE) result_static(ctx, q->example);
    if (column != PQ_SIGNATURE) return;
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendf(out, "%s(", q->name);
    for (int i = 0; i < q->n_parameters; i++) {
        const QueryParameter *p = &q->parameters[i];
        sqlite3_str_appendf(out, "%s%s%s%s", i ? ", " : "", p->name, *p->default_sql ? " = " : "",
                            p->default_sql);
    }
    sqlite3_str_appendchar(out, 1, ')');
    result_built(ctx, out);
}

static const RowSource queries_rows = {
    .list = queries_list, .column = queries_column, .without_source = true};
const Table prof_queries_table = {"prof_queries",
                                  "one canned query",
                                  queries_columns,
                                  COUNT(queries_columns),
                                  &row_table_module,
                                  &queries_rows,
                                  10,
                                  "0.1.0",
                                  "SELECT signature, question, example FROM prof_queries"};

/* ---- prof_find ---- */

#define FIND_COLUMNS(C)                                                                            \
    C(FI_PATH, "path", "TEXT", NULL, "path of the run folder or file; usable as a source",         \
      "file system")                                                                               \
    C(FI_NAME, "name", "TEXT", NULL,                                                               \
      "name of the run below the log directory, including subfolders such as train/",              \
      "file system")                                                                               \
    C(FI_HOSTS, "host_count", "INTEGER", "hosts", "number of *.xplane.pb files in the run",        \
      "file system")                                                                               \
    C(FI_SIZE, "size_bytes", "INTEGER", "bytes", "total size of the run's *.xplane.pb files",      \
      "file system")                                                                               \
    C(FI_MODIFIED, "modified_unix_ns", "INTEGER", "ns since 1970",                                 \
      "modification time of the run's newest *.xplane.pb file", "file system")                     \
    C(FI_DIR, "dir", "TEXT HIDDEN", NULL,                                                          \
      "folder to search, including subfolders, or a file named *.xplane.pb or *.hlo.pb",           \
      "argument 1")
enum { FIND_COLUMNS(COLUMN_ENUM) };
static const Column find_columns[] = {FIND_COLUMNS(COLUMN_DOC)};

typedef struct {
    Source *sources;
    size_t n;
} Found;

static void find_close(void *state)
{
    Found *found = state;
    source_list_free(found->sources, found->n);
}

static void find_list(RowCursor *c, RowList *list)
{
    const char *folder = row_source(c);
    Found *found = c->state;
    Prof *prof = ((ProfTable *)c->base.pVtab)->prof;
    if (prof->serving && folder)
        prof_fail(&c->err, PROF_NOTFOUND, 0, "prof_find: " SERVED_ONLY);
    else if (prof->serving)
        served_list(prof, &found->sources, &found->n, &c->err);
    else if (!folder)
        prof_fail(&c->err, PROF_NOTFOUND, 0,
                  "prof_find needs a folder to search: SELECT * FROM prof_find('logs')");
    else
        source_find(folder, NULL, &found->sources, &found->n, &c->err);
    *list = ROW_LIST(found->sources, found->n);
}

static void find_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Source *s = c->row;
    switch (column) {
    case FI_PATH: result_file_path(c, ctx, s->path); break;
    case FI_NAME: result_file_path(c, ctx, s->name); break;
    case FI_HOSTS: sqlite3_result_int64(ctx, (sqlite3_int64)s->n_files); break;
    case FI_SIZE: sqlite3_result_int64(ctx, (sqlite3_int64)s->size_bytes); break;
    case FI_MODIFIED: sqlite3_result_int64(ctx, s->mtime_ns); break;
    default: break;
    }
}

static const RowSource find_rows = {.list = find_list,
                                    .state_bytes = sizeof(Found),
                                    .close = find_close,
                                    .column = find_column,
                                    .without_source = true};
const Table prof_find_table = {
    "prof_find",
    "one run found in a folder or below it",
    find_columns,
    COUNT(find_columns),
    &row_table_module,
    &find_rows,
    10,
    "0.1.0",
    "SELECT path, host_count, size_bytes FROM prof_find('logs') ORDER BY modified_unix_ns DESC"};
