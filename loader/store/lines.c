// SPDX-License-Identifier: Apache-2.0
/* lines.c: processes lines with as many threads as there are processors; see lines.h. */
#include "lines.h"

#include "../base/parallel.h"
#include "../base/sort.h"

enum { FEW_EVENTS = 50000 }; /* fewer are faster on one thread */

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

int line_too_long(const Line *line, const char *done, ProfErr *err)
{
    return prof_fail(err, PROF_FORMAT, line->span.offset,
                     "%s: a line of %llu events that are not stored in order of their start is too "
                     "long to be %s",
                     line->plane->host->file.path, (unsigned long long)line->n_events, done);
}

typedef struct {
    Run *run;
    LineWork *work;
    atomic_uint next;
} LineJob;

/* One worker: takes lines until there are no more. */
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
    size_t n;
    uint64_t n_events;
    void (*task)(void *context, size_t i, ProfErr *err);
    void *context;
} SizedTasks;

static int larger_first(const void *a, const void *b)
{
    const SizedTask *x = a, *y = b;
    if (x->n_events != y->n_events) return ORDER(y->n_events, x->n_events);
    return ORDER(x->i, y->i);
}

static void sized_task(void *context, size_t i, ProfErr *err)
{
    const SizedTasks *t = context;
    t->task(t->context, t->tasks[i].i, err);
}

static void add_task(SizedTasks *t, const Line *line, size_t i)
{
    t->tasks[t->n++] = (SizedTask){line->n_events, i};
    t->n_events += line->n_events;
}

static int run_tasks(SizedTasks *t, const Run *run, ProfErr *err)
{
    if (t->n) {
        sort_array(t->tasks, t->n, sizeof *t->tasks, larger_first);
        parallel_for(t->n_events < FEW_EVENTS ? 1 : run->n_workers, t->n, sized_task, t, err);
    }
    prof_free(t->tasks);
    return err->code;
}

int parallel_lines(const Line *lines, size_t n, void (*task)(void *context, size_t i, ProfErr *err),
                   void *context, ProfErr *err)
{
    SizedTasks sized = {
        .tasks = prof_alloc(n * sizeof *sized.tasks), .task = task, .context = context};
    if (!sized.tasks) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) add_task(&sized, &lines[i], i);
    return run_tasks(&sized, n ? lines->plane->host->run : NULL, err);
}

int parallel_lines_of(const Host *host, enum PlaneKind kind,
                      void (*task)(void *context, size_t i, ProfErr *err), void *context,
                      ProfErr *err)
{
    SizedTasks sized = {
        .tasks = prof_alloc(host->n_lines * sizeof *sized.tasks), .task = task, .context = context};
    if (!sized.tasks) return prof_nomem(err);
    for (size_t i = 0; i < host->n_lines; i++)
        if (host->lines[i].plane->kind == kind) add_task(&sized, &host->lines[i], i);
    return run_tasks(&sized, host->run, err);
}

int parallel_lines_at(Line *const *lines, size_t n,
                      void (*task)(void *context, size_t i, ProfErr *err), void *context,
                      ProfErr *err)
{
    SizedTasks sized = {
        .tasks = prof_alloc(n * sizeof *sized.tasks), .task = task, .context = context};
    if (!sized.tasks) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) add_task(&sized, lines[i], i);
    return run_tasks(&sized, n ? lines[0]->plane->host->run : NULL, err);
}

bool run_each_line(Run *run, LineWork *work, ProfErr *err)
{
    LineJob job = {.run = run, .work = work};
    size_t n_workers = run->n_events > FEW_EVENTS ? run->n_workers : 1;
    return !parallel_for(n_workers, n_workers, work_on_lines, &job, err);
}
