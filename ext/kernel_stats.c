// SPDX-License-Identifier: Apache-2.0
/* kernel_stats.c: the table kernel_stats: GPU kernels as in XProf's kernel stats, and corrected.
 *
 *   SELECT kernel_name, occurrences, total_duration_us FROM kernel_stats('logs') LIMIT 10;
 *   SELECT *
 *     FROM kernel_stats('logs', 0)
 *     WHERE kernel_uses_tensorcore <> kernel_uses_tensorcore_actual; */
#include "../loader/analysis/ops/kernels.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define KERNEL_STATS_COLUMNS(C)                                                                    \
    C(KS_RUN, RUN_DOC)                                                                             \
    C(KS_RANK, "rank", "INTEGER", NULL, "rank of the kernel by total duration; 1 is the longest",  \
      "kernel_stats rank")                                                                         \
    C(KS_NAME, "kernel_name", "TEXT", NULL, "name of the kernel", "kernel_stats kernel_name")      \
    C(KS_SHORT_NAME, KERNEL_SHORT_NAME_DOC)                                                        \
    C(KS_REGISTERS, "registers_per_thread", "INTEGER", "registers",                                \
      "registers per thread; 0 if unknown", "kernel_stats registers_per_thread")                   \
    C(KS_SHARED, "shared_memory_bytes", "INTEGER", "bytes",                                        \
      "static plus dynamic shared memory per block; 0 if unknown", "kernel_stats shmem_bytes")     \
    C(KS_BLOCK, "block_dim", "TEXT", NULL, "threads per block as x,y,z; 1,1,1 if unknown",         \
      "kernel_stats block_dim")                                                                    \
    C(KS_GRID, "grid_dim", "TEXT", NULL, "blocks in the grid as x,y,z; 1,1,1 if unknown",          \
      "kernel_stats grid_dim")                                                                     \
    C(KS_OCCUPANCY, "occupancy_percent", "REAL", "percent",                                        \
      "theoretical occupancy of the row's first kernel, as stored in the file; above 100 if the "  \
      "stored value is invalid, NULL if it is NaN or infinite, 0 if unknown",                      \
      "kernel_stats occupancy_pct")                                                                \
    C(KS_ELIGIBLE, "op_is_tensorcore_eligible", "INTEGER", "0 or 1",                               \
      "1: tensor cores could run the op, judged by the op's name",                                 \
      "kernel_stats is_op_tensor_core_eligible")                                                   \
    C(KS_USES, "kernel_uses_tensorcore", "INTEGER", "0 or 1",                                      \
      "1: the kernel runs on tensor cores, judged by XProf's list of kernel names",                \
      "kernel_stats is_kernel_using_tensor_core")                                                  \
    C(KS_OP, "op_name", "TEXT", NULL,                                                              \
      "name of the framework op that the kernel runs for; empty if XProf finds none",              \
      "kernel_stats op_name")                                                                      \
    C(KS_OCCURRENCES, "occurrences", "INTEGER", "kernels", "number of times that the kernel ran",  \
      "kernel_stats occurrences")                                                                  \
    C(KS_TOTAL, "total_duration_us", "REAL", "us",                                                 \
      "sum of the kernel's durations, each truncated to a nanosecond",                             \
      "kernel_stats total_duration_us")                                                            \
    C(KS_AVG, "avg_duration_us", "REAL", "us",                                                     \
      "average duration of the kernel, truncated to a nanosecond", "kernel_stats avg_duration_us") \
    C(KS_MIN, "min_duration_us", "REAL", "us", "shortest duration of the kernel",                  \
      "kernel_stats min_duration_us")                                                              \
    C(KS_MAX, "max_duration_us", "REAL", "us", "longest duration of the kernel",                   \
      "kernel_stats max_duration_us")                                                              \
    C(KS_STATIC, "static_shared_bytes", "INTEGER", "bytes",                                        \
      "static shared memory per block; 0 if unknown", "OpStats static_shmem_bytes")                \
    C(KS_DYNAMIC, "dynamic_shared_bytes", "INTEGER", "bytes",                                      \
      "dynamic shared memory per block; 0 if unknown", "OpStats dynamic_shmem_bytes")              \
    C(KS_HOST, HOST_DOC)                                                                           \
    C(KS_REGISTERS_ACTUAL, "registers_per_thread_actual", "INTEGER", "registers",                  \
      "registers per thread, read from kernel_details in all formats that profilers write; NULL "  \
      "if unknown, above 1024 (no GPU has so many), or if the launches differ",                    \
      "kernel_details")                                                                            \
    C(KS_SHARED_ACTUAL, "shared_memory_bytes_actual", "INTEGER", "bytes",                          \
      "static plus dynamic shared memory per block, read from kernel_details in all formats "      \
      "that profilers write; NULL if unknown, if kernel_details is invalid (more than 1024 "       \
      "registers), or if the launches differ",                                                     \
      "kernel_details")                                                                            \
    C(KS_BLOCK_ACTUAL, "block_dim_actual", "TEXT", NULL,                                           \
      "threads per block as x,y,z, read from kernel_details in all formats that profilers write; " \
      "NULL if unknown or if the launches differ",                                                 \
      "kernel_details")                                                                            \
    C(KS_GRID_ACTUAL, "grid_dim_actual", "TEXT", NULL,                                             \
      "blocks in the grid as x,y,z, read from kernel_details in all formats that profilers "       \
      "write; NULL if unknown or if the launches differ",                                          \
      "kernel_details")                                                                            \
    C(KS_OCCUPANCY_ACTUAL, "occupancy_percent_actual", "REAL", "percent 0..100",                   \
      "theoretical occupancy; NULL if unknown, 0, above 100, or if the launches differ",           \
      "kernel_details")                                                                            \
    C(KS_ELIGIBLE_ACTUAL, "op_is_tensorcore_eligible_actual", "INTEGER", "0 or 1",                 \
      "1: tensor cores could run the op of one of the kernels: the kernel uses them, or "          \
      "op_name_actual is the name of such an op (docs/semantics.md, Canned queries) and the HLO "  \
      "op, if known, contains a matrix product (also as a multiplication and a reduction), a "     \
      "convolution or a library call (as kernel_ops.op_is_tensorcore_eligible)",                   \
      "libprofsql")                                                                                \
    C(KS_USES_ACTUAL, "kernel_uses_tensorcore_actual", "INTEGER", "0 or 1",                        \
      "1: the kernel runs on tensor cores, judged by its HLO op and its name. Also recognizes "    \
      "products that XLA compiles with Triton, kernels of Hopper and Blackwell, cuDNN and "        \
      "attention, which XProf's list lacks, and kernels in files that name no vendor",             \
      "libprofsql")                                                                                \
    C(KS_OP_ACTUAL, "op_name_actual", "TEXT", NULL,                                                \
      "name of the framework op that the kernel runs for, also in files of older profilers; NULL " \
      "if unknown or if the launches differ (kernel_ops lists each op)",                           \
      "tf_op, hlo_op, level 0, annotation")                                                        \
    C(KS_SOURCE, SOURCE_DOC)                                                                       \
    C(KS_LIMIT, "row_limit", "INTEGER HIDDEN", "rows",                                             \
      "number of kernels to return, longest first; 0: all; default 1000, as in XProf",             \
      "argument 2")
