// SPDX-License-Identifier: Apache-2.0
/* arrow.c: the functions of profsql_arrow.h: Arrow streams of a query or a table. */
#include "arrow.h"
SQLITE_EXTENSION_INIT3

#include <errno.h>

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    prof_free(schema->private_data); /* frees this schema, but not its children */
    schema->release = NULL;
}

/* Makes a field. It and its name share one allocation; the dictionary's field has another. */
static bool make_field(const ArrowField *field, struct ArrowSchema *out)
{
    static const char *const formats[] = {
        [ARROW_NULL] = "n", [ARROW_INTEGER] = "l", [ARROW_REAL] = "g",
        [ARROW_TEXT] = "u", [ARROW_BLOB] = "z",    [ARROW_NAMES] = "i"};
    struct Piece {
        struct ArrowSchema dictionary;
        char name[];
    } *piece = prof_alloc(sizeof *piece + strlen(field->name) + 1);
    if (!piece) return false;
    memcpy(piece->name, field->name, strlen(field->name) + 1);
    *out = (struct ArrowSchema){.format = formats[field->type],
                                .name = piece->name,
                                .flags = ARROW_FLAG_NULLABLE,
                                .release = release_schema,
                                .private_data = piece};
    if (field->type != ARROW_NAMES) return true;
    piece->dictionary = (struct ArrowSchema){.format = "u", .name = "", .release = release_schema};
    out->dictionary = &piece->dictionary;
    return true;
}

static int make_schema(const ArrowMaker *maker, struct ArrowSchema *out)
{
    size_t n = (size_t)maker->n_fields;
    struct ArrowSchema **children = prof_alloc(n * (sizeof *children + sizeof(struct ArrowSchema)));
    if (!children) return ENOMEM;
    struct ArrowSchema *fields = (struct ArrowSchema *)(children + n);
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = maker->n_fields,
                                .children = children,
                                .release = release_schema,
                                .private_data = children};
    for (size_t i = 0; i < n; i++) {
        children[i] = &fields[i];
        if (!make_field(&maker->fields[i], &fields[i])) {
            release_schema(out);
            return ENOMEM;
        }
    }
    return 0;
}

void arrow_fields_free(ArrowMaker *maker)
{
    for (int i = 0; maker->fields && i < maker->n_fields; i++) sqlite3_free(maker->fields[i].name);
    prof_free(maker->fields);
}

/* ---- streams ---- */

typedef struct {
    ArrowMaker *maker;
    char *message; /* of the last error; NULL if there was none */
    bool failed;   /* no batches follow an error */
} Stream;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    return make_schema(((Stream *)stream->private_data)->maker, out);
}

static int errno_of(int rc)
{
    switch (rc) {
    case SQLITE_OK: return 0;
    case SQLITE_NOMEM: return ENOMEM;
    case SQLITE_INTERRUPT: return EINTR;
    case SQLITE_MISMATCH: return EINVAL;
    default: return EIO;
    }
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    Stream *s = stream->private_data;
    ArrowBatch batch = {0};
    *out = (struct ArrowArray){0};
    if (s->failed) return EIO;
    int rc = s->maker->next(s->maker, &batch, &s->message), code = errno_of(rc);
    if (!code && batch.n) code = arrow_hand_out(&batch, out);
    arrow_batch_free(&batch);
    if (code && !s->message)
        s->message = sqlite3_mprintf("%s", sqlite3_errstr(rc ? rc : SQLITE_NOMEM));
    s->failed = code != 0;
    return code;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const Stream *s = stream->private_data;
    return s->message;
}

static void release(struct ArrowArrayStream *stream)
{
    Stream *s = stream->private_data;
    arrow_fields_free(s->maker);
    s->maker->close(s->maker);
    sqlite3_free(s->message);
    prof_free(s);
    stream->release = NULL;
}

static int open_stream(ArrowMaker *maker, int rc, struct ArrowArrayStream *out, char **message)
{
    if (!maker) {
        if (!*message) *message = sqlite3_mprintf("%s", sqlite3_errstr(rc));
        return rc;
    }
    Stream *s = prof_alloc(sizeof *s);
    if (!s) {
        arrow_fields_free(maker);
        maker->close(maker);
        return SQLITE_NOMEM;
    }
    s->maker = maker;
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, s};
    return SQLITE_OK;
}

/* ---- from a query ---- */

/* Returns the parameter for a name in a JSON object; 0 if there is none. */
static int parameter_of(sqlite3_stmt *stmt, const char *name)
{
    int at = 0;
    for (const char *prefix = ":@$"; *prefix && !at; prefix++) {
        char *full = sqlite3_mprintf("%c%s", *prefix, name);
        at = full ? sqlite3_bind_parameter_index(stmt, full) : 0;
        sqlite3_free(full);
    }
    return at;
}

/* Binds one value of a JSON array or object. Ignores a name that the query does not use. */
static int bind_value(sqlite3_stmt *stmt, sqlite3_stmt *values, char **message)
{
    int key = sqlite3_column_type(values, 0), at = sqlite3_column_int(values, 0) + 1;
    if (key == SQLITE_NULL) {
        *message = sqlite3_mprintf("parameters: give a JSON array for ? or an object for :name");
        return SQLITE_MISMATCH;
    }
    if (key == SQLITE_TEXT) at = parameter_of(stmt, (const char *)sqlite3_column_text(values, 0));
    int rc = at ? sqlite3_bind_value(stmt, at, sqlite3_column_value(values, 1)) : SQLITE_OK;
    if (rc == SQLITE_RANGE)
        *message = sqlite3_mprintf("parameters: there are more values than the %d of the query",
                                   sqlite3_bind_parameter_count(stmt));
    return rc;
}

