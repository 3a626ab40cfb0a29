// SPDX-License-Identifier: Apache-2.0
/* input_steps.c: the tables input_steps and top_device_ops: what each step waited for, and the ops
 * that take the most time.
 *
 *   SELECT step, step_time_ms, input_ms, tc_infeed_ms FROM input_steps('logs'); */
#include "../loader/analysis/input/input.h"
#include "../loader/analysis/ops/kernels.h"
#include "../loader/analysis/ops/op_lists.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- input_steps ---- */

#define INPUT_STEPS_COLUMNS(C)                                                                     \
    C(IS_RUN, RUN_DOC)                                                                             \
    C(IS_STEP, "step", "INTEGER", NULL, "number of the step", "grouping")                          \
    C(IS_NAME, "name", "TEXT", NULL, "name of the step on the first host; NULL if it has no name", \
      "grouping step_name")                                                                        \
    C(IS_LABEL, "label", "TEXT", NULL,                                                             \
      "XProf's label of the step: its name in runs without devices, otherwise its number",         \
      "input_pipeline_analyzer stepnum")                                                           \
    C(IS_TIME, "step_time_ms", "REAL", "ms",                                                       \
      "step time as XProf computes it. On TPU: sum of tc_compute_ms, scv0_compute_ms, "            \
      "scv0_infeed_ms, tc_infeed_ms, tc_outfeed_ms and tc_idle_ms. Otherwise: duration on the "    \
      "first host",                                                                                \
      "input_pipeline_analyzer stepTimeMs")                                                        \
    C(IS_COMPUTE, "device_compute_ms", "REAL", "ms",                                               \
      "time computing on a device, on the first host; NULL on TPU",                                \
      "input_pipeline_analyzer deviceComputeTimeMs")                                               \
    C(IS_D2D, "device_to_device_ms", "REAL", "ms",                                                 \
      "time copying between devices, on the first host; NULL on TPU",                              \
      "input_pipeline_analyzer deviceToDeviceTimeMs")                                              \
    C(IS_COLLECTIVES, "device_collectives_ms", "REAL", "ms",                                       \
      "time of collectives, on the first host; NULL on TPU",                                       \
      "input_pipeline_analyzer deviceCollectivesTimeMs")                                           \
    C(IS_HOST, "host_compute_ms", "REAL", "ms",                                                    \
      "time computing on the host, on the first host; NULL on TPU",                                \
      "input_pipeline_analyzer hostComputeTimeMs")                                                 \
    C(IS_LAUNCH, "kernel_launch_ms", "REAL", "ms",                                                 \
      "time launching kernels, on the first host; NULL on TPU",                                    \
      "input_pipeline_analyzer kernelLaunchTimeMs")                                                \
    C(IS_INPUT, "input_ms", "REAL", "ms",                                                          \
      "time waiting for input and copying it to a device, on the first host; NULL on TPU",         \
      "input_pipeline_analyzer infeedTimeMs")                                                      \
    C(IS_OUTPUT, "output_ms", "REAL", "ms",                                                        \
      "time copying from a device to the host, on the first host; NULL on TPU",                    \
      "input_pipeline_analyzer outfeedTimeMs")                                                     \
    C(IS_COMPILE, "compilation_ms", "REAL", "ms",                                                  \
      "time compiling, on the first host; NULL on TPU", "input_pipeline_analyzer compileTimeMs")   \
    C(IS_OTHERS, "all_others_ms", "REAL", "ms",                                                    \
      "time without any known activity, on the first host; NULL on TPU",                           \
      "input_pipeline_analyzer otherTimeMs")                                                       \
    C(IS_TC_COMPUTE, "tc_compute_ms", "REAL", "ms",                                                \
      "compute time of the TensorCore that computed least; NULL if not on TPU",                    \
      "input_pipeline_analyzer tcComputeTimeMs")                                                   \
    C(IS_SCV0_COMPUTE, "scv0_compute_ms", "REAL", "ms",                                            \
      "longest time that a TensorCore waits for SparseCore V0; NULL if not on TPU",                \
      "input_pipeline_analyzer scv0ComputeTimeMs")                                                 \
    C(IS_SCV0_INFEED, "scv0_infeed_ms", "REAL", "ms",                                              \
      "infeed time of SparseCore V0; always 0 on TPU; NULL if not on TPU",                         \
      "input_pipeline_analyzer scv0InfeedTimeMs")                                                  \
    C(IS_TC_INFEED, "tc_infeed_ms", "REAL", "ms",                                                  \
      "infeed time of the TensorCore with the longest infeed; NULL if not on TPU",                 \
      "input_pipeline_analyzer tcInfeedTimeMs")                                                    \
    C(IS_TC_OUTFEED, "tc_outfeed_ms", "REAL", "ms",                                                \
      "time of outfeed to the host, average of the TensorCores; NULL if not on TPU",               \
      "input_pipeline_analyzer tcOutfeedTimeMs")                                                   \
    C(IS_TC_IDLE, "tc_idle_ms", "REAL", "ms",                                                      \
      "shortest step of a TensorCore minus the compute, infeed and outfeed columns (tc_ and "      \
      "scv0_); NULL if not on TPU",                                                                \
      "input_pipeline_analyzer tcIdleTimeMs")                                                      \
    C(IS_TRANSFER, "host_transfer_ms", "REAL", "ms",                                               \
      "time of sends to and receives from the host, of the TensorCore with the most; NULL if not " \
      "on TPU",                                                                                    \
      "input_pipeline_analyzer hostTransferTimeMs")                                                \
    C(IS_ALL_REDUCE, "all_reduce_ms", "REAL", "ms",                                                \
      "time of all-reduce and all-to-all, of the TensorCore with the most; part of "               \
      "tc_compute_ms; NULL if not on TPU",                                                         \
      "libprofsql")                                                                                \
    C(IS_PERCENT, "infeed_percent_average", "REAL", "percent 0..100",                              \
      "infeed share of the step, average of the TensorCores; NULL if not on TPU",                  \
      "input_pipeline_analyzer infeedPercentAverage")                                              \
    C(IS_PERCENT_MIN, "infeed_percent_min", "REAL", "percent 0..100",                              \
      "smallest infeed share of the step on any TensorCore; NULL if not on TPU",                   \
      "input_pipeline_analyzer infeedPercentMin")                                                  \
    C(IS_PERCENT_MAX, "infeed_percent_max", "REAL", "percent 0..100",                              \
      "largest infeed share of the step on any TensorCore; NULL if not on TPU",                    \
      "input_pipeline_analyzer infeedPercentMax")                                                  \
    C(IS_MAX_CORE, "max_infeed_core", "TEXT", NULL,                                                \
      "host and ordinal of the TensorCore with the longest infeed; NULL if no TensorCore waits "   \
      "or its ordinal is unknown, and if not on TPU",                                              \
      "input_pipeline_analyzer Core name")                                                         \
    C(IS_SOURCE, SOURCE_DOC)
