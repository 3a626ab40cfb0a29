// SPDX-License-Identifier: Apache-2.0
/* suggestions.c: applies the rules of XProf's smart suggestions; see advice.h.
 *
 * XProf itself applies only the rule on barriers. The others use values of its overview page, input
 * pipeline and step times. The utilizations of matrix units and HBM are stats that hosts record,
 * and few do. */
#include "../../base/sort.h"
#include "../steps/event_fractions.h"
#include "advice.h"

#include <math.h>

typedef struct {
    AdviceBuild *build;
    /* Percentages; NAN if unknown. */
    double mxu, hbm, input, enqueue,
        other_input; /* the last two are shares of the host's input time; 0 if it has none */
    double collectives, shuffling, async_done; /* shares of the devices' self time */
    double tc_idle, sc_busy;                   /* shares of the steps */
} Rules;

static void suggest(Rules *r, enum AdviceKind rule, double percent)
{
    advice_add(r->build, (Advice){rule, .percent = percent});
}

static void suggest_two(Rules *r, enum AdviceKind rule, double percent, double other_percent)
{
    advice_add(r->build, (Advice){rule, .percent = percent, .other_percent = other_percent});
}

/* ---- the values that rules compare ---- */

static bool has_any(const Text *category, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(category->text, words[i])) return true;
    return false;
}

static void measure_ops(Rules *r, const OpMetricsDb *ops)
{
    static const char *const collectives[] = {"all-reduce",         "all-gather",
                                              "all-to-all",         "reduce-scatter",
                                              "collective-permute", "collective-broadcast"};
    static const char *const shuffles[] = {"data formatting", "copy",        "reshape",
                                           "transpose",       "gather",      "scatter",
                                           "slice",           "concatenate", "pad"};
    double all = 0, collective = 0, shuffle = 0, done = 0;
    for (size_t i = 0; i < ops->n_ops; i++) {
        const OpMetrics *op = &ops->ops[i];
        double ps = (double)op->self_ps;
        if (op_is_idle(op)) continue;
        all += ps;
        if (has_any(op->category, collectives, COUNT(collectives)))
            collective += ps;
        else if (has_any(op->category, shuffles, COUNT(shuffles)))
            shuffle += ps;
        else if (strstr(op->category->text, "async-done"))
            done += ps;
    }
    r->collectives = 100 * safe_div(collective, all), r->shuffling = 100 * safe_div(shuffle, all),
    r->async_done = 100 * safe_div(done, all);
}

static void measure_input(Rules *r, const InputAnalysis *a)
{
    double other = a->demanded_us + a->advanced_us + a->preprocessing_us + a->unclassified_us;
    r->input = finding_percent_actual(a, FINDING_INPUT);
    r->enqueue = 100 * safe_div(a->enqueue_us, a->enqueue_us + other),
    r->other_input = 100 * safe_div(other, a->enqueue_us + other);
}

/* Measures steps. In XProf's answers a SparseCore's step equals the TensorCores' own, so its busy
 * time is used, not its length. */
static void measure_steps(Rules *r, const InputAnalysis *a)
{
    double step_ms = 0, idle_ms = 0, busy_ms = 0;
    for (size_t i = 0; i < a->n_steps; i++) {
        const TpuStep *t = &a->steps[i].tpu;
        step_ms += (double)a->steps[i].step->duration_ps / 1e9, idle_ms += t->tc_idle_ms,
            busy_ms += (double)(t->sc_step_ps - t->sc_idle_ps) / 1e9;
    }
    bool known = a->is_tpu && step_ms > 0;
    r->tc_idle = known ? 100 * idle_ms / step_ms : NAN,
    r->sc_busy = known ? 100 * busy_ms / step_ms : NAN;
}

/* ---- rules; comparisons with NAN are false ---- */

static void judge_devices(Rules *r)
{
    bool unused = r->mxu < 50 && r->hbm < 50;
    if (r->collectives >= 30) suggest(r, RULE_COLLECTIVES, r->collectives);
    if (r->mxu > 70 && r->hbm < 50) suggest_two(r, RULE_COMPUTE, r->mxu, r->hbm);
    if (r->hbm > 70 && r->mxu < 50) suggest_two(r, RULE_MEMORY, r->hbm, r->mxu);
    if (r->shuffling >= 30) suggest(r, RULE_DATA_SHUFFLE, r->shuffling);
    if (r->async_done > 10 && r->hbm < 50) suggest_two(r, RULE_OFFLOAD, r->async_done, r->hbm);
    if (unused && r->sc_busy > 10) suggest(r, RULE_SPARSECORE, r->sc_busy);
    if (unused && r->tc_idle > 10) suggest(r, RULE_TENSORCORE_IDLE, r->tc_idle);
}

