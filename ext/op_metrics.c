// SPDX-License-Identifier: Apache-2.0
/* op_metrics.c: the tables op_metrics and op_metrics_totals: XProf's OpStats databases, in exact
 * picoseconds.
 *
 *   SELECT name, occurrences, self_ps
 *     FROM op_metrics('logs') WHERE side = 'device' ORDER BY self_ps DESC LIMIT 10; */
#include "../loader/analysis/ops/op_lists.h"
#include "../loader/analysis/steps/steps.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define SIDE_DOC                                                                                   \
    "side", "TEXT", NULL,                                                                          \
        "host: ops on host threads; device: kernels and HLO ops of all devices together; "         \
        "framework: the device ops summed by framework op",                                        \
        "libprofsql"

/* ---- op_metrics ---- */

#define OP_METRICS_COLUMNS(C)                                                                      \
    C(OM_RUN, RUN_DOC)                                                                             \
    C(OM_SIDE, SIDE_DOC)                                                                           \
    C(OM_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the HLO op's program, decimal; for a tf.data stage on the host, the id of the "       \
      "stage; NULL for other ops",                                                                 \
      "OpMetrics.hlo_module_id")                                                                   \
    C(OM_NAME, "name", "TEXT", NULL, "name of the op; IDLE is the time without any op",            \
      "OpMetrics.name")                                                                            \
    C(OM_CATEGORY, "category", "TEXT", NULL,                                                       \
      "type of the framework op, or category of the HLO op; NULL if there is none",                \
      "OpMetrics.category")                                                                        \
    C(OM_PROVENANCE, "provenance", "TEXT", NULL,                                                   \
      "full name of the framework op that the op comes from; NULL if unknown",                     \
      "OpMetrics.provenance")                                                                      \
    C(OM_OCCURRENCES, "occurrences", "INTEGER", NULL,                                              \
      "number of times that the op ran, on all cores; for a framework op, the largest number of "  \
      "any of its device ops",                                                                     \
      "OpMetrics.occurrences")                                                                     \
    C(OM_TIME, "time_ps", "INTEGER", "ps",                                                         \
      "total time from start to end of the op, nested ops included, on the device clock if the "   \
      "file has it",                                                                               \
      "OpMetrics.time_ps")                                                                         \
    C(OM_SELF, "self_ps", "INTEGER", "ps",                                                         \
      "total time of the op without nested ops, on the device clock if the file has it",           \
      "OpMetrics.self_time_ps")                                                                    \
    C(OM_MIN, "min_ps", "INTEGER", "ps",                                                           \
      "duration of the shortest occurrence; NULL if XProf does not compute it (host, GPU, "        \
      "framework)",                                                                                \
      "OpMetrics.min_time_ps")                                                                     \
    C(OM_NORMALIZED, "normalized_ps", "INTEGER", "ps",                                             \
      "total time of the op at the default clock rate; NULL if unknown",                           \
      "OpMetrics.normalized_time_ps")                                                              \
    C(OM_EVENT_TIME, "event_time_ps", "INTEGER", "ps",                                             \
      "time_ps on the event clock, the clock of trace_events and of XProf's Events DB",            \
      "libprofsql")                                                                                \
    C(OM_EVENT_SELF, "event_self_ps", "INTEGER", "ps",                                             \
      "self_ps on the event clock; below 0 if ops overlap on that clock", "libprofsql")            \
    C(OM_FLOPS, "flops", "REAL", "FLOP",                                                           \
      "floating-point operations of all occurrences; an 8-bit operation counts as a half, a "      \
      "4-bit one as a quarter; 0 if none or unknown",                                              \
      "OpMetrics.flops_v2")                                                                        \
    C(OM_MODEL_FLOPS, "model_flops", "REAL", "FLOP",                                               \
      "floating-point operations of all occurrences, without device-specific weights; 0 if none "  \
      "or unknown",                                                                                \
      "OpMetrics.model_flops_v2")                                                                  \
    C(OM_BYTES, "bytes_accessed", "INTEGER", "bytes",                                              \
      "bytes read plus bytes written by all occurrences; 0 if none or unknown",                    \
      "OpMetrics.bytes_accessed")                                                                  \
    C(OM_HBM_READ, "hbm_read_bytes", "INTEGER", "bytes",                                           \
      "bytes read from HBM; NULL if the file has no breakdown by memory",                          \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_HBM_WRITE, "hbm_write_bytes", "INTEGER", "bytes",                                         \
      "bytes written to HBM; NULL if the file has no breakdown by memory",                         \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_CMEM_READ, "cmem_read_bytes", "INTEGER", "bytes",                                         \
      "bytes read from CMEM; NULL if the file has no breakdown by memory",                         \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_CMEM_WRITE, "cmem_write_bytes", "INTEGER", "bytes",                                       \
      "bytes written to CMEM; NULL if the file has no breakdown by memory",                        \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_VMEM_READ, "vmem_read_bytes", "INTEGER", "bytes",                                         \
      "bytes read from VMEM; NULL if the file has no breakdown by memory",                         \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_VMEM_WRITE, "vmem_write_bytes", "INTEGER", "bytes",                                       \
      "bytes written to VMEM; NULL if the file has no breakdown by memory",                        \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_DMA, "dma_stall_ps", "INTEGER", "ps", "time in which the op is stalled by DMA",           \
      "OpMetrics.dma_stall_ps")                                                                    \
    C(OM_EAGER, "is_eager", "INTEGER", "0 or 1", "1: TensorFlow ran the op eagerly",               \
      "OpMetrics.is_eager")                                                                        \
    C(OM_PARENT, "parent", "TEXT", NULL,                                                           \
      "name of the op that this op is part of: a fusion, or the op that offloaded it to a "        \
      "SparseCore; NULL if it is part of none",                                                    \
      "OpMetrics.children")                                                                        \
    C(OM_CORE_TYPE, "core_type", "TEXT", NULL,                                                     \
      "type of the core that ran the op: TensorCore or SparseCore; NULL for other devices and "    \
      "the host",                                                                                  \
      "OpMetrics.core_type")                                                                       \
    C(OM_ID, "op_id", "INTEGER", NULL,                                                             \
      "ordinal of the op on its side, from 0; parts follow the op that contains them",             \
      "libprofsql")                                                                                \
    C(OM_PARENT_ID, "parent_id", "INTEGER", NULL,                                                  \
      "op_id of the op that this op is part of; NULL if it is part of none", "libprofsql")         \
    C(OM_LONG_NAME, "expression", "TEXT", NULL,                                                    \
      "text of the HLO instruction; NULL if there is none", "OpMetrics.long_name")                 \
    C(OM_DEDUPLICATED, "deduplicated_name", "TEXT", NULL,                                          \
      "name of the op that this op duplicates; NULL if it is no duplicate",                        \
      "OpMetrics.deduplicated_name")                                                               \
    C(OM_CORES, "core_count", "INTEGER", "cores",                                                  \
      "number of cores that ran the op; NULL for the sides host and framework",                    \
      "OpMetrics.num_cores")                                                                       \
    C(OM_SOURCE_FILE, "source_file", "TEXT", NULL,                                                 \
      "source file of the op in the user's program; NULL if unknown", "OpMetrics.source_info")     \
    C(OM_SOURCE_LINE, "source_line", "INTEGER", NULL,                                              \
      "line of the op in source_file; NULL if unknown", "OpMetrics.source_info")                   \
    C(OM_SOURCE_STACK, "source_stack", "TEXT", NULL,                                               \
      "call stack of the op in the user's program, as plain text; NULL if unknown",                \
      "OpMetrics.source_info")                                                                     \
    C(OM_ENERGY, "vdd_energy_j", "REAL", "J",                                                      \
      "energy that the core used for the op; NULL if not measured", "OpMetrics.vdd_energy_j")      \
    C(OM_MEMORY, "memory_breakdown", "TEXT", NULL,                                                 \
      "JSON array of [operation (0 unknown, 1 read, 2 write), memory space (1 HBM, 2 CMEM, 3 "     \
      "VMEM), bytes]; NULL if the file has no breakdown by memory",                                \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(OM_EXECUTIONS, "occurrences_actual", "INTEGER", NULL,                                        \
      "number of executions of the HLO op, as in hlo_ops; NULL if unknown, and for the sides "     \
      "host and framework",                                                                        \
      "libprofsql")                                                                                \
    C(OM_FLOPS_ACTUAL, "flops_actual", "REAL", "FLOP",                                             \
      "operations of all executions of the HLO op, as hlo_ops.flops_actual; NULL if unknown, and " \
      "for the sides host and framework",                                                          \
      "libprofsql")                                                                                \
    C(OM_MODEL_FLOPS_ACTUAL, "model_flops_actual", "REAL", "FLOP",                                 \
      "operations of all executions of the HLO op, as hlo_ops.model_flops_actual; NULL if "        \
      "unknown, and for the sides host and framework",                                             \
      "libprofsql")                                                                                \
    C(OM_BYTES_ACTUAL, "bytes_accessed_actual", "INTEGER", "bytes",                                \
      "bytes accessed by all executions of the HLO op, as hlo_ops.bytes_accessed_actual; NULL if " \
      "unknown, and for the sides host and framework",                                             \
      "libprofsql")                                                                                \
    C(OM_SOURCE, SOURCE_DOC)
enum { OP_METRICS_COLUMNS(COLUMN_ENUM) };
static const Column op_metrics_columns[] = {OP_METRICS_COLUMNS(COLUMN_DOC)};

static void op_metrics_list(RowCursor *c, RowList *list)
{
    const OpRows *all = run_op_rows(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->ops, all->n);
}

static void result_memory(sqlite3_context *ctx, const OpMetrics *op)
{
    if (!op->n_memory) return;
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < op->n_memory; i++)
        sqlite3_str_appendf(out, "%s[%u,%llu,%llu]", i ? "," : "[", op->memory[i].operation,
                            (unsigned long long)op->memory[i].space,
                            (unsigned long long)op->memory[i].bytes);
    sqlite3_str_appendchar(out, 1, ']');
    result_built(ctx, out);
}

