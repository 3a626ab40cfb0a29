// SPDX-License-Identifier: Apache-2.0
/* query_tables.c: the canned queries of queries/ as table functions of the same name.
 *
 *   SELECT * FROM top_ops('logs', 5);
 *
 * Each is a file of SQL that is compiled in; its parameters are hidden columns. A row of the table
 * is a row of the query's own statement. idxStr: a letter for each argument, 'A' + the parameter's
 * number. idxNum: 0, or 1 + a parameter that the query reads but does not give. */
#include "answers.h"
SQLITE_EXTENSION_INIT3

typedef struct {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *stmt;
    Answer *answer; /* the rows from here on, if they are kept or to be kept */
    bool goes_on; /* after the answer, rows of the statement follow, the first of which it is at */
    sqlite3_value *given[MAX_ARGUMENTS]; /* parameters, for their columns */
    bool eof;
    int number;     /* number of the parameters, for rowids; -1: not assigned yet */
    uint64_t place; /* of the row */
} QueryCursor;

static int query_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    const QueryContext *qc = context;
    return prof_connect(db, (ProfTable){.prof = qc->prof, .query = qc->query}, qc->query->columns,
                        qc->query->n_columns, argc, argv, vtab, message);
}

static int first_parameter(const Query *query) { return query->n_columns - query->n_parameters; }

static int query_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const Query *query = ((ProfTable *)vtab)->query;
    ArgumentTerms arguments;
    if (!prof_plan_arguments(info, first_parameter(query), query->n_parameters, &arguments))
        return SQLITE_CONSTRAINT;
    int n = 0;
    char plan[MAX_ARGUMENTS + 1] = "";
    for (int k = 0; k < query->n_parameters && k < MAX_ARGUMENTS; k++) {
        if (arguments.term[k] < 0) continue;
        plan[n++] = (char)('A' + k), plan[n] = 0;
        info->aConstraintUsage[arguments.term[k]].argvIndex = n;
        info->aConstraintUsage[arguments.term[k]].omit = 1;
    }
    info->idxStr = sqlite3_mprintf("%s", plan);
    if (!info->idxStr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->idxNum = arguments.missing + 1;
    info->estimatedRows = 100;
    info->estimatedCost = arguments.missing < 0 ? 1e6 : COST_OF_MISSING;
    return SQLITE_OK;
}

static int query_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    QueryCursor *c = sqlite3_malloc64(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    rowids_open(&((ProfTable *)vtab)->rowids);
    *c = (QueryCursor){.eof = true};
    *cursor = &c->base;
    return SQLITE_OK;
}

static void forget_given(QueryCursor *c)
{
    for (int i = 0; i < MAX_ARGUMENTS; i++) sqlite3_value_free(c->given[i]);
    memset(c->given, 0, sizeof c->given);
}

