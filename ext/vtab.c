// SPDX-License-Identifier: Apache-2.0
/* vtab.c: what all tables share, and the module of small tables, whose rows are walked host by
 * host.
 *
 * Plan of a row table: idxStr has a letter for each argument in order: s source, S all sources of
 * an IN
 * (...), A and following the parameters, r run, h host, a digit for each RowKey and one of !"#$ for
 * each TextKey with an equality. SQLite checks every term again; a plan only saves work. A ? at the
 * end: an argument is given twice. idxNum: 0, or 1 + the argument that the query reads but does not
 * give. */
#include "../loader/plane.h"
#include "../loader/base/search.h"
#include "answers.h"
#include "row_answers.h"
SQLITE_EXTENSION_INIT3

#include <math.h>
#include <stdio.h>

const char *const row_key_names[N_ROW_KEYS] = {"plane_id",    "line_id",        "event_id",
                                               "metadata_id", "instruction_id", "memory_space"};
const char *const text_key_names[N_TEXT_KEYS] = {"program_id", "hlo_module", "hlo_op", "allocator"};

int table_column(const Table *table, const char *name)
{
    for (int i = 0; i < table->n_columns; i++)
        if (!strcmp(table->columns[i].name, name)) return i;
    return -1;
}

int prof_connect(sqlite3 *db, ProfTable as, const Column *columns, int n_columns, int argc,
                 const char *const *argv, sqlite3_vtab **vtab, char **message)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendall(sql, "CREATE TABLE x(");
    for (int i = 0; i < n_columns; i++)
        sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? "," : "", columns[i].name, columns[i].type);
    sqlite3_str_appendall(sql, ")");
    char *declaration = sqlite3_str_finish(sql);
    if (!declaration) return SQLITE_NOMEM;
    int rc = sqlite3_declare_vtab(db, declaration);
    sqlite3_free(declaration);
    if (rc != SQLITE_OK) return rc;
    if (!as.prof->serving) /* a hostile schema must not open files */
        sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    ProfTable *table = sqlite3_malloc64(sizeof *table);
    if (!table) return SQLITE_NOMEM;
    *table = as;
    prof_ref(as.prof);
    rc = view_source(db, argc, argv, &table->source, message);
    if (rc == SQLITE_OK)
        *vtab = &table->base;
    else
        prof_table_disconnect(&table->base);
    return rc;
}

int prof_table_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                       sqlite3_vtab **vtab, char **message)
{
    const TableContext *tc = context;
    ProfTable as = {
        .prof = tc->prof, .table = tc->table, .first_argument = table_first_argument(tc->table)};
    return prof_connect(db, as, tc->table->columns, tc->table->n_columns, argc, argv, vtab,
                        message);
}

int prof_table_disconnect(sqlite3_vtab *vtab)
{
    prof_unref(((ProfTable *)vtab)->prof);
    sqlite3_value_free(((ProfTable *)vtab)->source);
    sqlite3_free(vtab);
    return SQLITE_OK;
}

int prof_table_fail(sqlite3_vtab *vtab, int rc, char *message)
{
    if (message) {
        sqlite3_free(vtab->zErrMsg);
        vtab->zErrMsg = message;
    }
    return rc;
}

int prof_null_in_or(sqlite3_vtab *vtab)
{
    const char *table = ((ProfTable *)vtab)->table->name;
    return prof_table_fail(
        vtab, SQLITE_ERROR,
        sqlite3_mprintf(
            "%s: an argument is NULL, and SQLite would return no rows because it splits the OR; "
            "omit the argument (%s instead of %s(NULL)), or write a + before a column of the OR",
            table, table, table));
}

int prof_rowid(sqlite3_vtab *vtab, SourceRun *from, uint64_t place, sqlite3_int64 *rowid)
{
    ProfTable *table = (ProfTable *)vtab;
    int rc = from->number < 0
                 ? rowids_number(&table->rowids, from->source, from->label, NULL, 0, &from->number)
                 : SQLITE_OK;
    return rc == SQLITE_OK ? rowids_make(vtab, table->table->name, from->number, place, rowid) : rc;
}

/* ---- parameters ---- */

static const sqlite3_value *given(const RowCursor *c, int parameter)
{
    sqlite3_value *value = c->parameters[parameter];
    return value && sqlite3_value_type(value) != SQLITE_NULL ? value : NULL;
}

