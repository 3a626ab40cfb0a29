// SPDX-License-Identifier: Apache-2.0
/* compilations.c: the tables compilations and recompilations: what was compiled during the capture,
 * how long it took, and why a function was compiled again.
 *
 *   SELECT function, duration_us, differs FROM compilations('logs');
 *   SELECT function, program_count, differs FROM recompilations('logs'); */
#include "../loader/analysis/steps/compilations.h"

#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#define FUNCTION_DOC                                                                               \
    "function", "TEXT", NULL,                                                                      \
        "name of the function: NAME of the event PjitFunction(NAME) around the compilation, else " \
        "what follows `jit_` in hlo_module; NULL if neither is known",                             \
        "XEventMetadata.name"
#define MODULE_OF_FUNCTION_DOC                                                                     \
    "hlo_module", "TEXT", NULL,                                                                    \
        "name of the HLO module, without (id): from the names of the compiler's events (NAME in "  \
        "XlaCompile:#module=NAME#) or their stats, else the name that JAX derives from the "       \
        "function, if the file has a program of this name; NULL if unknown",                       \
        "XEventMetadata.name; stats hlo_module, name"

/* ---- compilations ---- */

#define COMPILATIONS_COLUMNS(C)                                                                    \
    C(CO_RUN, RUN_DOC)                                                                             \
    C(CO_HOST, HOST_DOC)                                                                           \
    C(CO_FUNCTION, FUNCTION_DOC)                                                                   \
    C(CO_MODULE, MODULE_OF_FUNCTION_DOC)                                                           \
    C(CO_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the program that was compiled, decimal: of the file's programs of this name, the "    \
      "one that runs for the first time soonest after the compilation; NULL if it cannot be "      \
      "found (docs/semantics.md, Compilation)",                                                    \
      "stat program_id")                                                                           \
    C(CO_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the compilation from the start of the session, after tracing and lowering",        \
      "XEvent")                                                                                    \
    C(CO_START_US, START_US_DOC)                                                                   \
    C(CO_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the compilation, without tracing and lowering", "XEvent.duration_ps")           \
    C(CO_DURATION_US, DURATION_US_DOC)                                                             \
    C(CO_TRACING, "tracing_us", "REAL", "us",                                                      \
      "time before the compilation in which the thread traced the function, during the same "      \
      "call; NULL if no event records it",                                                         \
      "libprofsql")                                                                                \
    C(CO_LOWERING, "lowering_us", "REAL", "us",                                                    \
      "time before the compilation in which the thread lowered the function to a program for the " \
      "compiler, during the same call; NULL if no event records it",                               \
      "libprofsql")                                                                                \
    C(CO_STEP, "step", "INTEGER", NULL,                                                            \
      "step of the compilation (host_steps.group_id); NULL if it is in none", "libprofsql")        \
    C(CO_SHAPES, "parameter_shapes", "TEXT", NULL,                                                 \
      "shapes of the parameters of the program's entry computation, in order, separated by "       \
      "commas; NULL if program_id is NULL, the program has none or cannot be read",                \
      "HloInstructionProto.shape")                                                                 \
    C(CO_DIFFERS, "differs", "TEXT", NULL,                                                         \
      "parameters whose shapes differ from those of the previous program of this title: for "      \
      "each its number, its name if the program has one, and old -> new shape. If no parameter "   \
      "differs, the shapes of the result; if these are equal too, the shapes with their layouts "  \
      "(docs/semantics.md). NULL if no previous program is known",                                 \
      "libprofsql")                                                                                \
    C(CO_NAME, "name", "TEXT", NULL, "name of the compiler's event", "XEventMetadata.name")        \
    C(CO_LINE, "line", "TEXT", NULL, "thread that waits for the compilation or carries it out",    \
      "XLine.display_name, else XLine.name")                                                       \
    C(CO_LINE_ID, LINE_ID_DOC)                                                                     \
    C(CO_EVENT, EVENT_ID_DOC)                                                                      \
    C(CO_SOURCE, SOURCE_DOC)
enum { COMPILATIONS_COLUMNS(COLUMN_ENUM) };
static const Column compilations_columns[] = {COMPILATIONS_COLUMNS(COLUMN_DOC)};

static void compilations_list(RowCursor *c, RowList *list)
{
    const Compilations *all = host_compilations(c->host, &c->err);
    if (all && all->n) {
        *list = ROW_LIST(all->compilations, all->n);
        list->first_place = all->compilations[0].line->plane->host->first_line;
    }
}

static void result_ps(sqlite3_context *ctx, int64_t ps)
{
    if (ps >= 0) result_time(ctx, ps, true);
}

static void compilations_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Compilation *row = c->row;
    TextBuffer text = {0};
    switch (column) {
    case CO_FUNCTION:
        if (row->function.n) result_slice(ctx, row->function);
        break;
    case CO_MODULE: result_static(ctx, row->module); break;
    case CO_PROGRAM:
        if (row->program) result_id(ctx, row->program->program_id);
        break;
    case CO_START:
    case CO_START_US: result_time(ctx, row->start_ps, column == CO_START_US); break;
    case CO_DURATION:
    case CO_DURATION_US: result_time(ctx, row->duration_ps, column == CO_DURATION_US); break;
    case CO_TRACING: result_ps(ctx, row->tracing_ps); break;
    case CO_LOWERING: result_ps(ctx, row->lowering_ps); break;
    case CO_STEP: result_nonnegative(ctx, row->step); break;
    case CO_SHAPES:
        if (row->program && parameter_shapes(row->program, &text, &c->err))
            result_buffer(ctx, &text);
        text_free(&text);
        break;
    case CO_DIFFERS:
        if (row->program && row->program_before) {
            HloProgram *both[] = {row->program_before, row->program};
            if (parameter_differences(both, COUNT(both), &text, &c->err)) result_buffer(ctx, &text);
        }
        text_free(&text);
        break;
    case CO_NAME: result_text(ctx, row->name); break;
    case CO_LINE: result_text(ctx, line_label(row->line)); break;
    case CO_LINE_ID: sqlite3_result_int64(ctx, row->line->line_id); break;
    case CO_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)row->event); break;
    default: break;
    }
}

