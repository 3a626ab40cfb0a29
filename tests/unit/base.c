// SPDX-License-Identifier: Apache-2.0
/* base.c: repairing and interning of text, growing, sums that stop, errors that stick. The repairs
 * are the examples of the Unicode Standard, chapter 3.9, tables 3-8 to 3-11: U+FFFD for each
 * maximal ill-formed part. */
#include "../../loader/base/base.h"
#include "check.h"
#include "no_memory.h"

#define R "\xef\xbf\xbd"

static void repair(const char *bytes, size_t n, const char *want, size_t n_want, const char *what)
{
    uint8_t *in = malloc(n ? n : 1);
    char *out = malloc(3 * n + 1);
    if (!in || !out) abort();
    memcpy(in, bytes, n);
    size_t got = utf8_repair(in, n, out);
    bool valid = n == n_want && !memcmp(bytes, want, n);
    check(got == n_want && !memcmp(out, want, n_want) && utf8_valid(in, n) == valid &&
              utf8_valid((uint8_t *)out, got),
          what);
    free(in);
    free(out);
}

static const Text *intern(TextTable *table, Arena *arena, const char *text, size_t n)
{
    return text_intern(table, arena, (const uint8_t *)text, n);
}

static void interning(void)
{
    TextTable table = {0};
    Arena arena = {0};
    char name[32];
    const Text *texts[5000];
    bool same = true, ends = true;
    for (int i = 0; i < 5000; i++)
        texts[i] = intern(&table, &arena, name, (size_t)snprintf(name, sizeof name, "name %d", i));
    for (int i = 0; i < 5000; i++) {
        size_t n = (size_t)snprintf(name, sizeof name, "name %d", i);
        same &= intern(&table, &arena, name, n) == texts[i] && texts[i]->n_bytes == n &&
                !memcmp(texts[i]->text, name, n);
        ends &= !texts[i]->text[n];
    }
    check(same && table.n_texts == 5000, "equal texts are one");
    check(ends, "a NUL behind each");
    check(intern(&table, &arena, "", 0) == empty_text, "no bytes: the empty text");
    const Text *nul = intern(&table, &arena, "a\0b", 3),
               *longer = intern(&table, &arena, "a\0c", 3),
               *fixed = intern(&table, &arena, "a\xff", 2);
    check(nul->has_nul && !nul->repaired && longer != nul && nul->n_bytes == 3,
          "NUL bytes are part of a text");
    check(fixed->repaired && !strcmp(fixed->text, "a" R) &&
              intern(&table, &arena, "a" R, 4) == fixed,
          "a repaired text equals the text it became");

    TextTable empty = {0};
    Arena dry = {0};
    int *array = NULL;
    size_t capacity = 0;
    use_no_memory();
    check(!intern(&empty, &dry, "a", 1) && !intern(&empty, &dry, "\xff", 1) && !empty.texts &&
              !empty.n_texts && !dry.n_bytes,
          "no memory for a text");
    check(intern(&table, &arena, "name 7", 6) == texts[7], "a known text needs none");
    check(!GROW(array, 0, capacity) && !array && !capacity, "no memory to grow");
    text_table_free(&table);
    arena_free(&arena);
}

#define REPAIR(bytes, want, what) repair(bytes, sizeof bytes - 1, want, sizeof want - 1, what)
int main(void)
{
    REPAIR("", "", "nothing");
    REPAIR("plain ASCII, longer than eight bytes", "plain ASCII, longer than eight bytes", "ASCII");
    REPAIR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
           "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "well-formed");
    REPAIR("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
           "the borders of what is well-formed");
    REPAIR("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", R R R R R R R R "A", "not the shortest form");
    REPAIR("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", R R R R R R R R "A", "surrogates");
    REPAIR("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", R R R R R "A" R R "B", "other ill-formed");
    REPAIR("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", R R R R "A", "truncated");
    REPAIR("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", "a" R R R "b" R "c" R R "d",
           "mixed");
    REPAIR("12345678\xe2\x82", "12345678" R, "cut off at the end");

    check(add_saturated(1, 2) == 3 && add_saturated(INT64_MAX, 1) == INT64_MAX &&
              add_saturated(INT64_MIN, -1) == INT64_MIN &&
              add_saturated(INT64_MAX, INT64_MIN) == -1,
          "sums stop at the ends");
    ProfErr err = {0};
    prof_fail(&err, PROF_FORMAT, 17, "first %d", 1);
    check(prof_fail(&err, PROF_IO, 18, "second") == PROF_FORMAT && err.offset == 17 &&
              !strcmp(err.text, "first 1") && prof_nomem(&err) == PROF_FORMAT,
          "the first error stands");
    ProfErr odd = {0}, cut = {0};
    prof_fail(&odd, PROF_FORMAT, 0, "%s is no name", "a\xff\xe2\x82z");
    prof_fail(&cut, PROF_FORMAT, 0, "%*s\xe2\x82\xac", (int)sizeof cut.text - 3, "");
    check(!strcmp(odd.text, "a???z is no name") && strlen(cut.text) == sizeof cut.text - 3,
          "an error is UTF-8, and ends with a whole character");
    Arena arena = {0};
    bool zero = true;
    for (size_t n = 1; n < 3000000; n = n * 3 + 1) { /* the last two have blocks of their own */
        uint8_t *p = arena_alloc(&arena, n);
        for (size_t i = 0; i < n; i++) zero &= !p[i];
        zero &= !((uintptr_t)p & 7);
        memset(p, 0xff, n);
    }
    check(zero, "an arena's memory is zeroed and aligned");
    arena_free(&arena);
    interning();
    return finish();
}
