// SPDX-License-Identifier: Apache-2.0
/* roofline.c: the table roofline: how close the program and its ops come to the device's peaks.
 *
 *   SELECT operation, bound_by, roofline_efficiency_fraction FROM roofline('logs')
 *    WHERE record = 'Total' AND include_infeed_outfeed LIMIT 10; */
#include "../loader/analysis/insights/roofline.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

/* ---- roofline ---- */

#define ROOFLINE_COLUMNS(C)                                                                        \
    C(RL_RUN, RUN_DOC)                                                                             \
    C(RL_RECORD, "record", "TEXT", NULL,                                                           \
      "part of the run that the row covers: Total (the entire session), Average (the complete "    \
      "steps) or the number of a step",                                                            \
      "roofline_model step")                                                                       \
    C(RL_RANK, "rank", "INTEGER", NULL,                                                            \
      "0 for the entire program; from 1, rank of the op by self time (at most 999, as in XProf)",  \
      "roofline_model rank")                                                                       \
    C(RL_CATEGORY, "category", "TEXT", NULL,                                                       \
      "HLO category of the op; without one, the opcode in the op's name, else unknown; Program "   \
      "for the entire program",                                                                    \
      "roofline_model category")                                                                   \
    C(RL_OPERATION, "operation", "TEXT", NULL, "name of the op, or Program",                       \
      "roofline_model operation")                                                                  \
    C(RL_OCCURRENCES, "occurrences", "INTEGER", NULL, "number of times that the op ran",           \
      "roofline_model occurrences")                                                                \
    C(RL_TOTAL, "total_time_us", "REAL", "us",                                                     \
      "total time of all occurrences on all cores, nested ops included",                           \
      "roofline_model total_time")                                                                 \
    C(RL_AVG, "avg_time_us", "REAL", "us", "average total time of one occurrence",                 \
      "roofline_model avg_time")                                                                   \
    C(RL_SELF, "total_self_time_us", "REAL", "us",                                                 \
      "total time of all occurrences without nested ops", "roofline_model total_self_time")        \
    C(RL_AVG_SELF, "avg_self_time_us", "REAL", "us",                                               \
      "average time of one occurrence without nested ops", "roofline_model avg_self_time")         \
    C(RL_FRACTION, "self_time_fraction", "REAL", "fraction 0..1",                                  \
      "self time of the op divided by the program's time",                                         \
      "roofline_model total_self_time_percent")                                                    \
    C(RL_CUMULATIVE, "cumulative_self_time_fraction", "REAL", "fraction 0..1",                     \
      "sum of self_time_fraction of this op and the ops before it",                                \
      "roofline_model cumulative_total_self_time_percent")                                         \
    C(RL_STALL, "dma_stall_fraction", "REAL", "fraction 0..1",                                     \
      "share of the op's time in which it is stalled by DMA; NULL on GPU",                         \
      "roofline_model dma_stall_percent")                                                          \
    C(RL_GFLOPS, "normalized_gflops", "REAL", "GFLOP/s",                                           \
      "FLOP rate; an 8-bit operation counts as a half, a 4-bit one as a quarter",                  \
      "roofline_model measured_flop_rate")                                                         \
    C(RL_MODEL, "model_gflops", "REAL", "GFLOP/s", "FLOP rate, without device-specific weights",   \
      "roofline_model model_flop_rate")                                                            \
    C(RL_MEMORY, "memory_bw_gibps", "REAL", "GiB/s", "bytes accessed per second",                  \
      "roofline_model measured_memory_bw")                                                         \
    C(RL_HBM, "hbm_bw_gibps", "REAL", "GiB/s", "bytes of HBM traffic per second",                  \
      "roofline_model hbm_bw")                                                                     \
    C(RL_CMEM_READ, "cmem_read_bw_gibps", "REAL", "GiB/s",                                         \
      "bytes read from CMEM per second; NULL on GPU", "roofline_model cmem_read_bw")               \
    C(RL_CMEM_WRITE, "cmem_write_bw_gibps", "REAL", "GiB/s",                                       \
      "bytes written to CMEM per second; NULL on GPU", "roofline_model cmem_write_bw")             \
    C(RL_VMEM_READ, "vmem_read_bw_gibps", "REAL", "GiB/s",                                         \
      "bytes read from VMEM per second; NULL on GPU", "roofline_model vmem_read_bw")               \
    C(RL_VMEM_WRITE, "vmem_write_bw_gibps", "REAL", "GiB/s",                                       \
      "bytes written to VMEM per second; on GPU, to shared memory, which no profiler records (0)", \
      "roofline_model vmem_write_bw")                                                              \
    C(RL_INTENSITY, "operational_intensity", "REAL", "FLOP/byte", "operations per byte accessed",  \
      "roofline_model operational_intensity")                                                      \
    C(RL_HBM_I, "hbm_operational_intensity", "REAL", "FLOP/byte",                                  \
      "operations per byte of HBM traffic", "roofline_model hbm_operational_intensity")            \
    C(RL_CMEM_READ_I, "cmem_read_operational_intensity", "REAL", "FLOP/byte",                      \
      "operations per byte read from CMEM; NULL on GPU",                                           \
      "roofline_model cmem_read_operational_intensity")                                            \
    C(RL_CMEM_WRITE_I, "cmem_write_operational_intensity", "REAL", "FLOP/byte",                    \
      "operations per byte written to CMEM; NULL on GPU",                                          \
      "roofline_model cmem_write_operational_intensity")                                           \
    C(RL_VMEM_READ_I, "vmem_read_operational_intensity", "REAL", "FLOP/byte",                      \
      "operations per byte read from VMEM; NULL on GPU",                                           \
      "roofline_model vmem_read_operational_intensity")                                            \
    C(RL_VMEM_WRITE_I, "vmem_write_operational_intensity", "REAL", "FLOP/byte",                    \
      "operations per byte written to VMEM (on GPU: to shared memory)",                            \
      "roofline_model vmem_write_operational_intensity")                                           \
    C(RL_BOTTLENECK, "bottleneck_operational_intensity", "REAL", "FLOP/byte",                      \
      "operational intensity for the resource in bound_by",                                        \
      "roofline_model bottleneck_operational_intensity")                                           \
    C(RL_BOUND, "bound_by", "TEXT", NULL,                                                          \
      "resource that is closest to its peak: Compute, HBM, CMEM Read, CMEM Write, VMEM Read, "     \
      "VMEM Write, Shm/L1; or Unknown",                                                            \
      "roofline_model bound_by")                                                                   \
    C(RL_PER_CORE, "total_time_per_core_us", "REAL", "us",                                         \
      "total time of all occurrences divided by the number of cores",                              \
      "roofline_model total_time_per_core")                                                        \
    C(RL_TOTAL_FRACTION, "total_time_fraction", "REAL", "fraction 0..1",                           \
      "total time of the op divided by the program's total time",                                  \
      "roofline_model total_time_in_percentage")                                                   \
    C(RL_OPTIMAL, "optimal_gflops", "REAL", "GFLOP/s",                                             \
      "FLOP rate that the roofline allows at this operational intensity",                          \
      "roofline_model optimal_flop_rate")                                                          \
    C(RL_EFFICIENCY, "roofline_efficiency_fraction", "REAL", "fraction",                           \
      "measured rate divided by the optimal rate; above 1 if a cost is overestimated, and for "    \
      "asynchronous transfers",                                                                    \
      "roofline_model roofline_efficiency")                                                        \
    C(RL_COMPUTE, "compute_efficiency_fraction", "REAL", "fraction",                               \
      "measured FLOP rate divided by the peak rate; above 1 if a cost is overestimated",           \
      "roofline_model compute_efficiency")                                                         \
    C(RL_MEMORY_U, "max_memory_bw_utilization_fraction", "REAL", "fraction",                       \
      "bandwidth divided by peak bandwidth, for the memory with the highest utilization; above 1 " \
      "if a cost is overestimated, and for asynchronous transfers",                                \
      "roofline_model max_mem_bw_utilization")                                                     \
    C(RL_INFEED, "include_infeed_outfeed", "INTEGER", "0 or 1",                                    \
      "1: row includes the ops that feed the device (infeed, outfeed); 0: row excludes them and "  \
      "their time",                                                                                \
      "roofline_model include_infeed_outfeed")                                                     \
    C(RL_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the op's program, decimal; 0 for the entire program", "roofline_model hlo_module_id") \
    C(RL_FILE, "source_file", "TEXT", NULL, "source file of the op; NULL if unknown",              \
      "roofline_model source_info")                                                                \
    C(RL_LINE, "source_line", "INTEGER", NULL, "line of the op in source_file; NULL if unknown",   \
      "roofline_model source_info")                                                                \
    C(RL_STACK, "source_stack", "TEXT", NULL,                                                      \
      "call stack of the op in source lines; NULL if unknown", "roofline_model source_info")       \
    C(RL_FLOPS, "flops", "REAL", "FLOP",                                                           \
      "floating-point operations of all occurrences; an 8-bit operation counts as a half, a "      \
      "4-bit one as a quarter",                                                                    \
      "OpMetrics.flops_v2")                                                                        \
    C(RL_FLOPS_ACTUAL, "flops_actual", "REAL", "FLOP",                                             \
      "operations as in hlo_ops.flops_actual. For the program: sum over the ops where it is "      \
      "known. For a step: the op's value divided evenly over its occurrences. NULL if unknown, "   \
      "and for steps on GPU",                                                                      \
      "libprofsql")                                                                                \
    C(RL_MODEL_FLOPS_ACTUAL, "model_flops_actual", "REAL", "FLOP",                                 \
      "operations as in hlo_ops.model_flops_actual, summed like flops_actual; sums of the "        \
      "program and of steps leave out ops that are computed again. NULL if unknown, and for "      \
      "steps on GPU",                                                                              \
      "libprofsql")                                                                                \
    C(RL_BYTES, "bytes_accessed", "INTEGER", "bytes", "bytes accessed by all occurrences",         \
      "OpMetrics.bytes_accessed")                                                                  \
    C(RL_HBM_BYTES, "hbm_bytes", "INTEGER", "bytes",                                               \
      "bytes of HBM traffic of all occurrences; all bytes accessed if the file does not "          \
      "distinguish memories",                                                                      \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(RL_SOURCE, SOURCE_DOC)
enum { ROOFLINE_COLUMNS(COLUMN_ENUM) };
static const Column roofline_columns[] = {ROOFLINE_COLUMNS(COLUMN_DOC)};

typedef struct {
    bool gpu;
} RooflineState;

static void roofline_list(RowCursor *c, RowList *list)
{
    const Roofline *roofline = run_roofline(c->from->run, c->from->only, &c->err);
    RooflineState *state = c->state;
    if (!roofline) return;
    *list = ROW_LIST(roofline->rows, roofline->n_rows);
    state->gpu = roofline->gpu;
}

static void text_column(sqlite3_context *ctx, const RooflineRow *row, int column)
{
    const OpMetrics *op = &row->op;
    switch (column) {
    case RL_RECORD:
        if (row->record == ROOFLINE_STEP)
            result_owned(ctx, sqlite3_mprintf("%lld", (long long)row->step));
        else
            result_static(ctx, row->record == ROOFLINE_TOTAL ? "Total" : "Average");
        break;
    case RL_CATEGORY:
    case RL_OPERATION:
        if (!row->rank)
            result_static(ctx, "Program");
        else
            result_slice(ctx, column == RL_CATEGORY ? roofline_category(op) : slice_of(op->name));
        break;
    case RL_BOUND: result_static(ctx, row->rates.bound_by); break;
    case RL_PROGRAM: result_id(ctx, op->program_id); break;
    case RL_FILE:
        if (op->source_file->n_bytes && op->source_line != -1) result_text(ctx, op->source_file);
        break;
    case RL_STACK:
        if (op->source_file->n_bytes && op->source_line != -1 && op->source_stack->n_bytes)
            result_text(ctx, op->source_stack);
        break;
    default: break;
    }
}

static double rate_column(const RooflineRow *row, int column)
{
    const OpRates *r = &row->rates;
    switch (column) {
    case RL_TOTAL: return row->total_us;
    case RL_AVG: return row->average_us;
    case RL_SELF: return row->self_us;
    case RL_AVG_SELF: return row->average_self_us;
    case RL_FRACTION: return row->self_fraction;
    case RL_CUMULATIVE: return row->cumulative_fraction;
    case RL_STALL: return row->dma_stall_fraction;
    case RL_GFLOPS: return r->gflops;
    case RL_MODEL: return r->model_gflops;
    case RL_MEMORY: return r->memory_gibps;
    case RL_HBM:
    case RL_CMEM_READ:
    case RL_CMEM_WRITE:
    case RL_VMEM_READ:
    case RL_VMEM_WRITE: return r->traffic_gibps[column - RL_HBM];
    case RL_INTENSITY: return r->intensity;
    case RL_HBM_I:
    case RL_CMEM_READ_I:
    case RL_CMEM_WRITE_I:
    case RL_VMEM_READ_I:
    case RL_VMEM_WRITE_I: return r->traffic_intensity[column - RL_HBM_I];
    case RL_BOTTLENECK: return r->bottleneck_intensity;
    case RL_PER_CORE: return row->total_us_per_core;
    case RL_TOTAL_FRACTION: return row->total_fraction;
    case RL_OPTIMAL: return row->optimal_gflops;
    case RL_EFFICIENCY: return row->efficiency;
    case RL_COMPUTE: return row->compute_efficiency;
    case RL_MEMORY_U: return row->memory_utilization;
    default: return row->op.flops;
    }
}

/* Columns that XProf only has for TPUs are NULL on a GPU. */
static void roofline_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const RooflineRow *row = c->row;
    bool gpu = ((RooflineState *)c->state)->gpu;
    switch (column) {
    case RL_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)row->rank); break;
    case RL_OCCURRENCES: sqlite3_result_int64(ctx, row->op.occurrences); break;
    case RL_INFEED: sqlite3_result_int(ctx, row->with_infeed_outfeed); break;
    case RL_LINE:
        if (row->op.source_file->n_bytes && row->op.source_line != -1)
            sqlite3_result_int(ctx, row->op.source_line);
        break;
    case RL_FLOPS_ACTUAL:
    case RL_MODEL_FLOPS_ACTUAL: {
        double value =
            column == RL_FLOPS_ACTUAL ? row->op.flops_actual : row->op.model_flops_actual;
        /* GPU ops are not kept for single steps */
        bool kept = row->record == ROOFLINE_TOTAL || !gpu;
        if (kept && !isnan(value)) sqlite3_result_double(ctx, value);
        break;
    }
    case RL_BYTES: result_u64_or_real(ctx, row->op.bytes_accessed); break;
    case RL_HBM_BYTES: result_u64_or_real(ctx, op_hbm_bytes(&row->op)); break;
    case RL_RECORD:
    case RL_CATEGORY:
    case RL_OPERATION:
    case RL_BOUND:
    case RL_PROGRAM:
    case RL_FILE:
    case RL_STACK: text_column(ctx, row, column); break;
    case RL_STALL:
    case RL_CMEM_READ:
    case RL_CMEM_WRITE:
    case RL_VMEM_READ:
    case RL_CMEM_READ_I:
    case RL_CMEM_WRITE_I:
    case RL_VMEM_READ_I:
        if (!gpu) sqlite3_result_double(ctx, rate_column(row, column));
        break;
    default: sqlite3_result_double(ctx, rate_column(row, column)); break;
    }
}

static const RowSource roofline_rows = {.list = roofline_list,
                                        .state_bytes = sizeof(RooflineState),
                                        .column = roofline_column,
                                        .per_run = true,
                                        .needs = NEED_EVENTS | NEED_DEVICE,
                                        .nothing = "no op on a device has a duration"};
const Table roofline_table = {
    "roofline",
    "one op, or the entire program, compared with the peak rates of the device, as in XProf's "
    "roofline model",
    roofline_columns,
    COUNT(roofline_columns),
    &row_table_module,
    &roofline_rows,
    500,
    "0.1.0",
    "SELECT operation, total_self_time_us, operational_intensity, bound_by FROM roofline LIMIT 10"};
