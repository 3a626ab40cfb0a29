// SPDX-License-Identifier: Apache-2.0
/* tf_functions.h: calls of each tf.function by execution mode, as in XProf's TfFunctionDb. */
#ifndef PROF_TF_FUNCTIONS_H
#define PROF_TF_FUNCTIONS_H

#include "../../run.h"

enum FunctionMode {
    MODE_INVALID,
    MODE_EAGER,
    MODE_TRACED,
    MODE_NOT_TRACED,
    MODE_CONCRETE,
    N_FUNCTION_MODES
};
enum FunctionCompiler { COMPILER_INVALID, COMPILER_OTHER, COMPILER_MIXED, COMPILER_XLA };
/* As XProf spells them, without the suffix. */
extern const char *const function_mode_names[], *const function_compiler_names[];

/* A function and its calls by mode. */
typedef struct {
    const Text *name;
    enum FunctionCompiler compiler;
    int64_t tracing_count; /* largest tracing count of its calls */
    struct FunctionCalls {
        /* self_ps: without the functions called directly inside it. Both wrap, as in XProf. */
        uint64_t count, self_ps;
    } modes[N_FUNCTION_MODES];
} TfFunction;

typedef struct {
    const TfFunction *functions; /* sorted by name */
    size_t n;
} TfFunctions;

/* Returns the functions of all hosts together, or of `only`. */
const TfFunctions *run_tf_functions(Run *run, Host *only, ProfErr *err);
/* Returns the percentage of a function's time in traced and eager calls. */
double tf_function_expensive_percent(const TfFunction *function);

#endif
