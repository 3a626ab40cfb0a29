// SPDX-License-Identifier: Apache-2.0
/* tf_op.c: parsing framework op names as XProf does; see tf_op.h. */
#define _GNU_SOURCE
#include "tf_op.h"

/* Returns what follows the last occurrence of a byte; all of s if there is none. */
static Slice last_part(Slice s, char separator)
{
    const char *at = memrchr(s.text, separator, s.n);
    return at ? slice_after(s, (size_t)(at + 1 - s.text)) : s;
}

/* ---- the grammar ---- */

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/* [A-Za-z0-9.][A-Za-z0-9_./>-]* */
static bool is_tensorflow_name(Slice s)
{
    if (!s.n) return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.text[i];
        if (is_lower(c) || is_upper(c) || is_digit(c) || c == '.') continue;
        if (!i || !c || !strchr("_/>-", c)) return false;
    }
    return true;
}

/* [A-Z_][a-zA-Z0-9_]* */
static bool is_tensorflow_type(Slice s)
{
    if (!s.n || !(is_upper(s.text[0]) || s.text[0] == '_')) return false;
    for (size_t i = 1; i < s.n; i++)
        if (!is_lower(s.text[i]) && !is_upper(s.text[i]) && !is_digit(s.text[i]) &&
            s.text[i] != '_')
            return false;
    return true;
}

/* [a-z_][a-z0-9_]*(\[.*\])? and, in *plain, what is before the bracket */
static bool is_jax_type(Slice s, Slice *plain)
{
    if (!s.n || !(is_lower(s.text[0]) || s.text[0] == '_')) return false;
    size_t i = 1;
    while (i < s.n && (is_lower(s.text[i]) || is_digit(s.text[i]) || s.text[i] == '_')) i++;
    *plain = (Slice){s.text, i};
    if (i == s.n) return true;
    return s.text[i] == '[' && i + 1 < s.n && s.text[s.n - 1] == ']' &&
           !memchr(s.text + i, '\n', s.n - i);
}

/* Returns the type in an op's name: its last component without the number after it. */
static Slice derived_type(Slice name)
{
    Slice op = last_part(name, '/'), id = last_part(op, '_');
    int64_t number;
    if (id.n < op.n && slice_integer(id, &number)) op.n -= id.n + 1;
    return op;
}

static const struct {
    const char *prefix, *type;
    enum OpCategory category;
} copies[] = {
    {"MEMCPYHToD", "MemcpyHToD", OP_MEMCPY_HTOD},
    {"MEMCPYDToH", "MemcpyDToH", OP_MEMCPY_DTOH},
    {"MEMCPYDToD", "MemcpyDToD", OP_MEMCPY_DTOD},
    {"MEMCPYHToH", "MemcpyHToH", OP_MEMCPY_HTOH},
};

TfOp tf_op_parse(Slice full)
{
    TfOp unknown = {OP_UNKNOWN, full, {full.text + full.n, 0}};
    const char *colon = full.n ? memchr(full.text, ':', full.n) : NULL;
    if (!colon) {
        for (size_t i = 0; i < COUNT(copies); i++)
            if (slice_starts_ignoring_case(full, copies[i].prefix))
                return (TfOp){copies[i].category, full, slice_of_string(copies[i].type)};
        return unknown;
    }
    Slice a = {full.text, (size_t)(colon - full.text)}, b = slice_after(full, a.n + 1), plain;
    if (slice_is(a, "Iterator")) return (TfOp){OP_TF_DATA, full, slice_of_string("Dataset")};
    if (is_tensorflow_name(a) && is_tensorflow_type(b)) return (TfOp){OP_TENSORFLOW, a, b};
    Slice type = b.n ? b : derived_type(a);
    if (is_jax_type(type, &plain)) return (TfOp){OP_JAX, a, plain};
    if (!b.n) return (TfOp){OP_TENSORFLOW, a, type};
    return unknown;
}

Slice tf_op_display(const TfOp *op, bool *is_iterator)
{
    *is_iterator = op->category == OP_TF_DATA;
    if (op->category == OP_UNKNOWN) {
        Slice s = op->name;
        while (s.n && is_blank(s.text[s.n - 1])) s.n--;
        return s;
    }
    return *is_iterator ? last_part(op->name, ':') : op->type;
}

/* ---- predicates ---- */

bool op_is_infeed_enqueue(Slice type) { return slice_starts(type, "InfeedEnqueue"); }
bool op_is_infeed_or_outfeed(Slice category)
{
    return slice_contains(category, "infeed") || slice_contains(category, "outfeed");
}

bool op_is_container(Slice category)
{
    static const char *const list[] = {"call", "conditional", "while", "megacore fusion"};
    return slice_is_any(category, list, COUNT(list));
}

bool op_is_off_duty(Slice category)
{
    static const char *const list[] = {"infeed",         "outfeed",        "host send",
                                       "host send-done", "host recv",      "host recv-done",
                                       "async-done",     "megacore fusion"};
    return slice_is_any(category, list, COUNT(list));
}

bool op_is_outside_compilation(Slice framework_name, Slice hlo_text)
{
    return slice_ends(framework_name, ":XlaSendToHost") ||
           slice_ends(framework_name, ":XlaRecvFromHost") ||
           (slice_contains(hlo_text, "send-done") &&
            slice_contains(hlo_text, "is_host_transfer=true"));
}

bool op_is_rematerialization(Slice framework_name, Slice hlo_text)
{
    const char *equals = hlo_text.n ? memchr(hlo_text.text, '=', hlo_text.n) : NULL;
    Slice name = {hlo_text.text, equals ? (size_t)(equals - hlo_text.text) : hlo_text.n};
    return slice_contains(name, ".remat") || slice_contains(framework_name, "rematted_computation");
}
