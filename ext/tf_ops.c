// SPDX-License-Identifier: Apache-2.0
/* tf_ops.c: the table tf_ops: framework ops of devices and hosts, as in XProf's framework op stats.
 *
 *   SELECT operation, type, total_self_time_us, bound_by
 *     FROM tf_ops('logs') WHERE host_or_device = 'Device' LIMIT 10; */
#include "../loader/analysis/ops/kernels.h"
#include "../loader/analysis/ops/op_lists.h"
#include "../loader/analysis/ops/op_rates.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#define TF_OPS_COLUMNS(C)                                                                          \
    C(TF_RUN, RUN_DOC)                                                                             \
    C(TF_RANK, "rank", "INTEGER", NULL,                                                            \
      "rank of the op, from 1: device ops by self time, then host ops by self time",               \
      "framework_op_stats rank")                                                                   \
    C(TF_SIDE, "host_or_device", "TEXT", NULL,                                                     \
      "Device: kernels and HLO ops of all devices, summed by framework op; Host: ops on host "     \
      "threads",                                                                                   \
      "framework_op_stats host_or_device")                                                         \
    C(TF_TYPE, "type", "TEXT", NULL,                                                               \
      "type of the op; Unknown if no framework op is known; IDLE: time without any op",            \
      "framework_op_stats type")                                                                   \
    C(TF_OPERATION, "operation", "TEXT", NULL, "name of the op", "framework_op_stats operation")   \
    C(TF_OCCURRENCES, "occurrences", "INTEGER", NULL,                                              \
      "number of times that the op ran; on devices, the largest number of any of its kernels or "  \
      "HLO ops, summed over cores",                                                                \
      "framework_op_stats occurrences")                                                            \
    C(TF_TOTAL, "total_time_us", "REAL", "us",                                                     \
      "total time from start to end of the op, nested ops included",                               \
      "framework_op_stats total_time")                                                             \
    C(TF_AVG, "avg_time_us", "REAL", "us",                                                         \
      "total time divided by occurrences; 0 if occurrences is 0", "framework_op_stats avg_time")   \
    C(TF_SELF, "total_self_time_us", "REAL", "us", "total time of the op without nested ops",      \
      "framework_op_stats total_self_time")                                                        \
    C(TF_AVG_SELF, "avg_self_time_us", "REAL", "us",                                               \
      "total self time divided by occurrences; 0 if occurrences is 0",                             \
      "framework_op_stats avg_self_time")                                                          \
    C(TF_DEVICE_FRACTION, "device_self_time_fraction", "REAL", "fraction 0..1",                    \
      "self time of the op divided by the devices' time; 0 in host rows",                          \
      "framework_op_stats device_total_self_time_percent")                                         \
    C(TF_DEVICE_CUMULATIVE, "device_cumulative_self_time_fraction", "REAL", "fraction 0..1",       \
      "sum of device_self_time_fraction of this row and the rows before it; 0 in host rows",       \
      "framework_op_stats device_cumulative_total_self_time_percent")                              \
    C(TF_HOST_FRACTION, "host_self_time_fraction", "REAL", "fraction 0..1",                        \
      "self time of the op divided by the host threads' time; 0 in device rows",                   \
      "framework_op_stats host_total_self_time_percent")                                           \
    C(TF_HOST_CUMULATIVE, "host_cumulative_self_time_fraction", "REAL", "fraction 0..1",           \
      "sum of host_self_time_fraction of this row and the rows before it; 0 in device rows",       \
      "framework_op_stats Host_cumulative_total_self_time_percent")                                \
    C(TF_GFLOPS, "normalized_gflops", "REAL", "GFLOP/s",                                           \
      "FLOP rate while the op ran; an 8-bit operation counts as a half, a 4-bit one as a "         \
      "quarter; 0 if unknown",                                                                     \
      "framework_op_stats measured_flop_rate")                                                     \
    C(TF_MODEL_GFLOPS, "model_gflops", "REAL", "GFLOP/s",                                          \
      "FLOP rate while the op ran, without device-specific weights; 0 if unknown",                 \
      "framework_op_stats model_flop_rate")                                                        \
    C(TF_BW, "memory_bw_gibps", "REAL", "GiB/s",                                                   \
      "bytes read and written per second while the op ran; 0 if unknown",                          \
      "framework_op_stats measured_memory_bw")                                                     \
    C(TF_INTENSITY, "operational_intensity", "REAL", "FLOP/byte",                                  \
      "operations per byte accessed; 0 if unknown", "framework_op_stats operational_intensity")    \
    C(TF_TENSORCORE, "tensorcore_utilization_fraction", "REAL", "fraction 0..1",                   \
      "share of the op's kernel time in kernels on tensor cores, among the kernels that XProf "    \
      "keeps; 0 without kernels and in host rows; NULL if not on GPU",                             \
      "framework_op_stats gpu_tensorcore_utilization")                                             \
    C(TF_BOUND, "bound_by", "TEXT", NULL,                                                          \
      "resource that the op uses closest to its peak: Compute, HBM, Shm/L1; or Unknown",           \
      "framework_op_stats bound_by")                                                               \
    C(TF_MODE, "execution_mode", "TEXT", NULL, "how the op ran: Eager or Function",                \
      "framework_op_stats eager")                                                                  \
    C(TF_TIME_PS, "time_ps", "INTEGER", "ps", "total_time_us as an exact number of picoseconds",   \
      "OpMetrics.time_ps")                                                                         \
    C(TF_SELF_PS, "self_ps", "INTEGER", "ps",                                                      \
      "total_self_time_us as an exact number of picoseconds", "OpMetrics.self_time_ps")            \
    C(TF_EVENT_TIME, "event_time_ps", "INTEGER", "ps",                                             \
      "total time on the event clock; differs from time_ps if the device has its own clock",       \
      "libprofsql")                                                                                \
    C(TF_EVENT_SELF, "event_self_ps", "INTEGER", "ps",                                             \
      "self_ps on the event clock; below 0 if ops overlap on that clock", "libprofsql")            \
    C(TF_FLOPS, "flops", "REAL", "FLOP",                                                           \
      "floating-point operations of all occurrences; an 8-bit operation counts as a half, a "      \
      "4-bit one as a quarter; NULL if 0 or unknown",                                              \
      "OpMetrics.flops_v2")                                                                        \
    C(TF_MODEL_FLOPS, "model_flops", "REAL", "FLOP",                                               \
      "floating-point operations of all occurrences, without device-specific weights; NULL if 0 "  \
      "or unknown",                                                                                \
      "OpMetrics.model_flops_v2")                                                                  \
    C(TF_BYTES, "bytes_accessed", "INTEGER", "bytes",                                              \
      "bytes read plus bytes written by all occurrences; NULL if 0 or unknown",                    \
      "OpMetrics.bytes_accessed")                                                                  \
    C(TF_TENSORCORE_ACTUAL, "tensorcore_utilization_fraction_actual", "REAL", "fraction 0..1",     \
      "share of the op's kernel time in kernels on tensor cores, among all its kernels. Also "     \
      "recognizes tensor core kernels that XProf's list of names lacks (Hopper, Blackwell). NULL " \
      "if no kernel of the op is known",                                                           \
      "libprofsql")                                                                                \
    C(TF_SOURCE, SOURCE_DOC)                                                                       \
    C(TF_INCLUDE_IDLE, "include_idle", "INTEGER HIDDEN", "0 or 1",                                 \
      "1: include IDLE; 0: omit IDLE and show shares of the time in ops; default 1", "argument 2") \
    C(TF_LIMIT, "row_limit", "INTEGER HIDDEN", "rows",                                             \
      "number of ops to return for each side, longest self time first; 0: all; default 500, as "   \
      "in XProf",                                                                                  \
      "argument 3")
