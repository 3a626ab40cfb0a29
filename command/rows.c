// SPDX-License-Identifier: Apache-2.0
/* rows.c: writes rows as CSV, JSON and Markdown; see rows.h. table.c writes tables. */
#define _GNU_SOURCE
#include "rows.h"

#include "table.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ---- */

static void write_escape(FILE *out, uint32_t c)
{
    if (c == NOT_UTF8)
        fputs("\\ufffd", out);
    else if (c == '"' || c == '\\')
        fprintf(out, "\\%c", (char)c);
    else
        fprintf(out, "\\u%04x", (unsigned)c);
}

static void json_write(FILE *out, const char *text, size_t n)
{
    size_t written = 0;
    fputc('"', out);
    for (size_t i = 0, length; i < n; i += length) {
        uint32_t c;
        length = text_decode(text + i, n - i, &c);
        if (c != NOT_UTF8 && c != '"' && c != '\\' && c >= 0x20) continue;
        fwrite(text + written, 1, i - written, out);
        write_escape(out, c);
        written = i + length;
    }
    fwrite(text + written, 1, n - written, out);
    fputc('"', out);
}

static void write_hex(FILE *out, const unsigned char *bytes, int n)
{
    for (int i = 0; i < n; i++) fprintf(out, "%02x", bytes[i]);
}

static void write_real(FILE *out, double value)
{
    char text[40];
    text_of_real(value, text);
    if (isinf(value)) strcpy(text, value > 0 ? "1e999" : "-1e999"); /* JSON has no infinity */
    fputs(text, out);
}

static void write_json_value(FILE *out, sqlite3_stmt *stmt, int i)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL: fputs("null", out); return;
    case SQLITE_INTEGER: fprintf(out, "%lld", sqlite3_column_int64(stmt, i)); return;
    case SQLITE_FLOAT: write_real(out, sqlite3_column_double(stmt, i)); return;
    case SQLITE_BLOB:
        fputc('"', out);
        write_hex(out, sqlite3_column_blob(stmt, i), sqlite3_column_bytes(stmt, i));
        fputc('"', out);
        return;
    default: break;
    }
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    json_write(out, text ? text : "", (size_t)sqlite3_column_bytes(stmt, i));
}

/* ---- JSON ---- */

static void write_object(FILE *out, sqlite3_stmt *stmt)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        const char *name = sqlite3_column_name(stmt, i);
        fputs(i ? "," : "{", out);
        json_write(out, name ? name : "", name ? strlen(name) : 0);
        fputc(':', out);
        write_json_value(out, stmt, i);
    }
    fputc('}', out);
}

/* ---- CSV (RFC 4180) ---- */

static void write_csv_text(FILE *out, const char *text, size_t n)
{
    bool plain = n && !memchr(text, '"', n) && !memchr(text, ',', n) && !memchr(text, '\n', n) &&
                 !memchr(text, '\r', n);
    if (plain) {
        fwrite(text, 1, n, out);
        return;
    }
    fputc('"', out); /* an empty text is "", NULL is an empty field */
    for (const char *quote; (quote = memchr(text, '"', n));) {
        size_t length = (size_t)(quote + 1 - text);
        fwrite(text, 1, length, out);
        fputc('"', out);
        text += length, n -= length;
    }
    fwrite(text, 1, n, out);
    fputc('"', out);
}

static void write_csv_row(FILE *out, sqlite3_stmt *stmt)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        int type = sqlite3_column_type(stmt, i);
        if (i) fputc(',', out);
        if (type == SQLITE_TEXT)
            write_csv_text(out, (const char *)sqlite3_column_text(stmt, i),
                           (size_t)sqlite3_column_bytes(stmt, i));
        else if (type == SQLITE_BLOB)
            write_hex(out, sqlite3_column_blob(stmt, i), sqlite3_column_bytes(stmt, i));
        else if (type == SQLITE_FLOAT)
            write_real(out, sqlite3_column_double(stmt, i));
        else if (type == SQLITE_INTEGER)
            fprintf(out, "%lld", sqlite3_column_int64(stmt, i));
    }
    fputs("\r\n", out);
}

static void write_csv_head(FILE *out, sqlite3_stmt *stmt)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        const char *name = sqlite3_column_name(stmt, i);
        if (i) fputc(',', out);
        write_csv_text(out, name ? name : "", name ? strlen(name) : 0);
    }
    fputs("\r\n", out);
}

/* ---- Markdown ---- */

bool column_is_number(sqlite3_stmt *stmt, int column)
{
    const char *declared = sqlite3_column_decltype(stmt, column);
    if (declared) return !strncasecmp(declared, "INT", 3) || !strncasecmp(declared, "REAL", 4);
    int type = sqlite3_data_count(stmt) ? sqlite3_column_type(stmt, column) : SQLITE_NULL;
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void write_markdown_text(FILE *out, const char *text, size_t n)
{
    char *clean = text_clean(text, n, false);
    for (const char *p = clean; *p; p++) {
        if (strchr("|\\`*_<>[]", *p)) fputc('\\', out);
        fputc(*p, out);
    }
    free(clean);
}

static void write_markdown_head(FILE *out, sqlite3_stmt *stmt)
{
    int n = sqlite3_column_count(stmt);
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(stmt, i);
        fputs(i ? " | " : "| ", out);
        write_markdown_text(out, name ? name : "", name ? strlen(name) : 0);
    }
    fputs(" |\n|", out);
    for (int i = 0; i < n; i++) fputs(column_is_number(stmt, i) ? "---:|" : "---|", out);
    fputc('\n', out);
}

static void write_markdown_row(FILE *out, sqlite3_stmt *stmt)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        int type = sqlite3_column_type(stmt, i);
        fputs(i ? " | " : "| ", out);
        if (type == SQLITE_TEXT)
            write_markdown_text(out, (const char *)sqlite3_column_text(stmt, i),
                                (size_t)sqlite3_column_bytes(stmt, i));
        else if (type != SQLITE_NULL)
            write_json_value(out, stmt, i);
    }
    fputs(" |\n", out);
}

/* ---- all rows ---- */

static void write_head(FILE *out, sqlite3_stmt *stmt, enum Format format)
{
    if (format == FORMAT_CSV) write_csv_head(out, stmt);
    if (format == FORMAT_MARKDOWN) write_markdown_head(out, stmt);
    if (format == FORMAT_JSON) fputc('[', out);
}

static void write_row(FILE *out, sqlite3_stmt *stmt, enum Format format, bool first)
{
    switch (format) {
    case FORMAT_CSV: write_csv_row(out, stmt); break;
    case FORMAT_MARKDOWN: write_markdown_row(out, stmt); break;
    case FORMAT_JSON:
        fputs(first ? "\n" : ",\n", out);
        write_object(out, stmt);
        break;
    default:
        write_object(out, stmt);
        fputc('\n', out);
        break;
    }
}

bool rows_write(Database *d, sqlite3_stmt *stmt, enum Format format, Sink *sink, long long most,
                long long *n_rows)
{
    if (format == FORMAT_TABLE) return table_write(d, stmt, sink, most, n_rows);
    int rc;
    *n_rows = 0;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(sink->file)) {
        if (!*n_rows) write_head(sink->file, stmt, format);
        write_row(sink->file, stmt, format, !*n_rows);
        ++*n_rows;
    }
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        complain_of_query(d);
        return false;
    }
    if (!*n_rows) write_head(sink->file, stmt, format);
    if (format == FORMAT_JSON) fputs(*n_rows ? "\n]\n" : "]\n", sink->file);
    return true;
}
