// SPDX-License-Identifier: Apache-2.0
/* contexts.c: waits for the work in CUDA contexts; see contexts.h. */
#define _GNU_SOURCE
#include "contexts.h"

#include "../base/base.h"
#include "driver.h"
#include "system.h"

enum { MOST_CONTEXTS = 256 };
#define NS_PER_S INT64_C(1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *contexts[MOST_CONTEXTS];
static size_t n_contexts;

void contexts_add(void *context)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < n_contexts && contexts[i] != context) i++;
    if (context && i == n_contexts && i < MOST_CONTEXTS) contexts[n_contexts++] = context;
    pthread_mutex_unlock(&lock);
}

void contexts_remove(void *context)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_contexts; i++)
        if (contexts[i] == context) contexts[i--] = contexts[--n_contexts];
    pthread_mutex_unlock(&lock);
}

typedef struct {
    int (*push)(void *context), (*pop)(void **context), (*synchronize)(void),
        (*current)(void **context);
} Driver;

static bool find_driver(Driver *d)
{
    void *symbols[] = {driver_function("cuCtxPushCurrent_v2"),
                       driver_function("cuCtxPopCurrent_v2"), driver_function("cuCtxSynchronize"),
                       driver_function("cuCtxGetCurrent")};
    memcpy(&d->push, &symbols[0], sizeof symbols[0]);
    memcpy(&d->pop, &symbols[1], sizeof symbols[1]);
    memcpy(&d->synchronize, &symbols[2], sizeof symbols[2]);
    memcpy(&d->current, &symbols[3], sizeof symbols[3]);
    return d->push && d->pop && d->synchronize && d->current;
}

static _Atomic bool all_done;

/* Runs on a separate thread, because CUDA's wait has no timeout: the caller stops waiting after a
 * while, and the thread goes on alone. */
static void *wait_for_all(void *unused)
{
    Driver driver;
    void *copy[MOST_CONTEXTS], *popped;
    (void)unused;
    if (!find_driver(&driver)) return NULL;
    pthread_mutex_lock(&lock);
    size_t n = n_contexts;
    memcpy(copy, contexts, n * sizeof *copy);
    pthread_mutex_unlock(&lock);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        if (driver.push(copy[i])) continue; /* the context has been destroyed */
        ok &= driver.synchronize() == 0;
        driver.pop(&popped);
    }
    all_done = ok;
    return NULL;
}

bool contexts_wait(int seconds)
{
    pthread_t thread;
    Driver driver;
    void *mine = NULL;
    if (!find_driver(&driver)) return false;
    if (!driver.current(&mine)) contexts_add(mine); /* it may be older than our subscription */
    all_done = false;
    if (start_thread(&thread, wait_for_all)) return false;
    if (join_within(thread, seconds * NS_PER_S)) return all_done;
    pthread_detach(thread);
    return false;
}

void contexts_child(void)
{
    pthread_mutex_init(&lock, NULL);
    n_contexts = 0;
}
