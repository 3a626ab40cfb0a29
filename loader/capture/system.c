/* system.c: see system.h. */
#define _GNU_SOURCE
#include "system.h"

#include <signal.h>

enum { NS_PER_S = 1000000000 };

uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

struct timespec after_ns(int64_t ns)
{
    uint64_t moment = clock_ns(CLOCK_REALTIME) + (uint64_t)(ns > 0 ? ns : 0);
    return (struct timespec){(time_t)(moment / NS_PER_S), (long)(moment % NS_PER_S)};
}

int start_thread(pthread_t *thread, void *(*run)(void *))
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}
