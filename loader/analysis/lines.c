/* lines.c: work on lines by as many threads as there are processors; see lines.h. */
#include "lines.h"

uint32_t *meta_numbers(MetaNumbers *m, const Plane *plane, ProfErr *err)
{
    if (m->n < plane->n_event_metas || !m->numbers) {
        prof_free(m->numbers);
        m->n = plane->n_event_metas;
        m->numbers = prof_alloc(m->n * sizeof *m->numbers);
        if (!m->numbers) m->n = 0, prof_nomem(err);
    }
    return m->numbers;
}

typedef struct {
    Run *run;
    LineWork *work;
    atomic_uint next;
    pthread_mutex_t lock;
    ProfErr err;
} LineJob;

static void *work_on_lines(void *argument)
{
    LineJob *job = argument;
    MetaNumbers numbers = {0};
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->run->n_lines;) {
        ProfErr err = {0};
        if (job->work(job->run->lines[i], &numbers, &err)) continue;
        pthread_mutex_lock(&job->lock);
        if (!job->err.code) job->err = err;
        pthread_mutex_unlock(&job->lock);
        break;
    }
    prof_free(numbers.numbers);
    return NULL;
}

bool run_each_line(Run *run, LineWork *work, ProfErr *err)
{
    enum { FEW_EVENTS = 200000 };
    LineJob job = {.run = run, .work = work};
    pthread_t threads[64];
    size_t n = 0;
    pthread_mutex_init(&job.lock, NULL);
    if (run->n_events > FEW_EVENTS)
        while (n + 1 < run->n_workers && !pthread_create(&threads[n], NULL, work_on_lines, &job)) n++;
    work_on_lines(&job);
    while (n) pthread_join(threads[--n], NULL);
    pthread_mutex_destroy(&job.lock);
    if (job.err.code && !err->code) *err = job.err;
    return !err->code;
}
