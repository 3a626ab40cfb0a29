/* lines.c: work on lines by as many threads as there are processors; see lines.h. */
#include "lines.h"

#include "../parallel.h"

enum { FEW_EVENTS = 50000 }; /* one thread is quicker */

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

typedef struct {
    uint64_t n_events;
    size_t i;
} SizedTask;

typedef struct {
    SizedTask *tasks;
    void (*task)(void *context, size_t i, ProfErr *err);
    void *context;
} SizedTasks;

static int larger_first(const void *a, const void *b)
{
    const SizedTask *x = a, *y = b;
    if (x->n_events != y->n_events) return x->n_events > y->n_events ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

static void sized_task(void *context, size_t i, ProfErr *err)
{
    const SizedTasks *t = context;
    t->task(t->context, t->tasks[i].i, err);
}

int parallel_lines(const Line *lines, size_t n, void (*task)(void *context, size_t i, ProfErr *err), void *context, ProfErr *err)
{
    SizedTasks sized = {prof_alloc(n * sizeof *sized.tasks), task, context};
    uint64_t n_events = 0;
    if (!n) return prof_free(sized.tasks), err->code;
    if (!sized.tasks) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) sized.tasks[i] = (SizedTask){lines[i].n_events, i}, n_events += lines[i].n_events;
    qsort(sized.tasks, n, sizeof *sized.tasks, larger_first);
    parallel_for(n_events < FEW_EVENTS ? 1 : lines->plane->host->run->n_workers, n, sized_task, &sized, err);
    prof_free(sized.tasks);
    return err->code;
}

bool run_each_line(Run *run, LineWork *work, ProfErr *err)
{
    LineJob job = {.run = run, .work = work};
    size_t n_workers = run->n_events > FEW_EVENTS ? run->n_workers : 1;
    return !parallel_for(n_workers, n_workers, work_on_lines, &job, err);
}
