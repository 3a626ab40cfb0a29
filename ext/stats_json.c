// SPDX-License-Identifier: Apache-2.0
/* stats_json.c: writes stats as members of a JSON object, valid for all bytes that a file may
 * contain. */
#include "../loader/plane.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

void json_text(sqlite3_str *out, const char *s, size_t n)
{
    sqlite3_str_appendchar(out, 1, '"');
    for (size_t i = 0, start = 0; i <= n; i++) {
        if (i < n && (uint8_t)s[i] >= 0x20 && s[i] != '"' && s[i] != '\\') continue;
        sqlite3_str_append(out, s + start, (int)(i - start));
        start = i + 1;
        if (i == n) break;
        if (s[i] == '"' || s[i] == '\\')
            sqlite3_str_appendf(out, "\\%c", s[i]);
        else
            sqlite3_str_appendf(out, "\\u%04x", (uint8_t)s[i]);
    }
    sqlite3_str_appendchar(out, 1, '"');
}

bool json_stat(sqlite3_str *out, const Plane *plane, const Stat *stat)
{
    const Text *name = stat_name(plane, stat);
    if (sqlite3_str_length(out) > 1) sqlite3_str_appendchar(out, 1, ',');
    json_text(out, name->text, name->n_bytes);
    sqlite3_str_appendchar(out, 1, ':');
    switch (stat->type) {
    case TYPE_DOUBLE:
        if (stat->number != stat->number)
            sqlite3_str_appendall(out, "null");
        else if (stat->number - stat->number != 0)
            sqlite3_str_appendall(out, stat->number > 0 ? "9.0e+999" : "-9.0e+999");
        else
            sqlite3_str_appendf(out, "%!.17g", stat->number);
        break;
    case TYPE_UINT64: sqlite3_str_appendf(out, "%llu", (unsigned long long)stat->u64); break;
    case TYPE_INT64: sqlite3_str_appendf(out, "%lld", (long long)stat->integer); break;
    case TYPE_REF:
        json_text(out, stat_ref_text(plane, stat->u64)->text,
                  stat_ref_text(plane, stat->u64)->n_bytes);
        break;
    case TYPE_STR: {
        char *fixed = sqlite3_malloc64(stat->n_bytes * 3 + 1);
        if (!fixed) return false;
        json_text(out, fixed, utf8_repair(stat->bytes, stat->n_bytes, fixed));
        sqlite3_free(fixed);
        break;
    }
    case TYPE_BYTES:
        sqlite3_str_appendchar(out, 1, '"');
        for (size_t i = 0; i < stat->n_bytes; i++) sqlite3_str_appendf(out, "%02x", stat->bytes[i]);
        sqlite3_str_appendchar(out, 1, '"');
        break;
    case TYPE_NONE: sqlite3_str_appendall(out, "null"); break;
    }
    return true;
}
