// SPDX-License-Identifier: Apache-2.0
/* kernel_ops.c: the table kernel_ops: the framework ops for which GPU kernels run, in files of any
 * software version.
 *
 *   SELECT kernel_name, op_name, occurrences, total_duration_us
 *     FROM kernel_ops('logs') WHERE is_helper;
 *
 * kernel_stats has XProf's rows, which merge kernels of different ops where XProf finds no op. */
#include "../loader/analysis/ops/kernels.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define KERNEL_OPS_COLUMNS(C)                                                                      \
    C(KO_RUN, RUN_DOC)                                                                             \
    C(KO_NAME, "kernel_name", "TEXT", NULL, "name of the kernel", "XEventMetadata.name")           \
    C(KO_SHORT_NAME, KERNEL_SHORT_NAME_DOC)                                                        \
    C(KO_OP, "op_name", "TEXT", NULL,                                                              \
      "name of the framework op that the kernel runs for, without its type; a colon and the type " \
      "if the program has no name; NULL if the program has neither, or the file names no op",      \
      "OpMetadata of the stats program_id and hlo_op; if the file has no such instruction, stat "  \
      "tf_op, name, level 0 or annotation, of several the last")                                   \
    C(KO_OCCURRENCES, "occurrences", "INTEGER", "kernels",                                         \
      "number of times that the kernel ran for the op; as in XProf, events that have no duration " \
      "or no kernel_details of their own do not count",                                            \
      "libprofsql")                                                                                \
    C(KO_TOTAL, "total_duration_us", "REAL", "us",                                                 \
      "sum of the kernel's durations on the event clock, each truncated to a nanosecond",          \
      "XEvent.duration_ps")                                                                        \
    C(KO_MIN, "min_duration_us", "REAL", "us", "shortest duration of the kernel",                  \
      "XEvent.duration_ps")                                                                        \
    C(KO_MAX, "max_duration_us", "REAL", "us", "longest duration of the kernel",                   \
      "XEvent.duration_ps")                                                                        \
    C(KO_ELIGIBLE, "op_is_tensorcore_eligible", "INTEGER", "0 or 1",                               \
      "1: tensor cores could run the op: the kernel uses them, or the op's name is that of such "  \
      "an op (docs/semantics.md, Canned queries) and its HLO op, if known, contains a matrix "     \
      "product (also as a multiplication and a reduction), a convolution or a library call",       \
      "libprofsql")                                                                                \
    C(KO_USES, "kernel_uses_tensorcore", "INTEGER", "0 or 1",                                      \
      "1: the kernel runs on tensor cores, judged by its HLO op and its name", "libprofsql")       \
    C(KO_HELPER, "is_helper", "INTEGER", "0 or 1",                                                 \
      "1: tensor cores could run the op and this kernel does not use them, but another kernel of " \
      "the same HLO op on the host does (without an HLO op: of the same framework op). This "      \
      "kernel prepares or completes the work of that one",                                         \
      "libprofsql")                                                                                \
    C(KO_HOST, HOST_DOC)                                                                           \
    C(KO_SOURCE, SOURCE_DOC)
enum { KERNEL_OPS_COLUMNS(COLUMN_ENUM) };
static const Column kernel_ops_columns[] = {KERNEL_OPS_COLUMNS(COLUMN_DOC)};

static void kernel_ops_list(RowCursor *c, RowList *list)
{
    const KernelStats *all = run_kernel_stats(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->by_op, all->n_by_op);
}

static void kernel_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const KernelReport *r = c->row;
    switch (column) {
    case KO_HOST: result_static(ctx, r->host->name); break;
    case KO_NAME: result_text(ctx, r->name); break;
    case KO_SHORT_NAME: result_kernel(c, ctx, r->name); break;
    case KO_OP: result_nonempty(ctx, r->op_name); break;
    case KO_OCCURRENCES: sqlite3_result_int64(ctx, (sqlite3_int64)r->occurrences); break;
    case KO_TOTAL: sqlite3_result_double(ctx, (double)r->total_ns / 1e3); break;
    case KO_MIN: sqlite3_result_double(ctx, (double)r->min_ns / 1e3); break;
    case KO_MAX: sqlite3_result_double(ctx, (double)r->max_ns / 1e3); break;
    case KO_ELIGIBLE: sqlite3_result_int(ctx, r->eligible); break;
    case KO_USES: sqlite3_result_int(ctx, r->uses_tensorcore); break;
    case KO_HELPER: sqlite3_result_int(ctx, r->is_helper); break;
    default: break;
    }
}

static const RowSource kernel_ops_rows = {.list = kernel_ops_list,
                                          .column = kernel_ops_column,
                                          .per_run = true,
                                          .needs = NEED_EVENTS | NEED_GPU,
                                          .nothing = "no event on a GPU is a kernel"};
const Table kernel_ops_table = {
    "kernel_ops",
    "one GPU kernel by name, framework op and use of tensor cores, from profiler files of any age; "
    "longest kernel first",
    kernel_ops_columns,
    COUNT(kernel_ops_columns),
    &row_table_module,
    &kernel_ops_rows,
    500,
    "0.1.0",
    "SELECT short_name, op_name, occurrences, total_duration_us FROM kernel_ops LIMIT 10"};
