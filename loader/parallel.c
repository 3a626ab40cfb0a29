/* parallel.c: a counter that threads take tasks from; see parallel.h. */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    void (*task)(void *context, size_t i, ProfErr *err);
    void *context;
    size_t n;
    atomic_size_t next;
    pthread_mutex_t lock;
    ProfErr err;
} Tasks;

static void *work(void *argument)
{
    Tasks *t = argument;
    ProfErr err = {0};
    for (size_t i; !err.code && (i = atomic_fetch_add(&t->next, 1)) < t->n;) t->task(t->context, i, &err);
    if (err.code) {
        atomic_store(&t->next, t->n);
        pthread_mutex_lock(&t->lock);
        if (!t->err.code) t->err = err;
        pthread_mutex_unlock(&t->lock);
    }
    return NULL;
}

int parallel_for(size_t n_workers, size_t n, void (*task)(void *context, size_t i, ProfErr *err), void *context, ProfErr *err)
{
    Tasks tasks = {.task = task, .context = context, .n = n};
    pthread_t threads[64];
    size_t n_started = 0;
    pthread_mutex_init(&tasks.lock, NULL);
    while (n_started + 1 < n_workers && n_started + 1 < n && n_started < COUNT(threads) && !pthread_create(&threads[n_started], NULL, work, &tasks))
        n_started++;
    work(&tasks);
    while (n_started) pthread_join(threads[--n_started], NULL);
    pthread_mutex_destroy(&tasks.lock);
    if (tasks.err.code && !err->code) *err = tasks.err;
    return err->code;
}