sqlite3_int64 row_integer_parameter(const RowCursor *c, int parameter, sqlite3_int64 otherwise)
{
    return given(c, parameter) ? sqlite3_value_int64(c->parameters[parameter]) : otherwise;
}

const char *row_text_parameter(const RowCursor *c, int parameter, const char *otherwise)
{
    const char *text =
        given(c, parameter) ? (const char *)sqlite3_value_text(c->parameters[parameter]) : NULL;
    return text ? text : otherwise;
}

/* Returns whether the value has the type that the parameter's column declares. */
static bool fits(const Column *column, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return true;
    if (starts_with(column->type, "INTEGER")) return type == SQLITE_INTEGER;
    if (starts_with(column->type, "REAL")) return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    return type == SQLITE_TEXT;
}

/* Parses the allowed range from the column's unit ("1 to 1000", "0 or 1"); without one, 0 or more.
 * Returns whether the value is in it. */
static bool in_range(const Column *column, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return true;
    double least = 0, most = INFINITY, number = sqlite3_value_double(value);
    if (column->unit && sscanf(column->unit, "%lf to %lf", &least, &most) != 2)
        sscanf(column->unit, "%lf or %lf", &least, &most);
    return number >= least && number <= most;
}

/* Returns what the message about a wrong argument says of the type that it must have. */
static const char *type_in_words(const Column *column)
{
    if (starts_with(column->type, "INTEGER")) return "an integer";
    return starts_with(column->type, "REAL") ? "a number" : "a string";
}

/* Returns the range of a number, as the unit gives it. */
static const char *range_in_words(const Column *column)
{
    return column->unit && *column->unit >= '0' && *column->unit <= '9' ? column->unit
                                                                        : "0 or more";
}

int prof_check_parameter(sqlite3_vtab *vtab, const char *table, const Column *column,
                         sqlite3_value *value)
{
    bool of_type = fits(column, value);
    if (of_type && in_range(column, value)) return SQLITE_OK;
    bool blob = sqlite3_value_type(value) == SQLITE_BLOB;
    const char *text = blob ? "a blob" : (const char *)sqlite3_value_text(value),
               *quote = sqlite3_value_type(value) == SQLITE_TEXT ? "'" : "";
    if (!text) return SQLITE_NOMEM;
    return prof_table_fail(
        vtab, of_type ? SQLITE_ERROR : SQLITE_MISMATCH,
        sqlite3_mprintf("%s: %s cannot be %s%!.40s%s: it must be %s%s%s (%s)", table, column->name,
                        quote, text, quote, type_in_words(column), of_type ? ", " : "",
                        of_type ? range_in_words(column) : "", column->description));
}

