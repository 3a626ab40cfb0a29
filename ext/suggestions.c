// SPDX-License-Identifier: Apache-2.0
/* suggestions.c: the rules of XProf's smart suggestions; see findings.h.
 *
 * XProf applies the one on barriers alone. The others judge by what its overview, input pipeline
 * and step times show; the use of the matrix units and of the HBM is what hosts say of themselves,
 * and few do. */
#include "findings.h"

#include "../loader/analysis/steps/event_fractions.h"
#include "../loader/base/sort.h"

#include <math.h>
SQLITE_EXTENSION_INIT3

typedef struct {
    Suggestion *found;
    size_t n;
    /* percent; NAN: not known */
    double mxu, hbm, input, enqueue,
        other_input; /* the last two: of the host's input time, 0 without any */
    double collectives, shuffling, async_done; /* of the devices' self time */
    double tc_idle, sc_busy;                   /* of the steps */
} Rules;

static void suggest(Rules *r, const char *code, char *statement)
{
    r->found[r->n++] = (Suggestion){code, false, statement};
}

/* ---- what rules go by ---- */

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

/* A SparseCore's step is the TensorCores' own in XProf's answers, so its length says nothing: what
 * it is busy for does. */
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
    if (r->collectives >= 30)
        suggest(r, "CollectiveBoundRule",
                sqlite3_mprintf("Collectives take %.1f%% of the devices' time. Query the table "
                                "collectives to see which ones, and which device waits for the "
                                "others. Overlap them with computation, or send less data.",
                                r->collectives));
    if (r->mxu > 70 && r->hbm < 50)
        suggest(r, "ComputeBoundRule",
                sqlite3_mprintf("Compute bound: matrix units are utilized at %.1f%%, HBM "
                                "at %.1f%%. Use smaller number types or fewer operations.",
                                r->mxu, r->hbm));
    if (r->hbm > 70 && r->mxu < 50)
        suggest(r, "MemoryBoundRule",
                sqlite3_mprintf("Memory bound: HBM is utilized at %.1f%%, matrix units "
                                "at %.1f%%. Fuse ops, and keep reused data on the chip.",
                                r->hbm, r->mxu));
    if (r->shuffling >= 30)
        suggest(r, "DataShuffleBoundRule",
                sqlite3_mprintf("Devices spend %.1f%% of their time on data movement: copies, "
                                "reshapes, transposes, gathers. Choose layouts and shapes that "
                                "need fewer of them. Query hlo_ops to see which ops these are.",
                                r->shuffling));
    if (r->async_done > 10 && r->hbm < 50)
        suggest(r, "SparseCoreOffloadRule",
                sqlite3_mprintf("TensorCores spend %.1f%% of their time waiting for "
                                "work that they offloaded, although HBM is utilized at "
                                "only %.1f%%. Start this work earlier, or offload less.",
                                r->async_done, r->hbm));
    if (unused && r->sc_busy > 10)
        suggest(r, "SparseCoreBoundRule",
                sqlite3_mprintf("SparseCores are busy for %.1f%% of the steps while "
                                "matrix units and HBM are utilized at less than "
                                "50%%. Balance the embeddings, or use fewer of them.",
                                r->sc_busy));
    if (unused && r->tc_idle > 10)
        suggest(r, "TensorCoreIdleRule",
                sqlite3_mprintf("TensorCores are idle for %.1f%% of the steps while "
                                "matrix units and HBM are utilized at less than "
                                "50%%. Query host_bound to see what they wait for.",
                                r->tc_idle));
}

static void judge_input(Rules *r)
{
    if (!(r->input > 10)) return;
    if (r->enqueue >= 30)
        suggest(r, "DataTransferBoundRule",
                sqlite3_mprintf("Steps wait for input for %.1f%% of their time, and %.1f%% "
                                "of the host's input time is spent on sending data to the "
                                "device. Send fewer bytes, in larger pieces, ahead of time.",
                                r->input, r->enqueue));
    if (r->other_input >= 50)
        suggest(r, "HostProcessingBoundRule",
                sqlite3_mprintf("Steps wait for input for %.1f%% of their time, and "
                                "%.1f%% of the host's input time is spent on reading and "
                                "preprocessing. Query input_breakdown to see on which.",
                                r->input, r->other_input));
    if (r->enqueue < 1e-6 && r->other_input < 1e-6)
        suggest(r, "InputBoundRule",
                sqlite3_mprintf("Steps wait for input for %.1f%% of their time. The "
                                "trace does not show what the host does during it.",
                                r->input));
}

