// SPDX-License-Identifier: Apache-2.0
/* json.c: just enough JSON to find a member; see json.h. */
#include "json.h"

static void skip_blanks(Json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
        j->p++;
}

bool json_accept(Json *j, char c)
{
    skip_blanks(j);
    if (j->p == j->end || *j->p != c) return false;
    j->p++;
    return true;
}

/* Moves after the string that starts here. False if it has no end. */
static bool skip_string(Json *j)
{
    for (j->p++; j->p < j->end && *j->p != '"'; j->p++)
        if (*j->p == '\\' && j->p + 1 < j->end) j->p++;
    if (j->p == j->end) return false;
    j->p++;
    return true;
}

void json_skip(Json *j)
{
    size_t depth = 0;
    skip_blanks(j);
    while (j->p < j->end) {
        char c = *j->p;
        if (c == '"') {
            skip_string(j);
            if (!depth) return;
            continue;
        }
        if (!depth && (c == ',' || c == '}' || c == ']')) return;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        j->p++;
        if (!depth && (c == '}' || c == ']')) return;
    }
}

static bool is_key(const char *key, size_t n, const char *name)
{
    size_t i = 0;
    for (bool upper = false; *name; name++) {
        if (*name == '_' && !(i < n && key[i] == '_')) {
            upper = true;
            continue;
        }
        char c = upper ? (char)(*name - 'a' + 'A') : *name;
        if (i == n || key[i++] != c) return false;
        upper = false;
    }
    return i == n;
}

bool json_enter(Json *j, const char *name)
{
    if (!json_accept(j, '{')) return false;
    do {
        skip_blanks(j);
        if (j->p == j->end || *j->p != '"') return false;
        const char *key = j->p + 1;
        if (!skip_string(j)) return false;
        bool found = is_key(key, (size_t)(j->p - key) - 1, name);
        if (!json_accept(j, ':')) return false;
        if (found) return true;
        json_skip(j);
    } while (json_accept(j, ','));
    return false;
}

bool json_integer(Json *j, int64_t *value)
{
    bool quoted = json_accept(j, '"'), fits = true;
    const char *first = j->p;
    for (*value = 0; j->p < j->end && *j->p >= '0' && *j->p <= '9'; j->p++)
        fits &= !__builtin_mul_overflow(*value, (int64_t)10, value) &&
                !__builtin_add_overflow(*value, (int64_t)(*j->p - '0'), value);
    return fits && j->p > first && (!quoted || json_accept(j, '"'));
}