static int read_parameter(RowCursor *c, const ProfTable *vtab, int parameter, sqlite3_value *value)
{
    const Table *table = vtab->table;
    const Column *column = &table->columns[table_first_argument(table) + 1 + parameter];
    int rc = prof_check_parameter(c->base.pVtab, table->name, column, value);
    if (rc != SQLITE_OK) return rc;
    c->parameters[parameter] = sqlite3_value_dup(value);
    return c->parameters[parameter] ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- the module of row tables ---- */

/* Returns how many different values a key has in `rows` rows. */
static double values_of_key(enum RowKey key, double rows, const Counts *counts)
{
    double n;
    switch (key) {
    case KEY_PLANE_ID: n = counts ? counts->planes : 8; break;
    case KEY_LINE_ID: n = counts ? counts->lines : 64; break;
    case KEY_METADATA_ID: n = counts ? counts->metadata : 64; break;
    case KEY_MEMORY_SPACE: n = 2; break;
    case KEY_INSTRUCTION_ID: n = rows / 4; break;
    default: n = counts ? counts->events : rows / 8; break;
    }
    return n > 1 ? n : 1;
}

static bool is_argument(char letter)
{
    return letter == 's' || (letter >= 'A' && letter < 'A' + MAX_PARAMETERS);
}

int table_first_argument(const Table *table)
{
    static const char *const names[] = {"source", "dir", "word", "address"};
    int first = -1;
    for (size_t i = 0; i < COUNT(names) && first < 0; i++) first = table_column(table, names[i]);
    return first;
}

typedef struct {
    char letters[8 + N_ROW_KEYS + N_TEXT_KEYS + MAX_ARGUMENTS];
    int n;
    double rows;
} RowPlan;

static void add_term(RowPlan *plan, sqlite3_index_info *info, int term, char letter, bool omit)
{
    plan->letters[plan->n++] = letter;
    info->aConstraintUsage[term].argvIndex = plan->n;
    info->aConstraintUsage[term].omit = omit;
}

/* Uses terms that reduce the rows: equality with run, host or a key. */
static void add_keys(RowPlan *plan, sqlite3_index_info *info, const Table *table,
                     const Counts *counts)
{
    int run = table_column(table, "run"), host = table_column(table, "host");
    double all = plan->rows;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->op != SQLITE_INDEX_CONSTRAINT_EQ || !c->usable || c->iColumn < 0) continue;
        bool binary = !sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY");
        char letter = 0;
        double values = 1;
        if (c->iColumn == run && binary) letter = 'r', values = counts ? counts->runs : 2;
        if (c->iColumn == host && binary) letter = 'h', values = counts ? counts->hosts : 2;
        for (int k = 0; k < N_ROW_KEYS; k++)
            if (c->iColumn == table_column(table, row_key_names[k]))
                letter = (char)('0' + k), values = values_of_key(k, all, counts);
        for (int k = 0; k < N_TEXT_KEYS; k++)
            if (c->iColumn == table_column(table, text_key_names[k]) && binary)
                letter = (char)('!' + k), values = k == KEY_HLO_OP ? 100 : 4;
        if (!letter || memchr(plan->letters, letter, (size_t)plan->n)) continue;
        add_term(plan, info, i, letter, false);
        plan->rows /= values;
    }
}

static int row_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const Table *table = ((ProfTable *)vtab)->table;
    int source = table_first_argument(table),
        n_arguments = source < 0 ? 0 : 1 + table->rows->n_parameters;
    ArgumentTerms arguments;
    if (!prof_plan_arguments(info, source, n_arguments, &arguments)) return SQLITE_CONSTRAINT;
    Counts counts;
    bool counted = prof_counts(((ProfTable *)vtab)->prof, info, arguments.term[0], &counts),
         one_by_one = false;
    RowPlan plan = {.rows = counted && table->rows->count ? table->rows->count(&counts)
                                                          : table->n_rows};
    for (int k = 0; k < n_arguments; k++) {
        if (arguments.term[k] < 0) continue;
        bool list =
            k == 0 && !table->rows->without_source && sqlite3_vtab_in(info, arguments.term[k], 1);
        one_by_one |= !list && sqlite3_vtab_in(info, arguments.term[k], -1);
        char letter = k ? (char)('A' + k - 1) : 's';
        add_term(&plan, info, arguments.term[k], list ? 'S' : letter, true);
    }
    /* SQLite then plans again without the IN. It does not use this table as the outer one if a key
     * comes from another table. */
    if (!one_by_one) add_keys(&plan, info, table, counted ? &counts : NULL);
    if (arguments.twice) plan.letters[plan.n++] = '?';
    info->idxStr = sqlite3_mprintf("%.*s", plan.n, plan.letters);
    if (!info->idxStr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->idxNum = arguments.missing + 1;
    if (plan.rows < 1) plan.rows = 1;
    info->estimatedRows = (sqlite3_int64)plan.rows;
    info->estimatedCost = arguments.missing < 0 ? plan.rows * 2 + 10 : COST_OF_MISSING;
    return SQLITE_OK;
}

static int row_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    size_t state_bytes = ((ProfTable *)vtab)->table->rows->state_bytes;
    RowCursor *c = sqlite3_malloc64(sizeof *c + state_bytes);
    if (!c) return SQLITE_NOMEM;
    rowids_open(&((ProfTable *)vtab)->rowids);
    *c = (RowCursor){.eof = true, .state = c + 1};
    memset(c->state, 0, state_bytes);
    *cursor = &c->base;
    return SQLITE_OK;
}

/* Ends the rows of a host and clears the state. */
static void close_rows(RowCursor *c)
{
    const RowSource *rows = ((ProfTable *)c->base.pVtab)->table->rows;
    if (c->started && rows->close) rows->close(c->state);
    if (c->started) memset(c->state, 0, rows->state_bytes);
    c->started = false;
}

