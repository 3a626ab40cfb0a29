// SPDX-License-Identifier: Apache-2.0
/* tf_functions.c: the table tf_functions: how functions of tf.function ran, and what tracing them
 * cost.
 *
 *   SELECT name, mode, count, self_time_ps
 *     FROM tf_functions('logs') WHERE expensive_call_percent > 20; */
#include "../loader/analysis/ops/tf_functions.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#define TF_FUNCTIONS_COLUMNS(C)                                                                    \
    C(FN_RUN, RUN_DOC)                                                                             \
    C(FN_NAME, "name", "TEXT", NULL, "name of the tf.function", "TfFunctionDb.tf_functions")       \
    C(FN_COMPILER, "compiler", "TEXT", NULL,                                                       \
      "compiler of the function: XLA, OTHER, MIXED (both), or INVALID if its calls do not record " \
      "it",                                                                                        \
      "TfFunction.compiler")                                                                       \
    C(FN_TRACING, "tracing_count", "INTEGER", NULL,                                                \
      "number of times that the function was traced since the program started",                    \
      "TfFunction.total_tracing_count")                                                            \
    C(FN_EXPENSIVE, "expensive_call_percent", "REAL", "percent 0..100",                            \
      "share of the function's time in calls that traced it or ran eagerly",                       \
      "TfFunction.expensive_call_percent")                                                         \
    C(FN_MODE, "mode", "TEXT", NULL,                                                               \
      "how the calls ran: EAGER, CONCRETE, TRACED (traced first), NOT_TRACED, or INVALID if the "  \
      "recorded mode is none of these",                                                            \
      "TfFunction.metrics")                                                                        \
    C(FN_COUNT, "count", "INTEGER", "calls", "number of calls in this mode",                       \
      "TfFunctionMetrics.count")                                                                   \
    C(FN_SELF, "self_time_ps", "INTEGER", "ps",                                                    \
      "time of the function's calls in this mode, without functions that they call",               \
      "TfFunctionMetrics.self_time_ps")                                                            \
    C(FN_SOURCE, SOURCE_DOC)
enum { TF_FUNCTIONS_COLUMNS(COLUMN_ENUM) };
static const Column tf_functions_columns[] = {TF_FUNCTIONS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const TfFunctions *all;
    size_t function;
    int mode;
} FunctionMode;

static bool tf_functions_next(RowCursor *c)
{
    FunctionMode *at = c->state;
    if (!c->started) at->all = run_tf_functions(c->from->run, c->from->only, &c->err);
    if (!at->all) return false;
    at->mode += c->started;
    for (; at->function < at->all->n; at->function++, at->mode = 0)
        for (; at->mode < N_FUNCTION_MODES; at->mode++)
            if (at->all->functions[at->function].modes[at->mode].count) {
                c->place = at->function * N_FUNCTION_MODES + (size_t)at->mode;
                return true;
            }
    return false;
}

static void tf_functions_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const FunctionMode *at = c->state;
    const TfFunction *f = &at->all->functions[at->function];
    switch (column) {
    case FN_NAME: result_text(ctx, f->name); break;
    case FN_COMPILER: result_static(ctx, function_compiler_names[f->compiler]); break;
    case FN_TRACING: sqlite3_result_int64(ctx, f->tracing_count); break;
    case FN_EXPENSIVE: sqlite3_result_double(ctx, tf_function_expensive_percent(f)); break;
    case FN_MODE: result_static(ctx, function_mode_names[at->mode]); break;
    case FN_COUNT: sqlite3_result_int64(ctx, (sqlite3_int64)f->modes[at->mode].count); break;
    case FN_SELF: result_u64(ctx, f->modes[at->mode].self_ps); break;
    default: break;
    }
}

static const RowSource tf_functions_rows = {
    .next = tf_functions_next,
    .state_bytes = sizeof(FunctionMode),
    .column = tf_functions_column,
    .per_run = true,
    .needs = NEED_EVENTS | NEED_HOST,
    .nothing = "no event is a call of a tf.function (stat tf_function_call)"};
const Table tf_functions_table = {
    "tf_functions",
    "one tf.function in one execution mode, with its calls and the cost of tracing",
    tf_functions_columns,
    COUNT(tf_functions_columns),
    &row_table_module,
    &tf_functions_rows,
    20,
    "0.1.0",
    "SELECT name, compiler, mode, tracing_count, expensive_call_percent FROM tf_functions"};