static void judge_input(Rules *r)
{
    if (!(r->input > 10)) return;
    if (r->enqueue >= 30) suggest_two(r, RULE_DATA_TRANSFER, r->input, r->enqueue);
    if (r->other_input >= 50) suggest_two(r, RULE_HOST_PROCESSING, r->input, r->other_input);
    if (r->enqueue < 1e-6 && r->other_input < 1e-6) suggest(r, RULE_INPUT, r->input);
}

/* ---- barriers: the share of each host, and outliers ---- */

/* Returns the median. Sorts the values. */
static double median_of(double *values, size_t n)
{
    sort_array(values, n, sizeof *values, by_double);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Finds the outliers of `shares` by their modified z-score. Overwrites `values`. */
static void judge_shares(Rules *r, const HostShare *shares, size_t n, double *values)
{
    const double least_deviation = 0.1, scale = 0.6745, limit = 3.5;
    AdviceBuild *b = r->build;
    HostShare *far = arena_alloc(&b->list->arena, n * sizeof *far);
    size_t n_far = 0;
    if (!far) {
        prof_nomem(b->err);
        return;
    }
    for (size_t i = 0; i < n; i++) values[i] = shares[i].percent;
    double middle = median_of(values, n);
    for (size_t i = 0; i < n; i++) values[i] = fabs(values[i] - middle);
    double deviation = fmax(median_of(values, n), least_deviation);
    for (size_t i = 0; i < n; i++)
        if (scale * fabs(shares[i].percent - middle) / deviation > limit) far[n_far++] = shares[i];
    if (n_far)
        advice_add(b, (Advice){RULE_STRAGGLER, .percent = middle, .count = n_far, .hosts = far});
}

/* Compares hosts. Needs three or more. */
static void judge_hosts(Rules *r, const EventFractions *barriers)
{
    enum { FEWEST_HOSTS = 3 };
    const Run *run = r->build->run;
    double *values = prof_alloc(run->n_hosts * sizeof *values);
    HostShare *shares = prof_alloc(run->n_hosts * sizeof *shares);
    size_t n = 0;
    if (!values || !shares) prof_nomem(r->build->err);
    for (size_t h = 0; !r->build->err->code && h < run->n_hosts; h++) {
        double percent = 100 * average_fraction(barriers, &run->hosts[h]);
        if (!isnan(percent)) shares[n++] = (HostShare){&run->hosts[h], percent};
    }
    if (n >= FEWEST_HOSTS) judge_shares(r, shares, n, values);
    prof_free(values);
    prof_free(shares);
}

static void judge_barriers(Rules *r)
{
    AdviceBuild *b = r->build;
    EventFractions barriers;
    if (!event_fractions(b->run, b->only, "barrier-cores", &barriers, b->err)) {
        double percent = 100 * average_fraction(&barriers, NULL);
        if (percent >= 10) suggest(r, RULE_BARRIER_CORES, percent);
        judge_hosts(r, &barriers);
    }
    event_fractions_free(&barriers);
}

static void judge_printing(Rules *r)
{
    AdviceBuild *b = r->build;
    EventFractions prints;
    double most = 0;
    const Host *host = NULL;
    if (!event_fractions(b->run, b->only, "debug_print", &prints, b->err))
        for (size_t h = 0; h < b->run->n_hosts; h++) {
            double percent = 100 * average_fraction(&prints, &b->run->hosts[h]);
            if (percent > most) most = percent, host = &b->run->hosts[h];
        }
    if (most >= 5) advice_add(b, (Advice){RULE_DEBUG_PRINT, .name = host->name, .percent = most});
    event_fractions_free(&prints);
}

void add_suggestions(AdviceBuild *b, const OpStats *stats)
{
    Rules r = {.build = b};
    r.mxu = host_stat(b->run, b->only, "matrix_unit_utilization_percent", b->err),
    r.hbm = host_stat(b->run, b->only, "hbm_utilization_percent", b->err);
    measure_ops(&r, &stats->device);
    measure_input(&r, b->list->input);
    measure_steps(&r, b->list->input);
    judge_barriers(&r);
    judge_devices(&r);
    judge_input(&r);
    judge_printing(&r);
}
