// SPDX-License-Identifier: Apache-2.0
/* overview.c: computes the properties of the overview page; see overview.h. */
#include "overview.h"

#include "findings.h"
#include "../../base/text_buffer.h"
#include "../../format/hlo.h"
#include "../../store/events.h"
#include "../program/training.h"
#include "../serving/decode_steps.h"

#include <math.h>
#include <stdio.h>

/* ---- adding properties ---- */

static void add_text(Overview *o, const char *name, const char *value, const char *unit,
                     const char *description)
{
    size_t n = value ? strlen(value) : 0;
    char *copy = value ? arena_alloc(&o->arena, n + 1) : NULL;
    if (value && !copy) prof_nomem(o->err);
    if (copy) memcpy(copy, value, n + 1);
    if (o->n < MAX_PROPERTIES)
        o->properties[o->n++] = (OverviewProperty){o->section, name, copy, unit, description};
}

static void add_number(Overview *o, const char *name, const char *format, double value,
                       const char *unit, const char *description)
{
    char text[400];
    if (!isnan(value)) print_real(text, sizeof text, format, value);
    add_text(o, name, isnan(value) ? NULL : text, unit, description);
}

static void add_percent(Overview *o, const char *name, double value, const char *description)
{
    add_number(o, name, "%.1f%%", value, "percent", description);
}
static void add_ms(Overview *o, const char *name, double value, const char *description)
{
    add_number(o, name, "%.2f", value, "ms", description);
}
static void add_coarse_ms(Overview *o, const char *name, double value, const char *description)
{
    add_number(o, name, "%.1f", value, "ms", description);
}

/* ---- the input pipeline ---- */

static void add_step_time(Overview *o, const InputAnalysis *a)
{
    void (*add)(Overview *, const char *, double, const char *) =
        a->is_tpu ? add_ms : add_coarse_ms;
    add_text(o, "hardware_type", hardware_names[a->hardware], NULL, "kind of hardware of the run");
    add(o, "steptime_ms_average", a->step_ms.average, "average step time");
    add(o, "steptime_ms_standard_deviation", a->step_ms.xprof_deviation,
        "sample standard deviation of the step time");
    add(o, "steptime_ms_minimum", a->step_ms.minimum, "shortest step time");
    add(o, "steptime_ms_maximum", a->step_ms.xprof_maximum, "longest step time");
    add_text(
        o, "input_conclusion", input_degree(a), NULL,
        "degree to which the run is input bound: highly, moderately, potentially, not or unknown");
    add_text(o, "summary_nextstep", next_step_code(a), NULL,
             "what to look at next: input_ops, use_tf_data or none");
}

static void add_generic(Overview *o, const InputAnalysis *a)
{
    static const struct {
        enum StepCategory category;
        const char *average, *deviation, *description;
    } parts[] = {
        {STEP_DEVICE_COMPUTE, "device_compute_time_ms_avg", "device_compute_time_ms_sdv",
         "average time per step computing on devices"},
        {STEP_DEVICE_TO_DEVICE, "device_to_device_time_ms_avg", "device_to_device_time_ms_sdv",
         "average time per step copying between devices"},
        {STEP_COLLECTIVES, "device_collectives_time_ms_avg", "device_collectives_time_ms_sdv",
         "average time per step of collectives"},
        {STEP_HOST_COMPUTE, "host_compute_time_ms_avg", "host_compute_time_ms_sdv",
         "average time per step computing on the host"},
        {STEP_KERNEL_LAUNCH, "kernel_launch_time_ms_avg", "kernel_launch_time_ms_sdv",
         "average time per step launching kernels"},
        {STEP_INPUT, "infeed_time_ms_avg", "infeed_time_ms_sdv",
         "average time per step waiting for input and copying it to a device"},
        {STEP_OUTPUT, "outfeed_time_ms_avg", "outfeed_time_ms_sdv",
         "average time per step copying from a device to the host"},
        {STEP_COMPILATION, "compile_time_ms_avg", "compile_time_ms_sdv",
         "average time per step compiling"},
        {STEP_ALL_OTHERS, "other_time_ms_avg", "other_time_ms_sdv",
         "average time per step without any known activity"},
    };
    for (size_t i = 0; i < COUNT(parts); i++) {
        const StepSummary *s = &a->category_ms[parts[i].category];
        add_coarse_ms(o, parts[i].average, s->average, parts[i].description);
        add_coarse_ms(
            o, parts[i].deviation, s->xprof_deviation,
            "sample standard deviation over the steps of the time in the property before this one");
    }
}

