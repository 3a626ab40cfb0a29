// SPDX-License-Identifier: Apache-2.0
/* compile_events.c: recognises compilers' events by name; see compile_events.h. */
#include "compile_events.h"

#include <ctype.h>

/* Returns whether the word Compile, or a word that starts with it (CompileCpuExecutable), follows
 * `before`. Compiled and Compiler do not count. */
static bool names_compile_after(Slice s, const char *before)
{
    size_t n = strlen(before);
    static const char word[] = "Compile";
    enum { LENGTH = sizeof word - 1 };
    for (size_t i = n; i + LENGTH <= s.n; i++) {
        bool here = !memcmp(s.text + i, word, LENGTH) && !memcmp(s.text + i - n, before, n);
        if (here && (i + LENGTH == s.n || !islower((unsigned char)s.text[i + LENGTH]))) return true;
    }
    return false;
}

Slice compile_event_title(Slice name)
{
    size_t n = 0;
    while (n < name.n && name.text[n] != '#' && name.text[n] != ' ') n++;
    return (Slice){name.text, n};
}

bool is_compile_event(Slice name)
{
    static const char *const starts[] = {"backend_compile", "XlaCompile", "TpuCompile",
                                         "TPUCompile"};
    static const char *const op_types[] = {"_XlaCompile", "XlaCompile", "TPUCompile",
                                           "_TPUCompileMlir", "TpuCompileMlir"};
    Slice s = compile_event_title(name);
    if (!s.n || *s.text == '$' || !slice_contains(s, "ompile")) return false;
    for (size_t i = 0; i < COUNT(starts); i++) {
        size_t n = strlen(starts[i]);
        if (slice_starts(s, starts[i]) && !(s.n > n && (s.text[n] == 'd' || s.text[n] == 'r')))
            return true;
    }
    TfOp op = tf_op_parse(s);
    for (size_t i = 0; i < COUNT(op_types) && op.category == OP_TENSORFLOW; i++)
        if (slice_is(op.type, op_types[i])) return true;
    return names_compile_after(s, "::") || slice_contains(s, "Compiler::Run") ||
           (slice_ends(s, "_Compile") && !slice_contains(s, "/"));
}

/* Returns the function of a Python frame `$file.py:12 function`; other names unchanged. */
static Slice without_file(Slice name)
{
    size_t n = 0;
    if (!name.n || *name.text != '$') return name;
    while (n < name.n && name.text[n] != ' ') n++;
    return n < name.n ? (Slice){name.text + n + 1, name.n - n - 1} : name;
}

static bool starts_with_one(Slice name, const char *const *starts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_starts(name, starts[i])) return true;
    return false;
}

bool is_tracing_event(Slice name)
{
    static const char *const starts[] = {"trace_to_jaxpr", "trace_to_subjaxpr",
                                         "tf.function-graph_building"};
    return starts_with_one(without_file(name), starts, COUNT(starts));
}

bool is_lowering_event(Slice name)
{
    static const char *const starts[] = {"lower_sharding_computation", "lower_mesh_computation",
                                         "lower_parallel_callable", "lower_xla_callable"};
    return starts_with_one(without_file(name), starts, COUNT(starts));
}

Slice called_function(Slice name)
{
    static const char call[] = "PjitFunction(";
    enum { LENGTH = sizeof call - 1 };
    if (!slice_starts(name, call) || !slice_ends(name, ")")) return (Slice){"", 0};
    return (Slice){name.text + LENGTH, name.n - LENGTH - 1};
}