static int query_close(sqlite3_vtab_cursor *cursor)
{
    forget_given((QueryCursor *)cursor);
    answer_free(((QueryCursor *)cursor)->answer);
    sqlite3_finalize(((QueryCursor *)cursor)->stmt);
    rowids_close(&((ProfTable *)cursor->pVtab)->rowids);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int query_fail(QueryCursor *c, int rc)
{
    ProfTable *table = (ProfTable *)c->base.pVtab;
    const char *why = rc == SQLITE_NOMEM ? NULL : sqlite3_errmsg(table->prof->db);
    return prof_table_fail(c->base.pVtab, rc, why ? sqlite3_mprintf("%s", why) : NULL);
}

static bool is_source(const QueryParameter *p)
{
    return !strcmp(p->name, "source") || !strcmp(p->name, "a") || !strcmp(p->name, "b");
}

/* Records why runs of a source have no rows. */
static int explain_source(QueryCursor *c, const Empty *empty, sqlite3_value *source)
{
    char *message = NULL;
    SourceRun *runs = NULL;
    int n = 0;
    ProfErr err = {0};
    const char *named = source ? (const char *)sqlite3_value_text(source) : NULL;
    Prof *prof = ((ProfTable *)c->base.pVtab)->prof;
    Statement s;
    statement_open(&s, prof->db);
    int rc = prof_open(prof, named, true, &runs, &n, &message);
    for (int i = 0; rc == SQLITE_OK && i < n; i++)
        if (!empty_record(empty, runs[i].run, runs[i].only, &err))
            rc = prof_error(prof, &err, &message);
    rc = statement_close(&s, rc);
    prof_release(runs, n);
    return rc == SQLITE_OK ? SQLITE_OK : prof_table_fail(c->base.pVtab, rc, message);
}

/* Returns whether a parameter may be the reason for an empty answer: not a source, nor a number of
 * rows above 0. */
static bool may_be_reason(const QueryParameter *p, sqlite3_value *value)
{
    if (!value || sqlite3_value_type(value) == SQLITE_NULL || is_source(p)) return false;
    return strcmp(p->name, "n") != 0 || sqlite3_value_int64(value) == 0;
}

/* Records why the answer is empty. If the runs lack nothing, the reason may be a parameter. */
static int explain_nothing(QueryCursor *c)
{
    const ProfTable *table = (ProfTable *)c->base.pVtab;
    const Query *query = table->query;
    Empty empty = {query->name, query->needs, query->nothing};
    if (table->prof->n_running) return SQLITE_OK;
    for (int i = 0; i < query->n_parameters && i < MAX_ARGUMENTS; i++)
        if (may_be_reason(&query->parameters[i], c->given[i])) empty.nothing = NULL;
    int rc = SQLITE_OK, n_sources = 0;
    for (int i = 0; i < query->n_parameters && rc == SQLITE_OK; i++) {
        if (!is_source(&query->parameters[i])) continue;
        rc = explain_source(c, &empty, c->given[i]);
        n_sources++;
    }
    return n_sources ? rc : explain_source(c, &empty, NULL); /* all attached runs */
}

static int step(QueryCursor *c)
{
    Prof *prof = ((ProfTable *)c->base.pVtab)->prof;
    prof->n_running++;
    int rc = sqlite3_step(c->stmt);
    prof->n_running--;
    return rc;
}

static int query_next(sqlite3_vtab_cursor *cursor)
{
    QueryCursor *c = (QueryCursor *)cursor;
    int rc = SQLITE_DONE;
    bool of_answer = c->answer && answer_next(c->answer);
    if (c->answer && !of_answer && c->goes_on) {
        answer_free(c->answer);
        c->answer = NULL;
        rc = SQLITE_ROW;
    } else if (!c->answer) {
        rc = step(c);
    }
    if (of_answer || rc == SQLITE_ROW) {
        c->place++;
        return SQLITE_OK;
    }
    c->eof = true;
    if (rc != SQLITE_DONE) return query_fail(c, rc);
    return c->place ? SQLITE_OK : explain_nothing(c);
}

/* Fails if a parameter without default is missing: comparing with nothing would report that
 * everything has vanished. */
static int check_all_given(QueryCursor *c)
{
    const Query *query = ((ProfTable *)c->base.pVtab)->query;
    for (int i = 0; i < query->n_parameters && i < MAX_ARGUMENTS; i++) {
        const QueryParameter *p = &query->parameters[i];
        if (*p->default_sql || (c->given[i] && sqlite3_value_type(c->given[i]) != SQLITE_NULL))
            continue;
        return prof_table_fail(
            c->base.pVtab, SQLITE_ERROR,
            sqlite3_mprintf(
                "%s needs %s (%s): SELECT * FROM %s('run_a', 'run_b'), or attach two runs",
                query->name, p->name, p->description, query->name));
    }
    return SQLITE_OK;
}

static int prepare(QueryCursor *c, const ProfTable *table)
{
    char *sql = view_sql(table->query->sql);
    if (!sql) return SQLITE_NOMEM;
    int rc = sqlite3_prepare_v2(table->prof->db, sql, -1, &c->stmt, NULL);
    sqlite3_free(sql);
    return rc;
}

static int bind(QueryCursor *c, const Query *query, int parameter)
{
    char name[64];
    sqlite3_snprintf(sizeof name, name, ":%s", query->parameters[parameter].name);
    int index = sqlite3_bind_parameter_index(c->stmt, name);
    return index ? sqlite3_bind_value(c->stmt, index, c->given[parameter]) : SQLITE_OK;
}

/* Adds missing sources: that of a table made by prof_views() and, for a comparison, the two
 * attached runs. */
static int add_sources(QueryCursor *c, const ProfTable *table)
{
    const Prof *prof = table->prof;
    int rc = SQLITE_OK;
    bool none = true;
    for (int i = 0; i < table->query->n_parameters && i < MAX_ARGUMENTS; i++)
        none &= !is_source(&table->query->parameters[i]) || !c->given[i];
    for (int i = 0; i < table->query->n_parameters && i < MAX_ARGUMENTS && rc == SQLITE_OK; i++) {
        const QueryParameter *p = &table->query->parameters[i];
        bool is_run = none && !*p->default_sql && is_source(p) && prof->n_attached == 2;
        if (c->given[i]) continue;
        if (!is_run && (strcmp(p->name, "source") != 0 || !table->source)) continue;
        c->given[i] = is_run ? text_value(prof->db, prof->attached[!strcmp(p->name, "b")].label)
                             : sqlite3_value_dup(table->source);
        rc = c->given[i] ? bind(c, table->query, i) : SQLITE_NOMEM;
    }
    return rc;
}

/* ---- kept answers ---- */

static Question question_of(const QueryCursor *c)
{
    const Query *query = ((ProfTable *)c->base.pVtab)->query;
    Question question = {
        .name = query->name, .values = c->given, .explained = query->nothing || query->needs};
    for (; question.n_values < query->n_parameters && question.n_values < MAX_ARGUMENTS;
         question.n_values++)
        if (is_source(&query->parameters[question.n_values]))
            question.sources |= 1u << question.n_values;
    return question;
}

/* Steps through the rows to the end, or as far as an answer can be kept. After an error the rows
 * come from the statement again, which then fails where it did. */
static int collect(QueryCursor *c, int n_columns)
{
    int rc = SQLITE_ROW;
    c->answer = answer_new(n_columns);
    while (c->answer && (rc = step(c)) == SQLITE_ROW && answer_add(c->answer, 0, c->stmt, 0)) {
    }
    c->goes_on = c->answer && rc == SQLITE_ROW;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) return SQLITE_OK;
    answer_free(c->answer);
    c->answer = NULL;
    if (rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM) return query_fail(c, rc);
    sqlite3_reset(c->stmt);
    return SQLITE_OK;
}

