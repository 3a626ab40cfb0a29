// SPDX-License-Identifier: Apache-2.0
/* hlo_ops.c: the table hlo_ops: HLO ops of the devices, as in XProf's HLO stats, and corrected.
 *
 *   SELECT hlo_op, category, total_self_time_us, flops_utilization
 *     FROM hlo_ops('logs') ORDER BY rank LIMIT 10; */
#include "../loader/analysis/ops/op_lists.h"
#include "../loader/analysis/ops/op_rates.h"
#include "../loader/analysis/ops/op_shape.h"
#include "../loader/analysis/device/work_kind.h"
#include "../loader/format/hlo.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define HLO_OPS_COLUMNS(C)                                                                         \
    C(HO_RUN, RUN_DOC)                                                                             \
    C(HO_RANK, "rank", "INTEGER", NULL,                                                            \
      "position by self time, from 1; 0 for an op of a SparseCore program, which follows the op "  \
      "that offloaded it",                                                                         \
      "hlo_stats rank")                                                                            \
    C(HO_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the program, decimal, which can be 0; also 0 for an op outside HLO programs (a "      \
      "kernel of a framework op), whose hlo_module is NULL",                                       \
      "hlo_stats program_id")                                                                      \
    C(HO_CATEGORY, "category", "TEXT", NULL, "kind of op: loop fusion, convolution, copy, ...",    \
      "hlo_stats category")                                                                        \
    C(HO_NAME, "hlo_op", "TEXT", NULL, "name of the HLO instruction", "hlo_stats hlo_op_name")     \
    C(HO_EXPRESSION, "expression", "TEXT", NULL, "HLO text of the instruction, else its name",     \
      "hlo_stats hlo_op_expression")                                                               \
    C(HO_TF_OP, "tf_op", "TEXT", NULL,                                                             \
      "framework op that the instruction was compiled from, as XProf writes it: name:type, or "    \
      "name: without a type; empty if unknown. Without a type, rtrim(tf_op, ':') equals "          \
      "hlo_instructions.tf_op",                                                                    \
      "hlo_stats tf_op_name")                                                                      \
    C(HO_OCCURRENCES, "occurrences", "INTEGER", NULL,                                              \
      "number of times that the op ran, on all cores; on a GPU, number of its kernels",            \
      "hlo_stats occurrences")                                                                     \
    C(HO_TOTAL, "total_time_us", "REAL", "us",                                                     \
      "total duration of all occurrences, including nested ops", "hlo_stats total_time")           \
    C(HO_AVG, "avg_time_us", "REAL", "us", "total_time_us divided by occurrences",                 \
      "hlo_stats avg_time")                                                                        \
    C(HO_SELF, "total_self_time_us", "REAL", "us",                                                 \
      "self time of all occurrences: duration without nested ops", "hlo_stats total_self_time")    \
    C(HO_AVG_SELF, "avg_self_time_us", "REAL", "us", "total_self_time_us divided by occurrences",  \
      "hlo_stats avg_self_time")                                                                   \
    C(HO_PERCENT, "self_time_percent", "REAL", "percent 0..100",                                   \
      "self time as a percentage of the time of all devices, IDLE included; 0 for SparseCore ops", \
      "hlo_stats total_self_time_percent")                                                         \
    C(HO_CUMULATIVE, "cumulative_self_time_percent", "REAL", "percent 0..100",                     \
      "sum of self_time_percent over this op and all ops with a smaller rank; 0 for SparseCore "   \
      "ops",                                                                                       \
      "hlo_stats cumulative_total_self_time_percent")                                              \
    C(HO_DMA, "dma_stall_fraction", "REAL", "fraction 0..1",                                       \
      "share of the op's time in which it is stalled by DMA", "hlo_stats dma_stall_percent")       \
    C(HO_MODEL_GFLOPS, "model_gflops", "REAL", "GFLOP/s",                                          \
      "rate of model_flops over the total time; 0 if unknown", "hlo_stats model_flop_rate")        \
    C(HO_GFLOPS, "normalized_gflops", "REAL", "GFLOP/s",                                           \
      "rate of flops over the total time, in which an 8-bit operation counts as a half and a "     \
      "4-bit one as a quarter; 0 if unknown",                                                      \
      "hlo_stats normalized_flop_rate")                                                            \
    C(HO_BW, "memory_bw_gibps", "REAL", "GiB/s",                                                   \
      "bandwidth of all memories: bytes_accessed over the total time; 0 if unknown",               \
      "hlo_stats measured_memory_bw")                                                              \
    C(HO_HBM_BW, "hbm_bw_gibps", "REAL", "GiB/s",                                                  \
      "bandwidth of HBM: hbm_bytes over the total time; 0 if unknown", "hlo_stats hbm_bw")         \
    C(HO_CMEM_READ, "cmem_read_bw_gibps", "REAL", "GiB/s",                                         \
      "read bandwidth of CMEM over the total time; 0 if unknown", "hlo_stats cmem_read_bw")        \
    C(HO_CMEM_WRITE, "cmem_write_bw_gibps", "REAL", "GiB/s",                                       \
      "write bandwidth of CMEM over the total time; 0 if unknown", "hlo_stats cmem_write_bw")      \
    C(HO_INTENSITY, "operational_intensity", "REAL", "FLOP/byte",                                  \
      "operational intensity: flops divided by bytes_accessed; 0 if unknown",                      \
      "hlo_stats operational_intensity")                                                           \
    C(HO_BOUND, "bound_by", "TEXT", NULL,                                                          \
      "resource that the op uses at the largest fraction of its peak: Compute, HBM, CMEM Read, "   \
      "..., Shm/L1; Unknown if there is none",                                                     \
      "hlo_stats bound_by")                                                                        \
    C(HO_REMAT, "rematerialization", "TEXT", NULL,                                                 \
      "Yes: the op is computed again to save memory; else No", "hlo_stats hlo_rematerialization")  \
    C(HO_OUTSIDE, "outside_compilation", "TEXT", NULL,                                             \
      "Yes: the op transfers data to or from a computation on the host; else No",                  \
      "hlo_stats outside_compilation")                                                             \
    C(HO_AUTOTUNED, "autotuned", "TEXT", NULL,                                                     \
      "Yes if the op was autotuned, else No; no open-source software records it, so it is always " \
      "No",                                                                                        \
      "hlo_stats autotuned")                                                                       \
    C(HO_SOURCE_FILE, "source_file", "TEXT", NULL,                                                 \
      "source file that the op was compiled from; NULL if unknown", "hlo_stats source_info")       \
    C(HO_SOURCE_LINE, "source_line", "INTEGER", NULL,                                              \
      "line number in source_file; NULL if unknown", "hlo_stats source_info")                      \
    C(HO_SOURCE_STACK, "source_stack", "TEXT", NULL,                                               \
      "call stack of the source code, plain text; NULL if unknown", "hlo_stats source_info")       \
    C(HO_CORE_TYPE, "core_type", "TEXT", NULL,                                                     \
      "TensorCore or SparseCore; empty for other devices", "hlo_stats core_type")                  \
    C(HO_PARENT, "parent_op", "TEXT", NULL,                                                        \
      "for a SparseCore op, name of the op that offloaded it; empty for other ops",                \
      "hlo_stats parent_op_name")                                                                  \
    C(HO_ENERGY, "vdd_energy_j", "REAL", "J",                                                      \
      "energy of the core while the op ran; 0 if not measured", "hlo_stats vdd_energy")            \
    C(HO_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "name of the HLO module; NULL if the file does not contain the program, and for an op "      \
      "outside HLO programs",                                                                      \
      "Hlo Proto")                                                                                 \
    C(HO_TIME_PS, "time_ps", "INTEGER", "ps", "total_time_us as an exact number of picoseconds",   \
      "OpMetrics.time_ps")                                                                         \
    C(HO_SELF_PS, "self_ps", "INTEGER", "ps",                                                      \
      "total_self_time_us as an exact number of picoseconds", "OpMetrics.self_time_ps")            \
    C(HO_MIN_PS, "min_ps", "INTEGER", "ps",                                                        \
      "duration of the shortest occurrence; NULL if the device is not a TPU",                      \
      "OpMetrics.min_time_ps")                                                                     \
    C(HO_NORMALIZED_PS, "normalized_ps", "INTEGER", "ps",                                          \
      "total time of the op at the default clock rate; NULL if unknown",                           \
      "OpMetrics.normalized_time_ps")                                                              \
    C(HO_EVENT_TIME, "event_time_ps", "INTEGER", "ps",                                             \
      "total time on the event clock; differs from time_ps if the device has its own clock",       \
      "libprofsql")                                                                                \
    C(HO_EVENT_SELF, "event_self_ps", "INTEGER", "ps",                                             \
      "self time on the event clock; negative if ops overlap on that clock", "libprofsql")         \
    C(HO_FLOPS, "flops", "REAL", "FLOP",                                                           \
      "floating-point operations of all occurrences; an 8-bit operation counts as a half, a "      \
      "4-bit one as a quarter; NULL if 0 or unknown",                                              \
      "OpMetrics.flops_v2")                                                                        \
    C(HO_MODEL_FLOPS, "model_flops", "REAL", "FLOP",                                               \
      "floating-point operations of all occurrences, without device-specific weights; NULL if 0 "  \
      "or unknown",                                                                                \
      "OpMetrics.model_flops_v2")                                                                  \
    C(HO_BYTES, "bytes_accessed", "INTEGER", "bytes",                                              \
      "bytes read plus bytes written by all occurrences, in all memories; NULL if 0 or unknown",   \
      "OpMetrics.bytes_accessed")                                                                  \
    C(HO_HBM, "hbm_bytes", "INTEGER", "bytes",                                                     \
      "bytes accessed in HBM by all occurrences; bytes_accessed if the profile has no breakdown "  \
      "by memory; NULL if unknown",                                                                \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(HO_HBM_READ, "hbm_read_bytes", "INTEGER", "bytes",                                           \
      "bytes read from HBM by all occurrences; NULL if the profile has no breakdown by memory",    \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(HO_HBM_WRITE, "hbm_write_bytes", "INTEGER", "bytes",                                         \
      "bytes written to HBM by all occurrences; NULL if the profile has no breakdown by memory",   \
      "OpMetrics.memory_accessed_breakdown")                                                       \
    C(HO_EXECUTIONS, "occurrences_actual", "INTEGER", NULL,                                        \
      "executions of the instruction on all cores. On a GPU, consecutive kernels of the op on a "  \
      "stream are one execution, or as many as there are of its least frequent kernel; if every "  \
      "kernel of the op ran equally often on the device, that number is used",                     \
      "libprofsql")                                                                                \
    C(HO_TIME_ACTUAL, "time_ps_actual", "INTEGER", "ps",                                           \
      "total time of occurrences_actual executions: on a GPU that of the op's own kernels, while " \
      "time_ps also includes ops of the same name in other programs that follow it in the same "   \
      "step. Equals time_ps on a TPU, and outside HLO programs. NULL for IDLE, and if both a GPU " \
      "and a TPU ran the op",                                                                      \
      "libprofsql")                                                                                \
    C(HO_FLOPS_ACTUAL, "flops_actual", "REAL", "FLOP",                                             \
      "model_flops_actual, in which an 8-bit operation counts as a half and a 4-bit one as a "     \
      "quarter; NULL if model_flops_actual is NULL",                                               \
      "libprofsql")                                                                                \
    C(HO_MODEL_FLOPS_ACTUAL, "model_flops_actual", "REAL", "FLOP",                                 \
      "operations of all executions: hlo_instructions.model_flops_actual times "                   \
      "occurrences_actual; on a TPU from the events, else from their metadata, else from the "     \
      "program. NULL if unknown, and for an op that runs other ops (unless none of those is "      \
      "recorded)",                                                                                 \
      "libprofsql")                                                                                \
    C(HO_BYTES_ACTUAL, "bytes_accessed_actual", "INTEGER", "bytes",                                \
      "bytes read plus bytes written by occurrences_actual executions; for a call of cuBLAS or "   \
      "cuDNN whose work is known, its operands and results (without the last of several results "  \
      "if that is an array of bytes, which is workspace). NULL if unknown, as for other custom "   \
      "calls on GPUs",                                                                             \
      "libprofsql")                                                                                \
    C(HO_CONTAINER, "is_container", "INTEGER", "0 or 1",                                           \
      "1: the op runs other ops, and its time includes the time of these ops: an op of category "  \
      "while, call, conditional or megacore fusion",                                               \
      "category")                                                                                  \
    C(HO_WORK_KIND, "work_kind", "TEXT", NULL,                                                     \
      "compute, collective or transfer: the kind of work of a TensorCore's op "                    \
      "(docs/semantics.md), on GPUs too",                                                          \
      "libprofsql")                                                                                \
    C(HO_FLOPS_UTILIZATION, "flops_utilization", "REAL", "fraction",                               \
      "flops_actual divided by the op's total time at the default clock, as a fraction of the "    \
      "device's peak rate. On GPUs the time is that of the op's own kernels, because "             \
      "total_time_us also includes ops of the same name in other programs that follow it in the "  \
      "same step. Above 1 if a cost is overestimated; NULL if the peak is unknown, or the "        \
      "operations are 0 or unknown",                                                               \
      "libprofsql")                                                                                \
    C(HO_HBM_UTILIZATION, "hbm_utilization", "REAL", "fraction",                                   \
      "bytes accessed in HBM, divided by the op's total time (on GPUs, by the time of the op's "   \
      "own kernels), as a fraction of the peak bandwidth. The bytes are those of "                 \
      "occurrences_actual executions: hbm_bytes scaled to them, or bytes_accessed_actual if "      \
      "hbm_bytes is 0 or unknown (library calls). Above 1 if a cost is overestimated, and far "    \
      "above 1 for the start and done ops of asynchronous transfers; NULL if the peak is "         \
      "unknown, or the bytes are 0 or unknown",                                                    \
      "libprofsql")                                                                                \
    C(HO_PADDING, "padding_efficiency", "REAL", "fraction 0..1",                                   \
      "fraction of the result's stored bytes that is data, not padding; NULL if shape or layout "  \
      "is unknown",                                                                                \
      "libprofsql")                                                                                \
    C(HO_DEDUPLICATED, "deduplicated_name", "TEXT", NULL,                                          \
      "name of the op that this op duplicates; NULL if there is none",                             \
      "OpMetrics.deduplicated_name")                                                               \
    C(HO_SOURCE, SOURCE_DOC) /* among the first 63; see arguments.c */                             \
    C(HO_OWNER_TF_OP, OWNER_TF_OP_DOC)                                                             \
    C(HO_OWNER_BY, OWNER_BY_DOC)                                                                   \
    C(HO_OWNER_HLO_OP, OWNER_HLO_OP_DOC)                                                           \
    C(HO_SCOPE, SCOPE_DOC)                                                                         \
    C(HO_SCOPE_BY, SCOPE_BY_DOC)                                                                   \
    C(HO_PASS, PASS_DOC)                                                                           \
    C(HO_USER_FILE, USER_FILE_DOC)                                                                 \
    C(HO_USER_LINE, USER_LINE_DOC)                                                                 \
    C(HO_USER_FUNCTION, USER_FUNCTION_DOC)
