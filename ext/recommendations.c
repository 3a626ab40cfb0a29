// SPDX-License-Identifier: Apache-2.0
/* recommendations.c: the table recommendations: what to do about the findings of a run's analyses.
 *
 *   SELECT code, severity, statement FROM recommendations('logs') WHERE severity <> 'info'; */
#include "sentences.h"
SQLITE_EXTENSION_INIT3

#define RECOMMENDATIONS_COLUMNS(C)                                                                 \
    C(RC_RUN, RUN_DOC)                                                                             \
    C(RC_SECTION, "section", "TEXT", NULL,                                                         \
      "page of XProf that shows the recommendation: overview_page, input_pipeline_analyzer or "    \
      "smart_suggestion; more_suggestions: a smart suggestion rule that XProf contains but does "  \
      "not apply; libprofsql: a rule of this table (main devices idle for 50% of their spans or "  \
      "more; compiling takes 5% of all steps or more)",                                            \
      "libprofsql")                                                                                \
    C(RC_CODE, "code", "TEXT", NULL,                                                               \
      "subject of the recommendation. Findings: input, output, idle, kernel_launch, collectives, " \
      "all_others, precision_16bit, tf_function, eager_host, eager_device, outside_compilation, "  \
      "device_idle, compilation. Suggestions: XProf's name of the rule. Tips: what to read",       \
      "libprofsql")                                                                                \
    C(RC_SEVERITY, "severity", "TEXT", NULL,                                                       \
      "error: takes much of the time (XProf's verdict on the actual percentage is high; host for " \
      "input; yes on TPUs); warning: worth investigating (moderate; both for input; also all "     \
      "suggestions and findings without such a verdict); info: a tip, or nothing to do",           \
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

/* ---- tips that are always shown ---- */

typedef struct {
    enum { ALL_DEVICES, TPU_ALONE, BUT_TPU } of;
    const char *section, *code, *statement, *type, *link;
} Tip;

#define OVERVIEW "overview_page"
#define INPUT "input_pipeline_analyzer"
#define TF_DATA_API "https://www.tensorflow.org/api_docs/python/tf/data/"
#define FILE_READ                                                                                  \
    TF_DATA_API "Dataset#prefetch " TF_DATA_API "Dataset#interleave " TF_DATA_API                  \
                "TFRecordDataset#class_tfrecorddataset"

static const Tip tips[] = {
    {ALL_DEVICES, OVERVIEW, "faq", "Answers to common questions about profiles that look wrong",
     "faq", NULL},
    {ALL_DEVICES, OVERVIEW, "input_ops", "Host: which input ops take the most time", "host", INPUT},
    {ALL_DEVICES, OVERVIEW, "trace_events", "Host: what its threads do, and when", "host",
     "trace_viewer"},
    {TPU_ALONE, OVERVIEW, "op_profile", "Device: which ops take the most time", "device",
     "op_profile"},
    {BUT_TPU, OVERVIEW, "tf_ops", "Device: which ops take the most time", "device",
     "framework_op_stats"},
    {ALL_DEVICES, OVERVIEW, "trace_events", "Device: what it does, and when", "device",
     "trace_viewer"},
    {ALL_DEVICES, OVERVIEW, "data_performance_analysis",
     "How to analyze tf.data performance in a profile", "doc",
     "https://www.tensorflow.org/guide/data_performance_analysis"},
    {ALL_DEVICES, OVERVIEW, "data_performance", "How to make tf.data pipelines fast", "doc",
     "https://www.tensorflow.org/guide/data_performance"},
    {ALL_DEVICES, INPUT, "enqueue", "Enqueuing to the device: send fewer and larger pieces", NULL,
     NULL},
    {ALL_DEVICES, INPUT, "preprocessing",
     "Preprocessing: do more of it in parallel, or do it once before the run", NULL,
     TF_DATA_API "Dataset#map"},
    {ALL_DEVICES, INPUT, "advanced_file_read",
     "Advanced file reads: tune the prefetch size, the number of files and the read size", NULL,
     FILE_READ},
    {ALL_DEVICES, INPUT, "demanded_file_read", "Demanded file reads: prefetch instead", NULL,
     FILE_READ},
    {ALL_DEVICES, INPUT, "other", "Other input work: use tf.data to make it visible in the profile",
     NULL, "https://www.tensorflow.org/programmers_guide/datasets"},
};

/* ---- rows ---- */

typedef struct {
    const AdviceList *all;
    size_t at; /* next of the advices, then of the tips */
    const Advice *advice;
    const Tip *tip; /* one of the two is NULL */
} AdviceAt;

static bool recommendations_next(RowCursor *c)
{
    AdviceAt *at = c->state;
    if (c->from->run->hosts[0].reader->is_program) return false; /* a program was not executed */
    if (!c->started) at->all = run_advice(c->from->run, c->from->only, &c->err);
    if (!at->all) return false;
    c->place = at->at;
    at->advice = NULL;
    at->tip = NULL;
    if (at->at < at->all->n) {
        at->advice = &at->all->advices[at->at++];
        return true;
    }
    while (at->at < at->all->n + COUNT(tips)) {
        const Tip *tip = &tips[at->at++ - at->all->n];
        if (tip->of == (at->all->input->is_tpu ? BUT_TPU : TPU_ALONE)) continue;
        at->tip = tip;
        return true;
    }
    return false;
}

static const char *advice_section(enum AdviceKind kind)
{
    if (kind == ADVICE_DEVICE_IDLE || kind == ADVICE_COMPILATION) return "libprofsql";
    if (kind < RULE_BARRIER_CORES) return OVERVIEW;
    return kind == RULE_BARRIER_CORES ? "smart_suggestion" : "more_suggestions";
}

static const char *advice_code(const Advice *a)
{
    static const char *const findings[] = {[FINDING_INPUT] = "input",
                                           [FINDING_OUTPUT] = "output",
                                           [FINDING_IDLE] = "idle",
                                           [FINDING_LAUNCH] = "kernel_launch",
                                           [FINDING_COLLECTIVES] = "collectives",
                                           [FINDING_OTHERS] = "all_others"};
    static const char *const codes[] = {[ADVICE_PRECISION_16BIT] = "precision_16bit",
                                        [ADVICE_TF_FUNCTION] = "tf_function",
                                        [ADVICE_EAGER_HOST] = "eager_host",
                                        [ADVICE_EAGER_DEVICE] = "eager_device",
                                        [ADVICE_OUTSIDE_COMPILATION] = "outside_compilation",
                                        [ADVICE_DEVICE_IDLE] = "device_idle",
                                        [ADVICE_COMPILATION] = "compilation",
                                        [RULE_BARRIER_CORES] = "BarrierCoresRule",
                                        [RULE_STRAGGLER] = "StragglerRule",
                                        [RULE_COLLECTIVES] = "CollectiveBoundRule",
                                        [RULE_COMPUTE] = "ComputeBoundRule",
                                        [RULE_MEMORY] = "MemoryBoundRule",
                                        [RULE_DATA_SHUFFLE] = "DataShuffleBoundRule",
                                        [RULE_OFFLOAD] = "SparseCoreOffloadRule",
                                        [RULE_SPARSECORE] = "SparseCoreBoundRule",
                                        [RULE_TENSORCORE_IDLE] = "TensorCoreIdleRule",
                                        [RULE_DATA_TRANSFER] = "DataTransferBoundRule",
                                        [RULE_HOST_PROCESSING] = "HostProcessingBoundRule",
                                        [RULE_INPUT] = "InputBoundRule",
                                        [RULE_DEBUG_PRINT] = "DebugPrintRule"};
    return a->kind == ADVICE_FINDING ? findings[a->finding] : codes[a->kind];
}

static void advice_column(sqlite3_context *ctx, const AdviceAt *at, int column)
{
    const Advice *a = at->advice;
    switch (column) {
    case RC_SECTION: result_static(ctx, advice_section(a->kind)); break;
    case RC_CODE: result_static(ctx, advice_code(a)); break;
    case RC_SEVERITY:
        result_static(ctx, a->kind == ADVICE_FINDING ? finding_severity(at->all->input, a->finding)
                                                     : "warning");
        break;
    case RC_STATEMENT: result_owned(ctx, advice_statement(at->all, a)); break;
    default: break;
    }
}

static void tip_column(sqlite3_context *ctx, const Tip *tip, int column)
{
    switch (column) {
    case RC_SECTION: result_static(ctx, tip->section); break;
    case RC_CODE: result_static(ctx, tip->code); break;
    case RC_SEVERITY: result_static(ctx, "info"); break;
    case RC_STATEMENT: result_static(ctx, tip->statement); break;
    case RC_TIP_TYPE: result_static(ctx, tip->type); break;
    case RC_LINK: result_static(ctx, tip->link); break;
    default: break;
    }
}

static void recommendations_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const AdviceAt *at = c->state;
    if (at->advice)
        advice_column(ctx, at, column);
    else
        tip_column(ctx, at->tip, column);
}

static const RowSource recommendations_rows = {.next = recommendations_next,
                                               .state_bytes = sizeof(AdviceAt),
                                               .column = recommendations_column,
                                               .per_run = true,
                                               .needs = NEED_EVENTS};
const Table recommendations_table = {
    "recommendations",
    "one recommendation of XProf's pages, or of a rule like theirs: a finding and what to do about "
    "it, or a tip; the query advice shows what each problem costs",
    recommendations_columns,
    COUNT(recommendations_columns),
    &row_table_module,
    &recommendations_rows,
    15,
    "0.1.0",
    "SELECT section, severity, statement FROM recommendations"};
