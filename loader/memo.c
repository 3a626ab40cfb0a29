// SPDX-License-Identifier: Apache-2.0
/* memo.c: results of runs, hosts and lines that are computed once and kept; see run.h and memo.h.
 *
 * Each run, host and line has its own list, because there may be thousands of hosts and lines. A
 * list only grows at its head until all of it is freed, so a line's list is searched without a
 * lock. */
#include "memo.h"

#include "base/interrupt.h"

typedef struct KeptResult {
    struct KeptResult *next;
    const void *analysis; /* address of the Analysis or LineAnalysis */
    void *result;
    void (*release)(void *result); /* NULL: nothing to free */
    bool of_events;                /* freed with the events of its host */
} KeptResult;

static void *find_result(const KeptResult *r, const void *analysis)
{
    for (; r; r = r->next)
        if (r->analysis == analysis) return r->result;
    return NULL;
}

static void free_result(KeptResult *r)
{
    if (r->release) r->release(r->result);
    prof_free(r);
}

/* ---- runs and hosts ---- */

static KeptResult **results_of(Run *run, Host *only)
{
    return only ? &only->results : &run->results;
}

const void *run_analysis_made(Run *run, Host *only, const Analysis *analysis)
{
    if (run->n_hosts == 1) only = NULL;
    ProfErr interrupted = {0};
    if (!interrupt_lock(&run->analyses_lock, &interrupted))
        return NULL; /* the caller's next poll fails too */
    const void *result = find_result(*results_of(run, only), analysis);
    pthread_mutex_unlock(&run->analyses_lock);
    return result;
}

int run_is_busy(const Run *run, ProfErr *err)
{
    return prof_fail(err, PROF_LIMIT, 0,
                     "%s: the statement that calls this progress handler is using it; retry when "
                     "that statement has ended",
                     run->path);
}

bool run_may_change(const Run *run, ProfErr *err)
{
    if (run->n_making && interrupt_depth() > run->making_depth) run_is_busy(run, err);
    return !err->code;
}

bool result_is_incomplete(Run *run, unsigned lost_before, ProfErr *err)
{
    bool interrupted = interrupt_poll(0, err);
    return run_issue_lost_since(run, lost_before, err) || interrupted;
}

static const void *make_analysis(Run *run, Host *only, const Analysis *analysis, ProfErr *err)
{
    KeptResult *kept = prof_alloc(sizeof *kept);
    if (!kept) {
        prof_nomem(err);
        return NULL;
    }
    unsigned depth = run->making_depth;
    unsigned lost_before = run->n_issues_lost;
    run->n_making++, run->making_depth = interrupt_depth();
    void *result = analysis->make(run, only, err);
    run->n_making--, run->making_depth = depth;
    if (result_is_incomplete(run, lost_before, err) && result)
        analysis->release(result), result = NULL;
    if (result) {
        KeptResult **results = results_of(run, only);
        *kept = (KeptResult){*results, analysis, result, analysis->release,
                             analysis->needs == NEEDS_HOST_EVENTS};
        *results = kept;
    } else {
        prof_free(kept);
    }
    return result;
}

const void *run_analysis(Run *run, Host *only, const Analysis *analysis, ProfErr *err)
{
    if (run->n_hosts == 1) only = NULL;
    if (!interrupt_lock(&run->analyses_lock, err)) return NULL;
    const void *result = run_analysis_made(run, only, analysis);
    if (!result && analysis->needs == NEEDS_ALL_HOSTS)
        run_load_all_events(run, err);
    else if (!result && analysis->needs != NEEDS_NO_EVENTS && only)
        host_load_only(only, err);
    if (!result && run_may_change(run, err)) result = make_analysis(run, only, analysis, err);
    pthread_mutex_unlock(&run->analyses_lock);
    return result;
}

static void free_results(KeptResult **results, bool only_of_events)
{
    for (KeptResult **link = results, *r; (r = *link);) {
        if (only_of_events && !r->of_events) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        free_result(r);
    }
}

void results_free(Run *run)
{
    free_results(&run->results, false);
    for (size_t h = 0; h < run->n_hosts; h++) free_results(&run->hosts[h].results, false);
}

void results_free_of_events(Host *host) { free_results(&host->results, true); }

/* ---- lines ---- */

const void *line_analysis_made(const Line *line, const LineAnalysis *analysis)
{
    return find_result(atomic_load_explicit(&line->results, memory_order_acquire), analysis);
}

/* Keeps a result, under lines_lock. If there is one already, that stays, because it may be in use.
 */
static const void *keep_result(Line *line, const LineAnalysis *analysis, void *result, ProfErr *err)
{
    const void *first = line_analysis_made(line, analysis);
    KeptResult *kept = first ? NULL : prof_alloc(sizeof *kept);
    if (kept) {
        *kept =
            (KeptResult){atomic_load(&line->results), analysis, result, analysis->release, false};
        atomic_store_explicit(&line->results, kept, memory_order_release);
        return result;
    }
    if (!first) prof_nomem(err);
    if (analysis->release) analysis->release(result);
    return first;
}

const void *line_analysis(Line *line, const LineAnalysis *analysis, ProfErr *err)
{
    Run *run = line->plane->host->run;
    const void *result = line_analysis_made(line, analysis);
    if (result || !interrupt_lock(&run->lines_lock, err)) return result;
    if (!(result = line_analysis_made(line, analysis))) {
        unsigned lost_before = run->n_issues_lost;
        void *made = analysis->make(line, err);
        if (result_is_incomplete(run, lost_before, err) && made) {
            if (analysis->release) analysis->release(made);
            made = NULL;
        }
        if (made) result = keep_result(line, analysis, made, err);
    }
    pthread_mutex_unlock(&run->lines_lock);
    return result;
}

bool line_analysis_keep(Line *line, const LineAnalysis *analysis, void *result, ProfErr *err)
{
    Run *run = line->plane->host->run;
    if (!result) return false;
    if (err->code || !interrupt_lock(&run->lines_lock, err)) {
        if (analysis->release) analysis->release(result);
        return false;
    }
    keep_result(line, analysis, result, err);
    pthread_mutex_unlock(&run->lines_lock);
    return !err->code;
}

void line_results_free(Line *line)
{
    KeptResult *first = atomic_load(&line->results);
    free_results(&first, false);
    atomic_store(&line->results, NULL);
}