enum { HLO_OPS_COLUMNS(COLUMN_ENUM) };
static const Column hlo_ops_columns[] = {HLO_OPS_COLUMNS(COLUMN_DOC)};

/* ---- rows ---- */

typedef struct {
    const DeviceCapabilities *devices;
    const OpMetrics *rated; /* the op whose rates `rates` has */
    OpRates rates;
    const OpMetrics *found; /* the op that the next two belong to */
    const HloModule *module;
    const Xla__HloInstructionProto *instruction; /* NULL: the file does not have it */
} HloOpsState;

static void hlo_ops_list(RowCursor *c, RowList *list)
{
    const HloOps *all = run_hlo_ops(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->ops, all->n);
}

/* ---- columns ---- */

static enum WorkKind work_kind(const OpMetrics *op)
{
    return op_work_kind(slice_of(op->category), slice_of(op->long_name), slice_of(op->name));
}

static const Text *expression(const OpMetrics *op)
{
    return op->long_name->n_bytes ? op->long_name : op->name;
}

static void module_column(RowCursor *c, sqlite3_context *ctx, uint64_t program_id)
{
    for (size_t h = 0; h < c->from->run->n_hosts; h++) {
        Host *host = &c->from->run->hosts[h];
        if (!host->readable || (c->from->only && c->from->only != host)) continue;
        const HloProgram *program = hlo_find_program(host, program_id, &c->err);
        if (c->err.code) return;
        if (!program || program->extra) continue; /* those that are not come first */
        result_text(ctx, program->name);
        return;
    }
}

