// SPDX-License-Identifier: Apache-2.0
/* recommendations.c: the table recommendations: what to do about what a run's analyses find.
 *
 *   SELECT code, severity, statement FROM recommendations('logs') WHERE severity <> 'info'; */
#include "findings.h"

#include "../loader/analysis/communication/device_time.h"
#include "../loader/analysis/ops/tf_functions.h"

#include <math.h>
SQLITE_EXTENSION_INIT3

#define RECOMMENDATIONS_COLUMNS(C)                                                                 \
    C(RC_RUN, RUN_DOC)                                                                             \
    C(RC_SECTION, "section", "TEXT", NULL,                                                         \
      "page of XProf that shows the recommendation: overview_page, "                               \
      "input_pipeline_analyzer or smart_suggestion; more_suggestions: a smart suggestion "         \
      "rule that XProf contains but does not apply; libprofsql: a rule of this table (main "       \
      "devices idle for 50% of their spans or more; compiling takes 5% of all steps or more)",     \
      "libprofsql")                                                                                \
    C(RC_CODE, "code", "TEXT", NULL,                                                               \
      "subject of the recommendation. Findings: input, output, idle, kernel_launch, collectives, " \
      "all_others, precision_16bit, tf_function, eager_host, eager_device, outside_compilation, "  \
      "device_idle, compilation. Suggestions: XProf's name of the rule. Tips: what to read",       \
      "libprofsql")                                                                                \
    C(RC_SEVERITY, "severity", "TEXT", NULL,                                                       \
      "error: takes much of the time; warning: worth investigating; info: a tip, or nothing to "   \
      "do",                                                                                        \
      "libprofsql")                                                                                \
    C(RC_STATEMENT, "statement", "TEXT", NULL, "finding or recommended action, as a sentence",     \
      "libprofsql")                                                                                \
    C(RC_TIP_TYPE, "tip_type", "TEXT", NULL,                                                       \
      "type of the tip: faq, host, device or doc (non_bottleneck_tip_types in overview lists the " \
      "types that would not help); NULL for findings and for tips of the input pipeline page",     \
      "overview_page tip_type")                                                                    \
    C(RC_LINK, "link", "TEXT", NULL,                                                               \
      "XProf tool, or documentation pages separated by spaces; NULL if there is none",             \
      "overview_page link")                                                                        \
    C(RC_SOURCE, SOURCE_DOC)
enum { RECOMMENDATIONS_COLUMNS(COLUMN_ENUM) };
static const Column recommendations_columns[] = {RECOMMENDATIONS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const char *section, *code, *severity, *statement, *tip_type, *link;
} Recommendation;

enum { MAX_RECOMMENDATIONS = 40 };

typedef struct {
    Recommendation rows[MAX_RECOMMENDATIONS];
    size_t n;
    Arena arena;
    ProfErr *err;
} Recommendations;

static const char overview[] = "overview_page", input_page[] = "input_pipeline_analyzer",
                  own[] = "libprofsql";

static void add(Recommendations *r, Recommendation row)
{
    if (r->n < MAX_RECOMMENDATIONS) r->rows[r->n++] = row;
}

/* The statement is from sqlite3_mprintf() and freed; NULL: no memory. */
static void add_made(Recommendations *r, const char *section, const char *code,
                     const char *severity, char *statement)
{
    size_t n = statement ? strlen(statement) + 1 : 0;
    char *copy = statement ? arena_alloc(&r->arena, n) : NULL;
    if (copy)
        memcpy(copy, statement, n),
            add(r, (Recommendation){section, code, severity, copy, NULL, NULL});
    else
        prof_nomem(r->err);
    sqlite3_free(statement);
}

/* ---- findings ---- */

static void add_findings(Recommendations *r, const InputAnalysis *a)
{
    static const char *const codes[] = {[FINDING_INPUT] = "input",
                                        [FINDING_OUTPUT] = "output",
                                        [FINDING_IDLE] = "idle",
                                        [FINDING_LAUNCH] = "kernel_launch",
                                        [FINDING_COLLECTIVES] = "collectives",
                                        [FINDING_OTHERS] = "all_others"};
    for (int f = 0; f < N_FINDINGS; f++)
        if (finding_holds(a, f))
            add_made(r, overview, codes[f], finding_severity(a, f), finding_statement(a, f));
}

enum {
    EXPENSIVE_CALLS = 20,
    MUCH_EAGER = 10,
    MUCH_OUTSIDE = 5,
    QUOTED_FUNCTIONS = 3
}; /* percent, and functions that XProf names */

static void add_precision(Recommendations *r, Run *run, Host *only)
{
    const StepDb *steps = run_steps(run, only, r->err);
    if (steps && precision_is_low(steps))
        add_made(r, overview, "precision_16bit", "warning",
                 sqlite3_mprintf("Only %.1f%% of the devices' compute time uses 16-bit numbers. "
                                 "If accuracy allows, use bfloat16 or float16, which are faster.",
                                 precision_16bit_percent(steps)));
}

