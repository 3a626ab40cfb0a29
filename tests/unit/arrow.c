// SPDX-License-Identifier: Apache-2.0
/* arrow.c: Arrow streams have the cells that SQL has: every table and canned query of some runs,
 * and the columns of trace_events that come from memory. Also: streams that are released early,
 * interrupted, read by two threads and kept longer than their connection. */
#include "../../ext/profsql.h"
#include "../../ext/profsql_arrow.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check(condition, #condition)

static sqlite3 *connection(void)
{
    sqlite3 *db;
    char *message = NULL;
    CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
    CHECK(sqlite3_profsql_init(db, &message, NULL) == SQLITE_OK && !message);
    return db;
}

static sqlite3_stmt *prepared(sqlite3 *db, const char *sql, const char *source)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        printf("%s: %s\n", sql, sqlite3_errmsg(db));
    if (source) sqlite3_bind_text(stmt, 1, source, -1, SQLITE_STATIC);
    return stmt;
}

/* ---- a reader ---- */

static bool is_valid(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *valid = a->n_buffers ? a->buffers[0] : NULL;
    return a->n_buffers && (!valid || valid[i / 8] >> i % 8 & 1);
}

static bool text_is(const struct ArrowArray *a, int64_t i, const void *wanted, int n_wanted)
{
    const int32_t *ends = a->buffers[1];
    return ends[i + 1] - ends[i] == n_wanted &&
           (!n_wanted || !memcmp((const char *)a->buffers[2] + ends[i], wanted, (size_t)n_wanted));
}

/* Bytes in a column of texts are hexadecimal. */
static bool hex_is(const struct ArrowArray *a, int64_t i, sqlite3_stmt *stmt, int column)
{
    const uint8_t *bytes = sqlite3_column_blob(stmt, column);
    int n = sqlite3_column_bytes(stmt, column);
    char *hex = calloc((size_t)n + 1, 2);
    for (int k = 0; k < n; k++) snprintf(hex + (ptrdiff_t)2 * k, 3, "%02x", bytes[k]);
    bool is = text_is(a, i, hex, 2 * n);
    free(hex);
    return is;
}

static bool cell_is(const struct ArrowSchema *field, const struct ArrowArray *a, int64_t i,
                    sqlite3_stmt *stmt, int column)
{
    int type = sqlite3_column_type(stmt, column);
    if (!is_valid(a, i) || type == SQLITE_NULL) return !is_valid(a, i) && type == SQLITE_NULL;
    double real = sqlite3_column_double(stmt, column);
    switch (*field->format) {
    case 'l':
        return type == SQLITE_INTEGER &&
               ((const int64_t *)a->buffers[1])[i] == sqlite3_column_int64(stmt, column);
    case 'g':
        return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) &&
               !memcmp((const double *)a->buffers[1] + i, &real, sizeof real);
    case 'z':
        return type == SQLITE_BLOB &&
               text_is(a, i, sqlite3_column_blob(stmt, column), sqlite3_column_bytes(stmt, column));
    case 'u':
        if (type == SQLITE_BLOB) return hex_is(a, i, stmt, column);
        return text_is(a, i, sqlite3_column_text(stmt, column), sqlite3_column_bytes(stmt, column));
    case 'i': {
        int32_t code = ((const int32_t *)a->buffers[1])[i];
        return type == SQLITE_TEXT && code >= 0 && code < a->dictionary->length &&
               text_is(a->dictionary, code, sqlite3_column_text(stmt, column),
                       sqlite3_column_bytes(stmt, column));
    }
    default: return false;
    }
}

static bool nulls_are_counted(const struct ArrowArray *a)
{
    int64_t n = 0;
    for (int64_t i = 0; i < a->length; i++) n += !is_valid(a, i);
    return n == a->null_count;
}

/* Returns whether no text is twice in a dictionary: readers make categories of it. */
static bool is_distinct(const struct ArrowArray *dictionary)
{
    const int32_t *ends = dictionary->buffers[1];
    const char *texts = dictionary->buffers[2];
    for (int64_t i = 0; i < dictionary->length; i++)
        for (int64_t k = 0; k < i; k++)
            if (text_is(dictionary, i, texts + ends[k], ends[k + 1] - ends[k])) return false;
    return true;
}