enum { KERNEL_STATS_COLUMNS(COLUMN_ENUM) };
static const Column kernel_stats_columns[] = {KERNEL_STATS_COLUMNS(COLUMN_DOC)};

static void kernel_stats_list(RowCursor *c, RowList *list)
{
    const KernelStats *stats = run_kernel_stats(c->from->run, c->from->only, &c->err);
    sqlite3_int64 limit = row_integer_parameter(c, 0, XPROF_KERNELS);
    if (!stats) return;
    *list = ROW_LIST(stats->reports, stats->n_reports);
    if (limit > 0 && (uint64_t)limit < list->n) list->n = (size_t)limit;
}

static void result_three(sqlite3_context *ctx, const uint32_t three[3])
{
    result_owned(ctx, sqlite3_mprintf("%u,%u,%u", three[0], three[1], three[2]));
}

static void actual_column(sqlite3_context *ctx, const KernelReport *r, int column)
{
    const KernelLaunch *l = &r->actual;
    static const unsigned needs[] = {
        [KS_REGISTERS_ACTUAL] = LAUNCH_REGISTERS, [KS_SHARED_ACTUAL] = LAUNCH_SHARED,
        [KS_BLOCK_ACTUAL] = LAUNCH_BLOCK,         [KS_GRID_ACTUAL] = LAUNCH_GRID,
        [KS_OCCUPANCY_ACTUAL] = LAUNCH_OCCUPANCY, [KS_OP_ACTUAL] = KERNEL_OP_NAME};
    if (needs[column] & ~l->known) return;
    switch (column) {
    case KS_REGISTERS_ACTUAL: sqlite3_result_int64(ctx, l->registers); break;
    case KS_SHARED_ACTUAL:
        sqlite3_result_int64(ctx, (sqlite3_int64)l->static_shared + l->dynamic_shared);
        break;
    case KS_BLOCK_ACTUAL: result_three(ctx, l->block); break;
    case KS_GRID_ACTUAL: result_three(ctx, l->grid); break;
    case KS_OCCUPANCY_ACTUAL: sqlite3_result_double(ctx, (double)l->occupancy); break;
    case KS_ELIGIBLE_ACTUAL: sqlite3_result_int(ctx, r->actual_eligible); break;
    case KS_USES_ACTUAL: sqlite3_result_int(ctx, r->actual_uses_tensorcore); break;
    default: result_text(ctx, r->actual_op_name); break;
    }
}