enum { TF_OPS_COLUMNS(COLUMN_ENUM) };
static const Column tf_ops_columns[] = {TF_OPS_COLUMNS(COLUMN_DOC)};

/* ---- rows ---- */

typedef struct {
    uint64_t rank; /* of the row, from 1 */
    const DeviceCapabilities *devices;
    const KernelStats *kernels;
    const OpMetrics *rated; /* the op whose rates `rates` has */
    OpRates rates;
} TfOps;

static void tf_ops_list(RowCursor *c, RowList *list)
{
    const FrameworkOps *all = run_framework_ops(c->from->run, c->from->only,
                                                row_integer_parameter(c, 0, 1) != 0, &c->err);
    if (all) *list = ROW_LIST(all->ops, all->n);
}

static bool tf_ops_shows(RowCursor *c, const void *item)
{
    TfOps *state = c->state;
    sqlite3_int64 limit = row_integer_parameter(c, 1, 500);
    if (limit > 0 && ((const FrameworkOp *)item)->nth >= limit) return false;
    c->place = state->rank++;
    return true;
}

/* ---- columns ---- */

static const DeviceCapabilities *devices_of(RowCursor *c)
{
    TfOps *state = c->state;
    if (!state->devices) state->devices = run_devices(c->from->run, c->from->only, &c->err);
    return state->devices;
}

static const KernelStats *kernels_of(RowCursor *c)
{
    TfOps *state = c->state;
    if (!state->kernels) state->kernels = run_kernel_stats(c->from->run, c->from->only, &c->err);
    return state->kernels;
}

static bool is_gpu(const DeviceCapabilities *devices)
{
    return strstr(devices->device_type, "GPU") != NULL;
}