/* Compares a batch with the next rows of the statement; returns how many cells differ. */
static int64_t compare(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                       sqlite3_stmt *stmt)
{
    int64_t differ = 0;
    for (int64_t k = 0; k < batch->n_children; k++) {
        const struct ArrowArray *column = batch->children[k];
        differ += column->length != batch->length || !nulls_are_counted(column) ||
                  (column->dictionary && !is_distinct(column->dictionary));
    }
    for (int64_t i = 0; i < batch->length; i++) {
        if (sqlite3_step(stmt) != SQLITE_ROW) return differ + 1;
        for (int k = 0; k < (int)batch->n_children; k++)
            differ += !cell_is(schema->children[k], batch->children[k], i, stmt, k);
    }
    return differ;
}

/* Compares a stream with a statement, and releases both. */
static bool same(struct ArrowArrayStream *stream, sqlite3_stmt *stmt, int64_t *n_rows)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t differ = 0;
    *n_rows = 0;
    if (stream->get_schema(stream, &schema)) return false;
    bool good = schema.n_children == sqlite3_column_count(stmt);
    for (int k = 0; k < (int)schema.n_children && good; k++)
        good = !strcmp(schema.children[k]->name, sqlite3_column_name(stmt, k));
    for (;;) {
        int code = stream->get_next(stream, &batch);
        if (code) printf("%s\n", stream->get_last_error(stream));
        if (code || !batch.release) {
            good &= !code;
            break;
        }
        differ += compare(&schema, &batch, stmt);
        *n_rows += batch.length;
        batch.release(&batch);
    }
    good &= sqlite3_step(stmt) == SQLITE_DONE && !differ;
    schema.release(&schema);
    stream->release(stream);
    sqlite3_finalize(stmt);
    return good;
}

/* ---- all tables ---- */

/* Both fail, or have the same cells. */
static bool same_table(sqlite3 *db, const char *run, const char *name)
{
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" WHERE source = ?", name), *message;
    struct ArrowArrayStream stream;
    int64_t n_rows;
    sqlite3_stmt *stmt = prepared(db, sql, run);
    int step = sqlite3_step(stmt), reset = sqlite3_reset(stmt);
    bool fails = step != SQLITE_ROW && step != SQLITE_DONE, good;
    if (profsql_arrow_stream(db, run, name, NULL, &stream, &message) == SQLITE_OK)
        good = !fails && same(&stream, stmt, &n_rows);
    else
        good = fails && message && !strcmp(message, sqlite3_errmsg(db)) && !sqlite3_finalize(stmt);
    if (!good) printf("%s of %s: %s, %d\n", name, run, message ? message : "differs", reset);
    sqlite3_free(sql);
    sqlite3_free(message);
    return good;
}

static void every_table(sqlite3 *db, const char *run)
{
    sqlite3_stmt *names = prepared(
        db,
        "SELECT name FROM (SELECT name FROM prof_tables UNION SELECT name FROM prof_queries) AS t"
        " WHERE EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) AS c WHERE c.hidden"
        " AND c.name = 'source') AND name <> 'prof_issues'", /* it changes with each question */
        NULL);
    int n = 0;
    for (; sqlite3_step(names) == SQLITE_ROW; n++)
        check(same_table(db, run, (const char *)sqlite3_column_text(names, 0)), "a table as Arrow");
    sqlite3_finalize(names);
    CHECK(n > 100);
}

/* ---- events from memory ---- */

static const char *const fast[] = {
    "run",         "host",          "event_id", "plane",        "line",        "name",
    "short_name",  "start_ps",      "start_us", "duration_ps",  "duration_us", "self_ps",
    "depth",       "parent_id",     "step",     "occurrences",  "plane_id",    "line_id",
    "metadata_id", "is_eager",      "end_ps",   "display_name", "plane_kind",  "line_kind",
    "derived",     "device_self_ps"};
enum { N_FAST = sizeof fast / sizeof *fast };

static bool same_events(sqlite3 *db, const char *source, const ProfsqlArrowOptions *options,
                        const char *where, int64_t *n_rows)
{
    struct ArrowArrayStream stream;
    char *message;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    for (int i = 0; i < options->n_columns; i++)
        sqlite3_str_appendf(sql, "%s%s", i ? "," : "SELECT ", options->columns[i]);
    sqlite3_str_appendf(sql, " FROM trace_events(?1) %s", where);
    char *text = sqlite3_str_finish(sql);
    int rc = profsql_arrow_stream(db, source, "trace_events", options, &stream, &message);
    if (message) printf("%s\n", message);
    bool good = rc == SQLITE_OK && same(&stream, prepared(db, text, source), n_rows);
    sqlite3_free(text);
    sqlite3_free(message);
    return good;
}