static void result_yes(sqlite3_context *ctx, bool yes) { result_static(ctx, yes ? "Yes" : "No"); }
static void rate_column(RowCursor *c, sqlite3_context *ctx, const OpMetrics *op, int column)
{
    HloOpsState *state = c->state;
    if (!state->devices) state->devices = run_devices(c->from->run, c->from->only, &c->err);
    if (!state->devices) return;
    if (state->rated != op) state->rates = op_rates(op, state->devices);
    state->rated = op;
    const OpRates *r = &state->rates;
    double utilization;
    switch (column) {
    case HO_MODEL_GFLOPS: sqlite3_result_double(ctx, r->model_gflops); break;
    case HO_GFLOPS: sqlite3_result_double(ctx, r->gflops); break;
    case HO_BW: sqlite3_result_double(ctx, r->memory_gibps); break;
    case HO_HBM_BW: sqlite3_result_double(ctx, r->traffic_gibps[TRAFFIC_HBM]); break;
    case HO_CMEM_READ: sqlite3_result_double(ctx, r->traffic_gibps[TRAFFIC_CMEM_READ]); break;
    case HO_CMEM_WRITE: sqlite3_result_double(ctx, r->traffic_gibps[TRAFFIC_CMEM_WRITE]); break;
    case HO_INTENSITY: sqlite3_result_double(ctx, r->intensity); break;
    case HO_BOUND: result_static(ctx, r->bound_by); break;
    case HO_FLOPS_UTILIZATION:
        utilization = op_flops_utilization(op, state->devices);
        sqlite3_result_double(ctx, utilization);
        break;
    default:
        utilization = op_hbm_utilization(op, state->devices);
        sqlite3_result_double(ctx, utilization);
        break;
    }
}