/* Takes the kept answer, or keeps that of the statement. */
static int use_answer(QueryCursor *c)
{
    Prof *prof = ((ProfTable *)c->base.pVtab)->prof;
    Question question = question_of(c);
    char *key = prof->n_running ? NULL : answer_key(prof, &question);
    if (!key) return SQLITE_OK;
    int n_columns = first_parameter(((ProfTable *)c->base.pVtab)->query), rc = SQLITE_OK;
    c->answer = answer_read(key, n_columns);
    if (!c->answer && (rc = collect(c, n_columns)) == SQLITE_OK && c->answer && !c->goes_on)
        answer_keep(prof, &question, c->answer, key);
    sqlite3_free(key);
    return rc;
}

static int query_filter(sqlite3_vtab_cursor *cursor, int plan, const char *letters, int argc,
                        sqlite3_value **argv)
{
    QueryCursor *c = (QueryCursor *)cursor;
    ProfTable *table = (ProfTable *)cursor->pVtab;
    c->eof = true, c->place = 0, c->number = -1;
    if (plan)
        return prof_argument_missing(cursor->pVtab, table->query->name,
                                     table->query->parameters[plan - 1].name);
    int rc = SQLITE_OK;
    if (!c->stmt) rc = prepare(c, table);
    if (rc != SQLITE_OK) return query_fail(c, rc);
    answer_free(c->answer);
    c->answer = NULL, c->goes_on = false;
    sqlite3_reset(c->stmt);
    sqlite3_clear_bindings(c->stmt);
    forget_given(c);
    for (int i = 0; i < argc; i++) {
        const Query *query = table->query;
        int parameter = letters[i] - 'A';
        rc = prof_check_parameter(cursor->pVtab, query->name,
                                  &query->columns[first_parameter(query) + parameter], argv[i]);
        if (rc != SQLITE_OK) return rc;
        if (!(c->given[parameter] = sqlite3_value_dup(argv[i]))) return SQLITE_NOMEM;
        if ((rc = bind(c, query, parameter)) != SQLITE_OK) return query_fail(c, rc);
    }
    if ((rc = add_sources(c, table)) != SQLITE_OK) return query_fail(c, rc);
    rc = check_all_given(c);
    if (rc != SQLITE_OK || (rc = use_answer(c)) != SQLITE_OK) return rc;
    c->eof = false;
    return query_next(cursor);
}

static int query_eof(sqlite3_vtab_cursor *cursor) { return ((QueryCursor *)cursor)->eof; }

static int query_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    QueryCursor *c = (QueryCursor *)cursor;
    ProfTable *table = (ProfTable *)cursor->pVtab;
    int rc = c->number < 0
                 ? rowids_number(&table->rowids, NULL, NULL, c->given, MAX_ARGUMENTS, &c->number)
                 : SQLITE_OK;
    return rc == SQLITE_OK
               ? rowids_make(cursor->pVtab, table->query->name, c->number, c->place, rowid)
               : rc;
}

static int query_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    QueryCursor *c = (QueryCursor *)cursor;
    const Query *query = ((ProfTable *)cursor->pVtab)->query;
    int parameter = column - first_parameter(query);
    if (parameter < 0 && c->answer)
        answer_result(c->answer, ctx, column);
    else if (parameter < 0)
        sqlite3_result_value(ctx, sqlite3_column_value(c->stmt, column));
    else if (parameter < MAX_ARGUMENTS && c->given[parameter])
        sqlite3_result_value(ctx, c->given[parameter]);
    return SQLITE_OK;
}

#define QUERY_METHODS                                                                              \
    .iVersion = 2, .xConnect = query_connect, .xBestIndex = query_best_index,                      \
    .xDisconnect = prof_table_disconnect, .xOpen = query_open, .xClose = query_close,              \
    .xFilter = query_filter, .xNext = query_next, .xEof = query_eof, .xColumn = query_column,      \
    .xRowid = query_rowid
const sqlite3_module query_module = {QUERY_METHODS};
const sqlite3_module query_view_module = {QUERY_METHODS, .xCreate = query_connect,
                                          .xDestroy = prof_table_disconnect};