/* Keeps the sources open. */
static void row_reset(RowCursor *c)
{
    close_rows(c);
    answer_free(c->answer);
    source_names_free(&c->asked);
    sqlite3_free(c->run_is);
    sqlite3_free(c->host_is);
    for (int i = 0; i < N_TEXT_KEYS; i++) sqlite3_free(c->text_key[i]);
    for (int i = 0; i < MAX_PARAMETERS; i++) sqlite3_value_free(c->parameters[i]);
    *c = (RowCursor){.base = c->base,
                     .state = c->state,
                     .kept = c->kept,
                     .sources = c->sources,
                     .n_sources = c->n_sources,
                     .opened = c->opened,
                     .number = -1,
                     .eof = true};
}

static void close_sources(RowCursor *c)
{
    prof_release(c->sources, c->n_sources);
    source_names_free(&c->opened);
    c->sources = NULL, c->n_sources = 0;
}

/* Opens the sources, unless the previous filter opened the same: the inner table of a join is
 * filtered for every row of the outer one, and checking whether the files of a run have changed
 * takes time for each host. */
static int open_sources(RowCursor *c)
{
    ProfTable *table = (ProfTable *)c->base.pVtab;
    if (c->sources && source_names_equal(&c->opened, &c->asked)) return SQLITE_OK;
    close_sources(c);
    if (!c->asked.given && !table->prof->n_attached && table->table->rows->lists_runs)
        return SQLITE_OK;
    char *message = NULL;
    int rc = prof_open_names(table->prof, &c->asked, !table->table->rows->reads_events, &c->sources,
                             &c->n_sources, &message);
    if (rc != SQLITE_OK) return prof_table_fail(c->base.pVtab, rc, message);
    c->opened = c->asked, c->asked = (SourceNames){0};
    return prof_keep(&c->kept, c->sources, c->n_sources) ? SQLITE_OK : SQLITE_NOMEM;
}

