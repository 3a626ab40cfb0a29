// SPDX-License-Identifier: Apache-2.0
/* steps.c: the tables of steps: what each spent its time on.
 *
 *   SELECT step, duration_ms, device_compute_ms, input_ms, bottleneck FROM steps('logs');
 *   SELECT category, sum(duration_ps) FROM step_breakdown('logs') GROUP BY 1 ORDER BY 2 DESC;
 *   SELECT step, core_id, total_us, bottleneck FROM core_steps('logs');      -- as XProf's pod
 * viewer SELECT group_id, name, dropped FROM host_steps('logs') WHERE step IS NULL;
 *
 * Where XProf has no step at all, those that Keras 3 marks are shown: outside_xprof = 1, XProf's
 * columns NULL. */
#include "../loader/analysis/steps/steps.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

static void result_ps(sqlite3_context *ctx, uint64_t ps)
{
    if (ps <= INT64_MAX)
        sqlite3_result_int64(ctx, (sqlite3_int64)ps);
    else
        sqlite3_result_double(ctx, (double)ps);
}

static void result_name(sqlite3_context *ctx, const char *name)
{
    if (name) sqlite3_result_text(ctx, name, -1, SQLITE_STATIC);
}

/* ---- host_steps ---- */

#define HOST_STEPS_COLUMNS(C)                                                                      \
    C(HS_RUN, RUN_DOC)                                                                             \
    C(HS_HOST, HOST_DOC)                                                                           \
    C(HS_GROUP, "group_id", "INTEGER", NULL,                                                       \
      "number of the step on its host (group of events); NULL if "                                 \
      "the step has no group and only its framework marks it",                                     \
      "grouping")                                                                                  \
    C(HS_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step in the table steps; NULL if the step is not there or "                   \
      "was dropped (steps of a single host lists dropped steps by group_id)",                      \
      "step db step_num")                                                                          \
    C(HS_NAME, "name", "TEXT", NULL, "name of the step; NULL if it has no name",                   \
      "grouping step_name")                                                                        \
    C(HS_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the step's longest marker, from the start of the "                                 \
      "host's session; NULL without a marker",                                                     \
      "step marker")                                                                               \
    C(HS_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the step's longest marker; NULL without a marker", "step marker")               \
    C(HS_DROPPED, "dropped", "TEXT", NULL,                                                         \
      "reason why XProf does not count the step; NULL if it counts it", "libprofsql")              \
    C(HS_H2D, "host_to_device_bytes", "INTEGER", "bytes",                                          \
      "bytes copied to devices in the step; NULL if unknown", "memcpy_details")                    \
    C(HS_D2H, "device_to_host_bytes", "INTEGER", "bytes",                                          \
      "bytes copied from devices in the step; NULL if unknown", "memcpy_details")                  \
    C(HS_D2D, "device_to_device_bytes", "INTEGER", "bytes",                                        \
      "bytes copied between devices in the step; NULL if unknown", "memcpy_details")               \
    C(HS_H2D_COUNT, "host_to_device_count", "INTEGER", NULL,                                       \
      "number of copies to devices in the step; NULL if not on GPU", "step db")                    \
    C(HS_D2H_COUNT, "device_to_host_count", "INTEGER", NULL,                                       \
      "number of copies from devices in the step; NULL if not on GPU", "step db")                  \
    C(HS_D2D_COUNT, "device_to_device_count", "INTEGER", NULL,                                     \
      "number of copies between devices in the step; NULL if not on GPU", "step db")               \
    C(HS_COLLECTIVES, "collective_count", "INTEGER", NULL,                                         \
      "number of collective kernels in the step; NULL if not on GPU", "step db")                   \
    C(HS_INPUT, "host_input_ps", "INTEGER", "ps",                                                  \
      "time in which host threads wait for input or copy it to the device; overlapping "           \
      "times count twice; NULL if the host recorded nothing about the step",                       \
      "libprofsql")                                                                                \
    C(HS_RANGE_START, "range_start_ps", "INTEGER", "ps",                                           \
      "start of the range in range_ps, from the start of the "                                     \
      "host's session; NULL if there is no range",                                                 \
      "libprofsql")                                                                                \
    C(HS_RANGE, "range_ps", "INTEGER", "ps",                                                       \
      "duration of the step's longest marker on host threads (NVTX "                               \
      "range, step annotation); NULL if there is no marker",                                       \
      "libprofsql")                                                                                \
    C(HS_SOURCE, SOURCE_DOC)
enum { HOST_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column host_steps_columns[] = {HOST_STEPS_COLUMNS(COLUMN_DOC)};

static const char *const drop_reasons[] = {
    [STEP_KEPT] = NULL,
    [STEP_NO_MARKER] = "no marker records its duration",
    [STEP_NO_EVENTS] = "no event ran in it",
    [STEP_NO_TIME] = "its marker has no duration",
    [STEP_NO_COMPUTE] = "no computation ran in it",
    [STEP_OUTSIDE_XPROF] = "XProf does not recognize its marker",
    [STEP_FIRST_OR_LAST] = "first or last of more than five steps: may be incomplete",
    [STEP_NOT_ON_ALL_CORES] = "not all cores ran it",
};

typedef struct {
    const HostSteps *all;
    const StepDb *steps, *outside; /* asked for with the column `step` */
} HostStepRows;

static void host_steps_list(RowCursor *c, RowList *list)
{
    HostStepRows *state = c->state;
    if (!c->host->readable || c->host->reader->is_program) return;
    if (!(state->all = host_steps(c->host, &c->err))) return;
    *list = ROW_LIST(state->all->steps, state->all->n_steps);
    list->first_place = place_pair(c->at_host, 32, 0);
}

/* The steps among which a step of the host has a number. */
static const StepDb *numbered_steps(RowCursor *c, const HostStep *step)
{
    HostStepRows *state = c->state;
    if (step->dropped == STEP_OUTSIDE_XPROF) {
        if (!state->outside)
            state->outside = run_outside_steps(c->from->run, c->from->only, &c->err);
        return state->outside;
    }
    if (!state->steps) state->steps = run_steps(c->from->run, c->from->only, &c->err);
    return state->steps;
}

/* The step's number in the source: a HostStep is one step of at most one merged step. */
static int64_t number_of(RowCursor *c, const HostStep *step)
{
    const StepDb *db = numbered_steps(c, step);
    for (size_t h = 0; db && db->n_steps && h < db->n_hosts; h++) {
        if (db->hosts[h]->host != c->host) continue;
        size_t low = 0, high = db->n_steps; /* steps of a host are in order of their groups */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (db->steps[middle].of_hosts[h] < step)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < db->n_steps && db->steps[low].of_hosts[h] == step) return db->steps[low].number;
    }
    return -1;
}

static void host_steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const HostStep *s = c->row;
    const HostSteps *all = ((HostStepRows *)c->state)->all;
    bool gpu = all->has_device && !all->is_tpu, marked = s->dropped != STEP_NO_MARKER;
    int64_t number;
    switch (column) {
    case HS_GROUP:
        if (s->group >= 0) sqlite3_result_int64(ctx, s->group);
        break;
    case HS_STEP:
        if ((number = number_of(c, s)) >= 0) sqlite3_result_int64(ctx, number);
        break;
    case HS_NAME: result_name(ctx, s->name); break;
    case HS_START:
        if (marked) sqlite3_result_int64(ctx, (sqlite3_int64)s->begin_ps);
        break;
    case HS_DURATION:
        if (marked) result_ps(ctx, s->duration_ps);
        break;
    case HS_DROPPED: result_name(ctx, drop_reasons[s->dropped]); break;
    case HS_H2D:
    case HS_D2H:
    case HS_D2D:
        if (gpu && (s->transfers[column - HS_H2D].bytes || !s->transfers[column - HS_H2D].count))
            result_ps(ctx, s->transfers[column - HS_H2D].bytes);
        break;
    case HS_H2D_COUNT:
    case HS_D2H_COUNT:
    case HS_D2D_COUNT:
        if (gpu) result_ps(ctx, s->transfers[column - HS_H2D_COUNT].count);
        break;
    case HS_COLLECTIVES:
        if (gpu) result_ps(ctx, s->n_collectives);
        break;
    case HS_INPUT:
        if (s->host_spoke) result_ps(ctx, s->host_input_ps);
        break;
    case HS_RANGE_START:
        if (s->has_range) sqlite3_result_int64(ctx, (sqlite3_int64)s->range_begin_ps);
        break;
    case HS_RANGE:
        if (s->has_range) result_ps(ctx, s->range_ps);
        break;
    default: break;
    }
}

