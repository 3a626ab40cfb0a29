// SPDX-License-Identifier: Apache-2.0
/* arrow_rows.c: record batches of the rows of a statement; see arrow.h.
 *
 * The first batch determines the types. A column starts with its declared type or, for an
 * expression, with the type of its first value. A value that does not fit widens the column:
 * INTEGER to REAL, anything else to TEXT. In later batches a value that does not fit is an error.
 */
#include "arrow.h"
SQLITE_EXTENSION_INIT3

enum {
    MOST_BYTES = 1 << 30, /* of one column; a single SQLite value may be as long again */
    FIRST_ROWS = 64       /* room of the first batch; it then grows fourfold */
};

typedef struct {
    ArrowMaker base;
    sqlite3_stmt *stmt;
    ArrowBatch first; /* read when the stream was created */
    bool types_are_final, at_end;
    int64_t n_before; /* rows in earlier batches */
} RowsMaker;

static enum ArrowType declared_type(const char *declared)
{
    static const struct {
        const char *name;
        enum ArrowType type;
    } types[] = {{"INTEGER", ARROW_INTEGER},
                 {"REAL", ARROW_REAL},
                 {"TEXT", ARROW_TEXT},
                 {"BLOB", ARROW_BLOB}};
    for (size_t i = 0; declared && i < COUNT(types); i++)
        if (!sqlite3_stricmp(declared, types[i].name)) return types[i].type;
    return ARROW_NULL;
}

static enum ArrowType type_of_value(int sqlite_type)
{
    switch (sqlite_type) {
    case SQLITE_INTEGER: return ARROW_INTEGER;
    case SQLITE_FLOAT: return ARROW_REAL;
    case SQLITE_TEXT: return ARROW_TEXT;
    case SQLITE_BLOB: return ARROW_BLOB;
    default: return ARROW_NULL;
    }
}

/* ---- values ---- */

static bool append_utf8(ArrowColumn *column, int64_t row, const void *text, size_t n_bytes)
{
    if (utf8_valid(text, n_bytes)) return arrow_append(column, row, text, n_bytes);
    char *repaired = prof_buffer(3 * n_bytes);
    if (!repaired) return false;
    bool done = arrow_append(column, row, repaired, utf8_repair(text, n_bytes, repaired));
    prof_free(repaired);
    return done;
}

static bool append_hex(ArrowColumn *column, int64_t row, const uint8_t *bytes, size_t n_bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = prof_buffer(2 * n_bytes + 1);
    if (!hex) return false;
    for (size_t i = 0; i < n_bytes; i++)
        hex[2 * i] = digits[bytes[i] >> 4], hex[2 * i + 1] = digits[bytes[i] & 15];
    bool done = arrow_append(column, row, hex, 2 * n_bytes);
    prof_free(hex);
    return done;
}

/* Appends a value of an earlier row as text. */
static bool append_as_text(ArrowColumn *to, const ArrowColumn *from, int64_t row)
{
    char number[40];
    if (from->valid && !(from->valid[row / 8] >> row % 8 & 1)) return arrow_set_null(to, row);
    if (from->type == ARROW_BLOB)
        return append_hex(to, row, (const uint8_t *)from->bytes + from->ends[row],
                          (size_t)(from->ends[row + 1] - from->ends[row]));
    if (from->type == ARROW_INTEGER)
        sqlite3_snprintf(sizeof number, number, "%lld", (long long)from->integers[row]);
    else
        sqlite3_snprintf(sizeof number, number, "%!.15g", from->reals[row]);
    return arrow_append(to, row, number, strlen(number));
}

/* Changes the type of a column, converting its n rows. */
static bool widen(ArrowColumn *column, int64_t n, int64_t room, enum ArrowType type)
{
    ArrowColumn wider = {.type = type};
    bool done = arrow_column_open(&wider, room);
    for (int64_t row = 0; row < n && done; row++) {
        if (column->type == ARROW_NULL)
            done = arrow_set_null(&wider, row);
        else if (type == ARROW_TEXT)
            done = append_as_text(&wider, column, row);
        else if (column->valid && !(column->valid[row / 8] >> row % 8 & 1))
            done = arrow_set_null(&wider, row);
        else
            wider.reals[row] = (double)column->integers[row];
    }
    arrow_column_free(column);
    *column = wider;
    return done;
}

static bool fits(const ArrowColumn *column, int sqlite_type)
{
    enum ArrowType type = type_of_value(sqlite_type);
    return type == column->type || type == ARROW_NULL || column->type == ARROW_TEXT ||
           (column->type == ARROW_REAL && type == ARROW_INTEGER);
}

static enum ArrowType wider_type(enum ArrowType column, enum ArrowType value)
{
    if (column == ARROW_NULL) return value;
    return column == ARROW_INTEGER && value == ARROW_REAL ? ARROW_REAL : ARROW_TEXT;
}

static bool add_value(ArrowColumn *column, int64_t row, sqlite3_stmt *stmt, int i, int sqlite_type)
{
    if (sqlite_type == SQLITE_NULL) return arrow_set_null(column, row);
    if (column->type == ARROW_INTEGER) {
        column->integers[row] = sqlite3_column_int64(stmt, i);
        return true;
    }
    if (column->type == ARROW_REAL) {
        column->reals[row] = sqlite3_column_double(stmt, i);
        return true;
    }
    const void *bytes =
        sqlite_type == SQLITE_BLOB ? sqlite3_column_blob(stmt, i) : sqlite3_column_text(stmt, i);
    size_t n_bytes = (size_t)sqlite3_column_bytes(stmt, i);
    if (!bytes && (n_bytes || sqlite_type != SQLITE_BLOB)) return false;
    if (column->type == ARROW_BLOB) return arrow_append(column, row, bytes, n_bytes);
    return sqlite_type == SQLITE_BLOB ? append_hex(column, row, bytes, n_bytes)
                                      : append_utf8(column, row, bytes, n_bytes);
}

