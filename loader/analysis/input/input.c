// SPDX-License-Identifier: Apache-2.0
/* input.c: analyses the input pipeline, by its ops and by the steps that wait for it; see input.h.
 */
#include "input.h"

#include "../../base/interrupt.h"

#include <math.h>

/* ---- ops ---- */

const char *const input_category_names[N_INPUT_CATEGORIES] = {
    "Enqueue", "Demanded file read", "Advanced file read", "Preprocessing", "Unknown"};

static bool is_any(Slice s, const char *const *words, size_t n, bool (*test)(Slice, const char *))
{
    for (size_t i = 0; i < n; i++)
        if (test(s, words[i])) return true;
    return false;
}

static bool is_ignoring_case(Slice s, const char *text)
{
    return s.n == strlen(text) && slice_starts_ignoring_case(s, text);
}

/* Returns the category of a tf.data dataset: readers read on demand; with a prefetching or parallel
 * dataset around them, in advance. */
static enum InputCategory dataset_category(Slice name)
{
    static const char *const readers[] = {"::TFRecord", "::TextLine", "::FixedLengthRecord",
                                          "::SSTable",  "::RecordIO", "::ArrayRecord"};
    static const char *const ahead[] = {"::MemoryReader", "::MemoryWriter", "::Interleave",
                                        "::Prefetch", "::ParallelMap"};
    if (!is_any(name, readers, COUNT(readers), slice_ends)) return INPUT_PREPROCESSING;
    return is_any(name, ahead, COUNT(ahead), slice_contains) ? INPUT_ADVANCED_READ
                                                             : INPUT_DEMANDED_READ;
}

/* Returns the category of a host op; -1 if it is not an op of an input pipeline. */
static int input_category(const OpMetrics *op)
{
    Slice category = slice_of(op->category), name = slice_of(op->name);
    if (is_ignoring_case(category, "enqueue")) return INPUT_ENQUEUE;
    if (is_ignoring_case(category, "read")) return INPUT_DEMANDED_READ;
    if (is_ignoring_case(category, "preprocessing")) return INPUT_PREPROCESSING;
    if (is_ignoring_case(category, "unknown")) return INPUT_UNKNOWN;
    if (op_is_infeed_enqueue(category) || slice_is(category, "MemcpyHToD")) return INPUT_ENQUEUE;
    return slice_is(category, "Dataset") ? (int)dataset_category(name) : -1;
}

static int collect_ops(InputAnalysis *a, const OpStats *stats, ProfErr *err)
{
    uint32_t *order = op_db_order(&stats->host);
    InputOp *ops = arena_alloc(&a->arena, stats->host.n_ops * sizeof *ops + 1);
    if (!order || !ops) {
        prof_free(order);
        return prof_nomem(err);
    }
    for (size_t i = 0; i < stats->host.n_ops; i++) {
        const OpMetrics *op = &stats->host.ops[order[i]];
        int category = input_category(op);
        if (category < 0) continue;
        ops[a->n_ops++] = (InputOp){op, (enum InputCategory)category};
        a->ops_self_ps += op->self_ps;
    }
    a->ops = ops;
    prof_free(order);
    return PROF_OK;
}

/* ---- steps ---- */

static double ms(uint64_t ps) { return (double)ps / 1e9; }
static double type_ms(const StepCore *core, enum StepType type)
{
    return core->types >> type & 1 ? ms(core->type_ps[type]) : 0;
}

/* Returns the core that XProf reads for a step, if the device is not a TPU: only number 1; of
 * several hosts, the first host's. NULL: XProf leaves the step out. */
static const StepCore *generic_core(const Step *step)
{
    for (size_t i = 0; i < step->n_cores; i++)
        if (step->cores[i].core_id == 1) return &step->cores[i];
    return NULL;
}