enum { INPUT_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column input_steps_columns[] = {INPUT_STEPS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const InputAnalysis *input;
} InputSteps;

static void input_steps_list(RowCursor *c, RowList *list)
{
    const InputAnalysis *a = run_input(c->from->run, c->from->only, &c->err);
    if (!a) return;
    *list = ROW_LIST(a->steps, a->n_steps);
    ((InputSteps *)c->state)->input = a;
}

/* Writes a core's name as in XProf: the host's own name and the ordinal in core_details; NULL
 * without these. */
static void core_name(RowCursor *c, sqlite3_context *ctx, const StepCore *core)
{
    const DeviceCapabilities *devices = run_devices(c->from->run, c->from->only, &c->err);
    const Device *device = devices && core->plane ? device_of_plane(devices, core->plane) : NULL;
    if (!device || device->device_ordinal < 0) return;
    char *name = sqlite3_mprintf("%s:%lld", host_hostname(device->plane->host),
                                 (long long)device->device_ordinal);
    if (name)
        sqlite3_result_text(ctx, name, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(ctx);
}

static void tpu_column(RowCursor *c, sqlite3_context *ctx, const TpuStep *t, int column)
{
    switch (column) {
    case IS_TC_COMPUTE: sqlite3_result_double(ctx, (double)t->tc_compute_ps / 1e9); break;
    case IS_SCV0_COMPUTE: sqlite3_result_double(ctx, (double)t->scv0_compute_ps / 1e9); break;
    case IS_SCV0_INFEED: sqlite3_result_double(ctx, (double)t->scv0_infeed_ps / 1e9); break;
    case IS_TC_INFEED: sqlite3_result_double(ctx, (double)t->tc_infeed_ps / 1e9); break;
    case IS_TC_OUTFEED: sqlite3_result_double(ctx, (double)t->tc_outfeed_ps / 1e9); break;
    case IS_TC_IDLE: sqlite3_result_double(ctx, t->tc_idle_ms); break;
    case IS_TRANSFER: sqlite3_result_double(ctx, (double)t->host_transfer_ps / 1e9); break;
    case IS_ALL_REDUCE: sqlite3_result_double(ctx, (double)t->all_reduce_ps / 1e9); break;
    case IS_PERCENT: sqlite3_result_double(ctx, t->infeed_percent_average); break;
    case IS_PERCENT_MIN: sqlite3_result_double(ctx, t->infeed_percent_min); break;
    case IS_PERCENT_MAX: sqlite3_result_double(ctx, t->infeed_percent_max); break;
    case IS_MAX_CORE:
        if (t->tc_infeed_ps) core_name(c, ctx, t->max_infeed);
        break;
    default: break;
    }
}

static void number_text(sqlite3_context *ctx, uint32_t number)
{
    char text[16];
    sqlite3_snprintf(sizeof text, text, "%u", number);
    sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void input_steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const InputAnalysis *a = ((InputSteps *)c->state)->input;
    const InputStep *s = c->row;
    if (column == IS_STEP)
        sqlite3_result_int64(ctx, s->step->number);
    else if (column == IS_NAME || (column == IS_LABEL && s->step->name && a->is_named))
        result_static(ctx, s->step->name);
    else if (column == IS_LABEL)
        number_text(ctx, s->step->number);
    else if (column == IS_TIME)
        sqlite3_result_double(ctx, s->step_ms);
    else if (a->is_tpu)
        tpu_column(c, ctx, &s->tpu, column);
    else if (column >= IS_COMPUTE && column <= IS_OTHERS)
        sqlite3_result_double(ctx, s->category_ms[column - IS_COMPUTE]);
}

static const RowSource input_steps_rows = {
    .list = input_steps_list,
    .state_bytes = sizeof(InputSteps),
    .column = input_steps_column,
    .per_run = true,
    .needs = NEED_EVENTS | NEED_STEPS,
    .nothing = "XProf finds no step; the table `steps` has the steps that the framework marks"};
const Table input_steps_table = {"input_steps",
                                 "one step, as in XProf's input-pipeline analyzer",
                                 input_steps_columns,
                                 COUNT(input_steps_columns),
                                 &row_table_module,
                                 &input_steps_rows,
                                 20,
                                 "0.1.0",
                                 "SELECT step, step_time_ms, input_ms FROM input_steps"};

/* ---- top_device_ops ---- */

#define TOP_DEVICE_OPS_COLUMNS(C)                                                                  \
    C(TD_RUN, RUN_DOC)                                                                             \
    C(TD_RANK, "rank", "INTEGER", NULL, "rank of the op by self time; 1 is the longest",           \
      "libprofsql")                                                                                \
    C(TD_FRACTION, "self_time_fraction", "REAL", "fraction 0..1",                                  \
      "self time of the op divided by the devices' time in ops", "overview_page selfTimePercent")  \
    C(TD_CUMULATIVE, "cumulative_fraction", "REAL", "fraction 0..1",                               \
      "sum of self_time_fraction of this row and the rows before it",                              \
      "overview_page cumulativeTimePercent")                                                       \
    C(TD_CATEGORY, "category", "TEXT", NULL, "type of the framework op", "overview_page category") \
    C(TD_OPERATION, "operation", "TEXT", NULL, "name of the framework op",                         \
      "overview_page operation")                                                                   \
    C(TD_GFLOPS, "gflops", "REAL", "GFLOP/s",                                                      \
      "FLOP rate while the op ran; an 8-bit operation counts as a half, a 4-bit one as a "         \
      "quarter; 0 if unknown",                                                                     \
      "overview_page flopRate")                                                                    \
    C(TD_ELIGIBLE, "op_is_tensorcore_eligible", "INTEGER", NULL,                                   \
      "1: a kernel of the op could use tensor cores, judged by the kernels that XProf keeps; "     \
      "NULL if not on GPU",                                                                        \
      "overview_page tcEligibility")                                                               \
    C(TD_USES, "op_uses_tensorcore", "INTEGER", NULL,                                              \
      "1: a kernel of the op uses tensor cores, by XProf's list of kernel names; NULL if not on "  \
      "GPU",                                                                                       \
      "overview_page tcUtilization")                                                               \
    C(TD_SOURCE, SOURCE_DOC)
enum { TOP_DEVICE_OPS_COLUMNS(COLUMN_ENUM) };
static const Column top_device_ops_columns[] = {TOP_DEVICE_OPS_COLUMNS(COLUMN_DOC)};

static void top_device_ops_list(RowCursor *c, RowList *list)
{
    const TopOps *top = run_top_ops(c->from->run, c->from->only, &c->err);
    if (top) *list = ROW_LIST(top->ops, top->n);
}

static void tensorcore_column(RowCursor *c, sqlite3_context *ctx, const OpMetrics *op,
                              bool eligible)
{
    const DeviceCapabilities *devices = run_devices(c->from->run, c->from->only, &c->err);
    if (!devices || !strstr(devices->device_type, "GPU")) return;
    const KernelStats *kernels = run_kernel_stats(c->from->run, c->from->only, &c->err);
    if (kernels)
        sqlite3_result_int(ctx, eligible
                                    ? kernel_op_is_eligible(kernels, op->name->text)
                                    : kernel_tensorcore_utilization(kernels, op->name->text) > 0);
}

static void top_device_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const FrameworkOp *top = c->row;
    switch (column) {
    case TD_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)c->at_row + 1); break;
    case TD_FRACTION: sqlite3_result_double(ctx, top->fraction); break;
    case TD_CUMULATIVE: sqlite3_result_double(ctx, top->cumulative); break;
    case TD_CATEGORY: result_text(ctx, top->op->category); break;
    case TD_OPERATION: result_text(ctx, top->op->name); break;
    case TD_GFLOPS:
        sqlite3_result_double(ctx, safe_div(top->op->flops, ps_to_ns(top->op->time_ps)));
        break;
    case TD_ELIGIBLE:
    case TD_USES: tensorcore_column(c, ctx, top->op, column == TD_ELIGIBLE); break;
    default: break;
    }
}

static const RowSource top_device_ops_rows = {.list = top_device_ops_list,
                                              .column = top_device_ops_column,
                                              .per_run = true,
                                              .nothing = "no framework op ran on a device",
                                              .needs = NEED_EVENTS | NEED_DEVICE};
const Table top_device_ops_table = {
    "top_device_ops",
    "one of the ten framework ops with the most device time, as in XProf's overview page",
    top_device_ops_columns,
    COUNT(top_device_ops_columns),
    &row_table_module,
    &top_device_ops_rows,
    10,
    "0.1.0",
    "SELECT rank, operation, self_time_fraction FROM top_device_ops"};