static void events_of(sqlite3 *db, const char *run)
{
    ProfsqlArrowOptions o = {.columns = fast, .n_columns = N_FAST};
    int64_t all, some;
    CHECK(same_events(db, run, &o, "", &all) && all);
    o.plane = "/host:CPU";
    CHECK(same_events(db, run, &o, "WHERE plane = '/host:CPU'", &some) && some <= all);
    o.plane = NULL, o.has_range = 1, o.from_ps = 100000000, o.to_ps = 2000000000;
    CHECK(same_events(db, run, &o, "WHERE end_ps >= 100000000 AND start_ps <= 2000000000", &some) &&
          some <= all);
    o.has_range = 0, o.name = "MatMul";
    CHECK(same_events(db, run, &o, "WHERE name = 'MatMul'", &some) && some < all);
    for (int i = 0; i < N_FAST; i++) { /* each alone: it asks for what it needs */
        ProfsqlArrowOptions one = {.columns = fast + i, .n_columns = 1};
        CHECK(profsql_arrow_is_fast(fast[i]));
        check(same_events(db, run, &one, "", &some) && some == all, fast[i]);
    }
    const char *const slow[] = {"name", "stats"};
    ProfsqlArrowOptions by_sql = {.columns = slow, .n_columns = 2, .line = "no such line"};
    CHECK(!profsql_arrow_is_fast("stats") && !profsql_arrow_is_fast("x"));
    CHECK(same_events(db, run, &by_sql, "WHERE line = 'no such line'", &some) && !some);
}

/* ---- types ---- */

static struct ArrowArrayStream asked(sqlite3 *db, const char *sql, const char *parameters)
{
    struct ArrowArrayStream stream;
    char *message;
    int rc = profsql_arrow_query(db, sql, parameters, &stream, &message);
    check(rc == SQLITE_OK && !message, sql);
    sqlite3_free(message);
    return stream;
}

/* The formats of a query's columns, a letter each. */
static bool has_formats(sqlite3 *db, const char *sql, const char *wanted)
{
    struct ArrowArrayStream stream = asked(db, sql, NULL);
    struct ArrowSchema schema;
    char got[20] = "";
    stream.get_schema(&stream, &schema);
    for (int64_t i = 0; i < schema.n_children; i++) strcat(got, schema.children[i]->format);
    schema.release(&schema);
    int64_t n;
    bool good = same(&stream, prepared(db, sql, NULL), &n) && !strcmp(got, wanted);
    if (!good) printf("%s: %s, not %s\n", sql, got, wanted);
    return good;
}

static void first_text(sqlite3 *db, const char *sql, const char *parameters, const char *wanted)
{
    struct ArrowArrayStream stream = asked(db, sql, parameters);
    struct ArrowArray batch;
    check(!stream.get_next(&stream, &batch) && batch.release &&
              text_is(batch.children[0], 0, wanted, (int)strlen(wanted)),
          sql);
    if (batch.release) batch.release(&batch);
    stream.release(&stream);
}

static void types(sqlite3 *db)
{
    check(has_formats(db, "SELECT 1, 2.5, 'x', x'00ff', NULL", "lguzn"), "types of values");
    check(has_formats(db, "VALUES (1, NULL), (2.5, 7)", "gl"), "two kinds of numbers; NULL first");
    check(has_formats(db, "SELECT sum(value) FROM (SELECT 1 AS value)", "l"), "an expression");
    check(has_formats(db, "SELECT 1 AS a WHERE 0", "n"), "no rows");
    sqlite3_exec(db, "CREATE TABLE t(i INTEGER, r REAL, x TEXT, b BLOB, a)", NULL, NULL, NULL);
    check(has_formats(db, "SELECT * FROM t", "lguzn"), "declared types without rows");
    sqlite3_exec(db, "INSERT INTO t VALUES (1, 2, 'c', x'0a', 'any')", NULL, NULL, NULL);
    check(has_formats(db, "SELECT * FROM t", "lguzu"), "declared types");
    first_text(db, "SELECT column1 FROM (VALUES (1), ('x'))", NULL, "1");
    first_text(db, "SELECT column1 FROM (VALUES (2.5), ('x'))", NULL, "2.5");
    first_text(db, "SELECT column1 FROM (VALUES (x'0Af0'), ('x'))", NULL, "0af0");
    first_text(db, "SELECT CAST(x'61ff' AS TEXT)", NULL, "a\xef\xbf\xbd");
    first_text(db, "SELECT ?2 || ?1", "[\"b\", \"a\"]", "ab");
    first_text(db, "SELECT :x || @y || $z", "{\"x\": 1, \"y\": \"q\", \"z\": 0.5, \"w\": 0}",
               "1q0.5");
    CHECK(!sqlite3_get_autocommit(db) == 0);
}

