// SPDX-License-Identifier: Apache-2.0
/* row_answers.c: kept answers of row tables; see row_answers.h.
 *
 * An answer has all rows of a table for a source and parameters, unless a host or run has none and
 * prof_issues is to say why. A plan with other terms reads the run: it is mostly that of an inner
 * table of a join, whose filter has to be fast. */
#include "row_answers.h"
#include "answers.h"
SQLITE_EXTENSION_INIT3

static const Table *table_of(const RowCursor *c) { return ((ProfTable *)c->base.pVtab)->table; }

static int first_argument(const RowCursor *c)
{
    return ((ProfTable *)c->base.pVtab)->first_argument;
}

static int n_arguments(const RowCursor *c) { return 1 + table_of(c)->rows->n_parameters; }

static int n_kept_columns(const RowCursor *c) { return table_of(c)->n_columns - n_arguments(c); }

/* Returns the SQL that reads the rowid and all columns but the arguments; NULL if memory runs
 * out. */
static char *sql_of_rows(const RowCursor *c)
{
    const Table *table = table_of(c);
    int first = first_argument(c);
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT rowid");
    for (int i = 0; i < table->n_columns; i++)
        if (i < first || i >= first + n_arguments(c))
            sqlite3_str_appendf(sql, ", \"%w\"", table->columns[i].name);
    sqlite3_str_appendf(sql, " FROM temp.%s(", table->name);
    for (int i = 1; i <= n_arguments(c); i++)
        sqlite3_str_appendf(sql, "%s?%d", i > 1 ? ", " : "", i);
    sqlite3_str_appendall(sql, ")");
    if (table->rows->tells_asked) /* those of tables that another process asked */
        sqlite3_str_appendall(sql, " WHERE code <> 'nothing_to_show'");
    char *text = sqlite3_str_finish(sql), *of_modules = text ? view_sql(text) : NULL;
    sqlite3_free(text);
    return of_modules;
}

/* Reads all rows from the runs. *answer is NULL if they cannot be kept. Fails only if the statement
 * is to end: another error is left to the query itself. */
static int read_rows(const RowCursor *c, const Question *question, Answer **answer)
{
    Prof *prof = ((ProfTable *)c->base.pVtab)->prof;
    char *sql = sql_of_rows(c);
    sqlite3_stmt *stmt = NULL;
    int rc = sql ? sqlite3_prepare_v2(prof->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    for (int i = 0; i < question->n_values && rc == SQLITE_OK; i++)
        if (question->values[i]) rc = sqlite3_bind_value(stmt, i + 1, question->values[i]);
    *answer = answer_new(n_kept_columns(c));
    bool fits = *answer && rc == SQLITE_OK;
    prof->n_running++;
    prof->has_empty = false;
    while (fits && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        fits = answer_add(*answer, rowids_place(sqlite3_column_int64(stmt, 0)), stmt, 1);
    prof->n_running--;
    sqlite3_finalize(stmt);
    if (!fits || rc != SQLITE_DONE || (prof->has_empty && question->explained)) {
        answer_free(*answer);
        *answer = NULL;
    }
    return rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Returns whether the rows name their run. Without that, rows of two runs have the same rowids. */
static bool has_run(const RowCursor *c) { return !strcmp(table_of(c)->columns[0].name, "run"); }

static bool asks_for_all(const char *letters)
{
    for (; *letters; letters++)
        if (*letters != 's' && !(*letters >= 'A' && *letters < 'A' + MAX_PARAMETERS)) return false;
    return true;
}

int row_answer_open(RowCursor *c, const char *letters, sqlite3_value *const *values)
{
    Prof *prof = ((ProfTable *)c->base.pVtab)->prof;
    const Table *table = table_of(c);
    Question question = {table->name, values, n_arguments(c), 1,
                         .explained = table->rows->nothing || table->rows->needs};
    if (table->rows->without_source || prof->n_running || !has_run(c) || !asks_for_all(letters))
        return SQLITE_OK;
    char *key = answer_key(prof, &question);
    bool may_read = key && !(table->rows->tells_asked && run_any_open(NULL));
    int rc = SQLITE_OK;
    if (may_read) c->answer = answer_read(key, n_kept_columns(c));
    if (key && !c->answer) {
        rc = read_rows(c, &question, &c->answer);
        if (c->answer) answer_keep(prof, &question, c->answer, key);
        if (table->rows->tells_asked) { /* this process has asked for them */
            answer_free(c->answer);
            c->answer = NULL;
        }
    }
    sqlite3_free(key);
    return rc;
}

void row_answer_next(RowCursor *c)
{
    c->eof = !answer_next(c->answer);
    c->place = answer_place(c->answer);
    c->number = -1; /* the row may be of another run */
}

void row_answer_column(const RowCursor *c, sqlite3_context *ctx, int column)
{
    answer_result(c->answer, ctx, column < first_argument(c) ? column : column - n_arguments(c));
}

const char *row_answer_run(const RowCursor *c) { return answer_text(c->answer, 0); }