static int row_close(sqlite3_vtab_cursor *cursor)
{
    row_reset((RowCursor *)cursor);
    close_sources((RowCursor *)cursor);
    prof_release_kept(&((RowCursor *)cursor)->kept);
    rowids_close(&((ProfTable *)cursor->pVtab)->rowids);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

const char *row_source(const RowCursor *c)
{
    const SourceNames *names = c->asked.n ? &c->asked : &c->opened;
    if (c->from) return c->from->source;
    return names->n ? names->names[0] : NULL;
}

/* Returns whether the wanted plane and line are the host's. */
static bool has_wanted(const RowCursor *c, const Host *host)
{
    bool plane = !c->has_key[KEY_PLANE_ID] ||
                 (uint64_t)c->key[KEY_PLANE_ID] - host->first_plane < host->n_planes;
    return plane && (!c->has_key[KEY_LINE_ID] ||
                     (uint64_t)c->key[KEY_LINE_ID] - host->first_line < host->n_lines);
}

/* Moves to the next host that the plan wants. False if there is none. */
static bool next_host(RowCursor *c, bool per_run)
{
    close_rows(c);
    for (; c->at_source < c->n_sources; c->at_source++, c->at_host = 0) {
        c->from = &c->sources[c->at_source];
        if (!c->at_host) c->number = -1, c->place = 0;
        if (c->run_is && strcmp(c->run_is, c->from->label)) continue;
        while (c->at_host < c->from->run->n_hosts) {
            Host *host = &c->from->run->hosts[c->at_host++];
            if (per_run && c->at_host > 1) continue;
            if (!per_run && c->from->only && host != c->from->only) continue;
            if (!per_run && c->host_is && strcmp(c->host_is, host->name)) continue;
            if (!per_run && !has_wanted(c, host)) continue;
            c->host = host;
            c->has_rows = false;
            return true;
        }
    }
    return false;
}

/* Records why there are no rows, if all rows were asked for. */
static bool explain_nothing(RowCursor *c, const ProfTable *asked)
{
    const RowSource *rows = asked->table->rows;
    bool all = !c->has_rows && c->host && c->host->readable;
    for (int k = 0; k < N_ROW_KEYS; k++) all &= !c->has_key[k];
    for (int k = 0; k < N_TEXT_KEYS; k++) all &= !c->text_key[k];
    for (int p = 0; p < rows->n_parameters; p++) all &= rows->keeps_rows || !given(c, p);
    if (all && asked->prof->n_running) {
        asked->prof->has_empty = true;
        return true;
    }
    return !all || empty_record(&(Empty){asked->table->name, rows->needs, rows->nothing},
                                c->from->run, rows->per_run ? c->from->only : c->host, &c->err);
}

static int row_fail(RowCursor *c)
{
    char *message = NULL;
    int rc = prof_error(((ProfTable *)c->base.pVtab)->prof, &c->err, &message);
    return prof_table_fail(c->base.pVtab, rc, message);
}

static const void *item_at(const RowList *list, size_t i)
{
    return (const char *)list->items + i * list->stride;
}

/* Narrows a list in the order of planes to those of the cursor's host, or to the wanted one. */
static void read_planes(RowCursor *c, const RowSource *rows)
{
    RowList *list = &c->list;
    bool one = c->has_key[KEY_PLANE_ID];
    uint64_t first = one ? (uint64_t)c->key[KEY_PLANE_ID] : c->host->first_plane,
             end = first + (one ? 1 : c->host->n_planes);
    size_t from = LOWER_BOUND(i, 0, list->n, rows->plane(item_at(list, i))->plane_id < first);
    size_t to = LOWER_BOUND(i, from, list->n, rows->plane(item_at(list, i))->plane_id < end);
    if (to > from) list->items = item_at(list, from);
    list->n = to - from, list->first_place += from;
}

static bool next_in_list(RowCursor *c, const RowSource *rows)
{
    c->at_row = c->started ? c->at_row + 1 : 0;
    if (!c->started) {
        c->list = (RowList){0};
        rows->list(c, &c->list);
        if (rows->plane) read_planes(c, rows);
    }
    for (; c->at_row < c->list.n && !c->err.code; c->at_row++) {
        c->row = item_at(&c->list, c->at_row);
        c->place = c->list.first_place + c->at_row;
        if (!rows->shows || rows->shows(c, c->row)) return true;
    }
    return false;
}

static int row_next(sqlite3_vtab_cursor *cursor)
{
    RowCursor *c = (RowCursor *)cursor;
    const ProfTable *asked = (ProfTable *)cursor->pVtab;
    const RowSource *rows = asked->table->rows;
    if (c->answer) {
        row_answer_next(c);
        return SQLITE_OK;
    }
    for (;;) {
        bool found = rows->list ? next_in_list(c, rows) : rows->next(c);
        c->started = true;
        if (found) {
            c->has_rows = true;
            return SQLITE_OK;
        }
        if (c->err.code || !explain_nothing(c, asked)) return row_fail(c);
        if (rows->without_source || !next_host(c, rows->per_run)) {
            c->eof = true;
            return SQLITE_OK;
        }
    }
}

/* Looks for a kept answer, unless the previous filter already read the runs. */
static int use_answer(RowCursor *c, const char *letters)
{
    sqlite3_value *values[1 + MAX_PARAMETERS] = {0};
    if (c->sources) return SQLITE_OK;
    if (c->asked.n && !(values[0] = text_value(row_db(c), c->asked.names[0]))) return SQLITE_NOMEM;
    memcpy(values + 1, c->parameters, sizeof c->parameters);
    int rc = row_answer_open(c, letters, values);
    sqlite3_value_free(values[0]);
    return rc;
}

static int row_filter(sqlite3_vtab_cursor *cursor, int plan, const char *letters, int argc,
                      sqlite3_value **argv)
{
    RowCursor *c = (RowCursor *)cursor;
    ProfTable *table = (ProfTable *)cursor->pVtab;
    const RowSource *rows = table->table->rows;
    row_reset(c);
    if (plan)
        return prof_argument_missing(
            cursor->pVtab, table->table->name,
            table->table->columns[table_first_argument(table->table) + plan - 1].name);
    bool again = letters[argc] == '?';
    for (int i = 0; i < argc; i++) {
        if (again && is_argument(letters[i]) && sqlite3_value_type(argv[i]) == SQLITE_NULL)
            return prof_null_in_or(cursor->pVtab);
        if (letters[i] == 's' || letters[i] == 'S') {
            int rc = source_names_read(&c->asked, cursor->pVtab, argv[i], letters[i] == 'S');
            if (rc != SQLITE_OK) return rc;
        } else if (letters[i] == 'r' || letters[i] == 'h') {
            char **to = letters[i] == 'r' ? &c->run_is : &c->host_is;
            if (sqlite3_value_type(argv[i]) != SQLITE_TEXT) continue;
            const char *text = (const char *)sqlite3_value_text(argv[i]);
            if (text && !(*to = sqlite3_mprintf("%s", text))) return SQLITE_NOMEM;
        } else if (letters[i] >= 'A') {
            int rc = read_parameter(c, table, letters[i] - 'A', argv[i]);
            if (rc != SQLITE_OK) return rc;
        } else if (letters[i] < '0') {
            int type = sqlite3_value_type(argv[i]);
            if (type == SQLITE_NULL) return SQLITE_OK;
            if (type != SQLITE_TEXT && type != SQLITE_INTEGER) continue;
            const char *text = (const char *)sqlite3_value_text(argv[i]);
            if (!text || !(c->text_key[letters[i] - '!'] = sqlite3_mprintf("%s", text)))
                return SQLITE_NOMEM;
        } else if (sqlite3_value_type(argv[i]) == SQLITE_INTEGER) {
            c->has_key[letters[i] - '0'] = true;
            c->key[letters[i] - '0'] = sqlite3_value_int64(argv[i]);
        } else if (sqlite3_value_type(argv[i]) == SQLITE_NULL) {
            return SQLITE_OK;
        }
    }
    c->eof = false;
    if (!c->asked.given && table->source) {
        int rc = source_names_read(&c->asked, cursor->pVtab, table->source, false);
        if (rc != SQLITE_OK) return rc;
    }
    int rc = use_answer(c, letters);
    if (rc != SQLITE_OK) return rc;
    if (!rows->without_source && !c->answer) {
        rc = open_sources(c);
        if (rc != SQLITE_OK) return rc;
        if (!next_host(c, rows->per_run)) {
            c->eof = true;
            return SQLITE_OK;
        }
    }
    return row_next(cursor);
}

static int row_eof(sqlite3_vtab_cursor *cursor) { return ((RowCursor *)cursor)->eof; }

static int row_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    RowCursor *c = (RowCursor *)cursor;
    ProfTable *table = (ProfTable *)cursor->pVtab;
    const char *run = c->from ? c->from->label : NULL;
    if (c->answer) run = row_answer_run(c);
    int rc = c->number < 0 ? rowids_number(&table->rowids, row_source(c), run, c->parameters,
                                           MAX_PARAMETERS, &c->number)
                           : SQLITE_OK;
    return rc == SQLITE_OK
               ? rowids_make(cursor->pVtab, table->table->name, c->number, c->place, rowid)
               : rc;
}