static void generic_step(InputStep *s, const StepCore *core)
{
    s->step_ms = s->judged_ms = ms(core->duration_ps);
    s->host_to_device_ms = type_ms(core, TIME_HOST_TO_DEVICE);
    s->category_ms[STEP_DEVICE_COMPUTE] =
        type_ms(core, TIME_COMPUTE_32) + type_ms(core, TIME_COMPUTE_16);
    s->category_ms[STEP_DEVICE_TO_DEVICE] = type_ms(core, TIME_DEVICE_TO_DEVICE);
    s->category_ms[STEP_COLLECTIVES] = type_ms(core, TIME_COLLECTIVES);
    s->category_ms[STEP_HOST_COMPUTE] = type_ms(core, TIME_HOST_COMPUTE);
    s->category_ms[STEP_KERNEL_LAUNCH] = type_ms(core, TIME_HOST_PREPARE);
    s->category_ms[STEP_INPUT] = type_ms(core, TIME_WAIT_INPUT) + s->host_to_device_ms;
    s->category_ms[STEP_OUTPUT] = type_ms(core, TIME_DEVICE_TO_HOST);
    s->category_ms[STEP_COMPILATION] = type_ms(core, TIME_HOST_COMPILE);
    s->category_ms[STEP_ALL_OTHERS] = type_ms(core, TIME_UNKNOWN);
    s->input_ms = s->category_ms[STEP_INPUT], s->output_ms = s->category_ms[STEP_OUTPUT];
    s->compute_ms = s->category_ms[STEP_DEVICE_COMPUTE],
    s->collectives_ms = s->category_ms[STEP_COLLECTIVES];
    s->launch_ms = s->category_ms[STEP_KERNEL_LAUNCH],
    s->others_ms = s->category_ms[STEP_ALL_OTHERS];
}

static void tpu_input_step(InputStep *s)
{
    const TpuStep *t = &s->tpu;
    s->tpu = tpu_step(s->step);
    s->input_ms = ms(t->tc_infeed_ps) + ms(t->scv0_infeed_ps);
    s->output_ms = ms(t->tc_outfeed_ps);
    s->collectives_ms = ms(s->step->xprof_all_reduce_ps);
    s->compute_ms = ms(t->tc_compute_ps);
    s->step_ms =
        ms(t->tc_compute_ps) + ms(t->scv0_compute_ps) + s->input_ms + s->output_ms + t->tc_idle_ms;
    s->judged_ms = s->step_ms + s->collectives_ms;
}

static int collect_steps(InputAnalysis *a, const StepDb *db, ProfErr *err)
{
    InputStep *steps = arena_alloc(&a->arena, db->n_steps * sizeof *steps + 1);
    if (!steps) return prof_nomem(err);
    a->steps = steps;
    for (size_t i = 0; i < db->n_steps && !interrupt_poll(64, err); i++) {
        const StepCore *core = a->is_tpu ? NULL : generic_core(&db->steps[i]);
        InputStep *s = &steps[a->n_steps];
        s->step = &db->steps[i];
        if (a->is_tpu)
            tpu_input_step(s);
        else if (core)
            generic_step(s, core);
        a->n_steps += a->is_tpu || core;
    }
    return err->code;
}

static int summarize(InputAnalysis *a, const StepDb *db, ProfErr *err)
{
    double *values = prof_alloc(db->n_steps * sizeof *values + 1);
    if (!values) return prof_nomem(err);
    for (size_t i = 0; i < db->n_steps; i++) values[i] = ms(db->steps[i].duration_ps);
    a->step_ms = step_summary(values, db->n_steps);
    for (int c = 0; c < N_STEP_CATEGORIES; c++) {
        for (size_t i = 0; i < a->n_steps; i++) values[i] = a->steps[i].category_ms[c];
        a->category_ms[c] = step_summary(values, a->n_steps);
    }
    for (size_t i = 0; i < a->n_steps; i++)
        values[i] = a->is_tpu ? a->steps[i].tpu.infeed_percent_max
                              : safe_div(100 * a->steps[i].input_ms, a->steps[i].step_ms);
    a->infeed_percent = step_summary(values, a->n_steps);
    prof_free(values);
    return PROF_OK;
}

/* ---- the host's time, as it matters to the devices ---- */

static double self_us(const InputAnalysis *a, enum InputCategory category)
{
    uint64_t ps = 0;
    for (size_t i = 0; i < a->n_ops; i++)
        if (a->ops[i].category == category) ps += a->ops[i].op->self_ps;
    return ps_to_us(ps);
}

