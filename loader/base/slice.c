// SPDX-License-Identifier: Apache-2.0
/* slice.c: pieces of texts; see slice.h. */
#define _GNU_SOURCE
#include "slice.h"

#include <strings.h>

bool slice_is(Slice s, const char *text)
{
    return s.n == strlen(text) && !memcmp(s.text, text, s.n);
}
bool slice_starts(Slice s, const char *text)
{
    return s.n >= strlen(text) && !memcmp(s.text, text, strlen(text));
}
bool slice_starts_ignoring_case(Slice s, const char *text)
{
    return s.n >= strlen(text) && !strncasecmp(s.text, text, strlen(text));
}
bool slice_ends(Slice s, const char *text)
{
    size_t n = strlen(text);
    return s.n >= n && !memcmp(s.text + s.n - n, text, n);
}
bool slice_contains(Slice s, const char *text)
{
    return memmem(s.text, s.n, text, strlen(text)) != NULL;
}

bool slice_is_any(Slice s, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_is(s, texts[i])) return true;
    return false;
}
bool slice_contains_any(Slice s, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_contains(s, texts[i])) return true;
    return false;
}

int slice_order(Slice a, Slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n && a.text != b.text ? memcmp(a.text, b.text, n) : 0;
    return order ? order : ORDER(a.n, b.n);
}
int text_order(const Text *a, const Text *b)
{
    return a == b ? 0 : slice_order(slice_of(a), slice_of(b));
}

Slice slice_innermost(Slice s)
{
    for (size_t i = 0; i + 1 < s.n;) {
        if (s.text[i] != ':' || s.text[i + 1] != ':')
            i++;
        else
            s = slice_after(s, i + 2), i = 0;
    }
    return s;
}

Slice slice_without_id(Slice s)
{
    size_t n = s.n && s.text[s.n - 1] == ')' ? s.n - 1 : 0, digits = n;
    while (digits && is_digit(s.text[digits - 1])) digits--;
    if (digits && digits < n && s.text[digits - 1] == '(') s.n = digits - 1;
    return s;
}

bool slice_integer(Slice s, int64_t *value)
{
    while (s.n && is_blank(s.text[0])) s = slice_after(s, 1);
    while (s.n && is_blank(s.text[s.n - 1])) s.n--;
    bool negative = s.n && s.text[0] == '-';
    if (s.n && (s.text[0] == '-' || s.text[0] == '+')) s = slice_after(s, 1);
    if (!s.n) return false;
    uint64_t v = 0, most = (uint64_t)INT64_MAX + negative;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_digit(s.text[i])) return false;
        uint64_t digit = (uint64_t)(s.text[i] - '0');
        if (v > (most - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *value = (int64_t)(negative ? 0 - v : v);
    return true;
}

const Text *slice_intern(TextTable *table, Arena *arena, Slice s, ProfErr *err)
{
    const Text *text = text_intern(table, arena, s.text, s.n);
    if (!text) prof_nomem(err);
    return text;
}