/* The most expensive function that comes after `last` in the order by falling share; NULL: none. */
static const TfFunction *next_expensive(const TfFunctions *functions, const TfFunction *last)
{
    const TfFunction *best = NULL;
    for (size_t i = 0; i < functions->n; i++) {
        const TfFunction *f = &functions->functions[i];
        double share = tf_function_expensive_percent(f),
               limit = last ? tf_function_expensive_percent(last) : 101;
        if (share < EXPENSIVE_CALLS || share > limit || (last && share == limit && f <= last))
            continue;
        if (!best || share > tf_function_expensive_percent(best)) best = f;
    }
    return best;
}

static void add_functions(Recommendations *r, Run *run, Host *only)
{
    const TfFunctions *functions = run_tf_functions(run, only, r->err);
    const TfFunction *f = NULL;
    for (int i = 0; functions && i < QUOTED_FUNCTIONS && (f = next_expensive(functions, f)); i++)
        add_made(r, overview, "tf_function", "warning",
                 sqlite3_mprintf("%.1f%% of the time in the function '%s' is tracing or eager "
                                 "execution. Query tf_functions to see how often it was retraced.",
                                 tf_function_expensive_percent(f), f->name->text));
}

static void add_ops(Recommendations *r, const OpStats *stats)
{
    double host = eager_percent(&stats->host), device = eager_percent(&stats->framework),
           outside = outside_compilation_percent(stats);
    if (host > MUCH_EAGER)
        add_made(r, overview, "eager_host", "warning",
                 sqlite3_mprintf("%.1f%% of the host's op time is eager execution. "
                                 "Use tf.function to compile it into graphs.",
                                 host));
    if (device > MUCH_EAGER)
        add_made(r, overview, "eager_device", "warning",
                 sqlite3_mprintf("%.1f%% of the devices' op time is eager execution. "
                                 "Use tf.function to compile it into graphs.",
                                 device));
    if (outside > MUCH_OUTSIDE)
        add_made(r, overview, "outside_compilation", "warning",
                 sqlite3_mprintf("%.1f%% of the devices' op time is in ops that "
                                 "run outside the compiled program, on the host.",
                                 outside));
}

static void add_suggestions(Recommendations *r, Run *run, Host *only)
{
    Suggestion found[MAX_SUGGESTIONS];
    size_t n = find_suggestions(run, only, found, r->err);
    for (size_t i = 0; i < n; i++)
        add_made(r, found[i].shown ? "smart_suggestion" : "more_suggestions", found[i].code,
                 "warning", found[i].statement);
}

/* ---- what is always there ---- */

#define TF_DATA_API "https://www.tensorflow.org/api_docs/python/tf/data/"
#define READER TF_DATA_API "TFRecordDataset#class_tfrecorddataset"

static void add_tips(Recommendations *r, const InputAnalysis *a)
{
    const char *page = a->is_tpu ? "op_profile" : "framework_op_stats";
    const Recommendation tips[] = {
        {overview, "faq", "info", "Answers to common questions about profiles that look wrong",
         "faq", NULL},
        {overview, "input_ops", "info", "Host: which input ops take the most time", "host",
         "input_pipeline_analyzer"},
        {overview, "trace_events", "info", "Host: what its threads do, and when", "host",
         "trace_viewer"},
        {overview, a->is_tpu ? "op_profile" : "tf_ops", "info",
         "Device: which ops take the most time", "device", page},
        {overview, "trace_events", "info", "Device: what it does, and when", "device",
         "trace_viewer"},
        {overview, "data_performance_analysis", "info",
         "How to analyze tf.data performance "
         "in a profile",
         "doc", "https://www.tensorflow.org/guide/data_performance_analysis"},
        {overview, "data_performance", "info", "How to make tf.data pipelines fast", "doc",
         "https://www.tensorflow.org/guide/data_performance"},
        {input_page, "enqueue", "info", "Enqueuing to the device: send fewer and larger pieces",
         NULL, NULL},
        {input_page, "preprocessing", "info",
         "Preprocessing: do more of it in "
         "parallel, or do it once before the run",
         NULL, TF_DATA_API "Dataset#map"},
        {input_page, "advanced_file_read", "info",
         "Advanced file reads: tune the prefetch "
         "size, the number of files and the read size",
         NULL, TF_DATA_API "Dataset#prefetch " TF_DATA_API "Dataset#interleave " READER},
        {input_page, "demanded_file_read", "info", "Demanded file reads: prefetch instead", NULL,
         TF_DATA_API "Dataset#prefetch " TF_DATA_API "Dataset#interleave " READER},
        {input_page, "other", "info",
         "Other input work: use tf.data to "
         "make it visible in the profile",
         NULL, "https://www.tensorflow.org/programmers_guide/datasets"},
    };
    for (size_t i = 0; i < COUNT(tips); i++) add(r, tips[i]);
}