static const RowSource host_steps_rows = {.list = host_steps_list,
                                          .state_bytes = sizeof(HostStepRows),
                                          .column = host_steps_column,
                                          .needs = NEED_EVENTS,
                                          .nothing = "no event on the host belongs to a "
                                                     "group, and no framework marks a step"};
const Table host_steps_table = {"host_steps",
                                "one step, or group of events, on one host, including "
                                "steps that XProf does not count and the reason for it",
                                host_steps_columns,
                                COUNT(host_steps_columns),
                                &row_table_module,
                                &host_steps_rows,
                                50};

/* ---- steps ---- */

#define STEPS_COLUMNS(C)                                                                           \
    C(ST_RUN, RUN_DOC)                                                                             \
    C(ST_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step: its group_id for a single host, counted from 0 if hosts are merged",    \
      "step db step_num")                                                                          \
    C(ST_NAME, "name", "TEXT", NULL,                                                               \
      "name of the step on the first host; NULL if it has no name "                                \
      "(XProf's step database leaves it empty)",                                                   \
      "grouping step_name")                                                                        \
    C(ST_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the step on the first host, from the start of its session", "step db begin_ps")    \
    C(ST_DURATION, "duration_ms", "REAL", "ms",                                                    \
      "duration of the step on its longest core, SparseCores excluded", "step db duration_ps")     \
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
      "time computing on the host, average of the cores; 0 if there is "                           \
      "a device, see host_compute_ms_actual; NULL if outside_xprof is 1",                          \
      "pod_viewer Host compute")                                                                   \
    C(ST_LAUNCH, "kernel_launch_ms", "REAL", "ms",                                                 \
      "time launching kernels; always 0, see kernel_launch_ms_actual; NULL if outside_xprof is 1", \
      "pod_viewer Kernel launch")                                                                  \
    C(ST_INPUT, "input_ms", "REAL", "ms",                                                          \
      "time waiting for input and copying it to devices, average "                                 \
      "of the cores; NULL if outside_xprof is 1",                                                  \
      "pod_viewer Input")                                                                          \
    C(ST_OUTPUT, "output_ms", "REAL", "ms",                                                        \
      "time of copies from devices to the host, average of the cores; NULL if outside_xprof is 1", \
      "pod_viewer Output")                                                                         \
    C(ST_COMPILATION, "compilation_ms", "REAL", "ms",                                              \
      "time compiling; always 0, see compilation_ms_actual; NULL if outside_xprof is 1",           \
      "pod_viewer Compilation")                                                                    \
    C(ST_OTHERS, "all_others_ms", "REAL", "ms",                                                    \
      "time without any known activity, average of the cores; NULL if outside_xprof is 1. Copies " \
      "within the host are in none of these nine columns (see HOST_TO_HOST in step_breakdown)",    \
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
      "shortest step of a TensorCore minus compute, infeed and "                                   \
      "outfeed (tc_ and scv0_ columns); NULL if not on TPU",                                       \
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
      "time in which a SparseCore is busy, on the SparseCore with "                                \
      "the least; NULL without SparseCores",                                                       \
      "input_pipeline_analyzer")                                                                   \
    C(ST_SC_IDLE, "sc_idle_ms", "REAL", "ms",                                                      \
      "time in which a SparseCore is idle, average of the SparseCores; NULL without SparseCores",  \
      "input_pipeline_analyzer")                                                                   \
    C(ST_BOTTLENECK, "bottleneck", "TEXT", NULL,                                                   \
      "category with the largest share of the step, computed from "                                \
      "the nine `_actual` columns; NULL if no core recorded the step",                             \
      "libprofsql")                                                                                \
    C(ST_ACTUAL_COMPUTE, "device_compute_ms_actual", "REAL", "ms",                                 \
      "device_compute_ms, corrected: includes host threads, and copies under all their "           \
      "names. XProf treats MemcpyH2D as a computation and ignores the host if there is a "         \
      "device. docs/semantics.md lists the order in which simultaneous activities count",          \
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
      "GpuCompiler::Compile, XlaCompile) and no more important activity does, by the "             \
      "order in docs/semantics.md; NULL on TPU and if no host threads are recorded",               \
      "libprofsql")                                                                                \
    C(ST_ACTUAL_OTHERS, "all_others_ms_actual", "REAL", "ms",                                      \
      "all_others_ms, corrected as described for device_compute_ms_actual", "libprofsql")          \
    C(ST_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                            \
      "1: the step is marked in the way of Keras 3, which XProf "                                  \
      "does not recognize. XProf's columns are NULL; the `_actual` "                               \
      "columns show what host threads and GPUs did during the step",                               \
      "libprofsql")                                                                                \
    C(ST_DROPPED, "dropped", "INTEGER", "0 or 1",                                                  \
      "1: XProf drops the step from all tools except the pod viewer "                              \
      "because it is the first or last of more than five. Always 0 "                               \
      "if hosts are merged, because merged steps exclude dropped ones",                            \
      "libprofsql")                                                                                \
    C(ST_RANGE_START, "range_start_ps", "INTEGER", "ps",                                           \
      "start of the range in range_ms on the first host, from the start "                          \
      "of its session; NULL if there is no range on the first host",                               \
      "libprofsql")                                                                                \
    C(ST_RANGE, "range_ms", "REAL", "ms",                                                          \
      "duration of the range that marks the step on host threads (NVTX range, step "               \
      "annotation): its longest marker, on the host where that is longest. With devices, "         \
      "duration_ms is the span of the devices; if range_ms is longer, they were idle or "          \
      "worked on other steps in the rest. NULL if host threads do not mark the step",              \
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

static double average_ms(const Step *step, void categories(const StepCore *, uint64_t *),
                         int category)
{
    uint64_t ps[N_STEP_CATEGORIES];
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < step->n_cores; i++) {
        if (step->cores[i].kind == STEP_CORE_SPARSE) continue;
        categories(&step->cores[i], ps);
        sum += (double)ps[category], n++;
    }
    return n ? sum / (double)n / 1e9 : 0;
}

static bool compiling_is_known(const Step *step)
{
    for (size_t i = 0; i < step->n_cores; i++)
        if (!step_tells_compiling(&step->cores[i])) return false;
    return step->n_cores > 0;
}

static enum StepCategory step_most(const Step *step)
{
    uint64_t all[N_STEP_CATEGORIES] = {0}, ps[N_STEP_CATEGORIES];
    for (size_t i = 0; i < step->n_cores; i++) {
        if (step->cores[i].kind == STEP_CORE_SPARSE) continue;
        step_actual_categories(&step->cores[i], ps);
        for (int c = 0; c < N_STEP_CATEGORIES; c++) all[c] += ps[c];
    }
    return step_bottleneck(all);
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

/* As the program marked it, on whichever host that took longest. */
static void result_range(sqlite3_context *ctx, const Step *step, size_t n_hosts)
{
    const HostStep *longest = NULL;
    for (size_t h = 0; h < n_hosts; h++) {
        const HostStep *of = step->of_hosts[h];
        if (of->has_range && (!longest || of->range_ps > longest->range_ps)) longest = of;
    }
    if (longest) sqlite3_result_double(ctx, (double)longest->range_ps / 1e9);
}

static void steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Step *s = c->row;
    const StepDb *db = ((StepRows *)c->state)->db;
    if (column >= ST_TC_COMPUTE && column <= ST_SC_IDLE) {
        if (db->hardware == HARDWARE_TPU) tpu_column(ctx, s, column);
        return;
    }
    switch (column) {
    case ST_STEP: sqlite3_result_int64(ctx, s->number); break;
    case ST_NAME: result_name(ctx, s->name); break;
    case ST_START: sqlite3_result_int64(ctx, (sqlite3_int64)s->begin_ps); break;
    case ST_DURATION: sqlite3_result_double(ctx, (double)s->duration_ps / 1e9); break;
    case ST_CORES: sqlite3_result_int64(ctx, (sqlite3_int64)s->n_cores); break;
    case ST_BOTTLENECK:
        if (s->n_cores)
            sqlite3_result_text(ctx, step_category_names[step_most(s)], -1, SQLITE_STATIC);
        break;
    case ST_DROPPED: sqlite3_result_int(ctx, s->dropped); break;
    case ST_OUTSIDE: sqlite3_result_int(ctx, s->outside_xprof); break;
    case ST_RANGE_START:
        if (s->of_hosts[0]->has_range)
            sqlite3_result_int64(ctx, (sqlite3_int64)s->of_hosts[0]->range_begin_ps);
        break;
    case ST_RANGE: result_range(ctx, s, db->n_hosts); break;
    default:
        if (column == ST_ACTUAL_COMPILATION && !compiling_is_known(s))
            sqlite3_result_null(ctx);
        else if (column >= ST_ACTUAL_COMPUTE)
            sqlite3_result_double(
                ctx, average_ms(s, step_actual_categories, column - ST_ACTUAL_COMPUTE));
        else if (!s->outside_xprof)
            sqlite3_result_double(ctx, average_ms(s, step_categories, column - ST_COMPUTE));
        break;
    }
}

static const RowSource steps_rows = {.list = steps_list,
                                     .state_bytes = sizeof(StepRows),
                                     .column = steps_column,
                                     .per_run = true,
                                     .needs = NEED_EVENTS | NEED_STEPS,
                                     .nothing = "every step was dropped (host_steps "
                                                "lists the reasons)"};
const Table steps_table = {"steps",
                           "one step of a run, with its duration and its time by activity",
                           steps_columns,
                           COUNT(steps_columns),
                           &row_table_module,
                           &steps_rows,
                           100};

/* ---- step_breakdown ---- */

#define BREAKDOWN_COLUMNS(C)                                                                       \
    C(SB_RUN, RUN_DOC)                                                                             \
    C(SB_STEP, "step", "INTEGER", NULL, "number of the step, as in steps", "step db step_num")     \
    C(SB_CORE, "core_id", "INTEGER", NULL,                                                         \
      "number of the core: 1 for all GPUs or all threads of the host, or the "                     \
      "id of a TPU core; plus 1000 x the host's index if hosts are merged",                        \
      "step db")                                                                                   \
    C(SB_HOST, HOST_DOC)                                                                           \
    C(SB_CATEGORY, "category", "TEXT", NULL,                                                       \
      "category of the time: type of activity, HLO category of a "                                 \
      "TensorCore's ops, or state of a SparseCore",                                                \
      "step db")                                                                                   \
    C(SB_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time of the category in the step; categories of a core do "                                 \
      "not overlap; NULL if XProf does not count the category",                                    \
      "step db")                                                                                   \
    C(SB_ACTUAL, "duration_ps_actual", "INTEGER", "ps",                                            \
      "duration_ps, corrected: includes host threads, copies under all their names, "              \
      "and compiling; NULL if it equals duration_ps (no GPU, and no compiling)",                   \
      "libprofsql")                                                                                \
    C(SB_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                            \
      "1: the step is marked in the way of Keras 3, which XProf does not recognize (see steps)",   \
      "libprofsql")                                                                                \
    C(SB_DROPPED, "dropped", "INTEGER", "0 or 1",                                                  \
      "1: XProf drops the step as possibly incomplete (see steps)", "libprofsql")                  \
    C(SB_SOURCE, SOURCE_DOC)
enum { BREAKDOWN_COLUMNS(COLUMN_ENUM) };
static const Column breakdown_columns[] = {BREAKDOWN_COLUMNS(COLUMN_DOC)};

static const char *const sparse_names[] = {"sc_busy_ps", "sc_compute_ps", "sc_idle_ps"};

static size_t n_categories(const StepCore *core)
{
    return core->kind == STEP_CORE_GENERIC  ? N_STEP_TYPES
           : core->kind == STEP_CORE_TENSOR ? core->n_shares
                                            : COUNT(sparse_names);
}

/* XProf has the type, or it is one that only the actual times have. */
static bool has_category(const StepCore *core, size_t i)
{
    if (core->kind != STEP_CORE_GENERIC) return true;
    return core->types >> i & 1 || (core->actual_ps && core->actual_ps[i]);
}

typedef struct {
    const StepDb *db;
    size_t step, core, category;
    uint64_t row;
} BreakdownRow;

static bool breakdown_next(RowCursor *c)
{
    BreakdownRow *at = c->state;
    if (!c->started) at->db = run_shown_steps(c->from->run, c->from->only, &c->err);
    if (!at->db) return false;
    at->category += c->started;
    c->place = at->row++;
    for (; at->step < at->db->n_steps; at->step++, at->core = 0) {
        const Step *step = &at->db->steps[at->step];
        for (; at->core < step->n_cores; at->core++, at->category = 0) {
            const StepCore *core = &step->cores[at->core];
            for (; at->category < n_categories(core); at->category++)
                if (has_category(core, at->category)) return true;
        }
    }
    return false;
}

static void breakdown_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const BreakdownRow *at = c->state;
    const Step *step = &at->db->steps[at->step];
    const StepCore *core = &step->cores[at->core];
    size_t category = at->category;
    bool generic = core->kind == STEP_CORE_GENERIC;
    switch (column) {
    case SB_STEP: sqlite3_result_int64(ctx, step->number); break;
    case SB_CORE: sqlite3_result_int64(ctx, core->core_id); break;
    case SB_HOST: result_name(ctx, core->host->name); break;
    case SB_CATEGORY:
        if (core->kind == STEP_CORE_TENSOR)
            result_text(ctx, core->shares[category].category);
        else
            result_name(ctx, generic ? step_type_names[category] : sparse_names[category]);
        break;
    case SB_DURATION:
        if (core->kind == STEP_CORE_TENSOR)
            result_ps(ctx, core->shares[category].ps);
        else if (!generic)
            result_ps(ctx, category == 2 ? core->duration_ps - core->busy_ps : core->busy_ps);
        else if (core->types >> category & 1)
            result_ps(ctx, core->type_ps[category]);
        break;
    case SB_ACTUAL:
        if (generic && core->actual_ps) result_ps(ctx, core->actual_ps[category]);
        break;
    case SB_DROPPED: sqlite3_result_int(ctx, step->dropped); break;
    case SB_OUTSIDE: sqlite3_result_int(ctx, step->outside_xprof); break;
    default: break;
    }
}

static const RowSource breakdown_rows = {.next = breakdown_next,
                                         .state_bytes = sizeof(BreakdownRow),
                                         .column = breakdown_column,
                                         .per_run = true,
                                         .needs = NEED_EVENTS | NEED_STEPS,
                                         .nothing = "every step was dropped (host_steps "
                                                    "lists the reasons)"};
const Table step_breakdown_table = {
    "step_breakdown",
    "one category of time of one core in one step, as in XProf's step database",
    breakdown_columns,
    COUNT(breakdown_columns),
    &row_table_module,
    &breakdown_rows,
    1000};

/* ---- core_steps ---- */

#define CORE_STEPS_COLUMNS(C)                                                                      \
    C(CS_RUN, RUN_DOC)                                                                             \
    C(CS_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step, as in steps; NULL if the step is dropped there and hosts are merged",   \
      "step db step_num")                                                                          \
    C(CS_CORE, "core_id", "INTEGER", NULL,                                                         \
      "number of the core, as in step_breakdown; SparseCores are not listed",                      \
      "pod_viewer podStatsPerCore")                                                                \
    C(CS_HOST, "host", "TEXT", NULL, "name of the host, taken from its file name",                 \
      "file name without .xplane.pb")                                                              \
    C(CS_CHIP, "chip_id", "INTEGER", NULL,                                                         \
      "always 0, because open-source XProf does not compute it "                                   \
      "(see chip_id_actual); NULL if outside_xprof is 1",                                          \
      "pod_viewer chipId")                                                                         \
    C(CS_NODE, "node_id", "INTEGER", NULL,                                                         \
      "always 0, because open-source XProf does not compute it; NULL if outside_xprof is 1",       \
      "pod_viewer nodeId")                                                                         \
    C(CS_TOTAL, "total_us", "REAL", "us", "duration of the step on this core",                     \
      "pod_viewer totalDurationUs")                                                                \
    C(CS_BOTTLENECK, "bottleneck", "TEXT", NULL,                                                   \
      "category with the largest share, of the nine columns that follow; NULL if outside_xprof "   \
      "is 1",                                                                                      \
      "pod_viewer bottleneck")                                                                     \
    C(CS_COMPUTE, "device_compute_us", "REAL", "us",                                               \
      "time computing on the device; NULL if outside_xprof is 1", "pod_viewer Device compute")     \
    C(CS_D2D, "device_to_device_us", "REAL", "us",                                                 \
      "time of copies between devices; NULL if outside_xprof is 1", "pod_viewer Device to device") \
    C(CS_COLLECTIVES, "device_collectives_us", "REAL", "us",                                       \
      "time of collectives (on TPU, all-reduce and all-to-all; other "                             \
      "collectives count as computing); NULL if outside_xprof is 1",                               \
      "pod_viewer Device collective communication")                                                \
    C(CS_HOST_COMPUTE, "host_compute_us", "REAL", "us",                                            \
      "time computing on the host; 0 if there is a device; NULL if outside_xprof is 1",            \
      "pod_viewer Host compute")                                                                   \
    C(CS_LAUNCH, "kernel_launch_us", "REAL", "us",                                                 \
      "time launching kernels; always 0, see kernel_launch_us_actual; NULL if outside_xprof is 1", \
      "pod_viewer Kernel launch")                                                                  \
    C(CS_INPUT, "input_us", "REAL", "us",                                                          \
      "time waiting for input and copying it to the device; NULL if outside_xprof is 1",           \
      "pod_viewer Input")                                                                          \
    C(CS_OUTPUT, "output_us", "REAL", "us",                                                        \
      "time of copies from the device to the host; NULL if outside_xprof is 1",                    \
      "pod_viewer Output")                                                                         \
    C(CS_COMPILATION, "compilation_us", "REAL", "us",                                              \
      "time compiling; always 0, see compilation_us_actual; NULL if outside_xprof is 1",           \
      "pod_viewer Compilation")                                                                    \
    C(CS_OTHERS, "all_others_us", "REAL", "us",                                                    \
      "time without any known activity; NULL if outside_xprof is 1", "pod_viewer All others")      \
    C(CS_POD_STEP, "pod_step", "INTEGER", NULL,                                                    \
      "number of the step in XProf's pod viewer. If hosts are merged, it counts from 0 and "       \
      "includes steps that other tools drop. NULL if outside_xprof is 1, and for a step that "     \
      "only the other tools show (they drop first and last steps before they align the hosts)",    \
      "pod_viewer stepNum")                                                                        \
    C(CS_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the step on this core, from the start of its host's session", "step db begin_ps")  \
    C(CS_DROPPED, "dropped", "INTEGER", "0 or 1",                                                  \
      "1: the step is not in the table steps, because XProf's "                                    \
      "other tools drop it as possibly incomplete",                                                \
      "libprofsql")                                                                                \
    C(CS_HOSTNAME, "hostname", "TEXT", NULL,                                                       \
      "host name that the file records, localhost if it records none; NULL if "                    \
      "XProf's pod viewer omits the core (it has no core_details) or the step",                    \
      "pod_viewer hostName")                                                                       \
    C(CS_PLANE, "plane_id", "INTEGER", NULL,                                                       \
      "ordinal of the TensorCore's plane in the run, from 0; NULL for GPUs and host threads",      \
      "libprofsql")                                                                                \
    C(CS_CHIP_ACTUAL, "chip_id_actual", "INTEGER", NULL,                                           \
      "number of the core's chip on its host; NULL if the file does not record it",                \
      "core_details")                                                                              \
    C(CS_ACTUAL_COMPUTE, "device_compute_us_actual", "REAL", "us",                                 \
      "device_compute_us, corrected: includes host threads, and copies "                           \
      "under all their names (see steps.device_compute_ms_actual)",                                \
      "libprofsql")                                                                                \
    C(CS_ACTUAL_D2D, "device_to_device_us_actual", "REAL", "us",                                   \
      "device_to_device_us, corrected as described for device_compute_us_actual", "libprofsql")    \
    C(CS_ACTUAL_COLLECTIVES, "device_collectives_us_actual", "REAL", "us",                         \
      "device_collectives_us, corrected as described for device_compute_us_actual", "libprofsql")  \
    C(CS_ACTUAL_HOST, "host_compute_us_actual", "REAL", "us",                                      \
      "host_compute_us, corrected as described for device_compute_us_actual", "libprofsql")        \
    C(CS_ACTUAL_LAUNCH, "kernel_launch_us_actual", "REAL", "us",                                   \
      "kernel_launch_us, corrected as described for device_compute_us_actual", "libprofsql")       \
    C(CS_ACTUAL_INPUT, "input_us_actual", "REAL", "us",                                            \
      "input_us, corrected as described for device_compute_us_actual", "libprofsql")               \
    C(CS_ACTUAL_OUTPUT, "output_us_actual", "REAL", "us",                                          \
      "output_us, corrected as described for device_compute_us_actual", "libprofsql")              \
    C(CS_ACTUAL_COMPILATION, "compilation_us_actual", "REAL", "us",                                \
      "time in which compilers run and no more important activity does, as "                       \
      "steps.compilation_ms_actual; NULL on TPU and if no host threads are recorded",              \
      "libprofsql")                                                                                \
    C(CS_ACTUAL_OTHERS, "all_others_us_actual", "REAL", "us",                                      \
      "all_others_us, corrected as described for device_compute_us_actual", "libprofsql")          \
    C(CS_ACTUAL_BOTTLENECK, "bottleneck_actual", "TEXT", NULL,                                     \
      "category with the largest share of the nine preceding `_actual` columns", "libprofsql")     \
    C(CS_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                            \
      "1: the step is marked in the way of Keras 3, which XProf does not recognize (see steps)",   \
      "libprofsql")                                                                                \
    C(CS_SOURCE, SOURCE_DOC)
enum { CORE_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column core_steps_columns[] = {CORE_STEPS_COLUMNS(COLUMN_DOC)};

/* The parts of core_steps: the pod viewer's steps, then those that it aligns otherwise when the
 * first and last steps count. */
enum { OF_POD, BESIDE_POD };

typedef struct {
    const StepDb *pod, *kept;
    const DeviceCapabilities *devices; /* asked for with the columns of devices */
    int part;
    size_t step, core;
    uint64_t row;
} CoreStepRow;

static const StepDb *steps_of_part(const CoreStepRow *at)
{
    return at->part == OF_POD ? at->pod : at->kept;
}

static const Device *device_of(RowCursor *c, const Plane *plane)
{
    CoreStepRow *at = c->state;
    if (plane && !at->devices) at->devices = run_devices(c->from->run, c->from->only, &c->err);
    const DeviceCapabilities *all = plane ? at->devices : NULL;
    for (size_t i = 0; all && i < all->n_devices; i++)
        if (all->devices[i].plane == plane) return &all->devices[i];
    return NULL;
}

/* XProf's pod viewer leaves TensorCores without core_details out. */
static bool is_in_pod(RowCursor *c, const StepCore *core)
{
    if (core->kind != STEP_CORE_TENSOR) return true;
    const Device *device = device_of(c, core->plane);
    return device && device->device_ordinal >= 0;
}

static bool is_in_pod_steps(const StepDb *pod, const Step *kept)
{
    for (size_t i = 0; i < pod->n_steps; i++)
        if (pod->steps[i].outside_xprof ||
            (!pod->steps[i].dropped && pod->steps[i].kept_number == kept->number))
            return true;
    return false;
}

static bool find_steps(RowCursor *c, CoreStepRow *at)
{
    Run *run = c->from->run;
    const StepDb *outside = run_outside_steps(run, c->from->only, &c->err);
    at->pod = outside && outside->n_steps ? outside : run_all_steps(run, c->from->only, &c->err);
    at->kept = at->pod ? run_steps(run, c->from->only, &c->err) : NULL;
    return at->kept;
}

static bool core_steps_next(RowCursor *c)
{
    CoreStepRow *at = c->state;
    if (!c->started && !find_steps(c, at)) return false;
    at->core += c->started;
    c->place = at->row++;
    for (; at->part <= BESIDE_POD; at->part++, at->step = 0) {
        const StepDb *db = steps_of_part(at);
        for (; at->step < db->n_steps; at->step++, at->core = 0) {
            const Step *step = &db->steps[at->step];
            if (at->part == BESIDE_POD && !at->core && is_in_pod_steps(at->pod, step)) continue;
            for (; at->core < step->n_cores; at->core++)
                if (step->cores[at->core].kind != STEP_CORE_SPARSE) return true;
        }
    }
    return false;
}

static void chip_column(RowCursor *c, sqlite3_context *ctx, const Plane *plane)
{
    const Device *device = device_of(c, plane);
    if (device && device->local_chip_id >= 0) sqlite3_result_int64(ctx, device->local_chip_id);
}

static void core_category(sqlite3_context *ctx, const StepCore *core, int column)
{
    uint64_t ps[N_STEP_CATEGORIES];
    bool actual = column >= CS_ACTUAL_COMPUTE;
    if (actual)
        step_actual_categories(core, ps);
    else
        step_categories(core, ps);
    if (column == CS_BOTTLENECK || column == CS_ACTUAL_BOTTLENECK)
        sqlite3_result_text(ctx, step_category_names[step_bottleneck(ps)], -1, SQLITE_STATIC);
    else
        sqlite3_result_double(ctx,
                              (double)ps[column - (actual ? CS_ACTUAL_COMPUTE : CS_COMPUTE)] / 1e6);
}

static void core_steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const CoreStepRow *at = c->state;
    const Step *step = &steps_of_part(at)->steps[at->step];
    const StepCore *core = &step->cores[at->core];
    switch (column) {
    case CS_STEP:
        if (step->kept_number >= 0 && !step->outside_xprof)
            sqlite3_result_int64(ctx, step->kept_number);
        else if (!at->pod->merged || step->outside_xprof)
            sqlite3_result_int64(ctx, step->number);
        break;
    case CS_CORE: sqlite3_result_int64(ctx, core->core_id); break;
    case CS_HOST: result_name(ctx, core->host->name); break;
    case CS_CHIP:
    case CS_NODE:
        if (!step->outside_xprof) sqlite3_result_int(ctx, 0);
        break;
    case CS_TOTAL: sqlite3_result_double(ctx, (double)core->duration_ps / 1e6); break;
    case CS_POD_STEP:
        if (!step->outside_xprof && at->part == OF_POD) sqlite3_result_int64(ctx, step->number);
        break;
    case CS_START: sqlite3_result_int64(ctx, (sqlite3_int64)core->begin_ps); break;
    case CS_DROPPED: sqlite3_result_int(ctx, step->dropped); break;
    case CS_HOSTNAME:
        if (is_in_pod(c, core) && !step->outside_xprof && at->part == OF_POD)
            result_name(ctx, host_hostname(core->host));
        break;
    case CS_PLANE:
        if (core->plane) sqlite3_result_int64(ctx, core->plane->plane_id);
        break;
    case CS_CHIP_ACTUAL: chip_column(c, ctx, core->plane); break;
    case CS_OUTSIDE: sqlite3_result_int(ctx, step->outside_xprof); break;
    default:
        if (column == CS_ACTUAL_COMPILATION && !step_tells_compiling(core)) break;
        if (column >= CS_ACTUAL_COMPUTE || !step->outside_xprof) core_category(ctx, core, column);
        break;
    }
}

static const RowSource core_steps_rows = {.next = core_steps_next,
                                          .state_bytes = sizeof(CoreStepRow),
                                          .column = core_steps_column,
                                          .per_run = true,
                                          .needs = NEED_EVENTS | NEED_STEPS,
                                          .nothing = "no core ran a step"};
const Table core_steps_table = {"core_steps",
                                "one core in one step, as in XProf's pod viewer",
                                core_steps_columns,
                                COUNT(core_steps_columns),
                                &row_table_module,
                                &core_steps_rows,
                                1000};
