// SPDX-License-Identifier: Apache-2.0
/* compilations.h: the compilations that host threads record: which function was compiled, which
 * program it became, and how that differs from the program that it had before. */
#ifndef PROF_COMPILATIONS_H
#define PROF_COMPILATIONS_H

#include "../../base/text_buffer.h"
#include "../../base/tf_op.h"
#include "../../format/hlo.h"

/* One compilation: an event of a compiler that is not part of another compilation. */
typedef struct {
    const Line *line;
    uint64_t event; /* ordinal in the run */
    const Text *name;
    int64_t start_ps, duration_ps;
    int64_t step; /* -1 if none */
    /* Time before it in which the thread traced and lowered the function; -1 if not recorded. */
    int64_t tracing_ps, lowering_ps;
    Slice function;      /* empty if unknown */
    const char *module;  /* name of the HLO module; NULL: unknown */
    HloProgram *program; /* in the host's list; NULL: the file has none with the name, or several */
    HloProgram *program_before; /* program of this title before it; NULL if unknown */
} Compilation;

/* The compilations and programs with one module title, which is a module's name without the number
 * that XLA appends (".12"), or the compilations of a function whose modules are unknown. */
typedef struct {
    const char *module; /* the name, or the title of several names; NULL: unknown */
    Slice function;
    size_t n_compilations;
    int64_t duration_ps, tracing_ps, lowering_ps; /* sums; -1 if none is recorded */
    HloProgram **programs; /* those compiled before the capture, by id; then those compiled during
                              it, in order */
    size_t n_programs;
} CompiledModule;

typedef struct {
    Compilation *compilations; /* by start */
    size_t n;
    /* those with several programs or compilations, the longest compiled first */
    CompiledModule *modules;
    size_t n_modules;
    Arena arena;
} Compilations;
/* Returns the compilations of a host. */
const Compilations *host_compilations(Host *host, ProfErr *err);

/* Appends the shapes of the entry computation's parameters: "f32[8,128], s32[]". Returns false if
 * the program cannot be parsed or has no entry computation, or with err set. */
bool parameter_shapes(HloProgram *program, TextBuffer *out, ProfErr *err);
/* Appends the parameters whose shapes differ between n programs, and the shapes: "parameter 0 (x):
 * f32[1,128] -> f32[2,128]". If none differs, appends the shapes of the results; if these are equal
 * too, both with layouts. Returns false if a program cannot be parsed, or with err set. */
bool parameter_differences(HloProgram *const *programs, size_t n, TextBuffer *out, ProfErr *err);

#endif