/* ---- rules of our own, which need no verdict on steps ---- */

enum { MUCH_IDLE = 50, MUCH_COMPILING = 5 }; /* percent */

static void add_idle(Recommendations *r, Run *run, Host *only)
{
    const DeviceTimes *times = run_device_times(run, only, r->err);
    double span = 0, busy = 0;
    int n = 0;
    for (size_t i = 0; times && i < times->n_devices; i++)
        if (times->devices[i].has_work && times->devices[i].is_main)
            n++, span += (double)times->devices[i].span_ps,
                busy += (double)times->devices[i].busy_ps;
    double idle = 100 * safe_div(span - busy, span);
    if (idle >= MUCH_IDLE)
        add_made(r, own, "device_idle", "warning",
                 sqlite3_mprintf(
                     "Devices are idle for %.1f%% of the time from their first to their last "
                     "work (%d devices with work). Query device_time for each device, and "
                     "idle_gaps for the longest gaps and what runs before and after them.",
                     idle, n));
}

static double compiling_ms(const Step *step)
{
    double most = 0;
    for (size_t i = 0; i < step->n_cores; i++) {
        uint64_t ps[N_STEP_CATEGORIES];
        step_actual_categories(&step->cores[i], ps);
        most = fmax(most, (double)ps[STEP_COMPILATION] / 1e9);
    }
    return most;
}

/* Also in the steps that averages leave out: programs are compiled in the first one, often. */
static void add_compiling(Recommendations *r, Run *run, Host *only)
{
    const StepDb *all = run_all_steps(run, only, r->err),
                 *steps = all && !all->n_steps ? run_marked_steps(run, only, r->err) : all;
    const Step *worst = NULL;
    double total = 0, length = 0;
    int n = 0;
    for (size_t i = 0; steps && i < steps->n_steps; i++) {
        const Step *step = &steps->steps[i];
        double ms = compiling_ms(step);
        length += (double)step->duration_ps / 1e9, total += ms, n += ms > 0;
        if (ms > 0 && (!worst || ms > compiling_ms(worst))) worst = step;
    }
    if (worst && 100 * total >= MUCH_COMPILING * length)
        add_made(r, own, "compilation", "warning",
                 sqlite3_mprintf(
                     "Programs are compiled in %d of %d steps, for %.1f ms (%.1f%% of the steps' "
                     "time). The step that starts at %.3f ms compiles longest: %.1f ms. Run each "
                     "shape once before measuring, and keep input shapes the same in all steps.",
                     n, (int)steps->n_steps, total, 100 * total / length,
                     (double)(int64_t)worst->begin_ps / 1e9, compiling_ms(worst)));
}

/* ---- rows ---- */

static void recommendations_free(void *result)
{
    Recommendations *r = result;
    arena_free(&r->arena);
    prof_free(r);
}

static void *recommendations_make(Run *run, Host *only, ProfErr *err)
{
    const InputAnalysis *a = run_input(run, only, err);
    const OpStats *stats = a ? run_op_stats(run, only, err) : NULL;
    Recommendations *r = stats ? prof_alloc(sizeof *r) : NULL;
    if (stats && !r) prof_nomem(err);
    if (!r) return NULL;
    r->err = err;
    add_findings(r, a);
    add_precision(r, run, only);
    add_functions(r, run, only);
    add_ops(r, stats);
    add_suggestions(r, run, only);
    add_idle(r, run, only);
    add_compiling(r, run, only);
    add_tips(r, a);
    if (!err->code) return r;
    recommendations_free(r);
    return NULL;
}

static void recommendations_list(RowCursor *c, RowList *list)
{
    static const Analysis analysis = {recommendations_make, recommendations_free,
                                      NEEDS_HOSTS_IN_TURN};
    if (c->from->run->hosts[0].reader->is_program) return; /* nothing ran */
    const Recommendations *all = run_analysis(c->from->run, c->from->only, &analysis, &c->err);
    if (all) *list = ROW_LIST(all->rows, all->n);
}

static void recommendations_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Recommendation *r = c->row;
    const char *const texts[] = {
        [RC_SECTION] = r->section,     [RC_CODE] = r->code,         [RC_SEVERITY] = r->severity,
        [RC_STATEMENT] = r->statement, [RC_TIP_TYPE] = r->tip_type, [RC_LINK] = r->link};
    if (column < (int)COUNT(texts) && texts[column])
        sqlite3_result_text(ctx, texts[column], -1, SQLITE_STATIC);
}

static const RowSource recommendations_rows = {.list = recommendations_list,
                                               .column = recommendations_column,
                                               .per_run = true,
                                               .needs = NEED_EVENTS};
const Table recommendations_table = {"recommendations",
                                     "one recommendation: a finding of an analysis "
                                     "and what to do about it, or one of XProf's tips",
                                     recommendations_columns,
                                     COUNT(recommendations_columns),
                                     &row_table_module,
                                     &recommendations_rows,
                                     15};