typedef struct {
    double compute, infeed, outfeed, idle, transfer, active, scv0_compute, scv0_infeed, sc_step,
        sc_compute, sc_idle, sc_shortest, on_duty; /* ms for each step */
} TpuMeans;

static TpuMeans tpu_means(const InputAnalysis *a)
{
    TpuMeans m = {0};
    double n = (double)a->n_steps * 1e9;
    for (size_t i = 0; i < a->n_steps; i++) {
        const TpuStep *t = &a->steps[i].tpu;
        m.compute += (double)t->tc_compute_ps / n, m.infeed += (double)t->tc_infeed_ps / n,
            m.outfeed += (double)t->tc_outfeed_ps / n;
        m.idle += t->tc_idle_ms / (double)a->n_steps, m.transfer += (double)t->host_transfer_ps / n,
            m.active += (double)t->tc_active_ps / n;
        m.scv0_compute += (double)t->scv0_compute_ps / n,
            m.scv0_infeed += (double)t->scv0_infeed_ps / n;
        m.sc_step += (double)t->sc_step_ps / n, m.sc_compute += (double)t->sc_compute_ps / n,
            m.sc_idle += (double)t->sc_idle_ps / n;
        m.on_duty +=
            fmax((double)t->tc_active_ps, (double)t->sc_step_ps - (double)t->sc_idle_ps) / n;
        if (!i || (double)t->sc_step_ps / 1e9 < m.sc_shortest)
            m.sc_shortest = (double)t->sc_step_ps / 1e9;
    }
    return m;
}

/* Returns whether the planes of SparseCores have details. If so, XProf does not show times of the
 * older SparseCores (V0). */
static bool has_sparsecores(const DeviceCapabilities *all)
{
    for (size_t i = 0; i < all->n_devices; i++)
        if (all->devices[i].plane->kind == PLANE_SPARSECORE && all->devices[i].device_ordinal >= 0)
            return true;
    return false;
}

static void add_tpu(Overview *o, const InputAnalysis *a, const TpuMeans *m,
                    const DeviceCapabilities *devices)
{
    add_coarse_ms(o, "infeed_percent_average", a->infeed_percent.average,
                  "average over the steps of the largest infeed share on any TensorCore");
    add_coarse_ms(
        o, "infeed_percent_standard_deviation", a->infeed_percent.deviation,
        "sample standard deviation over the steps of the largest infeed share on any TensorCore");
    add_coarse_ms(o, "infeed_percent_minimum", a->infeed_percent.minimum,
                  "minimum over the steps of the largest infeed share on any TensorCore");
    add_coarse_ms(o, "infeed_percent_maximum", a->infeed_percent.maximum,
                  "maximum over the steps of the largest infeed share on any TensorCore");
    for (size_t i = o->n - 4; i < o->n; i++) o->properties[i].unit = "percent";
    add_ms(o, "tc_compute_ms_average", m->compute,
           "average compute time per step of the TensorCore that computes least");
    add_ms(o, "tc_infeed_ms_average", m->infeed,
           "average time per step of infeed, on the TensorCore with the longest infeed");
    add_ms(o, "tc_outfeed_ms_average", m->outfeed,
           "average time per step of outfeed to the host, average of the TensorCores");
    add_ms(o, "tc_idle_ms_average", m->idle,
           "average time per step that is not compute, infeed or outfeed");
    add_ms(o, "host_transfer_ms_average", m->transfer,
           "average time per step of sends to and receives from the host, on the TensorCore with "
           "the most");
    add_ms(o, "active_steptime_ms_average", m->on_duty,
           "average time per step in which TensorCores or SparseCores are on duty, whichever is "
           "longer in the step");
    add_ms(o, "tc_active_ms_average", m->active,
           "average time per step in which TensorCores are on duty");
    if (m->sc_shortest > 0) {
        add_coarse_ms(o, "sc_step_time_ms_average", m->sc_step,
                      "average step time of a SparseCore");
        add_ms(o, "sc_compute_ms_average", m->sc_compute,
               "average compute time per step of the SparseCore that computes least");
        add_ms(o, "sc_infeed_ms_average", NAN, "always unknown; XProf prints 0.00");
        add_ms(o, "sc_outfeed_ms_average", NAN, "always unknown; XProf prints 0.00");
        add_ms(o, "sc_idle_ms_average", m->sc_idle,
               "average time per step in which SparseCores are idle");
        add_ms(o, "sc_active_ms_average", m->sc_step - m->sc_idle,
               "average time per step in which SparseCores are busy");
    }
    if (!(m->sc_shortest > 0) && !has_sparsecores(devices)) {
        add_ms(o, "scv0_compute_ms_average", m->scv0_compute,
               "average time per step of the longest wait of a TensorCore for SparseCore V0");
        add_ms(o, "scv0_infeed_ms_average", m->scv0_infeed,
               "average time per step of SparseCore V0 infeed; always 0");
    }
    static const char *const degrees[] = {"", "moderately", "highly"};
    add_text(
        o, "output_conclusion", degrees[a->output], NULL,
        "degree to which output slows the run down: highly, moderately, or empty if it does not");
}