/* ---- barriers: each host's share, and who stands out ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the values. */
static double median_of(double *values, size_t n)
{
    sort_array(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Of three hosts and more, those whose share is an outlier by its modified z-score. */
static void judge_hosts(Rules *r, const EventFractions *barriers, Run *run, ProfErr *err)
{
    enum { FEWEST_HOSTS = 3 };
    const double least_deviation = 0.1, scale = 0.6745, limit = 3.5;
    double *values = prof_alloc(run->n_hosts * sizeof *values),
           *shares = prof_alloc(run->n_hosts * sizeof *shares);
    char *names = NULL;
    size_t n = 0;
    if (!values || !shares) prof_nomem(err);
    for (size_t h = 0; !err->code && h < run->n_hosts; h++) {
        shares[h] = 100 * average_fraction(barriers, &run->hosts[h]);
        if (!isnan(shares[h])) values[n++] = shares[h];
    }
    if (n >= FEWEST_HOSTS) {
        double middle = median_of(values, n);
        for (size_t i = 0; i < n; i++) values[i] = fabs(values[i] - middle);
        double deviation = fmax(median_of(values, n), least_deviation);
        for (size_t h = 0; h < run->n_hosts; h++)
            if (scale * fabs(shares[h] - middle) / deviation > limit)
                names = sqlite3_mprintf("%z%s%s (%.1f%%)", names, names ? ", " : "",
                                        run->hosts[h].name, shares[h]);
        if (names)
            suggest(r, "StragglerRule",
                    sqlite3_mprintf("Hosts whose share of step time at barriers "
                                    "differs strongly from the median (%.1f%%): %s. A "
                                    "host that waits less than the others arrives late.",
                                    middle, names));
    }
    sqlite3_free(names);
    prof_free(values);
    prof_free(shares);
}

static void judge_barriers(Rules *r, Run *run, Host *only, ProfErr *err)
{
    EventFractions barriers;
    if (!event_fractions(run, only, "barrier-cores", &barriers, err)) {
        double percent = 100 * average_fraction(&barriers, NULL);
        if (percent >= 10) {
            suggest(r, "BarrierCoresRule",
                    sqlite3_mprintf(
                        "Cores spend %.1f%% of their steps, on average, waiting for each other "
                        "at barriers. Query stragglers to see which core or host is late. Common "
                        "causes are uneven work, slow input on one host, and the network.",
                        percent));
            r->found[r->n - 1].shown = true;
        }
        judge_hosts(r, &barriers, run, err);
    }
    event_fractions_free(&barriers);
}

static void judge_printing(Rules *r, Run *run, Host *only, ProfErr *err)
{
    EventFractions prints;
    double most = 0;
    const Host *host = NULL;
    if (!event_fractions(run, only, "debug_print", &prints, err))
        for (size_t h = 0; h < run->n_hosts; h++) {
            double percent = 100 * average_fraction(&prints, &run->hosts[h]);
            if (percent > most) most = percent, host = &run->hosts[h];
        }
    if (most >= 5)
        suggest(r, "DebugPrintRule",
                sqlite3_mprintf("Cores of the host %s spend %.1f%% of their steps on debug "
                                "prints. Remove the prints from performance-critical code.",
                                host->name, most));
    event_fractions_free(&prints);
}

size_t find_suggestions(Run *run, Host *only, Suggestion found[MAX_SUGGESTIONS], ProfErr *err)
{
    const InputAnalysis *a = run_input(run, only, err);
    const OpStats *stats = a ? run_op_stats(run, only, err) : NULL;
    Rules r = {.found = found};
    if (!stats) return 0;
    r.mxu = host_stat(run, only, "matrix_unit_utilization_percent", err),
    r.hbm = host_stat(run, only, "hbm_utilization_percent", err);
    measure_ops(&r, &stats->device);
    measure_input(&r, a);
    measure_steps(&r, a);
    judge_barriers(&r, run, only, err);
    judge_devices(&r);
    judge_input(&r);
    judge_printing(&r, run, only, err);
    for (size_t i = 0; err->code && i < r.n; i++) sqlite3_free(r.found[i].statement);
    return err->code ? 0 : r.n;
}
