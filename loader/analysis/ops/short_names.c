// SPDX-License-Identifier: Apache-2.0
/* short_names.c: shortens kernel names; see short_names.h. Step numbers refer to "Short names" in
 * docs/semantics.md. */
#define _GNU_SOURCE
#include "short_names.h"

#include <stdio.h>
#include <zlib.h>

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/sort.h"
#include "../../base/tf_op.h"

/* ---- one name ---- */

/* Returns whether a kernel only runs the functor that is its template argument. */
static bool is_wrapper(const char *s, size_t n)
{
    static const char *const names[] = {"Kernel",        "Kernel2", "kernel",
                                        "device_kernel", "kentry",  "trampoline_kernel",
                                        "_kernel_agent"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (slice_is((Slice){s, n}, names[i])) return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '$'; }

static bool starts_at(Slice s, size_t i, const char *text)
{
    size_t n = strlen(text);
    return n <= s.n - i && !memcmp(s.text + i, text, n);
}

/* Returns the position of the bracket that closes the one at i; the end of the text if none does.
 * Angle brackets inside other brackets do not count, because they may be operators there. */
static size_t closing(Slice s, size_t i)
{
    size_t angles = 0, others = 0;
    bool is_angle = s.text[i] == '<';
    for (; i < s.n; i++) {
        char c = s.text[i];
        if (c == '(' || c == '[' || c == '{') others++;
        if ((c == ')' || c == ']' || c == '}') && others) others--;
        if (c == '<' && !others) angles++;
        if (c == '>' && !others && angles) angles--;
        if (!others && !(is_angle && angles)) return i;
    }
    return s.n;
}

static size_t after(Slice s, size_t close) { return close < s.n ? close + 1 : close; }

/* Steps 5 and 6: writes the last part of a C++ name. *arguments: its template arguments, with text
 * NULL if it has none. Returns the number of bytes; 0 if it is not a C++ name. */
static size_t last_part(Slice s, char *out, Slice *arguments)
{
    static const char operator_word[] = "operator";
    enum { WORD = sizeof operator_word - 1 };
    size_t n = 0, arguments_at = SIZE_MAX;
    for (size_t i = 0; i < s.n;) {
        char c = s.text[i];
        if (starts_at(s, i, "(anonymous namespace)::")) {
            i += strlen("(anonymous namespace)::");
        } else if (c == '<') {
            size_t end = closing(s, i);
            *arguments = (Slice){s.text + i + 1, end - i - 1};
            arguments_at = n, i = after(s, end);
        } else if (c == '{') {
            size_t end = closing(s, i);
            while (++i < end && is_word(s.text[i])) out[n++] = s.text[i];
            i = after(s, end);
        } else if (c == '(' || c == '[') {
            if (!n || s.text[i - 1] == ' ') return 0;
            break;
        } else {
            out[n++] = c, i++;
            if (n < WORD || memcmp(out + n - WORD, operator_word, WORD) ||
                (n > WORD && is_word(out[n - WORD - 1])))
                continue;
            if (starts_at(s, i, "()") || starts_at(s, i, "[]"))
                out[n++] = s.text[i], out[n++] = s.text[i + 1], i += 2;
            else
                while (i < s.n && memchr("+-*/%^&|~!=<>,", s.text[i], 14)) out[n++] = s.text[i++];
        }
    }
    while (n && out[n - 1] == ' ') n--;
    if (slice_ends((Slice){out, n}, "::operator()")) n -= strlen("::operator()");
    size_t first = n;
    while (first && out[first - 1] != ' ' &&
           !(first > 1 && out[first - 1] == ':' && out[first - 2] == ':'))
        first--;
    if (arguments_at != n) *arguments = (Slice){NULL, 0};
    memmove(out, out + first, n - first);
    return n - first;
}

/* Returns the first template argument that is a class; n is 0 if none is. */
static Slice first_class(Slice arguments)
{
    static const char *const types[] = {
        "bool",   "char", "short", "int",   "long",  "unsigned", "signed", "float",
        "double", "void", "true",  "false", "const", "volatile", "auto",   "nullptr"};
    for (size_t i = 0; i < arguments.n; i++) {
        while (i < arguments.n && arguments.text[i] == ' ') i++;
        size_t first = i, word;
        while (i < arguments.n && arguments.text[i] != ',')
            i = memchr("<([{", arguments.text[i], 4) ? after(arguments, closing(arguments, i))
                                                     : i + 1;
        Slice one = {arguments.text + first, i - first};
        for (word = 0; word < one.n && is_word(one.text[word]); word++) {
        }
        bool is_class = one.n && is_letter(*one.text);
        for (size_t k = 0; k < COUNT(types); k++)
            is_class &= !slice_is((Slice){one.text, word}, types[k]);
        if (is_class) return one;
    }
    return (Slice){NULL, 0};
}

static size_t copy(Slice s, char *out)
{
    memcpy(out, s.text, s.n);
    return s.n;
}

static size_t short_of_cxx(Slice s, char *out)
{
    Slice arguments = {NULL, 0}, inner, ignored;
    size_t n = last_part(s, out, &arguments);
    if (!n || !arguments.text || !is_wrapper(out, n)) return n;
    inner = first_class(arguments);
    if (!inner.n) return n;
    char *end = out + n;
    size_t k = last_part(inner, end, &ignored);
    memmove(out, k ? end : out, k ? k : n);
    return k ? k : n;
}

/* ---- mangled names ---- */

/* Returns the last identifier of the mangled name at s[*i], up to its first template arguments. *i:
 * what follows. */
static Slice mangled_part(Slice s, size_t *i)
{
    Slice last = {NULL, 0};
    bool nested = *i < s.n && s.text[*i] == 'N';
    if (nested)
        for (++*i; *i < s.n && memchr("rVKRO", s.text[*i], 5);) ++*i;
    while (*i < s.n && (nested || !last.text)) {
        char c = s.text[*i];
        if (c == 'L') {
            ++*i;
        } else if (is_digit(c)) {
            size_t n = 0, k = *i;
            while (k < s.n && is_digit(s.text[k]) && n <= s.n)
                n = n * 10 + (size_t)(s.text[k++] - '0');
            if (!n || n > s.n - k) break;
            last = (Slice){s.text + k, n}, *i = k + n;
        } else if (c == 'S') {
            size_t k = *i + 1;
            while (k < s.n && (is_digit(s.text[k]) || (s.text[k] >= 'A' && s.text[k] <= 'Z'))) k++;
            if (k < s.n && s.text[k] == '_')
                *i = k + 1;
            else if (*i + 1 < s.n && memchr("tabsiod", s.text[*i + 1], 7))
                *i += 2;
            else
                break;
        } else {
            break;
        }
    }
    return last;
}

static Slice short_of_mangled(Slice s)
{
    size_t i = 2;
    Slice part = mangled_part(s, &i);
    if (!part.text || !is_wrapper(part.text, part.n) || i >= s.n || s.text[i] != 'I') return part;
    for (i++; i < s.n;) {
        char c = s.text[i];
        if (c == 'L') {
            const char *end = memchr(s.text + i, 'E', s.n - i);
            if (!end) break;
            i = (size_t)(end - s.text) + 1;
        } else if (c >= 'a' && c <= 'z') {
            i++;
        } else {
            Slice inner = mangled_part(s, &i);
            return inner.text ? inner : part;
        }
    }
    return part;
}

/* ---- the short form ---- */

/* Step 8: removes #, which marks the unique part, and cuts the name. */
static size_t finish(char *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (out[i] == '#') out[i] = '_';
    if (n <= SHORT_NAME_BYTES) return n;
    n = SHORT_NAME_BYTES - 3;
    while (n && (out[n] & 0xc0) == 0x80) n--; /* in the middle of a character */
    memcpy(out + n, "...", 3);
    return n + 3;
}

/* Writes the short form of a name, before it is made unique. `out` has room for the name and
 * SHORT_NAME_BYTES. Returns the number of bytes. */
static size_t short_form(const char *name, size_t n_bytes, char *out)
{
    Slice s = {name, n_bytes};
    if (s.n > 3 && slice_ends(s, ".kd")) s.n -= 3;
    const char *equals = memmem(s.text, s.n, " = ", 3);
    bool is_cxx = memmem(s.text, s.n, "::", 2) || memchr(s.text, '<', s.n) ||
                  memchr(s.text, '(', s.n) || memchr(s.text, '[', s.n);
    size_t n = 0;
    if (equals) {
        size_t percent = *s.text == '%';
        n = copy((Slice){s.text + percent, (size_t)(equals - s.text) - percent}, out);
    } else if (slice_starts(s, "_Z")) {
        Slice part = short_of_mangled(s);
        if (part.text) n = copy(part, out);
    } else if (is_cxx) {
        n = short_of_cxx(s, out);
    }
    return finish(out, n ? n : copy(s, out));
}

/* ---- the names of a run ---- */

typedef struct {
    const Text *name; /* name in a plane */
    /* full: the name, where equal names of several hosts are the same text */
    const Text *form, *full, *unique;
    uint32_t crc;
} NamedKernel;

struct ShortNames {
    LIST(NamedKernel) kernels;
    HashTable by_name;
    TextTable texts;
    Arena arena;
};

static void short_names_free(void *result)
{
    ShortNames *names = result;
    prof_free(names->kernels.items);
    hash_free(&names->by_name);
    text_table_free(&names->texts);
    arena_free(&names->arena);
    prof_free(names);
}

static const Text *keep(ShortNames *names, const char *text, size_t n)
{
    return text_intern(&names->texts, &names->arena, text, n);
}

static const NamedKernel *find(const ShortNames *names, const Text *name)
{
    uint64_t hash = hash64((uint64_t)(uintptr_t)name);
    HASH_EACH(i, &names->by_name, hash)
        if (names->kernels.items[i].name == name) return &names->kernels.items[i];
    return NULL;
}

static bool add(ShortNames *names, const Text *name)
{
    if (find(names, name)) return true;
    char *room = prof_buffer((size_t)name->n_bytes + SHORT_NAME_BYTES);
    NamedKernel *kernel = room ? PUSH(names->kernels) : NULL;
    if (kernel)
        *kernel =
            (NamedKernel){.name = name,
                          .form = keep(names, room, short_form(name->text, name->n_bytes, room)),
                          .full = keep(names, name->text, name->n_bytes),
                          .crc = (uint32_t)crc32(0, (const uint8_t *)name->text, name->n_bytes)};
    prof_free(room);
    return kernel && kernel->form && kernel->full &&
           hash_add(&names->by_name, hash64((uint64_t)(uintptr_t)name), names->kernels.n - 1);
}

static int by_name(const void *a, const void *b)
{
    return text_order(((const NamedKernel *)a)->full, ((const NamedKernel *)b)->full);
}

static int by_form(const void *a, const void *b)
{
    const NamedKernel *x = a, *y = b;
    int c = text_order(x->form, y->form);
    if (!c) c = ORDER(x->crc, y->crc);
    return c ? c : text_order(x->full, y->full);
}

enum Suffix { NONE, FOUR_DIGITS, EIGHT_DIGITS, NUMBER };

/* Returns the shortest suffix that tells two kernels apart. */
static enum Suffix suffix_for(const NamedKernel *a, const NamedKernel *b)
{
    if (a->full == b->full) return NONE;
    if (a->crc == b->crc) return NUMBER;
    return a->crc >> 16 == b->crc >> 16 ? EIGHT_DIGITS : FOUR_DIGITS;
}

/* Step 9: adds suffixes to different names with the same form. The kernels are sorted by_form(). */
static void add_suffixes(ShortNames *names, NamedKernel *kernels, size_t n, ProfErr *err)
{
    enum Suffix suffix = NONE;
    for (size_t i = 1; i < n; i++) {
        enum Suffix needed = suffix_for(&kernels[i - 1], &kernels[i]);
        if (needed > suffix) suffix = needed;
    }
    if (suffix == NUMBER) sort_in_place(kernels, n, sizeof *kernels, by_name);
    size_t number = 0;
    for (size_t i = 0; i < n; i++) {
        char text[SHORT_NAME_BYTES + 64]; /* a cut character grows when it is repaired */
        const Text *form = kernels[i].form;
        number += !i || kernels[i].full != kernels[i - 1].full;
        int length = (int)form->n_bytes;
        memcpy(text, form->text, form->n_bytes);
        if (suffix == FOUR_DIGITS) length += sprintf(text + length, "#%04x", kernels[i].crc >> 16);
        if (suffix == EIGHT_DIGITS) length += sprintf(text + length, "#%08x", kernels[i].crc);
        if (suffix == NUMBER) length += sprintf(text + length, "#%zu", number);
        kernels[i].unique = suffix == NONE ? form : keep(names, text, (size_t)length);
        if (!kernels[i].unique) prof_nomem(err);
    }
}

static void make_unique(ShortNames *names, ProfErr *err)
{
    NamedKernel *all = names->kernels.items;
    size_t n = names->kernels.n;
    sort_in_place(all, n, sizeof *all, by_form);
    for (size_t i = 0, end; i < n && !interrupt_poll(1, err); i = end) {
        for (end = i + 1; end < n && all[end].form == all[i].form;) end++;
        add_suffixes(names, all + i, end - i, err);
    }
    hash_clear(&names->by_name);
    for (size_t i = 0; i < n; i++)
        if (!hash_add(&names->by_name, hash64((uint64_t)(uintptr_t)all[i].name), i))
            prof_nomem(err);
}

static void *short_names_make(Run *run, Host *only, ProfErr *err)
{
    (void)only;
    ShortNames *names = prof_alloc(sizeof *names);
    if (!names) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t p = 0; p < run->hosts[h].n_planes; p++) {
            const Plane *plane = &run->hosts[h].planes[p];
            for (size_t i = 0; plane->kind == PLANE_GPU && i < plane->n_event_metas; i++) {
                const Text *name = plane->event_metas[i].name;
                if (interrupt_poll(1 + name->n_bytes / 64, err)) break;
                if (!add(names, name)) prof_nomem(err);
            }
        }
    if (!err->code) make_unique(names, err);
    if (!err->code) return names;
    short_names_free(names);
    return NULL;
}

const ShortNames *run_short_names(Run *run, ProfErr *err)
{
    static const Analysis analysis = {short_names_make, short_names_free, NEEDS_NO_EVENTS};
    return run_analysis(run, NULL, &analysis, err);
}

const Text *short_name(const ShortNames *names, const Text *name)
{
    const NamedKernel *kernel = find(names, name);
    return kernel ? kernel->unique : NULL;
}
