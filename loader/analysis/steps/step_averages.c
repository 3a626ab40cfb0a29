// SPDX-License-Identifier: Apache-2.0
/* step_averages.c: averages the times of steps over cores; see step_averages.h. */
#include "step_averages.h"

typedef void Categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES]);

/* Sums the times by category. Returns the number of cores. */
static size_t sum_categories(const Step *step, Categories *of, double sum[N_STEP_CATEGORIES])
{
    size_t n = 0;
    for (size_t i = 0; i < step->n_cores; i++) {
        uint64_t ps[N_STEP_CATEGORIES];
        if (step->cores[i].kind == STEP_CORE_SPARSE) continue;
        of(&step->cores[i], ps);
        for (int c = 0; c < N_STEP_CATEGORIES; c++) sum[c] += (double)ps[c];
        n++;
    }
    return n;
}

static double average_ms(const Step *step, Categories *of, enum StepCategory category)
{
    double sum[N_STEP_CATEGORIES] = {0};
    size_t n = sum_categories(step, of, sum);
    return n ? sum[category] / (double)n / 1e9 : 0;
}

double step_average_ms(const Step *step, enum StepCategory category)
{
    return average_ms(step, step_categories, category);
}

double step_average_ms_actual(const Step *step, enum StepCategory category)
{
    return average_ms(step, step_actual_categories, category);
}

bool step_compiling_is_known(const Step *step)
{
    for (size_t i = 0; i < step->n_cores; i++)
        if (!step_tells_compiling(&step->cores[i])) return false;
    return step->n_cores > 0;
}

enum StepCategory step_bottleneck_actual(const Step *step)
{
    uint64_t all[N_STEP_CATEGORIES] = {0}, ps[N_STEP_CATEGORIES];
    for (size_t i = 0; i < step->n_cores; i++) {
        if (step->cores[i].kind == STEP_CORE_SPARSE) continue;
        step_actual_categories(&step->cores[i], ps);
        for (int c = 0; c < N_STEP_CATEGORIES; c++) all[c] += ps[c];
    }
    return step_bottleneck(all);
}

const uint64_t *step_longest_range(const StepDb *db, const Step *step)
{
    const HostStep *longest = NULL;
    for (size_t h = 0; h < db->n_hosts; h++) {
        const HostStep *of = step->of_hosts[h];
        if (of->has_range && (!longest || of->range_ps > longest->range_ps)) longest = of;
    }
    return longest ? &longest->range_ps : NULL;
}

/* ---- the pod viewer ---- */

const StepDb *run_pod_steps(Run *run, Host *only, ProfErr *err)
{
    const StepDb *outside = run_outside_steps(run, only, err);
    return outside && outside->n_steps ? outside : run_all_steps(run, only, err);
}

bool step_is_in_pod(const StepDb *pod, const Step *kept, size_t *at)
{
    if (pod->n_steps && pod->steps[0].outside_xprof) return true;
    while (*at < pod->n_steps && pod->steps[*at].of_hosts[0] < kept->of_hosts[0]) ++*at;
    const Step *step = *at < pod->n_steps ? &pod->steps[*at] : NULL;
    return step && !step->dropped && step->kept_number == kept->number;
}
