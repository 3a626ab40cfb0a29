// SPDX-License-Identifier: Apache-2.0
/* messages.c: kept memory and messages; see profsql.h. */
#define _GNU_SOURCE
#include "profsql.h"

#include "text.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool quiet;

void notes_off(void) { quiet = true; }

static void no_memory(void)
{
    fputs("profsql: out of memory\n", stderr);
    exit(STATUS_FAILED);
}

/* All kept memory, so that leak checkers find it. */
typedef struct Kept {
    struct Kept *next;
    char *text;
} Kept;
static Kept *all_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static void *kept(void *p)
{
    Kept *entry = p ? malloc(sizeof *entry) : NULL;
    if (!entry) no_memory();
    pthread_mutex_lock(&kept_lock);
    *entry = (Kept){all_kept, p};
    all_kept = entry;
    pthread_mutex_unlock(&kept_lock);
    return p;
}

void *keep_alloc(size_t n_bytes) { return kept(calloc(1, n_bytes ? n_bytes : 1)); }

char *keep_text(const char *format, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0) no_memory();
    va_end(ap);
    return kept(text);
}

static bool is_shown_as_it_is(const char *text)
{
    char *clean = text_clean(text, strlen(text), false);
    bool same = !strcmp(clean, text);
    free(clean);
    return same;
}

/* Returns a word with each byte that a terminal does not show as an escape: $'a\nb'. */
static const char *escaped_word(const char *text)
{
    const char *word = "$'";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_plain = c >= ' ' && c < 0x7f && c != '\'' && c != '\\';
        word = is_plain ? keep_text("%s%c", word, c) : keep_text("%s\\x%02x", word, c);
    }
    return keep_text("%s'", word);
}

const char *shell_word(const char *text)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=@%,.:/";
    if (*text && !text[strspn(text, safe)]) return text;
    if (!is_shown_as_it_is(text)) return escaped_word(text);
    const char *word = "'";
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "'");
        word = keep_text("%s%.*s%s", word, (int)n, p, p[n] ? "'\\''" : "");
        p += n + (p[n] != 0);
    }
    return keep_text("%s'", word);
}

const char *own_word(void)
{
    const char *name = program_invocation_name;
    return strchr(name, '/') ? shell_word(name) : "profsql";
}

/* Writes a message. File names and SQLite's messages may contain anything, so control characters
 * are escaped for the terminal. */
static void say(const char *format, va_list ap)
{
    char *text = NULL;
    if (vasprintf(&text, format, ap) < 0) no_memory();
    char *clean = text_clean(text, strlen(text), true);
    fprintf(stderr, "profsql: %s\n", clean);
    free(clean);
    free(text);
}

void complain(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
}

void note(const char *format, ...)
{
    va_list ap;
    if (quiet) return;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
}