/* ---- values for the entire page ---- */

/* Counts occurrences. XProf counts those of devices without idle ones, and those of hosts with
 * them: there may be ops with XProf's idle category other than its own IDLE. */
static uint64_t occurrences(const OpMetricsDb *db, bool with_idle)
{
    uint64_t n = 0;
    for (size_t i = 0; i < db->n_ops; i++)
        n += with_idle || !op_is_idle(&db->ops[i]) ? db->ops[i].occurrences : 0;
    return n;
}

static double idle_percent(const OpMetricsDb *db) { return 100 * op_db_idle_fraction(db); }

static void add_op_shares(Overview *o, const OpStats *stats)
{
    double host = (double)occurrences(&stats->host, true),
           device = (double)occurrences(&stats->framework, false), sum = host + device;
    add_percent(o, "host_tf_op_percent", 100 * safe_div(host, sum),
                "share of framework op executions that ran on the host");
    add_percent(o, "device_tf_op_percent", sum > 0 ? 100 - 100 * safe_div(host, sum) : 0,
                "share of framework op executions that ran on devices");
    add_percent(o, "host_op_time_eager_percent", eager_percent(&stats->host),
                "share of the host's op self time in eager execution");
    add_percent(o, "device_op_time_eager_percent", eager_percent(&stats->framework),
                "share of the devices' op self time in eager execution");
}

static void add_precision(Overview *o, const StepDb *steps)
{
    add_percent(o, "device_compute_16bit_percent", precision_16bit_percent(steps),
                "share of compute time with 16-bit numbers");
    add_percent(o, "device_compute_32bit_percent",
                steps->compute_32bit_ps ? 100 - precision_16bit_percent(steps) : 0,
                "share of compute time with 32-bit numbers");
}

static void add_duty(Overview *o, const OpStats *stats, bool tpu)
{
    const OpMetricsDb *ops = &stats->device;
    double busy = (double)ops->busy_ps, idle = (double)ops->idle_ps,
           sure_busy = (double)ops->sure_busy_ps, sure_idle = (double)ops->sure_idle_ps;
    add_percent(o, "device_duty_cycle_percent", tpu ? 100 * safe_div(busy, busy + idle) : 0,
                "share of time in which the chips compute; 0 if not on TPU");
    add_percent(o, "device_duty_cycle_high_confidence_percent",
                tpu ? 100 * safe_div(sure_busy, sure_busy + sure_idle) : 0,
                "share of time in which the chips compute, without custom calls whose work is "
                "unknown; 0 if not on TPU");
    add_percent(o, "device_idle_time_percent", tpu ? idle_percent(ops) : 0,
                "share of the devices' time without an op; 0 if not on TPU");
    add_percent(o, "host_idle_time_percent", tpu ? idle_percent(&stats->host) : 0,
                "share of the host threads' time without an op; 0 if not on TPU");
    add_percent(o, "flop_rate_utilization_relative_to_roofline", NAN,
                "always unknown; open-source XProf prints 0.0%");
    add_percent(o, "memory_bw_utilization_relative_to_hw_limit", NAN,
                "always unknown; open-source XProf prints 0.0%");
}