/* Binds the values of a JSON array or object, which json_each() returns as rows. */
static int bind_values(sqlite3 *db, sqlite3_stmt *stmt, const char *json, char **message)
{
    sqlite3_stmt *values = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT key, value FROM json_each(?1)", -1, &values, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(values, 1, json, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && (rc = sqlite3_step(values)) == SQLITE_ROW)
        rc = bind_value(stmt, values, message);
    if (rc != SQLITE_DONE && !*message)
        *message = sqlite3_mprintf("parameters: %s", sqlite3_errmsg(db));
    sqlite3_finalize(values);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int query(sqlite3 *db, const char *sql, const char *parameters,
                 struct ArrowArrayStream *stream, char **message)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK && parameters) rc = bind_values(db, stmt, parameters, message);
    if (rc != SQLITE_OK) {
        if (!*message) *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        sqlite3_finalize(stmt);
        return rc;
    }
    if (!sqlite3_column_count(stmt)) {
        sqlite3_finalize(stmt);
        *message = sqlite3_mprintf("this SQL returns no rows; give a SELECT");
        return SQLITE_MISUSE;
    }
    ArrowMaker *maker = arrow_rows(stmt, &rc, message);
    return open_stream(maker, rc, stream, message);
}

/* Sets a function's error message. */
static int finish(int rc, char *text, char **message)
{
    if (rc != SQLITE_OK && message)
        *message = text;
    else
        sqlite3_free(text);
    return rc;
}

static bool may_start(sqlite3 *db, struct ArrowArrayStream *stream, char **message)
{
    if (message) *message = NULL;
    *stream = (struct ArrowArrayStream){0};
#ifndef SQLITE_CORE
    if (!sqlite3_api) return false; /* no connection has loaded the library */
#endif
    return db != NULL;
}

EXPORTED int profsql_arrow_query(sqlite3 *db, const char *sql, const char *parameters,
                                 struct ArrowArrayStream *stream, char **message)
{
    char *text = NULL;
    if (!may_start(db, stream, message) || !sql) return SQLITE_MISUSE;
    int rc = query(db, sql, parameters, stream, &text);
    return finish(rc, text, message);
}

/* ---- from a table ---- */

/* Returns SELECT columns FROM table WHERE ..., for columns that are not in memory. The columns are
 * written t."NAME", because SQLite treats an unknown "NAME" as a text. */
static char *table_sql(const char *source, const char *table, const ProfsqlArrowOptions *o)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    const char *keyword = " WHERE";
    const struct {
        const char *column, *value;
    } terms[] = {{"source", source}, {"plane", o->plane}, {"line", o->line}, {"name", o->name}};
    sqlite3_str_appendall(sql, "SELECT");
    for (int i = 0; i < o->n_columns && o->columns; i++)
        sqlite3_str_appendf(sql, "%s t.\"%w\"", i ? "," : "", o->columns[i]);
    sqlite3_str_appendf(sql, "%s FROM \"%w\" AS t", o->columns ? "" : " *", table);
    for (size_t i = 0; i < COUNT(terms); i++) {
        if (!terms[i].value) continue;
        sqlite3_str_appendf(sql, "%s t.\"%w\" = %Q", keyword, terms[i].column, terms[i].value);
        keyword = " AND";
    }
    if (o->has_range)
        sqlite3_str_appendf(sql, "%s end_ps >= %lld AND start_ps <= %lld", keyword,
                            (long long)o->from_ps, (long long)o->to_ps);
    return sqlite3_str_finish(sql);
}

static bool all_fast(const char *table, const ProfsqlArrowOptions *o)
{
    bool are = o->columns &&
               (!sqlite3_stricmp(table, "trace_events") || !sqlite3_stricmp(table, "events"));
    for (int i = 0; i < o->n_columns && are; i++) are = arrow_events_has(o->columns[i]);
    return are;
}

EXPORTED int profsql_arrow_is_fast(const char *column) { return arrow_events_has(column); }

EXPORTED int profsql_arrow_stream(sqlite3 *db, const char *source, const char *table,
                                  const ProfsqlArrowOptions *options,
                                  struct ArrowArrayStream *stream, char **message)
{
    static const ProfsqlArrowOptions none;
    const ProfsqlArrowOptions *o = options ? options : &none;
    char *text = NULL;
    int rc;
    if (!may_start(db, stream, message) || !table || o->n_columns < 0) return SQLITE_MISUSE;
    if (o->columns && !o->n_columns)
        return finish(SQLITE_MISUSE, sqlite3_mprintf("%s: no column is asked for", table), message);
    if (all_fast(table, o)) {
        ArrowMaker *maker = arrow_events(db, source, o, &rc, &text);
        rc = open_stream(maker, rc, stream, &text);
    } else {
        char *sql = table_sql(source, table, o);
        rc = sql ? query(db, sql, NULL, stream, &text) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    return finish(rc, text, message);
}
