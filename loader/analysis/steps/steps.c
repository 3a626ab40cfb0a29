// SPDX-License-Identifier: Apache-2.0
/* steps.c: reads steps: XProf's categories and summaries; see steps.h. */
#include "steps.h"
#include "../../base/search.h"

#include <float.h>
#include <math.h>

const char *const step_type_names[N_STEP_TYPES] = {
    "UNKNOWN_TIME",       "HOST_COMPUTE",     "HOST_COMPILE",       "HOST_TO_HOST",
    "HOST_TO_DEVICE",     "HOST_PREPARE",     "DEVICE_COLLECTIVES", "HOST_WAIT_INPUT",
    "DEVICE_TO_DEVICE",   "DEVICE_TO_HOST",   "DEVICE_COMPUTE_32",  "DEVICE_COMPUTE_16",
    "DEVICE_WAIT_DEVICE", "DEVICE_WAIT_HOST",
};
const char *const step_category_names[N_STEP_CATEGORIES] = {
    "Device compute", "Device to device", "Device collective communication",
    "Host compute",   "Kernel launch",    "Input",
    "Output",         "Compilation",      "All others",
};

/* ---- the nine categories ---- */

static void add_types(const uint64_t *type_ps, uint64_t ps[N_STEP_CATEGORIES])
{
    static const int category_of[N_STEP_TYPES] = {
        [TIME_UNKNOWN] = STEP_ALL_OTHERS,
        [TIME_HOST_COMPUTE] = STEP_HOST_COMPUTE,
        [TIME_HOST_COMPILE] = STEP_COMPILATION,
        [TIME_HOST_TO_HOST] = -1,
        [TIME_HOST_TO_DEVICE] = STEP_INPUT,
        [TIME_HOST_PREPARE] = STEP_KERNEL_LAUNCH,
        [TIME_COLLECTIVES] = STEP_COLLECTIVES,
        [TIME_WAIT_INPUT] = STEP_INPUT,
        [TIME_DEVICE_TO_DEVICE] = STEP_DEVICE_TO_DEVICE,
        [TIME_DEVICE_TO_HOST] = STEP_OUTPUT,
        [TIME_COMPUTE_32] = STEP_DEVICE_COMPUTE,
        [TIME_COMPUTE_16] = STEP_DEVICE_COMPUTE,
        [TIME_WAIT_DEVICE] = STEP_DEVICE_TO_DEVICE,
        [TIME_WAIT_HOST] = STEP_INPUT,
    };
    for (int t = 0; t < N_STEP_TYPES; t++)
        if (category_of[t] >= 0) /* XProf's categories do not include copies within the host */
            ps[category_of[t]] += type_ps[t];
}

static enum StepCategory hlo_step_category(const Text *category)
{
    static const struct {
        const char *name;
        enum StepCategory category;
    } known[] = {
        {"IDLE", STEP_ALL_OTHERS},
        {"all-reduce", STEP_COLLECTIVES},
        {"all-reduce fusion", STEP_COLLECTIVES},
        {"all-to-all", STEP_COLLECTIVES},
        {"infeed", STEP_INPUT},
        {"sparsecorev0 infeed", STEP_INPUT},
        {"host recv", STEP_INPUT},
        {"host recv-done", STEP_INPUT},
        {"outfeed", STEP_OUTPUT},
        {"sparsecorev0 outfeed", STEP_OUTPUT},
        {"host send", STEP_OUTPUT},
        {"host send-done", STEP_OUTPUT},
        {"send", STEP_DEVICE_TO_DEVICE},
        {"send-done", STEP_DEVICE_TO_DEVICE},
        {"recv", STEP_DEVICE_TO_DEVICE},
        {"recv-done", STEP_DEVICE_TO_DEVICE},
        {"async-done", STEP_DEVICE_TO_DEVICE},
        {"megacore fusion", STEP_DEVICE_TO_DEVICE},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        if (!strcmp(category->text, known[i].name)) return known[i].category;
    return STEP_DEVICE_COMPUTE;
}

void step_categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES])
{
    memset(ps, 0, N_STEP_CATEGORIES * sizeof *ps);
    if (core->type_ps) add_types(core->type_ps, ps);
    for (size_t i = 0; i < core->n_shares; i++)
        ps[hlo_step_category(core->shares[i].category)] += core->shares[i].ps;
}

void step_actual_categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES])
{
    if (!core->actual_ps) {
        step_categories(core, ps);
        return;
    }
    memset(ps, 0, N_STEP_CATEGORIES * sizeof *ps);
    add_types(core->actual_ps, ps);
}

