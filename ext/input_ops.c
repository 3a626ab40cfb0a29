// SPDX-License-Identifier: Apache-2.0
/* input_ops.c: the tables input_ops and input_breakdown: what the host does to provide input.
 *
 *   SELECT operation, category, total_self_time_ms, self_time_fraction
 *     FROM input_ops('logs') LIMIT 10; */
#include "../loader/analysis/input/input.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- input_ops ---- */

#define INPUT_OPS_COLUMNS(C)                                                                       \
    C(IO_RUN, RUN_DOC)                                                                             \
    C(IO_OPERATION, "operation", "TEXT", NULL,                                                     \
      "name of the op: a tf.data iterator with its enclosing iterators, a transfer, or a stage "   \
      "of an input pipeline",                                                                      \
      "input_pipeline_analyzer opName")                                                            \
    C(IO_CATEGORY, "category", "TEXT", NULL,                                                       \
      "category of the op: Enqueue, Demanded file read, Advanced file read, Preprocessing or "     \
      "Unknown",                                                                                   \
      "input_pipeline_analyzer category")                                                          \
    C(IO_OCCURRENCES, "occurrences", "INTEGER", NULL, "number of times that the op ran",           \
      "input_pipeline_analyzer count")                                                             \
    C(IO_TOTAL, "total_time_ms", "REAL", "ms",                                                     \
      "total time from start to end of the op, nested ops included",                               \
      "input_pipeline_analyzer timeInMs")                                                          \
    C(IO_TOTAL_FRACTION, "total_time_fraction", "REAL", "fraction",                                \
      "total time of the op divided by the sum of the self times of all input ops; may be above "  \
      "1",                                                                                         \
      "input_pipeline_analyzer timeInPercent")                                                     \
    C(IO_SELF, "total_self_time_ms", "REAL", "ms", "total time of the op without nested ops",      \
      "input_pipeline_analyzer selfTimeInMs")                                                      \
    C(IO_SELF_FRACTION, "self_time_fraction", "REAL", "fraction 0..1",                             \
      "self time of the op divided by the sum of the self times of all input ops",                 \
      "input_pipeline_analyzer selfTimeInPercent")                                                 \
    C(IO_TIME_PS, "time_ps", "INTEGER", "ps", "total_time_ms as an exact number of picoseconds",   \
      "OpMetrics.time_ps")                                                                         \
    C(IO_SELF_PS, "self_ps", "INTEGER", "ps",                                                      \
      "total_self_time_ms as an exact number of picoseconds", "OpMetrics.self_time_ps")            \
    C(IO_SOURCE, SOURCE_DOC)
enum { INPUT_OPS_COLUMNS(COLUMN_ENUM) };
static const Column input_ops_columns[] = {INPUT_OPS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const InputAnalysis *input;
} InputOps;

static void input_ops_list(RowCursor *c, RowList *list)
{
    const InputAnalysis *a = run_input(c->from->run, c->from->only, &c->err);
    if (!a) return;
    *list = ROW_LIST(a->ops, a->n_ops);
    ((InputOps *)c->state)->input = a;
}

/* Converts to percent and back, as XProf does. */
static double fraction_of(uint64_t ps, uint64_t all_ps)
{
    return 100 * safe_div((double)ps, (double)all_ps) / 100;
}

static void input_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const InputAnalysis *a = ((InputOps *)c->state)->input;
    const InputOp *o = c->row;
    switch (column) {
    case IO_OPERATION: result_text(ctx, o->op->name); break;
    case IO_CATEGORY: result_static(ctx, input_category_names[o->category]); break;
    case IO_OCCURRENCES: sqlite3_result_int64(ctx, o->op->occurrences); break;
    case IO_TOTAL: sqlite3_result_double(ctx, (double)o->op->time_ps / 1e9); break;
    case IO_TOTAL_FRACTION:
        sqlite3_result_double(ctx, fraction_of(o->op->time_ps, a->ops_self_ps));
        break;
    case IO_SELF: sqlite3_result_double(ctx, (double)o->op->self_ps / 1e9); break;
    case IO_SELF_FRACTION:
        sqlite3_result_double(ctx, fraction_of(o->op->self_ps, a->ops_self_ps));
        break;
    case IO_TIME_PS: result_u64(ctx, o->op->time_ps); break;
    case IO_SELF_PS: result_u64(ctx, o->op->self_ps); break;
    default: break;
    }
}