static void op_metrics_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const OpRow *row = c->row;
    const OpMetrics *op = row->op;
    bool of_core = op->core_type != CORE_UNKNOWN && row->side == SIDE_DEVICE;
    switch (column) {
    case OM_SIDE: result_static(ctx, op_side_names[row->side]); break;
    case OM_PROGRAM:
        if (op->has_program) result_id(ctx, op->program_id);
        break;
    case OM_NAME: result_text(ctx, op->name); break;
    case OM_CATEGORY: result_nonempty(ctx, op->category); break;
    case OM_PROVENANCE: result_nonempty(ctx, op->provenance); break;
    case OM_OCCURRENCES: sqlite3_result_int64(ctx, op->occurrences); break;
    case OM_TIME: result_u64(ctx, op->time_ps); break;
    case OM_SELF: result_u64(ctx, op->self_ps); break;
    case OM_MIN:
        if (of_core) result_u64(ctx, op->min_ps);
        break;
    case OM_NORMALIZED:
        if (of_core && op->normalized_ps) result_u64(ctx, op->normalized_ps);
        break;
    case OM_EVENT_TIME: result_u64(ctx, op->event_time_ps); break;
    case OM_EVENT_SELF: result_self(ctx, op->event_self_ps, op->event_time_ps); break;
    case OM_FLOPS: sqlite3_result_double(ctx, op->flops); break;
    case OM_MODEL_FLOPS: sqlite3_result_double(ctx, op->model_flops); break;
    case OM_BYTES: result_u64(ctx, op->bytes_accessed); break;
    case OM_HBM_READ:
    case OM_HBM_WRITE:
    case OM_CMEM_READ:
    case OM_CMEM_WRITE:
    case OM_VMEM_READ:
    case OM_VMEM_WRITE:
        if (op->n_memory)
            result_u64(ctx,
                       op_memory_bytes(op, SPACE_HBM + (uint64_t)(column - OM_HBM_READ) / 2,
                                       (column - OM_HBM_READ) % 2 ? MEMORY_WRITE : MEMORY_READ));
        break;
    case OM_DMA: result_u64(ctx, op->dma_stall_ps); break;
    case OM_EAGER: sqlite3_result_int(ctx, op->is_eager); break;
    case OM_PARENT:
        if (row->parent) result_text(ctx, row->parent->name);
        break;
    case OM_CORE_TYPE:
        if (op->core_type) result_static(ctx, core_type_names[op->core_type]);
        break;
    case OM_ID: sqlite3_result_int64(ctx, row->id); break;
    case OM_PARENT_ID:
        if (row->parent) sqlite3_result_int64(ctx, row->parent_id);
        break;
    case OM_LONG_NAME: result_nonempty(ctx, op->long_name); break;
    case OM_DEDUPLICATED: result_nonempty(ctx, op->deduplicated_name); break;
    case OM_CORES:
        if (row->side == SIDE_DEVICE) sqlite3_result_int64(ctx, op->n_cores);
        break;
    case OM_SOURCE_FILE: result_nonempty(ctx, op->source_file); break;
    case OM_SOURCE_LINE:
        if (op->source_file->n_bytes && op->source_line >= 0)
            sqlite3_result_int(ctx, op->source_line);
        break;
    case OM_SOURCE_STACK: result_nonempty(ctx, op->source_stack); break;
    case OM_ENERGY:
        if (op->has_energy) sqlite3_result_double(ctx, op->energy_j);
        break;
    case OM_MEMORY: result_memory(ctx, op); break;
    case OM_EXECUTIONS:
        if (row->side == SIDE_DEVICE && op->executions) result_u64(ctx, op->executions);
        break;
    case OM_FLOPS_ACTUAL:
        if (row->side == SIDE_DEVICE && !isnan(op->flops_actual))
            sqlite3_result_double(ctx, op->flops_actual);
        break;
    case OM_MODEL_FLOPS_ACTUAL:
        if (row->side == SIDE_DEVICE && !isnan(op->model_flops_actual))
            sqlite3_result_double(ctx, op->model_flops_actual);
        break;
    case OM_BYTES_ACTUAL:
        if (row->side == SIDE_DEVICE && op->has_actual_bytes) result_u64(ctx, op->bytes_actual);
        break;
    default: break;
    }
}

