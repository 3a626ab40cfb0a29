// SPDX-License-Identifier: Apache-2.0
/* core_steps.c: the table core_steps: each core in each step, as in XProf's pod viewer.
 *
 *   SELECT step, core_id, total_us, bottleneck FROM core_steps('logs'); */
#include "../loader/analysis/steps/step_averages.h"
#include "../loader/analysis/steps/steps.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

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
      "always 0, because open-source XProf does not compute it (see chip_id_actual); NULL if "     \
      "outside_xprof is 1",                                                                        \
      "pod_viewer chipId")                                                                         \
    C(CS_NODE, "node_id", "INTEGER", NULL,                                                         \
      "always 0, because open-source XProf does not compute it; NULL if outside_xprof is 1",       \
      "pod_viewer nodeId")                                                                         \
    C(CS_TOTAL, "total_us", "REAL", "us", "duration of the step on this core",                     \
      "pod_viewer totalDurationUs")                                                                \
    C(CS_BOTTLENECK, "bottleneck", "TEXT", NULL,                                                   \
      "category with the largest share, among the columns from device_compute_us to "              \
      "all_others_us; NULL if outside_xprof is 1",                                                 \
      "pod_viewer bottleneck")                                                                     \
    C(CS_COMPUTE, "device_compute_us", "REAL", "us",                                               \
      "time computing on the device; NULL if outside_xprof is 1", "pod_viewer Device compute")     \
    C(CS_D2D, "device_to_device_us", "REAL", "us",                                                 \
      "time of copies between devices; NULL if outside_xprof is 1", "pod_viewer Device to device") \
    C(CS_COLLECTIVES, "device_collectives_us", "REAL", "us",                                       \
      "time of collectives (on TPU, all-reduce and all-to-all; other collectives count as "        \
      "computing); NULL if outside_xprof is 1",                                                    \
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
    C(CS_START_US, START_US_DOC)                                                                   \
    C(CS_DROPPED, "dropped", "INTEGER", "0 or 1",                                                  \
      "1: the step is not in the table steps, because XProf's other tools drop it as possibly "    \
      "incomplete",                                                                                \
      "libprofsql")                                                                                \
    C(CS_HOSTNAME, "hostname", "TEXT", NULL,                                                       \
      "host name that the file records, localhost if it records none; NULL if XProf's pod viewer " \
      "omits the core (it has no core_details) or the step",                                       \
      "pod_viewer hostName")                                                                       \
    C(CS_PLANE, "plane_id", "INTEGER", NULL,                                                       \
      "ordinal of the TensorCore's plane in the run, from 0; NULL for GPUs and host threads",      \
      "libprofsql")                                                                                \
    C(CS_CHIP_ACTUAL, "chip_id_actual", "INTEGER", NULL,                                           \
      "number of the core's chip on its host; NULL if the file does not record it",                \
      "core_details")                                                                              \
    C(CS_ACTUAL_COMPUTE, "device_compute_us_actual", "REAL", "us",                                 \
      "device_compute_us, corrected: includes host threads, and copies under all their names "     \
      "(see steps.device_compute_ms_actual)",                                                      \
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
      "category with the largest share, among the nine `_actual` columns of times", "libprofsql")  \
    C(CS_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                            \
      "1: the step has a marker of Keras 3, which XProf does not recognize (see steps)",           \
      "libprofsql")                                                                                \
    C(CS_SOURCE, SOURCE_DOC)
enum { CORE_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column core_steps_columns[] = {CORE_STEPS_COLUMNS(COLUMN_DOC)};

/* The parts of core_steps: the pod viewer's steps, then those that it aligns differently if the
 * first and last steps count. */
enum { OF_POD, BESIDE_POD };

typedef struct {
    const StepDb *pod, *kept;
    const DeviceCapabilities *devices; /* computed if a column of devices is read */
    int part;
    size_t step, core;
    size_t in_pod; /* position in pod of the last step that was asked about */
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
    return plane && at->devices ? device_of_plane(at->devices, plane) : NULL;
}

/* Returns whether XProf's pod viewer shows a core: it leaves out TensorCores without core_details.
 */
static bool is_in_pod(RowCursor *c, const StepCore *core)
{
    if (core->kind != STEP_CORE_TENSOR) return true;
    const Device *device = device_of(c, core->plane);
    return device && device->device_ordinal >= 0;
}

static bool find_steps(RowCursor *c, CoreStepRow *at)
{
    Run *run = c->from->run;
    at->pod = run_pod_steps(run, c->from->only, &c->err);
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
            if (at->part == BESIDE_POD && !at->core && step_is_in_pod(at->pod, step, &at->in_pod))
                continue;
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
        result_static(ctx, step_category_names[step_bottleneck(ps)]);
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
    case CS_HOST: result_static(ctx, core->host->name); break;
    case CS_CHIP:
    case CS_NODE:
        if (!step->outside_xprof) sqlite3_result_int(ctx, 0);
        break;
    case CS_TOTAL: sqlite3_result_double(ctx, (double)core->duration_ps / 1e6); break;
    case CS_POD_STEP:
        if (!step->outside_xprof && at->part == OF_POD) sqlite3_result_int64(ctx, step->number);
        break;
    case CS_START:
    case CS_START_US: result_time(ctx, (int64_t)core->begin_ps, column == CS_START_US); break;
    case CS_DROPPED: sqlite3_result_int(ctx, step->dropped); break;
    case CS_HOSTNAME:
        if (is_in_pod(c, core) && !step->outside_xprof && at->part == OF_POD)
            result_static(ctx, host_hostname(core->host));
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
                                1000,
                                "0.1.0",
                                "SELECT step, core_id, total_us, bottleneck FROM core_steps"};