bool step_tells_compiling(const StepCore *core)
{
    return core->kind == STEP_CORE_GENERIC && core->has_threads;
}

enum StepCategory step_bottleneck(const uint64_t ps[N_STEP_CATEGORIES])
{
    int top = STEP_OUTPUT; /* of equal categories, the last by name */
    for (int c = 0; c < N_STEP_CATEGORIES; c++)
        if (ps[c] > ps[top] ||
            (ps[c] == ps[top] && strcmp(step_category_names[c], step_category_names[top]) > 0))
            top = c;
    return (enum StepCategory)top;
}

/* ---- TPUs ---- */

static uint64_t step_share(const StepCore *core, const char *category)
{
    const StepShare *shares = core->shares;
    size_t at = LOWER_BOUND(i, 0, core->n_shares, strcmp(shares[i].category->text, category) < 0);
    return at < core->n_shares && !strcmp(shares[at].category->text, category) ? shares[at].ps : 0;
}

TensorCoreStep tensorcore_step(const StepCore *core)
{
    TensorCoreStep t = {0};
    uint64_t told = 0;
    for (size_t i = 0; i < core->n_shares; i++)
        if (strcmp(core->shares[i].category->text, "IDLE") != 0) told += core->shares[i].ps;
    uint64_t in = step_share(core, "sparsecorev0 infeed"),
             out = step_share(core, "sparsecorev0 outfeed");
    t.scv0_transform_ps = in < out ? in : out, t.wait_for_scv0_ps = in - t.scv0_transform_ps,
    t.scv0_outfeed_ps = out;
    t.infeed_ps = step_share(core, "infeed"), t.host_outfeed_ps = step_share(core, "outfeed");
    t.all_reduce_ps = step_share(core, "all-reduce") + step_share(core, "all-reduce fusion") +
                      step_share(core, "all-to-all");
    t.send_ps = step_share(core, "send") + step_share(core, "send-done"),
    t.recv_ps = step_share(core, "recv") + step_share(core, "recv-done");
    t.host_send_ps = step_share(core, "host send") + step_share(core, "host send-done");
    t.host_recv_ps = step_share(core, "host recv") + step_share(core, "host recv-done");
    t.megacore_wait_ps = step_share(core, "megacore fusion");
    t.high_flops_ps = step_share(core, "convolution") +
                      step_share(core, "convolution base-dilated") +
                      step_share(core, "convolution window-dilated") +
                      step_share(core, "convolution fusion") + step_share(core, "output fusion");
    t.tc_idle_ps = core->duration_ps - told;
    uint64_t off_duty = t.tc_idle_ps + t.infeed_ps + t.host_outfeed_ps + t.host_send_ps +
                        t.host_recv_ps + t.megacore_wait_ps;
    t.tc_busy_ps = core->duration_ps - off_duty - t.wait_for_scv0_ps;
    return t;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

typedef struct {
    uint64_t outfeed_ps, active_ps, sc_step_ps, sc_idle_ps, wait_for_scv0_ps;
    double infeed_percent;
} Sums;

/* Returns a core's time in ops that are on duty, as defined for its duty cycle. */
static uint64_t active_ps(const StepCore *core, const TensorCoreStep *c)
{
    uint64_t told = 0;
    for (size_t i = 0; i < core->n_shares; i++) {
        const Text *category = core->shares[i].category;
        if (strcmp(category->text, "IDLE") != 0 && !op_is_off_duty(slice_of(category)))
            told += core->shares[i].ps;
    }
    told = least(told, core->duration_ps);
    return told - least(told, c->wait_for_scv0_ps);
}

static void add_tensorcore(TpuStep *t, Sums *sums, const StepCore *core)
{
    TensorCoreStep c = tensorcore_step(core);
    uint64_t wait = c.infeed_ps + c.host_outfeed_ps + c.host_send_ps + c.host_recv_ps +
                    c.tc_idle_ps + c.wait_for_scv0_ps;
    uint64_t compute = wait > core->duration_ps ? 0 : core->duration_ps - wait;
    double percent =
        core->duration_ps ? 100.0 * (double)c.infeed_ps / (double)core->duration_ps : 0;
    bool first = !t->n_tensorcores++;
    t->tc_compute_ps = first ? compute : least(t->tc_compute_ps, compute);
    if (first || c.infeed_ps > t->tc_infeed_ps) t->tc_infeed_ps = c.infeed_ps, t->max_infeed = core;
    t->host_transfer_ps = most(t->host_transfer_ps, c.host_send_ps + c.host_recv_ps);
    t->all_reduce_ps = most(t->all_reduce_ps, c.all_reduce_ps);
    if (c.wait_for_scv0_ps > sums->wait_for_scv0_ps)
        t->scv0_compute_ps = sums->wait_for_scv0_ps = c.wait_for_scv0_ps;
    if (first || percent < t->infeed_percent_min) t->infeed_percent_min = percent;
    if (first || percent > t->infeed_percent_max) t->infeed_percent_max = percent;
    sums->active_ps += active_ps(core, &c);
    sums->outfeed_ps += c.host_outfeed_ps, sums->infeed_percent += percent;
}

static void add_sparsecore(TpuStep *t, Sums *sums, const StepCore *core)
{
    uint64_t compute = core->busy_ps;
    t->sc_compute_ps = t->n_sparsecores ? least(t->sc_compute_ps, compute) : compute;
    t->n_sparsecores++;
    sums->sc_step_ps += core->duration_ps, sums->sc_idle_ps += core->duration_ps - core->busy_ps;
}

/* Returns whether XProf treats a core as an idle TensorCore: also what another host did in a TPU's
 * run. */
static bool is_like_tensorcore(const StepCore *core, bool of_tpu)
{
    return core->kind == STEP_CORE_TENSOR || (of_tpu && core->kind == STEP_CORE_GENERIC);
}

TpuStep tpu_step(const Step *step)
{
    TpuStep t = {0};
    Sums sums = {0};
    bool of_tpu = false;
    for (size_t i = 0; i < step->n_cores; i++) of_tpu |= step->cores[i].kind == STEP_CORE_TENSOR;
    for (size_t i = 0; i < step->n_cores; i++) {
        if (is_like_tensorcore(&step->cores[i], of_tpu)) add_tensorcore(&t, &sums, &step->cores[i]);
        if (step->cores[i].kind == STEP_CORE_SPARSE) add_sparsecore(&t, &sums, &step->cores[i]);
    }
    if (t.n_sparsecores)
        t.sc_step_ps = sums.sc_step_ps / t.n_sparsecores,
        t.sc_idle_ps = sums.sc_idle_ps / t.n_sparsecores;
    if (!t.n_tensorcores) return t;
    t.tc_active_ps = sums.active_ps / t.n_tensorcores;
    t.tc_outfeed_ps = sums.outfeed_ps / t.n_tensorcores,
    t.infeed_percent_average = sums.infeed_percent / (double)t.n_tensorcores;
    uint64_t told = t.tc_compute_ps + t.scv0_compute_ps + t.tc_infeed_ps + t.scv0_infeed_ps +
                    t.tc_outfeed_ps,
             shortest = UINT64_MAX;
    for (size_t i = 0; i < step->n_cores; i++)
        if (is_like_tensorcore(&step->cores[i], of_tpu))
            shortest = least(shortest, step->cores[i].duration_ps);
    t.tc_idle_ps = shortest > told ? shortest - told : 0;
    t.tc_idle_ms =
        (double)shortest / 1e9 - ((double)t.tc_compute_ps / 1e9 + (double)t.scv0_compute_ps / 1e9 +
                                  (double)t.tc_infeed_ps / 1e9 + (double)t.scv0_infeed_ps / 1e9 +
                                  (double)t.tc_outfeed_ps / 1e9);
    if (!(t.tc_idle_ms > 0)) t.tc_idle_ms = 0;
    return t;
}

/* ---- over steps ---- */

StepSummary step_summary(const double *values, size_t n)
{
    StepSummary s = {0};
    double squares = 0, largest = DBL_MIN;
    if (!n) return s;
    s.minimum = s.maximum = values[0];
    for (size_t i = 0; i < n; i++) {
        s.average += values[i] / (double)n;
        if (values[i] < s.minimum) s.minimum = values[i];
        if (values[i] > s.maximum) s.maximum = values[i];
        if (values[i] > largest) largest = values[i];
    }
    for (size_t i = 0; i < n; i++) squares += (values[i] - s.average) * (values[i] - s.average);
    if (s.minimum < s.maximum) s.deviation = sqrt(squares / (double)(n - 1));
    s.xprof_maximum = largest;
    s.xprof_deviation = n == 1 && s.minimum < largest ? NAN : s.deviation;
    return s;
}