static const RowSource op_metrics_rows = {.list = op_metrics_list,
                                          .column = op_metrics_column,
                                          .per_run = true,
                                          .needs = NEED_EVENTS,
                                          .nothing =
                                              "no event is an op of a framework or of a device"};
const Table op_metrics_table = {
    "op_metrics",
    "one op on host threads or on devices, with its occurrences, times, FLOPs and bytes",
    op_metrics_columns,
    COUNT(op_metrics_columns),
    &row_table_module,
    &op_metrics_rows,
    1000,
    "0.1.0",
    "SELECT name, category, occurrences, self_ps FROM op_metrics WHERE side = 'device' LIMIT 10"};

/* ---- op_metrics_totals ---- */

#define OP_TOTALS_COLUMNS(C)                                                                       \
    C(OT_RUN, RUN_DOC)                                                                             \
    C(OT_SIDE, SIDE_DOC)                                                                           \
    C(OT_OPS, "op_count", "INTEGER", "ops", "number of ops, IDLE included", "libprofsql")          \
    C(OT_TOTAL, "total_ps", "INTEGER", "ps", "measured time, summed over threads or cores",        \
      "OpMetricsDb.total_time_ps")                                                                 \
    C(OT_TOTAL_OP, "total_op_ps", "INTEGER", "ps",                                                 \
      "measured time in ops: the sum of their self times", "OpMetricsDb.total_op_time_ps")         \
    C(OT_NORMALIZED, "normalized_total_op_ps", "INTEGER", "ps",                                    \
      "total_op_ps at the default clock rate; NULL if unknown",                                    \
      "OpMetricsDb.normalized_total_op_time_ps")                                                   \
    C(OT_IDLE, "idle_fraction", "REAL", "fraction 0..1",                                           \
      "share of the measured time without any op; 1 if no time was measured", "libprofsql")        \
    C(OT_BUSY_PS, "busy_ps", "INTEGER", "ps",                                                      \
      "time in which at least one core of a chip was on duty, summed over chips; NULL for the "    \
      "sides host and framework, and if not on TPU",                                               \
      "OpMetricsDb.busy_time_ps")                                                                  \
    C(OT_IDLE_PS, "idle_ps", "INTEGER", "ps",                                                      \
      "time in which no core of a chip was on duty, summed over chips; NULL for the sides host "   \
      "and framework, and if not on TPU",                                                          \
      "OpMetricsDb.idle_time_ps")                                                                  \
    C(OT_INFEED, "infeed_enqueue_ps", "INTEGER", "ps",                                             \
      "total duration of infeed enqueues, without the last one of each thread; NULL for the "      \
      "sides device and framework",                                                                \
      "OpMetricsDb.total_host_infeed_enq_duration_ps")                                             \
    C(OT_INFEED_INTERVAL, "infeed_interval_ps", "INTEGER", "ps",                                   \
      "total time between the starts of consecutive infeed enqueues; NULL for the sides device "   \
      "and framework",                                                                             \
      "OpMetricsDb.total_host_infeed_enq_start_timestamp_ps_diff")                                 \
    C(OT_SURE_BUSY, "busy_high_confidence_ps", "INTEGER", "ps",                                    \
      "busy_ps without custom calls whose work is unknown; NULL for the sides host and "           \
      "framework, and if not on TPU",                                                              \
      "OpMetricsDb.busy_time_high_confidence_ps")                                                  \
    C(OT_SURE_IDLE, "idle_high_confidence_ps", "INTEGER", "ps",                                    \
      "busy_ps plus idle_ps, minus busy_high_confidence_ps; NULL for the sides host and "          \
      "framework, and if not on TPU",                                                              \
      "OpMetricsDb.idle_time_high_confidence_ps")                                                  \
    C(OT_COMPUTE_16, "compute_16bit_ps", "INTEGER", "ps",                                          \
      "time in which GPU events that have a group compute with 16-bit numbers, summed over the "   \
      "groups of each host; simultaneous events of a group count once. NULL for the sides host "   \
      "and framework",                                                                             \
      "PrecisionStats.compute_16bit_ps")                                                           \
    C(OT_COMPUTE_32, "compute_32bit_ps", "INTEGER", "ps",                                          \
      "time in which GPU events that have a group compute with other than 16-bit numbers, and "    \
      "none of the group computes with 16-bit numbers; counted as in compute_16bit_ps. NULL for "  \
      "the sides host and framework",                                                              \
      "PrecisionStats.compute_32bit_ps")                                                           \
    C(OT_COMPUTE_16_ACTUAL, "compute_16bit_ps_actual", "INTEGER", "ps",                            \
      "compute_16bit_ps without copies, whatever name the profiler gives them; NULL for the "      \
      "sides host and framework, and without a GPU",                                               \
      "libprofsql")                                                                                \
    C(OT_COMPUTE_32_ACTUAL, "compute_32bit_ps_actual", "INTEGER", "ps",                            \
      "compute_32bit_ps without copies, whatever name the profiler gives them; NULL for the "      \
      "sides host and framework, and without a GPU",                                               \
      "libprofsql")                                                                                \
    C(OT_SOURCE, SOURCE_DOC)