static bool compilations_shows(RowCursor *c, const void *item)
{
    const Compilation *row = item;
    c->place = row->event;
    return row_wanted(c, KEY_LINE_ID, row->line->line_id) &&
           row_wanted(c, KEY_EVENT_ID, (int64_t)row->event);
}

static const RowSource compilations_rows = {
    .list = compilations_list,
    .shows = compilations_shows,
    .column = compilations_column,
    .needs = NEED_EVENTS | NEED_HOST,
    .nothing = "no event of a host thread has the name of a compiler's event: nothing was compiled "
               "during the capture, or the profiler did not record it"};
const Table compilations_table = {
    "compilations",
    "one compilation during the capture: the function, the program that it became, and how its "
    "parameters differ from those of the previous program; ordered by host and start",
    compilations_columns,
    COUNT(compilations_columns),
    &row_table_module,
    &compilations_rows,
    20,
    "0.1.0",
    "SELECT function, duration_us, step, differs FROM compilations"};

/* ---- recompilations ---- */

#define RECOMPILATIONS_COLUMNS(C)                                                                  \
    C(RE_RUN, RUN_DOC)                                                                             \
    C(RE_HOST, HOST_DOC)                                                                           \
    C(RE_FUNCTION, FUNCTION_DOC)                                                                   \
    C(RE_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "name of the HLO module, as in compilations; of several names that differ only in the "      \
      "number that XLA appends (step.12, step.34), their title (step); NULL if unknown",           \
      "XEventMetadata.name; stats hlo_module, name")                                               \
    C(RE_PROGRAMS, "program_count", "INTEGER", "programs",                                         \
      "number of programs of this title in the file, compiled before or during the capture",       \
      "HloModuleProto.name")                                                                       \
    C(RE_COMPILATIONS, "compilation_count", "INTEGER", "compilations",                             \
      "number of compilations during the capture", "libprofsql")                                   \
    C(RE_DURATION, "duration_us", "REAL", "us",                                                    \
      "sum of compilations.duration_us; NULL if nothing was compiled during the capture",          \
      "libprofsql")                                                                                \
    C(RE_TRACING, "tracing_us", "REAL", "us",                                                      \
      "sum of compilations.tracing_us; NULL if none is known", "libprofsql")                       \
    C(RE_LOWERING, "lowering_us", "REAL", "us",                                                    \
      "sum of compilations.lowering_us; NULL if none is known", "libprofsql")                      \
    C(RE_DIFFERS, "differs", "TEXT", NULL,                                                         \
      "parameters whose shapes differ between the programs: for each its number, its name if a "   \
      "program has one, and the different shapes in the order of the programs (programs "          \
      "compiled before the capture come first, by id). If no parameter differs, the shapes of "    \
      "the result; if these are equal too, the shapes with their layouts (docs/semantics.md). "    \
      "NULL if the file has fewer than two of the programs, or one cannot be read",                \
      "HloInstructionProto.shape")                                                                 \
    C(RE_SOURCE, SOURCE_DOC)
enum { RECOMPILATIONS_COLUMNS(COLUMN_ENUM) };
static const Column recompilations_columns[] = {RECOMPILATIONS_COLUMNS(COLUMN_DOC)};

static void recompilations_list(RowCursor *c, RowList *list)
{
    const Compilations *all = host_compilations(c->host, &c->err);
    if (all) *list = ROW_LIST(all->modules, all->n_modules);
    list->first_place = (uint64_t)(c->host - c->host->run->hosts) << 32;
}

static void recompilations_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const CompiledModule *row = c->row;
    TextBuffer text = {0};
    switch (column) {
    case RE_FUNCTION:
        if (row->function.n) result_slice(ctx, row->function);
        break;
    case RE_MODULE: result_static(ctx, row->module); break;
    case RE_PROGRAMS: sqlite3_result_int64(ctx, (sqlite3_int64)row->n_programs); break;
    case RE_COMPILATIONS: sqlite3_result_int64(ctx, (sqlite3_int64)row->n_compilations); break;
    case RE_DURATION: result_ps(ctx, row->duration_ps); break;
    case RE_TRACING: result_ps(ctx, row->tracing_ps); break;
    case RE_LOWERING: result_ps(ctx, row->lowering_ps); break;
    case RE_DIFFERS:
        if (row->n_programs > 1 &&
            parameter_differences(row->programs, row->n_programs, &text, &c->err))
            result_buffer(ctx, &text);
        text_free(&text);
        break;
    default: break;
    }
}

static const RowSource recompilations_rows = {
    .list = recompilations_list,
    .column = recompilations_column,
    .nothing = "no name of an HLO module has several programs, and none was compiled several times "
               "during the capture"};
const Table recompilations_table = {
    "recompilations",
    "one function that was compiled several times, or has several programs in the file: how long "
    "that took, and the parameters whose shapes differ; for each host, longest compilation time "
    "first",
    recompilations_columns,
    COUNT(recompilations_columns),
    &row_table_module,
    &recompilations_rows,
    20,
    "0.1.0",
    "SELECT function, program_count, compilation_count, duration_us, differs FROM recompilations"};