/* ---- batches ---- */

static int misfit(const RowsMaker *m, int i, int64_t row, int sqlite_type, char **message)
{
    static const char *const names[] = {
        [ARROW_NULL] = "no value", [ARROW_INTEGER] = "INTEGER", [ARROW_REAL] = "REAL",
        [ARROW_TEXT] = "TEXT",     [ARROW_BLOB] = "BLOB",       [ARROW_NAMES] = "TEXT"};
    *message = sqlite3_mprintf("column %s: row %lld has %s, and the rows of the first batch have "
                               "%s; use CAST(%s AS TEXT)",
                               m->base.fields[i].name, (long long)(m->n_before + row + 1),
                               names[type_of_value(sqlite_type)], names[m->base.fields[i].type],
                               m->base.fields[i].name);
    return *message ? SQLITE_MISMATCH : SQLITE_NOMEM;
}

static int add_row(RowsMaker *m, ArrowBatch *batch, bool *is_full, char **message)
{
    if (batch->n == batch->room && !arrow_batch_grow(batch, 4 * batch->room)) return SQLITE_NOMEM;
    for (int i = 0; i < batch->n_columns; i++) {
        ArrowColumn *column = &batch->columns[i];
        int type = sqlite3_column_type(m->stmt, i);
        if (!fits(column, type)) {
            if (m->types_are_final) return misfit(m, i, batch->n, type, message);
            if (!widen(column, batch->n, batch->room,
                       wider_type(column->type, type_of_value(type))))
                return SQLITE_NOMEM;
        }
        if (!add_value(column, batch->n, m->stmt, i, type)) return SQLITE_NOMEM;
        *is_full |= column->n_bytes > MOST_BYTES;
    }
    *is_full |= ++batch->n == PROFSQL_ARROW_ROWS;
    return SQLITE_OK;
}

static int open_columns(const RowsMaker *m, ArrowBatch *batch)
{
    int n = m->base.n_fields;
    if (!(batch->columns = prof_alloc((size_t)n * sizeof *batch->columns))) return SQLITE_NOMEM;
    batch->n_columns = n;
    for (int i = 0; i < n; i++) batch->columns[i].type = m->base.fields[i].type;
    return arrow_batch_grow(batch, FIRST_ROWS) ? SQLITE_OK : SQLITE_NOMEM;
}

static int fill(RowsMaker *m, ArrowBatch *batch, char **message)
{
    bool is_full = false;
    int rc = open_columns(m, batch);
    while (rc == SQLITE_OK && !is_full && !m->at_end) {
        int step = sqlite3_step(m->stmt);
        m->at_end = step == SQLITE_DONE;
        if (step == SQLITE_ROW)
            rc = add_row(m, batch, &is_full, message);
        else if (step != SQLITE_DONE)
            rc = step, *message = sqlite3_mprintf("%s", sqlite3_errmsg(sqlite3_db_handle(m->stmt)));
    }
    if (rc != SQLITE_OK || m->at_end) { /* a finished statement holds no lock and no table */
        m->at_end = true;
        sqlite3_finalize(m->stmt);
        m->stmt = NULL;
    }
    return rc;
}

static int next(ArrowMaker *maker, ArrowBatch *batch, char **message)
{
    RowsMaker *m = (RowsMaker *)maker;
    if (m->first.columns) {
        *batch = m->first;
        m->first = (ArrowBatch){0};
    } else if (!m->at_end) {
        int rc = fill(m, batch, message);
        if (rc != SQLITE_OK) return rc;
    }
    m->n_before += batch->n;
    return SQLITE_OK;
}

static void close_rows(ArrowMaker *maker)
{
    RowsMaker *m = (RowsMaker *)maker;
    sqlite3_finalize(m->stmt);
    arrow_batch_free(&m->first);
    prof_free(m);
}

static int name_fields(RowsMaker *m)
{
    int n = sqlite3_column_count(m->stmt);
    if (!(m->base.fields = prof_alloc((size_t)n * sizeof *m->base.fields))) return SQLITE_NOMEM;
    m->base.n_fields = n;
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(m->stmt, i);
        m->base.fields[i].type = declared_type(sqlite3_column_decltype(m->stmt, i));
        m->base.fields[i].name = name ? sqlite3_mprintf("%s", name) : NULL;
        if (!m->base.fields[i].name) return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

ArrowMaker *arrow_rows(sqlite3_stmt *stmt, int *rc, char **message)
{
    RowsMaker *m = prof_alloc(sizeof *m);
    if (!m) {
        sqlite3_finalize(stmt);
        *rc = SQLITE_NOMEM;
        return NULL;
    }
    *m = (RowsMaker){{.next = next, .close = close_rows}, .stmt = stmt};
    *rc = name_fields(m);
    if (*rc == SQLITE_OK) *rc = fill(m, &m->first, message);
    for (int i = 0; *rc == SQLITE_OK && i < m->base.n_fields; i++)
        m->base.fields[i].type = m->first.columns[i].type;
    m->types_are_final = true;
    if (*rc == SQLITE_OK) return &m->base;
    arrow_fields_free(&m->base);
    close_rows(&m->base);
    return NULL;
}
