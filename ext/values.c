// SPDX-License-Identifier: Apache-2.0
/* values.c: writes values of SQL; see prof.h. */
#include "../loader/analysis/ops/short_names.h"
#include "../loader/plane.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

void result_real(sqlite3_context *ctx, const char *format, double value)
{
    char text[400];
    print_real(text, sizeof text, format, value);
    sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

void result_text(sqlite3_context *ctx, const Text *text)
{
    if (text)
        sqlite3_result_text(ctx, text->text, text->has_nul ? (int)text->n_bytes : -1,
                            SQLITE_STATIC);
}

void result_nonempty(sqlite3_context *ctx, const Text *text)
{
    if (text->n_bytes) result_text(ctx, text);
}

void result_static(sqlite3_context *ctx, const char *text)
{
    sqlite3_result_text(ctx, text, -1, SQLITE_STATIC);
}

void result_slice(sqlite3_context *ctx, Slice text)
{
    sqlite3_result_text64(ctx, text.text, text.n, SQLITE_STATIC, SQLITE_UTF8);
}

void result_kernel(RowCursor *c, sqlite3_context *ctx, const Text *name)
{
    const ShortNames *names = run_short_names(c->from->run, &c->err);
    const Text *found = names ? short_name(names, name) : NULL;
    if (names) result_text(ctx, found ? found : name);
}

void result_owned(sqlite3_context *ctx, char *text)
{
    if (text)
        sqlite3_result_text(ctx, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(ctx);
}

void result_built(sqlite3_context *ctx, sqlite3_str *text)
{
    int rc = sqlite3_str_errcode(text), n = sqlite3_str_length(text);
    char *bytes = sqlite3_str_finish(text);
    if (rc == SQLITE_OK && bytes) {
        sqlite3_result_text(ctx, bytes, n, sqlite3_free);
        return;
    }
    sqlite3_free(bytes);
    if (rc != SQLITE_OK) sqlite3_result_error_code(ctx, rc);
}

void result_id(sqlite3_context *ctx, uint64_t id)
{
    char digits[20], *end = digits + sizeof digits, *first = end;
    do *--first = (char)('0' + id % 10);
    while (id /= 10);
    sqlite3_result_text(ctx, first, (int)(end - first), SQLITE_TRANSIENT);
}

void result_u64(sqlite3_context *ctx, uint64_t value)
{
    if (value > INT64_MAX)
        result_id(ctx, value);
    else
        sqlite3_result_int64(ctx, (sqlite3_int64)value);
}

void result_u64_or_real(sqlite3_context *ctx, uint64_t value)
{
    if (value > INT64_MAX)
        sqlite3_result_double(ctx, (double)value);
    else
        sqlite3_result_int64(ctx, (sqlite3_int64)value);
}

void result_nonnegative(sqlite3_context *ctx, int64_t value)
{
    if (value >= 0) sqlite3_result_int64(ctx, value);
}

void result_percent(sqlite3_context *ctx, uint64_t part, uint64_t whole)
{
    if (whole) sqlite3_result_double(ctx, 100 * (double)part / (double)whole);
}

void result_time(sqlite3_context *ctx, int64_t ps, bool in_us)
{
    if (in_us)
        sqlite3_result_double(ctx, (double)ps / 1e6);
    else
        sqlite3_result_int64(ctx, ps);
}

void result_span(sqlite3_context *ctx, uint64_t ps, bool in_us)
{
    if (in_us)
        sqlite3_result_double(ctx, (double)ps / 1e6);
    else
        result_u64(ctx, ps);
}

void result_self(sqlite3_context *ctx, uint64_t self, uint64_t whole)
{
    if (self > whole)
        sqlite3_result_int64(ctx, (sqlite3_int64)self);
    else
        result_u64(ctx, self);
}

const Text *stat_name(const Plane *plane, const Stat *stat)
{
    const StatMeta *meta = stat_meta(plane, stat->id);
    return meta ? meta->name : empty_text;
}

void result_utf8(sqlite3_context *ctx, const void *bytes, size_t n)
{
    if (utf8_valid(bytes, n)) {
        sqlite3_result_text64(ctx, n ? bytes : "", n, SQLITE_TRANSIENT, SQLITE_UTF8);
        return;
    }
    char *fixed = sqlite3_malloc64((sqlite3_uint64)n * 3);
    if (!fixed)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_text64(ctx, fixed, utf8_repair(bytes, n, fixed), sqlite3_free, SQLITE_UTF8);
}

void result_buffer(sqlite3_context *ctx, TextBuffer *text)
{
    if (text->no_memory)
        sqlite3_result_error_nomem(ctx);
    else if (text->n_bytes)
        result_utf8(ctx, text->text, text->n_bytes);
    text_free(text);
}

void result_file_path(const RowCursor *c, sqlite3_context *ctx, const char *text)
{
    char *shown = text ? served_text(((const ProfTable *)c->base.pVtab)->prof, text) : NULL;
    if (shown)
        result_utf8(ctx, shown, strlen(shown));
    else if (text)
        sqlite3_result_error_nomem(ctx);
    sqlite3_free(shown);
}

void result_stat(sqlite3_context *ctx, const Plane *plane, const Stat *stat)
{
    switch (stat->type) {
    case TYPE_DOUBLE: sqlite3_result_double(ctx, stat->number); break;
    case TYPE_UINT64: result_u64(ctx, stat->u64); break;
    case TYPE_INT64: sqlite3_result_int64(ctx, stat->integer); break;
    case TYPE_REF: result_text(ctx, stat_ref_text(plane, stat->u64)); break;
    case TYPE_BYTES:
        sqlite3_result_blob64(ctx, stat->n_bytes ? stat->bytes : (const void *)"", stat->n_bytes,
                              SQLITE_TRANSIENT);
        break;
    case TYPE_STR: result_utf8(ctx, stat->bytes, stat->n_bytes); break;
    case TYPE_NONE: break;
    }
}