static void add_core_times(Overview *o, const TpuMeans *m)
{
    if (m->on_duty > 0)
        add_ms(o, "active_steptime_ms_average", m->on_duty,
               "average time per step in which TensorCores or SparseCores are on duty, whichever "
               "is longer in the step");
    if (m->active > 0)
        add_ms(o, "tc_active_ms_average", m->active,
               "average time per step in which TensorCores are on duty");
    if (m->sc_step > 0) {
        add_coarse_ms(o, "sc_steptime_average", m->sc_step, "average step time of a SparseCore");
        add_coarse_ms(o, "sc_infeed_time_avg", NAN, "always unknown; XProf prints 0.0");
        add_coarse_ms(o, "sc_outfeed_time_avg", NAN, "always unknown; XProf prints 0.0");
        add_coarse_ms(o, "sc_idle_time_avg", m->sc_idle,
                      "average time per step in which SparseCores are idle");
        if (m->sc_step - m->sc_idle > 0)
            add_ms(o, "sc_active_ms_average", m->sc_step - m->sc_idle,
                   "average time per step in which SparseCores are busy");
    }
}

static void add_whole(Overview *o, Run *run, Host *only, const InputAnalysis *a,
                      const OpStats *stats, const TpuMeans *m, bool gpu)
{
    const StepDb *steps = run_steps(run, only, o->err);
    if (!steps) return;
    add_op_shares(o, stats);
    add_percent(o, "mxu_utilization_percent",
                host_stat(run, only, "matrix_unit_utilization_percent", o->err),
                "utilization of the matrix units, as recorded in the profile");
    add_percent(o, "hbm_utilization_percent",
                host_stat(run, only, "hbm_utilization_percent", o->err),
                "utilization of the HBM bandwidth, as recorded in the profile");
    add_text(o, "host_trace_level", NULL, NULL,
             "detail level of the host trace; never recorded, XProf prints 0");
    add_text(o, "remark_text", "", NULL, "always empty");
    add_text(o, "remark_color", "", NULL, "always empty");
    if (gpu)
        add_precision(o, steps);
    else
        add_duty(o, stats, a->is_tpu);
    if (a->is_tpu && stats->device.sure_idle_ps)
        add_number(o, "idle_time_high_confidence_ps", "%g", (double)stats->device.sure_idle_ps,
                   "ps",
                   "time in which the chips do not compute; custom calls whose work is unknown "
                   "count as not computing");
    add_core_times(o, m);
}

/* ---- the run's environment ---- */

/* Counts machines, because several files may come from one. */
static size_t count_hosts(const Run *run)
{
    size_t n = 0;
    for (size_t h = 0; h < run->n_hosts; h++) {
        bool seen = false;
        for (size_t k = 0; k < h && !seen; k++)
            seen = !strcmp(host_hostname(&run->hosts[k]), host_hostname(&run->hosts[h]));
        n += !seen;
    }
    return n;
}

static void add_environment(Overview *o, Run *run, Host *only, const DeviceCapabilities *devices)
{
    char text[64];
    size_t tasks = only ? 1 : run->n_hosts, hosts = only ? 1 : count_hosts(run);
    snprintf(text, sizeof text, "%llu", (unsigned long long)hosts);
    add_text(o, "host_count", text, NULL, "number of hosts (machines) in the run");
    snprintf(text, sizeof text, "%llu (num tasks per host = %llu)", (unsigned long long)tasks,
             (unsigned long long)(hosts ? tasks / hosts : 0));
    add_text(o, "task_count", text, NULL, "number of tasks; each file is one task");
    add_text(o, "device_type", devices->device_type, NULL, "type of the devices");
    snprintf(text, sizeof text, "%lld", (long long)devices->device_core_count);
    add_text(o, "device_core_count", text, NULL, "number of GPUs or TensorCores");
    add_text(o, "is_training", run_trains(run, only, o->err) ? "true" : "false", NULL,
             "true if a program of the last host computes gradients");
}

