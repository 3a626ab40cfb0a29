// SPDX-License-Identifier: Apache-2.0
/* tf_functions.h: calls of tf.function by function and by how they ran: XProf's TfFunctionDb. */
#ifndef PROF_TF_FUNCTIONS_H
#define PROF_TF_FUNCTIONS_H

#include "../run.h"

enum FunctionMode { MODE_INVALID, MODE_EAGER, MODE_TRACED, MODE_NOT_TRACED, MODE_CONCRETE, N_FUNCTION_MODES };
enum FunctionCompiler { COMPILER_INVALID, COMPILER_OTHER, COMPILER_MIXED, COMPILER_XLA };
extern const char *const function_mode_names[], *const function_compiler_names[]; /* as XProf spells them, without the suffix */

typedef struct {
    const Text *name;
    enum FunctionCompiler compiler;
    int64_t tracing_count; /* the most that any call says */
    struct FunctionCalls {
        uint64_t count, self_ps; /* self: without the calls of functions directly inside; wraps as XProf's */
    } modes[N_FUNCTION_MODES];
} TfFunction;

typedef struct {
    const TfFunction *functions; /* ordered by name */
    size_t n;
} TfFunctions;

/* Of all hosts together, or of one. Lives as long as the run. NULL with err set. */
const TfFunctions *run_tf_functions(Run *run, Host *only, ProfErr *err);
/* Share of a function's time in traced and eager calls, 0..100. */
double tf_function_expensive_percent(const TfFunction *function);

#endif