/* Returns the share of the steps in which input is sent to the device: the part of the host's work
 * for which the devices did not wait. */
static double transfer_ratio(const InputAnalysis *a, const OpMetricsDb *host)
{
    double ratio = 0, transfer = 0, steps = 0;
    if (host->infeed_interval_ps) {
        ratio = safe_div((double)host->infeed_duration_ps, (double)host->infeed_interval_ps);
    } else if (!a->is_tpu && a->n_steps) {
        for (size_t i = 0; i < a->n_steps; i++)
            transfer += a->steps[i].host_to_device_ms, steps += a->steps[i].step_ms;
        ratio = safe_div(transfer / (double)a->n_steps, steps / (double)a->n_steps);
    }
    return ratio < 1 ? ratio : 1;
}

static void break_down(InputAnalysis *a, const OpMetricsDb *host)
{
    double enqueue = self_us(a, INPUT_ENQUEUE), demanded = self_us(a, INPUT_DEMANDED_READ),
           advanced = self_us(a, INPUT_ADVANCED_READ),
           preprocessing = self_us(a, INPUT_PREPROCESSING),
           all = demanded + advanced + preprocessing, ratio = transfer_ratio(a, host);
    double waited = ratio != 0 ? enqueue * (1 - ratio) / ratio : all;
    a->enqueue_us = enqueue;
    a->demanded_us = waited * safe_div(demanded, all),
    a->advanced_us = waited * safe_div(advanced, all);
    a->preprocessing_us = waited * safe_div(preprocessing, all);
    double rest = waited - a->demanded_us - a->advanced_us - a->preprocessing_us;
    a->unclassified_us = rest > 0 ? rest : 0;
    a->uses_tf_data = a->demanded_us + a->advanced_us + a->preprocessing_us > 0;
    a->has_tf_data = all > 0;
}

/* ---- verdicts ---- */

static enum ShareVerdict share_of(double percent, double high, double moderate)
{
    if (percent >= high) return SHARE_HIGH;
    return percent >= moderate ? SHARE_MODERATE : SHARE_NO;
}

static enum InputVerdict input_verdict(double percent)
{
    if (percent >= 20) return VERDICT_HOST;
    return percent >= 5 ? VERDICT_BOTH : VERDICT_DEVICE;
}

static void judge(InputAnalysis *a)
{
    double step = 0, input = 0, output = 0, compute = 0, collectives = 0, launch = 0, others = 0,
           idle = 0;
    for (size_t i = 0; i < a->n_steps; i++) {
        const InputStep *s = &a->steps[i];
        step += s->judged_ms, input += s->input_ms, output += s->output_ms,
            compute += s->compute_ms, collectives += s->collectives_ms;
        launch += s->launch_ms, others += s->others_ms, idle += s->tpu.tc_idle_ms;
    }
    if (step <= 0) {
        a->input_percent = a->output_percent = a->idle_percent = a->compute_percent =
            a->launch_percent = a->collectives_percent = a->others_percent = NAN;
        return;
    }
    a->input_percent = 100 * input / step, a->output_percent = 100 * output / step,
    a->launch_percent = 100 * launch / step;
    a->collectives_percent = 100 * collectives / step, a->others_percent = 100 * others / step;
    if (a->is_tpu) {
        a->idle_percent = 100 * idle / step;
        a->compute_percent = fmax(0, 100 - a->input_percent - a->output_percent - a->idle_percent);
    } else {
        a->compute_percent = 100 * compute / step;
        a->idle_percent = fmax(0, 100 - a->input_percent - a->output_percent - a->compute_percent -
                                      a->collectives_percent);
    }
    a->output = share_of(a->output_percent, 20, 5), a->launch = share_of(a->launch_percent, 15, 3);
    a->collectives = share_of(a->collectives_percent, 15, 3),
    a->others = share_of(a->others_percent, 15, 3);
    a->input = input_verdict(a->input_percent);
    if (a->input == VERDICT_DEVICE && !a->is_tpu && a->others_percent >= 3)
        a->input = VERDICT_POTENTIALLY, a->others = SHARE_NO;
}