/* ---- recommendations ---- */

/* Returns the verdict on the page; XProf's page has none on a TPU's steps. */
static const char *page_verdict(const InputAnalysis *a, enum Finding finding)
{
    if (a->is_tpu && a->input != VERDICT_UNKNOWN) return "";
    const char *verdict = finding_verdict(a, finding);
    return verdict ? verdict : "no";
}

static void add_verdicts(Overview *o, const InputAnalysis *a, const StepDb *steps)
{
    add_text(o, "bottleneck", page_verdict(a, FINDING_INPUT), NULL,
             "where the time goes: host (input bound), both, device or unknown; empty on TPU with "
             "steps");
    add_text(
        o, "kernel_launch_bottleneck", page_verdict(a, FINDING_LAUNCH), NULL,
        "share of step time with launching kernels: high, moderate or no; empty on TPU with steps");
    add_text(
        o, "all_other_bottleneck", page_verdict(a, FINDING_OTHERS), NULL,
        "share of step time with no known activity: high, moderate or no; empty on TPU with steps");
    add_text(o, "device_collectives_bottleneck", page_verdict(a, FINDING_COLLECTIVES), NULL,
             "share of step time with collectives: high, moderate or no; empty on TPU with steps");
    add_text(o, "precision_statement", precision_is_low(steps) ? "use_16bit" : "", NULL,
             "use_16bit if little of the compute time uses 16-bit numbers, else empty");
    const char *hidden = "";
    if (!a->is_tpu && a->input == VERDICT_HOST) hidden = "device";
    if (!a->is_tpu && a->input == VERDICT_DEVICE) hidden = "host";
    add_text(o, "non_bottleneck_tip_types", hidden, NULL,
             "tips that XProf hides because they would not help: device, host or empty");
}

/* ---- servers with separate decoding ---- */

static void add_decoding(Overview *o, Run *run, Host *only)
{
    DecodeSteps steps;
    if (run_decode_steps(run, only, &steps, o->err) || !steps.n) return;
    add_number(o, "decode_step_time_us_avg", "%.12g", steps.total_ps / (double)steps.n / 1e6, "us",
               "average time of a decoding step (programs jit_generate*)");
    add_number(o, "num_decode_steps", "%.0f", (double)steps.n, NULL,
               "number of decoding steps on all cores");
}

static void overview_free(void *result)
{
    Overview *o = result;
    arena_free(&o->arena);
    prof_free(o);
}

static void *overview_make(Run *run, Host *only, ProfErr *err)
{
    const InputAnalysis *a = run_input(run, only, err);
    const OpStats *stats = a ? run_op_stats(run, only, err) : NULL;
    const DeviceCapabilities *devices = stats ? run_devices(run, only, err) : NULL;
    Overview *o = devices ? prof_alloc(sizeof *o) : NULL;
    if (devices && !o) prof_nomem(err);
    if (!o) return NULL;
    TpuMeans means = tpu_means(a);
    o->err = err;
    o->section = "top_ops";
    add_whole(o, run, only, a, stats, &means, strstr(devices->device_type, "GPU") != NULL);
    o->section = "not_shown";
    add_percent(o, "device_op_time_outside_compilation_percent", outside_compilation_percent(stats),
                "share of the devices' op time outside the compiled program");
    o->section = "input_pipeline";
    add_step_time(o, a);
    if (a->is_tpu)
        add_tpu(o, a, &means, devices);
    else
        add_generic(o, a);
    o->section = "run_environment";
    add_environment(o, run, only, devices);
    o->section = "recommendation";
    const StepDb *steps = run_steps(run, only, err);
    if (steps) add_verdicts(o, a, steps);
    o->section = "disaggregated_serving";
    if (!err->code) add_decoding(o, run, only);
    if (!err->code) return o;
    overview_free(o);
    return NULL;
}

const Overview *run_overview(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {overview_make, overview_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
