// SPDX-License-Identifier: Apache-2.0
/* advice.c: finds what applies to a run; see advice.h. */
#include "advice.h"

#include "../communication/device_time.h"
#include "../ops/tf_functions.h"

#include <math.h>

void advice_add(AdviceBuild *b, Advice advice)
{
    if (b->list->n < MAX_ADVICES) b->advices[b->list->n++] = advice;
}

/* ---- findings of XProf's overview page ---- */

/* Shares in percent above which a finding is shown, and how many functions XProf names. */
enum { EXPENSIVE_CALLS = 20, MUCH_EAGER = 10, MUCH_OUTSIDE = 5, QUOTED_FUNCTIONS = 3 };

static void add_findings(AdviceBuild *b)
{
    for (int f = 0; f < N_FINDINGS; f++)
        if (finding_holds(b->list->input, f))
            advice_add(b, (Advice){ADVICE_FINDING, .finding = (enum Finding)f});
}

static void add_precision(AdviceBuild *b)
{
    const StepDb *steps = run_steps(b->run, b->only, b->err);
    if (steps && precision_is_low(steps))
        advice_add(b, (Advice){ADVICE_PRECISION_16BIT, .percent = precision_16bit_percent(steps)});
}

/* Returns the most expensive function after `last`, in order of decreasing share; NULL if there is
 * none. */
static const TfFunction *next_expensive(const TfFunctions *functions, const TfFunction *last)
{
    const TfFunction *best = NULL;
    for (size_t i = 0; i < functions->n; i++) {
        const TfFunction *f = &functions->functions[i];
        double share = tf_function_expensive_percent(f),
               limit = last ? tf_function_expensive_percent(last) : 101;
        if (share < EXPENSIVE_CALLS || share > limit || (last && share == limit && f <= last))
            continue;
        if (!best || share > tf_function_expensive_percent(best)) best = f;
    }
    return best;
}

static void add_functions(AdviceBuild *b)
{
    const TfFunctions *functions = run_tf_functions(b->run, b->only, b->err);
    const TfFunction *f = NULL;
    for (int i = 0; functions && i < QUOTED_FUNCTIONS && (f = next_expensive(functions, f)); i++)
        advice_add(b, (Advice){ADVICE_TF_FUNCTION, .name = f->name->text,
                               .percent = tf_function_expensive_percent(f)});
}

static void add_ops(AdviceBuild *b, const OpStats *stats)
{
    double host = eager_percent(&stats->host), device = eager_percent(&stats->framework),
           outside = outside_compilation_percent(stats);
    if (host > MUCH_EAGER) advice_add(b, (Advice){ADVICE_EAGER_HOST, .percent = host});
    if (device > MUCH_EAGER) advice_add(b, (Advice){ADVICE_EAGER_DEVICE, .percent = device});
    if (outside > MUCH_OUTSIDE)
        advice_add(b, (Advice){ADVICE_OUTSIDE_COMPILATION, .percent = outside});
}

/* ---- rules of our own, which need no verdicts on steps ---- */

enum { MUCH_IDLE = 50, MUCH_COMPILING = 5 }; /* percent */

static void add_idle(AdviceBuild *b)
{
    const DeviceTimes *times = run_device_times(b->run, b->only, b->err);
    double span = 0, busy = 0;
    size_t n = 0;
    for (size_t i = 0; times && i < times->n_devices; i++) {
        const DeviceTime *device = &times->devices[i];
        if (!device->has_work || !device->is_main) continue;
        n++;
        span += (double)device->span_ps;
        busy += (double)device->busy_ps;
    }
    double idle = 100 * safe_div(span - busy, span);
    if (idle >= MUCH_IDLE) advice_add(b, (Advice){ADVICE_DEVICE_IDLE, .percent = idle, .count = n});
}

static double compiling_ms(const Step *step)
{
    double most = 0;
    for (size_t i = 0; i < step->n_cores; i++) {
        uint64_t ps[N_STEP_CATEGORIES];
        step_actual_categories(&step->cores[i], ps);
        most = fmax(most, (double)ps[STEP_COMPILATION] / 1e9);
    }
    return most;
}

/* Adds compilations during steps. Includes the steps that averages leave out, because programs are
 * often compiled in the first one. */
static void add_compiling(AdviceBuild *b)
{
    const StepDb *all = run_all_steps(b->run, b->only, b->err),
                 *steps = all && !all->n_steps ? run_marked_steps(b->run, b->only, b->err) : all;
    CompilingSteps *c = &b->list->compiling;
    double length = 0;
    for (size_t i = 0; steps && i < steps->n_steps; i++) {
        const Step *step = &steps->steps[i];
        double ms = compiling_ms(step);
        length += (double)step->duration_ps / 1e9;
        c->total_ms += ms;
        c->n_compiling += ms > 0;
        c->n_steps++;
        if (ms <= c->longest_ms) continue;
        c->longest_ms = ms;
        c->longest_start_ms = (double)(int64_t)step->begin_ps / 1e9;
    }
    c->percent = 100 * c->total_ms / length;
    if (c->n_compiling && 100 * c->total_ms >= MUCH_COMPILING * length)
        advice_add(b, (Advice){.kind = ADVICE_COMPILATION});
}

/* ---- the list ---- */

static void advice_free(void *result)
{
    AdviceList *list = result;
    arena_free(&list->arena);
    prof_free(list);
}

static void *advice_make(Run *run, Host *only, ProfErr *err)
{
    const InputAnalysis *input = run_input(run, only, err);
    const OpStats *stats = input ? run_op_stats(run, only, err) : NULL;
    AdviceList *list = stats ? prof_alloc(sizeof *list) : NULL;
    if (stats && !list) prof_nomem(err);
    if (!list) return NULL;
    AdviceBuild b = {.list = list, .run = run, .only = only, .err = err};
    list->input = input;
    list->advices = b.advices = arena_alloc(&list->arena, MAX_ADVICES * sizeof *b.advices);
    if (!b.advices) {
        prof_nomem(err);
    } else {
        add_findings(&b);
        add_precision(&b);
        add_functions(&b);
        add_ops(&b, stats);
        add_suggestions(&b, stats);
        add_idle(&b);
        add_compiling(&b);
    }
    if (!err->code) return list;
    advice_free(list);
    return NULL;
}

const AdviceList *run_advice(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {advice_make, advice_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