static void exact_column(sqlite3_context *ctx, const OpMetrics *op, int column)
{
    switch (column) {
    case HO_TIME_PS: result_u64(ctx, op->time_ps); break;
    case HO_SELF_PS: result_u64(ctx, op->self_ps); break;
    case HO_MIN_PS:
        if (op->core_type) result_u64(ctx, op->min_ps);
        break;
    case HO_NORMALIZED_PS:
        if (op->normalized_ps) result_u64(ctx, op->normalized_ps);
        break;
    case HO_EVENT_TIME: result_u64(ctx, op->event_time_ps); break;
    case HO_EVENT_SELF: result_self(ctx, op->event_self_ps, op->event_time_ps); break;
    case HO_FLOPS:
        if (op->flops > 0) sqlite3_result_double(ctx, op->flops);
        break;
    case HO_MODEL_FLOPS:
        if (op->model_flops > 0) sqlite3_result_double(ctx, op->model_flops);
        break;
    case HO_BYTES:
        if (op->bytes_accessed) result_u64(ctx, op->bytes_accessed);
        break;
    case HO_HBM:
        if (op->n_memory || op->bytes_accessed) result_u64(ctx, op_hbm_bytes(op));
        break;
    case HO_TIME_ACTUAL:
        if (!op_is_idle(op) && !(op->core_type && op->kernels_ps))
            result_u64(ctx, op->has_program && !op->core_type ? op->kernels_ps : op->time_ps);
        break;
    case HO_EXECUTIONS:
        if (op->executions) result_u64(ctx, op->executions);
        break;
    case HO_FLOPS_ACTUAL: sqlite3_result_double(ctx, op->flops_actual); break;
    case HO_MODEL_FLOPS_ACTUAL: sqlite3_result_double(ctx, op->model_flops_actual); break;
    case HO_BYTES_ACTUAL:
        if (op->has_actual_bytes) result_u64(ctx, op->bytes_actual);
        break;
    default:
        if (op->n_memory)
            result_u64(ctx, op_memory_bytes(op, SPACE_HBM,
                                            column == HO_HBM_READ ? MEMORY_READ : MEMORY_WRITE));
        break;
    }
}

