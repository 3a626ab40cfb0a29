// SPDX-License-Identifier: Apache-2.0
/* parallel.c: a counter that threads take tasks from; see parallel.h. */
#define _GNU_SOURCE
#include "parallel.h"

#include "interrupt.h"

#include <sched.h>
#include <unistd.h>

size_t processor_count(void)
{
    cpu_set_t usable; /* of at most 1024 processors */
    long n = !sched_getaffinity(0, sizeof usable, &usable) ? CPU_COUNT(&usable)
                                                           : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (size_t)n;
}

typedef struct {
    void (*task)(void *context, size_t i, ProfErr *err);
    void *context;
    size_t n;
    atomic_size_t next;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    size_t n_running; /* running threads, under the lock */
    Interrupt *interrupt;
    ProfErr err;
} Tasks;

static void fail(Tasks *t, const ProfErr *err)
{
    atomic_store(&t->next, t->n);
    pthread_mutex_lock(&t->lock);
    if (!t->err.code) t->err = *err;
    pthread_mutex_unlock(&t->lock);
}

static void work(Tasks *t)
{
    ProfErr err = {0};
    for (size_t i; !err.code && (i = atomic_fetch_add(&t->next, 1)) < t->n;)
        t->task(t->context, i, &err);
    if (err.code) fail(t, &err);
}

static void *work_beside(void *argument)
{
    Tasks *t = argument;
    interrupt_borrow(t->interrupt);
    work(t);
    pthread_mutex_lock(&t->lock);
    t->n_running--;
    pthread_cond_signal(&t->finished);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Waits until the other threads are done, and polls for interrupts meanwhile. */
static void wait_for_all(Tasks *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->n_running) {
        ProfErr err = {0};
        interrupt_wait(&t->finished, &t->lock);
        pthread_mutex_unlock(&t->lock);
        if (interrupt_ask(&err)) fail(t, &err);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

int parallel_for(size_t n_workers, size_t n, void (*task)(void *context, size_t i, ProfErr *err),
                 void *context, ProfErr *err)
{
    Tasks tasks = {.task = task, .context = context, .n = n, .interrupt = interrupt_lend()};
    pthread_t threads[64];
    size_t n_started = 0, n_wanted = n_workers < n ? n_workers : n;
    pthread_mutex_init(&tasks.lock, NULL);
    pthread_cond_init(&tasks.finished, NULL);
    pthread_mutex_lock(&tasks.lock);
    while (n_started + 1 < n_wanted && n_started < COUNT(threads) &&
           !pthread_create(&threads[n_started], NULL, work_beside, &tasks))
        n_started++;
    tasks.n_running = n_started;
    pthread_mutex_unlock(&tasks.lock);
    work(&tasks);
    if (n_started) wait_for_all(&tasks);
    while (n_started) pthread_join(threads[--n_started], NULL);
    pthread_cond_destroy(&tasks.finished);
    pthread_mutex_destroy(&tasks.lock);
    if (tasks.err.code && !err->code) *err = tasks.err;
    return err->code;
}