static void errors(sqlite3 *db)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    char *message;
    CHECK(profsql_arrow_query(db, "SELECT nothing", NULL, &stream, &message) == SQLITE_ERROR &&
          !stream.release && strstr(message, "nothing"));
    sqlite3_free(message);
    CHECK(profsql_arrow_query(db, "SELECT * FROM kpi('no/file')", NULL, &stream, &message) &&
          strstr(message, "no/file"));
    sqlite3_free(message);
    CHECK(profsql_arrow_query(db, "CREATE TABLE u(a)", NULL, &stream, &message) &&
          strstr(message, "SELECT"));
    sqlite3_free(message);
    CHECK(profsql_arrow_query(db, "SELECT ?", "no json", &stream, &message) &&
          strstr(message, "malformed JSON"));
    sqlite3_free(message);
    CHECK(profsql_arrow_query(db, "SELECT ?", "[1, 2]", &stream, &message) &&
          strstr(message, "more values than the 1 of the query"));
    sqlite3_free(message);
    CHECK(profsql_arrow_query(db, "SELECT ?", "3", &stream, &message) &&
          strstr(message, "give a JSON array"));
    sqlite3_free(message);
    const char *const one[] = {"name"};
    ProfsqlArrowOptions o = {.columns = one, .n_columns = 1};
    CHECK(profsql_arrow_stream(db, "no/file", "trace_events", &o, &stream, &message) &&
          !stream.release && strstr(message, "no/file"));
    sqlite3_free(message);
    o.n_columns = 0;
    CHECK(profsql_arrow_stream(db, "x", "trace_events", &o, &stream, &message) && message);
    sqlite3_free(message);
    CHECK(profsql_arrow_query(NULL, "SELECT 1", NULL, &stream, NULL) == SQLITE_MISUSE);
    sqlite3 *bare;
    o.n_columns = 1;
    CHECK(sqlite3_open(":memory:", &bare) == SQLITE_OK);
    CHECK(profsql_arrow_stream(bare, "x", "trace_events", &o, &stream, &message) && message);
    sqlite3_free(message);
    sqlite3_close(bare);
    /* a value of the second batch that does not fit */
    stream = asked(db,
                   "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 70000)"
                   " SELECT iif(i < 66000, i, 'text') AS odd FROM n",
                   NULL);
    CHECK(!stream.get_next(&stream, &batch) && batch.length == PROFSQL_ARROW_ROWS);
    batch.release(&batch);
    CHECK(stream.get_next(&stream, &batch) == EINVAL && !batch.release);
    CHECK(strstr(stream.get_last_error(&stream), "column odd: row 66000 has TEXT"));
    CHECK(stream.get_next(&stream, &batch) == EIO);
    stream.release(&stream);
}

/* An answer of a few rows may be kept for long: it has no memory for a full batch. */
static void small_answers(sqlite3 *db, const char *run)
{
    const char *const columns[] = {"start_ps", "name"};
    ProfsqlArrowOptions o = {.columns = columns, .n_columns = 2, .name = "no such event"};
    sqlite3_int64 before = sqlite3_memory_used();
    struct ArrowArrayStream stream =
        asked(db, "SELECT 1, 2.5, 'x', NULL UNION ALL SELECT 4, 5, 6, 7", NULL);
    struct ArrowArray batch;
    CHECK(!stream.get_next(&stream, &batch) && batch.length == 2);
    stream.release(&stream);
    CHECK(sqlite3_memory_used() - before < 32 << 10);
    batch.release(&batch);
    CHECK(!profsql_arrow_stream(db, run, "events", &o, &stream, NULL));
    CHECK(!stream.get_next(&stream, &batch) && !batch.release);
    stream.release(&stream);
}