static void text_column(RowCursor *c, sqlite3_context *ctx, const HloOpRow *row, int column)
{
    const OpMetrics *op = row->op;
    switch (column) {
    case HO_CATEGORY: result_text(ctx, op->category); break;
    case HO_NAME: result_slice(ctx, op_instruction_name(expression(op))); break;
    case HO_EXPRESSION: result_text(ctx, expression(op)); break;
    case HO_TF_OP: result_text(ctx, op->provenance); break;
    case HO_REMAT: result_yes(ctx, op_is_recomputed(op)); break;
    case HO_OUTSIDE:
        result_yes(ctx,
                   op_is_outside_compilation(slice_of(op->provenance), slice_of(expression(op))));
        break;
    case HO_AUTOTUNED: result_yes(ctx, op->autotuned); break;
    case HO_SOURCE_FILE: result_nonempty(ctx, op->source_file); break;
    case HO_SOURCE_LINE:
        if (op->source_file->n_bytes && op->source_line >= 0)
            sqlite3_result_int(ctx, op->source_line);
        break;
    case HO_SOURCE_STACK: result_nonempty(ctx, op->source_stack); break;
    case HO_CORE_TYPE: result_static(ctx, core_type_names[op->core_type]); break;
    case HO_PARENT: result_text(ctx, row->parent ? row->parent->name : empty_text); break;
    case HO_MODULE:
        if (op->has_program) module_column(c, ctx, op->program_id);
        break;
    default: result_nonempty(ctx, op->deduplicated_name); break;
    }
}