/* ---- corrected shares ---- */

/* Adds the times of all cores together, so that parts add up to their steps. */
static void add_shares(const Step *step, double ms_of[N_STEP_CATEGORIES], double *all_ms)
{
    uint64_t ps[N_STEP_CATEGORIES];
    for (size_t i = 0; i < step->n_cores; i++) {
        if (step->cores[i].kind == STEP_CORE_SPARSE) continue;
        step_actual_categories(&step->cores[i], ps);
        for (int c = 0; c < N_STEP_CATEGORIES; c++) ms_of[c] += ms(ps[c]);
        *all_ms += ms(step->cores[i].duration_ps);
    }
}

/* Judges the corrected shares. `marked` has the steps that frameworks mark in a way that XProf does
 * not recognise; it is used if there are no other steps. */
static void judge_actual(InputAnalysis *a, const StepDb *db, const StepDb *marked)
{
    double ms_of[N_STEP_CATEGORIES] = {0}, all = 0;
    for (size_t i = 0; i < db->n_steps; i++) add_shares(&db->steps[i], ms_of, &all);
    if (!db->n_steps) a->n_marked_steps = marked->n_steps;
    a->n_actual_steps = db->n_steps ? db->n_steps : a->n_marked_steps;
    for (size_t i = 0; i < a->n_marked_steps; i++) add_shares(&marked->steps[i], ms_of, &all);
    for (int c = 0; c < N_STEP_CATEGORIES; c++)
        a->actual_percent[c] = all > 0 ? 100 * ms_of[c] / all : NAN;
    if (!(all > 0)) return;
    for (int c = 0; a->is_tpu && c < N_STEP_CATEGORIES; c++)
        if (c == STEP_DEVICE_TO_DEVICE || c == STEP_HOST_COMPUTE || c == STEP_KERNEL_LAUNCH ||
            c == STEP_COMPILATION)
            a->actual_percent[c] = NAN;
    double others = a->actual_percent[STEP_ALL_OTHERS];
    a->actual_output = share_of(a->actual_percent[STEP_OUTPUT], 20, 5),
    a->actual_launch = share_of(a->actual_percent[STEP_KERNEL_LAUNCH], 15, 3);
    a->actual_collectives = share_of(a->actual_percent[STEP_COLLECTIVES], 15, 3),
    a->actual_others = share_of(others, 15, 3);
    a->actual_input = input_verdict(a->actual_percent[STEP_INPUT]);
    /* Marked steps include the framework's own Python code, which is not traced. Such time does not
     * indicate waiting for input. */
    if (a->actual_input == VERDICT_DEVICE && !a->is_tpu && !a->n_marked_steps && others >= 3)
        a->actual_input = VERDICT_POTENTIALLY, a->actual_others = SHARE_NO;
}

static void input_free(void *result)
{
    InputAnalysis *a = result;
    arena_free(&a->arena);
    prof_free(a);
}

static void *input_make(Run *run, Host *only, ProfErr *err)
{
    const OpStats *stats =
        run_ops_and_steps(run, only, host_steps, err) ? NULL : run_op_stats(run, only, err);
    const DeviceCapabilities *devices = stats ? run_devices(run, only, err) : NULL;
    const StepDb *steps = devices ? run_steps(run, only, err) : NULL,
                 *marked = steps ? run_marked_steps(run, only, err) : NULL;
    InputAnalysis *a = marked ? prof_alloc(sizeof *a) : NULL;
    if (marked && !a) prof_nomem(err);
    if (!a) return NULL;
    a->hardware = devices->hardware; /* the steps may be of other hardware: a host with planes of
                                        TPUs and GPUs has TPU steps but counts as a GPU host */
    a->is_tpu = a->hardware == HARDWARE_TPU;
    a->is_named = steps->hardware == HARDWARE_CPU;
    if (!collect_ops(a, stats, err) && !collect_steps(a, steps, err) && !summarize(a, steps, err)) {
        break_down(a, &stats->host);
        judge(a);
        judge_actual(a, steps, marked);
        return a;
    }
    input_free(a);
    return NULL;
}

const InputAnalysis *run_input(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {input_make, input_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
