// SPDX-License-Identifier: Apache-2.0
/* steps.c: the tables of steps: what each spent its time on.
 *
 *   SELECT step, duration_ms, device_compute_ms, input_ms, bottleneck FROM steps('logs');
 *   SELECT category, sum(duration_ps) FROM step_breakdown('logs') GROUP BY 1 ORDER BY 2 DESC;
 *   SELECT step, core_id, total_us, bottleneck FROM core_steps('logs');      -- as XProf's pod viewer
 *   SELECT group_id, name, dropped FROM host_steps('logs') WHERE step IS NULL;
 *
 * Where XProf has no step at all, those that Keras 3 marks are shown: outside_xprof = 1, XProf's columns NULL. */
#include "../loader/analysis/steps.h"

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

static const StepDb *outside_steps(RowCursor *c) { return run_outside_steps(c->from->run, c->from->only, &c->err); }

static const StepDb *shown_steps(RowCursor *c) { return run_shown_steps(c->from->run, c->from->only, &c->err); }

/* ---- host_steps ---- */

#define HOST_STEPS_COLUMNS(C)                                                                                                                                  \
    C(HS_RUN, RUN_DOC)                                                                                                                                         \
    C(HS_HOST, HOST_DOC)                                                                                                                                       \
    C(HS_GROUP, "group_id", "INTEGER", NULL, "the host's own number of the step; NULL: no group, but marked by its framework", "grouping")                     \
    C(HS_STEP, "step", "INTEGER", NULL, "number in the source's steps; NULL: not among them, or dropped (steps of a single host has those by group_id)",       \
      "step db step_num")                                                                                                                                      \
    C(HS_NAME, "name", "TEXT", NULL, "name of the step; NULL when it has none", "grouping step_name")                                                          \
    C(HS_START, "start_ps", "INTEGER", "ps", "begin of its longest marker, from the host's session start; NULL: no marker", "step marker")                     \
    C(HS_DURATION, "duration_ps", "INTEGER", "ps", "length of its longest marker; NULL: no marker", "step marker")                                             \
    C(HS_DROPPED, "dropped", "TEXT", NULL, "why XProf does not count it as a step; NULL: it does", "libprofsql")                                               \
    C(HS_H2D, "host_to_device_bytes", "INTEGER", "bytes", "copied to devices in it; NULL: not known", "memcpy_details")                                        \
    C(HS_D2H, "device_to_host_bytes", "INTEGER", "bytes", "copied from devices in it; NULL: not known", "memcpy_details")                                      \
    C(HS_D2D, "device_to_device_bytes", "INTEGER", "bytes", "copied between devices in it; NULL: not known", "memcpy_details")                                 \
    C(HS_H2D_COUNT, "host_to_device_count", "INTEGER", NULL, "copies to devices; NULL off GPU", "step db")                                                     \
    C(HS_D2H_COUNT, "device_to_host_count", "INTEGER", NULL, "copies from devices; NULL off GPU", "step db")                                                   \
    C(HS_D2D_COUNT, "device_to_device_count", "INTEGER", NULL, "copies between devices; NULL off GPU", "step db")                                              \
    C(HS_COLLECTIVES, "collective_count", "INTEGER", NULL, "kernels of collectives; NULL off GPU", "step db")                                                  \
    C(HS_INPUT, "host_input_ps", "INTEGER", "ps",                                                                                                              \
      "time of host threads waiting for input or copying it to the device, what coincides counted twice; NULL when the host says nothing of the step",         \
      "libprofsql")                                                                                                                                            \
    C(HS_RANGE_START, "range_start_ps", "INTEGER", "ps", "start of range_ps, from the host's session start; NULL: none", "libprofsql")                         \
    C(HS_RANGE, "range_ps", "INTEGER", "ps", "length of its longest marker on host threads (NVTX range, step annotation); NULL: none", "libprofsql")           \
    C(HS_SOURCE, SOURCE_DOC)