static int row_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    RowCursor *c = (RowCursor *)cursor;
    const Table *table = ((ProfTable *)cursor->pVtab)->table;
    int first = ((ProfTable *)cursor->pVtab)->first_argument;
    const char *name = table->columns[column].name;
    if (first >= 0 && column > first && column <= first + table->rows->n_parameters) {
        if (c->parameters[column - first - 1])
            sqlite3_result_value(ctx, c->parameters[column - first - 1]);
    } else if (column == first)
        sqlite3_result_text(ctx, row_source(c), -1, SQLITE_TRANSIENT);
    else if (c->answer)
        row_answer_column(c, ctx, column);
    else if (column == 0 && c->from && !strcmp(name, "run"))
        sqlite3_result_text(ctx, c->from->label, -1, SQLITE_TRANSIENT);
    else if (column == 1 && c->host && !table->rows->per_run && !strcmp(name, "host"))
        result_static(ctx, c->host->name);
    else
        table->rows->column(c, ctx, column);
    return c->err.code ? row_fail(c) : SQLITE_OK;
}

const sqlite3_module row_table_module = {
    .iVersion = 2,
    .xConnect = prof_table_connect,
    .xBestIndex = row_best_index,
    .xDisconnect = prof_table_disconnect,
    .xOpen = row_open,
    .xClose = row_close,
    .xFilter = row_filter,
    .xNext = row_next,
    .xEof = row_eof,
    .xColumn = row_column,
    .xRowid = row_rowid,
};