static void tensorcore_column(RowCursor *c, sqlite3_context *ctx, const FrameworkOp *row,
                              bool actual)
{
    const DeviceCapabilities *devices = devices_of(c);
    if (!devices || !is_gpu(devices)) return;
    if (row->on_host) {
        if (!actual) sqlite3_result_double(ctx, 0);
        return;
    }
    const KernelStats *kernels = kernels_of(c);
    if (!kernels) return;
    double share = actual ? kernel_tensorcore_utilization_actual(kernels, row->op->name->text)
                          : kernel_tensorcore_utilization(kernels, row->op->name->text);
    if (share >= 0) sqlite3_result_double(ctx, share);
}

static void rate_column(RowCursor *c, sqlite3_context *ctx, const OpMetrics *op, int column)
{
    TfOps *state = c->state;
    if (!devices_of(c)) return;
    if (state->rated != op) state->rates = op_rates(op, state->devices);
    state->rated = op;
    switch (column) {
    case TF_GFLOPS: sqlite3_result_double(ctx, state->rates.gflops); break;
    case TF_MODEL_GFLOPS: sqlite3_result_double(ctx, state->rates.model_gflops); break;
    case TF_BW: sqlite3_result_double(ctx, state->rates.memory_gibps); break;
    case TF_INTENSITY: sqlite3_result_double(ctx, state->rates.intensity); break;
    default: result_static(ctx, state->rates.bound_by); break;
    }
}

static void tf_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const FrameworkOp *row = c->row;
    const OpMetrics *op = row->op;
    double n = op->occurrences;
    switch (column) {
    case TF_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)((TfOps *)c->state)->rank); break;
    case TF_SIDE: result_static(ctx, row->on_host ? "Host" : "Device"); break;
    case TF_TYPE: result_text(ctx, op->category); break;
    case TF_OPERATION: result_text(ctx, op->name); break;
    case TF_OCCURRENCES: sqlite3_result_int64(ctx, op->occurrences); break;
    case TF_TOTAL: sqlite3_result_double(ctx, ps_to_us(op->time_ps)); break;
    case TF_AVG: sqlite3_result_double(ctx, safe_div(ps_to_us(op->time_ps), n)); break;
    case TF_SELF: sqlite3_result_double(ctx, ps_to_us(op->self_ps)); break;
    case TF_AVG_SELF: sqlite3_result_double(ctx, safe_div(ps_to_us(op->self_ps), n)); break;
    case TF_DEVICE_FRACTION: sqlite3_result_double(ctx, row->on_host ? 0 : row->fraction); break;
    case TF_DEVICE_CUMULATIVE:
        sqlite3_result_double(ctx, row->on_host ? 0 : row->cumulative);
        break;
    case TF_HOST_FRACTION: sqlite3_result_double(ctx, row->on_host ? row->fraction : 0); break;
    case TF_HOST_CUMULATIVE: sqlite3_result_double(ctx, row->on_host ? row->cumulative : 0); break;
    case TF_GFLOPS:
    case TF_MODEL_GFLOPS:
    case TF_BW:
    case TF_INTENSITY:
    case TF_BOUND: rate_column(c, ctx, op, column); break;
    case TF_TENSORCORE:
    case TF_TENSORCORE_ACTUAL:
        tensorcore_column(c, ctx, row, column == TF_TENSORCORE_ACTUAL);
        break;
    case TF_MODE: result_static(ctx, op->is_eager ? "Eager" : "Function"); break;
    case TF_TIME_PS: result_u64(ctx, op->time_ps); break;
    case TF_SELF_PS: result_u64(ctx, op->self_ps); break;
    case TF_EVENT_TIME: result_u64(ctx, op->event_time_ps); break;
    case TF_EVENT_SELF: result_self(ctx, op->event_self_ps, op->event_time_ps); break;
    case TF_FLOPS:
        if (op->flops > 0) sqlite3_result_double(ctx, op->flops);
        break;
    case TF_MODEL_FLOPS:
        if (op->model_flops > 0) sqlite3_result_double(ctx, op->model_flops);
        break;
    case TF_BYTES:
        if (op->bytes_accessed) result_u64(ctx, op->bytes_accessed);
        break;
    default: break;
    }
}

static const RowSource tf_ops_rows = {.list = tf_ops_list,
                                      .shows = tf_ops_shows,
                                      .state_bytes = sizeof(TfOps),
                                      .column = tf_ops_column,
                                      .per_run = true,
                                      .n_parameters = 2,
                                      .needs = NEED_EVENTS,
                                      .nothing =
                                          "no event on a device or host thread is a framework op"};
const Table tf_ops_table = {
    "tf_ops",
    "one framework op of devices or hosts, as in XProf's framework op stats",
    tf_ops_columns,
    COUNT(tf_ops_columns),
    &row_table_module,
    &tf_ops_rows,
    500,
    "0.1.0",
    "SELECT host_or_device, operation, total_self_time_us, bound_by FROM tf_ops LIMIT 10"};