enum { OP_TOTALS_COLUMNS(COLUMN_ENUM) };
static const Column op_metrics_totals_columns[] = {OP_TOTALS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const OpMetricsDb *sides[N_OP_SIDES];
    const StepDb *steps;
} Totals;

static void op_metrics_totals_list(RowCursor *c, RowList *list)
{
    const OpStats *stats = run_op_stats(c->from->run, c->from->only, &c->err);
    Totals *state = c->state;
    if (!stats) return;
    for (int side = 0; side < N_OP_SIDES; side++) state->sides[side] = op_side_db(stats, side);
    *list = ROW_LIST(state->sides, N_OP_SIDES);
}

static void precision_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    Totals *state = c->state;
    if (!state->steps) state->steps = run_steps(c->from->run, c->from->only, &c->err);
    const StepDb *steps = state->steps;
    if (!steps) return;
    switch (column) {
    case OT_COMPUTE_16: result_u64(ctx, steps->compute_16bit_ps); break;
    case OT_COMPUTE_32: result_u64(ctx, steps->compute_32bit_ps); break;
    case OT_COMPUTE_16_ACTUAL:
        if (steps->hardware == HARDWARE_GPU) result_u64(ctx, steps->compute_16bit_ps_actual);
        break;
    default:
        if (steps->hardware == HARDWARE_GPU) result_u64(ctx, steps->compute_32bit_ps_actual);
        break;
    }
}