static void kernel_stats_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const KernelReport *r = c->row;
    const KernelLaunch *l = &r->launch;
    switch (column) {
    case KS_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)c->at_row + 1); break;
    case KS_NAME: result_text(ctx, r->name); break;
    case KS_SHORT_NAME: result_kernel(c, ctx, r->name); break;
    case KS_REGISTERS: sqlite3_result_int64(ctx, l->registers); break;
    case KS_SHARED:
        sqlite3_result_int64(ctx, (uint32_t)(l->static_shared + l->dynamic_shared));
        break; /* wraps like XProf's sum */
    case KS_BLOCK: result_three(ctx, l->block); break;
    case KS_GRID: result_three(ctx, l->grid); break;
    case KS_OCCUPANCY:
        if (isfinite(l->occupancy)) sqlite3_result_double(ctx, (double)l->occupancy);
        break;
    case KS_ELIGIBLE: sqlite3_result_int(ctx, r->eligible); break;
    case KS_USES: sqlite3_result_int(ctx, r->uses_tensorcore); break;
    case KS_OP: result_text(ctx, r->op_name); break;
    case KS_OCCURRENCES: sqlite3_result_int64(ctx, (sqlite3_int64)r->occurrences); break;
    case KS_TOTAL: sqlite3_result_double(ctx, (double)r->total_ns / 1e3); break;
    case KS_AVG: sqlite3_result_double(ctx, (double)(r->total_ns / r->occurrences) / 1e3); break;
    case KS_MIN: sqlite3_result_double(ctx, (double)r->min_ns / 1e3); break;
    case KS_MAX: sqlite3_result_double(ctx, (double)r->max_ns / 1e3); break;
    case KS_STATIC: sqlite3_result_int64(ctx, l->static_shared); break;
    case KS_DYNAMIC: sqlite3_result_int64(ctx, l->dynamic_shared); break;
    case KS_HOST: result_static(ctx, r->host->name); break;
    default: actual_column(ctx, r, column); break;
    }
}

static const RowSource kernel_stats_rows = {.list = kernel_stats_list,
                                            .column = kernel_stats_column,
                                            .per_run = true,
                                            .n_parameters = 1,
                                            .needs = NEED_EVENTS | NEED_GPU,
                                            .nothing = "no event on a GPU is a kernel"};
const Table kernel_stats_table = {"kernel_stats",
                                  "one GPU kernel by name, launch configuration and op, as in "
                                  "XProf's kernel stats; longest kernel first",
                                  kernel_stats_columns,
                                  COUNT(kernel_stats_columns),
                                  &row_table_module,
                                  &kernel_stats_rows,
                                  500,
                                  "0.1.0",
                                  "SELECT short_name, occurrences, total_duration_us, "
                                  "occupancy_percent FROM kernel_stats LIMIT 10"};