enum { HOST_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column host_steps_columns[] = {HOST_STEPS_COLUMNS(COLUMN_DOC)};

static const char *const drop_reasons[] = {
    [STEP_KEPT] = NULL,
    [STEP_NO_MARKER] = "no marker says how long it was",
    [STEP_NO_EVENTS] = "nothing ran in it",
    [STEP_NO_TIME] = "its marker has no length",
    [STEP_NO_COMPUTE] = "nothing was computed in it",
    [STEP_OUTSIDE_XPROF] = "XProf does not group by this marker",
    [STEP_FIRST_OR_LAST] = "first or last of more than five: may be incomplete",
    [STEP_NOT_ON_ALL_CORES] = "not all cores have it",
};

static bool host_steps_next(RowCursor *c)
{
    if (!c->host->readable || c->host->is_program) return false;
    const HostSteps *steps = host_steps(c->host, &c->err);
    if (!steps) return false;
    c->i += c->started;
    if (c->i >= steps->n_steps) return false;
    c->item = &steps->steps[c->i];
    return c->place = place_pair(c->at_host, 32, c->i), true;
}

/* The step's number in the source: a HostStep is one step of at most one merged step. */
static int64_t number_of(RowCursor *c, const HostStep *step)
{
    const StepDb *db = step->dropped == STEP_OUTSIDE_XPROF ? outside_steps(c) : run_steps(c->from->run, c->from->only, &c->err);
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
    const HostStep *s = c->item;
    const HostSteps *all = host_steps(c->host, &c->err);
    bool gpu = all && all->has_device && !all->is_tpu, marked = s->dropped != STEP_NO_MARKER;
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
        if (gpu && (s->transfers[column - HS_H2D].bytes || !s->transfers[column - HS_H2D].count)) result_ps(ctx, s->transfers[column - HS_H2D].bytes);
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

static const RowSource host_steps_rows = {.next = host_steps_next,
                                          .column = host_steps_column,
                                          .by_host = true,
                                          .needs = NEED_EVENTS,
                                          .nothing = "no event of the host belongs to a group, and no framework marks a step"};
const Table host_steps_table = {"host_steps",
                                "one step or group of events of a host, including those that XProf does not count, with the reason",
                                host_steps_columns,
                                COUNT(host_steps_columns),
                                &row_table_module,
                                &host_steps_rows,
                                50};

/* ---- steps ---- */

#define STEPS_COLUMNS(C)                                                                                                                                       \
    C(ST_RUN, RUN_DOC)                                                                                                                                         \
    C(ST_STEP, "step", "INTEGER", NULL, "number of the step: the group of a single host, counted from 0 where hosts are merged", "step db step_num")           \
    C(ST_NAME, "name", "TEXT", NULL, "its name on the first host; NULL when it has none (XProf's step db leaves it empty)", "grouping step_name")              \
    C(ST_START, "start_ps", "INTEGER", "ps", "begin on the first host, from its session start", "step db begin_ps")                                            \
    C(ST_DURATION, "duration_ms", "REAL", "ms", "the longest of its cores, SparseCores aside", "step db duration_ps")                                          \
    C(ST_CORES, "core_count", "INTEGER", NULL, "cores that tell of it: all GPUs of a host are one", "step db")                                                 \
    C(ST_COMPUTE, "device_compute_ms", "REAL", "ms", "computing on devices; average over cores, as the eight that follow; NULL where outside_xprof",           \
      "pod_viewer Device compute")                                                                                                                             \
    C(ST_D2D, "device_to_device_ms", "REAL", "ms", "copies between devices; NULL as device_compute_ms", "pod_viewer Device to device")                         \
    C(ST_COLLECTIVES, "device_collectives_ms", "REAL", "ms", "collectives; NULL as device_compute_ms", "pod_viewer Device collective communication")           \
    C(ST_HOST, "host_compute_ms", "REAL", "ms", "computing on the host; 0 with a device, see host_compute_ms_actual; NULL as device_compute_ms",               \
      "pod_viewer Host compute")                                                                                                                               \
    C(ST_LAUNCH, "kernel_launch_ms", "REAL", "ms", "launching kernels; always 0, see kernel_launch_ms_actual; NULL as device_compute_ms",                      \
      "pod_viewer Kernel launch")                                                                                                                              \
    C(ST_INPUT, "input_ms", "REAL", "ms", "waiting for input and copying it to devices; NULL as device_compute_ms", "pod_viewer Input")                        \
    C(ST_OUTPUT, "output_ms", "REAL", "ms", "copies from devices; NULL as device_compute_ms", "pod_viewer Output")                                             \
    C(ST_COMPILATION, "compilation_ms", "REAL", "ms", "compiling; always 0, see compilation_ms_actual; NULL as device_compute_ms", "pod_viewer Compilation")   \
    C(ST_OTHERS, "all_others_ms", "REAL", "ms",                                                                                                                \
      "nothing that is known; NULL as device_compute_ms. Copies within the host are in none of the nine: step_breakdown, HOST_TO_HOST",                        \
      "pod_viewer All others")                                                                                                                                 \
    C(ST_TC_COMPUTE, "tc_compute_ms", "REAL", "ms", "TensorCores not waiting: the least of the cores; NULL off TPU, as all that follow",                       \
      "input_pipeline_analyzer tcComputeTimeMs")                                                                                                               \
    C(ST_TC_INFEED, "tc_infeed_ms", "REAL", "ms", "waiting for input: the most of the cores; NULL off TPU", "input_pipeline_analyzer tcInfeedTimeMs")          \
    C(ST_TC_OUTFEED, "tc_outfeed_ms", "REAL", "ms", "handing over output: average of the cores; NULL off TPU", "input_pipeline_analyzer tcOutfeedTimeMs")      \
    C(ST_TC_IDLE, "tc_idle_ms", "REAL", "ms", "the rest of the step; NULL off TPU", "input_pipeline_analyzer tcIdleTimeMs")                                    \
    C(ST_HOST_TRANSFER, "host_transfer_ms", "REAL", "ms", "sends to and receives from the host: the most of the cores; NULL off TPU",                          \
      "input_pipeline_analyzer hostTransferTimeMs")                                                                                                            \
    C(ST_ALL_REDUCE, "all_reduce_ms", "REAL", "ms", "all-reduce and all-to-all: the most of the cores; NULL off TPU", "TpuStepBreakdown crs_duration_ps")      \
    C(ST_SCV0_COMPUTE, "scv0_compute_ms", "REAL", "ms", "waiting for a SparseCore of the first kind; NULL off TPU",                                            \
      "input_pipeline_analyzer scv0ComputeTimeMs")                                                                                                             \
    C(ST_SCV0_INFEED, "scv0_infeed_ms", "REAL", "ms", "its infeed; always 0; NULL off TPU", "input_pipeline_analyzer scv0InfeedTimeMs")                        \
    C(ST_SC_STEP, "sc_step_ms", "REAL", "ms", "length of the step on SparseCores; NULL without, as the two that follow", "input_pipeline_analyzer")            \
    C(ST_SC_COMPUTE, "sc_compute_ms", "REAL", "ms", "SparseCores busy: the least of them; NULL without", "input_pipeline_analyzer")                            \
    C(ST_SC_IDLE, "sc_idle_ms", "REAL", "ms", "SparseCores idle: average of them; NULL without", "input_pipeline_analyzer")                                    \
    C(ST_BOTTLENECK, "bottleneck", "TEXT", NULL, "the category that took most, of the nine as they are: step's actual columns", "libprofsql")                  \
    C(ST_ACTUAL_COMPUTE, "device_compute_ms_actual", "REAL", "ms",                                                                                             \
      "as device_compute_ms, with what host threads did and with copies by all their names: XProf takes MemcpyH2D for a computation, and forgets the host. "   \
      "docs/semantics.md has the order in which activities of one moment count",                                                                               \
      "libprofsql")                                                                                                                                            \
    C(ST_ACTUAL_D2D, "device_to_device_ms_actual", "REAL", "ms", "the same of device_to_device_ms", "libprofsql")                                              \
    C(ST_ACTUAL_COLLECTIVES, "device_collectives_ms_actual", "REAL", "ms", "the same of device_collectives_ms", "libprofsql")                                  \
    C(ST_ACTUAL_HOST, "host_compute_ms_actual", "REAL", "ms", "the same of host_compute_ms", "libprofsql")                                                     \
    C(ST_ACTUAL_LAUNCH, "kernel_launch_ms_actual", "REAL", "ms", "the same of kernel_launch_ms", "libprofsql")                                                 \
    C(ST_ACTUAL_INPUT, "input_ms_actual", "REAL", "ms", "the same of input_ms", "libprofsql")                                                                  \
    C(ST_ACTUAL_OUTPUT, "output_ms_actual", "REAL", "ms", "the same of output_ms", "libprofsql")                                                               \
    C(ST_ACTUAL_COMPILATION, "compilation_ms_actual", "REAL", "ms",                                                                                            \
      "compilers at work while nothing more important went on (docs/semantics.md): events such as backend_compile_and_load, GpuCompiler::Compile, "            \
      "XlaCompile; NULL on TPU and if no host threads are recorded",                                                                                           \
      "libprofsql")                                                                                                                                            \
    C(ST_ACTUAL_OTHERS, "all_others_ms_actual", "REAL", "ms", "the same of all_others_ms", "libprofsql")                                                       \
    C(ST_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                                                                                        \
      "1: marked as Keras 3 does, which XProf does not know: its columns are NULL, and the actual ones tell what any thread or GPU did meanwhile",             \
      "libprofsql")                                                                                                                                            \
    C(ST_DROPPED, "dropped", "INTEGER", "0 or 1",                                                                                                              \
      "1: XProf drops it from all tools but the pod viewer, as the first or last of more than five. Only of single hosts: merged steps are counted without",   \
      "libprofsql")                                                                                                                                            \
    C(ST_RANGE_START, "range_start_ps", "INTEGER", "ps", "start of range_ms on the first host, from its session start; NULL: none there", "libprofsql")        \
    C(ST_RANGE, "range_ms", "REAL", "ms",                                                                                                                      \
      "length of the step's own range on host threads (NVTX range, step annotation): its longest marker there, of several hosts the longest. duration_ms is "  \
      "the devices' span, where there are devices: what is more here, they idled or worked for other steps. NULL: host threads mark no such step",             \
      "libprofsql")                                                                                                                                            \
    C(ST_SOURCE, SOURCE_DOC)
enum { STEPS_COLUMNS(COLUMN_ENUM) };
static const Column steps_columns[] = {STEPS_COLUMNS(COLUMN_DOC)};

static bool steps_next(RowCursor *c)
{
    const StepDb *db = shown_steps(c);
    if (!db) return false;
    c->i += c->started;
    if (c->i >= db->n_steps) return false;
    c->item = &db->steps[c->i];
    c->part = db->hardware;
    return c->place = c->i, true;
}

static double average_ms(const Step *step, void categories(const StepCore *, uint64_t *), int category)
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
    const uint64_t ps[] = {t.tc_compute_ps,   t.tc_infeed_ps,   t.tc_outfeed_ps, t.tc_idle_ps,    t.host_transfer_ps, t.all_reduce_ps,
                           t.scv0_compute_ps, t.scv0_infeed_ps, t.sc_step_ps,    t.sc_compute_ps, t.sc_idle_ps};
    if (column >= ST_SC_STEP ? t.n_sparsecores : t.n_tensorcores) sqlite3_result_double(ctx, (double)ps[column - ST_TC_COMPUTE] / 1e9);
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
    const Step *s = c->item;
    const StepDb *db;
    if (column >= ST_TC_COMPUTE && column <= ST_SC_IDLE) {
        if (c->part == HARDWARE_TPU) tpu_column(ctx, s, column);
        return;
    }
    switch (column) {
    case ST_STEP: sqlite3_result_int64(ctx, s->number); break;
    case ST_NAME: result_name(ctx, s->name); break;
    case ST_START: sqlite3_result_int64(ctx, (sqlite3_int64)s->begin_ps); break;
    case ST_DURATION: sqlite3_result_double(ctx, (double)s->duration_ps / 1e9); break;
    case ST_CORES: sqlite3_result_int64(ctx, (sqlite3_int64)s->n_cores); break;
    case ST_BOTTLENECK:
        if (s->n_cores) sqlite3_result_text(ctx, step_category_names[step_most(s)], -1, SQLITE_STATIC);
        break;
    case ST_DROPPED: sqlite3_result_int(ctx, s->dropped); break;
    case ST_OUTSIDE: sqlite3_result_int(ctx, s->outside_xprof); break;
    case ST_RANGE_START:
        if (s->of_hosts[0]->has_range) sqlite3_result_int64(ctx, (sqlite3_int64)s->of_hosts[0]->range_begin_ps);
        break;
    case ST_RANGE:
        if ((db = shown_steps(c))) result_range(ctx, s, db->n_hosts);
        break;
    default:
        if (column == ST_ACTUAL_COMPILATION && !compiling_is_known(s))
            sqlite3_result_null(ctx);
        else if (column >= ST_ACTUAL_COMPUTE)
            sqlite3_result_double(ctx, average_ms(s, step_actual_categories, column - ST_ACTUAL_COMPUTE));
        else if (!s->outside_xprof)
            sqlite3_result_double(ctx, average_ms(s, step_categories, column - ST_COMPUTE));
        break;
    }
}

static const RowSource steps_rows = {
    .next = steps_next, .column = steps_column, .per_run = true, .by_host = true, .needs = NEED_EVENTS | NEED_STEPS, .nothing = "no step is left over"};
const Table steps_table = {
    "steps", "one step of a run: how long it took, and what the time went to", steps_columns, COUNT(steps_columns), &row_table_module, &steps_rows, 100};

/* ---- step_breakdown ---- */

#define BREAKDOWN_COLUMNS(C)                                                                                                                                   \
    C(SB_RUN, RUN_DOC)                                                                                                                                         \
    C(SB_STEP, "step", "INTEGER", NULL, "number of the step, as in steps", "step db step_num")                                                                 \
    C(SB_CORE, "core_id", "INTEGER", NULL, "1: all GPUs of the host, or its threads; a TPU core's id; + 1000 x the host's place where hosts are merged",       \
      "step db")                                                                                                                                               \
    C(SB_HOST, HOST_DOC)                                                                                                                                       \
    C(SB_CATEGORY, "category", "TEXT", NULL, "type of activity, HLO category of a TensorCore's ops, or what a SparseCore did", "step db")                      \
    C(SB_DURATION, "duration_ps", "INTEGER", "ps", "time in the step; categories of a core do not overlap; NULL: XProf does not know it", "step db")           \
    C(SB_ACTUAL, "duration_ps_actual", "INTEGER", "ps",                                                                                                        \
      "the same with what host threads did, with copies by all their names and with compiling; NULL: the same (no GPU, and nothing compiles)", "libprofsql")   \
    C(SB_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1", "as in steps", "libprofsql")                                                                           \
    C(SB_DROPPED, "dropped", "INTEGER", "0 or 1", "as in steps", "libprofsql")                                                                                 \
    C(SB_SOURCE, SOURCE_DOC)
enum { BREAKDOWN_COLUMNS(COLUMN_ENUM) };
static const Column breakdown_columns[] = {BREAKDOWN_COLUMNS(COLUMN_DOC)};

static const char *const sparse_names[] = {"sc_busy_ps", "sc_compute_ps", "sc_idle_ps"};

static size_t n_categories(const StepCore *core)
{
    return core->kind == STEP_CORE_GENERIC ? N_STEP_TYPES : core->kind == STEP_CORE_TENSOR ? core->n_shares : COUNT(sparse_names);
}

/* XProf has the type, or it is one that only the actual times have. */
static bool has_category(const StepCore *core, size_t i)
{
    if (core->kind != STEP_CORE_GENERIC) return true;
    return core->types >> i & 1 || (core->actual_ps && core->actual_ps[i]);
}

/* c->i: step; c->j: core; c->nth: category */
static bool breakdown_next(RowCursor *c)
{
    const StepDb *db = shown_steps(c);
    if (!db) return false;
    c->nth += c->started;
    c->place += c->started;
    for (; c->i < db->n_steps; c->i++, c->j = 0)
        for (const Step *step = &db->steps[c->i]; c->j < step->n_cores; c->j++, c->nth = 0)
            for (const StepCore *core = &step->cores[c->j]; c->nth < n_categories(core); c->nth++)
                if (has_category(core, c->nth)) return c->item = step, true;
    return false;
}

static void breakdown_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Step *step = c->item;
    const StepCore *core = &step->cores[c->j];
    bool generic = core->kind == STEP_CORE_GENERIC;
    switch (column) {
    case SB_STEP: sqlite3_result_int64(ctx, step->number); break;
    case SB_CORE: sqlite3_result_int64(ctx, core->core_id); break;
    case SB_HOST: result_name(ctx, core->host->name); break;
    case SB_CATEGORY:
        if (core->kind == STEP_CORE_TENSOR)
            result_text(ctx, core->shares[c->nth].category);
        else
            result_name(ctx, generic ? step_type_names[c->nth] : sparse_names[c->nth]);
        break;
    case SB_DURATION:
        if (core->kind == STEP_CORE_TENSOR)
            result_ps(ctx, core->shares[c->nth].ps);
        else if (!generic)
            result_ps(ctx, c->nth == 2 ? core->duration_ps - core->busy_ps : core->busy_ps);
        else if (core->types >> c->nth & 1)
            result_ps(ctx, core->type_ps[c->nth]);
        break;
    case SB_ACTUAL:
        if (generic && core->actual_ps) result_ps(ctx, core->actual_ps[c->nth]);
        break;
    case SB_DROPPED: sqlite3_result_int(ctx, step->dropped); break;
    case SB_OUTSIDE: sqlite3_result_int(ctx, step->outside_xprof); break;
    default: break;
    }
}

static const RowSource breakdown_rows = {
    .next = breakdown_next, .column = breakdown_column, .per_run = true, .by_host = true, .needs = NEED_EVENTS | NEED_STEPS, .nothing = "no step is left over"};
const Table step_breakdown_table = {"step_breakdown",
                                    "one category of time of one core in one step, as in XProf's step database",
                                    breakdown_columns,
                                    COUNT(breakdown_columns),
                                    &row_table_module,
                                    &breakdown_rows,
                                    1000};

/* ---- core_steps ---- */

#define CORE_STEPS_COLUMNS(C)                                                                                                                                  \
    C(CS_RUN, RUN_DOC)                                                                                                                                         \
    C(CS_STEP, "step", "INTEGER", NULL, "number of the step, as in steps; NULL: dropped there, and hosts are merged", "step db step_num")                      \
    C(CS_CORE, "core_id", "INTEGER", NULL, "as in step_breakdown; SparseCores are not listed", "pod_viewer podStatsPerCore")                                   \
    C(CS_HOST, "host", "TEXT", NULL, "host, as its file is named", "file name without .xplane.pb")                                                             \
    C(CS_CHIP, "chip_id", "INTEGER", NULL, "XProf's open tools never fill it: 0; chip_id_actual knows; NULL where outside_xprof", "pod_viewer chipId")         \
    C(CS_NODE, "node_id", "INTEGER", NULL, "XProf's open tools never fill it: 0; NULL where outside_xprof", "pod_viewer nodeId")                               \
    C(CS_TOTAL, "total_us", "REAL", "us", "length of the step on this core", "pod_viewer totalDurationUs")                                                     \
    C(CS_BOTTLENECK, "bottleneck", "TEXT", NULL, "the category that took most; NULL where outside_xprof, as the nine that follow", "pod_viewer bottleneck")    \
    C(CS_COMPUTE, "device_compute_us", "REAL", "us", "computing on the device; NULL where outside_xprof", "pod_viewer Device compute")                         \
    C(CS_D2D, "device_to_device_us", "REAL", "us", "copies between devices; NULL where outside_xprof", "pod_viewer Device to device")                          \
    C(CS_COLLECTIVES, "device_collectives_us", "REAL", "us",                                                                                                   \
      "collectives (of a TPU all-reduce and all-to-all; the others count as computing); NULL where outside_xprof",                                             \
      "pod_viewer Device collective communication")                                                                                                            \
    C(CS_HOST_COMPUTE, "host_compute_us", "REAL", "us", "computing on the host; 0 with a device; NULL where outside_xprof", "pod_viewer Host compute")         \
    C(CS_LAUNCH, "kernel_launch_us", "REAL", "us", "launching kernels; always 0; NULL where outside_xprof", "pod_viewer Kernel launch")                        \
    C(CS_INPUT, "input_us", "REAL", "us", "waiting for input and copying it to the device; NULL where outside_xprof", "pod_viewer Input")                      \
    C(CS_OUTPUT, "output_us", "REAL", "us", "copies from the device; NULL where outside_xprof", "pod_viewer Output")                                           \
    C(CS_COMPILATION, "compilation_us", "REAL", "us", "compiling; always 0, see compilation_us_actual; NULL where outside_xprof", "pod_viewer Compilation")    \
    C(CS_OTHERS, "all_others_us", "REAL", "us", "nothing that is known; NULL where outside_xprof", "pod_viewer All others")                                    \
    C(CS_POD_STEP, "pod_step", "INTEGER", NULL,                                                                                                                \
      "XProf's number in the pod viewer: where hosts are merged it counts from 0 with the steps that other tools drop; NULL where outside_xprof, and for a "   \
      "step that only the other tools have: they leave first and last steps out before they align the hosts",                                                  \
      "pod_viewer stepNum")                                                                                                                                    \
    C(CS_START, "start_ps", "INTEGER", "ps", "begin on this core, from its host's session start", "step db begin_ps")                                          \
    C(CS_DROPPED, "dropped", "INTEGER", "0 or 1", "1: the step is not in `steps`: XProf's other tools drop it as perhaps incomplete", "libprofsql")            \
    C(CS_HOSTNAME, "hostname", "TEXT", NULL,                                                                                                                   \
      "what the file itself calls the host, localhost where it does not say; NULL: XProf leaves the core out, for want of core_details or of the step",        \
      "pod_viewer hostName")                                                                                                                                   \
    C(CS_PLANE, "plane_id", "INTEGER", NULL, "ordinal of the plane of a TensorCore in the run, from 0; NULL: all GPUs or threads of the host", "libprofsql")   \
    C(CS_CHIP_ACTUAL, "chip_id_actual", "INTEGER", NULL, "number of the core's chip on its host; NULL when the file does not say", "core_details")             \
    C(CS_ACTUAL_COMPUTE, "device_compute_us_actual", "REAL", "us", "as device_compute_us, with what host threads did and with copies by all their names",      \
      "libprofsql")                                                                                                                                            \
    C(CS_ACTUAL_D2D, "device_to_device_us_actual", "REAL", "us", "the same of device_to_device_us", "libprofsql")                                              \
    C(CS_ACTUAL_COLLECTIVES, "device_collectives_us_actual", "REAL", "us", "the same of device_collectives_us", "libprofsql")                                  \
    C(CS_ACTUAL_HOST, "host_compute_us_actual", "REAL", "us", "the same of host_compute_us", "libprofsql")                                                     \
    C(CS_ACTUAL_LAUNCH, "kernel_launch_us_actual", "REAL", "us", "the same of kernel_launch_us", "libprofsql")                                                 \
    C(CS_ACTUAL_INPUT, "input_us_actual", "REAL", "us", "the same of input_us", "libprofsql")                                                                  \
    C(CS_ACTUAL_OUTPUT, "output_us_actual", "REAL", "us", "the same of output_us", "libprofsql")                                                               \
    C(CS_ACTUAL_COMPILATION, "compilation_us_actual", "REAL", "us", "as steps.compilation_ms_actual; NULL on TPU and if no host threads are recorded",         \
      "libprofsql")                                                                                                                                            \
    C(CS_ACTUAL_OTHERS, "all_others_us_actual", "REAL", "us", "the same of all_others_us", "libprofsql")                                                       \
    C(CS_ACTUAL_BOTTLENECK, "bottleneck_actual", "TEXT", NULL, "the one of these nine that took most", "libprofsql")                                           \
    C(CS_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1", "as in steps", "libprofsql")                                                                           \
    C(CS_SOURCE, SOURCE_DOC)
enum { CORE_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column core_steps_columns[] = {CORE_STEPS_COLUMNS(COLUMN_DOC)};

static const Device *device_of(RowCursor *c, const Plane *plane)
{
    const DeviceCapabilities *all = plane ? run_devices(c->from->run, c->from->only, &c->err) : NULL;
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

static const StepDb *pod_steps(RowCursor *c)
{
    const StepDb *outside = outside_steps(c);
    return outside && outside->n_steps ? outside : run_all_steps(c->from->run, c->from->only, &c->err);
}

/* The parts of core_steps: the pod viewer's steps, then those that it aligns otherwise when the first and last steps count. */
enum { OF_POD, BESIDE_POD };

static bool is_in_pod_steps(const StepDb *pod, const Step *kept)
{
    for (size_t i = 0; i < pod->n_steps; i++)
        if (pod->steps[i].outside_xprof || (!pod->steps[i].dropped && pod->steps[i].kept_number == kept->number)) return true;
    return false;
}

/* c->part: of the table; c->i: step; c->j: core */
static bool core_steps_next(RowCursor *c)
{
    const StepDb *pod = pod_steps(c), *kept = pod ? run_steps(c->from->run, c->from->only, &c->err) : NULL;
    c->j += c->started;
    c->place += c->started;
    for (; kept && c->part <= BESIDE_POD; c->part++, c->i = 0) {
        const StepDb *db = c->part == OF_POD ? pod : kept;
        for (; c->i < db->n_steps; c->i++, c->j = 0) {
            const Step *step = &db->steps[c->i];
            if (c->part == BESIDE_POD && !c->j && is_in_pod_steps(pod, step)) continue;
            for (; c->j < step->n_cores; c->j++)
                if (step->cores[c->j].kind != STEP_CORE_SPARSE) return c->item = step, true;
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
        sqlite3_result_double(ctx, (double)ps[column - (actual ? CS_ACTUAL_COMPUTE : CS_COMPUTE)] / 1e6);
}

static void core_steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Step *step = c->item;
    const StepCore *core = &step->cores[c->j];
    const StepDb *db = pod_steps(c);
    switch (column) {
    case CS_STEP:
        if (step->kept_number >= 0 && !step->outside_xprof)
            sqlite3_result_int64(ctx, step->kept_number);
        else if (db && (!db->merged || step->outside_xprof))
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
        if (!step->outside_xprof && c->part == OF_POD) sqlite3_result_int64(ctx, step->number);
        break;
    case CS_START: sqlite3_result_int64(ctx, (sqlite3_int64)core->begin_ps); break;
    case CS_DROPPED: sqlite3_result_int(ctx, step->dropped); break;
    case CS_HOSTNAME:
        if (is_in_pod(c, core) && !step->outside_xprof && c->part == OF_POD) result_name(ctx, host_hostname(core->host));
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

static const RowSource core_steps_rows = {
    .next = core_steps_next, .column = core_steps_column, .per_run = true, .by_host = true, .needs = NEED_EVENTS | NEED_STEPS, .nothing = "no core ran a step"};
const Table core_steps_table = {
    "core_steps", "one core in one step, as in XProf's pod viewer", core_steps_columns, COUNT(core_steps_columns), &row_table_module, &core_steps_rows, 1000};
