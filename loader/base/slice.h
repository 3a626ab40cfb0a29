// SPDX-License-Identifier: Apache-2.0
/* slice.h: pieces of texts that are owned elsewhere. */
#ifndef PROF_SLICE_H
#define PROF_SLICE_H

#include "base.h"

/* It need not end in a NUL byte. */
typedef struct {
    const char *text;
    size_t n;
} Slice;
/* Return all of a text as a slice. */
static inline Slice slice_of(const Text *text) { return (Slice){text->text, text->n_bytes}; }
static inline Slice slice_of_string(const char *text) { return (Slice){text, strlen(text)}; }

/* Returns what follows the first n bytes. */
static inline Slice slice_after(Slice s, size_t n) { return (Slice){s.text + n, s.n - n}; }

/* Compare a slice with a text. slice_starts_ignoring_case() ignores the case of letters. */
bool slice_is(Slice s, const char *text);
bool slice_starts(Slice s, const char *text);
bool slice_starts_ignoring_case(Slice s, const char *text);
bool slice_ends(Slice s, const char *text);
bool slice_contains(Slice s, const char *text);
/* Compare a slice with each of n texts. */
bool slice_is_any(Slice s, const char *const *texts, size_t n);
bool slice_contains_any(Slice s, const char *const *texts, size_t n);
static inline bool slice_equal(Slice a, Slice b)
{
    return a.n == b.n && (!a.n || !memcmp(a.text, b.text, a.n));
}
/* Compare by bytes, like qsort()'s function; of two that start alike, the shorter comes first. */
int slice_order(Slice a, Slice b);
int text_order(const Text *a, const Text *b);

/* Returns what follows the last "::", such as the HLO instruction in a kernel's stat hlo_op. */
Slice slice_innermost(Slice s);
/* Returns a module's name without the "(id)" that may follow it. */
Slice slice_without_id(Slice s);
/* Parses a decimal int64, with optional sign and blanks around it. False if it is anything else. */
bool slice_integer(Slice s, int64_t *value);
/* As text_intern(), but NULL with err set. */
const Text *slice_intern(TextTable *table, Arena *arena, Slice s, ProfErr *err);

/* ASCII alone, in every locale. */
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

#endif
