// SPDX-License-Identifier: Apache-2.0
/* steps.c: the table steps: what each step of a run spent its time on.
 *
 *   SELECT step, duration_ms, device_compute_ms, input_ms, bottleneck FROM steps('logs'); */
#include "../loader/analysis/steps/step_averages.h"
#include "../loader/analysis/steps/steps.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#define STEPS_COLUMNS(C)                                                                           \
    C(ST_RUN, RUN_DOC)                                                                             \
    C(ST_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step: its group_id for a single host, counted from 0 if hosts are merged",    \
      "step db step_num")                                                                          \
    C(ST_NAME, "name", "TEXT", NULL,                                                               \
      "name of the step on the first host that has steps; NULL if it has no name (XProf's step "   \
      "database leaves it empty)",                                                                 \
      "grouping step_name")                                                                        \
    C(ST_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the step on the first host that has steps, from the start of its session",         \
      "step db begin_ps")                                                                          \
    C(ST_START_US, START_US_DOC)                                                                   \
    C(ST_DURATION, "duration_ms", "REAL", "ms",                                                    \
      "duration of the step on its longest core, SparseCores excluded", "step db duration_ps")     \
    C(ST_DURATION_US, "duration_us", "REAL", "us", "duration_ms in microseconds",                  \
      "step db duration_ps")                                                                       \
    C(ST_CORES, "core_count", "INTEGER", NULL,                                                     \
      "number of cores that recorded the step; all GPUs of a host count as one core", "step db")   \
    C(ST_COMPUTE, "device_compute_ms", "REAL", "ms",                                               \
      "time computing on devices, average of the cores; NULL if outside_xprof is 1",               \
      "pod_viewer Device compute")                                                                 \
    C(ST_D2D, "device_to_device_ms", "REAL", "ms",                                                 \
      "time of copies between devices, average of the cores; NULL if outside_xprof is 1",          \
      "pod_viewer Device to device")                                                               \
    C(ST_COLLECTIVES, "device_collectives_ms", "REAL", "ms",                                       \
      "time of collectives, average of the cores; NULL if outside_xprof is 1",                     \
      "pod_viewer Device collective communication")                                                \
    C(ST_HOST, "host_compute_ms", "REAL", "ms",                                                    \
      "time computing on the host, average of the cores; 0 if there is a device, see "             \
      "host_compute_ms_actual; NULL if outside_xprof is 1",                                        \
      "pod_viewer Host compute")                                                                   \
    C(ST_LAUNCH, "kernel_launch_ms", "REAL", "ms",                                                 \
      "time launching kernels; always 0, see kernel_launch_ms_actual; NULL if outside_xprof is 1", \
      "pod_viewer Kernel launch")                                                                  \
    C(ST_INPUT, "input_ms", "REAL", "ms",                                                          \
      "time waiting for input and copying it to devices, average of the cores; NULL if "           \
      "outside_xprof is 1",                                                                        \
      "pod_viewer Input")                                                                          \
    C(ST_OUTPUT, "output_ms", "REAL", "ms",                                                        \
      "time of copies from devices to the host, average of the cores; NULL if outside_xprof is 1", \
      "pod_viewer Output")                                                                         \
    C(ST_COMPILATION, "compilation_ms", "REAL", "ms",                                              \
      "time compiling; always 0, see compilation_ms_actual; NULL if outside_xprof is 1",           \
      "pod_viewer Compilation")                                                                    \
    C(ST_OTHERS, "all_others_ms", "REAL", "ms",                                                    \
      "time without any known activity, average of the cores; NULL if outside_xprof is 1. "        \
      "all_others shows what the host did then. Copies within the host are in none of these nine " \
      "columns (see HOST_TO_HOST in step_breakdown)",                                              \
      "pod_viewer All others")                                                                     \
    C(ST_TC_COMPUTE, "tc_compute_ms", "REAL", "ms",                                                \
      "time in which a TensorCore does not wait, on the core with the least; NULL if not on TPU",  \
      "input_pipeline_analyzer tcComputeTimeMs")                                                   \
    C(ST_TC_INFEED, "tc_infeed_ms", "REAL", "ms",                                                  \
      "time in which a TensorCore waits for input, on the core with the most; NULL if not on TPU", \
      "input_pipeline_analyzer tcInfeedTimeMs")                                                    \
    C(ST_TC_OUTFEED, "tc_outfeed_ms", "REAL", "ms",                                                \
      "time of outfeed to the host, average of the cores; NULL if not on TPU",                     \
      "input_pipeline_analyzer tcOutfeedTimeMs")                                                   \
    C(ST_TC_IDLE, "tc_idle_ms", "REAL", "ms",                                                      \
      "shortest step of a TensorCore minus compute, infeed and outfeed (tc_ and scv0_ columns); "  \
      "NULL if not on TPU",                                                                        \
      "input_pipeline_analyzer tcIdleTimeMs")                                                      \
    C(ST_HOST_TRANSFER, "host_transfer_ms", "REAL", "ms",                                          \
      "time of sends to and receives from the host, on the core with the most; NULL if not on "    \
      "TPU",                                                                                       \
      "input_pipeline_analyzer hostTransferTimeMs")                                                \
    C(ST_ALL_REDUCE, "all_reduce_ms", "REAL", "ms",                                                \
      "time of all-reduce and all-to-all, on the core with the most; NULL if not on TPU",          \
      "TpuStepBreakdown crs_duration_ps")                                                          \
    C(ST_SCV0_COMPUTE, "scv0_compute_ms", "REAL", "ms",                                            \
      "longest time that a TensorCore waits for SparseCore V0; NULL if not on TPU",                \
      "input_pipeline_analyzer scv0ComputeTimeMs")                                                 \
    C(ST_SCV0_INFEED, "scv0_infeed_ms", "REAL", "ms",                                              \
      "infeed time of SparseCore V0; always 0 on TPU; NULL if not on TPU",                         \
      "input_pipeline_analyzer scv0InfeedTimeMs")                                                  \
    C(ST_SC_STEP, "sc_step_ms", "REAL", "ms",                                                      \
      "duration of the step on SparseCores, average of the SparseCores; NULL without SparseCores", \
      "input_pipeline_analyzer")                                                                   \
    C(ST_SC_COMPUTE, "sc_compute_ms", "REAL", "ms",                                                \
      "time in which a SparseCore is busy, on the SparseCore with the least; NULL without "        \
      "SparseCores",                                                                               \
      "input_pipeline_analyzer")                                                                   \
    C(ST_SC_IDLE, "sc_idle_ms", "REAL", "ms",                                                      \
      "time in which a SparseCore is idle, average of the SparseCores; NULL without SparseCores",  \
      "input_pipeline_analyzer")                                                                   \
    C(ST_BOTTLENECK, "bottleneck", "TEXT", NULL,                                                   \
      "category with the largest share of the step, computed from the nine `_actual` columns; "    \
      "NULL if no core recorded the step",                                                         \
      "libprofsql")                                                                                \
    C(ST_ACTUAL_COMPUTE, "device_compute_ms_actual", "REAL", "ms",                                 \
      "device_compute_ms, corrected: includes host threads, and copies under all their names. "    \
      "XProf treats MemcpyH2D as a computation and ignores the host if there is a device. "        \
      "docs/semantics.md lists the order in which simultaneous activities count",                  \
      "libprofsql")                                                                                \
    C(ST_ACTUAL_D2D, "device_to_device_ms_actual", "REAL", "ms",                                   \
      "device_to_device_ms, corrected as described for device_compute_ms_actual", "libprofsql")    \
    C(ST_ACTUAL_COLLECTIVES, "device_collectives_ms_actual", "REAL", "ms",                         \
      "device_collectives_ms, corrected as described for device_compute_ms_actual", "libprofsql")  \
    C(ST_ACTUAL_HOST, "host_compute_ms_actual", "REAL", "ms",                                      \
      "host_compute_ms, corrected as described for device_compute_ms_actual", "libprofsql")        \
    C(ST_ACTUAL_LAUNCH, "kernel_launch_ms_actual", "REAL", "ms",                                   \
      "kernel_launch_ms, corrected as described for device_compute_ms_actual", "libprofsql")       \
    C(ST_ACTUAL_INPUT, "input_ms_actual", "REAL", "ms",                                            \
      "input_ms, corrected as described for device_compute_ms_actual", "libprofsql")               \
    C(ST_ACTUAL_OUTPUT, "output_ms_actual", "REAL", "ms",                                          \
      "output_ms, corrected as described for device_compute_ms_actual", "libprofsql")              \
    C(ST_ACTUAL_COMPILATION, "compilation_ms_actual", "REAL", "ms",                                \
      "time in which compilers run (events such as backend_compile_and_load, "                     \
      "GpuCompiler::Compile, XlaCompile) and no more important activity does, by the order in "    \
      "docs/semantics.md; NULL on TPU and if no host threads are recorded",                        \
      "libprofsql")                                                                                \
    C(ST_ACTUAL_OTHERS, "all_others_ms_actual", "REAL", "ms",                                      \
      "all_others_ms, corrected as described for device_compute_ms_actual", "libprofsql")          \
    C(ST_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                            \
      "1: the step has a marker of Keras 3, which XProf does not recognize. XProf's columns are "  \
      "NULL; the `_actual` columns show what host threads and GPUs did during the step",           \
      "libprofsql")                                                                                \
    C(ST_DROPPED, "dropped", "INTEGER", "0 or 1",                                                  \
      "1: XProf drops the step from all tools except the pod viewer because it is the first or "   \
      "last of more than five. Always 0 on a TPU, and if hosts are merged, because merged steps "  \
      "exclude dropped ones",                                                                      \
      "libprofsql")                                                                                \
    C(ST_RANGE_START, "range_start_ps", "INTEGER", "ps",                                           \
      "start of the range in range_ms on the first host that has steps, from the start of its "    \
      "session; NULL if there is no range on this host",                                           \
      "libprofsql")                                                                                \
    C(ST_RANGE, "range_ms", "REAL", "ms",                                                          \
      "duration of the range that marks the step on host threads (NVTX range, step annotation): "  \
      "of the longest one on any host. With devices, duration_ms is the span of the devices; if "  \
      "range_ms is longer, the devices were idle, or worked on other steps, for the difference. "  \
      "NULL if host threads do not mark the step",                                                 \
      "libprofsql")                                                                                \
    C(ST_SOURCE, SOURCE_DOC)
enum { STEPS_COLUMNS(COLUMN_ENUM) };
static const Column steps_columns[] = {STEPS_COLUMNS(COLUMN_DOC)};

typedef struct {
    const StepDb *db;
} StepRows;

static void steps_list(RowCursor *c, RowList *list)
{
    StepRows *state = c->state;
    state->db = run_shown_steps(c->from->run, c->from->only, &c->err);
    if (state->db) *list = ROW_LIST(state->db->steps, state->db->n_steps);
}

static void tpu_column(sqlite3_context *ctx, const Step *step, int column)
{
    TpuStep t = tpu_step(step);
    const uint64_t ps[] = {t.tc_compute_ps,    t.tc_infeed_ps,  t.tc_outfeed_ps,   t.tc_idle_ps,
                           t.host_transfer_ps, t.all_reduce_ps, t.scv0_compute_ps, t.scv0_infeed_ps,
                           t.sc_step_ps,       t.sc_compute_ps, t.sc_idle_ps};
    if (column >= ST_SC_STEP ? t.n_sparsecores : t.n_tensorcores)
        sqlite3_result_double(ctx, (double)ps[column - ST_TC_COMPUTE] / 1e9);
}

static void steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Step *s = c->row;
    const StepDb *db = ((StepRows *)c->state)->db;
    const uint64_t *range;
    if (column >= ST_TC_COMPUTE && column <= ST_SC_IDLE) {
        if (db->hardware == HARDWARE_TPU) tpu_column(ctx, s, column);
        return;
    }
    switch (column) {
    case ST_STEP: sqlite3_result_int64(ctx, s->number); break;
    case ST_NAME: result_static(ctx, s->name); break;
    case ST_START:
    case ST_START_US: result_time(ctx, (int64_t)s->begin_ps, column == ST_START_US); break;
    case ST_DURATION_US: sqlite3_result_double(ctx, (double)s->duration_ps / 1e6); break;
    case ST_DURATION: sqlite3_result_double(ctx, (double)s->duration_ps / 1e9); break;
    case ST_CORES: sqlite3_result_int64(ctx, (sqlite3_int64)s->n_cores); break;
    case ST_BOTTLENECK:
        if (s->n_cores) result_static(ctx, step_category_names[step_bottleneck_actual(s)]);
        break;
    case ST_DROPPED: sqlite3_result_int(ctx, s->dropped); break;
    case ST_OUTSIDE: sqlite3_result_int(ctx, s->outside_xprof); break;
    case ST_RANGE_START:
        if (s->of_hosts[0]->has_range)
            sqlite3_result_int64(ctx, (sqlite3_int64)s->of_hosts[0]->range_begin_ps);
        break;
    case ST_RANGE:
        range = step_longest_range(db, s);
        if (range) sqlite3_result_double(ctx, (double)*range / 1e9);
        break;
    default:
        if (column == ST_ACTUAL_COMPILATION && !step_compiling_is_known(s))
            sqlite3_result_null(ctx);
        else if (column >= ST_ACTUAL_COMPUTE)
            sqlite3_result_double(ctx, step_average_ms_actual(s, column - ST_ACTUAL_COMPUTE));
        else if (!s->outside_xprof)
            sqlite3_result_double(ctx, step_average_ms(s, column - ST_COMPUTE));
        break;
    }
}

static const RowSource steps_rows = {.list = steps_list,
                                     .state_bytes = sizeof(StepRows),
                                     .column = steps_column,
                                     .per_run = true,
                                     .needs = NEED_EVENTS | NEED_STEPS,
                                     .nothing =
                                         "every step was dropped (host_steps lists the reasons)"};
const Table steps_table = {
    "steps",
    "one step of a run, with its duration and its time by activity",
    steps_columns,
    COUNT(steps_columns),
    &row_table_module,
    &steps_rows,
    100,
    "0.1.0",
    "SELECT step, duration_ms, bottleneck, input_ms FROM steps ORDER BY duration_ms DESC"};
