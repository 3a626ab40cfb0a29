// SPDX-License-Identifier: Apache-2.0
/* input_pipeline.c: the table input_pipeline: is the run waiting for its input?
 *
 *   SELECT input_percent, input_verdict, input_statement, next_step FROM input_pipeline('logs'); */
#include "sentences.h"

#include <math.h>
SQLITE_EXTENSION_INIT3

#define SHARE_DOCS(C, ID, name, of, verdict_doc)                                                   \
    C(ID##_PERCENT, name "_percent", "REAL", "percent 0..100", of, "input_pipeline_analyzer")      \
    C(ID##_VERDICT, name "_verdict", "TEXT", NULL, verdict_doc, "input_pipeline_analyzer")         \
    C(ID##_STATEMENT, name "_statement", "TEXT", NULL,                                             \
      "finding as a sentence, based on the `_actual` columns; NULL if there is none",              \
      "libprofsql")
#define INPUT_PIPELINE_COLUMNS(C)                                                                  \
    C(IP_RUN, RUN_DOC)                                                                             \
    C(IP_HARDWARE, "hardware", "TEXT", NULL,                                                       \
      "kind of hardware of the run: UNKNOWN_HARDWARE, CPU_ONLY, GPU or TPU",                       \
      "input_pipeline_analyzer hardware_type")                                                     \
    C(IP_STEPS, "step_count", "INTEGER", NULL, "number of complete steps", "libprofsql")           \
    C(IP_TIME, "step_time_ms_average", "REAL", "ms",                                               \
      "average step time; the time of a step is that of its longest core; NULL without steps",     \
      "input_pipeline_analyzer steptime_ms_average")                                               \
    C(IP_DEVIATION, "step_time_ms_deviation", "REAL", "ms",                                        \
      "sample standard deviation of the step time; NULL for fewer than two steps",                 \
      "input_pipeline_analyzer steptime_ms_standard_deviation")                                    \
    C(IP_MINIMUM, "step_time_ms_min", "REAL", "ms", "shortest step time; NULL without steps",      \
      "input_pipeline_analyzer steptime_ms_minimum")                                               \
    C(IP_MAXIMUM, "step_time_ms_max", "REAL", "ms", "longest step time; NULL without steps",       \
      "input_pipeline_analyzer steptime_ms_maximum")                                               \
    SHARE_DOCS(C, IP_INPUT, "input",                                                               \
               "share of step time spent on input. Without TPUs, XProf looks at the first host "   \
               "alone for this and the other shares; NULL without steps on it",                    \
               "host: input bound (20% or more of the step time), both: partly or perhaps input "  \
               "bound, device: not input bound, unknown: no steps")                                \
    SHARE_DOCS(C, IP_OUTPUT, "output",                                                             \
               "share of step time spent on copying results from the device; NULL without steps",  \
               "host: output takes 20% or more of the step time, both: 5% or more, device: "       \
               "below 5%, unknown: no steps")                                                      \
    SHARE_DOCS(                                                                                    \
        C, IP_IDLE, "idle",                                                                        \
        "on TPU: share of step time in which TensorCores are idle; otherwise: share of step time " \
        "that is not input, output, device compute or collectives; NULL where input_percent is",   \
        "yes if the idle time is 3% or more of the step time, else no; NULL if not on TPU")        \
    C(IP_COMPUTE, "compute_percent", "REAL", "percent 0..100",                                     \
      "share of step time in which devices compute; on TPU, all that is not input, output or "     \
      "idle; NULL where input_percent is",                                                         \
      "input_pipeline_analyzer")                                                                   \
    SHARE_DOCS(C, IP_LAUNCH, "kernel_launch",                                                      \
               "share of step time spent on launching kernels; NULL without steps and on TPU",     \
               "high: 15% or more of the step time, moderate: 3% or more, no: below 3%; NULL on "  \
               "TPU")                                                                              \
    SHARE_DOCS(C, IP_COLLECTIVES, "collectives",                                                   \
               "share of step time spent on collectives; on TPU, of the ops with a stat "          \
               "all_reduce_unique_id, on the core with the most of them (XProf adds it to a step " \
               "time that includes it already); NULL where input_percent is",                      \
               "high: 15% or more of the step time, moderate: 3% or more, no: below 3%; on TPU "   \
               "yes if at least 6 percentage points above input_percent, else no")                 \
    SHARE_DOCS(C, IP_OTHERS, "all_others",                                                         \
               "share of step time in which no activity is known; NULL without steps and on TPU",  \
               "high: 15% or more of the step time, moderate: 3% or more, no: below 3%; NULL on "  \
               "TPU")                                                                              \
    C(IP_STEPS_ACTUAL, "step_count_actual", "INTEGER", NULL,                                       \
      "number of complete steps; if XProf finds no step, number of steps that the framework "      \
      "marks",                                                                                     \
      "libprofsql")                                                                                \
    C(IP_PERCENT_ACTUAL, "input_percent_actual", "REAL", "percent 0..100",                         \
      "input_percent, corrected. GPU: includes activity on host threads and copies under all "     \
      "their names. TPU: counts each all-reduce once. If XProf finds no step: share of the steps " \
      "that the framework marks. NULL without steps",                                              \
      "libprofsql")                                                                                \
    C(IP_VERDICT_ACTUAL, "input_verdict_actual", "TEXT", NULL,                                     \
      "input_verdict computed from input_percent_actual (and from all_others_percent_actual, but " \
      "not for steps that only the framework marks); input_statement is based on it",              \
      "libprofsql")                                                                                \
    C(IP_TF_DATA, "uses_tf_data", "INTEGER", "0 or 1", "1: ops of a tf.data pipeline take time",   \
      "input_pipeline_analyzer")                                                                   \
    C(IP_OUTPUT_ACTUAL, "output_percent_actual", "REAL", "percent 0..100",                         \
      "output_percent, corrected as described for input_percent_actual; NULL without steps",       \
      "libprofsql")                                                                                \
    C(IP_COMPUTE_ACTUAL, "compute_percent_actual", "REAL", "percent 0..100",                       \
      "compute_percent, corrected as described for input_percent_actual; NULL without steps",      \
      "libprofsql")                                                                                \
    C(IP_LAUNCH_ACTUAL, "kernel_launch_percent_actual", "REAL", "percent 0..100",                  \
      "kernel_launch_percent, corrected as described for input_percent_actual (XProf never "       \
      "recognizes launches); NULL without steps and on TPU",                                       \
      "libprofsql")                                                                                \
    C(IP_LAUNCH_VERDICT_ACTUAL, "kernel_launch_verdict_actual", "TEXT", NULL,                      \
      "kernel_launch_verdict computed from kernel_launch_percent_actual; NULL on TPU and if that " \
      "is unknown",                                                                                \
      "libprofsql")                                                                                \
    C(IP_COLLECTIVES_ACTUAL, "collectives_percent_actual", "REAL", "percent 0..100",               \
      "collectives_percent, corrected as described for input_percent_actual; NULL without steps",  \
      "libprofsql")                                                                                \
    C(IP_OTHERS_ACTUAL, "all_others_percent_actual", "REAL", "percent 0..100",                     \
      "all_others_percent, corrected as described for input_percent_actual; NULL without steps "   \
      "and on TPU",                                                                                \
      "libprofsql")                                                                                \
    C(IP_NEXT, "next_step", "TEXT", NULL, "what to look at next", "libprofsql")                    \
    C(IP_SOURCE, SOURCE_DOC)
enum { INPUT_PIPELINE_COLUMNS(COLUMN_ENUM) };
static const Column input_pipeline_columns[] = {INPUT_PIPELINE_COLUMNS(COLUMN_DOC)};

static void input_pipeline_list(RowCursor *c, RowList *list)
{
    const InputAnalysis *a = run_input(c->from->run, c->from->only, &c->err);
    if (a) *list = ROW_LIST(a, 1);
}

static void finding_column(sqlite3_context *ctx, const InputAnalysis *a, enum Finding finding,
                           int part)
{
    const char *verdict = finding_verdict(a, finding);
    if (part == 0) sqlite3_result_double(ctx, finding_percent(a, finding));
    if (part == 1) result_static(ctx, verdict);
    if (part == 2 && finding_holds(a, finding)) result_owned(ctx, finding_statement(a, finding));
}

static void input_pipeline_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    static const struct {
        int first;
        enum Finding finding;
    } findings[] = {{IP_INPUT_PERCENT, FINDING_INPUT},
                    {IP_OUTPUT_PERCENT, FINDING_OUTPUT},
                    {IP_IDLE_PERCENT, FINDING_IDLE},
                    {IP_LAUNCH_PERCENT, FINDING_LAUNCH},
                    {IP_COLLECTIVES_PERCENT, FINDING_COLLECTIVES},
                    {IP_OTHERS_PERCENT, FINDING_OTHERS}};
    const InputAnalysis *a = c->row;
    for (size_t i = 0; i < COUNT(findings); i++)
        if (column >= findings[i].first && column < findings[i].first + 3)
            finding_column(ctx, a, findings[i].finding, column - findings[i].first);
    switch (column) {
    case IP_HARDWARE: result_static(ctx, hardware_names[a->hardware]); break;
    case IP_STEPS: sqlite3_result_int64(ctx, (sqlite3_int64)a->n_steps); break;
    case IP_TIME: sqlite3_result_double(ctx, a->n_steps ? a->step_ms.average : NAN); break;
    case IP_DEVIATION:
        sqlite3_result_double(ctx, a->n_steps > 1 ? a->step_ms.deviation : NAN);
        break;
    case IP_MINIMUM: sqlite3_result_double(ctx, a->n_steps ? a->step_ms.minimum : NAN); break;
    case IP_MAXIMUM: sqlite3_result_double(ctx, a->n_steps ? a->step_ms.maximum : NAN); break;
    case IP_COMPUTE: sqlite3_result_double(ctx, a->compute_percent); break;
    case IP_STEPS_ACTUAL: sqlite3_result_int64(ctx, (sqlite3_int64)a->n_actual_steps); break;
    case IP_PERCENT_ACTUAL:
        sqlite3_result_double(ctx, finding_percent_actual(a, FINDING_INPUT));
        break;
    case IP_OUTPUT_ACTUAL:
        sqlite3_result_double(ctx, finding_percent_actual(a, FINDING_OUTPUT));
        break;
    case IP_COMPUTE_ACTUAL:
        sqlite3_result_double(ctx, a->actual_percent[STEP_DEVICE_COMPUTE]);
        break;
    case IP_LAUNCH_ACTUAL:
        sqlite3_result_double(ctx, finding_percent_actual(a, FINDING_LAUNCH));
        break;
    case IP_LAUNCH_VERDICT_ACTUAL:
        if (!isnan(finding_percent_actual(a, FINDING_LAUNCH)))
            result_static(ctx, share_verdict_names[a->actual_launch]);
        break;
    case IP_COLLECTIVES_ACTUAL:
        sqlite3_result_double(ctx, finding_percent_actual(a, FINDING_COLLECTIVES));
        break;
    case IP_OTHERS_ACTUAL:
        sqlite3_result_double(ctx, finding_percent_actual(a, FINDING_OTHERS));
        break;
    case IP_VERDICT_ACTUAL: result_static(ctx, input_verdict_actual(a)); break;
    case IP_TF_DATA: sqlite3_result_int(ctx, a->uses_tf_data); break;
    case IP_NEXT: result_static(ctx, next_step_statement(a)); break;
    default: break;
    }
}

static const RowSource input_pipeline_rows = {
    .list = input_pipeline_list,
    .column = input_pipeline_column,
    .per_run = true,
};
const Table input_pipeline_table = {
    "input_pipeline",
    "one run: whether it waits for its input, by XProf's rules",
    input_pipeline_columns,
    COUNT(input_pipeline_columns),
    &row_table_module,
    &input_pipeline_rows,
    1,
    "0.1.0",
    "SELECT step_count, step_time_ms_average, input_percent, input_verdict FROM input_pipeline"};