static const RowSource input_ops_rows = {.list = input_ops_list,
                                         .state_bytes = sizeof(InputOps),
                                         .column = input_ops_column,
                                         .per_run = true,
                                         .nothing =
                                             "no op on host threads reads, prepares or sends input "
                                             "(tf.data iterators, infeed, input stages)",
                                         .needs = NEED_EVENTS | NEED_HOST};
const Table input_ops_table = {
    "input_ops",
    "one op of the host's input pipelines; longest self time first",
    input_ops_columns,
    COUNT(input_ops_columns),
    &row_table_module,
    &input_ops_rows,
    100,
    "0.1.0",
    "SELECT operation, category, occurrences, total_self_time_ms FROM input_ops"};

/* ---- input_breakdown ---- */

#define INPUT_BREAKDOWN_COLUMNS(C)                                                                 \
    C(IB_RUN, RUN_DOC)                                                                             \
    C(IB_CATEGORY, "category", "TEXT", NULL,                                                       \
      "part of the input time: Enqueue, Demanded file read, Advanced file read, Preprocessing or " \
      "Unclassified",                                                                              \
      "input_pipeline_analyzer input_time_breakdown")                                              \
    C(IB_TIME, "time_us", "REAL", "us",                                                            \
      "host time of this part, scaled to the time that the devices waited for input if transfers " \
      "to the devices are known; 0 if the part takes no time",                                     \
      "input_pipeline_analyzer input_time_breakdown")                                              \
    C(IB_FRACTION, "fraction", "REAL", "fraction 0..1",                                            \
      "time_us divided by the sum of the five parts; NULL if all five are 0", "libprofsql")        \
    C(IB_ADVICE, "advice", "TEXT", NULL, "what to try if this part takes much of the time",        \
      "libprofsql")                                                                                \
    C(IB_SOURCE, SOURCE_DOC)
enum { INPUT_BREAKDOWN_COLUMNS(COLUMN_ENUM) };
static const Column input_breakdown_columns[] = {INPUT_BREAKDOWN_COLUMNS(COLUMN_DOC)};

typedef struct {
    const char *name, *advice;
} InputPart;
static const InputPart parts[] = {
    {"Enqueue", "Send fewer bytes to the device: use smaller types, decode on the device, use "
                "larger and fewer transfers. Prefetch to the device."},
    {"Demanded file read", "Read ahead (prefetch, interleave). Store the data in fewer and larger "
                           "files, close to the host."},
    {"Advanced file read", "Read more files in parallel, from closer or faster storage. Cache the "
                           "data that fits in memory."},
    {"Preprocessing", "Map in parallel (num_parallel_calls), batch before mapping, cache the "
                      "result, or preprocess once before training."},
    {"Unclassified",
     "Annotate the stages of your own input pipeline in the trace to see what this time is."},
};

static double part_us(const InputAnalysis *a, size_t part)
{
    const double us[COUNT(parts)] = {a->enqueue_us, a->demanded_us, a->advanced_us,
                                     a->preprocessing_us, a->unclassified_us};
    return us[part];
}

typedef struct {
    const InputAnalysis *input;
} InputBreakdown;

static void input_breakdown_list(RowCursor *c, RowList *list)
{
    (void)c;
    *list = ROW_LIST(parts, COUNT(parts));
}

static void input_breakdown_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    InputBreakdown *state = c->state;
    if (!state->input) state->input = run_input(c->from->run, c->from->only, &c->err);
    const InputAnalysis *a = state->input;
    const InputPart *part = c->row;
    double all = 0;
    for (size_t i = 0; a && i < COUNT(parts); i++) all += part_us(a, i);
    if (column == IB_CATEGORY) result_static(ctx, part->name);
    if (column == IB_ADVICE) result_static(ctx, part->advice);
    if (column == IB_TIME && a) sqlite3_result_double(ctx, part_us(a, c->at_row));
    if (column == IB_FRACTION && all > 0) sqlite3_result_double(ctx, part_us(a, c->at_row) / all);
}

static const RowSource input_breakdown_rows = {
    .list = input_breakdown_list,
    .state_bytes = sizeof(InputBreakdown),
    .column = input_breakdown_column,
    .per_run = true,
};
const Table input_breakdown_table = {
    "input_breakdown",
    "one of the five parts of the host's input time",
    input_breakdown_columns,
    COUNT(input_breakdown_columns),
    &row_table_module,
    &input_breakdown_rows,
    5,
    "0.1.0",
    "SELECT category, time_us, fraction, advice FROM input_breakdown"};
