// SPDX-License-Identifier: Apache-2.0
/* memo.c: making analyses once and keeping their results; see run.h and memo.h. */
#include "memo.h"

#include "base/interrupt.h"

typedef struct DerivedResult {
    struct DerivedResult *next;
    const Analysis *analysis;
    void *result;
} DerivedResult;

/* Each host has a list of its own: there may be thousands of them. */
static DerivedResult **results_of(Run *run, Host *only)
{
    return only ? &only->analyses : &run->analyses;
}

const void *run_analysis_made(Run *run, Host *only, const Analysis *analysis)
{
    if (run->n_hosts == 1) only = NULL;
    const void *result = NULL;
    ProfErr interrupted = {0};
    if (!interrupt_lock(&run->analyses_lock, &interrupted))
        return NULL; /* so will the caller's next step be */
    for (const DerivedResult *r = *results_of(run, only); r && !result; r = r->next)
        if (r->analysis == analysis) result = r->result;
    pthread_mutex_unlock(&run->analyses_lock);
    return result;
}

int run_is_busy(const Run *run, ProfErr *err)
{
    return prof_fail(err, PROF_LIMIT, 0,
                     "%s: the statement that calls this progress handler is working on it; ask "
                     "again when that has ended",
                     run->path);
}

bool run_may_change(const Run *run, ProfErr *err)
{
    if (run->n_making && interrupt_depth() > run->making_depth) run_is_busy(run, err);
    return !err->code;
}

static const void *make_analysis(Run *run, Host *only, const Analysis *analysis, ProfErr *err)
{
    DerivedResult *made = prof_alloc(sizeof *made);
    if (!made) return prof_nomem(err), NULL;
    unsigned depth = run->making_depth;
    run->n_making++, run->making_depth = interrupt_depth();
    void *result = analysis->make(run, only, err);
    run->n_making--, run->making_depth = depth;
    if (result && interrupt_poll(0, err))
        analysis->release(result), result = NULL; /* it may lack what was left out then */
    if (result) {
        DerivedResult **results = results_of(run, only);
        *made = (DerivedResult){*results, analysis, result};
        *results = made;
    } else {
        prof_free(made);
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

static void free_results(DerivedResult **results, bool of_events)
{
    for (DerivedResult **link = results, *r; (r = *link);) {
        if (of_events && r->analysis->needs != NEEDS_HOST_EVENTS) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        r->analysis->release(r->result);
        prof_free(r);
    }
}

void analyses_free(Run *run)
{
    free_results(&run->analyses, false);
    for (size_t h = 0; h < run->n_hosts; h++) free_results(&run->hosts[h].analyses, false);
}

void analyses_free_of_events(Host *host) { free_results(&host->analyses, true); }
