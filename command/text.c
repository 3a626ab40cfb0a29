// SPDX-License-Identifier: Apache-2.0
/* text.c: cleans, measures and shortens text; see text.h. */
#define _GNU_SOURCE
#include "text.h"

#include "profsql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Returns the length of a character with this first byte; 0 if none starts so. */
static size_t utf8_length(unsigned char first)
{
    if (first < 0x80) return 1;
    if ((first & 0xE0) == 0xC0) return 2;
    if ((first & 0xF0) == 0xE0) return 3;
    return (first & 0xF8) == 0xF0 ? 4 : 0;
}

size_t text_decode(const char *s, size_t n, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)s;
    size_t length = utf8_length(*p);
    *character = NOT_UTF8;
    if (!length || length > n) return 1;
    uint32_t value = length == 1 ? *p : *p & (0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 1;
        value = value << 6 | (p[i] & 0x3F);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 1;
    *character = value;
    return length;
}

/* Text that grows. */
typedef struct {
    char *bytes;
    size_t n, capacity;
} Buffer;

static void append(Buffer *b, const char *s, size_t n)
{
    if (b->n + n + 1 > b->capacity) {
        b->capacity = 2 * (b->n + n + 1);
        b->bytes = realloc(b->bytes, b->capacity);
        if (!b->bytes) {
            fputs("profsql: out of memory\n", stderr);
            exit(STATUS_FAILED);
        }
    }
    memcpy(b->bytes + b->n, s, n);
    b->n += n;
    b->bytes[b->n] = 0;
}

static void append_escape(Buffer *b, uint32_t character, unsigned char byte)
{
    char escape[16];
    if (character == '\n')
        strcpy(escape, "\\n");
    else if (character == '\t')
        strcpy(escape, "\\t");
    else if (character == '\r')
        strcpy(escape, "\\r");
    else if (character == NOT_UTF8 || character < 0x80)
        snprintf(escape, sizeof escape, "\\x%02x", byte);
    else
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)character);
    append(b, escape, strlen(escape));
}

/* Returns whether a character changes the direction of the text after it, which could disguise a
 * line. */
static bool turns_direction(uint32_t c)
{
    return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

char *text_clean(const char *s, size_t n, bool lines)
{
    Buffer b = {0};
    append(&b, "", 0);
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t length = text_decode(s + i, n - i, &c);
        bool shown = c != NOT_UTF8 && c >= 0x20 && c != 0x7F && !turns_direction(c) &&
                     (c < 0x80 || wcwidth((wchar_t)c) >= 0);
        if (shown || (lines && c == '\n'))
            append(&b, s + i, length);
        else
            append_escape(&b, c, (unsigned char)s[i]);
        i += length;
    }
    return b.bytes;
}

static int width_of(uint32_t c)
{
    int width = c < 0x80 ? 1 : wcwidth((wchar_t)c);
    return width < 0 ? 1 : width;
}

int text_width(const char *clean)
{
    int width = 0;
    size_t n = strlen(clean);
    for (size_t i = 0; i < n;) {
        uint32_t c;
        i += text_decode(clean + i, n - i, &c);
        width += width_of(c);
    }
    return width;
}

/* Appends as many characters from the start as fit. */
static void append_up_to(Buffer *b, const char *s, int width)
{
    size_t n = strlen(s), i = 0;
    while (i < n) {
        uint32_t c;
        size_t length = text_decode(s + i, n - i, &c);
        width -= width_of(c);
        if (width < 0) break;
        append(b, s + i, length);
        i += length;
    }
}

/* Returns whether brackets contain parameters of C++, as in "(char*, long)". Others contain a
 * remark of the program: "Compile(jit_step)", "FromHost(u8[64])". */
static bool has_types(const char *brackets)
{
    return strpbrk(brackets, "*&") || strstr(brackets, "::") || strstr(brackets, ", ");
}

/* Returns "a::f<>" of "void a::f<int, b<c>>(d*)". A bracket without a closing one ends the text.
 * Returns NULL for other names than those of C++ functions and templates, which have no blank
 * before the bracket: "Executor::Execute (wait for completion)". */
static char *without_arguments(const char *s)
{
    static const char anonymous[] = "(anonymous namespace)";
    Buffer b = {0};
    int depth = 0;
    bool is_void = !strncmp(s, "void ", 5), is_function = is_void, after_blank = false;
    if (!is_void && !strstr(s, "::")) return NULL;
    if (is_void) s += 5;
    append(&b, "", 0);
    for (; *s; s++) {
        if (!depth && !strncmp(s, anonymous, sizeof anonymous - 1)) {
            s += sizeof anonymous - 2;
            append(&b, "(..)", 4);
            continue;
        }
        if (!depth && (*s == '<' || *s == '(')) {
            after_blank = !b.n || b.bytes[b.n - 1] == ' ';
            is_function |= *s == '<' || has_types(s);
            if (after_blank || *s == '(') break;
        }
        depth -= *s == '>' && depth;
        if (!depth) append(&b, s, 1);
        depth += *s == '<';
    }
    if (is_function && !after_blank) return b.bytes;
    free(b.bytes);
    return NULL;
}

char *text_shorten(const char *clean, int width)
{
    Buffer b = {0};
    append(&b, "", 0);
    char *plain = text_width(clean) > width ? without_arguments(clean) : NULL;
    if (!plain) plain = strdup(clean);
    if (!plain) return b.bytes;
    int full = text_width(plain);
    if (full <= width) {
        free(b.bytes);
        return plain;
    }
    int dots = width > 4 ? 3 : 0, head = (width - dots + 1) * 3 / 5, tail = width - dots - head;
    if (!dots) head = width, tail = 0;
    append_up_to(&b, plain, head);
    append(&b, "...", (size_t)dots);
    const char *rest = plain;
    while (*rest && text_width(rest) > tail) {
        uint32_t c;
        rest += text_decode(rest, strlen(rest), &c);
    }
    append(&b, rest, strlen(rest));
    free(plain);
    return b.bytes;
}

char *text_start(const char *clean, int width)
{
    Buffer b = {0};
    bool fits = text_width(clean) <= width;
    int dots = !fits && width > 4 ? 3 : 0;
    append(&b, "", 0);
    append_up_to(&b, clean, fits ? width : width - dots);
    append(&b, "...", (size_t)dots);
    return b.bytes;
}

static void add_point(char out[40])
{
    if (!strpbrk(out, ".eEn")) strcat(out, ".0"); /* n: in inf and nan */
}

void text_of_real(double value, char out[40])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 40, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    add_point(out);
}

void text_of_real_short(double value, char out[40])
{
    bool large = fabs(value) >= 1e6 && fabs(value) < 1e15;
    snprintf(out, 40, large ? "%.0f" : "%.6g", value);
    if (!large) add_point(out);
}