/* Looks the op's instruction up in the programs of the first host that has the program. */
static void find_instruction(RowCursor *c, const OpMetrics *op)
{
    HloOpsState *state = c->state;
    Slice name = op_instruction_name(expression(op));
    if (state->found == op) return;
    state->found = op, state->module = NULL, state->instruction = NULL;
    for (size_t h = 0; h < c->from->run->n_hosts && !state->module && !c->err.code; h++) {
        Host *host = &c->from->run->hosts[h];
        if (host->readable && (!c->from->only || c->from->only == host))
            state->module = hlo_program(host, op->program_id, &c->err);
    }
    if (state->module) state->instruction = hlo_find(state->module, name.text, name.n);
}

static void origin_column(RowCursor *c, sqlite3_context *ctx, const OpMetrics *op, int column)
{
    const HloOpsState *state = c->state;
    find_instruction(c, op);
    if (c->err.code) return;
    if (state->instruction)
        result_origin(c, ctx, state->module, state->instruction,
                      ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - HO_OWNER_TF_OP));
    else /* a program's name is not a framework op's */
        result_name_origin(
            ctx, starts_with(op->provenance->text, "XlaModule:") ? empty_text : op->provenance,
            op_instruction_name(expression(op)),
            ORIGIN_OWNER_TF_OP + (enum OriginColumn)(column - HO_OWNER_TF_OP));
}