/* ---- lifetimes ---- */

static const char many[] = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
                           " SELECT i, 'row ' || i AS text FROM n";

static void interrupted(sqlite3 *db)
{
    struct ArrowArrayStream stream = asked(db, many, NULL);
    struct ArrowArray batch;
    CHECK(!stream.get_next(&stream, &batch));
    batch.release(&batch);
    sqlite3_interrupt(db);
    CHECK(stream.get_next(&stream, &batch) == EINTR && !batch.release);
    stream.release(&stream);
}

/* A stream of a table is like a statement that runs: an interrupt is not forgotten between calls.
 */
static void interrupted_table(sqlite3 *db, const char *run)
{
    const char *const columns[] = {"start_ps"};
    ProfsqlArrowOptions o = {.columns = columns, .n_columns = 1};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    CHECK(!profsql_arrow_stream(db, run, "trace_events", &o, &stream, NULL));
    sqlite3_interrupt(db);
    CHECK(stream.get_next(&stream, &batch) == EINTR && !batch.release);
    stream.release(&stream);
}

/* A column that is moved out of a batch, a dictionary and a batch live on without the connection.
 */
static void outlive(const char *run)
{
    sqlite3 *db = connection();
    const char *const columns[] = {"name", "start_ps", "plane"};
    ProfsqlArrowOptions o = {.columns = columns, .n_columns = 3};
    struct ArrowArrayStream stream, unread;
    struct ArrowArray batch, moved;
    CHECK(!profsql_arrow_stream(db, run, "events", &o, &stream, NULL));
    CHECK(!profsql_arrow_stream(db, run, "events", &o, &unread, NULL));
    CHECK(!stream.get_next(&stream, &batch) && batch.length > 0);
    moved = *batch.children[0];
    batch.children[0]->release = NULL;
    CHECK(sqlite3_close(db) == SQLITE_BUSY);
    stream.release(&stream);
    unread.release(&unread);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    batch.release(&batch);
    CHECK(moved.dictionary->length > 0 && is_valid(&moved, moved.length - 1));
    moved.release(&moved);

    db = connection(); /* a connection that is closed first ends with its stream */
    stream = asked(db, "SELECT 1 UNION SELECT 2", NULL);
    sqlite3_close_v2(db);
    CHECK(!stream.get_next(&stream, &batch) && batch.length == 2);
    batch.release(&batch);
    stream.release(&stream);
}

typedef struct {
    sqlite3 *db;
    const char *run;
    int64_t n_rows;
    bool good;
} Reader;

static void *read_events(void *argument)
{
    Reader *r = argument;
    ProfsqlArrowOptions o = {.columns = fast, .n_columns = N_FAST};
    r->good = same_events(r->db, r->run, &o, "", &r->n_rows);
    return NULL;
}

static void two_threads(sqlite3 *db, const char *run)
{
    Reader readers[2] = {{.db = db, .run = run}, {.db = db, .run = run}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, read_events, &readers[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK(readers[0].good && readers[1].good && readers[0].n_rows == readers[1].n_rows);
}

static void connections(void)
{
    sqlite3 *a = connection(), *b = connection();
    sqlite3_stmt *stmt = prepared(a, "SELECT prof_connection()", NULL);
    CHECK(sqlite3_step(stmt) == SQLITE_ROW);
    int64_t number = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    CHECK(profsql_connection(number) == a && profsql_connection(number + 1) == b);
    sqlite3_close(a);
    CHECK(!profsql_connection(number) && profsql_connection(number + 1) == b);
    sqlite3_close(b);
}

int main(void)
{
    static const char *const runs[] = {
        "tests/data/gpu_train_38",    "tests/data/tpu_train_54",
        "tests/data/jax_two_hosts",   "tests/data/inference_320",
        "tests/data/edge_aggregated", "tests/data/edge_invalid_utf8",
        "tests/data/stats_odd",       "tests/data/edge_timestamp_extreme"};
    sqlite3 *db = connection();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) events_of(db, runs[i]);
    for (size_t i = 0; i < 2; i++) every_table(db, runs[i]);
    types(db);
    errors(db);
    small_answers(db, runs[0]);
    interrupted(db);
    interrupted_table(db, runs[0]);
    two_threads(db, runs[0]);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    outlive(runs[0]);
    connections();
    return finish();
}