static void op_metrics_totals_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const OpMetricsDb *db = *(const OpMetricsDb *const *)c->row;
    size_t side = c->at_row;
    bool device = side == SIDE_DEVICE, tpu = device && (db->busy_ps || db->idle_ps);
    switch (column) {
    case OT_SIDE: result_static(ctx, op_side_names[side]); break;
    case OT_OPS: sqlite3_result_int64(ctx, (sqlite3_int64)db->n_ops); break;
    case OT_TOTAL: result_u64(ctx, db->total_ps); break;
    case OT_TOTAL_OP: result_u64(ctx, db->total_op_ps); break;
    case OT_NORMALIZED:
        if (device && db->normalized_total_ps) result_u64(ctx, db->normalized_total_ps);
        break;
    case OT_IDLE: sqlite3_result_double(ctx, op_db_idle_fraction(db)); break;
    case OT_BUSY_PS:
        if (tpu) result_u64(ctx, db->busy_ps);
        break;
    case OT_IDLE_PS:
        if (tpu) result_u64(ctx, db->idle_ps);
        break;
    case OT_COMPUTE_16:
    case OT_COMPUTE_32:
    case OT_COMPUTE_16_ACTUAL:
    case OT_COMPUTE_32_ACTUAL:
        if (device) precision_column(c, ctx, column);
        break;
    case OT_SURE_BUSY:
        if (tpu) result_u64(ctx, db->sure_busy_ps);
        break;
    case OT_SURE_IDLE:
        if (tpu) result_u64(ctx, db->sure_idle_ps);
        break;
    case OT_INFEED:
        if (side == SIDE_HOST) result_u64(ctx, db->infeed_duration_ps);
        break;
    case OT_INFEED_INTERVAL:
        if (side == SIDE_HOST) result_u64(ctx, db->infeed_interval_ps);
        break;
    default: break;
    }
}

static const RowSource op_metrics_totals_rows = {
    .list = op_metrics_totals_list,
    .state_bytes = sizeof(Totals),
    .column = op_metrics_totals_column,
    .per_run = true,
};
const Table op_metrics_totals_table = {
    "op_metrics_totals",
    "one side of a run (host, device or framework), with its measured time, time in ops and duty "
    "cycle",
    op_metrics_totals_columns,
    COUNT(op_metrics_totals_columns),
    &row_table_module,
    &op_metrics_totals_rows,
    3,
    "0.1.0",
    "SELECT side, op_count, busy_ps, idle_ps FROM op_metrics_totals"};