static void hlo_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const HloOpRow *row = c->row;
    const OpMetrics *op = row->op;
    double n = op->occurrences, efficiency;
    switch (column) {
    case HO_RANK: sqlite3_result_int64(ctx, row->rank); break;
    case HO_PROGRAM: result_id(ctx, op->program_id); break;
    case HO_OCCURRENCES: sqlite3_result_int64(ctx, op->occurrences); break;
    case HO_TOTAL: sqlite3_result_double(ctx, ps_to_us(op->time_ps)); break;
    case HO_AVG: sqlite3_result_double(ctx, safe_div(ps_to_us(op->time_ps), n)); break;
    case HO_SELF: sqlite3_result_double(ctx, ps_to_us(op->self_ps)); break;
    case HO_AVG_SELF: sqlite3_result_double(ctx, safe_div(ps_to_us(op->self_ps), n)); break;
    case HO_PERCENT: sqlite3_result_double(ctx, row->fraction * 100.0); break;
    case HO_CUMULATIVE: sqlite3_result_double(ctx, row->cumulative * 100.0); break;
    case HO_DMA:
        sqlite3_result_double(ctx, safe_div((double)op->dma_stall_ps, (double)op->time_ps));
        break;
    case HO_ENERGY: sqlite3_result_double(ctx, op->energy_j); break;
    case HO_CONTAINER: sqlite3_result_int(ctx, op_is_container(slice_of(op->category))); break;
    case HO_WORK_KIND: result_static(ctx, work_kind_names[work_kind(op)]); break;
    case HO_PADDING:
        efficiency = op_padding_efficiency(op);
        sqlite3_result_double(ctx, efficiency);
        break;
    case HO_MODEL_GFLOPS:
    case HO_GFLOPS:
    case HO_BW:
    case HO_HBM_BW:
    case HO_CMEM_READ:
    case HO_CMEM_WRITE:
    case HO_INTENSITY:
    case HO_BOUND:
    case HO_FLOPS_UTILIZATION:
    case HO_HBM_UTILIZATION: rate_column(c, ctx, op, column); break;
    default:
        if (column >= HO_TIME_PS && column <= HO_BYTES_ACTUAL)
            exact_column(ctx, op, column);
        else if (column >= HO_OWNER_TF_OP)
            origin_column(c, ctx, op, column);
        else
            text_column(c, ctx, row, column);
        break;
    }
}

static const RowSource hlo_ops_rows = {
    .list = hlo_ops_list,
    .state_bytes = sizeof(HloOpsState),
    .column = hlo_ops_column,
    .per_run = true,
    .needs = NEED_EVENTS | NEED_DEVICE,
    .nothing = "no event of a device belongs to an op of an HLO program"};
const Table hlo_ops_table = {
    "hlo_ops",
    "one HLO op, summed over all devices, as in XProf's HLO op stats, which lack the kernels of "
    "CUDA graphs (top_hlo_ops has them)",
    hlo_ops_columns,
    COUNT(hlo_ops_columns),
    &row_table_module,
    &hlo_ops_rows,
    500,
    "0.1.0",
    "SELECT hlo_op, category, total_self_time_us, bound_by FROM hlo_ops LIMIT 10"};
