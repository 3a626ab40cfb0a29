/* lines.c: work on lines by as many threads as there are processors; see lines.h. */
#include "lines.h"

#include "../parallel.h"

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
} LineJob;

/* One worker: takes lines until there are none. */
static void work_on_lines(void *context, size_t worker, ProfErr *err)
{
    (void)worker;
    LineJob *job = context;
    MetaNumbers numbers = {0};
    uint32_t n = job->run->n_lines;
    for (uint32_t i; !err->code && (i = atomic_fetch_add(&job->next, 1)) < n;)
        if (!job->work(job->run->lines[i], &numbers, err)) atomic_store(&job->next, n);
    prof_free(numbers.numbers);
}

bool run_each_line(Run *run, LineWork *work, ProfErr *err)
{
    enum { FEW_EVENTS = 200000 };
    LineJob job = {.run = run, .work = work};
    size_t n_workers = run->n_events > FEW_EVENTS ? run->n_workers : 1;
    return !parallel_for(n_workers, n_workers, work_on_lines, &job, err);
}
