// SPDX-License-Identifier: Apache-2.0
/* scope_functions.c: functions of framework op names: op_scope(), op_pass() and scope_prefix().
 *
 *   SELECT op_scope('jit(step)/transpose(jvp(Net))/block_1/dot_general');   -- Net/block_1
 *   SELECT op_pass('jit(step)/transpose(jvp(Net))/block_1/dot_general');    -- backward
 *   SELECT scope_prefix('Net/block_1/attention', 2);                        -- Net/block_1 */
#include "prof.h"

#include "../loader/analysis/program/op_scope.h"
SQLITE_EXTENSION_INIT3

static bool read_text(sqlite3_value *value, Slice *text)
{
    text->text = (const char *)sqlite3_value_text(value);
    text->n = (size_t)sqlite3_value_bytes(value);
    return text->text != NULL;
}

static void scope_func(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Slice name;
    TextBuffer scope = {0};
    (void)argc;
    if (!read_text(argv[0], &name)) return;
    op_scope(name, &scope);
    result_buffer(ctx, &scope);
}

static void pass_func(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Slice name;
    (void)argc;
    if (read_text(argv[0], &name)) result_static(ctx, op_pass_names[op_scope(name, NULL)]);
}

static void prefix_func(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    Slice scope;
    (void)argc;
    if (!read_text(argv[0], &scope)) return;
    if (sqlite3_value_type(argv[1]) != SQLITE_NULL)
        scope = op_scope_prefix(scope, sqlite3_value_int64(argv[1]));
    if (scope.n) sqlite3_result_text64(ctx, scope.text, scope.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

const FunctionDef scope_functions[] = {
    {.name = "op_scope",
     .n_args = 1,
     .flags = FUNCTION_PURE,
     .xFunc = scope_func,
     .signature = "op_scope(tf_op)",
     .description = "Path of the layers and named scopes in the name of a framework op, without "
                    "the op itself and without what the framework adds to scopes: jit(), jvp(), "
                    "transpose(), vmap(), checkpoint, rematted_computation, while/body, "
                    "gradient_tape, ... (docs/semantics.md, Scope). NULL if there is none.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT op_scope('jit(step)/jvp(Net)/block_1/dot_general')"},
    {.name = "op_pass",
     .n_args = 1,
     .flags = FUNCTION_PURE,
     .xFunc = pass_func,
     .signature = "op_pass(tf_op)",
     .description = "Pass of the framework op, by its name: backward if it computes gradients, "
                    "recomputed if it computes values again for gradients, else forward. NULL if "
                    "the name does not show the pass: for ranges that a program marks (type "
                    "NVTX), and for operators of PyTorch (aten__mm), except those with _backward "
                    "in their names.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT op_pass('jit(step)/transpose(jvp(Net))/block_1/dot_general')"},
    {.name = "scope_prefix",
     .n_args = 2,
     .flags = FUNCTION_PURE,
     .xFunc = prefix_func,
     .signature = "scope_prefix(scope, depth)",
     .description = "First components of a scope, at most depth of them: scope_prefix('a/b/c', 2) "
                    "is a/b. The entire scope if depth is NULL; NULL if nothing is left.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT scope_prefix('Net/block_1/attention', 2)"},
};
const int n_scope_functions = sizeof scope_functions / sizeof scope_functions[0];
